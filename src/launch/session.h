/* session.h - the objects behind the public API: sessions, modules,
 * functions, launches.  (Structure only; who may see it: rooms below the API
 * edge.  Ownership as tkdbg.h says: a session owns modules and functions, a
 * launch owns its arena and the tensor memory that it made itself.)
 */
#ifndef TK_LAUNCH_SESSION_H
#define TK_LAUNCH_SESSION_H

#include "base/kept.h"
#include "base/diag.h"
#include "base/dtype.h"
#include "base/lookup.h"
#include "lang/file.h"
#include "launch/launch_option.h"
#include "launch/pids.h"

struct tki;

/* Somebody above the interpreter who watches runs: detectors, a debugger.
 * begin is called when a launch is ready to run and may attach observers or
 * a driver to it; end when it has run, whatever came of it, with findings
 * still welcome (throw TK_FINDING after reporting); refused instead of both
 * when the kernel cannot be specialised.  `begin` for a run that
 * has begun: it is at its beginning again, and all starts over.  Belongs to
 * whoever made it; freed by `free` with the session. */
typedef struct tk_watcher {
  struct tk_watcher *next;
  void *ud;
  void (*begin)(void *ud, struct tki *t);
  void (*end)(void *ud, struct tki *t, tk_status st);
  void (*refused)(void *ud, tk_launch *l);
  void (*free)(tk_env *e, void *ud);
  bool wants_interp; /* what other engines do tells it nothing */
} tk_watcher;

/* What goes with a session and holds more than memory of its arena. */
typedef struct tk_owned {
  struct tk_owned *next;
  void (*free)(tk_env *e, struct tk_owned *o);
} tk_owned;

/* Rules of the language that a trial follows (typing/trial.h). */
typedef struct tk_rules {
  int version; /* as in typing/version.def */
  int turned;  /* a change that is turned round: an index there; -1: none */
} tk_rules;

struct tk_session {
  tk_env env;
  tk_kept kept; /* the memory behind env, if nobody gave an allocator */
  tk_arena arena;
  tk_output_fn output;
  void *output_ud;
  tk_compiler_fn compiler; /* Triton's, in the host's process, or NULL */
  void *compiler_ud;
  int triton_version; /* as in typing/version.def; 0: the newest */
  tk_module *modules; /* newest first */
  tk_launch *launches;
  tk_owned *owned;
  const struct tk_rules *trial; /* the specialiser's: rules that are tried,
                                   without any effect; NULL: none are */
  const void *language;         /* the specialiser's: operations by version */
  void *told;           /* the specialiser's: deprecated spellings reported */
  tk_watcher *watchers; /* in the order in which they are asked */
  tk_buf report;
  tk_buf suites;      /* of JUnit: proofs so far (src/prove/text.c) */
  tk_buf conditions;  /* files of conditions so far (src/prove/smt.c) */
  bool out_of_memory; /* something failed that no diagnostic tells of */
};

struct tk_module {
  tk_module *next;
  tk_session *session;
  tk_file *file;
  uint64_t hash; /* of name and text */
  tk_function *functions;
  void *globals; /* the specialiser's: values of module-level names */
};

/* A function with its host; the same item with another scope (a closure) is
 * another tk_function. */
struct tk_function {
  tk_function *next;
  tk_module *module;
  tk_item *item;
  tk_ast *ast; /* kind FUNC */
  const tk_host *host;
  tk_host host_copy;
  void *scope;
  void *units;     /* owned by the specialiser: compiled forms, by key */
  bool fixed;      /* there is one unit, whatever the arguments are */
  tk_source *form; /* the text of that unit's form, or NULL */
  bool takes_some; /* that form may lack parameters of a launch */
  void (*free_units)(tk_env *e, tk_function *f);
  struct tkg_file *ptx; /* the code of a PTX file (device/file.c), or NULL */
  TK_VEC(const char *) remarks; /* in the session's arena */
  struct tk_answer *answers;    /* what the host said, oldest first; host.h */
  struct tk_answer *last_answer;
};

typedef enum tk_arg_kind {
  TK_ARG_ABSENT, /* use the default, or report */
  TK_ARG_TENSOR,
  TK_ARG_SCALAR, /* stated dtype: dtype, bits */
  TK_ARG_VALUE,  /* constexpr, or number to specialise */
} tk_arg_kind;

typedef struct tk_arg {
  const char *name;
  tk_arg_kind kind;
  bool no_specialize;
  tk_tensor tensor;
  void *owned; /* tensor memory the launch made, or NULL */
  size_t owned_bytes;
  tk_dtype dtype;
  uint64_t bits;
  tk_value value;  /* deep copy in `values`, or the launch's arena; of a
                      tensor inside, lo is its index in the extras */
  tk_arena values; /* freed with the value */
} tk_arg;

typedef enum tk_compile_option { /* compile.def */
#define COMPILE(id, name, usual, doc) TK_COMPILE_##id,
#include "launch/compile.def"
#undef COMPILE
                                 TK_COMPILE_COUNT,
} tk_compile_option;

/* What a tensor should hold after a run. */
typedef struct tk_expected {
  const char *param;
  tk_tensor lanes;    /* contiguous, in the launch's arena */
  double rtol, atol;  /* negative: what is usual */
  int64_t ulp;        /* the same of an engine's; 0: not said */
  const char *engine; /* that gave it; NULL: the caller */
  tk_tensor got; /* what it held elsewhere, contiguous; data NULL: unknown */
  const char *where; /* the file that has that */
} tk_expected;

struct tk_launch {
  tk_launch *next;
  tk_session *session;
  tk_arena arena;
  tk_function *fn;
  int64_t grid[3];
  bool grid_given;
  int64_t options[TK_LAUNCH_OPTIONS];
  const char *compile[TK_COMPILE_COUNT];
  tk_arg *args; /* one per parameter, in order */
  size_t nargs;
  tk_lookup arg_names;   /* made when one is first looked for */
  TK_VEC(tk_arg) extras; /* tensors reached only through memory */
  tk_lookup extra_names; /* their numbers */
  void *unit;            /* the specialiser's: the compiled form, or NULL */
  struct tk_library *library; /* of a run with a GPU's numerics; or NULL */
  tk_arena answers;           /* of what the last run was asked */
  TK_VEC(tk_blame) blames;
  TK_VEC(tk_explanation) explanations;
  TK_VEC(tk_access_picture) pictures;
  TK_VEC(tk_expected) expected;
  TK_VEC(tk_difference) differences;
  const tk_divergence *divergence; /* NULL: none was asked for, or found */
  const tk_access_log *log;        /* NULL: it was not asked for */
  tk_buf text;                     /* last text returned to the caller */
  uint64_t next_address; /* for the next tensor the launch makes itself */
};

/* The options' names, and what holds for one that is not given. */
const char *tk_compile_name(tk_compile_option o);
const char *tk_compile_usual(tk_compile_option o);
/* Whether an option that is a list, "a,b,c", has the item. */
bool tk_compile_lists(const tk_launch *l, tk_compile_option o,
                      const char *item);

/* Before a launch runs again. */
void tk_launch_forget_answers(tk_launch *l);

/* Another watcher, which is asked after those that are there. */
void tk_session_watch(tk_session *s, tk_watcher *w);
/* Asks it no longer, if it was asked. */
void tk_session_unwatch(tk_session *s, const tk_watcher *w);

/* Tells those who watch the session that the kernel cannot be specialised. */
void tk_launch_refused(tk_launch *l);

/* Runs fn under tk_protect: the edge of every public function.  A throw that
 * no diagnostic explains is out of memory, which tk_report can then say
 * without needing any. */
tk_status tk_session_guard(tk_session *s, void (*fn)(tk_env *e, void *ud),
                           void *ud);

/* Gives what the launch leaves out and the kernel's own metadata tells, for a
 * kernel that PyTorch's compiler wrote; does nothing to others. */
void tk_launch_complete(tk_env *e, tk_launch *l);

/* Deep copy of v into arena a (items, strings). */
tk_value tk_value_copy(tk_arena *a, const tk_value *v);

/* PyTorch's CPU generator: torch.manual_seed(seed); torch.rand(n) and
 * torch.randn(n), same bits. */
void tk_random_rand(uint64_t seed, float *out, size_t n);
void tk_random_randn(tk_env *e, uint64_t seed, float *out, size_t n);

#endif
