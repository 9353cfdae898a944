/* cli.h - what the files of the command line share.
 *
 * The command uses the public API alone.  Each command is a function that
 * takes its parsed arguments and returns the exit
 * code. */
#ifndef TK_CLI_H
#define TK_CLI_H

#include <stdio.h>

#include "tkdbg/tkdbg.h"

#define CLI_INTERRUPTED 130 /* exit code after Ctrl-C */
#define CLI_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* What must hold: of our tables and our own calls, never of what users type.
 * The command uses nothing of the library but its API, hence the macro of its
 * own; like the library's it is checked in the builds that tests use. */
#ifdef TK_ASSERTS
void cli_assert_failed(const char *file, int line, const char *condition)
    __attribute__((noreturn));
#define CLI_ASSERT(condition)                                                  \
  ((condition) ? (void)0 : cli_assert_failed(__FILE__, __LINE__, #condition))
#else
#define CLI_ASSERT(condition) ((void)(1 || (condition)))
#endif

typedef enum cli_command_id {
#define COMMAND(id, name, fn, operands, summary, text) CLI_##id,
#include "command.def"
#undef COMMAND
  CLI_COMMANDS,
} cli_command_id;

/* Sets of commands, as the tables write them. */
#define IN_GDBSERVER (1u << CLI_GDBSERVER)
#define IN_DAP (1u << CLI_DAP)
#define IN_TERMINAL (1u << CLI_RUN | 1u << CLI_DEBUG)
#define IN_PROFILE (1u << CLI_PROFILE)
#define IN_WHY (1u << CLI_WHY)
#define IN_VIEW (1u << CLI_VIEW)
#define IN_RUN                                                                 \
  (IN_TERMINAL | IN_GDBSERVER | 1u << CLI_GDB | IN_DAP | IN_WHY | IN_PROFILE | \
   IN_DIFF | IN_VIEW)
#define IN_DIFF (1u << CLI_DIFF)
#define IN_DEBUG (1u << CLI_DEBUG)
#define IN_REPLAY (1u << CLI_REPLAY)
#define IN_REPORT (1u << CLI_REPORT)
#define IN_MERGE (1u << CLI_MERGE)
#define IN_COMPILE (1u << CLI_COMPILE)
#define IN_PROVE (1u << CLI_PROVE)
#define IN_IR (1u << CLI_IR | IN_COMPILE | IN_PROVE)
#define IN_SCRIPT (IN_RUN | IN_IR)
#define IN_KERNELS (1u << CLI_KERNELS)
#define IN_DOCTOR (1u << CLI_DOCTOR)
#define IN_FUZZ (1u << CLI_FUZZ)
#define IN_BISECT (1u << CLI_BISECT)
#define IN_PUZZLES (1u << CLI_PUZZLES)
#define IN_HELP (1u << CLI_HELP)
#define IN_ALL (~0u)

typedef enum cli_option_id {
#define OPTION(id, name, letter, kind, arg, commands, mode, key, help) OPT_##id,
#include "tkdbg/option.def"
#undef OPTION
  CLI_OPTIONS,
} cli_option_id;

enum { /* cli_option.mode */
       CLI_ANY = 0,
       CLI_DIRECT = 1,  /* needs a direct launch or a replay */
       CLI_HOSTED = 2,  /* needs a script */
       CLI_FOLLOWS = 4, /* after FILE, what follows is ours */
       CLI_STATED = 8,  /* a launch file states it */
       CLI_RARE = 16,   /* unlikely to be an option of a script's own */
       CLI_SELECTS = CLI_FOLLOWS,
       CLI_NAMES = CLI_FOLLOWS | CLI_STATED,
       CLI_RARE_HOSTED = CLI_RARE | CLI_HOSTED,
       CLI_SELECTS_HOSTED = CLI_FOLLOWS | CLI_HOSTED,
       CLI_LAUNCHES = CLI_FOLLOWS | CLI_DIRECT | CLI_STATED
};

typedef struct cli_option {
  const char *name;
  char letter;
  tk_option_kind kind;
  const char *arg;
  unsigned commands; /* IN_RUN | ... */
  unsigned mode;
  const char *key; /* in TKDBG_OPTIONS; "!" negates; "" if not there */
  const char *help;
} cli_option;

typedef struct cli_args cli_args;

typedef struct cli_command {
  const char *name;
  const char *operands, *summary, *text;
} cli_command;

extern const cli_option cli_options[CLI_OPTIONS];
extern const cli_command cli_commands[CLI_COMMANDS];
int cli_find_command(const char *name); /* -1 if unknown */

/* An option as given; value is NULL for a flag. */
typedef struct cli_use {
  cli_option_id id;
  const char *value;
} cli_use;

/* Everything points into argv but the two arrays, which cli_args owns. */
struct cli_args {
  cli_command_id command;
  cli_use *uses; /* in the order given */
  size_t nuses;
  bool given[CLI_OPTIONS];
  char **words; /* operands; of run: FILE, then the script's arguments */
  size_t nwords;
  /* for an editor's debugger, the address of its client; else NULL */
  const char *dap;
};

/* parse.c: false after saying on standard error what is wrong. */
bool cli_parse(cli_args *a, cli_command_id command, int argc, char **argv);

/* args.c: what has been parsed. */
/* Where view writes its page; the caller frees it. */
char *cli_page_path(const cli_args *a);
/* The option of a name; of two, the one that the command takes; -1 if none. */
int cli_find_option(const cli_args *a, const char *name);
bool cli_has(const cli_args *a, cli_option_id id);
const char *cli_value(const cli_args *a, cli_option_id id); /* or NULL */
/* All values of a LIST, a line each; the caller frees. */
char *cli_joined(const cli_args *a, cli_option_id id);
bool cli_is_direct(const cli_args *a);
bool cli_is_ptx(const cli_args *a); /* run: FILE is a PTX file, by its name */
bool cli_takes_script(const cli_args *a); /* the command does */
/* Whether FILE is a script whose host code makes the launches. */
bool cli_is_script(const cli_args *a);
/* By its name or its first bytes. */
bool cli_is_launch_file(const char *path);
bool cli_is_check_help(const cli_args *a);  /* --check=help */
bool cli_colour(const cli_args *a, int fd); /* in text written there */
/* Whether what is to be run can be read, and there is a Python for a script;
 * says what is wrong. */
bool cli_can_launch(const cli_args *a);
/* What launches are compared with; NULL: nothing. */
const char *cli_against(const cli_args *a);
/* --rtol, --atol and --ulp. */
tk_status cli_bound(const cli_args *a, tk_bound *b);

/* fit.c: whether the options can take effect; says which one cannot. */
bool cli_options_fit(const cli_args *a);

/* say.c: messages, all on standard error. */
int cli_usage(const cli_args *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* returns TK_USAGE */
/* Empties standard output; the status, or another one after saying that what
 * was written there is lost. */
int cli_flush(int status);
/* Says that memory has run out, and ends with status 3. */
void cli_no_memory(void) __attribute__((noreturn));
/* Whether one FILE is named, and nothing else; reports if it is not. */
bool cli_one_file(const cli_args *a);
const char *cli_nearest(const char *name, const char *(*next)(size_t i));
char *cli_format(const char *fmt, ...)
    __attribute__((format(printf, 1, 2))); /* malloc'd; never NULL */
/* All that a file or a pipe still has, NULL if memory is out; the caller frees.
 * No file has nothing. */
char *cli_read_rest(FILE *f);
void cli_json_string(FILE *f, const char *s);

/* place.c: where our own files are; the caller frees. */
char *cli_python_dir(void);
char *cli_library_path(void);
char *cli_demo_script(void);
char *cli_own_path(void);   /* of the command that runs */
char *cli_gdb_helper(void); /* what gdb loads to print blocks well; NULL */

/* python.c: the Python that runs scripts, NULL after saying why there is
 * none; the caller frees. */
char *cli_find_python(const cli_args *a);
/* The same, without a word; *elsewhere: it is not the python3 on PATH, which
 * has neither NumPy nor PyTorch. */
char *cli_choose_python(const cli_args *a, bool *elsewhere);
int cli_run_script(const cli_args *a); /* does not return on success */

/* job.c: one launch, from the command line to its exit code. */
typedef struct cli_job {
  const cli_args *args;
  tk_session *session;
  tk_launch *launch;
  const char *name;  /* of the kernel */
  tk_function *form; /* of diff: what the launch is compared with, or NULL */
  struct cli_progress *progress;
  tk_debugger *debugger;
  struct tk_gdbserver *server; /* NULL: the debugger is not gdb */
  struct tk_dap *dap;          /* NULL: ... nor an editor's */
  bool waits;                  /* the debugger waits for breakpoint() */
  bool ran; /* it came to running, so that there is a summary */
  tk_summary summary;
  double fastest, total; /* seconds, with --repeat */
} cli_job;

/* Ctrl-C is answered by the debugger that is at work.  If there is none, it
 * ends what runs in the session, and the process soon after, if that does not;
 * a second one ends it at once.  A server, which has until then to disconnect
 * its client, is ended only by the second. */
void cli_catch_interrupt(tk_session *s, tk_debugger *d, bool serves);
/* Whether Ctrl-C was pressed, and no debugger answers it. */
bool cli_is_interrupted(void);
/* --check=help was given, and answered. */
bool cli_wants_check_list(const cli_args *a);
int cli_job_start(cli_job *j, const cli_args *a);
int cli_job_end(cli_job *j, int status); /* reports; returns the exit code */
/* Makes the launch: of a launch file, or as --kernel, --arg and --grid say. */
tk_status cli_job_open(cli_job *j);
tk_status cli_job_run(cli_job *j);
tk_status cli_job_merge(cli_job *j);  /* in place of both */
bool cli_can_write(const char *path); /* or make it; errno says why not */
tk_status cli_job_debug(cli_job *j);  /* to be run under the debugger */
tk_status cli_job_serve(cli_job *j);  /* ... under gdb */
tk_status cli_job_dap(cli_job *j);    /* ... under an editor's debugger */

/* progress.c: a bar on the terminal during long runs. */
typedef struct cli_progress cli_progress;
cli_progress *cli_progress_new(const char *name, bool wanted);
void cli_progress_free(cli_progress *p); /* clears the bar */
void cli_progress_tick(void *p, uint64_t done, uint64_t total);
void cli_progress_clear(cli_progress *p);
/* The same of many runs: seconds of the fastest, and of all. */
void cli_summary_of_many(const char *name, const char *runs, double fastest,
                         double average);
void cli_summary(const char *name, tk_status st, const tk_summary *s);

/* The commands. */
int cli_run(const cli_args *a);
int cli_merge(const cli_args *a);
int cli_profile(const cli_args *a);
int cli_view(const cli_args *a);
int cli_debug(const cli_args *a);
int cli_gdbserver(const cli_args *a);
int cli_gdb(const cli_args *a);
int cli_dap(const cli_args *a);
int cli_run_launch(const cli_args *a);
int cli_ir(const cli_args *a);
int cli_compile(const cli_args *a);
int cli_prove(const cli_args *a);
int cli_cache(const cli_args *a);
int cli_layout(const cli_args *a);
int cli_kernels(const cli_args *a);
int cli_doctor(const cli_args *a);
int cli_report(const cli_args *a);
int cli_fuzz(const cli_args *a);
int cli_bisect(const cli_args *a);
int cli_puzzles(const cli_args *a);
int cli_demo(const cli_args *a);
int cli_help(const cli_args *a);
int cli_version(const cli_args *a);
int cli_help_command(cli_command_id id); /* on standard output */
void cli_help_overview(FILE *f);
void cli_help_first(FILE *f); /* what to type next */
void cli_man(FILE *f);
/* For a shell that option.def names. */
void cli_completion(FILE *f, const char *shell);

#endif
