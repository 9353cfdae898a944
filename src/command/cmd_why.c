/* cmd_why.c - origin, blame and view: where a value came from, who wrote
 * memory, and all that happened, as a page. */
#include <ctype.h>
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/say.h"
#include "command/show.h"
#include "report/report.h"

static void put_limits(tkt *d, const tk_debug_aside *x) {
  tkt_say_left_out(d, x);
  if (x->out_of_turn)
    tkt_say(d, "Some programs ran out of order here: this is the result as if "
               "they ran in order,\n"
               "without those that are paused.\n");
}

/* The name that an operand NAME or NAME[...] begins with. */
static const char *take_name(tkt *d, const char **text, const char *usage) {
  size_t n = 0;
  while (isalnum((unsigned char)(*text)[n]) || (*text)[n] == '_') n++;
  const char *name = tk_temp(&d->mem, *text, n), *rest = *text + n;
  size_t len = strlen(rest);
  bool index = len > 1 && *rest == '[' && rest[len - 1] == ']';
  if (!n || (*rest && !index)) tkt_fail(d, "%s", usage);
  *text = rest;
  return name;
}

/* The value here, if it is another one than that which is explained. */
static void put_now(tkt *d, const tk_debug_origin *o) {
  if (memcmp(o->then.lanes, o->now.lanes, o->now.size)) {
    tkt_say(d, o->aside.by_hand
                   ? " without the changes made by hand; with them it is "
                   : " before this statement; now it is ");
    tkt_show_lanes(d, &o->now);
  }
  tkt_say(d, "\n");
}

void tkt_cmd_ORIGIN(tkt *d, tkt_args *a) {
  tk_debug_origin o;
  const char *index = a->text;
  const char *name =
      take_name(d, &index, "origin VAR, or origin VAR[I,J] for a lane");
  tkt_need(d, tk_debug_origin_of(d->e, name, index, &o));
  tk_type type = tkt_type_from(o.type);
  tkt_say(d, "%s", name);
  tkt_lane_index(&d->out, &type, o.lane);
  tkt_say(d, " = ");
  tkt_show_lanes(d, &o.then);
  put_now(d, &o);
  tk_report_steps(&d->out, &o.explanation, 2);
  put_limits(d, &o.aside);
}

void tkt_cmd_BLAME(tkt *d, tkt_args *a) {
  tk_debug_blame b;
  const char *index = a->text;
  const char *name = take_name(d, &index, "blame BUFFER[I,J]");
  tkt_need(d, tk_debug_blamed(d->e, name, index, &b));
  tk_report_blame(&d->out, &b.blame);
  for (size_t i = 0; i < b.npokes; i++) {
    tkt_say(d, "  set by hand at event %llu: value ",
            (unsigned long long)b.poked_at[i]);
    tkt_show_lanes(d, &b.pokes[i]);
    tkt_say(d, "\n");
  }
  tkt_say_untouched(d, &b.aside);
  put_limits(d, &b.aside);
}

/* The name of the page where none is given. */
static const char *page_of_kernel(tkt *d) {
  const tk_debug_function *functions;
  size_t n;
  tkt_need(d, tk_debug_functions(d->e, &functions, &n));
  tk_buf *b = tk_temp_buf(&d->mem);
  tk_buf_printf(b, "%s.html", functions->name);
  return tk_buf_str(b);
}

void tkt_cmd_VIEW(tkt *d, tkt_args *a) {
  const char *path = *a->text ? a->text : page_of_kernel(d);
  const char *address;
  tkt_need(d, tk_debug_save_page(d->e, path, &address));
  tkt_say(d, "Written to %s\n", address);
}
