/* verify.c - what must hold of a program.
 *
 * Whoever makes a program (the specialiser, the parser, later a pass) may rely
 * on nothing but these rules, and whoever reads one may rely on all of them.
 * Types of operands are checked by the kinds of inst.def; a scalar may stand
 * for a block, which it fills.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/text.h"

typedef struct verifier {
  const tk_program *p;
  tk_flaw *flaw;
  const tk_stmt *stmt; /* whose instructions are checked */
  tk_arena *scratch;
  uint8_t *defined; /* by slot: 1 a temporary has a value here, 2 had one */
  TK_VEC(int) defined_here;      /* temporaries that have one, oldest first */
  TK_VEC(const tk_inst *) conds; /* around what is verified */
  uint8_t *inst_ids;             /* by number: 1 it was met */
  uint8_t *stmt_ids;
} verifier;

/* Says what does not hold, and gives false. */
static bool flawed(verifier *v, const tk_func *f, const tk_inst *in,
                   const char *fmt, ...) TK_PRINTF(4, 5);
static bool flawed(verifier *v, const tk_func *f, const tk_inst *in,
                   const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  *v->flaw = (tk_flaw){.func = f, .stmt = v->stmt, .inst = in};
  size_t n = 0;
  if (in)
    n = (size_t)snprintf(v->flaw->text, sizeof v->flaw->text,
                         "%s: ", tk_inst_name((tk_opcode)in->op));
  vsnprintf(v->flaw->text + n, sizeof v->flaw->text - n, fmt, ap);
  va_end(ap);
  return false;
}

static bool is_slot(const tk_func *f, int slot) {
  return slot >= 0 && (size_t)slot < f->nslots;
}

/* ---- operands ------------------------------------------------------------ */

/* Of the same shape, or a scalar that fills it. */
static bool fills(const tk_type *t, const tk_type *block) {
  return !t->rank || tk_same_shape(t, block);
}

static bool kind_fits(tk_operand_kind kind, const tk_type *o,
                      const tk_type *t) {
  tk_type pointee;
  switch (kind) {
  case TK_OPERAND_ANY: return true;
  case TK_OPERAND_SAME:
    return fills(o, t) && o->elem == t->elem && o->ptr == t->ptr;
  case TK_OPERAND_LANES: return fills(o, t);
  case TK_OPERAND_MASK: return fills(o, t) && !o->ptr && o->elem == TK_INT1;
  case TK_OPERAND_FLAG: return !o->rank && !o->ptr && o->elem == TK_INT1;
  case TK_OPERAND_POINTER:
    if (!o->ptr || !tk_same_shape(o, t)) return false;
    pointee = tk_pointee(*o);
    return pointee.elem == t->elem && pointee.ptr == t->ptr;
  case TK_OPERAND_OFFSET:
    return fills(o, t) && !o->ptr && tk_is_int((tk_dtype)o->elem);
  }
  return false;
}

static bool check_kinds(verifier *v, const tk_func *f, const tk_inst *in) {
  static const char *const wanted[] = {
      "anything",
      "the type of the result",
      "the shape of the result",
      "int1 lanes of the result's shape",
      "a scalar int1",
      "pointers to the result's element, of its shape",
      "integers of the result's shape",
  };
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)in->op);
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    const tk_operand_info *o = &row->operands[k];
    for (int i = k; i < in->nargs && (o->many || i == k); i++) {
      int at = o->many ? i : tk_inst_arg(in, k);
      if (at < 0 || at >= in->nargs) continue;
      if (!kind_fits(o->kind, &f->slots[in->args[at]].type, &in->type))
        return flawed(v, f, in, "the operand '%s' must be %s", o->name,
                      wanted[o->kind]);
    }
  }
  return true;
}

/* The operands that are there are those that inst.def has, and those that it
 * must have are there. */
static bool check_count(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)in->op);
  int fixed = 0;
  bool many = false;
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    const tk_operand_info *o = &row->operands[k];
    many |= o->many;
    if (o->many) continue;
    bool here = in->has >> k & 1;
    if (!here && !o->optional)
      return flawed(v, f, in, "the operand '%s' is missing", o->name);
    fixed += here;
  }
  if (many ? in->nargs < fixed : in->nargs != fixed)
    return flawed(v, f, in, "it has %d operands, not %d", fixed, in->nargs);
  if (row->results != TK_ANY_RESULTS && row->results != in->nres)
    return flawed(v, f, in, "it has %d results, not %d", row->results,
                  in->nres);
  return true;
}

/* At the end of a body: what was defined since has no value any more. */
static void end_body(verifier *v, size_t before) {
  while (v->defined_here.n > before)
    v->defined[v->defined_here.items[--v->defined_here.n]] = 2;
}

static bool define_temporary(verifier *v, const tk_func *f, const tk_inst *in,
                             int slot) {
  for (size_t i = 0; i < v->conds.n; i++)
    for (int k = 0; k < v->conds.items[i]->nres; k++)
      if (v->conds.items[i]->res[k] == slot) return true;
  if (v->defined[slot]) return flawed(v, f, in, "a temporary is defined twice");
  v->defined[slot] = 1;
  TK_PUSH(v->scratch, &v->defined_here, slot);
  return true;
}

static bool check_slots(verifier *v, const tk_func *f, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) {
    if (!is_slot(f, in->args[k]))
      return flawed(v, f, in, "operand %d is no slot", k);
    const tk_slot *s = &f->slots[in->args[k]];
    if (!s->name && v->defined[in->args[k]] != 1)
      return flawed(v, f, in, "operand %d has no value here", k);
    if (k < 32 && in->kill >> k & 1 && s->name)
      return flawed(v, f, in, "operand %d is a variable and lives on", k);
  }
  for (int k = 0; k < in->nres; k++) {
    if (!is_slot(f, in->res[k]))
      return flawed(v, f, in, "result %d is no slot", k);
    for (int i = 0; i < k; i++)
      if (in->res[i] == in->res[k])
        return flawed(v, f, in, "two results are one slot");
    if (!f->slots[in->res[k]].name && !define_temporary(v, f, in, in->res[k]))
      return false;
  }
  if (in->nres && !tk_same_type(&in->type, &f->slots[in->res[0]].type))
    return flawed(v, f, in, "its type is not that of its first result");
  if (in->nargs && !tk_same_type(&in->from, &f->slots[in->args[0]].type))
    return flawed(v, f, in, "its `from` is not the type of its first operand");
  if (in->n != tk_numel(&in->type))
    return flawed(v, f, in, "it counts its lanes wrongly");
  return true;
}

/* ---- attributes and what is referred to ---------------------------------- */

static bool check_axes(verifier *v, const tk_func *f, const tk_inst *in) {
  unsigned seen = 0;
  for (int i = 0; i < in->type.rank; i++) {
    int64_t axis = in->attr[i];
    if (axis < 0 || axis >= in->from.rank || seen >> axis & 1)
      return flawed(v, f, in, "its axes are no permutation");
    seen |= 1u << axis;
  }
  return in->type.rank == in->from.rank ||
         flawed(v, f, in, "it changes the number of axes");
}

static bool check_attr(verifier *v, const tk_func *f, const tk_inst *in,
                       const tk_attr_info *a) {
  int64_t x = tk_inst_get(in, a);
  int rank = in->from.rank > in->type.rank ? in->from.rank : in->type.rank;
  switch (a->kind) {
  case TK_ATTR_INT:
    return (in->op != TK_I_PID && in->op != TK_I_NPROG) || x <= 2 ||
           flawed(v, f, in, "a grid has no axis %lld", (long long)x);
  case TK_ATTR_BITS:
  case TK_ATTR_VALUES: return true;
  case TK_ATTR_FLAG:
    return x == 0 || x == 1 || flawed(v, f, in, "%s is no flag", a->name);
  case TK_ATTR_AXIS:
    return (x >= 0 && x < rank) ||
           flawed(v, f, in, "the block has no axis %lld", (long long)x);
  case TK_ATTR_AXES: return check_axes(v, f, in);
  case TK_ATTR_FUNCTION:
    return tk_extern_at((size_t)x) ||
           flawed(v, f, in, "libdevice has no such function");
  TK_CASE_ATTR_WORDS:
    break;
  }
  return tk_mode_text(a->kind, x) ||
         flawed(v, f, in, "%s has no value %lld", a->name, (long long)x);
}

static bool is_func(const tk_program *p, const tk_func *f) {
  return f && f->id < p->nfuncs && p->funcs[f->id] == f;
}

static bool check_callee(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_func *g = in->ref.callee;
  if (!is_func(v->p, g)) return flawed(v, f, in, "it calls no function");
  if (in->op != TK_I_CALL) return true;
  if (g->nparams != in->nargs)
    return flawed(v, f, in, "@%.60s takes %zu values, not %d", g->name,
                  g->nparams, in->nargs);
  for (size_t i = 0; i < g->nparams; i++)
    if (!tk_same_type(&g->slots[g->params[i]].type,
                      &f->slots[in->args[i]].type))
      return flawed(v, f, in, "value %zu is not what @%.60s takes", i, g->name);
  if (g->nresults != in->nres)
    return flawed(v, f, in, "@%.60s gives %zu values, not %d", g->name,
                  g->nresults, in->nres);
  for (size_t i = 0; i < g->nresults; i++)
    if (!tk_same_type(&g->result_types[i], &f->slots[in->res[i]].type))
      return flawed(v, f, in, "result %zu is not what @%.60s gives", i,
                    g->name);
  return true;
}

static bool check_format(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_format *x = in->ref.format;
  if (!x) return flawed(v, f, in, "it has no format");
  size_t at = in->op == TK_I_ASSERT;
  for (int i = 0; i < 3; i++) {
    if (x->pid_slots[i] < 0) continue;
    if (at >= in->nargs || in->args[at] != x->pid_slots[i])
      return flawed(v, f, in, "its program indices are not its operands");
    at++;
  }
  for (size_t i = 0; i < x->n; i++) {
    if (x->pieces[i].text) continue;
    if (at >= in->nargs || in->args[at] != x->pieces[i].slot)
      return flawed(v, f, in, "its values are not its operands");
    at++;
  }
  return at == in->nargs || flawed(v, f, in, "it has operands that it ignores");
}

static bool check_ref(verifier *v, const tk_func *f, const tk_inst *in) {
  switch (tk_inst_info_of((tk_opcode)in->op)->ref) {
  case TK_REF_NONE:
    return !in->ref.any || flawed(v, f, in, "it refers to something");
  case TK_REF_CALLEE: return check_callee(v, f, in);
  case TK_REF_COMBINE:
    if (!in->ref.combine) return flawed(v, f, in, "it combines by nothing");
    for (int i = 0; i < in->ref.combine->nlevels; i++)
      if (!is_func(v->p, in->ref.combine->levels[i]))
        return flawed(v, f, in, "it combines by no function");
    return true;
  case TK_REF_FORMAT: return check_format(v, f, in);
  case TK_REF_CODE: return in->ref.code || flawed(v, f, in, "it has no code");
  }
  return true;
}

/* ---- instructions and statements ----------------------------------------- */

static bool verify_inst(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_attr_info *a;
  if (in->op >= TK_INST_COUNT)
    return flawed(v, f, NULL, "%d is no instruction", in->op);
  if (in->id >= v->p->ninsts || v->inst_ids[in->id])
    return flawed(v, f, in, "its number, %u, is wrong", in->id);
  v->inst_ids[in->id] = 1;
  if (!check_count(v, f, in) || !check_slots(v, f, in) ||
      !check_kinds(v, f, in))
    return false;
  for (size_t i = 0; (a = tk_inst_attr((tk_opcode)in->op, i)); i++)
    if (!check_attr(v, f, in, a)) return false;
  const char *wanted = tk_inst_shape_flaw(f, in);
  if (wanted) return flawed(v, f, in, "its shapes must be %s", wanted);
  return check_ref(v, f, in);
}

/* Whether a statement's own slot has a value; variables do. */
static bool gives_value(const verifier *v, const tk_func *f, int slot) {
  return f->slots[slot].name || v->defined[slot] == 1;
}

static bool is_flag(const tk_func *f, int slot) {
  const tk_type *t = is_slot(f, slot) ? &f->slots[slot].type : NULL;
  return t && !t->rank && !t->ptr && t->elem == TK_INT1;
}

static bool verify_loop(verifier *v, const tk_func *f, const tk_stmt *st) {
  const int slots[4] = {st->iv, st->lb, st->ub, st->step};
  for (int i = 0; i < 4; i++) {
    if (!is_slot(f, slots[i]))
      return flawed(v, f, NULL, "a bound of the loop is no slot");
    if (i ? !gives_value(v, f, slots[i]) : !f->slots[slots[i]].name)
      return flawed(v, f, NULL,
                    i ? "a bound of the loop has no value here"
                      : "the variable of a loop has a name");
    const tk_type *t = &f->slots[slots[i]].type;
    if (t->rank || t->ptr || !tk_is_int((tk_dtype)t->elem) ||
        !tk_same_type(t, &f->slots[st->iv].type))
      return flawed(v, f, NULL,
                    "the variable and the bounds of a loop are integers of "
                    "one type");
  }
  return true;
}

static bool verify_return(verifier *v, const tk_func *f, const tk_stmt *st) {
  if (st->nresults != f->nresults)
    return flawed(v, f, NULL, "the function gives %zu values, not %zu",
                  f->nresults, st->nresults);
  for (size_t i = 0; i < st->nresults; i++)
    if (!is_slot(f, st->results[i]) ||
        !tk_same_type(&f->slots[st->results[i]].type, &f->result_types[i]))
      return flawed(v, f, NULL, "result %zu is not of the function's type", i);
    else if (!gives_value(v, f, st->results[i]))
      return flawed(v, f, NULL, "result %zu has no value here", i);
  return true;
}

static bool check_stmt_place(verifier *v, const tk_func *f, const tk_stmt *st) {
  if (st->id >= v->p->nstmts || v->stmt_ids[st->id])
    return flawed(v, f, NULL, "the statement's number, %u, is wrong", st->id);
  v->stmt_ids[st->id] = 1;
  if (st->span.lo > st->span.hi || st->span.hi > f->src->len)
    return flawed(v, f, NULL, "the statement's place is not in its source");
  return true;
}

/* Once its instructions were verified. */
static bool verify_stmt(verifier *v, const tk_func *f, const tk_stmt *st) {
  switch (st->kind) {
  case TK_S_RUN: return true;
  case TK_S_IF:
  case TK_S_WHILE:
    if (!is_flag(f, st->cond))
      return flawed(v, f, NULL, "the condition is no scalar int1");
    return gives_value(v, f, st->cond) ||
           flawed(v, f, NULL, "the condition has no value here");
  case TK_S_FOR: return verify_loop(v, f, st);
  case TK_S_RETURN: return verify_return(v, f, st);
  }
  return flawed(v, f, NULL, "the statement is of no kind");
}

static bool verify_insts(verifier *v, const tk_func *f, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    if (!verify_inst(v, f, in)) return false;
    if (in->op != TK_I_COND) continue;
    TK_PUSH(v->scratch, &v->conds, in);
    for (int k = 0; k < 2; k++) {
      size_t before = v->defined_here.n;
      if (!verify_insts(v, f, &in->body[k])) return false;
      end_body(v, before);
    }
    v->conds.n--;
  }
  return true;
}

static bool verify_body(verifier *v, const tk_func *f, const tk_body *b) {
  size_t before = v->defined_here.n;
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = v->stmt = b->items[i];
    if (!check_stmt_place(v, f, st) || !verify_insts(v, f, &st->insts) ||
        !verify_stmt(v, f, st) || !verify_body(v, f, &st->body) ||
        !verify_body(v, f, &st->orelse))
      return false;
  }
  end_body(v, before);
  return true;
}

/* Whether no way through the body goes past its end. */
static bool always_returns(const tk_body *b) {
  const tk_stmt *last = b->n ? b->items[b->n - 1] : NULL;
  if (!last) return false;
  return last->kind == TK_S_RETURN ||
         (last->kind == TK_S_IF && always_returns(&last->body) &&
          always_returns(&last->orelse));
}

/* ---- calls -------------------------------------------------------------- */

/* A search for functions that call themselves, by way of others or not. */
typedef struct call_search {
  verifier *v;
  uint8_t *state; /* by number: 1 it is being searched, 2 it was */
  int depth;
} call_search;

enum { MOST_CALLS = 200 }; /* inside each other */

static bool search_calls(call_search *c, const tk_func *f);

static bool search_inst(void *ud, const tk_at *at, const tk_inst *in) {
  call_search *c = ud;
  tk_ref_kind kind = tk_inst_info_of((tk_opcode)in->op)->ref;
  size_t n = kind == TK_REF_CALLEE    ? 1
             : kind == TK_REF_COMBINE ? (size_t)in->ref.combine->nlevels
                                      : 0;
  for (size_t i = 0; i < n; i++) {
    const tk_func *g =
        kind == TK_REF_CALLEE ? in->ref.callee : in->ref.combine->levels[i];
    c->v->stmt = at->stmt;
    if (c->state[g->id] == 1)
      return flawed(c->v, at->func, in, "@%.60s would call itself", g->name);
    if (c->depth >= MOST_CALLS)
      return flawed(c->v, at->func, in,
                    "functions call each other more than %d deep", MOST_CALLS);
    if (!c->state[g->id] && !search_calls(c, g)) return false;
  }
  return true;
}

static bool search_calls(call_search *c, const tk_func *f) {
  c->state[f->id] = 1;
  c->depth++;
  bool holds = tk_walk_func(f, &(tk_walk){.ud = c, .inst = search_inst});
  c->depth--;
  c->state[f->id] = 2;
  return holds;
}

/* ---- programs ------------------------------------------------------------ */

static bool verify_kernel(verifier *v) {
  const tk_program *p = v->p;
  if (!is_func(p, p->kernel))
    return flawed(v, NULL, NULL, "the program has no kernel");
  if (p->kernel->nparams != p->nparams)
    return flawed(v, p->kernel, NULL,
                  "not every parameter of the kernel is filled");
  for (size_t i = 0; i < p->nparams; i++)
    if (p->params[i].slot != p->kernel->params[i] ||
        p->params[i].arg >= p->nargs)
      return flawed(v, p->kernel, NULL, "parameter %zu is filled wrongly", i);
  return true;
}

static bool verify_func(verifier *v, tk_arena *scratch, const tk_func *f) {
  v->scratch = scratch;
  v->defined = TK_NEWN(scratch, uint8_t, f->nslots + 1);
  v->defined_here.n = v->conds.n = 0;
  v->stmt = NULL;
  for (size_t i = 0; i < f->nparams; i++) {
    if (!is_slot(f, f->params[i]))
      return flawed(v, f, NULL, "parameter %zu is no slot", i);
  }
  if (!f->src) return flawed(v, f, NULL, "the function has no source");
  if (f->nresults && !always_returns(&f->body))
    return flawed(v, f, NULL, "the function ends without giving its values");
  return verify_body(v, f, &f->body);
}

typedef struct job {
  verifier v;
  tk_arena scratch;
  bool holds;
} job;

static void verify_program(tk_env *e, void *ud) {
  job *j = ud;
  const tk_program *p = j->v.p;
  (void)e;
  j->v.inst_ids = TK_NEWN(&j->scratch, uint8_t, p->ninsts + 1);
  j->v.stmt_ids = TK_NEWN(&j->scratch, uint8_t, p->nstmts + 1);
  j->holds = verify_kernel(&j->v);
  for (size_t i = 0; j->holds && i < p->nfuncs; i++)
    j->holds = verify_func(&j->v, &j->scratch, p->funcs[i]);
  call_search c = {&j->v, TK_NEWN(&j->scratch, uint8_t, p->nfuncs + 1), 0};
  for (size_t i = 0; j->holds && i < p->nfuncs; i++)
    if (!c.state[i]) j->holds = search_calls(&c, p->funcs[i]);
}

bool tk_program_verify(const tk_program *p, tk_flaw *flaw) {
  tk_env *e = p->arena.env;
  job j = {.v = {.p = p, .flaw = flaw}};
  tk_arena_init(&j.scratch, e);
  tk_status st = tk_protect(e, verify_program, &j);
  tk_arena_free(&j.scratch);
  if (st != TK_OK) tk_throw(e, st);
  return j.holds;
}
