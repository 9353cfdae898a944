/* eval.c - expressions for the debugger; see eval.h.
 *
 * The specialiser does the work.  Names that only a debugger knows are bound
 * underneath the program's own variables; instructions that turn out not to
 * be needed (an address of every tensor, say) are dropped afterwards.
 */
#include "typing/eval.h"

#include <string.h>

#include "launch/areas.h"
#include "typing/ask_parts.h"
#include "typing/walk.h"

/* ---- the scope ---------------------------------------------------------- */

/* A name that the debugger adds, unless the kernel has one like it. */
static void bind_added(tks *s, const char *name, const sval *v) {
  if (!tks_binding_of(s, name)) tks_bind(s, name, v);
}

static void bind_tensors(tks *s) {
  const tk_launch *l = s->launch;
  s->tensors = TK_NEWN(s->arena, int, l->nargs + 1);
  for (size_t i = 0; i < l->nargs; i++) {
    const tk_tensor *x = &l->args[i].tensor;
    if (l->args[i].kind != TK_ARG_TENSOR) continue;
    sval p =
        tks_const(s, tk_pointer(tk_scalar(x->dtype)), tk_tensor_address(x));
    s->tensors[i] = p.slot + 1;
    bind_added(s, l->args[i].name, &p);
  }
}

static void bind_places(tks *s, tk_eval *x) {
  static const char *const names[] = {"pid_0", "pid_1", "pid_2"};
  sval pid[3], grid[3];
  for (int i = 0; i < 3; i++) {
    x->places[i] = tks_slot(s, tk_scalar(TK_INT32), NULL);
    pid[i] = sv_tensor(tk_scalar(TK_INT32), x->places[i]);
    grid[i] = sv_int(s->launch->grid[i]);
    bind_added(s, names[i], &pid[i]);
  }
  x->places[3] = tks_slot(s, tk_scalar(TK_INT64), NULL);
  sval trip = sv_tensor(tk_scalar(TK_INT64), x->places[3]);
  sval all = sv_tuple(s, pid, 3), size = sv_tuple(s, grid, 3);
  sval tl = {.kind = V_MODULE, .s = "tl", .n = 2};
  bind_added(s, "pid", &all);
  bind_added(s, "grid", &size);
  bind_added(s, "trip", &trip);
  bind_added(s, "tl", &tl);
}

/* The module of the language that the kernel was written in. */
static void bind_module(tks *s, const tk_func *f) {
  tk_language l = f ? f->program->language : TK_LANGUAGE_TRITON;
  const char *name = tk_language_name(l);
  sval module = {.kind = V_MODULE, .s = name, .n = strlen(name)};
  if (tk_language_module(l)) bind_added(s, tk_language_module(l), &module);
}

/* ---- what is not needed ------------------------------------------------- */

static void need(const tk_inst *in, uint8_t *needed) {
  for (int k = 0; k < in->nargs; k++) needed[in->args[k]] = 1;
  for (int b = 0; b < 2; b++)
    for (size_t i = 0; i < in->body[b].n; i++)
      need(in->body[b].items[i], needed);
}

static void drop_unused(tk_insts *l, uint8_t *needed) {
  size_t keep = l->n;
  for (size_t i = l->n; i-- > 0;) {
    tk_inst *in = l->items[i];
    bool used = in->op == TK_I_CALL;
    for (int k = 0; k < in->nres; k++) used |= needed[in->res[k]];
    if (!used) continue;
    need(in, needed);
    l->items[--keep] = in;
  }
  l->items += keep;
  l->n -= keep;
}

/* Only what changes nothing may be evaluated. */
static void check_pure(tks *s, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    s->frame->at = in->span;
    bool control = in->op == TK_I_CALL || in->op == TK_I_COND;
    tk_effect effect = tk_inst_effect(in);
    if (effect == TK_EFFECT_WRITES || (effect == TK_EFFECT_CONTROL && !control))
      tks_error(s, TK_D_UNSUPPORTED,
                "an expression may not write memory, print or stop");
    check_pure(s, &in->body[0]);
    check_pure(s, &in->body[1]);
  }
}

static void check_body(tks *s, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    check_pure(s, &b->items[i]->insts);
    check_body(s, &b->items[i]->body);
    check_body(s, &b->items[i]->orelse);
  }
}

/* ---- compiling ---------------------------------------------------------- */

typedef struct job {
  const tk_eval_where *w;
  const char *text;
  tk_eval *x;
} job;

/* Its text must outlive what is said about it. */
static tk_func *func_new(tks *s, const tk_eval_where *w, const char *text) {
  const tk_source *src = tk_source_new(&w->launch->session->arena, "expression",
                                       text, strlen(text));
  tk_func *f = tks_func_new(s, tk_func_origin(w->func), "expression", src);
  f->nslots = f->cap_slots = w->func->nslots;
  f->slots = TK_NEWN(s->arena, tk_slot, f->nslots + 1);
  if (f->nslots) memcpy(f->slots, w->func->slots, f->nslots * sizeof *f->slots);
  f->named = tk_lookup_lend(&w->func->named);
  return f;
}

static sval fit(tks *s, const sval *v, const tk_type *want) {
  sval r = tks_to_tensor(s, v);
  if (r.type.ptr != want->ptr)
    tks_error(s, TK_D_TYPE, "%s cannot be made from %s", tks_type_text(s, want),
              tks_show(s, v));
  r = tks_cast(s, &r, tk_elem_of(*want), false);
  return tks_broadcast(s, &r, want);
}

/* ---- results ------------------------------------------------------------ */

/* A type as it is declared, "fp32[8, 4]", "(int32, fp32[8])". */
static void put_kind(tks *s, tk_buf *b, const sval *v) {
  bool window = v->kind == V_BLOCKPTR || v->kind == V_DESC;
  if (v->kind == V_TENSOR || window) {
    if (window)
      tk_buf_puts(b, v->kind == V_DESC ? "descriptor<" : "block_ptr<");
    tk_type_declare(b, &v->type);
    if (window) tk_buf_putc(b, '>');
  } else if (sv_runtime(v)) {
    if (v->kind == V_INSTANCE) tk_buf_puts(b, v->object->class->name);
    for (size_t i = 0; i < v->n; i++) {
      tk_buf_puts(b, i ? ", " : "(");
      put_kind(s, b, &v->items[i]);
    }
    tk_buf_puts(b, v->n == 1 ? ",)" : ")");
  } else {
    tk_buf_puts(b, "constexpr = ");
    tks_text(s, b, v, true);
  }
}

/* Text in a buffer that goes when the expression does, however this ends. */
static const char *kind_text(tks *s, tk_eval *x, const sval *v) {
  tk_buf_clear(&x->scratch);
  put_kind(s, &x->scratch, v);
  return tk_arena_strdup(s->arena, tk_buf_str(&x->scratch));
}

static const char *known_text(tks *s, tk_eval *x, const sval *v) {
  tk_buf_clear(&x->scratch);
  tks_text(s, &x->scratch, v, true);
  return tk_arena_strdup(s->arena, tk_buf_str(&x->scratch));
}

static void add_part(tks *s, tk_eval *x, tk_eval_part part) {
  TK_PUSH(s->arena, &x->parts, part);
}

/* Values inside a line that another one began; between: what stands there. */
static void add_list(tks *s, tk_eval *x, const char *between, const char *name,
                     const sval *v, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tk_eval_part p = {.item = tk_arena_printf(s->arena, ".%s[%zu]", name, i),
                      .before = ", "};
    if (!i) p.before = tk_arena_printf(s->arena, "%s%s [", between, name);
    if (v[i].kind != V_TENSOR) p.known = known_text(s, x, &v[i]);
    add_part(s, x, p);
  }
}

/* "descriptor<fp32[4, 8]> = &y, shape [29, 8], strides [8, 1]" */
static void add_window(tks *s, tk_eval *x, const char *path, const sval *v) {
  size_t rank = v->type.rank;
  add_part(s, x,
           (tk_eval_part){.path = path,
                          .before = tk_arena_printf(
                              s->arena, "%s = ", kind_text(s, x, v))});
  add_list(s, x, ", ", "shape", v->items + 1, rank);
  add_list(s, x, "], ", "strides", v->items + 1 + rank, rank);
  if (v->kind == V_BLOCKPTR)
    add_list(s, x, "], ", "offsets", v->items + 1 + 2 * rank, rank);
  add_part(s, x, (tk_eval_part){.before = "]", .known = ""});
}

static void add_parts(tks *s, tk_eval *x, const char *path, const sval *v) {
  const char *name = v->kind == V_TUPLE ? v->s : NULL;
  if (v->kind == V_BLOCKPTR || v->kind == V_DESC) {
    add_window(s, x, path, v);
  } else if (!sv_runtime(v)) {
    add_part(s, x, (tk_eval_part){.path = path, .known = known_text(s, x, v)});
  } else if (v->kind == V_TENSOR) {
    add_part(s, x, (tk_eval_part){.path = path});
  } else {
    for (size_t i = 0; i < v->n; i++) {
      int n = name ? (int)strcspn(name, ",") : 0;
      const char *below =
          v->kind == V_INSTANCE ? tks_part_name(s, v, path, i)
          : n ? tk_arena_printf(s->arena, "%s.%.*s", path, n, name)
              : tk_arena_printf(s->arena, "%s[%zu]", path, i);
      if (name) name += (size_t)n + (name[n] == ',');
      add_parts(s, x, below, &v->items[i]);
    }
  }
}

static void take_result(tks *s, tk_eval *x, const sval *v) {
  x->type = kind_text(s, x, v);
  if (!sv_runtime(v)) {
    x->known = known_text(s, x, v);
    return;
  }
  sval *leaves = TK_NEWN(s->arena, sval, tks_leaves(v, NULL) + 1);
  x->n = tks_leaves(v, leaves);
  x->types = TK_NEWN(s->arena, tk_type, x->n + 1);
  x->slots = TK_NEWN(s->arena, int, x->n + 1);
  for (size_t i = 0; i < x->n; i++) {
    x->types[i] = leaves[i].type;
    x->slots[i] = leaves[i].slot;
  }
  add_parts(s, x, "", v);
}

/* Its parameters: the variables that it reads, then where it is. */
static void list_params(tks *s, tk_eval *x, const uint8_t *needed) {
  tk_func *f = x->func;
  f->params = TK_NEWN(s->arena, int, x->nframe + TK_EVAL_PLACES);
  for (size_t i = 0; i < x->nframe; i++)
    if (needed[i]) f->params[x->nreads++] = (int)i;
  f->nparams = x->nreads;
  for (int i = 0; i < TK_EVAL_PLACES; i++)
    f->params[f->nparams++] = x->places[i];
}

static sval typed_value(tks *s, job *j) {
  const tk_source *src = j->x->func->src;
  tk_ast *tree = tk_parse_expr(s->env, s->arena, (tk_source *)src);
  if (!tree) tk_throw(s->env, TK_USAGE);
  s->frame->at = tree->span;
  sval v = tks_expr(s, tree);
  return j->w->want ? fit(s, &v, j->w->want) : v;
}

static void compile_text(tks *s, job *j) {
  tk_eval *x = j->x;
  tk_func *f = x->func;
  tk_stmt *st = tk_stmt_new(s->program, TK_S_RETURN, (tk_span){0, 0});
  TK_PUSH(s->arena, &s->origin->scopes, NULL);
  TK_PUSH(s->arena, &f->body, st);
  tks_emit_to(s, &st->insts);
  s->frame->scope = j->w->scope; /* bindings never change: newer ones hide */
  bind_places(s, x);
  bind_module(s, j->w->func);
  bind_tensors(s);
  sval v = typed_value(s, j);
  take_result(s, x, &v);
  st->results = x->slots;
  st->nresults = f->nresults = x->n;
  f->result_types = x->types;
  uint8_t *needed = TK_NEWN(s->arena, uint8_t, f->nslots + 1);
  for (size_t i = 0; i < x->n; i++) needed[x->slots[i]] = 1;
  for (size_t i = 0; i < s->program->nfuncs; i++)
    check_body(s, &s->program->funcs[i]->body);
  drop_unused(&st->insts, needed);
  list_params(s, x, needed);
  tk_func_last_uses(s->program, f);
}

/* ---- variables without a value ------------------------------------------ */

typedef struct name_search {
  const char *name;
  const tk_binding *found;
} name_search;

/* The oldest binding of the name that a statement knows. */
static bool search_scope(void *ud, const tk_at *at) {
  name_search *n = ud;
  const tk_binding *x = tk_stmt_scope(at->func, at->stmt);
  for (; x; x = x->prev)
    if (!strcmp(x->name, n->name)) n->found = x;
  return !n->found;
}

static const tk_binding *bound_in(const tk_func *f, const char *name) {
  name_search n = {name, NULL};
  tk_walk_func(f, &(tk_walk){.ud = &n, .stmt = search_scope});
  return n.found;
}

static bool is_not_computed(void *ud, const tk_at *at) {
  const tk_binding *x = tk_stmt_scope(at->func, at->stmt);
  for (; x; x = x->prev)
    if (!strcmp(x->name, ud) && tks_leaves(&x->v, NULL)) return false;
  return true;
}

bool tk_eval_is_computed(const tk_func *f, const char *name) {
  return !tk_walk_func(f,
                       &(tk_walk){.ud = (char *)name, .stmt = is_not_computed});
}

static void unset_name(tks *s, const char *name) {
  const tk_func *f = s->where ? s->where->func : NULL;
  const tk_binding *b = f ? bound_in(f, name) : NULL;
  if (!b) return;
  tks_error(s, TK_D_NAME, "%s has no value here: line %d assigns it", name,
            tk_source_line(f->src, b->span.lo));
}

/* One piece of memory, so that there is either both or neither. */
typedef struct whole {
  tk_eval x;
  tk_program program;
  tk_origin origin;
} whole;

static const tks_ask hooks = {
    .pick = tks_ask_pick,
    .element = tks_ask_element,
    .difference = tks_ask_difference,
    .unset_name = unset_name,
    .numpy_op = tks_ask_numpy,
    .attr = tks_ask_attr,
};

static void compile(tk_env *e, void *ud) {
  job *j = ud;
  const tk_eval_where *w = j->w;
  whole *both = (whole *)j->x;
  tks s = {.env = e,
           .arena = &both->program.arena,
           .program = &both->program,
           .origin = &both->origin,
           .launch = w->launch,
           .ops = tks_table_of(w->session),
           .ask = &hooks,
           .where = w};
  j->x->func = func_new(&s, w, j->text);
  j->x->nframe = w->func->nslots;
  tks_frame frame = {.func = j->x->func, .fn = tk_func_origin(w->func)};
  s.frame = &frame;
  compile_text(&s, j);
}

tk_eval *tk_eval_new(tk_env *e, const tk_eval_where *w, const char *text) {
  whole *both = tk_calloc(e, 1, sizeof *both);
  tk_eval *x = &both->x;
  tk_program_init(&both->program, e);
  both->program.origin = &both->origin;
  both->origin.session = w->session;
  x->program = &both->program;
  x->arena = &both->program.arena;
  tk_buf_init(&x->scratch, e);
  job j = {w, text, x};
  tk_status st = tk_protect(e, compile, &j);
  if (st == TK_OK) return x;
  tk_eval_free(x);
  tk_throw(e, st == TK_FINDING ? TK_USAGE : st);
}

void tk_eval_free(tk_eval *x) {
  if (!x) return;
  whole *both = (whole *)x;
  tk_env *e = both->program.arena.env;
  tk_buf_free(&x->scratch);
  tk_arena_free(&both->program.arena);
  tk_free(e, x, sizeof *both);
}
