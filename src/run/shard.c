/* shard.c - what a part of a launch stores, noted and written; see shard.h.
 */
#include "run/shard.h"

#include <inttypes.h>
#include <string.h>

#include "interp/check/points_to.h"
#include "interp/grid.h"
#include "interp/order.h"
#include "interp/site.h"
#include "ir/param.h"

/* ---- noting -------------------------------------------------------------- */

/* The number of the running instruction as an event.  A program comes back to
 * few instructions again and again, and those are the last events. */
static uint32_t event_now(tkr_shard *x, tki *t) {
  tkn_event now = {tki_program_index(t), tki_site(t)};
  for (size_t i = x->events.n; i > x->first; i--)
    if (x->events.items[i - 1].site == now.site) return (uint32_t)i;
  if (x->events.n == UINT32_MAX) tk_throw(t->env, TK_INTERNAL);
  TK_PUSH(&x->arena, &x->events, now);
  return (uint32_t)x->events.n;
}

static tkc_history written_by(void *ud, tkc_history old, uint64_t lo,
                              uint64_t hi) {
  (void)lo, (void)hi;
  old.write = *(uint32_t *)ud;
  return old;
}

static tkc_history read_by(void *ud, tkc_history old, uint64_t lo,
                           uint64_t hi) {
  (void)lo, (void)hi;
  if (!old.write && !old.read) old.read = *(uint32_t *)ud;
  return old;
}

static void note_access(void *ud, tki *t, const tki_access *a) {
  tkr_shard *x = ud;
  tki_stretch s = {0};
  uint32_t event = 0;
  if (a->barrier) return;
  while (tki_next_stretch(a, &s)) {
    const tki_region *r = tki_access_region(a, s.lane);
    const char *host = r->host + (s.addr - r->lo);
    tkc_intervals *map = &x->maps[tk_area_at(&x->areas, host, 1)];
    uint64_t lo = (uint64_t)(uintptr_t)host;
    if (!map->arena) continue;
    if (!event) event = event_now(x, t);
    tkc_intervals_update(map, lo, lo + s.n * a->size,
                         a->write ? written_by : read_by, &event);
  }
}

static void note_program(void *ud, tki *t, bool begins) {
  tkr_shard *x = ud;
  (void)t;
  if (begins) x->first = x->events.n;
}

/* ---- what is run --------------------------------------------------------- */

static uint64_t digest_of_form(tk_env *e, const tki *t) {
  tk_buf text;
  tk_buf_init(&text, e);
  tk_program_print(&text, t->program);
  tk_digest digest = {0};
  tk_digest_add(&digest, text.s, text.n);
  tk_buf_free(&text);
  for (size_t i = 0; i < t->program->nparams; i++) {
    tk_param_value v = tk_param_of(t->launch, &t->program->params[i]);
    uint64_t bits = v.tensor ? v.index : v.bits;
    tk_digest_add(&digest, &bits, sizeof bits);
  }
  return tk_digest_end(&digest);
}

static const char *how_it_runs(tkr_shard *x) {
  const tk_run_options *o = x->options;
  return tk_arena_printf(&x->arena, "order %s, programs '%s', dot %s%s",
                         o->order ? o->order : "serial", o->pids ? o->pids : "",
                         o->dot ? o->dot : "blas",
                         o->no_asserts ? ", no asserts" : "");
}

static void describe_run(tkr_shard *x, tki *t) {
  tkn_stores *s = &x->stores;
  tk_part part = tk_part_parse(t->env, x->options->shard);
  *s = (tkn_stores){.kernel = t->program->kernel->name,
                    .how = how_it_runs(x),
                    .form = digest_of_form(t->env, t),
                    .part = part.part,
                    .parts = part.parts,
                    .nareas = x->areas.n};
  for (int i = 0; i < 3; i++) s->grid[i] = (uint64_t)t->grid[i];
  TK_ASSERT(part.part < part.parts);
  s->areas = TK_NEWN(&x->arena, tkn_area, x->areas.n + 1);
  for (size_t i = 0; i < x->areas.n; i++) {
    const tk_area *a = &x->areas.items[i];
    size_t n = (size_t)(a->hi - a->lo);
    s->areas[i] = (tkn_area){.name = a->first.name,
                             .bytes = n,
                             .before = tk_digest_of(a->lo, n),
                             .host = a->lo};
  }
}

/* Programs that need an order do not run in parts: what one stores or counts,
 * another part does not see. */
static void need_no_order(tki *t) {
  tki_order_reason r;
  if (!tki_order_find(t->program, TKI_ORDER_PRINTS, &r)) return;
  tk_diag *d = tk_diag_add(t->env, TK_D_ARGUMENT, r.src, r.span,
                           "this launch cannot be split into parts: %s", r.why);
  tk_diag_help(t->env, d, "run it without --shard");
  tk_throw(t->env, TK_USAGE);
}

/* ---- the run ------------------------------------------------------------- */

static void drop_file(tkr_shard *x) {
  if (x->file.file) tk_outfile_close(&x->file, false);
  x->file = (tk_outfile){0};
}

/* Part 0 begins with the launch, as its memory is now. */
static void open_stores(tkr_shard *x, tki *t) {
  drop_file(x);
  int error = tk_outfile_open(&x->file, x->path);
  if (error)
    tkn_file_fail(t->env, x->path, "cannot be written: %s", strerror(error));
  x->writer =
      (tkn_writer){.env = t->env, .name = x->path, .file = x->file.file};
  if (!x->stores.part) tkn_record(x->launch, &x->writer);
}

/* A debugger may begin the run again, with memory as it was. */
static void shard_begins(void *ud, tki *t) {
  tkr_shard *x = ud;
  if (t->launch != x->launch) return;
  tk_arena_free(&x->arena);
  tk_arena_init(&x->arena, t->env);
  need_no_order(t);
  x->areas = tk_areas_of(x->launch, &x->arena);
  describe_run(x, t);
  if (!x->path)
    x->path = tk_arena_printf(
        &x->launch->arena, "%s-%" PRIu64 "-of-%" PRIu64 ".stores",
        x->stores.kernel, x->stores.part, x->stores.parts);
  open_stores(x, t);
  tkc_points_to to = tkc_points_to_find(&x->arena, t);
  x->maps = TK_NEWN(&x->arena, tkc_intervals, x->areas.n + 1);
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (!r->tensor || r->hi == r->lo || !(to.region[i] & TKC_STORES)) continue;
    size_t k = tk_area_at(&x->areas, r->host, 1);
    const tk_area *a = &x->areas.items[k];
    x->maps[k] = tkc_intervals_for(&x->arena, (uint64_t)(uintptr_t)a->lo,
                                   (uint64_t)(uintptr_t)a->hi);
  }
  memset(&x->events, 0, sizeof x->events);
  x->observer = (tki_observer){
      .ud = x, .program = note_program, .access = note_access, .rows = true};
  tki_observe(t, &x->observer);
}

/* ---- what it stored ------------------------------------------------------ */

typedef TK_VEC(tkn_stretch) stretches;

static void add_stretch(tkr_shard *x, stretches *list, uint64_t at, uint64_t n,
                        uint32_t event) {
  tkn_stretch *last = list->n ? &list->items[list->n - 1] : NULL;
  TK_ASSERT(n && event && event <= x->events.n);
  TK_ASSERT(!last || last->at + last->n <= at); /* they ascend */
  if (last && last->at + last->n == at && last->event == event - 1)
    last->n += n;
  else
    TK_PUSH(&x->arena, list, ((tkn_stretch){at, n, event - 1}));
}

static void gather_area(tkr_shard *x, size_t i) {
  const tkc_intervals *map = &x->maps[i];
  tkn_area *a = &x->stores.areas[i];
  stretches writes = {0}, reads = {0};
  tkc_history h;
  for (uint64_t at = map->lo, end; map->arena && at < map->hi; at = end) {
    end = tkc_intervals_end(map, at, map->hi, &h);
    TK_ASSERT(end > at && end <= map->hi);
    if (h.write) add_stretch(x, &writes, at - map->lo, end - at, h.write);
    if (h.read) add_stretch(x, &reads, at - map->lo, end - at, h.read);
  }
  a->writes = writes.items;
  a->nwrites = writes.n;
  a->reads = reads.items;
  a->nreads = reads.n;
}

/* The number of the text that a place is in. */
static uint64_t text_number(tkr_shard *x, const tk_source *src) {
  tkn_stores *s = &x->stores;
  uint64_t i = 0;
  while (i < s->ntexts && x->sources[i] != src) i++;
  if (i < s->ntexts) return i;
  x->sources[i] = src;
  s->texts[s->ntexts++] = (tkn_text){src->name, src->text, src->len};
  return i;
}

/* Every instruction of the program: few, next to what it stores. */
static void gather_sites(tkr_shard *x, tki *t) {
  tkn_stores *s = &x->stores;
  size_t n = t->program->ninsts;
  s->sites = TK_NEWN(&x->arena, tkn_site, n + 1);
  s->texts = TK_NEWN(&x->arena, tkn_text, n + 1);
  x->sources = TK_NEWN(&x->arena, const tk_source *, n + 1);
  for (size_t i = 0; i < n; i++) {
    const tki_site_info *info = tki_site_at(t, (uint32_t)i);
    if (!info) continue;
    const tk_span at = info->inst->span;
    s->sites[i] = (tkn_site){text_number(x, info->func->src), at.lo, at.hi};
  }
  s->nsites = n;
}

static void shard_ends(void *ud, tki *t, tk_status st) {
  tkr_shard *x = ud;
  if (t->launch != x->launch || st != TK_OK) return;
  for (size_t i = 0; i < x->areas.n; i++) gather_area(x, i);
  gather_sites(x, t);
  x->stores.events = x->events.items;
  x->stores.nevents = x->events.n;
  tkn_stores_write(&x->writer, &x->stores);
  int error = tk_outfile_close(&x->file, true);
  x->file = (tk_outfile){0};
  if (error)
    tkn_file_fail(t->env, x->path, "cannot be written: %s", strerror(error));
}

void tkr_shard_begin(tkr_shard *x, tk_launch *l, const tk_run_options *o) {
  tk_session *s = l->session;
  *x = (tkr_shard){.launch = l, .options = o, .path = o->stores};
  tk_arena_init(&x->arena, &s->env);
  x->watcher = (tk_watcher){.ud = x, .begin = shard_begins, .end = shard_ends};
  if (o->shard) tk_session_watch(s, &x->watcher);
}

void tkr_shard_end(tkr_shard *x) {
  tk_session_unwatch(x->launch->session, &x->watcher);
  drop_file(x);
  tk_arena_free(&x->arena);
}
