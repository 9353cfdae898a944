/* view.c - tkdbg view: a page of the launches of a script, of a direct launch
 * or of a launch file. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/view.h"

static tk_status write_page(const cli_args *a, tk_view *v, const char *path) {
  const char *text;
  if (cli_has(a, OPT_JSON)) {
    tk_status st = tk_view_json(v, &text);
    if (st == TK_OK) fputs(text, stdout);
    return st;
  }
  tk_status st = tk_view_save(v, path);
  if (st != TK_OK) return st;
  if (!cli_has(a, OPT_QUIET)) fprintf(stderr, "tkdbg: wrote %s\n", path);
  if (cli_has(a, OPT_OPEN)) tk_view_show(path);
  return st;
}

static int view_launch(const cli_args *a, const char *path) {
  const char *size = cli_value(a, OPT_PAGE_SIZE), *by = cli_value(a, OPT_BY);
  cli_job job;
  tk_view *v;
  int st = cli_job_start(&job, a);
  if (st == TK_OK) st = cli_job_open(&job);
  if (st == TK_OK)
    st = tk_view_new(job.session, size ? strtoul(size, NULL, 10) : 0, &v);
  if (st != TK_OK) return cli_job_end(&job, st);
  tk_view_triton(v, by && !strcmp(by, "triton"));
  st = cli_job_run(&job);
  if (job.ran && tk_view_launches(v)) {
    tk_status written = write_page(a, v, path);
    if (st == TK_OK) st = written;
  }
  return cli_job_end(&job, st);
}

int cli_view(const cli_args *a) {
  bool page = !cli_has(a, OPT_JSON);
  if (!cli_is_script(a) && !cli_one_file(a)) return TK_USAGE;
  char *path = page ? cli_page_path(a) : NULL;
  int st = TK_USAGE;
  /* said before a run that may take long */
  if (page && !cli_can_write(path))
    cli_usage(a, "cannot write the page to %s: %s", path, strerror(errno));
  else
    st = cli_is_script(a) ? cli_run_script(a) : view_launch(a, path);
  free(path);
  return st;
}
