/* why.c - where a value came from, who wrote memory, and all that happened, as
 * a page.
 *
 * The launch runs aside up to where the program stands, watched by a trace of
 * that program, by a blame of the element or by a view.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "debug/api.h"
#include "debug/aside.h"
#include "debug/describe.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/part.h"
#include "debug/programs.h"
#include "debug/raise.h"
#include "debug/stop.h"
#include "interp/explain/blame.h"
#include "interp/explain/slice.h"
#include "ir/view.h"
#include "view/view.h"

typedef struct why {
  tkd *d;
  const char *name, *index;
  tki_observer observer;
  tkd_place place; /* where the program stands; n 0: the launch has ended */
  uint64_t program;
  bool reached;
  tk_status status; /* of what was found there */
  tke_blame *blame;
  const tki_region *region; /* of the element */
  const char *element;
  tk_debug_blame *blamed;
  /* origin */
  int slot;
  size_t lane;
  const tk_type *type;
  tke_trace trace;
  tk_debug_origin *origin;
  /* page */
  tk_view *view;
  tkw_look look;
  const char **address;
} why;

static void explain_here(tk_env *e, void *ud);

static void look_for_stand(void *ud, tki *t, const tk_stmt *st) {
  why *y = ud;
  if (!y->place.n || st != y->place.positions[0].stmt) return;
  if (t->frame->func->library || tki_program_index(t) != y->program) return;
  if (!tkd_is_there(&y->place, t->frame)) return;
  y->reached = true;
  if (y->blame && tkd_ahead(y->d)) return; /* others have run as well */
  if (y->origin) y->status = tk_protect(t->env, explain_here, y);
  tk_throw(t->env, TK_INTERRUPTED);
}

/* Whether everything that a program writes in a side run has also been written
 * here. */
static bool has_written(const why *y, uint64_t index) {
  if (y->place.n && index == y->program) return !y->reached;
  if (tki_schedule_task(y->d->programs.schedule, index)) return false;
  return tki_schedule_has_begun(y->d->programs.schedule, index);
}

static void pass_access(void *ud, tki *t, const tki_access *a) {
  why *y = ud;
  tki_observer *o = &y->blame->observer;
  if (!tkd_ahead(y->d) || has_written(y, tki_program_index(t)))
    o->access(o->ud, t, a);
}

/* Runs everything up to where the program stands. */
static tkd_aside run_up_to_stand(why *y, tki_observer *watches) {
  y->observer =
      (tki_observer){.ud = y, .stmt = look_for_stand, .next = watches};
  if (y->blame) y->observer.access = pass_access;
  tkd_aside w = {.observer = &y->observer, .program = TKD_ALL_PROGRAMS};
  tkd_run_aside(y->d, &w);
  return w;
}

static void not_reached(tkd *d, const tkd_aside *w) TK_NORETURN;
static void not_reached(tkd *d, const tkd_aside *w) {
  if (w->full) tkd_raise(d, TOO_FAR);
  if (w->why) tkd_raise(d, ENDS_BEFORE, w->why);
  if (w->status == TK_INTERRUPTED) tkd_raise(d, INTERRUPTED);
  tkd_raise(d, NOT_REACHED);
}

/* That all programs ran up to here, or to a finding. */
static void need_all(const why *y, const tkd_aside *w) {
  bool whole = w->status == TK_OK && (!y->place.n || tkd_ahead(y->d));
  if (!y->reached && !whole && !w->why) not_reached(y->d, w);
}

static void start_at_stand(why *y, tkd *d) {
  y->d = d;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  if (!d->at.frame) return;
  y->place = tkd_place_of(d->at.frame);
  y->program = d->programs.task->index;
}

/* ---- origin ------------------------------------------------------------ */

static tk_debug_value lane_in(const why *y, const tki_frame *f) {
  size_t size = tk_lane_size(y->type);
  tkd_value v = {.path = "",
                 .type = tk_elem_of(*y->type),
                 .bytes = tki_lane(&f->slots[y->slot], y->lane, size),
                 .n = size,
                 .region = TKI_ANY};
  return tkd_describe_value(y->d, y->name, &v);
}

static void explain_here(tk_env *e, void *ud) {
  why *y = ud;
  tkd *d = y->d;
  const tki_frame *f = d->t->frame;
  tke_ref ref = tke_trace_slot(f, y->slot);
  (void)e;
  y->reached = ref != 0;
  if (!ref) return;
  tk_debug_origin *o = y->origin;
  o->type = tk_type_view(y->type);
  o->lane = (int64_t)y->lane;
  o->then = lane_in(y, f);
  o->now = lane_in(y, d->at.frame);
  o->explanation = (tk_explanation){.scope = -1};
  tke_slice_value(&y->trace, &d->answers.arena, ref, y->lane, TKE_SLICE_STEPS,
                  &o->explanation);
}

static void run_origin(tk_env *e, void *ud) {
  why *y = ud;
  tke_trace_init(&y->trace, y->d->t, y->program, (size_t)TKE_TRACE_MIB << 20);
  y->trace.observer.next = NULL;
  tkd_aside w = run_up_to_stand(y, &y->trace.observer);
  if (y->status != TK_OK) tk_throw(e, y->status);
  if (!y->reached) not_reached(y->d, &w);
  y->origin->aside = tkd_describe_aside(y->d, &w);
}

/* Elements have writers, which is another question. */
static void memory_has_no_origin(tkd *d, const char *name,
                                 const char *index) TK_NORETURN;
static void memory_has_no_origin(tkd *d, const char *name, const char *index) {
  tkd_raise_about(d, tk_arena_printf(&d->mem.arena, "%s%s", name, index),
                  IS_MEMORY, name);
}

/* The slot of a variable; fails. */
static int traced_slot(tkd *d, const char *name) {
  int slots[2];
  size_t n = tki_eval_slots(d->at.frame, name, slots, 2);
  if (n == 1) return slots[0];
  if (n) tkd_raise(d, PARTS, name);
  if (tkd_region(d, name, strlen(name))) memory_has_no_origin(d, name, "[...]");
  tkd_raise(d, NOT_VARIABLE, name);
}

static void find_origin(tkd *d, void *ud) {
  why *y = ud;
  tkd_need_frame(d);
  start_at_stand(y, d);
  const tki_frame *f = d->at.frame;
  y->slot = traced_slot(d, y->name);
  y->type = &f->func->slots[y->slot].type;
  if (!tki_has_value(&f->slots[y->slot], y->type))
    tkd_raise(d, NO_VALUE, y->name);
  if (*y->index && y->type->ptr && !y->type->rank)
    memory_has_no_origin(d, y->name, y->index);
  y->lane = tkd_lane(d, y->name, y->type, y->index);
  tk_status st = tk_protect(d->env, run_origin, y);
  tke_trace_end(&y->trace, false);
  if (st != TK_OK) tk_throw(d->env, st);
}

tk_status tk_debug_origin_of(tk_debug *d, const char *name, const char *index,
                             tk_debug_origin *out) {
  why y = {.name = name, .index = index, .origin = out};
  return tkd_guard(d, find_origin, &y);
}

/* ---- blame ------------------------------------------------------------- */

/* Lists what the user wrote to the element, newest first; no program wrote
 * it. */
static void list_pokes(why *y) {
  tkd *d = y->d;
  tk_arena *a = &d->answers.arena;
  tk_debug_blame *b = y->blamed;
  tk_debug_value *values = TK_NEWN(a, tk_debug_value, d->time.nedits + 1);
  uint64_t *events = TK_NEWN(a, uint64_t, d->time.nedits + 1);
  b->pokes = values;
  b->poked_at = events;
  for (size_t i = d->time.nedits; i-- > 0;) {
    const tkd_edit *x = &d->time.edits[i];
    if (x->kind != TKD_POKE || x->host != y->element) continue;
    tkd_value v = {.path = "",
                   .type = tk_scalar(y->region->tensor->dtype),
                   .bytes = x->bytes,
                   .n = x->n,
                   .region = TKI_ANY};
    events[b->npokes] = x->event;
    values[b->npokes++] = tkd_describe_value(d, y->name, &v);
  }
}

static void run_blame(tk_env *e, void *ud) {
  why *y = ud;
  tkd *d = y->d;
  (void)e;
  tkd_aside w = run_up_to_stand(y, NULL);
  need_all(y, &w);
  y->blamed->blame =
      tke_blame_found(y->blame, &d->answers.arena, y->blame->targets);
  y->blamed->aside = tkd_describe_aside(d, &w);
  list_pokes(y);
}

static void find_blame(tkd *d, void *ud) {
  why *y = ud;
  int left;
  start_at_stand(y, d);
  const tki_region *r = y->region = tkd_region(d, y->name, strlen(y->name));
  if (!r) tkd_raise(d, NO_TENSOR, y->name);
  y->element = tkd_element(d, r, y->index, &left);
  if (left)
    tkd_raise(d, AXES_ELEMENT, r->name, r->tensor->rank,
              r->tensor->rank == 1 ? "is" : "es");
  y->blame = tke_blame_one(d->t, r, r->lo + (uint64_t)(y->element - r->host));
  tk_status st = tk_protect(d->env, run_blame, y);
  tke_blame_free(d->env, y->blame);
  if (st != TK_OK) tk_throw(d->env, st);
}

tk_status tk_debug_blamed(tk_debug *d, const char *name, const char *index,
                          tk_debug_blame *out) {
  why y = {.name = name, .index = index, .blamed = out};
  *out = (tk_debug_blame){.npokes = 0};
  return tkd_guard(d, find_blame, &y);
}

/* ---- page -------------------------------------------------------------- */

static void run_page(tk_env *e, void *ud) {
  why *y = ud;
  tkd *d = y->d;
  (void)e;
  y->view = tkw_look_new(d->session, &y->look);
  tkd_aside w = run_up_to_stand(y, tkw_look_begin(y->view, d->t));
  need_all(y, &w);
  tkw_look_save(y->view, d->t, &y->look);
}

/* The URI of a file. */
static const char *uri_of(tkd *d, const char *path) {
  static const char plain[] = "-._~/";
  char whole[PATH_MAX]; /* nothing to free where memory runs out */
  tk_buf *b = tk_temp_buf(&d->mem);
  tk_buf_puts(b, "file://");
  for (const char *s = realpath(path, whole) ? whole : path; *s; s++)
    if (isalnum((unsigned char)*s) || strchr(plain, *s))
      tk_buf_putc(b, *s);
    else
      tk_buf_printf(b, "%%%02X", (unsigned char)*s);
  return tk_arena_strdup(&d->answers.arena, tk_buf_str(b));
}

static void save_page(tkd *d, void *ud) {
  why *y = ud;
  start_at_stand(y, d);
  y->look.stands = y->place.n ? y->program : TKW_NO_PROGRAM;
  y->look.told = d->launch.told;
  tk_status st = tk_protect(d->env, run_page, y);
  tkw_look_free(y->view);
  if (st != TK_OK) tk_throw(d->env, st);
  *y->address = uri_of(d, y->look.path);
  tkd_notice(d, &(tk_notice){.kind = TK_NOTICE_PAGE, .text = *y->address});
}

tk_status tk_debug_save_page(tk_debug *d, const char *path,
                             const char **address) {
  why y = {.look = {.path = path}, .address = address};
  return tkd_guard(d, save_page, &y);
}
