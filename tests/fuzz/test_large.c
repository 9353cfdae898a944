/* test_large.c - large inputs: what tests/support/large.py makes, some sixty
 * kinds of long names, long texts, deep nests and a great many of something,
 * with sizes on both sides of each bound that an array may have.
 *
 * Each kernel compiles and runs, alone, under all detectors or in the debugger,
 * and is printed as a typed form, which is read again and runs to the same
 * elements, or as code for a GPU.  What it leaves in memory is known, what a
 * user wrote into it must appear whole, and what is refused says why.
 *
 * CASES=N takes so many, some hundred otherwise; SEED=N begins elsewhere;
 * MOST=N makes none larger; SCALE=N compares the time of that size, and nothing
 * else, of KIND=NAME and by WAY=NAME alone if given; TRACE=1 names each case,
 * so that the last one is what it died of; TIMES=1 says how long each took.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/env_number.h"
#include "support/ptx_run.h"
#include "support/suite.h"
#include "tkdbg/compile.h"
#include "tkdbg/tkdbg.h"

enum {
  LARGE_CASES = 400,
  LARGE_MOST = 1100,
  PATIENCE = 60,      /* seconds for a case */
  ELEMENTS = 64,      /* of x */
  LARGE_SCALE = 1000, /* the size whose time is compared with a quarter's */
  GROWTH = 8,
  HELD_MOST = 400 << 20 /* bytes of a session */
};

/* Seconds; less says nothing about growth. */
static const double MATTERS = 0.15;

/* ---- cases --------------------------------------------------------------- */

/* A growing list of texts. */
typedef struct texts {
  char **items;
  size_t n, room;
} texts;

typedef struct large_case {
  char *label; /* "NUMBER KIND SIZE" */
  char *source, *kernel, *grid, *ptx, *ends;
  texts args, holds, says, lines;
  unsigned number;
} large_case;

static void *must_have(void *p) {
  if (!p) abort();
  return p;
}

static void texts_add(texts *t, char *text) {
  if (t->n == t->room) {
    t->room = t->room ? 2 * t->room : 16;
    t->items = must_have(realloc(t->items, t->room * sizeof *t->items));
  }
  t->items[t->n++] = text;
}

static void texts_free(texts *t) {
  for (size_t i = 0; i < t->n; i++) free(t->items[i]);
  free(t->items);
}

static void case_free(large_case *c) {
  char *all[] = {c->label, c->source, c->kernel, c->grid, c->ptx, c->ends};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  texts_free(&c->args);
  texts_free(&c->holds);
  texts_free(&c->says);
  texts_free(&c->lines);
}

static bool set_field(large_case *c, const char *name, char *value) {
  const struct {
    const char *name;
    char **one;
    texts *many;
  } fields[] = {{"case", &c->label, NULL},    {"source", &c->source, NULL},
                {"kernel", &c->kernel, NULL}, {"grid", &c->grid, NULL},
                {"ptx", &c->ptx, NULL},       {"ends", &c->ends, NULL},
                {"arg", NULL, &c->args},      {"holds", NULL, &c->holds},
                {"says", NULL, &c->says},     {"line", NULL, &c->lines}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (strcmp(name, fields[i].name) != 0) continue;
    if (fields[i].one)
      *fields[i].one = value;
    else
      texts_add(fields[i].many, value);
    return true;
  }
  free(value);
  return false;
}

/* False: there are no more. */
static bool read_case(FILE *in, large_case *c) {
  char name[16];
  size_t n;
  *c = (large_case){.label = NULL};
  while (fscanf(in, "%15s %zu", name, &n) == 2) {
    char *value = must_have(malloc(n + 1));
    if (getc(in) != '\n' || fread(value, 1, n, in) != n || getc(in) != '\n')
      ck_abort_msg("the stream of cases is damaged");
    value[n] = '\0';
    if (set_field(c, name, value)) continue;
    c->number = (unsigned)strtoul(c->label, NULL, 10);
    return true;
  }
  return false;
}

static bool case_says(const large_case *c, const char *how) {
  return strstr(c->ends, how) != NULL;
}

/* ---- what goes wrong ----------------------------------------------------- */

static const char *volatile running; /* label of the case that runs */
static unsigned wrong;

static void complain(const large_case *c, const char *fmt, ...) {
  va_list ap;
  wrong++;
  fprintf(stderr, "%s: ", c->label);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
}

static void say_what_died(int sig) {
  const char *label = running, *end = ": died of a signal, or took too long\n";
  if (label && write(2, label, strlen(label)) > 0 &&
      write(2, end, strlen(end)) < 0)
    _exit(3);
  signal(sig, SIG_DFL);
  raise(sig);
}

static void say_who_dies(void) {
  static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM};
  static char stack[1 << 16]; /* another: the usual one may be used up */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction a = {.sa_handler = say_what_died, .sa_flags = SA_ONSTACK};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], say_what_died);
  sigaltstack(&other, NULL);
  sigaction(SIGSEGV, &a, NULL);
}

/* Sanitizers end by a signal, too. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) {
  return "abort_on_error=1:handle_abort=0:handle_sigfpe=0:"
         "allocator_may_return_null=1:quarantine_size_mb=16";
}
const char *__ubsan_default_options(void) {
  return "abort_on_error=1:print_stacktrace=1";
}

/* ---- sessions ------------------------------------------------------------ */

typedef struct large_run {
  const large_case *c;
  tk_session *s;
  size_t held; /* bytes */
  char *out;   /* what kernels and the debugger print */
  size_t nout, room;
  size_t line; /* of the debugger, next */
  int32_t x[ELEMENTS];
} large_run;

static void *large_alloc(void *ud, void *p, size_t old, size_t size) {
  large_run *r = ud;
  if (size > old && r->held + size > (size_t)HELD_MOST) return NULL;
  r->held += size - old;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

static void keep_output(void *ud, const char *text, size_t n) {
  large_run *r = ud;
  if (r->nout + n + 1 > r->room) {
    r->room = 2 * (r->nout + n + 1);
    r->out = must_have(realloc(r->out, r->room));
  }
  memcpy(r->out + r->nout, text, n);
  r->nout += n;
  r->out[r->nout] = '\0';
}

static void begin_run(large_run *r, const large_case *c) {
  *r = (large_run){.c = c};
  r->s = must_have(tk_session_new_with(large_alloc, r));
  tk_session_output(r->s, keep_output, r);
}

/* Ends it; its report must be sound whatever happened. */
static void end_run(large_run *r) {
  const char *text = tk_report(r->s, true);
  if (tk_report_count(r->s) && (!text || !*text)) complain(r->c, "no report");
  if (!tk_report_json(r->s) || !tk_report_json_lines(r->s))
    complain(r->c, "no report as JSON");
  tk_session_free(r->s);
  if (r->held) complain(r->c, "%zu bytes were not freed", r->held);
  free(r->out);
}

static void reset_memory(large_run *r) {
  for (int i = 0; i < ELEMENTS; i++) r->x[i] = i;
}

/* x is this run's memory, so that we see what becomes of it. */
static tk_status give_arguments(large_run *r, tk_launch *l) {
  tk_tensor x = {.data = r->x,
                 .dtype = TK_INT32,
                 .rank = 1,
                 .shape = {ELEMENTS},
                 .strides = {1}};
  tk_status st = tk_launch_tensor(l, "x", &x);
  if (st == TK_OK) st = tk_launch_grid_text(l, r->c->grid);
  for (size_t i = 1; st == TK_OK && i < r->c->args.n; i++)
    st = tk_launch_arg_text(l, r->c->args.items[i]);
  return st;
}

/* NULL: there is none, and the report says why. */
static tk_launch *open_launch(large_run *r) {
  const char *source = r->c->source;
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  reset_memory(r);
  if (tk_module_open(r->s, "k.py", source, strlen(source), &m) ||
      tk_function_named(m, r->c->kernel, &f) || tk_launch_new(r->s, f, &l))
    return NULL;
  if (give_arguments(r, l) == TK_OK) return l;
  tk_launch_free(l);
  return NULL;
}

/* ---- what is expected ---------------------------------------------------- */

static void check_memory(const large_run *r, const char *by) {
  for (size_t i = 0; i < r->c->holds.n; i++) {
    char *end;
    long at = strtol(r->c->holds.items[i], &end, 10);
    long wanted = strtol(end, NULL, 10);
    if (r->x[at] != wanted)
      complain(r->c, "%s: x[%ld] is %d, not %ld", by, at, r->x[at], wanted);
  }
}

/* A text is in what was printed, or in the sentence of a finding; the source
 * line below it does not count. */
static bool was_said(const large_run *r, const char *text) {
  const tk_finding *f;
  if (r->out && strstr(r->out, text)) return true;
  for (size_t i = 0; (f = tk_report_finding(r->s, i)); i++)
    if (strstr(f->message, text)) return true;
  return false;
}

static void check_texts(const large_run *r) {
  for (size_t i = 0; i < r->c->says.n; i++)
    if (!was_said(r, r->c->says.items[i]))
      complain(r->c, "%zu characters of the user were cut",
               strlen(r->c->says.items[i]));
}

static void check_end(large_run *r, tk_status st, bool compiled) {
  const large_case *c = r->c;
  bool may = case_says(c, "may_refuse");
  if (st != TK_OK && !tk_report_count(r->s))
    complain(c, "status %d without a report", st);
  if (st == TK_INTERNAL) complain(c, "%s", tk_report(r->s, false));
  if (may && (st != TK_OK || !c->holds.n)) return;
  if (case_says(c, "refused") && compiled) complain(c, "it is not refused");
  if (case_says(c, "fails") && (st != TK_FINDING || !compiled))
    complain(c, "no finding, status %d", st);
  if (!case_says(c, "refused") && !case_says(c, "fails") && st != TK_OK)
    complain(c, "status %d: %.2000s", st, tk_report(r->s, false));
  check_texts(r);
  if (st == TK_OK) check_memory(r, "source");
}

/* ---- ways through -------------------------------------------------------- */

static const tk_run_options exactly = {.size = sizeof exactly, .dot = "exact"};

/* What is printed is read again, prints as the same text and runs to the same
 * elements. */
static void run_form(large_run *r, const char *form) {
  tk_function *f;
  tk_launch *l;
  char *text = must_have(strdup(form));
  if (tk_ir_open(r->s, "k.tk", text, strlen(text), &f) ||
      tk_launch_new(r->s, f, &l)) {
    complain(r->c, "the form is not read: %.2000s", tk_report(r->s, false));
  } else {
    reset_memory(r);
    if (give_arguments(r, l) || tk_launch_run(l, &exactly, NULL))
      complain(r->c, "the form does not run: %.2000s", tk_report(r->s, false));
    else
      check_memory(r, "form");
    const char *again = tk_launch_ir(l);
    if (!again || strcmp(again, text)) complain(r->c, "another form");
    tk_launch_free(l);
  }
  free(text);
}

static void emit_code(large_run *r, tk_launch *l, const char *stage) {
  tk_emit_options o = {.size = sizeof o, .emit = stage};
  const char *text;
  tk_status st = tk_launch_emit(l, &o, &text);
  if (st == TK_INTERNAL || (st == TK_OK) != (text != NULL))
    complain(r->c, "code for a GPU: %.2000s", tk_report(r->s, false));
}

static const char *next_line(void *ud, const char *prompt) {
  large_run *r = ud;
  (void)prompt;
  return r->line < r->c->lines.n ? r->c->lines.items[r->line++] : NULL;
}

/* A folder that is gone: lines cannot make or read files in it. */
static void enter_nowhere(void) {
  char path[] = "/tmp/tkdbg-large-XXXXXX";
  if (!mkdtemp(path) || chdir(path) || rmdir(path)) abort();
}

/* A session in which each line is typed, after asking what completes it. */
static void debug_launch(large_run *r, tk_launch *l) {
  tk_debugger *d;
  tk_debugger_options o = {.size = sizeof o,
                           .ud = r,
                           .read = next_line,
                           .write = keep_output,
                           .stop_at_start = true,
                           .stop_at_end = true};
  if (tk_debugger_new(r->s, &o, &d)) {
    complain(r->c, "no debugger");
    return;
  }
  int here = open(".", O_RDONLY | O_DIRECTORY);
  enter_nowhere();
  for (size_t i = 0; i < r->c->lines.n; i++)
    tk_debugger_complete(d, r->c->lines.items[i], 0);
  tk_status st = tk_launch_run(l, &exactly, NULL);
  if (st == TK_INTERNAL) complain(r->c, "%s", tk_report(r->s, false));
  tk_debugger_end(d);
  if (here < 0 || fchdir(here)) abort();
  close(here);
}

static void debug_case(const large_case *c) {
  large_run r;
  begin_run(&r, c);
  tk_launch *l = open_launch(&r);
  if (l) debug_launch(&r, l);
  if (l) tk_launch_free(l);
  end_run(&r);
}

static void run_case(const large_case *c) {
  static const char *const stages[] = {"ttir", "axis", "layouts", "llir"};
  large_run r;
  begin_run(&r, c);
  if (c->number % 4 == 1) tk_session_check(r.s, "all", NULL);
  tk_launch *l = open_launch(&r);
  tk_status st = l ? tk_launch_compile(l) : TK_FINDING;
  bool compiled = st == TK_OK;
  if (compiled) st = tk_launch_run(l, &exactly, NULL);
  check_end(&r, st, compiled);
  if (st == TK_OK && c->number % 2 == 0) run_form(&r, tk_launch_ir(l));
  if (compiled && c->number % 4 == 3)
    emit_code(&r, l, stages[c->number / 4 % 4]);
  if (l) tk_launch_free(l);
  end_run(&r);
}

static void run_ptx(const large_case *c) {
  large_run r = {.c = c};
  tk_status st;
  reset_memory(&r);
  char *report = ptx_run_text(c->ptx, 1, 1, r.x, sizeof r.x, &st);
  if (st == TK_INTERNAL || (st != TK_OK && !*report) ||
      (st != TK_OK && !case_says(c, "may_refuse")))
    complain(c, "status %d: %.2000s", st, report);
  if (st == TK_OK) check_memory(&r, "PTX");
  free(report);
}

static void try_case(const large_case *c) {
  struct timespec from, to;
  running = c->label;
  if (getenv("TRACE")) fprintf(stderr, "%s\n", c->label);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
  alarm(PATIENCE);
  if (c->ptx)
    run_ptx(c);
  else
    run_case(c);
  if (c->lines.n) debug_case(c);
  alarm(0);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
  running = NULL;
  if (getenv("TIMES"))
    printf("%.1f ms %s\n",
           1e3 * (double)(to.tv_sec - from.tv_sec) +
               1e-6 * (double)(to.tv_nsec - from.tv_nsec),
           c->label);
}

/* ---- time ---------------------------------------------------------------- */

/* The ways that a case goes, each timed on its own. */
static void run_under(const large_case *c, const char *detectors) {
  large_run r;
  begin_run(&r, c);
  if (detectors) tk_session_check(r.s, detectors, NULL);
  tk_launch *l = open_launch(&r);
  if (l) tk_launch_run(l, &exactly, NULL);
  if (l) tk_launch_free(l);
  end_run(&r);
}

static void way_run(const large_case *c) {
  run_under(c, NULL);
}

static void way_check(const large_case *c) {
  run_under(c, "all");
}

static void way_form(const large_case *c) {
  large_run r;
  begin_run(&r, c);
  tk_launch *l = open_launch(&r);
  const char *form = l ? tk_launch_ir(l) : NULL;
  if (form && !case_says(c, "fails")) run_form(&r, form);
  if (l) tk_launch_free(l);
  end_run(&r);
}

static void way_code(const large_case *c) {
  large_run r;
  begin_run(&r, c);
  tk_launch *l = open_launch(&r);
  if (l && tk_launch_compile(l) == TK_OK) emit_code(&r, l, "llir");
  if (l) tk_launch_free(l);
  end_run(&r);
}

typedef struct way {
  const char *name;
  void (*go)(const large_case *c);
} way;
static const way ways[] = {{"run", way_run},
                           {"check", way_check},
                           {"form", way_form},
                           {"code", way_code},
                           {"debug", debug_case}};

/* Seconds of the processor, the least of some. */
static double way_time(const way *w, const large_case *c) {
  struct timespec from, to;
  double least = 1e9;
  for (int i = 0; i < 3; i++) {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    alarm(PATIENCE);
    w->go(c);
    alarm(0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double s = (double)(to.tv_sec - from.tv_sec) +
               1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (s < least) least = s;
    if (s > 0.5) break;
  }
  return least;
}

static const way only_ptx = {"ptx", run_ptx};

static void compare_times(const way *w, const large_case *small,
                          const large_case *large) {
  running = large->label;
  double a = way_time(w, small), b = way_time(w, large);
  if (getenv("TIMES"))
    fprintf(stderr, "%6.1f %8.1f ms %s by %s\n", b / a, 1e3 * b, large->label,
            w->name);
  if (b > MATTERS && b > GROWTH * a)
    complain(large, "%s: %.0f ms, and %.0f ms for a quarter of it", w->name,
             1e3 * b, 1e3 * a);
}

/* Four times as much takes about four times as long; the square would take
 * sixteen times. */
START_TEST(time_grows_linearly) {
  large_case small, large;
  char command[200];
  const char *kind = getenv("KIND");
  snprintf(command, sizeof command,
           "python3 tests/support/large.py --scale --most %lu %s%s",
           (unsigned long)env_number("SCALE", LARGE_SCALE),
           kind ? "--kind " : "", kind ? kind : "");
  FILE *in = must_have(popen(command, "r"));
  wrong = 0;
  while (read_case(in, &small) && read_case(in, &large)) {
    if (small.ptx) compare_times(&only_ptx, &small, &large);
    for (size_t i = 0; !small.ptx && i < sizeof ways / sizeof *ways; i++)
      if (!getenv("WAY") || !strcmp(getenv("WAY"), ways[i].name))
        compare_times(&ways[i], &small, &large);
    case_free(&small);
    case_free(&large);
  }
  running = NULL;
  ck_assert_int_eq(pclose(in), 0);
  ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(large_inputs) {
  char command[200];
  unsigned long wanted = env_number("CASES", LARGE_CASES), done = 0;
  large_case c;
  snprintf(command, sizeof command,
           "python3 tests/support/large.py --stream --seed %lu --count %lu "
           "--most %lu",
           (unsigned long)env_number("SEED", 0), wanted,
           (unsigned long)env_number("MOST", LARGE_MOST));
  FILE *in = must_have(popen(command, "r"));
  for (; read_case(in, &c); done++) {
    try_case(&c);
    case_free(&c);
    if (done % 5000 == 4999)
      fprintf(stderr, "%lu cases, %u wrong\n", done + 1, wrong);
  }
  case_free(&c);
  ck_assert_int_eq(pclose(in), 0);
  ck_assert_uint_eq(done, wanted);
  ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("large inputs");
  TCase *t = tcase_create("large");
  say_who_dies();
  tcase_set_timeout(t, 0);
  if (!getenv("SCALE")) tcase_add_test(t, large_inputs);
  if (!getenv("CASES")) tcase_add_test(t, time_grows_linearly);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
