/* session.c - sessions, reports, modules and functions: the public edge.
 *
 * Each public function packs its arguments into a small struct and runs its
 * body under tk_session_guard.  The one failure that cannot be reported by
 * adding a diagnostic is running out of memory: it sets a flag, from which
 * tk_report makes its words without allocating.
 */
#include "internal.h"
#include "encoding.h"

#include <stdlib.h>
#include <string.h>

/* ---- sessions ---------------------------------------------------------- */

static tk_session *session_begin(tk_session *s, tk_alloc_fn alloc, void *ud) {
  memset(s, 0, sizeof *s);
  tk_env_init(&s->env, alloc, ud);
  tk_arena_init(&s->arena, &s->env);
  tk_buf_init(&s->report, &s->env);
  tk_buf_init(&s->suites, &s->env);
  tk_buf_init(&s->conditions, &s->env);
  return s;
}

tk_session *tk_session_new(void) {
  tk_session *s = malloc(sizeof *s);
  return s ? session_begin(s, tk_kept_alloc, &s->kept) : NULL;
}

tk_session *tk_session_new_with(tk_alloc_fn alloc, void *ud) {
  if (!alloc) return tk_session_new();
  tk_session *s = alloc(ud, NULL, 0, sizeof *s);
  return s ? session_begin(s, alloc, ud) : NULL;
}

static void free_module(tk_env *e, tk_module *m) {
  for (tk_function *f = m->functions; f; f = f->next)
    if (f->free_units) f->free_units(e, f);
  tk_file_free(e, m->file);
}

void tk_session_free(tk_session *s) {
  if (!s) return;
  tk_diag_clear(&s->env);
  while (s->launches) tk_launch_free(s->launches);
  for (tk_owned *o = s->owned; o; o = o->next) o->free(&s->env, o);
  for (tk_watcher *w = s->watchers, *next; w; w = next) {
    next = w->next;
    if (w->free) w->free(&s->env, w->ud);
  }
  for (tk_module *m = s->modules; m; m = m->next) free_module(&s->env, m);
  tk_buf_free(&s->report);
  tk_buf_free(&s->suites);
  tk_buf_free(&s->conditions);
  tk_arena_free(&s->arena);
  if (s->env.alloc == tk_kept_alloc) {
    tk_kept_free(&s->kept);
    free(s);
  } else {
    s->env.alloc(s->env.alloc_ud, s, sizeof *s, 0);
  }
}

void tk_session_watch(tk_session *s, tk_watcher *w) {
  tk_watcher **at = &s->watchers;
  while (*at) at = &(*at)->next;
  *at = w;
}

void tk_session_unwatch(tk_session *s, const tk_watcher *w) {
  tk_watcher **at = &s->watchers;
  while (*at && *at != w) at = &(*at)->next;
  if (*at) *at = w->next;
}

typedef struct refusal {
  tk_watcher *w;
  tk_launch *launch;
} refusal;

static void tell_refused(tk_env *e, void *ud) {
  refusal *x = ud;
  (void)e;
  x->w->refused(x->w->ud, x->launch);
}

void tk_launch_refused(tk_launch *l) {
  tk_session *s = l->session;
  for (tk_watcher *w = s->watchers; w; w = w->next) {
    refusal x = {w, l};
    if (w->refused) tk_session_guard(s, tell_refused, &x);
  }
}

void tk_session_output(tk_session *s, tk_output_fn fn, void *ud) {
  s->output = fn;
  s->output_ud = ud;
}

void tk_session_compiler(tk_session *s, tk_compiler_fn fn, void *ud) {
  s->compiler = fn;
  s->compiler_ud = ud;
}

void tk_interrupt(tk_session *s) {
  s->env.interrupted = 1;
}

void tk_session_attend(tk_session *s, tk_attend_fn fn, void *ud) {
  s->env.attend = fn;
  s->env.attend_ud = ud;
}

/* Whether an error was added after the first n diagnostics: a note, or a
 * warning, says nothing of what then failed. */
static bool tells_of_error(const tk_env *e, size_t n) {
  const tk_diag *d = e->diags;
  for (; d && n; n--) d = d->next;
  while (d && d->f.severity != TK_SEV_ERROR) d = d->next;
  return d;
}

tk_status tk_session_guard(tk_session *s, void (*fn)(tk_env *e, void *ud),
                           void *ud) {
  size_t before = s->env.ndiags;
  tk_status st = tk_protect(&s->env, fn, ud);
  if (st == TK_INTERNAL && !tells_of_error(&s->env, before))
    s->out_of_memory = true;
  return st;
}

/* ---- reports ----------------------------------------------------------- */

static const char memory_text[] = "error: out of memory [memory]\n";
#define MEMORY_ENTRY                                                           \
  "{\"kind\": \"memory\", \"severity\": \"error\", \"count\": 1, "             \
  "\"message\": \"out of memory\", \"notes\": []}"
static const char memory_json[] = "[" MEMORY_ENTRY "]\n";
static const char memory_line[] = MEMORY_ENTRY "\n";

typedef struct report_call {
  tk_session *s;
  bool colour;
  bool unshown; /* only what no debugger has shown */
} report_call;

static void render_text(tk_env *e, void *ud) {
  report_call *c = ud;
  tk_buf *out = &c->s->report;
  tk_buf_clear(out);
  for (const tk_diag *d = e->diags; d; d = d->next)
    if (!c->unshown || d->f.shown != d->f.count)
      tk_finding_text(out, &d->f, c->colour);
  if (c->s->out_of_memory) tk_buf_puts(out, memory_text);
}

static void render_entries(tk_env *e, report_call *c, const char *between) {
  tk_buf *out = &c->s->report;
  for (const tk_diag *d = e->diags; d; d = d->next) {
    if (d != e->diags) tk_buf_puts(out, between);
    tk_finding_json(out, &d->f);
  }
  if (!c->s->out_of_memory) return;
  if (e->diags) tk_buf_puts(out, between);
  tk_buf_puts(out, MEMORY_ENTRY);
}

static void render_json(tk_env *e, void *ud) {
  report_call *c = ud;
  tk_buf_clear(&c->s->report);
  tk_buf_putc(&c->s->report, '[');
  render_entries(e, c, ",\n ");
  tk_buf_puts(&c->s->report, "]\n");
}

static void render_lines(tk_env *e, void *ud) {
  report_call *c = ud;
  tk_buf_clear(&c->s->report);
  render_entries(e, c, "\n");
  if (tk_report_count(c->s)) tk_buf_putc(&c->s->report, '\n');
}

/* Renders a report, even of a run that was interrupted; what is returned if
 * there is no memory for it: `instead`. */
static const char *render(report_call *c, void (*fn)(tk_env *e, void *ud),
                          const char *instead) {
  tk_env *e = &c->s->env;
  e->deaf++;
  tk_status st = tk_protect(e, fn, c);
  e->deaf--;
  return st == TK_OK ? tk_buf_str(&c->s->report) : instead;
}

const char *tk_report(tk_session *s, bool colour) {
  report_call c = {.s = s, .colour = colour};
  return render(&c, render_text, memory_text);
}

const char *tk_report_unshown(tk_session *s, bool colour) {
  report_call c = {.s = s, .colour = colour, .unshown = true};
  return render(&c, render_text, memory_text);
}

const char *tk_report_json(tk_session *s) {
  report_call c = {.s = s};
  return render(&c, render_json, memory_json);
}

const char *tk_report_json_lines(tk_session *s) {
  report_call c = {.s = s};
  return render(&c, render_lines, memory_line);
}

size_t tk_report_count(tk_session *s) {
  return s->env.ndiags + s->out_of_memory;
}

/* Made without allocating, when nothing can be allocated any more. */
static const tk_finding memory_finding = {.kind = TK_D_MEMORY,
                                          .severity = TK_SEV_ERROR,
                                          .message = "out of memory",
                                          .count = 1};

const tk_finding *tk_report_finding(tk_session *s, size_t i) {
  const tk_diag *d = s->env.diags;
  while (d && i) d = d->next, i--;
  if (d) return &d->f;
  return i == 0 && s->out_of_memory ? &memory_finding : NULL;
}

void tk_report_clear(tk_session *s) {
  tk_diag_clear(&s->env);
  s->out_of_memory = false;
}

/* ---- modules ----------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t h, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3; /* FNV-1a */
  return h;
}

static tk_module *find_module(tk_session *s, uint64_t hash, const char *name,
                              const char *text, size_t len) {
  for (tk_module *m = s->modules; m; m = m->next) {
    const tk_source *src = m->file->src;
    if (m->hash != hash || src->len != len) continue;
    if (!strcmp(src->name, name) && !memcmp(src->text, text, len)) return m;
  }
  return NULL;
}

tk_module *tkn_module_open(tk_session *s, const char *name, const char *text,
                           size_t len) {
  if (len > 64u << 20)
    tkn_file_fail(&s->env, name, "a source file of more than 64 MiB");
  uint64_t hash = hash_bytes(0xcbf29ce484222325, name, strlen(name) + 1);
  hash = hash_bytes(hash, text, len);
  tk_module *m = find_module(s, hash, name, text, len);
  if (m) return m;
  m = TK_NEW(&s->arena, tk_module);
  m->session = s;
  m->hash = hash;
  m->file = tk_file_scan(&s->env, name, text, len);
  m->next = s->modules;
  s->modules = m;
  return m;
}

typedef struct open_call {
  tk_session *s;
  const char *name, *text;
  size_t len;
  tk_module **out;
} open_call;

static void open_text(tk_env *e, void *ud) {
  (void)e;
  open_call *c = ud;
  *c->out = tkn_module_open(c->s, c->name, c->text, c->len);
}

tk_status tk_module_open(tk_session *s, const char *name, const char *text,
                         size_t len, tk_module **out) {
  open_call c = {s, name, text, len, out};
  *out = NULL;
  return tk_session_guard(s, open_text, &c);
}

/* What a file is that no source text can be; NULL: it may be one. */
static const char *binary_kind(const char *text, size_t n) {
  if (n > 9 && !text[6] && !text[7] && text[8] == '{')
    return "a launch file, which states its kernel: 'tkdbg ir' prints it";
  if (n > 4 && !memcmp(text, "\177ELF", 4))
    return "a program (ELF), not Python source";
  return memchr(text, 0, n) ? "a binary file, not Python source" : NULL;
}

static void open_reader(tkn_reader *r, void *ud) {
  open_call *c = ud;
  if (r->size > 64u << 20)
    tkn_file_fail(r->env, r->name, "a source file of more than 64 MiB");
  char *text = tk_arena_alloc(&c->s->arena, (size_t)r->size + 1);
  tkn_read(r, text, (size_t)r->size);
  const char *kind = binary_kind(text, (size_t)r->size);
  if (kind) tkn_file_fail(r->env, r->name, "%s", kind);
  size_t n = (size_t)r->size;
  const char *read = tkn_as_utf8(r->env, &c->s->arena, c->name, text, &n);
  *c->out = tkn_module_open(c->s, c->name, read, n);
}

static void open_path(tk_env *e, void *ud) {
  open_call *c = ud;
  tkn_with_reader(e, c->name, open_reader, c);
}

tk_status tk_module_open_file(tk_session *s, const char *path,
                              tk_module **out) {
  open_call c = {.s = s, .name = path, .out = out};
  *out = NULL;
  return tk_session_guard(s, open_path, &c);
}

const char *tk_module_kernel_name(tk_module *m, size_t i) {
  for (size_t k = 0; k < m->file->nitems; k++) {
    const tk_item *item = &m->file->items[k];
    if (item->kind == TK_ITEM_FUNC && item->jit && i-- == 0) return item->name;
  }
  return NULL;
}

/* ---- finding functions ------------------------------------------------- */

static const char *last_name(const tk_ast *a) {
  return a ? tk_dotted_name(a) : NULL;
}

/* NAME = triton.jit(FUNC): the name of FUNC, else NULL. */
static const char *jit_call(const tk_item *item) {
  const tk_ast *v = item->kind == TK_ITEM_ASSIGN ? item->value : NULL;
  if (!v || v->kind != TK_AST_CALL || tk_call_nargs(v) == 0) return NULL;
  const char *callee = last_name(tk_call_function(v));
  if (!callee || strcmp(callee, "jit") != 0) return NULL;
  const tk_ast *arg = tk_arg_value(tk_call_arg(v, 0));
  return arg && arg->kind == TK_AST_NAME ? tk_name_text(arg) : NULL;
}

static tk_item *last_func(const tk_module *m, const char *name, bool jit) {
  tk_item *found = NULL; /* Python's rule: the later definition holds */
  for (size_t i = 0; i < m->file->nitems; i++) {
    tk_item *item = &m->file->items[i];
    if (item->kind != TK_ITEM_FUNC || strcmp(item->name, name)) continue;
    if (item->jit || !jit) found = item;
  }
  return found;
}

static tk_item *find_item(const tk_module *m, const char *name) {
  tk_item *found = last_func(m, name, true);
  for (size_t i = 0; !found && i < m->file->nitems; i++) {
    const tk_item *item = &m->file->items[i];
    const char *func = jit_call(item);
    if (func && (!strcmp(item->name, name) || !strcmp(func, name)))
      found = last_func(m, func, false);
  }
  return found;
}

static void list_kernels(tk_module *m, tk_buf *out, tk_nearest *near) {
  const char *name;
  for (size_t i = 0; (name = tk_module_kernel_name(m, i)); i++) {
    if (i < 16) tk_buf_printf(out, "%s%s", i ? ", " : "", name);
    if (i == 16) tk_buf_puts(out, ", ...");
    if (near) tk_nearest_try(near, name);
  }
}

/* Says that there is no such function, and which there are. */
static void TK_NORETURN no_function(tk_module *m, const char *name,
                                    const char *message) {
  tk_env *e = &m->session->env;
  tk_buf *list = &m->session->report; /* freed with the session */
  tk_nearest near = tk_nearest_start(name ? name : "");
  tk_buf_clear(list);
  list_kernels(m, list, name ? &near : NULL);
  tk_diag *d = tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0}, "%s: %s",
                           m->file->src->name, message);
  const char *best = name ? tk_nearest_best(&near) : NULL;
  if (best)
    tk_diag_help(e, d, "did you mean '%s'? (jit functions: %s)", best,
                 tk_buf_str(list));
  else if (list->n)
    tk_diag_help(e, d, "jit functions: %s", tk_buf_str(list));
  else
    tk_diag_help(e, d, "a kernel is a function decorated with @triton.jit");
  tk_throw(e, TK_USAGE);
}

/* Says of a function that it is not decorated. */
static void TK_NORETURN not_decorated(tk_module *m, const tk_item *item,
                                      const char *message) {
  const tk_source *src = m->file->src;
  size_t n;
  const char *line = tk_source_line_text(src, item->line, &n);
  const char *def = strstr(line, "def ");
  const char *name = def ? strstr(def + 4, item->name) : NULL;
  uint32_t lo = (uint32_t)((name ? name : line) - src->text);
  tk_span span = {lo, lo + (name ? (uint32_t)strlen(item->name) : 1)};
  tk_env *e = &m->session->env;
  tk_diag *d = tk_diag_add(e, TK_D_LAUNCH, src, span, "%s", message);
  tk_diag_help(e, d,
               "a kernel is a function decorated with @triton.jit: write "
               "that on the line above it");
  tk_throw(e, TK_USAGE);
}

/* The first function of a file's own level, or NULL. */
static const tk_item *plain_function(const tk_module *m) {
  for (size_t i = 0; i < m->file->nitems; i++) {
    const tk_item *item = &m->file->items[i];
    if (item->kind == TK_ITEM_FUNC && !item->depth && !item->text) return item;
  }
  return NULL;
}

static tk_item *only_item(tk_module *m) {
  const char *first = tk_module_kernel_name(m, 0);
  const tk_item *plain = first ? NULL : plain_function(m);
  if (plain) not_decorated(m, plain, "there is no jit function in this file");
  if (!first) no_function(m, NULL, "there is no jit function in this file");
  if (tk_module_kernel_name(m, 1))
    no_function(m, NULL,
                "this file has several jit functions; name the one to "
                "run");
  return find_item(m, first);
}

static tk_item *item_by_name(tk_module *m, const char *name) {
  tk_item *item = name ? find_item(m, name) : only_item(m);
  if (item) return item;
  tk_arena *a = &m->session->arena;
  const tk_item *plain = last_func(m, name, false);
  if (plain && !plain->text)
    not_decorated(m, plain,
                  tk_arena_printf(a, "'%s' is not a jit function", name));
  no_function(m, name, tk_arena_printf(a, "there is no function '%s'", name));
}

tk_item *tkn_item_at(const tk_module *m, int line) {
  for (size_t i = 0; i < m->file->nitems; i++) {
    tk_item *item = &m->file->items[i];
    if (item->kind != TK_ITEM_FUNC) continue;
    if (item->first_line <= line && line <= item->line) return item;
  }
  return NULL;
}

static tk_item *item_at(tk_module *m, const char *name, int line) {
  tk_item *item = tkn_item_at(m, line);
  if (item && (!name || !strcmp(item->name, name))) return item;
  char *why = tk_arena_printf(&m->session->arena,
                              "no function%s%s%s at line %d", name ? " '" : "",
                              name ? name : "", name ? "'" : "", line);
  no_function(m, name, why);
}

tk_function *tkn_function_of(tk_module *m, tk_item *item, bool fresh) {
  for (tk_function *f = m->functions; f && !fresh; f = f->next)
    if (f->item == item && !f->host) return f;
  tk_env *e = &m->session->env;
  bool known_bad = item->bad;
  tk_ast *ast = tk_file_func(e, m->file, item);
  if (!ast && known_bad)
    tk_diag_add(e, TK_D_SYNTAX, NULL, (tk_span){0, 0},
                "%s:%d: '%s' has errors that were reported before",
                m->file->src->name, item->line, item->name);
  if (!ast) tk_throw(e, TK_FINDING);
  tk_function *f = TK_NEW(&m->session->arena, tk_function);
  f->module = m;
  f->item = item;
  f->ast = ast;
  f->next = m->functions;
  m->functions = f;
  return f;
}

typedef struct find_call {
  tk_module *m;
  const char *name;
  int line;
  tk_function **out;
} find_call;

static void find_named(tk_env *e, void *ud) {
  (void)e;
  find_call *c = ud;
  *c->out = tkn_function_of(c->m, item_by_name(c->m, c->name), false);
}

static void find_at(tk_env *e, void *ud) {
  (void)e;
  find_call *c = ud;
  *c->out = tkn_function_of(c->m, item_at(c->m, c->name, c->line), false);
}

tk_status tk_function_named(tk_module *m, const char *name, tk_function **out) {
  find_call c = {m, name, 0, out};
  *out = NULL;
  return tk_session_guard(m->session, find_named, &c);
}

/* A function that has a host already is left alone: another closure of the
 * same def gets a function of its own. */
tk_status tk_function_at(tk_module *m, const char *name, int line,
                         tk_function **out) {
  find_call c = {m, name, line, out};
  *out = NULL;
  return tk_session_guard(m->session, find_at, &c);
}

/* ---- functions --------------------------------------------------------- */

void tk_function_host(tk_function *f, const tk_host *host, void *scope) {
  f->answers = f->last_answer = NULL;
  f->scope = scope;
  f->host = NULL;
  if (!host) return;
  f->host_copy = *host;
  f->host = &f->host_copy;
}

typedef struct remark_call {
  tk_function *f;
  const char *text;
} remark_call;

static void remark(tk_env *e, void *ud) {
  remark_call *c = ud;
  tk_arena *arena = &c->f->module->session->arena;
  (void)e;
  TK_PUSH(arena, &c->f->remarks, tk_arena_strdup(arena, c->text));
}

tk_status tk_function_remark(tk_function *f, const char *text) {
  remark_call c = {f, text};
  return tk_session_guard(f->module->session, remark, &c);
}

const char *tk_function_name(tk_function *f) {
  return f->item->name;
}

size_t tk_function_param_count(tk_function *f) {
  return tk_func_nparams(f->ast);
}

const char *tk_function_param_name(tk_function *f, size_t i) {
  return i < tk_func_nparams(f->ast) ? tk_param_name(tk_func_param(f->ast, i))
                                     : NULL;
}

/* The last component of an annotation's dotted name, as name or as text. */
static bool says_constexpr(const tk_ast *a) {
  if (!a) return false;
  if (a->kind == TK_AST_SUBSCRIPT) a = tk_subscript_object(a);
  if (a->kind != TK_AST_STR) {
    const char *name = last_name(a);
    return name && !strcmp(name, "constexpr");
  }
  const char *text = tk_str_text(a);
  size_t hi = tk_str_length(a), lo;
  while (hi && strchr(" \t", text[hi - 1])) hi--;
  for (lo = hi; lo && !strchr(". \t", text[lo - 1]);) lo--;
  return hi - lo == 9 && !memcmp(text + lo, "constexpr", 9);
}

bool tkn_param_is_constexpr(const tk_function *f, size_t i) {
  return i < tk_func_nparams(f->ast) &&
         says_constexpr(tk_param_annotation(tk_func_param(f->ast, i)));
}

bool tk_function_param_is_constexpr(tk_function *f, size_t i) {
  return tkn_param_is_constexpr(f, i);
}

bool tk_function_param_has_default(tk_function *f, size_t i) {
  return i < tk_func_nparams(f->ast) &&
         tk_param_default(tk_func_param(f->ast, i));
}
