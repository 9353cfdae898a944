/* pass.c - the list of passes, and what follows them. */
#include "nvptx/rewrite.h"

static const tkv_pass passes[] = {
#define PASS(name, run, doc) {name, doc, run},
#include "nvptx/pass.def"
#undef PASS
};

const tkv_pass *tkv_pass_at(size_t i) {
  return i < TK_COUNT(passes) ? &passes[i] : NULL;
}

/* ---- settling ------------------------------------------------------------ */

static void number_insts(tk_program *p, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    l->items[i]->id = p->ninsts++;
    for (int k = 0; k < 2; k++) number_insts(p, &l->items[i]->body[k]);
  }
}

static void number_body(tk_program *p, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    tk_stmt *st = b->items[i];
    st->id = p->nstmts++;
    number_insts(p, &st->insts);
    number_body(p, &st->body);
    number_body(p, &st->orelse);
  }
}

void tkv_settle(tk_program *p) {
  p->nstmts = p->ninsts = 0;
  for (size_t i = 0; i < p->nfuncs; i++) {
    number_body(p, &p->funcs[i]->body);
    tk_func_last_uses(p, p->funcs[i]);
  }
}

void tkv_run_passes(tk_program *p, uint64_t skipped, tkv_after *after,
                    void *ud) {
  for (size_t i = 0; i < TK_COUNT(passes); i++) {
    if (skipped >> i & 1) continue;
    passes[i].run(p);
    tkv_settle(p);
    if (after) after(ud, p, passes[i].name);
  }
}
