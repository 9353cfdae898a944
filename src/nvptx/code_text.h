/* code_text.h - what the files of the printer share: the text that code is
 * while it is written.  Nobody else includes it. */
#ifndef TK_NVPTX_CODE_TEXT_H
#define TK_NVPTX_CODE_TEXT_H

#include <stdarg.h>

#include "base/env.h"
#include "nvptx/code.h"

struct tkv_code {
  tk_arena *arena;
  const tk_source *src;  /* the kernel's */
  tk_buf entry, body;    /* allocas, instructions */
  tk_buf declared;       /* texts, and functions that are defined elsewhere */
  tk_buf declaration;    /* one of them, while it is made */
  tk_buf debug;          /* metadata */
  unsigned names;        /* how many registers and labels there are */
  unsigned location;     /* the newest; 0: there is none yet */
  unsigned locations;    /* entries of metadata */
  const tk_source *file; /* of the newest location, and its line */
  int line;
};

/* Adds to a text by the printer's own format (code.c). */
void tkv_put(tk_buf *b, const char *fmt, ...);
void tkv_put_list(tk_buf *b, const char *fmt, va_list ap);
/* A line that is written in parts; a result that does not exist has no name. */
void tkv_begin_line(tkv_code *c, tkv_reg result);
void tkv_end_line(tkv_code *c);
tkv_reg tkv_new_result(tkv_code *c, tkv_type t);
/* As the text of a string of LLVM's. */
void tkv_put_escaped(tk_buf *b, const char *s);

#endif
