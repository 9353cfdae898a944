/* test_view.c - the data of a page are what happened: costs, values at each
 * step, accesses, who touched which element; and nothing runs otherwise because
 * somebody looks.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_heap.h"
#include "support/suite.h"
#include "tkdbg/view.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def scaled(v, by):\n"
    "    v = v * by\n"
    "    return v\n"
    "\n"
    "@triton.jit\n"
    "def add(x, y, n, B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.load(x + at, mask=at < n)\n"
    "    for i in range(3):\n"
    "        v = scaled(v, 2.0)\n"
    "    tl.store(y + at, v, mask=at < n - 2)\n"
    "\n"
    "@triton.jit\n"
    "def squares(x, y, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    a = tl.load(x + i[:, None] * B + i[None, :])\n"
    "    c = tl.dot(a, a, input_precision='ieee')\n"
    "    s = tl.sum(c, 1)\n"
    "    tl.atomic_add(y + i, s, mask=i < n)\n"
    "    j = tl.load(y + (i * i) % B)\n"
    "    tl.store(y + 128 + i, j)\n"
    "\n"
    "@triton.jit\n"
    "def wrong(x, y, n, B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + at, tl.load(x + at))\n"
    "\n"
    "@triton.jit\n"
    "def maxima(x, y, n, B: tl.constexpr):\n"
    "    at = tl.arange(0, B)\n"
    "    v = tl.load(x + at, mask=at < n)\n"
    "    e = tl.exp(v - tl.max(v, 0))\n"
    "    tl.store(y + at, e / tl.sum(e, 0), mask=at < n)\n"
    "\n"
    "@triton.jit\n"
    "def computed(x, y, n, B: tl.constexpr):\n"
    "    at = tl.arange(0, B)\n"
    "    v = tl.load(x + at, mask=at < n)\n"
    "    w = v * 2.0\n"
    "    z = tl.where(at < n - 1, w, 0.0)\n"
    "    s = tl.sum(w, 0)\n"
    "    tl.store(y + at, z, mask=at < n)\n"
    "\n"
    "@triton.jit\n"
    "def turned(x, y, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    on = (i[:, None] < n) & (i[None, :] < n - 7)\n"
    "    at = i[:, None] + i[None, :] * B\n"
    "    tl.store(y + at, tl.load(x + at, mask=on, other=0.0), mask=on)\n"
    "\n"
    "@triton.jit\n"
    "def refused(x, y, n, B: tl.constexpr):\n"
    "    at = tl.arange(0, B)\n"
    "    v = tl.flip(tl.load(x + at, mask=at < n, other=0.0), 0)\n"
    "    tl.store(y + at, v, mask=at < n)\n";

enum { N = 16 * 16 };

typedef struct fixture {
  tk_session *s;
  tk_module *m;
  tk_view *v;
  json_t *data;
  float x[N], y[N];
} fixture;

static void begin(fixture *f, bool viewed, size_t megabytes) {
  *f = (fixture){.s = tk_session_new()};
  for (int i = 0; i < N; i++) f->x[i] = (float)(i % 7) * 0.125f;
  ck_assert_int_eq(
      tk_module_open(f->s, "k.py", source, sizeof source - 1, &f->m), TK_OK);
  if (viewed) ck_assert_int_eq(tk_view_new(f->s, megabytes, &f->v), TK_OK);
}

static void end(fixture *f) {
  json_decref(f->data);
  tk_session_free(f->s);
}

static tk_status launch(fixture *f, const char *kernel, int grid, int n,
                        int block) {
  tk_function *fn;
  tk_launch *l;
  char text[64];
  tk_tensor t = {
      .data = f->x, .dtype = TK_FP32, .rank = 1, .shape = {N}, .strides = {1}};
  ck_assert_int_eq(tk_function_named(f->m, kernel, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(l, "x", &t), TK_OK);
  t.data = f->y;
  ck_assert_int_eq(tk_launch_tensor(l, "y", &t), TK_OK);
  snprintf(text, sizeof text, "n=%d", n);
  ck_assert_int_eq(tk_launch_arg_text(l, text), TK_OK);
  snprintf(text, sizeof text, "B=%d", block);
  ck_assert_int_eq(tk_launch_arg_text(l, text), TK_OK);
  ck_assert_int_eq(tk_launch_grid(l, grid, 1, 1), TK_OK);
  return tk_launch_run(l, NULL, NULL);
}

/* ---- reading ------------------------------------------------------------- */

static json_t *launches_of(fixture *f) {
  const char *text;
  json_error_t error;
  json_decref(f->data);
  ck_assert_int_eq(tk_view_json(f->v, &text), TK_OK);
  f->data = json_loads(text, 0, &error);
  ck_assert_msg(f->data != NULL, "%s at %d", error.text, error.position);
  ck_assert_str_eq(json_string_value(json_object_get(f->data, "format")),
                   "tkdbg view");
  return json_object_get(f->data, "launches");
}

static json_t *first_launch(fixture *f) {
  return json_array_get(launches_of(f), 0);
}

static json_t *step_at(json_t *launch, const char *program, size_t i) {
  json_t *steps = json_object_get(json_object_get(launch, "steps"), program);
  ck_assert_msg(json_array_size(steps) > i, "program %s has %zu steps", program,
                json_array_size(steps));
  return json_array_get(steps, i);
}

/* The i-th step of a program on a line. */
static json_t *step_on(json_t *launch, const char *program, int line, int i) {
  json_t *steps = json_object_get(json_object_get(launch, "steps"), program);
  json_t *step;
  size_t k;
  json_array_foreach(steps, k, step) {
    if (json_integer_value(json_object_get(step, "line")) == line && !i--)
      return step;
  }
  ck_abort_msg("program %s has no such step on line %d", program, line);
}

static json_t *item(json_t *step, const char *list, size_t i) {
  json_t *x = json_array_get(json_object_get(step, list), i);
  ck_assert_msg(x != NULL, "no %s[%zu]", list, i);
  return x;
}

static double number(json_t *o, const char *key, size_t i) {
  json_t *x = json_object_get(o, key);
  ck_assert_msg(x != NULL, "no %s", key);
  if (json_is_array(x)) x = json_array_get(x, i);
  ck_assert_msg(json_is_number(x), "%s is no number", key);
  return json_number_value(x);
}

static const char *text(json_t *o, const char *key) {
  const char *s = json_string_value(json_object_get(o, key));
  return s ? s : "";
}

/* Whether a list of numbers is this one, as text. */
static void same_list(json_t *o, const char *key, const char *wanted) {
  char *s = json_dumps(json_object_get(o, key), JSON_COMPACT);
  ck_assert_str_eq(s, wanted);
  free(s);
}

/* ---- costs --------------------------------------------------------------- */

/* Seven programs of 32 lanes: 200 elements are read, 198 written. */
START_TEST(costs_are_exact) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  json_t *l = first_launch(&f), *cost = json_object_get(l, "cost");
  ck_assert_str_eq(text(l, "kernel"), "add");
  ck_assert_str_eq(text(l, "status"), "complete");
  same_list(l, "grid", "[7,1,1]");
  same_list(cost, "read", "[128,128,128,128,128,128,32]");
  same_list(cost, "written", "[128,128,128,128,128,128,24]");
  same_list(cost, "off", "[0,0,0,0,0,0,50]");
  same_list(cost, "flops", "[96,96,96,96,96,96,96]");
  same_list(cost, "begun", "[1,2,3,4,5,6,7]");
  json_t *line;
  size_t i;
  double moved = 0, flops = 0;
  json_array_foreach(json_object_get(l, "lines"), i, line) {
    moved += number(line, "read", 0) + number(line, "written", 0);
    if (number(line, "line", 0) == 6) flops = number(line, "flops", 0);
  }
  ck_assert_double_eq(moved, (200 + 198) * 4);
  ck_assert_double_eq(flops, 7 * 3 * 32);
  end(&f);
}
END_TEST

/* ---- steps --------------------------------------------------------------- */

START_TEST(values_are_those_of_the_run) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  json_t *l = first_launch(&f);
  json_t *at = item(step_on(l, "3", 11, 0), "values", 0);
  ck_assert_str_eq(text(at, "name"), "at");
  ck_assert_str_eq(text(at, "type"), "int32[32]");
  ck_assert_double_eq(number(at, "base", 0), 96);
  same_list(at, "step", "[1]");
  json_t *load = step_on(l, "6", 12, 0), *a = item(load, "accesses", 0);
  ck_assert_double_eq(number(a, "base", 0), 192);
  ck_assert(json_is_true(json_object_get(a, "undefined")));
  same_list(a, "lo", "[0]");
  same_list(a, "hi", "[8]");
  json_t *v = item(load, "values", (size_t)number(a, "value", 0));
  for (size_t i = 0; i < 8; i++)
    ck_assert_double_eq(number(v, "lanes", i), (double)f.x[192 + i]);
  json_t *stored = step_on(l, "6", 15, 0);
  v = item(stored, "values", 0);
  for (size_t i = 0; i < 6; i++)
    ck_assert_double_eq(number(v, "lanes", i), (double)f.y[192 + i]);
  same_list(item(stored, "accesses", 0), "hi", "[6]");
  end(&f);
}
END_TEST

/* A function that is called in a loop: its line has a step for each trip. */
START_TEST(steps_know_trips_and_callers) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  json_t *l = first_launch(&f);
  for (int trip = 0; trip < 3; trip++) {
    char loops[32];
    json_t *s = step_on(l, "0", 6, trip);
    snprintf(loops, sizeof loops, "[[13,%d,\"i\",%d]]", trip, trip);
    same_list(s, "loops", loops);
    same_list(s, "callers", "[14]");
    double by = (double)(2 << trip);
    ck_assert_double_eq(number(item(s, "values", 0), "lanes", 3),
                        (double)f.x[3] * by);
  }
  ck_assert_double_eq(number(step_at(l, "0", 0), "line", 0), 11);
  end(&f);
}
END_TEST

/* Lanes that were computed from undefined ones are undefined, those that were
 * chosen away are not; without the detector nobody knows. */
START_TEST(undefined_lanes_are_followed) {
  static const char *const wanted[] = {"[[0,5,3]]", "[[0,5,3]]", "",
                                       "[[0,5,3],[1,0,1]]"};
  fixture f;
  begin(&f, false, 0);
  ck_assert_int_eq(tk_session_check(f.s, "undef", NULL), TK_OK);
  ck_assert_int_eq(tk_view_new(f.s, 0, &f.v), TK_OK);
  ck_assert_int_eq(launch(&f, "computed", 1, 5, 8), TK_OK);
  json_t *l = first_launch(&f);
  for (int i = 0; i < 4; i++) {
    json_t *step = step_on(l, "0", 42 + i, 0);
    if (*wanted[i])
      same_list(step, "undefined", wanted[i]);
    else
      ck_assert_ptr_null(json_object_get(step, "undefined"));
  }
  end(&f);
}
END_TEST

START_TEST(operations_have_their_operands) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "squares", 1, 10, 16), TK_OK);
  json_t *l = first_launch(&f), *s = step_on(l, "0", 21, 0);
  json_t *dot = item(s, "ops", 0);
  ck_assert_str_eq(text(dot, "op"), "dot");
  double sum = 0;
  for (int k = 0; k < 16; k++)
    sum += (double)f.x[16 + k] * (double)f.x[k * 16 + 2];
  json_t *c = item(s, "values", (size_t)number(dot, "to", 0));
  json_t *a = item(s, "values", (size_t)number(dot, "from", 0));
  ck_assert_double_eq_tol(number(c, "lanes", 16 + 2), sum, 1e-6);
  ck_assert_double_eq(number(a, "lanes", 5), (double)f.x[5]);
  json_t *reduce = item(step_on(l, "0", 22, 0), "ops", 0);
  ck_assert_str_eq(text(reduce, "mode"), "sum");
  ck_assert_double_eq(number(reduce, "axis", 0), 1);
  /* squares of lanes, modulo 16: no affine addresses */
  json_t *load = item(step_on(l, "0", 24, 0), "accesses", 0);
  ck_assert_ptr_null(json_object_get(load, "base"));
  ck_assert_double_eq(number(load, "runs", 3 * 1 + 1), 4);
  end(&f);
}
END_TEST

/* ---- tensors ------------------------------------------------------------- */

START_TEST(tensors_know_who_touched_them) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  json_t *l = first_launch(&f);
  json_t *x = item(l, "tensors", 0), *y = item(l, "tensors", 1);
  same_list(x, "read", "[0,200]");
  same_list(x, "written", "[]");
  same_list(y, "read", "[]");
  same_list(y, "written", "[0,198]");
  same_list(y, "contested", "[]");
  ck_assert_double_eq(number(y, "writer", 18), 192);
  ck_assert_double_eq(number(y, "writer", 20), 6);
  ck_assert_double_eq(number(y, "values", 100), (double)f.y[100]);
  end(&f);
}
END_TEST

/* All programs add to the same elements, and store to the same ones. */
/* A block whose neighbours in memory are not those of its rows. */
START_TEST(columns_are_followed) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "turned", 1, 10, 16), TK_OK);
  json_t *l = first_launch(&f), *cost = json_object_get(l, "cost");
  json_t *tensors = json_object_get(l, "tensors");
  same_list(json_array_get(tensors, 0), "read", "[0,10,16,10,32,10]");
  same_list(json_array_get(tensors, 1), "written", "[0,10,16,10,32,10]");
  same_list(cost, "off", "[452]"); /* of two accesses of 256 lanes */
  ck_assert_int_eq(launch(&f, "turned", 1, 7, 16), TK_OK);
  l = json_array_get(launches_of(&f), 1);
  same_list(json_array_get(json_object_get(l, "tensors"), 0), "read", "[]");
  end(&f);
}
END_TEST

START_TEST(contested_elements_are_listed) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "squares", 3, 10, 16), TK_OK);
  json_t *y = item(first_launch(&f), "tensors", 1);
  same_list(y, "contested", "[0,10,128,16]");
  ck_assert(json_is_true(json_object_get(y, "atomic")));
  end(&f);
}
END_TEST

/* ---- limits -------------------------------------------------------------- */

START_TEST(of_many_programs_some_are_kept) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 500, 200, 32), TK_OK);
  json_t *l = first_launch(&f), *steps = json_object_get(l, "steps");
  ck_assert_uint_eq(json_object_size(steps), 16);
  ck_assert_ptr_nonnull(json_object_get(steps, "0"));
  ck_assert_ptr_nonnull(json_object_get(steps, "499"));
  ck_assert_uint_eq(
      json_array_size(json_object_get(json_object_get(l, "cost"), "read")),
      500);
  end(&f);
}
END_TEST

/* A page keeps its limit, launches that find no room are counted. */
START_TEST(pages_keep_their_limit) {
  fixture f;
  const char *page;
  begin(&f, true, 1);
  tk_view_expect_many(f.v);
  for (int i = 0; i < 60; i++)
    ck_assert_int_eq(launch(&f, "squares", 64, 10, 16), TK_OK);
  size_t n = json_array_size(launches_of(&f));
  ck_assert_double_eq(number(f.data, "skipped", 0), 60 - (double)n);
  ck_assert_uint_eq(tk_view_launches(f.v), n);
  ck_assert(n > 3 && n < 60);
  json_t *dropped = json_object_get(first_launch(&f), "dropped");
  ck_assert_uint_gt(json_object_size(dropped), 0);
  ck_assert_int_eq(tk_view_html(f.v, &page), TK_OK);
  ck_assert_uint_lt(strlen(page), 1000000);
  end(&f);
}
END_TEST

START_TEST(parts_stand_beside_the_launches) {
  fixture f;
  const char *page;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "squares", 1, 10, 16), TK_OK);
  ck_assert_int_eq(tk_view_add(f.v, "why", "{\"title\":\"</script>\"}"), TK_OK);
  ck_assert_int_eq(tk_view_add(f.v, "other", "[1]"), TK_OK);
  ck_assert_uint_eq(json_array_size(launches_of(&f)), 1);
  ck_assert_str_eq(text(json_object_get(f.data, "why"), "title"), "</script>");
  ck_assert_uint_eq(json_array_size(json_object_get(f.data, "other")), 1);
  ck_assert_int_eq(tk_view_html(f.v, &page), TK_OK);
  ck_assert_ptr_null(strstr(page, "\"</script>"));
  end(&f);
}
END_TEST

START_TEST(ignored_launches_are_left_out) {
  fixture f;
  begin(&f, true, 0);
  tk_view_ignore(f.v, true);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  tk_view_ignore(f.v, false);
  ck_assert_int_eq(launch(&f, "squares", 1, 10, 16), TK_OK);
  ck_assert_uint_eq(json_array_size(launches_of(&f)), 1);
  ck_assert_str_eq(text(first_launch(&f), "kernel"), "squares");
  end(&f);
}
END_TEST

/* ---- failures ------------------------------------------------------------ */

/* Nine programs of 32 lanes leave the tensor in the last one. */
START_TEST(a_launch_that_fails_is_shown) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "wrong", 9, 200, 32), TK_FINDING);
  json_t *l = first_launch(&f), *found = item(l, "findings", 0);
  ck_assert_str_eq(text(l, "status"), "stopped");
  ck_assert_str_eq(text(found, "kind"), "out-of-bounds");
  same_list(found, "program", "[8,0,0]");
  ck_assert_double_eq(number(found, "line", 0), 30);
  ck_assert_double_eq(number(l, "programs", 0), 8);
  end(&f);
}
END_TEST

/* What detectors find before a run begins, and while it runs; of each launch
 * its own. */
START_TEST(findings_belong_to_their_launch) {
  static const char *const wanted[] = {"undef"};
  fixture f;
  begin(&f, false, 0);
  tk_check_options o = {.size = sizeof o, .collect = true};
  ck_assert_int_eq(tk_session_check(f.s, "undef", &o), TK_OK);
  ck_assert_int_eq(tk_view_new(f.s, 0, &f.v), TK_OK);
  ck_assert_int_eq(launch(&f, "maxima", 2, 10, 16), TK_OK);
  ck_assert_int_eq(launch(&f, "maxima", 2, 16, 16), TK_OK);
  json_t *all = launches_of(&f);
  json_t *found = json_object_get(json_array_get(all, 0), "findings");
  ck_assert_uint_eq(json_array_size(found), sizeof wanted / sizeof *wanted);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    ck_assert_str_eq(text(json_array_get(found, i), "kind"), wanted[i]);
  found = json_object_get(json_array_get(all, 1), "findings");
  ck_assert_uint_eq(json_array_size(found), 0);
  end(&f);
}
END_TEST

/* A view that is freed is told of no launch, and others go on. */
START_TEST(a_view_may_be_freed) {
  fixture f;
  tk_view *other;
  begin(&f, true, 0);
  ck_assert_int_eq(tk_view_new(f.s, 0, &other), TK_OK);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_uint_eq(tk_view_launches(other), 1);
  tk_view_free(other);
  tk_view_free(NULL);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_uint_eq(tk_view_launches(f.v), 2);
  end(&f);
}
END_TEST

START_TEST(a_page_that_cannot_be_written) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_int_eq(tk_view_save(f.v, "/nonexistent/page.html"), TK_USAGE);
  ck_assert_ptr_nonnull(
      strstr(tk_report(f.s, false), "cannot write /nonexistent/page.html"));
  end(&f);
}
END_TEST

/* Text that would end the element that holds the data does not. */
START_TEST(the_page_holds_the_data) {
  fixture f;
  const char *page;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_int_eq(tk_view_html(f.v, &page), TK_OK);
  const char *from = strstr(page, "id=\"data\">"), *to;
  ck_assert_ptr_nonnull(from);
  to = strstr(from, "</script>");
  ck_assert_ptr_nonnull(to);
  ck_assert_ptr_null(memchr(from, '<', (size_t)(to - from)));
  ck_assert_ptr_null(strstr(page, "\nimport "));
  ck_assert_ptr_null(strstr(page, "http:"));
  ck_assert_ptr_null(strstr(page, "https:"));
  end(&f);
}
END_TEST

/* ---- stages -------------------------------------------------------------- */

static json_t *stage_at(json_t *launch, size_t i, const char *name) {
  json_t *stage = json_array_get(json_object_get(launch, "stages"), i);
  ck_assert_str_eq(text(stage, "name"), name);
  return stage;
}

/* Whether a stage's text has some words, or says why there is none. */
static void has_words(json_t *stage, const char *key, const char *words) {
  const char *s = text(stage, key);
  ck_assert_msg(strstr(s, words), "'%s' is not in: %s", words, s);
}

START_TEST(stages_stand_beside_a_launch) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "squares", 1, 10, 16), TK_OK);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_int_eq(launch(&f, "add", 6, 200, 32), TK_OK);
  json_t *all = launches_of(&f), *l = json_array_get(all, 1);
  has_words(stage_at(l, 0, "ttir"), "text", "kernel @add(");
  has_words(stage_at(l, 1, "layouts"), "text", "#linear<{register = ");
  has_words(stage_at(l, 2, "llir"), "text", "define ptx_kernel void @add(");
  json_t *ptx = stage_at(l, 3, "ptx"); /* if the plug-in is there */
  if (json_object_get(ptx, "why"))
    has_words(ptx, "why", "libtkdbg-nvptx.so");
  else
    has_words(ptx, "text", ".visible .entry add(");
  /* the third launch is of the same program as the second */
  ck_assert_double_eq(number(json_array_get(all, 2), "stages", 0), 1);
  end(&f);
}
END_TEST

/* A kernel that the compiler refuses runs all the same, and its report says
 * only what the run found. */
START_TEST(stages_that_cannot_be_made_say_why) {
  fixture f;
  begin(&f, true, 0);
  ck_assert_int_eq(launch(&f, "wrong", 9, 0, 32), TK_FINDING);
  ck_assert_int_eq(launch(&f, "refused", 1, 10, 1 << 18), TK_OK);
  json_t *l = json_array_get(launches_of(&f), 1);
  has_words(stage_at(l, 0, "ttir"), "text", "kernel @refused(");
  has_words(stage_at(l, 3, "ptx"), "why", "shared memory");
  const char *report = tk_report(f.s, false);
  ck_assert_ptr_nonnull(strstr(report, "tl.load(x + at)"));
  ck_assert_ptr_null(strstr(report, "shared memory"));
  end(&f);
}
END_TEST

/* A text for which there is no room is counted, not cut. */
START_TEST(stages_keep_the_limit) {
  fixture f;
  begin(&f, true, 1);
  tk_view_expect_many(f.v);
  ck_assert_int_eq(launch(&f, "refused", 1, 10, 1 << 14), TK_OK);
  json_t *llir = stage_at(first_launch(&f), 2, "llir");
  ck_assert_double_gt(number(llir, "left_out", 0), 25000);
  ck_assert_str_eq(text(llir, "text"), "");
  end(&f);
}
END_TEST

/* ---- runs ---------------------------------------------------------------- */

START_TEST(results_are_the_same_bits) {
  fixture f, g;
  begin(&f, false, 0);
  begin(&g, true, 0);
  ck_assert_int_eq(launch(&f, "add", 7, 200, 32), TK_OK);
  ck_assert_int_eq(launch(&g, "add", 7, 200, 32), TK_OK);
  ck_assert_mem_eq(f.y, g.y, sizeof f.y);
  ck_assert_int_eq(launch(&f, "squares", 2, 10, 16), TK_OK);
  ck_assert_int_eq(launch(&g, "squares", 2, 10, 16), TK_OK);
  ck_assert_mem_eq(f.y, g.y, sizeof f.y);
  end(&f);
  end(&g);
}
END_TEST

static tk_status view_some(tk_session *s) {
  static const char *const args[] = {"x=f32[32]:ones", "y=f32[32]:zeros",
                                     "n=30", "B=16"};
  tk_module *m;
  tk_function *fn;
  tk_launch *l;
  tk_view *v;
  const char *page;
  tk_status st = tk_module_open(s, "k.py", source, sizeof source - 1, &m);
  if (st == TK_OK) st = tk_view_new(s, 0, &v);
  if (st == TK_OK) st = tk_function_named(m, "add", &fn);
  if (st == TK_OK) st = tk_launch_new(s, fn, &l);
  for (int i = 0; i < 4 && st == TK_OK; i++)
    st = tk_launch_arg_text(l, args[i]);
  if (st == TK_OK) st = tk_launch_grid_text(l, "2");
  if (st == TK_OK) st = tk_launch_run(l, NULL, NULL);
  if (st == TK_OK) st = tk_view_html(v, &page);
  return st;
}

START_TEST(every_allocation_may_fail) {
  bool complete = false;
  for (long n = 0; n < 20000 && !complete; n++) {
    failing_heap h = {n, 0};
    tk_session *s = tk_session_new_with(failing_heap_resize, &h);
    if (!s) continue;
    tk_status st = view_some(s);
    complete = st == TK_OK;
    ck_assert(complete || h.left <= 0);
    tk_session_free(s);
    ck_assert_int_eq(h.live, 0);
  }
  ck_assert(complete);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("view");
  TCase *c = tcase_create("view");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, costs_are_exact);
  tcase_add_test(c, values_are_those_of_the_run);
  tcase_add_test(c, steps_know_trips_and_callers);
  tcase_add_test(c, undefined_lanes_are_followed);
  tcase_add_test(c, operations_have_their_operands);
  tcase_add_test(c, tensors_know_who_touched_them);
  tcase_add_test(c, columns_are_followed);
  tcase_add_test(c, contested_elements_are_listed);
  tcase_add_test(c, of_many_programs_some_are_kept);
  tcase_add_test(c, pages_keep_their_limit);
  tcase_add_test(c, parts_stand_beside_the_launches);
  tcase_add_test(c, ignored_launches_are_left_out);
  tcase_add_test(c, a_launch_that_fails_is_shown);
  tcase_add_test(c, findings_belong_to_their_launch);
  tcase_add_test(c, a_view_may_be_freed);
  tcase_add_test(c, a_page_that_cannot_be_written);
  tcase_add_test(c, the_page_holds_the_data);
  tcase_add_test(c, stages_stand_beside_a_launch);
  tcase_add_test(c, stages_that_cannot_be_made_say_why);
  tcase_add_test(c, stages_keep_the_limit);
  tcase_add_test(c, results_are_the_same_bits);
  tcase_add_test(c, every_allocation_may_fail);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
