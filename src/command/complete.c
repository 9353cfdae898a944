/* complete.c - the words that may stand at the end of a command line. */
#include "command/complete.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "command/info.h"
#include "command/settings.h"
#include "command/table.h"

const char tkt_word_breaks[] = " \t\"'`()[]{},:;<>=+*%&|^~!@$\\";

typedef struct completing {
  tkt *d;
  const char *line;
  const char *word; /* the last of the line */
  const char *rest; /* what the command is followed by */
  const tkt_command *c;
  size_t i; /* how many candidates are still to be passed over */
  const char *found;
} completing;

/* One candidate; false: it is the one wanted. */
static bool try_text(completing *x, const char *text, size_t n,
                     const char *end) {
  size_t k = strlen(x->word);
  tk_buf *b = &x->d->scratch;
  if (k > n || strncmp(text, x->word, k) || x->i--) return true;
  tk_buf_clear(b);
  tk_buf_add(b, text, n);
  tk_buf_puts(b, end);
  x->found = tk_buf_str(b);
  return false;
}

static bool try_word(completing *x, const char *word) {
  return try_text(x, word, strlen(word), "");
}

/* A name of several words, of which some may stand there: its last ones. */
static bool try_words(completing *x, const char *name) {
  size_t before = (size_t)(x->word - x->rest);
  if (strlen(name) < before || strncmp(name, x->rest, before)) return true;
  return try_word(x, name + before);
}

/* ---- what there is ------------------------------------------------------ */

static bool try_commands(completing *x) {
  const char *name;
  for (const tkt_named *n = x->d->named; n; n = n->next)
    if (n->text && !try_word(x, n->name)) return false;
  for (size_t i = 0; (name = tk_debugger_command_name(i)); i++)
    if (!try_word(x, name)) return false;
  return true;
}

static bool try_values(completing *x) {
  const char *const *names;
  size_t n;
  tk_debug_region r;
  tk_debug_names(x->d->e, &names, &n);
  for (size_t i = 0; i < n; i++)
    if (!try_word(x, names[i])) return false;
  for (size_t i = 0; tk_debug_region_at(x->d->e, i, &r); i++)
    if (!tkt_is_variable(x->d, r.name) && !try_word(x, r.name)) return false;
  return true;
}

/* "tl.load": what the language has, its private names where one is typed, and
 * NumPy's names; after the dot of a value what is known of it. */
static bool try_operations(completing *x) {
  const char *name, *dot = strrchr(x->word, '.');
  for (size_t i = 0; (name = tk_builtin_name(i)); i++)
    if (!strncmp(name, "tl.", 3) && (name[3] != '_' || strlen(x->word) > 3) &&
        !try_word(x, name))
      return false;
  for (size_t i = 0; (name = tk_expression_name(i)); i++)
    if (*name != '.' && !try_word(x, name)) return false;
  if (!dot || !strncmp(x->word, "tl.", 3)) return true;
  const char *before = tk_temp(&x->d->mem, x->word, (size_t)(dot - x->word));
  for (size_t i = 0; (name = tk_expression_name(i)); i++)
    if (!try_word(x, tk_arena_printf(&x->d->mem.arena, "%s.%s", before,
                                     name + (*name == '.'))))
      return false;
  return true;
}

static bool try_expression(completing *x) {
  return try_values(x) && (!*x->word || try_operations(x));
}

static bool try_functions(completing *x) {
  const tk_ir *form = tk_debug_form(x->d->e);
  const tk_ir_func *f;
  for (size_t i = 0; form && (f = tk_ir_func_at(form, i)); i++)
    if (!tk_ir_func_is_library(f) && !try_word(x, tk_ir_func_name(f)))
      return false;
  return true;
}

static bool try_settings(completing *x) {
  const char *name;
  for (size_t i = 0; (name = tkt_setting_name(i)); i++)
    if (!try_words(x, name)) return false;
  if (x->word == x->rest && !try_word(x, "var")) return false;
  if (!strncmp(x->rest, "var ", 4)) return try_values(x);
  for (size_t i = 0; !strncmp(x->rest, "check ", 6) && tk_check_name(i); i++)
    if (!try_word(x, tk_check_name(i))) return false;
  return true;
}

static bool try_topics(completing *x) {
  const char *name;
  for (size_t i = 0; (name = tkt_info_topic(i)); i++)
    if (!try_words(x, name)) return false;
  return true;
}

static bool try_entry(completing *x, const char *folder, const char *name) {
  struct stat st;
  const char *path = tk_arena_printf(&x->d->mem.arena, "%s%s", folder, name);
  bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
  return try_text(x, path, strlen(path), is_folder ? "/" : "");
}

/* Files whose names begin with a dot only if that is typed. */
static bool try_files(completing *x) {
  const char *slash = strrchr(x->word, '/');
  size_t n = slash ? (size_t)(slash + 1 - x->word) : 0;
  const char *folder = tk_temp(&x->d->mem, x->word, n);
  DIR *dir = opendir(n ? folder : ".");
  bool more = true;
  for (struct dirent *e; dir && more && (e = readdir(dir));)
    if (e->d_name[0] != '.' || x->word[n] == '.')
      more = try_entry(x, folder, e->d_name);
  if (dir) closedir(dir);
  return more;
}

/* The words in lower case of the usage line: "program", "--svg", "if". */
static bool try_usage(completing *x) {
  for (const char *s = x->c->args; *s;) {
    size_t n = 0;
    while (islower((unsigned char)s[n]) || s[n] == '-') n++;
    if (n > 1 && !try_text(x, s, n, "")) return false;
    s += n;
    if (!n && isalnum((unsigned char)*s))
      while (isalnum((unsigned char)*s)) s++;
    else if (!n)
      s++;
  }
  return true;
}

/* ---- the line ----------------------------------------------------------- */

static void complete_line(completing *x);

/* apply COND COMMAND: from the second word on it is a line of its own. */
static void complete_applied(completing *x) {
  const char *s = x->rest + strcspn(x->rest, " ");
  if (!*s) return;
  x->line = s;
  complete_line(x);
}

static void complete_operand(completing *x) {
  const char *condition = strstr(x->rest, " if ");
  if (x->c == &tkt_commands[TKT_C_APPLY])
    complete_applied(x);
  else if (x->c->words != TKT_SETTING && !try_usage(x))
    return;
  else if (condition && condition < x->word)
    try_expression(x);
  else
    switch (x->c->words) {
    case TKT_COMMAND: try_commands(x); break;
    case TKT_LOCATION:
      if (try_functions(x) && strchr(x->word, '/')) try_files(x);
      break;
    case TKT_EXPR: try_expression(x); break;
    case TKT_INFO: try_topics(x); break;
    case TKT_SETTING: try_settings(x); break;
    case TKT_FILE_NAME: try_files(x); break;
    default: break;
    }
}

static void complete_line(completing *x) {
  const char *line = x->line + strspn(x->line, " \t");
  size_t n = tkt_name_length(line);
  int count;
  if (x->word <= line) {
    try_commands(x);
    return;
  }
  x->c = tkt_command_named(line, n, &count);
  x->rest = line + n;
  x->rest += *x->rest == '/' ? strcspn(x->rest, " \t") : 0;
  x->rest += strspn(x->rest, " \t");
  if (x->c)
    complete_operand(x);
  else
    try_values(x); /* a command of the user's, say */
}

static void complete(tk_env *e, void *ud) {
  completing *x = ud;
  (void)e;
  x->word = x->line + strlen(x->line);
  while (x->word > x->line && !strchr(tkt_word_breaks, x->word[-1])) x->word--;
  complete_line(x);
}

const char *tk_debugger_complete(tk_debugger *d, const char *line, size_t i) {
  completing x = {.d = d, .line = line, .i = i};
  size_t mark = tk_call_begins(&d->mem);
  tk_debug_block_begins(d->e);
  tk_protect(d->env, complete, &x);
  tk_debug_block_ends(d->e);
  tk_call_ends(&d->mem, mark);
  return x.found;
}
