/* fit.c - whether the options of a command line can take effect: with the kind
 * of FILE that it has, and beside each other.  One that cannot is refused
 * before anything runs. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of FILE. */
enum {
  OF_SCRIPT = 1,
  OF_DIRECT = 2,
  OF_RECORD = 4,
  OF_NONE = 8,
  OF_ANY = OF_SCRIPT | OF_DIRECT | OF_RECORD | OF_NONE,
  OF_HOST = 16, /* no FILE of ours: settings of a host program */
};

/* Commands that are only about the launches which --kernel and --launch
 * select. */
#define IN_WATCHED                                                             \
  (IN_DEBUG | IN_GDBSERVER | 1u << CLI_GDB | IN_DAP | IN_PROFILE | IN_VIEW |   \
   IN_DIFF)

enum { IN_NONE = 0 };

typedef struct fit_pair {
  bool needs; /* needs one of the others; false: clashes with each */
  cli_option_id id;
  unsigned commands;
  int files;
  const char *others, *why;
} fit_pair;

static const fit_pair pairs[] = {
#define NEEDS(id, commands, files, others, why)                                \
  {true, OPT_##id, commands, files, others, why},
#define CLASH(id, commands, files, others, why)                                \
  {false, OPT_##id, commands, files, others, why},
#include "tkdbg/pair.def"
#undef NEEDS
#undef CLASH
};

static bool replays(const cli_args *a) {
  return a->nwords &&
         (a->command == CLI_REPLAY || cli_is_launch_file(a->words[0]));
}

static int file_kind(const cli_args *a) {
  if (!a->nwords) return OF_NONE;
  if (replays(a)) return OF_RECORD;
  return cli_is_direct(a) || !cli_takes_script(a) ? OF_DIRECT : OF_SCRIPT;
}

/* ---- an option and FILE -------------------------------------------------- */

/* Returns why an option cannot be used with the kind of file that FILE is, as a
 * format for its name; NULL if it can. */
static const char *option_misfit(const cli_args *a, unsigned mode) {
  if (replays(a) && mode & CLI_STATED)
    return "--%s cannot be given with a launch file, which states its kernel, "
           "arguments and grid";
  if (replays(a))
    return mode & CLI_HOSTED ? "--%s is for scripts, and this is a launch file"
                             : NULL;
  if (cli_is_direct(a))
    return mode & CLI_HOSTED ? "--%s is for scripts, and this is a direct "
                               "launch (--grid, --arg)"
                             : NULL;
  return mode & CLI_DIRECT ? "--%s needs a direct launch (--grid, --arg)"
                           : NULL;
}

/* Options that need a script were given to a direct launch, or the other way
 * round. */
static bool modes_fit(const cli_args *a) {
  if (!cli_takes_script(a) && !replays(a)) return true;
  for (size_t i = 0; i < a->nuses; i++) {
    const cli_option *o = &cli_options[a->uses[i].id];
    const char *why = option_misfit(a, o->mode);
    if (!why) continue;
    cli_usage(a, why, o->name);
    return false;
  }
  return true;
}

/* A PTX file is compiled already, and only run. */
static bool ptx_fits(const cli_args *a) {
  static const cli_option_id taken[] = {
      OPT_GRID,  OPT_ARG,  OPT_KERNEL, OPT_OPTION, OPT_SAVE,
      OPT_PRINT, OPT_JSON, OPT_QUIET,  OPT_COLOR,  OPT_ERROR_EXITCODE};
  for (size_t i = 0; cli_is_ptx(a) && i < a->nuses; i++) {
    size_t k = 0;
    while (k < CLI_COUNT(taken) && taken[k] != a->uses[i].id) k++;
    bool other = a->uses[i].id == OPT_OPTION &&
                 strncmp(a->uses[i].value, "num_warps=", 10) != 0;
    if (k < CLI_COUNT(taken) && !other) continue;
    cli_usage(
        a, "--%s%s cannot be given with a PTX file, which is run as it is",
        cli_options[a->uses[i].id].name, other ? ", but for num_warps," : "");
    return false;
  }
  return true;
}

/* ---- pairs --------------------------------------------------------------- */

/* Whether value is one of the n bytes of words between '|'. */
static bool is_among(const char *words, size_t n, const char *value) {
  for (size_t at = 0, k; at < n; at += k + 1) {
    k = 0;
    while (at + k < n && words[at + k] != '|') k++;
    bool open = k && words[at + k - 1] == '*';
    size_t compared = k - open;
    if (!strncmp(words + at, value, compared) &&
        (open || strlen(value) == compared))
      return true;
  }
  return false;
}

/* Whether an option was given in the way that `other` (n bytes) says: NAME or
 * NAME=WORDS. */
static bool is_given(const cli_args *a, const char *other, size_t n) {
  size_t k = 0;
  while (k < n && other[k] != '=') k++;
  for (size_t i = 0; i < a->nuses; i++) {
    cli_use u = a->uses[i];
    const char *name = cli_options[u.id].name;
    if (strlen(name) != k || strncmp(name, other, k)) continue;
    if (k == n) return true;
    const char *last = cli_value(a, u.id);
    if (last && is_among(other + k + 1, n - k - 1, last)) return true;
  }
  return false;
}

/* The first of the others that was given; NULL if none was. */
static const char *given_one(const cli_args *a, const char *others, size_t *n) {
  for (; *others; others += *n + (others[*n] == ' ')) {
    *n = strcspn(others, " ");
    if (is_given(a, others, *n)) return others;
  }
  return NULL;
}

static bool has_option(const cli_args *a, const char *other, size_t n) {
  size_t k = strcspn(other, "= ");
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (k <= n && strlen(o->name) == k && !strncmp(o->name, other, k) &&
        o->commands >> a->command & 1)
      return true;
  }
  return false;
}

/* Those of the others that the command has, as "--a, --b or --c"; the caller
 * frees. */
static char *named_others(const cli_args *a, const char *others) {
  char *text = cli_format("%s", "");
  const char *next;
  for (size_t n; *others; others = next) {
    n = strcspn(others, " ");
    next = others + n + (others[n] == ' ');
    if (!has_option(a, others, n)) continue;
    size_t ahead = strcspn(next, " ");
    bool last = !*next || (!next[ahead] && !has_option(a, next, ahead));
    char *more = cli_format("%s%s--%.*s", text,
                            !*text ? ""
                            : last ? " or "
                                   : ", ",
                            (int)n, others);
    char *equals = strrchr(more, '=');
    if (equals) *equals = ' ';
    free(text);
    text = more;
  }
  return text;
}

/* Refuses an option whose other is missing, or is there. */
static bool refuse_pair(const cli_args *a, const fit_pair *p,
                        const char *clashing, size_t n) {
  const char *name = cli_options[p->id].name;
  const char *colon = *p->why ? ": " : "";
  if (clashing) {
    char *other = cli_format("%.*s", (int)strcspn(clashing, "= "), clashing);
    bool valued = memchr(clashing, '=', n) != NULL;
    int found = cli_find_option(a, other);
    CLI_ASSERT(found >= 0); /* it was given */
    cli_option_id id = (cli_option_id)found;
    cli_usage(a, "--%s and --%s%s%s cannot be given together%s%s", name, other,
              valued ? " " : "", valued ? cli_value(a, id) : "", colon, p->why);
    free(other);
  } else if (!*p->others) {
    cli_usage(a, "--%s has no effect here%s%s", name, colon, p->why);
  } else {
    char *others = named_others(a, p->others);
    cli_usage(a, "--%s needs %s%s%s", name, others, colon, p->why);
    free(others);
  }
  return false;
}

/* Whether each of the others is an option of some command of the row. */
static bool names_exist(const fit_pair *p) {
  for (const char *at = p->others; *at;) {
    size_t n = strcspn(at, "= ");
    int i = 0;
    while (i < CLI_OPTIONS && (strlen(cli_options[i].name) != n ||
                               strncmp(cli_options[i].name, at, n) ||
                               !(cli_options[i].commands & p->commands)))
      i++;
    if (i == CLI_OPTIONS) return false;
    at += strcspn(at, " ");
    at += *at == ' ';
  }
  return true;
}

static bool pairs_fit(const cli_args *a) {
  int kind = file_kind(a);
  for (size_t i = 0; i < CLI_COUNT(pairs); i++) {
    const fit_pair *p = &pairs[i];
    size_t n = 0;
    if (!(p->files & OF_ANY)) continue;
    CLI_ASSERT(names_exist(p));
    CLI_ASSERT(cli_options[p->id].commands & p->commands);
    bool asked = p->commands >> a->command & 1 && p->files & kind;
    if (!asked || !cli_has(a, p->id)) continue;
    const char *other = given_one(a, p->others, &n);
    if (p->needs == (other != NULL)) continue;
    return refuse_pair(a, p, other, n);
  }
  return true;
}

/* ---- one option ---------------------------------------------------------- */

/* Exit statuses end there. */
static bool exit_status_fits(const cli_args *a) {
  const char *code = cli_value(a, OPT_ERROR_EXITCODE);
  if (!code || strtol(code, NULL, 10) <= 255) return true;
  cli_usage(a, "--error-exitcode takes a number from 1 to 255, not '%s'", code);
  return false;
}

/* Without FILE the editor says what to launch, and how. */
static bool editor_options_fit(const cli_args *a) {
  static const cli_option_id ours[] = {
      OPT_PORT,  OPT_LISTEN_ANYWHERE, OPT_PORT_FILE, OPT_ONCE,
      OPT_QUIET, OPT_COLOR,           OPT_HELP,      OPT_CHECK};
  if (a->command != CLI_DAP || a->nwords) return true;
  for (size_t i = 0; i < a->nuses; i++) {
    size_t k = 0;
    while (k < CLI_COUNT(ours) && ours[k] != a->uses[i].id) k++;
    if (k < CLI_COUNT(ours) && (ours[k] != OPT_CHECK || cli_is_check_help(a)))
      continue;
    cli_usage(a,
              "--%s needs FILE: without it the editor says what is launched, "
              "and has \"options\" for this",
              cli_options[a->uses[i].id].name);
    return false;
  }
  return true;
}

bool cli_options_fit(const cli_args *a) {
  if (cli_has(a, OPT_HELP) || cli_is_check_help(a)) return true;
  return modes_fit(a) && ptx_fits(a) && pairs_fit(a) && exit_status_fits(a) &&
         editor_options_fit(a);
}
