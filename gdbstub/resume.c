/* resume.c - packets that say how to go on. */
#include <string.h>

#include "gdbstub/stub.h"

/* What is refused stands where it stood, and the client's user reads why. */
static bool begin(gs_stub *g, const tk_resume *how) {
  if (tk_debug_resume(g->d, how) == TK_OK) return g->halt.resumed = true;
  const char *why = tk_debug_error(g->d)->text;
  gs_console(g, why, strlen(why));
  if (*why && why[strlen(why) - 1] != '\n') gs_console(g, "\n", 1);
  g->halt.jumps = false;
  gs_put_stop(g);
  return false;
}

/* A step out of the kernel is to end where the kernel returns: clients lift
 * breakpoints to step over one, and would miss those of the next program. */
static void step_to_exit(gs_stub *g) {
  const tk_point_spec exit = {
      .kind = TK_POINT_CATCH, .where = "exit", .once = true};
  if (tk_debug_add_point(g->d, &exit, &g->going.step_exit) != TK_OK)
    g->going.step_exit = 0;
}

/* Goes on with a program.  If that is another one than has stopped, or it is
 * to go on elsewhere, this comes first. */
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

/* Whether the client is told of another watchpoint that was hit where the
 * program stands, in place of going on. */
static bool tells_next_hit(gs_stub *g, uint64_t program) {
  if (!gs_has_next_hit(g) || program != g->here || g->halt.jumps ||
      g->going.launch)
    return false;
  gs_put_stop(g);
  return true;
}

/* Where it stands may be news to the client: one that has just read new symbols
 * goes on by itself, and its breakpoint on the first statement has not stopped
 * anybody yet; one that was shown the head of a loop has not been at the
 * statement behind it. */
static void go_ahead(gs_stub *g, uint64_t program, tk_resume_kind kind) {
  if (g->symbols.is_new) { /* gdb takes only the thread of vRun's answer */
    gs_forget_points(g);
    gs_put_stop(g);
    g->symbols.is_new = false;
    g->halt.is_entry = true;
    return;
  }
  if (tells_next_hit(g, program)) return;
  bool begins = g->halt.between && g->halt.ahead;
  g->halt.between = 0;
  bool news = g->halt.is_entry || g->halt.at_loop || begins;
  bool steps = (g->halt.at_loop || begins) && kind == TK_RESUME_STEP &&
               program == g->here;
  g->halt.is_entry = g->halt.at_loop = false;
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
  bool begins = g->halt.between && g->halt.ahead;
  bool ends = g->halt.between && !begins;
  g->halt.between = 0;
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

/* One action; false: it is malformed. */
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

/* The first action that steps counts; if none does, all go on. */
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
 * to g->text, with NULs behind them; false: they are malformed. */
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
      g->wire.in,        g->wire.out,
      g->listener.fd,    g->wire.acks,
      g->client.swbreak, knows ? gs_image_sum(g->image, g->symbols.path) : 0};
  if (!gs_again_begin(&g->again, &h, &g->text, g->detached, &g->scratch)) {
    gs_reply_error(g);
    return;
  }
  g->silent = true;
  gs_wire_close(&g->wire);
  gs_listen_leave(&g->listener);
}

/* The client goes on by itself from there to its first breakpoint, which may
 * stand at the first statement. */
void gs_on_run(gs_stub *g, const char *rest) {
  if (!take_words(g, rest) || (g->text.n && !g->restarts)) {
    gs_reply_error(g);
    return;
  }
  if (g->restarts) {
    begin_again(g);
    return;
  }
  g->life = GS_BEGINS;
  go(g, TK_RESUME_AGAIN);
}

void gs_on_restart(gs_stub *g, const char *rest) {
  (void)rest;
  gs_on_run(g, "");
}

/* jump and set $pc: the program counter is a statement of the same body. */
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

/* Goes on without this client; another may come, unless it was to be the only
 * one.  One that may run it all again stays. */
void gs_on_detach(gs_stub *g, const char *rest) {
  bool stays = g->client.extended && g->restarts;
  (void)rest;
  tk_buf_puts(&g->reply, "OK");
  gs_wire_send(&g->wire, g->reply.s, g->reply.n);
  if (!stays) gs_wire_close(&g->wire);
  gs_forget_points(g);
  g->life = GS_LIVES;
  g->silent = true;
  if (g->lent || g->stop->over) return; /* whoever lent it goes on */
  gs_go_on_alone(g, g->once && !stays);
  if (stays) g->life = GS_ENDED;
}

void gs_go_on_alone(gs_stub *g, bool forever) {
  g->detached = true;
  go(g, forever ? TK_RESUME_DETACH : TK_RESUME_CONTINUE);
}

void gs_end_launch(gs_stub *g) {
  if (g->detached) return;
  g->life = GS_LIVES;
  go(g, TK_RESUME_QUIT);
}

/* A client that may run the launch again does not lose it. */
void gs_on_kill(gs_stub *g, const char *rest) {
  (void)rest;
  bool answers = g->wire.packet.s[0] == 'v';
  if (g->client.extended && answers) {
    g->life = GS_ENDED;
    g->halt.listed = false;
    tk_buf_puts(&g->reply, "OK");
    return;
  }
  g->silent = true;
  if (answers) gs_wire_send(&g->wire, "OK", 2);
  gs_end_launch(g);
}
