/* witness.c - what the instructions of one program computed (witness.h).
 */
#include "ptx/witness.h"

#include <string.h>

#include "ptx/exec.h"

/* Numbers that are kept at most: 256 MiB of them. */
enum { MOST = 32 << 20 };

/* How an instruction's results depend on other lanes and on memory. */
typedef enum flow {
  FLOW_LANE, /* on the lane's own sources */
  FLOW_WARP, /* on its sources in all lanes */
  FLOW_LOAD,
  FLOW_STORE,
  FLOW_ATOMIC,
  FLOW_COPY, /* from memory to memory */
  FLOW_ROWS_LOAD,
  FLOW_ROWS_STORE,
  FLOW_SHFL, /* on another lane's source */
  FLOW_MMA,
  FLOW_WGMMA,
  FLOW_BULK,
} flow;

typedef struct event {
  const tkp_inst *in;
  uint32_t lanes, warp;
  size_t at; /* of its numbers */
} event;

struct tkp_witness {
  tk_arena *arena;
  uint64_t program;
  const tkp_program *p;
  const tkp_kernel *k;
  uint32_t nwarps;
  TK_VEC(event) events;
  TK_VEC(uint64_t) numbers;
  bool cut;
  uint32_t waiting; /* lanes that an instruction may take with it */
};

tkp_witness *tkp_witness_new(tk_arena *a, uint64_t program) {
  tkp_witness *x = TK_NEW(a, tkp_witness);
  *x = (tkp_witness){.arena = a, .program = program};
  return x;
}

static flow flow_of(const tkp_inst *in) {
  static const struct {
    tkp_run_fn *run;
    flow flow;
  } rows[] = {
      {tkp_run_load, FLOW_LOAD},
      {tkp_run_store, FLOW_STORE},
      {tkp_run_atomic, FLOW_ATOMIC},
      {tkp_run_copy, FLOW_COPY},
      {tkp_run_ldmatrix, FLOW_ROWS_LOAD},
      {tkp_run_stmatrix, FLOW_ROWS_STORE},
      {tkp_run_mma, FLOW_MMA},
      {tkp_run_wgmma, FLOW_WGMMA},
      {tkp_run_bulk, FLOW_BULK},
      {tkp_run_shfl, FLOW_SHFL},
      {tkp_run_vote, FLOW_WARP},
      {tkp_run_match, FLOW_WARP},
      {tkp_run_redux, FLOW_WARP},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++)
    if (rows[i].run == in->run) return rows[i].flow;
  return FLOW_LANE;
}

static bool has_address(flow f) {
  return f >= FLOW_LOAD && f <= FLOW_ROWS_STORE;
}

/* By lane: its address, or the lane that it shuffles from; then results. */
static size_t numbers_of(const tkp_inst *in) {
  flow f = flow_of(in);
  return (size_t)in->nd + (has_address(f) || f == FLOW_SHFL);
}

/* ---- what is kept -------------------------------------------------------- */

bool tkp_is_witnessed(const tkp_warp *w) {
  const tkp_witness *x = w->b->m->launch->witness;
  return x && x->program == w->b->index && !x->cut;
}

/* One address for all spaces: that of shared and local memory in a window, and
 * of local memory another one for each thread. */
static uint64_t cell_of(const tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t at = tkp_address_of(w, in, lane);
  uint64_t window = at & TKP_WINDOW_MASK;
  uint64_t thread = (uint64_t)w->index * TKP_WARP + (unsigned)lane;
  if (in->space == TKP_SHARED) return TKP_SHARED_WINDOW | at;
  if (in->space == TKP_LOCAL ||
      (in->space == TKP_GENERIC && window == TKP_LOCAL_WINDOW))
    return TKP_LOCAL_WINDOW | thread << 32 | (uint32_t)at;
  return at;
}

void tkp_witness_before(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_witness *x = w->b->m->launch->witness;
  size_t each = numbers_of(in), n = each * TKP_WARP;
  uint32_t here = w->pc - 1;
  if (x->cut) return;
  if (x->numbers.n + n > MOST) {
    x->cut = true;
    return;
  }
  x->p = w->b->m->p;
  x->k = w->b->m->k;
  x->nwarps = w->b->m->nwarps;
  x->waiting = 0;
  TKP_EACH(lane, w->parked)
  if (w->pcs[lane] == here) x->waiting |= UINT32_C(1) << lane;
  event e = {in, lanes, w->index, x->numbers.n};
  TK_PUSH(x->arena, &x->events, e);
  for (size_t i = 0; i < n; i++) TK_PUSH(x->arena, &x->numbers, (uint64_t)0);
  if (each == in->nd) return;
  bool shuffles = flow_of(in) == FLOW_SHFL, ok;
  for (int lane = 0; lane < TKP_WARP; lane++)
    x->numbers.items[e.at + each * (size_t)lane] =
        shuffles ? (uint64_t)tkp_shfl_lane(w, in, lane, &ok)
                 : cell_of(w, in, lane);
}

void tkp_witness_after(const tkp_warp *w, uint32_t lanes) {
  tkp_witness *x = w->b->m->launch->witness;
  if (x->cut) return;
  TK_ASSERT(x->events.n);
  event *e = &x->events.items[x->events.n - 1];
  if (w->parked & lanes) { /* it will run once the others have come */
    x->numbers.n = e->at;
    x->events.n--;
    return;
  }
  e->lanes |= x->waiting;
  size_t each = numbers_of(e->in), first = each - e->in->nd;
  for (int k = 0; k < e->in->nd; k++) TKP_EACH(lane, e->lanes)
  x->numbers.items[e->at + each * lane + first + (size_t)k] =
      tkp_get(w, e->in->d[k], (int)lane);
}

/* ---- sets of bytes ------------------------------------------------------- */

typedef struct byte {
  uint64_t at;
  bool there, needed;
} byte;

typedef struct bytes { /* by their hash */
  tk_arena *arena;
  byte *items;
  size_t n, cap;
} bytes;

static byte *slot_of(const bytes *b, uint64_t at) {
  size_t i = (size_t)(at * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (b->cap - 1);
  while (b->items[i].there && b->items[i].at != at) i = (i + 1) & (b->cap - 1);
  return &b->items[i];
}

static void grow_bytes(bytes *b) {
  bytes old = *b;
  b->cap = old.cap ? 2 * old.cap : 1024;
  b->items = TK_NEWN(b->arena, byte, b->cap);
  for (size_t i = 0; i < old.cap; i++)
    if (old.items[i].there) *slot_of(b, old.items[i].at) = old.items[i];
}

static void need_bytes(bytes *b, uint64_t at, size_t n) {
  for (; n--; at++) {
    if (2 * (b->n + 1) > b->cap) grow_bytes(b);
    byte *slot = slot_of(b, at);
    b->n += !slot->there;
    *slot = (byte){at, true, true};
  }
}

/* Whether some of these bytes are needed; they are not from now on. */
static bool take_bytes(const bytes *b, uint64_t at, size_t n) {
  bool needed = false;
  for (; n-- && b->cap; at++) {
    byte *slot = slot_of(b, at);
    needed |= slot->there && slot->needed;
    slot->needed = false;
  }
  return needed;
}

/* ---- backwards ----------------------------------------------------------- */

typedef struct search {
  tkp_witness *x;
  uint32_t *regs; /* by warp and register: lanes in which it is needed */
  bytes memory;
  bool all_shared; /* all of shared memory is needed */
  TK_VEC(tkp_seen) seen;
} search;

static void need_reg(search *s, const event *e, tkp_reg r, uint32_t lanes) {
  if (r.bits) s->regs[(size_t)e->warp * s->x->k->nregs + r.id] |= lanes;
}

static uint32_t take_reg(search *s, const event *e, tkp_reg r) {
  uint32_t *needed = &s->regs[(size_t)e->warp * s->x->k->nregs + r.id];
  uint32_t lanes = *needed & e->lanes;
  *needed &= ~lanes;
  return lanes;
}

/* What the lanes read to know whether, and where. */
static void need_way(search *s, const event *e, uint32_t lanes) {
  if (e->in->guarded) need_reg(s, e, e->in->guard, lanes);
  need_reg(s, e, e->in->base, lanes);
}

static uint64_t address_in(const search *s, const event *e, uint32_t lane) {
  return s->x->numbers.items[e->at + numbers_of(e->in) * lane];
}

static uint64_t number_in(const search *s, const event *e, int k,
                          uint32_t lane) {
  size_t each = numbers_of(e->in), first = each - e->in->nd;
  return s->x->numbers.items[e->at + each * lane + first + (size_t)k];
}

/* A number at a place of the kernel; false: the place is none. */
static bool seen_at(const tkp_program *p, const tkp_inst *in, uint32_t loc,
                    uint64_t value, uint8_t bits, tkp_seen *seen) {
  const tkp_loc *l = &p->locs.items[loc];
  flow f = flow_of(in);
  *seen = (tkp_seen){.file = tkp_loc_file(p, l),
                     .line = l->line,
                     .value = value,
                     .bits = bits,
                     .loaded = f == FLOW_LOAD || f == FLOW_ROWS_LOAD ||
                               f == FLOW_ATOMIC,
                     .at = (uint32_t)tk_source_line(p->src, in->span.lo)};
  return l->line != 0;
}

/* Adds a number for each line that the instruction was made of. */
static void see(search *s, const tkp_inst *in, uint64_t value, uint8_t bits) {
  const tkp_program *p = s->x->p;
  tkp_seen seen;
  for (uint32_t i = in->loc; i; i = p->locs.items[i].outer)
    if (seen_at(p, in, i, value, bits, &seen))
      TK_PUSH(s->x->arena, &s->seen, seen);
}

/* The lanes in which the k-th result is needed: these are told of, and it is
 * not needed any more. */
static uint32_t take_result(search *s, const event *e, int k) {
  uint32_t lanes = take_reg(s, e, e->in->d[k]);
  TKP_EACH(lane, lanes)
  see(s, e->in, number_in(s, e, k, lane), e->in->d[k].bits);
  return lanes;
}

static void need_sources(search *s, const event *e, int from, int to,
                         uint32_t lanes) {
  for (int k = from; k < to; k++) need_reg(s, e, e->in->s[k], lanes);
}

static void back_through_load(search *s, const event *e) {
  const tkp_inst *in = e->in;
  for (int k = 0; k < in->nd; k++) {
    uint32_t lanes = take_result(s, e, k);
    if (lanes) need_way(s, e, lanes);
    TKP_EACH(lane, lanes)
    need_bytes(&s->memory, address_in(s, e, lane) + (uint64_t)(k * in->bytes),
               in->bytes);
  }
}

static bool is_shared(uint64_t at) {
  return (at & TKP_WINDOW_MASK) == TKP_SHARED_WINDOW;
}

static bool takes_bytes(search *s, uint64_t at, size_t n) {
  return take_bytes(&s->memory, at, n) || (s->all_shared && is_shared(at));
}

static void back_through_store(search *s, const event *e) {
  const tkp_inst *in = e->in;
  TKP_EACH(lane, e->lanes) {
    uint64_t at = address_in(s, e, lane);
    for (int k = 0; k < in->parts; k++, at += in->bytes) {
      if (!takes_bytes(s, at, in->bytes)) continue;
      need_way(s, e, UINT32_C(1) << lane);
      need_reg(s, e, in->s[k], UINT32_C(1) << lane);
    }
  }
}

/* Memory is what it was and an operand. */
static void back_through_atomic(search *s, const event *e) {
  const tkp_inst *in = e->in;
  size_t size = (size_t)in->parts * in->bytes;
  TKP_EACH(lane, e->lanes) {
    uint64_t at = address_in(s, e, lane);
    bool needed = takes_bytes(s, at, size);
    for (int k = 0; k < in->nd; k++)
      needed |= take_reg(s, &(event){in, UINT32_C(1) << lane, e->warp, 0},
                         in->d[k]) != 0;
    if (!needed) continue;
    for (int k = 0; k < in->nd; k++)
      see(s, in, number_in(s, e, k, lane), in->d[k].bits);
    need_way(s, e, UINT32_C(1) << lane);
    need_sources(s, e, 0, in->ns, UINT32_C(1) << lane);
    need_bytes(&s->memory, at, size);
  }
}

static void back_through_copy(search *s, const event *e) {
  TKP_EACH(lane, e->lanes) {
    if (!takes_bytes(s, address_in(s, e, lane), e->in->bytes)) continue;
    need_way(s, e, UINT32_C(1) << lane);
    need_sources(s, e, 0, e->in->ns, UINT32_C(1) << lane);
  }
}

/* Eight rows of 16 bytes for each matrix, whose addresses eight lanes have. */
static void back_through_rows(search *s, const event *e) {
  const tkp_inst *in = e->in;
  bool store = in->nd == 0;
  for (int k = 0; k < in->parts; k++) {
    bool needed = !store && take_result(s, e, k);
    for (uint32_t row = 0; store && row < 8; row++)
      needed |= takes_bytes(s, address_in(s, e, 8 * (uint32_t)k + row), 16);
    if (!needed) continue;
    need_way(s, e, UINT32_MAX);
    if (store) need_reg(s, e, in->s[k], UINT32_MAX);
    for (uint32_t row = 0; !store && row < 8; row++)
      need_bytes(&s->memory, address_in(s, e, 8 * (uint32_t)k + row), 16);
  }
}

/* C is the lane's own; A and B, or their descriptors, are those of all. */
static void back_through_product(search *s, const event *e, bool reads_shared) {
  const tkp_inst *in = e->in;
  for (int k = 0; k < in->nd; k++) {
    uint32_t lanes = take_result(s, e, k);
    if (!lanes) continue;
    need_reg(s, e, in->s[in->ns - in->nd + k], lanes);
    need_sources(s, e, 0, in->ns - in->nd, UINT32_MAX);
    s->all_shared |= reads_shared;
  }
}

static void back_through_shuffle(search *s, const event *e) {
  uint32_t lanes = take_result(s, e, 0);
  if (e->in->nd > 1) take_result(s, e, 1);
  if (lanes) need_way(s, e, lanes);
  TKP_EACH(lane, lanes)
  need_reg(s, e, e->in->s[0], UINT32_C(1) << address_in(s, e, lane));
}

static void back_through_other(search *s, const event *e, bool by_all) {
  uint32_t lanes = 0;
  for (int k = 0; k < e->in->nd; k++) lanes |= take_result(s, e, k);
  if (!lanes) return;
  need_way(s, e, lanes);
  need_sources(s, e, 0, e->in->ns, by_all ? e->lanes : lanes);
}

static void back_through(search *s, const event *e) {
  switch (flow_of(e->in)) {
  case FLOW_LANE: back_through_other(s, e, false); break;
  case FLOW_WARP: back_through_other(s, e, true); break;
  case FLOW_LOAD: back_through_load(s, e); break;
  case FLOW_STORE: back_through_store(s, e); break;
  case FLOW_ATOMIC: back_through_atomic(s, e); break;
  case FLOW_COPY: back_through_copy(s, e); break;
  case FLOW_ROWS_LOAD:
  case FLOW_ROWS_STORE: back_through_rows(s, e); break;
  case FLOW_SHFL: back_through_shuffle(s, e); break;
  case FLOW_MMA: back_through_product(s, e, false); break;
  case FLOW_WGMMA: back_through_product(s, e, true); break;
  case FLOW_BULK: break; /* what it loads is memory's, as tensors have it */
  }
}

/* ---- what is asked ------------------------------------------------------- */

/* Whether an event writes to memory what is asked for. */
static bool writes(search *s, const event *e) {
  flow f = flow_of(e->in);
  size_t size = (size_t)e->in->parts * e->in->bytes;
  if (f == FLOW_BULK) return true; /* a store, perhaps there */
  if (f != FLOW_STORE && f != FLOW_ATOMIC) return false;
  TKP_EACH(lane, e->lanes) {
    uint64_t at = address_in(s, e, lane);
    for (size_t i = 0; i < size; i++) {
      const byte *slot = slot_of(&s->memory, at + i);
      if (slot->there && slot->needed) return true;
    }
  }
  return false;
}

/* The last event that wrote there, whose line *store gets: n if none did.  A
 * bulk store may have, if nothing else has. */
static size_t last_write(search *s, tkp_seen *store) {
  tkp_witness *x = s->x;
  size_t bulk = x->events.n;
  for (size_t i = x->events.n; i-- > 0;) {
    const event *e = &x->events.items[i];
    if (!writes(s, e)) continue;
    bool may = flow_of(e->in) == FLOW_BULK;
    if (may && bulk == x->events.n) bulk = i;
    if (may) continue;
    see(s, e->in, 0, 0);
    if (s->seen.n) *store = s->seen.items[s->seen.n - 1];
    s->seen.n = 0;
    return i;
  }
  s->all_shared = bulk < x->events.n;
  return bulk;
}

tkp_testimony tkp_witness_of(tkp_witness *x, uint64_t address, size_t size,
                             const tkp_seen **seen, size_t *n,
                             tkp_seen *store) {
  search s = {.x = x, .memory = {.arena = x->arena}};
  *store = (tkp_seen){0};
  *n = 0;
  if (x->cut) return TKP_T_CUT;
  if (!x->events.n) return TKP_T_NOT_RUN;
  s.regs = TK_NEWN(x->arena, uint32_t, (size_t)x->nwarps * x->k->nregs);
  need_bytes(&s.memory, address, size);
  size_t last = last_write(&s, store);
  if (last == x->events.n) return TKP_T_UNWRITTEN;
  for (size_t i = last + 1; i-- > 0;) back_through(&s, &x->events.items[i]);
  *seen = s.seen.items;
  *n = s.seen.n;
  return TKP_T_SEEN;
}

void tkp_witness_each(tkp_witness *x, tkp_seen_fn *fn, void *ud) {
  const search s = {.x = x};
  tkp_seen seen;
  for (size_t i = 0; i < x->events.n; i++) {
    const event *e = &x->events.items[i];
    for (int k = 0; k < e->in->nd; k++) TKP_EACH(lane, e->lanes)
    for (uint32_t l = e->in->loc; l; l = x->p->locs.items[l].outer)
      if (seen_at(x->p, e->in, l, number_in(&s, e, k, lane), e->in->d[k].bits,
                  &seen) &&
          !fn(ud, &seen))
        return;
  }
}
