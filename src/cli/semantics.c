/* semantics.c - tkdbg help semantics: what the language leaves open, from
 * semantics.def. */
#include <string.h>

#include "help.h"

enum {
#define DEGREE(id, title, text) DEGREE_##id,
#include "tkdbg/semantics.def"
  DEGREES
};

enum {
#define OPEN(id, degree, what, says, where, does) OPEN_##id,
#include "tkdbg/semantics.def"
  OPENS
};

static const struct {
  const char *title, *text;
} degrees[DEGREES] = {
#define DEGREE(id, title, text) {title, text},
#include "tkdbg/semantics.def"
};

static const struct {
  int degree;
  const char *what, *triton, *tkdbg;
} opens[OPENS] = {
#define OPEN(id, degree, what, says, where, does)                              \
  {DEGREE_##degree, what, says " (" where ")", does},
#include "tkdbg/semantics.def"
};

static const struct {
  int open;
  tk_finding_kind kind;
} founds[] = {
#define FOUND(id, check, kind, test) {OPEN_##id, TK_D_##kind},
#include "tkdbg/semantics.def"
};

static const struct {
  const char *name, *text;
} legends[] = {
#define LEGEND(name, text) {name, text},
#include "tkdbg/semantics.def"
};

enum { LABEL = 2, TEXT = 14 };

static void put_labelled(FILE *f, const char *label, const char *text) {
  fprintf(f, "%*s%-*s", LABEL, "", TEXT - LABEL, label);
  cli_wrap(f, text, TEXT, TEXT);
}

/* The kinds of findings that report an open point, each once. */
static void put_kinds(FILE *f, int open) {
  const char *before = NULL;
  for (size_t i = 0; i < CLI_COUNT(founds); i++) {
    const char *name = tk_finding_kind_name(founds[i].kind);
    if (founds[i].open != open || (before && !strcmp(before, name))) continue;
    if (before)
      fprintf(f, ", %s", name);
    else
      fprintf(f, "%*s%-*s%s", LABEL, "", TEXT - LABEL, "found as", name);
    before = name;
  }
  if (before) putc('\n', f);
}

void cli_help_semantics(FILE *f) {
  fputs("What the language leaves open, and what tkdbg does there.\n", f);
  for (int d = 0; d < DEGREES; d++) {
    fprintf(f, "\n%s:\n%*s", degrees[d].title, LABEL, "");
    cli_wrap(f, degrees[d].text, LABEL, LABEL);
    for (int i = 0; i < OPENS; i++) {
      if (opens[i].degree != d) continue;
      putc('\n', f);
      put_labelled(f, "what", opens[i].what);
      put_labelled(f, "Triton", opens[i].triton);
      put_labelled(f, "tkdbg", opens[i].tkdbg);
      put_kinds(f, i);
    }
  }
  fputs("\nWhere Triton says so:\n", f);
  for (size_t i = 0; i < CLI_COUNT(legends); i++) {
    fprintf(f, "%*s%s: ", LABEL, "", legends[i].name);
    cli_wrap(f, legends[i].text, TEXT,
             LABEL + (int)strlen(legends[i].name) + 2);
  }
}
