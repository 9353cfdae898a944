/* inspect.c - the calls of debugger.h that look at programs, calls, variables
 * and memory. */
#include <string.h>

#include "debug/api.h"
#include "debug/describe.h"
#include "debug/edit.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "interp/grid.h"
#include "spec/origin.h"

/* ---- programs ---------------------------------------------------------- */

uint64_t tk_debug_current_program(const tk_debug *d) {
  return d->task ? d->task->index : TK_DEBUG_NO_PROGRAM;
}

uint64_t tk_debug_program_count(const tk_debug *d) {
  return d->t ? tki_programs(d->t) : 0;
}

static tk_program_state state_of_program(tkd *d, uint64_t index,
                                         uint64_t place) {
  const tki_task *k = tki_schedule_task(d->schedule, index);
  if (k && k == d->task) return TK_PROGRAM_CURRENT;
  if (k)
    return tki_schedule_is_blocked(k) ? TK_PROGRAM_BLOCKED : TK_PROGRAM_PAUSED;
  if (place < d->schedule->at) return TK_PROGRAM_DONE;
  for (size_t i = 0; i < tkd_ahead(d); i++)
    if (d->schedule->ahead[i] == index) return TK_PROGRAM_DONE;
  return TK_PROGRAM_NOT_BEGUN;
}

typedef struct program_asked {
  uint64_t index;
  tk_debug_program *out;
} program_asked;

static void find_program(tkd *d, void *ud) {
  program_asked *a = ud;
  uint64_t place, index = 0;
  for (place = 0; place < tk_debug_program_count(d); place++)
    if (tki_program_at(d->t, place, &index) && index == a->index) break;
  if (place == tk_debug_program_count(d))
    tkd_raise(d, "This launch does not run that program.");
  *a->out = (tk_debug_program){.index = index,
                               .state = state_of_program(d, index, place)};
  tki_pid_of(d->t, index, a->out->pid);
}

tk_status tk_debug_program_indexed(tk_debug *d, uint64_t index,
                                   tk_debug_program *out) {
  program_asked a = {index, out};
  return tkd_guard(d, find_program, &a);
}

size_t tk_debug_programs(tk_debug *d, uint64_t *at, tk_debug_program *out,
                         size_t max) {
  size_t n = 0;
  uint64_t index;
  for (; *at < tk_debug_program_count(d) && n < max; ++*at) {
    if (!tki_program_at(d->t, *at, &index)) continue;
    tk_debug_program *p = &out[n++];
    *p = (tk_debug_program){.index = index,
                            .state = state_of_program(d, index, *at)};
    tki_pid_of(d->t, index, p->pid);
  }
  return n;
}

typedef struct selection {
  uint64_t program;
  size_t level;
} selection;

static void select_call(tkd *d, void *ud) {
  const selection *a = ud;
  const tki_task *k = d->t ? tki_schedule_task(d->schedule, a->program) : NULL;
  if (!k) tkd_raise(d, "That program is not half done.");
  const tki_frame *f = tkd_user_frame(k->frame);
  for (size_t i = 0; f && i < a->level; i++) f = tkd_user_frame(f->caller);
  if (!f) tkd_raise(d, "The program has no such call.");
  d->frame = (tki_frame *)f;
  d->level = (int)a->level;
  d->looks_elsewhere = k != d->task;
  memcpy(d->t->pid, k->pid, sizeof d->t->pid);
}

tk_status tk_debug_select(tk_debug *d, uint64_t program, size_t level) {
  selection a = {program, level};
  return tkd_guard(d, select_call, &a);
}

void tkd_need_current(tkd *d) {
  tkd_need_frame(d);
  if (d->looks_elsewhere)
    tkd_raise(d, "Only the program that goes on next can be changed.");
}

/* ---- calls ------------------------------------------------------------- */

/* The innermost call of the program that is looked at. */
static const tki_frame *innermost_call(const tkd *d) {
  if (!d->frame) return NULL;
  if (!d->looks_elsewhere) return tkd_top(d);
  for (const tki_task *k = d->schedule->tasks; k; k = k->next)
    for (const tki_frame *f = k->frame; f; f = f->caller)
      if (f == d->frame) return tkd_user_frame(k->frame);
  return NULL;
}

static const tki_frame *call_at(const tkd *d, size_t level) {
  const tki_frame *f = innermost_call(d);
  for (; f && level; level--) f = tkd_user_frame(f->caller);
  return f;
}

size_t tk_debug_frame_count(const tk_debug *d) {
  return (size_t)tkd_depth(innermost_call(d));
}

typedef struct frame_asked {
  size_t level;
  tk_debug_frame *out;
} frame_asked;

static void find_frame(tkd *d, void *ud) {
  frame_asked *a = ud;
  const tki_frame *f = call_at(d, a->level);
  if (!f) tkd_raise(d, "The program has no such call.");
  bool calls = a->level > 0 && f->stmt;
  *a->out = (tk_debug_frame){
      .level = a->level,
      .name = f->func->name,
      .function = f->func->id,
      .place = tkd_place_of_frame(f),
      .statement = f->stmt ? f->stmt->id : TK_DEBUG_NO_STATEMENT,
      .call = calls ? tkd_calls_until(f->func, f->stmt, f->inst) : 0,
      .returns = !a->level && !d->looks_elsewhere && tkd_is_leaving(d),
      .in_loop = f->loops != NULL,
      .trip = f->loops ? f->loops->trip : 0,
      .depth = (size_t)tkd_depth(f) - 1};
}

tk_status tk_debug_frame_at(tk_debug *d, size_t level, tk_debug_frame *out) {
  frame_asked a = {level, out};
  return tkd_guard(d, find_frame, &a);
}

/* ---- values ------------------------------------------------------------ */

typedef struct values_asked {
  const tki_frame *f; /* NULL: the selected one */
  const char *text;
  const char *type;
  bool known;
  tk_debug_value *values;
  size_t n;
} values_asked;

static void find_values(tkd *d, void *ud) {
  values_asked *a = ud;
  const tki_frame *f = a->f ? a->f : tkd_need_frame(d);
  tkd_values got = tkd_evaluate(d, f, a->text, NULL);
  a->type = tk_arena_strdup(&d->answers.arena, got.type);
  a->values = TK_NEWN(&d->answers.arena, tk_debug_value, got.n + 1);
  if (got.known) {
    a->known = true;
    tkd_value v = {.path = "", .known = got.known};
    a->values[a->n++] = tkd_describe_value(d, a->text, &v);
    return;
  }
  for (size_t i = 0; i < got.n; i++) {
    const tkd_value *v = &got.items[i];
    if (!v->bytes && !v->known) continue;
    a->values[a->n++] = tkd_describe_value(d, a->text, v);
  }
}

tk_status tk_debug_evaluate(tk_debug *d, const char *text,
                            const tk_debug_value **values, size_t *n) {
  values_asked a = {.text = text};
  tk_status st = tkd_guard(d, find_values, &a);
  *values = st == TK_OK ? a.values : NULL;
  *n = st == TK_OK ? a.n : 0;
  return st;
}

static bool is_argument(const tki_frame *f, const char *name) {
  tk_function *fn = tk_func_origin(f->func);
  for (size_t i = 0; fn && i < tk_function_param_count(fn); i++)
    if (!strcmp(tk_function_param_name(fn, i), name)) return true;
  return false;
}

/* The i-th name: arguments, then variables, the newest first. */
static const char *variable_name(const tki_frame *f, size_t i) {
  tk_function *fn = tk_func_origin(f->func);
  size_t n = fn ? tk_function_param_count(fn) : 0;
  const char *name;
  if (i < n) return tk_function_param_name(fn, i);
  i -= n;
  for (size_t k = 0; (name = tki_eval_name(f, k)); k++)
    if (!is_argument(f, name) && !i--) return name;
  return NULL;
}

bool tk_debug_variable_at(tk_debug *d, size_t level, size_t i,
                          tk_debug_variable *out) {
  const tki_frame *f = call_at(d, level);
  const char *name = f ? variable_name(f, i) : NULL;
  if (!name) return false;
  values_asked a = {.f = f, .text = name};
  tk_status st = tkd_guard(d, find_values, &a);
  *out = (tk_debug_variable){.name = name};
  out->kind = is_argument(f, name) ? TK_VARIABLE_ARGUMENT : TK_VARIABLE_LOCAL;
  if (st != TK_OK) return true;
  if (a.known) out->kind = TK_VARIABLE_CONSTEXPR;
  out->type = a.type;
  out->values = a.values;
  out->nvalues = a.n;
  return true;
}

/* ---- memory ------------------------------------------------------------ */

bool tk_debug_region_at(tk_debug *d, size_t i, tk_debug_region *out) {
  size_t k = 0, n = d->t ? d->t->nregions : 0;
  for (; k < n; k++)
    if (d->t->regions[k].tensor && !i--) break;
  if (k == n) return false;
  const tki_region *r = &d->t->regions[k];
  const tk_tensor *x = r->tensor;
  *out =
      (tk_debug_region){.name = r->name,
                        .address = r->lo,
                        .size = (size_t)(r->hi - r->lo),
                        .first = r->lo + (uint64_t)((char *)x->data - r->host),
                        .dtype = x->dtype,
                        .rank = x->rank,
                        .readonly = r->readonly};
  memcpy(out->shape, x->shape, sizeof out->shape);
  memcpy(out->strides, x->strides, sizeof out->strides);
  return true;
}

typedef struct memory_asked {
  uint64_t address;
  void *to;
  const void *from;
  size_t size;
} memory_asked;

static char *memory_at(tkd *d, const memory_asked *a) {
  if (!d->t) tkd_raise(d, "No launch is running.");
  const tki_region *r = tki_region_at(d->t, a->address, a->size);
  if (!r)
    tkd_raise(d, "0x%llx is in no tensor of this launch.",
              (unsigned long long)a->address);
  TK_ASSERT(a->address >= r->lo && a->address + a->size <= r->hi);
  return r->host + (a->address - r->lo);
}

static void read_memory(tkd *d, void *ud) {
  const memory_asked *a = ud;
  memcpy(a->to, memory_at(d, a), a->size);
}

tk_status tk_debug_read(tk_debug *d, uint64_t address, void *bytes,
                        size_t size) {
  memory_asked a = {.address = address, .to = bytes, .size = size};
  return tkd_guard(d, read_memory, &a);
}

static void write_memory(tkd *d, void *ud) {
  const memory_asked *a = ud;
  tkd_write_memory(d, memory_at(d, a), a->from, a->size);
}

tk_status tk_debug_write(tk_debug *d, uint64_t address, const void *bytes,
                         size_t size) {
  memory_asked a = {.address = address, .from = bytes, .size = size};
  return tkd_guard(d, write_memory, &a);
}
