/* argument.c - NAME=SPEC, an argument as text.
 *
 *   spec   = '@' PATH | DTYPE '[' dims ']' [ ':' init ] | DTYPE ':' number
 *          | literal
 *   dims   = [ INT { ',' INT } ]
 *   init   = '@' PATH | zeros | ones | empty | arange | rand ['(' SEED ')']
 *          | randn ['(' SEED ')'] | randint '(' LO ',' HI [',' SEED] ')'
 *          | full '(' V ')'
 *
 * Which one it is shows from the first bytes: a dtype name followed by '[' or
 * ':' starts a tensor or a stated scalar; all else is a literal.  A constexpr
 * parameter takes a literal, where a bare word is a string.
 */
#include "internal.h"

#include <string.h>

static const char spec_help[] =
    "a spec is a number, none, i64:5, @file.npy, or DTYPE[DIMS]:INIT such as "
    "f32[1024]:rand(0)";

/* ---- tensors ----------------------------------------------------------- */

static void dims(tkn_cursor *c, tk_tensor *want) {
  uint32_t lo = c->at;
  tkn_expect(c, '[', "before the shape");
  while (tkn_peek(c) != ']') {
    if (want->rank == TK_MAX_RANK)
      tkn_fail(c, lo, c->at, NULL, "a tensor has at most %d axes", TK_MAX_RANK);
    if (want->rank) tkn_expect(c, ',', "or ']' in the shape");
    want->shape[want->rank++] = tkn_int(c, 0, INT64_MAX, "a length");
  }
  c->at++;
  if (tkn_shape_lanes(want->dtype, want->rank, want->shape) < 0)
    tkn_fail(c, lo, c->at, NULL, "this tensor takes more than 64 GiB");
}

typedef struct load_call {
  tk_launch *l;
  tk_arg *arg;
  const tk_tensor *want; /* NULL: whatever the file holds */
} load_call;

static void load_tensor(tkn_reader *r, void *ud) {
  load_call *c = ud;
  tkn_npy_load(r, c->l, c->arg, c->want);
}

/* The rest of the text is the path: it may hold any byte. */
static void from_file(tkn_cursor *c, tk_launch *l, tk_arg *arg,
                      const tk_tensor *want) {
  load_call call = {l, arg, want};
  const char *path = c->src->text + c->at + 1;
  if (!*path) tkn_fail(c, c->at, c->at + 1, NULL, "expected a path after '@'");
  c->at = c->src->len;
  tkn_with_reader(c->env, path, load_tensor, &call);
}

/* A tensor without a seed is seeded by its parameter's position, so that two
 * of them differ and every run is the same. */
static void tensor_argument(tkn_cursor *c, tk_launch *l, tk_arg *arg,
                            tk_dtype d) {
  tk_tensor want = {.dtype = d};
  dims(c, &want);
  bool init = tkn_accept(c, ':');
  if (init && tkn_peek(c) == '@') {
    from_file(c, l, arg, &want);
  } else {
    tkn_arg_own(l, arg, d, want.rank, want.shape);
    if (init)
      tkn_fill(c, &l->arena, arg, (uint64_t)(arg - l->args));
    else
      tkn_fill_empty(arg);
  }
  arg->kind = TK_ARG_TENSOR;
}

/* ---- scalars and values ------------------------------------------------ */

static bool int_fits(tk_dtype d, const tk_value *v) {
  int bits = tk_dtypes[d].bits;
  tk_int x = (tk_int)((unsigned __int128)(uint64_t)v->hi << 64 | v->lo);
  bool is_signed = tk_is_signed(d);
  tk_int lo = is_signed ? -((tk_int)1 << (bits - 1)) : 0;
  tk_int hi = ((tk_int)1 << (bits - is_signed)) - 1;
  return lo <= x && x <= hi;
}

static void scalar(tkn_cursor *c, tk_arg *arg, tk_dtype d, tk_arena *a) {
  tkn_skip(c);
  uint32_t lo = c->at;
  tk_value v = tkn_literal(c, a, false);
  bool is_int = v.kind == TK_V_INT || v.kind == TK_V_BOOL;
  uint64_t bits = 0;
  if (tk_is_float(d) && (is_int || v.kind == TK_V_FLOAT)) {
    double f =
        v.kind == TK_V_FLOAT ? v.f : (double)v.hi * 0x1p64 + (double)v.lo;
    tk_lane_set_double(d, &bits, f);
  } else if (!is_int)
    tkn_fail(c, lo, c->at, NULL, "expected %s for %s",
             tk_is_float(d) ? "a number" : "an integer", tk_dtype_name(d));
  else if (!int_fits(d, &v))
    tkn_fail(c, lo, c->at, NULL, "this does not fit %s", tk_dtype_name(d));
  else
    bits = v.lo;
  arg->dtype = d;
  arg->bits = bits;
  arg->kind = TK_ARG_SCALAR;
}

static void value(tkn_cursor *c, tk_launch *l, tk_arg *arg, bool constexpr_) {
  tkn_skip(c);
  uint32_t lo = c->at;
  tk_value v = tkn_literal(c, &l->arena, constexpr_);
  bool plain = v.kind == TK_V_INT || v.kind == TK_V_FLOAT ||
               v.kind == TK_V_BOOL || v.kind == TK_V_NONE ||
               v.kind == TK_V_TUPLE;
  if (!constexpr_ && !plain)
    tkn_fail(c, lo, c->at, spec_help, "only a constexpr parameter takes a %s",
             v.kind == TK_V_STR ? "string" : "dtype");
  arg->value = v;
  arg->kind = TK_ARG_VALUE;
}

/* ---- the whole --------------------------------------------------------- */

/* The dtype that starts a tensor or stated scalar, -1 if none does; the
 * cursor is then left at the '[' or ':'. */
static int leading_dtype(tkn_cursor *c, tk_arena *a) {
  tkn_cursor t = *c;
  tkn_skip(&t);
  uint32_t lo = t.at, n = tkn_word(&t);
  if (!n) return -1;
  t.at += n;
  char next = tkn_peek(&t);
  if (next != '[' && next != ':') return -1;
  char *name = tk_arena_strndup(a, t.src->text + lo, n);
  int d = tk_dtype_from_name(name);
  if (d < 0 && next == '[') {
    tk_nearest near = tk_nearest_start(name);
    for (int i = 0; i < TK_DTYPE_COUNT; i++)
      tk_nearest_try(&near, tk_dtypes[i].name);
    const char *best = tk_nearest_best(&near);
    tkn_fail(&t, lo, lo + n,
             best ? tk_arena_printf(a, "did you mean '%s'?", best) : spec_help,
             "unknown dtype '%s'", name);
  }
  if (d >= 0) *c = t;
  return d;
}

static void spec(tkn_cursor *c, tk_launch *l, tk_arg *arg) {
  bool is_constexpr = tkn_param_is_constexpr(l->fn, (size_t)(arg - l->args));
  char ch = tkn_peek(c);
  uint32_t lo = c->at;
  int d = is_constexpr ? -1 : leading_dtype(c, &l->arena);
  if (!ch) tkn_fail(c, lo, lo, spec_help, "'%s' has no value", arg->name);
  if (is_constexpr && ch == '@')
    tkn_fail(c, lo, c->src->len, NULL,
             "'%s' is a constexpr parameter: it "
             "takes a value",
             arg->name);
  if (ch == '@')
    from_file(c, l, arg, NULL), arg->kind = TK_ARG_TENSOR;
  else if (d >= 0 && tkn_peek(c) == '[')
    tensor_argument(c, l, arg, (tk_dtype)d);
  else if (d >= 0 && tkn_accept(c, ':'))
    scalar(c, arg, (tk_dtype)d, &l->arena);
  else
    value(c, l, arg, is_constexpr);
  if (tkn_at_end(c)) return;
  arg->kind = TK_ARG_ABSENT;
  tkn_fail(c, c->at, c->src->len, spec_help, "unexpected text here");
}

void tkn_argument(tk_launch *l, const char *text) {
  tk_env *e = &l->session->env;
  tk_source *src =
      tk_source_new(&l->session->arena, "--arg", text, strlen(text));
  tkn_cursor c = {.env = e, .src = src, .id = TK_D_ARGUMENT};
  tkn_skip(&c);
  uint32_t n = tkn_word(&c);
  char *name = tk_arena_strndup(&l->arena, text + c.at, n);
  tkn_cursor start = c;
  c.at += n;
  if (!n || !tkn_accept(&c, '='))
    tkn_fail(&start, start.at, start.at + n, spec_help, "expected NAME=SPEC");
  spec(&c, l, tkn_arg_named(l, name));
}
