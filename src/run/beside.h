/* beside.h - a launch with another text of its kernel. */
#ifndef TK_RUN_BESIDE_H
#define TK_RUN_BESIDE_H

#include "launch/session.h"

/* An engine (watched.h): the interpreter runs options->form in a copy of the
 * launch, since a form may take fewer arguments; memory is then the launch's.
 */
tk_status tkr_run_form(tk_launch *l, const tk_run_options *options,
                       tk_summary *summary);

#endif
