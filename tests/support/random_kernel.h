/* random_kernel.h - valid kernels at random: loops, branches, calls, loads,
 * stores, atomics, reductions.  The same seed gives the same text.
 *
 * The kernel is k(x, y, n): x and y are int32 and fp32 tensors of
 * RANDOM_LANES elements, n is an int32 that is not 1.
 */
#ifndef TK_TESTS_RANDOM_KERNEL_H
#define TK_TESTS_RANDOM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_LANES = 64, RANDOM_TEXT = 16384 };

uint64_t random_next(uint64_t *state);
/* From 0 to n - 1. */
int random_below(uint64_t *state, int n);
/* text holds RANDOM_TEXT bytes. */
void random_kernel(uint64_t *state, char *text);

#endif
