/* op_asm.c - rule: inline assembly over blocks.
 *
 * One instance of the text processes `pack` lanes.  Lanes of fewer than 32
 * bits that go together are packed into one register, the first in the
 * lowest bits, as Triton's ElementwiseInlineAsmOp is lowered.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/asm.h"
#include "typing/rule.h"

typedef struct call {
  const tks_args *a;
  tk_asm *code;
  sval *in;
  size_t nin;
  tk_type *out;
  size_t nout;
} call;

static unsigned lane_bits(const tk_type *t) {
  return t->ptr ? 64 : tk_dtypes[t->elem].bits;
}

/* How many lanes share a register. */
static int per_register(const tk_type *t, int pack) {
  int fit = (int)(32 / lane_bits(t));
  return fit < 1 ? 1 : fit < pack ? fit : pack;
}

static int registers(const tk_type *t, int pack) {
  return pack / per_register(t, pack);
}

/* ---- constraints ------------------------------------------------------- */

/* The registers of one value fit the constraints from *at on. */
static void check_value(tks *s, const call *c, const tk_type *t, int *at) {
  int per = per_register(t, c->code->pack);
  unsigned bits = lane_bits(t) * (unsigned)per;
  for (int k = registers(t, c->code->pack); k > 0; k--, (*at)++) {
    const tk_asm_operand *o = &c->code->operands[*at];
    if (o->bits < bits)
      tks_error_help(s, TK_D_TYPE,
                     "use r or f for 32 bits, l or d for 64, and with pack > "
                     "1 one 32-bit register for lanes that fit together",
                     "tl.inline_asm_elementwise: $%d has %u bits, but holds "
                     "%d lane%s of %s",
                     *at, o->bits, per, per > 1 ? "s" : "",
                     tks_type_text(s, t));
  }
}

static void check_counts(tks *s, const call *c) {
  int out = 0, in = 0, pack = c->code->pack;
  for (size_t i = 0; i < c->nout; i++) out += registers(&c->out[i], pack);
  for (size_t i = 0; i < c->nin; i++) in += registers(&c->in[i].type, pack);
  if (c->code->nout == out && c->code->noperands - out == in) return;
  tks_error_help(s, TK_D_VALUE,
                 "every value needs pack registers, or fewer where lanes of 8 "
                 "or 16 bits share a 32-bit register",
                 "tl.inline_asm_elementwise: constraints name %d outputs and "
                 "%d inputs, but dtype, args and pack=%d make %d and %d",
                 c->code->nout, c->code->noperands - c->code->nout, pack, out,
                 in);
}

static void check_constraints(tks *s, const call *c) {
  int at = 0;
  check_counts(s, c);
  for (size_t i = 0; i < c->nout; i++) check_value(s, c, &c->out[i], &at);
  for (size_t i = 0; i < c->nin; i++) check_value(s, c, &c->in[i].type, &at);
}

/* ---- the call ---------------------------------------------------------- */

static void read_inputs(tks *s, call *c) {
  const sval *v = &c->a->v[2];
  s->frame->at = c->a->span[2];
  if (v->kind != V_TUPLE)
    tks_error(s, TK_D_TYPE,
              "tl.inline_asm_elementwise: args must be a list of tensors, not "
              "%s",
              tks_show(s, v));
  c->nin = v->n;
  c->in = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++) c->in[i] = tks_to_tensor(s, &v->items[i]);
  tks_broadcast_all(s, c->in, c->nin);
}

static void read_outputs(tks *s, call *c) {
  const sval *v = &c->a->v[3];
  s->frame->at = c->a->span[3];
  bool many = v->kind == V_TUPLE;
  c->nout = many ? v->n : 1;
  if (!c->nout)
    tks_error_help(s, TK_D_VALUE, "return a value that is not used",
                   "tl.inline_asm_elementwise: dtype must name a type");
  c->out = TK_NEWN(s->arena, tk_type, c->nout);
  for (size_t i = 0; i < c->nout; i++) {
    c->out[i] = tks_arg_dtype(s, many ? &v->items[i] : v);
    if (c->nin) c->out[i] = tk_with_shape(c->out[i], &c->in[0].type);
  }
}

static void read_pack(tks *s, call *c) {
  int64_t pack = tks_arg_int(s, c->a, 5, NULL);
  s->frame->at = c->a->span[5];
  if (pack < 1 || pack > 32 || (pack & (pack - 1)))
    tks_error(s, TK_D_VALUE,
              "tl.inline_asm_elementwise: pack must be a power of two from 1 "
              "to 32, not %lld",
              (long long)pack);
  c->code->pack = (int)pack;
}

static void asm_error(tks *s, const char *text,
                      const tk_asm_fault *f) TK_NORETURN;
static void asm_error(tks *s, const char *text, const tk_asm_fault *f) {
  /* The report outlives the program that is not made. */
  tk_arena *keep = &s->origin->session->arena;
  tk_source *src = tk_source_new(keep, "inline assembly",
                                 tk_arena_strdup(keep, text), strlen(text));
  tk_diag *d = tks_say(s, TK_D_UNSUPPORTED, "inline assembly: %s", f->message);
  tk_diag_note(s->env, d, src, f->at, "here");
  if (f->help) tk_diag_help(s->env, d, "%s", f->help);
  tk_throw(s->env, TK_FINDING);
}

sval rule_inline_asm(tks *s, const tks_args *a) {
  call c = {.a = a, .code = TK_NEW(s->arena, tk_asm)};
  tk_span at = s->frame->at;
  const char *text = tks_arg_str(s, a, 0), *constraints = tks_arg_str(s, a, 1);
  tks_arg_bool(s, a, 4);
  read_pack(s, &c);
  read_inputs(s, &c);
  read_outputs(s, &c);
  s->frame->at = a->span[1];
  tk_asm_fault fault;
  if (!tk_asm_constraints(s->arena, c.code, constraints, &fault))
    tks_error_help(s, TK_D_VALUE, fault.help, "tl.inline_asm_elementwise: %s",
                   fault.message);
  check_constraints(s, &c);
  s->frame->at = a->span[0];
  if (!tk_asm_read(s->arena, c.code, text, &fault)) asm_error(s, text, &fault);
  s->frame->at = at;
  tk_inst *in = tks_inst_new(s, TK_I_ASM, 0, c.out[0], c.nin, c.in, c.nout);
  in->ref.code = c.code;
  sval *out = TK_NEWN(s->arena, sval, c.nout);
  for (size_t i = 0; i < c.nout; i++) {
    in->res[i] = tks_slot(s, c.out[i], NULL);
    out[i] = sv_tensor(c.out[i], in->res[i]);
  }
  return a->v[3].kind == V_TUPLE ? sv_tuple(s, out, c.nout) : out[0];
}
