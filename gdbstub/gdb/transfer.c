/* transfer.c - what the client reads piece by piece: descriptions, and files
 * that it believes to be on the machine of the program.  There are two kinds:
 * the symbols of the launch, and the sources of its
 * kernels. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "gdbstub/gdb/stub.h"

/* ---- objects ------------------------------------------------------------ */

/* Answers with the part OFFSET,LENGTH of an object: m begins the answer if more
 * of it follows, l if that was the last. */
static void reply_part(gs_stub *g, const char *rest, const char *s, size_t n) {
  uint64_t offset, length;
  if (!gs_take_hex(&rest, &offset) || !gs_take(&rest, ",") ||
      !gs_take_hex(&rest, &length) || offset > n) {
    gs_reply_error(g);
    return;
  }
  size_t left = n - (size_t)offset;
  size_t most = GS_PACKET_SIZE / 2 - 16; /* every byte may be escaped */
  if (length > most) length = most;
  tk_buf_putc(&g->reply, length < left ? 'm' : 'l');
  tk_buf_add(&g->reply, s + offset, length < left ? (size_t)length : left);
}

void gs_on_features(gs_stub *g, const char *rest) {
  if (!gs_take(&rest, "target.xml:")) {
    tk_buf_puts(&g->reply, "E00");
    return;
  }
  tk_buf_clear(&g->text);
  gs_machine_describe(g->machine, &g->text);
  reply_part(g, rest, g->text.s, g->text.n);
}

void gs_on_exec_file(gs_stub *g, const char *rest) {
  uint64_t process;
  gs_take_hex(&rest, &process);
  if (!gs_take(&rest, ":"))
    gs_reply_error(g);
  else
    reply_part(g, rest, g->symbols.path, strlen(g->symbols.path));
}

static const char *state_text(tk_program_state s) {
  switch (s) {
  case TK_PROGRAM_NOT_BEGUN: return "not begun";
  case TK_PROGRAM_CURRENT: return "runs next";
  case TK_PROGRAM_PAUSED: return "paused";
  case TK_PROGRAM_BLOCKED: return "waits for another";
  case TK_PROGRAM_DONE: return "done";
  }
  return "";
}

void gs_on_thread_list(gs_stub *g, const char *rest) {
  char name[GS_NAME];
  gs_list_programs(g);
  tk_buf_clear(&g->text);
  tk_buf_puts(&g->text, "<?xml version=\"1.0\"?><threads>");
  for (size_t i = 0; i < g->nprograms; i++) {
    const tk_debug_program *p = &g->programs[i];
    gs_name_program(p, name);
    tk_buf_printf(&g->text,
                  "<thread id=\"p1.%" PRIx64 "\" name=\"%s\">%s</thread>",
                  p->index + 1, name, state_text(p->state));
  }
  tk_buf_puts(&g->text, "</threads>");
  reply_part(g, rest, g->text.s, g->text.n);
}

/* ---- files -------------------------------------------------------------- */

/* Files are numbered: the symbols, then the sources of the session. */
enum { SYMBOLS = 3, SOURCES };

static bool file_numbered(gs_stub *g, uint64_t number, const char **s,
                          size_t *n) {
  tk_debug_source source;
  if (number == SYMBOLS && g->image) {
    *s = g->image->file->s;
    *n = g->image->file->n;
    return true;
  }
  if (number < SOURCES ||
      !tk_debug_source_at(g->d, (size_t)number - SOURCES, &source))
    return false;
  *s = source.text;
  *n = source.length;
  return true;
}

static void reply_no_entry(gs_stub *g) {
  enum { NO_ENTRY = 2 };
  tk_buf_printf(&g->reply, "F-1,%x", NO_ENTRY);
}

void gs_on_no_file(gs_stub *g, const char *rest) {
  (void)rest;
  reply_no_entry(g);
}

void gs_on_set_filesystem(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "F0");
}

/* Opens NAME,FLAGS,MODE; files can only be read. */
void gs_on_open(gs_stub *g, const char *rest) {
  uint64_t flags;
  tk_debug_source source;
  tk_buf_clear(&g->text);
  gs_take_text(&rest, &g->text);
  const char *name = tk_buf_str(&g->text);
  if (!gs_take(&rest, ",") || !gs_take_hex(&rest, &flags) || flags & 3) {
    reply_no_entry(g);
    return;
  }
  uint64_t number = !strcmp(name, g->symbols.path) ? SYMBOLS : 0;
  for (size_t i = 0; !number && tk_debug_source_at(g->d, i, &source); i++)
    if (gw_is_same_file(name,
                        gw_file_path(&g->scratch, g->folder, source.file)))
      number = SOURCES + i;
  if (number)
    tk_buf_printf(&g->reply, "F%" PRIx64, number);
  else
    reply_no_entry(g);
}

static void put_big_endian(tk_buf *b, uint64_t value, int size) {
  while (size--) tk_buf_putc(b, (char)(value >> (8 * size)));
}

/* Appendix E.13.9.3, struct stat: device, node, mode, links, owner, group,
 * device; size, block size, blocks; three times. */
void gs_on_stat(gs_stub *g, const char *rest) {
  const char *s;
  size_t n;
  uint64_t number;
  if (!gs_take_hex(&rest, &number) || !file_numbered(g, number, &s, &n)) {
    reply_no_entry(g);
    return;
  }
  tk_buf_puts(&g->reply, "F40;");
  for (int i = 0; i < 7; i++)
    put_big_endian(&g->reply, i == 2 ? S_IFREG | 0444 : 0, 4);
  put_big_endian(&g->reply, n, 8);
  put_big_endian(&g->reply, 512, 8);
  put_big_endian(&g->reply, (n + 511) / 512, 8);
  for (int i = 0; i < 3; i++) put_big_endian(&g->reply, 0, 4);
}

/* NUMBER,COUNT,OFFSET */
void gs_on_pread(gs_stub *g, const char *rest) {
  enum { MOST = GS_PACKET_SIZE / 2 - 32 };
  const char *s;
  size_t n;
  uint64_t number, count, offset;
  if (!gs_take_hex(&rest, &number) || !gs_take(&rest, ",") ||
      !gs_take_hex(&rest, &count) || !gs_take(&rest, ",") ||
      !gs_take_hex(&rest, &offset) || !file_numbered(g, number, &s, &n)) {
    reply_no_entry(g);
    return;
  }
  size_t left = offset < n ? n - (size_t)offset : 0;
  if (count > MOST) count = MOST;
  if (count > left) count = left;
  tk_buf_printf(&g->reply, "F%" PRIx64 ";", count);
  tk_buf_add(&g->reply, s + (left ? offset : 0), (size_t)count);
}

void gs_on_close(gs_stub *g, const char *rest) {
  (void)rest;
  tk_buf_puts(&g->reply, "F0");
}
