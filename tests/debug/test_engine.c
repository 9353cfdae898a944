/* test_engine.c - a session with the debugger through its public header alone,
 * as a gdb stub or an editor's server has it: nothing of the engine's inside
 * and no command line.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "tkdbg/debugger.h"

static const char source[] = "import triton\n"                          /* 1 */
                             "import triton.language as tl\n"           /* 2 */
                             "@triton.jit\n"                            /* 3 */
                             "def twice(v):\n"                          /* 4 */
                             "    w = v + v\n"                          /* 5 */
                             "    return w\n"                           /* 6 */
                             "@triton.jit\n"                            /* 7 */
                             "def k(x, n, B: tl.constexpr):\n"          /* 8 */
                             "    pid = tl.program_id(0)\n"             /* 9 */
                             "    i = pid * B + tl.arange(0, B)\n"      /* 10 */
                             "    s = 0\n"                              /* 11 */
                             "    v = tl.load(x + i, mask=i < n)\n"     /* 12 */
                             "    for j in range(3):\n"                 /* 13 */
                             "        s += j\n"                         /* 14 */
                             "    v = twice(v)\n"                       /* 15 */
                             "    tl.store(x + i, v + s, mask=i < n)\n" /* 16 */
                             "@triton.jit\n"                            /* 17 */
                             "def later(x, n, B: tl.constexpr):\n"      /* 18 */
                             "    i = tl.arange(0, B)\n"                /* 19 */
                             "    tl.store(x + i, i)\n"                 /* 20 */
                             "@triton.jit\n"                            /* 21 */
                             "def endless(x, n, B: tl.constexpr):\n"    /* 22 */
                             "    s = 0\n"                              /* 23 */
                             "    for j in range(2000000000):\n"        /* 24 */
                             "        s += j\n"                         /* 25 */
                             "    tl.store(x, s)\n";                    /* 26 */

enum { MOST = 64, BLOCK = 4, ELEMENTS = 8 };

/* What the front end saw, and what it does at each stop. */
typedef struct front {
  tk_session *s;
  tk_debug *d;
  void (*const *steps)(struct front *f, const tk_debug_stop *s);
  size_t nsteps, at;
  size_t launches, ended, logs, passed;
  char log[200], notice[200], output[200];
  size_t asked, notice_findings;
  bool agrees;     /* what `asked` says */
  bool interrupts; /* ... and it interrupts */
  bool calls;      /* ... and it calls for `called` */
  size_t called;
  tk_status status;  /* of the launch that ended */
  const tk_ir *form; /* of the launch before */
  size_t id;         /* of a statement */
  pthread_t thread;
  uint64_t event; /* kept from one step to another */
  int point;
  int32_t memory[ELEMENTS];
} front;

static void resume(front *f, tk_resume r) {
  ck_assert_msg(tk_debug_resume(f->d, &r) == TK_OK, "%s",
                tk_debug_error(f->d)->text);
  ck_assert(tk_debug_will_resume(f->d));
}

static void go(front *f, tk_resume_kind kind) {
  resume(f, (tk_resume){.kind = kind});
}

static void stopped(void *ud, tk_debug *d, const tk_debug_stop *s) {
  front *f = ud;
  ck_assert_ptr_eq(d, f->d);
  if (f->at == f->nsteps)
    ck_abort_msg("a stop too many: %s at line %d",
                 tk_stop_reason_name(s->reason), s->place.line);
  f->steps[f->at++](f, s);
}

static void begins(void *ud, tk_debug *d) {
  (void)d;
  ((front *)ud)->launches++;
}

static void ends(void *ud, tk_debug *d) {
  front *f = ud;
  tk_debug_time now;
  tk_debug_when(d, &now);
  f->status = now.status;
  f->ended++;
}

static bool asked(void *ud, tk_debug *d, int point) {
  front *f = ud;
  const tk_debug_value *v;
  size_t n;
  ck_assert_int_eq(point, f->point);
  ck_assert_int_eq(tk_debug_evaluate(d, "pid", &v, &n), TK_OK);
  f->asked++;
  if (f->interrupts) tk_debug_interrupt(d);
  if (f->calls) tk_debug_call(d);
  return f->agrees;
}

/* The launch runs: a breakpoint in the way of the step that is taken. */
static void called(void *ud, tk_debug *d) {
  front *f = ud;
  tk_point_spec spec = {.where = "15"};
  tk_debug_program now;
  int number;
  f->called++;
  f->calls = false;
  ck_assert_int_eq(tk_debug_program_indexed(d, 0, &now), TK_OK);
  ck_assert_int_eq(now.state, TK_PROGRAM_CURRENT);
  ck_assert_int_eq(tk_debug_delete_point(d, f->point), TK_OK);
  ck_assert_int_eq(tk_debug_add_point(d, &spec, &number), TK_OK);
}

static void output(void *ud, const char *text, size_t len) {
  front *f = ud;
  strncat(f->output, text, len < 100 ? len : 100);
}

/* Takes the text of a logpoint apart, and evaluates what stands in braces. */
static void logged(void *ud, tk_debug *d, const tk_log *log) {
  front *f = ud;
  const char *text = log->format, *piece;
  size_t n;
  bool is_expression;
  f->logs++;
  f->log[0] = '\0';
  while (tk_debug_log_piece(&text, &piece, &n, &is_expression)) {
    char part[64];
    const tk_debug_value *v;
    size_t count;
    int32_t lane;
    snprintf(part, sizeof part, "%.*s", (int)n, piece);
    if (is_expression) {
      ck_assert_int_eq(tk_debug_evaluate(d, part, &v, &count), TK_OK);
      ck_assert_uint_eq(count, 1);
      memcpy(&lane, v->lanes, sizeof lane);
      snprintf(part, sizeof part, "%d", lane);
    }
    strcat(f->log, part);
  }
}

static void noticed(void *ud, tk_debug *d, const tk_notice *n) {
  front *f = ud;
  (void)d;
  if (n->kind == TK_NOTICE_PASSED) f->passed += n->stop->place.line;
  if (n->text) snprintf(f->notice, sizeof f->notice, "%s", n->text);
  f->notice_findings += n->nfindings;
  for (size_t i = 0; i < n->nfindings; i++)
    ck_assert_ptr_nonnull(n->findings[i]->message);
}

/* ---- launches ---------------------------------------------------------- */

typedef void (*step)(front *f, const tk_debug_stop *s);

typedef struct play {
  tk_session *s;
  front f;
} play;

static void open_play(play *p, const step *steps, size_t n, bool at_end) {
  memset(p, 0, sizeof *p);
  p->s = p->f.s = tk_session_new();
  p->f.steps = steps;
  p->f.nsteps = n;
  for (int i = 0; i < ELEMENTS; i++) p->f.memory[i] = i;
  tk_debug_front o = {.size = sizeof o,
                      .ud = &p->f,
                      .begins = begins,
                      .stopped = stopped,
                      .ends = ends,
                      .output = output,
                      .logged = logged,
                      .noticed = noticed,
                      .called = called,
                      .asked = asked,
                      .stop_at_start = true,
                      .stop_at_end = at_end};
  ck_assert_int_eq(tk_debug_new(p->s, &o, &p->f.d), TK_OK);
}

static tk_status launch_named(play *p, const char *name, int64_t size) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_tensor x = {.data = p->f.memory,
                 .dtype = TK_INT32,
                 .rank = 1,
                 .shape = {size},
                 .strides = {1}};
  ck_assert_int_eq(tk_module_open(p->s, "k.py", source, sizeof source - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, name, &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(p->s, f, &l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(l, "x", &x), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "n=8"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "B=4"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(l, 2, 1, 1), TK_OK);
  tk_status st = tk_launch_run(l, NULL, NULL);
  tk_launch_free(l);
  return st;
}

static tk_status launch(play *p) {
  return launch_named(p, "k", ELEMENTS);
}

static void close_play(play *p) {
  ck_assert_uint_eq(p->f.at, p->f.nsteps);
  tk_session_free(p->s);
}

#define PLAY(p, steps, at_end)                                                 \
  open_play(&(p), steps, sizeof(steps) / sizeof *(steps), at_end)

static void must_stop(const tk_debug_stop *s, tk_stop_reason reason, int line) {
  if (s->reason != reason || s->place.line != line)
    ck_abort_msg("%s at line %d, expected %s at %d",
                 tk_stop_reason_name(s->reason), s->place.line,
                 tk_stop_reason_name(reason), line);
}

static int add(front *f, tk_point_spec spec) {
  int number = 0;
  ck_assert_msg(tk_debug_add_point(f->d, &spec, &number) == TK_OK, "%s",
                tk_debug_error(f->d)->text);
  return number;
}

static int64_t integer(front *f, const char *text) {
  const tk_debug_value *v;
  size_t n;
  int32_t lane;
  ck_assert_msg(tk_debug_evaluate(f->d, text, &v, &n) == TK_OK, "%s",
                tk_debug_error(f->d)->text);
  ck_assert_uint_eq(n, 1);
  ck_assert_int_eq(v->type.dtype, TK_INT32);
  ck_assert_int_eq(v->type.rank, 0);
  ck_assert_uint_eq(v->size, sizeof lane);
  memcpy(&lane, v->lanes, sizeof lane);
  return lane;
}

/* ---- breakpoints, steps, calls ----------------------------------------- */

static void break_if(front *f, const tk_debug_stop *s) {
  tk_point p;
  must_stop(s, TK_STOP_START, 9);
  ck_assert_str_eq(s->kernel, "k");
  ck_assert_str_eq(s->place.file, "k.py");
  ck_assert_str_eq(s->function, "k");
  ck_assert_int_eq(s->place.column, 5);
  ck_assert_int_eq(s->grid[0], 2);
  f->point = add(f, (tk_point_spec){.where = "14", .condition = "s == 1"});
  ck_assert(tk_debug_point_at(f->d, 0, &p) && p.number == f->point);
  ck_assert_str_eq(p.spec.where, "14");
  ck_assert_int_eq(p.line, 14);
  ck_assert(!tk_debug_point_at(f->d, 1, &p));
  go(f, TK_RESUME_CONTINUE);
}

static void hit_once(front *f, const tk_debug_stop *s) {
  tk_point p;
  must_stop(s, TK_STOP_BREAKPOINT, 14);
  ck_assert_int_eq(s->point, f->point);
  ck_assert_uint_eq(s->nhit, 1);
  ck_assert(s->in_loop);
  ck_assert_uint_eq(s->trip, 2);
  ck_assert_int_eq(integer(f, "s"), 1);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_OK);
  ck_assert_uint_eq(p.hits, 1);
  f->event = s->event;
  ck_assert_int_eq(tk_debug_enable_point(f->d, f->point, false), TK_OK);
  go(f, TK_RESUME_STEP);
}

static void step_on(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 15);
  ck_assert_int_eq(integer(f, "s"), 3);
  ck_assert_uint_gt(s->event, f->event);
  go(f, TK_RESUME_STEP);
}

static void in_call(front *f, const tk_debug_stop *s) {
  tk_debug_frame c;
  must_stop(s, TK_STOP_STEP, 5);
  ck_assert_str_eq(s->function, "twice");
  ck_assert_uint_eq(tk_debug_frame_count(f->d), 2);
  ck_assert_int_eq(tk_debug_frame_at(f->d, 1, &c), TK_OK);
  ck_assert_str_eq(c.name, "k");
  ck_assert_int_eq(c.place.line, 15);
  ck_assert_int_eq(tk_debug_frame_at(f->d, 2, &c), TK_USAGE);
  ck_assert_int_eq(tk_debug_select(f->d, s->program, 1), TK_OK);
  ck_assert_int_eq(integer(f, "s"), 3);
  ck_assert_int_eq(tk_debug_select(f->d, s->program, 0), TK_OK);
  go(f, TK_RESUME_FINISH);
}

static void finished(front *f, const tk_debug_stop *s) {
  static const int32_t want[BLOCK] = {0, 2, 4, 6};
  must_stop(s, TK_STOP_FINISH, 16);
  ck_assert_uint_eq(s->nreturned, 1);
  ck_assert_int_eq(s->returned[0].type.rank, 1);
  ck_assert_int_eq(s->returned[0].type.shape[0], BLOCK);
  ck_assert_mem_eq(s->returned[0].lanes, want, sizeof want);
  go(f, TK_RESUME_BACK_NEXT);
}

static void stepped_back(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 15);
  ck_assert(s->travelled);
  ck_assert_int_eq(tk_debug_enable_point(f->d, f->point, true), TK_OK);
  go(f, TK_RESUME_BACK);
}

static void back_at_hit(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_BREAKPOINT, 14);
  ck_assert_uint_eq(s->event, f->event);
  ck_assert_int_eq(integer(f, "s"), 1);
  ck_assert_int_eq(tk_debug_delete_point(f->d, f->point), TK_OK);
  ck_assert_int_eq(tk_debug_delete_point(f->d, f->point), TK_USAGE);
  resume(f, (tk_resume){.kind = TK_RESUME_BACK_STEP, .count = 3});
}

static void three_back(front *f, const tk_debug_stop *s) {
  tk_resume far = {.kind = TK_RESUME_EVENT, .event = f->event};
  ck_assert_uint_eq(s->event, f->event - 3);
  ck_assert_uint_eq(f->passed, 14 + 14);
  far.program = TK_DEBUG_NO_PROGRAM;
  resume(f, far);
}

static void at_event(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_EVENT, 14);
  ck_assert_uint_eq(s->event, f->event);
  go(f, TK_RESUME_QUIT);
}

START_TEST(points_and_steps) {
  static const step steps[] = {break_if,    hit_once,   step_on,
                               in_call,     finished,   stepped_back,
                               back_at_hit, three_back, at_event};
  play p;
  PLAY(p, steps, true);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  ck_assert(tk_debug_has_quit(p.f.d));
  ck_assert_uint_eq(p.f.launches, 1);
  ck_assert_uint_eq(p.f.ended, 1);
  close_play(&p);
}
END_TEST

/* ---- values, memory, errors -------------------------------------------- */

static void to_line_12(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  resume(f, (tk_resume){.kind = TK_RESUME_CONTINUE, .location = "12"});
}

static void variables(front *f) {
  const tk_debug_variable *v;
  size_t n;
  ck_assert_int_eq(tk_debug_variables(f->d, 0, &v, &n), TK_OK);
  ck_assert_uint_eq(n, 6);
  ck_assert_str_eq(v[0].name, "s"); /* the newest */
  const char *const *names;
  size_t nnames;
  ck_assert_int_eq(tk_debug_names(f->d, &names, &nnames), TK_OK);
  ck_assert_uint_eq(nnames, n);
  for (size_t i = 0; i < n; i++) {
    const char *name = v[i].name;
    ck_assert_str_eq(names[i], name);
    if (!strcmp(name, "B")) {
      ck_assert_int_eq(v[i].kind, TK_VARIABLE_CONSTEXPR);
      ck_assert_int_eq(v[i].parameter, 2);
      ck_assert_str_eq(v[i].values[0].known, "4");
    }
    if (!strcmp(name, "x")) {
      ck_assert_int_eq(v[i].kind, TK_VARIABLE_ARGUMENT);
      ck_assert_int_eq(v[i].parameter, 0);
      ck_assert_int_eq(v[i].values[0].type.pointers, 1);
      ck_assert_str_eq(v[i].values[0].tensor, "x");
    }
    if (!strcmp(name, "i")) {
      ck_assert_int_eq(v[i].kind, TK_VARIABLE_LOCAL);
      ck_assert_int_eq(v[i].parameter, -1);
      ck_assert_str_eq(v[i].type, "int32[4]");
      ck_assert_uint_eq(v[i].values[0].size, BLOCK * sizeof(int32_t));
    }
  }
  ck_assert_int_eq(tk_debug_variables(f->d, 1, &v, &n), TK_USAGE);
}

static void errors(front *f) {
  const tk_debug_value *v;
  size_t n;
  const tk_debug_fault *e;
  ck_assert_int_eq(tk_debug_evaluate(f->d, "s + nobody", &v, &n), TK_USAGE);
  e = tk_debug_error(f->d);
  ck_assert_uint_eq(e->nfindings, 1);
  ck_assert_str_eq(e->findings[0]->message, e->message);
  ck_assert_uint_eq(tk_report_count(f->s), 0);
  ck_assert_ptr_nonnull(strstr(e->message, "nobody"));
  ck_assert_ptr_nonnull(strstr(e->text, "^~~~"));
  ck_assert_uint_eq(e->from, 4);
  ck_assert_uint_eq(e->to, 10);
  ck_assert_ptr_null(v);
  tk_point_spec bad = {.where = "99"};
  ck_assert_int_eq(tk_debug_add_point(f->d, &bad, NULL), TK_USAGE);
  ck_assert_ptr_nonnull(strstr(tk_debug_error(f->d)->text, "No statement"));
  ck_assert_int_eq(tk_debug_error(f->d)->id, TK_FAULT_NO_SUCH_LINE);
  bad = (tk_point_spec){.where = "14", .condition = "nobody > 1"};
  ck_assert_int_eq(tk_debug_add_point(f->d, &bad, NULL), TK_USAGE);
  ck_assert_int_eq(tk_debug_error(f->d)->id, TK_FAULT_FINDINGS);
  ck_assert_int_eq(tk_debug_assign(f->d, "B", "5"), TK_USAGE);
  ck_assert_int_eq(tk_debug_assign(f->d, "x", "5"), TK_USAGE);
  e = tk_debug_error(f->d);
  ck_assert_int_eq(e->id, TK_FAULT_POINTER);
  ck_assert_int_eq(e->remedy, TK_REMEDY_SET_POINTEE);
  ck_assert_str_eq(e->message, "'x' is a pointer.");
  ck_assert_str_eq(e->about, "x");
  ck_assert_int_eq(
      tk_debug_resume(f->d, &(tk_resume){.kind = TK_RESUME_JUMP, .line = 5}),
      TK_USAGE);
  ck_assert(!tk_debug_will_resume(f->d));
  ck_assert_int_eq(tk_debug_evaluate(f->d, "s", &v, &n), TK_OK);
  ck_assert_str_eq(tk_debug_error(f->d)->message, "");
  ck_assert_int_eq(tk_debug_error(f->d)->id, TK_FAULT_NONE);
}

static void memory(front *f) {
  tk_debug_region r;
  int32_t lanes[2] = {0};
  ck_assert(tk_debug_region_at(f->d, 0, &r));
  ck_assert(!tk_debug_region_at(f->d, 1, &r));
  ck_assert(tk_debug_region_at(f->d, 0, &r));
  ck_assert_str_eq(r.name, "x");
  ck_assert_uint_eq(r.size, sizeof f->memory);
  ck_assert_int_eq(r.dtype, TK_INT32);
  ck_assert_int_eq(r.rank, 1);
  ck_assert_int_eq(r.shape[0], ELEMENTS);
  ck_assert_int_eq(tk_debug_read(f->d, r.first + 8, lanes, 8), TK_OK);
  ck_assert_int_eq(lanes[0], 2);
  ck_assert_int_eq(lanes[1], 3);
  lanes[0] = 70;
  ck_assert_int_eq(tk_debug_write(f->d, r.first + 8, lanes, 4), TK_OK);
  ck_assert_int_eq(f->memory[2], 70);
  ck_assert_int_eq(tk_debug_read(f->d, r.address + r.size - 4, lanes, 8),
                   TK_USAGE);
  ck_assert_int_eq(tk_debug_write(f->d, r.address - 4, lanes, 4), TK_USAGE);
}

static void look_around(front *f, const tk_debug_stop *s) {
  static const int32_t lanes[BLOCK] = {3, 2, 1, 0};
  const tk_debug_value *v;
  size_t n;
  must_stop(s, TK_STOP_PLACE, 12);
  variables(f);
  errors(f);
  memory(f);
  ck_assert_int_eq(tk_debug_assign(f->d, "s", "s + 100"), TK_OK);
  ck_assert_int_eq(integer(f, "s"), 100);
  ck_assert_int_eq(tk_debug_assign_lanes(f->d, "i", lanes, sizeof lanes),
                   TK_OK);
  ck_assert_int_eq(tk_debug_assign_lanes(f->d, "i", lanes, 4), TK_USAGE);
  ck_assert_int_eq(tk_debug_evaluate(f->d, "i", &v, &n), TK_OK);
  ck_assert_mem_eq(v->lanes, lanes, sizeof lanes);
  f->event = s->event;
  go(f, TK_RESUME_BACK_STEP);
}

static void undone(front *f, const tk_debug_stop *s) {
  tk_resume r = {.kind = TK_RESUME_EVENT, .program = TK_DEBUG_NO_PROGRAM};
  must_stop(s, TK_STOP_STEP, 11);
  ck_assert_int_eq(f->memory[2], 2);
  r.event = f->event;
  resume(f, r);
}

static void changed_again(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_EVENT, 12);
  ck_assert_int_eq(integer(f, "s"), 0); /* what followed the past is gone */
  ck_assert_int_eq(tk_debug_assign(f->d, "s", "10"), TK_OK);
  go(f, TK_RESUME_CONTINUE);
}

static void at_the_end(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(s->reason, TK_STOP_END);
  ck_assert(s->over);
  ck_assert_uint_eq(s->program, TK_DEBUG_NO_PROGRAM);
  ck_assert_uint_eq(tk_debug_frame_count(f->d), 0);
  ck_assert_int_eq(tk_debug_assign(f->d, "s", "1"), TK_USAGE);
  ck_assert_int_eq(tk_debug_resume(f->d, &(tk_resume){.kind = TK_RESUME_STEP}),
                   TK_USAGE);
  go(f, TK_RESUME_CONTINUE);
}

START_TEST(values_and_memory) {
  static const step steps[] = {to_line_12, look_around, undone, changed_again,
                               at_the_end};
  play p;
  PLAY(p, steps, true);
  ck_assert_int_eq(launch(&p), TK_OK);
  ck_assert_int_eq(p.f.memory[1], 2 + 3 + 10); /* 0 + 1 + 2 behind s = 10 */
  ck_assert_int_eq(p.f.memory[5], 10 + 3);
  close_play(&p);
}
END_TEST

/* ---- watchpoints, logpoints, programs ---------------------------------- */

static void watch_s(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  add(f, (tk_point_spec){.kind = TK_POINT_LOG,
                         .where = "16",
                         .format = "{{s}} is {s} of {pid}",
                         .programs = "1"});
  f->point = add(f, (tk_point_spec){.kind = TK_POINT_WATCH, .where = "s"});
  go(f, TK_RESUME_CONTINUE);
}

static void first_value(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_WATCH, 12);
  ck_assert_uint_eq(s->nchanges, 1);
  ck_assert_int_eq(s->changes[0].point, f->point);
  ck_assert(s->changes[0].first && !s->changes[0].was_known);
  ck_assert_int_eq(tk_debug_ignore_point(f->d, f->point, 0), TK_OK);
  go(f, TK_RESUME_CONTINUE);
}

static void watch_hit(front *f, const tk_debug_stop *s) {
  const tk_debug_change *c = s->changes;
  int32_t old, now;
  ck_assert_int_eq(s->reason, TK_STOP_WATCH);
  ck_assert_uint_eq(s->nchanges, 1);
  ck_assert(c->changed && c->was_known);
  ck_assert_str_eq(c->watched, "s");
  ck_assert_int_eq(c->where.line, 14);
  memcpy(&old, c->old.lanes, sizeof old);
  memcpy(&now, c->now.lanes, sizeof now);
  ck_assert_int_eq(old, 0);
  ck_assert_int_eq(now, 1);
  ck_assert_int_eq(tk_debug_delete_point(f->d, f->point), TK_OK);
  resume(f, (tk_resume){.kind = TK_RESUME_PROGRAM, .program = 1});
}

static void other_program(front *f, const tk_debug_stop *s) {
  tk_debug_program p[4];
  uint64_t at = 0;
  must_stop(s, TK_STOP_PROGRAM, 9);
  ck_assert_uint_eq(s->program, 1);
  ck_assert_uint_eq(tk_debug_program_count(f->d), 2);
  ck_assert_uint_eq(tk_debug_programs(f->d, &at, p, 1), 1);
  ck_assert_int_eq(p[0].state, TK_PROGRAM_PAUSED);
  ck_assert_uint_eq(tk_debug_programs(f->d, &at, p, 4), 1);
  ck_assert_int_eq(p[0].state, TK_PROGRAM_CURRENT);
  ck_assert_int_eq(p[0].pid[0], 1);
  ck_assert_uint_eq(tk_debug_programs(f->d, &at, p, 4), 0);
  /* Looking at the other one changes nothing. */
  ck_assert_int_eq(tk_debug_select(f->d, 0, 0), TK_OK);
  ck_assert_int_eq(integer(f, "pid"), 0);
  ck_assert_int_eq(tk_debug_assign(f->d, "s", "1"), TK_USAGE);
  ck_assert_int_eq(tk_debug_select(f->d, 7, 0), TK_USAGE);
  go(f, TK_RESUME_STEP);
}

static void second_goes_on(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 10);
  ck_assert_uint_eq(s->program, 1);
  ck_assert_int_eq(s->pid[0], 1);
  ck_assert_int_eq(integer(f, "pid"), 1);
  go(f, TK_RESUME_CONTINUE);
}

START_TEST(watch_and_programs) {
  static const step steps[] = {watch_s, first_value, watch_hit, other_program,
                               second_goes_on};
  play p;
  PLAY(p, steps, false);
  ck_assert_int_eq(launch(&p), TK_OK);
  ck_assert_uint_eq(p.f.logs, 1);
  ck_assert_str_eq(p.f.log, "{s} is 3 of 1");
  ck_assert_int_eq(p.f.memory[7], 14 + 3);
  close_play(&p);
}
END_TEST

/* ---- findings, launches ------------------------------------------------ */

static void run_on(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  go(f, TK_RESUME_CONTINUE);
}

static void out_of_bounds(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_FINDING, 12);
  ck_assert_str_eq(s->text, "out-of-bounds");
  ck_assert_uint_eq(s->program, 1);
  ck_assert_uint_eq(s->nfindings, 1);
  const tk_finding *x = s->findings[0];
  ck_assert_int_eq(x->kind, TK_D_BOUNDS);
  ck_assert_int_eq(x->severity, TK_SEV_ERROR);
  ck_assert_int_eq(x->place.line, 12);
  ck_assert(x->has_program && x->program[0] == 1);
  ck_assert_int_eq(x->lane_rank, 1);
  ck_assert_int_eq(x->lane[0], 2);
  ck_assert_str_eq(x->function, "k");
  ck_assert_ptr_nonnull(x->notes);
  const char *text = tk_debug_finding_text(f->d, x, false);
  ck_assert_ptr_nonnull(strstr(text, x->message));
  ck_assert_ptr_nonnull(strstr(text, "^~~~"));
  ck_assert_str_ne(tk_report(f->s, false), "");
  tk_debug_told(f->d, x);
  ck_assert_str_eq(tk_report_unshown(f->s, false), "");
  ck_assert_int_eq(integer(f, "pid"), 1);
  go(f, TK_RESUME_BACK_STEP);
}

/* The statement's own beginning comes before the middle of it. */
static void before_it(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 12);
  ck_assert_uint_eq(s->nfindings, 0);
  go(f, TK_RESUME_QUIT);
}

START_TEST(finding) {
  static const step steps[] = {run_on, out_of_bounds, before_it};
  play p;
  PLAY(p, steps, true);
  ck_assert_int_eq(launch_named(&p, "k", 6), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

static void still_pending(front *f, const tk_debug_stop *s) {
  tk_point p;
  must_stop(s, TK_STOP_START, 9);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_OK);
  ck_assert(p.pending && !p.ever_resolved);
  go(f, TK_RESUME_CONTINUE);
}

static void in_second(front *f, const tk_debug_stop *s) {
  tk_debug_time now;
  tk_point p;
  must_stop(s, TK_STOP_BREAKPOINT, 19);
  ck_assert_str_eq(s->kernel, "later");
  ck_assert_int_eq(s->point, f->point);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_USAGE);
  tk_debug_when(f->d, &now);
  ck_assert_uint_eq(now.launch, 2);
  ck_assert_uint_eq(now.first, 1);
  ck_assert_uint_eq(now.event, s->event);
  go(f, TK_RESUME_CONTINUE);
}

START_TEST(several_launches) {
  static const step steps[] = {still_pending, in_second};
  play p;
  PLAY(p, steps, false);
  p.f.point = add(&p.f, (tk_point_spec){.where = "later", .once = true});
  ck_assert_int_eq(
      tk_debug_resume(p.f.d, &(tk_resume){.kind = TK_RESUME_CONTINUE}),
      TK_USAGE);
  ck_assert_int_eq(launch(&p), TK_OK);
  ck_assert_int_eq(launch_named(&p, "later", ELEMENTS), TK_OK);
  ck_assert_uint_eq(p.f.launches, 2);
  ck_assert_uint_eq(p.f.ended, 2);
  ck_assert(!tk_debug_point_at(p.f.d, 0, &(tk_point){0}));
  close_play(&p);
}
END_TEST

/* ---- a monitor --------------------------------------------------------- */

static void take_text(void *ud, const char *text, size_t len) {
  strncat(ud, text, len < 100 ? len : 100);
}

static void ask_monitor(front *f, const tk_debug_stop *s) {
  char text[400] = "";
  tk_debugger_options o = {.size = sizeof o, .ud = text, .write = take_text};
  tk_debugger *d;
  must_stop(s, TK_STOP_START, 9);
  ck_assert_int_eq(tk_debugger_over(f->d, &o, &d), TK_OK);
  ck_assert(tk_debugger_engine(d) == f->d);
  ck_assert(tk_debugger_command(d, "info buffers"));
  ck_assert_ptr_nonnull(strstr(text, "x: int32[8]"));
  ck_assert(!tk_debugger_command(d, "nonsense"));
  ck_assert(!tk_debug_will_resume(f->d));
  ck_assert(tk_debugger_command(d, "next 2"));
  ck_assert(tk_debug_will_resume(f->d));
}

static void moved(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 11);
  tk_debug_quit(f->d);
}

START_TEST(monitor) {
  static const step steps[] = {ask_monitor, moved};
  play p;
  PLAY(p, steps, true);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

/* ---- the code, as a gdb stub lays it out ------------------------------- */

static const tk_debug_function *function_named(front *f, const char *name) {
  const tk_debug_function *list;
  size_t n;
  ck_assert_int_eq(tk_debug_functions(f->d, &list, &n), TK_OK);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(list[i].name, name)) return &list[i];
  ck_abort_msg("no function %s", name);
}

static const tk_debug_statement *statement_at(const tk_debug_function *k,
                                              int line) {
  for (size_t i = 0; i < k->nstatements; i++)
    if (k->statements[i].place.line == line) return &k->statements[i];
  ck_abort_msg("no statement at line %d", line);
}

static const tk_debug_local *local_named(const tk_debug_function *k,
                                         const char *name) {
  for (size_t i = 0; i < k->nvariables; i++)
    if (!strcmp(k->variables[i].name, name)) return &k->variables[i];
  ck_abort_msg("no variable %s", name);
}

static void the_functions(front *f) {
  const tk_debug_function *list;
  bool seen[MOST] = {false};
  size_t n;
  ck_assert_int_eq(tk_debug_functions(f->d, &list, &n), TK_OK);
  ck_assert_uint_eq(n, 2); /* none of the library */
  ck_assert(list[0].is_kernel && !list[1].is_kernel);
  ck_assert_str_eq(list[0].name, "k");
  ck_assert_int_eq(list[0].place.line, 8);
  ck_assert_int_eq(list[0].last_line, 16);
  ck_assert_str_eq(list[1].name, "twice");
  ck_assert_str_eq(list[1].place.file, "k.py");
  ck_assert_uint_eq(list[0].nstatements, 8);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < list[i].nstatements; k++) {
      size_t id = list[i].statements[k].id;
      ck_assert(id < MOST && !seen[id]);
      seen[id] = true;
    }
  const tk_debug_statement *st = statement_at(&list[0], 14);
  ck_assert_int_eq(st->depth, 1);
  ck_assert_int_eq(st->place.column, 9);
  ck_assert_int_eq(st->place.end_line, 14);
  ck_assert_int_eq(st->place.end_column, 15);
  ck_assert_uint_eq(st->calls, 0);
  ck_assert_int_eq(statement_at(&list[0], 13)->kind, TK_IR_FOR);
  ck_assert_uint_eq(statement_at(&list[0], 15)->calls, 1);
  ck_assert_uint_eq(statement_at(&list[0], 12)->calls, 0);
}

static void the_variables(front *f) {
  const tk_debug_function *k = function_named(f, "k");
  const tk_debug_local *v = local_named(k, "B");
  ck_assert_int_eq(v->kind, TK_VARIABLE_CONSTEXPR);
  ck_assert_str_eq(v->known, "4");
  ck_assert_uint_eq(v->statement, TK_DEBUG_NO_STATEMENT);
  ck_assert_str_eq(k->variables[0].name, "x");
  ck_assert_str_eq(k->variables[1].name, "n");
  ck_assert_str_eq(k->variables[2].name, "B");
  v = local_named(k, "x");
  ck_assert_int_eq(v->kind, TK_VARIABLE_ARGUMENT);
  ck_assert_int_eq(v->type.pointers, 1);
  ck_assert_int_eq(v->type.dtype, TK_INT32);
  v = local_named(k, "i");
  ck_assert_int_eq(v->kind, TK_VARIABLE_LOCAL);
  ck_assert_int_eq(v->type.rank, 1);
  ck_assert_int_eq(v->type.shape[0], BLOCK);
  ck_assert_uint_eq(v->statement, statement_at(k, 10)->id);
  ck_assert_int_ge(v->value, 0);
  ck_assert_uint_eq(local_named(k, "j")->statement, statement_at(k, 13)->id);
  ck_assert_uint_eq(k->nvariables, 8);
  k = function_named(f, "twice");
  ck_assert_uint_eq(k->nvariables, 2);
  ck_assert_int_eq(local_named(k, "v")->kind, TK_VARIABLE_ARGUMENT);
}

static void the_sources(front *f) {
  tk_debug_source x;
  ck_assert(tk_debug_source_at(f->d, 0, &x));
  ck_assert_str_eq(x.file, "k.py");
  ck_assert_uint_eq(x.length, sizeof source - 1);
  ck_assert_str_eq(x.text, source);
  ck_assert(!tk_debug_source_at(f->d, 1, &x));
  ck_assert(tk_debug_source_named(f->d, "k.py", &x));
  ck_assert(!tk_debug_source_named(f->d, "other.py", &x));
}

static void lay_out(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  the_functions(f);
  the_variables(f);
  the_sources(f);
  const tk_debug_function *k = function_named(f, "k");
  ck_assert_uint_eq(s->statement, statement_at(k, 9)->id);
  f->form = tk_debug_form(f->d);
  ck_assert_str_eq(tk_ir_func_name(tk_ir_kernel(f->form)), "k");
  f->id = statement_at(k, 15)->id;
  f->point = add(f, (tk_point_spec){.statement = &f->id});
  size_t none = 1000;
  tk_point_spec bad = {.statement = &none};
  ck_assert_int_eq(tk_debug_add_point(f->d, &bad, NULL), TK_USAGE);
  bad = (tk_point_spec){.condition = "s"};
  ck_assert_int_eq(tk_debug_add_point(f->d, &bad, NULL), TK_USAGE);
  go(f, TK_RESUME_CONTINUE);
}

static void at_call(front *f, const tk_debug_stop *s) {
  tk_point p;
  must_stop(s, TK_STOP_BREAKPOINT, 15);
  ck_assert_uint_eq(s->statement, f->id);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_OK);
  ck_assert_uint_eq(p.statement, f->id);
  ck_assert_uint_eq(*p.spec.statement, f->id);
  ck_assert_uint_eq(p.hits, 1);
  add(f, (tk_point_spec){
             .kind = TK_POINT_CATCH, .where = "return", .statement = &f->id});
  go(f, TK_RESUME_CONTINUE);
}

static void about_to_return(front *f, const tk_debug_stop *s) {
  static const int32_t want[BLOCK] = {0, 2, 4, 6};
  tk_debug_frame in, out;
  must_stop(s, TK_STOP_RETURN, 6);
  ck_assert_uint_eq(s->nreturned, 1);
  ck_assert_mem_eq(s->returned[0].lanes, want, sizeof want);
  ck_assert_int_eq(tk_debug_frame_at(f->d, 0, &in), TK_OK);
  ck_assert(in.returns && !in.call);
  ck_assert_uint_eq(in.function, function_named(f, "twice")->id);
  ck_assert_int_eq(tk_debug_frame_at(f->d, 1, &out), TK_OK);
  ck_assert(!out.returns);
  ck_assert_uint_eq(out.call, 1);
  ck_assert_uint_eq(out.statement, f->id);
  go(f, TK_RESUME_FINISH);
}

static void returned(front *f, const tk_debug_stop *s) {
  tk_debug_frame c;
  must_stop(s, TK_STOP_FINISH, 16);
  ck_assert_uint_eq(s->nreturned, 1);
  ck_assert_int_eq(tk_debug_frame_at(f->d, 0, &c), TK_OK);
  ck_assert(!c.returns && !c.call);
  add(f, (tk_point_spec){.kind = TK_POINT_CATCH, .where = "exit"});
  go(f, TK_RESUME_CONTINUE);
}

static void before_the_end(front *f, const tk_debug_stop *s) {
  tk_debug_program p;
  must_stop(s, TK_STOP_EXIT, 16);
  ck_assert_uint_eq(s->program, 0);
  ck_assert_int_eq(integer(f, "s"), 3);
  ck_assert_int_eq(tk_debug_program_indexed(f->d, 0, &p), TK_OK);
  ck_assert_int_eq(p.state, TK_PROGRAM_CURRENT);
  ck_assert_int_eq(tk_debug_program_indexed(f->d, 1, &p), TK_OK);
  ck_assert_int_eq(p.state, TK_PROGRAM_NOT_BEGUN);
  ck_assert_int_eq(p.pid[0], 1);
  ck_assert_int_eq(tk_debug_program_indexed(f->d, 2, &p), TK_USAGE);
  for (int i = 1; i <= 3; i++)
    ck_assert_int_eq(tk_debug_delete_point(f->d, i), TK_OK);
  go(f, TK_RESUME_LAUNCH);
}

/* The same specialisation is the same form, with the same numbers. */
static void same_form(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  ck_assert_ptr_eq(tk_debug_form(f->d), f->form);
  tk_resume jump = {.kind = TK_RESUME_JUMP, .statement = 999};
  ck_assert_int_eq(tk_debug_resume(f->d, &jump), TK_USAGE);
  jump.statement = statement_at(function_named(f, "k"), 11)->id;
  resume(f, jump);
}

static void jumped(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_STEP, 11);
  go(f, TK_RESUME_QUIT);
}

START_TEST(code) {
  static const step steps[] = {lay_out,  at_call,        about_to_return,
                               returned, before_the_end, same_form,
                               jumped};
  play p;
  PLAY(p, steps, false);
  const tk_debug_function *list;
  size_t n;
  ck_assert_ptr_null(tk_debug_form(p.f.d));
  ck_assert_int_eq(tk_debug_functions(p.f.d, &list, &n), TK_USAGE);
  ck_assert_int_eq(launch(&p), TK_OK);
  ck_assert_int_eq(p.f.status, TK_OK);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  ck_assert_int_eq(p.f.status, TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

/* ---- bytes, questions, interrupts -------------------------------------- */

static void watch_bytes(front *f, const tk_debug_stop *s) {
  tk_debug_region r;
  tk_point p;
  must_stop(s, TK_STOP_START, 9);
  ck_assert(tk_debug_region_at(f->d, 0, &r));
  tk_point_spec spec = {
      .kind = TK_POINT_WATCH, .address = r.address + 22, .size = 4};
  f->point = add(f, spec);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_OK);
  ck_assert_uint_eq(p.spec.address, spec.address);
  ck_assert_uint_eq(p.spec.size, 4);
  spec.address = r.address + r.size - 2;
  ck_assert_int_eq(tk_debug_add_point(f->d, &spec, NULL), TK_USAGE);
  spec.size = 0;
  ck_assert_int_eq(tk_debug_add_point(f->d, &spec, NULL), TK_USAGE);
  go(f, TK_RESUME_CONTINUE);
}

/* x[5] = 5 becomes 13: only the last two of its bytes are watched, which stay;
 * the first two of x[6] change. */
static void bytes_changed(front *f, const tk_debug_stop *s) {
  const tk_debug_change *c = s->changes;
  unsigned char old[4], now[4];
  ck_assert_int_eq(s->reason, TK_STOP_WATCH);
  ck_assert_uint_eq(s->nchanges, 1);
  ck_assert_int_eq(c->where.line, 16);
  ck_assert_str_eq(c->function, "k");
  ck_assert_int_eq(c->pid[0], 1);
  ck_assert_uint_eq(c->now.size, 4);
  memcpy(old, c->old.lanes, 4);
  memcpy(now, c->now.lanes, 4);
  ck_assert(!old[0] && !now[0] && old[2] == 6 && now[2] == 15);
  ck_assert_uint_eq(c->lanes, 1);
  ck_assert_int_eq(c->first_lane, 2);
  go(f, TK_RESUME_BACK);
}

static void at_beginning(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_HISTORY, 9);
  tk_debug_region r;
  ck_assert(tk_debug_region_at(f->d, 0, &r));
  ck_assert_int_eq(tk_debug_delete_point(f->d, f->point), TK_OK);
  add(f, (tk_point_spec){.kind = TK_POINT_WATCH,
                         .address = r.address + 28,
                         .size = 1,
                         .reads = true});
  go(f, TK_RESUME_CONTINUE);
}

static void byte_read(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(s->reason, TK_STOP_WATCH);
  ck_assert(!s->changes[0].changed);
  ck_assert_int_eq(s->changes[0].where.line, 12);
  ck_assert_int_eq(s->changes[0].pid[0], 1);
  (void)f;
}

START_TEST(bytes) {
  static const step steps[] = {watch_bytes, bytes_changed, at_beginning,
                               byte_read};
  play p;
  PLAY(p, steps, false);
  ck_assert_int_eq(launch(&p), TK_OK);
  close_play(&p);
}
END_TEST

static void ask_at_14(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  f->point = add(f, (tk_point_spec){.where = "14", .asks = true});
  f->interrupts = true;
  go(f, TK_RESUME_CONTINUE);
}

/* It said no, and interrupted: the statement after that one is the stop. */
static void interrupted(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_INTERRUPT, 14);
  ck_assert_uint_eq(s->trip, 1);
  ck_assert_uint_eq(f->asked, 1);
  f->interrupts = false;
  f->agrees = true;
  go(f, TK_RESUME_CONTINUE);
}

static void agreed(front *f, const tk_debug_stop *s) {
  tk_point p;
  must_stop(s, TK_STOP_BREAKPOINT, 14);
  ck_assert_uint_eq(s->trip, 2);
  ck_assert_uint_eq(f->asked, 2);
  ck_assert_int_eq(tk_debug_point_numbered(f->d, f->point, &p), TK_OK);
  ck_assert(p.spec.asks);
  ck_assert_uint_eq(p.hits, 1); /* those that it agreed to */
  ck_assert_int_eq(tk_debug_delete_point(f->d, f->point), TK_OK);
  f->point = add(
      f, (tk_point_spec){.kind = TK_POINT_WATCH, .where = "s", .asks = true});
  f->agrees = false;
  go(f, TK_RESUME_CONTINUE);
}

static void at_its_end(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(s->reason, TK_STOP_END);
  ck_assert_uint_gt(f->asked, 3);
  f->agrees = true;
  go(f, TK_RESUME_BACK);
}

static void back_at_change(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(s->reason, TK_STOP_WATCH);
  (void)f;
  tk_debug_quit(f->d);
}

START_TEST(questions) {
  static const step steps[] = {ask_at_14, interrupted, agreed, at_its_end,
                               back_at_change};
  play p;
  PLAY(p, steps, true);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

static void *interrupt_soon(void *d) {
  usleep(20000);
  tk_debug_interrupt(d);
  return NULL;
}

static void run_for_long(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 23);
  ck_assert_int_eq(pthread_create(&f->thread, NULL, interrupt_soon, f->d), 0);
  go(f, TK_RESUME_CONTINUE);
}

static void from_a_thread(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(pthread_join(f->thread, NULL), 0);
  ck_assert_int_eq(s->reason, TK_STOP_INTERRUPT);
  ck_assert(s->in_loop);
  go(f, TK_RESUME_QUIT);
}

START_TEST(interrupt) {
  static const step steps[] = {run_for_long, from_a_thread};
  play p;
  PLAY(p, steps, false);
  ck_assert_int_eq(launch_named(&p, "endless", ELEMENTS), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

static void call_at_14(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  f->point = add(f, (tk_point_spec){.where = "14", .asks = true});
  f->calls = true;
  go(f, TK_RESUME_FINISH);
}

/* A call that is taken back does not come about. */
static void call_and_take_back(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_BREAKPOINT, 15);
  ck_assert_uint_eq(f->called, 1);
  tk_debug_call(f->d);
  tk_debug_call_off(f->d);
  go(f, TK_RESUME_FINISH);
}

/* Nor does one end the step that is being taken. */
static void finished_uncalled(front *f, const tk_debug_stop *s) {
  ck_assert_int_eq(s->reason, TK_STOP_FINISH);
  ck_assert_uint_eq(f->called, 1);
  tk_debug_quit(f->d);
}

START_TEST(calls) {
  static const step steps[] = {call_at_14, call_and_take_back,
                               finished_uncalled};
  play p;
  PLAY(p, steps, false);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

static void bad_condition(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_START, 9);
  add(f, (tk_point_spec){.where = "14", .condition = "x[s + 100] > 0"});
  go(f, TK_RESUME_CONTINUE);
}

static void stops_for_it(front *f, const tk_debug_stop *s) {
  must_stop(s, TK_STOP_BREAKPOINT, 14);
  ck_assert_uint_eq(f->notice_findings, 1);
  ck_assert_str_ne(f->notice, "");
  go(f, TK_RESUME_QUIT);
}

START_TEST(condition) {
  static const step steps[] = {bad_condition, stops_for_it};
  play p;
  PLAY(p, steps, false);
  ck_assert_int_eq(launch(&p), TK_INTERRUPTED);
  close_play(&p);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("the debugger's engine");
  TCase *c = tcase_create("engine");
  tcase_add_test(c, points_and_steps);
  tcase_add_test(c, values_and_memory);
  tcase_add_test(c, watch_and_programs);
  tcase_add_test(c, finding);
  tcase_add_test(c, several_launches);
  tcase_add_test(c, monitor);
  tcase_add_test(c, code);
  tcase_add_test(c, bytes);
  tcase_add_test(c, questions);
  tcase_add_test(c, interrupt);
  tcase_add_test(c, calls);
  tcase_add_test(c, condition);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
