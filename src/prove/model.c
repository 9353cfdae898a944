/* model.c - a launch that shows that a duty is not kept.
 *
 * Small sizes are tried, the smallest first, with every other number of the
 * launch as the relations say.  Where the solver does not rule them out, the
 * launch is made in a session of its own and run with all detectors; only what
 * they report counts. */
#include "prove/oblige.h"

#include "prove/solver.h"

#include <inttypes.h>
#include <string.h>

enum {
  MOST_TRIES = 1500,
  MOST_RUNS = 12,
  MOST_COVER_RUNS = 150,
  MOST_PROGRAMS = 4096
};
enum { MOST_ELEMENTS = 1 << 21, MOST_OWN_ELEMENTS = 1 << 18 };
enum { MOST_ENTRIES = 3000000 };

typedef struct model_job {
  const tkq_walk *w;
  const tkq_numbers *n;
  const tkq_item *item;
  int64_t *value; /* of each quantity */
  size_t tries, runs;
  int64_t least_budget; /* of the solver, which the search leaves */
  size_t most_runs;   /* the detector of what is unwritten passes over launches
                         that write little */
  bool first_program; /* only what it does counts */
  tkq_model *out;
} model_job;

/* ---- numbers ------------------------------------------------------------- */

/* By way of relations: they may speak of quantities that come later. */
static const tkq_poly *model_number(tkq_terms *t, void *ud, int atom) {
  const model_job *j = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_SIZE) return NULL;
  if (j->n->all.items[a->number].relation < 0)
    return tkq_const(t, j->value[a->number]);
  return tkq_replace(t, j->n->is.items[a->number],
                     &(tkq_subst){model_number, ud});
}

/* Whether all else holds that a quantity equals in the launch. */
static bool rivals_agree(const model_job *j, const tkq_subst *s) {
  const tkq_numbers *n = j->n;
  for (size_t i = 0; i < n->rivals.n; i++) {
    const tkq_rival *r = &n->rivals.items[i];
    int64_t c;
    if (r->if_asked && !j->w->asks[r->quantity - n->grid]) continue;
    const tkq_poly *p = tkq_replace(n->terms, tkq_related(n, r->p), s);
    if (!tkq_is_const(p, &c) || c != j->value[r->quantity]) return false;
  }
  return true;
}

/* Fills in what follows from the free quantities; false: not such a launch. */
static bool complete_model(model_job *j) {
  const tkq_numbers *n = j->n;
  tkq_subst s = {model_number, j};
  for (size_t i = 0; i < n->all.n; i++) {
    const tkq_quantity *q = &n->all.items[i];
    if (q->relation >= 0) {
      const tkq_poly *p = tkq_replace(n->terms, n->is.items[i], &s);
      if (!tkq_is_const(p, &j->value[i])) return false;
    }
    if (q->never_one && j->value[i] == 1) return false;
    if (q->kind == TKQ_OF_GRID && j->value[i] < 0) return false;
  }
  if (!rivals_agree(j, &s)) return false;
  const tkq_form *f = tkq_replace_form(n->terms, tkq_facts_of(n), &s);
  return f->kind == TKQ_TRUE;
}

static bool is_small(const model_job *j, int64_t most_elements) {
  const tkq_numbers *n = j->n;
  int64_t programs = 1;
  for (int i = 0; i < 3; i++) {
    int64_t v = j->value[n->grid + i];
    if (v > MOST_PROGRAMS) return false;
    programs *= v;
  }
  for (size_t k = 0; k < n->launch->nargs; k++) {
    int64_t numel = 1;
    for (int i = 0; n->tensors[k].name && i < n->tensors[k].rank; i++)
      if (j->value[n->tensors[k].shape + i] > most_elements ||
          (numel *= j->value[n->tensors[k].shape + i]) > most_elements)
        return false;
  }
  return programs <= MOST_PROGRAMS;
}

/* Whether the solver leaves it open that the duty is not kept there. */
static bool is_possible(model_job *j) {
  tkq_terms *t = j->n->terms;
  tkq_subst s = {model_number, j};
  const tkq_poly *grid[3];
  bool possible = false;
  const char *why;
  for (int i = 0; i < 3; i++) {
    grid[i] = t->grid[i];
    t->grid[i] = tkq_const(t, j->value[j->n->grid + i]);
  }
  if (j->item->duty == TK_DUTY_COVER)
    possible = !tkq_covered(j->w, j->n, j->item->tensor, &s, &why);
  for (size_t i = 0; i < j->item->bad.n && !possible; i++) {
    const tkq_form *f = tkq_related_form(j->n, j->item->bad.items[i]);
    possible = tkq_holds(t, tkq_replace_form(t, f, &s)) != TKQ_NEVER;
  }
  for (int i = 0; i < 3; i++) t->grid[i] = grid[i];
  return possible;
}

/* ---- the launch ---------------------------------------------------------- */

/* "x=f32[5,7]:ones" */
static void put_tensor(tk_buf *out, const model_job *j, size_t arg) {
  const tkq_tensor *x = &j->n->tensors[arg];
  const char *fill = x->unwritten            ? "empty"
                     : tk_is_float(x->dtype) ? "ones"
                                             : "zeros";
  tk_buf_printf(out, "%s=%s[", x->name, tk_dtype_name(x->dtype));
  for (int i = 0; i < x->rank; i++)
    tk_buf_printf(out, "%s%" PRId64, i ? "," : "", j->value[x->shape + i]);
  tk_buf_printf(out, "]:%s", fill);
}

typedef struct model_argument {
  const model_job *job;
  size_t arg;
} model_argument;

static void put_argument(tk_buf *out, void *ud) {
  const model_job *j = ((model_argument *)ud)->job;
  size_t arg = ((model_argument *)ud)->arg;
  const tk_arg *a = &j->n->launch->args[arg];
  int q = tkq_scalar_of(j->n, arg);
  if (a->kind == TK_ARG_TENSOR) {
    put_tensor(out, j, arg);
  } else if (q >= 0) {
    tk_buf_printf(out, "%s=", a->name);
    if (a->kind == TK_ARG_SCALAR)
      tk_buf_printf(out, "%s:", tk_dtype_name(a->dtype));
    tk_buf_printf(out, "%" PRId64, j->value[q]);
  }
}

/* The text of an argument; "": it is taken over as it is. */
static const char *argument_text(const model_job *j, size_t arg) {
  return tk_arena_text(j->n->terms->arena, put_argument,
                       &(model_argument){j, arg}, NULL);
}

static bool give_argument(tk_launch *l, const model_job *j, size_t arg) {
  const tk_arg *a = &j->n->launch->args[arg];
  const char *text = argument_text(j, arg);
  tk_status st = TK_OK;
  if (*text)
    st = tk_launch_arg_text(l, text);
  else if (a->kind == TK_ARG_VALUE)
    st = tk_launch_value(l, a->name, &a->value);
  else if (a->kind == TK_ARG_SCALAR)
    st = tk_launch_scalar(l, a->name, a->dtype, a->bits);
  if (a->no_specialize && st == TK_OK) st = tk_launch_no_specialize(l, a->name);
  return st == TK_OK;
}

static const char *command_of(const model_job *j) {
  const tkq_numbers *n = j->n;
  tk_arena *a = n->terms->arena;
  const char *text = "";
  for (size_t i = 0; i < n->launch->nargs; i++) {
    const char *arg = argument_text(j, i), *value = n->program->args[i].value;
    if (!*arg && value && strcmp(value, "None"))
      arg = tk_arena_printf(a, "%s=%s", n->launch->args[i].name, value);
    if (*arg) text = tk_arena_printf(a, "%s --arg '%s'", text, arg);
  }
  return tk_arena_printf(
      a, "--kernel %s --grid %" PRId64 ",%" PRId64 ",%" PRId64 "%s",
      n->launch->fn->item->name, j->value[n->grid], j->value[n->grid + 1],
      j->value[n->grid + 2], text);
}

/* ---- what the interpreter says ------------------------------------------- */

static bool shows(const model_job *j, const tk_finding *f) {
  const tkq_item *x = j->item;
  if (x->duty == TK_DUTY_COVER)
    return f->kind == TK_D_UNWRITTEN && f->has_element && f->element.tensor &&
           !strcmp(f->element.tensor, j->n->tensors[x->tensor].name);
  bool clash = f->kind == TK_D_RACE || f->kind == TK_D_TWICE;
  bool other = clash && f->from.file && f->from.offset == x->span.lo;
  if (f->place.offset != x->span.lo && !other) return false;
  switch (x->duty) {
  case TK_DUTY_BOUNDS: return f->kind == TK_D_BOUNDS;
  case TK_DUTY_WRAP: return f->kind == TK_D_OVERFLOW;
  case TK_DUTY_OVERLAP:
  case TK_DUTY_LANES: return clash;
  case TK_DUTY_CLAIM: return f->kind == TK_D_ASSERT;
  case TK_DUTY_COVER:
  case TK_DUTY_END:
  case TK_DUTY_COUNT: break;
  }
  return false;
}

static tk_status make_launch(tk_session *s, const model_job *j,
                             tk_launch **out) {
  const tk_launch *l = j->n->launch;
  const tk_source *src = l->fn->module->file->src;
  tk_module *m;
  tk_function *f;
  tk_status st = tk_module_open(s, src->name, src->text, src->len, &m);
  if (st == TK_OK) st = tk_function_named(m, l->fn->item->name, &f);
  if (st == TK_OK) st = tk_launch_new(s, f, out);
  for (size_t i = 0; i < l->nargs && st == TK_OK; i++)
    if (!give_argument(*out, j, i)) st = TK_USAGE;
  const int64_t *v = &j->value[j->n->grid];
  return st == TK_OK ? tk_launch_grid(*out, v[0], v[1], v[2]) : st;
}

static void no_output(void *ud, const char *text, size_t len) {
  (void)ud;
  (void)text;
  (void)len;
}

static bool is_of_first_program(const tk_finding *f) {
  return f->has_program && !f->program[0] && !f->program[1] && !f->program[2];
}

static bool run_model(model_job *j) {
  tk_arena *arena = j->n->terms->arena;
  tk_check_options o = {.size = sizeof o, .collect = true, .keep_going = true};
  tk_launch *l = NULL;
  bool shown = false;
  tk_session *s = tk_session_new_with(arena->env->alloc, arena->env->alloc_ud);
  if (!s) return false;
  tk_session_output(s, no_output, NULL);
  if (tk_session_check(s, "bounds,race,twice,unwritten,overflow", &o) ==
          TK_OK &&
      make_launch(s, j, &l) == TK_OK)
    tk_launch_run(l, NULL, NULL);
  const tk_finding *f;
  for (size_t i = 0; l && !shown && (f = tk_report_finding(s, i)); i++)
    if (shows(j, f) && (!j->first_program || is_of_first_program(f))) {
      j->out->finding = tk_arena_strdup(arena, f->message);
      shown = true;
    }
  tk_session_free(s);
  if (shown) j->out->command = command_of(j);
  return shown;
}

/* ---- the search ---------------------------------------------------------- */

static const int64_t sizes[] = {
    1,  2,  3,   4,   5,   7,   8,   9,   15,   16,   17,   31,   32,   33,  63,
    64, 65, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 2047, 2049};

/* The sizes, and 0 for programs and trips.  An axis of the grid of which
 * nothing is known stays. */
static const tkq_poly *first_number(tkq_terms *t, void *ud, int atom) {
  const model_job *j = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  int axis = a->kind == TKQ_SIZE ? a->number - j->n->grid : -1;
  if (a->kind == TKQ_PID || a->kind == TKQ_TRIP) return tkq_const(t, 0);
  if (axis >= 0 && j->n->unknown_grid[axis]) return NULL;
  return model_number(t, ud, atom);
}

static bool is_of_grid(const tkq_terms *t, int atom, void *ud) {
  const model_job *j = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_SIZE && a->number >= j->n->grid;
}

/* Whether what the first program does in the first trip of its loops may be
 * what is wrong, and hangs on no number of programs. */
static bool starts_wrong(model_job *j) {
  tkq_terms *t = j->n->terms;
  tkq_subst s = {first_number, j};
  const tkq_item *x = j->item;
  if (x->duty != TK_DUTY_BOUNDS && x->duty != TK_DUTY_CLAIM) return false;
  for (size_t i = 0; i < x->bad.n; i++) {
    const tkq_form *f = tkq_replace_form(t, x->bad.items[i], &s);
    if (!tkq_form_has(t, f, is_of_grid, j) && tkq_holds(t, f) != TKQ_NEVER)
      return true;
  }
  return false;
}

/* Where nothing is known of the grid: there is a first program in any.  With
 * one program, with three and with as many as in the launch, it has to go
 * wrong. */
static bool try_first_program(model_job *j) {
  bool shown = true;
  if (!starts_wrong(j)) return false;
  j->first_program = true;
  for (int programs = 5; programs > 0 && shown; programs -= 2) {
    for (int i = 0; i < 3; i++) {
      int64_t *v = &j->value[j->n->grid + i];
      if (!j->n->unknown_grid[i]) continue;
      *v = programs == 5 ? j->n->all.items[j->n->grid + i].value : programs;
    }
    shown = run_model(j);
  }
  j->first_program = false;
  return shown;
}

static bool is_grid_unknown(const tkq_numbers *n) {
  return n->unknown_grid[0] || n->unknown_grid[1] || n->unknown_grid[2];
}

static bool try_values(model_job *j) {
  if (!complete_model(j) || !is_small(j, MOST_ELEMENTS) || !is_possible(j))
    return false;
  if (++j->runs > j->most_runs) return false;
  if (!j->out->command) j->out->command = command_of(j);
  return is_grid_unknown(j->n) ? try_first_program(j) : run_model(j);
}

/* The launch itself, unless what is assumed excludes it. */
static bool try_own(model_job *j) {
  for (size_t i = 0; i < j->n->all.n; i++)
    j->value[i] = j->n->all.items[i].value;
  if (!complete_model(j)) return false;
  if (!j->out->command) j->out->command = command_of(j);
  return is_small(j, MOST_OWN_ELEMENTS) && is_possible(j) && run_model(j);
}

/* Gives the free quantities from the k-th on sizes up to the one of number
 * `most`, at least one of them that (`met`: an earlier one is). */
static bool search(model_job *j, const int *freely, size_t nfree, size_t k,
                   size_t most, bool met) {
  if (j->runs >= j->most_runs || j->tries >= MOST_TRIES ||
      j->n->terms->budget < j->least_budget)
    return false;
  if (k == nfree) {
    j->tries++;
    return (met || !nfree) && try_values(j);
  }
  for (size_t i = k + 1 == nfree && !met ? most : 0; i <= most; i++) {
    j->value[freely[k]] = sizes[i];
    if (search(j, freely, nfree, k + 1, most, met || i == most)) return true;
  }
  return false;
}

/* The quantities that are free, and the values of the launch; SIZE_MAX: some
 * stride is free, and rows of text forms follow each other. */
static size_t list_free(model_job *j, int *freely) {
  const tkq_numbers *n = j->n;
  size_t nfree = 0;
  for (size_t i = 0; i < n->all.n; i++) {
    const tkq_quantity *q = &n->all.items[i];
    j->value[i] = q->value;
    if (q->relation >= 0) continue;
    if (q->kind == TKQ_OF_STRIDE) return SIZE_MAX;
    if (q->kind == TKQ_OF_SHAPE) freely[nfree++] = (int)i;
  }
  return nfree;
}

static model_job model_of(const tkq_walk *w, const tkq_numbers *n,
                          const tkq_item *x, tkq_model *out) {
  model_job j = {.w = w, .n = n, .item = x, .out = out};
  j.most_runs = x->duty == TK_DUTY_COVER ? MOST_COVER_RUNS : MOST_RUNS;
  j.value = TK_NEWN(n->terms->arena, int64_t, n->all.n + 1);
  j.least_budget = n->terms->budget - MOST_ENTRIES;
  return j;
}

bool tkq_refute(const tkq_walk *w, const tkq_numbers *n, const tkq_item *x,
                tkq_model *out) {
  model_job j = model_of(w, n, x, out);
  int *freely = TK_NEWN(n->terms->arena, int, n->all.n + 1);
  size_t nfree = list_free(&j, freely);
  if (nfree == SIZE_MAX) return false;
  for (size_t most = 0; most < TK_COUNT(sizes); most++)
    if (search(&j, freely, nfree, 0, most, false)) return true;
  return try_own(&j);
}

void tkq_own_launch(const tkq_walk *w, const tkq_numbers *n, const tkq_item *x,
                    tkq_model *out) {
  model_job j = model_of(w, n, x, out);
  int *freely = TK_NEWN(n->terms->arena, int, n->all.n + 1);
  if (list_free(&j, freely) != SIZE_MAX && complete_model(&j))
    out->command = command_of(&j);
}
