/* asm.c - reads inline assembly: the part of PTX that asm.def lists.
 *
 * A statement is a block in braces, a declaration of registers, or an
 * instruction with an optional predicate.  Names are looked up once, here;
 * the interpreter sees register numbers.  Whatever is wrong is returned with
 * its place in the assembly text; the caller reports it.
 */
#include "ir/asm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const tk_asm_type_info tk_asm_types[TK_AT_COUNT] = {
#define ASM_TYPE(name, bits, kind, part) {#name, bits, kind, TK_AT_##part},
#include "asm.def"
};

static const char *const mod_names[] = {
#define ASM_MOD(id, name) name,
#include "asm.def"
};

static const struct {
  const char *name;
  uint8_t bits;
} specials[] = {
#define ASM_SPECIAL(id, name, bits) {name, bits},
#include "asm.def"
};

typedef struct row {
  const char *name, *mods, *types, *types2, *operands;
} row;

static const row rows[] = {
#define ASM(id, name, mods, types, types2, operands)                           \
  {name, mods, types, types2, operands},
#include "asm.def"
};

typedef struct reg {
  struct reg *prev;
  const char *name;
  size_t len;
  uint8_t type;
  int index;
} reg;

typedef struct reader {
  tk_arena *arena;
  tk_asm *a;
  tk_asm_fault *fault;
  const char *text, *at;
  reg *regs;
  const char *op; /* the instruction being read, as written */
  size_t op_len;
} reader;

/* ---- failing ----------------------------------------------------------- */

/* Something is wrong at text[from..to) of the assembly. */
static void asm_fail(reader *r, const char *from, const char *to,
                     const char *help, const char *message) TK_NORETURN;
static void asm_fail(reader *r, const char *from, const char *to,
                     const char *help, const char *message) {
  tk_span at = {(uint32_t)(from - r->text), (uint32_t)(to - r->text)};
  *r->fault = (tk_asm_fault){at, message, help};
  tk_throw(r->arena->env, TK_FINDING);
}

/* ---- characters -------------------------------------------------------- */

const char *tk_asm_skip(const char *at) {
  for (;;) {
    while (isspace((unsigned char)*at)) at++;
    if (at[0] == '/' && at[1] == '/') {
      at += strcspn(at, "\n");
    } else if (at[0] == '/' && at[1] == '*') {
      const char *end = strstr(at + 2, "*/");
      at = end ? end + 2 : at + strlen(at);
    } else {
      return at;
    }
  }
}

static void skip(reader *r) {
  r->at = tk_asm_skip(r->at);
}

static bool take(reader *r, char c) {
  skip(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static void need(reader *r, char c, const char *after) {
  if (take(r, c)) return;
  asm_fail(r, r->at, r->at + (*r->at != 0), NULL,
           tk_arena_printf(r->arena, "expected %c after %s", c, after));
}

/* Of a modifier, which may be L1::evict_last. */
static size_t suffix_length(const char *p) {
  size_t n = 0;
  while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == ':') n++;
  return n;
}

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$';
}

static size_t word_length(const char *p) {
  size_t n = 0;
  while (word_char(p[n])) n++;
  return n;
}

int tk_asm_type_named(const char *w, size_t n) {
  for (int i = 0; i < TK_AT_COUNT; i++)
    if (strlen(tk_asm_types[i].name) == n &&
        !memcmp(tk_asm_types[i].name, w, n))
      return i;
  return -1;
}

/* ---- registers --------------------------------------------------------- */

enum { MAX_REGS = 1 << 16 };

static void add_reg(reader *r, const char *name, size_t len, int type) {
  if (r->a->nregs == MAX_REGS)
    asm_fail(r, name, name + len, NULL, "more than 65536 registers");
  reg *g = TK_NEW(r->arena, reg);
  *g = (reg){r->regs, name, len, (uint8_t)type, r->a->nregs++};
  r->regs = g;
}

static void add_range(reader *r, const char *name, size_t len, int type) {
  char *end;
  const char *from = ++r->at;
  unsigned long n = strtoul(from, &end, 10);
  r->at = end;
  if (end == from || n > MAX_REGS)
    asm_fail(r, from, end + (end == from), NULL,
             "expected a number of registers, at most 65536");
  need(r, '>', "the number of registers");
  for (unsigned long i = 0; i < n; i++) {
    const char *full = tk_arena_printf(r->arena, "%.*s%lu", (int)len, name, i);
    add_reg(r, full, strlen(full), type);
  }
}

/* .reg .b32 a, b<4>; */
static void read_declaration(reader *r) {
  skip(r);
  const char *start = r->at;
  if (*r->at == '.') r->at++;
  size_t n = word_length(r->at);
  int type = tk_asm_type_named(r->at, n);
  if (*start != '.' || type < 0 || tk_asm_types[type].part != type)
    asm_fail(r, start, r->at + n, "write .reg .b32 name;",
             "expected a type of registers such as .b32, .f32 or .pred");
  r->at += n;
  do {
    skip(r);
    const char *name = r->at;
    n = word_length(name);
    if (!n)
      asm_fail(r, name, name + 1, NULL, "expected the name of a register");
    r->at += n;
    if (*r->at == '<')
      add_range(r, name, n, type);
    else
      add_reg(r, name, n, type);
  } while (take(r, ','));
  need(r, ';', "the registers");
}

static void unknown_reg(reader *r, const char *name, size_t n) TK_NORETURN;
static void unknown_reg(reader *r, const char *name, size_t n) {
  const char *w = tk_arena_strndup(r->arena, name, n);
  tk_nearest near = tk_nearest_start(w);
  for (reg *g = r->regs; g; g = g->prev)
    tk_nearest_try(&near, tk_arena_strndup(r->arena, g->name, g->len));
  const char *best = tk_nearest_best(&near);
  asm_fail(r, name, name + n,
           best ? tk_arena_printf(r->arena, "did you mean %s?", best)
                : "declare it: .reg .b32 name;",
           tk_arena_printf(r->arena, "%s is not a register", w));
}

static reg *find_reg(reader *r, const char *name, size_t n) {
  reg *g = r->regs;
  while (g && (g->len != n || memcmp(g->name, name, n))) g = g->prev;
  if (!g) unknown_reg(r, name, n);
  return g;
}

/* A register as an operand knows it. */
typedef struct place {
  int index;
  uint8_t bits;
  char kind;
} place;

/* $3 or ${3} */
static place read_dollar(reader *r) {
  const char *start = r->at++;
  bool brace = *r->at == '{';
  if (brace) r->at++;
  char *end;
  unsigned long k = strtoul(r->at, &end, 10);
  bool digits = isdigit((unsigned char)*r->at);
  r->at = end;
  if (brace && *r->at == '}') r->at++;
  if (!digits || k >= (unsigned long)r->a->noperands)
    asm_fail(
        r, start, r->at, "outputs are numbered first, then inputs",
        tk_arena_printf(r->arena,
                        "%.*s is not an operand: the constraints name $0 to "
                        "$%d",
                        (int)(r->at - start), start, r->a->noperands - 1));
  const tk_asm_operand *o = &r->a->operands[k];
  return (place){o->reg, o->bits, o->bits == 1 ? 'p' : 'b'};
}

static place read_place(reader *r) {
  skip(r);
  if (*r->at == '$') return read_dollar(r);
  size_t n = word_length(r->at);
  if (!n) asm_fail(r, r->at, r->at + 1, NULL, "expected a register");
  reg *g = find_reg(r, r->at, n);
  r->at += n;
  const tk_asm_type_info *t = &tk_asm_types[g->type];
  return (place){g->index, t->bits, t->kind};
}

/* ---- operands ---------------------------------------------------------- */

typedef tk_asm_want want;

tk_asm_want tk_asm_want_of(const tk_asm_inst *in, char letter) {
  want w = {.letter = letter,
            .type = in->type,
            .dest = letter && strchr("dWxpzML", letter)};
  if (letter == 'b' || letter == 'y') w.type = in->type2;
  if (letter == 'p' || letter == 'q') w.type = TK_AT_pred;
  if (letter == 'u' || letter == 'z') w.type = TK_AT_b32;
  w.bits = tk_asm_types[w.type].bits;
  bool wide = tk_asm_has(in, TK_AM_wide);
  if (wide && (letter == 'W' || letter == 'v')) w.bits *= 2;
  w.wider = letter && strchr("xyLS", letter);
  if (letter == 'L' || letter == 'S')
    w.parts = tk_asm_has(in, TK_AM_v4) ? 4 : tk_asm_has(in, TK_AM_v2) ? 2 : 0;
  if (letter == 'A') w.type = TK_AT_b64, w.bits = 64;
  return w;
}

static void mismatch(reader *r, const char *from, want w,
                     const char *found) TK_NORETURN;
static void mismatch(reader *r, const char *from, want w, const char *found) {
  asm_fail(r, from, r->at, NULL,
           tk_arena_printf(r->arena, "%.*s needs %s of %u bits here, not %s",
                           (int)r->op_len, r->op,
                           w.bits == 1 ? "a predicate" : "an operand", w.bits,
                           found));
}

static void check_place(reader *r, const char *from, want w, place p) {
  char kind = tk_asm_types[w.type].kind;
  bool clash = (kind == 'f' && (p.kind == 'u' || p.kind == 's')) ||
               (p.kind == 'f' && (kind == 'u' || kind == 's'));
  bool pair = tk_asm_types[w.type].part != w.type;
  bool wider = w.wider && kind != 'f' && !pair && p.bits > w.bits;
  if ((p.bits == w.bits || (wider && w.bits > 1)) && !clash) return;
  mismatch(r, from, w,
           tk_arena_printf(r->arena, "a register .%c%u", p.kind, p.bits));
}

static uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool read_hex_float(reader *r, unsigned bits, uint64_t *out) {
  char c = (char)tolower((unsigned char)r->at[1]);
  size_t digits = bits / 4;
  if (r->at[0] != '0' || c != (bits == 32 ? 'f' : 'd')) return false;
  char hex[17] = {0};
  for (size_t i = 0; i < digits; i++) {
    if (!isxdigit((unsigned char)r->at[2 + i])) return false;
    hex[i] = r->at[2 + i];
  }
  *out = strtoull(hex, NULL, 16);
  r->at += 2 + digits;
  return true;
}

static uint64_t float_bits(double v, unsigned bits) {
  uint64_t u = 0;
  float f = (float)v;
  if (bits == 32)
    memcpy(&u, &f, sizeof f);
  else
    memcpy(&u, &v, sizeof v);
  return u;
}

static bool binary_literal(const char *p) {
  return p[0] == '0' && (p[1] == 'b' || p[1] == 'B');
}

static uint64_t read_integer(reader *r) {
  char *end;
  bool binary = binary_literal(r->at);
  uint64_t v = strtoull(r->at + 2 * binary, &end, binary ? 2 : 0);
  if (*end == 'U') end++;
  r->at = end;
  return v;
}

/* A number of the wanted type, as its bits. */
static uint64_t read_number(reader *r, want w) {
  const char *from = r->at;
  char kind = tk_asm_types[w.type].kind;
  bool minus = *r->at == '-';
  uint64_t v;
  if (minus || *r->at == '+') r->at++;
  bool hex = (w.bits == 32 || w.bits == 64) && (kind == 'f' || kind == 'b') &&
             read_hex_float(r, w.bits, &v);
  if (hex) return minus ? v ^ (uint64_t)1 << (w.bits - 1) : v;
  size_t n = strspn(r->at, "0123456789.eE");
  bool real = memchr(r->at, '.', n) != NULL;
  if (kind == 'f' && real && w.bits >= 32) {
    char *end;
    double d = strtod(r->at, &end);
    r->at = end;
    return float_bits(minus ? -d : d, w.bits);
  }
  v = read_integer(r);
  if (word_char(*r->at) || *r->at == '.' || kind == 'f' || w.bits == 1) {
    r->at += strspn(r->at, "0123456789.abcdefABCDEF");
    mismatch(r, from, w,
             tk_arena_printf(r->arena, "the number %.*s", (int)(r->at - from),
                             from));
  }
  return (minus ? (uint64_t)0 - v : v) & mask_of(w.bits);
}

/* %tid.x, %clock */
static bool read_special(reader *r, want w, tk_asm_arg *a) {
  size_t n = *r->at == '%' ? word_length(r->at) : 0;
  for (int i = 0; n && i < TK_AS_COUNT; i++) {
    if (strlen(specials[i].name) != n || memcmp(specials[i].name, r->at, n))
      continue;
    const char *from = r->at;
    r->at += n;
    if (i <= TK_AS_nctaid) {
      if (r->at[0] != '.' || !r->at[1] || !strchr("xyz", r->at[1]))
        asm_fail(r, from, r->at, NULL, "expected .x, .y or .z");
      a->imm = (uint64_t)(r->at[1] - 'x');
      r->at += 2;
    }
    if (specials[i].bits != w.bits)
      mismatch(r, from, w,
               tk_arena_printf(r->arena, "%s, which has %u", specials[i].name,
                               specials[i].bits));
    a->kind = TK_AA_SPECIAL;
    a->reg = i;
    return true;
  }
  return false;
}

static int vector_part(reader *r, tk_asm_arg *a, want w, uint8_t *bits) {
  if (w.dest && r->at[0] == '_' && !word_char(r->at[1])) {
    r->at++;
    return -1;
  }
  const char *from = r->at;
  place p = read_place(r);
  if (*bits && *bits != p.bits)
    asm_fail(r, from, r->at, NULL, "the parts of { } must have one width");
  *bits = p.bits;
  a->bits = p.bits;
  return p.index;
}

/* {a, b}: the first is the lowest. */
static void read_vector(reader *r, want w, unsigned total, tk_asm_arg *a) {
  const char *from = r->at++;
  uint8_t bits = 0;
  a->kind = TK_AA_VECTOR;
  do {
    skip(r);
    if (a->nparts == TK_ASM_PARTS)
      asm_fail(r, from, r->at, NULL, "{ } has more than eight parts");
    int part = vector_part(r, a, w, &bits);
    a->parts[a->nparts++] = part;
  } while (take(r, ','));
  need(r, '}', "the parts");
  bool memory = w.letter == 'L' || w.letter == 'S';
  if (memory ? a->nparts != total || bits < w.bits : bits * a->nparts != w.bits)
    mismatch(r, from, w,
             tk_arena_printf(r->arena, "%u parts of %u bits", a->nparts, bits));
}

static void read_register(reader *r, want w, tk_asm_arg *a) {
  const char *from = r->at;
  place p = read_place(r);
  check_place(r, from, w, p);
  a->kind = TK_AA_REG;
  a->reg = p.index;
  a->bits = p.bits;
  a->second = -1;
  if (w.letter != 'p' || !take(r, '|')) return;
  from = r->at;
  p = read_place(r);
  check_place(r, from, w, p);
  a->second = p.index;
}

/* [r], [r + 8] */
static void read_address(reader *r, want w, tk_asm_arg *a) {
  need(r, '[', "this (an address goes there)");
  read_register(r, w, a);
  a->kind = TK_AA_ADDRESS;
  skip(r);
  bool minus = *r->at == '-';
  if (take(r, '+') || minus) {
    skip(r);
    a->imm = read_number(r, (want){.type = TK_AT_s64, .bits = 64});
  }
  need(r, ']', "the address");
}

static void read_operand(reader *r, want w, tk_asm_arg *a) {
  skip(r);
  if (w.letter == 'A') {
    read_address(r, w, a);
    return;
  }
  bool vector = w.letter == 'M' || w.letter == 'N' || w.parts;
  a->inverted = w.letter == 'q' && take(r, '!');
  skip(r);
  char c = *r->at;
  bool number = isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.';
  if (vector && c == '{') {
    read_vector(r, w, w.parts, a);
  } else if (w.parts) {
    asm_fail(r, r->at, r->at + 1, NULL,
             "expected { }, a register for each part");
  } else if (!w.dest && number) {
    a->imm = read_number(r, w);
    a->kind = TK_AA_IMM;
  } else if (w.dest && c == '_' && !word_char(r->at[1])) {
    r->at++;
    a->kind = TK_AA_SINK;
  } else if (w.dest || !read_special(r, w, a)) {
    read_register(r, w, a);
  }
}

/* ---- instructions ------------------------------------------------------ */

static void unknown_instruction(reader *r, size_t n) TK_NORETURN;
static void unknown_instruction(reader *r, size_t n) {
  const char *w = tk_arena_strndup(r->arena, r->op, n);
  tk_nearest near = tk_nearest_start(w);
  tk_buf b;
  tk_buf_init(&b, r->arena->env);
  for (int i = 0; i < TK_AO_COUNT; i++) {
    tk_nearest_try(&near, rows[i].name);
    if (rows[i].name[0] == *w) tk_buf_printf(&b, " %s", rows[i].name);
  }
  const char *best = tk_nearest_best(&near), *rest = tk_buf_str(&b);
  const char *help =
      tk_arena_printf(r->arena, "%s%s%s%s%s", best ? "did you mean " : "",
                      best ? best : "", best ? "? " : "",
                      *rest ? "known near it:" : "see docs/semantics.md", rest);
  tk_buf_free(&b);
  asm_fail(r, r->op, r->op + n, help,
           tk_arena_printf(r->arena,
                           "%s is not an instruction that tkdbg knows", w));
}

static int find_row(const char *name, size_t n) {
  for (int i = 0; i < TK_AO_COUNT; i++)
    if (strlen(rows[i].name) == n && !memcmp(rows[i].name, name, n)) return i;
  return -1;
}

static void bad_suffix(reader *r, const row *w, const char *p,
                       size_t n) TK_NORETURN;
static void bad_suffix(reader *r, const row *w, const char *p, size_t n) {
  asm_fail(r, p - 1, p + n,
           tk_arena_printf(r->arena, "%s takes %s%stypes %s%s%s", w->name,
                           w->mods, *w->mods ? ", " : "", w->types,
                           *w->types2 ? " and then " : "", w->types2),
           tk_arena_printf(r->arena, ".%.*s does not go with %s here", (int)n,
                           p, w->name));
}

static void read_suffix(reader *r, const row *w, tk_asm_inst *in, int *ntypes,
                        const char *p, size_t n) {
  const char *types = *ntypes == 0 ? w->types : *ntypes == 1 ? w->types2 : "";
  if (tk_has_word(types, p, n)) {
    uint8_t *t = *ntypes ? &in->type2 : &in->type;
    *t = (uint8_t)tk_asm_type_named(p, n);
    (*ntypes)++;
    return;
  }
  if (!tk_has_word(w->mods, p, n)) bad_suffix(r, w, p, n);
  for (size_t m = 0; m < TK_COUNT(mod_names); m++)
    if (strlen(mod_names[m]) == n && !memcmp(mod_names[m], p, n))
      in->mods[m / 64] |= (uint64_t)1 << (m % 64);
}

typedef enum need_kind {
  NEEDS_NOTHING,
  NEEDS_PART,
  NEEDS_ROUND,
  NEEDS_INT,
  NEEDS_APPROX,
  NEEDS_COMPARE
} need_kind;

static const char *const need_words[] = {
    [NEEDS_NOTHING] = "",
    [NEEDS_PART] = "lo hi wide",
    [NEEDS_ROUND] = "rn rz rm rp rna approx full",
    [NEEDS_INT] = "rni rzi rmi rpi",
    [NEEDS_APPROX] = "approx",
    [NEEDS_COMPARE] = ("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu "
                       "num nan")};

static need_kind cvt_needs(const tk_asm_inst *in) {
  const tk_asm_type_info *to = &tk_asm_types[in->type];
  const tk_asm_type_info *from = &tk_asm_types[in->type2];
  bool real = to->kind == 'f', was_real = from->kind == 'f';
  if (to->kind == 'b' || from->kind == 'b') return NEEDS_ROUND;
  if (real && was_real && to->bits < from->bits) return NEEDS_ROUND;
  if (real && was_real && in->type == TK_AT_tf32) return NEEDS_ROUND;
  if (real != was_real) return real ? NEEDS_ROUND : NEEDS_INT;
  return NEEDS_NOTHING;
}

/* What PTX wants said between the instruction and its types. */
static need_kind needs(const tk_asm_inst *in) {
  bool real = tk_asm_types[tk_asm_types[in->type].part].kind == 'f';
  switch (in->op) {
  case TK_AO_MUL: return real ? NEEDS_NOTHING : NEEDS_PART;
  case TK_AO_MAD: return real ? NEEDS_ROUND : NEEDS_PART;
  case TK_AO_DIV: return real ? NEEDS_ROUND : NEEDS_NOTHING;
  case TK_AO_MADC:
  case TK_AO_MUL24:
  case TK_AO_MAD24: return NEEDS_PART;
  case TK_AO_FMA:
  case TK_AO_RCP:
  case TK_AO_SQRT: return NEEDS_ROUND;
  case TK_AO_RSQRT:
  case TK_AO_SIN:
  case TK_AO_COS:
  case TK_AO_LG2:
  case TK_AO_EX2:
  case TK_AO_TANH: return NEEDS_APPROX;
  case TK_AO_SETP:
  case TK_AO_SET: return NEEDS_COMPARE;
  case TK_AO_CVT: return cvt_needs(in);
  default: return NEEDS_NOTHING;
  }
}

static void check_needs(reader *r, const tk_asm_inst *in) {
  const char *words = need_words[needs(in)];
  bool found = !*words;
  for (size_t m = 0; m < TK_COUNT(mod_names); m++)
    if (tk_asm_has(in, (tk_asm_mod)m))
      found |= tk_has_word(words, mod_names[m], strlen(mod_names[m]));
  if (!found)
    asm_fail(r, r->op, r->at, NULL,
             tk_arena_printf(r->arena, "%s of this type needs one of: %s",
                             rows[in->op].name, words));
}

/* What is set is of pairs where pairs are compared, of the same type. */
static void check_pairs(reader *r, const tk_asm_inst *in) {
  bool pairs = tk_asm_types[in->type].part != in->type ||
               tk_asm_types[in->type2].part != in->type2;
  if (in->op == TK_AO_SET && pairs && in->type != in->type2)
    asm_fail(r, r->op, r->at, "set.lt.f16x2.f16x2 and set.lt.f16.f32 are taken",
             tk_arena_printf(r->arena, "set.%s does not compare %s",
                             tk_asm_types[in->type].name,
                             tk_asm_types[in->type2].name));
}

/* add.rn.f32: the row, its modifiers and types */
static const row *read_opcode(reader *r, tk_asm_inst *in) {
  r->op = r->at;
  size_t n = word_length(r->at);
  r->at += n;
  while (r->at[0] == '.' && suffix_length(r->at + 1))
    r->at += 1 + suffix_length(r->at + 1);
  r->op_len = (size_t)(r->at - r->op);
  int k = find_row(r->op, n);
  if (k < 0 && !n)
    asm_fail(r, r->at, r->at + 1, NULL, "expected an instruction");
  if (k < 0) unknown_instruction(r, n);
  const row *w = &rows[k];
  int ntypes = 0, wanted = (*w->types != 0) + (*w->types2 != 0);
  in->op = (uint8_t)k;
  for (const char *p = r->op + n; p < r->at;) {
    size_t len = suffix_length(++p);
    read_suffix(r, w, in, &ntypes, p, len);
    p += len;
  }
  if (ntypes < wanted)
    asm_fail(
        r, r->op, r->at,
        tk_arena_printf(r->arena, "one of %s", ntypes ? w->types2 : w->types),
        tk_arena_printf(r->arena, "%s needs %d type%s", w->name, wanted,
                        wanted > 1 ? "s" : ""));
  if (wanted < 2) in->type2 = in->type;
  check_needs(r, in);
  check_pairs(r, in);
  return w;
}

static size_t count_operands(reader *r) {
  const char *p = r->at;
  size_t n = 0;
  int depth = 0;
  bool any = false;
  for (; *p && *p != ';'; p++) {
    depth += (*p == '{') - (*p == '}');
    n += *p == ',' && depth == 0;
    any |= !isspace((unsigned char)*p);
  }
  return n + any;
}

/* The form of the row's operands that has n of them. */
static const char *form(reader *r, const row *w, size_t n) {
  size_t most = 0;
  for (const char *p = w->operands;;) {
    size_t len = strcspn(p, "|");
    if (len == n) return p;
    most = len;
    if (!p[len]) break;
    p += len + 1;
  }
  asm_fail(r, r->op, r->at, NULL,
           tk_arena_printf(r->arena, "%s takes %zu operands, not %zu", w->name,
                           most, n));
}

static void read_instruction(reader *r, int guard, bool guard_not) {
  tk_asm_inst in = {.guard = guard, .guard_not = guard_not};
  const row *w = read_opcode(r, &in);
  skip(r);
  size_t n = count_operands(r);
  const char *letters = form(r, w, n);
  for (size_t i = 0; i < n; i++) {
    if (i) need(r, ',', "an operand");
    in.args[i].second = -1;
    read_operand(r, tk_asm_want_of(&in, letters[i]), &in.args[i]);
  }
  in.nargs = (uint8_t)n;
  need(r, ';', "an instruction");
  TK_PUSH(r->arena, &r->a->insts, in);
}

/* @p or @!p, then the instruction. */
static void read_guarded(reader *r) {
  bool guard_not = take(r, '!');
  skip(r);
  const char *from = r->at;
  place p = read_place(r);
  if (p.bits != 1)
    asm_fail(r, from, r->at, NULL, "only a predicate can guard an instruction");
  skip(r);
  read_instruction(r, p.index, guard_not);
}

static void read_statements(reader *r, bool inner) {
  reg *outer = r->regs;
  for (skip(r); *r->at && *r->at != '}'; skip(r)) {
    if (take(r, '{')) {
      read_statements(r, true);
      need(r, '}', "the statements of a block");
    } else if (!strncmp(r->at, ".reg", 4) && !word_char(r->at[4])) {
      r->at += 4;
      read_declaration(r);
    } else if (take(r, '@')) {
      read_guarded(r);
    } else if (!take(r, ';')) {
      read_instruction(r, -1, false);
    }
  }
  if (*r->at == '}' && !inner)
    asm_fail(r, r->at, r->at + 1, NULL, "this } closes nothing");
  r->regs = outer;
}

static void read_text(tk_env *e, void *ud) {
  (void)e;
  read_statements(ud, false);
}

bool tk_asm_read(tk_arena *arena, tk_asm *a, const char *text,
                 tk_asm_fault *fault) {
  reader r = {.arena = arena, .a = a, .fault = fault, .text = text, .at = text};
  *fault = (tk_asm_fault){{0, 0}, NULL, NULL};
  a->text = tk_arena_strdup(arena, text);
  tk_status st = tk_protect(arena->env, read_text, &r);
  if (st != TK_OK && !fault->message) tk_throw(arena->env, st);
  return st == TK_OK;
}

typedef struct opcode_call {
  reader r;
  tk_asm_inst *in;
  const char *operands;
} opcode_call;

static void read_only_opcode(tk_env *e, void *ud) {
  opcode_call *c = ud;
  (void)e;
  c->operands = read_opcode(&c->r, c->in)->operands;
}

size_t tk_asm_opcode(tk_arena *arena, const char *text, tk_asm_inst *in,
                     const char **operands, tk_asm_fault *fault) {
  opcode_call c = {
      .r = {.arena = arena, .fault = fault, .text = text, .at = text},
      .in = in};
  *fault = (tk_asm_fault){{0, 0}, NULL, NULL};
  *in = (tk_asm_inst){.guard = -1};
  tk_status st = tk_protect(arena->env, read_only_opcode, &c);
  if (st != TK_OK && !fault->message) tk_throw(arena->env, st);
  *operands = c.operands;
  return st == TK_OK ? (size_t)(c.r.at - text) : 0;
}

/* ---- constraints --------------------------------------------------------- */

static int constraint_bits(char c) {
  switch (c) {
  case 'b': return 1;
  case 'c': return 8;
  case 'h': return 16;
  case 'n': /* an immediate */
  case 'r':
  case 'f': return 32;
  case 'l':
  case 'd': return 64;
  default: return 0;
  }
}

static bool bad_constraint(tk_arena *arena, const char *p, size_t n,
                           tk_asm_fault *fault) {
  fault->help = "outputs first, such as \"=r,=f,r,f,0\": b predicate, h 16 "
                "bits, r and f 32, l and d 64, a number for the register of "
                "that output; ~{...} is ignored";
  fault->message =
      tk_arena_printf(arena, "the constraint \"%.*s\" is not known", (int)n, p);
  return false;
}

static bool add_constraint(tk_arena *arena, tk_asm *a, const char *p, size_t n,
                           tk_asm_fault *fault) {
  tk_asm_operand o = {.tied = -1, .output = *p == '='};
  const char *q = p + o.output;
  if (o.output && *q == '&') q++;
  size_t left = n - (size_t)(q - p);
  if (!o.output && left && *q >= '0' && *q <= '9') {
    long k = strtol(q, NULL, 10);
    if (k >= a->nout) return bad_constraint(arena, p, n, fault);
    o.tied = (int)k;
    o.bits = a->operands[k].bits;
    o.reg = (int)k;
  } else {
    o.bits = left == 1 ? (uint8_t)constraint_bits(*q) : 0;
    o.reg = a->noperands;
  }
  if (!o.bits) return bad_constraint(arena, p, n, fault);
  if (o.output && a->nout < a->noperands) {
    fault->message = "outputs come before inputs in constraints";
    return false;
  }
  a->operands[a->noperands++] = o;
  a->nout += o.output;
  return true;
}

bool tk_asm_constraints(tk_arena *arena, tk_asm *a, const char *text,
                        tk_asm_fault *fault) {
  *fault = (tk_asm_fault){{0, 0}, NULL, NULL};
  a->constraints = tk_arena_strdup(arena, text);
  a->operands = TK_NEWN(arena, tk_asm_operand, strlen(text) + 1);
  for (const char *p = text; *p;) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == ',') p++;
    size_t n = strcspn(p, ", \n\t");
    if (n && *p != '~' && !add_constraint(arena, a, p, n, fault)) return false;
    p += n;
  }
  a->nregs = a->noperands;
  return true;
}
