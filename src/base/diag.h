/* diag.h - source texts and what is said about them.
 *
 * A tk_source belongs to the arena it was made in and must outlive the
 * diagnostics that point into it; diagnostics belong to the
 * env. */
#ifndef TK_BASE_DIAG_H
#define TK_BASE_DIAG_H

#include <string.h>

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
  const char **origins; /* of each line, see tk_place; NULL: none has one */
} tk_source;

tk_source *tk_source_new(tk_arena *a, const char *name, const char *text,
                         size_t len);
int tk_source_line(const tk_source *s, uint32_t off); /* from 1 */
/* A file's name without its folders. */
static inline const char *tk_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}
int tk_source_col(const tk_source *s, uint32_t off); /* bytes, from 1 */
const char *tk_source_line_text(const tk_source *s, int line, size_t *len);
/* The line of the program, and its file, that a line of a written kernel names
 * as what the next ones were made of, or the last of several; 0: it names
 * none. */
int tk_source_names(const tk_source *s, int line, const char **file,
                    size_t *nfile);

/* A place for the public API. */
tk_place tk_place_of(const tk_source *s, tk_span span);

/* The kinds, as the code below the API names them. */
typedef tk_finding_kind tk_diag_id;

typedef struct tk_note {
  tk_finding_note f;    /* first: f.next is the f of a tk_note */
  const tk_source *src; /* NULL: text only */
  tk_span span;
} tk_note;

typedef struct tk_diag {
  struct tk_diag *next;
  /* owns its texts; each of its notes is the member f of a tk_note */
  tk_finding f;
  const tk_source *src; /* NULL: about no place in a source */
  tk_span span;
} tk_diag;

static inline const tk_note *tk_diag_notes(const tk_diag *d) {
  return (const tk_note *)d->f.notes;
}
static inline const tk_note *tk_note_next(const tk_note *n) {
  return (const tk_note *)n->f.next;
}

/* Adds a diagnostic; the same words at the same place are counted, not
 * repeated.  The result stays editable until the next one is added. */
tk_diag *tk_diag_add(tk_env *e, tk_diag_id id, const tk_source *src,
                     tk_span span, const char *fmt, ...) TK_PRINTF(5, 6);
tk_diag *tk_diag_vadd(tk_env *e, tk_diag_id id, const tk_source *src,
                      tk_span span, const char *fmt, va_list ap)
    TK_PRINTF(5, 0);
/* Throws TK_USAGE: an argument without a source is wrong.  help may be NULL. */
void tk_bad_argument(tk_env *e, const char *help, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
/* About a file or another thing that has a name and no source: "NAME: ...". */
tk_diag *tk_diag_vabout(tk_env *e, tk_diag_id id, const char *name,
                        const char *fmt, va_list ap) TK_PRINTF(4, 0);
void tk_diag_help(tk_env *e, tk_diag *d, const char *fmt, ...) TK_PRINTF(3, 4);
void tk_diag_vhelp(tk_env *e, tk_diag *d, const char *fmt, va_list ap)
    TK_PRINTF(3, 0);
void tk_diag_lane(tk_env *e, tk_diag *d, const char *lane); /* "[3, 5]" */
void tk_diag_program(tk_diag *d, const int64_t program[3]);
void tk_diag_function(tk_env *e, tk_diag *d, const char *name);
void tk_diag_from(tk_diag *d, const tk_source *src, tk_span span);
void tk_diag_element(tk_env *e, tk_diag *d, const tk_element *x);
void tk_diag_note(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                  const char *fmt, ...) TK_PRINTF(5, 6);
void tk_diag_vnote(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                   const char *fmt, va_list ap) TK_PRINTF(5, 0);
void tk_diag_clear(tk_env *e);
/* Removes and frees one; does nothing if it is not in the report any more. */
void tk_diag_remove(tk_env *e, tk_diag *d);
/* Drops the diagnostics added after the first n. */
void tk_diag_truncate(tk_env *e, size_t n);
/* Gives what is in the report of `from` to `to`.  All that `from` has allocated
 * and not freed is in its report, and both have one allocator. */
void tk_diag_hand_over(tk_env *to, tk_env *from);
/* Takes them out of the report instead; they are the caller's, who frees
 * them. */
tk_diag *tk_diag_take(tk_env *e, size_t n);
void tk_diag_free(tk_env *e, tk_diag *list);
/* Puts back what was taken; the report is empty. */
void tk_diag_put_back(tk_env *e, tk_diag *list);

/* ---- writers ------------------------------------------------------------- */

/* file:line:col: severity: message [kind], the line, a caret, notes, help. */
void tk_finding_text(tk_buf *out, const tk_finding *f, bool colour);
void tk_finding_json(tk_buf *out, const tk_finding *f);
void tk_json_string(tk_buf *out, const char *s, size_t n);
/* As text, or the value of an attribute, of HTML and XML. */
void tk_markup_text(tk_buf *out, const char *s, size_t n);

/* Writes a text to a file that the user has named; throws TK_USAGE after
 * reporting why it cannot. */
void tk_save_text(tk_env *e, const char *path, const tk_buf *text);

#endif
