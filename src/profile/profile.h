/* profile.h - inside the profiler: what runs left behind.
 *
 * A run is counted by instruction and frame (run.h); when it ends, that is
 * added to the frames below, which tell apart where in the source something
 * is, not which specialisation it belongs to.  All of it lies in the arena of
 * the profile, which belongs to the
 * session. */
#ifndef TK_PROFILE_PROFILE_H
#define TK_PROFILE_PROFILE_H

#include "base/diag.h"
#include "launch/session.h"
#include "profile/run.h"
#include "tkdbg/profile.h"

/* A function of the user's, or one of tkdbg's own. */
typedef struct tkf_function {
  struct tkf_function *next;
  const char *name;
  const tk_source *src;
  tk_span span; /* of its name */
  uint32_t end; /* of what is in it, an offset */
  bool library, kernel;
  uint64_t launches;
  TK_VEC(const char *) remarks; /* what findings in a kernel also say */
} tkf_function;

/* An operation in a frame. */
typedef struct tkf_op {
  struct tkf_op *next, *same; /* of its frame; ... in its bucket */
  const char *name;
  tk_opcode op;
  uint8_t mode;
  tk_type type;         /* that it is said to be of */
  const tk_source *src; /* the user's: */
  tk_span span;
  tk_profile_counts counts; /* seconds: in ticks */
  double called;            /* the same, in the user's functions */
} tkf_op;

/* A function as called by another one; of tkdbg's own, from a line. */
typedef struct tkf_frame {
  struct tkf_frame *next, *first; /* the next callee of its caller; its own */
  struct tkf_frame *caller;       /* NULL: it is a kernel's */
  tkf_function *function;
  /* the user's line that called a function of tkdbg's library */
  int line;
  uint64_t calls;
  tkf_op *ops, **end; /* in the order in which they were met */
  tkf_op **buckets;   /* the same, by place and kind: nbuckets of them */
  size_t nops, nbuckets;
} tkf_frame;

struct tk_profile {
  tk_session *session;
  tk_watcher watcher;
  tk_arena arena;
  tkf_function *functions;
  tkf_frame *kernels;
  uint64_t launches, programs;
  double seconds, ticks; /* that runs took, by both clocks */
  double paused;         /* ticks of operations while the thread slept */
  uint64_t timer;        /* ticks that each operation took too many */
  uint64_t least;        /* ticks of the shortest pause that is noticed */
  bool ignoring;         /* launches that begin now are not watched */
  tkf_run run;           /* the one that is watched */
  /* Of the last reading. */
  tk_arena answers;
  tk_profile_data data;
  tk_buf text, json, html;
  tk_buf part, page; /* of the page: the profile, all of its data */
};

/* add.c: adds what the run that has ended counted. */
void tkf_add_run(tk_profile *p);

/* result.c: fills p->data. */
void tkf_read(tk_profile *p);

/* ceilings.c: finds them in the cache, or measures them; texts lie in a. */
tk_profile_ceilings tkf_ceilings(tk_arena *a);

/* Writers of what is read: text.c, json.c. */
void tkf_write_text(tk_buf *out, const tk_profile_data *d, bool colour);
void tkf_write_json(tk_buf *out, const tk_profile_data *d, bool colour);

/* units.c: numbers as people read them. */
void tkf_put_seconds(tk_buf *out, double s); /* "1.24 ms" */
void tkf_put_bytes(tk_buf *out, double n);   /* "394 kB" */
void tkf_put_speed(tk_buf *out, double n);   /* "98.4 Gflop/s" */
void tkf_put_count(tk_buf *out, double n);   /* "98.4k" */

#endif
