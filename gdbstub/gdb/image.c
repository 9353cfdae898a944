/* image.c - gives every statement and every value of a form its address. */
#include "gdbstub/gdb/image.h"

#include <string.h>

#include "base/dtype.h"

/* ---- statements --------------------------------------------------------- */

static void place_body(gs_image *m, gs_function *f, const tk_ir_body *b,
                       uint64_t loop);

static void note_binding(gs_function *f, int value, uint64_t address) {
  if (value >= 0 && !f->slots[value].bound) f->slots[value].bound = address;
}

/* Notes which values instructions assign, and returns how often they call
 * functions that have frames. */
static size_t note_insts(gs_function *f, const tk_ir_insts *l,
                         uint64_t address) {
  const tk_ir_inst *in;
  size_t calls = 0;
  for (size_t i = 0; l && (in = tk_ir_inst_at(l, i)); i++) {
    int value;
    for (size_t k = 0; (value = tk_ir_inst_result(in, k)) >= 0; k++)
      note_binding(f, value, address);
    const tk_ir_func *callee = tk_ir_inst_callee(in, 0);
    calls += callee && !tk_ir_func_is_library(callee);
    calls += note_insts(f, tk_ir_inst_body(in, 0), address);
    calls += note_insts(f, tk_ir_inst_body(in, 1), address);
  }
  return calls;
}

static uint64_t next_address(const gs_image *m) {
  return m->begin + m->code.n * GS_STRIDE;
}

static void place_code(gs_image *m, gs_function *f, const tk_ir_stmt *st,
                       uint64_t loop, size_t calls) {
  size_t n = 1 + calls * (size_t)m->machine->call_step / GS_STRIDE;
  uint64_t address = next_address(m);
  gs_code c = {address, address + n * GS_STRIDE, f, st, loop};
  while (n--) TK_PUSH(&m->arena, &m->code, c);
}

static void place_stmt(gs_image *m, gs_function *f, const tk_ir_stmt *st,
                       uint64_t loop) {
  uint64_t address = next_address(m);
  tk_ir_loop l;
  m->addresses[tk_ir_stmt_id(st)] = address;
  place_code(m, f, st, loop, note_insts(f, tk_ir_stmt_insts(st), address));
  if (tk_ir_stmt_loop(st, &l)) {
    note_binding(f, l.variable, address);
    loop = address;
  }
  place_body(m, f, tk_ir_stmt_body(st), loop);
  place_body(m, f, tk_ir_stmt_else(st), loop);
}

static void place_body(gs_image *m, gs_function *f, const tk_ir_body *b,
                       uint64_t loop) {
  const tk_ir_stmt *st;
  for (size_t i = 0; (st = tk_ir_stmt_at(b, i)); i++)
    place_stmt(m, f, st, loop);
}

static void place_function(gs_image *m, gs_function *f) {
  f->low = f->high = next_address(m);
  if (tk_ir_func_is_library(f->func)) return;
  place_body(m, f, tk_ir_func_body(f->func), 0);
  if (f->low == next_address(m)) place_code(m, f, NULL, 0, 0);
  f->high = next_address(m);
}

/* ---- values ------------------------------------------------------------- */

/* Debuggers have no 8-bit floating-point type, so they are shown the number
 * itself. */
void gs_slot_measure(gs_slot *s) {
  bool pointer = s->type.pointers > 0;
  s->size = pointer ? 8 : tk_dtype_size(s->type.dtype);
  s->shown = !pointer && tk_is_fp8(s->type.dtype) ? sizeof(float) : s->size;
}

static bool is_window(const tk_debug_local *v) {
  return v->kind == TK_VARIABLE_BLOCK_POINTER ||
         v->kind == TK_VARIABLE_DESCRIPTOR;
}

/* The block pointers and descriptors of a function; the engine's list of them
 * goes with the stop. */
static void keep_windows(gs_image *m, gs_function *f) {
  for (size_t i = 0; f->known && i < f->known->nvariables; i++) {
    tk_debug_local v = f->known->variables[i];
    if (!is_window(&v)) continue;
    v.name = tk_arena_strdup(&m->arena, v.name);
    TK_PUSH(&m->arena, &f->windows, v);
  }
}

/* The block pointer or descriptor that a value is an item of; NULL if there is
 * none. */
static const tk_debug_local *window_of(const gs_function *f, const char *name) {
  size_t n = strcspn(name, ".");
  for (size_t i = 0; name[n] && i < f->windows.n; i++) {
    const tk_debug_local *v = &f->windows.items[i];
    if (!strncmp(v->name, name, n) && !v->name[n]) return v;
  }
  return NULL;
}

static void describe_slot(const gs_function *f, size_t i, gs_slot *s) {
  tk_ir_value_type(f->func, (int)i, &s->type);
  s->lanes = 1;
  for (int k = 0; k < s->type.rank && !s->type.to_block; k++)
    s->lanes *= (size_t)s->type.shape[k];
  gs_slot_measure(s);
  s->name = s->type.to_block ? NULL : tk_ir_value_name(f->func, (int)i);
  if (s->name) s->window = window_of(f, s->name);
}

static void place_slots(gs_image *m, gs_function *f) {
  uint64_t at = GS_SLOTS, most = (UINT64_C(1) << GS_FRAME_BITS) - GS_BASE;
  gs_slot *last = NULL;
  keep_windows(m, f);
  f->nslots = tk_ir_value_count(f->func);
  f->slots = TK_NEWN(&m->arena, gs_slot, f->nslots + 1);
  for (size_t i = 0; i < f->nslots; i++) {
    gs_slot *s = &f->slots[i];
    describe_slot(f, i, s);
    uint64_t size = s->lanes * s->shown;
    if (s->name && size > most - at - GS_PAGE) s->name = NULL;
    if (!s->name) continue;
    s->offset = at;
    if (last && s->window && s->window == last->window) {
      uint64_t end = last->offset + last->shown;
      s->offset = (end + s->shown - 1) / s->shown * s->shown;
      last->room = s->offset - last->offset;
    }
    at = (s->offset + size + GS_PAGE - 1) / GS_PAGE * GS_PAGE;
    s->room = at - s->offset;
    last = s;
  }
}

const gs_slot *gs_image_slot(const gs_function *f, uint64_t offset) {
  for (size_t i = 0; i < f->nslots; i++) {
    const gs_slot *s = &f->slots[i];
    if (s->name && offset >= s->offset &&
        offset < s->offset + s->lanes * s->shown)
      return s;
  }
  return NULL;
}

void gs_slot_show(const gs_slot *s, const void *lanes, size_t n, void *shown) {
  if (s->size == s->shown) {
    memcpy(shown, lanes, n * s->size);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    float f = tk_fp8_to_f32(s->type.dtype, ((const uint8_t *)lanes)[i]);
    memcpy((char *)shown + i * sizeof f, &f, sizeof f);
  }
}

void gs_slot_take(const gs_slot *s, const void *shown, size_t n, void *lanes) {
  if (s->size == s->shown) {
    memcpy(lanes, shown, n * s->size);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    float f;
    memcpy(&f, (const char *)shown + i * sizeof f, sizeof f);
    ((uint8_t *)lanes)[i] = tk_f32_to_fp8(s->type.dtype, f);
  }
}

/* ---- the whole ---------------------------------------------------------- */

typedef struct making {
  gs_image *image;
  const tk_debug_function *list;
  size_t n;
} making;

static void make_image(tk_env *e, void *ud) {
  const making *a = ud;
  gs_image *m = a->image;
  const tk_ir_func *func;
  (void)e;
  m->nstmts = tk_ir_stmt_count(m->form);
  m->addresses = TK_NEWN(&m->arena, uint64_t, m->nstmts + 1);
  while (tk_ir_func_at(m->form, m->nfunctions)) m->nfunctions++;
  m->functions = TK_NEWN(&m->arena, gs_function, m->nfunctions + 1);
  for (size_t i = 0; (func = tk_ir_func_at(m->form, i)); i++) {
    gs_function *f = &m->functions[i];
    f->func = func;
    for (size_t k = 0; k < a->n; k++)
      if (a->list[k].id == i) f->known = &a->list[k];
    place_slots(m, f);
    place_function(m, f);
  }
  m->end = next_address(m);
  m->exit = m->end + GS_STRIDE;
  m->not_begun = m->exit + GS_STRIDE;
}

gs_image *gs_image_new(tk_env *e, const gs_machine *machine, const tk_ir *form,
                       int number, const tk_debug_function *list, size_t n) {
  gs_image *m = tk_calloc(e, 1, sizeof *m);
  making a = {m, list, n};
  m->machine = machine;
  m->form = form;
  m->begin = GS_CODE + (uint64_t)number * GS_CODE_SIZE;
  tk_arena_init(&m->arena, e);
  tk_status st = tk_protect(e, make_image, &a);
  if (st == TK_OK) return m;
  gs_image_free(e, m);
  tk_throw(e, st);
}

void gs_image_free(tk_env *e, gs_image *m) {
  if (!m) return;
  gs_elf_free(m->elf);
  tk_arena_free(&m->arena);
  tk_free(e, m, sizeof *m);
}

/* FNV-1a. */
uint64_t gs_image_sum(const gs_image *m, const char *name) {
  const uint64_t prime = 1099511628211u;
  uint64_t sum = 14695981039346656037u;
  if (!m) return 0;
  for (; *name; name++) sum = (sum ^ (unsigned char)*name) * prime;
  for (size_t i = 0; i < m->file->n; i++)
    sum = (sum ^ (unsigned char)m->file->s[i]) * prime;
  return sum | 1;
}

/* Each statement is a jump to the next one, padded with nops. At a jump lldb
 * goes on step by step; with nops alone it would run on to the instruction
 * after them. */
void gs_code_bytes(const gs_machine *m, uint64_t address, void *bytes,
                   size_t n) {
  unsigned char *out = bytes;
  for (size_t i = 0; i < n; i++) {
    uint64_t at = (address + i) % GS_STRIDE;
    out[i] = at < sizeof m->jump ? m->jump[at] : m->nop[at % sizeof m->nop];
  }
}

uint64_t gs_call_returns(const gs_image *m, uint64_t address, size_t k) {
  uint64_t back = address + k * (uint64_t)m->machine->call_step;
  TK_ASSERT(back < gs_image_code(m, address)->end);
  return back;
}

const gs_code *gs_image_code(const gs_image *m, uint64_t address) {
  uint64_t i = (address - m->begin) / GS_STRIDE;
  return address >= m->begin && i < m->code.n ? &m->code.items[i] : NULL;
}

const gs_function *gs_image_function(const gs_image *m, size_t id) {
  return id < m->nfunctions ? &m->functions[id] : NULL;
}

uint64_t gs_frame_base(uint64_t program, size_t depth) {
  return GS_FRAMES + (program % GS_PROGRAMS << GS_PROGRAM_BITS) +
         ((uint64_t)(GS_DEEPEST - (depth < GS_DEEPEST ? depth : GS_DEEPEST))
          << GS_FRAME_BITS) +
         GS_BASE;
}

uint64_t gs_returned_block(uint64_t program) {
  return GS_RETURNED + (program % GS_PROGRAMS << GS_PROGRAM_BITS);
}
