/* blame.c - who wrote an element.
 */
#include "interp/check/blame.h"
#include "interp/grid.h"
#include "interp/site.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

enum { SHOWN = 4 };

/* ---- what is asked ----------------------------------------------------- */

static void bad(const tkc_blame *b, const char *text,
                const char *why) TK_NORETURN;
static void bad(const tkc_blame *b, const char *text, const char *why) {
  tki *t = b->t;
  tk_diag *d = tk_diag_add(t->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "%s %.100s: %s", b->option, text, why);
  tk_diag_help(t->env, d, "write NAME[I,J], an index for each axis");
  tk_throw(t->env, TK_USAGE);
}

/* C is what C, c_ptr, ptr_c and C_ptr are called for short. */
static bool means(const char *name, const char *asked, size_t n) {
  size_t k = strlen(name);
  if (k < n) return false;
  if (!strncasecmp(name, asked, n))
    return k == n || name[n] == '_' || !strcasecmp(name + n, "ptr");
  return k > n && name[k - n - 1] == '_' &&
         !strncasecmp(name + k - n, asked, n);
}

static const tki_region *find(tki *t, const char *asked, size_t n) {
  const tki_region *found = NULL;
  size_t hits = 0;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (!r->tensor) continue;
    if (strlen(r->name) == n && !strncmp(r->name, asked, n)) return r;
    if (means(r->name, asked, n)) found = r, hits++;
  }
  return hits == 1 ? found : NULL;
}

static uint64_t element(const tkc_blame *b, const tki_region *r,
                        const char *text, const char *p) {
  const tk_tensor *x = r->tensor;
  int64_t off = 0;
  for (int i = 0; i < x->rank; i++) {
    char *end;
    if (*p != (i ? ',' : '[')) bad(b, text, "an index for each axis is needed");
    long long at = strtoll(p + 1, &end, 10);
    if (end == p + 1) bad(b, text, "an index is a number");
    if (at < 0) at += x->shape[i];
    if (at < 0 || at >= x->shape[i]) bad(b, text, "the index is out of range");
    off += at * x->strides[i];
    p = end;
  }
  if (x->rank && *p == ',') bad(b, text, "there are more indices than axes");
  if (strcmp(p, x->rank ? "]" : "") != 0)
    bad(b, text, "']' was expected behind the last index");
  uint64_t base = r->lo + (uint64_t)((char *)x->data - r->host);
  return base + (uint64_t)(off * (int64_t)tk_dtype_size(x->dtype));
}

static void add_target(tkc_blame *b, char *text) {
  tki *t = b->t;
  char *to = text;
  for (char *p = text; *p; p++)
    if (!isspace((unsigned char)*p)) *to++ = *p;
  *to = 0;
  size_t n = strcspn(text, "[");
  const tki_region *r = find(t, text, n);
  if (!r && t->launch->fn->host) return;
  if (!r) bad(b, text, "no tensor of this launch is called so");
  tkc_target *x = TK_NEW(&b->arena, tkc_target);
  *x = (tkc_target){.text = text, .region = r};
  x->addr = element(b, r, text, text + n);
  *b->last = x;
  b->last = &x->next;
}

/* ---- watching ---------------------------------------------------------- */

static tkc_write write_of(const tki_access *a, size_t lane) {
  const tki *t = a->t;
  tkc_write w = {tki_program_index(t),
                 a->addr[lane],
                 0,
                 tki_site(t),
                 false,
                 a->mask,
                 false,
                 {0}};
  const tki_loop *loop = t->frame->loops;
  w.looped = loop != NULL;
  w.trip = loop ? loop->trip : 0;
  w.atomic = a->in->op != TK_I_STORE;
  memcpy(w.value, a->value + lane * a->step,
         a->size < sizeof w.value ? a->size : sizeof w.value);
  return w;
}

static void see_lane(tkc_blame *b, tkc_target *x, const tki_access *a,
                     size_t i) {
  uint64_t at = a->addr[i];
  if (at <= x->addr && x->addr - at < a->size) {
    TK_PUSH(&b->arena, &x->writes, write_of(a, i));
  } else if (x->writes.n == 0 && at < x->addr &&
             (!x->has_below || at > x->below.addr)) {
    x->below = write_of(a, i);
    x->has_below = true;
  } else if (x->writes.n == 0 && at > x->addr &&
             (!x->has_above || at < x->above.addr)) {
    x->above = write_of(a, i);
    x->has_above = true;
  }
}

static void on_access(void *ud, tki *t, const tki_access *a) {
  tkc_blame *b = ud;
  if (!a->write) return;
  for (tkc_target *x = b->targets; x; x = x->next) {
    if (a->region != TKI_ANY && &t->regions[a->region] != x->region) continue;
    for (size_t i = 0; i < a->n; i++)
      if ((!a->mask || a->mask[i]) && a->addr[i] >= x->region->lo &&
          a->addr[i] < x->region->hi)
        see_lane(b, x, a, i);
  }
}

void tkc_blame_new(tki *t, const char *option, const char *elements,
                   tkc_blame **out) {
  tkc_blame *b = tk_calloc(t->env, 1, sizeof *b);
  b->t = t;
  b->option = option;
  b->last = &b->targets;
  tk_arena_init(&b->arena, t->env);
  *out = b;
  char *text = tk_arena_strdup(&b->arena, elements), *save = NULL;
  for (char *one = strtok_r(text, "\n", &save); one;
       one = strtok_r(NULL, "\n", &save))
    add_target(b, one);
  b->observer = (tki_observer){.ud = b, .access = on_access};
}

tkc_blame *tkc_blame_one(tki *t, const tki_region *r, uint64_t addr) {
  tkc_blame *b = tk_calloc(t->env, 1, sizeof *b);
  b->t = t;
  tk_arena_init(&b->arena, t->env);
  b->targets = TK_NEW(&b->arena, tkc_target);
  *b->targets = (tkc_target){.region = r, .addr = addr};
  b->observer = (tki_observer){.ud = b, .access = on_access};
  return b;
}

void tkc_blame_attach(tkc_blame *b) {
  for (tkc_target *x = b->targets; x; x = x->next) {
    x->writes.n = 0;
    x->has_below = x->has_above = false;
  }
  if (b->targets) tki_observe(b->t, &b->observer);
}

void tkc_blame_free(tk_env *e, tkc_blame *b) {
  if (!b) return;
  tk_arena_free(&b->arena);
  tk_free(e, b, sizeof *b);
}

/* ---- the answer -------------------------------------------------------- */

static void put_line(tk_buf *out, const tki_site_info *s) {
  const tk_source *src = s->func->src;
  int line = tk_source_line(src, s->inst->span.lo);
  size_t len;
  const char *text = tk_source_line_text(src, line, &len);
  while (len && (*text == ' ' || *text == '\t')) text++, len--;
  const char *slash = strrchr(src->name, '/');
  tk_buf_printf(out, "    %s:%d: ", slash ? slash + 1 : src->name, line);
  tk_buf_add(out, text, len < 60 ? len : 60);
  tk_buf_putc(out, '\n');
}

static void put_write(tkc_blame *b, tk_buf *out, const tkc_target *x,
                      const tkc_write *w) {
  const tki_site_info *s = tki_site_at(b->t, w->site);
  tk_buf_puts(out, "  program ");
  tki_place_program(out, b->t, w->program);
  tk_buf_puts(out, w->atomic ? ": atomic, operand " : ": value ");
  tk_format_lane(out, x->region->tensor->dtype, w->value);
  if (w->looped) tk_buf_printf(out, ", loop trip %" PRIu64, w->trip);
  tk_buf_puts(out, w->masked ? ", mask true\n" : ", no mask\n");
  put_line(out, s);
}

static void put_near(tkc_blame *b, tk_buf *out, const tkc_write *w,
                     const char *where) {
  const tki_site_info *s = tki_site_at(b->t, w->site);
  tk_buf_printf(out, "  the nearest write %s it: ", where);
  tki_place(out, b->t, w->addr);
  tk_buf_puts(out, ", by program ");
  tki_place_program(out, b->t, w->program);
  tk_buf_putc(out, '\n');
  put_line(out, s);
}

void tkc_blame_target(tkc_blame *b, tk_buf *out, const tkc_target *x) {
  size_t n = x->writes.n;
  tki_place(out, b->t, x->addr);
  tk_buf_puts(out, " = ");
  tki_place_value(out, b->t, x->addr);
  if (!n) {
    tk_buf_puts(out, ": no program wrote it\n");
    if (x->has_below) put_near(b, out, &x->below, "before");
    if (x->has_above) put_near(b, out, &x->above, "after");
    return;
  }
  if (n == 1)
    tk_buf_puts(out, ": written once\n");
  else
    tk_buf_printf(out, ": written %zu times, last first\n", n);
  for (size_t i = 0; i < n && i < SHOWN; i++)
    put_write(b, out, x, &x->writes.items[n - 1 - i]);
  if (n > SHOWN)
    tk_buf_printf(out, "  and %zu times before that, first by\n", n - SHOWN);
  if (n > SHOWN) put_write(b, out, x, &x->writes.items[0]);
}

void tkc_blame_text(tkc_blame *b, tk_buf *out) {
  for (const tkc_target *x = b->targets; x; x = x->next)
    tkc_blame_target(b, out, x);
}
