/* options.c - what these engines do not do. */
#include <string.h>

#include "base/diag.h"
#include "device/device.h"

void tkg_check_options(tk_env *e, const tk_run_options *o, const char *engine) {
  const struct {
    const char *name;
    bool given;
  } options[] = {
      {"pids", o->pids && *o->pids},
      {"order", o->order && strcmp(o->order, "serial") != 0},
      {"schedule", o->schedule && strcmp(o->schedule, "auto") != 0},
      {"jobs", o->jobs > 1},
      {"no_asserts", o->no_asserts},
  };
  for (size_t i = 0; i < TK_COUNT(options); i++) {
    if (!options[i].given) continue;
    tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                             "the engine '%s' has no '%s': it runs the whole "
                             "kernel, as a GPU would",
                             engine, options[i].name);
    tk_diag_help(e, d, "leave it out, or use the engine 'interp'");
    tk_throw(e, TK_USAGE);
  }
}
