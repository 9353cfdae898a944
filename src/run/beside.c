/* beside.c - a launch with another text of its kernel. */
#include "run/beside.h"

#include "device/device.h"
#include "interp/engine.h"

tk_status tkr_run_form(tk_launch *l, const tk_run_options *options,
                       tk_summary *summary) {
  tk_run_options opt = *options;
  tk_launch *copy = NULL;
  opt.form = NULL;
  tk_status st = tkg_launch_copy(l, &copy);
  if (st == TK_OK) st = tk_launch_take_form(copy, options->form);
  if (st == TK_OK) st = tki_launch_run(copy, &opt, summary);
  if (st == TK_OK) tkg_take_memory(l, copy);
  tk_launch_free(copy);
  return st;
}
