/* file.c - kernels of a PTX file, which run as they are.
 *
 * To the rest of tkdbg such a kernel is a function without a body, whose
 * parameters are called what the caller calls them; the code knows only their
 * order and sizes.
 */
#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "device/device.h"
#include "launch/areas.h"

/* Dynamic shared memory of a kernel that has some: the file does not say how
 * much, so that it is what a program can have on sm_90. */
enum { MOST_SHARED = 227 << 10 };

struct tkg_file {
  tkp_program *program;
  const char *entry;
  size_t number; /* of the entry */
  tkp_entry_info info;
};

/* ---- opening ------------------------------------------------------------- */

typedef struct opening {
  tk_session *session;
  const tk_ptx_kernel *kernel;
  tk_function **out;
} opening;

static const char *entries_of(tk_arena *a, const tkp_program *p) {
  tkp_entry_info info;
  const char *all = "its kernels:";
  for (size_t i = 0; tkp_entry(p, i, &info); i++)
    all = tk_arena_printf(a, "%s%s %s", all, i ? "," : "", info.name);
  return all;
}

static void choose_entry(tk_env *e, const tk_ptx_kernel *k, tk_arena *a,
                         struct tkg_file *f) {
  tkp_entry_info info;
  bool several = tkp_entry(f->program, 1, &info);
  if (!k->entry && several)
    tk_bad_argument(e, entries_of(a, f->program),
                    "%s has several kernels; name the one to run", k->name);
  while (tkp_entry(f->program, f->number, &f->info) && k->entry &&
         strcmp(f->info.name, k->entry))
    f->number++;
  if (!tkp_entry(f->program, f->number, &info))
    tk_bad_argument(e, entries_of(a, f->program), "%s has no kernel '%s'",
                    k->name, k->entry);
  f->entry = f->info.name;
}

static bool is_name(const char *s) {
  for (const char *p = s; *p; p++)
    if (!isalnum((unsigned char)*p) && *p != '_') return false;
  return *s && !isdigit((unsigned char)*s);
}

static void check_names(tk_env *e, const tk_ptx_kernel *k, tk_arena *a,
                        const struct tkg_file *f) {
  const char *sizes = "it takes, in this order, parameters of";
  for (size_t i = 0; i < f->info.nparams; i++)
    sizes = tk_arena_printf(a, "%s%s %zu", sizes, i ? "," : "",
                            tkp_param_size(f->program, f->number, i));
  if (k->nparams != f->info.nparams)
    tk_bad_argument(
        e,
        tk_arena_printf(a,
                        "%s bytes; the last two of Triton's code are memory "
                        "of its launcher, for which 0 does if the kernel "
                        "needs none",
                        sizes),
        "the kernel '%s' takes %zu argument%s, and %zu %s given", f->entry,
        f->info.nparams, f->info.nparams == 1 ? "" : "s", k->nparams,
        k->nparams == 1 ? "is" : "are");
  for (size_t i = 0; i < k->nparams; i++) {
    if (!is_name(k->params[i]))
      tk_bad_argument(e, NULL, "'%s' is no name of a parameter", k->params[i]);
    for (size_t j = 0; j < i; j++)
      if (!strcmp(k->params[i], k->params[j]))
        tk_bad_argument(e, NULL, "the argument '%s' is given twice",
                        k->params[i]);
  }
}

/* def NAME(a, b): pass, below a line that makes it a module of its own. */
static const char *header_text(const tk_session *s, tk_arena *a,
                               const tk_ptx_kernel *k, const char *entry) {
  size_t n = 0;
  for (const tk_module *m = s->modules; m; m = m->next) n++;
  char *name = tk_arena_strdup(a, entry);
  for (char *p = name; *p; p++)
    if (!isalnum((unsigned char)*p)) *p = '_';
  const char *text =
      tk_arena_printf(a, "# ptx %zu\n@triton.jit\ndef %s(", n, name);
  for (size_t i = 0; i < k->nparams; i++)
    text = tk_arena_printf(a, "%s%s%s", text, i ? ", " : "", k->params[i]);
  return tk_arena_printf(a, "%s):\n    pass\n", text);
}

static void open_kernel(tk_env *e, void *ud) {
  opening *o = ud;
  const tk_ptx_kernel *k = o->kernel;
  tk_arena *a = &o->session->arena;
  struct tkg_file *f = TK_NEW(a, struct tkg_file);
  f->program = tkp_parse(a, tk_arena_strdup(a, k->name),
                         tk_arena_strndup(a, k->text, k->size), k->size);
  choose_entry(e, k, a, f);
  check_names(e, k, a, f);
  const char *text = header_text(o->session, a, k, f->entry);
  tk_module *m;
  const char *name = tk_arena_printf(a, "arguments of %s", k->name);
  tk_status st = tk_module_open(o->session, name, text, strlen(text), &m);
  if (st == TK_OK) st = tk_function_named(m, NULL, o->out);
  if (st != TK_OK) /* the names are the caller's */
    tk_throw(e, st == TK_FINDING ? TK_USAGE : st);
  (*o->out)->ptx = f;
}

tk_status tk_ptx_open(tk_session *s, const tk_ptx_kernel *kernel,
                      tk_function **out) {
  opening o = {s, kernel, out};
  *out = NULL;
  return tk_session_guard(s, open_kernel, &o);
}

/* ---- parameters ---------------------------------------------------------- */

typedef struct running {
  tk_launch *launch;
  const tk_run_options *options;
  tk_summary *summary;
  tk_arena arena;
} running;

static void need_size(tk_env *e, const tk_arg *arg, size_t is, size_t wanted) {
  if (is == wanted) return;
  tk_bad_argument(
      e, "state the type, as in n=i32:5; a tensor is an address of 8 bytes",
      "argument '%s' has %zu bytes, and the kernel's parameter has %zu",
      arg->name, is, wanted);
}

/* A number without a type takes the parameter's size. */
static uint64_t plain_bits(tk_env *e, const tk_arg *arg, size_t size) {
  const tk_value *v = &arg->value;
  if (v->kind == TK_V_NONE) {
    need_size(e, arg, 8, size);
    return 0;
  }
  if (v->kind != TK_V_INT && v->kind != TK_V_BOOL)
    tk_bad_argument(
        e, "state the type, as in x=f32:1.5",
        "argument '%s' is no integer, and PTX does not say what type the "
        "parameter has",
        arg->name);
  unsigned bits = size < 8 ? (unsigned)size * 8 : 64;
  int64_t low = (int64_t)v->lo;
  bool fits = size <= 8 &&
              (v->hi == 0 ? bits == 64 || !(v->lo >> bits)
                          : v->hi == -1 && low < 0 && low >> (bits - 1) == -1);
  if (!fits)
    tk_bad_argument(
        e, NULL,
        "argument '%s' does not fit the kernel's parameter of %zu bytes",
        arg->name, size);
  return v->lo;
}

static uint64_t bits_of(tk_env *e, const tk_arg *arg, size_t size) {
  switch (arg->kind) {
  case TK_ARG_TENSOR: need_size(e, arg, 8, size); break;
  case TK_ARG_SCALAR:
    need_size(e, arg, tk_dtype_size(arg->dtype), size);
    return arg->bits;
  case TK_ARG_VALUE: return plain_bits(e, arg, size);
  case TK_ARG_ABSENT:
    tk_bad_argument(e, NULL, "argument '%s' is missing", arg->name);
  }
  return tk_tensor_address(&arg->tensor);
}

static void find_params(tk_env *e, running *x, tkp_launch *to) {
  const tk_launch *l = x->launch;
  const struct tkg_file *f = l->fn->ptx;
  const void **all = TK_NEWN(&x->arena, const void *, l->nargs + 1);
  for (size_t i = 0; i < l->nargs; i++) {
    uint64_t *bits = TK_NEW(&x->arena, uint64_t);
    *bits = bits_of(e, &l->args[i], tkp_param_size(f->program, f->number, i));
    all[i] = bits;
  }
  to->params = all;
  to->nparams = l->nargs;
}

/* ---- the run ------------------------------------------------------------- */

static void find_threads(tk_env *e, const running *x, tkp_launch *to) {
  const struct tkg_file *f = x->launch->fn->ptx;
  int64_t usual[TK_LAUNCH_OPTIONS];
  int64_t warps = x->launch->options[TK_LAUNCH_NUM_WARPS];
  tk_launch_options_usual(usual);
  uint64_t stated = 1;
  for (int i = 0; i < 3; i++) {
    uint32_t n = f->info.threads[i];
    to->block[i] = n ? n : 1;
    stated *= to->block[i];
  }
  if (!f->info.threads[0])
    to->block[0] = 32 * (uint32_t)warps;
  else if (warps != usual[TK_LAUNCH_NUM_WARPS] &&
           stated != 32u * (uint64_t)warps)
    tk_bad_argument(
        e, "leave num_warps out",
        "num_warps is %lld, and the kernel states by .reqntid that it has "
        "%llu threads",
        (long long)warps, (unsigned long long)stated);
}

static void print_output(void *ud, const char *text, size_t n) {
  const tk_session *s = ud;
  if (s->output) s->output(s->output_ud, text, n);
}

static void run_file(tk_env *e, void *ud) {
  running *x = ud;
  tk_launch *l = x->launch;
  const struct tkg_file *f = l->fn->ptx;
  const char *engine = x->options->engine;
  if (engine && strcmp(engine, "ptx") != 0)
    tk_bad_argument(e, "leave the engine out",
                    "a PTX file is run by the engine 'ptx', not by '%s'",
                    engine);
  tkg_check_options(e, x->options, "ptx");
  tkp_launch to = {.entry = f->entry,
                   .dynamic_shared = f->info.dynamic ? MOST_SHARED : 0,
                   .print = print_output,
                   .print_ud = l->session};
  for (int i = 0; i < 3; i++) to.grid[i] = (uint32_t)l->grid[i];
  find_threads(e, x, &to);
  find_params(e, x, &to);
  tkg_find_ranges(l, &x->arena, false, &(tkp_range){0}, &to);
  tkp_summary sum;
  tk_status st = tkp_run(f->program, &to, &sum);
  x->summary->programs = sum.programs;
  x->summary->ops = sum.instructions;
  if (st != TK_OK) tk_throw(e, st);
}

tk_status tkg_launch_ptx_file(tk_launch *l, const tk_run_options *options,
                              tk_summary *summary) {
  running x = {.launch = l, .options = options, .summary = summary};
  tk_env *e = &l->session->env;
  double began = tk_clock_seconds();
  e->interrupted = 0;
  tk_arena_init(&x.arena, e);
  tk_status st = tk_session_guard(l->session, run_file, &x);
  tk_arena_free(&x.arena);
  summary->seconds = tk_clock_seconds() - began;
  return st;
}
