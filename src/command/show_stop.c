/* show_stop.c - how a stop is said: why, where, and what has changed. */
#include "command/show.h"

#include <string.h>

#include "command/look.h"
#include "command/say.h"
#include "debug/frames.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "interp/check/check.h"

/* ---- frames ------------------------------------------------------------ */

/* name=value for scalars and tensors of the launch, for the frame's line. */
static void put_arg(tkt *d, const tki_frame *f, int slot, const char *sep) {
  const tk_slot *s = &f->func->slots[slot];
  if (!s->name) return;
  tk_buf_printf(&d->out, "%s%s=", sep, s->name);
  if (s->type.rank) {
    tk_type_declare(&d->out, &s->type);
  } else {
    tkt_show_argument(d, f, slot);
  }
}

void tkt_show_frame(tkt *d, const tki_frame *f, int level) {
  size_t from = d->out.n;
  if (level >= 0) tk_buf_printf(&d->out, "#%-2d ", level);
  tk_buf_printf(&d->out, "%s(", f->func->name);
  const char *sep = "";
  for (size_t i = 0; i < f->func->nparams; i++) {
    put_arg(d, f, f->func->params[i], sep);
    sep = ", ";
  }
  tk_buf_printf(&d->out, ") at %s:%d\n", f->func->src->name, tkd_line_of(f));
  tkt_fold(d, from);
}

/* ---- colours ----------------------------------------------------------- */

typedef enum style_id {
  PLAIN,
  STRONG,
  HERE, /* the line of the stop */
  MARK, /* a line with a breakpoint */
} style_id;

/* Nothing without colours. */
static void style(tkt *d, style_id s) {
  static const char *const codes[] = {"0", "1", "1;32", "35"};
  if (d->opt.colour) tk_buf_printf(&d->out, "\033[%sm", codes[s]);
}

/* ---- source ------------------------------------------------------------ */

static char line_mark(tkt *d, const tk_source *src, int line, int at) {
  if (line == at) return '>';
  for (const tkd_point *p = d->e->points.first; p; p = p->next)
    if (p->line == line && p->kind != TK_POINT_WATCH && p->func && p->enabled &&
        d->e->frame && d->e->frame->func->src == src)
      return 'b';
  return ' ';
}

void tkt_show_lines(tkt *d, const tk_source *src, int from, int to, int at) {
  if (from < 1) from = 1;
  if (to > (int)src->nlines) to = (int)src->nlines;
  int digits = to > 999 ? 5 : 4;
  for (int i = from; i <= to; i++) {
    size_t n;
    const char *text = tk_source_line_text(src, i, &n);
    char mark = line_mark(d, src, i, at);
    if (mark != ' ') style(d, mark == '>' ? HERE : MARK);
    tk_buf_printf(&d->out, "%s%*d",
                  mark == '>'   ? "=>"
                  : mark == 'b' ? "b "
                                : "  ",
                  digits, i);
    if (n) tk_buf_puts(&d->out, "  ");
    tk_buf_add(&d->out, text, n);
    if (mark != ' ') style(d, PLAIN);
    tk_buf_putc(&d->out, '\n');
  }
}

/* ---- what changed ------------------------------------------------------ */

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n) {
  const unsigned char *s = p;
  for (; n >= 8; s += 8, n -= 8) {
    uint64_t w;
    memcpy(&w, s, 8);
    h = (h ^ w) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  for (; n; n--) h = (h ^ *s++) * 0x100000001B3u;
  return h;
}

/* 0: it has no value yet. */
static uint64_t hash_slot(const tki_frame *f, int slot) {
  const tk_type *type = &f->func->slots[slot].type;
  tki_val *v = &f->slots[slot];
  if (!tki_has_value(v, type) || tki_is_unassigned(f, slot)) return 0;
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  return hash_bytes(0x12345, tki_lanes(v), n) | 1;
}

static uint64_t hash_name(const tki_frame *f, const char *name) {
  int slots[TK_EVAL_LEAVES];
  size_t n = tki_eval_slots(f, name, slots, TK_EVAL_LEAVES);
  uint64_t h = 0;
  for (size_t i = 0; i < n; i++) h = h * 31 + hash_slot(f, slots[i]);
  return h;
}

static void remember_one(tkt *d, tkt_seen_frame *s, const char *name,
                         uint64_t hash) {
  if (s->n == s->cap) {
    size_t cap = s->cap ? s->cap * 2 : 16;
    s->items = tk_realloc(d->env, s->items, s->cap * sizeof *s->items,
                          cap * sizeof *s->items);
    s->cap = cap;
  }
  s->items[s->n++] = (tkt_seen){name, hash};
}

static void remember_frame(tkt *d, const tki_frame *f, int depth) {
  tkt_seen_frame *s = &d->seen[depth];
  s->func = f->func;
  s->index = d->e->task->index;
  s->n = 0;
  const char *name;
  for (size_t i = 0; (name = tki_eval_name(f, i)); i++) {
    uint64_t hash = hash_name(f, name);
    if (hash) remember_one(d, s, name, hash);
  }
  s->valid = true;
}

static void remember(tkt *d) {
  const tki_frame *f = tkd_top(d->e);
  int depth = tkd_depth(f);
  for (int i = depth; i < TKD_LEVELS; i++) d->seen[i].valid = false;
  for (; f; f = tkd_user_frame(f->caller), depth--)
    if (depth < TKD_LEVELS) remember_frame(d, f, depth);
}

static bool differs(const tkt_seen_frame *s, const char *name, uint64_t hash) {
  for (size_t i = 0; i < s->n; i++)
    if (!strcmp(s->items[i].name, name)) return s->items[i].hash != hash;
  return hash != 0;
}

enum { MOST_CHANGES = 8 };

/* One blank for every run of blanks and line ends. */
static size_t squeeze(char *text, size_t n) {
  size_t to = 0;
  for (size_t i = 0; i < n; i++) {
    bool blank = text[i] == ' ' || text[i] == '\n';
    if (blank && (!to || strchr(" [", text[to - 1]))) continue;
    text[to++] = blank ? ' ' : text[i];
  }
  while (to && text[to - 1] == ' ') to--;
  return to;
}

/* A value in a line, as much of it as fits. */
static void put_line_of(tkt *d, char *text, size_t n) {
  size_t most = (size_t)tkt_width(d) - 4;
  const char *end = memchr(text, '\n', n);
  bool whole = end && end + 1 == text + n && n <= most + 4;
  size_t k = whole ? n - 1 : squeeze(text, n), cut = k;
  if (k > most + 4)
    for (cut = most; cut && text[cut] != ' ';) cut--;
  if (cut > 4 && cut < k && !memcmp(text + cut - 4, " ...", 4)) cut -= 4;
  tk_buf_add(&d->out, text, cut);
  tkt_say(d, cut < k ? " ...\n" : "\n");
}

/* A change is a line, or one for each item of a tuple. */
static void show_change(tkt *d, const tki_frame *f, const char *name) {
  size_t from = d->out.n, n = strlen(name);
  tkt_show_variable(d, f, name);
  char *text = tk_temp(&d->mem, d->out.s + from, d->out.n - from);
  d->out.n = from;
  while (*text) {
    char *end = strchr(text, '\n');
    while (end && end[1] && strncmp(end + 1, name, n))
      end = strchr(end + 1, '\n');
    size_t k = end ? (size_t)(end + 1 - text) : strlen(text);
    put_line_of(d, text, k);
    text += k;
  }
}

/* The values of what changed since the last stop in this frame. */
static void show_changes(tkt *d, const tki_frame *f) {
  int depth = tkd_depth(f), shown = 0, more = 0;
  const tkt_seen_frame *s = &d->seen[depth < TKD_LEVELS ? depth : 0];
  bool known = depth < TKD_LEVELS && s->valid && s->func == f->func &&
               s->index == d->e->task->index;
  const char *name;
  if (!known || !d->set.changes) return;
  for (size_t i = 0; (name = tki_eval_name(f, i)); i++) {
    uint64_t hash = hash_name(f, name);
    if (!hash || !differs(s, name, hash)) continue;
    if (shown++ < MOST_CHANGES)
      show_change(d, f, name);
    else
      more++;
  }
  if (more) tkt_say(d, "(%d more changed)\n", more);
}

/* ---- data -------------------------------------------------------------- */

static tk_type value_type(const tk_debug_value *v) {
  tk_type type = tk_scalar(v->type.dtype);
  type.ptr = (uint8_t)v->type.pointers;
  type.rank = (uint8_t)v->type.rank;
  for (int i = 0; i < v->type.rank; i++)
    type.shape[i] = (int32_t)v->type.shape[i];
  return type;
}

static void show_data(tkt *d, const char *name, const tk_debug_value *v) {
  tkd_value x = {.type = value_type(v),
                 .bytes = v->lanes,
                 .n = v->size,
                 .undefined = v->undefined,
                 .region = TKI_ANY};
  tkt_show_value(d, name, "", &x);
}

/* ---- stops ------------------------------------------------------------- */

static const struct {
  const char *name, *text;
} reasons[] = {
#define STOP(id, name, text) {name, text},
#include "tkdbg/stop.def"
#undef STOP
};

static void put_reason(tkt *d, const tk_debug_stop *s) {
  const tkd_stop *why = &d->e->stop; /* its point is there still */
  const char *text = reasons[s->reason].text;
  tk_buf_puts(&d->out, text);
  if (s->point) tk_buf_printf(&d->out, " %d", s->point);
  if (why->point && why->point->kind == TK_POINT_CATCH)
    tk_buf_printf(&d->out, " (%s)", why->point->where);
  if (s->reason == TK_STOP_EVENT)
    tk_buf_printf(&d->out, " to event %llu", (unsigned long long)s->event);
  if (s->text[0])
    tk_buf_printf(&d->out, "%s%s", d->out.n && *text ? ": " : "", s->text);
  if (*text || s->text[0]) tk_buf_puts(&d->out, ", ");
}

/* The source of the operation is cut so that it fits a line of its own. */
static void put_inst(tkt *d, const tki_frame *f) {
  if (!d->e->sub || d->e->sub == TKD_LATE || !f->inst) return;
  tk_span at = f->inst->span;
  int n = (int)(at.hi - at.lo), room = tkt_width(d) - 8;
  const char *text = f->func->src->text + at.lo;
  const char *end = memchr(text, '\n', (size_t)n),
             *mode = tk_mode_name(f->inst);
  if (room > 60) room = 60;
  if (room < 4) room = 4;
  bool cut = end || n > room;
  if (end) n = (int)(end - text);
  if (n > room) n = room;
  size_t from = d->out.n;
  tk_buf_printf(&d->out, "before operation %llu, %s%s%s: %.*s%s\n",
                (unsigned long long)d->e->sub,
                tk_inst_name((tk_opcode)f->inst->op), *mode ? " " : "", mode, n,
                text, cut ? "..." : "");
  tkt_fold(d, from);
}

static void show_place(tkt *d, const tk_debug_stop *s) {
  const tki_frame *f = d->e->frame;
  style(d, STRONG);
  put_reason(d, s);
  tk_buf_puts(&d->out, "program ");
  tkt_put_pid(&d->out, s->pid, s->grid);
  if (s->in_loop)
    tk_buf_printf(&d->out, ", trip %llu", (unsigned long long)s->trip);
  style(d, PLAIN);
  int line = s->place.line;
  tk_buf_printf(&d->out, "\n%s at %s:%d\n", s->function, s->place.file, line);
  tkt_show_lines(d, f->func->src, line - 1, line + 1, line);
  put_inst(d, f);
  for (size_t i = 0; i < s->nreturned; i++)
    show_data(d, "Value returned", &s->returned[i]);
}

/* ---- events ------------------------------------------------------------ */

/* What was reported since the last stop. */
static void put_findings(tk_buf *b, const tk_debug_stop *s) {
  if (!s->nfindings) return;
  tk_buf_puts(b, ", \"findings\": [");
  for (size_t i = 0; i < s->nfindings; i++) {
    if (i) tk_buf_puts(b, ", ");
    tk_finding_json(b, s->findings[i]);
  }
  tk_buf_puts(b, "]");
}

static void put_json(tk_buf *b, const tk_debug_stop *s) {
  tk_buf_printf(b, "{\"event\": \"stop\", \"reason\": \"%s\", \"when\": %llu",
                tk_stop_reason_name(s->reason), (unsigned long long)s->event);
  if (s->point) tk_buf_printf(b, ", \"breakpoint\": %d", s->point);
  if (s->text[0]) {
    tk_buf_puts(b, ", \"text\": ");
    tk_json_string(b, s->text, strlen(s->text));
  }
  if (!s->over) {
    const int64_t *p = s->pid, *g = s->grid;
    tk_buf_printf(b,
                  ", \"program\": [%lld, %lld, %lld], \"grid\": [%lld, %lld, "
                  "%lld], \"function\": \"%s\", \"line\": %d, \"file\": ",
                  (long long)p[0], (long long)p[1], (long long)p[2],
                  (long long)g[0], (long long)g[1], (long long)g[2],
                  s->function, s->place.line);
    tk_json_string(b, s->place.file, strlen(s->place.file));
    if (s->in_loop)
      tk_buf_printf(b, ", \"trip\": %llu", (unsigned long long)s->trip);
  }
  put_findings(b, s);
  tk_buf_puts(b, "}");
}

void tkt_tell_output(tkt *d, const char *text, size_t n) {
  tk_buf b;
  tk_buf_init(&b, d->env);
  tk_buf_puts(&b, "{\"event\": \"program-output\", \"text\": ");
  tk_json_string(&b, text, n);
  tk_buf_puts(&b, "}");
  d->opt.event(d->opt.ud, tk_buf_str(&b));
  tk_buf_free(&b);
}

/* ---- what is new ------------------------------------------------------- */

/* What was reported since the last stop; if that is what stopped it, in
 * full. */
static void show_report(tkt *d, const tk_debug_stop *s) {
  bool here = s->reason == TK_STOP_FINDING ||
              (s->reason == TK_STOP_CATCH && s->text[0]);
  if (!s->nfindings) return;
  if (!here) {
    tkt_say(d, "%zu new finding%s: see 'info checks'\n", s->nfindings,
            s->nfindings == 1 ? "" : "s");
    return;
  }
  for (size_t i = 0; i < s->nfindings; i++) tkt_tell_finding(d, s->findings[i]);
}

static void show_watched(tkt *d, const tk_debug_change *c) {
  if (!c->changed) {
    show_data(d, "value", &c->now);
  } else if (c->first) {
    show_data(d, "first value", &c->now);
  } else if (c->old.size == c->now.size) {
    tk_type type = value_type(&c->now);
    show_data(d, "old", &c->old);
    show_data(d, "new", &c->now);
    if (type.rank) {
      tkt_say(d, "%zu of %zu lanes changed, the first is ", c->lanes,
              (size_t)tk_numel(&type));
      tkt_lane_index(&d->out, &type, c->first_lane);
      tkt_say(d, "\n");
    }
  }
  if (!c->where.line) return;
  tkt_say(d, "by line %d of program ", c->where.line);
  tkt_put_pid(&d->out, c->pid, NULL);
  tkt_say(d, "\n");
}

void tkt_show_watched(tkt *d, const tk_debug_stop *s) {
  for (size_t i = 0; i < s->nchanges; i++) {
    const tk_debug_change *c = &s->changes[i];
    if (s->nchanges > 1)
      tkt_say(d, "Watchpoint %d: %s\n", c->point, c->watched);
    show_watched(d, c);
  }
}

void tkt_show_stop(tkt *d, const tk_debug_stop *s) {
  tkt_flush(d);
  tkt_show_watched(d, s);
  tkt_flush(d);
  if (d->opt.event) {
    tk_buf *b = tk_temp_buf(&d->mem);
    put_json(b, s);
    d->opt.event(d->opt.ud, tk_buf_str(b));
  }
  show_report(d, s);
  if (s->over) {
    tkt_say(d, "The launch has ended: %llu programs ran.\n",
            (unsigned long long)d->e->t->done);
    tkt_flush(d);
    return;
  }
  if (s->reason == TK_STOP_START && d->e->launches == 1) tkt_say_asleep(d);
  show_place(d, s);
  show_changes(d, d->e->frame);
  tkt_display_all(d);
  remember(d);
  tkt_flush(d);
}

/* ---- detectors --------------------------------------------------------- */

/* It runs a launch more than once, which the debugger does not. */
bool tkt_is_asleep(tkc_id id) {
  return id == TKC_ORDER || id == TKC_IDEMPOTENCE;
}

void tkt_say_asleep(tkt *d) {
  bool any = false;
  for (tkc_id i = 0; i < TKC_COUNT; i++) {
    if (!tkt_is_asleep(i) || !tkc_is_on(d->e->session, i)) continue;
    tkt_say(d, "%s%s",
            any ? ", " : "Not under the debugger: ", tk_check_name(i));
    any = true;
  }
  if (any) tkt_say(d, " ('tkdbg run --check' has them)\n");
}
