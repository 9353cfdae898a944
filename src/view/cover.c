/* cover.c - who touches which element.
 *
 * Each element of a tensor has a byte of marks, and the last program that
 * wrote it.  Tensors that share memory share these.  A tensor that is
 * too large, or overlaps another one in part, is not followed, and the data
 * says so: nothing is claimed of its elements.
 */
#include "view/run.h"

#include "interp/kernels.h"

/* Elements of a tensor and of all tensors that are followed; stretches that
 * a list may have. */
enum { MOST_ELEMENTS = 1 << 22, MOST_IN_ALL = 1 << 24, MOST_STRETCHES = 20000 };

static size_t element_bytes(const tki_region *r) {
  return tk_dtypes[r->tensor->dtype].size;
}

/* ---- beginning ----------------------------------------------------------- */

/* The first region with the same memory; `clean`: it overlaps no other. */
static size_t home_of(const tki *t, size_t i, bool *clean) {
  const tki_region *r = &t->regions[i];
  size_t home = i;
  *clean = true;
  for (size_t k = 0; k < t->nregions; k++) {
    const tki_region *x = &t->regions[k];
    if (k == i || !x->tensor || x->lo >= r->hi || r->lo >= x->hi) continue;
    if (x->lo == r->lo && x->hi == r->hi &&
        element_bytes(x) == element_bytes(r)) {
      if (k < home) home = k;
      continue;
    }
    *clean = false;
  }
  return home;
}

void tkw_covers_new(tkw_run *r, tki *t) {
  uint64_t left = MOST_IN_ALL;
  r->covers = TK_NEWN(&r->arena, tkw_cover, t->nregions + 1);
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *x = &t->regions[i];
    tkw_cover *c = &r->covers[i];
    bool clean;
    c->home = i;
    if (!x->tensor || x->hi <= x->lo) continue;
    c->home = home_of(t, i, &clean);
    uint64_t n = (x->hi - x->lo) / element_bytes(x);
    if (!clean || c->home != i || n > MOST_ELEMENTS || n > left) continue;
    left -= n;
    c->n = n;
    c->flags = TK_NEWN(&r->arena, uint8_t, n + 1);
    c->writer = TK_NEWN(&r->arena, uint32_t, n + 1);
  }
}

/* ---- accesses ------------------------------------------------------------ */

TKI_CLONES static void mark_read(uint8_t *flags, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) flags[i] |= TKW_READ;
}

TKI_CLONES static void mark_written(uint8_t *flags, uint32_t *writer,
                                    uint64_t n, uint32_t program) {
  for (uint64_t i = 0; i < n; i++) {
    bool other = writer[i] != 0 && writer[i] != program;
    flags[i] |= TKW_WRITTEN | (other ? TKW_CONTESTED : 0);
    writer[i] = program;
  }
}

static void cover_stretch(tkw_run *r, const tki_access *a, const tki_stretch *x,
                          uint32_t program) {
  tki *t = a->t;
  const tki_region *region = tki_access_region(a, x->lane);
  if (!region || !region->tensor || x->addr < region->lo) return;
  tkw_cover *c = &r->covers[region - t->regions];
  c = &r->covers[c->home];
  if (!c->n) return;
  uint64_t size = element_bytes(region), from = (x->addr - region->lo) / size;
  uint64_t end = x->addr - region->lo + x->n * a->size;
  end = (end + size - 1) / size;
  if (end > c->n) end = c->n;
  if (from >= end) return;
  c->atomic |= a->read && a->write;
  uint64_t n = end - from;
  if (a->read) mark_read(c->flags + from, n);
  if (a->write) mark_written(c->flags + from, c->writer + from, n, program);
}

/* A block whose neighbours in memory lie along another axis than the last, such
 * as a matrix that is read transposed: by rows, each lane would be a stretch of
 * its own. */
typedef struct columns {
  tkw_run *r;
  const tki_access *a;
  const tki_sym *pointer, *box; /* the box: NULL, all lanes are active */
  int along;                    /* the axis of neighbours */
  uint32_t program;
} columns;

/* The axis along which addresses go up by one element; -1: there is none, or
 * rows do. */
static int axis_of_columns(const tki_access *a, const tki_sym *p) {
  int last = tki_sym_rank(p) - 1;
  if (last < 1 || tki_sym_step(p, last) == (int64_t)a->size) return -1;
  for (int k = last - 1; k >= 0; k--)
    if (tki_sym_step(p, k) == (int64_t)a->size) return k;
  return -1;
}

static uint64_t cover_columns(const columns *x, int axis, uint64_t addr) {
  const tki_sym *p = x->pointer;
  if (axis == x->along) axis++;
  bool inside = axis < tki_sym_rank(p);
  int k = inside ? axis : x->along;
  uint64_t lo = x->box ? tki_sym_lo(x->box, k) : 0,
           hi = x->box ? tki_sym_hi(x->box, k) : tki_sym_axis(p, k), n = 0;
  if (lo >= hi) return 0;
  if (!inside) {
    tki_stretch s = {.n = hi - lo, .addr = addr + lo * x->a->size};
    cover_stretch(x->r, x->a, &s, x->program);
    return s.n;
  }
  for (uint64_t i = lo; i < hi; i++)
    n += cover_columns(x, axis + 1, addr + i * (uint64_t)tki_sym_step(p, k));
  return n;
}

uint64_t tkw_cover_access(tkw_run *r, const tki_access *a, uint64_t program) {
  tki_stretch x = {0};
  uint64_t active = 0;
  uint32_t who = program < UINT32_MAX ? (uint32_t)program + 1 : UINT32_MAX;
  const tki_sym *p = a->pointer ? tki_symbol(a->pointer) : NULL;
  int along = a->n && p && a->region != TKI_ANY ? axis_of_columns(a, p) : -1;
  if (along >= 0) {
    const tki_sym *box = a->active ? tki_symbol(a->active) : NULL;
    return cover_columns(&(columns){r, a, p, box, along, who}, 0,
                         tki_sym_base(p));
  }
  while (a->n && tki_next_stretch(a, &x)) {
    active += x.n;
    cover_stretch(r, a, &x, who);
  }
  return active;
}

/* ---- lists --------------------------------------------------------------- */

/* A list that has become too long is none. */
static bool list_is_short(tk_buf *out, size_t stretches, size_t start) {
  if (stretches <= MOST_STRETCHES) return true;
  out->n = start;
  tk_buf_puts(out, "null");
  return false;
}

/* [from, count, ...] of the elements with a mark. */
static void put_marked(tk_buf *out, const tkw_cover *c, const char *key,
                       uint8_t mark) {
  size_t stretches = 0;
  tk_buf_printf(out, ",\"%s\":", key);
  size_t start = out->n;
  tk_buf_putc(out, '[');
  for (uint64_t i = 0, from; i < c->n; i++) {
    if (!(c->flags[i] & mark)) continue;
    for (from = i; i < c->n && c->flags[i] & mark; i++) continue;
    tk_buf_printf(out, "%s%llu,%llu", stretches++ ? "," : "",
                  (unsigned long long)from, (unsigned long long)(i - from));
    if (!list_is_short(out, stretches, start)) return;
  }
  tk_buf_putc(out, ']');
}

/* [from, count, program, ...] */
static void put_writers(tk_buf *out, const tkw_cover *c) {
  size_t stretches = 0;
  tk_buf_puts(out, ",\"writer\":");
  size_t start = out->n;
  tk_buf_putc(out, '[');
  for (uint64_t i = 0; i < c->n;) {
    uint64_t from = i;
    while (i < c->n && c->writer[i] == c->writer[from]) i++;
    if (!c->writer[from]) continue;
    tk_buf_printf(out, "%s%llu,%llu,%u", stretches++ ? "," : "",
                  (unsigned long long)from, (unsigned long long)(i - from),
                  c->writer[from] - 1);
    if (!list_is_short(out, stretches, start)) return;
  }
  tk_buf_putc(out, ']');
}

void tkw_put_cover(tk_buf *out, const tkw_run *r, size_t region) {
  const tkw_cover *c = &r->covers[region];
  if (c->home != region) tk_buf_printf(out, ",\"shares\":%zu", c->home);
  if (!c->n) return;
  put_marked(out, c, "read", TKW_READ);
  put_marked(out, c, "written", TKW_WRITTEN);
  put_marked(out, c, "contested", TKW_CONTESTED);
  put_writers(out, c);
  if (c->atomic) tk_buf_puts(out, ",\"atomic\":true");
}
