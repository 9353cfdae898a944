/* file.c - reading and writing files without trusting them.
 *
 * A reader is a FILE or a piece of memory with a known size, so that a parser
 * can compare what a header claims with what there is before it allocates,
 * and so that fuzzing needs no files.  What cannot tell its size (a pipe) is
 * read into memory first.  The FILE is closed on every way out, throws
 * included.
 */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include "base/outfile.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

void tkn_file_fail(tk_env *e, const char *name, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vabout(e, TK_D_FILE, name, fmt, ap);
  va_end(ap);
  tk_throw(e, TK_USAGE);
}

typedef struct file_call {
  tkn_reader r;
  tkn_writer w;
  tk_outfile out;
  tk_buf slurped;
  void (*read)(tkn_reader *r, void *ud);
  void (*write)(tkn_writer *w, void *ud);
  void *ud;
} file_call;

/* A pipe may deliver anything; sensible content is far smaller than this. */
static const size_t slurp_max = (size_t)1 << 30;

static void read_all(file_call *c) {
  tkn_reader *r = &c->r;
  char chunk[16384];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, r->file)) > 0) {
    if (c->slurped.n + n > slurp_max)
      tkn_file_fail(r->env, r->name, "more than 1 GiB through a pipe");
    tk_buf_add(&c->slurped, chunk, n);
  }
  if (ferror(r->file)) tkn_file_fail(r->env, r->name, "%s", strerror(errno));
  r->mem = (const uint8_t *)tk_buf_str(&c->slurped);
  r->size = c->slurped.n;
}

static void run_reader(tk_env *e, void *ud) {
  file_call *c = ud;
  tkn_reader *r = &c->r;
  struct stat st;
  if (fstat(fileno(r->file), &st) != 0)
    tkn_file_fail(e, r->name, "%s", strerror(errno));
  if (S_ISDIR(st.st_mode)) tkn_file_fail(e, r->name, "this is a directory");
  if (S_ISREG(st.st_mode))
    r->size = (uint64_t)st.st_size;
  else
    read_all(c);
  c->read(r, c->ud);
}

void tkn_with_reader(tk_env *e, const char *path,
                     void (*fn)(tkn_reader *r, void *ud), void *ud) {
  file_call c = {.r = {.env = e, .name = path}, .read = fn, .ud = ud};
  tk_buf_init(&c.slurped, e);
  c.r.file = fopen(path, "rb");
  if (!c.r.file) tkn_file_fail(e, path, "%s", strerror(errno));
  tk_status st = tk_protect(e, run_reader, &c);
  fclose(c.r.file);
  tk_buf_free(&c.slurped);
  if (st != TK_OK) tk_throw(e, st);
}

/* How many bytes are read or written between two checks for an interruption. */
enum { PIECE = 1 << 22 };

/* Returns whether there was as much. */
static bool read_pieces(tkn_reader *r, char *dst, size_t n) {
  for (size_t some; n; dst += some, n -= some) {
    tk_check_interrupt(r->env);
    some = n < PIECE ? n : PIECE;
    if (fread(dst, 1, some, r->file) != some) return false;
  }
  return true;
}

void tkn_read(tkn_reader *r, void *dst, size_t n) {
  if (n > r->size - r->at)
    tkn_file_fail(r->env, r->name, "the file ends too early (at byte %llu)",
                  (unsigned long long)r->size);
  if (n == 0) return;
  if (r->mem)
    memcpy(dst, r->mem + r->at, n);
  else if (!read_pieces(r, dst, n))
    tkn_file_fail(r->env, r->name, "cannot be read: %s",
                  ferror(r->file) ? strerror(errno)
                                  : "it became shorter while "
                                    "it was read");
  r->at += n;
}

void tkn_seek(tkn_reader *r, uint64_t at) {
  if (at > r->size || (!r->mem && fseeko(r->file, (off_t)at, SEEK_SET) != 0))
    tkn_file_fail(r->env, r->name, "cannot be read at byte %llu",
                  (unsigned long long)at);
  r->at = at;
}

static void run_writer(tk_env *e, void *ud) {
  (void)e;
  file_call *c = ud;
  c->write(&c->w, c->ud);
}

void tkn_with_writer(tk_env *e, const char *path,
                     void (*fn)(tkn_writer *w, void *ud), void *ud) {
  file_call c = {.w = {.env = e, .name = path}, .write = fn, .ud = ud};
  int error = tk_outfile_open(&c.out, path);
  if (error) tkn_file_fail(e, path, "cannot be written: %s", strerror(error));
  c.w.file = c.out.file;
  tk_status st = tk_protect(e, run_writer, &c);
  error = tk_outfile_close(&c.out, st == TK_OK);
  if (st != TK_OK) tk_throw(e, st);
  if (error) tkn_file_fail(e, path, "cannot be written: %s", strerror(error));
}

void tkn_write(tkn_writer *w, const void *src, size_t n) {
  const char *from = src;
  for (size_t some; n; from += some, n -= some) {
    tk_check_interrupt(w->env);
    some = n < PIECE ? n : PIECE;
    if (fwrite(from, 1, some, w->file) != some)
      tkn_file_fail(w->env, w->name, "cannot be written: %s", strerror(errno));
    tk_digest_add(&w->digest, from, some);
  }
}
