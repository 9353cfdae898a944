/* reads.c - which part of its inputs a launch reads.
 *
 * A wrong stride or a pointer that moves too little makes a kernel read some
 * elements again and again, and others never, though it reads as many as
 * there are.  Where addresses or branches depend on what was loaded that may be
 * meant, so that nothing is said of such a kernel.  A pointer that was cast to
 * a narrower type reads parts of elements alone.
 */
#include <inttypes.h>
#include <string.h>

#include "interp/check/check.h"
#include "interp/grid.h"

enum { FEWEST = 16, MOST = 1 << 24 };

/* What was read of a region. */
typedef struct input {
  uint64_t *seen;   /* a bit for each element: it was read */
  uint64_t read;    /* how many of them are set */
  uint8_t *bytes;   /* read by an access that is narrower than an element; NULL:
                       there was none */
  size_t size, n;   /* bytes of an element; elements */
  int shift;        /* log2 of size */
  uint64_t total;   /* elements read, again and again ones too */
  uint64_t first;   /* the element that was read first, ... */
  uint64_t program; /* ... by which program, ... */
  uint32_t again;   /* ... and how often by that one */
  uint32_t site;    /* that read first ... */
  uint32_t narrow;  /* ... a part of an element */
  bool written;
} input;

typedef struct reads {
  tkc *c;
  input *inputs; /* by region */
  bool indexed;  /* what is read depends on what was loaded */
  tki_observer observer;
} reads;

static void add_narrow(reads *x, input *in, uint64_t off, size_t bytes,
                       uint32_t site) {
  if (!in->bytes) {
    in->bytes = TK_NEWN(&x->c->run, uint8_t, in->n * in->size);
    in->narrow = site;
  }
  memset(in->bytes + off, 1, bytes);
}

static void set_seen(input *in, uint64_t from, uint64_t to) {
  for (uint64_t word = from / 64; word <= to / 64; word++) {
    uint64_t bits = UINT64_MAX;
    if (word == from / 64) bits &= UINT64_MAX << from % 64;
    if (word == to / 64) bits &= UINT64_MAX >> (63 - to % 64);
    in->read += (uint64_t)__builtin_popcountll(bits & ~in->seen[word]);
    in->seen[word] |= bits;
  }
}

static bool was_read(const input *in, size_t e) {
  return in->seen[e / 64] >> e % 64 & 1;
}

/* Whether so much was read that nothing will be said of the rest. */
static bool is_read_enough(const input *in) {
  return 4 * in->read > 3 * in->n;
}

static void add_stretch(reads *x, tki *t, const tki_access *a,
                        const tki_stretch *s) {
  const tki_region *r = tki_access_region(a, s->lane);
  input *in = r ? &x->inputs[r - t->regions] : NULL;
  if (!in || !in->n) return;
  uint64_t off = s->addr - r->lo, bytes = s->n * a->size;
  uint64_t from = off >> in->shift, to = (off + bytes - 1) >> in->shift;
  if (to >= in->n) return;
  if (!in->total) {
    in->site = tki_site(t);
    in->first = from;
    in->program = tki_program_index(t);
  }
  in->total += to - from + 1;
  in->again += from <= in->first && in->first <= to &&
               tki_program_index(t) == in->program;
  set_seen(in, from, to);
  if (a->size < in->size) add_narrow(x, in, off, bytes, tki_site(t));
}

static void add_written(reads *x, const tki *t, const tki_access *a) {
  for (size_t i = 0; i < a->n; i++) {
    const tki_region *r = tki_access_region(a, i);
    if (r && (!a->mask || a->mask[i])) x->inputs[r - t->regions].written = true;
  }
}

static void see_read(void *ud, tki *t, const tki_access *a) {
  reads *x = ud;
  input *in = a->region == TKI_ANY ? NULL : &x->inputs[a->region];
  tki_stretch s = {0};
  if (!a->n) return;
  if (a->write && in)
    in->written = true;
  else if (a->write)
    add_written(x, t, a);
  else if (!in || (in->n && (a->size < in->size || !is_read_enough(in))))
    while (tki_next_stretch(a, &s)) add_stretch(x, t, a, &s);
}

/* Makes room for a tensor whose elements fill its storage. */
static void start_input(reads *x, input *in, const tki_region *r) {
  const tk_tensor *v = r->tensor;
  uint64_t lanes = 1;
  if (!v) return;
  for (int i = 0; i < v->rank; i++) lanes *= (uint64_t)v->shape[i];
  in->size = tk_dtype_size(v->dtype);
  if (lanes > MOST || lanes < FEWEST || lanes * in->size != r->hi - r->lo)
    return;
  in->n = lanes;
  in->shift = __builtin_ctzll(in->size);
  in->seen = TK_NEWN(&x->c->run, uint64_t, lanes / 64 + 1);
}

/* ---- before the run --------------------------------------------------------
 */

/* Which slots of each function hold what depends on loaded values. */
typedef struct loaded {
  const tk_program *program;
  bool **slots, **results; /* by function */
  bool grew, decides;      /* ... an address, or a branch, does */
} loaded;

static void taint(loaded *x, bool *slot, bool tainted) {
  x->grew |= tainted && !*slot;
  *slot |= tainted;
}

static bool taint_inst(void *ud, const tk_at *at, const tk_inst *in) {
  loaded *x = ud;
  bool *slots = x->slots[at->func->id], tainted = false;
  const tk_func *callee = in->op == TK_I_CALL ? tk_call_callee(in) : NULL;
  for (int k = 0; k < in->nargs; k++) {
    tainted |= slots[in->args[k]];
    if (callee && (size_t)k < callee->nparams)
      taint(x, &x->slots[callee->id][callee->params[k]], slots[in->args[k]]);
  }
  bool memory =
      in->op == TK_I_LOAD || in->op == TK_I_ATOMIC || in->op == TK_I_CAS;
  if (memory && slots[in->args[0]]) x->decides = true;
  for (int k = 0; k < in->nres; k++)
    taint(x, &slots[in->res[k]],
          callee ? x->results[callee->id][k] : memory || tainted);
  return true;
}

static bool taint_stmt(void *ud, const tk_at *at) {
  loaded *x = ud;
  const tk_stmt *st = at->stmt;
  const bool *slots = x->slots[at->func->id];
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE)
    x->decides |= slots[st->cond];
  if (st->kind == TK_S_FOR)
    x->decides |= slots[st->lb] || slots[st->ub] || slots[st->step];
  for (size_t i = 0; st->kind == TK_S_RETURN && i < st->nresults; i++)
    taint(x, &x->results[at->func->id][i], slots[st->results[i]]);
  return true;
}

static bool depends_on_memory(tk_arena *a, const tk_program *p) {
  loaded x = {.program = p, .grew = true};
  x.slots = TK_NEWN(a, bool *, p->nfuncs);
  x.results = TK_NEWN(a, bool *, p->nfuncs);
  for (size_t i = 0; i < p->nfuncs; i++) {
    x.slots[i] = TK_NEWN(a, bool, p->funcs[i]->nslots + 1);
    x.results[i] = TK_NEWN(a, bool, p->funcs[i]->nresults + 1);
  }
  tk_walk walk = {.ud = &x, .stmt = taint_stmt, .inst = taint_inst};
  while (x.grew && !x.decides) {
    x.grew = false;
    tk_walk_program(p, &walk);
  }
  return x.decides;
}

void *tkc_READS_begin(tkc *c, tki *t) {
  reads *x = TK_NEW(&c->run, reads);
  x->c = c;
  x->indexed = depends_on_memory(&c->run, t->program);
  x->inputs = TK_NEWN(&c->run, input, t->nregions + 1);
  for (size_t i = 0; i < t->nregions; i++)
    start_input(x, &x->inputs[i], &t->regions[i]);
  x->observer = (tki_observer){.ud = x, .access = see_read, .rows = true};
  tki_observe(t, &x->observer);
  return x;
}

/* ---- the end --------------------------------------------------------------
 */

static tkc_place place_of_site(tki *t, uint32_t site) {
  const tki_site_info *s = tki_site_at(t, site);
  return tkc_place_of(s->func, s->inst);
}

/* Elements of which a part alone was read; if there is none, and all of them
 * lie in the first part of the tensor, as if it had narrower elements, how
 * many were read. */
static uint64_t count_parts(const input *in, bool *beginning) {
  uint64_t parts = 0, read = 0, last = 0;
  for (size_t e = 0; e < in->n; e++) {
    size_t k = 0;
    for (size_t b = 0; b < in->size; b++) k += in->bytes[e * in->size + b];
    parts += k && k < in->size;
    read += k > 0;
    if (k) last = e;
  }
  *beginning = !parts && 8 * last < 5 * in->n;
  return *beginning ? read : parts;
}

static void judge_narrow(reads *x, tki *t, const input *in, const char *name) {
  bool beginning;
  uint64_t n = count_parts(in, &beginning);
  if (!n) return;
  tkc_place at = place_of_site(t, in->narrow);
  tk_diag *d = tkc_report(
      x->c, NULL, TK_D_HALF_READ, &at, NULL,
      beginning ? "%" PRIu64 " of the %zu elements of %s are read, in parts"
                : "of %" PRIu64
                  " of the %zu elements of %s only a part is read",
      n, in->n, name);
  tkc_note(x->c, d, NULL,
           "its elements have %zu bytes, the pointer is one to a narrower type",
           in->size);
  tkc_help(x->c, d, "load the tensor's own type and cast what was loaded");
  tkc_reported(x->c, NULL, d);
}

/* Which coordinates of each axis were read.  Returns whether all elements with
 * such coordinates were. */
static bool is_slice(const tk_tensor *v, const input *in, bool *seen[],
                     int64_t count[]) {
  uint64_t lanes = 1;
  for (size_t e = 0; e < in->n; e++)
    for (int k = 0; was_read(in, e) && k < v->rank; k++)
      if (v->strides[k] > 0) {
        bool *coordinate = &seen[k][(int64_t)e / v->strides[k] % v->shape[k]];
        count[k] += !*coordinate;
        *coordinate = true;
      }
  for (int k = 0; k < v->rank; k++) lanes *= (uint64_t)count[k];
  return lanes == in->read;
}

/* Whether a kernel means to read a part alone: the same coordinates of some
 * axes throughout, and not one part out of as many as there are programs along
 * an axis of the grid, or trips that read it again: those forget to move. */
static bool is_meant(reads *x, const tki *t, const tk_tensor *v,
                     const input *in) {
  bool *seen[TK_MAX_RANK];
  int64_t count[TK_MAX_RANK] = {0};
  for (int k = 0; k < v->rank; k++)
    seen[k] = TK_NEWN(&x->c->run, bool, v->shape[k] + 1);
  if (!is_slice(v, in, seen, count)) return false;
  if (v->rank == 1 && in->total % in->read) return false;
  for (int k = 0; k < v->rank; k++) {
    int64_t parts = v->shape[k] / count[k];
    if (parts < 2 || parts * count[k] != v->shape[k]) continue;
    if (in->again == parts) return false;
    for (int d = 0; d < 3; d++)
      if (t->grid[d] == parts) return false;
  }
  return true;
}

static void judge_unread(reads *x, tki *t, const input *in,
                         const tki_region *r) {
  if (in->total < in->n || is_read_enough(in) || is_meant(x, t, r->tensor, in))
    return;
  tkc_place at = place_of_site(t, in->site);
  tk_diag *d = tkc_report(x->c, NULL, TK_D_UNREAD_INPUT, &at, NULL,
                          "only %" PRIu64 " of the %zu elements of %s are "
                          "read, in %" PRIu64 " reads",
                          in->read, in->n, r->name, in->total);
  tkc_help(x->c, d,
           "look at the stride that a row is multiplied by, at what pointers "
           "move by in a loop, and at which program ids the offsets depend on");
  tkc_reported(x->c, NULL, d);
}

void tkc_READS_end(tkc *c, void *ud, tki *t, tk_status st) {
  reads *x = ud;
  (void)c;
  if (st != TK_OK || t->driver || t->done < tki_programs(t)) return;
  for (size_t i = 0; i < t->nregions; i++) {
    const input *in = &x->inputs[i];
    if (!in->total || in->written) continue;
    if (in->bytes) judge_narrow(x, t, in, t->regions[i].name);
    if (!x->indexed) judge_unread(x, t, in, &t->regions[i]);
  }
}
