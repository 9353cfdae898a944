/* merge.c - the parts of a launch, joined; see shard.h.
 *
 * Parts are stretches of the grid in the order of their numbers, so that
 * their stores in that order are those of the serial run.  For each byte the
 * map of its area says which part stored it last: what another part stores
 * over it is reported, and what another part has read of it as well, since in
 * the serial run it would have read that.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/check/intervals.h"
#include "interp/describe.h"
#include "launch/areas.h"
#include "run/shard.h"

/* A file, once it is read. */
typedef struct piece {
  const char *path;
  tkn_stores stores;
  tk_source **sources; /* of its texts */
  uint64_t first;      /* the number of its first event among all, from 1 */
} piece;

typedef enum clash_kind { CLASH_SAME, CLASH_STORES, CLASH_READ } clash_kind;

/* Two instructions that meet at elements, of which the first is kept. */
typedef struct clash {
  clash_kind kind;
  const piece *one, *two;
  tkn_event first, second;
  uint64_t count;
  const char *element; /* the first of them, in words */
} clash;

typedef struct merging {
  tk_session *session;
  tk_env *env;
  tk_arena arena; /* freed at the end */
  tk_launch *launch;
  piece *pieces; /* in the order of their parts, once that is known */
  size_t n;
  tk_areas areas;
  tkc_intervals *maps;
  TK_VEC(clash) clashes;
  const char *const *paths;
  tk_launch **out;
  /* What is being joined: */
  const piece *piece;
  const tkn_stretch *stretch;
  const char *host;   /* where the area is that it lies in */
  const char *stored; /* its bytes; NULL: it was read */
} merging;

/* ---- which files --------------------------------------------------------- */

static void TK_NORETURN refuse(merging *m, const piece *p, const char *help,
                               const char *fmt, const char *detail) {
  tk_buf text;
  tk_buf_init(&text, m->env);
  tk_buf_printf(&text, fmt, detail);
  tk_diag *d = tk_diag_add(m->env, TK_D_FILE, NULL, (tk_span){0, 0}, "%s: %s",
                           p->path, tk_buf_str(&text));
  tk_buf_free(&text);
  tk_diag_help(m->env, d, "%s", help);
  tk_throw(m->env, TK_USAGE);
}

/* What one piece is of, and the first is not. */
static void need_same_launch(merging *m, const piece *p) {
  const tkn_stores *a = &m->pieces[0].stores, *b = &p->stores;
  const char *help = tk_arena_printf(
      &m->arena,
      "all parts must come from the same command, apart from --shard; the "
      "other file is %s",
      m->pieces[0].path);
  if (strcmp(a->kernel, b->kernel))
    refuse(m, p, help, "this is a part of a different kernel, '%s'", b->kernel);
  if (a->parts != b->parts)
    refuse(m, p, help, "this is one of %s parts",
           tk_arena_printf(&m->arena, "%" PRIu64 ", not of %" PRIu64, b->parts,
                           a->parts));
  if (memcmp(a->grid, b->grid, sizeof a->grid))
    refuse(m, p, help, "this launch has a different grid, %s",
           tk_arena_printf(&m->arena, "%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                           b->grid[0], b->grid[1], b->grid[2]));
  if (strcmp(a->how, b->how))
    refuse(m, p, help, "this ran with other options: %s", b->how);
  if (a->form != b->form || a->nareas != b->nareas)
    refuse(m, p, help,
           "this launch has %s: the kernel's text, the types or the numbers "
           "differ",
           "other arguments");
  for (uint64_t i = 0; i < a->nareas; i++)
    if (a->areas[i].bytes != b->areas[i].bytes)
      refuse(m, p, help, "'%s' has another size", b->areas[i].name);
    else if (a->areas[i].before != b->areas[i].before)
      refuse(m, p,
             "a script that draws random numbers needs a seed, the same for "
             "each part",
             "'%s' held different values before this part ran",
             b->areas[i].name);
}

static int by_part(const void *a, const void *b) {
  uint64_t x = ((const piece *)a)->stores.part;
  uint64_t y = ((const piece *)b)->stores.part;
  return x < y ? -1 : x > y;
}

/* Each part once. */
static void need_all_parts(merging *m) {
  uint64_t parts = m->pieces[0].stores.parts, next = 0, missing = 0;
  tk_buf names;
  qsort(m->pieces, m->n, sizeof *m->pieces, by_part);
  for (size_t i = 1; i < m->n; i++)
    if (m->pieces[i].stores.part == m->pieces[i - 1].stores.part)
      refuse(m, &m->pieces[i], "give each part once",
             "this is the same part as %s", m->pieces[i - 1].path);
  tk_buf_init(&names, m->env);
  enum { SHOWN = 20 };
  for (size_t i = 0; i <= m->n; i++) {
    uint64_t part = i < m->n ? m->pieces[i].stores.part : parts;
    for (; next < part; next++)
      if (missing++ < SHOWN)
        tk_buf_printf(&names, "%s%" PRIu64, names.n ? ", " : "", next);
    next = part + 1;
  }
  if (missing) {
    const char *more = missing > SHOWN ? ", ..." : "";
    tk_diag *d = tk_diag_add(
        m->env, TK_D_FILE, NULL, (tk_span){0, 0},
        "%" PRIu64 " of %" PRIu64 " parts %s missing: %s%s", missing, parts,
        missing == 1 ? "is" : "are", tk_buf_str(&names), more);
    tk_diag_help(m->env, d,
                 "give the files of all parts; a part that failed has written "
                 "none");
  }
  tk_buf_free(&names);
  if (missing) tk_throw(m->env, TK_USAGE);
}

/* The memory that the launch of part 0 came with is what the parts saw. */
static void need_its_memory(merging *m) {
  const piece *p = &m->pieces[0];
  bool same = m->areas.n == p->stores.nareas;
  for (size_t i = 0; i < m->areas.n && same; i++) {
    const tk_area *a = &m->areas.items[i];
    size_t n = (size_t)(a->hi - a->lo);
    same = n == p->stores.areas[i].bytes &&
           tk_digest_of(a->lo, n) == p->stores.areas[i].before;
  }
  if (!same)
    refuse(m, p, "run that part again", "damaged: %s",
           "its tensors have changed since it was written");
}

/* ---- joining ------------------------------------------------------------- */

static const char *element_at(merging *m, const char *host) {
  tk_memory r;
  tk_buf text;
  size_t i = 0;
  while (tk_memory_at(m->launch, i, &r) &&
         !(r.tensor && r.host <= host && host < r.host + (r.hi - r.lo)))
    i++;
  tk_buf_init(&text, m->env);
  tki_describe_address_in(&text, &r, r.lo + (uint64_t)(host - r.host));
  const char *s = tk_arena_strdup(&m->arena, tk_buf_str(&text));
  tk_buf_free(&text);
  return s;
}

/* Bytes of the piece meet those that an earlier one stored. */
static void add_clash(merging *m, uint64_t earlier, uint64_t at, uint64_t n) {
  const char *host = m->host + at;
  const piece *one = m->pieces;
  while (one->first + one->stores.nevents <= earlier) one++;
  clash c = {.kind = CLASH_READ, .one = one, .two = m->piece, .count = 1};
  c.first = one->stores.events[earlier - one->first];
  c.second = m->piece->stores.events[m->stretch->event];
  if (m->stored)
    c.kind = memcmp(host, m->stored + (at - m->stretch->at), n) ? CLASH_STORES
                                                                : CLASH_SAME;
  for (size_t i = 0; i < m->clashes.n; i++) {
    clash *k = &m->clashes.items[i];
    if (k->kind == c.kind && k->first.site == c.first.site &&
        k->second.site == c.second.site) {
      k->count++;
      return;
    }
  }
  c.element = element_at(m, host);
  TK_PUSH(&m->arena, &m->clashes, c);
}

static tkc_history meet(void *ud, tkc_history old, uint64_t lo, uint64_t hi) {
  merging *m = ud;
  uint64_t base = (uint64_t)(uintptr_t)m->host;
  bool mine = old.write >= m->piece->first;
  if (old.write && !mine) add_clash(m, old.write, lo - base, hi - lo);
  if (m->stored) old.write = (uint32_t)(m->piece->first + m->stretch->event);
  return old;
}

static void join_area(merging *m, size_t i) {
  const tkn_area *a = &m->piece->stores.areas[i];
  char *host = m->areas.items[i].lo;
  uint64_t base = (uint64_t)(uintptr_t)host;
  const char *stored = a->host;
  m->host = host;
  m->stored = NULL;
  for (uint64_t k = 0; k < a->nreads; k++) {
    m->stretch = &a->reads[k];
    uint64_t lo = base + m->stretch->at;
    tkc_intervals_update(&m->maps[i], lo, lo + m->stretch->n, meet, m);
  }
  for (uint64_t k = 0; k < a->nwrites; k++) {
    m->stretch = &a->writes[k];
    m->stored = stored;
    uint64_t lo = base + m->stretch->at;
    tkc_intervals_update(&m->maps[i], lo, lo + m->stretch->n, meet, m);
    memcpy(host + m->stretch->at, stored, m->stretch->n);
    stored += m->stretch->n;
  }
}

static void join_pieces(merging *m) {
  m->maps = TK_NEWN(&m->arena, tkc_intervals, m->areas.n + 1);
  for (size_t i = 0; i < m->areas.n; i++)
    m->maps[i] =
        tkc_intervals_for(&m->arena, (uint64_t)(uintptr_t)m->areas.items[i].lo,
                          (uint64_t)(uintptr_t)m->areas.items[i].hi);
  for (size_t k = 0; k < m->n; k++) {
    m->piece = &m->pieces[k];
    for (size_t i = 0; i < m->areas.n; i++) join_area(m, i);
  }
}

/* ---- reporting ----------------------------------------------------------- */

typedef struct event_at {
  const tk_source *src;
  tk_span span;
  int64_t pid[3];
  const char *program; /* "(3, 0, 0)" */
} event_at;

static event_at event_place(merging *m, const piece *p, tkn_event e) {
  const tkn_site *s = &p->stores.sites[e.site];
  tk_source **src = &p->sources[s->source];
  const tkn_text *text = &p->stores.texts[s->source];
  if (!*src)
    *src = tk_source_new(&m->session->arena, text->name, text->text,
                         (size_t)text->len);
  const int64_t *grid = m->launch->grid;
  event_at x = {.src = *src, .span = {(uint32_t)s->lo, (uint32_t)s->hi}};
  x.pid[0] = (int64_t)e.program % grid[0];
  x.pid[1] = (int64_t)e.program / grid[0] % grid[1];
  x.pid[2] = (int64_t)e.program / grid[0] / grid[1];
  x.program =
      tk_arena_printf(&m->arena, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                      x.pid[0], x.pid[1], x.pid[2]);
  return x;
}

static void report_clash(merging *m, const clash *c) {
  event_at one = event_place(m, c->one, c->first);
  event_at two = event_place(m, c->two, c->second);
  tk_diag *d;
  if (c->kind == CLASH_READ)
    d = tk_diag_add(m->env, TK_D_RACE, two.src, two.span,
                    "program %s reads %s, which program %s of another part "
                    "writes",
                    two.program, c->element, one.program);
  else
    d = tk_diag_add(m->env, c->kind == CLASH_SAME ? TK_D_TWICE : TK_D_RACE,
                    two.src, two.span, "programs %s and %s both write %s%s",
                    one.program, two.program, c->element,
                    c->kind == CLASH_SAME ? ", the same value" : "");
  tk_diag_program(d, two.pid);
  tk_diag_note(m->env, d, one.src, one.span, "program %s writes it here",
               one.program);
  tk_diag_note(m->env, d, NULL, (tk_span){0, 0},
               "they are in part %" PRIu64 " (%s) and part %" PRIu64 " (%s)",
               c->one->stores.part, c->one->path, c->two->stores.part,
               c->two->path);
  if (c->count > 1)
    tk_diag_note(m->env, d, NULL, (tk_span){0, 0},
                 "this happens %" PRIu64 " times", c->count);
  if (c->kind == CLASH_READ)
    tk_diag_help(m->env, d,
                 "no part sees what another one stores: run the launch as a "
                 "whole, or in parts between which nothing is read");
  else
    tk_diag_help(m->env, d,
                 "the store of the later program stays, as in the serial run; "
                 "on a GPU nothing orders the two");
}

/* ---- the whole ----------------------------------------------------------- */

static void merge_files(tk_env *e, void *ud) {
  merging *m = ud;
  m->pieces = TK_NEWN(&m->arena, piece, m->n + 1);
  uint64_t events = 1;
  for (size_t i = 0; i < m->n; i++) {
    piece *p = &m->pieces[i];
    p->path = m->paths[i];
    tkn_stores_read(m->session, &m->arena, p->path, &p->stores, &m->launch);
    p->sources = TK_NEWN(&m->arena, tk_source *, p->stores.ntexts + 1);
    need_same_launch(m, p);
  }
  need_all_parts(m);
  for (size_t i = 0; i < m->n; i++) {
    m->pieces[i].first = events;
    events += m->pieces[i].stores.nevents;
  }
  if (events > UINT32_MAX)
    refuse(m, &m->pieces[m->n - 1], "run the launch in smaller programs",
           "all files together hold %s stores", "too many");
  m->areas = tk_areas_of(m->launch, &m->arena);
  need_its_memory(m);
  join_pieces(m);
  bool lost = false;
  for (size_t i = 0; i < m->clashes.n; i++) {
    report_clash(m, &m->clashes.items[i]);
    lost |= m->clashes.items[i].kind == CLASH_READ;
  }
  if (lost) tk_throw(e, TK_FINDING);
  *m->out = m->launch;
}

tk_status tk_launch_merge(tk_session *s, const char *const *paths, size_t n,
                          tk_launch **out) {
  merging m = {.session = s, .env = &s->env, .paths = paths, .n = n};
  m.out = out;
  *out = NULL;
  tk_arena_init(&m.arena, &s->env);
  tk_status st = tk_session_guard(s, merge_files, &m);
  if (st != TK_OK) tk_launch_free(m.launch);
  for (size_t i = 0; i < m.clashes.n && st == TK_OK; i++)
    if (m.clashes.items[i].kind == CLASH_STORES) st = TK_FINDING;
  tk_arena_free(&m.arena);
  return st;
}
