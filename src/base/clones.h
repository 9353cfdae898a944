/* clones.h - functions that are compiled for wider vectors too, of which the
 * best that the processor has is chosen when the program begins.
 *
 * Only gcc does it well, on x86-64, and sanitizers do not bear it.  gcc 11
 * knows the extensions by name, but not the levels of the architecture.
 */
#ifndef TK_BASE_CLONES_H
#define TK_BASE_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TK_HAS_CLONES 1
#if __GNUC__ >= 12
#define TK_CLONES                                                              \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
/* ... with fused operations, which would be calls otherwise. */
#define TK_FUSED_CLONES                                                        \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TK_CLONES __attribute__((target_clones("avx2", "default")))
#define TK_FUSED_CLONES __attribute__((target_clones("fma", "default")))
#endif
#else
#define TK_HAS_CLONES 0
#define TK_CLONES
#define TK_FUSED_CLONES
#endif

#endif
