/* ir.c - tkdbg ir and tkdbg compile: print a kernel's typed form, as it is
 * specialised and as the compiler's stages leave it. */
#include "cli.h"
#include "tkdbg/compile.h"

static tk_status print_form(cli_job *j, const cli_args *a) {
  tk_status st = tk_launch_compile(j->launch);
  const char *text = st == TK_OK ? tk_launch_ir(j->launch) : NULL;
  (void)a;
  if (text) fputs(text, stdout);
  return st;
}

static tk_status print_stage(cli_job *j, const cli_args *a) {
  tk_emit_options o = {.size = sizeof o,
                       .emit = cli_value(a, OPT_EMIT),
                       .skip = cli_value(a, OPT_SKIP_PASS),
                       .after_all = cli_has(a, OPT_AFTER_ALL)};
  const char *text;
  tk_status st = tk_launch_emit(j->launch, &o, &text);
  if (text) fputs(text, stdout);
  return st;
}

static int print_kernel(const cli_args *a,
                        tk_status (*print)(cli_job *j, const cli_args *a)) {
  cli_job job;
  if (a->nwords != 1) return cli_usage(a, "takes one file");
  int st = cli_job_start(&job, a);
  if (st == TK_OK)
    st = cli_is_launch_file(a->words[0]) ? cli_job_replay(&job)
                                         : cli_job_direct(&job);
  if (st == TK_OK) st = print(&job, a);
  return cli_job_end(&job, st);
}

int cli_ir(const cli_args *a) {
  return print_kernel(a, print_form);
}

int cli_compile(const cli_args *a) {
  return print_kernel(a, print_stage);
}
