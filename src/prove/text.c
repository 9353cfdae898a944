/* text.c - a proof as text, as JSON, and as test cases. */
#include "launch/session.h"
#include "tkdbg/prove.h"

#include <inttypes.h>
#include <string.h>

static const char *const verdicts[] = {
    [TK_PROVED] = "proved",
    [TK_REFUTED] = "counterexample",
    [TK_ON_DATA] = "depends on data",
    [TK_UNDECIDED] = "undecided",
};

static const struct {
  const char *name, *text;
} sources[] = {
    [TK_GIVEN_TOLD] = {"script", "as the script computes or checks"},
    [TK_GIVEN_LAUNCH] = {"launch", "as in this launch"},
    [TK_GIVEN_ASSUMED] = {"assumed", "as --assume says"},
    [TK_GIVEN_ALWAYS] = {"always", "as memory is limited"},
    [TK_GIVEN_FORM] = {"form", "as in all launches of this form"},
};

typedef struct text_job {
  tk_launch *launch;
  const tk_proof *proof;
  int *number; /* of each relation that is needed, from 1; 0: it is not */
  const tk_proof_item *item; /* that is written */
  const char *path;          /* of a file that is written */
} text_job;

/* ---- relations ----------------------------------------------------------- */

static void number_relations(text_job *j) {
  const tk_proof *p = j->proof;
  int next = 1;
  for (size_t k = 0; k < TK_COUNT(sources); k++)
    for (size_t r = 0; r < p->nrelations; r++) {
      bool used = false;
      for (size_t i = 0; i < p->nitems; i++)
        used |= p->items[i].verdict == TK_PROVED && p->items[i].assumed[r];
      if (used && p->given[r] == (tk_given)k) j->number[r] = next++;
    }
}

static void put_needs(tk_buf *out, const text_job *j, const tk_proof_item *x) {
  const char *before = " (given ";
  for (size_t k = 0; k < TK_COUNT(sources); k++)
    for (size_t r = 0; r < j->proof->nrelations; r++) {
      if (!x->assumed[r] || j->proof->given[r] != (tk_given)k) continue;
      tk_buf_printf(out, "%s%d", before, j->number[r]);
      before = ", ";
    }
  if (*before == ',') tk_buf_putc(out, ')');
}

/* Those of one source, under a line of its own. */
static void put_given(tk_buf *out, const text_job *j, tk_given from) {
  bool any = false;
  for (size_t r = 0; r < j->proof->nrelations; r++) {
    if (!j->number[r] || j->proof->given[r] != from) continue;
    if (!any) tk_buf_printf(out, "given, %s:\n", sources[from].text);
    any = true;
    tk_buf_printf(out, "  %d. %s\n", j->number[r], j->proof->relations[r]);
  }
}

static void put_relations(tk_buf *out, const text_job *j) {
  for (size_t i = 0; i < TK_COUNT(sources); i++) put_given(out, j, (tk_given)i);
  for (size_t i = 0; i < j->proof->nnotes; i++)
    tk_buf_printf(out, "note: %s\n", j->proof->notes[i]);
}

/* ---- items --------------------------------------------------------------- */

static void put_item_place(tk_buf *out, const tk_proof_item *x) {
  if (x->place.file)
    tk_buf_printf(out, "%s:%d: ", x->place.file, x->place.line);
}

/* The launch in the debugger, where it is about to happen. */
static void put_opened(tk_buf *out, const char *file, const tk_proof_item *x) {
  tk_buf_puts(out, "    open: tkdbg debug --check ");
  if (x->place.file) tk_buf_printf(out, "-b %d ", x->place.line);
  tk_buf_printf(out, "%s %s\n", file, x->command);
}

/* How a counterexample is seen, as a report too. */
static void put_shown(tk_buf *out, const char *file, const tk_proof_item *x) {
  tk_buf_printf(out, "    run: %s\n", x->finding);
  if (x->fails && !x->holds)
    tk_buf_puts(out, "    fails for all sizes\n");
  else if (x->fails)
    tk_buf_printf(out, "    fails where: %s, and nowhere else\n", x->fails);
  else if (x->holds)
    tk_buf_printf(out, "    right where: %s\n", x->holds);
  tk_buf_printf(out, "    see: tkdbg run --check %s %s\n", file, x->command);
}

static void put_item(tk_buf *out, const text_job *j, const tk_proof_item *x) {
  put_item_place(out, x);
  tk_buf_printf(out, "%s: %s: %s", x->subject, tk_duty_name(x->duty),
                verdicts[x->verdict]);
  if (x->verdict == TK_PROVED) put_needs(out, j, x);
  if (x->reason) tk_buf_printf(out, ": %s", x->reason);
  tk_buf_putc(out, '\n');
  const char *file = j->launch->fn->module->file->src->name;
  if (x->verdict == TK_REFUTED) put_shown(out, file, x);
  if (x->command) put_opened(out, file, x);
}

static void put_counts(tk_buf *out, const tk_proof *p) {
  const char *before = "";
  tk_buf_printf(out, "%s", p->kernel);
  if (p->form) tk_buf_printf(out, ", where %s", p->form);
  tk_buf_puts(out, ": ");
  for (int i = 0; i <= TK_UNDECIDED; i++) {
    if (!p->count[i]) continue;
    tk_buf_printf(out, "%s%zu %s", before, p->count[i], verdicts[i]);
    before = ", ";
  }
  if (p->absent)
    tk_buf_printf(out, "no such form: %s", p->absent);
  else if (!p->nitems)
    tk_buf_puts(out, "nothing to prove");
  if (*p->fixed) tk_buf_printf(out, "; for %s", p->fixed);
  tk_buf_putc(out, '\n');
}

static void put_proof(tk_buf *out, text_job *j) {
  j->number = TK_NEWN(&j->launch->arena, int, j->proof->nrelations + 1);
  number_relations(j);
  for (size_t i = 0; i < j->proof->nitems; i++)
    put_item(out, j, &j->proof->items[i]);
  put_relations(out, j);
  put_counts(out, j->proof);
}

/* Writes each form. */
static void put_forms(text_job *j, void (*put)(tk_buf *out, text_job *j)) {
  tk_buf_clear(&j->launch->text);
  for (; j->proof; j->proof = j->proof->next) put(&j->launch->text, j);
}

static void write_proof(tk_env *e, void *ud) {
  (void)e;
  put_forms(ud, put_proof);
}

static const char *proof_text(tk_launch *l, const tk_proof *p,
                              void (*write)(tk_env *e, void *ud)) {
  text_job j = {.launch = l, .proof = p};
  tk_status st = tk_session_guard(l->session, write, &j);
  return st == TK_OK ? tk_buf_str(&l->text) : NULL;
}

const char *tk_proof_text(tk_launch *l, const tk_proof *p) {
  return proof_text(l, p, write_proof);
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_string(tk_buf *out, const char *key, const char *value) {
  if (!value) return;
  tk_buf_printf(out, ", \"%s\": ", key);
  tk_json_string(out, value, strlen(value));
}

/* Texts in brackets; chosen: which of them, NULL: all. */
static void json_list(tk_buf *out, const char *const *texts, size_t n,
                      const bool *chosen) {
  const char *before = "";
  tk_buf_putc(out, '[');
  for (size_t i = 0; i < n; i++) {
    if (chosen && !chosen[i]) continue;
    tk_buf_puts(out, before);
    tk_json_string(out, texts[i], strlen(texts[i]));
    before = ", ";
  }
  tk_buf_putc(out, ']');
}

static void json_item(tk_buf *out, const tk_proof *p, const tk_proof_item *x) {
  tk_buf_puts(out, "{\"duty\": ");
  tk_json_string(out, tk_duty_name(x->duty), strlen(tk_duty_name(x->duty)));
  put_string(out, "verdict", verdicts[x->verdict]);
  put_string(out, "subject", x->subject);
  put_string(out, "file", x->place.file);
  if (x->place.file) tk_buf_printf(out, ", \"line\": %d", x->place.line);
  put_string(out, "reason", x->reason);
  put_string(out, "finding", x->finding);
  put_string(out, "command", x->command);
  put_string(out, "holds", x->holds);
  put_string(out, "fails", x->fails);
  tk_buf_puts(out, ", \"given\": ");
  json_list(out, p->relations, x->assumed ? p->nrelations : 0, x->assumed);
  tk_buf_putc(out, '}');
}

/* Each relation that some proof needs, and who says it. */
static void json_relations(tk_buf *out, const text_job *j) {
  const char *before = "";
  tk_buf_putc(out, '[');
  for (size_t r = 0; r < j->proof->nrelations; r++) {
    const char *text = j->proof->relations[r];
    if (!j->number[r]) continue;
    tk_buf_printf(out, "%s{\"relation\": ", before);
    tk_json_string(out, text, strlen(text));
    put_string(out, "from", sources[j->proof->given[r]].name);
    tk_buf_putc(out, '}');
    before = ", ";
  }
  tk_buf_putc(out, ']');
}

static void json_proof(tk_buf *out, text_job *j) {
  const tk_proof *p = j->proof;
  j->number = TK_NEWN(&j->launch->arena, int, p->nrelations + 1);
  number_relations(j);
  tk_buf_puts(out, "{\"kernel\": ");
  tk_json_string(out, p->kernel, strlen(p->kernel));
  put_string(out, "for", p->fixed);
  put_string(out, "form", p->form);
  put_string(out, "absent", p->absent);
  tk_buf_puts(out, ", \"items\": [");
  for (size_t i = 0; i < p->nitems; i++) {
    if (i) tk_buf_puts(out, ", ");
    json_item(out, p, &p->items[i]);
  }
  tk_buf_puts(out, "], \"notes\": ");
  json_list(out, p->notes, p->nnotes, NULL);
  tk_buf_puts(out, ", \"relations\": ");
  json_relations(out, j);
  tk_buf_puts(out, "}\n");
}

static void write_json(tk_env *e, void *ud) {
  (void)e;
  put_forms(ud, json_proof);
}

const char *tk_proof_json(tk_launch *l, const tk_proof *p) {
  return proof_text(l, p, write_json);
}

/* ---- test cases ---------------------------------------------------------- */

static void put_markup(tk_buf *out, const char *s) {
  tk_markup_text(out, s, strlen(s));
}

static void put_details(tk_buf *out, void *ud) {
  const text_job *j = ud;
  put_item(out, j, j->item);
}

/* What a test case has in it, if it did not pass. */
static void put_outcome(tk_buf *out, text_job *j) {
  const tk_proof_item *x = j->item;
  if (x->verdict == TK_REFUTED) {
    tk_buf_puts(out, "<failure type=\"counterexample\" message=\"");
    put_markup(out, x->finding);
    tk_buf_puts(out, "\">");
    put_markup(out, tk_arena_text(&j->launch->arena, put_details, j, NULL));
    tk_buf_puts(out, "</failure>");
    return;
  }
  tk_buf_printf(out, "<skipped message=\"%s", verdicts[x->verdict]);
  if (x->reason) tk_buf_puts(out, ": ");
  if (x->reason) put_markup(out, x->reason);
  tk_buf_puts(out, "\"/>");
}

static void put_name(tk_buf *out, void *ud) {
  const tk_proof_item *x = ((const text_job *)ud)->item;
  put_item_place(out, x);
  tk_buf_printf(out, "%s: %s", x->subject, tk_duty_name(x->duty));
}

/* As pytest's own files have it, and the column. */
static void put_case_place(tk_buf *out, const tk_place *at) {
  if (!at->file) return;
  tk_buf_puts(out, " file=\"");
  put_markup(out, at->file);
  tk_buf_printf(out, "\" line=\"%d\" column=\"%d\"", at->line, at->column);
}

static void put_case(tk_buf *out, text_job *j) {
  tk_buf_puts(out, "    <testcase classname=\"");
  put_markup(out, j->proof->kernel);
  tk_buf_puts(out, "\" name=\"");
  put_markup(out, tk_arena_text(&j->launch->arena, put_name, j, NULL));
  tk_buf_puts(out, "\"");
  put_case_place(out, &j->item->place);
  if (j->item->verdict == TK_PROVED) {
    tk_buf_puts(out, "/>\n");
    return;
  }
  tk_buf_puts(out, ">");
  put_outcome(out, j);
  tk_buf_puts(out, "</testcase>\n");
}

static void put_suite(tk_buf *out, void *ud) {
  text_job *j = ud;
  const tk_proof *p = j->proof;
  tk_buf_puts(out, "  <testsuite name=\"");
  put_markup(out, p->kernel);
  if (*p->fixed) tk_buf_puts(out, " for ");
  put_markup(out, p->fixed);
  if (p->form) tk_buf_puts(out, ", where ");
  if (p->form) put_markup(out, p->form);
  tk_buf_printf(out,
                "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
                "skipped=\"%zu\">\n",
                p->nitems, p->count[TK_REFUTED],
                p->count[TK_ON_DATA] + p->count[TK_UNDECIDED]);
  for (size_t i = 0; i < p->nitems; i++) {
    j->item = &p->items[i];
    put_case(out, j);
  }
  tk_buf_puts(out, "  </testsuite>\n");
}

static void write_junit(tk_env *e, void *ud) {
  text_job *j = ud;
  tk_buf *out = &j->launch->text, *suites = &j->launch->session->suites;
  for (; j->proof; j->proof = j->proof->next) {
    const char *suite = tk_arena_text(&j->launch->arena, put_suite, j, NULL);
    if (!strstr(tk_buf_str(suites), suite)) tk_buf_puts(suites, suite);
  }
  tk_buf_clear(out);
  tk_buf_printf(out,
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                "<testsuites>\n%s</testsuites>\n",
                tk_buf_str(suites));
  tk_save_text(e, j->path, out);
}

tk_status tk_proof_junit(tk_launch *l, const tk_proof *p, const char *path) {
  return tk_session_guard(l->session, write_junit,
                          &(text_job){.launch = l, .proof = p, .path = path});
}
