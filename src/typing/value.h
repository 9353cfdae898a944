/* value.h - what is known of an expression while a kernel is typed: the first
 * floor of the specialiser.
 *
 * Every expression has a static value (sval).  It is either known now, which
 * Triton calls a constexpr, or a slot that will hold lanes of a known type when
 * a program runs.  Functions take values by pointer and give them back by
 * value; what a value points to belongs to the program's arena.
 */
#ifndef TK_TYPING_VALUE_H
#define TK_TYPING_VALUE_H

#include "typing/origin.h"

typedef struct tks tks;
typedef struct sval sval;
typedef struct tks_op tks_op;

typedef enum sval_kind {
  V_NONE,
  V_BOOL,
  V_INT,
  V_FLOAT,
  V_STR,
  V_TYPE,     /* type: a dtype, pointer type or block type */
  V_TYPE_OF,  /* the type of the constexpr items[0] */
  V_TYPES,    /* the type of a tuple: items are types; s: as of V_TUPLE */
  V_TUPLE,    /* items, n; s: comma-separated field names or NULL */
  V_SLICE,    /* items[3] */
  V_ELLIPSIS, /* in a debugger's index */
  V_FUNC,     /* fn: a jit function */
  V_LAMBDA,   /* ast, with the scope it was made in */
  V_OP,       /* op: an operation of the language */
  V_METHOD,   /* op bound to items[0] */
  V_MODULE,   /* s: "tl", "tl.math", "libdevice", "semantic", ... */
  V_OBJECT,   /* obj: a value that lives in the host program */
  V_FORMAT,   /* fmt: an f-string with values only known when it runs */
  V_TENSOR,   /* type, slot */
  V_BLOCKPTR, /* items: base, shape, strides, offsets; type: block shape */
  V_DESC,     /* items: base, shape, strides; type: block shape; i: DESC_ */
  V_PYTHON,   /* fn: a Python function, specialised where it is called */
  V_DICT,     /* items: keys and values in turn, n of both together */
  V_SPECIAL,  /* s: a method of a tensor, "__add__", or of the compiler;
                 items: the tensor, if n is 1 */
  V_INSTANCE, /* object: a value of an aggregate class; items: its fields */
} sval_kind;

/* What a descriptor's loads do: NaN where there is nothing, fp32 in tf32. */
enum { DESC_NAN = 1, DESC_TF32 = 2 };

struct sval {
  uint8_t kind;
  bool is_list; /* V_TUPLE written as a list */
  bool is_one;  /* V_TUPLE that is one constexpr, not a tuple of them */
  bool is_host; /* V_TUPLE of Python's own, which no variable can hold */
  bool is_held; /* V_TENSOR in a variable that is annotated as a constexpr */
  bool bound;   /* V_OP, V_SPECIAL: got from _semantic, and needs no other */
  bool is_raw;  /* V_OP, V_OBJECT: itself, not a constexpr that holds it */
  int slot;
  size_t n;
  union {
    tk_int i;
    double f;
    const char *s;
    tk_function *fn;
    const tks_op *op;
    void *obj;
    const tk_ast *ast;
    tk_format *fmt;
    struct tks_object *object;
  };
  sval *items;
  tk_type type;
};

static inline sval sv(sval_kind k) {
  return (sval){.kind = (uint8_t)k};
}
static inline sval sv_int(tk_int i) {
  return (sval){.kind = V_INT, .i = i};
}
static inline sval sv_bool(bool b) {
  return (sval){.kind = V_BOOL, .i = b};
}
static inline sval sv_float(double f) {
  return (sval){.kind = V_FLOAT, .f = f};
}
static inline sval sv_str(const char *p, size_t n) {
  return (sval){.kind = V_STR, .s = p, .n = n};
}
static inline sval sv_type(tk_type t) {
  return (sval){.kind = V_TYPE, .type = t};
}
static inline sval sv_tensor(tk_type t, int slot) {
  return (sval){.kind = V_TENSOR, .type = t, .slot = slot};
}
static inline bool sv_is_number(const sval *v) {
  return v->kind == V_BOOL || v->kind == V_INT || v->kind == V_FLOAT;
}
static inline bool sv_is_tensor(const sval *v) {
  return v->kind == V_TENSOR;
}
/* Of its lanes; of a pointer, what it points to. */
static inline tk_dtype sv_dtype(const sval *v) {
  return (tk_dtype)v->type.elem;
}
static inline bool sv_is_none(const sval *v) {
  return v->kind == V_NONE;
}
static inline bool sv_is_block(const sval *v) {
  return v->kind == V_TENSOR && v->type.rank > 0;
}
sval sv_tuple(tks *s, const sval *items, size_t n);
bool sv_runtime(const sval *v); /* holds slots */
bool sv_truth(tks *s, const sval *v);
bool sv_equal(const sval *a, const sval *b);
/* Same kinds, types and shapes all through; known values equal. */
bool sv_same_type(const sval *a, const sval *b);
/* Python's meaning of an operator on known values. */
sval sv_binary(tks *s, tk_operator op, const sval *a, const sval *b);
sval sv_unary(tks *s, tk_operator op, const sval *a);
double sv_as_double(const sval *v);

/* Writes what tells v apart from values that another specialisation is made
 * for; tks_key: the same of n values, after a text, in the arena. */
void sv_key(tk_buf *out, const sval *v);
const char *tks_key(tks *s, const char *text, const sval *v, size_t n);

/* Text of values, in the arena.  "fp32 block [16, 32]", "constexpr 3", ...: for
 * messages. */
const char *tks_show(tks *s, const sval *v);
const char *tks_type_text(tks *s, const tk_type *t);
/* As Python's str() or repr() gives it; in the arena repr(), and str() (*n,
 * unless n is NULL: its length). */
void tks_text(tks *s, tk_buf *out, const sval *v, bool repr);
const char *tks_known_text(tks *s, const sval *v);
const char *tks_said_text(tks *s, const sval *v, size_t *n);
/* What to do about two operands one of which nothing can be computed with; NULL
 * if there is nothing to say. */
const char *tks_operand_help(const sval *a, const sval *b);

#endif
