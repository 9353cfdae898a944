/* server.c - the engine's front end that speaks with a client of the remote
 * serial
 * protocol. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/outfile.h"
#include "gdbstub/gdb/stub.h"
#include "gdbstub/gdb/symbols.h"
#include "launch/session.h"

struct tk_gdbserver {
  gs_stub stub;
  tk_watcher watcher;
  tk_debug_front lender; /* while it lends its launch */
  void (*say)(void *ud, const char *line);
  void *ud;
};

static void say(tk_gdbserver *s, const char *what, const char *about) {
  char line[256];
  snprintf(line, sizeof line, what, about);
  if (s->say && !s->stub.listener.stdio) s->say(s->ud, line);
}

/* ---- clients ------------------------------------------------------------ */

static void stop_the_launch(void *ud) {
  gs_stub *g = ud;
  g->alarmed = true;
  tk_debug_interrupt(g->d);
}

/* While the launch runs, watches for input of the client, or for a client that
 * connects. */
static void watch_clients(gs_stub *g) {
  gw_watch_begin(&g->watch,
                 g->wire.line.in >= 0 ? g->wire.line.in : g->listener.fd, -1,
                 stop_the_launch, g);
}

/* Waits for a client; returns false if none will come, or if the user has
 * interrupted the wait. */
static bool wait_for_client(tk_gdbserver *s) {
  enum { SLICE = 20 }; /* milliseconds */
  gs_stub *g = &s->stub;
  int in, out;
  say(s,
      gs_is_lent(g) ? "Waiting for gdb: target remote %s (Ctrl-C returns here)"
                    : "tkdbg: waiting for gdb: target remote %s",
      g->listener.shown);
  while (!gw_listen_accept(&g->listener, SLICE, &in, &out))
    if (g->env->interrupted || (g->listener.stdio && g->listener.spent))
      return false;
  gs_wire_connect(&g->wire, in, out);
  if (gs_is_let_go(g)) gs_live_on(g, GS_LIVES);
  say(s, "%sgdb has connected", gs_is_lent(g) ? "" : "tkdbg: ");
  if (g->once) gw_listen_end(&g->listener);
  return true;
}

/* Whether a client has asked for a stop.  The launch may have stopped for
 * another reason, or ended, before it noticed. */
static bool leave_clients(gs_stub *g) {
  gw_watch_end(&g->watch);
  bool asked = g->alarmed;
  if (asked) g->env->interrupted = g->env->pauses = 0;
  g->alarmed = false;
  return asked;
}

static void quit(gs_stub *g) {
  tk_resume how = {.kind = TK_RESUME_QUIT};
  tk_debug_resume(g->d, &how);
}

/* Serves a client until it says how to go on. When a client vanishes, the
 * launch waits for the next one or goes back to whoever lent it; if there was
 * to be only one client, the launch goes on without it. */
static void serve_stop(tk_gdbserver *s) {
  gs_stub *g = &s->stub;
  while (!gs_goes_on(g)) {
    if (g->wire.line.in < 0) {
      bool last = g->once && g->listener.fd < 0 && !g->listener.stdio;
      if (last && !gs_is_lent(g) && gs_has_process(g)) {
        gs_forget_points(g);
        gs_go_on_alone(g, GS_ALONE, true);
        return;
      }
      if (last || !wait_for_client(s)) {
        if (!gs_is_lent(g)) quit(g);
        return;
      }
    }
    gs_serve(g, -1);
  }
}

/* A client that has detached but stays connected may run the launch again. */
static void serve_detached(gs_stub *g) {
  gs_serve(g, 0);
  if (!gs_goes_on(g))
    tk_debug_resume(g->d, &(tk_resume){.kind = TK_RESUME_CONTINUE});
}

/* ---- stops -------------------------------------------------------------- */

/* Each image gets a file of its own, since a debugger may still be reading
 * earlier ones. */
static void save_symbols(gs_stub *g) {
  const char *path = tk_buf_str(&g->symbols.copy);
  if (g->symbols.made > 1)
    path = tk_arena_printf(&g->scratch, "%s.%d", path, g->symbols.made);
  int error = tk_outfile_save(path, g->image->file->s, g->image->file->n);
  if (!error) return;
  tk_diag_add(g->env, TK_D_FILE, NULL, (tk_span){0, 0}, "cannot write '%s': %s",
              path, strerror(error));
  tk_throw(g->env, TK_USAGE);
}

/* The launch runs a form that the client has not seen: a new file. */
static void take_form(gs_stub *g) {
  const tk_ir *form = tk_debug_form(g->d);
  const tk_debug_function *list;
  size_t n;
  if (!form || (g->image && g->image->form == form)) return;
  if (tk_debug_functions(g->d, &list, &n) != TK_OK) n = 0;
  gs_forget_points(g);
  gs_image_free(g->env, g->image);
  g->image = NULL;
  g->arguments.lanes = NULL;
  g->image = gs_image_new(g->env, g->machine, form, g->symbols.made, list, n);
  gs_symbols_write(g->image, g->folder);
  g->wanted = TK_DEBUG_NO_PROGRAM;
  snprintf(g->symbols.path, sizeof g->symbols.path, GS_FOLDER "%.100s-%d.elf",
           tk_ir_func_name(tk_ir_kernel(form)), ++g->symbols.made);
  g->symbols.is_new =
      !g->symbols.known ||
      gs_image_sum(g->image, g->symbols.path) != g->symbols.known;
  g->symbols.known = 0;
  if (g->symbols.copy.n) save_symbols(g);
}

/* The engine stops after a change in both directions, while a client that goes
 * back expects to stop before it. */
static bool goes_over_change(gs_stub *g, bool changed) {
  if (g->going.how.kind != TK_RESUME_BACK || !changed) return false;
  g->going.how.kind = TK_RESUME_BACK_NEXT;
  return true;
}

/* Whether the stop tells the client nothing, so that the launch goes on as it
 * was last told to. */
static bool goes_on(gs_stub *g, bool changed) {
  const tk_debug_stop *s = g->stop;
  bool chained = g->going.chained;
  g->going.chained = false;
  if (chained && (s->reason == TK_STOP_SWITCH || s->reason == TK_STOP_STEP))
    return !gs_has_breakpoint(g, gs_place_of(g, g->here).pc);
  if (s->reason == TK_STOP_INTERRUPT && g->wire.line.in >= 0)
    return gs_wire_next(&g->wire, 0) == GS_NOTHING && g->wire.acks;
  if (goes_over_change(g, changed)) return true;
  /* The program that was stepped has ended. */
  if (s->reason == TK_STOP_STEP && g->going.how.kind == TK_RESUME_STEP &&
      s->program != g->thread) {
    g->going.how.kind = TK_RESUME_CONTINUE;
    return true;
  }
  return false;
}

/* Whether lldb's step over a breakpoint has come to the next trip of a loop of
 * one statement, where the breakpoint stands again. */
static bool comes_again(gs_stub *g) {
  if (!g->client.lldb || g->stop->reason != TK_STOP_STEP) return false;
  const gs_code *c = gs_image_code(g->image, g->going.left);
  return c && c->loop && gs_place_of(g, g->here).pc == g->going.left;
}

static void show_between(gs_stub *g, gs_shown shown, size_t call) {
  g->halt.shown = shown;
  g->halt.call = call;
}

/* Looks whether a step has left a call of a statement for another one.  Where a
 * function begins with that statement, gdb is not shown its middle on going
 * back: reverse-next would go on from there, and out of the function. */
static void look_between(gs_stub *g) {
  bool back = g->going.how.kind == TK_RESUME_BACK_STEP;
  bool stepped = back || (g->going.how.kind == TK_RESUME_STEP &&
                          g->stop->reason == TK_STOP_STEP);
  gs_call was = g->going.stepped, now = gs_call_at(g, was.depth);
  if (g->client.lldb || !stepped || !now.call || now.statement != was.statement)
    return;
  uint64_t address = g->image->addresses[now.statement];
  bool begins = address == gs_image_code(g->image, address)->function->low;
  if (now.call > was.call && !back) show_between(g, GS_CALL_BEGINS, was.call);
  if (now.call < was.call && back && !begins)
    show_between(g, GS_CALL_ENDS, now.call);
}

/* Tells the client that its process has exited. */
static void tell_exit(gs_stub *g, int code) {
  gs_live_on(g, GS_ENDED);
  g->code = code;
  gs_put_stop(g);
  gs_wire_send(&g->wire, g->reply.s, g->reply.n);
}

/* When a launch that was lent is over, its client may run it again until it
 * leaves. */
static void serve_end(gs_stub *g) {
  tk_debug_time now;
  if (g->wire.line.in < 0) return;
  tk_debug_when(g->d, &now);
  tell_exit(g, now.status);
  if (g->client.extended) gs_serve(g, -1);
}

/* Forgets what held for the last stop; returns whether a watched value has
 * changed. */
static bool begin_stop(gs_stub *g) {
  take_form(g);
  if (g->going.how.kind != TK_RESUME_BACK_NEXT) g->nhits = 0;
  bool changed = gs_keep_hits(g);
  g->halt =
      (gs_halt){.holds = g->going.launch || g->stop->reason == TK_STOP_RAISED};
  g->going.launch = 0;
  if (g->going.step_exit) tk_debug_delete_point(g->d, g->going.step_exit);
  g->going.step_exit = 0;
  g->here = g->stop->program;
  return changed;
}

/* Tells the client of the stop, and serves it until it says how to go on. */
static void serve_told_stop(tk_gdbserver *s) {
  gs_stub *g = &s->stub;
  g->thread = g->here;
  if (comes_again(g)) g->halt.shown = GS_LOOP_HEAD;
  look_between(g);
  if (g->stop->launch != g->arguments.launch || !g->arguments.lanes)
    gs_keep_arguments(g);
  g->arguments.launch = g->stop->launch;
  gs_keep_result(g);
  bool begins = g->life == GS_BEGINS;
  bool tells = g->wire.line.in >= 0 && g->life != GS_FRESH;
  if (g->life != GS_ENDED && !gs_is_let_go(g)) gs_live_on(g, GS_LIVES);
  if (tells) gs_tell_stop(g);
  if (tells && (g->symbols.is_new || begins)) g->halt.shown = GS_ENTRY;
  if (!begins) g->symbols.is_new = false;
  serve_stop(s);
}

static void look_at_stop(tk_env *e, void *ud) {
  tk_gdbserver *s = ud;
  gs_stub *g = &s->stub;
  bool changed = begin_stop(g);
  (void)e;
  if (!g->image) {
    quit(g);
    return;
  }
  if (gs_is_let_go(g) && g->stop->reason == TK_STOP_RAISED) {
    tk_debug_resume(g->d, &(tk_resume){.kind = TK_RESUME_LAUNCH}); /* none */
    return;
  }
  if (gs_is_let_go(g) && g->stop->reason != TK_STOP_INTERRUPT) return;
  if (gs_is_let_go(g) && g->wire.line.in >= 0) {
    serve_detached(g);
    return;
  }
  if (g->stop->over && g->stop->reason == TK_STOP_END) {
    serve_end(g);
    return;
  }
  if (goes_on(g, changed)) {
    tk_debug_resume(g->d, &g->going.how);
    return;
  }
  serve_told_stop(s);
}

/* Gives the launch back to the front end that has lent it. */
static void give_back(tk_gdbserver *s) {
  gs_stub *g = &s->stub;
  bool came = g->listener.fd < 0;
  gs_wire_close(&g->wire);
  gw_listen_end(&g->listener);
  gs_forget_points(g);
  if (g->going.step_exit) tk_debug_delete_point(g->d, g->going.step_exit);
  g->going.step_exit = 0;
  gs_image_free(g->env, g->image);
  g->image = NULL;
  g->arguments.lanes = NULL;
  gs_live_on(g, GS_KEPT);
  /* A host program repeats Ctrl-C until it is asked, and would hit the command
   * that follows. */
  if (g->env->interrupted && !g->env->pauses) tk_attend(g->env);
  g->env->interrupted = g->env->pauses = 0;
  tk_debug_hand_over(g->d, &s->lender, NULL);
  say(s,
      tk_debug_has_quit(g->d) ? "gdb has ended the run%s"
      : came                  ? "gdb has left%s"
                              : "\nNo gdb has connected%s",
      "");
}

/* A client looks at the stop; false: it was lent, and the client has left
 * without saying how to go on. */
static bool show_stop(tk_gdbserver *s, const tk_debug_stop *stop) {
  gs_stub *g = &s->stub;
  g->stop = stop;
  tk_status st = tk_protect(g->env, look_at_stop, s);
  tk_arena_free(&g->scratch);
  g->stop = NULL;
  /* Ctrl-C takes a lent launch back at any time. */
  bool recalled = gs_is_lent(g) && st == TK_INTERRUPTED;
  if (st != TK_OK && !recalled) quit(g);
  if (gs_is_lent(g) && !tk_debug_will_resume(g->d)) return false;
  if (!tk_debug_has_quit(g->d)) watch_clients(g);
  return true;
}

static void stopped(void *ud, tk_debug *d, const tk_debug_stop *stop) {
  tk_gdbserver *s = ud;
  gs_stub *g = &s->stub;
  tk_debug_stop theirs = *stop;
  bool recalled = /* by Ctrl-C, where it was lent */
      !leave_clients(g) && gs_is_lent(g) && stop->reason == TK_STOP_INTERRUPT;
  if (gs_point_numbered(g, stop->point)) { /* of the client, which knows it */
    theirs.reason = TK_STOP_STEP;
    theirs.point = 0;
  }
  if (!recalled && show_stop(s, stop)) return;
  give_back(s);
  bool wanted = stop->reason != TK_STOP_END || s->lender.stop_at_end;
  if (wanted && s->lender.stopped) s->lender.stopped(s->lender.ud, d, &theirs);
}

typedef struct question {
  gs_stub *g;
  int point;
  bool holds;
} question;

static void answer_question(tk_env *e, void *ud) {
  question *q = ud;
  (void)e;
  q->holds = gs_point_holds(q->g, q->point);
}

/* On the way: the program that runs is the only one there is. */
static bool asked(void *ud, tk_debug *d, int point) {
  gs_stub *g = &((tk_gdbserver *)ud)->stub;
  question q = {g, point, true};
  g->here = tk_debug_current_program(d);
  g->nprograms = 0;
  gs_list_program(g, g->here);
  g->halt.listed = true;
  if (tk_protect(g->env, answer_question, &q) != TK_OK) q.holds = true;
  tk_arena_free(&g->scratch);
  return q.holds;
}

static void print(void *ud, const char *text, size_t n) {
  gs_stub *g = &((tk_gdbserver *)ud)->stub;
  if (!gs_is_let_go(g)) gs_console(g, text, n);
  if (g->wire.line.in < 0 || gs_is_let_go(g))
    tk_debug_pass_output(g->d, text, n);
}

static void ends(void *ud, tk_debug *d) {
  tk_gdbserver *s = ud;
  gs_stub *g = &s->stub;
  tk_debug_time now;
  leave_clients(g);
  if (!gs_is_lent(g)) return;
  tk_debug_when(d, &now);
  if (!tk_debug_has_quit(d)) tell_exit(g, now.status);
  give_back(s);
  if (s->lender.ends) s->lender.ends(s->lender.ud, d);
}

/* ---- the public calls --------------------------------------------------- */

static void free_server(tk_env *e, void *ud) {
  tk_gdbserver *s = ud;
  gs_stub *g = &s->stub;
  gw_watch_end(&g->watch);
  gs_wire_close(&g->wire);
  gs_wire_free(&g->wire);
  gw_listen_end(&g->listener);
  if (g->restarts) gs_again_free(&g->again);
  while (g->points) {
    gs_point *p = g->points;
    g->points = p->next;
    tk_buf_free(&p->conditions);
    tk_free(e, p, sizeof *p);
  }
  gs_image_free(e, g->image);
  tk_buf_free(&g->result.block);
  tk_buf_free(&g->reply);
  tk_buf_free(&g->text);
  tk_buf_free(&g->symbols.copy);
  tk_arena_free(&g->scratch);
  tk_arena_free(&g->arguments.arena);
  tk_arena_free(&g->arena);
  tk_free(e, s, sizeof *s);
}

static tk_debug_front front_of(tk_gdbserver *s) {
  return (tk_debug_front){.size = sizeof(tk_debug_front),
                          .ud = s,
                          .stopped = stopped,
                          .ends = ends,
                          .output = print,
                          .asked = asked,
                          .stop_at_start = true,
                          .stop_at_end = gs_is_lent(&s->stub),
                          .script = s->stub.script,
                          .needs_launch = true};
}

typedef struct making {
  tk_session *session;
  tk_debug *engine; /* of another front end; NULL: it gets one of its own */
  const tk_gdbserver_options *o;
  tk_gdbserver **out;
} making;

static void make_engine(gs_stub *g, const tk_debug_front *front) {
  const tk_point_spec launches = {.kind = TK_POINT_CATCH, .where = "launch"};
  int number;
  if (tk_debug_new(g->session, front, &g->d) != TK_OK ||
      tk_debug_add_point(g->d, &launches, &number) != TK_OK)
    tk_throw(g->env, TK_INTERNAL);
}

static void choose_machine(gs_stub *g, const char *name) {
  g->machine = gs_machine_named(name);
  if (g->machine) return;
  tk_diag_add(g->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              "a launch cannot look like the machine '%s': it must be x86-64 "
              "or aarch64, whichever the connecting gdb knows",
              name);
  tk_throw(g->env, TK_USAGE);
}

static void begin_listening(gs_stub *g, const tk_gdbserver_options *o) {
  if (!o->address) return;
  gw_listen(&g->listener, g->env, o->address, o->listen_anywhere);
  if (o->port_file) gw_listen_port_file(&g->listener, g->env, o->port_file);
}

/* The client of the process that this one was before, which has asked for the
 * run to begin again. */
static bool take_over(gs_stub *g, const char *address) {
  gs_handed h;
  if (!gs_again_take(&h)) return false;
  gw_listen_take_over(&g->listener, address, h.listener);
  gs_wire_connect(&g->wire, h.in, h.out);
  g->wire.acks = h.acks;
  g->client.swbreak = h.swbreak;
  g->symbols.known = h.symbols;
  g->client.extended = true;
  gs_live_on(g, GS_BEGINS);
  return true;
}

static void make_server(tk_env *e, void *ud) {
  making *m = ud;
  const tk_gdbserver_options *o = m->o;
  tk_gdbserver *s = tk_calloc(e, 1, sizeof *s);
  gs_stub *g = &s->stub;
  s->watcher = (tk_watcher){.ud = s, .free = free_server};
  tk_session_watch(m->session, &s->watcher);
  s->say = o->say;
  s->ud = o->ud;
  g->env = e;
  g->session = m->session;
  g->once = o->once;
  g->multi = o->multi;
  g->script = o->script;
  g->borrows = m->engine != NULL;
  if (g->borrows) g->life = GS_KEPT;
  g->listener.fd = -1;
  g->result.program = TK_DEBUG_NO_PROGRAM;
  choose_machine(g, o->machine);
  gs_wire_init(&g->wire, e);
  tk_buf_init(&g->result.block, e);
  tk_buf_init(&g->reply, e);
  tk_buf_init(&g->text, e);
  tk_buf_init(&g->symbols.copy, e);
  if (o->write_elf) tk_buf_puts(&g->symbols.copy, o->write_elf);
  tk_arena_init(&g->scratch, e);
  tk_arena_init(&g->arguments.arena, e);
  tk_arena_init(&g->arena, e);
  g->folder = gw_folder(&g->arena);
  g->restarts = o->restarts;
  if (g->restarts) gs_again_init(&g->again, e, g->folder, o->replaceable);
  if (!g->restarts || !take_over(g, o->address)) begin_listening(g, o);
  tk_debug_front front = front_of(s);
  g->d = m->engine;
  if (!g->d) make_engine(g, &front);
  tk_debugger_options lines = {.size = sizeof lines,
                               .ud = g,
                               .script = o->script,
                               .read = gs_read_no_command,
                               .write = gs_keep_text,
                               .front = TK_FRONT_GDB};
  if (tk_debugger_over(g->d, &lines, &g->commands) != TK_OK)
    tk_throw(e, TK_INTERNAL);
  *m->out = s;
}

tk_status tk_gdbserver_new(tk_session *s, const tk_gdbserver_options *o,
                           tk_gdbserver **out) {
  making m = {.session = s, .o = o, .out = out};
  *out = NULL;
  return tk_session_guard(s, make_server, &m);
}

tk_status tk_gdbserver_over(tk_debug *d, const tk_gdbserver_options *o,
                            tk_gdbserver **out) {
  /* Quitting gdb detaches it; the next client needs a loan of its own. */
  const tk_gdbserver_options once = {.size = sizeof once,
                                     .once = true,
                                     .multi = true,
                                     .say = o->say,
                                     .ud = o->ud};
  making m = {tk_debug_session(d), d, &once, out};
  *out = NULL;
  return tk_session_guard(m.session, make_server, &m);
}

typedef struct loan {
  tk_gdbserver *s;
  const char *address;
} loan;

static void lend_stop(tk_env *e, void *ud) {
  loan *l = ud;
  tk_gdbserver *s = l->s;
  gs_stub *g = &s->stub;
  const tk_debug_stop *stop;
  if (tk_debug_stand(g->d, &stop) != TK_OK) tk_throw(e, TK_USAGE);
  if (!strcmp(l->address, "-")) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "cannot listen at '-': commands are read from there; "
                "HOST:PORT, :PORT or unix:PATH is expected");
    tk_throw(e, TK_USAGE);
  }
  gw_listen(&g->listener, e, l->address, false);
  gs_live_on(g, GS_FRESH);
  tk_debug_front front = front_of(s);
  tk_debug_hand_over(g->d, &front, &s->lender);
  front.script = s->lender.script;
  tk_debug_hand_over(g->d, &front, NULL);
  if (!show_stop(s, stop)) give_back(s);
}

tk_status tk_gdbserver_lend(tk_gdbserver *s, const char *address) {
  loan l = {s, address};
  return tk_session_guard(s->stub.session, lend_stop, &l);
}

/* No launch is left.  A client that has seen none learns this in place of a
 * first stop, and may begin again as others may. */
static void serve_finished(tk_env *e, void *ud) {
  static const tk_debug_stop end = {.reason = TK_STOP_END,
                                    .text = "",
                                    .over = true,
                                    .program = TK_DEBUG_NO_PROGRAM,
                                    .statement = TK_DEBUG_NO_STATEMENT};
  gs_stub *g = ud;
  int in, out;
  (void)e;
  if (g->life == GS_FRESH && gw_listen_accept(&g->listener, 0, &in, &out))
    gs_wire_connect(&g->wire, in, out);
  gs_live_on(g, GS_ENDED);
  g->stop = &end;
  g->here = g->thread = TK_DEBUG_NO_PROGRAM;
  g->halt.listed = false;
  gs_serve(g, -1);
}

void tk_gdbserver_end(tk_gdbserver *s, int code) {
  gs_stub *g = &s->stub;
  leave_clients(g);
  g->code = code;
  if (g->life == GS_BEGINS)
    gs_wire_send(&g->wire, "E01", 3); /* it has run without a stop */
  else if (g->life != GS_FRESH && !gs_is_let_go(g))
    tell_exit(g, code);
  if (g->life == GS_FRESH || (g->restarts && g->client.extended))
    tk_protect(g->env, serve_finished, g);
  gs_wire_close(&g->wire);
  gw_listen_end(&g->listener);
  if (g->restarts) gs_again_wait(&g->again);
}

tk_debugger *tk_gdbserver_debugger(tk_gdbserver *s) {
  return s->stub.commands;
}
