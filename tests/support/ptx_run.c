/* ptx_run.c - runs a kernel that is written as PTX. */
#include "support/ptx_run.h"

#include <stdlib.h>
#include <string.h>

#include "launch/internal.h"

typedef struct text_run {
  tk_arena arena;
  const char *text;
  tkp_launch launch;
  tk_status st;
} text_run;

static void parse_and_run(tk_env *e, void *ud) {
  text_run *r = ud;
  tkp_entry_info info;
  (void)e;
  tkp_program *p = tkp_parse(&r->arena, "k.ptx", r->text, strlen(r->text));
  if (tkp_entry(p, 0, &info)) r->launch.nparams = info.nparams;
  r->st = tkp_run(p, &r->launch, NULL);
}

char *ptx_run_text(const char *text, uint32_t threads, uint32_t programs,
                   void *io, size_t size, tk_status *status) {
  tk_session *s = tk_session_new();
  const void *params[2] = {&io, &size};
  tkp_range range = {(uint64_t)(uintptr_t)io, size, "io", true, NULL};
  text_run r = {.text = text,
                .launch = {.grid = {programs, 1, 1},
                           .block = {threads, 1, 1},
                           .params = params,
                           .ranges = &range,
                           .nranges = 1,
                           .steps = 10000000}};
  tk_arena_init(&r.arena, &s->env);
  tk_status st = tk_protect(&s->env, parse_and_run, &r);
  if (st == TK_OK) st = r.st;
  if (status) *status = st;
  char *report = strdup(tk_report_count(s) ? tk_report(s, false) : "");
  tk_report_clear(s);
  tk_arena_free(&r.arena);
  tk_session_free(s);
  return report;
}
