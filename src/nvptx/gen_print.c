/* gen_print.c - printing and assertions, by the functions that CUDA has for
 * them: vprintf and __assertfail.
 *
 * As in Triton (PrintOpToLLVM.cpp) a lane of an operand is a line: "pid (0, 0,
 * 0) idx (3) text: (operand 1) 2.5"; but the threads that hold copies of a lane
 * do not say it again.
 */
#include <string.h>

#include "launch/pids.h"
#include "nvptx/gen.h"

/* ---- texts ------------------------------------------------------------------
 */

/* The text up to the first value, or all of it without values. */
static void text_before_values(const tk_format *f, bool whole, tk_buf *out) {
  for (size_t i = 0; i < f->n; i++) {
    const tk_piece *p = &f->pieces[i];
    if (p->text)
      tk_buf_add(out, p->text, p->len);
    else if (!whole)
      return;
  }
}

/* A string in the module: its name. */
static const char *new_string(tkv_gen *g, const char *s) {
  const char *name = tkv_new_name(g, "@text");
  tk_buf_printf(&g->declared, "%s = private constant [%zu x i8] c\"", name,
                strlen(s) + 1);
  tk_buf_puts(&g->declared, tkv_escaped(g, s));
  tk_buf_puts(&g->declared, "\\00\"\n");
  return name;
}

/* The prefix as Triton's front end makes it, for a format of printf: it begins
 * with a blank and ends with ": ". */
static void put_prefix(tkv_gen *g, tk_buf *out, const tk_format *f,
                       bool values) {
  tk_buf *text = &g->prefix;
  tk_buf_clear(text);
  text_before_values(f, !values, text);
  const char *s = tk_buf_str(text);
  size_t n = text->n;
  while (values && n && s[n - 1] == ' ') n--;
  while (values && n && s[n - 1] == ':') n--;
  if (*s != ' ') tk_buf_putc(out, ' ');
  for (size_t i = 0; i < n; i++)
    tk_buf_puts(out, s[i] == '%' ? "%%" : (char[2]){s[i], 0});
  if (values) tk_buf_puts(out, ": ");
}

/* What printf writes for a value, which is passed as `type`. */
static const char *conversion(const tk_type *t, bool hex, const char **type) {
  bool wide = tkv_lane_bits(t) == 64;
  bool is_float = !t->ptr && tk_is_float((tk_dtype)t->elem);
  *type = is_float && !hex ? "double" : wide ? "i64" : "i32";
  if (t->ptr) return "%p";
  if (hex) {
    int bits = tkv_lane_bits(t);
    return bits == 64   ? "0x%016llx"
           : bits == 32 ? "0x%08x"
           : bits == 16 ? "0x%04x"
                        : "0x%02x";
  }
  if (is_float) return "%f";
  bool is_signed = tk_is_signed((tk_dtype)t->elem);
  return wide ? is_signed ? "%lld" : "%llu" : is_signed ? "%d" : "%u";
}

/* A lane as it is passed. */
static const char *passed(tkv_gen *g, const tk_type *t, bool hex,
                          const char *x) {
  bool is_float = !t->ptr && tk_is_float((tk_dtype)t->elem);
  tk_type to = tk_scalar(is_float && !hex         ? TK_FP64
                         : tkv_lane_bits(t) == 64 ? TK_INT64
                                                  : TK_INT32);
  if (t->ptr) return x;
  if (!hex || !is_float) return tkv_convert_lane(g, &to, t, false, x);
  int bits = tkv_lane_bits(t);
  x = tkv_to_bits(g, t, x);
  return bits < 32 ? tkv_emit(g, "zext i%d %s to i32", bits, x) : x;
}

/* ---- conditions -------------------------------------------------------------
 */

static const char *program_index(tkv_gen *g, int axis) {
  return tkv_emit(g, "call i32 @llvm.nvvm.read.ptx.sreg.ctaid.%c()",
                  "xyz"[axis]);
}

/* `print_if`: whether the program's index, or what stands for it, fits. */
static const char *fits(tkv_gen *g, const tk_pid_cond *c, const char *pid) {
  tk_pid_interval i = tk_pid_interval_of(c);
  const char *low = tkv_emit(g, "icmp sge i64 %s, %lld", pid, (long long)i.lo),
             *high = tkv_emit(g, "icmp sle i64 %s, %lld", pid, (long long)i.hi),
             *inside = tkv_both(g, low, high);
  return i.outside ? tkv_emit(g, "xor i1 %s, true", inside) : inside;
}

/* The operands behind those that stand for indices of the program are the
 * values: *first of them. */
static const char *condition(tkv_gen *g, const tk_inst *in, int *first) {
  const tk_format *f = tk_print_format(in);
  const char *all = NULL;
  *first = 0;
  for (int i = 0; i < 3; i++) {
    bool given = f->pid_slots[i] >= 0;
    int k = *first;
    *first += given;
    if (!f->conds.axis[i].op) continue;
    const char *pid =
        given ? tkv_arg(g, in, k)->one
              : tkv_emit(g, "zext i32 %s to i64", program_index(g, i));
    all = tkv_both(g, all, fits(g, &f->conds.axis[i], pid));
  }
  return all;
}

/* ---- printing ---------------------------------------------------------------
 */

/* The values of a line, in a variable of the thread that vprintf reads. */
typedef struct line {
  const char *types, *values[TK_MAX_RANK + 4], *type[TK_MAX_RANK + 4];
  int n;
} line;

static void add_passed(tkv_gen *g, line *l, const char *type, const char *x) {
  l->types = l->n ? tkv_text(g, "%s, %s", l->types, type) : type;
  l->type[l->n] = type;
  l->values[l->n++] = x;
}

static void print_line(tkv_gen *g, const char *format, const line *l) {
  const char *values = tkv_new_name(g, "%m");
  tk_buf_printf(&g->entry, "  %s = alloca {%s}\n", values, l->types);
  for (int i = 0; i < l->n; i++) {
    const char *at = tkv_emit(g, "getelementptr {%s}, ptr %s, i32 0, i32 %d",
                              l->types, values, i);
    tkv_do(g, "store %s %s, ptr %s", l->type[i], l->values[i], at);
  }
  tkv_declare(g, "i32 @vprintf(ptr, ptr)");
  tkv_emit(g, "call i32 @vprintf(ptr %s, ptr %s)", format, values);
}

static line begin_line(tkv_gen *g) {
  line l = {.n = 0};
  for (int i = 0; i < 3; i++) add_passed(g, &l, "i32", program_index(g, i));
  return l;
}

/* Decimal digits of the greatest index along an axis of n. */
static int digits_of(int n) {
  int digits = 1;
  for (n--; n >= 10; n /= 10) digits++;
  return digits;
}

/* Of the k-th of n values: a line for each lane. */
static void print_value(tkv_gen *g, const tk_format *f, tkv_value *v, int k,
                        int n, const char *when) {
  const tk_type *t = &v->type;
  const char *type, *conv = conversion(t, f->hex, &type);
  tk_buf *b = &g->message;
  tk_buf_clear(b);
  tk_buf_puts(b, "pid (%u, %u, %u) idx (");
  for (int i = 0; i < t->rank; i++)
    tk_buf_printf(b, "%s%%%du", i ? ", " : "", digits_of(t->shape[i]));
  tk_buf_puts(b, ")");
  put_prefix(g, b, f, true);
  if (n > 1) tk_buf_printf(b, "(operand %d) ", k);
  tk_buf_printf(b, "%s\n", conv);
  const char *format = new_string(g, tk_buf_str(b));
  tkv_dist d =
      t->rank ? tkv_home_of(g, v) : (tkv_dist){.nwarp = tkv_log2(g->warps)};
  const char **reg = tkv_at(g, v, &d), *thread = tkv_thread_number(g, &d),
             *yes = tkv_new_name(g, "print"), *end = tkv_new_name(g, "end");
  when = tkv_both(g, when, tkv_is_first(g, &d));
  if (when) tkv_do(g, "br i1 %s, label %%%s, label %%%s", when, yes, end);
  if (when) tkv_label(g, yes);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    if (tkv_dist_canonical(&d, r) < r) continue;
    const char *number = tkv_number(g, &d, thread, r);
    line l = begin_line(g);
    for (int i = 0; i < t->rank; i++)
      add_passed(g, &l, "i32", tkv_index_of(g, t, i, number));
    add_passed(g, &l, type, passed(g, t, f->hex, reg[r]));
    print_line(g, format, &l);
  }
  if (when) tkv_do(g, "br label %%%s", end);
  if (when) tkv_label(g, end);
}

static void print_text(tkv_gen *g, const tk_format *f, const char *when) {
  tkv_dist one = {.nwarp = tkv_log2(g->warps)};
  const char *yes = tkv_new_name(g, "print"), *end = tkv_new_name(g, "end");
  tk_buf *b = &g->message;
  tk_buf_clear(b);
  tk_buf_puts(b, "pid (%u, %u, %u)");
  put_prefix(g, b, f, false);
  tk_buf_puts(b, "\n");
  const char *format = new_string(g, tk_buf_str(b));
  when = tkv_both(g, when, tkv_is_first(g, &one));
  tkv_do(g, "br i1 %s, label %%%s, label %%%s", when, yes, end);
  tkv_label(g, yes);
  line l = begin_line(g);
  print_line(g, format, &l);
  tkv_do(g, "br label %%%s", end);
  tkv_label(g, end);
}

void tkv_gen_print(tkv_gen *g, const tk_inst *in) {
  const tk_format *f = tk_print_format(in);
  int first;
  const char *when = condition(g, in, &first);
  if (first == in->nargs) print_text(g, f, when);
  for (int k = first; k < in->nargs; k++)
    print_value(g, f, tkv_arg(g, in, k), k - first, in->nargs - first, when);
}

/* ---- assertions -------------------------------------------------------------
 */

/* Values in the text are not shown: what fails is a lane of many. */
void tkv_gen_assert(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = tkv_arg(g, in, 0);
  tkv_dist d =
      v->one ? (tkv_dist){.nwarp = tkv_log2(g->warps)} : tkv_home_of(g, v);
  const char **reg = tkv_at(g, v, &d), *all = NULL;
  tk_type flag = tk_scalar(TK_INT1);
  if (tk_assert_assumed(in)) return;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++)
    all = tkv_both(g, all, tkv_convert_lane(g, &flag, &v->type, false, reg[r]));
  const char *holds = tkv_new_name(g, "holds"),
             *fails = tkv_new_name(g, "fails");
  tkv_do(g, "br i1 %s, label %%%s, label %%%s", all, holds, fails);
  tkv_label(g, fails);
  tk_buf_clear(&g->message);
  text_before_values(tk_assert_format(in), true, &g->message);
  const char *message = new_string(g, tk_buf_str(&g->message)),
             *file = new_string(g, g->file->name),
             *function = new_string(g, g->frame->f->name);
  tkv_declare(g, "void @__assertfail(ptr, ptr, i32, ptr, i64)");
  tkv_do(g, "call void @__assertfail(ptr %s, ptr %s, i32 %d, ptr %s, i64 1)",
         message, file, g->line, function);
  tkv_do(g, "br label %%%s", holds);
  tkv_label(g, holds);
}
