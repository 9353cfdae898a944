/* axis_watch.c - checks the facts of nvptx/axis.h against what runs. */
#include "support/axis_watch.h"

#include "interp/interp.h"
#include "nvptx/axis.h"
#include "support/assertions.h"

typedef struct checker {
  tki_observer observer;
  tk_arena arena;
  tkv_facts facts;
  long count;
} checker;

static checker the_checker;

typedef struct block {
  const tk_inst *in;
  const tk_type *type;
  const tki_val *v;
  int64_t step;
} block;

static int64_t lane_of(const block *b, size_t i) {
  size_t size = tk_lane_size(b->type);
  const void *at = tki_lane(b->v, i, size);
  return b->type->ptr ? *(const int64_t *)at
                      : tk_lane_int((tk_dtype)b->type->elem, at);
}

/* The same to as many bits as the type has: indices may wrap around. */
static bool same_bits(const block *b, int64_t x, int64_t y) {
  int bits = b->type->ptr ? 64 : tk_dtypes[b->type->elem].bits;
  return !((uint64_t)(x ^ y) << (64 - bits));
}

static void check_axis(checker *c, const block *b, const tkv_fact *x, int axis,
                       size_t stride, size_t n) {
  int64_t run = x->contiguity[axis], equal = x->constancy[axis];
  int64_t divisor = x->divisibility[axis];
  size_t lanes = (size_t)tk_numel(b->type);
  c->count += run > 1 || equal > 1 || divisor > 1;
  for (size_t i = 0; i < lanes; i++) {
    size_t k = i / stride % n;
    int64_t v = lane_of(b, i);
    bool starts = k % (size_t)run == 0;
    ck_assert_msg(starts || same_bits(b, v, lane_of(b, i - stride) + b->step),
                  "%s: lane %zu is not contiguous along axis %d",
                  tk_inst_name((tk_opcode)b->in->op), i, axis);
    ck_assert_msg(k % (size_t)equal == 0 || v == lane_of(b, i - stride),
                  "%s: lane %zu differs along axis %d",
                  tk_inst_name((tk_opcode)b->in->op), i, axis);
    ck_assert_msg(!starts || v % divisor == 0 || divisor == TKV_MOST_DIVISIBLE,
                  "%s: lane %zu, %lld, is no multiple of %lld",
                  tk_inst_name((tk_opcode)b->in->op), i, (long long)v,
                  (long long)divisor);
  }
}

static void check_result(void *ud, tki *t, const tk_inst *in,
                         const tki_val *args) {
  checker *c = ud;
  const tk_func *f = t->frame->func;
  (void)args;
  if (in->nres != 1 || in->op == TK_I_COND) return;
  const tk_type *type = &f->slots[in->res[0]].type;
  const tkv_fact *x = &c->facts.of[f->id][in->res[0]];
  if (!type->ptr && !tk_is_int((tk_dtype)type->elem)) return;
  tk_type pointee = type->ptr ? tk_pointee(*type) : *type;
  block b = {in, type, &t->frame->slots[in->res[0]],
             type->ptr ? (int64_t)tk_lane_size(&pointee) : 1};
  ck_assert(x->known);
  size_t stride = (size_t)tk_numel(type);
  for (int i = 0; i < type->rank; i++) {
    stride /= (size_t)type->shape[i];
    check_axis(c, &b, x, i, stride, (size_t)type->shape[i]);
  }
  if (!type->rank) check_axis(c, &b, x, 0, 1, 1);
}

static bool is_hint(const tk_inst *in) {
  return in->op == TK_I_HINT;
}

static void begin_watch(void *ud, struct tki *t) {
  checker *c = ud;
  tk_arena_init(&c->arena, t->env);
  c->facts = tkv_find_facts(&c->arena, t->program);
  /* What a user promises need not be true. */
  if (tk_program_has(t->program, is_hint)) return;
  c->observer = (tki_observer){.ud = c, .after = check_result};
  tki_observe(t, &c->observer);
}

static void end_watch(void *ud, struct tki *t, tk_status st) {
  checker *c = ud;
  (void)t, (void)st;
  tk_arena_free(&c->arena);
}

void axis_watch(tk_session *s) {
  static tk_watcher watcher = {
      .ud = &the_checker, .begin = begin_watch, .end = end_watch};
  watcher.next = s->watchers;
  s->watchers = &watcher;
}

long axis_watch_count(void) {
  return the_checker.count;
}
