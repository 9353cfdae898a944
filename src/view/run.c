/* run.c - watching a run: what programs and lines cost.
 *
 * An interval of time belongs to the instruction that began last, until it ends
 * or another one begins in it; the time that the view itself takes belongs to
 * none.  What tkdbg's own functions do is charged to the user's line that
 * called them.
 */
#include "view/run.h"

#include "base/clock.h"
#include "interp/grid.h"
#include "profile/run.h"

/* Programs that have a cost each; programs whose steps are kept, where there
 * are more of them than the second number. */
enum { MOST_COSTS = 1 << 20, SAMPLED = 16, KEEP_ALL = 64 };

/* ---- which programs ------------------------------------------------------ */

static void keep_program(tkw_run *r, tki *t, uint64_t index) {
  tkw_program *p = &r->kept[r->nkept++];
  p->index = index;
  tk_buf_init(&p->steps, t->env);
  tk_buf_init(&p->values, t->env);
  tk_buf_init(&p->accesses, t->env);
  tk_buf_init(&p->ops, t->env);
  tk_buf_init(&p->undefined, t->env);
}

/* All programs, or the first, the last and some in between of those that the
 * conditions select. */
static void choose_programs(tkw_run *r, tki *t, uint64_t also) {
  uint64_t n = tki_programs(t), selected = 0, index, seen = 0, wanted = 0;
  size_t most = 0;
  for (uint64_t i = 0; i < n; i++) selected += tki_program_at(t, i, &index);
  most = selected > KEEP_ALL ? SAMPLED : (size_t)selected;
  r->kept = TK_NEWN(&r->arena, tkw_program, most + 1);
  for (uint64_t i = 0; i < n && r->nkept < most; i++) {
    if (!tki_program_at(t, i, &index)) continue;
    if (seen++ < wanted) continue;
    keep_program(r, t, index);
    wanted = most > 1 ? r->nkept * (selected - 1) / (most - 1) : selected;
  }
  for (size_t i = 0; i < r->nkept; i++)
    if (r->kept[i].index == also) return;
  if (also != TKW_NO_PROGRAM) keep_program(r, t, also);
}

/* The program that runs, if it is kept; sets r->cost. */
static tkw_program *program_now(tkw_run *r, const tki *t) {
  uint64_t index = tki_program_index(t);
  if (r->cost && r->index == index) return r->now;
  r->index = index;
  r->cost = &r->by[index / r->every];
  r->now = NULL;
  for (size_t i = 0; i < r->nkept; i++)
    if (r->kept[i].index == index) r->now = &r->kept[i];
  return r->now;
}

/* ---- time ---------------------------------------------------------------- */

static void charge(tkw_run *r, uint64_t ticks) {
  if (!r->program) return;
  r->program->ticks += ticks;
  r->site->ticks += ticks;
}

/* ---- hooks --------------------------------------------------------------- */

static void view_program(void *ud, tki *t, bool begins) {
  tkw_run *r = ud;
  tkw_program *p = program_now(r, t);
  if (!begins) {
    r->ended++;
    if (p) tkw_step_close(p);
    return;
  }
  r->started++;
  if (r->begun) r->begun[r->index] = r->started;
}

static void view_frame(void *ud, tki *t, bool begins) {
  tkw_run *r = ud;
  tkw_program *p = program_now(r, t);
  if (p && begins) tkw_step_frame(r, p, t);
}

/* The clock is read again where the view itself took time. */
static void view_begins(void *ud, tki *t, const tk_inst *in,
                        const tki_val *slots) {
  tkw_run *r = ud;
  uint64_t now = tkf_ticks();
  charge(r, now - r->last);
  tkw_program *p = program_now(r, t);
  r->program = r->cost;
  r->site = &r->sites[tki_site(t)];
  if (p) tkw_step_begins(r, p, t, in, slots);
  r->last = p ? tkf_ticks() : now;
}

static void view_ends(void *ud, tki *t, const tk_inst *in,
                      const tki_val *slots) {
  tkw_run *r = ud;
  uint64_t now = tkf_ticks();
  tkw_program *p = program_now(r, t);
  r->program = r->cost;
  r->site = &r->sites[tki_site(t)];
  charge(r, now - r->last);
  uint64_t flops = tk_inst_accesses(in) ? 0 : tk_inst_flops(in);
  r->program->calls++;
  r->program->flops += flops;
  r->site->calls++;
  r->site->flops += flops;
  if (p) tkw_step_ends(r, p, t, in, slots);
  r->program = r->site = NULL;
  r->last = p ? tkf_ticks() : now;
}

/* Marks of an instruction's results are there once the detectors have seen it,
 * which ask to be told of it first: this hook slows nothing down. */
static void view_after(void *ud, tki *t, const tk_inst *in,
                       const tki_val *args) {
  tkw_run *r = ud;
  uint64_t began = tkf_ticks();
  tkw_program *p = program_now(r, t);
  (void)args;
  if (!p) return;
  tkw_step_undefined(r, p, t, in);
  r->last += tkf_ticks() - began;
}

static bool needs_no_after(void *ud, tki *t, const tk_inst *in) {
  (void)ud;
  (void)t;
  (void)in;
  return true;
}

static void add_traffic(tkw_cost *c, const tki_access *a, uint64_t active) {
  uint64_t n = (uint64_t)a->in->n, bytes = active * a->size;
  c->lanes += n;
  c->off += n > active ? n - active : 0;
  if (a->read) c->read += bytes;
  if (a->write) c->written += bytes;
}

static void view_access(void *ud, tki *t, const tki_access *a) {
  tkw_run *r = ud;
  uint64_t began = tkf_ticks();
  tkw_program *p = program_now(r, t);
  if (a->barrier) return;
  uint64_t active = tkw_cover_access(r, a, r->index);
  add_traffic(r->cost, a, active);
  add_traffic(&r->sites[tki_site(t)], a, active);
  if (p) tkw_step_access(r, p, t, a);
  r->last += tkf_ticks() - began;
}

/* ---- beginning and end --------------------------------------------------- */

static void new_run(tkw_run *r, tki *t, size_t bytes, uint64_t also) {
  tkw_run_end(r);
  *r = (tkw_run){.t = t};
  tk_arena_init(&r->arena, t->env);
  r->programs = (uint64_t)(t->grid[0] * t->grid[1] * t->grid[2]);
  r->every = r->programs / MOST_COSTS + 1;
  r->nby = r->programs / r->every + 1;
  r->by = TK_NEWN(&r->arena, tkw_cost, r->nby);
  if (r->every == 1) r->begun = TK_NEWN(&r->arena, uint64_t, r->nby);
  r->sites = TK_NEWN(&r->arena, tkw_cost, t->program->ninsts + 1);
  tkw_covers_new(r, t);
  choose_programs(r, t, also);
  r->share = r->nkept ? bytes / r->nkept : 0;
  r->observer = (tki_observer){.ud = r,
                               .program = view_program,
                               .frame = view_frame,
                               .begins = view_begins,
                               .ends = view_ends,
                               .access = view_access,
                               .rows = true};
  r->seconds = tk_clock_seconds();
  r->last = r->ticks = tkf_ticks();
}

/* Lanes are followed as undef follows them. */
static void follow(tkw_run *r) {
  r->follows = true;
  r->observer.after = view_after;
  r->observer.idle = r->observer.settled = needs_no_after;
}

void tkw_run_begin(tkw_run *r, tki *t, size_t bytes, uint64_t also) {
  new_run(r, t, bytes, also);
  if (!tkc_follows_lanes(t)) {
    r->undefined = tkc_undefined_alone(t);
    tki_observe(t, tkc_undefined_observer(r->undefined));
  }
  if (tkc_knows_undefined(t)) follow(r);
  tki_observe(t, &r->observer);
}

tki_observer *tkw_run_aside(tkw_run *r, tki *t, size_t bytes, uint64_t also) {
  new_run(r, t, bytes, also);
  r->undefined = tkc_undefined_new(t);
  if (!r->undefined) r->undefined = tkc_undefined_alone(t);
  follow(r);
  tki_observer *first = tkc_undefined_observer(r->undefined);
  first->next = &r->observer;
  return first;
}

void tkw_run_unfollow(tkw_run *r) {
  tkc_undefined_free(r->t, r->undefined);
  r->undefined = NULL;
}

void tkw_run_end(tkw_run *r) {
  for (size_t i = 0; i < r->nkept; i++) {
    tk_buf_free(&r->kept[i].steps);
    tk_buf_free(&r->kept[i].values);
    tk_buf_free(&r->kept[i].accesses);
    tk_buf_free(&r->kept[i].ops);
    tk_buf_free(&r->kept[i].undefined);
  }
  tkw_run_unfollow(r);
  r->nkept = 0;
  r->now = NULL;
  r->cost = NULL;
  r->t = NULL;
  if (r->arena.env) tk_arena_free(&r->arena);
}
