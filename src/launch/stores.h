/* stores.h - what a part of a launch stored, as a file.
 *
 * A stores file ends in a tail that says where the rest is:
 *
 *   launch   of part 0 a launch file: the launch before it ran; else nothing
 *   stores   numbers of 8 bytes, little-endian, and texts (stores.c)
 *   tail     bytes of the launch, digest of all before, magic
 *
 * Memory is counted in areas: storages of the launch's tensors, those that
 * overlap joined, in the order of the arguments.  Whoever fills or reads a
 * tkn_stores owns the arena that all of it lies in.
 */
#ifndef TK_LAUNCH_STORES_H
#define TK_LAUNCH_STORES_H

#include "launch/internal.h"

/* A stretch of an area that one instruction of a program wrote last, or read
 * before any program of the part had written it. */
typedef struct tkn_stretch {
  uint64_t at, n, event;
} tkn_stretch;

/* An instruction of a program. */
typedef struct tkn_event {
  uint64_t program, site;
} tkn_event;

typedef struct tkn_site {
  uint64_t source, lo, hi; /* the text, and the stretch of it */
} tkn_site;

typedef struct tkn_text {
  const char *name, *text;
  uint64_t len;
} tkn_text;

typedef struct tkn_area {
  const char *name; /* of its first tensor */
  uint64_t bytes;
  uint64_t before; /* digest of what it held before the run */
  char *host;      /* where it is; of a file, that of the first byte stored */
  tkn_stretch *writes, *reads; /* each from the lowest */
  uint64_t nwrites, nreads;
} tkn_area;

typedef struct tkn_stores {
  const char *kernel, *how; /* how it is run, in words */
  uint64_t form;            /* digest of its typed form and of its scalars */
  uint64_t part, parts, grid[3];
  tkn_area *areas;
  tkn_event *events;
  tkn_site *sites;
  tkn_text *texts;
  uint64_t nareas, nevents, nsites, ntexts;
} tkn_stores;

/* Behind the launch, if it is part 0; that is all that was written before. */
void tkn_stores_write(tkn_writer *w, tkn_stores *x);
/* Throws if the file is damaged.  *l is the launch of part 0. */
void tkn_stores_read(tk_session *s, tk_arena *a, const char *path,
                     tkn_stores *x, tk_launch **l);

#endif
