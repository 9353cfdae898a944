/* reduce.c - reductions and scans.
 *
 * The order is part of the language here: an axis of N lanes is reduced by
 * combining its two halves lane by lane until one lane is left, so lane i
 * meets lane i + N/2 first.  A scan with a user's function combines lane i
 * with lane i - d for d = 1, 2, 4, ... (Hillis and Steele, 1986); cumsum and
 * cumprod go along the axis one lane after the other.
 */
#include <string.h>

#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/kernels.h"

/* Halves one row until one lane (of inner lanes) is left. */
static void halve(char *d, const char *s, char *tmp, tki_around r,
                  tki_binary_fn fn) {
  TK_ASSERT(fn && r.n && !(r.n & (r.n - 1)));
  size_t lanes = r.n / 2 * r.inner;
  if (r.n == 1) {
    memcpy(d, s, r.inner * r.size);
    return;
  }
  fn(r.n == 2 ? d : tmp, s, s + lanes * r.size, lanes, 0);
  for (size_t n = r.n / 2; n > 1; n /= 2) {
    lanes = n / 2 * r.inner;
    fn(n == 2 ? d : tmp, tmp, tmp + lanes * r.size, lanes, 0);
  }
}

/* Goes lane after lane: slices in a debugger have any length. */
static void one_by_one(char *d, const char *s, tki_around r, tki_binary_fn fn) {
  size_t row = r.inner * r.size;
  memcpy(d, s, row);
  for (size_t i = 1; i < r.n; i++) fn(d, d, s + i * row, r.inner, 0);
}

/* Reduces an axis by a binary operation, row by row. */
static void run_reduce(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  tki_around r = tki_around_axis(&in->from, tk_inst_axis(in));
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  char *d = tki_writable(&v), *tmp = tki_scratch_new(t, r.n * r.inner * r.size);
  const char *s = tki_lanes(a);
  bool power = !(r.n & (r.n - 1));
  tki_rows_fn rows = tki_rows_kernel(tk_reduction_op(tk_reduce_op(in)),
                                     (tk_dtype)in->type.elem);
  if (rows && power && r.inner == 1) {
    rows((void *)d, (const void *)s, (void *)tmp, r.outer, r.n);
  } else {
    for (size_t o = 0; o < r.outer; o++) {
      char *to = d + o * r.inner * r.size;
      const char *from = s + o * r.n * r.inner * r.size;
      if (power)
        halve(to, from, tmp, r, fn);
      else
        one_by_one(to, from, r, fn);
    }
  }
  tki_scratch_free(t, tmp);
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- where the extreme lane is ----------------------------------------- */

/* Whether a lane replaces the best one so far: of equal lanes the first wins,
 * or the last, and a number wins over a NaN. */
static bool beats(tk_dtype d, bool max, bool last, const void *x,
                  const void *best) {
  if (tk_is_float(d)) {
    double a = tk_lane_double(d, x), b = tk_lane_double(d, best);
    if (b != b) return a == a || last;
    return a == b ? last : max ? a > b : a < b;
  }
  int64_t a = tk_lane_int(d, x), b = tk_lane_int(d, best);
  if (a == b) return last;
  if (d == TK_UINT64)
    return max ? (uint64_t)a > (uint64_t)b : (uint64_t)a < (uint64_t)b;
  return max ? a > b : a < b;
}

/* Finds the largest or smallest lane along an axis, and its index. */
static void run_arg_reduce(tki *t, const tk_inst *in, tki_val *frame) {
  tki_val *a = frame + in->args[0];
  tki_around r = tki_around_axis(&in->from, tk_inst_axis(in));
  tk_type index = tk_with_elem(in->type, TK_INT32);
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  tki_val x = tki_val_new(t, &index, (size_t)in->n);
  char *d = tki_writable(&v);
  const char *s = tki_lanes(a);
  int32_t *at = tki_writable(&x);
  for (size_t i = 0; i < r.outer * r.inner; i++) {
    const char *row = s + (i / r.inner * r.n * r.inner + i % r.inner) * r.size;
    size_t best = 0, step = r.inner * r.size;
    for (size_t k = 1; k < r.n; k++)
      if (beats((tk_dtype)in->type.elem, tk_reduce_op(in) == TK_R_MAX,
                tk_reduce_last(in), row + k * step, row + best * step))
        best = k;
    memcpy(d + i * r.size, row + best * step, r.size);
    at[i] = (int32_t)best;
  }
  tki_set(t, &frame[in->res[0]], v);
  tki_set(t, &frame[in->res[1]], x);
}

void tki_run_REDUCE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  if (in->nres == 2)
    run_arg_reduce(t, in, frame);
  else
    run_reduce(t, op, frame);
}

/* ---- with a combine function ------------------------------------------- */

/* Returns one half of the axis, `from` 0 or 1, as a value of its own. */
static tki_val half_of(tki *t, const tki_val *v, const tk_type *type,
                       tki_around r, size_t n, size_t from) {
  tki_val out = tki_val_new(t, type, r.outer * (n / 2) * r.inner);
  size_t row = n / 2 * r.inner * r.size;
  char *d = tki_writable(&out);
  const char *s = tki_lanes(v);
  for (size_t o = 0; o < r.outer; o++)
    memcpy(d + o * row, s + (o * 2 + from) * row, row);
  return out;
}

static void combine_halves(tki *t, const tk_func *f, tki_val *cur, size_t k,
                           const tk_type *types, const tki_around *r,
                           size_t n) {
  tki_val args[2 * TK_COMBINED], out[TK_COMBINED];
  TK_ASSERT(k <= TK_COMBINED && n % 2 == 0);
  for (size_t i = 0; i < k; i++) {
    args[i] = half_of(t, &cur[i], &types[i], r[i], n, 0);
    args[k + i] = half_of(t, &cur[i], &types[i], r[i], n, 1);
  }
  tki_call(t, f, args, 2 * k, out);
  for (size_t i = 0; i < 2 * k; i++) tki_release(t, &args[i]);
  for (size_t i = 0; i < k; i++) tki_set(t, &cur[i], out[i]);
}

/* A block of one lane becomes a scalar, if the result is one. */
static tki_val as_result(tki *t, tki_val *v, bool scalar, size_t size) {
  if (!scalar || tki_is_uniform(v)) return *v;
  tki_val out = tki_make_lane(tki_lanes(v), size);
  tki_release(t, v);
  return out;
}

void tki_run_REDUCE_FN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val cur[TK_COMBINED];
  tk_type types[TK_COMBINED];
  tki_around r[TK_COMBINED];
  const tk_combine *c = tk_reduce_fn_combine(in);
  size_t k = in->nargs, n = tk_inst_axis_lanes(in);
  for (size_t i = 0; i < k; i++) {
    types[i] = t->frame->func->slots[in->args[i]].type;
    r[i] = tki_around_axis(&types[i], tk_inst_axis(in));
    cur[i] = tki_share(&frame[in->args[i]]);
  }
  for (int level = 0; level < c->nlevels; level++, n /= 2)
    combine_halves(t, c->levels[level], cur, k, types, r, n);
  for (size_t i = 0; i < k; i++)
    tki_set(t, &frame[in->res[i]],
            as_result(t, &cur[i], in->type.rank == 0, r[i].size));
}

/* ---- scans ------------------------------------------------------------- */

/* Returns every row moved `by` places along the axis; the lanes at its end that
 * nothing is moved to stay. */
static tki_val shifted(tki *t, tki_val *v, const tk_type *type, tki_around r,
                       size_t by, bool reverse) {
  tki_val out = tki_val_new(t, type, r.outer * r.n * r.inner);
  size_t row = r.inner * r.size, bytes = r.n * row;
  char *d = tki_writable(&out);
  const char *s = tki_lanes(v);
  for (size_t o = 0; o < r.outer; o++, d += bytes, s += bytes) {
    if (reverse) {
      memcpy(d, s + by * row, bytes - by * row);
      memcpy(d + bytes - by * row, s + bytes - by * row, by * row);
    } else {
      memcpy(d, s, by * row);
      memcpy(d + by * row, s, bytes - by * row);
    }
  }
  return out;
}

/* Lanes that have no lane `by` places before them keep their value. */
static void keep_ends(tki_val *to, const tki_val *from, tki_around r, size_t by,
                      bool reverse) {
  size_t row = r.inner * r.size, bytes = r.n * row;
  size_t off = reverse ? bytes - by * row : 0;
  char *d = tki_writable(to);
  const char *s = tki_lanes(from);
  for (size_t o = 0; o < r.outer; o++)
    memcpy(d + o * bytes + off, s + o * bytes + off, by * row);
}

/* ---- scans by one operation --------------------------------------------- */

/* A scan whose function is one operation need not be called for each distance:
 * the same operations are done a piece of the row at a time, for all distances
 * while it is in the cache. */
typedef struct scan {
  tki_binary_fn fn;
  size_t size, inner; /* bytes of a lane, lanes at each place of the axis */
} scan;

enum { SCAN_PIECE = 8 << 10, SCAN_STRIP = 64 };

/* The loop of a function that is one operation on its two parameters; NULL: it
 * is something else, somebody follows the calls, or the program gives way to
 * others in the first one. */
static tki_binary_fn scan_operation(const tki *t, const tk_func *f) {
  const tk_stmt *st = f->body.n == 1 ? f->body.items[0] : NULL;
  bool one = st && st->kind == TK_S_RETURN && st->insts.n == 1 &&
             st->nresults == 1 && f->nparams == 2;
  if (!one || t->driver || t->yields || !tki_skips_scans(t)) return NULL;
  const tk_inst *in = st->insts.items[0];
  const tki_op *op = &t->code[in->id];
  bool plain = op->run == tki_run_BINARY && in->args[0] == f->params[0] &&
               in->args[1] == f->params[1] && in->res[0] == st->results[0];
  return plain ? (tki_binary_fn)op->kernel : NULL;
}

/* Combines each of n places with the one `by` before it, if there is one. */
static void scan_step(const scan *x, char *to, const char *from, size_t n,
                      size_t by) {
  size_t skip = by * x->inner * x->size;
  memcpy(to, from, skip);
  x->fn(to + skip, from, from + skip, (n - by) * x->inner, 0);
}

/* Scans n places; `other` has room for as many. */
static void scan_at_once(const scan *x, char *row, char *other, size_t n) {
  char *from = row, *to = other;
  for (size_t by = 1; by < n; by *= 2) {
    scan_step(x, to, from, n, by);
    char *swap = from;
    from = to;
    to = swap;
  }
  if (from != row) memcpy(row, from, n * x->inner * x->size);
}

/* Goes through a row piece by piece, for distances below the n places of one.
 * Of each piece the places at its end, as they are before each distance, are
 * kept for the next.  room: five pieces. */
static void scan_near(const scan *x, char *row, size_t n, size_t pieces,
                      char *room) {
  size_t step = x->inner * x->size, bytes = n * step;
  char *kept = room + 4 * bytes, *from = room + bytes, *to = from + 2 * bytes;
  for (size_t p = 0; p < pieces; p++, row += bytes) {
    memcpy(from, row, bytes);
    for (size_t by = 1; by < n; by *= 2) {
      char *ends = kept + by * step, *before = from - by * step;
      if (p) {
        memcpy(before, ends, by * step);
        x->fn(to, before, from, n * x->inner, 0);
      } else {
        scan_step(x, to, from, n, by);
      }
      memcpy(ends, from + bytes - by * step, by * step);
      char *swap = from;
      from = to;
      to = swap;
    }
    memcpy(row, from, bytes);
  }
}

/* The distances from a piece on: lanes at the same place of the pieces, some of
 * them at a time.  room: two strips of all pieces. */
static void scan_far(const scan *x, char *row, size_t bytes, size_t pieces,
                     char *room) {
  size_t width = bytes < SCAN_STRIP ? bytes : SCAN_STRIP;
  scan strip = {x->fn, x->size, width / x->size};
  for (size_t at = 0; at < bytes; at += width) {
    for (size_t p = 0; p < pieces; p++)
      memcpy(room + p * width, row + p * bytes + at, width);
    scan_at_once(&strip, room, room + pieces * width, pieces);
    for (size_t p = 0; p < pieces; p++)
      memcpy(row + p * bytes + at, room + p * width, width);
  }
}

/* Reverses the order of the places of a row. */
static void turn_row(char *row, char *room, size_t n, size_t step) {
  for (size_t i = 0; i < n; i++)
    memcpy(room + i * step, row + (n - 1 - i) * step, step);
  memcpy(row, room, n * step);
}

static void scan_by_operation(tki *t, const tk_inst *in, tki_val *frame,
                              tki_binary_fn fn) {
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  scan x = {fn, r.size, r.inner};
  size_t step = r.inner * r.size, row = r.n * step, n = r.n;
  while (n > 1 && n * step > SCAN_PIECE) n /= 2;
  const char *s = tki_lanes(&frame[in->args[0]]);
  tki_val v = tki_result(t, in, frame, 1);
  size_t far = 2 * SCAN_STRIP * (r.n / n), bytes = 5 * n * step;
  if (bytes < far) bytes = far;
  if (bytes < row && tk_inst_reverse(in)) bytes = row;
  char *d = tki_writable(&v), *room = tki_scratch_new(t, bytes);
  if (d != s) memcpy(d, s, r.outer * row);
  for (size_t o = 0; o < r.outer; o++, d += row) {
    if (tk_inst_reverse(in)) turn_row(d, room, r.n, step);
    if (n > 1) scan_near(&x, d, n, r.n / n, room);
    if (n < r.n) scan_far(&x, d, n * step, r.n / n, room);
    if (tk_inst_reverse(in)) turn_row(d, room, r.n, step);
  }
  for (size_t by = 1; by < r.n; by *= 2) t->ops++;
  tki_scratch_free(t, room);
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_SCAN_FN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val cur[TK_COMBINED];
  tki_val args[2 * TK_COMBINED], out[TK_COMBINED];
  const tk_combine *c = tk_scan_fn_combine(in);
  size_t k = in->nargs, n = tk_inst_axis_lanes(in);
  bool reverse = tk_inst_reverse(in);
  tki_binary_fn fn = scan_operation(t, c->levels[0]);
  if (fn && !(n & (n - 1))) {
    scan_by_operation(t, in, frame, fn);
    return;
  }
  for (size_t i = 0; i < k; i++) cur[i] = tki_share(&frame[in->args[i]]);
  for (size_t by = 1; by < n; by *= 2) {
    for (size_t i = 0; i < k; i++) {
      const tk_type *type = &t->frame->func->slots[in->args[i]].type;
      tki_around r = tki_around_axis(type, tk_inst_axis(in));
      args[i] = shifted(t, &cur[i], type, r, by, reverse);
      args[k + i] = cur[i];
    }
    tki_call(t, c->levels[0], args, 2 * k, out);
    for (size_t i = 0; i < k; i++) {
      const tk_type *type = &t->frame->func->slots[in->args[i]].type;
      tki_around r = tki_around_axis(type, tk_inst_axis(in));
      tki_own(t, &out[i], r.outer * r.n * r.inner, r.size);
      keep_ends(&out[i], &cur[i], r, by, reverse);
      tki_release(t, &args[i]);
      tki_set(t, &cur[i], out[i]);
    }
  }
  for (size_t i = 0; i < k; i++) tki_set(t, &frame[in->res[i]], cur[i]);
}

void tki_run_SCAN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  bool reverse = tk_inst_reverse(in);
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  size_t row = r.inner * r.size;
  char *d = tki_writable(&v);
  memcpy(d, tki_lanes(a), (size_t)in->n * r.size);
  for (size_t o = 0; o < r.outer; o++) {
    char *base = d + o * r.n * row;
    for (size_t i = 1; i < r.n; i++) {
      size_t to = reverse ? r.n - 1 - i : i;
      size_t prev = reverse ? to + 1 : to - 1;
      fn(base + to * row, base + prev * row, base + to * row, r.inner, 0);
    }
  }
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- binding ------------------------------------------------------------- */

void tki_bind_REDUCE(tki_op *op, const tk_func *f) {
  tk_binary repeated = tk_reduction_op(tk_inst_reduction(op->in));
  (void)f;
  op->kernel =
      (tki_kernel)tki_binary_kernel(repeated, (tk_dtype)op->in->from.elem);
}

void tki_bind_SCAN(tki_op *op, const tk_func *f) {
  tki_bind_REDUCE(op, f);
}
