/* test_mutated_forms.c - what the verifier accepts can be run.
 *
 * The typed forms of the language's tests, changed at random: each mutant is
 * refused with a report, or it prints, is read again and runs (form_trial.h).
 *
 *   test_mutated_forms                  some thousands of mutants
 *   test_mutated_forms COUNT [FIRST]    so many, from number FIRST on
 *
 * A mutant that crashes leaves its text in mutant.tk, in the folder that TMPDIR
 * names.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/mutate_form.h"
#include "support/cases.h"
#include "support/form_trial.h"
#include "support/suite.h"

enum { MUTANTS = 6000, PATIENCE = 300 };

/* A form, and the case that it is of. */
typedef struct form_seed {
  char *text;
  const test_case *of;
} form_seed;

static form_seed *seeds;
static size_t nseeds;

/* What becomes of mutants, by form_end. */
static uint64_t ends[FORM_RAN + 1];

/* ---- seeds -------------------------------------------------------------- */

static void add_seed(const test_case *c) {
  tk_session *s = tk_session_new();
  tk_launch *l;
  const char *form = NULL;
  if (case_launch(s, c, &l) == TK_OK &&
      case_arguments(l, c, NULL, NULL) == TK_OK)
    form = tk_launch_ir(l);
  if (form) seeds[nseeds++] = (form_seed){strdup(form), c};
  tk_session_free(s);
}

/* ---- what crashes -------------------------------------------------------- */

static const char *volatile trial_text;
static volatile uint64_t trial_number;
static char crash_path[500];

static void keep_text(int sig) {
  const char *text = trial_text;
  char said[600];
  int fd = text ? open(crash_path, O_CREAT | O_TRUNC | O_WRONLY, 0666) : -1;
  if (fd >= 0 && write(fd, text, strlen(text)) > 0) {
    int n = snprintf(said, sizeof said, "mutant %llu, kept in %s: signal %d\n",
                     (unsigned long long)trial_number, crash_path, sig);
    if (write(2, said, (size_t)n) < n) _exit(3);
  }
  signal(sig, SIG_DFL);
  raise(sig);
}

static void keep_what_crashes(void) {
  static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS,
                                SIGFPE,  SIGILL,  SIGALRM};
  const char *tmp = getenv("TMPDIR");
  snprintf(crash_path, sizeof crash_path, "%s/mutant.tk", tmp ? tmp : "/tmp");
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], keep_text);
}

/* Sanitizers end by a signal, too. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) {
  return "abort_on_error=1:handle_segv=0:handle_abort=0:handle_sigfpe=0:"
         "allocator_may_return_null=1";
}
const char *__ubsan_default_options(void) {
  return "abort_on_error=1:print_stacktrace=1";
}

/* ---- mutants ------------------------------------------------------------- */

static void try_mutant(uint64_t number) {
  const form_seed *seed = &seeds[number * 0x9E3779B97F4A7C15u % nseeds];
  char *text = mutated_form(seed->text, number);
  trial_number = number;
  trial_text = text;
  alarm(PATIENCE);
  form_end end =
      form_trial(text, strlen(text), (uint32_t)(number >> 3), seed->of);
  alarm(0);
  ends[end]++;
  trial_text = NULL;
  free(text);
}

START_TEST(accepted_mutants_run) {
  for (uint64_t i = 0; i < MUTANTS; i++) try_mutant(i);
  ck_assert_uint_gt(ends[FORM_REFUSED], MUTANTS / 4);
  ck_assert_uint_gt(ends[FORM_RAN], MUTANTS / 20);
}
END_TEST

START_TEST(seeds_run) {
  for (size_t i = 0; i < nseeds; i++)
    ck_assert_int_eq(form_trial(seeds[i].text, strlen(seeds[i].text),
                                (uint32_t)i, seeds[i].of),
                     FORM_RAN);
}
END_TEST

/* Asked for by hand. */
static uint64_t wanted, first_wanted;

START_TEST(wanted_mutants_run) {
  for (uint64_t i = 0; i < wanted; i++) try_mutant(first_wanted + i);
  printf("%llu mutants: %llu refused, %llu without a launch, %llu ran\n",
         (unsigned long long)wanted, (unsigned long long)ends[FORM_REFUSED],
         (unsigned long long)ends[FORM_UNFIT],
         (unsigned long long)ends[FORM_RAN]);
}
END_TEST

static case_file **files;
static const test_case **cases;
static int nfiles;

static void make_seeds(void) {
  int ncases;
  nfiles = case_files_read("tests/language/", NULL, &files, &cases, &ncases);
  seeds = calloc((size_t)ncases + 1, sizeof *seeds);
  for (int i = 0; seeds && i < ncases; i++) add_seed(cases[i]);
}

static void free_seeds(void) {
  for (size_t i = 0; i < nseeds; i++) free(seeds[i].text);
  free(seeds);
  case_files_free(files, nfiles, cases);
}

int main(int argc, char **argv) {
  Suite *s = suite_create("mutated forms");
  TCase *c = tcase_create("mutants");
  if (argc > 1) wanted = strtoull(argv[1], NULL, 10);
  if (argc > 2) first_wanted = strtoull(argv[2], NULL, 10);
  keep_what_crashes();
  tcase_set_timeout(c, 0);
  tcase_add_unchecked_fixture(c, make_seeds, free_seeds);
  if (argc > 1) {
    tcase_add_test(c, wanted_mutants_run);
  } else {
    tcase_add_test(c, seeds_run);
    tcase_add_test(c, accepted_mutants_run);
  }
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
