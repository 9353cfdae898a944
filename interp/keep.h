/* keep.h - runs that go on after accesses that must not happen.
 *
 * Lanes whose addresses must not be touched are left out of the access: a store
 * drops them, and a load gives them a value that is easy to see.  Whoever wants
 * that sets t->keeper before the first program; it belongs to him, and must
 * outlive the run.
 */
#ifndef TK_INTERP_KEEP_H
#define TK_INTERP_KEEP_H

#include "interp/interp.h"

struct tki_keeper {
  void *ud;
  /* Counts lanes that are wrong at the running instruction; returns whether
   * none were before, so that `report` is called. */
  bool (*count)(void *ud, tki *t, tk_diag_id id, size_t lanes);
  /* Returns NULL if it is not to be shown. */
  tk_diag *(*report)(void *ud, tki *t, tk_diag_id id, const char *text);
};

/* One that hears of nothing. */
extern const tki_keeper tki_keep_quiet;

/* Reports the bad lanes of an access by lanes and takes them out of its mask;
 * a->left_out is then not NULL, until tki_keep_end. */
void tki_keep_going(tki_access *a);
/* Gives the lanes that were left out what they get: d has a lane for each. */
void tki_keep_poison(const tki_access *a, char *d);
/* The same for one lane. */
void tki_poison_lane(const tk_type *type, char *d);
void tki_keep_end(tki_access *a);

#endif
