/* run.c - tkdbg run and profile: a direct launch, a launch file, or a script
 * under Python; tkdbg merge: the parts of one. */
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tkdbg/profile.h"

/* breakpoint() in a kernel starts a debugger where there is a terminal. */
static bool may_ask(const cli_args *a) {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
         !cli_has(a, OPT_JSON) && !cli_is_ptx(a);
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

bool cli_is_script(const cli_args *a) {
  return a->nwords && !cli_is_launch_file(a->words[0]) && !cli_is_direct(a);
}

int cli_run(const cli_args *a) {
  tk_bound unused;
  if (!cli_is_script(a)) {
    if (a->command == CLI_WHY && !cli_has(a, OPT_EXPECT))
      return cli_usage(a, "there is nothing to compare with: give --expect "
                          "NAME=@FILE.npy");
    return cli_run_launch(a);
  }
  return cli_bound(a, &unused) == TK_OK ? cli_run_script(a) : TK_USAGE;
}

/* ---- merge --------------------------------------------------------------- */

int cli_merge(const cli_args *a) {
  cli_job job;
  if (!a->nwords)
    return cli_usage(a, "merge takes the files that --shard wrote");
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_merge(&job);
  return cli_job_end(&job, st);
}

/* ---- profile ------------------------------------------------------------- */

static tk_status print_profile(const cli_args *a, tk_profile *p) {
  const char *page = cli_value(a, OPT_HTML), *text;
  tk_status st = cli_has(a, OPT_JSON)
                     ? tk_profile_json(p, &text)
                     : tk_profile_text(p, cli_colour(a, STDOUT_FILENO), &text);
  if (text) fputs(text, stdout);
  return st == TK_OK && page ? tk_profile_save(p, page) : st;
}

int cli_profile(const cli_args *a) {
  cli_job job;
  tk_profile *p;
  const char *page = cli_value(a, OPT_HTML);
  /* printed before a run that may take long */
  if (page && !cli_can_write(page))
    return cli_usage(a, "--html: cannot write %s: %s", page, strerror(errno));
  if (cli_is_script(a)) return cli_run_script(a);
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK) st = tk_profile_new(job.session, &p);
  if (st != TK_OK) return cli_job_end(&job, st);
  st = cli_job_run(&job);
  if (job.ran) {
    tk_status printed = print_profile(a, p);
    if (st == TK_OK) st = printed;
  }
  return cli_job_end(&job, st);
}
