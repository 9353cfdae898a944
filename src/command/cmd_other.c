/* cmd_other.c - commands that change something, and those about the debugger
 * itself.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "interp/check/undefined.h"
#include "interp/grid.h"

/* ---- set --------------------------------------------------------------- */

/* Puts bytes into a slot, in a block of their own: others may hold the old
 * one. */
void tkd_put_slot(tkd *d, tki_frame *f, int slot, const char *bytes, size_t n) {
  const tk_type *type = &f->func->slots[slot].type;
  tki_val v = tki_val_new(d->t, type, (size_t)tk_numel(type));
  memcpy(tki_data(&v), bytes, n);
  tki_set(d->t, &f->slots[slot], v);
  tkc_defined_slot(d->t, f, slot);
}

void tkd_poke(tkd *d, char *host, const char *bytes, size_t n) {
  tkd_journal_add(d->journal, host, n);
  memcpy(host, bytes, n);
  tkc_defined_memory(d->t, host, n);
}

typedef struct setting {
  tkd *d;
  const char *text;
  const tk_type *want;
  tki_eval *x;
  char *bytes;
  size_t n;
} setting;

static void value_body(tk_env *e, void *ud) {
  setting *s = ud;
  tki *t = s->d->t;
  tki_val out[TK_EVAL_LEAVES];
  (void)e;
  s->x = tki_eval_new(t, s->d->frame, s->text, s->want);
  s->n = (size_t)tk_numel(s->want) * tk_lane_size(s->want);
  tkd_need_one(s->d, s->x, s->text, "no value");
  tki_eval_run(t, s->x, s->d->frame, out);
  s->bytes = tkd_temp_bytes(s->d, s->n);
  memcpy(s->bytes, tki_data(&out[0]), s->n);
  tki_release(t, &out[0]);
}

/* The value of an expression as the type wanted; temporary. */
static char *value_as(tkd *d, const char *text, const tk_type *want) {
  setting s = {.d = d, .text = text, .want = want};
  size_t diags = d->env->ndiags;
  tk_status st = tk_protect(d->env, value_body, &s);
  tki_eval_free(s.x);
  if (st == TK_OK) return s.bytes;
  tkd_refuse(d, diags);
}

static void need_frame(tkd *d) {
  if (!d->frame) tkd_fail(d, "No program is stopped.");
}

static void set_variable(tkd *d, const char *name, const char *text) {
  int slots[2];
  need_frame(d);
  size_t n = tki_eval_slots(d->frame, name, slots, 2);
  if (n == 0)
    tkd_fail(d, "'%s' is no variable here, or known at compile time.", name);
  if (n > 1) tkd_fail(d, "'%s' is a tuple.", name);
  tk_type type = d->frame->func->slots[slots[0]].type;
  if (type.ptr)
    tkd_fail(d,
             "'%s' is a pointer: 'set %s[I] = EXPR' changes what it points "
             "to.",
             name, name);
  char *bytes = value_as(d, text, &type);
  size_t size = (size_t)tk_numel(&type) * tk_lane_size(&type);
  tkd_put_slot(d, d->frame, slots[0], bytes, size);
  tkd_deed *x = tkd_deed_new(d, TKD_SET, bytes, size);
  x->level = d->level;
  x->slot = slots[0];
  tkd_show_slot(d, d->frame, name);
  tkd_watches_refresh(d);
}

enum { MOST_SET = 1 << 16 };

static void set_memory(tkd *d, const tki_region *r, const char *index,
                       const char *text) {
  tkd_part part = tkd_part_of(d, r, index);
  tkd_view v;
  if (!tkd_view_of(r->tensor, &part, &v) || tk_numel(&v.type) > MOST_SET)
    tkd_fail(d, "At most %d elements are set at once.", MOST_SET);
  char *bytes = value_as(d, text, &v.type);
  size_t size = tk_lane_size(&v.type), n = (size_t)tk_numel(&v.type);
  for (size_t i = 0; i < n; i++) {
    char *host = (char *)tkd_view_lane(&v, i);
    tkd_poke(d, host, bytes + i * size, size);
    tkd_deed_new(d, TKD_POKE, bytes + i * size, size)->host = host;
  }
  tkd_watches_refresh(d);
}

/* Where the '=' of an assignment is; NULL: there is none. */
static char *equals(char *text) {
  int depth = 0;
  for (char *s = text; *s; s++) {
    depth += (*s == '[') - (*s == ']');
    if (*s == '=' && !depth) return s[1] == '=' ? NULL : s;
  }
  return NULL;
}

static void assign(tkd *d, char *name, char *value) {
  size_t n = strlen(name);
  while (n && name[n - 1] == ' ') name[--n] = '\0';
  value += strspn(value, " ");
  char *index = strchr(name, '[');
  size_t k = index ? (size_t)(index - name) : n;
  if (!*name || !*value) tkd_fail(d, "set var NAME = EXPR");
  need_frame(d);
  const tki_region *r = index ? tkd_region(d, name, k) : NULL;
  if (r)
    set_memory(d, r, index, value);
  else if (index)
    tkd_fail(d, "Lanes are not set one by one: set var x = tl.where(...).");
  else
    set_variable(d, name, value);
}

void tkd_cmd_SET(tkd *d, tkd_args *a) {
  char line[1024];
  if (!*a->text) {
    tkd_info_settings(d);
    return;
  }
  if (strlen(a->text) >= sizeof line) tkd_fail(d, "That is too long.");
  snprintf(line, sizeof line, "%s", a->text);
  bool var = !strncmp(line, "var ", 4);
  char *text = var ? line + 4 + strspn(line + 4, " ") : line;
  char *eq = equals(text);
  if (eq) {
    *eq = '\0';
    assign(d, text, eq + 1);
    return;
  }
  if (var || !tkd_set_setting(d, a->text))
    tkd_fail(d, "set var NAME = EXPR, set BUFFER[I] = EXPR, or a setting: %s.",
             tkd_settings_usage(d));
}

/* ---- apply ------------------------------------------------------------- */

/* Goes to the first statement of a program that was not begun. */
static bool visit(tkd *d, uint64_t index) {
  uint64_t at;
  for (uint64_t i = 0; i < d->nbases; i++)
    if (d->bases[i].index == index) {
      tkd_goto(d, d->bases[i].event + 1, 0);
      return d->frame != NULL;
    }
  at = index;
  tkd_deed_new(d, TKD_SWITCH, NULL, 0)->index = at;
  tkd_switch(d, at);
  d->go = TKD_STEP;
  d->count = 1;
  d->from_ended = true;
  tkd_arm(d);
  tkd_run_on(d);
  d->go = TKD_GO;
  return d->frame != NULL;
}

static void apply_one(tkd *d, const int64_t pid[3], const char *command) {
  tkd_say(d, "program ");
  tkd_put_pid(&d->out, pid, NULL);
  tkd_say(d, ":\n");
  tkd_execute(d, command);
}

enum { MOST_APPLIED = 4096 };

void tkd_cmd_APPLY(tkd *d, tkd_args *a) {
  const char *text = a->text;
  tk_pids conds;
  const char *word = tkd_word(d, &text);
  if (!*word || !*text) tkd_fail(d, "apply COND COMMAND, as apply 0,>1 p x");
  size_t diags = d->env->ndiags;
  if (!tk_pids_parse(d->env, word, strlen(word), &conds)) {
    tkd_refuse(d, diags);
  }
  if (d->over || !d->frame) tkd_fail(d, "The launch has ended.");
  if (d->ndeeds || d->strands->next)
    tkd_fail(d, "After 'set', 'jump', 'return' or 'program' other programs "
                "cannot be visited:\ngo back before it.");
  const char *name = tkd_temp(d, text, tkd_name_length(text));
  const tkd_command *c = tkd_find_command(d, name);
  if (strchr(c->flags, 'R') || c == &tkd_commands[TKD_C_APPLY])
    tkd_fail(d, "apply looks: '%s' moves.", c->name);
  uint64_t event = d->event, sub = d->sub == TKD_LATE ? 0 : d->sub, index;
  uint64_t mine = d->strand->task->index;
  int n = 0;
  char *command = tkd_temp(d, text, strlen(text));
  for (uint64_t i = 0; i < tki_programs(d->t) && n < MOST_APPLIED; i++) {
    int64_t pid[3];
    if (!tki_program_at(d->t, i, &index)) continue;
    tki_pid_of(d->t, index, pid);
    if (!tk_pids_match(&conds, pid)) continue;
    if (index != mine && !visit(d, index)) continue;
    apply_one(d, pid, command);
    n++;
    if (index != mine) tkd_goto(d, event, sub);
  }
  d->moves = d->gone = false;
  if (!n) tkd_fail(d, "No program matches.");
}

/* ---- the user's own commands ------------------------------------------- */

static tkd_named *named(tkd *d, const char *name) {
  size_t n = strlen(name);
  if (!n || n > 60 ||
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"
                   "QRSTUVWXYZ0123456789-_") != n)
    tkd_fail(d, "A name of letters, digits, - and _ was expected.");
  for (tkd_named *x = d->named; x; x = x->next)
    if (!strcmp(x->name, name)) return x;
  size_t mark = d->nholds;
  tkd_named *x = tkd_hold(d, sizeof *x);
  x->name = tkd_hold_str(d, name);
  tkd_keep(d, mark);
  x->next = d->named;
  d->named = x;
  return x;
}

/* A name that the debugger has itself, in full or in short. */
static void say_hidden(tkd *d, const char *name) {
  int count;
  const tkd_command *c = tkd_command_named(name, strlen(name), &count);
  if (!c || count != 1) return;
  size_t from = d->out.n;
  tkd_say(d,
          strcmp(c->name, name) ? "'%s' stood for the command '%s'"
                                : "'%s' hides the command '%s'",
          name, c->name);
  tkd_say(d, ": 'unalias %s' brings that back.\n", name);
  tkd_fold(d, from);
}

void tkd_cmd_ALIAS(tkd *d, tkd_args *a) {
  if (!*a->text) {
    for (tkd_named *x = d->named; x; x = x->next)
      if (x->alias && x->text) tkd_say(d, "%s = %s\n", x->name, x->text);
    return;
  }
  const char *text = a->text;
  char name[64];
  snprintf(name, sizeof name, "%.63s", tkd_word(d, &text));
  if (*text == '=') text += 1 + strspn(text + 1, " ");
  if (!*text) tkd_fail(d, "alias NAME = COMMAND");
  tkd_named *x = named(d, name);
  if (!x->text) say_hidden(d, name);
  tkd_set_text(d, &x->text, text);
  x->alias = true;
}

void tkd_cmd_UNALIAS(tkd *d, tkd_args *a) {
  for (tkd_named *x = d->named; x; x = x->next) {
    if (!x->text || strcmp(x->name, a->text) != 0) continue;
    tkd_strfree(d, x->text);
    tkd_strfree(d, x->doc);
    x->text = x->doc = NULL;
    return;
  }
  if (!*a->text) tkd_fail(d, "unalias NAME: 'alias' lists them.");
  tkd_fail(d, "No alias or command of your own is called '%.60s'.", a->text);
}

void tkd_cmd_DEFINE(tkd *d, tkd_args *a) {
  tkd_named *x = named(d, a->text);
  char *body = tkd_read_body(d);
  if (!x->text) say_hidden(d, x->name);
  tkd_set_text(d, &x->text, body);
  x->alias = false;
}

void tkd_cmd_DOCUMENT(tkd *d, tkd_args *a) {
  tkd_named *x = named(d, a->text);
  if (!x->text) {
    tkd_say(d,
            "'%s' is not defined: 'define' comes first. Lines up to 'end' "
            "are skipped.\n",
            a->text);
    tkd_read_body(d);
    tk_throw(d->env, TK_USAGE);
  }
  tkd_set_text(d, &x->doc, tkd_read_body(d));
}

enum { LONGEST_SOURCE = 1 << 20 };

static void source(tkd *d, const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) tkd_fail(d, "%s cannot be read.", path);
  if (++d->depth_of_source > 32) {
    fclose(f);
    d->depth_of_source = 0;
    tkd_fail(d, "%s is read by itself.", path);
  }
  char *text = tkd_temp_bytes(d, LONGEST_SOURCE);
  text[fread(text, 1, LONGEST_SOURCE, f)] = '\0';
  fclose(f);
  tkd_push_lines(d, text);
}

void tkd_cmd_SOURCE(tkd *d, tkd_args *a) {
  if (!*a->text) tkd_fail(d, "source FILE");
  source(d, a->text);
}

typedef struct sourcing {
  tkd *d;
  const char *path;
} sourcing;

static void source_body(tk_env *e, void *ud) {
  sourcing *x = ud;
  (void)e;
  source(x->d, x->path);
}

/* A body of lines that lacks its 'end' must not take what the user types. */
void tkd_source_now(tkd *d, const char *path) {
  sourcing x = {d, path};
  const char *(*read)(void *, const char *) = d->opt.read;
  d->opt.read = NULL;
  tk_protect(d->env, source_body, &x);
  while (d->lines) {
    char *line = tkd_strdup(d, tkd_read(d, ""));
    if (line[strspn(line, " \t")]) tkd_execute(d, line);
    tkd_strfree(d, line);
  }
  d->opt.read = read;
  d->moves = false;
  tkd_flush(d);
}

bool tkd_is_safe(const tkd *d, const char *folder) {
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

void tkd_cmd_SHELL(tkd *d, tkd_args *a) {
  if (!*a->text) tkd_fail(d, "shell COMMAND");
  tkd_flush(d);
  FILE *f = popen(a->text, "r");
  if (!f) tkd_fail(d, "/bin/sh cannot be run.");
  char part[1024];
  size_t n;
  while ((n = fread(part, 1, sizeof part, f))) {
    tk_buf_add(&d->out, part, n);
    tkd_flush(d);
  }
  int status = pclose(f);
  if (status) tkd_fail(d, "It ended with status %d.", status >> 8 & 255);
}

void tkd_cmd_ECHO(tkd *d, tkd_args *a) {
  tkd_print_format(d, a->text);
}

void tkd_cmd_RECORD(tkd *d, tkd_args *a) {
  if (*a->text) {
    size_t diags = d->env->ndiags;
    if (tk_launch_record(d->t->launch, a->text) != TK_OK) {
      tkd_refuse(d, diags);
    }
    tkd_say(d, "Written to %s\n", a->text);
    return;
  }
  tkd_say(d,
          "%llu events, %llu bytes of overwritten memory, of at most %llu "
          "MiB\n",
          (unsigned long long)d->event,
          (unsigned long long)(tkd_journal_at(d->journal) -
                               tkd_journal_first(d->journal)),
          (unsigned long long)(d->set.history >> 20));
}

void tkd_cmd_SAVE_TRANSCRIPT(tkd *d, tkd_args *a) {
  if (!*a->text) tkd_fail(d, "save-transcript FILE, or off");
  tkd_flush(d);
  if (d->transcript) fclose(d->transcript);
  d->transcript = NULL;
  if (!strcmp(a->text, "off")) return;
  d->transcript = fopen(a->text, "w");
  if (!d->transcript) tkd_fail(d, "%s cannot be written.", a->text);
}
