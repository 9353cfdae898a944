/* cmd_access.c - access: what a statement touches. */
#include <inttypes.h>
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/look.h"
#include "command/operand.h"
#include "command/say.h"
#include "report/report.h"

static void put_limits(tkt *d, const tk_debug_accesses *x) {
  const tk_debug_aside *w = &x->aside;
  if (x->more) tkt_say(d, "(there are more tensors than are shown)\n");
  tkt_say_left_out(d, w);
  if (w->full)
    tkt_say(d, "Only the first programs are counted: the others overwrite more "
               "than 'set history'\n"
               "allows.\n");
  else if (w->interrupted)
    tkt_say(d, "Only the programs up to here are counted: the command was "
               "interrupted.\n");
  else if (w->ended)
    tkt_say(d, "This counts only up to where a program ended with: %s.\n",
            w->ended);
}

/* ---- as a picture -------------------------------------------------------- */

static bool find_region(tkt *d, const char *name, tk_debug_region *out) {
  for (size_t i = 0; tk_debug_region_at(d->e, i, out); i++)
    if (!strcmp(out->name, name)) return true;
  return false;
}

/* Each element has the number of the program that touches it. */
static int64_t draw_owners(tkt *d, tk_buf *svg, const tk_debug_accesses *x,
                           const tk_access_picture *p, int64_t top) {
  tk_debug_region r;
  if (!p->owners || !find_region(d, p->tensor, &r)) return 0;
  tk_type type = tkt_block_region(&r).type;
  type.elem = TK_INT32;
  size_t n = (size_t)tk_numel(&type);
  int32_t *programs = TK_NEWN(&d->mem.arena, int32_t, n + 1);
  uint8_t *absent = TK_NEWN(&d->mem.arena, uint8_t, n + 1);
  for (size_t i = 0; i < n; i++) {
    programs[i] = (int32_t)p->owners[i] - (p->owners[i] > 0);
    absent[i] = !p->owners[i];
  }
  tkt_block b = tkt_block_of(&type, programs);
  b.undefined = absent;
  b.absent = "not touched";
  tk_buf *title = tk_temp_buf(&d->mem), *under = tk_temp_buf(&d->mem);
  tk_buf_printf(title, "line %d, %s: which program touches what of ",
                x->place.line, p->verb);
  tk_type shown = tkt_block_region(&r).type;
  tk_buf_printf(title, "%s: ", p->tensor);
  tk_type_declare(title, &shown);
  tk_buf_puts(under, "programs of grid ");
  tkt_put_pid(under, tkt_stand(d)->grid, NULL);
  tk_buf_printf(under, " by colour; shared elements: %" PRIu64, p->shared);
  tkt_caption caption = {.title = tk_buf_str(title),
                         .under = tk_buf_str(under),
                         .programs = tkt_stand(d)->grid};
  return tkt_svg(svg, &b, true, &caption, top);
}

/* Draws what the whole grid touches, one picture below the other. */
static void draw_accesses(tkt *d, const tk_debug_accesses *x,
                          const char *file) {
  tk_buf *parts = tk_temp_buf(&d->mem), *svg = tk_temp_buf(&d->mem);
  int64_t top = 0;
  for (size_t i = 0; i < x->npictures; i++)
    if (i + 1 == x->npictures || x->pictures[i].whole_grid ||
        !x->pictures[i + 1].whole_grid)
      top += draw_owners(d, parts, x, &x->pictures[i], top);
  if (!top)
    tkt_fail(d, "There is nothing to draw: no element is touched, or "
                "too many are.");
  tk_buf_printf(svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"840\" "
                "height=\"%" PRId64 "\">\n",
                top);
  tk_buf_add(svg, parts->s, parts->n);
  tk_buf_puts(svg, "</svg>\n");
  tkt_write_svg(d, file, svg);
}

void tkt_cmd_ACCESS(tkt *d, tkt_args *a) {
  tk_debug_accesses x;
  const char *where = a->text, *file = tkt_svg_file(d, &where);
  int line = (int)tkt_number(d, where, 0);
  tkt_need(d, tk_debug_access(d->e, line, &x));
  if (x.npictures) {
    tkt_say(d, "line %d: ", x.place.line);
    tk_report_source(&d->out, &x.place, SIZE_MAX);
    tkt_say(d, "\n");
  }
  for (size_t i = 0; i < x.npictures; i++)
    tk_report_access(&d->out, &x.pictures[i]);
  put_limits(d, &x);
  tkt_say_untouched(d, &x.aside);
  if (x.npictures && file) draw_accesses(d, &x, file);
  if (x.npictures) return;
  if (!x.reached) tkt_fail(d, "No program reaches line %d.", x.place.line);
  tkt_fail(d, "Line %d touches no memory: 'info line' says what it does.",
           x.place.line);
}
