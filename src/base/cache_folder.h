/* cache_folder.h - where files lie that may be lost at any time.
 *
 * The folder is TKDBG_CACHE_DIR, else "tkdbg" where the XDG Base Directory
 * Specification has caches.  The caller owns what it is written to.
 */
#ifndef TK_CACHE_FOLDER_H
#define TK_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its path; returns false if nothing says where it is, or there is no
 * room. */
bool tk_cache_folder(char *out, size_t size);
/* Makes the folder, and those that it lies in, as far as that is possible. */
void tk_make_folders(char *path);

#endif
