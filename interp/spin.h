/* spin.h - whether a program only waits.
 *
 * A trip of a while loop that leaves the loop's variables as they were and
 * that read only what is still in memory will be followed by the same
 * trip for ever, unless another program changes what it read.  Variables
 * that decide nothing (a count of trips that is never tested) are left out.
 */
#ifndef TK_INTERP_SPIN_H
#define TK_INTERP_SPIN_H

#include "interp/interp.h"

typedef struct tki_read {
  uint64_t addr, bits; /* what was there when it was first read */
  uint32_t size;
  const tk_inst *in;
} tki_read;

/* What a program did in its innermost while loop since a certain trip.  One
 * for each program that has come to loop; freed with tki_spin_free. */
struct tki_spin {
  const tki_loop *loop; /* NULL: no loop is looked at */
  const tki_frame *frame;
  uint64_t hash, since;
  tki_read *reads;
  size_t n, cap;
  bool all;    /* every read since that trip is among them */
  bool atomic; /* one of them is by an atomic operation */
  /* While the program gives way: */
  bool waits;          /* it does so until what was read changes */
  uint64_t index;      /* of the program */
  const tki_frame *at; /* its innermost frame */
};

/* Which loops' variables decide something; worked out once per loop. */
typedef struct tki_loopvars {
  struct tki_loopvars *next;
  const tk_stmt *stmt;
  bool *decides; /* by slot */
} tki_loopvars;

typedef struct tki_spins {
  tk_arena arena;
  tki_loopvars *loops;
} tki_spins;

typedef enum tki_spinning {
  TKI_WORKS, /* something changed since the trip before */
  TKI_LOOKS, /* not known yet: ask again after the next trip */
  TKI_WAITS  /* the same trip for ever */
} tki_spinning;

/* Called between two trips of the innermost loop of t->frame; says whether the
 * program only waits there. */
tki_spinning tki_spin_look(tki *t, tki_spins *all, tki_spin *s);
/* Forgets what was seen. */
void tki_spin_stop(tki *t, tki_spin *s);
/* Notes an access of the program that is being looked at. */
void tki_spin_access(tki_spin *s, const tki_access *a);
/* Whether memory is still what it was when it was read. */
bool tki_spin_same(const tki *t, const tki_spin *s);
void tki_spin_free(tk_env *e, tki_spin *s);

#endif
