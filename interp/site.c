/* site.c - places in the source, as numbers.
 */
#include "interp/site.h"
#include "interp/interp.h"

uint32_t tki_site(const tki *t) {
  TK_ASSERT(t->frame && tki_user_frame(t->frame)->inst);
  return tki_user_frame(t->frame)->inst->id;
}

static void add_insts(tki_site_info *sites, const tk_func *f,
                      const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    sites[in->id] = (tki_site_info){f, in};
    add_insts(sites, f, &in->body[0]);
    add_insts(sites, f, &in->body[1]);
  }
}

static void add_body(tki_site_info *sites, const tk_func *f, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    add_insts(sites, f, &b->items[i]->insts);
    add_body(sites, f, &b->items[i]->body);
    add_body(sites, f, &b->items[i]->orelse);
  }
}

/* Made for the run; what is asked for after a report is rare. */
const tki_site_info *tki_site_at(tki *t, uint32_t id) {
  const tk_program *p = t->program;
  if (!t->sites) {
    t->sites = tk_calloc(t->env, p->ninsts + 1, sizeof *t->sites);
    for (size_t i = 0; i < p->nfuncs; i++)
      add_body(t->sites, p->funcs[i], &p->funcs[i]->body);
  }
  return id < p->ninsts && t->sites[id].inst ? &t->sites[id] : NULL;
}
