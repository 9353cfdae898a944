/* server.c - the engine's front end that speaks the Debug Adapter
 * Protocol.
 *
 * While a program is stopped, messages are answered one after another until
 * one goes on.  While the launch runs, a thread waits for them, and the engine
 * is called before the next statement (tk_debug_call).  Between launches the
 * host program answers them by
 * tk_dap_attend. */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scratch.h"
#include "gdbstub/dap/dap.h"

/* In milliseconds: how often progress is reported while a launch runs, and how
 * long one wait for a client or a message takes. */
enum { TICK = 250, SLICE = 20 };

static void say_to_user(dap *p, const char *what, const char *about) {
  char line[256];
  snprintf(line, sizeof line, what, about);
  if (p->say && !p->listener.stdio) p->say(p->ud, line);
}

/* ---- clients ------------------------------------------------------------ */

/* What one client knew, the next one does not. */
static void forget_client(dap *p) {
  dap_wire_close(&p->wire);
  dap_forget_points(p, true);
  tk_text_set(p->env, &p->catches.names, NULL);
  json_array_clear(p->inbox.queue);
  json_decref(p->launch.request);
  p->launch.request = NULL;
  p->client = (dap_client){0};
  dap_talk_on(p, DAP_GONE);
  if (p->d) dap_stand(p);
}

/* The client is gone without a word: what it had launched ends. */
static void lose_client(dap *p) {
  if (p->launch.attached && !p->env->interrupted) {
    forget_client(p);
    return;
  }
  dap_talk_on(p, DAP_LEFT);
  dap_wire_close(&p->wire);
  if (p->d) tk_debug_quit(p->d);
}

static bool connect_client(dap *p, int timeout) {
  int in, out;
  if (!gw_listen_accept(&p->listener, timeout, &in, &out)) return false;
  dap_wire_connect(&p->wire, in, out);
  if (p->talk == DAP_GONE) dap_talk_on(p, DAP_GREETS);
  say_to_user(p, "tkdbg: an editor has connected%s", "");
  return true;
}

bool tk_dap_accept(tk_dap *p) {
  while (!connect_client(p, SLICE))
    if (p->env->interrupted || (p->listener.stdio && p->listener.spent))
      return false;
  return true;
}

void tk_dap_drop(tk_dap *p) {
  dap_wire_close(&p->wire);
}

/* Answers the next message, after waiting at most so long for it; false: there
 * was none in time, or the client is gone. */
static bool answer_one(dap *p, int timeout) {
  if (p->wire.line.in < 0) return false;
  if (dap_answer(p)) return true;
  if (dap_take_in(p, timeout)) return dap_answer(p) || timeout < 0;
  lose_client(p);
  return false;
}

/* The same, unless the run is to end. */
static bool serve_one(dap *p, int timeout) {
  return !dap_ends(p) && answer_one(p, timeout);
}

/* Answers until a request goes on, or the run is to end. */
static void serve(dap *p) {
  while (!tk_debug_will_resume(p->d) && !dap_is_let_go(p) && serve_one(p, -1))
    continue;
  if (dap_is_let_go(p) && p->wire.line.in >= 0) forget_client(p);
}

/* ---- the beginning ------------------------------------------------------ */

bool tk_dap_greet(tk_dap *p, const char *const **words, size_t *n) {
  while (p->talk == DAP_GREETS && serve_one(p, -1)) continue;
  *words = p->launch.words.items;
  *n = p->launch.words.n;
  return dap_has_asked(p) && p->wire.line.in >= 0;
}

void tk_dap_refuse(tk_dap *p, const char *why) {
  if (p->launch.request)
    dap_wire_send(&p->wire, dap_refusal(p->launch.request, why));
  dap_wire_event(&p->wire, "terminated", NULL);
  dap_wire_close(&p->wire);
}

/* The process that takes the connection over reads again what the client has
 * sent so far. */
const char *tk_dap_handed(tk_dap *p) {
  int log = memfd_create("tkdbg-dap", 0);
  if (log >= 0) gw_write_all(log, p->wire.line.input.s, p->wire.line.input.n);
  snprintf(p->handed, sizeof p->handed, "fd:%d,%d,%d,%zu", dup(p->wire.line.in),
           dup(p->wire.line.out), log, p->inbox.answered);
  dap_wire_close(&p->wire);
  return p->handed;
}

static void answer_launch(dap *p) {
  json_t *request = p->launch.request;
  p->launch.request = NULL;
  if (!request) return;
  dap_wire_send(&p->wire, dap_response(request, NULL));
  json_decref(request);
}

/* A client that has just come sets its breakpoints. */
static bool configure(dap *p) {
  while (p->talk == DAP_GREETS && serve_one(p, -1)) continue;
  if (dap_has_asked(p)) dap_wire_event(&p->wire, "initialized", NULL);
  while (p->talk == DAP_SETS_UP && serve_one(p, -1)) continue;
  if (p->talk != DAP_SERVED) return false;
  answer_launch(p);
  return true;
}

/* ---- stops -------------------------------------------------------------- */

static void tell_progress(dap *p, const char *event, bool begins) {
  tk_debug_time now;
  char message[80];
  uint64_t all = tk_debug_program_count(p->d);
  tk_debug_when(p->d, &now);
  snprintf(message, sizeof message, "%" PRIu64 " of %" PRIu64 " programs",
           now.done, all);
  char id[16];
  snprintf(id, sizeof id, "%d", p->progress.shown);
  json_t *body = json_pack("{s:s, s:s}", "progressId", id, "message", message);
  if (all)
    json_object_set_new(body, "percentage",
                        json_integer((json_int_t)(now.done * 100 / all)));
  if (begins) {
    json_object_set_new(body, "title", json_string("tkdbg: the launch runs"));
    json_object_set_new(body, "cancellable", json_true());
  }
  dap_wire_event(&p->wire, event, body);
}

/* The client is told of a launch that takes longer than a moment. */
static void tick(dap *p) {
  if (!p->client.progress || p->wire.line.in < 0 || ++p->progress.ticks < 3)
    return;
  bool begins = !p->progress.shown;
  if (begins) p->progress.shown = ++p->progress.made;
  tell_progress(p, begins ? "progressStart" : "progressUpdate", begins);
}

static void end_progress(dap *p) {
  if (p->progress.shown) tell_progress(p, "progressEnd", false);
  p->progress.shown = p->progress.ticks = 0;
}

static void call_engine(void *ud) {
  tk_debug_call(((dap *)ud)->d);
}

/* While it runs: what the client sends, a client that comes, time that
 * passes. */
static void watch_client(dap *p) {
  int fd = p->wire.line.in >= 0 ? p->wire.line.in : p->listener.fd;
  gw_watch_begin(&p->watch, fd, p->client.progress ? TICK : -1, call_engine, p);
}

static void unwatch_client(dap *p) {
  gw_watch_end(&p->watch);
  tk_debug_call_off(p->d);
}

/* Whether the launch can be stopped and continued without cutting a step
 * short. */
static bool is_going(const dap *p) {
  return p->going.how.kind == TK_RESUME_CONTINUE ||
         p->going.how.kind == TK_RESUME_NONE;
}

/* A step that comes to the end of its launch goes on to the next one. */
static tk_resume_kind how_beyond(tk_resume_kind kind) {
  bool steps = kind == TK_RESUME_STEP || kind == TK_RESUME_NEXT ||
               kind == TK_RESUME_FINISH || kind == TK_RESUME_OPERATION;
  return steps ? TK_RESUME_LAUNCH : TK_RESUME_CONTINUE;
}

/* Goes on with what the client has asked for; false: it cannot be done. */
static bool go_as_asked(dap *p) {
  p->going.first = p->going.how;
  return tk_debug_resume(p->d, &p->going.how) == TK_OK;
}

/* Turns on detectors that were asked for while the launch ran. If that is the
 * only reason for the stop, the launch goes on, unless they have found
 * something in the part that has run already. Returns whether it goes on. */
static bool chooses_here(dap *p) {
  bool only = p->catches.later && !p->going.pauses && is_going(p) &&
              p->stop->reason == TK_STOP_INTERRUPT;
  if (!p->catches.later) return false;
  if (!dap_choose_detectors(p))
    dap_say(p, "console", dap_engine_fault(p, true));
  else if (only)
    tk_debug_stand(p->d, &p->stop);
  return only && !p->stop->nfindings && go_as_asked(p);
}

/* Goes on from a stop that tells the user nothing; returns whether it did. */
static bool passes_stop(dap *p) {
  const tk_debug_stop *s = p->stop;
  bool switched =
      p->going.first.kind == TK_RESUME_PROGRAM && s->reason == TK_STOP_SWITCH;
  bool unwanted = s->reason == TK_STOP_CATCH && s->nfindings &&
                  s->point == p->catches.point &&
                  !dap_catches(p, s->findings[s->nfindings - 1]->kind);
  if (s->over)
    p->going.how = (tk_resume){.kind = how_beyond(p->going.how.kind)};
  if (!switched && !unwanted && !s->over) return false;
  return go_as_asked(p);
}

static void look_at_stop(tk_env *e, void *ud) {
  dap *p = ud;
  (void)e;
  end_progress(p);
  if (dap_ends(p) || dap_is_let_go(p) || passes_stop(p) || chooses_here(p))
    return;
  dap_output_sync(&p->output);
  dap_tell_points(p);
  dap_tell_stop(p);
  dap_tell_findings(p);
  p->going.pauses = false;
  p->going.first = p->going.how = (tk_resume){.kind = TK_RESUME_CONTINUE};
  serve(p);
}

static void forget_handles(dap *p) {
  tk_arena_free(&p->scratch);
  tk_arena_free(&p->handles);
  memset(&p->frames, 0, sizeof p->frames);
  memset(&p->nodes, 0, sizeof p->nodes);
  memset(&p->targets, 0, sizeof p->targets);
}

static void stopped(void *ud, tk_debug *d, const tk_debug_stop *stop) {
  dap *p = ud;
  unwatch_client(p);
  p->stop = stop;
  dap_run_on(p, DAP_STANDS);
  p->here = stop->program;
  tk_status st = tk_protect(p->env, look_at_stop, p);
  p->stop = NULL;
  dap_run_on(p, DAP_RUNS);
  forget_handles(p);
  if (st != TK_OK || dap_ends(p)) tk_debug_quit(d);
  if (!tk_debug_has_quit(d)) watch_client(p);
}

/* ---- while it runs ------------------------------------------------------ */

/* Answers the messages that have arrived, or accepts a client that connects. */
static void attend(tk_env *e, void *ud) {
  dap *p = ud;
  (void)e;
  if (p->wire.line.in < 0) {
    if (connect_client(p, 0) && configure(p))
      p->going.pauses = p->launch.stop_on_entry;
  } else {
    while (!dap_is_let_go(p) && serve_one(p, 0)) continue;
    if (dap_is_let_go(p) && p->wire.line.in >= 0) forget_client(p);
  }
}

static void called(void *ud, tk_debug *d) {
  dap *p = ud;
  gw_watch_end(&p->watch);
  if (tk_protect(p->env, attend, p) != TK_OK) dap_end(p);
  tick(p);
  tk_arena_free(&p->scratch);
  if (dap_ends(p) || p->going.pauses || (p->catches.later && is_going(p)))
    tk_debug_interrupt(d);
  watch_client(p);
}

static void begins(void *ud, tk_debug *d) {
  dap *p = ud;
  dap_run_on(p, DAP_RUNS);
  if (p->going.pauses) tk_debug_interrupt(d);
  if (!dap_is_let_go(p)) dap_tell_points(p);
  tk_arena_free(&p->scratch);
  watch_client(p);
}

static void ends(void *ud, tk_debug *d) {
  dap *p = ud;
  (void)d;
  unwatch_client(p);
  end_progress(p);
  dap_run_on(p, DAP_HOSTED);
}

static void tell_printed(void *ud, const char *text, size_t n) {
  dap *p = ud;
  dap_output_sync(&p->output);
  dap_wire_output(&p->wire, "stdout", text, n);
  if (!p->output.runs) tk_debug_pass_output(p->d, text, n);
}

static bool asked(void *ud, tk_debug *d, int point) {
  (void)d;
  return dap_point_counts(ud, point);
}

/* ---- logpoints and notices ---------------------------------------------- */

typedef struct dap_log {
  dap *p;
  const tk_log *log;
  tk_buf text;
} dap_log;

static void put_log(tk_env *e, void *ud) {
  dap_log *x = ud;
  dap *p = x->p;
  const char *text = x->log->format, *piece;
  const tk_debug_value *v;
  size_t n, k;
  bool is_expression;
  (void)e;
  while (tk_debug_log_piece(&text, &piece, &n, &is_expression)) {
    if (!is_expression) {
      tk_buf_add(&x->text, piece, n);
      continue;
    }
    const char *expression = tk_arena_strndup(&p->scratch, piece, n);
    if (tk_debug_evaluate(p->d, expression, &v, &k) == TK_OK) {
      json_t *said = dap_say_parts(p, v, k);
      tk_buf_puts(&x->text, json_string_value(said));
      json_decref(said);
    } else {
      tk_buf_printf(&x->text, "{%s: %s}", expression,
                    dap_engine_fault(p, false));
    }
  }
}

static void logged(void *ud, tk_debug *d, const tk_log *log) {
  dap *p = ud;
  dap_log x = {.p = p, .log = log};
  tk_debug_frame f;
  tk_buf_init(&x.text, p->env);
  tk_debug_block_begins(d);
  if (tk_protect(p->env, put_log, &x) == TK_OK) {
    tk_buf_putc(&x.text, '\n');
    json_t *body = json_pack("{s:s, s:o}", "category", "console", "output",
                             dap_text(tk_buf_str(&x.text), x.text.n));
    if (tk_debug_frame_at(d, 0, &f) == TK_OK && f.place.file) {
      json_object_set_new(body, "source", dap_source_of(p, f.place.file));
      json_object_set_new(body, "line",
                          json_integer(dap_line_out(p, f.place.line)));
    }
    dap_output_sync(&p->output);
    dap_wire_event(&p->wire, "output", body);
  }
  tk_debug_block_ends(d);
  tk_buf_free(&x.text);
  tk_arena_free(&p->scratch);
}

static void noticed(void *ud, tk_debug *d, const tk_notice *n) {
  static const char unwatched[] =
      "tkdbg: detectors do not watch the rest of this launch: the history of "
      "its beginning was dropped\n";
  dap *p = ud;
  (void)d;
  if (n->kind == TK_NOTICE_DETECTORS) dap_say(p, "console", unwatched);
  if (n->kind == TK_NOTICE_PAGE)
    p->reply.page = tk_arena_strdup(&p->scratch, n->text);
  if (n->kind != TK_NOTICE_CONDITION) return;
  dap_say(p, "stderr", "The condition of a breakpoint has no value here:\n");
  dap_say(p, "stderr", n->text);
  dap_say(p, "stderr", "\n");
}

/* ---- the object --------------------------------------------------------- */

static void free_server(tk_env *e, void *ud) {
  dap *p = ud;
  gw_watch_end(&p->watch);
  dap_output_end(&p->output);
  dap_forget_points(p, true);
  tk_text_set(e, &p->catches.names, NULL);
  dap_wire_close(&p->wire);
  dap_wire_free(&p->wire);
  gw_listen_end(&p->listener);
  json_decref(p->inbox.queue);
  json_decref(p->launch.request);
  json_decref(p->launch.environment);
  forget_handles(p);
  tk_buf_free(&p->text);
  tk_arena_free(&p->life);
  tk_free(e, p, sizeof *p);
}

typedef struct dap_making {
  tk_session *session;
  const tk_dap_options *o;
  tk_dap **out;
} dap_making;

static dap *new_server(tk_env *e, const dap_making *m) {
  dap *p = tk_calloc(e, 1, sizeof *p);
  p->watcher = (tk_watcher){.ud = p, .free = free_server};
  tk_session_watch(m->session, &p->watcher);
  p->env = e;
  p->session = m->session;
  p->say = m->o->say;
  p->ud = m->o->ud;
  p->launch.script = m->o->script;
  p->listener.fd = -1;
  p->here = TK_DEBUG_NO_PROGRAM;
  p->inbox.queue = json_array();
  dap_wire_init(&p->wire, e);
  tk_arena_init(&p->life, e);
  p->folder = gw_folder(&p->life);
  tk_arena_init(&p->scratch, e);
  tk_arena_init(&p->handles, e);
  tk_buf_init(&p->text, e);
  return p;
}

static void listen_for_clients(dap *p, const tk_dap_options *o) {
  gw_listen(&p->listener, p->env, o->address, o->listen_anywhere);
  if (o->port_file) gw_listen_port_file(&p->listener, p->env, o->port_file);
  say_to_user(p, "tkdbg: waiting for an editor at %s", p->listener.shown);
}

static void make_greeter(tk_env *e, void *ud) {
  dap_making *m = ud;
  dap *p = new_server(e, m);
  listen_for_clients(p, m->o);
  p->wire.line.keeps = true;
  *m->out = p;
}

tk_status tk_dap_listen(tk_session *s, const tk_dap_options *o, tk_dap **out) {
  dap_making m = {s, o, out};
  *out = NULL;
  return tk_session_guard(s, make_greeter, &m);
}

/* The connection of a client that was greeted: "fd:IN,OUT,LOG,ANSWERED". */
static bool take_over(dap *p, const char *address) {
  int in, out, log;
  char bytes[4096];
  ssize_t n;
  if (sscanf(address, "fd:%d,%d,%d,%zu", &in, &out, &log, &p->inbox.known) != 4)
    return false;
  fcntl(in, F_SETFD, FD_CLOEXEC);
  fcntl(out, F_SETFD, FD_CLOEXEC);
  dap_wire_connect(&p->wire, in, out);
  lseek(log, 0, SEEK_SET);
  while ((n = read(log, bytes, sizeof bytes)) > 0)
    tk_buf_add(&p->wire.line.input, bytes, (size_t)n);
  close(log);
  p->wire.told = p->inbox.known > 0;
  return true;
}

static tk_debug_front front_of(dap *p) {
  return (tk_debug_front){.size = sizeof(tk_debug_front),
                          .ud = p,
                          .begins = begins,
                          .stopped = stopped,
                          .ends = ends,
                          .output = tell_printed,
                          .logged = logged,
                          .noticed = noticed,
                          .called = called,
                          .asked = asked,
                          .needs_launch = true};
}

static void keep_printed(void *ud, const char *text, size_t n) {
  tk_buf_add(&((dap *)ud)->text, text, n);
}

static const char *read_nothing(void *ud, const char *prompt) {
  (void)ud, (void)prompt;
  return NULL;
}

static void make_dap(tk_env *e, void *ud) {
  dap_making *m = ud;
  dap *p = new_server(e, m);
  if (!take_over(p, m->o->address)) {
    listen_for_clients(p, m->o);
    p->launch.attached = true;
  }
  if (p->listener.fd < 0) dap_output_begin(&p->output, &p->wire);
  p->front = front_of(p);
  if (tk_debug_new(m->session, &p->front, &p->d) != TK_OK)
    tk_throw(e, TK_INTERNAL);
  tk_debugger_options lines = {.size = sizeof lines,
                               .ud = p,
                               .script = m->o->script,
                               .read = read_nothing,
                               .write = keep_printed};
  if (tk_debugger_over(p->d, &lines, &p->commands) != TK_OK)
    tk_throw(e, TK_INTERNAL);
  while (p->inbox.answered < p->inbox.known && serve_one(p, 0)) continue;
  *m->out = p;
}

tk_status tk_dap_new(tk_session *s, const tk_dap_options *o, tk_dap **out) {
  dap_making m = {s, o, out};
  *out = NULL;
  return tk_session_guard(s, make_dap, &m);
}

static void configure_body(tk_env *e, void *ud) {
  dap *p = ud;
  if (p->wire.line.in < 0 && !tk_dap_accept(p)) tk_throw(e, TK_INTERRUPTED);
  if (!configure(p)) tk_throw(e, TK_INTERRUPTED);
  dap_stand(p);
}

tk_status tk_dap_configure(tk_dap *p) {
  return tk_protect(p->env, configure_body, p);
}

/* ---- between launches --------------------------------------------------- */

bool tk_dap_wait(tk_dap *p) {
  while (p->run != DAP_OVER) {
    int fd = p->wire.watched;
    struct pollfd x = {.fd = fd >= 0 ? fd : p->listener.fd, .events = POLLIN};
    if (poll(&x, 1, TICK) > 0) return true;
  }
  return false;
}

bool tk_dap_attend(tk_dap *p) {
  if (p->run == DAP_OVER || dap_ends(p)) return true;
  if (tk_protect(p->env, attend, p) != TK_OK) dap_end(p);
  tk_arena_free(&p->scratch);
  return !dap_ends(p);
}

tk_debugger *tk_dap_debugger(tk_dap *p) {
  return p->commands;
}

/* ---- the end ------------------------------------------------------------ */

/* The client says good-bye, if it does so soon. */
static void see_off(tk_env *e, void *ud) {
  enum { PATIENCE = 1000 };
  dap *p = ud;
  (void)e;
  for (int waited = 0; waited < PATIENCE && p->talk != DAP_LEFT &&
                       !dap_is_let_go(p) && p->wire.line.in >= 0;
       waited += SLICE)
    answer_one(p, SLICE);
}

/* If no editor ever connected, the errors that were meant for it go to standard
 * error. */
static void say_if_nobody_asked(const tk_dap *p) {
  if (p->inbox.answered || p->inbox.known || p->launch.request) return;
  fwrite(p->output.error, 1, p->output.nerror, stderr);
}

void tk_dap_end(tk_dap *p, int code) {
  gw_watch_end(&p->watch);
  dap_run_on(p, DAP_OVER);
  dap_output_end(&p->output);
  say_if_nobody_asked(p);
  if (p->launch.request) {
    char why[DAP_KEPT + sizeof "..."];
    snprintf(why, sizeof why, "%.*s%s", (int)p->output.nerror, p->output.error,
             p->output.nerror < DAP_KEPT ? "" : "...");
    dap_wire_send(&p->wire, dap_refusal(p->launch.request,
                                        *why ? why : "the run has ended"));
    json_decref(p->launch.request);
    p->launch.request = NULL;
  } else if (p->wire.line.in >= 0) {
    dap_wire_event(&p->wire, "exited", json_pack("{s:i}", "exitCode", code));
  }
  dap_wire_event(&p->wire, "terminated", NULL);
  tk_protect(p->env, see_off, p);
  dap_wire_close(&p->wire);
  gw_listen_end(&p->listener);
}
