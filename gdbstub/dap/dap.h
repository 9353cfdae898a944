/* dap.h - what the files of the Debug Adapter Protocol's server share: the
 * server, and what it knows of its client and of the stop.
 *
 * A message comes in by wire.c; dispatch.c finds its row of
 * request.def and calls dap_on_ID; what that returns goes out as the
 * response.  Each group of requests has a file: session.c (beginning and
 * end), points.c (breakpoints), stack.c (programs, calls, sources),
 * variables.c (scopes, variables, expressions), memory.c, move.c
 * (going on).  value.c says values, stop.c tells of stops, state.c holds the
 * states (state.def), server.c is the front end of the
 * engine. */
#ifndef GDBSTUB_DAP_DAP_H
#define GDBSTUB_DAP_DAP_H

#include "base/format.h"
#include "gdbstub/dap/output.h"
#include "gdbstub/dap/wire.h"
#include "gdbstub/wire/files.h"
#include "gdbstub/wire/listen.h"
#include "gdbstub/wire/watch.h"
#include "launch/session.h"
#include "tkdbg/dap.h"
#include "tkdbg/debugger.h"

enum { DAP_THREADS = 256 }; /* programs that are shown as threads at one time */

/* The filter for failures of the host, beside those of detectors. */
#define DAP_HOST "host"

typedef struct tk_dap dap;

/* ---- what numbers of the client stand for, until the launch goes on ----- */

typedef struct dap_frame {
  uint64_t program;
  size_t level;
} dap_frame;

typedef enum dap_node_kind {
  DAP_RETURNED,
  DAP_LOCALS,
  DAP_ARGUMENTS,
  DAP_CONSTANTS,
  DAP_TENSORS,
  DAP_PROGRAM,
  DAP_PARTS, /* of a tuple */
  DAP_LANES, /* of a block or tensor, or of one of its rows */
} dap_node_kind;

/* What a variablesReference stands for: things that have names and values. */
typedef struct dap_node {
  dap_node_kind kind;
  dap_frame frame;
  const tk_debug_value *values; /* PARTS; RETURNED */
  size_t nvalues;
  tk_array_view lanes; /* LANES: what is left of them below `index` */
  /* LANES, PARTS: the name of the whole variable or tensor */
  const char *name;
  /* LANES: indices along the first axes, such as "3, 5", or "" */
  const char *index;
  uint64_t address;    /* ... of a tensor's first lane here; 0: it is not one */
  int64_t first;       /* ... of a block: the first lane, counted in all */
  int64_t from, count; /* ... items that it shows; count 0: all */
  const tk_debug_value *whole; /* ... of a block */
} dap_node;

/* ---- points ------------------------------------------------------------- */

typedef enum dap_point_group {
  DAP_AT_LINE,
  DAP_AT_FUNCTION,
  DAP_AT_DATA,
} dap_point_group;

/* A breakpoint that the client has set; the server owns its strings. */
typedef struct dap_point {
  struct dap_point *next;
  dap_point_group group;
  char *file;  /* AT_LINE: of which source, as the client calls it */
  char *where; /* as tk_point_spec has it */
  char *condition, *hit, *log;
  bool reads, writes;
  int number;    /* the engine's number; 0: the engine could not set it */
  char *fault;   /* ... because of this */
  uint64_t seen; /* how often it was come to */
  bool is_known; /* the client knows that it has a place, at ... */
  int line;
  bool is_wanted; /* by the request that is carried out */
} dap_point;

/* ---- states ------------------------------------------------------------- */

/* What the editor has asked for, and what the run does: state.def. */
typedef enum dap_talk {
#define TALK(id, takes, why, doc) DAP_##id,
#include "gdbstub/dap/state.def"
  DAP_TALKS
} dap_talk;

typedef enum dap_run {
#define RUN(id, takes, doc) DAP_##id,
#include "gdbstub/dap/state.def"
  DAP_RUN_STATES
} dap_run;

/* When requests can be answered, as bits: the column `when` of request.def. */
enum { DAP_ANY = 1, DAP_ONCE = 2, DAP_WORKS = 4, DAP_STANDING = 8 };

/* ---- the server --------------------------------------------------------- */

/* What the client can do. */
typedef struct dap_client {
  bool lines_at_0, columns_at_0, pages, progress, invalidates;
} dap_client;

/* What the launch is described by: words of a command line, and more. */
typedef struct dap_launch {
  json_t *request; /* that is not answered yet; NULL */
  /* the client did not start the launch, so disconnecting need not end it */
  bool attached;
  bool stop_on_entry;
  bool script; /* a script, which launches one kernel after another */
  TK_VEC(const char *) words;
  const char *folder;
  json_t *environment;
} dap_launch;

/* Messages that have arrived, and wait. */
typedef struct dap_inbox {
  json_t *queue;
  size_t answered; /* that do not wait any more */
  /* requests that were answered before this process took the connection over */
  size_t known;
} dap_inbox;

/* The answer to the request that is being carried out. */
typedef struct dap_reply {
  json_t *request;   /* NULL: none is */
  const char *fault; /* why it fails; NULL: it does not */
  bool is_deferred;  /* it is answered later */
  const char *page;  /* the address of one that was written; NULL: none was */
} dap_reply;

/* How the launch goes on.  A step in another program than the one that has
 * stopped takes two moves: first the switch to that program, then the step. */
typedef struct dap_going {
  tk_resume first; /* the last thing that the engine was asked for */
  tk_resume how;   /* what the client has asked for */
  bool pauses;     /* it has also asked for a stop */
} dap_going;

/* The progress that the client is shown of a launch that takes long. */
typedef struct dap_progress {
  int ticks; /* since it went on */
  int shown; /* the progress that the client is told of; 0: none */
  int made;  /* so far */
} dap_progress;

/* The findings and failures at which the launch stops. */
typedef struct dap_catching {
  char *names; /* names of detectors, with a blank between them; NULL: none */
  int point;   /* the engine's number; 0 */
  bool later;  /* these detectors are turned on when the launch stops next */
} dap_catching;

struct tk_dap {
  tk_env *env;
  tk_watcher watcher;
  tk_session *session;
  tk_debug *d; /* NULL until it is known what to launch */
  tk_debug_front front;
  tk_debugger *commands;
  void (*say)(void *ud, const char *line);
  void *ud;
  gw_listener listener;
  dap_wire wire;
  gw_watch watch; /* while the launch runs */
  dap_output output;
  dap_client client;
  dap_launch launch;
  tk_arena life;      /* as long as the server */
  const char *folder; /* the folder that relative file names start from */
  char handed[64];

  dap_inbox inbox;
  dap_reply reply;
  tk_arena scratch; /* of the request that is carried out */
  tk_buf text;      /* that command lines have printed */

  const tk_debug_stop *stop; /* NULL: no program is stopped */
  uint64_t here;             /* the program that has stopped */
  dap_talk talk;
  _Atomic(dap_run) run; /* other threads read it too */
  dap_going going;
  dap_progress progress;

  tk_arena handles; /* holds what follows, until the launch goes on */
  TK_VEC(dap_frame) frames;
  TK_VEC(dap_node) nodes;
  TK_VEC(size_t) targets; /* statements to go to */
  dap_point *points;
  dap_catching catches;
};

/* ---- state.c ------------------------------------------------------------ */

/* Changes the state; the table must allow the change. */
void dap_talk_on(dap *p, dap_talk to);
void dap_run_on(dap *p, dap_run to);
/* Launches run on without an editor. */
bool dap_is_let_go(const dap *p);
/* The run is to end. */
bool dap_ends(const dap *p);
void dap_end(dap *p);
/* The editor has asked for a run, by launch or attach. */
bool dap_has_asked(const dap *p);
/* Why a request of this kind (DAP_ANY, ...) cannot be answered now; NULL. */
const char *dap_untimely(const dap *p, int when);

/* ---- reply.c -------------------------------------------------------- */

/* The request that is answered fails: why; always NULL. */
json_t *dap_fail(dap *p, const char *fmt, ...) TK_PRINTF(2, 3);
/* Why the engine's last call failed, in the terms of an editor; with full,
 * source lines follow. The text lives as long as the request. */
const char *dap_engine_fault(dap *p, bool full);
/* ... fails for the same reason as the engine's last call. */
json_t *dap_fail_engine(dap *p);
json_t *dap_response(const json_t *request, json_t *body);
json_t *dap_refusal(const json_t *request, const char *why);
/* An argument of a request, whose type has been checked; `none` if it is
 * missing. */
const char *dap_string(const json_t *args, const char *name, const char *none);
json_int_t dap_integer(const json_t *args, const char *name, json_int_t none);
bool dap_is_true(const json_t *args, const char *name, bool none);
/* A C string as JSON; NULL becomes null. */
json_t *dap_string_of(const char *s);
/* Lines as the client counts them, and back. */
int dap_line_out(const dap *p, int line);
int dap_line_in(const dap *p, json_int_t line);
/* Prints text to the client's console. */
void dap_say(dap *p, const char *category, const char *text);

/* ---- dispatch.c ----------------------------------------------------- */

/* Puts the messages that have arrived into the queue, after waiting for one at
 * most `timeout` (as dap_wire_next does); returns false if the client is
 * gone. */
bool dap_take_in(dap *p, int timeout);
/* Answers the next message of the queue; returns false if there is none. */
bool dap_answer(dap *p);

/* ---- value.c -------------------------------------------------------- */

/* A value in a line: shape, type and a summary. */
json_t *dap_say_value(dap *p, const tk_debug_value *v);
/* Several values that are the parts of one. */
json_t *dap_say_parts(dap *p, const tk_debug_value *v, size_t n);
/* Lanes in one line; with full, their type comes first. */
json_t *dap_say_lanes(dap *p, const tk_array_view *v, bool full);
/* The name of a type: "fp32[16, 32]", "pointer<fp32>". */
const char *dap_type_name(dap *p, const tk_ir_type *t);
tk_array_view dap_view_of(const tk_debug_value *v);
/* The tensor that an address lies in; returns false if there is none. */
bool dap_region_of(dap *p, uint64_t address, tk_debug_region *r);
int64_t dap_lane_count(const tk_array_view *v);

/* ---- node.c --------------------------------------------------------- */

/* The number that the client gets for it. */
json_int_t dap_new_node(dap *p, const dap_node *n);
/* What a number stands for; NULL after reporting it as unknown. */
const dap_node *dap_node_of(dap *p, json_int_t reference);
json_int_t dap_frame_number(dap *p, uint64_t program, size_t level);
/* Selects the call; 0: the current one.  False after saying why not. */
bool dap_select_frame(dap *p, json_int_t frame);
/* A variable of the protocol: its value in text, and what is in it. */
json_t *dap_variable(dap *p, dap_frame at, const char *name,
                     const char *expression, const tk_debug_value *v, size_t n);
json_t *dap_tensor_variable(dap *p, const tk_debug_region *r);
/* The items of a block or tensor, from the start-th on. */
json_t *dap_items(dap *p, const dap_node *n, int64_t start, int64_t count);
/* "x[3, 5]": the expression for an item of a node, "[5]" by its name. */
const char *dap_item_expression(dap *p, const dap_node *n, const char *name);

/* ---- stack.c -------------------------------------------------------- */

json_t *dap_source_of(dap *p, const char *file);
/* The engine's name of the source that the client means; NULL. */
const char *dap_source_name(dap *p, const json_t *source);
/* The program that is a thread; NO_PROGRAM after reporting it as unknown. */
uint64_t dap_thread(dap *p, const json_t *args);

/* ---- points.c ------------------------------------------------------- */

dap_point *dap_point_numbered(dap *p, int number);
/* Whether a point counts as hit, by its hitCondition. */
bool dap_point_counts(dap *p, int number);
/* Tells the client which points have a place now. */
void dap_tell_points(dap *p);
void dap_forget_points(dap *p, bool all);
/* Turns on the detectors that the client's filters name; false: it cannot be
 * done, as the engine says. */
bool dap_choose_detectors(dap *p);
/* Whether the user wants to stop at findings of this kind. */
bool dap_catches(const dap *p, tk_finding_kind kind);
/* Tells the engine whether the user wants to stop on entry, and where the host
 * fails. */
void dap_stand(dap *p);

/* ---- stop.c --------------------------------------------------------- */

/* Tells the client where a program has stopped, and why. */
void dap_tell_stop(dap *p);
void dap_tell_findings(dap *p);

/* ---- launch.c ------------------------------------------------------- */

/* The words of a command line that a launch's arguments stand for; false
 * after saying what is wrong with them. */
bool dap_read_launch(dap *p, const json_t *args);

/* ---- the table ---------------------------------------------------------- */

/* Each returns the body of the response; NULL: it has none, or it fails. */
#define REQUEST(id, name, when, arguments, capability, doc)                    \
  json_t *dap_on_##id(dap *p, const json_t *args);
#include "gdbstub/dap/request.def"
#undef REQUEST

#endif
