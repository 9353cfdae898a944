/* language.h - the languages that kernels of the typed form are written in, and
 * what each calls things.
 *
 * Messages are written in Triton's words.  What a user of another language
 * reads is the same message with the words of language.def.
 */
#ifndef TK_IR_LANGUAGE_H
#define TK_IR_LANGUAGE_H

#include "base/env.h"

typedef enum tk_language {
#define LANGUAGE(id, name, strict) TK_LANGUAGE_##id,
#include "ir/language.def"
} tk_language;

/* As the head of a text says it. */
const char *tk_language_name(tk_language l);
/* Whether tensors that overlap, and blocks outside of a shape, are undefined.
 */
bool tk_language_is_strict(tk_language l);
/* -1: it is none. */
int tk_language_find(const char *name);
/* What kernels in it call its module, or NULL where that is Triton's. */
const char *tk_language_module(tk_language l);
/* What Triton's module calls a member of the language's; its own name where
 * that is the same. */
const char *tk_language_member(tk_language l, const char *name);
/* A message's format in the words of a language; what it is filled with stays
 * as it is.  The result is in the arena. */
const char *tk_language_words(int language, tk_arena *a, const char *format);
/* From here on the environment's messages are in the words of a language. */
void tk_language_speak(tk_env *e, tk_language l);

#endif
