/* test_spec.c - what the language means, as plain text.
 *
 * Runs every *.spec file beside this source, and those that the build wrote
 * beside the program; README.md says how they are written.  All lines of a
 * block are cases of one kernel: lanes of one block of lanes, or, where a
 * column has a shape, one program each.
 */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/axis_watch.h"
#include "support/float_format.h"
#include "tkdbg/compile.h"
#include "support/suite.h"

enum {
  MAX_COLUMNS = 64,
  MAX_LINES = 4096,
  MAX_TEXT = 1 << 16,
  MAX_SHOWN = 20, /* failures shown for each file */
  MAX_AXES = 4
};

typedef struct column {
  char name[32];
  char type[16]; /* as the file spells it */
  tk_dtype dtype;
  bool pointer;
  int rank;
  long shape[MAX_AXES], count; /* elements of one case */
  long ulp;
  unsigned char *data;
  char *expect; /* outputs: per element '=' these bits, 'n' NaN, '?' any */
  unsigned char *want;
} column;

typedef struct text {
  char s[MAX_TEXT];
  size_t n;
} text;

typedef struct block {
  char title[256];
  char triton[16]; /* the version whose meaning it has; "": the newest */
  column in[MAX_COLUMNS], out[MAX_COLUMNS];
  int nin, nout;
  text body;
  char *line[MAX_LINES];
  int number[MAX_LINES], tag[MAX_LINES], nlines; /* tag: one output, or -1 */
  bool programs;
  long cases; /* lanes, or programs */
} block;

typedef struct file {
  const char *path, *name; /* the name is the end of the path */
  int line;
  long assertions, failures;
  int way;
} file;

static char *paths[256];
static int npaths;
static const char *engine; /* the only way, where it is given */

static void put(text *t, const char *s) {
  size_t n = strlen(s);
  ck_assert_uint_lt(t->n + n, MAX_TEXT);
  memcpy(t->s + t->n, s, n + 1);
  t->n += n;
}

/* ---- columns ----------------------------------------------------------- */

static void malformed(const file *f, const char *why, const char *what) {
  ck_abort_msg("%s:%d: %s: %s", f->name, f->line, why, what);
}

static tk_dtype type_named(const file *f, const char *name) {
  char full[32];
  snprintf(full, sizeof full, "%s%s", name[0] == 'e' ? "fp8" : "", name);
  int d = tk_dtype_from_name(full);
  if (d < 0) malformed(f, "unknown type", name);
  return (tk_dtype)d;
}

static void read_shape(column *c, const char *s) {
  c->count = 1;
  while (s && *s && *s != ']') {
    char *end;
    c->shape[c->rank] = strtol(s + 1, &end, 10);
    c->count *= c->shape[c->rank++];
    s = end;
  }
}

/* "name type", "name f32[4,8]", "name *f32[8] ulp=2 own=0" */
static void read_column(const file *f, column *c, const char *s) {
  char type[64], rest[64] = "";
  memset(c, 0, sizeof *c);
  if (sscanf(s, " %31s %63s %63[^\n]", c->name, type, rest) < 2)
    malformed(f, "a column is NAME TYPE", s);
  char *name = type;
  c->pointer = *name == '*';
  name += c->pointer;
  char *bracket = strchr(name, '[');
  read_shape(c, bracket);
  if (bracket) *bracket = 0;
  snprintf(c->type, sizeof c->type, "%s", name);
  c->dtype = type_named(f, name);
  const char *ulp = strstr(rest, "ulp="), *own = strstr(rest, "own=");
  if (ulp) c->ulp = strtol(ulp + 4, NULL, 10);
  if (own) c->ulp = strtol(own + 4, NULL, 10);
}

/* Columns are separated by commas outside of brackets. */
static int read_columns(const file *f, column *c, char *s) {
  int n = 0, depth = 0;
  for (char *start = s;; s++) {
    depth += (*s == '[') - (*s == ']');
    if (*s && (*s != ',' || depth)) continue;
    bool last = !*s;
    *s = 0;
    if (n == MAX_COLUMNS) malformed(f, "too many columns", start);
    read_column(f, &c[n++], start);
    if (last) return n;
    start = s + 1;
  }
}

/* ---- kernels ----------------------------------------------------------- */

static const char *type_in_source(const column *c) {
  static const char *const names_of[] = {
#define DTYPE(id, name, bits, kind, np, st, doc) [TK_##id] = name,
#include "tkdbg/dtype.def"
#undef DTYPE
  };
  switch (c->dtype) {
  case TK_FP16: return "float16";
  case TK_BF16: return "bfloat16";
  case TK_FP32: return "float32";
  case TK_FP64: return "float64";
  default: return names_of[c->dtype];
  }
}

static void put_type(text *t, const column *c) {
  const char *name = type_in_source(c);
  put(t, strncmp(name, "fp8", 3) ? "tl." : "tl.float8");
  put(t, strncmp(name, "fp8", 3) ? name : name + 3);
}

/* Where element (i, j, ...) of this case lies. */
static void put_offset(text *t, const block *b, const column *c) {
  char s[128];
  if (!b->programs) {
    put(t, "i_");
    return;
  }
  snprintf(s, sizeof s, "tl.program_id(0) * %ld", c->count);
  put(t, s);
  if (c->pointer) return;
  long stride = c->count;
  for (int i = 0; i < c->rank; i++) {
    stride /= c->shape[i];
    snprintf(s, sizeof s, " + tl.arange(0, %ld)[", c->shape[i]);
    put(t, s);
    for (int j = 0; j < c->rank; j++) put(t, j == i ? ":, " : "None, ");
    snprintf(s, sizeof s, "] * %ld", stride);
    put(t, s);
  }
}

static void put_header(text *t, const block *b) {
  put(t, "@triton.jit\ndef k(");
  for (int i = 0; i < b->nin; i++) {
    put(t, b->in[i].name);
    put(t, "_in, ");
  }
  for (int i = 0; i < b->nout; i++) {
    if (b->out[i].pointer) continue;
    put(t, b->out[i].name);
    put(t, "_out, ");
  }
  put(t, "N_: tl.constexpr):\n");
  if (!b->programs) put(t, "    i_ = tl.arange(0, N_)\n");
}

static void put_inputs(text *t, const block *b) {
  for (int i = 0; i < b->nin; i++) {
    const column *c = &b->in[i];
    put(t, "    ");
    put(t, c->name);
    put(t, c->pointer ? " = " : " = tl.load(");
    put(t, c->name);
    put(t, "_in + ");
    put_offset(t, b, c);
    put(t, c->pointer ? "\n" : ")\n");
  }
}

static void put_outputs(text *t, const block *b) {
  for (int i = 0; i < b->nout; i++) {
    const column *c = &b->out[i];
    if (c->pointer) continue;
    put(t, "    tl.static_assert(");
    put(t, c->name);
    put(t, ".dtype == ");
    put_type(t, c);
    put(t, ", 'result type')\n    tl.store(");
    put(t, c->name);
    put(t, "_out + ");
    put_offset(t, b, c);
    put(t, ", ");
    put(t, c->name);
    put(t, ")\n");
  }
}

static void put_indented(text *t, const char *s) {
  put(t, "    ");
  put(t, s);
  put(t, "\n");
}

/* Lines before "kernel:" stand outside of it. */
static void put_kernel(text *t, const block *b, const char *only) {
  const char *mark = strstr(b->body.s, "\nkernel:\n"), *body = b->body.s;
  put(t, "import triton\nimport triton.language as tl\n");
  if (mark) {
    size_t n = (size_t)(mark + 1 - body);
    ck_assert_uint_lt(t->n + n, MAX_TEXT);
    memcpy(t->s + t->n, body, n);
    t->s[t->n += n] = 0;
    body = mark + strlen("\nkernel:\n");
  }
  put_header(t, b);
  put_inputs(t, b);
  put(t, body);
  if (only)
    put_indented(t, only);
  else
    put_outputs(t, b);
}

/* ---- lanes as text ----------------------------------------------------- */

static void store_bits(unsigned char *p, size_t size, uint64_t bits) {
  memcpy(p, &bits, size); /* little-endian, as everything here */
}

static uint64_t load_bits(const unsigned char *p, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, p, size);
  return bits;
}

/* One lane of text: how it is compared, and its bits. */
static char read_lane(const file *f, const column *c, const char *s,
                      uint64_t *bits) {
  const ff_format *ff = ff_named(tk_dtype_name(c->dtype));
  char *end;
  *bits = 0;
  if (!strcmp(s, "?")) return '?';
  if (!strncmp(s, "0x", 2)) {
    *bits = strtoull(s, &end, 16);
  } else if (!ff) {
    *bits = *s == '-' ? (uint64_t)strtoll(s, &end, 10) : strtoull(s, &end, 10);
  } else if (!strcmp(s, "nan")) {
    *bits = ff->special == FF_FNUZ ? 1u << (ff_bits(ff) - 1)
            : ff->special == FF_FN
                ? (1u << (ff_bits(ff) - 1)) - 1
                : (((uint64_t)2 << ff->ebits) - 1) << (ff->mbits - 1);
    return 'n';
  } else {
    ff_value v = ff_from_double(strtod(s, &end));
    *bits = ff_encode(ff, v, FF_NEAREST_EVEN, false);
  }
  if (*end) malformed(f, "not a lane", s);
  return '=';
}

static void set_lane(const file *f, column *c, long at, const char *s,
                     bool out) {
  size_t size = tk_dtype_size(c->dtype);
  uint64_t bits;
  char how = read_lane(f, c, s, &bits);
  if (out) c->expect[at] = how;
  store_bits((out ? c->want : c->data) + (size_t)at * size, size, bits);
}

/* "5" or "[1 2 3*4]"; what follows it. */
static char *read_case(const file *f, column *c, long at, char *s, bool out) {
  while (*s == ' ') s++;
  bool list = *s == '[';
  long n = 0;
  for (s += list; n < c->count; s += *s == ' ') {
    char word[64];
    size_t len = strcspn(s, " ]");
    if (!len || len >= sizeof word) malformed(f, "lanes are missing", c->name);
    memcpy(word, s, len);
    word[len] = 0;
    s += len;
    char *star = strchr(word, '*');
    long repeat = star ? strtol(star + 1, NULL, 10) : 1;
    if (star) *star = 0;
    for (; repeat-- && n < c->count; n++)
      set_lane(f, c, at * c->count + n, word, out);
  }
  if (list && *s++ != ']') malformed(f, "too many lanes", c->name);
  return s;
}

static int tag_of(const block *b, const char *s) {
  size_t n = strcspn(s, " ");
  for (int i = 0; i < b->nout; i++)
    if (b->nout > 1 && strlen(b->out[i].name) == n &&
        !strncmp(b->out[i].name, s, n))
      return i;
  return -1;
}

static void read_line(file *f, block *b, int k) {
  char *copy = strdup(b->line[k]), *s = copy;
  f->line = b->number[k];
  b->tag[k] = tag_of(b, s);
  if (b->tag[k] >= 0) s += strcspn(s, " ");
  for (int i = 0; i < b->nin; i++) s = read_case(f, &b->in[i], k, s, false);
  while (*s == ' ') s++;
  if (strncmp(s, "->", 2)) malformed(f, "-> expected", s);
  s += 2;
  for (int i = 0; i < b->nout; i++)
    if (b->tag[k] < 0 || b->tag[k] == i)
      s = read_case(f, &b->out[i], k, s, true);
  while (*s == ' ') s++;
  if (*s && *s != '#') malformed(f, "more than was declared", s);
  free(copy);
}

/* ---- running ----------------------------------------------------------- */

static void allocate(block *b, column *c, bool out) {
  size_t n = (size_t)(b->cases * c->count), size = tk_dtype_size(c->dtype);
  c->data = calloc(n, size);
  if (!out) return;
  c->want = calloc(n, size);
  c->expect = malloc(n);
  memset(c->expect, '?', n);
}

static void release(column *c) {
  free(c->data);
  free(c->want);
  free(c->expect);
}

static void prepare(block *b) {
  b->programs = false;
  for (int i = 0; i < b->nin; i++)
    b->programs |= b->in[i].pointer || b->in[i].rank;
  for (int i = 0; i < b->nout; i++)
    b->programs |= b->out[i].pointer || b->out[i].rank;
  b->cases = b->nlines ? b->nlines : 4;
  if (!b->programs)
    while (b->cases & (b->cases - 1)) b->cases++;
  for (int i = 0; i < b->nin; i++) allocate(b, &b->in[i], false);
  for (int i = 0; i < b->nout; i++) allocate(b, &b->out[i], true);
}

/* Lanes past the last line repeat the first. */
static void fill_up(block *b) {
  for (int i = 0; i < b->nin; i++) {
    column *c = &b->in[i];
    size_t size = (size_t)c->count * tk_dtype_size(c->dtype);
    for (long k = b->nlines; k < b->cases; k++)
      memcpy(c->data + (size_t)k * size, c->data, size);
  }
}

static tk_status give(tk_launch *l, const block *b, const column *c,
                      const char *suffix) {
  char name[48];
  tk_tensor t = {.data = c->data, .dtype = c->dtype, .rank = 1};
  t.shape[0] = b->cases * c->count;
  t.strides[0] = 1;
  snprintf(name, sizeof name, "%s%s", c->name, suffix);
  return tk_launch_tensor(l, name, &t);
}

static tk_status describe(tk_launch *l, const block *b) {
  tk_value n = {.kind = TK_V_INT, .is_constexpr = true};
  n.lo = (uint64_t)b->cases;
  tk_status st = tk_launch_grid(l, b->programs ? b->cases : 1, 1, 1);
  for (int i = 0; i < b->nin && st == TK_OK; i++)
    st = give(l, b, &b->in[i], "_in");
  for (int i = 0; i < b->nout && st == TK_OK; i++)
    if (!b->out[i].pointer) st = give(l, b, &b->out[i], "_out");
  return st == TK_OK ? tk_launch_value(l, "N_", &n) : st;
}

/* Ways to run a kernel: as specialised; its typed form printed and read again;
 * what all of the compiler's passes leave; and what each of them leaves. */
enum { SPECIALISED, FROM_TEXT, ALL_PASSES, ONE_PASS };

/* Under a sanitizer the passes run together alone: that takes long enough, and
 * no pass touches memory that all of them do not. */
static int ways(void) {
  int n = ONE_PASS;
  if (engine) return 1;
#ifndef __SANITIZE_ADDRESS__
  while (tk_pass_name((size_t)(n - ONE_PASS))) n++;
#endif
  return n;
}

static const char *way_name(int way) {
  static const char *const whole[] = {"specialised", "from text", "all passes"};
  if (engine) return engine;
  return way < ONE_PASS ? whole[way] : tk_pass_name((size_t)(way - ONE_PASS));
}

/* The passes other than that of the way. */
static const char *passes_to_skip(int way, char *list, size_t size) {
  const char *name;
  *list = 0;
  for (size_t i = 0; way >= ONE_PASS && (name = tk_pass_name(i)); i++) {
    size_t n = strlen(list);
    if ((int)i != way - ONE_PASS)
      snprintf(list + n, size - n, "%s%s", n ? "," : "", name);
  }
  return list;
}

/* The kernel's form for the way; NULL: it does not compile. */
static const char *form_for_way(tk_launch *l, int way) {
  char skip[200];
  tk_emit_options o = {.size = sizeof o,
                       .skip = passes_to_skip(way, skip, sizeof skip)};
  const char *form = NULL;
  if (way == FROM_TEXT) return tk_launch_ir(l);
  tk_launch_emit(l, &o, &form);
  return form;
}

static tk_status run_source(tk_session *s, const block *b, const text *t,
                            bool compile_only, int way) {
  tk_run_options opt = {.size = sizeof opt, .dot = "exact", .engine = engine};
  tk_module *m;
  tk_function *fn;
  tk_launch *l;
  tk_status st = TK_OK;
  if (*b->triton) st = tk_session_triton_version(s, b->triton);
  if (st == TK_OK) st = tk_module_open(s, "spec.py", t->s, t->n, &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &fn);
  if (st == TK_OK) st = tk_launch_new(s, fn, &l);
  if (st == TK_OK)
    st = tk_launch_compile_option(l, "supported_fp8_dtypes",
                                  "fp8e4b15,fp8e4nv,fp8e4b8,fp8e5,fp8e5b16");
  if (st == TK_OK) st = describe(l, b);
  if (st == TK_OK && way != SPECIALISED) {
    const char *form = form_for_way(l, way);
    if (!form) return TK_FINDING;
    if (way == ALL_PASSES) axis_watch(s);
    st = tk_ir_open(s, "spec.tk", form, strlen(form), &fn);
    if (st == TK_OK) st = tk_launch_new(s, fn, &l);
    if (st == TK_OK) st = describe(l, b);
  }
  if (st != TK_OK) return st;
  return compile_only ? tk_launch_compile(l) : tk_launch_run(l, &opt, NULL);
}

/* ---- comparing --------------------------------------------------------- */

/* Neighbouring numbers have neighbouring places; -0 is just below +0. */
static int64_t place(uint64_t code, int bits) {
  uint64_t sign = (uint64_t)1 << (bits - 1);
  return code & sign ? -(int64_t)(code & (sign - 1)) - 1 : (int64_t)code;
}

static bool near_enough(const column *c, const ff_format *ff, uint64_t got,
                        uint64_t want) {
  ff_value g = ff_decode(ff, got), w = ff_decode(ff, want);
  if (!c->ulp || g.kind > FF_FINITE || w.kind != FF_FINITE) return false;
  int64_t d = place(got, ff_bits(ff)) - place(want, ff_bits(ff));
  return (d < 0 ? -d : d) <= c->ulp;
}

/* What code for a GPU computes less exactly, as docs/compile.md says: exp of
 * fp32, and remainders of floats. */
static bool is_approximate(const block *b, const column *c) {
  bool is_float = ff_named(tk_dtype_name(c->dtype)) != NULL;
  bool by_exp =
      !strcmp(b->title, "exp f32") || !strcmp(b->title, "sigmoid f32");
  return engine && is_float && (by_exp || !strcmp(c->name, "rem"));
}

static bool is_subnormal(const unsigned char *data, int k) {
  float x;
  memcpy(&x, data + (size_t)k * sizeof x, sizeof x);
  return fpclassify(x) == FP_SUBNORMAL;
}

/* Where code for a GPU has an instruction with .ftz, which takes subnormal
 * numbers for zero (src/ir/approximate.def). */
static bool is_flushed(const block *b, int k, const column *c) {
  static const char *const titles[] = {"exp2 f32", "sqrt f32", "rsqrt f32"};
  bool flushes = false;
  for (size_t i = 0; engine && i < sizeof titles / sizeof *titles; i++)
    flushes |= !strcmp(b->title, titles[i]);
  return flushes &&
         (is_subnormal(b->in[0].data, k) || is_subnormal(c->want, k));
}

static bool lane_agrees(const column *c, long at) {
  size_t size = tk_dtype_size(c->dtype);
  uint64_t got = load_bits(c->data + (size_t)at * size, size);
  uint64_t want = load_bits(c->want + (size_t)at * size, size);
  const ff_format *ff = ff_named(tk_dtype_name(c->dtype));
  if (c->expect[at] == '?') return true;
  if (c->expect[at] == 'n') return ff && ff_decode(ff, got).kind == FF_NAN;
  return got == want || (ff && near_enough(c, ff, got, want));
}

static void complain(file *f, int line, const char *why, const char *what) {
  if (f->failures++ < MAX_SHOWN)
    printf("%s:%d: %s: %s\n", f->name, line, why, what);
}

static void show_difference(file *f, const block *b, int k, const column *c,
                            long at) {
  size_t size = tk_dtype_size(c->dtype);
  char s[1024];
  snprintf(s, sizeof s, "%.300s\n  %s: %s, element %ld: got 0x%llx, not 0x%llx",
           b->line[k], b->title, c->name, at % c->count,
           (unsigned long long)load_bits(c->data + (size_t)at * size, size),
           (unsigned long long)load_bits(c->want + (size_t)at * size, size));
  complain(f, b->number[k], "differs", s);
}

/* A pointer column's memory after the run is that of the input. */
static void adopt_memory(block *b) {
  for (int i = 0; i < b->nout; i++)
    for (int j = 0; j < b->nin && b->out[i].pointer; j++)
      if (!strcmp(b->in[j].name, b->out[i].name))
        memcpy(b->out[i].data, b->in[j].data,
               (size_t)(b->cases * b->in[j].count) *
                   tk_dtype_size(b->in[j].dtype));
}

static void compare_line(file *f, const block *b, int k) {
  for (int i = 0; i < b->nout; i++) {
    const column *c = &b->out[i];
    if (b->tag[k] >= 0 && b->tag[k] != i) continue;
    if (is_approximate(b, c) || is_flushed(b, k, c)) continue;
    for (long e = k * c->count; e < (k + 1) * c->count; e++)
      if (!lane_agrees(c, e)) {
        show_difference(f, b, k, c, e);
        return;
      }
  }
}

static void run_block(file *f, block *b) {
  text *t = calloc(1, sizeof *t);
  tk_session *s = tk_session_new();
  prepare(b);
  for (int k = 0; k < b->nlines; k++) read_line(f, b, k);
  fill_up(b);
  put_kernel(t, b, NULL);
  f->assertions += b->nlines;
  if (run_source(s, b, t, false, f->way) != TK_OK) {
    const char *report = tk_report(s, false);
    if (!engine || !strstr(report, "NVIDIA's GPUs have no fp8"))
      complain(f, b->number[0], b->title, report);
  } else {
    adopt_memory(b);
    for (int k = 0; k < b->nlines; k++) compare_line(f, b, k);
  }
  for (int i = 0; i < b->nin; i++) release(&b->in[i]);
  for (int i = 0; i < b->nout; i++) release(&b->out[i]);
  tk_session_free(s);
  free(t);
}

/* ---- refusals ---------------------------------------------------------- */

/* "statement => part of the report"; the statement ends the kernel. */
static void run_refusal(file *f, block *b, char *line) {
  char *arrow = strstr(line, " => ");
  if (!arrow) malformed(f, "! STATEMENT => REPORT expected", line);
  *arrow = 0;
  text *t = calloc(1, sizeof *t);
  tk_session *s = tk_session_new();
  b->nlines = 0;
  prepare(b);
  put_kernel(t, b, line);
  f->assertions++;
  tk_status st = run_source(s, b, t, true, SPECIALISED);
  const char *report = tk_report(s, false);
  if (st != TK_FINDING)
    complain(f, f->line, "accepted", line);
  else if (!strstr(report, arrow + 4))
    complain(f, f->line, line, report);
  for (int i = 0; i < b->nin; i++) release(&b->in[i]);
  for (int i = 0; i < b->nout; i++) release(&b->out[i]);
  tk_session_free(s);
  free(t);
}

/* ---- files ------------------------------------------------------------- */

static void end_block(file *f, block *b) {
  if (b->nlines) run_block(f, b);
  if (b->nout && !b->nlines) malformed(f, "no case stands behind --", b->title);
  for (int i = 0; i < b->nlines; i++) free(b->line[i]);
  memset(b, 0, sizeof *b);
}

/* A line before "--". */
static void head_line(file *f, block *b, char *s) {
  if (!strncmp(s, "in: ", 4))
    b->nin = read_columns(f, b->in, s + 4);
  else if (!strncmp(s, "out: ", 5))
    b->nout = read_columns(f, b->out, s + 5);
  else if (!strncmp(s, "triton: ", 8))
    snprintf(b->triton, sizeof b->triton, "%s", s + 8);
  else if (!strncmp(s, "! ", 2))
    run_refusal(f, b, s + 2);
  else if (strncmp(s, "note: ", 6) && strncmp(s, "op: ", 4) && *s) {
    put(&b->body, s);
    put(&b->body, "\n");
  }
}

static void one_line(file *f, block *b, char *s, bool *in_cases) {
  if (!strncmp(s, "== ", 3)) {
    end_block(f, b);
    snprintf(b->title, sizeof b->title, "%s", s + 3);
    *in_cases = false;
  } else if (*s == '#' || !b->title[0]) {
    return;
  } else if (!strcmp(s, "--")) {
    *in_cases = true;
  } else if (!*in_cases) {
    head_line(f, b, s);
  } else if (*s) {
    if (b->nlines == MAX_LINES) malformed(f, "too many lines", b->title);
    b->number[b->nlines] = f->line;
    b->line[b->nlines++] = strdup(s);
  }
}

static void run_file(file *f) {
  char *line = NULL;
  size_t size = 0;
  FILE *in = fopen(f->path, "r");
  ck_assert_msg(in != NULL, "cannot open %s", f->path);
  block *b = calloc(1, sizeof *b);
  bool in_cases = false;
  for (int n = 1; getline(&line, &size, in) > 0; n++) {
    line[strcspn(line, "\n")] = 0;
    f->line = n;
    one_line(f, b, line, &in_cases);
  }
  end_block(f, b);
  free(b);
  free(line);
  fclose(in);
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

START_TEST(one_file) {
  file f = {.path = paths[_i / ways()], .way = _i % ways()};
  f.name = name_of(f.path);
  run_file(&f);
  printf("%-24s %-17s %6ld assertions, %ld failed\n", f.name, way_name(f.way),
         f.assertions, f.failures);
  fflush(stdout);
  ck_assert_msg(f.assertions > 0, "%s asserts nothing", f.name);
  ck_assert_msg(f.failures == 0, "%s: %ld of %ld assertions failed", f.name,
                f.failures, f.assertions);
}
END_TEST

static int by_name(const void *a, const void *b) {
  return strcmp(name_of(*(char *const *)a), name_of(*(char *const *)b));
}

/* Adds the files that the arguments name, or all, of the folder that another
 * file lies in. */
static int find_files(const char *beside, int argc, char **argv) {
  int folder = (int)(name_of(beside) - beside), before = npaths;
  char *name = strndup(beside, (size_t)folder);
  DIR *d = opendir(name);
  for (struct dirent *e; d && (e = readdir(d)) && npaths < 256;) {
    const char *dot = strrchr(e->d_name, '.');
    bool chosen = argc < 2;
    for (int i = 1; i < argc; i++) chosen |= strstr(e->d_name, argv[i]) != NULL;
    if (dot && !strcmp(dot, ".spec") && chosen &&
        asprintf(&paths[npaths], "%s%s", name, e->d_name) > 0)
      npaths++;
  }
  if (d) closedir(d);
  free(name);
  return npaths - before;
}

int main(int argc, char **argv) {
  const char *program = argv[0];
  if (argc > 2 && !strcmp(argv[1], "--engine")) {
    engine = argv[2];
    argc -= 2;
    argv += 2;
  }
  int written = find_files(program, argc, argv);
  int kept = find_files(__FILE__, argc, argv);
  bool found = argc > 1 ? written + kept > 0 : written > 0 && kept > 0;
  qsort(paths, (size_t)npaths, sizeof *paths, by_name);
  Suite *suite = suite_create("spec");
  TCase *tc = tcase_create("files");
  tcase_set_timeout(tc, engine ? 600 : 120);
  tcase_add_loop_test(tc, one_file, 0, ways() * npaths);
  suite_add_tcase(suite, tc);
  int failed = run_suite(suite);
  for (int i = 0; i < npaths; i++) free(paths[i]);
  if (!found) fprintf(stderr, "specifications are missing: make spec-files\n");
  return failed || !found ? 1 : 0;
}
