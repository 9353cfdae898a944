/* value.c - expressions are compiled where a call stands and run on it; what
 * comes out is copied, so that nothing of the interpreter is
 * held. */
#include "debug/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug/frames.h"
#include "debug/raise.h"
#include "interp/check/undefined.h"
#include "lang/file.h"

/* ---- evaluating -------------------------------------------------------- */

typedef struct evaluation {
  tkd *d;
  const tki_frame *f;
  const char *text;
  const tk_type *want;
  tki_eval *x;
  tkd_values got;
} evaluation;

static void *copy_lanes(tkd *d, tki_val *v, size_t n) {
  void *bytes = tk_temp_bytes(&d->mem, n);
  memcpy(bytes, tki_lanes(v), n);
  return bytes;
}

/* Lanes, and which of them are undefined, of the k-th value. */
static void take_lanes(evaluation *e, size_t k, tki_val *out,
                       tki_val *undefined, tkd_value *v) {
  tkd *d = e->d;
  v->type = e->x->types[k];
  size_t lanes = (size_t)tk_numel(&v->type);
  v->n = lanes * tk_lane_size(&v->type);
  v->region = out->region;
  v->bytes = copy_lanes(d, out, v->n);
  if (tkc_any_undefined(undefined))
    v->undefined = copy_lanes(d, undefined, lanes);
  tki_release(d->t, out);
  tki_release(d->t, undefined);
}

static const char *temp_text(tkd *d, const char *s) {
  return s ? tk_temp(&d->mem, s, strlen(s)) : NULL;
}

/* Runs a compiled expression; one that is known at compile time needs no
 * run. */
static void run_expression(evaluation *e) {
  tkd *d = e->d;
  const tki_eval *x = e->x;
  tki_val *out = tk_temp_bytes(&d->mem, x->n * sizeof *out);
  tki_val *undefined = tk_temp_bytes(&d->mem, x->n * sizeof *undefined);
  e->got.type = temp_text(d, x->type);
  e->got.known = temp_text(d, x->known);
  if (x->known) return;
  size_t n = x->parts.n, k = 0;
  e->got.items = tk_temp_bytes(&d->mem, n * sizeof *e->got.items);
  tkc_undefined_eval(d->t, x, e->f, out, undefined);
  for (size_t i = 0; i < n; i++) {
    const tk_eval_part *p = &x->parts.items[i];
    tkd_value *v = &e->got.items[i];
    *v = (tkd_value){.path = temp_text(d, p->path),
                     .item = temp_text(d, p->item),
                     .before = temp_text(d, p->before),
                     .known = temp_text(d, p->known),
                     .region = TKI_ANY};
    if (p->known) continue;
    TK_ASSERT(k < x->n);
    take_lanes(e, k, &out[k], &undefined[k], v);
    k++;
  }
  TK_ASSERT(k == x->n);
  e->got.n = n;
}

static void evaluate_body(tk_env *env, void *ud) {
  evaluation *e = ud;
  (void)env;
  e->x = tki_eval_new(e->d->t, e->f, e->text, e->want);
  run_expression(e);
}

tkd_values tkd_evaluate(tkd *d, const tki_frame *f, const char *text,
                        const tk_type *want) {
  evaluation e = {.d = d, .f = f, .text = text, .want = want};
  tk_status st = tk_protect(d->env, evaluate_body, &e);
  tki_eval_free(e.x);
  if (st != TK_OK) tk_throw(d->env, st);
  return e.got;
}

/* The only value among those of an expression that the program computes. */
static tkd_value only_value(tkd *d, const tkd_values *got, const char *text,
                            const char *what) {
  const tkd_value *found = NULL;
  size_t n = 0;
  for (size_t i = 0; i < got->n; i++)
    if (got->items[i].bytes) found = &got->items[i], n++;
  if (n == 1) return *found;
  tk_diag_add(d->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%s is %s", text,
              what);
  tk_throw(d->env, TK_USAGE);
}

tkd_value tkd_evaluate_one(tkd *d, const tki_frame *f, const char *text,
                           const tk_type *want, const char *what) {
  tkd_values got = tkd_evaluate(d, f, text, want);
  return only_value(d, &got, text, what);
}

tkd_value tkd_evaluate_compiled(tkd *d, const tki_frame *f, tki_eval *x,
                                const char *text, const char *what) {
  evaluation e = {.d = d, .f = f, .x = x};
  run_expression(&e);
  return only_value(d, &e.got, text, what);
}

/* ---- numbers ----------------------------------------------------------- */

static bool is_slice(const char *s) {
  int depth = 0;
  for (; *s; s++) {
    depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
    if (*s == ':' && !depth) return true;
  }
  return false;
}

typedef struct indexing {
  tkd *d;
  const char *text;
  int64_t at;
  bool found;
} indexing;

/* It may be a constant that is known at compile time. */
static void index_body(tk_env *e, void *ud) {
  indexing *x = ud;
  (void)e;
  tkd_values v = tkd_evaluate(x->d, x->d->at.frame, x->text, NULL);
  if (v.known) {
    char *end;
    x->at = strtoll(v.known, &end, 10);
    x->found = !*end && end != v.known;
    return;
  }
  tkd_value one =
      only_value(x->d, &v, x->text, "not one value that can change");
  x->found =
      !one.type.rank && !one.type.ptr && tk_is_int((tk_dtype)one.type.elem);
  if (x->found) x->at = tk_lane_int((tk_dtype)one.type.elem, one.bytes);
}

int64_t tkd_index(tkd *d, const char *text, size_t n) {
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  while (end < text + n && *end == ' ') end++;
  if (n && end == text + n && !errno) return number;
  if (!d->at.frame) tkd_raise(d, NO_PROGRAM_LEFT);
  char *part = tk_temp(&d->mem, text, n);
  if (is_slice(part)) tkd_raise(d, SLICE, part);
  indexing x = {.d = d, .text = part};
  tk_status st = tk_protect(d->env, index_body, &x);
  if (st != TK_OK && st != TK_USAGE && st != TK_FINDING) tk_throw(d->env, st);
  if (!x.found) tkd_raise(d, INDEX_NUMBER);
  return x.at;
}

/* ---- slots ------------------------------------------------------------- */

tkd_value tkd_slot_value(tkd *d, const tki_frame *f, int slot) {
  tkd_value v = {.path = "", .type = f->func->slots[slot].type};
  tki_val *held = &f->slots[slot];
  v.region = held->region;
  if (!tki_has_value(held, &v.type)) return v;
  size_t lanes = (size_t)tk_numel(&v.type);
  v.n = lanes * tk_lane_size(&v.type);
  v.bytes = copy_lanes(d, held, v.n);
  tki_val undefined = tkc_undefined_slot(d->t, f, slot);
  if (tkc_any_undefined(&undefined))
    v.undefined = copy_lanes(d, &undefined, lanes);
  tki_release(d->t, &undefined);
  return v;
}

/* ---- conditions -------------------------------------------------------- */

static void compile_body(tk_env *env, void *ud) {
  evaluation *e = ud;
  (void)env;
  e->x = tki_eval_new(e->d->t, e->f, e->text, NULL);
}

tki_eval *tkd_compile(tkd *d, const tki_frame *f, const char *text) {
  evaluation e = {.d = d, .f = f, .text = text};
  tk_protect(d->env, compile_body, &e);
  return e.x;
}

static bool any_lane(const tk_type *type, tki_val *v) {
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  const char *p = tki_lanes(v);
  for (size_t i = 0; i < n; i++)
    if (p[i]) return true;
  return false;
}

bool tkd_is_true(tkd *d, const tki_eval *x, const tki_frame *f) {
  bool any = false;
  if (x->known)
    return strcmp(x->known, "False") && strcmp(x->known, "0") &&
           strcmp(x->known, "None");
  tki_val *out = tki_scratch_new(d->t, x->n * sizeof *out);
  tki_eval_run(d->t, x, f, out);
  for (size_t i = 0; i < x->n; i++) {
    any |= any_lane(&x->types[i], &out[i]);
    tki_release(d->t, &out[i]);
  }
  tki_scratch_free(d->t, out);
  return any;
}

void tkd_check_syntax(tkd *d, const char *what, const char *text) {
  size_t before = d->env->ndiags;
  tk_source *src = tk_source_new(&d->mem.arena, what, text, strlen(text));
  if (!tk_parse_expr(d->env, &d->mem.arena, src)) tk_throw(d->env, TK_USAGE);
  tk_diag_truncate(d->env, before);
}

/* ---- kept -------------------------------------------------------------- */

void tkd_keep_value(tkd *d, tkd_kept *k, const tkd_value *v) {
  size_t lanes = v->undefined ? (size_t)tk_numel(&v->type) : 0;
  k->type = v->type;
  k->region = v->region;
  tk_bytes_set(d->env, &k->bytes, &k->n, v->bytes, v->n);
  tk_bytes_set(d->env, &k->lanes, &k->nlanes, v->undefined, lanes);
}

tkd_value tkd_kept_value(const tkd_kept *k) {
  return (tkd_value){.path = "",
                     .type = k->type,
                     .bytes = k->bytes,
                     .n = k->n,
                     .undefined = k->nlanes ? (const uint8_t *)k->lanes : NULL,
                     .region = k->region};
}

void tkd_drop_value(tkd *d, tkd_kept *k) {
  tk_free(d->env, k->bytes, k->n);
  tk_free(d->env, k->lanes, k->nlanes);
  *k = (tkd_kept){0};
}

static void make_room_to_keep(tkd *d, size_t n) {
  tkd_returned *r = &d->returned;
  if (n <= r->cap) return;
  r->list = tk_realloc(d->env, r->list, r->cap * sizeof *r->list,
                       n * sizeof *r->list);
  memset(r->list + r->cap, 0, (n - r->cap) * sizeof *r->list);
  r->cap = n;
}

void tkd_keep_results(tkd *d, const tki_frame *f) {
  const tk_stmt *st = f->stmt;
  size_t n = st && st->kind == TK_S_RETURN && !f->left ? st->nresults : 0;
  d->returned.n = 0;
  make_room_to_keep(d, n);
  for (size_t i = 0; i < n; i++) {
    int slot = st->results[i];
    tkd_value v = {.type = f->func->slots[slot].type};
    tki_val *held = &f->slots[slot];
    tki_val undefined = tkc_undefined_result(d->t, i, &v.type);
    v.region = held->region;
    v.bytes = tki_lanes(held);
    v.n = (size_t)tk_numel(&v.type) * tk_lane_size(&v.type);
    if (tkc_any_undefined(&undefined)) v.undefined = tki_lanes(&undefined);
    tkd_keep_value(d, &d->returned.list[i], &v);
    tki_release(d->t, &undefined);
    d->returned.n = i + 1;
  }
}
