/* shadow.c - who touched which memory.
 *
 * Lanes that lie one after the other are handled as one stretch, and bytes
 * with the same history as one run of it.  Loads from memory that no program
 * can write are not looked at.
 */
#include "base/extent.h"
#include "interp/check/shadow.h"
#include "interp/grid.h"
#include "interp/site.h"
#include "ir/lanes.h"

#include <string.h>

enum { MAX_SYNC_LANES = 64 };

/* ---- spans ------------------------------------------------------------- */

tkc_span *tkc_shadow_span(const tkc_shadow *s, uint64_t addr) {
  for (size_t i = 0; i < s->nspans; i++)
    if (addr >= s->spans[i].history.lo && addr < s->spans[i].history.hi)
      return &s->spans[i];
  return NULL;
}

static void add_region(tkc_shadow *s, size_t i, tkc_span *x) {
  uint8_t kinds = s->points_to.region[i];
  x->reads |= (kinds & (TKC_LOADS | TKC_ATOMICS)) != 0;
  x->writes |= (kinds & (TKC_STORES | TKC_ATOMICS)) != 0;
  s->span_of[i] = x;
}

/* Whether memory that atomic operations change is stored to as well. */
static bool is_mixed(const tkc_shadow *s) {
  for (size_t i = 0; i < s->t->nregions; i++)
    for (size_t j = 0; j < s->t->nregions; j++)
      if (s->span_of[i] && s->span_of[i] == s->span_of[j] &&
          s->points_to.region[i] & TKC_ATOMICS &&
          s->points_to.region[j] & TKC_STORES)
        return true;
  return false;
}

/* Whether atomic operations can order anything: there must be a plain access to
 * memory that programs write. */
static bool has_plain(const tkc_shadow *s) {
  for (size_t i = 0; i < s->t->nregions; i++)
    if (s->span_of[i] && s->span_of[i]->writes &&
        s->points_to.region[i] & (TKC_LOADS | TKC_STORES))
      return true;
  return false;
}

/* Whether no program can see what another writes: none loads from memory that
 * may be written, or uses what an atomic operation returns. */
static bool is_blind(const tkc_shadow *s) {
  for (size_t i = 0; i < s->t->nregions; i++)
    if (s->span_of[i] && s->points_to.region[i] & TKC_LOADS &&
        s->span_of[i]->writes)
      return false;
  return !s->points_to.results;
}

/* Makes one span of all regions that overlap. */
static void join_regions(tkc_shadow *s) {
  tk_arena *a = &s->c->run;
  size_t most = s->t->nregions + 1, n = 0;
  tk_extent *extents = TK_NEWN(a, tk_extent, most);
  size_t *group = TK_NEWN(a, size_t, most), *region = TK_NEWN(a, size_t, most);
  for (size_t i = 0; i < s->t->nregions; i++) {
    const tki_region *r = &s->t->regions[i];
    if (!r->tensor || r->lo >= r->hi) continue;
    region[n] = i;
    extents[n++] = (tk_extent){r->lo, r->hi};
  }
  s->nspans = tk_extents_join(a, extents, n, group);
  TK_ASSERT(s->nspans <= n);
  for (size_t i = 0; i < s->nspans; i++)
    s->spans[i].history = tkc_intervals_for(a, extents[i].lo, extents[i].hi);
  for (size_t i = 0; i < n; i++) add_region(s, region[i], &s->spans[group[i]]);
}

static void make_spans(tkc_shadow *s) {
  size_t n = s->t->nregions + 1;
  s->points_to = tkc_points_to_find(&s->c->run, s->t);
  s->spans = TK_NEWN(&s->c->run, tkc_span, n);
  s->span_of = TK_NEWN(&s->c->run, tkc_span *, n);
  join_regions(s);
  s->blind = is_blind(s);
  s->orders = has_plain(s);
  s->swaps = s->blind && s->points_to.commutes && !is_mixed(s);
}

/* Keeps what a page of a span holds; bytes outside of every tensor are left
 * out. */
static void keep_before(tkc_shadow *s, tkc_page *p, uint64_t lo) {
  p->before = TK_NEWN(&s->c->run, char, TKC_PAGE);
  for (size_t i = 0; i < s->t->nregions; i++) {
    const tki_region *r = &s->t->regions[i];
    uint64_t a = r->lo > lo ? r->lo : lo;
    uint64_t b = r->hi < lo + TKC_PAGE ? r->hi : lo + TKC_PAGE;
    if (r->tensor && a < b)
      memcpy(p->before + (a - lo), r->host + (a - r->lo), b - a);
  }
}

const tkc_event *tkc_shadow_writer(tkc_shadow *s, uint64_t addr) {
  const tkc_span *x = tkc_shadow_span(s, addr);
  uint32_t w = x ? tkc_intervals_at(&x->history, addr).write : 0;
  return w ? tkc_event_at(s, w) : NULL;
}

/* ---- programs ---------------------------------------------------------- */

static void forget_answers(tkc_shadow *s) {
  s->ok_write = s->ok_read = s->from_read = 0;
}

/* Makes s->now the program that is running. */
static void switch_to(tkc_shadow *s, uint64_t program) {
  tkc_state *now = &s->now;
  bool plain = now->clock == 1 && !now->phase && !now->knows && !now->would;
  forget_answers(s);
  if (!plain && !s->states)
    s->states = TK_NEWN(&s->c->run, tkc_state *, tki_programs(s->t) + 1);
  if (!plain) {
    TK_ASSERT(now->program < tki_programs(s->t));
    tkc_state **at = &s->states[now->program];
    if (!*at) *at = TK_NEW(&s->c->run, tkc_state);
    **at = *now;
  }
  if (s->states && s->states[program])
    *now = *s->states[program];
  else
    *now = (tkc_state){.program = program, .clock = 1};
}

bool tkc_shadow_knows(const tkc_shadow *s, const tkc_event *e) {
  return tkc_clock_get(&s->clocks, s->now.knows, e->program) >= e->clock;
}

/* Returns the clock of a program that counts the blocks which it has stored.  A
 * scalar is stored by the thread that also does scalar atomics; a block is
 * stored by all threads, and without a barrier that thread does not know that
 * the others are done. */
static uint64_t blocks_of(const tkc_shadow *s, uint64_t program) {
  return tki_programs(s->t) + program;
}

const tki_site_info *tkc_shadow_relaxed(const tkc_shadow *s,
                                        const tkc_event *e) {
  const tkc_state *now = &s->now;
  bool would = tkc_clock_get(&s->clocks, now->would, e->program) >= e->clock;
  bool does = tkc_shadow_knows(s, e);
  return now->relaxed && would && !does ? tki_site_at(s->t, now->relaxed - 1)
                                        : NULL;
}

static bool is_ordered(tkc_shadow *s, const tkc_event *e) {
  if (e->program == s->now.program) return true;
  if (!e->lanes || e->load || e->atomic) return tkc_shadow_knows(s, e);
  return tkc_clock_get(&s->clocks, s->now.knows, blocks_of(s, e->program)) >=
         e->clock;
}

/* ---- atomic operations order programs ---------------------------------- */

static size_t sync_slot(const tkc_shadow *s, uint64_t addr) {
  TK_ASSERT(s->nsyncs < s->cap_syncs); /* a free entry ends every search */
  size_t i = (size_t)(addr * 0x9e3779b97f4a7c15 >> 32) & (s->cap_syncs - 1);
  while (s->syncs[i].addr && s->syncs[i].addr != addr)
    i = (i + 1) & (s->cap_syncs - 1);
  return i;
}

static tkc_sync *sync_at(tkc_shadow *s, uint64_t addr, bool make) {
  if (2 * s->nsyncs >= s->cap_syncs) {
    size_t old = s->cap_syncs;
    tkc_sync *syncs = s->syncs;
    s->cap_syncs = old ? 2 * old : 64;
    s->syncs = TK_NEWN(&s->c->run, tkc_sync, s->cap_syncs);
    for (size_t i = 0; i < old; i++)
      if (syncs[i].addr) s->syncs[sync_slot(s, syncs[i].addr)] = syncs[i];
  }
  tkc_sync *y = &s->syncs[sync_slot(s, addr)];
  if (!y->addr && !make) return NULL;
  s->nsyncs += !y->addr;
  y->addr = addr;
  return y;
}

static void acquire(tkc_shadow *s, uint64_t addr) {
  tkc_sync *y = sync_at(s, addr, false);
  if (!y || !y->released) return;
  s->now.knows = tkc_clock_join(&s->clocks, s->now.knows, y->released);
  forget_answers(s);
}

/* A program releases all that it did and knows; all lanes of the access release
 * the same. */
static void release(tkc_shadow *s, const tki_access *a) {
  const tkc_clock *mine = NULL;
  for (size_t i = 0; i < a->n; i++) {
    if ((a->mask && !a->mask[i]) || !tki_access_changes(a, i)) continue;
    if (!mine) {
      uint32_t blocks = a->in->type.rank ? s->now.clock : s->now.fenced;
      mine =
          tkc_clock_set(&s->clocks, s->now.knows, s->now.program, s->now.clock);
      mine =
          tkc_clock_set(&s->clocks, mine, blocks_of(s, s->now.program), blocks);
    }
    tkc_sync *y = sync_at(s, a->addr[i], true);
    y->released = tkc_clock_join(&s->clocks, y->released, mine);
  }
  s->now.clock += mine != NULL;
}

/* What a scalar atomic operation would release (`gives`) or acquire if none
 * were relaxed; does: this one is not relaxed. */
static void note_relaxed(tkc_shadow *s, const tki_access *a, bool gives,
                         bool does) {
  tkc_state *now = &s->now;
  uint32_t site = does ? 0 : tki_site(s->t) + 1;
  if ((a->mask && !*a->mask) || (gives && !tki_access_changes(a, 0))) return;
  tkc_sync *y = sync_at(s, *a->addr, gives);
  if (gives) {
    y->would = tkc_clock_join(
        &s->clocks, y->would,
        tkc_clock_set(&s->clocks, now->would, now->program, now->clock));
    if (site) y->relaxed = site;
    now->clock += !does;
  } else if (y && y->would) {
    now->would = tkc_clock_join(&s->clocks, now->would, y->would);
    if (y->relaxed || site) now->relaxed = y->relaxed ? y->relaxed : site;
  }
}

static void synchronise(tkc_shadow *s, const tki_access *a, bool gives) {
  bool load = a->in->op == TK_I_LOAD;
  tk_sem sem = tk_inst_sem(a->in);
  bool does =
      sem != TK_SEM_RELAXED && sem != (gives ? TK_SEM_ACQUIRE : TK_SEM_RELEASE);
  if (!s->orders || a->n > MAX_SYNC_LANES || (gives && load)) return;
  tki_access lanes = tki_access_lanes(a);
  if (a->n == 1) note_relaxed(s, &lanes, gives, does);
  if (gives && does) release(s, &lanes);
  for (size_t i = 0; i < a->n && !gives && does; i++)
    if (!lanes.mask || lanes.mask[i]) acquire(s, lanes.addr[i]);
}

/* ---- events ------------------------------------------------------------ */

/* The same for accesses whose lanes have the same addresses.  rises: each
 * lane lies above the one before it. */
static uint64_t hash_lanes(const tki_access *a, bool *rises) {
  tki_access all = *a;
  tki_stretch x = {0};
  uint64_t h = a->n, end = 0;
  all.mask = NULL;
  all.active = NULL;
  all.run = 0;
  *rises = true;
  if (!a->in->type.rank) return 0;
  while (tki_next_stretch(&all, &x)) {
    *rises &= x.addr >= end;
    end = x.addr + x.n * a->size;
    h = (h ^ x.addr) * 0x9e3779b97f4a7c15, h ^= h >> 31;
    h = (h ^ x.n) * 0x9e3779b97f4a7c15, h ^= h >> 31;
  }
  return h ? h : 1;
}

static uint32_t push_event(tkc_shadow *s, tkc_event e) {
  uint32_t number = s->nevents++;
  if (number % TKC_EVENTS == 0)
    TK_PUSH(&s->c->run, &s->events, TK_NEWN(&s->c->run, tkc_event, TKC_EVENTS));
  *tkc_event_at(s, number) = e;
  return number;
}

static bool is_atomic(const tki_access *a) {
  return a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
}

/* Whether the access is an atomic operation that commutes, in memory that
 * only such operations touch. Their order does not matter, so nothing is
 * compared. */
static bool only_swaps(const tkc_shadow *s, const tki_access *a) {
  return s->swaps && !s->scoped && a->in->type.rank && is_atomic(a) &&
         tk_inst_scope(a->in) != TK_SCOPE_CTA && a->region != TKI_ANY &&
         a->addr;
}

/* Returns the event of an access, which repeated accesses share.  Each store
 * whose lanes may meet has an event of its own. */
static uint32_t event_of(tkc_shadow *s, const tki_access *a, bool *rises) {
  uint32_t site = tki_site(s->t), known = s->latest[site];
  TK_ASSERT(known < s->nevents && s->now.program == tki_program_index(s->t));
  bool swaps = *rises = only_swaps(s, a);
  bool atomic =
      is_atomic(a) || (a->in->op == TK_I_LOAD && tk_load_reads_anew(a->in));
  tkc_event e = {.program = (uint32_t)s->now.program,
                 .site = site,
                 .clock = s->now.clock,
                 .phase = s->now.phase,
                 .joined = s->joined,
                 .lanes = swaps ? 1 : hash_lanes(a, rises),
                 .atomic = atomic,
                 .local = atomic && tk_inst_scope(a->in) == TK_SCOPE_CTA,
                 .load = !a->write};
  const tkc_event *k = tkc_event_at(s, known);
  s->scoped |= e.local;
  if (known && (*rises || !a->write) && k->program == e.program &&
      k->clock == e.clock && k->phase == e.phase && k->joined == e.joined &&
      k->lanes == e.lanes)
    return known;
  return s->latest[site] = push_event(s, e);
}

/* ---- one stretch of memory --------------------------------------------- */

typedef struct stretch {
  tkc_shadow *s;
  const tki_access *a;
  tki_stretch at;
  uint32_t event;
  bool atomic, local;
  bool rises; /* no two lanes touch the same element */
  bool own;   /* it overlaps accesses of its own program */
  bool twice; /* some element is written by several lanes */
} stretch;

/* Reports that bytes lo .. hi - 1 were touched by another access, and nothing
 * orders the two. */
static void add_conflicts(stretch *x, uint64_t lo, uint64_t hi,
                          const tkc_event *e, tkc_conflict_kind kind) {
  size_t size = x->a->size, first = (size_t)(lo - x->at.addr) / size;
  size_t last = (size_t)(hi - 1 - x->at.addr) / size;
  tkc_event other = *e;
  tki_access lanes = tki_access_lanes(x->a);
  for (size_t i = first; i <= last; i++)
    tkc_conflict_seen(x->s, &lanes, x->at.lane + i, &other, kind);
}

static bool both_atomic(const stretch *x, const tkc_event *e) {
  return x->atomic && e->atomic && !x->local && !e->local;
}

/* Whether an access overlaps another of its program in a lane that does not
 * wait for the other's.  Compilers let all threads wait where lanes are
 * combined, but the language does not promise it: a block that is read by other
 * lanes than those that wrote it needs a barrier. */
static bool is_unordered(stretch *x, const tkc_event *e) {
  const tkc_event *me = tkc_event_at(x->s, x->event);
  x->own = true;
  if (e->phase != me->phase || e->lanes == me->lanes) return false;
  if ((e->atomic && (me->atomic || e->load)) || (me->atomic && me->load))
    return false;
  bool blocks = !e->load && me->load && e->lanes && me->lanes && !e->atomic;
  return blocks || e->joined == me->joined;
}

/* Looks at an earlier access of the same program; returns whether the two are
 * ordered. */
static bool meets_own(stretch *x, const tkc_event *e, uint64_t lo,
                      uint64_t hi) {
  if (!is_unordered(x, e)) return true;
  add_conflicts(x, lo, hi, e,
                e->load       ? TKC_OWN_WRITE
                : x->a->write ? TKC_OWN_WRITES
                              : TKC_OWN_READ);
  return false;
}

/* Looks at an earlier write of the same bytes; returns whether the two are
 * ordered. Atomic operations that commute count as ordered, since they give the
 * same in every order if nobody reads or stores in between. */
static bool meets_write(stretch *x, uint32_t w, uint64_t lo, uint64_t hi) {
  tkc_shadow *s = x->s;
  const tkc_event *e = tkc_event_at(s, w);
  if (e->program == s->now.program) return meets_own(x, e, lo, hi);
  if (s->swaps && both_atomic(x, e)) return true;
  s->order_matters = true;
  if (both_atomic(x, e) || is_ordered(s, e)) return true;
  add_conflicts(x, lo, hi, e, x->a->write ? TKC_WRITES : TKC_READ);
  return false;
}

/* Looks at an earlier read of bytes that are written now; returns whether the
 * two are ordered. */
static bool meets_read(stretch *x, uint32_t r, uint64_t lo, uint64_t hi) {
  tkc_shadow *s = x->s;
  tkc_event e = *tkc_event_at(s, r);
  if (e.site == TKC_READERS) {
    bool first = meets_read(x, e.program, lo, hi);
    return meets_read(x, e.clock, lo, hi) && first;
  }
  if (e.program == s->now.program) return meets_own(x, &e, lo, hi);
  s->order_matters = true;
  if (both_atomic(x, &e) || is_ordered(s, &e)) return true;
  add_conflicts(x, lo, hi, &e, TKC_WRITE);
  return false;
}

static uint32_t push_readers(tkc_shadow *s, uint32_t r, uint32_t e) {
  tkc_event pair = {.program = r, .site = TKC_READERS, .clock = e};
  return push_event(s, pair);
}

/* Whether, of two reads of one program, the second makes the first one
 * redundant. */
static bool stands_for(const tkc_event *a, const tkc_event *b) {
  return a->lanes == b->lanes || a->phase != b->phase || a->joined != b->joined;
}

/* Adds event e to the reads of a stretch.  At most two reads are kept, if
 * possible of two programs, not of two blocks of one. */
static uint32_t add_reader(tkc_shadow *s, uint32_t r, uint32_t e) {
  const tkc_event *old = tkc_event_at(s, r), *me = tkc_event_at(s, e);
  if (!r) return e;
  if (old->site != TKC_READERS) {
    bool own = old->program == me->program;
    if (own ? stands_for(old, me) : is_ordered(s, old)) return e;
    return push_readers(s, r, e);
  }
  const tkc_event *a = tkc_event_at(s, old->program);
  const tkc_event *b = tkc_event_at(s, old->clock);
  if (a->program != b->program) return r;
  if (b->program != me->program) return push_readers(s, old->clock, e);
  return stands_for(b, me) && stands_for(a, me) ? e : r;
}

static uint32_t new_readers(stretch *x, uint32_t r) {
  tkc_shadow *s = x->s;
  if (r == x->event) return r;
  if (!r || r != s->from_read || s->by_read != x->event) {
    s->to_read = add_reader(s, r, x->event);
    s->from_read = r;
    s->by_read = x->event;
  }
  return s->to_read;
}

static tkc_history see_read(void *ud, tkc_history old, uint64_t lo,
                            uint64_t hi) {
  stretch *x = ud;
  tkc_shadow *s = x->s;
  uint32_t w = old.write;
  if (w && w != s->ok_write && meets_write(x, w, lo, hi)) s->ok_write = w;
  return (tkc_history){w, new_readers(x, old.read)};
}

/* A second run reads what it read before, unless that was written since. */
static tkc_history see_write(void *ud, tkc_history old, uint64_t lo,
                             uint64_t hi) {
  stretch *x = ud;
  tkc_shadow *s = x->s;
  uint32_t w = old.write, r = old.read;
  s->again_matters |= !w && (r || x->atomic);
  x->twice |= w == x->event && !x->rises;
  if (w && w != s->ok_write && meets_write(x, w, lo, hi)) s->ok_write = w;
  if (r && r != s->ok_read && meets_read(x, r, lo, hi)) s->ok_read = r;
  return (tkc_history){x->event, 0};
}

/* Keeps what a page held if it is about to be written for the first time. */
static void touch_span(stretch *x, tkc_span *span, uint64_t lo, uint64_t hi) {
  bool keeps = x->a->write && x->s->keeps && (span->reads || !x->s->blind);
  uint64_t base = lo - (lo - span->history.base) % TKC_PAGE;
  for (; keeps && base < hi; base += TKC_PAGE) {
    tkc_page *p = tkc_intervals_make_page(&span->history, base);
    if (!p->before) keep_before(x->s, p, base);
  }
  tkc_intervals_update(&span->history, lo, hi,
                       x->a->write ? see_write : see_read, x);
}

/* The typed form does not have this pointer: a debugger's user made it. */
static void widen_span(tkc_shadow *s, tkc_span *span, const tki_access *a) {
  span->writes |= a->write;
  span->reads |= !a->write;
  s->blind = s->swaps = false;
  s->orders = true;
}

/* Splits a stretch that goes on from one tensor into the next. */
static void touch_stretch(stretch *x) {
  uint64_t lo = x->at.addr, end = lo + x->at.n * x->a->size;
  while (lo < end) {
    tkc_span *span = tkc_shadow_span(x->s, lo);
    uint64_t hi = end < span->history.hi ? end : span->history.hi;
    if (x->a->write ? !span->writes : span->writes && !span->reads)
      widen_span(x->s, span, x->a);
    if (span->writes) touch_span(x, span, lo, hi);
    lo = hi;
  }
}

/* Lanes that lie one after the other, where they are not in a table. */
static tki_stretch lanes_from(const tki_access *a, size_t i) {
  tki_stretch x = {.lane = i, .n = 1, .addr = a->addr[i]};
  while (++i < a->n && (!a->mask || a->mask[i]) &&
         a->addr[i] == x.addr + x.n * a->size)
    x.n++;
  return x;
}

static void touch_swaps(stretch *x) {
  const tki_access *a = x->a;
  tkc_intervals *history = &x->s->span_of[a->region]->history;
  tkc_lanes l = {a->addr, a->mask, a->n, a->size};
  for (size_t i = 0;; i += x->at.n) {
    i = tkc_intervals_write(history, &l, i, x->event);
    if (i == a->n) break;
    x->at = lanes_from(a, i);
    touch_stretch(x);
  }
}

/* ---- accesses ---------------------------------------------------------- */

static void note_region(tkc_shadow *s, const tki_access *a) {
  bool *seen = a->write ? s->stored : s->loaded;
  if (a->region != TKI_ANY) seen[a->region] = true;
  for (size_t i = 0; i < a->n && a->region == TKI_ANY; i++)
    if (!a->mask || a->mask[i])
      seen[tki_access_region(a, i) - s->t->regions] = true;
}

/* A load from memory that nobody writes; an empty tensor has no span. */
static bool is_harmless(const tkc_shadow *s, const tki_access *a) {
  if (a->write || !a->n || a->region == TKI_ANY) return false;
  const tkc_span *span = s->span_of[a->region];
  return !span || !span->writes;
}

/* Compares an access with the history of the memory that it touches, and makes
 * it part of that history. */
static void shadow_access(void *ud, tki *t, const tki_access *a) {
  tkc_shadow *s = ud;
  if (is_harmless(s, a)) return;
  uint64_t program = tki_program_index(t);
  if (program != s->now.program) switch_to(s, program);
  if (a->barrier) {
    s->now.phase++;
    s->now.fenced = s->now.clock++;
  }
  if (!a->n) return;
  stretch x = {.s = s, .a = a};
  note_region(s, a);
  x.event = event_of(s, a, &x.rises);
  x.atomic = tkc_event_at(s, x.event)->atomic;
  x.local = tkc_event_at(s, x.event)->local;
  if (x.atomic && !x.local) synchronise(s, a, false);
  if (x.atomic) s->ok_read = s->ok_write = 0;
  if (only_swaps(s, a))
    touch_swaps(&x);
  else
    while (tki_next_stretch(a, &x.at)) touch_stretch(&x);
  if (x.own || x.atomic) forget_answers(s);
  if (x.atomic && !x.local) synchronise(s, a, true);
  if (x.twice && a->in->op == TK_I_STORE) {
    tki_access lanes = tki_access_lanes(a);
    tkc_lanes_meet(s, &lanes);
  }
  s->joined += is_atomic(a) && !a->in->type.rank;
}

/* Whether an instruction combines lanes, so that their threads have to wait. */
static bool joins(const tk_inst *in) {
  switch (tk_inst_lanes(in)) {
  case TK_LANES_MOVES: return !tk_lanes_kept(in) && in->op != TK_I_BROADCAST;
  case TK_LANES_GATHERS:
  case TK_LANES_REDUCES:
  case TK_LANES_SCANS:
  case TK_LANES_SORTS:
  case TK_LANES_PRODUCT:
  case TK_LANES_COUNTS: return true;
  case TK_LANES_NONE:
  case TK_LANES_SAME:
  case TK_LANES_SCALES:
  case TK_LANES_GROUPS:
  case TK_LANES_CALLS: return false;
  }
  return false;
}

static void shadow_after(void *ud, tki *t, const tk_inst *in,
                         const tki_val *args) {
  tkc_shadow *s = ud;
  (void)t;
  (void)args;
  s->joined += joins(in);
}

static bool shadow_idle(void *ud, tki *t, const tk_inst *in) {
  (void)ud, (void)t;
  return !joins(in);
}

static bool shadow_settled(void *ud, tki *t, const tk_inst *in) {
  (void)ud;
  (void)t;
  return !joins(in);
}

/* ---- the shadow of a run ----------------------------------------------- */

tkc_shadow *tkc_shadow_of(tkc *c, tki *t) {
  static const tkc_id mine[] = {TKC_RACE, TKC_TWICE, TKC_UNWRITTEN, TKC_ORDER,
                                TKC_IDEMPOTENCE};
  for (size_t i = 0; i < TK_COUNT(mine); i++)
    if (c->ud[mine[i]]) return c->ud[mine[i]];
  tkc_shadow *s = TK_NEW(&c->run, tkc_shadow);
  *s = (tkc_shadow){.c = c, .t = t, .end = &s->conflicts};
  s->now = (tkc_state){.program = UINT64_MAX, .clock = 1};
  s->latest = TK_NEWN(&c->run, uint32_t, t->program->ninsts + 1);
  s->loaded = TK_NEWN(&c->run, bool, 2 * (t->nregions + 1));
  s->stored = s->loaded + t->nregions + 1;
  s->clocks = tkc_clocks_for(&c->run, 2 * tki_programs(t));
  s->keeps = c->on >> TKC_ORDER & 1 || c->on >> TKC_IDEMPOTENCE & 1;
  make_spans(s);
  push_event(s, (tkc_event){.program = UINT32_MAX});
  s->observer = (tki_observer){.ud = s,
                               .after = shadow_after,
                               .settled = shadow_settled,
                               .idle = shadow_idle,
                               .skips_scans = true,
                               .access = shadow_access,
                               .rows = true};
  tki_observe(t, &s->observer);
  return s;
}
