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

enum { MOST_BASES = 1 << 20 };

/* ---- checkpoints
 * ------------------------------------------------------------- */

/* Drops the checkpoints whose memory cannot be had back any more. */
static void forget_old_bases(tkd *d) {
  uint64_t first = tkd_journal_first(d->journal);
  size_t n = 0;
  if (d->ncheckpoints >= MOST_BASES) n = d->ncheckpoints / 2;
  while (n < d->ncheckpoints && d->checkpoints[n].journal < first) n++;
  if (!n) return;
  memmove(d->checkpoints, d->checkpoints + n,
          (d->ncheckpoints - n) * sizeof *d->checkpoints);
  d->ncheckpoints -= n;
}

void tkd_begin_checkpoint(tkd *d, uint64_t index) {
  if (!d->history) return;
  tkd_journal_trim(d->journal, d->history);
  tkd_journal_mark(d->journal);
  if (d->ncheckpoints >= MOST_BASES ||
      (d->ncheckpoints &&
       d->checkpoints[0].journal < tkd_journal_first(d->journal)))
    forget_old_bases(d);
  if (d->ncheckpoints == d->cap_checkpoints)
    d->checkpoints = tk_array_grow(d->env, d->checkpoints,
                                   sizeof *d->checkpoints, &d->cap_checkpoints);
  tkd_checkpoint b = {.event = d->event,
                      .index = index,
                      .next = d->schedule->at,
                      .journal = tkd_journal_at(d->journal),
                      .done = d->t->done,
                      .ahead = tkd_ahead(d),
                      .diags = d->env->ndiags};
  TK_ASSERT(!d->ncheckpoints ||
            d->checkpoints[d->ncheckpoints - 1].event <= b.event);
  TK_ASSERT(!d->ncheckpoints ||
            d->checkpoints[d->ncheckpoints - 1].journal <= b.journal);
  TK_ASSERT(!d->ncheckpoints ||
            d->checkpoints[d->ncheckpoints - 1].ahead <= b.ahead);
  d->checkpoints[d->ncheckpoints++] = b;
}

/* The last base before an event, -1 if there is none (any more).  With
 * whole, the launch's beginning if there is a history of it. */
static int64_t base_before(tkd *d, uint64_t event, bool whole) {
  forget_old_bases(d);
  if (whole && d->ncheckpoints && !d->checkpoints[0].event) return 0;
  size_t lo = 0, hi = d->ncheckpoints;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (d->checkpoints[mid].event < event)
      lo = mid + 1;
    else
      hi = mid;
  }
  return (int64_t)lo - 1;
}

static void no_history(tkd *d) TK_NORETURN;
static void no_history(tkd *d) {
  if (!d->history)
    tkd_raise(d, "Nothing is recorded: 'set history 256' records, from the "
                 "next launch on.");
  tkd_raise(d,
            "The history of what came before was dropped: it is longer "
            "than %llu MiB ('set history').",
            (unsigned long long)(d->history >> 20));
}

void tkd_need_history(tkd *d) {
  forget_old_bases(d);
  if (!d->ncheckpoints) no_history(d);
}

void tkd_need_beginning(tkd *d) {
  if (base_before(d, 1, true) < 0) no_history(d);
}

static bool is_ahead(const tkd *d, uint64_t event, uint64_t sub) {
  return event > d->event || (event == d->event && sub > d->sub && !d->over);
}

void tkd_need_event(tkd *d, uint64_t event, uint64_t sub) {
  if (!event) event = 1;
  if (is_ahead(d, event, sub)) return;
  if (base_before(d, event, d->others.any) < 0) no_history(d);
}

/* The statement's start is before the middle of it. */
static uint64_t end_of_past(const tkd *d) {
  return d->over || d->sub == TKD_LATE ? d->event + 1 : d->event;
}

/* ---- edits ------------------------------------------------------------- */

tkd_edit *tkd_edit_new(tkd *d, tkd_edit_kind k, const char *bytes, size_t n) {
  if (d->nedits == d->cap_edits)
    d->edits = tk_array_grow(d->env, d->edits, sizeof *d->edits, &d->cap_edits);
  char *copy = n ? tk_realloc(d->env, NULL, 0, n) : NULL;
  if (n) memcpy(copy, bytes, n);
  TK_ASSERT(!d->nedits || d->edits[d->nedits - 1].event <= d->event);
  tkd_edit *x = &d->edits[d->nedits++];
  *x = (tkd_edit){.kind = k, .event = d->event, .sub = d->sub};
  x->bytes = copy;
  x->n = n;
  d->edit = d->nedits;
  return x;
}

static void drop_edits(tkd *d, uint64_t event, uint64_t sub) {
  while (d->nedits) {
    tkd_edit *x = &d->edits[d->nedits - 1];
    if (x->event < event || (x->event == event && x->sub < sub)) break;
    tk_free(d->env, x->bytes, x->n);
    d->nedits--;
  }
}

/* Those that were to be done again behind the place where the user, or an
 * error, ended the way: they are no longer of this history. */
static void drop_edits_ahead(tkd *d) {
  while (d->nedits > d->edit) {
    tkd_edit *x = &d->edits[--d->nedits];
    tk_free(d->env, x->bytes, x->n);
  }
}

static void redo_switch(tkd *d) {
  tkd_switch(d, d->edits[d->edit - 1].index);
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
  TK_ASSERT(x->event == d->event);
  switch (x->kind) {
  case TKD_SWITCH: tkd_on_main(d, redo_switch); break;
  case TKD_SET: redo_set(d, x); break;
  case TKD_POKE: tkd_poke(d, x->host, x->bytes, x->n); break;
  case TKD_JUMP: d->t->jump = x->stmt; break;
  default: d->t->leave = true; break;
  }
}

/* After a switch it is later when the program goes on: no more is due. */
void tkd_redo(tkd *d) {
  bool any = false, later = false;
  while (!later && d->edit < d->nedits && d->edits[d->edit].event == d->event &&
         d->edits[d->edit].sub == d->sub) {
    later = d->edits[d->edit].kind == TKD_SWITCH;
    any = true;
    redo(d, &d->edits[d->edit++]);
  }
  if (any && !later) tkd_arm(d);
}

/* At a stop: what was changed there, as long as nothing moved since. */
static void redo_changes(tkd *d) {
  for (; d->edit < d->nedits; d->edit++) {
    const tkd_edit *x = &d->edits[d->edit];
    bool changes = x->kind == TKD_SET || x->kind == TKD_POKE;
    if (x->event != d->event || x->sub != d->sub || !changes) break;
    redo(d, x);
  }
  tkd_watches_refresh(d);
}

void tkd_redo_late(tkd *d) {
  redo(d, &d->edits[d->edit++]);
  tkd_arm(d);
}

/* ---- going to an event ------------------------------------------------- */

/* Only this debugger sees what follows. */
static void watch_alone(tkd *d) {
  d->t->observers = &d->observer;
  d->observer.next = NULL;
  d->others.watch = d->others.read = d->others.each = false;
}

/* Others are right only about a launch that they saw from its beginning; a
 * search of the past need not tell them. */
static void tell_others(tkd *d, const tkd_checkpoint *b, bool searches) {
  bool first = b->event == 0;
  if (!d->others.any || searches) {
    watch_alone(d);
  } else if (first) {
    tki_attach(d->t);
  } else {
    watch_alone(d);
    tkc_abandon(d->session);
    d->others.any = false;
    tkd_notice(d, &(tk_notice){.kind = TK_NOTICE_DETECTORS});
  }
}

/* Detectors find what 'catch finding' waits for, and which lanes of what is
 * watched are undefined. */
static bool wants_detectors(const tkd *d) {
  for (const tkd_point *p = d->points.first; p; p = p->next) {
    if (!p->enabled || !d->others.any) continue;
    if (p->kind == TK_POINT_CATCH && p->caught == TKD_CATCH_FINDING)
      return true;
    if (p->kind == TK_POINT_WATCH && tkc_knows_undefined(d->t)) return true;
  }
  return false;
}

static void back_to_base(tkd *d, size_t i, bool searches) {
  TK_ASSERT(i < d->ncheckpoints && !d->t->task);
  tkd_checkpoint b = d->checkpoints[i];
  TK_ASSERT(b.event <= d->event && b.done <= d->t->done);
  TK_ASSERT(b.journal >= tkd_journal_first(d->journal));
  tkd_drop_programs(d);
  tki_schedule_restart(d->schedule, b.next - 1, b.ahead);
  tkd_journal_undo(d->journal, b.journal);
  tki_pool_reset(d->t);
  tk_diag_truncate(d->env, b.diags);
  if (d->shown_diags > b.diags) d->shown_diags = b.diags;
  tell_others(d, &b, searches && !wants_detectors(d));
  d->t->done = b.done;
  d->event = b.event;
  d->sub = 0;
  d->ncheckpoints = i;
  for (d->edit = 0; d->edit < d->nedits; d->edit++)
    if (d->edits[d->edit].event > b.event) break;
  d->status = TK_OK;
  d->muted = true;
  d->over = false;
  tkd_choose(d);
  TK_ASSERT(d->task && d->task->index == b.index);
}

/* Runs until an event, or the end when it is 0; either without being seen
 * (kind CONTINUE), or looking for the last place of a kind. */
static void replay_to(tkd *d, uint64_t event, uint64_t sub,
                      tk_resume_kind kind) {
  TK_ASSERT(d->phase == TKD_RUNNING && !d->t->task);
  d->steps.kind = kind;
  d->phase = kind == TK_RESUME_CONTINUE ? TKD_REPLAYING : TKD_SEARCHING;
  d->replay.cut = false;
  d->replay.target = event;
  d->replay.target_sub = sub;
  d->replay.hit = 0;
  if (d->phase == TKD_SEARCHING) tkd_watches_forget(d);
  tkd_arm(d);
  tkd_run_on(d);
  d->phase = TKD_RUNNING;
  d->interrupted = false;
  d->steps.kind = TK_RESUME_CONTINUE;
  d->replay.target = 0;
  tkd_arm(d);
}

static void note_furthest(tkd *d) {
  uint64_t now = d->over ? d->event + 1 : d->event;
  if (now > d->furthest) d->furthest = now;
}

static void note_arrival(tkd *d) {
  TK_ASSERT(d->phase == TKD_RUNNING);
  if (d->replay.cut || d->over) drop_edits_ahead(d);
  if (d->event >= d->furthest) d->muted = false;
  d->gone = true;
  d->stop.reason = d->over         ? TK_STOP_END
                   : d->replay.cut ? TK_STOP_INTERRUPT
                                   : TK_STOP_EVENT;
  tkd_watches_refresh(d);
}

void tkd_goto(tkd *d, uint64_t event, uint64_t sub) {
  note_furthest(d);
  if (!event) event = 1;
  if (sub) d->fine = true;
  if (is_ahead(d, event, sub)) {
    replay_to(d, event, sub, TK_RESUME_CONTINUE);
    d->stop.text[0] = '\0';
    note_arrival(d);
    return;
  }
  int64_t i = base_before(d, event, d->others.any);
  if (i < 0) no_history(d);
  drop_edits(d, event, sub);
  back_to_base(d, (size_t)i, false);
  replay_to(d, event, sub, TK_RESUME_CONTINUE);
  note_arrival(d);
}

void tkd_rewind(tkd *d) {
  note_furthest(d);
  tkd_need_beginning(d);
  drop_edits(d, 1, 0);
  back_to_base(d, 0, false);
  tkd_watches_forget(d);
  if (!d->order) return;
  /* What happens in another order is another history. */
  tki *t = d->t;
  tk_order_parse(d->env, d->order, t->order.n, &t->order);
  tkd_drop_programs(d);
  tki_schedule_restart(d->schedule, 0, 0);
  drop_edits(d, 0, 0);
  d->muted = false;
  d->furthest = 0;
  tkd_choose(d);
}

void tkd_watch_again(tkd *d) {
  uint64_t event = d->over ? 0 : d->event;
  bool late = d->sub == TKD_LATE && event;
  uint64_t sub = d->sub == TKD_LATE ? 0 : d->sub;
  tkd_stop stop = d->stop;
  note_furthest(d);
  tkd_need_beginning(d);
  if (late) drop_edits(d, event, 1);
  d->others.any = true;
  back_to_base(d, 0, false);
  replay_to(d, event, sub, TK_RESUME_CONTINUE);
  note_arrival(d);
  if (late || d->replay.cut) return;
  redo_changes(d);
  d->stop = stop;
  d->gone = false;
}

/* ---- the last place of some kind --------------------------------------- */

/* Looks for the last place of a kind in the stretch from a base on up to an
 * event (0: the end of the launch), then in the stretches before it. */
static bool search_back(tkd *d, tk_resume_kind kind, int64_t i, uint64_t now,
                        uint64_t sub) {
  int depth = d->frame ? tkd_depth(d->frame) : 1; /* the end: the kernel */
  for (; i >= 0;) {
    uint64_t begins = d->checkpoints[i].event;
    back_to_base(d, (size_t)i, true);
    d->steps.depth = depth;
    replay_to(d, now, sub, kind);
    if (d->replay.cut || d->replay.hit) return true;
    if (!begins) break;
    now = begins + 1; /* where the next older one ends */
    sub = 0;
    i = base_before(d, begins, false);
  }
  return false;
}

void tkd_need_past(tkd *d) {
  if (base_before(d, end_of_past(d), wants_detectors(d)) < 0) no_history(d);
}

void tkd_go_back(tkd *d, tk_resume_kind kind) {
  note_furthest(d);
  uint64_t before = end_of_past(d);
  uint64_t now = d->over ? 0 : before, sub = d->sub == TKD_LATE ? 0 : d->sub;
  d->replay.now = d->over ? before : d->event;
  tkd_watches_back(d, !d->over && !d->sub && d->stop.reason == TK_STOP_WATCH);
  int64_t i = base_before(d, before, wants_detectors(d));
  if (i < 0) no_history(d);
  drop_edits(d, d->over ? before : d->event, d->sub);
  bool found = search_back(d, kind, i, now, sub);
  if (d->replay.cut) {
    note_arrival(d);
    return;
  }
  tkd_stop stop =
      found ? d->replay.stop : (tkd_stop){.reason = TK_STOP_HISTORY};
  if (found)
    tkd_goto(d, d->replay.hit, d->replay.hit_sub);
  else
    tkd_goto(d, d->checkpoints[0].event + 1, 0);
  if (!d->replay.cut) d->stop = stop;
}

/* ---- what the user wants of it ----------------------------------------- */

bool tkd_changed_by_hand(const tkd *d) {
  for (size_t i = 0; i < d->nedits; i++)
    if (d->edits[i].kind != TKD_SWITCH) return true;
  return false;
}

void tkd_poke(tkd *d, char *host, const char *bytes, size_t n) {
  tkd_journal_add(d->journal, host, n);
  memcpy(host, bytes, n);
  tkc_defined_memory(d->t, host, n);
}

void tkd_mark_new(tkd *d) {
  if (d->nmarks == d->cap_marks)
    d->marks = tk_array_grow(d->env, d->marks, sizeof *d->marks, &d->cap_marks);
  tkd_mark *m = &d->marks[d->nmarks++];
  *m = (tkd_mark){.number = (int)d->nmarks,
                  .event = d->event,
                  .sub = d->sub == TKD_LATE ? 0 : d->sub,
                  .index = TK_DEBUG_NO_PROGRAM};
  if (d->task) m->index = d->task->index;
}

/* What happens unrecorded cannot be undone, nor what was before it. */
void tkd_set_history(tkd *d, uint64_t bytes) {
  d->history = bytes;
  if (bytes) return;
  d->ncheckpoints = 0;
  tkd_journal_clear(d->journal);
}

void tkd_history_clear(tkd *d) {
  for (size_t i = 0; i < d->nedits; i++)
    tk_free(d->env, d->edits[i].bytes, d->edits[i].n);
  d->ncheckpoints = d->nedits = d->edit = d->nmarks = 0;
  tkd_journal_clear(d->journal);
}
