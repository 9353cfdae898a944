/* layout_draw.c - layouts as text: their bases, and who holds which element. */
#include <stdio.h>
#include <string.h>

#include "ir/type.h"
#include "launch/session.h"
#include "nvptx/layout.h"
#include "tkdbg/compile.h"

enum { MOST_ROWS = 64, MOST_COLUMNS = 64, MOST_DRAWN = 1 << 20 };

/* ---- bases --------------------------------------------------------------- */

static void print_index(tk_buf *out, const tkv_layout *l, const tkv_index *x) {
  tk_buf_puts(out, "(");
  for (int a = 0; a < l->rank; a++)
    tk_buf_printf(out, "%s%d", a ? ", " : "", x->at[a]);
  tk_buf_puts(out, ")");
}

static void print_bases(tk_buf *out, const tkv_layout *l) {
  for (int k = 0; k < TKV_INPUT_COUNT; k++)
    for (int i = 0; i < l->bits[k]; i++) {
      tk_buf_printf(out, "%s %s=%d -> ", i ? "  " : " -",
                    tkv_input_name((tkv_input)k), 1 << i);
      print_index(out, l, &l->basis[k][i]);
      tk_buf_puts(out, "\n");
    }
}

/* ---- who holds what ------------------------------------------------------ */

/* How many combinations of inputs there are, each of which holds an element. */
static uint64_t holders(const tkv_layout *l) {
  int bits = 0;
  for (int k = 0; k < TKV_INPUT_COUNT; k++) bits += l->bits[k];
  return (uint64_t)1 << bits;
}

static void holder_at(const tkv_layout *l, uint64_t i,
                      uint32_t value[TKV_INPUT_COUNT]) {
  static const tkv_input fastest_first[] = {TKV_REGISTER, TKV_LANE, TKV_WARP,
                                            TKV_OFFSET};
  for (size_t k = 0; k < TK_COUNT(fastest_first); k++) {
    int bits = l->bits[fastest_first[k]];
    value[fastest_first[k]] = (uint32_t)(i & (((uint64_t)1 << bits) - 1));
    i >>= bits;
  }
}

static size_t columns_of(const tkv_layout *l) {
  return (size_t)l->shape[l->rank - 1];
}

static size_t rows_of(const tkv_layout *l) {
  return l->rank > 1 ? (size_t)l->shape[0] : 1;
}

/* The first holder of each element, by row and column; UINT64_MAX: nobody. */
static uint64_t *first_holders(tk_arena *a, const tkv_layout *l) {
  size_t columns = columns_of(l), n = rows_of(l) * columns;
  uint64_t *first = TK_NEWN(a, uint64_t, n);
  memset(first, 0xff, n * sizeof *first);
  for (uint64_t i = holders(l); i-- > 0;) {
    uint32_t value[TKV_INPUT_COUNT];
    holder_at(l, i, value);
    tkv_index x = tkv_layout_at(l, value);
    size_t row = l->rank > 1 ? (size_t)x.at[0] : 0;
    first[row * columns + (size_t)x.at[l->rank - 1]] = i;
  }
  return first;
}

static int cell_text(const tkv_layout *l, uint64_t holder, char *out,
                     size_t size) {
  uint32_t value[TKV_INPUT_COUNT];
  if (holder == UINT64_MAX) return snprintf(out, size, "-");
  holder_at(l, holder, value);
  if (l->bits[TKV_OFFSET]) return snprintf(out, size, "%u", value[TKV_OFFSET]);
  uint32_t thread = value[TKV_WARP] << l->bits[TKV_LANE] | value[TKV_LANE];
  return snprintf(out, size, "T%u:%u", thread, value[TKV_REGISTER]);
}

static void draw_row(tk_buf *out, const tkv_layout *l, const uint64_t *first,
                     size_t row, int width) {
  char text[32];
  size_t columns = columns_of(l);
  tk_buf_printf(out, "%6zu", row);
  for (size_t c = 0; c < columns && c < MOST_COLUMNS; c++) {
    cell_text(l, first[row * columns + c], text, sizeof text);
    tk_buf_printf(out, " %*s", width, text);
  }
  tk_buf_puts(out, columns > MOST_COLUMNS ? " ...\n" : "\n");
}

static void draw_table(tk_buf *out, const tkv_layout *l,
                       const uint64_t *first) {
  char text[32];
  int width = 1;
  size_t rows = rows_of(l), columns = columns_of(l);
  for (size_t i = 0; i < rows * columns; i++) {
    int n = cell_text(l, first[i], text, sizeof text);
    if (n > width) width = n;
  }
  tk_buf_printf(out, "%6s", "");
  for (size_t c = 0; c < columns && c < MOST_COLUMNS; c++)
    tk_buf_printf(out, " %*zu", width, c);
  tk_buf_puts(out, "\n");
  for (size_t r = 0; r < rows && r < MOST_ROWS; r++)
    draw_row(out, l, first, r, width);
  if (rows > MOST_ROWS)
    tk_buf_printf(out, "   ... %zu more rows\n", rows - MOST_ROWS);
}

static void print_summary(tk_buf *out, const tkv_layout *l) {
  uint64_t lanes = 1;
  for (int a = 0; a < l->rank; a++) {
    tk_buf_printf(out, "%s%d", a ? "x" : "", l->shape[a]);
    lanes *= (uint64_t)l->shape[a];
  }
  if (l->bits[TKV_OFFSET]) {
    tk_buf_puts(out, " in shared memory: each cell is an element's offset\n");
    return;
  }
  int warps = 1 << l->bits[TKV_WARP], regs = 1 << l->bits[TKV_REGISTER];
  uint64_t copies = holders(l) / lanes;
  tk_buf_printf(out, ": %d warp%s of %d lanes, %d register%s a lane", warps,
                warps == 1 ? "" : "s", 1 << l->bits[TKV_LANE], regs,
                regs == 1 ? "" : "s");
  if (copies > 1)
    tk_buf_printf(out, "; every element is held %llu times",
                  (unsigned long long)copies);
  tk_buf_puts(out, "\n");
}

/* Its bases, and for one axis or two a table of who holds which element: T5:2
 * is register 2 of thread 5, counted through all warps; the first of them
 * where there are copies. */
static void layout_print(tk_buf *out, const tkv_layout *l, tk_arena *scratch) {
  print_summary(out, l);
  print_bases(out, l);
  if (l->rank < 1 || l->rank > 2 || holders(l) > MOST_DRAWN) return;
  tk_buf_puts(out, "\n");
  draw_table(out, l, first_holders(scratch, l));
}

/* ---- the public edge ----------------------------------------------------- */

typedef struct drawing {
  tk_session *session;
  const char *layout;
  const int64_t *shape;
  int rank;
  const char *text;
} drawing;

static void check_shape(tk_env *e, const drawing *d) {
  int64_t lanes = 1;
  bool sound = d->rank >= 1 && d->rank <= TK_MAX_RANK;
  for (int i = 0; sound && i < d->rank; i++) {
    int64_t n = d->shape[i];
    sound = n > 0 && n <= TK_MAX_NUMEL && !(n & (n - 1));
    lanes *= sound ? n : 1;
    sound &= lanes <= TK_MAX_NUMEL;
  }
  if (sound) return;
  tk_diag *x = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "this is not the shape of a block");
  tk_diag_help(e, x,
               "a block has one to %d axes, each a power of two long, and up "
               "to %d elements",
               TK_MAX_RANK, TK_MAX_NUMEL);
  tk_throw(e, TK_USAGE);
}

static void draw_layout(tk_env *e, void *ud) {
  drawing *d = ud;
  tk_arena *a = &d->session->arena;
  int32_t shape[TK_MAX_RANK] = {0};
  check_shape(e, d);
  for (int i = 0; i < d->rank; i++) shape[i] = (int32_t)d->shape[i];
  const char *text = tk_arena_strdup(a, d->layout);
  const tk_source *src = tk_source_new(a, "layout", text, strlen(text));
  tkv_layout l = tkv_layout_parse(e, src, d->rank, shape);
  tk_buf out;
  tk_buf_init(&out, e);
  layout_print(&out, &l, a);
  d->text = tk_arena_strdup(a, tk_buf_str(&out));
  tk_buf_free(&out);
}

tk_status tk_layout_draw(tk_session *s, const char *layout,
                         const int64_t *shape, int rank, const char **out) {
  drawing d = {s, layout, shape, rank, NULL};
  tk_status st = tk_session_guard(s, draw_layout, &d);
  *out = st == TK_OK ? d.text : NULL;
  return st;
}
