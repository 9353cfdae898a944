/* random_kernel.c - variables have fixed names and types (i0..i2 int32[8],
 * f0..f2 fp32[8], s0..s2 int32), so that any statement may follow any other;
 * loops are bounded and indices cut to the tensors.
 */
#include "support/random_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
  uint64_t *state;
  char *text;
  size_t n;
  int depth;  /* of indentation */
  int left;   /* statements to write */
  int loops;  /* around the place */
  int helper; /* the function being written: may call those below it */
} writer;

uint64_t random_next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

int random_below(uint64_t *state, int n) {
  return (int)((random_next(state) >> 20) % (uint64_t)n);
}

static int below(writer *w, int n) {
  return random_below(w->state, n);
}

static void put(writer *w, const char *fmt, ...) {
  va_list ap;
  if (w->n + 256 > RANDOM_TEXT) return;
  for (int i = 0; i < w->depth; i++)
    w->n += (size_t)sprintf(w->text + w->n, "    ");
  va_start(ap, fmt);
  w->n += (size_t)vsnprintf(w->text + w->n, 200, fmt, ap);
  va_end(ap);
  w->text[w->n++] = '\n';
  w->text[w->n] = '\0';
}

/* ---- simple statements -------------------------------------------------- */

static void arithmetic(writer *w) {
  static const char *const ops[] = {"+", "-", "*", "&", "|", "^"};
  put(w, "i%d = i%d %s i%d", below(w, 3), below(w, 3), ops[below(w, 6)],
      below(w, 3));
}

static void floats(writer *w) {
  static const char *const forms[] = {"f%d = f%d + f%d",
                                      "f%d = f%d * 0.5 - f%d",
                                      "f%d = tl.abs(f%d) + f%d",
                                      "f%d = tl.where(i0 > 3, f%d, f%d)",
                                      "f%d = tl.maximum(f%d, f%d)",
                                      "f%d = tl.sigmoid(f%d) + f%d"};
  put(w, forms[below(w, 6)], below(w, 3), below(w, 3), below(w, 3));
}

static void scalars(writer *w) {
  static const char *const forms[] = {
      "s%d = s%d + s%d", "s%d = tl.cdiv(s%d & 1023, 3) - s%d",
      "s%d = s%d * 3 ^ s%d", "s%d = tl.where(s%d > 4, s%d, 7)"};
  put(w, forms[below(w, 4)], below(w, 3), below(w, 3), below(w, 3));
}

static void reductions(writer *w) {
  static const char *const forms[] = {"s%d = tl.sum(i%d, axis=0)",
                                      "s%d = tl.max(i%d, axis=0)",
                                      "s%d = tl.argmin(i%d, axis=0)"};
  static const char *const scans[] = {
      "i%d = tl.cumsum(i%d, 0)", "i%d = tl.sort(i%d)", "i%d = tl.flip(i%d, 0)"};
  if (below(w, 2))
    put(w, forms[below(w, 3)], below(w, 3), below(w, 3));
  else
    put(w, scans[below(w, 3)], below(w, 3), below(w, 3));
}

static void loads(writer *w) {
  if (below(w, 2))
    put(w, "i%d = tl.load(x + (i%d & 63))", below(w, 3), below(w, 3));
  else
    put(w, "f%d = tl.load(y + (i%d & 63), mask=i%d > 2, other=1.0)",
        below(w, 3), below(w, 3), below(w, 3));
}

static void stores(writer *w) {
  static const char *const forms[] = {
      "tl.store(x + (i%d & 63), i%d, mask=i%d > -5)",
      "tl.store(y + (i%d & 63), f%d, mask=i%d != 0)",
      "tl.store(x + (s%d & 63), s%d + s%d)"};
  put(w, forms[below(w, 3)], below(w, 3), below(w, 3), below(w, 3));
}

static void atomics(writer *w) {
  static const char *const forms[] = {
      "tl.atomic_add(x + (i%d & 63), i%d)",
      "i%d = tl.atomic_max(x + (i%d & 63), i1)",
      "s%d = tl.atomic_add(x + (s%d & 63), 1)",
      "s%d = tl.atomic_cas(x + (s%d & 63), 3, 4)"};
  put(w, forms[below(w, 4)], below(w, 3), below(w, 3));
}

static void calls(writer *w) {
  if (!w->helper) {
    arithmetic(w);
    return;
  }
  put(w, "i%d, s%d = h%d(x, i%d, s%d)", below(w, 3), below(w, 3),
      below(w, w->helper), below(w, 3), below(w, 3));
}

/* ---- compound ones ------------------------------------------------------ */

static void statements(writer *w, int most);

static void block(writer *w) {
  w->depth++;
  statements(w, 1 + below(w, 3));
  w->depth--;
}

static void branch(writer *w) {
  put(w, "if s%d > s%d:", below(w, 3), below(w, 3));
  block(w);
  if (below(w, 2)) return;
  put(w, "else:");
  block(w);
}

static void loop(writer *w) {
  static const char *const ranges[] = {"range(2)", "range(1, 4)",
                                       "range(0, s0 & 3)", "range(3, 0, -1)"};
  if (w->loops == 2) {
    scalars(w);
    return;
  }
  int k = w->loops++;
  put(w, "for t%d in %s:", k, ranges[below(w, 4)]);
  w->depth++;
  put(w, "i%d += t%d", below(w, 3), k);
  w->depth--;
  block(w);
  w->loops--;
}

static void spin(writer *w) {
  if (w->loops) {
    floats(w);
    return;
  }
  put(w, "c = s%d & 3", below(w, 3));
  put(w, "while c > 0:");
  w->loops++;
  block(w);
  w->loops--;
  w->depth++;
  put(w, "c -= 1");
  w->depth--;
}

static void statements(writer *w, int most) {
  static void (*const kinds[])(writer *) = {
      arithmetic, floats, scalars, reductions, loads, stores, stores,
      atomics,    calls,  calls,   branch,     loop,  spin};
  do {
    w->left--;
    kinds[below(w, sizeof kinds / sizeof *kinds)](w);
  } while (--most > 0 && w->left > 0);
}

static void helper(writer *w, int i) {
  w->helper = i;
  w->left = 4;
  put(w, "@triton.jit");
  put(w, "def h%d(x, i0, s0):", i);
  w->depth++;
  put(w, "i1 = i0 + %d", below(w, 9));
  put(w, "i2 = i0 ^ i1");
  put(w, "s1 = s0 - %d", below(w, 9));
  put(w, "s2 = s0 & 7");
  for (int k = 1 + below(w, 3); k > 0; k--) {
    static void (*const kinds[])(writer *) = {arithmetic, scalars, reductions,
                                              atomics, calls};
    kinds[below(w, 5)](w);
  }
  put(w, "return i%d, s%d", below(w, 3), below(w, 3));
  w->depth--;
}

void random_kernel(uint64_t *state, char *text) {
  writer w = {.state = state, .text = text};
  put(&w, "import triton\nimport triton.language as tl");
  int helpers = below(&w, 3);
  for (int i = 0; i < helpers; i++) helper(&w, i);
  w.helper = helpers;
  w.left = 4 + below(&w, 14);
  put(&w, "@triton.jit");
  put(&w, "def k(x, y, n):");
  w.depth++;
  put(&w, "i0 = tl.arange(0, 8) + tl.program_id(0) * 8");
  put(&w, "i1 = i0 * %d", 1 + below(&w, 9));
  put(&w, "i2 = tl.load(x + (i0 & 63))");
  put(&w, "f0 = tl.load(y + (i1 & 63))");
  put(&w, "f1 = i0.to(tl.float32)");
  put(&w, "f2 = f0 - f1");
  put(&w, "s0 = tl.program_id(0) + n");
  put(&w, "s1 = n * 3");
  put(&w, "s2 = s0 & s1");
  while (w.left > 0) statements(&w, 4);
}
