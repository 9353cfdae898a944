/* scratch.h - memory of calls that may end anywhere by a throw.
 *
 * What a call needs only for itself is temporary: it goes when the outermost
 * call has ended.  What it makes to last is held until all of it is there and
 * has an owner (tk_held_keep): if the call ends before, it is freed.
 * A tk_scratch belongs to whoever initialised
 * it. */
#ifndef TK_BASE_SCRATCH_H
#define TK_BASE_SCRATCH_H

#include "base/env.h"

typedef struct tk_held { /* made by a call, not owned by anybody yet */
  void *p;
  size_t n;
} tk_held;

typedef struct tk_scratch {
  tk_arena arena;
  struct tk_temps *bufs;
  tk_held held[16];
  size_t nheld;
  int calls; /* calls that are being carried out, one inside the other */
} tk_scratch;

void tk_scratch_init(tk_scratch *m, tk_env *e);
void tk_scratch_free(tk_scratch *m);

/* A call begins; gives the mark for its end, which frees what it held, and the
 * outermost one what is temporary. */
size_t tk_call_begins(tk_scratch *m);
void tk_call_ends(tk_scratch *m, size_t mark);
/* Frees what is temporary, unless a call is being carried out. */
void tk_temps_free(tk_scratch *m);

/* Temporary: a copy of text, bytes (zeroed, one more than n), a buffer. */
char *tk_temp(tk_scratch *m, const char *s, size_t n);
void *tk_temp_bytes(tk_scratch *m, size_t n);
tk_buf *tk_temp_buf(tk_scratch *m);

/* Held until freed: zeroed bytes; a copy of a text, NULL for NULL. */
void *tk_held_new(tk_scratch *m, size_t n);
char *tk_held_text(tk_scratch *m, const char *s);
/* What was held since m->nheld was `mark` has an owner now; ... is freed. */
void tk_held_keep(tk_scratch *m, size_t mark);
void tk_held_drop(tk_scratch *m, size_t mark);

/* Texts that have an owner, which frees them.  NULL means no text. */
char *tk_text_new(tk_env *e, const char *s);
void tk_text_free(tk_env *e, char *s);
void tk_text_set(tk_env *e, char **at, const char *text);
/* Bytes that grow: *at has *n of them and becomes a copy of others. */
void tk_bytes_set(tk_env *e, char **at, size_t *n, const void *bytes,
                  size_t size);
/* An array with room for *cap items that needs more. */
void *tk_array_grow(tk_env *e, void *items, size_t size, size_t *cap);

#endif
