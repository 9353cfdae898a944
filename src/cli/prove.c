/* prove.c - tkdbg prove: what holds of a kernel for every size. */
#include "tkdbg/prove.h"

#include <stdlib.h>

#include "cli.h"

static int prove_launch(cli_job *j) {
  char *assume = cli_joined(j->args, OPT_ASSUME);
  tk_prove_options o = {.size = sizeof o,
                        .assume = assume,
                        .smt_out = cli_value(j->args, OPT_SMT_OUT),
                        .all_forms = cli_has(j->args, OPT_ALL_FORMS)};
  const tk_proof *p;
  tk_status st = tk_launch_prove(j->launch, &o, &p);
  free(assume);
  if (st != TK_OK) return st;
  const char *text = cli_has(j->args, OPT_JSON) ? tk_proof_json(j->launch, p)
                                                : tk_proof_text(j->launch, p);
  if (!text) return TK_INTERNAL;
  fputs(text, stdout);
  const char *junit = cli_value(j->args, OPT_JUNIT);
  if (junit) st = tk_proof_junit(j->launch, p, junit);
  if (st != TK_OK) return st;
  return tk_verdict_status(tk_proof_worst(p));
}

int cli_prove(const cli_args *a) {
  cli_job job;
  if (cli_is_script(a)) return cli_run_script(a);
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK) st = prove_launch(&job);
  return cli_job_end(&job, st);
}
