/* mutant.h - whether a bug of mutant.def is asked for; never in what is
 * installed. */
#ifndef TK_NVPTX_MUTANT_H
#define TK_NVPTX_MUTANT_H

#include <stdbool.h>

#ifdef TKV_MUTANTS
#include <stdlib.h>
#include <string.h>

#define MUTANT(ID, name, arch, line) TKV_M_##ID,
enum {
#include "nvptx/mutant.def"
};
#undef MUTANT

static inline bool tkv_mutant(int id) {
  static const char *const names[] = {
#define MUTANT(ID, name, arch, line) name,
#include "nvptx/mutant.def"
#undef MUTANT
  };
  const char *wanted = getenv("TKDBG_MUTANT");
  return wanted && !strcmp(wanted, names[id]);
}
#define TKV_MUTANT(ID) tkv_mutant(TKV_M_##ID)
#else
#define TKV_MUTANT(ID) false
#endif

#endif
