/* expect.c - what tensors should hold after a run.
 */
#include <string.h>

#include "internal.h"

typedef struct expect_call {
  tk_launch *l;
  const char *text; /* "C=@ref.npy"; NULL: */
  const char *param;
  const tk_tensor *tensor;
  tk_expected *out;
  double rtol, atol;
} expect_call;

/* Memory for the lanes of a tensor that has a type and a shape. */
static void lay_out(tk_arena *a, tk_tensor *t) {
  int64_t lanes = 1;
  for (int i = t->rank; i-- > 0; lanes *= t->shape[i]) t->strides[i] = lanes;
  t->data = tk_arena_alloc(a, (size_t)lanes * tk_dtypes[t->dtype].size);
}

static void load_expected(tkn_reader *r, void *ud) {
  expect_call *c = ud;
  tk_tensor *t = &c->out->lanes;
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

static void TK_NORETURN bad_expectation(tk_env *e, const char *text) {
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "--expect %s: a file was expected", text);
  tk_diag_help(e, d, "write NAME=@FILE.npy");
  tk_throw(e, TK_USAGE);
}

/* Reads the text into *x. */
static void read_expected(tk_env *e, expect_call *c, tk_expected *x) {
  const char *eq = strstr(c->text, "=@");
  if (!eq || eq == c->text || !eq[2]) bad_expectation(e, c->text);
  x->param = tk_arena_strndup(&c->l->arena, c->text, (size_t)(eq - c->text));
  c->out = x;
  tkn_with_reader(e, eq + 2, load_expected, c);
}

static void copy_expected(expect_call *c, tk_expected *x) {
  x->param = tk_arena_strdup(&c->l->arena, c->param);
  x->lanes = tkn_copy_tensor(&c->l->arena, c->tensor);
}

static void expect(tk_env *e, void *ud) {
  expect_call *c = ud;
  tk_expected x = {.rtol = c->rtol, .atol = c->atol};
  if (c->text)
    read_expected(e, c, &x);
  else
    copy_expected(c, &x);
  tk_arg *arg = tkn_arg_named(c->l, x.param);
  const tk_tensor *t = &arg->tensor;
  bool same = arg->kind == TK_ARG_TENSOR && t->rank == x.lanes.rank;
  for (int i = 0; same && i < t->rank; i++)
    same = t->shape[i] == x.lanes.shape[i];
  if (!same) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                arg->kind == TK_ARG_TENSOR
                    ? "the array expected of %s has another shape"
                    : "%s is not a tensor, so there is nothing to compare",
                x.param);
    tk_throw(e, TK_USAGE);
  }
  TK_PUSH(&c->l->arena, &c->l->expected, x);
}

tk_status tk_launch_expect(tk_launch *l, const char *text, double rtol,
                           double atol) {
  expect_call c = {.l = l, .text = text, .rtol = rtol, .atol = atol};
  return tk_session_guard(l->session, expect, &c);
}

tk_status tk_launch_expect_tensor(tk_launch *l, const char *param,
                                  const tk_tensor *expected, double rtol,
                                  double atol) {
  expect_call c = {
      .l = l, .param = param, .tensor = expected, .rtol = rtol, .atol = atol};
  return tk_session_guard(l->session, expect, &c);
}
