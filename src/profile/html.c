/* html.c - a profile as one page that needs no other file.
 *
 * Frames of the graph are buttons, placed by numbers that the style sheet
 * reads; the script only zooms.  Lines of source open and show their
 * operations.
 */
#include <string.h>

#include "profile/profile.h"

static const char page_css[] =
#include "page.css.inc"
    ;
static const char page_js[] =
#include "page.js.inc"
    ;

/* Parts of the width below which a frame is not drawn. */
static const double LEAST_FRAME = 2e-4;

typedef struct page {
  tk_buf *out;
  const tk_profile_data *d;
  double whole; /* seconds */
} page;

static void page_text(tk_buf *out, const char *s) {
  tk_markup_text(out, s, strlen(s));
}

static double percent(const page *p, double seconds) {
  return p->whole > 0 ? 100 * seconds / p->whole : 0;
}

/* ---- at the top ---------------------------------------------------------- */

static void page_machine(page *p) {
  const tk_profile_ceilings *most = &p->d->ceilings;
  if (!p->d->launches) {
    tk_buf_puts(p->out, "no kernel was launched");
    return;
  }
  tk_buf_puts(p->out, "one core of this machine: ");
  tkf_put_bytes(p->out, most->bandwidth);
  tk_buf_puts(p->out, "/s, ");
  tkf_put_speed(p->out, most->flops);
  tk_buf_puts(p->out, " (");
  page_text(p->out, most->cpu);
  tk_buf_puts(p->out, ")");
}

static void page_fact(page *p, const char *name, double value, const char *unit,
                      void (*put)(tk_buf *out, double x)) {
  tk_buf_printf(p->out, "<div><dt>%s</dt><dd>", name);
  put(p->out, value);
  tk_buf_printf(p->out, "%s</dd></div>\n", unit);
}

static void page_facts(page *p) {
  const tk_profile_data *d = p->d;
  const tk_profile_counts *c = &d->counts;
  tk_buf_puts(p->out, "<dl class=\"facts\">\n");
  page_fact(p, "launches", (double)d->launches, "", tkf_put_count);
  page_fact(p, "programs", (double)d->programs, "", tkf_put_count);
  page_fact(p, "time", d->seconds, "", tkf_put_seconds);
  page_fact(p, "in operations", c->seconds, "", tkf_put_seconds);
  page_fact(p, "interrupted by the system", d->paused, "", tkf_put_seconds);
  page_fact(p, "operations", (double)c->calls, "", tkf_put_count);
  page_fact(p, "bytes moved", (double)(c->read + c->written), "",
            tkf_put_bytes);
  page_fact(p, "flops", (double)c->flops, "", tkf_put_count);
  page_fact(p, "lanes off",
            c->lanes ? 100 * (double)c->off / (double)c->lanes : 0, " %",
            tkf_put_count);
  tk_buf_puts(p->out, "</dl>\n");
}

/* ---- the graph ----------------------------------------------------------- */

static void page_frame(page *p, const char *class, int depth, double left,
                       double width) {
  tk_buf_printf(p->out,
                "<button class=\"%s\" data-l=\"%.4f\" data-w=\"%.4f\" "
                "style=\"--d:%d;--l:%.4f;--w:%.4f\" title=\"",
                class, left, width, depth, left, width);
}

/* What a frame says in full, and in short. */
static void page_frame_text(page *p, const tk_profile_node *n) {
  tk_buf *out = p->out;
  bool line = n->kind == TK_PROFILE_LINE;
  if (line) tk_buf_printf(out, "line %d: ", n->place.line);
  if (n->kind == TK_PROFILE_LIBRARY) tk_buf_puts(out, "tl.");
  page_text(out, n->name);
  if (n->type) tk_buf_putc(out, ' '), page_text(out, n->type);
  tk_buf_puts(out, ", ");
  tkf_put_seconds(out, n->total);
  tk_buf_printf(out, ", %.1f %%", percent(p, n->total));
  if (n->place.file) {
    tk_buf_puts(out, ", ");
    page_text(out, n->place.file);
    tk_buf_printf(out, ":%d", n->place.line);
  }
  tk_buf_puts(out, "\">");
  if (line) tk_buf_printf(out, "%d: ", n->place.line);
  page_text(out, n->name);
  tk_buf_puts(out, "</button>\n");
}

/* Frames come in order, so that what lies to the left of one is known: `ends`
 * is how far each row is filled. */
static void page_flame(page *p) {
  static const char *const classes[] = {"function", "line", "library",
                                        "operation"};
  enum { ROWS = 64 };
  double ends[ROWS] = {0};
  int rows = 1;
  const tk_profile_data *d = p->d;
  for (size_t i = 0; i < d->nnodes; i++)
    if (d->nodes[i].depth + 2 > rows) rows = d->nodes[i].depth + 2;
  if (rows > ROWS) rows = ROWS;
  tk_buf_printf(p->out, "<div class=\"flame\" style=\"--rows:%d\">\n", rows);
  page_frame(p, "all", 0, 0, 100);
  tk_buf_puts(p->out, "all operations, ");
  tkf_put_seconds(p->out, p->whole);
  tk_buf_puts(p->out, "\">all operations</button>\n");
  for (size_t i = 0; i < d->nnodes; i++) {
    const tk_profile_node *n = &d->nodes[i];
    int row = n->depth + 1;
    if (row >= rows) continue;
    double left = ends[row], width = percent(p, n->total);
    ends[row] = left + width;
    if (row + 1 < rows) ends[row + 1] = left;
    if (width < 100 * LEAST_FRAME) continue;
    page_frame(p, classes[n->kind], row, left, width);
    page_frame_text(p, n);
  }
  tk_buf_puts(p->out,
              "</div>\n<output>Click a frame to see it closer, the top one or "
              "Escape to see all.</output>\n<p class=\"legend quiet\">"
              "<span><i class=\"function\"></i>kernel, function</span>"
              "<span><i class=\"line\"></i>line</span>"
              "<span><i class=\"library\"></i>function of the language</span>"
              "<span><i class=\"operation\"></i>operation</span></p>\n");
}

/* ---- source -------------------------------------------------------------- */

/* A number in an element of its own, empty where there is nothing to say. */
static void page_span(page *p, const char *class, double x,
                      void (*put)(tk_buf *out, double x), const char *unit) {
  tk_buf_printf(p->out, "<span class=\"%s\">", class);
  if (x > 0) put(p->out, x), tk_buf_puts(p->out, unit);
  tk_buf_puts(p->out, "</span>");
}

static void put_hundredths(tk_buf *out, double x) {
  tk_buf_printf(out, "%.*f", x < 10 ? 2 : x < 100 ? 1 : 0, x);
}

static double part_off(const tk_profile_counts *c) {
  return c->lanes ? 100 * (double)c->off / (double)c->lanes : 0;
}

static void page_operation(page *p, const tk_profile_op *op) {
  const tk_profile_counts *c = &op->counts;
  double reached = tk_profile_reached(c, &p->d->ceilings);
  tk_buf *out = p->out;
  tk_buf_puts(out, "<div class=\"op\"><b>");
  page_text(out, op->name);
  tk_buf_puts(out, "</b><span>");
  page_text(out, op->type);
  tk_buf_puts(out, "</span>");
  if (op->function) tk_buf_printf(out, "<span>in tl.%s</span>", op->function);
  page_span(p, "", c->seconds, tkf_put_seconds, "");
  page_span(p, "", (double)c->calls, tkf_put_count, " times");
  page_span(p, "", (double)c->read, tkf_put_bytes, " read");
  page_span(p, "", (double)c->written, tkf_put_bytes, " written");
  page_span(p, "", part_off(c), put_hundredths, " % of lanes off");
  page_span(p, "", (double)c->flops, tkf_put_count, " flop");
  page_span(p, "", 100 * reached, put_hundredths, " % of the roof");
  if (c->lanes > c->calls)
    tk_buf_printf(out, "<span class=\"quiet\">%llu of %llu by rows</span>",
                  (unsigned long long)c->rows, (unsigned long long)c->calls);
  if (c->known)
    tk_buf_printf(out,
                  "<span class=\"quiet\">no lanes written in %llu of "
                  "%llu</span>",
                  (unsigned long long)c->known, (unsigned long long)c->blocks);
  tk_buf_puts(out, "</div>\n");
}

static void page_number(page *p, int line) {
  tk_buf_printf(p->out, "<span class=\"no\">%d</span>", line);
}

static void page_code(page *p, const char *text, size_t n) {
  tk_buf_puts(p->out, "<span class=\"code\">");
  tk_markup_text(p->out, text, n);
  tk_buf_puts(p->out, "</span>");
}

/* A line that took time, with its operations; its bar is as long as the part
 * that it took, with the functions that it calls. */
static void page_line(page *p, const tk_profile_line *l) {
  const tk_profile_counts *c = &l->counts;
  double bytes = (double)(c->read + c->written);
  tk_buf_puts(p->out, "<details><summary class=\"row\">");
  page_number(p, l->place.line);
  tk_buf_printf(p->out, "<span class=\"time\" style=\"--p:%.2f\">",
                percent(p, l->total));
  tkf_put_seconds(p->out, l->total);
  tk_buf_printf(p->out, "</span><span class=\"more\">%.1f %%</span>",
                percent(p, l->total));
  page_span(p, "more", (double)c->calls, tkf_put_count, "");
  page_span(p, "more", bytes, tkf_put_bytes, "");
  page_span(p, "more", part_off(c), put_hundredths, "");
  page_span(p, "more", (double)c->flops, tkf_put_count, "");
  page_span(p, "more", tk_profile_intensity(c), put_hundredths, "");
  page_span(p, "more", 100 * tk_profile_reached(c, &p->d->ceilings),
            put_hundredths, "");
  page_code(p, l->place.text, l->place.text_length);
  tk_buf_puts(p->out, "</summary><div class=\"ops\">\n");
  for (size_t i = 0; i < l->nops; i++) page_operation(p, &l->ops[i]);
  tk_buf_puts(p->out, "</div></details>\n");
}

/* A line that took none. */
static void page_idle_line(page *p, int line, const char *text, size_t n) {
  if (n && text[n - 1] == '\r') n--;
  tk_buf_puts(p->out, "<div class=\"row\">");
  page_number(p, line);
  tk_buf_puts(p->out, "<span></span>");
  for (int i = 0; i < 7; i++)
    tk_buf_puts(p->out, "<span class=\"more\"></span>");
  page_code(p, text, n);
  tk_buf_puts(p->out, "</div>\n");
}

static void page_source(page *p, const tk_profile_function *f) {
  const char *text = f->place.text;
  size_t k = 0;
  tk_buf_puts(p->out,
              "<div class=\"src\"><div class=\"rows\">\n"
              "<div class=\"row head\"><span>line</span><span>time</span>"
              "<span class=\"more\">%</span><span class=\"more\">calls</span>"
              "<span class=\"more\">moved</span><span class=\"more\">off %"
              "</span><span class=\"more\">flops</span>"
              "<span class=\"more\">flop/B</span><span class=\"more\">roof %"
              "</span><span class=\"code\"></span></div>\n");
  for (int line = f->place.line; line <= f->last_line; line++) {
    size_t n = strcspn(text, "\n");
    while (k < f->nlines && f->lines[k].place.line < line) k++;
    if (k < f->nlines && f->lines[k].place.line == line)
      page_line(p, &f->lines[k]);
    else
      page_idle_line(p, line, text, n);
    if (!text[n]) break;
    text += n + 1;
  }
  tk_buf_puts(p->out, "</div></div>\n");
}

static void page_function(page *p, const tk_profile_function *f) {
  tk_buf *out = p->out;
  tk_buf_puts(out, "<section><h2><code>");
  page_text(out, f->name);
  tk_buf_puts(out, "</code></h2>\n<p class=\"quiet\">");
  page_text(out, f->place.file);
  tk_buf_printf(out, ":%d, ", f->place.line);
  tkf_put_seconds(out, f->seconds);
  if (f->total > f->seconds * 1.001) {
    tk_buf_puts(out, ", with what it calls ");
    tkf_put_seconds(out, f->total);
  }
  tk_buf_printf(out, ", %llu %s", (unsigned long long)f->calls,
                f->kernel       ? "programs"
                : f->calls == 1 ? "call"
                                : "calls");
  if (f->kernel)
    tk_buf_printf(out, " in %llu launch%s", (unsigned long long)f->launches,
                  f->launches == 1 ? "" : "es");
  tk_buf_puts(out, "</p>\n");
  page_source(p, f);
  tk_buf_puts(out, "</section>\n");
}

void tkf_write_html(tk_buf *out, const tk_profile_data *d, bool colour) {
  page p = {out, d, d->counts.seconds};
  (void)colour;
  tk_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                   "content=\"width=device-width, initial-scale=1\">\n"
                   "<title>tkdbg profile");
  if (d->nfunctions)
    tk_buf_puts(out, ": "), page_text(out, d->functions[0].name);
  tk_buf_printf(out,
                "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
                "<h1>tkdbg profile</h1>\n<p class=\"quiet\">",
                page_css);
  page_machine(&p);
  tk_buf_puts(out, "</p>\n");
  page_facts(&p);
  tk_buf_puts(out, "<h2>Where the time goes</h2>\n");
  page_flame(&p);
  for (size_t i = 0; i < d->nfunctions; i++)
    page_function(&p, &d->functions[i]);
  tk_buf_printf(out, "<script>\n%s</script>\n</body>\n</html>\n", page_js);
}
