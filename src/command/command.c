/* command.c - command lines: reading, finding the command, help.
 *
 * A command fails by tkd_fail, which says why and throws TK_USAGE; whatever
 * is thrown ends the command, never the debugger.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "debug/debug.h"
#include "command/cmd.h"

const tkd_command tkd_commands[TKD_COMMANDS] = {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  {name, aliases, args, flags, TKD_##words, summary, text, tkd_cmd_##id},
#include "command/command.def"
#undef COMMAND
};

const tkd_settings tkd_default_settings = {
    .elements = 200, .history = 256u << 20, .listing = 10, .changes = true};

/* ---- text -------------------------------------------------------------- */

char *tkd_strndup(tkd *d, const char *s, size_t n) {
  char *p = tk_realloc(d->env, NULL, 0, n + 1);
  memcpy(p, s, n);
  p[n] = '\0';
  return p;
}

char *tkd_strdup(tkd *d, const char *s) {
  return tkd_strndup(d, s, strlen(s));
}

void tkd_strfree(tkd *d, char *s) {
  if (s) tk_free(d->env, s, strlen(s) + 1);
}

void tkd_set_text(tkd *d, char **at, const char *text) {
  char *copy = tkd_strdup(d, text);
  tkd_strfree(d, *at);
  *at = copy;
}

static void vsay(tkd *d, const char *fmt, va_list ap) {
  va_list again;
  char small[256];
  va_copy(again, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  if (n >= 0 && (size_t)n < sizeof small) {
    tk_buf_add(&d->out, small, (size_t)n);
  } else if (n > 0) {
    char *big = tkd_temp_bytes(d, (size_t)n + 1);
    vsnprintf(big, (size_t)n + 1, fmt, again);
    tk_buf_add(&d->out, big, (size_t)n);
  }
  va_end(again);
}

void tkd_say(tkd *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsay(d, fmt, ap);
  va_end(ap);
}

/* ---- lines as wide as the terminal -------------------------------------- */

/* "   17 | text" and "      | ^~~": what stands under each other stays. */
static bool is_excerpt(const char *s, size_t n) {
  size_t i = 0;
  while (i < n && (s[i] == ' ' || isdigit((unsigned char)s[i]))) i++;
  return i > 5 && i < n && s[i] == '|';
}

/* Columns of a word: escape sequences and what continues a character in UTF-8
 * take none. */
static size_t columns(const char *s, size_t n) {
  size_t w = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\033') {
      while (i < n && s[i] != 'm') i++;
      continue;
    }
    w += ((unsigned char)s[i] & 0xC0) != 0x80;
  }
  return w;
}

enum { FOLD_INDENT = 4 };

static void fold_line(tk_buf *out, const char *s, size_t n, size_t width) {
  size_t column = 0;
  for (size_t i = 0; i < n;) {
    size_t k = i;
    while (k < n && s[k] == ' ') k++;
    size_t blanks = k - i;
    while (k < n && s[k] != ' ') k++;
    size_t w = columns(s + i, k - i);
    if (column > FOLD_INDENT && column + w > width) {
      tk_buf_putc(out, '\n');
      tk_buf_pad(out, ' ', FOLD_INDENT);
      column = FOLD_INDENT;
      i += blanks;
      w -= blanks;
    }
    tk_buf_add(out, s + i, k - i);
    column += w;
    i = k;
  }
}

void tkd_fold(tkd *d, size_t from) {
  size_t width = (size_t)tkd_width(d);
  while (from && d->out.s[from - 1] != '\n') from--;
  size_t size = d->out.n - from;
  const char *all = tkd_temp(d, d->out.s + from, size);
  d->out.n = from;
  for (size_t i = 0; i < size;) {
    size_t n = 0;
    while (i + n < size && all[i + n] != '\n') n++;
    if (columns(all + i, n) <= width || is_excerpt(all + i, n))
      tk_buf_add(&d->out, all + i, n);
    else
      fold_line(&d->out, all + i, n, width);
    if (i + n < size) tk_buf_putc(&d->out, '\n');
    i += n + 1;
  }
}

/* Says a report, in lines that fit. */
static void put_report(tkd *d, const tk_diag *x) {
  size_t from = d->out.n;
  tk_diag_render(&d->out, x, d->opt.colour);
  tkd_fold(d, from);
}

void tkd_tell_report(tkd *d, tk_diag *x) {
  put_report(d, x);
  x->told = x->count;
}

/* ---- saying ------------------------------------------------------------ */

/* Without colours. */
static void write_plain(FILE *f, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (s[i] != '\033') {
      putc(s[i], f);
      continue;
    }
    while (i < n && s[i] != 'm') i++;
  }
}

void tkd_flush(tkd *d) {
  if (!d->out.n) return;
  if (d->transcript) write_plain(d->transcript, d->out.s, d->out.n);
  if (d->opt.write) d->opt.write(d->opt.ud, d->out.s, d->out.n);
  tk_buf_clear(&d->out);
}

void tkd_fail(tkd *d, const char *fmt, ...) {
  va_list ap;
  size_t from = d->out.n;
  va_start(ap, fmt);
  vsay(d, fmt, ap);
  va_end(ap);
  tk_buf_putc(&d->out, '\n');
  tkd_fold(d, from);
  tk_throw(d->env, TK_USAGE);
}

void tkd_say_reports(tkd *d, size_t n) {
  size_t i = 0;
  for (const tk_diag *x = d->env->diags; x; x = x->next)
    if (i++ >= n) put_report(d, x);
  tk_diag_truncate(d->env, n);
}

void tkd_refuse(tkd *d, size_t n) {
  tkd_say_reports(d, n);
  tk_throw(d->env, TK_USAGE);
}

const char *tkd_word(tkd *d, const char **text) {
  *text += strspn(*text, " \t");
  size_t n = strcspn(*text, " \t");
  tk_buf_clear(&d->scratch);
  tk_buf_add(&d->scratch, *text, n);
  *text += n;
  *text += strspn(*text, " \t");
  return tk_buf_str(&d->scratch);
}

uint64_t tkd_number(tkd *d, const char *text, uint64_t missing) {
  char *end;
  if (!*text) return missing;
  unsigned long long v = strtoull(text, &end, 0);
  if (!isdigit((unsigned char)*text) || end[strspn(end, " \t")])
    tkd_fail(d, "A whole number was expected, not '%s'.", text);
  return v;
}

/* ---- input ------------------------------------------------------------- */

void tkd_push_lines(tkd *d, const char *text) {
  tkd_line **at = &d->lines;
  while (*text) {
    size_t n = strcspn(text, "\n");
    size_t mark = d->nholds;
    tkd_line *x = tkd_hold(d, sizeof *x);
    x->text = tkd_hold_str(d, tkd_temp(d, text, n));
    tkd_keep(d, mark);
    x->next = *at;
    *at = x;
    at = &x->next;
    text += n + (text[n] == '\n');
  }
}

static const char *pop_line(tkd *d) {
  tkd_line *x = d->lines;
  tk_buf_clear(&d->input);
  tk_buf_puts(&d->input, x->text);
  d->lines = x->next;
  tkd_strfree(d, x->text);
  tk_free(d->env, x, sizeof *x);
  return tk_buf_str(&d->input);
}

static void drop_lines(tkd *d) {
  while (d->lines) {
    tkd_line *x = d->lines;
    d->lines = x->next;
    tkd_strfree(d, x->text);
    tk_free(d->env, x, sizeof *x);
  }
}

/* Ctrl-C drops the lines that wait: they may bring themselves back. */
const char *tkd_read(tkd *d, const char *prompt) {
  if (d->lines && d->env->interrupted) {
    drop_lines(d);
    tkd_say(d, "Interrupted.\n");
  }
  if (d->lines) return pop_line(d);
  tkd_flush(d);
  if (!d->opt.read) return NULL;
  const char *line = d->opt.read(d->opt.ud, prompt);
  if (line && d->transcript) fprintf(d->transcript, "%s%s\n", prompt, line);
  return line;
}

static void execute_again(tkd *d);

void tkd_prompt(tkd *d) {
  while (!d->moves && !d->quit) {
    bool typed = !d->lines;
    const char *line = tkd_read(d, "(tkdbg) ");
    bool dropped = d->env->interrupted; /* by Ctrl-C */
    d->env->interrupted = 0;
    if (!line) {
      d->quit = true;
      return;
    }
    size_t n = strspn(line, " \t");
    if (line[n]) {
      if (typed) {
        tkd_strfree(d, d->last);
        d->last = NULL;
        d->last = tkd_strdup(d, line);
      }
      tkd_execute(d, line);
    } else if (typed && d->last && !dropped) {
      execute_again(d);
    }
  }
}

/* ---- finding a command ------------------------------------------------- */

size_t tkd_name_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_') n++;
  return n;
}

const tkd_command *tkd_command_named(const char *name, size_t n, int *count) {
  const tkd_command *found = NULL;
  *count = 1;
  for (int i = 0; i < TKD_COMMANDS; i++) {
    const tkd_command *c = &tkd_commands[i];
    if (tk_has_word(c->name, name, n) || tk_has_word(c->aliases, name, n))
      return c;
  }
  *count = 0;
  for (int i = TKD_COMMANDS; i-- > 0;)
    if (n && !strncmp(tkd_commands[i].name, name, n))
      found = &tkd_commands[i], ++*count;
  return found;
}

static tkd_named *find_named(tkd *d, const char *name) {
  for (tkd_named *x = d->named; x; x = x->next)
    if (x->text && !strcmp(x->name, name)) return x;
  return NULL;
}

static void ambiguous(tkd *d, const char *name) TK_NORETURN;
static void ambiguous(tkd *d, const char *name) {
  size_t n = strlen(name);
  tkd_say(d, "Ambiguous command '%s':\n ", name);
  for (int i = 0; i < TKD_COMMANDS; i++)
    if (!strncmp(tkd_commands[i].name, name, n))
      tkd_say(d, " %s", tkd_commands[i].name);
  tkd_fail(d, ".");
}

static const struct {
  const char *name, *instead;
} foreign[] = {
#define FOREIGN(name, instead) {name, instead},
#include "command/foreign.def"
#undef FOREIGN
};

static bool is_variable(const tkd *d, const char *name) {
  const char *x;
  for (size_t i = 0; d->frame && (x = tki_eval_name(d->frame, i)); i++)
    if (!strcmp(x, name)) return true;
  return false;
}

static void unknown(tkd *d, const char *name) TK_NORETURN;
static void unknown(tkd *d, const char *name) {
  tk_nearest near = tk_nearest_start(name);
  for (int i = 0; i < TKD_COMMANDS; i++)
    tk_nearest_try(&near, tkd_commands[i].name);
  const char *best = tk_nearest_best(&near);
  for (size_t i = 0; i < TK_COUNT(foreign); i++)
    if (!strcmp(foreign[i].name, name))
      tkd_fail(d, "No command '%s' here: %s.", name, foreign[i].instead);
  if (is_variable(d, name))
    tkd_fail(d, "No command '%.60s': 'print %.60s' shows the variable.", name,
             name);
  if (best)
    tkd_fail(d, "No command '%.60s'. Did you mean '%s'? Try 'help'.", name,
             best);
  tkd_fail(d,
           "No command '%.60s'. Try 'help'; 'print %.60s' evaluates an "
           "expression.",
           name, name);
}

const tkd_command *tkd_find_command(tkd *d, const char *name) {
  int count;
  const tkd_command *found = tkd_command_named(name, strlen(name), &count);
  if (!*name) tkd_fail(d, "Which command?");
  if (count > 1) ambiguous(d, name);
  if (!found) unknown(d, name);
  return found;
}

/* ---- carrying one out -------------------------------------------------- */

typedef struct parsed {
  char *word, *fmt, *rest;
} parsed;

static void parse(tkd *d, const char *line, parsed *p) {
  line += strspn(line, " \t");
  size_t n = tkd_name_length(line), len = strlen(line);
  while (len && isspace((unsigned char)line[len - 1])) len--;
  if (!n && len) n = 1; /* ! and ? are commands */
  p->word = tkd_temp(d, line, n);
  size_t k = n;
  int count;
  const tkd_command *c = tkd_command_named(p->word, n, &count);
  bool formats = c && *c->args == '[' && c->args[1] == '/';
  while (formats && k < len && line[k] == ' ') k++;
  if (k < len && line[k] == '/') {
    size_t m = ++k;
    while (k < len && !isspace((unsigned char)line[k])) k++;
    p->fmt = tkd_temp(d, line + m, k - m);
  } else {
    p->fmt = tkd_temp(d, "", 0);
  }
  while (k < len && isspace((unsigned char)line[k])) k++;
  p->rest = tkd_temp(d, line + k, len - k);
}

static void need(tkd *d, const tkd_command *c) {
  bool program = strchr(c->flags, 'P') != NULL;
  if ((program || strchr(c->flags, 'L')) && !d->t)
    tkd_fail(d, "'%s' needs a launch, and none is running.", c->name);
  if (program && !d->frame)
    tkd_fail(d, "'%s' needs a program that is stopped; the launch has ended.",
             c->name);
}

enum { DEEPEST = 32 };

/* The n-th argument, words separated by blanks; its length. */
static size_t argument(const char **args, int n) {
  const char *s = *args + strspn(*args, " \t");
  for (; n; n--) {
    s += strcspn(s, " \t");
    s += strspn(s, " \t");
  }
  *args = s;
  return strcspn(s, " \t");
}

static int count_arguments(const char *args) {
  int n = 0;
  while (argument(&args, n != 0)) n++;
  return n;
}

/* $* for all arguments, $arg0, $arg1 for each, $argc for how many; not in
 * what the body itself defines. */
static void replace_all(tk_buf *b, const char *body, const char *args) {
  int depth = 0;
  for (const char *from = body; *body; body++) {
    if (body == from || body[-1] == '\n') {
      int by = tkd_body_depth(body);
      depth += by < 0 && !depth ? 0 : by;
    }
    if (depth)
      tk_buf_putc(b, *body);
    else if (!strncmp(body, "$*", 2)) {
      tk_buf_puts(b, args);
      body++;
    } else if (!strncmp(body, "$argc", 5)) {
      tk_buf_printf(b, "%d", count_arguments(args));
      body += 4;
    } else if (!strncmp(body, "$arg", 4) && isdigit((unsigned char)body[4])) {
      const char *s = args;
      size_t n = argument(&s, body[4] - '0');
      tk_buf_add(b, s, n);
      body += 4;
    } else {
      tk_buf_putc(b, *body);
    }
  }
}

/* An alias or a command of the user's: its lines come next. */
static void run_named(tkd *d, const tkd_named *x, const char *args) {
  tk_buf *b = tkd_temp_buf(d);
  if (++d->depth_of_source > DEEPEST) {
    d->depth_of_source = 0;
    tkd_fail(d, "'%s' calls itself without an end.", x->name);
  }
  replace_all(b, x->text, args);
  if (x->alias && !strstr(x->text, "$*") && !strstr(x->text, "$arg") && *args) {
    tk_buf_putc(b, ' ');
    tk_buf_puts(b, args);
  }
  if (x->alias)
    tkd_execute(d, tk_buf_str(b));
  else
    tkd_push_lines(d, tk_buf_str(b));
}

typedef struct job {
  tkd *d;
  const char *line;
  parsed p;
  size_t diags; /* before it */
  tk_status st;
} job;

static void run_line(tk_env *e, void *ud) {
  job *j = ud;
  tkd *d = j->d;
  (void)e;
  parse(d, j->line, &j->p);
  if (!*j->p.word || *j->p.word == '#') return;
  const tkd_named *x = find_named(d, j->p.word);
  if (x) {
    run_named(d, x, j->p.rest);
    return;
  }
  const tkd_command *c = tkd_find_command(d, j->p.word);
  need(d, c);
  if (!*c->args && *j->p.rest)
    tkd_fail(d,
             "'%s' takes no argument: '%.60s' is one too many. 'help %s' "
             "says more.",
             c->name, j->p.rest, c->name);
  tkd_args a = {j->p.fmt, j->p.rest};
  c->fn(d, &a);
}

static const char no_memory[] = "Out of memory.\n";

/* Whoever failed for want of memory may have said that something else was
 * wrong, or nothing. */
void tkd_say_refused(tkd *d) {
  size_t n = d->env->refused;
  if (n != d->refused) tkd_say(d, no_memory);
  d->refused = n;
}

/* ... and what was said before. */
static void say_failure(tk_env *e, void *ud) {
  job *j = ud;
  tkd_say_refused(j->d);
  if (j->st != TK_OK && e->ndiags > j->diags) tkd_say_reports(j->d, j->diags);
  tkd_flush(j->d);
}

/* It failed on the way to another point in time: as at the end, from where
 * all others can be reached. */
static void fell_off(tkd *d) {
  d->over = true;
  d->frame = NULL;
  d->sub = 0;
  d->replaying = d->scanning = false;
}

bool tkd_execute(tkd *d, const char *line) {
  job j = {.d = d, .line = line, .diags = d->env->ndiags};
  size_t mark = d->nholds;
  d->commands++;
  j.st = tk_protect(d->env, run_line, &j);
  tkd_drop_held(d, mark);
  if (j.st != TK_OK && d->t && !d->strand) fell_off(d);
  if (tk_protect(d->env, say_failure, &j) != TK_OK) {
    tk_diag_truncate(d->env, j.diags);
    tk_buf_clear(&d->out);
    d->refused = d->env->refused;
    if (d->opt.write) d->opt.write(d->opt.ud, no_memory, strlen(no_memory));
  }
  if (!d->lines) d->depth_of_source = 0;
  if (!--d->commands) tkd_temps_free(d);
  return j.st == TK_OK;
}

/* The empty line: the last command again, where that is of use; list and x
 * then go on. */
static void execute_again(tkd *d) {
  const char *line = tkd_temp(d, d->last, strlen(d->last));
  const char *name = line + strspn(line, " \t");
  size_t n = tkd_name_length(name);
  int count;
  const tkd_command *c = tkd_command_named(name, n, &count);
  if (c && strchr(c->flags, 'G'))
    tkd_execute(d, tkd_temp(d, name, n));
  else if (c && strchr(c->flags, 'R'))
    tkd_execute(d, line);
}

bool tk_debugger_command(tk_debugger *d, const char *line) {
  return tkd_execute(d, line);
}

/* ---- help -------------------------------------------------------------- */

static void wrap(tkd *d, const char *text, int indent) {
  int column = indent, width = tkd_width(d) - 2;
  tk_buf_pad(&d->out, ' ', (size_t)indent);
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (column > indent && column + 1 + n > width) {
      tk_buf_putc(&d->out, '\n');
      tk_buf_pad(&d->out, ' ', (size_t)indent);
      column = indent;
    }
    if (column > indent) tk_buf_putc(&d->out, ' ');
    column += n + (column > indent);
    tk_buf_add(&d->out, text, (size_t)n);
    text += n;
    if (*text == '\n') {
      tk_buf_putc(&d->out, '\n');
      tk_buf_pad(&d->out, ' ', (size_t)indent);
      column = indent;
    }
    text += *text != '\0';
  }
  tk_buf_putc(&d->out, '\n');
}

static void help_one(tkd *d, const tkd_command *c) {
  size_t from = d->out.n;
  tkd_say(d, "%s%s%s\n", c->name, *c->args ? " " : "", c->args);
  if (*c->aliases) tkd_say(d, "also: %s\n", c->aliases);
  wrap(d, c->text, 2);
  if (c == &tkd_commands[TKD_C_SET]) tkd_help_settings(d);
  tkd_fold(d, from);
}

static const struct {
  const char *name, *summary;
  int first; /* command */
} groups[] = {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)
#define GROUP(name, summary, id) {name, summary, TKD_C_##id},
#include "command/command.def"
#undef COMMAND
};

static void help_line(tkd *d, int command) {
  size_t from = d->out.n;
  tkd_say(d, tkd_width(d) < 40 ? "%s: %s\n" : "%-20s %s\n",
          tkd_commands[command].name, tkd_commands[command].summary);
  tkd_fold(d, from);
}

static void help_group(tkd *d, size_t i) {
  int end = i + 1 < TK_COUNT(groups) ? groups[i + 1].first : TKD_COMMANDS;
  size_t from = d->out.n;
  tkd_say(d, "%s: %s\n", groups[i].name, groups[i].summary);
  tkd_fold(d, from);
  for (int k = groups[i].first; k < end; k++) help_line(d, k);
}

static bool is_group(const char *name, size_t *at) {
  for (*at = 0; *at < TK_COUNT(groups); ++*at)
    if (!strcmp(groups[*at].name, name)) return true;
  return false;
}

static bool mentions(const char *text, const char *word) {
  size_t n = strlen(word);
  for (; *text; text++)
    if (!strncasecmp(text, word, n)) return true;
  return false;
}

void tkd_cmd_APROPOS(tkd *d, tkd_args *a) {
  bool any = false;
  if (!*a->text) tkd_fail(d, "Which word? As apropos watch.");
  for (int i = 0; i < TKD_COMMANDS; i++) {
    const tkd_command *c = &tkd_commands[i];
    if (!mentions(c->name, a->text) && !mentions(c->summary, a->text) &&
        !mentions(c->text, a->text))
      continue;
    help_line(d, i);
    any = true;
  }
  if (!any) tkd_fail(d, "No command is about '%.60s'.", a->text);
}

static void help_list(tkd *d) {
  for (size_t i = 0; i < TK_COUNT(groups); i++) {
    if (i) tkd_say(d, "\n");
    help_group(d, i);
  }
  size_t from = d->out.n;
  tkd_say(d,
          "\n'help COMMAND' explains one, 'help stops' lists a part of them, "
          "'apropos WORD'\nfinds those about something. A command may be "
          "shortened while "
          "it is unique;\nan empty line does the last one again.\n");
  tkd_fold(d, from);
}

static void help_named(tkd *d, const tkd_named *x) {
  if (x->alias)
    tkd_say(d, "%s is an alias of: %s\n", x->name, x->text);
  else
    tkd_say(d, "%s is defined as:\n%s", x->name, x->text);
  if (x->doc) tkd_say(d, "%s", x->doc);
}

/* 'help info locals' is about info. */
void tkd_cmd_HELP(tkd *d, tkd_args *a) {
  const char *text = a->text;
  const tkd_named *x = find_named(d, a->text);
  size_t group;
  if (x)
    help_named(d, x);
  else if (is_group(a->text, &group))
    help_group(d, group);
  else if (*a->text)
    help_one(d, tkd_find_command(d, tkd_word(d, &text)));
  else
    help_list(d);
}

const char *tk_debugger_command_name(size_t i) {
  return i < TKD_COMMANDS ? tkd_commands[i].name : NULL;
}

const char *tk_debugger_command_help(size_t i) {
  return i < TKD_COMMANDS ? tkd_commands[i].text : NULL;
}

/* ---- freeing ----------------------------------------------------------- */

static void free_named(tkd *d) {
  while (d->named) {
    tkd_named *x = d->named;
    d->named = x->next;
    tkd_strfree(d, x->name);
    tkd_strfree(d, x->text);
    tkd_strfree(d, x->doc);
    tk_free(d->env, x, sizeof *x);
  }
}

static void free_displays(tkd *d) {
  while (d->displays) {
    tkd_display *x = d->displays;
    d->displays = x->next;
    tkd_strfree(d, x->text);
    tkd_strfree(d, x->fmt);
    tk_free(d->env, x, sizeof *x);
  }
}

void tkd_free_all(tkd *d) {
  tkd_drop_held(d, 0);
  tkd_temps_free(d);
  drop_lines(d);
  while (d->points) {
    tkd_point *p = d->points;
    d->points = p->next;
    tkd_point_free(d, p);
  }
  free_named(d);
  free_displays(d);
  tkd_strfree(d, d->last);
  tkd_strfree(d, d->set.order);
  tkd_strfree(d, d->set.safe_path);
  for (int i = 0; i < TKD_LEVELS; i++)
    tk_free(d->env, d->seen[i].items, d->seen[i].cap * sizeof(tkd_seen));
  tk_free(d->env, d->bases, d->cap_bases * sizeof *d->bases);
  tk_free(d->env, d->deeds, d->cap_deeds * sizeof *d->deeds);
  tk_free(d->env, d->marks, d->cap_marks * sizeof *d->marks);
  tk_free(d->env, d->ahead, d->cap_ahead * sizeof *d->ahead);
  tk_buf_free(&d->out);
  tk_buf_free(&d->result);
  tk_buf_free(&d->scratch);
  tk_buf_free(&d->input);
  tk_buf_free(&d->value);
  tk_buf_free(&d->other_value);
  if (d->transcript) fclose(d->transcript);
}
