/* run.c - tkdbg run: a direct launch, or a script under Python. */
#include "cli.h"

#include <unistd.h>

/* breakpoint() in a kernel starts a debugger where there is a terminal. */
static bool may_ask(const cli_args *a) {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !cli_has(a, OPT_JSON);
}

static int run_direct(const cli_args *a) {
  cli_job job;
  if (a->nwords > 1)
    return cli_usage(a, "a direct launch has one file; '%s' is too much",
                     a->words[1]);
  int st = cli_job_start(&job, a);
  if (st == TK_OK && (cli_has(a, OPT_BREAK) || may_ask(a)))
    st = cli_job_debug(&job);
  if (st == TK_OK) st = cli_job_direct(&job);
  if (st == TK_OK) st = cli_job_run(&job);
  return cli_job_end(&job, st);
}

int cli_run(const cli_args *a) {
  if (a->nwords == 0) return cli_usage(a, "which file?");
  return cli_is_direct(a) ? run_direct(a) : cli_run_script(a);
}

int cli_why(const cli_args *a) {
  if (a->nwords && cli_is_launch_file(a->words[0])) return cli_replay(a);
  return cli_run(a);
}
