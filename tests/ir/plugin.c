/* plugin.c - a plug-in that knows tkdbg by its public headers alone.
 *
 * It writes the typed form anew, from what tkdbg/ir.h tells of it.  That gives
 * the text that the library writes, so nothing of the form is out of reach.
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/ir.h"

typedef struct writer {
  FILE *out;
  const tk_ir *p;
  const tk_ir_func *f;
  int *numbers; /* by value: that of a temporary + 1, or 0 */
  int next, depth;
  tk_place stmt;
} writer;

/* ---- pieces ------------------------------------------------------------- */

static void indent(writer *w) {
  fprintf(w->out, "%*s", 2 * w->depth, "");
}

static void put_quoted(FILE *out, const char *s, size_t n) {
  fputc('"', out);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", out);
    else if (c < 0x20 || c == 0x7f)
      fprintf(out, "\\x%02x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

static void put_scalar(FILE *out, const tk_ir_type *t) {
  for (int i = 0; i < t->pointers; i++)
    fputs(t->is_const ? "const_pointer<" : "pointer<", out);
  fputs(tk_dtype_name(t->dtype), out);
  for (int i = 0; i < t->pointers; i++) fputc('>', out);
}

static void put_type(FILE *out, tk_ir_type t) {
  bool to_block = t.to_block;
  if (to_block) {
    t.pointers--;
    if (!t.pointers) t.is_const = false;
    fputs("pointer<", out);
  }
  for (int i = 0; i < t.rank; i++)
    fprintf(out, "%s%" PRId64, i ? ", " : "<[", t.shape[i]);
  if (t.rank) fputs("], ", out);
  put_scalar(out, &t);
  if (t.rank) fputc('>', out);
  if (to_block) fputc('>', out);
}

static void put_value_type(writer *w, int value) {
  tk_ir_type t;
  if (!tk_ir_value_type(w->f, value, &t)) abort();
  put_type(w->out, t);
}

static void put_value(writer *w, int value) {
  const char *name = tk_ir_value_name(w->f, value), *other;
  int before = 0;
  if (!name) {
    if (!w->numbers[value]) w->numbers[value] = ++w->next;
    fprintf(w->out, "%%%d", w->numbers[value] - 1);
    return;
  }
  for (int i = 0; i < value; i++)
    before += (other = tk_ir_value_name(w->f, i)) && !strcmp(other, name);
  fprintf(w->out, "%%%s", name);
  if (before) fprintf(w->out, "#%d", before + 1);
}

static void put_func_name(writer *w, const tk_ir_func *f) {
  const char *name = tk_ir_func_name(f);
  int before = 0;
  for (size_t i = 0; i < tk_ir_func_id(f); i++)
    before += !strcmp(tk_ir_func_name(tk_ir_func_at(w->p, i)), name);
  fprintf(w->out, "@%s", name);
  if (before) fprintf(w->out, "#%d", before + 1);
}

static void put_place(writer *w, tk_place at) {
  fprintf(w->out, " at %d:%d-", at.line, at.column);
  if (at.end_line != at.line) fprintf(w->out, "%d:", at.end_line);
  fprintf(w->out, "%d", at.end_column);
}

/* ---- instructions ------------------------------------------------------- */

static void put_attrs(writer *w, const tk_ir_inst *in) {
  tk_ir_attr a, same;
  const char *before = " {";
  for (size_t i = 0; tk_ir_inst_attr(in, i, &a); i++) {
    if (!tk_ir_inst_attr_named(in, a.name, &same) || same.value != a.value)
      abort();
    if (a.implied) continue;
    fprintf(w->out, "%s%s = ", before, a.name);
    before = ", ";
    if (a.values) {
      fputc('[', w->out);
      for (size_t k = 0; k < a.n; k++)
        fprintf(w->out, "%s%" PRId64, k ? ", " : "", a.values[k]);
      fputc(']', w->out);
    } else if (a.text) {
      fputs(a.text, w->out);
    } else if (!strcmp(a.kind, "bits")) {
      fprintf(w->out, "0x%" PRIx64, (uint64_t)a.value);
    } else if (!strcmp(a.kind, "flag")) {
      fputs("true", w->out);
    } else {
      fprintf(w->out, "%" PRId64, a.value);
    }
  }
  if (*before == ',') fputc('}', w->out);
}

static void put_format(writer *w, const tk_ir_inst *in) {
  tk_ir_format f;
  tk_ir_piece x;
  if (!tk_ir_inst_format(in, &f)) abort();
  if (f.hex) fputs(" hex", w->out);
  if (f.pids) fputs(" pids", w->out);
  if (f.where) {
    fputs(" where ", w->out);
    put_quoted(w->out, f.where, strlen(f.where));
    for (int i = 0; i < 3; i++) {
      fputs(i ? ", " : " of ", w->out);
      if (f.index[i] < 0)
        fputc('-', w->out);
      else
        put_value(w, f.index[i]);
    }
  }
  fputs(" [", w->out);
  for (size_t i = 0; tk_ir_inst_piece(in, i, &x); i++) {
    if (i) fputs(", ", w->out);
    if (x.text) {
      put_quoted(w->out, x.text, x.len);
      continue;
    }
    put_value(w, x.value);
    if (x.spec) {
      fputc(':', w->out);
      put_quoted(w->out, x.spec, strlen(x.spec));
    }
    if (x.repr) fputc('!', w->out);
  }
  fputc(']', w->out);
}

static void put_ref(writer *w, const tk_ir_inst *in) {
  const tk_ir_func *f;
  tk_ir_code code;
  switch (tk_ir_inst_ref(in)) {
  case TK_IR_NONE: break;
  case TK_IR_CALLEE:
    fputc(' ', w->out);
    put_func_name(w, tk_ir_inst_callee(in, 0));
    break;
  case TK_IR_COMBINE:
    for (size_t i = 0; (f = tk_ir_inst_callee(in, i)); i++) {
      fputs(i ? ", " : " by ", w->out);
      put_func_name(w, f);
    }
    break;
  case TK_IR_FORMAT: put_format(w, in); break;
  case TK_IR_CODE:
    if (!tk_ir_inst_code(in, &code)) abort();
    fputs(" code ", w->out);
    put_quoted(w->out, code.text, strlen(code.text));
    fputs(" constraints ", w->out);
    put_quoted(w->out, code.constraints, strlen(code.constraints));
    fprintf(w->out, " pack %d", code.pack);
  }
}

/* Whether an operand by this name may be absent, and whether it stands for
 * many. */
static tk_ir_operand operand_row(const tk_ir_inst *in, const char *name) {
  tk_ir_opcode row;
  tk_ir_operand o;
  for (size_t i = 0; tk_ir_opcode_at(i, &row); i++)
    for (size_t k = 0; tk_ir_opcode_operand(i, k, &o); k++)
      if (!strcmp(row.name, tk_ir_inst_name(in)) && !strcmp(o.name, name))
        return o;
  abort();
}

static void put_operands(writer *w, const tk_ir_inst *in) {
  const char *name, *before = " ";
  for (size_t i = 0; (name = tk_ir_inst_operand_name(in, i)); i++) {
    tk_ir_operand o = operand_row(in, name);
    if (o.many && tk_ir_inst_ref(in) == TK_IR_FORMAT) return;
    fputs(before, w->out);
    if (o.optional && !o.many) fprintf(w->out, "%s=", name);
    if (!o.many && tk_ir_inst_named(in, name) != tk_ir_inst_operand(in, i))
      abort();
    put_value(w, tk_ir_inst_operand(in, i));
    before = ", ";
  }
}

static void put_insts(writer *w, const tk_ir_insts *l);

static void put_inst(writer *w, const tk_ir_inst *in) {
  int v;
  indent(w);
  for (size_t i = 0; (v = tk_ir_inst_result(in, i)) >= 0; i++) {
    if (i) fputs(", ", w->out);
    put_value(w, v);
  }
  bool results = tk_ir_inst_result(in, 0) >= 0;
  fprintf(w->out, "%s%s", results ? " = " : "", tk_ir_inst_name(in));
  put_operands(w, in);
  put_attrs(w, in);
  put_ref(w, in);
  fputs(" : ", w->out);
  if (!results) put_type(w->out, tk_ir_inst_type(in));
  for (size_t i = 0; (v = tk_ir_inst_result(in, i)) >= 0; i++) {
    if (i) fputs(", ", w->out);
    put_value_type(w, v);
  }
  tk_place at = tk_ir_inst_place(w->f, in);
  if (memcmp(&at, &w->stmt, sizeof at) != 0) put_place(w, at);
  for (size_t i = 0; !strcmp(tk_ir_inst_name(in), "cond") && i < 2; i++) {
    fputs(i ? " else {\n" : " {\n", w->out);
    put_insts(w, tk_ir_inst_body(in, i));
    indent(w);
    fputc('}', w->out);
  }
  fputc('\n', w->out);
}

static void put_insts(writer *w, const tk_ir_insts *l) {
  const tk_ir_inst *in;
  w->depth++;
  for (size_t i = 0; (in = tk_ir_inst_at(l, i)); i++) put_inst(w, in);
  w->depth--;
}

/* ---- statements --------------------------------------------------------- */

static void put_body(writer *w, const tk_ir_body *b);

static void put_block(writer *w, const tk_ir_body *b) {
  fputs(" {\n", w->out);
  put_body(w, b);
  indent(w);
  fputc('}', w->out);
}

static void put_loop(writer *w, const tk_ir_stmt *st) {
  tk_ir_loop l;
  if (!tk_ir_stmt_loop(st, &l)) abort();
  const int values[] = {l.variable, l.lower, l.upper, l.step};
  for (int i = 0; i < 4; i++) {
    fputs(i == 0 ? " over " : i == 1 ? " = " : ", ", w->out);
    put_value(w, values[i]);
  }
  if (l.down) fputs(" down", w->out);
  const struct {
    const char *name;
    int64_t value;
    bool flag;
  } options[] = {
      {"num_stages", l.num_stages, false},
      {"unroll", l.unroll, false},
      {"disallow_acc_multi_buffer", l.disallow_acc_multi_buffer, true},
      {"flatten", l.flatten, true},
      {"warp_specialize", l.warp_specialize, true},
      {"disable_licm", l.disable_licm, true},
  };
  const char *before = " with ";
  for (int i = 0; i < 6; i++) {
    if (!options[i].value) continue;
    fprintf(w->out, "%s%s", before, options[i].name);
    if (!options[i].flag) fprintf(w->out, " %" PRId64, options[i].value);
    before = ", ";
  }
}

static void put_stmt(writer *w, const tk_ir_stmt *st) {
  static const char *const words[] = {"stmt", "if", "for", "while", "return"};
  tk_ir_stmt_kind kind = tk_ir_stmt_kind_of(st);
  int v;
  indent(w);
  fputs(words[kind], w->out);
  w->stmt = tk_ir_stmt_place(w->f, st);
  put_place(w, w->stmt);
  fputs(" {\n", w->out);
  put_insts(w, tk_ir_stmt_insts(st));
  indent(w);
  fputc('}', w->out);
  if (kind == TK_IR_FOR) put_loop(w, st);
  if (kind == TK_IR_IF || kind == TK_IR_WHILE) {
    fputs(kind == TK_IR_IF ? " then " : " do ", w->out);
    put_value(w, tk_ir_stmt_condition(st));
  }
  if (kind != TK_IR_RUN && kind != TK_IR_RETURN)
    put_block(w, tk_ir_stmt_body(st));
  if (tk_ir_stmt_at(tk_ir_stmt_else(st), 0)) {
    fputs(" else", w->out);
    put_block(w, tk_ir_stmt_else(st));
  }
  for (size_t i = 0; (v = tk_ir_stmt_result(st, i)) >= 0; i++) {
    fputs(i ? ", " : " ", w->out);
    put_value(w, v);
  }
  fputc('\n', w->out);
}

static void put_body(writer *w, const tk_ir_body *b) {
  const tk_ir_stmt *st;
  w->depth++;
  for (size_t i = 0; (st = tk_ir_stmt_at(b, i)); i++) put_stmt(w, st);
  w->depth--;
}

/* ---- functions ---------------------------------------------------------- */

static void put_origin(writer *w, size_t i) {
  tk_ir_param x;
  if (!tk_ir_param_at(w->p, i, &x)) abort();
  fprintf(w->out, " from %s", tk_ir_arg_name(w->p, x.arg));
  if (x.item) fprintf(w->out, ".%zu", x.item);
  if (x.divisor > 1) fprintf(w->out, " divisor %" PRId64, x.divisor);
}

static bool is_param(writer *w, int value) {
  int v;
  for (size_t i = 0; (v = tk_ir_func_param(w->f, i)) >= 0; i++)
    if (v == value) return true;
  return false;
}

/* Sources are numbered in the order in which functions have them. */
static int source_number(writer *w, const char *file) {
  const tk_ir_func *f;
  int n = 0;
  for (size_t i = 0; (f = tk_ir_func_at(w->p, i)); i++) {
    const char *at = tk_ir_func_place(f).file;
    if (!strcmp(at, file)) return n;
    bool before = false;
    for (size_t k = 0; k < i; k++)
      before |= !strcmp(tk_ir_func_place(tk_ir_func_at(w->p, k)).file, at);
    n += !before;
  }
  return n;
}

static void put_func(writer *w, const tk_ir_func *f) {
  tk_ir_type t;
  int v;
  w->f = f;
  w->next = 0;
  w->numbers = calloc(tk_ir_value_count(f) + 1, sizeof *w->numbers);
  if (!w->numbers) abort();
  if (tk_ir_func_is_library(f)) fputs("library ", w->out);
  fputs(f == tk_ir_kernel(w->p) ? "kernel " : "func ", w->out);
  put_func_name(w, f);
  fputc('(', w->out);
  for (size_t i = 0; (v = tk_ir_func_param(f, i)) >= 0; i++) {
    if (i) fputs(", ", w->out);
    put_value(w, v);
    fputs(": ", w->out);
    put_value_type(w, v);
    if (f == tk_ir_kernel(w->p)) put_origin(w, i);
  }
  fputc(')', w->out);
  for (size_t i = 0; tk_ir_func_result(f, i, &t); i++) {
    fputs(i ? ", " : " -> ", w->out);
    put_type(w->out, t);
  }
  tk_place at = tk_ir_func_place(f);
  fprintf(w->out, " source %d", source_number(w, at.file));
  put_place(w, at);
  fputs(" {\n", w->out);
  for (int i = 0; (size_t)i < tk_ir_value_count(f); i++) {
    if (!tk_ir_value_name(f, i) || is_param(w, i)) continue;
    fputs("  var ", w->out);
    put_value(w, i);
    fputs(": ", w->out);
    put_value_type(w, i);
    fputc('\n', w->out);
  }
  put_body(w, tk_ir_func_body(f));
  fputs("}\n", w->out);
  free(w->numbers);
}

static void put_program(FILE *out, const tk_ir *p) {
  writer w = {.out = out, .p = p};
  const char *name;
  const tk_ir_func *f;
  fputs("tkdbg-ir 1\n", out);
  if (tk_ir_triton_version(p))
    fprintf(out, "triton %d\n", tk_ir_triton_version(p));
  const tk_launch_option_info *o;
  for (size_t i = 0; (o = tk_launch_option_at(i)); i++) {
    int64_t value = tk_ir_option(p, o->name);
    if (!strcmp(o->name, "num_warps") || value != o->usual)
      fprintf(out, "%s %" PRId64 "\n", o->name, value);
  }
  for (size_t i = 0; (name = tk_ir_arg_name(p, i)); i++) {
    const char *value = tk_ir_arg_value(p, i);
    fprintf(out, "arg %s", name);
    if (value) {
      fputs(" = ", out);
      put_quoted(out, value, strlen(value));
    }
    fputc('\n', out);
  }
  for (size_t i = 0; (f = tk_ir_func_at(p, i)); i++) {
    fputc('\n', out);
    put_func(&w, f);
  }
}

/* ---- what the test calls ------------------------------------------------- */

static char *copy_text(const char *s) {
  char *out = strdup(s ? s : "");
  if (!out) abort();
  return out;
}

/* A launch of the kernel k of a source; NULL: the report says why not. */
static tk_launch *launch_of(tk_session *s, const char *source,
                            const char *const *args) {
  tk_module *m;
  tk_function *f;
  tk_launch *l = NULL;
  tk_status st = tk_module_open(s, "kernel.py", source, strlen(source), &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  for (; st == TK_OK && *args; args++) st = tk_launch_arg_text(l, *args);
  return st == TK_OK ? l : NULL;
}

void plugin_read(const char *source, const char *const *args,
                 const char *triton, plugin_form *out) {
  tk_session *s = tk_session_new();
  if (triton && tk_session_triton_version(s, triton) != TK_OK) abort();
  tk_launch *l = launch_of(s, source, args);
  const tk_ir *p = l ? tk_launch_form(l) : NULL;
  *out = (plugin_form){NULL, NULL, NULL};
  if (p) {
    size_t n;
    FILE *text = open_memstream(&out->seen, &n);
    if (!text) abort();
    put_program(text, p);
    fclose(text);
    out->said = copy_text(tk_launch_ir(l));
  }
  out->report = copy_text(tk_report(s, false));
  tk_session_free(s);
}

/* ---- a pass ------------------------------------------------------------- */

static bool count_stmt(void *ud, const tk_ir_func *f, const tk_ir_stmt *st) {
  plugin_pass_result *r = ud;
  (void)f;
  (void)st;
  r->stmts++;
  return true;
}

static bool count_uses(void *ud, const tk_ir_func *f, const tk_ir_stmt *st,
                       const tk_ir_inst *in) {
  plugin_pass_result *r = ud;
  int v;
  (void)st;
  r->insts++;
  for (size_t i = 0; (v = tk_ir_inst_operand(in, i)) >= 0; i++) {
    const char *name = tk_ir_value_name(f, v);
    if (name && (!strcmp(name, "x") || !strcmp(name, "y")))
      r->uses[*name == 'y']++;
  }
  return true;
}

static void keep_text(void *ud, const char *text, size_t n) {
  *(char **)ud = strndup(text, n);
}

static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  char *out;
  size_t n;
  FILE *f = open_memstream(&out, &n);
  if (!f) abort();
  if (at)
    fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  else
    fputs(text, f);
  fclose(f);
  return out;
}

/* Whether a text is read, and prints as the same. */
static bool is_kept(tk_session *s, const char *text) {
  tk_function *f;
  char *again = NULL;
  bool same = tk_ir_open(s, "kept.tk", text, strlen(text), &f) == TK_OK &&
              tk_ir_write(s, tk_function_form(f), keep_text, &again) == TK_OK &&
              !strcmp(again, text);
  free(again);
  return same;
}

void plugin_pass(const char *source, const char *const *args, const char *from,
                 const char *to, plugin_pass_result *out) {
  tk_session *s = tk_session_new();
  tk_launch *l = launch_of(s, source, args);
  const tk_ir *p = l ? tk_launch_form(l) : NULL;
  tk_function *f;
  *out = (plugin_pass_result){.said = NULL};
  if (p && tk_ir_write(s, p, keep_text, &out->said) == TK_OK) {
    tk_ir_visitor v = {out, count_stmt, count_uses};
    for (size_t i = 0; tk_ir_func_at(p, i); i++)
      tk_ir_walk(tk_ir_func_at(p, i), &v);
    out->same_when_kept = is_kept(s, out->said);
    char *changed = replaced(out->said, from, to);
    tk_status st = tk_ir_open(s, "pass.tk", changed, strlen(changed), &f);
    free(changed);
    if (st == TK_OK) st = tk_launch_new(s, f, &l);
    for (; st == TK_OK && *args; args++) st = tk_launch_arg_text(l, *args);
    if (st == TK_OK) st = tk_launch_run(l, NULL, NULL);
    out->ran = st == TK_OK;
    const tk_tensor *t = out->ran ? tk_launch_get_tensor(l, "out") : NULL;
    if (t) memcpy(out->out, t->data, sizeof out->out);
  }
  out->report = copy_text(tk_report(s, false));
  tk_session_free(s);
}

char *plugin_opcodes(void) {
  tk_ir_opcode row;
  tk_ir_operand o;
  const char *name, *kind, *word;
  char *list;
  size_t n;
  FILE *out = open_memstream(&list, &n);
  if (!out) abort();
  for (size_t i = 0; tk_ir_opcode_at(i, &row); i++) {
    fprintf(out, "%s %s %s %d %s\n", row.name, row.effect, row.lanes,
            row.results, row.ref ? row.ref : "-");
    for (size_t k = 0; tk_ir_opcode_operand(i, k, &o); k++)
      fprintf(out, "  %s %s%s%s\n", o.name, o.kind,
              o.optional && !o.many ? " optional" : "", o.many ? " many" : "");
    for (size_t k = 0; (name = tk_ir_opcode_attr(i, k, &kind)); k++) {
      fprintf(out, "  {%s %s", name, kind);
      for (size_t j = 0; (word = tk_ir_word(kind, j)); j++)
        fprintf(out, " %s", word);
      fputs("}\n", out);
    }
  }
  fclose(out);
  return list;
}
