/* expect.c - what tensors should hold after a run, and what they held when the
 * launch ran elsewhere.
 */
#include <string.h>

#include "internal.h"

typedef struct expect_call {
  tk_launch *l;
  const char *option; /* that gave the text */
  const char *text;   /* "C=@ref.npy", or "ref.npy"; NULL: */
  const char *file;   /* the part of it that names the file */
  const char *param;
  const tk_tensor *tensor;
  double rtol, atol;
  tk_tensor lanes; /* what was read or copied */
} expect_call;

/* Memory for the lanes of a tensor that has a type and a shape. */
static void lay_out(tk_arena *a, tk_tensor *t) {
  int64_t lanes = 1;
  for (int i = t->rank; i-- > 0; lanes *= t->shape[i]) t->strides[i] = lanes;
  t->data = tk_arena_alloc(a, (size_t)lanes * tk_dtypes[t->dtype].size);
}

static void load_array(tkn_reader *r, void *ud) {
  expect_call *c = ud;
  tk_tensor *t = &c->lanes;
  tkn_npy h;
  tkn_npy_header(r, &h);
  if (h.raw)
    tkn_file_fail(r->env, r->name,
                  "an array of void items has no values to compare with: save "
                  "it as float32");
  t->dtype = h.dtype;
  t->rank = h.rank;
  memcpy(t->shape, h.shape, sizeof t->shape);
  lay_out(&c->l->arena, t);
  tkn_npy_data(r, &h, t->data);
}

static void copy_lanes(const tk_tensor *from, const char *at, int axis,
                       char **to) {
  size_t size = tk_dtypes[from->dtype].size;
  if (axis == from->rank) {
    memcpy(*to, at, size);
    *to += size;
    return;
  }
  for (int64_t i = 0; i < from->shape[axis]; i++)
    copy_lanes(from, at + i * from->strides[axis] * (int64_t)size, axis + 1,
               to);
}

tk_tensor tkn_copy_tensor(tk_arena *a, const tk_tensor *t) {
  tk_tensor copy = *t;
  lay_out(a, &copy);
  char *to = copy.data;
  copy_lanes(t, t->data, 0, &to);
  return copy;
}

static void TK_NORETURN bad_text(tk_env *e, const expect_call *c) {
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "--%s %s: a file was expected", c->option, c->text);
  tk_diag_help(e, d, "write NAME=@FILE.npy");
  tk_throw(e, TK_USAGE);
}

static bool has_its_shape(const tk_arg *arg, const tk_tensor *lanes) {
  const tk_tensor *t = &arg->tensor;
  bool same = arg->kind == TK_ARG_TENSOR && t->rank == lanes->rank;
  for (int i = 0; same && i < t->rank; i++)
    same = t->shape[i] == lanes->shape[i];
  return same;
}

/* The one tensor that has the shape of a file's array. */
static const char *fitting(tk_env *e, expect_call *c) {
  const char *found = NULL;
  tk_buf *names = &c->l->text;
  size_t n = 0;
  tk_buf_clear(names);
  for (size_t i = 0; i < c->l->nargs; i++) {
    const tk_arg *arg = &c->l->args[i];
    if (!has_its_shape(arg, &c->lanes)) continue;
    tk_buf_printf(names, "%s%s", n++ ? ", " : "", arg->name);
    found = arg->name;
  }
  if (n == 1) return found;
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           n ? "--%s %s: several tensors have its shape: %s"
                             : "--%s %s: no tensor has its shape%s",
                           c->option, c->text, tk_buf_str(names));
  tk_diag_help(e, d, "write which one it is: NAME=@%s", c->text);
  tk_throw(e, TK_USAGE);
}

/* Reads the text's file and finds the tensor that it is of. */
static void read_given(tk_env *e, expect_call *c) {
  const char *eq = strstr(c->text, "=@");
  size_t n = strlen(c->text);
  bool bare = !eq && n > 4 && !strcmp(c->text + n - 4, ".npy");
  c->file = eq ? eq + 2 : c->text;
  if (eq ? eq == c->text || !*c->file : !bare) bad_text(e, c);
  tkn_with_reader(e, c->file, load_array, c);
  c->param =
      eq ? tk_arena_strndup(&c->l->arena, c->text, (size_t)(eq - c->text))
         : fitting(e, c);
}

/* Reads or copies the lanes of an argument. */
static void take_lanes(tk_env *e, expect_call *c) {
  if (c->text) {
    read_given(e, c);
  } else {
    c->param = tk_arena_strdup(&c->l->arena, c->param);
    c->lanes = tkn_copy_tensor(&c->l->arena, c->tensor);
  }
  const tk_arg *arg = tkn_arg_named(c->l, c->param);
  if (has_its_shape(arg, &c->lanes)) return;
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              arg->kind == TK_ARG_TENSOR
                  ? "the array expected of %s has another shape"
                  : "%s is not a tensor, so there is nothing to compare",
              c->param);
  tk_throw(e, TK_USAGE);
}

static void expect(tk_env *e, void *ud) {
  expect_call *c = ud;
  take_lanes(e, c);
  TK_PUSH(&c->l->arena, &c->l->expected,
          ((tk_expected){.param = c->param,
                         .lanes = c->lanes,
                         .rtol = c->rtol,
                         .atol = c->atol}));
}

tk_status tk_launch_expect(tk_launch *l, const char *text, double rtol,
                           double atol) {
  expect_call c = {
      .l = l, .option = "expect", .text = text, .rtol = rtol, .atol = atol};
  return tk_session_guard(l->session, expect, &c);
}

tk_status tk_launch_expect_tensor(tk_launch *l, const char *param,
                                  const tk_tensor *expected, double rtol,
                                  double atol) {
  expect_call c = {
      .l = l, .param = param, .tensor = expected, .rtol = rtol, .atol = atol};
  return tk_session_guard(l->session, expect, &c);
}

static void got(tk_env *e, void *ud) {
  expect_call *c = ud;
  take_lanes(e, c);
  for (size_t i = 0; i < c->l->expected.n; i++) {
    tk_expected *x = &c->l->expected.items[i];
    if (strcmp(x->param, c->param)) continue;
    x->got = c->lanes;
    x->where = tk_arena_strdup(&c->l->arena, c->file);
    return;
  }
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "--got %s: nothing is expected of %s, so that there "
                           "is nothing to compare it with",
                           c->text, c->param);
  tk_diag_help(e, d, "give --expect %s=@FILE.npy too", c->param);
  tk_throw(e, TK_USAGE);
}

tk_status tk_launch_got(tk_launch *l, const char *text) {
  expect_call c = {.l = l, .option = "got", .text = text};
  return tk_session_guard(l->session, got, &c);
}
