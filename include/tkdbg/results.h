/* results.h - what a run found, as structs: findings, who wrote an element,
 * where a value came from, how a tensor differs from what was expected, which
 * elements accesses touch.
 *
 * The texts and the JSON that the other functions give are written from these
 * structs and hold nothing that is not here.  tkdbg.h includes this file.
 *
 * Ownership: the library owns every struct and everything that it points to.
 * Findings live until the report is cleared or its session is freed; those of
 * a program that a debugger takes back in time go with it.  What a launch was
 * asked lives until the launch runs again or is freed.
 */
#ifndef TKDBG_RESULTS_H
#define TKDBG_RESULTS_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pieces -------------------------------------------------------------- */

/* A stretch of a source text. */
typedef struct tk_place {
  const char *file;         /* NULL: there is no place, and all else is 0 */
  int line, column;         /* of its first byte, from 1; columns count bytes */
  int end_line, end_column; /* after its last byte */
  uint32_t offset, length;  /* in bytes, from the start of the text */
  const char *text;         /* the first line of it, without its newline; not
                               NUL-terminated */
  size_t text_length;
  /* The line that a program made this one from, where a comment says so:
   * "FILE:LINE: TEXT"; NULL: none does. */
  const char *origin;
} tk_place;

/* An element of a tensor, or an address outside of every tensor. */
typedef struct tk_element {
  const char *tensor; /* its parameter's name; NULL: in no tensor */
  int rank;           /* axes of index; -1: no element of the view */
  int64_t index[TK_MAX_RANK];
  uint64_t address; /* on the device */
  const char *text; /* "C[32, 0]", "C byte 130", "address 0x1000" */
} tk_element;

/* One lane of a value. */
typedef struct tk_lane {
  tk_dtype dtype;
  bool pointer;     /* to that dtype; bits are the address */
  uint64_t bits;    /* the low bits are the lane's */
  const char *text; /* as reports print it: "11.0"; NULL: there is none */
} tk_lane;

/* first, first + step, ... last. */
typedef struct tk_range {
  int64_t first, last, step;
} tk_range;

/* ---- findings ------------------------------------------------------------ */

/* Kinds of findings; names in tk_finding_kind_name. */
typedef enum tk_finding_kind {
#define DIAG(id, severity, title, check) TK_D_##id,
#include "tkdbg/diag.def"
#undef DIAG
  TK_FINDING_KINDS,
} tk_finding_kind;

typedef enum tk_severity {
  TK_SEV_ERROR,
  TK_SEV_WARNING,
  TK_SEV_NOTE
} tk_severity;

const char *tk_finding_kind_name(tk_finding_kind k); /* "out-of-bounds" */
/* The detector that finds it, "bounds", as tk_check_name; NULL: none does. */
const char *tk_finding_check(tk_finding_kind k);
tk_severity tk_finding_severity(tk_finding_kind k);
const char *tk_severity_name(tk_severity s); /* "error" */

/* What else there is to say of a finding, in this order. */
typedef struct tk_finding_note {
  const struct tk_finding_note *next;
  tk_place place;
  const char *text;
} tk_finding_note;

typedef struct tk_finding {
  tk_finding_kind kind;
  tk_severity severity;
  const char *message; /* what was found */
  const char *help;    /* what to do about it; NULL: nothing is known */
  tk_place place;
  tk_place from;        /* a detector's: the other place that it is about */
  const char *function; /* that the place lies in; NULL: unknown */
  bool has_program;
  int64_t program[3]; /* that it was first found in */
  int lane_rank;      /* axes of lane; 0: none, or a scalar */
  int64_t lane[TK_MAX_RANK];
  const char *lane_text; /* "[3, 5]"; NULL: as above */
  bool has_element;
  tk_element element; /* of memory that it is about */
  uint64_t count;     /* how often it was found */
  uint64_t shown;     /* how many of these a debugger has shown */
  const tk_finding_note *notes;
  size_t nnotes;
} tk_finding;

/* The i-th finding of the report (tk_report_count says how many there are),
 * oldest first; NULL past the end.  Findings that are suppressed or beyond
 * the limit are not in the report. */
const tk_finding *tk_report_finding(tk_session *s, size_t i);

/* ---- blame: who wrote an element ----------------------------------------- */

/* A store, or an atomic operation, of one lane. */
typedef struct tk_write {
  int64_t program[3];
  tk_place place;
  const char *function; /* that the place lies in */
  tk_element element;   /* that was written */
  tk_lane value;        /* that was stored; the operand, if it is atomic */
  bool atomic;
  bool masked;  /* the access has a mask: it held for this lane */
  bool in_loop; /* trip is that of the innermost loop, from 0 */
  uint64_t trip;
  uint64_t ops; /* operations that the run had executed before */
} tk_write;

enum { TK_BLAME_WRITES = 64 };

typedef struct tk_blame {
  tk_element element;
  tk_lane value;          /* after the run; its text is NULL if none is known */
  uint64_t times;         /* that it was written */
  const tk_write *writes; /* newest first, the first TK_BLAME_WRITES of them */
  size_t nwrites;
  const tk_write *first; /* the oldest; NULL: no program wrote it */
  /* When no program wrote it, the nearest writes to its tensor; or NULL. */
  const tk_write *before, *after;
  const char *asked; /* the element as the options of the run have it, without
                        space; NULL: they do not */
} tk_blame;

/* The i-th element that the last run was asked to blame
 * (tk_run_options.blame), NULL past the end. */
const tk_blame *tk_launch_blame(tk_launch *l, size_t i);

/* ---- explain: where a value came from ------------------------------------ */

typedef enum tk_step_kind {
  TK_STEP_VALUE,         /* an instruction gave it, from the steps below */
  TK_STEP_ARGUMENT,      /* a runtime argument of the kernel */
  TK_STEP_LOOP_VARIABLE, /* trip counts the trips of the loop at `loop` */
  TK_STEP_LOOP,          /* a value that each trip makes from that of the trip
                            before; the steps below are of the last one */
  TK_STEP_TRIPS,         /* of a loop: `values` after each trip */
  TK_STEP_AGAIN,         /* comes above already, as the step `same` */
  TK_STEP_CARRIED,       /* the value of a loop as trip `trip` left it */
  TK_STEP_TERM,          /* of a long operation: `factors`, and their `value` */
  TK_STEP_MORE,          /* `count` more terms */
  TK_STEP_READS,         /* memory that all of it was read from */
  TK_STEP_WRITTEN,       /* who had written what was read */
  TK_STEP_HELD,          /* what memory held before an atomic operation */
  TK_STEP_UNKNOWN,       /* not known: not_kept, or nothing tells it */
} tk_step_kind;

/* What a step is to its parent. */
typedef enum tk_step_role {
  TK_ROLE_OPERAND,
  TK_ROLE_MASK,
  TK_ROLE_OTHER,          /* of a load, where the mask is off */
  TK_ROLE_INDEX,          /* it says where, not what */
  TK_ROLE_ADDRESS,        /* of the write that is explained */
  TK_ROLE_ATOMIC_OPERAND, /* of an atomic write that is explained */
  TK_ROLE_STORED,         /* this program stored it to what was read */
  TK_ROLE_CONDITION,      /* of a choice */
  TK_ROLE_CHOSEN,         /* ... and the side that it took */
  TK_ROLE_BEFORE_LOOP,
  TK_ROLE_FIRST_TERM,
  TK_ROLE_ODD_TERM, /* the first of them that is not finite */
} tk_step_role;

/* What a step that accesses memory got. */
typedef enum tk_step_memory {
  TK_MEMORY_NONE, /* it accesses none */
  TK_MEMORY_READ,
  TK_MEMORY_READ_MASKED, /* ... where its mask held */
  TK_MEMORY_OTHER,       /* masked off: the load's other= */
  TK_MEMORY_UNDEFINED,   /* masked off, without one */
  TK_MEMORY_HELD,        /* an atomic operation: what was there before */
} tk_step_memory;

/* One factor of a term. */
typedef struct tk_factor {
  const char *text; /* the element that was read, or what it is called */
  bool has_element;
  tk_element element;
  tk_lane value;
} tk_factor;

/* Of a kind, the members that the kind does not name are 0. */
typedef struct tk_step {
  tk_step_kind kind;
  tk_step_role role;
  int parent; /* the step that it belongs to, -1: none */
  int depth;
  /* The value: name is that of its variable, source its expression on one
   * line, shortened; operation is its instruction in the typed form. */
  const char *name, *source, *operation, *type;
  bool constant;
  int lane_rank;
  int64_t lane[TK_MAX_RANK];
  tk_lane value;
  /* Where it was made: in the user's own code, and in tkdbg's own function
   * tl.library if that is not NULL.  scope tells specialised functions
   * apart; -1: none. */
  tk_place place;
  const char *function, *library;
  bool in_kernel; /* function is the kernel itself */
  int scope;
  /* Memory. */
  tk_step_memory memory;
  bool has_element;
  tk_element element;        /* READS: the first one */
  bool is_box;               /* READS: the elements from there ... */
  int64_t last[TK_MAX_RANK]; /* ... to there, `count` of them */
  uint64_t count;            /* READS MORE; VALUE: of its terms */
  int64_t program[3];        /* WRITTEN */
  bool same_program;         /* ... it is the one that is explained */
  /* A comparison: its sides, and its sign between them; else NULL. */
  const char *sign;
  tk_lane sides[2];
  /* A choice of one lane among many, such as a maximum: of how many, which
   * end of them, and the lane; 0: none. */
  uint64_t picked_of;
  bool picked_smallest;
  int picked_rank;
  int64_t picked[TK_MAX_RANK];
  /* Loops. */
  tk_place loop;
  uint64_t trip, last_trip; /* LOOP: from trip to last_trip */
  bool nested;              /* ... of a loop around its own */
  uint64_t times;           /* LOOP: how often it was made */
  const tk_lane *values;    /* TRIPS: the first, and the last */
  size_t nvalues;
  bool from_start;  /* TRIPS: the first value is from before the loop */
  uint64_t skipped; /* TRIPS: values left out before the last one */
  const tk_factor *factors;
  size_t nfactors;
  bool product; /* TERM: of its factors */
  int same;
  bool not_kept; /* UNKNOWN: the history was longer than `count` MiB */
  /* The steps right below it, by number. */
  const int *operands;
  size_t noperands;
  tk_place combined; /* what a user's combine function does; line 0: none */
  tk_place address;  /* READS: what made its last address; line 0: unknown */
} tk_step;

typedef struct tk_explanation {
  tk_blame blame;       /* the element; of a variable: times is 0 */
  const tk_step *steps; /* each comes after its parent */
  size_t nsteps;
  bool cut;        /* there are more steps than these */
  tk_place place;  /* of the write that is explained */
  int scope;       /* of its function, as in steps; -1: none */
  const char *why; /* why there is no step; NULL: there are, or no program
                      wrote it */
} tk_explanation;

/* The i-th element that the last run was asked to explain
 * (tk_run_options.explain), NULL past the end. */
const tk_explanation *tk_launch_explanation(tk_launch *l, size_t i);

/* ---- differences: a tensor that does not hold what it should ------------- */

/* What the wrong elements have in common. */
typedef enum tk_pattern_kind {
#define PATTERN(id, name, find) TK_PATTERN_##id,
#include "tkdbg/pattern.def"
#undef PATTERN
  TK_PATTERN_KINDS,
} tk_pattern_kind;

const char *tk_pattern_name(tk_pattern_kind k); /* "transposed" */

/* Of a kind, the members that say nothing are 0. */
typedef struct tk_pattern {
  tk_pattern_kind kind;
  int axis;         /* REVERSED SHIFTED REPEATED SCALED_ROWS */
  int64_t distance; /* SHIFTED: an element holds what belongs this far after it;
                       REPEATED: the index whose elements all others hold */
  double least;     /* CONSTANT: the value; SCALED, OFFSET: the factor or the
                       summand; SCALED_ROWS: the least factor; ROUNDED: the
                       largest error, as a part of the value; MAGNITUDE: how
                       many times too large, of half of the elements */
  double most;      /* SCALED_ROWS: the largest factor */
} tk_pattern;

/* One element that is wrong. */
typedef struct tk_mismatch {
  int64_t index[TK_MAX_RANK];
  tk_lane found, expected;
  double error;         /* infinite where one of them is not finite */
  bool written;         /* a program wrote it: */
  int64_t program[3];   /* the last one that did ... */
  tk_place place;       /* ... and where */
  const char *function; /* that the place lies in */
} tk_mismatch;

/* How a tensor differs from what was expected of it (tk_launch_expect); or how
 * what another engine left in it differs from what the run left
 * (tk_run_options.against): then the engine's elements are those found, and
 * the run's are expected. */
typedef struct tk_difference {
  const char *tensor; /* its parameter's name */
  const char *engine; /* the other engine; NULL: the caller's expectation */
  /* The elements found are a file's (tk_launch_got), not the run's own; NULL:
   * they are the run's.  Of the wrong ones, those that the run itself left as
   * expected, and those that it left as the file has them. */
  const char *elsewhere;
  uint64_t here_right, here_same;
  double rtol, atol; /* what is tolerated: atol + rtol * |expected| */
  uint64_t ulps;     /* ..., or that many units in the last place */
  bool given;        /* the caller said so; else it follows from the kernel */
  /* Another engine, and no bound that the caller gave: if the kernel may round,
   * both are judged by what is exact.  Roots of the mean squares of what the
   * run left (0 if the types differ), of the run's errors, of the engine's,
   * and what these may be at most.  weak: elements may be off by more than a
   * twentieth of `size` and are not wrong.  all_wrong: the engine's errors are
   * too large together. */
  bool judged, weak, all_wrong;
  double size, own_error, engine_error, error_bound;
  uint64_t written; /* elements that a program wrote */
  /* Elements that are not the same number, tolerated ones too (0 if the types
   * differ), and how far apart they are at most: absolutely, as a part of what
   * is expected, and in units in the last place (floats) or by value. */
  uint64_t unequal;
  double absolute, relative;
  uint64_t ulp;
  uint64_t ulp_of_most; /* of the element that is furthest off, absolutely */
  int rank;
  int64_t shape[TK_MAX_RANK];
  uint64_t total, wrong; /* elements; when none is wrong, the rest is 0 */
  uint64_t unwritten;    /* wrong ones that no program wrote */
  uint64_t not_finite;   /* wrong ones that are NaN or infinite */
  /* By axis the indices of wrong elements, ascending; exact: every element of
   * their product is wrong. */
  const tk_range *ranges[TK_MAX_RANK];
  size_t nranges[TK_MAX_RANK];
  bool exact;
  /* The same of the programs that wrote them last. */
  uint64_t programs, wrong_programs; /* that wrote the tensor, wrongly */
  const tk_range *program_ranges[3];
  size_t nprogram_ranges[3];
  bool programs_exact;
  bool programs_whole; /* all that they wrote is wrong */
  const tk_pattern *patterns;
  size_t npatterns;
  tk_mismatch first, worst;
  /* Where the first wrong value came from; of one that no program wrote, the
   * nearest value that one did (explained_nearest).  NULL: unknown. */
  const tk_explanation *explanation;
  bool explained_nearest;
  /* A product of fp32 operands that tf32 cuts off, if they are off by no more
   * than rounding; line 0: there is none. */
  tk_place tf32;
  /* For pictures: by element, in row-major order, whether it is wrong, and the
   * index of the program that wrote it last, from 1 (0: none did), counted
   * along the axes of the grid, the first one fastest. */
  const uint8_t *is_wrong;
  const uint32_t *writer;
  int64_t grid[3];
} tk_difference;

/* How the i-th tensor of which something was expected differs from it after
 * the last run; NULL past the end. */
const tk_difference *tk_launch_difference(tk_launch *l, size_t i);
/* The same in words, with at most `lines` lines of source; "" if it does not
 * differ. */
const char *tk_launch_difference_text(tk_launch *l, size_t i, size_t lines);
/* The lines of source that a value came from, `most` of them at most. */
const char *tk_launch_source_lines(tk_launch *l, const tk_explanation *x,
                                   size_t most);

/* ---- divergence: the first operation whose results differ ---------------- */

/* Why two engines give different values for the same operands. */
typedef enum tk_cause {
#define CAUSE(id, name, words) TK_CAUSE_##id,
#include "tkdbg/cause.def"
#undef CAUSE
  TK_CAUSES,
} tk_cause;

const char *tk_cause_name(tk_cause c);  /* "contraction" */
const char *tk_cause_words(tk_cause c); /* a sentence without its full stop */

/* Of the program that wrote the first element that differs, both engines
 * recorded what each operation gives, in the order in which they run; this is
 * the first one that they disagree about.  Its operands are the same. */
typedef struct tk_divergence {
  tk_cause cause;
  const char *engine; /* the other one */
  /* Whose operations were recorded: that one's or, if it records none, another
   * one's in its place.  NULL: nobody's, there is no such engine here. */
  const char *recorder;
  bool unfused; /* with enable_fp_fusion=False it does not differ: no more */
  int64_t program[3];
  /* They agree about all of them, and accesses of the launch race: what the
   * detector says of the first, at the place below.  NULL: no such thing. */
  const char *race;
  bool found; /* else the rest is 0: cause NOT_RECORDED, or RACE */
  tk_place place;
  const char *function;  /* that the place lies in */
  const char *operation; /* "binary add", as the typed form names it */
  uint64_t before;       /* how often it gave the same before, in loops */
  uint64_t lanes, different;
  int lane_rank; /* axes of lane, the first that differs; 0: a scalar */
  int64_t lane[TK_MAX_RANK];
  tk_lane other, own; /* by the other engine; by the interpreter */
  uint64_t ulp;
  /* Of that lane, what is known: operands that are one lane, or of which the
   * lane at the same place is used. */
  const char *names[4]; /* of variables; NULL: a temporary */
  tk_lane operands[4];
  size_t noperands;
  /* Cause COMPILER: found is the statement nearest to the beginning whose value
   * no instruction of its line left, among those that the first wrong element
   * was made from; its operands are those that the code has as well.  What
   * these instructions left, the line of the code, and what else is to be said:
   * of a store what the code does, or why no statement is found. */
  tk_lane others[4];
  size_t nothers;
  bool more_others;
  int code_line; /* 0: unknown */
  const char *says;
} tk_divergence;

/* Of the last run, if it was asked for one (tk_run_options.pinpoint) and
 * a tensor differs; else NULL. */
const tk_divergence *tk_launch_divergence(tk_launch *l);

/* ---- access pictures: which elements accesses touch ---------------------- */

/* Lanes and the memory traffic of accesses.  A warp is 32 lanes in row-major
 * order that are next to each other; it moves whole sectors of 32 bytes, which
 * lie in lines of 128. */
typedef struct tk_traffic {
  uint64_t times, lanes, active;
  uint64_t wanted, moved;  /* bytes; requested ones count once per warp */
  uint64_t sectors, lines; /* a sector or line counts once per warp */
  uint64_t warps;          /* with an active lane */
  uint64_t runs, longest;  /* of lanes whose memory follows each other */
} tk_traffic;

/* The accesses of one instruction to one tensor. */
typedef struct tk_access_picture {
  const char *verb;   /* "load" */
  const char *tensor; /* NULL: no lane was active */
  tk_place place;     /* of the line that was asked about */
  bool whole_grid;    /* else of one program */
  int64_t program[3];
  uint64_t programs; /* how many do access it */
  tk_traffic traffic;
  bool counted; /* what follows is known: there are not too many elements */
  /* By axis the indices that occur, ascending; exact: every element of their
   * product is touched. */
  int rank;
  const tk_range *ranges[TK_MAX_RANK];
  size_t nranges[TK_MAX_RANK];
  bool exact;
  uint64_t elements, outside; /* touched; of these, not in the view */
  int64_t total;              /* elements of the view */
  /* Elements of several programs; one of those that most programs touch, by
   * how many, and the first and last of these. */
  uint64_t shared, sharers;
  bool has_most; /* it lies in the view */
  int64_t most[TK_MAX_RANK];
  int64_t sharer_first[3], sharer_last[3];
  /* By element of the view, row-major: the number of the first program that
   * touches it, from 1; 0: none does.  NULL where there are more than
   * TK_ACCESS_OWNERS elements. */
  const uint32_t *owners;
} tk_access_picture;
#define TK_ACCESS_OWNERS (1 << 22)

/* The i-th picture of the line that the last run was asked about
 * (tk_run_options.access_line), of the whole grid; NULL past the end. */
const tk_access_picture *tk_launch_access(tk_launch *l, size_t i);

/* ---- the log of accesses: each one, in the order they happened ----------- */

/* Where accesses of a tensor are made. */
typedef struct tk_access_site {
  const char *verb;   /* "load" */
  const char *tensor; /* NULL: no lane was active */
  tk_place place;     /* in the user's own code */
  bool writes;
} tk_access_site;

typedef struct tk_logged_access {
  size_t site; /* its number in the log */
  int64_t program[3];
  uint64_t lanes;       /* masked-off ones too */
  size_t first, active; /* its elements in the log: the first, how many */
} tk_logged_access;

enum { TK_ACCESS_LOG_ELEMENTS = 1 << 23 };

typedef struct tk_access_log {
  const tk_access_site *sites;
  size_t nsites;
  const tk_logged_access *accesses;
  size_t naccesses;
  const int64_t *elements; /* of active lanes; from the first of the view, in
                              memory */
  size_t nelements;
  bool cut; /* there were more than TK_ACCESS_LOG_ELEMENTS */
} tk_access_log;

/* The log of the last run, if it was asked for (tk_run_options.log_accesses);
 * else NULL. */
const tk_access_log *tk_launch_access_log(tk_launch *l);

#ifdef __cplusplus
}
#endif
#endif
