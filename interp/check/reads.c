/* reads.c - which part of its inputs a launch reads.
 *
 * A wrong stride or a pointer that moves too little makes a kernel read some
 * elements again and again, and others never, though it reads as many as there
 * are.  If addresses or masks depend on loaded values, or if branches of the
 * kernel do, this may be intended, so that nothing is reported of those inputs.
 * A pointer that was cast to a narrower type may read only a part of each
 * element; one that was cast to a wider type of floats reads several elements
 * as one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/ranges.h"
#include "interp/check/check.h"
#include "interp/grid.h"
#include "report/report.h"

enum { FEWEST = 16, MOST = 1 << 24 };
/* Axes of the grid, and both parts of each that a kernel divides: pid // G and
 * pid % G. */
enum { AXES = 3, WAYS = 3 * AXES };

/* An element that the first access to an input reads, and what reads it again
 * by the same statement. */
typedef struct probe {
  uint64_t element;
  uint64_t lanes;          /* lanes of the first program that read it, ... */
  uint64_t trips;          /* ... in how many accesses ... */
  uint64_t access;         /* ... of which this is the last */
  uint64_t program;        /* the last one that read it */
  uint64_t programs[WAYS]; /* that read it and differ from the first one along
                              only one way */
} probe;

/* The first access to an input. */
typedef struct first {
  uint64_t access, program;
  int64_t pid[3];
  uint32_t site;
  tk_span span;
  uint64_t lanes, active; /* in all, and those that the mask leaves */
  probe lowest, highest;  /* the first element that it read, and the highest */
  uint64_t reach;         /* the highest element that this program reads by any
                             access */
} first;

/* What was read of a region. */
typedef struct input {
  uint64_t *seen; /* a bit for each element: it was read */
  uint64_t read;  /* how many of them are set */
  uint8_t *bytes; /* read by an access that is narrower than an element; NULL:
                     there was none */
  size_t size, n; /* bytes of an element; elements */
  int shift;      /* log2 of size */
  uint64_t total; /* elements read, each as often as it was read */
  first first;
  uint32_t narrow;       /* the site that first read a part of an element */
  uint32_t wide;         /* the site that first read several as one float */
  const tk_inst *widens; /* the load that reads wide; NULL: there is none */
  bool written, indexed; /* indexed: at addresses or under masks that depend on
                            loaded values */
} input;

typedef struct reads {
  tkc *c;
  input *inputs;    /* by region */
  bool *indexed;    /* by instruction: the address or mask of a load depends on
                       what was loaded */
  bool branches;    /* ... or a branch does */
  uint8_t *folds;   /* by instruction: the axis whose program id it divides,
                       from 1; 0: none */
  bool *numbers;    /* by instruction: a load whose floats are computed with */
  uint32_t *stored; /* by instruction: the load whose value it stores, from 1 */
  int64_t by[AXES]; /* what it is divided by; 0: nothing, -1: several numbers */
  uint64_t accesses; /* accesses so far */
  uint64_t program;  /* the program that is running */
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

/* Whether so much was read that the rest will not be reported. */
static bool is_read_enough(const input *in) {
  return 4 * in->read > 3 * in->n;
}

static probe probe_of(uint64_t element) {
  probe p = {.element = element};
  for (int way = 0; way < WAYS; way++) p.programs[way] = 1;
  return p;
}

static void begin_first(reads *x, first *f, const tki *t, const tki_access *a,
                        uint64_t element) {
  *f = (first){.access = x->accesses, .program = x->program, .lanes = a->n};
  f->site = tki_site(t);
  f->span = tki_user_frame(t->frame)->inst->span;
  memcpy(f->pid, t->pid, sizeof f->pid);
  f->lowest = probe_of(element);
  f->highest = f->lowest;
}

/* Counts a program by the direction in which it lies from the first one: an
 * axis of the grid, or a part of one that the kernel divides. It does not count
 * if it differs along two. */
static void add_program(const reads *x, const first *f, const tki *t,
                        uint64_t *programs) {
  int others = 0, axis = 0;
  for (int d = 0; d < AXES; d++)
    if (t->pid[d] != f->pid[d]) others++, axis = d;
  if (others != 1) return;
  programs[axis]++;
  int64_t by = x->by[axis];
  if (by <= 0) return;
  bool above = t->pid[axis] / by != f->pid[axis] / by;
  bool within = t->pid[axis] % by != f->pid[axis] % by;
  if (above != within) programs[(above ? 1 : 2) * AXES + axis]++;
}

/* Returns how many programs lie along a way; 0: the kernel does not divide that
 * axis. */
static int64_t way_length(const reads *x, const tki *t, int way) {
  int64_t all = t->grid[way % AXES], by = x->by[way % AXES];
  if (way < AXES) return all;
  if (by <= 0) return 0;
  return way < 2 * AXES ? (all + by - 1) / by : by < all ? by : all;
}

static void probe_reads(reads *x, const first *f, const tki *t, probe *p) {
  if (tki_user_frame(t->frame)->inst->span.lo != f->span.lo) return;
  if (x->program == f->program) {
    p->lanes++;
    p->trips += p->access != x->accesses;
    p->access = x->accesses;
  } else if (x->program != p->program) {
    add_program(x, f, t, p->programs);
  }
  p->program = x->program;
}

static void add_stretch(reads *x, tki *t, const tki_access *a,
                        const tki_stretch *s) {
  const tki_region *r = tki_access_region(a, s->lane);
  input *in = r ? &x->inputs[r - t->regions] : NULL;
  if (!in || !in->n) return;
  uint64_t off = s->addr - r->lo, bytes = s->n * a->size;
  uint64_t from = off >> in->shift, to = (off + bytes - 1) >> in->shift;
  if (to >= in->n) return;
  first *f = &in->first;
  if (!in->total) begin_first(x, f, t, a, from);
  if (f->access == x->accesses) {
    f->active += s->n;
    if (to > f->highest.element) f->highest = probe_of(to);
  }
  if (f->program == x->program && to > f->reach) f->reach = to;
  if (from <= f->lowest.element && f->lowest.element <= to)
    probe_reads(x, f, t, &f->lowest);
  if (from <= f->highest.element && f->highest.element <= to)
    probe_reads(x, f, t, &f->highest);
  in->total += to - from + 1;
  in->indexed |= x->indexed[a->in->id];
  set_seen(in, from, to);
  if (a->size < in->size) add_narrow(x, in, off, bytes, tki_site(t));
  if (a->size > in->size && !in->widens && tk_is_float(r->tensor->dtype) &&
      tk_is_float((tk_dtype)a->in->type.elem)) {
    in->widens = a->in;
    in->wide = tki_site(t);
  }
}

/* A load whose value is stored as it is to a tensor of floats of that size was
 * meant to load such floats. */
static void see_stored(reads *x, const tki *t, const tki_access *a) {
  uint32_t load = x->stored[a->in->id];
  const tki_region *r = a->region == TKI_ANY ? NULL : &t->regions[a->region];
  if (load && r && r->tensor && tk_is_float(r->tensor->dtype) &&
      tk_dtype_size(r->tensor->dtype) == a->size)
    x->numbers[load - 1] = true;
}

static void add_written(reads *x, const tki *t, const tki_access *a) {
  for (size_t i = 0; i < a->n; i++) {
    const tki_region *r = tki_access_region(a, i);
    if (r && (!a->mask || a->mask[i])) x->inputs[r - t->regions].written = true;
  }
}

/* Whether it matters which elements of an input an access reads: it does not if
 * unread elements of this input will not be reported. */
static bool is_judged(const reads *x, const input *in, const tki_access *a) {
  if (!in->n || a->size < in->size) return in->n;
  return !x->branches && !in->indexed && !is_read_enough(in);
}

static void see_read(void *ud, tki *t, const tki_access *a) {
  reads *x = ud;
  input *in = a->region == TKI_ANY ? NULL : &x->inputs[a->region];
  tki_stretch s = {0};
  if (!a->n) return;
  if (in) in->indexed |= x->indexed[a->in->id];
  x->accesses++;
  x->program = tki_program_index(t);
  if (a->write) see_stored(x, t, a);
  if (a->write && in)
    in->written = true;
  else if (a->write)
    add_written(x, t, a);
  else if (!in || is_judged(x, in, a))
    while (tki_next_stretch(a, &s)) add_stretch(x, t, a, &s);
}

/* Starts counting for a tensor whose elements fill its storage. */
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

/* ---- before the run ----------------------------------------------------- */

/* Which slots of each function depend on loaded values. */
typedef struct loaded {
  const tk_program *program;
  bool **slots, **results; /* by function */
  bool grew;
  reads *reads;
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
  if (in->op == TK_I_LOAD)
    x->reads->indexed[in->id] =
        slots[in->args[tk_load_pointer(in)]] ||
        (tk_load_mask(in) >= 0 && slots[in->args[tk_load_mask(in)]]);
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
    x->reads->branches |= slots[st->cond];
  if (st->kind == TK_S_FOR)
    x->reads->branches |= slots[st->lb] || slots[st->ub] || slots[st->step];
  for (size_t i = 0; st->kind == TK_S_RETURN && i < st->nresults; i++)
    taint(x, &x->results[at->func->id][i], slots[st->results[i]]);
  return true;
}

static void find_loaded(reads *r, tk_arena *a, const tk_program *p) {
  loaded x = {.program = p, .grew = true, .reads = r};
  r->indexed = TK_NEWN(a, bool, p->ninsts + 1);
  x.slots = TK_NEWN(a, bool *, p->nfuncs);
  x.results = TK_NEWN(a, bool *, p->nfuncs);
  for (size_t i = 0; i < p->nfuncs; i++) {
    x.slots[i] = TK_NEWN(a, bool, p->funcs[i]->nslots + 1);
    x.results[i] = TK_NEWN(a, bool, p->funcs[i]->nresults + 1);
  }
  tk_walk walk = {.ud = &x, .stmt = taint_stmt, .inst = taint_inst};
  while (x.grew && !r->branches) {
    x.grew = false;
    tk_walk_program(p, &walk);
  }
}

/* Which slots of each function hold a program id or a loaded value: the axis,
 * or the load, counted from 1. */
typedef struct folded {
  uint8_t **slots;
  uint32_t **loads;
  reads *reads;
  bool any;
} folded;

static bool computes(const tk_inst *in) {
  return in->op == TK_I_UNARY || in->op == TK_I_BINARY ||
         in->op == TK_I_COMPARE || in->op == TK_I_FMA || in->op == TK_I_DOT ||
         in->op == TK_I_REDUCE || in->op == TK_I_EXTERN;
}

static void follow_loads(folded *x, uint32_t *loads, const tk_inst *in) {
  uint32_t made = in->op == TK_I_LOAD ? (uint32_t)in->id + 1 : 0;
  for (int k = 0; k < in->nargs; k++) {
    uint32_t load = loads[in->args[k]];
    if (load && computes(in)) x->reads->numbers[load - 1] = true;
    if (in->op == TK_I_STORE && k == tk_store_value(in))
      x->reads->stored[in->id] = load;
    if (in->op == TK_I_COPY || in->op == TK_I_BROADCAST ||
        in->op == TK_I_PERMUTE)
      made = load;
  }
  for (int k = 0; k < in->nres; k++) loads[in->res[k]] = made;
}

static bool fold_inst(void *ud, const tk_at *at, const tk_inst *in) {
  folded *x = ud;
  follow_loads(x, x->loads[at->func->id], in);
  uint8_t *slots = x->slots[at->func->id];
  bool divides = in->op == TK_I_BINARY && !in->type.rank &&
                 (tk_binary_op(in) == TK_B_DIV || tk_binary_op(in) == TK_B_MOD);
  uint8_t axis = divides ? slots[in->args[tk_binary_left(in)]] : 0;
  x->reads->folds[in->id] = axis;
  x->any |= axis > 0;
  for (int k = 0; k < in->nres; k++)
    slots[in->res[k]] =
        in->op == TK_I_PID ? (uint8_t)(tk_program_id_axis(in) + 1) : 0;
  return true;
}

/* Notes where the kernel divides a program id, because an axis of its grid
 * stands for several, and what loaded values are used for. Returns whether it
 * divides one. */
static bool find_folds(reads *r, tk_arena *a, const tk_program *p) {
  folded x = {.reads = r};
  tk_walk walk = {.ud = &x, .inst = fold_inst};
  r->folds = TK_NEWN(a, uint8_t, p->ninsts + 1);
  r->numbers = TK_NEWN(a, bool, p->ninsts + 1);
  r->stored = TK_NEWN(a, uint32_t, p->ninsts + 1);
  x.slots = TK_NEWN(a, uint8_t *, p->nfuncs);
  x.loads = TK_NEWN(a, uint32_t *, p->nfuncs);
  for (size_t i = 0; i < p->nfuncs; i++) {
    x.slots[i] = TK_NEWN(a, uint8_t, p->funcs[i]->nslots + 1);
    x.loads[i] = TK_NEWN(a, uint32_t, p->funcs[i]->nslots + 1);
  }
  tk_walk_program(p, &walk);
  return x.any;
}

static void see_fold(void *ud, tki *t, const tk_inst *in, const tki_val *args) {
  reads *x = ud;
  int axis = x->folds[in->id] - 1;
  (void)t;
  if (axis < 0) return;
  int64_t by = (int32_t)tki_scalar_bits(&args[1]);
  x->by[axis] = !x->by[axis] || x->by[axis] == by ? by : -1;
}

static bool fold_settled(void *ud, tki *t, const tk_inst *in) {
  const reads *x = ud;
  (void)t;
  return !x->folds[in->id];
}

void *tkc_READS_begin(tkc *c, tki *t) {
  reads *x = TK_NEW(&c->run, reads);
  x->c = c;
  find_loaded(x, &c->run, t->program);
  x->inputs = TK_NEWN(&c->run, input, t->nregions + 1);
  for (size_t i = 0; i < t->nregions; i++)
    start_input(x, &x->inputs[i], &t->regions[i]);
  x->observer = (tki_observer){.ud = x, .access = see_read, .rows = true};
  if (find_folds(x, &c->run, t->program)) {
    x->observer.after = see_fold;
    x->observer.settled = fold_settled;
  }
  tki_observe(t, &x->observer);
  return x;
}

/* ---- the end ------------------------------------------------------------ */

static tkc_place place_of_site(tki *t, uint32_t site) {
  const tki_site_info *s = tki_site_at(t, site);
  return tkc_place_of(s->func, s->inst);
}

/* Returns how many elements were read only in part. If none was, and those that
 * were read all lie at the beginning of the tensor, as if its elements were
 * narrower, it sets *beginning and returns how many were read. */
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
      beginning ? "%" PRIu64
                  " of the %zu elements of %s are read, but in pieces"
                : "%" PRIu64 " of the %zu elements of %s are read only in part",
      n, in->n, name);
  tkc_note(x->c, d, NULL,
           "its elements have %zu bytes, but the pointer is to a narrower type",
           in->size);
  tkc_help(x->c, d, "load the tensor's own type and cast what was loaded");
  tkc_reported(x->c, NULL, d);
}

static void judge_wide(reads *x, tki *t, const input *in, const tki_region *r) {
  tkc_place at = place_of_site(t, in->wide);
  const tk_dtype own = r->tensor->dtype, wide = in->widens->type.elem;
  tk_diag *d = tkc_report(
      x->c, NULL, TK_D_HALF_READ, &at, NULL,
      "each lane takes %zu elements of %s, which are %s, for one of %s",
      tk_dtype_size(wide) / in->size, r->name, tk_dtype_name(own),
      tk_dtype_name(wide));
  tkc_help(x->c, d, "load the tensor's own type and cast what was loaded");
  tkc_reported(x->c, NULL, d);
}

/* Which coordinates of each axis were read. */
typedef struct slice {
  uint8_t *on[TK_MAX_RANK];
  int64_t count[TK_MAX_RANK], highest[TK_MAX_RANK];
  bool exact; /* every element with such coordinates was read */
} slice;

static int64_t coordinate(const tk_tensor *v, uint64_t element, int axis) {
  int64_t stride = v->strides[axis];
  return stride > 0 ? (int64_t)element / stride % v->shape[axis] : 0;
}

static slice slice_of(reads *x, const tk_tensor *v, const input *in) {
  slice s = {.exact = false};
  uint64_t lanes = 1;
  for (int k = 0; k < v->rank; k++)
    s.on[k] = TK_NEWN(&x->c->run, uint8_t, (size_t)v->shape[k] + 1);
  for (size_t e = 0; e < in->n; e++)
    for (int k = 0; was_read(in, e) && k < v->rank; k++) {
      int64_t at = coordinate(v, e, k);
      s.count[k] += !s.on[k][at];
      s.on[k][at] = 1;
      if (at > s.highest[k]) s.highest[k] = at;
    }
  for (int k = 0; k < v->rank; k++) lanes *= (uint64_t)s.count[k];
  s.exact = lanes == in->read;
  return s;
}

/* Whether a triangle or a band of each matrix is read: one stretch of every
 * row, which may move to the right from one row to the next, but overlaps the
 * one above. */
static bool is_band(const tk_tensor *v, const input *in) {
  if (v->rank < 2 || v->strides[v->rank - 1] != 1) return false;
  size_t columns = (size_t)v->shape[v->rank - 1], from = 0, to = 0;
  for (size_t r = 0; r < in->n / columns; r++) {
    bool top = r % (size_t)v->shape[v->rank - 2] == 0;
    size_t n = 0, lo = columns, hi = 0;
    for (size_t i = 0; i < columns; i++)
      if (was_read(in, r * columns + i)) {
        if (!n++) lo = i;
        hi = i + 1;
      }
    if (!n || hi - lo != n || (!top && (lo < from || hi < to || lo >= to)))
      return false;
    from = lo, to = hi;
  }
  return true;
}

/* Whether the same part of an axis is read as often as there are parts: in the
 * trips of one program, or by the programs along a way.  One program must read
 * all of the part; and if the numbers may agree by accident, it must do so by a
 * single access without a mask. */
static bool stands_still(const reads *x, const tki *t, const tk_tensor *v,
                         const input *in, const slice *s, int axis) {
  const first *f = &in->first;
  const probe *ends[] = {&f->lowest, &f->highest};
  int64_t n = s->count[axis], parts = (v->shape[axis] + n - 1) / n;
  int64_t low = coordinate(v, f->lowest.element, axis);
  int64_t block = coordinate(v, f->highest.element, axis) - low + 1;
  int64_t all = coordinate(v, f->reach, axis) - low + 1;
  bool whole = block >= n && f->active == f->lanes;
  bool scattered = n == 1 || s->highest[axis] >= low + n;
  bool along = n > 1 && all >= n &&
               (whole || (parts > 2 && n * parts == v->shape[axis]));
  bool found = false;
  if (parts == 1) return false;
  for (int i = 0; i < 2; i++) {
    found |= (int64_t)(scattered ? ends[i]->lanes : ends[i]->trips) == parts;
    for (int way = 0; way < WAYS; way++)
      found |= ((n == 1 && way < AXES) ||
                (along && way_length(x, t, way) == parts)) &&
               (int64_t)ends[i]->programs[way] == parts;
  }
  return found;
}

/* Whether a kernel means to read only a part: a band, or the same coordinates
 * of some axes throughout.  It does not mean to if the reads would be enough
 * for all elements but are spread unevenly, since then a pointer moves by too
 * little.  The number of reads must be about enough if the blocks of a program
 * overlap, and exactly enough if not. */
static bool is_meant(const reads *x, const tki *t, const tk_tensor *v,
                     const input *in, const slice *s) {
  if (!s->exact) return is_band(v, in);
  const first *f = &in->first;
  uint64_t rest = in->total % in->n;
  bool uneven = in->total % in->read != 0;
  bool overlap = f->highest.trips > f->lowest.trips;
  if (uneven && (!rest || (overlap && in->total > in->n && 8 * rest <= in->n)))
    return false;
  for (int k = 0; k < v->rank; k++)
    if (stands_still(x, t, v, in, s, k)) return false;
  return true;
}

/* Whether every program reads the same single element of an input that is as
 * large as another tensor of the launch: the offsets were then forgotten. */
static bool lacks_offsets(reads *x, const tki *t, const input *in) {
  bool found = false;
  for (size_t i = 0; i < t->nregions; i++)
    found |= &x->inputs[i] != in && x->inputs[i].n == in->n;
  return found && in->read == 1 && in->total == tki_programs(t) &&
         in->total > 1;
}

/* Whether programs, as many as an input has rows, read the beginning of its
 * memory once, up to a place inside a row: they assume shorter rows than it
 * has. */
static bool has_shorter_rows(const tki *t, const tk_tensor *v, const input *in,
                             const slice *s) {
  bool rows = false, beginning = true;
  for (int d = 0; d < 3; d++) rows |= t->grid[d] == v->shape[0];
  if (!rows || v->shape[0] == 1 || s->exact || in->total != in->read)
    return false;
  for (size_t e = 0; e < in->read; e++) beginning &= was_read(in, e);
  return beginning;
}

static const char *slice_text(reads *x, tki *t, const tk_tensor *v,
                              const slice *s) {
  tk_buf b;
  tk_buf_init(&b, t->env);
  for (int k = 0; k < v->rank; k++) {
    size_t n;
    const tk_range *r = tk_fold_ranges(&x->c->run, s->on[k], v->shape[k], &n);
    if (k) tk_buf_puts(&b, ", ");
    tk_report_ranges(&b, r, n);
  }
  const char *text = tk_arena_strdup(&x->c->run, tk_buf_str(&b));
  tk_buf_free(&b);
  return text;
}

static void judge_unread(reads *x, tki *t, const input *in,
                         const tki_region *r) {
  const tk_tensor *v = r->tensor;
  if (is_read_enough(in)) return;
  slice s = slice_of(x, v, in);
  bool many = 8 * in->total >= 7 * in->n;
  if (many ? is_meant(x, t, v, in, &s)
           : !lacks_offsets(x, t, in) && !has_shorter_rows(t, v, in, &s))
    return;
  tkc_place at = place_of_site(t, in->first.site);
  tk_diag *d = tkc_report(x->c, NULL, TK_D_UNREAD_INPUT, &at, NULL,
                          "only %" PRIu64 " of the %zu elements of %s %s "
                          "read, in %" PRIu64 " reads",
                          in->read, in->n, r->name,
                          in->read == 1 ? "is" : "are", in->total);
  tkc_note(x->c, d, NULL, "%s %s %s[%s]",
           in->read == 1 ? "it lies" : "they lie", s.exact ? "in" : "within",
           r->name, slice_text(x, t, v, &s));
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
    if (in->widens && x->numbers[in->widens->id])
      judge_wide(x, t, in, &t->regions[i]);
    if (!x->branches && !in->indexed) judge_unread(x, t, in, &t->regions[i]);
  }
}
