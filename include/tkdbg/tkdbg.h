/* tkdbg.h - the public C API of tkdbg, a reference interpreter for block
 * programs (kernels written in the Triton language).
 *
 * One walk through: open a session, open a module (a source file), find a
 * function in it, describe a launch (grid and arguments), run it, read the
 * report.  The command line and the Python bridge use nothing else.
 *
 * Ownership: every object belongs to its session (a launch's own buffers to
 * the launch) and is freed with it; strings returned live until the next call
 * on the same object; text and arrays passed in are copied, tensor memory
 * passed in is borrowed until the launch is freed.
 *
 * Errors: functions return a tk_status; what went wrong is in the session's
 * report.  No function exits, prints (but for a console, below) or raises a
 * signal.  A session must be used by one thread at a time; tk_interrupt alone
 * may be called from a signal handler or another thread.
 */
#ifndef TKDBG_TKDBG_H
#define TKDBG_TKDBG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_VERSION "0.1.0"
#define TK_MAX_RANK 20

typedef struct tk_session tk_session;
typedef struct tk_module tk_module;
typedef struct tk_function tk_function;
typedef struct tk_launch tk_launch;

/* The first four are also the exit codes of the command. */
typedef enum tk_status {
  TK_OK = 0,          /* the call did what was asked */
  TK_FINDING = 1,     /* a fault in the user's kernel, compile or run time */
  TK_USAGE = 2,       /* bad input: file, argument, launch description */
  TK_INTERNAL = 3,    /* our fault, or out of memory */
  TK_INTERRUPTED = 4, /* tk_interrupt was called */
} tk_status;

/* ---- the library ------------------------------------------------------- */

/* TK_VERSION of the library that was loaded. */
const char *tk_version(void);

/* The options of the command (tkdbg/option.def).  A bridge that runs kernels
 * for a host program gets those with a key as a JSON object in TKDBG_OPTIONS;
 * it makes its settings from this list, so that an option is written down
 * once. */
typedef enum tk_option_kind {
  TK_OPTION_FLAG,     /* true; or false, see key */
  TK_OPTION_TEXT,     /* a string, as the next three */
  TK_OPTION_OPTIONAL, /* "all" if it was given without a value */
  TK_OPTION_FILE,
  TK_OPTION_WORD,   /* one of those in arg, of which the first is the default */
  TK_OPTION_NUMBER, /* at least 1 */
  TK_OPTION_LIST,   /* an array of strings */
} tk_option_kind;

typedef struct tk_option {
  const char *name; /* without its dashes */
  char letter;      /* its one-letter form, or 0 */
  tk_option_kind kind;
  const char *arg;  /* what its value is called, or the words: "a|b" */
  const char *key;  /* in TKDBG_OPTIONS; "!key": the flag makes key false;
                     * "" if host programs do not get the option */
  const char *help; /* a sentence without its full stop */
} tk_option;

/* The i-th option; NULL past the end. */
const tk_option *tk_option_at(size_t i);

/* An option that has no effect without others, or beside them
 * (tkdbg/pair.def), in the settings of a host program. */
typedef struct tk_option_pair {
  bool needs;         /* one of the others; false: it clashes with each */
  const char *key;    /* of the option */
  const char *others; /* names of options or commands, with a blank between
                       * them; NAME=WORD|WORD: only with one of these values */
  const char *why;    /* part of a sentence, or "" */
} tk_option_pair;

/* The i-th such pair; false past the end. */
bool tk_option_pair_at(size_t i, tk_option_pair *out);

/* ---- sessions ---------------------------------------------------------- */

/* Receives text that a kernel prints.  text is not NUL-terminated. */
typedef void (*tk_output_fn)(void *ud, const char *text, size_t len);

/* realloc-like: size 0 frees and returns NULL; NULL means out of memory. */
typedef void *(*tk_alloc_fn)(void *ud, void *p, size_t old, size_t size);

tk_session *tk_session_new(void);
tk_session *tk_session_new_with(tk_alloc_fn alloc, void *ud);
void tk_session_free(tk_session *s);
void tk_session_output(tk_session *s, tk_output_fn fn, void *ud);
/* Has Triton compile a launch file for a GPU by name, as triton_replay.py does
 * with --ptx: code takes the place of the file.  False: it does not; *why says
 * why, and lives until the next call. */
typedef bool (*tk_compiler_fn)(void *ud, const char *file, const char *arch,
                               const char **why);
/* What the engine 'triton-ptx' asks, for a host that has Triton in its own
 * process; NULL: a Python is started for each kernel. */
void tk_session_compiler(tk_session *s, tk_compiler_fn fn, void *ud);

/* The version of Triton whose meaning kernels have, "2.1" to "3.9" (if not
 * called: the newest that is followed).  Kernels compiled before keep theirs.
 */
tk_status tk_session_triton_version(tk_session *s, const char *version);
/* The version whose meaning kernels have under a version such as "3.9.0": the
 * same up to the minor number where that is followed, else the newest that is
 * followed; that one too for NULL.  NULL for an older one than any known, and
 * for anything that is not a version. */
const char *tk_triton_meaning(const char *version);
/* What the i-th behaviour that changed was before, and the version that
 * changed it; NULL past the end. */
const char *tk_triton_change(size_t i, const char **version);
/* The i-th version that is known, the oldest first; NULL past the end. */
const char *tk_triton_version_at(size_t i);
/* The i-th operation that a version added, as "tl.gather", and that version;
 * the i-th that a version removed, and what to write there.  NULL past the end.
 */
const char *tk_triton_added(size_t i, const char **version);
const char *tk_triton_removed(size_t i, const char **version,
                              const char **instead);

/* Asks a running launch to stop; it returns TK_INTERRUPTED soon after. */
void tk_interrupt(tk_session *s);

/* What a host program says when its launch was interrupted. */
typedef enum tk_attention {
  TK_ATTEND_STOP,  /* the launch ends */
  TK_ATTEND_GO_ON, /* the interruption is dealt with */
  TK_ATTEND_PASS,  /* as if the host had not been asked: a debugger stops */
} tk_attention;

/* Called by the thread that runs a launch, soon after tk_interrupt, before
 * the launch stops; *answer is TK_ATTEND_STOP until it is set.  A host whose
 * signal handlers cannot run while the library does runs them here. */
typedef void (*tk_attend_fn)(void *ud, int *answer);
void tk_session_attend(tk_session *s, tk_attend_fn fn, void *ud);

/* The diagnostics since the last tk_report_clear, rendered as text with
 * source lines and carets (ANSI colour if asked), or as a JSON array. */
const char *tk_report(tk_session *s, bool colour);
/* The same text without what a debugger has shown already; "" if that is all
 * of it. */
const char *tk_report_unshown(tk_session *s, bool colour);
const char *tk_report_json(tk_session *s);
/* The same as JSON objects, one a line; "" when there is nothing. */
const char *tk_report_json_lines(tk_session *s);
size_t tk_report_count(tk_session *s);
void tk_report_clear(tk_session *s);

/* ---- values ------------------------------------------------------------ */

/* Element types; names and widths in dtype.def order, see tk_dtype_name. */
typedef enum tk_dtype {
#define DTYPE(id, name, bits, kind, np, st, doc) TK_##id,
#include "tkdbg/dtype.def"
#undef DTYPE
  TK_DTYPE_COUNT,
} tk_dtype;

const char *tk_dtype_name(tk_dtype d);    /* "fp16", "int32", ... */
size_t tk_dtype_size(tk_dtype d);         /* bytes of one lane in memory */
int tk_dtype_from_name(const char *name); /* any spelling; -1 if unknown */

/* A compile-time value, as kernels see it: constexpr arguments, global
 * constants, what a host object answers. */
typedef enum tk_value_kind {
  TK_V_NONE,
  TK_V_BOOL,     /* lo */
  TK_V_INT,      /* hi:lo, 128-bit two's complement */
  TK_V_FLOAT,    /* f */
  TK_V_STR,      /* str, n bytes */
  TK_V_DTYPE,    /* lo is a tk_dtype; hi is pointer depth, with the address
                    space, less 1, << 8, and 1 << 16 for a pointer that stores
                    refuse; of a block's type items, n are its shape */
  TK_V_TUPLE,    /* items, n; str: field names separated by ',', or NULL */
  TK_V_FUNCTION, /* ptr is a tk_function; lo: 1 if Python runs it while the
                    kernel is compiled */
  TK_V_BUILTIN,  /* str names an operation or module: "tl.load", "tl" */
  TK_V_OBJECT,   /* ptr is a host handle; str is its printed type; lo: 0 if it
                    is in a constexpr, 1 if not, which tells what .value is */
  /* Only as an argument, or inside one: */
  TK_V_TENSOR,     /* ptr is a const tk_tensor */
  TK_V_DESCRIPTOR, /* items: base (TENSOR), tuples of shape, strides and block
                      shape, "zero" or "nan"; lo: fp32 is loaded as tf32 */
} tk_value_kind;

typedef struct tk_value {
  tk_value_kind kind;
  bool is_constexpr; /* wrapped in tl.constexpr, or annotated so */
  int64_t hi;
  uint64_t lo;
  double f;
  const char *str;
  size_t n;
  const struct tk_value *items;
  void *ptr;
} tk_value;

/* How a kernel's free names are looked up in the host program.  Each returns
 * 1 found (out filled), 0 unknown, -1 the host raised (out->str says what).
 * What out points to must stay alive as long as the session. */
typedef struct tk_host {
  void *ud;
  int (*global)(void *ud, void *scope, const char *name, tk_value *out);
  int (*attr)(void *ud, void *obj, const char *name, tk_value *out);
  int (*call)(void *ud, void *obj, const tk_value *args, size_t nargs,
              const char *const *kwnames, size_t nkw, tk_value *out);
} tk_host;

/* ---- modules and functions --------------------------------------------- */

/* Reads a Python file: host code is skipped, functions are found.  name is
 * what diagnostics call it.  Syntax errors of kernels are reported when a
 * function is opened.  The same (name, text) gives the same module. */
tk_status tk_module_open(tk_session *s, const char *name, const char *text,
                         size_t len, tk_module **out);
tk_status tk_module_open_file(tk_session *s, const char *path, tk_module **out);

/* The i-th jit function of the file by position, NULL past the end. */
const char *tk_module_kernel_name(tk_module *m, size_t i);

/* By name (NULL: the only jit function), or by the line of its def or first
 * decorator (NULL: whatever its name).  Reports why when there is none. */
tk_status tk_function_named(tk_module *m, const char *name, tk_function **out);
tk_status tk_function_at(tk_module *m, const char *name, int line,
                         tk_function **out);

/* Free names are then asked of host with this scope; without a host they are
 * looked up in the module's own text. */
void tk_function_host(tk_function *f, const tk_host *host, void *scope);

/* What findings in f also say, after those that were given before: where a
 * kernel that a program has written comes from.  One line; it is copied. */
tk_status tk_function_remark(tk_function *f, const char *text);

const char *tk_function_name(tk_function *f);
size_t tk_function_param_count(tk_function *f);
const char *tk_function_param_name(tk_function *f, size_t i);
bool tk_function_param_is_constexpr(tk_function *f, size_t i);
bool tk_function_param_has_default(tk_function *f, size_t i);

/* ---- launches ---------------------------------------------------------- */

enum {
  TK_TENSOR_READONLY = 1,  /* stores are findings */
  TK_TENSOR_UNWRITTEN = 2, /* no element was written yet (torch.empty) */
  /* The launch may be repeated on what the last one left (an autotuner that
   * neither resets nor restores this argument). */
  TK_TENSOR_REPEATED = 4,
  TK_TENSOR_CONST = 8 /* the pointer's type says so: stores do not compile */
};

/* A tensor argument.  strides are in elements and may be 0 or negative;
 * storage bounds are those of the whole allocation a view lies in. */
typedef struct tk_tensor {
  void *data; /* first element of the view */
  tk_dtype dtype;
  int rank; /* 0 to TK_MAX_RANK */
  int64_t shape[TK_MAX_RANK];
  int64_t strides[TK_MAX_RANK];
  void *storage; /* NULL: the view's own extent */
  size_t storage_bytes;
  unsigned flags;
  uint64_t device_address; /* what the kernel sees; 0: data's address */
  /* NULL, or a byte for each byte of the storage: 0 while it was never written,
   * else 1.  A run that looks for undefined values brings it up to date,
   * another sets all of it; tensors of one storage share it. */
  unsigned char *written;
} tk_tensor;

tk_status tk_launch_new(tk_session *s, tk_function *f, tk_launch **out);
void tk_launch_free(tk_launch *l);

tk_status tk_launch_grid(tk_launch *l, int64_t x, int64_t y, int64_t z);

/* How the kernel is compiled: an option of Triton's launches or a knob, by its
 * name, that changes what a kernel means or which are accepted (fp32_default,
 * allowed_dot_input_precisions, supported_fp8_dtypes); items of a list are
 * separated by commas. */
tk_status tk_launch_compile_option(tk_launch *l, const char *name,
                                   const char *value);
/* A launch option (launch.def): num_warps, num_stages and so on.  The typed
 * form has them for a compiler; they change nothing in the interpreter. */
typedef struct tk_launch_option_info {
  const char *name;
  int64_t usual;       /* its value if none is given */
  int64_t least, most; /* flags are 0 and 1 */
  bool power;          /* it must be a power of two */
  const char *doc;     /* a sentence without its full stop */
} tk_launch_option_info;

/* The i-th; NULL past the end. */
const tk_launch_option_info *tk_launch_option_at(size_t i);
tk_status tk_launch_option(tk_launch *l, const char *name, int64_t value);
/* As on the command line: "num_stages=2". */
tk_status tk_launch_option_text(tk_launch *l, const char *text);

/* Arguments by parameter name.  A tk_value for an ordinary parameter is
 * specialised as Triton does (int equal to 1 becomes constexpr, float is
 * fp32); for a constexpr parameter it is the constexpr. */
tk_status tk_launch_tensor(tk_launch *l, const char *param, const tk_tensor *t);
tk_status tk_launch_value(tk_launch *l, const char *param, const tk_value *v);
/* A scalar of a stated dtype (numpy.int64(5)); bits are the low bits. */
tk_status tk_launch_scalar(tk_launch *l, const char *param, tk_dtype d,
                           uint64_t bits);
/* Parameters whose ints are not turned into constexpr 1. */
tk_status tk_launch_no_specialize(tk_launch *l, const char *param);

/* Text forms, as on the command line: "x=f32[98432]:rand(0)", and the grid
 * as "97,2". */
tk_status tk_launch_arg_text(tk_launch *l, const char *text);
tk_status tk_launch_grid_text(tk_launch *l, const char *text);

/* A tensor that is not an argument but may be reached through an address that
 * the kernel loads from memory. */
tk_status tk_launch_extra(tk_launch *l, const char *name, const tk_tensor *t);

/* The tensor a parameter holds, NULL if it is not a tensor. */
const tk_tensor *tk_launch_get_tensor(tk_launch *l, const char *param);

/* What a tensor should hold after each run, which then says how it differs
 * (tk_launch_difference; text to the output): "C=@ref.npy", or lanes of the
 * same shape, of any type, which are copied.  An element is wrong if it is
 * further off than atol + rtol * |expected|; negative: what is usual for its
 * type.  A NaN is expected where there is one. */
tk_status tk_launch_expect(tk_launch *l, const char *text, double rtol,
                           double atol);
tk_status tk_launch_expect_tensor(tk_launch *l, const char *param,
                                  const tk_tensor *expected, double rtol,
                                  double atol);
/* What such a tensor held after the same launch elsewhere, on a GPU say:
 * "C=@gpu.npy".  That is then what differs from the expectation, and each run
 * says what it leaves itself in the elements that were wrong there. */
tk_status tk_launch_got(tk_launch *l, const char *text);

/* Writes a tensor as .npy, or prints it NumPy-style to the output. */
tk_status tk_tensor_save(tk_session *s, const tk_tensor *t, const char *path);
tk_status tk_launch_save(tk_launch *l, const char *param, const char *path);
tk_status tk_launch_print(tk_launch *l, const char *param);

/* Launch files (safetensors): everything needed to run it again. */
tk_status tk_launch_record(tk_launch *l, const char *path);
tk_status tk_launch_replay(tk_session *s, const char *path, tk_launch **out);

/* In the text of a source, `removed` bytes from `at` on that give way to
 * others. */
typedef struct tk_edit {
  const char *file; /* the source's name, as reports have it */
  size_t at, removed;
  const char *text;
} tk_edit;

/* A launch file that is kept in memory, to be replayed many times, in its own
 * session or in others, which may be freed before it.  A launch that was made
 * from it does not need it any more. */
typedef struct tk_recording tk_recording;
tk_status tk_recording_open(tk_session *s, const char *path,
                            tk_recording **out);
/* Runs a launch again, with its kernel changed if there are edits.  Each edit
 * finds the text as those before have left it, and must leave every function
 * at its line.  What the host was not asked when the launch was recorded it
 * does not know.  TK_USAGE: an edit lies outside of its source. */
tk_status tk_recording_replay(const tk_recording *r, tk_session *s,
                              const tk_edit *edits, size_t n, tk_launch **out);

/* ---- running ----------------------------------------------------------- */

typedef struct tk_run_options {
  size_t size;       /* sizeof(tk_run_options) */
  const char *pids;  /* program conditions, "0,>1"; NULL: all */
  const char *order; /* "serial", "reverse", "shuffle:SEED"; NULL: serial */
  const char *dot;   /* "blas" or "exact"; NULL: blas */
  bool no_asserts;   /* device assertions off */
  void (*progress)(void *ud, uint64_t done, uint64_t total);
  void *progress_ud;
  const char *schedule; /* "auto", "serial", "yield"; NULL: auto */
  /* Elements, "C[32,0]", separated by newlines: after the run the output gets
   * who wrote them.  NULL: none. */
  const char *blame;
  /* The same: after the run the output gets where their values came from. */
  const char *explain;
  const char *engine; /* by name, see tk_engine_name; NULL: the first */
  /* A line of the kernel's file, whose accesses tk_launch_access then has; 0:
   * none. */
  int access_line;
  /* blame, explain and what was expected write no text to the output:
   * tk_launch_blame, tk_launch_explanation and tk_launch_difference have what
   * they found. */
  bool silent_answers;
  bool log_accesses; /* tk_launch_access_log then has every access */
  /* Another engine, or "best": the last one that is available.  It runs first,
   * and what it leaves in each tensor is compared with what the run leaves
   * (tk_launch_difference; text to the output).  NULL: none. */
  const char *against;
  const struct tk_bound *bound; /* of that comparison; NULL: derived */
  /* Where a tensor differs: both run once more and record their operations, to
   * find the first that differs (tk_launch_divergence; text to the output). */
  bool pinpoint;
  /* How many threads run programs at the same time.  Where the order of
   * programs matters, there is one, and a note says why.  0: as many as this
   * process has processors if the launch takes long enough for it (about a
   * millisecond) and no program can see what others do, else one, without a
   * note. */
  size_t jobs;
  bool unordered; /* atomic operations give programs no order: jobs may run */
  /* "I/N": run part I, from 0, of N of the grid, and write what it stores to a
   * file for tk_launch_merge; NULL: run all of it. */
  const char *shard;
  const char *stores; /* the file; NULL: KERNEL-I-of-N.stores */
  /* What the interpreter computes where code for a GPU gives other bits than
   * the definition: "definition" or "device"; NULL: definition. */
  const char *numerics;
  /* The three numbers of a program that is known to be stopped by an access:
   * the last tk_launch_explanation then says where the address of the lane came
   * from that must not be touched.  NULL: none. */
  const int64_t *explain_stop;
  /* The GPU that the engine 'triton-ptx' has code made for, by name, see
   * tk_arch_name; NULL: the first. */
  const char *arch;
  /* In place of `against`: a form (tk_ir_open) that the interpreter runs first,
   * and that the run is compared with.  NULL: none. */
  struct tk_function *form;
} tk_run_options;

/* How far elements may be apart: atol + rtol * |expected|, or ulp units in the
 * last place.  If none is given (rtol and atol negative, ulp 0), the bound is
 * derived from the kernel: its operations, their types, the lengths of its
 * sums; otherwise those that are not given are 0. */
typedef struct tk_bound {
  double rtol, atol;
  int64_t ulp;
} tk_bound;

/* The i-th engine that a launch can be given to, and one line about it; NULL
 * past the end. */
const char *tk_engine_name(size_t i);
const char *tk_engine_doc(size_t i);
/* Whether it can run here; if not, *why says so (why may be NULL). */
bool tk_engine_available(size_t i, const char **why);

typedef struct tk_summary {
  uint64_t programs; /* programs run to their end */
  uint64_t ops;      /* operations executed */
  double seconds;
  size_t peak_bytes;  /* most memory the interpreter held, arguments aside */
  const char *kernel; /* its name; lives as long as the launch */
  const char *engine; /* that ran it; NULL: none did */
  int64_t grid[3];
  /* Findings of this run that were not in the report before. */
  uint64_t errors, warnings, notes;
} tk_summary;

/* Specialises (once per set of argument types and constexprs) and runs.
 * options and summary may be NULL. */
tk_status tk_launch_run(tk_launch *l, const tk_run_options *options,
                        tk_summary *summary);

/* Joins what the parts of a launch stored (tk_run_options.shard), from a file
 * for each.  *out is that launch, its tensors as the serial run leaves them.
 * TK_FINDING: programs of two parts store to one element, as the report says;
 * or one reads what another stores, and then *out is NULL, as it is when
 * files are missing or belong to several launches. */
tk_status tk_launch_merge(tk_session *s, const char *const *paths, size_t n,
                          tk_launch **out);

/* ---- detectors --------------------------------------------------------- */

typedef struct tk_check_options {
  size_t size;              /* sizeof(tk_check_options) */
  const char *suppressions; /* a file of findings to leave out; or NULL */
  size_t limit;             /* findings shown of a run; 0: 20 */
  bool assume_written;      /* unwritten memory counts as written */
  bool stop;                /* the first finding ends the run */
  bool collect;             /* findings do not change a run's status, and
                               are shown once for all runs of the session */
  bool keep_going;          /* an access that must not happen is a finding,
                               and does not end the run: lanes of a store are
                               dropped, those of a load become NaN, or
                               integers below 0 */
  int arch;                 /* compute capability of the device that is meant;
                               90: 9.0; 0: that one */
} tk_check_options;

/* Turns detectors on for the launches that follow: names separated by
 * commas, "all", or NULL for none; keep_going holds without them too.  A run
 * with findings gives TK_FINDING, unless they are collected.  options may be
 * NULL. */
tk_status tk_session_check(tk_session *s, const char *list,
                           const tk_check_options *options);
/* The i-th detector's name and what it finds; NULL past the end. */
const char *tk_check_name(size_t i);
const char *tk_check_doc(size_t i);
/* Whether the detector of that name is on. */
bool tk_check_is_on(tk_session *s, const char *name);
/* Whether text is a list that tk_session_check takes. */
bool tk_check_is_list(const char *text);
/* How many different findings detectors have had, hidden ones too. */
size_t tk_check_findings(tk_session *s);
/* Of runs that go on after accesses which must not happen: at how many places
 * there were such accesses since the last time that they were told.  tell: a
 * finding of the report sums them up, by place. */
size_t tk_check_kept_going(tk_session *s, bool tell);
/* Lines for a suppression file that would leave all of them out. */
const char *tk_check_suppressions(tk_session *s);

/* Specialises only: compile-time findings, no program run. */
tk_status tk_launch_compile(tk_launch *l);

/* The typed form of the kernel that runs, as text (compiles if needed);
 * NULL when it does not compile. */
const char *tk_launch_ir(tk_launch *l);

/* What the compiled kernel would need on a device of compute capability arch
 * (90: 9.0), estimated: bytes of shared memory, and registers of a thread, as
 * if there were any number of them; most: how many a thread has.  0 also when
 * it does not compile. */
void tk_launch_resources(tk_launch *l, int arch, size_t *shared, int *registers,
                         int *most);

/* Bytes of global memory that each of its programs needs for the tensor
 * descriptors that it makes: Triton asks the program's allocator for them.  0
 * also when it does not compile. */
size_t tk_launch_scratch(tk_launch *l, int arch);

/* A kernel from the text of its typed form, as tk_launch_ir gives it (perhaps
 * edited; name is what reports call it): a launch of it takes the arguments
 * that the form does, and nothing is compiled.  What is wrong with the text is
 * reported with its line and a caret (TK_USAGE). */
tk_status tk_ir_open(tk_session *s, const char *name, const char *text,
                     size_t len, tk_function **out);
/* A kernel of a PTX file's text, which is only run, by the interpreter of PTX:
 * tk_launch_run takes no engine then.  Its launches take an argument for each
 * parameter of the code, in order, under the names that are given here.  What
 * is wrong with the text is reported with its line and a caret (TK_FINDING);
 * TK_USAGE if there is no such kernel, or it has other parameters. */
typedef struct tk_ptx_kernel {
  const char *name; /* of the file, in reports */
  const char *text; /* size bytes */
  size_t size;
  const char *entry; /* NULL: the only one */
  const char *const *params;
  size_t nparams;
} tk_ptx_kernel;
tk_status tk_ptx_open(tk_session *s, const tk_ptx_kernel *kernel,
                      tk_function **out);
/* The launch runs that form in place of its kernel, with the arguments and the
 * grid that it has; TK_USAGE if the form's parameters are others. */
tk_status tk_launch_take_form(tk_launch *l, tk_function *form);

/* The i-th operation of the language, "tl.load" and so on; NULL at the end. */
const char *tk_builtin_name(size_t i);
/* Its parameters with their defaults, and one line about it; "" for those
 * that tkdbg's own prelude defines, NULL past the end. */
const char *tk_builtin_signature(size_t i);
const char *tk_builtin_doc(size_t i);

/* The i-th name that a debugger's expression knows beyond the language: a
 * function, or an attribute, ".shape"; NULL past the end. */
const char *tk_expression_name(size_t i);

/* Checks a program condition list: TK_OK or TK_USAGE with a report. */
tk_status tk_pids_check(tk_session *s, const char *conds);
/* The same of elements, a line each, as tk_run_options.blame and explain have
 * them; option: what the report calls them, "--blame". */
tk_status tk_elements_check(tk_session *s, const char *option,
                            const char *elements);

/* ---- debugging --------------------------------------------------------- */

/* A debugger controls every launch of its session: it stops programs,
 * asks its front end for commands and carries them out (docs/debugger.md).
 * It belongs to the session. */
typedef struct tk_debugger tk_debugger;

/* Whose terms messages are worded in. */
typedef enum tk_front {
  TK_FRONT_COMMANDS, /* the debugger's own commands */
  TK_FRONT_GDB,      /* gdb's; the debugger's come after `monitor` */
  TK_FRONT_EDITOR,   /* an editor's buttons and views */
  TK_FRONTS
} tk_front;

typedef struct tk_debugger_options {
  size_t size; /* sizeof(tk_debugger_options) */
  void *ud;
  /* The next command line, without its newline; NULL at the end of input,
   * which quits.  Stays alive until the next call. */
  const char *(*read)(void *ud, const char *prompt);
  void (*write)(void *ud, const char *text, size_t len);
  /* Gets what happened, as one JSON object; may be NULL. */
  void (*event)(void *ud, const char *json);
  int width;          /* of the terminal; 0: 80 */
  bool stop_at_start; /* of the first launch */
  bool stop_at_end;   /* of each launch */
  /* Only launches of a kernel that calls breakpoint(), or breakpoint_if, are
   * debugged, until the user sets breakpoints. */
  bool wait_for_call;
  bool colour;   /* ANSI colours in the text */
  bool script;   /* launches come one after the other: stops say which */
  bool progress; /* a terminal: long moves say how far they are */
  /* Hands the launch to a gdb that connects to that address, until it leaves;
   * NULL: this is not possible (tkdbg/gdbserver.h). */
  tk_status (*lend)(void *ud, const char *address);
  tk_front front;
} tk_debugger_options;

tk_status tk_debugger_new(tk_session *s, const tk_debugger_options *o,
                          tk_debugger **out);
/* Carries out a command line, as if it were typed; false after saying why it
 * could not be.  Also before the first launch. */
bool tk_debugger_command(tk_debugger *d, const char *line);
/* Whether the user has quit: the launch then returns TK_INTERRUPTED, unless it
 * had ended. */
bool tk_debugger_has_quit(const tk_debugger *d);
/* At the end of a run: says which breakpoints no launch had a place for; their
 * number. */
size_t tk_debugger_end(tk_debugger *d);
/* For a script, when a launch has returned: runs those again that the user has
 * gone to.  TK_INTERRUPTED: the user has quit. */
tk_status tk_debugger_go_back(tk_debugger *d);
/* For a script that has failed, with the error in a line: asks for commands,
 * which may go back into launches. */
tk_status tk_debugger_raised(tk_debugger *d, const char *what);
/* Whether it debugs the launch that runs, or did so with the last one. */
bool tk_debugger_is_active(const tk_debugger *d);
/* Whether the launches that begin from now on run without it. */
void tk_debugger_ignore(tk_debugger *d, bool launches);
/* The i-th way to complete the last word of line, NULL at the end. */
const char *tk_debugger_complete(tk_debugger *d, const char *line, size_t i);
/* The i-th command, NULL at the end, and its help. */
const char *tk_debugger_command_name(size_t i);
const char *tk_debugger_command_help(size_t i);

/* The same with this process's terminal, or pipe, as the front end. */
typedef struct tk_console_options {
  size_t size;                 /* sizeof(tk_console_options) */
  const char *const *commands; /* run first, in this order */
  const char *const *files;    /* then the lines of these */
  const char *const *breakpoints;
  size_t ncommands, nfiles, nbreakpoints;
  bool json;          /* events as lines of JSON, and nothing else */
  bool stop_at_start; /* as above */
  bool stop_at_end;
  bool wait_for_call;
  bool colour;
  bool no_init; /* do not read .tkdbgrc */
  bool script;  /* as above */
} tk_console_options;
tk_status tk_console_new(tk_session *s, const tk_console_options *o,
                         tk_debugger **out);

#ifdef __cplusplus
}
#endif

#include "tkdbg/results.h"

#endif
