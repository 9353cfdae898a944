/* map.c - a function of scalars called for every `pack` lanes of blocks. */
#include <string.h>

#include "interp/bind.h"
#include "interp/interp.h"

/* A block whose lanes go in or come out. */
typedef struct stream {
  const char *from; /* of an operand */
  char *to;         /* of a result */
  size_t size;
  int32_t region;
} stream;

typedef struct mapping {
  tki *t;
  const tk_inst *in;
  stream *from, *to;
  tki_val *args, *out;
} mapping;

static void map_group(mapping *m, size_t at) {
  TK_ASSERT(at + (size_t)tk_map_fn_pack(m->in) <= (size_t)m->in->n);
  size_t pack = (size_t)tk_map_fn_pack(m->in);
  for (size_t i = 0; i < m->in->nargs * pack; i++) {
    const stream *s = &m->from[i / pack];
    m->args[i] = tki_make_lane(s->from + (at + i % pack) * s->size, s->size);
    m->args[i].region = s->region;
  }
  tki_call(m->t, tk_map_fn_callee(m->in), m->args, m->in->nargs * pack, m->out);
  for (size_t i = 0; i < m->in->nres * pack; i++) {
    stream *s = &m->to[i / pack];
    memcpy(s->to + (at + i % pack) * s->size, tki_lanes(&m->out[i]), s->size);
    tki_release(m->t, &m->out[i]);
  }
}

void tki_run_MAP_FN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  const tk_slot *slots = t->frame->func->slots;
  size_t n = in->nargs, k = in->nres, pack = (size_t)tk_map_fn_pack(in);
  mapping m = {.t = t, .in = in};
  m.args = tki_scratch_new(t, (n + k) * sizeof(stream) +
                                  ((n + k) * pack + k) * sizeof(tki_val));
  m.out = m.args + n * pack;
  tki_val *res = m.out + k * pack;
  m.from = (stream *)(void *)(res + k);
  m.to = m.from + n;
  for (size_t i = 0; i < n; i++) {
    const tki_val *v = &frame[in->args[i]];
    m.from[i] = (stream){.from = tki_lanes(v),
                         .size = tk_lane_size(&slots[in->args[i]].type),
                         .region = v->region};
  }
  for (size_t i = 0; i < k; i++) {
    const tk_type *type = &slots[in->res[i]].type;
    res[i] = tki_val_new(t, type, (size_t)in->n);
    m.to[i] = (stream){.to = tki_writable(&res[i]), .size = tk_lane_size(type)};
  }
  for (size_t at = 0; at < (size_t)in->n; at += pack) map_group(&m, at);
  for (size_t i = 0; i < k; i++) tki_set(t, &frame[in->res[i]], res[i]);
  tki_scratch_free(t, m.args);
}
