/* differ.c - where two programs that were made of one kernel differ.
 *
 * Both are read into one table of values, in which equal expressions are one
 * entry, with constants folded and repetitions left out; a function becomes the
 * list of what it does.  Two lists are compared entry by entry, and where two
 * values differ, the search goes down to those whose operands are the same: a
 * difference is told of where it begins, not where it arrives.
 */
#include "ir/differ.h"

#include <string.h>

/* Entries that are not instructions. */
enum {
  LEAF = TK_INST_COUNT, /* a parameter, or a variable set more than once */
  SET,                  /* such a variable is set */
  PART,                 /* one of several results */
  HEAD,                 /* of a statement */
  END,                  /* of a list of statements */
};

typedef struct form form;

typedef struct place {
  const tk_source *src;
  tk_span span;
} place;

typedef struct value {
  int op, mode;
  place at;
  tk_type type;
  int64_t bits; /* CONST */
  const int *args;
  size_t nargs;
  const form *callee; /* CALL */
} value;

/* A function: what it does, as numbers of values. */
struct form {
  const tk_func *func;
  int id; /* equal forms have one number */
  TK_VEC(int) does;
};

typedef struct differ {
  tk_arena *a;
  TK_VEC(value) values;
  tk_lookup known, forms, seen;
  tk_buf key;
  TK_VEC(tk_differing) found;
} differ;

/* One program being read. */
typedef struct reader {
  differ *d;
  const form **forms; /* by number of the function; NULL: not yet read */
  const tk_func *f;
  form *form;
  const place *outer; /* where a function of ours is called; or NULL */
  uint8_t *defs;      /* by slot: 1, or 2 for more */
  int *values;        /* by slot, for those that are set once; -1: not yet */
  int *ordinals;      /* by slot: of variables without a name */
  int unnamed;
} reader;

/* ---- values -------------------------------------------------------------- */

static int value_number(differ *d, const value *v) {
  for (size_t i = 0; i < v->nargs; i++)
    tk_buf_printf(&d->key, ",%d", v->args[i]);
  int at = tk_lookup_find(&d->known, tk_buf_str(&d->key));
  if (at >= 0) return d->known.list.items[at].number;
  int number = (int)d->values.n;
  tk_lookup_add(d->a, &d->known, tk_arena_strdup(d->a, tk_buf_str(&d->key)),
                number);
  TK_PUSH(d->a, &d->values, *v);
  return number;
}

static void begin_key(differ *d, int op, int mode, const tk_type *type) {
  tk_type t = tk_numel(type) == 1 ? tk_elem_of(*type) : *type;
  tk_buf_clear(&d->key);
  tk_buf_printf(&d->key, "%d.%d:", op, mode);
  tk_type_print(&d->key, &t);
}

static place place_in(const reader *r, tk_span span) {
  return r->outer ? *r->outer : (place){r->f->src, span};
}

static int constant(reader *r, tk_span span, tk_dtype type, int64_t bits) {
  differ *d = r->d;
  value v = {.op = TK_I_CONST, .at = place_in(r, span), .bits = bits};
  v.type = tk_scalar(type);
  begin_key(d, TK_I_CONST, 0, &v.type);
  tk_buf_printf(&d->key, "=%lld", (long long)bits);
  return value_number(d, &v);
}

static int variable(reader *r, int slot) {
  const tk_slot *s = &r->f->slots[slot];
  value v = {.op = LEAF, .at = place_in(r, r->f->span), .type = s->type};
  begin_key(r->d, LEAF, 0, &s->type);
  if (s->name)
    tk_buf_printf(&r->d->key, "%s", s->name);
  else
    tk_buf_printf(&r->d->key, "%d", r->ordinals[slot]);
  return value_number(r->d, &v);
}

static int operand_of(reader *r, int slot) {
  return r->values[slot] >= 0 ? r->values[slot] : variable(r, slot);
}

/* ---- what is the same ---------------------------------------------------- */

/* A number in another type, if that holds it exactly. */
static bool fold(tk_dtype from, int64_t bits, tk_dtype to, int64_t *out) {
  int64_t lane = 0;
  double v = tk_is_float(from) ? tk_lane_double(from, &bits)
                               : (double)tk_lane_int(from, &bits);
  if (to == TK_INT1) return false;
  if (tk_is_float(to)) {
    tk_lane_set_double(to, &lane, v);
    *out = lane;
    return tk_is_float(from) ? tk_lane_double(to, &lane) == v
                             : (int64_t)v == tk_lane_int(from, &bits);
  }
  if (tk_is_float(from)) return false;
  tk_lane_set_int(to, &lane, tk_lane_int(from, &bits));
  *out = lane;
  return tk_lane_int(to, &lane) == tk_lane_int(from, &bits);
}

/* Whether a conversion leaves every value as it is. */
static bool widens(tk_dtype from, tk_dtype to) {
  const tk_dtype_info *a = &tk_dtypes[from], *b = &tk_dtypes[to];
  if (tk_is_float(from) != tk_is_float(to)) return false;
  if (tk_is_float(from))
    return b->bits >= 32 && b->bits > a->bits; /* of fp32 and fp64 alone */
  if (a->kind == 'I') return b->kind == 'I' && b->bits >= a->bits;
  return b->bits > a->bits;
}

/* The result of an operation on two integers; false: it is left to the run. */
static bool fold_binary(int op, tk_dtype d, int64_t x, int64_t y,
                        int64_t *out) {
  int64_t lane = 0, v;
  if (tk_is_float(d) || d == TK_INT1) return false;
  x = tk_lane_int(d, &x);
  y = tk_lane_int(d, &y);
  if (op == TK_B_DIV && (y <= 0 || x < 0)) return false;
  switch (op) {
  case TK_B_ADD: v = (int64_t)((uint64_t)x + (uint64_t)y); break;
  case TK_B_SUB: v = (int64_t)((uint64_t)x - (uint64_t)y); break;
  case TK_B_MUL: v = (int64_t)((uint64_t)x * (uint64_t)y); break;
  case TK_B_DIV: v = x / y; break;
  default: return false;
  }
  tk_lane_set_int(d, &lane, v);
  *out = lane;
  return true;
}

/* Two known integers as one value; -1 if there is none. */
static int folded(reader *r, const value *v, tk_span span) {
  const int *args = v->args;
  if (v->op != TK_I_BINARY || v->type.ptr || v->nargs != 2) return -1;
  const value *x = &r->d->values.items[args[0]];
  const value *y = &r->d->values.items[args[1]];
  int64_t bits;
  bool known = x->op == TK_I_CONST && y->op == TK_I_CONST &&
               x->type.elem == v->type.elem && y->type.elem == v->type.elem &&
               !x->type.ptr && !y->type.ptr;
  tk_dtype d = (tk_dtype)v->type.elem;
  if (!known || !fold_binary(v->mode, d, x->bits, y->bits, &bits)) return -1;
  return constant(r, span, d, bits);
}

/* What a constant is in the type that a comparison's other side was converted
 * from, where both come to the same; else the constant. */
static int narrowed(reader *r, const tk_inst *in, int number, tk_dtype to) {
  value c = r->d->values.items[number];
  int64_t bits;
  if (c.op != TK_I_CONST || c.type.ptr ||
      !fold((tk_dtype)c.type.elem, c.bits, to, &bits))
    return number;
  return constant(r, in->span, to, bits);
}

/* x > 0 gives the same for fp16 lanes in fp32. */
static void narrow_comparison(reader *r, const tk_inst *in, int *args) {
  for (int i = 0; i < 2; i++) {
    const value *v = &r->d->values.items[args[i]];
    if (v->op != TK_I_CAST || v->type.ptr) continue;
    int from = v->args[0];
    const tk_type *t = &r->d->values.items[from].type;
    tk_dtype elem = (tk_dtype)t->elem;
    if (t->ptr || !widens(elem, (tk_dtype)v->type.elem)) continue;
    int other = narrowed(r, in, args[1 - i], elem);
    if (other == args[1 - i]) continue;
    args[1 - i] = other;
    args[i] = from;
    return;
  }
}

/* The value that an instruction only hands on; -1: it makes one. */
static int handed_on(reader *r, const tk_inst *in, const int *args) {
  if (in->op != TK_I_COPY && in->op != TK_I_BROADCAST && in->op != TK_I_CAST)
    return -1;
  value v = r->d->values.items[args[0]];
  int64_t bits;
  bool one = tk_numel(&v.type) == 1;
  if (in->op == TK_I_CAST) {
    if (v.op != TK_I_CONST || in->type.ptr || v.type.ptr ||
        !fold((tk_dtype)v.type.elem, v.bits, (tk_dtype)in->type.elem, &bits))
      return -1;
    return constant(r, in->span, (tk_dtype)in->type.elem, bits);
  }
  if (in->op == TK_I_BROADCAST) return one ? args[0] : -1;
  return tk_same_type(&v.type, &in->type) || (one && in->n == 1) ? args[0] : -1;
}

/* ---- reading a program --------------------------------------------------- */

static const form *form_of(reader *r, const tk_func *f);

static void add_format(differ *d, const tk_format *x) {
  for (size_t i = 0; i < x->n; i++) {
    const tk_piece *p = &x->pieces[i];
    if (p->text)
      tk_buf_add(&d->key, p->text, p->len);
    else
      tk_buf_printf(&d->key, "{%s}", p->spec ? p->spec : "");
  }
}

/* What an instruction refers to, as a part of its key; functions are read
 * before the key is begun. */
static void add_reference(reader *r, const tk_inst *in) {
  tk_ref_kind kind = tk_inst_info_of((tk_opcode)in->op)->ref;
  differ *d = r->d;
  if (kind == TK_REF_CALLEE)
    tk_buf_printf(&d->key, "@%d", form_of(r, in->ref.callee)->id);
  if (kind == TK_REF_FORMAT) add_format(d, in->ref.format);
  for (int i = 0; kind == TK_REF_COMBINE && i < in->ref.combine->nlevels; i++)
    tk_buf_printf(&d->key, "@%d", form_of(r, in->ref.combine->levels[i])->id);
}

static void read_references(reader *r, const tk_inst *in) {
  tk_ref_kind kind = tk_inst_info_of((tk_opcode)in->op)->ref;
  if (kind == TK_REF_CALLEE) form_of(r, in->ref.callee);
  for (int i = 0; kind == TK_REF_COMBINE && i < in->ref.combine->nlevels; i++)
    form_of(r, in->ref.combine->levels[i]);
}

static int instruction(reader *r, const tk_inst *in) {
  differ *d = r->d;
  int *args = TK_NEWN(d->a, int, in->nargs + 1u);
  read_references(r, in);
  for (int i = 0; i < in->nargs; i++) args[i] = operand_of(r, in->args[i]);
  if (in->op == TK_I_CONST && !in->type.ptr)
    return constant(r, in->span, (tk_dtype)in->type.elem, in->attr[0]);
  int same = handed_on(r, in, args);
  if (same >= 0) return same;
  if (in->op == TK_I_COMPARE) narrow_comparison(r, in, args);
  value v = {.op = in->op,
             .mode = in->mode,
             .at = place_in(r, in->span),
             .type = in->type,
             .args = args,
             .nargs = in->nargs};
  if (in->op == TK_I_CALL) v.callee = form_of(r, in->ref.callee);
  int known = folded(r, &v, in->span);
  if (known >= 0) return known;
  begin_key(d, in->op, in->mode, &in->type);
  if (tk_inst_lanes(in) != TK_LANES_SAME && in->nargs)
    tk_type_print(&d->key, &in->from);
  tk_buf_printf(&d->key, "/%d", in->has);
  for (int i = 0; i < TK_MAX_RANK; i++)
    tk_buf_printf(&d->key, ".%lld", (long long)in->attr[i]);
  add_reference(r, in);
  return value_number(d, &v);
}

/* An entry that is not an instruction. */
static int other_entry(reader *r, int op, int mode, tk_span span,
                       const tk_type *type, const int *args, size_t n) {
  value v = {.op = op,
             .mode = mode,
             .at = place_in(r, span),
             .type = *type,
             .args = args,
             .nargs = n};
  begin_key(r->d, op, mode, type);
  return value_number(r->d, &v);
}

static bool count_defs(void *ud, const tk_at *at, const tk_inst *in) {
  uint8_t *defs = ud;
  (void)at;
  for (int i = 0; i < in->nres; i++) {
    bool twice = in->op == TK_I_COND || defs[in->res[i]];
    defs[in->res[i]] = twice ? 2 : 1;
  }
  return true;
}

static void begin_function(reader *r) {
  size_t n = r->f->nslots + 1;
  r->defs = TK_NEWN(r->d->a, uint8_t, n);
  r->values = TK_NEWN(r->d->a, int, n);
  r->ordinals = TK_NEWN(r->d->a, int, n);
  memset(r->values, -1, n * sizeof *r->values);
  memset(r->ordinals, -1, n * sizeof *r->ordinals);
  tk_walk_func(r->f, &(tk_walk){.ud = r->defs, .inst = count_defs});
}

static void read_body(reader *r, const tk_body *b);

static void does(reader *r, int number) {
  TK_PUSH(r->d->a, &r->form->does, number);
}

static void set_slot(reader *r, const tk_inst *in, int slot, int number) {
  const tk_slot *s = &r->f->slots[slot];
  if (r->defs[slot] == 1) {
    r->values[slot] = number;
    return;
  }
  if (!s->name && r->ordinals[slot] < 0) r->ordinals[slot] = r->unnamed++;
  int *args = TK_NEWN(r->d->a, int, 2);
  args[0] = variable(r, slot);
  args[1] = number;
  does(r, other_entry(r, SET, 0, in->span, &s->type, args, 2));
}

/* A call is what the function returns, if it does nothing else; NULL: it does
 * something. */
static const value *returned(reader *r, const tk_inst *in) {
  if (in->op != TK_I_CALL) return NULL;
  const tk_func *f = in->ref.callee;
  form x = {.func = f};
  place at = place_in(r, in->span);
  reader inner = {.d = r->d, .forms = r->forms, .f = f, .form = &x};
  if (f->library) inner.outer = &at;
  begin_function(&inner);
  for (size_t i = 0; i < f->nparams; i++) {
    int slot = f->params[i];
    if (!inner.defs[slot]) inner.values[slot] = operand_of(r, in->args[i]);
    inner.defs[slot]++;
  }
  read_body(&inner, &f->body);
  if (x.does.n != 1) return NULL;
  const value *v = &r->d->values.items[x.does.items[0]];
  return v->op == HEAD && v->mode == TK_S_RETURN ? v : NULL;
}

static bool has_effect(const tk_inst *in) {
  tk_effect effect = tk_inst_effect(in);
  return effect != TK_EFFECT_PURE && effect != TK_EFFECT_READS;
}

/* What an instruction gives, by its results. */
static void give_results(reader *r, const tk_inst *in, const value *call,
                         int number) {
  for (int k = 0; in->op != TK_I_COND && k < in->nres; k++) {
    const tk_type *type = &r->f->slots[in->res[k]].type;
    int *whole = TK_NEWN(r->d->a, int, 1);
    whole[0] = number;
    set_slot(r, in, in->res[k],
             call ? call->args[k]
             : in->nres == 1
                 ? number
                 : other_entry(r, PART, k, in->span, type, whole, 1));
  }
}

static void read_insts(reader *r, const tk_insts *list) {
  tk_type none = tk_scalar(TK_INT1);
  for (size_t i = 0; i < list->n; i++) {
    const tk_inst *in = list->items[i];
    const value *found = returned(r, in);
    value call = found ? *found : (value){.op = LEAF};
    int number = found ? -1 : instruction(r, in);
    if (!found && has_effect(in)) does(r, number);
    for (int k = 0; in->op == TK_I_COND && k < 2; k++) {
      read_insts(r, &in->body[k]);
      does(r, other_entry(r, END, 0, in->span, &none, NULL, 0));
    }
    give_results(r, in, found ? &call : NULL, number);
  }
}

static void read_head(reader *r, const tk_stmt *st) {
  tk_type none = tk_scalar(TK_INT1);
  const int loop[] = {st->lb, st->ub, st->step};
  bool is_for = st->kind == TK_S_FOR, is_return = st->kind == TK_S_RETURN;
  size_t n = is_for ? TK_COUNT(loop) : is_return ? st->nresults : 1;
  const int *slots = is_for ? loop : is_return ? st->results : &st->cond;
  int *args = TK_NEWN(r->d->a, int, n + 1);
  for (size_t i = 0; i < n; i++) args[i] = operand_of(r, slots[i]);
  does(r, other_entry(r, HEAD, (int)st->kind, st->span, &none, args, n));
}

static void read_body(reader *r, const tk_body *b) {
  tk_type none = tk_scalar(TK_INT1);
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    read_insts(r, &st->insts);
    if (st->kind == TK_S_RUN) continue;
    read_head(r, st);
    if (st->kind == TK_S_RETURN) continue;
    read_body(r, &st->body);
    does(r, other_entry(r, END, 0, st->span, &none, NULL, 0));
    read_body(r, &st->orelse);
    does(r, other_entry(r, END, 0, st->span, &none, NULL, 0));
  }
}

/* Reads what a function does, with its parameters unknown. */
static void read_function(reader *r) {
  begin_function(r);
  for (size_t i = 0; i < r->f->nparams; i++) {
    r->defs[r->f->params[i]] = 2;
    r->ordinals[r->f->params[i]] = r->unnamed++;
  }
  read_body(r, &r->f->body);
}

/* Equal lists of equal parameters get one number. */
static int form_number(differ *d, const form *x) {
  tk_buf_clear(&d->key);
  for (size_t i = 0; i < x->func->nparams; i++)
    tk_type_print(&d->key, &x->func->slots[x->func->params[i]].type);
  for (size_t i = 0; i < x->does.n; i++)
    tk_buf_printf(&d->key, ",%d", x->does.items[i]);
  int at = tk_lookup_find(&d->forms, tk_buf_str(&d->key));
  if (at >= 0) return d->forms.list.items[at].number;
  int number = (int)d->forms.list.n;
  tk_lookup_add(d->a, &d->forms, tk_arena_strdup(d->a, tk_buf_str(&d->key)),
                number);
  return number;
}

static const form *form_of(reader *r, const tk_func *f) {
  if (r->forms[f->id]) return r->forms[f->id];
  form *x = TK_NEW(r->d->a, form);
  x->func = f;
  reader inner = {.d = r->d, .forms = r->forms, .f = f, .form = x};
  read_function(&inner);
  x->id = form_number(r->d, x);
  r->forms[f->id] = x;
  return x;
}

static const form *read_program(differ *d, const tk_program *p) {
  reader r = {.d = d, .forms = TK_NEWN(d->a, const form *, p->nfuncs + 1)};
  return form_of(&r, p->kernel);
}

/* ---- the search ---------------------------------------------------------- */

typedef enum verdict {
  SAME,
  ABOVE,   /* it is converted to another type: whoever uses it differs */
  FOLLOWS, /* it differs because something else does */
  FOUND,
} verdict;

static bool compare_forms(differ *d, const form *x, const form *y,
                          const place *outer);

static void add_place(differ *d, const value *x, const value *y,
                      const place *outer) {
  place at = outer ? *outer : x->at;
  tk_differing f = {.src = at.src, .span = at.span};
  for (size_t i = 0; i < d->found.n; i++)
    if (d->found.items[i].src == at.src &&
        d->found.items[i].span.lo == at.span.lo)
      return;
  f.typed = x->op < TK_INST_COUNT && y->op < TK_INST_COUNT && x->op == y->op &&
            !x->type.ptr && !y->type.ptr && !tk_same_type(&x->type, &y->type) &&
            x->op != TK_I_STORE && x->op != TK_I_CAST;
  f.types[0] = x->type;
  f.types[1] = y->type;
  TK_PUSH(d->a, &d->found, f);
}

static int without_casts(const differ *d, int number) {
  while (d->values.items[number].op == TK_I_CAST)
    number = d->values.items[number].args[0];
  return number;
}

/* What was found of a pair that was looked at before, or -1; and its key. */
static int seen(differ *d, char kind, int x, int y, const place *outer,
                const char **key) {
  *key = tk_arena_printf(d->a, "%c%d,%d,%u", kind, x, y,
                         outer ? outer->span.lo : 0);
  int at = tk_lookup_find(&d->seen, *key);
  return at < 0 ? -1 : d->seen.list.items[at].number;
}

static verdict find(differ *d, int nx, int ny, const place *outer);

/* Two values of different operations, or two that are converted. */
static verdict find_other(differ *d, int nx, int ny, const place *outer) {
  int sx = without_casts(d, nx), sy = without_casts(d, ny);
  if ((sx != nx || sy != ny) && sx == sy) return ABOVE;
  if (sx != nx || sy != ny) return find(d, sx, sy, outer);
  add_place(d, &d->values.items[nx], &d->values.items[ny], outer);
  return FOUND;
}

/* What two equal operations are given. */
static verdict find_operands(differ *d, const value *x, const value *y,
                             const place *outer) {
  verdict most = SAME;
  for (size_t i = 0; i < x->nargs; i++) {
    int a = x->args[i], b = y->args[i];
    bool number = d->values.items[a].op == TK_I_CONST &&
                  d->values.items[b].op == TK_I_CONST;
    verdict v = a == b || number ? SAME : find(d, a, b, outer);
    if (v > most) most = v;
  }
  return most;
}

static verdict find_new(differ *d, int nx, int ny, const place *outer) {
  value x = d->values.items[nx], y = d->values.items[ny];
  if (x.op == LEAF || y.op == LEAF)
    return without_casts(d, nx) == without_casts(d, ny) ? ABOVE : FOLLOWS;
  if (x.op == TK_I_CONST && y.op == TK_I_CONST) return ABOVE;
  if (x.op != y.op || x.nargs != y.nargs || x.op == TK_I_CAST)
    return find_other(d, nx, ny, outer);
  verdict below = find_operands(d, &x, &y, outer);
  if (below >= FOLLOWS) return below;
  if (below == SAME && x.op == TK_I_CALL && x.callee->id != y.callee->id) {
    place at = x.at;
    bool library = x.callee->func->library;
    compare_forms(d, x.callee, y.callee, outer || !library ? outer : &at);
    return FOUND;
  }
  add_place(d, &x, &y, outer);
  return FOUND;
}

static verdict find(differ *d, int nx, int ny, const place *outer) {
  const char *key;
  if (nx == ny) return SAME;
  int before = seen(d, 'v', nx, ny, outer, &key);
  if (before >= 0) return (verdict)before;
  verdict v = find_new(d, nx, ny, outer);
  tk_lookup_add(d->a, &d->seen, key, (int)v);
  return v;
}

/* Adds where two functions differ; false: they do the same. */
static bool compare_forms(differ *d, const form *x, const form *y,
                          const place *outer) {
  const char *key;
  if (x->id == y->id) return false;
  if (seen(d, 'f', x->id, y->id, outer, &key) >= 0) return true;
  tk_lookup_add(d->a, &d->seen, key, FOUND);
  size_t n = x->does.n < y->does.n ? x->does.n : y->does.n;
  for (size_t i = 0; i < n; i++) {
    int a = x->does.items[i], b = y->does.items[i];
    bool kind = d->values.items[a].op == d->values.items[b].op;
    if (find(d, a, b, outer) != SAME && !kind) return true;
  }
  return true;
}

typedef struct comparison {
  differ d;
  const tk_program *first, *second;
} comparison;

static void compare_programs(tk_env *e, void *ud) {
  comparison *c = ud;
  differ *d = &c->d;
  (void)e;
  const form *x = read_program(d, c->first), *y = read_program(d, c->second);
  if (!compare_forms(d, x, y, NULL) || d->found.n) return;
  tk_differing whole = {.src = x->func->src, .span = x->func->span};
  TK_PUSH(d->a, &d->found, whole);
}

const tk_differing *tk_programs_differ(tk_arena *a, const tk_program *first,
                                       const tk_program *second, size_t *n) {
  comparison c = {.d = {.a = a}, .first = first, .second = second};
  tk_env *e = a->env;
  tk_buf_init(&c.d.key, e);
  tk_status st = tk_protect(e, compare_programs, &c);
  tk_buf_free(&c.d.key);
  if (st != TK_OK) tk_throw(e, st);
  *n = c.d.found.n;
  return c.d.found.items;
}
