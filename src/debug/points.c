/* points.c - breakpoints: where they stand, and whether one is hit.
 *
 * A location is found again for every launch, in every specialisation of the
 * functions it names: its statements go into a hash table that the engine
 * looks into.  A condition is compiled where it is first tested.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debug/debug.h"

/* ---- statements -------------------------------------------------------- */

typedef struct search {
  tkd *d;
  tkd_point *p;
  const tk_func *f;
  const char *op; /* an operation; or a line: */
  int line, best;
  bool add;
  size_t found;
} search;

static int line_of(const tk_func *f, const tk_stmt *st) {
  return tk_source_line(f->src, st->span.lo);
}

static void add_site(tkd *d, const tk_stmt *st, tkd_point *p);

static void put(search *s, const tk_stmt *st) {
  if (!s->found++) {
    s->p->line = line_of(s->f, st);
    s->p->func = s->f->name;
  }
  if (s->add) add_site(s->d, st, s->p);
}

typedef void (*visit)(search *s, const tk_stmt *st);

static void walk(search *s, const tk_body *b, visit fn) {
  for (size_t i = 0; i < b->n; i++) {
    fn(s, b->items[i]);
    walk(s, &b->items[i]->body, fn);
    walk(s, &b->items[i]->orelse, fn);
  }
}

/* The last line of a statement, without what is indented under it. */
static int end_of(const tk_func *f, const tk_stmt *st) {
  if (st->body.n || st->orelse.n) return line_of(f, st);
  return tk_source_line(f->src, st->span.hi);
}

/* The statement that the line is part of, or else the next one. */
static void nearest_line(search *s, const tk_stmt *st) {
  int line = line_of(s->f, st);
  if (end_of(s->f, st) >= s->line && (!s->best || line < s->best))
    s->best = line;
}

/* Of several statements in a line the first one stands for it. */
static void put_line(search *s, const tk_stmt *st) {
  if (line_of(s->f, st) != s->best) return;
  s->best = 0;
  put(s, st);
}

/* ---- operations -------------------------------------------------------- */

/* Does the source of an instruction call name? */
static bool calls(const tk_func *f, const tk_inst *in, const char *name) {
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
         !strcmp(tk_mode_name(in), name) || calls(f, in, name);
}

static bool has_op(const tk_func *f, const tk_insts *l, const char *name) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    if (is_op(f, in, name) || has_op(f, &in->body[0], name) ||
        has_op(f, &in->body[1], name))
      return true;
  }
  return false;
}

static void put_op(search *s, const tk_stmt *st) {
  if (has_op(s->f, &st->insts, s->op)) put(s, st);
}

static void put_atomic(search *s, const tk_stmt *st) {
  if (has_op(s->f, &st->insts, "atomic") ||
      has_op(s->f, &st->insts, "atomic_cas"))
    put(s, st);
}

/* ---- locations --------------------------------------------------------- */

static bool same_file(const char *path, const char *name, size_t n) {
  size_t k = strlen(path);
  return k >= n && !strncmp(path + k - n, name, n) &&
         (k == n || path[k - n - 1] == '/');
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

static void last_line(search *s, const tk_stmt *st) {
  int line = end_of(s->f, st);
  if (line > s->best) s->best = line;
}

int tkd_last_line(const tk_func *f) {
  search s = {.f = f};
  walk(&s, &f->body, last_line);
  return s.best;
}

static bool has_line(search *s, int line) {
  s->best = 0;
  walk(s, &s->f->body, last_line);
  int last = s->best;
  s->best = 0;
  bool within =
      in_func(s->f, line) ||
      (line >= tk_source_line(s->f->src, s->f->span.lo) && line <= last);
  return within;
}

static void find_line(search *s, int line) {
  if (!has_line(s, line)) return;
  s->line = line;
  s->best = 0;
  walk(s, &s->f->body, nearest_line);
  if (s->best) walk(s, &s->f->body, put_line);
}

/* A LINE is one of the file that was looked at when the place was named, or
 * else of the kernel's. */
static bool in_file(const search *s, const char *file, size_t nfile) {
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

static void find_in(search *s, const char *where) {
  const char *file;
  size_t nfile;
  int line = parse_line(where, &file, &nfile);
  if (!strncmp(where, "op ", 3)) {
    s->op = where + 3 + strspn(where + 3, " ");
    if (!strncmp(s->op, "tl.", 3)) s->op += 3;
    walk(s, &s->f->body, put_op);
  } else if (line) {
    if (in_file(s, file, nfile)) find_line(s, line);
  } else if (is_function(s->f, where, file, nfile) && s->f->body.n) {
    put(s, s->f->body.items[0]);
  }
}

static void find_caught(search *s, const tkd_point *p) {
  if (p->caught == TKD_CATCH_ATOMIC) {
    walk(s, &s->f->body, put_atomic);
    return;
  }
  s->op = p->caught == TKD_CATCH_LOAD    ? "load"
          : p->caught == TKD_CATCH_STORE ? "store"
                                         : NULL;
  if (s->op) walk(s, &s->f->body, put_op);
}

/* How many statements the point has; they enter the table if add. */
static size_t find(tkd *d, tkd_point *p, bool add) {
  search s = {.d = d, .p = p, .add = add};
  const tk_program *g = d->t->program;
  for (size_t i = 0; i < g->nfuncs; i++) {
    s.f = g->funcs[i];
    if (s.f->library) continue;
    if (p->kind == TKD_CATCH)
      find_caught(&s, p);
    else
      find_in(&s, p->where);
  }
  return s.found;
}

/* Another specialisation of it comes before it in the program. */
static bool is_listed(const tk_program *g, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (g->funcs[i]->src == g->funcs[at]->src &&
        g->funcs[i]->span.lo == g->funcs[at]->span.lo)
      return true;
  return false;
}

/* The functions in which a place can be, as "scale (add.py:6-8)". */
static const char *functions_here(tkd *d) {
  tk_buf *b = tkd_temp_buf(d);
  const tk_program *g = d->t->program;
  const char *sep = "";
  for (size_t i = 0; i < g->nfuncs; i++) {
    const tk_func *f = g->funcs[i];
    if (f->library || is_listed(g, i)) continue;
    const char *file = strrchr(f->src->name, '/');
    tk_buf_printf(b, "%s%s (%.60s:%d-%d)", sep, f->name,
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
  if (near)
    tkd_fail(d, "No function '%s' in this launch. Did you mean '%s'?", text,
             near);
  tkd_fail(d, "No function '%s' in this launch: it has %s.", text,
           functions_here(d));
}

static void not_there(tkd *d, const char *text) TK_NORETURN;
static void not_there(tkd *d, const char *text) {
  const char *file, *more = strchr(text, ' ');
  size_t nfile;
  if (!strcmp(text, "op")) tkd_fail(d, "Which operation? As op tl.load.");
  if (!strncmp(text, "op ", 3))
    tkd_fail(d, "No operation '%s' in this launch.", text + 3);
  if (more)
    tkd_fail(d,
             "Unexpected '%s' behind the location '%.*s': a condition "
             "begins with 'if'.",
             more + 1, (int)(more - text), text);
  if (parse_line(text, &file, &nfile))
    tkd_fail(d, "No statement at %s in a function of this launch: it has %s.",
             text, functions_here(d));
  no_function(d, text);
}

static const char *current_file(const tkd *d) {
  return d->frame ? d->frame->func->src->name : NULL;
}

/* "+2" and "-1" count from the line where it stands; "" is that line. */
const char *tkd_location(tkd *d, const char *text, const char **file) {
  bool away = (*text == '+' || *text == '-') &&
              isdigit((unsigned char)text[1]) && strlen(text) < 8;
  *file = current_file(d);
  if (d->frame && (!*text || away)) {
    char line[32];
    int by = *text ? atoi(text) : 0;
    int n = snprintf(line, sizeof line, "%d", tkd_line_of(d->frame) + by);
    text = tkd_temp(d, line, (size_t)n);
  }
  tkd_point p = {
      .kind = TKD_BREAK, .where = (char *)text, .file = (char *)*file};
  if (!*text) tkd_fail(d, "Which line, function or 'op NAME'?");
  if (d->t && !find(d, &p, false)) not_there(d, text);
  return text;
}

/* The line that a location comes to; 0: none. */
int tkd_line_at(tkd *d, const char *text) {
  tkd_point p = {.kind = TKD_BREAK,
                 .where = (char *)text,
                 .file = (char *)current_file(d)};
  return d->t && find(d, &p, false) ? p.line : 0;
}

/* ---- the table --------------------------------------------------------- */

static void grow_sites(tkd *d) {
  tkd_site *old = d->sites;
  size_t cap = d->cap_sites, n = cap ? cap * 2 : 64;
  d->sites = tk_calloc(d->env, n, sizeof *d->sites);
  d->cap_sites = n;
  for (size_t k = 0; k < cap; k++) {
    if (!old[k].stmt) continue;
    size_t i = tkd_site_at(d, old[k].stmt);
    while (d->sites[i].stmt) i = (i + 1) & (n - 1);
    d->sites[i] = old[k];
  }
  tk_free(d->env, old, cap * sizeof *old);
}

static void add_site(tkd *d, const tk_stmt *st, tkd_point *p) {
  if (d->nsites * 2 >= d->cap_sites) grow_sites(d);
  size_t i = tkd_site_at(d, st);
  while (d->sites[i].stmt) i = (i + 1) & (d->cap_sites - 1);
  d->sites[i] = (tkd_site){.stmt = st, .point = p};
  tki_mark_stmt(d->t, st);
  d->nsites++;
}

void tkd_sites_clear(tkd *d) {
  for (size_t i = 0; i < d->cap_sites; i++) tki_eval_free(d->sites[i].cond);
  if (d->t) tki_unmark_stmts(d->t);
  tk_free(d->env, d->sites, d->cap_sites * sizeof *d->sites);
  d->sites = NULL;
  d->nsites = d->cap_sites = 0;
}

static void note_catch(tkd *d, tkd_point *p) {
  if (p->kind != TKD_CATCH || !p->enabled) return;
  if (p->caught == TKD_CATCH_LAUNCH) d->catch_launch = p;
  if (p->caught == TKD_CATCH_PROGRAM) d->catch_program = p;
}

void tkd_points_resolve(tkd *d) {
  tkd_sites_clear(d);
  d->catch_launch = d->catch_program = NULL;
  d->has_watch = d->has_memory_watch = false;
  for (tkd_point *p = d->points; p; p = p->next) {
    note_catch(d, p);
    if (p->kind == TKD_WATCH && p->enabled) {
      d->has_watch = true;
      d->has_memory_watch |= p->watch.memory;
    }
    if (!d->t || p->kind == TKD_WATCH || !p->enabled) continue;
    p->pending = !find(d, p, true) && p->kind != TKD_CATCH;
    p->resolved |= !p->pending;
  }
  if (d->temp && d->t) find(d, d->temp, true);
  tkd_arm(d);
}

static void say_unresolved(tk_env *e, void *ud) {
  tkd *d = ud;
  (void)e;
  for (const tkd_point *p = d->points; p && !d->quit; p = p->next) {
    bool stands = p->kind == TKD_BREAK || p->kind == TKD_PRINTF;
    if (!stands || !p->enabled || p->resolved) continue;
    tkd_say(d, "%s %d at %s never stopped anything: ",
            p->kind == TKD_BREAK ? "Breakpoint" : "Logpoint", p->number,
            p->where);
    tkd_say(d, d->launches ? "no launch had such a place.\n"
                           : "no kernel was launched.\n");
  }
  tkd_flush(d);
}

void tk_debugger_end(tk_debugger *d) {
  tk_protect(d->env, say_unresolved, d);
}

/* ---- conditions -------------------------------------------------------- */

typedef struct test {
  tkd *d;
  const tki_eval *x;
  const tki_frame *f;
  bool holds;
} test;

static bool any_lane(const tk_type *type, tki_val *v) {
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  const char *p = tki_data(v);
  for (size_t i = 0; i < n; i++)
    if (p[i]) return true;
  return false;
}

static void run_test(tk_env *e, void *ud) {
  test *c = ud;
  tki *t = c->d->t;
  tki_val out[TK_EVAL_LEAVES];
  (void)e;
  if (c->x->known) {
    c->holds = strcmp(c->x->known, "False") && strcmp(c->x->known, "0") &&
               strcmp(c->x->known, "None");
    return;
  }
  tki_eval_run(t, c->x, c->f, out);
  for (size_t i = 0; i < c->x->n; i++) {
    c->holds |= any_lane(&c->x->types[i], &out[i]);
    tki_release(t, &out[i]);
  }
}

void tkd_say_bad_condition(tkd *d, const tkd_point *p, size_t before) {
  tkd_say(d, "The condition of breakpoint %d cannot be had here:\n", p->number);
  tkd_say_reports(d, before);
}

/* A lane of it is not zero; one that cannot be had holds. */
bool tkd_holds(tkd *d, const tkd_point *p, const tki_eval *x,
               const tki_frame *f) {
  test c = {d, x, f, false};
  size_t before = d->env->ndiags;
  if (tk_protect(d->env, run_test, &c) == TK_OK) return c.holds;
  if (!d->scanning) tkd_say_bad_condition(d, p, before);
  tk_diag_truncate(d->env, before);
  return true;
}

typedef struct compiling {
  tki *t;
  const tki_frame *f;
  const char *text;
  tki_eval *x;
} compiling;

static void compile(tk_env *e, void *ud) {
  compiling *c = ud;
  (void)e;
  c->x = tki_eval_new(c->t, c->f, c->text, NULL);
}

tki_eval *tkd_compile(tkd *d, const tki_frame *f, const char *text) {
  compiling c = {d->t, f, text, NULL};
  tk_protect(d->env, compile, &c);
  return c.x;
}

void tkd_need_one(tkd *d, const tki_eval *x, const char *text,
                  const char *what) {
  if (!x->known && x->n == 1) return;
  tk_diag_add(d->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%.100s is %s",
              text, what);
  tk_throw(d->env, TK_USAGE);
}

static void compile_cond(tkd *d) {
  tkd_site *s = d->work_site;
  size_t before = d->env->ndiags;
  s->cond = tkd_compile(d, d->strand->task->frame, s->point->cond);
  s->bad = !s->cond;
  if (s->bad) tkd_say_bad_condition(d, s->point, before);
}

/* A frame that stands at the statement before it was ever reached. */
static tki_frame frame_at(tkd *d, const tk_func *f, const tk_stmt *st) {
  tki *t = d->t;
  tki_frame x = {.func = f, .stmt = st};
  x.slots = tk_calloc(d->env, f->nslots + 1, sizeof *x.slots);
  for (size_t i = 0; i < f->nslots; i++) x.slots[i].region = TKI_ANY;
  if (f == t->program->kernel)
    for (size_t i = 0; i < f->nparams; i++)
      x.slots[f->params[i]] = t->params[i];
  return x;
}

static bool has_stmt(const tk_body *b, const tk_stmt *st) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *x = b->items[i];
    if (x == st || has_stmt(&x->body, st) || has_stmt(&x->orelse, st))
      return true;
  }
  return false;
}

static const tk_func *func_of(const tkd *d, const tk_stmt *st) {
  const tk_program *g = d->t->program;
  for (size_t i = 0; i < g->nfuncs; i++)
    if (has_stmt(&g->funcs[i]->body, st)) return g->funcs[i];
  return NULL;
}

/* Of a function that was not called yet it is not known which tensors its
 * pointers are of: a condition that takes elements may do so there. */
static bool fits_at(tkd *d, const tkd_point *p, const tk_stmt *st) {
  const tk_func *f = func_of(d, st);
  if (!f || (f != d->t->program->kernel && strchr(p->cond, '['))) return true;
  tki_frame frame = frame_at(d, f, st);
  tki_eval *x = tkd_compile(d, &frame, p->cond);
  bool fits = x != NULL;
  tki_eval_free(x);
  tk_free(d->env, frame.slots, (f->nslots + 1) * sizeof *frame.slots);
  return fits;
}

bool tkd_condition_fits(tkd *d, const tkd_point *p) {
  size_t before = d->env->ndiags;
  bool any = false, fits = false;
  if (!d->t || !p->cond) return true;
  if (p->kind == TKD_WATCH)
    return p->watch.births || tkd_watch_condition_fits(d, p->cond);
  for (size_t i = 0; i < d->cap_sites && !fits; i++) {
    if (d->sites[i].point != p) continue;
    tk_diag_truncate(d->env, before);
    any = true;
    fits = fits_at(d, p, d->sites[i].stmt);
  }
  if (any && !fits)
    tkd_say_reports(d, before);
  else
    tk_diag_truncate(d->env, before);
  return fits || !any;
}

static bool condition(tkd *d, tkd_site *s) {
  if (!s->point->cond) return true;
  if (!s->cond && !s->bad) {
    d->work_site = s;
    d->work = compile_cond;
    tki_task_pause(d->t);
  }
  return s->bad || tkd_holds(d, s->point, s->cond, d->t->frame);
}

/* ---- hits -------------------------------------------------------------- */

static void print_point(tkd *d) {
  tkd_select(d, 0);
  tkd_print_format(d, d->work_site->point->format);
  d->frame = NULL;
}

static bool ignored(tkd *d, tkd_point *p) {
  if (d->scanning) return false;
  p->hits++;
  if (!p->ignore) return false;
  p->ignore--;
  return true;
}

static void print_here(tkd *d, tkd_site *s) {
  d->work_site = s;
  d->work = print_point;
  tki_task_pause(d->t);
}

/* True: it is a reason to stop. */
static bool site_hit(tkd *d, tkd_site *s) {
  tkd_point *p = s->point;
  if (p == d->temp) return true;
  p->hit_at = 0;
  if (!condition(d, s) || ignored(d, p)) return false;
  p->hit_at = d->event;
  if (p->kind != TKD_PRINTF) return true;
  if (!d->scanning) print_here(d, s);
  return false;
}

/* The first that stops is named; the others were hit as well. */
bool tkd_points_hit(tkd *d, const tk_stmt *st) {
  const tkd_point *first = NULL;
  size_t i = tkd_site_at(d, st);
  for (; d->sites[i].stmt; i = (i + 1) & (d->cap_sites - 1)) {
    tkd_site *s = &d->sites[i];
    if (s->stmt != st || !site_hit(d, s)) continue;
    if (!first || first == d->temp) first = s->point;
  }
  if (!first) return false;
  bool arrives = first == d->temp;
  tkd_stop_here(d,
                arrives                    ? TKD_R_PLACE
                : first->kind == TKD_CATCH ? TKD_R_CATCH
                                           : TKD_R_BREAKPOINT,
                arrives ? NULL : first, "%s", "");
  return true;
}

/* ---- the list ---------------------------------------------------------- */

tkd_point *tkd_point_new(tkd *d, tkd_point_kind k, const char *where,
                         const char *cond, const char *format) {
  size_t mark = d->nholds;
  tkd_point *p = tkd_hold(d, sizeof *p), **at = &d->points;
  p->where = tkd_hold_str(d, where);
  p->cond = tkd_hold_str(d, cond);
  p->format = tkd_hold_str(d, format);
  tkd_keep(d, mark);
  while (*at) at = &(*at)->next;
  *at = p;
  p->number = ++d->last_number;
  p->kind = k;
  p->enabled = true;
  return p;
}

tkd_point *tkd_point_numbered(tkd *d, int number) {
  for (tkd_point *p = d->points; p; p = p->next)
    if (p->number == number) return p;
  if (!d->points)
    tkd_fail(d, "No breakpoint number %d: there are none.", number);
  tkd_fail(d, "No breakpoint number %d: 'info breakpoints' lists them.",
           number);
}

void tkd_point_free(tkd *d, tkd_point *p) {
  tkd_strfree(d, p->where);
  tkd_strfree(d, p->file);
  tkd_strfree(d, p->cond);
  tkd_strfree(d, p->format);
  tkd_strfree(d, p->commands);
  tkd_watch_free(d, &p->watch);
  tk_free(d->env, p, sizeof *p);
}

void tkd_point_drop(tkd *d, tkd_point *p) {
  tkd_point **at = &d->points;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  if (d->stop.point == p) d->stop.point = NULL;
  tkd_point_free(d, p);
  tkd_points_resolve(d);
}

void tkd_drop_temp(tkd *d) {
  if (!d->temp) return;
  tkd_point *p = d->temp;
  d->temp = NULL;
  tkd_point_free(d, p);
  tkd_points_resolve(d);
}

static void first_line(search *s, const tk_stmt *st) {
  if (line_of(s->f, st) == s->best && !s->found++) s->p = (void *)st;
}

const tk_stmt *tkd_stmt_at(const tk_func *f, int line) {
  search s = {.f = f, .line = line};
  walk(&s, &f->body, nearest_line);
  if (s.best) walk(&s, &f->body, first_line);
  return s.found ? (const void *)s.p : NULL;
}
