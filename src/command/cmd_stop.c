/* cmd_stop.c - commands that say where to stop. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "command/info.h"
#include "command/input.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/script.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/value.h"

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

static void say_point(tkt *d, const tkd_point *p, const char *what) {
  tkt_say(d, "%s %d at %s", what, p->number, p->where);
  if (p->pending && d->e->t)
    tkt_say(d, " (not in this launch yet)");
  else if (p->func && !strchr(p->where, ' ') && p->line != atoi(p->where))
    tkt_say(d, ": %s, line %d", p->func, p->line);
  else if (p->func)
    tkt_say(d, ": %s", p->func);
  tkt_say(d, "\n");
}

/* A condition that cannot be read is refused at once; its names are those of
 * where it stands, so they are looked up there. */
static void check_condition(tkt *d, const char *cond) {
  if (!*cond) tkt_fail(d, "A condition was expected behind 'if'.");
  tkd_check_syntax(d->e, "condition", cond);
}

static void set_break(tkt *d, tkt_args *a, bool once) {
  char text[2048];
  if (strlen(a->text) >= sizeof text)
    tkt_fail(d, "A location and its condition have at most %zu characters.",
             sizeof text - 1);
  strcpy(text, a->text);
  tk_point_spec spec = {.kind = TK_POINT_BREAK, .where = text, .once = once};
  spec.condition = split_condition(text, true);
  if (spec.condition) check_condition(d, spec.condition);
  say_point(d, tkd_point_add(d->e, &spec),
            once ? "Temporary breakpoint" : "Breakpoint");
}

void tkt_cmd_BREAK(tkt *d, tkt_args *a) {
  set_break(d, a, false);
}

void tkt_cmd_TBREAK(tkt *d, tkt_args *a) {
  set_break(d, a, true);
}

/* ---- dprintf ----------------------------------------------------------- */

/* The next of "a, f(b, c)"; *args moves behind it. */
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
 * behind it and an if. */
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
    tkt_fail(d, "Values stand in braces in the text here: dprintf %s, \"%s\"",
             where, in_braces(d, format, more));
  if (!strncmp(more, "if", 2) && (!more[2] || more[2] == ' '))
    *cond = more + 2 + strspn(more + 2, " ");
  else if (*more)
    tkt_fail(d,
             "Unexpected '%s' behind the text: a condition begins with "
             "'if'.",
             more);
  if (*cond) check_condition(d, *cond);
  return format;
}

void tkt_cmd_DPRINTF(tkt *d, tkt_args *a) {
  const char *comma = strchr(a->text, ',');
  if (!comma) tkt_fail(d, "dprintf LOCATION, \"TEXT {EXPR}\" [if EXPR]");
  char *where = tk_temp(&d->mem, a->text, (size_t)(comma - a->text));
  comma += 1 + strspn(comma + 1, " ");
  tk_point_spec spec = {.kind = TK_POINT_LOG, .where = where};
  spec.format = text_of(d, where, comma, &spec.condition);
  say_point(d, tkd_point_add(d->e, &spec), "Logpoint");
}

/* ---- watch and catch --------------------------------------------------- */

static void set_watch(tkt *d, tkt_args *a, bool reads, bool writes) {
  char *text = tk_temp(&d->mem, a->text, strlen(a->text));
  tk_point_spec spec = {
      .kind = TK_POINT_WATCH, .where = text, .reads = reads, .writes = writes};
  spec.condition = split_condition(text, false);
  if (!*text) tkt_fail(d, "Watch what? A variable or a tensor.");
  if (spec.condition) check_condition(d, spec.condition);
  const tkd_point *p = tkd_point_add(d->e, &spec);
  tkt_say(d, "Watchpoint %d: %s", p->number, p->where);
  if (p->watch.func_name) tkt_say(d, " in %s", p->watch.func_name);
  tkt_say(d, p->watch.births ? ", which has no value yet\n" : "\n");
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
  const tkd_point *p = tkd_point_add(d->e, &spec);
  tkt_say(d, "Catchpoint %d: %s\n", p->number, p->where);
}

/* ---- the list ---------------------------------------------------------- */

typedef void (*point_fn)(tkd *e, tkd_point *p);

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
  if (*to < *from) tkt_fail(d, "A range goes upwards, as in 2-4.");
  return true;
}

/* For each breakpoint that text numbers, or all. */
static void each_point(tkt *d, const char *text, point_fn fn) {
  if (!*text) {
    for (tkd_point *p = d->e->points.first, *next; p; p = next) {
      next = p->next;
      fn(d->e, p);
    }
    return;
  }
  for (int from, to; next_range(d, &text, &from, &to);) {
    tkd_point_numbered(d->e, from);
    for (tkd_point *p = d->e->points.first, *next; p; p = next) {
      next = p->next;
      if (p->number >= from && p->number <= to) fn(d->e, p);
    }
  }
}

static void enable_point(tkd *e, tkd_point *p) {
  tkd_point_enable(e, p, true);
}

static void disable_point(tkd *e, tkd_point *p) {
  tkd_point_enable(e, p, false);
}

void tkt_cmd_DELETE(tkt *d, tkt_args *a) {
  each_point(d, a->text, tkd_point_drop);
}

void tkt_cmd_ENABLE(tkt *d, tkt_args *a) {
  each_point(d, a->text, enable_point);
  tkd_points_resolve(d->e);
}

void tkt_cmd_DISABLE(tkt *d, tkt_args *a) {
  each_point(d, a->text, disable_point);
  tkd_points_resolve(d->e);
}

void tkt_cmd_CLEAR(tkt *d, tkt_args *a) {
  int n = 0, line = *a->text || !d->e->frame ? tkd_line_at(d->e, a->text)
                                             : tkd_line_of(d->e->frame);
  for (tkd_point *p = d->e->points.first, *next; p; p = next) {
    next = p->next;
    if (p->kind == TK_POINT_WATCH || p->kind == TK_POINT_CATCH) continue;
    if (strcmp(p->where, a->text) && (!line || p->line != line)) continue;
    tkt_say(d, "Deleted breakpoint %d\n", p->number);
    tkd_point_drop(d->e, p);
    n++;
  }
  if (!n) tkt_fail(d, "No breakpoint there.");
}

/* The breakpoint that *text begins with a number of. */
static tkd_point *take_point(tkt *d, const char **text) {
  const char *word = tkt_word(d, text);
  if (!*word) tkt_fail(d, "Which breakpoint? 'info breakpoints' lists them.");
  return tkd_point_numbered(d->e, point_number(d, word));
}

void tkt_cmd_CONDITION(tkt *d, tkt_args *a) {
  const char *text = a->text;
  tkd_point *p = take_point(d, &text);
  tkd_point_condition(d->e, p, *text ? text : NULL);
  if (p->cond)
    tkt_say(d, "Breakpoint %d stops if %s\n", p->number, p->cond);
  else
    tkt_say(d, "Breakpoint %d has no condition now.\n", p->number);
}

void tkt_cmd_IGNORE(tkt *d, tkt_args *a) {
  const char *text = a->text;
  tkd_point *p = take_point(d, &text);
  if (!*text) tkt_fail(d, "Pass how many hits of breakpoint %d?", p->number);
  p->ignore = tkt_number(d, text, 0);
  tkt_say(d, "Breakpoint %d passes its next %llu hit%s.\n", p->number,
          (unsigned long long)p->ignore, p->ignore == 1 ? "" : "s");
}

void tkt_cmd_COMMANDS(tkt *d, tkt_args *a) {
  const char *text = a->text;
  const tkd_point *p = d->e->points.first;
  while (p && p->next) p = p->next;
  if (*text) p = take_point(d, &text);
  if (!p) tkt_fail(d, "There are no breakpoints.");
  tkt_set_script(d, p->number, tkt_read_body(d));
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
  if (!found) tkt_fail(d, "No display number %d.", number);
}

/* ---- what there is ----------------------------------------------------- */

static const char *point_kind(const tkd_point *p) {
  if (p->kind == TK_POINT_LOG) return "logpoint";
  if (p->kind == TK_POINT_CATCH) return "catchpoint";
  if (p->kind == TK_POINT_BREAK) return p->once ? "temporary" : "breakpoint";
  return p->watch.reads ? p->watch.writes ? "awatch" : "rwatch" : "watchpoint";
}

void tkt_point_text(tkt *d, const tkd_point *p) {
  tkt_say(d, "%-3d %-10s %-3s %s", p->number, point_kind(p),
          p->enabled ? "on" : "off", p->where);
  if (p->func && p->kind != TK_POINT_WATCH)
    tkt_say(d, " in %s, line %d", p->func, p->line);
  if (p->pending) tkt_say(d, " (not in this launch)");
  tkt_say(d, "\n");
  if (p->cond) tkt_say(d, "      stops if %s\n", p->cond);
  if (p->format) tkt_say(d, "      prints \"%s\"\n", p->format);
  if (p->hits)
    tkt_say(d, "      hit %llu time%s\n", (unsigned long long)p->hits,
            p->hits == 1 ? "" : "s");
  if (p->ignore)
    tkt_say(d, "      passes the next %llu\n", (unsigned long long)p->ignore);
  for (const char *s = tkt_script_of(d, p->number); s && *s;) {
    int n = (int)strcspn(s, "\n");
    tkt_say(d, "        %.*s\n", n, s);
    s += n + (s[n] == '\n');
  }
}

/* ---- saving ------------------------------------------------------------ */

static void write_point(const tkt *d, FILE *f, const tkd_point *p) {
  const char *script = tkt_script_of(d, p->number);
  static const char *const verbs[] = {"break", "dprintf", "watch", "catch"};
  const char *verb = verbs[p->kind];
  if (p->kind == TK_POINT_BREAK && p->once) verb = "tbreak";
  if (p->kind == TK_POINT_WATCH && p->watch.reads)
    verb = p->watch.writes ? "awatch" : "rwatch";
  fprintf(f, "%s %s", verb, p->where);
  if (p->format) fprintf(f, ", \"%s\"", p->format);
  if (p->cond) fprintf(f, " if %s", p->cond);
  fputc('\n', f);
  if (script) fprintf(f, "commands\n%send\n", script);
}

void tkt_cmd_SAVE(tkt *d, tkt_args *a) {
  const char *text = a->text;
  if (strncmp("breakpoints", tkt_word(d, &text), 1) || !*text)
    tkt_fail(d, "save breakpoints FILE");
  FILE *f = fopen(text, "w");
  if (!f) tkt_fail(d, "%s cannot be written.", text);
  int n = 0;
  for (const tkd_point *p = d->e->points.first; p; p = p->next, n++)
    write_point(d, f, p);
  bool bad = ferror(f) != 0;
  bad |= fclose(f) != 0;
  if (bad) tkt_fail(d, "%s cannot be written.", text);
  tkt_say(d, "%d written to %s\n", n, text);
}
