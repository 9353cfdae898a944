/* look_picture.c - a block as a picture, in letters, in colour or as SVG.
 *
 * The block becomes a grid of cells, one per lane or, when there are too many
 * for the room, one per group of neighbouring lanes: their mean, or the one
 * farthest from 0.  A block of more than two axes is one such grid, a plane,
 * for each index of the leading ones; one of a single axis goes on in the next
 * row.  Where there are numbers on both sides of 0, the scale has 0 in its
 * middle.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/look.h"

enum { MAX_ROWS = 48, SVG_CELLS = 128, LINEAR_CELLS = 64 };
enum { LEAST_ROWS = 8, MAX_PLANES = 8, SVG_PLANES = 64 };

typedef enum scale {
  SCALE_MASK,  /* false, some, true */
  SCALE_UP,    /* from the least number to the most */
  SCALE_SIGNED /* from -most to most, 0 apart */
} scale;

typedef struct grid {
  int64_t planes, shown; /* of them those that there is room for */
  int64_t first;         /* lane of the plane that is drawn */
  int64_t rows, cols;    /* of lanes, in a plane */
  int64_t down, across;  /* lanes that a cell stands for */
  int64_t nrows, ncols;  /* of cells */
  int64_t lanes;         /* of the whole block */
  bool linear;           /* of one axis: lanes go on in the next row */
  double least, most;    /* finite lanes; of SCALE_SIGNED, the scale's ends */
  bool any;              /* there is one */
  bool undefined, wild;  /* lanes that are; that are NaN or infinite */
  bool farthest;         /* cells show the lane farthest from 0 */
  scale scale;
} grid;

/* What a cell stands for. */
typedef struct cell {
  double value, sum;
  int64_t n; /* finite lanes */
  bool some; /* there are lanes; none after the last one of a block */
  bool undefined, nan, inf;
} cell;

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

static void add_lane(cell *c, const tkt_block *b, int64_t i) {
  double v = tkt_lane_double(b, i);
  c->some = true;
  if (b->undefined && b->undefined[i]) {
    c->undefined = true;
  } else if (v != v) {
    c->nan = true;
  } else if (isinf(v)) {
    c->inf = true;
  } else {
    if (!c->n++ || fabs(v) > fabs(c->value)) c->value = v;
    c->sum += v;
  }
}

static cell cell_at(const grid *g, const tkt_block *b, int64_t row,
                    int64_t col) {
  cell c = {0};
  for (int64_t r = row * g->down; r < (row + 1) * g->down && r < g->rows; r++)
    for (int64_t k = col * g->across; k < (col + 1) * g->across && k < g->cols;
         k++) {
      int64_t lane = g->first + r * g->cols + k;
      if (lane < g->lanes) add_lane(&c, b, lane);
    }
  if (c.n && !g->farthest) c.value = c.sum / (double)c.n;
  return c;
}

static void go_to_plane(grid *g, int64_t plane) {
  g->first = plane * g->rows * g->cols;
}

/* The ends of the scale, which is that of the cells. */
static void measure(grid *g, const tkt_block *b) {
  g->least = 0, g->most = 1;
  for (int64_t i = 0; i < g->shown * g->nrows * g->ncols; i++) {
    go_to_plane(g, i / (g->nrows * g->ncols));
    cell c = cell_at(g, b, i / g->ncols % g->nrows, i % g->ncols);
    g->undefined |= c.undefined;
    g->wild |= c.nan || c.inf;
    if (!c.n) continue;
    if (!g->any || c.value < g->least) g->least = c.value;
    if (!g->any || c.value > g->most) g->most = c.value;
    g->any = true;
  }
  if (g->scale == SCALE_MASK || g->least >= 0 || g->most <= 0) return;
  g->scale = SCALE_SIGNED;
  g->most = fmax(-g->least, g->most);
  g->least = -g->most;
}

/* A row too long for the room goes on in the next one, each a power of two of
 * cells long. */
static void go_on_below(grid *g, int64_t max_rows, int64_t max_cols) {
  int64_t cells = LINEAR_CELLS;
  while (cells > max_cols) cells /= 2;
  if (g->lanes <= cells) return;
  g->across = (g->lanes + cells * max_rows - 1) / (cells * max_rows);
  g->cols = cells * g->across;
  g->rows = (g->lanes + g->cols - 1) / g->cols;
}

/* The index of a row's first lane along its axis. */
static int64_t row_index(const grid *g, int64_t row) {
  return row * g->down * (g->linear ? g->cols : 1);
}

static grid grid_of(const tkt_block *b, bool farthest, int64_t max_planes,
                    int64_t max_rows, int64_t max_cols) {
  const tk_type *t = &b->type;
  int64_t n = tk_numel(t);
  bool mask = !t->ptr && t->elem == TK_INT1;
  grid g = {.scale = mask ? SCALE_MASK : SCALE_UP,
            .farthest = farthest,
            .planes = 1,
            .lanes = n,
            .linear = t->rank < 2};
  divide_planes(&g, b, max_planes, &max_rows);
  g.cols = t->rank ? t->shape[t->rank - 1] : 1;
  g.rows = g.cols && g.planes ? n / g.cols / g.planes : 0;
  g.across = (g.cols + max_cols - 1) / max_cols;
  if (g.linear) go_on_below(&g, max_rows, max_cols);
  g.down = (g.rows + max_rows - 1) / max_rows;
  g.ncols = g.across ? (g.cols + g.across - 1) / g.across : 0;
  g.nrows = g.down ? (g.rows + g.down - 1) / g.down : 0;
  measure(&g, b);
  return g;
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

/* 0 .. 1: where a number lies between the ends of the scale. */
static double level(const grid *g, double v) {
  double span = g->most - g->least;
  return span > 0 ? (v - g->least) / span : 0.5;
}

static bool cells_are_lanes(const grid *g) {
  return g->down == 1 && g->across == 1;
}

/* What a cell stands for, in words; nothing if that is one lane. */
static void put_meaning(tk_buf *out, const grid *g, bool programs) {
  if (cells_are_lanes(g)) return;
  tk_buf_printf(out, "each cell shows the %s of ",
                programs      ? "last program"
                : g->farthest ? "lane farthest from 0"
                              : "mean");
  if (!g->linear) tk_buf_printf(out, "%" PRId64 " x ", g->down);
  tk_buf_printf(out, "%" PRId64, g->across);
  if (programs || !g->farthest)
    tk_buf_puts(out, programs ? " elements" : " lanes");
}

/* ---- letters and colour ------------------------------------------------- */

/* A step of a scale: its letter, and its colours among the 256 of terminals. */
typedef struct swatch {
  char letter;
  uint8_t back, front;
} swatch;

static const swatch mask_ramp[] = {
    {'.', 17, 231}, {'+', 37, 16}, {'#', 226, 16}};
static const swatch up_ramp[] = {{' ', 17, 231}, {'.', 18, 231}, {':', 19, 231},
                                 {'-', 25, 231}, {'=', 31, 231}, {'+', 37, 16},
                                 {'*', 42, 16},  {'#', 77, 16},  {'%', 148, 16},
                                 {'@', 226, 16}};
static const swatch signed_ramp[] = {
    {'d', 20, 231}, {'c', 27, 231}, {'b', 75, 16},
    {'a', 153, 16}, {'.', 231, 16}, {'1', 223, 16},
    {'2', 215, 16}, {'3', 208, 16}, {'4', 160, 231}};
static const swatch undefined_swatch = {'?', 240, 231};
static const swatch nan_swatch = {'N', 201, 16},
                    infinite_swatch = {'I', 201, 16};

static const swatch *ramp_of(const grid *g, int *n) {
  switch (g->scale) {
  case SCALE_MASK: *n = TK_COUNT(mask_ramp); return mask_ramp;
  case SCALE_UP: *n = TK_COUNT(up_ramp); return up_ramp;
  case SCALE_SIGNED: *n = TK_COUNT(signed_ramp); return signed_ramp;
  }
  return up_ramp;
}

/* 0 alone has the middle of a signed scale. */
static const swatch *swatch_of(const grid *g, const cell *c) {
  int n = 0;
  const swatch *ramp = ramp_of(g, &n);
  double v = c->value;
  if (c->undefined) return &undefined_swatch;
  if (c->nan) return &nan_swatch;
  if (c->inf) return &infinite_swatch;
  if (g->scale == SCALE_MASK) return &ramp[v <= 0 ? 0 : v < 1 ? 1 : 2];
  if (g->scale == SCALE_SIGNED) {
    int steps = n / 2, k = (int)ceil(fabs(v) / g->most * steps);
    if (k > steps) k = steps;
    return &ramp[v < 0 ? steps - k : steps + k];
  }
  int k = (int)(level(g, v) * n);
  return &ramp[k < n ? k : n - 1];
}

static void put_swatch(tk_buf *out, const swatch *s, bool colour) {
  if (colour)
    tk_buf_printf(out, "\033[38;5;%d;48;5;%dm%c\033[0m", s->front, s->back,
                  s->letter);
  else
    tk_buf_putc(out, s->letter);
}

static void draw_row(tk_buf *out, const grid *g, const tkt_block *b,
                     int64_t row, bool colour) {
  tk_buf_printf(out, "%6" PRId64 " ", row_index(g, row));
  for (int64_t col = 0; col < g->ncols; col++) {
    cell c = cell_at(g, b, row, col);
    if (c.some) put_swatch(out, swatch_of(g, &c), colour);
  }
  tk_buf_putc(out, '\n');
}

static void put_mask_legend(tk_buf *out, const grid *g, bool colour) {
  static const char *const words[] = {" false  ", " some  ", " true"};
  for (size_t i = 0; i < TK_COUNT(mask_ramp); i++) {
    if (i == 1 && cells_are_lanes(g)) continue;
    put_swatch(out, &mask_ramp[i], colour);
    tk_buf_puts(out, words[i]);
  }
}

static void put_scale(tk_buf *out, const grid *g, bool colour) {
  int n = 0;
  const swatch *ramp = ramp_of(g, &n);
  tk_buf_printf(out, "%.6g |", g->least);
  for (int i = 0; i < n; i++) put_swatch(out, &ramp[i], colour);
  tk_buf_printf(out, "| %.6g", g->most);
  if (g->scale == SCALE_SIGNED) tk_buf_puts(out, ", 0 is .");
}

static void legend(tk_buf *out, const grid *g, bool colour) {
  tk_buf_puts(out, "       ");
  if (g->scale == SCALE_MASK)
    put_mask_legend(out, g, colour);
  else if (!g->any)
    tk_buf_puts(out, "no finite number");
  else if (g->least == g->most)
    tk_buf_printf(out, "every number is %.6g", g->most);
  else
    put_scale(out, g, colour);
  if (g->undefined) tk_buf_puts(out, "  ? undefined");
  if (g->wild) tk_buf_puts(out, "  N NaN  I infinite");
  if (!cells_are_lanes(g)) tk_buf_puts(out, "\n       ");
  put_meaning(out, g, false);
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

void tkt_picture(tk_buf *out, const tkt_block *b, bool farthest, int width,
                 bool colour) {
  grid g =
      grid_of(b, farthest, MAX_PLANES, MAX_ROWS, width > 24 ? width - 8 : 16);
  tk_type_declare(out, &b->type);
  tk_buf_putc(out, '\n');
  for (int64_t i = 0; i < g.shown; i++) draw_plane(out, &g, b, i, colour);
  if (g.shown < g.planes)
    tk_buf_printf(out, "       %" PRId64 " more planes are left out\n",
                  g.planes - g.shown);
  legend(out, &g, colour);
}

/* ---- SVG ---------------------------------------------------------------- */

enum { LEFT = 56, TOP = 48, LINE = 16, BAR = 128, SCALE_WIDTH = 120 };
enum { LEAST_WIDTH = 300, TICKS = 8, MAP = 96 }; /* pixels */
enum { THIN = 8, MARK = 4, LETTER = 7 };

/* Where what is drawn lies. */
typedef struct sheet {
  tk_buf *out;
  const tkt_block *b;
  const int64_t *programs; /* the grid of the programs that numbers mean */
  grid g;
  int cell;           /* pixels of a cell */
  int64_t plane_high; /* of a plane, with its label and its ticks */
  int64_t width, height;
} sheet;

static void svg_text(const sheet *x, int64_t left, int64_t top,
                     const char *anchor, const char *text) {
  tk_buf_printf(x->out,
                "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\" text-anchor=\"%s\">",
                left, top, anchor);
  for (; *text; text++)
    if (*text == '<' || *text == '&')
      tk_buf_puts(x->out, *text == '<' ? "&lt;" : "&amp;");
    else
      tk_buf_putc(x->out, *text);
  tk_buf_puts(x->out, "</text>\n");
}

static void svg_rect(const sheet *x, int64_t left, int64_t top, int64_t width,
                     int64_t height) {
  tk_buf_printf(x->out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64
                "\" height=\"%" PRId64 "\" fill=",
                left, top, width, height);
}

/* A colour between neighbours of a list, at 0 .. 1 of it. */
static void put_between(tk_buf *out, const uint8_t (*stops)[3], int n,
                        double at) {
  double exact = at * (n - 1);
  int i = exact < 0 ? 0 : exact > n - 2 ? n - 2 : (int)exact;
  double part = exact - i;
  tk_buf_puts(out, "\"#");
  for (int k = 0; k < 3; k++)
    tk_buf_printf(out, "%02x",
                  (int)(stops[i][k] + part * (stops[i + 1][k] - stops[i][k])));
  tk_buf_puts(out, "\"");
}

static void put_colour(const sheet *x, double at) {
  static const uint8_t up[][3] = {{68, 1, 84},
                                  {59, 82, 139},
                                  {33, 145, 140},
                                  {94, 201, 98},
                                  {253, 231, 37}};
  static const uint8_t both[][3] = {
      {33, 102, 172}, {247, 247, 247}, {178, 24, 43}};
  if (x->g.scale == SCALE_SIGNED)
    put_between(x->out, both, TK_COUNT(both), at);
  else
    put_between(x->out, up, TK_COUNT(up), at);
}

static const char grey[] = "\"#9e9e9e\"", magenta[] = "\"#ff00ff\"";

static const char *absent_word(const tkt_block *b) {
  return b->absent ? b->absent : "undefined";
}

/* A number, or the program that has it: "(1, 0, 0)". */
static void put_number(const sheet *x, tk_buf *out, double v, int digits) {
  const int64_t *n = x->programs;
  int64_t i = (int64_t)v;
  if (n)
    tk_buf_printf(out, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", i % n[0],
                  i / n[0] % n[1], i / n[0] / n[1]);
  else
    tk_buf_printf(out, "%.*g", digits, v);
}

static void svg_number(const sheet *x, int64_t left, int64_t top, double v) {
  tk_buf_printf(x->out, "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\">", left,
                top);
  put_number(x, x->out, v, 6);
  tk_buf_puts(x->out, "</text>\n");
}

static void put_cell_index(const sheet *x, int64_t plane, int64_t row,
                           int64_t col) {
  const grid *g = &x->g;
  int64_t across = col * g->across;
  plane_index(x->out, x->b, plane);
  if (g->linear)
    across += row_index(g, row);
  else if (x->b->type.rank)
    tk_buf_printf(x->out, "%" PRId64 ", ", row * g->down);
  tk_buf_printf(x->out, "%" PRId64 "]", across);
}

static void svg_cell(const sheet *x, int64_t plane, int64_t row, int64_t col,
                     int64_t top) {
  const grid *g = &x->g;
  cell c = cell_at(g, x->b, row, col);
  if (!c.some) return;
  svg_rect(x, LEFT + col * x->cell, top + row * x->cell, x->cell, x->cell);
  if (c.undefined && !(x->b->absent && c.n))
    tk_buf_puts(x->out, grey);
  else if (c.nan || c.inf)
    tk_buf_puts(x->out, magenta);
  else
    put_colour(x, level(g, c.value));
  tk_buf_puts(x->out, "><title>");
  put_cell_index(x, plane, row, col);
  if (c.n || !x->b->absent) {
    tk_buf_puts(x->out, x->programs ? " program " : " ");
    put_number(x, x->out, c.value, 9);
  }
  if (c.undefined) tk_buf_printf(x->out, " %s", absent_word(x->b));
  tk_buf_puts(x->out, c.undefined ? ""
                      : c.nan     ? " NaN"
                      : c.inf     ? " infinite"
                                  : "");
  tk_buf_puts(x->out, "</title></rect>\n");
}

/* Labels both axes with indices, a power of two of cells apart. Where lanes
 * continue in the next row, the labels say what to add. */
static void svg_ticks(const sheet *x, int64_t top) {
  const grid *g = &x->g;
  char text[32];
  int64_t step = 1;
  while (g->nrows / step > TICKS) step *= 2;
  for (int64_t i = 0; i < g->nrows && !(g->linear && g->nrows < 2); i += step) {
    snprintf(text, sizeof text, "%" PRId64, row_index(g, i));
    svg_text(x, LEFT - 6, top + i * x->cell + x->cell / 2 + 4, "end", text);
  }
  for (step = 1; g->ncols / step > TICKS;) step *= 2;
  for (int64_t i = 0; i < g->ncols; i += step) {
    snprintf(text, sizeof text, "%s%" PRId64,
             g->linear && g->nrows > 1 ? "+" : "", i * g->across);
    svg_text(x, LEFT + i * x->cell + x->cell / 2, top + g->nrows * x->cell + 14,
             "middle", text);
  }
}

/* Planes stand below each other, each under its label. */
static void svg_plane(sheet *x, int64_t plane) {
  int64_t top = TOP + plane * x->plane_high;
  go_to_plane(&x->g, plane);
  if (has_planes(x->b)) {
    tk_buf *label = x->out;
    tk_buf_printf(label, "<text x=\"%d\" y=\"%" PRId64 "\">", LEFT,
                  top + LINE - 4);
    plane_label(label, x->b, plane);
    tk_buf_puts(label, "</text>\n");
    top += LINE;
  }
  for (int64_t row = 0; row < x->g.nrows; row++)
    for (int64_t col = 0; col < x->g.ncols; col++)
      svg_cell(x, plane, row, col, top);
  svg_ticks(x, top);
}

static void svg_key(const sheet *x, int64_t left, int64_t top,
                    const char *colour, const char *text) {
  svg_rect(x, left, top, 12, 12);
  tk_buf_printf(x->out, "%s/>\n", colour);
  svg_text(x, left + 18, top + 11, "start", text);
}

/* The colours from the top down, with the numbers that they stand for. */
static void svg_bar(const sheet *x, int64_t left, int64_t top) {
  const grid *g = &x->g;
  int steps = g->scale == SCALE_MASK ? 2 : 32;
  for (int i = 0; i < steps; i++) {
    svg_rect(x, left, top + i * (BAR / steps), 12, BAR / steps);
    put_colour(x, 1 - (double)i / (steps - 1));
    tk_buf_puts(x->out, "/>\n");
  }
  left += 18;
  if (g->scale == SCALE_MASK) {
    svg_text(x, left, top + 10, "start", "true");
    svg_text(x, left, top + BAR, "start", "false");
    return;
  }
  svg_number(x, left, top + 10, g->most);
  svg_number(x, left, top + BAR, g->least);
  if (g->scale == SCALE_SIGNED)
    svg_text(x, left, top + BAR / 2 + 4, "start", "0");
}

static void svg_scale(const sheet *x) {
  const grid *g = &x->g;
  int64_t left = x->width - SCALE_WIDTH, top = TOP;
  if (g->any && (g->scale == SCALE_MASK || g->least < g->most)) {
    svg_bar(x, left, top);
  } else if (g->any) { /* the one number there is */
    svg_rect(x, left, top, 12, 12);
    put_colour(x, level(g, g->most));
    tk_buf_puts(x->out, "/>\n");
    svg_number(x, left + 18, top + 11, g->most);
  }
  top += BAR + 8;
  if (x->programs) svg_text(x, left, top + 11, "start", "by program");
  if (g->wild) svg_key(x, left, top, magenta, "NaN, infinite");
  if (g->undefined) svg_key(x, left, top + LINE, grey, absent_word(x->b));
}

/* The programs of axes 0 (across) and 1 (down), and the one that the block is
 * of, in black; without lines between where they are too many. */
static void svg_programs(const sheet *x, const tkt_caption *c) {
  const int64_t *n = c->grid;
  int64_t left = x->width - SCALE_WIDTH, top = TOP + BAR + 4 * LINE;
  int64_t most = n[0] > n[1] ? n[0] : n[1], each = MAP / most, at[2], size[2];
  char text[96];
  each = each > 12 ? 12 : each < MARK ? 0 : each;
  snprintf(text, sizeof text, "grid (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
           n[0], n[1], n[2]);
  svg_text(x, left, top - 6, "start", text);
  for (int k = 0; k < 2; k++) {
    size[k] = each ? n[k] * each : n[k] * MAP / most;
    if (size[k] < THIN) size[k] = THIN;
    at[k] = each ? c->pid[k] * each : c->pid[k] * (size[k] - MARK) / n[k];
    if (!each && n[k] == 1) at[k] = (THIN - MARK) / 2;
  }
  svg_rect(x, left, top, size[0], size[1]);
  tk_buf_puts(x->out, "\"#e0e0e0\" stroke=\"#9e9e9e\"/>\n");
  for (int k = 0; k < 2; k++)
    for (int64_t i = 1; each && i < n[k]; i++)
      tk_buf_printf(x->out,
                    "<path d=\"M%" PRId64 " %" PRId64 "%c%" PRId64
                    "\" stroke=\"white\"/>\n",
                    left + (k ? 0 : i * each), top + (k ? i * each : 0),
                    k ? 'h' : 'v', size[!k]);
  svg_rect(x, left + at[0], top + at[1], each ? each : MARK,
           each ? each : MARK);
  snprintf(text, sizeof text, "program (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
           c->pid[0], c->pid[1], c->pid[2]);
  tk_buf_printf(x->out, "\"black\"><title>%s</title></rect>\n", text);
}

/* A line of text is as long as its letters, about. */
static void widen(sheet *x, const char *text) {
  int64_t need = LEFT + LETTER * (int64_t)strlen(text);
  if (x->width < need) x->width = need;
}

int64_t tkt_svg(tk_buf *out, const tkt_block *b, bool farthest,
                const tkt_caption *caption, int64_t top) {
  sheet x = {.out = out,
             .b = b,
             .programs = caption->programs,
             .g = grid_of(b, farthest, SVG_PLANES, SVG_CELLS, SVG_CELLS)};
  const grid *g = &x.g;
  int64_t most = g->ncols > g->nrows ? g->ncols : g->nrows, drawn;
  x.cell = most > 64 ? 5 : most > 24 ? 8 : 16;
  x.plane_high = g->nrows * x.cell + 2 * LINE + (has_planes(b) ? LINE : 0);
  drawn = g->shown * x.plane_high;
  int64_t under = TOP + drawn + LINE / 2;
  int64_t beside = BAR + (caption->grid[0] ? 4 * LINE + MAP : 3 * LINE);
  if (drawn < beside) drawn = beside;
  x.width = g->ncols * x.cell;
  if (x.width < LEAST_WIDTH) x.width = LEAST_WIDTH;
  x.width += LEFT + SCALE_WIDTH + 16;
  widen(&x, caption->title);
  widen(&x, caption->under);
  x.height = TOP + drawn + 2 * LINE;
  tk_buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
  if (top) tk_buf_printf(out, " y=\"%" PRId64 "\"", top);
  tk_buf_printf(out,
                " width=\"%" PRId64 "\" height=\"%" PRId64
                "\" viewBox=\"0 0 %" PRId64 " %" PRId64
                "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                x.width, x.height, x.width, x.height);
  svg_text(&x, LEFT, 20, "start", caption->title);
  svg_text(&x, LEFT, 38, "start", caption->under);
  for (int64_t i = 0; i < g->shown; i++) svg_plane(&x, i);
  svg_scale(&x);
  if (caption->grid[0]) svg_programs(&x, caption);
  tk_buf_printf(out, "<text x=\"%d\" y=\"%" PRId64 "\">", LEFT, under);
  if (g->shown < g->planes)
    tk_buf_printf(out, "%" PRId64 " more planes are left out. ",
                  g->planes - g->shown);
  put_meaning(out, g, x.programs);
  tk_buf_puts(out, "</text>\n</svg>\n");
  return x.height;
}
