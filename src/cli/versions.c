/* versions.c - tkdbg help versions: what changed in the language of kernels
 * from one version of Triton to the next. */
#include <string.h>

#include "help.h"

enum { INDENT = 2, TEXT = 4 };

/* "- LABEL: TEXT", wrapped. */
static void put_point(FILE *f, const char *label, const char *text) {
  int column = fprintf(f, "%*s- %s: ", INDENT, "", label);
  cli_wrap(f, text, TEXT, column);
}

static void put_changes(FILE *f, const char *version) {
  const char *since, *before;
  for (size_t i = 0; (before = tk_triton_change(i, &since)); i++)
    if (!strcmp(since, version)) put_point(f, "before", before);
}

static void put_added(FILE *f, const char *version) {
  const char *since, *name;
  for (size_t i = 0; (name = tk_triton_added(i, &since)); i++)
    if (!strcmp(since, version)) put_point(f, "new", name);
}

static void put_removed(FILE *f, const char *version) {
  const char *since, *name, *instead;
  for (size_t i = 0; (name = tk_triton_removed(i, &since, &instead)); i++) {
    if (strcmp(since, version)) continue;
    put_point(f, "removed", name);
    fprintf(f, "%*s", TEXT, "");
    cli_wrap(f, instead, TEXT, TEXT);
  }
}

/* Whether a version changed anything that is known. */
static bool changed(const char *version) {
  const char *since = "", *instead;
  for (size_t i = 0; tk_triton_change(i, &since); i++)
    if (!strcmp(since, version)) return true;
  for (size_t i = 0; tk_triton_added(i, &since); i++)
    if (!strcmp(since, version)) return true;
  for (size_t i = 0; tk_triton_removed(i, &since, &instead); i++)
    if (!strcmp(since, version)) return true;
  return false;
}

void cli_help_versions(FILE *f) {
  const char *version;
  fprintf(f,
          "What changed in the language of kernels. --triton-version X.Y "
          "follows one of\nthese; without it, kernels mean what they mean "
          "in the installed Triton, or in %s.\n--check=versions notes what "
          "another version would take otherwise.\n",
          tk_triton_meaning(NULL));
  for (size_t i = 0; (version = tk_triton_version_at(i)); i++) {
    if (!changed(version)) continue;
    fprintf(f, "\nTriton %s\n", version);
    put_changes(f, version);
    put_added(f, version);
    put_removed(f, version);
  }
}
