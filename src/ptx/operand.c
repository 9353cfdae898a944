/* operand.c - operands: numbers, registers, addresses, { } and ( ).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "ptx/read.h"

/* ---- numbers ------------------------------------------------------------ */

static bool hex_float(tkp_reader *r, tkp_operand *o) {
  char c = (char)tolower((unsigned char)r->at[1]);
  size_t digits = c == 'f' ? 8 : 16;
  if (r->at[0] != '0' || (c != 'f' && c != 'd')) return false;
  for (size_t i = 0; i < digits; i++) {
    int h = tk_hex_digit(r->at[2 + i]);
    if (h < 0) return false;
    o->value = o->value << 4 | (uint64_t)h;
  }
  o->hex = (uint8_t)(4 * digits);
  r->at += 2 + digits;
  return true;
}

static void read_literal(tkp_reader *r, tkp_operand *o) {
  o->kind = TKP_O_NUMBER;
  bool minus = tkp_take(r, '-');
  if (!minus) tkp_take(r, '+');
  tkp_skip(r);
  if (hex_float(r, o)) {
    if (minus) o->value ^= UINT64_C(1) << (o->hex - 1);
    return;
  }
  char *end;
  size_t n = strspn(r->at, "0123456789.eE");
  bool hex = r->at[0] == '0' && r->at[1] && strchr("xXbB", r->at[1]);
  o->real = !hex && (memchr(r->at, '.', n) || memchr(r->at, 'e', n));
  if (o->real) {
    double v = strtod(r->at, &end);
    o->value = tk_f64_bits(minus ? -v : v);
  } else {
    bool binary = hex && strchr("bB", r->at[1]);
    o->value = strtoull(r->at + 2 * binary, &end, binary ? 2 : 0);
    if (minus) o->value = 0 - o->value;
  }
  if (end == r->at)
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected an operand");
  r->at = end + (*end == 'U');
}

uint64_t tkp_number(tkp_reader *r, const tkp_operand *o, unsigned bits,
                    char kind) {
  uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (o->hex == bits) return o->value;
  if (o->hex || (o->real && (kind != 'f' || bits < 32)))
    tkp_fail(r, o->from, o->to, NULL,
             "this number is not one of %u bits of the instruction's type",
             bits);
  if (o->real && bits == 32) return tk_f32_bits((float)tk_bits_f64(o->value));
  return o->value & mask;
}

/* ---- operands ------------------------------------------------------------ */

static void no_name(tkp_reader *r, const char *from, size_t n) TK_NORETURN;
static void no_name(tkp_reader *r, const char *from, size_t n) {
  const char *word = tk_arena_strndup(r->arena, from, n);
  tk_nearest near = tk_nearest_start(word);
  for (tkp_name *k = r->names; k; k = k->outer)
    tk_nearest_try(&near, tk_arena_strndup(r->arena, k->text, k->len));
  const char *best = tk_nearest_best(&near);
  tkp_fail(r, from, from + n,
           best ? tk_arena_printf(r->arena, "did you mean %s?", best) : NULL,
           "%s is not declared", word);
}

/* %tid.x, %laneid; dynamic ones are filled by an instruction of their own
 * (bind.c), which is why this only says which one it is. */
static int special_named(const char *p, size_t n, bool *axes) {
  static const struct {
    const char *name;
    bool axes;
  } specials[] = {
#define SPECIAL(id, name, bits, axes) {name, axes},
#include "ptx/op.def"
  };
  for (size_t i = 0; *p == '%' && i < TK_COUNT(specials); i++)
    if (tkp_is(p, n, specials[i].name)) {
      *axes = specials[i].axes;
      return (int)i;
    }
  return -1;
}

static tkp_reg special_reg(tkp_reader *r, int special, int axis) {
  static const uint8_t widths[] = {
#define SPECIAL(id, name, bits, axes) bits,
#include "ptx/op.def"
  };
  TK_ASSERT(special < TKP_S_COUNT && axis >= 0 && axis < 3);
  for (size_t i = 0; i < r->k->specials.n; i++) {
    const tkp_special_use *u = &r->k->specials.items[i];
    if (u->special == special && u->axis == axis) return u->reg;
  }
  tkp_special_use u = {tkp_new_reg(r, widths[special]), (uint8_t)special,
                       (uint8_t)axis};
  TK_PUSH(r->arena, &r->k->specials, u);
  return u.reg;
}

/* A register, a special one, or the name of something else. */
static void read_name(tkp_reader *r, tkp_operand *o) {
  const char *from = r->at;
  size_t n = tkp_word(from);
  bool axes;
  int special = special_named(from, n, &axes);
  r->at += n;
  o->kind = TKP_O_REG;
  if (tkp_is(from, n, "WARP_SZ")) {
    o->kind = TKP_O_NUMBER;
    o->value = TKP_WARP;
    return;
  }
  if (special >= 0) {
    int axis = 0;
    if (axes) {
      if (r->at[0] != '.' || !r->at[1] || !strchr("xyz", r->at[1]))
        tkp_fail(r, from, r->at, NULL, "expected .x, .y or .z");
      axis = r->at[1] - 'x';
      r->at += 2;
    }
    o->reg = special_reg(r, special, axis);
    return;
  }
  o->reg = tkp_reg_named(r, from, n);
  if (o->reg.bits) return;
  o->kind = TKP_O_NAME;
  o->name = tkp_find(r, from, n);
  if (!o->name && tkp_find_numbered(r, from, n)) no_name(r, from, n);
}

static void add_offset(tkp_reader *r, tkp_operand *o) {
  for (;;) {
    tkp_skip(r);
    bool minus = *r->at == '-';
    if (!minus && *r->at != '+') return;
    tkp_operand by = {.from = r->at};
    r->at += !minus;
    read_literal(r, &by);
    o->value += by.value;
  }
}

static void read_parts(tkp_reader *r, tkp_operand *o, char end);

/* [map, {x, y}]: an address, and coordinates there. */
static void read_coordinates(tkp_reader *r, tkp_operand *o) {
  tkp_operand at = {.from = r->at};
  if (!tkp_take(r, '{'))
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL,
             "expected { and coordinates");
  read_parts(r, &at, '}');
  o->parts = at.parts;
  o->nparts = at.nparts;
}

static void read_address(tkp_reader *r, tkp_operand *o) {
  tkp_skip(r);
  o->kind = TKP_O_ADDRESS;
  if (isdigit((unsigned char)*r->at)) {
    tkp_operand at = {.from = r->at};
    read_literal(r, &at);
    o->value = at.value;
  } else {
    tkp_operand base = {.from = r->at};
    size_t n = tkp_word(r->at);
    if (!n)
      tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected an address");
    read_name(r, &base);
    if (base.kind == TKP_O_NAME && (!base.name || base.name->kind != TKP_N_VAR))
      no_name(r, base.from, n);
    o->name = base.name;
    o->reg = base.reg;
  }
  add_offset(r, o);
  if (tkp_take(r, ',')) read_coordinates(r, o);
  tkp_need(r, ']', "the address");
}

/* What the accumulators of a wgmma need, and their addends. */
enum { MOST_PARTS = 128 };

/* How many operands there can be up to a closing character. */
static size_t parts_before(const char *at, char end) {
  size_t n = 1;
  for (; *at && *at != end && n < MOST_PARTS; at++) n += *at == ',';
  return n;
}

static void read_parts(tkp_reader *r, tkp_operand *o, char end) {
  size_t most = parts_before(r->at, end);
  o->kind = end == '}' ? TKP_O_VECTOR : TKP_O_LIST;
  o->parts = TK_NEWN(r->arena, tkp_operand, most);
  if (tkp_take(r, end)) return;
  do {
    if (o->nparts == most)
      tkp_fail(r, o->from, r->at, NULL, "there are more than %d operands here",
               MOST_PARTS);
    tkp_skip(r);
    if (*r->at == '{' || *r->at == '(' || *r->at == '[')
      tkp_fail(r, r->at, r->at + 1, NULL, "expected a register or number");
    tkp_read_operand(r, &o->parts[o->nparts++]);
  } while (tkp_take(r, ','));
  tkp_need(r, end, "the operands");
}

void tkp_read_operand(tkp_reader *r, tkp_operand *o) {
  tkp_skip(r);
  *o = (tkp_operand){.from = r->at};
  char c = *r->at;
  if (c == '{' || c == '(') {
    r->at++;
    read_parts(r, o, c == '{' ? '}' : ')');
  } else if (c == '[') {
    r->at++;
    read_address(r, o);
  } else if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') {
    read_literal(r, o);
  } else if (c == '_' && !tkp_word(r->at + 1)) {
    r->at++;
    o->kind = TKP_O_SINK;
  } else {
    o->inverted = tkp_take(r, '!');
    tkp_skip(r);
    if (!tkp_word(r->at))
      tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected an operand");
    read_name(r, o);
    if (o->kind == TKP_O_NAME) add_offset(r, o);
  }
  if ((o->kind == TKP_O_REG || o->kind == TKP_O_SINK) && tkp_take(r, '|')) {
    tkp_operand q = {0};
    tkp_skip(r);
    read_name(r, &q);
    if (q.kind == TKP_O_REG) o->second = q.reg;
  }
  o->to = r->at;
}
