/* format.c - the text of a logpoint. */
#include "debug/format.h"

#include <string.h>

#include "debug/raise.h"
#include "debug/value.h"

static void bad_brace(tkd *d, const char *format, const char *at,
                      const char *what) TK_NORETURN;
static void bad_brace(tkd *d, const char *format, const char *at,
                      const char *what) {
  tkd_raise(d, BRACE, what, (int)(at - format) + 1, format);
}

void tkd_check_format(tkd *d, const char *format) {
  if (!format) tkd_raise(d, NO_TEXT);
  for (const char *s = format; *s; s++) {
    if ((*s == '{' || *s == '}') && s[1] == *s) {
      s++;
      continue;
    }
    if (*s == '}') bad_brace(d, format, s, "A '}' without a '{'");
    if (*s != '{') continue;
    size_t n = strcspn(s, "}");
    if (!s[n]) bad_brace(d, format, s, "A '{' without a '}'");
    const char *text = tk_temp(&d->mem, s + 1, n - 1);
    if (!text[strspn(text, " ")])
      bad_brace(d, format, s, "No expression between the braces");
    tkd_check_syntax(d, "expression", text);
    s += n;
  }
}

/* Text goes on to the next brace; of a doubled one it has the first. */
bool tk_debug_log_piece(const char **text, const char **piece, size_t *n,
                        bool *is_expression) {
  const char *s = *text;
  if (!*s) return false;
  bool twice = (*s == '{' || *s == '}') && s[1] == *s;
  *is_expression = *s == '{' && !twice;
  if (*is_expression) {
    size_t k = strcspn(s, "}");
    *piece = s + 1;
    *n = k ? k - 1 : 0;
    *text = s + k + (s[k] == '}');
    return true;
  }
  *piece = s;
  *n = twice ? 1 : 1 + strcspn(s + 1, "{}");
  *text = s + (twice ? 2 : *n);
  return true;
}
