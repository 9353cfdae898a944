/* slice.c - a backward slice as a tree of lines.
 *
 * A line is a value, the text in the source that gave it, and where; below
 * it stand the values it was made of.  What only moves lanes has no line.  A
 * value that each trip of a loop makes from that of the trip before has one
 * line for all trips; of a long sum the first terms are shown.  Lines are
 * shared out among the branches of the tree, so that none takes them all.
 */
#include "interp/check/slice.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "interp/check/slice_walk.h"
#include "interp/site.h"

enum {
  TERMS = 4,
  TRIPS = 3,
  TEXT = 48,
  DEEPEST = 14,
  WIDTH = 80,
  MOST_TRIPS = 1 << 16
};

static const char OTHER[] = "other: ";

typedef struct slice {
  tkc_walk w;
  tk_buf *out;
  tkc_seen shown;
  tkc_at base;          /* shown before: what a loop's last trip began with */
  size_t lines;         /* that may still be written */
  size_t floor;         /* lines kept for other branches */
  size_t start, column; /* of the line being written */
  int indent, folded;
  bool cut;
} slice;

/* Where a line stands: below whom. */
typedef struct above {
  int depth;
  const tk_func *func;
  int line;
  const char *prefix;
} above;

/* ---- pieces -------------------------------------------------------------- */

static void put_lane(tk_buf *out, const tk_type *type, size_t lane) {
  size_t below = (size_t)tk_numel(type);
  if (!type->rank) return;
  for (int i = 0; i < type->rank; i++) {
    size_t n = (size_t)type->shape[i];
    below /= n;
    tk_buf_printf(out, "%s%zu", i ? ", " : "[", lane / below % n);
  }
  tk_buf_putc(out, ']');
}

static const void *lane_of(const tk_type *type, const tki_val *v, size_t lane) {
  return tki_lane(v, lane, tk_lane_size(type));
}

static void put_value(slice *s, const tk_type *type, tki_val *v, size_t lane) {
  const void *p = lane_of(type, v, lane);
  if (!type->ptr) {
    tk_format_lane(s->out, (tk_dtype)type->elem, p);
    return;
  }
  uint64_t addr;
  memcpy(&addr, p, sizeof addr);
  bool known = v->region != TKI_ANY;
  tki_place_in(s->out,
               known ? &s->w.x->t->regions[v->region]
                     : tki_region_at(s->w.x->t, addr, 1),
               addr);
}

static void put_result(slice *s, const tkc_node *n, tkc_at at) {
  int k = tkc_ref_result(at.ref);
  put_value(s, tkc_node_type(n, k), tkc_node_value(n, k), at.lane);
}

/* The source of an expression on one line. */
static void put_text(slice *s, const tkc_node *n) {
  const tk_source *src = n->func->src;
  bool blank = false;
  size_t put = 0;
  for (uint32_t i = n->in->span.lo; i < n->in->span.hi && put < TEXT; i++) {
    char c = src->text[i];
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
      blank = true;
      continue;
    }
    if (blank) tk_buf_putc(s->out, ' ');
    put += blank;
    blank = false;
    tk_buf_putc(s->out, c);
    put++;
  }
  if (put >= TEXT) tk_buf_puts(s->out, "...");
}

static const char *name_of(const tkc_node *n, int result) {
  int slot = n->kind == TKC_NODE_INST && n->in->op != TK_I_COND
                 ? n->in->res[result]
                 : n->slot;
  return n->func->slots[slot].name;
}

/* What a value is called: "acc[3, 5]", or its expression. */
static void put_label(slice *s, const tkc_node *n, tkc_at at) {
  int k = tkc_ref_result(at.ref);
  const char *name = name_of(n, k);
  if (name) {
    tk_buf_puts(s->out, name);
    put_lane(s->out, tkc_node_type(n, k), at.lane);
  } else {
    put_text(s, n);
  }
}

static void put_place(slice *s, const above *up, const tkc_node *n) {
  const tk_func *f = n->user_func;
  int line = tk_source_line(f->src, n->user.lo);
  if (f != up->func || line != up->line)
    tk_buf_printf(s->out, ", line %d", line);
  if (f != up->func && f != f->program->kernel)
    tk_buf_printf(s->out, " in %s", f->name);
  if (n->func->library) tk_buf_printf(s->out, " (tl.%s)", n->func->name);
}

static above below(const above *up, const tkc_node *n) {
  const tk_func *f = n->user_func;
  return (above){up->depth + 1, f, tk_source_line(f->src, n->user.lo), ""};
}

/* ---- lines --------------------------------------------------------------- */

static bool begin(slice *s, const above *up) {
  if (s->lines <= s->floor) {
    s->cut = true;
    return false;
  }
  s->lines--;
  int depth = up->depth < DEEPEST ? up->depth : DEEPEST;
  s->start = s->out->n;
  s->column = (size_t)(s->indent + 2 * depth);
  tk_buf_pad(s->out, ' ', s->column);
  tk_buf_puts(s->out, up->prefix);
  return true;
}

/* Where to break a line that is too long: at the last blank that fits, if
 * that is not among the first. */
static size_t break_at(const tk_buf *out, size_t start, size_t least) {
  size_t at = start + WIDTH;
  while (at > start + least && out->s[at] != ' ') at--;
  return at > start + least ? at : 0;
}

static void end(slice *s) {
  size_t start = s->start, least = s->column + 16, at;
  while (s->out->n - start > WIDTH &&
         (at = break_at(s->out, start, least)) != 0) {
    size_t n = s->out->n - at - 1;
    char *rest = tk_arena_strndup(&s->w.arena, s->out->s + at + 1, n);
    s->out->n = at;
    tk_buf_putc(s->out, '\n');
    start = s->out->n;
    tk_buf_pad(s->out, ' ', s->column + 4);
    tk_buf_add(s->out, rest, n);
  }
  tk_buf_putc(s->out, '\n');
}

static void show(slice *s, tkc_at at, const above *up);

/* Lines for one of `left` branches that are still to come. */
static void show_share(slice *s, tkc_at at, const above *up, size_t left) {
  size_t floor = s->floor, mine = (s->lines - floor + left - 1) / left;
  if (s->lines <= floor) mine = 0;
  if (!mine) s->cut = true;
  if (!mine) return;
  s->floor = s->lines - mine;
  show(s, at, up);
  s->floor = floor;
}

static void put_loads(slice *s, tkc_at at, tkc_at base, const above *up);

/* ---- memory -------------------------------------------------------------- */

static void put_store_line(slice *s, const tkc_writer *w) {
  const tki_site_info *i = tki_site_at(s->w.x->t, w->site);
  int line = tk_source_line(i->func->src, i->inst->span.lo);
  size_t n;
  const char *text = tk_source_line_text(i->func->src, line, &n);
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  tk_buf_printf(s->out, " at line %d: %.*s", line, (int)(n < TEXT ? n : TEXT),
                text);
}

/* Who wrote what a lane read, earlier in this launch. */
static void show_writer(slice *s, const tkc_node *n, size_t lane,
                        const above *up) {
  const tkc_writer *w = tkc_node_writer(s->w.x, n, lane);
  tkc_at stored;
  above down = *up;
  if (!w) return;
  if (tkc_follow_store(&s->w, n, lane, &stored)) {
    down.prefix = "stored before: ";
    show(s, stored, &down);
    return;
  }
  down.prefix = "";
  if (!begin(s, &down)) return;
  tk_buf_puts(s->out, "written by ");
  if (w->program == s->w.x->program)
    tk_buf_puts(s->out, "this program");
  else
    tk_buf_puts(s->out, "program "),
        tki_place_program(s->out, s->w.x->t, w->program);
  put_store_line(s, w);
  end(s);
}

/* The parts of an address that were read from memory. */
static void show_address(slice *s, tkc_at at, const above *up) {
  at = tkc_settle(&s->w, at);
  const tkc_node *n = tkc_at_node(&s->w, at);
  if (!n || !tkc_reads_memory(&s->w, at)) return;
  above down = *up;
  down.prefix = "index: ";
  if (!tkc_node_is(n, TK_I_ADDPTR)) {
    show(s, at, &down);
    return;
  }
  tkc_operands o = {0};
  tkc_slice_operands(&s->w.arena, n, 0, at.lane, &o);
  for (size_t i = 0; i < o.n; i++)
    show_address(s, tkc_operand_at(n, o.items[i]), up);
}

static void put_element(slice *s, const tkc_node *n, size_t lane) {
  tki_place_in(s->out, tkc_node_region(&s->w, n, lane),
               tkc_node_address(n, lane));
}

/* ": A[3, 5], mask true" */
static void put_access(slice *s, const tkc_node *n, size_t lane) {
  uint64_t addr;
  bool loaded = tkc_loaded(n, lane, &addr);
  tk_buf_puts(s->out, ": ");
  if (!tkc_node_is(n, TK_I_LOAD)) {
    tk_buf_puts(s->out, "what ");
    put_element(s, n, lane);
    tk_buf_puts(s->out, " held");
    return;
  }
  if (loaded)
    put_element(s, n, lane);
  else
    tk_buf_puts(s->out, tk_load_other(n->in) >= 0
                            ? "masked off, so other"
                            : "masked off, no other: undefined");
  if (loaded && tk_load_mask(n->in) >= 0) tk_buf_puts(s->out, ", mask true");
}

/* ---- kinds of lines ------------------------------------------------------ */

static void put_leaf(slice *s, const tkc_node *n) {
  if (n->kind == TKC_NODE_ARG) {
    tk_buf_puts(s->out, ", an argument");
    return;
  }
  tk_buf_printf(s->out, ", trip %" PRIu64 " of the loop at line %d", n->trip,
                tk_source_line(n->func->src, n->loop->span.lo));
}

/* Both sides of a comparison; of other operations the children tell. */
static void put_sides(slice *s, const tkc_node *n, size_t lane) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  for (int k = 0; k < 2; k++) {
    const tk_type *type = tkc_node_arg_type(n, k);
    if (k) tk_buf_printf(s->out, " %s ", signs[tk_compare_op(n->in)]);
    put_value(s, type, &n->vals[k], (size_t)tk_numel(type) > lane ? lane : 0);
  }
}

static void put_what(slice *s, const tkc_node *n, tkc_at at) {
  bool named = name_of(n, tkc_ref_result(at.ref)) != NULL;
  if (n->in->op == TK_I_LOAD || n->in->op == TK_I_ATOMIC ||
      n->in->op == TK_I_CAS) {
    put_access(s, n, at.lane);
    return;
  }
  if (named) tk_buf_puts(s->out, ": ");
  if (named) put_text(s, n);
  if (n->in->op != TK_I_COMPARE) return;
  tk_buf_puts(s->out, named ? ", " : ": ");
  put_sides(s, n, at.lane);
}

/* "acc[3] = 0.5: acc + x, line 19"; of a constant among operands, which has no
 * text of its own, the value alone. */
static bool put_line(slice *s, const tkc_node *n, tkc_at at, const above *up) {
  if (!begin(s, up)) return false;
  bool plain = tkc_node_is(n, TK_I_CONST) && !strcmp(up->prefix, OTHER);
  if (!plain) put_label(s, n, at);
  if (!plain) tk_buf_puts(s->out, " = ");
  put_result(s, n, at);
  if (n->kind == TKC_NODE_INST)
    put_what(s, n, at);
  else
    put_leaf(s, n);
  if (n->kind == TKC_NODE_INST) put_place(s, up, n);
  return true;
}

/* ---- long operations ------------------------------------------------------
 */

/* "x[3]" of a term: the element that was read, or its name. */
static bool put_term_name(slice *s, tkc_at at) {
  at = tkc_settle(&s->w, at);
  const tkc_node *n = tkc_at_node(&s->w, at);
  uint64_t addr;
  if (!n) return false;
  if (tkc_loaded(n, at.lane, &addr)) {
    put_element(s, n, at.lane);
    return true;
  }
  put_label(s, n, at);
  return false;
}

static double operand_double(const tkc_node *n, tkc_operand o) {
  const tk_type *type = tkc_node_arg_type(n, o.arg);
  return tk_lane_double((tk_dtype)type->elem,
                        lane_of(type, &n->vals[o.arg], o.lane));
}

static bool put_term(slice *s, const tkc_node *n, const tkc_operands *o,
                     size_t first, const above *up) {
  const char *between = tkc_node_is(n, TK_I_DOT) ? " * " : ", ";
  bool simple = true;
  if (!begin(s, up)) return false;
  for (size_t k = 0; k < o->each; k++) {
    if (k) tk_buf_puts(s->out, between);
    simple &= put_term_name(s, tkc_operand_at(n, o->items[first + k]));
  }
  tk_buf_puts(s->out, " = ");
  for (size_t k = 0; k < o->each; k++) {
    tkc_operand x = o->items[first + k];
    if (k) tk_buf_puts(s->out, between);
    put_value(s, tkc_node_arg_type(n, x.arg), &n->vals[x.arg], x.lane);
  }
  if (tkc_node_is(n, TK_I_DOT)) {
    tk_buf_puts(s->out, " = ");
    float p = (float)(operand_double(n, o->items[first]) *
                      operand_double(n, o->items[first + 1]));
    tk_format_lane(s->out, TK_FP32, &p);
  }
  end(s);
  return simple;
}

static void show_terms(slice *s, const tkc_node *n, tkc_at at,
                       const tkc_operands *o, const above *up) {
  size_t first = o->n - o->terms, count = o->each ? o->terms / o->each : 0;
  bool simple = true;
  for (size_t i = 0; i < count && i < TERMS; i++)
    simple &= put_term(s, n, o, first + i * o->each, up);
  if (count > TERMS && begin(s, up)) {
    tk_buf_printf(s->out, "and %zu more", count - TERMS);
    end(s);
  }
  if (!s->folded) put_loads(s, at, (tkc_at){0, 0}, up);
  if (simple) return;
  above down = *up;
  down.prefix = count > 1 ? "the first: " : "";
  s->folded++;
  for (size_t k = 0; k < o->each; k++)
    show_share(s, tkc_operand_at(n, o->items[first + k]), &down, o->each - k);
  s->folded--;
}

/* ", the largest of 16, lane [7]" */
static void put_picked(slice *s, const tkc_node *n, size_t lane) {
  bool least = tk_inst_reduction(n->in) == TK_R_MIN ||
               tk_inst_reduction(n->in) == TK_R_MIN_NAN;
  tk_buf_printf(s->out, ", the %s of %d, lane ", least ? "smallest" : "largest",
                (int)tk_inst_axis_lanes(n->in));
  put_lane(s->out, tkc_node_arg_type(n, 0), lane);
}

static void put_count(slice *s, const tkc_node *n, const tkc_operands *o) {
  size_t count = o->each ? o->terms / o->each : 0;
  if (o->each && !count && o->n == 1) put_picked(s, n, o->items[0].lane);
  if (count < 2) return;
  const char *what = tkc_node_is(n, TK_I_DOT)         ? "products"
                     : tkc_node_is(n, TK_I_HISTOGRAM) ? "lanes counted"
                                                      : "lanes";
  tk_buf_printf(s->out, ", %zu %s", count, what);
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

static void put_trips(slice *s, const chain *c) {
  const tkc_node *last = chain_node(s, c, 0);
  const tkc_node *first = chain_node(s, c, c->at.n - 1);
  const tk_source *src = last->user_func->src;
  int line = tk_source_line(src, last->loop->span.lo);
  if (last->outer && last->outer_trip != first->outer_trip)
    tk_buf_printf(s->out,
                  ", %zu times in trips %" PRIu64 "..%" PRIu64
                  " of the loop at line %d",
                  c->at.n, first->outer_trip, last->outer_trip,
                  tk_source_line(src, last->outer->span.lo));
  else
    tk_buf_printf(s->out,
                  ", trips %" PRIu64 "..%" PRIu64 " of the loop at line %d",
                  first->trip, last->trip, line);
}

static void put_steps(slice *s, const chain *c, tkc_at base, const above *up) {
  const tkc_node *n = tkc_at_node(&s->w, base);
  if (!begin(s, up)) return;
  tk_buf_puts(s->out, "after each trip: ");
  if (n) put_result(s, n, base);
  for (size_t i = c->at.n; i-- > 0;) {
    bool shown = i + TRIPS >= c->at.n || i < 1;
    if (!shown && i + TRIPS + 1 == c->at.n) tk_buf_puts(s->out, ", ...");
    if (!shown) continue;
    tk_buf_puts(s->out, i + 1 == c->at.n ? (n ? " -> " : "") : ", ");
    put_result(s, chain_node(s, c, i), c->at.items[i]);
  }
  end(s);
}

static void show_operands(slice *s, const tkc_node *n, tkc_at at,
                          const above *up);

/* One line for all trips; below it the start, the last trip, and everything
 * that was read. */
static void show_loop(slice *s, const chain *c, const above *up) {
  tkc_at at = c->at.items[0], outer = s->base;
  const tkc_node *n = tkc_at_node(&s->w, at);
  tkc_at first = c->at.items[c->at.n - 1];
  tkc_at base = tkc_path_follow(&s->w, first, &c->path);
  if (!begin(s, up)) return;
  put_label(s, n, at);
  tk_buf_puts(s->out, " = ");
  put_result(s, n, at);
  put_what(s, n, at);
  put_place(s, up, n);
  put_trips(s, c);
  end(s);
  above down = below(up, n);
  put_steps(s, c, base, &down);
  if (!s->folded) put_loads(s, at, base, &down);
  down.prefix = "before the loop: ";
  show_share(s, base, &down, 3);
  down.prefix = "";
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

static const char *prefix_of(const tkc_node *n, tkc_operand o) {
  if (n->in->op == TK_I_LOAD) return o.arg == 1 ? "mask: " : OTHER;
  if (n->in->op == TK_I_GATHER) return o.address ? "index: " : "";
  bool chooses = n->in->op == TK_I_SELECT || n->in->op == TK_I_COND;
  return chooses && o.arg == 0 ? "as " : chooses ? "takes " : "";
}

static void show_operand(slice *s, const tkc_node *n, tkc_operand o,
                         const above *up, size_t left) {
  above down = *up;
  if (o.address && n->in->op != TK_I_GATHER) {
    show_address(s, tkc_operand_at(n, o), up);
    return;
  }
  down.prefix = prefix_of(n, o);
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

static void put_unknown(slice *s, const above *up) {
  if (!begin(s, up)) return;
  tk_buf_printf(s->out,
                s->w.x->dropped ? "its history is not kept: a trace holds "
                                  "%d MiB at most"
                                : "where it came from is not known",
                TKC_TRACE_MIB);
  end(s);
}

static bool show_again(slice *s, tkc_at at, const tkc_node *n,
                       const above *up) {
  bool loop = at.ref == s->base.ref && at.lane == s->base.lane;
  bool again = !tkc_seen_add(&s->w, &s->shown, at);
  if (!loop && (!again || n->kind != TKC_NODE_INST || !n->nargs)) return false;
  if (!begin(s, up)) return true;
  put_label(s, n, at);
  tk_buf_puts(s->out, " = ");
  put_result(s, n, at);
  if (loop)
    tk_buf_printf(s->out, ", after trip %" PRIu64, n->trip);
  else
    tk_buf_puts(s->out, ", see above");
  end(s);
  return true;
}

static void show(slice *s, tkc_at at, const above *up) {
  at = tkc_settle(&s->w, at);
  const tkc_node *n = tkc_at_node(&s->w, at);
  chain c = {0};
  if (!n) {
    put_unknown(s, up);
    return;
  }
  if (show_again(s, at, n, up)) return;
  bool inside = s->base.ref && tkc_leads_to(&s->w, at, s->base);
  if (!inside) find_chain(s, at, &c);
  if (c.at.n > 2) {
    show_loop(s, &c, up);
    return;
  }
  if (!put_line(s, n, at, up)) return;
  if (n->kind != TKC_NODE_INST) {
    end(s);
    return;
  }
  tkc_operands o = {0};
  tkc_slice_operands(&s->w.arena, n, tkc_ref_result(at.ref), at.lane, &o);
  put_count(s, n, &o);
  end(s);
  above down = below(up, n);
  show_operands(s, n, at, &down);
}

typedef struct listing {
  slice *s;
  const above *up;
} listing;

static void put_load(void *ud, const char *text) {
  listing *l = ud;
  if (!begin(l->s, l->up)) return;
  tk_buf_printf(l->s->out, "reads %s", text);
  end(l->s);
}

static void put_loads(slice *s, tkc_at at, tkc_at base, const above *up) {
  listing l = {s, up};
  tkc_slice_loads(&s->w, at, base, put_load, &l);
}

/* ---- the whole ----------------------------------------------------------- */

static slice new_slice(tkc_trace *x, tk_buf *out, int indent, size_t lines) {
  slice s = {.w = {.x = x}, .out = out, .indent = indent, .lines = lines};
  tk_arena_init(&s.w.arena, x->t->env);
  return s;
}

static void end_slice(slice *s) {
  if (s->cut) {
    tk_buf_pad(s->out, ' ', (size_t)s->indent);
    tk_buf_puts(s->out, "... and more than is shown\n");
  }
  tk_arena_free(&s->w.arena);
}

void tkc_slice_text(tkc_trace *x, tk_buf *out, tkc_ref r, size_t lane,
                    int indent, size_t lines) {
  slice s = new_slice(x, out, indent, lines);
  above top = {.prefix = ""};
  show(&s, (tkc_at){r, lane}, &top);
  end_slice(&s);
}

/* What stands in memory before an atomic operation. */
static void show_before(slice *s, const tkc_node *n, size_t lane,
                        const above *up) {
  if (!begin(s, up)) return;
  tki_val *v = tkc_node_value(n, 0);
  put_element(s, n, lane);
  tk_buf_puts(s->out, " held ");
  put_value(s, tkc_node_type(n, 0), v, lane);
  tk_buf_puts(s->out, " before");
  end(s);
  above down = *up;
  down.depth++;
  show_writer(s, n, lane, &down);
}

static size_t lane_for(const tkc_node *n, int k, size_t lane) {
  return tki_is_uniform(&n->vals[k]) ? 0 : lane;
}

/* The offset of an address, a few lines of it. */
static void show_where(slice *s, const tkc_node *n, size_t lane, above up) {
  tkc_at at = tkc_settle(&s->w, (tkc_at){n->refs[0], lane_for(n, 0, lane)});
  const tkc_node *p = tkc_at_node(&s->w, at);
  up.prefix = "address: ";
  if (p && (p->kind != TKC_NODE_INST || p->nargs)) show(s, at, &up);
}

void tkc_slice_store(tkc_trace *x, tk_buf *out, tkc_ref store, size_t lane,
                     int indent, size_t lines) {
  slice s = new_slice(x, out, indent, lines);
  const tkc_node *n = tkc_trace_node(x, store);
  above up = {.prefix = ""};
  if (n) {
    above down = {0, n->user_func,
                  tk_source_line(n->user_func->src, n->user.lo), ""};
    bool cas = n->in->op == TK_I_CAS;
    int value = cas ? 2 : 1;
    int mask = cas ? 3 : 2;
    if (n->in->op != TK_I_STORE) show_before(&s, n, lane, &down);
    down.prefix = n->in->op == TK_I_STORE ? "" : "operand: ";
    s.floor = lines / 4;
    show(&s, (tkc_at){n->refs[value], lane_for(n, value, lane)}, &down);
    s.floor = lines / 8;
    down.prefix = "mask: ";
    if (n->nargs > mask)
      show(&s, (tkc_at){n->refs[mask], lane_for(n, mask, lane)}, &down);
    s.floor = 0;
    show_where(&s, n, lane, down);
  } else {
    put_unknown(&s, &up);
  }
  end_slice(&s);
}
