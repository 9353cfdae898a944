/* describe.c - what an address belongs to, in words.
 *
 * An element's index is found from its offset by dividing by the strides,
 * the widest first; a view whose strides do not nest like that (an overlapping
 * window) gives the plain offset instead.
 */
#include "interp/describe.h"
#include "interp/grid.h"

#include "base/format.h"
#include "base/index.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- elements ---------------------------------------------------------- */

/* Axes by falling stride. */
static void sort_axes(const tk_tensor *x, int *axes) {
  for (int i = 0; i < x->rank; i++) {
    int at = i;
    while (at && llabs(x->strides[axes[at - 1]]) < llabs(x->strides[i])) {
      axes[at] = axes[at - 1];
      at--;
    }
    axes[at] = i;
  }
}

static int64_t offset_of(const tki_region *r, uint64_t addr, bool *whole) {
  const tk_tensor *x = r->tensor;
  int64_t base = (int64_t)r->lo + ((char *)x->data - r->host);
  int64_t size = (int64_t)tk_dtype_size(x->dtype);
  int64_t bytes = (int64_t)addr - base;
  *whole = bytes % size == 0;
  return bytes / size;
}

bool tki_element_index(const tki_region *r, uint64_t addr, int64_t *index) {
  const tk_tensor *x = r->tensor;
  int axes[TK_MAX_RANK];
  bool whole;
  int64_t off = offset_of(r, addr, &whole);
  sort_axes(x, axes);
  /* An axis that runs backwards starts at its far end. */
  for (int i = 0; i < x->rank; i++)
    if (x->strides[i] < 0) off -= (x->shape[i] - 1) * x->strides[i];
  for (int k = 0; k < x->rank; k++) {
    int i = axes[k];
    int64_t step = llabs(x->strides[i]);
    int64_t at = step ? off / step : 0;
    if (at < 0 || at >= x->shape[i]) return false;
    off -= at * step;
    index[i] = x->strides[i] < 0 ? x->shape[i] - 1 - at : at;
  }
  return whole && off == 0;
}

tk_element tki_element(const tki_region *r, uint64_t addr) {
  tk_element x = {.rank = -1, .address = addr};
  if (!r) return x;
  x.tensor = r->name;
  if (tki_element_index(r, addr, x.index)) x.rank = r->tensor->rank;
  return x;
}

void tki_note_element(tki *t, tk_diag *d, const tki_region *r, uint64_t addr) {
  tk_element x = tki_element(r, addr);
  tk_buf *text = &t->element; /* each thread has one */
  tk_buf_clear(text);
  tki_describe_address_in(text, r, addr);
  x.text = tk_buf_str(text);
  tk_diag_element(t->env, d, &x);
}

void tki_describe_address(tk_buf *out, const tki *t, uint64_t addr) {
  tki_describe_address_in(out, tki_region_at(t, addr, 1), addr);
}

void tki_describe_address_in(tk_buf *out, const tki_region *r, uint64_t addr) {
  int64_t index[TK_MAX_RANK];
  bool whole;
  if (!r) {
    tk_buf_printf(out, "address 0x%" PRIx64, addr);
    return;
  }
  tk_buf_puts(out, r->name);
  if (!tki_element_index(r, addr, index)) {
    int64_t off = offset_of(r, addr, &whole);
    tk_buf_printf(out, whole ? "[offset %" PRId64 "]" : " byte %" PRId64,
                  whole ? off : (int64_t)(addr - r->lo));
    return;
  }
  tk_buf_index(out, index, r->tensor->rank);
}

void tki_describe_value(tk_buf *out, const tki *t, uint64_t addr) {
  const tki_region *r = tki_region_at(t, addr, 1);
  if (!r) return;
  size_t size = tk_dtype_size(r->tensor->dtype);
  if (tki_region_at(t, addr, size) == r)
    tk_format_lane(out, r->tensor->dtype, r->host + (addr - r->lo));
}

/* ---- programs ---------------------------------------------------------- */

void tki_describe_program(tk_buf *out, const tki *t, uint64_t index) {
  int64_t pid[3];
  tki_pid_of(t, index, pid);
  tk_buf_program(out, pid);
}

enum { MAX_RUNS = 4 };

void tki_describe_programs(tk_buf *out, const tki *t, const uint64_t *index,
                           size_t n) {
  size_t runs = 0;
  if (n == 1)
    tk_buf_puts(out, "program ");
  else
    tk_buf_printf(out, "%zu programs, ", n);
  for (size_t i = 0, last; i < n; i = last + 1, runs++) {
    for (last = i; last + 1 < n && index[last + 1] == index[last] + 1;) last++;
    if (runs) tk_buf_puts(out, last + 1 == n ? " and " : ", ");
    if (runs == MAX_RUNS) {
      tk_buf_puts(out, "...");
      return;
    }
    tki_describe_program(out, t, index[i]);
    if (last == i) continue;
    tk_buf_puts(out, last == i + 1 ? ", " : " to ");
    tki_describe_program(out, t, index[last]);
  }
}
