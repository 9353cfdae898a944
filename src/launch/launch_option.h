/* launch_option.h - the rows of launch.def. */
#ifndef TK_LAUNCH_LAUNCH_OPTION_H
#define TK_LAUNCH_LAUNCH_OPTION_H

#include "tkdbg/tkdbg.h"

typedef enum tk_launch_option_id {
#define LAUNCH_OPTION(ID, name, usual, least, most, power, doc) TK_LAUNCH_##ID,
#include "tkdbg/launch.def"
#undef LAUNCH_OPTION
  TK_LAUNCH_OPTIONS
} tk_launch_option_id;

/* The row of a name; -1: there is none. */
int tk_launch_option_find(const char *name);
bool tk_launch_option_fits(int i, int64_t value);
/* Every option as it is if not given: out has TK_LAUNCH_OPTIONS. */
void tk_launch_options_usual(int64_t *out);

#endif
