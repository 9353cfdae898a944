/* version.c - which Triton a session follows. */
#include "spec/version.h"

#include <stdio.h>
#include <string.h>

static const int since[] = {
#define CHANGE(id, number, doc) number,
#include "version.def"
#undef CHANGE
};

static const struct version {
  int number;
  const char *name;
  int means; /* the number of the version that is followed in its place */
} versions[] = {
#define VERSION(number, name, means) {number, name, means},
#include "version.def"
#undef VERSION
};

static const struct {
  const char *name;
  int since;
} added[] = {
#define ADDED(name, number) {name, number},
#include "version.def"
#undef ADDED
};

/* The newest version that is followed: the last one means it. */
static int newest(void) {
  return versions[TK_COUNT(versions) - 1].means;
}

static int version_of(const tks *s) {
  int v = s->origin->session->triton_version;
  return v ? v : newest();
}

bool tks_has(const tks *s, tks_change c) {
  return version_of(s) >= since[c];
}

static const char *name_of(int number) {
  for (size_t i = 0; i < TK_COUNT(versions); i++)
    if (versions[i].number == number) return versions[i].name;
  return "?";
}

const char *tks_not_yet(const tks *s, const char *name, const char **now) {
  int v = version_of(s);
  *now = name_of(v);
  for (size_t i = 0; i < TK_COUNT(added); i++)
    if (added[i].since > v && !strcmp(added[i].name, name))
      return name_of(added[i].since);
  return NULL;
}

/* ---- the public edge ---------------------------------------------------- */

typedef struct choice {
  tk_session *s;
  const char *name;
} choice;

static void choose(tk_env *e, void *ud) {
  choice *c = ud;
  for (size_t i = 0; i < TK_COUNT(versions); i++) {
    if (strcmp(versions[i].name, c->name)) continue;
    c->s->triton_version = versions[i].means;
    return;
  }
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "unknown version of Triton: %s", c->name);
  tk_diag_help(e, d, "%s to %s are known", versions[0].name,
               versions[TK_COUNT(versions) - 1].name);
  tk_throw(e, TK_USAGE);
}

tk_status tk_session_triton_version(tk_session *s, const char *name) {
  choice c = {s, name};
  return tk_session_guard(s, choose, &c);
}

const char *tk_triton_meaning(const char *version) {
  int major = 0, minor = 0;
  if (!version) return name_of(newest());
  if (sscanf(version, "%4d.%4d", &major, &minor) != 2) return NULL;
  for (size_t i = TK_COUNT(versions); i-- > 0;)
    if (versions[i].number <= 100 * major + minor)
      return name_of(versions[i].means);
  return NULL;
}

const char *tk_triton_change(size_t i, const char **version) {
  static const char *const docs[] = {
#define CHANGE(id, number, doc) doc,
#include "version.def"
#undef CHANGE
  };
  if (i >= TK_COUNT(docs)) return NULL;
  *version = name_of(since[i]);
  return docs[i];
}
