/* statement.c - the first statement whose value another compiler's code does
 * not have.
 *
 * Such code records nothing, but its lines are known (.loc), and it is run here
 * instruction by instruction.  The interpreter says of the first wrong element
 * which statements gave it, with their values (tk_explanation); a witness says
 * which instructions of the code did, with theirs (ptx/witness.h).  A statement
 * is missing where there are instructions of its line among these, and none
 * left its value.  From the store on, missing statements are followed to those
 * that they were computed from: the last one is named. */
#include "run/statement.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/format.h"
#include "launch/areas.h"
#include "ptx/witness.h"

typedef struct search {
  const tkr_pinning *asked;
  tk_divergence *to;
  const tk_difference *difference;
  tk_arena arena;
  tkp_witness *witness;
  const tkp_seen *seen;
  size_t nseen;
  tkp_seen store;
  bool *visited; /* by step */
} search;

typedef enum verdict {
  SILENT, /* no instruction of its line is left */
  HELD,   /* one has left the value */
  MISSING,
} verdict;

/* ---- values -------------------------------------------------------------- */

/* How far two floats may be apart that count as the same: rounding and the
 * order of sums are no fault here. */
static double slack_of(tk_dtype d) {
  switch (d) {
  case TK_FP64: return 0x1p-20;
  case TK_FP32: return 0x1p-10;
  case TK_FP16: return 0x1p-8;
  case TK_BF16: return 0x1p-6;
  default: return 0; /* fp8: few values, each far from the next */
  }
}

static bool are_near(tk_dtype d, double a, double b) {
  if (a != a || b != b) return a != a && b != b;
  return a == b || fabs(a - b) <= slack_of(d) * fabs(b);
}

static uint64_t extended(uint64_t v, unsigned bits) {
  unsigned above = 64 - bits;
  return (uint64_t)((int64_t)(v << above) >> above);
}

/* Whether a register has a lane of an integer type; small types
 * may stand above each other, where zeros and ones are only what fills it. */
static bool has_integer(const tkp_seen *s, uint64_t want, unsigned bits) {
  uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
  want &= mask;
  if (s->bits < bits)
    return want == s->value || want == (extended(s->value, s->bits) & mask);
  if ((s->value & mask) == want) return true;
  for (unsigned at = bits; bits < 32 && at < s->bits; at += bits)
    if (want && want != mask && (s->value >> at & mask) == want) return true;
  return false;
}

static bool has_float(const tkp_seen *s, const tk_lane *want, unsigned bits) {
  double v = tk_lane_double(want->dtype, &want->bits);
  for (unsigned at = 0; at + bits <= s->bits; at += bits) {
    uint64_t part = s->value >> at;
    if (are_near(want->dtype, tk_lane_double(want->dtype, &part), v))
      return true;
  }
  return bits < 32 && s->bits == 32 &&
         are_near(want->dtype, tk_lane_double(TK_FP32, &s->value), v);
}

/* A predicate may be the opposite of what the kernel compares. */
static bool has_lane(const tkp_seen *s, const tk_lane *want) {
  unsigned bits = 8 * (unsigned)tk_dtype_size(want->dtype);
  if (want->dtype == TK_INT1) return true;
  if (s->bits == 1) return false;
  return tk_is_float(want->dtype) ? has_float(s, want, bits)
                                  : has_integer(s, want->bits, bits);
}

/* ---- lines --------------------------------------------------------------- */

static bool is_at(const tkp_seen *s, const tk_place *p) {
  int line = (int)s->line, last = p->end_line > p->line ? p->end_line : p->line;
  return s->file && p->file && line >= p->line && line <= last &&
         !strcmp(tk_base_name(s->file), tk_base_name(p->file));
}

static verdict verdict_of(const search *x, const tk_step *s) {
  bool any = false, loads = s->memory != TK_MEMORY_NONE;
  /* Addresses are computed in other ways; what they lead to counts. */
  if (!s->value.text || !s->place.file || s->constant || s->value.pointer)
    return SILENT;
  for (size_t i = 0; i < x->nseen; i++) {
    const tkp_seen *seen = &x->seen[i];
    if (!is_at(seen, &s->place)) continue;
    if (has_lane(seen, &s->value)) return HELD;
    any |= loads ? seen->loaded : seen->bits > 1;
  }
  return any ? MISSING : SILENT;
}

/* The step that one stands for. */
static int itself(const tk_explanation *why, int at) {
  const tk_step *s = &why->steps[at];
  return s->kind == TK_STEP_AGAIN ? s->same : at;
}

/* Whether the code has an operand of the statement, or what an address among
 * them was made from: then the statement is what differs, and not only a value
 * that the code has no use for, such as the lanes of tl.arange that are offsets
 * of another one. */
static bool has_operand(const search *x, const tk_explanation *why,
                        const tk_step *s) {
  for (size_t k = 0; k < s->noperands; k++) {
    const tk_step *o = &why->steps[itself(why, s->operands[k])];
    if (o->value.pointer && has_operand(x, why, o)) return true;
    if (o->value.dtype != TK_INT1 && verdict_of(x, o) == HELD) return true;
  }
  return false;
}

/* The missing statement nearest to the beginning that a step was made from, or
 * the step itself if it is missing; *sure: the code has an operand of it, or it
 * reads memory, which no compiler does for it.  If
 * none is sure, that nearest to the store.  -1: none is missing. */
static int first_missing(search *x, const tk_explanation *why, int at,
                         bool *sure) {
  int maybe = -1;
  at = itself(why, at);
  const tk_step *s = &why->steps[at];
  *sure = false;
  if (x->visited[at]) return -1;
  x->visited[at] = true;
  verdict v = verdict_of(x, s);
  if (v == HELD) return -1;
  for (size_t k = 0; k < s->noperands; k++) {
    int found = first_missing(x, why, s->operands[k], sure);
    if (*sure) return found;
    if (maybe < 0) maybe = found;
  }
  *sure =
      v == MISSING && (s->memory == TK_MEMORY_READ || has_operand(x, why, s));
  return v == MISSING ? at : maybe;
}

typedef struct asking {
  const tk_step *step;
  bool found;
} asking;

static bool ask_seen(void *ud, const tkp_seen *seen) {
  asking *a = ud;
  a->found = is_at(seen, &a->step->place) && seen->bits > 1 &&
             has_lane(seen, &a->step->value);
  return !a->found;
}

/* Whether the program has a value somewhere, though the element was not made
 * from it. */
static bool has_elsewhere(const search *x, const tk_step *s) {
  asking a = {s, false};
  if (s->value.text && s->place.file && s->value.dtype != TK_INT1)
    tkp_witness_each(x->witness, ask_seen, &a);
  return a.found;
}

/* ---- what is told -------------------------------------------------------- */

static bool has_width(const tkp_seen *s, unsigned bits) {
  return bits > 32 ? s->bits == 64 : s->bits > 1 && s->bits <= 32;
}

/* What the last instruction of the statement's line left that could be it. */
static void tell_others(const search *x, const tk_step *s) {
  tk_divergence *to = x->to;
  unsigned bits = 8 * (unsigned)tk_dtype_size(s->value.dtype);
  for (size_t i = 0; i < x->nseen; i++) {
    const tkp_seen *seen = &x->seen[i];
    if (!is_at(seen, &s->place) || !has_width(seen, bits)) continue;
    if (!to->code_line) to->code_line = (int)seen->at;
    if (to->code_line != (int)seen->at) continue;
    tk_lane lane =
        tk_lane_shown(&x->asked->launch->answers, &x->asked->launch->text,
                      s->value.dtype, &seen->value);
    bool known = false;
    for (size_t k = 0; k < to->nothers; k++)
      known |= !strcmp(to->others[k].text, lane.text);
    if (!known && to->nothers < TK_COUNT(to->others))
      to->others[to->nothers++] = lane;
    else if (!known)
      to->more_others = true;
  }
}

/* Of the statement's operands, those that the code has as well. */
static void tell_operands(const search *x, const tk_explanation *why,
                          const tk_step *s) {
  tk_divergence *to = x->to;
  for (size_t k = 0; k < s->noperands; k++) {
    const tk_step *o = &why->steps[itself(why, s->operands[k])];
    if (verdict_of(x, o) != HELD || o->value.dtype == TK_INT1) continue;
    if (to->noperands == TK_COUNT(to->operands)) return;
    to->names[to->noperands] = o->name ? o->name : o->source;
    to->operands[to->noperands++] = o->value;
  }
}

static void tell_statement(const search *x, const tk_explanation *why,
                           const tk_step *s) {
  tk_divergence *to = x->to;
  to->found = true;
  to->place = s->place;
  to->function = s->function;
  to->operation = s->name ? s->name : s->source ? s->source : s->operation;
  to->own = s->value;
  to->lane_rank = s->lane_rank;
  memcpy(to->lane, s->lane, sizeof to->lane);
  to->lanes = to->different = 1;
  tell_others(x, s);
  tell_operands(x, why, s);
}

/* All that the element was made from is there: the store is wrong. */
static void tell_store(const search *x, const tk_explanation *why,
                       const char *what) {
  tk_divergence *to = x->to;
  to->found = true;
  to->place = why->place;
  to->function = x->difference->first.function;
  to->operation = "store";
  to->own = why->blame.value;
  to->other = x->difference->first.found;
  to->lanes = to->different = 1;
  to->code_line = (int)x->store.at;
  to->says = what;
}

/* ---- the search ---------------------------------------------------------- */

static const tk_difference *first_wrong(const tk_launch *l) {
  for (size_t i = 0; i < l->differences.n; i++)
    if (l->differences.items[i].wrong) return &l->differences.items[i];
  return NULL;
}

/* Why nothing can be followed; NULL: it can. */
static const char *obstacle_of(const search *x) {
  const tk_difference *d = x->difference;
  if (!d) return "no element is wrong";
  const tk_explanation *why = d->explanation;
  if (!why || d->explained_nearest || !why->blame.nwrites)
    return "by the interpreter no program writes the first element that is "
           "wrong";
  if (!why->nsteps) return why->why ? why->why : "its value is a constant";
  return NULL;
}

/* The value that was stored comes first, then what else chose the element. */
static void tell_missing(search *x, const tk_explanation *why) {
  int named = -1;
  x->visited = TK_NEWN(&x->arena, bool, why->nsteps);
  for (size_t i = 0; i < why->nsteps; i++) {
    bool sure;
    const tk_step *root = &why->steps[i];
    if (root->parent >= 0 || root->role == TK_ROLE_ADDRESS) continue;
    int missing = first_missing(x, why, (int)i, &sure);
    if (missing >= 0 && (sure || named < 0)) named = missing;
    if (sure) break;
  }
  /* All of it may be another lane's, which is the store's fault. */
  const tk_step *found = named >= 0 ? &why->steps[named] : NULL;
  bool doubtful =
      found && (found->parent < 0 || found->memory == TK_MEMORY_READ);
  if (doubtful && has_elsewhere(x, &why->steps[0]))
    tell_store(x, why, "the value is in other registers");
  else if (found)
    tell_statement(x, why, found);
  else if (verdict_of(x, &why->steps[0]) == HELD)
    tell_store(x, why, "its line has that value, too");
  else
    tell_store(x, why, "nothing is left of the statements that gave the value");
}

static void follow(search *x) {
  const tk_explanation *why = x->difference->explanation;
  const tk_element *e = &why->blame.element;
  switch (tkp_witness_of(x->witness, e->address,
                         tk_dtype_size(why->blame.value.dtype), &x->seen,
                         &x->nseen, &x->store)) {
  case TKP_T_CUT:
    x->to->says = "its program runs more instructions than are kept";
    return;
  case TKP_T_NOT_RUN:
    x->to->says = "the code ended before it came to that program";
    return;
  case TKP_T_UNWRITTEN: tell_store(x, why, "it stores nothing there"); return;
  case TKP_T_SEEN: break;
  }
  tell_missing(x, why);
}

static void search_statement(tk_env *e, void *ud) {
  search *x = ud;
  const tkr_pinning *a = x->asked;
  tk_summary unused = {0};
  (void)e;
  x->to->says = obstacle_of(x);
  if (x->to->says) return;
  const tk_write *last = &x->difference->explanation->blame.writes[0];
  const int64_t *grid = a->launch->grid, *at = last->program;
  memcpy(x->to->program, at, sizeof x->to->program);
  x->witness = tkp_witness_new(
      &x->arena, (uint64_t)(at[0] + grid[0] * (at[1] + grid[1] * at[2])));
  tkr_memory_put_back(a->before);
  tk_status st = a->witnessed(a->launch, a->options, x->witness, &unused);
  if (st != TK_OK && st != TK_FINDING) tk_throw(e, st);
  follow(x);
}

tk_status tkr_find_statement(const tkr_pinning *asked, tk_divergence *to) {
  tk_session *s = asked->launch->session;
  search x = {
      .asked = asked, .to = to, .difference = first_wrong(asked->launch)};
  tk_output_fn output = s->output;
  size_t diags = s->env.ndiags;
  to->cause = TK_CAUSE_COMPILER;
  tk_arena_init(&x.arena, &s->env);
  s->output = NULL;
  tk_status st = tk_session_guard(s, search_statement, &x);
  s->output = output;
  tk_diag_truncate(&s->env, diags);
  tk_arena_free(&x.arena);
  return st;
}
