/* step.c - what a program that is kept does, statement by statement.
 *
 * A step is a statement of the user's code in one trip of the loops around it.
 * It opens with the first instruction of the statement, and closes when one of
 * another statement begins.  What tkdbg's own functions do belongs to the
 * statement that called them; functions that an operation calls for its lanes
 * have no steps.
 *
 * A program may take a share of the page.  When some of it is used up fewer
 * lanes are kept, then none, and in the end no further steps; they are counted.
 */
#include "view/run.h"

#include "interp/check/undefined.h"
#include "interp/settled.h"

/* Lanes that are kept of a value at first; later on. */
enum { MANY_LANES = 1024, SOME_LANES = 256, FEW_LANES = 64 };
/* Stretches of an access that is not affine. */
enum { MOST_STRETCHES = 512 };

static size_t bytes_of(const tkw_program *p) {
  return p->steps.n + p->values.n + p->accesses.n + p->ops.n + p->undefined.n;
}

/* How many lanes of a value there is room for. */
static size_t lanes_now(const tkw_run *r, const tkw_program *p) {
  size_t used = bytes_of(p), share = r->share;
  if (used < share / 4) return MANY_LANES;
  if (used < share / 2) return SOME_LANES;
  return used < share / 4 * 3 ? FEW_LANES : 0;
}

/* ---- steps --------------------------------------------------------------- */

/* A loop of a frame, after those around it. */
static void put_loop(tk_buf *out, const tki_frame *f, const tki_loop *l,
                     const char **comma) {
  if (!l) return;
  put_loop(out, f, l->outer, comma);
  const tk_stmt *st = l->stmt;
  tk_buf_printf(out, "%s[%d,%llu", *comma,
                tk_source_line(f->func->src, st->span.lo),
                (unsigned long long)l->trip);
  if (st->kind == TK_S_FOR && f->func->slots[st->iv].name) {
    const tk_slot *slot = &f->func->slots[st->iv];
    tk_buf_printf(out, ",\"%s\",", slot->name);
    tkw_put_lane(out, (tk_dtype)slot->type.elem, tki_lanes(&f->slots[st->iv]));
  }
  tk_buf_putc(out, ']');
  *comma = ",";
}

static void put_loops(tk_buf *out, const tki_frame *f, const char **comma) {
  if (!f) return;
  put_loops(out, f->caller, comma);
  put_loop(out, f, f->loops, comma);
}

static void put_callers(tk_buf *out, const tki_frame *f, const char **comma) {
  if (!f) return;
  put_callers(out, f->caller, comma);
  if (f->func->library || !f->inst) return;
  tk_buf_printf(out, "%s%d", *comma,
                tk_source_line(f->func->src, f->inst->span.lo));
  *comma = ",";
}

static void open_step(tkw_program *p, const tki_frame *f, tk_span span) {
  tk_buf *out = &p->steps;
  const tk_source *src = f->func->src;
  const char *comma = "";
  if (p->nsteps++) tk_buf_putc(out, ',');
  tk_buf_puts(out, "\n{\"function\":");
  tk_buf_printf(out, "%u,\"line\":%d", f->func->id,
                tk_source_line(src, span.lo));
  int last = tk_source_line(src, span.hi > span.lo ? span.hi - 1 : span.lo);
  if (last != tk_source_line(src, span.lo))
    tk_buf_printf(out, ",\"last\":%d", last);
  tk_buf_puts(out, ",\"loops\":[");
  put_loops(out, f, &comma);
  tk_buf_putc(out, ']');
  if (f->caller) {
    comma = "";
    tk_buf_puts(out, ",\"callers\":[");
    put_callers(out, f->caller, &comma);
    tk_buf_putc(out, ']');
  }
  p->open = true;
  p->nvalues = p->nfrom = 0;
  p->in = p->ended = NULL;
}

void tkw_step_close(tkw_program *p) {
  const struct {
    const char *key;
    tk_buf *list;
  } lists[] = {{"values", &p->values},
               {"accesses", &p->accesses},
               {"ops", &p->ops},
               {"undefined", &p->undefined}};
  if (!p->open) return;
  for (size_t i = 0; i < TK_COUNT(lists); i++) {
    if (!lists[i].list->n) continue;
    tk_buf_printf(&p->steps, ",\"%s\":[", lists[i].key);
    tk_buf_add(&p->steps, lists[i].list->s, lists[i].list->n);
    tk_buf_putc(&p->steps, ']');
    tk_buf_clear(lists[i].list);
  }
  tk_buf_putc(&p->steps, '}');
  p->open = false;
  p->frame = NULL;
}

static uint64_t trips_of(const tki_frame *f) {
  uint64_t x = 0;
  for (; f; f = f->caller)
    for (const tki_loop *l = f->loops; l; l = l->outer)
      x = x * 0x9E3779B97F4A7C15u + l->trip + 1;
  return x;
}

/* Whether a frame was called by the user's own code, not for the lanes of an
 * operation. */
static bool is_followed(const tki_frame *f) {
  for (; f->caller; f = f->caller)
    if (!tki_call_of(f)) return false;
  return true;
}

/* The frame of the user's whose statement runs, with its step open; NULL: what
 * happens is not kept. */
static const tki_frame *followed_step(const tkw_run *r, tkw_program *p,
                                      tki *t) {
  const tki_frame *f = tki_user_frame(t->frame);
  if (!f->stmt || !is_followed(t->frame)) return NULL;
  uint64_t trips = trips_of(f);
  if (p->frame == f && p->stmt == f->stmt && p->trips == trips)
    return p->open ? f : NULL;
  tkw_step_close(p);
  p->frame = f;
  p->stmt = f->stmt;
  p->trips = trips;
  if (bytes_of(p) > r->share) {
    p->dropped++;
    return NULL;
  }
  open_step(p, f, f->stmt->span);
  return f;
}

/* ---- values -------------------------------------------------------------- */

/* Returns its number in the step. */
static size_t put_slot(const tkw_run *r, tkw_program *p, const tki *t,
                       const tk_func *f, int slot, const tki_val *v) {
  const tk_slot *x = &f->slots[slot];
  if (p->nvalues) tk_buf_putc(&p->values, ',');
  tkw_put_value(&p->values, t, f->library ? NULL : x->name, &x->type, v,
                lanes_now(r, p));
  return p->nvalues++;
}

/* [number, first, count, ...] of the lanes of a value that are undefined. */
static void put_undefined(const tkw_run *r, tkw_program *p, tki *t, int slot,
                          size_t number) {
  tk_buf *out = &p->undefined;
  if (!r->follows || bytes_of(p) > r->share) return;
  tki_val marks = tkc_undefined_slot(t, t->frame, slot);
  if (!tkc_any_undefined(&marks)) return;
  size_t n = (size_t)tk_numel(&t->frame->func->slots[slot].type), stretches = 0;
  const uint8_t *lane = tki_lanes(&marks);
  tk_buf_printf(out, "%s[%zu", out->n ? "," : "", number);
  for (size_t i = 0, k; i < n && stretches < MOST_STRETCHES; i = k) {
    for (k = i; k < n && lane[k] == lane[i];) k++;
    if (!lane[i]) continue;
    tk_buf_printf(out, ",%zu,%zu", i, k - i);
    stretches++;
  }
  tk_buf_putc(out, ']');
  tki_release(t, &marks);
}

/* Whether a slot holds all that its type says: not a part that stands for a
 * block, not nothing. */
static bool is_whole(const tk_func *f, int slot, const tki_val *v) {
  const tk_type *type = &f->slots[slot].type;
  return tki_has_value(v, type) && !tki_part_of(v) && !type->to_block;
}

/* ... a user's function begins: what is the same whenever it runs. */
void tkw_step_frame(tkw_run *r, tkw_program *p, tki *t) {
  const tki_frame *f = t->frame;
  const tk_func *func = f->func;
  if (func->library || !t->settled_values || !is_followed(f)) return;
  const tki_settled_func *all = &t->settled->funcs[func->id];
  for (size_t i = 0; i < all->n; i++) {
    const tk_inst *in = all->insts[i];
    int slot = in->nres ? in->res[0] : -1;
    if (slot < 0 || !func->slots[slot].name) continue;
    if (!is_whole(func, slot, &f->slots[slot])) continue;
    tkw_step_close(p);
    open_step(p, f, in->span);
    put_slot(r, p, t, func, slot, &f->slots[slot]);
  }
  tkw_step_close(p);
}

/* ---- instructions -------------------------------------------------------- */

/* Operations that are drawn with what they work on: how many operands. */
static size_t shown_operands(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  bool along = lanes == TK_LANES_REDUCES || lanes == TK_LANES_SCANS;
  bool shown = along || lanes == TK_LANES_PRODUCT;
  if (!shown) return 0;
  return in->nargs < 3 ? in->nargs : 3;
}

/* The operand that a write stores; -1: it is no write. */
static int stored_operand(const tk_inst *in) {
  return in->op == TK_I_STORE    ? tk_store_value(in)
         : in->op == TK_I_ATOMIC ? tk_atomic_value(in)
         : in->op == TK_I_CAS    ? tk_atomic_cas_value(in)
                                 : -1;
}

static void put_operand(tkw_run *r, tkw_program *p, tki *t, const tk_inst *in,
                        int k, const tki_val *slots) {
  int slot = in->args[k];
  if (!is_whole(t->frame->func, slot, &slots[slot])) return;
  size_t number = put_slot(r, p, t, t->frame->func, slot, &slots[slot]);
  p->from[p->nfrom++] = number;
  put_undefined(r, p, t, slot, number);
}

void tkw_step_begins(tkw_run *r, tkw_program *p, tki *t, const tk_inst *in,
                     const tki_val *slots) {
  if (!followed_step(r, p, t)) return;
  int stored = stored_operand(in);
  size_t n = t->frame->func->library ? 0 : shown_operands(in);
  if (stored < 0 && !n) return;
  p->in = in;
  p->nfrom = 0;
  if (stored >= 0) put_operand(r, p, t, in, stored, slots);
  for (size_t k = 0; k < n; k++) put_operand(r, p, t, in, (int)k, slots);
}

static void put_operation(tkw_program *p, const tk_inst *in, size_t result) {
  tk_buf *out = &p->ops;
  if (out->n) tk_buf_putc(out, ',');
  tk_buf_printf(out, "{\"op\":\"%s\"", tk_inst_name((tk_opcode)in->op));
  if (*tk_mode_name(in))
    tk_buf_printf(out, ",\"mode\":\"%s\"", tk_mode_name(in));
  if (tk_inst_has_axis((tk_opcode)in->op))
    tk_buf_printf(out, ",\"axis\":%d", tk_inst_axis(in));
  tk_buf_puts(out, ",\"from\":[");
  for (size_t i = 0; i < p->nfrom; i++)
    tk_buf_printf(out, "%s%zu", i ? "," : "", p->from[i]);
  tk_buf_printf(out, "],\"to\":%zu}", result);
}

/* Whether a result is shown: it has a name, or its instruction is shown. */
static bool is_shown(const tk_func *f, const tk_inst *in, int slot,
                     bool operation, const tki_val *slots) {
  bool named = f->slots[slot].name && !f->library;
  bool reads =
      in->op == TK_I_LOAD || in->op == TK_I_ATOMIC || in->op == TK_I_CAS;
  return (named || operation || reads) && is_whole(f, slot, &slots[slot]);
}

void tkw_step_undefined(const tkw_run *r, tkw_program *p, tki *t,
                        const tk_inst *in) {
  const tk_func *f = t->frame->func;
  if (!p->open || p->ended != in) return;
  size_t number = p->first_result;
  for (size_t k = 0; k < in->nres; k++)
    if (is_shown(f, in, in->res[k], p->operation, t->frame->slots))
      put_undefined(r, p, t, in->res[k], number++);
  p->ended = NULL;
}

void tkw_step_ends(tkw_run *r, tkw_program *p, tki *t, const tk_inst *in,
                   const tki_val *slots) {
  const tk_func *f = t->frame->func;
  if (!followed_step(r, p, t)) return;
  bool operation = p->in == in && p->nfrom && shown_operands(in);
  p->ended = in;
  p->operation = operation;
  p->first_result = p->nvalues;
  for (size_t k = 0; k < in->nres; k++) {
    int slot = in->res[k];
    if (!is_shown(f, in, slot, operation, slots)) continue;
    size_t number = put_slot(r, p, t, f, slot, &slots[slot]);
    if (operation) put_operation(p, in, number);
  }
  if (p->in == in) p->in = NULL, p->nfrom = 0;
}

/* ---- accesses ------------------------------------------------------------ */

/* Addresses that are affine, in elements of the tensor; the mask as a box. */
static bool put_affine_access(tk_buf *out, const tki_access *a,
                              const tki_region *r) {
  const tki_sym *s = a->pointer ? tki_symbol(a->pointer) : NULL;
  const tki_sym *box = a->active ? tki_symbol(a->active) : NULL;
  if (!s || !r || !r->tensor) return false;
  if (!tkw_put_elements(out, s, r)) return false;
  if (box) tkw_put_box(out, box);
  return true;
}

/* [lane, element, count, ...] of the active lanes, in one tensor. */
static void put_stretches(tk_buf *out, const tki_access *a, tki *t) {
  tki_stretch x = {0};
  size_t n = 0, left = 0;
  int tensor = -1;
  tk_buf_puts(out, ",\"runs\":[");
  while (a->n && tki_next_stretch(a, &x)) {
    const tki_region *r = tki_access_region(a, x.lane);
    if (!r || !r->tensor) continue;
    if (tensor < 0) tensor = (int)(r - t->regions);
    if (n == MOST_STRETCHES || tensor != (int)(r - t->regions)) {
      left++;
      continue;
    }
    tk_buf_printf(out, "%s%zu,%lld,%zu", n++ ? "," : "", x.lane,
                  (long long)tkw_element(r, x.addr), x.n);
  }
  tk_buf_putc(out, ']');
  if (tensor >= 0) tk_buf_printf(out, ",\"tensor\":%d", tensor);
  if (left) tk_buf_printf(out, ",\"left_out\":%zu", left);
}

void tkw_step_access(tkw_run *r, tkw_program *p, tki *t, const tki_access *a) {
  tk_buf *out = &p->accesses;
  const tki_region *region =
      a->region != TKI_ANY ? &t->regions[a->region] : NULL;
  if (a->barrier || !followed_step(r, p, t)) return;
  if (out->n) tk_buf_putc(out, ',');
  tk_buf_printf(out, "{\"op\":\"%s\",\"line\":%d",
                a->in->op == TK_I_ATOMIC ? tk_mode_name(a->in)
                                         : tk_inst_name((tk_opcode)a->in->op),
                tk_source_line(tki_user_frame(t->frame)->func->src,
                               tki_user_frame(t->frame)->inst->span.lo));
  tkw_put_shape(out, &a->in->type);
  if (a->in->op != TK_I_LOAD && p->in == a->in && p->nfrom)
    tk_buf_printf(out, ",\"value\":%zu", p->from[0]);
  else if (a->in->op == TK_I_LOAD)
    tk_buf_printf(out, ",\"value\":%zu", p->nvalues);
  if (a->in->op == TK_I_LOAD && tk_load_other(a->in) < 0)
    tk_buf_puts(out, ",\"undefined\":true");
  if (put_affine_access(out, a, region))
    tk_buf_printf(out, ",\"tensor\":%d", (int)a->region);
  else
    put_stretches(out, a, t);
  tk_buf_putc(out, '}');
}
