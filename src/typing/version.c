/* version.c - which Triton a session follows. */
#include "typing/version.h"

#include <stdio.h>
#include <string.h>

#include "typing/emit.h"
#include "typing/trial.h"

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

static const struct {
  const char *name;
  int since;
  const char *instead;
} removed[] = {
#define REMOVED(name, number, instead) {name, number, instead},
#include "version.def"
#undef REMOVED
};

/* The newest version that is followed: the last one means it. */
static int newest(void) {
  return versions[TK_COUNT(versions) - 1].means;
}

int tk_version_followed(int triton_version) {
  return triton_version ? triton_version : newest();
}

static int version_of(const tks *s) {
  return tk_version_followed(s->origin->session->triton_version);
}

/* Whether a trial has turned a change round. */
static bool is_turned(const tk_session *session, tks_change c) {
  return session->trial && session->trial->turned == (int)c;
}

bool tks_has(const tks *s, tks_change c) {
  bool has = version_of(s) >= since[c];
  return is_turned(s->origin->session, c) ? !has : has;
}

int tks_version_of_op(const tk_session *session, const char *name) {
  static const struct {
    const char *name;
    tks_change change;
  } chosen[] = {
#define OPERATION(name, id) {name, TKS_##id},
#include "version.def"
#undef OPERATION
  };
  int version = tk_version_followed(session->triton_version);
  for (size_t i = 0; i < TK_COUNT(chosen); i++) {
    int changed = since[chosen[i].change];
    if (is_turned(session, chosen[i].change) && !strcmp(chosen[i].name, name))
      return version < changed ? changed : changed - 1;
  }
  return version;
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

const char *tks_gone(const tks *s, const char *name, const char **since_name) {
  for (size_t i = 0; i < TK_COUNT(removed); i++) {
    if (strcmp(removed[i].name, name) || removed[i].since > version_of(s))
      continue;
    *since_name = name_of(removed[i].since);
    return removed[i].instead;
  }
  return NULL;
}

void tks_need(tks *s, tks_change c, const char *what, const char *help) {
  if (tks_has(s, c)) return;
  tks_error_help(s, TK_D_UNSUPPORTED,
                 tk_arena_printf(s->arena, "%s, or --triton-version %s", help,
                                 name_of(since[c])),
                 "%s; Triton %s takes it", what, name_of(since[c]));
}

const char *tks_library_name(const tks *s, const char *name) {
  static const struct {
    const char *name;
    int since;
  } variants[] = {
#define PRELUDE(name)
#define VARIANT(name, since) {name, since},
#include "prelude.def"
#undef PRELUDE
#undef VARIANT
  };
  int best = 0,
      version = tks_version_of_op(s->origin->session,
                                  tk_arena_printf(s->arena, "tl.%s", name));
  for (size_t i = 0; i < TK_COUNT(variants); i++)
    if (!strcmp(variants[i].name, name) && variants[i].since > best &&
        variants[i].since <= version)
      best = variants[i].since;
  return best ? tk_arena_printf(s->arena, "%s_since_%d", name, best) : name;
}

const char *tks_name_without_version(const tks *s, const char *name) {
  const char *suffix = strstr(name, "_since_");
  if (!suffix) return name;
  return tk_arena_printf(s->arena, "%.*s", (int)(suffix - name), name);
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

const char *tk_triton_added(size_t i, const char **version) {
  if (i >= TK_COUNT(added)) return NULL;
  *version = name_of(added[i].since);
  return added[i].name;
}

const char *tk_triton_removed(size_t i, const char **version,
                              const char **instead) {
  if (i >= TK_COUNT(removed)) return NULL;
  *version = name_of(removed[i].since);
  *instead = removed[i].instead;
  return removed[i].name;
}

int tk_trial_version(const tk_session *s) {
  return tk_version_followed(s->triton_version);
}

int tk_version_number(size_t i) {
  return i < TK_COUNT(versions) ? versions[i].number : 0;
}

int tk_change_since(size_t i) {
  return i < TK_COUNT(since) ? since[i] : 0;
}

const char *tk_triton_version_at(size_t i) {
  return i < TK_COUNT(versions) ? versions[i].name : NULL;
}
