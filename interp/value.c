/* value.c - blocks and scalars. */
#include "interp/value.h"

#include "interp/interp.h"
#include "interp/kernels.h"

/* ---- lanes --------------------------------------------------------------- */

size_t tki_lane_count(const tki_val *v, const tk_type *type) {
  if (!v->block_) return type->rank ? 0 : 1;
  TK_ASSERT(!v->part_ || type->rank == 2);
  if (v->part_) return (size_t)type->shape[v->part_ == TKI_COLUMN ? 0 : 1];
  return (size_t)tk_numel(type);
}

bool tki_fits(const tki_val *v, const tk_type *type) {
  size_t bytes = tki_lane_count(v, type) * tk_lane_size(type);
  return tki_is_held(v) && (!v->block_ || bytes <= tki_held_bytes(v));
}

#define FILL(T)                                                                \
  TKI_CLONES static void fill_##T(T *d, T x, size_t n) {                       \
    for (size_t i = 0; i < n; i++) d[i] = x;                                   \
  }
FILL(uint16_t)
FILL(uint32_t)
FILL(uint64_t)

void tki_fill(void *to, const void *lane, size_t size, size_t n) {
  TK_ASSERT(size == 1 || size == 2 || size == 4 || size == 8);
  switch (size) {
  case 1: memset(to, *(const uint8_t *)lane, n); break;
  case 2: fill_uint16_t(to, *(const uint16_t *)lane, n); break;
  case 4: fill_uint32_t(to, *(const uint32_t *)lane, n); break;
  default: fill_uint64_t(to, *(const uint64_t *)lane, n);
  }
}

/* ---- making -------------------------------------------------------------- */

static inline tki_val block_of(tki_buf *b) {
  return (tki_val){.lanes_ = b, .region = TKI_ANY, .block_ = true};
}

tki_val tki_val_new(tki *t, const tk_type *type, size_t n) {
  return type->rank ? tki_block_new(t, n, tk_lane_size(type))
                    : tki_make_scalar(0);
}

tki_val tki_val_zero(tki *t, const tk_type *type, size_t n) {
  return type->rank ? tki_block_zero(t, n, tk_lane_size(type))
                    : tki_make_scalar(0);
}

tki_val tki_block_new(tki *t, size_t n, size_t size) {
  return block_of(tki_buf_new(t, n * size));
}

tki_val tki_block_zero(tki *t, size_t n, size_t size) {
  tki_val v = tki_block_new(t, n, size);
  memset(tki_buf_data(v.lanes_), 0, n * size);
  return v;
}

tki_val tki_val_like(tki *t, const tki_val *like, size_t n, size_t size) {
  return like->block_ ? tki_block_new(t, n, size) : tki_make_scalar(0);
}

tki_val tki_splat(tki *t, const tki_val *v, const tk_type *type) {
  tki_sym s;
  tki_val x;
  TK_ASSERT(tki_is_uniform(v) && type->rank);
  if (tki_sym_splat(&s, type, v->bits_)) {
    x = tki_symbolic(t, &s);
  } else {
    size_t n = (size_t)tk_numel(type), size = tk_lane_size(type);
    x = tki_block_new(t, n, size);
    tki_fill(tki_buf_data(x.lanes_), &v->bits_, size, n);
  }
  x.region = v->region;
  return x;
}

tki_val tki_symbolic(tki *t, const tki_sym *s) {
  tki_buf *b = tki_buf_new(t, tki_sym_bytes(s));
  tki_sym_copy(&b->sym_, s);
  b->unwritten_ = true;
  if (t->concrete) tki_buf_forget(b);
  return block_of(b);
}

tki_val tki_lend(tki *t, const void *lanes, size_t bytes) {
  tki_buf *b = tki_buf_new(t, bytes);
  b->lent_ = lanes;
  b->bytes_ = bytes;
  b->unwritten_ = true;
  return block_of(b);
}

void tki_own(tki *t, tki_val *v, size_t n, size_t size) {
  if (!tki_is_shared(v)) return;
  tki_val own = tki_block_new(t, n, size);
  memcpy(tki_buf_data(own.lanes_), tki_lanes(v), n * size);
  own.region = v->region;
  tki_set(t, v, own);
  TK_ASSERT(!tki_is_shared(v));
}

/* Whether operand k is a whole block that nobody else holds or needs after
 * `in`, with room for so many bytes. */
static bool is_spare(const tk_inst *in, const tki_val *frame, unsigned k,
                     size_t bytes) {
  const tki_val *a = &frame[in->args[k]];
  bool dies = in->kill >> k & 1 || in->args[k] == in->res[0];
  return dies && a->block_ && a->lanes_->refs_ == 1 && !a->part_ &&
         bytes <= (size_t)1 << a->lanes_->class_;
}

tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, unsigned spare) {
  size_t bytes = (size_t)in->n * tk_lane_size(&in->type);
  TK_ASSERT(in->nres > 0 && in->n > 0);
  TK_ASSERT(spare >> in->nargs == 0);
  if (!in->type.rank) return tki_make_scalar(0);
  for (unsigned k = 0; spare >> k; k++) {
    if (!(spare >> k & 1) || !is_spare(in, frame, k, bytes)) continue;
    tki_buf *b = frame[in->args[k]].lanes_;
    b->unwritten_ = false;
    b->lent_ = NULL;
    tki_sym_forget(&b->sym_);
    tki_forget(&frame[in->args[k]]);
    return block_of(b);
  }
  return block_of(tki_buf_new(t, bytes));
}

tki_sym *tki_result_symbol(tki *t, const tk_inst *in, tki_val *frame,
                           unsigned k) {
  tki_val *a = &frame[in->args[k]], *r = &frame[in->res[0]];
  if (!tki_symbol(a) || !is_spare(in, frame, k, 0)) return NULL;
  if (a != r) {
    tki_set(t, r, *a);
    tki_forget(a);
  }
  r->lanes_->unwritten_ = true;
  return &r->lanes_->sym_;
}
