/* parse.c - programs from text; the grammar is in docs/ir.md.
 *
 * A recursive descent over the text, without a lexer of its own: a word, a
 * number, a name or a sign is read where the grammar wants one, and what
 * stands there instead is reported with a caret.  Sources are read first,
 * since places in them are lines and columns; functions may name functions
 * that stand further down, so all headers are made before the first
 * body. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/text.h"

typedef struct named_source {
  int number;
  const tk_source *src;
} named_source;

/* A function's header, and where its body begins. */
typedef struct named_func {
  tk_func *func;
  uint32_t body;
  const char **params; /* names of its first slots */
} named_func;

typedef struct parser {
  tk_env *env;
  tk_arena *keep; /* what reports need */
  tk_arena *arena;
  tk_program *p;
  const tk_source *text;
  uint32_t at;
  TK_VEC(named_source) sources;
  TK_VEC(named_func) funcs;
  tk_lookup func_names; /* numbers of funcs */
  tk_func *f;           /* the function that is read */
  tk_lookup names;      /* of its slots, in order */
  tk_lookup arg_names;  /* of the kernel's arguments, in order */
  tk_span stmt;
  tk_span list; /* the last list of numbers, */
  int nlist;    /* and how many they are; -1: none since the operands */
  int depth;    /* of what is read inside each other */
  struct reading *reading; /* the instruction that is read */
  TK_VEC(tk_span) insts;   /* where the text has each, by number */
  TK_VEC(tk_span) stmts;
} parser;

/* ---- failing, characters, words ------------------------------------------ */

static void bad_text(parser *r, uint32_t lo, uint32_t hi, const char *help,
                     const char *fmt, ...) TK_PRINTF(5, 6) TK_NORETURN;
static void bad_text(parser *r, uint32_t lo, uint32_t hi, const char *help,
                     const char *fmt, ...) {
  if (hi <= lo) hi = lo + (lo < r->text->len);
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d =
      tk_diag_vadd(r->env, TK_D_SYNTAX, r->text, (tk_span){lo, hi}, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(r->env, d, "%s", help);
  tk_throw(r->env, TK_USAGE);
}

/* Statements, bodies of conds and types stand in each other only so deep, so
 * that neither the parser nor who walks the form runs out of stack. */
enum { MOST_NESTED = 200 };

static void enter_nested(parser *r) {
  if (++r->depth > MOST_NESTED)
    bad_text(r, r->at, r->at + 1, NULL, "this is nested more than %d deep",
             MOST_NESTED);
}

static const char *here(const parser *r) {
  return r->text->text + r->at;
}

/* Blanks, line ends and comments. */
static void skip_blanks(parser *r) {
  for (;;) {
    while (isspace((unsigned char)*here(r))) r->at++;
    if (here(r)[0] != '/' || here(r)[1] != '/') return;
    while (*here(r) && *here(r) != '\n') r->at++;
  }
}

static bool is_name_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '<' ||
         c == '>' || (unsigned char)c >= 0x80;
}

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '-' ||
         (unsigned char)c >= 0x80;
}

static uint32_t word_length(const parser *r) {
  uint32_t n = 0;
  while (is_word_byte(here(r)[n])) n++;
  return n;
}

/* A sign, or a whole word. */
static bool take_sign(parser *r, const char *sign) {
  skip_blanks(r);
  size_t n = strlen(sign);
  if (strncmp(here(r), sign, n) != 0) return false;
  if (isalpha((unsigned char)*sign) && word_length(r) != n) return false;
  r->at += (uint32_t)n;
  return true;
}

static void need_sign(parser *r, const char *sign, const char *after) {
  if (take_sign(r, sign)) return;
  uint32_t n = word_length(r);
  bad_text(r, r->at, r->at + (n ? n : 1), NULL, "expected '%s' after %s", sign,
           after);
}

static const char *need_word(parser *r, const char *what) {
  skip_blanks(r);
  uint32_t n = word_length(r);
  if (!n) bad_text(r, r->at, r->at + 1, NULL, "expected %s", what);
  r->at += n;
  return tk_arena_strndup(r->arena, here(r) - n, n);
}

static int64_t need_int(parser *r, int64_t lo, int64_t hi, const char *what) {
  skip_blanks(r);
  char *end;
  bool hex = here(r)[0] == '0' && here(r)[1] == 'x';
  const char *digits = here(r) + (*here(r) == '-');
  if (!isdigit((unsigned char)*digits))
    bad_text(r, r->at, r->at + 1, NULL, "expected %s, a number", what);
  errno = 0;
  int64_t v = hex ? (int64_t)strtoull(here(r), &end, 16)
                  : (int64_t)strtoll(here(r), &end, 10);
  uint32_t n = (uint32_t)(end - here(r));
  if (errno == ERANGE)
    bad_text(r, r->at, r->at + n, NULL, "%s has more than 64 bits", what);
  if (v < lo || v > hi)
    bad_text(r, r->at, r->at + n, NULL, "%s must be from %lld to %lld", what,
             (long long)lo, (long long)hi);
  r->at += n;
  return v;
}

/* A text in quotes; it may hold any byte. */
static const char *need_quoted(parser *r, size_t *n, const char *what) {
  need_sign(r, "\"", what);
  uint32_t start = r->at;
  while (*here(r) && *here(r) != '"')
    r->at += here(r)[0] == '\\' && here(r)[1] ? 2 : 1;
  if (!*here(r)) bad_text(r, start - 1, start, NULL, "this \" is never closed");
  char *out = tk_arena_alloc(r->arena, r->at - start + 1);
  *n = 0;
  for (const char *p = r->text->text + start; p < here(r); p++) {
    char c = *p;
    if (c == '\\' && p[1] == 'x' && tk_hex_digit(p[2]) >= 0 &&
        tk_hex_digit(p[3]) >= 0) {
      c = (char)(tk_hex_digit(p[2]) * 16 + tk_hex_digit(p[3]));
      p += 3;
    } else if (c == '\\') {
      c = *++p == 'n' ? '\n' : *p;
    }
    out[(*n)++] = c;
  }
  out[*n] = 0;
  r->at++;
  return out;
}

/* The name after a % or @, with its #2. */
static const char *need_name(parser *r, const char *sign, const char *what) {
  skip_blanks(r);
  uint32_t start = r->at;
  if (strncmp(here(r), sign, 1) != 0)
    bad_text(r, start, start + 1, NULL, "expected %s: a name with %s before it",
             what, sign);
  r->at++;
  while (is_name_byte(*here(r))) r->at++;
  if (*here(r) == '#') do
      r->at++;
    while (isdigit((unsigned char)*here(r)));
  if (r->at == start + 1)
    bad_text(r, start, start + 1, NULL, "expected a name after %s", sign);
  return tk_arena_strndup(r->arena, r->text->text + start + 1,
                          r->at - start - 1);
}

/* ---- types -------------------------------------------------------------- */

static tk_type need_type(parser *r);

static tk_type pointer_type(parser *r, bool is_const) {
  need_sign(r, "<", "a pointer");
  tk_type t = need_type(r);
  need_sign(r, ">", "what a pointer points to");
  if (t.rank) {
    t.to_block = true;
  }
  t.ptr++;
  t.is_const |= is_const;
  return t;
}

static tk_type block_type(parser *r) {
  tk_type t = {.rank = 0};
  int32_t shape[TK_MAX_RANK];
  int rank = 0;
  int64_t lanes = 1;
  uint32_t start = r->at;
  need_sign(r, "[", "'<'");
  while (!take_sign(r, "]")) {
    if (rank == TK_MAX_RANK)
      bad_text(r, start, r->at, NULL, "a block has at most %d axes",
               TK_MAX_RANK);
    if (rank) need_sign(r, ",", "the size of an axis");
    shape[rank] = (int32_t)need_int(r, 1, TK_MAX_NUMEL, "the size of an axis");
    lanes *= shape[rank++];
    if (lanes > TK_MAX_NUMEL)
      bad_text(r, start, r->at, NULL, "a block has at most %d lanes",
               TK_MAX_NUMEL);
  }
  need_sign(r, ",", "the shape of a block");
  t = need_type(r);
  if (t.rank || t.to_block)
    bad_text(r, start, r->at, NULL, "a block of blocks is not a type");
  need_sign(r, ">", "the element type of a block");
  t.rank = (uint8_t)rank;
  memcpy(t.shape, shape, sizeof shape);
  return t;
}

static tk_type need_named_type(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at, n = word_length(r);
  const char *name = tk_arena_strndup(r->arena, here(r), n);
  r->at += n;
  if (!strcmp(name, "pointer")) return pointer_type(r, false);
  if (!strcmp(name, "const_pointer")) return pointer_type(r, true);
  int d = tk_dtype_from_name(name);
  if (d < 0)
    bad_text(r, start, start + n, "as in fp32, pointer<int8>, <[16, 32], fp16>",
             "'%s' is not a type", name);
  return tk_scalar((tk_dtype)d);
}

static tk_type need_type(parser *r) {
  enter_nested(r);
  tk_type t = take_sign(r, "<") ? block_type(r) : need_named_type(r);
  r->depth--;
  return t;
}

/* ---- places in sources --------------------------------------------------- */

static uint32_t offset_of(parser *r, uint32_t start, int64_t line,
                          int64_t column) {
  const tk_source *s = r->f->src;
  if (line > s->nlines)
    bad_text(r, start, r->at, NULL, "the source has no line %lld",
             (long long)line);
  int64_t at = (int64_t)s->lines[line - 1] + column - 1;
  if (at > s->len)
    bad_text(r, start, r->at, NULL, "the source ends before this place");
  return (uint32_t)at;
}

/* LINE:COLUMN-COLUMN or LINE:COLUMN-LINE:COLUMN, behind `at`. */
static tk_span need_place(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  int64_t line = need_int(r, 1, INT32_MAX, "a line");
  need_sign(r, ":", "a line");
  int64_t column = need_int(r, 1, INT32_MAX, "a column");
  need_sign(r, "-", "a place");
  int64_t end = line, last = need_int(r, 1, INT32_MAX, "a column");
  if (take_sign(r, ":")) {
    end = last;
    last = need_int(r, 1, INT32_MAX, "a column");
  }
  tk_span at = {offset_of(r, start, line, column),
                offset_of(r, start, end, last)};
  if (at.hi < at.lo)
    bad_text(r, start, r->at, NULL, "this place ends before it begins");
  return at;
}

/* How many bytes the lines that begin with | have, with one for each end. */
static size_t lines_length(const parser *r) {
  const char *p = here(r);
  size_t n = 0;
  while (*p == '|') {
    size_t line = strcspn(p, "\n");
    n += line + 1;
    p += line + (p[line] == '\n');
  }
  return n;
}

/* source N "name" from LINE, then lines that begin with |: lines before the
 * first are taken to be empty. */
static void read_source(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  int number = (int)need_int(r, 0, 1000000, "the number of a source");
  size_t n;
  for (size_t i = 0; i < r->sources.n; i++)
    if (r->sources.items[i].number == number)
      bad_text(r, start, r->at, NULL, "there are two sources %d", number);
  const char *name = need_quoted(r, &n, "the number of a source");
  need_sign(r, "from", "the name of a source");
  size_t first = (size_t)need_int(r, 1, 10000000, "the first line of a source");
  size_t len = first - 1;
  skip_blanks(r);
  char *text = tk_arena_alloc(r->keep, len + lines_length(r) + 1);
  memset(text, '\n', len);
  for (; *here(r) == '|'; r->at += *here(r) == '\n') {
    r->at++;
    while (*here(r) && *here(r) != '\n') text[len++] = r->text->text[r->at++];
    text[len++] = '\n';
  }
  text[len] = 0;
  const tk_source *src =
      tk_source_new(r->keep, tk_arena_strdup(r->keep, name), text, len);
  TK_PUSH(r->arena, &r->sources, ((named_source){number, src}));
}

/* A source stands at the beginning of a line, behind all functions. */
static void read_sources(parser *r) {
  const char *text = r->text->text;
  for (const char *p = text; (p = strstr(p, "\nsource ")); p++) {
    r->at = (uint32_t)(p - text) + 8;
    read_source(r);
  }
  r->at = 0;
}

static const tk_source *need_source(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  int number = (int)need_int(r, 0, 1000000, "the number of a source");
  for (size_t i = 0; i < r->sources.n; i++)
    if (r->sources.items[i].number == number) return r->sources.items[i].src;
  bad_text(r, start, r->at,
           "sources are listed after the functions: source 0 \"kernel.py\" "
           "from 1",
           "there is no source %d", number);
}

/* ---- slots and functions ------------------------------------------------- */

/* A name's number is that of its entry. */
static void add_name(parser *r, tk_lookup *t, const char *name) {
  tk_lookup_add(r->arena, t, name, (int)t->list.n);
}

/* A new slot: names that are numbers are temporaries. */
static int add_slot(parser *r, const char *name, tk_type t) {
  const char *shown = NULL;
  if (!isdigit((unsigned char)*name))
    shown = tk_arena_strndup(r->arena, name, strcspn(name, "#"));
  add_name(r, &r->names, name);
  return tk_slot_new(r->p, r->f, t, shown);
}

static int need_slot(parser *r, const char *what) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_name(r, "%", what);
  int slot = tk_lookup_find(&r->names, name);
  if (slot >= 0) return slot;
  tk_nearest near = tk_nearest_start(name);
  for (size_t i = 0; i < r->names.list.n; i++)
    tk_nearest_try(&near, r->names.list.items[i].text);
  const char *best = tk_nearest_best(&near);
  bad_text(r, start, r->at,
           best ? tk_arena_printf(r->arena, "did you mean %%%s?", best)
                : "parameters, 'var' lines and results of instructions define "
                  "names",
           "%%%s is not defined before this", name);
}

static tk_func *need_func(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_name(r, "@", "a function");
  int found = tk_lookup_find(&r->func_names, name);
  if (found >= 0) return r->funcs.items[found].func;
  bad_text(r, start, r->at, NULL, "there is no function @%s", name);
}

/* ---- attributes ---------------------------------------------------------- */

static int64_t word_value(parser *r, tk_list list) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *word = need_word(r, "a word"), *name;
  int64_t found = tk_list_find(list, word);
  if (found >= 0) return found;
  tk_nearest near = tk_nearest_start(word);
  for (int64_t i = 0; (name = tk_list_word(list, i)); i++)
    tk_nearest_try(&near, name);
  const char *best = tk_nearest_best(&near);
  bad_text(r, start, r->at,
           best ? tk_arena_printf(r->arena, "did you mean %s?", best) : NULL,
           "'%s' is not one of the values of this attribute", word);
}

static int64_t function_value(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *word = need_word(r, "a function of libdevice");
  for (size_t i = 0; tk_extern_at(i); i++)
    if (!strcmp(tk_extern_at(i)->name, word)) return (int64_t)i;
  bad_text(r, start, r->at, NULL, "libdevice has no function '%s'", word);
}

/* As many numbers as the type that follows has axes. */
static void read_list(parser *r, int64_t *out) {
  int n = 0;
  skip_blanks(r);
  uint32_t start = r->at;
  need_sign(r, "[", "'='");
  while (!take_sign(r, "]")) {
    if (n) need_sign(r, ",", "a number");
    if (n == TK_MAX_RANK)
      bad_text(r, r->at, r->at, NULL, "there are at most %d axes", TK_MAX_RANK);
    out[n++] = need_int(r, INT64_MIN, INT64_MAX, "a number");
  }
  r->list = (tk_span){start, r->at};
  r->nlist = n;
}

static void read_attr(parser *r, tk_inst *in, const tk_attr_info *a) {
  int64_t v = 0;
  switch (a->kind) {
  case TK_ATTR_INT:
  case TK_ATTR_BITS: v = need_int(r, INT64_MIN, INT64_MAX, a->name); break;
  case TK_ATTR_AXIS: v = need_int(r, 0, TK_MAX_RANK - 1, a->name); break;
  case TK_ATTR_FLAG:
    v = take_sign(r, "true");
    if (!v && !take_sign(r, "false"))
      bad_text(r, r->at, r->at + 1, NULL, "%s is true or false", a->name);
    break;
  case TK_ATTR_AXES:
  case TK_ATTR_VALUES: read_list(r, in->attr); return;
  case TK_ATTR_FUNCTION: v = function_value(r); break;
  case TK_ATTR_WORD: v = word_value(r, a->list); break;
  }
  if (a->at == TK_AT_MODE && (v < 0 || v > 255))
    bad_text(r, r->at, r->at, NULL, "%s must be from 0 to 255", a->name);
  tk_inst_put(in, a, v);
}

static const tk_attr_info *need_attr(parser *r, tk_opcode op) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_word(r, "an attribute");
  const tk_attr_info *a;
  tk_nearest near = tk_nearest_start(name);
  for (size_t i = 0; (a = tk_inst_attr(op, i)); i++) {
    if (!strcmp(a->name, name)) return a;
    tk_nearest_try(&near, a->name);
  }
  const char *best = tk_nearest_best(&near);
  bad_text(r, start, r->at,
           best ? tk_arena_printf(r->arena, "did you mean %s?", best) : NULL,
           "%s has no attribute '%s'", tk_inst_name(op), name);
}

static void read_attrs(parser *r, tk_inst *in) {
  uint32_t mark = r->at;
  if (!take_sign(r, "{")) return;
  if (in->op == TK_I_COND) { /* a body */
    r->at = mark;
    return;
  }
  bool first = true;
  while (!take_sign(r, "}")) {
    if (!first) need_sign(r, ",", "an attribute");
    first = false;
    const tk_attr_info *a = need_attr(r, (tk_opcode)in->op);
    need_sign(r, "=", "the name of an attribute");
    read_attr(r, in, a);
  }
}

/* ---- instructions -------------------------------------------------------- */

/* An instruction while it is read. */
typedef struct reading {
  tk_opcode op;
  uint32_t start; /* of its name */
  uint8_t has;
  TK_VEC(int) args;
  TK_VEC(const char *) res;
  tk_inst *in;
} reading;

static void add_operand(parser *r, reading *x, int slot) {
  TK_PUSH(r->arena, &x->args, slot);
}

static tk_opcode need_opcode(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_word(r, "an instruction");
  tk_nearest near = tk_nearest_start(name);
  for (int i = 0; i < TK_INST_COUNT; i++) {
    if (!strcmp(tk_inst_name((tk_opcode)i), name)) return (tk_opcode)i;
    tk_nearest_try(&near, tk_inst_name((tk_opcode)i));
  }
  const char *best = tk_nearest_best(&near);
  bad_text(r, start, r->at,
           best ? tk_arena_printf(r->arena, "did you mean %s?", best) : NULL,
           "'%s' is not an instruction", name);
}

/* The k-th operand of the row; false: an optional one that is not there. */
static bool read_operand(parser *r, reading *x, const tk_operand_info *o,
                         int k) {
  if (o->optional) {
    uint32_t mark = r->at;
    if (x->args.n && !take_sign(r, ",")) return false;
    if (!take_sign(r, o->name) || !take_sign(r, "=")) {
      r->at = mark;
      return false;
    }
  } else if (x->args.n) {
    need_sign(r, ",", "an operand");
  }
  add_operand(r, x, need_slot(r, o->name));
  x->has |= (uint8_t)(1u << k);
  return true;
}

static void read_operands(parser *r, reading *x) {
  const tk_inst_info *row = tk_inst_info_of(x->op);
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    if (!row->operands[k].many) {
      read_operand(r, x, &row->operands[k], k);
      continue;
    }
    skip_blanks(r);
    if (row->ref == TK_REF_FORMAT || *here(r) != '%') continue;
    do add_operand(r, x, need_slot(r, row->operands[k].name));
    while (take_sign(r, ","));
    x->has = (uint8_t)((1u << (x->args.n < 8 ? x->args.n : 8)) - 1);
  }
}

static tk_piece read_piece(parser *r) {
  tk_piece x = {.text = NULL};
  size_t n;
  skip_blanks(r);
  if (*here(r) == '"') {
    x.text = need_quoted(r, &x.len, "'['");
    return x;
  }
  x.slot = need_slot(r, "a text or a value");
  x.type = r->f->slots[x.slot].type;
  if (take_sign(r, ":")) x.spec = need_quoted(r, &n, "':'");
  x.repr = take_sign(r, "!");
  return x;
}

static void read_where(parser *r, tk_format *f) {
  size_t n;
  skip_blanks(r);
  uint32_t start = r->at;
  f->where = need_quoted(r, &n, "'where'");
  if (!tk_pids_parse(r->env, f->where, n, &f->conds))
    bad_text(r, start, r->at, NULL, "this is not a program condition");
  need_sign(r, "of", "a program condition");
  for (int i = 0; i < 3; i++) {
    if (i) need_sign(r, ",", "a program index");
    if (!take_sign(r, "-")) f->pid_slots[i] = need_slot(r, "a program index");
  }
}

/* hex pids where "..." of -, -, - [pieces]; its operands follow from it. */
static const tk_format *read_format(parser *r, reading *x) {
  tk_format *f = TK_NEW(r->arena, tk_format);
  TK_VEC(tk_piece) pieces = {0};
  *f = (tk_format){.pid_slots = {-1, -1, -1}};
  f->hex = take_sign(r, "hex");
  f->pids = take_sign(r, "pids");
  if (take_sign(r, "where")) read_where(r, f);
  need_sign(r, "[", "what is printed");
  for (bool first = true; !take_sign(r, "]"); first = false) {
    if (!first) need_sign(r, ",", "a piece");
    TK_PUSH(r->arena, &pieces, read_piece(r));
  }
  f->pieces = pieces.items;
  f->n = pieces.n;
  for (int i = 0; i < 3; i++)
    if (f->pid_slots[i] >= 0) add_operand(r, x, f->pid_slots[i]);
  for (size_t i = 0; i < f->n; i++)
    if (!f->pieces[i].text) add_operand(r, x, f->pieces[i].slot);
  x->has = (uint8_t)((1u << (x->args.n < 8 ? x->args.n : 8)) - 1);
  return f;
}

static const tk_combine *read_combine(parser *r) {
  tk_combine *c = TK_NEW(r->arena, tk_combine);
  TK_VEC(tk_func *) levels = {0};
  if (take_sign(r, "by")) do
      TK_PUSH(r->arena, &levels, need_func(r));
    while (take_sign(r, ","));
  c->levels = levels.items;
  c->nlevels = (int)levels.n;
  return c;
}

static const tk_asm *read_code(parser *r) {
  tk_asm *a = TK_NEW(r->arena, tk_asm);
  tk_asm_fault fault;
  size_t n;
  need_sign(r, "code", "the operands");
  skip_blanks(r);
  uint32_t start = r->at, end;
  const char *text = need_quoted(r, &n, "'code'");
  end = r->at;
  need_sign(r, "constraints", "the code");
  const char *constraints = need_quoted(r, &n, "'constraints'");
  need_sign(r, "pack", "the constraints");
  a->pack = (int)need_int(r, 1, 32, "pack");
  if (!tk_asm_constraints(r->arena, a, constraints, &fault) ||
      !tk_asm_read(r->arena, a, text, &fault))
    bad_text(r, start, end, fault.help, "inline assembly: %s", fault.message);
  return a;
}

static const void *read_ref(parser *r, reading *x) {
  switch (tk_inst_info_of(x->op)->ref) {
  case TK_REF_NONE: break;
  case TK_REF_CALLEE: return need_func(r);
  case TK_REF_COMBINE: return read_combine(r);
  case TK_REF_FORMAT: return read_format(r, x);
  case TK_REF_CODE: return read_code(r);
  }
  return NULL;
}

/* Parses the types after the colon; a result with a new name becomes a slot. */
static void read_types(parser *r, reading *x) {
  need_sign(r, ":", "an instruction");
  if (!x->res.n) x->in->type = need_type(r);
  for (size_t i = 0; i < x->res.n; i++) {
    if (i) need_sign(r, ",", "a type");
    skip_blanks(r);
    uint32_t start = r->at;
    tk_type t = need_type(r);
    int slot = tk_lookup_find(&r->names, x->res.items[i]);
    if (slot < 0 && !isdigit((unsigned char)*x->res.items[i]))
      bad_text(r, start, r->at, "declare it: var %name: type",
               "the variable %%%s is not declared", x->res.items[i]);
    if (slot < 0) slot = add_slot(r, x->res.items[i], t);
    if (!tk_same_type(&r->f->slots[slot].type, &t))
      bad_text(r, start, r->at, NULL, "%%%s has another type", x->res.items[i]);
    x->in->res[i] = slot;
    if (!i) x->in->type = t;
  }
  int rank = x->in->type.rank;
  if (!rank && x->op == TK_I_HINT) rank = 1; /* a scalar has one value */
  if (r->nlist >= 0 && r->nlist != rank)
    bad_text(r, r->list.lo, r->list.hi, NULL,
             "there must be a number for each of %d axes, not %d", rank,
             r->nlist);
  x->in->n = tk_numel(&x->in->type);
}

static void read_insts(parser *r, tk_insts *out);

static void read_results(parser *r, reading *x) {
  skip_blanks(r);
  if (*here(r) != '%') return;
  do {
    const char *name = need_name(r, "%", "a result");
    TK_PUSH(r->arena, &x->res, name);
  } while (take_sign(r, ","));
  need_sign(r, "=", "the results");
}

static tk_inst *read_inst(parser *r) {
  reading *x = r->reading;
  tk_inst staged = {.op = 0};
  x->args.n = x->res.n = 0;
  x->has = 0;
  r->nlist = -1;
  read_results(r, x);
  skip_blanks(r);
  x->start = r->at;
  x->op = need_opcode(r);
  staged.op = (uint8_t)x->op;
  read_operands(r, x);
  read_attrs(r, &staged);
  const void *ref = read_ref(r, x);
  if (x->args.n > TK_MOST_OPERANDS || x->res.n > TK_MOST_OPERANDS)
    bad_text(r, x->start, r->at, NULL,
             "an instruction has at most %d operands and as many results",
             TK_MOST_OPERANDS);
  tk_inst *in = x->in = tk_inst_new(r->p, x->op, x->args.n, x->res.n);
  TK_PUSH(r->arena, &r->insts, ((tk_span){x->start, r->at}));
  memcpy(in->attr, staged.attr, sizeof in->attr);
  if (in->nargs) memcpy(in->args, x->args.items, x->args.n * sizeof *in->args);
  in->mode = staged.mode;
  in->has = x->has;
  in->ref.any = ref;
  if (in->nargs) in->from = r->f->slots[in->args[0]].type;
  read_types(r, x);
  in->span = take_sign(r, "at") ? need_place(r) : r->stmt;
  if (x->op != TK_I_COND) return in;
  enter_nested(r);
  need_sign(r, "{", "the type of cond");
  read_insts(r, &in->body[0]);
  need_sign(r, "else", "the first body of cond");
  need_sign(r, "{", "'else'");
  read_insts(r, &in->body[1]);
  r->depth--;
  return in;
}

/* Up to the closing brace. */
static void read_insts(parser *r, tk_insts *out) {
  while (!take_sign(r, "}")) {
    if (!*here(r)) bad_text(r, r->at, r->at, NULL, "expected '}'");
    TK_PUSH(r->arena, out, read_inst(r));
  }
}

/* ---- statements ---------------------------------------------------------- */

static void read_body(parser *r, tk_body *out);

static void read_loop(parser *r, tk_stmt *st) {
  need_sign(r, "over", "the instructions of a for");
  st->iv = need_slot(r, "the variable of a for");
  need_sign(r, "=", "the variable of a for");
  st->lb = need_slot(r, "the lower bound");
  need_sign(r, ",", "the lower bound");
  st->ub = need_slot(r, "the upper bound");
  need_sign(r, ",", "the upper bound");
  st->step = need_slot(r, "the step");
  st->down = take_sign(r, "down");
  if (!take_sign(r, "with")) return;
  do {
    skip_blanks(r);
    uint32_t start = r->at;
    const char *name = need_word(r, "an option of a loop");
    int i = 0;
    while (i < TK_LOOP_WORDS && strcmp(tk_loop_words[i].name, name) != 0) i++;
    if (i == TK_LOOP_WORDS)
      bad_text(r, start, r->at, NULL, "a loop has no option '%s'", name);
    char *at = (char *)&st->loop + tk_loop_words[i].at;
    if (tk_loop_words[i].flag)
      *(bool *)at = true;
    else
      *(int64_t *)at = need_int(r, INT64_MIN, INT64_MAX, name);
  } while (take_sign(r, ","));
}

static void read_block(parser *r, tk_body *out) {
  enter_nested(r);
  need_sign(r, "{", "the head of a statement");
  read_body(r, out);
  r->depth--;
}

static void read_return(parser *r, tk_stmt *st) {
  TK_VEC(int) slots = {0};
  skip_blanks(r);
  if (*here(r) == '%') do
      TK_PUSH(r->arena, &slots, need_slot(r, "a result"));
    while (take_sign(r, ","));
  st->results = slots.items;
  st->nresults = slots.n;
}

static tk_stmt_kind need_kind(parser *r) {
  if (take_sign(r, "stmt")) return TK_S_RUN;
  if (take_sign(r, "if")) return TK_S_IF;
  if (take_sign(r, "for")) return TK_S_FOR;
  if (take_sign(r, "while")) return TK_S_WHILE;
  if (take_sign(r, "return")) return TK_S_RETURN;
  uint32_t n = word_length(r);
  bad_text(r, r->at, r->at + (n ? n : 1), NULL,
           "expected a statement: stmt, if, for, while or return");
}

static tk_stmt *read_stmt(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  tk_stmt_kind kind = need_kind(r);
  need_sign(r, "at", "the kind of a statement");
  tk_stmt *st = tk_stmt_new(r->p, kind, need_place(r));
  TK_PUSH(r->arena, &r->stmts, ((tk_span){start, r->at}));
  r->stmt = st->span;
  need_sign(r, "{", "the place of a statement");
  read_insts(r, &st->insts);
  switch (kind) {
  case TK_S_RUN: break;
  case TK_S_IF:
    need_sign(r, "then", "the instructions of an if");
    st->cond = need_slot(r, "a condition");
    read_block(r, &st->body);
    if (take_sign(r, "else")) read_block(r, &st->orelse);
    break;
  case TK_S_FOR:
    read_loop(r, st);
    read_block(r, &st->body);
    break;
  case TK_S_WHILE:
    need_sign(r, "do", "the instructions of a while");
    st->cond = need_slot(r, "a condition");
    read_block(r, &st->body);
    break;
  case TK_S_RETURN: read_return(r, st);
  }
  return st;
}

static void read_body(parser *r, tk_body *out) {
  while (!take_sign(r, "}")) {
    if (!*here(r)) bad_text(r, r->at, r->at, NULL, "expected '}'");
    TK_PUSH(r->arena, out, read_stmt(r));
  }
}

/* ---- functions ----------------------------------------------------------- */

/* from ARG.ITEM divisor N */
static void read_origin(parser *r, tk_param *out) {
  need_sign(r, "from", "the type of a kernel's parameter");
  skip_blanks(r);
  uint32_t start = r->at;
  while (is_name_byte(*here(r)) && *here(r) != '.') r->at++;
  const char *name =
      tk_arena_strndup(r->arena, r->text->text + start, r->at - start);
  int found = tk_lookup_find(&r->arg_names, name);
  if (found < 0)
    bad_text(r, start, r->at, "the head of the text lists them: arg x_ptr",
             "the kernel has no argument '%s'", name);
  out->arg = (size_t)r->arg_names.list.items[found].number;
  if (*here(r) == '.') {
    r->at++;
    out->item = (size_t)need_int(r, 1, 1 << 20, "an item");
  }
  out->divisor = 1;
  if (take_sign(r, "divisor"))
    out->divisor = (int)need_int(r, 1, 1 << 20, "a divisor");
}

static void read_params(parser *r, bool kernel) {
  TK_VEC(int) slots = {0};
  TK_VEC(tk_param) params = {0};
  need_sign(r, "(", "the name of a function");
  for (bool first = true; !take_sign(r, ")"); first = false) {
    if (!first) need_sign(r, ",", "a parameter");
    skip_blanks(r);
    uint32_t start = r->at;
    const char *name = need_name(r, "%", "a parameter");
    if (tk_lookup_find(&r->names, name) >= 0)
      bad_text(r, start, r->at, NULL, "%%%s is given twice", name);
    need_sign(r, ":", "the name of a parameter");
    tk_type t = need_type(r);
    int slot = add_slot(r, name, t);
    TK_PUSH(r->arena, &slots, slot);
    if (!kernel) continue;
    tk_param from = {.slot = slot, .type = t};
    read_origin(r, &from);
    TK_PUSH(r->arena, &params, from);
  }
  r->f->params = slots.items;
  r->f->nparams = slots.n;
  if (!kernel) return;
  r->p->params = params.items;
  r->p->nparams = params.n;
}

static void read_vars(parser *r) {
  while (take_sign(r, "var")) {
    skip_blanks(r);
    uint32_t start = r->at;
    const char *name = need_name(r, "%", "a variable");
    if (isdigit((unsigned char)*name))
      bad_text(r, start, r->at, NULL,
               "%%%s is the name of a temporary, which needs no declaration",
               name);
    if (tk_lookup_find(&r->names, name) >= 0)
      bad_text(r, start, r->at, NULL, "%%%s is given twice", name);
    need_sign(r, ":", "the name of a variable");
    add_slot(r, name, need_type(r));
  }
}

/* Reads up to the brace of its body, and skips the body. */
static void read_header(parser *r) {
  bool library = take_sign(r, "library"), kernel = take_sign(r, "kernel");
  if (!kernel && !take_sign(r, "func"))
    bad_text(r, r->at, r->at + word_length(r), NULL,
             "expected a function: kernel or func");
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_name(r, "@", "the name of a function");
  if (tk_lookup_find(&r->func_names, name) >= 0)
    bad_text(r, start, r->at, NULL, "there are two functions @%s", name);
  const char *shown = tk_arena_strndup(r->arena, name, strcspn(name, "#"));
  if (kernel && r->p->kernel)
    bad_text(r, start, r->at, NULL, "a program has one kernel");
  tk_func *f = r->f = tk_func_new(r->p, shown, NULL);
  f->library = library;
  if (kernel) r->p->kernel = f;
  tk_lookup_clear(&r->names);
  read_params(r, kernel);
  TK_VEC(tk_type) results = {0};
  if (take_sign(r, "->")) do
      TK_PUSH(r->arena, &results, need_type(r));
    while (take_sign(r, ","));
  f->result_types = results.items;
  f->nresults = results.n;
  need_sign(r, "source", "the head of a function");
  f->src = need_source(r);
  need_sign(r, "at", "the source of a function");
  f->span = need_place(r);
  need_sign(r, "{", "the head of a function");
  const char **params = TK_NEWN(r->arena, const char *, r->names.list.n + 1);
  for (size_t i = 0; i < r->names.list.n; i++)
    params[i] = r->names.list.items[i].text;
  add_name(r, &r->func_names, name);
  TK_PUSH(r->arena, &r->funcs, ((named_func){f, r->at, params}));
  while (*here(r) && strncmp(here(r), "\n}", 2) != 0) r->at++;
  if (!*here(r))
    bad_text(r, start, start + 1, "it ends with a } at the start of a line",
             "this function never ends");
  r->at += 2;
}

static void read_func(parser *r, const named_func *x) {
  r->f = x->func;
  r->at = x->body;
  tk_lookup_clear(&r->names);
  for (size_t i = 0; i < r->f->nslots; i++)
    add_name(r, &r->names, x->params[i]);
  read_vars(r);
  read_body(r, &r->f->body);
  tk_func_last_uses(r->p, r->f);
}

/* False: something else stands here. */
static bool read_launch_option(parser *r) {
  size_t i = 0;
  while (i < TK_LAUNCH_OPTIONS && !take_sign(r, tk_launch_option_at(i)->name))
    i++;
  const tk_launch_option_info *o = tk_launch_option_at(i);
  if (!o) return false;
  skip_blanks(r);
  uint32_t start = r->at;
  r->p->options[i] = need_int(r, o->least, o->most, o->name);
  if (!tk_launch_option_fits((int)i, r->p->options[i]))
    bad_text(r, start, r->at, NULL, "%s must be a power of two", o->name);
  return true;
}

static tk_language need_language(parser *r) {
  skip_blanks(r);
  uint32_t start = r->at;
  const char *name = need_word(r, "the name of a language");
  int found = tk_language_find(name);
  if (found < 0)
    bad_text(r, start, r->at, NULL, "'%s' is not a language that is known",
             name);
  return (tk_language)found;
}

static void read_head(parser *r) {
  tk_program *p = r->p;
  TK_VEC(tk_program_arg) args = {0};
  size_t n;
  if (!take_sign(r, TK_TEXT_HEAD))
    bad_text(r, r->at, r->at + 1, "'tkdbg ir' writes such texts",
             "the text of a program begins with '" TK_TEXT_HEAD " %d'",
             TK_TEXT_VERSION);
  need_int(r, TK_TEXT_VERSION, TK_TEXT_VERSION, "the version of the text");
  if (take_sign(r, "triton"))
    p->triton_version = (int)need_int(r, 0, 1000000, "a version of Triton");
  if (take_sign(r, "language")) p->language = need_language(r);
  while (read_launch_option(r)) continue;
  while (take_sign(r, "arg")) {
    tk_program_arg a = {need_word(r, "the name of an argument"), NULL};
    if (take_sign(r, "=")) a.value = need_quoted(r, &n, "'='");
    if (tk_lookup_find(&r->arg_names, a.name) < 0)
      tk_lookup_add(r->arena, &r->arg_names, a.name, (int)args.n);
    TK_PUSH(r->arena, &args, a);
  }
  p->args = args.items;
  p->nargs = args.n;
}

/* What does not hold, where the text says it. */
static void report_flaw(parser *r, const tk_flaw *w) TK_NORETURN;
static void report_flaw(parser *r, const tk_flaw *w) {
  tk_span at = {0, 0};
  if (w->stmt) at = r->stmts.items[w->stmt->id];
  if (w->inst) at = r->insts.items[w->inst->id];
  for (size_t i = 0; !w->stmt && !w->inst && i < r->funcs.n; i++)
    if (r->funcs.items[i].func == w->func)
      at = (tk_span){r->funcs.items[i].body - 1, r->funcs.items[i].body};
  bad_text(r, at.lo, at.hi, NULL, "%s", w->text);
}

static void parse_text(tk_env *e, void *ud) {
  parser *r = ud;
  tk_flaw flaw;
  (void)e;
  const char *zero = memchr(r->text->text, 0, r->text->len);
  if (zero) {
    r->at = (uint32_t)(zero - r->text->text);
    bad_text(r, r->at, r->at + 1, NULL, "the text has a byte 0");
  }
  r->reading = TK_NEW(r->arena, reading);
  read_sources(r);
  read_head(r);
  for (skip_blanks(r); *here(r) && strncmp(here(r), "source ", 7) != 0;
       skip_blanks(r))
    read_header(r);
  if (!r->p->kernel)
    bad_text(r, r->at, r->at, NULL, "the program has no kernel");
  for (size_t i = 0; i < r->funcs.n; i++) read_func(r, &r->funcs.items[i]);
  if (!tk_program_verify(r->p, r->arena, &flaw)) report_flaw(r, &flaw);
}

tk_program *tk_program_parse(tk_env *e, tk_arena *keep, const tk_source *src) {
  tk_program *p = tk_calloc(e, 1, sizeof *p);
  tk_program_init(p, e);
  parser r = {.env = e, .keep = keep, .arena = &p->arena, .p = p, .text = src};
  tk_status st = tk_protect(e, parse_text, &r);
  if (st == TK_OK) return p;
  tk_program_free(p);
  tk_throw(e, st);
}
