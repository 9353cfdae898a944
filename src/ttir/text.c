/* text.c - words and types of Triton's IR, and operations in either form.
 *
 * An operation is read the same way whatever it is: its values, words and
 * attributes up to the colon, then its types.  That holds for what Triton's
 * printers write and for MLIR's generic form; operations with regions (for, if,
 * while) are read by region.c from their name on. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ttir/read.h"

/* ---- failing, words -------------------------------------------------------
 */

void tkx_fail(tkx_reader *r, tk_span at, const char *help, const char *fmt,
              ...) {
  va_list ap;
  if (at.hi <= at.lo) at.hi = at.lo + (at.lo < r->text->len);
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(r->env, TK_D_SYNTAX, r->text, at, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(r->env, d, "%s", help);
  tk_throw(r->env, TK_USAGE);
}

void tkx_enter(tkx_reader *r) {
  enum { MOST_NESTED = 100 };
  if (++r->depth > MOST_NESTED)
    tkx_fail(r, tkx_here(r), NULL, "this is nested more than %d deep",
             MOST_NESTED);
}

static const char *rest(const tkx_reader *r) {
  return r->text->text + r->at;
}

void tkx_blanks(tkx_reader *r) {
  for (;;) {
    while (isspace((unsigned char)*rest(r))) r->at++;
    if (rest(r)[0] != '/' || rest(r)[1] != '/') return;
    while (*rest(r) && *rest(r) != '\n') r->at++;
  }
}

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static uint32_t word_bytes(const tkx_reader *r) {
  uint32_t n = 0;
  while (is_word_byte(rest(r)[n])) n++;
  return n;
}

tk_span tkx_here(tkx_reader *r) {
  tkx_blanks(r);
  uint32_t sign = *rest(r) == '%' || *rest(r) == '#' || *rest(r) == '^';
  uint32_t lo = r->at, n = 0;
  while (is_word_byte(rest(r)[sign + n])) n++;
  return (tk_span){lo, lo + (n ? sign + n : 1)};
}

bool tkx_peek(tkx_reader *r, const char *sign) {
  tkx_blanks(r);
  size_t n = strlen(sign);
  return !strncmp(rest(r), sign, n) &&
         (!isalpha((unsigned char)*sign) || !is_word_byte(rest(r)[n]));
}

bool tkx_take(tkx_reader *r, const char *sign) {
  if (!tkx_peek(r, sign)) return false;
  r->at += (uint32_t)strlen(sign);
  return true;
}

void tkx_need(tkx_reader *r, const char *sign, const char *after) {
  if (!tkx_take(r, sign))
    tkx_fail(r, tkx_here(r), NULL, "expected '%s' after %s", sign, after);
}

const char *tkx_name(tkx_reader *r, const char *what) {
  tkx_blanks(r);
  uint32_t n = word_bytes(r);
  if (!n) tkx_fail(r, tkx_here(r), NULL, "expected %s", what);
  r->at += n;
  return tk_arena_strndup(r->arena, rest(r) - n, n);
}

const char *tkx_value_name(tkx_reader *r) {
  tkx_need(r, "%", "this: the name of a value");
  uint32_t lo = r->at;
  while (is_word_byte(*rest(r)) || *rest(r) == '-') r->at++;
  if (*rest(r) == '#') do
      r->at++;
    while (isdigit((unsigned char)*rest(r)));
  return tk_arena_strndup(r->arena, r->text->text + lo, r->at - lo);
}

tkx_use tkx_need_use(tkx_reader *r) {
  tkx_blanks(r);
  tkx_use u = {.at = {r->at, 0}};
  const char *name = tkx_value_name(r);
  u.at.hi = r->at;
  int found = tk_lookup_find(&r->names, name);
  if (found >= 0) {
    u.slot = r->names.list.items[found].number;
    return u;
  }
  for (size_t i = 0; r->lift && i < r->constants.n; i++) {
    const tkx_constant *c = &r->constants.items[i];
    if (strcmp(c->name, name) != 0) continue;
    u.slot = tkx_constant_slot(r, tkx_lifted(r, c->type), c->bits);
    return u;
  }
  tkx_fail(r, u.at, NULL, "%%%s is not defined before this", name);
}

/* ---- what is passed over --------------------------------------------------
 */

static void skip_quoted(tkx_reader *r) {
  uint32_t lo = r->at++;
  while (*rest(r) && *rest(r) != '"')
    r->at += rest(r)[0] == '\\' && rest(r)[1] ? 2 : 1;
  if (!*rest(r))
    tkx_fail(r, (tk_span){lo, lo + 1}, NULL, "this \" is never closed");
  r->at++;
}

void tkx_skip_group(tkx_reader *r) {
  uint32_t lo = r->at;
  int depth = 0;
  do {
    char c = *rest(r);
    if (!c)
      tkx_fail(r, (tk_span){lo, lo + 1}, NULL, "this bracket is never closed");
    if (c == '"') {
      skip_quoted(r);
      continue;
    }
    if (c == '/' && rest(r)[1] == '/') {
      tkx_blanks(r);
      continue;
    }
    bool arrow = c == '>' && r->at && rest(r)[-1] == '-';
    if (strchr("([{<", c)) depth++;
    if (strchr(")]}>", c) && !arrow) depth--;
    r->at++;
  } while (depth > 0);
}

void tkx_skip_loc(tkx_reader *r) {
  if (tkx_take(r, "loc") && tkx_peek(r, "(")) tkx_skip_group(r);
}

/* ---- types ----------------------------------------------------------------
 */

static bool element_type(const char *name, tk_dtype *out) {
  static const struct {
    const char *name;
    tk_dtype dtype;
  } known[] = {
      {"i1", TK_INT1},
      {"i8", TK_INT8},
      {"i16", TK_INT16},
      {"i32", TK_INT32},
      {"i64", TK_INT64},
      {"index", TK_INT64},
      {"f16", TK_FP16},
      {"bf16", TK_BF16},
      {"f32", TK_FP32},
      {"f64", TK_FP64},
      {"f8E4M3FN", TK_FP8E4NV},
      {"f8E4M3FNUZ", TK_FP8E4B8},
      {"f8E5M2", TK_FP8E5},
      {"f8E5M2FNUZ", TK_FP8E5B16},
      {"f8E4M3B11FNUZ", TK_FP8E4B15},
  };
  for (size_t i = 0; i < TK_COUNT(known); i++)
    if (!strcmp(known[i].name, name)) {
      *out = known[i].dtype;
      return true;
    }
  return false;
}

/* The sizes of a block, each with an x behind it. */
static void read_shape(tkx_reader *r, tk_type *shape) {
  tk_span at = tkx_here(r);
  int64_t lanes = 1;
  while (isdigit((unsigned char)*rest(r))) {
    char *end;
    long long n = strtoll(rest(r), &end, 10);
    if (n < 1 || n > TK_MAX_NUMEL || *end != 'x' ||
        (lanes *= n) > TK_MAX_NUMEL || shape->rank == TK_MAX_RANK)
      tkx_fail(r, at, NULL,
               "this is not the shape of a block of at most %d "
               "lanes",
               TK_MAX_NUMEL);
    shape->shape[shape->rank++] = (int32_t)n;
    r->at += (uint32_t)(end + 1 - rest(r));
  }
}

static tk_type tensor_type(tkx_reader *r) {
  tk_type shape = {.rank = 0};
  tkx_need(r, "<", "tensor");
  read_shape(r, &shape);
  tk_span at = tkx_here(r);
  tk_type t = tkx_type(r);
  if (t.rank) tkx_fail(r, at, NULL, "a block of blocks is not read");
  if (tkx_take(r, ",")) /* a layout, which changes no value */
    while (!tkx_peek(r, ">")) {
      if (!*rest(r)) tkx_fail(r, tkx_here(r), NULL, "expected '>'");
      if (tkx_peek(r, "<"))
        tkx_skip_group(r);
      else
        r->at++;
    }
  tkx_need(r, ">", "the type of a block");
  return tk_with_shape(t, &shape);
}

static tk_type ptr_type(tkx_reader *r) {
  tkx_need(r, "<", "!tt.ptr");
  tk_span at = tkx_here(r);
  tk_type t = tkx_type(r);
  if (t.rank) tkx_fail(r, at, NULL, "pointers to blocks are not read");
  if (tkx_take(r, ",")) tkx_name(r, "an address space");
  tkx_need(r, ">", "what a pointer points to");
  return tk_pointer(t);
}

static tk_type named_type(tkx_reader *r) {
  tk_span at = tkx_here(r);
  tk_dtype d;
  const char *name = tkx_name(r, "a type");
  if (!element_type(name, &d))
    tkx_fail(r, at, NULL, "values of type '%s' are not read", name);
  return tk_scalar(d);
}

tk_type tkx_type(tkx_reader *r) {
  tkx_enter(r);
  tk_type t = tkx_take(r, "tensor")    ? tensor_type(r)
              : tkx_take(r, "!tt.ptr") ? ptr_type(r)
                                       : (tkx_take(r, "!"), named_type(r));
  r->depth--;
  return t;
}

/* ---- operations -----------------------------------------------------------
 */

static void read_names(tkx_reader *r, tkx_op *op) {
  if (!tkx_peek(r, "%")) return;
  do {
    tkx_result x = {.name = tkx_value_name(r)};
    if (tkx_take(r, ":")) {
      tk_span at = tkx_here(r);
      x.n = strtoll(tkx_name(r, "how many results there are"), NULL, 10);
      if (x.n < 1 || x.n > 4096)
        tkx_fail(r, at, NULL, "this is not a number of results");
    }
    TK_PUSH(r->arena, &op->results, x);
  } while (tkx_take(r, ","));
  tkx_need(r, "=", "the results");
}

static const char *text_since(tkx_reader *r, uint32_t lo) {
  while (r->at > lo && isspace((unsigned char)rest(r)[-1])) r->at--;
  return tk_arena_strndup(r->arena, r->text->text + lo, r->at - lo);
}

/* The value of an attribute, as text. */
static const char *attribute_value(tkx_reader *r) {
  tkx_blanks(r);
  uint32_t lo = r->at;
  while (*rest(r) && !strchr(",}>:) \n", *rest(r))) {
    if (*rest(r) == '"')
      skip_quoted(r);
    else if (strchr("([{<", *rest(r)))
      tkx_skip_group(r);
    else
      r->at++;
  }
  return text_since(r, lo);
}

static void read_word(tkx_reader *r, tkx_op *op) {
  tkx_word w = {.at = tkx_here(r)};
  w.name = tkx_name(r, "an attribute");
  if (tkx_take(r, "=")) w.value = attribute_value(r);
  TK_PUSH(r->arena, &op->words, w);
}

/* {axis = 1 : i32, ...}, and <{...}> of the generic form. */
static void read_attributes(tkx_reader *r, tkx_op *op) {
  while (!tkx_take(r, "}")) {
    read_word(r, op);
    if (tkx_take(r, ":")) tkx_type(r); /* of a number */
    if (!tkx_take(r, ",") && !tkx_peek(r, "}"))
      tkx_fail(r, tkx_here(r), NULL, "expected ',' or '}' after an attribute");
  }
}

static const char *quoted_text(tkx_reader *r) {
  uint32_t lo = r->at + 1;
  skip_quoted(r);
  return tk_arena_strndup(r->arena, r->text->text + lo, r->at - 1 - lo);
}

const char *tkx_symbol(tkx_reader *r, const char *what) {
  return tkx_peek(r, "\"") ? quoted_text(r) : tkx_name(r, what);
}

/* Attributes stand behind the regions of an operation, ({...}) {...}. */
static bool is_behind_regions(tkx_reader *r, const tkx_op *op) {
  const char *at = rest(r);
  if (!op->region || !tkx_peek(r, "{")) return false;
  do at--;
  while (isspace((unsigned char)*at));
  return *at == ')';
}

/* One piece of what stands between the name and the types. */
static bool read_part(tkx_reader *r, tkx_op *op) {
  tkx_blanks(r);
  if (tkx_take(r, ",") || tkx_take(r, "(") || tkx_take(r, ")") ||
      tkx_take(r, "[") || tkx_take(r, "]"))
    return true;
  if (tkx_peek(r, "%")) {
    TK_PUSH(r->arena, &op->uses, tkx_need_use(r));
  } else if (tkx_take(r, "<{") || (!op->region && tkx_take(r, "{"))) {
    bool generic = rest(r)[-2] == '<';
    if (!generic && rest(r)[-2] == '(') {
      op->region = r->at--;
      tkx_skip_group(r);
    } else {
      read_attributes(r, op);
      if (generic) tkx_need(r, ">", "the attributes");
    }
  } else if (is_behind_regions(r, op)) {
    tkx_skip_group(r);
  } else if (tkx_take(r, "@")) {
    op->callee = tkx_symbol(r, "the name of a function");
  } else if (tkx_peek(r, "\"")) {
    op->quoted = quoted_text(r);
  } else if (tkx_peek(r, "<")) {
    tkx_skip_group(r); /* flags: overflow<nsw>, fastmath<fast> */
  } else if (tkx_peek(r, "loc")) {
    return false;
  } else if (is_word_byte(*rest(r)) || *rest(r) == '-') {
    r->at += *rest(r) == '-';
    read_word(r, op);
  } else {
    return false;
  }
  return true;
}

/* T, T * T -> T; (T, T) -> (T) */
static void read_types(tkx_reader *r, tkx_op *op) {
  bool after = false;
  do {
    bool group = tkx_take(r, "(");
    while (!group || !tkx_peek(r, ")")) {
      tk_type t = tkx_type(r);
      if (after)
        TK_PUSH(r->arena, &op->out, t);
      else
        TK_PUSH(r->arena, &op->in, t);
      if (!tkx_take(r, ",") && !tkx_take(r, "*")) break;
    }
    if (group) tkx_need(r, ")", "the types");
    if (after) return;
    after = tkx_take(r, "->") || tkx_take(r, "to");
  } while (after);
}

/* A constant's value stands between its attributes and the type. */
static void read_constant(tkx_reader *r, tkx_op *op) {
  if (tkx_peek(r, "{")) tkx_skip_group(r);
  tkx_word w = {.name = "value", .at = tkx_here(r)};
  w.value = attribute_value(r);
  TK_PUSH(r->arena, &op->words, w);
}

tkx_op *tkx_read_op(tkx_reader *r) {
  tkx_op *op = TK_NEW(r->arena, tkx_op);
  read_names(r, op);
  op->at = tkx_here(r);
  bool generic = tkx_peek(r, "\"");
  if (generic) {
    op->name = quoted_text(r);
    op->at.hi = r->at;
  } else {
    op->name = tkx_name(r, "an operation");
  }
  static const char *const compound[] = {"scf.for", "scf.if", "scf.while",
                                         "cf.br", "cf.cond_br"};
  for (size_t i = 0; i < TK_COUNT(compound); i++) {
    if (strcmp(op->name, compound[i]) != 0) continue;
    if (generic)
      tkx_fail(r, op->at, "print the module without --mlir-print-op-generic",
               "'%s' is not read in MLIR's generic form", op->name);
    return op; /* region.c goes on */
  }
  if (!generic && !strcmp(op->name, "arith.constant"))
    read_constant(r, op);
  else
    while (read_part(r, op)) continue;
  if (tkx_take(r, ":")) {
    if (tkx_peek(r, "%")) /* print's values stand behind its attributes */
      while (read_part(r, op)) continue;
    else
      read_types(r, op);
  }
  tkx_skip_loc(r);
  return op;
}

const tkx_word *tkx_word_of(const tkx_op *op, const char *name) {
  for (size_t i = 0; i < op->words.n; i++)
    if (!strcmp(op->words.items[i].name, name)) return &op->words.items[i];
  return NULL;
}

int64_t tkx_number_of(tkx_reader *r, const tkx_op *op, const char *name) {
  const tkx_word *w = tkx_word_of(op, name);
  if (!w || !w->value)
    tkx_fail(r, op->at, NULL, "'%s' must have a number '%s'", op->name, name);
  char *end;
  errno = 0;
  long long v = strtoll(w->value, &end, 10);
  if (end == w->value || errno)
    tkx_fail(r, w->at, NULL, "'%s' must be a number", name);
  return v;
}

/* ---- locations ------------------------------------------------------------
 */

enum { MOST_LOCATIONS = 64 };

/* FILE:LINE:COLUMN of a location that begins at r->at; NULL: it has none.  Of a
 * call, the place in what is called, unless that is Triton's own library. */
static const char *location(tkx_reader *r, int depth) {
  if (depth > MOST_LOCATIONS) return NULL;
  tkx_blanks(r);
  if (tkx_take(r, "loc") || tkx_take(r, "callsite")) {
    if (!tkx_take(r, "(")) return NULL;
    const char *inner = location(r, depth + 1);
    if (!tkx_take(r, "at")) return inner;
    const char *caller = location(r, depth + 1);
    bool library = !inner || strstr(inner, "triton/language/");
    return library && caller ? caller : inner;
  }
  if (*rest(r) == '#') {
    tk_span at = tkx_here(r);
    r->at = at.hi;
    const char *name =
        tk_arena_strndup(r->arena, r->text->text + at.lo, at.hi - at.lo);
    int found = tk_lookup_find(&r->aliases, name);
    if (found < 0) return NULL;
    uint32_t back = r->at;
    r->at = (uint32_t)r->aliases.list.items[found].number;
    const char *text = location(r, depth + 1);
    r->at = back;
    return text;
  }
  if (*rest(r) != '"') return NULL;
  uint32_t lo = r->at + 1;
  while (*rest(r) && *rest(r) != '\n' && (r->at < lo || *rest(r) != '"'))
    r->at++;
  if (*rest(r) != '"') return NULL;
  uint32_t hi = r->at++;
  if (*rest(r) == '(') { /* a name of a variable, and where it is */
    r->at++;
    const char *inner = location(r, depth + 1);
    tkx_take(r, ")");
    return inner;
  }
  uint32_t n = (uint32_t)strspn(rest(r), ":0123456789");
  r->at += n;
  return n ? tk_arena_printf(r->keep, "%.*s%.*s", (int)(hi - lo),
                             r->text->text + lo, (int)n, rest(r) - n)
           : NULL;
}

/* The last loc( of a line is that of its operation. */
static uint32_t last_location(const char *line, size_t n) {
  int depth = 0;
  for (size_t i = n; i-- > 0;) {
    depth += line[i] == ')';
    depth -= line[i] == '(';
    if (!depth && line[i] == '(' && i >= 4 && !strncmp(line + i - 4, " loc", 4))
      return (uint32_t)(i - 3);
    if (!depth && line[i] != '(' && i + 1 == n && line[i] != ')') break;
  }
  return 0;
}

void tkx_read_aliases(tkx_reader *r) {
  tk_source *s = r->text;
  for (uint32_t i = 0; i < s->nlines; i++) {
    const char *line = s->text + s->lines[i];
    if (strncmp(line, "#loc", 4) != 0) continue;
    size_t n = strcspn(line, " =\n");
    if (strncmp(line + n, " = ", 3) != 0) continue;
    tk_lookup_add(r->arena, &r->aliases, tk_arena_strndup(r->arena, line, n),
                  (int)(s->lines[i] + n + 3));
  }
  s->origins = TK_NEWN(r->keep, const char *, s->nlines);
  for (uint32_t i = 0; i < s->nlines; i++) {
    size_t n;
    const char *line = tk_source_line_text(s, (int)i + 1, &n);
    uint32_t at = *line == '#' ? 0 : last_location(line, n);
    if (!at) continue;
    r->at = s->lines[i] + at;
    s->origins[i] = location(r, 0);
  }
  r->at = 0;
}
