/* varying.c - which values differ between programs; see varying.h. */
#include "ir/varying.h"

/* Marks move from the program's index through all functions until none is
 * new.  A pass takes as long as the kernel is; a mark may need one for every
 * time that it goes round a loop. */
enum { LARGEST = 1 << 14, PASSES = 32, POINTERS = 64 };

typedef struct finder {
  tk_varying *v;
  const tk_func *f;
  bool grew;
} finder;

static tk_varying_func *func_of(const tk_varying *v, const tk_func *f) {
  return &v->funcs[f->id];
}

static void mark(finder *x, bool *flag, bool varies) {
  x->grew |= varies && !*flag;
  *flag |= varies;
}

static void point(finder *x, uint64_t *bits, uint64_t more) {
  x->grew |= (more & ~*bits) != 0;
  *bits |= more;
}

/* ---- functions that an instruction calls --------------------------------- */

/* Whether a function that combines lanes has anything that varies: then all
 * that it takes and gives does, since that has one shape. */
static bool combine_varies(const tk_varying *v, const tk_combine *c) {
  bool varies = false;
  for (int l = 0; l < c->nlevels; l++) {
    const tk_func *g = c->levels[l];
    const tk_varying_func *known = func_of(v, g);
    for (size_t i = 0; i < g->nparams; i++)
      varies |= known->slots[g->params[i]];
    for (size_t i = 0; i < g->nresults; i++) varies |= known->results[i];
  }
  return varies;
}

static const tk_combine *combine_of(const tk_inst *in) {
  if (in->op == TK_I_REDUCE_FN) return tk_reduce_fn_combine(in);
  return in->op == TK_I_SCAN_FN ? tk_scan_fn_combine(in) : NULL;
}

static bool has_varying_operand(const tk_varying *v, const tk_func *f,
                                const tk_inst *in) {
  bool varies = in->op == TK_I_PID && tk_program_id_axis(in) == v->axis;
  for (int k = 0; k < in->nargs; k++)
    varies |= func_of(v, f)->slots[in->args[k]];
  return varies;
}

bool tk_inst_varies(const tk_varying *v, const tk_func *f, const tk_inst *in) {
  const tk_combine *c = combine_of(in);
  return has_varying_operand(v, f, in) || (c && combine_varies(v, c));
}

static void visit_combine(finder *x, const tk_combine *c, bool varies) {
  for (int l = 0; varies && l < c->nlevels; l++) {
    const tk_func *g = c->levels[l];
    tk_varying_func *known = func_of(x->v, g);
    for (size_t i = 0; i < g->nparams; i++)
      mark(x, &known->slots[g->params[i]], true);
    for (size_t i = 0; i < g->nresults; i++) mark(x, &known->results[i], true);
  }
}

static void visit_call(finder *x, const tk_inst *in) {
  const tk_func *g = tk_call_callee(in);
  tk_varying_func *own = func_of(x->v, x->f), *known = func_of(x->v, g);
  for (int k = 0; k < in->nargs; k++) {
    mark(x, &known->slots[g->params[k]], own->slots[in->args[k]]);
    point(x, &known->pointers[g->params[k]], own->pointers[in->args[k]]);
  }
  for (int k = 0; k < in->nres; k++) {
    mark(x, &own->slots[in->res[k]], known->results[k]);
    point(x, &own->pointers[in->res[k]], known->result_pointers[k]);
  }
}

/* ---- one pass ------------------------------------------------------------ */

static bool visit_inst(void *ud, const tk_at *at, const tk_inst *in) {
  finder *x = ud;
  tk_varying_func *own = func_of(x->v, x->f);
  const tk_combine *c = combine_of(in);
  uint64_t pointers = 0;
  (void)at;
  if (in->op == TK_I_CALL) {
    visit_call(x, in);
    return true;
  }
  if (in->op == TK_I_COND) return true; /* its bodies set the results */
  bool varies = tk_inst_varies(x->v, x->f, in);
  if (c) visit_combine(x, c, varies);
  for (int k = 0; k < in->nargs; k++) pointers |= own->pointers[in->args[k]];
  for (int k = 0; k < in->nres; k++) {
    mark(x, &own->slots[in->res[k]], varies);
    point(x, &own->pointers[in->res[k]], pointers);
  }
  return true;
}

static bool visit_stmt(void *ud, const tk_at *at) {
  finder *x = ud;
  const tk_stmt *st = at->stmt;
  tk_varying_func *own = func_of(x->v, x->f);
  for (size_t i = 0; i < st->nresults; i++) {
    mark(x, &own->results[i], own->slots[st->results[i]]);
    point(x, &own->result_pointers[i], own->pointers[st->results[i]]);
  }
  return true;
}

/* Returns whether everything was found. */
static bool find_varying(tk_varying *v) {
  const tk_program *p = v->program;
  for (int pass = 0; pass < PASSES; pass++) {
    finder x = {.v = v};
    tk_check_interrupt(p->arena.env);
    for (size_t i = 0; i < p->nfuncs; i++) {
      x.f = p->funcs[i];
      tk_walk_func(x.f, &(tk_walk){&x, visit_stmt, visit_inst});
    }
    if (!x.grew) return true;
  }
  return false;
}

/* ---- memory, and what cannot be done together ---------------------------- */

/* Whether anything in a function varies. */
static bool func_varies(const tk_varying *v, const tk_func *f) {
  for (size_t i = 0; i < f->nslots; i++)
    if (func_of(v, f)->slots[i]) return true;
  return false;
}

/* Whether an instruction lets programs see what others do, or in which order
 * they run. */
static bool orders_programs(const tk_inst *in) {
  if (in->op == TK_I_LOAD) return tk_load_volatile(in) || tk_load_ordering(in);
  return in->op == TK_I_CAS || in->op == TK_I_PRINT ||
         in->op == TK_I_BREAKPOINT || in->op == TK_I_CLOCK ||
         in->op == TK_I_ASM;
}

/* Whether it makes or uses an address of which it is not known to which tensor
 * it belongs. */
static bool hides_tensor(const tk_varying *v, const tk_func *f,
                         const tk_inst *in) {
  bool load = in->op == TK_I_LOAD;
  bool accesses = load || in->op == TK_I_STORE || in->op == TK_I_ATOMIC;
  if (accesses && !func_of(v, f)->pointers[in->args[0]]) return true;
  return in->type.ptr && (load || (in->op == TK_I_CAST && !in->from.ptr));
}

/* Whether there is no instruction that does it for many programs. */
static bool has_no_batch(const tk_varying *v, const tk_func *f,
                         const tk_inst *in) {
  bool varies = tk_inst_varies(v, f, in);
  if (in->op == TK_I_MAP_FN)
    return varies || func_varies(v, tk_map_fn_callee(in));
  if (in->op == TK_I_DOT) return varies && in->type.rank > 2;
  return varies && (in->op == TK_I_HISTOGRAM || in->type.to_block);
}

typedef struct seeker {
  tk_varying *v;
  const tk_func *f;
  const tk_inst *last; /* that the kernel does; NULL: not known */
  bool once;           /* a program comes to this place once at most */
} seeker;

static bool visit_access(void *ud, const tk_at *at, const tk_inst *in) {
  const seeker *x = ud;
  tk_varying *v = x->v;
  (void)at;
  v->apart &= !orders_programs(in) && !hides_tensor(v, x->f, in);
  v->joins &= !has_no_batch(v, x->f, in);
  uint64_t through = in->nargs ? func_of(v, x->f)->pointers[in->args[0]] : 0;
  if (in->op == TK_I_LOAD) v->loads |= through;
  if (in->op == TK_I_ATOMIC) {
    v->apart &= in == x->last;
    v->joins &= tk_inst_varies(v, x->f, in); /* else each does it by itself */
    v->atomics |= through;
  }
  if (in->op != TK_I_STORE) return true;
  v->many_stores |= x->once ? v->stores & through : through;
  if (!tk_inst_varies(v, x->f, in)) v->fixed_stores |= through;
  v->stores |= through;
  return true;
}

static void note_body(seeker *x, const tk_body *b);

/* A loop's variable is set by the loop, for all programs alike. */
static void note_stmt(seeker *x, const tk_stmt *st) {
  const tk_walk accesses = {.ud = x, .inst = visit_access};
  bool once = x->once, loops = st->kind == TK_S_FOR || st->kind == TK_S_WHILE;
  if (st->kind == TK_S_FOR) x->v->joins &= !func_of(x->v, x->f)->slots[st->iv];
  x->once = once && st->kind != TK_S_WHILE;
  tk_walk_insts(x->f, st, &st->insts, &accesses);
  x->once = once && !loops;
  note_body(x, &st->body);
  note_body(x, &st->orelse);
  x->once = once;
}

static void note_body(seeker *x, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) note_stmt(x, b->items[i]);
}

/* What a program does last, whichever way it went; NULL: it is not known. */
static const tk_inst *last_inst(const tk_func *f) {
  for (size_t i = f->body.n; i > 0; i--) {
    const tk_stmt *st = f->body.items[i - 1];
    if (st->kind != TK_S_RUN && st->kind != TK_S_RETURN) return NULL;
    if (st->insts.n) return st->insts.items[st->insts.n - 1];
  }
  return NULL;
}

static void note_largest(tk_varying *v, const tk_func *f) {
  for (size_t i = 0; i < f->nslots; i++) {
    const tk_type *t = &f->slots[i].type;
    if (!func_of(v, f)->slots[i]) continue;
    if (tk_numel(t) > v->largest) v->largest = tk_numel(t);
    v->joins &= t->rank < TK_MAX_RANK && !t->to_block;
  }
}

static void open_func(tk_arena *a, tk_varying *v, const tk_func *f) {
  *func_of(v, f) = (tk_varying_func){
      .slots = TK_NEWN(a, bool, f->nslots + 1),
      .pointers = TK_NEWN(a, uint64_t, f->nslots + 1),
      .results = TK_NEWN(a, bool, f->nresults + 1),
      .result_pointers = TK_NEWN(a, uint64_t, f->nresults + 1)};
}

tk_varying tk_varying_of(tk_arena *a, const tk_program *p, int axis) {
  tk_varying v = {.program = p, .axis = axis, .largest = 1};
  size_t n = p->ninsts;
  for (size_t i = 0; i < p->nfuncs; i++) n += p->funcs[i]->nslots;
  if (n > LARGEST || p->nparams > POINTERS) return v;
  v.funcs = TK_NEWN(a, tk_varying_func, p->nfuncs + 1);
  for (size_t i = 0; i < p->nfuncs; i++) open_func(a, &v, p->funcs[i]);
  for (size_t i = 0; i < p->nparams; i++)
    if (p->params[i].type.ptr)
      func_of(&v, p->kernel)->pointers[p->kernel->params[i]] = (uint64_t)1 << i;
  v.apart = v.joins = find_varying(&v);
  for (size_t i = 0; v.apart && i < p->nfuncs; i++) {
    bool kernel = p->funcs[i] == p->kernel;
    seeker x = {&v, p->funcs[i], kernel ? last_inst(p->kernel) : NULL, kernel};
    note_body(&x, &x.f->body);
    note_largest(&v, x.f);
  }
  v.apart &= !(v.atomics & (v.loads | v.stores));
  v.stores |= v.atomics;
  return v;
}
