/* fill.c - how the lanes of a tensor named on a command line get a value.
 *
 * One row of a table per word; a row says which types it takes and how many
 * numbers may stand in its parentheses.  `empty` fills with a pattern that is
 * neither zero nor plausible, the byte 0xCB (-2.7e7 as fp32, -875836469 as
 * int32), so that reading it shows; the tensor also counts as
 * unwritten. */
#include "internal.h"

#include <string.h>

enum { PATTERN = 0xCB, MAX_NUMBERS = 3 };

typedef struct fill_call {
  tkn_cursor *c;
  tk_dtype dtype;
  char *data;
  size_t lanes, size;
  uint32_t word; /* where the name of the fill is in the text */
  uint64_t seed; /* when none is given */
  tk_value v[MAX_NUMBERS];
  uint32_t lo[MAX_NUMBERS + 1]; /* where each number stands */
  size_t n;
} fill_call;

typedef struct fill_row {
  const char *name;
  size_t min, max; /* numbers in parentheses */
  const char *usage;
  void (*fn)(fill_call *f);
} fill_row;

static void put_int(fill_call *f, size_t i, int64_t v) {
  tk_check_step(f->c->env, i);
  tk_lane_set_int(f->dtype, f->data + i * f->size, v);
}

/* All bytes alike, a piece after the other: much memory takes time. */
static void put_bytes(fill_call *f, int byte) {
  enum { PIECE = 1 << 22 };
  char *at = f->data;
  for (size_t n = f->lanes * f->size, some; n; at += some, n -= some) {
    if (f->c) tk_check_interrupt(f->c->env); /* a text asks for it */
    some = n < PIECE ? n : PIECE;
    memset(at, byte, some);
  }
}

static void zeros(fill_call *f) {
  put_bytes(f, 0);
}

static void ones(fill_call *f) {
  for (size_t i = 0; i < f->lanes; i++) put_int(f, i, 1);
}

static void empty(fill_call *f) {
  put_bytes(f, PATTERN);
  if (f->dtype == TK_INT1) memset(f->data, 1, f->lanes); /* no other true */
}

static void arange(fill_call *f) {
  for (size_t i = 0; i < f->lanes; i++) put_int(f, i, (int64_t)i);
}

/* ---- numbers ----------------------------------------------------------- */

static int64_t int_of(fill_call *f, size_t i, const char *what) {
  const tk_value *v = &f->v[i];
  bool is_int = v->kind == TK_V_INT || v->kind == TK_V_BOOL;
  if (is_int && v->hi == ((int64_t)v->lo < 0 ? -1 : 0)) return (int64_t)v->lo;
  tkn_fail(f->c, f->lo[i], f->lo[i + 1] - 1, NULL,
           "expected an integer of 64 bits: %s", what);
}

static uint64_t seed_of(fill_call *f, size_t i) {
  return f->n > i ? (uint64_t)int_of(f, i, "the seed") : f->seed;
}

/* The value as a lane: exact for integers, rounded once for floats. */
static void full_lane(fill_call *f, void *lane) {
  const tk_value *v = &f->v[0];
  tk_dtype d = f->dtype;
  if (v->kind == TK_V_FLOAT && tk_is_float(d)) {
    tk_lane_set_double(d, lane, v->f);
    return;
  }
  bool big = d == TK_UINT64 && v->kind == TK_V_INT && v->hi == 0;
  int64_t x = big ? (int64_t)v->lo : int_of(f, 0, tk_dtype_name(d));
  tk_lane_set_int(d, lane, x);
  bool fits = tk_is_float(d) || d == TK_INT1 || big ||
              (tk_lane_int(d, lane) == x && (d != TK_UINT64 || x >= 0));
  if (!fits)
    tkn_fail(f->c, f->lo[0], f->lo[1] - 1, NULL, "this does not fit %s",
             tk_dtype_name(d));
}

static void full(fill_call *f) {
  uint64_t lane = 0;
  full_lane(f, &lane);
  for (size_t i = 0; i < f->lanes; i++) {
    tk_check_step(f->c->env, i);
    memcpy(f->data + i * f->size, &lane, f->size);
  }
}

/* ---- random ------------------------------------------------------------ */

static void fill_start(fill_call *f, tkn_random *r) {
  if (!tk_is_float(f->dtype))
    tkn_fail(f->c, f->word, f->c->at,
             "for integers there is randint(LO, HI) or randint(LO, HI, SEED)",
             "rand and randn are for float types, not %s",
             tk_dtype_name(f->dtype));
  tkn_random_start(r, f->c->env, seed_of(f, 0));
}

static void rand_(fill_call *f) {
  tkn_random r;
  fill_start(f, &r);
  tkn_rand(&r, f->dtype, f->data, f->lanes);
}

static void randn(fill_call *f) {
  tkn_random r;
  fill_start(f, &r);
  tkn_randn(&r, f->dtype, f->data, f->lanes);
}

static void randint(fill_call *f) {
  tkn_random r;
  int64_t lo = int_of(f, 0, "the least value");
  int64_t hi = int_of(f, 1, "one more than the greatest value");
  if (lo >= hi)
    tkn_fail(f->c, f->lo[0], f->lo[2] - 1, NULL,
             "randint takes LO and HI with LO < HI");
  tkn_random_start(&r, f->c->env, seed_of(f, 2));
  tkn_randint(&r, f->dtype, f->data, f->lanes, lo, hi);
}

/* ---- parsing ----------------------------------------------------------- */

static const fill_row rows[] = {
    {"zeros", 0, 0, "zeros", zeros},
    {"ones", 0, 0, "ones", ones},
    {"empty", 0, 0, "empty", empty},
    {"arange", 0, 0, "arange", arange},
    {"rand", 0, 1, "rand or rand(SEED)", rand_},
    {"randn", 0, 1, "randn or randn(SEED)", randn},
    {"randint", 2, 3, "randint(LO, HI) or randint(LO, HI, SEED)", randint},
    {"full", 1, 1, "full(VALUE)", full},
};

static const char fill_help[] =
    "fill with zeros, ones, empty, arange, rand, rand(SEED), randn, "
    "randn(SEED), randint(LO, HI), full(VALUE) or @FILE.npy";

static const fill_row *row_at(tkn_cursor *c, tk_arena *a) {
  tkn_skip(c);
  uint32_t lo = c->at, n = tkn_word(c);
  const char *text = c->src->text + lo;
  char *name = tk_arena_strndup(a, text, n);
  tk_nearest near = tk_nearest_start(name);
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    if (!strcmp(name, rows[i].name)) return &rows[i];
    tk_nearest_try(&near, rows[i].name);
  }
  const char *best = tk_nearest_best(&near);
  tkn_fail(c, lo, tkn_extent(c),
           best ? tk_arena_printf(a, "did you mean '%s'?", best) : fill_help,
           n ? "unknown fill '%s'" : "expected how to fill the tensor%s", name);
}

static void numbers(fill_call *f, const fill_row *row, tk_arena *a) {
  tkn_cursor *c = f->c;
  uint32_t lo = c->at;
  if (tkn_accept(c, '(')) {
    do {
      if (f->n == row->max)
        tkn_fail(c, lo, tkn_extent(c), NULL, "this reads %s", row->usage);
      tkn_skip(c);
      f->lo[f->n] = c->at;
      f->v[f->n++] = tkn_literal(c, a, false);
      tkn_skip(c);
      f->lo[f->n] = c->at + 1;
    } while (tkn_accept(c, ','));
    tkn_expect(c, ')', "after the numbers");
  }
  if (f->n < row->min)
    tkn_fail(c, lo, tkn_extent(c), NULL, "this reads %s", row->usage);
}

static fill_call fill_lanes(tk_arg *arg) {
  const tk_tensor *t = &arg->tensor;
  size_t size = tk_dtypes[t->dtype].size;
  return (fill_call){.dtype = t->dtype,
                     .data = t->data,
                     .size = size,
                     .lanes = t->storage_bytes / size};
}

void tkn_fill_empty(tk_arg *arg) {
  fill_call f = fill_lanes(arg);
  empty(&f);
  arg->tensor.flags |= TK_TENSOR_UNWRITTEN;
}

void tkn_fill(tkn_cursor *c, tk_arena *a, tk_arg *arg, uint64_t seed) {
  fill_call f = fill_lanes(arg);
  const fill_row *row = row_at(c, a);
  f.c = c;
  f.seed = seed;
  f.word = c->at;
  c->at += (uint32_t)strlen(row->name);
  numbers(&f, row, a);
  if (row->fn == empty)
    tkn_fill_empty(arg);
  else
    row->fn(&f);
}
