/* cmd_look.c - commands that look at what there
 * is. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "command/info.h"
#include "command/look.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/settings.h"
#include "command/show.h"
#include "command/table.h"

/* ---- expressions ------------------------------------------------------- */

static void check_format(tkt *d, const char *fmt, const char *known) {
  if (strlen(fmt) > 1 || (*fmt && !strchr(known, *fmt)))
    tkt_fail(d, "Unknown format '/%s': it must be one of the letters %s.", fmt,
             known);
}

/* Refuses gdb's $, $1, $$ and $name; the parser reports a $ elsewhere. */
static void check_history(tkt *d, const char *text) {
  const char *s = text + strcspn(text, "$\"'");
  if (*s != '$' || (s > text && !strchr(" (+-*/,[", s[-1]))) return;
  size_t n = 1 + strspn(s + 1, "$");
  n += tkt_name_length(s + n);
  if (n == 1 && s[1 + strspn(s + 1, " ")] && s > text) return;
  tkt_fail(d,
           "'%.*s': there is no value history, and the debugger has no "
           "variables of its own. Write the expression itself, such as 'print "
           "x[0]'; 'display EXPR' prints one at every stop.",
           n > 60 ? 60 : (int)n, s);
}

void tkt_cmd_PRINT(tkt *d, tkt_args *a) {
  check_format(d, a->fmt, "xobducefg");
  if (!*a->text) tkt_fail(d, "Print what?");
  check_history(d, a->text);
  tkt_show_expr(d, a->fmt, a->text);
}

void tkt_cmd_DISPLAY(tkt *d, tkt_args *a) {
  if (!*a->text) {
    tkt_display_all(d);
    return;
  }
  check_format(d, a->fmt, "xobducefg");
  check_history(d, a->text);
  const tk_debug_value *v;
  size_t n;
  if (tk_debug_frame_count(d->e) ||
      tk_debug_evaluate(d->e, a->text, &v, &n) == TK_OK)
    tkt_show_expr(d, a->fmt, a->text);
  size_t mark = d->mem.nheld;
  tkt_display *x = tk_held_new(&d->mem, sizeof *x), **at = &d->displays;
  x->fmt = tk_held_text(&d->mem, a->fmt);
  x->text = tk_held_text(&d->mem, a->text);
  tk_held_keep(&d->mem, mark);
  while (*at) at = &(*at)->next;
  *at = x;
  x->number = ++d->last_display;
}

/* The type of a parameter's tensor, with shape and strides. */
static void say_tensor(tkt *d, const tk_debug_region *r) {
  tkt_say(d, "%s[", tk_dtype_name(r->dtype));
  for (int i = 0; i < r->rank; i++)
    tkt_say(d, "%s%lld", i ? ", " : "", (long long)r->shape[i]);
  tkt_say(d, "] with strides [");
  for (int i = 0; i < r->rank; i++)
    tkt_say(d, "%s%lld", i ? ", " : "", (long long)r->strides[i]);
  tkt_say(d, "], %zu bytes%s\n", r->size, r->readonly ? ", read-only" : "");
}

static void say_named_tensor(tkt *d, const tk_debug_region *r) {
  tkt_say(d, "%s: ", r->name);
  say_tensor(d, r);
}

static void say_type(tkt *d, const char *type) {
  size_t from = d->out.n;
  tkt_say(d, "%s\n", type);
  tkt_fold(d, from);
}

void tkt_cmd_WHATIS(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "The type of which expression?");
  check_history(d, a->text);
  const char *type;
  tk_debug_region r;
  tkt_need(d, tk_debug_type_of(d->e, a->text, &type));
  say_type(d, type);
  bool pointer = strstr(type, "pointer<") == type ||
                 strstr(type, "const_pointer<") == type;
  if (pointer && tk_debug_region_named(d->e, a->text, &r))
    say_named_tensor(d, &r);
}

/* ---- memory ------------------------------------------------------------ */

typedef struct look {
  uint64_t n;
  char how;
  tk_dtype dtype;
} look;

static look parse_nfu(tkt *d, const char *fmt, tk_dtype own) {
  char *end;
  look x = {isdigit((unsigned char)*fmt) ? strtoull(fmt, &end, 10) : 1, 0, own};
  if (!isdigit((unsigned char)*fmt)) end = (char *)fmt;
  static const char units[] = "bhwg";
  for (; *end; end++) {
    const char *u = strchr(units, *end);
    bool first = *end == 'b' && !x.how && !end[1];
    if (u && !first)
      x.dtype =
          (tk_dtype[]){TK_UINT8, TK_UINT16, TK_UINT32, TK_UINT64}[u - units];
    else if (strchr("xduobcfe", *end))
      x.how = *end;
    else
      tkt_fail(d,
               "Expected x/NFU, where N is a count, F one of x d u o b c e f, "
               "and U one of b h w g; not '%s'.",
               fmt);
  }
  return x;
}

/* Reads a tensor with an index or offset, or a number. */
static uint64_t address_of(tkt *d, const char *text, tk_dtype *own) {
  tk_debug_region r;
  uint64_t at;
  int left;
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  *own = TK_UINT8;
  if (isdigit((unsigned char)*text)) return tkt_number(d, text, 0);
  const char *name = tk_temp(&d->mem, text, n);
  if (!n || !tk_debug_region_named(d->e, name, &r))
    tkt_fail(d, "x examines a tensor or an address, not '%s'.", text);
  *own = r.dtype;
  const char *s = text + n, *close = strchr(s, ']');
  tkt_need(d, tk_debug_element(d->e, name, *s == '[' ? s : "", &at, &left));
  if (*s == '[') s = close ? close + 1 : s + strlen(s);
  s += strspn(s, " ");
  if (*s == '+' && !s[1 + strspn(s + 1, " ")])
    tkt_fail(d, "x BUFFER+OFFSET: an offset was expected after the +.");
  if (*s == '+')
    at += tkt_number(d, s + 1 + strspn(s + 1, " "), 0) * tk_dtype_size(*own);
  else if (*s)
    tkt_fail(d, "x BUFFER+OFFSET: unexpected '%s'.", s);
  return at;
}

/* BUFFER+ELEMENT, and which byte of the element if smaller items are
 * shown, or items that begin inside an element. */
static const char *name_memory(tkt *d, const tk_debug_region *r, uint64_t at,
                               size_t size) {
  int64_t whole = (int64_t)tk_dtype_size(r->dtype);
  int64_t off = (int64_t)(at - r->first);
  int64_t byte = ((off % whole) + whole) % whole;
  long long element = (long long)((off - byte) / whole);
  if (byte || (int64_t)size < whole)
    return tk_arena_printf(&d->mem.arena, "%s+%lld byte %lld", r->name, element,
                           (long long)byte);
  return tk_arena_printf(&d->mem.arena, "%s+%lld", r->name, element);
}

/* Finds the region that holds an address; returns false if there is none. */
static bool region_at(tkt *d, uint64_t at, tk_debug_region *r) {
  for (size_t i = 0; tk_debug_region_at(d->e, i, r); i++)
    if (at >= r->address && at - r->address < r->size) return true;
  return false;
}

static void examine(tkt *d, uint64_t at, const look *x) {
  size_t size = tk_dtype_size(x->dtype);
  char fmt[2] = {x->how, 0};
  uint64_t lane = 0;
  for (uint64_t i = 0; i < x->n; i++, at += size) {
    tk_debug_region r;
    d->x_next = at;
    tkt_need(d, tk_debug_read(d->e, at, &lane, size));
    unsigned char undefined = tk_debug_is_undefined(d->e, at, size);
    tk_debug_value v = {.type = {.dtype = x->dtype},
                        .lanes = &lane,
                        .size = size,
                        .undefined = undefined ? &undefined : NULL};
    if (!region_at(d, at, &r)) continue;
    tkt_show_value(d, name_memory(d, &r, at, size), fmt, &v);
  }
  d->x_next = at;
}

/* What the lanes of a block of pointers point to, up to the number wanted. */
static void examine_lanes(tkt *d, const tk_debug_value *v, const look *x) {
  tk_type type = tkt_type_of(v);
  size_t n = (size_t)tk_numel(&type), more = n > x->n ? n - x->n : 0;
  for (size_t i = 0; i < n - more; i++) {
    uint64_t at;
    tk_debug_region r;
    look one = {.n = 1, .how = x->how, .dtype = x->dtype};
    memcpy(&at, (const char *)v->lanes + i * sizeof at, sizeof at);
    tkt_lane_index(&d->out, &type, (int64_t)i);
    tkt_say(d, " ");
    if (region_at(d, at, &r) &&
        at + tk_dtype_size(x->dtype) <= r.address + r.size)
      examine(d, at, &one);
    else
      tkt_say(d, "0x%llx: in no tensor\n", (unsigned long long)at);
  }
  if (more) tkt_say(d, "(%zu more)\n", more);
}

/* Returns the pointers that an expression evaluates to; NULL: it names a
 * tensor, an element of one, or an address. */
static const tk_debug_value *pointers_in(tkt *d, const char *text) {
  tk_debug_region r;
  const tk_debug_value *v;
  size_t n = strcspn(text, "[+ "), count;
  const char *name = tk_temp(&d->mem, text, n), *rest = text + n;
  rest += strspn(rest, "+ ");
  bool plain = !*rest || *rest == '[' || isdigit((unsigned char)*rest);
  if (isdigit((unsigned char)*text)) return NULL;
  if (plain && tk_debug_region_named(d->e, name, &r)) return NULL;
  if (tk_debug_evaluate(d->e, text, &v, &count) != TK_OK) return NULL;
  return count == 1 && v->lanes && v->type.pointers == 1 ? v : NULL;
}

void tkt_cmd_X(tkt *d, tkt_args *a) {
  tk_dtype own = d->x_dtype;
  uint64_t at = d->x_next;
  const tk_debug_value *v = *a->text ? pointers_in(d, a->text) : NULL;
  if (v) {
    bool counts = isdigit((unsigned char)*a->fmt);
    look x = parse_nfu(d, a->fmt, v->type.dtype);
    if (!counts) x.n = d->set.elements;
    if (v->type.rank)
      examine_lanes(d, v, &x);
    else
      examine(d, *(const uint64_t *)v->lanes,
              &(look){counts ? x.n : 1, x.how, x.dtype});
    return;
  }
  if (*a->text) at = address_of(d, a->text, &own);
  if (!at) tkt_fail(d, "Examine what? x/8 BUFFER, x/4xw BUFFER+16.");
  if (*a->text && own < TK_DTYPE_COUNT) d->x_dtype = own;
  look x = parse_nfu(d, a->fmt, own);
  if (x.n > 100000) tkt_fail(d, "x shows at most 100000 items.");
  examine(d, at, &x);
}

/* ---- pictures ---------------------------------------------------------- */

typedef void (*block_fn)(tkt *d, const tkt_block *b, const void *more);

static void with_block(tkt *d, const char *text, const void *more,
                       block_fn fn) {
  if (!*text) tkt_fail(d, "Which variable or tensor?");
  tk_debug_region r;
  if (tk_debug_region_named(d->e, text, &r)) {
    tkt_block b = tkt_block_region(&r);
    b.undefined = tkt_unwritten(d, &r, &b);
    fn(d, &b, more);
    return;
  }
  const tk_debug_value *v = tkt_one_value(d, text, "not one block");
  tk_type type = tkt_type_of(v);
  tkt_block b = tkt_block_of(&type, v->lanes);
  b.undefined = v->undefined;
  fn(d, &b, more);
}

static void do_stats(tkt *d, const tkt_block *b, const void *more) {
  size_t from = d->out.n;
  (void)more;
  tkt_stats(&d->out, b, tkt_width(d));
  tkt_fold(d, from);
}

void tkt_cmd_STATS(tkt *d, tkt_args *a) {
  with_block(d, a->text, NULL, do_stats);
}

typedef struct wish {
  bool farthest;
  const char *name, *file;
} wish;

/* Returns "add at add.py:13, program (1, 0, 0)", or other words if the launch
 * has ended. */
static void caption_place(tkt *d, tkt_caption *out) {
  tk_buf *b = tk_temp_buf(&d->mem);
  tk_debug_frame f;
  tk_debug_program p;
  uint64_t now = tk_debug_current_program(d->e);
  out->under = "when the launch has ended";
  if (!tk_debug_selected(d->e, &f) ||
      tk_debug_program_indexed(d->e, now, &p) != TK_OK)
    return;
  tk_buf_printf(b, "%s at %s:%d, program ", f.name, f.place.file, f.place.line);
  tkt_put_pid(b, p.pid, NULL);
  out->under = tk_buf_str(b);
  memcpy(out->grid, tkt_stand(d)->grid, sizeof out->grid);
  memcpy(out->pid, p.pid, sizeof out->pid);
}

static void do_show(tkt *d, const tkt_block *b, const void *more) {
  const wish *w = more;
  if (!w->file) {
    tkt_picture(&d->out, b, w->farthest, tkt_width(d), d->opt.colour);
    return;
  }
  tk_buf *svg = tk_temp_buf(&d->mem), *title = tk_temp_buf(&d->mem);
  tk_buf_printf(title, "%s: ", w->name);
  tk_type_declare(title, &b->type);
  tkt_caption caption = {.title = tk_buf_str(title)};
  caption_place(d, &caption);
  tkt_svg(svg, b, w->farthest, &caption, 0);
  tkt_write_svg(d, w->file, svg);
}

void tkt_cmd_SHOW(tkt *d, tkt_args *a) {
  wish w = {.farthest = !strcmp(a->fmt, "max"), .name = a->text};
  if (*a->fmt && !w.farthest)
    tkt_fail(d, "Unknown format '/%s': /max is the only one that show takes.",
             a->fmt);
  w.file = tkt_svg_file(d, &w.name);
  with_block(d, w.name, &w, do_show);
}

static void do_axis(tkt *d, const tkt_block *b, const void *more) {
  (void)more;
  tkt_axis(&d->out, b);
}

void tkt_cmd_AXIS(tkt *d, tkt_args *a) {
  with_block(d, a->text, NULL, do_axis);
}

static void do_layout(tkt *d, const tkt_block *b, const void *more) {
  int warps = more ? atoi(more) : 4;
  if (warps < 1 || warps > 32 || (warps & (warps - 1)))
    tkt_fail(d, "The number of warps must be a power of 2 and at most 32.");
  tkt_layout(&d->out, &b->type, warps);
}

void tkt_cmd_LAYOUT(tkt *d, tkt_args *a) {
  const char *space = strrchr(a->text, ' ');
  bool number = space && isdigit((unsigned char)space[1]);
  size_t n = number ? (size_t)(space - a->text) : strlen(a->text);
  with_block(d, tk_temp(&d->mem, a->text, n), number ? space + 1 : NULL,
             do_layout);
}

/* ---- frames ------------------------------------------------------------ */

static tk_debug_frame need_call(tkt *d) {
  tk_debug_frame f;
  if (!tk_debug_selected(d->e, &f)) tkt_fail(d, "No program is stopped.");
  return f;
}

static void say_call(tkt *d) {
  tk_debug_frame f = need_call(d);
  tkt_show_frame(d, &f, (int)f.level);
  tkt_show_lines(d, f.place.file, f.place.line, f.place.line, f.place.line);
}

static void choose_call(tkt *d, int64_t level) {
  size_t depth = tk_debug_frame_count(d->e);
  if (level < 0) tkt_fail(d, "This is the innermost call.");
  if (level >= (int64_t)depth)
    tkt_fail(d,
             depth == 1 ? "The kernel was not called from a kernel."
                        : "There are only %zu calls.",
             depth);
  tkt_need(d, tk_debug_select(d->e, tkt_stand(d)->program, (size_t)level));
  d->list = (tkt_listing){0};
  say_call(d);
}

static int64_t level_count(tkt *d, const char *text) {
  uint64_t n = tkt_number(d, text, 1);
  return n > 1000000 ? 1000000 : (int64_t)n;
}

void tkt_cmd_UP(tkt *d, tkt_args *a) {
  choose_call(d, (int64_t)need_call(d).level + level_count(d, a->text));
}

void tkt_cmd_DOWN(tkt *d, tkt_args *a) {
  choose_call(d, (int64_t)need_call(d).level - level_count(d, a->text));
}

void tkt_cmd_FRAME(tkt *d, tkt_args *a) {
  if (*a->text)
    choose_call(d, level_count(d, a->text));
  else
    say_call(d);
}

/* ---- source ------------------------------------------------------------ */

/* Returns the place at which the program has stopped, or else the kernel's
 * file. */
static tk_place place_here(tkt *d) {
  tk_debug_frame f;
  if (tk_debug_selected(d->e, &f)) return f.place;
  return (tk_place){
      .file = tk_ir_func_place(tk_ir_kernel(tk_debug_form(d->e))).file};
}

static int line_of_function(tkt *d, const char *name) {
  const tk_ir_func *f;
  for (size_t i = 0; (f = tk_ir_func_at(tk_debug_form(d->e), i)); i++)
    if (!strcmp(tk_ir_func_name(f), name)) return tk_ir_func_place(f).line;
  tkt_fail(d,
           "This launch has no function '%s', and it is not the number of a "
           "line.",
           name);
}

/* Returns the line that a text names: a number, FILE:LINE of this file, or a
 * function. *centred: the lines around it are wanted as well. */
static int line_named(tkt *d, const tk_source *src, const char *text,
                      bool *centred) {
  const char *colon = strrchr(text, ':');
  size_t n = colon ? (size_t)(colon - text) : 0, k = strlen(src->name);
  bool here = colon && k >= n && !strncmp(src->name + k - n, text, n);
  const char *number = here ? colon + 1 : text;
  *centred = isdigit((unsigned char)*number) != 0;
  if (!*centred) return line_of_function(d, text);
  uint64_t line = tkt_number(d, number, 0);
  return line > INT32_MAX / 2 ? INT32_MAX / 2 : (int)line;
}

typedef struct extent {
  int from, to;
} extent;

/* "A,B", "A," and ",B". */
static extent lines_between(tkt *d, const tk_source *src, const char *text,
                            const char *comma) {
  int n = (int)d->set.listing;
  bool centred;
  const char *first = tk_temp(&d->mem, text, (size_t)(comma - text));
  const char *last = comma + 1 + strspn(comma + 1, " ");
  if (!*first && !*last) tkt_fail(d, "list FROM,TO");
  int to = *last ? line_named(d, src, last, &centred) : 0;
  int from = *first ? line_named(d, src, first, &centred) : to - n + 1;
  return (extent){from, *last ? to : from + n - 1};
}

static extent lines_wanted(tkt *d, const tk_source *src, const char *text,
                           int at) {
  int n = (int)d->set.listing;
  const char *comma = strchr(text, ',');
  bool on = !*text || !strcmp(text, "+"), centred = true;
  int from = at;
  if (comma) return lines_between(d, src, text, comma);
  const tkt_listing *last = &d->list;
  if (on && last->next) return (extent){last->next, last->next + n - 1};
  if (!strcmp(text, "-")) {
    int before = last->first ? last->first : at - n / 2;
    if (before <= 1)
      tkt_fail(d, "There are no lines before this in %s.", src->name);
    return (extent){before - n, before - 1};
  }
  if (!on && strcmp(text, ".") != 0) from = line_named(d, src, text, &centred);
  if (centred) from -= n / 2;
  if (from < 1) from = 1;
  return (extent){from, from + n - 1};
}

void tkt_cmd_LIST(tkt *d, tkt_args *a) {
  tk_place here = place_here(d);
  const tk_source *src = tkt_source(d, here.file);
  extent x = lines_wanted(d, src, a->text, here.line);
  if (x.from < 1) x.from = 1;
  if (x.from > (int)src->nlines)
    tkt_fail(d, "%s has %d lines.", src->name, (int)src->nlines);
  if (x.to < x.from) tkt_fail(d, "The last line is before the first.");
  tkt_show_lines(d, here.file, x.from, x.to, here.line);
  d->list = (tkt_listing){x.from, x.to + 1};
}

void tkt_cmd_LONGLIST(tkt *d, tkt_args *a) {
  tk_debug_frame f = need_call(d);
  const tk_debug_function *list;
  size_t n;
  (void)a;
  tkt_need(d, tk_debug_functions(d->e, &list, &n));
  for (size_t i = 0; i < n; i++)
    if (list[i].id == f.function)
      tkt_show_lines(d, f.place.file, list[i].place.line, list[i].last_line,
                     f.place.line);
}

/* ---- info -------------------------------------------------------------- */

static void need_launch(tkt *d) {
  if (!tk_debug_launch(d->e)) tkt_fail(d, "No launch is running.");
}

static void say_variables(tkt *d, size_t level) {
  const tk_debug_variable *v;
  size_t n;
  tkt_need(d, tk_debug_variables(d->e, level, &v, &n));
  for (size_t i = 0; i < n; i++) tkt_list_variable(d, &v[i]);
}

static void info_locals(tkt *d) {
  say_variables(d, need_call(d).level);
}

static void info_args(tkt *d) {
  const tk_debug_variable *v, *x;
  size_t n;
  tk_debug_frame f = {.level = 0};
  tk_debug_selected(d->e, &f);
  tkt_need(d, tk_debug_variables(d->e, f.level, &v, &n));
  for (int i = 0; (x = tkt_parameter(v, n, i)); i++) {
    tk_debug_region r;
    bool pointer = x->nvalues == 1 && x->values[0].type.pointers == 1 &&
                   !x->values[0].type.rank;
    tkt_list_variable(d, x);
    if (!pointer || !tk_debug_region_named(d->e, x->name, &r)) continue;
    d->out.n--;
    tkt_say(d, ", ");
    say_tensor(d, &r);
  }
}

void tkt_cmd_ARGS(tkt *d, tkt_args *a) {
  (void)a;
  info_args(d);
}

void tkt_cmd_BACKTRACE(tkt *d, tkt_args *a) {
  bool full = !strcmp(a->text, "full");
  uint64_t most = full ? UINT64_MAX : tkt_number(d, a->text, UINT64_MAX);
  size_t n = tk_debug_frame_count(d->e);
  for (size_t k = 0; k < n && k < most; k++) {
    tk_debug_frame f;
    tkt_need(d, tk_debug_frame_at(d->e, k, &f));
    tkt_show_frame(d, &f, (int)k);
    if (full) say_variables(d, k);
  }
}

/* The statement with a number, of a body or a body inside it. */
static const tk_ir_stmt *find_statement(const tk_ir_body *b, size_t id) {
  const tk_ir_stmt *st, *found = NULL;
  for (size_t i = 0; !found && (st = tk_ir_stmt_at(b, i)); i++) {
    if (tk_ir_stmt_id(st) == id) return st;
    found = find_statement(tk_ir_stmt_body(st), id);
    if (!found) found = find_statement(tk_ir_stmt_else(st), id);
  }
  return found;
}

static void info_line(tkt *d) {
  tk_debug_frame f = need_call(d);
  const tk_ir_func *func = tk_ir_func_at(tk_debug_form(d->e), f.function);
  const tk_ir_stmt *st = find_statement(tk_ir_func_body(func), f.statement);
  const tk_ir_inst *in;
  size_t n = 0;
  while (st && tk_ir_inst_at(tk_ir_stmt_insts(st), n)) n++;
  tkt_say(d, "line %d of %s, in %s: %zu operation%s\n", f.place.line,
          f.place.file, f.name, n, n == 1 ? "" : "s");
  for (size_t i = 0; i < n; i++) {
    in = tk_ir_inst_at(tk_ir_stmt_insts(st), i);
    tkt_say(d, "  %-10s %-6s ", tk_ir_inst_name(in), tk_ir_inst_mode(in));
    if (tk_ir_inst_result(in, 0) >= 0) {
      tk_type type = tkt_type_from(tk_ir_inst_type(in));
      tk_type_print(&d->out, &type);
    }
    while (d->out.n && d->out.s[d->out.n - 1] == ' ') d->out.n--;
    tkt_say(d, "\n");
  }
}

static void info_frame(tkt *d) {
  tk_debug_frame f = need_call(d);
  tkt_show_frame(d, &f, (int)f.level);
  for (size_t i = 0; i < f.nloops; i++)
    tkt_say(d, "  %s loop at line %d, trip %llu\n",
            i ? "around it the" : "in the", f.loops[i].place.line,
            (unsigned long long)f.loops[i].trip);
}

static void say_points(tkt *d, bool watches, const char *none) {
  tk_point p;
  bool any = false;
  for (size_t i = 0; tk_debug_point_at(d->e, i, &p); i++) {
    if (watches && p.spec.kind != TK_POINT_WATCH) continue;
    tkt_point_text(d, &p);
    any = true;
  }
  if (!any) tkt_say(d, "%s", none);
}

static void info_breakpoints(tkt *d) {
  say_points(d, false, "No breakpoints.\n");
}

static void info_watchpoints(tkt *d) {
  say_points(d, true, "No watchpoints.\n");
}

static void info_programs(tkt *d) {
  tkt_args none = {"", ""};
  need_launch(d);
  tkt_cmd_PROGRAMS(d, &none);
}

static void info_buffers(tkt *d) {
  tk_debug_region r;
  need_launch(d);
  for (size_t i = 0; tk_debug_region_at(d->e, i, &r); i++)
    say_named_tensor(d, &r);
}

static void info_launch(tkt *d) {
  tk_debug_time now;
  need_launch(d);
  const tk_debug_stop *s = tkt_stand(d);
  size_t from = d->out.n;
  tk_debug_when(d->e, &now);
  tkt_say(d, "launch %llu: %s[%lld, %lld, %lld], %llu program%s run\n",
          (unsigned long long)now.launch, s->kernel, (long long)s->grid[0],
          (long long)s->grid[1], (long long)s->grid[2],
          (unsigned long long)now.done, now.done == 1 ? " has" : "s have");
  tkt_fold(d, from);
}

static void info_launches(tkt *d) {
  size_t bytes = tkt_list_launches(d, SIZE_MAX);
  bool small = bytes < 1 << 20;
  if (!d->opt.script)
    tkt_say(d, "Only launches of a script are listed.\n");
  else
    tkt_say(d, "%.1f %s of at most %llu MiB are kept ('set launches').\n",
            (double)bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB",
            (unsigned long long)(tk_debug_launches_kept(d->e) >> 20));
}

static void info_source(tkt *d) {
  need_launch(d);
  const tk_source *s = tkt_source(d, place_here(d).file);
  tkt_say(d, "%s, %d line%s\n", s->name, (int)s->nlines,
          s->nlines == 1 ? "" : "s");
}

/* Prints the names of detectors, in lines of at most 80 columns.  Two of them
 * watch every launch. */
static void say_detectors(tkt *d, bool on) {
  size_t column = 0;
  const char *name;
  for (size_t i = 0; (name = tk_check_name(i)); i++) {
    bool always = !strcmp(name, "bounds") || !strcmp(name, "deadlock");
    bool is_on = tk_debug_is_checked(d->e, name) && !tkt_is_inactive(name);
    if ((always || is_on) != on) continue;
    const char *lead = !column ? on ? "detectors on:" : "off:" : "";
    column += strlen(lead) + 1 + strlen(name);
    if (column > 80) {
      lead = "\n ";
      column = 2 + strlen(name);
    }
    tkt_say(d, "%s %s", lead, name);
  }
  if (column) tkt_say(d, "\n");
}

static void info_checks(tkt *d) {
  tk_session *s = tk_debug_session(d->e);
  size_t n = tk_report_count(s);
  say_detectors(d, true);
  say_detectors(d, false);
  if (!tk_debug_is_checked(d->e, "undef"))
    tkt_say(d, "undefined lanes are not known: 'set check undef' shows them "
               "as ?\n");
  if (tk_debug_launch(d->e) && !tk_debug_asserts(d->e))
    tkt_say(d, "assertions are off\n");
  tkt_say_inactive(d);
  tkt_say(d, "%zu finding%s so far\n", n, n == 1 ? "" : "s");
  for (size_t i = 0; i < n; i++) tkt_tell_finding(d, tk_report_finding(s, i));
}

static void info_display(tkt *d) {
  if (!d->displays) tkt_say(d, "No displays.\n");
  for (const tkt_display *x = d->displays; x; x = x->next)
    tkt_say(d, "%d: %s%s%s%s\n", x->number, *x->fmt ? "/" : "", x->fmt,
            *x->fmt ? " " : "", x->text);
}

static void info_checkpoints(tkt *d) {
  tk_resume back;
  int i = 1;
  for (; tk_debug_mark_at(d->e, i, &back) == TK_OK; i++)
    tkt_say(d, "%d: event %llu\n", i, (unsigned long long)back.event);
  if (i == 1) tkt_say(d, "No checkpoints.\n");
}

static const struct {
  const char *name;
  void (*fn)(tkt *d);
} topics[] = {
    {"locals", info_locals},
    {"args", info_args},
    {"line", info_line},
    {"frame", info_frame},
    {"breakpoints", info_breakpoints},
    {"watchpoints", info_watchpoints},
    {"programs", info_programs},
    {"buffers", info_buffers},
    {"launch", info_launch},
    {"launches", info_launches},
    {"source", info_source},
    {"checks", info_checks},
    {"display", info_display},
    {"checkpoints", info_checkpoints},
    {"settings", tkt_info_settings},
};

const char *tkt_info_topic(size_t i) {
  return i < TK_COUNT(topics) ? topics[i].name : NULL;
}

void tkt_cmd_INFO(tkt *d, tkt_args *a) {
  size_t n = strlen(a->text);
  tk_nearest near = tk_nearest_start(a->text);
  for (size_t i = 0; i < TK_COUNT(topics); i++) {
    tk_nearest_try(&near, topics[i].name);
    if (!n || strncmp(topics[i].name, a->text, n)) continue;
    topics[i].fn(d);
    return;
  }
  const char *best = tk_nearest_best(&near);
  if (best && n)
    tkt_fail(d, "There is no topic '%s'. Did you mean 'info %s'?", a->text,
             best);
  tkt_say(d, "info");
  for (size_t i = 0; i < TK_COUNT(topics); i++)
    tkt_say(d, i == 7 ? "\n     %s%s" : " %s%s", i ? "| " : "", topics[i].name);
  tkt_fail(d, ".");
}
