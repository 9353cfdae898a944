/* number.h - the arithmetic of PTX: one instruction of ir/asm.def on one
 * thread's numbers, which are bits of a type.
 *
 * The PTX interpreter and inline assembly share it, so that an instruction
 * has one meaning.  approximate.h says what approximate ones give.
 */
#ifndef TK_PTX_NUMBER_H
#define TK_PTX_NUMBER_H

#include "base/assert.h"
#include "base/bits.h"
#include "base/dtype.h"
#include "ir/asm.h"

/* What one instruction is done to: the bits of its sources. */
typedef struct tkp_step {
  const tk_asm_inst *in;
  uint8_t type; /* of what is computed: a half of a pair, else in->type */
  uint64_t v[TK_ASM_ARGS];
  int n; /* how many sources */
  bool *carry;
} tkp_step;

static inline unsigned tkp_bits(uint8_t type) {
  return tk_asm_types[type].bits;
}
static inline bool tkp_float(uint8_t type) {
  return tk_asm_types[type].kind == 'f';
}
static inline uint64_t tkp_mask(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}
static inline int64_t tkp_signed(uint64_t v, unsigned bits) {
  TK_ASSERT(bits && bits <= 64);
  return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* The bits that an instruction with one result gives; not cut to its width. */
uint64_t tkp_result(const tkp_step *s);
/* setp, set: compares the first two numbers of the type; *other is the second
 * predicate's value. */
bool tkp_predicate(const tkp_step *s, uint8_t type, bool *other);
/* What an atomic operation leaves in memory, which held s->v[0]. */
uint64_t tkp_atomic(const tkp_step *s);

/* Integers, bits (number_int.c); floats (number_float.c); conversions and
 * comparisons (number_cvt.c).  The result's bits, not yet cut to its width. */
uint64_t tkp_int(const tkp_step *s);
uint64_t tkp_real(const tkp_step *s);
uint64_t tkp_cvt(const tkp_step *s);
bool tkp_compare(const tk_asm_inst *in, uint8_t type, uint64_t a, uint64_t b);

/* A float type's bits as a number (exact), and back, rounded as the
 * instruction says (nearest even unless it does). */
double tkp_to_double(uint8_t type, uint64_t bits);
uint64_t tkp_round(const tk_asm_inst *in, uint8_t type, double v);

/* tk_f16_to_f32 without branches: the exponent is moved by a product, which is
 * exact, also of subnormal numbers. */
static inline float tkp_half(uint32_t h) {
  uint32_t bits = (h & 0x7FFF) << 13, sign = (h & 0x8000) << 16;
  uint32_t u = tk_f32_bits(tk_bits_f32(bits) * 0x1p112f);
  if ((h & 0x7C00) == 0x7C00) u = bits | 0x7F800000;
  return tk_bits_f32(u | sign);
}

#endif
