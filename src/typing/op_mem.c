/* op_mem.c - rules: loads, stores, atomics, block pointers, descriptors.
 *
 * Block pointers and descriptors are tuples of ordinary values (base, shape,
 * strides, offsets); their loads become pointer arithmetic and a mask, so
 * that nothing below knows of them.  Source: Triton 3.6 semantic.py
 * (_load_legacy, _store_legacy, atom_red_typechecking_impl, make_block_ptr).
 */
#include <string.h>

#include "typing/rule.h"
#include "typing/version.h"

static void need_pointer(tks *s, const char *op, const sval *p) {
  if (!sv_is_tensor(p) || !p->type.ptr)
    tks_error_help(s, TK_D_TYPE,
                   "pass the tensor itself, not a value loaded from it",
                   "%s needs a pointer, not %s", op, tks_show(s, p));
}

static void need_mask(tks *s, const sval *m) {
  bool offsets = !m->type.ptr && sv_dtype(m) == TK_INT32 && m->type.rank;
  if (m->type.ptr || sv_dtype(m) != TK_INT1)
    tks_error_help(s, TK_D_TYPE,
                   offsets ? "offsets are added to the pointer, as in "
                             "tl.load(x + i); a mask is a comparison, or "
                             ".to(tl.int1)"
                           : "compare, or convert with .to(tl.int1)",
                   "mask must have boolean lanes, not %s", tks_show(s, m));
}

static void scalar_only(tks *s, const sval *p, const sval *v,
                        const char *what) {
  if (!p->type.rank && v->type.rank)
    tks_error_help(s, TK_D_SHAPE,
                   "add a block of offsets to the pointer: out + "
                   "tl.arange(0, BLOCK)",
                   "%s cannot be a block when the pointer is a scalar", what);
}

/* v in the shape of the pointer; pointers never grow to fit it. */
static sval fit(tks *s, const sval *p, const sval *v, const char *what) {
  scalar_only(s, p, v, what);
  if (!v->type.rank) return *v;
  sval q = *p, fitted = *v;
  tks_broadcast2(s, &q, &fitted);
  if (!tk_same_shape(&q.type, &p->type))
    tks_error(s, TK_D_SHAPE, "%s of %s does not fit the pointers %s", what,
              tks_show(s, &fitted), tks_show(s, p));
  return fitted;
}

static tk_inst *last_inst(tks *s) {
  return s->frame->insts->items[s->frame->insts->n - 1];
}

sval tks_load(tks *s, const sval *ptr, const sval *mask, const sval *other) {
  sval v[3] = {*ptr};
  uint8_t has = 1; /* bits as of tk_inst.has */
  size_t n = 1;
  tk_type t = tk_pointee(ptr->type);
  if (mask && !sv_is_none(mask)) {
    v[n] = tks_to_tensor(s, mask);
    need_mask(s, &v[n]);
    scalar_only(s, ptr, &v[n], "mask");
    tks_broadcast2(s, &v[0], &v[n]);
    t = tk_with_shape(t, &v[0].type);
    has |= 2;
    n++;
  }
  if (other && !sv_is_none(other)) {
    sval o = tks_to_tensor(s, other);
    tk_type before = v[0].type;
    scalar_only(s, ptr, &o, "other");
    tks_broadcast2(s, &v[0], &o);
    if (has & 2 && !tk_same_shape(&before, &v[0].type))
      tks_error_help(s, TK_D_SHAPE, "give the mask the shape of `other`",
                     "`other`, %s, does not have the shape of the pointers and "
                     "their mask",
                     tks_show(s, &o));
    t = tk_with_shape(t, &v[0].type);
    v[n] = tks_cast(s, &o, tk_elem_of(t), false);
    has |= 4;
    n++;
  }
  tk_inst *in = tks_emit(s, TK_I_LOAD, 0, t, n, v);
  in->has = has;
  return tks_result(in);
}

/* What a store or atomic takes: pointer, value of its type, mask if any.
 * Booleans lie in memory as int8: of another type the low byte is stored,
 * whether or not the value is zero. */
static size_t write_operands(tks *s, const sval *ptr, const sval *val,
                             const sval *mask, sval v[3]) {
  tk_type t = tk_pointee(ptr->type);
  v[0] = *ptr;
  v[1] = tks_to_tensor(s, val);
  v[1] = fit(s, ptr, &v[1], "value");
  bool byte = !tks_has(s, TKS_BOOLS_STORED) && t.elem == TK_INT1 && !t.ptr &&
              !v[1].type.ptr && v[1].type.elem != TK_INT1;
  tk_type stored = byte ? tk_scalar(TK_INT8) : tk_elem_of(t);
  v[1] = tks_cast(s, &v[1], stored, false);
  if (!mask || sv_is_none(mask)) return 2;
  v[2] = tks_to_tensor(s, mask);
  need_mask(s, &v[2]);
  v[2] = fit(s, ptr, &v[2], "mask");
  return 3;
}

static void emit_store(tks *s, const sval *ptr, const sval *val,
                       const sval *mask) {
  tk_type t = tk_pointee(ptr->type);
  sval v[3];
  size_t n = write_operands(s, ptr, val, mask, v);
  tks_inst_new(s, TK_I_STORE, 0, t, n, v, 0);
}

/* ---- options that change nothing here but are kept for a compiler ------- */

/* The words of a list that an option may be, and what errors call it. */
typedef struct option_words {
  tk_list list;
  unsigned words; /* bit i: the i-th word of the list */
  bool dot;       /* they begin with a dot */
  const char *what;
} option_words;

static const option_words store_cache = {TK_LIST_CACHE,
                                         1u << TK_CACHE_WB | 1u << TK_CACHE_CG |
                                             1u << TK_CACHE_CS |
                                             1u << TK_CACHE_WT,
                                         true, "cache modifier"};
static const option_words sems = {TK_LIST_SEM, ~0u, false, "memory semantic"};
static const option_words load_sems = {
    TK_LIST_SEM, 1u << TK_SEM_ACQUIRE | 1u << TK_SEM_RELAXED, false,
    "atomic_load with the memory semantic"};
static const option_words store_sems = {
    TK_LIST_SEM, 1u << TK_SEM_RELEASE | 1u << TK_SEM_RELAXED, false,
    "atomic_store with the memory semantic"};
static const option_words scopes = {TK_LIST_SCOPE, ~0u, false, "memory scope"};

static void bad_option(tks *s, const tks_args *a, size_t i, const char *what) {
  s->frame->at = a->span[i];
  tks_error(s, TK_D_VALUE, "%s '%s' is not supported", what,
            tks_arg_str(s, a, i));
}

/* Which word an argument is; `usual` if it is empty. */
static int64_t option_word(tks *s, const tks_args *a, size_t i,
                           const option_words *w, int64_t usual) {
  const char *text = tks_arg_str(s, a, i);
  bool bare = tks_has(s, TKS_CACHE_WITHOUT_DOT);
  bool none = w->dot && bare && !strcmp(text + (*text == '.'), "none");
  if (!*text || none) return usual;
  int64_t k = -1;
  if (!w->dot || *text == '.' || bare)
    k = tk_list_find(w->list, text + (w->dot && *text == '.'));
  if (k < 0 || !(w->words >> k & 1)) bad_option(s, a, i, w->what);
  return k;
}

static option_words eviction(const tks *s) {
  unsigned words = 1u << TK_EVICT_LAST | 1u << TK_EVICT_FIRST;
  if (tks_has(s, TKS_EVICT_NORMAL_NAMED)) words |= 1u << TK_EVICT_NORMAL;
  return (option_words){TK_LIST_EVICTION, words, false, "eviction policy"};
}

static void check_options(tks *s, const tks_args *a, size_t i,
                          const option_words *cache) {
  const option_words policy = eviction(s);
  option_word(s, a, i, cache, 0);
  option_word(s, a, i + 1, &policy, 0);
}

/* Keeps the cache modifier and the eviction policy of the last access. */
static void keep_options(tks *s, const tks_args *a, size_t i,
                         const option_words *cache) {
  const option_words policy = eviction(s);
  tk_inst *in = last_inst(s);
  in->attr[2] = option_word(s, a, i, cache, TK_CACHE_DEFAULT);
  in->attr[3] = option_word(s, a, i + 1, &policy, TK_EVICT_DEFAULT);
}

/* The words of a load's cache modifier. */
static option_words load_cache(const tks *s) {
  unsigned words = 1u << TK_CACHE_CA | 1u << TK_CACHE_CG | 1u << TK_CACHE_CV;
  if (tks_has(s, TKS_LOAD_STREAMS)) words |= 1u << TK_CACHE_CS;
  return (option_words){TK_LIST_CACHE, words, true, "cache modifier"};
}

/* The texts of a padding option have no list of the typed form's. */
static void check_padding(tks *s, const tks_args *a, size_t i) {
  const char *text = tks_arg_str(s, a, i);
  if (*text && strcmp(text, "zero") != 0 && strcmp(text, "nan") != 0)
    bad_option(s, a, i, "padding option");
}

/* ---- block pointers ---------------------------------------------------- */

/* items: base, shape..., strides..., offsets... (rank of each) */
static sval *bp_shape(const sval *p) {
  return p->items + 1;
}
static sval *bp_strides(const sval *p) {
  return p->items + 1 + p->type.rank;
}
static sval *bp_offsets(const sval *p) {
  return p->items + 1 + 2 * p->type.rank;
}

/* lanes offset .. offset + size - 1 along axis, int64, in a block's rank. */
static sval axis_index(tks *s, const sval *offset, const tk_type *block,
                       int axis) {
  tk_type t = {.elem = TK_INT32, .rank = 1, .shape = {block->shape[axis]}};
  tk_inst *in = tks_emit(s, TK_I_ARANGE, 0, t, 0, NULL);
  sval lanes = tks_result(in), off = tks_to_tensor(s, offset);
  lanes = tks_cast_to(s, &lanes, TK_INT64);
  off = tks_cast_to(s, &off, TK_INT64);
  lanes = tks_binary(s, TK_OP_ADD, &lanes, &off);
  int64_t shape[TK_MAX_RANK];
  for (int i = 0; i < block->rank; i++)
    shape[i] = i == axis ? block->shape[i] : 1;
  return tks_reshape(s, &lanes, shape, block->rank);
}

static sval in_range(tks *s, const sval *index, const sval *limit) {
  sval zero = sv_int(0);
  sval lo = tks_binary(s, TK_OP_GE, index, &zero);
  sval hi = tks_binary(s, TK_OP_LT, index, limit);
  return tks_binary(s, TK_OP_BITAND, &lo, &hi);
}

typedef struct window {
  sval ptr, mask; /* mask V_NONE when nothing is checked */
  const sval *at; /* of a descriptor: the block's offsets; NULL: several */
} window;

/* Pointers to a block at offsets; axes in `check` are masked. */
static window window_of(tks *s, const sval *p, const sval *offsets,
                        unsigned check) {
  window w = {p->items[0], sv(V_NONE), offsets};
  for (int i = 0; i < p->type.rank; i++) {
    sval index = axis_index(s, &offsets[i], &p->type, i);
    sval step = tks_binary(s, TK_OP_MUL, &index, &bp_strides(p)[i]);
    w.ptr = tks_binary(s, TK_OP_ADD, &w.ptr, &step);
    if (!(check >> i & 1)) continue;
    sval ok = in_range(s, &index, &bp_shape(p)[i]);
    w.mask =
        sv_is_none(&w.mask) ? ok : tks_binary(s, TK_OP_BITAND, &w.mask, &ok);
  }
  w.ptr = tks_broadcast(s, &w.ptr, &p->type);
  if (!sv_is_none(&w.mask)) w.mask = tks_broadcast(s, &w.mask, &p->type);
  return w;
}

/* Notes what the last instruction goes through, for the detectors; offsets:
 * those of a block, NULL if it has several. */
static void note_window(tks *s, const sval *p, const sval *offsets,
                        unsigned check) {
  tk_window_made m = {.in = last_inst(s),
                      .rank = p->type.rank,
                      .size = tk_dtypes[p->type.elem].size,
                      .checked = check,
                      .base = p->items[0].slot};
  if (p->kind == V_DESC && p->slot) {
    m.src = s->descs.items[p->slot - 1].src;
    m.made = s->descs.items[p->slot - 1].span;
  }
  for (int k = 0; k < m.rank; k++) {
    m.block[k] = p->type.shape[k];
    m.shape[k] = bp_shape(p)[k].slot;
    m.strides[k] = bp_strides(p)[k].slot;
    m.offsets[k] = offsets ? offsets[k].slot : -1;
  }
  TK_PUSH(s->arena, &s->origin->windows, m);
}

static sval whole_number(tks *s, const sval *from, const char *what) {
  sval v = tks_to_tensor(s, from);
  if (v.type.rank || v.type.ptr || !tk_is_int(sv_dtype(&v)))
    tks_error(s, TK_D_TYPE, "%s must be scalar integers, not %s", what,
              tks_show(s, &v));
  return v;
}

/* An offset of a window: what fits in 32 bits, as Triton wants it. */
static sval window_offset(tks *s, const sval *from) {
  sval v = whole_number(s, from, "offsets");
  tk_dtype d = sv_dtype(&v);
  if (d != TK_INT32 && (d != TK_UINT32 || sv_is_number(from)))
    tks_error_help(
        s, TK_D_TYPE, sv_is_number(from) ? NULL : "convert it: .to(tl.int32)",
        "offsets are integers of 32 bits, not %s", tks_show(s, from));
  return tks_cast_to(s, &v, TK_INT32);
}

/* A length or a stride of a window, of type d. */
static sval window_length(tks *s, const sval *from, tk_dtype d,
                          const char *what) {
  sval v = whole_number(s, from, what);
  if (from->kind == V_INT && sv_dtype(&v) == TK_UINT64)
    tks_error(s, TK_D_VALUE, "%s are of 64 bits, not %s", what,
              tks_show(s, from));
  return tks_cast_to(s, &v, d);
}

static sval as_tuple(tks *s, const sval *v) {
  return v->kind == V_TUPLE ? *v : sv_tuple(s, v, 1);
}

/* A list of a block pointer's, one for each axis.  Before Triton 3.8 a
 * constexpr does not count as one, since it has no items. */
static sval block_list(tks *s, const sval *v) {
  if (sv_is_number(v))
    tks_need(s, TKS_BLOCK_OFFSETS_IN_64,
             "a block pointer takes tuples, of one number for each axis",
             "write (n,)");
  return as_tuple(s, v);
}

/* An offset of a block pointer. */
static sval block_offset(tks *s, const sval *from) {
  return tks_has(s, TKS_BLOCK_OFFSETS_IN_64)
             ? window_length(s, from, TK_INT64, "offsets")
             : window_offset(s, from);
}

static int block_rank(tks *s, const tks_args *a, size_t block_arg, sval *out) {
  int64_t shape[TK_MAX_RANK];
  int rank = tks_arg_shape(s, &a->v[block_arg], shape);
  tks_check_shape(s, shape, rank);
  need_pointer(s, a->op->name, &a->v[0]);
  if (a->v[0].type.rank)
    tks_error(s, TK_D_TYPE, "%s: base must be a scalar pointer, not %s",
              a->op->name, tks_show(s, &a->v[0]));
  out->type = tk_pointee(a->v[0].type);
  out->type.rank = (uint8_t)rank;
  for (int i = 0; i < rank; i++) out->type.shape[i] = (int32_t)shape[i];
  return rank;
}

static void fill_window(tks *s, const tks_args *a, sval *p, const size_t *from,
                        const tk_dtype *d, int parts) {
  enum { OFFSETS = 2 };
  static const char *const what[] = {"shape", "strides", "offsets"};
  size_t rank = p->type.rank;
  p->n = 1 + (size_t)parts * rank;
  p->items = TK_NEWN(s->arena, sval, p->n);
  p->items[0] = a->v[0];
  for (int k = 0; k < parts; k++) {
    sval t = parts > OFFSETS ? block_list(s, &a->v[from[k]])
                             : as_tuple(s, &a->v[from[k]]);
    if (t.n != rank)
      tks_error(s, TK_D_SHAPE, "%s: %s has %zu values for %zu axes",
                a->op->name, what[k], t.n, rank);
    sval *to = p->items + 1 + (size_t)k * rank;
    for (size_t i = 0; i < rank; i++)
      to[i] = k < OFFSETS ? window_length(s, &t.items[i], d[k], what[k])
                          : block_offset(s, &t.items[i]);
  }
}

static void check_order(tks *s, const sval *order, int rank) {
  sval t = block_list(s, order);
  unsigned seen = 0;
  for (size_t i = 0; i < t.n; i++)
    if (t.items[i].kind == V_INT && t.items[i].i >= 0 && t.items[i].i < rank)
      seen |= 1u << (int)t.items[i].i;
  if ((int)t.n != rank || seen != (1u << rank) - 1)
    tks_error(s, TK_D_VALUE,
              "make_block_ptr: order must be a permutation of 0 .. %d",
              rank - 1);
}

sval rule_make_block_ptr(tks *s, const tks_args *given) {
  static const size_t from[] = {1, 2, 3};
  static const tk_dtype d[] = {TK_INT64, TK_INT64};
  sval p = {.kind = V_BLOCKPTR};
  tks_args a = *given;
  if (a.v[0].kind == V_TENSOR && a.v[0].type.ptr &&
      tk_pointee(a.v[0].type).elem == TK_INT1) /* bools are bytes here */
    a.v[0] = tks_cast(s, &a.v[0], tk_pointer(tk_scalar(TK_INT8)), false);
  int rank = block_rank(s, &a, 4, &p);
  check_order(s, &a.v[5], rank);
  fill_window(s, &a, &p, from, d, 3);
  return p;
}

sval rule_advance(tks *s, const tks_args *a) {
  const sval *p = &a->v[0];
  if (p->kind != V_BLOCKPTR)
    tks_error(s, TK_D_TYPE, "tl.advance needs a block pointer, not %s",
              tks_show(s, p));
  sval by = block_list(s, &a->v[1]), r = *p;
  if (by.n != p->type.rank)
    tks_error(s, TK_D_SHAPE, "tl.advance: %zu offsets for %d axes", by.n,
              p->type.rank);
  r.items = TK_NEWN(s->arena, sval, p->n);
  memcpy(r.items, p->items, p->n * sizeof(sval));
  for (size_t i = 0; i < by.n; i++) {
    sval step = block_offset(s, &by.items[i]);
    bp_offsets(&r)[i] = tks_binary(s, TK_OP_ADD, &bp_offsets(p)[i], &step);
  }
  return r;
}

static unsigned boundary(tks *s, const tks_args *a, const sval *v, int rank) {
  sval t = as_tuple(s, v);
  unsigned bits = 0;
  if (sv_is_none(v)) return 0;
  if (sv_is_number(v))
    tks_error_help(s, TK_D_TYPE, "write (n,)",
                   "boundary_check is a tuple of axes, not %s", tks_show(s, v));
  for (size_t i = 0; i < t.n; i++) {
    if (t.items[i].kind != V_INT || t.items[i].i < 0 || t.items[i].i >= rank)
      tks_error(s, TK_D_VALUE, "%s: boundary_check names axes 0 .. %d",
                a->op->name, rank - 1);
    unsigned bit = 1u << (int)t.items[i].i;
    if (bits & bit)
      tks_error(s, TK_D_VALUE, "%s: boundary_check names axis %d twice",
                a->op->name, (int)t.items[i].i);
    bits |= bit;
  }
  return bits;
}

static bool has_boundary(const sval *v) {
  return !(sv_is_none(v) || (v->kind == V_TUPLE && v->n == 0));
}

static void no_nan_for_integers(tks *s, tk_dtype d) {
  if (tk_is_int(d))
    tks_error(s, TK_D_TYPE, "padding option 'nan' is not for integers");
}

static sval load_block(tks *s, const tks_args *a) {
  const sval *p = &a->v[0];
  if (!sv_is_none(&a->v[1]) || !sv_is_none(&a->v[2]))
    tks_error(s, TK_D_CALL,
              "`mask` and `other` arguments cannot be specified "
              "for loading block pointers");
  check_padding(s, a, 4);
  const char *pad = tks_arg_str(s, a, 4);
  bool nan = !strcmp(pad, "nan");
  if (nan) no_nan_for_integers(s, sv_dtype(p));
  unsigned check = boundary(s, a, &a->v[3], p->type.rank);
  window w = window_of(s, p, bp_offsets(p), check);
  sval fill = nan ? sv_float(__builtin_nan("")) : sv_int(0);
  bool padded = *pad && !sv_is_none(&w.mask);
  if (*pad && !padded)
    tks_error_help(
        s, TK_D_CALL, "name the axes: boundary_check=(0,)",
        "padding_option is for lanes that boundary_check leaves out, "
        "and nothing is checked");
  if (padded) fill = tks_number(s, &fill, sv_dtype(p));
  sval v = tks_load(s, &w.ptr, &w.mask, padded ? &fill : NULL);
  last_inst(s)->attr[1] = TK_W_BLOCK_POINTER;
  note_window(s, p, bp_offsets(p), check);
  const option_words cache = load_cache(s);
  keep_options(s, a, 5, &cache);
  return v;
}

/* Before Triton 3.9 loads and stores have parameters for block pointers. */
static void no_block_options(tks *s, const tks_args *a, size_t i, size_t end) {
  bool given = i < end && has_boundary(&a->v[i]);
  if (given || (i + 1 < end && *tks_arg_str(s, a, i + 1)))
    tks_error_help(s, TK_D_CALL, "use a mask, or tl.make_block_ptr",
                   "boundary_check and padding_option are for block pointers");
}

/* The mode says where the options begin. */
sval rule_load(tks *s, const tks_args *a) {
  size_t options = (size_t)a->op->mode;
  const option_words cache = load_cache(s);
  check_options(s, a, options, &cache);
  if (a->v[0].kind == V_BLOCKPTR) return load_block(s, a);
  tk_span at = s->frame->at;
  s->frame->at = a->span[0];
  need_pointer(s, "tl.load", &a->v[0]);
  no_block_options(s, a, 3, options);
  if (sv_is_none(&a->v[1]) && !sv_is_none(&a->v[2]))
    tks_error(s, TK_D_CALL, "`other` cannot be provided without `mask`");
  s->frame->at = at;
  sval v = tks_load(s, &a->v[0], &a->v[1], &a->v[2]);
  last_inst(s)->attr[0] =
      tks_arg_only_bool(s, a, options + 2, TKS_VOLATILE_IS_BOOL);
  keep_options(s, a, options, &cache);
  return v;
}

/* What goes through a block pointer is neither converted nor stretched, but
 * for a scalar. */
static sval block_value(tks *s, const sval *p, const sval *value) {
  sval v = tks_to_tensor(s, value);
  if (v.type.rank && !tk_same_shape(&v.type, &p->type))
    tks_error(s, TK_D_SHAPE, "the value is %s, the block %s", tks_show(s, &v),
              tks_type_text(s, &p->type));
  if (v.type.ptr || v.type.elem != p->type.elem)
    tks_error_help(s, TK_D_TYPE,
                   tk_arena_printf(s->arena, "convert it: .to(tl.%s)",
                                   tk_dtypes[p->type.elem].name),
                   "the elements of a block pointer's block are %s, those of "
                   "the value are not: %s",
                   tk_dtype_name(sv_dtype(p)), tks_show(s, &v));
  return v;
}

sval rule_store(tks *s, const tks_args *a) {
  const sval *p = &a->v[0];
  size_t options = (size_t)a->op->mode;
  check_options(s, a, options, &store_cache);
  if (p->kind == V_BLOCKPTR) {
    if (!sv_is_none(&a->v[2]))
      tks_error(s, TK_D_CALL,
                "`mask` cannot be specified for storing through "
                "block pointers");
    unsigned check = boundary(s, a, &a->v[3], p->type.rank);
    sval v = tks_has(s, TKS_BLOCK_STORE_CONVERTS) ? a->v[1]
                                                  : block_value(s, p, &a->v[1]);
    window w = window_of(s, p, bp_offsets(p), check);
    emit_store(s, &w.ptr, &v, &w.mask);
    last_inst(s)->attr[1] = TK_W_BLOCK_POINTER;
    note_window(s, p, bp_offsets(p), check);
    keep_options(s, a, options, &store_cache);
    return sv(V_NONE);
  }
  need_pointer(s, "tl.store", p);
  if (p->type.is_const)
    tks_error(s, TK_D_TYPE, "Cannot store to a constant pointer");
  no_block_options(s, a, 3, options);
  emit_store(s, p, &a->v[1], &a->v[2]);
  keep_options(s, a, options, &store_cache);
  return sv(V_NONE);
}

/* ---- tensor descriptors ------------------------------------------------ */

/* Triton looks at the strides that it knows. */
static void check_desc_strides(tks *s, const sval *strides, int size) {
  for (size_t i = 0; i + 1 < strides->n; i++) {
    const sval *v = &strides->items[i];
    if (v->kind == V_INT && (int64_t)v->i * size % 16)
      tks_error_help(s, TK_D_VALUE, "pad the rows of the tensor",
                     "tensor descriptor strides must be 16-byte aligned, but "
                     "got a stride of %lld * %d bytes",
                     (long long)v->i, size);
  }
}

sval rule_make_desc(tks *s, const tks_args *a) {
  static const size_t from[] = {1, 2};
  static const tk_dtype d[] = {TK_INT32, TK_INT64};
  sval p = {.kind = V_DESC};
  int rank = block_rank(s, a, 3, &p);
  if (rank < 1 || rank > 5)
    tks_error(s, TK_D_SHAPE, "a tensor descriptor has 1 to 5 axes, not %d",
              rank);
  sval strides = as_tuple(s, &a->v[2]);
  const sval *last = strides.n ? &strides.items[strides.n - 1] : NULL;
  if (last && !(last->kind == V_INT && last->i == 1))
    tks_error(s, TK_D_VALUE,
              "a tensor descriptor's last stride must be the "
              "constexpr 1");
  if (tks_has(s, TKS_DESC_STRIDES))
    check_desc_strides(s, &strides, tk_dtypes[p.type.elem].size);
  size_t bytes = (size_t)p.type.shape[rank - 1] * tk_dtypes[p.type.elem].size;
  if (bytes < 16)
    tks_error(s, TK_D_SHAPE,
              "Descriptor block shape must have at least 16 bytes in the last "
              "dimension, but got %d * %d = %zu bytes",
              p.type.shape[rank - 1], (int)tk_dtypes[p.type.elem].size, bytes);
  check_padding(s, a, 4);
  fill_window(s, a, &p, from, d, 2);
  p.i = strcmp(tks_arg_str(s, a, 4), "nan") ? 0 : DESC_NAN;
  if (p.i) no_nan_for_integers(s, sv_dtype(&p));
  TK_PUSH(
      s->arena, &s->descs,
      ((tks_desc){.func = s->frame->func,
                  .src = s->frame->func->src,
                  .span = s->frame->call.hi ? s->frame->call : s->frame->at}));
  p.slot = (int)s->descs.n;
  return p;
}

static window desc_window(tks *s, const sval *p, const sval *offsets) {
  tks_use_desc(s, p);
  if (p->kind != V_DESC)
    tks_error(s, TK_D_TYPE, "expected a tensor descriptor, not %s",
              tks_show(s, p));
  if (offsets->kind != V_TUPLE)
    tks_error_help(s, TK_D_TYPE, "write [n], with a number for each axis",
                   "a descriptor takes a list of offsets, not %s",
                   tks_show(s, offsets));
  if (offsets->n != p->type.rank)
    tks_error(s, TK_D_SHAPE, "expected %d offsets, but got %zu", p->type.rank,
              offsets->n);
  sval *at = TK_NEWN(s->arena, sval, offsets->n);
  for (size_t i = 0; i < offsets->n; i++)
    at[i] = window_offset(s, &offsets->items[i]);
  return window_of(s, p, at, ~0u);
}

static sval desc_fill(tks *s, const sval *p) {
  sval v = p->i & DESC_NAN ? sv_float(__builtin_nan("")) : sv_int(0);
  return tks_number(s, &v, sv_dtype(p));
}

static sval load_desc(tks *s, const sval *p, const window *w) {
  sval fill = desc_fill(s, p);
  sval v = tks_load(s, &w->ptr, &w->mask, &fill);
  last_inst(s)->attr[1] = TK_W_DESCRIPTOR;
  note_window(s, p, w->at, ~0u);
  return v;
}

/* What was loaded, as the hardware gives it. */
static sval desc_lanes(tks *s, const sval *p, const sval *v) {
  if (!(p->i & DESC_TF32) || sv_dtype(p) != TK_FP32) return *v;
  sval round = {.kind = V_FUNC, .fn = tks_prelude(s, "_round_to_tf32")};
  return tks_call(s, &round, v, 1, NULL, NULL);
}

sval rule_desc_load(tks *s, const tks_args *a) {
  window w = desc_window(s, &a->v[0], &a->v[1]);
  sval v = load_desc(s, &a->v[0], &w);
  const option_words cache = load_cache(s);
  if (a->op->mode) keep_options(s, a, (size_t)a->op->mode, &cache);
  return desc_lanes(s, &a->v[0], &v);
}

static sval desc_value(tks *s, const sval *p, const sval *value) {
  sval v = tks_to_tensor(s, value);
  if (!tk_same_shape(&v.type, &p->type))
    tks_error(s, TK_D_SHAPE, "the value is %s, the descriptor's block %s",
              tks_show(s, &v), tks_type_text(s, &p->type));
  return tks_cast_to(s, &v, sv_dtype(p));
}

sval rule_desc_store(tks *s, const tks_args *a) {
  window w = desc_window(s, &a->v[0], &a->v[1]);
  sval v = desc_value(s, &a->v[0], &a->v[2]);
  emit_store(s, &w.ptr, &v, &w.mask);
  last_inst(s)->attr[1] = TK_W_DESCRIPTOR;
  note_window(s, &a->v[0], w.at, ~0u);
  return sv(V_NONE);
}

/* What the hardware's descriptor unit combines. */
static void check_desc_atomic(tks *s, const char *name, tk_atomic mode,
                              tk_dtype d) {
  bool half = d == TK_FP16 || d == TK_BF16;
  bool ok = tk_is_int(d) && tk_dtypes[d].bits >= 32;
  if (mode == TK_A_ADD) ok = (ok && d != TK_INT64) || d == TK_FP32 || half;
  if (mode == TK_A_MIN || mode == TK_A_MAX) ok = ok || half;
  if (!ok)
    tks_error(s, TK_D_TYPE, "%s does not support %s", name, tk_dtype_name(d));
}

/* What a store converts. */
static void check_desc_operand(tks *s, const tks_args *a) {
  const sval *p = &a->v[0], *v = &a->v[2];
  if (!tks_has(s, TKS_DESC_ATOMIC_TYPE) || v->kind != V_TENSOR) return;
  if (tk_dtypes[p->type.elem].bits != tk_dtypes[v->type.elem].bits ||
      tk_is_float(sv_dtype(p)) != tk_is_float(sv_dtype(v)) || v->type.ptr)
    tks_error_help(s, TK_D_TYPE, "convert it with .to(...)",
                   "%s does not convert: the value must be of %s, not %s",
                   a->op->name, tk_dtype_name(sv_dtype(p)), tks_show(s, v));
}

sval rule_desc_atomic(tks *s, const tks_args *a) {
  window w = desc_window(s, &a->v[0], &a->v[1]);
  check_desc_atomic(s, a->op->name, (tk_atomic)a->op->mode, sv_dtype(&a->v[0]));
  check_desc_operand(s, a);
  sval v = desc_value(s, &a->v[0], &a->v[2]);
  tks_atomic(s, (tk_atomic)a->op->mode, &w.ptr, &v, &w.mask);
  note_window(s, &a->v[0], w.at, ~0u);
  return sv(V_NONE);
}

static void check_row_offsets(tks *s, const sval *x) {
  bool half = sv_dtype(x) == TK_INT16 && tks_has(s, TKS_ROWS_OF_INT16);
  if (!x->type.ptr && (sv_dtype(x) == TK_INT32 || half)) return;
  tks_error_help(s, TK_D_TYPE, "convert it: .to(tl.int32)",
                 "x_offsets are of %sint32, not %s",
                 tks_has(s, TKS_ROWS_OF_INT16) ? "int16 or " : "",
                 tks_show(s, x));
}

/* The hardware gathers 32 bytes of a row at least, but for 64 bits. */
static void check_row_bytes(tks *s, const sval *p) {
  int bits = tk_dtypes[p->type.elem].bits, least = 32 / bits * 8;
  if (p->type.shape[1] < least)
    tks_error(s, TK_D_SHAPE,
              "descriptor gather and scatter of %s must have at least %d "
              "columns, but got %d",
              tk_dtype_name(sv_dtype(p)), least, p->type.shape[1]);
}

/* A row per lane of x: pointers and mask of the block [rows, columns]. */
static window row_window(tks *s, const sval *p, const sval *x, const sval *y) {
  tks_use_desc(s, p);
  if (p->kind != V_DESC || p->type.rank != 2 || p->type.shape[0] != 1)
    tks_error(s, TK_D_SHAPE,
              "gather and scatter need a descriptor of blocks "
              "[1, columns]");
  if (x->kind != V_TENSOR || x->type.rank != 1 || x->type.shape[0] < 8)
    tks_error(s, TK_D_SHAPE,
              "x_offsets must be a 1-D block of at least 8 "
              "rows, not %s",
              tks_show(s, x));
  check_row_offsets(s, x);
  check_row_bytes(s, p);
  tk_type t = p->type;
  t.shape[0] = x->type.shape[0];
  sval wide = tks_cast_to(s, x, TK_INT64);
  sval rows = tks_reshape(s, &wide, (int64_t[]){t.shape[0], 1}, 2);
  sval column = window_offset(s, y), cols = axis_index(s, &column, &t, 1);
  sval r = tks_binary(s, TK_OP_MUL, &rows, &bp_strides(p)[0]);
  sval c = tks_binary(s, TK_OP_MUL, &cols, &bp_strides(p)[1]);
  sval off = tks_binary(s, TK_OP_ADD, &r, &c);
  sval ok_r = in_range(s, &rows, &bp_shape(p)[0]);
  sval ok_c = in_range(s, &cols, &bp_shape(p)[1]);
  return (window){tks_binary(s, TK_OP_ADD, &p->items[0], &off),
                  tks_binary(s, TK_OP_BITAND, &ok_r, &ok_c), NULL};
}

sval rule_desc_gather(tks *s, const tks_args *a) {
  window w = row_window(s, &a->v[0], &a->v[1], &a->v[2]);
  sval v = load_desc(s, &a->v[0], &w);
  return desc_lanes(s, &a->v[0], &v);
}

sval rule_desc_scatter(tks *s, const tks_args *a) {
  window w = row_window(s, &a->v[0], &a->v[2], &a->v[3]);
  const sval *v = &a->v[1];
  if (v->kind != V_TENSOR || v->type.ptr || v->type.elem != a->v[0].type.elem)
    tks_error(s, TK_D_TYPE, "the value's elements must be %s: it is %s",
              tk_dtype_name(sv_dtype(&a->v[0])), tks_show(s, v));
  emit_store(s, &w.ptr, &a->v[1], &w.mask);
  last_inst(s)->attr[1] = TK_W_DESCRIPTOR;
  note_window(s, &a->v[0], NULL, ~0u);
  return sv(V_NONE);
}

/* ---- atomics ----------------------------------------------------------- */

/* What combines bits without asking what they mean. */
static bool combines_bits(tk_atomic mode) {
  return mode == TK_A_AND || mode == TK_A_OR || mode == TK_A_XOR;
}

static void check_atomic_type(tks *s, const char *name, tk_atomic mode,
                              tk_type t) {
  tk_dtype d = (tk_dtype)t.elem;
  int bits = tk_dtypes[d].bits;
  bool is_float = tk_is_float(d) && !tk_is_fp8(d);
  bool ok = tk_is_int(d) && bits >= 32;
  if (mode == TK_A_ADD) ok = ok || is_float;
  if (mode == TK_A_MAX || mode == TK_A_MIN)
    ok = ok || d == TK_FP32 || d == TK_FP64;
  bool moves_bits = mode == TK_A_XCHG || combines_bits(mode);
  if (moves_bits) ok = ok || (is_float && bits >= 32);
  if (!ok)
    tks_error(s, TK_D_TYPE, "%s does not support %s", name, tk_dtype_name(d));
}

sval tks_atomic(tks *s, tk_atomic mode, const sval *ptr, const sval *val,
                const sval *mask) {
  tk_type t = tk_pointee(ptr->type);
  sval v[3];
  size_t n = write_operands(s, ptr, val, mask, v);
  return tks_result(tks_emit(s, TK_I_ATOMIC, (int)mode, t, n, v));
}

typedef struct order_attrs {
  int64_t sem, scope;
} order_attrs;

static order_attrs order_of(tks *s, const tks_args *a, size_t i) {
  return (order_attrs){option_word(s, a, i, &sems, TK_SEM_ACQ_REL),
                       option_word(s, a, i + 1, &scopes, TK_SCOPE_GPU)};
}

/* Before Triton 3.8 values and masks do not grow by axes. */
static void check_atomic_ranks(tks *s, const tks_args *a) {
  int rank = a->v[0].type.rank;
  for (size_t i = 1; i <= 2; i++) {
    const sval *v = &a->v[i];
    s->frame->at = a->span[i];
    if (sv_is_block(v) && v->type.rank != rank)
      tks_error(s, TK_D_SHAPE, "Cannot broadcast, rank mismatch: %s and %s",
                tks_show(s, v), tks_show(s, &a->v[0]));
  }
}

/* The compiler makes a tensor of a mask that is known only where it broadcasts
 * that together with a value: beside a block of pointers. */
static void check_atomic_mask(tks *s, const tks_args *a, size_t i) {
  const sval *mask = &a->v[i];
  bool known = sv_is_number(mask) && a->v[0].type.rank && i == 2 &&
               tks_has(s, TKS_ATOMICS_BROADCAST);
  if (!known && !sv_is_none(mask) && !sv_is_tensor(mask))
    tks_error_help(s, TK_D_TYPE, "leave it out, or compare",
                   "mask of %s must be a tensor, not %s", a->op->name,
                   tks_show(s, mask));
}

sval rule_atomic(tks *s, const tks_args *a) {
  need_pointer(s, a->op->name, &a->v[0]);
  if (a->v[0].type.is_const)
    tks_error(s, TK_D_TYPE, "Cannot store to a constant pointer");
  check_atomic_type(s, a->op->name, (tk_atomic)a->op->mode,
                    tk_pointee(a->v[0].type));
  check_atomic_mask(s, a, 2);
  order_attrs order = order_of(s, a, 3);
  tk_type t = tk_pointee(a->v[0].type);
  if (!tks_has(s, TKS_ATOMICS_BROADCAST)) check_atomic_ranks(s, a);
  sval ptr = a->v[0], val = a->v[1];
  bool as_bits =
      combines_bits((tk_atomic)a->op->mode) && tk_is_float((tk_dtype)t.elem);
  if (as_bits) { /* floats are combined as the integers of their width */
    tk_type bits =
        tk_scalar(tk_dtypes[t.elem].bits == 64 ? TK_UINT64 : TK_UINT32);
    val = tks_to_tensor(s, &val);
    val = tks_cast(s, &val, tk_elem_of(t), false);
    val = tks_bitcast(s, &val, bits);
    ptr = tks_cast(s, &ptr, tk_pointer(bits), false);
  }
  sval r = tks_atomic(s, (tk_atomic)a->op->mode, &ptr, &val, &a->v[2]);
  last_inst(s)->attr[0] = order.sem;
  last_inst(s)->attr[1] = order.scope;
  return as_bits ? tks_bitcast(s, &r, tk_elem_of(t)) : r;
}

static void need_numbers(tks *s, const tks_args *a) {
  if (tk_pointee(a->v[0].type).ptr)
    tks_error(s, TK_D_TYPE, "%s takes integers and floats, not %s", a->op->name,
              tks_show(s, &a->v[0]));
}

sval rule_atomic_load(tks *s, const tks_args *a) {
  need_pointer(s, a->op->name, &a->v[0]);
  need_numbers(s, a);
  check_atomic_mask(s, a, 1);
  int64_t sem = option_word(s, a, 2, &load_sems, TK_SEM_ACQUIRE);
  int64_t scope = option_word(s, a, 3, &scopes, TK_SCOPE_GPU);
  sval v = tks_load(s, &a->v[0], &a->v[1], NULL);
  last_inst(s)->attr[4] = tk_ordering_of((tk_sem)sem, (tk_scope)scope);
  return v;
}

/* An exchange whose result nobody uses. */
sval rule_atomic_store(tks *s, const tks_args *a) {
  need_pointer(s, a->op->name, &a->v[0]);
  need_numbers(s, a);
  if (a->v[0].type.is_const)
    tks_error(s, TK_D_TYPE, "Cannot store to a constant pointer");
  check_atomic_mask(s, a, 2);
  int64_t sem = option_word(s, a, 3, &store_sems, TK_SEM_RELEASE);
  int64_t scope = option_word(s, a, 4, &scopes, TK_SCOPE_GPU);
  tks_atomic(s, TK_A_XCHG, &a->v[0], &a->v[1], &a->v[2]);
  last_inst(s)->attr[0] = sem;
  last_inst(s)->attr[1] = scope;
  return sv(V_NONE);
}

/* cmp or val of a compare-and-swap: neither converted nor repeated. */
static sval cas_operand(tks *s, const tks_args *a, size_t i) {
  const tk_type *p = &a->v[0].type;
  tk_type t = tk_pointee(*p);
  sval v = tks_to_tensor(s, &a->v[i]);
  s->frame->at = a->span[i];
  if (!tks_same_in_compiler(&v.type, &t))
    tks_error_help(s, TK_D_TYPE, "cast it with .to(...)",
                   "tl.atomic_cas does not convert: %s must be %s like the "
                   "memory, not %s",
                   i == 1 ? "cmp" : "val", tk_dtype_name((tk_dtype)t.elem),
                   tks_show(s, &v));
  if (!tk_same_shape(&v.type, p))
    tks_error_help(s, TK_D_SHAPE, "make it a block with tl.full",
                   "tl.atomic_cas does not broadcast: %s must have the shape "
                   "of the pointers, not be %s",
                   i == 1 ? "cmp" : "val", tks_show(s, &v));
  return tks_bitcast(s, &v, tk_elem_of(t));
}

sval rule_cas(tks *s, const tks_args *a) {
  const sval *p = &a->v[0];
  need_pointer(s, "tl.atomic_cas", p);
  tk_type t = tk_pointee(p->type);
  int bits = tk_dtypes[t.elem].bits;
  if (bits != 16 && bits != 32 && bits != 64)
    tks_error(s, TK_D_TYPE,
              "tl.atomic_cas only supports elements of 16, 32 or 64 bits");
  order_attrs order = order_of(s, a, 3);
  sval v[3] = {*p, cas_operand(s, a, 1), cas_operand(s, a, 2)};
  sval r = tks_result(tks_emit(s, TK_I_CAS, 0, t, 3, v));
  last_inst(s)->attr[0] = order.sem;
  last_inst(s)->attr[1] = order.scope;
  return r;
}
