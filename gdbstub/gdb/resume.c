/* resume.c - packets that say how to go on. */
#include <string.h>

#include "base/remedy.h"
#include "gdbstub/gdb/stub.h"

/* When a move is refused, the launch stays where it is and the user reads why.
 * A client that cannot go back must be told that the history ends here, or it
 * would ask for the same step again, forever. */
static bool begin(gs_stub *g, const tk_resume *how) {
  if (tk_debug_resume(g->d, how) == TK_OK) return true;
  const tk_debug_fault *f = tk_debug_error(g->d);
  g->halt.no_past =
      f->id == TK_FAULT_NOT_RECORDED || f->id == TK_FAULT_HISTORY_DROPPED;
  tk_buf_clear(&g->text);
  tk_put_fault(&g->text, f, true, TK_FRONT_GDB);
  if (g->text.n && g->text.s[g->text.n - 1] != '\n')
    tk_buf_putc(&g->text, '\n');
  gs_console(g, tk_buf_str(&g->text), g->text.n);
  g->halt.jumps = false;
  gs_put_stop(g);
  return false;
}

/* A step out of the kernel ends where the kernel returns. Clients remove
 * breakpoints while they step over one, and would otherwise miss those of the
 * next program. */
static void step_to_exit(gs_stub *g) {
  const tk_point_spec exit = {
      .kind = TK_POINT_CATCH, .where = "exit", .once = true};
  if (tk_debug_add_point(g->d, &exit, &g->going.step_exit) != TK_OK)
    g->going.step_exit = 0;
}

/* Goes on with a program, after a switch if another program has stopped, or
 * after a jump if the client has asked for one. */
static void go_on(gs_stub *g, uint64_t program, tk_resume_kind kind) {
  tk_resume first = {.kind = kind};
  g->going.how = first;
  g->thread = program;
  g->going.chained = !g->going.launch;
  if (g->going.launch)
    first = (tk_resume){.kind = TK_RESUME_LAUNCH, .launch = g->going.launch};
  else if (program != g->here)
    first = (tk_resume){.kind = TK_RESUME_PROGRAM, .program = program};
  else if (g->halt.jumps)
    first = (tk_resume){.kind = TK_RESUME_JUMP, .statement = g->halt.jump_to};
  else
    g->going.chained = false;
  if (kind == TK_RESUME_STEP) step_to_exit(g);
  if (!begin(g, &first)) g->going.chained = false;
}

/* Tells the client of the next watchpoint that was hit at this stop, in place
 * of going on; returns false if there is none. */
static bool tells_next_hit(gs_stub *g, uint64_t program) {
  if (!gs_has_next_hit(g) || program != g->here || g->halt.jumps ||
      g->going.launch)
    return false;
  gs_put_stop(g);
  return true;
}

/* The client may not have seen yet where the program stands. If it has just
 * read new symbols, it goes on by itself, and a breakpoint at the first
 * statement has not stopped it; if it was shown the head of a loop, it has not
 * been at the statement after it. */
static void go_ahead(gs_stub *g, uint64_t program, tk_resume_kind kind) {
  /* gdb takes only the thread from the answer to vRun */
  if (g->symbols.is_new) {
    gs_forget_points(g);
    gs_put_stop(g);
    g->symbols.is_new = false;
    g->halt.shown = GS_ENTRY;
    return;
  }
  if (tells_next_hit(g, program)) return;
  gs_shown was = g->halt.shown;
  g->halt.shown = GS_AS_IT_IS;
  bool behind = was == GS_LOOP_HEAD || was == GS_CALL_BEGINS;
  bool news = behind || was == GS_ENTRY;
  bool steps = behind && kind == TK_RESUME_STEP && program == g->here;
  gs_place here = gs_place_of(g, g->here);
  g->going.left = here.pc;
  g->going.stepped = gs_call_at(g, here.hidden ? 0 : here.depth);
  if (steps ||
      (news && (g->halt.holds || gs_hits_breakpoint(g, g->going.left))))
    gs_put_stop(g);
  else
    go_on(g, program, kind);
}

static void go(gs_stub *g, tk_resume_kind kind) {
  g->halt.jumps = false;
  go_on(g, g->here, kind);
}

static void go_back(gs_stub *g, tk_resume_kind kind) {
  if (tells_next_hit(g, g->here)) return;
  bool begins = g->halt.shown == GS_CALL_BEGINS;
  bool ends = g->halt.shown == GS_CALL_ENDS;
  if (begins || ends) g->halt.shown = GS_AS_IT_IS;
  gs_place here = gs_place_of(g, g->here);
  bool first = here.function && here.pc == here.function->low && !begins;
  g->going.stepped = gs_call_at(g, first ? here.depth : 0);
  if (ends && (kind == TK_RESUME_BACK_STEP || gs_hits_breakpoint(g, here.pc)))
    gs_put_stop(g);
  else
    go(g, kind);
}

void gs_on_actions(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "vCont;c;C;s;S;t;r");
}

/* Reads one action; returns false if it is malformed. */
static bool take_action(gs_stub *g, const char **s, bool *step,
                        uint64_t *program) {
  uint64_t n;
  char action = **s;
  if (!action || !strchr("cCsSrt", action)) return false;
  ++*s;
  if ((action == 'C' || action == 'S') && !gs_take_hex(s, &n)) return false;
  if (action == 'r' &&
      !(gs_take_hex(s, &n) && gs_take(s, ",") && gs_take_hex(s, &n)))
    return false;
  *step = strchr("sSr", action) != NULL;
  *program = TK_DEBUG_NO_PROGRAM;
  return !gs_take(s, ":") || gs_take_thread(g, s, program);
}

/* The first action that steps decides; if none steps, all programs go on. */
void gs_on_resume(gs_stub *g, const char *rest) {
  uint64_t program = 0, stepped = TK_DEBUG_NO_PROGRAM;
  bool step = false, any = false;
  do {
    if (!take_action(g, &rest, &step, &program)) {
      gs_reply_error(g);
      return;
    }
    if (step && !any) stepped = program;
    any |= step;
  } while (gs_take(&rest, ";"));
  if (*rest) {
    gs_reply_error(g);
    return;
  }
  if (stepped == TK_DEBUG_NO_PROGRAM) stepped = g->here;
  go_ahead(g, any ? stepped : g->here,
           any ? TK_RESUME_STEP : TK_RESUME_CONTINUE);
}

void gs_on_continue(gs_stub *g, const char *rest) {
  (void)rest;
  go_ahead(g, g->here, TK_RESUME_CONTINUE);
}

void gs_on_step(gs_stub *g, const char *rest) {
  (void)rest;
  go_ahead(g, g->thread, TK_RESUME_STEP);
}

void gs_on_continue_back(gs_stub *g, const char *rest) {
  (void)rest;
  go_back(g, TK_RESUME_BACK);
}

void gs_on_step_back(gs_stub *g, const char *rest) {
  (void)rest;
  tk_stop_reason r = g->stop->reason;
  go_back(g, TK_RESUME_BACK_STEP);
  /* From the middle of a statement, the first step goes to its beginning. */
  g->going.chained = r == TK_STOP_FINDING || r == TK_STOP_CALL;
}

/* ;FILE;ARGUMENT;...: FILE is not named, or is one of ours.  The arguments go
 * to g->text, with NULs after them; false: they are malformed. */
static bool take_words(gs_stub *g, const char *s) {
  tk_buf_clear(&g->text);
  if (gs_take(&s, ";")) gs_take_text(&s, &g->text);
  const char *file = tk_buf_str(&g->text);
  if (*file && strncmp(file, GS_FOLDER, strlen(GS_FOLDER)) != 0) return false;
  tk_buf_clear(&g->text);
  while (gs_take(&s, ";")) {
    gs_take_text(&s, &g->text);
    tk_buf_putc(&g->text, '\0');
  }
  return !*s;
}

/* The run begins again: another process has the connection from now on.  One
 * that was detached from goes on beside it. */
static void begin_again(gs_stub *g) {
  bool knows = !g->symbols.is_new;
  const gs_handed h = {
      g->wire.line.in,   g->wire.line.out,
      g->listener.fd,    g->wire.acks,
      g->client.swbreak, knows ? gs_image_sum(g->image, g->symbols.path) : 0};
  if (!gs_again_begin(&g->again, &h, &g->text, gs_is_let_go(g), &g->scratch)) {
    gs_reply_error(g);
    return;
  }
  g->silent = true;
  gs_wire_close(&g->wire);
  gw_listen_leave(&g->listener);
}

/* From there the client goes on by itself to its first breakpoint, which may be
 * at the first statement. */
void gs_on_run(gs_stub *g, const char *rest) {
  if (!take_words(g, rest) || (g->text.n && !g->restarts)) {
    gs_reply_error(g);
    return;
  }
  if (g->restarts) {
    begin_again(g);
    return;
  }
  gs_live_on(g, GS_BEGINS);
  go(g, TK_RESUME_AGAIN);
}

void gs_on_restart(gs_stub *g, const char *rest) {
  (void)rest;
  gs_on_run(g, "");
}

/* For jump and set $pc: the program counter must become the address of a
 * statement in the same body. */
void gs_on_set_register(gs_stub *g, const char *rest) {
  uint64_t n, address;
  unsigned char bytes[8];
  if (!gs_take_hex(&rest, &n) || n != (uint64_t)g->machine->pc ||
      !gs_take(&rest, "=") ||
      gs_take_bytes(&rest, bytes, sizeof bytes) != sizeof bytes) {
    gs_reply_error(g);
    return;
  }
  memcpy(&address, bytes, sizeof address);
  const gs_code *c = gs_image_code(g->image, address);
  gs_place here = gs_place_of(g, g->thread);
  if (!c || !c->stmt || address != c->begin || c->function != here.function ||
      g->thread != g->here) {
    gs_reply_error(g);
    return;
  }
  g->halt.jumps = true;
  g->halt.jump_to = tk_ir_stmt_id(c->stmt);
  tk_buf_puts(&g->reply, "OK");
}

/* Goes on without this client. Another may connect, unless this one was to be
 * the only one; a client that may run the launch again stays connected. */
void gs_on_detach(gs_stub *g, const char *rest) {
  bool stays = g->client.extended && g->restarts;
  (void)rest;
  tk_buf_puts(&g->reply, "OK");
  gs_wire_send(&g->wire, g->reply.s, g->reply.n);
  if (!stays) gs_wire_close(&g->wire);
  gs_forget_points(g);
  gs_live_on(g, GS_LIVES);
  g->silent = true;
  if (gs_is_lent(g) || g->stop->over) return; /* whoever lent it goes on */
  gs_go_on_alone(g, stays ? GS_APART : GS_ALONE, g->once && !stays);
}

void gs_go_on_alone(gs_stub *g, gs_life as, bool forever) {
  go(g, forever ? TK_RESUME_DETACH : TK_RESUME_CONTINUE);
  gs_live_on(g, as);
}

void gs_end_launch(gs_stub *g) {
  if (gs_is_let_go(g)) return;
  gs_live_on(g, GS_LIVES);
  go(g, TK_RESUME_QUIT);
}

/* A client that may run the launch again does not lose it. */
void gs_on_kill(gs_stub *g, const char *rest) {
  (void)rest;
  bool answers = g->wire.packet.s[0] == 'v';
  if (g->client.extended && answers) {
    if (!gs_is_let_go(g)) gs_live_on(g, GS_ENDED);
    g->halt.listed = false;
    tk_buf_puts(&g->reply, "OK");
    return;
  }
  g->silent = true;
  if (answers) gs_wire_send(&g->wire, "OK", 2);
  gs_end_launch(g);
}
