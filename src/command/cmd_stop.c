/* cmd_stop.c - commands that say where to stop.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "lang/ast.h"

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

static void say_point(tkd *d, const tkd_point *p, const char *what) {
  tkd_say(d, "%s %d at %s", what, p->number, p->where);
  if (p->pending && d->t)
    tkd_say(d, " (not in this launch yet)");
  else if (p->func && !strchr(p->where, ' ') && p->line != atoi(p->where))
    tkd_say(d, ": %s, line %d", p->func, p->line);
  else if (p->func)
    tkd_say(d, ": %s", p->func);
  tkd_say(d, "\n");
}

/* A condition that cannot be read is refused at once; its names are those of
 * where it stands, so they are looked up there. */
static void check_syntax(tkd *d, const char *what, const char *text) {
  size_t before = d->env->ndiags;
  tk_source *src = tk_source_new(&d->temps, what, text, strlen(text));
  bool good = tk_parse_expr(d->env, &d->temps, src) != NULL;
  tkd_say_reports(d, before);
  if (!good) tk_throw(d->env, TK_USAGE);
}

static void check_condition(tkd *d, const char *cond) {
  if (!*cond) tkd_fail(d, "A condition was expected behind 'if'.");
  check_syntax(d, "condition", cond);
}

static tkd_point *new_point(tkd *d, tkd_point_kind kind, const char *text,
                            const char *cond, const char *format) {
  const char *file, *where = tkd_location(d, text, &file);
  tkd_point *p = tkd_point_new(d, kind, where, cond, format);
  if (file) p->file = tkd_strdup(d, file);
  return p;
}

/* Without a condition that cannot be had there. */
static void place(tkd *d, tkd_point *p) {
  tkd_points_resolve(d);
  if (tkd_condition_fits(d, p)) return;
  tkd_point_drop(d, p);
  d->last_number--;
  tk_throw(d->env, TK_USAGE);
}

static void set_break(tkd *d, tkd_args *a, bool once) {
  char text[2048];
  if (strlen(a->text) >= sizeof text)
    tkd_fail(d, "A location and its condition have at most %zu characters.",
             sizeof text - 1);
  strcpy(text, a->text);
  char *cond = split_condition(text, true);
  if (cond) check_condition(d, cond);
  tkd_point *p = new_point(d, TKD_BREAK, text, cond, NULL);
  p->once = once;
  place(d, p);
  say_point(d, p, once ? "Temporary breakpoint" : "Breakpoint");
}

void tkd_cmd_BREAK(tkd *d, tkd_args *a) {
  set_break(d, a, false);
}

void tkd_cmd_TBREAK(tkd *d, tkd_args *a) {
  set_break(d, a, true);
}

/* ---- dprintf ----------------------------------------------------------- */

static void bad_brace(tkd *d, const char *format, const char *at,
                      const char *what) TK_NORETURN;
static void bad_brace(tkd *d, const char *format, const char *at,
                      const char *what) {
  tkd_fail(d,
           "%s, at character %d of \"%.200s\": {EXPR} prints a value, "
           "{{ and }} print braces.",
           what, (int)(at - format) + 1, format);
}

/* What would only be seen to be wrong at every hit is refused at once. */
static void check_text(tkd *d, const char *format) {
  for (const char *s = format; *s; s++) {
    if ((*s == '{' || *s == '}') && s[1] == *s) {
      s++;
      continue;
    }
    if (*s == '}') bad_brace(d, format, s, "A '}' without a '{'");
    if (*s != '{') continue;
    size_t n = strcspn(s, "}");
    if (!s[n]) bad_brace(d, format, s, "A '{' without a '}'");
    const char *text = tkd_temp(d, s + 1, n - 1);
    if (!text[strspn(text, " ")])
      bad_brace(d, format, s, "No expression between the braces");
    check_syntax(d, "expression", text);
    s += n;
  }
}

/* The next of "a, f(b, c)"; *args moves behind it. */
static const char *next_arg(tkd *d, const char **args) {
  const char *s = *args + strspn(*args, " ,");
  size_t n = 0;
  for (int depth = 0; s[n] && (depth || s[n] != ','); n++)
    depth += (strchr("([", s[n]) != NULL) - (strchr(")]", s[n]) != NULL);
  *args = s + n;
  return tkd_temp(d, s, n);
}

/* gdb's "x=%d", x as it is written here: x={x}. */
static const char *in_braces(tkd *d, const char *format, const char *args) {
  tk_buf *b = tkd_temp_buf(d);
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
static const char *text_of(tkd *d, const char *where, const char *text,
                           const char **cond) {
  size_t n = strlen(text);
  const char *more = "", *end = strrchr(text, '"');
  if (*text == '"') {
    if (end == text) tkd_fail(d, "A closing '\"' was expected: %s", text);
    more = end + 1 + strspn(end + 1, " ");
    n = (size_t)(end - ++text);
  }
  if (n > 1 && !memcmp(text + n - 2, "\\n", 2)) n -= 2;
  const char *format = tkd_temp(d, text, n);
  if (*more == ',')
    tkd_fail(d, "Values stand in braces in the text here: dprintf %s, \"%s\"",
             where, in_braces(d, format, more));
  if (!strncmp(more, "if", 2) && (!more[2] || more[2] == ' '))
    *cond = more + 2 + strspn(more + 2, " ");
  else if (*more)
    tkd_fail(d,
             "Unexpected '%s' behind the text: a condition begins with "
             "'if'.",
             more);
  if (*cond) check_condition(d, *cond);
  check_text(d, format);
  return format;
}

void tkd_cmd_DPRINTF(tkd *d, tkd_args *a) {
  const char *comma = strchr(a->text, ',');
  if (!comma) tkd_fail(d, "dprintf LOCATION, \"TEXT {EXPR}\" [if EXPR]");
  char *where = tkd_temp(d, a->text, (size_t)(comma - a->text));
  comma += 1 + strspn(comma + 1, " ");
  const char *cond = NULL, *format = text_of(d, where, comma, &cond);
  tkd_point *p = new_point(d, TKD_PRINTF, where, cond, format);
  place(d, p);
  say_point(d, p, "Logpoint");
}

/* ---- watch ------------------------------------------------------------- */

typedef struct watching {
  tkd *d;
  tkd_point *p;
} watching;

static void begin_watch(tk_env *e, void *ud) {
  watching *w = ud;
  if (!tkd_watch_begin(w->d, w->p) || !tkd_condition_fits(w->d, w->p))
    tk_throw(e, TK_USAGE);
}

static void watch(tkd *d, tkd_args *a, bool reads, bool writes) {
  char *text = tkd_temp(d, a->text, strlen(a->text));
  char *cond = split_condition(text, false);
  if (!*text) tkd_fail(d, "Watch what? A variable or a tensor.");
  if (cond) check_condition(d, cond);
  tkd_point *p = tkd_point_new(d, TKD_WATCH, text, cond, NULL);
  p->watch.reads = reads;
  p->watch.writes = writes;
  if (tk_protect(d->env, begin_watch, &(watching){d, p}) != TK_OK) {
    tkd_point_drop(d, p);
    d->last_number--;
    tk_throw(d->env, TK_USAGE);
  }
  tkd_points_resolve(d);
  tkd_say(d, "Watchpoint %d: %s", p->number, p->where);
  if (p->watch.func_name) tkd_say(d, " in %s", p->watch.func_name);
  tkd_say(d, p->watch.births ? ", which has no value yet\n" : "\n");
}

void tkd_cmd_WATCH(tkd *d, tkd_args *a) {
  watch(d, a, false, true);
}

void tkd_cmd_RWATCH(tkd *d, tkd_args *a) {
  watch(d, a, true, false);
}

void tkd_cmd_AWATCH(tkd *d, tkd_args *a) {
  watch(d, a, true, true);
}

void tkd_cmd_CATCH(tkd *d, tkd_args *a) {
  static const char *const names[] = {"launch", "program", "finding", "assert",
                                      "load",   "store",   "atomic"};
  for (size_t i = 0; i < TK_COUNT(names); i++) {
    if (strcmp(names[i], a->text)) continue;
    tkd_point *p = tkd_point_new(d, TKD_CATCH, names[i], NULL, NULL);
    p->caught = (tkd_caught)i;
    tkd_points_resolve(d);
    tkd_say(d, "Catchpoint %d: %s\n", p->number, names[i]);
    return;
  }
  tkd_fail(d, "catch launch|program|finding|assert|store|load|atomic");
}

/* ---- the list ---------------------------------------------------------- */

typedef void (*point_fn)(tkd *d, tkd_point *p);

static int point_number(tkd *d, const char *text) {
  uint64_t n = tkd_number(d, text, 0);
  return n > 1000000 ? -1 : (int)n;
}

/* The next of "2 4-6" (or "2,4-6"); false: there are no more. */
static bool next_range(tkd *d, const char **text, int *from, int *to) {
  *text += strspn(*text, " ,");
  size_t n = strcspn(*text, " ,");
  if (!n) return false;
  char *word = tkd_temp(d, *text, n), *dash = strchr(word + 1, '-');
  *text += n;
  if (dash) *dash = '\0';
  *from = point_number(d, word);
  *to = dash ? point_number(d, dash + 1) : *from;
  if (*to < *from) tkd_fail(d, "A range goes upwards, as in 2-4.");
  return true;
}

/* For each breakpoint that text numbers, or all. */
static void each(tkd *d, const char *text, point_fn fn) {
  if (!*text) {
    for (tkd_point *p = d->points, *next; p; p = next) {
      next = p->next;
      fn(d, p);
    }
    return;
  }
  for (int from, to; next_range(d, &text, &from, &to);) {
    tkd_point_numbered(d, from);
    for (tkd_point *p = d->points, *next; p; p = next) {
      next = p->next;
      if (p->number >= from && p->number <= to) fn(d, p);
    }
  }
}

static void enable(tkd *d, tkd_point *p) {
  p->enabled = true;
  p->watch.known = false;
  if (p->kind == TKD_WATCH && d->frame) tkd_watches_refresh(d);
}

static void disable(tkd *d, tkd_point *p) {
  (void)d;
  p->enabled = false;
}

void tkd_cmd_DELETE(tkd *d, tkd_args *a) {
  each(d, a->text, tkd_point_drop);
}

void tkd_cmd_ENABLE(tkd *d, tkd_args *a) {
  each(d, a->text, enable);
  tkd_points_resolve(d);
}

void tkd_cmd_DISABLE(tkd *d, tkd_args *a) {
  each(d, a->text, disable);
  tkd_points_resolve(d);
}

void tkd_cmd_CLEAR(tkd *d, tkd_args *a) {
  int n = 0, line = *a->text || !d->frame ? tkd_line_at(d, a->text)
                                          : tkd_line_of(d->frame);
  for (tkd_point *p = d->points, *next; p; p = next) {
    next = p->next;
    if (p->kind == TKD_WATCH || p->kind == TKD_CATCH) continue;
    if (strcmp(p->where, a->text) && (!line || p->line != line)) continue;
    tkd_say(d, "Deleted breakpoint %d\n", p->number);
    tkd_point_drop(d, p);
    n++;
  }
  if (!n) tkd_fail(d, "No breakpoint there.");
}

/* The breakpoint that *text begins with a number of. */
static tkd_point *take_point(tkd *d, const char **text) {
  const char *word = tkd_word(d, text);
  if (!*word) tkd_fail(d, "Which breakpoint? 'info breakpoints' lists them.");
  return tkd_point_numbered(d, point_number(d, word));
}

void tkd_cmd_CONDITION(tkd *d, tkd_args *a) {
  const char *text = a->text;
  tkd_point *p = take_point(d, &text);
  if (p->kind == TKD_CATCH && p->caught < TKD_CATCH_LOAD)
    tkd_fail(d, "Catchpoint %d takes no condition.", p->number);
  if (*text) check_condition(d, text);
  char *old = p->cond, *cond = *text ? tkd_strdup(d, text) : NULL;
  p->cond = cond;
  tkd_points_resolve(d);
  if (!tkd_condition_fits(d, p)) {
    tkd_strfree(d, p->cond);
    p->cond = old;
    tkd_points_resolve(d);
    tk_throw(d->env, TK_USAGE);
  }
  tkd_strfree(d, old);
  if (p->cond)
    tkd_say(d, "Breakpoint %d stops if %s\n", p->number, p->cond);
  else
    tkd_say(d, "Breakpoint %d has no condition now.\n", p->number);
}

void tkd_cmd_IGNORE(tkd *d, tkd_args *a) {
  const char *text = a->text;
  tkd_point *p = take_point(d, &text);
  if (!*text) tkd_fail(d, "Pass how many hits of breakpoint %d?", p->number);
  p->ignore = tkd_number(d, text, 0);
  tkd_say(d, "Breakpoint %d passes its next %llu hit%s.\n", p->number,
          (unsigned long long)p->ignore, p->ignore == 1 ? "" : "s");
}

int tkd_body_depth(const char *line) {
  static const char *const names[] = {"define", "document", "commands"};
  const char *word = line + strspn(line, " \t");
  size_t n = strcspn(word, " \t\n");
  if (n == 3 && !strncmp(word, "end", 3)) return -1;
  for (size_t i = 0; i < TK_COUNT(names); i++)
    if (strlen(names[i]) == n && !strncmp(names[i], word, n)) return 1;
  return 0;
}

char *tkd_read_body(tkd *d) {
  tk_buf *b = tkd_temp_buf(d);
  const char *line;
  int depth = 1;
  while ((line = tkd_read(d, ">")) && (depth += tkd_body_depth(line))) {
    const char *word = line + strspn(line, " \t");
    if (strcmp(word, "silent")) tk_buf_printf(b, "%s\n", line);
  }
  return (char *)tk_buf_str(b);
}

void tkd_cmd_COMMANDS(tkd *d, tkd_args *a) {
  const char *text = a->text;
  tkd_point *p = d->points;
  while (p && p->next) p = p->next;
  if (*text) p = take_point(d, &text);
  if (!p) tkd_fail(d, "There are no breakpoints.");
  char *body = tkd_strdup(d, tkd_read_body(d));
  tkd_strfree(d, p->commands);
  p->commands = body;
}

void tkd_cmd_UNDISPLAY(tkd *d, tkd_args *a) {
  int number = (int)tkd_number(d, a->text, 0);
  bool found = !*a->text;
  for (tkd_display **at = &d->displays; *at;) {
    tkd_display *x = *at;
    if (*a->text && x->number != number) {
      at = &x->next;
      continue;
    }
    *at = x->next;
    tkd_strfree(d, x->text);
    tkd_strfree(d, x->fmt);
    tk_free(d->env, x, sizeof *x);
    found = true;
  }
  if (!found) tkd_fail(d, "No display number %d.", number);
}

/* ---- what there is ----------------------------------------------------- */

static const char *kind_of(const tkd_point *p) {
  if (p->kind == TKD_PRINTF) return "logpoint";
  if (p->kind == TKD_CATCH) return "catchpoint";
  if (p->kind == TKD_BREAK) return p->once ? "temporary" : "breakpoint";
  return p->watch.reads ? p->watch.writes ? "awatch" : "rwatch" : "watchpoint";
}

void tkd_point_text(tkd *d, const tkd_point *p) {
  tkd_say(d, "%-3d %-10s %-3s %s", p->number, kind_of(p),
          p->enabled ? "on" : "off", p->where);
  if (p->func && p->kind != TKD_WATCH)
    tkd_say(d, " in %s, line %d", p->func, p->line);
  if (p->pending) tkd_say(d, " (not in this launch)");
  tkd_say(d, "\n");
  if (p->cond) tkd_say(d, "      stops if %s\n", p->cond);
  if (p->format) tkd_say(d, "      prints \"%s\"\n", p->format);
  if (p->hits)
    tkd_say(d, "      hit %llu time%s\n", (unsigned long long)p->hits,
            p->hits == 1 ? "" : "s");
  if (p->ignore)
    tkd_say(d, "      passes the next %llu\n", (unsigned long long)p->ignore);
  for (const char *s = p->commands; s && *s;) {
    int n = (int)strcspn(s, "\n");
    tkd_say(d, "        %.*s\n", n, s);
    s += n + (s[n] == '\n');
  }
}

/* ---- saving ------------------------------------------------------------ */

static void write_point(FILE *f, const tkd_point *p) {
  static const char *const verbs[] = {"break", "dprintf", "watch", "catch"};
  const char *verb = verbs[p->kind];
  if (p->kind == TKD_BREAK && p->once) verb = "tbreak";
  if (p->kind == TKD_WATCH && p->watch.reads)
    verb = p->watch.writes ? "awatch" : "rwatch";
  fprintf(f, "%s %s", verb, p->where);
  if (p->format) fprintf(f, ", \"%s\"", p->format);
  if (p->cond) fprintf(f, " if %s", p->cond);
  fputc('\n', f);
  if (p->commands) fprintf(f, "commands\n%send\n", p->commands);
}

void tkd_cmd_SAVE(tkd *d, tkd_args *a) {
  const char *text = a->text;
  if (strncmp("breakpoints", tkd_word(d, &text), 1) || !*text)
    tkd_fail(d, "save breakpoints FILE");
  FILE *f = fopen(text, "w");
  if (!f) tkd_fail(d, "%s cannot be written.", text);
  int n = 0;
  for (const tkd_point *p = d->points; p; p = p->next, n++) write_point(f, p);
  bool bad = ferror(f) != 0;
  bad |= fclose(f) != 0;
  if (bad) tkd_fail(d, "%s cannot be written.", text);
  tkd_say(d, "%d written to %s\n", n, text);
}
