/* editing.h - what edits lines typed at the debugger's prompt (tk_console_new).
 */
#ifndef TKDBG_EDITING_H
#define TKDBG_EDITING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library that edits lines on a terminal; false: there is none, and lines
 * are read as they are.  version and file are NULL where it does not say. */
typedef struct tk_line_editor {
  const char *name, *version, *file;
} tk_line_editor;
bool tk_console_editor(tk_line_editor *out);

#ifdef __cplusplus
}
#endif

#endif
