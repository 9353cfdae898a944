/* walk.h - the recursion over a kernel's text: expressions, statements, calls,
 * names, and Python functions that a kernel calls while it is compiled.
 *
 * Source: Triton, python/triton/compiler/code_generator.py.
 */
#ifndef TK_TYPING_WALK_H
#define TK_TYPING_WALK_H

#include "typing/convert.h"
#include "typing/ops.h"

/* ---- expressions and statements ---------------------------------------- */

sval tks_expr(tks *s, const tk_ast *e);
sval tks_fstring(tks *s, const tk_ast *e);
sval tks_attr(tks *s, const sval *v, const char *name);
/* The value of x.type. */
sval tks_type_of(tks *s, const sval *v);
/* A condition that is known when the program runs, as a scalar int1. */
sval tks_condition(tks *s, const sval *v);
/* Binds the first n arguments of a call, which are evaluated first. */
void tks_bind_call(tks *s, tks_args *a, const tk_ast *call, uint32_t n);
/* An operator; a value of a class has methods for it. */
sval tks_operate(tks *s, tk_operator op, const sval *a, const sval *b);
sval tks_operate_unary(tks *s, tk_operator op, const sval *a);

/* name = v, in a statement or an expression. */
void tks_assign_name(tks *s, const char *name, const sval *v);
/* v as a variable of that name gets it: as a tensor, unless the name waits for
 * a constexpr. */
sval tks_assigned_value(tks *s, const char *name, const sval *v);
/* Gives the return statements of the frame one type. */
void tks_finish_returns(tks *s);
void tks_body(tks *s, const tk_ast *block);
/* Whether an annotation is tl.constexpr; whether a variable can hold v only
 * when it is annotated so. */
bool tks_is_constexpr(tks *s, const tk_ast *annotation);
bool tks_needs_constexpr(const sval *v);

/* ---- calls ------------------------------------------------------------- */

sval tks_call(tks *s, const sval *fn, const sval *args, size_t n,
              const char *const *kw, const tk_span *spans);
/* args bound to fn's parameters, in their order. */
sval *tks_bind_params(tks *s, tk_function *fn, const sval *args, size_t n,
                      const char *const *kw);
void tks_check_depth(tks *s, tk_function *fn);
/* A new, empty function of the program, made from fn. */
tk_func *tks_func_new(tks *s, tk_function *fn, const char *name,
                      const tk_source *src);
/* The function specialised for these arguments. */
tks_instance *tks_instantiate(tks *s, tk_function *fn, const sval *args,
                              size_t n, const char *const *kw);
tks_instance *tks_instance_of(tks *s, tk_function *fn, const sval *v);

/* ---- names ------------------------------------------------------------- */

bool tks_lookup(tks *s, const char *name, sval *out);
void tks_unknown_name(tks *s, const char *name) TK_NORETURN;
sval tks_global(tks *s, tk_function *fn, const char *name, bool *found);
/* What a name is assigned in fn's file, or NULL. */
const tk_ast *tks_file_value(tk_function *fn, const char *name);
sval tks_module_attr(tks *s, const char *module, const char *name);
/* What tl has of a name that some other module has, or what is most like it, as
 * "tl.exp"; NULL: nothing is. */
const char *tks_in_place_of(tks *s, const char *name);
/* A value of the host program. */
sval sv_from_value(tks *s, const tk_value *v);
/* An operation of prelude.py, which is written in the language itself. */
tk_function *tks_prelude(tks *s, const char *name);

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

/* The class that a host object stands for; NULL if it is not a class. */
const tks_class *tks_class_of(tks *s, void *obj);
/* Whether c is `from`, or inherits from it. */
bool tks_is_derived(const tks_class *c, const tks_class *from);
sval tks_make_instance(tks *s, const tks_class *c, const sval *args, size_t n,
                       const char *const *kw);
/* A value of the same class as v, whose constructor gets the fields of v but
 * for n changes, pairs of a name and a value. */
sval tks_replace_fields(tks *s, const sval *v, const sval *changes, size_t n);
sval tks_instance_attr(tks *s, const sval *v, const char *name);
void tks_set_field(tks *s, const sval *v, const char *name, const sval *to);
sval tks_call_method(tks *s, const sval *v, const char *name, const sval *arg);
/* Reports a value whose truth Python asks of a method that runs in kernels. */
void tks_check_truth(tks *s, const sval *v);
/* Whether v is of the class that t names; of other classes: otherwise. */
bool tks_is_instance(const sval *v, const sval *t, bool otherwise);
/* Whether t can be no class; then isinstance() asks for another. */
bool tks_is_no_class(const sval *t);

/* Makes the origin of a unit that was read from text (text_scope.c). */
struct tk_unit;
void tks_scope_text(tk_session *session, struct tk_unit *u,
                    tk_function *kernel);

#endif
