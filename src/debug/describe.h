/* describe.h - what is handed out of the engine: structs of debugger.h, which
 * live in its arena of answers.
 */
#ifndef TK_DEBUG_DESCRIBE_H
#define TK_DEBUG_DESCRIBE_H

#include "debug/value.h"

/* Where it stands, and why. */
const tk_debug_stop *tkd_describe_stop(tkd *d);
tk_debug_place tkd_describe_place(tkd *d, const char *func,
                                  const tk_source *src, tk_span at);
tk_debug_value tkd_describe_value(tkd *d, const char *name, const tkd_value *v);

#endif
