/* dtype.h - element types: table, names, and exact conversion of one lane.
 * Sources: IEEE 754-2019; OCP 8-bit floating point (e4m3fn, e5m2);
 * Triton's dtype names
 * (triton.language.core.dtype). */
#ifndef TK_BASE_DTYPE_H
#define TK_BASE_DTYPE_H

#include "env.h"

typedef struct tk_dtype_info {
  const char *name;
  const char *np; /* NumPy descriptor, "" if none */
  const char *st; /* safetensors name, "" if none */
  uint8_t bits;
  uint8_t size; /* bytes of a lane in memory */
  char kind;    /* B U I F */
} tk_dtype_info;

extern const tk_dtype_info tk_dtypes[TK_DTYPE_COUNT];

static inline bool tk_is_float(tk_dtype d) {
  return tk_dtypes[d].kind == 'F';
}
static inline bool tk_is_int(tk_dtype d) {
  return tk_dtypes[d].kind != 'F';
}
static inline bool tk_is_signed(tk_dtype d) {
  return tk_dtypes[d].kind == 'I';
}
static inline bool tk_is_fp8(tk_dtype d) {
  return d >= TK_FP8E4NV && d <= TK_FP8E5B16;
}

/* The binary digits of a float type's significand, the hidden one too: half a
 * unit in the last place of 1 is 2^-digits. */
int tk_float_digits(tk_dtype d);
/* Float formats of 16 bits and fewer, and back.  To-float is exact; from
 * float rounds to nearest even as NVIDIA's cvt does (fp8 saturates). */
float tk_f16_to_f32(uint16_t h);
uint16_t tk_f32_to_f16(float f);
float tk_bf16_to_f32(uint16_t h);
uint16_t tk_f32_to_bf16(float f);
float tk_fp8_to_f32(tk_dtype d, uint8_t b);
uint8_t tk_f32_to_fp8(tk_dtype d, float f);

/* One lane at p, as a double (floats; exact) or an integer (sign- or
 * zero-extended to 64 bits). */
double tk_lane_double(tk_dtype d, const void *p);
int64_t tk_lane_int(tk_dtype d, const void *p);
/* As tk_lane_double, for rounding to 16 bits or fewer: a 64-bit integer that
 * has no double becomes one that rounds the same way. */
double tk_lane_to_round(tk_dtype d, const void *p);
/* How many steps to the next value of the type lead from a to b. Both zeros
 * count as one value, and NaN comes after infinity. */
uint64_t tk_lane_distance(tk_dtype d, const void *a, const void *b);
/* Whether two lanes hold one value: zeros are one, and so are all NaNs. */
bool tk_lane_same(tk_dtype d, const void *a, const void *b);
/* Stores v, rounded or wrapped to the type.  For float types v is rounded
 * from double once. */
void tk_lane_set_double(tk_dtype d, void *p, double v);
void tk_lane_set_int(tk_dtype d, void *p, int64_t v);

#endif
