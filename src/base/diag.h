/* diag.h - source texts and what is said about them.
 *
 * A tk_source belongs to the arena it was made in and must outlive the
 * diagnostics that point into it; diagnostics belong to the env.
 */
#ifndef TK_BASE_DIAG_H
#define TK_BASE_DIAG_H

#include "env.h"

/* A stretch of a source text, in bytes from its start; hi is exclusive. */
typedef struct tk_span {
  uint32_t lo, hi;
} tk_span;

typedef struct tk_source {
  const char *name; /* as shown to the user */
  const char *text; /* NUL-terminated */
  uint32_t len;
  uint32_t *lines; /* offset of each line's first byte */
  uint32_t nlines;
} tk_source;

tk_source *tk_source_new(tk_arena *a, const char *name, const char *text,
                         size_t len);
int tk_source_line(const tk_source *s, uint32_t off); /* from 1 */
int tk_source_col(const tk_source *s, uint32_t off);  /* bytes, from 1 */
const char *tk_source_line_text(const tk_source *s, int line, size_t *len);

typedef enum tk_diag_id {
#define DIAG(id, severity, title) TK_D_##id,
#include "diag.def"
#undef DIAG
  TK_DIAG_COUNT,
} tk_diag_id;

typedef enum tk_severity {
  TK_SEV_ERROR,
  TK_SEV_WARNING,
  TK_SEV_NOTE
} tk_severity;

typedef struct tk_note {
  struct tk_note *next;
  const tk_source *src; /* NULL: text only */
  tk_span span;
  char *text;
} tk_note;

typedef struct tk_diag {
  struct tk_diag *next;
  tk_diag_id id;
  const tk_source *src; /* NULL: about no place in a source */
  tk_span span;
  char *message; /* what was found */
  char *help;    /* what was expected or what to do; NULL if nothing */
  char *lane;    /* of a block, "[3, 5]"; NULL: none, or a scalar */
  tk_note *notes;
  uint64_t count;     /* how often it was said */
  uint64_t told;      /* count when a debugger showed it to the user, or 0 */
  int64_t program[3]; /* that it was first found in; -1: none */
} tk_diag;

const char *tk_diag_name(tk_diag_id id); /* "out-of-bounds" */
tk_severity tk_diag_severity(tk_diag_id id);

/* Adds a diagnostic; the same words at the same place are counted, not
 * repeated.  The result stays editable until the next one is added. */
tk_diag *tk_diag_add(tk_env *e, tk_diag_id id, const tk_source *src,
                     tk_span span, const char *fmt, ...) TK_PRINTF(5, 6);
void tk_diag_help(tk_env *e, tk_diag *d, const char *fmt, ...) TK_PRINTF(3, 4);
void tk_diag_lane(tk_env *e, tk_diag *d, const char *fmt, ...) TK_PRINTF(3, 4);
void tk_diag_note(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                  const char *fmt, ...) TK_PRINTF(5, 6);
void tk_diag_clear(tk_env *e);
/* Drops one; it may be of no use any more. */
void tk_diag_remove(tk_env *e, tk_diag *d);
/* Drops the diagnostics added after the first n. */
void tk_diag_truncate(tk_env *e, size_t n);

/* file:line:col: severity: message [id], the line, a caret, notes, help. */
void tk_diag_render(tk_buf *out, const tk_diag *d, bool colour);
void tk_diag_json(tk_buf *out, const tk_diag *d);
void tk_json_string(tk_buf *out, const char *s, size_t n);

#endif
