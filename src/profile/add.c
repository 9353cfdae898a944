/* add.c - what a run counted, added to what those before it did.
 *
 * Instructions of two specialisations are the same operation if they stand at
 * the same place, do the same and are of the same type; what a function of
 * tkdbg's own does stands where the user's code called it.
 */
#include <string.h>

#include "base/clock.h"
#include "ir/libdevice.h"
#include "profile/profile.h"

/* A place in the user's code. */
typedef struct where {
  const tk_source *src;
  tk_span span;
} where;

/* ---- functions and frames ------------------------------------------------ */

static bool note_end(void *ud, const tk_at *at) {
  uint32_t *end = ud;
  if (at->stmt->span.hi > *end) *end = at->stmt->span.hi;
  return true;
}

static tkf_function *function_of(tk_profile *p, const tk_func *f) {
  tkf_function **at = &p->functions;
  for (; *at; at = &(*at)->next) {
    tkf_function *x = *at;
    if (x->src == f->src && x->span.lo == f->span.lo &&
        !strcmp(x->name, f->name))
      break;
  }
  if (!*at) {
    *at = TK_NEW(&p->arena, tkf_function);
    **at = (tkf_function){.name = tk_arena_strdup(&p->arena, f->name),
                          .src = f->src,
                          .span = f->span,
                          .end = f->span.hi,
                          .library = f->library};
  }
  tk_walk_func(f, &(tk_walk){.ud = &(*at)->end, .stmt = note_end});
  return *at;
}

static tkf_frame *frame_of(tk_profile *p, tkf_frame *caller,
                           tkf_function *function, int line) {
  tkf_frame **at = caller ? &caller->first : &p->kernels;
  while (*at && ((*at)->function != function || (*at)->line != line))
    at = &(*at)->next;
  if (*at) return *at;
  *at = TK_NEW(&p->arena, tkf_frame);
  **at = (tkf_frame){.caller = caller, .function = function, .line = line};
  return *at;
}

/* ---- operations ---------------------------------------------------------- */

/* "binary add", "load", "atomic_add", "call f". */
static const char *label_of(tk_arena *a, const tk_inst *in) {
  const char *name = tk_inst_name((tk_opcode)in->op), *mode = tk_mode_name(in);
  if (in->op == TK_I_CALL)
    return tk_arena_printf(a, "call %s", tk_call_callee(in)->name);
  if (in->op == TK_I_EXTERN)
    return tk_arena_printf(a, "extern %s",
                           tk_extern_at(tk_extern_function(in))->name);
  if (!*mode) return name;
  if (!strncmp(mode, name, strlen(name))) return mode;
  return tk_arena_printf(a, "%s %s", name, mode);
}

/* What it works on, where that is not what it gives. */
static const tk_type *operation_type(const tk_inst *in) {
  bool from = in->op == TK_I_COMPARE || tk_inst_lanes(in) == TK_LANES_REDUCES;
  return from ? &in->from : &in->type;
}

static tkf_op **bucket_of(const tkf_frame *f, tk_span span, int op, int mode) {
  size_t h = span.lo * 31u + span.hi * 17u + (unsigned)op * 7u + (unsigned)mode;
  return &f->buckets[h & (f->nbuckets - 1)];
}

/* As many buckets as operations, at least. */
static void widen_buckets(tk_profile *p, tkf_frame *f) {
  f->nbuckets = f->nbuckets ? 2 * f->nbuckets : 16;
  f->buckets = TK_NEWN(&p->arena, tkf_op *, f->nbuckets);
  for (tkf_op *x = f->ops; x; x = x->next) {
    tkf_op **bucket = bucket_of(f, x->span, x->op, x->mode);
    x->same = *bucket;
    *bucket = x;
  }
}

static tkf_op *add_op(tk_profile *p, tkf_frame *f, const tkf_op *made) {
  if (f->nops == f->nbuckets) widen_buckets(p, f);
  tkf_op **bucket = bucket_of(f, made->span, made->op, made->mode);
  tkf_op *x = TK_NEW(&p->arena, tkf_op);
  *x = *made;
  x->same = *bucket;
  *bucket = x;
  *(f->end ? f->end : &f->ops) = x;
  f->end = &x->next;
  f->nops++;
  return x;
}

static tkf_op *op_of(tk_profile *p, tkf_frame *f, const tk_inst *in, where at) {
  const tk_type *type = operation_type(in);
  tkf_op *x = f->nops ? *bucket_of(f, at.span, in->op, in->mode) : NULL;
  for (; x; x = x->same)
    if (x->span.lo == at.span.lo && x->span.hi == at.span.hi &&
        x->op == in->op && x->mode == in->mode && tk_same_type(&x->type, type))
      return x;
  return add_op(p, f,
                &(tkf_op){.name = label_of(&p->arena, in),
                          .op = (tk_opcode)in->op,
                          .mode = in->mode,
                          .type = *type,
                          .src = at.src,
                          .span = at.span});
}

/* Adds what an instruction did; returns its ticks. */
static double add_counts(tk_profile *p, tkf_op *op, const tkf_counts *c) {
  const tk_inst *in = c->in;
  tk_profile_counts *to = &op->counts;
  uint64_t n = (uint64_t)in->n, flops = tk_inst_flops(in);
  uint64_t timer = p->timer * c->calls;
  double ticks = c->ticks > timer ? (double)(c->ticks - timer) : 0;
  TK_ASSERT(c->known <= c->calls && c->rows <= c->calls);
  TK_ASSERT(!c->access || c->active <= c->calls * n);
  to->calls += c->calls;
  to->seconds += ticks;
  to->flops += c->access ? flops / n * c->active : flops * c->calls;
  to->blocks += c->block ? c->calls : 0;
  to->known += c->known;
  to->rows += c->rows;
  if (!c->access) return ticks;
  uint64_t bytes = c->active * tk_lane_size(&in->type);
  to->lanes += c->calls * n;
  to->off += c->calls * n - c->active;
  to->read += in->op == TK_I_STORE ? 0 : bytes;
  to->written += in->op == TK_I_LOAD ? 0 : bytes;
  return ticks;
}

/* ---- frames of the run --------------------------------------------------- */

/* The user's place of an instruction of a node that was called from `from`. */
static where place_in(const tkf_node *n, const tk_inst *in, where from) {
  return n->func->library ? from : (where){n->func->src, in->span};
}

/* Adds a node and those that it called; returns their ticks. */
static double add_calls(tk_profile *p, tkf_frame *caller, const tkf_node *n,
                        where from) {
  bool library = n->func->library && from.src;
  int line = library ? tk_source_line(from.src, from.span.lo) : 0;
  tkf_frame *f = frame_of(p, caller, function_of(p, n->func), line);
  double ticks = 0;
  f->calls += n->calls;
  for (size_t i = 0; i < n->ncounts; i++) {
    const tkf_counts *c = &n->counts[i];
    if (!c->in) continue;
    tkf_op *op = op_of(p, f, c->in, place_in(n, c->in, from));
    ticks += add_counts(p, op, c);
  }
  for (const tkf_node *k = n->first; k; k = k->next) {
    where at = place_in(n, k->call, from);
    double sub = add_calls(p, f, k, at);
    if (!k->func->library) op_of(p, f, k->call, at)->called += sub;
    ticks += sub;
  }
  return ticks;
}

/* They belong to the session, and a profile may be read later. */
static void copy_remarks(tk_profile *p, tkf_function *to,
                         const tk_function *of) {
  for (size_t i = 0; i < of->remarks.n; i++)
    TK_PUSH(&p->arena, &to->remarks,
            tk_arena_strdup(&p->arena, of->remarks.items[i]));
}

void tkf_add_run(tk_profile *p) {
  tkf_run *r = &p->run;
  p->seconds += tk_clock_seconds() - r->seconds;
  p->ticks += (double)(tkf_ticks() - r->ticks);
  p->launches++;
  p->programs += r->programs;
  p->paused += r->paused;
  if (!r->kernel) return; /* no program began */
  tkf_function *f = function_of(p, r->kernel->func);
  f->kernel = true;
  if (!f->launches++) copy_remarks(p, f, r->t->launch->fn);
  add_calls(p, NULL, r->kernel, (where){NULL, {0, 0}});
}
