/* env.c - allocation, failure, arenas, strings. */
#include "env.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

struct tk_catch {
  tk_catch *outer;
  tk_status status;
  jmp_buf jump;
};

static void *default_alloc(void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  (void)old;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

void tk_env_init(tk_env *e, tk_alloc_fn alloc, void *ud) {
  memset(e, 0, sizeof *e);
  e->alloc = alloc ? alloc : default_alloc;
  e->alloc_ud = ud;
}

tk_status tk_protect(tk_env *e, void (*fn)(tk_env *e, void *ud), void *ud) {
  tk_catch c = {.outer = e->top, .status = TK_OK};
  e->top = &c;
  if (setjmp(c.jump) == 0) fn(e, ud);
  e->top = c.outer;
  return c.status;
}

void tk_throw(tk_env *e, tk_status st) {
  if (!e->top) {
    fputs("tkdbg: error outside of a protected call\n", stderr);
    abort();
  }
  e->top->status = st;
  longjmp(e->top->jump, 1);
}

tk_attention tk_attend(tk_env *e) {
  int answer = TK_ATTEND_STOP;
  if (!e->attend) return TK_ATTEND_PASS;
  e->interrupted = 0; /* an interrupt that comes meanwhile is handled by the
                         next check */
  e->attend(e->attend_ud, &answer);
  if (answer == TK_ATTEND_PASS) e->interrupted = 1;
  return (tk_attention)answer;
}

void tk_check_interrupt(tk_env *e) {
  if (!e->interrupted || e->pauses) return;
  if (tk_attend(e) != TK_ATTEND_GO_ON) tk_throw(e, TK_INTERRUPTED);
}

/* What every allocation does: work that takes long allocates. */
static void look(tk_env *e) {
  if (TK_UNLIKELY(e->interrupted) && !e->deaf && e->top) tk_check_interrupt(e);
}

void *tk_realloc(tk_env *e, void *p, size_t old, size_t size) {
  void *q = e->alloc(e->alloc_ud, p, old, size);
  if (!q && size) {
    e->refused++;
    tk_throw(e, TK_INTERNAL);
  }
  e->held += size - old;
  if (e->held > e->peak) e->peak = e->held;
  return q;
}

void *tk_calloc(tk_env *e, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size) tk_throw(e, TK_INTERNAL);
  void *p = tk_realloc(e, NULL, 0, n * size);
  if (p) memset(p, 0, n * size);
  return p;
}

void tk_free(tk_env *e, void *p, size_t size) {
  if (p) tk_realloc(e, p, size, 0);
}

/* ---- arenas ------------------------------------------------------------ */

typedef struct tk_chunk {
  struct tk_chunk *next;
  size_t size, used; /* of the bytes after this header */
} tk_chunk;

enum { CHUNK_HEADER = (sizeof(tk_chunk) + 15) / 16 * 16, CHUNK_MIN = 8192 };

void tk_arena_init(tk_arena *a, tk_env *e) {
  a->env = e;
  a->chunks = NULL;
}

void tk_arena_free(tk_arena *a) {
  for (tk_chunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    tk_free(a->env, c, CHUNK_HEADER + c->size);
  }
  a->chunks = NULL;
}

static tk_chunk *chunk_new(tk_arena *a, size_t size) {
  size_t want = size > CHUNK_MIN ? size : CHUNK_MIN;
  tk_chunk *c = tk_realloc(a->env, NULL, 0, CHUNK_HEADER + want);
  c->size = want;
  c->used = 0;
  if (a->chunks && size > CHUNK_MIN) { /* keep filling the current one */
    c->next = a->chunks->next;
    a->chunks->next = c;
  } else {
    c->next = a->chunks;
    a->chunks = c;
  }
  return c;
}

void *tk_arena_alloc(tk_arena *a, size_t size) {
  look(a->env);
  if (size > SIZE_MAX / 2) tk_throw(a->env, TK_INTERNAL);
  size = (size + 15) & ~(size_t)15;
  tk_chunk *c = a->chunks;
  if (!c || c->size - c->used < size) c = chunk_new(a, size);
  TK_ASSERT(c->used <= c->size && size <= c->size - c->used);
  void *p = (char *)c + CHUNK_HEADER + c->used;
  c->used += size;
  return memset(p, 0, size);
}

void *tk_arena_grow(tk_arena *a, void *items, size_t size, size_t *cap) {
  size_t now = *cap, next = now ? now * 2 : 8;
  TK_ASSERT(items || !now);
  void *p = tk_arena_alloc(a, next * size);
  if (now) memcpy(p, items, now * size);
  *cap = next;
  return p;
}

char *tk_arena_strndup(tk_arena *a, const char *s, size_t n) {
  char *p = tk_arena_alloc(a, n + 1);
  if (n) memcpy(p, s, n);
  return p;
}

char *tk_arena_strdup(tk_arena *a, const char *s) {
  return tk_arena_strndup(a, s, strlen(s));
}

char *tk_arena_printf(tk_arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = tk_arena_vprintf(a, fmt, ap);
  va_end(ap);
  return s;
}

/* What vsnprintf says of a text that it cannot hold, of over 2 GiB. */
static size_t formatted_size(tk_env *e, int n) {
  if (n < 0) tk_throw(e, TK_INTERNAL);
  return (size_t)n;
}

char *tk_arena_vprintf(tk_arena *a, const char *fmt, va_list ap) {
  char few[256]; /* most are short: these are formatted once */
  va_list again;
  va_copy(again, ap);
  int said = vsnprintf(few, sizeof few, fmt, again);
  va_end(again);
  size_t n = formatted_size(a->env, said);
  char *s = tk_arena_alloc(a, n + 1);
  if (n < sizeof few)
    memcpy(s, few, n + 1);
  else
    vsnprintf(s, n + 1, fmt, ap);
  return s;
}

/* ---- strings ----------------------------------------------------------- */

void tk_buf_init(tk_buf *b, tk_env *e) {
  memset(b, 0, sizeof *b);
  b->env = e;
}

void tk_buf_free(tk_buf *b) {
  tk_free(b->env, b->s, b->cap);
  tk_buf_init(b, b->env);
}

void tk_buf_clear(tk_buf *b) {
  b->n = 0;
  if (b->s) b->s[0] = 0;
}

static void reserve(tk_buf *b, size_t more) {
  size_t need = b->n + more + 1, cap = b->cap ? b->cap : 64;
  if (need <= b->cap) return;
  while (cap < need) cap *= 2;
  b->s = tk_realloc(b->env, b->s, b->cap, cap);
  b->cap = cap;
}

void tk_buf_add(tk_buf *b, const char *s, size_t n) {
  TK_ASSERT(b->env);
  look(b->env);
  reserve(b, n);
  TK_ASSERT(b->n + n < b->cap);
  if (n) memcpy(b->s + b->n, s, n);
  b->n += n;
  b->s[b->n] = 0;
}

void tk_buf_puts(tk_buf *b, const char *s) {
  tk_buf_add(b, s, strlen(s));
}

void tk_buf_putc(tk_buf *b, char c) {
  tk_buf_add(b, &c, 1);
}

void tk_buf_pad(tk_buf *b, char c, size_t n) {
  reserve(b, n);
  memset(b->s + b->n, c, n);
  b->n += n;
  b->s[b->n] = 0;
}

void tk_buf_printf(tk_buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_buf_vprintf(b, fmt, ap);
  va_end(ap);
}

void tk_buf_vprintf(tk_buf *b, const char *fmt, va_list ap) {
  va_list again;
  look(b->env);
  va_copy(again, ap);
  reserve(b, 0);
  int said = vsnprintf(b->s + b->n, b->cap - b->n, fmt, again);
  va_end(again);
  size_t n = formatted_size(b->env, said);
  if (n >= b->cap - b->n) { /* it has been cut off */
    reserve(b, n);
    vsnprintf(b->s + b->n, n + 1, fmt, ap);
  }
  b->n += n;
}

const char *tk_buf_str(tk_buf *b) {
  return b->s ? b->s : "";
}

/* ---- nearest names ----------------------------------------------------- */

/* Edits that turn a into b: insert, delete, replace, swap of neighbours. */
static int edits(const char *a, const char *b) {
  enum { MAX = 48 };
  int la = (int)strlen(a), lb = (int)strlen(b), d[MAX + 1][MAX + 1];
  if (la > MAX || lb > MAX) return MAX;
  for (int i = 0; i <= la; i++) d[i][0] = i;
  for (int j = 0; j <= lb; j++) d[0][j] = j;
  for (int i = 1; i <= la; i++)
    for (int j = 1; j <= lb; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      bool swap =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swap && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[la][lb];
}

tk_nearest tk_nearest_start(const char *name) {
  return (tk_nearest){.name = name, .distance = 1 + (int)strlen(name) / 3};
}

void tk_nearest_try(tk_nearest *n, const char *candidate) {
  int d = edits(n->name, candidate);
  if (d > n->distance || (d == n->distance && n->best)) return;
  if (d == 0) return;
  n->best = candidate;
  n->distance = d;
}

const char *tk_nearest_best(const tk_nearest *n) {
  return n->best;
}

const char *tk_nearest_of(const char *name, const char *(*at)(size_t i),
                          tk_buf *all) {
  tk_nearest near = tk_nearest_start(name);
  for (size_t i = 0; at(i); i++) {
    tk_nearest_try(&near, at(i));
    tk_buf_printf(all, "%s%s", i ? ", " : "", at(i));
  }
  return tk_nearest_best(&near);
}

bool tk_has_word(const char *list, const char *word, size_t n) {
  while (*list) {
    size_t k = strcspn(list, " ");
    if (k == n && !memcmp(list, word, n)) return true;
    list += k + strspn(list + k, " ");
  }
  return false;
}

int tk_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

typedef struct text_job {
  tk_arena *arena;
  void (*write)(tk_buf *out, void *ud);
  void *ud;
  tk_buf buf;
  char *text;
} text_job;

static void make_text(tk_env *e, void *ud) {
  text_job *j = ud;
  (void)e;
  j->write(&j->buf, j->ud);
  j->text = tk_arena_strndup(j->arena, tk_buf_str(&j->buf), j->buf.n);
}

char *tk_arena_text(tk_arena *a, void (*write)(tk_buf *out, void *ud), void *ud,
                    size_t *n) {
  text_job j = {.arena = a, .write = write, .ud = ud};
  tk_buf_init(&j.buf, a->env);
  tk_status st = tk_protect(a->env, make_text, &j);
  if (n) *n = j.buf.n;
  tk_buf_free(&j.buf);
  if (st != TK_OK) tk_throw(a->env, st);
  return j.text;
}
