/* blame.c - who wrote an element.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"

/* How many writes are listed, and the bytes of source shown of each. */
enum { SHOWN = 4, TEXT = 60 };

static void put_line(tk_buf *out, const tk_place *p) {
  const char *slash = strrchr(p->file, '/');
  tk_buf_printf(out, "    %s:%d: ", slash ? slash + 1 : p->file, p->line);
  tk_report_source(out, p, TEXT);
  tk_buf_putc(out, '\n');
}

static void put_write(tk_buf *out, const tk_write *w) {
  tk_buf_puts(out, "  program ");
  tk_buf_program(out, w->program);
  tk_buf_printf(out, "%s%s", w->atomic ? ": atomic, operand " : ": value ",
                w->value.text);
  if (w->in_loop) tk_buf_printf(out, ", loop trip %" PRIu64, w->trip);
  tk_buf_puts(out, w->masked ? ", mask true\n" : ", no mask\n");
  put_line(out, &w->place);
}

static void put_nearest(tk_buf *out, const tk_write *w, const char *where) {
  tk_buf_printf(out, "  the nearest write %s it: %s, by program ", where,
                w->element.text);
  tk_buf_program(out, w->program);
  tk_buf_putc(out, '\n');
  put_line(out, &w->place);
}

void tk_report_blame(tk_buf *out, const tk_blame *b) {
  tk_buf_printf(out, "%s = %s", b->element.text,
                b->value.text ? b->value.text : "");
  if (!b->times) {
    tk_buf_puts(out, ": no program wrote it\n");
    if (b->before) put_nearest(out, b->before, "before");
    if (b->after) put_nearest(out, b->after, "after");
    return;
  }
  if (b->times == 1)
    tk_buf_puts(out, ": written once\n");
  else
    tk_buf_printf(out, ": written %" PRIu64 " times, last first\n", b->times);
  for (size_t i = 0; i < b->nwrites && i < SHOWN; i++)
    put_write(out, &b->writes[i]);
  if (b->times <= SHOWN) return;
  tk_buf_printf(out, "  and %" PRIu64 " time%s before that, first by\n",
                b->times - SHOWN, tk_report_s(b->times - SHOWN));
  put_write(out, b->first);
}
