/* dispatch.c - carrying out a command line.
 *
 * A command fails by tkt_fail, which prints why and throws TK_USAGE, or in the
 * engine, whose message is printed here; a throw ends the command, never the
 * debugger.
 */
#include "command/dispatch.h"

#include <ctype.h>
#include <string.h>

#include "command/cmd.h"
#include "command/input.h"
#include "command/say.h"
#include "command/table.h"

static void (*const functions[TKT_COMMANDS])(tkt *d, tkt_args *a) = {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  tkt_cmd_##id,
#include "command/command.def"
#undef COMMAND
};

typedef struct parsed {
  char *word, *fmt, *rest;
} parsed;

static void parse_line(tkt *d, const char *line, parsed *p) {
  line += strspn(line, " \t");
  size_t n = tkt_name_length(line), len = strlen(line);
  while (len && isspace((unsigned char)line[len - 1])) len--;
  if (!n && len) n = 1; /* ! and ? are commands */
  p->word = tk_temp(&d->mem, line, n);
  size_t k = n;
  int count;
  const tkt_command *c = tkt_command_named(p->word, n, &count);
  bool formats = c && *c->args == '[' && c->args[1] == '/';
  while (formats && k < len && line[k] == ' ') k++;
  if (k < len && line[k] == '/') {
    size_t m = ++k;
    while (k < len && !isspace((unsigned char)line[k])) k++;
    p->fmt = tk_temp(&d->mem, line + m, k - m);
  } else {
    p->fmt = tk_temp(&d->mem, "", 0);
  }
  while (k < len && isspace((unsigned char)line[k])) k++;
  p->rest = tk_temp(&d->mem, line + k, len - k);
}

static void need_context(tkt *d, const tkt_command *c) {
  bool program = strchr(c->flags, 'P') != NULL;
  tk_debug_time now;
  tk_debug_when(d->e, &now);
  if (now.raised && strchr(c->flags, 'A')) return;
  if ((program || strchr(c->flags, 'L')) && !tk_debug_launch(d->e))
    tkt_fail(d, "'%s' needs a launch, and none is running%s.", c->name,
             now.raised ? ": 'launch N' goes into one that has run" : "");
  if (program && !tk_debug_frame_count(d->e))
    tkt_fail(d, "'%s' needs a program that is stopped; the launch has ended.",
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
      int by = tkt_body_depth(body);
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
static void run_named(tkt *d, const tkt_named *x, const char *args) {
  tk_buf *b = tk_temp_buf(&d->mem);
  if (++d->depth_of_source > DEEPEST) {
    d->depth_of_source = 0;
    tkt_fail(d, "'%s' calls itself endlessly.", x->name);
  }
  replace_all(b, x->text, args);
  if (x->alias && !strstr(x->text, "$*") && !strstr(x->text, "$arg") && *args) {
    tk_buf_putc(b, ' ');
    tk_buf_puts(b, args);
  }
  if (x->alias)
    tkt_execute(d, tk_buf_str(b));
  else
    tkt_push_lines(d, tk_buf_str(b), NULL);
}

typedef struct line_job {
  tkt *d;
  const char *line;
  parsed p;
  size_t diags; /* before it */
  size_t said;
  tk_status st;
} line_job;

static void run_line(tk_env *e, void *ud) {
  line_job *j = ud;
  tkt *d = j->d;
  (void)e;
  parse_line(d, j->line, &j->p);
  if (!*j->p.word || *j->p.word == '#') return;
  const tkt_named *x = tkt_find_named(d, j->p.word);
  if (x) {
    run_named(d, x, j->p.rest);
    return;
  }
  const tkt_command *c = tkt_find_command(d, j->p.word);
  need_context(d, c);
  if (!*c->args && *j->p.rest)
    tkt_fail(d,
             "'%s' takes no argument: '%s' is one too many. 'help %s' "
             "says more.",
             c->name, j->p.rest, c->name);
  tkt_args a = {j->p.fmt, j->p.rest};
  functions[c - tkt_commands](d, &a);
}

/* A line of a file: "FILE:LINE: the line" comes before what is wrong with it.
 */
static void say_origin(line_job *j) {
  tkt *d = j->d;
  size_t from = j->said < d->out.n ? j->said : d->out.n, n = d->out.n - from;
  const char *text = tk_temp(&d->mem, d->out.s ? d->out.s + from : "", n);
  d->out.n = from;
  tkt_say(d, "%s: %s\n", tk_buf_str(&d->origin), j->line);
  tkt_fold(d, from);
  tk_buf_add(&d->out, text, n);
  tk_buf_clear(&d->origin);
}

/* ... and what was said before. */
static void say_failure(tk_env *e, void *ud) {
  line_job *j = ud;
  if (j->st == TK_INTERRUPTED) tkt_say(j->d, "Interrupted.\n");
  if (j->st != TK_OK && j->d->origin.n) say_origin(j);
  tkt_say_refused(j->d);
  if (j->st != TK_OK && e->ndiags > j->diags) tkt_say_reports(j->d, j->diags);
  tkt_flush(j->d);
}

bool tkt_execute(tkt *d, const char *line) {
  static const char no_memory[] = "Out of memory.\n";
  line_job j = {
      .d = d, .line = line, .diags = d->env->ndiags, .said = d->out.n};
  size_t mark = tk_call_begins(&d->mem);
  tk_debug_block_begins(d->e);
  int deaf = d->env->deaf;
  d->env->deaf = 0; /* Ctrl-C ends the answer */
  j.st = tk_protect(d->env, run_line, &j);
  d->env->deaf = deaf;
  tk_held_drop(&d->mem, mark);
  if (j.st == TK_INTERRUPTED) d->env->interrupted = 0; /* it is answered */
  if (tk_protect(d->env, say_failure, &j) != TK_OK) {
    tk_diag_truncate(d->env, j.diags);
    tk_buf_clear(&d->out);
    d->refused = d->env->refused;
    if (d->opt.write) d->opt.write(d->opt.ud, no_memory, strlen(no_memory));
  }
  if (!d->lines) d->depth_of_source = 0;
  tk_debug_block_ends(d->e);
  tk_call_ends(&d->mem, mark);
  return j.st == TK_OK;
}

/* Repeats the last command for an empty line, if that is useful; list and x
 * then continue. */
static void execute_again(tkt *d) {
  const char *name = d->last + strspn(d->last, " \t");
  size_t n = tkt_name_length(name);
  int count;
  const tkt_command *c = tkt_command_named(name, n, &count);
  if (c && strchr(c->flags, 'G')) {
    tkt_execute(d, c->name);
  } else if (c && strchr(c->flags, 'R')) {
    tkt_execute(d, d->last);
  }
}

bool tk_debugger_command(tk_debugger *d, const char *line) {
  return tkt_execute(d, line);
}

void tkt_prompt(tkt *d) {
  while (!tk_debug_will_resume(d->e) && !tk_debug_has_quit(d->e)) {
    bool typed = !d->lines;
    const char *line = tkt_read(d, "(tkdbg) ");
    bool dropped = d->env->interrupted; /* by Ctrl-C */
    d->env->interrupted = 0;
    if (!line) {
      tk_debug_quit(d->e);
      return;
    }
    size_t n = strspn(line, " \t");
    if (line[n]) {
      if (typed) tk_text_set(d->env, &d->last, line);
      tkt_execute(d, line);
    } else if (typed && d->last && !dropped) {
      execute_again(d);
    }
  }
}
