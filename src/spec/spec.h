/* spec.h - inside the specialiser: from trees and argument types to typed
 * instructions.  One tks lives while one kernel is specialised; what it
 * makes belongs to the program's arena.
 *
 * Every expression has a static value (sval): either known now (constexpr,
 * as Triton calls it) or a slot that will hold lanes of a known type.
 * Semantics follow Triton 3.6's compiler front end: code_generator.py for
 * statements and scoping, language/semantic.py for types.
 */
#ifndef TK_SPEC_SPEC_H
#define TK_SPEC_SPEC_H

#include "spec/origin.h"

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
  V_DESC,     /* items: base, shape, strides; type: block shape; i padding */
  V_PYTHON,   /* fn: a Python function, specialised where it is called */
  V_DICT,     /* items: keys and values in turn, n of both together */
  V_SPECIAL,  /* s: a method of a tensor, "__add__", or of the compiler;
                 items: the tensor, if n is 1 */
  V_INSTANCE, /* object: a value of an aggregate class; items: its fields */
} sval_kind;

/* A class that @tl.core._aggregate decorates; obj is the host's. */
typedef struct tks_class {
  struct tks_class *next;
  void *obj;
  const struct tks_class *base; /* it has no decorator of its own; NULL */
  const char *name;
  size_t n;
  const char **fields;
  sval *types; /* what the fields are annotated with */
} tks_class;

/* A value of such a class: Python's reference, which methods may change. */
typedef struct tks_object {
  const tks_class *class;
  const char *var;            /* the variable that holds it; NULL: none yet */
  const struct tk_body *home; /* where that variable was assigned */
  bool shared; /* it has more names than one: see tks_set_field */
} tks_object;

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
    tks_object *object;
  };
  sval *items;
  tk_type type;
};

/* How a name got its value. */
typedef enum tk_bind_how {
  BOUND_VALUE,  /* a parameter or an assignment */
  BOUND_PLAIN,  /* an assignment of None or a dtype, which is not a value of
                   the compiler's: neither branches nor loops carry it */
  BOUND_KNOWN,  /* annotated as a constexpr, or counted by static_range */
  BOUND_UNSEEN, /* a parameter that only keywords set: the compiler looks
                   only at others */
} tk_bind_how;

/* The newest bindings of the names in one sixteenth of a table. */
typedef struct tks_names {
  const struct tk_binding *newest[16];
} tks_names;

/* A variable of a function; newer ones hide older ones of the same name.  Each
 * has the table of all names when it was the newest, so that a function of any
 * length finds a name at once; it differs from the one before in one row. */
typedef struct tk_binding {
  const struct tk_binding *prev;
  const struct tk_binding *same; /* the one before in its place of the table */
  const tks_names *const *names;
  const char *name;
  sval v;
  tk_span span;
  uint8_t how;  /* tk_bind_how */
  bool dropped; /* no longer visible: v is what it was, span where */
  bool lost;    /* v as before: what was assigned at span does not hold */
} tk_binding;

/* A function being specialised. */
typedef struct tks_frame {
  struct tks_frame *caller;
  tk_func *func;
  tk_function *fn;
  const tk_binding *scope;
  tk_body *body;   /* where statements go */
  tk_insts *insts; /* where instructions go */
  tk_span at;      /* what is being worked on */
  tk_span call;    /* the operation that it is part of; hi 0: none */
  int loops;       /* runtime loops around `at` */
  sval ret;        /* what the function returns */
  bool has_ret;
  bool python;  /* fn runs inside of the caller's func (python.c) */
  uint8_t flow; /* python: why the statements of a block end */
} tks_frame;

typedef struct tks_instance {
  struct tks_instance *next;
  tk_function *fn;
  const char *key;
  tk_func *func;
  sval ret;
  bool open; /* still being made */
} tks_instance;

/* A tensor descriptor that the kernel makes: where, and whether it is used. */
typedef struct tks_desc {
  tk_func *func;
  bool used;
} tks_desc;

enum { TKS_INSTANCE_BUCKETS = 256 };

struct tks {
  tk_env *env;
  tk_arena *arena; /* the program's */
  tk_program *program;
  tk_origin *origin; /* the program's */
  tk_launch *launch;
  tks_frame *frame;
  tks_instance *instances[TKS_INSTANCE_BUCKETS]; /* by their keys */
  tks_class *classes;
  TK_VEC(tks_desc) descs; /* by their sval.slot, less 1 */
  size_t unrolled;        /* bodies visited by static_range, to stop runaways */
  bool plain_globals;     /* in defaults of parameters any global may be read */
  bool prints; /* in arguments of print, which shows what the program finds */
  const struct tk_eval_where *where; /* eval.c: a debugger's expression */
  int *tensors; /* eval.c: by argument, slot of its address + 1, or 0 */
};

/* The arguments of one operation call, bound to its signature. */
enum { TKS_MAX_ARGS = 16 };
typedef struct tks_args {
  const tks_op *op;
  sval v[TKS_MAX_ARGS];
  bool given[TKS_MAX_ARGS];
  tk_span span[TKS_MAX_ARGS];
  size_t n;
  sval *rest; /* of *args */
  size_t nrest;
  bool method; /* written x.f(...) */
} tks_args;

typedef sval (*tks_rule)(tks *s, const tks_args *a);

/* A row of op.def. */
struct tks_op {
  const char *name; /* "tl.load" */
  const char *sig;  /* "pointer, mask=None" */
  tks_rule rule;
  int mode;
  bool method; /* x.name(...) with x for the first parameter */
  const char *doc;
};
const tks_op *tks_find_op(const char *name);
const tks_op *tks_op_at(size_t i);

/* ---- failing ----------------------------------------------------------- */

void tks_error(tks *s, tk_diag_id id, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
void tks_error_help(tks *s, tk_diag_id id, const char *help, const char *fmt,
                    ...) TK_PRINTF(4, 5) TK_NORETURN;
/* Reports without failing, for notes to be added. */
tk_diag *tks_say(tks *s, tk_diag_id id, const char *fmt, ...) TK_PRINTF(3, 4);
/* Notes a deprecated spelling; each format is noted once for a file. */
void tks_deprecated(tks *s, const char *fmt, ...) TK_PRINTF(2, 3);
/* "fp32 block [16, 32]", "constexpr 3", ...: for messages. */
const char *tks_show(tks *s, const sval *v);
const char *tks_type_text(tks *s, const tk_type *t);
/* The text that a frame's places are in. */
const tk_source *tks_frame_source(const tks_frame *f);

/* ---- values known now -------------------------------------------------- */

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
sval sv_from_value(tks *s, const tk_value *v);
/* Python's meaning of an operator on known values. */
sval sv_binary(tks *s, tk_operator op, const sval *a, const sval *b);
sval sv_unary(tks *s, tk_operator op, const sval *a);
void sv_key(tk_buf *out, const sval *v);
/* What tells values apart, behind a text. */
const char *tks_key(tks *s, const char *text, const sval *v, size_t n);
double sv_as_double(const sval *v);

/* ---- instructions ------------------------------------------------------ */

int tks_slot(tks *s, tk_type t, const char *name);
/* An instruction with one result in a new temporary. */
tk_inst *tks_emit(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                  const sval *args);
sval tks_result(const tk_inst *in);
sval tks_emit1(tks *s, tk_opcode op, int mode, tk_type t, const sval *a);
sval tks_emit2(tks *s, tk_opcode op, int mode, tk_type t, const sval *a,
               const sval *b);
tk_inst *tks_inst_new(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                      const sval *args, size_t nres);
/* Copies every leaf of v into slots named after `name`. */
sval tks_store_var(tks *s, const char *name, const sval *v);
sval tks_copy(tks *s, const sval *v); /* into fresh temporaries */
sval tks_const(tks *s, tk_type t, uint64_t bits);

/* ---- types (convert.c) ------------------------------------------------- */

/* Any number or tensor as a tensor, with Triton's literal types. */
sval tks_to_tensor(tks *s, const sval *v);
/* What to do about two operands one of which nothing can be computed with; NULL
 * if there is nothing to say. */
const char *tks_operand_help(const sval *a, const sval *b);
sval tks_number(tks *s, const sval *v, tk_dtype d); /* a literal in dtype d */
/* The same of a number of the kernel's text, which d must be able to hold. */
sval tks_literal(tks *s, const sval *v, tk_dtype d);
sval tks_cast(tks *s, const sval *v, tk_type elem, bool rtz);
sval tks_cast_to(tks *s, const sval *v, tk_dtype d);
sval tks_bitcast(tks *s, const sval *v, tk_type elem);
sval tks_broadcast(tks *s, const sval *v, const tk_type *shape);
void tks_broadcast2(tks *s, sval *a, sval *b);
/* All n to the shape that fits them all. */
void tks_broadcast_all(tks *s, sval *v, size_t n);
tk_dtype tks_int_promote(tk_dtype a, tk_dtype b);
/* Whether the compiler holds both elements in one type of its own, which has
 * no sign and takes fp8e4b15 for 8 bits without a meaning. */
bool tks_same_in_compiler(const tk_type *a, const tk_type *b);
typedef struct tks_check {
  bool ptr_a, ptr_b, no_arith, div_or_mod;
} tks_check;
/* binary_op_type_checking_impl: promotes and broadcasts a and b. */
void tks_promote2(tks *s, sval *a, sval *b, tks_check c);
sval tks_binary(tks *s, tk_operator op, const sval *a, const sval *b);
sval tks_unary(tks *s, tk_operator op, const sval *a);
sval tks_compare(tks *s, tk_compare op, const sval *a, const sval *b);
sval tks_logical(tks *s, bool is_and, const sval *a, const sval *b);
sval tks_not(tks *s, const sval *a);
sval tks_reshape(tks *s, const sval *v, const int64_t *shape, int rank);
/* Checks a block shape as Triton does. */
void tks_check_shape(tks *s, const int64_t *shape, int rank);
/* Raises for a block with more lanes than Triton allows. */
void tks_check_lanes(tks *s, int64_t numel);

/* ---- expressions and statements ---------------------------------------- */

sval tks_expr(tks *s, const tk_ast *e);
void tks_body(tks *s, const tk_ast *block);
/* Whether an annotation is tl.constexpr; whether a variable can hold v only
 * when it is annotated so. */
bool tks_is_constexpr(tks *s, const tk_ast *annotation);
bool tks_needs_constexpr(const sval *v);
/* The value of x.type. */
sval tks_type_of(tks *s, const sval *v);
sval tks_call(tks *s, const sval *fn, const sval *args, size_t n,
              const char *const *kw, const tk_span *spans);
sval tks_call_op(tks *s, const tks_op *op, const sval *args, size_t n,
                 const char *const *kw, const tk_span *spans);
/* Binds args to the parameters of a->op; the arguments of a call, which are
 * evaluated first. */
void tks_bind_args(tks *s, tks_args *a, const sval *args, size_t n,
                   const char *const *kw, const tk_span *spans);
void tks_bind_call(tks *s, tks_args *a, const tk_ast *call);
sval tks_call_name(tks *s, const char *op, const sval *args, size_t n);
/* args bound to fn's parameters, in their order. */
sval *tks_bind_params(tks *s, tk_function *fn, const sval *args, size_t n,
                      const char *const *kw);
void tks_check_depth(tks *s, tk_function *fn);
/* What an item of a composite value is called when the value is `name`. */
const char *tks_part_name(tks *s, const sval *v, const char *name, size_t i);
/* A new, empty function of the program, made from fn. */
tk_func *tks_func_new(tks *s, tk_function *fn, const char *name,
                      const tk_source *src);
/* What only a debugger's expression may do (eval.c): pick lanes of a block,
 * elements of a tensor (false: v is not a pointer to one). */
sval tks_pick(tks *s, const sval *v, const sval *index);
bool tks_element(tks *s, const sval *v, const sval *index, sval *out);
/* Reports a variable that the paused function assigns elsewhere; returns when
 * the name is none. */
void tks_unset_name(tks *s, const char *name);
/* ... and know of tensors: whether this is the text of an expression
 * and not of a function that it calls; the tensor at whose start a pointer
 * points, or NULL; elements between two pointers; a function by NumPy's name,
 * or NULL; an attribute (false: leave it to the language). */
bool tks_is_asked(const tks *s);
const tk_tensor *tks_tensor_at(tks *s, const sval *v);
sval tks_pointer_difference(tks *s, const sval *a, const sval *b);
const tks_op *tks_numpy_op(const char *name);
bool tks_tensor_attr(tks *s, const sval *v, const char *name, sval *out);
/* Notes that a descriptor, if v is one, is used. */
void tks_use_desc(tks *s, const sval *v);
/* The function specialised for these arguments. */
tks_instance *tks_instantiate(tks *s, tk_function *fn, const sval *args,
                              size_t n, const char *const *kw);
tks_instance *tks_instance_of(tks *s, tk_function *fn, const sval *v);
sval tks_call_instance(tks *s, tks_instance *in, const sval *leaves,
                       size_t nleaves);
size_t tks_leaves(const sval *v, sval *out); /* out NULL: count only */
sval tks_attr(tks *s, const sval *v, const char *name);
bool tks_lookup(tks *s, const char *name, sval *out);
/* A variable of the function; NULL: none. */
const tk_binding *tks_binding_of(tks *s, const char *name);
/* The newest binding of a name from `scope` back; NULL: none. */
const tk_binding *tks_newest(const tk_binding *scope, const char *name);
/* Makes a binding, whose name is set, the newest of the frame. */
void tks_push(tks *s, tk_binding *b);
/* Whether an operation's text may have values known only when it runs, or is
 * not made at all as a rule. */
bool tks_op_prints(const tks_op *op);
tk_binding *tks_bind(tks *s, const char *name, const sval *v);
sval tks_global(tks *s, tk_function *fn, const char *name, bool *found);
/* What a name is assigned in fn's file, or NULL. */
const tk_ast *tks_file_value(tk_function *fn, const char *name);
sval tks_module_attr(tks *s, const char *module, const char *name);
/* What tl has of a name that some other module has, or what is most like it, as
 * "tl.exp"; NULL: nothing is. */
const char *tks_in_place_of(tks *s, const char *name);
sval tks_condition(tks *s, const sval *v);
void tks_unknown_name(tks *s, const char *name) TK_NORETURN;
/* v with an axis of size 1 put before `axis`. */
sval tks_insert_axis(tks *s, const sval *v, int axis);
sval tks_fstring(tks *s, const tk_ast *e);

/* ---- Python functions and aggregates (python.c) ------------------------- */

/* The text of fn, specialised in the place of the call. */
sval tks_call_python(tks *s, tk_function *fn, const sval *args, size_t n,
                     const char *const *kw);
/* The compiler as `_semantic` and `_generator` give it; parameters of these
 * names get it. */
sval tks_semantic(void);
bool tks_is_semantic(const sval *v);
sval tks_call_from_python(tks *s, const sval *fn, const sval *args, size_t n,
                          const char *const *kw, const tk_span *spans);
sval tks_call_special(tks *s, const char *name, const sval *args, size_t n);
sval tks_semantic_attr(tks *s, const char *module, const char *name);
/* Reports a tensor's operator that Python itself cannot carry out. */
void tks_need_semantic(tks *s, const char *what) TK_NORETURN;

/* The class behind a host object; NULL: it is none. */
const tks_class *tks_class_of(tks *s, void *obj);
/* Whether c is `from`, or inherits from it. */
bool tks_is_derived(const tks_class *c, const tks_class *from);
sval tks_make_instance(tks *s, const tks_class *c, const sval *args, size_t n,
                       const char *const *kw);
sval tks_instance_attr(tks *s, const sval *v, const char *name);
void tks_set_field(tks *s, const sval *v, const char *name, const sval *to);
sval tks_call_method(tks *s, const sval *v, const char *name, const sval *arg);
/* What an operator on a value calls; without a method for it, values are
 * equal that are the same. */
sval tks_call_operator(tks *s, tk_operator op, const sval *v, const sval *arg);
/* Reports a value whose truth Python asks of a method that runs in kernels. */
void tks_check_truth(tks *s, const sval *v);

/* Whether v is of the class that t names; of other classes: otherwise. */
bool tks_is_instance(const sval *v, const sval *t, bool otherwise);
/* Whether t can be no class; then isinstance() asks for another. */
bool tks_is_no_class(const sval *t);

/* Reading arguments. */
int64_t tks_arg_int(tks *s, const tks_args *a, size_t i, const char *what);
bool tks_arg_bool(tks *s, const tks_args *a, size_t i);
const char *tks_arg_str(tks *s, const tks_args *a, size_t i);
int tks_arg_shape(tks *s, const sval *v, int64_t *shape);
int tks_arg_axis(tks *s, const sval *v, int rank);
tk_type tks_arg_dtype(tks *s, const sval *v);

/* The prelude: operations written in the language itself.  What a source of
 * ours is called starts with TKS_LIBRARY. */
#define TKS_LIBRARY "<tkdbg "
tk_function *tks_prelude(tks *s, const char *name);

/* A known value as Python writes it; the arena's. */
const char *tks_known_text(tks *s, const sval *v);
/* Reports and throws TK_USAGE unless the launch's arguments are of the types
 * that a program read from text was made for (from_text.c). */
void tks_check_fixed(tk_env *e, const tk_launch *l, const tk_program *p);

#endif
