/* flow_sink.c - where marks matter: memory, branches, mixtures.
 *
 * An undefined lane is reported where it is used, with a note on where it
 * came from; a lane that went wrong is reported at its source, with a note on
 * the sink that it reached.
 */
#include <string.h>

#include "interp/check/flow.h"
#include "interp/kernels.h"

/* ---- reports ------------------------------------------------------------- */

static tk_diag_id diag_of(const tkc_flow_source *s) {
  if (s->kind == TKC_FLOW_NAN) return TK_D_NAN;
  if (s->kind == TKC_FLOW_DIVISION) return TK_D_DIVISION;
  if (s->kind == TKC_FLOW_OVERFLOW || s->in->op == TK_I_CAST)
    return TK_D_OVERFLOW;
  return TK_D_INF;
}

static const char *undef_help(const tkc_flow_source *s) {
  if (s->why == TKC_FLOW_SKIPPED)
    return "a 'jump' skipped its assignment: give the variable a value with "
           "'set'";
  if (s->why == TKC_FLOW_NO_RETURN)
    return "end the function with a return that every call can reach";
  if (s->why == TKC_FLOW_UNWRITTEN) return "write the memory before it is read";
  if (tk_inst_window(s->in) == TK_W_BLOCK_POINTER)
    return "give the load padding_option=\"zero\", or keep its lanes out with "
           "tl.where";
  return "give the load an other=, or keep its lanes out with a mask or "
         "tl.where";
}

/* What a marked lane has reached: in words and, if the lane is the address or
 * the value of an access, which lane of it. */
typedef struct sink {
  const char *what;
  const tki_access *access; /* NULL: the sink is not an access */
  size_t lane;
} sink;

/* The element that a finding is about is that of the sink, or else the memory
 * that was never written. */
static void note_sink_element(tki *t, tk_diag *d, const tkc_flow_source *s,
                              const sink *x) {
  if (x->access)
    tkc_at_element(d, t, x->access->addr[x->lane]);
  else if (s->why == TKC_FLOW_UNWRITTEN && s->kind == TKC_FLOW_UNDEF)
    tkc_at_element(d, t, s->memory);
}

/* A mixture of lanes is reported at the place where they were mixed. */
static void report_undef(tkc_flow *f, tki *t, const tkc_flow_source *s,
                         const sink *x) {
  const char *what = x->what;
  const tkc_place *at = s->mixed ? &s->at : NULL;
  if (s->mixed) {
    what = s->text;
    s = tkc_flow_source_of(f, s->mixed);
  }
  tk_diag *d =
      tkc_report(f->c, t, TK_D_UNDEF, at, &s->at, "an undefined %s", what);
  tkc_at_lane(f->c, d, s->lane);
  note_sink_element(t, d, s, x);
  /* One text, all of which is put in the words of the kernel's language. */
  tkc_note(f->c, d, &s->at, "%s",
           tk_arena_printf(&f->c->run, "it comes from here: %s", s->text));
  tkc_help(f->c, d, "%s", undef_help(s));
  tkc_reported(f->c, t, d);
}

static void report_source(tkc_flow *f, tki *t, const tkc_flow_source *s,
                          const sink *x) {
  tkc_place here = tkc_here(t);
  tk_diag *d = tkc_report(f->c, t, diag_of(s), &s->at, NULL, "%s", s->text);
  tkc_at_lane(f->c, d, s->lane);
  note_sink_element(t, d, s, x);
  tkc_note(f->c, d, &here, "a %s", x->what);
  if (s->kind == TKC_FLOW_OVERFLOW)
    tkc_help(f->c, d, "compute it in int64: cast an operand by .to(tl.int64)");
  if (s->kind == TKC_FLOW_DIVISION)
    tkc_help(f->c, d,
             "divide by tl.where(d == 0, 1, d), and leave these lanes out");
  tkc_reported(f->c, t, d);
}

static void report_mark(tkc_flow *f, tki *t, tkc_flow_id id, sink x) {
  const tkc_flow_source *s = tkc_flow_source_of(f, id);
  if (f->quiet) return;
  if (s->kind == TKC_FLOW_UNDEF)
    report_undef(f, t, s, &x);
  else
    report_source(f, t, s, &x);
}

static const char *mixture(tkc_flow *f, const char *what) {
  return tk_arena_printf(&f->c->run,
                         "lane %s together with lanes that are defined", what);
}

void tkc_flow_mixed(tkc_flow *f, tki *t, tkc_flow_id id, const char *what) {
  report_mark(f, t, id, (sink){.what = mixture(f, what)});
}

tkc_flow_id tkc_flow_mixes(tkc_flow *f, tki *t, tkc_flow_id id,
                           const char *what) {
  const tk_inst *in = t->frame->inst;
  if (tkc_flow_source_of(f, id)->mixed || f->sources.n == UINT16_MAX) return id;
  for (size_t k = f->last[in->id]; k; k--) {
    const tkc_flow_source *s = tkc_flow_source_of(f, (tkc_flow_id)k);
    if (s->in == in && s->mixed == id) return (tkc_flow_id)k;
  }
  tkc_flow_id mix = tkc_flow_begin(f, t, TKC_FLOW_UNDEF, TKC_FLOW_MASKED_OFF, 0,
                                   mixture(f, what));
  f->sources.items[mix - 1].mixed = id;
  return mix;
}

/* The kinds of marks that a branch or mask must not depend on. */
static const unsigned decides = TKC_FLOW_UNDEF | TKC_FLOW_DIVISION;

void tkc_flow_branch(tkc_flow *f, tki *t, int slot, const char *what) {
  if (!tkc_flow_marked(t, slot)) return;
  tkc_flow_marks m = tkc_flow_of(t, slot);
  size_t n = (size_t)tk_numel(&t->frame->func->slots[slot].type);
  for (size_t i = 0; i < n; i++) {
    tkc_flow_id id = tkc_flow_at(&m, i);
    if (!id || !(tkc_flow_source_of(f, id)->kind & decides)) continue;
    const char *text = tk_arena_printf(&f->c->run, "value %s", what);
    report_mark(f, t, id, (sink){.what = text});
    break;
  }
  tkc_flow_clear(t, slot);
}

/* ---- accesses ------------------------------------------------------------ */

static bool is_active(const tki_access *a, size_t i) {
  return i < a->n && (!a->mask || a->mask[i]);
}

/* Reports the first active lane whose operand has a mark of these kinds. */
static void check_operand(tkc_flow *f, tki *t, const tki_access *a, int slot,
                          unsigned kinds, const char *what) {
  if (!tkc_flow_marked(t, slot)) return;
  tkc_flow_marks m = tkc_flow_of(t, slot);
  const uint8_t *mask = tki_access_mask(a), *on;
  for (size_t i = 0, end; i < a->n; i = end) {
    tkc_flow_id id = tkc_flow_at(&m, i);
    end = tkc_flow_run_end(&m, i, a->n);
    if (!id || !(tkc_flow_source_of(f, id)->kind & kinds)) continue;
    on = mask ? memchr(mask + i, 1, end - i) : NULL;
    if (mask && !on) continue;
    if (on) i = (size_t)(on - mask);
    tki_access by_lane = tki_access_lanes(a);
    const char *element = tkc_element(f->c, t, by_lane.addr[i], a->size);
    const char *text = tk_arena_printf(&f->c->run, "%s %s", what, element);
    report_mark(f, t, id, (sink){text, &by_lane, i});
    return;
  }
}

void tkc_flow_bad_address(tkc_flow *f, tki *t, const tk_inst *in) {
  tkc_flow_marks m = tkc_flow_of(t, in->args[0]);
  for (size_t i = 0; i < (size_t)in->n; i++) {
    tkc_flow_id id = tkc_flow_at(&m, i);
    if (!id) continue;
    f->c->ending = true;
    report_mark(f, t, id,
                (sink){.what = "value is used as the address of this access"});
    f->c->ending = false;
    break;
  }
}

/* If a lane of the mask is undefined, the access may happen or not. */
static void check_mask(tkc_flow *f, tki *t, const tki_access *a, int slot) {
  if (!tkc_flow_marked(t, slot)) return;
  tkc_flow_marks m = tkc_flow_of(t, slot);
  for (size_t i = 0; i < (size_t)a->in->n; i++) {
    tkc_flow_id id = tkc_flow_at(&m, i);
    if (!id || !(tkc_flow_source_of(f, id)->kind & decides)) continue;
    report_mark(f, t, id,
                (sink){.what = "value is used as the mask of an access"});
    return;
  }
}

/* What is known of the memory of an access's lane at addr, and where in it that
 * is; NULL: all of it was written. */
static tkc_fresh *fresh_at(const tkc_flow *f, const tki *t, const tki_access *a,
                           uint64_t addr, size_t *at) {
  const tki_region *r = a->region != TKI_ANY ? &t->regions[a->region]
                                             : tki_region_at(t, addr, a->size);
  if (!r) return NULL;
  *at = addr - r->lo;
  return f->fresh[r - t->regions];
}

/* Of n lanes that follow each other in one tensor. */
static bool is_unwritten(const tkc_flow *f, const tki *t, const tki_access *a,
                         uint64_t addr, size_t n) {
  size_t at;
  const tkc_fresh *x = fresh_at(f, t, a, addr, &at);
  return x && tkc_fresh_any(x, at, n * a->size);
}

/* Returns how many lanes of a stretch surely lie in one tensor: those of a
 * pointer that belongs to no tensor may go from one to the next. */
static size_t piece_of(const tki_access *a, const tki_stretch *x) {
  return a->region == TKI_ANY ? 1 : x->n;
}

static bool may_be_unwritten(const tkc_flow *f, const tki *t,
                             const tki_access *a) {
  if (!(f->kinds & TKC_FLOW_UNDEF)) return false;
  if (a->region != TKI_ANY) return f->fresh[a->region] != NULL;
  for (size_t i = 0; i < t->nregions; i++)
    if (f->fresh[i]) return true;
  return false;
}

static bool any_unwritten(const tkc_flow *f, const tki *t,
                          const tki_access *a) {
  tki_stretch x = {0};
  if (!may_be_unwritten(f, t, a)) return false;
  while (tki_next_stretch(a, &x))
    for (size_t i = 0, n = piece_of(a, &x); i < x.n; i += n)
      if (is_unwritten(f, t, a, x.addr + i * a->size, n)) return true;
  return false;
}

static void mark_written(tkc_flow *f, tki *t, const tki_access *a) {
  tki_stretch x = {0};
  if (!may_be_unwritten(f, t, a)) return;
  while (tki_next_stretch(a, &x))
    for (size_t i = 0, n = piece_of(a, &x); i < x.n; i += n) {
      size_t at;
      tkc_fresh *y = fresh_at(f, t, a, x.addr + i * a->size, &at);
      if (y) tkc_fresh_write(y, at, n * a->size);
    }
}

/* Returns the mark of lanes that a load leaves out. They share that of the
 * first one; each run of the load has another, since other lanes may be masked
 * off then. */
static tkc_flow_id masked_off(tkc_flow *f, tki *t, const tki_access *a,
                              size_t i) {
  tkc_flow_id known = tkc_flow_known_at(f, t, TKC_FLOW_MASKED_OFF, i);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &a->in->type, i);
  static const char *const open[] = {
      "masked off, and it has no other=",
      "outside of the block pointer's shape, and it has no padding_option=",
      "outside of the descriptor's shape, and it has no padding"};
  return tkc_flow_begin(
      f, t, TKC_FLOW_UNDEF, TKC_FLOW_MASKED_OFF, i,
      tk_arena_printf(&f->c->run, "%s%s%sthis load is %s", *lane ? "lane " : "",
                      lane, *lane ? " of " : "", open[tk_inst_window(a->in)]));
}

static tkc_flow_id never_written(tkc_flow *f, tki *t, const tki_access *a,
                                 size_t i) {
  tkc_flow_id known = tkc_flow_known_at(f, t, TKC_FLOW_UNWRITTEN, i);
  if (known) return known;
  const char *what = tkc_element(f->c, t, a->addr[i], a->size);
  const char *text = tk_arena_printf(&f->c->run, "%s was never written", what);
  bool full = f->sources.n == UINT16_MAX;
  tkc_flow_id id =
      tkc_flow_begin(f, t, TKC_FLOW_UNDEF, TKC_FLOW_UNWRITTEN, i, text);
  if (!full) f->sources.items[id - 1].memory = a->addr[i];
  return id;
}

TKI_CLONES static void mark_off(tkc_flow_id *d, const uint8_t *mask,
                                tkc_flow_id id, size_t n) {
  for (size_t i = 0; i < n; i++) d[i] = mask[i] ? 0 : id;
}

/* Marks the lanes of a load that were masked off and have no other=. */
static void mark_masked_off(tkc_flow *f, tki *t, const tki_access *a,
                            tkc_flow_id *d) {
  const uint8_t *mask = tki_access_mask(a);
  const uint8_t *off = a->n ? memchr(mask, 0, a->n) : mask;
  tkc_flow_id id = masked_off(f, t, a, (size_t)(off - mask));
  mark_off(d, mask, id, a->n);
  for (size_t i = a->n; i < (size_t)a->in->n; i++) d[i] = id;
}

/* Marks lanes that were loaded from memory which nobody wrote, and lanes that
 * were masked off; those get the marks of other=, if there is one. */
static void mark_loaded(tkc_flow *f, tki *t, const tki_access *a) {
  const tk_inst *in = a->in;
  bool memory = any_unwritten(f, t, a);
  int other = tk_load_other(in);
  bool off = !tki_access_is_full(a) &&
             (other >= 0 ? tkc_flow_marked(t, in->args[other])
                         : (f->kinds & TKC_FLOW_UNDEF) != 0);
  if (!memory && !off) {
    tkc_flow_clear(t, in->res[0]);
    return;
  }
  tkc_flow_marks m = {NULL, 0};
  tki_val v = tkc_flow_new(t, &in->type, (size_t)in->n);
  tkc_flow_id *d = tki_writable(&v), fresh = 0, masked = 0;
  if (!memory && other < 0 && !a->left_out) {
    mark_masked_off(f, t, a, d);
    tkc_flow_set(t, in->res[0], v, (size_t)in->n);
    return;
  }
  if (other >= 0) m = tkc_flow_of(t, in->args[other]);
  tki_access by_lane = tki_access_lanes(a);
  for (size_t i = 0; i < (size_t)in->n; i++) {
    bool active = is_active(&by_lane, i);
    if (memory && active && is_unwritten(f, t, a, by_lane.addr[i], 1)) {
      if (!fresh) fresh = never_written(f, t, &by_lane, i);
      d[i] = fresh;
    } else if (!active && off && !(a->left_out && a->left_out[i])) {
      if (other < 0 && !masked) masked = masked_off(f, t, &by_lane, i);
      d[i] = other >= 0 ? tkc_flow_at(&m, i) : masked;
    }
  }
  tkc_flow_set(t, in->res[0], v, (size_t)in->n);
}

static void check_rmw(tkc_flow *f, tki *t, const tki_access *a) {
  bool any = any_unwritten(f, t, a);
  for (size_t i = 0; any && i < a->n; i++) {
    if (!is_active(a, i) || !is_unwritten(f, t, a, a->addr[i], 1)) continue;
    report_mark(f, t, never_written(f, t, a, i),
                (sink){"value is changed by an atomic", a, i});
    break;
  }
  tkc_flow_clear(t, a->in->res[0]);
}

/* Of inline assembly it is known what memory it touches, and not which operand
 * is the address or the value. */
static void check_asm(tkc_flow *f, tki *t, const tki_access *a) {
  if (a->read && any_unwritten(f, t, a))
    report_mark(f, t, never_written(f, t, a, 0),
                (sink){"value is read by inline assembly", a, 0});
  if (a->write) mark_written(f, t, a);
}

void tkc_flow_access(tkc_flow *f, tki *t, const tki_access *a) {
  const tk_inst *in = a->in;
  if (in->op == TK_I_ASM) {
    check_asm(f, t, a);
    return;
  }
  unsigned all = ~(unsigned)TKC_FLOW_ZERO;
  check_operand(f, t, a, in->args[0], decides | TKC_FLOW_OVERFLOW,
                "value is the address of");
  if (in->op == TK_I_LOAD) {
    if (tk_load_mask(in) >= 0) check_mask(f, t, a, in->args[tk_load_mask(in)]);
    mark_loaded(f, t, a);
    return;
  }
  int mask = tk_inst_mask(in);
  if (mask >= 0) check_mask(f, t, a, in->args[mask]);
  check_operand(f, t, a, in->args[1], all, "value is stored to");
  if (in->op == TK_I_CAS)
    check_operand(f, t, a, in->args[2], all, "value is stored to");
  if (a->read) check_rmw(f, t, a);
  mark_written(f, t, a);
}
