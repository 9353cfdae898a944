/* view.c - a view watches the launches of its session.
 */
#include "view/view.h"

#include <string.h>

#include "page/page.h"

/* ---- runs ---------------------------------------------------------------- */

/* Bytes that the steps of the next launch may take: what is left of the page,
 * less a third for tensors and costs; where launches share the page, a third of
 * that. */
static size_t room_of(const tk_view *v) {
  size_t used = tk_page_bytes() + v->launches.n + v->parts.n;
  size_t left = v->limit > used ? v->limit - used : 0;
  return v->many ? left / 9 * 2 : left / 3 * 2;
}

enum { LEAST_ROOM = 16384 }; /* with less, a launch is left out */

static void view_run_begins(void *ud, tki *t) {
  tk_view *v = ud;
  tkw_run_end(&v->run);
  if (v->ignoring) return;
  size_t room = room_of(v);
  if (room < LEAST_ROOM) {
    v->skipped++;
    return;
  }
  tkw_run_begin(&v->run, t, room, v->keeps);
}

/* It becomes text beside the others: memory may run out in the middle. */
static void view_run_ends(void *ud, tki *t, tk_status st) {
  tk_view *v = ud;
  size_t before = v->launches.n;
  /* the launch is ignored, or was refused before it began */
  if (v->run.t != t) return;
  tkw_run_unfollow(&v->run);
  tk_buf_clear(&v->one);
  if (v->n) tk_buf_puts(&v->one, ",\n");
  tkw_put_launch(&v->one, v, t, st);
  tk_buf_add(&v->launches, v->one.s, v->one.n);
  tk_buf_free(&v->one);
  v->told = v->session->env.last_diag;
  tkw_run_end(&v->run);
  TK_ASSERT(v->launches.n > before);
  v->n++;
}

static void free_view(tk_env *e, void *ud) {
  tk_view *v = ud;
  tkw_run_end(&v->run);
  tk_buf_free(&v->launches);
  tk_buf_free(&v->one);
  tk_buf_free(&v->form);
  tk_buf_free(&v->staged);
  tk_buf_free(&v->parts);
  tk_buf_free(&v->json);
  tk_buf_free(&v->html);
  tk_free(e, v, sizeof *v);
}

/* ---- making -------------------------------------------------------------- */

typedef struct making {
  tk_session *session;
  size_t megabytes;
  tk_view **out;
} making;

static tk_view *view_new(tk_session *s, size_t megabytes) {
  tk_env *e = &s->env;
  tk_view *v = tk_calloc(e, 1, sizeof *v);
  v->session = s;
  v->told = e->last_diag;
  v->limit = megabytes * 1000000;
  v->stands = v->keeps = TKW_NO_PROGRAM;
  tk_buf_init(&v->launches, e);
  tk_buf_init(&v->one, e);
  tk_buf_init(&v->form, e);
  tk_buf_init(&v->staged, e);
  tk_buf_init(&v->parts, e);
  tk_buf_init(&v->json, e);
  tk_buf_init(&v->html, e);
  return v;
}

static void make_view(tk_env *e, void *ud) {
  const making *m = ud;
  tk_view *v =
      view_new(m->session, m->megabytes ? m->megabytes : TK_VIEW_MEGABYTES);
  (void)e;
  v->watcher = (tk_watcher){.ud = v,
                            .begin = view_run_begins,
                            .end = view_run_ends,
                            .free = free_view,
                            .wants_interp = true};
  tk_session_watch(m->session, &v->watcher);
  *m->out = v;
}

tk_status tk_view_new(tk_session *s, size_t megabytes, tk_view **out) {
  making m = {s, megabytes, out};
  *out = NULL;
  return tk_session_guard(s, make_view, &m);
}

void tk_view_free(tk_view *v) {
  if (!v) return;
  tk_session_unwatch(v->session, &v->watcher);
  free_view(&v->session->env, v);
}

void tk_view_expect_many(tk_view *v) {
  v->many = true;
}

void tk_view_ignore(tk_view *v, bool launches) {
  v->ignoring = launches;
}

void tk_view_triton(tk_view *v, bool on) {
  v->triton = on;
}

void tk_view_keep(tk_view *v, uint64_t program) {
  v->keeps = program;
}

size_t tk_view_launches(const tk_view *v) {
  return v->n;
}

static void write_data(tk_view *v) {
  tk_page_data d = {&v->launches, v->skipped, &v->parts};
  tk_buf_clear(&v->json);
  tk_page_put_json(&v->json, &d);
}

/* ---- a launch that is paused --------------------------------------------- */

tk_view *tkw_look_new(tk_session *s, const tkw_look *look) {
  tk_view *v = view_new(s, TK_VIEW_MEGABYTES);
  v->aside = true;
  v->stands = look->stands;
  v->told = look->told;
  return v;
}

tki_observer *tkw_look_begin(tk_view *v, tki *t) {
  return tkw_run_aside(&v->run, t, room_of(v), v->stands);
}

void tkw_look_save(tk_view *v, tki *t, const tkw_look *look) {
  tkw_put_launch(&v->launches, v, t, TK_OK);
  v->n = 1;
  write_data(v);
  tk_page_put_html(&v->html, &v->one, &v->json);
  tk_save_text(&v->session->env, look->path, &v->html);
}

void tkw_look_free(tk_view *v) {
  if (v) free_view(&v->session->env, v);
}

/* ---- parts --------------------------------------------------------------- */

typedef struct adding {
  tk_view *v;
  const char *key, *json;
} adding;

static void note_part(tk_env *e, void *ud) {
  const adding *a = ud;
  (void)e;
  tk_buf_puts(&a->v->parts, ",\n");
  tk_json_string(&a->v->parts, a->key, strlen(a->key));
  tk_buf_putc(&a->v->parts, ':');
  tk_buf_puts(&a->v->parts, a->json);
}

tk_status tk_view_add(tk_view *v, const char *key, const char *json) {
  adding a = {v, key, json};
  size_t before = v->parts.n;
  tk_status st = tk_session_guard(v->session, note_part, &a);
  if (st != TK_OK) v->parts.n = before; /* memory ran out in the middle */
  return st;
}

/* ---- reading ------------------------------------------------------------- */

static void write_json(tk_env *e, void *ud) {
  (void)e;
  write_data(ud);
}

static void write_html(tk_env *e, void *ud) {
  tk_view *v = ud;
  write_json(e, v);
  tk_buf_clear(&v->html);
  tk_page_put_html(&v->html, &v->one, &v->json);
}

tk_status tk_view_json(tk_view *v, const char **out) {
  tk_status st = tk_session_guard(v->session, write_json, v);
  *out = st == TK_OK ? tk_buf_str(&v->json) : NULL;
  return st;
}

tk_status tk_view_html(tk_view *v, const char **out) {
  tk_status st = tk_session_guard(v->session, write_html, v);
  *out = st == TK_OK ? tk_buf_str(&v->html) : NULL;
  return st;
}

typedef struct saving {
  tk_view *v;
  const char *path;
} saving;

static void save_view(tk_env *e, void *ud) {
  const saving *s = ud;
  tk_save_text(e, s->path, &s->v->html);
}

tk_status tk_view_save(tk_view *v, const char *path) {
  const char *page;
  saving s = {v, path};
  tk_status st = tk_view_html(v, &page);
  return st == TK_OK ? tk_session_guard(v->session, save_view, &s) : st;
}
