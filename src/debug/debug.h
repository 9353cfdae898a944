/* debug.h - the state of the debugger's engine.
 *
 * The engine is the driver of a launch.  Programs run on fibers;
 * a hook of the interpreter that finds a reason to stop pauses the fiber, and
 * the engine, on the main stack, calls its front end.  Everything that can be
 * looked at is the interpreter's own.
 *
 * A point in time is an event: the number of statements begun since the launch
 * began; between two events `sub` counts instructions (stepi).  Going back
 * undoes the journal of memory writes up to the start of a program and runs
 * from there to the event asked for; the interpreter is deterministic.
 *
 * Everything here belongs to the engine, which belongs to its
 * session. */
#ifndef TK_DEBUG_DEBUG_H
#define TK_DEBUG_DEBUG_H

#include "base/scratch.h"
#include "interp/eval.h"
#include "interp/schedule.h"
#include "tkdbg/debugger.h"

typedef struct tk_debug tkd;
typedef struct tkd_point tkd_point;           /* points.h */
typedef struct tkd_site tkd_site;             /* points.h */
typedef struct tkd_checkpoint tkd_checkpoint; /* history.h */
typedef struct tkd_edit tkd_edit;             /* history.h */

/* In the middle of a statement, behind its counted instructions. */
#define TKD_LATE UINT64_MAX

enum { TKD_LEVELS = 16, TKD_BLOCKS = 64 };

typedef enum tkd_phase {
  TKD_RUNNING,
  TKD_REPLAYING, /* again, up to an event: nothing stops it on the way */
  TKD_SEARCHING, /* again: the last place that would have stopped it counts */
} tkd_phase;

/* Why a program has stopped. */
typedef struct tkd_stop {
  tk_stop_reason reason;
  int point;        /* its number; 0: none */
  const char *text; /* more about it; NULL: nothing.  It outlasts the stop */
  bool read;        /* a watchpoint's tensor was read, not written */
  int line;         /* ... written in this line; 0: that is not said */
} tkd_stop;

/* The step that is being taken, onwards or, when searching, backwards. */
typedef struct tkd_steps {
  tk_resume_kind kind; /* CONTINUE: none */
  uint64_t count;      /* that are left */
  int depth, line;     /* of the call where it began */
  uint64_t program;    /* that is stepped */
  bool ended;          /* ... and has ended */
} tkd_steps;

/* Running again what has run before. */
typedef struct tkd_replay {
  uint64_t target, target_sub; /* where it ends; 0: at no event */
  uint64_t now;                /* SEARCHING: the event that it began at */
  uint64_t hit, hit_sub;       /* the event of the last hit; 0: none yet */
  tkd_stop stop;               /* ... and why */
  bool cut;                    /* Ctrl-C ended it */
} tkd_replay;

/* Those who observe the launch beside the debugger: detectors. */
typedef struct tkd_others {
  bool any;
  bool watch, read, each; /* instructions, loads, statements */
} tkd_others;

/* A value that is kept; lanes: those that are undefined, a byte each. */
typedef struct tkd_kept {
  tk_type type;
  char *bytes, *lanes;
  size_t n, nlanes;
  int32_t region; /* of pointers; or TKI_ANY */
} tkd_kept;

typedef struct tkd_mark {
  int number;
  uint64_t event, sub;
  uint64_t index; /* of the program */
} tkd_mark;

/* All points, and what of them may stop a program: of points.c. */
typedef struct tkd_points {
  tkd_point *first;
  int last_number;
  tkd_point *temp; /* where `until LOCATION` and `advance` stop */
  tkd_site *sites; /* a hash table of statements */
  size_t nsites, cap_sites;
  tkd_point *catch_launch, *catch_program, *catch_end;
  bool has_catch_return;   /* or exit */
  const tkd_point *asking; /* the front end must be asked about it */
  bool says_hit;           /* ... and what it said */
  bool has_watch, has_memory_watch;
  /* Set when a watchpoint stops the program that looks at them: a variable on
   * its fiber, as others may run and look before it goes on. */
  bool *stopped_by_watch;
  tkd_site *work_site; /* the one that work on the main stack is about */
  size_t work_diags;   /* ... and how many reports there were before */
} tkd_points;

/* Why a call of the engine fails: of raise.c. */
typedef struct tkd_raised {
  tk_fault id; /* NONE: something else has failed */
  tk_buf message, about;
} tkd_raised;

/* What was handed out at this stop, and why a call failed: of api.c. */
typedef struct tkd_answers {
  tk_arena arena;
  tk_arena outer[TKD_BLOCKS]; /* those of the blocks around this one */
  int nouter;
  tk_debug_fault fault;
  tk_buf text, message, help, about; /* of the fault */
  struct tk_diag *findings;          /* that it is made of */
  const tk_finding **list;           /* ... of list_size */
  size_t list_size;
} tkd_answers;

/* The launch that runs, and those who observe it: of engine.c. */
typedef struct tkd_launch {
  tk_watcher watcher;
  tki_observer observer;
  tki_driver driver;
  uint64_t number;
  tk_status status;
  const tk_diag *told; /* the last finding before it; NULL: there was none */
  tkd_others others;
  tk_output_fn output; /* the session's own */
  void *output_ud;
  bool over;           /* every program has run */
  bool quit;           /* the user asked to */
  bool active;         /* the last launch was debugged */
  bool detached;       /* ... and runs on without the debugger */
  bool leaves;         /* ... until it has ended, for another launch */
  bool ignoring;       /* launches that begin are not debugged */
  _Atomic bool called; /* the front end wants to be called; any thread */
} tkd_launch;

/* A launch of the host, and the file that it can be run again from. */
typedef struct tkd_record {
  uint64_t number, bytes;
  char *kernel;
  int64_t grid[3];
  int fd; /* -1: it is not kept */
  tk_pids pids;
  tk_order order;
  bool asserts, dot_exact;
} tkd_record;

/* The launches of a script: of launches.c. */
typedef struct tkd_launches {
  tkd_record *list; /* the last ones, oldest first */
  size_t n, cap;
  uint64_t count;      /* that the host has made */
  uint64_t kept, most; /* bytes */
  uint64_t wanted;     /* that is to run again; 0: none is */
  uint64_t again;      /* that runs again now */
  bool raised;         /* the host has failed */
  const char *failure; /* the host's error, for which the launch that runs again
                          stops at its first statement; NULL */
} tkd_launches;

/* Who runs: of programs.c. */
typedef struct tkd_programs {
  tki_schedule *schedule; /* the launch's; t has another while it runs aside */
  tki_task *task;         /* of the program that runs, or would */
  bool fresh;             /* its first statement comes next */
  bool deadlocked;
  size_t reported;      /* before the deadlock */
  void (*work)(tkd *d); /* work that has to be done on the main stack */
} tkd_programs;

/* Where it is, and what is looked at there: of stop.c and frames.c. */
typedef struct tkd_where {
  uint64_t event, sub, furthest;
  uint64_t aside; /* statements that a run aside has begun so far */
  tkd_stop stop;
  bool gone;         /* it came here by going to another point in time */
  tki_frame *frame;  /* selected */
  int level;         /* of it, 0 innermost */
  uint64_t selected; /* how often one was */
  bool elsewhere;    /* the frame is of another program than the current */
  bool visiting;     /* all this is for a look (tkd_visit) */
  size_t reported;   /* that a stop has told of */
} tkd_where;

/* How it goes on: of resume.c. */
typedef struct tkd_course {
  tk_resume intent; /* kind NONE: not chosen yet */
  char *location;   /* of the intent */
  tkd_phase phase;
  tkd_steps steps;
  tkd_replay replay;
  bool muted; /* what programs print was printed before */
} tkd_course;

/* What the interpreter must report, and when: of stop.c. */
typedef struct tkd_armed {
  uint64_t event;     /* the next one at which something is due; 0: none */
  bool statements;    /* all of them are looked at */
  bool instructions;  /* they are counted */
  uint64_t counted;   /* ... since the event */
  bool interrupted;   /* Ctrl-C: to stop at the next statement */
  bool start;         /* whether to stop at the first statement of the launch */
  uint64_t launch;    /* ... of this one, or of the next one after it */
  bool caught_launch; /* start is for catch_launch */
} tkd_armed;

/* How long a move, or a run aside, takes: of stop.c. */
typedef struct tkd_clock {
  double began, looked, told; /* seconds; told 0: the front end was not yet */
  uint64_t stride, due;       /* events between two looks; that of the next */
} tkd_clock;

/* What it takes to go to another point in time: of history.c. */
typedef struct tkd_time {
  struct tkd_journal *journal;
  uint64_t limit; /* most bytes of it; 0: nothing is recorded */
  tkd_checkpoint *checkpoints;
  size_t ncheckpoints, cap_checkpoints;
  tkd_edit *edits;
  size_t nedits, cap_edits, edit; /* next to be done again */
  tkd_mark *marks;
  size_t nmarks, cap_marks;
  char *order; /* in which programs of the next launches run; NULL: theirs */
} tkd_time;

/* What the function that finish left has returned: of value.c. */
typedef struct tkd_returned {
  tkd_kept *list;
  size_t n, cap;
} tkd_returned;

struct tk_debug {
  tk_env *env;
  tk_session *session;
  tk_debug_front front;
  tki *t; /* the interpreter of the launch that runs; NULL: none */
  tkd_launch launch;
  tkd_launches launches;
  tkd_programs programs;
  tkd_where at;
  tkd_course course;
  tkd_armed armed;
  tkd_clock clock;
  tkd_time time;
  tkd_points points;
  tkd_returned returned;
  tkd_answers answers;
  tk_scratch mem;
  tkd_raised raised;
};

#endif
