/* site.c - sites: instructions of a program by number.
 */
#include "interp/site.h"
#include "interp/interp.h"

uint32_t tki_site(const tki *t) {
  TK_ASSERT(t->frame && tki_user_frame(t->frame)->inst);
  return tki_user_frame(t->frame)->inst->id;
}

static bool number_site(void *ud, const tk_at *at, const tk_inst *in) {
  tki_site_info *sites = ud;
  sites[in->id] = (tki_site_info){at->func, in};
  return true;
}

/* The table is made for the run when it is first asked for: most runs have
 * nothing to report. */
const tki_site_info *tki_site_at(tki *t, uint32_t id) {
  const tk_program *p = t->program;
  if (!t->sites) {
    t->sites = tk_calloc(t->env, p->ninsts + 1, sizeof *t->sites);
    tk_walk_program(p, &(tk_walk){.ud = t->sites, .inst = number_site});
  }
  return id < p->ninsts && t->sites[id].inst ? &t->sites[id] : NULL;
}
