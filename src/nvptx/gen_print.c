/* gen_print.c - printing and assertions, by the functions that CUDA has for
 * them: vprintf and __assertfail.
 *
 * As in Triton (PrintOpToLLVM.cpp) a lane of an operand is a line: "pid (0, 0,
 * 0) idx (3) text: (operand 1) 2.5"; but the threads that hold copies of a lane
 * do not print it again.
 */
#include <string.h>

#include "launch/pids.h"
#include "nvptx/gen.h"

/* ---- texts --------------------------------------------------------------- */

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

/* What printf writes for a value. */
static const char *conversion(const tk_type *t, bool hex) {
  int bits = tkv_lane_bits(t);
  if (t->ptr) return "%p";
  if (hex)
    return bits == 64   ? "0x%016llx"
           : bits == 32 ? "0x%08x"
           : bits == 16 ? "0x%04x"
                        : "0x%02x";
  if (tk_is_float((tk_dtype)t->elem)) return "%f";
  bool is_signed = tk_is_signed((tk_dtype)t->elem);
  return bits == 64 ? is_signed ? "%lld" : "%llu" : is_signed ? "%d" : "%u";
}

/* A lane as it is passed. */
static tkv_reg passed(tkv_code *c, const tk_type *t, bool hex, tkv_reg x) {
  bool is_float = !t->ptr && tk_is_float((tk_dtype)t->elem);
  tk_type to = tk_scalar(is_float && !hex         ? TK_FP64
                         : tkv_lane_bits(t) == 64 ? TK_INT64
                                                  : TK_INT32);
  if (t->ptr) return x;
  if (!hex || !is_float) return tkv_convert_lane(c, &to, t, x);
  x = tkv_to_bits(c, x);
  return x.type.bits < 32 ? tkv_zext(c, x, TKV_I32) : x;
}

/* ---- conditions ---------------------------------------------------------- */

static tkv_reg program_index(tkv_code *c, int axis) {
  static const char *const names[] = {"ctaid.x", "ctaid.y", "ctaid.z"};
  return tkv_special(c, names[axis], TKV_I32);
}

/* `print_if`: whether the program's index, or what stands for it, fits. */
static tkv_reg fits(tkv_code *c, const tk_pid_cond *cond, tkv_reg pid) {
  tk_pid_interval i = tk_pid_interval_of(cond);
  tkv_reg low = tkv_compare_n(c, TKV_SGE, pid, i.lo),
          high = tkv_compare_n(c, TKV_SLE, pid, i.hi),
          inside = tkv_both(c, low, high);
  return i.outside ? tkv_not(c, inside) : inside;
}

/* Whether the program prints; *first is the first operand that is printed,
 * after those that stand for indices of the program. */
static tkv_reg condition(tkv_gen *g, const tk_inst *in, int *first) {
  tkv_code *c = g->code;
  const tk_format *f = tk_print_format(in);
  tkv_reg all = TKV_NO_REG;
  *first = 0;
  for (int i = 0; i < 3; i++) {
    bool given = f->pid_slots[i] >= 0;
    int k = *first;
    *first += given;
    if (!f->conds.axis[i].op) continue;
    tkv_reg pid = given ? tkv_arg(g, in, k)->one
                        : tkv_zext(c, program_index(c, i), TKV_I64);
    all = tkv_both(c, all, fits(c, &f->conds.axis[i], pid));
  }
  return all;
}

/* ---- printing ------------------------------------------------------------ */

/* The values of a line, which vprintf reads from a variable of the thread. */
typedef struct line {
  tkv_reg values[TK_MAX_RANK + 4];
  int n;
} line;

static void add_passed(line *l, tkv_reg x) {
  l->values[l->n++] = x;
}

static void print_line(tkv_code *c, tkv_reg format, const line *l) {
  tkv_reg values = tkv_record(c, l->values, l->n);
  tkv_call(c, "vprintf", TKV_I32, (tkv_reg[]){format, values}, 2);
}

static line begin_line(tkv_code *c) {
  line l = {.n = 0};
  for (int i = 0; i < 3; i++) add_passed(&l, program_index(c, i));
  return l;
}

/* Decimal digits of the greatest index along an axis of n. */
static int digits_of(int n) {
  int digits = 1;
  for (n--; n >= 10; n /= 10) digits++;
  return digits;
}

/* The format of the k-th of n values. */
static tkv_reg format_of_value(tkv_gen *g, const tk_format *f, const tk_type *t,
                               int k, int n) {
  tk_buf *b = &g->message;
  tk_buf_clear(b);
  tk_buf_puts(b, "pid (%u, %u, %u) idx (");
  for (int i = 0; i < t->rank; i++)
    tk_buf_printf(b, "%s%%%du", i ? ", " : "", digits_of(t->shape[i]));
  tk_buf_puts(b, ")");
  put_prefix(g, b, f, true);
  if (n > 1) tk_buf_printf(b, "(operand %d) ", k);
  tk_buf_printf(b, "%s\n", conversion(t, f->hex));
  return tkv_string(g->code, tk_buf_str(b));
}

/* A line for each lane of a value, where `when` holds. */
static void print_value(tkv_gen *g, const tk_format *f, tkv_value *v,
                        tkv_reg format, tkv_reg when) {
  tkv_code *c = g->code;
  const tk_type *t = &v->type;
  tkv_dist d = t->rank ? tkv_home_of(g, v) : tkv_dist_one(g);
  tkv_reg *reg = tkv_at(g, v, &d), thread = tkv_thread_number(c, &d);
  tkv_label yes = tkv_new_label(c, "print"), end = tkv_new_label(c, "end");
  when = tkv_both(c, when, tkv_is_first(c, &d));
  if (tkv_exists(when)) tkv_branch(c, when, yes, end);
  if (tkv_exists(when)) tkv_put_label(c, yes);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    if (tkv_dist_canonical(&d, r) < r) continue;
    tkv_reg number = tkv_number(c, &d, thread, r);
    line l = begin_line(c);
    for (int i = 0; i < t->rank; i++)
      add_passed(&l, tkv_index_of(c, t, i, number));
    add_passed(&l, passed(c, t, f->hex, reg[r]));
    print_line(c, format, &l);
  }
  if (tkv_exists(when)) tkv_go_to(c, end);
  if (tkv_exists(when)) tkv_put_label(c, end);
}

static void print_text(tkv_gen *g, const tk_format *f, tkv_reg when) {
  tkv_code *c = g->code;
  tkv_dist one = tkv_dist_one(g);
  tkv_label yes = tkv_new_label(c, "print"), end = tkv_new_label(c, "end");
  tk_buf *b = &g->message;
  tk_buf_clear(b);
  tk_buf_puts(b, "pid (%u, %u, %u)");
  put_prefix(g, b, f, false);
  tk_buf_puts(b, "\n");
  tkv_reg format = tkv_string(c, tk_buf_str(b));
  when = tkv_both(c, when, tkv_is_first(c, &one));
  tkv_branch(c, when, yes, end);
  tkv_put_label(c, yes);
  line l = begin_line(c);
  print_line(c, format, &l);
  tkv_go_to(c, end);
  tkv_put_label(c, end);
}

void tkv_gen_print(tkv_gen *g, const tk_inst *in) {
  const tk_format *f = tk_print_format(in);
  int first;
  tkv_reg when = condition(g, in, &first);
  int n = in->nargs - first;
  if (!n) print_text(g, f, when);
  for (int k = 0; k < n; k++) {
    tkv_value *v = tkv_arg(g, in, first + k);
    print_value(g, f, v, format_of_value(g, f, &v->type, k, n), when);
  }
}

/* ---- assertions ---------------------------------------------------------- */

/* The message has no values: it would have to be known which lane fails. */
void tkv_gen_assert(tkv_gen *g, const tk_inst *in) {
  tkv_code *c = g->code;
  tkv_value *v = tkv_arg(g, in, 0);
  tkv_dist d = tkv_exists(v->one) ? tkv_dist_one(g) : tkv_home_of(g, v);
  tkv_reg *reg = tkv_at(g, v, &d), all = TKV_NO_REG;
  tk_type flag = tk_scalar(TK_INT1);
  if (tk_assert_assumed(in)) return;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++)
    all = tkv_both(c, all, tkv_convert_lane(c, &flag, &v->type, reg[r]));
  tkv_label holds = tkv_new_label(c, "holds"),
            fails = tkv_new_label(c, "fails");
  tkv_branch(c, all, holds, fails);
  tkv_put_label(c, fails);
  tk_buf_clear(&g->message);
  text_before_values(tk_assert_format(in), true, &g->message);
  tkv_reg message = tkv_string(c, tk_buf_str(&g->message)),
          file = tkv_string(c, tkv_file_of_code(c)->name),
          number = tkv_i32(tkv_line_of_code(c)),
          function = tkv_string(c, g->frame->f->name),
          size = tkv_integer(TKV_I64, 1);
  tkv_call(c, "__assertfail", TKV_NOTHING,
           (tkv_reg[]){message, file, number, function, size}, 5);
  tkv_go_to(c, holds);
  tkv_put_label(c, holds);
}
