/* gen_dot.c - products of matrices: by tensor cores (mma.sync; PTX ISA,
 * "Matrix Fragments for mma") or by multiplying and adding in each thread.
 *
 * ir/numerics.h says which, and what is multiplied.  Threads read operands from
 * shared memory.
 */
#include "nvptx/gen.h"

#include <string.h>

#include "ir/numerics.h"

typedef struct product {
  const tk_inst *in;
  const tk_type *a, *b; /* [..., m, k] and [..., k, n] */
  tk_type acc;          /* what is added up: fp32, fp64 or int32 */
  int m, n, k;          /* log2 */
  const char *format;   /* of the tensor cores; NULL: they are not used */
  tk_dtype by;          /* what they multiply */
  int pack;             /* log2 of how many operands a register has */
  int parts;            /* of each operand */
  bool cut;             /* threads multiply what tf32 has */
} product;

enum { MAX_PARTS = 3 };

static product describe_product(const tkv_gen *g, const tk_inst *in) {
  const tk_slot *slots = g->frame->f->slots;
  product p = {
      .in = in, .a = &slots[in->args[0]].type, .b = &slots[in->args[1]].type};
  tk_dtype e = (tk_dtype)p.a->elem;
  p.m = tkv_axis_bits(p.a, p.a->rank - 2);
  p.k = tkv_axis_bits(p.a, p.a->rank - 1);
  p.n = tkv_axis_bits(p.b, p.b->rank - 1);
  p.acc = tk_with_elem(in->type, e == TK_FP64     ? TK_FP64
                                 : tk_is_float(e) ? TK_FP32
                                                  : TK_INT32);
  tk_mma x = tk_mma_of(g->frame->f, in);
  p.format = x.format;
  p.by = x.by;
  p.pack = x.pack;
  p.parts = x.parts;
  p.cut = x.cut;
  return p;
}

/* What comes of a product's result: by slot. */
typedef struct following {
  bool *comes, more, by_rows;
} following;

static bool follow_inst(void *ud, const tk_at *at, const tk_inst *in) {
  following *f = ud;
  (void)at;
  bool dot = in->op == TK_I_DOT, comes = false;
  for (int k = 0; k < in->nargs; k++) {
    bool there = f->comes[in->args[k]];
    f->by_rows |= there && dot && k < 2;
    comes |= there && (!dot || k >= 2);
  }
  f->by_rows |= comes && (in->op == TK_I_REDUCE || in->op == TK_I_REDUCE_FN);
  for (int k = 0; comes && k < in->nres; k++) {
    f->more |= !f->comes[in->res[k]];
    f->comes[in->res[k]] = true;
  }
  return true;
}

/* Whether rows of the result are reduced, or multiplied again: then each warp
 * has whole rows, and keeps them. */
static bool goes_on_by_rows(tkv_gen *g, const tk_inst *in) {
  const tk_func *fn = g->frame->f;
  following f = {.comes = TK_NEWN(g->arena, bool, fn->nslots), .more = true};
  f.comes[in->res[0]] = true;
  while (f.more && !f.by_rows) {
    f.more = false;
    tk_walk_func(fn, &(tk_walk){.ud = &f, .inst = follow_inst});
  }
  return f.by_rows;
}

tkv_dist tkv_home_of_dot(tkv_gen *g, const tk_inst *in) {
  product p = describe_product(g, in);
  return p.format ? tkv_dist_mma(&in->type, g->warps, goes_on_by_rows(g, in))
                  : tkv_dist_usual(&in->type, g->warps);
}

/* ---- tensor cores
 * -------------------------------------------------------------- */

/* From a place in the result to that of its row in the first operand, or of
 * its column in the second. */
static uint32_t row_of_left(uint32_t number, const void *ud) {
  const product *p = ud;
  return number >> p->n << p->k;
}

static uint32_t column_of_right(uint32_t number, const void *ud) {
  const product *p = ud;
  return number & (((uint32_t)1 << p->n) - 1);
}

/* Where the operands of mma are: k runs along the packed operands of a
 * register, two bits of the lane, and a register; the other axis as in the
 * result. */
static tkv_dist operand_dist(const product *p, const tkv_dist *acc, bool left) {
  tkv_dist of = tkv_dist_map(acc, left ? row_of_left : column_of_right, p),
           d = of;
  uint32_t k = left ? 1 : (uint32_t)1 << p->n;
  int bit = 0;
  d.nreg = 0;
  while (bit < p->pack) d.reg[d.nreg++] = k << bit++;
  d.lane[0] = k << bit++;
  d.lane[1] = k << bit++;
  for (int i = 0; i < 3; i++)
    d.lane[2 + i] = left ? of.lane[2 + i] : (uint32_t)1 << i;
  if (left) d.reg[d.nreg++] = of.reg[1];
  while (bit < p->k) d.reg[d.nreg++] = k << bit++;
  for (int i = 2; i < of.nreg; i++)
    if (of.reg[i]) d.reg[d.nreg++] = of.reg[i];
  return d;
}

/* An operand of mma. */
typedef struct factor {
  const tk_type *type;
  tkv_dist dist;
  const char **reg;
  tkv_value *from; /* what it is moved from, and where of it that is */
  tkv_dist at;
  tkv_placed placed;     /* in shared memory it is read a step of k at a time */
  bool is_placed, moves; /* whether it is there; is to be written there */
  const char **word[MAX_PARTS]; /* what mma takes, by the number of its first
                                   register / lanes in it; NULL: not yet made */
} factor;

/* A lane as it is multiplied: its parts, the largest first.  One part of fp32
 * is cut by the hardware; of several, each is rounded. */
static void split_lane(tkv_gen *g, const product *p, const tk_type *t,
                       const char *x, const char *part[MAX_PARTS]) {
  tk_type by = tk_with_elem(*t, p->by), wide = tk_with_elem(*t, TK_FP32);
  for (int i = 0; i < p->parts; i++) {
    part[i] = p->parts == 1 || p->by != TK_FP32
                  ? tkv_convert_lane(g, &by, t, false, x)
                  : tkv_emit(g,
                             "call float asm \"{ .reg .b32 t; "
                             "cvt.rna.tf32.f32 t, $1; mov.b32 $0, t; }\", "
                             "\"=f,f\"(float %s)",
                             x);
    if (i + 1 < p->parts)
      x = tkv_binary(g, TK_B_SUB, &wide, x,
                     tkv_convert_lane(g, &wide, &by, false, part[i]));
  }
}

/* The words from register r on. */
static void make_words(tkv_gen *g, const product *p, factor *f, uint32_t r) {
  tk_type by = tk_scalar(p->by);
  int n = 1 << p->pack;
  tkv_words w = tkv_words_of(&by, n);
  const char *part[MAX_PARTS], *lane[MAX_PARTS][4];
  for (int k = 0; k < n; k++) {
    split_lane(g, p, f->type, f->reg[r + (uint32_t)k], part);
    for (int i = 0; i < p->parts; i++) lane[i][k] = part[i];
  }
  for (int i = 0; i < p->parts; i++)
    f->word[i][r >> p->pack] = tkv_pack_word(g, &w, &by, lane[i]);
}

/* The registers of a tile from `number` on: `n` of them, 32 bits each. */
static void take_words(tkv_gen *g, const product *p, factor *f, int part,
                       uint32_t number, uint32_t n, const char **out) {
  int first = tkv_dist_find(&f->dist, number);
  TK_ASSERT(first >= 0);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = (uint32_t)first + (i << p->pack);
    if (!f->word[part][r >> p->pack]) make_words(g, p, f, r);
    out[i] = f->word[part][r >> p->pack];
  }
}

static void swap_names(const char **a, const char **b) {
  const char *x = *a;
  *a = *b;
  *b = x;
}

static void multiply_tile(tkv_gen *g, const product *p, const char **a,
                          const char **b, const char **c) {
  if (TKV_MUTANT(FRAGMENT_A)) swap_names(&a[1], &a[2]);
  if (TKV_MUTANT(FRAGMENT_B)) swap_names(&b[0], &b[1]);
  bool ints = p->acc.elem == TK_INT32;
  const char *type = ints ? "i32" : "float", *acc = ints ? "s32" : "f32";
  char of = ints ? 'r' : 'f';
  const char *x = tkv_emit(
      g,
      "call {%s, %s, %s, %s} asm "
      "\"mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s "
      "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};\", "
      "\"=%c,=%c,=%c,=%c,r,r,r,r,r,r,%c,%c,%c,%c\"(i32 %s, i32 %s, i32 %s, i32 "
      "%s, i32 %s, i32 %s, %s %s, %s %s, %s %s, %s %s) convergent",
      type, type, type, type, 8 << p->pack, acc, p->format, p->format, acc, of,
      of, of, of, of, of, of, of, a[0], a[1], a[2], a[3], b[0], b[1], type,
      c[0], type, c[1], type, c[2], type, c[3]);
  for (int i = 0; i < 4; i++)
    c[i] = tkv_emit(g, "extractvalue {%s, %s, %s, %s} %s, %d", type, type, type,
                    type, x, i);
  if (TKV_MUTANT(FRAGMENT_C)) swap_names(&c[1], &c[2]);
}

/* Its registers, if that needs no shared memory. */
static factor begin_factor(tkv_gen *g, const product *p, tkv_value *v,
                           const tkv_dist *acc, bool left) {
  factor f = {.type = left ? p->a : p->b, .dist = operand_dist(p, acc, left)};
  for (int i = 0; i < p->parts; i++) f.word[i] = tkv_new_names(g, &f.dist);
  f.at = f.dist;
  f.from = tkv_origin(v, &f.at);
  f.reg = tkv_at_in_warp(g, f.from, &f.at);
  f.is_placed = !f.reg && f.from->placed;
  f.moves = !f.reg && !f.is_placed;
  if (!f.reg) f.reg = tkv_new_names(g, &f.dist);
  if (f.is_placed) f.placed = *f.from->placed;
  return f;
}

/* Both together, between two barriers. */
static void place_factors(tkv_gen *g, factor *f[2]) {
  enum { MOST_BYTES = 96 << 10 };
  size_t base[2] = {0}, end = 0;
  for (int i = 0; i < 2; i++) {
    size_t bytes =
        (size_t)tk_numel(&f[i]->from->type) * tk_lane_size(&f[i]->from->type);
    base[i] = end;
    if (f[i]->moves) end += (bytes + 15) & ~(size_t)15;
  }
  for (int i = 0; i < 2 && end > MOST_BYTES; i++) {
    if (f[i]->moves) f[i]->reg = tkv_at(g, f[i]->from, &f[i]->at);
    f[i]->moves = false;
  }
  if (!f[0]->moves && !f[1]->moves) return;
  tkv_scratch(g, end);
  if (!TKV_MUTANT(BARRIER_WRITE)) tkv_barrier(g);
  for (int i = 0; i < 2; i++) {
    if (!f[i]->moves) continue;
    f[i]->placed = tkv_write_block(g, &f[i]->from->type, f[i]->from->home,
                                   &f[i]->at, tkv_scratch_at(g, base[i]));
    f[i]->is_placed = true;
  }
  if (!TKV_MUTANT(BARRIER_READ)) tkv_barrier(g);
}

/* Reads what of an operand has those bits of k. */
static void read_step(tkv_gen *g, factor *f, tkv_part step) {
  tkv_part there = {0};
  if (!f->is_placed) return;
  for (int i = 0; i < f->dist.nreg; i++) {
    if (!(f->dist.reg[i] & step.mask)) continue;
    there.mask |= f->at.reg[i];
    if (f->dist.reg[i] & step.value) there.value |= f->at.reg[i];
  }
  tkv_read_placed(g, &f->placed, &f->at, there, f->reg);
}

static void by_tensor_cores(tkv_gen *g, const product *p, tkv_value *left,
                            tkv_value *right, const tkv_dist *d,
                            const char **c) {
  factor fa = begin_factor(g, p, left, d, true),
         fb = begin_factor(g, p, right, d, false);
  place_factors(g, (factor *[]){&fa, &fb});
  uint32_t step = (uint32_t)8 << p->pack, end = (uint32_t)1 << p->k,
           steps = (end - 1) & ~(step - 1);
  const char *a[4], *b[2];
  /* The smallest products first. */
  for (int sum = p->parts - 1, first = 1; sum >= 0; sum--)
    for (int i = sum; i >= 0; i--, first = 0)
      for (uint32_t k = 0; k < end; k += step) {
        if (first) {
          read_step(g, &fa, (tkv_part){steps, k});
          read_step(g, &fb, (tkv_part){steps << p->n, k << p->n});
        }
        for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r += 4) {
          uint32_t number = tkv_dist_reg(d, r);
          take_words(g, p, &fa, i, row_of_left(number, p) | k, 4, a);
          take_words(g, p, &fb, sum - i, column_of_right(number, p) | k << p->n,
                     2, b);
          multiply_tile(g, p, a, b, c + r);
        }
      }
}

/* ---- in each thread
 * ------------------------------------------------------------------ */

/* Where the row of the first operand, or the column of the second, begins that
 * register r of the result needs; one that an earlier register needs as well
 * has that one's name. */
typedef struct begins {
  const char **name;
  uint32_t *part;
} begins;

static const char *row_begin(tkv_gen *g, const product *p, const char *number) {
  const char *x = tkv_emit(g, "lshr i32 %s, %d", number, p->n);
  return tkv_emit(g, "shl i32 %s, %d", x, p->k);
}

static const char *column_begin(tkv_gen *g, const product *p,
                                const char *number) {
  const char *batch = tkv_emit(g, "lshr i32 %s, %d", number, p->m + p->n),
             *column = tkv_emit(g, "and i32 %s, %u", number,
                                ((uint32_t)1 << p->n) - 1);
  batch = tkv_emit(g, "shl i32 %s, %d", batch, p->k + p->n);
  return tkv_emit(g, "or i32 %s, %s", batch, column);
}

static begins find_begins(tkv_gen *g, const product *p, const tkv_dist *d,
                          bool rows) {
  uint32_t n = (uint32_t)1 << d->nreg,
           rest = rows ? ~(((uint32_t)1 << p->n) - 1)
                       : ~((((uint32_t)1 << p->m) - 1) << p->n);
  begins x = {TK_NEWN(g->arena, const char *, n),
              TK_NEWN(g->arena, uint32_t, n)};
  const char *thread = tkv_thread_number(g, d);
  for (uint32_t r = 0; r < n; r++) {
    x.part[r] = tkv_dist_reg(d, r) & rest;
    for (uint32_t i = 0; i < r && !x.name[r]; i++)
      if (x.part[i] == x.part[r]) x.name[r] = x.name[i];
    if (x.name[r]) continue;
    const char *number = tkv_number(g, d, thread, r);
    x.name[r] = rows ? row_begin(g, p, number) : column_begin(g, p, number);
  }
  return x;
}

static const char *operand_at(tkv_gen *g, const product *p, const tk_type *t,
                              size_t base, const char *begin,
                              const char *step) {
  const char *at = tkv_emit(g, "add i32 %s, %s", begin, step);
  const char *x = tkv_shared_load(g, t, tkv_shared_at(g, t, base, at));
  x = tkv_convert_lane(g, &p->acc, t, false, x);
  if (!p->cut) return x;
  x = tkv_emit(g, "bitcast float %s to i32", x); /* cut as tensor cores do */
  x = tkv_emit(g, "and i32 %s, -8192", x);
  return tkv_emit(g, "bitcast i32 %s to float", x);
}

/* The operands of every register, each loaded once. */
static const char **load_operands(tkv_gen *g, const product *p,
                                  const tk_type *t, size_t base,
                                  const begins *x, uint32_t n,
                                  const char *step) {
  const char **value = TK_NEWN(g->arena, const char *, n);
  for (uint32_t r = 0; r < n; r++) {
    for (uint32_t i = 0; i < r && !value[r]; i++)
      if (x->name[i] == x->name[r]) value[r] = value[i];
    if (!value[r]) value[r] = operand_at(g, p, t, base, x->name[r], step);
  }
  return value;
}

static const char *multiply_add(tkv_gen *g, const tk_type *t, const char *a,
                                const char *b, const char *c) {
  const char *type = tkv_lane_type(t);
  if (tk_is_float((tk_dtype)t->elem))
    return tkv_emit(g, "call %s @llvm.fma.f%d(%s %s, %s %s, %s %s)", type,
                    tkv_lane_bits(t), type, a, type, b, type, c);
  return tkv_emit(g, "add i32 %s, %s", tkv_emit(g, "mul i32 %s, %s", a, b), c);
}

static void by_threads(tkv_gen *g, const product *p, tkv_value *left,
                       tkv_value *right, const tkv_dist *d, const char **c) {
  uint32_t n = (uint32_t)1 << d->nreg;
  const char *type = tkv_lane_type(&p->acc),
             **sum = TK_NEWN(g->arena, const char *, n);
  /* Both are converted before one is written: that takes the scratch area. */
  tkv_dist da = tkv_home_of(g, left), db = tkv_home_of(g, right);
  tkv_version va = {.dist = da, .reg = tkv_at(g, left, &da)},
              vb = {.dist = db, .reg = tkv_at(g, right, &db)};
  size_t base =
      ((size_t)tk_numel(p->a) * tk_lane_size(p->a) + 15) & ~(size_t)15;
  tkv_share_block(g, p->a, &va, 0);
  tkv_share_block(g, p->b, &vb, base);
  tkv_barrier(g);
  begins rows = find_begins(g, p, d, true),
         columns = find_begins(g, p, d, false);
  for (uint32_t r = 0; r < n; r++) {
    sum[r] = tkv_variable(g, &p->acc);
    tkv_do(g, "store %s %s, ptr %s", type, c[r], sum[r]);
  }
  tkv_loop k = tkv_begin_count(g, "0", tkv_text(g, "%d", 1 << p->k));
  const char *down = tkv_emit(g, "shl i32 %s, %d", k.i, p->n);
  const char **a = load_operands(g, p, p->a, 0, &rows, n, k.i),
             **b = load_operands(g, p, p->b, base, &columns, n, down);
  for (uint32_t r = 0; r < n; r++) {
    const char *x = tkv_emit(g, "load %s, ptr %s", type, sum[r]);
    x = multiply_add(g, &p->acc, a[r], b[r], x);
    tkv_do(g, "store %s %s, ptr %s", type, x, sum[r]);
  }
  tkv_end_loop(g, &k, "1");
  for (uint32_t r = 0; r < n; r++)
    c[r] = tkv_emit(g, "load %s, ptr %s", type, sum[r]);
}

void tkv_gen_dot(tkv_gen *g, const tk_inst *in) {
  product p = describe_product(g, in);
  int from = tk_dot_accumulator(in);
  tkv_dist d = tkv_home_of_dot(g, in);
  uint32_t n = (uint32_t)1 << d.nreg;
  const char **c = TK_NEWN(g->arena, const char *, n),
             **start = from < 0 ? NULL : tkv_at(g, tkv_arg(g, in, from), &d);
  const char *zero = tkv_literal(g, &p.acc, 0);
  for (uint32_t r = 0; r < n; r++)
    c[r] =
        start ? tkv_convert_lane(g, &p.acc, &in->type, false, start[r]) : zero;
  if (p.format)
    by_tensor_cores(g, &p, tkv_arg(g, in, 0), tkv_arg(g, in, 1), &d, c);
  else
    by_threads(g, &p, tkv_arg(g, in, 0), tkv_arg(g, in, 1), &d, c);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < n; r++)
    v->home->reg[r] = tkv_convert_lane(g, &in->type, &p.acc, false, c[r]);
  tkv_set(g, in->res[0], v);
}
