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
#include "ir/mode.h"
#include "ir/type.h"

typedef enum tk_opcode {
#define INST(id, name, effect, lanes, flops, results, doc) TK_I_##id,
#include "ir/inst.def"
  TK_INST_COUNT,
} tk_opcode;

/* ---- columns of inst.def ------------------------------------------------ */

/* X(ID, name), by the name that the public header and the docs say. */
/* clang-format off */
#define TK_EFFECTS(X)                                                          \
  X(PURE, "pure") X(READS, "reads") X(WRITES, "writes") X(CONTROL, "control")
/* X(ID, name, which lanes of its operands a lane of a result is made of) */
#define TK_LANE_KINDS(X)                                                       \
  X(NONE, "none", "of no lane: there is no result, or it is made of nothing")  \
  X(SAME, "same", "of the lanes at the same place")                            \
  X(MOVES, "moves", "it is a lane of an operand, whatever the values are")     \
  X(GATHERS, "gathers",                                                        \
    "it is a lane of an operand, chosen by the value of another")              \
  X(REDUCES, "reduces", "of all lanes along the axis")                         \
  X(SCANS, "scans", "of the lanes along the axis up to its own place")         \
  X(SORTS, "sorts", "it is one of the lanes along the axis")                   \
  X(PRODUCT, "product", "of a row and a column")                               \
  X(COUNTS, "counts", "of every lane")                                         \
  X(SCALES, "scales", "of a lane and the scale of its group")                  \
  X(GROUPS, "groups", "of a group of lanes around the same place")             \
  X(CALLS, "calls", "of what a function or a body makes of them")
/* X(ID, name) */
#define TK_REFERENCES(X)                                                       \
  X(NONE, NULL) X(CALLEE, "callee") X(COMBINE, "combine")                      \
  X(FORMAT, "format") X(CODE, "code")
/* X(ID, name, what the operand must be) */
#define TK_OPERAND_KINDS(X)                                                    \
  X(ANY, "any", "anything")                                                    \
  X(SAME, "same", "the type of the result")                                    \
  X(SAME_OR_ONE, "same_or_one", "the type of the result, or one such lane")    \
  X(LANES, "lanes", "the shape of the result")                                 \
  X(LANES_OR_ONE, "lanes_or_one", "the shape of the result, or one lane")      \
  X(MASK, "mask", "int1 lanes of the result's shape, or one")                  \
  X(FLAG, "flag", "a scalar int1")                                             \
  X(POINTER, "pointer", "pointers to the result's element, of its shape")      \
  X(OFFSET, "offset",                                                          \
    "integers of 32 or 64 bits, of the result's shape, or one")
/* X(ID, name, what an accessor gives); attributes that are words have the
 * names of their lists. */
#define TK_ATTR_KINDS(X)                                                       \
  X(INT, "int", int64_t) X(BITS, "bits", uint64_t) X(FLAG, "flag", bool)       \
  X(AXIS, "axis", int) X(FUNCTION, "function", size_t)                         \
  X(AXES, "axes", const int64_t *) X(VALUES, "values", const int64_t *)
/* clang-format on */

#define X(ID, name) TK_EFFECT_##ID,
typedef enum tk_effect { TK_EFFECTS(X) TK_EFFECT_COUNT } tk_effect;
#undef X
#define X(ID, name, doc) TK_LANES_##ID,
typedef enum tk_lanes { TK_LANE_KINDS(X) } tk_lanes;
#undef X
#define X(ID, name) TK_REF_##ID,
typedef enum tk_ref_kind { TK_REFERENCES(X) } tk_ref_kind;
#undef X
#define X(ID, name, wanted) TK_OPERAND_##ID,
typedef enum tk_operand_kind { TK_OPERAND_KINDS(X) } tk_operand_kind;
#undef X
#define X(ID, name, type) TK_ATTR_##ID,
typedef enum tk_attr_kind { TK_ATTR_KINDS(X) TK_ATTR_WORD } tk_attr_kind;
#undef X

enum { TK_AT_MODE = -1, TK_ANY_RESULTS = -1, TK_FLOPS_OF_WORD = -1 };

typedef struct tk_operand_info {
  const char *name; /* NULL: there is none */
  tk_operand_kind kind;
  bool optional, many;
} tk_operand_info;

typedef struct tk_attr_info {
  const char *name;
  tk_attr_kind kind;
  tk_list list; /* of WORD */
  int at;       /* an entry of attr, or TK_AT_MODE */
} tk_attr_info;

enum { TK_OPERANDS = 4 };

/* A row of inst.def. */
typedef struct tk_inst_info {
  const char *name, *doc;
  tk_effect effect;
  tk_lanes lanes;
  int flops;   /* that a step takes, or TK_FLOPS_OF_WORD */
  int results; /* their number, or TK_ANY_RESULTS */
  tk_operand_info operands[TK_OPERANDS];
  const char *ref_name;
  tk_ref_kind ref;
} tk_inst_info;

const tk_inst_info *tk_inst_info_of(tk_opcode op);
/* Its i-th attribute; NULL past the end. */
const tk_attr_info *tk_inst_attr(tk_opcode op, size_t i);

/* What the public header calls things. */
const char *tk_effect_name(tk_effect effect);
const char *tk_lanes_name(tk_lanes lanes);
const char *tk_lanes_doc(tk_lanes lanes);
const char *tk_ref_name(tk_ref_kind ref); /* NULL: none */
const char *tk_operand_name(tk_operand_kind kind);
const char *tk_operand_wanted(tk_operand_kind kind);
const char *tk_attr_kind_name(const tk_attr_info *a);

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

#define X(ID, name, type) typedef type tk_type_of_##ID;
TK_ATTR_KINDS(X)
#undef X
#define LIST(ID, type, P, words, said) typedef tk_##type tk_type_of_##ID;
TK_MODE_LISTS(LIST)
#undef LIST

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
#define TK_GET_MODE in->mode
#define TK_GET_0 in->attr[0]
#define TK_GET_1 in->attr[1]
#define TK_GET_2 in->attr[2]
#define TK_GET_3 in->attr[3]
#define TK_GET_4 in->attr[4]
#define ATTRIBUTE(id, inst, at, name, kind)                                    \
  static inline tk_type_of_##kind tk_##inst##_##name(const tk_inst *in) {      \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    return (tk_type_of_##kind)TK_GET_##at;                                     \
  }
#define NUMBERS(id, inst, name, kind)                                          \
  static inline tk_type_of_##kind tk_##inst##_##name(const tk_inst *in) {      \
    TK_ASSERT(in->op == TK_I_##id);                                            \
    return in->attr;                                                           \
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
#undef TK_GET_4

/* ---- questions that several instructions answer ------------------------- */

const char *tk_inst_name(tk_opcode op);
/* An attribute that is one number, whatever its kind. */
int64_t tk_inst_get(const tk_inst *in, const tk_attr_info *a);
void tk_inst_put(tk_inst *in, const tk_attr_info *a, int64_t value);
/* Whether it has the value that the text leaves out: false, or the first word
 * of a list whose first word says nothing. */
bool tk_inst_implies(const tk_inst *in, const tk_attr_info *a);
tk_effect tk_inst_effect(const tk_inst *in);
tk_lanes tk_inst_lanes(const tk_inst *in);
bool tk_inst_is_pure(const tk_inst *in);
bool tk_inst_moves(const tk_inst *in); /* lanes, and nothing else */
/* Floating-point operations that it takes to run once, on all lanes; those of
 * functions that it calls, and of inline assembly, are not among them. */
uint64_t tk_inst_flops(const tk_inst *in);
/* Its mode, such as "add" of a binary one; "" if it has none. */
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
         : in->op == TK_I_CAS    ? tk_atomic_cas_mask(in)
                                 : -1;
}
/* What a memory access was written with. */
static inline tk_window tk_inst_window(const tk_inst *in) {
  return in->op == TK_I_LOAD    ? tk_load_window(in)
         : in->op == TK_I_STORE ? tk_store_window(in)
                                : TK_W_POINTERS;
}
/* Whether its operand 0 is an address, or a block of them, that it accesses. */
static inline bool tk_inst_accesses(const tk_inst *in) {
  return in->op == TK_I_LOAD || in->op == TK_I_STORE || in->op == TK_I_ATOMIC ||
         in->op == TK_I_CAS;
}
/* Whether it is an atomic load. */
static inline bool tk_inst_is_atomic_load(const tk_inst *in) {
  return in->op == TK_I_LOAD && tk_load_ordering(in) != TK_ORD_WEAK;
}
/* Whether a load reads memory each time that it runs, since others may write
 * there meanwhile. */
static inline bool tk_load_reads_anew(const tk_inst *in) {
  return tk_load_volatile(in) || tk_load_ordering(in) != TK_ORD_WEAK;
}
/* How an atomic load of that semantic and scope is ordered. */
static inline tk_ordering tk_ordering_of(tk_sem sem, tk_scope scope) {
  TK_ASSERT(sem == TK_SEM_ACQUIRE || sem == TK_SEM_RELAXED);
  return (
      tk_ordering)((sem == TK_SEM_ACQUIRE ? TK_ORD_ACQUIRE : TK_ORD_RELAXED) +
                   (int)scope);
}
/* The order and the reach of an atomic access.  A volatile load counts as an
 * acquire, since kernels use it to wait for a signal. */
static inline tk_sem tk_inst_sem(const tk_inst *in) {
  if (in->op == TK_I_LOAD)
    return tk_load_volatile(in) || tk_load_ordering(in) >= TK_ORD_ACQUIRE
               ? TK_SEM_ACQUIRE
               : TK_SEM_RELAXED;
  return in->op == TK_I_CAS ? tk_atomic_cas_sem(in) : tk_atomic_sem(in);
}
static inline tk_scope tk_inst_scope(const tk_inst *in) {
  if (in->op == TK_I_LOAD)
    return tk_load_ordering(in) == TK_ORD_WEAK
               ? TK_SCOPE_GPU
               : (tk_scope)((tk_load_ordering(in) - TK_ORD_RELAXED) % 3);
  return in->op == TK_I_CAS ? tk_atomic_cas_scope(in) : tk_atomic_scope(in);
}

#endif
