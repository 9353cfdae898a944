/* race.c - accesses that nothing orders: race, twice.
 *
 * Conflicts are gathered by pair of places while the programs run and
 * reported at the end, so that a report can say how many elements are
 * concerned; with --stop-on-finding the first is reported where it happens,
 * and under a debugger all are.
 */
#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "interp/check/shadow.h"

/* ---- gathering --------------------------------------------------------- */

static const char *text_of(tkc *c, tk_buf *b) {
  const char *s = tk_arena_strdup(&c->run, tk_buf_str(b));
  tk_buf_free(b);
  return s;
}

static const char *element_text(tkc_shadow *s, uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_place(&b, s->t, addr);
  return text_of(s->c, &b);
}

static const char *value_text(tkc_shadow *s, uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_place_value(&b, s->t, addr);
  return text_of(s->c, &b);
}

static const char *program_text(tkc_shadow *s, uint64_t index) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  tki_place_program(&b, s->t, index);
  return text_of(s->c, &b);
}

static const char *lane_text(tkc_shadow *s, const tk_type *type,
                             const void *lane) {
  tk_buf b;
  tk_buf_init(&b, s->t->env);
  if (!type->ptr) tk_format_lane(&b, (tk_dtype)type->elem, lane);
  return text_of(s->c, &b);
}

static bool same_value(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  return !memcmp(r->host + (a->addr[lane] - r->lo), a->value + lane * a->step,
                 a->size);
}

static tkc_conflict *find(tkc_shadow *s, tkc_conflict_kind kind, uint32_t site,
                          uint32_t other) {
  for (tkc_conflict *c = s->conflicts; c; c = c->next)
    if (c->kind == kind && c->site == site && c->other_site == other) return c;
  return NULL;
}

static void report(tkc_shadow *s, const tkc_conflict *k, bool now);

void tkc_conflict_seen(tkc_shadow *s, const tki_access *a, size_t lane,
                       const tkc_event *other, tkc_conflict_kind kind) {
  bool plain = a->in->op == TK_I_STORE && !other->atomic;
  if (kind == TKC_WRITES && plain && same_value(a, lane)) kind = TKC_SAME;
  uint32_t site = tki_site(s->t);
  tkc_conflict *k = find(s, kind, site, other->site);
  if (k) {
    k->count++;
    return;
  }
  k = TK_NEW(&s->c->run, tkc_conflict);
  *k = (tkc_conflict){.kind = kind,
                      .site = site,
                      .other_site = other->site,
                      .program = s->now.program,
                      .other = other->program,
                      .addr = a->addr[lane],
                      .count = 1,
                      .other_atomic = other->atomic};
  k->unfenced = tkc_shadow_knows(s, other);
  k->atomic = a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
  k->element = element_text(s, k->addr);
  k->other_value = value_text(s, k->addr);
  if (a->value)
    k->value = lane_text(s, &a->in->type, a->value + lane * a->step);
  *s->end = k;
  s->end = &k->next;
  if (s->c->stop || s->t->driver) report(s, k, true);
}

/* ---- reporting --------------------------------------------------------- */

static const char *verb(tkc_conflict_kind kind, bool atomic, bool other) {
  bool reads = other ? kind == TKC_WRITE : kind == TKC_READ;
  if (reads) return "reads";
  return atomic ? "changes atomically" : "writes";
}

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
                       me, verb(k->kind, k->atomic, false), k->element, you,
                       verb(k->kind, k->other_atomic, true));
  tkc_note(s->c, d, from, "program %s %s it here", you,
           verb(k->kind, k->other_atomic, true));
  if (k->kind == TKC_WRITES && k->value && *k->value)
    tkc_note(s->c, d, NULL, "%s writes %s where %s had left %s", me, k->value,
             you, k->other_value);
  return d;
}

static tk_diag *report_same(tkc_shadow *s, const tkc_conflict *k, tki *t,
                            const tkc_place *at, const tkc_place *from) {
  const char *me = program_text(s, k->program);
  tk_diag *d = tkc_report(s->c, t, TK_D_TWICE, at, from,
                          "programs %s and %s both write %s, the same value",
                          program_text(s, k->other), me, k->element);
  tkc_help(s->c, d,
           "do the offsets depend on every axis of the grid? each "
           "element should be one program's");
  return d;
}

static tk_diag *report_lanes(tkc_shadow *s, const tkc_conflict *k, tki *t,
                             const tkc_place *at, const tkc_place *from) {
  tk_diag *d = tkc_report(s->c, t, TK_D_RACE, at, from,
                          "a lane of program %s reads %s, which another lane "
                          "wrote, with no barrier between",
                          program_text(s, k->program), k->element);
  tkc_note(s->c, d, from, "it is written here");
  tkc_help(s->c, d,
           "lanes run side by side: put tl.debug_barrier() between "
           "the store and the load");
  return d;
}

static void report(tkc_shadow *s, const tkc_conflict *k, bool now) {
  tki *t = now ? s->t : NULL;
  const tki_site_info *x = tki_site_at(s->t, k->site);
  const tki_site_info *y = tki_site_at(s->t, k->other_site);
  tkc_place at = tkc_place_of(x->func, x->inst);
  tkc_place from = tkc_place_of(y->func, y->inst);
  bool twice = k->kind == TKC_SAME;
  if (!(s->c->on >> (twice ? TKC_TWICE : TKC_RACE) & 1)) return;
  tk_diag *d = twice                  ? report_same(s, k, t, &at, &from)
               : k->kind == TKC_LANES ? report_lanes(s, k, t, &at, &from)
                                      : report_race(s, k, t, &at, &from);
  if (k->count > 1)
    tkc_note(s->c, d, NULL, "so it is %" PRIu64 " times in this launch",
             k->count);
  if (!twice && k->kind != TKC_LANES)
    tkc_help(s->c, d,
             k->unfenced ? "one lane alone does the atomic release, which "
                           "tells of its own stores only: put "
                           "tl.debug_barrier() before it"
                         : "use an atomic operation, or let an atomic "
                           "release and an acquire order the two");
  tkc_reported(s->c, t, d);
}

/* Those that were not reported where they happened. */
static void report_rest(tkc *c, tkc_shadow *s, const tki *t, bool same) {
  if (c->stop || t->driver) return;
  for (tkc_conflict *k = s->conflicts; k; k = k->next)
    if ((k->kind == TKC_SAME) == same) report(s, k, false);
}

void *tkc_RACE_begin(tkc *c, tki *t) {
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
