/* asm.h - inside inline assembly: numbers as bits of a type. */
#ifndef TK_INTERP_ASM_H
#define TK_INTERP_ASM_H

#include "interp/interp.h"
#include "ir/asm.h"

/* What one instruction is done to: the bits of its sources. */
typedef struct tki_asm_step {
  const tk_asm_inst *in;
  uint8_t type; /* of what is computed: a half of a pair, else in->type */
  uint64_t v[TK_ASM_ARGS];
  int n; /* how many sources */
  bool *carry;
} tki_asm_step;

static inline unsigned tki_asm_bits(uint8_t type) {
  return tk_asm_types[type].bits;
}
static inline bool tki_asm_float(uint8_t type) {
  return tk_asm_types[type].kind == 'f';
}
static inline uint64_t tki_asm_mask(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}
static inline int64_t tki_asm_signed(uint64_t v, unsigned bits) {
  return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Integers, bits (asm_int.c); floats (asm_float.c); conversions and
 * comparisons (asm_cvt.c).  The result's bits, not yet cut to its width. */
uint64_t tki_asm_int(const tki_asm_step *s);
uint64_t tki_asm_real(const tki_asm_step *s);
uint64_t tki_asm_cvt(const tki_asm_step *s);
bool tki_asm_compare(const tk_asm_inst *in, uint8_t type, uint64_t a,
                     uint64_t b);

/* A float type's bits as a number (exact), and back, rounded as the
 * instruction says (nearest even unless it does). */
double tki_asm_to_double(uint8_t type, uint64_t bits);
uint64_t tki_asm_round(const tk_asm_inst *in, uint8_t type, double v);

#endif
