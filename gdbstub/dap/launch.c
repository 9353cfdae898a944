/* launch.c - what a launch is described by, as a command line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/dap/dap.h"

enum { FILE_, WORDS_, OPTION_, LIST_, OURS_ };

typedef struct dap_attribute {
  const char *name;
  int kind;
  const char *option, *types, *doc;
} dap_attribute;

static const dap_attribute attributes[] = {
#define ATTRIBUTE(name, kind, option, types, doc)                              \
  {name, kind##_, option, types, doc},
#include "gdbstub/dap/attribute.def"
#undef ATTRIBUTE
};

const char *tk_dap_attribute(size_t i) {
  return i < TK_COUNT(attributes) ? attributes[i].name : NULL;
}

const char *tk_dap_attribute_type(size_t i) {
  return i < TK_COUNT(attributes) ? attributes[i].types : NULL;
}

const char *tk_dap_attribute_doc(size_t i) {
  return i < TK_COUNT(attributes) ? attributes[i].doc : NULL;
}

static const char *json_type_name(const json_t *v) {
  switch (json_typeof(v)) {
  case JSON_OBJECT: return "object";
  case JSON_ARRAY: return "array";
  case JSON_STRING: return "string";
  case JSON_INTEGER: return "integer";
  case JSON_REAL: return "number";
  case JSON_NULL: return "null";
  default: return "boolean";
  }
}

/* A scalar as a word of a command line; NULL if the value is not a scalar. */
static const char *word_of(dap *p, const json_t *v) {
  char text[40];
  switch (json_typeof(v)) {
  case JSON_STRING: return tk_arena_strdup(&p->life, json_string_value(v));
  case JSON_INTEGER:
    return tk_arena_printf(&p->life, "%" JSON_INTEGER_FORMAT,
                           json_integer_value(v));
  case JSON_REAL:
    snprintf(text, sizeof text, "%.17g", json_real_value(v));
    return tk_arena_strdup(&p->life, text);
  case JSON_TRUE: return "True";
  case JSON_FALSE: return "False";
  case JSON_NULL: return "none";
  default: return NULL;
  }
}

/* The items of an array, or a single value, separated by commas. */
static const char *with_commas(dap *p, const json_t *v) {
  const char *all = "";
  if (!json_is_array(v)) return word_of(p, v);
  for (size_t i = 0; i < json_array_size(v); i++) {
    const char *word = word_of(p, json_array_get(v, i));
    if (!word) return NULL;
    all = tk_arena_printf(&p->life, "%s%s%s", all, i ? "," : "", word);
  }
  return all;
}

static void push_word(dap *p, const char *word) {
  TK_PUSH(&p->life, &p->launch.words, word);
}

static void push_option(dap *p, const char *option, const char *value) {
  push_word(p, tk_arena_printf(&p->life, "--%s=%s", option, value));
}

/* Adds an option for each item of {"x": "f32[8]"} or of ["x=f32[8]"]. */
static bool push_list(dap *p, const dap_attribute *a, json_t *v) {
  const char *name;
  json_t *item;
  size_t i;
  json_object_foreach(v, name, item) {
    const char *word = word_of(p, item);
    if (!word) return false;
    push_option(p, a->option, tk_arena_printf(&p->life, "%s=%s", name, word));
  }
  json_array_foreach(v, i, item) {
    const char *word = word_of(p, item);
    if (!word) return false;
    push_option(p, a->option, word);
  }
  return true;
}

static bool push_words(dap *p, const json_t *v) {
  size_t i;
  json_t *item;
  json_array_foreach(v, i, item) {
    const char *word = word_of(p, item);
    if (!word) return false;
    push_word(p, word);
  }
  return true;
}

/* Which detectors to turn on: true means all of them, false none. */
static bool push_option_of(dap *p, const dap_attribute *a, const json_t *v) {
  if (json_is_false(v)) return true;
  if (json_is_true(v)) {
    push_word(p, tk_arena_printf(&p->life, "--%s", a->option));
    return true;
  }
  const char *text = with_commas(p, v);
  if (text) push_option(p, a->option, text);
  return text != NULL;
}

static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *s = words; s; s = strchr(s, '|')) {
    s += *s == '|';
    if (!strncmp(s, word, n) && (!s[n] || s[n] == '|')) return true;
  }
  return false;
}

/* The attributes of a kind, in the order of the table; false after saying
 * that one of them is wrong. */
static bool push_attributes(dap *p, const json_t *args, int kind) {
  for (size_t i = 0; i < TK_COUNT(attributes); i++) {
    const dap_attribute *a = &attributes[i];
    json_t *v = json_object_get(args, a->name);
    if (a->kind != kind || !v || json_is_null(v)) continue;
    bool ok = has_word(a->types, json_type_name(v));
    if (ok && kind == OPTION_) ok = push_option_of(p, a, v);
    if (ok && kind == LIST_) ok = push_list(p, a, v);
    if (ok && kind == WORDS_) ok = push_words(p, v);
    if (ok && kind == FILE_) push_word(p, word_of(p, v));
    if (ok) continue;
    dap_fail(p, "launch: '%s' must be of type %s: %s", a->name, a->types,
             a->doc);
    return false;
  }
  return true;
}

static bool is_map_of_texts(const json_t *map) {
  const char *name;
  json_t *v;
  json_object_foreach((json_t *)map, name,
                      v) if (!json_is_string(v) &&
                             !json_is_null(v)) return false;
  return true;
}

bool dap_read_launch(dap *p, const json_t *args) {
  dap_launch *l = &p->launch;
  const json_t *options = json_object_get(args, "options");
  const json_t *folder = json_object_get(args, "cwd");
  const json_t *map = json_object_get(args, "env");
  const char *program = dap_string(args, "program", "");
  const char *replayed = dap_string(args, "replay", "");
  if (!*program == !*replayed)
    dap_fail(p, "launch: either 'program' (the script, or the file of the "
                "kernel) or 'replay' (a launch file) is needed");
  else if (folder && !json_is_string(folder))
    dap_fail(p, "launch: 'cwd' must be a string: the folder to run in");
  else if (options && !json_is_array(options))
    dap_fail(p, "launch: 'options' must be an array of strings");
  else if (map && (!json_is_object(map) || !is_map_of_texts(map)))
    dap_fail(p, "launch: 'env' must be an object of strings");
  if (p->reply.fault || !push_attributes(p, args, OPTION_) ||
      !push_attributes(p, args, LIST_))
    return false;
  if (!push_words(p, options)) dap_fail(p, "launch: an option is not a string");
  l->folder = folder ? word_of(p, folder) : NULL;
  l->environment = json_incref((json_t *)map);
  bool direct = json_object_get(args, "grid") ||
                json_object_get(args, "kernelArgs") || *replayed;
  /* the words after this one belong to the script */
  if (!direct) push_word(p, "--");
  return !p->reply.fault && push_attributes(p, args, FILE_) &&
         push_attributes(p, args, WORDS_);
}

const char *tk_dap_folder(tk_dap *p) {
  return p->launch.folder;
}

const char *tk_dap_variable(tk_dap *p, size_t i, const char **value) {
  const char *name;
  json_t *v;
  json_object_foreach(p->launch.environment, name, v) if (!i--) return *value =
      json_string_value(v),
                                                                       name;
  return NULL;
}
