/* env.h - what every room builds on: one allocator, one way to fail.
 *
 * A tk_env owns nothing but the list of diagnostics; whoever creates it
 * (a session) destroys it.  Every allocation in tkdbg goes through tk_realloc,
 * so that a test can make any of them fail.  Code below the public API fails
 * by tk_throw, which unwinds to the nearest tk_protect; memory that must
 * survive a throw therefore belongs to an arena or object whose owner is
 * above the tk_protect.
 */
#ifndef TK_BASE_ENV_H
#define TK_BASE_ENV_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include "base/assert.h"
#include "tkdbg/tkdbg.h"

#if defined(__GNUC__)
#define TK_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define TK_NORETURN __attribute__((noreturn))
#define TK_LIKELY(x) __builtin_expect(!!(x), 1)
#define TK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define TK_PRINTF(a, b)
#define TK_NORETURN
#define TK_LIKELY(x) (x)
#define TK_UNLIKELY(x) (x)
#endif

#define TK_COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef struct tk_env tk_env;
typedef struct tk_catch tk_catch;
struct tk_diag;
struct tk_arena;

struct tk_env {
  tk_alloc_fn alloc;
  void *alloc_ud;
  tk_catch *top;
  _Atomic int interrupted; /* from signal handlers and other threads */
  _Atomic int pauses;      /* ... by a debugger, not by the host */
  int deaf; /* > 0: allocating does not end what was interrupted, because
               whoever is at work looks for that at places of its own */
  tk_attend_fn attend; /* the host program, asked when interrupted */
  void *attend_ud;
  /* A message's format in other words, perhaps in the arena, and in whose;
     NULL: as it is written. */
  const char *(*words)(int whose, struct tk_arena *a, const char *format);
  int whose_words;
  struct tk_diag *diags; /* newest last; see diag.h */
  struct tk_diag *last_diag;
  size_t ndiags;
  size_t held, peak; /* bytes allocated now, and most ever */
  size_t refused;    /* allocations, ever */
};

void tk_env_init(tk_env *e, tk_alloc_fn alloc, void *ud);

/* Runs fn(e, ud); returns TK_OK, or the status thrown inside. */
tk_status tk_protect(tk_env *e, void (*fn)(tk_env *e, void *ud), void *ud);
void tk_throw(tk_env *e, tk_status st) TK_NORETURN;

/* After an interruption: what the host program answers.  The interruption is
 * over unless the answer is TK_ATTEND_PASS. */
tk_attention tk_attend(tk_env *e);
/* For long work that no debugger follows: throws TK_INTERRUPTED if it was
 * interrupted, unless by a debugger or where a host answers to go on.  What
 * allocates from arenas or adds to strings does this on the way, unless the
 * environment is deaf; loops that do neither for long call it themselves. */
void tk_check_interrupt(tk_env *e);
/* The same in a loop whose steps are short: i counts them. */
static inline void tk_check_step(tk_env *e, size_t i) {
  if (TK_UNLIKELY(!(i & 0x3fff))) tk_check_interrupt(e);
}

/* Resizes a block of exactly `old` bytes; throws TK_INTERNAL (with a
 * diagnostic) when memory is out.  New bytes are not cleared. */
void *tk_realloc(tk_env *e, void *p, size_t old, size_t size);
void *tk_calloc(tk_env *e, size_t n, size_t size);
void tk_free(tk_env *e, void *p, size_t size);

/* Arenas: memory freed all at once.  An arena's blocks belong to it; the
 * struct itself belongs to whoever declared it. */
typedef struct tk_arena {
  tk_env *env;
  struct tk_chunk *chunks;
} tk_arena;

void tk_arena_init(tk_arena *a, tk_env *e);
void tk_arena_free(tk_arena *a);
void *tk_arena_alloc(tk_arena *a, size_t size); /* zeroed, aligned to 16 */
char *tk_arena_strndup(tk_arena *a, const char *s, size_t n);
char *tk_arena_strdup(tk_arena *a, const char *s);
/* Formatted text of any length; the result belongs to the arena. */
char *tk_arena_printf(tk_arena *a, const char *fmt, ...) TK_PRINTF(2, 3);
char *tk_arena_vprintf(tk_arena *a, const char *fmt, va_list ap)
    TK_PRINTF(2, 0);
#define TK_NEW(arena, type) ((type *)tk_arena_alloc((arena), sizeof(type)))
#define TK_NEWN(arena, type, n)                                                \
  ((type *)tk_arena_alloc((arena), (n) * sizeof(type)))

/* Arrays that grow inside an arena: T *items; size_t n, cap.  Old copies are
 * left to the arena. */
#define TK_VEC(T)                                                              \
  struct {                                                                     \
    T *items;                                                                  \
    size_t n, cap;                                                             \
  }
#define TK_PUSH(arena, v, x)                                                   \
  (((v)->n == (v)->cap                                                         \
        ? (void)((v)->items = tk_arena_grow((arena), (v)->items,               \
                                            sizeof(*(v)->items), &(v)->cap))   \
        : (void)0),                                                            \
   (v)->items[(v)->n++] = (x))
void *tk_arena_grow(tk_arena *a, void *items, size_t size, size_t *cap);

/* Strings that grow.  Zero-initialise all but env; tk_buf_free when done. */
typedef struct tk_buf {
  tk_env *env;
  char *s; /* NUL-terminated once anything was added */
  size_t n, cap;
} tk_buf;

void tk_buf_init(tk_buf *b, tk_env *e);
void tk_buf_free(tk_buf *b);
void tk_buf_clear(tk_buf *b);
void tk_buf_add(tk_buf *b, const char *s, size_t n);
void tk_buf_puts(tk_buf *b, const char *s);
void tk_buf_putc(tk_buf *b, char c);
void tk_buf_pad(tk_buf *b, char c, size_t n);
void tk_buf_printf(tk_buf *b, const char *fmt, ...) TK_PRINTF(2, 3);
void tk_buf_vprintf(tk_buf *b, const char *fmt, va_list ap) TK_PRINTF(2, 0);
/* What `write` writes, in the arena; *n, unless n is NULL: its length.  Nothing
 * is lost when write throws or memory runs out. */
char *tk_arena_text(tk_arena *a, void (*write)(tk_buf *out, void *ud), void *ud,
                    size_t *n);
const char *tk_buf_str(tk_buf *b); /* never NULL */

/* The known name nearest to `name` by edit distance, NULL when none is near
 * enough to be worth suggesting.  Feed candidates one at a time. */
typedef struct tk_nearest {
  const char *name;
  const char *best;
  int distance;
} tk_nearest;

tk_nearest tk_nearest_start(const char *name);
void tk_nearest_try(tk_nearest *n, const char *candidate);
const char *tk_nearest_best(const tk_nearest *n);
/* The same of all names that `at` gives, which ends with NULL; they are added
 * to `all` as "a, b, c". */
const char *tk_nearest_of(const char *name, const char *(*at)(size_t i),
                          tk_buf *all);

/* Whether a list of words separated by blanks has this one, of n bytes. */
bool tk_has_word(const char *list, const char *word, size_t n);

/* The value of a hex digit; -1 if it is not one. */
int tk_hex_digit(char c);

#endif
