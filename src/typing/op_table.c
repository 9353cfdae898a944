/* op_table.c - op.def as a table, made ready for a session.
 *
 * This is the only file that knows all rules.  It is above the walk, which gets
 * the table handed in.
 */
#include <string.h>

#include "typing/rule.h"
#include "typing/version.h"

enum { /* rows of libdevice.def */
#define LIBDEVICE(id, params, accuracy, doc, overloads) ROW_##id,
#include "ir/libdevice.def"
#undef LIBDEVICE
};

static const tks_op table[] = {
#define F TKS_FUNCTION
#define M TKS_METHOD
#define E TKS_MEMBER
#define P TKS_PRINTER
#define OP(name, role, sig, rule, mode, doc)                                   \
  {name, sig, rule, mode, role, doc, 0, 0, NULL, 0},
#define OPV(since, until, name, role, sig, rule, mode, doc)                    \
  {name, sig, rule, mode, role, doc, since, until, NULL, 0},
#include "op.def"
#undef OP
#undef OPV
#undef F
#undef M
#undef E
#undef P
/* libdevice's functions follow. */
#define TYPE_b "int1"
#define TYPE_i "int32"
#define TYPE_u "uint32"
#define TYPE_l "int64"
#define TYPE_q "uint64"
#define TYPE_f "fp32"
#define TYPE_F "fp32"
#define TYPE_d "fp64"
#define EXACT "exact"
#define ROUNDED "correctly rounded"
#define WITHIN(f32, f64) "within " #f32 " ULP (fp32), " #f64 " ULP (fp64)"
#define WITHIN32(bound) "within " #bound " ULP"
#define WITHIN64(bound) "within " #bound " ULP"
#define NEAR(f32, f64) "within " #f32 " ULP (fp32), " #f64 " * 2^-52 (fp64)"
#define LIBDEVICE(id, parameters, accuracy, text, overloads)                   \
  {.name = "libdevice." #id,                                                   \
   .sig = parameters,                                                          \
   .rule = rule_libdevice,                                                     \
   .mode = ROW_##id,                                                           \
   .doc = text "; " accuracy overloads},
#define LANE1(name, R, A, value) "; (" TYPE_##A ") -> " TYPE_##R
#define LANE2(name, R, A, B, value)                                            \
  "; (" TYPE_##A ", " TYPE_##B ") -> " TYPE_##R
#define LANE3(name, R, A, B, C, value)                                         \
  "; (" TYPE_##A ", " TYPE_##B ", " TYPE_##C ") -> " TYPE_##R
#define LANE4(name, R, A, B, C, D, value)                                      \
  "; (" TYPE_##A ", " TYPE_##B ", " TYPE_##C ", " TYPE_##D ") -> " TYPE_##R
#define ROUND1(name, mode, R, A, value) LANE1(name, R, A, value)
#define ROUND2(name, mode, R, A, B, value) LANE2(name, R, A, B, value)
#define ROUND3(name, mode, R, A, B, C, value) LANE3(name, R, A, B, C, value)
#include "ir/libdevice.def"
#undef LIBDEVICE
};

/* Names of prelude.py and triton_helpers.py come after the table's own. */
static const char *const prelude_names[] = {
#define VARIANT(name, since)
#define PRELUDE(name) "tl." name,
#include "prelude.def"
#undef PRELUDE
#define PRELUDE(name) "triton_helpers." name,
#include "triton_helpers.def"
#undef PRELUDE
#undef VARIANT
};

/* Whether a row is of a version of Triton. */
static bool row_is_of(const tks_op *row, int version) {
  return row->since <= version && (!row->until || version <= row->until);
}

/* The change that a trial has turned round; -1: none. */
static int turned_of(const tk_session *session) {
  return session->trial ? session->trial->turned : -1;
}

static const tks_table *table_new(tk_session *session) {
  tk_arena *a = &session->arena;
  tks_table *t = TK_NEW(a, tks_table);
  tks_op *ops = TK_NEWN(a, tks_op, TK_COUNT(table));
  t->version = tk_version_followed(session->triton_version);
  t->turned = turned_of(session);
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (row_is_of(&table[i], tks_version_of_op(session, table[i].name)))
      ops[t->n++] = table[i];
  for (size_t i = t->n; i-- > 0;) {
    tks_parse_signature(a, &ops[i]);
    tk_lookup_add(a, &t->by_name, ops[i].name, (int)i);
  }
  t->ops = ops;
  t->next = session->language;
  session->language = t;
  t->library = prelude_names;
  t->nlibrary = TK_COUNT(prelude_names);
  return t;
}

const tks_table *tks_table_of(tk_session *session) {
  int version = tk_version_followed(session->triton_version);
  const tks_table *t = session->language;
  while (t && (t->version != version || t->turned != turned_of(session)))
    t = t->next;
  return t ? t : table_new(session);
}

/* ---- the public edge ---------------------------------------------------- */

/* The *i-th row of the newest version; NULL: there are not so many, and *i is
 * what is left of it. */
static const tks_op *newest_row(size_t *i) {
  int newest = tk_version_followed(0);
  for (size_t k = 0; k < TK_COUNT(table); k++)
    if (row_is_of(&table[k], newest) && (*i)-- == 0) return &table[k];
  return NULL;
}

const char *tk_builtin_name(size_t i) {
  const tks_op *row = newest_row(&i);
  if (row) return row->name;
  return i < TK_COUNT(prelude_names) ? prelude_names[i] : NULL;
}

const char *tk_builtin_signature(size_t i) {
  const tks_op *row = newest_row(&i);
  if (row) return row->sig;
  return i < TK_COUNT(prelude_names) ? "" : NULL;
}

const char *tk_builtin_doc(size_t i) {
  const tks_op *row = newest_row(&i);
  if (row) return row->doc;
  return i < TK_COUNT(prelude_names) ? "" : NULL;
}
