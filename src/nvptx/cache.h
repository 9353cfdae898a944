/* cache.h - what was compiled, kept in files.
 *
 * A file is named by a hash of all that its contents follow from, and begins
 * with their size and a checksum: one that does not fit is as none.  It takes
 * its name once it is complete, so that several processes may write it.  A
 * folder that cannot be written to costs time
 * alone. */
#ifndef TK_NVPTX_CACHE_H
#define TK_NVPTX_CACHE_H

#include "base/diag.h"

typedef struct tkv_key {
  uint64_t hash[2];
} tkv_key;

tkv_key tkv_new_key(void);
/* Adds something that the contents depend on to the key. */
void tkv_add_to_key(tkv_key *k, const void *bytes, size_t n);
/* Adds what is cached under the key; returns false if nothing is. The file's
 * text goes to `all`, which the caller owns, because this may throw. */
bool tkv_cache_read(tk_buf *out, tk_buf *all, const tkv_key *k);
void tkv_cache_write(tk_buf *all, const tkv_key *k, const char *bytes,
                     size_t n);

#endif
