/* debug.c - tkdbg debug: a launch, or a script, under the debugger. */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

#include "tkdbg/dap.h"

/* The values of one option, in the order given. */
static const char **values(const cli_args *a, cli_option_id id, size_t *n) {
  const char **list = calloc(a->nuses + 1, sizeof *list);
  *n = 0;
  for (size_t i = 0; list && i < a->nuses; i++)
    if (a->uses[i].id == id) list[(*n)++] = a->uses[i].value;
  return list;
}

tk_status cli_job_debug(cli_job *j) {
  const cli_args *a = j->args;
  bool all = a->command == CLI_DEBUG;
  j->waits = !all && !cli_has(a, OPT_BREAK);
  tk_console_options o = {.size = sizeof o,
                          .json = all && cli_has(a, OPT_JSON),
                          .stop_at_start = all,
                          .stop_at_end = all,
                          .wait_for_call = j->waits,
                          .colour = cli_colour(a, STDOUT_FILENO),
                          .no_init = cli_has(a, OPT_NX)};
  const char **breaks = values(a, OPT_BREAK, &o.nbreakpoints);
  const char **files = values(a, OPT_COMMAND_FILE, &o.nfiles);
  const char **commands = values(a, OPT_EX, &o.ncommands);
  o.breakpoints = breaks;
  o.files = files;
  o.commands = commands;
  tk_status st = TK_INTERNAL;
  if (breaks && files && commands)
    st = tk_console_new(j->session, &o, &j->debugger);
  free(breaks);
  free(files);
  free(commands);
  if (st == TK_OK) cli_catch_interrupt(j->session, j->debugger, false);
  return st;
}

static int debug_one(const cli_args *a) {
  cli_job job;
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK)
    st = a->command == CLI_DEBUG ? cli_job_debug(&job)
         : a->command == CLI_DAP ? cli_job_dap(&job)
                                 : cli_job_serve(&job);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK && job.dap) st = tk_dap_configure(job.dap);
  if (st == TK_OK) st = cli_job_run(&job);
  return cli_job_end(&job, st);
}

int cli_debug(const cli_args *a) {
  bool launch =
      !a->nwords || cli_is_launch_file(a->words[0]) || cli_is_direct(a);
  return launch ? debug_one(a) : cli_run_script(a);
}
