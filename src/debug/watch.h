/* watch.h - what a watchpoint looks at: a variable of a function (or an
 * expression over its variables), or a part of a tensor.  A tkd_watch belongs
 * to its
 * point. */
#ifndef TK_DEBUG_WATCH_H
#define TK_DEBUG_WATCH_H

#include "debug/part.h"

/* A statement of a program. */
typedef struct tkd_writer {
  const tk_source *src;
  const char *func;
  tk_span at;
  int64_t pid[3];
} tkd_writer;

typedef struct tkd_watch {
  bool reads, writes;
  bool memory;
  const tk_func *func; /* variables: of this function of this launch */
  char *func_name;
  char *base; /* the variable that it starts with, or NULL; the tensor */
  tkd_part part;
  tkd_view view;
  size_t bytes;    /* memory: how many from lo on, whose they are; or 0 */
  bool found;      /* memory: it is in this launch */
  uint64_t lo, hi; /* its device addresses */
  bool due;        /* to be judged */
  bool read;       /* a variable: by the statement that comes next */
  bool known;      /* now and raw hold something */
  /* A variable without a value yet: its first value in a program is a
   * change. */
  bool waits_for_value;
  bool absent;   /* the variable had no value yet */
  tkd_kept *now; /* its parts: several of a tuple or a block pointer */
  size_t nnow;
  char *raw; /* the bytes of base */
  size_t raw_n;
  int *slots; /* room for those of base */
  size_t cap_slots;
  tkd_writer last; /* seen at work */
  uint64_t index;  /* the program it was seen in */
  /* the last hit */
  uint64_t hit_event;
  bool seen; /* on going back: it is what stopped it there */
  bool changed, first_value, by_reading;
  char *about; /* the part that it was about: "", ".offsets[1]" */
  tkd_kept was, became;
  tkd_writer wrote;
} tkd_watch;

/* Begins to watch, in the selected call; fails when that cannot be watched. */
void tkd_watch_begin(tkd *d, tkd_point *p);
/* Fails if a condition cannot be evaluated in the selected call. */
void tkd_watch_need_condition(tkd *d, const char *cond);
void tkd_watch_free(tkd *d, tkd_watch *w);

/* Checks the watchpoints, on a program's fiber, before a statement or at the
 * program's end; returns whether one is a reason to stop. */
bool tkd_watches_look(tkd *d, const tk_stmt *st, bool ends);
void tkd_watches_access(tkd *d, const tki_access *a);
/* Forgets the values of variables, and reads those of memory again. */
void tkd_watches_forget(tkd *d);
/* The same at a stop, where values of variables are read again as well. */
void tkd_watches_refresh(tkd *d);
/* To be called when a search of the past begins; stopped: at a stop that
 * watchpoints made, whose hits are not looked for again. */
void tkd_watches_back(tkd *d, bool stopped);
void tkd_watches_begin(tkd *d); /* of a launch */
/* Whether a point is a watchpoint that this stop is about. */
bool tkd_watch_was_hit(const tkd *d, const tkd_point *p);

#endif
