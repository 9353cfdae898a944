/* run.c - tkdbg run: a direct launch, a launch file, or a script under
 * Python. */
#include "cli.h"

#include <unistd.h>

/* breakpoint() in a kernel starts a debugger where there is a terminal. */
static bool may_ask(const cli_args *a) {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !cli_has(a, OPT_JSON);
}

int cli_run_launch(const cli_args *a) {
  cli_job job;
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK && (cli_has(a, OPT_BREAK) || may_ask(a)))
    st = cli_job_debug(&job);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK) st = cli_job_run(&job);
  return cli_job_end(&job, st);
}

int cli_run(const cli_args *a) {
  bool launch =
      !a->nwords || cli_is_launch_file(a->words[0]) || cli_is_direct(a);
  return launch ? cli_run_launch(a) : cli_run_script(a);
}
