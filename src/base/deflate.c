/* deflate.c - text made shorter: bytes that stood before, at most 32 kB ago,
 * are named by their distance and number. */
#include "base/deflate.h"

#include <string.h>

enum {
  LEAST = 4,  /* bytes of a match that is looked for; the format allows 3 */
  MOST = 258, /* ... of one that can be named */
  WINDOW = 32768,
  HASH_BITS = 14,
  BUCKET = 2, /* places that are tried for each hash */
  END_OF_BLOCK = 256
};

typedef struct squeezing {
  tk_buf *out;
  const unsigned char *s;
  size_t n;
  uint64_t bits; /* that are not in out yet, the first the lowest */
  unsigned nbits;
  /* by hash: where it was last, counted from 1; the low bits of it, which name
   * all places that are near enough */
  uint32_t places[1 << HASH_BITS][BUCKET];
} squeezing;

static void put_bits(squeezing *x, unsigned value, unsigned count) {
  x->bits |= (uint64_t)value << x->nbits;
  for (x->nbits += count; x->nbits >= 8; x->nbits -= 8, x->bits >>= 8)
    tk_buf_putc(x->out, (char)(x->bits & 255));
}

/* A code stands with its highest bit first. */
static void put_code(squeezing *x, unsigned code, unsigned count) {
  unsigned turned = 0;
  for (unsigned i = 0; i < count; i++)
    turned |= (code >> i & 1) << (count - 1 - i);
  put_bits(x, turned, count);
}

/* A byte, the end, or a length. */
static void put_symbol(squeezing *x, unsigned symbol) {
  if (symbol < 144)
    put_code(x, 0x30 + symbol, 8);
  else if (symbol < 256)
    put_code(x, 0x190 + symbol - 144, 9);
  else if (symbol < 280)
    put_code(x, symbol - 256, 7);
  else
    put_code(x, 0xc0 + symbol - 280, 8);
}

/* Numbers are in classes, 2**`fine` of them for each number of further bits
 * that tell those of a class apart; the first 2 << fine stand alone. */
typedef struct classified {
  unsigned class, extra, nextra;
} classified;

static classified classify(unsigned x, unsigned fine) {
  unsigned nextra = 0;
  while (x >> nextra >= 2u << fine) nextra++;
  return (classified){.class = (nextra << fine) + (x >> nextra),
                      .extra = x & ((1u << nextra) - 1),
                      .nextra = nextra};
}

static void put_match(squeezing *x, size_t length, size_t distance) {
  classified l = classify((unsigned)length - 3, 2);
  if (length == MOST) l = (classified){.class = 28};
  put_symbol(x, 257 + l.class);
  put_bits(x, l.extra, l.nextra);
  classified d = classify((unsigned)distance - 1, 1);
  put_code(x, d.class, 5);
  put_bits(x, d.extra, d.nextra);
}

static size_t hash_at(const squeezing *x, size_t at) {
  uint32_t word;
  memcpy(&word, x->s + at, LEAST);
  return word * 2654435761u >> (32 - HASH_BITS);
}

static void note_place(squeezing *x, size_t at) {
  if (x->n - at < LEAST) return;
  uint32_t *places = x->places[hash_at(x, at)];
  memmove(places + 1, places, (BUCKET - 1) * sizeof *places);
  places[0] = (uint32_t)(at + 1);
}

static size_t alike(const squeezing *x, size_t before, size_t at) {
  size_t most = x->n - at < MOST ? x->n - at : MOST, k = 0;
  while (k < most && x->s[before + k] == x->s[at + k]) k++;
  return k;
}

/* The longest match of the places that are tried; 0: there is none. */
static size_t find_match(const squeezing *x, size_t at, size_t *distance) {
  size_t best = 0;
  if (x->n - at < LEAST) return 0;
  const uint32_t *places = x->places[hash_at(x, at)];
  for (size_t i = 0; i < BUCKET; i++) {
    uint32_t back = (uint32_t)(at + 1) - places[i];
    if (!places[i] || !back || back > WINDOW || back > at) continue;
    size_t length = alike(x, at - back, at);
    if (length <= best) continue;
    best = length;
    *distance = back;
  }
  return best >= LEAST ? best : 0;
}

static void put_block(squeezing *x) {
  enum { FINAL = 1, FIXED = 1 };
  put_bits(x, FINAL, 1);
  put_bits(x, FIXED, 2);
  for (size_t at = 0, distance, length; at < x->n; at += length) {
    length = find_match(x, at, &distance);
    if (length) {
      put_match(x, length, distance);
    } else {
      put_symbol(x, x->s[at]);
      length = 1;
    }
    for (size_t k = 0; k < length; k++) note_place(x, at + k);
  }
  put_symbol(x, END_OF_BLOCK);
  put_bits(x, 0, 7); /* the last byte is filled up */
}

void tk_put_deflated(tk_buf *out, const char *s, size_t n) {
  squeezing x = {.out = out, .s = (const unsigned char *)s, .n = n};
  put_block(&x);
}
