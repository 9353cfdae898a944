/* cmd_look.c - commands that look at what there is.
 */
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
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/part.h"
#include "interp/check/check.h"
#include "interp/check/undefined.h"

/* ---- expressions ------------------------------------------------------- */

static void check_format(tkt *d, const char *fmt, const char *known) {
  if (strlen(fmt) > 1 || (*fmt && !strchr(known, *fmt)))
    tkt_fail(d, "Unknown format '/%s': one of %s.", fmt, known);
}

/* gdb's $, $1, $$ and $name; a $ elsewhere is told by the parser. */
static void check_history(tkt *d, const char *text) {
  const char *s = text + strcspn(text, "$\"'");
  if (*s != '$' || (s > text && !strchr(" (+-*/,[", s[-1]))) return;
  size_t n = 1 + strspn(s + 1, "$");
  n += tkt_name_length(s + n);
  if (n == 1 && s[1 + strspn(s + 1, " ")] && s > text) return;
  tkt_fail(d,
           "'%.*s': there is no value history and there are no variables of "
           "the debugger's own. Write the expression itself, as 'print x[0]'; "
           "'display EXPR' prints one at every stop.",
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
  if (d->e->frame) tkt_show_expr(d, a->fmt, a->text);
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
static void say_tensor(tkt *d, const tki_region *r) {
  const tk_tensor *x = r->tensor;
  tkt_say(d, "%s: %s[", r->name, tk_dtype_name(x->dtype));
  for (int i = 0; i < x->rank; i++)
    tkt_say(d, "%s%lld", i ? ", " : "", (long long)x->shape[i]);
  tkt_say(d, "] with strides [");
  for (int i = 0; i < x->rank; i++)
    tkt_say(d, "%s%lld", i ? ", " : "", (long long)x->strides[i]);
  tkt_say(d, "], %llu bytes%s\n", (unsigned long long)(r->hi - r->lo),
          r->readonly ? ", read-only" : "");
}

static void say_type(tkt *d, const char *type) {
  size_t from = d->out.n;
  tkt_say(d, "%s\n", type);
  tkt_fold(d, from);
}

void tkt_cmd_WHATIS(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "The type of which expression?");
  check_history(d, a->text);
  tki_eval *x = tkd_compile(d->e, d->e->frame, a->text);
  if (!x) tk_throw(d->env, TK_USAGE);
  say_type(d, x->type);
  bool pointer = x->n == 1 && x->types[0].ptr;
  tki_eval_free(x);
  const tki_region *r =
      pointer ? tkd_region(d->e, a->text, strlen(a->text)) : NULL;
  if (r) say_tensor(d, r);
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
               "x/NFU: N a count, F one of x d u o b c e f, U one of b h w "
               "g; not '%s'.",
               fmt);
  }
  return x;
}

/* A tensor with an index or offset, or a number. */
static uint64_t address_of(tkt *d, const char *text, tk_dtype *own) {
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  *own = TK_UINT8;
  if (isdigit((unsigned char)*text)) return tkt_number(d, text, 0);
  const tki_region *r = n ? tkd_region(d->e, text, n) : NULL;
  if (!r) tkt_fail(d, "x examines a tensor or an address, not '%s'.", text);
  *own = r->tensor->dtype;
  int left;
  const char *s = text + n, *close = strchr(s, ']');
  char *host = tkd_element(d->e, r, *s == '[' ? s : "", &left);
  if (*s == '[') s = close ? close + 1 : s + strlen(s);
  s += strspn(s, " ");
  uint64_t at = r->lo + (uint64_t)(host - r->host);
  if (*s == '+' && !s[1 + strspn(s + 1, " ")])
    tkt_fail(d, "x BUFFER+OFFSET: an offset was expected behind the +.");
  if (*s == '+')
    at += tkt_number(d, s + 1 + strspn(s + 1, " "), 0) * tk_dtype_size(*own);
  else if (*s)
    tkt_fail(d, "x BUFFER+OFFSET: unexpected '%s'.", s);
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

static void examine(tkt *d, uint64_t at, const look *x) {
  size_t size = tk_dtype_size(x->dtype);
  char fmt[2] = {x->how, 0};
  for (uint64_t i = 0; i < x->n; i++, at += size) {
    const tki_region *r = tki_region_at(d->e->t, at, size);
    d->x_next = at;
    if (!r)
      tkt_fail(d, "0x%llx is in no tensor of this launch.",
               (unsigned long long)at);
    const char *host = r->host + (at - r->lo);
    uint8_t undefined = tkc_undefined_memory(d->e->t, r, host, size);
    tkd_value v = {.type = tk_scalar(x->dtype),
                   .bytes = host,
                   .n = size,
                   .undefined = undefined ? &undefined : NULL,
                   .region = TKI_ANY};
    char name[160];
    name_memory(name, sizeof name, r, host, size);
    tkt_show_value(d, name, fmt, &v);
  }
  d->x_next = at;
}

void tkt_cmd_X(tkt *d, tkt_args *a) {
  tk_dtype own = d->x_dtype;
  uint64_t at = d->x_next;
  if (*a->text) at = address_of(d, a->text, &own);
  if (!at) tkt_fail(d, "Examine what? x/8 BUFFER, x/4xw BUFFER+16.");
  if (*a->text && own < TK_DTYPE_COUNT) d->x_dtype = own;
  look x = parse_nfu(d, a->fmt, own);
  if (x.n > 100000) tkt_fail(d, "At most 100000 items.");
  examine(d, at, &x);
}

/* ---- pictures ---------------------------------------------------------- */

typedef void (*block_fn)(tkt *d, const tkt_block *b, const char *more);

static void with_block(tkt *d, const char *text, const char *more,
                       block_fn fn) {
  if (!*text) tkt_fail(d, "Of which variable or tensor?");
  const tki_region *r = tkd_region(d->e, text, strlen(text));
  if (r) {
    tkt_block b = tkt_block_tensor(r->tensor);
    b.undefined = tkt_unwritten(d, r, &b, tkc_undefined_memory);
    fn(d, &b, more);
    return;
  }
  if (!d->e->frame)
    tkt_fail(d,
             "'%.60s' is no tensor, and no program is stopped: the launch "
             "has ended.",
             text);
  tkd_value v =
      tkd_evaluate_one(d->e, d->e->frame, text, NULL, "not one block");
  tkt_block b = tkt_block_of(&v.type, v.bytes);
  b.undefined = v.undefined;
  fn(d, &b, more);
}

static void do_stats(tkt *d, const tkt_block *b, const char *more) {
  size_t from = d->out.n;
  (void)more;
  tkt_stats(&d->out, b, tkt_width(d));
  tkt_fold(d, from);
}

void tkt_cmd_STATS(tkt *d, tkt_args *a) {
  with_block(d, a->text, NULL, do_stats);
}

static void do_show(tkt *d, const tkt_block *b, const char *file) {
  if (!file) {
    tkt_picture(&d->out, b, tkt_width(d), d->opt.colour);
    return;
  }
  tk_buf *svg = tk_temp_buf(&d->mem);
  tkt_svg(svg, b);
  FILE *f = fopen(file, "w");
  bool bad = !f || fwrite(tk_buf_str(svg), 1, svg->n, f) != svg->n;
  if (f) bad |= fclose(f) != 0;
  if (bad) tkt_fail(d, "%s cannot be written.", file);
  tkt_say(d, "Written to %s\n", file);
}

void tkt_cmd_SHOW(tkt *d, tkt_args *a) {
  char *svg = strstr(a->text, "--svg ");
  size_t len = strlen(a->text);
  if (len >= 5 && !strcmp(a->text + len - 5, "--svg"))
    tkt_fail(d, "show VAR --svg FILE: into which file?");
  if (!svg) {
    with_block(d, a->text, NULL, do_show);
    return;
  }
  size_t n = (size_t)(svg - a->text);
  while (n && a->text[n - 1] == ' ') n--;
  with_block(d, tk_temp(&d->mem, a->text, n), svg + 6 + strspn(svg + 6, " "),
             do_show);
}

static void do_axis(tkt *d, const tkt_block *b, const char *more) {
  (void)more;
  tkt_axis(&d->out, b);
}

void tkt_cmd_AXIS(tkt *d, tkt_args *a) {
  with_block(d, a->text, NULL, do_axis);
}

static void do_layout(tkt *d, const tkt_block *b, const char *more) {
  int warps = more ? atoi(more) : 4;
  if (warps < 1 || warps > 32 || (warps & (warps - 1)))
    tkt_fail(d, "The number of warps is a power of 2 up to 32.");
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

static void say_frame(tkt *d) {
  int line = tkd_line_of(d->e->frame);
  tkt_show_frame(d, d->e->frame, d->e->level);
  tkt_show_lines(d, d->e->frame->func->src, line, line, line);
}

static void choose_call(tkt *d, int64_t level) {
  int depth = tkd_depth(tkd_top(d->e));
  if (level < 0) tkt_fail(d, "This is the innermost call.");
  if (level >= depth)
    tkt_fail(d,
             depth == 1 ? "The kernel was not called from a kernel."
                        : "There are only %d calls.",
             depth);
  tkd_select(d->e, (int)level);
  say_frame(d);
}

static int64_t level_count(tkt *d, const char *text) {
  uint64_t n = tkt_number(d, text, 1);
  return n > 1000000 ? 1000000 : (int64_t)n;
}

void tkt_cmd_UP(tkt *d, tkt_args *a) {
  choose_call(d, d->e->level + level_count(d, a->text));
}

void tkt_cmd_DOWN(tkt *d, tkt_args *a) {
  choose_call(d, d->e->level - level_count(d, a->text));
}

void tkt_cmd_FRAME(tkt *d, tkt_args *a) {
  if (*a->text)
    choose_call(d, level_count(d, a->text));
  else
    say_frame(d);
}

/* ---- source ------------------------------------------------------------ */

static const tk_source *source_here(tkt *d) {
  if (d->e->frame) return d->e->frame->func->src;
  return d->e->t->program->kernel->src;
}

static int line_of_function(tkt *d, const char *name) {
  for (size_t i = 0; i < d->e->t->program->nfuncs; i++) {
    const tk_func *f = d->e->t->program->funcs[i];
    if (!strcmp(f->name, name)) return tk_source_line(f->src, f->span.lo);
  }
  tkt_fail(d, "No function '%s' in this launch, and no line.", name);
}

/* The line that text names: a number, FILE:LINE of this file, a function;
 * *centred: a line is wanted with what is around it. */
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

/* What was listed, if the same call is selected since. */
static tkt_listing *listed(tkt *d) {
  if (d->list.selections != d->e->selections)
    d->list = (tkt_listing){.selections = d->e->selections};
  return &d->list;
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

static extent lines_wanted(tkt *d, const tk_source *src, const char *text) {
  int n = (int)d->set.listing, at = d->e->frame ? tkd_line_of(d->e->frame) : 0;
  const char *comma = strchr(text, ',');
  bool on = !*text || !strcmp(text, "+"), centred = true;
  int from = at;
  if (comma) return lines_between(d, src, text, comma);
  const tkt_listing *last = listed(d);
  if (on && last->next) return (extent){last->next, last->next + n - 1};
  if (!strcmp(text, "-")) {
    int before = last->first ? last->first : at - n / 2;
    if (before <= 1) tkt_fail(d, "That was the beginning of %s.", src->name);
    return (extent){before - n, before - 1};
  }
  if (!on && strcmp(text, ".") != 0) from = line_named(d, src, text, &centred);
  if (centred) from -= n / 2;
  if (from < 1) from = 1;
  return (extent){from, from + n - 1};
}

void tkt_cmd_LIST(tkt *d, tkt_args *a) {
  const tk_source *src = source_here(d);
  extent x = lines_wanted(d, src, a->text);
  if (x.from < 1) x.from = 1;
  if (x.from > (int)src->nlines)
    tkt_fail(d, "%s has %d lines.", src->name, (int)src->nlines);
  if (x.to < x.from) tkt_fail(d, "The last line is before the first.");
  tkt_show_lines(d, src, x.from, x.to,
                 d->e->frame ? tkd_line_of(d->e->frame) : 0);
  listed(d)->first = x.from;
  d->list.next = x.to + 1;
}

void tkt_cmd_LONGLIST(tkt *d, tkt_args *a) {
  const tk_func *f = d->e->frame->func;
  int at = tkd_line_of(d->e->frame);
  int from = tk_source_line(f->src, f->span.lo);
  (void)a;
  tkt_show_lines(d, f->src, from, tkd_last_line(f), at);
}

/* ---- info -------------------------------------------------------------- */

static void need_stopped(tkt *d) {
  if (!d->e->frame) tkt_fail(d, "No program is stopped.");
}

static void need_launch(tkt *d) {
  if (!d->e->t) tkt_fail(d, "No launch is running.");
}

static void info_locals(tkt *d) {
  const char *name;
  need_stopped(d);
  for (size_t i = 0; (name = tki_eval_name(d->e->frame, i)); i++)
    tkt_show_variable(d, d->e->frame, name);
}

void tkt_cmd_BACKTRACE(tkt *d, tkt_args *a) {
  bool full = !strcmp(a->text, "full");
  uint64_t most = full ? UINT64_MAX : tkt_number(d, a->text, UINT64_MAX);
  int level = d->e->level, k = 0, next = listed(d)->next;
  const tki_frame *f = tkd_top(d->e);
  for (; f && (uint64_t)k < most; f = tkd_user_frame(f->caller), k++) {
    tkt_show_frame(d, f, k);
    if (!full) continue;
    tkd_select(d->e, k);
    info_locals(d);
  }
  tkd_select(d->e, level);
  listed(d)->next = next;
}

static void info_args(tkt *d) {
  need_stopped(d);
  tk_function *fn = tk_func_origin(d->e->frame->func);
  for (size_t i = 0; fn && i < tk_function_param_count(fn); i++)
    tkt_show_variable(d, d->e->frame, tk_function_param_name(fn, i));
}

void tkt_cmd_ARGS(tkt *d, tkt_args *a) {
  (void)a;
  info_args(d);
}

static void info_line(tkt *d) {
  need_stopped(d);
  const tk_stmt *st = d->e->frame->stmt;
  size_t n = st ? st->insts.n : 0;
  tkt_say(d, "line %d of %s, in %s: %zu operation%s\n",
          tkd_line_of(d->e->frame), d->e->frame->func->src->name,
          d->e->frame->func->name, n, n == 1 ? "" : "s");
  for (size_t i = 0; st && i < st->insts.n; i++) {
    const tk_inst *in = st->insts.items[i];
    tkt_say(d, "  %-10s %-6s ", tk_inst_name((tk_opcode)in->op),
            tk_mode_name(in));
    if (in->nres) tk_type_print(&d->out, &in->type);
    while (d->out.n && d->out.s[d->out.n - 1] == ' ') d->out.n--;
    tkt_say(d, "\n");
  }
}

static void info_frame(tkt *d) {
  need_stopped(d);
  tkt_show_frame(d, d->e->frame, d->e->level);
  int trip = 0;
  for (const tki_loop *l = d->e->frame->loops; l; l = l->outer, trip++)
    tkt_say(d, "  %s loop at line %d, trip %llu\n",
            trip ? "around it the" : "in the",
            tk_source_line(d->e->frame->func->src, l->stmt->span.lo),
            (unsigned long long)l->trip);
}

static void info_breakpoints(tkt *d) {
  if (!d->e->points.first) tkt_say(d, "No breakpoints.\n");
  for (const tkd_point *p = d->e->points.first; p; p = p->next)
    tkt_point_text(d, p);
}

static void info_watchpoints(tkt *d) {
  bool any = false;
  for (const tkd_point *p = d->e->points.first; p; p = p->next) {
    if (p->kind != TK_POINT_WATCH) continue;
    tkt_point_text(d, p);
    any = true;
  }
  if (!any) tkt_say(d, "No watchpoints.\n");
}

static void info_programs(tkt *d) {
  tkt_args none = {"", ""};
  need_launch(d);
  tkt_cmd_PROGRAMS(d, &none);
}

static void info_buffers(tkt *d) {
  need_launch(d);
  for (size_t i = 0; i < d->e->t->nregions; i++)
    if (d->e->t->regions[i].tensor) say_tensor(d, &d->e->t->regions[i]);
}

static void info_launch(tkt *d) {
  need_launch(d);
  tki *t = d->e->t;
  size_t from = d->out.n;
  tkt_say(d, "launch %llu: %s[%lld, %lld, %lld], %llu programs have run\n",
          (unsigned long long)d->e->launches, t->program->kernel->name,
          (long long)t->grid[0], (long long)t->grid[1], (long long)t->grid[2],
          (unsigned long long)t->done);
  tkt_fold(d, from);
}

static void info_source(tkt *d) {
  need_launch(d);
  const tk_source *s = source_here(d);
  tkt_say(d, "%s, %d lines\n", s->name, (int)s->nlines);
}

/* Their names, in lines of at most 80 columns. */
static void say_detectors(tkt *d, bool on) {
  size_t column = 0;
  for (size_t i = 0; tk_check_name(i); i++) {
    bool always = i == TKC_BOUNDS || i == TKC_DEADLOCK;
    bool is_on =
        tkc_is_on(d->e->session, (tkc_id)i) && !tkt_is_asleep((tkc_id)i);
    if ((always || is_on) != on) continue;
    const char *name = tk_check_name(i);
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
  size_t n = d->env->ndiags;
  say_detectors(d, true);
  say_detectors(d, false);
  if (!tkc_is_on(d->e->session, TKC_UNDEF))
    tkt_say(d, "undefined lanes are not known: 'set check undef' shows them "
               "as ?\n");
  if (d->e->t && !d->e->t->asserts) tkt_say(d, "assertions are off\n");
  tkt_say_asleep(d);
  tkt_say(d, "%zu finding%s so far\n", n, n == 1 ? "" : "s");
  for (tk_diag *x = d->env->diags; x; x = x->next) tkt_tell_finding(d, &x->f);
}

static void info_display(tkt *d) {
  if (!d->displays) tkt_say(d, "No displays.\n");
  for (const tkt_display *x = d->displays; x; x = x->next)
    tkt_say(d, "%d: %s%s%s%s\n", x->number, *x->fmt ? "/" : "", x->fmt,
            *x->fmt ? " " : "", x->text);
}

static void info_checkpoints(tkt *d) {
  if (!d->e->nmarks) tkt_say(d, "No checkpoints.\n");
  for (size_t i = 0; i < d->e->nmarks; i++)
    tkt_say(d, "%d: event %llu\n", d->e->marks[i].number,
            (unsigned long long)d->e->marks[i].event);
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
    tkt_fail(d, "No topic '%s'. Did you mean 'info %s'?", a->text, best);
  tkt_say(d, "info");
  for (size_t i = 0; i < TK_COUNT(topics); i++)
    tkt_say(d, i == 7 ? "\n     %s%s" : " %s%s", i ? "| " : "", topics[i].name);
  tkt_fail(d, ".");
}
