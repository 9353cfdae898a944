/* mutate_form.h - texts of typed forms, changed at random.
 *
 * Changes follow the text: a word becomes another of its list, a type another
 * type (here or everywhere), a line comes, goes or moves, and instructions are
 * made from the rows of inst.def on the values at hand.  So many a mutant is
 * accepted, and what the rules say is what decides.
 */
#ifndef TESTS_SUPPORT_MUTATE_FORM_H
#define TESTS_SUPPORT_MUTATE_FORM_H

#include <stdint.h>

/* The text of a form, changed: free it.  The same seed gives the same. */
char *mutated_form(const char *form, uint64_t seed);

#endif
