/* mbarrier.c - barriers in shared memory (PTX ISA, "Parallel Synchronization
 * and Communication Instructions: mbarrier").
 *
 * Of the eight bytes of an object: how many arrivals its phase still waits for,
 * how many each phase has, how many bytes of copies are missing, and the
 * phase's parity.  What those know who arrive is kept beside it, for race.c:
 * whoever sees the phase end knows it too.
 */
#include <string.h>

#include "base/scratch.h"
#include "ptx/bulk.h"

enum { COUNT = 20, BYTES = 22, MOST_BYTES = (1 << 20) - 1 };

typedef struct state {
  uint32_t pending, expected;
  int32_t bytes;
  bool odd, valid;
} state;

static state unpacked(uint64_t v) {
  return (state){.pending = v & ((1u << COUNT) - 1),
                 .expected = v >> COUNT & ((1u << COUNT) - 1),
                 .bytes = (int32_t)(v >> (2 * COUNT) << (32 - BYTES)) >>
                          (32 - BYTES),
                 .odd = v >> 62 & 1,
                 .valid = v >> 63};
}

static uint64_t packed(const state *s) {
  uint64_t bytes = (uint32_t)s->bytes & ((1u << BYTES) - 1);
  return s->pending | (uint64_t)s->expected << COUNT | bytes << (2 * COUNT) |
         (uint64_t)s->odd << 62 | (uint64_t)s->valid << 63;
}

/* ---- objects ------------------------------------------------------------- */

/* What is kept of the object at an address of shared memory. */
static tkp_mbarrier *mbarrier_at(tkp_block *b, uint64_t at) {
  for (size_t i = 0; i < b->nmbarriers; i++)
    if (b->mbarriers[i].at == at) return &b->mbarriers[i];
  if (b->nmbarriers == b->mbarriers_cap)
    b->mbarriers = tk_array_grow(b->m->env, b->mbarriers, sizeof *b->mbarriers,
                                 &b->mbarriers_cap);
  b->mbarriers[b->nmbarriers] = (tkp_mbarrier){.at = at};
  return &b->mbarriers[b->nmbarriers++];
}

static tkp_access access_to(const tkp_warp *w, const tkp_inst *in, int lane,
                            const char *verb) {
  return (tkp_access){.in = in,
                      .lane = lane,
                      .space = in->space,
                      .write = true,
                      .atomic = true,
                      .verb = verb,
                      .addr = tkp_address_of(w, in, lane),
                      .size = 8,
                      .align = 8};
}

/* Shared memory's place of an object; addr becomes that of the space. */
static uint8_t *reach_object(tkp_warp *w, tkp_access *a) {
  uint8_t *p = tkp_reach(w, a);
  if (a->space == TKP_SHARED) return p;
  tkp_report(w, a->in, a->lane, TK_D_VALUE,
             "an mbarrier is in shared memory, and this address is not");
  tkp_stop(w);
}

static state read_object(tkp_warp *w, tkp_access *a) {
  uint64_t v;
  memcpy(&v, reach_object(w, a), sizeof v);
  state s = unpacked(v);
  if (s.valid) return s;
  tkp_report(w, a->in, a->lane, TK_D_VALUE,
             "there is no mbarrier at byte %llu of shared memory: none was "
             "initialised here, or it was invalidated",
             (unsigned long long)(a->addr & (TKP_DYNAMIC_SHARED - 1)));
  tkp_stop(w);
}

static void write_object(tkp_warp *w, const tkp_access *a, uint8_t *p,
                         uint64_t v) {
  if (w->b->shadow) tkp_race_write(w, a, p, &v, UINT64_MAX);
  memcpy(p, &v, sizeof v);
}

/* ... without a thread that writes. */
static void put_object(tkp_warp *w, tkp_access *a, const state *s) {
  uint64_t v = packed(s);
  memcpy(reach_object(w, a), &v, sizeof v);
}

static void need_operands(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (in->base.bits) tkp_need_set(w, in, in->base, lanes, "an address");
  for (int k = 0; k < in->ns; k++)
    tkp_need_set(w, in, in->s[k], lanes, "an mbarrier");
}

/* The phase ends once nothing is missing. */
static void end_phase(tkp_mbarrier *o, state *s) {
  if (s->pending || s->bytes) return;
  s->pending = s->expected;
  s->odd = !s->odd;
  memcpy(o->done_clocks, o->clocks, sizeof o->clocks);
  memcpy(o->done_fenced, o->fenced, sizeof o->fenced);
  memset(o->clocks, 0, sizeof o->clocks);
  memset(o->fenced, 0, sizeof o->fenced);
}

/* ---- instructions -------------------------------------------------------- */

void tkp_run_mbarrier_init(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_operands(w, in, lanes);
  TKP_EACH(lane, lanes) {
    tkp_access a = access_to(w, in, (int)lane, "initialising");
    uint8_t *p = reach_object(w, &a);
    uint32_t n = (uint32_t)tkp_get(w, in->s[0], (int)lane);
    if (!n || n >> COUNT) {
      tkp_report(w, in, (int)lane, TK_D_VALUE,
                 "an mbarrier is for 1 to 1048575 arrivals, not %u", n);
      tkp_stop(w);
    }
    state s = {.pending = n, .expected = n, .valid = true};
    a.atomic = false;
    *mbarrier_at(w->b, a.addr) = (tkp_mbarrier){.at = a.addr};
    write_object(w, &a, p, packed(&s));
  }
}

void tkp_run_mbarrier_inval(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_operands(w, in, lanes);
  TKP_EACH(lane, lanes) {
    tkp_access a = access_to(w, in, (int)lane, "invalidating");
    read_object(w, &a);
    a.atomic = false;
    write_object(w, &a, reach_object(w, &a), 0);
  }
}

static void count_bytes(tkp_warp *w, const tkp_access *a, state *s,
                        int64_t more) {
  int64_t bytes = s->bytes + more;
  s->bytes = (int32_t)bytes;
  if (bytes >= -MOST_BYTES && bytes <= MOST_BYTES) return;
  tkp_report(w, a->in, a->lane, TK_D_VALUE,
             "an mbarrier counts up to %d bytes of copies, and this makes it "
             "%lld",
             MOST_BYTES, (long long)bytes);
  tkp_stop(w);
}

static void arrive_lane(tkp_warp *w, const tkp_inst *in, int lane) {
  tkp_access a = access_to(w, in, lane, "arrival");
  state s = read_object(w, &a);
  tkp_mbarrier *o = mbarrier_at(w->b, a.addr);
  uint32_t by = in->ns ? (uint32_t)tkp_get(w, in->s[0], lane) : 1;
  uint32_t arrivals = in->mode & TKP_MB_ARRIVES ? 1 : 0;
  if (in->nd) tkp_put(w, in->d[0], lane, packed(&s));
  if (in->mode & TKP_MB_BYTES)
    count_bytes(w, &a, &s, in->mode & TKP_MB_COMPLETES ? -(int64_t)by : by);
  else
    arrivals = by;
  if (arrivals > s.pending) {
    tk_diag *d = tkp_report(w, in, lane, TK_D_VALUE,
                            "%u arrivals at an mbarrier whose phase waits for "
                            "%u",
                            arrivals, s.pending);
    tk_diag_help(w->b->m->env, d, "its mbarrier.init says %u for each phase",
                 s.expected);
    tkp_stop(w);
  }
  s.pending -= arrivals;
  tkp_tell(w, o->clocks, o->fenced);
  end_phase(o, &s);
  write_object(w, &a, reach_object(w, &a), packed(&s));
}

void tkp_run_mbarrier_arrive(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_operands(w, in, lanes);
  TKP_EACH(lane, lanes) arrive_lane(w, in, (int)lane);
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes, lanes);
  tkp_warp_met(w);
}

/* Adds what a wait that never ends waits for. */
static void note_missing(const tkp_poll *poll, tk_diag *d) {
  const tkp_block *b = poll->warp->b;
  uint64_t v, at = poll->addr;
  bool dynamic = at >= TKP_DYNAMIC_SHARED;
  if (dynamic) at -= TKP_DYNAMIC_SHARED;
  memcpy(&v, b->shared + (dynamic ? b->m->fixed : 0) + at, sizeof v);
  state s = unpacked(v);
  tk_diag_note(b->m->env, d, NULL, (tk_span){0, 0},
               "the phase of the mbarrier at byte %llu of %s shared memory "
               "still waits for %u of %u arrivals and for %d bytes",
               (unsigned long long)at, dynamic ? "dynamic" : "static",
               s.pending, s.expected, s.bytes);
}

static void note_wait(tkp_warp *w, const tkp_inst *in, int lane, uint64_t at) {
  w->b->poll = (tkp_poll){.in = in,
                          .warp = w,
                          .lane = lane,
                          .addr = at,
                          .at = w->b->m->polls + 1,
                          .note = note_missing};
}

/* Whether the phase that the lane asks for has ended.  Copies arrive as late as
 * they can: when it has not ended without them. */
static bool wait_lane(tkp_warp *w, const tkp_inst *in, int lane) {
  tkp_access a = access_to(w, in, lane, "wait");
  state s = read_object(w, &a);
  uint64_t asked = tkp_get(w, in->s[0], lane);
  bool odd = in->mode & TKP_MB_PARITY ? asked & 1 : unpacked(asked).odd;
  tkp_mbarrier *o = mbarrier_at(w->b, a.addr);
  a.write = false;
  if (w->b->shadow) tkp_race_read(w, &a);
  if (s.odd == odd) {
    size_t bytes = tkp_bulk_arrive(w->b, a.addr, o->clocks);
    count_bytes(w, &a, &s, -(int64_t)bytes);
    if (bytes) end_phase(o, &s);
    if (bytes) put_object(w, &a, &s);
  }
  if (s.odd == odd) {
    note_wait(w, in, lane, a.addr);
    return false;
  }
  tkp_learn(w, o->done_clocks, o->done_fenced);
  if (w->b->poll.note && w->b->poll.warp == w) w->b->poll = (tkp_poll){0};
  return true;
}

void tkp_run_mbarrier_wait(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  need_operands(w, in, lanes);
  TKP_EACH(lane, lanes)
  tkp_put(w, in->d[0], (int)lane, wait_lane(w, in, (int)lane));
  tkp_mark(w, in->d[0], lanes, lanes);
}
