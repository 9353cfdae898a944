/* code.c - the calls of debugger.h that tell of the code of a launch: its
 * functions, their statements and variables, and the texts they come from.
 */
#include <ctype.h>
#include <string.h>

#include "debug/api.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/value.h"
#include "ir/view.h"
#include "typing/state.h"

const tk_ir *tk_debug_form(const tk_debug *d) {
  return d->t ? tk_program_view(d->t->program) : NULL;
}

/* ---- statements -------------------------------------------------------- */

typedef struct code_listing {
  tkd *d;
  const tk_func *f;
  tk_debug_statement *statements;
  size_t nstatements;
  TK_VEC(tk_debug_local) variables;
  bool *is_listed;         /* by slot */
  const tk_binding *scope; /* of the statement before */
} code_listing;

static bool count_statement(void *ud, const tk_at *at) {
  (void)at;
  ++*(size_t *)ud;
  return true;
}

static void list_body(code_listing *x, const tk_body *b, int depth) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    x->statements[x->nstatements++] =
        (tk_debug_statement){.id = st->id,
                             .kind = tk_stmt_kind_view(st),
                             .place = tk_place_of(x->f->src, st->span),
                             .depth = depth,
                             .calls = tkd_calls_until(x->f, st, NULL)};
    list_body(x, &st->body, depth + 1);
    list_body(x, &st->orelse, depth + 1);
  }
}

/* ---- variables --------------------------------------------------------- */

/* "t.0.x" of the form as expressions write it: "t[0].x". */
static const char *name_of_slot(tkd *d, const char *name) {
  size_t n = strlen(name), k = 0;
  char *text = tk_arena_alloc(&d->answers.arena, 2 * n + 1);
  for (size_t i = 0; i < n;) {
    bool item = name[i] == '.' && isdigit((unsigned char)name[i + 1]);
    text[k++] = item ? '[' : name[i];
    i++;
    while (item && isdigit((unsigned char)name[i])) text[k++] = name[i++];
    if (item) text[k++] = ']';
  }
  return text;
}

static tk_debug_local *add_local(code_listing *x, const char *name,
                                 tk_variable_kind kind, size_t statement) {
  tk_debug_local v = {
      .name = name, .kind = kind, .value = -1, .statement = statement};
  TK_PUSH(&x->d->answers.arena, &x->variables, v);
  return &x->variables.items[x->variables.n - 1];
}

static void add_slot(code_listing *x, int slot, tk_variable_kind kind,
                     size_t statement) {
  const tk_slot *s = &x->f->slots[slot];
  if (!s->name || x->is_listed[slot]) return;
  x->is_listed[slot] = true;
  tk_debug_local *v =
      add_local(x, name_of_slot(x->d, s->name), kind, statement);
  v->type = tk_type_view(&s->type);
  v->value = slot;
}

static bool is_listed_name(const code_listing *x, const char *name) {
  for (size_t i = 0; i < x->variables.n; i++)
    if (!strcmp(x->variables.items[i].name, name)) return true;
  return false;
}

/* A name that stands for what is known without running; others are slots. */
static void add_known(code_listing *x, const tk_stmt *st, const char *name,
                      size_t statement) {
  tkd *d = x->d;
  size_t before = d->env->ndiags;
  if (is_listed_name(x, name)) return;
  tki_frame frame = tkd_frame_before(d, x->f, st);
  tki_eval *value = tkd_compile(d, &frame, name);
  tk_diag_truncate(d->env, before);
  if (value && value->known) {
    tk_arena *a = &d->answers.arena;
    add_local(x, tk_arena_strdup(a, name), TK_VARIABLE_CONSTEXPR, statement)
        ->known = tk_arena_strdup(a, value->known);
  }
  tki_eval_free(value);
}

/* Whether the slot is the parameter, or an item of it. */
static bool is_of_parameter(const tk_slot *s, const char *name) {
  size_t n = strlen(name);
  return s->name && !strncmp(s->name, name, n) &&
         (!s->name[n] || s->name[n] == '.');
}

static void list_parameters(code_listing *x) {
  const tk_func *f = x->f;
  tk_function *fn = tk_func_origin(f);
  const tk_stmt *first = f->body.n ? f->body.items[0] : NULL;
  for (size_t i = 0; fn && i < tk_function_param_count(fn); i++) {
    const char *name = tk_function_param_name(fn, i);
    for (size_t k = 0; k < f->nparams; k++)
      if (is_of_parameter(&f->slots[f->params[k]], name))
        add_slot(x, f->params[k], TK_VARIABLE_ARGUMENT, TK_DEBUG_NO_STATEMENT);
    if (first) add_known(x, first, name, TK_DEBUG_NO_STATEMENT);
  }
  for (size_t k = 0; k < f->nparams; k++)
    add_slot(x, f->params[k], TK_VARIABLE_ARGUMENT, TK_DEBUG_NO_STATEMENT);
}

static bool list_results(void *ud, const tk_at *at, const tk_inst *in) {
  for (int i = 0; i < in->nres; i++)
    add_slot(ud, in->res[i], TK_VARIABLE_LOCAL, at->stmt->id);
  return true;
}

static void add_window(code_listing *x, const tk_binding *b, size_t statement) {
  tk_variable_kind kind =
      b->v.kind == V_DESC ? TK_VARIABLE_DESCRIPTOR : TK_VARIABLE_BLOCK_POINTER;
  if (is_listed_name(x, b->name)) return;
  const char *name = tk_arena_strdup(&x->d->answers.arena, b->name);
  add_local(x, name, kind, statement)->type = tk_type_view(&b->v.type);
}

/* Names known before a statement that were not known before the last one. */
static bool list_scope(void *ud, const tk_at *at) {
  code_listing *x = ud;
  const tk_binding *scope = tk_stmt_scope(x->f, at->stmt);
  if (at->stmt->kind == TK_S_FOR)
    add_slot(x, at->stmt->iv, TK_VARIABLE_LOCAL, at->stmt->id);
  for (const tk_binding *b = scope; b && b != x->scope; b = b->prev)
    if (b->v.kind == V_BLOCKPTR || b->v.kind == V_DESC)
      add_window(x, b, at->stmt->id);
    else if (!sv_is_tensor(&b->v))
      add_known(x, at->stmt, b->name, at->stmt->id);
  x->scope = scope;
  return true;
}

/* ---- functions --------------------------------------------------------- */

static tk_debug_function describe_function(tkd *d, const tk_func *f) {
  tk_arena *a = &d->answers.arena;
  size_t n = 0;
  tk_walk_func(f, &(tk_walk){.ud = &n, .stmt = count_statement});
  code_listing x = {.d = d,
                    .f = f,
                    .statements = TK_NEWN(a, tk_debug_statement, n + 1),
                    .is_listed = tk_temp_bytes(&d->mem, f->nslots)};
  list_body(&x, &f->body, 0);
  TK_ASSERT(x.nstatements == n);
  list_parameters(&x);
  tk_walk_func(f,
               &(tk_walk){.ud = &x, .stmt = list_scope, .inst = list_results});
  return (tk_debug_function){.id = f->id,
                             .name = f->name,
                             .is_kernel = f == d->t->program->kernel,
                             .place = tk_place_of(f->src, f->span),
                             .last_line = tkd_last_line(f),
                             .statements = x.statements,
                             .nstatements = n,
                             .variables = x.variables.items,
                             .nvariables = x.variables.n};
}

typedef struct functions_asked {
  tk_debug_function *list;
  size_t n;
} functions_asked;

static void list_functions(tkd *d, void *ud) {
  functions_asked *a = ud;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  const tk_program *p = d->t->program;
  a->list = TK_NEWN(&d->answers.arena, tk_debug_function, p->nfuncs);
  a->list[a->n++] = describe_function(d, p->kernel);
  for (size_t i = 0; i < p->nfuncs; i++)
    if (p->funcs[i] != p->kernel && !p->funcs[i]->library)
      a->list[a->n++] = describe_function(d, p->funcs[i]);
}

tk_status tk_debug_functions(tk_debug *d, const tk_debug_function **list,
                             size_t *n) {
  functions_asked a = {0};
  tk_status st = tkd_guard(d, list_functions, &a);
  *list = st == TK_OK ? a.list : NULL;
  *n = st == TK_OK ? a.n : 0;
  return st;
}

/* ---- sources ----------------------------------------------------------- */

/* Of a kernel that was given as the text of its form: the sources are in it. */
static const tk_source *find_in_form(const tkd *d, const char *name) {
  const tk_program *p = d->t ? d->t->program : NULL;
  for (size_t i = 0; p && i < p->nfuncs; i++)
    if (!strcmp(p->funcs[i]->src->name, name)) return p->funcs[i]->src;
  return NULL;
}

/* Modules are newest first; the i-th that was opened, without ours, or the
 * newest one of a name. */
static const tk_source *find_source(const tkd *d, size_t i, const char *name) {
  size_t n = 0;
  const tk_source *s;
  for (const tk_module *m = d->session->modules; m; m = m->next) {
    s = m->file->src;
    if (name && !strcmp(s->name, name)) return s;
    n += !tks_is_library(s);
  }
  if (name) return find_in_form(d, name);
  if (i >= n) return NULL;
  for (const tk_module *m = d->session->modules; m; m = m->next)
    if (!tks_is_library(m->file->src) && --n == i) return m->file->src;
  return NULL;
}

static bool describe_source(const tk_source *s, tk_debug_source *out) {
  if (s) *out = (tk_debug_source){s->name, s->text, s->len};
  return s != NULL;
}

bool tk_debug_source_at(const tk_debug *d, size_t i, tk_debug_source *out) {
  return describe_source(find_source(d, i, NULL), out);
}

bool tk_debug_source_named(const tk_debug *d, const char *file,
                           tk_debug_source *out) {
  return describe_source(find_source(d, 0, file), out);
}
