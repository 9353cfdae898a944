/* profile.h - where the time of launches goes: by line, operation and
 * function, with the bytes that they move, the lanes that masks waste, and
 * floating-point operations, beside what one core of this machine can do.
 *
 * A profile watches all launches of its session from when it is made.  It sees
 * operations as they run without it: blocks stay symbolic, accesses go by rows
 * (docs/profile.md says what that means for the numbers).
 *
 * Ownership: a profile belongs to its session.  What tk_profile_read returns,
 * and all that it points to, lives until the profile is read again or a launch
 * begins; texts live until another one of the same kind is asked for.
 */
#ifndef TKDBG_PROFILE_H
#define TKDBG_PROFILE_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_profile tk_profile;

/* Profiles the launches of the session that follow. */
tk_status tk_profile_new(tk_session *s, tk_profile **out);

/* Whether the launches that begin from now on are left out. */
void tk_profile_ignore(tk_profile *p, bool launches);

/* ---- what was counted ---------------------------------------------------- */

typedef struct tk_profile_counts {
  uint64_t calls;   /* how often it ran to its end */
  double seconds;   /* in it, without functions that it called */
  uint64_t read;    /* bytes of tensors, of active lanes */
  uint64_t written; /* the same */
  uint64_t lanes;   /* of loads, stores and atomic operations */
  uint64_t off;     /* of these, those that a mask turned off */
  uint64_t flops;   /* floating-point operations */
  uint64_t blocks;  /* calls that gave a block, accesses aside */
  uint64_t known;   /* of these, those that did not write its lanes */
  uint64_t rows;    /* accesses that moved whole rows, not lane after lane */
} tk_profile_counts;

/* An instruction of the typed form, on a line of a kernel or function.  What
 * tkdbg's own functions do (tl.softmax) stands on the line that called them. */
typedef struct tk_profile_op {
  const char *name;     /* "binary add", "load" */
  const char *type;     /* "fp32[1024]" */
  const char *function; /* of tkdbg's own that it stands in; NULL: none */
  tk_place place;
  tk_profile_counts counts;
} tk_profile_op;

typedef struct tk_profile_line {
  tk_place place; /* the line */
  tk_profile_counts counts;
  double total;             /* seconds with the functions that it called */
  const tk_profile_op *ops; /* that took longest first */
  size_t nops;
} tk_profile_line;

typedef struct tk_profile_function {
  const char *name;
  tk_place place; /* of its name */
  int last_line;  /* that holds something of it */
  bool kernel;    /* else it is called by one */
  uint64_t calls; /* of a kernel: programs */
  uint64_t launches;
  double seconds;               /* in it, without functions that it called */
  double total;                 /* with them */
  const tk_profile_line *lines; /* from the first to the last */
  size_t nlines;
  /* Of a kernel that a program has written: what it computes, and which lines
   * of the program it comes from; tk_function_remark gave them. */
  const char *const *remarks;
  size_t nremarks;
} tk_profile_function;

/* The same as a tree: kernel, function that it calls, line, operation.  Each
 * comes after the one that it is part of. */
typedef enum tk_profile_kind {
  TK_PROFILE_FUNCTION,
  TK_PROFILE_LINE,
  TK_PROFILE_LIBRARY, /* a function of tkdbg's own, below a line */
  TK_PROFILE_OPERATION,
} tk_profile_kind;

typedef struct tk_profile_node {
  tk_profile_kind kind;
  int parent; /* -1: none */
  int depth;
  const char *name; /* of a line: its text */
  const char *type; /* of an operation; else NULL */
  tk_place place;
  double total; /* seconds */
} tk_profile_node;

/* What one core does at most, measured once and kept in a file. */
typedef struct tk_profile_ceilings {
  double bandwidth; /* bytes a second, from and to memory; 0: unknown */
  double flops;     /* floating-point operations a second, in fp32 */
  const char *cpu;  /* what the processor calls itself */
} tk_profile_ceilings;

typedef struct tk_profile_data {
  const tk_profile_function
      *functions; /* kernels, then others, longest first */
  size_t nfunctions;
  const tk_profile_node *nodes;
  size_t nnodes;
  tk_profile_counts counts; /* all of them; seconds: in operations */
  uint64_t launches, programs;
  double seconds; /* that the launches took, with the profiler */
  double timer;   /* seconds that reading the clock costs an operation,
                     which are not in the counts */
  double paused;  /* seconds of operations during which the system ran
                     something else, which are not in the counts either */
  tk_profile_ceilings ceilings;
} tk_profile_data;

/* Fails (TK_INTERNAL) when memory is out. */
tk_status tk_profile_read(tk_profile *p, const tk_profile_data **out);

/* Operations for each byte that is moved; 0: it moves none. */
double tk_profile_intensity(const tk_profile_counts *c);
/* Which part it reaches of what the machine allows at that intensity (the
 * roofline); -1: it neither moves bytes nor computes, or the ceilings are not
 * known. */
double tk_profile_reached(const tk_profile_counts *c,
                          const tk_profile_ceilings *most);

/* ---- the same as text ---------------------------------------------------- */

/* A table for a terminal. */
tk_status tk_profile_text(tk_profile *p, bool colour, const char **out);
/* One JSON object. */
tk_status tk_profile_json(tk_profile *p, const char **out);
/* A page that needs no other file: annotated source and a flame graph. */
tk_status tk_profile_html(tk_profile *p, const char **out);
/* Writes that page to a file; reports why it cannot (TK_USAGE). */
tk_status tk_profile_save(tk_profile *p, const char *path);

#ifdef __cplusplus
}
#endif
#endif
