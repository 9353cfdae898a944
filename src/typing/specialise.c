/* specialise.c - the way in: a launch's argument types make a program.
 *
 * Arguments are typed as Triton's launcher does (python/src/specialize.cc):
 * a tensor is a pointer to its dtype, an int is i32, i64 or u64 by its value,
 * a float fp32, a bool int1; None, 1 and whatever a constexpr parameter gets
 * are known values.  Programs are kept with their function under a key made
 * of exactly this.
 */
#include <stdio.h>
#include <string.h>

#include "ir/registers.h"
#include "launch/areas.h"
#include "typing/trial.h"
#include "typing/version.h"
#include "typing/walk.h"

static tk_dtype int_type(tks *s, const char *name, const tk_value *v) {
  tk_int i = (tk_int)v->hi * ((tk_int)1 << 64) + (tk_int)v->lo;
  if (i >= INT32_MIN && i <= INT32_MAX) return TK_INT32;
  if (i >= INT64_MIN && i <= INT64_MAX) return TK_INT64;
  if (i >= 0 && i <= (tk_int)UINT64_MAX) return TK_UINT64;
  tks_error(s, TK_D_ARGUMENT, "the argument %s does not fit into 64 bits",
            name);
}

/* Whether an annotation names a word anywhere, as in tl.constexpr | None. */
static bool mentions(const tk_ast *a, const char *word) {
  if (!a) return false;
  if (a->kind == TK_AST_STR) return strstr(tk_str_text(a), word) != NULL;
  const char *name = tk_dotted_name(a);
  if (name && !strcmp(name, word)) return true;
  if (a->kind == TK_AST_ATTR) return false;
  return mentions(tk_ast_child(a, 0), word) ||
         mentions(tk_ast_child(a, 1), word);
}

static bool constexpr_param(const tk_ast *p) {
  return mentions(tk_param_annotation(p), "constexpr");
}

typedef struct note_job {
  tks *s;
  const tk_ast *e;
  sval v;
} note_job;

static void read_note(tk_env *e, void *ud) {
  note_job *j = ud;
  (void)e;
  j->v = tks_expr(j->s, j->e);
}

/* The type that an annotation gives a number; V_NONE when there is none.  The
 * host looks at its own, which a decorator may have made, and says so with the
 * argument.  Most annotations are of another kind: what cannot be evaluated
 * says nothing. */
static sval annotation(tks *s, const tk_ast *p) {
  const tk_ast *a = tk_param_annotation(p);
  bool named = a && (a->kind == TK_AST_NAME || a->kind == TK_AST_ATTR);
  if (!named || s->frame->fn->host || constexpr_param(p)) return sv(V_NONE);
  note_job j = {s, a, sv(V_NONE)};
  size_t said = s->env->ndiags;
  tk_status st = tk_protect(s->env, read_note, &j);
  if (st != TK_OK && st != TK_FINDING && st != TK_USAGE) tk_throw(s->env, st);
  if (st != TK_OK) tk_diag_truncate(s->env, said);
  return j.v.kind == V_TYPE ? j.v : sv(V_NONE);
}

static sval plain_value(tks *s, const tk_arg *arg, const tk_value *v,
                        const sval *ann);

static sval tuple_value(tks *s, const tk_arg *arg, const tk_value *v,
                        const sval *ann) {
  sval t = {.kind = V_TUPLE, .n = v->n};
  t.s = v->str ? tk_arena_strdup(s->arena, v->str) : NULL;
  t.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    t.items[i] = plain_value(s, arg, &v->items[i], ann);
  return t;
}

static sval pointer_value(const tk_tensor *x, bool is_const) {
  tk_type t = tk_pointer(tk_scalar(x->dtype));
  t.is_const = is_const || (x->flags & TK_TENSOR_CONST);
  return sv_tensor(t, -1);
}

/* A descriptor made on the host: its base, shape and strides are runtime
 * values, its block shape is known. */
static sval descriptor_value(tks *s, const tk_value *v, const sval *base) {
  size_t rank = v->items[3].n;
  int64_t shape[TK_MAX_RANK];
  sval d = {.kind = V_DESC, .n = 1 + 2 * rank, .type = tk_pointee(base->type)};
  d.i =
      (strcmp(v->items[4].str, "nan") ? 0 : DESC_NAN) | (v->lo ? DESC_TF32 : 0);
  d.items = TK_NEWN(s->arena, sval, d.n);
  d.items[0] = *base;
  d.type.rank = (uint8_t)rank;
  for (size_t i = 0; i < rank; i++) {
    const tk_value *n = &v->items[3].items[i];
    shape[i] = n->hi || n->lo > INT32_MAX ? INT32_MAX : (int64_t)n->lo;
    d.type.shape[i] = (int32_t)shape[i];
    d.items[1 + i] = sv_tensor(tk_scalar(TK_INT32), -1);
    d.items[1 + rank + i] = sv_tensor(tk_scalar(TK_INT64), -1);
  }
  tks_check_shape(s, shape, (int)rank);
  return d;
}

static sval part_value(tks *s, const tk_value *v) {
  const tk_value *base = v->kind == TK_V_TENSOR ? v : &v->items[0];
  sval p = pointer_value(&s->launch->extras.items[base->lo].tensor, false);
  return v->kind == TK_V_TENSOR ? p : descriptor_value(s, v, &p);
}

/* The static value of an argument of an ordinary parameter. */
static sval plain_value(tks *s, const tk_arg *arg, const tk_value *v,
                        const sval *ann) {
  tk_type t = tk_scalar(TK_INT1);
  bool one = v->kind == TK_V_INT && v->hi == 0 && v->lo == 1;
  if (v->is_constexpr || (one && !arg->no_specialize && sv_is_none(ann)))
    return sv_from_value(s, v);
  switch (v->kind) {
  case TK_V_BOOL: break;
  case TK_V_INT: t = tk_scalar(int_type(s, arg->name, v)); break;
  case TK_V_FLOAT: t = tk_scalar(TK_FP32); break;
  case TK_V_TUPLE: return tuple_value(s, arg, v, ann);
  case TK_V_TENSOR:
  case TK_V_DESCRIPTOR: return part_value(s, v);
  default: return sv_from_value(s, v);
  }
  if (ann->kind == V_TYPE && !ann->type.ptr) t = ann->type;
  return sv_tensor(t, -1);
}

/* An annotation such as tl.const, "const *fp32" or "*kfp32". */
static bool says_const(const tk_ast *note) {
  bool k =
      note && note->kind == TK_AST_STR && !strncmp(tk_str_text(note), "*k", 2);
  return k || mentions(note, "const");
}

/* A tuple that the host gave becomes one of the language's. */
static void as_own_tuple(sval *v) {
  v->is_host = false;
  for (size_t i = 0; i < v->n; i++)
    if (v->items[i].kind == V_TUPLE) as_own_tuple(&v->items[i]);
}

static sval arg_value(tks *s, const tk_arg *arg, const tk_ast *p) {
  s->frame->at = p->span;
  sval ann = annotation(s, p);
  switch (arg->kind) {
  case TK_ARG_TENSOR:
    if (constexpr_param(p))
      tks_error(s, TK_D_ARGUMENT, "the constexpr parameter %s got a tensor",
                arg->name);
    return pointer_value(&arg->tensor, says_const(tk_param_annotation(p)));
  case TK_ARG_SCALAR: return sv_tensor(tk_scalar(arg->dtype), -1);
  case TK_ARG_VALUE:
    if (constexpr_param(p)) {
      sval known = sv_from_value(s, &arg->value);
      if (known.kind != V_TUPLE) return known;
      known.is_one = !tks_has(s, TKS_TUPLE_OF_CONSTEXPRS);
      if (!known.is_one) as_own_tuple(&known);
      return known;
    }
    return plain_value(s, arg, &arg->value, &ann);
  default:
    if (tk_param_default(p)) {
      s->plain_globals = true;
      sval usual = tks_expr(s, tk_param_default(p));
      s->plain_globals = false;
      return usual;
    }
    tks_error_help(s, TK_D_ARGUMENT,
                   "every parameter without a default needs "
                   "one",
                   "no argument was given for the parameter %s", arg->name);
  }
}

/* ---- facts -------------------------------------------------------------- */

enum { DIVISOR = 16 };

/* 16 when the argument's address or number is a multiple of it, as Triton's
 * launcher tells its compiler; else 1. */
static int divisor_of(const tk_arg *a) {
  uint64_t at = 1;
  if (a->no_specialize) return 1;
  if (a->kind == TK_ARG_TENSOR)
    at = tk_tensor_address(&a->tensor);
  else if (a->kind == TK_ARG_VALUE && a->value.kind == TK_V_INT)
    at = a->value.lo;
  return at % DIVISOR ? 1 : DIVISOR;
}

/* ---- parameters of the kernel ------------------------------------------ */

/* item counts the leaves of the argument's value, known ones too. */
static void add_param(tks *s, const sval *v, size_t arg, size_t *item) {
  tk_program *p = s->program;
  if (v->kind == V_TUPLE || v->kind == V_DESC) {
    for (size_t i = 0; i < v->n; i++) {
      if (sv_runtime(&v->items[i]) || v->items[i].kind == V_TUPLE)
        add_param(s, &v->items[i], arg, item);
      else
        (*item)++;
    }
    if (v->kind == V_DESC) *item += v->type.rank + 1u; /* block, padding */
    return;
  }
  if (v->kind != V_TENSOR) return;
  size_t i = p->nparams++;
  p->params[i] =
      (tk_param){.arg = arg, .type = v->type, .item = (*item)++, .divisor = 1};
  p->params[i].slot = p->kernel->params[i];
}

/* What is known of a parameter, and of those that are known already. */
static void add_params(tks *s, const sval *v, size_t n) {
  tk_program *p = s->program;
  p->params = TK_NEWN(s->arena, tk_param, p->kernel->nparams + 1);
  p->args = TK_NEWN(s->arena, tk_program_arg, n + 1);
  p->nargs = n;
  for (size_t i = 0; i < n; i++) {
    size_t item = 0, first = p->nparams;
    p->args[i].name = tk_arena_strdup(s->arena, s->launch->args[i].name);
    if (!sv_runtime(&v[i])) p->args[i].value = tks_known_text(s, &v[i]);
    add_param(s, &v[i], i, &item);
    if (p->nparams == first + 1 && v[i].kind == V_TENSOR)
      p->params[first].divisor = divisor_of(&s->launch->args[i]);
  }
}

/* ---- programs ---------------------------------------------------------- */

void tk_unit_free(tk_env *e, tk_unit *u) {
  for (tk_batched *b = u->batches; b; b = b->next)
    tk_arena_free(&b->program.arena);
  tk_arena_free(&u->program.arena);
  tk_free(e, u, sizeof *u);
}

static void free_units(tk_env *e, tk_function *f) {
  for (tk_unit *u = f->units, *next; u; u = next) {
    next = u->next;
    tk_unit_free(e, u);
  }
  f->units = NULL;
}

typedef struct job {
  tk_launch *launch;
  tk_unit *unit;  /* being made */
  tk_unit *found; /* made before, or unit once complete */
  tk_arena estimates;
} job;

/* The one that was made before for what `made` is to be made for. */
static tk_unit *find_unit(tk_function *f, const tk_unit *made) {
  const tk_program *p = &made->program;
  for (tk_unit *u = f->units; u; u = u->next)
    if (!strcmp(u->key, made->key) &&
        !memcmp(u->program.options, p->options, sizeof p->options) &&
        u->program.triton_version == p->triton_version)
      return u;
  return NULL;
}

/* Arguments are read in a frame of their own: annotations and defaults may
 * be any expression. */
static sval *read_args(tks *s, tk_launch *l, tk_func *header) {
  const tk_ast *ast = l->fn->ast;
  tk_body body = {0};
  tk_insts insts = {0};
  tks_frame frame = {.func = header,
                     .fn = l->fn,
                     .body = &body,
                     .insts = &insts,
                     .at = tk_func_name_span(ast)};
  sval *v = TK_NEWN(s->arena, sval, l->nargs + 1);
  s->frame = &frame;
  for (size_t i = 0; i < l->nargs; i++)
    v[i] = arg_value(s, &l->args[i], tk_func_param(ast, i));
  s->frame = NULL;
  return v;
}

/* What a unit is made for, apart from the arguments' types and launch options.
 */
static const char *facts_of(tks *s, const tk_launch *l) {
  size_t n = l->nargs + 1;
  for (int i = 0; i < TK_COMPILE_COUNT; i++) n += strlen(l->compile[i]) + 1;
  char *text = tk_arena_alloc(s->arena, n), *at = text;
  for (int i = 0; i < TK_COMPILE_COUNT; i++)
    at = stpcpy(stpcpy(at, l->compile[i]), ";");
  for (size_t i = 0; i < l->nargs; i++)
    *at++ = divisor_of(&l->args[i]) == DIVISOR ? '+' : '-';
  return text;
}

static bool count_product(void *ud, const tk_at *at, const tk_inst *in) {
  int *n = ud;
  (void)at;
  *n += in->op == TK_I_DOT;
  return true;
}

/* A compiler keeps in memory what does not fit a thread's registers.  How many
 * a kernel with several products needs depends on the order in which it
 * computes their parts; the estimate, which knows of none, is far too high. */
static void tell_of_spills(tks *s, tk_arena *a, const tk_program *p) {
  int n = tk_program_overflow(a, p), most = tk_most_registers(p);
  int products = 0;
  if (!n) return;
  tk_walk_program(p, &(tk_walk){.ud = &products, .inst = count_product});
  if (products > 1) return;
  tk_diag *d = tks_say(s, TK_D_SPILLS,
                       "a thread of this kernel needs about %d registers on "
                       "sm_90 but has only %d: Triton is likely to keep the "
                       "rest in memory",
                       n, most);
  tk_diag_help(s->env, d,
               "smaller blocks or a larger num_warps leave fewer values to "
               "each thread");
}

static void specialise(tk_env *e, void *ud) {
  job *j = ud;
  tk_function *fn = j->launch->fn;
  tk_unit *u = j->unit;
  tks s = {.env = e,
           .arena = &u->program.arena,
           .program = &u->program,
           .origin = &u->origin,
           .launch = j->launch,
           .ops = tks_table_of(j->launch->session)};
  tk_func header = {.name = fn->item->name,
                    .src = fn->module->file->src,
                    .program = &u->program};
  sval *v = read_args(&s, j->launch, &header);
  const char *facts = facts_of(&s, j->launch);
  u->key = tks_key(&s, facts, v, j->launch->nargs);
  j->found = s.origin->session->trial ? NULL : find_unit(fn, u);
  if (j->found) return;
  tks_frame root = {
      .func = &header, .fn = fn, .at = tk_func_name_span(fn->ast)};
  s.frame = &root;
  tks_instance *in = tks_instance_of(&s, fn, v);
  TK_ASSERT(s.frame == &root && !in->open); /* every call has returned */
  s.frame->func = in->func;
  bool known = tks_has(&s, TKS_CONSTANTS_RETURNED) && !sv_runtime(&in->ret);
  if (in->ret.kind != V_NONE && !known)
    tks_error_help(&s, TK_D_TYPE, "store results to memory",
                   "the kernel %s returns %s; a kernel returns nothing",
                   fn->item->name, tks_show(&s, &in->ret));
  u->program.kernel = in->func;
  add_params(&s, v, j->launch->nargs);
  if (!s.origin->session->trial) tell_of_spills(&s, &j->estimates, &u->program);
  j->found = u;
}

#ifdef TK_ASSERTS
typedef struct form_check {
  const tk_program *p;
  tk_program *read; /* its text, read again */
  tk_arena keep;
  tk_buf once, twice;
} form_check;

static void check_form(tk_env *e, void *ud) {
  form_check *c = ud;
  tk_flaw flaw;
  bool holds = tk_program_verify(c->p, &c->keep, &flaw);
  if (!holds)
    fprintf(stderr, "%s: %s\n", flaw.func ? flaw.func->name : "?", flaw.text);
  TK_ASSERT(holds);
  tk_program_print(&c->once, c->p);
  const char *text = tk_buf_str(&c->once);
  c->read = tk_program_parse(e, &c->keep,
                             tk_source_new(&c->keep, "form", text, c->once.n));
  tk_program_print(&c->twice, c->read);
  bool same = !strcmp(text, tk_buf_str(&c->twice));
  if (!same)
    fprintf(stderr, "%s---- read again:\n%s", text, tk_buf_str(&c->twice));
  TK_ASSERT(same);
}

/* What the specialiser makes obeys the rules, and its text says all of it.
 * A test may let memory run out here; then nothing is known. */
static void check_unit(tk_env *e, const tk_unit *u) {
  form_check c = {.p = &u->program};
  size_t diags = e->ndiags;
  tk_arena_init(&c.keep, e);
  tk_buf_init(&c.once, e);
  tk_buf_init(&c.twice, e);
  tk_status st = tk_protect(e, check_form, &c);
  TK_ASSERT(st == TK_OK || st == TK_INTERNAL || st == TK_INTERRUPTED);
  tk_diag_truncate(e, diags);
  if (c.read) tk_program_free(c.read);
  tk_buf_free(&c.once);
  tk_buf_free(&c.twice);
  tk_arena_free(&c.keep);
}
#endif

static tk_unit *unit_new(tk_env *e, tk_launch *l) {
  tk_unit *u = tk_calloc(e, 1, sizeof *u);
  tk_program_init(&u->program, e);
  u->program.triton_version = l->session->triton_version;
  memcpy(u->program.options, l->options, sizeof l->options);
  u->program.origin = &u->origin;
  u->origin.session = l->session;
  u->origin.kernel = l->fn;
  return u;
}

/* ---- trials -------------------------------------------------------------- */

static void specialise_apart(tk_env *e, void *ud) {
  job *j = ud;
  tk_launch_complete(e, j->launch);
  j->unit = unit_new(e, j->launch);
  specialise(e, j);
}

void tk_trial_make(tk_env *e, tk_launch *l, const tk_rules *rules,
                   tk_trial *out) {
  tk_session *session = l->session;
  int version = session->triton_version;
  job j = {.launch = l};
  tk_diag *said = tk_diag_take(e, 0);
  TK_ASSERT(!session->trial && !l->fn->fixed);
  session->triton_version = rules->version;
  session->trial = rules;
  tk_status st = tk_protect(e, specialise_apart, &j);
  session->trial = NULL;
  session->triton_version = version;
  *out = (tk_trial){.unit = j.found, .said = tk_diag_take(e, 0)};
  tk_diag_put_back(e, said);
  if (!j.found && j.unit) tk_unit_free(e, j.unit);
  if (st == TK_OK || st == TK_FINDING || st == TK_USAGE) return;
  tk_trial_free(e, out);
  tk_throw(e, st);
}

void tk_trial_free(tk_env *e, tk_trial *t) {
  if (t->unit) tk_unit_free(e, t->unit);
  tk_diag_free(e, t->said);
  *t = (tk_trial){.unit = NULL};
}

/* ---- the way in ---------------------------------------------------------- */

tk_unit *tk_specialise(tk_env *e, tk_launch *l) {
  if (l->fn->ptx) {
    tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                "a kernel of a PTX file has no typed form: it only runs");
    tk_throw(e, TK_USAGE);
  }
  if (l->fn->form && !l->fn->fixed) tks_read_form(e, l);
  if (l->fn->fixed) {
    tk_unit *u = l->fn->units;
    tks_check_fixed(e, l, &u->program);
    return u;
  }
  tk_launch_complete(e, l);
  job j = {.launch = l, .unit = unit_new(e, l)};
  tk_arena_init(&j.estimates, e);
  tk_status st = tk_protect(e, specialise, &j);
  tk_arena_free(&j.estimates);
  if (st == TK_OK && j.found == j.unit) {
#ifdef TK_ASSERTS
    check_unit(e, j.unit);
#endif
    j.unit->next = l->fn->units;
    l->fn->units = j.unit;
    l->fn->free_units = free_units;
    return j.unit;
  }
  tk_unit_free(e, j.unit);
  if (st != TK_OK) tk_throw(e, st);
  return j.found;
}
