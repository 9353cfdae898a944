/* operand.h - what comes after a command's name.
 */
#ifndef TK_COMMAND_OPERAND_H
#define TK_COMMAND_OPERAND_H

#include "command/command.h"

/* A number in text: a count; `missing` if there is none.  Fails. */
uint64_t tkt_number(tkt *d, const char *text, uint64_t missing);
/* The next word of *text, which moves past it; empty at the end. */
const char *tkt_word(tkt *d, const char **text);
/* What it stopped for, and where.  Fails. */
const tk_debug_stop *tkt_stand(tkt *d);
/* The program that "X,Y,Z" names.  Fails. */
uint64_t tkt_program_index(tkt *d, const char *text);
/* "TEXT --svg FILE": the file, and *text is TEXT; NULL: none is named.
 * Fails. */
const char *tkt_svg_file(tkt *d, const char **text);
/* Writes a picture and says so.  Fails. */
void tkt_write_svg(tkt *d, const char *file, const tk_buf *svg);

#endif
