/* look_stats.c - a block in numbers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/index.h"
#include "command/look.h"

/* ---- blocks ------------------------------------------------------------- */

static void pack(tkt_block *b) {
  int64_t step = 1;
  for (int i = b->type.rank - 1; i >= 0; i--) {
    b->strides[i] = step;
    step *= b->type.shape[i];
  }
}

tkt_block tkt_block_of(const tk_type *type, const void *lanes) {
  tkt_block b = {.type = *type, .data = lanes};
  pack(&b);
  return b;
}

tkt_block tkt_block_region(const tk_debug_region *x) {
  tkt_block b = {.type = tk_scalar(x->dtype), .data = x->data};
  b.type.rank = (uint8_t)x->rank;
  for (int i = 0; i < x->rank; i++) {
    b.type.shape[i] = (int)x->shape[i];
    b.strides[i] = x->strides[i];
  }
  return b;
}

const void *tkt_block_lane(const tkt_block *b, int64_t i) {
  int64_t index[TK_MAX_RANK], at = 0;
  tk_lane_index(&b->type, (size_t)i, index);
  for (int k = 0; k < b->type.rank; k++) at += index[k] * b->strides[k];
  return (const char *)b->data + at * (int64_t)tk_lane_size(&b->type);
}

void tkt_lane_index(tk_buf *out, const tk_type *type, int64_t i) {
  int64_t index[TK_MAX_RANK];
  tk_buf_index(out, index, tk_lane_index(type, (size_t)i, index));
}

double tkt_lane_double(const tkt_block *b, int64_t i) {
  const void *p = tkt_block_lane(b, i);
  tk_dtype d = (tk_dtype)b->type.elem;
  if (b->type.ptr) {
    uint64_t address;
    memcpy(&address, p, sizeof address);
    return (double)address;
  }
  if (tk_is_float(d)) return tk_lane_double(d, p);
  if (d == TK_UINT64) return (double)(uint64_t)tk_lane_int(d, p);
  return (double)tk_lane_int(d, p);
}

/* ---- counting ----------------------------------------------------------- */

typedef struct counts {
  int64_t n, finite, nan, pos, neg, zero, undefined;
  int64_t least_at, most_at;
  double least, most, mean, squares; /* Welford's running sums */
} counts;

static void count_finite(counts *c, double v, int64_t i) {
  c->finite++;
  c->zero += v == 0;
  if (c->finite == 1 || v < c->least) c->least = v, c->least_at = i;
  if (c->finite == 1 || v > c->most) c->most = v, c->most_at = i;
  double off = v - c->mean;
  c->mean += off / (double)c->finite;
  c->squares += off * (v - c->mean);
}

static counts count(const tkt_block *b) {
  counts c = {.n = tk_numel(&b->type)};
  for (int64_t i = 0; i < c.n; i++) {
    if (b->undefined && b->undefined[i]) {
      c.undefined++;
      continue;
    }
    double v = tkt_lane_double(b, i);
    if (v != v)
      c.nan++;
    else if (isinf(v))
      *(v > 0 ? &c.pos : &c.neg) += 1;
    else
      count_finite(&c, v, i);
  }
  return c;
}

/* ---- text --------------------------------------------------------------- */

enum { BINS = 8 };

static void histogram(tk_buf *out, const tkt_block *b, const counts *c,
                      int width) {
  int64_t bins[BINS] = {0}, most = 1;
  double span = c->most - c->least;
  if (c->finite < 2 || !(span > 0) || isinf(span)) return;
  for (int64_t i = 0; i < c->n; i++) {
    double v = b->undefined && b->undefined[i] ? NAN : tkt_lane_double(b, i);
    if (v != v || isinf(v)) continue;
    int k = (int)((v - c->least) / span * BINS);
    bins[k < BINS ? k : BINS - 1]++;
  }
  for (int k = 0; k < BINS; k++)
    if (bins[k] > most) most = bins[k];
  int room = width > 48 ? width - 40 : width > 46 ? 8 : 0;
  for (int k = 0; k < BINS; k++) {
    tk_buf_printf(
        out, room ? "  %11.4g .. %-11.4g %8" PRId64 : "  %.4g .. %.4g %" PRId64,
        c->least + span * k / BINS, c->least + span * (k + 1) / BINS, bins[k]);
    if (!room) {
      tk_buf_putc(out, '\n');
      continue;
    }
    int bar = (int)((double)bins[k] / (double)most * room + 0.5);
    if (bins[k]) tk_buf_putc(out, ' ');
    tk_buf_pad(out, '#', (size_t)(bins[k] && !bar ? 1 : bar));
    tk_buf_putc(out, '\n');
  }
}

static void put_extreme(tk_buf *out, const tkt_block *b, const char *name,
                        int64_t at) {
  tk_buf_printf(out, "  %-5s", name);
  if (b->type.ptr) {
    uint64_t address;
    memcpy(&address, tkt_block_lane(b, at), sizeof address);
    tk_buf_printf(out, "0x%" PRIx64, address);
  } else {
    tk_format_lane(out, (tk_dtype)b->type.elem, tkt_block_lane(b, at));
  }
  if (b->type.rank) tk_buf_puts(out, " at ");
  tkt_lane_index(out, &b->type, at);
  tk_buf_putc(out, '\n');
}

static void specials(tk_buf *out, const tkt_block *b, const counts *c) {
  bool floats = !b->type.ptr && tk_is_float((tk_dtype)b->type.elem);
  tk_buf_printf(out, "  zero %" PRId64, c->zero);
  if (floats)
    tk_buf_printf(out, "   NaN %" PRId64 "   +inf %" PRId64 "   -inf %" PRId64,
                  c->nan, c->pos, c->neg);
  if (b->undefined) tk_buf_printf(out, "   undefined %" PRId64, c->undefined);
  tk_buf_putc(out, '\n');
}

void tkt_stats(tk_buf *out, const tkt_block *b, int width) {
  counts c = count(b);
  tk_type_declare(out, &b->type);
  tk_buf_printf(out, ": %" PRId64 " lane%s\n", c.n, c.n == 1 ? "" : "s");
  if (c.finite) {
    put_extreme(out, b, "min", c.least_at);
    put_extreme(out, b, "max", c.most_at);
    if (!b->type.ptr)
      tk_buf_printf(out, "  mean %.6g   deviation %.6g\n", c.mean,
                    sqrt(c.squares / (double)c.finite));
  }
  specials(out, b, &c);
  if (!b->type.ptr) histogram(out, b, &c, width);
}
