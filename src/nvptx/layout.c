/* layout.c - linear layouts, and making them larger, smaller and flatter. */
#include "nvptx/layout.h"

#include <string.h>

const char *tkv_input_name(tkv_input k) {
  static const char *const names[] = {
#define X(ID, name) name,
      TKV_INPUTS(X)
#undef X
  };
  return names[k];
}

tkv_layout tkv_layout_new(int rank) {
  tkv_layout l = {.rank = rank};
  for (int i = 0; i < rank; i++) l.shape[i] = 1;
  return l;
}

bool tkv_layout_along(tkv_layout *l, tkv_input k, int axis, int32_t size) {
  for (; size > 1; size /= 2) {
    if (l->bits[k] == TKV_LAYOUT_BITS || l->shape[axis] > 1 << 24) return false;
    l->basis[k][l->bits[k]++].at[axis] = l->shape[axis];
    l->shape[axis] *= 2;
  }
  return true;
}

bool tkv_layout_copies(tkv_layout *l, tkv_input k, int32_t n) {
  for (; n > 1; n /= 2) {
    if (l->bits[k] == TKV_LAYOUT_BITS) return false;
    l->bits[k]++;
  }
  return true;
}

static void cut_axis(tkv_layout *l, int axis, int32_t size) {
  for (int k = 0; k < TKV_INPUT_COUNT; k++)
    for (int i = 0; i < l->bits[k]; i++)
      if (l->basis[k][i].at[axis] >= size) l->basis[k][i].at[axis] = 0;
  l->shape[axis] = size;
}

bool tkv_layout_fit(tkv_layout *l, const int32_t *shape, const int *order) {
  for (int i = 0; i < l->rank; i++) {
    int axis = order[i];
    if (l->shape[axis] < shape[axis] &&
        !tkv_layout_along(l, TKV_REGISTER, axis, shape[axis] / l->shape[axis]))
      return false;
  }
  for (int i = 0; i < l->rank; i++)
    if (l->shape[i] > shape[i]) cut_axis(l, i, shape[i]);
  return true;
}

static bool is_zero(const tkv_layout *l, const tkv_index *x) {
  for (int i = 0; i < l->rank; i++)
    if (x->at[i]) return false;
  return true;
}

void tkv_layout_drop_axis(tkv_layout *l, int axis) {
  int last = l->rank - 1, n = 0;
  for (int k = 0; k < TKV_INPUT_COUNT; k++)
    for (int i = 0; i < l->bits[k]; i++) {
      int32_t *at = l->basis[k][i].at;
      memmove(at + axis, at + axis + 1, (size_t)(last - axis) * sizeof *at);
      at[last] = 0;
    }
  memmove(l->shape + axis, l->shape + axis + 1,
          (size_t)(last - axis) * sizeof *l->shape);
  l->rank--;
  tkv_index *registers = l->basis[TKV_REGISTER];
  for (int i = 0; i < l->bits[TKV_REGISTER]; i++)
    if (!is_zero(l, &registers[i])) registers[n++] = registers[i];
  memset(registers + n, 0, (size_t)(TKV_LAYOUT_BITS - n) * sizeof *registers);
  l->bits[TKV_REGISTER] = n;
}

tkv_index tkv_layout_at(const tkv_layout *l,
                        const uint32_t value[TKV_INPUT_COUNT]) {
  tkv_index x = {{0}};
  for (int k = 0; k < TKV_INPUT_COUNT; k++)
    for (int i = 0; i < l->bits[k]; i++)
      for (int a = 0; a < l->rank && value[k] >> i & 1; a++)
        x.at[a] ^= l->basis[k][i].at[a];
  return x;
}
