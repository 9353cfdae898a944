/* help.h - the texts of topic.def, for help and the manual page.
 */
#ifndef TK_CLI_HELP_H
#define TK_CLI_HELP_H

#include "cli.h"

typedef struct cli_section {
  const char *title;
  unsigned commands; /* whose help shows it: IN_RUN | ... */
  const char *intro;
} cli_section;

typedef struct cli_topic {
  int section;
  const char *term, *text;
} cli_topic;

/* Writes text in lines of 78 columns, from column `column` on, later lines
 * indented; an empty line separates paragraphs. */
void cli_wrap(FILE *f, const char *text, int indent, int column);

/* What the language leaves open, and what is done there: semantics.def. */
void cli_help_semantics(FILE *f);
/* What each version of Triton changed: version.def. */
void cli_help_versions(FILE *f);

extern const cli_section cli_sections[];
extern const size_t cli_section_count;
extern const cli_topic cli_topics[];
extern const size_t cli_topic_count;

#endif
