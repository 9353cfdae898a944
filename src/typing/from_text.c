/* from_text.c - a kernel whose typed form is given as text.
 *
 * The text becomes a function like any other: a header that names its
 * parameters is opened as a module, and the program is the only unit that the
 * function will ever have.  A launch of it is checked against the types that
 * the form was made for; nothing is specialised.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/view.h"
#include "typing/origin.h"
#include "typing/walk.h"

/* ---- opening ------------------------------------------------------------ */

typedef struct opening {
  tk_session *session;
  const char *name, *text;
  size_t len;
  tk_function **out;
} opening;

static void free_unit(tk_env *e, tk_function *f) {
  tk_unit *u = f->units;
  tk_arena_free(&u->program.arena);
  tk_free(e, u, sizeof *u);
  f->units = NULL;
}

/* def NAME(a, b: constexpr): pass, below a line that makes it a module of its
 * own: the same text opened twice is two functions. */
static const char *header_text(tk_session *s, tk_arena *a,
                               const tk_program *p) {
  size_t n = 0;
  for (const tk_module *m = s->modules; m; m = m->next) n++;
  const char *text = tk_arena_printf(a, "# form %zu\n@triton.jit\ndef %s(", n,
                                     p->kernel->name);
  for (size_t i = 0; i < p->nargs; i++)
    text = tk_arena_printf(a, "%s%s%s%s", text, i ? ", " : "", p->args[i].name,
                           p->args[i].value ? ": tl.constexpr" : "");
  return tk_arena_printf(a, "%s):\n    pass\n", text);
}

static tk_unit *read_unit(tk_env *e, tk_session *s, const tk_source *src) {
  tk_program *p = tk_program_parse(e, &s->arena, src);
  tk_unit *u = tk_calloc(e, 1, sizeof *u);
  u->program = *p;
  for (size_t i = 0; i < u->program.nfuncs; i++)
    u->program.funcs[i]->program = &u->program;
  tk_free(e, p, sizeof *p);
  u->key = "";
  return u;
}

static void drop_unit(tk_env *e, tk_unit *u) {
  tk_arena_free(&u->program.arena);
  tk_free(e, u, sizeof *u);
}

static void fix(tk_function *f, tk_unit *u, const tk_source *src) {
  TK_ASSERT(!f->units);
  f->units = u;
  f->fixed = true;
  f->form = src;
  f->free_units = free_unit;
  tks_scope_text(f->module->session, u, f);
}

static void open_text(tk_env *e, void *ud) {
  opening *o = ud;
  tk_session *s = o->session;
  tk_arena *keep = &s->arena;
  tk_source *src =
      tk_source_new(keep, tk_arena_strdup(keep, o->name),
                    tk_arena_strndup(keep, o->text, o->len), o->len);
  tk_unit *u = read_unit(e, s, src);
  const char *header = header_text(s, &u->program.arena, &u->program);
  tk_module *m;
  tk_status st = tk_module_open(s, o->name, header, strlen(header), &m);
  if (st == TK_OK) st = tk_function_named(m, u->program.kernel->name, o->out);
  if (st != TK_OK) {
    drop_unit(e, u);
    tk_throw(e, st);
  }
  fix(*o->out, u, src);
}

/* Whether a form's parameters are those of the launch. */
static bool fits_launch(const tk_launch *l, const tk_program *p) {
  bool fits = p->nargs == l->nargs;
  for (size_t i = 0; fits && i < p->nargs; i++)
    fits = !strcmp(p->args[i].name, l->args[i].name);
  return fits;
}

void tks_read_form(tk_env *e, tk_launch *l) {
  tk_function *f = l->fn;
  tk_unit *u = read_unit(e, l->session, f->form);
  if (!fits_launch(l, &u->program)) {
    drop_unit(e, u);
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "the form of the launch file has other parameters than its "
                "kernel");
    tk_throw(e, TK_USAGE);
  }
  fix(f, u, f->form);
}

tk_status tk_ir_open(tk_session *s, const char *name, const char *text,
                     size_t len, tk_function **out) {
  opening o = {s, name, text, len, out};
  *out = NULL;
  return tk_session_guard(s, open_text, &o);
}

const tk_ir *tk_function_form(tk_function *f) {
  const tk_unit *u = f->fixed ? f->units : NULL;
  return u ? tk_program_view(&u->program) : NULL;
}

/* ---- launches ----------------------------------------------------------- */

static void bad_argument(tk_env *e, const char *help, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
static void bad_argument(tk_env *e, const char *help, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_USAGE);
}

/* Whether an argument, or the item of one, can be what the form takes. */
static bool value_fits(const tk_value *v, const tk_type *t) {
  switch (v->kind) {
  case TK_V_TENSOR:
    return t->ptr == 1 && ((const tk_tensor *)v->ptr)->dtype == t->elem;
  case TK_V_BOOL: return !t->ptr && t->elem == TK_INT1;
  case TK_V_INT: return !t->ptr;
  case TK_V_FLOAT: return !t->ptr && tk_is_float((tk_dtype)t->elem);
  case TK_V_NONE:
  case TK_V_STR:
  case TK_V_DTYPE:
  case TK_V_TUPLE:
  case TK_V_FUNCTION:
  case TK_V_BUILTIN:
  case TK_V_OBJECT:
  case TK_V_DESCRIPTOR: break;
  }
  return false;
}

/* Of a tensor a form takes the address, and each length and stride. */
static bool tensor_fits(const tk_tensor *x, const tk_param *p) {
  const tk_type *t = &p->type;
  if (!p->item) return t->ptr == 1 && x->dtype == t->elem;
  return !t->ptr && tk_is_int((tk_dtype)t->elem) &&
         p->item <= 2 * (size_t)x->rank;
}

static bool arg_fits(const tk_arg *a, const tk_param *p) {
  const tk_type *t = &p->type;
  switch (a->kind) {
  case TK_ARG_ABSENT: return false;
  case TK_ARG_TENSOR: return tensor_fits(&a->tensor, p);
  case TK_ARG_SCALAR: return !t->ptr && a->dtype == t->elem;
  case TK_ARG_VALUE:
    /* Items of tuples and descriptors were counted when the form was made;
     * those that are missing are zeros. */
    return a->value.kind == TK_V_TUPLE || a->value.kind == TK_V_DESCRIPTOR ||
           value_fits(&a->value, t);
  }
  return false;
}

/* Whether a value is the one that the form was specialised for. */
static bool is_same_value(tk_env *e, const tk_launch *l, const tk_arg *a,
                          const char *value) {
  if (a->kind != TK_ARG_VALUE) return false;
  tk_unit *u = l->fn->units;
  tks s = {
      .env = e, .arena = &u->program.arena, .ops = tks_table_of(l->session)};
  sval v = sv_from_value(&s, &a->value);
  return !strcmp(tks_known_text(&s, &v), value);
}

void tks_check_fixed(tk_env *e, const tk_launch *l, const tk_program *p) {
  for (size_t i = 0; i < p->nargs; i++) {
    const char *value = p->args[i].value;
    if (value && l->args[i].kind != TK_ARG_ABSENT &&
        !is_same_value(e, l, &l->args[i], value))
      bad_argument(e, "leave it out, or compile the kernel for another value",
                   "the form was specialised for %s = %s", l->args[i].name,
                   value);
  }
  for (size_t i = 0; i < p->nparams; i++) {
    const tk_arg *a = &l->args[p->params[i].arg];
    if (arg_fits(a, &p->params[i])) continue;
    tks s = {.env = e, .arena = &l->session->arena};
    bad_argument(e, NULL, "the form takes %s for the parameter %s, %s",
                 tks_type_text(&s, &p->params[i].type), a->name,
                 a->kind == TK_ARG_ABSENT ? "which is not given"
                                          : "which was given something else");
  }
}
