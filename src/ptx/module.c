/* module.c - what stands around instructions: directives, variables,
 * functions, labels and blocks.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/read.h"

enum {
  MAX_REGS = 1 << 18,     /* of one declaration */
  MAX_LOCAL = 512 << 10,  /* bytes of a thread, as the hardware has it */
  MAX_SHARED = 8 << 20,   /* bytes; the hardware has far less */
  MAX_PARAMS = 1 << 19,   /* bytes, of all kernels */
  MAX_GLOBAL = 256 << 20, /* bytes of one variable */
  MAX_CODE = 1 << 20,     /* instructions of a kernel, with its calls */
  MAX_FILES = 1 << 16,
  MAX_CALLS = 1 << 16,
};

/* ---- skipping ----------------------------------------------------------- */

static void skip_line(tkp_reader *r) {
  r->at += strcspn(r->at, "\n");
}

static void skip_string(tkp_reader *r) {
  const char *from = r->at++;
  while (*r->at && *r->at != '"' && *r->at != '\n')
    r->at += r->at[0] == '\\' && r->at[1] ? 2 : 1;
  if (*r->at != '"') tkp_fail(r, from, r->at, NULL, "this string has no end");
  r->at++;
}

/* From an opening bracket to just after the one that closes it. */
static void skip_pair(tkp_reader *r, char open, char close) {
  const char *from = r->at;
  size_t depth = 0;
  do {
    tkp_skip(r);
    if (!*r->at)
      tkp_fail(r, from, from + 1, NULL,
               "the text ends before this %c is closed", open);
    if (*r->at == '"') {
      skip_string(r);
      continue;
    }
    depth += (*r->at == open) - (*r->at == close);
    r->at++;
  } while (depth);
}

/* ---- places ------------------------------------------------------------- */

/* .file 1 "name" */
static void read_file(tkp_reader *r) {
  uint64_t number = tkp_count(r, MAX_FILES, "the number of a file");
  tkp_skip(r);
  const char *from = r->at;
  if (*from != '"') tkp_fail(r, from, from + 1, NULL, "expected a file's name");
  skip_string(r);
  while (r->p->files.n <= number) TK_PUSH(r->arena, &r->p->files, NULL);
  r->p->files.items[number] =
      tk_arena_strndup(r->arena, from + 1, (size_t)(r->at - from) - 2);
  skip_line(r);
}

static uint32_t small_number(tkp_reader *r) {
  return (uint32_t)tkp_count(r, UINT32_MAX, "a number");
}

static tkp_loc read_place(tkp_reader *r) {
  tkp_loc l = {.file = small_number(r), .line = small_number(r)};
  l.column = small_number(r);
  return l;
}

/* LLVM says in a comment what code was inlined into, name:line:column @[ ... ],
 * also where the instruction's own words do not.  Adds the places from the
 * outermost one on; returns the number of that which `text` begins with, 0 if
 * it is none. */
static uint32_t read_inlined(tkp_reader *r, const char *text, const char *end) {
  const char *name = text + strspn(text, " "), *stop = name;
  tkp_loc l = {0};
  while (stop < end && *stop != ' ' && *stop != '\n') stop++;
  const char *column = stop, *line;
  while (column > name && column[-1] != ':') column--;
  line = column - (column > name);
  while (line > name && line[-1] != ':') line--;
  if (line - name < 2 || column == stop) return 0;
  l.name = tk_arena_strndup(r->arena, name, (size_t)(line - name) - 1);
  l.line = (uint32_t)strtoul(line, NULL, 10);
  l.column = (uint32_t)strtoul(column, NULL, 10);
  const char *inner = stop + strspn(stop, " ");
  if (end - inner > 2 && !strncmp(inner, "@[", 2))
    l.outer = read_inlined(r, inner + 2, end);
  TK_PUSH(r->arena, &r->p->locs, l);
  return (uint32_t)r->p->locs.n - 1;
}

/* What a place was itself inlined into, as the last .loc of the same place
 * says; 0: into nothing. */
static uint32_t outer_of(const tkp_reader *r, const tkp_loc *l) {
  for (size_t i = r->p->locs.n; i-- > 1;) {
    const tkp_loc *o = &r->p->locs.items[i];
    if (o->file == l->file && o->line == l->line && o->column == l->column &&
        !o->name)
      return o->outer;
  }
  return 0;
}

/* .loc file line column [, function_name LABEL, inlined_at file line column] */
static void read_loc(tkp_reader *r) {
  static const char inlined[] = "inlined_at", outer_mark[] = "@[";
  tkp_loc l = read_place(r);
  size_t rest = strcspn(r->at, "\n");
  const char *end = r->at + rest, *comment = strstr(r->at, "//");
  const char *at = strstr(r->at, inlined), *mark = strstr(r->at, outer_mark);
  if (at && at < end && (!comment || at < comment)) {
    r->at = at + sizeof inlined - 1;
    tkp_loc outer = read_place(r);
    outer.outer = outer_of(r, &outer);
    l.outer = (uint32_t)r->p->locs.n;
    TK_PUSH(r->arena, &r->p->locs, outer);
  } else if (mark && comment && comment < mark && mark < end) {
    l.outer = read_inlined(r, mark + sizeof outer_mark - 1, end);
  }
  r->loc = (uint32_t)r->p->locs.n;
  TK_PUSH(r->arena, &r->p->locs, l);
  skip_line(r);
}

/* ---- declarations ------------------------------------------------------- */

typedef struct declaration {
  const char *name;
  size_t len;
  uint8_t type;
  size_t align, bytes; /* of the whole */
  uint64_t regs;       /* %r<regs>; 0: one */
  bool open;           /* name[] */
} declaration;

/* .v4 .u64 .ptr .global .align 8: up to the name */
static void read_attributes(tkp_reader *r, declaration *d) {
  size_t parts = 1;
  int type = -1;
  for (tkp_skip(r); *r->at == '.'; tkp_skip(r)) {
    const char *w = ++r->at;
    size_t n = tkp_word(w);
    r->at += n;
    if (tkp_is(w, n, "align"))
      d->align = (size_t)tkp_count(r, 1 << 16, "an alignment");
    else if (tkp_is(w, n, "v2") || tkp_is(w, n, "v4"))
      parts = (size_t)(w[1] - '0');
    else if (tkp_is(w, n, "attribute"))
      tkp_skip(r), *r->at == '(' ? skip_pair(r, '(', ')') : (void)0;
    else if (tk_asm_type_named(w, n) >= 0)
      type = tk_asm_type_named(w, n);
    else if (!tk_has_word("ptr global shared const local param generic", w, n))
      tkp_fail(r, w - 1, w + n, NULL, "expected a type such as .b32");
  }
  if (type < 0)
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL,
             "expected a type such as .b32");
  d->type = (uint8_t)type;
  d->bytes = parts * (tk_asm_types[type].bits + 7u) / 8;
  if (!d->align) d->align = d->bytes;
}

static void read_declared(tkp_reader *r, declaration *d) {
  tkp_skip(r);
  d->name = r->at;
  d->len = tkp_word(r->at);
  d->regs = 0;
  if (!d->len)
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected a name");
  r->at += d->len;
  if (tkp_take(r, '<')) {
    d->regs = tkp_count(r, MAX_REGS, "a number of registers");
    tkp_need(r, '>', "the number of registers");
  }
  while (tkp_take(r, '[')) {
    d->open |= tkp_take(r, ']');
    if (d->open) continue;
    d->bytes *= (size_t)tkp_count(r, MAX_GLOBAL, "a number of elements");
    tkp_need(r, ']', "the number of elements");
    if (d->bytes > MAX_GLOBAL)
      tkp_fail(r, d->name, r->at, NULL, "this is more than %d bytes",
               MAX_GLOBAL);
  }
}

/* .reg .b32 %a, %r<100>; */
static void read_registers(tkp_reader *r) {
  declaration d = {0};
  read_attributes(r, &d);
  const tk_asm_type_info *t = &tk_asm_types[d.type];
  if (t->bits > 64) tkp_refuse(r, r->at, r->at + 1, "registers of 128 bits");
  do {
    read_declared(r, &d);
    tkp_name *n =
        tkp_declare(r, d.name, d.len, d.regs ? TKP_N_REGS : TKP_N_REG);
    n->bits = t->bits;
    n->count = (uint32_t)d.regs;
    if (d.regs)
      n->regs = TK_NEWN(r->arena, tkp_reg, d.regs);
    else
      n->reg = tkp_new_reg(r, t->bits);
  } while (tkp_take(r, ','));
  tkp_need(r, ';', "the registers");
}

static uint64_t room_for(tkp_reader *r, size_t *used, const declaration *d,
                         size_t limit) {
  size_t align = d->align ? d->align : 1;
  size_t at = (*used + align - 1) / align * align;
  if (d->bytes > limit || at > limit - d->bytes)
    tkp_fail(r, d->name, d->name + d->len, NULL,
             "with this there are more than %zu bytes", limit);
  *used = at + d->bytes;
  return at;
}

/* A number, a variable's address, or generic(variable). */
static uint64_t initial_value(tkp_reader *r, const declaration *d) {
  const tk_asm_type_info *t = &tk_asm_types[d->type];
  tkp_skip(r);
  const char *from = r->at;
  bool generic = !strncmp(from, "generic", 7) && tkp_word(from) == 7;
  if (generic) {
    r->at += 7;
    tkp_need(r, '(', "generic");
  }
  tkp_operand o;
  tkp_read_operand(r, &o);
  if (generic) tkp_need(r, ')', "the variable");
  if (o.kind == TKP_O_NUMBER) return tkp_number(r, &o, t->bits, t->kind);
  bool address = o.kind == TKP_O_NAME && o.name && o.name->kind == TKP_N_VAR &&
                 o.name->space == TKP_HOST && t->bits == 64;
  if (!address)
    tkp_refuse(r, from, r->at, "a variable that begins with this value");
  return o.name->value + o.value;
}

static void read_initial(tkp_reader *r, const declaration *d, char *to) {
  size_t size = (tk_asm_types[d->type].bits + 7u) / 8, at = 0, depth = 0;
  do {
    while (tkp_take(r, '{')) depth++;
    if (depth && tkp_take(r, '}')) {
      depth--;
      continue;
    }
    uint64_t v = initial_value(r, d);
    if (at + size > d->bytes)
      tkp_fail(r, d->name, d->name + d->len, NULL,
               "there are more values than the variable has room for");
    memcpy(to + at, &v, size);
    at += size;
    while (depth && tkp_take(r, '}')) depth--;
  } while (depth ? tkp_take(r, ',') : false);
  if (depth) tkp_need(r, '}', "the values");
}

static void own_range(tkp_reader *r, char *host, size_t size, const char *name,
                      bool writable) {
  tkp_range g = {(uint64_t)(uintptr_t)host, size, name, writable, NULL};
  TK_PUSH(r->arena, &r->p->ranges, g);
}

/* A variable of .global, .const, .shared, .local, or a .param of a call. */
static void read_variable(tkp_reader *r, const char *space, size_t n) {
  declaration d = {0};
  read_attributes(r, &d);
  size_t each = d.bytes;
  do {
    d.bytes = each;
    read_declared(r, &d);
    tkp_name *v = tkp_declare(r, d.name, d.len, TKP_N_VAR);
    v->size = d.bytes;
    if (tkp_is(space, n, "shared")) {
      v->space = TKP_SHARED;
      r->p->dynamic |= d.open;
      v->value =
          d.open ? TKP_DYNAMIC_SHARED : room_for(r, &r->shared, &d, MAX_SHARED);
    } else if (tkp_is(space, n, "local") || tkp_is(space, n, "param")) {
      v->space = TKP_LOCAL;
      v->value = room_for(r, &r->local, &d, MAX_LOCAL);
    } else {
      char *host = tk_arena_alloc(r->arena, d.bytes + 1);
      v->space = TKP_HOST;
      v->value = (uint64_t)(uintptr_t)host;
      own_range(r, host, d.bytes, tk_arena_strndup(r->arena, d.name, d.len),
                tkp_is(space, n, "global"));
      if (tkp_take(r, '=')) read_initial(r, &d, host);
    }
  } while (tkp_take(r, ','));
  tkp_need(r, ';', "the variable");
}

/* ---- statements --------------------------------------------------------- */

/* name: .branchtargets a, b; */
static bool read_targets(tkp_reader *r, tkp_name *n) {
  static const char word[] = ".branchtargets";
  tkp_skip(r);
  if (strncmp(r->at, word, sizeof word - 1)) return false;
  r->at += sizeof word - 1;
  TK_VEC(tk_span) labels = {0};
  do {
    tkp_skip(r);
    size_t len = tkp_word(r->at);
    uint32_t lo = (uint32_t)(r->at - r->text);
    tk_span at = {lo, lo + (uint32_t)len};
    TK_PUSH(r->arena, &labels, at);
    r->at += len;
  } while (tkp_take(r, ','));
  tkp_need(r, ';', "the labels");
  n->kind = TKP_N_LIST;
  n->labels = labels.items;
  n->count = (uint32_t)labels.n;
  return true;
}

static void read_label(tkp_reader *r, size_t len) {
  tkp_name *n = tkp_declare(r, r->at, len, TKP_N_LABEL);
  r->at += len;
  tkp_need(r, ':', "a label");
  n->value = r->k->code.n;
  read_targets(r, n);
}

static void read_directive(tkp_reader *r) {
  const char *w = r->at + 1;
  size_t n = tkp_word(w);
  r->at += 1 + n;
  if (tkp_is(w, n, "loc"))
    read_loc(r);
  else if (tkp_is(w, n, "reg"))
    read_registers(r);
  else if (tk_has_word("local shared param global const", w, n))
    read_variable(r, w, n);
  else if (tkp_is(w, n, "pragma"))
    r->at += strcspn(r->at, ";");
  else
    tkp_refuse(r, w - 1, w + n, ".%.*s is not read by the PTX interpreter",
               (int)n, w);
}

static void read_guarded(tkp_reader *r) {
  bool guard_not = tkp_take(r, '!');
  tkp_skip(r);
  const char *from = r->at;
  size_t n = tkp_word(from);
  tkp_reg p = tkp_reg_named(r, from, n);
  if (p.bits != 1) tkp_fail(r, from, from + n, NULL, "expected a predicate");
  r->at += n;
  tkp_skip(r);
  tkp_instruction(r, &p, guard_not);
}

static bool label_follows(tkp_reader *r, size_t len) {
  const char *p = r->at + len;
  while (isspace((unsigned char)*p)) p++;
  return len && p[0] == ':' && p[1] != ':';
}

/* Up to the brace that closes the block, or the end. */
static void read_statements(tkp_reader *r) {
  uint32_t outer = r->depth;
  for (;;) {
    tkp_skip(r);
    if (r->k->code.n > MAX_CODE)
      tkp_fail(r, r->at, r->at + 1, NULL,
               "the kernel has more than %d instructions", MAX_CODE);
    if (!*r->at) tkp_fail(r, r->at, r->at, NULL, "the text ends in a function");
    if (tkp_take(r, '{')) {
      tkp_open_scope(r);
    } else if (tkp_take(r, '}')) {
      if (r->depth == outer) return;
      tkp_close_scope(r);
    } else if (*r->at == '.') {
      read_directive(r);
    } else if (tkp_take(r, '@')) {
      read_guarded(r);
    } else if (label_follows(r, tkp_word(r->at))) {
      read_label(r, tkp_word(r->at));
    } else if (!tkp_take(r, ';')) {
      tkp_instruction(r, NULL, false);
    }
  }
}

/* ---- functions ---------------------------------------------------------- */

/* A formal parameter of a function: what the caller gave. */
static void bind_formal(tkp_reader *r, const tkp_operand *actual) {
  tkp_skip(r);
  const char *from = r->at;
  bool reg = !strncmp(from, ".reg", 4), param = !strncmp(from, ".param", 6);
  if (!reg && !param)
    tkp_fail(r, from, from + (*from != 0), NULL, "expected .param or .reg");
  declaration d = {0};
  r->at += reg ? 4 : 6;
  read_attributes(r, &d);
  read_declared(r, &d);
  bool fits = reg ? actual->kind == TKP_O_REG
                  : actual->kind == TKP_O_NAME && actual->name &&
                        actual->name->kind == TKP_N_VAR;
  if (!fits)
    tkp_refuse(r, actual->from, actual->to,
               "a call with %s for a parameter that is declared .%s",
               actual->kind == TKP_O_NUMBER ? "a number" : "this",
               reg ? "reg" : "param");
  tkp_name *n = tkp_declare(r, d.name, d.len, reg ? TKP_N_REG : TKP_N_VAR);
  if (reg) {
    n->bits = actual->reg.bits;
    n->reg = actual->reg;
    return;
  }
  n->space = actual->name->space;
  n->value = actual->name->value;
  n->size = actual->name->size;
}

static void bind_formals(tkp_reader *r, const tkp_operand *actuals,
                         const char *from, const char *to) {
  size_t i = 0;
  if (!tkp_take(r, '(')) return;
  if (!tkp_take(r, ')')) {
    do {
      if (i == actuals->nparts)
        tkp_fail(r, from, to, NULL, "the function takes more arguments");
      bind_formal(r, &actuals->parts[i++]);
    } while (tkp_take(r, ','));
    tkp_need(r, ')', "the parameters");
  }
  if (i != actuals->nparts)
    tkp_fail(r, from, to, NULL, "the function takes %zu arguments, not %zu", i,
             actuals->nparts);
}

/* The body of f is read here, with its parameters for the caller's. */
static void read_call(tkp_reader *r, tkp_name *f, const tkp_operand *results,
                      const tkp_operand *args, const char *from,
                      const char *to) {
  tkp_func *fn = f->func;
  if (!fn->body)
    tkp_refuse(r, from, to, "%.*s is declared but not in this file",
               (int)f->len, f->text);
  if (fn->open)
    tkp_refuse(r, from, to, "%.*s calls itself: recursion", (int)f->len,
               f->text);
  if (++r->calls > MAX_CALLS)
    tkp_refuse(r, from, to, "a kernel with more than %d calls", MAX_CALLS);
  const char *at = r->at;
  uint32_t loc = r->loc;
  bool called = r->called;
  tkp_returns returns = r->returns;
  fn->open = true;
  tkp_open_scope(r);
  r->at = fn->header;
  tkp_skip(r);
  if (*r->at == '(') bind_formals(r, results, from, to);
  tkp_skip(r);
  r->at += tkp_word(r->at);
  bind_formals(r, args, from, to);
  r->at = fn->body + 1;
  r->called = true;
  r->returns = (tkp_returns){0};
  read_statements(r);
  for (size_t i = 0; i < r->returns.n; i++)
    r->k->code.items[r->returns.items[i]].target = (uint32_t)r->k->code.n;
  tkp_close_scope(r);
  fn->open = false;
  r->returns = returns;
  r->called = called;
  r->at = at;
  r->loc = loc;
}

/* .reqntid 128, 1, 1: those that say how large a program is. */
static void read_sizes(tkp_reader *r, uint32_t sizes[3]) {
  sizes[0] = small_number(r);
  for (int i = 1; i < 3; i++) {
    sizes[i] = 1;
    if (tkp_take(r, ',')) sizes[i] = small_number(r);
  }
}

static void read_kernel_directives(tkp_reader *r) {
  uint32_t unused[3];
  for (tkp_skip(r); *r->at == '.'; tkp_skip(r)) {
    const char *w = ++r->at;
    size_t n = tkp_word(w);
    r->at += n;
    if (tkp_is(w, n, "reqntid"))
      read_sizes(r, r->k->reqntid);
    else if (tkp_is(w, n, "maxntid"))
      read_sizes(r, r->k->maxntid);
    else if (tk_has_word("minnctapersm maxnreg maxnctapersm maxclusterrank "
                         "reqnctapercluster",
                         w, n))
      read_sizes(r, unused);
    else if (tkp_is(w, n, "pragma"))
      r->at += strcspn(r->at, ";"), tkp_take(r, ';');
    else if (!tk_has_word("explicitcluster blocksareclusters noreturn", w, n))
      tkp_fail(r, w - 1, w + n, NULL, "expected the kernel's body");
  }
}

/* Where a kernel's next parameter is: LLVM also uses addresses of 32 bits. */
static uint64_t param_address(tkp_reader *r, const declaration *d) {
  uint64_t align = d->align > 16 ? d->align : 16;
  uint64_t at = (r->params + align - 1) / align * align;
  r->params = at + d->bytes;
  if (r->params > MAX_PARAMS)
    tkp_fail(r, d->name, d->name + d->len, NULL,
             "there are too many parameters");
  return TKP_PARAMS + at;
}

static void read_kernel_params(tkp_reader *r) {
  if (!tkp_take(r, '(') || tkp_take(r, ')')) return;
  do {
    declaration d = {0};
    tkp_skip(r);
    if (strncmp(r->at, ".param", 6))
      tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected .param");
    r->at += 6;
    read_attributes(r, &d);
    read_declared(r, &d);
    tkp_name *n = tkp_declare(r, d.name, d.len, TKP_N_VAR);
    tkp_param p = {d.bytes, tk_arena_alloc(r->arena, d.bytes + 1)};
    n->space = TKP_HOST;
    n->value = param_address(r, &d);
    n->size = d.bytes;
    n->formal = true;
    TK_PUSH(r->arena, &r->k->params, p);
    tkp_range g = {n->value, p.size, tk_arena_strndup(r->arena, d.name, d.len),
                   false, (uint8_t *)p.host};
    TK_PUSH(r->arena, &r->p->ranges, g);
  } while (tkp_take(r, ','));
  tkp_need(r, ')', "the parameters");
}

static void read_kernel(tkp_reader *r, tkp_name *f) {
  tkp_kernel *k = TK_NEW(r->arena, tkp_kernel);
  uint32_t lo = (uint32_t)(f->text - r->text);
  size_t shared = r->shared;
  k->name = tk_arena_strndup(r->arena, f->text, f->len);
  k->span = (tk_span){lo, lo + (uint32_t)f->len};
  r->k = k;
  r->local = 0;
  r->loc = 0;
  r->calls = 0;
  r->fixups.n = 0;
  r->next_constant.n = 0;
  memset(r->first_constant, 0, sizeof r->first_constant);
  tkp_open_scope(r);
  r->at = f->func->header + f->len;
  read_kernel_params(r);
  read_kernel_directives(r);
  tkp_need(r, '{', "the kernel's parameters");
  f->func->open = true;
  read_statements(r);
  f->func->open = false;
  tkp_close_scope(r);
  if (r->fixups.n) tkp_no_label(r, r->fixups.items[0].label);
  tkp_end(r);
  k->shared = r->shared;
  k->local = r->local;
  r->shared = shared;
  TK_PUSH(r->arena, &r->p->kernels, k);
}

/* The first time: where it is. */
static void note_function(tkp_reader *r, bool kernel) {
  tkp_skip(r);
  const char *header = r->at;
  if (*r->at == '(') skip_pair(r, '(', ')');
  tkp_skip(r);
  size_t len = tkp_word(r->at);
  if (!len)
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL,
             "expected the name of a function");
  tkp_name *f = tkp_find(r, r->at, len);
  if (!f || f->kind != TKP_N_FUNC) {
    f = tkp_declare(r, r->at, len, TKP_N_FUNC);
    f->func = TK_NEW(r->arena, tkp_func);
    f->func->header = header;
  }
  f->func->kernel = kernel;
  r->at += len;
  tkp_skip(r);
  if (*r->at == '(') skip_pair(r, '(', ')');
  tkp_skip(r);
  while (*r->at && *r->at != '{' && *r->at != ';') r->at++, tkp_skip(r);
  if (tkp_take(r, ';')) return;
  if (f->func->body)
    tkp_fail(r, f->text, f->text + len, NULL, "%.*s has two bodies", (int)len,
             f->text);
  f->func->header = header;
  f->func->body = r->at;
  skip_pair(r, '{', '}');
}

/* ---- the file ----------------------------------------------------------- */

static void read_module_directive(tkp_reader *r) {
  const char *w = r->at + 1;
  size_t n = tkp_word(w);
  r->at += 1 + n;
  if (tk_has_word("version target address_size loc", w, n))
    skip_line(r);
  else if (tkp_is(w, n, "file"))
    read_file(r);
  else if (tkp_is(w, n, "section"))
    r->at += strcspn(r->at, "{"),
        *r->at == '{' ? skip_pair(r, '{', '}') : (void)0;
  else if (tk_has_word("global const shared", w, n))
    read_variable(r, w, n);
  else if (tkp_is(w, n, "entry") || tkp_is(w, n, "func"))
    note_function(r, *w == 'e');
  else if (tk_has_word("pragma alias callprototype", w, n))
    r->at += strcspn(r->at, ";"), tkp_take(r, ';');
  else if (!tk_has_word("visible extern weak common noreturn", w, n))
    tkp_fail(r, w - 1, w + n, NULL,
             "expected a directive such as .visible, .entry or .shared");
}

static void read_module(tkp_reader *r) {
  for (tkp_skip(r); *r->at; tkp_skip(r)) {
    if (*r->at != '.')
      tkp_fail(r, r->at, r->at + 1, NULL,
               "expected a directive such as .visible, .entry or .shared");
    read_module_directive(r);
  }
  if (r->at != r->text + r->p->src->len)
    tkp_fail(r, r->at, r->at + 1, NULL, "the text has a zero byte");
  size_t n = 0;
  for (tkp_name *f = r->names; f; f = f->outer)
    n += f->kind == TKP_N_FUNC && f->func->kernel && f->func->body;
  tkp_name **kernels = TK_NEWN(r->arena, tkp_name *, n + 1);
  size_t i = n;
  for (tkp_name *f = r->names; f; f = f->outer)
    if (f->kind == TKP_N_FUNC && f->func->kernel && f->func->body)
      kernels[--i] = f;
  for (i = 0; i < n; i++) read_kernel(r, kernels[i]);
  if (!n) tkp_fail(r, r->at, r->at, NULL, "there is no .entry in this file");
}

tkp_program *tkp_parse(tk_arena *a, const char *name, const char *text,
                       size_t size) {
  tkp_program *p = TK_NEW(a, tkp_program);
  tkp_reader *r = TK_NEW(a, tkp_reader);
  p->arena = a;
  p->src = tk_source_new(a, name, text, size);
  TK_PUSH(a, &p->locs, (tkp_loc){0});
  r->arena = a;
  r->p = p;
  r->text = r->at = p->src->text;
  r->call = read_call;
  read_module(r);
  return p;
}

bool tkp_entry(const tkp_program *p, size_t i, tkp_entry_info *info) {
  if (i >= p->kernels.n) return false;
  const tkp_kernel *k = p->kernels.items[i];
  *info = (tkp_entry_info){.name = k->name,
                           .nparams = k->params.n,
                           .shared = k->shared,
                           .registers = k->nregs,
                           .dynamic = p->dynamic};
  memcpy(info->threads, k->reqntid, sizeof info->threads);
  return true;
}

size_t tkp_param_size(const tkp_program *p, size_t i, size_t k) {
  if (i >= p->kernels.n || k >= p->kernels.items[i]->params.n) return 0;
  return p->kernels.items[i]->params.items[k].size;
}
