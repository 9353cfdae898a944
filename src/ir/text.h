/* text.h - what the printer and the parser of the form agree on. */
#ifndef TK_IR_TEXT_H
#define TK_IR_TEXT_H

#include "ir/ir.h"

enum { TK_TEXT_VERSION = 1 };

/* Words of the text that are not names of instructions. */
#define TK_TEXT_HEAD "tkdbg-ir"

/* A flag of a loop's options, or a number. */
typedef struct tk_loop_word {
  const char *name;
  size_t at; /* in tk_loop_options */
  bool flag;
} tk_loop_word;
enum { TK_LOOP_WORDS = 6 };
extern const tk_loop_word tk_loop_words[TK_LOOP_WORDS];

/* What the types and shapes of an instruction must be, if they are not
 * (shapes.c).  NULL: they are. */
const char *tk_inst_type_flaw(const tk_func *f, const tk_inst *in);

#endif
