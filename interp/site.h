/* site.h - sites: instructions of a program by number, for those who keep many.
 *
 * The table belongs to the run; it is made when it is first asked for.
 */
#ifndef TK_INTERP_SITE_H
#define TK_INTERP_SITE_H

#include "interp/value.h"

/* An instruction and the function that it belongs to. */
typedef struct tki_site_info {
  const tk_func *func;
  const tk_inst *inst;
} tki_site_info;

/* The id of the instruction being executed, or of the call in the user's own
 * code that led to it. */
uint32_t tki_site(const tki *t);
/* What a site stands for; NULL: no instruction has that number. */
const tki_site_info *tki_site_at(tki *t, uint32_t id);

#endif
