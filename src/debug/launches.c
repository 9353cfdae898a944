/* launches.c - the last launches of a script.
 *
 * Each launch is written to a launch file before it runs.  The file has no
 * name: it is there as long as we hold it open, so nothing is left behind when
 * the process dies.  The oldest files go when all of them are more than the
 * user wants to have kept; what the launches were is told for longer.
 *
 * A launch runs again from its file, between the launches of the host, on
 * memory of its own: the host's is as it was.
 */
#include "debug/launches.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug/api.h"
#include "debug/raise.h"
#include "debug/resume.h"

enum { MOST_LAUNCHES = 128 };

/* ---- recording --------------------------------------------------------- */

static void close_record(tkd_launches *x, tkd_record *r) {
  if (r->fd >= 0) close(r->fd);
  x->kept -= r->bytes;
  r->fd = -1;
  r->bytes = 0;
}

static void drop_records(tkd *d, size_t most) {
  tkd_launches *x = &d->launches;
  size_t n = x->n > most ? x->n - most : 0;
  if (!n) return;
  for (size_t i = 0; i < n; i++) {
    close_record(x, &x->list[i]);
    tk_text_free(d->env, x->list[i].kernel);
  }
  memmove(x->list, x->list + n, (x->n - n) * sizeof *x->list);
  x->n -= n;
}

static void keep_within(tkd_launches *x, uint64_t most) {
  for (size_t i = 0; i < x->n && x->kept > most; i++)
    close_record(x, &x->list[i]);
}

static uint64_t bytes_of_arguments(const tki *t) {
  uint64_t n = 0;
  for (size_t i = 0; i < t->nregions; i++)
    n += (uint64_t)(t->regions[i].hi - t->regions[i].lo);
  return n;
}

/* A launch that cannot be written, to a full disk say, is just not kept. */
static void write_record(tkd *d, tkd_record *r) {
  const char *folder = getenv("TMPDIR");
  struct stat about;
  size_t before = d->env->ndiags;
  char *path = tk_arena_printf(&d->mem.arena, "%s/tkdbg-launch-XXXXXX",
                               folder && *folder ? folder : "/tmp");
  int fd = mkstemp(path);
  if (fd < 0) return;
  close(fd);
  bool ok = tk_launch_record(d->t->launch, path) == TK_OK;
  r->fd = ok ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  unlink(path);
  if (r->fd >= 0 && fstat(r->fd, &about) == 0)
    r->bytes = (uint64_t)about.st_size;
  d->launches.kept += r->bytes;
  tk_diag_truncate(d->env, before);
}

static void record_launch(tkd *d) {
  tkd_launches *x = &d->launches;
  const tki *t = d->t;
  drop_records(d, MOST_LAUNCHES - 1);
  if (x->n == x->cap)
    x->list = tk_array_grow(d->env, x->list, sizeof *x->list, &x->cap);
  tkd_record *r = &x->list[x->n];
  *r = (tkd_record){.number = x->count,
                    .fd = -1,
                    .pids = t->pids,
                    .order = t->order,
                    .asserts = t->asserts,
                    .dot_exact = t->dot_exact};
  memcpy(r->grid, t->grid, sizeof r->grid);
  r->kernel = tk_text_new(d->env, t->program->kernel->name);
  x->n++;
  uint64_t size = bytes_of_arguments(t);
  if (size > x->most) return;
  keep_within(x, x->most - size);
  write_record(d, r);
}

static tkd_record *record_of(tkd *d, uint64_t number) {
  for (size_t i = 0; i < d->launches.n; i++)
    if (d->launches.list[i].number == number) return &d->launches.list[i];
  return NULL;
}

void tkd_launch_counted(tkd *d) {
  tkd_launches *x = &d->launches;
  tki *t = d->t;
  d->launch.number = x->again ? x->again : ++x->count;
  if (!x->again) {
    if (d->front.script) record_launch(d);
    return;
  }
  const tkd_record *r = record_of(d, x->again);
  t->pids = r->pids;
  t->order = r->order;
  t->asserts = r->asserts;
  t->dot_exact = r->dot_exact;
}

void tkd_launches_free(tkd *d) {
  drop_records(d, 0);
  tk_free(d->env, d->launches.list, d->launches.cap * sizeof *d->launches.list);
}

/* ---- going to one ------------------------------------------------------ */

uint64_t tkd_launch_wanted(tkd *d, uint64_t number) {
  const tkd_launches *x = &d->launches;
  unsigned long long n = number ? number : x->count;
  if (!number && (!x->raised || d->front.needs_launch)) return x->count + 1;
  if (n > x->count && x->raised)
    tkd_raise(d, LAUNCH_NEVER, n, (unsigned long long)x->count);
  if (n > x->count || (d->t && n == d->launch.number)) return n;
  const tkd_record *r = record_of(d, n);
  if (!r || r->fd < 0) tkd_raise(d, LAUNCH_DROPPED, n);
  return n;
}

/* Runs a launch again from its file; it stops at its first statement. */
static void run_recorded(tkd *d) {
  tkd_launches *x = &d->launches;
  const tkd_record *r = record_of(d, x->wanted);
  char path[40];
  tk_launch *l;
  size_t before = d->env->ndiags;
  x->wanted = 0;
  if (!r || r->fd < 0) return;
  x->again = r->number;
  snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
  if (tk_launch_replay(d->session, path, &l) == TK_OK) {
    tk_launch_run(l, NULL, NULL);
    tk_launch_free(l);
  }
  x->again = 0;
  d->launch.leaves = false;
  d->launch.number = x->count;
  if (d->at.reported > before) d->at.reported = before;
  tk_diag_truncate(d->env, before);
}

tk_status tk_debug_go_back(tk_debug *d) {
  while (d->launches.wanted && !d->launch.quit) run_recorded(d);
  return d->launch.quit ? TK_INTERRUPTED : TK_OK;
}

/* ---- when the host has failed ------------------------------------------ */

/* The front end looks around, with no launch running.  Whether it goes back
 * into one. */
static bool stop_raised(tkd *d, const char *what) {
  tk_debug_stop s = {.reason = TK_STOP_RAISED,
                     .text = what,
                     .over = true,
                     .launch = d->launches.count,
                     .program = TK_DEBUG_NO_PROGRAM,
                     .statement = TK_DEBUG_NO_STATEMENT};
  tkd_drop_intent(d);
  d->front.stopped(d->front.ud, d, &s);
  tk_arena_free(&d->answers.arena);
  tk_resume r = d->course.intent;
  tkd_drop_intent(d);
  if (r.kind == TK_RESUME_LAUNCH)
    d->launches.wanted = r.launch ? r.launch : d->launches.count;
  return r.kind == TK_RESUME_LAUNCH;
}

/* The same in the last launch, which runs again for it. */
static tk_status stop_in_last(tkd *d, const char *what) {
  tkd_launches *x = &d->launches;
  const tkd_record *r = record_of(d, x->count);
  if (!r || r->fd < 0) return TK_OK;
  x->wanted = x->count;
  x->failure = what;
  x->raised = true;
  tk_status st = tk_debug_go_back(d);
  x->raised = false;
  x->failure = NULL;
  if (d->at.stop.text == what) d->at.stop.text = NULL; /* it is the caller's */
  return st;
}

tk_status tk_debug_raised(tk_debug *d, const char *what) {
  bool sleeps = d->front.wait_for_call && !d->points.first;
  if (sleeps || !d->front.stopped || !d->front.script || !d->launches.count ||
      d->launch.detached || d->launch.quit)
    return TK_OK;
  if (d->front.needs_launch) return stop_in_last(d, what);
  d->launches.raised = true;
  while (stop_raised(d, what))
    if (tk_debug_go_back(d) != TK_OK || d->launch.detached) break;
  d->launches.raised = false;
  return TK_OK;
}

/* ---- what there is ----------------------------------------------------- */

bool tk_debug_launch_at(const tk_debug *d, size_t i,
                        tk_debug_past_launch *out) {
  if (i >= d->launches.n) return false;
  const tkd_record *r = &d->launches.list[i];
  *out = (tk_debug_past_launch){
      .number = r->number, .kernel = r->kernel, .bytes = r->bytes};
  memcpy(out->grid, r->grid, sizeof out->grid);
  return true;
}

void tk_debug_keep_launches(tk_debug *d, uint64_t bytes) {
  d->launches.most = bytes;
  keep_within(&d->launches, bytes);
}

uint64_t tk_debug_launches_kept(const tk_debug *d) {
  return d->launches.most;
}
