/* cmd_diff.c - diff: a value beside what it was a trip ago, is in another
 * program, or was when the launch began.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/look.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/show.h"

/* ---- two values -------------------------------------------------------- */

typedef struct pair {
  tkt *d;
  const char *name;
  tkt_block now, then;
} pair;

enum { MOST_LANES = 8 };

typedef struct difference {
  int64_t lanes, first[MOST_LANES];
  double most; /* of the finite ones */
  int64_t at;  /* its lane; -1: there is none */
} difference;

static bool is_undefined(const tkt_block *b, int64_t i) {
  return b->undefined && b->undefined[i];
}

/* What happens to be in an undefined lane does not count as a difference. */
static bool is_same(const pair *p, int64_t i) {
  bool now = is_undefined(&p->now, i), then = is_undefined(&p->then, i);
  if (now || then) return now == then;
  return !memcmp(tkt_block_lane(&p->now, i), tkt_block_lane(&p->then, i),
                 tk_lane_size(&p->now.type));
}

static difference compare(const pair *p) {
  difference r = {.at = -1};
  int64_t n = tk_numel(&p->now.type);
  for (int64_t i = 0; i < n; i++) {
    if (is_same(p, i)) continue;
    if (r.lanes < MOST_LANES) r.first[r.lanes] = i;
    r.lanes++;
    if (is_undefined(&p->now, i) || is_undefined(&p->then, i)) continue;
    double by =
        fabs(tkt_lane_double(&p->now, i) - tkt_lane_double(&p->then, i));
    if (isfinite(by) && (r.at < 0 || by > r.most)) r.at = i, r.most = by;
  }
  return r;
}

static void put_change(const pair *p, int64_t i) {
  tkt *d = p->d;
  if (is_undefined(&p->then, i))
    tkt_say(d, "?");
  else
    tkt_put_lane(d, &p->now.type, tkt_block_lane(&p->then, i));
  tkt_say(d, " -> ");
  if (is_undefined(&p->now, i))
    tkt_say(d, "?");
  else
    tkt_put_lane(d, &p->now.type, tkt_block_lane(&p->now, i));
}

static void put_lanes(const pair *p, const difference *r) {
  tkt *d = p->d;
  for (int64_t k = 0; k < r->lanes && k < MOST_LANES; k++) {
    int64_t i = r->first[k];
    size_t from = d->out.n;
    tkt_say(d, "  ");
    tkt_lane_index(&d->out, &p->now.type, i);
    if (d->out.n - from < 14) tk_buf_pad(&d->out, ' ', 14 - (d->out.n - from));
    put_change(p, i);
    tkt_say(d, "\n");
  }
  if (r->lanes > MOST_LANES)
    tkt_say(d, "  (%lld more)\n", (long long)(r->lanes - MOST_LANES));
}

static void put_scalar(const pair *p, const difference *r) {
  tkt *d = p->d;
  tkt_say(d, "  ");
  put_change(p, 0);
  tkt_say(d, r->lanes ? "\n" : ", no difference\n");
}

static void put_pair(const pair *p, const char *what) {
  tkt *d = p->d;
  difference r = compare(p);
  int64_t n = tk_numel(&p->now.type);
  if (!p->now.type.rank) {
    put_scalar(p, &r);
    return;
  }
  if (!r.lanes) {
    tkt_say(d, "no difference in %lld %s%s\n", (long long)n, what,
            n == 1 ? "" : "s");
    return;
  }
  tkt_say(d, "%lld of %lld %s%s differ%s", (long long)r.lanes, (long long)n,
          what, n == 1 ? "" : "s", r.lanes == 1 ? "s" : "");
  bool truth = !p->now.type.ptr && p->now.type.elem == TK_INT1;
  if (r.at >= 0 && !truth) {
    tkt_say(d, ", by up to %g at ", r.most);
    tkt_lane_index(&d->out, &p->now.type, r.at);
  }
  tkt_say(d, "\n");
  put_lanes(p, &r);
}

/* ---- the command ------------------------------------------------------- */

static tkt_block block_of_value(const tk_debug_value *v) {
  tk_type type = tkt_type_of(v);
  tkt_block b = tkt_block_of(&type, v->lanes);
  b.undefined = v->undefined;
  return b;
}

static void diff_value(tkt *d, const char *text, uint64_t program) {
  tk_debug_pair x;
  tkt_need(d, tk_debug_compare(d->e, text, program, &x));
  pair p = {d, text, block_of_value(&x.now), block_of_value(&x.then)};
  tkt_say(d, "%s: program ", text);
  tkt_put_pid(&d->out, x.pid, NULL);
  if (x.in_loop) tkt_say(d, ", trip %llu", (unsigned long long)x.trip);
  tkt_say(d, " -> here\n");
  put_pair(&p, "lane");
  tkt_say_untouched(d, &x.aside);
}

static void diff_memory(tkt *d, const tk_debug_region *r) {
  tk_debug_past past;
  tkt_need(d, tk_debug_first_memory(d->e, r->name, &past));
  tkt_block now = tkt_block_region(r), then = now;
  now.undefined = tkt_unwritten(d, r, &now);
  then.undefined = past.undefined;
  then.data = past.data;
  pair p = {d, r->name, now, then};
  tkt_say(d, "%s: before the launch -> now\n", r->name);
  put_pair(&p, "element");
  if (past.aside.left_out)
    tkt_say(d,
            "(The first %llu programs had run then: older history was "
            "dropped.)\n",
            (unsigned long long)past.aside.left_out);
}

/* Returns where " program " stands in the operand, which names another program
 * to compare with; NULL: nowhere. */
static const char *other(const char *text) {
  const char *found = NULL;
  for (const char *s = text; (s = strstr(s, " program")); s++)
    if (s[8] == ' ' || !s[8]) found = s;
  return found;
}

void tkt_cmd_DIFF(tkt *d, tkt_args *a) {
  const char *with = other(a->text);
  tk_debug_region r;
  size_t n = with ? (size_t)(with - a->text) : strlen(a->text);
  if (!n)
    tkt_fail(d, "Compare what? diff EXPR, diff EXPR program X, diff "
                "BUFFER.");
  const char *text = tk_temp(&d->mem, a->text, n);
  bool tensor = tk_debug_region_named(d->e, text, &r);
  if (tensor && with)
    tkt_fail(d,
             "All programs have the same memory: 'diff %s' compares it "
             "with what it was.",
             r.name);
  if (tensor) {
    diff_memory(d, &r);
    return;
  }
  if (!tk_debug_frame_count(d->e))
    tkt_fail(d, "No program is stopped: the launch has ended.");
  uint64_t program = TK_DEBUG_NO_PROGRAM;
  if (with) program = tkt_program_index(d, with + 8 + strspn(with + 8, " "));
  diff_value(d, text, program);
}
