/* cmd_stop.c - commands that say where to stop. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "command/cmd.h"
#include "command/info.h"
#include "command/input.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/script.h"
#include "command/show.h"

/* ---- break ------------------------------------------------------------- */

/* Cuts "LOCATION if COND", or "LOCATION, COND" where a comma does that, in
 * two; both trimmed. */
static char *split_condition(char *text, bool comma) {
  char *cut = strstr(text, " if "), *cond = NULL;
  size_t n = strlen(text);
  if (n > 2 && !strcmp(text + n - 3, " if")) {
    cut = text + n - 3;
    cond = text + n;
  } else if (!strncmp(text, "if ", 3) || !strcmp(text, "if")) {
    cond = text + 2;
    cut = text;
  } else if (cut) {
    cond = cut + 4;
  } else if (comma && (cut = strchr(text, ','))) {
    cond = cut + 1;
  }
  if (!cond) return NULL;
  while (cut > text && cut[-1] == ' ') cut--;
  *cut = '\0';
  return cond + strspn(cond, " ");
}

/* Sets a point; fails. */
static tk_point add_point(tkt *d, const tk_point_spec *spec) {
  tk_point p;
  int number;
  if (spec->condition && !*spec->condition)
    tkt_fail(d, "A condition was expected after 'if'.");
  tkt_need(d, tk_debug_add_point(d->e, spec, &number));
  tkt_need(d, tk_debug_point_numbered(d->e, number, &p));
  return p;
}

static void set_point(tkt *d, const tk_point_spec *spec, const char *what) {
  tk_point p = add_point(d, spec);
  const char *where = p.spec.where;
  tkt_say(d, "%s %d at %s", what, p.number, where);
  if (p.pending)
    tkt_say(d, " (not in this launch yet)");
  else if (p.function && p.program_line)
    tkt_say(d, ": %s, line %d, made of line %d", p.function, p.line,
            p.program_line);
  else if (p.function && !strchr(where, ' ') && p.line != atoi(where))
    tkt_say(d, ": %s, line %d", p.function, p.line);
  else if (p.function)
    tkt_say(d, ": %s", p.function);
  tkt_say(d, "\n");
}

static void set_break(tkt *d, tkt_args *a, bool once) {
  char *text = tk_temp(&d->mem, a->text, strlen(a->text));
  tk_point_spec spec = {.kind = TK_POINT_BREAK, .where = text, .once = once};
  spec.condition = split_condition(text, true);
  set_point(d, &spec, once ? "Temporary breakpoint" : "Breakpoint");
}

void tkt_cmd_BREAK(tkt *d, tkt_args *a) {
  set_break(d, a, false);
}

void tkt_cmd_TBREAK(tkt *d, tkt_args *a) {
  set_break(d, a, true);
}

/* ---- dprintf ----------------------------------------------------------- */

/* The next of "a, f(b, c)"; *args moves past it. */
static const char *next_arg(tkt *d, const char **args) {
  const char *s = *args + strspn(*args, " ,");
  size_t n = 0;
  for (int depth = 0; s[n] && (depth || s[n] != ','); n++)
    depth += (strchr("([", s[n]) != NULL) - (strchr(")]", s[n]) != NULL);
  *args = s + n;
  return tk_temp(&d->mem, s, n);
}

/* gdb's "x=%d", x as it is written here: x={x}. */
static const char *in_braces(tkt *d, const char *format, const char *args) {
  tk_buf *b = tk_temp_buf(&d->mem);
  for (const char *s = format; *s; s++) {
    if (*s != '%') {
      tk_buf_putc(b, *s);
    } else if (s[1] == '%') {
      tk_buf_putc(b, *s++);
    } else {
      const char *arg = next_arg(d, &args);
      tk_buf_printf(b, "{%s}", *arg ? arg : "EXPR");
      s += strspn(s, "%-+ #0123456789.*hlLqjzt");
      if (!*s) break;
    }
  }
  return tk_buf_str(b);
}

/* The text of "TEXT" or TEXT; a line ends with it anyway.  *cond: what stands
 * after it and an if. */
static const char *text_of(tkt *d, const char *where, const char *text,
                           const char **cond) {
  size_t n = strlen(text);
  const char *more = "", *end = strrchr(text, '"');
  if (*text == '"') {
    if (end == text) tkt_fail(d, "A closing '\"' was expected: %s", text);
    more = end + 1 + strspn(end + 1, " ");
    n = (size_t)(end - ++text);
  }
  if (n > 1 && !memcmp(text + n - 2, "\\n", 2)) n -= 2;
  const char *format = tk_temp(&d->mem, text, n);
  if (*more == ',')
    tkt_fail(d,
             "Here values are written in braces inside the text: dprintf "
             "%s, \"%s\"",
             where, in_braces(d, format, more));
  if (strcspn(more, " ") == 2 && !strncmp(more, "if", 2))
    *cond = more + 2 + strspn(more + 2, " ");
  else if (*more)
    tkt_fail(d, "Unexpected '%s' after the text: a condition begins with 'if'.",
             more);
  return format;
}

void tkt_cmd_DPRINTF(tkt *d, tkt_args *a) {
  const char *comma = strchr(a->text, ',');
  if (!comma) tkt_fail(d, "dprintf LOCATION, \"TEXT {EXPR}\" [if EXPR]");
  char *where = tk_temp(&d->mem, a->text, (size_t)(comma - a->text));
  comma += 1 + strspn(comma + 1, " ");
  tk_point_spec spec = {.kind = TK_POINT_LOG, .where = where};
  spec.format = text_of(d, where, comma, &spec.condition);
  set_point(d, &spec, "Logpoint");
}

/* ---- watch and catch --------------------------------------------------- */

static void set_watch(tkt *d, tkt_args *a, bool reads, bool writes) {
  char *text = tk_temp(&d->mem, a->text, strlen(a->text));
  tk_point_spec spec = {
      .kind = TK_POINT_WATCH, .where = text, .reads = reads, .writes = writes};
  spec.condition = split_condition(text, false);
  if (!*text) tkt_fail(d, "Watch what? A variable or a tensor.");
  tk_point p = add_point(d, &spec);
  tkt_say(d, "Watchpoint %d: %s", p.number, p.spec.where);
  if (p.function) tkt_say(d, " in %s", p.function);
  tkt_say(d, p.waits_for_value ? ", which has no value yet\n" : "\n");
}

void tkt_cmd_WATCH(tkt *d, tkt_args *a) {
  set_watch(d, a, false, true);
}

void tkt_cmd_RWATCH(tkt *d, tkt_args *a) {
  set_watch(d, a, true, false);
}

void tkt_cmd_AWATCH(tkt *d, tkt_args *a) {
  set_watch(d, a, true, true);
}

void tkt_cmd_CATCH(tkt *d, tkt_args *a) {
  tk_point_spec spec = {.kind = TK_POINT_CATCH, .where = a->text};
  tk_point p = add_point(d, &spec);
  tkt_say(d, "Catchpoint %d: %s\n", p.number, p.spec.where);
}

/* ---- the list ---------------------------------------------------------- */

static int point_number(tkt *d, const char *text) {
  uint64_t n = tkt_number(d, text, 0);
  return n > 1000000 ? -1 : (int)n;
}

/* The next of "2 4-6" (or "2,4-6"); false: there are no more. */
static bool next_range(tkt *d, const char **text, int *from, int *to) {
  *text += strspn(*text, " ,");
  size_t n = strcspn(*text, " ,");
  if (!n) return false;
  char *word = tk_temp(&d->mem, *text, n), *dash = strchr(word + 1, '-');
  *text += n;
  if (dash) *dash = '\0';
  *from = point_number(d, word);
  *to = dash ? point_number(d, dash + 1) : *from;
  if (*to < *from) tkt_fail(d, "A range must go upwards, as in 2-4.");
  return true;
}

typedef tk_status (*point_fn)(tk_debug *e, int number);

/* Calls fn for each breakpoint numbered from .. to; fn may remove it from the
 * list. */
static void points_between(tkt *d, int from, int to, point_fn fn) {
  tk_point p;
  for (size_t i = 0; tk_debug_point_at(d->e, i, &p);) {
    tk_point now;
    if (p.number >= from && p.number <= to) tkt_need(d, fn(d->e, p.number));
    if (tk_debug_point_at(d->e, i, &now) && now.number == p.number) i++;
  }
}

/* The same for each breakpoint that the text numbers, or for all of them. */
static void each_point(tkt *d, const char *text, point_fn fn) {
  tk_point p;
  if (!*text) {
    points_between(d, 1, INT32_MAX, fn);
    return;
  }
  for (int from, to; next_range(d, &text, &from, &to);) {
    tkt_need(d, tk_debug_point_numbered(d->e, from, &p));
    points_between(d, from, to, fn);
  }
}

static tk_status enable_point(tk_debug *e, int number) {
  return tk_debug_enable_point(e, number, true);
}

static tk_status disable_point(tk_debug *e, int number) {
  return tk_debug_enable_point(e, number, false);
}

void tkt_cmd_DELETE(tkt *d, tkt_args *a) {
  each_point(d, a->text, tk_debug_delete_point);
}

void tkt_cmd_ENABLE(tkt *d, tkt_args *a) {
  each_point(d, a->text, enable_point);
}

void tkt_cmd_DISABLE(tkt *d, tkt_args *a) {
  each_point(d, a->text, disable_point);
}

void tkt_cmd_CLEAR(tkt *d, tkt_args *a) {
  tk_debug_frame f;
  tk_point p;
  int n = 0, line = *a->text || !tk_debug_selected(d->e, &f)
                        ? tk_debug_line_of(d->e, a->text)
                        : f.place.line;
  for (size_t i = 0; tk_debug_point_at(d->e, i, &p);) {
    bool stands = p.spec.kind == TK_POINT_BREAK || p.spec.kind == TK_POINT_LOG;
    bool meant = !strcmp(p.spec.where, a->text) || (line && p.line == line);
    if (!stands || !meant) {
      i++;
      continue;
    }
    tkt_say(d, "Deleted breakpoint %d\n", p.number);
    tkt_need(d, tk_debug_delete_point(d->e, p.number));
    n++;
  }
  if (!n) tkt_fail(d, "There is no breakpoint there.");
}

/* The breakpoint that *text begins with a number of. */
static tk_point take_point(tkt *d, const char **text) {
  const char *word = tkt_word(d, text);
  tk_point p;
  if (!*word) tkt_fail(d, "Which breakpoint? 'info breakpoints' lists them.");
  tkt_need(d, tk_debug_point_numbered(d->e, point_number(d, word), &p));
  return p;
}

void tkt_cmd_CONDITION(tkt *d, tkt_args *a) {
  const char *text = a->text;
  int number = take_point(d, &text).number;
  tkt_need(d, tk_debug_condition_point(d->e, number, *text ? text : NULL));
  if (*text)
    tkt_say(d, "Breakpoint %d stops if %s\n", number, text);
  else
    tkt_say(d, "Breakpoint %d now has no condition.\n", number);
}

void tkt_cmd_IGNORE(tkt *d, tkt_args *a) {
  const char *text = a->text;
  int number = take_point(d, &text).number;
  if (!*text) tkt_fail(d, "Ignore how many hits of breakpoint %d?", number);
  uint64_t n = tkt_number(d, text, 0);
  tkt_need(d, tk_debug_ignore_point(d->e, number, n));
  tkt_say(d, "Breakpoint %d ignores its next %llu hit%s.\n", number,
          (unsigned long long)n, n == 1 ? "" : "s");
}

void tkt_cmd_COMMANDS(tkt *d, tkt_args *a) {
  const char *text = a->text;
  tk_point p = {.number = 0};
  for (size_t i = 0; !*text && tk_debug_point_at(d->e, i, &p);) i++;
  if (*text) p = take_point(d, &text);
  if (!p.number) tkt_fail(d, "There are no breakpoints.");
  tkt_set_script(d, p.number, tkt_read_body(d));
}

void tkt_cmd_UNDISPLAY(tkt *d, tkt_args *a) {
  int number = (int)tkt_number(d, a->text, 0);
  bool found = !*a->text;
  for (tkt_display **at = &d->displays; *at;) {
    tkt_display *x = *at;
    if (*a->text && x->number != number) {
      at = &x->next;
      continue;
    }
    *at = x->next;
    tk_text_free(d->env, x->text);
    tk_text_free(d->env, x->fmt);
    tk_free(d->env, x, sizeof *x);
    found = true;
  }
  if (!found) tkt_fail(d, "There is no display number %d.", number);
}

/* ---- what there is ----------------------------------------------------- */

static const char *point_kind(const tk_point *p) {
  if (p->spec.kind == TK_POINT_LOG) return "logpoint";
  if (p->spec.kind == TK_POINT_CATCH) return "catchpoint";
  if (p->spec.kind == TK_POINT_BREAK)
    return p->spec.once ? "temporary" : "breakpoint";
  return p->spec.reads ? p->spec.writes ? "awatch" : "rwatch" : "watchpoint";
}

void tkt_point_text(tkt *d, const tk_point *p) {
  tkt_say(d, "%-3d %-10s %-3s %s", p->number, point_kind(p),
          p->spec.disabled ? "off" : "on", p->spec.where);
  if (p->function && p->spec.kind != TK_POINT_WATCH)
    tkt_say(d, " in %s, line %d", p->function, p->line);
  if (p->pending) tkt_say(d, " (not in this launch)");
  tkt_say(d, "\n");
  if (p->spec.condition) tkt_say(d, "      stops if %s\n", p->spec.condition);
  if (p->spec.format) tkt_say(d, "      prints \"%s\"\n", p->spec.format);
  if (p->hits)
    tkt_say(d, "      hit %llu time%s\n", (unsigned long long)p->hits,
            p->hits == 1 ? "" : "s");
  if (p->spec.ignore)
    tkt_say(d, "      ignores the next %llu\n",
            (unsigned long long)p->spec.ignore);
  for (const char *s = tkt_script_of(d, p->number); s && *s;) {
    int n = (int)strcspn(s, "\n");
    tkt_say(d, "        %.*s\n", n, s);
    s += n + (s[n] == '\n');
  }
}

/* ---- saving ------------------------------------------------------------ */

static void write_point(const tkt *d, FILE *f, const tk_point *p) {
  const char *script = tkt_script_of(d, p->number);
  static const char *const verbs[] = {"break", "dprintf", "watch", "catch"};
  const char *verb = verbs[p->spec.kind];
  if (p->spec.kind == TK_POINT_BREAK && p->spec.once) verb = "tbreak";
  if (p->spec.kind == TK_POINT_WATCH && p->spec.reads)
    verb = p->spec.writes ? "awatch" : "rwatch";
  fprintf(f, "%s %s", verb, p->spec.where);
  if (p->spec.format) fprintf(f, ", \"%s\"", p->spec.format);
  if (p->spec.condition) fprintf(f, " if %s", p->spec.condition);
  fputc('\n', f);
  if (script) fprintf(f, "commands\n%send\n", script);
}

static void save_points(tkt *d, const char *text) {
  tk_outfile out;
  int error = tk_outfile_open(&out, text), n = 0;
  for (tk_point p; !error && tk_debug_point_at(d->e, (size_t)n, &p); n++)
    write_point(d, out.file, &p);
  if (!error) error = tk_outfile_close(&out, true);
  if (error) tkt_fail(d, "Cannot write %s: %s.", text, strerror(error));
  tkt_say(d, "%d written to %s\n", n, text);
}

/* Returns a tensor as it is in memory, or the value of an expression as one. */
static tk_tensor saved_tensor(tkt *d, const char *text) {
  tk_debug_region r;
  tk_tensor t = {.rank = 0};
  if (tk_debug_region_named(d->e, text, &r)) {
    t = (tk_tensor){.data = (void *)r.data, .dtype = r.dtype, .rank = r.rank};
    memcpy(t.shape, r.shape, sizeof t.shape);
    memcpy(t.strides, r.strides, sizeof t.strides);
    return t;
  }
  const tk_debug_value *v = tkt_one_value(d, text, "not one block");
  if (v->type.pointers)
    tkt_fail(d, "'%s' is pointers: save what they point to, x[...].", text);
  t = (tk_tensor){.data = (void *)v->lanes, .dtype = v->type.dtype};
  t.rank = v->type.rank;
  int64_t stride = 1;
  for (int i = t.rank; i-- > 0; stride *= t.shape[i]) {
    t.shape[i] = v->type.shape[i];
    t.strides[i] = stride;
  }
  return t;
}

void tkt_cmd_SAVE(tkt *d, tkt_args *a) {
  const char *text = a->text, *file = strrchr(text, ' ');
  size_t n = file ? (size_t)(file - text) : 0;
  while (n && text[n - 1] == ' ') n--;
  if (!n) tkt_fail(d, "save breakpoints FILE, or save EXPR FILE.npy");
  const char *what = tk_temp(&d->mem, text, n);
  if (!strncmp("breakpoints", what, n > 1 ? n : 2)) {
    save_points(d, file + 1);
    return;
  }
  tk_tensor t = saved_tensor(d, what);
  if (tk_tensor_save(tk_debug_session(d->e), &t, file + 1) != TK_OK)
    tk_throw(d->env, TK_USAGE);
  tkt_say(d, "Written to %s\n", file + 1);
}
