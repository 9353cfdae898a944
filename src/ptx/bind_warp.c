/* bind_warp.c - decodes what threads do together, and control flow.
 */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/mma.h"
#include "ptx/read.h"

/* ---- barriers ------------------------------------------------------------ */

/* s[0] the barrier, s[1] how many threads (if any). */
static void read_barrier(tkp_line *x, size_t first, tkp_run_fn *run) {
  tkp_add_source(x, tkp_source(x, &x->ops[first], 32, 'u'));
  if (x->nops > first + 1)
    tkp_add_source(x, tkp_source(x, &x->ops[first + 1], 32, 'u'));
  x->in.run = run;
  tkp_emit(x);
}

void tkp_read_BAR_SYNC(tkp_line *x) {
  if (!tkp_has(x, "sync")) tkp_wrong(x, &x->ops[0], ".sync");
  read_barrier(x, 0, tkp_run_barrier);
}

/* Without .aligned the lanes of a warp arrive one by one: as a warp does it
 * with those that are there, nothing differs but what is reported. */
void tkp_read_BARRIER_SYNC(tkp_line *x) {
  tkp_read_BAR_SYNC(x);
}

void tkp_read_BAR_ARRIVE(tkp_line *x) {
  read_barrier(x, 0, tkp_run_arrive);
}

void tkp_read_BARRIER_ARRIVE(tkp_line *x) {
  tkp_read_BAR_ARRIVE(x);
}

void tkp_read_BAR_CTA_ARRIVE(tkp_line *x) {
  tkp_read_BAR_ARRIVE(x);
}

/* bar.red.popc.u32 d, a, {b,} p; mode 1 popc, 2 and, 3 or */
void tkp_read_BAR_RED(tkp_line *x) {
  bool count = tkp_has(x, "popc");
  tkp_operand predicate = x->ops[--x->nops];
  x->in.mode = count ? 1 : tkp_has(x, "and") ? 2 : 3;
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], count ? 32 : 1));
  tkp_add_source(x, tkp_source(x, &x->ops[1], 32, 'u'));
  if (x->nops > 2) tkp_add_source(x, tkp_source(x, &x->ops[2], 32, 'u'));
  tkp_add_source(x, tkp_source(x, &predicate, 1, 'p'));
  x->in.run = tkp_run_barrier;
  tkp_emit(x);
}

void tkp_read_BARRIER_RED(tkp_line *x) {
  tkp_read_BAR_RED(x);
}

void tkp_read_BAR_CTA_RED(tkp_line *x) {
  tkp_read_BAR_RED(x);
}

void tkp_read_BAR_WARP(tkp_line *x) {
  tkp_add_source(x, tkp_source(x, &x->ops[0], 32, 'u'));
  x->in.run = tkp_run_warp_barrier;
  tkp_emit(x);
}

/* ---- across lanes -------------------------------------------------------- */

static void add_predicate(tkp_line *x, const tkp_operand *o) {
  if (o->second.bits == 1) tkp_add_dest(x, o->second);
}

void tkp_read_SHFL(tkp_line *x) {
  x->in.mode = tkp_has(x, "up")     ? 0
               : tkp_has(x, "down") ? 1
               : tkp_has(x, "bfly") ? 2
                                    : 3;
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 32));
  add_predicate(x, &x->ops[0]);
  for (int i = 1; i < 5; i++)
    tkp_add_source(x, tkp_source(x, &x->ops[i], 32, 'b'));
  x->in.run = tkp_run_shfl;
  tkp_emit(x);
}

void tkp_read_VOTE(tkp_line *x) {
  bool ballot = tkp_has(x, "ballot");
  x->in.mode = ballot ? 3 : tkp_has(x, "all") ? 0 : tkp_has(x, "any") ? 1 : 2;
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], ballot ? 32 : 1));
  tkp_add_source(x, tkp_source(x, &x->ops[1], 1, 'p'));
  tkp_add_source(x, tkp_source(x, &x->ops[2], 32, 'b'));
  x->in.run = tkp_run_vote;
  tkp_emit(x);
}

void tkp_read_MATCH(tkp_line *x) {
  unsigned bits = tk_asm_types[x->types[0]].bits;
  x->in.mode = tkp_has(x, "all");
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 32));
  add_predicate(x, &x->ops[0]);
  tkp_add_source(x, tkp_source(x, &x->ops[1], bits, 'b'));
  tkp_add_source(x, tkp_source(x, &x->ops[2], 32, 'b'));
  x->in.run = tkp_run_match;
  tkp_emit(x);
}

void tkp_read_REDUX(tkp_line *x) {
  tk_asm_inst *m = TK_NEW(x->r->arena, tk_asm_inst);
  m->op = tkp_has(x, "add")   ? TK_AO_ADD
          : tkp_has(x, "min") ? TK_AO_MIN
          : tkp_has(x, "max") ? TK_AO_MAX
          : tkp_has(x, "and") ? TK_AO_AND
          : tkp_has(x, "or")  ? TK_AO_OR
                              : TK_AO_XOR;
  m->type = m->type2 = x->types[0];
  if (tkp_has(x, "NaN"))
    m->mods[TK_AM_nan_wins / 64] |= UINT64_C(1) << (TK_AM_nan_wins % 64);
  if (tk_asm_types[m->type].bits != 32)
    tkp_wrong(x, &x->ops[0], "a type of 32 bits");
  if (tkp_has(x, "abs")) tkp_refuse(x->r, x->from, x->to, "redux with .abs");
  x->in.math = m;
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 32));
  tkp_add_source(x, tkp_source(x, &x->ops[1], 32, 'b'));
  tkp_add_source(x, tkp_source(x, &x->ops[2], 32, 'b'));
  x->in.run = tkp_run_redux;
  tkp_emit(x);
}

void tkp_read_ELECT(tkp_line *x) {
  tkp_operand lane = x->ops[0];
  tkp_add_dest(x, tkp_dest(x, &lane, 32));
  add_predicate(x, &lane);
  tkp_add_source(x, tkp_source(x, &x->ops[1], 32, 'b'));
  x->in.run = tkp_run_elect;
  tkp_emit(x);
}

void tkp_read_ACTIVEMASK(tkp_line *x) {
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 32));
  x->in.run = tkp_run_activemask;
  tkp_emit(x);
}

/* ---- products ------------------------------------------------------------ */

int tkp_shape_number(const tkp_line *x, char letter) {
  for (size_t i = 0; i < x->nwords; i++) {
    const char *w = x->words[i].text;
    if (*w != 'm' || x->words[i].len < 5 || w[1] < '0' || w[1] > '9') continue;
    int v = 0;
    const char *p = memchr(w, letter, x->words[i].len);
    for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++) v = v * 10 + *p - '0';
    return v;
  }
  return 0;
}

tkp_pair tkp_small_floats(const tkp_line *x) {
  tkp_pair found = {0};
  for (size_t i = 0; i < x->nwords && found.n < 2; i++) {
    bool e5 = tkp_is(x->words[i].text, x->words[i].len, "e5m2");
    if (e5 || tkp_is(x->words[i].text, x->words[i].len, "e4m3"))
      found.e5m2[found.n++] = e5;
  }
  return found;
}

/* What the words after the shape say of A, B: types of 8 bits are words. */
static const tkp_mma_shape *shape_of(const tkp_line *x, bool mixed[2]) {
  int small = tkp_has(x, "e4m3") || tkp_has(x, "e5m2");
  uint8_t d = x->types[0], a = x->types[small ? 0 : 1];
  if (small) a = TKP_E4M3;
  if (a == TK_AT_s8 || a == TK_AT_u8) {
    mixed[0] = a == TK_AT_s8;
    mixed[1] = x->types[2] == TK_AT_s8;
    a = TK_AT_s8;
  }
  for (int i = 0; i < tkp_mma_nshapes; i++) {
    const tkp_mma_shape *s = &tkp_mma_shapes[i];
    if (s->m == tkp_shape_number(x, 'm') && s->n == tkp_shape_number(x, 'n') &&
        s->k == tkp_shape_number(x, 'k') && s->type == a && s->accumulator == d)
      return s;
  }
  return NULL;
}

void tkp_fragment(tkp_line *x, const tkp_operand *o, unsigned n, unsigned bits,
                  bool dest) {
  bool vector = o->kind == TKP_O_VECTOR;
  if ((vector ? o->nparts : 1) != n)
    tkp_wrong(x, o, tk_arena_printf(x->r->arena, "%u registers in { }", n));
  for (unsigned i = 0; i < n; i++) {
    const tkp_operand *part = vector ? &o->parts[i] : o;
    if (dest)
      tkp_add_dest(x, tkp_dest(x, part, bits));
    else
      tkp_add_source(x, tkp_source(x, part, bits, 'b'));
  }
}

/* D, A, B, C.  mode: bits 0 and 1, whether A and B are signed, or e5m2; bit
 * 2, satfinite. */
void tkp_read_MMA(tkp_line *x) {
  bool is_signed[2] = {false, false};
  const tkp_mma_shape *s = shape_of(x, is_signed);
  if (!s || !tkp_has(x, "row") || !tkp_has(x, "col"))
    tkp_refuse(x->r, x->from, x->to, "%.*s is not run by the PTX interpreter",
               (int)(x->to - x->from), x->from);
  unsigned wide = s->accumulator == TK_AT_f64 ? 64 : 32;
  if (s->type == TKP_E4M3) {
    tkp_pair small = tkp_small_floats(x);
    memcpy(is_signed, small.e5m2, sizeof is_signed);
  }
  x->in.mode = (uint8_t)(is_signed[0] | is_signed[1] << 1 |
                         tkp_has(x, "satfinite") << 2);
  x->in.target = (uint32_t)(s - tkp_mma_shapes);
  tkp_fragment(x, &x->ops[0], s->c, wide, true);
  tkp_fragment(x, &x->ops[1], s->a, wide, false);
  tkp_fragment(x, &x->ops[2], s->b, wide, false);
  tkp_fragment(x, &x->ops[3], s->c, wide, false);
  x->in.run = tkp_run_mma;
  tkp_emit(x);
}

/* ---- control ------------------------------------------------------------- */

static tk_span name_span(const tkp_line *x, const tkp_operand *o) {
  uint32_t lo = (uint32_t)(o->from - x->r->text);
  return (tk_span){lo, lo + (uint32_t)tkp_word(o->from)};
}

void tkp_read_BRA(tkp_line *x) {
  if (x->ops[0].kind != TKP_O_NAME) tkp_wrong(x, &x->ops[0], "a label");
  x->in.run = tkp_run_bra;
  tkp_emit(x);
  tkp_fixup f = {name_span(x, &x->ops[0]), (uint32_t)x->r->k->code.n - 1, -1,
                 x->r->depth, NULL};
  TK_PUSH(x->r->arena, &x->r->fixups, f);
}

void tkp_read_BRX(tkp_line *x) {
  const tkp_name *list = x->ops[1].name;
  if (x->ops[1].kind != TKP_O_NAME || !list || list->kind != TKP_N_LIST)
    tkp_wrong(x, &x->ops[1], "a list of labels (.branchtargets)");
  uint32_t *targets = TK_NEWN(x->r->arena, uint32_t, list->count);
  tkp_add_source(x, tkp_source(x, &x->ops[0], 32, 'u'));
  x->in.targets = targets;
  x->in.ntargets = list->count;
  x->in.run = tkp_run_brx;
  tkp_emit(x);
  for (uint32_t i = 0; i < list->count; i++) {
    tkp_fixup f = {list->labels[i], (uint32_t)x->r->k->code.n - 1, (int32_t)i,
                   x->r->depth, targets};
    TK_PUSH(x->r->arena, &x->r->fixups, f);
  }
}

/* In a function that is read in the place of a call, a branch after it. */
void tkp_read_RET(tkp_line *x) {
  x->in.run = x->r->called ? tkp_run_bra : tkp_run_exit;
  tkp_emit(x);
  if (x->r->called)
    TK_PUSH(x->r->arena, &x->r->returns, (uint32_t)x->r->k->code.n - 1);
}

void tkp_read_EXIT(tkp_line *x) {
  x->in.run = tkp_run_exit;
  tkp_emit(x);
}

void tkp_read_TRAP(tkp_line *x) {
  x->in.run = tkp_run_trap;
  tkp_emit(x);
}

/* ---- calls --------------------------------------------------------------- */

static uint32_t argument_address(tkp_line *x, const tkp_operand *o) {
  bool fits = o->kind == TKP_O_NAME && o->name && o->name->kind == TKP_N_VAR &&
              o->name->space == TKP_LOCAL;
  if (!fits) tkp_wrong(x, o, "a .param");
  return (uint32_t)o->name->value;
}

/* vprintf(format, values), __assertfail(text, file, line, function, size) */
static bool known_function(tkp_line *x, const tkp_operand *name,
                           const tkp_operand *args) {
  size_t n = tkp_word(name->from), want = 0;
  if (tkp_is(name->from, n, "vprintf"))
    want = 2, x->in.run = tkp_run_printf;
  else if (tkp_is(name->from, n, "__assertfail"))
    want = 5, x->in.run = tkp_run_assert;
  if (!want) return false;
  if (args->nparts != want) tkp_wrong(x, name, "its arguments");
  uint32_t *at = TK_NEWN(x->r->arena, uint32_t, want);
  for (size_t i = 0; i < want; i++)
    at[i] = argument_address(x, &args->parts[i]);
  x->in.targets = at;
  x->in.ntargets = (uint32_t)want;
  tkp_emit(x);
  return true;
}

void tkp_read_CALL(tkp_line *x) {
  static const tkp_operand none = {.kind = TKP_O_LIST};
  tkp_reader *r = x->r;
  size_t k = x->ops[0].kind == TKP_O_LIST;
  const tkp_operand *results = k ? &x->ops[0] : &none;
  const tkp_operand *name = &x->ops[k];
  const tkp_operand *args = x->nops > k + 1 ? &x->ops[k + 1] : &none;
  if (name->kind != TKP_O_NAME || args->kind != TKP_O_LIST)
    tkp_refuse(r, name->from, name->to, "a call through a register");
  if (name->name && name->name->kind == TKP_N_FUNC && name->name->func->body) {
    if (x->in.guarded)
      tkp_refuse(r, x->from, x->to, "a call under a predicate");
    r->call(r, name->name, results, args, name->from, name->to);
  } else if (!known_function(x, name, args)) {
    tkp_refuse(r, name->from, name->to, "%.*s is not in this file",
               (int)tkp_word(name->from), name->from);
  }
}
