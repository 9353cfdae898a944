/* stop.c - tells the client why the launch has stopped. */
#include <inttypes.h>
#include <string.h>

#include "gdbstub/gdb/stub.h"

/* Signals, as gdb numbers them (include/gdb/signals.def). */
enum {
  SIGNAL_INT = 2,
  SIGNAL_TRAP = 5,
  SIGNAL_ABORT = 6,
  SIGNAL_FPE = 8,
  SIGNAL_SEGV = 11
};

/* The signal that a processor would raise for this kind of finding. */
int gs_signal_of(const tk_debug_stop *s) {
  if (s->reason == TK_STOP_INTERRUPT) return SIGNAL_INT;
  if (s->reason == TK_STOP_RAISED) return SIGNAL_ABORT;
  if (s->reason != TK_STOP_FINDING || !s->nfindings) return SIGNAL_TRAP;
  switch (s->findings[s->nfindings - 1]->kind) {
  case TK_D_BOUNDS:
  case TK_D_NULL_POINTER:
  case TK_D_WILD_POINTER:
  case TK_D_READ_ONLY:
  case TK_D_MISALIGNED: return SIGNAL_SEGV;
  case TK_D_ASSERT: return SIGNAL_ABORT;
  case TK_D_DIVISION: return SIGNAL_FPE;
  default: return SIGNAL_TRAP;
  }
}

/* ---- watchpoints --------------------------------------------------------
 *
 * A statement may change what several of them watch, and a reply names one
 * address: the client takes it that all watchpoints which hold this address
 * were hit, and no other.  So the address is one that most of them hold; the
 * rest are told, one after another, when the client wants to go on. */

/* The address of the first lane that has changed. */
static uint64_t changed_address(const gs_point *p, const tk_debug_change *c) {
  uint64_t lanes = 1;
  for (int i = 0; i < c->now.type.rank; i++)
    lanes *= (uint64_t)c->now.type.shape[i];
  bool whole = c->now.path && !*c->now.path && p->size % lanes == 0;
  if (!c->lanes || !whole) return p->address;
  return p->address + (uint64_t)c->first_lane * (p->size / lanes);
}

bool gs_keep_hits(gs_stub *g) {
  bool changed = false;
  for (size_t i = 0; i < g->stop->nchanges && g->nhits < GS_HITS; i++) {
    const tk_debug_change *c = &g->stop->changes[i];
    const gs_point *p = gs_point_numbered(g, c->point);
    if (!p) continue;
    g->hits[g->nhits++] =
        (gs_hit){p->type, p->address, p->size, changed_address(p, c)};
    changed |= !c->reads;
  }
  return changed;
}

static bool holds(const gs_hit *h, uint64_t address) {
  return address - h->address < h->size;
}

const gs_hit *gs_watchpoint_hit(const gs_stub *g) {
  const gs_hit *best = NULL;
  for (size_t i = 0, most = 0; i < g->nhits; i++) {
    size_t n = 0;
    for (size_t k = 0; k < g->nhits; k++)
      n += holds(&g->hits[k], g->hits[i].at);
    if (n <= most) continue;
    most = n;
    best = &g->hits[i];
  }
  return best;
}

bool gs_has_next_hit(gs_stub *g) {
  const gs_hit *told = gs_watchpoint_hit(g);
  if (!told) return false;
  uint64_t at = told->at;
  size_t n = 0;
  for (size_t i = 0; i < g->nhits; i++)
    if (!holds(&g->hits[i], at) && gs_has_watchpoint(g, &g->hits[i]))
      g->hits[n++] = g->hits[i];
  g->nhits = n;
  return n > 0;
}

static void put_watchpoint(gs_stub *g, const gs_hit *h) {
  static const char *const names[] = {"watch", "rwatch", "awatch"};
  TK_ASSERT(h->type >= 2 && h->type <= 4);
  tk_buf_printf(&g->reply, "%s:%" PRIx64 ";", names[h->type - 2], h->at);
}

/* ---- the reply ---------------------------------------------------------- */

static void put_register(gs_stub *g, int number, uint64_t value) {
  tk_buf_printf(&g->reply, "%02x:", number);
  gs_reply_hex(g, &value, sizeof value);
  tk_buf_putc(&g->reply, ';');
}

/* Lists all threads, which saves lldb a request after each stop. */
static void put_threads(gs_stub *g) {
  gs_list_programs(g);
  tk_buf_puts(&g->reply, "threads:");
  for (size_t i = 0; i < g->nprograms; i++)
    tk_buf_printf(&g->reply, "%s%" PRIx64, i ? "," : "",
                  g->programs[i].index + 1);
  tk_buf_putc(&g->reply, ';');
}

void gs_put_stop(gs_stub *g) {
  tk_buf_clear(&g->reply);
  if (!gs_has_process(g)) {
    tk_buf_printf(&g->reply, "W%02x;process:1", g->code & 0xff);
    return;
  }
  if (g->here == TK_DEBUG_NO_PROGRAM) {
    tk_buf_puts(&g->reply, "N"); /* no program is left to look at */
    return;
  }
  gs_place p = gs_place_of(g, g->here);
  const gs_hit *watched = gs_watchpoint_hit(g);
  tk_buf_printf(&g->reply, "T%02x", gs_signal_of(g->stop));
  if (g->symbols.is_new && !g->client.lldb) {
    tk_buf_puts(&g->reply, "exec:");
    gs_reply_hex(g, g->symbols.path, strlen(g->symbols.path));
    tk_buf_putc(&g->reply, ';');
  } else if (g->stop->reason == TK_STOP_HISTORY || g->halt.no_past)
    tk_buf_puts(&g->reply, "replaylog:begin;");
  else if (watched)
    put_watchpoint(g, watched);
  else if (g->client.swbreak && gs_has_breakpoint(g, p.pc))
    tk_buf_puts(&g->reply, "swbreak:;");
  put_register(g, g->machine->frame, p.rbp);
  put_register(g, g->machine->stack, p.rsp);
  put_register(g, g->machine->pc, p.pc);
  tk_buf_puts(&g->reply, "thread:");
  gs_put_thread(g, g->here);
  tk_buf_putc(&g->reply, ';');
  if (g->client.lldb) put_threads(g);
}

/* The script has failed, and its last launch is at its beginning again. */
static void tell_failure(gs_stub *g) {
  tk_buf_clear(&g->text);
  tk_buf_printf(&g->text,
                "The script raised %s\n"
                "Its last launch, %" PRIu64
                ", runs again from here; 'continue' ends the script.\n",
                g->stop->text, g->stop->launch);
  gs_console(g, g->text.s, g->text.n);
}

void gs_tell_stop(gs_stub *g) {
  if (g->stop->reason == TK_STOP_RAISED) tell_failure(g);
  for (size_t i = 0; i < g->stop->nfindings; i++) {
    const tk_finding *f = g->stop->findings[i];
    const char *text = tk_debug_finding_text(g->d, f, false);
    gs_console(g, text, strlen(text));
    /* at a lending terminal, the user has not seen it yet */
    if (!gs_is_lent(g)) tk_debug_told(g->d, f);
  }
  gs_put_stop(g);
  gs_wire_send(&g->wire, g->reply.s, g->reply.n);
}
