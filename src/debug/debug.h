/* debug.h - inside the debugger: one engine, driven by any front end.
 *
 * The engine is the driver of a launch.  Programs run on fibers ("strands");
 * a hook of the interpreter that finds a reason to stop pauses the fiber and
 * the engine, on the main stack, asks the front end for commands until one of
 * them moves.  Everything that can be looked at is the interpreter's own.
 *
 * Where it is, is an event: the number of statements begun since the launch
 * began; between two events `sub` counts instructions (stepi).  Going back
 * undoes the journal of memory writes up to the start of a program and runs
 * from there to the event wanted; the interpreter is deterministic.
 */
#ifndef TK_DEBUG_DEBUG_H
#define TK_DEBUG_DEBUG_H

#include <stdio.h>

#include "command/look.h"
#include "interp/eval.h"
#include "tkdbg/tkdbg.h"

typedef struct tk_debugger tkd;

/* ---- commands ---------------------------------------------------------- */

/* A command as typed: print/x a + b is {print, "/x" without the slash,
 * "a + b"}.  All are NUL-terminated and live until the command returns. */
typedef struct tkd_args {
  const char *fmt;
  const char *text;
} tkd_args;

typedef enum tkd_words { /* what the operand of a command is completed from */
                         TKD_NOTHING,
                         TKD_LOCATION,
                         TKD_EXPR,
                         TKD_COMMAND,
                         TKD_FILE_NAME,
                         TKD_INFO,
                         TKD_SETTING,
                         TKD_EVENT,
} tkd_words;

typedef struct tkd_command {
  const char *name;
  const char *aliases; /* separated by spaces */
  const char *args;    /* for the usage line */
  const char *flags;   /* L needs a launch, P a program, R repeats */
  tkd_words words;
  const char *summary, *text;
  void (*fn)(tkd *d, tkd_args *a);
} tkd_command;

enum {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  TKD_C_##id,
#include "command/command.def"
#undef COMMAND
  TKD_COMMANDS
};
extern const tkd_command tkd_commands[TKD_COMMANDS];

/* ---- places ------------------------------------------------------------ */

typedef enum tkd_point_kind {
  TKD_BREAK,
  TKD_PRINTF, /* dprintf: prints and goes on */
  TKD_WATCH,
  TKD_CATCH,
} tkd_point_kind;

typedef enum tkd_caught {
  TKD_CATCH_LAUNCH,
  TKD_CATCH_PROGRAM,
  TKD_CATCH_FINDING,
  TKD_CATCH_ASSERT,
  TKD_CATCH_LOAD,
  TKD_CATCH_STORE,
  TKD_CATCH_ATOMIC,
} tkd_caught;

/* Indices of an axis: n from `from` on, each `step` behind the one before. */
typedef struct tkd_range {
  int64_t from, n, step;
  bool one; /* an index, which takes the axis away */
  bool all;
} tkd_range;

/* BUFFER[...]: what is said of its first n axes; the others are whole. */
typedef struct tkd_part {
  int n;
  tkd_range ranges[TK_MAX_RANK];
} tkd_part;

/* The elements of a part of a tensor. */
typedef struct tkd_view {
  char *host; /* the first one */
  tk_type type;
  int64_t strides[TK_MAX_RANK]; /* in bytes */
  int64_t before, size;         /* bytes that it spans before host; from it */
} tkd_view;

/* A value; lanes: those that are undefined, a byte each, or empty. */
typedef struct tkd_kept {
  tk_type type;
  char *bytes, *lanes;
  size_t n, nlanes;
} tkd_kept;

/* A statement of a program. */
typedef struct tkd_writer {
  const tk_source *src;
  tk_span at;
  int64_t pid[3];
} tkd_writer;

/* What a watchpoint looks at: a variable of a function (or an expression over
 * its variables), or a part of a tensor. */
typedef struct tkd_watch {
  bool reads, writes;
  bool memory;
  const tk_func *func; /* variables: of this function of this launch */
  char *func_name;
  char *base; /* the variable that it starts with, or NULL; the tensor */
  tkd_part part;
  tkd_view view;
  bool found;      /* memory: it is in this launch */
  uint64_t lo, hi; /* its device addresses */
  bool due;        /* to be judged */
  bool read;       /* a variable: by the statement that comes next */
  bool known;      /* now and raw hold something */
  bool births;     /* the first value in a program is a change */
  bool absent;     /* the variable had no value yet */
  tkd_kept now;
  char *raw; /* the bytes of base */
  size_t raw_n;
  tkd_writer last; /* seen at work */
  uint64_t index;  /* the program it was seen in */
  /* the last hit */
  uint64_t told; /* its event */
  bool seen;     /* on going back: it is what stopped it there */
  bool changed, born;
  tkd_kept was, became;
  tkd_writer wrote;
} tkd_watch;

/* A breakpoint, logpoint, watchpoint or catchpoint. */
typedef struct tkd_point {
  struct tkd_point *next;
  int number;
  tkd_point_kind kind;
  bool enabled, once, pending;
  bool resolved;  /* it was in some launch */
  char *where;    /* as typed: location, expression, what is caught */
  char *file;     /* that a LINE is of; NULL: the kernel's */
  char *cond;     /* or NULL */
  char *format;   /* of a logpoint */
  char *commands; /* lines run at a stop, or NULL */
  uint64_t hits, ignore, hit_at;
  tkd_caught caught;
  tkd_watch watch;
  int line; /* where it stands, once found */
  const char *func;
} tkd_point;

/* A statement with a breakpoint: an entry of the engine's hash table. */
typedef struct tkd_site {
  const tk_stmt *stmt; /* NULL: free */
  tkd_point *point;
  tki_eval *cond;
  bool bad; /* cond cannot be had */
} tkd_site;

/* ---- time -------------------------------------------------------------- */

/* A program's beginning with no other program half done: where running can
 * start again. */
typedef struct tkd_base {
  uint64_t event;   /* before its first statement */
  uint64_t index;   /* of the program */
  uint64_t next;    /* place in the order of the one after it */
  uint64_t journal; /* position */
  uint64_t done;
  size_t ahead; /* how many programs had run out of turn */
  size_t diags;
} tkd_base;

/* What the user did at an event, to be done again when going back to a later
 * one. */
typedef enum tkd_deed_kind {
  TKD_SWITCH, /* to the program index */
  TKD_SET,    /* a slot */
  TKD_POKE,   /* memory */
  TKD_LEAVE,  /* return */
  TKD_JUMP,
} tkd_deed_kind;
typedef struct tkd_deed {
  tkd_deed_kind kind;
  uint64_t event, sub;
  uint64_t index;
  int level, slot; /* frame from innermost, its slot */
  char *bytes;     /* POKE, SET */
  size_t n;
  char *host;          /* POKE */
  const tk_stmt *stmt; /* JUMP */
} tkd_deed;

typedef struct tkd_mark {
  int number;
  uint64_t event, sub;
  uint64_t index; /* of the program */
} tkd_mark;

struct tkd_journal; /* journal.c */

/* ---- going ------------------------------------------------------------- */

typedef enum tkd_back { /* what a look into the past remembers */
                        TKD_BACK_NONE,
                        TKD_BACK_HIT,
                        TKD_BACK_STEP,
                        TKD_BACK_NEXT,
                        TKD_BACK_FINISH,
                        TKD_BACK_STEPI,
} tkd_back;

typedef enum tkd_go {
  TKD_GO, /* until something stops it */
  TKD_STEP,
  TKD_NEXT,
  TKD_UNTIL,
  TKD_FINISH,
  TKD_STEPI,
  TKD_TO_PROGRAM, /* to the first statement of the next program */
} tkd_go;

/* A program on a fiber; a strand that is not the main one runs just one. */
typedef struct tkd_strand {
  struct tkd_strand *next; /* that began later */
  tki_task *task;
  tkd *d;
  bool main;
  bool gives_way; /* to others, since it waits for them */
  uint64_t left;  /* counts when the user left it for another program */
} tkd_strand;

typedef enum tkd_reason {
#define STOP(id, name, doc) TKD_R_##id,
#include "debug/stop.def"
#undef STOP
  TKD_REASONS
} tkd_reason;

/* Why it stands where it stands. */
typedef struct tkd_stop {
  tkd_reason reason;
  const tkd_point *point;
  char text[256]; /* more about it */
} tkd_stop;

/* In the middle of a statement, behind its counted instructions. */
#define TKD_LATE UINT64_MAX

/* What a variable held at the last stop, as a hash. */
typedef struct tkd_seen {
  const char *name;
  uint64_t hash;
} tkd_seen;
typedef struct tkd_seen_frame {
  const tk_func *func;
  uint64_t index;
  size_t n, cap;
  tkd_seen *items;
} tkd_seen_frame;
enum { TKD_LEVELS = 16 };

typedef struct tkd_named { /* alias, define, document */
  struct tkd_named *next;
  char *name, *text, *doc;
  bool alias;
} tkd_named;

typedef struct tkd_line { /* input that waits */
  struct tkd_line *next;
  char *text;
} tkd_line;

typedef struct tkd_display {
  struct tkd_display *next;
  int number;
  char *fmt, *text;
  bool off;
} tkd_display;

typedef struct tkd_settings {
  uint64_t elements, history; /* lanes shown; bytes of journal */
  uint64_t listing;           /* lines of list */
  uint64_t width;
  bool confirm, changes;
  char *order, *safe_path; /* NULL: not set */
} tkd_settings;

typedef struct tkd_held { /* made by a command, not owned by anybody yet */
  void *p;
  size_t n;
} tkd_held;

struct tk_debugger {
  tk_debugger_options opt;
  tk_session *session;
  tk_env *env;
  tk_watcher watcher;
  tki_observer observer;
  tki_driver driver;
  tk_buf out;
  tki *t; /* the launch that runs; NULL: none */
  uint64_t launches;
  bool over;      /* of this launch: every program has run */
  bool quit;      /* the user asked to */
  bool active;    /* the last launch was debugged */
  bool detached;  /* ... to be left alone */
  bool ignoring;  /* launches that begin are left alone */
  bool moves;     /* a command said to go on */
  bool executing; /* a command; hooks belong to it */
  tk_status status;

  /* programs */
  tkd_strand *strand;       /* that runs, or would */
  tkd_strand *strands;      /* of all programs that are half done */
  tkd_strand *turn;         /* whose turn it is next while programs wait */
  bool any_turn, begun_one; /* in this round of turns */
  uint64_t stamp;           /* of tkd_strand.left */
  bool deadlocked;
  size_t before_deadlock; /* reports */
  uint64_t next;          /* place in the order */
  uint64_t *ahead;        /* programs begun out of turn */
  size_t nahead, cap_ahead;
  bool want_program; /* `program` without a statement yet */

  /* where it is */
  uint64_t event, sub, furthest;
  bool fine;                                   /* instructions are counted */
  bool others_watch, others_read, others_each; /* instructions, loads,
                                                  statements */
  bool others;      /* detectors, say: they see the launch as we do */
  tki_frame *frame; /* selected */
  int level;        /* of it, 0 innermost */
  tkd_stop stop;
  uint64_t alarm; /* the next event at which something is due */
  bool quick;     /* look at every statement */

  /* going */
  tkd_go go;
  uint64_t count;
  int depth, from_line;
  const tk_func *from_func;
  uint64_t from_index;         /* the program that is stepped */
  bool from_ended;             /* it has */
  uint64_t target, target_sub; /* replay stops here; 0: none */
  bool replaying;
  bool scanning; /* remember the last hit, do not stop */
  uint64_t hit, hit_sub, scan_now;
  bool cut;       /* Ctrl-C ended a replay */
  uint64_t insts; /* counted since the event */
  tkd_back back;
  bool new_program, interrupted, gone;
  bool muted;                   /* what programs print was printed before */
  bool want_start, want_launch; /* to stop there */
  bool caught_launch;           /* want_start is for catch_launch */
  tkd_point *catch_launch, *catch_program;
  tk_buf result;       /* of the function that finish leaves */
  tk_buf input;        /* a line that waited */
  tk_buf scratch;      /* what the public API returned last */
  tk_output_fn output; /* the session's own */
  void *output_ud;
  tkd_stop hit_stop;
  void (*work)(tkd *d); /* to be done on the main stack */
  tkd_site *work_site;
  bool stopped_by_watch;
  int64_t temp_line; /* until, advance */
  tkd_point *temp;
  bool leave; /* return: the frame is to end */

  /* time */
  struct tkd_journal *journal;
  tkd_base *bases;
  size_t nbases, cap_bases;
  tkd_deed *deeds;
  size_t ndeeds, cap_deeds, deed; /* next to be done again */
  tkd_mark *marks;
  size_t nmarks, cap_marks;
  uint64_t first; /* the earliest event that can be gone back to */

  /* stops */
  tkd_point *points;
  int last_number;
  tkd_site *sites;
  size_t nsites, cap_sites;
  bool has_watch, has_memory_watch;
  size_t shown_diags; /* at stops */

  /* the user's */
  tkd_seen_frame seen[TKD_LEVELS];
  bool seen_valid[TKD_LEVELS];
  tkd_named *named;
  tkd_display *displays;
  int last_display;
  tkd_line *lines;
  char *last; /* command, for the empty line */
  tkd_settings set;
  int depth_of_source;
  int list_first, list_line; /* what list showed; where it goes on */
  const tk_source *list_src;
  tk_buf value, other_value; /* what watchpoints look at */
  uint64_t x_next;
  tk_arena temps; /* of the command: temp.c */
  struct temp_buf *temp_bufs;
  tkd_held holds[16];
  size_t nholds;
  size_t refused; /* allocations, when it was last said */
  int commands;   /* being carried out, one inside the other */
  tk_dtype x_dtype;
  FILE *transcript;
};

/* ---- command.c --------------------------------------------------------- */

/* Runs one line; false: it failed, and said why. */
bool tkd_execute(tkd *d, const char *line);
/* Asks for commands until one moves (or the input ends). */
void tkd_prompt(tkd *d);
void tkd_say(tkd *d, const char *fmt, ...) TK_PRINTF(2, 3);
/* Folds the lines that were said from a position of d->out on. */
void tkd_fold(tkd *d, size_t from);
void tkd_flush(tkd *d);
void tkd_fail(tkd *d, const char *fmt, ...) TK_PRINTF(2, 3) TK_NORETURN;
/* A line of input; NULL at its end; with another prompt for bodies. */
const char *tkd_read(tkd *d, const char *prompt);
/* Lines to be run before any other input. */
void tkd_push_lines(tkd *d, const char *text);
/* Bytes of the command's name that s begins with. */
size_t tkd_name_length(const char *s);
/* The command with that name or alias; else the first whose name begins so,
 * and how many do; NULL: none. */
const tkd_command *tkd_command_named(const char *name, size_t n, int *count);
/* The same, but fails unless it is one. */
const tkd_command *tkd_find_command(tkd *d, const char *name);
char *tkd_strdup(tkd *d, const char *s);
char *tkd_strndup(tkd *d, const char *s, size_t n);
void tkd_strfree(tkd *d, char *s);
void tkd_set_text(tkd *d, char **at, const char *text); /* a copy of it */
void tkd_tell_report(tkd *d, tk_diag *x); /* the user has seen it now */
/* Says and drops what was reported after the first n. */
void tkd_say_reports(tkd *d, size_t n);
/* ... and ends the command. */
void tkd_refuse(tkd *d, size_t n) TK_NORETURN;
void tkd_say_refused(tkd *d);
/* A number in text: a count; `missing` if there is none.  Fails. */
uint64_t tkd_number(tkd *d, const char *text, uint64_t missing);
/* The next word of *text, which moves behind it; empty at the end. */
const char *tkd_word(tkd *d, const char **text);

extern const tkd_settings tkd_default_settings;
void tkd_free_all(tkd *d);

/* ---- temp.c ------------------------------------------------------------ */

char *tkd_temp(tkd *d, const char *s, size_t n);
void *tkd_temp_bytes(tkd *d, size_t n); /* zeroed */
tk_buf *tkd_temp_buf(tkd *d);
void tkd_temps_free(tkd *d);
/* Zeroed; what was held since nholds was `mark` has an owner now. */
void *tkd_hold(tkd *d, size_t n);
char *tkd_hold_str(tkd *d, const char *s); /* NULL: NULL */
void tkd_keep(tkd *d, size_t mark);
void tkd_drop_held(tkd *d, size_t mark);

/* ---- engine.c ---------------------------------------------------------- */

/* The innermost frame of the program that is stopped; NULL: none. */
tki_frame *tkd_top(const tkd *d);
void tkd_select(tkd *d, int level);
int tkd_depth(const tki_frame *f);
const tki_frame *tkd_user_frame(const tki_frame *f); /* out of the library */
int tkd_line_of(const tki_frame *f);
/* Starts a moving command, which then sets what it needs. */
void tkd_move(tkd *d, tkd_go go, uint64_t count);
void tkd_stop_here(tkd *d, tkd_reason r, const tkd_point *p, const char *fmt,
                   ...) TK_PRINTF(4, 5);
void tkd_arm(tkd *d);
void tkd_ctrl_c(tkd *d); /* while programs run */

/* ---- turns.c: programs that are half done ------------------------------- */

/* Runs the program that is current until something stops it. */
void tkd_run_on(tkd *d);
void tkd_begin_programs(tkd *d);
void tkd_drop_strands(tkd *d);
tkd_strand *tkd_strand_new(tkd *d, uint64_t index, bool main);
/* Makes a program current; begins it if it has not begun. */
void tkd_switch(tkd *d, uint64_t index);
bool tkd_is_done(tkd *d, uint64_t index);
/* NULL: it is not half done. */
tkd_strand *tkd_strand_of(const tkd *d, uint64_t index);
/* It waits for another program, and what it waits for is as it was. */
bool tkd_is_blocked(const tkd_strand *s);
void tkd_waits(void *ud, tki *t); /* of the driver */

/* ---- points.c: breakpoints --------------------------------------------- */

void tkd_points_resolve(tkd *d);
void tkd_sites_clear(tkd *d);
bool tkd_points_hit(tkd *d, const tk_stmt *st); /* may stop */
tkd_point *tkd_point_new(tkd *d, tkd_point_kind k, const char *where,
                         const char *cond, const char *format);
tkd_point *tkd_point_numbered(tkd *d, int number);
void tkd_point_free(tkd *d, tkd_point *p);
void tkd_point_drop(tkd *d, tkd_point *p);
/* Where a statement is, or would be, in the table. */
static inline size_t tkd_site_at(const tkd *d, const tk_stmt *st) {
  return (size_t)(((uintptr_t)st >> 4) * 0x9E3779B97F4A7C15u >> 20) &
         (d->cap_sites - 1);
}
static inline bool tkd_is_site(const tkd *d, const tk_stmt *st) {
  if (!d->nsites) return false;
  size_t i = tkd_site_at(d, st);
  while (d->sites[i].stmt && d->sites[i].stmt != st)
    i = (i + 1) & (d->cap_sites - 1);
  return d->sites[i].stmt == st;
}
void tkd_drop_temp(tkd *d);
/* A location as it is kept, once it is known to be a place of this launch, and
 * the file that a LINE is of (or NULL).  Fails. */
const char *tkd_location(tkd *d, const char *text, const char **file);
int tkd_line_at(tkd *d, const char *text);
/* False after saying why its condition can be had at none of the statements
 * where it stands. */
bool tkd_condition_fits(tkd *d, const tkd_point *p);
/* The statement of the function at or behind a line; NULL: none. */
const tk_stmt *tkd_stmt_at(const tk_func *f, int line);
int tkd_last_line(const tk_func *f);

/* An expression in a frame, to be freed by tki_eval_free; NULL, with reports,
 * if that is none there. */
tki_eval *tkd_compile(tkd *d, const tki_frame *f, const char *text);
/* Reports and throws unless it has one value that the program computes; what:
 * the rest of the sentence, "not one block". */
void tkd_need_one(tkd *d, const tki_eval *x, const char *text,
                  const char *what);
/* That a point's condition cannot be had, and what was reported about it after
 * the first `before`. */
void tkd_say_bad_condition(tkd *d, const tkd_point *p, size_t before);
/* The condition of a point is true on the frame: a lane is not zero. */
bool tkd_holds(tkd *d, const tkd_point *p, const tki_eval *x,
               const tki_frame *f);

/* ---- watch.c ----------------------------------------------------------- */

/* True: one was a reason to stop. */
bool tkd_watches_look(tkd *d, const tk_stmt *st, bool ends);
void tkd_watches_access(tkd *d, const tki_access *a);
void tkd_watches_forget(tkd *d);
/* A look into the past begins, from a stop of theirs or not. */
void tkd_watches_back(tkd *d, bool stopped);
void tkd_watches_refresh(tkd *d);
void tkd_watches_begin(tkd *d); /* of a launch */
/* Says what is wrong and gives false when the point cannot be watched. */
bool tkd_watch_begin(tkd *d, tkd_point *p);
/* By element of a tensor in memory, whether it was never written (b: the
 * tensor, as it lies in memory now); NULL: all were.  Temporary. */
typedef bool (*tkd_unwritten_fn)(const tki *t, const tki_region *r,
                                 const void *host, size_t n);
const uint8_t *tkd_unwritten(tkd *d, const tki_region *r, const tkd_block *b,
                             tkd_unwritten_fn is_unwritten);
void tkd_watch_free(tkd *d, tkd_watch *w);
/* Says what those that were hit at the event saw, after going back to it. */
void tkd_watches_tell(tkd *d, uint64_t event);
/* False after saying what is wrong with a condition of a watchpoint. */
bool tkd_watch_condition_fits(tkd *d, const char *cond);
/* The tensor that a name stands for in the selected frame; NULL: none. */
const tki_region *tkd_region(tkd *d, const char *text, size_t n);
/* An integer expression of n characters.  Fails. */
int64_t tkd_index(tkd *d, const char *text, size_t n);

/* ---- part.c ------------------------------------------------------------ */

/* Where "[I, J]" of it is; "" is its start.  Fails. */
char *tkd_element(tkd *d, const tki_region *r, const char *index,
                  int *rank_left);
/* The lane that "[I, J]" of a block is; "" is that of a scalar.  Fails. */
size_t tkd_lane(tkd *d, const char *name, const tk_type *type,
                const char *index);
/* What "[I, A:B:C]" or "" of it is.  Fails. */
tkd_part tkd_part_of(tkd *d, const tki_region *r, const char *index);
/* False: the tensor has no such part, or one of 2^31 elements or more. */
bool tkd_view_of(const tk_tensor *x, const tkd_part *part, tkd_view *v);
const char *tkd_view_lane(const tkd_view *v, size_t lane);
bool tkd_view_is_dense(const tkd_view *v); /* and in row-major order */

/* ---- cmd_*.c: what commands share --------------------------------------- */

void tkd_point_text(tkd *d, const tkd_point *p);
/* 1: the line begins lines up to an 'end' of its own; -1: it is one; or 0. */
int tkd_body_depth(const char *line);
char *tkd_read_body(tkd *d); /* lines up to 'end'; temporary */
/* The program that "X,Y,Z" names.  Fails. */
uint64_t tkd_program_index(tkd *d, const char *text);
const char *tkd_info_topic(size_t i);
/* Says which detectors that are on do nothing under the debugger. */
void tkd_say_asleep(tkd *d);
/* Puts a value into a slot; what watches it, and undoing, are the caller's. */
void tkd_put_slot(tkd *d, tki_frame *f, int slot, const char *bytes, size_t n);
/* The same for memory, which can be undone. */
void tkd_poke(tkd *d, char *host, const char *bytes, size_t n);
/* Runs the commands of a file now, before any launch. */
void tkd_source_now(tkd *d, const char *path);
/* Whether 'set safe-path' lets files of a folder be read. */
bool tkd_is_safe(const tkd *d, const char *folder);

/* ---- settings.c: setting.def -------------------------------------------- */

const char *tkd_setting_name(size_t i); /* NULL: there are no more */
/* Carries out "NAME VALUE"; false: no setting is called that. */
bool tkd_set_setting(tkd *d, const char *text);
void tkd_info_settings(tkd *d);
/* All of them with their values, in one line; temporary. */
const char *tkd_settings_usage(tkd *d);
void tkd_help_settings(tkd *d);

/* ---- complete.c --------------------------------------------------------- */

/* Where a word that is completed begins: behind one of these. */
extern const char tkd_word_breaks[];

/* ---- journal.c --------------------------------------------------------- */

struct tkd_journal *tkd_journal_new(tk_env *e);
void tkd_journal_free(struct tkd_journal *j);
void tkd_journal_clear(struct tkd_journal *j);
void tkd_journal_add(struct tkd_journal *j, char *host, size_t n);
uint64_t tkd_journal_at(const struct tkd_journal *j);
uint64_t tkd_journal_first(const struct tkd_journal *j);
void tkd_journal_undo(struct tkd_journal *j, uint64_t to);
/* As undo, but the journal stays as it is; undo gets what was there. */
void tkd_journal_rewind(const struct tkd_journal *j, uint64_t to,
                        struct tkd_journal *undo);
void tkd_journal_trim(struct tkd_journal *j, uint64_t bytes);
/* Before a write: what was there since tkd_journal_mark was called last is
 * recorded once, however often it is written. */
void tkd_journal_access(struct tkd_journal *j, const tki_access *a);
void tkd_journal_mark(struct tkd_journal *j);

/* ---- history.c --------------------------------------------------------- */

void tkd_begin_base(tkd *d, uint64_t index);
void tkd_goto(tkd *d, uint64_t event, uint64_t sub);
void tkd_go_back(tkd *d, tkd_back how);
/* The same point in time, with those who watch now; fails when the launch's
 * beginning cannot be had. */
void tkd_watch_again(tkd *d);
void tkd_rewind(tkd *d);    /* to before the launch's first statement */
void tkd_redo(tkd *d);      /* deeds of the point just reached */
void tkd_redo_late(tkd *d); /* the next one, after a deadlock */
/* The bytes are copied. */
tkd_deed *tkd_deed_new(tkd *d, tkd_deed_kind k, const char *bytes, size_t n);
void tkd_history_clear(tkd *d);

void tkd_need_history(tkd *d); /* fails unless something is recorded */

/* ---- away.c: programs run aside ---------------------------------------- */

/* Where a program stands: its calls, innermost first, each at a statement in
 * trips of its loops, innermost first. */
enum { TKD_LOOPS = 16 };
typedef struct tkd_stand {
  const tk_func *func;
  const tk_stmt *stmt;
  uint64_t trips[TKD_LOOPS];
  int loops;
} tkd_stand;

typedef struct tkd_place {
  tkd_stand stands[TKD_LEVELS];
  int n;
} tkd_place;

tkd_place tkd_place_of(const tki_frame *f);
bool tkd_is_there(const tkd_place *p, const tki_frame *f);
/* The innermost call that is in a loop; NULL: none is. */
tkd_stand *tkd_innermost_loop(tkd_place *p);

#define TKD_ALL_PROGRAMS UINT64_MAX

typedef struct tkd_away {
  tki_observer *observer; /* of the programs; may throw TK_INTERRUPTED */
  uint64_t program;       /* those from it on, or before it; or all */
  uint64_t from;          /* out: place in the order of the first that ran */
  tk_status status;       /* out */
  bool full;              /* out: ended for the bound of the history */
  char why[40];           /* out: the finding that ended it */
} tkd_away;
/* Runs programs as if the user had changed nothing, from a point where memory
 * is known; afterwards everything is as it was.  Fails without a history. */
void tkd_run_away(tkd *d, tkd_away *x);
void tkd_say_left_out(tkd *d,
                      const tkd_away *x); /* programs that did not run */
/* Says so if the user changed something: programs that ran aside know nothing
 * of it. */
bool tkd_changed_by_hand(const tkd *d);
void tkd_say_untouched(tkd *d);
/* Calls fn while memory is as it was before the first program that is known;
 * gives its place in the order. */
uint64_t tkd_with_first_memory(tkd *d, void (*fn)(void *ud), void *ud);

/* ---- show.c: how things are said --------------------------------------- */

void tkd_show_stop(tkd *d);
void tkd_tell_output(tkd *d, const char *text, size_t n); /* a program's */
void tkd_show_frame(tkd *d, const tki_frame *f, int level);
void tkd_show_lines(tkd *d, const tk_source *src, int from, int to, int at);
/* undefined: its lanes that are (check/undefined.h), or NULL. */
void tkd_show_value(tkd *d, const char *name, const char *fmt,
                    const tk_type *type, tki_val *v, tki_val *undefined);
void tkd_show_bytes(tkd *d, const char *name, const tk_type *type,
                    const void *data, const uint8_t *undefined);
/* A lane as print shows it. */
void tkd_put_lane(tkd *d, const tk_type *type, const void *lane);
void tkd_print_format(tkd *d, const char *format);
void tkd_show_expr(tkd *d, const char *fmt, const char *text);
void tkd_show_slot(tkd *d, const tki_frame *f, const char *name);
/* Keeps what the function that ends returns, for finish to show. */
void tkd_keep_result(tkd *d, tki_frame *f);
void tkd_display_all(tkd *d);
void tkd_put_pid(tk_buf *b, const int64_t pid[3], const int64_t grid[3]);
int tkd_width(const tkd *d);

#endif
