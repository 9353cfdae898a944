/* show_stop.c - prints a stop: why, where, and what has changed. */
#include "command/show.h"

#include <ctype.h>
#include <string.h>

#include "command/look.h"
#include "command/say.h"
#include "command/script.h"

/* ---- frames ------------------------------------------------------------ */

/* Writes name=value for scalars and tensors of the launch, for the frame's
 * line. */
static void put_argument(tkt *d, const tk_debug_variable *v) {
  const char *separator = d->out.s[d->out.n - 1] == '(' ? "" : ", ";
  for (size_t i = 0; i < v->nvalues; i++) {
    const tk_debug_value *x = &v->values[i];
    if (x->known || !x->path) continue;
    tk_buf_printf(&d->out, "%s%s=", separator, x->name);
    separator = ", ";
    tk_type type = tkt_type_of(x);
    if (type.rank)
      tk_type_declare(&d->out, &type);
    else
      tkt_show_lanes(d, x);
  }
}

const tk_debug_variable *tkt_parameter(const tk_debug_variable *v, size_t n,
                                       int i) {
  for (size_t k = 0; k < n; k++)
    if (v[k].parameter == i) return &v[k];
  return NULL;
}

void tkt_show_frame(tkt *d, const tk_debug_frame *f, int level) {
  const tk_debug_variable *v, *x;
  size_t from = d->out.n, n;
  tkt_need(d, tk_debug_variables(d->e, f->level, &v, &n));
  if (level >= 0) tk_buf_printf(&d->out, "#%-2d ", level);
  tk_buf_printf(&d->out, "%s(", f->name);
  for (int i = 0; (x = tkt_parameter(v, n, i)); i++) put_argument(d, x);
  tk_buf_printf(&d->out, ") at %s:%d\n", f->place.file, f->place.line);
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

const tk_source *tkt_source(tkt *d, const char *file) {
  tk_debug_source x;
  if (!tk_debug_source_named(d->e, file, &x)) return NULL;
  return tk_source_new(&d->mem.arena, x.file, x.text, x.length);
}

/* Those of the file that is looked at are marked. */
static char line_mark(tkt *d, const tk_debug_frame *here, const char *file,
                      int line, int at) {
  tk_point p;
  if (line == at) return '>';
  if (!here->place.file || strcmp(here->place.file, file) != 0) return ' ';
  for (size_t i = 0; tk_debug_point_at(d->e, i, &p); i++)
    if (p.line == line && p.function && !p.spec.disabled) return 'b';
  return ' ';
}

/* Only the beginning of a very long line is shown. */
enum { LINE_MOST = 160 };

static void put_line(tk_buf *out, const char *text, size_t n) {
  size_t to = n > LINE_MOST ? LINE_MOST : n;
  while (to < n && ((unsigned char)text[to] & 0xC0) == 0x80) to--;
  tk_buf_add(out, text, to);
  if (to < n) tk_buf_puts(out, "...");
}

void tkt_show_lines(tkt *d, const char *file, int from, int to, int at) {
  const tk_source *src = tkt_source(d, file);
  tk_debug_frame here = {.level = 0};
  if (!src) return;
  tk_debug_selected(d->e, &here);
  if (from < 1) from = 1;
  if (to > (int)src->nlines) to = (int)src->nlines;
  int digits = to > 999 ? 5 : 4;
  for (int i = from; i <= to; i++) {
    size_t n;
    const char *text = tk_source_line_text(src, i, &n);
    char mark = line_mark(d, &here, file, i, at);
    if (mark != ' ') style(d, mark == '>' ? HERE : MARK);
    tk_buf_printf(&d->out, "%s%*d",
                  mark == '>'   ? "=>"
                  : mark == 'b' ? "b "
                                : "  ",
                  digits, i);
    if (n) tk_buf_puts(&d->out, "  ");
    put_line(&d->out, text, n);
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
static uint64_t hash_variable(const tk_debug_variable *v) {
  uint64_t h = 0;
  for (size_t i = 0; i < v->nvalues; i++) {
    const tk_debug_value *x = &v->values[i];
    if (!v->unassigned && x->lanes)
      h = h * 31 + (hash_bytes(0x12345, x->lanes, x->size) | 1);
  }
  return h;
}

static void remember_one(tkt *d, tkt_seen_frame *s, const char *name,
                         uint64_t hash) {
  if (s->n == s->cap)
    s->items = tk_array_grow(d->env, s->items, sizeof *s->items, &s->cap);
  s->items[s->n++] = (tkt_seen){name, hash};
}

static void remember_frame(tkt *d, const tk_debug_frame *f, uint64_t program) {
  tkt_seen_frame *s = &d->seen[f->depth];
  const tk_debug_variable *v;
  size_t n;
  tkt_need(d, tk_debug_variables(d->e, f->level, &v, &n));
  s->function = f->function;
  s->index = program;
  s->n = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t hash = hash_variable(&v[i]);
    if (hash) remember_one(d, s, v[i].name, hash);
  }
  s->valid = true;
}

static void remember(tkt *d, uint64_t program) {
  size_t n = tk_debug_frame_count(d->e);
  for (size_t i = n; i < TKT_LEVELS; i++) d->seen[i].valid = false;
  for (size_t level = 0; level < n; level++) {
    tk_debug_frame f;
    tkt_need(d, tk_debug_frame_at(d->e, level, &f));
    if (f.depth < TKT_LEVELS) remember_frame(d, &f, program);
  }
}

static bool differs(const tkt_seen_frame *s, const char *name, uint64_t hash) {
  for (size_t i = 0; i < s->n; i++)
    if (!strcmp(s->items[i].name, name)) return s->items[i].hash != hash;
  return hash != 0;
}

enum { MOST_CHANGES = 8 };

/* Replaces every run of blanks and line ends by one blank. */
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

/* Writes as much of a value as fits into a line. */
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

/* Writes a change as one line, or as one for each item of a tuple. */
static void show_change(tkt *d, const tk_debug_variable *v) {
  size_t from = d->out.n, n = strlen(v->name);
  const char *name = v->name;
  tkt_show_variable(d, v);
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

/* The values of what changed since the last stop in this call, newest first. */
static void show_changes(tkt *d, uint64_t program) {
  tk_debug_frame f;
  const tk_debug_variable *v;
  size_t n;
  int shown = 0, more = 0;
  if (!d->set.changes || !tk_debug_selected(d->e, &f)) return;
  const tkt_seen_frame *s = &d->seen[f.depth < TKT_LEVELS ? f.depth : 0];
  if (f.depth >= TKT_LEVELS || !s->valid || s->function != f.function ||
      s->index != program)
    return;
  tkt_need(d, tk_debug_variables(d->e, f.level, &v, &n));
  for (size_t i = 0; i < n; i++) {
    uint64_t hash = hash_variable(&v[i]);
    if (!hash || !differs(s, v[i].name, hash)) continue;
    if (shown++ < MOST_CHANGES)
      show_change(d, &v[i]);
    else
      more++;
  }
  if (more) tkt_say(d, "(%d more changed)\n", more);
}

/* ---- stops ------------------------------------------------------------- */

static const struct {
  const char *name, *text;
} reasons[] = {
#define STOP(id, name, text) {name, text},
#include "tkdbg/stop.def"
#undef STOP
};

/* Writes "launch 2 (add)" if the host can launch several kernels. */
static void put_launch(tkt *d, const tk_debug_stop *s) {
  tk_buf_printf(&d->out, "launch %llu (%s)%s", (unsigned long long)s->launch,
                s->kernel, s->again ? " again" : "");
}

static void put_reason(tkt *d, const tk_debug_stop *s) {
  const char *text = reasons[s->reason].text;
  tkt_say_words(d, text);
  if (s->point) tk_buf_printf(&d->out, " %d", s->point);
  if (s->caught) tk_buf_printf(&d->out, " (%s)", s->caught);
  if (s->reason == TK_STOP_EVENT)
    tk_buf_printf(&d->out, " to event %llu", (unsigned long long)s->event);
  if (s->text[0])
    tk_buf_printf(&d->out, "%s%s", d->out.n && *text ? ": " : "", s->text);
  if (*text || s->text[0]) tk_buf_puts(&d->out, ", ");
}

/* The source of the operation is cut so that it fits a line of its own. */
static void put_operation(tkt *d, const tk_debug_stop *s) {
  const tk_place *at = &s->operation_at;
  if (!s->opcode) return;
  int most = (int)at->text_length - at->column + 1;
  int n = (int)at->length, room = tkt_width(d) - 8;
  const char *text = at->text + at->column - 1;
  if (room > 60) room = 60;
  if (room < 4) room = 4;
  if (most < room) room = most;
  bool cut = n > room;
  if (cut) n = room;
  size_t from = d->out.n;
  tk_buf_printf(&d->out, "before operation %llu, %s: %.*s%s\n",
                (unsigned long long)s->operation, s->opcode, n, text,
                cut ? "..." : "");
  tkt_fold(d, from);
}

static void show_place(tkt *d, const tk_debug_stop *s) {
  style(d, STRONG);
  put_reason(d, s);
  if (d->opt.script) {
    put_launch(d, s);
    tk_buf_puts(&d->out, ", ");
  }
  tkt_say(d, "program ");
  tkt_put_pid(&d->out, s->pid, s->grid);
  if (s->in_loop)
    tk_buf_printf(&d->out, ", trip %llu", (unsigned long long)s->trip);
  style(d, PLAIN);
  int line = s->place.line;
  tk_buf_printf(&d->out, "\n%s at %s:%d\n", s->function, s->place.file, line);
  if (s->place.origin) tk_buf_printf(&d->out, "of %s\n", s->place.origin);
  tkt_show_lines(d, s->place.file, line - 1, line + 1, line);
  put_operation(d, s);
  for (size_t i = 0; i < s->nreturned; i++)
    tkt_show_value(d, "Value returned", "", &s->returned[i]);
}

/* ---- events ------------------------------------------------------------ */

/* Writes the reports since the last stop as JSON. */
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
  if (s->kernel)
    tk_buf_printf(b, ", \"launch\": %llu, \"kernel\": \"%s\"",
                  (unsigned long long)s->launch, s->kernel);
  if (!s->over) {
    const int64_t *p = s->pid, *g = s->grid;
    tk_buf_printf(b,
                  ", \"program\": [%lld, %lld, %lld], \"grid\": [%lld, %lld, "
                  "%lld], \"function\": \"%s\", \"line\": %d, \"file\": ",
                  (long long)p[0], (long long)p[1], (long long)p[2],
                  (long long)g[0], (long long)g[1], (long long)g[2],
                  s->function, s->place.line);
    tk_json_string(b, s->place.file, strlen(s->place.file));
    if (s->place.origin) {
      tk_buf_puts(b, ", \"origin\": ");
      tk_json_string(b, s->place.origin, strlen(s->place.origin));
    }
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

/* ---- launches ---------------------------------------------------------- */

enum { MOST_LISTED = 10 };

static size_t list_launch(tkt *d, const tk_debug_past_launch *x) {
  size_t from = d->out.n;
  tkt_say(d, "%-4llu %s, grid (%lld, %lld, %lld)",
          (unsigned long long)x->number, x->kernel, (long long)x->grid[0],
          (long long)x->grid[1], (long long)x->grid[2]);
  tkt_say(d, x->bytes ? "\n" : ", not kept\n");
  tkt_fold(d, from);
  return x->bytes;
}

size_t tkt_list_launches(tkt *d, size_t most) {
  tk_debug_past_launch x;
  size_t n = 0, bytes = 0;
  while (tk_debug_launch_at(d->e, n, &x)) n++;
  size_t first = n > most ? n - most : 0;
  if (first) tkt_say(d, "(%zu earlier ones)\n", first);
  for (size_t i = first; i < n; i++)
    if (tk_debug_launch_at(d->e, i, &x)) bytes += list_launch(d, &x);
  return bytes;
}

/* ---- what is new ------------------------------------------------------- */

/* Prints the reports since the last stop: in full if they are the reason for
 * this one. */
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
  if (c->reads) return; /* it is a variable of the statement that is shown */
  if (*c->now.path) tkt_say(d, "%s:\n", c->now.name);
  if (!c->changed) {
    tkt_show_value(d, "value", "", &c->now);
  } else if (c->first) {
    tkt_show_value(d, "first value", "", &c->now);
  } else {
    tk_type type = tkt_type_of(&c->now);
    tkt_show_value(d, "old", "", &c->old);
    tkt_show_value(d, "new", "", &c->now);
    if (type.rank && c->old.size == c->now.size) {
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

static void show_end(tkt *d, const tk_debug_stop *s, uint64_t done) {
  size_t from = d->out.n;
  if (s->reason == TK_STOP_RAISED) {
    tkt_say(d, "%s %s\n", reasons[s->reason].text, s->text);
    tkt_fold(d, from);
    tkt_list_launches(d, MOST_LISTED);
    tkt_say(d, "'launch N' goes back into one of them, 'continue' ends the "
               "script.\n");
    return;
  }
  if (s->caught) put_reason(d, s);
  from = d->out.n;
  if (d->opt.script)
    put_launch(d, s);
  else
    tkt_say(d, "the launch");
  if (!s->caught) d->out.s[from] = (char)toupper((unsigned char)d->out.s[from]);
  tkt_say(d, " has ended: %llu program%s ran.\n", (unsigned long long)done,
          done == 1 ? "" : "s");
}

void tkt_show_stop(tkt *d, const tk_debug_stop *s) {
  tk_debug_time now;
  bool silent = tkt_is_silent(d, s);
  tkt_flush(d);
  if (!silent) tkt_show_watched(d, s);
  tkt_flush(d);
  if (d->opt.event) {
    tk_buf *b = tk_temp_buf(&d->mem);
    put_json(b, s);
    d->opt.event(d->opt.ud, tk_buf_str(b));
  }
  if (silent) {
    if (!s->over) remember(d, s->program);
    return;
  }
  show_report(d, s);
  tk_debug_when(d->e, &now);
  if (s->over) {
    show_end(d, s, now.done);
    tkt_display_all(d);
    tkt_flush(d);
    return;
  }
  if (s->reason == TK_STOP_START && now.launch == 1) tkt_say_inactive(d);
  show_place(d, s);
  show_changes(d, s->program);
  tkt_display_all(d);
  remember(d, s->program);
  tkt_flush(d);
}

/* ---- detectors --------------------------------------------------------- */

/* Whether a detector runs a launch more than once, which the debugger does not
 * do. */
bool tkt_is_inactive(const char *detector) {
  return !strcmp(detector, "order") || !strcmp(detector, "idempotence");
}

void tkt_say_inactive(tkt *d) {
  bool any = false;
  const char *name;
  for (size_t i = 0; (name = tk_check_name(i)); i++) {
    if (!tkt_is_inactive(name) || !tk_debug_is_checked(d->e, name)) continue;
    tkt_say(d, "%s%s", any ? ", " : "Inactive under the debugger: ", name);
    any = true;
  }
  if (any) tkt_say(d, " ('tkdbg run --check' runs them)\n");
}
