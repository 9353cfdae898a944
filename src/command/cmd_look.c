/* cmd_look.c - commands that look at what there is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "interp/check/check.h"
#include "interp/check/undefined.h"

/* ---- expressions ------------------------------------------------------- */

static void check_format(tkd *d, const char *fmt, const char *known) {
  if (strlen(fmt) > 1 || (*fmt && !strchr(known, *fmt)))
    tkd_fail(d, "Unknown format '/%s': one of %s.", fmt, known);
}

/* gdb's $, $1, $$ and $name; a $ elsewhere is told by the parser. */
static void check_history(tkd *d, const char *text) {
  const char *s = text + strcspn(text, "$\"'");
  if (*s != '$' || (s > text && !strchr(" (+-*/,[", s[-1]))) return;
  size_t n = 1 + strspn(s + 1, "$");
  n += tkd_name_length(s + n);
  if (n == 1 && s[1 + strspn(s + 1, " ")] && s > text) return;
  tkd_fail(d,
           "'%.*s': there is no value history and there are no variables of "
           "the debugger's own. Write the expression itself, as 'print x[0]'; "
           "'display EXPR' prints one at every stop.",
           n > 60 ? 60 : (int)n, s);
}

void tkd_cmd_PRINT(tkd *d, tkd_args *a) {
  check_format(d, a->fmt, "xobducefg");
  if (!*a->text) tkd_fail(d, "Print what?");
  check_history(d, a->text);
  tkd_show_expr(d, a->fmt, a->text);
}

void tkd_cmd_DISPLAY(tkd *d, tkd_args *a) {
  if (!*a->text) {
    tkd_display_all(d);
    return;
  }
  check_format(d, a->fmt, "xobducefg");
  check_history(d, a->text);
  if (d->frame) tkd_show_expr(d, a->fmt, a->text);
  size_t mark = d->nholds;
  tkd_display *x = tkd_hold(d, sizeof *x), **at = &d->displays;
  x->fmt = tkd_hold_str(d, a->fmt);
  x->text = tkd_hold_str(d, a->text);
  tkd_keep(d, mark);
  while (*at) at = &(*at)->next;
  *at = x;
  x->number = ++d->last_display;
}

/* The type of a parameter's tensor, with shape and strides. */
static void say_tensor(tkd *d, const tki_region *r) {
  const tk_tensor *x = r->tensor;
  tkd_say(d, "%s: %s[", r->name, tk_dtype_name(x->dtype));
  for (int i = 0; i < x->rank; i++)
    tkd_say(d, "%s%lld", i ? ", " : "", (long long)x->shape[i]);
  tkd_say(d, "] with strides [");
  for (int i = 0; i < x->rank; i++)
    tkd_say(d, "%s%lld", i ? ", " : "", (long long)x->strides[i]);
  tkd_say(d, "], %llu bytes%s\n", (unsigned long long)(r->hi - r->lo),
          r->readonly ? ", read-only" : "");
}

static void say_type(tkd *d, const char *type) {
  size_t from = d->out.n;
  tkd_say(d, "%s\n", type);
  tkd_fold(d, from);
}

void tkd_cmd_WHATIS(tkd *d, tkd_args *a) {
  if (!*a->text) tkd_fail(d, "The type of which expression?");
  check_history(d, a->text);
  size_t diags = d->env->ndiags;
  tki_eval *x = tkd_compile(d, d->frame, a->text);
  if (!x) tkd_refuse(d, diags);
  say_type(d, x->type);
  bool pointer = x->n == 1 && x->types[0].ptr;
  tki_eval_free(x);
  const tki_region *r =
      pointer ? tkd_region(d, a->text, strlen(a->text)) : NULL;
  if (r) say_tensor(d, r);
}

/* ---- memory ------------------------------------------------------------ */

typedef struct look {
  uint64_t n;
  char how;
  tk_dtype dtype;
} look;

static look parse_nfu(tkd *d, const char *fmt, tk_dtype own) {
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
      tkd_fail(d,
               "x/NFU: N a count, F one of x d u o b c e f, U one of b h w "
               "g; not '%s'.",
               fmt);
  }
  return x;
}

/* A tensor with an index or offset, or a number. */
static uint64_t address_of(tkd *d, const char *text, tk_dtype *own) {
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  *own = TK_UINT8;
  if (isdigit((unsigned char)*text)) return tkd_number(d, text, 0);
  const tki_region *r = n ? tkd_region(d, text, n) : NULL;
  if (!r) tkd_fail(d, "x examines a tensor or an address, not '%s'.", text);
  *own = r->tensor->dtype;
  int left;
  const char *s = text + n, *close = strchr(s, ']');
  char *host = tkd_element(d, r, *s == '[' ? s : "", &left);
  if (*s == '[') s = close ? close + 1 : s + strlen(s);
  s += strspn(s, " ");
  uint64_t at = r->lo + (uint64_t)(host - r->host);
  if (*s == '+' && !s[1 + strspn(s + 1, " ")])
    tkd_fail(d, "x BUFFER+OFFSET: an offset was expected behind the +.");
  if (*s == '+')
    at += tkd_number(d, s + 1 + strspn(s + 1, " "), 0) * tk_dtype_size(*own);
  else if (*s)
    tkd_fail(d, "x BUFFER+OFFSET: unexpected '%s'.", s);
  return at;
}

/* BUFFER+ELEMENT, and which byte of it where smaller items, or items that
 * begin inside an element, are shown. */
static void name_memory(char *name, size_t room, const tki_region *r,
                        const char *host, size_t size) {
  int64_t whole = (int64_t)tk_dtype_size(r->tensor->dtype);
  int64_t off = host - (char *)r->tensor->data;
  int64_t byte = ((off % whole) + whole) % whole;
  long long element = (long long)((off - byte) / whole);
  if (byte || (int64_t)size < whole)
    snprintf(name, room, "%.100s+%lld byte %lld", r->name, element,
             (long long)byte);
  else
    snprintf(name, room, "%.100s+%lld", r->name, element);
}

static void examine(tkd *d, uint64_t at, const look *x) {
  tk_type type = tk_scalar(x->dtype);
  size_t size = tk_dtype_size(x->dtype);
  char fmt[2] = {x->how, 0};
  for (uint64_t i = 0; i < x->n; i++, at += size) {
    const tki_region *r = tki_region_at(d->t, at, size);
    d->x_next = at;
    if (!r)
      tkd_fail(d, "0x%llx is in no tensor of this launch.",
               (unsigned long long)at);
    tki_val v = {.region = TKI_ANY};
    const char *host = r->host + (at - r->lo);
    memcpy(&v.u, host, size);
    tki_val undefined = {.u = tkc_undefined_memory(d->t, r, host, size)};
    char name[160];
    name_memory(name, sizeof name, r, host, size);
    tkd_show_value(d, name, fmt, &type, &v, &undefined);
  }
  d->x_next = at;
}

void tkd_cmd_X(tkd *d, tkd_args *a) {
  tk_dtype own = d->x_dtype;
  uint64_t at = d->x_next;
  if (*a->text) at = address_of(d, a->text, &own);
  if (!at) tkd_fail(d, "Examine what? x/8 BUFFER, x/4xw BUFFER+16.");
  if (*a->text && own < TK_DTYPE_COUNT) d->x_dtype = own;
  look x = parse_nfu(d, a->fmt, own);
  if (x.n > 100000) tkd_fail(d, "At most 100000 items.");
  examine(d, at, &x);
}

/* ---- pictures ---------------------------------------------------------- */

typedef void (*block_fn)(tkd *d, const tkd_block *b, const char *more);

typedef struct blocking {
  tkd *d;
  const char *text, *more;
  block_fn fn;
  tki_eval *x;
} blocking;

static void block_body(tk_env *e, void *ud) {
  blocking *y = ud;
  tki *t = y->d->t;
  tki_val out[TK_EVAL_LEAVES], undefined[TK_EVAL_LEAVES];
  (void)e;
  y->x = tki_eval_new(t, y->d->frame, y->text, NULL);
  tkd_need_one(y->d, y->x, y->text, "not one block");
  tkc_undefined_eval(t, y->x, y->d->frame, out, undefined);
  tkd_block b = tkd_block_of(&y->x->types[0], &out[0]);
  if (tkc_any_undefined(&undefined[0])) b.undefined = tki_data(&undefined[0]);
  y->fn(y->d, &b, y->more);
  tki_release(t, &out[0]);
  tki_release(t, &undefined[0]);
}

const uint8_t *tkd_unwritten(tkd *d, const tki_region *r, const tkd_block *b,
                             tkd_unwritten_fn is_unwritten) {
  size_t size = tk_lane_size(&b->type);
  if (!is_unwritten(d->t, r, r->host, r->hi - r->lo)) return NULL;
  int64_t n = tk_numel(&b->type);
  uint8_t *lanes = tkd_temp_bytes(d, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++)
    lanes[i] = is_unwritten(d->t, r, tkd_block_lane(b, i), size);
  return lanes;
}

static void with_block(tkd *d, const char *text, const char *more,
                       block_fn fn) {
  if (!*text) tkd_fail(d, "Of which variable or tensor?");
  const tki_region *r = tkd_region(d, text, strlen(text));
  if (r) {
    tkd_block b = tkd_block_tensor(r->tensor);
    b.undefined = tkd_unwritten(d, r, &b, tkc_undefined_memory);
    fn(d, &b, more);
    return;
  }
  if (!d->frame)
    tkd_fail(d,
             "'%.60s' is no tensor, and no program is stopped: the launch "
             "has ended.",
             text);
  blocking y = {d, text, more, fn, NULL};
  size_t diags = d->env->ndiags;
  tk_status st = tk_protect(d->env, block_body, &y);
  tki_eval_free(y.x);
  if (st == TK_OK) return;
  if (d->env->ndiags > diags) tkd_say_reports(d, diags);
  tk_throw(d->env, st);
}

static void do_stats(tkd *d, const tkd_block *b, const char *more) {
  size_t from = d->out.n;
  (void)more;
  tkd_stats(&d->out, b, tkd_width(d));
  tkd_fold(d, from);
}

void tkd_cmd_STATS(tkd *d, tkd_args *a) {
  with_block(d, a->text, NULL, do_stats);
}

static void do_show(tkd *d, const tkd_block *b, const char *file) {
  if (!file) {
    tkd_picture(&d->out, b, tkd_width(d), d->opt.colour);
    return;
  }
  tk_buf *svg = tkd_temp_buf(d);
  tkd_svg(svg, b);
  FILE *f = fopen(file, "w");
  bool bad = !f || fwrite(tk_buf_str(svg), 1, svg->n, f) != svg->n;
  if (f) bad |= fclose(f) != 0;
  if (bad) tkd_fail(d, "%s cannot be written.", file);
  tkd_say(d, "Written to %s\n", file);
}

void tkd_cmd_SHOW(tkd *d, tkd_args *a) {
  char *svg = strstr(a->text, "--svg ");
  size_t len = strlen(a->text);
  if (len >= 5 && !strcmp(a->text + len - 5, "--svg"))
    tkd_fail(d, "show VAR --svg FILE: into which file?");
  if (!svg) {
    with_block(d, a->text, NULL, do_show);
    return;
  }
  size_t n = (size_t)(svg - a->text);
  while (n && a->text[n - 1] == ' ') n--;
  with_block(d, tkd_temp(d, a->text, n), svg + 6 + strspn(svg + 6, " "),
             do_show);
}

static void do_axis(tkd *d, const tkd_block *b, const char *more) {
  (void)more;
  tkd_axis(&d->out, b);
}

void tkd_cmd_AXIS(tkd *d, tkd_args *a) {
  with_block(d, a->text, NULL, do_axis);
}

static void do_layout(tkd *d, const tkd_block *b, const char *more) {
  int warps = more ? atoi(more) : 4;
  if (warps < 1 || warps > 32 || (warps & (warps - 1)))
    tkd_fail(d, "The number of warps is a power of 2 up to 32.");
  tkd_layout(&d->out, &b->type, warps);
}

void tkd_cmd_LAYOUT(tkd *d, tkd_args *a) {
  const char *space = strrchr(a->text, ' ');
  bool number = space && isdigit((unsigned char)space[1]);
  size_t n = number ? (size_t)(space - a->text) : strlen(a->text);
  with_block(d, tkd_temp(d, a->text, n), number ? space + 1 : NULL, do_layout);
}

/* ---- frames ------------------------------------------------------------ */

static void say_frame(tkd *d) {
  int line = tkd_line_of(d->frame);
  tkd_show_frame(d, d->frame, d->level);
  tkd_show_lines(d, d->frame->func->src, line, line, line);
}

static void choose(tkd *d, int64_t level) {
  int depth = tkd_depth(tkd_top(d));
  if (level < 0) tkd_fail(d, "This is the innermost call.");
  if (level >= depth)
    tkd_fail(d,
             depth == 1 ? "The kernel was not called from a kernel."
                        : "There are only %d calls.",
             depth);
  tkd_select(d, (int)level);
  say_frame(d);
}

static int64_t count_of(tkd *d, const char *text) {
  uint64_t n = tkd_number(d, text, 1);
  return n > 1000000 ? 1000000 : (int64_t)n;
}

void tkd_cmd_UP(tkd *d, tkd_args *a) {
  choose(d, d->level + count_of(d, a->text));
}

void tkd_cmd_DOWN(tkd *d, tkd_args *a) {
  choose(d, d->level - count_of(d, a->text));
}

void tkd_cmd_FRAME(tkd *d, tkd_args *a) {
  if (*a->text)
    choose(d, count_of(d, a->text));
  else
    say_frame(d);
}

/* ---- source ------------------------------------------------------------ */

static const tk_source *source_here(tkd *d) {
  if (d->frame) return d->frame->func->src;
  return d->t->program->kernel->src;
}

static int line_of_function(tkd *d, const char *name) {
  for (size_t i = 0; i < d->t->program->nfuncs; i++) {
    const tk_func *f = d->t->program->funcs[i];
    if (!strcmp(f->name, name)) return tk_source_line(f->src, f->span.lo);
  }
  tkd_fail(d, "No function '%s' in this launch, and no line.", name);
}

/* The line that text names: a number, FILE:LINE of this file, a function;
 * *centred: a line is wanted with what is around it. */
static int line_named(tkd *d, const tk_source *src, const char *text,
                      bool *centred) {
  const char *colon = strrchr(text, ':');
  size_t n = colon ? (size_t)(colon - text) : 0, k = strlen(src->name);
  bool here = colon && k >= n && !strncmp(src->name + k - n, text, n);
  const char *number = here ? colon + 1 : text;
  *centred = isdigit((unsigned char)*number) != 0;
  if (!*centred) return line_of_function(d, text);
  uint64_t line = tkd_number(d, number, 0);
  return line > INT32_MAX / 2 ? INT32_MAX / 2 : (int)line;
}

typedef struct extent {
  int from, to;
} extent;

/* "A,B", "A," and ",B". */
static extent lines_between(tkd *d, const tk_source *src, const char *text,
                            const char *comma) {
  int n = (int)d->set.listing;
  bool centred;
  const char *first = tkd_temp(d, text, (size_t)(comma - text));
  const char *last = comma + 1 + strspn(comma + 1, " ");
  if (!*first && !*last) tkd_fail(d, "list FROM,TO");
  int to = *last ? line_named(d, src, last, &centred) : 0;
  int from = *first ? line_named(d, src, first, &centred) : to - n + 1;
  return (extent){from, *last ? to : from + n - 1};
}

static extent lines_wanted(tkd *d, const tk_source *src, const char *text) {
  int n = (int)d->set.listing, at = d->frame ? tkd_line_of(d->frame) : 0;
  const char *comma = strchr(text, ',');
  bool on = !*text || !strcmp(text, "+"), centred = true;
  int from = at;
  if (comma) return lines_between(d, src, text, comma);
  if (on && d->list_line) return (extent){d->list_line, d->list_line + n - 1};
  if (!strcmp(text, "-")) {
    int before = d->list_first ? d->list_first : at - n / 2;
    if (before <= 1) tkd_fail(d, "That was the beginning of %s.", src->name);
    return (extent){before - n, before - 1};
  }
  if (!on && strcmp(text, ".") != 0) from = line_named(d, src, text, &centred);
  if (centred) from -= n / 2;
  if (from < 1) from = 1;
  return (extent){from, from + n - 1};
}

void tkd_cmd_LIST(tkd *d, tkd_args *a) {
  const tk_source *src = source_here(d);
  extent x = lines_wanted(d, src, a->text);
  if (x.from < 1) x.from = 1;
  if (x.from > (int)src->nlines)
    tkd_fail(d, "%s has %d lines.", src->name, (int)src->nlines);
  if (x.to < x.from) tkd_fail(d, "The last line is before the first.");
  tkd_show_lines(d, src, x.from, x.to, d->frame ? tkd_line_of(d->frame) : 0);
  d->list_first = x.from;
  d->list_line = x.to + 1;
}

void tkd_cmd_LONGLIST(tkd *d, tkd_args *a) {
  const tk_func *f = d->frame->func;
  int at = tkd_line_of(d->frame);
  int from = tk_source_line(f->src, f->span.lo);
  (void)a;
  tkd_show_lines(d, f->src, from, tkd_last_line(f), at);
}

/* ---- info -------------------------------------------------------------- */

static void need_program(tkd *d) {
  if (!d->frame) tkd_fail(d, "No program is stopped.");
}

static void need_launch(tkd *d) {
  if (!d->t) tkd_fail(d, "No launch is running.");
}

static void info_locals(tkd *d) {
  const char *name;
  need_program(d);
  for (size_t i = 0; (name = tki_eval_name(d->frame, i)); i++)
    tkd_show_slot(d, d->frame, name);
}

void tkd_cmd_BACKTRACE(tkd *d, tkd_args *a) {
  bool full = !strcmp(a->text, "full");
  uint64_t most = full ? UINT64_MAX : tkd_number(d, a->text, UINT64_MAX);
  int level = d->level, k = 0, lines = d->list_line;
  const tki_frame *f = tkd_top(d);
  for (; f && (uint64_t)k < most; f = tkd_user_frame(f->caller), k++) {
    tkd_show_frame(d, f, k);
    if (!full) continue;
    tkd_select(d, k);
    info_locals(d);
  }
  tkd_select(d, level);
  d->list_line = lines;
}

static void info_args(tkd *d) {
  need_program(d);
  tk_function *fn = tk_func_origin(d->frame->func);
  for (size_t i = 0; fn && i < tk_function_param_count(fn); i++)
    tkd_show_slot(d, d->frame, tk_function_param_name(fn, i));
}

void tkd_cmd_ARGS(tkd *d, tkd_args *a) {
  (void)a;
  info_args(d);
}

static void info_line(tkd *d) {
  need_program(d);
  const tk_stmt *st = d->frame->stmt;
  size_t n = st ? st->insts.n : 0;
  tkd_say(d, "line %d of %s, in %s: %zu operation%s\n", tkd_line_of(d->frame),
          d->frame->func->src->name, d->frame->func->name, n,
          n == 1 ? "" : "s");
  for (size_t i = 0; st && i < st->insts.n; i++) {
    const tk_inst *in = st->insts.items[i];
    tkd_say(d, "  %-10s %-6s ", tk_inst_name((tk_opcode)in->op),
            tk_mode_name(in));
    if (in->nres) tk_type_print(&d->out, &in->type);
    while (d->out.n && d->out.s[d->out.n - 1] == ' ') d->out.n--;
    tkd_say(d, "\n");
  }
}

static void info_frame(tkd *d) {
  need_program(d);
  tkd_show_frame(d, d->frame, d->level);
  int trip = 0;
  for (const tki_loop *l = d->frame->loops; l; l = l->outer, trip++)
    tkd_say(d, "  %s loop at line %d, trip %llu\n",
            trip ? "around it the" : "in the",
            tk_source_line(d->frame->func->src, l->stmt->span.lo),
            (unsigned long long)l->trip);
}

static void info_breakpoints(tkd *d) {
  if (!d->points) tkd_say(d, "No breakpoints.\n");
  for (const tkd_point *p = d->points; p; p = p->next) tkd_point_text(d, p);
}

static void info_watchpoints(tkd *d) {
  bool any = false;
  for (const tkd_point *p = d->points; p; p = p->next) {
    if (p->kind != TKD_WATCH) continue;
    tkd_point_text(d, p);
    any = true;
  }
  if (!any) tkd_say(d, "No watchpoints.\n");
}

static void info_programs(tkd *d) {
  tkd_args none = {"", ""};
  need_launch(d);
  tkd_cmd_PROGRAMS(d, &none);
}

static void info_buffers(tkd *d) {
  need_launch(d);
  for (size_t i = 0; i < d->t->nregions; i++)
    if (d->t->regions[i].tensor) say_tensor(d, &d->t->regions[i]);
}

static void info_launch(tkd *d) {
  need_launch(d);
  tki *t = d->t;
  size_t from = d->out.n;
  tkd_say(d, "launch %llu: %s[%lld, %lld, %lld], %llu programs have run\n",
          (unsigned long long)d->launches, t->program->kernel->name,
          (long long)t->grid[0], (long long)t->grid[1], (long long)t->grid[2],
          (unsigned long long)t->done);
  tkd_fold(d, from);
}

static void info_source(tkd *d) {
  need_launch(d);
  const tk_source *s = source_here(d);
  tkd_say(d, "%s, %d lines\n", s->name, (int)s->nlines);
}

/* It runs a launch more than once, which the debugger does not. */
static bool is_asleep(tkc_id id) {
  return id == TKC_ORDER || id == TKC_IDEMPOTENCE;
}

void tkd_say_asleep(tkd *d) {
  bool any = false;
  for (tkc_id i = 0; i < TKC_COUNT; i++) {
    if (!is_asleep(i) || !tkc_is_on(d->session, i)) continue;
    tkd_say(d, "%s%s",
            any ? ", " : "Not under the debugger: ", tk_check_name(i));
    any = true;
  }
  if (any) tkd_say(d, " ('tkdbg run --check' has them)\n");
}

/* Their names, in lines of at most 80 columns. */
static void say_detectors(tkd *d, bool on) {
  size_t column = 0;
  for (size_t i = 0; tk_check_name(i); i++) {
    bool always = i == TKC_BOUNDS || i == TKC_DEADLOCK;
    bool is_on = tkc_is_on(d->session, (tkc_id)i) && !is_asleep((tkc_id)i);
    if ((always || is_on) != on) continue;
    const char *name = tk_check_name(i);
    const char *lead = !column ? on ? "detectors on:" : "off:" : "";
    column += strlen(lead) + 1 + strlen(name);
    if (column > 80) {
      lead = "\n ";
      column = 2 + strlen(name);
    }
    tkd_say(d, "%s %s", lead, name);
  }
  if (column) tkd_say(d, "\n");
}

static void info_checks(tkd *d) {
  size_t n = d->env->ndiags;
  say_detectors(d, true);
  say_detectors(d, false);
  if (!tkc_is_on(d->session, TKC_UNDEF))
    tkd_say(d, "undefined lanes are not known: 'set check undef' shows them "
               "as ?\n");
  if (d->t && !d->t->asserts) tkd_say(d, "assertions are off\n");
  tkd_say_asleep(d);
  tkd_say(d, "%zu finding%s so far\n", n, n == 1 ? "" : "s");
  for (tk_diag *x = d->env->diags; x; x = x->next) tkd_tell_report(d, x);
}

static void info_display(tkd *d) {
  if (!d->displays) tkd_say(d, "No displays.\n");
  for (const tkd_display *x = d->displays; x; x = x->next)
    tkd_say(d, "%d: %s%s%s%s\n", x->number, *x->fmt ? "/" : "", x->fmt,
            *x->fmt ? " " : "", x->text);
}

static void info_checkpoints(tkd *d) {
  if (!d->nmarks) tkd_say(d, "No checkpoints.\n");
  for (size_t i = 0; i < d->nmarks; i++)
    tkd_say(d, "%d: event %llu\n", d->marks[i].number,
            (unsigned long long)d->marks[i].event);
}

static const struct {
  const char *name;
  void (*fn)(tkd *d);
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
    {"source", info_source},
    {"checks", info_checks},
    {"display", info_display},
    {"checkpoints", info_checkpoints},
    {"settings", tkd_info_settings},
};

const char *tkd_info_topic(size_t i) {
  return i < TK_COUNT(topics) ? topics[i].name : NULL;
}

void tkd_cmd_INFO(tkd *d, tkd_args *a) {
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
    tkd_fail(d, "No topic '%s'. Did you mean 'info %s'?", a->text, best);
  tkd_say(d, "info");
  for (size_t i = 0; i < TK_COUNT(topics); i++)
    tkd_say(d, i == 7 ? "\n     %s%s" : " %s%s", i ? "| " : "", topics[i].name);
  tkd_fail(d, ".");
}
