/* npy.c - NumPy's array files, versions 1, 2 and 3 (NEP 1).
 *
 *   "\x93NUMPY" major minor length header data
 *
 * The header is the repr of a dict with the keys descr, fortran_order and
 * shape; NumPy evaluates it, we parse exactly that much Python.  What the
 * header claims must be what the file holds, to the byte, before memory is
 * taken for it.
 *
 * Arrays in Fortran order are turned into row-major order on reading: a spec
 * such as f32[4,5]:@x.npy says the shape, and a kernel's strides are passed
 * beside it.  Types that NumPy does not know (bfloat16, the 8-bit floats) are
 * written as float32, which holds them exactly; they are read from float32,
 * or from items of their own size as the ml_dtypes package writes
 * them. */
#include "internal.h"

#include <string.h>

enum { MAX_HEADER = 1 << 16 };

static const char magic[6] = "\x93NUMPY";

/* ---- the header's text ------------------------------------------------- */

typedef struct header {
  tkn_reader *r;
  const char *s; /* NUL-terminated */
  size_t n, at;
} header;

static void TK_NORETURN bad_header(header *h, const char *what) {
  tkn_file_fail(h->r->env, h->r->name, "bad .npy header: %s (at byte %zu)",
                what, h->at);
}

static char peek(header *h) {
  while (h->at < h->n && strchr(" \t\n", h->s[h->at]) && h->s[h->at]) h->at++;
  return h->at < h->n ? h->s[h->at] : 0;
}

static bool accept(header *h, char ch) {
  if (peek(h) != ch || h->at >= h->n) return false;
  h->at++;
  return true;
}

static void expect_char(header *h, char ch, const char *what) {
  if (!accept(h, ch)) bad_header(h, what);
}

/* A quoted string without escapes, copied into out. */
static void header_string(header *h, char *out, size_t room, const char *what) {
  size_t n = 0;
  char quote = peek(h);
  if (quote != '\'' && quote != '"') bad_header(h, what);
  for (h->at++; h->at < h->n && h->s[h->at] != quote; h->at++) {
    if (n + 1 == room || h->s[h->at] == '\\') bad_header(h, what);
    out[n++] = h->s[h->at];
  }
  if (h->at >= h->n) bad_header(h, what);
  h->at++;
  out[n] = 0;
}

static bool header_word(header *h, const char *w) {
  size_t n = strlen(w);
  peek(h);
  if (h->n - h->at < n || memcmp(h->s + h->at, w, n) != 0) return false;
  h->at += n;
  return true;
}

static int64_t length(header *h) {
  int64_t v = 0;
  size_t start;
  peek(h);
  for (start = h->at; h->at < h->n; h->at++) {
    char ch = h->s[h->at];
    if (ch < '0' || ch > '9') break;
    if (v > (INT64_MAX - 9) / 10) bad_header(h, "a length beyond any array");
    v = v * 10 + (ch - '0');
  }
  if (h->at == start) bad_header(h, "expected a length");
  accept(h, 'L'); /* as Python 2 wrote it */
  return v;
}

static void shape(header *h, tkn_npy *out) {
  bool comma = false;
  expect_char(h, '(', "expected the shape");
  while (peek(h) != ')') {
    if (out->rank == TK_MAX_RANK) bad_header(h, "more than 20 axes");
    out->shape[out->rank++] = length(h);
    comma = accept(h, ',');
    if (!comma && peek(h) != ')') bad_header(h, "expected ',' or ')'");
  }
  if (out->rank == 1 && !comma) bad_header(h, "(5) is not a tuple");
  h->at++;
}

static bool find_type(const char *kind, tkn_npy *out) {
  for (int d = 0; d < TK_DTYPE_COUNT; d++)
    if (tk_dtypes[d].np[0] && !strcmp(tk_dtypes[d].np + 1, kind)) {
      out->dtype = (tk_dtype)d;
      return true;
    }
  out->raw = !strcmp(kind, "V1") || !strcmp(kind, "V2");
  out->dtype = kind[1] == '2' ? TK_BF16 : TK_FP8E4NV;
  return out->raw;
}

static void descr(header *h, tkn_npy *out) {
  char text[16], order;
  header_string(h, text, sizeof text, "expected a dtype such as '<f4'");
  order = text[0];
  bool known = strchr("<>|=", order) && order && find_type(text + 1, out);
  if (!known) {
    tkn_file_fail(h->r->env, h->r->name,
                  "arrays of dtype '%s' cannot be kernel arguments", text);
  }
  out->swap = order == '>';
}

static void entry(header *h, tkn_npy *out, unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  char key[16];
  unsigned k = 0;
  header_string(h, key, sizeof key, "expected a key");
  while (k < TK_COUNT(keys) && strcmp(key, keys[k]) != 0) k++;
  if (k == TK_COUNT(keys)) bad_header(h, "unknown key");
  if (*seen >> k & 1) bad_header(h, "a key appears twice");
  *seen |= 1u << k;
  expect_char(h, ':', "expected ':'");
  if (k == 0)
    descr(h, out);
  else if (k == 2)
    shape(h, out);
  else if (header_word(h, "True"))
    out->fortran = true;
  else if (!header_word(h, "False"))
    bad_header(h, "expected True or False");
}

static void dict(header *h, tkn_npy *out) {
  unsigned seen = 0;
  memset(out, 0, sizeof *out);
  expect_char(h, '{', "expected '{'");
  while (peek(h) != '}') {
    entry(h, out, &seen);
    if (!accept(h, ',') && peek(h) != '}') bad_header(h, "expected ',' or '}'");
  }
  h->at++;
  if (peek(h) || h->at < h->n) bad_header(h, "text after the header");
  if (seen != 7) bad_header(h, "a key is missing");
}

/* ---- reading ----------------------------------------------------------- */

static void check_size(tkn_reader *r, tkn_npy *h) {
  uint64_t left = r->size - r->at;
  h->lanes = tkn_shape_lanes(h->dtype, h->rank, h->shape);
  if (h->lanes < 0)
    tkn_file_fail(r->env, r->name, "the header claims more than 64 GiB");
  uint64_t need = (uint64_t)h->lanes * tk_dtypes[h->dtype].size;
  if (need != left)
    tkn_file_fail(r->env, r->name,
                  "the header claims %llu bytes of data, the file has %llu",
                  (unsigned long long)need, (unsigned long long)left);
}

typedef struct header_call {
  header h;
  tkn_npy *out;
} header_call;

static void read_dict(tk_env *e, void *ud) {
  (void)e;
  header_call *c = ud;
  dict(&c->h, c->out);
}

static void read_text(tkn_reader *r, size_t n, tkn_npy *out) {
  tk_env *e = r->env;
  if (n > MAX_HEADER || n > r->size - r->at)
    tkn_file_fail(e, r->name, "bad .npy header: its length is %zu", n);
  char small[1024], *s = n < sizeof small ? small : tk_calloc(e, 1, n + 1);
  header_call c = {{r, s, n, 0}, out};
  tk_status st = TK_OK;
  if (n <= r->size - r->at) tkn_read(r, s, n);
  s[n] = 0;
  st = tk_protect(e, read_dict, &c);
  if (s != small) tk_free(e, s, n + 1);
  if (st != TK_OK) tk_throw(e, st);
}

void tkn_npy_header(tkn_reader *r, tkn_npy *h) {
  uint8_t head[12] = {0};
  if (r->size < 10) tkn_file_fail(r->env, r->name, "not a .npy file");
  tkn_read(r, head, 8);
  if (memcmp(head, magic, sizeof magic) != 0)
    tkn_file_fail(r->env, r->name, "not a .npy file");
  if (head[6] < 1 || head[6] > 3 || head[7] != 0)
    tkn_file_fail(r->env, r->name, ".npy version %d.%d is not known", head[6],
                  head[7]);
  tkn_read(r, head + 8, head[6] == 1 ? 2 : 4);
  size_t n = (size_t)head[8] | (size_t)head[9] << 8 | (size_t)head[10] << 16 |
             (size_t)head[11] << 24;
  read_text(r, n, h);
  check_size(r, h);
}

static void swap_bytes(tk_env *e, char *p, size_t lanes, size_t size) {
  for (size_t i = 0; i < lanes; i++, p += size) {
    tk_check_step(e, i);
    for (size_t a = 0, b = size - 1; a < b; a++, b--) {
      char t = p[a];
      p[a] = p[b];
      p[b] = t;
    }
  }
}

/* Reads column-major lanes: in file order the first axis runs fastest, so
 * the place of a lane is counted with the axes reversed. */
static void read_fortran(tkn_reader *r, const tkn_npy *h, char *dst) {
  size_t size = tk_dtypes[h->dtype].size, at = 0;
  int64_t index[TK_MAX_RANK] = {0}, stride[TK_MAX_RANK], step = 1;
  char chunk[4096];
  for (int i = h->rank - 1; i >= 0; i--) {
    stride[i] = step;
    step *= h->shape[i];
  }
  int64_t per = (int64_t)(sizeof chunk / size);
  for (int64_t i = 0; i < h->lanes; i++) {
    int64_t k = i % per, left = h->lanes - i;
    if (k == 0) tkn_read(r, chunk, (size_t)(left < per ? left : per) * size);
    memcpy(dst + at * size, chunk + (size_t)k * size, size);
    for (int d = 0; d < h->rank; d++) {
      at += (size_t)stride[d];
      if (++index[d] < h->shape[d]) break;
      at -= (size_t)(stride[d] * h->shape[d]);
      index[d] = 0;
    }
  }
}

void tkn_npy_data(tkn_reader *r, const tkn_npy *h, void *dst) {
  size_t size = tk_dtypes[h->dtype].size, lanes = (size_t)h->lanes;
  if (h->fortran && h->rank > 1 && lanes)
    read_fortran(r, h, dst);
  else
    tkn_read(r, dst, lanes * size);
  if (h->swap) swap_bytes(r->env, dst, lanes, size);
  uint8_t *byte = dst;
  for (size_t i = 0; h->dtype == TK_INT1 && i < lanes; i++)
    byte[i] = byte[i] != 0;
}

/* ---- into an argument -------------------------------------------------- */

/* How lanes of the file become lanes of the type that is wanted. */
typedef enum conversion { NO_WAY, AS_IS, ROUND } conversion;

static conversion convert(const tkn_npy *h, tk_dtype want) {
  bool numpy_knows = tk_dtypes[want].np[0];
  bool same_size = tk_dtypes[h->dtype].size == tk_dtypes[want].size;
  bool bits = h->raw || h->dtype == TK_UINT8 || h->dtype == TK_UINT16;
  if (h->dtype == want && !h->raw) return AS_IS;
  if (!numpy_knows && bits && same_size) return AS_IS;
  return !numpy_knows && h->dtype == TK_FP32 ? ROUND : NO_WAY;
}

/* "[", 20 digits and a separator for each axis, "]" */
enum { SHAPE_TEXT = 2 + 22 * TK_MAX_RANK + 1 };

static void shape_text(char out[SHAPE_TEXT], int rank, const int64_t *shape_) {
  size_t n = (size_t)sprintf(out, "[");
  for (int i = 0; i < rank; i++)
    n += (size_t)sprintf(out + n, "%s%lld", i ? "," : "", (long long)shape_[i]);
  sprintf(out + n, "]");
}

static void check_want(tkn_reader *r, const tkn_npy *h, const tk_tensor *want) {
  char has[SHAPE_TEXT], wants[SHAPE_TEXT];
  bool same = h->rank == want->rank;
  for (int i = 0; same && i < h->rank; i++)
    same = h->shape[i] == want->shape[i];
  shape_text(has, h->rank, h->shape);
  shape_text(wants, want->rank, want->shape);
  if (!same || convert(h, want->dtype) == NO_WAY)
    tkn_file_fail(r->env, r->name, "holds %s%s, not %s%s",
                  h->raw ? "void" : tk_dtype_name(h->dtype), has,
                  tk_dtype_name(want->dtype), wants);
}

/* float32 lanes are read into the argument's memory and rounded in place: the
 * result never ends after the lane that it comes from. */
static void load_rounded(tkn_reader *r, const tkn_npy *h, tk_launch *l,
                         tk_arg *arg, tk_dtype d) {
  size_t size = tk_dtypes[d].size, wide = (size_t)h->lanes * sizeof(float);
  tkn_arg_own_bytes(l, arg, wide);
  tkn_npy_data(r, h, arg->owned);
  char *data = arg->owned;
  for (size_t i = 0; i < (size_t)h->lanes; i++) {
    float f;
    tk_check_step(r->env, i);
    memcpy(&f, data + i * sizeof f, sizeof f);
    tk_lane_set_double(d, data + i * size, (double)f);
  }
  tkn_arg_layout(l, arg, d, h->rank, h->shape);
}

void tkn_npy_load(tkn_reader *r, tk_launch *l, tk_arg *arg,
                  const tk_tensor *want) {
  tkn_npy h;
  tkn_npy_header(r, &h);
  if (!want && h.raw)
    tkn_file_fail(r->env, r->name, "void items need a dtype: bf16[...]:@%s",
                  r->name);
  if (want) check_want(r, &h, want);
  tk_dtype d = want ? want->dtype : h.dtype;
  if (convert(&h, d) == ROUND) {
    load_rounded(r, &h, l, arg, d);
    return;
  }
  tkn_arg_own(l, arg, d, h.rank, h.shape);
  tkn_npy_data(r, &h, arg->tensor.data);
}

/* ---- writing ----------------------------------------------------------- */

static void write_header(tkn_writer *w, const tk_tensor *t, const char *np) {
  char text[SHAPE_TEXT + 128]; /* and its padding */
  size_t n = (size_t)snprintf(text, sizeof text,
                              "{'descr': '%s', 'fortran_order': False, "
                              "'shape': (",
                              np);
  for (int i = 0; i < t->rank; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%lld%s",
                          (long long)t->shape[i],
                          t->rank == 1 || i + 1 < t->rank ? ", " : "");
  if (t->rank == 1) n--; /* (5,) has no blank */
  n += (size_t)snprintf(text + n, sizeof text - n, "), }");
  while ((10 + n + 1) % 64) text[n++] = ' ';
  text[n++] = '\n';
  uint8_t head[10] = {[6] = 1, [8] = (uint8_t)n, [9] = (uint8_t)(n >> 8)};
  memcpy(head, magic, sizeof magic);
  tkn_write(w, head, sizeof head);
  tkn_write(w, text, n);
}

/* Lanes go through a chunk, in row-major order whatever the strides. */
typedef struct lane_writer {
  tkn_writer *w;
  const tk_tensor *t;
  bool widen; /* to float32 */
  size_t size, n;
  char chunk[4096];
} lane_writer;

static void put_lane(lane_writer *o, const char *lane) {
  if (o->n + 8 > sizeof o->chunk) {
    tkn_write(o->w, o->chunk, o->n);
    o->n = 0;
  }
  float f;
  if (o->widen) {
    f = (float)tk_lane_double(o->t->dtype, lane);
    memcpy(o->chunk + o->n, &f, sizeof f);
  } else
    memcpy(o->chunk + o->n, lane, o->size);
  o->n += o->widen ? sizeof f : o->size;
}

static void put_axis(lane_writer *o, int axis, const char *at) {
  const tk_tensor *t = o->t;
  if (axis == t->rank) {
    put_lane(o, at);
    return;
  }
  for (int64_t i = 0; i < t->shape[axis]; i++)
    put_axis(o, axis + 1, at + i * t->strides[axis] * (int64_t)o->size);
}

void tkn_npy_write(tkn_writer *w, const tk_tensor *t) {
  const char *np = tk_dtypes[t->dtype].np;
  lane_writer o = {.w = w, .t = t, .size = tk_dtypes[t->dtype].size};
  o.widen = !np[0];
  write_header(w, t, o.widen ? "<f4" : np);
  put_axis(&o, 0, t->data);
  tkn_write(w, o.chunk, o.n);
}
