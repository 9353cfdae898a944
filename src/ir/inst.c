/* inst.c - inst.def and mode.def as tables. */
#include "ir/inst.h"

/* Every row of inst.def is a macro that sets a field of the row's entry; an
 * entry is named by the opcode, its operands and attributes by their place. */
static const tk_inst_info infos[TK_INST_COUNT] = {
#define RESULTS_ANY TK_ANY_RESULTS
#define RESULTS_0 0
#define RESULTS_1 1
#define RESULTS_2 2
#define INST(id, text, effect_, lanes_, results_, doc_)                        \
  [TK_I_##id].name = text, [TK_I_##id].doc = doc_,                             \
  [TK_I_##id].effect = TK_EFFECT_##effect_,                                    \
  [TK_I_##id].lanes = TK_LANES_##lanes_,                                       \
  [TK_I_##id].results = RESULTS_##results_,
#define OPERAND(id, inst, k, text, kind)                                       \
  [TK_I_##id].operands[k] = {#text, TK_OPERAND_##kind, false, false},
#define OPTIONAL(id, inst, k, text, kind)                                      \
  [TK_I_##id].operands[k] = {#text, TK_OPERAND_##kind, true, false},
#define OPERANDS(id, inst, k, text, kind)                                      \
  [TK_I_##id].operands[k] = {#text, TK_OPERAND_##kind, true, true},
#define REFERENCE(id, inst, text, kind)                                        \
  [TK_I_##id].ref_name = #text, [TK_I_##id].ref = TK_REF_##kind,
#include "ir/inst.def"
};

/* Attributes of all instructions, in order. */
static const struct {
  tk_opcode op;
  tk_attr_info info;
} attrs[] = {
#define AT_MODE TK_AT_MODE
#define AT_0 0
#define AT_1 1
#define AT_2 2
#define AT_3 3
#define ATTRIBUTE(id, inst, at, text, kind)                                    \
  {TK_I_##id, {#text, TK_ATTR_##kind, AT_##at}},
#include "ir/inst.def"
};

const tk_inst_info *tk_inst_info_of(tk_opcode op) {
  return &infos[op];
}

const tk_attr_info *tk_inst_attr(tk_opcode op, size_t i) {
  for (size_t k = 0; k < TK_COUNT(attrs); k++)
    if (attrs[k].op == op && i-- == 0) return &attrs[k].info;
  return NULL;
}

bool tk_inst_has_axis(tk_opcode op) {
  const tk_attr_info *a;
  for (size_t i = 0; (a = tk_inst_attr(op, i)); i++)
    if (a->kind == TK_ATTR_AXIS) return true;
  return false;
}

int64_t tk_inst_get(const tk_inst *in, const tk_attr_info *a) {
  return a->at == TK_AT_MODE ? in->mode : in->attr[a->at];
}

void tk_inst_put(tk_inst *in, const tk_attr_info *a, int64_t value) {
  if (a->at == TK_AT_MODE)
    in->mode = (uint8_t)value;
  else
    in->attr[a->at] = value;
}

#define NAME(id, name) name,
#define UNARY NAME
static const char *const unaries[] = {
#include "ir/mode.def"
};
#define BINARY NAME
static const char *const binaries[] = {
#include "ir/mode.def"
};
#define COMPARE NAME
static const char *const compares[] = {
#include "ir/mode.def"
};
#define REDUCTION NAME
static const char *const reductions[] = {
#include "ir/mode.def"
};
#define ATOMIC NAME
static const char *const atomics[] = {
#include "ir/mode.def"
};
#define PRECISION NAME
static const char *const precisions[] = {
#include "ir/mode.def"
};
#define ROUNDING NAME
static const char *const roundings[] = {
#include "ir/mode.def"
};
#define WINDOW NAME
static const char *const windows[] = {
#include "ir/mode.def"
};
#define SEM NAME
static const char *const sems[] = {
#include "ir/mode.def"
};
#define SCOPE NAME
static const char *const scopes[] = {
#include "ir/mode.def"
};
#define CACHE NAME
static const char *const caches[] = {
#include "ir/mode.def"
};
#define EVICTION NAME
static const char *const evictions[] = {
#include "ir/mode.def"
};
#define HINT NAME
static const char *const hints[] = {
#include "ir/mode.def"
};

/* By kind of attribute, from the first list on. */
static const struct {
  const char *const *names;
  size_t n;
} lists[] = {
#define LIST(x)                                                                \
  { x, TK_COUNT(x) }
    LIST(unaries), LIST(binaries),   LIST(compares),  LIST(reductions),
    LIST(atomics), LIST(precisions), LIST(roundings), LIST(windows),
    LIST(sems),    LIST(scopes),     LIST(caches),    LIST(evictions),
    LIST(hints),
};

const char *tk_mode_text(tk_attr_kind list, int64_t i) {
  if (list < TK_ATTR_UNARY || list > TK_ATTR_HINT) return NULL;
  size_t k = (size_t)list - TK_ATTR_UNARY;
  return i >= 0 && (size_t)i < lists[k].n ? lists[k].names[i] : NULL;
}

const char *tk_inst_name(tk_opcode op) {
  return infos[op].name;
}

tk_effect tk_inst_effect(const tk_inst *in) {
  return infos[in->op].effect;
}

tk_lanes tk_inst_lanes(const tk_inst *in) {
  return infos[in->op].lanes;
}

bool tk_inst_is_pure(const tk_inst *in) {
  return infos[in->op].effect == TK_EFFECT_PURE;
}

bool tk_inst_moves(const tk_inst *in) {
  return infos[in->op].lanes == TK_LANES_MOVES;
}

const char *tk_mode_name(const tk_inst *in) {
  const tk_attr_info *a = tk_inst_attr((tk_opcode)in->op, 0);
  bool names = a && a->at == TK_AT_MODE && a->kind >= TK_ATTR_UNARY &&
               a->kind <= TK_ATTR_PRECISION;
  return names ? tk_mode_text(a->kind, in->mode) : "";
}
