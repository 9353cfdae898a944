/* inst.c - inst.def as tables. */
#include "ir/inst.h"

/* Every row of inst.def is a macro that sets a field of the row's entry; an
 * entry is named by the opcode, its operands and attributes by their place. */
static const tk_inst_info infos[TK_INST_COUNT] = {
#define RESULTS_ANY TK_ANY_RESULTS
#define RESULTS_0 0
#define RESULTS_1 1
#define RESULTS_2 2
#define FLOPS_0 0
#define FLOPS_1 1
#define FLOPS_2 2
#define FLOPS_WORD TK_FLOPS_OF_WORD
#define INST(id, text, effect_, lanes_, flops_, results_, doc_)                \
  [TK_I_##id].name = text, [TK_I_##id].doc = doc_,                             \
  [TK_I_##id].effect = TK_EFFECT_##effect_,                                    \
  [TK_I_##id].lanes = TK_LANES_##lanes_, [TK_I_##id].flops = FLOPS_##flops_,   \
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

/* The kind and list of an attribute, by what inst.def calls its kind. */
enum {
#define X(ID, name, type) KIND_OF_##ID = TK_ATTR_##ID, LIST_OF_##ID = 0,
  TK_ATTR_KINDS(X)
#undef X
#define LIST(ID, type, P, words, said)                                         \
  KIND_OF_##ID = TK_ATTR_WORD, LIST_OF_##ID = TK_LIST_##ID,
      TK_MODE_LISTS(LIST)
#undef LIST
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
#define AT_4 4
#define ATTRIBUTE(id, inst, at, text, kind)                                    \
  {TK_I_##id,                                                                  \
   {#text, (tk_attr_kind)KIND_OF_##kind, (tk_list)LIST_OF_##kind, AT_##at}},
#define NUMBERS(id, inst, text, kind) ATTRIBUTE(id, inst, 0, text, kind)
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

bool tk_inst_implies(const tk_inst *in, const tk_attr_info *a) {
  bool quiet = a->kind == TK_ATTR_FLAG ||
               (a->kind == TK_ATTR_WORD && !tk_list_is_said(a->list));
  return quiet && !tk_inst_get(in, a);
}

#define X(ID, name) name,
const char *tk_effect_name(tk_effect effect) {
  static const char *const names[] = {TK_EFFECTS(X)};
  return names[effect];
}

const char *tk_ref_name(tk_ref_kind ref) {
  static const char *const names[] = {TK_REFERENCES(X)};
  return names[ref];
}
#undef X

#define X(ID, name, doc) name,
const char *tk_lanes_name(tk_lanes lanes) {
  static const char *const names[] = {TK_LANE_KINDS(X)};
  return names[lanes];
}

const char *tk_operand_name(tk_operand_kind kind) {
  static const char *const names[] = {TK_OPERAND_KINDS(X)};
  return names[kind];
}

const char *tk_attr_kind_name(const tk_attr_info *a) {
  static const char *const names[] = {TK_ATTR_KINDS(X)};
  return a->kind == TK_ATTR_WORD ? tk_list_name(a->list) : names[a->kind];
}
#undef X

#define X(ID, name, doc) doc,
const char *tk_lanes_doc(tk_lanes lanes) {
  static const char *const docs[] = {TK_LANE_KINDS(X)};
  return docs[lanes];
}

const char *tk_operand_wanted(tk_operand_kind kind) {
  static const char *const texts[] = {TK_OPERAND_KINDS(X)};
  return texts[kind];
}
#undef X

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
  bool names = a && a->at == TK_AT_MODE && a->kind == TK_ATTR_WORD &&
               a->list <= TK_LIST_PRECISION; /* lists of operations */
  return names ? tk_list_word(a->list, in->mode) : "";
}

uint64_t tk_inst_flops(const tk_inst *in) {
  const tk_inst_info *info = &infos[in->op];
  const tk_type *lane = info->lanes == TK_LANES_REDUCES ? &in->from : &in->type;
  if (!info->flops || lane->ptr || !tk_is_float((tk_dtype)lane->elem)) return 0;
  uint64_t n = (uint64_t)in->n, step = (uint64_t)info->flops;
  if (info->flops == TK_FLOPS_OF_WORD) {
    const tk_attr_info *a = tk_inst_attr((tk_opcode)in->op, 0);
    step = (uint64_t)tk_list_flops(a->list, in->mode);
  }
  switch (info->lanes) {
  case TK_LANES_REDUCES: return step * ((uint64_t)tk_numel(&in->from) - n);
  case TK_LANES_SCANS: return step * (n - n / tk_inst_axis_lanes(in));
  case TK_LANES_PRODUCT:
    return step * n * (uint64_t)in->from.shape[in->from.rank - 1];
  case TK_LANES_NONE:
  case TK_LANES_SAME:
  case TK_LANES_MOVES:
  case TK_LANES_GATHERS:
  case TK_LANES_SORTS:
  case TK_LANES_COUNTS:
  case TK_LANES_SCALES:
  case TK_LANES_GROUPS:
  case TK_LANES_CALLS: break;
  }
  return step * n;
}
