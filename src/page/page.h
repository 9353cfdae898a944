/* page.h - what the command's rooms have to show, as one page that needs no
 * other file.
 *
 * A page is a frame, its data, and the modules and the style of this folder,
 * which the build makes strings of; the modules draw everything.  The data are
 * one JSON object: launches, and parts that are beside them or stand alone,
 * such as a profile.  docs/view.md describes them.
 */
#ifndef TK_PAGE_PAGE_H
#define TK_PAGE_PAGE_H

#include "base/env.h"

typedef struct tk_page_data {
  const tk_buf *launches; /* objects, with commas between them; NULL: none */
  size_t skipped;         /* launches for which there was no room */
  const tk_buf *parts;    /* members, each after a comma; NULL: none */
} tk_page_data;

void tk_page_put_json(tk_buf *out, const tk_page_data *d);
/* The page that draws what tk_page_put_json has written; `bytes` is its
 * scratch. */
void tk_page_put_html(tk_buf *out, tk_buf *bytes, const tk_buf *json);
/* What the page takes besides its data. */
size_t tk_page_bytes(void);

#endif
