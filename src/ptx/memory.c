/* memory.c - loads, stores, atomic operations, copies.
 *
 * Global memory is the launch's ranges, at their addresses; shared memory is
 * the program's, local memory the
 * thread's. */
#include <string.h>

#include "base/scratch.h"
#include "ptx/exec.h"
#include "ptx/number.h"
#include "ptx/wait.h"

/* ---- places -------------------------------------------------------------- */

static const tkp_range *range_below(const tkp_machine *m, uint64_t addr) {
  size_t lo = 0, hi = m->nranges;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (m->ranges[mid].base <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? &m->ranges[lo - 1] : NULL;
}

static bool range_has(const tkp_range *g, uint64_t addr, uint32_t size) {
  return g && addr >= g->base && addr - g->base <= g->size &&
         size <= g->size - (addr - g->base);
}

static uint8_t *host_of(const tkp_range *g, uint64_t addr) {
  TK_ASSERT(addr - g->base <= g->size);
  return g->host ? g->host + (addr - g->base) : (uint8_t *)(uintptr_t)addr;
}

static void bad_global(tkp_warp *w, const tkp_access *a) TK_NORETURN;
static void bad_global(tkp_warp *w, const tkp_access *a) {
  const tkp_machine *m = w->b->m;
  const tkp_range *g = range_below(m, a->addr), *near = g;
  if (g && g + 1 < m->ranges + m->nranges &&
      g[1].base - a->addr < a->addr - (g->base + g->size))
    near = g + 1;
  if (!g && m->nranges) near = &m->ranges[0];
  long long off = near ? (long long)(a->addr - near->base) : 0;
  /* Parameters have addresses of their own, which nothing else is close to. */
  bool own = near && near->base - TKP_PARAMS < 1 << 20;
  long long most = own ? 1 << 16 : 1ll << 32;
  bool close = near && off < most && off > -most;
  if (!a->addr)
    tkp_report(w, a->in, a->lane, TK_D_NULL_POINTER,
               "%s of %u bytes at address 0", a->verb, a->size);
  else if (close)
    tkp_report(w, a->in, a->lane, TK_D_BOUNDS,
               "%s of %u bytes at %s %c %llu bytes, which has %llu bytes",
               a->verb, a->size, near->name, off < 0 ? '-' : '+',
               (unsigned long long)(off < 0 ? -off : off),
               (unsigned long long)near->size);
  else
    tkp_report(w, a->in, a->lane, TK_D_WILD_POINTER,
               "%s of %u bytes at 0x%llx, which is in no argument", a->verb,
               a->size, (unsigned long long)a->addr);
  tkp_stop(w);
}

static uint8_t *reach_host(tkp_warp *w, const tkp_access *a) {
  if (TK_UNLIKELY(!range_has(w->range, a->addr, a->size))) {
    const tkp_range *g = range_below(w->b->m, a->addr);
    if (!range_has(g, a->addr, a->size)) bad_global(w, a);
    w->range = g;
  }
  if (TK_UNLIKELY(a->write && !w->range->writable)) {
    tkp_report(w, a->in, a->lane, TK_D_READ_ONLY, "%s to %s, which is constant",
               a->verb, w->range->name);
    tkp_stop(w);
  }
  return host_of(w->range, a->addr);
}

/* Static memory, then what the launch adds. */
static uint8_t *reach_shared(tkp_warp *w, const tkp_access *a) {
  const tkp_machine *m = w->b->m;
  bool dynamic = a->addr >= TKP_DYNAMIC_SHARED;
  uint64_t at = dynamic ? a->addr - TKP_DYNAMIC_SHARED : a->addr;
  uint64_t has = dynamic ? m->launch->dynamic_shared : m->k->shared;
  if (TK_UNLIKELY(at > has || a->size > has - at)) {
    tkp_report(w, a->in, a->lane, TK_D_BOUNDS,
               "%s of %u bytes at byte %lld of %s shared memory, which has "
               "%llu bytes",
               a->verb, a->size, (long long)(int32_t)at,
               dynamic ? "dynamic" : "static", (unsigned long long)has);
    tkp_stop(w);
  }
  return w->b->shared + (dynamic ? m->fixed : 0) + at;
}

static uint8_t *reach_local(tkp_warp *w, const tkp_access *a) {
  size_t has = w->b->m->k->local;
  if (TK_UNLIKELY(a->addr > has || a->size > has - a->addr)) {
    tkp_report(w, a->in, a->lane, TK_D_BOUNDS,
               "%s of %u bytes at byte %llu of local memory, which has %zu "
               "bytes",
               a->verb, a->size, (unsigned long long)a->addr, has);
    tkp_stop(w);
  }
  return w->local + (size_t)a->lane * has + a->addr;
}

uint8_t *tkp_reach(tkp_warp *w, tkp_access *a) {
  TK_ASSERT(a->size && a->align && !(a->align & (a->align - 1)));
  TK_ASSERT(a->lane >= 0 && a->lane < TKP_WARP);
  if (a->space == TKP_GENERIC) {
    uint64_t window = a->addr & TKP_WINDOW_MASK;
    a->space = window == TKP_SHARED_WINDOW  ? TKP_SHARED
               : window == TKP_LOCAL_WINDOW ? TKP_LOCAL
                                            : TKP_HOST;
    if (a->space != TKP_HOST) a->addr &= ~TKP_WINDOW_MASK;
  }
  uint8_t *p = a->space == TKP_HOST     ? reach_host(w, a)
               : a->space == TKP_SHARED ? reach_shared(w, a)
                                        : reach_local(w, a);
  if (TK_UNLIKELY(a->addr & (a->align - 1))) {
    tkp_report(w, a->in, a->lane, TK_D_MISALIGNED,
               "%s of %u bytes at 0x%llx, which is not a multiple of %u",
               a->verb, a->size, (unsigned long long)a->addr, a->align);
    tkp_stop(w);
  }
  return p;
}

uint64_t tkp_address_of(const tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t base = in->base.bits ? tkp_get(w, in->base, lane) : 0;
  base += (uint64_t)in->offset;
  return in->base.bits == 32 ? (uint32_t)base : base;
}

static tkp_access access_of(tkp_warp *w, const tkp_inst *in, int lane,
                            const char *verb, bool write) {
  uint32_t size = (uint32_t)in->parts * in->bytes;
  return (tkp_access){.in = in,
                      .lane = lane,
                      .space = in->space,
                      .write = write,
                      .verb = verb,
                      .addr = tkp_address_of(w, in, lane),
                      .size = size,
                      .align = size};
}

static void need_address(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (in->base.bits) tkp_need_set(w, in, in->base, lanes, "an address");
}

/* ---- local memory: which words have a value ------------------------------ */

static void local_wrote(tkp_warp *w, const tkp_access *a, bool set) {
  TK_ASSERT(a->addr + a->size <= w->b->m->k->local); /* it was reached */
  for (uint64_t at = a->addr / 4; at <= (a->addr + a->size - 1) / 4; at++) {
    uint32_t bit = UINT32_C(1) << a->lane;
    w->local_set[at] = set ? w->local_set[at] | bit : w->local_set[at] & ~bit;
  }
}

static bool local_is_set(const tkp_warp *w, const tkp_access *a) {
  for (uint64_t at = a->addr / 4; at <= (a->addr + a->size - 1) / 4; at++)
    if (!(w->local_set[at] >> a->lane & 1)) return false;
  return true;
}

/* Which of the bytes have a value, a bit each. */
static uint64_t bytes_read(tkp_warp *w, const tkp_access *a) {
  if (a->space == TKP_SHARED && w->b->shadow) return tkp_race_read(w, a);
  return a->space != TKP_LOCAL || local_is_set(w, a) ? UINT64_MAX : 0;
}

/* ---- loads and stores ---------------------------------------------------- */

static void put_loaded(tkp_warp *w, const tkp_inst *in, int lane,
                       const uint8_t *p) {
  for (int k = 0; k < in->parts; k++, p += in->bytes) {
    uint64_t v = 0;
    memcpy(&v, p, in->bytes);
    if (in->sign && in->bytes < 8)
      v = (uint64_t)((int64_t)(v << (64 - 8 * in->bytes)) >>
                     (64 - 8 * in->bytes));
    tkp_put(w, in->d[k], lane, v);
  }
}

/* Marks what was loaded, of which some bytes have no value. */
static void mark_loaded(tkp_warp *w, const tkp_inst *in, int lane,
                        uint64_t bytes) {
  for (int k = 0; k < in->parts; k++, bytes >>= in->bytes) {
    uint64_t above = UINT64_MAX << (8 * in->bytes - 1) << 1;
    bool fills = !in->sign || bytes >> (in->bytes - 1) & 1;
    tkp_mark_bits(w, in->d[k], lane,
                  (tkp_bits_of_bytes((uint8_t)bytes) & ~above) |
                      (fills ? above : 0));
  }
}

/* Where numbers of 32 bits are that nothing is wrong with: NULL if something
 * may be, or it is not as simple as most loads are. */
static const uint8_t *quick_place(const tkp_warp *w, const tkp_inst *in,
                                  uint64_t addr, uint32_t size) {
  const tkp_machine *m = w->b->m;
  if (addr & (size - 1)) return NULL;
  if (in->space == TKP_HOST)
    return range_has(w->range, addr, size) ? host_of(w->range, addr) : NULL;
  bool dynamic = addr >= TKP_DYNAMIC_SHARED;
  if (dynamic) addr -= TKP_DYNAMIC_SHARED;
  uint64_t has = dynamic ? m->launch->dynamic_shared : m->k->shared;
  if (addr + size > has) return NULL;
  return w->b->shared + (dynamic ? m->fixed : 0) + addr;
}

static bool is_quick(const tkp_inst *in) {
  for (int k = 0; k < in->parts; k++)
    if (in->d[k].bits != 32) return false;
  return in->bytes == 4 && in->base.bits &&
         (in->space == TKP_HOST || in->space == TKP_SHARED);
}

/* The lanes that were loaded; read[lane] is which bytes have a value. */
static uint32_t load_quickly(tkp_warp *w, const tkp_inst *in, uint32_t lanes,
                             uint64_t *read) {
  uint32_t size = 4u * in->parts, done = 0;
  tkp_access a = {.in = in, .space = in->space, .verb = "load", .size = size};
  bool shadowed = in->space == TKP_SHARED && w->b->shadow;
  if (!is_quick(in)) return 0;
  TKP_EACH(lane, lanes) {
    uint32_t v[8];
    a.addr = tkp_address_of(w, in, (int)lane);
    a.lane = (int)lane;
    const uint8_t *p = quick_place(w, in, a.addr, size);
    if (!p) continue;
    memcpy(v, p, size);
    read[lane] = shadowed ? tkp_race_read(w, &a) : UINT64_MAX;
    for (int k = 0; k < in->parts; k++) tkp_r32(w, in->d[k])[lane] = v[k];
    done |= UINT32_C(1) << lane;
  }
  return done;
}

/* Notes that a program asks for what others may change. */
static void note_poll(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_machine *m = w->b->m;
  int first = __builtin_ctz(lanes);
  uint64_t addr = tkp_address_of(w, in, first);
  m->polls++;
  if (in->space != TKP_HOST &&
      (in->space != TKP_GENERIC || addr >= TKP_SHARED_WINDOW))
    return;
  w->b->poll = (tkp_poll){in, w, first, addr, 0, m->polls, NULL};
  TKP_EACH(lane, lanes)
  w->b->poll.more += tkp_address_of(w, in, (int)lane) != addr;
}

/* A destination may be the base too: a lane's address is read before. */
void tkp_run_load(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint64_t read[TKP_WARP];
  uint32_t set = 0;
  TK_ASSERT(in->nd == in->parts && in->parts * in->bytes <= 64);
  need_address(w, in, lanes);
  if (in->polls) note_poll(w, in, lanes);
  uint32_t rest = lanes & ~load_quickly(w, in, lanes, read);
  TKP_EACH(lane, rest) {
    tkp_access a = access_of(w, in, (int)lane, "load", false);
    const uint8_t *p = tkp_reach(w, &a);
    read[lane] = bytes_read(w, &a);
    put_loaded(w, in, (int)lane, p);
  }
  uint64_t all = tkp_mask(in->parts * in->bytes);
  TKP_EACH(lane, lanes) set |= (uint32_t)((read[lane] & all) == all) << lane;
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes & set, set);
  TKP_EACH(lane, lanes & ~set) mark_loaded(w, in, (int)lane, read[lane]);
}

/* Which of the bytes that a lane stores have a value, a bit each. */
static uint64_t bytes_stored(const tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t bytes = 0;
  for (int k = 0; k < in->parts; k++) {
    uint64_t bits = tkp_known_bits(w, in->s[k], lane);
    for (int j = 0; j < in->bytes; j++)
      bytes |= (uint64_t)((bits >> (8 * j) & 0xFF) == 0xFF)
               << (k * in->bytes + j);
  }
  return bytes;
}

/* Writes what an access stores to where it was reached. */
static void write_bytes(tkp_warp *w, const tkp_access *a, uint8_t *p,
                        const uint8_t *bytes) {
  if (!memcmp(p, bytes, a->size)) return;
  w->b->m->changes++;
  if (a->space == TKP_HOST) tkp_note_change(w, a);
  memcpy(p, bytes, a->size);
}

void tkp_run_store(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t set = lanes;
  uint64_t all = tkp_mask(in->parts * in->bytes);
  TK_ASSERT(in->ns == in->parts && in->parts * in->bytes <= 64);
  need_address(w, in, lanes);
  for (int k = 0; k < in->ns; k++) set &= w->set[in->s[k].id];
  TKP_EACH(lane, lanes) {
    uint8_t bytes[64];
    uint64_t known = set >> lane & 1 ? all : bytes_stored(w, in, (int)lane);
    for (int k = 0; k < in->parts; k++) {
      uint64_t v = tkp_get(w, in->s[k], (int)lane);
      memcpy(bytes + k * in->bytes, &v, in->bytes);
    }
    tkp_access a = access_of(w, in, (int)lane, "store", true);
    uint8_t *p = tkp_reach(w, &a);
    if (a.space == TKP_HOST && known != all)
      for (int k = 0; k < in->ns; k++)
        tkp_need_set(w, in, in->s[k], UINT32_C(1) << lane,
                     "what is stored to global memory");
    if (a.space == TKP_SHARED && w->b->shadow)
      tkp_race_write(w, &a, p, bytes, known);
    if (a.space == TKP_LOCAL) local_wrote(w, &a, known == all);
    write_bytes(w, &a, p, bytes);
  }
}

/* ---- atomic operations --------------------------------------------------- */

/* One number, or the half of a pair, that memory holds at p. */
static uint64_t atomic_number(const tk_asm_inst *m, uint64_t old, uint64_t b,
                              uint64_t c) {
  tkp_step s = {.in = m, .type = tk_asm_types[m->type].part, .n = 3};
  unsigned bits = tkp_bits(s.type), all = tkp_bits(m->type);
  TK_ASSERT(bits && all % bits == 0);
  uint64_t mask = tkp_mask(bits), r = 0;
  for (unsigned at = 0; at < all; at += bits) {
    s.v[0] = old >> at & mask;
    s.v[1] = b >> at & mask;
    s.v[2] = c >> at & mask;
    s.n = tk_asm_has(m, TK_AM_cas) ? 3 : 2;
    r |= (tkp_atomic(&s) & mask) << at;
  }
  return r;
}

static void atomic_lane(tkp_warp *w, const tkp_inst *in, int lane) {
  tkp_access a = access_of(w, in, lane, "atomic operation", true);
  uint8_t *p = tkp_reach(w, &a), bytes[64];
  TK_ASSERT(in->math && in->ns >= in->parts && a.size <= 64);
  a.atomic = true;
  if (a.space == TKP_SHARED && w->b->shadow) tkp_race_read(w, &a);
  for (int k = 0; k < in->parts; k++) {
    uint64_t old = 0;
    memcpy(&old, p + k * in->bytes, in->bytes);
    uint64_t b = tkp_get(w, in->s[k], lane);
    uint64_t c =
        in->ns > in->parts ? tkp_get(w, in->s[in->parts + k], lane) : 0;
    uint64_t v = atomic_number(in->math, old, b, c);
    memcpy(bytes + k * in->bytes, &v, in->bytes);
    if (in->nd) tkp_put(w, in->d[k], lane, old);
  }
  if (a.space == TKP_SHARED && w->b->shadow)
    tkp_race_write(w, &a, p, bytes, UINT64_MAX);
  if (a.space == TKP_LOCAL) local_wrote(w, &a, true);
  write_bytes(w, &a, p, bytes);
}

void tkp_run_atomic(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_address(w, in, lanes);
  note_poll(w, in, lanes);
  for (int k = 0; k < in->ns; k++)
    tkp_need_set(w, in, in->s[k], lanes, "an atomic operation");
  TKP_EACH(lane, lanes) atomic_lane(w, in, (int)lane);
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes, lanes);
}

/* ---- addresses ----------------------------------------------------------- */

static uint64_t space_window(const tkp_inst *in) {
  return in->space == TKP_SHARED  ? TKP_SHARED_WINDOW
         : in->space == TKP_LOCAL ? TKP_LOCAL_WINDOW
                                  : 0;
}

void tkp_run_cvta(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint64_t window = space_window(in);
  TKP_EACH(lane, lanes) {
    uint64_t v = tkp_get(w, in->s[0], (int)lane);
    tkp_put(w, in->d[0], (int)lane, in->mode ? v - window : v + window);
  }
}

void tkp_run_isspace(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes) {
    uint64_t at = tkp_get(w, in->s[0], (int)lane) & TKP_WINDOW_MASK;
    bool host = at != TKP_SHARED_WINDOW && at != TKP_LOCAL_WINDOW;
    tkp_put(w, in->d[0], (int)lane,
            in->space == TKP_HOST ? host : at == space_window(in));
  }
}

/* ---- copies -------------------------------------------------------------- */

static tkp_copy *new_copy(tkp_warp *w) {
  if (w->ncopies == w->copies_cap)
    w->copies = tk_array_grow(w->b->m->env, w->copies, sizeof *w->copies,
                              &w->copies_cap);
  return &w->copies[w->ncopies++];
}

/* What is copied is read now and arrives when it is waited for, so that a
 * kernel that does not wait reads what was there before. */
static void begin_copy(tkp_warp *w, const tkp_inst *in, int lane) {
  uint32_t n = in->bytes;
  TK_ASSERT(n == 4 || n == 8 || n == 16); /* what cp.async copies */
  if (in->mode == 1) {
    uint64_t size = tkp_get(w, in->s[1], lane);
    n = size < n ? (uint32_t)size : n;
  }
  if (in->mode == 2 && tkp_get(w, in->s[1], lane)) n = 0;
  tkp_copy c = {
      .in = in, .lane = (uint8_t)lane, .size = in->bytes, .group = w->group};
  tkp_access to = {.in = in,
                   .lane = lane,
                   .space = TKP_SHARED,
                   .write = true,
                   .verb = "copy to shared memory",
                   .addr = tkp_address_of(w, in, lane),
                   .size = in->bytes,
                   .align = in->bytes};
  uint8_t *was = tkp_reach(w, &to);
  c.to = (uint32_t)to.addr;
  if (n) {
    tkp_access from = {.in = in,
                       .lane = lane,
                       .space = TKP_HOST,
                       .verb = "copy",
                       .addr = tkp_get(w, in->s[0], lane) +
                               (uint64_t)in->from_offset,
                       .size = n,
                       .align = in->bytes};
    memcpy(c.data, tkp_reach(w, &from), n);
  }
  if (w->b->shadow) tkp_race_begin_copy(w, &to, was, c.data);
  *new_copy(w) = c;
}

void tkp_run_copy(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_address(w, in, lanes);
  for (int k = 0; k < in->ns; k++)
    tkp_need_set(w, in, in->s[k], lanes, "a copy");
  TKP_EACH(lane, lanes) begin_copy(w, in, (int)lane);
}

/* Does copies that were begun, up to and with a group. */
static void finish_copies(tkp_warp *w, uint32_t group) {
  size_t kept = 0;
  for (size_t i = 0; i < w->ncopies; i++) {
    const tkp_copy *c = &w->copies[i];
    if (c->group > group) {
      w->copies[kept++] = *c;
      continue;
    }
    tkp_access a = {.in = c->in,
                    .lane = c->lane,
                    .space = TKP_SHARED,
                    .write = true,
                    .verb = "copy to shared memory",
                    .addr = c->to,
                    .size = c->size,
                    .align = 1};
    uint8_t *p = tkp_reach(w, &a);
    if (w->b->shadow) tkp_race_write(w, &a, p, c->data, UINT64_MAX);
    memcpy(p, c->data, c->size);
  }
  TK_ASSERT(kept <= w->ncopies);
  w->ncopies = kept;
}

void tkp_run_commit(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  (void)in;
  (void)lanes;
  w->group++;
}

/* Groups are numbered from 1; only wait_all waits for the open one. */
void tkp_run_wait(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  (void)lanes;
  int64_t last = (int64_t)w->group - 1 - in->offset;
  if (in->offset < 0) last = w->group;
  TK_ASSERT(last <= w->group);
  if (last > 0) finish_copies(w, (uint32_t)last);
}
