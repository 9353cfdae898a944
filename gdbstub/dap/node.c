/* node.c - what opens in a variables pane: blocks and tensors by their
 * axes, tuples by their items. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "gdbstub/dap/dap.h"

/* The most items that are sent at once to a client that does not ask for
 * pages. */
enum { PAGE = 256 };

/* ---- numbers of the client ---------------------------------------------- */

json_int_t dap_new_node(dap *p, const dap_node *n) {
  TK_PUSH(&p->handles, &p->nodes, *n);
  return (json_int_t)p->nodes.n;
}

const dap_node *dap_node_of(dap *p, json_int_t reference) {
  if (reference >= 1 && (uint64_t)reference <= p->nodes.n)
    return &p->nodes.items[reference - 1];
  dap_fail(p,
           "variablesReference %" JSON_INTEGER_FORMAT
           " belongs to a stop that is over",
           reference);
  return NULL;
}

json_int_t dap_frame_number(dap *p, uint64_t program, size_t level) {
  for (size_t i = 0; i < p->frames.n; i++)
    if (p->frames.items[i].program == program &&
        p->frames.items[i].level == level)
      return (json_int_t)i + 1;
  dap_frame f = {program, level};
  TK_PUSH(&p->handles, &p->frames, f);
  return (json_int_t)p->frames.n;
}

bool dap_select_frame(dap *p, json_int_t frame) {
  dap_frame f = {p->here, 0};
  if (frame < 0 || (uint64_t)frame > p->frames.n) {
    dap_fail(p,
             "frameId %" JSON_INTEGER_FORMAT " belongs to a stop that is over",
             frame);
    return false;
  }
  if (frame) f = p->frames.items[frame - 1];
  if (f.program == TK_DEBUG_NO_PROGRAM)
    dap_fail(p, "no program is stopped: the launch has ended");
  else if (tk_debug_select(p->d, f.program, f.level) != TK_OK)
    dap_fail_engine(p);
  else
    return true;
  return false;
}

/* ---- axes --------------------------------------------------------------- */

static size_t lane_size(const tk_array_view *v) {
  return v->pointers ? 8 : tk_dtypes[v->dtype].size;
}

/* Lanes of an item of the first axis. */
static int64_t lanes_below(const tk_array_view *v) {
  int64_t n = 1;
  for (int i = 1; i < v->rank; i++) n *= v->shape[i];
  return n;
}

/* The i-th item along the first axis, as a node with one axis less. */
static dap_node item_of(dap *p, const dap_node *n, int64_t i) {
  dap_node x = *n;
  tk_array_view *v = &x.lanes;
  TK_ASSERT(v->rank > 0 && i >= 0 && i < v->shape[0]);
  int64_t below = lanes_below(v);
  int64_t bytes = i * v->strides[0] * (int64_t)lane_size(v);
  v->data = (const char *)v->data + bytes;
  if (v->undefined) v->undefined += i * below;
  if (x.address) x.address += (uint64_t)bytes;
  x.first += i * below;
  x.from = x.count = 0;
  v->rank--;
  memmove(v->shape, v->shape + 1, (size_t)v->rank * sizeof *v->shape);
  memmove(v->strides, v->strides + 1, (size_t)v->rank * sizeof *v->strides);
  x.index = tk_arena_printf(&p->handles, "%s%s%" PRId64, n->index,
                            *n->index ? ", " : "", i);
  return x;
}

static json_t *say_item(dap *p, const dap_node *x) {
  static const char unknown[] = "?";
  const tk_array_view *v = &x->lanes;
  if (!v->rank && x->address &&
      tk_debug_is_undefined(p->d, x->address, lane_size(v)))
    return dap_text(unknown, 1);
  if (v->pointers && !v->rank && !v->undefined && x->whole) {
    tk_debug_value one = {.type = x->whole->type, .lanes = v->data, .size = 8};
    one.type.rank = 0;
    return dap_say_value(p, &one);
  }
  return dap_say_lanes(p, v, false);
}

static json_t *variable_json(dap *p, const char *name, json_t *value,
                             const char *type, const char *expression,
                             const dap_node *inside) {
  json_t *v = json_object();
  json_object_set_new(v, "name", dap_string_of(name));
  json_object_set_new(v, "value", value);
  if (type) json_object_set_new(v, "type", dap_string_of(type));
  if (expression)
    json_object_set_new(v, "evaluateName", dap_string_of(expression));
  json_object_set_new(v, "variablesReference",
                      json_integer(inside ? dap_new_node(p, inside) : 0));
  if (inside && inside->kind == DAP_LANES)
    json_object_set_new(
        v, "indexedVariables",
        json_integer(inside->count ? inside->count : inside->lanes.shape[0]));
  return v;
}

static json_t *item_json(dap *p, const dap_node *n, int64_t i) {
  char name[32];
  dap_node x = item_of(p, n, i);
  snprintf(name, sizeof name, "[%" PRId64 "]", i);
  const char *expression =
      tk_arena_printf(&p->scratch, "%s[%s]", n->name, x.index);
  bool rows = x.address && x.lanes.rank; /* an expression has no such value */
  json_t *v = variable_json(p, name, say_item(p, &x), NULL,
                            rows ? NULL : expression, x.lanes.rank ? &x : NULL);
  if (x.address)
    json_object_set_new(
        v, "memoryReference",
        dap_string_of(tk_arena_printf(&p->scratch, "0x%" PRIx64, x.address)));
  return v;
}

/* A range of items, for a client that would otherwise ask for all of them at
 * once. */
static json_t *page_json(dap *p, const dap_node *n, int64_t from, int64_t to) {
  char name[64];
  dap_node x = *n;
  TK_ASSERT(from >= 0 && from < to && to <= n->lanes.shape[0]);
  x.from = from;
  x.count = to - from;
  x.kind = DAP_LANES;
  snprintf(name, sizeof name, "[%" PRId64 " to %" PRId64 "]", from, to - 1);
  tk_array_view part = n->lanes;
  part.data = (const char *)part.data +
              from * part.strides[0] * (int64_t)lane_size(&part);
  if (part.undefined) part.undefined += from * lanes_below(&part);
  part.shape[0] = x.count;
  return variable_json(p, name, dap_say_lanes(p, &part, false), NULL, NULL, &x);
}

json_t *dap_items(dap *p, const dap_node *n, int64_t start, int64_t count) {
  json_t *list = json_array();
  dap_node node = *n; /* the table may move */
  int64_t all = node.count ? node.count : node.lanes.shape[0];
  if (start < 0 || start > all) start = all;
  if (count <= 0 || count > all - start) count = all - start;
  int64_t from = node.from + start, to = from + count;
  if (count <= PAGE || p->client.pages) {
    for (int64_t i = from; i < to; i++)
      json_array_append_new(list, item_json(p, &node, i));
    return list;
  }
  int64_t step = PAGE;
  while (count / step >= PAGE) step *= PAGE;
  for (int64_t i = from; i < to; i += step)
    json_array_append_new(
        list, page_json(p, &node, i, i + step < to ? i + step : to));
  return list;
}

const char *dap_item_expression(dap *p, const dap_node *n, const char *name) {
  size_t k = strlen(name);
  if (n->kind == DAP_PARTS)
    return tk_arena_printf(&p->scratch, "%s%s", n->name, name);
  if (n->kind != DAP_LANES) return name;
  if (k < 3 || *name != '[' || name[k - 1] != ']') return NULL;
  return tk_arena_printf(&p->scratch, "%s[%s%s%.*s]", n->name, n->index,
                         *n->index ? ", " : "", (int)k - 2, name + 1);
}

/* ---- variables ---------------------------------------------------------- */

/* Makes the node that opens below the value of an expression; returns false if
 * there is nothing to open. */
static bool inside_of(dap *p, dap_frame at, const char *expression,
                      const tk_debug_value *v, size_t n, dap_node *out) {
  const char *name = tk_arena_strdup(&p->handles, expression);
  *out = (dap_node){.frame = at, .name = name, .index = ""};
  tk_debug_region r;
  if (n > 1 && v[0].path && *v[0].path) {
    out->kind = DAP_PARTS;
    out->values = v;
    out->nvalues = n;
    return true;
  }
  if (n != 1 || v->known || !v->lanes) return false;
  out->kind = DAP_LANES;
  if (v->type.pointers == 1 && !v->type.rank && !v->type.to_block &&
      tk_debug_region_named(p->d, expression, &r)) {
    out->name = r.name;
    out->address = r.first;
    out->lanes =
        (tk_array_view){.data = r.data, .dtype = r.dtype, .rank = r.rank};
    memcpy(out->lanes.shape, r.shape, sizeof r.shape);
    memcpy(out->lanes.strides, r.strides, sizeof r.strides);
    return r.rank > 0;
  }
  if (!v->type.rank || v->type.to_block) return false;
  out->lanes = dap_view_of(v);
  out->whole = v;
  return true;
}

json_t *dap_variable(dap *p, dap_frame at, const char *name,
                     const char *expression, const tk_debug_value *v,
                     size_t n) {
  dap_node inside;
  bool opens = inside_of(p, at, expression, v, n, &inside);
  bool one = n == 1 && !v->known && v->lanes;
  json_t *json = variable_json(p, name, dap_say_parts(p, v, n),
                               one ? dap_type_name(p, &v->type) : NULL,
                               expression, opens ? &inside : NULL);
  if (one && v->type.pointers && !v->type.rank)
    json_object_set_new(
        json, "memoryReference",
        dap_string_of(tk_arena_printf(&p->scratch, "0x%" PRIx64,
                                      *(const uint64_t *)v->lanes)));
  return json;
}

json_t *dap_tensor_variable(dap *p, const tk_debug_region *r) {
  dap_node inside = {
      .kind = DAP_LANES,
      .frame = {p->here, 0},
      .name = tk_arena_strdup(&p->handles, r->name),
      .index = "",
      .address = r->first,
      .lanes = {.data = r->data, .dtype = r->dtype, .rank = r->rank}};
  memcpy(inside.lanes.shape, r->shape, sizeof r->shape);
  memcpy(inside.lanes.strides, r->strides, sizeof r->strides);
  json_t *v = variable_json(p, r->name, dap_say_lanes(p, &inside.lanes, true),
                            NULL, NULL, r->rank ? &inside : NULL);
  json_object_set_new(
      v, "memoryReference",
      dap_string_of(tk_arena_printf(&p->scratch, "0x%" PRIx64, r->first)));
  return v;
}
