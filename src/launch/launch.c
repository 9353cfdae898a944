/* launch.c - a launch: a function, a grid, and one argument per parameter.
 *
 * Tensors that the caller passes are borrowed.  Tensors that the launch makes
 * (from a text spec or a file) are its own; they get addresses of their own
 * too, as a kernel sees them: from 2^44 up, 512 bytes apart and aligned as
 * PyTorch's CUDA allocator aligns, so that a run prints the same pointers
 * everywhere and every time.
 */
#include "internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

static const uint64_t first_address = (uint64_t)1 << 44;
static const uint64_t address_step = 512;

/* ---- making and freeing ------------------------------------------------ */

tk_launch *tkn_launch_new(tk_session *s, tk_function *f) {
  tk_launch *l = tk_calloc(&s->env, 1, sizeof *l);
  l->session = s; /* linked at once: a throw below must not lose it */
  l->next = s->launches;
  s->launches = l;
  tk_arena_init(&l->arena, &s->env);
  tk_arena_init(&l->answers, &s->env);
  tk_buf_init(&l->text, &s->env);
  l->fn = f;
  l->grid[0] = l->grid[1] = l->grid[2] = 1;
  for (int i = 0; i < TK_COMPILE_COUNT; i++)
    l->compile[i] = tk_compile_usual((tk_compile_option)i);
  tk_launch_options_usual(l->options);
  l->next_address = first_address;
  l->args = TK_NEWN(&l->arena, tk_arg, tk_func_nparams(f->ast) + 1);
  l->nargs = tk_func_nparams(f->ast);
  for (size_t i = 0; i < l->nargs; i++) {
    l->args[i].name = tk_param_name(tk_func_param(f->ast, i));
    tk_arena_init(&l->args[i].values, &s->env);
  }
  return l;
}

typedef struct new_call {
  tk_session *s;
  tk_function *f;
  tk_launch **out;
} new_call;

static void new_body(tk_env *e, void *ud) {
  new_call *c = ud;
  if (!c->f) {
    tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0}, "no function to run");
    tk_throw(e, TK_USAGE);
  }
  *c->out = tkn_launch_new(c->s, c->f);
}

tk_status tk_launch_new(tk_session *s, tk_function *f, tk_launch **out) {
  new_call c = {s, f, out};
  *out = NULL;
  tk_launch *before = s->launches;
  tk_status st = tk_session_guard(s, new_body, &c);
  if (st != TK_OK && s->launches != before) tk_launch_free(s->launches);
  return st;
}

static void forget_argument(tk_env *e, tk_launch *l, size_t i) {
  tk_free(e, l->args[i].owned, l->args[i].owned_bytes);
  tk_arena_free(&l->args[i].values);
  l->nargs--;
  memmove(&l->args[i], &l->args[i + 1], (l->nargs - i) * sizeof *l->args);
}

/* Drops arguments that a form has no parameters for: a compiler has put their
 * values into it.  What it has stands in the launch's order. */
static void keep_arguments_of(tk_env *e, tk_launch *l, const tk_ast *form) {
  size_t n = tk_func_nparams(form), at = 0;
  for (size_t i = 0; i < l->nargs && at < n; i++)
    at += !strcmp(tk_param_name(tk_func_param(form, at)), l->args[i].name);
  if (at < n) return;
  for (size_t i = 0; i < l->nargs;) {
    bool kept = i < n &&
                !strcmp(tk_param_name(tk_func_param(form, i)), l->args[i].name);
    if (kept)
      i++;
    else
      forget_argument(e, l, i);
  }
}

static void form_body(tk_env *e, void *ud) {
  new_call *c = ud;
  tk_launch *l = *c->out;
  const tk_ast *form = c->f->ast;
  if (c->f->takes_some) keep_arguments_of(e, l, form);
  bool same = tk_func_nparams(form) == l->nargs;
  for (size_t i = 0; same && i < l->nargs; i++)
    same = !strcmp(tk_param_name(tk_func_param(form, i)), l->args[i].name);
  if (!same) {
    tk_diag *d =
        tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                    "the form of %s has other parameters than the launch of %s",
                    c->f->item->name, l->fn->item->name);
    tk_diag_help(e, d, "give the form of that kernel, as 'tkdbg ir' prints it");
    tk_throw(e, TK_USAGE);
  }
  l->fn = c->f;
  l->unit = NULL;
}

tk_status tk_launch_take_form(tk_launch *l, tk_function *f) {
  new_call c = {l->session, f, &l};
  return tk_session_guard(l->session, form_body, &c);
}

void tk_launch_free(tk_launch *l) {
  if (!l) return;
  tk_env *e = &l->session->env;
  tk_launch **at = &l->session->launches;
  while (*at && *at != l) at = &(*at)->next;
  if (*at) *at = l->next;
  for (size_t i = 0; l->args && i < l->nargs; i++) {
    tk_free(e, l->args[i].owned, l->args[i].owned_bytes);
    tk_arena_free(&l->args[i].values);
  }
  for (size_t i = 0; i < l->extras.n; i++)
    tk_free(e, l->extras.items[i].owned, l->extras.items[i].owned_bytes);
  tk_buf_free(&l->text);
  tk_arena_free(&l->answers);
  tk_arena_free(&l->arena);
  tk_free(e, l, sizeof *l);
}

/* ---- what a run was asked ----------------------------------------------- */

void tk_launch_forget_answers(tk_launch *l) {
  tk_arena_free(&l->answers);
  memset(&l->blames, 0, sizeof l->blames);
  memset(&l->explanations, 0, sizeof l->explanations);
  memset(&l->pictures, 0, sizeof l->pictures);
  l->log = NULL;
  memset(&l->differences, 0, sizeof l->differences);
  l->divergence = NULL;
}

const tk_blame *tk_launch_blame(tk_launch *l, size_t i) {
  return i < l->blames.n ? &l->blames.items[i] : NULL;
}

const tk_explanation *tk_launch_explanation(tk_launch *l, size_t i) {
  return i < l->explanations.n ? &l->explanations.items[i] : NULL;
}

const tk_access_picture *tk_launch_access(tk_launch *l, size_t i) {
  return i < l->pictures.n ? &l->pictures.items[i] : NULL;
}

const tk_access_log *tk_launch_access_log(tk_launch *l) {
  return l->log;
}

const tk_difference *tk_launch_difference(tk_launch *l, size_t i) {
  return i < l->differences.n ? &l->differences.items[i] : NULL;
}

const tk_divergence *tk_launch_divergence(tk_launch *l) {
  return l->divergence;
}

/* ---- memory of tensors ------------------------------------------------- */

int64_t tkn_shape_lanes(tk_dtype d, int rank, const int64_t *shape) {
  int64_t limit = ((int64_t)1 << TKN_MAX_BYTES_SHIFT) / tk_dtypes[d].size;
  int64_t lanes = 1;
  for (int i = 0; i < rank; i++)
    if (shape[i] == 0) return 0;
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0 || lanes > limit / shape[i]) return -1;
    lanes *= shape[i];
  }
  return lanes;
}

void tkn_arg_own_bytes(tk_launch *l, tk_arg *arg, size_t bytes) {
  tk_env *e = &l->session->env;
  tk_free(e, arg->owned, arg->owned_bytes);
  arg->kind = TK_ARG_ABSENT;
  arg->owned = NULL;
  arg->owned_bytes = bytes ? bytes : 1; /* an empty tensor has an address */
  arg->owned = tk_calloc(e, 1, arg->owned_bytes);
}

static uint64_t take_address(tk_launch *l, uint64_t bytes) {
  uint64_t at = l->next_address;
  l->next_address += (bytes / address_step + 1) * address_step;
  return at;
}

void tkn_arg_layout(tk_launch *l, tk_arg *arg, tk_dtype d, int rank,
                    const int64_t *shape) {
  int64_t lanes = tkn_shape_lanes(d, rank, shape);
  size_t bytes = (size_t)lanes * tk_dtypes[d].size;
  tk_tensor *t = &arg->tensor;
  *t = (tk_tensor){.data = arg->owned, .dtype = d, .rank = rank};
  t->storage = arg->owned;
  t->storage_bytes = bytes;
  t->device_address = take_address(l, bytes);
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    t->shape[i] = shape[i];
    t->strides[i] = stride;
    if (lanes) stride *= shape[i]; /* else it could overflow */
  }
}

void tkn_arg_own(tk_launch *l, tk_arg *arg, tk_dtype d, int rank,
                 const int64_t *shape) {
  int64_t lanes = tkn_shape_lanes(d, rank, shape);
  tkn_arg_own_bytes(l, arg, (size_t)lanes * tk_dtypes[d].size);
  tkn_arg_layout(l, arg, d, rank, shape);
}

static bool mul_overflows(int64_t a, int64_t b, int64_t *out) {
  return __builtin_mul_overflow(a, b, out);
}

bool tkn_tensor_extent(const tk_tensor *t, int64_t *before, int64_t *after) {
  int64_t size = tk_dtypes[t->dtype].size, lo = 0, hi = size;
  *before = *after = 0;
  for (int i = 0; i < t->rank; i++)
    if (t->shape[i] == 0) return true;
  for (int i = 0; i < t->rank; i++) {
    int64_t reach;
    if (mul_overflows(t->shape[i] - 1, t->strides[i], &reach)) return false;
    if (mul_overflows(reach, size, &reach)) return false;
    int64_t *end = reach < 0 ? &lo : &hi;
    if (__builtin_add_overflow(*end, reach, end)) return false;
  }
  if (lo == INT64_MIN) return false;
  *before = -lo;
  *after = hi;
  return true;
}

/* ---- arguments --------------------------------------------------------- */

/* Few names are compared faster than a table of them is made. */
enum { FEW_ARGS = 16 };

static tk_arg *find_in_table(tk_launch *l, const char *param) {
  if (!l->arg_names.list.n)
    for (size_t i = 0; i < l->nargs; i++)
      tk_lookup_add(&l->arena, &l->arg_names, l->args[i].name, (int)i);
  int found = tk_lookup_find(&l->arg_names, param);
  return found < 0 ? NULL : &l->args[l->arg_names.list.items[found].number];
}

tk_arg *tkn_arg_find(tk_launch *l, const char *param) {
  if (l->nargs > FEW_ARGS) return find_in_table(l, param);
  for (size_t i = 0; i < l->nargs; i++)
    if (!strcmp(l->args[i].name, param)) return &l->args[i];
  return NULL;
}

static void TK_NORETURN bad_launch(tk_launch *l, const char *message) {
  tk_env *e = &l->session->env;
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%s", message);
  tk_throw(e, TK_USAGE);
}

tk_arg *tkn_arg_named(tk_launch *l, const char *param) {
  tk_arg *arg = tkn_arg_find(l, param);
  if (arg) return arg;
  tk_env *e = &l->session->env;
  tk_nearest near = tk_nearest_start(param);
  tk_buf_clear(&l->text);
  for (size_t i = 0; i < l->nargs; i++) {
    tk_nearest_try(&near, l->args[i].name);
    tk_buf_printf(&l->text, "%s%s", i ? ", " : "", l->args[i].name);
  }
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "kernel '%s' has no parameter '%s'",
                           l->fn->item->name, param);
  const char *best = tk_nearest_best(&near);
  if (best)
    tk_diag_help(e, d, "did you mean '%s'? (parameters: %s)", best,
                 tk_buf_str(&l->text));
  else
    tk_diag_help(e, d, "parameters: %s", tk_buf_str(&l->text));
  tk_throw(e, TK_USAGE);
}

/* What a caller may pass wrongly, said before anything is touched. */
static void check_tensor(tk_launch *l, const char *param, const tk_tensor *t) {
  tk_arena *a = &l->arena;
  const char *why = NULL;
  int64_t before, after;
  bool shape = t && (unsigned)t->dtype < TK_DTYPE_COUNT && t->rank >= 0 &&
               t->rank <= TK_MAX_RANK;
  for (int i = 0; shape && i < t->rank; i++) shape = t->shape[i] >= 0;
  if (!t)
    why = "no tensor given";
  else if (!shape)
    why = "an impossible dtype, rank or shape";
  else if (!tkn_tensor_extent(t, &before, &after))
    why = "strides that reach beyond any address";
  else if (!t->data && after > 0)
    why = "a tensor with elements but no memory";
  else if (t->storage && after > 0) {
    const char *lo = t->storage, *data = t->data;
    size_t room = t->storage_bytes, at = (size_t)(data - lo);
    if (data < lo || at > room || (size_t)before > at ||
        (size_t)after > room - at)
      why = "a view that does not lie within its storage";
  }
  if (why) bad_launch(l, tk_arena_printf(a, "argument '%s': %s", param, why));
}

typedef struct arg_call {
  tk_launch *l;
  const char *param;
  const tk_tensor *tensor;
  const tk_value *value;
  tk_dtype dtype;
  uint64_t bits;
} arg_call;

/* The memory that an argument had is no longer needed when it changes. */
static void drop_argument(tk_env *e, tk_arg *arg) {
  tk_free(e, arg->owned, arg->owned_bytes);
  arg->owned = NULL;
  arg->owned_bytes = 0;
  arg->kind = TK_ARG_ABSENT;
}

static void set_tensor(tk_env *e, void *ud) {
  arg_call *c = ud;
  tk_arg *arg = tkn_arg_named(c->l, c->param);
  check_tensor(c->l, c->param, c->tensor);
  drop_argument(e, arg);
  arg->tensor = *c->tensor;
  arg->kind = TK_ARG_TENSOR;
}

/* ---- values that hold tensors ------------------------------------------ */

static bool has_items(const tk_value *v) {
  return v->kind == TK_V_TUPLE || v->kind == TK_V_DESCRIPTOR;
}

void tkn_extra_add(tk_launch *l, const tk_arg *extra) {
  int number = (int)l->extras.n;
  TK_PUSH(&l->arena, &l->extras, *extra);
  tk_lookup_add(&l->arena, &l->extra_names, extra->name, number);
}

/* The number of the extra of this name, which is t from now on.  A tensor in a
 * value is one, named like "x[1][0]": what knows about extras (bounds, launch
 * files) then knows about it. */
static uint64_t keep_extra(tk_launch *l, const char *name, const tk_tensor *t) {
  check_tensor(l, name, t);
  tk_arg extra = {.name = name, .kind = TK_ARG_TENSOR, .tensor = *t};
  int found = tk_lookup_find(&l->extra_names, name);
  if (found >= 0) {
    int number = l->extra_names.list.items[found].number;
    tk_arg *old = &l->extras.items[number];
    extra.name = old->name;
    *old = extra;
    return (uint64_t)number;
  }
  extra.name = tk_arena_strdup(&l->arena, name);
  tkn_extra_add(l, &extra);
  return l->extras.n - 1;
}

/* v is a copy of the launch's own, in arena a. */
static void keep_parts(tk_launch *l, tk_arena *a, const char *name,
                       tk_value *v) {
  if (v->kind == TK_V_TENSOR) {
    v->lo = keep_extra(l, name, v->ptr);
    v->ptr = NULL;
  }
  for (size_t i = 0; has_items(v) && i < v->n; i++)
    keep_parts(l, a, tk_arena_printf(a, "%s[%zu]", name, i),
               (tk_value *)&v->items[i]);
}

static const char *descriptor_fault(const tk_value *v) {
  const tk_value *x = v->items;
  bool ok = v->n == 5 && x[0].kind == TK_V_TENSOR && x[4].kind == TK_V_STR;
  for (size_t i = 1; ok && i <= 3; i++)
    ok = x[i].kind == TK_V_TUPLE && x[i].n == x[1].n;
  for (size_t i = 0; ok && i < 3 * x[1].n; i++)
    ok = x[1 + i / x[1].n].items[i % x[1].n].kind == TK_V_INT;
  if (!ok) return "a descriptor is a tensor, three tuples of ints and a text";
  return x[1].n < 1 || x[1].n > 5 ? "a descriptor has 1 to 5 axes" : NULL;
}

const char *tkn_value_fault(const tk_launch *l, const tk_value *v) {
  if ((unsigned)v->kind >= TKN_VALUE_KINDS) return "no such kind of value";
  if (v->kind == TK_V_TENSOR && v->lo >= l->extras.n)
    return "a value names a tensor that the launch lacks";
  const char *why = v->kind == TK_V_DESCRIPTOR ? descriptor_fault(v) : NULL;
  for (size_t i = 0; !why && has_items(v) && i < v->n; i++)
    why = tkn_value_fault(l, &v->items[i]);
  return why;
}

static void set_value(tk_env *e, void *ud) {
  arg_call *c = ud;
  tk_arg *arg = tkn_arg_named(c->l, c->param);
  drop_argument(e, arg);
  tk_arena_free(&arg->values);
  tk_value v = tk_value_copy(&arg->values, c->value);
  keep_parts(c->l, &arg->values, arg->name, &v);
  const char *why = tkn_value_fault(c->l, &v);
  if (why)
    bad_launch(c->l, tk_arena_printf(&arg->values, "argument '%s': %s",
                                     c->param, why));
  arg->value = v;
  arg->kind = TK_ARG_VALUE;
}

static void set_scalar(tk_env *e, void *ud) {
  arg_call *c = ud;
  tk_arg *arg = tkn_arg_named(c->l, c->param);
  if ((unsigned)c->dtype >= TK_DTYPE_COUNT) bad_launch(c->l, "no such dtype");
  drop_argument(e, arg);
  arg->dtype = c->dtype;
  arg->bits = c->bits;
  arg->kind = TK_ARG_SCALAR;
}

static void set_no_specialize(tk_env *e, void *ud) {
  (void)e;
  arg_call *c = ud;
  tkn_arg_named(c->l, c->param)->no_specialize = true;
}

static void set_text(tk_env *e, void *ud) {
  (void)e;
  arg_call *c = ud;
  tkn_argument(c->l, c->param);
}

static void add_extra(tk_env *e, void *ud) {
  (void)e;
  arg_call *c = ud;
  keep_extra(c->l, c->param, c->tensor);
}

tk_status tk_launch_tensor(tk_launch *l, const char *param,
                           const tk_tensor *t) {
  arg_call c = {.l = l, .param = param, .tensor = t};
  return tk_session_guard(l->session, set_tensor, &c);
}

tk_status tk_launch_value(tk_launch *l, const char *param, const tk_value *v) {
  arg_call c = {.l = l, .param = param, .value = v};
  return tk_session_guard(l->session, set_value, &c);
}

tk_status tk_launch_scalar(tk_launch *l, const char *param, tk_dtype d,
                           uint64_t bits) {
  arg_call c = {.l = l, .param = param, .dtype = d, .bits = bits};
  return tk_session_guard(l->session, set_scalar, &c);
}

tk_status tk_launch_no_specialize(tk_launch *l, const char *param) {
  arg_call c = {.l = l, .param = param};
  return tk_session_guard(l->session, set_no_specialize, &c);
}

tk_status tk_launch_arg_text(tk_launch *l, const char *text) {
  arg_call c = {.l = l, .param = text};
  return tk_session_guard(l->session, set_text, &c);
}

tk_status tk_launch_extra(tk_launch *l, const char *name, const tk_tensor *t) {
  arg_call c = {.l = l, .param = name, .tensor = t};
  return tk_session_guard(l->session, add_extra, &c);
}

const tk_tensor *tk_launch_get_tensor(tk_launch *l, const char *param) {
  tk_arg *arg = tkn_arg_find(l, param);
  return arg && arg->kind == TK_ARG_TENSOR ? &arg->tensor : NULL;
}

/* ---- the grid ---------------------------------------------------------- */

/* CUDA's own limits: a launch beyond them fails there, so it does here. */
static const int64_t grid_max[3] = {INT32_MAX, 65535, 65535};
static const char *const axis_name[3] = {"x", "y", "z"};

typedef struct grid_call {
  tk_launch *l;
  int64_t grid[3];
  const char *text;
} grid_call;

void tkn_grid(tk_launch *l, const int64_t grid[3]) {
  tk_env *e = &l->session->env;
  for (int i = 0; i < 3; i++) {
    if (grid[i] >= 0 && grid[i] <= grid_max[i]) continue;
    tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                "grid axis %s is %lld; it may be 0 to %lld", axis_name[i],
                (long long)grid[i], (long long)grid_max[i]);
    tk_throw(e, TK_USAGE);
  }
  memcpy(l->grid, grid, sizeof l->grid);
}

static void set_grid(tk_env *e, void *ud) {
  (void)e;
  grid_call *c = ud;
  tkn_grid(c->l, c->grid);
  c->l->grid_given = true;
}

/* "97,2,1" or "(97, 2)" */
static void parse_grid(tk_env *e, void *ud) {
  grid_call *c = ud;
  tk_source *src =
      tk_source_new(&c->l->session->arena, "--grid", c->text, strlen(c->text));
  tkn_cursor at = {.env = e, .src = src, .id = TK_D_LAUNCH};
  bool paren = tkn_accept(&at, '(');
  int i = 0;
  do {
    if (i == 3)
      tkn_fail(&at, at.at, src->len, NULL, "a grid has at most three axes");
    c->grid[i] = tkn_int(&at, 0, grid_max[i], "the number of programs");
    i++;
  } while (tkn_accept(&at, ',') && !(paren && tkn_peek(&at) == ')'));
  if (paren) tkn_expect(&at, ')', "to close the grid");
  if (!tkn_at_end(&at))
    tkn_fail(&at, at.at, src->len, "a grid reads X[,Y[,Z]]: 97,2",
             "unexpected text after the grid");
  memcpy(c->l->grid, c->grid, sizeof c->grid);
  c->l->grid_given = true;
}

tk_status tk_launch_grid(tk_launch *l, int64_t x, int64_t y, int64_t z) {
  grid_call c = {l, {x, y, z}, NULL};
  return tk_session_guard(l->session, set_grid, &c);
}

tk_status tk_launch_grid_text(tk_launch *l, const char *text) {
  grid_call c = {l, {1, 1, 1}, text};
  return tk_session_guard(l->session, parse_grid, &c);
}

/* ---- of a launch -------------------------------------------------------- */

typedef struct option_call {
  tk_launch *l;
  const char *name;
  int64_t value;
  const char *text;
} option_call;

static void bad_option(tk_launch *l, const char *help,
                       const char *message) TK_NORETURN;
static void bad_option(tk_launch *l, const char *help, const char *message) {
  tk_env *e = &l->session->env;
  tk_diag *d =
      tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0}, "%s", message);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_USAGE);
}

static int need_option(tk_launch *l, const char *name) {
  int i = tk_launch_option_find(name);
  if (i >= 0) return i;
  tk_nearest near = tk_nearest_start(name);
  const tk_launch_option_info *o;
  for (size_t k = 0; (o = tk_launch_option_at(k)); k++)
    tk_nearest_try(&near, o->name);
  const char *best = tk_nearest_best(&near);
  bad_option(l,
             best ? tk_arena_printf(&l->arena, "did you mean %s?", best) : NULL,
             tk_arena_printf(&l->arena, "'%s' is not a launch option", name));
}

void tkn_launch_option(tk_launch *l, const char *name, int64_t value) {
  int i = need_option(l, name);
  const tk_launch_option_info *o = tk_launch_option_at((size_t)i);
  if (!tk_launch_option_fits(i, value))
    bad_option(l, NULL,
               tk_arena_printf(
                   &l->arena, "%s is %lld; it must be a %s from %lld to %lld",
                   name, (long long)value, o->power ? "power of two" : "number",
                   (long long)o->least, (long long)o->most));
  l->options[i] = value;
}

static void set_option(tk_env *e, void *ud) {
  option_call *c = ud;
  (void)e;
  tkn_launch_option(c->l, c->name, c->value);
}

tk_status tk_launch_option(tk_launch *l, const char *name, int64_t value) {
  option_call c = {.l = l, .name = name, .value = value};
  return tk_session_guard(l->session, set_option, &c);
}

static void read_option(tk_env *e, void *ud) {
  option_call *c = ud;
  (void)e;
  const char *equals = strchr(c->text, '=');
  char *end;
  if (!equals || !equals[1])
    bad_option(
        c->l, "as in num_stages=2",
        tk_arena_printf(&c->l->arena, "'%s' is not NAME=NUMBER", c->text));
  const char *name =
      tk_arena_strndup(&c->l->arena, c->text, (size_t)(equals - c->text));
  int64_t value = strtoll(equals + 1, &end, 10);
  need_option(c->l, name);
  if (*end)
    bad_option(c->l, "write a whole number: 1 for True, 0 for False",
               tk_arena_printf(&c->l->arena, "%s: '%s' is not a number", name,
                               equals + 1));
  tkn_launch_option(c->l, name, value);
}

tk_status tk_launch_option_text(tk_launch *l, const char *text) {
  option_call c = {.l = l, .text = text};
  return tk_session_guard(l->session, read_option, &c);
}

/* ---- how the kernel is compiled ----------------------------------------- */

static const struct {
  const char *name, *usual;
} compile_options[] = {
#define COMPILE(id, name, usual, doc) {name, usual},
#include "launch/compile.def"
#undef COMPILE
};

const char *tk_compile_name(tk_compile_option o) {
  return compile_options[o].name;
}

const char *tk_compile_usual(tk_compile_option o) {
  return compile_options[o].usual;
}

bool tk_compile_lists(const tk_launch *l, tk_compile_option o,
                      const char *item) {
  const char *list = l->compile[o];
  size_t n = strlen(item);
  for (const char *at = list; (at = strstr(at, item)); at += n) {
    bool begins = at == list || at[-1] == ',' || at[-1] == ' ';
    if (begins && (!at[n] || at[n] == ',')) return true;
  }
  return false;
}

void tkn_compile_option(tk_launch *l, const char *name, const char *value) {
  tk_env *e = &l->session->env;
  for (int i = 0; i < TK_COMPILE_COUNT; i++) {
    if (strcmp(compile_options[i].name, name)) continue;
    l->compile[i] = tk_arena_strdup(&l->arena, value);
    return;
  }
  tk_diag *d = tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                           "there is no compile option '%s'", name);
  tk_nearest near = tk_nearest_start(name);
  for (int i = 0; i < TK_COMPILE_COUNT; i++)
    tk_nearest_try(&near, compile_options[i].name);
  const char *best = tk_nearest_best(&near);
  if (best) tk_diag_help(e, d, "did you mean %s?", best);
  tk_throw(e, TK_USAGE);
}

typedef struct compile_call {
  tk_launch *l;
  const char *name, *value;
} compile_call;

static void set_compile_option(tk_env *e, void *ud) {
  compile_call *c = ud;
  (void)e;
  tkn_compile_option(c->l, c->name, c->value);
}

tk_status tk_launch_compile_option(tk_launch *l, const char *name,
                                   const char *value) {
  compile_call c = {l, name, value};
  return tk_session_guard(l->session, set_compile_option, &c);
}

/* ---- results ----------------------------------------------------------- */

static const tk_tensor *tensor_of(tk_launch *l, const char *param) {
  tk_arg *arg = tkn_arg_named(l, param);
  if (arg->kind == TK_ARG_TENSOR) return &arg->tensor;
  bad_launch(
      l, tk_arena_printf(&l->arena, "argument '%s' is not a tensor", param));
}

typedef struct save_call {
  tk_launch *l;
  const char *param, *path;
  const tk_tensor *tensor;
} save_call;

static void save_writer(tkn_writer *w, void *ud) {
  save_call *c = ud;
  tkn_npy_write(w, c->tensor);
}

static void save_body(tk_env *e, void *ud) {
  save_call *c = ud;
  if (c->l) c->tensor = tensor_of(c->l, c->param);
  tkn_with_writer(e, c->path, save_writer, c);
}

tk_status tk_tensor_save(tk_session *s, const tk_tensor *t, const char *path) {
  save_call c = {.path = path, .tensor = t};
  return tk_session_guard(s, save_body, &c);
}

tk_status tk_launch_save(tk_launch *l, const char *param, const char *path) {
  save_call c = {l, param, path, NULL};
  return tk_session_guard(l->session, save_body, &c);
}

static void print_body(tk_env *e, void *ud) {
  (void)e;
  save_call *c = ud;
  const tk_tensor *t = tensor_of(c->l, c->param);
  tk_array_view v = {.data = t->data, .dtype = t->dtype, .rank = t->rank};
  memcpy(v.shape, t->shape, sizeof v.shape);
  memcpy(v.strides, t->strides, sizeof v.strides);
  tk_buf *out = &c->l->text;
  tk_buf_clear(out);
  tk_buf_printf(out, "%s = ", c->param);
  tk_format_array(out, &v, (int)out->n, NULL);
  tk_buf_putc(out, '\n');
  tk_session *s = c->l->session;
  if (s->output) s->output(s->output_ud, out->s, out->n);
}

tk_status tk_launch_print(tk_launch *l, const char *param) {
  save_call c = {.l = l, .param = param};
  return tk_session_guard(l->session, print_body, &c);
}
