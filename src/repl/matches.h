/* matches.h - how a word at the end of a line can go on, for an editor that has
 * no completion of its own.
 */
#ifndef TK_REPL_MATCHES_H
#define TK_REPL_MATCHES_H

#include <stdio.h>

#include "repl/editor.h"

typedef struct tkt_matches {
  char **names; /* sorted, each once */
  size_t n;
  size_t typed; /* bytes of them that stand in the line already */
} tkt_matches;

/* Of a line up to the cursor.  Where there is no memory, there are fewer. */
void tkt_matches_find(tkt_matches *m, const tkt_asker *asker, const char *line);
void tkt_matches_free(tkt_matches *m);

/* How many more bytes all of them begin with. */
size_t tkt_matches_common(const tkt_matches *m);

/* In columns, each read from above to below. */
void tkt_matches_print(const tkt_matches *m, FILE *out, int width);

/* The columns of the terminal. */
int tkt_terminal_width(void);

#endif
