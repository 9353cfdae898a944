/* rewrite.h - what passes share: who gives a slot its value, and replacing
 * instructions one by one in the order of the text.
 *
 * A rewriter lives on the stack of a pass; its tables belong to the
 * program. */
#ifndef TK_NVPTX_REWRITE_H
#define TK_NVPTX_REWRITE_H

#include "nvptx/nvptx.h"

typedef struct tkv_rewriter tkv_rewriter;

/* Looks at an instruction whose operands are replaced already.  It may change
 * it, may add instructions before it (tkv_add), and says which slot stands for
 * its result from here on (which is ignored where one of the two is a merge),
 * TKV_KEEP: its own, or TKV_DROP: it has none and goes. */
typedef int tkv_rule(tkv_rewriter *w, tk_inst *in);
enum { TKV_KEEP = -1, TKV_DROP = -2 };

struct tkv_rewriter {
  tk_program *p;
  tk_func *f;
  tk_inst **maker; /* by slot: the one instruction that gives its value; NULL:
                      a merge, a parameter, a loop's variable */
  uint8_t *merge;  /* by slot */
  size_t nmaker;
  int *stands; /* by slot: the slot that replaces it */
  tkv_rule *rule;
  void (*scope)(tkv_rewriter *w, bool begins); /* a body; or NULL */
  void *ud;
  tk_insts out;
  tk_span span; /* of the instruction that is looked at */
};

/* Applies the rule to every instruction of every function. */
void tkv_rewrite(tk_program *p, tkv_rule *rule,
                 void (*scope)(tkv_rewriter *w, bool begins), void *ud);

/* The instruction that makes operand k, if it is one of that kind; or NULL. */
const tk_inst *tkv_made_by(const tkv_rewriter *w, const tk_inst *in, int k,
                           tk_opcode op);
/* The same of a slot. */
const tk_inst *tkv_maker(const tkv_rewriter *w, int slot, tk_opcode op);

/* Adds an instruction before the one that is looked at, with a new slot of
 * that type for its result; operands and attributes are to be filled in. */
tk_inst *tkv_add(tkv_rewriter *w, tk_opcode op, size_t nargs,
                 const tk_type *type);
/* Turns `in` into an instruction with one operand. */
void tkv_become(tkv_rewriter *w, tk_inst *in, tk_opcode op, int arg);
/* Makes it one of which every lane holds these bits. */
void tkv_become_const(tkv_rewriter *w, tk_inst *in, uint64_t bits);
/* Whether every lane of a slot holds the same bits, which are known: it is a
 * constant, or a constant that is broadcast. */
bool tkv_is_const(const tkv_rewriter *w, int slot, uint64_t *bits);

static inline bool tkv_is_merge(const tkv_rewriter *w, int slot) {
  return (size_t)slot < w->nmaker && w->merge[slot];
}
static inline const tk_type *tkv_type(const tkv_rewriter *w, int slot) {
  return &w->f->slots[slot].type;
}

#define PASS(name, run, doc) void run(tk_program *p);
#include "pass.def"
#undef PASS

#endif
