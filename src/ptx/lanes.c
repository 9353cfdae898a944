/* lanes.c - instructions on numbers that go lane by lane, and what of a
 * register has a value after one.
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

/* and, or (mode 1) */
void tkp_run_and(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_reg d = in->d[0], s = in->s[0], t = in->s[1];
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
}

void tkp_run_select(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t p = tkp_pred(w, in->s[2]);
  TKP_EACH(i, lanes)
  tkp_put(w, in->d[0], (int)i, tkp_get(w, in->s[p >> i & 1 ? 0 : 1], (int)i));
}

static tkp_step step_of(const tkp_warp *w, const tkp_inst *in, int lane) {
  TK_ASSERT(in->math);
  tkp_step s = {
      .in = in->math, .type = tk_asm_types[in->math->type].part, .n = in->ns};
  for (int k = 0; k < in->ns && k < TK_ASM_ARGS; k++)
    s.v[k] = tkp_get(w, in->s[k], lane);
  return s;
}

/* A register that is wider than the result takes its sign. */
static uint64_t widened(const tkp_inst *in, uint64_t v) {
  const tk_asm_type_info *t = &tk_asm_types[in->math->type];
  if (in->math->op != TK_AO_CVT || in->d[0].bits <= t->bits) return v;
  v &= tkp_mask(t->bits);
  return t->kind == 's' ? (uint64_t)tkp_signed(v, t->bits) : v;
}

void tkp_run_number(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t set = UINT32_MAX;
  TKP_EACH(lane, lanes) {
    tkp_step s = step_of(w, in, (int)lane);
    bool carry = w->carry >> lane & 1;
    s.carry = &carry;
    tkp_put(w, in->d[0], (int)lane, widened(in, tkp_result(&s)));
    w->carry = (w->carry & ~(UINT32_C(1) << lane)) | (uint32_t)carry << lane;
  }
  if (in->pure) return; /* else there is a carry flag */
  TK_ASSERT(in->nd == 1);
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
    TK_ASSERT(at <= 64);
    at = 0;
    for (int k = 0; k < in->nd; at += in->d[k++].bits)
      tkp_put(w, in->d[k], (int)lane, v >> at);
  }
}

/* Clocks count what the warp has done, so that they grow, and are the same
 * each time. */
void tkp_run_clock(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  bool high = in->mode == TKP_S_clock_hi || in->mode == TKP_S_globaltimer_hi;
  w->b->m->clocks++;
  TKP_EACH(lane, lanes)
  tkp_put(w, in->d[0], (int)lane, high ? w->steps >> 32 : w->steps);
  tkp_mark(w, in->d[0], lanes, lanes);
}

/* ---- what has a value ----------------------------------------------------
 *
 * Compilers put bytes together and leave out those that nobody looks at.  So
 * it is known by byte what has a value: of most registers and lanes by one
 * bit (tkp_warp.set), of those that have one in part by a bit for each byte
 * (tkp_warp.known).
 */

uint64_t tkp_bits_of_bytes(uint8_t bytes) {
  uint64_t bits = 0;
  for (int k = 0; k < 8; k++)
    if (bytes >> k & 1) bits |= UINT64_C(0xFF) << (8 * k);
  return bits;
}

uint64_t tkp_known_bits(const tkp_warp *w, tkp_reg r, int lane) {
  uint64_t all = tkp_mask(r.bits);
  if (w->set[r.id] >> lane & 1) return all;
  return w->partly ? all & tkp_bits_of_bytes(w->known[r.id][lane]) : 0;
}

void tkp_mark_bits(tkp_warp *w, tkp_reg r, int lane, uint64_t bits) {
  uint64_t all = tkp_mask(r.bits);
  uint32_t whole = (bits & all) == all;
  uint8_t bytes = 0;
  for (int k = 0; 8 * k < r.bits && !whole; k++)
    if ((bits >> (8 * k) & 0xFF) == 0xFF) bytes |= (uint8_t)(1 << k);
  w->partly |= bytes != 0;
  w->set[r.id] = (w->set[r.id] & ~(UINT32_C(1) << lane)) | whole << lane;
  if (w->partly) w->known[r.id][lane] = bytes;
}

/* How many of the sources, the first ones, go bit by bit into the result: a
 * bit of it depends on one bit of each at most. */
static int bitwise_sources(const tkp_inst *in) {
  const tk_asm_inst *m = in->math;
  if (!m) return 0;
  switch (m->op) {
  case TK_AO_LOP3: return 3;
  case TK_AO_AND:
  case TK_AO_OR:
  case TK_AO_XOR:
  case TK_AO_SELP:
  case TK_AO_PRMT:
  case TK_AO_SHF:
  case TK_AO_BFI: return 2;
  case TK_AO_MOV:
  case TK_AO_NOT:
  case TK_AO_SHL:
  case TK_AO_SHR:
  case TK_AO_BFE: return 1;
  case TK_AO_CVT:
    if (in->ns > 1) return 2; /* one half each */
    return !tkp_float(m->type) && !tkp_float(m->type2) &&
           !tk_asm_has(m, TK_AM_sat);
  default: return 0;
  }
}

/* Bits that all sources have. */
static uint64_t shared_bits(const tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t bits = UINT64_MAX;
  for (int k = 0; k < in->ns; k++) bits &= tkp_known_bits(w, in->s[k], lane);
  return bits;
}

/* Whether two numbers stand in each register, and each half of the result comes
 * from those halves of the sources. */
static bool is_by_halves(const tkp_inst *in) {
  const tk_asm_inst *m = in->math;
  if (!m || m->op == TK_AO_CVT || in->nd != 1 || in->d[0].bits != 32)
    return false;
  return tk_asm_types[m->type].part != m->type;
}

/* Whether a bit of the result depends on those below it alone. */
static bool carries_up(const tkp_inst *in) {
  const tk_asm_inst *m = in->math;
  return m && (m->op == TK_AO_ADD || m->op == TK_AO_SUB) && in->ns == 2 &&
         !tkp_float(m->type) && !tk_asm_has(m, TK_AM_sat);
}

/* The result's bits that have a value, by the instruction's arithmetic. */
static uint64_t computed_bits(const tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t bits = shared_bits(w, in, lane);
  if (is_by_halves(in))
    return (uint64_t)((bits & 0xFFFF) == 0xFFFF) * 0xFFFF |
           (uint64_t)((bits >> 16 & 0xFFFF) == 0xFFFF) * 0xFFFF0000;
  return carries_up(in) ? bits & ~(bits + 1) : 0; /* the ones below a 0 */
}

/* The result's bits that are the same, whatever the sources' unknown ones
 * are: each source has them all 0 in one trial, and all 1 in another. */
static uint64_t same_bits(const tkp_warp *w, const tkp_inst *in, int lane) {
  int n = bitwise_sources(in);
  TK_ASSERT(n <= in->ns);
  uint64_t known[TK_ASM_ARGS], first = 0, differ = 0;
  for (int k = 0; k < in->ns; k++) {
    known[k] = tkp_known_bits(w, in->s[k], lane);
    if (k >= n && known[k] != tkp_mask(in->s[k].bits)) return 0;
  }
  for (unsigned trial = 0; n && trial < 1u << n; trial++) {
    tkp_step s = step_of(w, in, lane);
    for (int k = 0; k < n; k++) {
      s.v[k] &= known[k];
      if (trial >> k & 1) s.v[k] |= tkp_mask(in->s[k].bits) & ~known[k];
    }
    uint64_t r = widened(in, tkp_result(&s));
    if (!trial) first = r;
    differ |= r ^ first;
  }
  return n ? ~differ : 0;
}

/* mov d, {a, b} and back: see tkp_run_pack. */
static void mark_parts(tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t bits = 0;
  unsigned at = 0;
  for (int k = 0; k < in->ns; at += in->s[k++].bits)
    bits |= tkp_known_bits(w, in->s[k], lane) << at;
  at = 0;
  for (int k = 0; k < in->nd; at += in->d[k++].bits)
    tkp_mark_bits(w, in->d[k], lane, bits >> at);
}

/* setp.f16x2 p|q: p comes from the low halves, q from the high ones. */
static bool compares_halves(const tkp_inst *in) {
  return in->run == tkp_run_compare &&
         tk_asm_types[in->math->type].part != in->math->type;
}

static void mark_predicates(tkp_warp *w, const tkp_inst *in, int lane) {
  uint64_t bits = UINT64_MAX;
  for (int k = 0; k < in->ns; k++) {
    uint64_t known = tkp_known_bits(w, in->s[k], lane);
    if (in->s[k].bits > 1)
      bits &= known;
    else if (!known) /* a predicate that both results are combined with */
      bits = 0;
  }
  TK_ASSERT(in->nd == 2);
  for (int k = 0; k < 2; k++, bits >>= 16)
    tkp_mark_bits(w, in->d[k], lane, (bits & 0xFFFF) == 0xFFFF);
}

void tkp_mark_partly(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes) {
    if (in->run == tkp_run_pack) {
      mark_parts(w, in, (int)lane);
      continue;
    }
    if (compares_halves(in)) {
      mark_predicates(w, in, (int)lane);
      continue;
    }
    uint64_t bits =
        same_bits(w, in, (int)lane) | computed_bits(w, in, (int)lane);
    for (int k = 0; k < in->nd; k++)
      tkp_mark_bits(w, in->d[k], (int)lane, k ? 0 : bits);
  }
}
