/* deflate.c - text made shorter, by zlib. */
#include "base/deflate.h"

#include <string.h>
#include <zlib.h>

enum { HEAD = 16 }; /* before what zlib holds: its size */

/* zlib reports what it cannot have itself. */
static voidpf hold(voidpf ud, uInt n, uInt size) {
  tk_env *e = ud;
  size_t bytes = HEAD + (size_t)n * size;
  char *p = e->alloc(e->alloc_ud, NULL, 0, bytes);
  if (!p) return Z_NULL;
  memcpy(p, &bytes, sizeof bytes);
  return p + HEAD;
}

static void let_go(voidpf ud, voidpf held) {
  tk_env *e = ud;
  char *p = (char *)held - HEAD;
  size_t bytes;
  memcpy(&bytes, p, sizeof bytes);
  e->alloc(e->alloc_ud, p, bytes, 0);
}

typedef struct squeezing {
  tk_buf *out;
  z_stream z;
  const char *s;
  size_t n;
} squeezing;

/* zlib counts what it is given in 32 bits. */
static void give_more(squeezing *x) {
  enum { PART = 1 << 20 };
  if (x->z.avail_in || !x->n) return;
  uInt part = x->n < PART ? (uInt)x->n : PART;
  x->z.next_in = (z_const Bytef *)x->s;
  x->z.avail_in = part;
  x->s += part;
  x->n -= part;
}

static void squeeze(tk_env *e, void *ud) {
  squeezing *x = ud;
  Bytef made[16384];
  (void)e;
  for (int st = Z_OK; st != Z_STREAM_END;) {
    give_more(x);
    x->z.next_out = made;
    x->z.avail_out = sizeof made;
    st = deflate(&x->z, x->n ? Z_NO_FLUSH : Z_FINISH);
    TK_ASSERT(st != Z_STREAM_ERROR);
    tk_buf_add(x->out, (char *)made, sizeof made - x->z.avail_out);
  }
}

void tk_put_deflated(tk_buf *out, const char *s, size_t n) {
  enum { RAW = -15, MEMORY = 8 };
  tk_env *e = out->env;
  squeezing x = {.out = out, .s = s, .n = n};
  x.z.zalloc = hold;
  x.z.zfree = let_go;
  x.z.opaque = e;
  if (deflateInit2(&x.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, MEMORY,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    e->refused++;
    tk_throw(e, TK_INTERNAL);
  }
  tk_status st = tk_protect(e, squeeze, &x);
  deflateEnd(&x.z);
  if (st != TK_OK) tk_throw(e, st);
}
