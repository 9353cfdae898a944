/* lanes.c - instructions on numbers that know about values that were never
 * set, and those that go lane by lane.
 */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/number.h"

void tkp_run_move(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_reg d = in->d[0], s = in->s[0];
  if (d.bits == 1)
    *tkp_r32(w, d) = (*tkp_r32(w, d) & ~lanes) | (tkp_pred(w, s) & lanes);
  else if (d.bits > 32)
    TKP_EACH(i, lanes) tkp_r64(w, d)[i] = tkp_r64(w, s)[i];
  else
    TKP_EACH(i, lanes) tkp_r32(w, d)[i] = tkp_r32(w, s)[i];
}

/* Of lanes whose operands have not all a value, those where the one that has
 * decides: zeros for and, ones for or. */
static uint32_t decided(const tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t found = 0;
  for (int k = 0; k < 2; k++) TKP_EACH(lane, lanes & w->set[in->s[k].id]) {
      uint64_t v = tkp_get(w, in->s[k], (int)lane);
      uint64_t all = tkp_mask(in->s[k].bits);
      if (v == (in->mode ? all : 0)) found |= UINT32_C(1) << lane;
    }
  return found;
}

/* and, or (mode 1) */
void tkp_run_and(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_reg d = in->d[0], s = in->s[0], t = in->s[1];
  uint32_t set = w->set[s.id] & w->set[t.id];
  if (lanes & ~set) set |= decided(w, in, lanes & ~set);
  if (d.bits == 1) {
    uint32_t a = tkp_pred(w, s), b = tkp_pred(w, t),
             r = in->mode ? a | b : a & b;
    *tkp_r32(w, d) = (*tkp_r32(w, d) & ~lanes) | (r & lanes);
  } else if (d.bits > 32) {
    const uint64_t *a = tkp_r64(w, s), *b = tkp_r64(w, t);
    uint64_t *r = tkp_r64(w, d);
    TKP_EACH(i, lanes) r[i] = in->mode ? a[i] | b[i] : a[i] & b[i];
  } else {
    const uint32_t *a = tkp_r32(w, s), *b = tkp_r32(w, t);
    uint32_t *r = tkp_r32(w, d);
    TKP_EACH(i, lanes) r[i] = in->mode ? a[i] | b[i] : a[i] & b[i];
  }
  tkp_mark(w, d, lanes, set);
}

void tkp_run_select(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t p = tkp_pred(w, in->s[2]);
  uint32_t set = w->set[in->s[2].id] &
                 ((p & w->set[in->s[0].id]) | (~p & w->set[in->s[1].id]));
  TKP_EACH(i, lanes)
  tkp_put(w, in->d[0], (int)i, tkp_get(w, in->s[p >> i & 1 ? 0 : 1], (int)i));
  tkp_mark(w, in->d[0], lanes, set);
}

static tkp_step step_of(const tkp_warp *w, const tkp_inst *in, int lane) {
  tkp_step s = {
      .in = in->math, .type = tk_asm_types[in->math->type].part, .n = in->ns};
  for (int k = 0; k < in->ns && k < TK_ASM_ARGS; k++)
    s.v[k] = tkp_get(w, in->s[k], lane);
  return s;
}

/* A register that is wider than the result takes its sign. */
static void put_number(tkp_warp *w, const tkp_inst *in, int lane, uint64_t v) {
  const tk_asm_type_info *t = &tk_asm_types[in->math->type];
  if (in->math->op == TK_AO_CVT && in->d[0].bits > t->bits) {
    v &= tkp_mask(t->bits);
    if (t->kind == 's') v = (uint64_t)tkp_signed(v, t->bits);
  }
  tkp_put(w, in->d[0], lane, v);
}

void tkp_run_number(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t set = UINT32_MAX;
  TKP_EACH(lane, lanes) {
    tkp_step s = step_of(w, in, (int)lane);
    bool carry = w->carry >> lane & 1;
    s.carry = &carry;
    put_number(w, in, (int)lane, tkp_result(&s));
    w->carry = (w->carry & ~(UINT32_C(1) << lane)) | (uint32_t)carry << lane;
  }
  if (in->pure) return; /* else there is a carry flag */
  for (int k = 0; k < in->ns; k++) set &= w->set[in->s[k].id];
  tkp_mark(w, in->d[0], lanes, set);
}

void tkp_run_compare(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes) {
    tkp_step s = step_of(w, in, (int)lane);
    bool other, p = tkp_predicate(&s, s.type, &other);
    tkp_put(w, in->d[0], (int)lane, p);
    tkp_put(w, in->d[1], (int)lane, other);
  }
}

/* mov.b64 d, {a, b} and back: the first has the lowest bits. */
void tkp_run_pack(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes) {
    uint64_t v = 0;
    unsigned at = 0;
    for (int k = 0; k < in->ns; at += in->s[k++].bits)
      v |= tkp_get(w, in->s[k], (int)lane) << at;
    at = 0;
    for (int k = 0; k < in->nd; at += in->d[k++].bits)
      tkp_put(w, in->d[k], (int)lane, v >> at);
  }
}

/* Clocks count what the warp has done, so that they grow, and are the same
 * each time. */
void tkp_run_clock(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  bool high = in->mode == TKP_S_clock_hi || in->mode == TKP_S_globaltimer_hi;
  TKP_EACH(lane, lanes)
  tkp_put(w, in->d[0], (int)lane, high ? w->steps >> 32 : w->steps);
  tkp_mark(w, in->d[0], lanes, lanes);
}
