/* test_blame_and_explain.c - blame and explain as structs.
 */
#include <string.h>

#include "support/assertions.h"
#include "support/suite.h"
#include "tkdbg/tkdbg.h"

static const char kernels[] =
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def twice(x, n, B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.load(x + at, mask=at < n, other=0.0)\n"
    "    tl.store(x + at, v + v, mask=at < n)\n"
    "@triton.jit\n"
    "def often(x, n, B: tl.constexpr):\n"
    "    s = 0.0\n"
    "    for k in range(n * 10):\n"
    "        s += tl.load(x + k % 8)\n"
    "        tl.store(x + 11, s)\n"
    "@triton.jit\n"
    "def past(x, n, B: tl.constexpr):\n"
    "    p = tl.program_id(0)\n"
    "    at = p * B + tl.arange(0, B)\n"
    "    v = tl.load(x + at + p, mask=at < n + p)\n";

typedef struct fixture {
  tk_session *s;
  tk_launch *l;
  float x[12];
  char out[4096];
} fixture;

static void hear(void *ud, const char *text, size_t len) {
  fixture *f = ud;
  strncat(f->out, text, len);
}

static void begin(fixture *f, const char *name) {
  tk_module *m;
  tk_function *fn;
  *f = (fixture){.s = tk_session_new()};
  for (int i = 0; i < 12; i++) f->x[i] = (float)i;
  tk_tensor t = {.data = f->x,
                 .dtype = TK_FP32,
                 .rank = 2,
                 .shape = {3, 4},
                 .strides = {4, 1}};
  tk_session_output(f->s, hear, f);
  tk_module_open(f->s, "k.py", kernels, sizeof kernels - 1, &m);
  ck_assert_int_eq(tk_function_named(m, name, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &f->l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(f->l, "x", &t), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, "n=10"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, "B=4"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(f->l, 3, 1, 1), TK_OK);
}

static void run(fixture *f, const char *blame, const char *explain) {
  tk_run_options o = {.size = sizeof o, .blame = blame, .explain = explain};
  f->out[0] = '\0';
  ck_assert_int_eq(tk_launch_run(f->l, &o, NULL), TK_OK);
}

static void end(fixture *f) {
  tk_session_free(f->s);
}

/* ---- blame -------------------------------------------------------------- */

START_TEST(who_wrote_an_element) {
  fixture f;
  begin(&f, "twice");
  run(&f, "x[1,1]\nx[2,3]", NULL);
  const tk_blame *b = tk_launch_blame(f.l, 0);
  ck_assert_str_eq(b->element.tensor, "x");
  ck_assert_int_eq(b->element.rank, 2);
  ck_assert(b->element.index[0] == 1 && b->element.index[1] == 1);
  ck_assert_str_eq(b->element.text, "x[1, 1]");
  ck_assert_str_eq(b->value.text, "10.0");
  float ten = 10;
  ck_assert_int_eq(memcmp(&b->value.bits, &ten, 4), 0);
  ck_assert_uint_eq(b->times, 1);
  ck_assert_uint_eq(b->nwrites, 1);
  const tk_write *w = &b->writes[0];
  ck_assert(w->program[0] == 1 && w->program[1] == 0 && w->program[2] == 0);
  ck_assert_int_eq(w->place.line, 6);
  ck_assert_str_eq(w->function, "twice");
  ck_assert(w->masked && !w->atomic && !w->in_loop && w->ops > 0);
  ck_assert_str_eq(w->value.text, "10.0");
  ck_assert_int_eq(b->first->place.line, 6);
  ck_assert(!b->before && !b->after);
  ck_assert_ptr_null(tk_launch_blame(f.l, 2));
  ck_assert_ptr_null(tk_launch_explanation(f.l, 0));
  end(&f);
}
END_TEST

START_TEST(the_nearest_writes_of_one_that_nobody_wrote) {
  fixture f;
  begin(&f, "twice");
  run(&f, "x[2,3]", NULL);
  const tk_blame *b = tk_launch_blame(f.l, 0);
  ck_assert_uint_eq(b->times, 0);
  ck_assert(!b->first && !b->after);
  ck_assert_str_eq(b->before->element.text, "x[2, 1]");
  ck_assert_int_eq(b->before->program[0], 2);
  ck_assert_str_eq(b->value.text, "11.0");
  end(&f);
}
END_TEST

START_TEST(many_writes) {
  fixture f;
  begin(&f, "often");
  run(&f, "x[2,3]", NULL);
  const tk_blame *b = tk_launch_blame(f.l, 0);
  ck_assert_uint_eq(b->times, 300);
  ck_assert_uint_eq(b->nwrites, TK_BLAME_WRITES);
  for (size_t i = 0; i < b->nwrites; i++) {
    ck_assert_int_eq(b->writes[i].program[0], 2);
    ck_assert_uint_eq(b->writes[i].trip, 99 - i);
    ck_assert(b->writes[i].in_loop && !b->writes[i].masked);
    if (i) ck_assert_uint_lt(b->writes[i].ops, b->writes[i - 1].ops);
  }
  ck_assert_int_eq(b->first->program[0], 0);
  ck_assert_uint_eq(b->first->trip, 0);
  ck_assert_ptr_nonnull(strstr(f.out, "written 300 times, last first\n"));
  ck_assert_ptr_nonnull(strstr(f.out, "  and 296 times before that"));
  end(&f);
}
END_TEST

/* ---- explain ------------------------------------------------------------ */

static const tk_step *step(const tk_explanation *x, tk_step_kind kind) {
  for (size_t i = 0; i < x->nsteps; i++)
    if (x->steps[i].kind == kind) return &x->steps[i];
  ck_abort_msg("no step of kind %d", (int)kind);
  return NULL;
}

static void check_tree(const tk_explanation *x) {
  size_t below = 0;
  for (size_t i = 0; i < x->nsteps; i++) {
    const tk_step *s = &x->steps[i];
    ck_assert_int_lt(s->parent, (int)i);
    ck_assert_int_lt(s->same, (int)i);
    below += s->noperands;
    for (size_t k = 0; k < s->noperands; k++)
      ck_assert_int_eq(x->steps[s->operands[k]].parent, (int)i);
    if (s->parent >= 0)
      ck_assert_int_eq(s->depth, x->steps[s->parent].depth + 1);
    else
      below++;
  }
  ck_assert_uint_eq(below, x->nsteps);
}

START_TEST(where_a_value_came_from) {
  fixture f;
  begin(&f, "twice");
  run(&f, NULL, "x[1,1]");
  const tk_explanation *x = tk_launch_explanation(f.l, 0);
  check_tree(x);
  ck_assert_uint_eq(x->blame.times, 1);
  ck_assert_int_eq(x->place.line, 6);
  ck_assert(!x->cut && !x->why);
  const tk_step *s = &x->steps[0];
  ck_assert_int_eq(s->kind, TK_STEP_VALUE);
  ck_assert_int_eq(s->role, TK_ROLE_OPERAND);
  ck_assert_str_eq(s->source, "v + v");
  ck_assert_ptr_null(s->name);
  ck_assert_str_eq(s->operation, "binary");
  ck_assert_str_eq(s->value.text, "10.0");
  ck_assert_str_eq(s->type, "fp32[4]");
  ck_assert(s->lane_rank == 1 && s->lane[0] == 1);
  ck_assert_uint_eq(s->noperands, 2);
  s = &x->steps[s->operands[0]];
  ck_assert_str_eq(s->name, "v");
  ck_assert_int_eq(s->memory, TK_MEMORY_READ_MASKED);
  ck_assert_str_eq(s->element.text, "x[1, 1]");
  ck_assert_int_eq(s->place.line, 5);
  ck_assert_str_eq(s->function, "twice");
  ck_assert(s->in_kernel && !s->library);
  const tk_step *again = step(x, TK_STEP_AGAIN);
  ck_assert_str_eq(x->steps[again->same].name, again->name);
  ck_assert_str_eq(x->steps[again->same].value.text, again->value.text);
  const tk_step *n = step(x, TK_STEP_ARGUMENT);
  ck_assert_str_eq(n->name, "n");
  const tk_step *mask = &x->steps[n->parent];
  ck_assert_int_eq(mask->role, TK_ROLE_MASK);
  ck_assert_str_eq(mask->sign, "<");
  ck_assert_str_eq(mask->sides[0].text, "5");
  ck_assert_str_eq(mask->sides[1].text, "10");
  end(&f);
}
END_TEST

START_TEST(loops_are_one_step) {
  fixture f;
  begin(&f, "often");
  run(&f, NULL, "x[2,3]");
  const tk_explanation *x = tk_launch_explanation(f.l, 0);
  check_tree(x);
  const tk_step *s = step(x, TK_STEP_LOOP);
  ck_assert_str_eq(s->name, "s");
  ck_assert_uint_eq(s->times, 100);
  ck_assert_uint_eq(s->trip, 0);
  ck_assert_uint_eq(s->last_trip, 99);
  ck_assert_int_eq(s->loop.line, 10);
  const tk_step *t = step(x, TK_STEP_TRIPS);
  ck_assert(t->from_start);
  ck_assert_uint_eq(t->nvalues, 5);
  ck_assert_uint_eq(t->skipped, 96);
  ck_assert_str_eq(t->values[0].text, "0.0");
  ck_assert_str_eq(t->values[4].text, s->value.text);
  const tk_step *r = step(x, TK_STEP_READS);
  ck_assert(r->is_box && r->has_element);
  ck_assert_uint_eq(r->count, 8);
  ck_assert(r->element.index[0] == 0 && r->last[0] == 1 && r->last[1] == 3);
  end(&f);
}
END_TEST

static tk_launch *stopped(fixture *f, int64_t n, int64_t x) {
  begin(f, "past");
  tk_launch_grid(f->l, n, 1, 1);
  const int64_t pid[3] = {x, 0, 0};
  tk_run_options o = {.size = sizeof o, .explain_stop = pid};
  tk_launch_run(f->l, &o, NULL);
  return f->l;
}

START_TEST(where_a_bad_address_came_from) {
  fixture f;
  const tk_explanation *x = tk_launch_explanation(stopped(&f, 3, 2), 0);
  ck_assert_uint_eq(tk_report_count(f.s), 1);
  check_tree(x);
  ck_assert_uint_eq(x->blame.nwrites, 0);
  ck_assert(x->steps[0].lane_rank == 1 && x->steps[0].lane[0] == 2);
  bool sum = false;
  for (size_t i = 0; i < x->nsteps; i++)
    sum |= x->steps[i].name && !strcmp(x->steps[i].name, "at") &&
           !strcmp(x->steps[i].value.text, "10");
  ck_assert(sum);
  const char *lines = tk_launch_source_lines(f.l, x, 9);
  ck_assert_ptr_nonnull(strstr(lines, "p = tl.program_id(0)"));
  end(&f);
}
END_TEST

START_TEST(no_bad_address) {
  fixture f;
  ck_assert_ptr_null(tk_launch_explanation(stopped(&f, 2, 1), 0));
  ck_assert_uint_eq(tk_report_count(f.s), 0); /* it does not stop */
  end(&f);
  ck_assert_ptr_null(tk_launch_explanation(stopped(&f, 3, 0), 0));
  ck_assert_uint_eq(tk_report_count(f.s), 1); /* another program does */
  end(&f);
  ck_assert_ptr_null(tk_launch_explanation(stopped(&f, 3, -7), 0));
  end(&f);
}
END_TEST

START_TEST(answers_without_text) {
  fixture f;
  begin(&f, "twice");
  tk_run_options o = {.size = sizeof o,
                      .blame = "x[0,1]",
                      .explain = "x[0,2]",
                      .silent_answers = true};
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  ck_assert_str_eq(f.out, "");
  ck_assert_str_eq(tk_launch_blame(f.l, 0)->value.text, "2.0");
  ck_assert_uint_gt(tk_launch_explanation(f.l, 0)->nsteps, 3);
  run(&f, NULL, NULL); /* asks nothing */
  ck_assert_ptr_null(tk_launch_blame(f.l, 0));
  ck_assert_ptr_null(tk_launch_explanation(f.l, 0));
  end(&f);
}
END_TEST

/* ---- accesses ----------------------------------------------------------- */

START_TEST(what_a_line_touches) {
  fixture f;
  begin(&f, "twice");
  tk_run_options o = {.size = sizeof o, .access_line = 6};
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  const tk_access_picture *p = tk_launch_access(f.l, 0);
  ck_assert_ptr_null(tk_launch_access(f.l, 1));
  ck_assert_str_eq(p->verb, "store");
  ck_assert_str_eq(p->tensor, "x");
  ck_assert_int_eq(p->place.line, 6);
  ck_assert(p->whole_grid && p->counted && !p->exact);
  ck_assert_uint_eq(p->programs, 3);
  ck_assert_uint_eq(p->traffic.times, 3);
  ck_assert_uint_eq(p->traffic.lanes, 12);
  ck_assert_uint_eq(p->traffic.active, 10);
  ck_assert_uint_eq(p->traffic.wanted, 40);
  ck_assert_uint_eq(p->elements, 10);
  ck_assert_int_eq(p->total, 12);
  ck_assert_int_eq(p->rank, 2);
  for (int i = 0; i < 2; i++) {
    ck_assert_uint_eq(p->nranges[i], 1);
    ck_assert_int_eq(p->ranges[i][0].first, 0);
    ck_assert_int_eq(p->ranges[i][0].step, 1);
    ck_assert_int_eq(p->ranges[i][0].last, 2 + i);
  }
  ck_assert_uint_eq(p->shared, 0);
  run(&f, NULL, NULL);
  ck_assert_ptr_null(tk_launch_access(f.l, 0));
  end(&f);
}
END_TEST

START_TEST(elements_of_several_programs) {
  fixture f;
  begin(&f, "often");
  tk_run_options o = {.size = sizeof o, .access_line = 12};
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  const tk_access_picture *p = tk_launch_access(f.l, 0);
  ck_assert(p->exact && p->has_most);
  ck_assert_uint_eq(p->shared, 1);
  ck_assert_uint_eq(p->sharers, 3);
  ck_assert(p->most[0] == 2 && p->most[1] == 3);
  ck_assert_int_eq(p->sharer_first[0], 0);
  ck_assert_int_eq(p->sharer_last[0], 2);
  o.access_line = 1000;
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  ck_assert_ptr_null(tk_launch_access(f.l, 0));
  end(&f);
}
END_TEST

START_TEST(every_access) {
  fixture f;
  begin(&f, "twice");
  tk_run_options o = {.size = sizeof o, .log_accesses = true};
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  const tk_access_log *g = tk_launch_access_log(f.l);
  uint64_t lanes = 0, active = 0, line_6 = 0;
  for (size_t i = 0; i < g->naccesses; i++) {
    const tk_logged_access *a = &g->accesses[i];
    const tk_access_site *s = &g->sites[a->site];
    if (!s->writes) continue;
    ck_assert_str_eq(s->verb, "store");
    ck_assert_str_eq(s->tensor, "x");
    ck_assert(a->first + a->active <= g->nelements);
    for (size_t k = 0; k < a->active; k++)
      ck_assert(g->elements[a->first + k] >= 0 &&
                g->elements[a->first + k] < 12);
    if (s->place.line != 6) continue;
    ck_assert_int_eq(a->program[0], (int64_t)line_6++);
    lanes += a->lanes;
    active += a->active;
  }
  ck_assert_uint_eq(line_6, 3);
  ck_assert_uint_eq(lanes, 12);
  ck_assert_uint_eq(active, 10);
  ck_assert(!g->cut);
  run(&f, NULL, NULL);
  ck_assert_ptr_null(tk_launch_access_log(f.l));
  end(&f);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("answers");
  TCase *c = tcase_create("answers");
  tcase_add_test(c, who_wrote_an_element);
  tcase_add_test(c, the_nearest_writes_of_one_that_nobody_wrote);
  tcase_add_test(c, many_writes);
  tcase_add_test(c, where_a_value_came_from);
  tcase_add_test(c, loops_are_one_step);
  tcase_add_test(c, where_a_bad_address_came_from);
  tcase_add_test(c, no_bad_address);
  tcase_add_test(c, answers_without_text);
  tcase_add_test(c, what_a_line_touches);
  tcase_add_test(c, elements_of_several_programs);
  tcase_add_test(c, every_access);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
