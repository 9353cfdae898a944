/* race.c - accesses that nothing orders: the detectors race and twice.
 *
 * Conflicts are gathered by pair of places while the programs run and
 * reported at the end, so that a report can say how many elements are
 * concerned; with --stop-on-finding the first is reported where it happens,
 * and under a debugger all are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "interp/check/alias.h"
#include "interp/check/shadow.h"
#include "interp/grid.h"
#include "interp/site.h"

/* ---- gathering --------------------------------------------------------- */

static const char *text_of(tkc *c, tk_buf *b) {
  const char *s = tk_arena_strdup(&c->run, tk_buf_str(b));
  tk_buf_free(b);
  return s;
}

static const char *element_text(tkc_shadow *s, uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_describe_address(&b, s->t, addr);
  return text_of(s->c, &b);
}

static const char *value_text(tkc_shadow *s, uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_describe_value(&b, s->t, addr);
  return text_of(s->c, &b);
}

static const char *program_text(tkc_shadow *s, uint64_t index) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_describe_program(&b, s->t, index);
  return text_of(s->c, &b);
}

static const char *lane_text(tkc_shadow *s, const tk_type *type,
                             const void *lane) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  if (!type->ptr) tk_format_lane(&b, (tk_dtype)type->elem, lane);
  return text_of(s->c, &b);
}

static bool writes_same(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  return !memcmp(r->host + (a->addr[lane] - r->lo), a->value + lane * a->step,
                 a->size);
}

static tkc_conflict *find_conflict(tkc_shadow *s, tkc_conflict_kind kind,
                                   uint32_t site, uint32_t other) {
  for (tkc_conflict *c = s->conflicts; c; c = c->next)
    if (c->kind == kind && c->site == site && c->other_site == other) return c;
  return NULL;
}

static void report_conflict(tkc_shadow *s, tkc_conflict *k, bool now);

static tkc_conflict *new_conflict(tkc_shadow *s, const tki_access *a,
                                  size_t lane) {
  tkc_conflict *k = TK_NEW(&s->c->run, tkc_conflict);
  *k = (tkc_conflict){.site = tki_site(s->t),
                      .program = s->now.program,
                      .addr = a->addr[lane],
                      .count = 1};
  k->atomic = a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
  k->element = element_text(s, k->addr);
  if (a->value)
    k->value = lane_text(s, &a->in->type, a->value + lane * a->step);
  return k;
}

static void add_conflict(tkc_shadow *s, tkc_conflict *k) {
  *s->end = k;
  s->end = &k->next;
  if (s->c->stop || s->t->driver) report_conflict(s, k, true);
}

void tkc_conflict_seen(tkc_shadow *s, const tki_access *a, size_t lane,
                       const tkc_event *other, tkc_conflict_kind kind) {
  bool plain = a->in->op == TK_I_STORE && !other->atomic;
  bool writes = kind == TKC_WRITES || kind == TKC_OWN_WRITES;
  if (writes && plain && writes_same(a, lane)) {
    if (kind == TKC_OWN_WRITES) return;
    kind = TKC_SAME;
  }
  uint32_t site = tki_site(s->t);
  tkc_conflict *k = find_conflict(s, kind, site, other->site);
  if (k) {
    k->count++;
    return;
  }
  k = new_conflict(s, a, lane);
  k->kind = kind;
  k->other_site = other->site;
  k->other = other->program;
  k->other_atomic = other->atomic;
  k->unfenced = tkc_shadow_knows(s, other);
  k->relaxed = tkc_shadow_relaxed(s, other);
  k->local = other->local || ((k->atomic || tk_inst_is_atomic_load(a->in)) &&
                              tk_inst_scope(a->in) == TK_SCOPE_CTA);
  k->other_value = value_text(s, k->addr);
  add_conflict(s, k);
}

typedef struct lane_at {
  uint64_t addr;
  size_t lane;
} lane_at;

static int by_address(const void *a, const void *b) {
  const lane_at *x = a, *y = b;
  if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
  return x->lane < y->lane ? -1 : 1;
}

typedef struct meeting {
  size_t lane, other; /* of the first two */
  uint64_t count;
} meeting;

static meeting meetings(const tki_access *a, lane_at *all) {
  meeting m = {0};
  size_t n = 0;
  for (size_t i = 0; i < a->n; i++)
    if (!a->mask || a->mask[i]) all[n++] = (lane_at){a->addr[i], i};
  qsort(all, n, sizeof *all, by_address);
  for (size_t i = 1; i < n; i++) {
    const char *x = a->value + all[i].lane * a->step;
    const char *y = a->value + all[i - 1].lane * a->step;
    if (all[i].addr != all[i - 1].addr || !memcmp(x, y, a->size)) continue;
    if (!m.count++) m.lane = all[i].lane, m.other = all[i - 1].lane;
  }
  return m;
}

void tkc_lanes_meet(tkc_shadow *s, const tki_access *a) {
  uint32_t site = tki_site(s->t);
  size_t size = a->n * sizeof(lane_at);
  if (!a->step) return; /* all of them write the same value */
  lane_at *all = tk_calloc(s->t->env, a->n, sizeof *all);
  meeting m = meetings(a, all);
  tk_free(s->t->env, all, size);
  tkc_conflict *k = find_conflict(s, TKC_OWN_STORE, site, site);
  if (k) k->count += m.count;
  if (k || !m.count) return;
  k = new_conflict(s, a, m.lane);
  k->kind = TKC_OWN_STORE;
  k->other_site = site;
  k->count = m.count;
  k->other_value = lane_text(s, &a->in->type, a->value + m.other * a->step);
  k->lane = tkc_lane(s->c, &a->in->type, m.lane);
  k->other_lane = tkc_lane(s->c, &a->in->type, m.other);
  add_conflict(s, k);
}

/* ---- reporting --------------------------------------------------------- */

static const char *access_verb(tkc_conflict_kind kind, bool atomic,
                               bool other) {
  bool reads = other ? kind == TKC_WRITE : kind == TKC_READ;
  if (reads) return "reads";
  return atomic ? "atomically changes" : "writes";
}

/* Reports two programs that access an element in no order. */
static tk_diag *report_race(tkc_shadow *s, const tkc_conflict *k, tki *t,
                            const tkc_place *at, const tkc_place *from) {
  const char *me = program_text(s, k->program);
  const char *you = program_text(s, k->other);
  tk_diag *d =
      k->kind == TKC_WRITES
          ? tkc_report(s->c, t, TK_D_RACE, at, from,
                       "programs %s and %s both write %s, and nothing orders "
                       "them",
                       you, me, k->element)
          : tkc_report(s->c, t, TK_D_RACE, at, from,
                       "program %s %s %s, which program %s %s, and nothing "
                       "orders them",
                       me, access_verb(k->kind, k->atomic, false), k->element,
                       you, access_verb(k->kind, k->other_atomic, true));
  tkc_note(s->c, d, from, "program %s %s it here", you,
           access_verb(k->kind, k->other_atomic, true));
  if (k->kind == TKC_WRITES && k->value && *k->value)
    tkc_note(s->c, d, NULL, "%s writes %s where %s had left %s", me, k->value,
             you, k->other_value);
  return d;
}

/* The axes of the grid that a kernel asks for, and one that it asks for in
 * vain, because the grid has only one program along it. */
typedef struct asked_axes {
  const tki *t;
  bool asked[3];
  tkc_place vain;
} asked_axes;

static bool see_pid(void *ud, const tk_at *at, const tk_inst *in) {
  asked_axes *x = ud;
  if (in->op != TK_I_PID) return true;
  int axis = (int)tk_program_id_axis(in);
  x->asked[axis] = true;
  if (x->t->grid[axis] == 1) x->vain = tkc_place_of(at->func, in);
  return true;
}

/* Notes that two programs write the same elements because the kernel does not
 * ask for their index along an axis. */
static void note_unasked_axis(tkc_shadow *s, tk_diag *d) {
  asked_axes x = {.t = s->t};
  tk_walk_program(s->t->program, &(tk_walk){.ud = &x, .inst = see_pid});
  for (int axis = 0; axis < 3; axis++)
    if (!x.asked[axis] && s->t->grid[axis] > 1)
      tkc_note(s->c, d, x.vain.src ? &x.vain : NULL,
               "%sthe grid has %" PRId64 " programs along axis %d, and nothing "
               "asks for program_id(%d)",
               x.vain.src ? "this is always 0: " : "", s->t->grid[axis], axis,
               axis);
}

static tk_diag *report_same(tkc_shadow *s, const tkc_conflict *k, tki *t,
                            const tkc_place *at, const tkc_place *from) {
  const char *me = program_text(s, k->program);
  tk_diag *d = tkc_report(s->c, t, TK_D_TWICE, at, from,
                          "programs %s and %s both write %s, the same value",
                          program_text(s, k->other), me, k->element);
  tkc_help(s->c, d,
           "do the offsets depend on every axis of the grid? each "
           "element should belong to one program");
  return d;
}

/* The lanes of one store. */
static tk_diag *report_store(tkc_shadow *s, const tkc_conflict *k, tki *t,
                             const tkc_place *at, const tkc_place *from) {
  tk_diag *d = tkc_report(s->c, t, TK_D_RACE, at, from,
                          "lanes %s and %s of one store write different values "
                          "to %s",
                          k->other_lane, k->lane, k->element);
  tkc_at_lane(s->c, d, k->lane);
  tkc_note(s->c, d, NULL, "in program %s lane %s writes %s, lane %s writes %s",
           program_text(s, k->program), k->other_lane, k->other_value, k->lane,
           k->value);
  tkc_help(s->c, d,
           "which of the values stays is undefined: use tl.atomic_add or "
           "another atomic, or a mask that lets one lane through");
  return d;
}

/* Reports an access that meets an earlier one by other lanes of the program. */
static tk_diag *report_lanes(tkc_shadow *s, const tkc_conflict *k, tki *t,
                             const tkc_place *at, const tkc_place *from) {
  bool reads = k->kind == TKC_OWN_READ, read = k->kind == TKC_OWN_WRITE;
  tk_diag *d =
      tkc_report(s->c, t, TK_D_RACE, at, from,
                 "a lane of program %s %s %s, which another lane %s, with no "
                 "barrier in between",
                 program_text(s, k->program), reads ? "reads" : "writes",
                 k->element, read ? "had read" : "wrote");
  tkc_note(s->c, d, from, "it is %s here", read ? "read" : "written");
  tkc_help(s->c, d,
           "lanes run side by side: put tl.debug_barrier() between the %s and "
           "the %s",
           read ? "load" : "store", reads ? "load" : "store");
  return d;
}

static const char *race_advice(const tkc_conflict *k) {
  if (k->relaxed) return "leave out its sem=: the default orders the two";
  if (k->local)
    return "an atomic of scope=\"cta\" orders the threads of one program: "
           "use scope=\"gpu\", the default";
  if (k->unfenced)
    return "a single lane does the atomic release, which publishes only its "
           "own stores: put tl.debug_barrier() before it";
  return "use an atomic operation, or let an atomic release and an acquire "
         "order the two";
}

static void note_relaxed_place(tkc_shadow *s, const tkc_conflict *k,
                               tk_diag *d) {
  if (!k->relaxed) return;
  tkc_place at = tkc_place_of(k->relaxed->func, k->relaxed->inst);
  tkc_note(s->c, d, &at,
           "this would order the two, but its sem= does not let it");
}

/* Returns a conflict of the same two programs at the same element that is
 * already reported: if a program reads an element, adds to it and writes it
 * back, that is one bug, not two. */
static tkc_conflict *same_cause(const tkc_shadow *s, const tkc_conflict *k) {
  for (tkc_conflict *o = s->conflicts; o && o != k; o = o->next)
    if (o->diag && o->kind != TKC_SAME && !tkc_is_own(o->kind) &&
        o->addr == k->addr && o->program == k->program && o->other == k->other)
      return o;
  return NULL;
}

/* Adds a conflict to the report of another one. */
static void fold_conflict(tkc_shadow *s, const tkc_conflict *k, tk_diag *d) {
  const tki_site_info *x = tki_site_at(s->t, k->site);
  tkc_place at = tkc_place_of(x->func, x->inst);
  tkc_note(s->c, d, &at, "program %s %s it here", program_text(s, k->program),
           access_verb(k->kind, k->atomic, false));
  if (k->kind == TKC_WRITES && k->value && *k->value)
    tkc_note(s->c, d, NULL, "it writes %s where %s had left %s", k->value,
             program_text(s, k->other), k->other_value);
}

/* Reports a conflict, if its detector is on: where it happens (`now`), or at
 * the end of the run. */
static void report_conflict(tkc_shadow *s, tkc_conflict *k, bool now) {
  tki *t = now ? s->t : NULL;
  const tki_site_info *x = tki_site_at(s->t, k->site);
  const tki_site_info *y = tki_site_at(s->t, k->other_site);
  tkc_place at = tkc_place_of(x->func, x->inst);
  tkc_place from = tkc_place_of(y->func, y->inst);
  bool twice = k->kind == TKC_SAME;
  if (!(s->c->on >> (twice ? TKC_TWICE : TKC_RACE) & 1)) return;
  bool own = tkc_is_own(k->kind);
  tk_diag *d = twice                      ? report_same(s, k, t, &at, &from)
               : k->kind == TKC_OWN_STORE ? report_store(s, k, t, &at, &from)
               : own                      ? report_lanes(s, k, t, &at, &from)
                                          : report_race(s, k, t, &at, &from);
  if (d) {
    int64_t pid[3];
    tki_pid_of(s->t, k->program, pid);
    tk_diag_program(d, pid);
    tkc_at_element(d, s->t, k->addr);
  }
  if (d && (twice || k->kind == TKC_WRITES)) note_unasked_axis(s, d);
  if (k->count > 1)
    tkc_note(s->c, d, NULL, "this happens %" PRIu64 " times in this launch",
             k->count);
  if (!twice && !own) {
    note_relaxed_place(s, k, d);
    tkc_help(s->c, d, "%s", race_advice(k));
  }
  if (!now) tki_note_remarks(s->t, d);
  tkc_reported(s->c, t, d);
  k->diag = d;
}

/* Whether several programs conflict at the elements at which lanes of one
 * program do: the same repair, writing to other memory, may solve both. */
static bool is_covered(const tkc_shadow *s, const tkc_conflict *own) {
  for (const tkc_conflict *k = s->conflicts; k; k = k->next)
    if (!tkc_is_own(k->kind) && k->kind != TKC_SAME && k->site == own->site &&
        k->other_site == own->other_site)
      return true;
  return false;
}

/* Reports the conflicts that were not reported where they happened: those of
 * writes of the same value, or all others. */
static void report_rest(tkc *c, tkc_shadow *s, const tki *t, bool same) {
  if (c->stop || t->driver) return;
  for (tkc_conflict *k = s->conflicts; k; k = k->next) {
    bool covered = tkc_is_own(k->kind) && is_covered(s, k);
    tkc_conflict *cause = same || tkc_is_own(k->kind) ? NULL : same_cause(s, k);
    if ((k->kind == TKC_SAME) != same || covered) continue;
    if (cause)
      fold_conflict(s, k, cause->diag);
    else
      report_conflict(s, k, false);
  }
}

void *tkc_RACE_begin(tkc *c, tki *t) {
  tkc_alias_begin(c, t);
  return tkc_shadow_of(c, t);
}

void tkc_RACE_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)st;
  report_rest(c, ud, t, false);
}

void *tkc_TWICE_begin(tkc *c, tki *t) {
  return tkc_shadow_of(c, t);
}

void tkc_TWICE_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)st;
  report_rest(c, ud, t, true);
}
