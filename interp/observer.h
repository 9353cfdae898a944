/* observer.h - what watches a run, and what it is told of.
 *
 * An observer belongs to whoever attaches it and must outlive the run.
 */
#ifndef TK_INTERP_OBSERVER_H
#define TK_INTERP_OBSERVER_H

#include "interp/access.h"

/* What watches a run.  Every member may be NULL; none changes values, but for
 * a debugger on its user's behalf.  Members may throw.  Observers are called
 * in the order in which they were attached. */
typedef struct tki_observer {
  struct tki_observer *next;
  void *ud;
  void (*program)(void *ud, tki *t, bool begins);
  /* A frame begins or ends: it is t->frame, and its slots hold their values
   * in both cases. */
  void (*frame)(void *ud, tki *t, bool begins);
  /* Before a statement runs: each one while t->wants_stmts holds, else the one
   * that is due and those that are marked. */
  void (*stmt)(void *ud, tki *t, const tk_stmt *st);
  void (*trip)(void *ud, tki *t, const tk_stmt *st); /* a loop's body begins */
  /* Before and after an instruction; args are its operands as they are
   * before it, held so that no result takes their place. */
  void (*before)(void *ud, tki *t, const tk_inst *in, const tki_val *args);
  void (*after)(void *ud, tki *t, const tk_inst *in, const tki_val *args);
  /* After an instruction that is settled (settled.h): whether this observer
   * keeps nothing about it, and need not be told of it again.  NULL: it has to
   * be told of every instruction. */
  bool (*settled)(void *ud, tki *t, const tk_inst *in);
  /* Whether `after` does nothing about an instruction in a frame of which no
   * detector keeps anything in tki_frame.shadow; asked once in a run.  NULL:
   * it may do something about each. */
  bool (*idle)(void *ud, tki *t, const tk_inst *in);
  /* It does without the calls that a scan by one binary operation makes, whose
   * function is told neither what it is given nor where that came from. */
  bool skips_scans;
  /* Around an instruction that runs as if nobody watched: nothing is held or
   * written on behalf of these, and what they ask of blocks must leave them
   * symbolic.  An instruction that a program ends in has no end. */
  void (*begins)(void *ud, tki *t, const tk_inst *in, const tki_val *slots);
  void (*ends)(void *ud, tki *t, const tk_inst *in, const tki_val *slots);
  /* A load that has happened, or a store or atomic operation that is about to
   * happen.  If `rows` is set, it asks for stretches and not for addr and mask,
   * which are then written only if it wants them (tki_access_lanes). */
  void (*access)(void *ud, tki *t, const tki_access *a);
  bool rows;
  void (*breakpoint)(void *ud, tki *t, const tk_inst *in);
  /* A jump went over t->frame->inst, which would have assigned the slot for
   * the first time: its lanes are zeros that were never computed. */
  void (*unassigned)(void *ud, tki *t, int slot);
  /* A finding was reported that ends the program. */
  void (*stop)(void *ud, tki *t);
  /* A detector reported a finding, which does not end the program, unless the
   * user asked that the first one stops the run (`stops`). */
  void (*finding)(void *ud, tki *t, bool stops);
  /* tk_interrupt was called; returns true if that was dealt with, so that the
   * run goes on. */
  bool (*interrupt)(void *ud, tki *t);
} tki_observer;

/* Whether nobody has to see the calls of a scan by one operation. */
bool tki_skips_scans(const tki *t);

enum { TKI_IDLE = 1, TKI_BUSY };
/* Whether nobody has to do after an instruction in a frame of which nobody
 * keeps anything. */
bool tki_inst_is_idle(tki *t, const tk_inst *in);

/* Tells every observer that has the hook. */
#define TKI_TELL(t, hook, ...)                                                 \
  for (tki_observer *o_ = (t)->observers; o_; o_ = o_->next)                   \
    if (o_->hook) o_->hook(o_->ud, __VA_ARGS__)

/* Attaches an observer, which is borrowed until the run ends. */
void tki_observe(tki *t, tki_observer *o);
/* The observers and what they want to be told, kept while the run does
 * something that they must not see. */
typedef struct tki_watching {
  tki_observer *observers;
  bool wants_insts, wants_before, wants_writes, wants_loads, wants_stmts;
  const struct tki_keeper *keeper;
} tki_watching;
/* Detaches every observer, and whoever hears of bad accesses; nothing is
 * settled in the rest of the run. */
tki_watching tki_unwatch(tki *t);
void tki_rewatch(tki *t, const tki_watching *w);

/* A debugger wants to be told of this statement too, or no longer of any. */
void tki_mark_stmt(tki *t, const tk_stmt *st);
void tki_unmark_stmts(tki *t);

#endif
