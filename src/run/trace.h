/* trace.h - a program that writes down what each instruction of one of its
 * programs gives.
 *
 * The records are made by instructions like any other, so every engine that can
 * run a kernel can record.  A trace is memory at an address of its own: a
 * count of bytes and how many are skipped, then records, each a header and the
 * lanes of a
 * result. */
#ifndef TK_RUN_TRACE_H
#define TK_RUN_TRACE_H

#include "launch/session.h"
#include "nvptx/nvptx.h"

enum { TKR_TRACE_HEAD = 16 }; /* bytes of a header, and of the count */

/* Which records are kept: those that lie within `size` bytes after `skip`. */
typedef struct tkr_window {
  uint64_t address; /* of the trace */
  uint64_t skip;    /* it is in the trace itself, too */
  uint64_t size;
  int64_t program[3]; /* whose records they are */
} tkr_window;

typedef struct tkr_site {
  const tk_func *func;
  const tk_inst *inst; /* NULL: the slot is a parameter */
  int slot;            /* the result that is recorded */
  tk_type type;
  bool is_address; /* of a pointer, as int64 */
} tkr_site;

typedef struct tkr_sites {
  tkr_site *items;
  size_t n, cap;
} tkr_sites;

/* Adds the records to a program in single assignment, which stays one that any
 * engine runs.  *sites, in the program's arena, gets what a header's number
 * means. */
void tkr_trace_program(tk_program *p, const tkr_window *w, tkr_sites *sites);

/* A record, in memory. */
typedef struct tkr_record {
  size_t site;
  const char *lanes;
} tkr_record;

/* Reads the record at *at (at first 0) and moves past it; false: there is
 * none.  Memory is that of a trace of `size` bytes, of any content. */
bool tkr_trace_next(const char *memory, const tkr_window *w,
                    const tkr_sites *sites, size_t *at, tkr_record *out);
/* Bytes of all records, kept or not. */
uint64_t tkr_trace_bytes(const char *memory);

#endif
