/* diag_json.c - findings as JSON objects.
 */
#include "diag.h"

#include <string.h>

/* Length of the UTF-8 sequence at s, 0 if it is not one. */
static size_t utf8_length(const unsigned char *s, size_t n) {
  size_t len = s[0] < 0x80   ? 1
               : s[0] < 0xC2 ? 0
               : s[0] < 0xE0 ? 2
               : s[0] < 0xF0 ? 3
               : s[0] < 0xF5 ? 4
                             : 0;
  if (len > n) return 0;
  for (size_t i = 1; i < len; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (len == 3 && s[0] == 0xE0 && s[1] < 0xA0) return 0;
  if (len == 3 && s[0] == 0xED && s[1] > 0x9F) return 0;
  if (len == 4 && s[0] == 0xF0 && s[1] < 0x90) return 0;
  if (len == 4 && s[0] == 0xF4 && s[1] > 0x8F) return 0;
  return len;
}

void tk_json_string(tk_buf *out, const char *s, size_t n) {
  tk_buf_putc(out, '"');
  for (size_t i = 0; i < n;) {
    unsigned char c = (unsigned char)s[i];
    size_t len = utf8_length((const unsigned char *)s + i, n - i);
    if (c == '"' || c == '\\')
      tk_buf_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7F)
      tk_buf_printf(out, "\\u%04x", c);
    else if (len == 0)
      tk_buf_puts(out, "\\ufffd");
    else
      tk_buf_add(out, s + i, len);
    i += len ? len : 1;
  }
  tk_buf_putc(out, '"');
}

/* XML has no way to write most control characters. */
static bool is_in_markup(unsigned char c) {
  return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
}

void tk_markup_text(tk_buf *out, const char *s, size_t n) {
  for (size_t i = 0, len; i < n; i += len ? len : 1) {
    len = utf8_length((const unsigned char *)s + i, n - i);
    switch (s[i]) {
    case '&': tk_buf_puts(out, "&amp;"); break;
    case '<': tk_buf_puts(out, "&lt;"); break;
    case '>': tk_buf_puts(out, "&gt;"); break;
    case '"': tk_buf_puts(out, "&quot;"); break;
    default:
      if (len && is_in_markup((unsigned char)s[i]))
        tk_buf_add(out, s + i, len);
      else
        tk_buf_puts(out, "\xEF\xBF\xBD");
    }
  }
}

static void put_string(tk_buf *out, const char *key, const char *s) {
  tk_buf_printf(out, "\"%s\": ", key);
  tk_json_string(out, s, strlen(s));
}

static void json_place(tk_buf *out, const tk_place *p) {
  if (!p->file) return;
  put_string(out, "file", p->file);
  tk_buf_printf(out, ", \"line\": %d, \"column\": %d, \"length\": %u, ",
                p->line, p->column, p->length);
  if (p->origin) put_string(out, "origin", p->origin), tk_buf_puts(out, ", ");
}

void tk_finding_json(tk_buf *out, const tk_finding *f) {
  tk_buf_printf(out, "{\"kind\": \"%s\", \"severity\": \"%s\", ",
                tk_finding_kind_name(f->kind), tk_severity_name(f->severity));
  json_place(out, &f->place);
  tk_buf_printf(out, "\"count\": %llu, ", (unsigned long long)f->count);
  if (f->has_program)
    tk_buf_printf(out, "\"program\": [%lld, %lld, %lld], ",
                  (long long)f->program[0], (long long)f->program[1],
                  (long long)f->program[2]);
  if (f->lane_text) tk_buf_printf(out, "\"lane\": %s, ", f->lane_text);
  put_string(out, "message", f->message);
  if (f->help) tk_buf_puts(out, ", "), put_string(out, "help", f->help);
  tk_buf_puts(out, ", \"notes\": [");
  for (const tk_finding_note *n = f->notes; n; n = n->next) {
    tk_buf_putc(out, '{');
    json_place(out, &n->place);
    put_string(out, "text", n->text);
    tk_buf_puts(out, n->next ? "}, " : "}");
  }
  tk_buf_puts(out, "]}");
}
