/* pids.h - which programs of a grid run, and in which order.
 *
 * All are plain values that own nothing.
 */
#ifndef TK_LAUNCH_PIDS_H
#define TK_LAUNCH_PIDS_H

#include "base/diag.h"

/* Program conditions: "0,>1", "=0", ",>=2", "0:4", "!=3"; whitespace is
 * ignored; at most three axes; an empty one always holds. */
typedef struct tk_pid_cond {
  uint8_t op;     /* 0 any, else tk_operator EQ NE LT LE GT GE, or 255 range */
  int64_t lo, hi; /* value, or range lo <= pid < hi */
} tk_pid_cond;
typedef struct tk_pids {
  tk_pid_cond axis[3];
} tk_pids;
/* False after reporting (TK_D_CONDITION) what is wrong, with a caret. */
bool tk_pids_parse(tk_env *e, const char *text, size_t len, tk_pids *out);
/* The same, showing the text as a source line; a must outlive the report. */
bool tk_pids_parse_in(tk_env *e, tk_arena *a, const char *source,
                      const char *text, size_t len, tk_pids *out);
/* What a condition says: lo <= pid <= hi, or the opposite. */
typedef struct tk_pid_interval {
  int64_t lo, hi;
  bool outside;
} tk_pid_interval;
tk_pid_interval tk_pid_interval_of(const tk_pid_cond *c);
bool tk_pids_match(const tk_pids *c, const int64_t pid[3]);

/* The order in which programs run: a bijection on first..first+n-1 in O(1)
 * memory.  Parsing leaves first at 0. */
typedef struct tk_order {
  uint8_t kind; /* 0 serial 1 reverse 2 shuffle */
  uint64_t n, seed, bits;
  uint64_t first;
} tk_order;
bool tk_order_parse(tk_env *e, const char *text, uint64_t n, tk_order *out);
uint64_t tk_order_at(const tk_order *o, uint64_t i);

/* One of `parts` stretches of the programs, of lengths that differ by one at
 * most: "I/N", I from 0. */
typedef struct tk_part {
  uint64_t part, parts;
} tk_part;
/* Throws TK_USAGE after reporting what is wrong. */
tk_part tk_part_parse(tk_env *e, const char *text);
/* Of n programs, the first one of a part; that of the part after the last is
 * n. */
uint64_t tk_part_first(uint64_t part, uint64_t parts, uint64_t n);

#endif
