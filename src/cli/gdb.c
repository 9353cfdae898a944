/* gdb.c - tkdbg gdbserver and tkdbg gdb: a launch, or a script, under gdb. */
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tkdbg/gdbserver.h"

static void say_line(void *ud, const char *line) {
  (void)ud;
  fprintf(stderr, "%s\n", line);
}

tk_status cli_job_serve(cli_job *j) {
  const cli_args *a = j->args;
  tk_gdbserver_options o = {
      .size = sizeof o,
      .address = cli_has(a, OPT_STDIO) ? "-" : cli_value(a, OPT_LISTEN),
      .listen_anywhere = cli_has(a, OPT_LISTEN_ANYWHERE),
      .once = cli_has(a, OPT_ONCE),
      .multi = cli_has(a, OPT_MULTI),
      .restarts = true,
      .replaceable = -1,
      .port_file = cli_value(a, OPT_PORT_FILE),
      .machine = cli_value(a, OPT_MACHINE),
      .write_elf = cli_value(a, OPT_WRITE_ELF),
      .say = say_line};
  tk_status st = tk_gdbserver_new(j->session, &o, &j->server);
  if (st == TK_OK) j->debugger = tk_gdbserver_debugger(j->server);
  cli_catch_interrupt(j->session, j->debugger, true);
  return st;
}

/* Waits until gdb has written to this command: only then does it show what the
 * command says. */
static void wait_for_client(void) {
  enum { PATIENCE = 1000 };
  char bytes[4096];
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&p, 1, PATIENCE) > 0 && read(p.fd, bytes, sizeof bytes) < 0) return;
}

int cli_gdbserver(const cli_args *a) {
  if (!cli_has(a, OPT_STDIO) && !cli_has(a, OPT_LISTEN))
    return cli_usage(a, "no address is given: 'tkdbg gdbserver :1234 FILE' "
                        "listens on port 1234, --stdio serves standard input "
                        "and output");
  if (cli_can_launch(a)) return cli_debug(a);
  if (cli_has(a, OPT_STDIO)) wait_for_client();
  return TK_USAGE;
}

/* ---- gdb at this terminal ------------------------------------------------ */

/* A word of a shell's command line. */
static void put_word(FILE *f, const char *s) {
  fputs(" '", f);
  for (; *s; s++) fputs(*s == '\'' ? "'\\''" : (char[]){*s, 0}, f);
  fputc('\'', f);
}

/* The command that gdb runs for its other end: this one, with the same
 * words. */
static char *server_command(const cli_args *a, const char *self) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  fputs("target extended-remote |", f);
  put_word(f, self);
  fputs(" gdbserver --stdio", f);
  for (size_t i = 0; i < a->nuses; i++) {
    const cli_use *u = &a->uses[i];
    char *word = cli_format("--%s%s%s", cli_options[u->id].name,
                            u->value ? "=" : "", u->value ? u->value : "");
    put_word(f, word);
    free(word);
  }
  fputs(" --", f);
  for (size_t i = 0; i < a->nwords; i++) put_word(f, a->words[i]);
  fclose(f);
  return text;
}

int cli_gdb(const cli_args *a) {
  char self[4096], unlimited[] = "set max-value-size unlimited";
  char patient[] = "set remotetimeout 3600"; /* scripts take time to begin */
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (!cli_can_launch(a)) return TK_USAGE;
  if (n < 0)
    return cli_usage(a, "cannot find its own executable: %s", strerror(errno));
  self[n] = '\0';
  const char *gdb = getenv("GDB");
  char *program = cli_format("%s", gdb && *gdb ? gdb : "gdb");
  char *connect = server_command(a, self);
  char *helper = cli_gdb_helper();
  char *load = cli_format(helper ? "source %s" : "%s", helper ? helper : "");
  char quiet[] = "-q", iex[] = "-iex", ex[] = "-ex";
  char *argv[] = {program, quiet, iex, unlimited, iex, patient,
                  ex,      load,  ex,  connect,   NULL};
  if (connect) execvp(program, argv);
  int error = errno;
  free(connect);
  free(helper);
  free(load);
  cli_usage(a, "cannot start %s: %s; install gdb, or name one in $GDB", program,
            strerror(error));
  free(program);
  return TK_USAGE;
}
