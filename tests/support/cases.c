/* cases.c - see cases.h. */
#include "support/cases.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "tkdbg/compile.h"

enum { MAX_FILES = 64 };

static void *allocated(void *p) {
  if (!p) abort();
  return p;
}

/* ---- reading ------------------------------------------------------------- */

/* Where the reader is.  Strings are cut out of the text in place: a line's end
 * becomes a 0, and so does the first character behind a body or a text. */
typedef struct reader {
  case_file *file;
  const char *path;
  char *at;
  int line;
} reader;

static void __attribute__((noreturn, format(printf, 2, 3)))
mistake(const reader *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s:%d: ", r->path, r->line);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(1);
}

static char *next_line(reader *r) {
  char *line = r->at, *end = strchr(line, '\n');
  if (!*line) return NULL;
  if (!end) mistake(r, "the last line does not end");
  *end = 0;
  r->at = end + 1;
  r->line++;
  return line;
}

/* Cuts "key: value"; NULL if a line is none. */
static const char *value_of(char *line) {
  size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");
  if (!n || strncmp(line + n, ": ", 2) != 0) return NULL;
  line[n] = 0;
  return line + n + 2;
}

static bool is_mark(const char *line) {
  bool two = line[0] && line[0] == line[1] && strchr("-+!", line[0]);
  return two && (!line[2] || line[2] == ' ');
}

static void read_file_line(reader *r, char *line) {
  case_file *f = r->file;
  if (!*line || *line == '#') return;
  const char *value = value_of(line);
  bool known = value && (!strcmp(line, "checks") || !strcmp(line, "least") ||
                         !strcmp(line, "class"));
  if (!known)
    mistake(r,
            "before the first case come comments (#), checks:, least: and "
            "class:, not '%s'",
            line);
  if (f->nkeys == FILE_KEYS) mistake(r, "more than %d keys", FILE_KEYS);
  f->keys[f->nkeys].key = line;
  f->keys[f->nkeys++].value = value;
}

/* A case that another one or the end of the file follows. */
static void check_complete(const reader *r, const test_case *c) {
  reader at = {.path = r->path, .line = c->line};
  if (!c->launch) mistake(&at, "case '%s' has no launch: line", c->name);
  if (!c->body) mistake(&at, "case '%s' has no kernel", c->name);
  if (!c->nwants) mistake(&at, "case '%s' has no --, ++ or !!", c->name);
}

static void begin_case(reader *r, char *line) {
  case_file *f = r->file;
  for (int i = 0; i < f->ncases; i++)
    if (!strcmp(f->cases[i].name, line + 3))
      mistake(r, "line %d has a case of that name", f->cases[i].line);
  f->cases =
      allocated(realloc(f->cases, (size_t)(f->ncases + 1) * sizeof *f->cases));
  f->cases[f->ncases++] =
      (test_case){.file = f->name, .line = r->line, .name = line + 3};
}

static void read_key(reader *r, test_case *c, char *line) {
  const char *value = value_of(line);
  if (!strcmp(line, "launch"))
    c->launch = value;
  else if (!strcmp(line, "explain"))
    c->explain = value;
  else if (!strcmp(line, "triton"))
    c->triton = value;
  else
    mistake(r,
            "a case has the keys launch:, explain: and triton:, not %s:", line);
}

static void begin_want(reader *r, test_case *c, char *line) {
  if (c->nwants == CASE_WANTS) mistake(r, "more than %d marks", CASE_WANTS);
  const char *about = line[2] ? line + 3 : "";
  c->wants[c->nwants++] =
      (case_want){.mark = *line, .about = about, .text = r->at};
  *line = 0; /* what stood before ends here */
}

/* A line of the kernel, or of a text: they stay in one piece. */
static void keep_line(test_case *c, char *line) {
  if (!c->body) c->body = line;
  line[strlen(line)] = '\n';
}

static void read_case_line(reader *r, char *line) {
  test_case *c = &r->file->cases[r->file->ncases - 1];
  bool before = !c->body && !c->nwants;
  size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");
  if (before && n && !strncmp(line + n, ": ", 2))
    read_key(r, c, line);
  else if (is_mark(line))
    begin_want(r, c, line);
  else
    keep_line(c, line);
}

static void read_lines(reader *r) {
  for (char *line; (line = next_line(r));) {
    case_file *f = r->file;
    if (!strncmp(line, "== ", 3)) {
      if (f->ncases) check_complete(r, &f->cases[f->ncases - 1]);
      begin_case(r, line);
      *line = 0;
    } else if (f->ncases) {
      read_case_line(r, line);
    } else {
      read_file_line(r, line);
    }
  }
  if (!r->file->ncases) mistake(r, "no case");
  check_complete(r, &r->file->cases[r->file->ncases - 1]);
}

static char *whole_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END)) {
    perror(path);
    exit(1);
  }
  size_t size = (size_t)ftell(f);
  char *text = allocated(malloc(size + 1));
  rewind(f);
  text[fread(text, 1, size, f)] = 0;
  fclose(f);
  return text;
}

static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) : 0;
}

case_file *case_file_read(const char *beside, const char *name) {
  char path[1024];
  case_file *f = allocated(calloc(1, sizeof *f));
  snprintf(path, sizeof path, "%.*s/%s", (int)folder_length(beside), beside,
           name);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->text = whole_file(path);
  reader r = {.file = f, .path = path, .at = f->text};
  read_lines(&r);
  return f;
}

void case_file_free(case_file *f) {
  free(f->cases);
  free(f->text);
  free(f);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(case_file *const *)a)->name, (*(case_file *const *)b)->name);
}

int case_files_read(const char *beside, const char *but, case_file ***files,
                    const test_case ***cases, int *ncases) {
  char folder[1024];
  snprintf(folder, sizeof folder, "%.*s", (int)folder_length(beside), beside);
  DIR *d = allocated(opendir(folder));
  int n = 0;
  *files = allocated(calloc(MAX_FILES, sizeof **files));
  for (struct dirent *e; (e = readdir(d)) && n < MAX_FILES;) {
    const char *dot = strrchr(e->d_name, '.');
    if (dot && !strcmp(dot, ".case") && !(but && !strcmp(e->d_name, but)))
      (*files)[n++] = case_file_read(beside, e->d_name);
  }
  closedir(d);
  qsort(*files, (size_t)n, sizeof **files, by_name);
  *ncases = 0;
  for (int i = 0; i < n; i++) *ncases += (*files)[i]->ncases;
  *cases = allocated(calloc((size_t)*ncases + 1, sizeof **cases));
  for (int i = 0, at = 0; i < n; i++)
    for (int k = 0; k < (*files)[i]->ncases; k++)
      (*cases)[at++] = &(*files)[i]->cases[k];
  return n;
}

void case_files_free(case_file **files, int n, const test_case **cases) {
  for (int i = 0; i < n; i++) case_file_free(files[i]);
  free(files);
  free(cases);
}

const char *case_file_key(const case_file *f, const char *key) {
  for (int i = 0; i < f->nkeys; i++)
    if (!strcmp(f->keys[i].key, key)) return f->keys[i].value;
  return NULL;
}

/* ---- launching ----------------------------------------------------------- */

char *case_source(const test_case *c) {
  char *text = allocated(malloc(strlen(c->body) + 2 * strlen(c->launch) + 256));
  char *at = stpcpy(text, "import triton\nimport triton.language as tl\n");
  if (strncmp(c->body, "    ", 4) == 0) {
    at = stpcpy(at, "@triton.jit\ndef k(");
    const char *p = strchr(c->launch, ' ');
    for (const char *comma = ""; p; comma = ", ", p = strchr(p, ' ')) {
      p += strspn(p, " ");
      size_t n = strcspn(p, "=");
      at += sprintf(at, "%s%.*s%s", comma, (int)n, p,
                    *p >= 'A' && *p <= 'Z' ? ": tl.constexpr" : "");
    }
    at = stpcpy(at, "):\n");
  }
  strcpy(at, c->body);
  return text;
}

tk_status case_launch(tk_session *s, const test_case *c, tk_launch **l) {
  tk_module *m;
  tk_function *f;
  char *source = case_source(c);
  tk_status st = TK_OK;
  if (c->triton) st = tk_session_triton_version(s, c->triton);
  if (st == TK_OK) st = tk_module_open(s, "k.py", source, strlen(source), &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, l);
  free(source);
  return st;
}

tk_status case_arguments(tk_launch *l, const test_case *c,
                         bool (*give)(void *ud, tk_launch *l, const char *name,
                                      const char *value, tk_status *st),
                         void *ud) {
  char *copy = allocated(strdup(c->launch)), *save = NULL;
  tk_status st = tk_launch_grid_text(l, strtok_r(copy, " ", &save));
  for (char *a; st == TK_OK && (a = strtok_r(NULL, " ", &save));) {
    char *value = strchr(a, '=');
    ck_assert_msg(value != NULL, "%s:%d: '%s' is not NAME=VALUE", c->file,
                  c->line, a);
    *value = 0;
    bool given = give && give(ud, l, a, value + 1, &st);
    *value = '=';
    if (!given) st = tk_launch_arg_text(l, a);
  }
  free(copy);
  return st;
}

void case_expects_lines(const test_case *c, const char *text,
                        const char *want) {
  char *copy = allocated(strdup(want)), *save = NULL;
  for (char *line = strtok_r(copy, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save))
    ck_assert_msg(strstr(text, line) != NULL,
                  "%s:%d: %s: expected: %s\nreport:\n%s", c->file, c->line,
                  c->name, line, text);
  free(copy);
}

tk_status case_launch_by(tk_session *s, case_way way, tk_launch **l) {
  tk_emit_options o = {.size = sizeof o};
  tk_function *f;
  const char *form = tk_launch_ir(*l);
  if (form && way == CASE_BY_PASSES) tk_launch_emit(*l, &o, &form);
  if (!form) return tk_launch_compile(*l);
  tk_status st = tk_ir_open(s, "k.tk", form, strlen(form), &f);
  return st == TK_OK ? tk_launch_new(s, f, l) : st;
}
