/* blame.c - who wrote an element.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "interp/explain/blame.h"
#include "interp/grid.h"
#include "interp/site.h"

/* ---- what is asked ----------------------------------------------------- */

static void refuse_element(tk_env *e, const char *option, const char *text,
                           const char *why) TK_NORETURN;
static void refuse_element(tk_env *e, const char *option, const char *text,
                           const char *why) {
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%s %s: %s",
                           option, text, why);
  tk_diag_help(e, d, "write NAME[I,J], an index for each axis");
  tk_throw(e, TK_USAGE);
}

static void bad_element(const tke_blame *b, const char *text,
                        const char *why) TK_NORETURN;
static void bad_element(const tke_blame *b, const char *text, const char *why) {
  refuse_element(b->t->env, b->option, text, why);
}

/* Whether n bytes of text are short for the name of a parameter: C is short for
 * c_ptr, ptr_c and C_ptr. */
static bool is_short_for(const char *name, const char *asked, size_t n) {
  size_t k = strlen(name);
  if (k < n) return false;
  if (!strncasecmp(name, asked, n))
    return k == n || name[n] == '_' || !strcasecmp(name + n, "ptr");
  return k > n && name[k - n - 1] == '_' &&
         !strncasecmp(name + k - n, asked, n);
}

/* The tensor of that name, or the only one whose name it abbreviates. */
static const tki_region *asked_region(tki *t, const char *asked, size_t n) {
  const tki_region *found = NULL;
  size_t hits = 0;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (!r->tensor) continue;
    if (strlen(r->name) == n && !strncmp(r->name, asked, n)) return r;
    if (is_short_for(r->name, asked, n)) found = r, hits++;
  }
  return hits == 1 ? found : NULL;
}

/* Reads "[I,J]", an index for each axis, and returns the address of that
 * element. Reports an index that the tensor does not have, and throws. */
static uint64_t asked_address(const tke_blame *b, const tki_region *r,
                              const char *text, const char *p) {
  const tk_tensor *x = r->tensor;
  int64_t off = 0;
  for (int i = 0; i < x->rank; i++) {
    char *end;
    if (*p != (i ? ',' : '['))
      bad_element(b, text, "an index for each axis is needed");
    long long at = strtoll(p + 1, &end, 10);
    if (end == p + 1) bad_element(b, text, "an index must be a number");
    if (at < 0) at += x->shape[i];
    if (at < 0 || at >= x->shape[i])
      bad_element(b, text, "the index is out of range");
    off += at * x->strides[i];
    p = end;
  }
  if (x->rank && *p == ',')
    bad_element(b, text, "there are more indices than axes");
  if (strcmp(p, x->rank ? "]" : "") != 0)
    bad_element(b, text, "']' was expected after the last index");
  uint64_t base = r->lo + (uint64_t)((char *)x->data - r->host);
  return base + (uint64_t)(off * (int64_t)tk_dtype_size(x->dtype));
}

static void without_space(char *text) {
  char *to = text;
  for (char *p = text; *p; p++)
    if (!isspace((unsigned char)*p)) *to++ = *p;
  *to = 0;
}

static void add_target(tke_blame *b, char *text) {
  tki *t = b->t;
  without_space(text);
  size_t n = strcspn(text, "[");
  const tki_region *r = asked_region(t, text, n);
  if (!r && t->launch->fn->host) return;
  if (!r) bad_element(b, text, "no tensor of this launch has this name");
  tke_target *x = TK_NEW(&b->arena, tke_target);
  *x = (tke_target){.text = text, .region = r};
  x->addr = asked_address(b, r, text, text + n);
  *b->last = x;
  b->last = &x->next;
}

typedef struct elements_call {
  tk_session *s;
  const char *option, *elements;
} elements_call;

/* Says why the text, which has no blanks, cannot be an element of any tensor;
 * NULL if it can. */
static const char *element_fault(const char *text) {
  const char *p = text + strcspn(text, "[");
  if (p == text) return "no tensor is named";
  if (!*p) return NULL;
  do {
    char *end;
    strtoll(p + 1, &end, 10);
    if (end == p + 1) return "an index must be a number";
    p = end;
  } while (*p == ',');
  return strcmp(p, "]") ? "']' was expected after the last index" : NULL;
}

static void check_elements(tk_env *e, void *ud) {
  const elements_call *c = ud;
  char *text = tk_arena_strdup(&c->s->arena, c->elements), *next;
  for (; *text; text = next) {
    next = text + strcspn(text, "\n");
    if (*next) *next++ = 0;
    without_space(text);
    const char *why = element_fault(text);
    if (why) refuse_element(e, c->option, text, why);
  }
}

tk_status tk_elements_check(tk_session *s, const char *option,
                            const char *elements) {
  elements_call c = {s, option, elements ? elements : ""};
  return tk_session_guard(s, check_elements, &c);
}

/* ---- watching ---------------------------------------------------------- */

static tke_write write_of(const tki_access *a, size_t lane) {
  const tki *t = a->t;
  TK_ASSERT(a->write && lane < a->n);
  tke_write w = {.program = tki_program_index(t),
                 .addr = a->addr[lane],
                 .ops = t->ops,
                 .site = tki_site(t),
                 .masked = a->mask != NULL};
  const tki_loop *loop = t->frame->loops;
  w.looped = loop != NULL;
  w.trip = loop ? loop->trip : 0;
  w.atomic = a->in->op != TK_I_STORE;
  memcpy(w.value, a->value + lane * a->step,
         a->size < sizeof w.value ? a->size : sizeof w.value);
  return w;
}

/* Keeps a write to the element, or to the nearest memory on either side. */
static void see_lane(tke_blame *b, tke_target *x, const tki_access *a,
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

static void blame_access(void *ud, tki *t, const tki_access *a) {
  tke_blame *b = ud;
  if (!a->write) return;
  for (tke_target *x = b->targets; x; x = x->next) {
    if (a->region != TKI_ANY && &t->regions[a->region] != x->region) continue;
    for (size_t i = 0; i < a->n; i++)
      if ((!a->mask || a->mask[i]) && a->addr[i] >= x->region->lo &&
          a->addr[i] < x->region->hi)
        see_lane(b, x, a, i);
  }
}

void tke_blame_new(tki *t, const char *option, const char *elements,
                   tke_blame **out) {
  tke_blame *b = tk_calloc(t->env, 1, sizeof *b);
  b->t = t;
  b->option = option;
  b->last = &b->targets;
  tk_arena_init(&b->arena, t->env);
  *out = b;
  char *text = tk_arena_strdup(&b->arena, elements), *save = NULL;
  for (char *one = strtok_r(text, "\n", &save); one;
       one = strtok_r(NULL, "\n", &save))
    add_target(b, one);
  b->observer = (tki_observer){.ud = b, .access = blame_access};
}

tke_blame *tke_blame_one(tki *t, const tki_region *r, uint64_t addr) {
  tke_blame *b = tk_calloc(t->env, 1, sizeof *b);
  b->t = t;
  tk_arena_init(&b->arena, t->env);
  b->targets = TK_NEW(&b->arena, tke_target);
  *b->targets = (tke_target){.region = r, .addr = addr};
  b->observer = (tki_observer){.ud = b, .access = blame_access};
  return b;
}

void tke_blame_attach(tke_blame *b) {
  for (tke_target *x = b->targets; x; x = x->next) {
    x->writes.n = 0;
    x->has_below = x->has_above = false;
  }
  if (b->targets) tki_observe(b->t, &b->observer);
}

void tke_blame_free(tk_env *e, tke_blame *b) {
  if (!b) return;
  tk_arena_free(&b->arena);
  tk_free(e, b, sizeof *b);
}

/* ---- the answer -------------------------------------------------------- */

static tk_element blamed_element(const tke_blame *b, tk_arena *a,
                                 const tki_region *r, uint64_t addr) {
  tk_element x = tki_element(r, addr);
  tk_buf *text = &b->t->launch->text;
  tk_buf_clear(text);
  tki_describe_address_in(text, r, addr);
  x.text = tk_arena_strdup(a, tk_buf_str(text));
  return x;
}

static tk_write found_write(const tke_blame *b, tk_arena *a,
                            const tke_target *x, const tke_write *w) {
  const tki_site_info *s = tki_site_at(b->t, w->site);
  tk_write found = {.function = s->func->name,
                    .atomic = w->atomic,
                    .masked = w->masked,
                    .in_loop = w->looped,
                    .trip = w->trip,
                    .ops = w->ops};
  tki_pid_of(b->t, w->program, found.program);
  found.place = tk_place_of(s->func->src, s->inst->span);
  found.element = blamed_element(b, a, x->region, w->addr);
  found.value =
      tk_lane_shown(a, &b->t->launch->text, x->region->tensor->dtype, w->value);
  return found;
}

static const tk_write *copy_write(const tke_blame *b, tk_arena *a,
                                  const tke_target *x, const tke_write *w) {
  tk_write *found = TK_NEW(a, tk_write);
  *found = found_write(b, a, x, w);
  return found;
}

tk_blame tke_blame_found(tke_blame *b, tk_arena *a, const tke_target *x) {
  size_t n = x->writes.n, most = n < TK_BLAME_WRITES ? n : TK_BLAME_WRITES;
  const tki_region *r = x->region;
  tk_dtype d = r->tensor->dtype;
  tk_blame found = {.times = n, .nwrites = most};
  if (x->text) found.asked = tk_arena_strdup(a, x->text);
  found.element = blamed_element(b, a, r, x->addr);
  if (tki_region_at(b->t, x->addr, tk_dtype_size(d)))
    found.value =
        tk_lane_shown(a, &b->t->launch->text, d, r->host + (x->addr - r->lo));
  tk_write *writes = TK_NEWN(a, tk_write, most + 1);
  for (size_t i = 0; i < most; i++)
    writes[i] = found_write(b, a, x, &x->writes.items[n - 1 - i]);
  found.writes = writes;
  if (n) found.first = copy_write(b, a, x, &x->writes.items[0]);
  if (n) return found;
  if (x->has_below) found.before = copy_write(b, a, x, &x->below);
  if (x->has_above) found.after = copy_write(b, a, x, &x->above);
  return found;
}
