/* symbols.c - functions, lines, types and variables of an image. */
#include "gdbstub/gdb/symbols.h"

#include "gdbstub/wire/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "gdbstub/gdb/dwarf_names.h"

/* A type that has been written. */
typedef struct written_type {
  tk_ir_type type;
  bool raw; /* as it is stored, not as it is shown */
  uint32_t at;
} written_type;

/* A variable of the source: one value, or those of a tuple. */
typedef struct variable {
  const char *name;
  const gs_function *function;
  const gs_slot *first;
  size_t n;
  uint64_t from; /* its name means it from there on */
} variable;

typedef struct writer {
  gs_image *m;
  const char *folder;
  gs_elf *w;
  TK_VEC(written_type) types;
  uint32_t boolean, character, dtypes;
} writer;

#define ATTRS(...)                                                             \
  (gs_attr[]) {                                                                \
    __VA_ARGS__                                                                \
  }
#define NAME(s)                                                                \
  { DW_AT_name, GS_STRING, 0, s }
#define SIZE(n)                                                                \
  { DW_AT_byte_size, GS_NUMBER, n, NULL }
#define TYPE(at)                                                               \
  { DW_AT_type, GS_REFERENCE, at, NULL }

/* ---- types -------------------------------------------------------------- */

/* C's name for each element type that C has; the other types are enumerations,
 * or have a name that debuggers know. */
typedef struct base_type {
  const char *name;
  int encoding;
  size_t size;
} base_type;

static base_type base_of(tk_dtype d) {
  switch (d) {
  case TK_INT1: return (base_type){"bool", DW_ATE_boolean, 1};
  case TK_INT16: return (base_type){"short", DW_ATE_signed, 2};
  case TK_UINT16: return (base_type){"unsigned short", DW_ATE_unsigned, 2};
  case TK_INT32: return (base_type){"int", DW_ATE_signed, 4};
  case TK_UINT32: return (base_type){"unsigned int", DW_ATE_unsigned, 4};
  case TK_INT64: return (base_type){"long", DW_ATE_signed, 8};
  case TK_UINT64: return (base_type){"unsigned long", DW_ATE_unsigned, 8};
  case TK_FP16: return (base_type){"_Float16", DW_ATE_float, 2};
  case TK_BF16: return (base_type){"__bf16", DW_ATE_float, 2};
  case TK_FP32: return (base_type){"float", DW_ATE_float, 4};
  case TK_FP64: return (base_type){"double", DW_ATE_float, 8};
  default: return (base_type){tk_dtype_name(d), DW_ATE_float, 4};
  }
}

/* Numbers of eight bits by their names, as debuggers would print those of C
 * as characters, and know no such floats. */
static uint32_t write_byte_type(writer *x, tk_dtype d) {
  uint32_t at = gs_die(x->w, DW_TAG_enumeration_type, true,
                       ATTRS(NAME(tk_dtype_name(d)), SIZE(1)), 2);
  for (int i = 0; i < 256; i++) {
    char name[32];
    int64_t code = d == TK_INT8 ? i - 128 : i;
    if (tk_is_fp8(d))
      snprintf(name, sizeof name, "%g", (double)tk_fp8_to_f32(d, (uint8_t)i));
    else
      snprintf(name, sizeof name, "%d", (int)code);
    gs_attr value = {DW_AT_const_value, GS_SIGNED, (uint64_t)code, NULL};
    gs_die(x->w, DW_TAG_enumerator, false, ATTRS(NAME(name), value), 2);
  }
  gs_die_end(x->w);
  return at;
}

static uint32_t write_base_type(writer *x, tk_dtype d, bool raw) {
  if (d == TK_INT8 || d == TK_UINT8 || (raw && tk_is_fp8(d)))
    return write_byte_type(x, d);
  base_type b = base_of(d);
  gs_attr encoding = {DW_AT_encoding, GS_NUMBER, (uint64_t)b.encoding, NULL};
  uint32_t at = gs_die(x->w, DW_TAG_base_type, false,
                       ATTRS(NAME(b.name), SIZE(b.size), encoding), 3);
  /* gdb knows the format by this name alone. */
  if (d == TK_BF16)
    at = gs_die(x->w, DW_TAG_typedef, false, ATTRS(NAME("bfloat16"), TYPE(at)),
                2);
  return at;
}

static bool is_same_type(const tk_ir_type *a, const tk_ir_type *b) {
  return a->dtype == b->dtype && a->pointers == b->pointers &&
         a->rank == b->rank &&
         !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

static uint32_t type_at(writer *x, const tk_ir_type *t, bool raw) {
  uint32_t at;
  for (size_t i = 0; i < x->types.n; i++) {
    const written_type *w = &x->types.items[i];
    if (w->raw == raw && is_same_type(&w->type, t)) return w->at;
  }
  tk_ir_type part = *t;
  if (t->rank) {
    part.rank = 0;
    uint32_t lane = type_at(x, &part, raw);
    at = gs_die(x->w, DW_TAG_array_type, true, ATTRS(TYPE(lane)), 1);
    for (int i = 0; i < t->rank; i++) {
      gs_attr count = {DW_AT_count, GS_NUMBER, (uint64_t)t->shape[i], NULL};
      gs_die(x->w, DW_TAG_subrange_type, false, &count, 1);
    }
    gs_die_end(x->w);
  } else if (t->pointers) {
    part.pointers--;
    uint32_t lane = type_at(x, &part, true);
    at =
        gs_die(x->w, DW_TAG_pointer_type, false, ATTRS(SIZE(8), TYPE(lane)), 2);
  } else {
    at = write_base_type(x, t->dtype, raw);
  }
  written_type w = {*t, raw, at};
  TK_PUSH(&x->m->arena, &x->types, w);
  return at;
}

static int by_path(const void *a, const void *b) {
  const gs_slot *const *s = a, *const *t = b;
  return strverscmp((*s)->name, (*t)->name);
}

static bool has_member(const gs_slot *const *members, size_t n,
                       const char *name) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(members[i]->name, name)) return true;
  return false;
}

/* The values of a tuple by their paths; how many there are.  One that became
 * another shares those of a type that stayed. */
static size_t tuple_members(const variable *v, const gs_slot **members) {
  const gs_slot *last = &v->first[v->n - 1];
  size_t n = 0, length = strlen(v->name) + 1;
  for (size_t i = 0; i < v->n; i++) members[n++] = &v->first[i];
  for (const gs_slot *s = v->function->slots; s < v->first; s++)
    if (s->name && !strncmp(s->name, last->name, length) &&
        strverscmp(s->name, last->name) < 0 && !has_member(members, n, s->name))
      members[n++] = s;
  qsort(members, n, sizeof *members, by_path);
  return n;
}

/* A structure with a member for each value of a tuple; *from is where it
 * begins. */
static uint32_t write_tuple(writer *x, const variable *v, uint64_t *from) {
  size_t most = (size_t)(v->first - v->function->slots) + v->n;
  const gs_slot **members = TK_NEWN(&x->m->arena, const gs_slot *, most);
  size_t n = tuple_members(v, members);
  uint64_t end = 0;
  for (size_t i = 0; i < n; i++) {
    const gs_slot *s = members[i];
    if (s->offset < *from) *from = s->offset;
    if (s->offset + s->lanes * s->shown > end)
      end = s->offset + s->lanes * s->shown;
  }
  uint32_t at = gs_die(x->w, DW_TAG_structure_type, true,
                       ATTRS(NAME("tuple"), SIZE(end - *from)), 2);
  for (size_t i = 0; i < n; i++) {
    const gs_slot *s = members[i];
    char *name =
        tk_arena_printf(&x->m->arena, "_%s", s->name + strlen(v->name) + 1);
    for (char *c = name; *c; c++)
      if (*c == '.') *c = '_';
    gs_attr offset = {DW_AT_data_member_location, GS_NUMBER, s->offset - *from,
                      NULL};
    gs_die(x->w, DW_TAG_member, false,
           ATTRS(NAME(name), TYPE(type_at(x, &s->type, false)), offset), 3);
  }
  gs_die_end(x->w);
  return at;
}

/* "block_ptr<fp16[32, 16]>" */
static const char *window_name(writer *x, const tk_debug_local *w) {
  tk_arena *a = &x->m->arena;
  const char *text = tk_arena_printf(
      a, "%s<%s",
      w->kind == TK_VARIABLE_DESCRIPTOR ? "descriptor" : "block_ptr",
      tk_dtype_name(w->type.dtype));
  for (int i = 0; i < w->type.rank; i++)
    text = tk_arena_printf(a, "%s%s%lld", text, i ? ", " : "[",
                           (long long)w->type.shape[i]);
  return tk_arena_printf(a, "%s]>", text);
}

/* A structure of base, shape, strides and offsets; 0 if some of its items are
 * known when the kernel is compiled, and so have no slot. */
static uint32_t write_window(writer *x, const variable *v) {
  static const char *const names[] = {"shape", "strides", "offsets"};
  const tk_debug_local *w = v->first->window;
  size_t rank = (size_t)w->type.rank;
  size_t lists = w->kind == TK_VARIABLE_DESCRIPTOR ? 2 : 3;
  const gs_slot *last = &v->first[v->n - 1];
  uint64_t size = last->offset + last->shown - v->first->offset;
  uint32_t types[4] = {type_at(x, &v->first->type, false)};
  if (v->n != 1 + lists * rank) return 0;
  for (size_t i = 0; i < lists; i++) {
    tk_ir_type t = v->first[1 + i * rank].type;
    t.rank = 1;
    t.shape[0] = (int64_t)rank;
    types[i + 1] = type_at(x, &t, false);
  }
  uint32_t at = gs_die(x->w, DW_TAG_structure_type, true,
                       ATTRS(NAME(window_name(x, w)), SIZE(size)), 2);
  for (size_t i = 0; i <= lists; i++) {
    const gs_slot *s = &v->first[i ? 1 + (i - 1) * rank : 0];
    gs_attr offset = {DW_AT_data_member_location, GS_NUMBER,
                      s->offset - v->first->offset, NULL};
    gs_die(x->w, DW_TAG_member, false,
           ATTRS(NAME(i ? names[i - 1] : "base"), TYPE(types[i]), offset), 3);
  }
  gs_die_end(x->w);
  return at;
}

/* Types stand before everything that refers to them. */
static void write_types(writer *x) {
  for (size_t i = 0; i < x->m->nfunctions; i++) {
    const gs_function *f = &x->m->functions[i];
    tk_ir_type t;
    if (f->low == f->high) continue;
    for (size_t k = 0; k < f->nslots; k++)
      if (f->slots[k].name) type_at(x, &f->slots[k].type, false);
    for (size_t k = 0; tk_ir_func_result(f->func, k, &t); k++)
      if (!t.to_block) type_at(x, &t, false);
  }
}

/* ---- what C has no word for --------------------------------------------- */

static void write_constant(writer *x, int tag, const char *name, uint32_t type,
                           int64_t value) {
  gs_attr number = {DW_AT_const_value, GS_SIGNED, (uint64_t)value, NULL};
  gs_die(x->w, tag, false, ATTRS(NAME(name), TYPE(type), number), 3);
}

/* Python's and C's constants, so that conditions can use them, and an
 * enumeration of the element types, which constexpr parameters may be. */
static void write_constants(writer *x) {
  const tk_ir_type boolean = {.dtype = TK_INT1};
  x->boolean = type_at(x, &boolean, false);
  gs_attr encoding = {DW_AT_encoding, GS_NUMBER, DW_ATE_signed_char, NULL};
  x->character = gs_die(x->w, DW_TAG_base_type, false,
                        ATTRS(NAME("char"), SIZE(1), encoding), 3);
  x->dtypes = gs_die(x->w, DW_TAG_enumeration_type, true,
                     ATTRS(NAME("dtype"), SIZE(4)), 2);
  for (int d = 0; d < TK_DTYPE_COUNT; d++) {
    gs_attr value = {DW_AT_const_value, GS_SIGNED, (uint64_t)d, NULL};
    gs_die(x->w, DW_TAG_enumerator, false,
           ATTRS(NAME(tk_dtype_name((tk_dtype)d)), value), 2);
  }
  gs_die_end(x->w);
  static const char *const names[] = {"False", "True", "false", "true"};
  for (int i = 0; i < 4; i++)
    write_constant(x, DW_TAG_variable, names[i], x->boolean, i & 1);
  write_constant(x, DW_TAG_variable, "None", x->boolean, 0);
}

/* Characters that no variable points to: a constant of their length, without
 * the quotes that Python shows around a text. */
static void write_string_constant(writer *x, int tag, const char *name,
                                  const char *value) {
  size_t n = strlen(value);
  if (n > 1 && *value == '\'' && value[n - 1] == '\'')
    value = tk_arena_strndup(&x->m->arena, value + 1, n - 2);
  gs_attr count = {DW_AT_count, GS_NUMBER, strlen(value) + 1, NULL};
  gs_attr text = {DW_AT_const_value, GS_STRING, 0, value};
  uint32_t type =
      gs_die(x->w, DW_TAG_array_type, true, ATTRS(TYPE(x->character)), 1);
  gs_die(x->w, DW_TAG_subrange_type, false, &count, 1);
  gs_die_end(x->w);
  gs_die(x->w, tag, false, ATTRS(NAME(name), TYPE(type), text), 3);
}

/* A variable whose value was known when the kernel was compiled. */
static void write_known(writer *x, int tag, const char *name,
                        const char *value) {
  const tk_ir_type wide = {.dtype = TK_INT64}, real = {.dtype = TK_FP64};
  char *end;
  int dtype = tk_dtype_from_name(value);
  if (!strcmp(value, "True") || !strcmp(value, "False")) {
    write_constant(x, tag, name, x->boolean, *value == 'T');
    return;
  }
  if (dtype >= 0) {
    write_constant(x, tag, name, x->dtypes, dtype);
    return;
  }
  long long number = strtoll(value, &end, 0);
  if (end != value && !*end) {
    write_constant(x, tag, name, type_at(x, &wide, false), number);
    return;
  }
  double fraction = strtod(value, &end);
  if (end != value && !*end) {
    gs_attr bits = {DW_AT_const_value, GS_BITS, 0, NULL};
    memcpy(&bits.number, &fraction, sizeof bits.number);
    gs_die(x->w, tag, false,
           ATTRS(NAME(name), TYPE(type_at(x, &real, false)), bits), 3);
    return;
  }
  write_string_constant(x, tag, name, value);
}

/* ---- variables ---------------------------------------------------------- */

/* How much of a value's name is the variable's. */
static size_t variable_name_length(const char *name) {
  return strcspn(name, ".");
}

/* Whether the value is the next one of the tuple v. */
static bool belongs_to(const variable *v, const gs_slot *s) {
  size_t n = strlen(v->name);
  return s == v->first + v->n && s->name && s->name[n] == '.' &&
         !strncmp(s->name, v->name, n) && strcmp(s->name, v->first->name);
}

static bool is_parameter(const gs_function *f, const gs_slot *s) {
  int value;
  for (size_t i = 0; (value = tk_ir_func_param(f->func, i)) >= 0; i++)
    if (s == &f->slots[value]) return true;
  return false;
}

typedef TK_VEC(variable) variables;

/* The variables of a function.  The first of a name is there everywhere; one
 * that has another type is, behind the statement that assigns it first. */
static void find_variables(writer *x, const gs_function *f, variables *out) {
  for (size_t i = 0; i < f->nslots; i++) {
    const gs_slot *s = &f->slots[i];
    if (!s->name) continue;
    if (out->n && belongs_to(&out->items[out->n - 1], s)) {
      out->items[out->n - 1].n++;
      continue;
    }
    size_t n = variable_name_length(s->name);
    variable v = {tk_arena_strndup(&x->m->arena, s->name, n), f, s, 1, 0};
    for (size_t k = 0; k < out->n; k++)
      if (!strcmp(out->items[k].name, v.name) && s->bound)
        v.from = gs_image_code(x->m, s->bound)->end;
    if (v.from >= f->high) continue;
    TK_PUSH(&x->m->arena, out, v);
  }
}

static void write_variable(writer *x, const variable *v, int tag) {
  bool tuple = v->first->name[strlen(v->name)] == '.';
  uint32_t type = v->first->window ? write_window(x, v) : 0;
  uint64_t from = v->first->offset;
  if (!type)
    type =
        tuple ? write_tuple(x, v, &from) : type_at(x, &v->first->type, false);
  gs_attr where = {DW_AT_location, GS_FRAME, from + 16,
                   NULL}; /* rbp is 16 below the base */
  gs_die(x->w, tag, false, ATTRS(NAME(v->name), TYPE(type), where), 3);
}

static int by_beginning(const void *a, const void *b) {
  const variable *v = a, *w = b;
  return (v->from > w->from) - (v->from < w->from);
}

/* Blocks within blocks, each to the end of the function: a debugger takes the
 * innermost variable of a name. */
static void write_variables(writer *x, const gs_function *f) {
  variables all = {0};
  size_t blocks = 0;
  find_variables(x, f, &all);
  if (all.n) qsort(all.items, all.n, sizeof *all.items, by_beginning);
  for (size_t i = 0; i < all.n; i++) {
    const variable *v = &all.items[i];
    if (v->from) {
      gs_attr low = {DW_AT_low_pc, GS_ADDRESS, v->from, NULL};
      gs_attr high = {DW_AT_high_pc, GS_NUMBER, f->high - v->from, NULL};
      gs_die(x->w, DW_TAG_lexical_block, true, ATTRS(low, high), 2);
      blocks++;
    } else if (is_parameter(f, v->first)) {
      continue; /* written before, in the order of the source */
    }
    write_variable(x, v, DW_TAG_variable);
  }
  while (blocks--) gs_die_end(x->w);
}

static void write_parameters(writer *x, const gs_function *f) {
  variables all = {0};
  find_variables(x, f, &all);
  int value;
  for (size_t i = 0; (value = tk_ir_func_param(f->func, i)) >= 0; i++)
    for (size_t k = 0; k < all.n; k++)
      if (all.items[k].first == &f->slots[value])
        write_variable(x, &all.items[k], DW_TAG_formal_parameter);
  for (size_t i = 0; f->known && i < f->known->nvariables; i++) {
    const tk_debug_local *v = &f->known->variables[i];
    bool argument = v->statement == TK_DEBUG_NO_STATEMENT;
    if (v->kind == TK_VARIABLE_CONSTEXPR)
      write_known(x, argument ? DW_TAG_formal_parameter : DW_TAG_variable,
                  v->name, v->known);
  }
}

/* ---- functions ---------------------------------------------------------- */

static int file_number(writer *x, const char *file) {
  const char *named = gw_file_path(&x->m->arena, x->folder, file ? file : "/");
  char *path = realpath(named, NULL);
  int n = gs_line_file(x->w, path ? path : named);
  free(path);
  return n;
}

/* A debugger may be asked to stop at any line of a statement, and at those of
 * a function's head: they are further rows, without code of their own. */
static void write_lines_of(writer *x, const gs_function *f, int file) {
  tk_place head = tk_ir_func_place(f->func);
  for (uint64_t at = f->low; at < f->high;) {
    const gs_code *c = gs_image_code(x->m, at);
    const tk_ir_stmt *st = c->stmt;
    tk_place span = st ? tk_ir_stmt_place(f->func, st) : head;
    gs_row row = {.address = at, .file = file, .begins = at == f->low};
    if (at == f->low)
      for (row.line = head.line; row.line < span.line; row.line++)
        gs_line_row(x->w, row), row.begins = false;
    for (row.line = span.line + 1; row.line <= span.end_line; row.line++)
      gs_line_row(x->w, row);
    row.line = span.line;
    row.begins = at == f->low;
    gs_line_row(x->w, row);
    at = c->end;
  }
}

/* The type of what a function returns; 0: nothing that has one. */
static uint32_t result_type(writer *x, const gs_function *f) {
  tk_ir_type t;
  if (!tk_ir_func_result(f->func, 0, &t) || t.to_block) return 0;
  if (tk_ir_func_result(f->func, 1, &(tk_ir_type){0})) return 0;
  return type_at(x, &t, false);
}

static void write_function(writer *x, const gs_function *f) {
  tk_place at = tk_ir_func_place(f->func);
  int file = file_number(x, at.file);
  const char *name = tk_ir_func_name(f->func);
  uint32_t type = result_type(x, f);
  gs_attr attrs[] = {
      NAME(name),
      {DW_AT_external, GS_FLAG, 0, NULL},
      {DW_AT_prototyped, GS_FLAG, 0, NULL},
      {DW_AT_decl_file, GS_NUMBER, (uint64_t)file, NULL},
      {DW_AT_decl_line, GS_NUMBER, (uint64_t)at.line, NULL},
      {DW_AT_low_pc, GS_ADDRESS, f->low, NULL},
      {DW_AT_high_pc, GS_NUMBER, f->high - f->low, NULL},
      {DW_AT_frame_base, GS_FRAME, 16, NULL},
      TYPE(type),
  };
  gs_die(x->w, DW_TAG_subprogram, true, attrs,
         TK_COUNT(attrs) - (type ? 0 : 1));
  write_parameters(x, f);
  write_variables(x, f);
  gs_die_end(x->w);
  gs_symbol(x->w, name, f->low, f->high - f->low);
  write_lines_of(x, f, file);
}

void gs_symbols_write(gs_image *m, const char *folder) {
  writer x = {.m = m, .folder = folder, .w = m->elf = gs_elf_new(&m->arena)};
  const gs_function *kernel =
      &m->functions[tk_ir_func_id(tk_ir_kernel(m->form))];
  tk_place at = tk_ir_func_place(kernel->func);
  /* The name of the producer; a debugger looks for epilogues in the code of
   * some producers, and not for this one. */
  gs_unit u = {.producer = "GNU C99 12.2.0 (tkdbg)",
               .name = at.file ? at.file : "",
               .folder = folder,
               .machine = m->machine,
               .low = m->begin,
               .high = m->end,
               .entry = kernel->low,
               .text_end = m->not_begun + GS_STRIDE};
  char *text = tk_arena_alloc(&m->arena, u.text_end - u.low);
  gs_code_bytes(m->machine, u.low, text, u.text_end - u.low);
  u.text = text;
  file_number(&x, at.file);
  gs_unit_begin(x.w, &u);
  write_constants(&x);
  write_types(&x);
  for (size_t i = 0; i < m->nfunctions; i++)
    if (m->functions[i].low < m->functions[i].high)
      write_function(&x, &m->functions[i]);
  gs_symbol(x.w, "launch", m->end, m->not_begun - m->end);
  gs_symbol(x.w, "not_begun", m->not_begun, GS_STRIDE);
  m->file = gs_elf_file(m->elf);
}
