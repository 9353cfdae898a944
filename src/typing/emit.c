/* emit.c - slots and instructions, and failing with a place.
 *
 * Instructions go to frame->insts, the list of the statement being worked
 * on.  Every instruction writes fresh temporaries, so that a temporary has
 * one definition and its uses stand in the same statement; variables are
 * written by COPY alone.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "typing/emit.h"

/* ---- failing ----------------------------------------------------------- */

const tk_source *tks_frame_source(const tks_frame *f) {
  return f->python ? f->fn->module->file->src : f->func->src;
}

/* The innermost frame of the user's own code. */
static tks_frame *user_frame(tks *s) {
  tks_frame *f = s->frame;
  while (f && f->func->library && f->caller) f = f->caller;
  return f;
}

static void add_callers(tks *s, tk_diag *d, tks_frame *f) {
  /* The outermost frame only reads the launch's arguments. */
  for (tks_frame *c = f ? f->caller : NULL; c && c->caller; c = c->caller)
    if (!c->func->library)
      tk_diag_note(s->env, d, tks_frame_source(c), c->at, "in the call from %s",
                   c->python ? c->fn->item->name : c->func->name);
}

static tk_diag *say(tks *s, tk_diag_id id, const char *fmt, va_list ap) {
  tks_frame *f = user_frame(s);
  const tk_source *src = f ? tks_frame_source(f) : NULL;
  tk_span span = f ? f->at : (tk_span){0, 0};
  tk_diag *d = tk_diag_vadd(s->env, id, src, span, fmt, ap);
  add_callers(s, d, f);
  return d;
}

/* A wrong argument is bad input; anything else is the kernel's fault. */
static void fail(tks *s, tk_diag_id id) TK_NORETURN;
static void fail(tks *s, tk_diag_id id) {
  tk_throw(s->env, id == TK_D_ARGUMENT ? TK_USAGE : TK_FINDING);
}

void tks_error(tks *s, tk_diag_id id, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(s, id, fmt, ap);
  va_end(ap);
  fail(s, id);
}

void tks_error_help(tks *s, tk_diag_id id, const char *help, const char *fmt,
                    ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = say(s, id, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(s->env, d, "%s", help);
  fail(s, id);
}

tk_diag *tks_say(tks *s, tk_diag_id id, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = say(s, id, fmt, ap);
  va_end(ap);
  return d;
}

/* An old spelling that a session was told of, in a file. */
typedef struct tks_told {
  struct tks_told *next;
  const char *fmt, *file; /* the spelling, by the format of its note */
  const char *message;
} tks_told;

static const tks_told *find_told(const tks *s, const char *fmt,
                                 const char *file) {
  const tks_told *x = s->origin->session->told;
  while (x && (x->fmt != fmt || strcmp(x->file, file) != 0)) x = x->next;
  return x;
}

static void count_again(const tks *s, const tks_told *x) {
  for (tk_diag *d = s->env->diags; d; d = d->next)
    if (d->f.kind == TK_D_DEPRECATED && d->f.place.file &&
        !strcmp(d->f.place.file, x->file) && !strcmp(d->f.message, x->message))
      d->f.count++;
}

void tks_deprecated(tks *s, const char *fmt, ...) {
  if (s->origin->session->trial) return;
  const tks_frame *f = user_frame(s);
  const char *file = f ? tks_frame_source(f)->name : "";
  const tks_told *known = find_told(s, fmt, file);
  if (known) {
    count_again(s, known);
    return;
  }
  va_list ap;
  va_start(ap, fmt);
  const tk_diag *d = say(s, TK_D_DEPRECATED, fmt, ap);
  va_end(ap);
  tks_told *x = TK_NEW(&s->origin->session->arena, tks_told);
  *x = (tks_told){
      .next = s->origin->session->told,
      .fmt = fmt,
      .file = tk_arena_strdup(&s->origin->session->arena, file),
      .message = tk_arena_strdup(&s->origin->session->arena, d->f.message)};
  s->origin->session->told = x;
}

/* ---- slots and instructions -------------------------------------------- */

static int find_slot(const tk_func *f, const tk_type *t, const char *name) {
  int at = tk_lookup_find(&f->named, name);
  for (; at >= 0; at = tk_lookup_older(&f->named, at)) {
    int slot = f->named.list.items[at].number;
    if (tk_same_type(&f->slots[slot].type, t)) return slot;
  }
  return -1;
}

/* 8-bit floats exist as far as the target has them; a debugger looks at any. */
static void check_target_has(tks *s, tk_dtype d) {
  if (!tk_is_fp8(d) || s->ask ||
      tk_compile_lists(s->launch, TK_COMPILE_FP8, tk_dtype_name(d)))
    return;
  const char *have = s->launch->compile[TK_COMPILE_FP8];
  tks_error_help(s, TK_D_TYPE,
                 "instead of AMD's 8-bit floats, use tl.float8e4nv for fp8e4b8 "
                 "and tl.float8e5 for fp8e5b16",
                 "type %s not supported in this architecture. The supported "
                 "fp8 dtypes are (%s)",
                 tk_dtype_name(d), have);
}

void tks_check_lanes(tks *s, int64_t numel) {
  if (numel > TK_MAX_NUMEL)
    tks_error(s, TK_D_SHAPE, "a block of %lld lanes exceeds the limit of %d",
              (long long)numel, TK_MAX_NUMEL);
}

int tks_slot(tks *s, tk_type t, const char *name) {
  tk_func *f = s->frame->func;
  check_target_has(s, (tk_dtype)t.elem);
  tks_check_lanes(s, tk_numel(&t));
  int old = name ? find_slot(f, &t, name) : -1;
  if (old >= 0) return old;
  return tk_slot_new(s->program, f, t, name);
}

tk_inst *tks_inst_new(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                      const sval *args, size_t nres) {
  if (nargs > TK_MOST_OPERANDS || nres > TK_MOST_OPERANDS)
    tks_error(s, TK_D_UNSUPPORTED, "more than %d values at once",
              TK_MOST_OPERANDS);
  tk_inst *in = tk_inst_new(s->program, op, nargs, nres);
  in->mode = (uint8_t)mode;
  in->type = t;
  in->n = tk_numel(&t);
  in->span = s->frame->call.hi ? s->frame->call : s->frame->at;
  for (size_t i = 0; i < nargs; i++) {
    TK_ASSERT(args[i].kind == V_TENSOR); /* what has a slot */
    TK_ASSERT((size_t)args[i].slot < s->frame->func->nslots);
    in->args[i] = args[i].slot;
  }
  if (nargs) in->from = args[0].type;
  TK_PUSH(s->arena, s->frame->insts, in);
  return in;
}

tk_inst *tks_emit(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                  const sval *args) {
  tk_inst *in = tks_inst_new(s, op, mode, t, nargs, args, 1);
  in->res[0] = tks_slot(s, t, NULL);
  return in;
}

sval tks_result(const tk_inst *in) {
  TK_ASSERT(in->nres == 1);
  return sv_tensor(in->type, in->res[0]);
}

sval tks_emit1(tks *s, tk_opcode op, int mode, tk_type t, const sval *a) {
  return tks_result(tks_emit(s, op, mode, t, 1, a));
}

sval tks_emit2(tks *s, tk_opcode op, int mode, tk_type t, const sval *a,
               const sval *b) {
  sval args[2] = {*a, *b};
  return tks_result(tks_emit(s, op, mode, t, 2, args));
}

sval tks_const(tks *s, tk_type t, uint64_t bits) {
  tk_inst *in = tks_emit(s, TK_I_CONST, 0, t, 0, NULL);
  in->attr[0] = (int64_t)bits;
  return tks_result(in);
}

/* ---- variables --------------------------------------------------------- */

size_t tks_leaves(const sval *v, sval *out) {
  if (v->kind == V_TENSOR) {
    if (out) *out = *v;
    return 1;
  }
  if (!sv_runtime(v)) return 0;
  size_t n = 0;
  for (size_t i = 0; i < v->n; i++)
    n += tks_leaves(&v->items[i], out ? out + n : NULL);
  return n;
}

const char *tks_part_name(tks *s, const sval *v, const char *name, size_t i) {
  if (v->kind == V_INSTANCE)
    return tk_arena_printf(s->arena, "%s.%s", name,
                           v->object->class->fields[i]);
  return tk_arena_printf(s->arena, "%s.%zu", name, i);
}

/* t = t[1], t[0]: items that would be overwritten before they are read are
 * copied.  v goes to the slots called name, or name.i for its items. */
static sval save_items(tks *s, const sval *v, const char *var,
                       const char *name) {
  size_t n = strlen(var);
  if (v->kind == V_TENSOR) {
    const char *old = s->frame->func->slots[v->slot].name;
    bool other =
        old && !strncmp(old, var, n) && old[n] == '.' && strcmp(old, name) != 0;
    return other ? tks_copy(s, v) : *v;
  }
  sval r = *v;
  if (!sv_runtime(v)) return r;
  r.items = TK_NEWN(s->arena, sval, v->n);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] = save_items(s, &v->items[i], var, tks_part_name(s, v, name, i));
  return r;
}

static sval copy_leaf(tks *s, const sval *v, const char *name) {
  if (v->kind == V_TENSOR) {
    tk_inst *in = tks_inst_new(s, TK_I_COPY, 0, v->type, 1, v, 1);
    in->res[0] = tks_slot(s, v->type, name);
    return tks_result(in);
  }
  sval r = *v;
  if (v->kind == V_INSTANCE) {
    r.object = TK_NEW(s->arena, tks_object);
    v->object->shared = v->object->shared || v->object->var;
    *r.object = (tks_object){v->object->class, name, s->frame->body,
                             v->object->shared, v->object->fixed};
  } else if (!sv_runtime(v)) {
    return r;
  }
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] =
        copy_leaf(s, &v->items[i], name ? tks_part_name(s, v, name, i) : NULL);
  return r;
}

sval tks_store_var(tks *s, const char *name, const sval *v) {
  if (v->kind == V_TENSOR) return copy_leaf(s, v, name);
  sval safe = save_items(s, v, name, name);
  return copy_leaf(s, &safe, name);
}

sval tks_copy(tks *s, const sval *v) {
  return copy_leaf(s, v, NULL);
}

void tks_use_desc(tks *s, const sval *v) {
  if (v->kind != V_DESC || !v->slot) return;
  TK_ASSERT((size_t)v->slot <= s->descs.n);
  tks_desc *d = &s->descs.items[v->slot - 1];
  d->func->ndescs += !d->used;
  d->used = true;
}

tk_insts *tks_emit_to(tks *s, tk_insts *to) {
  tk_insts *before = s->frame->insts;
  TK_ASSERT(to && to != before); /* a list of one statement alone */
  s->frame->insts = to;
  return before;
}

void tks_emit_back(tks *s, tk_insts *before) {
  s->frame->insts = before;
}
