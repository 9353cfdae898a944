/* layout_text.c - layouts as Triton writes them.
 *
 *   text   = layout | line { line }
 *   line   = '#' NAME '=' layout
 *   layout = '#' ['ttg.'] NAME '<' '{' [ entry { ',' entry } ] '}' '>'
 *          | '#' NAME                 of a line before
 *   entry  = KEY '=' value
 *   value  = INT | WORD | layout | list
 *   list   = '[' [ value { ',' value } ] ']'
 *
 * Lines are those of a .ttgir file; the last one's layout is meant.
 *
 * A text is read as a whole first; then each kind of layout, a row of
 * `kinds`, takes the entries that it knows and says what is wrong with
 * them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nvptx/layout.h"

/* ---- reading ------------------------------------------------------------- */

typedef struct entry entry;

typedef struct value {
  enum { NUMBER, WORD, LIST, LAYOUT } kind;
  tk_span span;
  int64_t number;
  TK_VEC(struct value) items;
  tk_span name; /* LAYOUT: its name, without a prefix such as "ttg." */
  TK_VEC(entry) entries;
} value;

struct entry {
  tk_span key;
  value v;
  bool used;
};

/* A line that gives a layout a name. */
typedef struct definition {
  tk_span name;
  value v;
} definition;

typedef struct reader {
  tk_env *env;
  const tk_source *src;
  tk_arena arena;
  TK_VEC(definition) lines;
  uint32_t at;
  int depth;
} reader;

static void TK_NORETURN layout_fail(reader *r, tk_span span, const char *help,
                                    const char *fmt, ...) TK_PRINTF(4, 5);
static void TK_NORETURN layout_fail(reader *r, tk_span span, const char *help,
                                    const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(r->env, TK_D_SYNTAX, r->src, span, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(r->env, d, "%s", help);
  tk_throw(r->env, TK_USAGE);
}

static char next_char(reader *r) {
  while (r->at < r->src->len && strchr(" \t\r\n", r->src->text[r->at])) r->at++;
  return r->at < r->src->len ? r->src->text[r->at] : 0;
}

static tk_span here(const reader *r) {
  return (tk_span){r->at, r->at < r->src->len ? r->at + 1 : r->at};
}

static bool take_char(reader *r, char c) {
  if (next_char(r) != c) return false;
  r->at++;
  return true;
}

static void need_char(reader *r, char c, const char *where) {
  if (!take_char(r, c))
    layout_fail(r, here(r), NULL, "expected '%c' %s", c, where);
}

static bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static tk_span need_word(reader *r, const char *what) {
  next_char(r);
  tk_span s = {r->at, r->at};
  while (s.hi < r->src->len && in_word(r->src->text[s.hi])) s.hi++;
  if (s.lo == s.hi) layout_fail(r, here(r), NULL, "expected %s", what);
  r->at = s.hi;
  return s;
}

static bool is_text(const reader *r, tk_span s, const char *text) {
  return strlen(text) == s.hi - s.lo &&
         !memcmp(r->src->text + s.lo, text, s.hi - s.lo);
}

static value read_value(reader *r);

static void read_entries(reader *r, value *v) {
  if (next_char(r) != '<')
    layout_fail(r, here(r),
                "if a line of the .ttgir file defines it, write that line "
                "before this one",
                "expected '<' after the name of a layout");
  r->at++;
  need_char(r, '{', "after '<'");
  while (!take_char(r, '}')) {
    if (v->entries.n) need_char(r, ',', "or '}' after an entry");
    entry x = {.key = need_word(r, "a key such as order")};
    need_char(r, '=', "after a key");
    x.v = read_value(r);
    TK_PUSH(&r->arena, &v->entries, x);
  }
  need_char(r, '>', "after '}'");
}

/* The layout that a line before gives the name; NULL: none does. */
static const value *defined_as(const reader *r, tk_span name) {
  const char *text = r->src->text;
  for (size_t i = r->lines.n; i-- > 0;) {
    tk_span known = r->lines.items[i].name;
    if (known.hi - known.lo == name.hi - name.lo &&
        !memcmp(text + known.lo, text + name.lo, name.hi - name.lo))
      return &r->lines.items[i].v;
  }
  return NULL;
}

static void read_layout(reader *r, value *v) {
  static const char *const before[] = {"ttg.", "triton_gpu."};
  v->kind = LAYOUT;
  v->name = need_word(r, "the name of a layout");
  const value *known = defined_as(r, v->name);
  if (known && next_char(r) != '<') {
    *v = *known;
    return;
  }
  for (size_t i = 0; i < TK_COUNT(before); i++) {
    uint32_t n = (uint32_t)strlen(before[i]);
    if (v->name.hi - v->name.lo > n &&
        !memcmp(r->src->text + v->name.lo, before[i], n))
      v->name.lo += n;
  }
  read_entries(r, v);
}

static void read_number(reader *r, value *v) {
  tk_span s = need_word(r, "a number, a list or a layout");
  const char *text = r->src->text;
  bool digits = true;
  for (uint32_t i = s.lo; i < s.hi; i++)
    digits &= text[i] >= '0' && text[i] <= '9';
  v->kind = digits && s.hi - s.lo < 10 ? NUMBER : WORD;
  for (uint32_t i = s.lo; v->kind == NUMBER && i < s.hi; i++)
    v->number = v->number * 10 + (text[i] - '0');
}

enum { MOST_DEEP = 8 };

static value read_value(reader *r) {
  value v = {.kind = NUMBER};
  next_char(r);
  uint32_t start = r->at;
  if (++r->depth > MOST_DEEP)
    layout_fail(r, here(r), NULL, "this is nested too deep");
  if (take_char(r, '[')) {
    v.kind = LIST;
    while (!take_char(r, ']')) {
      if (v.items.n) need_char(r, ',', "or ']' after an item");
      value item = read_value(r);
      TK_PUSH(&r->arena, &v.items, item);
    }
  } else if (take_char(r, '#')) {
    read_layout(r, &v);
  } else {
    read_number(r, &v);
  }
  r->depth--;
  v.span = (tk_span){start, r->at};
  return v;
}

/* ---- entries ------------------------------------------------------------- */

static entry *find_entry(reader *r, const value *v, const char *key) {
  for (size_t i = 0; i < v->entries.n; i++)
    if (is_text(r, v->entries.items[i].key, key)) {
      v->entries.items[i].used = true;
      return &v->entries.items[i];
    }
  return NULL;
}

static const value *need_entry(reader *r, const value *v, const char *key) {
  entry *x = find_entry(r, v, key);
  if (!x) layout_fail(r, v->name, NULL, "this layout needs '%s'", key);
  return &x->v;
}

static bool is_power(int64_t n) {
  return n > 0 && n <= 1 << 20 && !(n & (n - 1));
}

static int32_t number_of(reader *r, const value *v, int64_t below) {
  if (v->kind != NUMBER) layout_fail(r, v->span, NULL, "expected a number");
  if (v->number >= below)
    layout_fail(r, v->span, NULL, "expected a number below %lld",
                (long long)below);
  return (int32_t)v->number;
}

static int32_t need_number(reader *r, const value *v, const char *key,
                           int64_t below) {
  return number_of(r, need_entry(r, v, key), below);
}

/* A list of `rank` powers of two. */
static void need_sizes(reader *r, const value *v, const char *key, int rank,
                       int32_t *out) {
  const value *x = need_entry(r, v, key);
  if (x->kind != LIST || x->items.n != (size_t)rank)
    layout_fail(r, x->span, NULL, "expected a list of %d, one for each axis",
                rank);
  for (int i = 0; i < rank; i++) {
    out[i] = number_of(r, &x->items.items[i], INT32_MAX);
    if (!is_power(out[i]))
      layout_fail(r, x->items.items[i].span, NULL, "expected a power of two");
  }
}

/* The axes, the fastest-running one first. */
static void need_order(reader *r, const value *v, int rank, int *out) {
  const value *x = need_entry(r, v, "order");
  unsigned seen = 0;
  if (x->kind != LIST || x->items.n != (size_t)rank)
    layout_fail(r, x->span, NULL, "expected a list of %d, one for each axis",
                rank);
  for (int i = 0; i < rank; i++) {
    out[i] = number_of(r, &x->items.items[i], rank);
    if (seen >> out[i] & 1)
      layout_fail(r, x->items.items[i].span, NULL, "this axis appears twice");
    seen |= 1u << out[i];
  }
}

/* ---- what is left over --------------------------------------------------- */

/* How blocks of one cluster share a block: there is one. */
static bool says_one_block(const value *v) {
  bool one = v->kind == NUMBER ? v->number <= 1 : v->kind == LIST;
  for (size_t i = 0; one && i < v->items.n; i++)
    one = says_one_block(&v->items.items[i]);
  return one;
}

static void check_entries(reader *r, const value *v) {
  static const char *const clusters[] = {"CTAsPerCGA", "CTASplitNum",
                                         "CTAOrder", "CGALayout", "block"};
  for (size_t i = 0; i < v->entries.n; i++) {
    const entry *x = &v->entries.items[i];
    bool cluster = false;
    for (size_t k = 0; k < TK_COUNT(clusters); k++)
      cluster |= is_text(r, x->key, clusters[k]);
    if (cluster && !is_text(r, x->key, "CTAOrder") && !says_one_block(&x->v))
      layout_fail(r, x->v.span, NULL,
                  "clusters of several blocks are not supported");
    if (!x->used && !cluster)
      layout_fail(r, x->key, NULL, "this layout has no such key");
  }
}

/* ---- building ------------------------------------------------------------ */

static void fits_or_fails(reader *r, const value *v, bool fits) {
  if (!fits) layout_fail(r, v->span, NULL, "the layout is too large");
}

/* How registers, lanes or warps run along the axes. */
typedef struct spread {
  tkv_input input;
  const int32_t *sizes; /* by axis */
  const int *order;     /* the axes, from the one that runs fastest */
  int summed;           /* the axis of an operand of a product of which each has
                           all; -1: there is none */
} spread;

static void along_axes(reader *r, const value *v, tkv_layout *l,
                       const spread *s) {
  for (int i = 0; i < l->rank; i++) {
    int axis = s->order[i];
    int32_t n = s->sizes[axis];
    bool fits = axis == s->summed ? tkv_layout_copies(l, s->input, n)
                                  : tkv_layout_along(l, s->input, axis, n);
    fits_or_fails(r, v, fits);
  }
}

static void along_all(reader *r, const value *v, tkv_layout *l, tkv_input k,
                      const int32_t *sizes, const int *order) {
  along_axes(r, v, l, &(spread){k, sizes, order, -1});
}

static void fit_shape(reader *r, const value *v, tkv_layout *l,
                      const int32_t *shape, const int *order) {
  fits_or_fails(r, v, tkv_layout_fit(l, shape, order));
}

static void order_from(int rank, bool last_first, int *order) {
  for (int i = 0; i < rank; i++) order[i] = last_first ? rank - 1 - i : i;
}

static tkv_layout build(reader *r, const value *v, int rank,
                        const int32_t *shape);

static tkv_layout build_blocked(reader *r, const value *v, int rank,
                                const int32_t *shape) {
  static const struct {
    const char *key;
    tkv_input input;
  } parts[] = {{"sizePerThread", TKV_REGISTER},
               {"threadsPerWarp", TKV_LANE},
               {"warpsPerCTA", TKV_WARP}};
  tkv_layout l = tkv_layout_new(rank);
  int order[TK_MAX_RANK];
  int32_t sizes[TK_MAX_RANK];
  need_order(r, v, rank, order);
  for (size_t i = 0; i < TK_COUNT(parts); i++) {
    need_sizes(r, v, parts[i].key, rank, sizes);
    along_all(r, v, &l, parts[i].input, sizes, order);
  }
  fit_shape(r, v, &l, shape, order);
  return l;
}

static tkv_layout build_slice(reader *r, const value *v, int rank,
                              const int32_t *shape) {
  if (rank == TK_MAX_RANK)
    layout_fail(r, v->span, NULL, "a slice of a block of %d axes has fewer",
                rank);
  int32_t around[TK_MAX_RANK];
  int axis = need_number(r, v, "dim", rank + 1);
  for (int i = 0; i <= rank; i++)
    around[i] = i == axis ? 1 : shape[i - (i > axis)];
  tkv_layout l = build(r, need_entry(r, v, "parent"), rank + 1, around);
  tkv_layout_drop_axis(&l, axis);
  return l;
}

/* The tile that an mma instruction works on, of which a register holds `width`
 * neighbours. */
typedef struct mma_tile {
  int inner, outer; /* axes */
  int32_t inner_size, outer_size, width;
} mma_tile;

/* Four lanes run along the inner axis, eight along the outer one (PTX ISA,
 * "Matrix fragments for mma.m16n8k16"). */
static void along_tile(reader *r, const value *v, tkv_layout *l,
                       const mma_tile *t) {
  int32_t outer = t->outer_size / 8, inner = t->inner_size / t->width / 4;
  bool fits = tkv_layout_along(l, TKV_REGISTER, t->inner, t->width) &&
              tkv_layout_along(l, TKV_LANE, t->inner, 4) &&
              tkv_layout_along(l, TKV_LANE, t->outer, 8) &&
              tkv_layout_along(l, TKV_REGISTER, t->outer, outer) &&
              tkv_layout_along(l, TKV_REGISTER, t->inner, inner);
  fits_or_fails(r, v, fits);
}

static void need_two_axes(reader *r, const value *v, int rank) {
  if (rank != 2)
    layout_fail(r, v->span, NULL,
                "this layout can be drawn only for blocks of two axes, not %d",
                rank);
}

/* instrShape: two of it are those of the tile, [16, 8] or [16, N, K]. */
static void need_tile(reader *r, const value *v, int32_t *tile) {
  const value *x = need_entry(r, v, "instrShape");
  bool sound = x->kind == LIST && x->items.n >= 2 && x->items.n <= 3;
  for (size_t i = 0; sound && i < 2; i++)
    tile[i] = number_of(r, &x->items.items[i], 1 << 10);
  if (!sound || tile[0] != 16 || tile[1] < 8 || !is_power(tile[1]))
    layout_fail(r, x->span, NULL, "expected [16, 8], or [16, N, K]");
}

static tkv_layout build_mma(reader *r, const value *v, int rank,
                            const int32_t *shape) {
  tkv_layout l = tkv_layout_new(rank);
  int32_t tile[2] = {0, 0}, warps[TK_MAX_RANK];
  int order[TK_MAX_RANK], warp_order[TK_MAX_RANK];
  need_two_axes(r, v, rank);
  int major = need_number(r, v, "versionMajor", 10);
  find_entry(r, v, "versionMinor");
  need_tile(r, v, tile);
  need_sizes(r, v, "warpsPerCTA", rank, warps);
  order_from(rank, true, order);
  order_from(rank, major != 3, warp_order);
  along_tile(r, v, &l, &(mma_tile){1, 0, tile[1], tile[0], 2});
  along_all(r, v, &l, TKV_WARP, warps, warp_order);
  fit_shape(r, v, &l, shape, order);
  return l;
}

/* An operand of mma.sync: the summed axis runs fastest. */
static tkv_layout build_mma_operand(reader *r, const value *v,
                                    const value *parent, int operand,
                                    const int32_t *shape) {
  tkv_layout l = tkv_layout_new(2);
  int32_t warps[TK_MAX_RANK];
  int summed = operand == 0, other = !summed, warp_order[2];
  int order[2] = {summed, other};
  int width = need_number(r, v, "kWidth", 64);
  int major = need_number(r, parent, "versionMajor", 10);
  if (!is_power(width))
    layout_fail(r, v->span, NULL, "kWidth must be a power of two");
  find_entry(r, parent, "versionMinor");
  find_entry(r, parent, "instrShape");
  need_sizes(r, parent, "warpsPerCTA", 2, warps);
  order_from(2, major != 3, warp_order);
  mma_tile tile = {summed, other, width * 8, operand ? 8 : 16, width};
  along_tile(r, v, &l, &tile);
  along_axes(r, v, &l, &(spread){TKV_WARP, warps, warp_order, summed});
  fit_shape(r, v, &l, shape, order);
  return l;
}

/* An operand of a product that threads compute lane by lane: each has the
 * whole summed axis of its rows, or columns. */
static tkv_layout build_blocked_operand(reader *r, const value *parent,
                                        int summed, int rank,
                                        const int32_t *shape) {
  tkv_layout l = tkv_layout_new(rank);
  int order[TK_MAX_RANK];
  int32_t sizes[TK_MAX_RANK];
  need_order(r, parent, rank, order);
  need_sizes(r, parent, "sizePerThread", rank, sizes);
  sizes[summed] = shape[summed];
  along_all(r, parent, &l, TKV_REGISTER, sizes, order);
  need_sizes(r, parent, "threadsPerWarp", rank, sizes);
  along_axes(r, parent, &l, &(spread){TKV_LANE, sizes, order, summed});
  need_sizes(r, parent, "warpsPerCTA", rank, sizes);
  along_axes(r, parent, &l, &(spread){TKV_WARP, sizes, order, summed});
  fit_shape(r, parent, &l, shape, order);
  return l;
}

static tkv_layout build_operand(reader *r, const value *v, int rank,
                                const int32_t *shape) {
  const value *parent = need_entry(r, v, "parent");
  int operand = need_number(r, v, "opIdx", 2);
  if (rank < 2)
    layout_fail(r, v->span, NULL, "an operand of a product has two axes");
  if (parent->kind == LAYOUT && is_text(r, parent->name, "blocked")) {
    find_entry(r, v, "kWidth");
    tkv_layout l =
        build_blocked_operand(r, parent, rank - 1 - operand, rank, shape);
    check_entries(r, parent);
    return l;
  }
  if (parent->kind != LAYOUT || !is_text(r, parent->name, "nvidia_mma"))
    layout_fail(r, parent->span, NULL,
                "expected #blocked or #nvidia_mma as the parent");
  need_two_axes(r, v, rank);
  tkv_layout l = build_mma_operand(r, v, parent, operand, shape);
  check_entries(r, parent);
  return l;
}

/* Columns of a row are xored with the row's phase, so that the same column of
 * several rows lies in several banks. */
static tkv_layout build_shared(reader *r, const value *v, int rank,
                               const int32_t *shape) {
  int order[TK_MAX_RANK];
  tkv_layout l = tkv_layout_new(rank);
  int32_t vec = need_number(r, v, "vec", 1 << 12);
  int32_t phase = need_number(r, v, "perPhase", 1 << 12);
  int32_t phases = need_number(r, v, "maxPhase", 1 << 12);
  if (!is_power(vec) || !is_power(phase) || !is_power(phases))
    layout_fail(r, v->span, NULL,
                "vec, perPhase and maxPhase are powers of two");
  need_order(r, v, rank, order);
  along_all(r, v, &l, TKV_OFFSET, shape, order);
  if (rank < 2) return l;
  int column = order[0], row = order[1];
  for (int i = 0; i < l.bits[TKV_OFFSET]; i++) {
    int32_t *at = l.basis[TKV_OFFSET][i].at;
    if (at[row]) at[column] = vec * (at[row] / phase % phases) % shape[column];
  }
  return l;
}

static void read_bases(reader *r, const value *v, tkv_layout *l, tkv_input k,
                       const int32_t *shape) {
  const value *x = need_entry(r, v, tkv_input_name(k));
  if (x->kind != LIST || x->items.n > TKV_LAYOUT_BITS)
    layout_fail(r, x->span, NULL, "expected a list of bases");
  for (size_t i = 0; i < x->items.n; i++) {
    const value *b = &x->items.items[i];
    if (b->kind != LIST || b->items.n != (size_t)l->rank)
      layout_fail(r, b->span, NULL,
                  "expected a basis: a list of %d, one for each axis", l->rank);
    for (int a = 0; a < l->rank; a++)
      l->basis[k][i].at[a] = number_of(r, &b->items.items[a], shape[a]);
  }
  l->bits[k] = (int)x->items.n;
}

static tkv_layout build_linear(reader *r, const value *v, int rank,
                               const int32_t *shape) {
  tkv_layout l = tkv_layout_new(rank);
  memcpy(l.shape, shape, (size_t)rank * sizeof *shape);
  for (int k = TKV_REGISTER; k <= TKV_WARP; k++)
    read_bases(r, v, &l, (tkv_input)k, shape);
  return l;
}

static const struct kind {
  const char *name;
  tkv_layout (*build)(reader *r, const value *v, int rank,
                      const int32_t *shape);
} kinds[] = {
    {"blocked", build_blocked}, {"slice", build_slice},
    {"nvidia_mma", build_mma},  {"dot_op", build_operand},
    {"linear", build_linear},   {"swizzled_shared", build_shared},
};

static tkv_layout build(reader *r, const value *v, int rank,
                        const int32_t *shape) {
  if (v->kind != LAYOUT)
    layout_fail(r, v->span, NULL, "expected a layout, #blocked<{...}>");
  for (size_t i = 0; i < TK_COUNT(kinds); i++) {
    if (!is_text(r, v->name, kinds[i].name)) continue;
    tkv_layout l = kinds[i].build(r, v, rank, shape);
    check_entries(r, v);
    return l;
  }
  layout_fail(r, v->name,
              "there is: blocked, slice, nvidia_mma, dot_op, linear, "
              "swizzled_shared",
              "there is no such layout");
}

typedef struct parsing {
  reader r;
  int rank;
  const int32_t *shape;
  tkv_layout out;
} parsing;

/* Reads "#NAME ="; false, with nothing read: a layout stands here. */
static bool take_name(reader *r, tk_span *name) {
  uint32_t start = r->at;
  take_char(r, '#');
  *name = need_word(r, "the name of a layout");
  if (take_char(r, '=')) return true;
  r->at = start;
  return false;
}

static void parse_layout(tk_env *e, void *ud) {
  parsing *p = ud;
  reader *r = &p->r;
  definition line;
  bool named = true;
  (void)e;
  do {
    if (next_char(r) != '#')
      layout_fail(r, here(r), "write it as #blocked<{...}>",
                  "expected a layout, which begins with '#'");
    named = take_name(r, &line.name);
    line.v = read_value(r);
    if (named) TK_PUSH(&r->arena, &r->lines, line);
  } while (named && next_char(r));
  if (next_char(r))
    layout_fail(r, here(r), NULL, "unexpected text after the layout");
  p->out = build(r, &line.v, p->rank, p->shape);
}

tkv_layout tkv_layout_parse(tk_env *e, const tk_source *src, int rank,
                            const int32_t *shape) {
  parsing p = {.r = {.env = e, .src = src}, .rank = rank, .shape = shape};
  tk_arena_init(&p.r.arena, e);
  tk_status st = tk_protect(e, parse_layout, &p);
  tk_arena_free(&p.r.arena);
  if (st != TK_OK) tk_throw(e, st);
  return p.out;
}
