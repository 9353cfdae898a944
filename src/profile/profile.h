/* profile.h - inside the profiler: what runs left behind.
 *
 * A run is counted by instruction and frame (run.h); when it ends, that is
 * added to the frames below, which tell apart where in the source something
 * is, not which specialisation it belongs to.  All of it lies in the arena of
 * the profile, which belongs to the session.
 */
#ifndef TK_PROFILE_PROFILE_H
#define TK_PROFILE_PROFILE_H

#include "base/diag.h"
#include "launch/session.h"
#include "profile/run.h"
#include "tkdbg/profile.h"

/* A function of the user's, or one of tkdbg's own. */
typedef struct tkp_function {
  struct tkp_function *next;
  const char *name;
  const tk_source *src;
  tk_span span; /* of its name */
  uint32_t end; /* of what is in it, an offset */
  bool library, kernel;
  uint64_t launches;
} tkp_function;

/* An operation in a frame. */
typedef struct tkp_op {
  struct tkp_op *next;
  const char *name;
  tk_opcode op;
  uint8_t mode;
  tk_type type;         /* that it is said to be of */
  const tk_source *src; /* the user's: */
  tk_span span;
  tk_profile_counts counts; /* seconds: in ticks */
  double called;            /* the same, in the user's functions */
} tkp_op;

/* A function as called by another one; of tkdbg's own, from a line. */
typedef struct tkp_frame {
  struct tkp_frame *next, *first; /* the next callee of its caller; its own */
  struct tkp_frame *caller;       /* NULL: it is a kernel's */
  tkp_function *function;
  int line; /* of the user's, that called a function of tkdbg's own */
  uint64_t calls;
  tkp_op *ops;
} tkp_frame;

struct tk_profile {
  tk_session *session;
  tk_watcher watcher;
  tk_arena arena;
  tkp_function *functions;
  tkp_frame *kernels;
  uint64_t launches, programs;
  double seconds, ticks; /* that runs took, by both clocks */
  double paused;         /* ticks of operations while the thread slept */
  uint64_t timer;        /* ticks that each operation took too many */
  uint64_t least;        /* ticks of the shortest pause that is noticed */
  bool ignoring;         /* launches that begin now are not watched */
  tkp_run run;           /* the one that is watched */
  /* Of the last reading. */
  tk_arena answers;
  tk_profile_data data;
  tk_buf text, json, html;
};

/* add.c: adds what the run that has ended counted. */
void tkp_add_run(tk_profile *p);

/* result.c: fills p->data. */
void tkp_read(tk_profile *p);

/* ceilings.c: finds them in the cache, or measures them; texts lie in a. */
tk_profile_ceilings tkp_ceilings(tk_arena *a);

/* Writers of what is read: text.c, json.c, html.c. */
void tkp_write_text(tk_buf *out, const tk_profile_data *d, bool colour);
void tkp_write_json(tk_buf *out, const tk_profile_data *d, bool colour);
void tkp_write_html(tk_buf *out, const tk_profile_data *d, bool colour);

/* units.c: numbers as people read them. */
void tkp_put_seconds(tk_buf *out, double s); /* "1.24 ms" */
void tkp_put_bytes(tk_buf *out, double n);   /* "394 kB" */
void tkp_put_speed(tk_buf *out, double n);   /* "98.4 Gflop/s" */
void tkp_put_count(tk_buf *out, double n);   /* "98.4k" */

#endif
