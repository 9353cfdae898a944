/* suppress.c - findings that the user does not want to hear of.
 *
 * A comment on the line says so in the kernel itself:
 *
 *   x = tl.load(p)  # tkdbg: ignore[undef, race]
 *   x = tl.load(p)  # tkdbg: ignore
 *
 * A suppression file has a line for each: the kind, the file, and the line's
 * number or the function's name; '*' and '?' stand for anything, what
 * follows a '#' is a comment.
 *
 *   undef  kernels/norm.py  layer_norm_fwd
 *   race   * *
 */
#include <fnmatch.h>
#include <string.h>

#include "interp/check/check.h"
#include "launch/internal.h"

/* Whether a kind is meant by n bytes of text: "lint" means "lint-mask" too. */
static bool is_kind(const char *want, size_t n, const char *kind) {
  if (strncmp(want, kind, n)) return n == 1 && *want == '*';
  return !kind[n] || kind[n] == '-';
}

/* ---- comments ----------------------------------------------------------- */

static bool list_has(const char *s, size_t n, const char *kind) {
  for (size_t i = 0; i < n;) {
    size_t k = 0;
    while (i < n && strchr(" ,", s[i])) i++;
    while (i + k < n && !strchr(" ,", s[i + k])) k++;
    if (k && is_kind(s + i, k, kind)) return true;
    i += k;
  }
  return false;
}

static bool line_ignores(const char *s, size_t n, const char *kind) {
  static const char mark[] = "tkdbg: ignore";
  const char *hash = memchr(s, '#', n);
  if (!hash) return false;
  n -= (size_t)(hash - s);
  const char *at = memmem(hash, n, mark, sizeof mark - 1);
  if (!at) return false;
  at += sizeof mark - 1;
  n -= (size_t)(at - hash);
  if (!n || *at != '[') return true;
  const char *end = memchr(at, ']', n);
  return end && list_has(at + 1, (size_t)(end - at) - 1, kind);
}

static bool place_ignores(const tkc_place *p, const char *kind) {
  if (!p->src) return false;
  uint32_t end = p->span.hi > p->span.lo ? p->span.hi - 1 : p->span.lo;
  int last = tk_source_line(p->src, end);
  for (int i = tk_source_line(p->src, p->span.lo); i <= last; i++) {
    size_t n;
    const char *s = tk_source_line_text(p->src, i, &n);
    if (line_ignores(s, n, kind)) return true;
  }
  return false;
}

/* ---- files -------------------------------------------------------------- */

static void bad_line(tkc *c, const char *path, int line, const char *what) {
  tk_env *e = &c->session->env;
  tk_diag *d = tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0},
                           "%s:%d: %s in a suppression file", path, line, what);
  tk_diag_help(e, d,
               "a line is KIND FILE WHERE, such as 'undef norm.py "
               "layer_norm', with * for anything");
  tk_throw(e, TK_USAGE);
}

static void read_line(tkc *c, const char *path, int number, char *line) {
  char *word[4] = {0}, *save = NULL;
  size_t n = 0;
  line[strcspn(line, "#")] = '\0';
  for (char *w = strtok_r(line, " \t\r", &save); w && n < 4;
       w = strtok_r(NULL, " \t\r", &save))
    word[n++] = w;
  if (!n) return;
  if (n != 3)
    bad_line(c, path, number, n < 3 ? "too few words" : "one word too many");
  tkc_rule *r = TK_NEW(&c->file, tkc_rule);
  *r = (tkc_rule){c->rules, word[0], word[1], word[2]};
  c->rules = r;
}

typedef struct reading {
  tkc *c;
  const char *path;
} reading;

static void read_file(tkn_reader *r, void *ud) {
  reading *x = ud;
  enum { MOST = 1 << 24 };
  if (r->size > MOST) tkn_file_fail(r->env, r->name, "more than 16 MiB");
  char *text = tk_arena_alloc(&x->c->file, (size_t)r->size + 1);
  tkn_read(r, text, (size_t)r->size);
  for (int line = 1; text; line++) {
    char *end = strchr(text, '\n');
    if (end) *end = '\0';
    read_line(x->c, x->path, line, text);
    text = end ? end + 1 : NULL;
  }
}

void tkc_read_rules(tkc *c, const char *path) {
  reading x = {c, path};
  tkn_with_reader(&c->session->env, path, read_file, &x);
}

static bool rule_holds(const tkc_rule *r, const char *kind, const char *file,
                       const char *line, const char *function) {
  return is_kind(r->kind, strlen(r->kind), kind) &&
         (!fnmatch(r->file, file, 0) ||
          !fnmatch(r->file, tk_base_name(file), 0)) &&
         (!strcmp(r->where, line) || !fnmatch(r->where, function, 0));
}

static const char *line_of(const tkc *c, const tkc_place *p) {
  tk_arena *a = (tk_arena *)(uintptr_t)&c->kept;
  int line = p->src ? tk_source_line(p->src, p->span.lo) : 0;
  return tk_arena_printf(a, "%d", line);
}

bool tkc_suppressed(const tkc *c, const tkc_finding *f) {
  const char *kind = tk_finding_kind_name(f->id);
  if (place_ignores(&f->at, kind) || place_ignores(&f->from, kind)) return true;
  const char *file = f->at.src ? f->at.src->name : "";
  for (const tkc_rule *r = c->rules; r; r = r->next)
    if (rule_holds(r, kind, file, line_of(c, &f->at), f->function)) return true;
  return false;
}

void tkc_write_rules(const tkc *c, tk_buf *out) {
  for (const tkc_finding *f = c->findings; f; f = f->next) {
    if (f->suppressed) continue;
    tk_buf_printf(out, "%s  %s  %s\n", tk_finding_kind_name(f->id),
                  f->at.src ? f->at.src->name : "*",
                  *f->function ? f->function : line_of(c, &f->at));
  }
}
