/* number.c - what a PTX instruction makes of numbers: pairs, predicates,
 * choices, atomic operations.
 */
#include "ptx/number.h"

#include <string.h>

static uint64_t compute(const tkp_step *s) {
  return tkp_float(s->type) ? tkp_real(s) : tkp_int(s);
}

/* Both halves of a pair, each by itself. */
static uint64_t compute_pair(const tkp_step *s) {
  TK_ASSERT(tkp_bits(s->type) == 16);
  tkp_step half = *s;
  uint64_t r = 0;
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < s->n; k++) half.v[k] = s->v[k] >> (16 * side) & 0xFFFF;
    r |= (compute(&half) & 0xFFFF) << (16 * side);
  }
  return r;
}

/* Of a pair, the second predicate is the upper half's, else the opposite. */
bool tkp_predicate(const tkp_step *s, uint8_t type, bool *other) {
  const tk_asm_inst *in = s->in;
  bool pair = in->op == TK_AO_SETP && tk_asm_types[in->type].part != in->type;
  bool p = tkp_compare(in, type, s->v[0], s->v[1]);
  bool n = pair ? tkp_compare(in, type, s->v[0] >> 16, s->v[1] >> 16) : !p;
  bool q = s->n > 2 && (s->v[2] & 1);
  if (tk_asm_has(in, TK_AM_and)) p = p && q, n = n && q;
  if (tk_asm_has(in, TK_AM_or)) p = p || q, n = n || q;
  if (tk_asm_has(in, TK_AM_xor)) p = p != q, n = n != q;
  *other = n;
  return p;
}

/* What is set where a comparison holds. */
static uint64_t truth_of(uint8_t type) {
  switch (type) {
  case TK_AT_f16: return 0x3C00;
  case TK_AT_bf16: return 0x3F80;
  case TK_AT_f32: return 0x3F800000;
  default: return ((uint64_t)1 << tkp_bits(type)) - 1;
  }
}

static uint64_t set_result(const tkp_step *s) {
  uint8_t to = tk_asm_types[s->in->type].part;
  uint8_t from = tk_asm_types[s->in->type2].part;
  int sides = to != s->in->type ? 2 : 1;
  tkp_step half = *s;
  uint64_t r = 0;
  bool other;
  TK_ASSERT(sides == 1 || tkp_bits(to) == 16);
  for (int side = 0; side < sides; side++) {
    if (tkp_predicate(&half, from, &other)) r |= truth_of(to) << (16 * side);
    for (int k = 0; k < 2; k++) half.v[k] >>= 16;
  }
  return r;
}

static bool picks_first(const tkp_step *s) {
  if (s->in->op == TK_AO_SELP) return s->v[2] & 1;
  if (s->in->type2 == TK_AT_f32) return tkp_to_double(TK_AT_f32, s->v[2]) >= 0;
  return (int32_t)(uint32_t)s->v[2] >= 0;
}

uint64_t tkp_result(const tkp_step *s) {
  switch (s->in->op) {
  case TK_AO_CVT: return tkp_cvt(s);
  case TK_AO_SET: return set_result(s);
  case TK_AO_SELP:
  case TK_AO_SLCT: return picks_first(s) ? s->v[0] : s->v[1];
  case TK_AO_ACTIVEMASK: return 1;
  default: break;
  }
  return s->type != s->in->type ? compute_pair(s) : compute(s);
}

/* What an atomic operation leaves in memory, which held s->v[0]. */
uint64_t tkp_atomic(const tkp_step *s) {
  static const uint8_t same[][2] = {
      {TK_AM_add, TK_AO_ADD}, {TK_AM_min, TK_AO_MIN}, {TK_AM_max, TK_AO_MAX},
      {TK_AM_and, TK_AO_AND}, {TK_AM_or, TK_AO_OR},   {TK_AM_xor, TK_AO_XOR}};
  tk_asm_inst in = *s->in;
  tkp_step as = *s;
  uint64_t old = s->v[0], b = s->v[1];
  if (tk_asm_has(s->in, TK_AM_cas)) return old == b ? s->v[2] : old;
  if (tk_asm_has(s->in, TK_AM_inc)) return old >= b ? 0 : old + 1;
  if (tk_asm_has(s->in, TK_AM_dec)) return !old || old > b ? b : old - 1;
  for (size_t i = 0; i < TK_COUNT(same); i++) {
    if (!tk_asm_has(s->in, (tk_asm_mod)same[i][0])) continue;
    in.op = same[i][1];
    memset(in.mods, 0, sizeof in.mods);
    as.in = &in;
    return compute(&as);
  }
  TK_ASSERT(tk_asm_has(s->in, TK_AM_exch)); /* each of them has a case */
  return b;
}
