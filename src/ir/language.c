/* language.c - the words of a language: phrases of a format are replaced. */
#include "ir/language.h"

#include <ctype.h>
#include <string.h>

static const char *const names[] = {
#define LANGUAGE(id, name, strict) name,
#include "ir/language.def"
};

static const bool is_strict[] = {
#define LANGUAGE(id, name, strict) strict,
#include "ir/language.def"
};

typedef struct phrase {
  tk_language language;
  const char *from, *to;
} phrase;

static const phrase phrases[] = {
#define PHRASE(id, from, to) {TK_LANGUAGE_##id, from, to},
#include "ir/language.def"
};

static const char *const modules[TK_COUNT(names)] = {
#define MODULE(id, name) [TK_LANGUAGE_##id] = name,
#include "ir/language.def"
};

static const phrase members[] = {
#define MEMBER(id, from, to) {TK_LANGUAGE_##id, from, to},
#include "ir/language.def"
};

const char *tk_language_name(tk_language l) {
  return names[l];
}

bool tk_language_is_strict(tk_language l) {
  return is_strict[l];
}

const char *tk_language_module(tk_language l) {
  return modules[l];
}

const char *tk_language_member(tk_language l, const char *name) {
  for (size_t i = 0; i < TK_COUNT(members); i++)
    if (members[i].language == l && !strcmp(members[i].from, name))
      return members[i].to;
  return name;
}

int tk_language_find(const char *name) {
  for (size_t i = 0; i < TK_COUNT(names); i++)
    if (!strcmp(names[i], name)) return (int)i;
  return -1;
}

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The phrase that begins at p, in a text that begins at start; or NULL.  What
 * an index follows is the name of a tensor. */
static const phrase *phrase_at(int l, const char *start, const char *p) {
  if (p > start && (in_word(p[-1]) || p[-1] == '%')) return NULL;
  for (size_t i = 0; i < TK_COUNT(phrases); i++) {
    const phrase *x = &phrases[i];
    size_t n = strlen(x->from);
    if ((int)x->language == l && !strncmp(p, x->from, n) &&
        !(in_word(x->from[n - 1]) && (in_word(p[n]) || p[n] == '[')))
      return x;
  }
  return NULL;
}

void tk_language_speak(tk_env *e, tk_language l) {
  e->words = l == TK_LANGUAGE_TRITON ? NULL : tk_language_words;
  e->whose_words = (int)l;
}

typedef struct translation {
  int language;
  const char *format;
} translation;

static void put_translated(tk_buf *out, void *ud) {
  const translation *t = ud;
  const char *done = t->format; /* what is before it stands in out */
  for (const char *p = done; *p;) {
    const phrase *x = phrase_at(t->language, t->format, p);
    if (!x) {
      p++;
      continue;
    }
    tk_buf_add(out, done, (size_t)(p - done));
    tk_buf_puts(out, x->to);
    done = p += strlen(x->from);
  }
  tk_buf_puts(out, done);
}

const char *tk_language_words(int l, tk_arena *a, const char *format) {
  return tk_arena_text(a, put_translated, &(translation){l, format}, NULL);
}
