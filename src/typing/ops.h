/* ops.h - the operations of the language as a table that is handed in, and the
 * arguments of a call bound to the parameters of
 * one. */
#ifndef TK_TYPING_OPS_H
#define TK_TYPING_OPS_H

#include "base/lookup.h"
#include "typing/emit.h"
#include "typing/version.h"

/* A parameter of an operation, as its signature in op.def says. */
typedef struct tks_param {
  const char *name;  /* not ended by a zero */
  size_t len;        /* of the name */
  const char *value; /* text of its default; NULL: required, or the rest */
  size_t value_len;
  bool rest;     /* *name: takes the remaining arguments */
  bool keyword;  /* after a bare *: only keywords set it */
  bool keywords; /* **name: takes the keywords that no other one takes */
} tks_param;

/* The arguments of one operation call, bound to its signature. */
enum { TKS_MAX_ARGS = 16 };
typedef struct tks_args {
  const tks_op *op;
  sval v[TKS_MAX_ARGS];
  bool given[TKS_MAX_ARGS];
  tk_span span[TKS_MAX_ARGS];
  size_t n;
  sval *rest; /* of *args; of **kw: pairs of a name and a value */
  size_t nrest;
  bool method; /* written x.f(...) */
} tks_args;

typedef sval (*tks_rule)(tks *s, const tks_args *a);

typedef enum tks_role {
  TKS_FUNCTION, /* f(x) */
  TKS_METHOD,   /* also x.f(), x being the first parameter */
  TKS_MEMBER,   /* a member of an enumeration, whose number is the mode */
  TKS_PRINTER,  /* f(x), which shows what the program finds */
} tks_role;

/* A row of op.def.  The parameters are set in the table of a session. */
struct tks_op {
  const char *name; /* "tl.load" */
  const char *sig;  /* "pointer, mask=None" */
  tks_rule rule;
  int mode;
  tks_role role;
  const char *doc;
  int since, until; /* versions of Triton that have this row; 0: all */
  const tks_param *params;
  size_t nparams;
};

/* The language of one version of Triton. */
typedef struct tks_table {
  const struct tks_table *next; /* made before */
  int version;                  /* that it is for: session->triton_version */
  int turned; /* of a trial: the change that is turned round; or -1 */
  const tks_op *ops;
  size_t n;
  tk_lookup by_name;
  /* names that prelude.py and triton_helpers.py define */
  const char *const *library;
  size_t nlibrary;
} tks_table;

/* That of the session's version, which lasts as long as it (op_table.c). */
const tks_table *tks_table_of(tk_session *session);
/* An operation's signature as rows, in the arena. */
void tks_parse_signature(tk_arena *a, tks_op *op);

const tks_op *tks_find_op(const tks *s, const char *name);
/* Whether v is NotImplemented. */
bool tks_is_not_implemented(const sval *v);
/* The operations' names, then those of the library; NULL after the last. */
const char *tks_known_name(const tks *s, size_t i);

/* Binds args to the parameters of a->op. */
void tks_bind_args(tks *s, tks_args *a, const sval *args, size_t n,
                   const char *const *kw, const tk_span *spans);
/* Binds args to a.op and runs its rule; the second: to op. */
sval tks_run_op(tks *s, tks_args a, const sval *args, size_t n,
                const char *const *kw, const tk_span *spans);
sval tks_call_op(tks *s, const tks_op *op, const sval *args, size_t n,
                 const char *const *kw, const tk_span *spans);
sval tks_call_name(tks *s, const char *op, const sval *args, size_t n);

/* ---- reading arguments --------------------------------------------------- */

int64_t tks_arg_int(tks *s, const tks_args *a, size_t i, const char *what);
bool tks_arg_bool(tks *s, const tks_args *a, size_t i);
/* ... that must be True or False since a change: a number is refused. */
bool tks_arg_only_bool(tks *s, const tks_args *a, size_t i, tks_change since);
const char *tks_arg_str(tks *s, const tks_args *a, size_t i);
int tks_arg_shape(tks *s, const sval *v, int64_t *shape);
int tks_arg_axis(tks *s, const sval *v, int rank);
tk_type tks_arg_dtype(tks *s, const sval *v);

#endif
