/* host.c - asking the host once per question.
 *
 * Answers are kept in a list on the function: a kernel has a handful of free
 * names, so a search through it costs nothing beside the host's own work.
 * That the host raised is kept for the launch file but asked again next time,
 * since what made it raise may have been mended.
 */
#include "host.h"

#include <string.h>

typedef struct question {
  tk_answer_kind kind;
  const char *name;
  void *obj;
  const tk_value *args;
  size_t nargs;
  const char *const *kwnames;
  size_t nkw;
} question;

static int know_name(void *ud, void *scope, const char *name, tk_value *out) {
  (void)ud, (void)scope, (void)name, (void)out;
  return 0;
}

static int know_call(void *ud, void *obj, const tk_value *args, size_t nargs,
                     const char *const *kwnames, size_t nkw, tk_value *out) {
  (void)ud, (void)obj, (void)args, (void)nargs, (void)kwnames, (void)nkw;
  (void)out;
  return 0;
}

const tk_host tkn_replay_host = {NULL, know_name, know_name, know_call};

/* ---- equality of questions --------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  if (!a || !b) return a == b;
  return strcmp(a, b) == 0;
}

static bool is_same_answer(const tk_value *a, const tk_value *b) {
  if (a->kind != b->kind || a->is_constexpr != b->is_constexpr) return false;
  switch (a->kind) {
  case TK_V_NONE: return true;
  case TK_V_BOOL: return a->lo == b->lo;
  case TK_V_INT: return a->lo == b->lo && a->hi == b->hi;
  case TK_V_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
  case TK_V_STR: return a->n == b->n && !memcmp(a->str, b->str, a->n);
  case TK_V_BUILTIN: return same_text(a->str, b->str);
  case TK_V_FUNCTION:
  case TK_V_OBJECT: return a->ptr == b->ptr && a->lo == b->lo;
  case TK_V_TENSOR: return a->lo == b->lo;
  case TK_V_DTYPE:
    if (a->lo != b->lo || a->hi != b->hi) return false;
    break;
  case TK_V_DESCRIPTOR:
    if (a->lo != b->lo) return false;
    break;
  case TK_V_TUPLE: break;
  }
  if (a->n != b->n || !same_text(a->str, b->str)) return false;
  for (size_t i = 0; i < a->n; i++)
    if (!is_same_answer(&a->items[i], &b->items[i])) return false;
  return true;
}

static bool answers(const tk_answer *a, const question *q) {
  if (a->kind != q->kind || a->obj != q->obj) return false;
  if (!same_text(a->name, q->name)) return false;
  if (a->nargs != q->nargs || a->nkw != q->nkw) return false;
  for (size_t i = 0; i < q->nargs; i++)
    if (!is_same_answer(&a->args[i], &q->args[i])) return false;
  for (size_t i = 0; i < q->nkw; i++)
    if (!same_text(a->kwnames[i], q->kwnames[i])) return false;
  return true;
}

static tk_answer *find_answer(tk_function *f, const question *q) {
  for (tk_answer *a = f->answers; a; a = a->next)
    if (answers(a, q)) return a;
  return NULL;
}

/* ---- keeping ----------------------------------------------------------- */

void tkn_answer_add(tk_env *e, tk_function *f, const tk_answer *a) {
  (void)e;
  tk_answer *copy = TK_NEW(&f->module->session->arena, tk_answer);
  *copy = *a;
  copy->next = NULL;
  if (f->last_answer)
    f->last_answer->next = copy;
  else
    f->answers = copy;
  f->last_answer = copy;
}

/* A host that found nothing may have left the value as it was. */
static tk_value keep_value(tk_arena *a, int found, const tk_value *v) {
  if (found > 0) return tk_value_copy(a, v);
  const char *why = found < 0 && v->str ? v->str : NULL;
  return (tk_value){.str = why ? tk_arena_strdup(a, why) : NULL};
}

static const tk_answer *keep(tk_env *e, tk_function *f, const question *q,
                             int found, const tk_value *v) {
  tk_arena *arena = &f->module->session->arena;
  tk_answer a = {.kind = q->kind, .found = found, .obj = q->obj};
  a.name = q->name ? tk_arena_strdup(arena, q->name) : NULL;
  a.value = keep_value(arena, found, v);
  a.nargs = q->nargs;
  a.nkw = q->nkw;
  a.args = TK_NEWN(arena, tk_value, q->nargs + 1);
  for (size_t i = 0; i < q->nargs; i++)
    a.args[i] = tk_value_copy(arena, &q->args[i]);
  a.kwnames = TK_NEWN(arena, const char *, q->nkw + 1);
  for (size_t i = 0; i < q->nkw; i++)
    a.kwnames[i] = tk_arena_strdup(arena, q->kwnames[i]);
  tkn_answer_add(e, f, &a);
  return f->last_answer;
}

static int ask_host(const tk_function *f, const question *q, tk_value *v) {
  const tk_host *h = f->host;
  switch (q->kind) {
  case TK_ANSWER_GLOBAL: return h->global(h->ud, f->scope, q->name, v);
  case TK_ANSWER_ATTR: return h->attr(h->ud, q->obj, q->name, v);
  default: break;
  }
  return h->call(h->ud, q->obj, q->args, q->nargs, q->kwnames, q->nkw, v);
}

static int ask(tk_env *e, tk_function *f, const question *q, tk_value *out) {
  memset(out, 0, sizeof *out);
  if (!f->host) return 0;
  tk_answer *old = find_answer(f, q);
  if (old && (old->found >= 0 || f->host == &tkn_replay_host)) {
    *out = old->value;
    return old->found;
  }
  tk_value v = {.kind = TK_V_NONE};
  int found = ask_host(f, q, &v);
  found = (found > 0) - (found < 0);
  if (old) {
    old->value = keep_value(&f->module->session->arena, found, &v);
    old->found = found;
    *out = old->value;
  } else
    *out = keep(e, f, q, found, &v)->value;
  return found;
}

/* ---- questions --------------------------------------------------------- */

int tk_host_global(tk_env *e, tk_function *f, const char *name, tk_value *out) {
  question q = {.kind = TK_ANSWER_GLOBAL, .name = name};
  return ask(e, f, &q, out);
}

int tk_host_attr(tk_env *e, tk_function *f, void *obj, const char *name,
                 tk_value *out) {
  question q = {.kind = TK_ANSWER_ATTR, .name = name, .obj = obj};
  return ask(e, f, &q, out);
}

int tk_host_call(tk_env *e, tk_function *f, void *obj, const tk_value *args,
                 size_t nargs, const char *const *kwnames, size_t nkw,
                 tk_value *out) {
  question q = {TK_ANSWER_CALL, NULL, obj, args, nargs, kwnames, nkw};
  return ask(e, f, &q, out);
}
