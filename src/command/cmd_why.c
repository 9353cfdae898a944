/* cmd_why.c - origin and blame: where a value came from, who wrote memory.
 *
 * The launch runs aside up to where the program stands, watched by a trace of
 * that program or by a blame of the element.
 */
#include <ctype.h>
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/look.h"
#include "command/say.h"
#include "command/show.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/part.h"
#include "debug/programs.h"
#include "interp/check/blame.h"
#include "interp/check/slice.h"
#include "interp/grid.h"

typedef struct why {
  tkt *d;
  tki_observer observer;
  tkd_place place; /* where the program positions; n 0: the launch has ended */
  uint64_t program;
  bool reached;
  tk_status status; /* of what was said there */
  tkc_blame *blame;
  const tki_region *region; /* of the element */
  const char *element;
  /* origin */
  const char *name;
  int slot;
  size_t lane;
  const tk_type *type;
  tkc_trace trace;
} why;

static void say_origin(tk_env *e, void *ud);

static void look_for_place(void *ud, tki *t, const tk_stmt *st) {
  why *y = ud;
  if (!y->place.n || st != y->place.positions[0].stmt) return;
  if (t->frame->func->library || tki_program_index(t) != y->program) return;
  if (!tkd_is_there(&y->place, t->frame)) return;
  y->reached = true;
  if (y->blame && tkd_ahead(y->d->e)) return; /* others have run as well */
  if (y->name) y->status = tk_protect(t->env, say_origin, y);
  tk_throw(t->env, TK_INTERRUPTED);
}

/* Whether what a program writes aside, it has written here as well. */
static bool has_written(const why *y, uint64_t index) {
  if (y->place.n && index == y->program) return !y->reached;
  if (tki_schedule_task(y->d->e->schedule, index)) return false;
  return tki_schedule_has_begun(y->d->e->schedule, index);
}

static void pass_access(void *ud, tki *t, const tki_access *a) {
  why *y = ud;
  tki_observer *o = &y->blame->observer;
  if (!tkd_ahead(y->d->e) || has_written(y, tki_program_index(t)))
    o->access(o->ud, t, a);
}

/* Runs everything up to where the program positions. */
static tkd_aside run_aside(why *y, tki_observer *watches) {
  y->observer =
      (tki_observer){.ud = y, .stmt = look_for_place, .next = watches};
  if (y->blame) y->observer.access = pass_access;
  if (watches) watches->next = NULL;
  tkd_aside w = {.observer = &y->observer, .program = TKD_ALL_PROGRAMS};
  tkd_run_aside(y->d->e, &w);
  return w;
}

static void not_reached(tkt *d, const tkd_aside *w) {
  if (w->full)
    tkt_fail(d, "It is too far for the history: 'set history' with more.");
  if (*w->why)
    tkt_fail(d, "A run aside ends before this statement: %s.", w->why);
  if (w->status == TK_INTERRUPTED) tkt_fail(d, "Interrupted.");
  tkt_fail(d, "A run aside does not come to this statement: what was changed "
              "by hand led here.");
}

static void put_limits(tkt *d, const tkd_aside *w) {
  tkt_say_left_out(d, w);
  if (tkd_ahead(d->e))
    tkt_say(d, "Some programs ran out of turn here: this is as if they ran in "
               "their order,\nwithout those that are paused.\n");
}

static void start_at_stop(why *y, tkt *d) {
  *y = (why){.d = d};
  if (!d->e->frame) return;
  y->place = tkd_place_of(d->e->frame);
  y->program = d->e->task->index;
}

/* ---- origin ------------------------------------------------------------ */

static const char *lane_in(const why *y, const tki_frame *f) {
  tki_val *v = &f->slots[y->slot];
  return tki_lane(v, y->lane, tk_lane_size(y->type));
}

/* The value here, if it is another one than that which is explained. */
static void put_now(const why *y, const tki_frame *f) {
  tkt *d = y->d;
  const char *now = lane_in(y, d->e->frame);
  if (!memcmp(lane_in(y, f), now, tk_lane_size(y->type))) {
    tkt_say(d, "\n");
    return;
  }
  bool by_hand = tkd_changed_by_hand(d->e);
  tkt_say(d, by_hand ? " without what was changed by hand; here it is "
                     : " before this statement; now it is ");
  tkt_put_lane(d, y->type, now);
  tkt_say(d, "\n");
}

static void say_origin(tk_env *e, void *ud) {
  why *y = ud;
  tkt *d = y->d;
  tki_frame *f = d->e->t->frame;
  tkc_ref ref = tkc_trace_slot(f, y->slot);
  (void)e;
  if (!ref) {
    y->reached = false;
    return;
  }
  tkt_say(d, "%s", y->name);
  tkt_lane_index(&d->out, y->type, (int64_t)y->lane);
  tkt_say(d, " = ");
  tkt_put_lane(d, y->type, lane_in(y, f));
  put_now(y, f);
  tkc_slice_text(&y->trace, &d->out, ref, y->lane, 2);
}

static void origin_body(tk_env *e, void *ud) {
  why *y = ud;
  (void)e;
  tkc_trace_init(&y->trace, y->d->e->t, y->program,
                 (size_t)TKC_TRACE_MIB << 20);
  tkd_aside w = run_aside(y, &y->trace.observer);
  if (y->status != TK_OK) tk_throw(e, y->status);
  if (!y->reached) not_reached(y->d, &w);
  put_limits(y->d, &w);
}

/* The slot of a variable; fails. */
static int find_slot(tkt *d, const char *name) {
  int slots[2];
  size_t n = tki_eval_slots(d->e->frame, name, slots, 2);
  if (n == 1) return slots[0];
  if (n) tkt_fail(d, "%s has several parts: origin follows one value.", name);
  if (tkd_region(d->e, name, strlen(name)))
    tkt_fail(d, "%s is memory: 'blame %s[...]' says who wrote it.", name, name);
  tkt_fail(d,
           "%s is no variable here, or is known when the kernel is compiled.",
           name);
}

static void origin(why *y, const char *text) {
  tkt *d = y->d;
  const tki_frame *f = d->e->frame;
  y->slot = find_slot(d, y->name);
  y->type = &f->func->slots[y->slot].type;
  if (!tki_has_value(&f->slots[y->slot], y->type))
    tkt_fail(d, "%s has no value yet here.", y->name);
  if (*text && y->type->ptr && !y->type->rank)
    tkt_fail(d, "%s is memory: 'blame %s%s' says who wrote it.", y->name,
             y->name, text);
  y->lane = tkd_lane(d->e, y->name, y->type, text);
  tk_status st = tk_protect(d->env, origin_body, y);
  tkc_trace_end(&y->trace, false);
  if (st != TK_OK) tk_throw(d->env, st);
}

static size_t name_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
  return n;
}

static void need_name(tkt *d, const char *text, size_t n, const char *usage) {
  const char *rest = text + n;
  size_t len = strlen(rest);
  bool index = len > 1 && *rest == '[' && rest[len - 1] == ']';
  if (!n || (*rest && !index)) tkt_fail(d, "%s", usage);
}

void tkt_cmd_ORIGIN(tkt *d, tkt_args *a) {
  why y;
  size_t n = name_length(a->text);
  need_name(d, a->text, n, "origin VAR, or origin VAR[I,J] for a lane");
  start_at_stop(&y, d);
  y.name = tk_temp(&d->mem, a->text, n);
  origin(&y, a->text + n);
}

/* ---- blame ------------------------------------------------------------- */

/* What the user wrote to the element, newest first: no program did. */
static void put_pokes(const why *y) {
  tkt *d = y->d;
  tk_type type = tk_scalar(y->region->tensor->dtype);
  for (size_t i = d->e->nedits; i-- > 0;) {
    const tkd_edit *x = &d->e->edits[i];
    if (x->kind != TKD_POKE || x->host != y->element) continue;
    tkt_say(d, "  set by hand at event %llu: value ",
            (unsigned long long)x->event);
    tkt_put_lane(d, &type, x->bytes);
    tkt_say(d, "\n");
  }
}

static void blame_body(tk_env *e, void *ud) {
  why *y = ud;
  tkt *d = y->d;
  (void)e;
  tkd_aside w = run_aside(y, NULL);
  bool whole = w.status == TK_OK && (!y->place.n || tkd_ahead(d->e));
  if (!y->reached && !whole && !*w.why) not_reached(d, &w);
  tkc_blame_text(y->blame, &d->out);
  put_pokes(y);
  tkt_say_untouched(d);
  put_limits(d, &w);
}

void tkt_cmd_BLAME(tkt *d, tkt_args *a) {
  why y;
  int left;
  size_t n = name_length(a->text);
  need_name(d, a->text, n, "blame BUFFER[I,J]");
  const tki_region *r = tkd_region(d->e, a->text, n);
  if (!r) tkt_fail(d, "%.*s is no tensor of this launch.", (int)n, a->text);
  char *host = tkd_element(d->e, r, a->text + n, &left);
  if (left)
    tkt_fail(d, "%s has %d ax%s: an element is named by an index for each.",
             r->name, r->tensor->rank, r->tensor->rank == 1 ? "is" : "es");
  start_at_stop(&y, d);
  y.region = r;
  y.element = host;
  y.blame = tkc_blame_one(d->e->t, r, r->lo + (uint64_t)(host - r->host));
  tk_status st = tk_protect(d->env, blame_body, &y);
  tkc_blame_free(d->env, y.blame);
  if (st != TK_OK) tk_throw(d->env, st);
}
