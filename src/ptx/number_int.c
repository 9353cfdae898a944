/* number_int.c - PTX on integers and bits. */
#include <stdlib.h>

#include "ptx/number.h"

typedef tkp_step step;

static bool is_signed(const step *s) {
  return tk_asm_types[s->type].kind == 's';
}

static unsigned width(const step *s) {
  return tkp_bits(s->type);
}

/* A source as a number of the type's sign. */
static __int128 int_source(const step *s, int k) {
  uint64_t v = s->v[k] & tkp_mask(width(s));
  return is_signed(s) ? (__int128)tkp_signed(v, width(s)) : (__int128)v;
}

static uint64_t clamp(const step *s, __int128 v) {
  unsigned bits = width(s);
  __int128 lo = is_signed(s) ? -((__int128)1 << (bits - 1)) : 0;
  __int128 hi = is_signed(s) ? -lo - 1 : ((__int128)1 << bits) - 1;
  return (uint64_t)(v < lo ? lo : v > hi ? hi : v);
}

static uint64_t saturated(const step *s, __int128 v) {
  return tk_asm_has(s->in, TK_AM_sat) ? clamp(s, v) : (uint64_t)v;
}

/* a + b, or a - b, with the carry flag where .cc and addc say so. */
static uint64_t add_carry(const step *s, bool minus, bool with) {
  uint64_t mask = tkp_mask(width(s));
  unsigned __int128 a = s->v[0] & mask, b = s->v[1] & mask;
  unsigned __int128 in = with && *s->carry, one = 1;
  unsigned __int128 sum = minus ? a - b - in : a + b + in;
  if (tk_asm_has(s->in, TK_AM_cc))
    *s->carry = minus ? a < b + in : (sum & (one << width(s))) != 0;
  return (uint64_t)sum;
}

/* With .cc, and in madc, the half of the product is a number without sign
 * that is added with the carry flag. */
static uint64_t multiply(const step *s, bool plus) {
  unsigned bits = width(s);
  /* Two numbers of 64 bits without sign have a product that only a number
   * without sign holds. */
  unsigned __int128 product =
      (unsigned __int128)int_source(s, 0) * (unsigned __int128)int_source(s, 1);
  __int128 p = (__int128)product;
  if (tk_asm_has(s->in, TK_AM_wide)) return (uint64_t)p + (plus ? s->v[2] : 0);
  if (tk_asm_has(s->in, TK_AM_hi)) {
    bool whole = bits == 64 && !is_signed(s);
    p = whole ? (__int128)((unsigned __int128)p >> 64) : p >> bits;
  }
  if (s->in->op == TK_AO_MADC || tk_asm_has(s->in, TK_AM_cc)) {
    step sum = *s;
    sum.v[0] = (uint64_t)p;
    sum.v[1] = s->v[2];
    return add_carry(&sum, false, s->in->op == TK_AO_MADC);
  }
  if (!plus) return (uint64_t)p;
  return saturated(s, (__int128)((unsigned __int128)p +
                                 (unsigned __int128)int_source(s, 2)));
}

static __int128 low24(const step *s, int k) {
  uint32_t v = (uint32_t)s->v[k] & 0xFFFFFF;
  return is_signed(s) ? (int32_t)(v << 8) >> 8 : (__int128)v;
}

static uint64_t multiply24(const step *s, bool plus) {
  __int128 p = low24(s, 0) * low24(s, 1);
  if (tk_asm_has(s->in, TK_AM_hi)) p >>= 16;
  return (uint64_t)(p + (plus ? int_source(s, 2) : 0));
}

/* As `//` and `%` of the language: by zero all bits set, and the number. */
static uint64_t divide(const step *s, bool rest) {
  __int128 a = int_source(s, 0), b = int_source(s, 1);
  if (b == 0) return rest ? (uint64_t)a : UINT64_MAX;
  return (uint64_t)(rest ? a % b : a / b);
}

static uint64_t sum_distance(const step *s) {
  __int128 a = int_source(s, 0), b = int_source(s, 1);
  return (uint64_t)((a < b ? b - a : a - b) + int_source(s, 2));
}

static uint64_t extreme(const step *s, bool max) {
  __int128 best = int_source(s, 0);
  for (int k = 1; k < s->n; k++)
    if (max ? int_source(s, k) > best : int_source(s, k) < best)
      best = int_source(s, k);
  if (tk_asm_has(s->in, TK_AM_relu) && best < 0) best = 0;
  return (uint64_t)best;
}

/* ---- bits -------------------------------------------------------------- */

static uint64_t lop3(const step *s) {
  uint32_t out = 0, a = (uint32_t)s->v[0], b = (uint32_t)s->v[1];
  uint32_t c = (uint32_t)s->v[2];
  for (int i = 0; i < 8; i++)
    if (s->v[3] >> i & 1)
      out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return out;
}

static uint64_t shift_right(const step *s) {
  uint32_t by = (uint32_t)s->v[1];
  unsigned bits = width(s);
  if (is_signed(s))
    return (uint64_t)(int_source(s, 0) >> (by < bits ? by : bits - 1));
  return by < bits ? (s->v[0] & tkp_mask(bits)) >> by : 0;
}

static uint64_t shift_left(const step *s) {
  uint32_t by = (uint32_t)s->v[1];
  return by < width(s) ? s->v[0] << by : 0;
}

/* 32 bits out of b:a. */
static uint64_t funnel(const step *s) {
  uint64_t both = s->v[1] << 32 | (uint32_t)s->v[0];
  uint32_t by = (uint32_t)s->v[2];
  by = tk_asm_has(s->in, TK_AM_clamp) ? (by > 32 ? 32 : by) : by & 31;
  if (tk_asm_has(s->in, TK_AM_l)) return by ? both >> (32 - by) : both >> 32;
  return by == 32 ? both >> 32 : both >> by;
}

/* The bytes that prmt's modes pick, as digits. */
static uint32_t permute_digits(const step *s) {
  static const struct {
    uint8_t mod;
    uint16_t digits[4];
  } modes[] = {{TK_AM_f4e, {0x3210, 0x4321, 0x5432, 0x6543}},
               {TK_AM_b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
               {TK_AM_rc8, {0x0000, 0x1111, 0x2222, 0x3333}},
               {TK_AM_ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
               {TK_AM_ecr, {0x0000, 0x1110, 0x2210, 0x3210}},
               {TK_AM_rc16, {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (size_t i = 0; i < TK_COUNT(modes); i++)
    if (tk_asm_has(s->in, (tk_asm_mod)modes[i].mod))
      return modes[i].digits[s->v[2] & 3];
  return (uint32_t)s->v[2];
}

static uint64_t permute_bytes(const step *s) {
  uint64_t both = s->v[1] << 32 | (uint32_t)s->v[0], out = 0;
  uint32_t digits = permute_digits(s);
  for (int i = 0; i < 4; i++) {
    uint32_t digit = digits >> (4 * i);
    uint64_t byte = both >> (8 * (digit & 7)) & 0xFF;
    if (digit & 8) byte = byte & 0x80 ? 0xFF : 0;
    out |= byte << (8 * i);
  }
  return out;
}

/* Past the top the sign goes on. */
static uint64_t extract_bits(const step *s) {
  unsigned bits = width(s), at = s->v[1] & 0xFF, len = s->v[2] & 0xFF;
  uint64_t v = s->v[0] & tkp_mask(bits), out = 0;
  if (!len) return 0;
  unsigned top = at + len - 1 < bits - 1 ? at + len - 1 : bits - 1;
  bool sign = is_signed(s) && (v >> top & 1);
  for (unsigned i = 0; i < bits; i++) {
    bool bit = i < len && at + i < bits ? v >> (at + i) & 1 : sign;
    out |= (uint64_t)bit << i;
  }
  return out;
}

static uint64_t insert_bits(const step *s) {
  unsigned bits = width(s), at = s->v[2] & 0xFF, len = s->v[3] & 0xFF;
  uint64_t out = s->v[1];
  for (unsigned i = 0; i < len && at + i < bits; i++) {
    uint64_t bit = (uint64_t)1 << (at + i);
    out = s->v[0] >> i & 1 ? out | bit : out & ~bit;
  }
  return out;
}

/* The highest bit that differs from the sign. */
static uint64_t find_top(const step *s) {
  unsigned bits = width(s);
  uint64_t v = s->v[0] & tkp_mask(bits);
  if (is_signed(s) && v >> (bits - 1) & 1) v = ~v & tkp_mask(bits);
  if (!v) return UINT32_MAX;
  unsigned at = 63 - (unsigned)__builtin_clzll(v);
  return tk_asm_has(s->in, TK_AM_shiftamt) ? bits - 1 - at : at;
}

static uint64_t bit_mask(const step *s) {
  uint32_t at = (uint32_t)s->v[0], len = (uint32_t)s->v[1];
  if (tk_asm_has(s->in, TK_AM_wrap)) at &= 31, len &= 31;
  if (at > 31 || !len) return 0;
  return tkp_mask(len > 32 ? 32 : len) << at;
}

static uint64_t extend_sign(const step *s) {
  uint32_t by = (uint32_t)s->v[1];
  if (tk_asm_has(s->in, TK_AM_wrap)) by &= 31;
  if (!by) return 0;
  if (by >= 32) return s->v[0];
  uint64_t v = s->v[0] & tkp_mask(by);
  return is_signed(s) ? (uint64_t)tkp_signed(v, by) : v;
}

static uint64_t reversed_bits(uint64_t v, unsigned bits) {
  uint64_t out = 0;
  for (unsigned i = 0; i < bits; i++) out |= (v >> i & 1) << (bits - 1 - i);
  return out;
}

static uint64_t leading_zeros(uint64_t v, unsigned bits) {
  return v ? (uint64_t)__builtin_clzll(v) - (64 - bits) : bits;
}

/* ---- products of parts -------------------------------------------------- */

static int64_t part(uint8_t type, uint64_t v, int k, unsigned bits) {
  uint64_t p = v >> (k * (int)bits) & tkp_mask(bits);
  return tk_asm_types[type].kind == 's' ? tkp_signed(p, bits) : (int64_t)p;
}

static uint64_t dot(const step *s, int n) {
  unsigned bits = 32 / (unsigned)n;
  uint64_t sum = s->v[2];
  int from = n == 2 && tk_asm_has(s->in, TK_AM_hi) ? 2 : 0;
  for (int k = 0; k < n; k++)
    sum += (uint64_t)(part(s->in->type, s->v[0], k, bits) *
                      part(s->in->type2, s->v[1], from + k, 8));
  return sum;
}

uint64_t tkp_int(const step *s) {
  uint64_t a = s->v[0], b = s->v[1], mask = tkp_mask(width(s));
  switch (s->in->op) {
  case TK_AO_ADD:
  case TK_AO_SUB: {
    bool minus = s->in->op == TK_AO_SUB;
    if (tk_asm_has(s->in, TK_AM_sat))
      return clamp(s, int_source(s, 0) +
                          (minus ? -int_source(s, 1) : int_source(s, 1)));
    return add_carry(s, minus, false);
  }
  case TK_AO_ADDC: return add_carry(s, false, true);
  case TK_AO_SUBC: return add_carry(s, true, true);
  case TK_AO_MUL: return multiply(s, false);
  case TK_AO_MAD:
  case TK_AO_MADC: return multiply(s, true);
  case TK_AO_MUL24: return multiply24(s, false);
  case TK_AO_MAD24: return multiply24(s, true);
  case TK_AO_DIV: return divide(s, false);
  case TK_AO_REM: return divide(s, true);
  case TK_AO_SAD: return sum_distance(s);
  case TK_AO_ABS:
    return (uint64_t)(int_source(s, 0) < 0 ? -int_source(s, 0) : a);
  case TK_AO_NEG: return 0 - a;
  case TK_AO_MIN: return extreme(s, false);
  case TK_AO_MAX: return extreme(s, true);
  case TK_AO_AND: return a & b;
  case TK_AO_OR: return a | b;
  case TK_AO_XOR: return a ^ b;
  case TK_AO_NOT: return ~a;
  case TK_AO_CNOT: return (a & mask) == 0;
  case TK_AO_LOP3: return lop3(s);
  case TK_AO_SHL: return shift_left(s);
  case TK_AO_SHR: return shift_right(s);
  case TK_AO_SHF: return funnel(s);
  case TK_AO_PRMT: return permute_bytes(s);
  case TK_AO_BFE: return extract_bits(s);
  case TK_AO_BFI: return insert_bits(s);
  case TK_AO_BFIND: return find_top(s);
  case TK_AO_BMSK: return bit_mask(s);
  case TK_AO_SZEXT: return extend_sign(s);
  case TK_AO_BREV: return reversed_bits(a, width(s));
  case TK_AO_CLZ: return leading_zeros(a & mask, width(s));
  case TK_AO_POPC: return (uint64_t)__builtin_popcountll(a & mask);
  case TK_AO_DP4A: return dot(s, 4);
  case TK_AO_DP2A: return dot(s, 2);
  default: return a; /* MOV */
  }
}
