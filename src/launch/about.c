/* about.c - what a host program asks the library about itself. */
#include "tkdbg/tkdbg.h"

static const tk_option options[] = {
#define OPTION(id, name, letter, kind, arg, commands, mode, key, help)         \
  {name, letter, TK_OPTION_##kind, arg, key, help},
#include "tkdbg/option.def"
#undef OPTION
};

enum {
#define OPTION(id, name, letter, kind, arg, commands, mode, key, help)         \
  OPTION_##id,
#include "tkdbg/option.def"
#undef OPTION
};

/* Of the column `files`, only this bit matters here. */
enum { OF_SCRIPT = 0, OF_DIRECT = 0, OF_RECORD = 0, OF_ANY = 0, OF_HOST = 1 };

typedef struct about_pair {
  int option, files;
  tk_option_pair pair;
} about_pair;

static const about_pair pairs[] = {
#define NEEDS(id, commands, files, others, why)                                \
  {OPTION_##id, files, {true, NULL, others, why}},
#define CLASH(id, commands, files, others, why)                                \
  {OPTION_##id, files, {false, NULL, others, why}},
#include "tkdbg/pair.def"
#undef NEEDS
#undef CLASH
};

const char *tk_version(void) {
  return TK_VERSION;
}

const tk_option *tk_option_at(size_t i) {
  return i < sizeof options / sizeof *options ? &options[i] : NULL;
}

bool tk_option_pair_at(size_t i, tk_option_pair *out) {
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    if (pairs[k].files != OF_HOST || i--) continue;
    *out = pairs[k].pair;
    out->key = options[pairs[k].option].key;
    return true;
  }
  return false;
}
