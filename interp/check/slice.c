/* slice.c - a backward slice as a tree of steps.
 *
 * A step is a value, the text in the source that gave it, and where; below it
 * stand the values it was made of.  What only moves lanes has no step.  A value
 * that each trip of a loop makes from that of the trip before has one step for
 * all trips; of a long sum the first terms are kept.  The number of steps is
 * limited, and is divided among the branches of the tree.  The text is written
 * elsewhere (launch/report_explain.c).
 */
#include "interp/check/slice.h"

#include <string.h>

#include "base/assert.h"
#include "base/format.h"
#include "interp/check/slice_walk.h"
#include "interp/grid.h"
#include "interp/site.h"

enum { TERMS = 4, TRIPS = 3, TEXT = 48, MOST_TRIPS = 1 << 16 };

typedef struct slice {
  tkc_walk w;
  tk_arena *arena; /* of the steps and what they point to */
  tk_step *steps;
  tkc_at *at; /* by step: which lane it is of */
  size_t nsteps;
  tkc_seen shown;
  tkc_at base;  /* the step was shown earlier: it is what a loop's last trip
                   began with */
  size_t room;  /* steps that may still be added */
  size_t floor; /* of these, those kept for other branches */
  tk_buf *text; /* scratch, the launch's */
  int folded;
  bool cut;
} slice;

/* The step under which others are added, and their relation to it. */
typedef struct above {
  int depth, parent;
  tk_step_role role;
} above;

/* ---- pieces -------------------------------------------------------------- */

static int lane_index(const tk_type *type, size_t lane, int64_t *index) {
  size_t below = (size_t)tk_numel(type);
  for (int i = 0; i < type->rank; i++) {
    size_t n = (size_t)type->shape[i];
    below /= n;
    index[i] = (int64_t)(lane / below % n);
  }
  return type->rank;
}

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

static tk_lane result_value(slice *s, const tkc_node *n, tkc_at at) {
  int k = tkc_ref_result(at.ref);
  return sliced_lane(s, tkc_node_type(n, k), tkc_node_value(n, k), at.lane);
}

static tk_element element_of(slice *s, const tki_region *r, uint64_t addr) {
  tk_element x = tki_element(r, addr);
  tk_buf_clear(s->text);
  tki_describe_address_in(s->text, r, addr);
  x.text = buffered(s);
  return x;
}

static tk_element node_element(slice *s, const tkc_node *n, size_t lane) {
  return element_of(s, tkc_node_region(&s->w, n, lane),
                    tkc_node_address(n, lane));
}

/* The source of an expression on one line, not too long. */
static const char *source_of(slice *s, const tkc_node *n) {
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

static const char *name_of(const tkc_node *n, int result) {
  int slot = n->kind == TKC_NODE_INST && n->in->op != TK_I_COND
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

/* Adds a step; returns NULL if there is no room for it. */
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

/* Returns the place of the instruction that made a node. */
static void set_place(tk_step *x, const tkc_node *n) {
  const tk_func *f = n->user_func;
  x->place = tk_place_of(f->src, n->user);
  x->function = f->name;
  x->scope = scope_of(f);
  x->in_kernel = f == f->program->kernel;
  x->library = n->func->library ? n->func->name : NULL;
}

/* Sets the place of the statements of a reduction's or scan's function, the
 * first to the last. */
static void set_combined(tk_step *x, const tk_combine *with) {
  const tk_func *f = with->levels[0];
  if (!f->body.n || f->library) return;
  tk_span all = f->body.items[f->body.n - 1]->span;
  if (f->body.items[0]->span.lo < all.lo) all.lo = f->body.items[0]->span.lo;
  x->combined = tk_place_of(f->src, all);
}

/* Sets a step's name, type and value. */
static void set_value(slice *s, tk_step *x, const tkc_node *n, tkc_at at) {
  int k = tkc_ref_result(at.ref);
  const tk_type *type = tkc_node_type(n, k);
  s->at[x - s->steps] = at;
  x->name = name_of(n, k);
  if (n->kind == TKC_NODE_INST) {
    x->source = source_of(s, n);
    x->operation = tk_inst_name(n->in->op);
    x->constant = n->in->op == TK_I_CONST;
  }
  x->type = type_name(s, type);
  x->lane_rank = lane_index(type, at.lane, x->lane);
  x->value = result_value(s, n, at);
}

static void show(slice *s, tkc_at at, const above *up);

/* Shows the next of `left` branches, with its share of the steps. */
static void show_share(slice *s, tkc_at at, const above *up, size_t left) {
  size_t floor = s->floor, mine = (s->room - floor + left - 1) / left;
  if (s->room <= floor) mine = 0;
  if (!mine) s->cut = true;
  if (!mine) return;
  s->floor = s->room - mine;
  show(s, at, up);
  s->floor = floor;
}

static void show_reads(slice *s, tkc_at at, tkc_at base, const above *up);

/* ---- memory -------------------------------------------------------------- */

/* Sets which program wrote what a lane has read, if one did earlier in this
 * launch. */
static void show_writer(slice *s, const tkc_node *n, size_t lane,
                        const above *up) {
  const tkc_writer *w = tkc_node_writer(s->w.x, n, lane);
  tkc_at stored;
  if (!w) return;
  if (tkc_follow_store(&s->w, n, lane, &stored)) {
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

/* The parts of an address that were read from memory. */
static void show_address(slice *s, tkc_at at, const above *up) {
  at = tkc_settle(&s->w, at);
  const tkc_node *n = tkc_at_node(&s->w, at);
  if (!n || !tkc_reads_memory(&s->w, at)) return;
  above down = in_role(up, TK_ROLE_INDEX);
  if (!tkc_node_is(n, TK_I_ADDPTR)) {
    show(s, at, &down);
    return;
  }
  tkc_operands o = {0};
  tkc_slice_operands(&s->w.arena, n, 0, at.lane, &o);
  for (size_t i = 0; i < o.n; i++)
    show_address(s, tkc_operand_at(n, o.items[i]), up);
}

/* What an access to memory got. */
static void set_memory(slice *s, tk_step *x, const tkc_node *n, size_t lane) {
  uint64_t addr;
  bool load = tkc_node_is(n, TK_I_LOAD), loaded = tkc_loaded(n, lane, &addr);
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

/* Adds the two sides of a comparison. For other operations the steps below show
 * the operands. */
static void set_sides(slice *s, tk_step *x, const tkc_node *n, size_t lane) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  x->sign = signs[tk_compare_op(n->in)];
  for (int k = 0; k < 2; k++) {
    const tk_type *type = tkc_node_arg_type(n, k);
    x->sides[k] = sliced_lane(s, type, &n->vals[k],
                              (size_t)tk_numel(type) > lane ? lane : 0);
  }
}

/* Adds a step for a node, which is a leaf, or an instruction and how it came to
 * its value. */
static tk_step *add_node(slice *s, const tkc_node *n, tkc_at at,
                         const above *up, tk_step_kind kind) {
  tk_step *x = add_step(s, up, kind);
  if (!x) return NULL;
  set_value(s, x, n, at);
  if (n->kind == TKC_NODE_LOOP) {
    x->trip = n->trip;
    x->loop = tk_place_of(n->func->src, n->loop->span);
  }
  if (n->kind != TKC_NODE_INST) return x;
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

/* "x[3]" of a term: the element that was read, or its name. */
static tk_factor factor_of(slice *s, const tkc_node *n, tkc_operand o) {
  tkc_at at = tkc_settle(&s->w, tkc_operand_at(n, o));
  const tkc_node *m = tkc_at_node(&s->w, at);
  uint64_t addr;
  tk_factor f = {.text = ""};
  f.value =
      sliced_lane(s, tkc_node_arg_type(n, o.arg), &n->vals[o.arg], o.lane);
  if (!m) return f;
  f.has_element = tkc_loaded(m, at.lane, &addr);
  if (f.has_element) {
    f.element = node_element(s, m, at.lane);
    f.text = f.element.text;
    return f;
  }
  int64_t index[TK_MAX_RANK];
  f.text = name_of(m, tkc_ref_result(at.ref));
  if (!f.text) {
    f.text = source_of(s, m);
    return f;
  }
  int rank =
      lane_index(tkc_node_type(m, tkc_ref_result(at.ref)), at.lane, index);
  for (int i = 0; i < rank; i++)
    f.text = tk_arena_printf(s->arena, "%s%s%lld", f.text, i ? ", " : "[",
                             (long long)index[i]);
  if (rank) f.text = tk_arena_printf(s->arena, "%s]", f.text);
  return f;
}

static double operand_double(const tkc_node *n, tkc_operand o) {
  const tk_type *type = tkc_node_arg_type(n, o.arg);
  return tk_lane_double((tk_dtype)type->elem,
                        lane_bytes(type, &n->vals[o.arg], o.lane));
}

/* Adds a term; returns whether it needs no steps below because nothing of it
 * was computed. */
static bool add_term(slice *s, const tkc_node *n, const tkc_operands *o,
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
  x->product = tkc_node_is(n, TK_I_DOT);
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

static void show_terms(slice *s, const tkc_node *n, tkc_at at,
                       const tkc_operands *o, const above *up) {
  size_t first = o->n - o->terms, count = o->each ? o->terms / o->each : 0;
  bool simple = true;
  for (size_t i = 0; i < count && i < TERMS; i++)
    simple &= add_term(s, n, o, first + i * o->each, up);
  if (count > TERMS) {
    tk_step *x = add_step(s, up, TK_STEP_MORE);
    if (x) x->count = count - TERMS;
  }
  if (!s->folded) show_reads(s, at, (tkc_at){0, 0}, up);
  if (simple) return;
  above down = in_role(up, count > 1 ? TK_ROLE_FIRST_TERM : TK_ROLE_OPERAND);
  s->folded++;
  for (size_t k = 0; k < o->each; k++)
    show_share(s, tkc_operand_at(n, o->items[first + k]), &down, o->each - k);
  s->folded--;
}

/* Sets how many terms an operation has, or which of them it picked. */
static void set_count(tk_step *x, const tkc_node *n, const tkc_operands *o) {
  size_t count = o->each ? o->terms / o->each : 0;
  if (o->each && !count && o->n == 1) {
    int op = tk_inst_reduction(n->in);
    x->picked_of = (uint64_t)tk_inst_axis_lanes(n->in);
    x->picked_smallest = op == TK_R_MIN || op == TK_R_MIN_NAN;
    x->picked_rank =
        lane_index(tkc_node_arg_type(n, 0), o->items[0].lane, x->picked);
  }
  if (count >= 2) x->count = count;
}

/* ---- loops --------------------------------------------------------------- */

typedef struct chain {
  TK_VEC(tkc_at) at; /* newest first */
  tkc_path path;
} chain;

static void find_chain(slice *s, tkc_at at, chain *c) {
  TK_PUSH(&s->w.arena, &c->at, at);
  tkc_path p;
  while (c->at.n < MOST_TRIPS && tkc_recurs(&s->w, at, &p)) {
    c->path = p;
    at = p.to;
    TK_PUSH(&s->w.arena, &c->at, at);
  }
}

static const tkc_node *chain_node(slice *s, const chain *c, size_t i) {
  return tkc_at_node(&s->w, c->at.items[i]);
}

static void set_trips(slice *s, tk_step *x, const chain *c) {
  const tkc_node *last = chain_node(s, c, 0);
  const tkc_node *first = chain_node(s, c, c->at.n - 1);
  x->nested = last->outer && last->outer_trip != first->outer_trip;
  x->times = c->at.n;
  x->trip = x->nested ? first->outer_trip : first->trip;
  x->last_trip = x->nested ? last->outer_trip : last->trip;
  x->loop = tk_place_of(last->user_func->src,
                        x->nested ? last->outer->span : last->loop->span);
}

/* Adds the values before the loop, after its first trips, and after its
 * last. */
static void add_trips(slice *s, const chain *c, tkc_at base, const above *up) {
  const tkc_node *n = tkc_at_node(&s->w, base);
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

static void show_operands(slice *s, const tkc_node *n, tkc_at at,
                          const above *up);

/* Adds one step for all trips; below it are the initial value, the last trip,
 * and all that was read. */
static void show_loop(slice *s, const chain *c, const above *up) {
  tkc_at at = c->at.items[0], outer = s->base;
  const tkc_node *n = tkc_at_node(&s->w, at);
  tkc_at first = c->at.items[c->at.n - 1];
  tkc_at base = tkc_path_follow(&s->w, first, &c->path);
  tk_step *x = add_node(s, n, at, up, TK_STEP_LOOP);
  if (!x) return;
  set_trips(s, x, c);
  above down = below(s, up);
  add_trips(s, c, base, &down);
  if (!s->folded) show_reads(s, at, base, &down);
  above before = in_role(&down, TK_ROLE_BEFORE_LOOP);
  show_share(s, base, &before, 3);
  s->base = c->at.items[1];
  s->folded++;
  show_operands(s, n, at, &down);
  s->folded--;
  s->base = outer;
}

/* ---- the tree ------------------------------------------------------------ */

static bool hidden(slice *s, const tkc_node *n, tkc_operand o) {
  tkc_at at = tkc_operand_at(n, o);
  bool picks = n->in->op == TK_I_SELECT || n->in->op == TK_I_COND ||
               n->in->op == TK_I_LOAD || n->in->op == TK_I_STORE;
  const tkc_node *x = tkc_at_node(&s->w, at);
  bool base = x && x->kind == TKC_NODE_ARG && tkc_node_type(x, 0)->ptr;
  if (picks) return false;
  return base || tkc_is_const(&s->w, at);
}

static tk_step_role role_of(const tkc_node *n, tkc_operand o) {
  if (n->in->op == TK_I_LOAD) return o.arg == 1 ? TK_ROLE_MASK : TK_ROLE_OTHER;
  if (n->in->op == TK_I_GATHER)
    return o.address ? TK_ROLE_INDEX : TK_ROLE_OPERAND;
  bool chooses = n->in->op == TK_I_SELECT || n->in->op == TK_I_COND;
  return !chooses     ? TK_ROLE_OPERAND
         : o.arg == 0 ? TK_ROLE_CONDITION
                      : TK_ROLE_CHOSEN;
}

static void show_operand(slice *s, const tkc_node *n, tkc_operand o,
                         const above *up, size_t left) {
  if (o.address && n->in->op != TK_I_GATHER) {
    show_address(s, tkc_operand_at(n, o), up);
    return;
  }
  above down = in_role(up, role_of(n, o));
  show_share(s, tkc_operand_at(n, o), &down, left);
}

static void show_operands(slice *s, const tkc_node *n, tkc_at at,
                          const above *up) {
  tkc_operands o = {0};
  uint64_t addr;
  tkc_slice_operands(&s->w.arena, n, tkc_ref_result(at.ref), at.lane, &o);
  bool old = n->in->op == TK_I_ATOMIC || n->in->op == TK_I_CAS;
  size_t few = old ? 0 : o.n - o.terms;
  for (size_t i = 0; i < few; i++)
    if (!hidden(s, n, o.items[i]))
      show_operand(s, n, o.items[i], up, few - i + (o.terms > 0));
  if (old || tkc_loaded(n, at.lane, &addr)) show_writer(s, n, at.lane, up);
  if (o.terms && !old) show_terms(s, n, at, &o, up);
}

static void add_unknown(slice *s, const above *up) {
  tk_step *x = add_step(s, up, TK_STEP_UNKNOWN);
  if (!x) return;
  x->not_kept = s->w.x->dropped > 0;
  if (x->not_kept) x->count = TKC_TRACE_MIB;
}

/* If a lane already has a step further up, shows a reference to it; returns
 * false if it has none. */
static bool show_again(slice *s, tkc_at at, const tkc_node *n,
                       const above *up) {
  bool loop = at.ref == s->base.ref && at.lane == s->base.lane;
  bool again = !tkc_seen_add(&s->w, &s->shown, at);
  if (!loop && (!again || n->kind != TKC_NODE_INST || !n->nargs)) return false;
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

/* Shows a value and what it was made of: as a step, as a reference to a step
 * further up, or as one step for all trips of a loop. */
static void show(slice *s, tkc_at at, const above *up) {
  at = tkc_settle(&s->w, at);
  const tkc_node *n = tkc_at_node(&s->w, at);
  chain c = {0};
  if (!n) {
    add_unknown(s, up);
    return;
  }
  if (show_again(s, at, n, up)) return;
  bool inside = s->base.ref && tkc_leads_to(&s->w, at, s->base);
  if (!inside) find_chain(s, at, &c);
  if (c.at.n > 2) {
    show_loop(s, &c, up);
    return;
  }
  tk_step *x = add_node(s, n, at, up,
                        n->kind == TKC_NODE_ARG    ? TK_STEP_ARGUMENT
                        : n->kind == TKC_NODE_LOOP ? TK_STEP_LOOP_VARIABLE
                                                   : TK_STEP_VALUE);
  if (!x || n->kind != TKC_NODE_INST) return;
  tkc_operands o = {0};
  tkc_slice_operands(&s->w.arena, n, tkc_ref_result(at.ref), at.lane, &o);
  set_count(x, n, &o);
  above down = below(s, up);
  show_operands(s, n, at, &down);
}

static size_t lane_for(const tkc_node *n, int k, size_t lane) {
  return tki_is_uniform(&n->vals[k]) ? 0 : lane;
}

/* Shows how the address of a load was made. */
static tk_place place_of_address(slice *s, const tkc_node *n, size_t lane) {
  tkc_at at = tkc_settle(&s->w, (tkc_at){n->refs[0], lane_for(n, 0, lane)});
  const tkc_node *p = tkc_at_node(&s->w, at);
  if (!p || p->kind != TKC_NODE_INST) return (tk_place){0};
  return tk_place_of(p->user_func->src, p->user);
}

typedef struct listing {
  slice *s;
  const above *up;
} listing;

static void add_reads(void *ud, const tkc_reads *r) {
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

static void show_reads(slice *s, tkc_at at, tkc_at base, const above *up) {
  listing l = {s, up};
  tkc_slice_loads(&s->w, at, base, add_reads, &l);
}

/* ---- the whole ----------------------------------------------------------- */

static slice new_slice(tkc_trace *x, tk_arena *a, size_t most) {
  slice s = {
      .w = {.x = x}, .arena = a, .room = most, .text = &x->t->launch->text};
  tk_arena_init(&s.w.arena, x->t->env);
  s.steps = TK_NEWN(a, tk_step, most);
  s.at = TK_NEWN(&s.w.arena, tkc_at, most);
  return s;
}

/* Sets for each step which ones are directly below it. */
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

void tkc_slice_value(tkc_trace *x, tk_arena *a, tkc_ref r, size_t lane,
                     size_t most, tk_explanation *out) {
  slice s = new_slice(x, a, most);
  above top = {.parent = -1};
  out->scope = -1;
  show(&s, (tkc_at){r, lane}, &top);
  end_slice(&s, out);
}

/* Shows what memory held before an atomic operation. */
static void show_before(slice *s, const tkc_node *n, size_t lane,
                        const above *up) {
  tk_step *x = add_step(s, up, TK_STEP_HELD);
  if (!x) return;
  set_place(x, n);
  x->has_element = true;
  x->element = node_element(s, n, lane);
  x->value = sliced_lane(s, tkc_node_type(n, 0), tkc_node_value(n, 0), lane);
  above down = below(s, up);
  show_writer(s, n, lane, &down);
}

/* Shows a few steps of the offset of an address. */
static void show_where(slice *s, const tkc_node *n, size_t lane,
                       const above *up) {
  tkc_at at = tkc_settle(&s->w, (tkc_at){n->refs[0], lane_for(n, 0, lane)});
  const tkc_node *p = tkc_at_node(&s->w, at);
  above down = in_role(up, TK_ROLE_ADDRESS);
  if (p && (p->kind != TKC_NODE_INST || p->nargs)) show(s, at, &down);
}

void tkc_slice_store(tkc_trace *x, tk_arena *a, tkc_ref store, size_t lane,
                     size_t most, tk_explanation *out) {
  slice s = new_slice(x, a, most);
  const tkc_node *n = tkc_trace_node(x, store);
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
    show(&s, (tkc_at){n->refs[value], lane_for(n, value, lane)}, &down);
    s.floor = most / 8;
    down.role = TK_ROLE_MASK;
    if (n->nargs > mask)
      show(&s, (tkc_at){n->refs[mask], lane_for(n, mask, lane)}, &down);
    s.floor = 0;
    show_where(&s, n, lane, &top);
  } else {
    add_unknown(&s, &top);
  }
  end_slice(&s, out);
}
