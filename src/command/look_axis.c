/* look_axis.c - how lanes follow each other, and who would hold them on a GPU.
 *
 * Axis facts are those of Triton's axis analysis (contiguity, divisibility,
 * constancy), found from the values themselves.  The layout is the one that
 * Triton's conversion to its GPU dialect gives a block before any pass has
 * looked at it: threads fill the last axis first.
 */
#include <inttypes.h>
#include <string.h>

#include "command/look.h"
#include "base/index.h"

/* ---- axis facts --------------------------------------------------------- */

static int64_t lane_int(const tkt_block *b, int64_t i) {
  const void *p = tkt_block_lane(b, i);
  int64_t v;
  if (!b->type.ptr) return tk_lane_int((tk_dtype)b->type.elem, p);
  memcpy(&v, p, sizeof v);
  return v;
}

/* Lane number at `at` along an axis of the row that starts at lane `row`. */
typedef struct line {
  const tkt_block *b;
  int64_t row, step, n;
} line;

static int64_t lane_value(const line *l, int64_t at) {
  return lane_int(l->b, l->row + at * l->step);
}

/* The longest power of two g <= most such that in every group of g lanes each
 * is `by` more than the one before. */
static int64_t group(const line *l, int64_t by, int64_t most) {
  int64_t g = most;
  for (int64_t i = 1; i < l->n; i++)
    while (g > 1 && i % g && lane_value(l, i) - lane_value(l, i - 1) != by)
      g /= 2;
  return g;
}

static int64_t power_in(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) p *= 2;
  return p;
}

static int64_t divisor(int64_t v) {
  return v ? v & -v : INT64_C(1) << 30;
}

typedef struct facts {
  int64_t contiguity, divisibility, constancy;
} facts;

static void find_facts(facts *f, const line *l, int64_t unit) {
  f->contiguity = group(l, unit, f->contiguity);
  f->constancy = group(l, 0, f->constancy);
}

static int64_t lanes_behind(const tk_type *t, int axis) {
  int64_t step = 1;
  for (int i = axis + 1; i < t->rank; i++) step *= t->shape[i];
  return step;
}

static facts axis_facts(const tkt_block *b, int axis, int64_t unit) {
  int64_t n = b->type.shape[axis], step = lanes_behind(&b->type, axis);
  facts f = {power_in(n), INT64_C(1) << 30, power_in(n)};
  int64_t rows = n ? tk_numel(&b->type) / n : 0;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t r = 0; r < rows; r++) {
      line l = {b, r / step * step * n + r % step, step, n};
      if (pass == 0) find_facts(&f, &l, unit);
      for (int64_t i = 0; pass && i < n; i += f.contiguity) {
        int64_t d = divisor(lane_value(&l, i));
        if (d < f.divisibility) f.divisibility = d;
      }
    }
  return f;
}

void tkt_axis(tk_buf *out, const tkt_block *b) {
  const tk_type *t = &b->type;
  bool whole = t->ptr || tk_is_int((tk_dtype)t->elem);
  tk_type to = t->ptr ? tk_pointee(tk_elem_of(*t)) : *t;
  int64_t unit = t->ptr ? (int64_t)tk_lane_size(&to) : 1;
  tk_type_declare(out, t);
  if (!whole) {
    tk_buf_puts(out, ": floats have no contiguity\n");
    return;
  }
  if (!t->rank)
    tk_buf_printf(out, ": divisibility %" PRId64, divisor(lane_int(b, 0)));
  tk_buf_putc(out, '\n');
  for (int i = 0; i < t->rank; i++) {
    facts f = axis_facts(b, i, unit);
    tk_buf_printf(out,
                  "  axis %d: contiguity %" PRId64 ", divisibility %" PRId64
                  "%s, constancy %" PRId64 "\n",
                  i, f.contiguity, f.divisibility, t->ptr ? " bytes" : "",
                  f.constancy);
  }
}

/* ---- layout ------------------------------------------------------------- */

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}

static void put_list(tk_buf *out, const char *name, const int64_t *v, int n) {
  tk_buf_printf(out, "%s = [", name);
  tk_buf_ints(out, v, n);
  tk_buf_putc(out, ']');
}

/* Threads and warps along each axis; the last axis is filled first, and what
 * is left over goes to the first. */
static void split_threads(const tk_type *t, int warps, int64_t *threads,
                          int64_t *across) {
  int64_t lanes = 32, left = warps, all = 32 * (int64_t)warps;
  for (int i = t->rank - 1; i > 0; i--) {
    int64_t here = clamp(all, 1, t->shape[i]);
    threads[i] = clamp(here, 1, lanes);
    across[i] = clamp(here / threads[i], 1, left);
    lanes /= threads[i];
    left /= across[i];
    all /= here;
  }
  threads[0] = lanes;
  across[0] = left;
}

void tkt_layout(tk_buf *out, const tk_type *t, int warps) {
  int64_t threads[TK_MAX_RANK], across[TK_MAX_RANK];
  int64_t each[TK_MAX_RANK] = {1}, order[TK_MAX_RANK] = {0}, held = 1;
  tk_type_declare(out, t);
  if (!t->rank) {
    tk_buf_puts(out, ": a scalar; every thread holds it\n");
    return;
  }
  split_threads(t, warps, threads, across);
  tk_buf_puts(out, "\n  #blocked<{");
  for (int i = 0; i < t->rank; i++) {
    int64_t covered = threads[i] * across[i];
    each[i] = 1;
    order[i] = t->rank - 1 - i;
    held *= (t->shape[i] + covered - 1) / covered;
  }
  put_list(out, "sizePerThread", each, t->rank);
  put_list(out, ", threadsPerWarp", threads, t->rank);
  put_list(out, ",\n             warpsPerCTA", across, t->rank);
  put_list(out, ", order", order, t->rank);
  tk_buf_printf(out, "}>\n  %d warp%s; each thread holds %" PRId64 " lane%s\n",
                warps, warps == 1 ? "" : "s", held, held == 1 ? "" : "s");
}
