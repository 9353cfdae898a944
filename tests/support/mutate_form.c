/* mutate_form.c - changes a text of a typed form, line by line and word by
 * word. */
#include "support/mutate_form.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "ir/libdevice.h"
#include "tkdbg/ir.h"

typedef struct mutant {
  char **lines; /* of the functions; owned, each too */
  size_t n, cap;
  const char *sources; /* what stands behind them */
  uint64_t state;
} mutant;

/* ---- chance ------------------------------------------------------------- */

static uint32_t draw(mutant *m, uint32_t n) {
  m->state ^= m->state << 13;
  m->state ^= m->state >> 7;
  m->state ^= m->state << 17;
  return n ? (uint32_t)((m->state >> 32) % n) : 0;
}

static void *must(void *p) {
  if (!p) abort();
  return p;
}

/* ---- lines -------------------------------------------------------------- */

static void insert_line(mutant *m, size_t at, char *line) {
  if (m->n == m->cap) {
    m->cap = m->cap ? 2 * m->cap : 64;
    m->lines = must(realloc(m->lines, m->cap * sizeof *m->lines));
  }
  memmove(m->lines + at + 1, m->lines + at, (m->n - at) * sizeof *m->lines);
  m->lines[at] = line;
  m->n++;
}

static void delete_line(mutant *m, size_t at) {
  free(m->lines[at]);
  memmove(m->lines + at, m->lines + at + 1, (--m->n - at) * sizeof *m->lines);
}

static void split_lines(mutant *m, const char *form) {
  const char *end = strstr(form, "\nsource ");
  m->sources = end ? end : form + strlen(form);
  for (const char *p = form; p < m->sources;) {
    size_t n = strcspn(p, "\n");
    insert_line(m, m->n, must(strndup(p, n)));
    p += n + (p[n] == '\n');
  }
}

static char *join_lines(mutant *m) {
  char *text;
  size_t size;
  FILE *out = must(open_memstream(&text, &size));
  for (size_t i = 0; i < m->n; i++) {
    fprintf(out, "%s\n", m->lines[i]);
    free(m->lines[i]);
  }
  fputs(m->sources, out);
  fclose(out);
  free(m->lines);
  return text;
}

/* bytes [from, to) of a line become other text */
static void replace_part(char **line, size_t from, size_t to,
                         const char *text) {
  size_t n = strlen(*line), k = strlen(text);
  char *out = must(malloc(n + k + 1));
  memcpy(out, *line, from);
  memcpy(out + from, text, k);
  memcpy(out + from + k, *line + to, n - to + 1);
  free(*line);
  *line = out;
}

static void replace_all(mutant *m, const char *was, const char *is) {
  size_t n = strlen(was), k = strlen(is);
  for (size_t i = 0; i < m->n; i++)
    for (char *p = m->lines[i]; (p = strstr(p, was));) {
      size_t at = (size_t)(p - m->lines[i]);
      replace_part(&m->lines[i], at, at + n, is);
      p = m->lines[i] + at + k;
    }
}

/* ---- words -------------------------------------------------------------- */

typedef struct word {
  size_t at, n;
  char kind; /* %, @, number: 0, a word: a, a string: ", else a sign */
} word;

enum { MOST_WORDS = 256 };

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '#' || c == '.';
}

static size_t words_of(const char *line, word *out) {
  size_t n = 0;
  for (size_t i = 0; line[i] && n < MOST_WORDS;) {
    size_t from = i++;
    char c = line[from];
    if (isspace((unsigned char)c)) continue;
    if (c == '%' || c == '@') {
      while (is_name(line[i])) i++;
    } else if (isdigit((unsigned char)c) ||
               (c == '-' && isdigit((unsigned char)line[i]))) {
      while (isalnum((unsigned char)line[i])) i++;
      c = '0';
    } else if (isalpha((unsigned char)c)) {
      while (is_name(line[i])) i++;
      c = 'a';
    } else if (c == '"') {
      while (line[i] && line[i] != '"')
        i += line[i] == '\\' && line[i + 1] ? 2 : 1;
      i += line[i] == '"';
    }
    out[n++] = (word){from, i - from, c};
  }
  return n;
}

/* Where a type begins that ends at the end of the line, but for its place. */
static bool is_dtype(const char *s, size_t n) {
  char name[16];
  if (n >= sizeof name) return false;
  memcpy(name, s, n);
  name[n] = 0;
  for (int d = 0; d < TK_DTYPE_COUNT; d++)
    if (!strcmp(tk_dtypes[d].name, name)) return true;
  return false;
}

/* The length of the type that begins here; 0: none does. */
static size_t type_length(const char *p) {
  size_t n = 0;
  int depth = 0;
  if (!strncmp(p, "<[", 2) || !strncmp(p, "pointer<", 8) ||
      !strncmp(p, "const_pointer<", 14)) {
    do {
      depth += (p[n] == '<') - (p[n] == '>');
      n++;
    } while (p[n] && (depth || (n < 15 && !memchr(p, '<', n))));
    return depth ? 0 : n;
  }
  while (isalnum((unsigned char)p[n])) n++;
  return is_dtype(p, n) ? n : 0;
}

/* The i-th type of a line, copied. */
static bool type_in(const char *line, size_t i, char out[128]) {
  for (const char *p = line; *p; p++) {
    if (p > line && is_name(p[-1])) continue;
    size_t n = type_length(p);
    if (!n) continue;
    if (i-- == 0 && n < 128) {
      memcpy(out, p, n);
      out[n] = 0;
      return true;
    }
    p += n - 1;
  }
  return false;
}

/* ---- values at hand ----------------------------------------------------- */

typedef struct value {
  char name[40], type[128];
} value;

enum { MOST_VALUES = 128 };

static void add_value(value *v, size_t *n, const char *name, size_t len,
                      const char *type) {
  if (*n == MOST_VALUES || len >= sizeof v->name) return;
  memcpy(v[*n].name, name, len);
  v[*n].name[len] = 0;
  snprintf(v[*n].type, sizeof v->type, "%s", type);
  ++*n;
}

/* Those that lines of the function declare or define before line `at`. */
static size_t values_before(const mutant *m, size_t at, value *out) {
  size_t n = 0, first = at, nw;
  word w[MOST_WORDS];
  char type[128];
  while (first > 0 && strncmp(m->lines[first], "kernel", 6) &&
         strncmp(m->lines[first], "func", 4) &&
         strncmp(m->lines[first], "library", 7))
    first--;
  for (size_t i = first; i < at; i++) {
    const char *line = m->lines[i];
    nw = words_of(line, w);
    for (size_t k = 0; k + 1 < nw; k++)
      if (w[k].kind == '%' && line[w[k + 1].at] == ':' &&
          type_in(line + w[k + 1].at, 0, type) && (i == first || k == 1))
        add_value(out, &n, line + w[k].at, w[k].n, type);
    size_t k = 0;
    while (k + 1 < nw && w[k].kind == '%' && line[w[k + 1].at] == ',') k += 2;
    if (!nw || k + 1 >= nw || w[0].kind != '%' || line[w[k + 1].at] != '=')
      continue;
    const char *colon = strstr(line, " : ");
    for (size_t r = 0; colon && 2 * r <= k; r++)
      if (type_in(colon, r, type))
        add_value(out, &n, line + w[2 * r].at, w[2 * r].n, type);
  }
  return n;
}

/* ---- types -------------------------------------------------------------- */

static void other_type(mutant *m, const char *was, char out[160]) {
  const char *names[] = {"int1",  "int8",   "int16",  "int32",   "int64",
                         "uint8", "uint32", "uint64", "fp8e4nv", "fp8e5",
                         "fp16",  "bf16",   "fp32",   "fp64"};
  const char *elem = names[draw(m, TK_COUNT(names))];
  const char *from = strrchr(was, ' '), *close = strchr(was, ']');
  from = from ? from + 1 : was;
  size_t lead = (size_t)(from - was);
  switch (draw(m, 6)) {
  case 0: /* a scalar of its element */
    snprintf(out, 160, "%.*s", (int)strcspn(from, ">"), from);
    return;
  case 1: /* a number of another size on an axis */
  case 2:
    if (close) {
      size_t k = 2 + (size_t)draw(m, (uint32_t)(close - was - 2));
      while (k > 2 && isdigit((unsigned char)was[k - 1])) k--;
      size_t n = strspn(was + k, "0123456789");
      static const int sizes[] = {1, 2, 4, 8, 16, 32, 3, 64};
      snprintf(out, 160, "%.*s%d%s", (int)k, was, sizes[draw(m, 8)],
               was + k + n);
      return;
    }
    snprintf(out, 160, "<[%d], %s>", 1 << draw(m, 6), was);
    return;
  case 3: /* another axis, or one less */
    if (close && draw(m, 2))
      snprintf(out, 160, "%.*s, %d%s", (int)(close - was), was, 1 << draw(m, 4),
               close);
    else if (close && strchr(was, ',') < close)
      snprintf(out, 160, "<[%s", strchr(was, ',') + 1);
    else
      snprintf(out, 160, "pointer<%s>", elem);
    return;
  default: break;
  }
  if (!strncmp(from, "pointer<", 8) && draw(m, 3))
    snprintf(out, 160, "%.*spointer<%s>%s", (int)lead, was, elem,
             lead ? ">" : "");
  else
    snprintf(out, 160, "%.*s%s%s", (int)lead, was, elem, lead ? ">" : "");
}

/* ---- instructions from their rows ---------------------------------------- */

static void put_word(mutant *m, FILE *out, const char *kind) {
  size_t n = 0;
  while (tk_ir_word(kind, n)) n++;
  fputs(tk_ir_word(kind, draw(m, (uint32_t)n)), out);
}

static void put_attr(mutant *m, FILE *out, const char *kind) {
  static const int64_t ints[] = {0, 1, 2, 3, -1, 4, 8, 16, 32, 1000};
  int64_t number = ints[draw(m, draw(m, 8) ? 4 : 10)];
  if (tk_ir_word(kind, 0)) {
    put_word(m, out, kind);
  } else if (!strcmp(kind, "flag")) {
    fputs(draw(m, 2) ? "true" : "false", out);
  } else if (!strcmp(kind, "axes")) {
    static const char *const axes[] = {"[0]",       "[1, 0]", "[0, 1]",
                                       "[2, 0, 1]", "[]",     "[0, 2, 1]"};
    fputs(axes[draw(m, 6)], out);
  } else if (!strcmp(kind, "values")) {
    fputs(draw(m, 2) ? "[8]" : "[16, 1]", out);
  } else if (!strcmp(kind, "function")) {
    size_t n = 0;
    while (tk_extern_at(n)) n++;
    fputs(tk_extern_at(draw(m, (uint32_t)n))->name, out);
  } else {
    fprintf(out, "%lld", (long long)number);
  }
}

static void put_attrs(mutant *m, FILE *out, size_t op) {
  const char *name, *kind, *before = " {";
  for (size_t k = 0; (name = tk_ir_opcode_attr(op, k, &kind)); k++) {
    if (!draw(m, 4)) continue;
    fprintf(out, "%s%s = ", before, name);
    put_attr(m, out, kind);
    before = ", ";
  }
  if (*before == ',') fputc('}', out);
}

/* A function of the text. */
static void put_function(mutant *m, FILE *out) {
  const char *names[32];
  size_t n = 0;
  for (size_t i = 0; i < m->n && n < 32; i++) {
    const char *at = strchr(m->lines[i], '@');
    if (at && !isspace((unsigned char)*m->lines[i])) names[n++] = at;
  }
  if (!n) return;
  const char *at = names[draw(m, (uint32_t)n)];
  fprintf(out, "%.*s", (int)strcspn(at, "( "), at);
}

static void put_ref(mutant *m, FILE *out, const char *ref, const value *v,
                    size_t n) {
  static const char *const codes[] = {
      " code \"add.s32 $0, $1, 7;\" constraints \"=r,r\" pack 1",
      " code \"add.s32 $0, $1, $2;\" constraints \"=r,r,r\" pack 2",
      " code \"mov.b64 $0, $1;\" constraints \"=l,l\" pack 1",
      " code \"ld.global.b32 $0, [$1];\" constraints \"=r,l\" pack 1",
  };
  if (!ref) return;
  if (!strcmp(ref, "callee")) {
    fputc(' ', out);
    put_function(m, out);
  } else if (!strcmp(ref, "combine")) {
    for (uint32_t i = 0, k = draw(m, 5); i < k; i++) {
      fputs(i ? ", " : " by ", out);
      put_function(m, out);
    }
  } else if (!strcmp(ref, "code")) {
    fputs(codes[draw(m, 4)], out);
  } else {
    fputs(draw(m, 2) ? " hex" : " pids", out);
    if (!draw(m, 4))
      fprintf(out, " where \"0,>1\" of -, %s, -", v[draw(m, (uint32_t)n)].name);
    fputs(" [\"x\"", out);
    for (uint32_t i = draw(m, 3); i-- > 0;)
      fprintf(out, ", %s%s", v[draw(m, (uint32_t)n)].name,
              draw(m, 3) ? "" : ":\">5\"");
    fputc(']', out);
  }
}

/* %900 = NAME operands {attributes} reference : type */
static char *made_instruction(mutant *m, const value *v, size_t n) {
  size_t ops = 0, size;
  tk_ir_opcode row;
  tk_ir_operand o;
  char *text, type[160];
  const value *first = &v[draw(m, (uint32_t)n)];
  while (tk_ir_opcode_at(ops, &row)) ops++;
  size_t op = draw(m, (uint32_t)ops);
  tk_ir_opcode_at(op, &row);
  FILE *out = must(open_memstream(&text, &size));
  int results = row.results < 0 ? 1 + (int)draw(m, 2) : row.results;
  uint32_t number = 900 + draw(m, 99);
  fputs("    ", out);
  for (int i = 0; i < results; i++)
    fprintf(out, "%s%%%u%d", i ? ", " : "", number, i);
  fprintf(out, "%s%s", results ? " = " : "", row.name);
  const char *before = " ";
  const value *same = first;
  for (size_t k = 0; tk_ir_opcode_operand(op, k, &o); k++) {
    uint32_t count = o.many ? draw(m, 3) : !o.optional || draw(m, 2);
    for (; count-- > 0; before = ", ") {
      const value *x = k ? &v[draw(m, (uint32_t)n)] : first;
      for (int tries = 0;
           k && draw(m, 4) && tries < 12 && strcmp(x->type, same->type);
           tries++)
        x = &v[draw(m, (uint32_t)n)];
      fprintf(out, "%s%s%s%s", before, o.optional && !o.many ? o.name : "",
              o.optional && !o.many ? "=" : "", x->name);
    }
  }
  put_attrs(m, out, op);
  put_ref(m, out, row.ref, v, n);
  for (int i = 0; i < results || !i; i++) {
    const char *was = draw(m, 3) ? first->type : v[draw(m, (uint32_t)n)].type;
    snprintf(type, sizeof type, "%s", was);
    if (!draw(m, 3)) other_type(m, was, type);
    fprintf(out, "%s%s", i ? ", " : " : ", type);
  }
  for (int i = 0; !strcmp(row.name, "cond") && i < 2; i++)
    fprintf(out, "%s {\n%%%u0 = copy %s : %s\n }", i ? " else" : "", number,
            first->name, type);
  fclose(out);
  return text;
}

/* ---- mutations ----------------------------------------------------------- */

static bool is_instruction(const char *line) {
  return strstr(line, " : ") && isspace((unsigned char)*line);
}

static size_t some_instruction(mutant *m) {
  size_t at = draw(m, (uint32_t)m->n);
  for (size_t i = 0; i < m->n; i++, at = (at + 1) % m->n)
    if (is_instruction(m->lines[at])) return at;
  return at;
}

static void insert_made(mutant *m) {
  value *v = must(malloc(MOST_VALUES * sizeof *v));
  size_t at = some_instruction(m), n = values_before(m, at, v);
  if (n) insert_line(m, at + 1, made_instruction(m, v, n));
  free(v);
}

static void change_type(mutant *m) {
  size_t at = some_instruction(m);
  char was[128], is[160];
  if (!type_in(m->lines[at], draw(m, 2), was) && !type_in(m->lines[at], 0, was))
    return;
  other_type(m, was, is);
  if (draw(m, 3)) {
    replace_all(m, was, is);
    return;
  }
  char *p = strstr(m->lines[at], was);
  size_t from = (size_t)(p - m->lines[at]);
  replace_part(&m->lines[at], from, from + strlen(was), is);
}

/* Another word of the list that it is of, or another instruction. */
static void other_word(mutant *m, const char *was, size_t n, char out[64]) {
  static const char *const kinds[] = {
      "unary",     "binary",   "compare", "reduction", "atomic",
      "precision", "rounding", "window",  "sem",       "scope",
      "cache",     "eviction", "hint"};
  tk_ir_opcode row;
  const char *w;
  snprintf(out, 64, "%.*s", (int)(n < 60 ? n : 60), was);
  for (size_t i = 0; i < TK_COUNT(kinds); i++)
    for (size_t k = 0; (w = tk_ir_word(kinds[i], k)); k++)
      if (!strcmp(w, out) && draw(m, 2)) {
        size_t count = k + 1;
        while (tk_ir_word(kinds[i], count)) count++;
        snprintf(out, 64, "%s", tk_ir_word(kinds[i], draw(m, (uint32_t)count)));
        return;
      }
  size_t ops = 0;
  while (tk_ir_opcode_at(ops, &row)) ops++;
  tk_ir_opcode_at(draw(m, (uint32_t)ops), &row);
  snprintf(out, 64, "%s", row.name);
}

static void other_number(mutant *m, const char *was, char out[64]) {
  static const char *const odd[] = {"0",
                                    "1",
                                    "2",
                                    "3",
                                    "7",
                                    "-1",
                                    "16",
                                    "5",
                                    "31",
                                    "2147483647",
                                    "-2147483648",
                                    "0x8000000000000000",
                                    "9223372036854775807",
                                    "1000000"};
  long long v = strtoll(was, NULL, 0);
  switch (draw(m, 4)) {
  case 0: snprintf(out, 64, "%lld", v < INT64_MAX ? v + 1 : v); break;
  case 1: snprintf(out, 64, "%lld", v > INT64_MIN ? v - 1 : v); break;
  default: snprintf(out, 64, "%s", odd[draw(m, draw(m, 3) ? 6 : 14)]);
  }
}

/* A word becomes another of its kind. */
static void change_word(mutant *m) {
  size_t at = draw(m, 8) ? some_instruction(m) : draw(m, (uint32_t)m->n);
  word w[MOST_WORDS], v[MOST_WORDS];
  size_t n = words_of(m->lines[at], w);
  if (!n) return;
  word x = w[draw(m, (uint32_t)n)];
  char out[64];
  if (x.kind == 'a') {
    other_word(m, m->lines[at] + x.at, x.n, out);
  } else if (x.kind == '0') {
    other_number(m, m->lines[at] + x.at, out);
  } else { /* one of its kind, from another line */
    size_t from = draw(m, (uint32_t)m->n), k = words_of(m->lines[from], v);
    if (!k) return;
    size_t i = draw(m, (uint32_t)k);
    for (size_t tries = 0; tries < k && v[i].kind != x.kind; tries++)
      i = (i + 1) % k;
    if (v[i].n >= sizeof out || (v[i].kind != x.kind && draw(m, 8))) return;
    memcpy(out, m->lines[from] + v[i].at, v[i].n);
    out[v[i].n] = 0;
  }
  replace_part(&m->lines[at], x.at, x.at + x.n, out);
}

static void move_line(mutant *m) {
  size_t from = some_instruction(m), to = some_instruction(m);
  char *line = must(strdup(m->lines[from]));
  if (draw(m, 2)) delete_line(m, from);
  insert_line(m, to < m->n ? to : m->n, line);
}

/* A byte, anywhere. */
static void change_byte(mutant *m) {
  char *line = m->lines[draw(m, (uint32_t)m->n)];
  size_t n = strlen(line);
  if (n) line[draw(m, (uint32_t)n)] = (char)(1 + draw(m, 254));
}

char *mutated_form(const char *form, uint64_t seed) {
  mutant m = {.state = (seed + 1) * 0x9E3779B97F4A7C15u};
  split_lines(&m, form);
  draw(&m, 1);
  for (uint32_t k = 1 + draw(&m, 4); k-- > 0 && m.n;) {
    switch (draw(&m, 16)) {
    case 0: move_line(&m); break;
    case 1: delete_line(&m, some_instruction(&m)); break;
    case 2: change_byte(&m); break;
    case 3:
    case 4:
    case 5: change_type(&m); break;
    case 6:
    case 7:
    case 8:
    case 9: change_word(&m); break;
    default: insert_made(&m);
    }
  }
  return join_lines(&m);
}
