/* view.h - launches as one page that needs no other file, and as the data that
 * the page draws: source, programs, values, accesses, tensors.
 *
 * A view watches all launches of its session from when it is made.  It counts
 * what every program does, and keeps the steps of some programs: all of them
 * where there are few.  docs/view.md describes the data.
 *
 * Ownership: a view belongs to its session, which frees it if tk_view_free has
 * not.  Texts live until another one of the same kind is asked for.
 */
#ifndef TKDBG_VIEW_H
#define TKDBG_VIEW_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_view tk_view;

enum { TK_VIEW_MEGABYTES = 10 }; /* of a page, unless another limit is set */

/* Watches the launches of the session that follow.  A page has at most about
 * that many megabytes; 0: as many as are usual. */
tk_status tk_view_new(tk_session *s, size_t megabytes, tk_view **out);
/* It watches no longer, and its texts are gone.  Not while a launch runs.
 * NULL: does nothing. */
void tk_view_free(tk_view *v);
/* Several launches will follow, which share the page. */
void tk_view_expect_many(tk_view *v);
/* Whether the launches that begin from now on are left out. */
void tk_view_ignore(tk_view *v, bool launches);
/* The steps of a program are kept in any case; it is counted along the axes of
 * the grid, the first one fastest. */
void tk_view_keep(tk_view *v, uint64_t program);
/* What the installed Triton's compiler makes of the kernels of the launches
 * that begin from now on stands beside what this one makes; a Python with
 * Triton is started for each kernel. */
void tk_view_triton(tk_view *v, bool on);
/* How many launches it holds. */
size_t tk_view_launches(const tk_view *v);

/* Adds a part that stands beside the launches: a member of the data, whose
 * value is a text of JSON.  docs/view.md says which ones the page draws. */
tk_status tk_view_add(tk_view *v, const char *key, const char *json);

/* The data, as one JSON object. */
tk_status tk_view_json(tk_view *v, const char **out);
/* The page. */
tk_status tk_view_html(tk_view *v, const char **out);
/* Writes the page to a file; reports why it cannot (TK_USAGE). */
tk_status tk_view_save(tk_view *v, const char *path);
/* Shows a file by $BROWSER, or by what the desktop has set.  The browser goes
 * on when this process has ended; standard error says why it cannot start. */
void tk_view_show(const char *path);

#ifdef __cplusplus
}
#endif
#endif
