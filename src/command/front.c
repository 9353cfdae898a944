/* front.c - the text front end as the engine calls it, and the object. */
#include "command/front.h"

#include <string.h>

#include "command/dispatch.h"
#include "command/input.h"
#include "command/say.h"
#include "command/script.h"
#include "command/show.h"

/* ---- stops ------------------------------------------------------------- */

typedef struct stopping {
  tkt *d;
  const tk_debug_stop *s;
} stopping;

/* Runs the commands of the points that were hit next. */
static void show_body(tk_env *e, void *ud) {
  stopping *x = ud;
  tkt *d = x->d;
  (void)e;
  tkt_show_stop(d, x->s);
  tkt_say_refused(d);
  tkt_push_scripts(d, x->s);
}

static void say_stop(void *ud, tk_debug *e, const tk_debug_stop *s) {
  stopping x = {ud, s};
  size_t mark = tk_call_begins(&x.d->mem);
  x.d->list = (tkt_listing){0};
  tk_debug_block_begins(e);
  tk_status st = tk_protect(x.d->env, show_body, &x);
  tk_debug_block_ends(e);
  tk_call_ends(&x.d->mem, mark);
  if (st != TK_OK) tk_throw(x.d->env, st);
  tkt_prompt(x.d);
}

static void launch_begins(void *ud, tk_debug *e) {
  tkt *d = ud;
  (void)e;
  for (int i = 0; i < TKT_LEVELS; i++) d->seen[i].valid = false;
}

static void launch_ends(void *ud, tk_debug *e) {
  (void)e;
  tkt_flush(ud);
}

/* ---- on the way -------------------------------------------------------- */

static void write_output(void *ud, const char *text, size_t len) {
  tkt *d = ud;
  tkt_flush(d);
  if (d->opt.event)
    tkt_tell_output(d, text, len);
  else
    tk_debug_pass_output(d->e, text, len);
}

static void say_log(void *ud, tk_debug *e, const tk_log *log) {
  (void)e;
  tkt_print_format(ud, log->format);
}

static void say_notice(void *ud, tk_debug *e, const tk_notice *n) {
  tkt *d = ud;
  (void)e;
  switch (n->kind) {
  case TK_NOTICE_CONDITION:
    tkt_say(d, "The condition of breakpoint %d cannot be evaluated here:\n",
            n->point);
    tkt_say_reports(d, d->env->ndiags - n->nfindings);
    break;
  case TK_NOTICE_DETECTORS:
    tkt_say(d, "Detectors do not watch the rest of this launch: the history of "
               "its beginning was\ndropped ('set history').\n");
    break;
  case TK_NOTICE_PASSED: tkt_show_watched(d, n->stop); break;
  case TK_NOTICE_PAGE: break; /* the command says it */
  }
}

/* Shows how far a move has come, in a line that is overwritten by what comes
 * next. */
static void say_progress(void *ud, tk_debug *e) {
  tkt *d = ud;
  tk_debug_time now;
  char text[120];
  tk_debug_when(e, &now);
  int n = snprintf(text, sizeof text, "\r\033[K");
  n += now.aside ? snprintf(text + n, sizeof text - (size_t)n,
                            "%llu statements run again (Ctrl-C stops)",
                            (unsigned long long)now.aside)
                 : snprintf(text + n, sizeof text - (size_t)n,
                            "event %llu, %llu programs done (Ctrl-C stops)",
                            (unsigned long long)now.event,
                            (unsigned long long)now.done);
  tkt_flush(d);
  d->opt.write(d->opt.ud, text, (size_t)n);
  d->busy = true;
}

/* ---- the object -------------------------------------------------------- */

static void free_text(tk_env *e, char *s) {
  if (s) tk_free(e, s, strlen(s) + 1);
}

static void free_lists(tk_env *e, tkt *d) {
  for (tkt_named *x; (x = d->named);) {
    d->named = x->next;
    free_text(e, x->name);
    free_text(e, x->text);
    free_text(e, x->doc);
    tk_free(e, x, sizeof *x);
  }
  for (tkt_display *x; (x = d->displays);) {
    d->displays = x->next;
    free_text(e, x->text);
    free_text(e, x->fmt);
    tk_free(e, x, sizeof *x);
  }
  for (tkt_script *x; (x = d->scripts);) {
    d->scripts = x->next;
    free_text(e, x->lines);
    tk_free(e, x, sizeof *x);
  }
  for (tkt_line *x; (x = d->lines);) {
    d->lines = x->next;
    free_text(e, x->text);
    free_text(e, x->origin);
    tk_free(e, x, sizeof *x);
  }
}

/* The engine may be gone already. */
static void free_front(tk_env *e, void *ud) {
  tkt *d = ud;
  free_lists(e, d);
  free_text(e, d->last);
  free_text(e, d->set.safe_path);
  for (int i = 0; i < TKT_LEVELS; i++)
    tk_free(e, d->seen[i].items, d->seen[i].cap * sizeof(tkt_seen));
  tk_scratch_free(&d->mem);
  tk_buf_free(&d->out);
  tk_buf_free(&d->scratch);
  tk_buf_free(&d->input);
  tk_buf_free(&d->origin);
  if (d->transcript) fclose(d->transcript);
  tk_free(e, d, sizeof *d);
}

typedef struct front_making {
  tk_session *s;
  const tk_debugger_options *o;
  tk_debug *engine; /* NULL: the front end makes its own */
  tkt *d;
} front_making;

static void make_front(tk_env *e, void *ud) {
  front_making *m = ud;
  tkt *d = tk_calloc(e, 1, sizeof *d);
  size_t n = m->o->size < sizeof d->opt ? m->o->size : sizeof d->opt;
  memcpy(&d->opt, m->o, n);
  if (d->opt.front >= TK_FRONTS) d->opt.front = TK_FRONT_COMMANDS;
  d->env = e;
  d->set = (tkt_settings){.elements = 200, .listing = 10, .changes = true};
  tk_scratch_init(&d->mem, e);
  tk_buf_init(&d->out, e);
  tk_buf_init(&d->scratch, e);
  tk_buf_init(&d->input, e);
  tk_buf_init(&d->origin, e);
  d->watcher = (tk_watcher){.ud = d, .free = free_front};
  tk_session_watch(m->s, &d->watcher);
  d->e = m->engine;
  m->d = d;
  if (d->e) return;
  tk_debug_front front = {.size = sizeof front,
                          .ud = d,
                          .begins = launch_begins,
                          .stopped = say_stop,
                          .ends = launch_ends,
                          .output = write_output,
                          .logged = say_log,
                          .noticed = say_notice,
                          .progressed = d->opt.progress ? say_progress : NULL,
                          .stop_at_start = d->opt.stop_at_start,
                          .stop_at_end = d->opt.stop_at_end,
                          .wait_for_call = d->opt.wait_for_call,
                          .script = d->opt.script};
  tk_status st = tk_debug_new(m->s, &front, &d->e);
  if (st != TK_OK) tk_throw(e, st);
}

tk_status tk_debugger_new(tk_session *s, const tk_debugger_options *o,
                          tk_debugger **out) {
  front_making m = {.s = s, .o = o};
  tk_status st = tk_session_guard(s, make_front, &m);
  *out = st == TK_OK ? m.d : NULL;
  return st;
}

tk_status tk_debugger_over(tk_debug *e, const tk_debugger_options *o,
                           tk_debugger **out) {
  front_making m = {.s = tk_debug_session(e), .o = o, .engine = e};
  tk_status st = tk_session_guard(m.s, make_front, &m);
  *out = st == TK_OK ? m.d : NULL;
  return st;
}

tk_debug *tk_debugger_engine(tk_debugger *d) {
  return d->e;
}

tk_status tk_debugger_go_back(tk_debugger *d) {
  return tk_debug_go_back(d->e);
}

tk_status tk_debugger_raised(tk_debugger *d, const char *what) {
  return tk_debug_raised(d->e, what);
}

bool tk_debugger_has_quit(const tk_debugger *d) {
  return tk_debug_has_quit(d->e);
}

void tk_debugger_ignore(tk_debugger *d, bool launches) {
  tk_debug_ignore(d->e, launches);
}

bool tk_debugger_is_active(const tk_debugger *d) {
  return tk_debug_is_active(d->e);
}

typedef struct unresolved {
  tkt *d;
  size_t n;
} unresolved;

static void say_unresolved(tk_env *e, void *ud) {
  unresolved *u = ud;
  tkt *d = u->d;
  tk_debug_time now;
  tk_point p;
  (void)e;
  tk_debug_when(d->e, &now);
  for (size_t i = 0; tk_debug_point_at(d->e, i, &p); i++) {
    if (tk_debug_has_quit(d->e)) break;
    bool stands = p.spec.kind == TK_POINT_BREAK || p.spec.kind == TK_POINT_LOG;
    if (!stands || p.spec.disabled || p.ever_resolved) continue;
    u->n++;
    tkt_say(d, "%s %d at %s never stopped anything: ",
            p.spec.kind == TK_POINT_BREAK ? "Breakpoint" : "Logpoint", p.number,
            p.spec.where);
    tkt_say(d, now.launch ? "no launch had such a location.\n"
                          : "no kernel was launched.\n");
  }
  tkt_flush(d);
}

size_t tk_debugger_end(tk_debugger *d) {
  unresolved u = {.d = d};
  tk_protect(d->env, say_unresolved, &u);
  return u.n;
}
