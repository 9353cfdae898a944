/* history.c - going back.
 *
 * A checkpoint is the beginning of a program while no other is half done.  To
 * be at event N, memory is taken back to the last checkpoint before N, every
 * fiber is dropped, and the programs run again from there until N; what the
 * user changed on the way is changed again.  To find the last place of some
 * kind before now, the same run only remembers where it would have stopped.
 */
#include "debug/history.h"

#include <string.h>

#include "debug/frames.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "debug/watch.h"
#include "interp/check/check.h"
#include "interp/check/undefined.h"

enum { MOST_CHECKPOINTS = 1 << 20 };

/* ---- checkpoints ------------------------------------------------------- */

/* Drops the checkpoints whose memory the journal can no longer bring back. */
static void forget_lost_checkpoints(tkd *d) {
  uint64_t first = tkd_journal_first(d->time.journal);
  size_t n = 0;
  if (d->time.ncheckpoints >= MOST_CHECKPOINTS) n = d->time.ncheckpoints / 2;
  while (n < d->time.ncheckpoints && d->time.checkpoints[n].journal < first)
    n++;
  if (!n) return;
  memmove(d->time.checkpoints, d->time.checkpoints + n,
          (d->time.ncheckpoints - n) * sizeof *d->time.checkpoints);
  d->time.ncheckpoints -= n;
}

void tkd_begin_checkpoint(tkd *d, uint64_t index) {
  if (!d->time.limit) return;
  tkd_journal_trim(d->time.journal, d->time.limit);
  tkd_journal_mark(d->time.journal);
  if (d->time.ncheckpoints >= MOST_CHECKPOINTS ||
      (d->time.ncheckpoints &&
       d->time.checkpoints[0].journal < tkd_journal_first(d->time.journal)))
    forget_lost_checkpoints(d);
  if (d->time.ncheckpoints == d->time.cap_checkpoints)
    d->time.checkpoints =
        tk_array_grow(d->env, d->time.checkpoints, sizeof *d->time.checkpoints,
                      &d->time.cap_checkpoints);
  tkd_checkpoint b = {.event = d->at.event,
                      .index = index,
                      .next = d->programs.schedule->at,
                      .journal = tkd_journal_at(d->time.journal),
                      .done = d->t->done,
                      .ahead = tkd_ahead(d),
                      .diags = d->env->ndiags};
  size_t n = d->time.ncheckpoints++;
  const tkd_checkpoint *last = n ? &d->time.checkpoints[n - 1] : NULL;
  TK_ASSERT(!last || (last->event <= b.event && last->journal <= b.journal &&
                      last->ahead <= b.ahead));
  (void)last; /* builds without assertions do not look at it */
  d->time.checkpoints[n] = b;
}

/* Returns the number of the last checkpoint before an event, or -1 if none is
 * left.  With `whole` it is the launch's beginning, if that is still there. */
static int64_t checkpoint_before(tkd *d, uint64_t event, bool whole) {
  forget_lost_checkpoints(d);
  if (whole && d->time.ncheckpoints && !d->time.checkpoints[0].event) return 0;
  size_t lo = 0, hi = d->time.ncheckpoints;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (d->time.checkpoints[mid].event < event)
      lo = mid + 1;
    else
      hi = mid;
  }
  return (int64_t)lo - 1;
}

static void no_history(tkd *d) TK_NORETURN;
static void no_history(tkd *d) {
  if (!d->time.limit) tkd_raise(d, NOT_RECORDED);
  tkd_raise(d, HISTORY_DROPPED, (unsigned long long)(d->time.limit >> 20));
}

/* As checkpoint_before; raises if there is none. */
static size_t need_checkpoint(tkd *d, uint64_t event, bool whole) {
  int64_t i = checkpoint_before(d, event, whole);
  if (i < 0) no_history(d);
  return (size_t)i;
}

void tkd_need_history(tkd *d) {
  forget_lost_checkpoints(d);
  if (!d->time.ncheckpoints) no_history(d);
}

void tkd_need_beginning(tkd *d) {
  need_checkpoint(d, 1, true);
}

static bool is_ahead(const tkd *d, uint64_t event, uint64_t sub) {
  return event > d->at.event ||
         (event == d->at.event && sub > d->at.sub && !d->launch.over);
}

void tkd_need_event(tkd *d, uint64_t event, uint64_t sub) {
  if (!event) event = 1;
  if (is_ahead(d, event, sub)) return;
  need_checkpoint(d, event, d->launch.others.any);
}

/* Returns the event before which everything lies in the past.  In the middle of
 * a statement, and at the launch's end, the statement itself has begun: its
 * start is past as well. */
static uint64_t end_of_past(const tkd *d) {
  return d->launch.over || d->at.sub == TKD_LATE ? d->at.event + 1
                                                 : d->at.event;
}

/* ---- edits ------------------------------------------------------------- */

tkd_edit *tkd_edit_new(tkd *d, tkd_edit_kind k, const char *bytes, size_t n) {
  if (d->time.nedits == d->time.cap_edits)
    d->time.edits = tk_array_grow(d->env, d->time.edits, sizeof *d->time.edits,
                                  &d->time.cap_edits);
  char *copy = n ? tk_realloc(d->env, NULL, 0, n) : NULL;
  if (n) memcpy(copy, bytes, n);
  TK_ASSERT(!d->time.nedits ||
            d->time.edits[d->time.nedits - 1].event <= d->at.event);
  tkd_edit *x = &d->time.edits[d->time.nedits++];
  *x = (tkd_edit){.kind = k, .event = d->at.event, .sub = d->at.sub};
  x->bytes = copy;
  x->n = n;
  d->time.edit = d->time.nedits;
  return x;
}

static void drop_edits(tkd *d, uint64_t event, uint64_t sub) {
  while (d->time.nedits) {
    tkd_edit *x = &d->time.edits[d->time.nedits - 1];
    if (x->event < event || (x->event == event && x->sub < sub)) break;
    tk_free(d->env, x->bytes, x->n);
    d->time.nedits--;
  }
}

/* Drops the edits that were still to be done again when the user, or an error,
 * ended the way to a later event: this history does not reach them any more. */
static void drop_edits_ahead(tkd *d) {
  while (d->time.nedits > d->time.edit) {
    tkd_edit *x = &d->time.edits[--d->time.nedits];
    tk_free(d->env, x->bytes, x->n);
  }
}

/* Edits that follow a switch at the same point in time were made to the program
 * that it took up. */
static void redo_switch(tkd *d) {
  tkd_switch(d, d->time.edits[d->time.edit - 1].index);
  tkd_redo(d);
  tkd_arm(d);
}

static void redo_set(tkd *d, const tkd_edit *x) {
  tki_frame *f = d->t->task ? d->t->frame : tkd_top(d);
  f = (tki_frame *)tkd_user_frame(f);
  for (int i = 0; f && i < x->level; i++)
    f = (tki_frame *)tkd_user_frame(f->caller);
  if (f) tkd_put_slot(d, f, x->slot, x->bytes, x->n);
}

static void redo(tkd *d, const tkd_edit *x) {
  TK_ASSERT(x->event == d->at.event);
  switch (x->kind) {
  case TKD_SWITCH:
    if (d->t->task)
      tkd_on_main(d, redo_switch);
    else
      redo_switch(d);
    break;
  case TKD_SET: redo_set(d, x); break;
  case TKD_POKE: tkd_poke(d, x->host, x->bytes, x->n); break;
  case TKD_JUMP: d->t->jump = x->stmt; break;
  default: d->t->leave = true; break;
  }
}

void tkd_redo(tkd *d) {
  bool any = false;
  while (d->time.edit < d->time.nedits &&
         d->time.edits[d->time.edit].event == d->at.event &&
         d->time.edits[d->time.edit].sub == d->at.sub) {
    any = true;
    redo(d, &d->time.edits[d->time.edit++]);
  }
  if (any) tkd_arm(d);
}

/* Does those edits again that the user made at this stop before a program
 * ran. */
static void redo_here(tkd *d) {
  for (; d->time.edit < d->time.nedits; d->time.edit++) {
    const tkd_edit *x = &d->time.edits[d->time.edit];
    if (x->event != d->at.event || x->sub != d->at.sub) break;
    if (x->kind == TKD_SET || x->kind == TKD_POKE)
      redo(d, x);
    else if (x->kind == TKD_SWITCH &&
             tki_schedule_task(d->programs.schedule, x->index))
      tkd_take_up(d, x->index);
    else
      break;
  }
  tkd_watches_refresh(d);
}

void tkd_redo_late(tkd *d) {
  redo(d, &d->time.edits[d->time.edit++]);
  tkd_arm(d);
}

/* ---- going to an event ------------------------------------------------- */

/* Only this debugger sees what follows. */
static void watch_alone(tkd *d) {
  d->t->observers = &d->launch.observer;
  d->launch.observer.next = NULL;
  d->launch.others.watch = d->launch.others.read = d->launch.others.each =
      false;
}

/* Detectors are right only about a launch that they saw from its beginning; a
 * search of the past need not tell them of it. */
static void tell_others(tkd *d, const tkd_checkpoint *b, bool searches) {
  bool first = b->event == 0;
  if (!d->launch.others.any || searches) {
    watch_alone(d);
  } else if (first) {
    tki_attach(d->t);
  } else {
    watch_alone(d);
    tkc_abandon(d->session);
    d->launch.others.any = false;
    tkd_notice(d, &(tk_notice){.kind = TK_NOTICE_DETECTORS});
  }
}

/* Detectors find what 'catch finding' waits for, and which lanes of what is
 * watched are undefined. */
static bool wants_detectors(const tkd *d) {
  for (const tkd_point *p = d->points.first; p; p = p->next) {
    if (!p->enabled || !d->launch.others.any) continue;
    if (p->kind == TK_POINT_CATCH && p->caught == TKD_CATCH_FINDING)
      return true;
    if (p->kind == TK_POINT_WATCH && tkc_knows_undefined(d->t)) return true;
  }
  return false;
}

static void return_to_checkpoint(tkd *d, size_t i, bool searches) {
  TK_ASSERT(i < d->time.ncheckpoints && !d->t->task);
  tkd_checkpoint b = d->time.checkpoints[i];
  TK_ASSERT(b.event <= d->at.event && b.done <= d->t->done);
  TK_ASSERT(b.journal >= tkd_journal_first(d->time.journal));
  tkd_drop_programs(d);
  tki_schedule_restart(d->programs.schedule, b.next - 1, b.ahead);
  tkd_journal_undo(d->time.journal, b.journal);
  tki_pool_reset(d->t);
  tk_diag_truncate(d->env, b.diags);
  if (d->at.reported > b.diags) d->at.reported = b.diags;
  tell_others(d, &b, searches && !wants_detectors(d));
  d->t->done = b.done;
  d->at.event = b.event;
  d->at.sub = 0;
  if (d->clock.due) d->clock.due = b.event + d->clock.stride;
  d->time.ncheckpoints = i;
  for (d->time.edit = 0; d->time.edit < d->time.nedits; d->time.edit++)
    if (d->time.edits[d->time.edit].event > b.event) break;
  d->launch.status = TK_OK;
  d->course.muted = true;
  d->launch.over = false;
  tkd_choose(d);
  TK_ASSERT(d->programs.task && d->programs.task->index == b.index);
}

/* Runs until an event, or to the end if it is 0.  With the kind CONTINUE
 * nothing stops on the way; any other looks for the last place of that kind. */
static void replay_to(tkd *d, uint64_t event, uint64_t sub,
                      tk_resume_kind kind) {
  TK_ASSERT(d->course.phase == TKD_RUNNING && !d->t->task);
  d->course.steps.kind = kind;
  d->course.phase = kind == TK_RESUME_CONTINUE ? TKD_REPLAYING : TKD_SEARCHING;
  d->course.replay.cut = false;
  d->course.replay.target = event;
  d->course.replay.target_sub = sub;
  d->course.replay.hit = 0;
  if (d->course.phase == TKD_SEARCHING) tkd_watches_forget(d);
  tkd_arm(d);
  tkd_run_on(d);
  d->course.phase = TKD_RUNNING;
  d->armed.interrupted = false;
  d->course.steps.kind = TK_RESUME_CONTINUE;
  d->course.replay.target = 0;
  tkd_arm(d);
}

static void note_furthest(tkd *d) {
  uint64_t now = d->launch.over ? d->at.event + 1 : d->at.event;
  if (now > d->at.furthest) d->at.furthest = now;
}

static void note_arrival(tkd *d) {
  TK_ASSERT(d->course.phase == TKD_RUNNING);
  if (d->course.replay.cut || d->launch.over) drop_edits_ahead(d);
  if (d->at.event >= d->at.furthest) d->course.muted = false;
  d->at.gone = true;
  d->at.stop.reason = d->launch.over         ? TK_STOP_END
                      : d->course.replay.cut ? TK_STOP_INTERRUPT
                                             : TK_STOP_EVENT;
  tkd_watches_refresh(d);
}

void tkd_goto(tkd *d, uint64_t event, uint64_t sub) {
  note_furthest(d);
  if (!event) event = 1;
  if (sub) d->armed.instructions = true;
  if (is_ahead(d, event, sub)) {
    replay_to(d, event, sub, TK_RESUME_CONTINUE);
    d->at.stop.text = NULL;
    note_arrival(d);
    return;
  }
  size_t i = need_checkpoint(d, event, d->launch.others.any);
  drop_edits(d, event, sub);
  return_to_checkpoint(d, i, false);
  replay_to(d, event, sub, TK_RESUME_CONTINUE);
  note_arrival(d);
}

void tkd_take_order(tkd *d) {
  tk_order *order = &d->t->order;
  uint64_t first = order->first;
  if (!d->time.order) return;
  tk_order_parse(d->env, d->time.order, order->n, order);
  order->first = first; /* of a part of the launch, unknown to parsing */
}

void tkd_rewind(tkd *d) {
  note_furthest(d);
  tkd_need_beginning(d);
  drop_edits(d, 1, 0);
  return_to_checkpoint(d, 0, false);
  tkd_watches_forget(d);
  if (!d->time.order) return;
  /* What happens in another order is another history. */
  tkd_take_order(d);
  tkd_drop_programs(d);
  tki_schedule_restart(d->programs.schedule, 0, 0);
  drop_edits(d, 0, 0);
  d->course.muted = false;
  d->at.furthest = 0;
  tkd_choose(d);
}

/* Where the program stands, so that going elsewhere in time can end there. */
typedef struct stand {
  uint64_t event, sub; /* event 0: the end of the launch */
  tkd_stop stop;
} stand;

static stand stand_here(const tkd *d) {
  return (stand){.event = d->launch.over ? 0 : d->at.event,
                 .sub = tkd_operation(d),
                 .stop = d->at.stop};
}

/* Runs from a checkpoint to where the program stood; returns false if Ctrl-C
 * ended that before. */
static bool return_to_stand(tkd *d, size_t checkpoint, const stand *s) {
  return_to_checkpoint(d, checkpoint, false);
  replay_to(d, s->event, s->sub, TK_RESUME_CONTINUE);
  note_arrival(d);
  return !d->course.replay.cut;
}

/* Makes this the stop that the user came from, with what was changed there. */
static void restore_stop(tkd *d, const tkd_stop *stop) {
  redo_here(d);
  d->at.stop = *stop;
  d->at.gone = false;
}

void tkd_watch_again(tkd *d) {
  stand here = stand_here(d);
  bool late = d->at.sub == TKD_LATE && here.event;
  note_furthest(d);
  tkd_need_beginning(d);
  if (late) drop_edits(d, here.event, 1);
  d->launch.others.any = true;
  if (return_to_stand(d, 0, &here) && !late) restore_stop(d, &here.stop);
}

/* ---- a look at another time --------------------------------------------- */

static const tkd_edit *copy_edits(tkd *d) {
  size_t n = d->time.nedits;
  tkd_edit *list = tk_temp_bytes(&d->mem, (n + 1) * sizeof *list);
  for (size_t i = 0; i < n; i++) {
    list[i] = d->time.edits[i];
    list[i].bytes = tk_temp_bytes(&d->mem, list[i].n);
    if (list[i].n) memcpy(list[i].bytes, d->time.edits[i].bytes, list[i].n);
  }
  return list;
}

static void put_edits_back(tkd *d, const tkd_edit *list, size_t n) {
  drop_edits(d, 0, 0);
  for (size_t i = 0; i < n; i++) {
    size_t size = list[i].n;
    char *copy = size ? tk_realloc(d->env, NULL, 0, size) : NULL;
    if (size) memcpy(copy, list[i].bytes, size);
    d->time.edits[d->time.nedits] = list[i];
    d->time.edits[d->time.nedits++].bytes = copy;
  }
  d->time.edit = n;
}

/* Going back to an earlier time drops what the user did after it; here that
 * is only for a look. */
void tkd_and_back(tkd *d, void (*look)(void *ud), void *ud) {
  stand here = stand_here(d);
  TK_ASSERT(here.event);
  if (d->at.sub == TKD_LATE) drop_edits(d, here.event, 1);
  size_t n = d->time.nedits;
  const tkd_edit *edits = copy_edits(d);
  look(ud);
  put_edits_back(d, edits, n);
  size_t i = need_checkpoint(d, here.event, d->launch.others.any);
  if (return_to_stand(d, i, &here)) restore_stop(d, &here.stop);
}

/* ---- the last place of some kind --------------------------------------- */

/* Looks for the last place of a kind in the stretch from a checkpoint to an
 * event (0: the end of the launch), then in the stretches before it. */
static bool search_back(tkd *d, tk_resume_kind kind, int64_t i, uint64_t now,
                        uint64_t sub) {
  int depth =
      d->at.frame ? tkd_depth(d->at.frame) : 1; /* the end: the kernel */
  while (i >= 0) {
    uint64_t begins = d->time.checkpoints[i].event;
    return_to_checkpoint(d, (size_t)i, true);
    d->course.steps.depth = depth;
    replay_to(d, now, sub, kind);
    if (d->course.replay.cut || d->course.replay.hit) return true;
    if (!begins) break;
    now = begins + 1; /* where the next older one ends */
    sub = 0;
    i = checkpoint_before(d, begins, false);
  }
  return false;
}

void tkd_need_past(tkd *d) {
  need_checkpoint(d, end_of_past(d), wants_detectors(d));
}

void tkd_go_back(tkd *d, tk_resume_kind kind) {
  note_furthest(d);
  uint64_t before = end_of_past(d);
  uint64_t now = d->launch.over ? 0 : before, sub = tkd_operation(d);
  d->course.replay.now = d->launch.over ? before : d->at.event;
  tkd_watches_back(d, !d->launch.over && !d->at.sub &&
                          d->at.stop.reason == TK_STOP_WATCH);
  size_t i = need_checkpoint(d, before, wants_detectors(d));
  drop_edits(d, d->launch.over ? before : d->at.event, d->at.sub);
  bool found = search_back(d, kind, (int64_t)i, now, sub);
  if (d->course.replay.cut) {
    note_arrival(d);
    return;
  }
  tkd_stop stop =
      found ? d->course.replay.stop : (tkd_stop){.reason = TK_STOP_HISTORY};
  if (found)
    tkd_goto(d, d->course.replay.hit, d->course.replay.hit_sub);
  else
    tkd_goto(d, d->time.checkpoints[0].event + 1, 0);
  if (!d->course.replay.cut) d->at.stop = stop;
}

/* ---- what the user wants of it ----------------------------------------- */

bool tkd_changed_by_hand(const tkd *d) {
  for (size_t i = 0; i < d->time.nedits; i++)
    if (d->time.edits[i].kind != TKD_SWITCH) return true;
  return false;
}

void tkd_poke(tkd *d, char *host, const char *bytes, size_t n) {
  tkd_journal_add(d->time.journal, host, n);
  memcpy(host, bytes, n);
  tkc_defined_memory(d->t, host, n);
}

void tkd_mark_new(tkd *d) {
  if (d->time.nmarks == d->time.cap_marks)
    d->time.marks = tk_array_grow(d->env, d->time.marks, sizeof *d->time.marks,
                                  &d->time.cap_marks);
  tkd_mark *m = &d->time.marks[d->time.nmarks++];
  *m = (tkd_mark){.number = (int)d->time.nmarks,
                  .event = d->at.event,
                  .sub = tkd_operation(d),
                  .index = TK_DEBUG_NO_PROGRAM};
  if (d->programs.task) m->index = d->programs.task->index;
}

/* What happens unrecorded cannot be undone, nor what was before it. */
void tkd_set_history(tkd *d, uint64_t bytes) {
  d->time.limit = bytes;
  if (bytes) return;
  d->time.ncheckpoints = 0;
  tkd_journal_clear(d->time.journal);
}

void tkd_history_clear(tkd *d) {
  for (size_t i = 0; i < d->time.nedits; i++)
    tk_free(d->env, d->time.edits[i].bytes, d->time.edits[i].n);
  d->time.ncheckpoints = d->time.nedits = d->time.edit = d->time.nmarks = 0;
  tkd_journal_clear(d->time.journal);
}
