/* check.c - which detectors are on, and their runs.
 *
 * The detectors of a session are a watcher of its runs (launch/session.h);
 * nothing else in tkdbg knows that they exist.
 */
#include "interp/check/check.h"

#include <string.h>

static const struct detector {
  const char *name, *aliases, *doc;
  bool all;
  tkc_begin_fn begin;
  tkc_refused_fn refused;
  tkc_end_fn end;
} table[TKC_COUNT] = {
#define CHECK(id, name, aliases, all, begin, refused, end, doc)                \
  {name, aliases, doc, all, begin, refused, end},
#include "check.def"
#undef CHECK
};

enum { LIMIT = 20, ARCH = 90 };

const char *tk_check_name(size_t i) {
  return i < TKC_COUNT ? table[i].name : NULL;
}

const char *tk_check_doc(size_t i) {
  return i < TKC_COUNT ? table[i].doc : NULL;
}

/* ---- runs --------------------------------------------------------------- */

static void drop_findings(tkc *c) {
  tk_arena_free(&c->kept);
  c->findings = NULL;
  c->bad = NULL;
  c->shown = c->hidden = 0;
}

static tkc_finding *last_finding(const tkc *c) {
  tkc_finding *f = c->findings;
  while (f && f->next) f = f->next;
  return f;
}

/* Drops what this run has found so far, because it starts over. */
static void forget_run(tkc *c) {
  if (c->before)
    c->before->next = NULL;
  else
    c->findings = NULL;
  c->shown = c->shown_before;
  c->hidden = c->hidden_before;
}

/* A run begins, or a launch is refused in its place. */
static void start_findings(tkc *c, tki *t) {
  if (!t || c->t != t) {
    if (!c->collect) drop_findings(c);
  } else {
    forget_run(c);
  }
  TK_ASSERT(!c->t || c->t == t); /* the run before has ended */
  c->t = t;
  c->before = last_finding(c);
  c->shown_before = c->shown;
  c->hidden_before = c->hidden;
  c->ending = false;
  tk_arena_free(&c->run);
  memset(c->ud, 0, sizeof c->ud);
  for (tkc_finding *f = c->findings; f; f = f->next)
    f->diag = NULL, f->times = 0;
}

static uint32_t all_detectors(void) {
  uint32_t on = 0;
  for (int i = 0; i < TKC_COUNT; i++) on |= (uint32_t)table[i].all << i;
  return on;
}

static void on_begin(void *ud, tki *t) {
  tkc *c = ud;
  c->all = !(all_detectors() & ~c->on);
  start_findings(c, t);
  tkc_keep_begin(c, t);
  for (int i = 0; i < TKC_COUNT; i++)
    if (c->on >> i & 1 && table[i].begin) c->ud[i] = table[i].begin(c, t);
}

static void on_refused(void *ud, tk_launch *l) {
  tkc *c = ud;
  if (c->t) return; /* another run is under way */
  start_findings(c, NULL);
  for (int i = 0; i < TKC_COUNT; i++)
    if (c->on >> i & 1 && table[i].refused) table[i].refused(c, l);
  for (tkc_finding *f = c->findings; f; f = f->next) f->diag = NULL;
  tk_arena_free(&c->run);
}

/* If no detector has followed what the run wrote, it may have written
 * everything. */
static void forget_unwritten(const tkc *c, const tki *t) {
  if (c->on >> TKC_UNDEF & 1) return;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (r->tensor && r->tensor->written)
      memset(r->tensor->written, 1, r->hi - r->lo);
  }
}

static void say_hidden(tkc *c) {
  TK_ASSERT(c->hidden >= c->hidden_before && c->shown >= c->shown_before);
  size_t n = c->hidden - c->hidden_before;
  if (!n) return;
  tk_diag *d =
      tk_diag_add(&c->session->env, TK_D_MORE, NULL, (tk_span){0, 0},
                  "%zu more finding%s not shown", n, n == 1 ? " is" : "s are");
  tk_diag_help(&c->session->env, d, "--limit %zu would show them",
               c->shown + c->hidden);
}

static void on_end(void *ud, tki *t, tk_status st) {
  tkc *c = ud;
  if (c->t != t) return; /* the run was refused before it began */
  c->t = NULL;
  tkc_keep_end(c);
  for (int i = 0; i < TKC_COUNT; i++)
    if (c->ud[i] && table[i].end) table[i].end(c, c->ud[i], t, st);
  forget_unwritten(c, t);
  say_hidden(c);
  for (tkc_finding *f = c->findings; f; f = f->next) f->diag = NULL;
  tk_arena_free(&c->run);
  if (tkc_found(c) && !c->collect) tk_throw(t->env, TK_FINDING);
}

static void on_free(tk_env *e, void *ud) {
  tkc *c = ud;
  tk_arena_free(&c->run);
  tk_arena_free(&c->kept);
  tk_arena_free(&c->file);
  tk_buf_free(&c->text);
  tk_free(e, c, sizeof *c);
}

/* ---- choosing detectors -------------------------------------------------- */

static tkc *session_checks(const tk_session *s) {
  for (tk_watcher *w = s->watchers; w; w = w->next)
    if (w->begin == on_begin) return w->ud;
  return NULL;
}

static tkc *make_checks(tk_session *s) {
  tkc *c = tk_calloc(&s->env, 1, sizeof *c);
  c->session = s;
  c->watcher = (tk_watcher){.ud = c,
                            .begin = on_begin,
                            .end = on_end,
                            .refused = on_refused,
                            .free = on_free};
  tk_arena_init(&c->run, &s->env);
  tk_arena_init(&c->kept, &s->env);
  tk_arena_init(&c->file, &s->env);
  tk_buf_init(&c->text, &s->env);
  c->watcher.next = s->watchers; /* a debugger looks at what they have seen */
  s->watchers = &c->watcher;
  return c;
}

static void unknown_detector(tkc *c, const char *word) {
  tk_env *e = &c->session->env;
  tk_nearest near = tk_nearest_start(word);
  char *all = tk_arena_strdup(&c->kept, "all");
  for (int i = 0; i < TKC_COUNT; i++) {
    tk_nearest_try(&near, table[i].name);
    all = tk_arena_printf(&c->kept, "%s, %s", all, table[i].name);
  }
  const char *best = tk_nearest_best(&near);
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "no detector is called '%s'", word);
  if (best)
    tk_diag_help(e, d, "did you mean '%s'? (detectors: %s)", best, all);
  else
    tk_diag_help(e, d, "detectors: %s", all);
  tk_throw(e, TK_USAGE);
}

/* Returns the detectors that a word names; 0: there are none of that name. */
static uint32_t named_detectors(const char *word, size_t n) {
  if (!n || (n == 3 && !strncmp(word, "all", 3))) return all_detectors();
  for (int i = 0; i < TKC_COUNT; i++)
    if ((strlen(table[i].name) == n && !strncmp(table[i].name, word, n)) ||
        tk_has_word(table[i].aliases, word, n))
      return (uint32_t)1 << i;
  return 0;
}

static uint32_t read_list(tkc *c, const char *list) {
  uint32_t on = 0;
  do {
    size_t n = strcspn(list, ",");
    uint32_t named = named_detectors(list, n);
    if (!named) unknown_detector(c, tk_arena_strndup(&c->kept, list, n));
    on |= named;
    list += n;
  } while (*list++);
  return on;
}

bool tk_check_is_list(const char *text) {
  bool known = *text != '\0';
  do {
    size_t n = strcspn(text, ",");
    known = known && named_detectors(text, n);
    text += n;
  } while (*text++);
  return known;
}

typedef struct check_call {
  tk_session *s;
  const char *list;
  tk_check_options opt;
} check_call;

static void set_checks(tk_env *e, void *ud) {
  check_call *k = ud;
  (void)e;
  tkc *c = session_checks(k->s);
  if (!c) c = make_checks(k->s);
  c->on = 0;
  c->rules = NULL;
  drop_findings(c);
  tk_arena_free(&c->file);
  c->keep_going = k->opt.keep_going;
  c->arch = k->opt.arch ? k->opt.arch : ARCH;
  if (!k->list && !c->keep_going) return;
  c->limit = k->opt.limit ? k->opt.limit : LIMIT;
  c->assume_written = k->opt.assume_written;
  c->stop = k->opt.stop;
  c->collect = k->opt.collect;
  if (k->opt.suppressions) tkc_read_rules(c, k->opt.suppressions);
  c->on = k->list ? read_list(c, k->list) : 0;
}

tk_status tk_session_check(tk_session *s, const char *list,
                           const tk_check_options *options) {
  check_call k = {.s = s, .list = list};
  if (options)
    memcpy(&k.opt, options,
           options->size < sizeof k.opt ? options->size : sizeof k.opt);
  return tk_session_guard(s, set_checks, &k);
}

/* ---- for a debugger ------------------------------------------------------ */

bool tkc_is_on(const tk_session *s, tkc_id id) {
  const tkc *c = session_checks(s);
  return c && c->on >> id & 1;
}

bool tk_check_is_on(tk_session *s, const char *name) {
  const tkc *c = session_checks(s);
  return c && c->on & named_detectors(name, strlen(name));
}

void tkc_choose(tk_session *s, const char *list) {
  tkc *c = session_checks(s);
  if (!c) c = make_checks(s);
  if (!c->limit) {
    c->limit = LIMIT;
    c->collect = true;
  }
  c->on = list ? read_list(c, list) : 0;
}

void tkc_abandon(tk_session *s) {
  tkc *c = session_checks(s);
  if (!c) return;
  memset(c->ud, 0, sizeof c->ud);
  for (tkc_finding *f = c->findings; f; f = f->next) f->diag = NULL;
}

/* ---- what they found ----------------------------------------------------- */

size_t tk_check_findings(tk_session *s) {
  const tkc *c = session_checks(s);
  size_t n = 0;
  for (tkc_finding *f = c ? c->findings : NULL; f; f = f->next)
    n += !f->suppressed && tk_finding_severity(f->id) != TK_SEV_NOTE;
  return n;
}

static void tell_kept(tk_env *e, void *ud) {
  (void)e;
  tkc_keep_tell(ud);
}

size_t tk_check_kept_going(tk_session *s, bool tell) {
  tkc *c = session_checks(s);
  size_t n = 0;
  for (tkc_kept *k = c ? c->bad : NULL; k; k = k->next) n++;
  if (n && tell) tk_session_guard(s, tell_kept, c);
  return n;
}

static void write_rules(tk_env *e, void *ud) {
  tkc *c = ud;
  (void)e;
  tk_buf_clear(&c->text);
  tkc_write_rules(c, &c->text);
}

const char *tk_check_suppressions(tk_session *s) {
  tkc *c = session_checks(s);
  if (!c || tk_session_guard(s, write_rules, c) != TK_OK) return "";
  return tk_buf_str(&c->text);
}
