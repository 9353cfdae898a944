/* ops.c - the table of operations as it is handed in: finding one by its name,
 * and signatures as rows.
 */
#include "typing/ops.h"

#include <string.h>

/* ---- signatures -------------------------------------------------------- */

static size_t span_until_comma(const char *p) {
  size_t n = 0;
  int depth = 0;
  for (; p[n] && (depth || p[n] != ','); n++)
    depth += (p[n] == '(') - (p[n] == ')');
  return n;
}

/* One parameter, from the text of it: "x", "axis=None", "*rest",
 * "**changes". */
static tks_param parse_param(const char *p, size_t len) {
  const char *eq = memchr(p, '=', len);
  size_t stars = strspn(p, "*");
  size_t name_len = eq ? (size_t)(eq - p) : len;
  tks_param out = {.name = p + stars,
                   .len = name_len - stars,
                   .rest = stars == 1,
                   .keyword = stars == 2,
                   .keywords = stars == 2};
  if (eq) out.value = eq + 1;
  if (eq) out.value_len = len - name_len - 1;
  return out;
}

static size_t parse_sig(const char *sig, tks_param *out) {
  size_t n = 0;
  bool keyword = false;
  for (const char *p = sig; *p;) {
    while (*p == ' ' || *p == ',') p++;
    if (!*p) break;
    size_t len = span_until_comma(p);
    bool bare = len == 1 && *p == '*';
    TK_ASSERT(n < TKS_MAX_ARGS);
    if (!bare) out[n] = parse_param(p, len);
    if (!bare) out[n++].keyword |= keyword;
    keyword = keyword || bare;
    p += len;
  }
  return n;
}

void tks_parse_signature(tk_arena *a, tks_op *op) {
  tks_param p[TKS_MAX_ARGS];
  op->nparams = parse_sig(op->sig, p);
  if (!op->nparams) return;
  tks_param *rows = TK_NEWN(a, tks_param, op->nparams);
  memcpy(rows, p, op->nparams * sizeof *rows);
  op->params = rows;
}

/* ---- names ------------------------------------------------------------- */

const tks_op *tks_find_op(const tks *s, const char *name) {
  const tk_lookup *names = &s->ops->by_name;
  int at = tk_lookup_find(names, name);
  return at < 0 ? NULL : &s->ops->ops[names->list.items[at].number];
}

bool tks_is_not_implemented(const sval *v) {
  return v->kind == V_OP && !strcmp(v->op->name, "builtins.NotImplemented");
}

const char *tks_known_name(const tks *s, size_t i) {
  const tks_table *t = s->ops;
  if (i < t->n) return t->ops[i].name;
  i -= t->n;
  return i < t->nlibrary ? t->library[i] : NULL;
}
