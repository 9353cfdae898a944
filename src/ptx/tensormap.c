/* tensormap.c - tensor maps: what a tensor in global memory looks like, and
 * boxes of it (PTX ISA, "Tensors", "Tensor-map", "tensormap.replace").
 *
 * On a GPU the 128 bytes are opaque; here they are a tkp_tensor_map.
 */
#include <string.h>

#include "ptx/bulk.h"
#include "ptx/wait.h"

static const uint32_t map_mark = 0x544B4D50;

_Static_assert(sizeof(tkp_tensor_map) == 128, "as large as a GPU's");

void tkp_tensor_map_finish(tkp_tensor_map *map) {
  map->mark = map_mark;
}

unsigned tkp_map_rank(const tkp_tensor_map *map) {
  return map->outer + 1u;
}

unsigned tkp_map_element(const tkp_tensor_map *map) {
  static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2};
  return map->type < TK_COUNT(sizes) ? sizes[map->type] : 0;
}

size_t tkp_map_bytes(const tkp_tensor_map *map) {
  size_t n = tkp_map_element(map);
  for (unsigned i = 0; i < tkp_map_rank(map); i++) n *= map->box[i];
  return n;
}

uint64_t tkp_map_place(const tkp_tensor_map *map, uint64_t at, size_t byte) {
  uint32_t bits = map->swizzle ? (1u << map->swizzle) - 1 : 0;
  at += byte;
  return at ^ ((at >> 7 & bits) << 4);
}

static void refuse_map(tkp_warp *w, const tkp_inst *in, int lane,
                       const char *what) TK_NORETURN;
static void refuse_map(tkp_warp *w, const tkp_inst *in, int lane,
                       const char *what) {
  tkp_report(w, in, lane, TK_D_UNSUPPORTED,
             "%s is not run by the PTX interpreter", what);
  tkp_stop(w);
}

static void check_map(tkp_warp *w, const tkp_inst *in, int lane,
                      const tkp_tensor_map *map) {
  static const uint8_t widths[] = {0, 32, 64, 128};
  bool strided = false, empty = false;
  if (map->mark != map_mark || tkp_map_rank(map) > TKP_MAP_RANK) {
    tkp_report(w, in, lane, TK_D_VALUE, "there is no tensor map here");
    tkp_stop(w);
  }
  for (unsigned i = 0; i < tkp_map_rank(map); i++) {
    strided |= map->steps[i] != 1;
    empty |= !map->box[i] || map->box[i] > 256;
  }
  if (strided) refuse_map(w, in, lane, "a tensor map with element strides");
  if (!tkp_map_element(map))
    refuse_map(w, in, lane, "a tensor map of this element type");
  if (map->interleave) refuse_map(w, in, lane, "an interleaved tensor map");
  if (map->swizzle >= TK_COUNT(widths))
    refuse_map(w, in, lane, "this swizzle of a tensor map");
  size_t row = (size_t)map->box[0] * tkp_map_element(map);
  if (empty || row % 16 || (map->swizzle && row > widths[map->swizzle])) {
    tkp_report(w, in, lane, TK_D_VALUE,
               "the box of a tensor map has rows of %zu bytes: a row is a "
               "multiple of 16 bytes, at most as long as the swizzle, and an "
               "axis has 1 to 256 elements",
               row);
    tkp_stop(w);
  }
}

tkp_tensor_map tkp_map_at(tkp_warp *w, const tkp_inst *in, int lane,
                          uint64_t at) {
  tkp_tensor_map map;
  tkp_access a = {.in = in,
                  .lane = lane,
                  .space = TKP_GENERIC,
                  .verb = "read of a tensor map",
                  .addr = at,
                  .size = sizeof map,
                  .align = 64};
  memcpy(&map, tkp_reach(w, &a), sizeof map);
  check_map(w, in, lane, &map);
  return map;
}

/* ---- boxes --------------------------------------------------------------- */

static void fill_row(const tkp_tensor_map *map, uint8_t *to, size_t row) {
  unsigned size = tkp_map_element(map);
  memset(to, map->fill ? 0xFF : 0, row);
  for (size_t i = size - 1; map->fill && i < row; i += size) to[i] = 0x7F;
}

/* The elements from lo on, up to hi, of a row that begins at address. */
static void copy_row(tkp_warp *w, const tkp_inst *in, int lane, uint64_t at,
                     uint8_t *data, uint32_t size, bool write) {
  tkp_access a = {.in = in,
                  .lane = lane,
                  .space = TKP_HOST,
                  .write = write,
                  .verb = write ? "bulk store" : "bulk load",
                  .addr = at,
                  .size = size,
                  .align = 1};
  uint8_t *p = tkp_reach(w, &a);
  if (!write) memcpy(data, p, size);
  if (!write || !memcmp(p, data, size)) return;
  w->b->m->changes++;
  tkp_note_change(w, &a);
  memcpy(p, data, size);
}

void tkp_map_copy(tkp_warp *w, const tkp_inst *in, int lane,
                  const tkp_tensor_map *map, const int32_t *at, uint8_t *data,
                  bool write) {
  unsigned size = tkp_map_element(map);
  size_t row = (size_t)map->box[0] * size, rows = tkp_map_bytes(map) / row;
  int64_t lo = at[0] < 0 ? -(int64_t)at[0] : 0;
  int64_t hi = (int64_t)map->dims[0] - at[0];
  if (hi > map->box[0]) hi = map->box[0];
  for (size_t r = 0; r < rows; r++, data += row) {
    uint64_t base = map->address;
    bool inside = lo < hi;
    size_t rest = r;
    for (unsigned i = 1; i < tkp_map_rank(map); i++) {
      int64_t x = at[i] + (int64_t)(rest % map->box[i]);
      rest /= map->box[i];
      inside &= x >= 0 && x < (int64_t)map->dims[i];
      base += (uint64_t)x * map->strides[i - 1];
    }
    if (!write) fill_row(map, data, row);
    if (inside)
      copy_row(w, in, lane, base + (uint64_t)((at[0] + lo) * size),
               data + lo * size, (uint32_t)((hi - lo) * size), write);
  }
}

/* ---- maps that a kernel makes -------------------------------------------- */

static void set_field(tkp_tensor_map *map, int field, uint32_t i, uint64_t v) {
  switch ((tkp_map_field)field) {
  case TKP_MF_ADDRESS: map->address = v; break;
  case TKP_MF_RANK: map->outer = (uint8_t)v; break;
  case TKP_MF_BOX: map->box[i] = (uint32_t)v; break;
  case TKP_MF_DIM: map->dims[i] = (uint32_t)v; break;
  case TKP_MF_STRIDE: map->strides[i] = v; break;
  case TKP_MF_STEP: map->steps[i] = (uint32_t)v; break;
  case TKP_MF_TYPE: map->type = (uint8_t)v; break;
  case TKP_MF_INTERLEAVE: map->interleave = (uint8_t)v; break;
  case TKP_MF_SWIZZLE: map->swizzle = (uint8_t)v; break;
  case TKP_MF_FILL: map->fill = (uint8_t)v; break;
  }
}

/* Tells race.c of an access to a whole map, which marks at most 64 bytes at a
 * time. */
static void tell_of_map(tkp_warp *w, const tkp_access *whole, const void *old,
                        const void *new_map) {
  enum { PART = 64 };
  if (!w->b->shadow || whole->space != TKP_SHARED) return;
  for (size_t at = 0; at < sizeof(tkp_tensor_map); at += PART) {
    tkp_access a = *whole;
    a.addr += at;
    a.size = PART;
    if (a.write)
      tkp_race_write(w, &a, (const char *)old + at, (const char *)new_map + at,
                     UINT64_MAX);
    else
      tkp_race_read(w, &a);
  }
}

void tkp_run_map_replace(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (in->base.bits) tkp_need_set(w, in, in->base, lanes, "an address");
  tkp_need_set(w, in, in->s[0], lanes, "a tensor map");
  TKP_EACH(lane, lanes) {
    tkp_tensor_map map, was;
    tkp_access a = {.in = in,
                    .lane = (int)lane,
                    .space = in->space,
                    .write = true,
                    .verb = "change of a tensor map",
                    .addr = tkp_address_of(w, in, (int)lane),
                    .size = sizeof map,
                    .align = 64};
    uint8_t *p = tkp_reach(w, &a);
    memcpy(&was, p, sizeof was);
    map = was;
    set_field(&map, in->mode, in->target, tkp_get(w, in->s[0], (int)lane));
    map.mark = map_mark;
    tell_of_map(w, &a, &was, &map);
    memcpy(p, &map, sizeof map);
  }
}

/* tensormap.cp_fenceproxy: all threads of the warp copy the same. */
void tkp_run_map_copy(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_tensor_map map;
  int lane = __builtin_ctz(lanes);
  if (in->base.bits) tkp_need_set(w, in, in->base, lanes, "an address");
  tkp_need_set(w, in, in->s[0], lanes, "an address");
  tkp_warp_met(w);
  tkp_access from = {.in = in,
                     .lane = lane,
                     .space = TKP_SHARED,
                     .verb = "read of a tensor map",
                     .addr =
                         tkp_get(w, in->s[0], lane) + (uint64_t)in->from_offset,
                     .size = sizeof map,
                     .align = 64};
  memcpy(&map, tkp_reach(w, &from), sizeof map);
  tell_of_map(w, &from, NULL, NULL);
  tkp_access to = {.in = in,
                   .lane = lane,
                   .space = TKP_GENERIC,
                   .write = true,
                   .verb = "store of a tensor map",
                   .addr = tkp_address_of(w, in, lane),
                   .size = sizeof map,
                   .align = 64};
  uint8_t *p = tkp_reach(w, &to);
  if (to.space == TKP_HOST && memcmp(p, &map, sizeof map)) {
    w->b->m->changes++;
    tkp_note_change(w, &to);
  }
  memcpy(p, &map, sizeof map);
}
