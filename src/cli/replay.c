/* replay.c - tkdbg replay: runs a launch file. */
#include "cli.h"

int cli_replay(const cli_args *a) {
  cli_job job;
  if (a->nwords != 1) return cli_usage(a, "takes one launch file");
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_replay(&job);
  if (st == TK_OK) st = cli_job_run(&job);
  return cli_job_end(&job, st);
}
