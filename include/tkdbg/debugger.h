/* debugger.h - the debugger's engine, for any front end: command lines, a gdb
 * stub, an editor's protocol, a program that looks into a launch by itself.
 *
 * A tk_debug controls every launch of its session.  It stops programs and
 * calls the front end's `stopped`; there everything can be inspected and
 * changed, and tk_debug_resume says how to go on when `stopped` returns.  The
 * engine never prints and never asks anybody for input.
 *
 * Time is counted in events: the number of statements begun since the launch
 * began.  A program is named by its index in the grid, axis 0 fastest.
 *
 * Ownership: a tk_debug belongs to its session.  Text and arrays that are
 * passed in are copied.  What calls hand out (strings, lanes, lists) lives
 * until `stopped` returns, or until tk_debug_forget.
 *
 * A statement is named by its number in the typed form of the kernel, a
 * function likewise (tkdbg/ir.h): they are the same in every launch that runs
 * that form.
 *
 * Errors: calls return a tk_status; tk_debug_error says what was wrong with
 * the last one that did not give TK_OK.  A program counts as stopped only
 * while `stopped` runs: what needs one gives TK_USAGE at other times.
 * Callbacks run on the stack of the call that runs the launch, one at a time.
 * tk_debug_interrupt and tk_debug_call alone may be called from elsewhere.
 */
#ifndef TKDBG_DEBUGGER_H
#define TKDBG_DEBUGGER_H

#include "tkdbg/ir.h"
#include "tkdbg/results.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_debug tk_debug;

#define TK_DEBUG_NO_PROGRAM UINT64_MAX
#define TK_DEBUG_NO_STATEMENT SIZE_MAX

/* ---- what the front end is told ---------------------------------------- */

/* Why a program has stopped. */
typedef enum tk_stop_reason {
#define STOP(id, name, text) TK_STOP_##id,
#include "tkdbg/stop.def"
#undef STOP
  TK_STOP_REASONS,
} tk_stop_reason;

/* "breakpoint", "watch", ...; as events call it. */
const char *tk_stop_reason_name(tk_stop_reason r);

/* A value: a scalar or a block of lanes, row-major and next to each other.  A
 * tuple is several values, each with the path that leads to it. */
typedef struct tk_debug_value {
  const char *name;   /* of the variable; of a part, with its path: "t[0]" */
  const char *path;   /* "", "[0]"; NULL: more of the part before */
  const char *before; /* what stands before it in print; NULL: its type */
  const char *known;  /* a compile-time value as text; then no lanes */
  tk_ir_type type;    /* of a pointer, lanes are addresses */
  const void *lanes;  /* NULL: it has no value yet */
  size_t size;        /* of lanes, in bytes */
  /* A byte a lane, not 0: undefined (with the detector undef); NULL: none. */
  const unsigned char *undefined;
  const char *tensor; /* that pointers were made from; NULL: not known */
} tk_debug_value;

/* What a watchpoint saw. */
typedef struct tk_debug_change {
  int point;
  const char *watched;
  bool changed;   /* the value is another one; otherwise it was accessed */
  bool first;     /* a variable's first value: there is no old one */
  bool reads;     /* the statement that comes next reads it */
  bool was_known; /* old is filled in */
  /* Of a tuple or block pointer, the first part that has changed: its name is
   * t[1], block.offsets[0]. */
  tk_debug_value old, now;
  size_t lanes;         /* that differ */
  int64_t first_lane;   /* of those */
  tk_place where;       /* the statement that did it; line 0: not known */
  const char *function; /* ... that it is in */
  int64_t pid[3];       /* ... and its program */
} tk_debug_change;

typedef struct tk_debug_stop {
  tk_stop_reason reason;
  int point;      /* the number of what stopped it; 0: none did */
  const int *hit; /* the numbers of all points that would have */
  size_t nhit;
  const char *text;   /* more about the reason; "" */
  const char *caught; /* what the catchpoint waited for; NULL: no catchpoint */
  bool over;          /* the launch has ended: no program is stopped */
  bool travelled;     /* another point in time was gone to */
  uint64_t launch;    /* its number, from 1 */
  bool again;         /* the launch had run, and runs again on its own memory */
  const char *kernel; /* NULL: no launch is running (RAISED) */
  uint64_t program;   /* or TK_DEBUG_NO_PROGRAM */
  int64_t pid[3], grid[3];
  const char *function;
  tk_place place;   /* of the statement that comes next, or is on the way */
  size_t statement; /* its number; TK_DEBUG_NO_STATEMENT: none */
  bool in_loop;
  uint64_t trip; /* of the innermost loop, from 0 */
  uint64_t event;
  uint64_t operation; /* of the statement, when going by operations */
  const char *opcode; /* ... which comes next; NULL: none */
  tk_place operation_at;
  const tk_debug_change *changes;
  size_t nchanges;
  /* FINISH, RETURN: what the function returns. */
  const tk_debug_value *returned;
  size_t nreturned;
  const tk_finding *const *findings; /* reported since the stop before */
  size_t nfindings;
} tk_debug_stop;

typedef enum tk_notice_kind {
  TK_NOTICE_CONDITION, /* a point's condition has no value here; it stops */
  TK_NOTICE_DETECTORS, /* they no longer watch this launch */
  TK_NOTICE_PASSED,    /* a stop on the way, of several that were asked for */
  TK_NOTICE_PAGE,      /* a page was written (tk_debug_save_page) */
} tk_notice_kind;

typedef struct tk_notice {
  tk_notice_kind kind;
  int point;        /* CONDITION */
  const char *text; /* CONDITION: what is wrong with it; PAGE: its address */
  const tk_finding *const *findings; /* ... for this call alone */
  size_t nfindings;
  const tk_debug_stop *stop; /* PASSED */
} tk_notice;

/* A logpoint was reached.  This is like a stop: tk_debug_evaluate gives the
 * values of the expressions in its text (tk_debug_log_piece). */
typedef struct tk_log {
  int point;
  const char *format;
} tk_log;

/* Every callback may be NULL; without `stopped` nothing stops. */
typedef struct tk_debug_front {
  size_t size; /* sizeof(tk_debug_front) */
  void *ud;
  void (*begins)(void *ud, tk_debug *d); /* a launch that is debugged */
  void (*stopped)(void *ud, tk_debug *d, const tk_debug_stop *stop);
  void (*ends)(void *ud, tk_debug *d);
  /* What programs print; NULL: the session's own receiver gets it. */
  void (*output)(void *ud, const char *text, size_t len);
  void (*logged)(void *ud, tk_debug *d, const tk_log *log);
  void (*noticed)(void *ud, tk_debug *d, const tk_notice *notice);
  /* The launch runs, and tk_debug_call has asked for this call.  Points and
   * programs can be inspected and changed, values cannot; the launch then goes
   * on with what it was doing. */
  void (*called)(void *ud, tk_debug *d);
  /* A move takes long: called from time to time, to show how far it is. */
  void (*progressed)(void *ud, tk_debug *d);
  /* Whether a point that asks (tk_point_spec) is hit here, in the same state
   * as at a stop; NULL: it is. */
  bool (*asked)(void *ud, tk_debug *d, int point);
  bool stop_at_start; /* of the first launch */
  bool stop_at_end;   /* of each launch */
  /* Only launches of a kernel that calls breakpoint(), or breakpoint_if, are
   * debugged, until there are points. */
  bool wait_for_call;
  /* Launches come one after the other: breakpoints may be in later kernels. */
  bool script;
  /* Where the host has failed, the last launch runs again, if it was kept, and
   * stops for that (TK_STOP_RAISED) at its first statement; otherwise no
   * launch is running at that stop. */
  bool needs_launch;
} tk_debug_front;

tk_status tk_debug_new(tk_session *s, const tk_debug_front *front,
                       tk_debug **out);
/* What `stopped` would be told now, without what was told before. */
tk_status tk_debug_stand(tk_debug *d, const tk_debug_stop **out);
/* Another front end takes over; old (may be NULL) gets the one before. */
void tk_debug_hand_over(tk_debug *d, const tk_debug_front *front,
                        tk_debug_front *old);
/* Whether launches that begin from now on run without it. */
void tk_debug_ignore(tk_debug *d, bool launches);
/* Frees what calls have handed out at this stop. */
void tk_debug_forget(tk_debug *d);
/* What calls hand out from here on lives until the end of this block of
 * calls; blocks may be nested. */
void tk_debug_block_begins(tk_debug *d);
void tk_debug_block_ends(tk_debug *d);

/* ---- errors ------------------------------------------------------------ */

/* Why a call failed, by the rows of fault.def. */
typedef enum tk_fault {
  TK_FAULT_NONE,     /* it did not */
  TK_FAULT_MEMORY,   /* memory ran out */
  TK_FAULT_FINDINGS, /* something is wrong with an expression: its findings */
#define FAULT(id, remedy, text) TK_FAULT_##id,
#include "tkdbg/fault.def"
#undef FAULT
  TK_FAULTS
} tk_fault;

/* What a user can do about it.  remedy.def has words for it. */
typedef enum tk_remedy {
  TK_REMEDY_NONE, /* nothing is known */
#define REMEDY(id, commands, gdb, editor) TK_REMEDY_##id,
#include "tkdbg/remedy.def"
#undef REMEDY
  TK_REMEDIES
} tk_remedy;

typedef struct tk_debug_fault {
  const char *message; /* "" after a call that gave TK_OK */
  const char *text;    /* with source line and caret where there is one */
  const char *help;    /* what to do instead; NULL */
  /* Where in the expression that was passed in; 0, 0: nowhere. */
  size_t from, to;
  const tk_finding *const *findings; /* the text is made of them, if any */
  size_t nfindings;
  tk_fault id;
  tk_remedy remedy;
  const char *about; /* an expression or a program, for the remedy; "" */
} tk_debug_fault;

/* About the last call that failed; lives until the next call. */
const tk_debug_fault *tk_debug_error(tk_debug *d);

/* ---- going on ---------------------------------------------------------- */

typedef enum tk_resume_kind {
  TK_RESUME_NONE,         /* not chosen yet; takes back what was chosen */
  TK_RESUME_CONTINUE,     /* until something stops it */
  TK_RESUME_STEP,         /* to the next statement */
  TK_RESUME_NEXT,         /* over functions that are called */
  TK_RESUME_UNTIL,        /* to a line after this one, or out */
  TK_RESUME_FINISH,       /* until the function has returned */
  TK_RESUME_OPERATION,    /* to the next operation of the statement */
  TK_RESUME_NEXT_PROGRAM, /* to the first statement of the next one */
  TK_RESUME_LAUNCH,       /* to the first statement of `launch` */
  TK_RESUME_PROGRAM,      /* go on with `program`, or begin it */
  TK_RESUME_JUMP,         /* go on at `line` of the same body */
  TK_RESUME_RETURN,       /* leave the function now */
  TK_RESUME_BACK,         /* to the last place that would have stopped it */
  TK_RESUME_BACK_STEP,
  TK_RESUME_BACK_NEXT,
  TK_RESUME_BACK_FINISH,
  TK_RESUME_BACK_OPERATION,
  TK_RESUME_EVENT,  /* to `event` (and `operation`), backwards or forwards */
  TK_RESUME_START,  /* to the first event */
  TK_RESUME_AGAIN,  /* run the launch again from its beginning */
  TK_RESUME_DETACH, /* go on without the debugger */
  TK_RESUME_QUIT,   /* end the launch */
} tk_resume_kind;

typedef struct tk_resume {
  tk_resume_kind kind;
  /* How often (0: once).  CONTINUE: the point that stopped it passes the
   * count - 1 hits that follow. */
  uint64_t count;
  /* CONTINUE, FINISH: also stop there, once; NULL: nowhere. */
  const char *location;
  uint64_t event, operation; /* EVENT */
  uint64_t launch;           /* LAUNCH: its number; 0: the next one, or, after
                                TK_STOP_RAISED, the last one */
  uint64_t program;          /* PROGRAM; EVENT: go on with it, or NO_PROGRAM */
  int line;                  /* JUMP; 0: to `statement` */
  size_t statement;          /* JUMP */
} tk_resume;

/* To be called in `stopped`: how to go on when that returns (otherwise it
 * continues).  What cannot be done is refused at once.  When something fails
 * on the way to another point in time, the launch stands at its end. */
tk_status tk_debug_resume(tk_debug *d, const tk_resume *how);
/* Whether tk_debug_resume was called at this stop. */
bool tk_debug_will_resume(const tk_debug *d);
/* As TK_RESUME_QUIT, at any time: launches return TK_INTERRUPTED. */
void tk_debug_quit(tk_debug *d);
bool tk_debug_has_quit(const tk_debug *d);
/* Makes the launch stop before the next statement that runs, TK_STOP_INTERRUPT
 * being the reason; on the way to another point in time it ends that.  May be
 * called from any thread and in signal handlers. */
void tk_debug_interrupt(tk_debug *d);
/* The front end's `called` runs before the next statement, unless the launch
 * stops before.  May be called from anywhere, as tk_debug_interrupt. */
void tk_debug_call(tk_debug *d);
/* Takes back a call that has not come yet: for use in `stopped` and `ends`. */
void tk_debug_call_off(tk_debug *d);
/* Whether it debugs the launch that runs, or did so with the last one. */
bool tk_debug_is_active(const tk_debug *d);

/* ---- time -------------------------------------------------------------- */

typedef struct tk_debug_time {
  uint64_t launch; /* from 1; 0: there was none */
  uint64_t event, operation;
  uint64_t first;      /* event that can be gone back to; 0: no history */
  uint64_t furthest;   /* event that was ever reached */
  uint64_t done;       /* programs that have run to their end */
  uint64_t aside;      /* statements that an answer has run aside so far */
  uint64_t kept, most; /* bytes of the history, and most that are kept */
  bool over;
  bool raised;      /* the script has failed; no launch is running */
  tk_status status; /* over: what running the launch gives */
} tk_debug_time;

void tk_debug_when(const tk_debug *d, tk_debug_time *out);
/* Most memory in bytes for the history that goes back; 0: none is kept. */
void tk_debug_history(tk_debug *d, uint64_t bytes);
/* Remembers this point in time under a number, from 1. */
tk_status tk_debug_mark(tk_debug *d, int *number);
/* How to go back to it. */
tk_status tk_debug_mark_at(tk_debug *d, int number, tk_resume *out);

/* ---- launches ---------------------------------------------------------- */

/* Of a script, the last launches are recorded, so that they can be run again
 * from what their arguments were (TK_RESUME_LAUNCH). */
typedef struct tk_debug_past_launch {
  uint64_t number; /* from 1 */
  const char *kernel;
  int64_t grid[3];
  uint64_t bytes; /* that are kept of it; 0: it cannot be run again */
} tk_debug_past_launch;

/* The i-th that is known, oldest first; false past the end. */
bool tk_debug_launch_at(const tk_debug *d, size_t i, tk_debug_past_launch *out);
/* Most bytes that are kept of launches; 0: none can be run again. */
void tk_debug_keep_launches(tk_debug *d, uint64_t bytes);
uint64_t tk_debug_launches_kept(const tk_debug *d);
/* For the host, when a launch has returned: runs those again that the user has
 * gone to.  TK_INTERRUPTED: the user has quit. */
tk_status tk_debug_go_back(tk_debug *d);
/* For the host, when it has failed after a launch, or between two: the front
 * end is told (TK_STOP_RAISED), and may go back into launches.  what: the
 * error in a line. */
tk_status tk_debug_raised(tk_debug *d, const char *what);

/* ---- points: breakpoints and their kind -------------------------------- */

typedef enum tk_point_kind {
  TK_POINT_BREAK,
  TK_POINT_LOG,   /* tells the front end and goes on */
  TK_POINT_WATCH, /* a variable, an expression, elements of a tensor, bytes */
  TK_POINT_CATCH,
} tk_point_kind;

typedef struct tk_point_spec {
  tk_point_kind kind;
  /* BREAK, LOG: LINE, FILE:LINE, FUNCTION, FILE:FUNCTION, "op NAME"; +N and
   * -N count from the line of the stop.  WATCH: an expression, or BUFFER[I].
   * CATCH: launch, end (of a launch), program, finding, assert, load, store or
   * atomic (before they happen); "return", "return FUNCTION": a function is
   * about to return; exit: a program is about to end.  Then all variables still
   * hold. */
  const char *where;
  /* BREAK, LOG without `where`: before this statement of the form that the
   * launch runs.  CATCH "return": of a call that it makes.  NULL: none. */
  const size_t *statement;
  /* WATCH without `where`: bytes of one region, by device address. */
  uint64_t address;
  size_t size;
  const char *condition; /* an expression; NULL: none */
  const char *format;    /* LOG: text with {EXPR}, {{ and }} */
  const char *programs;  /* program conditions, "0,>1"; NULL: all programs */
  uint64_t ignore;       /* hits to be passed */
  bool reads, writes;    /* WATCH: what counts; neither: writes */
  bool asks;             /* counts as hit if the front end's `asked` says so */
  bool once; /* goes when it stops a program, before `stopped` is called */
  bool disabled;
} tk_point_spec;

typedef struct tk_point {
  int number;
  tk_point_spec spec;
  uint64_t hits;
  bool pending;         /* this launch has no such place (yet) */
  bool ever_resolved;   /* some launch had it */
  bool waits_for_value; /* WATCH: the variable has no value yet */
  const char *function; /* where it is, or was last; NULL */
  int line;
  /* Where the location names a program that has written the kernel: the line
   * there that this one was made of; else 0. */
  int program_line;
  size_t statement; /* ... the first of several; TK_DEBUG_NO_STATEMENT */
} tk_point;

tk_status tk_debug_add_point(tk_debug *d, const tk_point_spec *spec,
                             int *number);
/* Whether that could be added, in the selected call; nothing is. */
tk_status tk_debug_try_point(tk_debug *d, const tk_point_spec *spec);
/* The i-th of all points; false past the end. */
bool tk_debug_point_at(tk_debug *d, size_t i, tk_point *out);
tk_status tk_debug_point_numbered(tk_debug *d, int number, tk_point *out);
tk_status tk_debug_enable_point(tk_debug *d, int number, bool enabled);
/* NULL: no condition. */
tk_status tk_debug_condition_point(tk_debug *d, int number,
                                   const char *condition);
tk_status tk_debug_ignore_point(tk_debug *d, int number, uint64_t hits);
tk_status tk_debug_delete_point(tk_debug *d, int number);
/* The next piece of a logpoint's text, of n characters, which *text moves
 * after: an expression to be evaluated, or text as it is.  False: the end. */
bool tk_debug_log_piece(const char **text, const char **piece, size_t *n,
                        bool *is_expression);

/* ---- the code of the launch -------------------------------------------- */

/* The form that the launch runs, to be read through tkdbg/ir.h; the same
 * handle whenever the same specialisation runs.  NULL: no launch is running. */
const tk_ir *tk_debug_form(const tk_debug *d);

typedef struct tk_debug_statement {
  size_t id;
  tk_ir_stmt_kind kind;
  tk_place place; /* of a compound one: its header */
  int depth;      /* of compound statements around it */
  size_t calls;   /* instructions that call functions of the user's */
} tk_debug_statement;

typedef enum tk_variable_kind {
  TK_VARIABLE_LOCAL,
  TK_VARIABLE_ARGUMENT,
  TK_VARIABLE_CONSTEXPR, /* known when the kernel is compiled */
  /* Its items are listed as variables too, of the names NAME[0], NAME[1], ...:
   * the base, for each axis of the block the shape, for each the stride and,
   * of a block pointer, for each the offset. */
  TK_VARIABLE_BLOCK_POINTER,
  TK_VARIABLE_DESCRIPTOR,
} tk_variable_kind;

/* A variable as the form knows it, of one type: one that is assigned values
 * of several types is there once for each, and of a tuple each item is. */
typedef struct tk_debug_local {
  const char *name;
  tk_variable_kind kind;
  const char *known; /* CONSTEXPR: the first value that it has, as text */
  tk_ir_type type;   /* of a block pointer or descriptor, of the block;
                        others: its type, and ... */
  int value;         /* ... its number in the function */
  size_t statement;  /* the first that assigns it, or after which a CONSTEXPR
                        is known; TK_DEBUG_NO_STATEMENT: an argument */
} tk_debug_local;

typedef struct tk_debug_function {
  size_t id;
  const char *name;
  bool is_kernel;
  tk_place place; /* of its name */
  int last_line;
  const tk_debug_statement *statements; /* in the order of the source */
  size_t nstatements;
  const tk_debug_local *variables; /* arguments first */
  size_t nvariables;
} tk_debug_function;

/* The functions that the launch runs, each in all of its specialisations; the
 * kernel is the first.  Also in `begins`. */
tk_status tk_debug_functions(tk_debug *d, const tk_debug_function **list,
                             size_t *n);

/* A source text of the session, by the name that places have. */
typedef struct tk_debug_source {
  const char *file;
  const char *text; /* NUL-terminated */
  size_t length;
} tk_debug_source;

/* The i-th file that kernels came from, and the one that is called so; false:
 * there is none. */
bool tk_debug_source_at(const tk_debug *d, size_t i, tk_debug_source *out);
bool tk_debug_source_named(const tk_debug *d, const char *file,
                           tk_debug_source *out);

/* ---- programs and frames ----------------------------------------------- */

typedef enum tk_program_state {
  TK_PROGRAM_NOT_BEGUN,
  TK_PROGRAM_CURRENT, /* runs next */
  TK_PROGRAM_PAUSED,
  TK_PROGRAM_BLOCKED, /* waits for another */
  TK_PROGRAM_DONE,
} tk_program_state;

typedef struct tk_debug_program {
  uint64_t index;
  int64_t pid[3];
  tk_program_state state;
} tk_debug_program;

/* The program that runs next; also where a point asks. */
uint64_t tk_debug_current_program(const tk_debug *d);
/* The state of one program. */
tk_status tk_debug_program_indexed(tk_debug *d, uint64_t index,
                                   tk_debug_program *out);
/* How many places the launch's order has; some may be left out by the
 * program conditions. */
uint64_t tk_debug_program_count(const tk_debug *d);
/* Fills in at most max programs from the place *at of the order on, which
 * moves past them; how many there were. */
size_t tk_debug_programs(tk_debug *d, uint64_t *at, tk_debug_program *out,
                         size_t max);
/* Looks at a program that is half done, and at one of its calls, 0 being the
 * innermost.  Another program than the current one can be looked at but not
 * changed; which one goes on does not depend on it. */
tk_status tk_debug_select(tk_debug *d, uint64_t program, size_t level);

typedef struct tk_debug_loop {
  tk_place place; /* of its header */
  uint64_t trip;  /* from 0 */
} tk_debug_loop;

typedef struct tk_debug_frame {
  size_t level;
  const char *name; /* of the function */
  size_t function;  /* its number */
  tk_place place;   /* of the statement that it is at */
  size_t statement; /* its number; TK_DEBUG_NO_STATEMENT: none */
  size_t call;      /* it waits for the call-th call that the statement makes,
                       from 1; 0: for none */
  bool returns;     /* all is done except returning */
  const tk_debug_loop *loops; /* that it is in, innermost first */
  size_t nloops;
  size_t depth; /* callers above it */
} tk_debug_frame;

/* Calls of tkdbg's own library are left out, here and everywhere. */
size_t tk_debug_frame_count(const tk_debug *d);
tk_status tk_debug_frame_at(tk_debug *d, size_t level, tk_debug_frame *out);
/* The one that is looked at; false: no program is stopped. */
bool tk_debug_selected(tk_debug *d, tk_debug_frame *out);
/* Calls fn while stopped at the first statement of another program, then puts
 * everything back; *there: that program has a statement. */
tk_status tk_debug_visit(tk_debug *d, uint64_t program, void (*fn)(void *ud),
                         void *ud, bool *there);

typedef struct tk_debug_variable {
  const char *name;
  tk_variable_kind kind;
  int parameter;    /* which one, from 0; -1: not a parameter */
  const char *type; /* as whatis says it; NULL: it has no value yet */
  bool unassigned;  /* a jump went over what would have given it one */
  const tk_debug_value *values; /* with their types; several of a tuple */
  size_t nvalues;
} tk_debug_variable;

/* The variables of a call, newest first. */
tk_status tk_debug_variables(tk_debug *d, size_t level,
                             const tk_debug_variable **list, size_t *n);
/* The names that are known in the selected call, newest first; none where
 * there is no call. */
tk_status tk_debug_names(tk_debug *d, const char *const **names, size_t *n);

/* ---- values and memory ------------------------------------------------- */

/* Evaluates an expression in the selected call; of tensors and arguments also
 * when the launch has ended.  Nothing that the programs see changes. */
tk_status tk_debug_evaluate(tk_debug *d, const char *text,
                            const tk_debug_value **values, size_t *n);
/* The type that it has, as whatis says it; it is not run. */
tk_status tk_debug_type_of(tk_debug *d, const char *text, const char **type);
/* Gives a variable of the selected call, or BUFFER[...], the value of an
 * expression, converted to its type; or these bytes, as many as its lanes
 * have.  Both are undone on going back. */
tk_status tk_debug_assign(tk_debug *d, const char *name, const char *text);
tk_status tk_debug_assign_lanes(tk_debug *d, const char *name,
                                const void *lanes, size_t size);

/* Memory that kernels may touch, by device address. */
typedef struct tk_debug_region {
  const char *name;
  uint64_t address; /* of the storage's first byte */
  size_t size;
  uint64_t first; /* address of the tensor's element [0, ...] */
  tk_dtype dtype;
  int rank;
  int64_t shape[TK_MAX_RANK], strides[TK_MAX_RANK]; /* in elements */
  bool readonly;
  const void *data; /* the tensor's element [0, ...] in this process */
} tk_debug_region;

/* The i-th region of the launch; false past the end. */
bool tk_debug_region_at(tk_debug *d, size_t i, tk_debug_region *out);
/* The one that a name stands for in the selected call; false: there is none.
 */
bool tk_debug_region_named(tk_debug *d, const char *name, tk_debug_region *out);
/* Where the element "[I, J]" of a region is; "": its first one.  Axes that are
 * not named are counted in *left. */
tk_status tk_debug_element(tk_debug *d, const char *name, const char *index,
                           uint64_t *address, int *left);
/* Whether some of these bytes were never written (with the detector undef). */
bool tk_debug_is_undefined(tk_debug *d, uint64_t address, size_t size);
/* Within one region alone. */
tk_status tk_debug_read(tk_debug *d, uint64_t address, void *bytes,
                        size_t size);
/* Undone on going back; what is written counts as defined. */
tk_status tk_debug_write(tk_debug *d, uint64_t address, const void *bytes,
                         size_t size);

/* ---- programs run aside ------------------------------------------------ */

/* Calls here run programs of the launch once more beside those that are
 * stopped, as if the user had changed nothing; afterwards all is as it was.
 * They fail where there is no history, and where it would not suffice. */
typedef struct tk_debug_aside {
  uint64_t left_out; /* programs before, whose history was dropped */
  bool by_hand;      /* the user changed something, which is not in it */
  bool out_of_turn;  /* programs ran in another order than is assumed */
  bool full;         /* it ended where the history would not have sufficed */
  bool interrupted;  /* ... by tk_debug_interrupt */
  const char *ended; /* ... where a program ended with this; NULL */
} tk_debug_aside;

/* What the statement at or after a line touches; 0: the current one. */
typedef struct tk_debug_accesses {
  tk_place place;
  bool reached; /* some program comes to it */
  bool more;    /* there are more tensors than these */
  /* For each tensor that of the current program, if there is one, and that of
   * the grid, if it has several. */
  const tk_access_picture *pictures;
  size_t npictures;
  tk_debug_aside aside;
} tk_debug_accesses;
tk_status tk_debug_access(tk_debug *d, int line, tk_debug_accesses *out);

/* Who wrote an element: BUFFER and "[I, J]". */
typedef struct tk_debug_blame {
  tk_blame blame;
  /* What the user wrote there by hand, newest first. */
  const tk_debug_value *pokes;
  const uint64_t *poked_at; /* events */
  size_t npokes;
  tk_debug_aside aside;
} tk_debug_blame;
tk_status tk_debug_blamed(tk_debug *d, const char *name, const char *index,
                          tk_debug_blame *out);

/* Where a lane of a variable of the selected call came from. */
typedef struct tk_debug_origin {
  tk_ir_type type; /* of the variable */
  int64_t lane;
  tk_debug_value then, now; /* the lane as it is explained, and here */
  tk_explanation explanation;
  tk_debug_aside aside;
} tk_debug_origin;
tk_status tk_debug_origin_of(tk_debug *d, const char *name, const char *index,
                             tk_debug_origin *out);

/* Writes what the launch did up to here to a file, as a page (tkdbg/view.h).
 * Its address, a URI, lives as long as the stop's values. */
tk_status tk_debug_save_page(tk_debug *d, const char *path,
                             const char **address);

/* The value of an expression here, and where another program (NO_PROGRAM:
 * this one, a trip ago) stands in the same place. */
typedef struct tk_debug_pair {
  tk_debug_value now, then;
  int64_t pid[3]; /* of the other */
  bool in_loop;
  uint64_t trip;
  tk_debug_aside aside;
} tk_debug_pair;
tk_status tk_debug_compare(tk_debug *d, const char *text, uint64_t program,
                           tk_debug_pair *out);

/* A tensor's bytes as they were before the launch, or before the first program
 * whose history is kept: aside->left_out programs came before. */
typedef struct tk_debug_past {
  const void *data;               /* of element [0, ...] then */
  const unsigned char *undefined; /* a byte per element, row-major: not written
                                     before the launch; NULL: all were, or
                                     it is unknown */
  tk_debug_aside aside;
} tk_debug_past;
tk_status tk_debug_first_memory(tk_debug *d, const char *name,
                                tk_debug_past *out);

/* ---- findings ---------------------------------------------------------- */

/* A finding with its source lines, as reports print it. */
const char *tk_debug_finding_text(tk_debug *d, const tk_finding *f,
                                  bool colour);
/* The user has seen it: tk_report_unshown leaves it out. */
void tk_debug_told(tk_debug *d, const tk_finding *f);

/* ---- the launch -------------------------------------------------------- */

/* The session, and the launch that runs; NULL: none does. */
tk_session *tk_debug_session(const tk_debug *d);
tk_launch *tk_debug_launch(const tk_debug *d);
/* The order of programs, as --order names it, from the next launch on or the
 * next TK_RESUME_AGAIN; NULL as a result: each launch has its own. */
tk_status tk_debug_order(tk_debug *d, const char *order);
const char *tk_debug_order_of(const tk_debug *d);
/* Whether assertions of kernels are tested. */
bool tk_debug_asserts(const tk_debug *d);
/* Hands text that programs print to the session's own receiver. */
void tk_debug_pass_output(tk_debug *d, const char *text, size_t len);
/* The line that a location comes to; 0: this launch has no such place. */
int tk_debug_line_of(tk_debug *d, const char *location);

/* ---- detectors --------------------------------------------------------- */

/* Whether a detector is on. */
bool tk_debug_is_checked(const tk_debug *d, const char *name);

/* Turns detectors on ("all", or names separated by commas) or, with NULL,
 * off.  A launch that runs is run again up to here, with them on. */
tk_status tk_debug_check(tk_debug *d, const char *list);

/* ---- command lines ----------------------------------------------------- */

/* The engine that a tk_debugger (tkdbg.h) is the front end of. */
tk_debug *tk_debugger_engine(tk_debugger *d);
/* Command lines for an engine that another front end drives: what
 * tk_debugger_command prints goes to o->write, a command that goes on counts
 * as tk_debug_resume.  Of the options, only ud, read, write, width, colour,
 * script and front count. */
tk_status tk_debugger_over(tk_debug *d, const tk_debugger_options *o,
                           tk_debugger **out);

#ifdef __cplusplus
}
#endif
#endif
