/* cmd_other.c - commands that change something, and those about the debugger
 * itself.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "command/dispatch.h"
#include "command/input.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/settings.h"
#include "command/show.h"
#include "command/table.h"

/* ---- set --------------------------------------------------------------- */

/* Where the '=' of an assignment is; NULL: there is none. */
static char *equals(char *text) {
  int depth = 0;
  for (char *s = text; *s; s++) {
    depth += (*s == '[') - (*s == ']');
    if (*s == '=' && !depth) return s[1] == '=' ? NULL : s;
  }
  return NULL;
}

static void assign(tkt *d, char *name, char *value) {
  size_t n = strlen(name);
  while (n && name[n - 1] == ' ') name[--n] = '\0';
  value += strspn(value, " ");
  if (!*name || !*value) tkt_fail(d, "set var NAME = EXPR");
  if (!tk_debug_frame_count(d->e))
    tkt_fail(d, "No program is stopped: the launch has ended.");
  tkt_need(d, tk_debug_assign(d->e, name, value));
  if (!strchr(name, '[')) tkt_show_expr(d, "", name);
}

void tkt_cmd_SET(tkt *d, tkt_args *a) {
  if (!*a->text) {
    tkt_info_settings(d);
    return;
  }
  char *line = tk_temp(&d->mem, a->text, strlen(a->text));
  bool var = !strncmp(line, "var ", 4);
  char *text = var ? line + 4 + strspn(line + 4, " ") : line;
  char *eq = equals(text);
  if (eq) {
    *eq = '\0';
    assign(d, text, eq + 1);
    return;
  }
  if (var || !tkt_set_setting(d, a->text))
    tkt_fail(d, "set var NAME = EXPR, set BUFFER[I] = EXPR, or a setting: %s.",
             tkt_settings_usage(d));
}

/* ---- apply ------------------------------------------------------------- */

typedef struct applying {
  tkt *d;
  int64_t pid[3];
  const char *command;
} applying;

static void apply_here(void *ud) {
  const applying *x = ud;
  tkt *d = x->d;
  tkt_say(d, "program ");
  tkt_put_pid(&d->out, x->pid, NULL);
  tkt_say(d, ":\n");
  tkt_execute(d, x->command);
}

enum { MOST_APPLIED = 4096 };

/* Says to how many programs the command was applied. */
static int apply_to_all(tkt *d, const tk_pids *conds, applying *x) {
  tk_debug_program p;
  uint64_t at = 0;
  int n = 0;
  while (n < MOST_APPLIED && tk_debug_programs(d->e, &at, &p, 1)) {
    bool there;
    if (!tk_pids_match(conds, p.pid)) continue;
    memcpy(x->pid, p.pid, sizeof x->pid);
    tkt_need(d, tk_debug_visit(d->e, p.index, apply_here, x, &there));
    n += there;
  }
  return n;
}

void tkt_cmd_APPLY(tkt *d, tkt_args *a) {
  const char *text = a->text;
  tk_pids conds;
  const char *word = tkt_word(d, &text);
  if (!*word || !*text)
    tkt_fail(d, "apply COND COMMAND, such as apply 0,>1 p "
                "x");
  if (!strcmp(word, "all")) word = ":";
  if (!tk_pids_parse(d->env, word, strlen(word), &conds))
    tk_throw(d->env, TK_USAGE);
  const char *name = tk_temp(&d->mem, text, tkt_name_length(text));
  const tkt_command *c = tkt_find_command(d, name);
  if (strchr(c->flags, 'R') || c == &tkt_commands[TKT_C_APPLY])
    tkt_fail(d,
             "'apply' takes only commands that look, and '%s' moves the "
             "program.",
             c->name);
  applying x = {.d = d, .command = tk_temp(&d->mem, text, strlen(text))};
  int n = apply_to_all(d, &conds, &x);
  if (!n) tkt_fail(d, "No program matches.");
}

/* ---- the user's own commands ------------------------------------------- */

static tkt_named *own_command(tkt *d, const char *name) {
  size_t n = strlen(name);
  if (!n || n > 60 ||
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"
                   "QRSTUVWXYZ0123456789-_") != n)
    tkt_fail(d, "A name of letters, digits, - and _ was expected.");
  for (tkt_named *x = d->named; x; x = x->next)
    if (!strcmp(x->name, name)) return x;
  size_t mark = d->mem.nheld;
  tkt_named *x = tk_held_new(&d->mem, sizeof *x);
  x->name = tk_held_text(&d->mem, name);
  tk_held_keep(&d->mem, mark);
  x->next = d->named;
  d->named = x;
  return x;
}

/* Warns that a name hides one of the debugger's own commands, or an
 * abbreviation of one. */
static void say_hidden(tkt *d, const char *name) {
  int count;
  const tkt_command *c = tkt_command_named(name, strlen(name), &count);
  if (!c || count != 1) return;
  size_t from = d->out.n;
  tkt_say(d,
          strcmp(c->name, name) ? "'%s' stood for the command '%s'"
                                : "'%s' hides the command '%s'",
          name, c->name);
  tkt_say(d, ": 'unalias %s' brings that back.\n", name);
  tkt_fold(d, from);
}

void tkt_cmd_ALIAS(tkt *d, tkt_args *a) {
  if (!*a->text) {
    for (tkt_named *x = d->named; x; x = x->next)
      if (x->alias && x->text) tkt_say(d, "%s = %s\n", x->name, x->text);
    return;
  }
  const char *text = a->text;
  const char *word = tkt_word(d, &text);
  const char *name = tk_temp(&d->mem, word, strlen(word));
  if (*text == '=') text += 1 + strspn(text + 1, " ");
  if (!*text) tkt_fail(d, "alias NAME = COMMAND");
  tkt_named *x = own_command(d, name);
  if (!x->text) say_hidden(d, name);
  tk_text_set(d->env, &x->text, text);
  x->alias = true;
}

void tkt_cmd_UNALIAS(tkt *d, tkt_args *a) {
  for (tkt_named *x = d->named; x; x = x->next) {
    if (!x->text || strcmp(x->name, a->text) != 0) continue;
    tk_text_free(d->env, x->text);
    tk_text_free(d->env, x->doc);
    x->text = x->doc = NULL;
    return;
  }
  if (!*a->text) tkt_fail(d, "unalias NAME: 'alias' lists them.");
  tkt_fail(d, "No alias or command of your own is called '%s'.", a->text);
}

void tkt_cmd_DEFINE(tkt *d, tkt_args *a) {
  tkt_named *x = own_command(d, a->text);
  char *body = tkt_read_body(d);
  if (!x->text) say_hidden(d, x->name);
  tk_text_set(d->env, &x->text, body);
  x->alias = false;
}

void tkt_cmd_DOCUMENT(tkt *d, tkt_args *a) {
  tkt_named *x = own_command(d, a->text);
  if (!x->text) {
    tkt_say(d,
            "'%s' is not defined: 'define' comes first. Lines up to 'end' "
            "are skipped.\n",
            a->text);
    tkt_read_body(d);
    tk_throw(d->env, TK_USAGE);
  }
  tk_text_set(d->env, &x->doc, tkt_read_body(d));
}

enum { LONGEST_SOURCE = 1 << 20 };

static void source_file(tkt *d, const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) tkt_fail(d, "%s cannot be read.", path);
  if (++d->depth_of_source > 32) {
    fclose(f);
    d->depth_of_source = 0;
    tkt_fail(d, "%s sources itself endlessly.", path);
  }
  char *text = tk_temp_bytes(&d->mem, LONGEST_SOURCE);
  text[fread(text, 1, LONGEST_SOURCE, f)] = '\0';
  fclose(f);
  tkt_push_lines(d, text, path);
}

void tkt_cmd_SOURCE(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "source FILE");
  source_file(d, a->text);
}

typedef struct sourcing {
  tkt *d;
  const char *path;
} sourcing;

static void source_body(tk_env *e, void *ud) {
  sourcing *x = ud;
  (void)e;
  source_file(x->d, x->path);
}

/* If a body of lines lacks its 'end', it must not take lines that the user
 * types. */
void tkt_source_now(tkt *d, const char *path) {
  sourcing x = {d, path};
  const char *(*read)(void *, const char *) = d->opt.read;
  d->opt.read = NULL;
  tk_protect(d->env, source_body, &x);
  while (d->lines) {
    char *line = tk_text_new(d->env, tkt_read(d, ""));
    if (line[strspn(line, " \t")]) tkt_execute(d, line);
    tk_text_free(d->env, line);
  }
  d->opt.read = read;
  tk_debug_resume(d->e, &(tk_resume){.kind = TK_RESUME_NONE});
  tkt_flush(d);
}

bool tkt_is_safe(const tkt *d, const char *folder) {
  const char *s = d->set.safe_path;
  while (s && *s) {
    size_t n = strcspn(s, ":"), k = n;
    while (k && s[k - 1] == '/') k--;
    if (n && !strncmp(folder, s, k) && (!folder[k] || folder[k] == '/'))
      return true;
    s += n + (s[n] == ':');
  }
  return false;
}

void tkt_cmd_SHELL(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "shell COMMAND");
  tkt_flush(d);
  FILE *f = popen(a->text, "r");
  if (!f) tkt_fail(d, "/bin/sh cannot be run.");
  char part[1024];
  size_t n;
  while ((n = fread(part, 1, sizeof part, f))) {
    tk_buf_add(&d->out, part, n);
    tkt_flush(d);
  }
  int status = pclose(f);
  if (status)
    tkt_fail(d, "The command ended with status %d.", status >> 8 & 255);
}

void tkt_cmd_GDB(tkt *d, tkt_args *a) {
  if (!d->opt.lend)
    tkt_fail(d, "gdb can take over the launch only from the prompt of 'tkdbg "
                "debug'.");
  tkt_flush(d);
  tk_status st = d->opt.lend(d->opt.ud, *a->text ? a->text : ":0");
  if (st != TK_OK) tk_throw(d->env, st);
}

void tkt_cmd_ECHO(tkt *d, tkt_args *a) {
  tkt_print_format(d, a->text);
}

void tkt_cmd_RECORD(tkt *d, tkt_args *a) {
  if (*a->text) {
    if (tk_launch_record(tk_debug_launch(d->e), a->text) != TK_OK)
      tk_throw(d->env, TK_USAGE);
    tkt_say(d, "Written to %s\n", a->text);
    return;
  }
  tk_debug_time now;
  tk_debug_when(d->e, &now);
  tkt_say(d,
          "%llu events, %llu bytes of overwritten memory, of at most %llu "
          "MiB\n",
          (unsigned long long)now.event, (unsigned long long)now.kept,
          (unsigned long long)(now.most >> 20));
}

void tkt_cmd_SAVE_TRANSCRIPT(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "save-transcript FILE, or off");
  tkt_flush(d);
  if (d->transcript) fclose(d->transcript);
  d->transcript = NULL;
  if (!strcmp(a->text, "off")) return;
  d->transcript = fopen(a->text, "w");
  if (!d->transcript)
    tkt_fail(d, "Cannot write %s: %s.", a->text, strerror(errno));
}
