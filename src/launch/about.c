/* about.c - what a host program asks the library about itself. */
#include "tkdbg/tkdbg.h"

static const tk_option options[] = {
#define OPTION(id, name, letter, kind, arg, commands, mode, key, help)         \
  {name, letter, TK_OPTION_##kind, arg, key, help},
#include "tkdbg/option.def"
#undef OPTION
};

const char *tk_version(void) {
  return TK_VERSION;
}

const tk_option *tk_option_at(size_t i) {
  return i < sizeof options / sizeof *options ? &options[i] : NULL;
}
