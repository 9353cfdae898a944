/* gen_text.c - the text of the code for a thread, and the places in the source
 * that it comes from. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nvptx/gen.h"

/* ---- text -----------------------------------------------------------------
 */

const char *tkv_new_name(tkv_gen *g, const char *what) {
  return tk_arena_printf(g->arena, "%s%u", what, g->names++);
}

const char *tkv_text(tkv_gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = tk_arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  return s;
}

static TK_PRINTF(3, 0) void add_line(tkv_gen *g, const char *result,
                                     const char *fmt, va_list ap) {
  tk_buf_puts(&g->body, "  ");
  if (result) tk_buf_printf(&g->body, "%s = ", result);
  tk_buf_vprintf(&g->body, fmt, ap);
  if (g->location) tk_buf_printf(&g->body, ", !dbg !%u", g->location);
  tk_buf_putc(&g->body, '\n');
}

const char *tkv_emit(tkv_gen *g, const char *fmt, ...) {
  const char *name = tkv_new_name(g, "%v");
  va_list ap;
  va_start(ap, fmt);
  add_line(g, name, fmt, ap);
  va_end(ap);
  return name;
}

void tkv_do(tkv_gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add_line(g, NULL, fmt, ap);
  va_end(ap);
}

void tkv_declare(tkv_gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = tk_arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  if (strstr(tk_buf_str(&g->declared), s)) return;
  tk_buf_printf(&g->declared, "declare %s\n", s);
}

void tkv_label(tkv_gen *g, const char *label) {
  tk_buf_printf(&g->body, "%s:\n", label);
}

const char *tkv_both(tkv_gen *g, const char *a, const char *b) {
  return !a ? b : !b ? a : tkv_emit(g, "and i1 %s, %s", a, b);
}

const char *tkv_variable(tkv_gen *g, const tk_type *t) {
  const char *name = tkv_new_name(g, "%m");
  tk_buf_printf(&g->entry, "  %s = alloca %s\n", name, tkv_lane_type(t));
  return name;
}

const char *tkv_escaped(tkv_gen *g, const char *s) {
  char *out = tk_arena_alloc(g->arena, 3 * strlen(s) + 1), *to = out;
  for (; *s; s++) {
    bool plain = *s >= ' ' && *s != '"' && *s != '\\';
    to += sprintf(to, plain ? "%c" : "\\%02X", (unsigned char)*s);
  }
  return out;
}

/* Whether a row of refuse.def has the instruction, so that the documentation
 * says what is refused. */
static bool is_in_row(tkv_refusal row, const char *name) {
  static const char *const rows[] = {
#define REFUSE(ID, instructions, what, why) " " instructions " ",
#include "nvptx/refuse.def"
#undef REFUSE
  };
  char word[64];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(rows[row], word);
}

void tkv_refuse(tkv_gen *g, const tk_inst *in, tkv_refusal row, const char *fmt,
                ...) {
  const char *name = tk_inst_name((tk_opcode)in->op);
  TK_ASSERT(is_in_row(row, name));
  va_list ap;
  va_start(ap, fmt);
  const char *why = tk_arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  tk_diag *d =
      tk_diag_add(g->env, TK_D_UNSUPPORTED, g->file, in->span,
                  "'%s' is not compiled for the GPU here: %s", name, why);
  tk_diag_help(g->env, d,
               "the interpreter runs it; docs/compile.md lists what is "
               "compiled");
  tk_throw(g->env, TK_FINDING);
}

/* ---- places in the source ---------------------------------------------------
 */

enum { FIRST_FREE_METADATA = 16 };

/* Locations are scopes of the one subprogram, !5; a file of its own has one of
 * its own. */
void tkv_set_location(tkv_gen *g, const tk_source *src, tk_span span) {
  int line = tk_source_line(src, span.lo);
  if (g->location && g->file == src && g->line == line) return;
  unsigned scope = 5;
  if (src != g->p->kernel->src) {
    unsigned file = FIRST_FREE_METADATA + g->locations++;
    scope = FIRST_FREE_METADATA + g->locations++;
    tk_buf_printf(&g->debug, "!%u = !DIFile(filename: \"", file);
    tk_buf_puts(&g->debug, src->name);
    tk_buf_printf(&g->debug,
                  "\", directory: \"\")\n!%u = !DILexicalBlockFile(scope: !5, "
                  "file: !%u, discriminator: 0)\n",
                  scope, file);
  }
  g->location = FIRST_FREE_METADATA + g->locations++;
  g->file = src;
  g->line = line;
  tk_buf_printf(&g->debug,
                "!%u = !DILocation(line: %d, column: %d, scope: !%u)\n",
                g->location, line, tk_source_col(src, span.lo), scope);
}
