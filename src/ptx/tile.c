/* tile.c - tiles of shared memory that a wgmma reads.
 *
 * Where tiles lie: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory
 * Layout" and "Matrix Descriptor Format".  Without a swizzle, eight lines of 16
 * bytes each follow each other.  With one of W bytes, eight lines of W bytes
 * do, and the bits of an address from 4 on are combined by xor with those from
 * 7 on.
 */
#include <string.h>

#include "ptx/mma.h"
#include "ptx/number.h"
#include "ptx/wgmma.h"

const tkp_wgmma_type tkp_wgmma_types[] = {
    {TK_AT_f16, TK_AT_f32, 16, 16},  {TK_AT_f16, TK_AT_f16, 16, 16},
    {TK_AT_bf16, TK_AT_f32, 16, 16}, {TK_AT_tf32, TK_AT_f32, 8, 32},
    {TKP_E4M3, TK_AT_f32, 32, 8},    {TKP_E4M3, TK_AT_f16, 32, 8},
    {TK_AT_s8, TK_AT_s32, 32, 8},
};
const int tkp_wgmma_ntypes = (int)TK_COUNT(tkp_wgmma_types);

enum { CHUNK = 16 };

typedef struct tile {
  uint32_t start, leading, stride; /* in bytes */
  uint32_t width;                  /* of the swizzle; 0: there is none */
  bool mn;                         /* rows lie next to each other */
} tile;

static tile tile_of(tkp_warp *w, const tkp_inst *in, uint64_t d, bool mn) {
  static const uint8_t widths[] = {0, 128, 64, 32};
  if (d >> 49 & 7) {
    tkp_report(w, in, 0, TK_D_UNSUPPORTED,
               "the matrix descriptor 0x%llx has a base offset, which the PTX "
               "interpreter does not run",
               (unsigned long long)d);
    tkp_stop(w);
  }
  return (tile){.start = (uint32_t)(d & 0x3FFF) << 4,
                .leading = (uint32_t)(d >> 16 & 0x3FFF) << 4,
                .stride = (uint32_t)(d >> 32 & 0x3FFF) << 4,
                .width = widths[d >> 62],
                .mn = mn};
}

static uint32_t chunk_place(const tile *t, uint32_t line, uint32_t chunk) {
  uint32_t w = t->width ? t->width : CHUNK, per_row = w / CHUNK, at;
  uint32_t within = line % 8 * w, eight = line / 8;
  if (t->mn && t->width)
    at = chunk / per_row * t->leading + chunk % per_row * CHUNK +
         eight * t->stride;
  else if (t->mn)
    at = chunk * t->stride + eight * t->leading;
  else if (t->width)
    at = chunk * CHUNK + eight * t->stride;
  else
    at = chunk * t->leading + eight * t->stride;
  at = (at + within + t->start) & 0x3FFFF;
  return t->width ? at ^ ((at >> 7 & (per_row - 1)) << 4) : at;
}

/* A descriptor has 18 bits of an address, which are those of static or of
 * dynamic memory. */
static uint64_t shared_base(tkp_warp *w, const tkp_inst *in) {
  const tkp_machine *m = w->b->m;
  bool dynamic = m->launch->dynamic_shared != 0;
  if (dynamic && m->k->shared) {
    tkp_report(w, in, 0, TK_D_UNSUPPORTED,
               "a matrix descriptor in a kernel that has both static and "
               "dynamic shared memory is not run by the PTX interpreter");
    tkp_stop(w);
  }
  return dynamic ? TKP_DYNAMIC_SHARED : 0;
}

uint32_t tkp_tile_places(tkp_warp *w, const tkp_inst *in, uint64_t descriptor,
                         bool is_a, uint64_t places[TKP_MOST_PLACES]) {
  const tkp_wgmma_type *type = &tkp_wgmma_types[in->target];
  bool mn = in->mode & (is_a ? TKP_WG_A_MN : TKP_WG_B_MN);
  tile t = tile_of(w, in, descriptor, mn);
  uint64_t base = shared_base(w, in);
  uint32_t size = is_a ? TKP_TILE_ROWS : 8u * in->parts; /* rows or columns */
  uint32_t first = is_a ? w->index % TKP_WARPGROUP * TKP_TILE_ROWS : 0;
  uint32_t each = CHUNK * 8u / type->bits; /* elements of a chunk */
  uint32_t lines = mn ? type->k : size, chunks = (mn ? size : type->k) / each;
  uint32_t n = 0;
  TK_ASSERT(lines * chunks <= TKP_MOST_PLACES);
  for (uint32_t line = 0; line < lines; line++)
    for (uint32_t chunk = 0; chunk < chunks; chunk++)
      places[n++] = base + (mn ? chunk_place(&t, line, first / each + chunk)
                               : chunk_place(&t, first + line, chunk));
  return n;
}

bool tkp_read_chunk(tkp_warp *w, const tkp_inst *in, uint64_t at,
                    uint8_t bytes[16]) {
  tkp_access a = {.in = in,
                  .space = TKP_SHARED,
                  .async = true,
                  .verb = "read of a matrix",
                  .addr = at,
                  .size = CHUNK,
                  .align = CHUNK};
  memcpy(bytes, tkp_reach(w, &a), CHUNK);
  return !w->b->shadow || tkp_race_read(w, &a) == tkp_mask(CHUNK);
}

uint64_t tkp_hash_bytes(uint64_t hash, const uint8_t bytes[16]) {
  uint64_t v[2];
  memcpy(v, bytes, sizeof v);
  for (int i = 0; i < 2; i++) {
    hash = (hash ^ v[i]) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return hash;
}
