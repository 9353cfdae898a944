/* flight.c - what a warp's wgmma have under way: registers that must not be
 * touched, tiles of shared memory that must not be changed, until the group is
 * waited for (PTX ISA, "wgmma.mma_async", "wgmma.wait_group").
 *
 * A register that is moved takes along what holds of it: compilers copy the
 * accumulators of a loop while a wgmma is under way, and ptxas gives both the
 * same place.
 *
 * A tile is compared when it is waited for with what it was, and if the warp
 * has passed a barrier meanwhile, it is read once more, for race.c: others may
 * have taken that barrier for the end of the read.
 */
#include "ptx/wgmma.h"

#include <string.h>

#include "base/scratch.h"
#include "ptx/number.h"

void tkp_begin_flight(tkp_warp *w) {
  tkp_flight *f = w->flight;
  size_t n = w->b->m->k->nregs;
  memset(f->result_of, 0, n * sizeof *f->result_of);
  memset(f->read_by, 0, n * sizeof *f->read_by);
  memset(f->computed, 0, n * sizeof *f->computed);
  f->group = 1;
  f->landed = 0;
  f->steps = f->fence = 0;
  f->ntiles = 0;
}

void tkp_free_flight(const tkp_warp *w) {
  tkp_flight *f = w->flight;
  tk_free(w->b->m->env, f->tiles, f->tiles_cap * sizeof *f->tiles);
}

/* ---- registers ----------------------------------------------------------- */

static bool is_plain_move(const tkp_inst *in) {
  return in->math && in->math->op == TK_AO_MOV && in->nd == 1 && in->ns == 1;
}

static void report_register(tkp_warp *w, const tkp_inst *in, uint32_t lanes,
                            const char *what) {
  tk_diag *d = tkp_report(w, in, __builtin_ctz(lanes), TK_D_RACE,
                          "%s before that was waited for", what);
  if (d->f.count == 1)
    tk_diag_help(w->b->m->env, d,
                 "wgmma.wait_group belongs before this; until then the "
                 "registers of a wgmma must not be touched");
}

static void watch_source(tkp_warp *w, const tkp_inst *in, tkp_reg r,
                         uint32_t lanes) {
  tkp_flight *f = w->flight;
  if (f->result_of[r.id] <= f->landed) return;
  report_register(w, in, lanes, "a register is read that a wgmma computes");
  f->result_of[r.id] = 0; /* said once */
}

static void watch_dest(tkp_warp *w, const tkp_inst *in, tkp_reg r,
                       uint32_t lanes) {
  tkp_flight *f = w->flight;
  if (f->result_of[r.id] > f->landed)
    report_register(w, in, lanes, "a register is set that a wgmma computes");
  if (f->read_by[r.id] > f->landed)
    report_register(w, in, lanes, "a register is set that a wgmma reads");
  f->result_of[r.id] = f->read_by[r.id] = 0;
  f->computed[r.id] = f->steps;
}

void tkp_watch_registers(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_flight *f = w->flight;
  f->steps++;
  if (is_plain_move(in)) {
    uint32_t to = in->d[0].id, from = in->s[0].id;
    f->result_of[to] = f->result_of[from];
    f->computed[to] = f->computed[from];
    return;
  }
  if (in->guarded) watch_source(w, in, in->guard, lanes);
  if (in->base.bits) watch_source(w, in, in->base, lanes);
  for (int k = 0; k < in->ns; k++) watch_source(w, in, in->s[k], lanes);
  for (int k = 0; k < in->nd; k++) watch_dest(w, in, in->d[k], lanes);
}

static void report_fence(tkp_warp *w, const tkp_inst *in) {
  tk_diag *d = tkp_report(w, in, 0, TK_D_RACE,
                          w->flight->fence
                              ? "no wgmma.fence lies between this and the "
                                "instruction that computed one of its registers"
                              : "no wgmma.fence comes before the first wgmma");
  if (d->f.count == 1)
    tk_diag_help(w->b->m->env, d,
                 "wgmma.fence.sync.aligned orders what was done to registers "
                 "before it and the wgmma behind it");
}

void tkp_watch_wgmma(tkp_warp *w, const tkp_inst *in) {
  tkp_flight *f = w->flight;
  uint32_t a = in->mode & TKP_WG_A_REGS ? TKP_A_REGS : 0;
  bool fenced = f->fence != 0;
  if (w->b->m->launch->unchecked) return;
  for (uint32_t k = 0; k < a; k++) {
    watch_source(w, in, in->s[k], UINT32_MAX);
    fenced &= f->computed[in->s[k].id] <= f->fence;
    f->read_by[in->s[k].id] = f->group;
  }
  for (uint32_t k = 0; k < in->nd; k++) {
    uint32_t id = in->d[k].id;
    fenced &= f->computed[id] <= f->fence;
    f->computed[id] = 0;
    f->result_of[id] = f->group;
  }
  if (fenced) return;
  report_fence(w, in);
  f->fence = f->steps; /* said once */
}

/* ---- tiles --------------------------------------------------------------- */

void tkp_begin_tile_read(tkp_warp *w, const tkp_inst *in, uint64_t descriptor,
                         bool is_a, uint64_t hash) {
  tkp_flight *f = w->flight;
  if (w->b->m->launch->unchecked) return;
  if (f->ntiles == f->tiles_cap)
    f->tiles =
        tk_array_grow(w->b->m->env, f->tiles, sizeof *f->tiles, &f->tiles_cap);
  f->tiles[f->ntiles++] = (tkp_tile_read){.in = in,
                                          .descriptor = descriptor,
                                          .is_a = is_a,
                                          .hash = hash,
                                          .clock = tkp_own_clock(w),
                                          .group = f->group};
}

static void report_changed(tkp_warp *w, const tkp_tile_read *t) {
  tk_diag *d = tkp_report(w, t->in, 0, TK_D_RACE,
                          "shared memory that this reads was changed before it "
                          "was waited for");
  if (d->f.count == 1)
    tk_diag_help(w->b->m->env, d,
                 "wgmma.wait_group belongs before the write to %s",
                 t->is_a ? "A" : "B");
}

static void finish_tile_read(tkp_warp *w, const tkp_tile_read *t) {
  uint64_t places[TKP_MOST_PLACES], hash = 0;
  uint32_t n = tkp_tile_places(w, t->in, t->descriptor, t->is_a, places);
  bool passed = tkp_own_clock(w) != t->clock && w->b->shadow;
  for (uint32_t i = 0; i < n; i++) {
    uint8_t bytes[16];
    if (passed) {
      tkp_read_chunk(w, t->in, places[i], bytes);
    } else {
      tkp_access a = {.in = t->in,
                      .space = TKP_SHARED,
                      .addr = places[i],
                      .size = sizeof bytes,
                      .align = 1};
      memcpy(bytes, tkp_reach(w, &a), sizeof bytes);
    }
    hash = tkp_hash_bytes(hash, bytes);
  }
  if (hash != t->hash) report_changed(w, t);
}

void tkp_land(tkp_warp *w, uint32_t group) {
  tkp_flight *f = w->flight;
  size_t kept = 0;
  for (size_t i = 0; i < f->ntiles; i++)
    if (f->tiles[i].group > group)
      f->tiles[kept++] = f->tiles[i];
    else
      finish_tile_read(w, &f->tiles[i]);
  f->ntiles = kept;
  if (group > f->landed) f->landed = group;
}
