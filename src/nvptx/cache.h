/* cache.h - what was compiled, kept in files.
 *
 * A file is named by a hash of all that its contents follow from, and begins
 * with their size and a checksum: one that does not fit is as none.  It takes
 * its name once it is complete, so that several processes may write it.  A
 * folder that cannot be written to costs time alone.
 */
#ifndef TK_NVPTX_CACHE_H
#define TK_NVPTX_CACHE_H

#include "base/diag.h"

typedef struct tkv_key {
  uint64_t hash[2];
} tkv_key;

tkv_key tkv_new_key(void);
/* Something that the contents follow from. */
void tkv_add_to_key(tkv_key *k, const void *bytes, size_t n);
/* Adds what is kept under the key; false: nothing is.  The file's text is put
 * into `all`, which the caller owns, as it may throw. */
bool tkv_cache_read(tk_buf *out, tk_buf *all, const tkv_key *k);
void tkv_cache_write(tk_buf *all, const tkv_key *k, const char *bytes,
                     size_t n);

#endif
