/* inspect.c - threads, registers and memory, as the client sees them. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/gdb/stub.h"

/* ---- programs as threads ------------------------------------------------ */

bool gs_is_thread(const gs_stub *g, uint64_t program) {
  for (size_t i = 0; i < g->nprograms; i++)
    if (g->programs[i].index == program) return true;
  return false;
}

void gs_list_program(gs_stub *g, uint64_t program) {
  tk_debug_program p;
  if (gs_is_thread(g, program) || g->nprograms == GS_LISTED) return;
  if (tk_debug_program_indexed(g->d, program, &p) != TK_OK) return;
  if (p.state == TK_PROGRAM_DONE) return;
  for (size_t i = 0; i < g->nprograms; i++)
    if (g->programs[i].index % GS_PROGRAMS == program % GS_PROGRAMS) return;
  g->programs[g->nprograms++] = p;
}

/* Only the program that has stopped and those around it in the order of the
 * launch are listed: the time that a client takes to list threads grows with
 * the square of their number. */
void gs_list_programs(gs_stub *g) {
  enum { AROUND = GS_LISTED / 2 };
  tk_debug_program p;
  if (g->halt.listed) return;
  g->halt.listed = true;
  g->nprograms = 0;
  if (g->here == TK_DEBUG_NO_PROGRAM || !gs_has_process(g)) return;
  gs_list_program(g, g->here);
  gs_list_program(g, g->thread);
  gs_list_program(g, g->wanted);
  uint64_t at = g->here > AROUND ? g->here - AROUND : 0;
  while (g->nprograms < GS_LISTED && tk_debug_programs(g->d, &at, &p, 1))
    gs_list_program(g, p.index);
}

static bool take_number(const char **s, uint64_t *n) {
  if (gs_take(s, "-1")) return *n = 0, true;
  return gs_take_hex(s, n);
}

/* A thread's number is that of its program plus 1; 0 and -1 mean any thread. */
bool gs_take_thread(gs_stub *g, const char **s, uint64_t *program) {
  uint64_t n = 0, process;
  gs_list_programs(g);
  if (gs_take(s, "p")) {
    if (!take_number(s, &process)) return false;
    if (gs_take(s, ".") && !take_number(s, &n)) return false;
  } else if (!take_number(s, &n)) {
    return false;
  }
  *program = n ? n - 1 : g->here;
  return !n || gs_is_thread(g, *program);
}

void gs_put_thread(gs_stub *g, uint64_t program) {
  tk_buf_printf(&g->reply, "p1.%" PRIx64, program + 1);
}

void gs_on_select(gs_stub *g, const char *rest) {
  uint64_t program;
  bool general = *rest == 'g';
  if (*rest) rest++;
  if (!gs_take_thread(g, &rest, &program)) {
    gs_reply_error(g);
    return;
  }
  if (general) g->thread = program;
  tk_buf_puts(&g->reply, "OK");
}

void gs_on_alive(gs_stub *g, const char *rest) {
  uint64_t program;
  if (gs_take_thread(g, &rest, &program))
    tk_buf_puts(&g->reply, "OK");
  else
    gs_reply_error(g);
}

void gs_on_current(gs_stub *g, const char *rest) {
  if (*rest || g->here == TK_DEBUG_NO_PROGRAM) return;
  tk_buf_puts(&g->reply, "QC");
  gs_put_thread(g, g->here);
}

void gs_on_threads(gs_stub *g, const char *rest) {
  (void)rest;
  gs_list_programs(g);
  for (size_t i = 0; i < g->nprograms; i++) {
    tk_buf_putc(&g->reply, i ? ',' : 'm');
    gs_put_thread(g, g->programs[i].index);
  }
  if (!g->nprograms) tk_buf_putc(&g->reply, 'l');
}

void gs_on_no_threads(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_putc(&g->reply, 'l');
}

void gs_name_program(const tk_debug_program *p, char name[GS_NAME]) {
  snprintf(name, GS_NAME, "pid(%" PRId64 ",%" PRId64 ",%" PRId64 ")", p->pid[0],
           p->pid[1], p->pid[2]);
}

void gs_on_thread_name(gs_stub *g, const char *rest) {
  uint64_t program;
  char name[GS_NAME];
  if (!gs_take_thread(g, &rest, &program)) {
    gs_reply_error(g);
    return;
  }
  for (size_t i = 0; i < g->nprograms; i++) {
    const tk_debug_program *p = &g->programs[i];
    if (p->index != program) continue;
    gs_name_program(p, name);
    gs_reply_hex(g, name, strlen(name));
  }
}

/* ---- where a program stands --------------------------------------------- */

static const gs_function *kernel_of(const gs_stub *g) {
  const gs_image *m = g->image;
  return gs_image_function(m, tk_ir_func_id(tk_ir_kernel(m->form)));
}

static uint64_t base_above(uint64_t program) {
  return gs_frame_base(program, 0) + (UINT64_C(1) << GS_FRAME_BITS);
}

static bool is_between(const gs_stub *g) {
  return g->halt.shown == GS_CALL_BEGINS || g->halt.shown == GS_CALL_ENDS;
}

/* A call that is about to return counts as left: the client sees its caller,
 * in the middle of the statement that made the call. */
gs_place gs_place_of(gs_stub *g, uint64_t program) {
  const gs_image *m = g->image;
  tk_debug_frame f;
  gs_place p = {.pc = m->exit, .rbp = base_above(program) - 16};
  /* as the description of the kernel's frame has it */
  p.rsp = gs_frame_base(program, 0);
  if (tk_debug_select(g->d, program, 0) != TK_OK ||
      tk_debug_frame_at(g->d, 0, &f) != TK_OK) {
    p.function = kernel_of(g);
    /* At an address with a breakpoint, lldb would step this program past it
     * before all programs go on, and would so begin it. */
    p.pc = g->client.lldb ? m->not_begun : p.function->low;
    p.rbp = p.rsp = gs_frame_base(program, 0) - 16;
    return p;
  }
  p.hidden = f.returns;
  bool between = is_between(g);
  if (between && program == g->here)
    p.hidden = f.depth + 1 - g->going.stepped.depth;
  if (p.hidden && (!f.depth || tk_debug_frame_at(g->d, p.hidden, &f) != TK_OK))
    return p;
  p.function = gs_image_function(m, f.function);
  p.depth = f.depth;
  p.rbp = p.rsp = gs_frame_base(program, f.depth) - 16;
  p.pc = p.function ? p.function->low : m->exit;
  if (f.statement < m->nstmts) p.pc = m->addresses[f.statement];
  if (p.hidden)
    p.pc = gs_call_returns(m, p.pc, between ? g->halt.call : f.call);
  if (g->halt.jumps && program == g->here) p.pc = m->addresses[g->halt.jump_to];
  if (g->halt.shown == GS_LOOP_HEAD && program == g->here)
    p.pc = gs_image_code(m, p.pc)->loop;
  return p;
}

gs_call gs_call_at(gs_stub *g, size_t depth) {
  gs_place here = gs_place_of(g, g->here);
  gs_call c = {.depth = depth};
  tk_debug_frame f;
  if (!depth || depth > here.depth) return c;
  size_t level = here.depth - depth + 1 + here.hidden;
  if (tk_debug_frame_at(g->d, level, &f) != TK_OK) return c;
  c.statement = f.statement;
  c.call = f.call;
  return c;
}

/* What a frame stores about its caller: the return address and the caller's
 * frame register; zeros if there is no such frame. */
static void read_link(gs_stub *g, uint64_t program, size_t depth,
                      uint64_t link[2]) {
  tk_debug_frame f;
  gs_place here = gs_place_of(g, program);
  size_t level = here.depth - depth + 1 + here.hidden;
  link[0] = link[1] = 0;
  if (depth > here.depth) return;
  link[0] = g->image->exit;
  link[1] = base_above(program) - 16;
  if (!depth || tk_debug_frame_at(g->d, level, &f) != TK_OK) return;
  link[1] = gs_frame_base(program, depth - 1) - 16;
  if (f.statement < g->image->nstmts)
    link[0] = gs_call_returns(g->image, g->image->addresses[f.statement],
                              f.call ? f.call : 1);
}

/* ---- values ------------------------------------------------------------- */

/* An address of a frame, taken apart into program, depth and offset. */
typedef struct frame_address {
  uint64_t program;
  size_t depth;
  int64_t offset; /* from its base */
} frame_address;

static bool find_frame_address(gs_stub *g, uint64_t address,
                               frame_address *out) {
  uint64_t at = address - GS_FRAMES, place = at >> GS_PROGRAM_BITS;
  if (address < GS_FRAMES || place >= GS_PROGRAMS) return false;
  uint64_t window = at >> GS_FRAME_BITS & GS_DEEPEST;
  out->depth = (size_t)(GS_DEEPEST - window);
  out->offset = (int64_t)(at & ((UINT64_C(1) << GS_FRAME_BITS) - 1)) - GS_BASE;
  gs_list_programs(g);
  for (size_t i = 0; i < g->nprograms; i++) {
    out->program = g->programs[i].index;
    if (out->program % GS_PROGRAMS == place) return true;
  }
  return false;
}

const gs_slot *gs_slot_at(gs_stub *g, uint64_t address, uint64_t *program,
                          size_t *level, uint64_t *offset) {
  frame_address a;
  tk_debug_frame f;
  if (!find_frame_address(g, address, &a) || a.offset < 0) return NULL;
  gs_place here = gs_place_of(g, a.program);
  if (a.depth > here.depth || !here.function) return NULL;
  *program = a.program;
  *level = here.depth - a.depth + here.hidden;
  *offset = (uint64_t)a.offset;
  const gs_function *fn = here.function;
  if (*level > here.hidden) {
    if (tk_debug_frame_at(g->d, *level, &f) != TK_OK) return NULL;
    fn = gs_image_function(g->image, f.function);
  }
  const gs_slot *s = fn ? gs_image_slot(fn, *offset) : NULL;
  if (s) *offset -= s->offset;
  return s;
}

/* Which item of its block pointer a value is; 0 if it is not an item of one. */
static size_t item_of_slot(const gs_slot *s) {
  return s->window ? strtoul(strchr(s->name, '.') + 1, NULL, 10) : 0;
}

/* Items of a tuple have their path in their name: t.0.1 is t[0][1].  Those of a
 * block pointer have no expression of their own, only that of the whole. */
const char *gs_slot_expression(gs_stub *g, const gs_slot *s) {
  if (s->window) return s->window->name;
  tk_buf_clear(&g->text);
  for (const char *c = s->name; *c;) {
    size_t n = strcspn(c, ".");
    bool item = c != s->name;
    if (item) tk_buf_putc(&g->text, '[');
    tk_buf_add(&g->text, c, n);
    if (item) tk_buf_putc(&g->text, ']');
    c += n + (c[n] == '.');
  }
  return tk_arena_strdup(&g->scratch, tk_buf_str(&g->text));
}

/* The lanes of a variable of a call; NULL: it has no value of this type now. */
static const void *lanes_of_slot(gs_stub *g, uint64_t program, size_t level,
                                 const gs_slot *s) {
  const tk_debug_value *v;
  size_t n;
  if (tk_debug_select(g->d, program, level) != TK_OK)
    return g->arguments.lanes ? g->arguments.lanes[s - kernel_of(g)->slots]
                              : NULL;
  if (tk_debug_evaluate(g->d, gs_slot_expression(g, s), &v, &n) != TK_OK)
    return NULL;
  size_t item = item_of_slot(s);
  if (s->window ? item >= n : n != 1) return NULL;
  v += item;
  if (!v->lanes) return NULL;
  const tk_ir_type *a = &v->type, *b = &s->type;
  if (a->dtype != b->dtype || a->pointers != b->pointers ||
      a->rank != b->rank || v->size != s->lanes * s->size)
    return NULL;
  return v->lanes;
}

static void keep_arguments_of(gs_stub *g, uint64_t program) {
  const gs_function *f = kernel_of(g);
  int value;
  tk_arena_free(&g->arguments.arena);
  g->arguments.lanes =
      TK_NEWN(&g->arguments.arena, const void *, f->nslots + 1);
  for (size_t i = 0; (value = tk_ir_func_param(f->func, i)) >= 0; i++) {
    const gs_slot *s = &f->slots[value];
    const void *lanes = s->name ? lanes_of_slot(g, program, 0, s) : NULL;
    size_t size = s->lanes * s->size;
    if (!lanes) continue;
    void *copy = tk_arena_alloc(&g->arguments.arena, size);
    g->arguments.lanes[value] = memcpy(copy, lanes, size);
  }
}

typedef struct visiting {
  gs_stub *g;
  uint64_t program;
} visiting;

static void keep_visited(void *ud) {
  const visiting *v = ud;
  keep_arguments_of(v->g, v->program);
}

/* When another front end has lent a launch that is under way, variables may
 * have changed since the arguments were passed. */
void gs_keep_arguments(gs_stub *g) {
  uint64_t at = 0;
  tk_debug_program p;
  bool there;
  if (!gs_is_lent(g)) {
    keep_arguments_of(g, g->here);
    return;
  }
  while (tk_debug_programs(g->d, &at, &p, 1))
    if (p.state == TK_PROGRAM_NOT_BEGUN) {
      visiting v = {g, p.index};
      tk_debug_visit(g->d, p.index, keep_visited, &v, &there);
      return;
    }
}

/* ---- memory ------------------------------------------------------------- */

/* Copies bytes from an offset of an object on, and zeros where its room goes on
 * after its end. */
static size_t read_object(const void *object, uint64_t size, uint64_t room,
                          uint64_t offset, void *bytes, size_t n) {
  if (n > room - offset) n = (size_t)(room - offset);
  size_t there = offset < size ? (size_t)(size - offset) : 0;
  if (there > n) there = n;
  memcpy(bytes, (const char *)object + (there ? offset : 0), there);
  memset((char *)bytes + there, 0, n - there);
  return n;
}

static size_t read_slot(gs_stub *g, uint64_t address, void *bytes, size_t n) {
  uint64_t program, offset;
  size_t level;
  const gs_slot *s = gs_slot_at(g, address, &program, &level, &offset);
  if (!s) return 0;
  const void *lanes = lanes_of_slot(g, program, level, s);
  if (!lanes) return 0;
  size_t size = s->lanes * s->shown;
  char *shown = tk_arena_alloc(&g->scratch, size);
  gs_slot_show(s, lanes, s->lanes, shown);
  return read_object(shown, size, s->room, offset, bytes, n);
}

static size_t read_frame(gs_stub *g, const frame_address *a, uint64_t address,
                         void *bytes, size_t n) {
  uint64_t link[2];
  if (a->offset >= -16 && a->offset < 0) {
    read_link(g, a->program, a->depth, link);
    if (n > (size_t)-a->offset) n = (size_t)-a->offset;
    memcpy(bytes, (char *)link + 16 + a->offset, n);
    return n;
  }
  size_t done = read_slot(g, address, bytes, n);
  if (done || a->offset >= GS_SLOTS) return done;
  size_t gap = (size_t)(GS_PAGE - address % GS_PAGE); /* between things */
  if (a->offset < -16) gap = (size_t)(-16 - a->offset);
  if (n > gap) n = gap;
  memset(bytes, 0, n);
  return n;
}

/* lldb reads memory in cache lines and goes wrong where it gets only a part of
 * one, so bytes beside a region that belong to nothing read as zeros. */
static size_t fill_line(gs_stub *g, uint64_t address, void *bytes, size_t n) {
  enum { LINE = 512 };
  uint64_t line = address / LINE * LINE, next = line + LINE;
  bool shared = false;
  tk_debug_region r;
  for (size_t i = 0; tk_debug_region_at(g->d, i, &r); i++) {
    if (r.address >= line + LINE || r.address + r.size <= line) continue;
    shared = true;
    if (r.address > address && r.address < next) next = r.address;
  }
  if (!shared) return 0;
  if (n > next - address) n = (size_t)(next - address);
  memset(bytes, 0, n);
  return n;
}

static size_t read_region(gs_stub *g, uint64_t address, void *bytes, size_t n) {
  tk_debug_region r;
  for (size_t i = 0; tk_debug_region_at(g->d, i, &r); i++) {
    if (address < r.address || address - r.address >= r.size) continue;
    uint64_t left = r.address + r.size - address;
    if (n > left) n = (size_t)left;
    return tk_debug_read(g->d, address, bytes, n) == TK_OK ? n : 0;
  }
  return g->client.lldb ? fill_line(g, address, bytes, n) : 0;
}

static size_t read_piece(gs_stub *g, uint64_t address, void *bytes, size_t n) {
  frame_address a;
  uint64_t code_end = (g->image->not_begun / GS_PAGE + 1) * GS_PAGE;
  uint64_t block = gs_returned_block(g->result.program);
  if (address >= g->image->begin && address < code_end) {
    if (n > code_end - address) n = (size_t)(code_end - address);
    gs_code_bytes(g->machine, address, bytes, n);
    return n;
  }
  if (find_frame_address(g, address, &a))
    return read_frame(g, &a, address, bytes, n);
  if (g->result.block.n && address >= block &&
      address < block + g->result.block.n)
    return read_object(g->result.block.s, g->result.block.n, g->result.block.n,
                       address - block, bytes, n);
  return read_region(g, address, bytes, n);
}

size_t gs_read_memory(gs_stub *g, uint64_t address, void *bytes, size_t n) {
  size_t done = 0, got;
  while (done < n &&
         (got = read_piece(g, address + done, (char *)bytes + done, n - done)))
    done += got;
  return done;
}

static bool write_bytes_at(gs_stub *g, uint64_t address, const void *bytes,
                           size_t n) {
  uint64_t program, offset;
  size_t level;
  const gs_slot *s = gs_slot_at(g, address, &program, &level, &offset);
  if (!s) return tk_debug_write(g->d, address, bytes, n) == TK_OK;
  size_t size = s->lanes * s->shown;
  const void *lanes = lanes_of_slot(g, program, level, s);
  if (!lanes || n > size - offset) return false;
  char *shown = tk_arena_alloc(&g->scratch, size);
  char *taken = tk_arena_alloc(&g->scratch, s->lanes * s->size);
  gs_slot_show(s, lanes, s->lanes, shown);
  memcpy(shown + offset, bytes, n);
  gs_slot_take(s, shown, s->lanes, taken);
  return tk_debug_assign_lanes(g->d, gs_slot_expression(g, s), taken,
                               s->lanes * s->size) == TK_OK;
}

/* ADDRESS,LENGTH */
static bool take_range(const char **s, uint64_t *address, uint64_t *n) {
  return gs_take_hex(s, address) && gs_take(s, ",") && gs_take_hex(s, n);
}

void gs_on_read(gs_stub *g, const char *rest) {
  uint64_t address, n;
  if (!take_range(&rest, &address, &n)) {
    gs_reply_error(g);
    return;
  }
  if (n > GS_PACKET_SIZE / 2 - 16) n = GS_PACKET_SIZE / 2 - 16;
  char *bytes = tk_arena_alloc(&g->scratch, n + 1);
  size_t got = gs_read_memory(g, address, bytes, n);
  if (n && !got)
    gs_reply_error(g);
  else
    gs_reply_hex(g, bytes, got);
}

static void answer_write(gs_stub *g, uint64_t address, const char *bytes,
                         size_t n) {
  if (!n || write_bytes_at(g, address, bytes, n))
    tk_buf_puts(&g->reply, "OK");
  else
    gs_reply_error(g);
}

void gs_on_write(gs_stub *g, const char *rest) {
  uint64_t address, n;
  if (!take_range(&rest, &address, &n) || !gs_take(&rest, ":") ||
      n > GS_PACKET_SIZE) {
    gs_reply_error(g);
    return;
  }
  char *bytes = tk_arena_alloc(&g->scratch, n + 1);
  if (gs_take_bytes(&rest, bytes, n) != n || *rest)
    gs_reply_error(g);
  else
    answer_write(g, address, bytes, n);
}

void gs_on_write_binary(gs_stub *g, const char *rest) {
  uint64_t address, n;
  const char *end = tk_buf_str(&g->wire.packet) + g->wire.packet.n;
  if (take_range(&rest, &address, &n) && gs_take(&rest, ":") &&
      (uint64_t)(end - rest) == n)
    answer_write(g, address, rest, n);
  else
    gs_reply_error(g);
}

/* ---- registers ---------------------------------------------------------- */

static void read_register(gs_stub *g, uint64_t program, const gs_place *p,
                          int n, void *bytes) {
  const gs_machine *m = g->machine;
  const gs_result *r = &g->result;
  memset(bytes, 0, gs_register_size(m, n));
  if (n == m->pc) memcpy(bytes, &p->pc, 8);
  if (n == m->frame) memcpy(bytes, &p->rbp, 8);
  if (n == m->stack) memcpy(bytes, &p->rsp, 8);
  if (r->program != program) return;
  for (size_t i = 0; i < TK_COUNT(r->integers); i++)
    if (n == m->integers[i]) memcpy(bytes, &r->integers[i], 8);
  for (size_t i = 0; i < TK_COUNT(r->floats); i++)
    if (n == m->floats[i]) memcpy(bytes, r->floats[i], 16);
  uint64_t block = gs_returned_block(program);
  if (n == m->block && r->block.n) memcpy(bytes, &block, 8);
}

void gs_on_registers(gs_stub *g, const char *rest) {
  char bytes[16];
  size_t size;
  gs_list_programs(g);
  gs_place p = gs_place_of(g, g->thread);
  (void)rest;
  for (int i = 0; (size = gs_register_size(g->machine, i)); i++) {
    read_register(g, g->thread, &p, i, bytes);
    gs_reply_hex(g, bytes, size);
  }
}

void gs_on_register(gs_stub *g, const char *rest) {
  char bytes[16];
  uint64_t n;
  size_t size = 0;
  if (gs_take_hex(&rest, &n) && n < INT_MAX)
    size = gs_register_size(g->machine, (int)n);
  if (!size) {
    gs_reply_error(g);
    return;
  }
  gs_place p = gs_place_of(g, g->thread);
  read_register(g, g->thread, &p, (int)n, bytes);
  gs_reply_hex(g, bytes, size);
}

/* ---- what a function returns -------------------------------------------- */

/* Up to 16 bytes are returned in registers, chosen by what each half consists
 * of, and more in memory. Up to four floats share registers or have one each,
 * as the machine has it. */
void gs_keep_result(gs_stub *g) {
  gs_result *r = &g->result;
  const tk_debug_value *v = g->stop->returned;
  r->program = TK_DEBUG_NO_PROGRAM;
  tk_buf_clear(&r->block);
  if (g->stop->nreturned != 1 || !v->lanes) return;
  gs_slot s = {.type = v->type, .lanes = 1};
  for (int i = 0; i < v->type.rank; i++) s.lanes *= (size_t)v->type.shape[i];
  gs_slot_measure(&s);
  size_t size = s.lanes * s.shown;
  char *shown = tk_arena_alloc(&g->scratch, size < 16 ? 16 : size);
  gs_slot_show(&s, v->lanes, s.lanes, shown);
  r->program = g->here;
  memcpy(r->integers, shown, 16);
  size_t part = g->machine->spreads ? s.shown : 8;
  size_t most = g->machine->spreads ? TK_COUNT(r->floats) : 2;
  memset(r->floats, 0, sizeof r->floats);
  for (size_t i = 0; i < most && (i + 1) * part <= (size < 16 ? 16 : size); i++)
    memcpy(r->floats[i], shown + i * part, part);
  if (size > 16) tk_buf_add(&r->block, shown, size);
}
