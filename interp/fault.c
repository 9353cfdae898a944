/* fault.c - reports of accesses that must not happen: which lane is wrong,
 * which element of which tensor was meant, and what would help.
 */
#include "interp/fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/index.h"
#include "interp/describe.h"
#include "interp/keep.h"
#include "interp/wrapped.h"
#include "ir/used.h"

/* Begins the report of lanes that are wrong; NULL: it is not shown, as others
 * like it were. */
TK_PRINTF(4, 5)
static tk_diag *begin_fault(const tki_access *a, tk_diag_id id, size_t lanes,
                            const char *fmt, ...) {
  const tki_keeper *k = a->t->keeper;
  if (k && !k->count(k->ud, a->t, id, lanes)) return NULL;
  va_list ap;
  va_start(ap, fmt);
  const char *text = tk_arena_vprintf(&a->t->launch->arena, fmt, ap);
  va_end(ap);
  return k ? k->report(k->ud, a->t, id, text)
           : tki_finding(a->t, id, "%s", text);
}

static const char *lane_index(const tki_access *a, size_t lane) {
  int64_t index[TK_MAX_RANK];
  tk_arena *arena = &a->t->launch->arena;
  int rank = tk_lane_index(&a->in->type, lane, index);
  return tk_arena_printf(arena, "[%s]", tk_ints_text(arena, index, rank));
}

static void note_tensor(const tki_access *a, tk_diag *d, const tki_region *r) {
  tk_arena *arena = &a->t->launch->arena;
  const tk_tensor *x = r->tensor;
  tk_diag_note(a->t->env, d, NULL, (tk_span){0, 0},
               "%s is %s[%s] with strides [%s], %" PRIu64 " bytes of storage",
               r->name, tk_dtype_name(x->dtype),
               tk_ints_text(arena, x->shape, x->rank),
               tk_ints_text(arena, x->strides, x->rank), r->hi - r->lo);
}

/* Notes which other arguments have the same memory. */
static void note_aliases(const tki_access *a, tk_diag *d, const tki_region *r) {
  const tki *t = a->t;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *x = &t->regions[i];
    if (x == r || !x->tensor || x->lo >= r->hi || x->hi <= r->lo) continue;
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
                 "%s and %s are the same memory, in part or all of it", r->name,
                 x->name);
  }
}

static bool is_expanded(const tk_tensor *x) {
  for (int i = 0; i < x->rank; i++)
    if (x->shape[i] > 1 && !x->strides[i]) return true;
  return false;
}

static void note_lane(const tki_access *a, tk_diag *d, size_t lane) {
  tk_env *e = a->t->env;
  tk_span none = {0, 0};
  const char *mask = a->mask ? "true" : "none";
  tki_note_element(a->t, d, tki_access_region(a, lane), a->addr[lane]);
  if (!a->in->type.rank) {
    tk_diag_note(e, d, NULL, none, "a scalar access, mask %s", mask);
    return;
  }
  tk_diag_lane(e, d, lane_index(a, lane));
  tk_diag_note(e, d, NULL, none, "first bad lane: %s, mask %s", d->f.lane_text,
               mask);
}

/* An offset that is so far outside is often one that int32 could not hold. */
static bool has_wrapped(int64_t element) {
  const int64_t far = INT64_C(1) << 28;
  return element <= -far || (element >= far && element < 16 * far);
}

/* Notes the operation that made the offset of a lane wrap. */
static void note_wrapped(const tki_access *a, tk_diag *d,
                         const tki_wrapped *w) {
  tk_binary op = tk_binary_op(w->in);
  tk_diag_note(a->t->env, d, w->func->src, w->in->span,
               "the offset wraps here: %" PRId64 " %s %" PRId64
               " does not fit into %s",
               w->left,
               op == TK_B_ADD   ? "+"
               : op == TK_B_SUB ? "-"
                                : "*",
               w->right, tk_dtype_name((tk_dtype)w->in->type.elem));
}

/* An access outside of a tensor. */
typedef struct outside {
  const tki_access *a;
  const tk_tensor *tensor;
  int64_t element, limit;
  size_t lanes;         /* that are outside */
  const tki_wrapped *w; /* NULL: no operation is known to have wrapped */
} outside;

static const char *wrapped_help(const outside *x) {
  int64_t meant;
  if (x->w->is_known &&
      !__builtin_add_overflow(x->element, x->w->lost, &meant) &&
      (meant < 0 || meant >= x->limit))
    return tk_arena_printf(&x->a->t->launch->arena,
                           "in int64 it would be element %" PRId64
                           ", which is outside, too: "
                           "correct the offset, or mask the lane off",
                           meant);
  return "compute the offset in int64: cast a factor by .to(tl.int64)";
}

/* A mask cannot be told from an offset that is not the one that is meant, but
 * where a block begins inside of its tensor and goes on past the end. */
static const char *mask_help(const outside *x) {
  bool before = x->element < 0, inside = x->lanes < x->a->n;
  if (x->a->mask)
    return before
               ? "the mask is true for this lane: correct the offset, or let "
                 "the mask test that it is >= 0"
               : "the mask is true for this lane: correct the offset, or let "
                 "the mask compare it with the size";
  if (before)
    return "add a mask, such as mask=offsets >= 0, or begin at a later offset";
  if (inside) return "add a mask, such as mask=offsets < n";
  return x->a->n == 1
             ? "correct the offset, or add a mask, such as mask=offset < n"
             : "no lane is inside: correct the offset, or add a mask, such as "
               "mask=offsets < n";
}

static const char *outside_help(const outside *x) {
  tk_window window = tk_inst_window(x->a->in);
  if (window == TK_W_BLOCK_POINTER)
    return "boundary_check= must name the axes that run past the shape, and "
           "the shape must be the tensor's";
  if (window == TK_W_DESCRIPTOR)
    return "the descriptor's shape and strides must be the tensor's";
  if (x->w) return wrapped_help(x);
  if (has_wrapped(x->element))
    return "an offset as far out as this is often an int32 product or sum that "
           "has wrapped: --check=overflow names it if one has";
  if (is_expanded(x->tensor))
    return "the tensor is expanded, with a stride of 0: give the kernel its "
           "strides, or a tensor made by .contiguous()";
  return mask_help(x);
}

void tki_fault_outside(const tki_access *a, size_t lane, const tki_region *r,
                       size_t lanes) {
  uint64_t base = r->lo + (uint64_t)((char *)r->tensor->data - r->host);
  int64_t off = (int64_t)(a->addr[lane] - base);
  int64_t size = (int64_t)a->size, limit = (int64_t)(r->hi - base) / size;
  tk_diag *d =
      begin_fault(a, TK_D_BOUNDS, lanes,
                  "%s %s %s: element %lld of %lld (byte offset "
                  "%lld), %zu of %zu lane%s",
                  a->verb, off < 0 ? "before the start of" : "past the end of",
                  r->name, (long long)(off / size), (long long)limit,
                  (long long)off, lanes, a->n, a->n == 1 ? "" : "s");
  if (!d) return;
  note_lane(a, d, lane);
  note_tensor(a, d, r);
  note_aliases(a, d, r);
  const tki_region *other = tki_region_at(a->t, a->addr[lane], a->size);
  if (other)
    tk_diag_note(a->t->env, d, NULL, (tk_span){0, 0},
                 "the address lies in %s, which this pointer does not belong "
                 "to",
                 other->name);
  tki_wrapped w;
  bool wrapped = tki_find_wrapped(a, lane, &w) && !w.func->library;
  if (wrapped) note_wrapped(a, d, &w);
  tk_diag_help(a->t->env, d, "%s",
               outside_help(&(outside){a, r->tensor, off / size, limit, lanes,
                                       wrapped ? &w : NULL}));
}

static size_t flags_of(const tk_func *f) {
  return f->nslots + 1 + f->nresults;
}

/* Returns, by slot of a frame, whether its value can matter; the caller frees
 * it. A value that is returned matters if the frame's caller uses it. */
static bool *used_in_frame(const tki *t, const tki_frame *f) {
  const tk_inst *call = tki_call_of(f);
  bool *outer = call ? used_in_frame(t, f->caller) : NULL;
  bool *used = tk_calloc(t->env, flags_of(f->func), sizeof *used);
  bool *results = used + f->func->nslots + 1;
  for (size_t i = 0; i < f->func->nresults; i++)
    results[i] = !call || outer[call->res[i]];
  tk_mark_used(t->env, f->func, results, used);
  if (outer) tk_free(t->env, outer, flags_of(f->caller->func));
  return used;
}

static bool is_result_used(const tki_access *a) {
  const tki_frame *f = a->t->frame;
  bool *used = used_in_frame(a->t, f);
  bool any = tk_any_used(used, a->in);
  tk_free(a->t->env, used, flags_of(f->func));
  return any;
}

bool tki_load_left_out(const tki_access *a) {
  const tki_region *r = a->region == TKI_ANY ? NULL : &a->t->regions[a->region];
  if (!r || r->lo != r->hi || !a->n) return false;
  if (a->mask && !memchr(a->mask, 1, a->n)) return false;
  if (is_result_used(a)) return false;
  tk_diag *d = tki_finding(a->t, TK_D_SUSPICIOUS,
                           "load from %s, which has no elements: nothing uses "
                           "the value, so a compiler leaves the load out",
                           r->name);
  note_tensor(a, d, r);
  tk_diag_help(a->t->env, d, "remove the load, or mask it off");
  return true;
}

/* Bytes between an address and a region: 0, in it or next to it. */
static uint64_t bytes_between(const tki_region *r, uint64_t x) {
  return x < r->lo ? r->lo - x : x > r->hi ? x - r->hi : 0;
}

/* Returns the region that an address misses by a little; NULL: there is none.
 */
static const tki_region *nearest(const tki *t, uint64_t x) {
  const uint64_t far = UINT64_C(1) << 20;
  const tki_region *best = NULL;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    uint64_t own = r->hi - r->lo, away = bytes_between(r, x);
    if (away <= (own > far ? own : far) &&
        (!best || away < bytes_between(best, x)))
      best = r;
  }
  return best;
}

/* Returns ": 8 bytes past the end of x", or "" if x is near no region. */
static const char *beside(const tki_access *a, const tki_region *r,
                          uint64_t x) {
  tk_arena *arena = &a->t->launch->arena;
  if (!r) return "";
  if (x >= r->lo && x < r->hi)
    return tk_arena_printf(arena, ": it begins in %s and goes past its end",
                           r->name);
  return tk_arena_printf(
      arena, ": %" PRIu64 " bytes %s of %s", bytes_between(r, x),
      x < r->lo ? "before the start" : "past the end", r->name);
}

static const char *wild_help(bool null, bool near) {
  if (null)
    return "the pointer was never set: pass a tensor, or mask the access off "
           "where there is none";
  return near ? "the pointer was loaded: add a mask that keeps the offsets "
                "added to it inside of its tensor"
              : "a pointer that is loaded must be the data_ptr() of a tensor "
                "that still exists, or point into one";
}

void tki_fault_wild(const tki_access *a, size_t lane, size_t lanes) {
  uint64_t x = a->addr[lane];
  bool null = x < 4096;
  const tki_region *near = null ? NULL : nearest(a->t, x);
  tk_diag *d =
      begin_fault(a, null ? TK_D_NULL_POINTER : TK_D_WILD_POINTER, lanes,
                  "%s at address 0x%" PRIx64 ", which is %s%s", a->verb, x,
                  null ? "a null pointer" : "in no tensor of this launch",
                  beside(a, near, x));
  if (!d) return;
  note_lane(a, d, lane);
  if (near) note_tensor(a, d, near);
  tk_diag_help(a->t->env, d, "%s", wild_help(null, near != NULL));
}

void tki_fault_misaligned(const tki_access *a, size_t lane, size_t lanes) {
  tk_diag *d = begin_fault(a, TK_D_MISALIGNED, lanes,
                           "%s of %zu bytes at address 0x%" PRIx64
                           ", which is not a multiple of %zu",
                           a->verb, a->size, a->addr[lane], a->size);
  if (!d) return;
  note_lane(a, d, lane);
  tk_diag_help(a->t->env, d,
               "a pointer to a wider type must begin at a multiple of its "
               "size: load the narrow elements and put them together");
}

void tki_fault_read_only(const tki_access *a, size_t lane, const tki_region *r,
                         size_t lanes) {
  tk_diag *d = begin_fault(a, TK_D_READ_ONLY, lanes,
                           "%s to %s, which is read-only", a->verb, r->name);
  if (!d) return;
  note_lane(a, d, lane);
  tk_diag_help(a->t->env, d, "store to another tensor, or make %s writable",
               r->name);
}
