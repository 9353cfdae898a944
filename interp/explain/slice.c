/* slice.c - a backward slice as a tree of steps.
 *
 * A step is a value, the expression that gave it, and its place; below a step
 * stand the values that it was computed from.  Operations that only move lanes
 * have no step.  A value that every trip of a loop computes from that of the
 * trip before has one step for all trips, and of a long sum only the first
 * terms are kept.  The number of steps is limited; branches of the tree share
 * what is left.  src/report/explanation.c writes the steps as text.
 */
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/index.h"
#include "interp/explain/slice.h"
#include "interp/explain/slice_walk.h"
#include "interp/grid.h"
#include "interp/site.h"

/* How many terms of a sum and trips of a loop are shown, how many bytes of an
 * expression, and how many trips are followed back. */
enum { TERMS = 4, TRIPS = 3, TEXT = 48, MOST_TRIPS = 1 << 16 };

typedef struct slice {
  tke_walk w;
  tk_arena *arena; /* of the steps and what they point to */
  tk_step *steps;
  tke_at *at; /* by step: the lane that it shows */
  size_t nsteps;
  tke_seen shown;
  tke_at base;  /* what the last trip of the loop being shown began with; it
                   has been shown already */
  size_t room;  /* how many steps may still be added, */
  size_t floor; /* of which so many are reserved for other branches */
  tk_buf *text; /* the launch's, for texts that are copied from it */
  int folded;   /* > 0: within terms or trips, whose reads are listed above */
  bool cut;     /* a step was left out for want of room */
} slice;

/* Where steps are added: under which step, and what they are to it. */
typedef struct above {
  int depth, parent;
  tk_step_role role;
} above;

/* ---- pieces -------------------------------------------------------------- */

static const void *lane_bytes(const tk_type *type, const tki_val *v,
                              size_t lane) {
  return tki_lane(v, lane, tk_lane_size(type));
}

static char *buffered(slice *s) {
  return tk_arena_strndup(s->arena, tk_buf_str(s->text), s->text->n);
}

static tk_lane sliced_lane(slice *s, const tk_type *type, tki_val *v,
                           size_t lane) {
  tk_lane x = {.dtype = (tk_dtype)type->elem, .pointer = type->ptr > 0};
  const void *p = lane_bytes(type, v, lane);
  size_t size = tk_lane_size(type);
  memcpy(&x.bits, p, size < sizeof x.bits ? size : sizeof x.bits);
  tk_buf_clear(s->text);
  if (!type->ptr)
    tk_format_lane(s->text, x.dtype, p);
  else
    tki_describe_address_in(s->text,
                            v->region != TKI_ANY
                                ? &s->w.x->t->regions[v->region]
                                : tki_region_at(s->w.x->t, x.bits, 1),
                            x.bits);
  x.text = buffered(s);
  return x;
}

static tk_lane result_value(slice *s, const tke_node *n, tke_at at) {
  int k = tke_ref_result(at.ref);
  return sliced_lane(s, tke_node_type(n, k), tke_node_value(n, k), at.lane);
}

static bool is_finite_result(const tke_node *n, tke_at at) {
  int k = tke_ref_result(at.ref);
  const tk_type *type = tke_node_type(n, k);
  return isfinite(tk_lane_double(
      (tk_dtype)type->elem, lane_bytes(type, tke_node_value(n, k), at.lane)));
}

static tk_element element_of(slice *s, const tki_region *r, uint64_t addr) {
  tk_element x = tki_element(r, addr);
  tk_buf_clear(s->text);
  tki_describe_address_in(s->text, r, addr);
  x.text = buffered(s);
  return x;
}

static tk_element node_element(slice *s, const tke_node *n, size_t lane) {
  return element_of(s, tke_node_region(&s->w, n, lane),
                    tke_node_address(n, lane));
}

/* The source of an expression, on one line, cut after TEXT bytes. */
static const char *source_of(slice *s, const tke_node *n) {
  const tk_source *src = n->func->src;
  bool blank = false;
  size_t put = 0;
  tk_buf_clear(s->text);
  for (uint32_t i = n->in->span.lo; i < n->in->span.hi && put < TEXT; i++) {
    char c = src->text[i];
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
      blank = true;
      continue;
    }
    if (blank) tk_buf_putc(s->text, ' ');
    put += blank;
    blank = false;
    tk_buf_putc(s->text, c);
    put++;
  }
  if (put >= TEXT) tk_buf_puts(s->text, "...");
  return buffered(s);
}

static const char *name_of(const tke_node *n, int result) {
  int slot = n->kind == TKE_NODE_INST && n->in->op != TK_I_COND
                 ? n->in->res[result]
                 : n->slot;
  return n->func->slots[slot].name;
}

static const char *type_name(slice *s, const tk_type *type) {
  tk_buf_clear(s->text);
  tk_type_declare(s->text, type);
  return buffered(s);
}

static int scope_of(const tk_func *f) {
  const tk_program *p = f->program;
  for (size_t i = 0; i < p->nfuncs; i++)
    if (p->funcs[i] == f) return (int)i;
  return (int)p->nfuncs; /* a value that the program does not compute */
}

/* ---- steps --------------------------------------------------------------- */

/* Adds a step; NULL if there is no room for another. */
static tk_step *add_step(slice *s, const above *up, tk_step_kind kind) {
  if (s->room <= s->floor) {
    s->cut = true;
    return NULL;
  }
  TK_ASSERT(up->parent < (int)s->nsteps);
  s->room--;
  tk_step *x = &s->steps[s->nsteps++];
  *x = (tk_step){.kind = kind,
                 .role = up->role,
                 .parent = up->parent,
                 .depth = up->depth,
                 .scope = -1,
                 .same = -1};
  return x;
}

static above below(const slice *s, const above *up) {
  return (above){up->depth + 1, (int)s->nsteps - 1, TK_ROLE_OPERAND};
}

static above in_role(const above *up, tk_step_role role) {
  above x = *up;
  x.role = role;
  return x;
}

/* Sets the place of the instruction that made a node. */
static void set_place(tk_step *x, const tke_node *n) {
  const tk_func *f = n->user_func;
  x->place = tk_place_of(f->src, n->user);
  x->function = f->name;
  x->scope = scope_of(f);
  x->in_kernel = f == f->program->kernel;
  x->library = n->func->library ? n->func->name : NULL;
}

/* Sets the place of the function that a reduction or scan combines with: its
 * first statement to its last. */
static void set_combined(tk_step *x, const tk_combine *with) {
  const tk_func *f = with->levels[0];
  if (!f->body.n || f->library) return;
  tk_span all = f->body.items[f->body.n - 1]->span;
  if (f->body.items[0]->span.lo < all.lo) all.lo = f->body.items[0]->span.lo;
  x->combined = tk_place_of(f->src, all);
}

/* Sets a step's name, type and value. */
static void set_value(slice *s, tk_step *x, const tke_node *n, tke_at at) {
  int k = tke_ref_result(at.ref);
  const tk_type *type = tke_node_type(n, k);
  s->at[x - s->steps] = at;
  x->name = name_of(n, k);
  if (n->kind == TKE_NODE_INST) {
    x->source = source_of(s, n);
    x->operation = tk_inst_name(n->in->op);
    x->constant = n->in->op == TK_I_CONST;
  }
  x->type = type_name(s, type);
  x->lane_rank = tk_lane_index(type, at.lane, x->lane);
  x->value = result_value(s, n, at);
}

static void show(slice *s, tke_at at, const above *up);

/* Shows the next of `left` branches, which may use an equal share of the steps
 * that are left. */
static void show_share(slice *s, tke_at at, const above *up, size_t left) {
  size_t floor = s->floor, mine = (s->room - floor + left - 1) / left;
  if (s->room <= floor) mine = 0;
  if (!mine) s->cut = true;
  if (!mine) return;
  s->floor = s->room - mine;
  show(s, at, up);
  s->floor = floor;
}

static void show_reads(slice *s, tke_at at, tke_at base, const above *up);

/* ---- memory -------------------------------------------------------------- */

/* Shows which program had written what a lane read, if one did in this launch.
 */
static void show_writer(slice *s, const tke_node *n, size_t lane,
                        const above *up) {
  const tke_writer *w = tke_node_writer(s->w.x, n, lane);
  tke_at stored;
  if (!w) return;
  if (tke_follow_store(&s->w, n, lane, &stored)) {
    above down = in_role(up, TK_ROLE_STORED);
    show(s, stored, &down);
    return;
  }
  above down = in_role(up, TK_ROLE_OPERAND);
  tk_step *x = add_step(s, &down, TK_STEP_WRITTEN);
  if (!x) return;
  const tki_site_info *i = tki_site_at(s->w.x->t, w->site);
  x->place = tk_place_of(i->func->src, i->inst->span);
  x->function = i->func->name;
  x->same_program = w->program == s->w.x->program;
  tki_pid_of(s->w.x->t, w->program, x->program);
}

/* Shows the parts of an address that were read from memory themselves. */
static void show_address(slice *s, tke_at at, const above *up) {
  at = tke_settle(&s->w, at);
  const tke_node *n = tke_at_node(&s->w, at);
  if (!n || !tke_reads_memory(&s->w, at)) return;
  above down = in_role(up, TK_ROLE_INDEX);
  if (!tke_node_is(n, TK_I_ADDPTR)) {
    show(s, at, &down);
    return;
  }
  tke_operands o = {0};
  tke_slice_operands(&s->w.arena, n, 0, at.lane, &o);
  for (size_t i = 0; i < o.n; i++)
    show_address(s, tke_operand_at(n, o.items[i]), up);
}

/* Sets what an access to memory gave. */
static void set_memory(slice *s, tk_step *x, const tke_node *n, size_t lane) {
  uint64_t addr;
  bool load = tke_node_is(n, TK_I_LOAD), loaded = tke_loaded(n, lane, &addr);
  if (!load)
    x->memory = TK_MEMORY_HELD;
  else if (loaded)
    x->memory =
        tk_load_mask(n->in) >= 0 ? TK_MEMORY_READ_MASKED : TK_MEMORY_READ;
  else
    x->memory =
        tk_load_other(n->in) >= 0 ? TK_MEMORY_OTHER : TK_MEMORY_UNDEFINED;
  x->has_element = !load || loaded;
  if (x->has_element) x->element = node_element(s, n, lane);
}

/* Sets the two sides of a comparison.  The operands of other operations have
 * steps of their own. */
static void set_sides(slice *s, tk_step *x, const tke_node *n, size_t lane) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  x->sign = signs[tk_compare_op(n->in)];
  for (int k = 0; k < 2; k++) {
    const tk_type *type = tke_node_arg_type(n, k);
    x->sides[k] = sliced_lane(s, type, &n->vals[k],
                              (size_t)tk_numel(type) > lane ? lane : 0);
  }
}

/* Adds the step of a node: a leaf, or an instruction and how it came to its
 * value. */
static tk_step *add_node(slice *s, const tke_node *n, tke_at at,
                         const above *up, tk_step_kind kind) {
  tk_step *x = add_step(s, up, kind);
  if (!x) return NULL;
  set_value(s, x, n, at);
  if (n->kind == TKE_NODE_LOOP) {
    x->trip = n->trip;
    x->loop = tk_place_of(n->func->src, n->loop->span);
  }
  if (n->kind != TKE_NODE_INST) return x;
  set_place(x, n);
  if (n->in->op == TK_I_REDUCE_FN) set_combined(x, tk_reduce_fn_combine(n->in));
  if (n->in->op == TK_I_SCAN_FN) set_combined(x, tk_scan_fn_combine(n->in));
  if (n->in->op == TK_I_LOAD || n->in->op == TK_I_ATOMIC ||
      n->in->op == TK_I_CAS)
    set_memory(s, x, n, at.lane);
  if (n->in->op == TK_I_COMPARE) set_sides(s, x, n, at.lane);
  return x;
}

/* ---- long operations ----------------------------------------------------- */

/* A factor of a term: the element that was read, "x[3]", or what it is called.
 */
static tk_factor factor_of(slice *s, const tke_node *n, tke_operand o) {
  tke_at at = tke_settle(&s->w, tke_operand_at(n, o));
  const tke_node *m = tke_at_node(&s->w, at);
  uint64_t addr;
  tk_factor f = {.text = ""};
  f.value =
      sliced_lane(s, tke_node_arg_type(n, o.arg), &n->vals[o.arg], o.lane);
  if (!m) return f;
  f.has_element = tke_loaded(m, at.lane, &addr);
  if (f.has_element) {
    f.element = node_element(s, m, at.lane);
    f.text = f.element.text;
    return f;
  }
  int64_t index[TK_MAX_RANK];
  f.text = name_of(m, tke_ref_result(at.ref));
  if (!f.text) {
    f.text = source_of(s, m);
    return f;
  }
  int rank =
      tk_lane_index(tke_node_type(m, tke_ref_result(at.ref)), at.lane, index);
  if (rank)
    f.text = tk_arena_printf(s->arena, "%s[%s]", f.text,
                             tk_ints_text(s->arena, index, rank));
  return f;
}

static double operand_double(const tke_node *n, tke_operand o) {
  const tk_type *type = tke_node_arg_type(n, o.arg);
  return tk_lane_double((tk_dtype)type->elem,
                        lane_bytes(type, &n->vals[o.arg], o.lane));
}

/* Adds a term.  Returns whether it needs no steps of its own, because each of
 * its factors was read from memory as it is. */
static bool add_term(slice *s, const tke_node *n, const tke_operands *o,
                     size_t first, const above *up) {
  bool simple = true;
  tk_step *x = add_step(s, up, TK_STEP_TERM);
  if (!x) return false;
  tk_factor *factors = TK_NEWN(s->arena, tk_factor, o->each);
  for (size_t k = 0; k < o->each; k++) {
    factors[k] = factor_of(s, n, o->items[first + k]);
    simple &= factors[k].has_element;
  }
  x->factors = factors;
  x->nfactors = o->each;
  x->product = tke_node_is(n, TK_I_DOT);
  if (!x->product) return simple;
  float p = (float)(operand_double(n, o->items[first]) *
                    operand_double(n, o->items[first + 1]));
  x->value.dtype = TK_FP32;
  memcpy(&x->value.bits, &p, sizeof p);
  tk_buf_clear(s->text);
  tk_format_lane(s->text, TK_FP32, &p);
  x->value.text = buffered(s);
  return simple;
}

static void show_terms(slice *s, const tke_node *n, tke_at at,
                       const tke_operands *o, const above *up) {
  size_t first = o->n - o->terms, count = o->each ? o->terms / o->each : 0;
  bool simple = true;
  for (size_t i = 0; i < count && i < TERMS; i++)
    simple &= add_term(s, n, o, first + i * o->each, up);
  if (count > TERMS) {
    tk_step *x = add_step(s, up, TK_STEP_MORE);
    if (x) x->count = count - TERMS;
  }
  if (!s->folded) show_reads(s, at, (tke_at){0, 0}, up);
  if (simple && !o->odd) return;
  above down = in_role(up, count <= 1 ? TK_ROLE_OPERAND
                           : o->odd   ? TK_ROLE_ODD_TERM
                                      : TK_ROLE_FIRST_TERM);
  s->folded++;
  for (size_t k = 0; k < o->each; k++)
    show_share(s, tke_operand_at(n, o->items[first + k]), &down, o->each - k);
  s->folded--;
}

/* Sets how many terms an operation has, or which one of them it picked. */
static void set_count(tk_step *x, const tke_node *n, const tke_operands *o) {
  size_t count = o->each ? o->terms / o->each : 0;
  if (o->each && !count && o->n == 1) {
    int op = tk_inst_reduction(n->in);
    x->picked_of = (uint64_t)tk_inst_axis_lanes(n->in);
    x->picked_smallest = op == TK_R_MIN || op == TK_R_MIN_NAN;
    x->picked_rank =
        tk_lane_index(tke_node_arg_type(n, 0), o->items[0].lane, x->picked);
  }
  if (count >= 2) x->count = count;
}

/* ---- loops --------------------------------------------------------------- */

typedef struct chain {
  TK_VEC(tke_at) at; /* newest first */
  tke_path path;
} chain;

static void find_chain(slice *s, tke_at at, chain *c) {
  TK_PUSH(&s->w.arena, &c->at, at);
  tke_path p;
  while (c->at.n < MOST_TRIPS && tke_recurs(&s->w, at, &p)) {
    c->path = p;
    at = p.to;
    TK_PUSH(&s->w.arena, &c->at, at);
  }
}

static const tke_node *chain_node(slice *s, const chain *c, size_t i) {
  return tke_at_node(&s->w, c->at.items[i]);
}

static void set_trips(slice *s, tk_step *x, const chain *c) {
  const tke_node *last = chain_node(s, c, 0);
  const tke_node *first = chain_node(s, c, c->at.n - 1);
  x->nested = last->outer && last->outer_trip != first->outer_trip;
  x->times = c->at.n;
  x->trip = x->nested ? first->outer_trip : first->trip;
  x->last_trip = x->nested ? last->outer_trip : last->trip;
  x->loop = tk_place_of(last->user_func->src,
                        x->nested ? last->outer->span : last->loop->span);
}

/* Adds the values that there were before the loop, after its first trips and
 * after its last one. */
static void add_trips(slice *s, const chain *c, tke_at base, const above *up) {
  const tke_node *n = tke_at_node(&s->w, base);
  tk_step *x = add_step(s, up, TK_STEP_TRIPS);
  if (!x) return;
  tk_lane *values = TK_NEWN(s->arena, tk_lane, TRIPS + 2);
  if (n) values[x->nvalues++] = result_value(s, n, base);
  for (size_t i = c->at.n; i-- > 0;)
    if (i + TRIPS >= c->at.n || i < 1)
      values[x->nvalues++] =
          result_value(s, chain_node(s, c, i), c->at.items[i]);
  TK_ASSERT(x->nvalues <= TRIPS + 2);
  x->from_start = n != NULL;
  x->values = values;
  x->skipped = c->at.n > TRIPS + 1 ? c->at.n - TRIPS - 1 : 0;
}

static void show_operands(slice *s, const tke_node *n, tke_at at,
                          const above *up);

/* The trip that tells how a loop came to its value: the last one; of a value
 * that is not finite the first in which it was not. */
static size_t telling_trip(slice *s, const chain *c) {
  size_t i = 0;
  while (i < c->at.n && !is_finite_result(chain_node(s, c, i), c->at.items[i]))
    i++;
  return i ? i - 1 : 0;
}

/* Adds one step for all trips.  Below it stand the value before the loop, how
 * one trip came to its value, and everything that the trips read. */
static void show_loop(slice *s, const chain *c, const above *up) {
  tke_at at = c->at.items[0], outer = s->base;
  const tke_node *n = tke_at_node(&s->w, at);
  tke_at first = c->at.items[c->at.n - 1];
  tke_at base = tke_path_follow(&s->w, first, &c->path);
  tk_step *x = add_node(s, n, at, up, TK_STEP_LOOP);
  if (!x) return;
  set_trips(s, x, c);
  above down = below(s, up);
  add_trips(s, c, base, &down);
  if (!s->folded) show_reads(s, at, base, &down);
  above before = in_role(&down, TK_ROLE_BEFORE_LOOP);
  show_share(s, base, &before, 3);
  size_t told = telling_trip(s, c);
  at = c->at.items[told];
  s->base = told + 1 < c->at.n ? c->at.items[told + 1] : base;
  s->folded++;
  show_operands(s, tke_at_node(&s->w, at), at, &down);
  s->folded--;
  s->base = outer;
}

/* ---- the tree ------------------------------------------------------------ */

/* Whether an operand needs no step: a constant, or a pointer argument. */
static bool hidden(slice *s, const tke_node *n, tke_operand o) {
  tke_at at = tke_operand_at(n, o);
  bool picks = n->in->op == TK_I_SELECT || n->in->op == TK_I_COND ||
               n->in->op == TK_I_LOAD || n->in->op == TK_I_STORE;
  const tke_node *x = tke_at_node(&s->w, at);
  bool base = x && x->kind == TKE_NODE_ARG && tke_node_type(x, 0)->ptr;
  if (picks) return false;
  return base || tke_is_const(&s->w, at);
}

static tk_step_role role_of(const tke_node *n, tke_operand o) {
  if (n->in->op == TK_I_LOAD) return o.arg == 1 ? TK_ROLE_MASK : TK_ROLE_OTHER;
  if (n->in->op == TK_I_GATHER)
    return o.address ? TK_ROLE_INDEX : TK_ROLE_OPERAND;
  bool chooses = n->in->op == TK_I_SELECT || n->in->op == TK_I_COND;
  return !chooses     ? TK_ROLE_OPERAND
         : o.arg == 0 ? TK_ROLE_CONDITION
                      : TK_ROLE_CHOSEN;
}

static void show_operand(slice *s, const tke_node *n, tke_operand o,
                         const above *up, size_t left) {
  if (o.address && n->in->op != TK_I_GATHER) {
    show_address(s, tke_operand_at(n, o), up);
    return;
  }
  above down = in_role(up, role_of(n, o));
  show_share(s, tke_operand_at(n, o), &down, left);
}

static void show_operands(slice *s, const tke_node *n, tke_at at,
                          const above *up) {
  tke_operands o = {0};
  uint64_t addr;
  tke_slice_operands(&s->w.arena, n, tke_ref_result(at.ref), at.lane, &o);
  bool old = n->in->op == TK_I_ATOMIC || n->in->op == TK_I_CAS;
  size_t few = old ? 0 : o.n - o.terms;
  for (size_t i = 0; i < few; i++)
    if (!hidden(s, n, o.items[i]))
      show_operand(s, n, o.items[i], up, few - i + (o.terms > 0));
  if (old || tke_loaded(n, at.lane, &addr)) show_writer(s, n, at.lane, up);
  if (o.terms && !old) show_terms(s, n, at, &o, up);
}

static void add_unknown(slice *s, const above *up) {
  tk_step *x = add_step(s, up, TK_STEP_UNKNOWN);
  if (!x) return;
  x->not_kept = s->w.x->dropped > 0;
  if (x->not_kept) x->count = TKE_TRACE_MIB;
}

/* If the lane has a step further up, adds a reference to that; returns false if
 * it has none. */
static bool show_again(slice *s, tke_at at, const tke_node *n,
                       const above *up) {
  bool loop = at.ref == s->base.ref && at.lane == s->base.lane;
  bool again = !tke_seen_add(&s->w, &s->shown, at);
  if (!loop && (!again || n->kind != TKE_NODE_INST || !n->nargs)) return false;
  int same = (int)s->nsteps - 1;
  while (same >= 0 &&
         (s->at[same].ref != at.ref || s->at[same].lane != at.lane))
    same--;
  tk_step *x = add_step(s, up, loop ? TK_STEP_CARRIED : TK_STEP_AGAIN);
  if (!x) return true;
  set_value(s, x, n, at);
  x->same = same;
  x->trip = n->trip;
  return true;
}

/* Shows a value and what it was computed from: as a step, as one step for all
 * trips of a loop, or as a reference to a step further up. */
static void show(slice *s, tke_at at, const above *up) {
  at = tke_settle(&s->w, at);
  const tke_node *n = tke_at_node(&s->w, at);
  chain c = {0};
  if (!n) {
    add_unknown(s, up);
    return;
  }
  if (show_again(s, at, n, up)) return;
  bool inside = s->base.ref && tke_leads_to(&s->w, at, s->base);
  if (!inside) find_chain(s, at, &c);
  if (c.at.n > 2) {
    show_loop(s, &c, up);
    return;
  }
  tk_step *x = add_node(s, n, at, up,
                        n->kind == TKE_NODE_ARG    ? TK_STEP_ARGUMENT
                        : n->kind == TKE_NODE_LOOP ? TK_STEP_LOOP_VARIABLE
                                                   : TK_STEP_VALUE);
  if (!x || n->kind != TKE_NODE_INST) return;
  tke_operands o = {0};
  tke_slice_operands(&s->w.arena, n, tke_ref_result(at.ref), at.lane, &o);
  set_count(x, n, &o);
  above down = below(s, up);
  show_operands(s, n, at, &down);
}

static size_t lane_for(const tke_node *n, int k, size_t lane) {
  return tki_is_uniform(&n->vals[k]) ? 0 : lane;
}

/* The place where the address of a load was computed; line 0 if it was not. */
static tk_place place_of_address(slice *s, const tke_node *n, size_t lane) {
  tke_at at = tke_settle(&s->w, (tke_at){n->refs[0], lane_for(n, 0, lane)});
  const tke_node *p = tke_at_node(&s->w, at);
  if (!p || p->kind != TKE_NODE_INST) return (tk_place){0};
  return tk_place_of(p->user_func->src, p->user);
}

typedef struct listing {
  slice *s;
  const above *up;
} listing;

static void add_reads(void *ud, const tke_reads *r) {
  listing *l = ud;
  tk_step *x = add_step(l->s, l->up, TK_STEP_READS);
  if (!x || !r->node) return;
  x->place = tk_place_of(r->node->user_func->src, r->node->user);
  x->address = place_of_address(l->s, r->node, r->lane);
  x->has_element = true;
  x->element = element_of(l->s, r->region, r->addr);
  x->is_box = r->is_box;
  x->count = r->n;
  if (r->is_box) memcpy(x->element.index, r->lo, sizeof r->lo);
  if (r->is_box) memcpy(x->last, r->hi, sizeof r->hi);
}

static void show_reads(slice *s, tke_at at, tke_at base, const above *up) {
  listing l = {s, up};
  tke_slice_loads(&s->w, at, base, add_reads, &l);
}

/* ---- the whole ----------------------------------------------------------- */

static slice new_slice(tke_trace *x, tk_arena *a, size_t most) {
  slice s = {
      .w = {.x = x}, .arena = a, .room = most, .text = &x->t->launch->text};
  tk_arena_init(&s.w.arena, x->t->env);
  s.steps = TK_NEWN(a, tk_step, most);
  s.at = TK_NEWN(&s.w.arena, tke_at, most);
  return s;
}

/* Gives each step the list of the steps directly below it. */
static void link_steps(slice *s) {
  for (size_t i = 0; i < s->nsteps; i++) {
    int parent = s->steps[i].parent;
    TK_ASSERT(parent < (int)i);
    if (parent >= 0) s->steps[parent].noperands++;
  }
  for (size_t i = 0; i < s->nsteps; i++) {
    tk_step *x = &s->steps[i];
    int *operands = TK_NEWN(s->arena, int, x->noperands + 1);
    size_t n = 0;
    for (size_t k = i + 1; k < s->nsteps; k++)
      if (s->steps[k].parent == (int)i) operands[n++] = (int)k;
    TK_ASSERT(n == x->noperands);
    x->operands = operands;
  }
}

static void end_slice(slice *s, tk_explanation *out) {
  link_steps(s);
  out->steps = s->steps;
  out->nsteps = s->nsteps;
  out->cut = s->cut;
  tk_arena_free(&s->w.arena);
}

void tke_slice_value(tke_trace *x, tk_arena *a, tke_ref r, size_t lane,
                     size_t most, tk_explanation *out) {
  slice s = new_slice(x, a, most);
  above top = {.parent = -1};
  out->scope = -1;
  show(&s, (tke_at){r, lane}, &top);
  end_slice(&s, out);
}

/* Shows what memory held before an atomic operation. */
static void show_before(slice *s, const tke_node *n, size_t lane,
                        const above *up) {
  tk_step *x = add_step(s, up, TK_STEP_HELD);
  if (!x) return;
  set_place(x, n);
  x->has_element = true;
  x->element = node_element(s, n, lane);
  x->value = sliced_lane(s, tke_node_type(n, 0), tke_node_value(n, 0), lane);
  above down = below(s, up);
  show_writer(s, n, lane, &down);
}

/* Shows in a few steps how the address was computed. */
static void show_where(slice *s, const tke_node *n, size_t lane,
                       const above *up) {
  tke_at at = tke_settle(&s->w, (tke_at){n->refs[0], lane_for(n, 0, lane)});
  const tke_node *p = tke_at_node(&s->w, at);
  above down = in_role(up, TK_ROLE_ADDRESS);
  if (p && (p->kind != TKE_NODE_INST || p->nargs)) show(s, at, &down);
}

void tke_slice_store(tke_trace *x, tk_arena *a, tke_ref store, size_t lane,
                     size_t most, tk_explanation *out) {
  slice s = new_slice(x, a, most);
  const tke_node *n = tke_trace_node(x, store);
  above top = {.parent = -1};
  out->scope = -1;
  if (n) {
    out->scope = scope_of(n->user_func);
    out->place = tk_place_of(n->user_func->src, n->user);
    bool stores = n->in->op == TK_I_STORE;
    bool cas = n->in->op == TK_I_CAS;
    int value = cas ? 2 : 1;
    int mask = cas ? 3 : 2;
    above down =
        in_role(&top, stores ? TK_ROLE_OPERAND : TK_ROLE_ATOMIC_OPERAND);
    if (!stores) show_before(&s, n, lane, &top);
    s.floor = most / 4;
    show(&s, (tke_at){n->refs[value], lane_for(n, value, lane)}, &down);
    s.floor = most / 8;
    down.role = TK_ROLE_MASK;
    if (n->nargs > mask)
      show(&s, (tke_at){n->refs[mask], lane_for(n, mask, lane)}, &down);
    s.floor = 0;
    show_where(&s, n, lane, &top);
  } else {
    add_unknown(&s, &top);
  }
  end_slice(&s, out);
}
