/* show.c - how values, lines, frames and stops are said.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "debug/debug.h"
#include "interp/check/undefined.h"

int tkd_width(const tkd *d) {
  return d->set.width ? (int)d->set.width : d->opt.width ? d->opt.width : 80;
}

void tkd_put_pid(tk_buf *b, const int64_t pid[3], const int64_t grid[3]) {
  tk_buf_printf(b, "(%lld, %lld, %lld)", (long long)pid[0], (long long)pid[1],
                (long long)pid[2]);
  if (grid)
    tk_buf_printf(b, " of (%lld, %lld, %lld)", (long long)grid[0],
                  (long long)grid[1], (long long)grid[2]);
}

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
static void put_lane(tk_buf *b, char how, const tk_type *type, const void *p) {
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

typedef struct lanes {
  tk_buf *b;
  char how;
  const tk_type *type;
  const char *at;
  const uint8_t *undefined; /* a byte a lane; NULL: none is */
  int indent;
  int64_t limit; /* of an axis; more are left out in the middle */
  size_t line;   /* where the current line began */
  int width;
} lanes;

static void new_line(lanes *x, int depth) {
  tk_buf_putc(x->b, '\n');
  x->line = x->b->n;
  tk_buf_pad(x->b, ' ', (size_t)(x->indent + depth));
}

static void put_lanes(lanes *x, int axis, size_t first, size_t below);

static void put_item(lanes *x, int axis, size_t first, size_t below) {
  if (axis + 1 < x->type->rank) {
    put_lanes(x, axis + 1, first, below);
    return;
  }
  size_t before = x->b->n;
  if (x->undefined && x->undefined[first])
    tk_buf_putc(x->b, '?');
  else
    put_lane(x->b, x->how, x->type, x->at + first * tk_lane_size(x->type));
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

static void put_lanes(lanes *x, int axis, size_t first, size_t stride) {
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

static void put_numpy(tkd *d, const tk_type *type, const void *data,
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
  o.width = tkd_width(d) - 1;
  tk_format_array(&d->out, &v, indent, &o);
}

/* A value to be shown. */
typedef struct tkd_shown {
  const tk_type *type;
  const void *data;
  const uint8_t *undefined; /* by lane; or NULL */
  int32_t region;           /* of pointers; or TKI_ANY */
} tkd_shown;

static tkd_shown shown_value(const tk_type *type, tki_val *v,
                             tki_val *undefined) {
  bool any = undefined && tkc_any_undefined(undefined);
  return (tkd_shown){type, tki_data(v), any ? tki_data(undefined) : NULL,
                     v->region};
}

/* The tensor that the pointers were made from, or the first one that any of
 * them points into. */
static const tki_region *pointed_at(tkd *d, const tkd_shown *v) {
  const uint64_t *at = v->data;
  const tki_region *r = NULL;
  size_t n = (size_t)tk_numel(v->type);
  if (d->t && v->region >= 0) return &d->t->regions[v->region];
  for (size_t i = 0; d->t && !r && i < n; i++)
    r = tki_region_at(d->t, at[i], 1);
  return r;
}

/* Pointers by the tensor that they point into, in elements from its start;
 * false: there is none, or they lie between its elements. */
static bool put_pointers(tkd *d, const tkd_shown *s, int indent) {
  const tk_type *type = s->type;
  const uint64_t *at = s->data;
  size_t n = (size_t)tk_numel(type);
  const tki_region *r = pointed_at(d, s);
  if (!r) return false;
  tk_type to = tk_pointee(tk_elem_of(*type));
  tk_type whole = tk_with_shape(tk_scalar(TK_INT64), type);
  int64_t size = (int64_t)tk_lane_size(&to);
  uint64_t start = r->lo + (uint64_t)((char *)r->tensor->data - r->host);
  tki_val v = tki_val_new(d->t, &whole, n);
  int64_t *index = tki_data(&v);
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
  tki_release(d->t, &v);
  return whole_elements;
}

static void put_value(tkd *d, const char *fmt, const tkd_shown *v, int indent) {
  const tk_type *type = v->type;
  bool pointers = type->ptr && numpy_format(fmt) && !v->undefined;
  if (pointers && put_pointers(d, v, indent)) return;
  if (numpy_format(fmt)) {
    put_numpy(d, type, v->data, v->undefined, indent);
    return;
  }
  lanes x = {.b = &d->out,
             .how = *fmt,
             .type = type,
             .at = v->data,
             .undefined = v->undefined,
             .indent = indent,
             .limit = tk_numel(type) > (int64_t)d->set.elements ? 6 : INT64_MAX,
             .line = d->out.n - (size_t)indent,
             .width = tkd_width(d) - 1};
  if (type->rank)
    put_lanes(&x, 0, 0, (size_t)tk_numel(type));
  else if (v->undefined && *v->undefined)
    tk_buf_putc(&d->out, '?');
  else
    put_lane(&d->out, *fmt, type, v->data);
}

void tkd_put_lane(tkd *d, const tk_type *type, const void *lane) {
  tk_type one = tk_elem_of(*type);
  put_value(d, "", &(tkd_shown){&one, lane, NULL, TKI_ANY}, 0);
}

/* name: type = value, the value on lines of its own when it has rows. */
static void put_named(tkd *d, const char *name, const char *fmt,
                      const tkd_shown *v) {
  const tk_type *type = v->type;
  size_t from = d->out.n;
  tk_buf_printf(&d->out, "%s: ", name);
  tk_type_declare(&d->out, type);
  tk_buf_puts(&d->out, " = ");
  int column = (int)(d->out.n - from);
  int bits = *fmt == 'b' ? (int)tk_lane_size(type) * 8 + 3 : 0;
  bool wide = column > 40 || column + bits > tkd_width(d);
  if (type->rank > 1 || (type->rank && wide)) {
    d->out.n--;
    tk_buf_puts(&d->out, "\n  ");
    column = 2;
  }
  put_value(d, fmt, v, column);
  tk_buf_putc(&d->out, '\n');
}

void tkd_show_value(tkd *d, const char *name, const char *fmt,
                    const tk_type *type, tki_val *v, tki_val *undefined) {
  tkd_shown x = shown_value(type, v, undefined);
  put_named(d, name, fmt, &x);
}

void tkd_show_bytes(tkd *d, const char *name, const tk_type *type,
                    const void *data, const uint8_t *undefined) {
  put_named(d, name, "", &(tkd_shown){type, data, undefined, TKI_ANY});
}

/* ---- expressions ------------------------------------------------------- */

static tki_frame *need_frame(tkd *d) {
  if (!d->t) tkd_fail(d, "No launch is running.");
  if (!d->frame) tkd_fail(d, "No program is stopped: the launch has ended.");
  return d->frame;
}

typedef struct showing {
  tkd *d;
  const char *fmt, *text, *name;
  tki_eval *x;
  bool bare; /* the value alone, for dprintf */
  tki_frame *f;
  size_t n; /* values that are held */
  tki_val out[TK_EVAL_LEAVES], undefined[TK_EVAL_LEAVES];
} showing;

static const char *name_of(const showing *s, const tk_eval_part *p) {
  size_t n = strlen(s->name), k = strlen(p->path);
  char *name = tkd_temp_bytes(s->d, n + k + 1);
  memcpy(name, s->name, n);
  memcpy(name + n, p->path, k);
  return name;
}

/* A value that does not have a line of its own. */
static void show_inner(showing *s, const tk_eval_part *p, const tkd_shown *v) {
  tkd *d = s->d;
  if (p->path && !s->bare) tkd_say(d, "%s: ", name_of(s, p));
  if (p->before && (!p->path || !s->bare)) tkd_say(d, "%s", p->before);
  if (p->known)
    tkd_say(d, "%s", p->known);
  else
    put_value(d, s->fmt, v, 0);
}

static bool is_line(const tk_eval_part *p) {
  return p->path && !p->before;
}

static void show_part(showing *s, const tk_eval_part *p, const tkd_shown *v) {
  tkd *d = s->d;
  if (is_line(p) && p->known && !s->bare)
    tkd_say(d, "%s: constexpr = %s\n", name_of(s, p), p->known);
  else if (is_line(p) && !p->known && !s->bare)
    put_named(d, name_of(s, p), s->fmt, v);
  else
    show_inner(s, p, v);
}

/* What belongs together stands in one line, which is folded if need be. */
static void show_values(showing *s) {
  tkd *d = s->d;
  size_t n = s->x->parts.n, from = d->out.n, k = 0;
  for (size_t i = 0; i < n; i++) {
    const tk_eval_part *p = &s->x->parts.items[i];
    tkd_shown v = {.region = TKI_ANY};
    if (p->path && s->bare && i) tk_buf_puts(&d->out, ", ");
    if (p->path) from = d->out.n;
    if (!p->known) {
      v = shown_value(&s->x->types[k], &s->out[k], &s->undefined[k]);
      k++;
    }
    show_part(s, p, &v);
    bool ends = i + 1 == n || s->x->parts.items[i + 1].path;
    if (!ends || s->bare || is_line(p)) continue;
    tk_buf_putc(&d->out, '\n');
    tkd_fold(d, from);
  }
}

/* A number known at compile time, in a format; false: it is something else. */
static bool put_known(showing *s) {
  const char *text = s->x->known;
  tk_type type = tk_scalar(TK_INT64);
  char *end, *end_of_double;
  tki_val v = {.region = TKI_ANY};
  if (!*s->fmt) return false;
  v.i = strtoll(text, &end, 10);
  double x = strtod(text, &end_of_double);
  if (*end) {
    type = tk_scalar(TK_FP64);
    v.d = x;
    end = end_of_double;
  }
  if (*end || end == text) return false;
  tk_buf_printf(&s->d->out, "%s: constexpr = ", s->name);
  put_value(s->d, s->fmt, &(tkd_shown){&type, &v.u, NULL, TKI_ANY}, 0);
  tk_buf_putc(&s->d->out, '\n');
  return true;
}

static void show_body(tk_env *e, void *ud) {
  showing *s = ud;
  tkd *d = s->d;
  (void)e;
  s->x = tki_eval_new(d->t, s->f, s->text, NULL);
  if (s->x->known) {
    if (put_known(s)) return;
    tk_buf_printf(&d->out, s->bare ? "%.0s%s" : "%s: constexpr = %s\n", s->name,
                  s->x->known);
    return;
  }
  tkc_undefined_eval(d->t, s->x, s->f, s->out, s->undefined);
  s->n = s->x->n;
  show_values(s);
}

static void show_end(showing *s) {
  for (size_t i = 0; i < s->n; i++) {
    tki_release(s->d->t, &s->out[i]);
    tki_release(s->d->t, &s->undefined[i]);
  }
  tki_eval_free(s->x);
}

static void show(tkd *d, showing *s) {
  size_t diags = d->env->ndiags;
  tk_status st = tk_protect(d->env, show_body, s);
  show_end(s);
  if (st == TK_OK) return;
  tkd_refuse(d, diags);
}

void tkd_show_expr(tkd *d, const char *fmt, const char *text) {
  showing s = {.d = d, .fmt = fmt, .text = text, .name = text};
  s.f = need_frame(d);
  show(d, &s);
}

typedef struct formatting {
  tkd *d;
  const char *text;
  showing s;
} formatting;

static void format_body(tk_env *e, void *ud) {
  formatting *x = ud;
  x->s = (showing){.d = x->d, .fmt = "", .text = x->text, .name = ""};
  x->s.bare = true;
  x->s.f = need_frame(x->d);
  show_body(e, &x->s);
}

/* What cannot be had stands there as it was written. */
static void put_piece(tkd *d, const char *text) {
  formatting x = {.d = d, .text = text};
  size_t n = d->out.n;
  if (tk_protect(d->env, format_body, &x) != TK_OK) {
    d->out.n = n;
    tk_buf_printf(&d->out, "{%s}", text);
  }
  show_end(&x.s);
}

/* Text in which {expr} stands for a value, {{ and }} for braces. */
void tkd_print_format(tkd *d, const char *format) {
  size_t diags = d->env->ndiags;
  while (*format) {
    if (*format != '{' || format[1] == '{') {
      bool twice = (*format == '{' || *format == '}') && format[1] == *format;
      tk_buf_putc(&d->out, *format);
      format += twice ? 2 : 1;
      continue;
    }
    size_t k = strcspn(format, "}");
    put_piece(d, tkd_temp(d, format + 1, k ? k - 1 : 0));
    format += k + (format[k] == '}');
  }
  tk_buf_putc(&d->out, '\n');
  tkd_say_reports(d, diags);
  tkd_flush(d);
}

/* ---- frames ------------------------------------------------------------ */

/* name=value for scalars and tensors of the launch, for the frame's line. */
static void put_arg(tkd *d, const tki_frame *f, int slot, const char *sep) {
  const tk_slot *s = &f->func->slots[slot];
  tki_val *v = &f->slots[slot];
  if (!s->name) return;
  tk_buf_printf(&d->out, "%s%s=", sep, s->name);
  if (s->type.rank) {
    tk_type_declare(&d->out, &s->type);
  } else {
    tki_val undefined = tkc_undefined_slot(d->t, f, slot);
    tkd_shown x = shown_value(&s->type, v, &undefined);
    put_value(d, "", &x, 0);
  }
}

void tkd_show_frame(tkd *d, const tki_frame *f, int level) {
  size_t from = d->out.n;
  if (level >= 0) tk_buf_printf(&d->out, "#%-2d ", level);
  tk_buf_printf(&d->out, "%s(", f->func->name);
  const char *sep = "";
  for (size_t i = 0; i < f->func->nparams; i++) {
    put_arg(d, f, f->func->params[i], sep);
    sep = ", ";
  }
  tk_buf_printf(&d->out, ") at %s:%d\n", f->func->src->name, tkd_line_of(f));
  tkd_fold(d, from);
}

/* ---- colours ----------------------------------------------------------- */

typedef enum style_id {
  PLAIN,
  STRONG,
  HERE, /* the line of the stop */
  MARK, /* a line with a breakpoint */
} style_id;

/* Nothing without colours. */
static void style(tkd *d, style_id s) {
  static const char *const codes[] = {"0", "1", "1;32", "35"};
  if (d->opt.colour) tk_buf_printf(&d->out, "\033[%sm", codes[s]);
}

/* ---- source ------------------------------------------------------------ */

static char line_mark(tkd *d, const tk_source *src, int line, int at) {
  if (line == at) return '>';
  for (const tkd_point *p = d->points; p; p = p->next)
    if (p->line == line && p->kind != TKD_WATCH && p->func && p->enabled &&
        d->frame && d->frame->func->src == src)
      return 'b';
  return ' ';
}

void tkd_show_lines(tkd *d, const tk_source *src, int from, int to, int at) {
  if (from < 1) from = 1;
  if (to > (int)src->nlines) to = (int)src->nlines;
  int digits = to > 999 ? 5 : 4;
  for (int i = from; i <= to; i++) {
    size_t n;
    const char *text = tk_source_line_text(src, i, &n);
    char mark = line_mark(d, src, i, at);
    if (mark != ' ') style(d, mark == '>' ? HERE : MARK);
    tk_buf_printf(&d->out, "%s%*d",
                  mark == '>'   ? "=>"
                  : mark == 'b' ? "b "
                                : "  ",
                  digits, i);
    if (n) tk_buf_puts(&d->out, "  ");
    tk_buf_add(&d->out, text, n);
    if (mark != ' ') style(d, PLAIN);
    tk_buf_putc(&d->out, '\n');
  }
}

/* ---- what changed ------------------------------------------------------ */

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n) {
  const unsigned char *s = p;
  for (; n >= 8; s += 8, n -= 8) {
    uint64_t w;
    memcpy(&w, s, 8);
    h = (h ^ w) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  for (; n; n--) h = (h ^ *s++) * 0x100000001B3u;
  return h;
}

/* 0: it has no value yet. */
static uint64_t hash_slot(const tki_frame *f, int slot) {
  const tk_type *type = &f->func->slots[slot].type;
  tki_val *v = &f->slots[slot];
  if ((type->rank && !v->buf) || tki_is_unassigned(f, slot)) return 0;
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  return hash_bytes(0x12345, tki_data(v), n) | 1;
}

static uint64_t hash_name(const tki_frame *f, const char *name) {
  int slots[TK_EVAL_LEAVES];
  size_t n = tki_eval_slots(f, name, slots, TK_EVAL_LEAVES);
  uint64_t h = 0;
  for (size_t i = 0; i < n; i++) h = h * 31 + hash_slot(f, slots[i]);
  return h;
}

static void remember_one(tkd *d, tkd_seen_frame *s, const char *name,
                         uint64_t hash) {
  if (s->n == s->cap) {
    size_t cap = s->cap ? s->cap * 2 : 16;
    s->items = tk_realloc(d->env, s->items, s->cap * sizeof *s->items,
                          cap * sizeof *s->items);
    s->cap = cap;
  }
  s->items[s->n++] = (tkd_seen){name, hash};
}

static void remember_frame(tkd *d, const tki_frame *f, int depth) {
  tkd_seen_frame *s = &d->seen[depth];
  s->func = f->func;
  s->index = d->strand->task->index;
  s->n = 0;
  const char *name;
  for (size_t i = 0; (name = tki_eval_name(f, i)); i++) {
    uint64_t hash = hash_name(f, name);
    if (hash) remember_one(d, s, name, hash);
  }
  d->seen_valid[depth] = true;
}

static void remember(tkd *d) {
  const tki_frame *f = tkd_top(d);
  int depth = tkd_depth(f);
  for (int i = depth; i < TKD_LEVELS; i++) d->seen_valid[i] = false;
  for (; f; f = tkd_user_frame(f->caller), depth--)
    if (depth < TKD_LEVELS) remember_frame(d, f, depth);
}

static bool differs(const tkd_seen_frame *s, const char *name, uint64_t hash) {
  for (size_t i = 0; i < s->n; i++)
    if (!strcmp(s->items[i].name, name)) return s->items[i].hash != hash;
  return hash != 0;
}

enum { MOST_CHANGES = 8 };

/* One blank for every run of blanks and line ends. */
static size_t squeeze(char *text, size_t n) {
  size_t to = 0;
  for (size_t i = 0; i < n; i++) {
    bool blank = text[i] == ' ' || text[i] == '\n';
    if (blank && (!to || strchr(" [", text[to - 1]))) continue;
    text[to++] = blank ? ' ' : text[i];
  }
  while (to && text[to - 1] == ' ') to--;
  return to;
}

/* A value in a line, as much of it as fits. */
static void put_line_of(tkd *d, char *text, size_t n) {
  size_t most = (size_t)tkd_width(d) - 4;
  const char *end = memchr(text, '\n', n);
  bool whole = end && end + 1 == text + n && n <= most + 4;
  size_t k = whole ? n - 1 : squeeze(text, n), cut = k;
  if (k > most + 4)
    for (cut = most; cut && text[cut] != ' ';) cut--;
  if (cut > 4 && cut < k && !memcmp(text + cut - 4, " ...", 4)) cut -= 4;
  tk_buf_add(&d->out, text, cut);
  tkd_say(d, cut < k ? " ...\n" : "\n");
}

/* A change is a line, or one for each item of a tuple. */
static void show_change(tkd *d, const tki_frame *f, const char *name) {
  size_t from = d->out.n, n = strlen(name);
  tkd_show_slot(d, f, name);
  char *text = tkd_temp(d, d->out.s + from, d->out.n - from);
  d->out.n = from;
  while (*text) {
    char *end = strchr(text, '\n');
    while (end && end[1] && strncmp(end + 1, name, n))
      end = strchr(end + 1, '\n');
    size_t k = end ? (size_t)(end + 1 - text) : strlen(text);
    put_line_of(d, text, k);
    text += k;
  }
}

/* The values of what changed since the last stop in this frame. */
static void show_changes(tkd *d, const tki_frame *f) {
  int depth = tkd_depth(f), shown = 0, more = 0;
  const tkd_seen_frame *s = &d->seen[depth < TKD_LEVELS ? depth : 0];
  bool known = depth < TKD_LEVELS && d->seen_valid[depth] &&
               s->func == f->func && s->index == d->strand->task->index;
  const char *name;
  if (!known || !d->set.changes) return;
  for (size_t i = 0; (name = tki_eval_name(f, i)); i++) {
    uint64_t hash = hash_name(f, name);
    if (!hash || !differs(s, name, hash)) continue;
    if (shown++ < MOST_CHANGES)
      show_change(d, f, name);
    else
      more++;
  }
  if (more) tkd_say(d, "(%d more changed)\n", more);
}

static void show_one(tkd *d, const tki_frame *f, int slot, const char *name) {
  const tk_slot *s = &f->func->slots[slot];
  if (s->type.rank && !f->slots[slot].buf) {
    tkd_say(d, "%s: no value yet\n", name);
    return;
  }
  tki_val undefined = tkc_undefined_slot(d->t, f, slot);
  tkd_show_value(d, name, "", &s->type, &f->slots[slot], &undefined);
  tki_release(d->t, &undefined);
}

/* A tuple may have parts without a value: then it is not shown. */
void tkd_show_slot(tkd *d, const tki_frame *f, const char *name) {
  int slots[TK_EVAL_LEAVES];
  size_t n = tki_eval_slots(f, name, slots, TK_EVAL_LEAVES);
  if (n == 1 && tki_eval_is_plain(f, name)) {
    show_one(d, f, slots[0], name);
    return;
  }
  showing x = {.d = d, .fmt = "", .text = name, .name = name};
  x.f = (tki_frame *)f;
  size_t diags = d->env->ndiags, from = d->out.n;
  if (tk_protect(d->env, show_body, &x) != TK_OK) {
    tk_diag_truncate(d->env, diags);
    d->out.n = from;
    tkd_say(d, "%s: no value yet\n", name);
  }
  show_end(&x);
}

/* ---- displays ---------------------------------------------------------- */

static void display_body(tk_env *e, void *ud) {
  (void)e;
  showing *s = ud;
  show_body(e, s);
}

void tkd_display_all(tkd *d) {
  for (tkd_display *x = d->displays; x && d->frame; x = x->next) {
    if (x->off) continue;
    showing s = {.d = d, .fmt = x->fmt, .text = x->text, .name = x->text};
    s.f = d->frame;
    size_t diags = d->env->ndiags;
    tkd_say(d, "%d: ", x->number);
    if (tk_protect(d->env, display_body, &s) != TK_OK) {
      tk_diag_truncate(d->env, diags);
      tkd_say(d, "%s cannot be had here\n", x->text);
    }
    show_end(&s);
  }
}

/* ---- stops ------------------------------------------------------------- */

static const struct {
  const char *name, *text;
} reasons[] = {
#define STOP(id, name, text) {name, text},
#include "debug/stop.def"
#undef STOP
};

static void put_reason(tkd *d) {
  const tkd_stop *s = &d->stop;
  const char *text = reasons[s->reason].text;
  tk_buf_puts(&d->out, text);
  if (s->point) tk_buf_printf(&d->out, " %d", s->point->number);
  if (s->point && s->point->kind == TKD_CATCH)
    tk_buf_printf(&d->out, " (%s)", s->point->where);
  if (s->reason == TKD_R_EVENT)
    tk_buf_printf(&d->out, " to event %llu", (unsigned long long)d->event);
  if (s->text[0])
    tk_buf_printf(&d->out, "%s%s", d->out.n && *text ? ": " : "", s->text);
  if (*text || s->text[0]) tk_buf_puts(&d->out, ", ");
}

static void put_trips(tkd *d, const tki_frame *f) {
  if (f->loops)
    tk_buf_printf(&d->out, ", trip %llu", (unsigned long long)f->loops->trip);
}

/* The source of the operation is cut so that it fits a line of its own. */
static void put_inst(tkd *d, const tki_frame *f) {
  if (!d->sub || d->sub == TKD_LATE || !f->inst) return;
  tk_span at = f->inst->span;
  int n = (int)(at.hi - at.lo), room = tkd_width(d) - 8;
  const char *text = f->func->src->text + at.lo;
  const char *end = memchr(text, '\n', (size_t)n),
             *mode = tk_mode_name(f->inst);
  if (room > 60) room = 60;
  if (room < 4) room = 4;
  bool cut = end || n > room;
  if (end) n = (int)(end - text);
  if (n > room) n = room;
  size_t from = d->out.n;
  tk_buf_printf(&d->out, "before operation %llu, %s%s%s: %.*s%s\n",
                (unsigned long long)d->sub,
                tk_inst_name((tk_opcode)f->inst->op), *mode ? " " : "", mode, n,
                text, cut ? "..." : "");
  tkd_fold(d, from);
}

static void show_place(tkd *d) {
  const tki_frame *f = d->frame;
  style(d, STRONG);
  put_reason(d);
  tk_buf_puts(&d->out, "program ");
  tkd_put_pid(&d->out, d->t->pid, d->t->grid);
  put_trips(d, f);
  style(d, PLAIN);
  tk_buf_putc(&d->out, '\n');
  tk_buf_printf(&d->out, "%s at %s:%d\n", f->func->name, f->func->src->name,
                tkd_line_of(f));
  int line = tkd_line_of(f);
  tkd_show_lines(d, f->func->src, line - 1, line + 1, line);
  put_inst(d, f);
  if (d->result.n && d->stop.reason == TKD_R_FINISH)
    tk_buf_add(&d->out, d->result.s, d->result.n);
}

/* ---- events ------------------------------------------------------------ */

/* What was reported since the last stop. */
static void put_findings(tkd *d, tk_buf *b) {
  size_t i = 0;
  const char *sep = ", \"findings\": [";
  for (const tk_diag *x = d->env->diags; x; x = x->next) {
    if (i++ < d->shown_diags || d->gone) continue;
    tk_buf_puts(b, sep);
    tk_diag_json(b, x);
    sep = ", ";
  }
  if (*sep == ',' && sep[2] == '\0') tk_buf_puts(b, "]");
}

static void put_json(tkd *d, tk_buf *b) {
  const tkd_stop *s = &d->stop;
  const tki_frame *f = d->frame;
  tk_buf_printf(b, "{\"event\": \"stop\", \"reason\": \"%s\", \"when\": %llu",
                reasons[s->reason].name, (unsigned long long)d->event);
  if (s->point) tk_buf_printf(b, ", \"breakpoint\": %d", s->point->number);
  if (s->text[0]) {
    tk_buf_puts(b, ", \"text\": ");
    tk_json_string(b, s->text, strlen(s->text));
  }
  if (f) {
    const int64_t *p = d->t->pid, *g = d->t->grid;
    tk_buf_printf(b,
                  ", \"program\": [%lld, %lld, %lld], \"grid\": [%lld, %lld, "
                  "%lld], \"function\": \"%s\", \"line\": %d, \"file\": ",
                  (long long)p[0], (long long)p[1], (long long)p[2],
                  (long long)g[0], (long long)g[1], (long long)g[2],
                  f->func->name, tkd_line_of(f));
    tk_json_string(b, f->func->src->name, strlen(f->func->src->name));
    if (f->loops)
      tk_buf_printf(b, ", \"trip\": %llu", (unsigned long long)f->loops->trip);
  }
  put_findings(d, b);
  tk_buf_puts(b, "}");
}

void tkd_tell_output(tkd *d, const char *text, size_t n) {
  tk_buf b;
  tk_buf_init(&b, d->env);
  tk_buf_puts(&b, "{\"event\": \"program-output\", \"text\": ");
  tk_json_string(&b, text, n);
  tk_buf_puts(&b, "}");
  d->opt.event(d->opt.ud, tk_buf_str(&b));
  tk_buf_free(&b);
}

static void tell_event(tkd *d) {
  if (!d->opt.event) return;
  tk_buf *b = tkd_temp_buf(d);
  put_json(d, b);
  d->opt.event(d->opt.ud, tk_buf_str(b));
}

/* What was reported since the last stop; if that is what stopped it, in
 * full. */
static void show_report(tkd *d) {
  const tkd_stop *s = &d->stop;
  size_t n = d->env->ndiags, i = 0, from = d->shown_diags;
  bool here =
      s->reason == TKD_R_FINDING || (s->reason == TKD_R_CATCH && s->text[0]);
  d->shown_diags = n;
  if (d->gone) return; /* back to where it was not reported yet */
  if (!here && from < n)
    tkd_say(d, "%zu new finding%s: see 'info checks'\n", n - from,
            n - from == 1 ? "" : "s");
  if (!here) return;
  for (tk_diag *x = d->env->diags; x; x = x->next)
    if (i++ >= from) tkd_tell_report(d, x);
}

void tkd_show_stop(tkd *d) {
  tkd_flush(d);
  tell_event(d);
  if (!d->frame) {
    show_report(d);
    tkd_say(d, "The launch has ended: %llu programs ran.\n",
            (unsigned long long)d->t->done);
    tkd_flush(d);
    return;
  }
  show_report(d);
  if (d->stop.reason == TKD_R_START && d->launches == 1) tkd_say_asleep(d);
  show_place(d);
  show_changes(d, d->frame);
  tkd_display_all(d);
  remember(d);
  tkd_flush(d);
}

void tkd_keep_result(tkd *d, tki_frame *f) {
  const tk_stmt *st = f->stmt;
  if (tkd_depth(f) != d->depth || f->func->library) return;
  if (!st || st->kind != TK_S_RETURN || !st->nresults) return;
  tk_buf kept = d->out;
  tk_buf_init(&d->out, d->env);
  for (size_t i = 0; i < st->nresults; i++) {
    int slot = st->results[i];
    const tk_type *type = &f->func->slots[slot].type;
    tki_val undefined = tkc_undefined_result(d->t, i, type);
    tkd_show_value(d, "Value returned", "", type, &f->slots[slot], &undefined);
    tki_release(d->t, &undefined);
  }
  tk_buf_clear(&d->result);
  tk_buf_add(&d->result, d->out.s, d->out.n);
  tk_buf_free(&d->out);
  d->out = kept;
}
