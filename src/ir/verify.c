/* verify.c - what must hold of a program.
 *
 * Whoever makes a program (the specialiser, the parser, later a pass) may rely
 * on nothing but these rules, and whoever reads one may rely on all of them.
 * Types of operands are checked by the kinds of inst.def; a scalar may stand
 * for a block, which it
 * fills. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/text.h"

typedef struct verifier {
  const tk_program *p;
  tk_flaw *flaw;
  tk_arena *keep;      /* of its text */
  const tk_stmt *stmt; /* whose instructions are checked */
  tk_arena *scratch;
  /* Slots that have a value, whichever way led here: `has` by slot, `trail`
   * those that got theirs since the function began, oldest first.  Where no
   * way leads, `dead`, nothing is asked. */
  uint8_t *has;
  TK_VEC(int) trail;
  bool dead;
  uint8_t *defined; /* by slot: 1 an instruction defines the temporary */
  TK_VEC(const tk_inst *) conds; /* around what is verified */
  int depth;                     /* of statements and conds */
  struct stack_use *use;         /* by number of the function */
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
  const char *text = tk_arena_vprintf(v->keep, fmt, ap);
  va_end(ap);
  if (in)
    text = tk_arena_printf(v->keep, "%s: %s", tk_inst_name((tk_opcode)in->op),
                           text);
  *v->flaw = (tk_flaw){.func = f, .stmt = v->stmt, .inst = in, .text = text};
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
  case TK_OPERAND_SAME: return tk_same_shape(o, t) && tk_same_lanes(o, t);
  case TK_OPERAND_SAME_OR_ONE: return fills(o, t) && tk_same_lanes(o, t);
  case TK_OPERAND_LANES: return tk_same_shape(o, t);
  case TK_OPERAND_LANES_OR_ONE: return fills(o, t);
  case TK_OPERAND_MASK: return fills(o, t) && !o->ptr && o->elem == TK_INT1;
  case TK_OPERAND_FLAG: return !o->rank && !o->ptr && o->elem == TK_INT1;
  case TK_OPERAND_POINTER:
    if (!o->ptr || !tk_same_shape(o, t)) return false;
    pointee = tk_pointee(*o);
    return tk_same_lanes(&pointee, t);
  case TK_OPERAND_OFFSET:
    return fills(o, t) && !o->ptr && tk_is_int((tk_dtype)o->elem) &&
           tk_dtypes[o->elem].bits >= 32;
  }
  return false;
}

static bool check_kinds(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)in->op);
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    const tk_operand_info *o = &row->operands[k];
    for (int i = k; i < in->nargs && (o->many || i == k); i++) {
      int at = o->many ? i : tk_inst_arg(in, k);
      if (at < 0 || at >= in->nargs) continue;
      if (!kind_fits(o->kind, &f->slots[in->args[at]].type, &in->type))
        return flawed(v, f, in, "the operand '%s' must be %s", o->name,
                      tk_operand_wanted(o->kind));
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

/* ---- values -------------------------------------------------------------- */

static bool has_value(const verifier *v, int slot) {
  return v->dead || v->has[slot];
}

static void give_value(verifier *v, int slot) {
  if (v->has[slot]) return;
  v->has[slot] = 1;
  TK_PUSH(v->scratch, &v->trail, slot);
}

/* Forgets the values given since the trail had that length. */
static void take_values(verifier *v, size_t before) {
  while (v->trail.n > before) v->has[v->trail.items[--v->trail.n]] = 0;
}

/* Two ways that part and meet again. */
typedef struct two_ways {
  size_t before;    /* the trail where they part */
  bool dead, dead1; /* there, and at the end of the first way */
  int *first;       /* what the first way gave values to */
  size_t nfirst;
} two_ways;

static two_ways ways_part(const verifier *v) {
  return (two_ways){.before = v->trail.n, .dead = v->dead};
}

static void first_way_ends(verifier *v, two_ways *k) {
  k->nfirst = v->trail.n - k->before;
  k->first = TK_NEWN(v->scratch, int, k->nfirst + 1);
  for (size_t i = 0; i < k->nfirst; i++)
    k->first[i] = v->trail.items[k->before + i];
  k->dead1 = v->dead;
  take_values(v, k->before);
  v->dead = k->dead;
}

/* What has a value is what has one whichever way was taken. */
static void ways_meet(verifier *v, two_ways *k) {
  bool dead2 = v->dead;
  size_t second = v->trail.n;
  v->dead = k->dead1 && dead2;
  if (k->dead1) return;
  if (dead2) take_values(v, k->before);
  for (size_t i = 0; i < k->nfirst; i++) {
    int slot = k->first[i];
    if (dead2)
      give_value(v, slot);
    else if (v->has[slot])
      v->has[slot] = 2; /* both */
  }
  for (size_t i = k->before; !dead2 && i < second; i++) {
    int slot = v->trail.items[i];
    v->has[slot] = v->has[slot] == 2;
  }
  size_t n = k->before;
  for (size_t i = k->before; i < v->trail.n; i++)
    if (v->has[v->trail.items[i]]) v->trail.items[n++] = v->trail.items[i];
  v->trail.n = n;
}

static bool define_temporary(verifier *v, const tk_func *f, const tk_inst *in,
                             int slot) {
  for (size_t i = 0; i < v->conds.n; i++)
    for (int k = 0; k < v->conds.items[i]->nres; k++)
      if (v->conds.items[i]->res[k] == slot) return true;
  if (v->defined[slot]) return flawed(v, f, in, "a temporary is defined twice");
  v->defined[slot] = 1;
  return true;
}

static bool check_slots(verifier *v, const tk_func *f, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) {
    if (!is_slot(f, in->args[k]))
      return flawed(v, f, in, "operand %d is not a slot", k);
    const char *name = f->slots[in->args[k]].name;
    if (!has_value(v, in->args[k]))
      return name ? flawed(v, f, in, "%%%s may have no value here", name)
                  : flawed(v, f, in, "operand %d may have no value here", k);
    if (k < 32 && in->kill >> k & 1 && name)
      return flawed(v, f, in, "operand %d is a variable and lives on", k);
  }
  for (int k = 0; k < in->nres; k++) {
    if (!is_slot(f, in->res[k]))
      return flawed(v, f, in, "result %d is not a slot", k);
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
      return flawed(v, f, in, "its axes are not a permutation");
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
  case TK_ATTR_BITS:
  case TK_ATTR_VALUES: return true;
  case TK_ATTR_FLAG:
    return x == 0 || x == 1 || flawed(v, f, in, "%s is not 0 or 1", a->name);
  case TK_ATTR_AXIS:
    return (x >= 0 && x < rank) ||
           flawed(v, f, in, "the block has no axis %lld", (long long)x);
  case TK_ATTR_AXES: return check_axes(v, f, in);
  case TK_ATTR_FUNCTION:
    return tk_extern_at((size_t)x) ||
           flawed(v, f, in, "libdevice has no such function");
  case TK_ATTR_WORD: break;
  }
  return tk_list_word(a->list, x) ||
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
    return flawed(v, f, in, "@%s takes %zu values, not %d", g->name, g->nparams,
                  in->nargs);
  for (size_t i = 0; i < g->nparams; i++)
    if (!tk_same_type(&g->slots[g->params[i]].type,
                      &f->slots[in->args[i]].type))
      return flawed(v, f, in, "value %zu is not what @%s takes", i, g->name);
  if (g->nresults != in->nres)
    return flawed(v, f, in, "@%s gives %zu values, not %d", g->name,
                  g->nresults, in->nres);
  for (size_t i = 0; i < g->nresults; i++)
    if (!tk_same_type(&g->result_types[i], &f->slots[in->res[i]].type))
      return flawed(v, f, in, "result %zu is not what @%s gives", i, g->name);
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
    const tk_type *t = &f->slots[in->args[at]].type;
    if (t->rank || t->ptr || !tk_is_int((tk_dtype)t->elem))
      return flawed(v, f, in, "a program index must be a scalar integer");
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
    return !in->ref.any || flawed(v, f, in, "it must not refer to anything");
  case TK_REF_CALLEE: return check_callee(v, f, in);
  case TK_REF_COMBINE:
    if (!in->ref.combine)
      return flawed(v, f, in, "it has nothing to combine by");
    for (int i = 0; i < in->ref.combine->nlevels; i++)
      if (!is_func(v->p, in->ref.combine->levels[i]))
        return flawed(v, f, in, "it has no function to combine by");
    return true;
  case TK_REF_FORMAT: return check_format(v, f, in);
  case TK_REF_CODE: return in->ref.code || flawed(v, f, in, "it has no code");
  }
  return true;
}

/* ---- calls -------------------------------------------------------------- */

/* A call, and how deep in its function it stands. */
typedef struct noted_call {
  const tk_func *callee;
  const tk_inst *in;
  const tk_stmt *stmt;
  int depth;
} noted_call;

/* How much stack a function needs when it runs, counted in nested statements:
 * programs run on small stacks. */
typedef struct stack_use {
  TK_VEC(noted_call) calls;
  int deepest; /* of its own statements */
  int needs;   /* with those that it calls */
  enum { USE_UNKNOWN, USE_SEARCHED, USE_KNOWN } state;
} stack_use;

/* A statement takes some 200 bytes of a program's stack, and other things as
 * much as so many of them; a quarter of the stack is left to what instructions
 * call (interp/fiber.c: it has 256 KiB). */
enum { MOST_DEEP = 900, COND_DEPTH = 3, CALL_DEPTH = 9, COMBINE_DEPTH = 21 };

static void note_calls(verifier *v, const tk_func *f, const tk_inst *in) {
  stack_use *u = &v->use[f->id];
  tk_ref_kind kind = tk_inst_info_of((tk_opcode)in->op)->ref;
  if (v->depth > u->deepest) u->deepest = v->depth;
  noted_call c = {.in = in, .stmt = v->stmt, .depth = v->depth};
  if (kind == TK_REF_CALLEE) {
    c.callee = in->ref.callee;
    c.depth += CALL_DEPTH;
    TK_PUSH(v->scratch, &u->calls, c);
  }
  if (kind == TK_REF_COMBINE) c.depth += COMBINE_DEPTH;
  for (int i = 0; kind == TK_REF_COMBINE && i < in->ref.combine->nlevels; i++) {
    c.callee = in->ref.combine->levels[i];
    TK_PUSH(v->scratch, &u->calls, c);
  }
}

/* Finds what a function needs that is called so deep; false: it calls itself,
 * by way of others or not, or too many are called inside each other. */
static bool measure_stack(verifier *v, const tk_func *f, int depth) {
  stack_use *u = &v->use[f->id];
  u->state = USE_SEARCHED;
  u->needs = u->deepest;
  for (size_t i = 0; i < u->calls.n; i++) {
    const noted_call *c = &u->calls.items[i];
    stack_use *callee = &v->use[c->callee->id];
    v->stmt = c->stmt;
    if (callee->state == USE_SEARCHED)
      return flawed(v, f, c->in, "@%s would call itself", c->callee->name);
    bool deep = depth + c->depth > MOST_DEEP;
    if (!deep && callee->state == USE_UNKNOWN &&
        !measure_stack(v, c->callee, depth + c->depth))
      return false;
    v->stmt = c->stmt;
    int needs = c->depth + callee->needs;
    if (deep || needs > MOST_DEEP)
      return flawed(v, f, c->in, "functions call each other too deeply here");
    if (needs > u->needs) u->needs = needs;
  }
  u->state = USE_KNOWN;
  return true;
}

/* ---- instructions and statements ----------------------------------------- */

static bool verify_inst(verifier *v, const tk_func *f, const tk_inst *in) {
  const tk_attr_info *a;
  if (in->op >= TK_INST_COUNT)
    return flawed(v, f, NULL, "%d is not an instruction", in->op);
  if (in->id >= v->p->ninsts || v->inst_ids[in->id])
    return flawed(v, f, in, "its number, %u, is wrong", in->id);
  v->inst_ids[in->id] = 1;
  if (!check_count(v, f, in) || !check_slots(v, f, in) ||
      !check_kinds(v, f, in))
    return false;
  for (size_t i = 0; (a = tk_inst_attr((tk_opcode)in->op, i)); i++)
    if (!check_attr(v, f, in, a)) return false;
  if (!check_ref(v, f, in)) return false;
  const char *wanted = tk_inst_type_flaw(f, in);
  if (wanted) return flawed(v, f, in, "%s", wanted);
  if (in->op != TK_I_COND)
    for (int k = 0; k < in->nres; k++) give_value(v, in->res[k]);
  return true;
}

static bool is_flag(const tk_func *f, int slot) {
  const tk_type *t = is_slot(f, slot) ? &f->slots[slot].type : NULL;
  return t && !t->rank && !t->ptr && t->elem == TK_INT1;
}

static bool verify_loop(verifier *v, const tk_func *f, const tk_stmt *st) {
  const int slots[4] = {st->iv, st->lb, st->ub, st->step};
  for (int i = 0; i < 4; i++) {
    if (!is_slot(f, slots[i]))
      return flawed(v, f, NULL, "a bound of the loop is not a slot");
    if (!i && !f->slots[slots[i]].name)
      return flawed(v, f, NULL, "the variable of a loop has a name");
    if (i && !has_value(v, slots[i]))
      return flawed(v, f, NULL, "a bound of the loop may have no value here");
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
    else if (!has_value(v, st->results[i]))
      return flawed(v, f, NULL, "result %zu may have no value here", i);
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

/* To be called once its instructions are verified. */
static bool verify_stmt(verifier *v, const tk_func *f, const tk_stmt *st) {
  switch (st->kind) {
  case TK_S_RUN: return true;
  case TK_S_IF:
  case TK_S_WHILE:
    if (!is_flag(f, st->cond))
      return flawed(v, f, NULL, "the condition is not a scalar int1");
    return has_value(v, st->cond) ||
           flawed(v, f, NULL, "the condition may have no value here");
  case TK_S_FOR: return verify_loop(v, f, st);
  case TK_S_RETURN: return verify_return(v, f, st);
  }
  return flawed(v, f, NULL, "the statement's kind is unknown");
}

static bool verify_insts(verifier *v, const tk_func *f, const tk_insts *l);

/* Both bodies give its results a value. */
static bool verify_cond(verifier *v, const tk_func *f, const tk_inst *in) {
  two_ways ways = ways_part(v);
  TK_PUSH(v->scratch, &v->conds, in);
  v->depth += COND_DEPTH;
  for (int k = 0; k < 2; k++) {
    if (!verify_insts(v, f, &in->body[k])) return false;
    for (int i = 0; i < in->nres; i++)
      if (!has_value(v, in->res[i]))
        return flawed(v, f, in, "result %d gets no value in its %s body", i,
                      k ? "second" : "first");
    if (!k) first_way_ends(v, &ways);
  }
  v->depth -= COND_DEPTH;
  v->conds.n--;
  ways_meet(v, &ways);
  return true;
}

static bool verify_insts(verifier *v, const tk_func *f, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    if (!verify_inst(v, f, in)) return false;
    note_calls(v, f, in);
    if (in->op == TK_I_COND && !verify_cond(v, f, in)) return false;
  }
  return true;
}

static bool verify_body(verifier *v, const tk_func *f, const tk_body *b);

/* What stands in a statement.  A body may run not at all, but for those of an
 * if, of which one does. */
static bool verify_parts(verifier *v, const tk_func *f, const tk_stmt *st) {
  two_ways ways = ways_part(v);
  if (st->kind == TK_S_FOR) give_value(v, st->iv);
  if (!verify_body(v, f, &st->body)) return false;
  first_way_ends(v, &ways);
  if (!verify_body(v, f, &st->orelse)) return false;
  if (st->kind == TK_S_IF) ways_meet(v, &ways);
  if (st->kind == TK_S_RETURN) v->dead = true;
  return true;
}

static bool verify_body(verifier *v, const tk_func *f, const tk_body *b) {
  v->depth++;
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = v->stmt = b->items[i];
    if (!check_stmt_place(v, f, st) || !verify_insts(v, f, &st->insts) ||
        !verify_stmt(v, f, st) || !verify_parts(v, f, st))
      return false;
  }
  v->depth--;
  return true;
}

/* ---- programs ------------------------------------------------------------ */

/* A value is a scalar or a block, of numbers or pointers to them. */
static bool is_sound(const tk_type *t) {
  int64_t lanes = 1;
  if (t->elem >= TK_DTYPE_COUNT || t->rank > TK_MAX_RANK || t->to_block)
    return false;
  for (int i = 0; i < t->rank; i++) {
    if (t->shape[i] < 1 || t->shape[i] > TK_MAX_NUMEL) return false;
    lanes *= t->shape[i];
    if (lanes > TK_MAX_NUMEL) return false;
  }
  return true;
}

/* What others rely on who call it. */
static bool verify_header(verifier *v, const tk_func *f) {
  for (size_t i = 0; i < f->nslots; i++)
    if (!is_sound(&f->slots[i].type))
      return flawed(v, f, NULL,
                    "value %zu, '%s', has a type that values cannot "
                    "have",
                    i, f->slots[i].name ? f->slots[i].name : "a temporary");
  bool *taken = TK_NEWN(v->scratch, bool, f->nslots + 1);
  for (size_t i = 0; i < f->nparams; i++) {
    if (!is_slot(f, f->params[i]))
      return flawed(v, f, NULL, "parameter %zu is not a slot", i);
    if (taken[f->params[i]])
      return flawed(v, f, NULL, "parameter %zu is the slot of another", i);
    taken[f->params[i]] = true;
  }
  for (size_t i = 0; i < f->nresults; i++)
    if (!is_sound(&f->result_types[i]))
      return flawed(v, f, NULL, "result %zu has a type that values cannot have",
                    i);
  return f->src || flawed(v, f, NULL, "the function has no source");
}

static bool verify_kernel(verifier *v) {
  const tk_program *p = v->p;
  if (!is_func(p, p->kernel))
    return flawed(v, NULL, NULL, "the program has no kernel");
  if (p->kernel->nresults)
    return flawed(v, p->kernel, NULL, "a kernel gives no values");
  if (p->kernel->nparams != p->nparams)
    return flawed(v, p->kernel, NULL,
                  "not every parameter of the kernel is filled");
  for (size_t i = 0; i < p->nparams; i++) {
    if (p->params[i].slot != p->kernel->params[i] ||
        p->params[i].arg >= p->nargs)
      return flawed(v, p->kernel, NULL, "parameter %zu is filled wrongly", i);
    if (p->kernel->slots[p->params[i].slot].type.rank)
      return flawed(v, p->kernel, NULL,
                    "parameter %zu is a block: launches "
                    "fill scalars",
                    i);
  }
  return true;
}

static bool verify_func(verifier *v, const tk_func *f) {
  v->defined = TK_NEWN(v->scratch, uint8_t, f->nslots + 1);
  v->has = TK_NEWN(v->scratch, uint8_t, f->nslots + 1);
  v->trail.n = v->conds.n = 0;
  v->dead = false;
  v->depth = 0;
  v->stmt = NULL;
  for (size_t i = 0; i < f->nparams; i++) give_value(v, f->params[i]);
  if (!verify_body(v, f, &f->body)) return false;
  v->stmt = NULL;
  return v->dead || !f->nresults ||
         flawed(v, f, NULL, "the function ends without giving its values");
}

typedef struct job {
  verifier v;
  tk_arena scratch;
  bool holds;
} job;

static void verify_program(tk_env *e, void *ud) {
  job *j = ud;
  verifier *v = &j->v;
  const tk_program *p = v->p;
  (void)e;
  v->scratch = &j->scratch;
  v->inst_ids = TK_NEWN(&j->scratch, uint8_t, p->ninsts + 1);
  v->stmt_ids = TK_NEWN(&j->scratch, uint8_t, p->nstmts + 1);
  v->use = TK_NEWN(&j->scratch, stack_use, p->nfuncs + 1);
  j->holds = true;
  for (size_t i = 0; j->holds && i < p->nfuncs; i++)
    j->holds = verify_header(v, p->funcs[i]);
  if (j->holds) j->holds = verify_kernel(v);
  for (size_t i = 0; j->holds && i < p->nfuncs; i++)
    j->holds = verify_func(v, p->funcs[i]);
  for (size_t i = 0; j->holds && i < p->nfuncs; i++)
    if (v->use[i].state == USE_UNKNOWN)
      j->holds = measure_stack(v, p->funcs[i], 0);
}

bool tk_program_verify(const tk_program *p, tk_arena *keep, tk_flaw *flaw) {
  tk_env *e = p->arena.env;
  job j = {.v = {.p = p, .flaw = flaw, .keep = keep}};
  tk_arena_init(&j.scratch, e);
  tk_status st = tk_protect(e, verify_program, &j);
  tk_arena_free(&j.scratch);
  if (st != TK_OK) tk_throw(e, st);
  return j.holds;
}
