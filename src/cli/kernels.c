/* kernels.c - tkdbg kernels: lists the jit functions of a file. */
#include "cli.h"

static void print_signature(tk_function *f) {
  printf("%s(", tk_function_name(f));
  for (size_t i = 0; i < tk_function_param_count(f); i++) {
    printf("%s%s", i ? ", " : "", tk_function_param_name(f, i));
    if (tk_function_param_is_constexpr(f, i)) printf(": constexpr");
    if (tk_function_param_has_default(f, i)) printf(" = ...");
  }
  printf(")\n");
}

/* A kernel with an error is reported, and the others are still listed. */
static tk_status list(cli_job *j) {
  tk_module *m;
  const char *name;
  tk_status all = tk_module_open_file(j->session, j->args->words[0], &m);
  if (all != TK_OK) return all;
  if (!tk_module_kernel_name(m, 0))
    fprintf(stderr, "tkdbg kernels: %s has no @triton.jit function\n",
            j->args->words[0]);
  for (size_t i = 0; (name = tk_module_kernel_name(m, i)); i++) {
    tk_function *f;
    if (cli_is_interrupted()) return TK_INTERRUPTED;
    tk_status st = tk_function_named(m, name, &f);
    if (st == TK_OK) print_signature(f);
    if (st > all) all = st;
  }
  return all;
}

int cli_kernels(const cli_args *a) {
  cli_job job;
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = list(&job);
  return cli_job_end(&job, st);
}
