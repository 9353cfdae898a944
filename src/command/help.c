/* help.c - help and apropos. */
#include <string.h>
#include <strings.h>

#include "command/cmd.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/settings.h"
#include "command/table.h"

static void wrap(tkt *d, const char *text, int indent) {
  int column = indent, width = tkt_width(d) - 2;
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

static void help_one(tkt *d, const tkt_command *c) {
  size_t from = d->out.n;
  tkt_say(d, "%s%s%s\n", c->name, *c->args ? " " : "", c->args);
  if (*c->aliases) tkt_say(d, "also: %s\n", c->aliases);
  wrap(d, c->text, 2);
  if (c == &tkt_commands[TKT_C_SET]) tkt_help_settings(d);
  tkt_fold(d, from);
}

static const struct {
  const char *name, *summary;
  int first; /* command */
} groups[] = {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)
#define GROUP(name, summary, id) {name, summary, TKT_C_##id},
#include "command/command.def"
#undef COMMAND
};

static void help_line(tkt *d, int command) {
  size_t from = d->out.n;
  tkt_say(d, tkt_width(d) < 40 ? "%s: %s\n" : "%-20s %s\n",
          tkt_commands[command].name, tkt_commands[command].summary);
  tkt_fold(d, from);
}

static void help_group(tkt *d, size_t i) {
  int end = i + 1 < TK_COUNT(groups) ? groups[i + 1].first : TKT_COMMANDS;
  size_t from = d->out.n;
  tkt_say(d, "%s: %s\n", groups[i].name, groups[i].summary);
  tkt_fold(d, from);
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

void tkt_cmd_APROPOS(tkt *d, tkt_args *a) {
  bool any = false;
  if (!*a->text) tkt_fail(d, "Which word? For example: apropos watch");
  for (int i = 0; i < TKT_COMMANDS; i++) {
    const tkt_command *c = &tkt_commands[i];
    if (!mentions(c->name, a->text) && !mentions(c->summary, a->text) &&
        !mentions(c->text, a->text))
      continue;
    help_line(d, i);
    any = true;
  }
  if (!any) tkt_fail(d, "No command is about '%s'.", a->text);
}

static void help_list(tkt *d) {
  for (size_t i = 0; i < TK_COUNT(groups); i++) {
    if (i) tkt_say(d, "\n");
    help_group(d, i);
  }
  size_t from = d->out.n;
  tkt_say(d,
          "\n'help COMMAND' explains one, 'help stops' lists a part of them, "
          "'apropos WORD'\nfinds those about something. A command may be "
          "shortened while "
          "it is unique;\nan empty line does the last one again.\n");
  tkt_fold(d, from);
}

static void help_named(tkt *d, const tkt_named *x) {
  if (x->alias)
    tkt_say(d, "%s is an alias of: %s\n", x->name, x->text);
  else
    tkt_say(d, "%s is defined as:\n%s", x->name, x->text);
  if (x->doc) tkt_say(d, "%s", x->doc);
}

/* 'help info locals' is about info. */
void tkt_cmd_HELP(tkt *d, tkt_args *a) {
  const char *text = a->text;
  const tkt_named *x = tkt_find_named(d, a->text);
  size_t group;
  if (x)
    help_named(d, x);
  else if (is_group(a->text, &group))
    help_group(d, group);
  else if (*a->text)
    help_one(d, tkt_find_command(d, tkt_word(d, &text)));
  else
    help_list(d);
}
