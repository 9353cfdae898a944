/* inst.h - instructions of the typed block form.
 *
 * inst.def says what there is: names, operands, attributes.  From it derive
 * the opcodes, an accessor for every operand, attribute and reference
 * (tk_load_mask(in), tk_load_volatile(in), tk_call_callee(in)) and the table
 * tk_inst_infos, which the printer, the parser, the verifier and the
 * documentation read.  Nobody else needs to know where an attribute is kept
 * or which operand comes third.
 *
 * An instruction belongs to its program's arena and does not change once the
 * program is made.
 */
#ifndef TK_IR_INST_H
#define TK_IR_INST_H

#include "base/diag.h"
#include "ir/type.h"

typedef enum tk_opcode {
#define INST(id, name, effect, lanes, results, doc) TK_I_##id,
#include "ir/inst.def"
  TK_INST_COUNT,
} tk_opcode;

/* ---- enumerations of mode.def ------------------------------------------ */

typedef enum tk_unary {
#define UNARY(id, name) TK_U_##id,
#include "ir/mode.def"
  TK_U_COUNT
} tk_unary;
typedef enum tk_binary {
#define BINARY(id, name) TK_B_##id,
#include "ir/mode.def"
  TK_B_COUNT
} tk_binary;
typedef enum tk_compare {
#define COMPARE(id, name) TK_C_##id,
#include "ir/mode.def"
  TK_C_COUNT
} tk_compare;
typedef enum tk_reduction {
#define REDUCTION(id, name) TK_R_##id,
#include "ir/mode.def"
  TK_R_COUNT
} tk_reduction;
typedef enum tk_atomic {
#define ATOMIC(id, name) TK_A_##id,
#include "ir/mode.def"
  TK_A_COUNT
} tk_atomic;
typedef enum tk_precision {
#define PRECISION(id, name) TK_P_##id,
#include "ir/mode.def"
  TK_P_COUNT
} tk_precision;
typedef enum tk_rounding {
#define ROUNDING(id, name) TK_ROUND_##id,
#include "ir/mode.def"
  TK_ROUND_COUNT
} tk_rounding;
typedef enum tk_window {
#define WINDOW(id, name) TK_W_##id,
#include "ir/mode.def"
  TK_W_COUNT
} tk_window;
typedef enum tk_sem {
#define SEM(id, name) TK_SEM_##id,
#include "ir/mode.def"
  TK_SEM_COUNT
} tk_sem;
typedef enum tk_scope {
#define SCOPE(id, name) TK_SCOPE_##id,
#include "ir/mode.def"
  TK_SCOPE_COUNT
} tk_scope;
typedef enum tk_cache {
#define CACHE(id, name) TK_CACHE_##id,
#include "ir/mode.def"
  TK_CACHE_COUNT
} tk_cache;
typedef enum tk_eviction {
#define EVICTION(id, name) TK_EVICT_##id,
#include "ir/mode.def"
  TK_EVICT_COUNT
} tk_eviction;
typedef enum tk_hint {
#define HINT(id, name) TK_HINT_##id,
#include "ir/mode.def"
  TK_HINT_COUNT
} tk_hint;

/* ---- columns of inst.def ------------------------------------------------ */

typedef enum tk_effect {
  TK_EFFECT_PURE,
  TK_EFFECT_READS,
  TK_EFFECT_WRITES,
  TK_EFFECT_CONTROL,
} tk_effect;

typedef enum tk_lanes {
  TK_LANES_NONE,
  TK_LANES_SAME,
  TK_LANES_MOVES,
  TK_LANES_GATHERS,
  TK_LANES_REDUCES,
  TK_LANES_SCANS,
  TK_LANES_SORTS,
  TK_LANES_PRODUCT,
  TK_LANES_COUNTS,
  TK_LANES_SCALES,
  TK_LANES_GROUPS,
  TK_LANES_CALLS,
} tk_lanes;

typedef enum tk_operand_kind {
  TK_OPERAND_ANY,
  TK_OPERAND_SAME,
  TK_OPERAND_LANES,
  TK_OPERAND_MASK,
  TK_OPERAND_FLAG,
  TK_OPERAND_POINTER,
  TK_OPERAND_OFFSET,
} tk_operand_kind;

typedef enum tk_attr_kind {
  TK_ATTR_INT,
  TK_ATTR_BITS,
  TK_ATTR_FLAG,
  TK_ATTR_AXIS,
  TK_ATTR_AXES,
  TK_ATTR_VALUES,
  TK_ATTR_FUNCTION,
  TK_ATTR_UNARY, /* from here on: lists of mode.def */
  TK_ATTR_BINARY,
  TK_ATTR_COMPARE,
  TK_ATTR_REDUCTION,
  TK_ATTR_ATOMIC,
  TK_ATTR_PRECISION,
  TK_ATTR_ROUNDING,
  TK_ATTR_WINDOW,
  TK_ATTR_SEM,
  TK_ATTR_SCOPE,
  TK_ATTR_CACHE,
  TK_ATTR_EVICTION,
  TK_ATTR_HINT,
} tk_attr_kind;

/* The cases of a switch over kinds that are lists of mode.def, whose values
 * tk_mode_text names. */
#define TK_CASE_ATTR_WORDS                                                     \
  case TK_ATTR_UNARY:                                                          \
  case TK_ATTR_BINARY:                                                         \
  case TK_ATTR_COMPARE:                                                        \
  case TK_ATTR_REDUCTION:                                                      \
  case TK_ATTR_ATOMIC:                                                         \
  case TK_ATTR_PRECISION:                                                      \
  case TK_ATTR_ROUNDING:                                                       \
  case TK_ATTR_WINDOW:                                                         \
  case TK_ATTR_SEM:                                                            \
  case TK_ATTR_SCOPE:                                                          \
  case TK_ATTR_CACHE:                                                          \
  case TK_ATTR_EVICTION:                                                       \
  case TK_ATTR_HINT

typedef enum tk_ref_kind {
  TK_REF_NONE,
  TK_REF_CALLEE,
  TK_REF_COMBINE,
  TK_REF_FORMAT,
  TK_REF_CODE,
} tk_ref_kind;

enum { TK_AT_MODE = -1, TK_ANY_RESULTS = -1 };

typedef struct tk_operand_info {
  const char *name; /* NULL: there is none */
  tk_operand_kind kind;
  bool optional, many;
} tk_operand_info;

typedef struct tk_attr_info {
  const char *name;
  tk_attr_kind kind;
  int at; /* an entry of attr, or TK_AT_MODE */
} tk_attr_info;

enum { TK_OPERANDS = 3 };

/* A row of inst.def. */
typedef struct tk_inst_info {
  const char *name, *doc;
  tk_effect effect;
  tk_lanes lanes;
  int results; /* their number, or TK_ANY_RESULTS */
  tk_operand_info operands[TK_OPERANDS];
  const char *ref_name;
  tk_ref_kind ref;
} tk_inst_info;

const tk_inst_info *tk_inst_info_of(tk_opcode op);
/* Its i-th attribute; NULL past the end. */
const tk_attr_info *tk_inst_attr(tk_opcode op, size_t i);
/* The i-th name of a list of mode.def; NULL past the end. */
const char *tk_mode_text(tk_attr_kind list, int64_t i);

/* ---- instructions ------------------------------------------------------- */

typedef struct tk_inst tk_inst;
typedef struct tk_func tk_func;

typedef struct tk_insts {
  tk_inst **items;
  size_t n, cap;
} tk_insts;

struct tk_inst {
  uint8_t op;   /* tk_opcode */
  uint8_t mode; /* the attribute kept in MODE */
  uint8_t has;  /* bit k: operand k of inst.def is present */
  uint16_t nargs, nres;
  uint32_t kill; /* bit i: args[i] is a temporary not used again */
  int *args;     /* slots of the operands that are present, in order */
  int *res;      /* slots */
  tk_type type;  /* of res[0], or of the stored value */
  tk_type from;  /* of args[0] where there is one */
  int64_t n;     /* lanes of `type` */
  uint32_t id;   /* unique in the program, in source order */
  tk_span span;
  int64_t attr[TK_MAX_RANK];
  union {
    const void *any;
    const tk_func *callee;
    const struct tk_combine *combine;
    const struct tk_format *format;
    const struct tk_asm *code;
  } ref;
  tk_insts body[2]; /* COND */
};

/* ---- accessors ---------------------------------------------------------- */

typedef int64_t tk_type_of_INT;
typedef uint64_t tk_type_of_BITS;
typedef bool tk_type_of_FLAG;
typedef int tk_type_of_AXIS;
typedef const int64_t *tk_type_of_AXES;
typedef const int64_t *tk_type_of_VALUES;
typedef size_t tk_type_of_FUNCTION;
typedef tk_unary tk_type_of_UNARY;
typedef tk_binary tk_type_of_BINARY;
typedef tk_compare tk_type_of_COMPARE;
typedef tk_reduction tk_type_of_REDUCTION;
typedef tk_atomic tk_type_of_ATOMIC;
typedef tk_precision tk_type_of_PRECISION;
typedef tk_rounding tk_type_of_ROUNDING;
typedef tk_window tk_type_of_WINDOW;
typedef tk_sem tk_type_of_SEM;
typedef tk_scope tk_type_of_SCOPE;
typedef tk_cache tk_type_of_CACHE;
typedef tk_eviction tk_type_of_EVICTION;
typedef tk_hint tk_type_of_HINT;

/* Which of args the k-th operand of inst.def is, or -1. */
static inline int tk_inst_arg(const tk_inst *in, int k) {
  if (!(in->has >> k & 1)) return -1;
  int at = 0;
  for (int i = 0; i < k; i++) at += in->has >> i & 1;
  return at;
}

/* The index in args of an operand; -1: it is absent. */
#define OPERAND(id, inst, k, name, kind)                                       \
  static inline int tk_##inst##_##name(const tk_inst *in) {                    \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    (void)in;                                                                  \
    return k;                                                                  \
  }
#define OPTIONAL(id, inst, k, name, kind)                                      \
  static inline int tk_##inst##_##name(const tk_inst *in) {                    \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    return tk_inst_arg(in, k);                                                 \
  }
/* The values of attributes. */
#define TK_GET_MODE(kind) (tk_type_of_##kind) in->mode
#define TK_GET_0(kind) TK_GET_##kind(0)
#define TK_GET_1(kind) TK_GET_##kind(1)
#define TK_GET_2(kind) TK_GET_##kind(2)
#define TK_GET_3(kind) TK_GET_##kind(3)
#define TK_GET_INT(i) in->attr[i]
#define TK_GET_BITS(i) (uint64_t) in->attr[i]
#define TK_GET_FLAG(i) in->attr[i] != 0
#define TK_GET_AXIS(i) (int)in->attr[i]
#define TK_GET_AXES(i) &in->attr[i]
#define TK_GET_VALUES(i) &in->attr[i]
#define TK_GET_FUNCTION(i) (size_t) in->attr[i]
#define TK_GET_WINDOW(i) (tk_window) in->attr[i]
#define TK_GET_SEM(i) (tk_sem) in->attr[i]
#define TK_GET_SCOPE(i) (tk_scope) in->attr[i]
#define TK_GET_CACHE(i) (tk_cache) in->attr[i]
#define TK_GET_EVICTION(i) (tk_eviction) in->attr[i]
#define ATTRIBUTE(id, inst, at, name, kind)                                    \
  static inline tk_type_of_##kind tk_##inst##_##name(const tk_inst *in) {      \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    return TK_GET_##at(kind);                                                  \
  }
/* What it refers to. */
typedef const tk_func *tk_type_of_CALLEE;
typedef const struct tk_combine *tk_type_of_COMBINE;
typedef const struct tk_format *tk_type_of_FORMAT;
typedef const struct tk_asm *tk_type_of_CODE;
#define REFERENCE(id, inst, name, kind)                                        \
  static inline tk_type_of_##kind tk_##inst##_##name(const tk_inst *in) {      \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    return in->ref.any;                                                        \
  }
#include "ir/inst.def"
#undef TK_GET_MODE
#undef TK_GET_0
#undef TK_GET_1
#undef TK_GET_2
#undef TK_GET_3
#undef TK_GET_INT
#undef TK_GET_BITS
#undef TK_GET_FLAG
#undef TK_GET_AXIS
#undef TK_GET_AXES
#undef TK_GET_VALUES
#undef TK_GET_FUNCTION
#undef TK_GET_WINDOW
#undef TK_GET_SEM
#undef TK_GET_SCOPE
#undef TK_GET_CACHE
#undef TK_GET_EVICTION

/* ---- questions that several instructions answer ------------------------- */

const char *tk_inst_name(tk_opcode op);
/* An attribute that is one number, whatever its kind. */
int64_t tk_inst_get(const tk_inst *in, const tk_attr_info *a);
void tk_inst_put(tk_inst *in, const tk_attr_info *a, int64_t value);
tk_effect tk_inst_effect(const tk_inst *in);
tk_lanes tk_inst_lanes(const tk_inst *in);
bool tk_inst_is_pure(const tk_inst *in);
bool tk_inst_moves(const tk_inst *in); /* lanes, and nothing else */
/* What refines it, "add" of a binary one; "" when nothing does. */
const char *tk_mode_name(const tk_inst *in);

bool tk_inst_has_axis(tk_opcode op);
/* The axis that it works along. */
static inline int tk_inst_axis(const tk_inst *in) {
  TK_ASSERT(tk_inst_has_axis((tk_opcode)in->op));
  return (int)in->attr[0];
}
/* The lanes of its first operand along that axis. */
static inline size_t tk_inst_axis_lanes(const tk_inst *in) {
  return (size_t)in->from.shape[tk_inst_axis(in)];
}
/* Whether it is a reduction or scan by one operation, not by a function. */
static inline bool tk_inst_repeats(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  return (lanes == TK_LANES_REDUCES || lanes == TK_LANES_SCANS) &&
         tk_inst_info_of((tk_opcode)in->op)->ref != TK_REF_COMBINE;
}
/* The operation that a reduction or scan repeats. */
static inline tk_reduction tk_inst_reduction(const tk_inst *in) {
  TK_ASSERT(tk_inst_repeats(in));
  return (tk_reduction)in->mode;
}
/* Whether a scan, with or without a function of its own, begins at the end. */
static inline bool tk_inst_reverse(const tk_inst *in) {
  TK_ASSERT(tk_inst_lanes(in) == TK_LANES_SCANS);
  return in->attr[1] != 0;
}
/* The mask of a memory access, an index in args; -1: there is none. */
static inline int tk_inst_mask(const tk_inst *in) {
  return in->op == TK_I_LOAD     ? tk_load_mask(in)
         : in->op == TK_I_STORE  ? tk_store_mask(in)
         : in->op == TK_I_ATOMIC ? tk_atomic_mask(in)
                                 : -1;
}
/* What a memory access was written with. */
static inline tk_window tk_inst_window(const tk_inst *in) {
  return in->op == TK_I_LOAD    ? tk_load_window(in)
         : in->op == TK_I_STORE ? tk_store_window(in)
                                : TK_W_POINTERS;
}
/* The order and the reach of an atomic access. */
static inline tk_sem tk_inst_sem(const tk_inst *in) {
  return in->op == TK_I_CAS ? tk_atomic_cas_sem(in) : tk_atomic_sem(in);
}
static inline tk_scope tk_inst_scope(const tk_inst *in) {
  return in->op == TK_I_CAS ? tk_atomic_cas_scope(in) : tk_atomic_scope(in);
}

#endif
