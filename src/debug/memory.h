/* memory.h - memory and errors of the engine.
 *
 * A call may end anywhere by a throw.  What it needs only for itself is
 * temporary: it goes when the outermost call has ended.  What it makes to last
 * is held until all of it is there and somebody owns it (tkd_keep): if the
 * call ends before, it is freed.  Texts are freed by tkd_strfree.
 */
#ifndef TK_DEBUG_MEMORY_H
#define TK_DEBUG_MEMORY_H

#include "debug/debug.h"

/* Temporary: a copy, bytes (zeroed, one more than n), a buffer. */
char *tkd_temp(tkd *d, const char *s, size_t n);
void *tkd_temp_bytes(tkd *d, size_t n);
tk_buf *tkd_temp_buf(tkd *d);
void tkd_temps_free(tkd *d);

/* Zeroed; what was held since nholds was `mark` has an owner now. */
void *tkd_hold(tkd *d, size_t n);
char *tkd_hold_str(tkd *d, const char *s); /* NULL: NULL */
void tkd_keep(tkd *d, size_t mark);
void tkd_drop_held(tkd *d, size_t mark);

char *tkd_strndup(tkd *d, const char *s, size_t n);
char *tkd_strdup(tkd *d, const char *s);
void tkd_strfree(tkd *d, char *s);                      /* NULL: nothing */
void tkd_set_text(tkd *d, char **at, const char *text); /* NULL: none */

/* Bytes that grow: *at has *n of them and becomes a copy of others. */
void tkd_copy_bytes(tkd *d, char **at, size_t *n, const void *bytes,
                    size_t size);
/* An array with room for *cap items that needs more. */
void *tkd_grow(tkd *d, void *items, size_t size, size_t *cap);

/* Fails with a message, which whoever catches it reports or drops. */
void tkd_raise(tkd *d, const char *fmt, ...) TK_PRINTF(2, 3) TK_NORETURN;
/* The message; "" when something else failed. */
const char *tkd_message(tkd *d);
void tkd_drop_message(tkd *d);

/* A call of the engine or of its front end begins; gives the mark for its
 * end, which frees what is temporary. */
size_t tkd_call_begins(tkd *d);
void tkd_call_ends(tkd *d, size_t mark);

#endif
