/* ir.c - tkdbg ir and tkdbg compile: print a kernel's typed form, as it is
 * specialised and as the compiler's stages leave it; tkdbg cache: what compiled
 * code is kept; tkdbg layout: draws who holds which element of a block. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
                       .after_all = cli_has(a, OPT_AFTER_ALL),
                       .arch = cli_value(a, OPT_ARCH),
                       .output = cli_value(a, OPT_OUTPUT),
                       .by = cli_value(a, OPT_BY)};
  const char *text;
  tk_status st = tk_launch_emit(j->launch, &o, &text);
  if (text) fputs(text, stdout);
  return st;
}

static int print_kernel(const cli_args *a,
                        tk_status (*print)(cli_job *j, const cli_args *a)) {
  cli_job job;
  if (!cli_one_file(a)) return TK_USAGE;
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK) st = print(&job, a);
  return cli_job_end(&job, st);
}

/* Of a script, the form of each launch is printed before it runs ... */
int cli_ir(const cli_args *a) {
  if (cli_is_script(a)) return cli_run_script(a);
  return print_kernel(a, print_form);
}

/* ... or what the compiler makes of it. */
int cli_compile(const cli_args *a) {
  if (cli_is_script(a)) return cli_run_script(a);
  return print_kernel(a, print_stage);
}

/* ---- the cache ----------------------------------------------------------- */

int cli_cache(const cli_args *a) {
  tk_cache_summary c;
  const char *word = a->nwords == 1 ? a->words[0] : "";
  bool clear = !strcmp(word, "clear");
  if (!clear && strcmp(word, "info"))
    return cli_usage(a, "'info' or 'clear' is expected");
  if (!tk_cache_look(&c, clear))
    return cli_usage(a, "there is no folder for compiled code: set "
                        "TKDBG_CACHE_DIR");
  printf("%s: %" PRIu64 " %s, %" PRIu64 " bytes%s\n", c.folder, c.entries,
         c.entries == 1 ? "kernel" : "kernels", c.bytes,
         clear ? " removed" : "");
  return TK_OK;
}

/* ---- layouts ------------------------------------------------------------- */

/* "16x64" as sizes; their number, or 0. */
static int read_shape(const char *text, int64_t shape[TK_MAX_RANK]) {
  for (int rank = 0; rank < TK_MAX_RANK; rank++) {
    char *end;
    shape[rank] = strtoll(text, &end, 10);
    if (end == text || (*end && *end != 'x')) return 0;
    if (!*end) return rank + 1;
    text = end + 1;
  }
  return 0;
}

int cli_layout(const cli_args *a) {
  cli_job job;
  int64_t shape[TK_MAX_RANK];
  const char *text = NULL;
  if (a->nwords != 2) return cli_usage(a, "a LAYOUT and a SHAPE are expected");
  int rank = read_shape(a->words[1], shape);
  if (!rank)
    return cli_usage(a, "'%s' is not a shape such as 16x64", a->words[1]);
  int st = cli_job_start(&job, a);
  if (st == TK_OK)
    st = tk_layout_draw(job.session, a->words[0], shape, rank, &text);
  if (text) fputs(text, stdout);
  return cli_job_end(&job, st);
}
