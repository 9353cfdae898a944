/* test_lanes.c - ir/lanes.h against what instructions do.
 *
 * One kernel has every instruction whose result has lanes of its operands.
 * Each is run again with one lane of one operand changed, for every lane of
 * every operand: a lane of the result may change only if it is said to be
 * made of that lane, and of what it is said to be made some instance must
 * show every lane.  A row of inst.def that the kernel lacks fails the test.
 */
#include <stdio.h>
#include <string.h>

#include "interp/interp.h"
#include "ir/lanes.h"
#include "support/suite.h"

static const char kernel[] =
    "import triton\n"
    "import triton.language as tl\n"
    "from triton.language.extra import libdevice\n"
    "@triton.jit\n"
    "def mix(a, b):\n"
    "    return a ^ (b + b)\n"
    "@triton.jit\n"
    "def both(a, b):\n"
    "    return a + b, a - b\n"
    "@triton.jit\n"
    "def k(p, N: tl.constexpr):\n"
    "    i = tl.arange(0, 64)\n"
    "    v = tl.reshape(i, [2, 4, 8])\n"
    "    m = tl.reshape(i, [8, 8])\n"
    "    f = m + 1.0\n"
    "    e = tl.multiple_of(i, 1)\n"
    "    c = tl.permute(v, [2, 0, 1])\n"
    "    c = tl.trans(m)\n"
    "    c = v + tl.arange(0, 4)[None, :, None]\n"
    "    c = -v\n"
    "    q = m == tl.reshape(i, [8, 8])\n"
    "    r = tl.where(q, m, 0 - m)\n"
    "    g = tl.fma(f, f, f)\n"
    "    g = libdevice.hypot(f, f + 1.0)\n"
    "    a = tl.inline_asm_elementwise(\n"
    "        \"add.s32 $0, $2, $3; sub.s32 $1, $2, $3;\", \"=r,=r,r,r\", [i],\n"
    "        dtype=tl.int32, is_pure=True, pack=2)\n"
    "    b = tl.map_elementwise(both, i, pack=2)\n"
    "    h = p + v\n"
    "    s0 = tl.sum(v, 0)\n"
    "    s1 = tl.sum(v, 1)\n"
    "    s2 = tl.sum(v, 2)\n"
    "    x, y = tl.max(v, 1, return_indices=True)\n"
    "    z = tl.reduce(v, 1, mix)\n"
    "    z = tl.reduce(v, 0, mix)\n"
    "    c = tl.cumsum(v, 1)\n"
    "    c = tl.cumsum(v, 1, reverse=True)\n"
    "    c = tl.associative_scan(v, 0, mix)\n"
    "    c = tl.associative_scan(v, 2, mix, reverse=True)\n"
    "    j = tl.join(m, m + 1)\n"
    "    l, o = tl.split(j)\n"
    "    c = tl.cat(i, i + 1, can_reorder=True)\n"
    "    c = tl.flip(v, 1)\n"
    "    w = tl.gather(v, (v * 5 + 3) % 4, 1)\n"
    "    w = tl.sort(m ^ 5)\n"
    "    w = tl.topk(m ^ 5, 4)\n"
    "    n = tl.histogram(i % 4, 4)\n"
    "    n = tl.histogram(i % 4, 4, mask=i < 50)\n"
    "    t = tl.reshape(i + 1, [1, 2, 32]) + tl.full([2, 2, 32], 1, tl.int32)\n"
    "    u = (t % 5 + 1).to(tl.float16)\n"
    "    d = tl.dot(u, tl.permute(u, [0, 2, 1]),\n"
    "               acc=tl.full([2, 2, 2], 1.0, tl.float32))\n"
    "    ka = tl.reshape((i % 4 + 0x42).to(tl.uint8), [2, 32])\n"
    "    sa = tl.full([2, 2], 128, tl.uint8)\n"
    "    kb = tl.full([64, 2], 0.5, tl.float32).to(tl.bfloat16)\n"
    "    d = tl.dot_scaled(ka, sa, \"e2m1\", kb, None, \"bf16\")\n"
    "    at = p + 2 * tl.arange(0, 16)\n"
    "    x = tl.load(at)\n"
    "    some = tl.arange(0, 16) % 4 < 3\n"
    "    x = tl.load(at, mask=some, other=x + 1)\n"
    "    x = tl.atomic_add(at, x, mask=some)\n"
    "    x = tl.atomic_xchg(at, x)\n"
    "    x = tl.atomic_cas(at, x, x + 1)\n";

enum { MOST = 256, SETS = 8, RESULTS = 2 };

/* What is known of each instruction of inst.def. */
typedef struct seen {
  bool runs, exact;
} seen;

typedef struct watch {
  tki_observer observer;
  seen of[TK_INST_COUNT];
} watch;

/* One instruction that has run. */
typedef struct subject {
  tki *t;
  const tk_func *f;
  const tk_inst *in;
  const tki_val *args;
  tki_run run;        /* NULL: the program's own */
  size_t said, shown; /* pairs of a result's lane and one that it is made of */
} subject;

static const tk_type *type_of(const subject *s, int slot) {
  return &s->f->slots[slot].type;
}

static size_t lanes_of(const subject *s, int slot) {
  return (size_t)tk_numel(type_of(s, slot));
}

/* ---- running it again ---------------------------------------------------- */

/* A block of its own with the lanes of an operand. */
static tki_val own_block(const subject *s, int k) {
  const tk_type *type = type_of(s, s->in->args[k]);
  size_t n = (size_t)tk_numel(type), size = tk_lane_size(type);
  tki_val x = s->args[k], v = tki_val_new(s->t, type, n);
  v.region = x.region;
  for (size_t i = 0; i < n; i++)
    memcpy((char *)tki_writable(&v) + i * size, tki_lane(&x, i, size), size);
  return v;
}

/* Another value that any type and any use can bear. */
static void change_lane(const subject *s, int slot, tki_val *v, size_t lane) {
  const tk_type *type = type_of(s, slot);
  size_t size = tk_lane_size(type);
  uint8_t *at = (uint8_t *)tki_writable(v) + lane * size;
  bool real = !type->ptr && tk_is_float((tk_dtype)type->elem);
  bool packed = tk_inst_lanes(s->in) == TK_LANES_SCALES && size == 1;
  if (type->ptr) { /* to the next element, which is nobody else's */
    tk_type pointee = tk_pointee(*type);
    at[0] ^= (uint8_t)tk_lane_size(&pointee);
    return;
  }
  at[real ? size - 1 : 0] ^= packed ? 0x11 : 1;
}

/* The bytes of its results, after lane `lane` of operand k has changed; of
 * operands as they were if k < 0. */
static void run_again(const subject *s, int k, size_t lane,
                      uint8_t out[RESULTS][MOST * 8]) {
  static tki_val slots[4096];
  tk_inst copy = *s->in;
  tki_op op = s->t->code[s->in->id];
  ck_assert_uint_le(s->f->nslots, TK_COUNT(slots));
  copy.kill = 0;
  op.in = &copy;
  op.part = TKI_WHOLE;
  if (s->run) op.run = s->run;
  memset(slots, 0, s->f->nslots * sizeof *slots);
  for (int i = 0; i < s->in->nargs; i++)
    if (tki_is_uniform(&slots[s->in->args[i]]))
      slots[s->in->args[i]] = own_block(s, i);
  if (k >= 0) change_lane(s, s->in->args[k], &slots[s->in->args[k]], lane);
  tki_watching w = tki_unwatch(s->t);
  uint8_t memory[MOST * 4];
  tki_region *r0 = &s->t->regions[0];
  ck_assert_uint_eq(r0->hi - r0->lo, sizeof memory);
  memcpy(memory, r0->host, sizeof memory);
  op.run(s->t, &op, slots);
  memcpy(r0->host, memory, sizeof memory);
  tki_rewatch(s->t, &w);
  for (int r = 0; r < s->in->nres; r++) {
    int slot = s->in->res[r];
    size_t n = (size_t)s->in->n, size = tk_lane_size(type_of(s, slot));
    ck_assert_uint_le(n, MOST);
    for (size_t i = 0; i < n; i++)
      memcpy(&out[r][i * size], tki_lane(&slots[slot], i, size), size);
  }
  for (size_t i = 0; i < s->f->nslots; i++) tki_release(s->t, &slots[i]);
}

/* ---- comparing ----------------------------------------------------------- */

static bool is_in(const tk_lane_set *sets, size_t n, const subject *s, int slot,
                  size_t lane) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < sets[i].n; k++)
      if (s->in->args[sets[i].arg] == slot &&
          tk_lane_set_at(&sets[i], k) == lane)
        return true;
  return false;
}

/* What each lane is made of, for lane `lane` of operand k that has changed. */
static void compare_results(subject *s, int k, size_t lane,
                            uint8_t was[RESULTS][MOST * 8],
                            uint8_t is[RESULTS][MOST * 8]) {
  tk_lane_set sets[SETS];
  for (int r = 0; r < s->in->nres; r++) {
    size_t size = tk_lane_size(type_of(s, s->in->res[r]));
    for (size_t i = 0; i < (size_t)s->in->n; i++) {
      size_t n = tk_lanes_of(s->f, s->in, r, i, sets);
      bool said = is_in(sets, n, s, s->in->args[k], lane);
      bool shown = memcmp(&was[r][i * size], &is[r][i * size], size) != 0;
      ck_assert_msg(said || !shown,
                    "%s: lane %zu of operand %d goes into lane %zu of result "
                    "%d, which tk_lanes_of does not say",
                    tk_inst_name((tk_opcode)s->in->op), lane, k, i, r);
      s->said += said;
      s->shown += shown;
    }
  }
}

/* Moved lanes are those that tk_lanes_of says, bit by bit. */
static void compare_moves(const subject *s) {
  tk_lane_set set;
  for (int r = 0; r < s->in->nres; r++) {
    size_t size = tk_lane_size(type_of(s, s->in->res[r]));
    tki_val *to = &s->t->frame->slots[s->in->res[r]];
    for (size_t i = 0; i < (size_t)s->in->n; i++) {
      ck_assert_uint_eq(tk_lanes_of(s->f, s->in, r, i, &set), 1);
      ck_assert_uint_eq(set.n, 1);
      tki_val from = s->args[set.arg];
      ck_assert_mem_eq(tki_lane(to, i, size), tki_lane(&from, set.first, size),
                       size);
    }
  }
}

static bool is_subject(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  return lanes != TK_LANES_NONE && lanes != TK_LANES_CALLS;
}

static void look_at(watch *w, subject *s) {
  static uint8_t was[RESULTS][MOST * 8], is[RESULTS][MOST * 8];
  seen *of = &w->of[s->in->op];
  run_again(s, -1, 0, was);
  for (int k = 0; k < s->in->nargs; k++)
    for (size_t i = 0; i < lanes_of(s, s->in->args[k]); i++) {
      run_again(s, k, i, is);
      compare_results(s, k, i, was, is);
    }
  of->runs = true;
  of->exact |= s->said > 1 && s->said == s->shown;
}

/* Two that a kernel may lack are made of others: SLICE, which only a
 * debugger's expressions have, and HINT, whose promises may be dropped. */
static void look_at_stand_in(watch *w, const subject *s) {
  tk_inst in = *s->in;
  subject x = *s;
  x.in = &in;
  if (in.op == TK_I_COPY) {
    in.op = TK_I_HINT;
    x.run = tki_run_HINT;
    look_at(w, &x);
  } else if (in.op == TK_I_FLIP) {
    in.op = TK_I_SLICE;
    in.type.shape[tk_inst_axis(&in)] = 2;
    in.n = tk_numel(&in.type);
    in.attr[1] = 3;
    in.attr[2] = -2;
    x.run = tki_run_SLICE;
    look_at(w, &x);
  }
}

static void on_after(void *ud, tki *t, const tk_inst *in, const tki_val *args) {
  watch *w = ud;
  subject s = {.t = t, .f = t->frame->func, .in = in, .args = args};
  if (!is_subject(in)) return;
  look_at_stand_in(w, &s);
  if (tk_inst_moves(in)) compare_moves(&s);
  look_at(w, &s);
}

static void begin(void *ud, struct tki *t) {
  watch *w = ud;
  w->observer.ud = w;
  w->observer.after = on_after;
  tki_observe(t, &w->observer);
}

/* Of these the values decide which lanes it is, so that no instance shows all
 * that are possible; and what an atomic access writes does not show in what
 * was there. */
static bool is_by_value(tk_opcode op) {
  tk_inst in = {.op = (uint8_t)op};
  tk_lanes lanes = tk_inst_lanes(&in);
  return op == TK_I_SELECT || op == TK_I_ATOMIC || op == TK_I_CAS ||
         lanes == TK_LANES_GATHERS || lanes == TK_LANES_SORTS ||
         lanes == TK_LANES_COUNTS;
}

START_TEST(lanes_are_those_of_the_interpreter) {
  static watch w;
  tk_session *s = tk_session_new();
  tk_watcher watcher = {.ud = &w, .begin = begin};
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  ck_assert_int_eq(tk_module_open(s, "k.py", kernel, sizeof kernel - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  tk_launch_grid(l, 1, 1, 1);
  ck_assert_int_eq(tk_launch_arg_text(l, "p=i32[256]:arange"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "N=8"), TK_OK);
  s->watchers = &watcher;
  tk_status st = tk_launch_run(l, NULL, NULL);
  if (st) fputs(tk_report(s, false), stderr);
  ck_assert_int_eq(st, TK_OK);
  s->watchers = NULL;
  tk_session_free(s);
  for (int i = 0; i < TK_INST_COUNT; i++) {
    tk_inst in = {.op = (uint8_t)i};
    if (!is_subject(&in)) continue;
    ck_assert_msg(w.of[i].runs, "the kernel has no %s",
                  tk_inst_name((tk_opcode)i));
    ck_assert_msg(w.of[i].exact || is_by_value((tk_opcode)i),
                  "%s: tk_lanes_of says lanes that no result shows",
                  tk_inst_name((tk_opcode)i));
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lanes");
  TCase *c = tcase_create("lanes");
  tcase_add_test(c, lanes_are_those_of_the_interpreter);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
