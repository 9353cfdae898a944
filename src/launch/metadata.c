/* metadata.c - what a kernel that PyTorch's compiler wrote says of itself.
 *
 * Its decorator holds, as literals, the types of the parameters and hints of
 * the sizes; sizes that are known stand in its body:
 *
 *   @triton_heuristics.pointwise(
 *       size_hints={'x': 1024},
 *       triton_meta={'signature': {'in_ptr0': '*fp32', 'xnumel': 'i32', ...},
 *       inductor_meta={'grid_type': 'Grid1D', ...})
 *   @triton.jit
 *   def kernel(in_ptr0, xnumel, XBLOCK : tl.constexpr):
 *       xnumel = 770
 *
 * A direct launch may therefore leave out block sizes, known sizes and the
 * grid; numbers get their stated types, and tensors are checked against
 * theirs.  The decorator is read token by token, as most of it is not a
 * expression of the language.
 */
#include "internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lang/token.h"

enum { POINTWISE_BLOCK = 1024, TILE_BLOCK = 32, ROWS_BLOCK = 8 };

typedef struct meta {
  tk_launch *l;
  tk_env *env;
  const tk_source *src;
  const tk_token *lo, *hi; /* of the function and its decorators */
} meta;

/* ---- tokens ------------------------------------------------------------ */

static bool is_text(const meta *m, const tk_token *t, const char *text) {
  size_t n = strlen(text);
  return t->hi - t->lo == n && memcmp(m->src->text + t->lo, text, n) == 0;
}

/* A string in one pair of quotes that holds text. */
static bool is_string(const meta *m, const tk_token *t, const char *text) {
  size_t n = strlen(text);
  return t->kind == TKL_STRING && t->hi - t->lo == n + 2 &&
         memcmp(m->src->text + t->lo + 1, text, n) == 0;
}

static const char *token_text(meta *m, const tk_token *t) {
  return tk_arena_strndup(&m->l->arena, m->src->text + t->lo + 1,
                          t->hi - t->lo - 2);
}

/* The token after "key=" or "'key':"; NULL when there is none. */
static const tk_token *behind(const meta *m, const char *key) {
  for (const tk_token *t = m->lo; t + 2 < m->hi; t++) {
    bool name = t->kind == TKL_NAME && is_text(m, t, key);
    if (name && t[1].kind == TKL_ASSIGN) return t + 2;
    if (is_string(m, t, key) && t[1].kind == TKL_COLON) return t + 2;
  }
  return NULL;
}

/* The value of a key in the flat dict at t: "{'a': VALUE, ...}". */
static const tk_token *in_dict(const meta *m, const tk_token *t,
                               const char *key) {
  if (!t || t->kind != TKL_LBRACE) return NULL;
  for (; t + 2 < m->hi && t->kind != TKL_RBRACE; t++)
    if (is_string(m, t, key) && t[1].kind == TKL_COLON) return t + 2;
  return NULL;
}

static int64_t token_int(const meta *m, const tk_token *t) {
  if (!t || t->kind != TKL_INT || t->hi - t->lo > 18) return -1;
  char digits[20] = {0};
  memcpy(digits, m->src->text + t->lo, t->hi - t->lo);
  return strtoll(digits, NULL, 10);
}

/* ---- types ------------------------------------------------------------- */

static void wrong_tensor(meta *m, const tk_arg *arg, const char *type) {
  tk_diag *d =
      tk_diag_add(m->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                  "%s is a tensor of %s, but this kernel was written for %s",
                  arg->name, tk_dtype_name(arg->tensor.dtype), type);
  tk_diag_help(m->env, d, "the types are those of 'signature' in triton_meta");
  tk_throw(m->env, TK_USAGE);
}

/* Bytes hold bools and 8-bit floats as well. */
static bool same_memory(tk_dtype a, tk_dtype b) {
  return a == b || (tk_dtypes[a].size == 1 && tk_dtypes[b].size == 1);
}

static bool fits_dtype(tk_dtype d, const tk_value *v) {
  int bits = tk_dtypes[d].bits;
  int64_t x = (int64_t)v->lo;
  bool one_word = (int64_t)v->hi == (x < 0 ? -1 : 0);
  if (bits >= 64) return one_word;
  int64_t above = x >> (bits - tk_is_signed(d));
  return one_word && (above == 0 || (tk_is_signed(d) && above == -1));
}

static void give_type(meta *m, tk_arg *arg, const char *type) {
  bool pointer = *type == '*';
  int d = tk_dtype_from_name(type + pointer);
  if (d < 0) return; /* constexpr, a descriptor */
  if (arg->kind == TK_ARG_TENSOR && pointer &&
      !same_memory((tk_dtype)d, arg->tensor.dtype))
    wrong_tensor(m, arg, type);
  bool number = arg->kind == TK_ARG_VALUE && arg->value.kind == TK_V_INT;
  if (pointer || !number || tk_is_float((tk_dtype)d)) return;
  if (!fits_dtype((tk_dtype)d, &arg->value)) return; /* typed by its size */
  arg->bits = arg->value.lo;
  arg->dtype = (tk_dtype)d;
  arg->kind = TK_ARG_SCALAR;
}

static void give_types(meta *m) {
  const tk_token *signature = behind(m, "signature");
  for (size_t i = 0; i < m->l->nargs; i++) {
    tk_arg *arg = &m->l->args[i];
    const tk_token *t = in_dict(m, signature, arg->name);
    bool typed = t && t->kind == TKL_STRING && t->hi - t->lo > 2;
    if (typed && !tkn_param_is_constexpr(m->l->fn, i))
      give_type(m, arg, token_text(m, t));
  }
}

/* ---- sizes ------------------------------------------------------------- */

static void give_int(tk_arg *arg, int64_t n) {
  arg->value = (tk_value){.kind = TK_V_INT, .lo = (uint64_t)n};
  arg->kind = TK_ARG_VALUE;
}

/* "xnumel = 770" in the body. */
static int64_t literal_in_body(const meta *m, const char *name) {
  for (const tk_token *t = m->lo; t + 3 < m->hi; t++)
    if (t->kind == TKL_NAME && is_text(m, t, name) && t[1].kind == TKL_ASSIGN &&
        t[2].kind == TKL_INT && t[3].kind == TKL_NEWLINE)
      return token_int(m, t + 2);
  return -1;
}

static int64_t power_of_2(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

/* The hint for a block's axis: XBLOCK goes with 'x', R0_BLOCK with 'r0_'. */
static int64_t hint(const meta *m, const char *block, size_t n) {
  char axis[8] = {0};
  for (size_t i = 0; i < n && i < sizeof axis - 1; i++)
    axis[i] = (char)tolower((unsigned char)block[i]);
  const tk_token *hints = behind(m, "size_hints");
  return token_int(m, in_dict(m, hints, axis));
}

/* Any size is correct; these are close to what PyTorch would choose. */
static int64_t block_size(const meta *m, const char *name) {
  const tk_token *hints = behind(m, "size_hints");
  bool reduces = in_dict(m, hints, "r0_") || in_dict(m, hints, "r");
  bool tiles = in_dict(m, hints, "y") != NULL;
  int64_t size = hint(m, name, strlen(name) - strlen("BLOCK"));
  int64_t most = POINTWISE_BLOCK;
  if (tiles) most = TILE_BLOCK;
  if (reduces && tolower((unsigned char)*name) != 'r') most = ROWS_BLOCK;
  if (size > most) size = most;
  return size < 0 ? -1 : power_of_2(size);
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n > k && strcmp(s + n - k, end) == 0;
}

static void give_sizes(meta *m) {
  for (size_t i = 0; i < m->l->nargs; i++) {
    tk_arg *arg = &m->l->args[i];
    int64_t n = -1;
    if (arg->kind != TK_ARG_ABSENT) continue;
    if (ends_with(arg->name, "BLOCK"))
      n = block_size(m, arg->name);
    else if (ends_with(arg->name, "numel"))
      n = literal_in_body(m, arg->name);
    if (n >= 0) give_int(arg, n);
  }
}

/* ---- the grid ---------------------------------------------------------- */

static int64_t argument_int(tk_launch *l, const char *name) {
  const tk_arg *arg = tkn_arg_find(l, name);
  if (!arg || arg->kind == TK_ARG_TENSOR) return -1;
  if (arg->kind == TK_ARG_SCALAR) return (int64_t)arg->bits;
  return arg->value.kind == TK_V_INT ? (int64_t)arg->value.lo : -1;
}

/* Grid1D, Grid2D and Grid3D: one program for each block of x, y and z. */
static void give_grid(meta *m) {
  static const char *const types[3] = {"Grid1D", "Grid2D", "Grid3D"};
  static const char *const sizes[3] = {"xnumel", "ynumel", "znumel"};
  static const char *const blocks[3] = {"XBLOCK", "YBLOCK", "ZBLOCK"};
  const tk_token *type = behind(m, "grid_type");
  int64_t grid[3] = {1, 1, 1};
  int axes = 0;
  for (int i = 0; i < 3; i++)
    if (type && is_string(m, type, types[i])) axes = i + 1;
  if (m->l->grid_given || !axes) return;
  for (int i = 0; i < axes; i++) {
    int64_t n = argument_int(m->l, sizes[i]),
            block = argument_int(m->l, blocks[i]);
    if (block < 0) block = 1; /* the axis has no block in this kernel */
    if (n < 0 || block == 0) return;
    grid[i] = n / block + (n % block != 0);
  }
  tkn_grid(m->l, grid);
}

void tk_launch_complete(tk_env *e, tk_launch *l) {
  const tk_item *item = l->fn->item;
  const tk_file *f = l->fn->module->file;
  if (!item->text || l->fn->host) return;
  meta m = {.l = l, .env = e, .src = f->src};
  m.lo = f->toks + item->tok_lo;
  m.hi = f->toks + item->tok_hi;
  give_sizes(&m);
  give_types(&m);
  give_grid(&m);
}
