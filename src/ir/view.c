/* view.c - the typed form as plug-ins see it (include/tkdbg/ir.h).
 *
 * A handle of the public header is the struct of ir.h itself, under a name
 * that says nothing of what is in it.
 */
#include <string.h>

#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/view.h"
#include "launch/session.h"
#include "tkdbg/ir.h"

/* What a handle stands for, and the handle of something. */
#define OPAQUE(handle, real)                                                   \
  static const real *real_##handle(const tk_##handle *h) {                     \
    return (const real *)(const void *)h;                                      \
  }                                                                            \
  static const tk_##handle *handle_##handle(const real *x) {                   \
    return (const tk_##handle *)(const void *)x;                               \
  }
OPAQUE(ir_func, tk_func)
OPAQUE(ir_body, tk_body)
OPAQUE(ir_stmt, tk_stmt)
OPAQUE(ir_insts, tk_insts)
OPAQUE(ir_inst, tk_inst)
#undef OPAQUE

static const tk_program *real_ir(const tk_ir *p) {
  return (const tk_program *)(const void *)p;
}

const tk_ir *tk_program_view(const tk_program *p) {
  return (const tk_ir *)(const void *)p;
}

tk_ir_type tk_type_view(const tk_type *t) {
  tk_ir_type out = {.dtype = (tk_dtype)t->elem,
                    .pointers = t->ptr,
                    .is_const = t->is_const,
                    .to_block = t->to_block,
                    .rank = t->rank};
  for (int i = 0; i < t->rank; i++) out.shape[i] = t->shape[i];
  return out;
}

/* ---- programs ----------------------------------------------------------- */

int tk_ir_triton_version(const tk_ir *p) {
  return real_ir(p)->triton_version;
}

int64_t tk_ir_option(const tk_ir *p, const char *name) {
  int i = tk_launch_option_find(name);
  return i < 0 ? -1 : real_ir(p)->options[i];
}

size_t tk_ir_stmt_count(const tk_ir *p) {
  return real_ir(p)->nstmts;
}

size_t tk_ir_inst_count(const tk_ir *p) {
  return real_ir(p)->ninsts;
}

const tk_ir_func *tk_ir_func_at(const tk_ir *p, size_t i) {
  const tk_program *g = real_ir(p);
  return i < g->nfuncs ? handle_ir_func(g->funcs[i]) : NULL;
}

const tk_ir_func *tk_ir_kernel(const tk_ir *p) {
  return handle_ir_func(real_ir(p)->kernel);
}

const char *tk_ir_arg_name(const tk_ir *p, size_t i) {
  const tk_program *g = real_ir(p);
  return i < g->nargs ? g->args[i].name : NULL;
}

const char *tk_ir_arg_value(const tk_ir *p, size_t i) {
  const tk_program *g = real_ir(p);
  return i < g->nargs ? g->args[i].value : NULL;
}

bool tk_ir_param_at(const tk_ir *p, size_t i, tk_ir_param *out) {
  const tk_program *g = real_ir(p);
  if (i >= g->nparams) return false;
  const tk_param *x = &g->params[i];
  *out = (tk_ir_param){x->slot, x->arg, x->item, x->divisor};
  return true;
}

/* ---- functions ---------------------------------------------------------- */

const char *tk_ir_func_name(const tk_ir_func *f) {
  return real_ir_func(f)->name;
}

size_t tk_ir_func_id(const tk_ir_func *f) {
  return real_ir_func(f)->id;
}

bool tk_ir_func_is_library(const tk_ir_func *f) {
  return real_ir_func(f)->library;
}

tk_place tk_ir_func_place(const tk_ir_func *f) {
  return tk_place_of(real_ir_func(f)->src, real_ir_func(f)->span);
}

int tk_ir_func_param(const tk_ir_func *f, size_t i) {
  const tk_func *g = real_ir_func(f);
  return i < g->nparams ? g->params[i] : -1;
}

bool tk_ir_func_result(const tk_ir_func *f, size_t i, tk_ir_type *out) {
  const tk_func *g = real_ir_func(f);
  if (i >= g->nresults) return false;
  *out = tk_type_view(&g->result_types[i]);
  return true;
}

const tk_ir_body *tk_ir_func_body(const tk_ir_func *f) {
  return handle_ir_body(&real_ir_func(f)->body);
}

size_t tk_ir_value_count(const tk_ir_func *f) {
  return real_ir_func(f)->nslots;
}

static const tk_slot *value_slot(const tk_ir_func *f, int value) {
  const tk_func *g = real_ir_func(f);
  return value >= 0 && (size_t)value < g->nslots ? &g->slots[value] : NULL;
}

const char *tk_ir_value_name(const tk_ir_func *f, int value) {
  const tk_slot *s = value_slot(f, value);
  return s ? s->name : NULL;
}

bool tk_ir_value_type(const tk_ir_func *f, int value, tk_ir_type *out) {
  const tk_slot *s = value_slot(f, value);
  if (s) *out = tk_type_view(&s->type);
  return s != NULL;
}

/* ---- statements --------------------------------------------------------- */

const tk_ir_stmt *tk_ir_stmt_at(const tk_ir_body *b, size_t i) {
  const tk_body *x = real_ir_body(b);
  return i < x->n ? handle_ir_stmt(x->items[i]) : NULL;
}

tk_ir_stmt_kind tk_stmt_kind_view(const tk_stmt *st) {
  switch (st->kind) {
  case TK_S_RUN: break;
  case TK_S_IF: return TK_IR_IF;
  case TK_S_FOR: return TK_IR_FOR;
  case TK_S_WHILE: return TK_IR_WHILE;
  case TK_S_RETURN: return TK_IR_RETURN;
  }
  return TK_IR_RUN;
}

tk_ir_stmt_kind tk_ir_stmt_kind_of(const tk_ir_stmt *st) {
  return tk_stmt_kind_view(real_ir_stmt(st));
}

size_t tk_ir_stmt_id(const tk_ir_stmt *st) {
  return real_ir_stmt(st)->id;
}

tk_place tk_ir_stmt_place(const tk_ir_func *f, const tk_ir_stmt *st) {
  return tk_place_of(real_ir_func(f)->src, real_ir_stmt(st)->span);
}

const tk_ir_insts *tk_ir_stmt_insts(const tk_ir_stmt *st) {
  return handle_ir_insts(&real_ir_stmt(st)->insts);
}

int tk_ir_stmt_condition(const tk_ir_stmt *st) {
  const tk_stmt *x = real_ir_stmt(st);
  return x->kind == TK_S_IF || x->kind == TK_S_WHILE ? x->cond : -1;
}

bool tk_ir_stmt_loop(const tk_ir_stmt *st, tk_ir_loop *out) {
  const tk_stmt *x = real_ir_stmt(st);
  if (x->kind != TK_S_FOR) return false;
  *out = (tk_ir_loop){
      .variable = x->iv,
      .lower = x->lb,
      .upper = x->ub,
      .step = x->step,
      .down = x->down,
      .num_stages = x->loop.num_stages,
      .unroll = x->loop.unroll,
      .disallow_acc_multi_buffer = x->loop.disallow_acc_multi_buffer,
      .flatten = x->loop.flatten,
      .warp_specialize = x->loop.warp_specialize,
      .disable_licm = x->loop.disable_licm,
  };
  return true;
}

const tk_ir_body *tk_ir_stmt_body(const tk_ir_stmt *st) {
  return handle_ir_body(&real_ir_stmt(st)->body);
}

const tk_ir_body *tk_ir_stmt_else(const tk_ir_stmt *st) {
  return handle_ir_body(&real_ir_stmt(st)->orelse);
}

int tk_ir_stmt_result(const tk_ir_stmt *st, size_t i) {
  const tk_stmt *x = real_ir_stmt(st);
  return x->kind == TK_S_RETURN && i < x->nresults ? x->results[i] : -1;
}

/* ---- instructions ------------------------------------------------------- */

static const tk_inst_info *row_of(const tk_inst *in) {
  return tk_inst_info_of((tk_opcode)in->op);
}

const tk_ir_inst *tk_ir_inst_at(const tk_ir_insts *l, size_t i) {
  const tk_insts *x = real_ir_insts(l);
  return i < x->n ? handle_ir_inst(x->items[i]) : NULL;
}

const char *tk_ir_inst_name(const tk_ir_inst *in) {
  return row_of(real_ir_inst(in))->name;
}

const char *tk_ir_inst_mode(const tk_ir_inst *in) {
  return tk_mode_name(real_ir_inst(in));
}

size_t tk_ir_inst_id(const tk_ir_inst *in) {
  return real_ir_inst(in)->id;
}

tk_place tk_ir_inst_place(const tk_ir_func *f, const tk_ir_inst *in) {
  return tk_place_of(real_ir_func(f)->src, real_ir_inst(in)->span);
}

tk_ir_type tk_ir_inst_type(const tk_ir_inst *in) {
  return tk_type_view(&real_ir_inst(in)->type);
}

int tk_ir_inst_operand(const tk_ir_inst *in, size_t i) {
  const tk_inst *x = real_ir_inst(in);
  return i < x->nargs ? x->args[i] : -1;
}

int tk_ir_inst_result(const tk_ir_inst *in, size_t i) {
  const tk_inst *x = real_ir_inst(in);
  return i < x->nres ? x->res[i] : -1;
}

/* Operands of which there may be any number stand last. */
const char *tk_ir_inst_operand_name(const tk_ir_inst *in, size_t i) {
  const tk_inst *x = real_ir_inst(in);
  const tk_inst_info *row = row_of(x);
  if (i >= x->nargs) return NULL;
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++)
    if (row->operands[k].many || tk_inst_arg(x, k) == (int)i)
      return row->operands[k].name;
  return NULL;
}

int tk_ir_inst_named(const tk_ir_inst *in, const char *name) {
  const char *at;
  for (size_t i = 0; (at = tk_ir_inst_operand_name(in, i)); i++)
    if (!strcmp(at, name)) return tk_ir_inst_operand(in, i);
  return -1;
}

/* ---- attributes --------------------------------------------------------- */

static tk_ir_attr view_attr(const tk_inst *in, const tk_attr_info *a) {
  int64_t value = tk_inst_get(in, a);
  tk_ir_attr out = {.name = a->name,
                    .kind = tk_attr_kind_name(a),
                    .value = value,
                    .implied = tk_inst_implies(in, a)};
  if (a->kind == TK_ATTR_AXES || a->kind == TK_ATTR_VALUES) {
    out.values = in->attr;
    out.n = in->type.rank;
  } else if (a->kind == TK_ATTR_FUNCTION) {
    out.text = tk_extern_at((size_t)value)->name;
  } else if (a->kind == TK_ATTR_WORD) {
    out.text = tk_list_word(a->list, value);
  }
  return out;
}

bool tk_ir_inst_attr(const tk_ir_inst *in, size_t i, tk_ir_attr *out) {
  const tk_inst *x = real_ir_inst(in);
  const tk_attr_info *a = tk_inst_attr((tk_opcode)x->op, i);
  if (a) *out = view_attr(x, a);
  return a != NULL;
}

bool tk_ir_inst_attr_named(const tk_ir_inst *in, const char *name,
                           tk_ir_attr *out) {
  tk_ir_attr a;
  for (size_t i = 0; tk_ir_inst_attr(in, i, &a); i++) {
    if (strcmp(a.name, name) != 0) continue;
    *out = a;
    return true;
  }
  return false;
}

/* ---- references --------------------------------------------------------- */

tk_ir_ref tk_ir_inst_ref(const tk_ir_inst *in) {
  switch (row_of(real_ir_inst(in))->ref) {
  case TK_REF_NONE: break;
  case TK_REF_CALLEE: return TK_IR_CALLEE;
  case TK_REF_COMBINE: return TK_IR_COMBINE;
  case TK_REF_FORMAT: return TK_IR_FORMAT;
  case TK_REF_CODE: return TK_IR_CODE;
  }
  return TK_IR_NONE;
}

const tk_ir_func *tk_ir_inst_callee(const tk_ir_inst *in, size_t i) {
  const tk_inst *x = real_ir_inst(in);
  tk_ref_kind kind = row_of(x)->ref;
  if (kind == TK_REF_CALLEE && i == 0) return handle_ir_func(x->ref.callee);
  if (kind == TK_REF_COMBINE && i < (size_t)x->ref.combine->nlevels)
    return handle_ir_func(x->ref.combine->levels[i]);
  return NULL;
}

bool tk_ir_inst_format(const tk_ir_inst *in, tk_ir_format *out) {
  const tk_inst *x = real_ir_inst(in);
  if (row_of(x)->ref != TK_REF_FORMAT) return false;
  const tk_format *f = x->ref.format;
  *out = (tk_ir_format){f->hex, f->pids, f->where, {-1, -1, -1}};
  for (int i = 0; i < 3; i++) out->index[i] = f->pid_slots[i];
  return true;
}

bool tk_ir_inst_piece(const tk_ir_inst *in, size_t i, tk_ir_piece *out) {
  const tk_inst *x = real_ir_inst(in);
  if (row_of(x)->ref != TK_REF_FORMAT || i >= x->ref.format->n) return false;
  const tk_piece *p = &x->ref.format->pieces[i];
  *out =
      (tk_ir_piece){p->text, p->len, p->text ? -1 : p->slot, p->spec, p->repr};
  return true;
}

bool tk_ir_inst_code(const tk_ir_inst *in, tk_ir_code *out) {
  const tk_inst *x = real_ir_inst(in);
  if (row_of(x)->ref != TK_REF_CODE) return false;
  const tk_asm *a = x->ref.code;
  *out = (tk_ir_code){a->text, a->constraints, a->pack};
  return true;
}

const tk_ir_insts *tk_ir_inst_body(const tk_ir_inst *in, size_t i) {
  return i < 2 ? handle_ir_insts(&real_ir_inst(in)->body[i]) : NULL;
}

/* ---- the table of instructions ------------------------------------------ */

bool tk_ir_opcode_at(size_t i, tk_ir_opcode *out) {
  if (i >= TK_INST_COUNT) return false;
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)i);
  *out = (tk_ir_opcode){row->name,
                        row->doc,
                        tk_effect_name(row->effect),
                        tk_lanes_name(row->lanes),
                        tk_lanes_doc(row->lanes),
                        row->results,
                        tk_ref_name(row->ref)};
  return true;
}

bool tk_ir_opcode_operand(size_t i, size_t k, tk_ir_operand *out) {
  if (i >= TK_INST_COUNT || k >= TK_OPERANDS) return false;
  const tk_operand_info *o = &tk_inst_info_of((tk_opcode)i)->operands[k];
  if (!o->name) return false;
  *out = (tk_ir_operand){o->name, tk_operand_name(o->kind),
                         tk_operand_wanted(o->kind), o->optional, o->many};
  return true;
}

const char *tk_ir_opcode_attr(size_t i, size_t k, const char **kind) {
  const tk_attr_info *a =
      i < TK_INST_COUNT ? tk_inst_attr((tk_opcode)i, k) : NULL;
  if (!a) return NULL;
  *kind = tk_attr_kind_name(a);
  return a->name;
}

static int list_named(const char *kind) {
  int k = 0;
  while (k < TK_LIST_COUNT && strcmp(tk_list_name((tk_list)k), kind) != 0) k++;
  return k;
}

const char *tk_ir_word(const char *kind, size_t i) {
  int k = list_named(kind);
  if (k == TK_LIST_COUNT || i >= INT64_MAX) return NULL;
  return tk_list_word((tk_list)k, (int64_t)i);
}

const char *tk_ir_word_types(const char *kind, size_t i) {
  if (!tk_ir_word(kind, i)) return NULL;
  return tk_list_takes_name((tk_list)list_named(kind), (int64_t)i);
}

/* ---- walking and writing ------------------------------------------------ */

static bool visit_stmt(void *ud, const tk_at *at) {
  const tk_ir_visitor *v = ud;
  return v->stmt(v->ud, handle_ir_func(at->func), handle_ir_stmt(at->stmt));
}

static bool visit_inst(void *ud, const tk_at *at, const tk_inst *in) {
  const tk_ir_visitor *v = ud;
  return v->inst(v->ud, handle_ir_func(at->func), handle_ir_stmt(at->stmt),
                 handle_ir_inst(in));
}

bool tk_ir_walk(const tk_ir_func *f, const tk_ir_visitor *v) {
  tk_ir_visitor copy = *v;
  tk_walk w = {.ud = &copy,
               .stmt = v->stmt ? visit_stmt : NULL,
               .inst = v->inst ? visit_inst : NULL};
  return tk_walk_func(real_ir_func(f), &w);
}

typedef struct writing {
  const tk_program *p;
  tk_output_fn out;
  void *ud;
} writing;

typedef struct printing {
  const tk_program *p;
  tk_buf *out;
} printing;

static void print_form(tk_env *e, void *ud) {
  printing *x = ud;
  (void)e;
  tk_program_print(x->out, x->p);
}

static void write_form(tk_env *e, void *ud) {
  writing *w = ud;
  tk_buf b;
  tk_buf_init(&b, e);
  tk_status st = tk_protect(e, print_form, &(printing){w->p, &b});
  if (st == TK_OK) w->out(w->ud, b.s, b.n);
  tk_buf_free(&b);
  if (st != TK_OK) tk_throw(e, st);
}

tk_status tk_ir_write(tk_session *s, const tk_ir *p, tk_output_fn out,
                      void *ud) {
  writing w = {real_ir(p), out, ud};
  return tk_session_guard(s, write_form, &w);
}
