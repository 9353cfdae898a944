/* descriptor.c - descriptors that the host makes, as Triton's launcher passes
 * them to a kernel: as a tensor map, or taken apart.
 */
#include <string.h>

#include "device/device.h"
#include "launch/areas.h"

enum { MAP_TF32 = 11 }; /* tkp_tensor_map.type of fp32 that is rounded */

static bool is_nan(const tk_value *v) {
  const char *padding = v->items[4].str;
  return padding && !strcmp(padding, "nan");
}

static void pass_number(tk_arena *a, uint64_t v, tkg_pointers *to) {
  uint64_t *kept = TK_NEW(a, uint64_t);
  *kept = v;
  TK_PUSH(a, to, (const void *)kept);
}

static unsigned element_bytes(const tk_tensor *t) {
  return (unsigned)tk_dtype_size(t->dtype);
}

/* A descriptor's axes are the outermost first, a map's the innermost. */
static void pass_map(tk_arena *a, const tk_tensor *t, const tk_value *v,
                     const tkg_code_param *p, tkg_pointers *to) {
  tkp_tensor_map *map = TK_NEW(a, tkp_tensor_map);
  map->address = tk_tensor_address(t);
  map->outer = (uint8_t)(p->rank - 1);
  map->type = v->lo ? MAP_TF32 : p->type;
  map->swizzle = p->swizzle;
  map->fill = is_nan(v);
  for (unsigned i = 0; i < p->rank; i++) {
    unsigned from = p->rank - 1 - i;
    map->dims[i] = (uint32_t)v->items[1].items[from].lo;
    map->box[i] = p->box[from];
    map->steps[i] = 1;
    if (i)
      map->strides[i - 1] =
          (uint64_t)v->items[2].items[from].lo * element_bytes(t);
  }
  tkp_tensor_map_finish(map);
  TK_PUSH(a, to, (const void *)map);
}

static void pass_shape(tk_arena *a, const tk_value *v, tkg_pointers *to) {
  for (int k = 1; k <= 2; k++)
    for (size_t i = 0; i < v->items[k].n; i++)
      pass_number(a, (uint64_t)v->items[k].items[i].lo, to);
}

/* The compiler's answer is a file, and may say anything. */
static void need_descriptor(tk_env *e, const tk_value *v,
                            const tkg_code_param *p) {
  if (v->kind == TK_V_DESCRIPTOR && p->rank && p->rank <= TKP_MAP_RANK &&
      p->rank == v->items[1].n)
    return;
  tk_diag_add(e, TK_D_DEVICE, NULL, (tk_span){0, 0},
              "Triton's code takes a descriptor of %u axes, and the launch has "
              "no such argument there",
              p->rank);
  tk_throw(e, TK_USAGE);
}

void tkg_pass_descriptor(tk_arena *a, const tk_launch *l, size_t arg,
                         const tkg_code_param *p, tkg_pointers *to) {
  const tk_value *v = &l->args[arg].value;
  need_descriptor(a->env, v, p);
  TK_ASSERT(v->n == 5);
  const tk_tensor *t = &l->extras.items[v->items[0].lo].tensor;
  if (p->mapped) {
    pass_map(a, t, v, p, to);
  } else {
    pass_number(a, tk_tensor_address(t), to);
    pass_shape(a, v, to);
    for (unsigned i = 0; i < p->flags; i++)
      pass_number(a, i ? v->lo != 0 : is_nan(v), to);
  }
  pass_shape(a, v, to);
}
