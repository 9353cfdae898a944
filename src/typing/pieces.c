/* pieces.c - text of which some values are known only when the program runs:
 * what print, assertions and f-strings are made of.
 */
#include <string.h>

#include "base/format.h"
#include "typing/emit.h"

void tks_piece_text(tks *s, tks_pieces *p, const char *text, size_t n) {
  if (!n) return;
  char *copy = tk_arena_strndup(s->arena, text, n);
  TK_PUSH(s->arena, p, ((tk_piece){.text = copy, .len = n, .slot = -1}));
}

typedef struct piece_job {
  tks *s;
  const sval *v;
  const char *spec;
  bool repr, ok;
} piece_job;

static void write_piece(tk_buf *out, void *ud) {
  piece_job *j = ud;
  const sval *v = j->v;
  if (!j->spec || !*j->spec)
    tks_text(j->s, out, v, j->repr);
  else if (v->kind == V_FLOAT)
    j->ok = tk_format_spec_double(out, v->f, j->spec);
  else if (v->kind == V_STR)
    j->ok = tk_format_spec_str(out, v->s, v->n, j->spec);
  else if (sv_is_number(v))
    j->ok = tk_format_spec_int(out, (int64_t)v->i, j->spec);
  else
    tks_text(j->s, out, v, j->repr);
}

void tks_piece_value(tks *s, tks_pieces *p, const sval *v, const char *spec,
                     bool repr) {
  if (v->kind == V_TENSOR) {
    TK_PUSH(s->arena, p,
            ((tk_piece){
                .slot = v->slot, .type = v->type, .spec = spec, .repr = repr}));
    return;
  }
  if (v->kind == V_FORMAT) {
    for (size_t i = 0; i < v->fmt->n; i++)
      TK_PUSH(s->arena, p, v->fmt->pieces[i]);
    return;
  }
  piece_job j = {s, v, spec, repr, true};
  size_t n;
  const char *text = tk_arena_text(s->arena, write_piece, &j, &n);
  if (!j.ok)
    tks_error(s, TK_D_VALUE, "invalid format specifier '%s' for %s", spec,
              tks_show(s, v));
  tks_piece_text(s, p, text, n);
}

static void write_pieces(tk_buf *out, void *ud) {
  const tks_pieces *p = ud;
  for (size_t i = 0; i < p->n; i++)
    tk_buf_add(out, p->items[i].text, p->items[i].len);
}

sval tks_piece_join(tks *s, const tks_pieces *p) {
  bool known = true;
  for (size_t i = 0; i < p->n; i++) known = known && p->items[i].text;
  if (!known) {
    tk_format *f = TK_NEW(s->arena, tk_format);
    *f = (tk_format){.pieces = p->items, .n = p->n};
    return (sval){.kind = V_FORMAT, .fmt = f};
  }
  tks_pieces all = *p;
  size_t n;
  const char *text = tk_arena_text(s->arena, write_pieces, &all, &n);
  return sv_str(text, n);
}
