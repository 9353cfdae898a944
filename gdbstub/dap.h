/* dap.h - what the files of the Debug Adapter Protocol's server share: the
 * server, and what it knows of its client and of the stop.
 *
 * A message comes in by dap_wire.c; dap_dispatch.c finds its row of
 * dap_request.def and calls dap_on_ID; what that returns goes out as the
 * response.  Each group of requests has a file: dap_session.c (beginning and
 * end), dap_points.c (breakpoints), dap_stack.c (programs, calls, sources),
 * dap_variables.c (scopes, variables, expressions), dap_memory.c, dap_move.c
 * (going on).  dap_value.c says values, dap_stop.c tells of stops,
 * dap_server.c is the front end of the engine.
 */
#ifndef GDBSTUB_DAP_H
#define GDBSTUB_DAP_H

#include "base/format.h"
#include "gdbstub/dap_output.h"
#include "gdbstub/dap_wire.h"
#include "gdbstub/files.h"
#include "gdbstub/listen.h"
#include "gdbstub/watch.h"
#include "launch/session.h"
#include "tkdbg/dap.h"
#include "tkdbg/debugger.h"

enum { DAP_THREADS = 256 }; /* programs that are threads at one time */

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
  const char *name;    /* ... of the whole: a variable or a tensor; PARTS */
  const char *index;   /* "3, 5" of the first axes; "" */
  uint64_t address;    /* ... of a tensor's first lane here; 0: it is none */
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

/* A breakpoint of the client's; its strings are the server's own. */
typedef struct dap_point {
  struct dap_point *next;
  dap_point_group group;
  char *file;  /* AT_LINE: of which source, as the client calls it */
  char *where; /* as tk_point_spec has it */
  char *condition, *hit, *log;
  bool reads, writes;
  int number;    /* the engine's; 0: it could not be set */
  char *fault;   /* ... because of this */
  uint64_t seen; /* how often it was come to */
  bool is_known; /* the client knows that it has a place, at ... */
  int line;
  bool is_wanted; /* by the request that is carried out */
} dap_point;

/* ---- the server --------------------------------------------------------- */

/* What the client can do. */
typedef struct dap_client {
  bool lines_at_0, columns_at_0, pages, progress, invalidates;
} dap_client;

/* What the launch is described by: words of a command line, and more. */
typedef struct dap_launch {
  json_t *request; /* that is not answered yet; NULL */
  bool asked;      /* there was one */
  bool attached;   /* the client did not ask for it: it may let go */
  bool stop_on_entry;
  bool configured;
  bool script; /* launches come one after the other */
  TK_VEC(const char *) words;
  const char *folder;
  json_t *environment;
} dap_launch;

/* Messages that have arrived, and wait. */
typedef struct dap_inbox {
  json_t *queue;
  size_t answered; /* that do not wait any more */
  size_t known;    /* that were answered before the connection was handed */
} dap_inbox;

/* The answer to the request that is carried out. */
typedef struct dap_reply {
  json_t *request;   /* NULL: none is */
  const char *fault; /* why it fails; NULL: it does not */
  bool is_deferred;  /* it is answered later */
} dap_reply;

/* How the launch goes on. */
typedef struct dap_going {
  tk_resume how; /* ... last */
  bool resumed;  /* a request has said it at this stop */
  bool has_then; /* `how` comes behind a switch to another program */
  bool pauses;   /* the client has asked for a stop */
  bool goes_to;  /* another statement, without running */
} dap_going;

/* What the client sees of a launch that takes long. */
typedef struct dap_progress {
  int ticks; /* since it went on */
  int shown; /* the progress that the client is told of; 0: none */
  int made;  /* so far */
} dap_progress;

/* Findings and failures that are to stop. */
typedef struct dap_catching {
  char *names; /* of detectors, between blanks; NULL: of none */
  int point;   /* the engine's number; 0 */
  bool later;  /* they are turned on when the launch has stopped */
} dap_catching;

struct tk_dap {
  tk_env *env;
  tk_watcher watcher;
  tk_session *session;
  tk_debug *d; /* NULL: it is not known yet what to launch */
  tk_debug_front front;
  tk_debugger *commands;
  void (*say)(void *ud, const char *line);
  void *ud;
  gs_listener listener;
  dap_wire wire;
  gs_watch watch; /* while the launch runs */
  dap_output output;
  dap_client client;
  dap_launch launch;
  tk_arena life;      /* as long as the server */
  const char *folder; /* that names of files count from */
  char handed[64];

  dap_inbox inbox;
  dap_reply reply;
  tk_arena scratch; /* of the request that is carried out */
  tk_buf text;      /* that command lines have printed */

  const tk_debug_stop *stop; /* NULL: no program is stopped */
  uint64_t here;             /* the program that has stopped */
  bool runs;                 /* a launch does, or is stopped */
  bool leaves;               /* the client wants the run to end */
  bool goes_now;             /* ... without asking the host program long */
  bool detached;             /* launches run on until somebody connects */
  _Atomic bool ended;        /* the run is over */
  dap_going going;
  dap_progress progress;

  tk_arena handles; /* of what follows, until the launch goes on */
  TK_VEC(dap_frame) frames;
  TK_VEC(dap_node) nodes;
  TK_VEC(size_t) targets; /* statements to go to */
  dap_point *points;
  dap_catching catches;
};

/* ---- dap_reply.c -------------------------------------------------------- */

/* The request that is answered fails: why; always NULL. */
json_t *dap_fail(dap *p, const char *fmt, ...) TK_PRINTF(2, 3);
/* ... as the engine's last call did. */
json_t *dap_fail_engine(dap *p);
json_t *dap_response(const json_t *request, json_t *body);
json_t *dap_refusal(const json_t *request, const char *why);
/* Of the arguments of a request, whose types are right; if it is missing, the
 * last one. */
const char *dap_string(const json_t *args, const char *name, const char *none);
json_int_t dap_integer(const json_t *args, const char *name, json_int_t none);
bool dap_is_true(const json_t *args, const char *name, bool none);
/* Text of C as JSON; NULL as null. */
json_t *dap_string_of(const char *s);
/* Lines as the client counts them, and back. */
int dap_line_out(const dap *p, int line);
int dap_line_in(const dap *p, json_int_t line);
/* Says something in the client's console. */
void dap_say(dap *p, const char *category, const char *text);

/* ---- dap_dispatch.c ----------------------------------------------------- */

/* Takes in what has arrived, waiting for so long (as dap_wire_next); false:
 * the client is gone. */
bool dap_take_in(dap *p, int timeout);
/* Answers the next message that waits; false: there is none. */
bool dap_answer(dap *p);

/* ---- dap_value.c -------------------------------------------------------- */

/* A value in a line: shape, type and a summary. */
json_t *dap_say_value(dap *p, const tk_debug_value *v);
/* Several, which are the parts of one. */
json_t *dap_say_parts(dap *p, const tk_debug_value *v, size_t n);
/* Lanes in a line; full: with their type. */
json_t *dap_say_lanes(dap *p, const tk_array_view *v, bool full);
/* "fp32[16, 32]", "pointer<fp32>" */
const char *dap_type_name(dap *p, const tk_ir_type *t);
tk_array_view dap_view_of(const tk_debug_value *v);
/* The tensor that an address lies in; false. */
bool dap_region_of(dap *p, uint64_t address, tk_debug_region *r);
int64_t dap_lane_count(const tk_array_view *v);

/* ---- dap_node.c --------------------------------------------------------- */

/* The number that the client gets for it. */
json_int_t dap_new_node(dap *p, const dap_node *n);
/* What a number stands for; NULL after saying that it is none. */
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

/* ---- dap_stack.c -------------------------------------------------------- */

json_t *dap_source_of(dap *p, const char *file);
/* The engine's name of the source that the client means; NULL. */
const char *dap_source_name(dap *p, const json_t *source);
/* The program that is a thread; NO_PROGRAM after saying that it is none. */
uint64_t dap_thread(dap *p, const json_t *args);

/* ---- dap_points.c ------------------------------------------------------- */

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

/* ---- dap_stop.c --------------------------------------------------------- */

/* Tells the client where a program has stopped, and why. */
void dap_tell_stop(dap *p);
void dap_tell_findings(dap *p);

/* ---- dap_launch.c ------------------------------------------------------- */

/* The words of a command line that a launch's arguments stand for; false
 * after saying what is wrong with them. */
bool dap_read_launch(dap *p, const json_t *args);

/* ---- the table ---------------------------------------------------------- */

/* Each returns the body of the response; NULL: it has none, or it fails. */
#define REQUEST(id, name, when, arguments, capability, doc)                    \
  json_t *dap_on_##id(dap *p, const json_t *args);
#include "gdbstub/dap_request.def"
#undef REQUEST

#endif
