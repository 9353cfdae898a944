/* rewrite.h - what passes share: who gives a slot its value, and replacing
 * instructions one by one in the order of the text.
 *
 * A rewriter lives on the stack of a pass; its tables belong to the program.
 */
#ifndef TK_NVPTX_REWRITE_H
#define TK_NVPTX_REWRITE_H

#include "nvptx/nvptx.h"

typedef struct tkn_rewriter tkn_rewriter;

/* Looks at an instruction whose operands are replaced already.  It may change
 * it, may add instructions before it (tkn_add), and says which slot stands for
 * its result from here on (which is ignored where one of the two is a merge),
 * TKN_KEEP: its own, or TKN_DROP: it has none and goes. */
typedef int tkn_rule(tkn_rewriter *w, tk_inst *in);
enum { TKN_KEEP = -1, TKN_DROP = -2 };

struct tkn_rewriter {
  tk_program *p;
  tk_func *f;
  tk_inst **maker; /* by slot: the one instruction that gives its value; NULL:
                      a merge, a parameter, a loop's variable */
  uint8_t *merge;  /* by slot */
  size_t nmaker;
  int *stands; /* by slot: what stands for it */
  tkn_rule *rule;
  void (*scope)(tkn_rewriter *w, bool begins); /* a body; or NULL */
  void *ud;
  tk_insts out;
  tk_span span; /* of the instruction that is looked at */
};

/* Applies the rule to every instruction of every function. */
void tkn_rewrite(tk_program *p, tkn_rule *rule,
                 void (*scope)(tkn_rewriter *w, bool begins), void *ud);

/* The instruction that makes operand k, if it is one of that kind; or NULL. */
const tk_inst *tkn_made_by(const tkn_rewriter *w, const tk_inst *in, int k,
                           tk_opcode op);
/* The same of a slot. */
const tk_inst *tkn_maker(const tkn_rewriter *w, int slot, tk_opcode op);

/* Adds an instruction before the one that is looked at, with a new slot of
 * that type for its result; operands and attributes are to be filled in. */
tk_inst *tkn_add(tkn_rewriter *w, tk_opcode op, size_t nargs,
                 const tk_type *type);
/* Makes `in` an instruction with one operand instead. */
void tkn_become(tkn_rewriter *w, tk_inst *in, tk_opcode op, int arg);
/* Makes it one of which every lane holds these bits. */
void tkn_become_const(tkn_rewriter *w, tk_inst *in, uint64_t bits);
/* Whether every lane of a slot holds the same bits, which are known: it is a
 * constant, or a constant that is broadcast. */
bool tkn_is_const(const tkn_rewriter *w, int slot, uint64_t *bits);

static inline bool tkn_is_merge(const tkn_rewriter *w, int slot) {
  return (size_t)slot < w->nmaker && w->merge[slot];
}
static inline const tk_type *tkn_type(const tkn_rewriter *w, int slot) {
  return &w->f->slots[slot].type;
}

#define PASS(name, run, doc) void run(tk_program *p);
#include "pass.def"
#undef PASS

#endif
