/* launch_option.c - launch.def: options of a launch, by name. */
#include "launch/launch_option.h"

#include <string.h>

static const tk_launch_option_info rows[TK_LAUNCH_OPTIONS] = {
#define LAUNCH_OPTION(ID, name, usual, least, most, power, doc)                \
  {#name, usual, least, most, power, doc},
#include "tkdbg/launch.def"
#undef LAUNCH_OPTION
};

const tk_launch_option_info *tk_launch_option_at(size_t i) {
  return i < TK_LAUNCH_OPTIONS ? &rows[i] : NULL;
}

int tk_launch_option_find(const char *name) {
  for (int i = 0; i < TK_LAUNCH_OPTIONS; i++)
    if (!strcmp(rows[i].name, name)) return i;
  return -1;
}

bool tk_launch_option_fits(int i, int64_t value) {
  const tk_launch_option_info *o = &rows[i];
  return value >= o->least && value <= o->most &&
         !(o->power && value & (value - 1));
}

void tk_launch_options_usual(int64_t *out) {
  for (int i = 0; i < TK_LAUNCH_OPTIONS; i++) out[i] = rows[i].usual;
}
