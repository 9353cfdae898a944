/* profile.c - a profile watches every launch of its
 * session. */
#include "profile/profile.h"

#include <string.h>

#include "page/page.h"

static void profile_run_begins(void *ud, tki *t) {
  tk_profile *p = ud;
  if (!p->ignoring) tkf_run_begin(&p->run, t, p->least);
}

static void profile_run_ends(void *ud, tki *t, tk_status st) {
  tk_profile *p = ud;
  (void)st;
  /* the launch is ignored, or was refused before it began */
  if (p->run.t != t) return;
  tkf_add_run(p);
  p->run.t = NULL;
  tk_arena_free(&p->run.arena);
}

static void free_profile(tk_env *e, void *ud) {
  tk_profile *p = ud;
  tk_arena_free(&p->run.arena);
  tk_arena_free(&p->arena);
  tk_arena_free(&p->answers);
  tk_buf_free(&p->text);
  tk_buf_free(&p->json);
  tk_buf_free(&p->part);
  tk_buf_free(&p->page);
  tk_buf_free(&p->html);
  tk_free(e, p, sizeof *p);
}

typedef struct making {
  tk_session *session;
  tk_profile **out;
} making;

static void make_profile(tk_env *e, void *ud) {
  making *m = ud;
  tk_profile *p = tk_calloc(e, 1, sizeof *p);
  p->session = m->session;
  p->timer = tkf_timer_ticks();
  p->least = tkf_least_pause(p->timer);
  tk_arena_init(&p->arena, e);
  tk_arena_init(&p->answers, e);
  tk_arena_init(&p->run.arena, e);
  tk_buf_init(&p->text, e);
  tk_buf_init(&p->json, e);
  tk_buf_init(&p->part, e);
  tk_buf_init(&p->page, e);
  tk_buf_init(&p->html, e);
  p->watcher = (tk_watcher){.ud = p,
                            .begin = profile_run_begins,
                            .end = profile_run_ends,
                            .free = free_profile,
                            .wants_interp = true};
  tk_session_watch(m->session, &p->watcher);
  *m->out = p;
}

tk_status tk_profile_new(tk_session *s, tk_profile **out) {
  making m = {s, out};
  *out = NULL;
  return tk_session_guard(s, make_profile, &m);
}

void tk_profile_ignore(tk_profile *p, bool launches) {
  p->ignoring = launches;
}

/* ---- reading ------------------------------------------------------------- */

static void read_profile(tk_env *e, void *ud) {
  (void)e;
  tkf_read(ud);
}

tk_status tk_profile_read(tk_profile *p, const tk_profile_data **out) {
  tk_status st = tk_session_guard(p->session, read_profile, p);
  *out = st == TK_OK ? &p->data : NULL;
  return st;
}

/* ---- texts --------------------------------------------------------------- */

typedef struct writing {
  tk_profile *p;
  tk_buf *out;
  void (*write)(tk_buf *out, const tk_profile_data *d, bool colour);
  bool colour;
} writing;

static void write_profile(tk_env *e, void *ud) {
  writing *w = ud;
  (void)e;
  tkf_read(w->p);
  tk_buf_clear(w->out);
  w->write(w->out, &w->p->data, w->colour);
}

static tk_status write_anew(writing w, const char **out) {
  tk_status st = tk_session_guard(w.p->session, write_profile, &w);
  *out = st == TK_OK ? tk_buf_str(w.out) : NULL;
  return st;
}

tk_status tk_profile_text(tk_profile *p, bool colour, const char **out) {
  return write_anew((writing){p, &p->text, tkf_write_text, colour}, out);
}

tk_status tk_profile_json(tk_profile *p, const char **out) {
  return write_anew((writing){p, &p->json, tkf_write_json, false}, out);
}

/* A page with a profile, and no launches. */
static void write_page(tk_env *e, void *ud) {
  tk_profile *p = ud;
  (void)e;
  tkf_read(p);
  tk_buf_clear(&p->part);
  tk_buf_clear(&p->page);
  tk_buf_clear(&p->html);
  tk_buf_puts(&p->part, ",\n\"profile\":");
  tkf_write_json(&p->part, &p->data, false);
  tk_page_put_json(&p->page, &(tk_page_data){.parts = &p->part});
  tk_page_put_html(&p->html, &p->part, &p->page);
}

tk_status tk_profile_html(tk_profile *p, const char **out) {
  tk_status st = tk_session_guard(p->session, write_page, p);
  *out = st == TK_OK ? tk_buf_str(&p->html) : NULL;
  return st;
}

typedef struct saving {
  tk_profile *p;
  const char *path;
} saving;

static void save_page(tk_env *e, void *ud) {
  const saving *s = ud;
  tk_save_text(e, s->path, &s->p->html);
}

tk_status tk_profile_save(tk_profile *p, const char *path) {
  const char *page;
  saving s = {p, path};
  tk_status st = tk_profile_html(p, &page);
  return st == TK_OK ? tk_session_guard(p->session, save_page, &s) : st;
}
