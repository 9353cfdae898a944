/* window.c - block pointers and tensor descriptors, of the detector `bounds`.
 *
 * What they were made of is known beside the form (typing/origin.h), and held
 * against what runs: a block of a block pointer lies within the declared shape
 * along axes that boundary_check= does not name; a descriptor's base, its
 * strides and where its blocks begin are multiples of 16 bytes, as the hardware
 * wants it from compute capability 9.0 on, and Triton's interpreter too.  Where
 * the language is strict, some lane of a descriptor's block lies in its shape.
 */
#include <inttypes.h>

#include "interp/check/check.h"
#include "interp/check/window.h"
#include "interp/kernels.h"
#include "ir/language.h"

enum { ALIGNED = 16, FIRST_ARCH = 90 };

typedef struct tkc_windows {
  tkc *c;
  tki_observer observer;
  const tk_window_made **of; /* by instruction */
} tkc_windows;

static int64_t number_in(const tki *t, int slot) {
  const tki_frame *f = t->frame;
  uint64_t bits = tki_scalar_bits(&f->slots[slot]);
  return tk_lane_int((tk_dtype)f->func->slots[slot].type.elem, &bits);
}

/* ---- block pointers ------------------------------------------------------ */

static void report_shape(tkc_windows *w, tki *t, const tk_inst *in, int axis,
                         int64_t begin, int64_t end, int64_t length) {
  tk_diag *d = tkc_report(
      w->c, t, TK_D_BLOCK_SHAPE, NULL, NULL,
      "the block reaches %s the block pointer's shape along axis %d: it covers "
      "%" PRId64 " to %" PRId64 " of %" PRId64,
      begin < 0 ? "before" : "past", axis, begin, end - 1, length);
  tkc_help(w->c, d,
           "name the axis in boundary_check=, or give make_block_ptr the shape "
           "that may be %s",
           in->op == TK_I_LOAD ? "read" : "written");
  tkc_reported(w->c, t, d);
}

static void check_block(tkc_windows *w, tki *t, const tk_inst *in,
                        const tk_window_made *m) {
  for (int k = 0; k < m->rank; k++) {
    if (m->checked >> k & 1) continue;
    int64_t begin = number_in(t, m->offsets[k]);
    int64_t length = number_in(t, m->shape[k]);
    int64_t end = begin + m->block[k];
    if (begin >= 0 && end <= length) continue;
    report_shape(w, t, in, k, begin, end, length);
    return;
  }
}

/* ---- descriptors --------------------------------------------------------- */

static const char advice[] =
    "pad the rows of the tensor to a multiple of 16 bytes, or use pointers: "
    "the hardware does not see such a %s as an error, and moves other elements";

static tk_diag *report_descriptor(tkc_windows *w, tki *t,
                                  const tk_window_made *m, const char *text) {
  tkc_place made = {m->src, m->made}, here = tkc_here(t);
  tk_diag *d = tkc_report(w->c, t, TK_D_MISALIGNED, m->src ? &made : NULL, NULL,
                          "%s", text);
  if (m->src) tkc_note(w->c, d, &here, "it is used here");
  return d;
}

static bool check_strides(tkc_windows *w, tki *t, const tk_window_made *m) {
  for (int k = 0; k < m->rank - 1; k++) {
    int64_t stride = number_in(t, m->strides[k]);
    int64_t bytes = stride * (int64_t)m->size;
    if (bytes % ALIGNED == 0) continue;
    tk_diag *d = report_descriptor(
        w, t, m,
        tk_arena_printf(&w->c->run,
                        "the descriptor's stride along axis %d is %" PRId64
                        " elements, %" PRId64
                        " bytes: it must be a multiple of 16 bytes",
                        k, stride, bytes));
    tkc_help(w->c, d, advice, "stride");
    tkc_reported(w->c, t, d);
    return false;
  }
  return true;
}

static bool check_base(tkc_windows *w, tki *t, const tk_window_made *m) {
  uint64_t base = tki_scalar_bits(&t->frame->slots[m->base]);
  if (base % ALIGNED == 0) return true;
  tk_diag *d = report_descriptor(
      w, t, m,
      tk_arena_printf(
          &w->c->run,
          "the descriptor's base is %d bytes past a multiple of 16: "
          "it must be a multiple of 16 bytes",
          (int)(base % ALIGNED)));
  tkc_help(w->c, d,
           "begin at an aligned element, and add what is left to the offsets");
  tkc_reported(w->c, t, d);
  return false;
}

static void check_start(tkc_windows *w, tki *t, const tk_window_made *m) {
  if (m->offsets[m->rank - 1] < 0) return;
  int64_t from = number_in(t, m->offsets[m->rank - 1]);
  int64_t bytes = from * (int64_t)m->size;
  if (bytes % ALIGNED == 0) return;
  tk_diag *d = tkc_report(w->c, t, TK_D_MISALIGNED, NULL, NULL,
                          "the block begins at offset %" PRId64
                          " of the last axis, %" PRId64
                          " bytes: it must be a multiple of 16 bytes",
                          from, bytes);
  tkc_help(w->c, d,
           "begin at an aligned offset and leave lanes out, or use pointers");
  tkc_reported(w->c, t, d);
}

/* ---- blocks outside of the shape ----------------------------------------- */

static void outside_access(void *ud, tki *t, const tki_access *a) {
  tkc *c = ud;
  tki_stretch first = {0};
  if (tk_inst_window(a->in) != TK_W_DESCRIPTOR || tki_next_stretch(a, &first))
    return;
  const char *name =
      a->region == TKI_ANY ? "the tensor" : t->regions[a->region].name;
  tk_diag *d = tkc_report(c, t, TK_D_OUTSIDE, NULL, NULL,
                          "the block lies entirely outside of %s, where what a "
                          "%s does is undefined",
                          name, a->verb);
  tkc_help(c, d,
           "launch tl.cdiv(length, block) programs along the axis, or leave "
           "out with an if what is outside");
  tkc_reported(c, t, d);
}

static void see_outside(tkc *c, tki *t) {
  tki_observer *o = TK_NEW(&c->run, tki_observer);
  *o = (tki_observer){.ud = c, .access = outside_access, .rows = true};
  tki_observe(t, o);
}

/* ---- hooks --------------------------------------------------------------- */

static void window_access(void *ud, tki *t, const tki_access *a) {
  tkc_windows *w = ud;
  const tk_window_made *m = w->of[a->in->id];
  if (!m || m->in != a->in || !a->n) return;
  if (tk_inst_window(a->in) == TK_W_BLOCK_POINTER)
    check_block(w, t, a->in, m);
  else if (w->c->arch >= FIRST_ARCH && check_strides(w, t, m) &&
           check_base(w, t, m))
    check_start(w, t, m);
}

void tkc_windows_begin(tkc *c, tki *t) {
  const tk_unit *u = t->launch->unit;
  const tk_origin *o = &u->origin;
  if (tk_language_is_strict(t->program->language)) see_outside(c, t);
  if (!o->windows.n) return;
  tkc_windows *w = TK_NEW(&c->run, tkc_windows);
  *w = (tkc_windows){.c = c};
  w->of = TK_NEWN(&c->run, const tk_window_made *, t->program->ninsts + 1);
  for (size_t i = 0; i < o->windows.n; i++)
    w->of[o->windows.items[i].in->id] = &o->windows.items[i];
  w->observer = (tki_observer){.ud = w, .access = window_access, .rows = true};
  tki_observe(t, &w->observer);
}
