/* remedy.c - words for what can be done about a fault. */
#include "base/remedy.h"

#include <string.h>

static const char *const words[TK_REMEDIES][TK_FRONTS] = {
#define REMEDY(id, commands, gdb, editor)                                      \
  [TK_REMEDY_##id] = {commands, gdb, editor},
#include "tkdbg/remedy.def"
#undef REMEDY
};

const char *tk_remedy_words(tk_remedy remedy, tk_front front) {
  TK_ASSERT(remedy < TK_REMEDIES && front < TK_FRONTS);
  return words[remedy][front];
}

static void put_words(tk_buf *out, const char *s, const char *about) {
  for (; *s; s++)
    if (*s == '@')
      tk_buf_puts(out, about);
    else
      tk_buf_putc(out, *s);
}

void tk_put_fault(tk_buf *out, const tk_debug_fault *f, bool full,
                  tk_front front) {
  const char *said = full ? f->text : f->message;
  const char *what = tk_remedy_words(f->remedy, front);
  size_t n = strlen(said);
  TK_ASSERT(!what || (n && said[n - 1] == '.'));
  tk_buf_add(out, said, what ? n - 1 : n);
  if (!what) return;
  tk_buf_puts(out, ": ");
  put_words(out, what, f->about);
  tk_buf_putc(out, '.');
}
