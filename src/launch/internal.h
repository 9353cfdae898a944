/* internal.h - what the files of this room share with each other.
 *
 * Functions here report what is wrong (with the id their part of the work
 * has: ARGUMENT, FILE, CONDITION, LAUNCH) and throw TK_USAGE; none returns a
 * failure to be
 * checked. */
#ifndef TK_LAUNCH_INTERNAL_H
#define TK_LAUNCH_INTERNAL_H

#include <stdio.h>

#include "base/digest.h"
#include "host.h"
#include "session.h"

/* ---- functions and modules (session.c) --------------------------------- */

tk_module *tkn_module_open(tk_session *s, const char *name, const char *text,
                           size_t len);
/* The item whose def or first decorator is on a line; NULL if none. */
tk_item *tkn_item_at(const tk_module *m, int line);
/* A function object of an item; always a new one when `fresh`. */
tk_function *tkn_function_of(tk_module *m, tk_item *item, bool fresh);

/* ---- launches (launch.c) ----------------------------------------------- */

enum { TKN_MAX_BYTES_SHIFT = 36 }; /* of one tensor: 64 GiB */

tk_launch *tkn_launch_new(tk_session *s, tk_function *f);
tk_arg *tkn_arg_find(tk_launch *l, const char *param); /* NULL if none */
tk_arg *tkn_arg_named(tk_launch *l, const char *param);
/* Adds one, which has a name that lasts as long as the launch. */
void tkn_extra_add(tk_launch *l, const tk_arg *extra);
bool tkn_param_is_constexpr(const tk_function *f, size_t i);

/* Gives the argument memory of its own: zeroed lanes of a contiguous tensor.
 * Until it is finished by setting kind, the argument counts as absent. */
void tkn_arg_own(tk_launch *l, tk_arg *arg, tk_dtype d, int rank,
                 const int64_t *shape);
/* Its two halves: memory, and the tensor that lies at its start. */
void tkn_arg_own_bytes(tk_launch *l, tk_arg *arg, size_t bytes);
void tkn_arg_layout(tk_launch *l, tk_arg *arg, tk_dtype d, int rank,
                    const int64_t *shape);
void tkn_grid(tk_launch *l, const int64_t grid[3]);
/* Throws when there is no such row in compile.def. */
void tkn_compile_option(tk_launch *l, const char *name, const char *value);
/* Sets a launch option, or throws. */
void tkn_launch_option(tk_launch *l, const char *name, int64_t value);
/* Lanes of a shape, -1 when they take more than the limit. */
int64_t tkn_shape_lanes(tk_dtype d, int rank, const int64_t *shape);
/* Bytes of the view before and after its first element's address; false when
 * that overflows. */
bool tkn_tensor_extent(const tk_tensor *t, int64_t *before, int64_t *after);

/* ---- text forms (argument.c, literal.c, fill.c) ------------------------ */

/* A place in a text that is being parsed, and what errors are reported with. */
typedef struct tkn_cursor {
  tk_env *env;
  const tk_source *src;
  tk_diag_id id;
  /* NULL: src lasts, and errors point into it.  Otherwise they quote it, and
   * are put together here. */
  tk_arena *quotes;
  uint32_t at;
} tkn_cursor;

void tkn_fail(const tkn_cursor *c, uint32_t lo, uint32_t hi, const char *help,
              const char *fmt, ...) TK_PRINTF(5, 6) TK_NORETURN;
void tkn_skip(tkn_cursor *c); /* blanks */
char tkn_peek(tkn_cursor *c); /* next byte that is not blank; 0 at the end */
bool tkn_accept(tkn_cursor *c, char ch);
void tkn_expect(tkn_cursor *c, char ch, const char *why);
bool tkn_at_end(tkn_cursor *c);
/* Length of the dotted name at the cursor, 0 if there is none. */
uint32_t tkn_word(const tkn_cursor *c);
/* A word, number, or failing these one byte: for carets. */
uint32_t tkn_extent(const tkn_cursor *c);
int64_t tkn_int(tkn_cursor *c, int64_t lo, int64_t hi, const char *what);
/* One literal: number, True, None, string, dtype, tuple.  Bare words are
 * strings when bare is set. */
tk_value tkn_literal(tkn_cursor *c, tk_arena *a, bool bare);
/* NAME=SPEC */
void tkn_argument(tk_launch *l, const char *text);

/* zeros, rand(0), ... for an argument that owns its lanes. */
void tkn_fill(tkn_cursor *c, tk_arena *a, tk_arg *arg, uint64_t seed);
void tkn_fill_empty(tk_arg *arg);

/* ---- files (file.c, npy.c) --------------------------------------------- */

typedef struct tkn_reader {
  tk_env *env;
  const char *name;
  FILE *file; /* NULL: mem */
  const uint8_t *mem;
  uint64_t size, at;
} tkn_reader;

typedef struct tkn_writer {
  tk_env *env;
  const char *name;
  FILE *file;
  tk_digest digest; /* of what was written */
} tkn_writer;

void tkn_file_fail(tk_env *e, const char *name, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
/* Opens, runs fn, closes whatever fn does. */
void tkn_with_reader(tk_env *e, const char *path,
                     void (*fn)(tkn_reader *r, void *ud), void *ud);
void tkn_with_writer(tk_env *e, const char *path,
                     void (*fn)(tkn_writer *w, void *ud), void *ud);
void tkn_read(tkn_reader *r, void *dst, size_t n);
void tkn_seek(tkn_reader *r, uint64_t at);
void tkn_write(tkn_writer *w, const void *src, size_t n);

typedef struct tkn_npy {
  tk_dtype dtype;
  bool raw; /* void items: of dtype's size, meaning unknown */
  bool fortran, swap;
  int rank;
  int64_t shape[TK_MAX_RANK];
  int64_t lanes;
} tkn_npy;

void tkn_npy_header(tkn_reader *r, tkn_npy *h);
/* The lanes in row-major order, in this machine's byte order. */
void tkn_npy_data(tkn_reader *r, const tkn_npy *h, void *dst);
void tkn_npy_write(tkn_writer *w, const tk_tensor *t);
/* Reads into a contiguous tensor of dtype and shape, or reports why not. */
void tkn_npy_load(tkn_reader *r, tk_launch *l, tk_arg *arg,
                  const tk_tensor *want);

/* ---- numbers (random.c) ------------------------------------------------ */

typedef struct tkn_random {
  tk_env *env; /* that may be interrupted; NULL */
  uint32_t mt[624];
  int at;
  bool has_next;
  double next;
} tkn_random;

void tkn_random_start(tkn_random *r, tk_env *e, uint64_t seed);
/* torch.rand, torch.randn and torch.randint of a dtype; lanes contiguous. */
void tkn_rand(tkn_random *r, tk_dtype d, void *out, size_t n);
void tkn_randn(tkn_random *r, tk_dtype d, void *out, size_t n);
void tkn_randint(tkn_random *r, tk_dtype d, void *out, size_t n, int64_t lo,
                 int64_t hi);

/* ---- values (value.c, launch.c) ---------------------------------------- */

/* Names of the tk_value_kinds in launch files. */
enum { TKN_VALUE_KINDS = TK_V_DESCRIPTOR + 1 };
extern const char *const tkn_value_kinds[TKN_VALUE_KINDS];
/* What is wrong with an argument's value, NULL when nothing is. */
const char *tkn_value_fault(const tk_launch *l, const tk_value *v);

/* A contiguous copy of a tensor's lanes, in the arena. */
tk_tensor tkn_copy_tensor(tk_arena *a, const tk_tensor *t);

/* ---- launch files (record.c, replay.c) ---------------------------------- */

void tkn_record(tk_launch *l, tkn_writer *w);
enum { TKN_FILE_VERSION = 1 }; /* of launch files */
tk_launch *tkn_replay(tk_session *s, tkn_reader *r);

/* What a file of stores ends with (stores.c); that of part 0 begins like a
 * launch file. */
#define TKN_STORES_MAGIC "tkstore1"
enum { TKN_STORES_MAGIC_SIZE = sizeof TKN_STORES_MAGIC - 1 };

#endif
