/* info.h - what is listed in several places.
 */
#ifndef TK_COMMAND_INFO_H
#define TK_COMMAND_INFO_H

#include "command/command.h"

void tkt_point_text(tkt *d, const tk_point *p); /* a line, and what it does */
const char *tkt_info_topic(size_t i);           /* NULL: there are no more */

#endif
