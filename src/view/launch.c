/* launch.c - a run that has ended as one JSON object; docs/view.md lists its
 * keys.
 *
 * Findings are written as --json writes them.
 */
#include "base/clock.h"
#include "interp/grid.h"
#include "ir/param.h"
#include "profile/run.h"
#include "view/view.h"

/* ---- source -------------------------------------------------------------- */

typedef struct text_part {
  const tk_source *src;
  int first, last; /* lines */
  size_t *cost;    /* by line of all of it: which cost is its, from 1 */
} text_part;

typedef struct texts {
  text_part *items;
  size_t n, cap;
} texts;

static bool widen_text(void *ud, const tk_at *at) {
  int *last = ud;
  int line = tk_source_line(at->func->src, at->stmt->span.hi);
  if (line > *last) *last = line;
  return true;
}

/* The text of a function, or NULL: it has none, or is tkdbg's own. */
static text_part *text_of_func(texts *x, tk_arena *a, const tk_func *f) {
  if (f->library || !f->src) return NULL;
  for (size_t i = 0; i < x->n; i++)
    if (x->items[i].src == f->src) return &x->items[i];
  if (x->n == x->cap)
    x->items = tk_arena_grow(a, x->items, sizeof *x->items, &x->cap);
  x->items[x->n] = (text_part){f->src, INT32_MAX, 0, NULL};
  return &x->items[x->n++];
}

static texts texts_of(tk_arena *a, const tk_program *p) {
  texts x = {0};
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    text_part *part = text_of_func(&x, a, f);
    if (!part) continue;
    int first = tk_source_line(f->src, f->span.lo), last = first;
    tk_walk_func(f, &(tk_walk){.ud = &last, .stmt = widen_text});
    if (first < part->first) part->first = first;
    if (last > part->last) part->last = last;
  }
  return x;
}

static void put_texts(tk_buf *out, const texts *x) {
  tk_buf_puts(out, ",\n\"sources\":[");
  for (size_t i = 0; i < x->n; i++) {
    const text_part *part = &x->items[i];
    tk_buf_puts(out, i ? ",\n{\"file\":" : "{\"file\":");
    tk_json_string(out, part->src->name, strlen(part->src->name));
    tk_buf_printf(out, ",\"first\":%d,\"lines\":[", part->first);
    for (int line = part->first; line <= part->last; line++) {
      size_t n;
      const char *text = tk_source_line_text(part->src, line, &n);
      if (line > part->first) tk_buf_putc(out, ',');
      tk_json_string(out, text, n);
    }
    tk_buf_puts(out, "]}");
  }
  tk_buf_putc(out, ']');
}

static int text_number(const texts *x, const tk_source *src) {
  for (size_t i = 0; i < x->n; i++)
    if (x->items[i].src == src) return (int)i;
  return -1;
}

static void put_functions(tk_buf *out, const texts *x, const tk_program *p) {
  const char *comma = "";
  tk_buf_puts(out, ",\n\"functions\":[");
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    if (f->library || !f->src) continue;
    tk_buf_printf(out, "%s{\"id\":%u,\"name\":", comma, f->id);
    tk_json_string(out, f->name, strlen(f->name));
    tk_buf_printf(out, ",\"source\":%d,\"line\":%d}", text_number(x, f->src),
                  tk_source_line(f->src, f->span.lo));
    comma = ",";
  }
  tk_buf_putc(out, ']');
}

/* ---- arguments and tensors ----------------------------------------------- */

static void put_runtime_argument(tk_buf *out, const tki *t, size_t arg) {
  for (size_t i = 0; i < t->program->nparams; i++) {
    const tk_param *p = &t->program->params[i];
    if (p->arg != arg || p->item) continue;
    tk_param_value v = tk_param_of(t->launch, p);
    if (v.tensor) {
      tk_buf_printf(out, ",\"tensor\":%zu", v.index);
    } else if (!p->type.ptr && !p->type.rank) {
      tk_buf_puts(out, ",\"type\":");
      tkw_put_type(out, &p->type);
      tk_buf_puts(out, ",\"value\":");
      tkw_put_lane(out, (tk_dtype)p->type.elem, &v.bits);
    }
    return;
  }
}

static void put_arguments(tk_buf *out, const tki *t) {
  tk_buf_puts(out, ",\n\"arguments\":[");
  for (size_t i = 0; i < t->program->nargs; i++) {
    const tk_program_arg *a = &t->program->args[i];
    tk_buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
    tk_json_string(out, a->name, strlen(a->name));
    if (a->value) {
      tk_buf_puts(out, ",\"constexpr\":");
      tk_json_string(out, a->value, strlen(a->value));
    } else {
      put_runtime_argument(out, t, i);
    }
    tk_buf_putc(out, '}');
  }
  tk_buf_putc(out, ']');
}

static void put_numbers(tk_buf *out, const char *key, const int64_t *x, int n) {
  tk_buf_printf(out, ",\"%s\":[", key);
  for (int i = 0; i < n; i++)
    tk_buf_printf(out, "%s%lld", i ? "," : "", (long long)x[i]);
  tk_buf_putc(out, ']');
}

/* What its memory holds after the run, if there is room for it. */
static void put_contents(tk_buf *out, const tki_region *r, size_t most) {
  size_t size = tk_dtypes[r->tensor->dtype].size, n = (r->hi - r->lo) / size;
  if (n > most || !r->host) return;
  tk_buf_puts(out, ",\"values\":[");
  for (size_t i = 0; i < n; i++) {
    if (i) tk_buf_putc(out, ',');
    tkw_put_lane(out, r->tensor->dtype, r->host + i * size);
  }
  tk_buf_putc(out, ']');
}

static void put_tensor_facts(tk_buf *out, const tkw_run *run, const tki *t,
                             size_t i, size_t most) {
  const tki_region *r = &t->regions[i];
  const tk_tensor *x = r->tensor;
  size_t size = tk_dtypes[x->dtype].size;
  tk_buf_puts(out, "{\"name\":");
  tk_json_string(out, r->name ? r->name : "", r->name ? strlen(r->name) : 0);
  tk_buf_printf(out, ",\"type\":\"%s\",\"bytes\":%zu", tk_dtypes[x->dtype].name,
                size);
  put_numbers(out, "shape", x->shape, x->rank);
  put_numbers(out, "strides", x->strides, x->rank);
  tk_buf_printf(out,
                ",\"address\":\"0x%llx\",\"from\":\"0x%llx\",\"first\":%lld,"
                "\"elements\":%llu",
                (unsigned long long)tk_tensor_address(x),
                (unsigned long long)r->lo,
                (long long)tkw_element(r, tk_tensor_address(x)),
                (unsigned long long)((r->hi - r->lo) / size));
  tkw_put_cover(out, run, i);
  put_contents(out, r, most);
  tk_buf_putc(out, '}');
}

static void put_tensors(tk_buf *out, const tk_view *v, const tki *t) {
  size_t tensors = 0;
  for (size_t i = 0; i < t->nregions; i++)
    tensors += t->regions[i].tensor != NULL;
  /* a fifth of the page, at some ten bytes for an element */
  size_t most = v->limit / 50 / (tensors + 1) / (v->many ? 4 : 1);
  tk_buf_puts(out, ",\n\"tensors\":[");
  for (size_t i = 0; i < t->nregions; i++) {
    if (i) tk_buf_puts(out, ",\n");
    if (t->regions[i].tensor)
      put_tensor_facts(out, &v->run, t, i, most);
    else
      tk_buf_puts(out, "null");
  }
  tk_buf_putc(out, ']');
}

/* ---- costs --------------------------------------------------------------- */

static uint64_t cost_at(const tkw_cost *c, size_t offset) {
  uint64_t x;
  memcpy(&x, (const char *)c + offset, sizeof x);
  return x;
}

static void put_cost_list(tk_buf *out, const tkw_run *r, const char *key,
                          size_t offset, double factor) {
  uint64_t n = (r->programs + r->every - 1) / r->every;
  tk_buf_printf(out, ",\"%s\":[", key);
  for (uint64_t i = 0; i < n; i++) {
    double x = (double)cost_at(&r->by[i], offset);
    tk_buf_printf(out, "%s%.0f", i ? "," : "", x * factor);
  }
  tk_buf_putc(out, ']');
}

static const struct {
  const char *key;
  size_t offset;
} costs[] = {{"operations", offsetof(tkw_cost, calls)},
             {"read", offsetof(tkw_cost, read)},
             {"written", offsetof(tkw_cost, written)},
             {"lanes", offsetof(tkw_cost, lanes)},
             {"off", offsetof(tkw_cost, off)},
             {"flops", offsetof(tkw_cost, flops)}};

static void put_costs(tk_buf *out, const tkw_run *r, double nanoseconds) {
  tk_buf_printf(out, ",\n\"cost\":{\"every\":%llu",
                (unsigned long long)r->every);
  put_cost_list(out, r, "nanoseconds", offsetof(tkw_cost, ticks), nanoseconds);
  for (size_t i = 0; i < TK_COUNT(costs); i++)
    put_cost_list(out, r, costs[i].key, costs[i].offset, 1);
  if (r->begun) {
    tk_buf_puts(out, ",\"begun\":[");
    for (uint64_t i = 0; i < r->programs; i++)
      tk_buf_printf(out, "%s%llu", i ? "," : "",
                    (unsigned long long)r->begun[i]);
    tk_buf_putc(out, ']');
  }
  tk_buf_putc(out, '}');
}

typedef struct line_cost {
  int source, line;
  tkw_cost cost;
} line_cost;

static void add_cost(tkw_cost *to, const tkw_cost *c) {
  to->calls += c->calls;
  to->ticks += c->ticks;
  to->read += c->read;
  to->written += c->written;
  to->lanes += c->lanes;
  to->off += c->off;
  to->flops += c->flops;
}

/* Adds up instructions of one line; returns how many lines there are. */
static size_t costs_by_line(line_cost *lines, tkw_run *r, tki *t,
                            const texts *x) {
  size_t n = 0;
  for (size_t i = 0; i < x->n; i++) {
    text_part *part = &x->items[i];
    part->cost = TK_NEWN(&r->arena, size_t, part->src->nlines + 1);
  }
  for (uint32_t id = 0; id < t->program->ninsts; id++) {
    const tkw_cost *c = &r->sites[id];
    bool ran = c->calls || c->lanes;
    const tki_site_info *site = ran ? tki_site_at(t, id) : NULL;
    int source = site ? text_number(x, site->func->src) : -1;
    if (source < 0) continue;
    int line = tk_source_line(site->func->src, site->inst->span.lo);
    const text_part *part = &x->items[source];
    size_t *number = &part->cost[line];
    if (!*number) {
      lines[n++] = (line_cost){source, line, {0}};
      *number = n;
    }
    add_cost(&lines[*number - 1].cost, c);
  }
  return n;
}

static void put_lines(tk_buf *out, tkw_run *r, tki *t, const texts *x,
                      double nanoseconds) {
  line_cost *lines = TK_NEWN(&r->arena, line_cost, t->program->ninsts + 1);
  size_t n = costs_by_line(lines, r, t, x);
  tk_buf_puts(out, ",\n\"lines\":[");
  for (size_t i = 0; i < n; i++) {
    const line_cost *l = &lines[i];
    tk_buf_printf(out, "%s{\"source\":%d,\"line\":%d,\"nanoseconds\":%.0f",
                  i ? "," : "", l->source, l->line,
                  (double)l->cost.ticks * nanoseconds);
    for (size_t k = 0; k < TK_COUNT(costs); k++)
      tk_buf_printf(out, ",\"%s\":%llu", costs[k].key,
                    (unsigned long long)cost_at(&l->cost, costs[k].offset));
    tk_buf_putc(out, '}');
  }
  tk_buf_putc(out, ']');
}

/* ---- the rest ------------------------------------------------------------ */

/* Those after the ones that belong to launches before; all of them, if the host
 * program has cleared those. */
static const tk_diag *new_findings(const tk_view *v) {
  const tk_diag *all = v->session->env.diags;
  for (const tk_diag *d = all; d; d = d->next)
    if (d == v->told) return d->next;
  return all;
}

static void put_findings(tk_buf *out, const tk_view *v) {
  const char *comma = "";
  tk_buf_puts(out, ",\n\"findings\":[");
  for (const tk_diag *d = new_findings(v); d; d = d->next) {
    tk_buf_puts(out, comma);
    tk_finding_json(out, &d->f);
    comma = ",\n";
  }
  tk_buf_putc(out, ']');
}

static void put_steps(tk_buf *out, tkw_run *r) {
  tk_buf_puts(out, ",\n\"steps\":{");
  for (size_t i = 0; i < r->nkept; i++) {
    tkw_program *p = &r->kept[i];
    tkw_step_close(p);
    tk_buf_printf(out, "%s\n\"%llu\":[", i ? "," : "",
                  (unsigned long long)p->index);
    if (p->steps.n) tk_buf_add(out, p->steps.s, p->steps.n);
    tk_buf_putc(out, ']');
  }
  tk_buf_puts(out, "},\"dropped\":{");
  const char *comma = "";
  for (size_t i = 0; i < r->nkept; i++) {
    if (!r->kept[i].dropped) continue;
    tk_buf_printf(out, "%s\"%llu\":%zu", comma,
                  (unsigned long long)r->kept[i].index, r->kept[i].dropped);
    comma = ",";
  }
  tk_buf_putc(out, '}');
}

/* A launch that has not ended stands in a program, or between two. */
static const char *status_name(const tk_view *v, tk_status st) {
  return v->aside               ? "paused"
         : st == TK_OK          ? "complete"
         : st == TK_INTERRUPTED ? "interrupted"
         : st == TK_FINDING     ? "stopped"
                                : "failed";
}

void tkw_put_launch(tk_buf *out, tk_view *v, tki *t, tk_status st) {
  tkw_run *r = &v->run;
  double seconds = tk_clock_seconds() - r->seconds;
  uint64_t ticks = tkf_ticks() - r->ticks;
  double nanoseconds = ticks ? seconds * 1e9 / (double)ticks : 0;
  texts x = texts_of(&r->arena, t->program);
  tk_buf_puts(out, "{\"kernel\":");
  tk_json_string(out, t->program->kernel->name,
                 strlen(t->program->kernel->name));
  put_numbers(out, "grid", t->grid, 3);
  tk_buf_printf(out, ",\"status\":\"%s\",\"programs\":%llu,\"seconds\":%.6g",
                status_name(v, st), (unsigned long long)r->ended, seconds);
  if (v->stands != TKW_NO_PROGRAM)
    tk_buf_printf(out, ",\"stands\":%llu", (unsigned long long)v->stands);
  put_texts(out, &x);
  put_functions(out, &x, t->program);
  put_arguments(out, t);
  put_tensors(out, v, t);
  put_costs(out, r, nanoseconds);
  put_lines(out, r, t, &x, nanoseconds);
  put_findings(out, v);
  tkw_put_stages(out, v, t);
  put_steps(out, r);
  tk_buf_putc(out, '}');
}
