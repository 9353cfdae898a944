/* names.c - what a name means inside a kernel.
 *
 * Order: the function's own variables, then its globals (asked of the host
 * program, or read from the file when there is none), then Python's
 * builtins.  As in Triton, a global must be a constexpr, a type, a function
 * or a module; any other is refused, because its value could change without
 * the kernel being compiled again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "launch/host.h"
#include "typing/ask.h"
#include "typing/version.h"
#include "typing/walk.h"

/* ---- variables --------------------------------------------------------- */

static void dropped_name(tks *s, const tk_binding *b) TK_NORETURN;
static void dropped_name(tks *s, const tk_binding *b) {
  int line = tk_source_line(tks_frame_source(s->frame), b->span.lo);
  const char *help =
      tk_arena_printf(s->arena,
                      "give %s a value of the same type before the branch or "
                      "loop that assigns it (line %d)",
                      b->name, line);
  tks_error_help(s, TK_D_NAME, help,
                 "%s is not defined here: it was assigned only inside a "
                 "branch or loop",
                 b->name);
}

/* The compiler says nothing of it. */
static void lost_assignment(tks *s, const tk_binding *b) {
  const tk_source *src = tks_frame_source(s->frame);
  tk_diag *d =
      tks_say(s, TK_D_SUSPICIOUS,
              "%s is %s here: the compiler forgets what line %d "
              "assigned to it",
              b->name, tks_show(s, &b->v), tk_source_line(src, b->span.lo));
  tk_diag_note(s->env, d, src, b->span,
               "the assignment that holds only in this branch or loop");
  tk_diag_help(s->env, d,
               "give it a tensor before the branch or loop, or use another "
               "name in it");
}

static tk_function *inductor_helper(tks *s, const char *name);

/* ---- modules of the language ------------------------------------------- */

#define INDUCTOR "torch._inductor."

/* What an import's full name is called inside tkdbg. */
static const char *const modules[][2] = {
    {"tl", "tl"},
    {"libdevice", "libdevice"},
    {"triton.language", "tl"},
    {"triton.language.core", "tl"},
    {"triton.language.standard", "tl"},
    {"triton.language.math", "tl.math"},
    {"triton.language.random", "tl"},
    {"tl.core", "tl"},
    {"tl.standard", "tl"},
    {"tl.math", "tl.math"},
    {"tl.random", "tl"},
    {"tl.extra.libdevice", "libdevice"},
    {"tl.extra.cuda.libdevice", "libdevice"},
    {"tl.libdevice", "libdevice"},
    {"tl.math.libdevice", "libdevice"},
    {"triton.language.extra.libdevice", "libdevice"},
    {"triton.language.extra.cuda.libdevice", "libdevice"},
    {"triton.language.math.libdevice", "libdevice"},
    {"triton.language.libdevice", "libdevice"},
    {"triton.language.extra", "tl.extra"},
    {"triton.language.extra.cuda", "tl.extra.cuda"},
    {"tl.extra", "tl.extra"},
    {"triton.language.target_info", "tl.target_info"},
    {"tl.target_info", "tl.target_info"},
    {"tl.extra.cuda", "tl.extra.cuda"},
    {"triton", "triton"},
    {"math", "math"},
    {"triton_helpers", "triton_helpers"},
    {"triton_helpers.math", "tl.math"},
    {"triton_helpers.libdevice", "libdevice"},
    {INDUCTOR "runtime.triton_helpers", "triton_helpers"},
    {INDUCTOR "runtime.triton_helpers.math", "tl.math"},
    {INDUCTOR "runtime.triton_helpers.libdevice", "libdevice"},
    {INDUCTOR "triton_helpers", "triton_helpers"},
    {INDUCTOR "triton_helpers.math", "tl.math"},
    {INDUCTOR "triton_helpers.libdevice", "libdevice"},
};

static const char *canonical_module(const char *name) {
  for (size_t i = 0; i < TK_COUNT(modules); i++)
    if (!strcmp(modules[i][0], name)) return modules[i][1];
  return NULL;
}

static bool math_constant(const char *name, sval *out) {
  static const struct {
    const char *name;
    double value;
  } table[] = {{"pi", M_PI},
               {"e", M_E},
               {"tau", 2 * M_PI},
               {"inf", INFINITY},
               {"nan", NAN}};
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (!strcmp(table[i].name, name)) {
      *out = sv_float(table[i].value);
      return true;
    }
  return false;
}

/* Numbers and types of the language that have a name. */
static bool language_constant(const char *name, sval *out) {
  static const struct {
    const char *name;
    int value;
  } table[] = {{"TRITON_MAX_TENSOR_NUMEL", TK_MAX_NUMEL},
               {"N_ROUNDS_DEFAULT", 10},
               {"CONSTEXPR_0", 0}};
  if (!strcmp(name, "pi32_t")) {
    *out = sv_type(tk_pointer(tk_scalar(TK_INT32)));
    return true;
  }
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (!strcmp(table[i].name, name)) {
      *out = sv_int(table[i].value);
      return true;
    }
  return false;
}

static bool language_name(tks *s, const char *name, sval *out) {
  if (language_constant(name, out)) return true;
  const char *full = tk_arena_printf(s->arena, "tl.%s", name);
  const tks_op *op = tks_find_op(s, full);
  int d = tk_dtype_from_name(name);
  tk_function *fn = op || d >= 0 ? NULL : tks_prelude(s, name);
  if (op)
    *out = (sval){.kind = V_OP, .op = op};
  else if (d >= 0)
    *out = sv_type(tk_scalar((tk_dtype)d));
  else if (fn)
    *out = (sval){.kind = V_FUNC, .fn = fn};
  return op || d >= 0 || fn;
}

/* The name of the module that is most like this one, with the module; NULL:
 * none is. */
static const char *nearest_in(tks *s, const char *module, const char *name) {
  tk_nearest near = tk_nearest_start(name);
  size_t n = strlen(module);
  const char *known;
  for (size_t i = 0; (known = tks_known_name(s, i)); i++)
    if (!strncmp(known, module, n) && known[n] == '.')
      tk_nearest_try(&near, known + n + 1);
  for (int d = 0; !strcmp(module, "tl") && d < TK_DTYPE_COUNT; d++)
    tk_nearest_try(&near, tk_dtype_name((tk_dtype)d));
  const char *best = tk_nearest_best(&near);
  return best ? tk_arena_printf(s->arena, "%s.%s", module, best) : NULL;
}

const char *tks_in_place_of(tks *s, const char *name) {
  sval v;
  return language_name(s, name, &v) ? tk_arena_printf(s->arena, "tl.%s", name)
                                    : nearest_in(s, "tl", name);
}

static void unknown_attr(tks *s, const char *module,
                         const char *name) TK_NORETURN;
static void unknown_attr(tks *s, const char *module, const char *name) {
  const char *best = nearest_in(s, module, name);
  if (!best && strcmp(module, "tl")) best = tks_in_place_of(s, name);
  if (best)
    tks_error_help(s, TK_D_NAME,
                   tk_arena_printf(s->arena, "did you mean %s?", best),
                   "%s.%s is not an operation of the language", module, name);
  tks_error_help(s, TK_D_NAME, "`tkdbg help ops` lists every operation",
                 "%s.%s is not an operation of the language", module, name);
}

/* An operation that this version of Triton no longer has. */
static void gone_attr(tks *s, const char *full) {
  const char *since, *instead = tks_gone(s, full, &since);
  if (instead)
    tks_error_help(s, TK_D_NAME,
                   tk_arena_printf(s->arena,
                                   "%s; --triton-version follows an older one",
                                   instead),
                   "%s was removed in Triton %s", full, since);
}

/* Before Triton 3, tl.math.max and min took two numbers. */
static const tks_op *old_extreme(tks *s, const char *name) {
  bool max = !strcmp(name, "max");
  if (!max && strcmp(name, "min")) return NULL;
  const char *now = max ? "tl.maximum" : "tl.minimum";
  tks_deprecated(s, "tl.math.%s is the old name of %s", name, now);
  return tks_find_op(s, now);
}

/* A member of the module of another language is Triton's. */
static void use_triton_name(const char **module, const char **name) {
  int l = tk_language_find(*module);
  if (l < 0 || !tk_language_module((tk_language)l)) return;
  *module = "tl";
  *name = tk_language_member((tk_language)l, *name);
}

sval tks_module_attr(tks *s, const char *module, const char *name) {
  use_triton_name(&module, &name);
  const char *canon = canonical_module(module);
  const char *full =
      tk_arena_printf(s->arena, "%s.%s", canon ? canon : module, name);
  const char *sub = canonical_module(full);
  sval v;
  if (sub) return (sval){.kind = V_MODULE, .s = sub, .n = strlen(sub)};
  bool math = canon && !strcmp(canon, "tl.math");
  const tks_op *old = math ? old_extreme(s, name) : NULL;
  if (old) return (sval){.kind = V_OP, .op = old};
  if (canon && (math || !strcmp(canon, "tl")) && language_name(s, name, &v))
    return v;
  /* Before Triton 3, tl.math was libdevice. */
  if (math) full = tk_arena_printf(s->arena, "libdevice.%s", name);
  const tks_op *op = tks_find_op(s, full);
  if (op && math && tks_has(s, TKS_LIBDEVICE_APART))
    tks_deprecated(s, "tl.math.%s is %s since Triton 3.0", name, full);
  if (op) return (sval){.kind = V_OP, .op = op};
  if (canon && !strcmp(canon, "triton_helpers")) {
    tk_function *fn = inductor_helper(s, name);
    if (fn) return (sval){.kind = V_FUNC, .fn = fn};
  }
  if (canon && !strcmp(canon, "math") && math_constant(name, &v)) return v;
  gone_attr(s,
            tk_arena_printf(s->arena, "%s.%s", canon ? canon : module, name));
  unknown_attr(s, canon ? canon : module, name);
}

/* ---- values of the host program ----------------------------------------- */

static sval from_builtin(tks *s, const tk_value *v) {
  const tks_op *op = tks_find_op(s, v->str);
  if (op) return (sval){.kind = V_OP, .op = op};
  const char *dot = strrchr(v->str, '.');
  if (!dot) return (sval){.kind = V_MODULE, .s = v->str, .n = strlen(v->str)};
  char *module = tk_arena_strndup(s->arena, v->str, (size_t)(dot - v->str));
  return tks_module_attr(s, module, dot + 1);
}

sval sv_from_value(tks *s, const tk_value *v) {
  switch (v->kind) {
  case TK_V_NONE: return sv(V_NONE);
  case TK_V_BOOL: return sv_bool(v->lo != 0);
  case TK_V_INT:
    return sv_int((tk_int)v->hi * ((tk_int)1 << 64) + (tk_int)v->lo);
  case TK_V_FLOAT: return sv_float(v->f);
  case TK_V_STR: return sv_str(tk_arena_strndup(s->arena, v->str, v->n), v->n);
  case TK_V_DTYPE: {
    tk_type t = tk_scalar((tk_dtype)v->lo);
    t.ptr = (uint8_t)v->hi;
    t.space = (uint8_t)(v->hi >> 8);
    t.is_const = v->hi >> 16 & 1;
    t.rank = (uint8_t)(v->n <= TK_MAX_RANK ? v->n : 0);
    for (size_t i = 0; i < t.rank; i++) t.shape[i] = (int32_t)v->items[i].lo;
    return sv_type(t);
  }
  case TK_V_TENSOR:
  case TK_V_DESCRIPTOR:
    tks_error(s, TK_D_ARGUMENT, "a compile-time value cannot hold a tensor");
  case TK_V_TUPLE: {
    sval t = sv_tuple(s, NULL, 0);
    t.n = v->n;
    t.is_host = true;
    t.s = v->str ? tk_arena_strdup(s->arena, v->str) : NULL;
    t.items = TK_NEWN(s->arena, sval, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
      t.items[i] = sv_from_value(s, &v->items[i]);
    return t;
  }
  case TK_V_FUNCTION:
    return (sval){.kind = v->lo ? V_PYTHON : V_FUNC, .fn = v->ptr};
  case TK_V_BUILTIN: return from_builtin(s, v);
  default: {
    const char *text = v->str ? v->str : "object";
    return (sval){.kind = V_OBJECT,
                  .obj = v->ptr,
                  .n = strlen(text),
                  .is_raw = v->lo != 0};
  }
  }
}

/* ---- globals ----------------------------------------------------------- */

/* The last definition at the level of the file, or of a source in it, itself;
 * failing that, an import inside a try or if. */
static tk_item *find_item(tk_file *f, int text, const char *name) {
  tk_item *inner = NULL;
  for (size_t i = f->nitems; i-- > 0;) {
    tk_item *item = &f->items[i];
    if (item->text != text || strcmp(item->name, name)) continue;
    if (item->depth == 0) return item;
    if (!inner && item->kind == TK_ITEM_IMPORT) inner = item;
  }
  return inner;
}

static sval item_import(tks *s, const tk_item *item) {
  const char *canon = canonical_module(item->target);
  if (canon) return (sval){.kind = V_MODULE, .s = canon, .n = strlen(canon)};
  const char *dot = strrchr(item->target, '.');
  char *parent = dot ? tk_arena_strndup(s->arena, item->target,
                                        (size_t)(dot - item->target))
                     : NULL;
  if (parent && canonical_module(parent))
    return tks_module_attr(s, parent, dot + 1);
  tks_error_help(s, TK_D_NAME,
                 "run the file under Python (tkdbg run FILE.py without "
                 "--kernel), or put the definition into this file",
                 "%s is imported from %s, which a launch without Python "
                 "cannot see",
                 item->name, item->target);
}

static bool says_constexpr(const tk_ast *e) {
  if (!e) return false;
  if (e->kind == TK_AST_CALL) return says_constexpr(tk_call_function(e));
  if (e->kind == TK_AST_STR) return strstr(tk_str_text(e), "constexpr") != NULL;
  const char *name = tk_dotted_name(e);
  return name && !strcmp(name, "constexpr");
}

static void plain_global(tks *s, const char *name) TK_NORETURN;
static void plain_global(tks *s, const char *name) {
  const char *help = tk_arena_printf(
      s->arena,
      "write %s = tl.constexpr(...) where it is defined (an annotation is not "
      "enough), or pass it as an argument",
      name);
  tks_error_help(s, TK_D_NAME, help,
                 "Cannot access global variable %s, which is not a constexpr: "
                 "a kernel may read only constexpr globals",
                 name);
}

/* Evaluates a module-level expression: no variables are in scope. */
static sval item_value(tks *s, tk_function *fn, const tk_item *item) {
  tks_frame *f = s->frame;
  const tk_binding *scope = f->scope;
  tk_function *was = f->fn;
  f->scope = NULL;
  f->fn = fn;
  sval v = tks_expr(s, item->value);
  f->scope = scope;
  f->fn = was;
  bool constant = sv_is_number(&v) || v.kind == V_STR || v.kind == V_TUPLE;
  if (constant && !s->plain_globals && !says_constexpr(item->value))
    plain_global(s, item->name);
  return v;
}

const tk_ast *tks_file_value(tk_function *fn, const char *name) {
  tk_item *item = find_item(fn->module->file, fn->item->text, name);
  return item && item->kind == TK_ITEM_ASSIGN ? item->value : NULL;
}

/* A Python function of the file: one that says it is a part of the compiler,
 * or that such a one calls. */
static sval python_item(tks *s, tk_function *fn, const tk_item *item) {
  static const char *const parts[] = {"builtin", "extern"};
  tk_function *g;
  if (tk_function_at(fn->module, item->name, item->line, &g) != TK_OK)
    tk_throw(s->env, TK_FINDING);
  bool part = s->frame->python;
  for (uint32_t i = 0; i < tk_func_ndecorators(g->ast); i++) {
    const char *name = tk_dotted_name(tk_func_decorator(g->ast, i));
    for (size_t k = 0; k < TK_COUNT(parts); k++)
      part = part || (name && !strcmp(name, parts[k]));
  }
  if (part) return (sval){.kind = V_PYTHON, .fn = g};
  tks_error_help(s, TK_D_CALL, "decorate it with @triton.jit",
                 "%s is a Python function: a kernel can call only "
                 "@triton.jit functions",
                 item->name);
}

static sval file_global(tks *s, tk_function *fn, const char *name,
                        bool *found) {
  tk_item *item = find_item(fn->module->file, fn->item->text, name);
  *found = item != NULL;
  if (!item) return sv(V_NONE);
  switch (item->kind) {
  case TK_ITEM_FUNC:
    if (item->jit) {
      tk_function *g;
      if (tk_function_at(fn->module, name, item->line, &g) != TK_OK)
        tk_throw(s->env, TK_FINDING);
      return (sval){.kind = V_FUNC, .fn = g};
    }
    return python_item(s, fn, item);
  case TK_ITEM_IMPORT: return item_import(s, item);
  case TK_ITEM_ASSIGN:
    if (item->value) return item_value(s, fn, item);
    tks_error_help(s, TK_D_NAME,
                   "run the file under Python (tkdbg run FILE.py)",
                   "the value of the global %s is known only to Python", name);
  default:
    tks_error(s, TK_D_NAME, "%s is a Python class, which a kernel cannot use",
              name);
  }
}

static sval host_global(tks *s, tk_function *fn, const char *name,
                        bool *found) {
  tk_value v = {0};
  int r = tk_host_global(s->env, fn, name, &v);
  if (r < 0)
    tks_error(s, TK_D_HOST, "reading the global %s: %s", name,
              v.str ? v.str : "the host raised an error");
  *found = r > 0;
  if (!r) return sv(V_NONE);
  bool plain =
      (v.kind <= TK_V_TUPLE && v.kind != TK_V_NONE) || v.kind == TK_V_OBJECT;
  if (s->frame->python) plain = false;
  if (plain && !v.is_constexpr && !s->plain_globals) plain_global(s, name);
  return sv_from_value(s, &v);
}

sval tks_global(tks *s, tk_function *fn, const char *name, bool *found) {
  *found = false;
  if (!fn) return sv(V_NONE); /* a typed form has no module */
  return fn->host ? host_global(s, fn, name, found)
                  : file_global(s, fn, name, found);
}

/* ---- lookup ------------------------------------------------------------ */

/* Helpers that people paste into their files and that tkdbg knows itself. */
static const tks_op *pasted_helper(const tks *s, const char *name) {
  if (!strcmp(name, "print_if")) return tks_find_op(s, "tl.print_if");
  if (!strcmp(name, "breakpoint_if")) return tks_find_op(s, "tl.breakpoint_if");
  return NULL;
}

bool tks_lookup(tks *s, const char *name, sval *out) {
  const tk_binding *b = tks_binding_of(s, name);
  if (b && b->dropped) dropped_name(s, b);
  if (b && b->how == BOUND_UNSEEN)
    tks_error_help(s, TK_D_NAME, "move the parameter before the '*'",
                   "%s is not defined: the compiler ignores parameters after a "
                   "'*'",
                   name);
  if (b && b->lost) lost_assignment(s, b);
  if (b) *out = b->v;
  if (b) return true;
  /* A name that the function assigns is its own everywhere, as in Python. */
  if (tks_is_asked(s)) s->ask->unset_name(s, name);
  const tks_op *op = pasted_helper(s, name);
  bool found = false;
  if (!op) *out = tks_global(s, s->frame->fn, name, &found);
  if (found) return true;
  if (!op && tks_is_asked(s)) op = s->ask->numpy_op(s, name);
  if (!op) op = tks_find_op(s, tk_arena_printf(s->arena, "builtins.%s", name));
  if (!op && (s->ask || s->frame->python))
    op = tks_find_op(s, tk_arena_printf(s->arena, "expression.%s", name));
  sval value = {.kind = V_OP, .op = op};
  if (!op || (tks_is_not_implemented(&value) && !s->ask && !s->frame->python))
    return false; /* only functions of Python know NotImplemented */
  *out = value;
  return true;
}

void tks_unknown_name(tks *s, const char *name) {
  static const char *const builtins[][2] = {
#define BUILTIN(name, help) {name, help},
#include "lang/unsupported.def"
  };
  for (size_t i = 0; i < TK_COUNT(builtins); i++)
    if (!strcmp(builtins[i][0], name))
      tks_error_help(s, TK_D_NAME, builtins[i][1],
                     "%s is not defined: this function of Python is not "
                     "available in kernels",
                     name);
  bool module = !strcmp(name, "tl") || !strcmp(name, "triton");
  const tks_op *op = tks_find_op(s, tk_arena_printf(s->arena, "tl.%s", name));
  if (module || op)
    tks_error_help(s, TK_D_NAME,
                   op ? tk_arena_printf(s->arena, "did you mean %s?", op->name)
                   : name[1] == 'l' ? "write 'import triton.language as tl' at "
                                      "the top of the file"
                                    : "write 'import triton' at the top of the "
                                      "file",
                   "%s is not defined", name);
  tk_nearest near = tk_nearest_start(name);
  for (const tk_binding *b = s->frame->scope; b; b = b->prev)
    if (!b->dropped) tk_nearest_try(&near, b->name);
  const tk_function *fn = s->frame->fn; /* NULL: of a typed form */
  const tk_file *f = fn ? fn->module->file : NULL;
  for (size_t i = 0; f && i < f->nitems; i++)
    if (f->items[i].depth == 0) tk_nearest_try(&near, f->items[i].name);
  const char *best = tk_nearest_best(&near);
  if (best)
    tks_error_help(s, TK_D_NAME,
                   tk_arena_printf(s->arena, "did you mean %s?", best),
                   "%s is not defined", name);
  tks_error(s, TK_D_NAME, "%s is not defined", name);
}

/* ---- the prelude ------------------------------------------------------- */

static const char prelude_text[] =
#include "prelude.inc"
    ;

static const char helpers_text[] =
#include "triton_helpers.inc"
    ;

/* A function of a text of ours. */
static tk_function *library(tks *s, const char *title, const char *text,
                            size_t len, const char *name) {
  tk_module *m;
  if (tk_module_open(s->origin->session, title, text, len, &m) != TK_OK)
    tk_throw(s->env, TK_INTERNAL);
  tk_item *item = find_item(m->file, 0, name);
  tk_function *fn;
  if (!item || item->kind != TK_ITEM_FUNC) return NULL;
  if (tk_function_named(m, name, &fn) != TK_OK) tk_throw(s->env, TK_INTERNAL);
  return fn;
}

tk_function *tks_prelude(tks *s, const char *name) {
  return library(s, TKS_LIBRARY "prelude>", prelude_text,
                 sizeof prelude_text - 1, tks_library_name(s, name));
}

static tk_function *inductor_helper(tks *s, const char *name) {
  return library(s, TKS_LIBRARY "triton_helpers>", helpers_text,
                 sizeof helpers_text - 1, name);
}
