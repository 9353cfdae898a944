/* lldb.c - what lldb asks beyond what gdb does.
 *
 * Source: LLVM's "GDB Remote Protocol Extensions"
 * (lldb-gdb-remote). */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/gdb/stub.h"

static void put_key(gs_stub *g, const char *key, const char *text) {
  tk_buf_printf(&g->reply, "%s:", key);
  gs_reply_hex(g, text, strlen(text));
  tk_buf_putc(&g->reply, ';');
}

/* The process belongs to no operating system, so that lldb looks for nothing
 * that one would provide. */
static void put_machine(gs_stub *g) {
  put_key(g, "triple", g->machine->triple);
  tk_buf_puts(&g->reply, "endian:little;ptrsize:8;");
}

void gs_on_host(gs_stub *g, const char *rest) {
  char name[256] = "";
  (void)rest;
  put_machine(g);
  tk_buf_puts(&g->reply, "watchpoint_exceptions_received:after;");
  if (gethostname(name, sizeof name - 1) == 0) put_key(g, "hostname", name);
}

void gs_on_process(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "pid:1;");
  put_machine(g);
}

/* Only lldb asks for this. */
void gs_on_lldb(gs_stub *g, const char *rest) {
  (void)rest;
  g->client.lldb = true;
  tk_buf_puts(&g->reply, "OK");
}

void gs_on_watch_support(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "num:1024;");
}

/* Describes all registers by number, so that lldb need not ask for each. */
static void put_registers(gs_stub *g, const gs_place *p) {
  const uint64_t values[] = {p->rbp, p->rsp, p->pc};
  const gs_machine *m = g->machine;
  const int numbers[] = {m->frame, m->stack, m->pc};
  tk_buf_puts(&g->reply, ",\"registers\":{");
  for (size_t i = 0; i < TK_COUNT(numbers); i++) {
    tk_buf_printf(&g->reply, "%s\"%d\":\"", i ? "," : "", numbers[i]);
    gs_reply_hex(g, &values[i], sizeof values[i]);
    tk_buf_putc(&g->reply, '"');
  }
  tk_buf_putc(&g->reply, '}');
}

/* Without a reason, lldb would take a program that stands at the address of a
 * breakpoint for one that has stopped there, before it has got there. */
static void put_reason(gs_stub *g, uint64_t program) {
  const gs_hit *w = gs_watchpoint_hit(g);
  if (program != g->here) {
    tk_buf_puts(&g->reply, ",\"reason\":\"trap\"");
    return;
  }
  tk_buf_printf(&g->reply, ",\"signal\":%d", gs_signal_of(g->stop));
  if (w)
    tk_buf_printf(&g->reply,
                  ",\"reason\":\"watchpoint\",\"description\":\"%" PRIu64
                  " 0 %" PRIu64 "\"",
                  w->address, w->address);
}

void gs_on_threads_info(gs_stub *g, const char *rest) {
  char name[GS_NAME];
  (void)rest;
  gs_list_programs(g);
  tk_buf_putc(&g->reply, '[');
  for (size_t i = 0; i < g->nprograms; i++) {
    const tk_debug_program *p = &g->programs[i];
    gs_place at = gs_place_of(g, p->index);
    gs_name_program(p, name);
    tk_buf_printf(&g->reply, "%s{\"tid\":%" PRIu64 ",\"name\":\"%s\"",
                  i ? "," : "", p->index + 1, name);
    put_reason(g, p->index);
    put_registers(g, &at);
    tk_buf_putc(&g->reply, '}');
  }
  tk_buf_putc(&g->reply, ']');
}
