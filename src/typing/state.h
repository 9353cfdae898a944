/* state.h - what is kept while one kernel is typed.  One tks lives for that
 * long; what it makes belongs to the program's arena. */
#ifndef TK_TYPING_STATE_H
#define TK_TYPING_STATE_H

#include <string.h>

#include "typing/value.h"

/* A class that @triton.aggregate decorates; obj is the host's. */
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
  bool fixed;  /* its constructor is done: since Triton 3.8 its fields stay */
} tks_object;

/* How a name got its value. */
typedef enum tk_bind_how {
  BOUND_VALUE,  /* a parameter or an assignment */
  BOUND_PLAIN,  /* an assignment of None or a dtype, which the compiler does
                   not treat as a value: no branch or loop carries it */
  BOUND_KNOWN,  /* annotated as a constexpr, or counted by static_range */
  BOUND_UNSEEN, /* a parameter set by keywords alone: the compiler skips it */
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

/* A return statement and its value; the types of all are known at the end. */
typedef struct tks_return {
  tk_stmt *stmt;
  sval v;
  tk_span span;
} tks_return;

/* A name that was annotated as a constexpr and has no value yet. */
typedef struct tks_pending {
  const struct tks_pending *next;
  const char *name;
} tks_pending;

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
  TK_VEC(tks_return) returns;
  const tks_pending *pending;
  bool python;  /* fn runs inside of the caller's func (python.c) */
  uint8_t flow; /* python: why the statements of a block end */
} tks_frame;

/* A function of the program, made for arguments of one kind. */
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
  const tk_source *src;
  tk_span span;
  bool used;
} tks_desc;

enum { TKS_INSTANCE_BUCKETS = 256 };

struct tks {
  tk_env *env;
  tk_arena *arena; /* the program's */
  tk_program *program;
  tk_origin *origin; /* the program's */
  tk_launch *launch;
  const struct tks_table *ops; /* the language (ops.h) */
  tks_frame *frame;
  tks_instance *instances[TKS_INSTANCE_BUCKETS]; /* by their keys */
  tks_class *classes;
  TK_VEC(tks_desc) descs; /* by their sval.slot, less 1 */
  size_t unrolled;        /* bodies visited by static_range, to stop runaways */
  bool plain_globals;     /* in defaults of parameters any global may be read */
  bool prints; /* in arguments of print, which shows what the program finds */
  const struct tks_ask *ask;         /* a debugger's expression (ask.h); NULL */
  const struct tk_eval_where *where; /* of ask: where it stands */
  int *tensors; /* of ask: by argument, slot of its address + 1, or 0 */
};

/* This is a debugger's expression itself, not a function that it calls. */
static inline bool tks_is_asked(const tks *s) {
  return s->ask && !s->frame->caller;
}

/* The newest binding of a name from `scope` back; NULL: none. */
const tk_binding *tks_newest(const tk_binding *scope, const char *name);
/* A variable of the function; NULL: none. */
const tk_binding *tks_binding_of(tks *s, const char *name);
/* Makes a binding, whose name is set, the newest of the frame. */
void tks_push(tks *s, tk_binding *b);
tk_binding *tks_bind(tks *s, const char *name, const sval *v);

/* What a source of ours is called starts with this. */
#define TKS_LIBRARY "<tkdbg "
static inline bool tks_is_library(const tk_source *src) {
  return !strncmp(src->name, TKS_LIBRARY, sizeof TKS_LIBRARY - 1);
}

#endif
