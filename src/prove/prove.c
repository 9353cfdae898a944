/* prove.c - a launch proved: the kernel is walked, its duties are collected,
 * and each gets a verdict.
 *
 * What is proved is proved again without each relation in turn, so that a
 * verdict names those that it needs and no others.  What is not proved is
 * looked for in small launches. */
#include "tkdbg/prove.h"

#include <string.h>

#include "prove/oblige.h"
#include "prove/retile.h"
#include "prove/smt.h"
#include "prove/solver.h"
#include "prove/variant.h"
#include "prove/where.h"
#include "typing/origin.h"

bool tk_prove_available(void) {
  return tkq_has_isl();
}

tk_verdict tk_proof_worst(const tk_proof *p) {
  tk_verdict worst = TK_PROVED;
  for (; p; p = p->next) {
    if (p->count[TK_REFUTED]) return TK_REFUTED;
    if (p->count[TK_ON_DATA] || p->count[TK_UNDECIDED]) worst = TK_UNDECIDED;
  }
  return worst;
}

int tk_verdict_status(tk_verdict v) {
  switch (v) {
  case TK_PROVED: return 0;
  case TK_REFUTED: return 1;
  case TK_ON_DATA:
  case TK_UNDECIDED: break;
  }
  return 5;
}

/* ---- a proof under way --------------------------------------------------- */

/* What may be spent on the systems that are solved for one launch (asked.c);
 * when three quarters are, verdicts name all relations, not only those that
 * they need. */
enum { MOST_ENTRIES = 60000000 };

typedef struct prove_job {
  tk_launch *launch;
  const tk_prove_options *options;
  tk_arena *arena;
  tk_arena scratch;
  tkq_terms terms;
  tkq_numbers numbers;
  tkq_walk walk;
  tkq_items items;
  const tkq_variant *variant; /* NULL: the form of the launch */
  tk_proof *proof;
  tk_proof_item *verdicts;
  bool tiles_alone; /* nothing but rows and columns of tiles is tried */
  bool took_more;   /* some formula needed more */
} prove_job;

/* The grid as the relations that are on have it. */
static void relate_programs(prove_job *j) {
  for (int i = 0; i < 3; i++)
    j->terms.grid[i] =
        tkq_related(&j->numbers, j->numbers.all.items[j->numbers.grid + i].p);
}

/* The same, with rows and columns of tiles in place of programs. */
static tkq_answer holds_of_tiles(prove_job *j, const tkq_form *facts,
                                 const tkq_form *f) {
  const tkq_form *g = tkq_retiled(&j->terms, f);
  if (!g) return TKQ_PERHAPS;
  return tkq_holds(&j->terms, tkq_and(&j->terms, facts, g));
}

static bool item_holds(prove_job *j, const tkq_item *x, const char **why) {
  relate_programs(j);
  *why = j->numbers.wide
             ? "it could not be shown, and no launch is so large that is run"
             : "it could not be shown, and no small launch contradicts it";
  if (x->reason) *why = x->reason;
  if (x->reason) return false;
  if (x->duty == TK_DUTY_COVER)
    return tkq_covered(&j->walk, &j->numbers, x->tensor, NULL, why);
  const tkq_form *facts = tkq_facts_of(&j->numbers);
  for (size_t i = 0; i < x->bad.n; i++) {
    const tkq_form *f = x->bad.items[i];
    f = tkq_and(&j->terms, f, tkq_contents_of(&j->numbers, &j->walk, f));
    f = tkq_related_form(&j->numbers, f);
    tkq_answer a = holds_of_tiles(j, facts, f);
    bool enough = a == TKQ_NEVER || j->tiles_alone;
    j->took_more |= !enough;
    if (!enough) a = tkq_holds(&j->terms, tkq_and(&j->terms, facts, f));
    if (a == TKQ_GAVE_UP)
      *why = "the solver gave up: too many cases or operations";
    if (a != TKQ_NEVER) return false;
  }
  return true;
}

/* Relations that contradict each other would prove everything. */
static bool relations_agree(prove_job *j) {
  relate_programs(j);
  const tkq_form *f = tkq_facts_of(&j->numbers);
  for (size_t i = 0; i < j->numbers.all.n; i++)
    f = tkq_and(&j->terms, f,
                tkq_ge(&j->terms,
                       tkq_related(&j->numbers, j->numbers.all.items[i].p),
                       tkq_const(&j->terms, INT64_MIN / 4)));
  for (int i = 0; i < 3; i++)
    f = tkq_and(&j->terms, f,
                tkq_ge(&j->terms, j->terms.grid[i], tkq_const(&j->terms, 1)));
  f = tkq_and(&j->terms, f, tkq_possible_contents(&j->numbers));
  return tkq_holds(&j->terms, f) != TKQ_NEVER;
}

/* ---- relations that a proof needs ---------------------------------------- */

static void turn_all(prove_job *j, bool on) {
  for (size_t i = 0; i < j->numbers.relations.n; i++)
    j->numbers.relations.items[i].on = on;
}

/* Quantities that a formula is about, by way of relations too. */
typedef struct prove_about {
  prove_job *job;
  bool *quantity;
  bool more;
} prove_about;

static bool mark_quantity(const tkq_terms *t, int atom, void *ud) {
  prove_about *a = ud;
  const tkq_atom *x = &t->atoms.items[atom];
  int number = x->kind == TKQ_SIZE  ? x->number
               : x->kind == TKQ_PID ? a->job->numbers.grid + x->number
                                    : -1;
  if (number < 0 || a->quantity[number]) return false;
  a->quantity[number] = a->more = true;
  return false;
}

static bool *about(prove_job *j, const tkq_item *x) {
  const tkq_numbers *n = &j->numbers;
  prove_about a = {j, TK_NEWN(j->arena, bool, n->all.n + 1), true};
  for (size_t i = 0; i < n->all.n; i++)
    a.quantity[i] = x->duty == TK_DUTY_COVER;
  for (size_t i = 0; i < x->bad.n; i++)
    tkq_form_has(&j->terms, x->bad.items[i], mark_quantity, &a);
  while (a.more) {
    a.more = false;
    for (size_t i = 0; i < n->all.n; i++)
      if (a.quantity[i] && n->is.items[i])
        tkq_has(&j->terms, n->is.items[i], mark_quantity, &a);
  }
  return a.quantity;
}

/* Turns off relations that say nothing of what an item is about. */
static void turn_unrelated_off(prove_job *j, const tkq_item *x) {
  const bool *quantity = about(j, x);
  tkq_numbers *n = &j->numbers;
  for (size_t r = 0; r < n->relations.n; r++) {
    bool related = n->relations.items[r].fact != NULL;
    for (size_t i = 0; i < n->contents.n; i++)
      related |= n->contents.items[i].relation == (int)r;
    for (size_t i = 0; i < n->all.n; i++)
      related |= quantity[i] && n->all.items[i].relation == (int)r;
    n->relations.items[r].on = related;
  }
}

/* Relations on what memory can hold are few, and a verdict reads best without
 * them: here, and only here, every way is tried. */
static bool holds_of_any_memory(prove_job *j, const tkq_item *x) {
  const char *why;
  int needed_way = j->terms.needed_way;
  turn_all(j, true);
  turn_unrelated_off(j, x);
  for (size_t i = 0; i < j->numbers.relations.n; i++)
    if (j->numbers.relations.items[i].from == TK_GIVEN_ALWAYS)
      j->numbers.relations.items[i].on = false;
  j->terms.needed_way = 0;
  if (item_holds(j, x, &why)) return true;
  j->terms.needed_way = needed_way;
  return false;
}

/* Turns off every relation without which an item holds, by ways that the proof
 * of it needed. */
static void turn_needless_off(prove_job *j, const tkq_item *x) {
  const char *why;
  j->tiles_alone = !j->took_more;
  bool on = holds_of_any_memory(j, x);
  j->terms.most_way = j->terms.needed_way;
  if (!on) {
    turn_all(j, true);
    turn_unrelated_off(j, x);
    if (!item_holds(j, x, &why)) turn_all(j, true);
  }
  for (size_t i = j->numbers.relations.n; i-- > 0;) {
    if (!j->numbers.relations.items[i].on) continue;
    j->numbers.relations.items[i].on = false;
    if (!item_holds(j, x, &why)) j->numbers.relations.items[i].on = true;
  }
}

/* The relations that a proof needs. */
static const bool *needed(prove_job *j, const tkq_item *x) {
  size_t n = j->numbers.relations.n;
  bool *used = TK_NEWN(j->arena, bool, n + 1);
  const char *why;
  for (size_t i = 0; i < n; i++) used[i] = true;
  if (j->terms.budget < MOST_ENTRIES / 4) return used;
  j->terms.most_way = j->terms.needed_way;
  turn_all(j, false);
  bool none = item_holds(j, x, &why);
  j->terms.most_way = TKQ_WAYS - 1;
  if (!none) turn_needless_off(j, x);
  for (size_t i = 0; i < n; i++) used[i] = j->numbers.relations.items[i].on;
  turn_all(j, true);
  relate_programs(j);
  j->terms.most_way = TKQ_WAYS - 1;
  j->tiles_alone = false;
  return used;
}

/* ---- verdicts ------------------------------------------------------------ */

/* What is not known of a term: the last such atom. */
typedef struct prove_datum {
  const char *why;
  int number;
} prove_datum;

static bool is_loaded(const tkq_terms *t, int atom, void *ud) {
  prove_datum *d = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_DATA) return false;
  *d = (prove_datum){a->name, a->number};
  return !strcmp(a->name, "a value that is loaded");
}

/* "the contents of idx" */
static const char *contents_of(prove_job *j, const prove_datum *d) {
  for (size_t i = 0; i < j->walk.loads.n; i++)
    if (j->walk.loads.items[i].datum == d->number)
      return tk_arena_printf(
          j->arena, "the contents of %s",
          j->numbers.tensors[j->walk.loads.items[i].tensor].name);
  return "values that are loaded";
}

/* Whether stores to a tensor hang on what is loaded. */
static bool stores_by_data(prove_job *j, size_t tensor, prove_datum *what) {
  for (size_t i = 0; i < j->walk.accesses.n; i++) {
    const tkq_access *a = &j->walk.accesses.items[i];
    if (!a->writes || !a->known || a->tensor != tensor || !a->p) continue;
    if (tkq_has(&j->terms, a->p, is_loaded, what) ||
        tkq_form_has(&j->terms, a->mask, is_loaded, what) ||
        tkq_form_has(&j->terms, a->path, is_loaded, what))
      return true;
  }
  return false;
}

static bool form_is_unsure(const tkq_item *x) {
  for (size_t i = 0; i < x->bad.n; i++)
    if (!tkq_is_sure(x->bad.items[i])) return true;
  return false;
}

static void put_shown(tk_buf *out, void *ud) {
  const tkq_terms *t = ((void **)ud)[0];
  tkq_put(out, t, ((void **)ud)[1]);
}

/* Why it is undecided: with the term that it is about. */
static const char *reason_of(prove_job *j, const tkq_item *x, const char *why) {
  if (x->reason || !x->shown) return why;
  void *both[] = {&j->terms, (void *)(uintptr_t)x->shown};
  const char *text = tk_arena_text(j->arena, put_shown, both, NULL);
  return tk_arena_printf(j->arena, "%s: %.120s%s", why, text,
                         strlen(text) > 120 ? "..." : "");
}

/* Whether it hangs on what a kernel loads; *why is then what. */
static tk_verdict blame_data(prove_job *j, const tkq_item *x,
                             const char **why) {
  prove_datum what = {NULL, -1};
  bool loaded = false;
  for (size_t i = 0; i < x->bad.n && !loaded; i++)
    loaded = tkq_form_has(&j->terms, x->bad.items[i], is_loaded, &what);
  if (x->duty == TK_DUTY_COVER) loaded = stores_by_data(j, x->tensor, &what);
  if (loaded) {
    *why = tk_arena_printf(j->arena, "it depends on %s", contents_of(j, &what));
    return TK_ON_DATA;
  }
  if (what.why) *why = tk_arena_printf(j->arena, "it has %s in it", what.why);
  if (!what.why && form_is_unsure(x)) *why = "a condition is not followed";
  return TK_UNDECIDED;
}

/* Whether an item holds where one more relation does, which leaves launches. */
static bool holds_where(prove_job *j, const tkq_item *x,
                        const tkq_condition *c) {
  tkq_numbers *n = &j->numbers;
  const char *why;
  int r = tkq_relation_new(n, TK_GIVEN_ASSUMED, c->text);
  n->relations.items[r].fact = c->fact;
  bool holds = item_holds(j, x, &why) && relations_agree(j);
  n->relations.n--;
  return holds;
}

/* Says under which condition an item holds that does not always: the first of
 * those that are tried; and whether it holds under no other. */
static void find_condition(prove_job *j, const tkq_item *x, tk_proof_item *v) {
  tkq_conditions tried = {0};
  tkq_conditions_of(&j->numbers, about(j, x), &tried);
  for (size_t i = 0; i < tried.n && !v->holds; i++) {
    const tkq_condition *c = &tried.items[i];
    if (j->terms.budget <= 0 || !holds_where(j, x, c)) continue;
    v->holds = c->text;
    relate_programs(j);
    if (tkq_fails_unless(&j->walk, &j->numbers, x, c->fact))
      v->fails = c->opposite;
  }
  relate_programs(j);
  if (!v->holds && tkq_fails_unless(&j->walk, &j->numbers, x, tkq_false()))
    v->fails = "always";
}

static void judge_item(prove_job *j, size_t i) {
  const tkq_item *x = &j->items.items[i];
  tk_proof_item *v = &j->verdicts[i];
  const char *why;
  tkq_model model = {NULL, NULL};
  *v = (tk_proof_item){.duty = x->duty, .subject = x->subject};
  if (x->func) v->place = tk_place_of(x->func->src, x->span);
  j->terms.needed_way = 0;
  j->took_more = false;
  if (item_holds(j, x, &why)) {
    v->verdict = TK_PROVED;
    v->assumed = needed(j, x);
    return;
  }
  v->verdict = x->reason ? TK_UNDECIDED : blame_data(j, x, &why);
  v->reason = reason_of(j, x, why);
  if (j->numbers.wide) return; /* no such launch is small enough to run */
  bool refuted = false;
  if (x->reason || v->verdict == TK_ON_DATA)
    tkq_own_launch(&j->walk, &j->numbers, x, &model);
  else
    refuted = tkq_refute(&j->walk, &j->numbers, x, &model);
  v->command = model.command;
  if (!refuted) return;
  v->verdict = TK_REFUTED;
  v->reason = NULL;
  v->finding = model.finding;
  find_condition(j, x, v);
}

/* A proof takes integers for those of mathematics: it holds only where the
 * arithmetic that it rests on is proved as well. */
static void rest_on_arithmetic(prove_job *j, size_t i) {
  const tkq_item *x = &j->items.items[i];
  tk_proof_item *v = &j->verdicts[i];
  for (size_t k = 0; k < x->needs.n; k++) {
    const tk_proof_item *w = &j->verdicts[x->needs.items[k]];
    if (w->verdict == TK_PROVED) continue;
    v->holds = v->fails = NULL;
    if (v->verdict != TK_PROVED) continue;
    v->verdict = w->verdict == TK_ON_DATA ? TK_ON_DATA : TK_UNDECIDED;
    v->reason = tk_arena_printf(
        j->arena, "it holds unless the arithmetic of line %d wraps",
        w->place.line);
  }
}

/* Relations that arithmetic needs are needed by what rests on it. */
static void add_needs(prove_job *j, size_t i) {
  const tkq_item *x = &j->items.items[i];
  tk_proof_item *v = &j->verdicts[i];
  size_t n = j->numbers.relations.n;
  if (v->verdict != TK_PROVED) return;
  bool *all = TK_NEWN(j->arena, bool, n + 1);
  for (size_t r = 0; r < n; r++) {
    all[r] = v->assumed[r];
    for (size_t k = 0; k < x->needs.n; k++)
      all[r] |= j->verdicts[x->needs.items[k]].assumed[r];
  }
  v->assumed = all;
}

/* ---- what stays as in the launch ----------------------------------------- */

static const char *fixed_of(prove_job *j) {
  const tk_program *p = j->numbers.program;
  const char *text = "";
  for (size_t i = 0; i < p->nargs; i++)
    if (p->args[i].value)
      text = tk_arena_printf(j->arena, "%s%s%s = %s", text, *text ? ", " : "",
                             p->args[i].name, p->args[i].value);
  return text;
}

static void fill_proof(prove_job *j) {
  tk_proof *p = j->proof;
  size_t n = j->numbers.relations.n;
  const char **texts = TK_NEWN(j->arena, const char *, n + 1);
  tk_given *given = TK_NEWN(j->arena, tk_given, n + 1);
  for (size_t i = 0; i < n; i++) {
    texts[i] = j->numbers.relations.items[i].text;
    given[i] = j->numbers.relations.items[i].from;
  }
  *p = (tk_proof){.kernel = j->numbers.program->kernel->name,
                  .fixed = fixed_of(j),
                  .items = j->verdicts,
                  .nitems = j->items.n,
                  .relations = texts,
                  .given = given,
                  .nrelations = n,
                  .notes = j->numbers.notes.items,
                  .nnotes = j->numbers.notes.n,
                  .form = j->variant ? j->variant->text : NULL};
  for (size_t i = 0; i < j->items.n; i++) p->count[j->verdicts[i].verdict]++;
}

static void check_relations(prove_job *j, tk_env *e) {
  if (relations_agree(j)) return;
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "the relations of this launch contradict each "
                           "other, so that every kernel would be right");
  for (size_t i = 0; i < j->numbers.relations.n; i++)
    tk_diag_note(e, d, NULL, (tk_span){0, 0}, "%s",
                 j->numbers.relations.items[i].text);
  tk_throw(e, TK_USAGE);
}

/* The relations that leave no launch for a form, in a row. */
static const char *contradiction(prove_job *j) {
  const char *text = "";
  for (size_t i = j->numbers.relations.n; i-- > 0;) {
    tkq_relation *r = &j->numbers.relations.items[i];
    r->on = r->from == TK_GIVEN_FORM;
    if (!r->on && relations_agree(j)) r->on = true;
  }
  for (size_t i = 0; i < j->numbers.relations.n; i++) {
    const tkq_relation *r = &j->numbers.relations.items[i];
    if (r->on && r->from != TK_GIVEN_FORM)
      text =
          tk_arena_printf(j->arena, "%s%s%s", text, *text ? ", " : "", r->text);
  }
  return text;
}

/* Coverage is left out: its question is about sets, and no formula. */
static void write_questions(prove_job *j, tk_env *e) {
  const char *folder = j->options->smt_out;
  tkq_smt_folder(e, j->arena, folder);
  for (size_t i = 0; i < j->items.n; i++) {
    const tkq_item *x = &j->items.items[i];
    if (x->func && !x->reason)
      tkq_smt_write(e, folder, &j->numbers, &j->walk, x);
  }
}

static void need_solver(tk_env *e) {
  if (tkq_has_isl()) return;
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "this tkdbg was built without the solver that "
                           "proofs need");
  tk_diag_help(e, d, "install the package libisl-dev, and build tkdbg again");
  tk_throw(e, TK_USAGE);
}

static void find_relations(prove_job *j, tk_env *e) {
  tkq_numbers_of(&j->numbers);
  if (j->options && j->options->told)
    tkq_tell(&j->numbers, e, j->options->told);
  tkq_guess(&j->numbers);
  if (j->options && j->options->assume)
    tkq_assume(&j->numbers, e, j->options->assume);
}

static void judge_all(prove_job *j, tk_env *e) {
  for (int i = 0; i < 3; i++)
    j->terms.grid[i] = j->numbers.all.items[j->numbers.grid + i].p;
  j->walk = (tkq_walk){.terms = &j->terms,
                       .program = j->numbers.program,
                       .params = j->numbers.params};
  tkq_walk_program(&j->walk);
  tkq_check_contents(&j->numbers, &j->walk, e);
  tkq_oblige(&j->walk, &j->numbers, &j->items);
  j->verdicts = TK_NEWN(j->arena, tk_proof_item, j->items.n + 1);
  if (j->options && j->options->smt_out && !j->variant) write_questions(j, e);
  for (size_t i = 0; i < j->items.n; i++) judge_item(j, i);
  for (size_t i = 0; i < j->items.n; i++) rest_on_arithmetic(j, i);
  for (size_t i = 0; i < j->items.n; i++) add_needs(j, i);
}

static prove_job job_of(const prove_job *j, const tkq_variant *v) {
  prove_job x = {.launch = j->launch,
                 .options = j->options,
                 .arena = j->arena,
                 .variant = v};
  tk_arena_init(&x.scratch, j->arena->env);
  x.proof = TK_NEW(j->arena, tk_proof);
  return x;
}

static void prove_form(tk_env *e, void *ud) {
  prove_job *j = ud;
  const tkq_variant *v = j->variant;
  const tk_unit *own = j->launch->unit;
  j->terms = (tkq_terms){.arena = j->arena,
                         .lasting = j->arena,
                         .scratch = &j->scratch,
                         .most_way = TKQ_WAYS - 1,
                         .budget = MOST_ENTRIES};
  j->numbers = (tkq_numbers){.terms = &j->terms,
                             .launch = j->launch,
                             .program = v ? v->program : &own->program,
                             .scalars = v ? v->scalars : &own->program,
                             .wide = v && v->kind == TKQ_INT64};
  find_relations(j, e);
  const char *absent = NULL;
  if (v) tkq_variant_tell(&j->numbers, v);
  if (!v)
    check_relations(j, e);
  else if (!relations_agree(j))
    absent = contradiction(j);
  if (!absent) judge_all(j, e);
  fill_proof(j);
  if (v) j->proof->nnotes = 0; /* the launch's own has them */
  j->proof->absent = absent;
}

/* The proof of a form; throws what is thrown there. */
static tk_proof *proof_of(tk_env *e, const prove_job *j, const tkq_variant *v) {
  prove_job x = job_of(j, v);
  tk_status st = tk_protect(e, prove_form, &x);
  tk_arena_free(&x.scratch);
  if (st != TK_OK) tk_throw(e, st);
  return x.proof;
}

/* ---- neighbouring forms -------------------------------------------------- */

enum { MOST_FORMS = 32 };

static tk_proof *refused_proof(const prove_job *j, const tkq_variant *v) {
  tk_proof *p = TK_NEW(j->arena, tk_proof);
  const tk_unit *own = j->launch->unit;
  *p = (tk_proof){.kernel = own->program.kernel->name,
                  .fixed = "",
                  .form = v->text,
                  .absent = tk_arena_printf(
                      j->arena, "the kernel does not compile: %s", v->refused)};
  return p;
}

static void note_forms(const prove_job *j, const char *text) {
  size_t n = j->proof->nnotes;
  const char **notes = TK_NEWN(j->arena, const char *, n + 1);
  for (size_t i = 0; i < n; i++) notes[i] = j->proof->notes[i];
  notes[n] = text;
  j->proof->notes = notes;
  j->proof->nnotes = n + 1;
}

static void prove_neighbours(prove_job *j, tk_env *e) {
  const tk_unit *own = j->launch->unit;
  tk_proof *last = j->proof;
  size_t forms = 0;
  for (size_t arg = 0; arg < j->launch->nargs; arg++)
    for (int kind = 0; kind < TKQ_VARIANTS; kind++) {
      tkq_variant v = {.kind = (tkq_variant_kind)kind, .arg = arg};
      if (!tkq_variant_make(e, j->launch, &own->program, &v)) continue;
      if (++forms > MOST_FORMS) continue;
      tk_proof *p = v.program ? proof_of(e, j, &v) : refused_proof(j, &v);
      last->next = p;
      last = p;
    }
  if (forms > MOST_FORMS)
    note_forms(j, tk_arena_printf(j->arena,
                                  "%zu more forms are not proved: at most %d "
                                  "neighbours of a launch are",
                                  forms - MOST_FORMS, MOST_FORMS));
  if (j->launch->fn->fixed || j->launch->fn->form)
    note_forms(j, "this launch has a typed form in place of a kernel, so that "
                  "there are no other forms");
}

static void prove_launch(tk_env *e, void *ud) {
  prove_job *j = ud;
  need_solver(e);
  j->launch->unit = tk_specialise(e, j->launch);
  j->proof = proof_of(e, j, NULL);
  if (j->options && j->options->all_forms) prove_neighbours(j, e);
}

tk_status tk_launch_prove(tk_launch *l, const tk_prove_options *o,
                          const tk_proof **out) {
  prove_job j = {.launch = l, .options = o, .arena = &l->arena};
  *out = NULL;
  tk_status st = tk_session_guard(l->session, prove_launch, &j);
  if (st == TK_OK) *out = j.proof;
  return st;
}
