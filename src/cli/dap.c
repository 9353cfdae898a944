/* dap.c - tkdbg dap: what an editor launches, or attaches to.
 *
 * If the command line does not say what to launch, the editor does: this
 * process greets it, and makes a command line of its launch request.  That is
 * then carried out here, or by the Python that this process becomes; either
 * takes over the connection.
 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tkdbg/dap.h"

static void say_line(void *ud, const char *line) {
  (void)ud;
  fprintf(stderr, "%s\n", line);
}

static tk_dap_options options_of(const cli_args *a, const char *address) {
  return (tk_dap_options){.size = sizeof(tk_dap_options),
                          .address = address,
                          .listen_anywhere = cli_has(a, OPT_LISTEN_ANYWHERE),
                          .port_file = cli_value(a, OPT_PORT_FILE),
                          .say = cli_has(a, OPT_QUIET) ? NULL : say_line};
}

tk_status cli_job_dap(cli_job *j) {
  tk_dap_options o = options_of(j->args, j->args->dap);
  tk_status st = tk_dap_new(j->session, &o, &j->dap);
  if (st == TK_OK) j->debugger = tk_dap_debugger(j->dap);
  cli_catch_interrupt(j->session, j->debugger, true);
  return st;
}

/* ---- what the editor wants ---------------------------------------------- */

/* Keeps what is written to standard error from now on, for the editor's user to
 * read.  Returns a descriptor of what standard error was before; -1: it is
 * unchanged. */
static int begin_keeping(FILE **kept) {
  *kept = tmpfile();
  if (!*kept) return -1;
  int own = dup(STDERR_FILENO);
  dup2(fileno(*kept), STDERR_FILENO);
  return own;
}

/* Returns what was kept, without the last end of a line; the caller frees. */
static char *end_keeping(FILE *kept, int own) {
  fflush(stderr);
  if (own >= 0) dup2(own, STDERR_FILENO);
  if (own >= 0) close(own);
  if (kept) rewind(kept);
  char *text = cli_read_rest(kept);
  size_t n = text ? strlen(text) : 0;
  while (n && text[n - 1] == '\n') text[--n] = '\0';
  if (kept) fclose(kept);
  return text;
}

bool cli_can_launch(const cli_args *a) {
  char *python = NULL;
  if (!a->nwords) return cli_usage(a, "no FILE is given"), false;
  if (access(a->words[0], R_OK) && a->words[0][0] != '-')
    return cli_usage(a, "cannot read %s: %s", a->words[0], strerror(errno)),
           false;
  if (cli_is_direct(a) || cli_is_launch_file(a->words[0])) return true;
  python = cli_find_python(a);
  bool runs = python && (!strchr(python, '/') || !access(python, X_OK));
  if (python && !runs)
    cli_usage(a, "cannot run %s: %s", python, strerror(errno));
  free(python);
  return runs;
}

/* Sets the folder and the environment that the editor asks for. */
static bool move_there(const cli_args *a, tk_dap *p) {
  const char *folder = tk_dap_folder(p), *name, *value;
  for (size_t i = 0; (name = tk_dap_variable(p, i, &value)); i++)
    if (value ? setenv(name, value, 1) : unsetenv(name))
      return cli_usage(a, "'%s' cannot be the name of a variable", name), false;
  if (!folder || chdir(folder) == 0) return true;
  return cli_usage(a, "cannot enter %s: %s", folder, strerror(errno)), false;
}

/* Answers an editor, and carries out what it launches. */
static int serve_editor(const cli_args *a, tk_dap *p) {
  const char *const *words;
  size_t n;
  FILE *kept;
  cli_args b = {0};
  if (!tk_dap_greet(p, &words, &n))
    return cli_is_interrupted() ? CLI_INTERRUPTED : TK_OK;
  int own = begin_keeping(&kept);
  bool ok = move_there(a, p) &&
            cli_parse(&b, CLI_DAP, (int)n, (char **)words) &&
            cli_can_launch(&b);
  char *why = end_keeping(kept, own);
  int code = TK_USAGE;
  if (!ok) {
    tk_dap_refuse(p, why ? why : "");
  } else {
    b.dap = tk_dap_handed(p);
    code = cli_debug(&b);
  }
  free(why);
  free(b.uses);
  free(b.words);
  return code;
}

/* Every editor has a process of its own, which becomes what it launches. */
static int serve_editors(const cli_args *a, tk_dap *p) {
  signal(SIGCHLD, SIG_IGN);
  while (tk_dap_accept(p)) {
    pid_t child = fork();
    if (child == 0) {
      signal(SIGCHLD, SIG_DFL);
      exit(serve_editor(a, p));
    }
    tk_dap_drop(p);
  }
  return cli_is_interrupted() ? CLI_INTERRUPTED : TK_OK;
}

static int greet_editors(const cli_args *a, const char *address) {
  tk_session *s = tk_session_new();
  tk_dap_options o = options_of(a, address);
  tk_dap *p;
  if (!s) return TK_INTERNAL;
  cli_catch_interrupt(s, NULL, true);
  int code = tk_dap_listen(s, &o, &p);
  if (code != TK_OK)
    fputs(tk_report(s, cli_colour(a, STDERR_FILENO)), stderr);
  else if (cli_has(a, OPT_PORT) && !cli_has(a, OPT_ONCE))
    code = serve_editors(a, p);
  else if (tk_dap_accept(p))
    code = serve_editor(a, p);
  else if (cli_is_interrupted())
    code = CLI_INTERRUPTED;
  tk_session_free(s);
  return code;
}

int cli_dap(const cli_args *a) {
  const char *port = cli_value(a, OPT_PORT);
  char *address = cli_format("%s%s", port && !strchr(port, ':') ? ":" : "",
                             port ? port : "-");
  signal(SIGPIPE, SIG_IGN); /* a closed connection is noticed when the editor is
                               read from */
  cli_args b = *a;
  b.dap = address;
  int code = a->nwords ? cli_debug(&b) : greet_editors(a, address);
  free(address);
  return code;
}
