/* map.c - a function of scalars called for every `pack` lanes of blocks. */
#include <string.h>

#include "interp/bind.h"
#include "interp/interp.h"

/* A block whose lanes go in or come out. */
typedef struct stream {
  char *data;
  size_t size;
  int32_t region;
} stream;

static stream stream_of(tki_val *v, const tk_type *t) {
  return (stream){tki_data(v), tk_lane_size(t), v->region};
}

static tki_val lane_of(const stream *s, size_t i) {
  tki_val v = {.region = s->region};
  memcpy(&v.u, s->data + i * s->size, s->size);
  return v;
}

typedef struct mapping {
  tki *t;
  const tk_inst *in;
  stream *from, *to;
  tki_val *args, *out;
} mapping;

static void map_group(mapping *m, size_t at) {
  size_t pack = (size_t)tk_map_fn_pack(m->in);
  for (size_t i = 0; i < m->in->nargs * pack; i++)
    m->args[i] = lane_of(&m->from[i / pack], at + i % pack);
  tki_call(m->t, tk_map_fn_callee(m->in), m->args, m->in->nargs * pack, m->out);
  for (size_t i = 0; i < m->in->nres * pack; i++) {
    stream *s = &m->to[i / pack];
    memcpy(s->data + (at + i % pack) * s->size, tki_data(&m->out[i]), s->size);
    tki_release(m->t, &m->out[i]);
  }
}

void tki_run_MAP_FN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  const tk_slot *slots = t->frame->func->slots;
  size_t n = in->nargs, k = in->nres, pack = (size_t)tk_map_fn_pack(in);
  tki_buf *buf = tki_buf_new(t, (n + k) * sizeof(stream) +
                                    ((n + k) * pack + k) * sizeof(tki_val));
  mapping m = {.t = t, .in = in, .args = tki_buf_data(buf)};
  m.out = m.args + n * pack;
  tki_val *res = m.out + k * pack;
  m.from = (stream *)(void *)(res + k);
  m.to = m.from + n;
  for (size_t i = 0; i < n; i++)
    m.from[i] = stream_of(&frame[in->args[i]], &slots[in->args[i]].type);
  for (size_t i = 0; i < k; i++) {
    const tk_type *type = &slots[in->res[i]].type;
    res[i] = tki_val_new(t, type, (size_t)in->n);
    m.to[i] = stream_of(&res[i], type);
  }
  for (size_t at = 0; at < (size_t)in->n; at += pack) map_group(&m, at);
  for (size_t i = 0; i < k; i++) tki_set(t, &frame[in->res[i]], res[i]);
  tki_buf_free(t, buf);
}
