/* fuzz_kernel.c - any text as a Python file: each kernel in it is opened,
 * specialised for plausible arguments, printed and run, for a moment.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { RUN_MICROSECONDS = 20000 };

static tk_session *volatile fuzz_running;

static void stop_running(int sig) {
  (void)sig;
  if (fuzz_running) tk_interrupt(fuzz_running);
}

/* Runs a launch until a little processor time has gone by. */
static void run_briefly(tk_session *s, tk_launch *l) {
  struct itimerval limit = {.it_value = {0, RUN_MICROSECONDS},
                            .it_interval = {0, RUN_MICROSECONDS}};
  struct itimerval none = {{0, 0}, {0, 0}};
  struct sigaction sa = {.sa_handler = stop_running};
  tk_run_options options = {.size = sizeof options, .dot = "exact"};
  sigaction(SIGVTALRM, &sa, NULL);
  fuzz_running = s;
  setitimer(ITIMER_VIRTUAL, &limit, NULL);
  if (tk_launch_compile(l) == TK_OK && !tk_launch_ir(l)) abort();
  tk_launch_run(l, &options, NULL);
  setitimer(ITIMER_VIRTUAL, &none, NULL);
  fuzz_running = NULL;
}

/* Parameters that sound like sizes are numbers, the others tensors. */
static void give_argument(tk_launch *l, tk_function *f, size_t i) {
  const char *name = tk_function_param_name(f, i);
  tk_value number = {.kind = TK_V_INT, .lo = 16};
  char text[256];
  bool size = strlen(name) < 3 || strchr("nNMKs", name[0]);
  if (tk_function_param_has_default(f, i)) return;
  if (tk_function_param_is_constexpr(f, i) || size) {
    tk_launch_value(l, name, &number);
  } else if (strlen(name) < 200) {
    snprintf(text, sizeof text, "%s=%s[16,16]:ones", name,
             i % 2 ? "f16" : "f32");
    tk_launch_arg_text(l, text);
  }
}

static void try_kernel(tk_session *s, tk_module *m, const char *name) {
  tk_function *f;
  tk_launch *l;
  if (tk_function_named(m, name, &f) || tk_launch_new(s, f, &l)) return;
  for (size_t i = 0; i < tk_function_param_count(f); i++)
    give_argument(l, f, i);
  tk_launch_grid(l, 2, 1, 1);
  run_briefly(s, l);
  tk_launch_free(l);
}

static void no_output(void *ud, const char *text, size_t len) {
  (void)ud;
  (void)text;
  (void)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  tk_module *m;
  const char *name;
  tk_session_output(s, no_output, NULL);
  if (tk_module_open(s, "fuzz.py", (const char *)data, size, &m) == TK_OK)
    for (size_t i = 0; (name = tk_module_kernel_name(m, i)); i++)
      try_kernel(s, m, name);
  fuzz_end(s);
  return 0;
}
