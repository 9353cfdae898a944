/* tile.h - loads and stores whose addresses and mask are symbolic.
 *
 * Addresses that are affine lie between those of the corners, so that a few
 * comparisons check them all, and lanes are moved a row at a time.
 */
#ifndef TK_INTERP_TILE_H
#define TK_INTERP_TILE_H

#include "interp/interp.h"

/* The lanes that an access reaches, and where.  Axes that can be gone through
 * as one are one. */
typedef struct tki_tile {
  size_t size; /* bytes of a lane */
  size_t lanes;
  char *memory; /* of the first active lane; NULL: none is active */
  int rank;
  struct tki_tile_axis {
    size_t n, lo, hi; /* lanes; the active ones */
    int64_t step;     /* bytes */
    size_t inner;     /* lanes per index of the axis */
  } axis[TKI_SYM_AXES];
} tki_tile;

/* Returns false if the addresses or the mask (NULL: there is none) are not
 * symbolic, and if some active lane must not be accessed: then who goes lane by
 * lane says which one. */
bool tki_tile_of(tki_tile *x, const tki *t, const tk_inst *in, const tki_val *p,
                 const tki_val *mask);
/* Whether all lanes are active, and lie in memory as they do in a block. */
bool tki_tile_is_block(const tki_tile *x);
/* Lanes that are masked off get those of other, or 0 if other.at is NULL. */
void tki_tile_load(const tki_tile *x, char *d, const tki_span *other);
void tki_tile_store(const tki_tile *x, const tki_span *value);

/* Gives the lanes from .. to - 1 of a load what they get if masked off. */
void tki_load_off(char *d, const tki_span *other, size_t from, size_t to,
                  size_t size);

#endif
