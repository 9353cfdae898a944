/* result.c - what runs left behind, as the public structs say it: by function
 * and line, and as a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

typedef struct reading {
  tk_profile *p;
  tk_arena *arena;
  double tick; /* seconds */
  TK_VEC(tk_profile_node) nodes;
} reading;

static void add_profile_counts(tk_profile_counts *to,
                               const tk_profile_counts *c) {
  to->calls += c->calls;
  to->seconds += c->seconds;
  to->read += c->read;
  to->written += c->written;
  to->lanes += c->lanes;
  to->off += c->off;
  to->flops += c->flops;
  to->blocks += c->blocks;
  to->known += c->known;
  to->rows += c->rows;
}

/* There may be nothing to sort, and then no array. */
static void sort_items(void *items, size_t n, size_t size,
                       int (*compare)(const void *a, const void *b)) {
  if (n) qsort(items, n, size, compare);
}

/* ---- operations of a function, by line ----------------------------------- */

/* An operation of a function, in any of its frames. */
typedef struct entry {
  const tkf_op *op;
  const tkf_function *library; /* of tkdbg's own that it stands in, or NULL */
  int line;
} entry;

typedef TK_VEC(entry) entries;

/* Operations of a frame, and of tkdbg's own functions that it calls. */
static void gather_frame(reading *r, entries *all, const tkf_frame *f,
                         const tkf_function *library) {
  for (const tkf_op *op = f->ops; op; op = op->next) {
    entry x = {op, library, tk_source_line(op->src, op->span.lo)};
    TK_PUSH(r->arena, all, x);
  }
  for (const tkf_frame *k = f->first; k; k = k->next)
    if (k->function->library) gather_frame(r, all, k, k->function);
}

/* ... of all frames of a function. */
static void gather_function(reading *r, entries *all, const tkf_frame *list,
                            const tkf_function *f) {
  for (; list; list = list->next) {
    if (list->function == f) gather_frame(r, all, list, NULL);
    gather_function(r, all, list->first, f);
  }
}

static int compare_texts(const char *a, const char *b) {
  return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

/* Entries that are shown as one are equal. */
static int compare_entries(const void *va, const void *vb) {
  const entry *a = va, *b = vb;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->library != b->library)
    return compare_texts(a->library ? a->library->name : NULL,
                         b->library ? b->library->name : NULL);
  if (a->op->span.lo != b->op->span.lo)
    return a->op->span.lo < b->op->span.lo ? -1 : 1;
  int named = strcmp(a->op->name, b->op->name);
  return named ? named : memcmp(&a->op->type, &b->op->type, sizeof(tk_type));
}

static int compare_ops(const void *va, const void *vb) {
  const tk_profile_op *a = va, *b = vb;
  if (a->counts.seconds != b->counts.seconds)
    return a->counts.seconds > b->counts.seconds ? -1 : 1;
  return a->place.column - b->place.column;
}

static const char *type_text(tk_arena *a, const tk_type *type) {
  tk_buf b;
  tk_buf_init(&b, a->env);
  tk_type_declare(&b, type);
  const char *text = tk_arena_strdup(a, tk_buf_str(&b));
  tk_buf_free(&b);
  return text;
}

static tk_profile_counts in_seconds(const reading *r, const tkf_op *op) {
  tk_profile_counts c = op->counts;
  c.seconds *= r->tick;
  return c;
}

static tk_place place_of_line(const tk_source *src, int line) {
  size_t n;
  const char *text = tk_source_line_text(src, line, &n);
  uint32_t lo = (uint32_t)(text - src->text);
  return tk_place_of(src, (tk_span){lo, lo + (uint32_t)n});
}

/* Makes the line that n entries stand on. */
static tk_profile_line make_line(reading *r, const entry *e, size_t n) {
  TK_VEC(tk_profile_op) ops = {0};
  tk_profile_line line = {.place = place_of_line(e->op->src, e->line)};
  TK_ASSERT(n && e[n - 1].line == e->line);
  for (size_t i = 0; i < n; i++) {
    const tkf_op *op = e[i].op;
    tk_profile_counts c = in_seconds(r, op);
    if (!i || compare_entries(&e[i - 1], &e[i])) {
      tk_profile_op made = {.name = op->name,
                            .type = type_text(r->arena, &op->type),
                            .function =
                                e[i].library ? e[i].library->name : NULL,
                            .place = tk_place_of(op->src, op->span)};
      TK_PUSH(r->arena, &ops, made);
    }
    add_profile_counts(&ops.items[ops.n - 1].counts, &c);
    add_profile_counts(&line.counts, &c);
    line.total += c.seconds + op->called * r->tick;
  }
  sort_items(ops.items, ops.n, sizeof *ops.items, compare_ops);
  line.ops = ops.items;
  line.nops = ops.n;
  return line;
}

/* ---- functions ----------------------------------------------------------- */

static double frame_seconds(const reading *r, const tkf_frame *f) {
  double s = 0;
  for (const tkf_op *op = f->ops; op; op = op->next)
    s += op->counts.seconds * r->tick;
  for (const tkf_frame *k = f->first; k; k = k->next) s += frame_seconds(r, k);
  return s;
}

static void add_frames(const reading *r, tk_profile_function *to,
                       const tkf_frame *list, const tkf_function *f) {
  for (; list; list = list->next) {
    if (list->function == f) {
      to->calls += list->calls;
      to->total += frame_seconds(r, list);
    }
    add_frames(r, to, list->first, f);
  }
}

static tk_profile_function make_function(reading *r, const tkf_function *f) {
  entries all = {0};
  TK_VEC(tk_profile_line) lines = {0};
  tk_profile_function made = {.name = f->name,
                              .place = tk_place_of(f->src, f->span),
                              .last_line = tk_source_line(f->src, f->end),
                              .kernel = f->kernel,
                              .launches = f->launches,
                              .remarks = f->remarks.items,
                              .nremarks = f->remarks.n};
  add_frames(r, &made, r->p->kernels, f);
  gather_function(r, &all, r->p->kernels, f);
  sort_items(all.items, all.n, sizeof *all.items, compare_entries);
  for (size_t at = 0, end; at < all.n; at = end) {
    for (end = at; end < all.n && all.items[end].line == all.items[at].line;)
      end++;
    tk_profile_line line = make_line(r, &all.items[at], end - at);
    made.seconds += line.counts.seconds;
    TK_PUSH(r->arena, &lines, line);
  }
  made.lines = lines.items;
  made.nlines = lines.n;
  return made;
}

static int compare_functions(const void *va, const void *vb) {
  const tk_profile_function *a = va, *b = vb;
  if (a->kernel != b->kernel) return a->kernel ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* ---- the tree ------------------------------------------------------------ */

static size_t push_node(reading *r, tk_profile_node node) {
  TK_ASSERT(node.parent < (int)r->nodes.n); /* each comes after its parent */
  node.depth = node.parent < 0 ? 0 : r->nodes.items[node.parent].depth + 1;
  TK_PUSH(r->arena, &r->nodes, node);
  return r->nodes.n - 1;
}

static void add_op_node(reading *r, size_t parent, const tkf_op *op) {
  double s = op->counts.seconds * r->tick;
  if (!(s > 0)) return;
  tk_profile_node node = {.kind = TK_PROFILE_OPERATION,
                          .parent = (int)parent,
                          .name = op->name,
                          .type = type_text(r->arena, &op->type),
                          .place = tk_place_of(op->src, op->span),
                          .total = s};
  push_node(r, node);
}

static void add_frame_node(reading *r, int parent, const tkf_frame *f);

/* One of tkdbg's own functions, below the line that called it. */
static void add_library_node(reading *r, size_t parent, const tkf_frame *f) {
  tk_profile_node node = {.kind = TK_PROFILE_LIBRARY,
                          .parent = (int)parent,
                          .name = f->function->name,
                          .place = r->nodes.items[parent].place,
                          .total = frame_seconds(r, f)};
  size_t at = push_node(r, node);
  for (const tkf_op *op = f->ops; op; op = op->next) add_op_node(r, at, op);
  for (const tkf_frame *k = f->first; k; k = k->next)
    if (k->function->library)
      add_library_node(r, at, k);
    else
      add_frame_node(r, (int)at, k);
}

/* What stands at a line of a frame: an operation, or a function of tkdbg's
 * own that is called there. */
typedef struct part {
  int line;
  size_t order; /* operations come first */
  const tkf_op *op;
  const tkf_frame *library;
} part;

typedef TK_VEC(part) parts;

static int compare_parts(const void *va, const void *vb) {
  const part *a = va, *b = vb;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return a->order < b->order ? -1 : 1;
}

static void find_parts(reading *r, parts *all, const tkf_frame *f) {
  for (const tkf_op *op = f->ops; op; op = op->next) {
    int line = tk_source_line(f->function->src, op->span.lo);
    TK_PUSH(r->arena, all, ((part){line, all->n, op, NULL}));
  }
  for (const tkf_frame *k = f->first; k; k = k->next)
    if (k->function->library)
      TK_PUSH(r->arena, all, ((part){k->line, all->n, NULL, k}));
  sort_items(all->items, all->n, sizeof *all->items, compare_parts);
}

/* Adds a line of a frame: its n parts. */
static void add_line_node(reading *r, size_t parent, const tkf_frame *f,
                          const part *x, size_t n) {
  tk_place place = place_of_line(f->function->src, x->line);
  size_t skip = strspn(place.text, " \t");
  if (skip > place.text_length) skip = place.text_length;
  tk_profile_node node = {.kind = TK_PROFILE_LINE,
                          .parent = (int)parent,
                          .name = tk_arena_strndup(r->arena, place.text + skip,
                                                   place.text_length - skip),
                          .place = place};
  size_t at = push_node(r, node);
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    total += x[i].op ? x[i].op->counts.seconds * r->tick
                     : frame_seconds(r, x[i].library);
    if (x[i].op)
      add_op_node(r, at, x[i].op);
    else
      add_library_node(r, at, x[i].library);
  }
  r->nodes.items[at].total = total;
}

static void add_frame_node(reading *r, int parent, const tkf_frame *f) {
  tk_profile_node node = {.kind = TK_PROFILE_FUNCTION,
                          .parent = parent,
                          .name = f->function->name,
                          .place =
                              tk_place_of(f->function->src, f->function->span),
                          .total = frame_seconds(r, f)};
  parts all = {0};
  size_t at = push_node(r, node);
  find_parts(r, &all, f);
  for (size_t i = 0, n; i < all.n; i += n) {
    for (n = 1; i + n < all.n && all.items[i + n].line == all.items[i].line;)
      n++;
    add_line_node(r, at, f, &all.items[i], n);
  }
  for (const tkf_frame *k = f->first; k; k = k->next)
    if (!k->function->library) add_frame_node(r, (int)at, k);
}

/* -------------------------------------------------------------------------- */

void tkf_read(tk_profile *p) {
  TK_VEC(tk_profile_function) functions = {0};
  tk_arena_free(&p->answers);
  reading r = {.p = p, .arena = &p->answers};
  r.tick = p->ticks > 0 ? p->seconds / p->ticks : 0;
  p->data = (tk_profile_data){.launches = p->launches,
                              .programs = p->programs,
                              .seconds = p->seconds,
                              .timer = (double)p->timer * r.tick,
                              .paused = p->paused * r.tick};
  for (const tkf_function *f = p->functions; f; f = f->next) {
    if (f->library) continue;
    tk_profile_function made = make_function(&r, f);
    for (size_t i = 0; i < made.nlines; i++)
      add_profile_counts(&p->data.counts, &made.lines[i].counts);
    TK_PUSH(r.arena, &functions, made);
  }
  sort_items(functions.items, functions.n, sizeof *functions.items,
             compare_functions);
  for (const tkf_frame *k = p->kernels; k; k = k->next)
    add_frame_node(&r, -1, k);
  p->data.functions = functions.items;
  p->data.nfunctions = functions.n;
  p->data.nodes = r.nodes.items;
  p->data.nnodes = r.nodes.n;
  if (p->launches) p->data.ceilings = tkf_ceilings(&p->answers);
}
