/* fuzz_ir.c - any text as the typed form of a kernel.  What is accepted is
 * printed, and the text must be read again and print as the same text.
 */
#include "fuzz.h"

#include "spec/origin.h"

typedef struct form_text {
  tk_function *kernel;
  tk_buf out;
} form_text;

static void print_form(tk_env *e, void *ud) {
  form_text *t = ud;
  const tk_unit *u = t->kernel->units;
  (void)e;
  tk_program_print(&t->out, &u->program);
}

/* False: there is no memory for the text. */
static bool form_again(tk_session *s, form_text *t) {
  tk_buf_init(&t->out, &s->env);
  return tk_session_guard(s, print_form, t) == TK_OK;
}

static void read_twice(tk_session *s, tk_function *kernel) {
  form_text first = {.kernel = kernel}, second = {.kernel = NULL};
  if (form_again(s, &first)) {
    const char *text = tk_buf_str(&first.out);
    tk_status st =
        tk_ir_open(s, "again.tk", text, strlen(text), &second.kernel);
    if (st == TK_OK && form_again(s, &second)) {
      if (strcmp(text, tk_buf_str(&second.out)) != 0) abort();
      tk_buf_free(&second.out);
    } else if (st == TK_USAGE) {
      abort();
    }
  }
  tk_buf_free(&first.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  tk_function *kernel;
  if (tk_ir_open(s, "fuzz.tk", (const char *)data, size, &kernel) == TK_OK)
    read_twice(s, kernel);
  else if (!tk_report_count(s))
    abort();
  fuzz_end(s);
  return 0;
}
