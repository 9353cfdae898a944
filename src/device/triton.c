/* triton.c - a launch as the Triton that is installed runs it, or compiles it.
 *
 * The launch is recorded in a file; a Python that has Triton runs that
 * (python/tkdbg/triton_replay.py) and leaves in it what memory holds then, or
 * the code that Triton's compiler makes of it.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/diag.h"
#include "device/device.h"
#include "launch/areas.h"
#include "nvptx/nvptx.h"
#include "typing/origin.h"

typedef struct asking_triton {
  tk_launch *launch;
  const tk_run_options *opt;
  const char *engine;
  const char *how;       /* an option of the script: by Triton's interpreter,
                            or compiled only; NULL: on a GPU */
  const char *arch;      /* that it is compiled for, or NULL */
  bool quiet;            /* what it prints, unless it fails, is not passed on */
  char file[PATH_MAX];   /* the launch's; "": there is none yet */
  tk_session *read_back; /* the file once more, or NULL */
  tk_buf said;
} asking_triton;

/* ---- a Python that has Triton ------------------------------------------- */

enum { PATHS = PATH_MAX };

static const char *python_with_triton(char *out) {
  const char *given = getenv("TKDBG_PYTHON"), *venv = getenv("VIRTUAL_ENV");
  if (given && *given) return given;
  if (!venv || !*venv) return "python3";
  snprintf(out, PATHS, "%s/bin/python", venv);
  return out;
}

static bool find_script(char *out) {
  static const char *const places[] = {"../python/tkdbg/triton_replay.py",
                                       "python/tkdbg/triton_replay.py",
                                       "triton_replay.py"};
  for (size_t i = 0; i < TK_COUNT(places); i++)
    if (tk_find_beside(places[i], out, PATHS)) return true;
  return false;
}

/* A program that succeeds where a Python has packages, "'a', 'b'". */
#define HAS(packages)                                                          \
  "import sys, importlib.util as u; "                                          \
  "sys.exit(not all(map(u.find_spec, [" packages "])))"

static bool python_says(const char *program) {
  char path[PATHS];
  const char *argv[] = {python_with_triton(path), "-c", program, NULL};
  return tk_program_succeeds(argv);
}

bool tkg_triton_compiler_is_there(const char **why) {
  bool there = python_says(HAS("'triton'"));
  *why = there ? ""
               : "this Python has no Triton: 'pip install triton', or name "
                 "another Python (--python PATH, TKDBG_PYTHON)";
  return there;
}

bool tkg_triton_interpreter_is_there(const char **why) {
  bool there = python_says(HAS("'triton', 'torch'"));
  *why = there ? ""
               : "this Python has no Triton or no PyTorch: 'pip install torch "
                 "triton', or name another Python (--python PATH, "
                 "TKDBG_PYTHON)";
  return there;
}

bool tkg_triton_is_there(const char **why) {
  *why = "no driver of an NVIDIA GPU (libcuda.so.1) is installed; the engine "
         "'triton-interpret' needs none";
  return tkg_has_driver() && tkg_triton_interpreter_is_there(why);
}

/* ---- the run ------------------------------------------------------------ */

static void TK_NORETURN triton_failed(tk_env *e, const asking_triton *x,
                                      tk_status st, const char *words,
                                      const char *help) {
  tk_diag *d =
      tk_diag_add(e, st == TK_FINDING ? TK_D_DEVICE : TK_D_ARGUMENT, NULL,
                  (tk_span){0, 0}, "Triton did not %s%s: %s",
                  x->arch ? "compile this launch for " : "run this launch",
                  x->arch ? x->arch : "", words);
  if (*help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, st);
}

static void record_launch(tk_env *e, asking_triton *x) {
  const char *folder = getenv("TMPDIR");
  snprintf(x->file, sizeof x->file, "%s/tkdbg-XXXXXX",
           folder && *folder ? folder : "/tmp");
  int fd = mkstemp(x->file);
  if (fd < 0) {
    *x->file = 0;
    triton_failed(e, x, TK_USAGE, strerror(errno),
                  "TMPDIR names another folder");
  }
  close(fd);
  tk_status st = tk_launch_record(x->launch, x->file);
  if (st != TK_OK) tk_throw(e, st);
}

/* Where kernels are ours already (TKDBG=1), Triton shall be itself again.  What
 * the script says last, behind a record separator, is why it failed. */
static void run_script(tk_env *e, asking_triton *x) {
  char python[PATHS], script[PATHS];
  const char *argv[] = {"env",  "-u",    "TKDBG", python_with_triton(python),
                        script, x->file, x->how,  x->arch,
                        NULL};
  if (!find_script(script))
    triton_failed(e, x, TK_USAGE, "triton_replay.py is not installed", "");
  double seconds = x->how ? 0 : tkg_seconds();
  int status = tk_run_program(e, argv, seconds, &x->said);
  const char *said = tk_buf_str(&x->said), *why = strrchr(said, '\x1e');
  bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  size_t printed = why ? (size_t)(why - said) : ok ? x->said.n : 0;
  tk_session *s = x->launch->session;
  if (s->output && printed && !x->quiet) s->output(s->output_ud, said, printed);
  if (ok) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    triton_failed(e, x, TK_FINDING, "it did not end in time",
                  "if it is only slow, set TKDBG_GPU_TIMEOUT to more seconds");
  triton_failed(e, x, TK_FINDING,
                why     ? why + 1
                : *said ? said
                        : "its process was ended, and printed nothing",
                "");
}

void tkg_take_memory(tk_launch *l, tk_launch *copy) {
  tk_memory to, from;
  for (size_t i = 0; tk_memory_at(l, i, &to) && tk_memory_at(copy, i, &from);
       i++) {
    if (!to.tensor || to.readonly || to.hi == to.lo) continue;
    TK_ASSERT(to.hi - to.lo == from.hi - from.lo);
    memcpy(to.host, from.host, (size_t)(to.hi - to.lo));
  }
}

static void read_memory_back(tk_env *e, asking_triton *x) {
  tk_launch *l;
  x->read_back = tk_session_new();
  tk_status st =
      x->read_back ? tk_launch_replay(x->read_back, x->file, &l) : TK_INTERNAL;
  if (st != TK_OK) tk_throw(e, st);
  tkg_take_memory(x->launch, l);
}

static void record_copy(tk_env *e, void *ud) {
  record_launch(e, ud);
}

tk_status tkg_launch_copy(tk_launch *l, tk_launch **out) {
  asking_triton x = {.launch = l};
  *out = NULL;
  tk_status st = tk_session_guard(l->session, record_copy, &x);
  if (st == TK_OK) st = tk_launch_replay(l->session, x.file, out);
  if (*x.file) unlink(x.file);
  return st;
}

static void ask_triton(tk_env *e, void *ud) {
  asking_triton *x = ud;
  tkg_check_options(e, x->opt, x->engine);
  x->launch->unit = tk_specialise(e, x->launch); /* asks for its globals */
  record_launch(e, x);
  run_script(e, x);
  read_memory_back(e, x);
}

static tk_status run_by_triton(asking_triton *x, const tk_run_options *options,
                               tk_summary *sum) {
  tk_launch *l = x->launch;
  double began = tk_clock_seconds();
  x->opt = options;
  l->session->env.interrupted = 0;
  tk_buf_init(&x->said, &l->session->env);
  tk_status st = tk_session_guard(l->session, ask_triton, x);
  tk_buf_free(&x->said);
  tk_session_free(x->read_back);
  if (*x->file) unlink(x->file);
  sum->programs = (uint64_t)(l->grid[0] * l->grid[1] * l->grid[2]);
  sum->seconds = tk_clock_seconds() - began;
  return st;
}

tk_status tkg_launch_triton(tk_launch *l, const tk_run_options *options,
                            tk_summary *summary) {
  asking_triton x = {.launch = l, .engine = "triton"};
  return run_by_triton(&x, options, summary);
}

tk_status tkg_launch_triton_interpret(tk_launch *l,
                                      const tk_run_options *options,
                                      tk_summary *summary) {
  asking_triton x = {
      .launch = l, .engine = "triton-interpret", .how = "--interpret"};
  return run_by_triton(&x, options, summary);
}

/* ---- its code ------------------------------------------------------------ */

static const char *copied(tk_arena *a, const json_t *text) {
  return tk_arena_strndup(a, json_string_value(text), json_string_length(text));
}

static uint64_t number(const json_t *from, const char *key) {
  json_int_t v = json_integer_value(json_object_get(from, key));
  return v > 0 ? (uint64_t)v : 0;
}

typedef struct code_request {
  asking_triton asking;
  tk_arena *arena;
  tkg_code *out;
  json_t *answer;
} code_request;

static void read_param(const json_t *from, tkg_code_param *to) {
  const json_t *map = json_object_get(from, "map");
  const json_t *box = json_object_get(map, "box");
  to->rank = (unsigned)number(from, "rank");
  to->flags = (unsigned)number(from, "flags");
  to->mapped = json_is_object(map);
  to->type = (uint8_t)number(map, "type");
  to->swizzle = (uint8_t)number(map, "swizzle");
  for (size_t i = 0; i < TKP_MAP_RANK; i++)
    to->box[i] = (uint32_t)json_integer_value(json_array_get(box, i));
}

static void read_params(code_request *r, const json_t *from) {
  tkg_code *to = r->out;
  to->nparams = json_array_size(from);
  tkg_code_param *p = TK_NEWN(r->arena, tkg_code_param, to->nparams + 1);
  for (size_t i = 0; i < to->nparams; i++)
    if (json_is_object(json_array_get(from, i)))
      read_param(json_array_get(from, i), &p[i]);
  to->params = p;
}

static void read_code(tk_env *e, code_request *r) {
  json_t *a = r->answer = json_load_file(r->asking.file, 0, NULL);
  json_t *ptx = json_object_get(a, "ptx"), *entry = json_object_get(a, "entry");
  tkg_code *to = r->out;
  if (!json_is_string(ptx) || !json_is_string(entry))
    triton_failed(e, &r->asking, TK_USAGE, "its compiler's answer has no code",
                  "");
  to->ptx = copied(r->arena, ptx);
  to->size = json_string_length(ptx);
  to->entry = copied(r->arena, entry);
  read_params(r, json_object_get(a, "params"));
  to->shared = (size_t)number(a, "shared");
  to->warps = (uint32_t)number(a, "warps");
  to->scratch = (size_t)number(a, "scratch");
}

static void ask_host(tk_env *e, asking_triton *x) {
  tk_session *s = x->launch->session;
  const char *why = "";
  if (!s->compiler(s->compiler_ud, x->file, x->arch, &why))
    triton_failed(e, x, TK_FINDING, why, "");
}

static void request_code(tk_env *e, void *ud) {
  code_request *r = ud;
  record_launch(e, &r->asking);
  if (r->asking.launch->session->compiler)
    ask_host(e, &r->asking);
  else
    run_script(e, &r->asking);
  read_code(e, r);
}

static void make_code(tk_env *e, tk_launch *l, tk_arena *a, tkg_code *out) {
  code_request r = {.asking = {.launch = l, .how = "--ptx", .arch = out->arch},
                    .arena = a,
                    .out = out};
  tk_buf_init(&r.asking.said, e);
  tk_status st = tk_protect(e, request_code, &r);
  tk_buf_free(&r.asking.said);
  json_decref(r.answer);
  if (*r.asking.file) unlink(r.asking.file);
  if (st != TK_OK) tk_throw(e, st);
}

const tkg_code *tkg_code_by_triton(tk_env *e, tk_launch *l, const char *arch) {
  tk_unit *u = l->unit;
  const tkg_code *known = u->by_triton;
  if (known && !memcmp(known->options, l->options, sizeof l->options) &&
      !memcmp(known->compile, l->compile, sizeof l->compile) &&
      !strcmp(known->arch, arch))
    return known;
  tk_arena *a = &u->program.arena;
  tkg_code *made = TK_NEW(a, tkg_code);
  made->arch = arch;
  memcpy(made->options, l->options, sizeof l->options);
  memcpy(made->compile, l->compile, sizeof l->compile);
  make_code(e, l, a, made);
  u->by_triton = made;
  return made;
}

/* ---- its stages ---------------------------------------------------------- */

typedef struct stage_request {
  asking_triton asking;
  const tk_emit_options *o;
  json_t *answer;
} stage_request;

static const char *stage_name(size_t i) {
  static const char *const names[] = {"ttir", "ttgir", "llir", "ptx", "sass"};
  return i < TK_COUNT(names) ? names[i] : NULL;
}

/* The option of the script that asks for a stage; NULL: the first. */
static const char *option_of_stage(tk_env *e, tk_arena *a, const char *name) {
  size_t i = 0;
  while (name && stage_name(i) && strcmp(stage_name(i), name)) i++;
  if (!stage_name(i))
    tkv_unknown_name(e, "stage of Triton's", name, strlen(name), stage_name);
  return tk_arena_printf(a, "--emit=%s", stage_name(i));
}

static void refuse_passes(tk_env *e, const tk_emit_options *o) {
  if ((!o->skip || !*o->skip) && !o->after_all) return;
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              "Triton's compiler runs all of its passes, and prints the stage "
              "alone");
  tk_throw(e, TK_USAGE);
}

static void request_stage(tk_env *e, void *ud) {
  stage_request *r = ud;
  asking_triton *x = &r->asking;
  tk_launch *l = x->launch;
  const char *why;
  refuse_passes(e, r->o);
  x->how = option_of_stage(e, &l->arena, r->o->emit);
  x->arch = tkv_arch_named(e, r->o->arch);
  if (!tkg_triton_compiler_is_there(&why))
    triton_failed(e, x, TK_USAGE, why, "");
  l->unit = tk_specialise(e, l); /* asks for its globals */
  record_launch(e, x);
  run_script(e, x);
  r->answer = json_load_file(x->file, 0, NULL);
  json_t *text = json_object_get(r->answer, "text");
  if (!json_is_string(text))
    triton_failed(e, x, TK_USAGE, "its compiler's answer has no text", "");
  tk_buf_clear(&l->text);
  tk_buf_puts(&l->text, json_string_value(text));
  if (r->o->output) tkv_save_text(e, &l->text, r->o->output);
}

tk_status tkg_launch_emit(tk_launch *l, const tk_emit_options *o,
                          const char **out) {
  stage_request r = {.asking = {.launch = l, .quiet = true}, .o = o};
  tk_buf_init(&r.asking.said, &l->session->env);
  tk_status st = tk_session_guard(l->session, request_stage, &r);
  tk_buf_free(&r.asking.said);
  json_decref(r.answer);
  if (*r.asking.file) unlink(r.asking.file);
  *out = st == TK_OK ? tk_buf_str(&l->text) : NULL;
  return st;
}

typedef struct stages_request {
  asking_triton asking;
  tkv_take_stage *take;
  void *ud;
  json_t *answer;
} stages_request;

static void request_stages(tk_env *e, void *ud) {
  stages_request *r = ud;
  asking_triton *x = &r->asking;
  const char *why;
  if (!tkg_triton_compiler_is_there(&why))
    triton_failed(e, x, TK_USAGE, why, "");
  record_launch(e, x);
  run_script(e, x);
  r->answer = json_load_file(x->file, 0, NULL);
}

static void take_answer(tk_env *e, const stages_request *r) {
  const json_t *stages = json_object_get(r->answer, "stages");
  tk_buf text;
  tk_buf_init(&text, e);
  for (size_t i = 0; i < json_array_size(stages); i++) {
    const json_t *one = json_array_get(stages, i);
    const json_t *said = json_object_get(one, "text");
    tk_buf_clear(&text);
    tk_buf_add(&text, json_string_value(said), json_string_length(said));
    r->take(r->ud, json_string_value(json_object_get(one, "name")), &text,
            NULL);
  }
  tk_buf_free(&text);
}

/* What is wrong is no finding of a launch that only wants to show its code. */
void tkg_take_triton_stages(tk_env *e, tk_launch *l, tkv_take_stage *take,
                            void *ud) {
  stages_request r = {.asking = {.launch = l,
                                 .how = "--emit=all",
                                 .arch = tk_arch_name(0),
                                 .quiet = true},
                      .take = take,
                      .ud = ud};
  tk_diag *before = tk_diag_take(e, 0);
  tk_buf_init(&r.asking.said, e);
  tk_status st = tk_protect(e, request_stages, &r);
  tk_buf_free(&r.asking.said);
  if (*r.asking.file) unlink(r.asking.file);
  if (st == TK_OK)
    take_answer(e, &r);
  else
    take(ud, stage_name(0), NULL, e->diags ? e->diags->f.message : NULL);
  json_decref(r.answer);
  tk_diag_clear(e);
  tk_diag_put_back(e, before);
  if (st != TK_OK && st != TK_FINDING && st != TK_USAGE) tk_throw(e, st);
}
