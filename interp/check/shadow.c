/* shadow.c - who touched which memory.
 *
 * Lanes that lie one after the other are handled as one stretch.  Neighbours
 * mostly have the same history, so the last answers are remembered, and the
 * inner loops only compare numbers.
 */
#include "interp/check/shadow.h"

#include <string.h>

enum { MAX_SYNC_LANES = 64 };

/* ---- pages ------------------------------------------------------------- */

static size_t slot_of(const tkc_shadow *s, uint64_t number) {
  size_t i = (size_t)(number * 0x9e3779b97f4a7c15 >> 32) & (s->cap - 1);
  while (s->pages[i] && s->pages[i]->number != number)
    i = (i + 1) & (s->cap - 1);
  return i;
}

static void grow_pages(tkc_shadow *s) {
  size_t old = s->cap;
  tkc_page **pages = s->pages;
  s->cap = old ? 2 * old : 256;
  s->pages = TK_NEWN(&s->c->run, tkc_page *, s->cap);
  for (size_t i = 0; i < old; i++)
    if (pages[i]) s->pages[slot_of(s, pages[i]->number)] = pages[i];
}

tkc_page *tkc_shadow_page(tkc_shadow *s, uint64_t number, bool make) {
  if (s->last && s->last->number == number) return s->last;
  if (2 * s->npages >= s->cap) grow_pages(s);
  size_t i = slot_of(s, number);
  if (!s->pages[i] && make) {
    tkc_page *p = TK_NEW(&s->c->run, tkc_page);
    *p = (tkc_page){.number = number, .shift = 2};
    p->writes = TK_NEWN(&s->c->run, uint32_t, TKC_PAGE / 4 * 2);
    p->reads = p->writes + TKC_PAGE / 4;
    s->pages[i] = p;
    s->npages++;
  }
  if (s->pages[i]) s->last = s->pages[i];
  return s->pages[i];
}

/* Smaller granules, each with the history of the one it was part of. */
static void refine(tkc_shadow *s, tkc_page *p, int shift) {
  size_t n = (size_t)TKC_PAGE >> shift, by = (size_t)(p->shift - shift);
  uint32_t *w = TK_NEWN(&s->c->run, uint32_t, 2 * n), *r = w + n;
  for (size_t i = 0; i < n; i++) {
    w[i] = p->writes[i >> by];
    r[i] = p->reads[i >> by];
  }
  p->writes = w;
  p->reads = r;
  p->shift = shift;
}

/* What the page held; bytes outside of every tensor are left out. */
static void keep_before(tkc_shadow *s, tkc_page *p) {
  uint64_t lo = p->number * TKC_PAGE;
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
  tkc_page *p = tkc_shadow_page(s, addr / TKC_PAGE, false);
  uint32_t w = p ? p->writes[addr % TKC_PAGE >> p->shift] : 0;
  return w ? &s->events.items[w] : NULL;
}

/* ---- programs ---------------------------------------------------------- */

static void forget_answers(tkc_shadow *s) {
  s->ok_write = s->ok_read = s->from_read = s->to_read = 0;
}

/* Makes s->now the program that runs. */
static void switch_to(tkc_shadow *s, uint64_t program) {
  tkc_state *now = &s->now;
  bool plain = now->clock == 1 && !now->phase && !now->knows;
  forget_answers(s);
  if (!plain && !s->states)
    s->states = TK_NEWN(&s->c->run, tkc_state *, tki_programs(s->t) + 1);
  if (!plain) {
    tkc_state **at = &s->states[now->program];
    if (!*at) *at = TK_NEW(&s->c->run, tkc_state);
    **at = *now;
  }
  if (s->states && s->states[program])
    *now = *s->states[program];
  else
    *now = (tkc_state){.program = program, .clock = 1};
}

static bool ordered(tkc_shadow *s, const tkc_event *e) {
  if (e->program == s->now.program) return true;
  return tkc_clock_get(&s->clocks, s->now.knows, e->program) >= e->clock;
}

/* ---- atomic operations order programs ---------------------------------- */

static size_t sync_slot(const tkc_shadow *s, uint64_t addr) {
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

static void release(tkc_shadow *s, uint64_t addr) {
  tkc_sync *y = sync_at(s, addr, true);
  const tkc_clock *mine =
      tkc_clock_set(&s->clocks, s->now.knows, s->now.program, s->now.clock);
  y->released = tkc_clock_join(&s->clocks, y->released, mine);
  s->now.clock++;
}

enum { ACQUIRE, RELEASE, ACQ_REL, RELAXED }; /* attr[0] of an atomic */

/* What a load that is volatile sees is taken as a signal, as kernels do. */
static void synchronise(tkc_shadow *s, const tki_access *a, bool gives) {
  bool load = a->in->op == TK_I_LOAD;
  int64_t sem = load ? ACQUIRE : a->in->attr[0];
  if (a->n > MAX_SYNC_LANES || sem == RELAXED) return;
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    if (!gives && sem != RELEASE) acquire(s, a->addr[i]);
    if (gives && !load && sem != ACQUIRE && tki_access_changes(a, i))
      release(s, a->addr[i]);
  }
}

/* ---- events ------------------------------------------------------------ */

static uint64_t hash_lanes(const tki_access *a) {
  uint64_t h = a->n;
  if (!a->in->type.rank) return 0;
  for (size_t i = 0; i < a->n; i++)
    h = (h ^ a->addr[i]) * 0x9e3779b97f4a7c15, h ^= h >> 31;
  return h ? h : 1;
}

static uint32_t push_event(tkc_shadow *s, tkc_event e) {
  TK_PUSH(&s->c->run, &s->events, e);
  return (uint32_t)(s->events.n - 1);
}

static uint32_t event_of(tkc_shadow *s, const tki_access *a, bool atomic) {
  uint32_t site = tki_site(s->t), known = s->latest[site];
  tkc_event e = {
      (uint32_t)s->now.program, site, s->now.clock, s->now.phase, 0, atomic};
  if (a->write && !atomic) e.lanes = hash_lanes(a);
  const tkc_event *k = &s->events.items[known];
  if (known && k->program == e.program && k->clock == e.clock &&
      k->phase == e.phase && k->lanes == e.lanes)
    return known;
  return s->latest[site] = push_event(s, e);
}

/* ---- one stretch of memory --------------------------------------------- */

typedef struct stretch {
  tkc_shadow *s;
  const tki_access *a;
  size_t lane;   /* the first */
  uint64_t addr; /* of the first granule */
  uint32_t event;
  bool atomic;
  uint64_t hash; /* of the lanes, for loads */
  bool hashed;
} stretch;

/* A write that the access meets: fine? */
static bool meets_write(stretch *x, uint32_t w, uint64_t addr) {
  tkc_shadow *s = x->s;
  const tkc_event *e = &s->events.items[w];
  if (e->program == s->now.program) {
    if (x->a->write || e->atomic || !e->lanes || e->phase != s->now.phase ||
        !x->a->in->type.rank)
      return true;
    if (!x->hashed) x->hash = hash_lanes(x->a);
    x->hashed = true;
    if (e->lanes == x->hash) return true;
    tkc_conflict_seen(s, x->a, x->lane, addr, e, TKC_LANES);
    return false;
  }
  s->crossed = true;
  if ((e->atomic && x->atomic) || ordered(s, e)) return true;
  tkc_conflict_seen(s, x->a, x->lane, addr, e,
                    x->a->write ? TKC_WRITES : TKC_READ);
  return false;
}

/* A read that a write meets. */
static bool meets_read(stretch *x, uint32_t r, uint64_t addr) {
  tkc_shadow *s = x->s;
  tkc_event e = s->events.items[r];
  if (e.site == TKC_READERS) {
    bool first = meets_read(x, e.program, addr);
    return meets_read(x, e.clock, addr) && first;
  }
  if (e.program == s->now.program) return true;
  s->crossed = true;
  if ((e.atomic && x->atomic) || ordered(s, &e)) return true;
  tkc_conflict_seen(s, x->a, x->lane, addr, &e, TKC_WRITE);
  return false;
}

/* Who has read, now that event e does too: at most two programs are kept. */
static uint32_t add_reader(tkc_shadow *s, uint32_t r, uint32_t e) {
  const tkc_event *old = &s->events.items[r];
  if (old->site == TKC_READERS) return r;
  if (!r || old->program == s->now.program) return e;
  if (ordered(s, old)) return e;
  tkc_event pair = {.program = r, .site = TKC_READERS, .clock = e};
  return push_event(s, pair);
}

static void touch_read(stretch *x, tkc_page *p, size_t at, size_t n) {
  tkc_shadow *s = x->s;
  for (size_t g = at; g < at + n; g++) {
    uint32_t w = p->writes[g], r = p->reads[g];
    if (w && w != s->ok_write &&
        meets_write(x, w, x->addr + ((g - at) << p->shift)))
      s->ok_write = x->hashed ? 0 : w;
    if (r == x->event) continue;
    if (r != s->from_read || s->to_read != x->event) {
      uint32_t to = add_reader(s, r, x->event);
      if (to != x->event) {
        p->reads[g] = to;
        continue;
      }
      s->from_read = r;
      s->to_read = to;
    }
    p->reads[g] = x->event;
  }
}

static void touch_write(stretch *x, tkc_page *p, size_t at, size_t n) {
  tkc_shadow *s = x->s;
  for (size_t g = at; g < at + n; g++) {
    uint32_t w = p->writes[g], r = p->reads[g];
    uint64_t addr = x->addr + ((g - at) << p->shift);
    if (w && w != s->ok_write && meets_write(x, w, addr)) s->ok_write = w;
    if (r && r != s->ok_read && meets_read(x, r, addr)) s->ok_read = r;
    p->writes[g] = x->event;
    p->reads[g] = 0;
  }
}

static int size_shift(size_t size) {
  return size >= 4 ? 2 : size == 2 ? 1 : 0;
}

static void touch(stretch *x, uint64_t addr, size_t bytes) {
  while (bytes) {
    size_t off = addr % TKC_PAGE, n = TKC_PAGE - off;
    if (n > bytes) n = bytes;
    tkc_page *p = tkc_shadow_page(x->s, addr / TKC_PAGE, true);
    if ((off | n) & (((size_t)1 << p->shift) - 1))
      refine(x->s, p, size_shift(x->a->size));
    if (x->a->write && !p->before) keep_before(x->s, p);
    x->addr = addr;
    if (x->a->write)
      touch_write(x, p, off >> p->shift, n >> p->shift);
    else
      touch_read(x, p, off >> p->shift, n >> p->shift);
    x->lane += n / x->a->size;
    addr += n;
    bytes -= n;
  }
}

/* ---- accesses ---------------------------------------------------------- */

static void touch_lanes(stretch *x) {
  const tki_access *a = x->a;
  for (size_t i = 0; i < a->n;) {
    size_t first = i++;
    if (a->mask && !a->mask[first]) continue;
    uint64_t next = a->addr[first] + a->size;
    while (i < a->n && (!a->mask || a->mask[i]) && a->addr[i] == next)
      next += a->size, i++;
    x->lane = first;
    touch(x, a->addr[first], (i - first) * a->size);
  }
}

static void note_region(tkc_shadow *s, const tki_access *a) {
  bool *seen = a->write ? s->stored : s->loaded;
  if (a->region != TKI_ANY) seen[a->region] = true;
  for (size_t i = 0; i < a->n && a->region == TKI_ANY; i++)
    if (!a->mask || a->mask[i])
      seen[tki_access_region(a, i) - s->t->regions] = true;
}

static void on_access(void *ud, tki *t, const tki_access *a) {
  tkc_shadow *s = ud;
  uint64_t program = tki_program_index(t);
  if (program != s->now.program) switch_to(s, program);
  if (a->in->op == TK_I_BARRIER) s->now.phase++;
  if (!a->n) return;
  bool is_volatile = a->in->op == TK_I_LOAD && a->in->attr[0];
  bool atomic = a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
  note_region(s, a);
  if (atomic || is_volatile) synchronise(s, a, false);
  stretch x = {.s = s, .a = a, .atomic = atomic || is_volatile};
  x.event = event_of(s, a, x.atomic);
  if (atomic) s->ok_read = s->ok_write = 0;
  touch_lanes(&x);
  if (x.hashed || atomic) forget_answers(s);
  if (atomic) synchronise(s, a, true);
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
  s->clocks = tkc_clocks_for(&c->run, tki_programs(t));
  push_event(s, (tkc_event){.program = UINT32_MAX});
  s->observer = (tki_observer){.ud = s, .access = on_access};
  tki_observe(t, &s->observer);
  return s;
}
