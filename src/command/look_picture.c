/* look_picture.c - a block as a picture, in letters, in colour or as SVG.
 *
 * The block becomes a grid of cells, one per lane or, when there are too many
 * for the room, one per group of neighbouring lanes.  A block of more than two
 * axes is one such grid, a plane, for each index of the leading ones.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command/look.h"

enum { MAX_ROWS = 48, SVG_CELLS = 128 };
enum { LEAST_ROWS = 8, MAX_PLANES = 8, SVG_PLANES = 64 };

typedef struct grid {
  int64_t planes, shown; /* of them those that there is room for */
  int64_t first;         /* lane of the plane that is drawn */
  int64_t rows, cols;    /* of lanes, in a plane */
  int64_t down, across;  /* lanes that a cell stands for */
  int64_t nrows, ncols;  /* of cells */
  double least, most;    /* finite lanes */
  bool any;              /* there is one */
  bool mask;
} grid;

/* What a cell stands for. */
typedef struct cell {
  double value;
  bool undefined, nan, inf;
} cell;

static void measure(grid *g, const tkt_block *b) {
  g->least = 0, g->most = 1;
  for (int64_t i = 0; i < g->planes * g->rows * g->cols; i++) {
    double v = tkt_lane_double(b, i);
    if (v != v || isinf(v) || (b->undefined && b->undefined[i])) continue;
    if (!g->any || v < g->least) g->least = v;
    if (!g->any || v > g->most) g->most = v;
    g->any = true;
  }
}

static bool has_planes(const tkt_block *b) {
  return b->type.rank > 2;
}

/* Planes share the rows that there are, down to a few for each. */
static void divide_planes(grid *g, const tkt_block *b, int64_t max_planes,
                          int64_t *max_rows) {
  for (int i = 0; i + 2 < b->type.rank; i++) g->planes *= b->type.shape[i];
  g->shown = g->planes < max_planes ? g->planes : max_planes;
  if (g->shown > 1) *max_rows /= g->shown;
  if (g->shown > 1 && *max_rows < LEAST_ROWS) *max_rows = LEAST_ROWS;
}

static grid grid_of(const tkt_block *b, int64_t max_planes, int64_t max_rows,
                    int64_t max_cols) {
  const tk_type *t = &b->type;
  int64_t n = tk_numel(t);
  grid g = {.mask = !t->ptr && t->elem == TK_INT1, .planes = 1};
  divide_planes(&g, b, max_planes, &max_rows);
  g.cols = t->rank ? t->shape[t->rank - 1] : 1;
  if (t->rank == 1 && g.cols > max_cols && n % max_cols == 0)
    g.cols = max_cols; /* a long row continues below */
  g.rows = g.cols && g.planes ? n / g.cols / g.planes : 0;
  g.across = (g.cols + max_cols - 1) / max_cols;
  g.down = (g.rows + max_rows - 1) / max_rows;
  g.ncols = g.across ? (g.cols + g.across - 1) / g.across : 0;
  g.nrows = g.down ? (g.rows + g.down - 1) / g.down : 0;
  measure(&g, b);
  return g;
}

static void add_lane(cell *c, const tkt_block *b, int64_t i, bool first) {
  double v = tkt_lane_double(b, i);
  if (b->undefined && b->undefined[i])
    c->undefined = true;
  else if (v != v)
    c->nan = true;
  else if (isinf(v))
    c->inf = true;
  else if (first || fabs(v) > fabs(c->value))
    c->value = v;
}

static cell cell_at(const grid *g, const tkt_block *b, int64_t row,
                    int64_t col) {
  cell c = {0};
  bool first = true;
  for (int64_t r = row * g->down; r < (row + 1) * g->down && r < g->rows; r++)
    for (int64_t k = col * g->across; k < (col + 1) * g->across && k < g->cols;
         k++) {
      add_lane(&c, b, g->first + r * g->cols + k, first);
      first = false;
    }
  return c;
}

static void go_to_plane(grid *g, int64_t plane) {
  g->first = plane * g->rows * g->cols;
}

/* "[1, 0, " of the plane's leading axes; "[" if there are none. */
static void plane_index(tk_buf *out, const tkt_block *b, int64_t plane) {
  tk_type lead = b->type;
  tk_buf_puts(out, "[");
  if (!has_planes(b)) return;
  lead.rank -= 2;
  out->n--;
  tkt_lane_index(out, &lead, plane);
  out->n--;
  tk_buf_puts(out, ", ");
}

static void plane_label(tk_buf *out, const tkt_block *b, int64_t plane) {
  plane_index(out, b, plane);
  tk_buf_puts(out, ":, :]");
}

/* 0 .. 1: where the cell's value lies between the extremes. */
static double level(const grid *g, const cell *c) {
  double span = g->most - g->least;
  return span > 0 ? (c->value - g->least) / span : 0.5;
}

/* ---- letters and colour ------------------------------------------------- */

static char letter(const grid *g, const cell *c) {
  static const char ramp[] = " .:-=+*#%@";
  if (c->undefined) return '?';
  if (c->nan) return 'N';
  if (c->inf) return 'I';
  if (g->mask) return c->value ? '#' : '.';
  int k = (int)(level(g, c) * (double)(sizeof ramp - 1));
  return ramp[k < (int)sizeof ramp - 1 ? k : (int)sizeof ramp - 2];
}

/* From the 256 colours of terminals: dark blue over green to yellow. */
static int background(const grid *g, const cell *c) {
  static const uint8_t ramp[] = {17, 18, 19, 25, 31, 37, 42, 77, 148, 226};
  if (c->undefined) return 240;
  if (c->nan || c->inf) return 196;
  int k = (int)(level(g, c) * (double)sizeof ramp);
  return ramp[k < (int)sizeof ramp ? k : (int)sizeof ramp - 1];
}

static void draw_row(tk_buf *out, const grid *g, const tkt_block *b,
                     int64_t row, bool colour) {
  tk_buf_printf(out, "%6" PRId64 " ", row * g->down);
  for (int64_t col = 0; col < g->ncols; col++) {
    cell c = cell_at(g, b, row, col);
    if (colour)
      tk_buf_printf(out, "\033[48;5;%dm%c", background(g, &c),
                    c.undefined || c.nan || c.inf ? letter(g, &c) : ' ');
    else
      tk_buf_putc(out, letter(g, &c));
  }
  tk_buf_puts(out, colour ? "\033[0m\n" : "\n");
}

static void legend(tk_buf *out, const grid *g) {
  if (g->mask)
    tk_buf_puts(out, "       # true  . false");
  else if (!g->any)
    tk_buf_puts(out, "       no finite number");
  else if (g->least == g->most)
    tk_buf_printf(out, "       every number is %.6g", g->most);
  else
    tk_buf_printf(out, "       ' ' %.6g  '@' %.6g", g->least, g->most);
  tk_buf_puts(out, "  ? undefined");
  if (!g->mask) tk_buf_puts(out, "  N NaN  I infinite");
  if (g->down > 1 || g->across > 1)
    tk_buf_printf(out,
                  "\n       a cell stands for %" PRId64 " x %" PRId64 " lanes",
                  g->down, g->across);
  tk_buf_putc(out, '\n');
}

static void draw_plane(tk_buf *out, grid *g, const tkt_block *b, int64_t plane,
                       bool colour) {
  go_to_plane(g, plane);
  if (has_planes(b)) {
    plane_label(out, b, plane);
    tk_buf_putc(out, '\n');
  }
  for (int64_t row = 0; row < g->nrows; row++) draw_row(out, g, b, row, colour);
}

void tkt_picture(tk_buf *out, const tkt_block *b, int width, bool colour) {
  grid g = grid_of(b, MAX_PLANES, MAX_ROWS, width > 24 ? width - 8 : 16);
  tk_type_declare(out, &b->type);
  tk_buf_putc(out, '\n');
  for (int64_t i = 0; i < g.shown; i++) draw_plane(out, &g, b, i, colour);
  if (g.shown < g.planes)
    tk_buf_printf(out, "       %" PRId64 " more planes are left out\n",
                  g.planes - g.shown);
  legend(out, &g);
}

/* ---- SVG ---------------------------------------------------------------- */

enum { CELL = 8, LABEL = 2 * CELL }; /* pixels */

static void svg_fill(tk_buf *out, const grid *g, const cell *c) {
  if (c->undefined) {
    tk_buf_puts(out, "#808080");
    return;
  }
  if (c->nan || c->inf) {
    tk_buf_puts(out, "#ff0000");
    return;
  }
  int k = (int)(level(g, c) * 255);
  tk_buf_printf(out, "#%02x%02x%02x", k, k, 255 - k);
}

static void svg_cell(tk_buf *out, const grid *g, const tkt_block *b,
                     int64_t plane, int64_t row, int64_t col, int64_t top) {
  cell c = cell_at(g, b, row, col);
  tk_buf_printf(out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%d\" "
                "height=\"%d\" fill=\"",
                col * CELL, top + row * CELL, CELL, CELL);
  svg_fill(out, g, &c);
  tk_buf_puts(out, "\"><title>");
  plane_index(out, b, plane);
  tk_buf_printf(out, "%" PRId64 ", %" PRId64 "] %.9g", row * g->down,
                col * g->across, c.value);
  tk_buf_puts(out, c.undefined ? " undefined" : c.nan ? " NaN" : "");
  tk_buf_puts(out, "</title></rect>\n");
}

/* Planes stand below each other, each under its label. */
static void svg_plane(tk_buf *out, grid *g, const tkt_block *b, int64_t plane,
                      int64_t top) {
  go_to_plane(g, plane);
  if (has_planes(b)) {
    tk_buf_printf(out, "<text x=\"0\" y=\"%" PRId64 "\" font-size=\"12\">",
                  top + LABEL - 4);
    plane_label(out, b, plane);
    tk_buf_puts(out, "</text>\n");
    top += LABEL;
  }
  for (int64_t row = 0; row < g->nrows; row++)
    for (int64_t col = 0; col < g->ncols; col++)
      svg_cell(out, g, b, plane, row, col, top);
}

void tkt_svg(tk_buf *out, const tkt_block *b) {
  grid g = grid_of(b, SVG_PLANES, SVG_CELLS, SVG_CELLS);
  int64_t each = g.nrows * CELL + (has_planes(b) ? LABEL : 0);
  int64_t width = g.ncols * CELL;
  if (has_planes(b) && width < 16 * CELL) width = 16 * CELL;
  int64_t rest = g.shown < g.planes ? LABEL : 0;
  tk_buf_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                "width=\"%" PRId64 "\" height=\"%" PRId64 "\">\n",
                width, g.shown * each + rest);
  for (int64_t i = 0; i < g.shown; i++) svg_plane(out, &g, b, i, i * each);
  if (rest)
    tk_buf_printf(out,
                  "<text x=\"0\" y=\"%" PRId64 "\" font-size=\"12\">%" PRId64
                  " more planes</text>\n",
                  g.shown * each + LABEL - 4, g.planes - g.shown);
  tk_buf_puts(out, "</svg>\n");
}
