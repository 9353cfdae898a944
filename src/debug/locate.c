/* locate.c - where a point stands.
 *
 * A location is found again for every launch, in every specialisation of the
 * functions it
 * names. */
#include "debug/locate.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/frames.h"
#include "debug/raise.h"

/* ---- statements -------------------------------------------------------- */

typedef struct place_search {
  tkd *d;
  tkd_point *p;
  const tk_func *f;
  const char *op; /* an operation; or a line: */
  int line, best;
  void (*fn)(tkd *d, tkd_point *p, const tk_stmt *st);
  size_t found;
  const tk_stmt *stmt; /* that was looked for */
} place_search;

static int statement_line(const tk_func *f, const tk_stmt *st) {
  return tk_source_line(f->src, st->span.lo);
}

static void found_statement(place_search *s, const tk_stmt *st) {
  if (!s->found++) {
    s->p->line = statement_line(s->f, st);
    s->p->program_line = 0;
    s->p->statement = st->id;
    s->p->func = s->f->name;
  }
  if (s->fn) s->fn(s->d, s->p, st);
}

/* The last line of a statement, without what is indented under it. */
static int statement_end(const tk_func *f, const tk_stmt *st) {
  if (st->body.n || st->orelse.n) return statement_line(f, st);
  return tk_source_line(f->src, st->span.hi);
}

static void walk_statements(place_search *s,
                            bool (*look)(void *ud, const tk_at *at)) {
  tk_walk_func(s->f, &(tk_walk){.ud = s, .stmt = look});
}

/* The statement that the line is part of, or else the next one. */
static bool look_for_line(void *ud, const tk_at *at) {
  place_search *s = ud;
  int line = statement_line(s->f, at->stmt);
  if (statement_end(s->f, at->stmt) >= s->line && (!s->best || line < s->best))
    s->best = line;
  return true;
}

/* Of several statements in a line the first one stands for it. */
static bool found_in_line(void *ud, const tk_at *at) {
  place_search *s = ud;
  if (statement_line(s->f, at->stmt) != s->best) return true;
  found_statement(s, at->stmt);
  return false;
}

/* ---- operations -------------------------------------------------------- */

/* Does the source of an instruction call name? */
static bool source_calls(const tk_func *f, const tk_inst *in,
                         const char *name) {
  const char *text = f->src->text + in->span.lo;
  size_t n = in->span.hi - in->span.lo, k = strlen(name);
  size_t open = 0;
  while (open < n && (isalnum((unsigned char)text[open]) || text[open] == '_' ||
                      text[open] == '.'))
    open++;
  if (open < k || strncmp(text + open - k, name, k)) return false;
  return open == k || text[open - k - 1] == '.';
}

static bool is_op(const tk_func *f, const tk_inst *in, const char *name) {
  return !strcmp(tk_inst_name((tk_opcode)in->op), name) ||
         !strcmp(tk_mode_name(in), name) || source_calls(f, in, name);
}

static bool is_other_op(void *ud, const tk_at *at, const tk_inst *in) {
  return !is_op(at->func, in, ud);
}

static bool has_op(const tk_at *at, const char *name) {
  tk_walk w = {.ud = (char *)name, .inst = is_other_op};
  return !tk_walk_insts(at->func, at->stmt, &at->stmt->insts, &w);
}

static bool found_op(void *ud, const tk_at *at) {
  place_search *s = ud;
  if (has_op(at, s->op)) found_statement(s, at->stmt);
  return true;
}

static bool found_atomic(void *ud, const tk_at *at) {
  if (has_op(at, "atomic") || has_op(at, "atomic_cas"))
    found_statement(ud, at->stmt);
  return true;
}

/* ---- locations --------------------------------------------------------- */

static bool is_end_of(const char *path, size_t k, const char *end, size_t n) {
  return k >= n && !strncmp(path + k - n, end, n) &&
         (k == n || path[k - n - 1] == '/');
}

/* A file is named by the end of its path, or by another way to it from the
 * root. */
static bool same_file(const char *path, const char *name, size_t n) {
  if (is_end_of(path, strlen(path), name, n)) return true;
  char text[PATH_MAX]; /* no path is longer */
  if (*name != '/' || n >= sizeof text) return false;
  memcpy(text, name, n);
  text[n] = '\0';
  char *a = realpath(path, NULL), *b = realpath(text, NULL);
  bool same = a && b && !strcmp(a, b);
  free(a);
  free(b);
  return same;
}

/* The line in LINE or FILE:LINE; 0: it is something else. */
static int parse_line(const char *text, const char **file, size_t *nfile) {
  const char *colon = strrchr(text, ':');
  const char *digits = colon ? colon + 1 : text;
  char *end;
  *file = text;
  *nfile = colon ? (size_t)(colon - text) : 0;
  if (!isdigit((unsigned char)*digits)) return 0;
  long line = strtol(digits, &end, 10);
  return *end || line > 1000000000 ? 0 : (int)line;
}

static bool in_func(const tk_func *f, int line) {
  return line >= tk_source_line(f->src, f->span.lo) &&
         line <= tk_source_line(f->src, f->span.hi);
}

static bool last_line(void *ud, const tk_at *at) {
  place_search *s = ud;
  int line = statement_end(s->f, at->stmt);
  if (line > s->best) s->best = line;
  return true;
}

int tkd_last_line(const tk_func *f) {
  place_search s = {.f = f};
  walk_statements(&s, last_line);
  return s.best;
}

static bool has_line(place_search *s, int line) {
  s->best = 0;
  walk_statements(s, last_line);
  int last = s->best;
  s->best = 0;
  bool within =
      in_func(s->f, line) ||
      (line >= tk_source_line(s->f->src, s->f->span.lo) && line <= last);
  return within;
}

static void find_line(place_search *s, int line) {
  if (!has_line(s, line)) return;
  s->line = line;
  s->best = 0;
  walk_statements(s, look_for_line);
  if (s->best) walk_statements(s, found_in_line);
}

/* ---- lines that a kernel was made of ------------------------------------ */

/* The line that a line of a written kernel names, if it is of the file; the
 * name may have folders on either side. */
static int named_line(const place_search *s, int line, const char *file,
                      size_t nfile) {
  const char *path;
  size_t n;
  int named = tk_source_names(s->f->src, line, &path, &n);
  return named && (is_end_of(path, n, file, nfile) ||
                   is_end_of(file, nfile, path, n))
             ? named
             : 0;
}

/* The first line from this one on that the function was made of; 0: the
 * function was made of none before and after it. */
static int program_line(const place_search *s, int line, const char *file,
                        size_t nfile) {
  bool within = false;
  int found = 0, last = tkd_last_line(s->f);
  for (int i = tk_source_line(s->f->src, s->f->span.lo); i <= last; i++) {
    int named = named_line(s, i, file, nfile);
    within |= named && named <= line;
    if (named >= line && (!found || named < found)) found = named;
  }
  return within ? found : 0;
}

/* A line of the program is what stands under each comment that names it. */
static void find_program_line(place_search *s, int line, const char *file,
                              size_t nfile) {
  if (!s->f->src->origins || !nfile) return;
  int wanted = program_line(s, line, file, nfile), before = 0;
  if (!wanted) return;
  int last = tkd_last_line(s->f);
  bool first = !s->found;
  for (int i = tk_source_line(s->f->src, s->f->span.lo); i <= last; i++) {
    if (named_line(s, i, file, nfile) != wanted) continue;
    s->line = i;
    s->best = 0;
    walk_statements(s, look_for_line);
    if (s->best && s->best != before) walk_statements(s, found_in_line);
    before = s->best;
  }
  if (first && s->found) s->p->program_line = wanted;
}

/* A LINE without FILE belongs to the file that was shown when the place was
 * named, or else to the kernel's file. */
static bool in_file(const place_search *s, const char *file, size_t nfile) {
  const char *here = s->f->src->name;
  if (nfile) return same_file(here, file, nfile);
  if (s->p->file) return !strcmp(here, s->p->file);
  return !strcmp(here, s->d->t->program->kernel->src->name);
}

/* FUNCTION or FILE:FUNCTION */
static bool is_function(const tk_func *f, const char *where, const char *file,
                        size_t nfile) {
  if (nfile && !same_file(f->src->name, file, nfile)) return false;
  return !strcmp(nfile ? where + nfile + 1 : where, f->name);
}

static void find_location(place_search *s, const char *where) {
  const char *file;
  size_t nfile;
  int line = parse_line(where, &file, &nfile);
  if (!strncmp(where, "op ", 3)) {
    s->op = where + 3 + strspn(where + 3, " ");
    if (!strncmp(s->op, "tl.", 3)) s->op += 3;
    walk_statements(s, found_op);
  } else if (line) {
    if (in_file(s, file, nfile))
      find_line(s, line);
    else
      find_program_line(s, line, file, nfile);
  } else if (is_function(s->f, where, file, nfile) && s->f->body.n) {
    found_statement(s, s->f->body.items[0]);
  }
}

static void find_caught(place_search *s, const tkd_point *p) {
  if (p->caught == TKD_CATCH_ATOMIC) {
    walk_statements(s, found_atomic);
    return;
  }
  s->op = p->caught == TKD_CATCH_LOAD    ? "load"
          : p->caught == TKD_CATCH_STORE ? "store"
                                         : NULL;
  if (s->op) walk_statements(s, found_op);
}

size_t tkd_find_statements(tkd *d, tkd_point *p,
                           void (*fn)(tkd *d, tkd_point *p,
                                      const tk_stmt *st)) {
  place_search s = {.d = d, .p = p, .fn = fn};
  const tk_program *g = d->t->program;
  if (p->form && p->kind != TK_POINT_CATCH) {
    const tk_stmt *st =
        p->form == g ? tkd_stmt_numbered(g, p->wanted, &s.f) : NULL;
    if (st) found_statement(&s, st);
    return s.found;
  }
  for (size_t i = 0; i < g->nfuncs; i++) {
    s.f = g->funcs[i];
    if (s.f->library) continue;
    if (p->kind == TK_POINT_CATCH)
      find_caught(&s, p);
    else
      find_location(&s, p->where);
  }
  return s.found;
}

/* Whether another specialisation of the same function comes earlier in the
 * program. */
static bool is_listed(const tk_program *g, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (g->funcs[i]->src == g->funcs[at]->src &&
        g->funcs[i]->span.lo == g->funcs[at]->span.lo)
      return true;
  return false;
}

/* The functions in which a place can be, as "scale (add.py:6-8)". */
static const char *functions_here(tkd *d) {
  tk_buf *b = tk_temp_buf(&d->mem);
  const tk_program *g = d->t->program;
  const char *sep = "";
  for (size_t i = 0; i < g->nfuncs; i++) {
    const tk_func *f = g->funcs[i];
    if (f->library || is_listed(g, i)) continue;
    const char *file = strrchr(f->src->name, '/');
    tk_buf_printf(b, "%s%s (%s:%d-%d)", sep, f->name,
                  file ? file + 1 : f->src->name,
                  tk_source_line(f->src, f->span.lo), tkd_last_line(f));
    sep = ", ";
    if (b->n > 400) {
      tk_buf_puts(b, ", ...");
      break;
    }
  }
  return tk_buf_str(b);
}

static void no_function(tkd *d, const char *text) TK_NORETURN;
static void no_function(tkd *d, const char *text) {
  tk_nearest n = tk_nearest_start(text);
  for (size_t i = 0; i < d->t->program->nfuncs; i++)
    if (!d->t->program->funcs[i]->library)
      tk_nearest_try(&n, d->t->program->funcs[i]->name);
  const char *near = tk_nearest_best(&n);
  if (near) tkd_raise(d, OTHER_FUNCTION, text, near);
  tkd_raise(d, NO_FUNCTION, text, functions_here(d));
}

void tkd_need_function(tkd *d, const char *name) {
  for (size_t i = 0; i < d->t->program->nfuncs; i++)
    if (!strcmp(d->t->program->funcs[i]->name, name)) return;
  no_function(d, name);
}

static void no_such_place(tkd *d, const char *text) TK_NORETURN;
static void no_such_place(tkd *d, const char *text) {
  const char *file, *more = strchr(text, ' ');
  size_t nfile;
  if (!strcmp(text, "op")) tkd_raise(d, WHICH_OPERATION);
  if (!strncmp(text, "op ", 3)) tkd_raise(d, NO_OPERATION, text + 3);
  if (more) tkd_raise(d, AFTER_LOCATION, more + 1, (int)(more - text), text);
  if (parse_line(text, &file, &nfile))
    tkd_raise(d, NO_SUCH_LINE, text, functions_here(d));
  no_function(d, text);
}

static const char *current_file(const tkd *d) {
  return d->at.frame ? d->at.frame->func->src->name : NULL;
}

/* Whether a kernel that comes later may have the place. */
static bool may_come(const tkd *d, const char *text) {
  return d->front.script && (!strncmp(text, "op ", 3) || !strchr(text, ' '));
}

/* "+2" and "-1" count from the line where it stands; "" is that line. */
const char *tkd_location(tkd *d, const char *text, bool later,
                         const char **file) {
  bool away = (*text == '+' || *text == '-') &&
              isdigit((unsigned char)text[1]) && strlen(text) < 8;
  *file = current_file(d);
  if (d->at.frame && (!*text || away)) {
    char line[32];
    int by = *text ? atoi(text) : 0;
    int n = snprintf(line, sizeof line, "%d", tkd_line_of(d->at.frame) + by);
    text = tk_temp(&d->mem, line, (size_t)n);
  }
  tkd_point p = {
      .kind = TK_POINT_BREAK, .where = (char *)text, .file = (char *)*file};
  if (!*text) tkd_raise(d, WHICH_PLACE);
  bool here = !d->t || tkd_find_statements(d, &p, NULL);
  if (!here && !(later && may_come(d, text))) no_such_place(d, text);
  return text;
}

/* The line that a location comes to; 0: none. */
int tkd_line_at(tkd *d, const char *text) {
  tkd_point p = {.kind = TK_POINT_BREAK,
                 .where = (char *)text,
                 .file = (char *)current_file(d)};
  return d->t && tkd_find_statements(d, &p, NULL) ? p.line : 0;
}

/* ---- numbers ----------------------------------------------------------- */

static bool calls_user(const tk_inst *in) {
  switch (tk_inst_info_of((tk_opcode)in->op)->ref) {
  case TK_REF_CALLEE: return !in->ref.callee->library;
  case TK_REF_COMBINE:
    return in->ref.combine->nlevels && !in->ref.combine->levels[0]->library;
  default: return false;
  }
}

typedef struct call_count {
  const tk_inst *last; /* to be counted; NULL: the whole statement */
  size_t n;
} call_count;

static bool count_call(void *ud, const tk_at *at, const tk_inst *in) {
  call_count *c = ud;
  (void)at;
  c->n += calls_user(in);
  return in != c->last;
}

size_t tkd_calls_until(const tk_func *f, const tk_stmt *st,
                       const tk_inst *last) {
  call_count c = {.last = last};
  tk_walk_insts(f, st, &st->insts, &(tk_walk){.ud = &c, .inst = count_call});
  return c.n;
}

typedef struct number_search {
  size_t id;
  const tk_stmt *found;
} number_search;

static bool is_not_numbered(void *ud, const tk_at *at) {
  number_search *s = ud;
  if (at->stmt->id == s->id) s->found = at->stmt;
  return !s->found;
}

const tk_stmt *tkd_stmt_numbered(const tk_program *p, size_t id,
                                 const tk_func **f) {
  number_search s = {.id = id};
  for (size_t i = 0; i < p->nfuncs && !s.found; i++) {
    *f = p->funcs[i];
    tk_walk_func(*f, &(tk_walk){.ud = &s, .stmt = is_not_numbered});
  }
  return s.found;
}

/* ---- statements of a function ------------------------------------------ */

static bool first_in_line(void *ud, const tk_at *at) {
  place_search *s = ud;
  if (statement_line(s->f, at->stmt) != s->best) return true;
  s->stmt = at->stmt;
  return false;
}

const tk_stmt *tkd_stmt_at(const tk_func *f, int line) {
  place_search s = {.f = f, .line = line};
  walk_statements(&s, look_for_line);
  if (s.best) walk_statements(&s, first_in_line);
  return s.stmt;
}

/* A statement, and the list that it stands in once that is found. */
typedef struct body_search {
  const tk_stmt *stmt;
  const tk_body *body;
} body_search;

static bool is_elsewhere(void *ud, const tk_at *at) {
  body_search *s = ud;
  if (at->stmt != s->stmt) return true;
  s->body = at->body;
  return false;
}

const tk_body *tkd_body_of(const tk_func *f, const tk_stmt *st) {
  body_search s = {.stmt = st};
  tk_walk_func(f, &(tk_walk){.ud = &s, .stmt = is_elsewhere});
  return s.body;
}

const tk_func *tkd_func_of(const tkd *d, const tk_stmt *st) {
  const tk_program *g = d->t->program;
  for (size_t i = 0; i < g->nfuncs; i++)
    if (tkd_body_of(g->funcs[i], st)) return g->funcs[i];
  return NULL;
}
