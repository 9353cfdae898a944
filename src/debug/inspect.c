/* inspect.c - the calls of debugger.h that look at programs, calls, variables
 * and memory. */
#include <ctype.h>
#include <string.h>

#include "debug/api.h"
#include "debug/describe.h"
#include "debug/edit.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/part.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "debug/resume.h"
#include "interp/check/undefined.h"
#include "interp/grid.h"
#include "typing/origin.h"

static void describe_stand(tkd *d, void *ud) {
  const tk_debug_stop **out = ud;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  *out = tkd_describe_stop(d);
}

tk_status tk_debug_stand(tk_debug *d, const tk_debug_stop **out) {
  *out = NULL;
  return tkd_guard(d, describe_stand, out);
}

/* ---- programs ---------------------------------------------------------- */

uint64_t tk_debug_current_program(const tk_debug *d) {
  return d->programs.task ? d->programs.task->index : TK_DEBUG_NO_PROGRAM;
}

uint64_t tk_debug_program_count(const tk_debug *d) {
  return d->t ? tki_programs(d->t) : 0;
}

static tk_program_state state_of_program(tkd *d, uint64_t index,
                                         uint64_t place) {
  const tki_task *k = tki_schedule_task(d->programs.schedule, index);
  if (k && k == d->programs.task) return TK_PROGRAM_CURRENT;
  if (k)
    return tki_schedule_is_blocked(k) ? TK_PROGRAM_BLOCKED : TK_PROGRAM_PAUSED;
  if (place < d->programs.schedule->at) return TK_PROGRAM_DONE;
  for (size_t i = 0; i < tkd_ahead(d); i++)
    if (d->programs.schedule->ahead[i] == index) return TK_PROGRAM_DONE;
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
  if (place == tk_debug_program_count(d)) tkd_raise(d, NOT_LAUNCHED);
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
  const tki_task *k =
      d->t ? tki_schedule_task(d->programs.schedule, a->program) : NULL;
  if (!k) tkd_raise(d, NOT_PAUSED);
  const tki_frame *f = tkd_user_frame(k->frame);
  for (size_t i = 0; f && i < a->level; i++) f = tkd_user_frame(f->caller);
  if (!f) tkd_raise(d, NO_CALL);
  d->at.frame = (tki_frame *)f;
  d->at.level = (int)a->level;
  d->at.elsewhere = k != d->programs.task;
  memcpy(d->t->pid, k->pid, sizeof d->t->pid);
}

tk_status tk_debug_select(tk_debug *d, uint64_t program, size_t level) {
  selection a = {program, level};
  return tkd_guard(d, select_call, &a);
}

void tkd_need_current(tkd *d) {
  tkd_need_frame(d);
  if (d->at.elsewhere) tkd_raise(d, NOT_NEXT);
}

/* ---- calls ------------------------------------------------------------- */

/* The innermost call of the program that is looked at. */
static const tki_frame *innermost_call(const tkd *d) {
  if (!d->at.frame) return NULL;
  if (!d->at.elsewhere) return tkd_top(d);
  for (const tki_task *k = d->programs.schedule->tasks; k; k = k->next)
    for (const tki_frame *f = k->frame; f; f = f->caller)
      if (f == d->at.frame) return tkd_user_frame(k->frame);
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

static tk_debug_loop *loops_of(tkd *d, const tki_frame *f, size_t *n) {
  size_t i = 0;
  *n = 0;
  for (const tki_loop *l = f->loops; l; l = l->outer) ++*n;
  tk_debug_loop *list = TK_NEWN(&d->answers.arena, tk_debug_loop, *n + 1);
  for (const tki_loop *l = f->loops; l; l = l->outer)
    list[i++] =
        (tk_debug_loop){tk_place_of(f->func->src, l->stmt->span), l->trip};
  return list;
}

static void find_frame(tkd *d, void *ud) {
  frame_asked *a = ud;
  const tki_frame *f = call_at(d, a->level);
  if (!f) tkd_raise(d, NO_CALL);
  bool calls = a->level > 0 && f->stmt;
  *a->out = (tk_debug_frame){
      .level = a->level,
      .name = f->func->name,
      .function = f->func->id,
      .place = tkd_place_of_frame(f),
      .statement = f->stmt ? f->stmt->id : TK_DEBUG_NO_STATEMENT,
      .call = calls ? tkd_calls_until(f->func, f->stmt, f->inst) : 0,
      .returns = !a->level && !d->at.elsewhere && tkd_is_leaving(d),
      .depth = (size_t)tkd_depth(f) - 1};
  a->out->loops = loops_of(d, f, &a->out->nloops);
}

tk_status tk_debug_frame_at(tk_debug *d, size_t level, tk_debug_frame *out) {
  frame_asked a = {level, out};
  return tkd_guard(d, find_frame, &a);
}

bool tk_debug_selected(tk_debug *d, tk_debug_frame *out) {
  return d->at.frame && tk_debug_frame_at(d, (size_t)d->at.level, out) == TK_OK;
}

typedef struct visit_asked {
  uint64_t program;
  void (*fn)(void *ud);
  void *ud;
  bool there;
} visit_asked;

static void visit_program(tkd *d, void *ud) {
  visit_asked *a = ud;
  a->there = tkd_visit(d, a->program, a->fn, a->ud);
}

tk_status tk_debug_visit(tk_debug *d, uint64_t program, void (*fn)(void *ud),
                         void *ud, bool *there) {
  visit_asked a = {program, fn, ud, false};
  bool inside = d->at.visiting;
  tk_status st = tkd_guard(d, visit_program, &a);
  d->at.visiting = inside;
  if (st != TK_OK) tkd_recover(d);
  *there = a.there;
  return st;
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

/* The name in a text that only a program that runs gives a value to. */
static const char *place_named(const char *text) {
  static const char *const names[] = {"pid", "pid_0", "pid_1", "pid_2", "trip"};
  while (*text) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    for (size_t i = 0; n && i < TK_COUNT(names); i++)
      if (strlen(names[i]) == n && !strncmp(text, names[i], n)) return names[i];
    text += n ? n : 1;
  }
  return NULL;
}

/* The call that an expression is evaluated in.  When the launch has ended that
 * is none: what is left are the arguments, and with them the tensors. */
static const tki_frame *frame_to_ask(tkd *d, const char *text) {
  if (d->at.frame || !d->t) return tkd_need_frame(d);
  const char *name = place_named(text);
  if (name) tkd_raise(d, NO_VALUE_LEFT, name);
  tki_frame *f = tk_temp_bytes(&d->mem, sizeof *f);
  *f = tkd_frame_before(d, d->t->program->kernel, NULL);
  return f;
}

static void find_values(tkd *d, void *ud) {
  values_asked *a = ud;
  const tki_frame *f = a->f ? a->f : frame_to_ask(d, a->text);
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

static void find_type(tkd *d, void *ud) {
  values_asked *a = ud;
  tki_eval *x = tkd_compile(d, frame_to_ask(d, a->text), a->text);
  if (!x) tk_throw(d->env, TK_USAGE);
  a->type = tk_arena_strdup(&d->answers.arena, x->type);
  tki_eval_free(x);
}

tk_status tk_debug_type_of(tk_debug *d, const char *text, const char **type) {
  values_asked a = {.text = text};
  tk_status st = tkd_guard(d, find_type, &a);
  *type = st == TK_OK ? a.type : NULL;
  return st;
}

/* ---- variables --------------------------------------------------------- */

typedef struct variables_asked {
  size_t level;
  const tki_frame *f;
  TK_VEC(tk_debug_variable) list;
} variables_asked;

static int parameter_of(const tki_frame *f, const char *name) {
  tk_function *fn = tk_func_origin(f->func);
  for (size_t i = 0; fn && i < tk_function_param_count(fn); i++)
    if (!strcmp(tk_function_param_name(fn, i), name)) return (int)i;
  return -1;
}

/* Most variables are one slot, whose lanes are copied; others are evaluated.
 */
static void describe_variable(tkd *d, const tki_frame *f,
                              tk_debug_variable *v) {
  int slot;
  if (tki_eval_is_plain(f, v->name) &&
      tki_eval_slots(f, v->name, &slot, 1) == 1) {
    tkd_value got = tkd_slot_value(d, f, slot);
    if (!got.bytes) return;
    v->unassigned = tki_is_unassigned(f, slot);
    tk_buf *type = tk_temp_buf(&d->mem);
    tk_type_declare(type, &got.type);
    v->type = tk_arena_strdup(&d->answers.arena, tk_buf_str(type));
    tk_debug_value *value = TK_NEW(&d->answers.arena, tk_debug_value);
    *value = tkd_describe_value(d, v->name, &got);
    v->values = value;
    v->nvalues = 1;
    return;
  }
  values_asked a = {.f = f, .text = v->name};
  size_t before = d->env->ndiags;
  if (tkd_try(d, find_values, &a) != TK_OK) {
    tk_diag_truncate(d->env, before);
    return;
  }
  if (a.known) v->kind = TK_VARIABLE_CONSTEXPR;
  v->type = a.type;
  v->values = a.values;
  v->nvalues = a.n;
}

/* The names that are known in a call, newest first. */
static const char **names_in(tkd *d, const tki_frame *f, size_t *n) {
  *n = tki_eval_names(f, NULL, 0);
  const char **names = TK_NEWN(&d->answers.arena, const char *, *n + 1);
  tki_eval_names(f, names, *n);
  return names;
}

static void list_variables(tkd *d, void *ud) {
  variables_asked *a = ud;
  a->f = d->at.frame || a->level ? call_at(d, a->level) : frame_to_ask(d, "");
  if (!a->f) tkd_raise(d, NO_CALL);
  size_t n;
  const char **names = names_in(d, a->f, &n);
  for (size_t i = 0; i < n; i++) {
    tk_debug_variable v = {.name = names[i],
                           .parameter = parameter_of(a->f, names[i])};
    if (v.parameter >= 0) v.kind = TK_VARIABLE_ARGUMENT;
    describe_variable(d, a->f, &v);
    TK_PUSH(&d->answers.arena, &a->list, v);
  }
}

tk_status tk_debug_variables(tk_debug *d, size_t level,
                             const tk_debug_variable **list, size_t *n) {
  variables_asked a = {.level = level};
  tk_status st = tkd_guard(d, list_variables, &a);
  *list = st == TK_OK ? a.list.items : NULL;
  *n = st == TK_OK ? a.list.n : 0;
  return st;
}

typedef struct names_asked {
  const char **names;
  size_t n;
} names_asked;

static void list_names(tkd *d, void *ud) {
  names_asked *a = ud;
  a->names = names_in(d, d->at.frame, &a->n);
}

tk_status tk_debug_names(tk_debug *d, const char *const **names, size_t *n) {
  names_asked a = {.n = 0};
  tk_status st = d->at.frame ? tkd_guard(d, list_names, &a) : TK_OK;
  *names = st == TK_OK ? a.names : NULL;
  *n = st == TK_OK ? a.n : 0;
  return st;
}

/* ---- memory ------------------------------------------------------------ */

static void describe_region(const tki_region *r, tk_debug_region *out) {
  const tk_tensor *x = r->tensor;
  *out =
      (tk_debug_region){.name = r->name,
                        .address = r->lo,
                        .size = (size_t)(r->hi - r->lo),
                        .first = r->lo + (uint64_t)((char *)x->data - r->host),
                        .dtype = x->dtype,
                        .rank = x->rank,
                        .readonly = r->readonly,
                        .data = x->data};
  memcpy(out->shape, x->shape, sizeof out->shape);
  memcpy(out->strides, x->strides, sizeof out->strides);
}

bool tk_debug_region_at(tk_debug *d, size_t i, tk_debug_region *out) {
  size_t k = 0, n = d->t ? d->t->nregions : 0;
  for (; k < n; k++)
    if (d->t->regions[k].tensor && !i--) break;
  if (k < n) describe_region(&d->t->regions[k], out);
  return k < n;
}

typedef struct element_asked {
  const char *name, *index;
  const tki_region *r;
  uint64_t address;
  int left;
} element_asked;

static void find_region(tkd *d, void *ud) {
  element_asked *a = ud;
  if (d->t) a->r = tkd_region(d, a->name, strlen(a->name));
}

bool tk_debug_region_named(tk_debug *d, const char *name,
                           tk_debug_region *out) {
  element_asked a = {.name = name};
  if (tkd_guard(d, find_region, &a) != TK_OK || !a.r) return false;
  describe_region(a.r, out);
  return true;
}

static void find_element(tkd *d, void *ud) {
  element_asked *a = ud;
  find_region(d, a);
  if (!a->r) tkd_raise(d, NO_TENSOR, a->name);
  char *host = tkd_element(d, a->r, a->index, &a->left);
  a->address = a->r->lo + (uint64_t)(host - a->r->host);
}

tk_status tk_debug_element(tk_debug *d, const char *name, const char *index,
                           uint64_t *address, int *left) {
  element_asked a = {.name = name, .index = index};
  tk_status st = tkd_guard(d, find_element, &a);
  *address = a.address;
  *left = a.left;
  return st;
}

bool tk_debug_is_undefined(tk_debug *d, uint64_t address, size_t size) {
  const tki_region *r = d->t ? tki_region_at(d->t, address, size) : NULL;
  return r && tkc_undefined_memory(d->t, r, r->host + (address - r->lo), size);
}

typedef struct memory_asked {
  uint64_t address;
  void *to;
  const void *from;
  size_t size;
} memory_asked;

static char *memory_at(tkd *d, const memory_asked *a) {
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  const tki_region *r = tki_region_at(d->t, a->address, a->size);
  if (!r) tkd_raise(d, NO_TENSOR_AT, (unsigned long long)a->address);
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
