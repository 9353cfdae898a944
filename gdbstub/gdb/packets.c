/* packets.c - answers packets, by the table; those about the session itself
 * are here. */
#include <string.h>

#include "gdbstub/gdb/stub.h"

/* ---- the session -------------------------------------------------------- */

void gs_on_supported(gs_stub *g, const char *rest) {
  g->client.swbreak = strstr(rest, "swbreak+") != NULL;
  g->client.lldb = g->client.extended = false;
  tk_buf_printf(&g->reply,
                "PacketSize=%x;QStartNoAckMode+;multiprocess+;swbreak+;"
                "hwbreak+;vContSupported+;qXfer:features:read+;"
                "qXfer:exec-file:read+;qXfer:threads:read+;"
                "ConditionalBreakpoints+;ReverseStep+;ReverseContinue+;"
                "exec-events+;no-resumed+",
                GS_PACKET_SIZE);
}

void gs_on_no_acks(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "OK");
  gs_wire_send(&g->wire, g->reply.s, g->reply.n);
  tk_buf_clear(&g->reply);
  g->wire.acks = false;
  g->silent = true;
}

void gs_on_extended(gs_stub *g, const char *rest) {
  (void)rest;
  g->client.extended = true;
  tk_buf_puts(&g->reply, "OK");
}

void gs_on_attached(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, g->multi ? "1" : "0");
}

void gs_on_why(gs_stub *g, const char *rest) {
  (void)rest;
  gs_put_stop(g);
}

void gs_on_refused(gs_stub *g, const char *rest) {
  (void)rest;
  gs_reply_error(g);
}

/* ---- the table ---------------------------------------------------------- */

typedef struct packet {
  const char *name;
  void (*fn)(gs_stub *g, const char *rest);
  bool standing;
} packet;

static const packet packets[] = {
#define PACKET(name, fn, doc) {name, fn, false},
#define STANDING(name, fn, doc) {name, fn, true},
#include "gdbstub/gdb/packet.def"
#undef PACKET
#undef STANDING
};

static const packet *packet_named(const char *s) {
  const packet *best = NULL;
  for (size_t i = 0; i < TK_COUNT(packets); i++) {
    size_t n = strlen(packets[i].name);
    if (!strncmp(s, packets[i].name, n) && (!best || n > strlen(best->name)))
      best = &packets[i];
  }
  return best;
}

static void answer_packet(gs_stub *g) {
  const char *s = tk_buf_str(&g->wire.packet);
  const packet *p = packet_named(s);
  tk_buf_clear(&g->reply);
  g->silent = false;
  if (p && p->standing && !gs_has_process(g))
    gs_reply_error(g);
  else if (p)
    p->fn(g, s + strlen(p->name));
  if (!gs_goes_on(g) && !g->silent)
    gs_wire_send(&g->wire, tk_buf_str(&g->reply), g->reply.n);
  tk_arena_free(&g->scratch);
}

void gs_serve(gs_stub *g, int timeout) {
  TK_ASSERT(g->stop); /* the launch stands while packets are answered */
  while (!gs_goes_on(g)) {
    switch (gs_wire_next(&g->wire, timeout)) {
    case GS_PACKET: answer_packet(g); break;
    case GS_DAMAGED:
      gs_reply_error(g);
      gs_wire_send(&g->wire, g->reply.s, g->reply.n);
      break;
    case GS_CLOSED:
      gs_wire_close(&g->wire);
      if (g->life == GS_ENDED && !g->multi && !g->stop->over) gs_end_launch(g);
      return;
    case GS_BREAK: break; /* it stands already */
    case GS_NOTHING:
      if (timeout == 0) return;
      break;
    }
  }
}
