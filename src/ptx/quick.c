/* quick.c - instructions on numbers, for all lanes of a warp.
 *
 * The most frequent have loops of their own, of which compilers make vector
 * instructions; all others go through number.h, lane by lane.
 */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "ptx/exec.h"
#include "ptx/number.h"

/* Each version costs code, so only where vectors pay. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TKP_CLONES __attribute__((target_clones("avx2", "default")))
#define FUSED_CLONES __attribute__((target_clones("fma", "default")))
#else
#define TKP_CLONES
#define FUSED_CLONES
#endif

static inline void settle_u32(uint32_t *d, const uint32_t *v, uint32_t lanes) {
  if (lanes == UINT32_MAX)
    memcpy(d, v, TKP_WARP * sizeof *d);
  else
    TKP_EACH(i, lanes) d[i] = v[i];
}

static inline void settle_u64(uint64_t *d, const uint64_t *v, uint32_t lanes) {
  if (lanes == UINT32_MAX)
    memcpy(d, v, TKP_WARP * sizeof *d);
  else
    TKP_EACH(i, lanes) d[i] = v[i];
}

/* What stands for an operand that an instruction does not have. */
static const uint64_t no_operand[TKP_WARP];

/* NAME: d = EXPR of a, b and c, numbers of the types IN (and INC for c) whose
 * bits are S (and SC) wide; the result's are D wide. */
#define LOOP(...) LOOP_FOR(TKP_CLONES, __VA_ARGS__)
#define LOOP_FOR(CLONES, NAME, D, S, SC, IN, INC, EXPR)                        \
  CLONES static void NAME(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {   \
    const uint##S##_t *pa = tkp_r##S(w, in->s[0]);                             \
    const void *none = no_operand;                                             \
    const uint##S##_t *pb = in->ns > 1 ? tkp_r##S(w, in->s[1]) : none;         \
    const uint##SC##_t *pc = in->ns > 2 ? tkp_r##SC(w, in->s[2]) : none;       \
    uint##D##_t out[TKP_WARP];                                                 \
    for (int i = 0; i < TKP_WARP; i++) {                                       \
      IN a, b;                                                                 \
      INC c;                                                                   \
      memcpy(&a, &pa[i], sizeof a);                                            \
      memcpy(&b, &pb[i], sizeof b);                                            \
      memcpy(&c, &pc[i], sizeof c);                                            \
      (void)b, (void)c;                                                        \
      out[i] = EXPR;                                                           \
    }                                                                          \
    settle_u##D(tkp_r##D(w, in->d[0]), out, lanes);                            \
  }
#define INT(NAME, BITS, EXPR)                                                  \
  LOOP(NAME##_u##BITS, BITS, BITS, BITS, uint##BITS##_t, uint##BITS##_t, EXPR)
#define SINT(NAME, BITS, EXPR)                                                 \
  LOOP(NAME##_s##BITS, BITS, BITS, BITS, int##BITS##_t, int##BITS##_t,         \
       (uint##BITS##_t)(EXPR))
#define REAL(NAME, EXPR32, EXPR64)                                             \
  LOOP(NAME##_f32, 32, 32, 32, float, float, real_bits32(EXPR32))              \
  LOOP(NAME##_f64, 64, 64, 64, double, double, real_bits64(EXPR64))

static inline uint32_t real_bits32(float v) {
  return v != v ? 0x7FFFFFFF : tk_f32_bits(v);
}
static inline uint64_t real_bits64(double v) {
  return v != v ? 0x7FF8000000000000 : tk_f64_bits(v);
}

#define BOTH(NAME, EXPR) INT(NAME, 32, EXPR) INT(NAME, 64, EXPR)
#define SBOTH(NAME, EXPR) SINT(NAME, 32, EXPR) SINT(NAME, 64, EXPR)
BOTH(quick_add, a + b)
BOTH(quick_sub, a - b)
BOTH(quick_mul, a *b)
BOTH(quick_mad, a *b + c)
BOTH(quick_xor, a ^ b)
BOTH(quick_not, ~a)
BOTH(quick_neg, 0 - a)
BOTH(quick_min, a < b ? a : b)
BOTH(quick_max, a > b ? a : b)
SBOTH(quick_min, a < b ? a : b)
SBOTH(quick_max, a > b ? a : b)
INT(quick_shl, 32, b < 32 ? a << (b & 31) : 0)
INT(quick_shr, 32, b < 32 ? a >> (b & 31) : 0)
LOOP(quick_shr_s32, 32, 32, 32, int32_t, int32_t,
     (uint32_t)(a >> ((uint32_t)b < 32 ? b : 31)))
LOOP(quick_wide_u, 64, 32, 64, uint32_t, uint64_t, (uint64_t)a *b)
LOOP(quick_wide_s, 64, 32, 64, int32_t, uint64_t, (uint64_t)((int64_t)a *b))
LOOP(quick_madwide_u, 64, 32, 64, uint32_t, uint64_t, (uint64_t)a *b + c)
LOOP(quick_madwide_s, 64, 32, 64, int32_t, uint64_t,
     (uint64_t)((int64_t)a *b) + c)
LOOP(quick_extend_u, 64, 32, 32, uint32_t, uint32_t, a)
LOOP(quick_extend_s, 64, 32, 32, int32_t, int32_t, (uint64_t)(int64_t)a)
LOOP(quick_cut, 32, 64, 64, uint64_t, uint64_t, (uint32_t)a)
LOOP(quick_from_s32, 32, 32, 32, int32_t, int32_t, tk_f32_bits((float)a))
LOOP(quick_from_u32, 32, 32, 32, uint32_t, uint32_t, tk_f32_bits((float)a))
LOOP(quick_from_f16, 32, 32, 32, uint32_t, uint32_t, real_bits32(tkp_half(a)))
LOOP(quick_from_bf16, 32, 32, 32, uint32_t, uint32_t,
     real_bits32(tk_bits_f32(a << 16)))
REAL(quick_add, a + b, a + b)
REAL(quick_sub, a - b, a - b)
REAL(quick_mul, a *b, a *b)
REAL(quick_div, a / b, a / b)
LOOP_FOR(FUSED_CLONES, quick_fma_f32, 32, 32, 32, float, float,
         real_bits32(fmaf(a, b, c)))
LOOP_FOR(FUSED_CLONES, quick_fma_f64, 64, 64, 64, double, double,
         real_bits64(fma(a, b, c)))

/* Shifts of 64 bits take a count of 32. */
#define SHIFT64(NAME, IN, EXPR)                                                \
  TKP_CLONES static void NAME(tkp_warp *w, const tkp_inst *in,                 \
                              uint32_t lanes) {                                \
    const uint64_t *pa = tkp_r64(w, in->s[0]);                                 \
    const uint32_t *pb = tkp_r32(w, in->s[1]);                                 \
    uint64_t out[TKP_WARP];                                                    \
    for (int i = 0; i < TKP_WARP; i++) {                                       \
      IN a = (IN)pa[i];                                                        \
      uint32_t b = pb[i];                                                      \
      out[i] = (uint64_t)(EXPR);                                               \
    }                                                                          \
    settle_u64(tkp_r64(w, in->d[0]), out, lanes);                              \
  }
SHIFT64(quick_shl64, uint64_t, b < 64 ? a << (b & 63) : 0)
SHIFT64(quick_shr64, uint64_t, b < 64 ? a >> (b & 63) : 0)
SHIFT64(quick_sar64, int64_t, a >> (b < 64 ? b : 63))

/* ---- comparisons -------------------------------------------------------- */

#define COMPARE(NAME, S, IN, TEST)                                             \
  TKP_CLONES static void NAME(tkp_warp *w, const tkp_inst *in,                 \
                              uint32_t lanes) {                                \
    const uint##S##_t *pa = tkp_r##S(w, in->s[0]);                             \
    const uint##S##_t *pb = tkp_r##S(w, in->s[1]);                             \
    uint32_t p = 0, *d = tkp_r32(w, in->d[0]), *q = tkp_r32(w, in->d[1]);      \
    for (int i = 0; i < TKP_WARP; i++) {                                       \
      IN a, b;                                                                 \
      memcpy(&a, &pa[i], sizeof a);                                            \
      memcpy(&b, &pb[i], sizeof b);                                            \
      p |= (uint32_t)(a TEST b) << i;                                          \
    }                                                                          \
    *q = (*q & ~lanes) | (~p & lanes);                                         \
    *d = (*d & ~lanes) | (p & lanes);                                          \
  }
#define COMPARES(NAME, TEST)                                                   \
  COMPARE(NAME##_u32, 32, uint32_t, TEST)                                      \
  COMPARE(NAME##_s32, 32, int32_t, TEST)                                       \
  COMPARE(NAME##_u64, 64, uint64_t, TEST)                                      \
  COMPARE(NAME##_s64, 64, int64_t, TEST)                                       \
  COMPARE(NAME##_f32, 32, float, TEST)
COMPARES(quick_eq, ==)
COMPARES(quick_lt, <)
COMPARES(quick_le, <=)
COMPARES(quick_gt, >)
COMPARES(quick_ge, >=)
COMPARE(quick_ne_u32, 32, uint32_t, !=)
COMPARE(quick_ne_u64, 64, uint64_t, !=)

/* ---- which -------------------------------------------------------------- */

typedef struct quick_row {
  uint8_t op;
  const char *types;
  tk_asm_mod mod; /* that must be there, and no other; MANY: rn or none */
  tkp_run_fn *run;
} quick_row;

#define NO_MOD TK_AM_COUNT
#define INTS32 "b32 u32 s32"
#define INTS64 "b64 u64 s64"
static const quick_row quick_rows[] = {
    {TK_AO_ADD, INTS32, NO_MOD, quick_add_u32},
    {TK_AO_ADD, INTS64, NO_MOD, quick_add_u64},
    {TK_AO_SUB, INTS32, NO_MOD, quick_sub_u32},
    {TK_AO_SUB, INTS64, NO_MOD, quick_sub_u64},
    {TK_AO_MUL, INTS32, TK_AM_lo, quick_mul_u32},
    {TK_AO_MUL, INTS64, TK_AM_lo, quick_mul_u64},
    {TK_AO_MUL, "u32", TK_AM_wide, quick_wide_u},
    {TK_AO_MUL, "s32", TK_AM_wide, quick_wide_s},
    {TK_AO_MAD, INTS32, TK_AM_lo, quick_mad_u32},
    {TK_AO_MAD, INTS64, TK_AM_lo, quick_mad_u64},
    {TK_AO_MAD, "u32", TK_AM_wide, quick_madwide_u},
    {TK_AO_MAD, "s32", TK_AM_wide, quick_madwide_s},
    {TK_AO_XOR, INTS32, NO_MOD, quick_xor_u32},
    {TK_AO_XOR, INTS64, NO_MOD, quick_xor_u64},
    {TK_AO_NOT, INTS32, NO_MOD, quick_not_u32},
    {TK_AO_NOT, INTS64, NO_MOD, quick_not_u64},
    {TK_AO_NEG, INTS32, NO_MOD, quick_neg_u32},
    {TK_AO_NEG, INTS64, NO_MOD, quick_neg_u64},
    {TK_AO_MIN, "u32", NO_MOD, quick_min_u32},
    {TK_AO_MIN, "u64", NO_MOD, quick_min_u64},
    {TK_AO_MIN, "s32", NO_MOD, quick_min_s32},
    {TK_AO_MIN, "s64", NO_MOD, quick_min_s64},
    {TK_AO_MAX, "u32", NO_MOD, quick_max_u32},
    {TK_AO_MAX, "u64", NO_MOD, quick_max_u64},
    {TK_AO_MAX, "s32", NO_MOD, quick_max_s32},
    {TK_AO_MAX, "s64", NO_MOD, quick_max_s64},
    {TK_AO_SHL, INTS32, NO_MOD, quick_shl_u32},
    {TK_AO_SHL, INTS64, NO_MOD, quick_shl64},
    {TK_AO_SHR, "b32 u32", NO_MOD, quick_shr_u32},
    {TK_AO_SHR, "s32", NO_MOD, quick_shr_s32},
    {TK_AO_SHR, "b64 u64", NO_MOD, quick_shr64},
    {TK_AO_SHR, "s64", NO_MOD, quick_sar64},
    {TK_AO_ADD, "f32", TK_AM_rn, quick_add_f32},
    {TK_AO_SUB, "f32", TK_AM_rn, quick_sub_f32},
    {TK_AO_MUL, "f32", TK_AM_rn, quick_mul_f32},
    {TK_AO_ADD, "f32", NO_MOD, quick_add_f32},
    {TK_AO_SUB, "f32", NO_MOD, quick_sub_f32},
    {TK_AO_MUL, "f32", NO_MOD, quick_mul_f32},
    {TK_AO_DIV, "f32", TK_AM_rn, quick_div_f32},
    {TK_AO_DIV, "f32", TK_AM_full, quick_div_f32},
    {TK_AO_FMA, "f32", TK_AM_rn, quick_fma_f32},
    {TK_AO_MAD, "f32", TK_AM_rn, quick_fma_f32},
    {TK_AO_ADD, "f64", TK_AM_rn, quick_add_f64},
    {TK_AO_SUB, "f64", TK_AM_rn, quick_sub_f64},
    {TK_AO_MUL, "f64", TK_AM_rn, quick_mul_f64},
    {TK_AO_ADD, "f64", NO_MOD, quick_add_f64},
    {TK_AO_SUB, "f64", NO_MOD, quick_sub_f64},
    {TK_AO_MUL, "f64", NO_MOD, quick_mul_f64},
    {TK_AO_DIV, "f64", TK_AM_rn, quick_div_f64},
    {TK_AO_FMA, "f64", TK_AM_rn, quick_fma_f64},
    {TK_AO_MOV, "pred " INTS32 " f32 " INTS64 " f64 b16 u16 s16", NO_MOD,
     tkp_run_move},
#define COMPARED(mod)                                                          \
  {TK_AO_SETP, "u32 b32", TK_AM_##mod, quick_##mod##_u32},                     \
      {TK_AO_SETP, "s32", TK_AM_##mod, quick_##mod##_s32},                     \
      {TK_AO_SETP, "u64 b64", TK_AM_##mod, quick_##mod##_u64},                 \
      {TK_AO_SETP, "s64", TK_AM_##mod, quick_##mod##_s64},                     \
      {TK_AO_SETP, "f32", TK_AM_##mod, quick_##mod##_f32},
    COMPARED(eq) COMPARED(lt) COMPARED(le) COMPARED(gt) COMPARED(ge)
#undef COMPARED
        {TK_AO_SETP, INTS32, TK_AM_ne, quick_ne_u32},
    {TK_AO_SETP, INTS64, TK_AM_ne, quick_ne_u64},
};

typedef struct quick_cvt {
  const char *to, *from;
  tk_asm_mod mod;
  tkp_run_fn *run;
} quick_cvt;

static const quick_cvt quick_cvts[] = {
    {"u64 s64", "u32", NO_MOD, quick_extend_u},
    {"u64 s64", "s32", NO_MOD, quick_extend_s},
    {"u32 s32", "u64 s64", NO_MOD, quick_cut},
    {"f32", "s32", TK_AM_rn, quick_from_s32},
    {"f32", "u32", TK_AM_rn, quick_from_u32},
    {"f32", "f16", NO_MOD, quick_from_f16},
    {"f32", "bf16", NO_MOD, quick_from_bf16},
};

static bool only_mod(const tk_asm_inst *m, tk_asm_mod mod) {
  uint64_t want[2] = {0, 0};
  if (mod != NO_MOD) want[mod / 64] = UINT64_C(1) << (mod % 64);
  return m->mods[0] == want[0] && m->mods[1] == want[1];
}

static bool type_among(const char *types, uint8_t type) {
  const char *name = tk_asm_types[type].name;
  return tk_has_word(types, name, strlen(name));
}

tkp_run_fn *tkp_quick(const tkp_inst *in) {
  const tk_asm_inst *m = in->math;
  TK_ASSERT(m && in->nd && in->ns); /* it is arithmetic */
  if (m->op == TK_AO_MOV && (in->nd > 1 || in->ns > 1)) return NULL;
  if (m->op == TK_AO_SETP && in->ns > 2) return NULL;
  for (size_t i = 0; i < TK_COUNT(quick_rows); i++)
    if (quick_rows[i].op == m->op && only_mod(m, quick_rows[i].mod) &&
        type_among(quick_rows[i].types, m->type))
      return quick_rows[i].run;
  unsigned bits = tk_asm_types[m->type].bits;
  if (m->op != TK_AO_CVT || in->d[0].bits != bits) return NULL;
  unsigned from = tk_asm_types[m->type2].bits;
  if (in->s[0].bits != from) return NULL;
  for (size_t i = 0; i < TK_COUNT(quick_cvts); i++)
    if (only_mod(m, quick_cvts[i].mod) &&
        type_among(quick_cvts[i].to, m->type) &&
        type_among(quick_cvts[i].from, m->type2))
      return quick_cvts[i].run;
  return NULL;
}
