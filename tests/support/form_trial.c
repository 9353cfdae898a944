/* form_trial.c - opens, prints, reads again and runs a typed form. */
#include "support/form_trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tkdbg/prove.h"
#include "typing/origin.h"

/* ---- memory and time ----------------------------------------------------- */

enum { MOST_BYTES = 1 << 22, RUN_MICROSECONDS = 10000 };

/* Large blocks end in an error; what a session leaves behind is counted. */
static void *trial_alloc(void *ud, void *p, size_t old, size_t size) {
  size_t *held = ud;
  if (size > MOST_BYTES) return NULL;
  *held += size - old;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

static tk_session *volatile trial_running;

static void stop_running(int sig) {
  (void)sig;
  if (trial_running) tk_interrupt(trial_running);
}

static void run_briefly(tk_session *s, tk_launch *l,
                        const tk_run_options *options) {
  struct itimerval limit = {.it_value = {0, RUN_MICROSECONDS},
                            .it_interval = {0, RUN_MICROSECONDS}};
  struct itimerval none = {{0, 0}, {0, 0}};
  struct sigaction sa = {.sa_handler = stop_running, .sa_flags = SA_RESTART};
  sigaction(SIGVTALRM, &sa, NULL);
  trial_running = s;
  setitimer(ITIMER_VIRTUAL, &limit, NULL);
  tk_launch_run(l, options, NULL);
  setitimer(ITIMER_VIRTUAL, &none, NULL);
  trial_running = NULL;
}

/* ---- print, read, print ------------------------------------------------- */

typedef struct printing {
  const tk_program *p;
  tk_buf out;
} printing;

static void print_form(tk_env *e, void *ud) {
  printing *x = ud;
  (void)e;
  tk_program_print(&x->out, x->p);
}

/* False: there is no memory for the text. */
static bool form_text(tk_session *s, tk_function *f, tk_buf *out) {
  const tk_unit *u = f->units;
  printing x = {.p = &u->program};
  tk_buf_init(&x.out, &s->env);
  bool printed = tk_session_guard(s, print_form, &x) == TK_OK;
  *out = x.out;
  return printed;
}

static void read_again(tk_session *s, tk_function *f) {
  tk_buf first, second;
  tk_function *again;
  if (form_text(s, f, &first)) {
    const char *text = tk_buf_str(&first);
    tk_status st = tk_ir_open(s, "again.tk", text, strlen(text), &again);
    if (st == TK_USAGE) abort();
    if (st == TK_OK) {
      if (form_text(s, again, &second) && strcmp(text, tk_buf_str(&second)))
        abort();
      tk_buf_free(&second);
    }
  }
  tk_buf_free(&first);
}

/* ---- launches ----------------------------------------------------------- */

/* An argument of the type that the form takes. */
static tk_status give_argument(tk_launch *l, const tk_program *p,
                               const tk_param *x) {
  const char *name = p->args[x->arg].name;
  char text[300];
  if (x->type.ptr) {
    snprintf(text, sizeof text, "%.200s=%s[256]:%s", name,
             tk_dtype_name((tk_dtype)x->type.elem),
             x->type.elem == TK_INT1 ? "ones" : "arange");
    return tk_launch_arg_text(l, text);
  }
  tk_value number = {.kind = TK_V_INT, .lo = 7};
  if (tk_is_float((tk_dtype)x->type.elem))
    number = (tk_value){.kind = TK_V_FLOAT, .f = 1.5};
  else if (x->type.elem == TK_INT1)
    number = (tk_value){.kind = TK_V_BOOL, .lo = 1};
  return tk_launch_value(l, name, &number);
}

static tk_status give_arguments(tk_launch *l, const tk_program *p) {
  tk_status st = tk_launch_grid(l, 2, 1, 1);
  for (size_t i = 0; st == TK_OK && i < p->nparams; i++)
    st = give_argument(l, p, &p->params[i]);
  return st;
}

/* A launch that can be run; NULL: there is none. */
static tk_launch *launch_of(tk_session *s, tk_function *f,
                            const test_case *like) {
  const tk_unit *u = f->units;
  tk_launch *l;
  for (int own = !like; own < 2; own++) {
    if (tk_launch_new(s, f, &l) != TK_OK) return NULL;
    tk_status st = own ? give_arguments(l, &u->program)
                       : case_arguments(l, like, NULL, NULL);
    if (st == TK_OK && tk_launch_compile(l) == TK_OK) return l;
    tk_launch_free(l);
    tk_report_clear(s);
  }
  return NULL;
}

static void no_output(void *ud, const char *text, size_t n) {
  (void)ud;
  (void)text;
  (void)n;
}

/* One run in two is plain, on the stack of the run; the others have fibers,
 * or detectors. */
static void run_form(tk_session *s, tk_launch *l, uint32_t how) {
  static const char *const schedules[] = {"yield", "serial", "auto", "auto"};
  tk_run_options options = {.size = sizeof options, .dot = "exact"};
  tk_session_output(s, no_output, NULL);
  if (how % 2) options.schedule = schedules[how / 2 % 4];
  if (how % 4 == 3) tk_session_check(s, "all", NULL);
  run_briefly(s, l, &options);
}

/* Of so many forms: a proof takes longer than a run. */
enum { PROVED_TOO = 5 };

/* What is proved of a form is told as text and as JSON. */
static void prove_form_too(tk_launch *l) {
  tk_prove_options o = {.size = sizeof o};
  const tk_proof *p;
  if (tk_launch_prove(l, &o, &p) != TK_OK) return;
  tk_proof_text(l, p);
  tk_proof_json(l, p);
}

form_end form_trial(const char *text, size_t n, uint32_t how,
                    const test_case *like) {
  size_t held = 0;
  form_end end = FORM_REFUSED;
  tk_function *f;
  tk_session *s = tk_session_new_with(trial_alloc, &held);
  if (!s) abort();
  if (tk_ir_open(s, "form.tk", text, n, &f) == TK_OK) {
    if (tk_report_count(s)) abort();
    read_again(s, f);
    tk_launch *l = launch_of(s, f, like);
    end = l ? FORM_RAN : FORM_UNFIT;
    if (l && how % 16 == PROVED_TOO) prove_form_too(l);
    if (l) run_form(s, l, how);
  } else if (!tk_report_count(s)) {
    abort();
  }
  const char *report = tk_report(s, false);
  if (tk_report_count(s) && (!report || !*report)) abort();
  tk_session_free(s);
  if (held) abort();
  return end;
}
