/* show_value.c - how values are said. */
#include "command/show.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "command/say.h"
#include "debug/frames.h"
#include "debug/raise.h"

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

/* A lane in one of the formats that NumPy has not. */
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

static bool numpy_format(const char *fmt) {
  return !*fmt;
}

static void put_numpy(tkt *d, const tk_type *type, const void *data,
                      const uint8_t *undefined, int indent) {
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
  o.threshold = (int64_t)d->set.elements;
  o.width = tkt_width(d) - 1;
  tk_format_array(&d->out, &v, indent, &o);
}

/* The tensor that the pointers were made from, or the first one that any of
 * them points into. */
static const tki_region *pointed_at(tkt *d, const tkd_value *v) {
  const uint64_t *at = (const void *)v->bytes;
  const tki_region *r = NULL;
  size_t n = (size_t)tk_numel(&v->type);
  if (d->e->t && v->region >= 0) return &d->e->t->regions[v->region];
  for (size_t i = 0; d->e->t && !r && i < n; i++)
    r = tki_region_at(d->e->t, at[i], 1);
  return r;
}

/* Pointers by the tensor that they point into, in elements from its start;
 * false: there is none, or they lie between its elements. */
static bool put_pointers(tkt *d, const tkd_value *s, int indent) {
  const tk_type *type = &s->type;
  const uint64_t *at = (const void *)s->bytes;
  size_t n = (size_t)tk_numel(type);
  const tki_region *r = pointed_at(d, s);
  if (!r) return false;
  tk_type to = tk_pointee(tk_elem_of(*type));
  tk_type whole = tk_with_shape(tk_scalar(TK_INT64), type);
  int64_t size = (int64_t)tk_lane_size(&to);
  uint64_t start = r->lo + (uint64_t)((char *)r->tensor->data - r->host);
  tki_val v = tki_val_new(d->e->t, &whole, n);
  int64_t *index = tki_writable(&v);
  bool whole_elements = true;
  for (size_t i = 0; i < n; i++) {
    int64_t bytes = (int64_t)(at[i] - start);
    index[i] = bytes / size;
    whole_elements &= bytes % size == 0;
  }
  bool first = whole_elements && n == 1 && !index[0];
  if (whole_elements)
    tk_buf_printf(&d->out, "&%s%s", r->name, first ? "" : " + ");
  if (whole_elements && !first)
    put_numpy(d, &whole, index, NULL, indent + (int)strlen(r->name) + 4);
  tki_release(d->e->t, &v);
  return whole_elements;
}

static void put_lanes_of(tkt *d, const char *fmt, const tkd_value *v,
                         int indent) {
  const tk_type *type = &v->type;
  bool pointers = type->ptr && numpy_format(fmt) && !v->undefined;
  if (pointers && put_pointers(d, v, indent)) return;
  if (numpy_format(fmt)) {
    put_numpy(d, type, v->bytes, v->undefined, indent);
    return;
  }
  lane_text x = {.b = &d->out,
                 .how = *fmt,
                 .type = type,
                 .at = v->bytes,
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
    put_lane_as(&d->out, *fmt, type, v->bytes);
}

void tkt_put_lane(tkt *d, const tk_type *type, const void *lane) {
  tkd_value v = {.type = tk_elem_of(*type), .bytes = lane, .region = TKI_ANY};
  put_lanes_of(d, "", &v, 0);
}

/* name: type = value, the value on lines of its own when it has rows. */
static void put_named(tkt *d, const char *name, const char *fmt,
                      const tkd_value *v) {
  const tk_type *type = &v->type;
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
  put_lanes_of(d, fmt, v, column);
  tk_buf_putc(&d->out, '\n');
}

void tkt_show_value(tkt *d, const char *name, const char *fmt,
                    const tkd_value *v) {
  put_named(d, name, fmt, v);
}

/* ---- expressions ------------------------------------------------------- */

/* How an expression is said: under which name; bare: the value alone. */
typedef struct showing {
  tkt *d;
  const char *fmt, *name;
  bool bare;
} showing;

static const char *part_name(const showing *s, const tkd_value *v) {
  return tk_arena_printf(&s->d->mem.arena, "%s%s", s->name, v->path);
}

static bool is_line(const tkd_value *v) {
  return v->path && !v->before;
}

/* A part has a line of its own, or stands in one with others. */
static void show_part(const showing *s, const tkd_value *v) {
  tkt *d = s->d;
  if (is_line(v) && !s->bare) {
    if (v->known)
      tkt_say(d, "%s: constexpr = %s\n", part_name(s, v), v->known);
    else
      put_named(d, part_name(s, v), s->fmt, v);
    return;
  }
  if (v->path && !s->bare) tkt_say(d, "%s: ", part_name(s, v));
  if (v->before && (!v->path || !s->bare)) tkt_say(d, "%s", v->before);
  if (v->known)
    tkt_say(d, "%s", v->known);
  else
    put_lanes_of(d, s->fmt, v, 0);
}

/* What belongs together stands in one line, which is folded if need be. */
static void show_parts(const showing *s, const tkd_values *got) {
  tkt *d = s->d;
  size_t from = d->out.n;
  for (size_t i = 0; i < got->n; i++) {
    const tkd_value *v = &got->items[i];
    if (v->path && s->bare && i) tk_buf_puts(&d->out, ", ");
    if (v->path) from = d->out.n;
    show_part(s, v);
    bool ends = i + 1 == got->n || got->items[i + 1].path;
    if (!ends || s->bare || is_line(v)) continue;
    tk_buf_putc(&d->out, '\n');
    tkt_fold(d, from);
  }
}

/* A number known at compile time, in a format; false: it is something else. */
static bool put_known(const showing *s, const char *text) {
  tkd_value v = {.type = tk_scalar(TK_INT64), .region = TKI_ANY};
  char *end, *end_of_double;
  if (!*s->fmt) return false;
  long long i = strtoll(text, &end, 10);
  double x = strtod(text, &end_of_double);
  v.bytes = (const char *)&i;
  if (*end) {
    v.type = tk_scalar(TK_FP64);
    v.bytes = (const char *)&x;
    end = end_of_double;
  }
  if (*end || end == text) return false;
  tk_buf_printf(&s->d->out, "%s: constexpr = ", s->name);
  put_lanes_of(s->d, s->fmt, &v, 0);
  tk_buf_putc(&s->d->out, '\n');
  return true;
}

static void show_in(const showing *s, const tki_frame *f, const char *text) {
  tkt *d = s->d;
  tkd_values got = tkd_evaluate(d->e, f, text, NULL);
  if (!got.known)
    show_parts(s, &got);
  else if (s->bare)
    tkt_say(d, "%s", got.known);
  else if (!put_known(s, got.known))
    tkt_say(d, "%s: constexpr = %s\n", s->name, got.known);
}

void tkt_show_expr(tkt *d, const char *fmt, const char *text) {
  showing s = {.d = d, .fmt = fmt, .name = text};
  show_in(&s, tkd_need_frame(d->e), text);
}

typedef struct attempt {
  showing s;
  const tki_frame *f; /* NULL: the selected one */
  const char *text;
} attempt;

static void try_body(tk_env *e, void *ud) {
  attempt *x = ud;
  (void)e;
  show_in(&x->s, x->f ? x->f : tkd_need_frame(x->s.d->e), x->text);
}

/* False, without a word: it cannot be evaluated there.  reports: what is
 * wrong with it stays reported. */
static bool try_to_show(tkt *d, attempt *x, bool reports) {
  size_t from = d->out.n, diags = d->env->ndiags;
  if (tk_protect(d->env, try_body, x) == TK_OK) return true;
  d->out.n = from;
  tkd_drop_message(d->e);
  if (!reports) tk_diag_truncate(d->env, diags);
  return false;
}

/* What cannot be evaluated stands there as it was written. */
void tkt_print_format(tkt *d, const char *format) {
  size_t diags = d->env->ndiags, n;
  const char *piece;
  bool is_expression;
  while (tk_debug_log_piece(&format, &piece, &n, &is_expression)) {
    if (!is_expression) {
      tk_buf_add(&d->out, piece, n);
      continue;
    }
    const char *text = tk_temp(&d->mem, piece, n);
    attempt x = {.s = {.d = d, .fmt = "", .name = "", .bare = true},
                 .text = text};
    if (!try_to_show(d, &x, true)) tk_buf_printf(&d->out, "{%s}", text);
  }
  tk_buf_putc(&d->out, '\n');
  tkt_say_reports(d, diags);
  tkt_flush(d);
}

/* ---- variables --------------------------------------------------------- */

/* A tuple may have parts without a value: then it is not shown. */
void tkt_show_variable(tkt *d, const tki_frame *f, const char *name) {
  int slot;
  if (tki_eval_is_plain(f, name) && tki_eval_slots(f, name, &slot, 1) == 1) {
    tkd_value v = tkd_slot_value(d->e, f, slot);
    if (v.bytes)
      put_named(d, name, "", &v);
    else
      tkt_say(d, "%s: no value yet\n", name);
    return;
  }
  attempt x = {.s = {.d = d, .fmt = "", .name = name}, .f = f, .text = name};
  if (!try_to_show(d, &x, false)) tkt_say(d, "%s: no value yet\n", name);
}

void tkt_show_argument(tkt *d, const tki_frame *f, int slot) {
  tkd_value v = tkd_slot_value(d->e, f, slot);
  put_lanes_of(d, "", &v, 0);
}

/* ---- displays ---------------------------------------------------------- */

void tkt_display_all(tkt *d) {
  for (tkt_display *x = d->displays; x && d->e->frame; x = x->next) {
    attempt a = {.s = {.d = d, .fmt = x->fmt, .name = x->text},
                 .f = d->e->frame,
                 .text = x->text};
    tkt_say(d, "%d: ", x->number);
    if (!try_to_show(d, &a, false))
      tkt_say(d, "%s cannot be had here\n", x->text);
  }
}

/* ---- memory ------------------------------------------------------------ */

const uint8_t *tkt_unwritten(tkt *d, const tki_region *r, const tkt_block *b,
                             tkt_unwritten_fn is_unwritten) {
  const tki *t = d->e->t;
  size_t size = tk_lane_size(&b->type);
  if (!is_unwritten(t, r, r->host, r->hi - r->lo)) return NULL;
  int64_t n = tk_numel(&b->type);
  uint8_t *found = tk_temp_bytes(&d->mem, (size_t)n);
  for (int64_t i = 0; i < n; i++)
    found[i] = is_unwritten(t, r, tkt_block_lane(b, i), size);
  return found;
}
