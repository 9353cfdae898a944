/* trace.c - the nodes of a program, made as it runs.
 *
 * Nodes are numbered and stand in chunks.  When the trace becomes too large the
 * oldest chunk is dropped, and refs into it lead nowhere from then on.  A
 * function that an operation calls for its lanes (map_elementwise, tl.reduce)
 * is not followed: its frame has no table of nodes, and the whole operation is
 * one node.
 */
#include "interp/explain/trace.h"
#include "interp/grid.h"
#include "interp/site.h"

/* Elements of a page; writes that are kept; bits of a ref that number the
 * results of a node. */
enum { PAGE = 1024, MOST_EVENTS = 1 << 24, RESULT_BITS = 8 };

/* ---- nodes --------------------------------------------------------------- */

static void drop_chunk(tke_trace *x, size_t i, bool pool) {
  tke_chunk *c = x->chunks[i];
  for (size_t k = 0; pool && k < c->n; k++)
    for (int j = 0; j < c->nodes[k].nargs + c->nodes[k].nres; j++)
      tki_release(x->t, &c->nodes[k].vals[j]);
  tk_arena_free(&c->arena);
  x->bytes -= c->bytes + sizeof *c;
  x->chunks[i] = NULL;
  tk_free(x->t->env, c, sizeof *c);
}

/* Makes room for more nodes, and drops old ones until the limit is kept. */
static tke_chunk *add_chunk(tke_trace *x) {
  tk_env *e = x->t->env;
  while (x->bytes > x->limit && x->dropped < x->nchunks)
    drop_chunk(x, x->dropped++, true);
  if (x->nchunks == x->cap_chunks) {
    size_t cap = x->cap_chunks ? 2 * x->cap_chunks : 16;
    x->chunks = tk_realloc(e, x->chunks, x->cap_chunks * sizeof *x->chunks,
                           cap * sizeof *x->chunks);
    x->cap_chunks = cap;
  }
  tke_chunk *c = tk_calloc(e, 1, sizeof *c);
  tk_arena_init(&c->arena, e);
  x->bytes += sizeof *c;
  return x->chunks[x->nchunks++] = c;
}

/* The ref of the node that is added next. */
static tke_ref next_ref(const tke_trace *x) {
  const tke_chunk *c = x->nchunks ? x->chunks[x->nchunks - 1] : NULL;
  size_t n = x->nchunks * TKE_CHUNK;
  if (c) n -= TKE_CHUNK - c->n;
  return (tke_ref)(n + 1) << RESULT_BITS;
}

const tke_node *tke_trace_node(const tke_trace *x, tke_ref r) {
  if (!r) return NULL;
  size_t at = (size_t)(r >> RESULT_BITS) - 1;
  TK_ASSERT(r >> RESULT_BITS && at / TKE_CHUNK < x->nchunks);
  const tke_chunk *c = x->chunks[at / TKE_CHUNK];
  return c ? &c->nodes[at % TKE_CHUNK] : NULL;
}

static void note_place(tke_node *n, const tki *t) {
  const tki_frame *f = t->frame;
  n->func = f->func;
  f = tki_user_frame(f);
  n->user_func = f->func;
  if (f->inst) n->user = f->inst->span;
  const tki_loop *l = NULL;
  for (f = t->frame; f && !l; f = f->caller) l = f->loops;
  if (!l) return;
  n->loop = l->stmt;
  n->trip = l->trip;
  if (!l->outer) return;
  n->outer = l->outer->stmt;
  n->outer_trip = l->outer->trip;
}

static tke_node *add_node(tke_trace *x, tke_node_kind kind, size_t nargs,
                          size_t nres) {
  tke_chunk *c = x->nchunks ? x->chunks[x->nchunks - 1] : NULL;
  if (!c || c->n == TKE_CHUNK) c = add_chunk(x);
  tke_node *n = &c->nodes[c->n];
  size_t bytes = nargs * sizeof *n->refs + (nargs + nres) * sizeof *n->vals;
  *n = (tke_node){.kind = kind};
  n->refs = TK_NEWN(&c->arena, tke_ref, nargs + 1);
  n->vals = TK_NEWN(&c->arena, tki_val, nargs + nres + 1);
  TK_ASSERT(nargs <= UINT16_MAX && nres <= UINT16_MAX);
  n->nargs = (uint16_t)nargs;
  n->nres = (uint16_t)nres;
  c->n++;
  c->bytes += bytes;
  x->bytes += bytes;
  note_place(n, x->t);
  return n;
}

/* Holds an operand or result of the newest node.  A result that nobody else has
 * yet counts towards the limit. */
static void hold_value(tke_trace *x, tke_node *n, size_t k, const tki_val *v) {
  TK_ASSERT(k < (size_t)n->nargs + n->nres);
  tke_chunk *c = x->chunks[x->nchunks - 1];
  bool fresh = k >= n->nargs && !tki_is_shared(v);
  if (fresh) c->bytes += tki_held_bytes(v), x->bytes += tki_held_bytes(v);
  n->vals[k] = tki_share(v);
}

/* Whether a node names its variable itself, not by its instruction. */
static bool has_slot(const tke_node *n) {
  return n->kind != TKE_NODE_INST || n->in->op == TK_I_COND;
}

const tk_type *tke_node_type(const tke_node *n, int result) {
  return &n->func->slots[has_slot(n) ? n->slot : n->in->res[result]].type;
}

const tk_type *tke_node_arg_type(const tke_node *n, int k) {
  bool own = n->kind != TKE_NODE_INST || (has_slot(n) && k == 1);
  return &n->func->slots[own ? n->slot : n->in->args[k]].type;
}

tki_val *tke_node_value(const tke_node *n, int result) {
  return &n->vals[n->nargs + result];
}

/* ---- which node defined a slot ------------------------------------------- */

static tke_ref *node_table(const tki_frame *f) {
  return f ? f->shadow[TKI_SHADOW_TRACE] : NULL;
}

tke_ref tke_trace_slot(const tki_frame *f, int slot) {
  const tke_ref *table = node_table(f);
  return table ? table[slot] : 0;
}

static tke_ref *make_node_table(tki *t) {
  size_t bytes = t->frame->func->nslots * sizeof(tke_ref);
  return t->frame->shadow[TKI_SHADOW_TRACE] = tki_scratch_zero(t, bytes + 1);
}

/* ---- frames -------------------------------------------------------------- */

static void begin_kernel(tke_trace *x) {
  tki *t = x->t;
  const tk_func *f = t->frame->func;
  tke_ref *table = make_node_table(t);
  t->wants_insts = true;
  for (size_t i = 0; i < f->nparams; i++) {
    int slot = f->params[i];
    table[slot] = next_ref(x);
    tke_node *n = add_node(x, TKE_NODE_ARG, 0, 1);
    n->slot = slot;
    hold_value(x, n, 0, &t->frame->slots[slot]);
  }
}

static void begin_call(tki *t) {
  const tki_frame *f = t->frame;
  const tke_ref *from = node_table(f->caller);
  const tk_inst *in = tki_call_of(f);
  if (!from || !in) return;
  tke_ref *table = make_node_table(t);
  for (size_t i = 0; i < f->func->nparams && i < in->nargs; i++)
    table[f->func->params[i]] = from[in->args[i]];
}

static void end_frame(tke_trace *x) {
  tki *t = x->t;
  const tke_ref *table = node_table(t->frame);
  const tk_stmt *st = t->frame->stmt;
  if (!table) return;
  size_t n = st && st->kind == TK_S_RETURN ? st->nresults : 0;
  while (x->cap_returned < n)
    x->returned = tk_arena_grow(&x->arena, x->returned, sizeof *x->returned,
                                &x->cap_returned);
  for (size_t i = 0; i < n; i++) x->returned[i] = table[st->results[i]];
  x->nreturned = n;
  tki_scratch_free(t, t->frame->shadow[TKI_SHADOW_TRACE]);
  t->frame->shadow[TKI_SHADOW_TRACE] = NULL;
}

static void trace_frame(void *ud, tki *t, bool begins) {
  tke_trace *x = ud;
  if (!begins)
    end_frame(x);
  else if (t->frame->caller)
    begin_call(t);
  else if (tki_program_index(t) == x->program)
    begin_kernel(x);
}

/* ---- instructions -------------------------------------------------------- */

static void trace_trip(void *ud, tki *t, const tk_stmt *st) {
  tke_trace *x = ud;
  tke_ref *table = node_table(t->frame);
  if (!table || st->kind != TK_S_FOR) return;
  int from[3] = {st->lb, st->ub, st->step};
  tke_ref at = next_ref(x);
  tke_node *n = add_node(x, TKE_NODE_LOOP, 3, 1);
  for (int k = 0; k < 3; k++) {
    n->refs[k] = table[from[k]];
    hold_value(x, n, (size_t)k, &t->frame->slots[from[k]]);
  }
  n->slot = st->iv;
  hold_value(x, n, 3, &t->frame->slots[st->iv]);
  table[st->iv] = at;
}

/* The results of a call are defined by the nodes that its function returned. */
static void take_returned_nodes(tke_trace *x, tke_ref *table,
                                const tk_inst *in) {
  for (size_t i = 0; i < in->nres; i++)
    table[in->res[i]] = i < x->nreturned ? x->returned[i] : 0;
  x->nreturned = 0;
}

/* Of `a if c else b`, where c has chosen the body that set the results. */
static void add_choice(tke_trace *x, tke_ref *table, const tk_inst *in,
                       const tki_val *args) {
  const tki_val *slots = x->t->frame->slots;
  for (size_t i = 0; i < in->nres; i++) {
    tke_ref at = next_ref(x);
    tke_node *n = add_node(x, TKE_NODE_INST, 2, 1);
    n->in = in;
    n->refs[0] = table[in->args[0]];
    n->refs[1] = table[in->res[i]];
    hold_value(x, n, 0, &args[0]);
    hold_value(x, n, 1, &slots[in->res[i]]);
    hold_value(x, n, 2, &slots[in->res[i]]);
    n->slot = in->res[i];
    table[in->res[i]] = at;
  }
}

static void add_inst(tke_trace *x, tke_ref *table, const tk_inst *in,
                     const tki_val *args) {
  tke_ref at = next_ref(x);
  tke_node *n = add_node(x, TKE_NODE_INST, in->nargs, in->nres);
  n->in = in;
  for (size_t k = 0; k < in->nargs; k++) {
    n->refs[k] = table[in->args[k]];
    hold_value(x, n, k, &args[k]);
  }
  for (size_t k = 0; k < in->nres; k++) {
    TK_ASSERT(k < (size_t)1 << RESULT_BITS);
    hold_value(x, n, in->nargs + k, &x->t->frame->slots[in->res[k]]);
    table[in->res[k]] = at | k;
  }
  n->writers = x->pending;
}

static bool is_write(const tk_inst *in) {
  return in->op == TK_I_STORE || in->op == TK_I_ATOMIC || in->op == TK_I_CAS;
}

static void trace_after(void *ud, tki *t, const tk_inst *in,
                        const tki_val *args) {
  tke_trace *x = ud;
  tke_ref *table = node_table(t->frame);
  if (is_write(in)) x->last = table ? next_ref(x) : 0;
  if (table && in->op == TK_I_CALL)
    take_returned_nodes(x, table, in);
  else if (table && in->op == TK_I_COND)
    add_choice(x, table, in, args);
  else if (table && (in->nres || tk_inst_effect(in) == TK_EFFECT_WRITES))
    add_inst(x, table, in, args);
  x->pending = NULL;
}

/* ---- memory -------------------------------------------------------------- */

static size_t granule_bytes(const tki_region *r) {
  return tk_dtype_size(r->tensor->dtype);
}

/* The region of an address; if several share that memory, always the same one.
 */
static const tki_region *home_of(const tke_trace *x, uint64_t addr) {
  return tki_region_at(x->t, addr, 1);
}

/* Where the last writer of an element stands; NULL if nothing was written near
 * it and `make` is false. */
static uint32_t *writer_at(tke_trace *x, const tki_region *r, uint64_t addr,
                           bool make) {
  size_t region = (size_t)(r - x->t->regions);
  size_t at = (size_t)(addr - r->lo) / granule_bytes(r);
  if (!x->pages[region]) {
    size_t n = (size_t)(r->hi - r->lo) / granule_bytes(r) / PAGE + 1;
    if (!make) return NULL;
    x->pages[region] = TK_NEWN(&x->arena, uint32_t *, n);
  }
  uint32_t **page = &x->pages[region][at / PAGE];
  if (!*page && make) *page = TK_NEWN(&x->arena, uint32_t, PAGE);
  return *page ? &(*page)[at % PAGE] : NULL;
}

static void look_up_writers(tke_trace *x, const tki_access *a) {
  x->pending = NULL;
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    uint32_t *w = writer_at(x, home_of(x, a->addr[i]), a->addr[i], false);
    if (!w || !*w) continue;
    if (!x->pending)
      x->pending = TK_NEWN(&x->chunks[x->nchunks - 1]->arena, uint32_t, a->n);
    x->pending[i] = *w;
  }
}

static void note_writer(tke_trace *x, const tki_access *a, tke_ref node) {
  tke_writer w = {tki_program_index(a->t), tki_site(a->t), node};
  if (x->events.n >= MOST_EVENTS) return;
  TK_PUSH(&x->arena, &x->events, w);
  uint32_t id = (uint32_t)x->events.n;
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *r = home_of(x, a->addr[i]);
    for (size_t b = 0; b < a->size; b += granule_bytes(r))
      *writer_at(x, r, a->addr[i] + b, true) = id;
  }
}

static void trace_access(void *ud, tki *t, const tki_access *a) {
  tke_trace *x = ud;
  bool mine = node_table(t->frame) != NULL;
  if (mine) {
    tke_chunk *c = x->chunks[x->nchunks - 1];
    if (c->n == TKE_CHUNK) add_chunk(x); /* where the node will stand */
    look_up_writers(x, a);
  }
  if (a->write && a->n) note_writer(x, a, mine ? next_ref(x) : 0);
}

const tke_writer *tke_node_writer(const tke_trace *x, const tke_node *n,
                                  size_t lane) {
  uint32_t id = n->writers ? n->writers[lane] : 0;
  TK_ASSERT(id <= x->events.n);
  return id ? &x->events.items[id - 1] : NULL;
}

/* ---- beginning and end --------------------------------------------------- */

void tke_trace_init(tke_trace *x, tki *t, uint64_t program, size_t limit) {
  *x = (tke_trace){.t = t, .program = program, .limit = limit};
  tk_arena_init(&x->arena, t->env);
  x->pages = TK_NEWN(&x->arena, uint32_t **, t->nregions + 1);
  x->observer = (tki_observer){.ud = x,
                               .frame = trace_frame,
                               .trip = trace_trip,
                               .after = trace_after,
                               .access = trace_access};
}

void tke_trace_end(tke_trace *x, bool pool) {
  if (!x->t) return;
  tk_env *e = x->t->env;
  for (size_t i = x->dropped; i < x->nchunks; i++) drop_chunk(x, i, pool);
  tk_free(e, x->chunks, x->cap_chunks * sizeof *x->chunks);
  tk_arena_free(&x->arena);
  *x = (tke_trace){0};
}
