/* bits.h - floats as the integers that hold their bits, and back; a hash. */
#ifndef TK_BASE_BITS_H
#define TK_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline float tk_bits_f32(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static inline uint32_t tk_f32_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

static inline double tk_bits_f64(uint64_t u) {
  double d;
  memcpy(&d, &u, sizeof d);
  return d;
}

static inline uint64_t tk_f64_bits(double d) {
  uint64_t u;
  memcpy(&u, &d, sizeof u);
  return u;
}

/* FNV-1a, for tables that are looked up by text. */
static inline uint32_t tk_hash(const char *text, size_t len) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
  return h;
}

#endif
