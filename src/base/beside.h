/* beside.h - files that are installed together with this code: plug-ins, and
 * programs that it starts.
 */
#ifndef TK_BASE_BESIDE_H
#define TK_BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Looks beside this code (the library, or the program that it is part of), and
 * in the folders lib and lib/tkdbg beside its folder.  Whether there is such a
 * file; out then gets its path. */
bool tk_find_beside(const char *name, char *out, size_t size);

#endif
