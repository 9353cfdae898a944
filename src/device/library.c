/* library.c - functions of libdevice for the interpreter; see library.h. */
#include "device/library.h"

#include <string.h>

#include "ir/inst.h"
#include "ir/libdevice.h"
#include "ir/numerics.h"
#include "nvptx/nvptx.h"
#include "ptx/ptx.h"
#include "typing/origin.h"

/* How many lanes a program computes, and how many are passed to a launch at a
 * time. */
enum { PROGRAM_LANES = 128, ROOM_LANES = 4096, LIBRARY_THREADS = 32 };

typedef struct function {
  struct function *next;
  const char *op; /* the instruction, as the form has it */
  int nargs;
  tk_dtype args[TK_EXTERN_ARGS], result;
  tkp_program *code;
  size_t shared;
} function;

typedef struct library {
  tk_library base;
  tk_env *env;
  tk_arena arena;
  function *functions;
  char *room[TK_EXTERN_ARGS + 1]; /* operands and, last, the result */
} library;

/* ---- compiling ----------------------------------------------------------- */

/* Values of the form are numbered: %4 are the lanes' numbers, %5 and %6
 * pointers to the first operand and its lanes, and so on. */
enum { LANE_NUMBERS = 4, FIRST_POINTERS = 5 };

static function describe_function(tk_arena *a, const tk_inst *in) {
  function f = {.nargs = in->nargs, .result = (tk_dtype)in->type.elem};
  if (in->op == TK_I_UNARY) {
    f.op = tk_list_word(TK_LIST_UNARY, tk_unary_op(in));
    f.op = tk_arena_printf(a, "unary %%%d {op = %s}", FIRST_POINTERS + 1, f.op);
    f.args[0] = f.result;
    return f;
  }
  const tk_extern *x = tk_extern_at(tk_extern_function(in));
  int64_t overload = tk_extern_overload(in);
  const char *args = "", *comma = "";
  for (int i = 0; i < f.nargs; i++, comma = ", ") {
    f.args[i] = (tk_dtype)x->overloads[overload].args[i];
    args =
        tk_arena_printf(a, "%s%s%%%d", args, comma, FIRST_POINTERS + 2 * i + 1);
  }
  f.op = tk_arena_printf(a, "extern %s {function = %s, overload = %lld}", args,
                         x->name, (long long)overload);
  return f;
}

static void print_pointers(tk_buf *b, const char *array, int value,
                           tk_dtype d) {
  tk_buf_printf(b,
                "    %%%d = addptr %%%s, %%%d : <[%d], pointer<%s>> at 1:1-2\n",
                value, array, LANE_NUMBERS, PROGRAM_LANES, tk_dtypes[d].name);
}

/* A kernel that computes PROGRAM_LANES lanes in each program. */
static void print_kernel(tk_buf *b, const function *f) {
  static const char *const arrays[TK_EXTERN_ARGS] = {"a", "b", "c", "d"};
  const char *result = tk_dtypes[f->result].name;
  int last = FIRST_POINTERS + 2 * f->nargs;
  tk_buf_puts(b, "tkdbg-ir 1\nnum_warps 1\n");
  for (int i = 0; i < f->nargs; i++) tk_buf_printf(b, "arg %s\n", arrays[i]);
  tk_buf_puts(b, "arg y\n\nkernel @lanes(");
  for (int i = 0; i < f->nargs; i++)
    tk_buf_printf(b, "%%%s: pointer<%s> from %s divisor 16, ", arrays[i],
                  tk_dtypes[f->args[i]].name, arrays[i]);
  tk_buf_printf(
      b,
      "%%y: pointer<%s> from y divisor 16) source 0 at 1:1-2 {\n"
      "  stmt at 1:1-2 {\n"
      "    %%0 = program_id {axis = 0} : int32 at 1:1-2\n"
      "    %%1 = const {bits = 0x%x} : int32 at 1:1-2\n"
      "    %%2 = binary %%0, %%1 {op = mul} : int32 at 1:1-2\n"
      "    %%3 = arange {start = 0} : <[%d], int32> at 1:1-2\n"
      "    %%4 = binary %%3, %%2 {op = add} : <[%d], int32> at 1:1-2\n",
      result, PROGRAM_LANES, PROGRAM_LANES, PROGRAM_LANES);
  for (int i = 0; i < f->nargs; i++) {
    int at = FIRST_POINTERS + 2 * i;
    print_pointers(b, arrays[i], at, f->args[i]);
    tk_buf_printf(b, "    %%%d = load %%%d : <[%d], %s> at 1:1-2\n", at + 1, at,
                  PROGRAM_LANES, tk_dtypes[f->args[i]].name);
  }
  print_pointers(b, "y", last, f->result);
  tk_buf_printf(b,
                "    %%%d = %s : <[%d], %s> at 1:1-2\n"
                "    store %%%d, %%%d : <[%d], %s> at 1:1-2\n"
                "  }\n}\n\nsource 0 \"lanes\" from 1\n|lanes\n",
                last + 1, f->op, PROGRAM_LANES, result, last, last + 1,
                PROGRAM_LANES, result);
}

typedef struct compiling {
  library *lib;
  function *f;
  tk_program *form, *p;
  tk_buf text, ptx;
} compiling;

static void compile_function(tk_env *e, void *ud) {
  compiling *c = ud;
  tk_arena *keep = &c->lib->arena;
  print_kernel(&c->text, c->f);
  const char *text = tk_arena_strdup(keep, tk_buf_str(&c->text));
  const tk_source *src = tk_source_new(keep, "lanes", text, c->text.n);
  c->form = tk_program_parse(e, keep, src);
  c->p = tkv_single_assignment(e, c->form);
  tkv_run_passes(c->p, 0, NULL, NULL);
  tkv_print_ptx(&c->ptx, c->p, "sm_80", &c->f->shared);
  c->f->code = tkp_parse(keep, "lanes", tk_buf_str(&c->ptx), c->ptx.n);
}

static void add_function(library *lib, const function *f) {
  tk_env *e = lib->env;
  compiling c = {.lib = lib, .f = TK_NEW(&lib->arena, function)};
  *c.f = *f;
  tk_buf_init(&c.text, e);
  tk_buf_init(&c.ptx, e);
  tk_status st = tk_protect(e, compile_function, &c);
  tk_program_free(c.p);
  tk_program_free(c.form);
  tk_buf_free(&c.text);
  tk_buf_free(&c.ptx);
  if (st != TK_OK) tk_throw(e, st);
  c.f->next = lib->functions;
  lib->functions = c.f;
}

static function *find_function(const library *lib, const function *like) {
  function *f = lib->functions;
  while (f && (strcmp(f->op, like->op) || f->result != like->result))
    f = f->next;
  return f;
}

static function *function_of(library *lib, const tk_inst *in) {
  function like = describe_function(&lib->arena, in);
  function *f = find_function(lib, &like);
  if (f) return f;
  add_function(lib, &like);
  return lib->functions;
}

/* ---- running ------------------------------------------------------------- */

static void run_room(library *lib, tk_env *e, const function *f, size_t n) {
  tkp_range ranges[TK_EXTERN_ARGS + 1];
  uint64_t bits[TK_EXTERN_ARGS + 1];
  const void *params[TK_EXTERN_ARGS + 1];
  for (int i = 0; i <= f->nargs; i++) {
    char *room = lib->room[i < f->nargs ? i : TK_EXTERN_ARGS];
    bits[i] = (uint64_t)(uintptr_t)room;
    params[i] = &bits[i];
    ranges[i] = (tkp_range){.base = bits[i],
                            .size = ROOM_LANES * sizeof(uint64_t),
                            .name = "lanes",
                            .writable = i == f->nargs};
  }
  tkp_launch to = {
      .grid = {(uint32_t)((n + PROGRAM_LANES - 1) / PROGRAM_LANES), 1, 1},
      .block = {LIBRARY_THREADS, 1, 1},
      .dynamic_shared = f->shared,
      .params = params,
      .nparams = (size_t)f->nargs + 1,
      .ranges = ranges,
      .nranges = (size_t)f->nargs + 1,
      .unchecked = true};
  tk_status st = tkp_run(f->code, &to, NULL);
  if (st != TK_OK) tk_throw(e, st);
}

static void apply_function(tk_library *base, tk_env *e, const tk_inst *in,
                           void *d, const void *const *args, size_t n) {
  library *lib = (library *)base;
  const function *f = function_of(lib, in);
  size_t width = tk_dtypes[f->result].size;
  for (size_t at = 0, some; at < n; at += some) {
    some = n - at < ROOM_LANES ? n - at : ROOM_LANES;
    for (int i = 0; i < f->nargs; i++) {
      size_t size = tk_dtypes[f->args[i]].size;
      memcpy(lib->room[i], (const char *)args[i] + at * size, some * size);
    }
    run_room(lib, e, f, some);
    memcpy((char *)d + at * width, lib->room[TK_EXTERN_ARGS], some * width);
  }
}

/* ---- a launch's library -------------------------------------------------- */

static bool add_called(void *ud, const tk_at *at, const tk_inst *in) {
  library *lib = ud;
  const char *why;
  if (tk_way_of(in) != TK_WAY_LIBRARY) return true;
  if (!tkv_plugin_is_there(&why)) {
    tk_diag_add(lib->env, TK_D_ARGUMENT, at->func->src, in->span,
                "the device's numerics of this function are those of "
                "libdevice's code: %s",
                why);
    tk_throw(lib->env, TK_USAGE);
  }
  function_of(lib, in);
  return true;
}

static void prepare_library(tk_env *e, void *ud) {
  tk_launch *l = ud;
  library *lib = (library *)l->library;
  const tk_unit *u = tk_specialise(e, l);
  for (size_t i = 0; i < TK_COUNT(lib->room); i++)
    lib->room[i] = tk_arena_alloc(&lib->arena, ROOM_LANES * sizeof(uint64_t));
  tk_walk_program(&u->program, &(tk_walk){.ud = lib, .inst = add_called});
}

static void make_library(tk_env *e, void *ud) {
  tk_launch *l = ud;
  library *lib = tk_calloc(e, 1, sizeof *lib);
  lib->base.apply = apply_function;
  lib->env = e;
  tk_arena_init(&lib->arena, e);
  l->library = &lib->base;
}

tk_status tkg_library_lend(tk_launch *l) {
  tk_status st = tk_session_guard(l->session, make_library, l);
  if (st == TK_OK) st = tk_session_guard(l->session, prepare_library, l);
  if (st != TK_OK) tkg_library_return(l);
  return st;
}

void tkg_library_return(tk_launch *l) {
  library *lib = (library *)l->library;
  if (!lib) return;
  tk_arena_free(&lib->arena);
  tk_free(lib->env, lib, sizeof *lib);
  l->library = NULL;
}
