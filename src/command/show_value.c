/* show_value.c - prints values. */
#include "command/show.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "command/say.h"

/* ---- values ------------------------------------------------------------ */

static void put_bits(tk_buf *b, uint64_t v, int bits) {
  bool digit = false;
  tk_buf_puts(b, "0b");
  for (int i = bits - 1; i >= 0; i--) {
    bool one = v >> i & 1;
    digit |= one;
    if (digit || !i) tk_buf_putc(b, one ? '1' : '0');
  }
}

/* Writes a lane in one of the formats that NumPy lacks. */
static void put_lane_as(tk_buf *b, char how, const tk_type *type,
                        const void *p) {
  tk_dtype e = (tk_dtype)type->elem;
  size_t size = tk_lane_size(type);
  bool floats = !type->ptr && tk_is_float(e);
  uint64_t bits = 0;
  memcpy(&bits, p, size);
  double v = type->ptr ? (double)bits
             : floats  ? tk_lane_double(e, p)
                       : (double)tk_lane_int(e, p);
  int64_t i = floats      ? (v >= -9e18 && v <= 9e18 ? (int64_t)v : 0)
              : type->ptr ? (int64_t)bits
                          : tk_lane_int(e, p);
  switch (how) {
  case 'x': tk_buf_printf(b, "0x%llx", (unsigned long long)bits); break;
  case 'o': tk_buf_printf(b, "0%llo", (unsigned long long)bits); break;
  case 'b': put_bits(b, bits, (int)size * 8); break;
  case 'd':
  case 'u':
    if (floats)
      tk_buf_printf(b, "%.0f", trunc(v) + 0.0);
    else if (how == 'd')
      tk_buf_printf(b, "%lld", (long long)i);
    else
      tk_buf_printf(b, "%llu", (unsigned long long)bits);
    break;
  case 'c':
    tk_buf_printf(b, isprint((int)(i & 255)) ? "'%c'" : "'\\x%02x'",
                  (int)(i & 255));
    break;
  case 'e': tk_buf_printf(b, "%e", v); break;
  case 'g': tk_buf_printf(b, "%g", v); break;
  default: tk_buf_printf(b, "%f", v);
  }
}

typedef struct lane_text {
  tk_buf *b;
  char how;
  const tk_type *type;
  const char *at;
  const uint8_t *undefined; /* a byte a lane; NULL: none is */
  int indent;
  int64_t limit; /* of an axis; more are left out in the middle */
  size_t line;   /* where the current line began */
  int width;
} lane_text;

static void new_line(lane_text *x, int depth) {
  tk_buf_putc(x->b, '\n');
  x->line = x->b->n;
  tk_buf_pad(x->b, ' ', (size_t)(x->indent + depth));
}

static void put_lanes(lane_text *x, int axis, size_t first, size_t below);

static void put_item(lane_text *x, int axis, size_t first, size_t below) {
  if (axis + 1 < x->type->rank) {
    put_lanes(x, axis + 1, first, below);
    return;
  }
  size_t before = x->b->n;
  if (x->undefined && x->undefined[first])
    tk_buf_putc(x->b, '?');
  else
    put_lane_as(x->b, x->how, x->type, x->at + first * tk_lane_size(x->type));
  if (x->b->n - x->line > (size_t)x->width && before > x->line + 20) {
    char item[96];
    size_t n = x->b->n - before;
    if (n >= sizeof item) return;
    memcpy(item, x->b->s + before, n);
    x->b->n = before - (x->b->s[before - 1] == ' ');
    new_line(x, axis + 1);
    tk_buf_add(x->b, item, n);
  }
}

static void put_lanes(lane_text *x, int axis, size_t first, size_t stride) {
  int64_t n = x->type->shape[axis];
  size_t below = n ? stride / (size_t)n : 0;
  bool last = axis + 1 == x->type->rank, cut = n > x->limit;
  tk_buf_putc(x->b, '[');
  for (int64_t i = 0; i < n; i++) {
    if (i && last) tk_buf_putc(x->b, ' ');
    if (i && !last) new_line(x, axis + 1);
    if (cut && i == 3) {
      tk_buf_puts(x->b, "...");
      i = n - 4;
      continue;
    }
    put_item(x, axis, first + (size_t)i * below, last ? 1 : below);
  }
  tk_buf_putc(x->b, ']');
}

/* Rows of one lane would take a line each: from this many on they are shown as
 * one row, and ".T" after it (".mT" where there are more axes). */
enum { COLUMN = 5 };

static bool is_column(const tk_type *type) {
  int rank = type->rank;
  return rank > 1 && type->shape[rank - 1] == 1 &&
         type->shape[rank - 2] >= COLUMN;
}

/* The same lanes with the last two axes exchanged, of which one has a single
 * item: they lie in the same order. */
static tk_type turned_column(const tk_type *type) {
  tk_type turned = *type;
  turned.shape[type->rank - 1] = type->shape[type->rank - 2];
  turned.shape[type->rank - 2] = 1;
  return turned;
}

/* In a list of variables, blocks of more rows are shown by their corners. */
enum { LIST_ROWS = 16 };

static bool is_long_in_list(const tk_type *type) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < type->rank; i++) rows *= type->shape[i];
  return rows > LIST_ROWS;
}

static bool numpy_format(const char *fmt) {
  return !*fmt;
}

static void put_numpy(tkt *d, const tk_type *type, const void *data,
                      const uint8_t *undefined, int indent, bool listed) {
  tk_array_view v = {.data = data,
                     .dtype = type->ptr ? TK_UINT64 : (tk_dtype)type->elem,
                     .pointers = type->ptr > 0,
                     .rank = type->rank,
                     .undefined = undefined};
  int64_t step = 1;
  for (int i = type->rank - 1; i >= 0; i--) {
    v.shape[i] = type->shape[i];
    v.strides[i] = step;
    step *= type->shape[i];
  }
  tk_print_options o = tk_print_defaults;
  bool corners = listed && is_long_in_list(type);
  o.threshold = corners ? 0 : (int64_t)d->set.elements;
  o.width = tkt_width(d) - 1;
  tk_format_array(&d->out, &v, indent, &o);
}

/* The tensor that the pointers were made from, or the first one that any of
 * them points into. */
static bool pointed_at(tkt *d, const tk_debug_value *v, size_t n,
                       tk_debug_region *r) {
  const uint64_t *at = v->lanes;
  for (size_t k = 0; v->tensor && tk_debug_region_at(d->e, k, r); k++)
    if (!strcmp(r->name, v->tensor)) return true;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; tk_debug_region_at(d->e, k, r); k++)
      if (at[i] >= r->address && at[i] - r->address < r->size) return true;
  return false;
}

/* Pointers by the tensor that they point into, in elements from its start;
 * false: there is none, or they lie between its elements. */
static bool put_pointers(tkt *d, const tk_debug_value *v, const tk_type *type,
                         int indent, bool listed) {
  const uint64_t *at = v->lanes;
  size_t n = (size_t)tk_numel(type);
  tk_debug_region r;
  if (!pointed_at(d, v, n, &r)) return false;
  tk_type to = tk_pointee(tk_elem_of(*type));
  tk_type whole = tk_with_shape(tk_scalar(TK_INT64), type);
  int64_t size = (int64_t)tk_lane_size(&to);
  int64_t *index = tk_temp_bytes(&d->mem, n * sizeof *index);
  bool whole_elements = true;
  for (size_t i = 0; i < n; i++) {
    int64_t bytes = (int64_t)(at[i] - r.first);
    index[i] = bytes / size;
    whole_elements &= bytes % size == 0;
  }
  bool first = whole_elements && n == 1 && !index[0];
  if (whole_elements)
    tk_buf_printf(&d->out, "&%s%s", r.name, first ? "" : " + ");
  if (whole_elements && !first)
    put_numpy(d, &whole, index, NULL, indent + (int)strlen(r.name) + 4, listed);
  return whole_elements;
}

tk_type tkt_type_from(tk_ir_type t) {
  tk_type type = tk_scalar(t.dtype);
  type.ptr = (uint8_t)t.pointers;
  type.is_const = t.is_const;
  type.to_block = t.to_block;
  type.rank = (uint8_t)t.rank;
  for (int i = 0; i < t.rank; i++) type.shape[i] = (int32_t)t.shape[i];
  return type;
}

tk_type tkt_type_of(const tk_debug_value *v) {
  return tkt_type_from(v->type);
}

/* The only value among those of an expression that the program computes. */
const tk_debug_value *tkt_one_value(tkt *d, const char *text,
                                    const char *what) {
  const tk_debug_value *v, *found = NULL;
  size_t n, count = 0;
  tkt_need(d, tk_debug_evaluate(d->e, text, &v, &n));
  for (size_t i = 0; i < n; i++)
    if (v[i].lanes) found = &v[i], count++;
  if (count == 1) return found;
  tk_diag_add(d->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%s is %s", text,
              what);
  tk_throw(d->env, TK_USAGE);
}

/* Writes lanes of a type in a format. */
static void put_lanes_as(tkt *d, const char *fmt, const tk_debug_value *v,
                         const tk_type *type, int indent, bool listed) {
  bool pointers = type->ptr && numpy_format(fmt) && !v->undefined;
  if (pointers && put_pointers(d, v, type, indent, listed)) return;
  if (numpy_format(fmt)) {
    put_numpy(d, type, v->lanes, v->undefined, indent, listed);
    return;
  }
  lane_text x = {.b = &d->out,
                 .how = *fmt,
                 .type = type,
                 .at = v->lanes,
                 .undefined = v->undefined,
                 .indent = indent,
                 .limit =
                     tk_numel(type) > (int64_t)d->set.elements ? 6 : INT64_MAX,
                 .line = d->out.n - (size_t)indent,
                 .width = tkt_width(d) - 1};
  if (type->rank)
    put_lanes(&x, 0, 0, (size_t)tk_numel(type));
  else if (v->undefined && *v->undefined)
    tk_buf_putc(&d->out, '?');
  else
    put_lane_as(&d->out, *fmt, type, v->lanes);
}

/* listed: it is one of many variables. */
static void put_lanes_of(tkt *d, const char *fmt, const tk_debug_value *v,
                         int indent, bool listed) {
  tk_type type = tkt_type_of(v);
  bool column = is_column(&type);
  int rank = type.rank;
  if (column) type = turned_column(&type);
  put_lanes_as(d, fmt, v, &type, indent, listed);
  if (column) tk_buf_puts(&d->out, rank > 2 ? ".mT" : ".T");
}

void tkt_put_lane(tkt *d, const tk_type *type, const void *lane) {
  tk_debug_value v = {.lanes = lane};
  v.type.dtype = (tk_dtype)type->elem;
  v.type.pointers = type->ptr;
  put_lanes_of(d, "", &v, 0, false);
}

/* name: type = value, the value on lines of its own when it has rows. */
static void put_named(tkt *d, const char *name, const char *fmt,
                      const tk_debug_value *v, bool listed) {
  tk_type own = tkt_type_of(v), *type = &own;
  size_t from = d->out.n;
  tk_buf_printf(&d->out, "%s: ", name);
  tk_type_declare(&d->out, type);
  tk_buf_puts(&d->out, " = ");
  int column = (int)(d->out.n - from);
  int bits = *fmt == 'b' ? (int)tk_lane_size(type) * 8 + 3 : 0;
  bool wide = column > 40 || column + bits > tkt_width(d);
  if (type->rank > 1 || (type->rank && wide)) {
    d->out.n--;
    tk_buf_puts(&d->out, "\n  ");
    column = 2;
  }
  put_lanes_of(d, fmt, v, column, listed);
  tk_buf_putc(&d->out, '\n');
}

void tkt_show_value(tkt *d, const char *name, const char *fmt,
                    const tk_debug_value *v) {
  put_named(d, name, fmt, v, false);
}

/* ---- expressions ------------------------------------------------------- */

/* How an expression is printed: under which name; bare: only the value;
 * listed: in a list of variables. */
typedef struct showing {
  tkt *d;
  const char *fmt, *name;
  bool bare, listed;
} showing;

static const char *part_name(const showing *s, const tk_debug_value *v) {
  return tk_arena_printf(&s->d->mem.arena, "%s%s", s->name, v->path);
}

static bool is_line(const tk_debug_value *v) {
  return v->path && !v->before;
}

/* Prints a part, on a line of its own or in one with others. */
static void show_part(const showing *s, const tk_debug_value *v) {
  tkt *d = s->d;
  if (is_line(v) && !s->bare) {
    if (v->known)
      tkt_say(d, "%s: constexpr = %s\n", part_name(s, v), v->known);
    else
      put_named(d, part_name(s, v), s->fmt, v, s->listed);
    return;
  }
  if (v->path && !s->bare) tkt_say(d, "%s: ", part_name(s, v));
  if (v->before && (!v->path || !s->bare)) tkt_say(d, "%s", v->before);
  if (v->known)
    tkt_say(d, "%s", v->known);
  else
    put_lanes_of(d, s->fmt, v, 0, s->listed);
}

/* A number known at compile time, in a format; false: it is something else. */
static bool put_known(const showing *s, const char *text) {
  tk_debug_value v = {.type = {.dtype = TK_INT64}};
  char *end, *end_of_double;
  if (!*s->fmt || s->bare) return false;
  long long i = strtoll(text, &end, 10);
  double x = strtod(text, &end_of_double);
  v.lanes = &i;
  if (*end) {
    v.type.dtype = TK_FP64;
    v.lanes = &x;
    end = end_of_double;
  }
  if (*end || end == text) return false;
  tk_buf_printf(&s->d->out, "%s: constexpr = ", s->name);
  put_lanes_of(s->d, s->fmt, &v, 0, false);
  tk_buf_putc(&s->d->out, '\n');
  return true;
}

/* Prints the parts of a value. Those that belong together share a line, which
 * is folded if necessary. */
static void show_parts(const showing *s, const tk_debug_value *v, size_t n) {
  tkt *d = s->d;
  size_t from = d->out.n;
  if (n == 1 && v->known && put_known(s, v->known)) return;
  for (size_t i = 0; i < n; i++) {
    if (v[i].path && s->bare && i) tk_buf_puts(&d->out, ", ");
    if (v[i].path) from = d->out.n;
    show_part(s, &v[i]);
    bool ends = i + 1 == n || v[i + 1].path;
    if (!ends || s->bare || is_line(&v[i])) continue;
    tk_buf_putc(&d->out, '\n');
    tkt_fold(d, from);
  }
}

/* Several expressions with commas between are a tuple: in parentheses, so that
 * an index after them is that of all. */
static const char *name_of_all(tkt *d, const char *text) {
  int depth = 0;
  bool several = false;
  for (const char *s = text; *s; s++) {
    depth += (strchr("([{", *s) != NULL) - (strchr(")]}", *s) != NULL);
    several |= *s == ',' && !depth;
  }
  if (!several) return text;
  tk_buf *b = tk_temp_buf(&d->mem);
  tk_buf_printf(b, "(%s)", text);
  return tk_buf_str(b);
}

void tkt_show_expr(tkt *d, const char *fmt, const char *text) {
  showing s = {.d = d, .fmt = fmt, .name = name_of_all(d, text)};
  const tk_debug_value *v;
  size_t n;
  tkt_need(d, tk_debug_evaluate(d->e, text, &v, &n));
  show_parts(&s, v, n);
}

/* If an expression cannot be evaluated, its text is printed in place of the
 * value. */
void tkt_print_format(tkt *d, const char *format) {
  showing s = {.d = d, .fmt = "", .name = "", .bare = true};
  tk_buf *wrong = tk_temp_buf(&d->mem);
  const tk_debug_value *v;
  const char *piece;
  bool is_expression;
  size_t n, count;
  while (tk_debug_log_piece(&format, &piece, &n, &is_expression)) {
    const char *text = tk_temp(&d->mem, piece, n);
    if (!is_expression) {
      tk_buf_add(&d->out, piece, n);
    } else if (tk_debug_evaluate(d->e, text, &v, &count) == TK_OK) {
      show_parts(&s, v, count);
    } else {
      const tk_debug_fault *f = tk_debug_error(d->e);
      for (size_t i = 0; i < f->nfindings; i++)
        tk_finding_text(wrong, f->findings[i], d->opt.colour);
      tk_buf_printf(&d->out, "{%s}", text);
    }
  }
  tk_buf_putc(&d->out, '\n');
  size_t from = d->out.n;
  tk_buf_puts(&d->out, tk_buf_str(wrong));
  tkt_fold(d, from);
  tkt_flush(d);
}

/* ---- variables --------------------------------------------------------- */

/* Prints a variable. A tuple of which a part has no value yet is not shown. */
static void put_variable(tkt *d, const tk_debug_variable *v, bool listed) {
  showing s = {.d = d, .fmt = "", .name = v->name, .listed = listed};
  if (v->type)
    show_parts(&s, v->values, v->nvalues);
  else
    tkt_say(d, "%s: no value yet\n", v->name);
}

void tkt_show_variable(tkt *d, const tk_debug_variable *v) {
  put_variable(d, v, false);
}

void tkt_list_variable(tkt *d, const tk_debug_variable *v) {
  put_variable(d, v, true);
}

void tkt_show_lanes(tkt *d, const tk_debug_value *v) {
  put_lanes_of(d, "", v, 0, false);
}

/* ---- displays ---------------------------------------------------------- */

void tkt_display_all(tkt *d) {
  const tk_debug_value *v;
  size_t n;
  bool ended = !tk_debug_frame_count(d->e);
  if (!tk_debug_launch(d->e)) return;
  for (tkt_display *x = d->displays; x; x = x->next) {
    showing s = {.d = d, .fmt = x->fmt, .name = x->text};
    bool good = tk_debug_evaluate(d->e, x->text, &v, &n) == TK_OK;
    if (good || !ended) tkt_say(d, "%d: ", x->number);
    if (good)
      show_parts(&s, v, n);
    else if (!ended) /* after the end only tensors are left */
      tkt_say(d, "%s cannot be evaluated here\n", x->text);
  }
}

/* ---- memory ------------------------------------------------------------ */

const uint8_t *tkt_unwritten(tkt *d, const tk_debug_region *r,
                             const tkt_block *b) {
  size_t size = tk_lane_size(&b->type);
  if (!tk_debug_is_undefined(d->e, r->address, r->size)) return NULL;
  int64_t n = tk_numel(&b->type);
  uint8_t *found = tk_temp_bytes(&d->mem, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    int64_t off = (const char *)tkt_block_lane(b, i) - (const char *)r->data;
    found[i] = tk_debug_is_undefined(d->e, r->first + (uint64_t)off, size);
  }
  return found;
}
