/* job.c - one launch, from the command line to its exit code.
 *
 * A job lives between cli_job_start and cli_job_end; what happens between
 * yields a tk_status, and the end turns that into reports and an exit code.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tkdbg/dap.h"
#include "tkdbg/gdbserver.h"

/* What Ctrl-C stops: a signal handler can only find it in globals. */
static tk_session *volatile running;
static tk_debugger *volatile asked;
static volatile sig_atomic_t pressed, serving;

static bool debugger_answers(void) {
  return asked && tk_debugger_is_active(asked);
}

static void on_patience_lost(int sig) {
  (void)sig;
  _exit(CLI_INTERRUPTED);
}

/* What has been asked to end may take this long to tell what it has seen; there
 * is nothing that would be lost but that. */
static void end_soon(void) {
  struct itimerval patience = {.it_value.tv_usec = 800 * 1000};
  struct sigaction sa = {.sa_handler = on_patience_lost};
  sigemptyset(&sa.sa_mask);
  sigaction(SIGALRM, &sa, NULL);
  setitimer(ITIMER_REAL, &patience, NULL);
}

static void on_interrupt(int sig) {
  pressed = 1;
  if (running) tk_interrupt(running);
  if (debugger_answers()) return;
  signal(sig, SIG_DFL);
  if (!serving) end_soon();
}

void cli_catch_interrupt(tk_session *s, tk_debugger *d, bool serves) {
  struct sigaction sa = {.sa_handler = on_interrupt};
  sigemptyset(&sa.sa_mask);
  running = s;
  asked = d;
  serving = serves;
  if (!pressed) sigaction(SIGINT, &sa, NULL);
}

bool cli_is_interrupted(void) {
  return pressed && !debugger_answers();
}

/* --check=help: what there is to look for. */
static tk_status list_checks(void) {
  for (size_t i = 0; tk_check_name(i); i++)
    printf("%-12s %s\n", tk_check_name(i), tk_check_doc(i));
  return TK_OK;
}

/* Turns on the detectors that were asked for. */
static tk_status set_checks(cli_job *j) {
  const cli_args *a = j->args;
  const char *limit = cli_value(a, OPT_LIMIT);
  tk_check_options o = {.size = sizeof o,
                        .suppressions = cli_value(a, OPT_SUPPRESSIONS),
                        .limit = limit ? strtoul(limit, NULL, 10) : 0,
                        .assume_written = cli_has(a, OPT_ASSUME_WRITTEN),
                        .stop = cli_has(a, OPT_STOP_ON_FINDING),
                        .collect = true,
                        .keep_going = cli_has(a, OPT_KEEP_GOING)};
  return tk_session_check(j->session, cli_value(a, OPT_CHECK), &o);
}

bool cli_wants_check_list(const cli_args *a) {
  return cli_is_check_help(a) && list_checks() == TK_OK;
}

/* Returns where text goes: to standard output, unless only JSON may be written
 * there. */
static FILE *text_file(const cli_args *a) {
  bool json = a->command == CLI_PROFILE || a->command == CLI_DEBUG ||
              a->command == CLI_VIEW;
  return json && cli_has(a, OPT_JSON) ? stderr : stdout;
}

/* Removes the progress bar before a kernel prints. */
static void on_output(void *ud, const char *text, size_t len) {
  cli_job *j = ud;
  if (j->progress) cli_progress_clear(j->progress);
  fwrite(text, 1, len, text_file(j->args));
}

static bool is_quiet(const cli_args *a) {
  return cli_has(a, OPT_QUIET) || cli_has(a, OPT_JSON);
}

/* Chooses the version of Triton; says so where another one is followed. */
static tk_status choose_version(cli_job *j, const char *name) {
  tk_status st = tk_session_triton_version(j->session, name);
  const char *meaning = tk_triton_meaning(name);
  if (st == TK_OK && strcmp(meaning, name) && !is_quiet(j->args))
    fprintf(stderr,
            "tkdbg: --triton-version %s: kernels mean what they mean in Triton "
            "%s; docs/compatibility.md lists the differences\n",
            name, meaning);
  return st;
}

int cli_job_start(cli_job *j, const cli_args *a) {
  *j = (cli_job){.args = a, .session = tk_session_new()};
  if (!j->session) {
    fputs("tkdbg: out of memory\n", stderr);
    return TK_INTERNAL;
  }
  tk_session_output(j->session, on_output, j);
  cli_catch_interrupt(j->session, NULL, false);
  if (cli_has(a, OPT_PYTHON))
    setenv("TKDBG_PYTHON", cli_value(a, OPT_PYTHON), 1);
  const char *version = cli_value(a, OPT_TRITON_VERSION);
  tk_status st = version ? choose_version(j, version) : TK_OK;
  return st == TK_OK ? (int)set_checks(j) : (int)st;
}

/* What the debugger has shown is not printed again. */
static void say_text(cli_job *j) {
  size_t n = tk_report_count(j->session);
  const char *text =
      tk_report_unshown(j->session, cli_colour(j->args, STDERR_FILENO));
  fputs(text, stderr);
  if (n && !*text)
    fprintf(stderr, "tkdbg: %zu finding%s, shown above\n", n,
            n == 1 ? "" : "s");
}

static void say_report(cli_job *j) {
  if (cli_has(j->args, OPT_JSON))
    fputs(tk_report_json_lines(j->session), stderr);
  else
    say_text(j);
}

static void say_summary(const cli_job *j, tk_status st) {
  const char *runs = cli_value(j->args, OPT_REPEAT);
  if (!is_quiet(j->args)) cli_summary(j->name, st, &j->summary);
  if (runs && st == TK_OK)
    cli_summary_of_many(j->name, runs, j->fastest, j->total / atoi(runs));
}

int cli_job_end(cli_job *j, int status) {
  size_t missing = 0;
  CLI_ASSERT(!j->progress); /* the bar is gone before anything is said */
  bool quit = j->debugger && tk_debugger_has_quit(j->debugger);
  if (serving && pressed && quit)
    status = TK_INTERRUPTED;
  else if (quit && status == TK_INTERRUPTED)
    status = TK_OK;
  if (cli_is_interrupted()) status = TK_INTERRUPTED;
  if (j->debugger && j->ran) missing += tk_debugger_end(j->debugger);
  bool lost = cli_flush(TK_OK) != TK_OK;
  if (j->session) tk_check_kept_going(j->session, true);
  if (j->session) say_report(j);
  if (j->session && cli_has(j->args, OPT_GEN_SUPPRESSIONS))
    fputs(tk_check_suppressions(j->session), text_file(j->args));
  if (j->session && status == TK_OK && tk_check_findings(j->session))
    status = TK_FINDING;
  if (j->ran && (!j->debugger || j->waits)) say_summary(j, (tk_status)status);
  if (j->server) tk_gdbserver_end(j->server, status);
  if (j->dap) tk_dap_end(j->dap, status);
  asked = NULL;
  if (status == TK_INTERRUPTED) return CLI_INTERRUPTED; /* at once */
  running = NULL;
  tk_session_free(j->session);
  const char *code = cli_value(j->args, OPT_ERROR_EXITCODE);
  if (status == TK_FINDING && code) return atoi(code);
  missing = cli_has(j->args, OPT_BREAK) ? missing : 0;
  return status == TK_OK && (lost || missing) ? TK_USAGE : status;
}

/* One --compile NAME=VALUE. */
static tk_status give_compile_option(cli_job *j, const char *text) {
  const char *eq = strchr(text, '=');
  if (!eq)
    return cli_usage(j->args, "--compile takes NAME=VALUE, not '%s'", text);
  char *name = cli_format("%.*s", (int)(eq - text), text);
  tk_status st = tk_launch_compile_option(j->launch, name, eq + 1);
  free(name);
  return st;
}

/* Sets how the kernel is compiled; this may also override a launch file. */
static tk_status give_options(cli_job *j) {
  const cli_args *a = j->args;
  tk_status st = TK_OK;
  for (size_t i = 0; i < a->nuses && st == TK_OK; i++)
    if (a->uses[i].id == OPT_COMPILE)
      st = give_compile_option(j, a->uses[i].value);
    else if (a->uses[i].id == OPT_OPTION)
      st = tk_launch_option_text(j->launch, a->uses[i].value);
  return st;
}

static tk_status give_arguments(cli_job *j) {
  const cli_args *a = j->args;
  const char *grid = cli_value(a, OPT_GRID);
  const char *precision = getenv("TRITON_F32_DEFAULT");
  tk_status st = TK_OK;
  if (precision)
    st = tk_launch_compile_option(j->launch, "fp32_default", precision);
  if (st == TK_OK) st = give_options(j);
  for (size_t i = 0; i < a->nuses && st == TK_OK; i++)
    if (a->uses[i].id == OPT_ARG)
      st = tk_launch_arg_text(j->launch, a->uses[i].value);
  if (st == TK_OK && grid) st = tk_launch_grid_text(j->launch, grid);
  return st;
}

/* The bytes of a file; NULL after saying why not. */
static char *file_text(cli_job *j, const char *path, size_t *n) {
  size_t cap = 1 << 16;
  char *text = malloc(cap);
  FILE *file = fopen(path, "rb");
  *n = 0;
  while (file && text && !feof(file) && !ferror(file)) {
    *n += fread(text + *n, 1, cap - *n, file);
    if (*n == cap) text = realloc(text, cap *= 2);
  }
  bool failed = !file || !text || ferror(file);
  if (failed) cli_usage(j->args, "cannot read '%s': %s", path, strerror(errno));
  if (file) fclose(file);
  if (!failed) return text;
  free(text);
  return NULL;
}

/* The kernel that a file holds as the text of its typed form. */
static tk_status open_form(cli_job *j, const char *path, tk_function **f) {
  size_t n;
  char *text = file_text(j, path, &n);
  if (!text) return TK_USAGE;
  tk_status st = tk_ir_open(j->session, path, text, n, f);
  const char *name = cli_value(j->args, OPT_KERNEL);
  if (st == TK_OK && name && strcmp(name, tk_function_name(*f)) != 0)
    st = cli_usage(j->args, "--kernel: %s has the kernel '%s', not '%s'", path,
                   tk_function_name(*f), name);
  free(text);
  return st;
}

/* A kernel of a PTX file: each --arg names the next of its parameters. */
static tk_status open_ptx(cli_job *j, tk_function **f) {
  const cli_args *a = j->args;
  tk_ptx_kernel k = {.name = a->words[0], .entry = cli_value(a, OPT_KERNEL)};
  char *text = file_text(j, k.name, &k.size);
  if (!text) return TK_USAGE;
  char **names = calloc(a->nuses + 1, sizeof *names);
  for (size_t i = 0; names && i < a->nuses; i++)
    if (a->uses[i].id == OPT_ARG)
      names[k.nparams++] = cli_format(
          "%.*s", (int)strcspn(a->uses[i].value, "="), a->uses[i].value);
  k.text = text;
  k.params = (const char *const *)names;
  tk_status st = names ? tk_ptx_open(j->session, &k, f) : TK_INTERNAL;
  for (size_t i = 0; i < k.nparams; i++) free(names[i]);
  free(names);
  free(text);
  return st;
}

static tk_status open_kernel(cli_job *j, tk_function **f) {
  tk_module *m;
  if (cli_is_ptx(j->args)) return open_ptx(j, f);
  if (cli_has(j->args, OPT_IR)) return open_form(j, j->args->words[0], f);
  tk_status st = tk_module_open_file(j->session, j->args->words[0], &m);
  if (st != TK_OK) return st;
  return tk_function_named(m, cli_value(j->args, OPT_KERNEL), f);
}

static tk_status open_direct(cli_job *j) {
  tk_function *f;
  tk_status st = open_kernel(j, &f);
  if (st == TK_OK) st = tk_launch_new(j->session, f, &j->launch);
  if (st != TK_OK) return st;
  j->name = tk_function_name(f);
  return give_arguments(j);
}

/* How often --ir names one. */
static size_t forms(const cli_args *a) {
  size_t n = 0;
  for (size_t i = 0; i < a->nuses; i++) n += a->uses[i].id == OPT_FORM;
  return n;
}

static const char *first_form(const cli_args *a) {
  size_t i = 0;
  while (a->uses[i].id != OPT_FORM) i++;
  return a->uses[i].value;
}

/* A launch file, and the form that is to run in place of its kernel. */
static tk_status open_recorded(cli_job *j, const char *path) {
  const char *form = cli_value(j->args, OPT_FORM);
  tk_function *f;
  tk_status st = tk_launch_replay(j->session, path, &j->launch);
  if (st == TK_OK) st = give_options(j);
  if (st != TK_OK || !form) return st;
  size_t given = forms(j->args);
  bool replaces = j->args->command != CLI_DIFF || given == 2;
  if (given > (j->args->command == CLI_DIFF ? 2 : 1))
    return cli_usage(j->args, "--ir was given %zu times", given);
  if (j->args->command == CLI_DIFF) st = open_form(j, form, &j->form);
  if (st != TK_OK || !replaces) return st;
  st = open_form(j, first_form(j->args), &f);
  return st == TK_OK ? tk_launch_take_form(j->launch, f) : st;
}

tk_status cli_job_open(cli_job *j) {
  CLI_ASSERT(j->session && !j->launch && j->args->nwords);
  const char *path = j->args->words[0];
  if (j->args->command != CLI_REPLAY && !cli_is_launch_file(path))
    return open_direct(j);
  const char *slash = strrchr(path, '/');
  j->name = slash ? slash + 1 : path;
  return open_recorded(j, path);
}

/* Returns the tensor that --save or --print names; NULL after reporting that
 * there is none. */
static const tk_tensor *tensor_of(cli_job *j, const char *what, char *name) {
  const tk_tensor *t = tk_launch_get_tensor(j->launch, name);
  if (!t)
    cli_usage(j->args, "--%s: no tensor argument is called '%s'", what, name);
  return t;
}

bool cli_can_write(const char *path) {
  if (access(path, F_OK) == 0) return access(path, W_OK) == 0;
  const char *slash = strrchr(path, '/');
  char *folder =
      slash ? cli_format("%.*s/", (int)(slash - path), path) : cli_format(".");
  bool ok = access(folder, W_OK) == 0;
  free(folder);
  return ok;
}

/* Does one --save NAME=FILE; if `write` is false, only checks that it can be
 * done. */
static tk_status save(cli_job *j, const char *text, bool write) {
  char *name = cli_format("%s", text);
  char *eq = strchr(name, '=');
  tk_status st = TK_OK;
  if (!eq || !eq[1]) {
    st = cli_usage(j->args, "--save takes NAME=FILE.npy, not '%s'", text);
  } else {
    *eq = '\0';
    if (!tensor_of(j, "save", name)) st = TK_USAGE;
    if (st == TK_OK && !write && !cli_can_write(eq + 1))
      st = cli_usage(j->args, "--save: cannot write %s: %s", eq + 1,
                     strerror(errno));
    if (st == TK_OK && write) st = tk_launch_save(j->launch, name, eq + 1);
  }
  free(name);
  return st;
}

static tk_status print(cli_job *j, const char *text, bool write) {
  char *name = cli_format("%s", text);
  tk_status st = tensor_of(j, "print", name) ? TK_OK : TK_USAGE;
  if (st == TK_OK && write) st = tk_launch_print(j->launch, name);
  free(name);
  return st;
}

/* --save and --print, in the order given: checked before a run that may be
 * long, done after it.  One that fails does not keep others from being done. */
static tk_status results(cli_job *j, bool write) {
  tk_status all = TK_OK;
  for (size_t i = 0; i < j->args->nuses; i++) {
    cli_use u = j->args->uses[i];
    tk_status st = TK_OK;
    if (u.id == OPT_SAVE) st = save(j, u.value, write);
    if (u.id == OPT_PRINT) st = print(j, u.value, write);
    if (st != TK_OK) all = st;
  }
  return all;
}

/* Returns the number that an option gives; -1 if it is not given, NaN if its
 * value is not such a number. */
static double tolerance(const cli_args *a, cli_option_id id) {
  const char *text = cli_value(a, id);
  char *end;
  double v = text ? strtod(text, &end) : -1;
  return text && (*end || end == text || !(v >= 0 && v < INFINITY)) ? NAN : v;
}

tk_status cli_bound(const cli_args *a, tk_bound *b) {
  const char *ulp = cli_value(a, OPT_ULP);
  *b = (tk_bound){tolerance(a, OPT_RTOL), tolerance(a, OPT_ATOL),
                  ulp ? strtol(ulp, NULL, 10) : 0};
  if (!isnan(b->rtol) && !isnan(b->atol)) return TK_OK;
  bool rtol = isnan(b->rtol);
  return cli_usage(a, "--%s takes a number that is not negative, not '%s'",
                   rtol ? "rtol" : "atol",
                   cli_value(a, rtol ? OPT_RTOL : OPT_ATOL));
}

const char *cli_against(const cli_args *a) {
  const char *given = cli_value(a, OPT_BACKEND);
  return a->command == CLI_DIFF && !given ? "best" : given;
}

/* --blame and --explain, before a run that may be long. */
static tk_status check_elements(cli_job *j, const char *option,
                                const char *elements) {
  return elements ? tk_elements_check(j->session, option, elements) : TK_OK;
}

/* --pid, after a run. */
static tk_status say_no_program(const cli_job *j) {
  const int64_t *grid = j->summary.grid;
  fprintf(stderr,
          "tkdbg: --pid %s: no program of the grid (%" PRId64 ", %" PRId64
          ", %" PRId64 ") matches\n",
          cli_value(j->args, OPT_PID), grid[0], grid[1], grid[2]);
  return TK_USAGE;
}

/* Runs the launch as often as --repeat says. */
static tk_status run_times(cli_job *j, const tk_run_options *o) {
  const char *repeat = cli_value(j->args, OPT_REPEAT);
  int n = repeat ? atoi(repeat) : 1;
  tk_status st = TK_OK;
  j->total = 0;
  for (int i = 0; i < n && st == TK_OK; i++) {
    st = tk_launch_run(j->launch, o, &j->summary);
    double took = j->summary.seconds;
    if (!i || took < j->fastest) j->fastest = took;
    j->total += took;
    if (st == TK_OK && cli_is_interrupted()) st = TK_INTERRUPTED;
  }
  return st;
}

static tk_status run_with_bar(cli_job *j) {
  const cli_args *a = j->args;
  char *blame = cli_has(a, OPT_BLAME) ? cli_joined(a, OPT_BLAME) : NULL;
  char *explain = cli_has(a, OPT_EXPLAIN) ? cli_joined(a, OPT_EXPLAIN) : NULL;
  const char *jobs = cli_value(a, OPT_JOBS);
  j->progress =
      cli_progress_new(j->name, !is_quiet(a) && (!j->debugger || j->waits));
  tk_bound bound;
  tk_status st = cli_bound(a, &bound);
  if (st == TK_OK) st = check_elements(j, "--blame", blame);
  if (st == TK_OK) st = check_elements(j, "--explain", explain);
  tk_run_options o = {.size = sizeof o,
                      .pids = cli_value(a, OPT_PID),
                      .order = cli_value(a, OPT_ORDER),
                      .dot = cli_value(a, OPT_DOT),
                      .numerics = cli_value(a, OPT_NUMERICS),
                      .engine = cli_value(a, OPT_ENGINE),
                      .arch = cli_value(a, OPT_ARCH),
                      .against = j->form ? NULL : cli_against(a),
                      .form = j->form,
                      .bound = &bound,
                      .pinpoint = cli_has(a, OPT_PINPOINT),
                      .schedule = cli_value(a, OPT_SCHEDULE),
                      .blame = blame,
                      .explain = explain,
                      .no_asserts = cli_has(a, OPT_NO_ASSERTS),
                      .jobs = jobs ? (size_t)strtoull(jobs, NULL, 10) : 0,
                      .unordered = cli_has(a, OPT_UNORDERED),
                      .shard = cli_value(a, OPT_SHARD),
                      .stores = cli_value(a, OPT_STORES),
                      .progress = cli_progress_tick,
                      .progress_ud = j->progress};
  if (!j->progress) o.progress = NULL;
  if (cli_is_interrupted()) st = TK_INTERRUPTED; /* a launch forgets it */
  if (st == TK_OK) st = run_times(j, &o);
  bool none = o.pids && !j->summary.programs && j->summary.grid[0] &&
              !cli_has(j->args, OPT_SHARD); /* a part may have none of them */
  if (st == TK_OK && none) st = say_no_program(j);
  free(blame);
  free(explain);
  cli_progress_free(j->progress);
  j->progress = NULL;
  bool quit = st == TK_INTERRUPTED && j->debugger && !j->waits;
  j->ran = st == TK_OK || quit || j->summary.ops > 0;
  return st;
}

/* Prepares every --expect, before the run. */
static tk_status give_expectations(cli_job *j) {
  const cli_args *a = j->args;
  tk_bound b;
  tk_status st = cli_bound(a, &b);
  for (size_t i = 0; i < a->nuses && st == TK_OK; i++)
    if (a->uses[i].id == OPT_EXPECT)
      st = tk_launch_expect(j->launch, a->uses[i].value, b.rtol, b.atol);
  for (size_t i = 0; i < a->nuses && st == TK_OK; i++)
    if (a->uses[i].id == OPT_GOT)
      st = tk_launch_got(j->launch, a->uses[i].value);
  return st;
}

/* A tensor that is not as expected is a finding. */
static tk_status judge_expectations(const cli_job *j) {
  const tk_difference *d;
  for (size_t i = 0; (d = tk_launch_difference(j->launch, i)) != NULL; i++)
    if (d->wrong || (d->weak && cli_has(j->args, OPT_STRICT)))
      return TK_FINDING;
  return TK_OK;
}

tk_status cli_job_merge(cli_job *j) {
  const cli_args *a = j->args;
  CLI_ASSERT(j->session && !j->launch);
  tk_status merged = tk_launch_merge(j->session, (const char *const *)a->words,
                                     a->nwords, &j->launch);
  if (!j->launch) return merged;
  tk_status st = results(j, false);
  if (st == TK_OK) st = results(j, true);
  return st == TK_OK ? merged : st;
}

/* The user has left the debugger before the launch had ended: says what is
 * therefore not done. */
static tk_status say_left(const cli_job *j) {
  tk_status st = TK_INTERRUPTED;
  for (size_t i = 0; i < j->args->nuses; i++) {
    cli_use u = j->args->uses[i];
    if (u.id != OPT_SAVE && u.id != OPT_PRINT && u.id != OPT_EXPECT) continue;
    fprintf(stderr,
            "tkdbg: --%s %s: not done, as the launch was left before its "
            "end\n",
            cli_options[u.id].name, u.value);
    st = TK_USAGE;
  }
  return st;
}

tk_status cli_job_run(cli_job *j) {
  const char *record = cli_value(j->args, OPT_RECORD);
  CLI_ASSERT(j->launch && !j->ran);
  tk_status st = results(j, false);
  if (st == TK_OK) st = give_expectations(j);
  if (st == TK_OK && record) st = tk_launch_record(j->launch, record);
  if (st == TK_OK) st = run_with_bar(j);
  bool quit = j->debugger && tk_debugger_has_quit(j->debugger);
  if (st == TK_INTERRUPTED && quit) return say_left(j);
  if (st == TK_OK) st = results(j, true);
  return st == TK_OK ? judge_expectations(j) : st;
}
