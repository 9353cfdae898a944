/* form.c - a launch without a run: its typed form, as data and as text, and
 * what a GPU would need to run
 * it. */
#include <string.h>

#include "device/device.h"
#include "ir/registers.h"
#include "ir/shared.h"
#include "ir/view.h"
#include "nvptx/nvptx.h"
#include "typing/origin.h"

/* ---- the form ------------------------------------------------------------ */

static void specialise(tk_env *e, void *ud) {
  tk_launch *l = ud;
  l->unit = tk_specialise(e, l);
}

tk_status tk_launch_compile(tk_launch *l) {
  tk_status st = tk_session_guard(l->session, specialise, l);
  if (st == TK_FINDING) tk_launch_refused(l);
  return st;
}

static void print_ir(tk_env *e, void *ud) {
  tk_launch *l = ud;
  specialise(e, ud);
  tk_buf_clear(&l->text);
  const tk_unit *u = l->unit;
  tk_program_print(&l->text, &u->program);
}

const char *tk_launch_ir(tk_launch *l) {
  tk_status st = tk_session_guard(l->session, print_ir, l);
  return st == TK_OK ? tk_buf_str(&l->text) : NULL;
}

/* ---- what compilers make of it --------------------------------------------
 */

static void unknown_compiler(tk_env *e, void *ud) {
  tk_diag *d =
      tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                  "there is no compiler called '%s'", (const char *)ud);
  tk_diag_help(e, d, "there is: tkdbg, triton");
  tk_throw(e, TK_USAGE);
}

tk_status tk_launch_emit(tk_launch *l, const tk_emit_options *o,
                         const char **out) {
  tk_emit_options all = {0};
  memcpy(&all, o, o->size < sizeof all ? o->size : sizeof all);
  *out = NULL;
  if (!all.by || !strcmp(all.by, "tkdbg")) return tkv_launch_emit(l, &all, out);
  if (!strcmp(all.by, "triton")) return tkg_launch_emit(l, &all, out);
  char *name = (char *)(uintptr_t)all.by; /* it is only read */
  return tk_session_guard(l->session, unknown_compiler, name);
}

/* ---- estimates ----------------------------------------------------------- */

/* What a GPU of an architecture would need for the launch. */
typedef struct resources_job {
  tk_launch *launch;
  int arch;
  size_t bytes, scratch; /* of shared memory, and of global memory */
  /* registers of a thread: how many it needs, and how many it may have */
  int registers, most;
  tk_arena arena; /* holds what the estimates need */
} resources_job;

static void estimate_resources(tk_env *e, void *ud) {
  resources_job *j = ud;
  specialise(e, j->launch);
  const tk_unit *u = j->launch->unit;
  j->bytes = tk_program_shared(&j->arena, &u->program, j->arch);
  j->registers = tk_program_registers(&j->arena, &u->program);
  j->most = tk_most_registers(&u->program);
}

static void count_scratch(tk_env *e, void *ud) {
  resources_job *j = ud;
  specialise(e, j->launch);
  const tk_unit *u = j->launch->unit;
  j->scratch = tk_program_scratch(&j->arena, &u->program, j->arch);
}

static resources_job resources_of(tk_launch *l, int arch,
                                  void (*ask)(tk_env *e, void *ud)) {
  resources_job j = {.launch = l, .arch = arch};
  tk_arena_init(&j.arena, &l->session->env);
  tk_session_guard(l->session, ask, &j);
  tk_arena_free(&j.arena);
  return j;
}

size_t tk_launch_scratch(tk_launch *l, int arch) {
  return resources_of(l, arch, count_scratch).scratch;
}

void tk_launch_resources(tk_launch *l, int arch, size_t *shared, int *registers,
                         int *most) {
  resources_job j = resources_of(l, arch, estimate_resources);
  *shared = j.bytes;
  *registers = j.registers;
  *most = j.most;
}

const tk_ir *tk_launch_form(tk_launch *l) {
  if (tk_launch_compile(l) != TK_OK) return NULL;
  const tk_unit *u = l->unit;
  return tk_program_view(&u->program);
}
