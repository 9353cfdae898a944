/* print.c - programs as text.
 *
 *   kernel @add_kernel(%x_ptr: pointer<fp32> from x_ptr, ...) source 0 ... {
 *     var %pid: int32
 *     stmt at 22:5-35 {
 *       %pid = program_id {axis = 0} : int32 at 22:11-35
 *     }
 *
 * The text says everything: parse.c makes the same program of it, which prints
 * as the same text.  Temporaries are numbered in the order in which the text
 * defines them; two variables of one name and different types are %x and %x#2.
 * An attribute that has its default, 0 or the first of its list, is left out.
 * An instruction without a place has that of its statement.
 */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/text.h"

const tk_loop_word tk_loop_words[TK_LOOP_WORDS] = {
    {"num_stages", offsetof(tk_loop_options, num_stages), false},
    {"unroll", offsetof(tk_loop_options, unroll), false},
    {"disallow_acc_multi_buffer",
     offsetof(tk_loop_options, disallow_acc_multi_buffer), true},
    {"flatten", offsetof(tk_loop_options, flatten), true},
    {"warp_specialize", offsetof(tk_loop_options, warp_specialize), true},
    {"disable_licm", offsetof(tk_loop_options, disable_licm), true},
};

typedef struct printer {
  tk_buf *out;
  const tk_program *p;
  const tk_func *f;
  tk_arena scratch;
  int *numbers; /* of f: by slot, that of a temporary + 1, or 0 */
  int next;
  int *before;    /* of f: by slot, how many earlier variables have its name */
  int *namesakes; /* by function: how many earlier ones have its name */
  tk_span stmt;   /* of the statement around */
  int depth;
  const tk_remark *remark; /* or NULL */
} printer;

/* ---- pieces ------------------------------------------------------------- */

static void print_line_start(printer *p) {
  tk_buf_pad(p->out, ' ', (size_t)p->depth * 2);
}

static void print_quoted(tk_buf *out, const char *s, size_t n) {
  tk_buf_putc(out, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\')
      tk_buf_printf(out, "\\%c", c);
    else if (c == '\n')
      tk_buf_puts(out, "\\n");
    else if (c < 0x20 || c == 0x7f)
      tk_buf_printf(out, "\\x%02x", c);
    else
      tk_buf_putc(out, (char)c);
  }
  tk_buf_putc(out, '"');
}

static void print_slot(printer *p, int slot) {
  const char *name = p->f->slots[slot].name;
  if (!name) {
    if (!p->numbers[slot]) p->numbers[slot] = ++p->next;
    tk_buf_printf(p->out, "%%%d", p->numbers[slot] - 1);
    return;
  }
  int before = p->before[slot];
  tk_buf_printf(p->out, "%%%s", name);
  if (before) tk_buf_printf(p->out, "#%d", before + 1);
}

static void print_slots(printer *p, const int *slots, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) tk_buf_puts(p->out, ", ");
    print_slot(p, slots[i]);
  }
}

/* Adds the name of the i-th of a list, and counts the earlier ones of the same
 * name. */
static void count_namesake(printer *p, tk_lookup *names, int *counts, int i,
                           const char *name) {
  int old = tk_lookup_find(names, name);
  if (old >= 0) counts[i] = counts[names->list.items[old].number] + 1;
  tk_lookup_add(&p->scratch, names, name, i);
}

static void count_funcs(printer *p) {
  tk_lookup names = {.nbuckets = 0};
  p->namesakes = TK_NEWN(&p->scratch, int, p->p->nfuncs + 1);
  for (size_t i = 0; i < p->p->nfuncs; i++)
    count_namesake(p, &names, p->namesakes, (int)i, p->p->funcs[i]->name);
}

static void count_variables(printer *p) {
  const tk_func *f = p->f;
  tk_lookup names = {.nbuckets = 0};
  p->before = TK_NEWN(&p->scratch, int, f->nslots + 1);
  for (size_t i = 0; i < f->nslots; i++)
    if (f->slots[i].name)
      count_namesake(p, &names, p->before, (int)i, f->slots[i].name);
}

static void print_func_name(printer *p, const tk_func *f) {
  int before = p->namesakes[f->id];
  tk_buf_printf(p->out, "@%s", f->name);
  if (before) tk_buf_printf(p->out, "#%d", before + 1);
}

/* Lines and columns, from 1; the end is exclusive. */
static void print_span(printer *p, tk_span at) {
  const tk_source *src = p->f->src;
  int line = tk_source_line(src, at.lo), end = tk_source_line(src, at.hi);
  tk_buf_printf(p->out, " at %d:%d-", line, tk_source_col(src, at.lo));
  if (end != line) tk_buf_printf(p->out, "%d:", end);
  tk_buf_printf(p->out, "%d", tk_source_col(src, at.hi));
}

/* ---- instructions ------------------------------------------------------- */

static void print_attr(tk_buf *out, const tk_inst *in, const tk_attr_info *a) {
  int64_t v = tk_inst_get(in, a);
  switch (a->kind) {
  case TK_ATTR_INT:
  case TK_ATTR_AXIS: tk_buf_printf(out, "%lld", (long long)v); break;
  case TK_ATTR_BITS: tk_buf_printf(out, "0x%llx", (unsigned long long)v); break;
  case TK_ATTR_FLAG: tk_buf_puts(out, "true"); break;
  case TK_ATTR_AXES:
  case TK_ATTR_VALUES: { /* a scalar has one value */
    int n = in->type.rank || a->kind == TK_ATTR_AXES ? in->type.rank : 1;
    tk_buf_putc(out, '[');
    for (int i = 0; i < n; i++)
      tk_buf_printf(out, "%s%lld", i ? ", " : "", (long long)in->attr[i]);
    tk_buf_putc(out, ']');
    break;
  }
  case TK_ATTR_FUNCTION: tk_buf_puts(out, tk_extern_at((size_t)v)->name); break;
  case TK_ATTR_WORD: tk_buf_puts(out, tk_list_word(a->list, v)); break;
  }
}

static void print_attrs(printer *p, const tk_inst *in) {
  const tk_attr_info *a;
  const char *before = " {";
  for (size_t i = 0; (a = tk_inst_attr((tk_opcode)in->op, i)); i++) {
    if (tk_inst_implies(in, a)) continue;
    tk_buf_printf(p->out, "%s%s = ", before, a->name);
    print_attr(p->out, in, a);
    before = ", ";
  }
  if (*before == ',') tk_buf_putc(p->out, '}');
}

/* Text and values in order; %x:"spec" has a format, %x! is printed as repr()
 * would. */
static void print_format(printer *p, const tk_format *f) {
  if (f->hex) tk_buf_puts(p->out, " hex");
  if (f->pids) tk_buf_puts(p->out, " pids");
  if (f->where) {
    tk_buf_puts(p->out, " where ");
    print_quoted(p->out, f->where, strlen(f->where));
    for (int i = 0; i < 3; i++) {
      tk_buf_puts(p->out, i ? ", " : " of ");
      if (f->pid_slots[i] < 0)
        tk_buf_putc(p->out, '-');
      else
        print_slot(p, f->pid_slots[i]);
    }
  }
  tk_buf_puts(p->out, " [");
  for (size_t i = 0; i < f->n; i++) {
    const tk_piece *x = &f->pieces[i];
    if (i) tk_buf_puts(p->out, ", ");
    if (x->text) {
      print_quoted(p->out, x->text, x->len);
      continue;
    }
    print_slot(p, x->slot);
    if (x->spec) {
      tk_buf_putc(p->out, ':');
      print_quoted(p->out, x->spec, strlen(x->spec));
    }
    if (x->repr) tk_buf_putc(p->out, '!');
  }
  tk_buf_putc(p->out, ']');
}

static void print_ref(printer *p, const tk_inst *in) {
  switch (tk_inst_info_of((tk_opcode)in->op)->ref) {
  case TK_REF_NONE: break;
  case TK_REF_CALLEE:
    tk_buf_putc(p->out, ' ');
    print_func_name(p, in->ref.callee);
    break;
  case TK_REF_COMBINE:
    for (int i = 0; i < in->ref.combine->nlevels; i++) {
      tk_buf_puts(p->out, i ? ", " : " by ");
      print_func_name(p, in->ref.combine->levels[i]);
    }
    break;
  case TK_REF_FORMAT: print_format(p, in->ref.format); break;
  case TK_REF_CODE:
    tk_buf_puts(p->out, " code ");
    print_quoted(p->out, in->ref.code->text, strlen(in->ref.code->text));
    tk_buf_puts(p->out, " constraints ");
    print_quoted(p->out, in->ref.code->constraints,
                 strlen(in->ref.code->constraints));
    tk_buf_printf(p->out, " pack %d", in->ref.code->pack);
    break;
  }
}

/* Operands that may be absent are named, the others go by their place. Operands
 * of a format are written inside it. */
static void print_operands(printer *p, const tk_inst *in) {
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)in->op);
  const char *before = " ";
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    const tk_operand_info *o = &row->operands[k];
    if (o->many) {
      size_t n = row->ref == TK_REF_FORMAT || k >= in->nargs
                     ? 0
                     : in->nargs - (size_t)k;
      if (n) tk_buf_puts(p->out, before);
      print_slots(p, in->args + k, n);
      break;
    }
    int at = tk_inst_arg(in, k);
    if (at < 0) continue;
    tk_buf_puts(p->out, before);
    if (o->optional) tk_buf_printf(p->out, "%s=", o->name);
    print_slot(p, in->args[at]);
    before = ", ";
  }
}

static void print_types(printer *p, const tk_inst *in) {
  tk_buf_puts(p->out, " : ");
  if (!in->nres) tk_type_print(p->out, &in->type);
  for (size_t i = 0; i < in->nres; i++) {
    if (i) tk_buf_puts(p->out, ", ");
    tk_type_print(p->out, &p->f->slots[in->res[i]].type);
  }
}

static void print_insts(printer *p, const tk_insts *l);

static void print_inst(printer *p, const tk_inst *in) {
  print_line_start(p);
  print_slots(p, in->res, in->nres);
  tk_buf_printf(p->out, "%s%s", in->nres ? " = " : "",
                tk_inst_name((tk_opcode)in->op));
  print_operands(p, in);
  print_attrs(p, in);
  print_ref(p, in);
  print_types(p, in);
  if (in->span.lo != p->stmt.lo || in->span.hi != p->stmt.hi)
    print_span(p, in->span);
  if (in->op == TK_I_COND) {
    for (int i = 0; i < 2; i++) {
      tk_buf_puts(p->out, i ? " else {\n" : " {\n");
      print_insts(p, &in->body[i]);
      print_line_start(p);
      tk_buf_putc(p->out, '}');
    }
  }
  if (p->remark) p->remark->put(p->remark->ud, p->out, p->f, in);
  tk_buf_putc(p->out, '\n');
}

static void print_insts(printer *p, const tk_insts *l) {
  p->depth++;
  for (size_t i = 0; i < l->n; i++) print_inst(p, l->items[i]);
  p->depth--;
}

/* ---- statements --------------------------------------------------------- */

static void print_body(printer *p, const tk_body *b);

static void print_block(printer *p, const tk_body *b) {
  tk_buf_puts(p->out, " {\n");
  print_body(p, b);
  print_line_start(p);
  tk_buf_putc(p->out, '}');
}

static void print_loop(printer *p, const tk_stmt *st) {
  tk_buf_puts(p->out, " over ");
  print_slot(p, st->iv);
  tk_buf_puts(p->out, " = ");
  print_slots(p, (int[]){st->lb, st->ub, st->step}, 3);
  if (st->down) tk_buf_puts(p->out, " down");
  const char *before = " with ";
  for (int i = 0; i < TK_LOOP_WORDS; i++) {
    const tk_loop_word *w = &tk_loop_words[i];
    const char *at = (const char *)&st->loop + w->at;
    int64_t v = w->flag ? *(const bool *)at : *(const int64_t *)at;
    if (!v) continue;
    tk_buf_printf(p->out, "%s%s", before, w->name);
    if (!w->flag) tk_buf_printf(p->out, " %lld", (long long)v);
    before = ", ";
  }
}

static void print_stmt(printer *p, const tk_stmt *st) {
  static const char *const words[] = {"stmt", "if", "for", "while", "return"};
  print_line_start(p);
  tk_buf_puts(p->out, words[st->kind]);
  print_span(p, st->span);
  tk_buf_puts(p->out, " {\n");
  p->stmt = st->span;
  print_insts(p, &st->insts);
  print_line_start(p);
  tk_buf_putc(p->out, '}');
  switch (st->kind) {
  case TK_S_RUN: break;
  case TK_S_IF:
    tk_buf_puts(p->out, " then ");
    print_slot(p, st->cond);
    print_block(p, &st->body);
    if (!st->orelse.n) break;
    tk_buf_puts(p->out, " else");
    print_block(p, &st->orelse);
    break;
  case TK_S_FOR:
    print_loop(p, st);
    print_block(p, &st->body);
    break;
  case TK_S_WHILE:
    tk_buf_puts(p->out, " do ");
    print_slot(p, st->cond);
    print_block(p, &st->body);
    break;
  case TK_S_RETURN:
    if (st->nresults) tk_buf_putc(p->out, ' ');
    print_slots(p, st->results, st->nresults);
  }
  tk_buf_putc(p->out, '\n');
}

static void print_body(printer *p, const tk_body *b) {
  p->depth++;
  for (size_t i = 0; i < b->n; i++) print_stmt(p, b->items[i]);
  p->depth--;
}

/* ---- functions ---------------------------------------------------------- */

/* Where a parameter's value comes from: NAME, or NAME.I of a tuple. */
static void print_origin(printer *p, const tk_param *from) {
  tk_buf_printf(p->out, " from %s", p->p->args[from->arg].name);
  if (from->item) tk_buf_printf(p->out, ".%zu", from->item);
  if (from->divisor > 1) tk_buf_printf(p->out, " divisor %d", from->divisor);
}

static void print_params(printer *p) {
  const tk_func *f = p->f;
  tk_buf_putc(p->out, '(');
  for (size_t i = 0; i < f->nparams; i++) {
    if (i) tk_buf_puts(p->out, ", ");
    print_slot(p, f->params[i]);
    tk_buf_puts(p->out, ": ");
    tk_type_print(p->out, &f->slots[f->params[i]].type);
    if (f == p->p->kernel) print_origin(p, &p->p->params[i]);
  }
  tk_buf_putc(p->out, ')');
}

/* The variables that are not parameters. */
static void print_variables(printer *p) {
  const tk_func *f = p->f;
  bool *param = TK_NEWN(&p->scratch, bool, f->nslots + 1);
  for (size_t i = 0; i < f->nparams; i++) param[f->params[i]] = true;
  for (size_t i = 0; i < f->nslots; i++) {
    if (!f->slots[i].name || param[i]) continue;
    tk_buf_puts(p->out, "  var ");
    print_slot(p, (int)i);
    tk_buf_puts(p->out, ": ");
    tk_type_print(p->out, &f->slots[i].type);
    tk_buf_putc(p->out, '\n');
  }
}

/* The number of a source: of the first function that has it. */
static int source_number(const tk_program *p, const tk_source *src) {
  int n = 0;
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_source *at = p->funcs[i]->src;
    bool before = false;
    for (size_t k = 0; k < i; k++) before |= p->funcs[k]->src == at;
    if (at == src) return n;
    n += !before;
  }
  return n;
}

static void print_func(printer *p, const tk_func *f) {
  p->f = f;
  p->next = 0;
  p->numbers = TK_NEWN(&p->scratch, int, f->nslots + 1);
  count_variables(p);
  if (f->library) tk_buf_puts(p->out, "library ");
  tk_buf_puts(p->out, f == p->p->kernel ? "kernel " : "func ");
  print_func_name(p, f);
  print_params(p);
  for (size_t i = 0; i < f->nresults; i++) {
    tk_buf_puts(p->out, i ? ", " : " -> ");
    tk_type_print(p->out, &f->result_types[i]);
  }
  tk_buf_printf(p->out, " source %d", source_number(p->p, f->src));
  print_span(p, f->span);
  tk_buf_puts(p->out, " {\n");
  print_variables(p);
  print_body(p, &f->body);
  tk_buf_puts(p->out, "}\n");
}

/* ---- sources ------------------------------------------------------------ */

typedef struct extent {
  const tk_source *src;
  uint32_t lo, hi;
} extent;

static void extend_extent(extent *x, const tk_func *f, tk_span at) {
  if (f->src != x->src) return;
  if (at.lo < x->lo) x->lo = at.lo;
  if (at.hi > x->hi) x->hi = at.hi;
}

static bool extend_by_stmt(void *ud, const tk_at *at) {
  extend_extent(ud, at->func, at->stmt->span);
  return true;
}

static bool extend_by_inst(void *ud, const tk_at *at, const tk_inst *in) {
  extend_extent(ud, at->func, in->span);
  return true;
}

/* The lines that functions stand in, so that reports can show them wherever
 * the text is read. */
static void print_source(printer *p, const tk_source *src, int number) {
  extent x = {src, UINT32_MAX, 0};
  tk_walk w = {.ud = &x, .stmt = extend_by_stmt, .inst = extend_by_inst};
  for (size_t i = 0; i < p->p->nfuncs; i++)
    extend_extent(&x, p->p->funcs[i], p->p->funcs[i]->span);
  tk_walk_program(p->p, &w);
  int first = tk_source_line(src, x.lo), last = tk_source_line(src, x.hi);
  tk_buf_printf(p->out, "source %d ", number);
  print_quoted(p->out, src->name, strlen(src->name));
  tk_buf_printf(p->out, " from %d\n", first);
  for (int i = first; i <= last; i++) {
    size_t n;
    const char *text = tk_source_line_text(src, i, &n);
    tk_buf_puts(p->out, "|");
    tk_buf_add(p->out, text, n);
    tk_buf_putc(p->out, '\n');
  }
}

static void print_header(printer *p) {
  const tk_program *g = p->p;
  tk_buf_printf(p->out, "%s %d\n", TK_TEXT_HEAD, TK_TEXT_VERSION);
  if (g->triton_version)
    tk_buf_printf(p->out, "triton %d\n", g->triton_version);
  if (g->language)
    tk_buf_printf(p->out, "language %s\n", tk_language_name(g->language));
  for (size_t i = 0; i < TK_LAUNCH_OPTIONS; i++) {
    const tk_launch_option_info *o = tk_launch_option_at(i);
    if (i == TK_LAUNCH_NUM_WARPS || g->options[i] != o->usual)
      tk_buf_printf(p->out, "%s %lld\n", o->name, (long long)g->options[i]);
  }
  for (size_t i = 0; i < g->nargs; i++) {
    tk_buf_printf(p->out, "arg %s", g->args[i].name);
    if (g->args[i].value) {
      tk_buf_puts(p->out, " = ");
      print_quoted(p->out, g->args[i].value, strlen(g->args[i].value));
    }
    tk_buf_putc(p->out, '\n');
  }
}

static void print_program(tk_env *e, void *ud) {
  printer *p = ud;
  const tk_program *g = p->p;
  int sources = 0;
  (void)e;
  count_funcs(p);
  print_header(p);
  for (size_t i = 0; i < g->nfuncs; i++) {
    tk_buf_putc(p->out, '\n');
    print_func(p, g->funcs[i]);
  }
  for (size_t i = 0; i < g->nfuncs; i++) {
    const tk_source *src = g->funcs[i]->src;
    if (source_number(g, src) != sources) continue;
    tk_buf_putc(p->out, '\n');
    print_source(p, src, sources++);
  }
}

void tk_program_print_with(tk_buf *out, const tk_program *g,
                           const tk_remark *remark) {
  tk_env *e = out->env;
  printer p = {.out = out, .p = g, .remark = remark};
  tk_arena_init(&p.scratch, e);
  tk_status st = tk_protect(e, print_program, &p);
  tk_arena_free(&p.scratch);
  if (st != TK_OK) tk_throw(e, st);
}

void tk_program_print(tk_buf *out, const tk_program *g) {
  tk_program_print_with(out, g, NULL);
}
