/* gen_dot.c - products of matrices: by tensor cores (mma.sync; PTX ISA,
 * "Matrix Fragments for mma") or by multiplying and adding in each thread.
 *
 * ir/numerics.h says which, and what is multiplied.  Threads read operands from
 * shared
 * memory. */
#include "ir/numerics.h"
#include "nvptx/shared.h"
#include "nvptx/warpgroup.h"

typedef struct product {
  const tk_inst *in;
  const tk_type *a, *b; /* [..., m, k] and [..., k, n] */
  tk_type acc;          /* what is added up: fp32, fp64 or int32 */
  int m, n, k;          /* log2 */
  tkv_product_bits bits;
  const char *format; /* of the tensor cores; NULL: they are not used */
  tk_dtype by;        /* what they multiply */
  int pack;           /* log2 of how many operands a register has */
  int parts;          /* of each operand */
  bool cut;           /* threads multiply numbers rounded to tf32 */
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
  p.bits = (tkv_product_bits){.n = p.n, .k = p.k};
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

/* The slots that depend on a product's result. */
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

/* Whether rows of the result are reduced or multiplied again. If so, each warp
 * should hold whole rows. */
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
  if (tkv_is_by_warpgroups(g, in))
    return tkv_dist_warpgroups(&in->type, g->warps);
  return p.format ? tkv_dist_mma(&in->type, g->warps, goes_on_by_rows(g, in))
                  : tkv_dist_usual(&in->type, g->warps);
}

/* ---- tensor cores -------------------------------------------------------- */

/* Where the operands of mma are: k runs along the packed operands of a
 * register, two bits of the lane, and a register; the other axis as in the
 * result. */
static tkv_dist operand_dist(const product *p, const tkv_dist *acc, bool left) {
  tkv_dist of = tkv_dist_map(acc, left ? tkv_row_of_left : tkv_column_of_right,
                             &p->bits),
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
  tkv_reg *reg;
  tkv_value *from; /* what it is moved from, and in which layout of that */
  tkv_dist at;
  tkv_placed placed;     /* in shared memory it is read a step of k at a time */
  bool is_placed, moves; /* whether it is in shared memory already, and whether
                            it must be written there */
  tkv_reg *word[MAX_PARTS]; /* what mma takes, by the number of its first
                               register / lanes in it, once it is made */
} factor;

/* An fp32 rounded to tf32. */
static tkv_reg round_to_tf32(tkv_code *c, tkv_reg x) {
  return tkv_asm_of(
      c, "{ .reg .b32 t; cvt.rna.tf32.f32 t, $1; mov.b32 $0, t; }", TKV_F32, x);
}

/* A lane as it is multiplied: its parts, the largest first.  One part of fp32
 * is cut by the hardware; of several, each is rounded. */
static void split_lane(tkv_code *c, const product *p, const tk_type *t,
                       tkv_reg x, tkv_reg part[MAX_PARTS]) {
  tk_type by = tk_with_elem(*t, p->by), wide = tk_with_elem(*t, TK_FP32);
  for (int i = 0; i < p->parts; i++) {
    part[i] = p->parts == 1 || p->by != TK_FP32 ? tkv_convert_lane(c, &by, t, x)
                                                : round_to_tf32(c, x);
    if (i + 1 == p->parts) break;
    tkv_reg taken = tkv_convert_lane(c, &wide, &by, part[i]);
    x = tkv_lane_binary(c, TK_B_SUB, &wide, x, taken);
  }
}

/* The words from register r on. */
static void make_words(tkv_code *c, const product *p, factor *f, uint32_t r) {
  tk_type by = tk_scalar(p->by);
  int n = 1 << p->pack;
  tkv_words w = tkv_words_of(&by, n);
  tkv_reg part[MAX_PARTS], lane[MAX_PARTS][4];
  TK_ASSERT(w.n == 1 && n <= 4);
  for (int k = 0; k < n; k++) {
    split_lane(c, p, f->type, f->reg[r + (uint32_t)k], part);
    for (int i = 0; i < p->parts; i++) lane[i][k] = part[i];
  }
  for (int i = 0; i < p->parts; i++)
    f->word[i][r >> p->pack] = tkv_pack_word(c, &w, &by, lane[i]);
}

/* A fragment: n words of an operand's part, from a place on. */
typedef struct fragment {
  int part;
  uint32_t number, n;
} fragment;

static void take_words(tkv_code *c, const product *p, factor *f, fragment x,
                       tkv_reg *out) {
  int first = tkv_dist_find(&f->dist, x.number);
  TK_ASSERT(first >= 0);
  for (uint32_t i = 0; i < x.n; i++) {
    uint32_t r = (uint32_t)first + (i << p->pack);
    tkv_reg *word = &f->word[x.part][r >> p->pack];
    if (!tkv_exists(*word)) make_words(c, p, f, r);
    out[i] = *word;
  }
}

static void swap_regs(tkv_reg *a, tkv_reg *b) {
  tkv_reg x = *a;
  *a = *b;
  *b = x;
}

/* c += a * b, of a tile: 16 by 8. */
static void multiply_tile(tkv_gen *g, const product *p, tkv_reg *a, tkv_reg *b,
                          tkv_reg *c) {
  if (TKV_MUTANT(FRAGMENT_A)) swap_regs(&a[1], &a[2]);
  if (TKV_MUTANT(FRAGMENT_B)) swap_regs(&b[0], &b[1]);
  tkv_type type = tkv_lane_type(&p->acc), out[] = {type, type, type, type};
  const char *acc = type.kind == TKV_INT ? "s32" : "f32";
  tkv_reg in[] = {a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], c[2], c[3]};
  const char *text = tk_arena_printf(
      g->arena,
      "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s {$0,$1,$2,$3}, "
      "{$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
      8 << p->pack, acc, p->format, p->format, acc);
  tkv_asm mma = {.text = text,
                 .out = out,
                 .nout = 4,
                 .in = in,
                 .nin = 10,
                 .flags = TKV_CONVERGENT};
  tkv_results r = tkv_assemble_text(g->code, &mma);
  for (int i = 0; i < 4; i++) c[i] = tkv_result(g->code, &r, i);
  if (TKV_MUTANT(FRAGMENT_C)) swap_regs(&c[1], &c[2]);
}

/* Uses the operand's registers if no shared memory is needed for that. */
static factor begin_factor(tkv_gen *g, const product *p, tkv_value *v,
                           const tkv_dist *acc, bool left) {
  factor f = {.type = left ? p->a : p->b, .dist = operand_dist(p, acc, left)};
  for (int i = 0; i < p->parts; i++) f.word[i] = tkv_new_regs(g, &f.dist);
  f.at = f.dist;
  f.from = tkv_origin(v, &f.at);
  f.reg = tkv_at_in_warp(g, f.from, &f.at);
  f.is_placed = !f.reg && f.from->placed;
  f.moves = !f.reg && !f.is_placed;
  if (!f.reg) f.reg = tkv_new_regs(g, &f.dist);
  if (f.is_placed) f.placed = *f.from->placed;
  return f;
}

/* Writes both to shared memory, if they are needed there, between two
 * barriers. */
static void place_factors(tkv_gen *g, factor *f[2]) {
  enum { MOST_BYTES = 96 << 10 };
  size_t base[2] = {0}, end = 0;
  for (int i = 0; i < 2; i++) {
    base[i] = end;
    if (f[i]->moves) end += tkv_bytes_shared(&f[i]->from->type);
  }
  for (int i = 0; i < 2 && end > MOST_BYTES; i++) {
    if (f[i]->moves) f[i]->reg = tkv_at(g, f[i]->from, &f[i]->at);
    f[i]->moves = false;
  }
  if (!f[0]->moves && !f[1]->moves) return;
  tkv_scratch(g, end);
  if (!TKV_MUTANT(BARRIER_WRITE)) tkv_meet(g->code);
  for (int i = 0; i < 2; i++) {
    if (!f[i]->moves) continue;
    tkv_reg area = tkv_scratch_at(g, base[i]);
    f[i]->placed = tkv_write_block(g, &f[i]->from->type, f[i]->from->home,
                                   &f[i]->at, area);
    f[i]->is_placed = true;
  }
  if (!TKV_MUTANT(BARRIER_READ)) tkv_meet(g->code);
}

/* Reads the lanes of an operand that a step of k needs. */
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
                            tkv_value *right, const tkv_dist *d, tkv_reg *c) {
  factor fa = begin_factor(g, p, left, d, true),
         fb = begin_factor(g, p, right, d, false);
  place_factors(g, (factor *[]){&fa, &fb});
  uint32_t step = (uint32_t)8 << p->pack, end = (uint32_t)1 << p->k,
           steps = (end - 1) & ~(step - 1);
  tkv_reg a[4], b[2];
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
          fragment of_a = {i, tkv_row_of_left(number, &p->bits) | k, 4},
                   of_b = {sum - i,
                           tkv_column_of_right(number, &p->bits) | k << p->n,
                           2};
          take_words(g->code, p, &fa, of_a, a);
          take_words(g->code, p, &fb, of_b, b);
          multiply_tile(g, p, a, b, c + r);
        }
      }
}

/* ---- in each thread ------------------------------------------------------ */

/* An operand in the scratch area, and where the row (of the left operand) or
 * column (of the right one) begins that each register of the result needs.
 * Registers that need the same one share it. */
typedef struct side {
  const tk_type *type;
  size_t base;
  tkv_reg *begin;
  uint32_t *part;
} side;

static tkv_reg row_begin(tkv_code *c, const product *p, tkv_reg number) {
  tkv_reg x = tkv_lshr_n(c, number, p->n);
  return tkv_shl_n(c, x, p->k);
}

static tkv_reg column_begin(tkv_code *c, const product *p, tkv_reg number) {
  tkv_reg batch = tkv_lshr_n(c, number, p->m + p->n),
          column = tkv_and_n(c, number, ((int64_t)1 << p->n) - 1);
  batch = tkv_shl_n(c, batch, p->k + p->n);
  return tkv_or(c, batch, column);
}

static void find_begins(tkv_gen *g, const product *p, const tkv_dist *d,
                        bool rows, side *x) {
  uint32_t n = (uint32_t)1 << d->nreg,
           rest = rows ? ~(((uint32_t)1 << p->n) - 1)
                       : ~((((uint32_t)1 << p->m) - 1) << p->n);
  x->begin = tkv_new_regs(g, d);
  x->part = TK_NEWN(g->arena, uint32_t, n);
  tkv_reg thread = tkv_thread_number(g->code, d);
  for (uint32_t r = 0; r < n; r++) {
    x->part[r] = tkv_dist_reg(d, r) & rest;
    for (uint32_t i = 0; i < r && !tkv_exists(x->begin[r]); i++)
      if (x->part[i] == x->part[r]) x->begin[r] = x->begin[i];
    if (tkv_exists(x->begin[r])) continue;
    tkv_reg number = tkv_number(g->code, d, thread, r);
    x->begin[r] =
        rows ? row_begin(g->code, p, number) : column_begin(g->code, p, number);
  }
}

/* The lane of an operand that is `step` places after the beginning of its row
 * or column. */
static tkv_reg operand_at(tkv_gen *g, const product *p, const side *of,
                          tkv_reg begin, tkv_reg step) {
  tkv_code *c = g->code;
  tkv_reg at = tkv_add(c, begin, step),
          x = tkv_scratch_load(g, of->type, of->base, at);
  x = tkv_convert_lane(c, &p->acc, of->type, x);
  if (!p->cut) return x;
  x = tkv_bitcast(c, x, TKV_I32); /* cut as tensor cores do */
  x = tkv_and_n(c, x, -8192);
  return tkv_bitcast(c, x, TKV_F32);
}

/* The operands of n registers, each loaded once. */
static tkv_reg *load_operands(tkv_gen *g, const product *p, const side *of,
                              uint32_t n, tkv_reg step) {
  tkv_reg *x = TK_NEWN(g->arena, tkv_reg, n);
  for (uint32_t r = 0; r < n; r++) {
    for (uint32_t i = 0; i < r && !tkv_exists(x[r]); i++)
      if (tkv_same_reg(of->begin[i], of->begin[r])) x[r] = x[i];
    if (!tkv_exists(x[r])) x[r] = operand_at(g, p, of, of->begin[r], step);
  }
  return x;
}

static tkv_reg multiply_add(tkv_code *c, tkv_reg a, tkv_reg b, tkv_reg sum) {
  if (tkv_is_float_type(sum.type)) return tkv_fma(c, a, b, sum);
  return tkv_add(c, tkv_mul(c, a, b), sum);
}

/* Converting an operand may take the scratch area, so both are converted
 * before either is written. */
static void share_factors(tkv_gen *g, tkv_value *left, tkv_value *right,
                          const side *a, const side *b) {
  tkv_dist da = tkv_home_of(g, left), db = tkv_home_of(g, right);
  tkv_version va = {.dist = da, .reg = tkv_at(g, left, &da)},
              vb = {.dist = db, .reg = tkv_at(g, right, &db)};
  tkv_share_block(g, a->type, &va, a->base);
  tkv_share_block(g, b->type, &vb, b->base);
  tkv_meet(g->code);
}

static void by_threads(tkv_gen *g, const product *p, tkv_value *left,
                       tkv_value *right, const tkv_dist *d, tkv_reg *c) {
  tkv_code *code = g->code;
  uint32_t n = (uint32_t)1 << d->nreg;
  tkv_reg *sum = tkv_new_regs(g, d);
  side rows = {.type = p->a},
       columns = {.type = p->b, .base = tkv_bytes_shared(p->a)};
  share_factors(g, left, right, &rows, &columns);
  find_begins(g, p, d, true, &rows);
  find_begins(g, p, d, false, &columns);
  for (uint32_t r = 0; r < n; r++) {
    sum[r] = tkv_variable(code, c[r].type);
    tkv_store(code, c[r], sum[r]);
  }
  tkv_loop k = tkv_begin_count(code, tkv_i32(0), (int64_t)1 << p->k);
  tkv_reg down = tkv_shl_n(code, k.i, p->n),
          *a = load_operands(g, p, &rows, n, k.i),
          *b = load_operands(g, p, &columns, n, down);
  for (uint32_t r = 0; r < n; r++) {
    tkv_reg x = tkv_load(code, c[r].type, sum[r]);
    tkv_store(code, multiply_add(code, a[r], b[r], x), sum[r]);
  }
  tkv_end_loop(code, &k, tkv_i32(1));
  for (uint32_t r = 0; r < n; r++) c[r] = tkv_load(code, c[r].type, sum[r]);
}

void tkv_gen_dot(tkv_gen *g, const tk_inst *in) {
  product p = describe_product(g, in);
  int from = tk_dot_accumulator(in);
  tkv_dist d = tkv_home_of_dot(g, in);
  uint32_t n = (uint32_t)1 << d.nreg;
  tkv_reg *c = tkv_new_regs(g, &d), zero = tkv_literal(&p.acc, 0),
          *start = from < 0 ? NULL : tkv_at(g, tkv_arg(g, in, from), &d);
  for (uint32_t r = 0; r < n; r++)
    c[r] =
        start ? tkv_convert_lane(g->code, &p.acc, &in->type, start[r]) : zero;
  tkv_value *right = tkv_arg(g, in, 1), *left = tkv_arg(g, in, 0);
  bool done = tkv_multiply_by_warpgroups(g, in, left, right, &d, c);
  if (!done && p.format)
    by_tensor_cores(g, &p, left, right, &d, c);
  else if (!done)
    by_threads(g, &p, left, right, &d, c);
  tkv_begin_late_copies(g, in);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < n; r++)
    v->home->reg[r] = tkv_convert_lane(g->code, &in->type, &p.acc, c[r]);
  tkv_set(g, in->res[0], v);
}
