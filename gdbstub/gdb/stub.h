/* stub.h - what the files of the gdb stub share: the server, and what it
 * knows of its client and of the stop.
 *
 * packets.c answers packets by the table packet.def, of which reply.c takes
 * them apart; each group of them has a file: inspect.c (registers, memory,
 * threads), points.c (breakpoints and watchpoints), resume.c (going on),
 * transfer.c (files that the client reads), lldb.c (what it alone asks),
 * monitor.c (commands of ours). stop.c tells the client of stops; life.c holds
 * the states (life.def); server.c is the front end of the
 * engine. */
#ifndef GDBSTUB_GDB_STUB_H
#define GDBSTUB_GDB_STUB_H

#include "gdbstub/gdb/again.h"
#include "gdbstub/wire/files.h"
#include "gdbstub/gdb/image.h"
#include "gdbstub/wire/listen.h"
#include "gdbstub/wire/watch.h"
#include "gdbstub/gdb/wire.h"
#include "tkdbg/debugger.h"
#include "tkdbg/gdbserver.h"

struct tk_session;

/* The folder in which clients see the files of symbols. */
#define GS_FOLDER "/tkdbg/"

enum {
  GS_LISTED = 256, /* programs that are threads at one time */
  GS_NAME = 80,    /* the longest name of a thread, in bytes */
  GS_HITS = 64,    /* watchpoints that one stop is for, at most */
};

/* A breakpoint or watchpoint that the client has set. */
typedef struct gs_point {
  struct gs_point *next;
  int type; /* the packet's number: 0 and 1 for code, 2 to 4 for data */
  uint64_t address, size;
  /* the engine's number; 0: nothing ever runs at this address */
  int number;
  tk_buf conditions; /* conditions as bytecode, each after its length */
} gs_point;

/* A watchpoint that was hit. It is described as the client has set it, because
 * clients remove their points while the launch is stopped. */
typedef struct gs_hit {
  int type;
  uint64_t address, size;
  uint64_t at; /* of the first lane that has changed */
} gs_hit;

/* Which call of a statement a frame is; call 0: none. */
typedef struct gs_call {
  size_t depth, statement, call;
} gs_call;

/* Where a program is, as the client sees it. */
typedef struct gs_place {
  uint64_t pc, rbp, rsp;
  size_t depth; /* depth of the innermost call that is shown */
  /* how many calls inside it are about to return, and are not shown */
  size_t hidden;
  const gs_function *function; /* NULL: it has left the kernel */
} gs_place;

/* What a function has returned, as registers and memory. */
typedef struct gs_result {
  uint64_t program; /* or TK_DEBUG_NO_PROGRAM */
  uint64_t integers[2], floats[4][2];
  tk_buf block; /* in memory, if it did not fit */
} gs_result;

/* What the run is for the client: life.def. */
typedef enum gs_life {
#define LIFE(id, stands, doc) GS_##id,
#include "gdbstub/gdb/life.def"
  GS_LIFE_STATES
} gs_life;

/* What the client has said of itself. */
typedef struct gs_client {
  bool swbreak;  /* it has said that it knows this reason for a stop */
  bool lldb;     /* it is lldb */
  bool extended; /* it may run the launch again that it has killed */
} gs_client;

/* The file of symbols of the form that runs. */
typedef struct gs_file {
  char path[200];
  int made;       /* files so far */
  bool is_new;    /* the client has not read it yet */
  uint64_t known; /* sum of the one that it had before; 0: of none */
  tk_buf copy;    /* of the user's, that gets it too; empty: there is none */
} gs_file;

/* What the kernel got, by the form's numbers. */
typedef struct gs_arguments {
  const void **lanes; /* NULL: not kept yet */
  tk_arena arena;
  uint64_t launch;
} gs_arguments;

typedef enum gs_shown {
#define SHOWN(id, doc) GS_##id,
#include "gdbstub/gdb/life.def"
} gs_shown;

/* What holds for one stop; with the next one it begins as zeros. */
typedef struct gs_halt {
  bool listed;  /* the programs are filled in */
  bool no_past; /* going back was refused: there is no history */
  /* the user has asked to stop here, even if the client has new symbols */
  bool holds;
  gs_shown shown;
  size_t call; /* CALL_BEGINS, CALL_ENDS: the first of the two */
  /* the client has set the program counter to the statement jump_to */
  bool jumps;
  size_t jump_to;
} gs_halt;

/* How the launch last went on. */
typedef struct gs_going {
  tk_resume how;
  /* a switch or jump comes first, at which the client is not to stop */
  bool chained;
  uint64_t launch; /* the launch to go to instead; 0: none */
  uint64_t left;   /* the address that the program went on from */
  gs_call stepped; /* the call that a step began in */
  int step_exit;   /* point that ends a step out of the kernel; 0: none */
} gs_going;

typedef struct gs_stub {
  tk_env *env;
  struct tk_session *session;
  tk_debug *d;
  tk_debugger *commands;     /* of `monitor` */
  const gs_machine *machine; /* that launches look like */
  tk_arena arena;            /* as long as the server */
  const char *folder;        /* that names of files count from */
  bool once, multi, script;  /* as tk_gdbserver_options has them */
  bool borrows;              /* the engine is another front end's */

  gw_listener listener;
  gs_wire wire;
  gw_watch watch; /* while the launch runs */
  bool restarts;  /* a client may begin the run again ... */
  gs_again again;
  gs_client client;

  gs_life life;
  int code;              /* ENDED: the exit status */
  volatile bool alarmed; /* the client has something to say while it runs */
  bool silent;           /* the packet gets no reply, or has got it already */

  const tk_debug_stop *stop; /* NULL: it runs */
  gs_halt halt;
  gs_going going;
  uint64_t here;   /* the program that has stopped, or NO_PROGRAM */
  uint64_t thread; /* the program that packets are about */
  uint64_t wanted; /* ... that is listed wherever it is; or NO_PROGRAM */
  tk_debug_program programs[GS_LISTED];
  size_t nprograms;
  gs_hit hits[GS_HITS]; /* that the client has not been told of yet */
  size_t nhits;

  gs_point *points;
  gs_image *image;
  gs_file symbols;
  gs_arguments arguments;
  gs_result result;
  tk_buf reply, text;
  tk_arena scratch; /* until the reply is sent */
} gs_stub;

/* ---- life.c ------------------------------------------------------------- */

/* Changes the state; life.def must allow the change. */
void gs_live_on(gs_stub *g, gs_life to);
/* Another front end has lent its launch, and gets it back when the client
 * leaves. */
bool gs_is_lent(const gs_stub *g);
/* The launches go on until a client connects. */
bool gs_is_let_go(const gs_stub *g);
/* A packet has said how to go on. */
bool gs_goes_on(const gs_stub *g);
/* Whether there is a process for the client. */
bool gs_has_process(const gs_stub *g);

/* ---- packets.c ---------------------------------------------------------- */

/* Answers packets until one says how to go on or the connection is closed; with
 * timeout 0, only those that have arrived. */
void gs_serve(gs_stub *g, int timeout);

/* ---- monitor.c ---------------------------------------------------------- */

/* The terminal of `monitor` commands: what they print goes to g->text, and
 * there is nothing to read. */
void gs_keep_text(void *ud, const char *text, size_t n);
const char *gs_read_no_command(void *ud, const char *prompt);

/* ---- reply.c ------------------------------------------------------------ */

/* Appends bytes to g->reply, as hex digits. */
void gs_reply_hex(gs_stub *g, const void *bytes, size_t n);
void gs_reply_error(gs_stub *g);
/* Text for the client's console; only while it waits for a stop reply, or
 * for the answer to a command. */
void gs_console(gs_stub *g, const char *text, size_t n);
/* Reads a number in hex digits and moves past it; false: there is none. */
bool gs_take_hex(const char **s, uint64_t *value);
bool gs_take(const char **s, const char *word);
/* Bytes from hex digits; how many there were. */
size_t gs_take_bytes(const char **s, void *bytes, size_t most);
/* The same of any number of bytes; they are added to the buffer. */
void gs_take_text(const char **s, tk_buf *out);

/* ---- inspect.c ---------------------------------------------------------- */

/* Whether a program is among those listed. */
bool gs_is_thread(const gs_stub *g, uint64_t program);
/* The listed program that a thread number of the protocol means; false. */
bool gs_take_thread(gs_stub *g, const char **s, uint64_t *program);
void gs_put_thread(gs_stub *g, uint64_t program);
/* The listed programs, filled in when first asked for at a stop. */
void gs_list_programs(gs_stub *g);
void gs_list_program(gs_stub *g, uint64_t program);
void gs_name_program(const tk_debug_program *p, char name[GS_NAME]);
gs_place gs_place_of(gs_stub *g, uint64_t program);
/* The call that the frame of a depth is, in the program that has stopped. */
gs_call gs_call_at(gs_stub *g, size_t depth);
/* How many bytes could be read from an address on, up to n. */
size_t gs_read_memory(gs_stub *g, uint64_t address, void *bytes, size_t n);
/* The value and the call that an address of a frame belongs to; NULL: none. */
const gs_slot *gs_slot_at(gs_stub *g, uint64_t address, uint64_t *program,
                          size_t *level, uint64_t *offset);
/* The name of an expression for it. */
const char *gs_slot_expression(gs_stub *g, const gs_slot *s);
/* Keeps what the kernel got: programs that have not begun will get it too. */
void gs_keep_arguments(gs_stub *g);
/* Keeps what a function has returned for whoever asks. */
void gs_keep_result(gs_stub *g);

/* ---- points.c ----------------------------------------------------------- */

/* Whether a point's conditions hold, of those that the client has sent. */
bool gs_point_holds(gs_stub *g, int number);
gs_point *gs_point_numbered(const gs_stub *g, int number);
bool gs_has_watchpoint(const gs_stub *g, const gs_hit *like);
/* Whether the client has a breakpoint there. */
bool gs_has_breakpoint(const gs_stub *g, uint64_t address);
/* ... whose conditions hold. */
bool gs_hits_breakpoint(gs_stub *g, uint64_t address);
void gs_forget_points(gs_stub *g);

/* ---- resume.c ----------------------------------------------------------- */

void gs_end_launch(gs_stub *g);
/* The launches go on as ALONE or APART; forever: no client can come any
 * more. */
void gs_go_on_alone(gs_stub *g, gs_life as, bool forever);

/* ---- stop.c ------------------------------------------------------------- */

/* Sends the stop reply, after what the user must know. */
void gs_tell_stop(gs_stub *g);
void gs_put_stop(gs_stub *g); /* the reply alone, again */
int gs_signal_of(const tk_debug_stop *s);
/* Keeps the client's watchpoints that the stop is for; whether a value has
 * changed. */
bool gs_keep_hits(gs_stub *g);
/* The watchpoint that the reply is about; NULL if none was hit. */
const gs_hit *gs_watchpoint_hit(const gs_stub *g);
/* Drops the watchpoint that the client has been told of; returns whether there
 * are others to tell it of before the launch goes on. */
bool gs_has_next_hit(gs_stub *g);

/* ---- the table ---------------------------------------------------------- */

/* A handler gets what follows the packet's name and fills in g->reply. */
#define PACKET(name, fn, doc) void fn(gs_stub *g, const char *rest);
#define STANDING PACKET
#include "gdbstub/gdb/packet.def"
#undef PACKET
#undef STANDING

/* ... what follows the command's name, and prints to g->text. */
#define MONITOR(name, args, fn, doc) void fn(gs_stub *g, const char *rest);
#include "gdbstub/gdb/monitor.def"
#undef MONITOR

#endif
