/* value.h - values of expressions in a call of a paused program.
 */
#ifndef TK_DEBUG_VALUE_H
#define TK_DEBUG_VALUE_H

#include "debug/debug.h"

/* A value, or a part of a tuple.  Its lanes are temporary. */
typedef struct tkd_value {
  const char *path;   /* "", "[1].x"; NULL: more of the part before */
  const char *item;   /* ... which: ".offsets[1]"; NULL */
  const char *before; /* text to put before the value; NULL: its type */
  const char *known;  /* at compile time, as text; then there are no lanes */
  tk_type type;
  const char *bytes; /* NULL: no value */
  size_t n;
  const uint8_t *undefined; /* a byte a lane; NULL: all are defined */
  int32_t region;           /* of pointers; or TKI_ANY */
} tkd_value;

typedef struct tkd_values {
  const char *type;  /* "fp32[8]", "constexpr = 3" */
  const char *known; /* all of it, when it needs no run; then n is 0 */
  tkd_value *items;
  size_t n;
} tkd_values;

/* Evaluates text in a call.  want: the value is converted to that type; NULL
 * leaves it as it is.  Reports what is wrong and throws. */
tkd_values tkd_evaluate(tkd *d, const tki_frame *f, const char *text,
                        const tk_type *want);
/* The same, failing unless it is one value that the program computes; what:
 * the rest of the sentence, "not one block". */
tkd_value tkd_evaluate_one(tkd *d, const tki_frame *f, const char *text,
                           const tk_type *want, const char *what);
/* The same for what is compiled already: on the fiber of a program. */
tkd_value tkd_evaluate_compiled(tkd *d, const tki_frame *f, tki_eval *x,
                                const char *text, const char *what);
/* An integer expression of n characters in the selected call.  Fails. */
int64_t tkd_index(tkd *d, const char *text, size_t n);
/* What a slot holds; without bytes, no value yet. */
tkd_value tkd_slot_value(tkd *d, const tki_frame *f, int slot);

/* An expression in a call, to be freed by tki_eval_free; returns NULL after
 * reporting if it does not compile. */
tki_eval *tkd_compile(tkd *d, const tki_frame *f, const char *text);
/* Whether a lane of a condition is not zero; may throw. */
bool tkd_is_true(tkd *d, const tki_eval *x, const tki_frame *f);
/* Fails if the text of an expression cannot be parsed. */
void tkd_check_syntax(tkd *d, const char *what, const char *text);

/* Keeps what a function that ends in `return` gives: d->returned.list. */
void tkd_keep_results(tkd *d, const tki_frame *f);

/* Values that are kept. */
void tkd_keep_value(tkd *d, tkd_kept *k, const tkd_value *v);
tkd_value tkd_kept_value(const tkd_kept *k);
void tkd_drop_value(tkd *d, tkd_kept *k);

#endif
