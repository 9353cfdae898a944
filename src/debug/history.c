/* history.c - going back.
 *
 * A base is the beginning of a program while no other is half done.  To be
 * at event N, memory is taken back to the last base before N, every fiber is
 * dropped, and the programs run again from there until N; what the user
 * changed on the way is changed again.  To find the last place of some kind
 * before now, the same run only remembers where it would have stopped.
 */
#include <string.h>

#include "debug/debug.h"
#include "interp/check/check.h"
#include "interp/check/undefined.h"

enum { MOST_BASES = 1 << 20 };

static void *grow(tkd *d, void *items, size_t size, size_t *cap) {
  size_t more = *cap ? *cap * 2 : 16;
  items = tk_realloc(d->env, items, *cap * size, more * size);
  *cap = more;
  return items;
}

/* ---- bases ------------------------------------------------------------- */

static void drop_bases(tkd *d, size_t n) {
  memmove(d->bases, d->bases + n, (d->nbases - n) * sizeof *d->bases);
  d->nbases -= n;
}

/* Bases whose memory cannot be had back any more. */
static void forget_old(tkd *d) {
  uint64_t first = tkd_journal_first(d->journal);
  size_t n = 0;
  if (d->nbases >= MOST_BASES) n = d->nbases / 2;
  while (n < d->nbases && d->bases[n].journal < first) n++;
  if (n) drop_bases(d, n);
}

void tkd_begin_base(tkd *d, uint64_t index) {
  if (!d->set.history) return;
  tkd_journal_trim(d->journal, d->set.history);
  tkd_journal_mark(d->journal);
  if (d->nbases >= MOST_BASES ||
      (d->nbases && d->bases[0].journal < tkd_journal_first(d->journal)))
    forget_old(d);
  if (d->nbases == d->cap_bases)
    d->bases = grow(d, d->bases, sizeof *d->bases, &d->cap_bases);
  d->bases[d->nbases++] = (tkd_base){.event = d->event,
                                     .index = index,
                                     .next = d->next,
                                     .journal = tkd_journal_at(d->journal),
                                     .done = d->t->done,
                                     .ahead = d->nahead,
                                     .diags = d->env->ndiags};
}

/* The last base before an event, -1 if there is none (any more).  With
 * whole, the launch's beginning if there is a history of it. */
static int64_t base_before(tkd *d, uint64_t event, bool whole) {
  forget_old(d);
  if (whole && d->nbases && !d->bases[0].event) return 0;
  size_t lo = 0, hi = d->nbases;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (d->bases[mid].event < event)
      lo = mid + 1;
    else
      hi = mid;
  }
  return (int64_t)lo - 1;
}

static void no_history(tkd *d) TK_NORETURN;
static void no_history(tkd *d) {
  if (!d->set.history)
    tkd_fail(d, "Nothing is recorded: 'set history 256' records, from the "
                "next launch on.");
  tkd_fail(d,
           "The history of what came before was dropped: it is longer "
           "than %llu MiB ('set history').",
           (unsigned long long)(d->set.history >> 20));
}

void tkd_need_history(tkd *d) {
  forget_old(d);
  if (!d->nbases) no_history(d);
}

/* ---- deeds ------------------------------------------------------------- */

tkd_deed *tkd_deed_new(tkd *d, tkd_deed_kind k, const char *bytes, size_t n) {
  if (d->ndeeds == d->cap_deeds)
    d->deeds = grow(d, d->deeds, sizeof *d->deeds, &d->cap_deeds);
  char *copy = n ? tk_realloc(d->env, NULL, 0, n) : NULL;
  if (n) memcpy(copy, bytes, n);
  tkd_deed *x = &d->deeds[d->ndeeds++];
  *x = (tkd_deed){.kind = k, .event = d->event, .sub = d->sub};
  x->bytes = copy;
  x->n = n;
  d->deed = d->ndeeds;
  return x;
}

static void drop_deeds(tkd *d, uint64_t event, uint64_t sub) {
  while (d->ndeeds) {
    tkd_deed *x = &d->deeds[d->ndeeds - 1];
    if (x->event < event || (x->event == event && x->sub < sub)) break;
    tk_free(d->env, x->bytes, x->n);
    d->ndeeds--;
  }
}

static void redo_switch(tkd *d) {
  tkd_switch(d, d->deeds[d->deed - 1].index);
  tkd_arm(d);
}

static void redo_set(tkd *d, const tkd_deed *x) {
  tki_frame *f = d->t->task ? d->t->frame : tkd_top(d);
  f = (tki_frame *)tkd_user_frame(f);
  for (int i = 0; f && i < x->level; i++)
    f = (tki_frame *)tkd_user_frame(f->caller);
  if (f) tkd_put_slot(d, f, x->slot, x->bytes, x->n);
}

static void redo(tkd *d, const tkd_deed *x) {
  switch (x->kind) {
  case TKD_SWITCH:
    d->work = redo_switch;
    tki_task_pause(d->t);
    break;
  case TKD_SET: redo_set(d, x); break;
  case TKD_POKE: tkd_poke(d, x->host, x->bytes, x->n); break;
  case TKD_JUMP: d->t->jump = x->stmt; break;
  default: d->t->leave = true; break;
  }
}

/* After a switch it is later when the program goes on: no more is due. */
void tkd_redo(tkd *d) {
  bool any = false, later = false;
  while (!later && d->deed < d->ndeeds && d->deeds[d->deed].event == d->event &&
         d->deeds[d->deed].sub == d->sub) {
    later = d->deeds[d->deed].kind == TKD_SWITCH;
    any = true;
    redo(d, &d->deeds[d->deed++]);
  }
  if (any && !later) tkd_arm(d);
}

/* At a stop: what was changed there, as long as nothing moved since. */
static void redo_changes(tkd *d) {
  for (; d->deed < d->ndeeds; d->deed++) {
    const tkd_deed *x = &d->deeds[d->deed];
    bool changes = x->kind == TKD_SET || x->kind == TKD_POKE;
    if (x->event != d->event || x->sub != d->sub || !changes) break;
    redo(d, x);
  }
  tkd_watches_refresh(d);
}

void tkd_redo_late(tkd *d) {
  redo(d, &d->deeds[d->deed++]);
  tkd_arm(d);
}

/* ---- going to an event ------------------------------------------------- */

/* Only this debugger sees what follows. */
static void watch_alone(tkd *d) {
  d->t->observers = &d->observer;
  d->observer.next = NULL;
  d->others_watch = d->others_read = d->others_each = false;
}

/* Others are right only about a launch that they saw from its beginning; a
 * search of the past need not tell them. */
static void tell_others(tkd *d, const tkd_base *b, bool searches) {
  bool first = b->event == 0;
  if (!d->others || searches) {
    watch_alone(d);
  } else if (first) {
    tki_attach(d->t);
  } else {
    watch_alone(d);
    tkc_abandon(d->session);
    d->others = false;
    tkd_say(d, "Detectors do not watch the rest of this launch: the history of "
               "its beginning was\ndropped ('set history').\n");
  }
}

/* Detectors find what 'catch finding' waits for, and which lanes of what is
 * watched are undefined. */
static bool wants_detectors(const tkd *d) {
  for (const tkd_point *p = d->points; p; p = p->next) {
    if (!p->enabled || !d->others) continue;
    if (p->kind == TKD_CATCH && p->caught == TKD_CATCH_FINDING) return true;
    if (p->kind == TKD_WATCH && tkc_knows_undefined(d->t)) return true;
  }
  return false;
}

static void back_to_base(tkd *d, size_t i, bool searches) {
  tkd_base b = d->bases[i];
  tkd_drop_strands(d);
  tkd_journal_undo(d->journal, b.journal);
  tki_pool_reset(d->t);
  tk_diag_truncate(d->env, b.diags);
  if (d->shown_diags > b.diags) d->shown_diags = b.diags;
  tell_others(d, &b, searches && !wants_detectors(d));
  d->t->done = b.done;
  d->event = b.event;
  d->sub = 0;
  d->next = b.next;
  d->nahead = b.ahead;
  d->nbases = i;
  for (d->deed = 0; d->deed < d->ndeeds; d->deed++)
    if (d->deeds[d->deed].event > b.event) break;
  d->status = TK_OK;
  d->muted = true;
  d->over = false;
  tkd_strand_new(d, b.index, true);
}

/* Runs without being seen until an event, or the end when it is 0. */
static void replay_to(tkd *d, uint64_t event, uint64_t sub, tkd_back back) {
  d->go = TKD_GO;
  d->back = back;
  d->scanning = back != TKD_BACK_NONE;
  d->replaying = true;
  d->cut = false;
  d->target = event;
  d->target_sub = sub;
  d->hit = 0;
  if (d->scanning) tkd_watches_forget(d);
  tkd_arm(d);
  tkd_run_on(d);
  d->replaying = d->scanning = d->interrupted = false;
  d->back = TKD_BACK_NONE;
  d->target = 0;
  tkd_arm(d);
}

static void note_furthest(tkd *d) {
  uint64_t now = d->over ? d->event + 1 : d->event;
  if (now > d->furthest) d->furthest = now;
}

static void arrived(tkd *d) {
  if (d->event >= d->furthest) d->muted = false;
  d->moves = d->gone = true;
  d->stop.reason = d->over ? TKD_R_END : d->cut ? TKD_R_INTERRUPT : TKD_R_EVENT;
  tkd_watches_refresh(d);
}

void tkd_goto(tkd *d, uint64_t event, uint64_t sub) {
  note_furthest(d);
  if (!event) event = 1;
  if (sub) d->fine = true;
  if (event > d->event || (event == d->event && sub > d->sub && !d->over)) {
    replay_to(d, event, sub, TKD_BACK_NONE);
    d->stop.text[0] = '\0';
    arrived(d);
    return;
  }
  int64_t i = base_before(d, event, d->others);
  if (i < 0) no_history(d);
  drop_deeds(d, event, sub);
  back_to_base(d, (size_t)i, false);
  replay_to(d, event, sub, TKD_BACK_NONE);
  arrived(d);
}

/* What happens in another order is another history. */
static void run_in_order(tkd *d) {
  tki *t = d->t;
  tk_order_parse(d->env, d->set.order, t->order.n, &t->order);
  tkd_drop_strands(d);
  drop_deeds(d, 0, 0);
  d->muted = false;
  d->next = d->furthest = d->nahead = 0;
  tkd_begin_programs(d);
}

void tkd_rewind(tkd *d) {
  note_furthest(d);
  int64_t i = base_before(d, 1, true);
  if (i < 0) no_history(d);
  drop_deeds(d, 1, 0);
  back_to_base(d, 0, false);
  tkd_watches_forget(d);
  if (d->set.order) run_in_order(d);
}

void tkd_watch_again(tkd *d) {
  uint64_t event = d->over ? 0 : d->event;
  bool late = d->sub == TKD_LATE && event;
  uint64_t sub = d->sub == TKD_LATE ? 0 : d->sub;
  tkd_stop stop = d->stop;
  note_furthest(d);
  if (base_before(d, 1, true) < 0) no_history(d);
  if (late) drop_deeds(d, event, 1);
  d->others = true;
  back_to_base(d, 0, false);
  replay_to(d, event, sub, TKD_BACK_NONE);
  arrived(d);
  if (late || d->cut) return;
  redo_changes(d);
  d->stop = stop;
  d->moves = d->gone = false;
}

/* ---- the last place of some kind --------------------------------------- */

static void found(tkd *d) {
  tkd_stop stop = d->hit_stop;
  uint64_t event = d->hit;
  tkd_goto(d, event, d->hit_sub);
  if (d->cut) return;
  d->stop = stop;
  tkd_watches_tell(d, event);
}

static void at_beginning(tkd *d) {
  tkd_goto(d, d->bases[0].event + 1, 0);
  if (!d->cut) d->stop = (tkd_stop){.reason = TKD_R_HISTORY};
}

void tkd_go_back(tkd *d, tkd_back how) {
  note_furthest(d);
  bool late = d->sub == TKD_LATE; /* then the statement's start is before */
  uint64_t before = d->over || late ? d->event + 1 : d->event;
  uint64_t now = d->over ? 0 : before, sub = late ? 0 : d->sub;
  d->scan_now = d->over ? before : d->event;
  tkd_watches_back(d, !d->over && !d->sub && d->stop.reason == TKD_R_WATCH);
  int depth = d->frame ? tkd_depth(d->frame) : 1; /* the end: the kernel */
  bool whole = wants_detectors(d);
  int64_t i = base_before(d, before, whole);
  if (i < 0) no_history(d);
  drop_deeds(d, d->over ? before : d->event, d->sub);
  for (; i >= 0; i = base_before(d, before, false)) {
    before = d->bases[i].event;
    back_to_base(d, (size_t)i, true);
    d->depth = depth;
    replay_to(d, now, sub, how);
    if (d->cut) {
      arrived(d);
      return;
    }
    if (d->hit) {
      found(d);
      return;
    }
    now = before + 1; /* where the next older one ends */
    sub = 0;
    if (!before) break;
  }
  at_beginning(d);
}

void tkd_history_clear(tkd *d) {
  for (size_t i = 0; i < d->ndeeds; i++)
    tk_free(d->env, d->deeds[i].bytes, d->deeds[i].n);
  d->nbases = d->ndeeds = d->deed = d->nmarks = 0;
  tkd_journal_clear(d->journal);
}
