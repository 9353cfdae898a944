/* pool.h - memory for lanes, and for whatever an instruction needs a while.
 *
 * The pool belongs to the run, and so does everything that came from it: what
 * a failing program did not give back is taken back when the run ends, or
 * when the pool is reset.  Sizes are powers of two, as block sizes are.
 */
#ifndef TK_INTERP_POOL_H
#define TK_INTERP_POOL_H

#include "interp/symbolic.h"

typedef struct tki tki;

enum { TKI_ALIGN = 64, TKI_CLASSES = 40, TKI_BUF_HEAD = 128 };

/* Members with a name that ends in _ are private: see "private" in
 * tools/lint.py. */
typedef struct tki_buf {
  uint32_t refs_;        /* holders; 0: it is on the list of its class */
  uint32_t class_;       /* it has room for 1 << class_ bytes */
  struct tki_buf *next_; /* on the list of its class */
  bool unwritten_;       /* lent_ has the lanes, or sym_ says what they are */
  const void *lent_;     /* memory that is as the lanes are; or NULL */
  size_t bytes_;         /* of lent_ */
  tki_sym sym_;          /* of kind NONE: the lanes alone say */
} tki_buf;

typedef struct tki_pool {
  tki_buf *free_[TKI_CLASSES];
  struct tki_chunk *chunks_; /* everything that was ever allocated */
} tki_pool;

static inline void *tki_buf_data(tki_buf *b) {
  return (char *)b + TKI_BUF_HEAD;
}

/* The lanes of one that is unwritten_: writes those that sym_ says. */
const void *tki_buf_lanes(tki_buf *b);
/* The same, and they may change from now on. */
void tki_buf_forget(tki_buf *b);

/* A buffer with room for this many bytes, held once. */
tki_buf *tki_buf_new(tki *t, size_t bytes);
/* Gives back one that nothing holds any more. */
void tki_buf_free(tki *t, tki_buf *b);

/* Memory that is not a value's: aligned as lanes are, its contents not yet
 * defined, or zero. */
void *tki_scratch_new(tki *t, size_t bytes);
void *tki_scratch_zero(tki *t, size_t bytes);
void tki_scratch_free(tki *t, void *memory); /* or NULL */

/* A pool that has given nothing yet. */
static inline tki_pool tki_pool_empty(void) {
  return (tki_pool){.chunks_ = NULL};
}
void tki_pool_free(tki *t);
/* Takes every buffer back, whoever holds it: no program may be alive. */
void tki_pool_reset(tki *t);

#endif
