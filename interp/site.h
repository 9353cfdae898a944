/* site.h - places in the source, as numbers.
 *
 * The table belongs to the run; it is made when it is first asked for.
 */
#ifndef TK_INTERP_SITE_H
#define TK_INTERP_SITE_H

#include "interp/value.h"

/* An instruction and the function it stands in. */
typedef struct tki_site_info {
  const tk_func *func;
  const tk_inst *inst;
} tki_site_info;

/* The id of the instruction being executed, or of the call in the user's own
 * code that led to it. */
uint32_t tki_site(const tki *t);
const tki_site_info *tki_site_at(tki *t, uint32_t id); /* or NULL */

#endif
