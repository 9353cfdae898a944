/* output.c - instructions that talk to the user: print, assert, breakpoint. */
#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "interp/bind.h"
#include "interp/interp.h"

static tk_array_view view_of(tki *t, const tk_piece *p, bool hex) {
  tki_val *v = &t->frame->slots[p->slot];
  tk_array_view view = {.data = tki_lanes(v),
                        .hex = hex,
                        .dtype = (tk_dtype)p->type.elem,
                        .pointers = p->type.ptr > 0,
                        .rank = p->type.rank};
  int64_t step = 1;
  if (view.pointers) view.dtype = TK_UINT64;
  for (int i = p->type.rank - 1; i >= 0; i--) {
    view.shape[i] = p->type.shape[i];
    view.strides[i] = step;
    step *= p->type.shape[i];
  }
  return view;
}

static bool format_lane(tk_buf *out, tk_dtype d, const void *lane,
                        const char *spec) {
  return tk_is_float(d)
             ? tk_format_spec_double(out, tk_lane_double(d, lane), spec)
             : tk_format_spec_int(out, tk_lane_int(d, lane), spec);
}

/* A bracket for each axis that begins or ends before a lane. */
static void put_brackets(tk_buf *out, const tk_type *type, int64_t lane,
                         char bracket) {
  int64_t size = 1;
  for (int k = type->rank - 1; k >= 0; k--) {
    size *= type->shape[k];
    if (lane % size == 0) tk_buf_putc(out, bracket);
  }
}

/* What has a format: a scalar by it, a block as a list of lists, each lane by
 * it. */
static bool format_lanes(tk_buf *out, const tk_piece *p, tki_val *v) {
  tk_dtype d = (tk_dtype)p->type.elem;
  int64_t n = tk_numel(&p->type);
  size_t begin = out->n;
  if (p->type.ptr || !p->spec || !*p->spec) return false;
  for (int64_t i = 0; i < n; i++) {
    if (i) tk_buf_puts(out, ", ");
    put_brackets(out, &p->type, i, '[');
    if (!format_lane(out, d, tki_lane(v, (size_t)i, tk_dtypes[d].size),
                     p->spec)) {
      out->n = begin;
      return false;
    }
    put_brackets(out, &p->type, i + 1, ']');
  }
  return true;
}

/* Returns the column in which the text that is added next starts. */
static int column(const tk_buf *b) {
  size_t n = b->n;
  while (n && b->s[n - 1] != '\n') n--;
  return (int)(b->n - n);
}

static void format_pieces(tki *t, tk_buf *out, const tk_format *f) {
  for (size_t i = 0; i < f->n; i++) {
    const tk_piece *p = &f->pieces[i];
    if (p->text) {
      tk_buf_add(out, p->text, p->len);
    } else if (!format_lanes(out, p, &t->frame->slots[p->slot])) {
      tk_array_view v = view_of(t, p, f->hex);
      tk_format_array(out, &v, column(out), NULL);
    }
  }
}

/* Whether the program ids meet the conditions of the call, which may name other
 * values in their place. */
static bool wanted(tki *t, const tk_format *f) {
  int64_t pid[3];
  for (int i = 0; i < 3; i++)
    pid[i] = f->pid_slots[i] < 0
                 ? t->pid[i]
                 : (int64_t)tki_scalar_bits(&t->frame->slots[f->pid_slots[i]]);
  return tk_pids_match(&f->conds, pid);
}

void tki_run_PRINT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  const tk_format *f = tk_print_format(in);
  (void)frame;
  if (!t->session->output || !wanted(t, f)) return;
  tk_buf b;
  tk_buf_init(&b, t->env);
  if (f->pids)
    tk_buf_printf(&b, "(%" PRId64 ", %" PRId64 ", %" PRId64 ") ", t->pid[0],
                  t->pid[1], t->pid[2]);
  format_pieces(t, &b, f);
  tk_buf_putc(&b, '\n');
  tki_say(t, b.s, b.n);
  tk_buf_free(&b);
}

static void assertion_failed(tki *t, const tk_inst *in,
                             int64_t lane) TK_NORETURN;
static void assertion_failed(tki *t, const tk_inst *in, int64_t lane) {
  const tk_format *f = tk_assert_format(in);
  tk_buf b;
  tk_buf_init(&b, t->env);
  format_pieces(t, &b, f);
  tk_diag *d = tki_finding(t, TK_D_ASSERT, "assertion failed%s%s",
                           b.n ? ": " : "", tk_buf_str(&b));
  tk_buf_free(&b);
  if (in->n > 1)
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
                 "the first lane that fails is number %lld of %lld",
                 (long long)lane, (long long)in->n);
  tki_stop(t);
}

void tki_run_ASSERT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  if (!t->asserts) return;
  const uint8_t *c = tki_lanes(&frame[in->args[0]]);
  for (int64_t i = 0; i < in->n; i++)
    if (!c[i]) assertion_failed(t, in, i);
}

void tki_run_BREAKPOINT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  (void)frame;
  if (t->observers && wanted(t, tk_breakpoint_format(in)))
    TKI_TELL(t, breakpoint, t, in);
}
