/* bulk.c - cp.async.bulk.tensor: boxes of tensors between global and shared
 * memory (PTX ISA, "Data Movement and Conversion Instructions: Tensor copy").
 *
 * A load reads global memory at once and arrives when somebody waits for its
 * mbarrier; a store reads shared memory at once and writes when its group is
 * waited for.  Whoever does not wait finds what was there before, and race.c
 * says so.
 */
#include "ptx/bulk.h"

#include <string.h>

#include "base/scratch.h"

enum { CHUNK = 16 };

static tkp_access chunk_access(const tkp_bulk *k, size_t byte) {
  return (tkp_access){.in = k->in,
                      .lane = k->lane,
                      .space = TKP_SHARED,
                      .write = !k->store,
                      .async = true,
                      .verb = k->store ? "bulk store" : "bulk load",
                      .addr = tkp_map_place(&k->map, k->shared, byte),
                      .size = CHUNK,
                      .align = CHUNK};
}

/* Room first: if there is none, no data are lost. */
static tkp_bulk *add_bulk(tkp_block *b, tkp_bulk *k) {
  if (b->nbulks == b->bulks_cap)
    b->bulks =
        tk_array_grow(b->m->env, b->bulks, sizeof *b->bulks, &b->bulks_cap);
  k->data = tk_calloc(b->m->env, 1, tkp_map_bytes(&k->map));
  b->bulks[b->nbulks] = *k;
  return &b->bulks[b->nbulks++];
}

static void free_bulk(tkp_block *b, const tkp_bulk *k) {
  tk_free(b->m->env, k->data, tkp_map_bytes(&k->map));
}

/* A map's numbers alone may say more than any memory holds. */
static void need_room(tkp_warp *w, const tkp_inst *in, int lane,
                      const tkp_tensor_map *map) {
  size_t bytes = tkp_map_bytes(map), most = w->b->m->shared;
  if (bytes <= most) return;
  tkp_report(w, in, lane, TK_D_BOUNDS,
             "the box of this tensor map has %zu bytes, and the program has "
             "%zu bytes of shared memory",
             bytes, most);
  tkp_stop(w);
}

/* What both directions begin with; the data are there from then on, so that
 * whatever is reported next, they are freed. */
static tkp_bulk *begin_bulk(tkp_warp *w, const tkp_inst *in, int lane,
                            bool store) {
  tkp_bulk k = {.in = in,
                .warp = w->index,
                .lane = (uint8_t)lane,
                .store = store,
                .group = w->bulk_groups[lane]};
  unsigned first = store ? 1 : 2; /* coordinates among the sources */
  uint64_t map = tkp_get(w, in->s[0], lane) + (uint64_t)in->from_offset;
  k.map = tkp_map_at(w, in, lane, map);
  if (tkp_map_rank(&k.map) != in->parts) {
    tkp_report(w, in, lane, TK_D_VALUE,
               "a tensor map of %u axes, and %u coordinates",
               tkp_map_rank(&k.map), in->parts);
    tkp_stop(w);
  }
  need_room(w, in, lane, &k.map);
  for (unsigned i = 0; i < in->parts; i++)
    k.at[i] = (int32_t)tkp_get(w, in->s[first + i], lane);
  tkp_access whole = {.in = in,
                      .lane = lane,
                      .space = TKP_SHARED,
                      .verb = "bulk copy",
                      .addr = tkp_address_of(w, in, lane),
                      .size = CHUNK,
                      .align = 128};
  tkp_reach(w, &whole); /* its alignment */
  k.shared = whole.addr;
  return add_bulk(w->b, &k);
}

static void load_lane(tkp_warp *w, const tkp_inst *in, int lane) {
  tkp_bulk *k = begin_bulk(w, in, lane, false);
  k->mbarrier = tkp_get(w, in->s[1], lane) + (uint64_t)(int32_t)in->target;
  k->clock = tkp_own_clock(w);
  tkp_map_copy(w, in, lane, &k->map, k->at, k->data, false);
  for (size_t i = 0, n = tkp_map_bytes(&k->map); i < n; i += CHUNK) {
    tkp_access a = chunk_access(k, i);
    const uint8_t *p = tkp_reach(w, &a);
    if (w->b->shadow) tkp_race_begin_bulk(w, &a, p, k->data + i);
  }
}

/* Reads what is stored; later: whether it is still the same. */
static bool read_box(tkp_warp *w, const tkp_bulk *k, bool later) {
  bool same = true, set = true;
  for (size_t i = 0, n = tkp_map_bytes(&k->map); i < n; i += CHUNK) {
    tkp_access a = chunk_access(k, i);
    const uint8_t *p = tkp_reach(w, &a);
    if (w->b->shadow) set &= tkp_race_read(w, &a) == (1u << CHUNK) - 1;
    if (later)
      same &= !memcmp(p, k->data + i, CHUNK);
    else
      memcpy(k->data + i, p, CHUNK);
  }
  if (!set && !later) {
    tk_diag *d = tkp_report(w, k->in, k->lane, TK_D_UNDEF,
                            "what is stored to global memory was never "
                            "written to shared memory");
    if (d->f.count == 1)
      tk_diag_help(w->b->m->env, d, "it is taken from the whole box");
  }
  return same;
}

void tkp_run_bulk(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (in->base.bits) tkp_need_set(w, in, in->base, lanes, "an address");
  for (int k = 0; k < in->ns; k++)
    tkp_need_set(w, in, in->s[k], lanes, "a bulk copy");
  TKP_EACH(lane, lanes) {
    if (in->mode)
      read_box(w, begin_bulk(w, in, (int)lane, true), false);
    else
      load_lane(w, in, (int)lane);
  }
  tkp_warp_met(w); /* what comes next is behind the copy */
}

/* ---- arrivals ------------------------------------------------------------ */

static void deliver(tkp_block *b, const tkp_bulk *k) {
  tkp_warp *w = &b->warps[k->warp];
  size_t n = tkp_map_bytes(&k->map);
  for (size_t i = 0; i < n; i += CHUNK) {
    tkp_access a = chunk_access(k, i);
    uint8_t *p = tkp_reach(w, &a);
    if (b->shadow) tkp_race_end_bulk(w, &a, k->clock);
    memcpy(p, k->data + i, CHUNK);
  }
}

size_t tkp_bulk_arrive(tkp_block *b, uint64_t mbarrier, uint32_t *clocks) {
  size_t bytes = 0;
  for (size_t i = 0; i < b->nbulks;) {
    tkp_bulk k = b->bulks[i];
    if (k.store || k.mbarrier != mbarrier) {
      i++;
      continue;
    }
    deliver(b, &k);
    bytes += tkp_map_bytes(&k.map);
    if (k.clock > clocks[k.warp]) clocks[k.warp] = k.clock;
    free_bulk(b, &k);
    b->nbulks--;
    memmove(&b->bulks[i], &b->bulks[i + 1], (b->nbulks - i) * sizeof *b->bulks);
  }
  return bytes;
}

static void finish_store(tkp_warp *w, const tkp_bulk *k) {
  if (!read_box(w, k, true)) {
    tk_diag *d = tkp_report(w, k->in, k->lane, TK_D_RACE,
                            "shared memory that this stores was changed before "
                            "it was waited for");
    if (d->f.count == 1)
      tk_diag_help(w->b->m->env, d,
                   "cp.async.bulk.wait_group belongs before the write");
  }
  tkp_map_copy(w, k->in, k->lane, &k->map, k->at, k->data, true);
}

/* Ends the stores of a lane, up to and with a group. */
static void finish_stores(tkp_warp *w, uint32_t lane, int64_t group) {
  tkp_block *b = w->b;
  for (size_t i = 0; i < b->nbulks;) {
    tkp_bulk k = b->bulks[i];
    if (!k.store || k.warp != w->index || k.lane != lane || k.group > group) {
      i++;
      continue;
    }
    finish_store(w, &k);
    free_bulk(b, &k);
    b->nbulks--;
    memmove(&b->bulks[i], &b->bulks[i + 1], (b->nbulks - i) * sizeof *b->bulks);
  }
}

void tkp_run_bulk_commit(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  (void)in;
  TKP_EACH(lane, lanes) w->bulk_groups[lane]++;
}

void tkp_run_bulk_wait(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes)
  finish_stores(w, lane, (int64_t)w->bulk_groups[lane] - 1 - in->offset);
  tkp_warp_met(w);
}

/* ---- ends ---------------------------------------------------------------- */

void tkp_bulk_end(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  const tkp_block *b = w->b;
  for (size_t i = 0; i < b->nbulks; i++) {
    const tkp_bulk *k = &b->bulks[i];
    if (!k->store || k->warp != w->index || !(lanes >> k->lane & 1)) continue;
    tk_diag *d = tkp_report(w, k->in, k->lane, TK_D_RACE,
                            "the thread ends while this may still read shared "
                            "memory");
    if (d->f.count > 1) continue;
    tk_diag_note(b->m->env, d, b->m->p->src, in->span, "it ends here");
    tk_diag_help(b->m->env, d, "cp.async.bulk.wait_group waits for it");
  }
  TKP_EACH(lane, lanes) finish_stores(w, lane, INT64_MAX);
}

void tkp_bulk_left(tkp_block *b) {
  for (size_t i = 0; i < b->nbulks; i++) {
    const tkp_bulk *k = &b->bulks[i];
    tkp_warp *w = &b->warps[k->warp];
    tk_diag *d = tkp_report(w, k->in, k->lane, TK_D_RACE,
                            "the program ends while this may still write to "
                            "shared memory");
    if (d->f.count == 1)
      tk_diag_help(b->m->env, d, "a wait for its mbarrier waits for it");
    for (size_t n = 0; b->shadow && n < tkp_map_bytes(&k->map); n += CHUNK) {
      tkp_access a = chunk_access(k, n);
      tkp_race_end_bulk(w, &a, k->clock);
    }
  }
  tkp_bulk_free(b);
}

void tkp_bulk_free(tkp_block *b) {
  for (size_t i = 0; i < b->nbulks; i++) free_bulk(b, &b->bulks[i]);
  b->nbulks = 0;
}
