/* versions.c - what another version of Triton makes of a kernel.
 *
 * The launch is specialised by the rules of each other version, nothing of
 * which is run, and compared with its neighbour on the way from the version
 * that is followed.  Where a step from one to the next changes anything, each
 * change that version.def has for it is tried alone: those that make the same
 * difference are the reason, and are told with their text.  Where none does,
 * only what is certain is said.
 */
#include <string.h>

#include "interp/check/check.h"
#include "ir/differ.h"
#include "typing/trial.h"

typedef enum outcome {
  REFUSED, /* by the other versions */
  TAKEN,   /* by them, and refused by the one that is followed */
  OTHER,   /* taken for something else */
} outcome;

typedef struct remark {
  outcome outcome;
  tkc_place at;
  size_t first, last; /* versions: the one next to ours, the farthest one */
  const char *text, *help;
  const char *before; /* what held before a change, of `since`; or NULL */
  const char *since;
  bool told;
} remark;

/* What is known of a unit, in its arena. */
typedef struct tkc_remarks {
  TK_VEC(remark) list;
} tkc_remarks;

enum { HERE, NEXT, TURNED, TRIALS };

typedef struct look {
  tk_launch *launch;
  tk_arena *kept, scratch;
  tkc_remarks *out;
  tk_trial trials[TRIALS];
  tk_rules rules[TRIALS];
  bool older;  /* the way that the search goes */
  size_t open; /* number of the remark that the next version may share + 1 */
  size_t ours; /* the version that is followed */
  bool wrong;  /* it refuses the kernel, and so have all on the way */
} look;

/* ---- trials -------------------------------------------------------------- */

static void try_rules(tk_env *e, look *k, int which, size_t version,
                      int turned) {
  tk_trial_free(e, &k->trials[which]);
  k->rules[which] = (tk_rules){tk_version_number(version), turned};
  tk_trial_make(e, k->launch, &k->rules[which], &k->trials[which]);
}

/* Why a trial refused the kernel; NULL: it did not, or did not say. */
static const tk_diag *reason(const tk_trial *t) {
  const tk_diag *d = t->unit ? NULL : t->said;
  while (d && d->next) d = d->next;
  return d;
}

static tkc_place refused_at(const tk_trial *t) {
  const tk_diag *d = reason(t);
  return d ? (tkc_place){d->src, d->span} : (tkc_place){NULL, {0, 0}};
}

static bool same_place(tkc_place a, tkc_place b) {
  return a.src == b.src && a.span.lo == b.span.lo && a.span.hi == b.span.hi;
}

static bool refuses_alike(const tk_trial *a, const tk_trial *b) {
  return reason(a) && reason(b) && same_place(refused_at(a), refused_at(b));
}

/* ---- remarks ------------------------------------------------------------- */

static remark *add_remark(look *k, outcome is, tkc_place at, size_t version) {
  remark r = {.outcome = is, .at = at, .first = version, .last = version};
  TK_PUSH(k->kept, &k->out->list, r);
  return &k->out->list.items[k->out->list.n - 1];
}

static void reason_is(remark *r, size_t change) {
  r->before = tk_triton_change(change, &r->since);
}

/* "fp16", or the whole type where the shapes differ as well. */
static const char *type_text(look *k, const tk_differing *d, int which) {
  const tk_type *t = &d->types[which];
  if (tk_same_shape(&d->types[0], &d->types[1]))
    return tk_dtype_name((tk_dtype)t->elem);
  tk_buf b;
  tk_buf_init(&b, k->kept->env);
  tk_type_print(&b, t);
  const char *text = tk_arena_strdup(k->kept, tk_buf_str(&b));
  tk_buf_free(&b);
  return text;
}

/* Adds a remark for each place that differs; change: what explains them, or
 * -1. */
static void add_differing(look *k, const tk_differing *d, size_t n,
                          const char *newer, int change) {
  const char *when = k->older ? "before" : "since";
  for (size_t i = 0; i < n; i++) {
    remark *r = add_remark(k, OTHER, (tkc_place){d[i].src, d[i].span}, 0);
    r->text = tk_arena_printf(k->kept, "%s Triton %s this %s", when, newer,
                              change < 0 ? "gives another program"
                                         : "means something else");
    if (d[i].typed)
      r->text = tk_arena_printf(k->kept, "%s Triton %s this is %s, not %s",
                                when, newer, type_text(k, &d[i], 1),
                                type_text(k, &d[i], 0));
    if (change >= 0) reason_is(r, (size_t)change);
  }
}

static remark *add_refused(look *k, size_t version) {
  const tk_diag *d = reason(&k->trials[NEXT]);
  remark *r = add_remark(k, REFUSED, refused_at(&k->trials[NEXT]), version);
  r->text = tk_arena_strdup(k->kept, d ? d->f.message : "it does not say why");
  if (d && d->f.help) r->help = tk_arena_strdup(k->kept, d->f.help);
  k->open = k->out->list.n;
  return r;
}

/* ---- one step from a version to its neighbour ---------------------------- */

/* Whether a change alone makes the step's refusal, or takes the one away that
 * stands. */
static bool decides(const look *k, const tk_trial *refused) {
  bool alike = refuses_alike(&k->trials[TURNED], refused);
  return refused == &k->trials[NEXT] ? alike : !alike;
}

/* Tries every change of the step alone.  Returns whether any makes another
 * program. */
static bool try_changes(tk_env *e, look *k, size_t from, size_t newer,
                        const tk_trial *refused) {
  const tk_trial *here = &k->trials[HERE], *turned = &k->trials[TURNED];
  size_t about = k->out->list.n, n;
  bool any = false;
  int number = tk_version_number(newer), since;
  for (size_t i = 0; (since = tk_change_since(i)); i++) {
    if (since != number) continue;
    try_rules(e, k, TURNED, from, (int)i);
    if (refused && decides(k, refused))
      reason_is(&k->out->list.items[about - 1], i);
    if (!here->unit || !turned->unit) continue;
    const tk_differing *d = tk_programs_differ(
        &k->scratch, &here->unit->program, &turned->unit->program, &n);
    add_differing(k, d, n, tk_triton_version_at(newer), (int)i);
    any |= n > 0;
  }
  return any;
}

static void step_taken(tk_env *e, look *k, size_t from, size_t newer) {
  size_t n;
  const tk_differing *d =
      tk_programs_differ(&k->scratch, &k->trials[HERE].unit->program,
                         &k->trials[NEXT].unit->program, &n);
  if (n && !try_changes(e, k, from, newer, NULL))
    add_differing(k, d, n, tk_triton_version_at(newer), -1);
}

/* The remark that is open holds for this version as well. */
static bool shares(const look *k) {
  if (!k->open) return false;
  const remark *r = &k->out->list.items[k->open - 1];
  const tk_trial *next = &k->trials[NEXT];
  if (r->outcome == REFUSED)
    return reason(next) && same_place(r->at, refused_at(next));
  return next->unit || refuses_alike(&k->trials[HERE], next);
}

static void step(tk_env *e, look *k, size_t from, size_t to) {
  const tk_trial *here = &k->trials[HERE], *next = &k->trials[NEXT];
  size_t newer = from > to ? from : to;
  bool shared = shares(k);
  if (shared) k->out->list.items[k->open - 1].last = to;
  if (here->unit && next->unit) {
    step_taken(e, k, from, newer);
  } else if (!next->unit && !shared && !refuses_alike(here, next)) {
    add_refused(k, to);
    try_changes(e, k, from, newer, next);
  } else if (k->wrong && !refuses_alike(here, next)) {
    k->wrong = false;
    add_remark(k, TAKEN, refused_at(here), to);
    k->open = k->out->list.n;
    try_changes(e, k, from, newer, here);
  }
}

static void look_one_way(tk_env *e, look *k, bool older) {
  k->older = older;
  k->open = 0;
  try_rules(e, k, HERE, k->ours, -1);
  k->wrong = reason(&k->trials[HERE]) != NULL;
  size_t at = k->ours;
  while (older ? at > 0 : tk_version_number(at + 1) != 0) {
    size_t to = older ? at - 1 : at + 1;
    try_rules(e, k, NEXT, to, -1);
    step(e, k, at, to);
    tk_trial before = k->trials[HERE];
    k->trials[HERE] = k->trials[NEXT];
    k->trials[NEXT] = before;
    at = to;
  }
}

static void look_around(tk_env *e, void *ud) {
  look *k = ud;
  int followed = k->rules[HERE].version;
  while (tk_version_number(k->ours) != followed) k->ours++;
  look_one_way(e, k, false);
  look_one_way(e, k, true);
}

static tkc_remarks *remarks_of(tk_env *e, tk_launch *l, tk_arena *kept,
                               int version) {
  look k = {.launch = l, .kept = kept, .rules[HERE] = {version, -1}};
  k.out = TK_NEW(kept, tkc_remarks);
  tk_arena_init(&k.scratch, e);
  tk_status st = tk_protect(e, look_around, &k);
  for (int i = 0; i < TRIALS; i++) tk_trial_free(e, &k.trials[i]);
  tk_arena_free(&k.scratch);
  if (st != TK_OK) tk_throw(e, st);
  return k.out;
}

/* ---- telling ------------------------------------------------------------- */

/* "Triton 3.8 and older refuse", "Triton 3.9 refuses". */
static const char *who(tkc *c, const remark *r, const char *verb) {
  bool older = r->last < r->first, one = r->first == r->last;
  size_t low = older ? r->last : r->first, high = older ? r->first : r->last;
  const char *from = tk_triton_version_at(low),
             *to = tk_triton_version_at(high);
  if (one) return tk_arena_printf(&c->run, "Triton %s %ss", to, verb);
  if (!low) return tk_arena_printf(&c->run, "Triton %s and older %s", to, verb);
  return tk_arena_printf(&c->run, "Triton %s %s %s %s", from,
                         high == low + 1 ? "and" : "to", to, verb);
}

static const char *remark_text(tkc *c, const remark *r) {
  if (r->outcome == OTHER) return r->text;
  if (r->outcome == TAKEN)
    return tk_arena_printf(&c->run, "%s this", who(c, r, "take"));
  return tk_arena_printf(&c->run, "%s this: %s", who(c, r, "refuse"), r->text);
}

static void tell_before(tkc *c, tk_diag *d, const remark *r) {
  if (r->before) tkc_note(c, d, NULL, "before %s: %s", r->since, r->before);
}

/* Findings that begin at one place count as one. */
static bool told_together(const remark *a, const remark *b) {
  return a->at.src == b->at.src && a->at.span.lo == b->at.span.lo;
}

static void tell(tkc *c, tkc_remarks *list) {
  for (size_t i = 0; i < list->list.n; i++) {
    remark *first = &list->list.items[i];
    if (first->told) continue;
    tk_diag *d = tkc_report(c, NULL, TK_D_VERSIONS, &first->at, NULL, "%s",
                            remark_text(c, first));
    tell_before(c, d, first);
    if (first->help) tkc_help(c, d, "%s", first->help);
    for (size_t j = i + 1; j < list->list.n; j++) {
      remark *r = &list->list.items[j];
      if (r->told || !told_together(r, first)) continue;
      tkc_note(c, d, NULL, "%s", remark_text(c, r));
      tell_before(c, d, r);
      r->told = true;
    }
  }
  for (size_t i = 0; i < list->list.n; i++) list->list.items[i].told = false;
}

void *tkc_VERSIONS_begin(tkc *c, tki *t) {
  tk_unit *u = t->launch->unit;
  if (t->launch->fn->fixed) return NULL;
  if (!u->remarks)
    u->remarks = remarks_of(t->env, t->launch, &u->program.arena,
                            tk_trial_version(c->session));
  tell(c, u->remarks);
  return NULL;
}

void tkc_VERSIONS_refused(tkc *c, tk_launch *l) {
  tk_env *e = &c->session->env;
  if (!l->fn->fixed)
    tell(c, remarks_of(e, l, &c->run, tk_trial_version(c->session)));
}
