/* footprint.c - where programs have stored; see footprint.h. */
#include "interp/footprint.h"

#include <stdlib.h>

/* Runs of a thread: more would take longer to compare than the programs take to
 * run again. */
enum { MOST = 1 << 18 };

bool tki_footprint_is_scattered(const tki_footprint *f) {
  enum { MANY = 4096, BYTES = 32 };
  return f->n > MANY && f->bytes / f->n < BYTES;
}

static bool make_room(tki_footprint *f, tk_env *e) {
  if (f->n < f->cap) return true;
  if (f->n >= MOST) f->full = true;
  if (f->full) return false;
  size_t cap = f->cap ? f->cap * 2 : 64;
  f->runs =
      tk_realloc(e, f->runs, f->cap * sizeof *f->runs, cap * sizeof *f->runs);
  f->cap = cap;
  return true;
}

void tki_footprint_add(tki_footprint *f, tk_env *e, const char *at,
                       size_t bytes) {
  f->bytes += bytes;
  tki_run_of_bytes *last = f->n ? &f->runs[f->n - 1] : NULL;
  if (last && last->hi == at)
    last->hi = at + bytes;
  else if (make_room(f, e))
    f->runs[f->n++] = (tki_run_of_bytes){at, at + bytes};
}

static void add_axis(tki_footprint *f, tk_env *e, const tki_tile *x, int k,
                     const char *at) {
  const struct tki_tile_axis *a = &x->axis[k];
  if (k == x->rank - 1 && a->step == (int64_t)x->size) {
    tki_footprint_add(f, e, at, (a->hi - a->lo) * x->size);
    return;
  }
  for (size_t i = a->lo; i < a->hi; i++, at += a->step)
    if (k == x->rank - 1)
      tki_footprint_add(f, e, at, x->size);
    else
      add_axis(f, e, x, k + 1, at);
}

static int farthest_first(const void *x, const void *y) {
  const struct tki_tile_axis *a = x, *b = y;
  uint64_t p = (uint64_t)llabs(a->step), q = (uint64_t)llabs(b->step);
  return p > q ? -1 : p < q;
}

/* The axis along which lanes are closest goes last, so that runs are long. */
void tki_footprint_add_tile(tki_footprint *f, tk_env *e, const tki_tile *x) {
  if (!x->memory || f->full) return;
  tki_tile sorted = *x;
  if (x->rank > 1)
    qsort(sorted.axis, (size_t)x->rank, sizeof *sorted.axis, farthest_first);
  add_axis(f, e, &sorted, 0, x->memory);
}

static int lowest_first(const void *x, const void *y) {
  const tki_run_of_bytes *a = x, *b = y;
  return a->lo < b->lo ? -1 : a->lo > b->lo;
}

void tki_runs_sort(tki_run_of_bytes *runs, size_t n) {
  qsort(runs, n, sizeof *runs, lowest_first);
}

void tki_footprint_settle(tki_footprint *f) {
  size_t kept = 0, i = 1;
  while (i < f->n && f->runs[i - 1].lo <= f->runs[i].lo) i++;
  if (i < f->n) tki_runs_sort(f->runs, f->n);
  for (i = 1; i < f->n; i++) {
    tki_run_of_bytes *last = &f->runs[kept], next = f->runs[i];
    if (next.lo > last->hi)
      f->runs[++kept] = next;
    else if (next.hi > last->hi)
      last->hi = next.hi;
  }
  if (f->n) f->n = kept + 1;
}

static const tki_run_of_bytes *next_run(const tki_footprint *f) {
  return f->seen < f->n ? &f->runs[f->seen] : NULL;
}

/* The one whose next run is the lowest; NULL: there is none. */
static tki_footprint *lowest_of(tki_footprint *all) {
  tki_footprint *lowest = NULL;
  for (tki_footprint *f = all; f; f = f->next)
    if (next_run(f) && (!lowest || next_run(f)->lo < next_run(lowest)->lo))
      lowest = f;
  return lowest;
}

bool tki_footprints_apart(tki_footprint *all) {
  const char *end = NULL;
  for (tki_footprint *f = all; f; f = f->next)
    if (f->full) return false;
  for (tki_footprint *f; (f = lowest_of(all)) != NULL; f->seen++) {
    if (end && next_run(f)->lo < end) return false;
    end = next_run(f)->hi;
  }
  return true;
}

void tki_footprint_free(tki_footprint *f, tk_env *e) {
  tk_free(e, f->runs, f->cap * sizeof *f->runs);
  *f = (tki_footprint){0};
}
