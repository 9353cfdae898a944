/* instruction.c - decodes an instruction: finds its row, splits its words,
 * reads its operands.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/exec.h"
#include "ptx/read.h"

typedef struct op_row {
  const char *name, *words, *types, *operands;
  void (*read)(tkp_line *x); /* NULL: does nothing, or is refused */
  const char *refused;       /* why, or NULL */
} op_row;

static const op_row op_rows[] = {
#define OP(id, name, words, types, operands, doc)                              \
  {name, words, types, operands, tkp_read_##id, NULL},
#define NOTHING(name, doc) {name, NULL, NULL, NULL, NULL, NULL},
#define REFUSED(name, why) {name, NULL, NULL, NULL, NULL, why},
#include "ptx/op.def"
#undef OP
#undef NOTHING
#undef REFUSED
};

/* The row with the longest name that the opcode begins with. */
static const op_row *op_row_of(const char *opcode, size_t len) {
  const op_row *best = NULL;
  size_t most = 0;
  for (size_t i = 0; i < TK_COUNT(op_rows); i++) {
    size_t n = strlen(op_rows[i].name);
    if (n > len || n <= most || memcmp(opcode, op_rows[i].name, n)) continue;
    if (n < len && opcode[n] != '.') continue;
    best = &op_rows[i];
    most = n;
  }
  return best;
}

static size_t opcode_length(const char *p) {
  size_t n = 0;
  while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' ||
         p[n] == ':')
    n++;
  return n;
}

/* "2-4" */
static bool count_fits(const char *range, size_t n) {
  char *end;
  unsigned long lo = strtoul(range, &end, 10);
  unsigned long hi = *end == '-' ? strtoul(end + 1, NULL, 10) : lo;
  return n >= lo && n <= hi;
}

/* Whether a row has the word, or a beginning of it with a *. */
static bool takes_word(const char *words, const char *w, size_t n) {
  if (tk_has_word(words, w, n)) return true;
  for (const char *star = strchr(words, '*'); star;
       star = strchr(star + 1, '*')) {
    const char *from = star;
    while (from > words && from[-1] != ' ') from--;
    size_t len = (size_t)(star - from);
    if (n > len && !memcmp(from, w, len)) return true;
  }
  return false;
}

static void split_words(tkp_line *x, const op_row *row) {
  const char *p = x->from + strlen(row->name);
  while (p < x->to) {
    const char *w = ++p;
    while (p < x->to && *p != '.') p++;
    size_t n = (size_t)(p - w);
    int type = tk_asm_type_named(w, n);
    bool word = takes_word(row->words, w, n);
    if (type >= 0 && !word && x->ntypes < TK_COUNT(x->types)) {
      x->types[x->ntypes++] = (uint8_t)type;
    } else if (word && x->nwords < TKP_WORDS) {
      x->words[x->nwords].text = w;
      x->words[x->nwords++].len = n;
    } else {
      tkp_refuse(x->r, w - (w > x->from), w + n,
                 ".%.*s of %s is not run by the PTX interpreter", (int)n, w,
                 row->name);
    }
  }
  if (!count_fits(row->types, x->ntypes))
    tkp_fail(x->r, x->from, x->to, NULL, "%s needs %s type%s", row->name,
             row->types, strcmp(row->types, "1") ? "s" : "");
}

static void read_operands(tkp_line *x) {
  tkp_reader *r = x->r;
  tkp_skip(r);
  if (*r->at == ';') return;
  do {
    if (x->nops == TKP_OPERANDS)
      tkp_fail(r, x->from, x->to, NULL,
               "an instruction has at most %d operands", TKP_OPERANDS);
    tkp_read_operand(r, &x->ops[x->nops++]);
  } while (tkp_take(r, ','));
}

/* Arithmetic; the fault is in bytes of the opcode. */
static void read_arithmetic(tkp_line *x) {
  tkp_reader *r = x->r;
  tk_asm_inst math;
  tk_asm_fault fault;
  const char *forms;
  if (!tk_asm_opcode(r->arena, x->from, &math, &forms, &fault))
    tkp_fail(r, x->from + fault.at.lo, x->from + fault.at.hi, fault.help, "%s",
             fault.message);
  r->at = x->to;
  read_operands(x);
  tkp_read_number(x, &math, forms);
}

void tkp_instruction(tkp_reader *r, const tkp_reg *guard, bool guard_not) {
  tkp_line line = {.r = r}, *x = &line;
  size_t len = opcode_length(r->at);
  if (!len || !isalpha((unsigned char)*r->at))
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected an instruction");
  x->from = r->at;
  x->to = r->at + len;
  x->in.span =
      (tk_span){(uint32_t)(x->from - r->text), (uint32_t)(x->to - r->text)};
  x->in.guarded = guard != NULL;
  x->in.guard_not = guard_not;
  if (guard) x->in.guard = *guard;
  const op_row *row = op_row_of(x->from, len);
  if (row && row->refused)
    tkp_refuse(r, x->from, x->to, "%.*s is not run by the PTX interpreter (%s)",
               (int)len, x->from, row->refused);
  if (!row) {
    read_arithmetic(x);
  } else if (!row->read) {
    r->at += strcspn(r->at, ";");
  } else {
    split_words(x, row);
    r->at = x->to;
    read_operands(x);
    if (!count_fits(row->operands, x->nops))
      tkp_fail(r, x->from, x->to, NULL, "%s takes %s operands, not %zu",
               row->name, row->operands, x->nops);
    row->read(x);
  }
  tkp_need(r, ';', "an instruction");
}

void tkp_end(tkp_reader *r) {
  uint32_t at = (uint32_t)(r->at - r->text);
  tkp_inst in = {.run = tkp_run_exit, .span = {at - 1, at}, .loc = r->loc};
  TK_PUSH(r->arena, &r->k->code, in);
}
