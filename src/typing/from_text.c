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
#include "ttir/ttir.h"
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
  tk_unit_free(e, f->units);
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

/* A unit whose program is that of a text; what fails on the way frees it. */
typedef struct reading_unit {
  tk_session *session;
  tk_source *src;
  tk_unit *unit;
  opening *opening; /* a module is made of it, too; or NULL */
} reading_unit;

static void read_program(tk_env *e, reading_unit *x) {
  tk_arena *keep = &x->session->arena;
  tk_unit *u = x->unit;
  tk_program *p = tkx_is_ttir(x->src) ? tkx_parse(e, keep, x->src)
                                      : tk_program_parse(e, keep, x->src);
  u->program = *p;
  for (size_t i = 0; i < u->program.nfuncs; i++)
    u->program.funcs[i]->program = &u->program;
  tk_free(e, p, sizeof *p);
  u->key = "";
}

static void fix(tk_function *f, tk_unit *u, tk_source *src) {
  TK_ASSERT(!f->units);
  f->units = u;
  f->fixed = true;
  f->form = src;
  f->takes_some = u->program.language == TK_LANGUAGE_TTIR;
  f->free_units = free_unit;
  tks_scope_text(f->module->session, u, f);
}

static void fill_unit(tk_env *e, void *ud) {
  reading_unit *x = ud;
  opening *o = x->opening;
  read_program(e, x);
  if (!o) return;
  tk_program *p = &x->unit->program;
  const char *header = header_text(x->session, &p->arena, p);
  tk_module *m;
  tk_status st =
      tk_module_open(x->session, o->name, header, strlen(header), &m);
  if (st == TK_OK) st = tk_function_named(m, p->kernel->name, o->out);
  if (st != TK_OK) tk_throw(e, st);
}

static tk_unit *read_unit(tk_env *e, tk_session *s, tk_source *src,
                          opening *o) {
  reading_unit x = {s, src, tk_calloc(e, 1, sizeof *x.unit), o};
  tk_program_init(&x.unit->program, e);
  tk_status st = tk_protect(e, fill_unit, &x);
  if (st == TK_OK) return x.unit;
  tk_unit_free(e, x.unit);
  tk_throw(e, st);
}

static void open_text(tk_env *e, void *ud) {
  opening *o = ud;
  tk_arena *keep = &o->session->arena;
  tk_source *src =
      tk_source_new(keep, tk_arena_strdup(keep, o->name),
                    tk_arena_strndup(keep, o->text, o->len), o->len);
  tk_unit *u = read_unit(e, o->session, src, o);
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
  tk_unit *u = read_unit(e, l->session, f->form, NULL);
  if (!fits_launch(l, &u->program)) {
    tk_unit_free(e, u);
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

/* Whether elements are what a form works on.  Integers of Triton's IR have no
 * sign. */
static bool elem_fits(const tk_program *p, tk_dtype d, tk_dtype wanted) {
  bool signless = p->language == TK_LANGUAGE_TTIR && d != TK_INT1 &&
                  tk_is_int(d) && tk_is_int(wanted);
  return d == wanted ||
         (signless && tk_dtypes[d].bits == tk_dtypes[wanted].bits);
}

/* Whether an argument, or the item of one, can be what the form takes. */
static bool value_fits(const tk_program *p, const tk_value *v,
                       const tk_type *t) {
  tk_dtype elem = (tk_dtype)t->elem;
  switch (v->kind) {
  case TK_V_TENSOR:
    return t->ptr == 1 &&
           elem_fits(p, ((const tk_tensor *)v->ptr)->dtype, elem);
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
static bool tensor_fits(const tk_program *form, const tk_tensor *x,
                        const tk_param *p) {
  const tk_type *t = &p->type;
  if (!p->item)
    return t->ptr == 1 && elem_fits(form, x->dtype, (tk_dtype)t->elem);
  return !t->ptr && tk_is_int((tk_dtype)t->elem) &&
         p->item <= 2 * (size_t)x->rank;
}

static bool arg_fits(const tk_program *form, const tk_arg *a,
                     const tk_param *p) {
  const tk_type *t = &p->type;
  switch (a->kind) {
  case TK_ARG_ABSENT: return false;
  case TK_ARG_TENSOR: return tensor_fits(form, &a->tensor, p);
  case TK_ARG_SCALAR:
    return !t->ptr && elem_fits(form, a->dtype, (tk_dtype)t->elem);
  case TK_ARG_VALUE:
    /* Items of tuples and descriptors were counted when the form was made;
     * those that are missing are zeros. */
    return a->value.kind == TK_V_TUPLE || a->value.kind == TK_V_DESCRIPTOR ||
           value_fits(form, &a->value, t);
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
      tk_bad_argument(
          e, "leave it out, or compile the kernel for another value",
          "the form was specialised for %s = %s", l->args[i].name, value);
  }
  for (size_t i = 0; i < p->nparams; i++) {
    const tk_arg *a = &l->args[p->params[i].arg];
    if (arg_fits(p, a, &p->params[i])) continue;
    tks s = {.env = e, .arena = &l->session->arena};
    tk_bad_argument(e, NULL, "the form takes %s for the parameter %s, %s",
                    tks_type_text(&s, &p->params[i].type), a->name,
                    a->kind == TK_ARG_ABSENT
                        ? "which is not given"
                        : "which was given something else");
  }
}
