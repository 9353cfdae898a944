/* ir.c - tkdbg ir: prints the typed form of a kernel. */
#include "cli.h"

static tk_status print_ir(cli_job *j) {
  tk_status st = tk_launch_compile(j->launch);
  const char *text = st == TK_OK ? tk_launch_ir(j->launch) : NULL;
  if (text) fputs(text, stdout);
  return st;
}

int cli_ir(const cli_args *a) {
  cli_job job;
  if (a->nwords != 1) return cli_usage(a, "takes one file");
  int st = cli_job_start(&job, a);
  if (st == TK_OK)
    st = cli_is_launch_file(a->words[0]) ? cli_job_replay(&job)
                                         : cli_job_direct(&job);
  if (st == TK_OK) st = print_ir(&job);
  return cli_job_end(&job, st);
}
