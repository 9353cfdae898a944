/* prove.h - what holds of a kernel for every size, not only for those of one
 * launch: its accesses stay within their tensors, programs do not store where
 * others load or store, integers do not wrap, outputs are written.
 *
 * A launch gives the kernel, its compile-time values and types, which stay as
 * they are, and relations between its numbers: which scalar is a size of which
 * tensor, how the grid follows from sizes.  Verdicts are about all sizes that
 * obey those relations.
 *
 * Ownership: a tk_proof and all that it points to belong to the launch, until
 * it is proved again.
 */
#ifndef TKDBG_PROVE_H
#define TKDBG_PROVE_H

#include "tkdbg/results.h"
#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_verdict {
  TK_PROVED,    /* for all sizes, given the relations in `assumed` */
  TK_REFUTED,   /* a launch that obeys the relations was run, and fails */
  TK_ON_DATA,   /* it depends on values that are loaded */
  TK_UNDECIDED, /* as `reason` says */
} tk_verdict;

typedef enum tk_duty {
#define DUTY(id, name, doc) TK_DUTY_##id,
#include "tkdbg/duty.def"
#undef DUTY
  TK_DUTY_COUNT,
} tk_duty;
const char *tk_duty_name(tk_duty d);
const char *tk_duty_doc(tk_duty d);

/* Who says that a relation holds. */
typedef enum tk_given {
  TK_GIVEN_TOLD,    /* the program that launches the kernel */
  TK_GIVEN_LAUNCH,  /* it is so in this launch, and taken to be in all */
  TK_GIVEN_ASSUMED, /* the user */
  TK_GIVEN_ALWAYS,  /* of sizes that memory can hold */
  TK_GIVEN_FORM,    /* what launches of this form have in common */
} tk_given;

/* A duty of one instruction or tensor. */
typedef struct tk_proof_item {
  tk_duty duty;
  tk_verdict verdict;
  tk_place place;      /* file NULL: of a tensor */
  const char *subject; /* "load of x_ptr" */
  const char *reason;  /* ON_DATA, UNDECIDED: why; else NULL */
  const char *finding; /* REFUTED: what the interpreter reports of the run */
  /* REFUTED: options of tkdbg run for that launch; ON_DATA, UNDECIDED: for a
   * launch to look at it in, one of which it is not known whether it fails, or
   * the launch that was proved; NULL: no options say it */
  const char *command;
  const char *holds;   /* REFUTED: where it is proved: "n % BLOCK == 0"; NULL:
                          that is not known */
  const char *fails;   /* REFUTED: where it fails, and nowhere else: "n % BLOCK
                          != 0", "always"; NULL: that is not known */
  const bool *assumed; /* PROVED: for each relation, whether it is needed */
} tk_proof_item;

typedef struct tk_proof {
  const char *kernel;
  const char *fixed; /* what stays as in the launch: "BLOCK_SIZE = 1024" */
  const tk_proof_item *items;
  size_t nitems;
  const char *const *relations;
  const tk_given *given; /* of each relation: who says it */
  size_t nrelations;
  const char *const *notes; /* what is worth knowing about the relations */
  size_t nnotes;
  size_t count[TK_UNDECIDED + 1]; /* of items, by verdict */
  const char *form; /* "n is 1": another form than the launch has; or NULL */
  /* Why there is no such form, and no items therefore; or NULL. */
  const char *absent;
  const struct tk_proof *next; /* of another form; NULL: there is none */
} tk_proof;

typedef struct tk_prove_options {
  size_t size; /* sizeof(tk_prove_options) */
  /* Relations that hold as well, separated by newlines: "n % 16 == 0",
   * "grid[0] == cdiv(n, 128)"; NULL: none. */
  const char *assume;
  /* What the program that launches says of the numbers, a line each: a
   * relation that its computations make, with "  # FILE:LINE" where it was
   * checked there, or the name of a number that it uses as it is. Lines that
   * cannot be read or are not true of this launch are left out. NULL: it is
   * not known what it says. */
  const char *told;
  /* A folder, made if it does not exist, to which each question but those for
   * coverage is written in SMT-LIB 2, where "unsat" means proved; a file for
   * each, named KERNEL-LINE-DUTY.smt2, with a number if there are several.
   * NULL: none is written. */
  const char *smt_out;
  /* Neighbouring forms are proved as well: for each whole number that the
   * kernel is compiled for as it is, what is compiled if it is 1, if it is not,
   * and if it is 2**31 or more.  Of very many the first are proved, and a note
   * says so. */
  bool all_forms;
} tk_prove_options;

/* TK_USAGE: there is nothing to prove with, or an assumption cannot be read, or
 * the relations contradict each other; the report says so. */
tk_status tk_launch_prove(tk_launch *l, const tk_prove_options *o,
                          const tk_proof **out);
/* The verdict that counts of all items of all forms: REFUTED before UNDECIDED,
 * which stands for ON_DATA too, before PROVED. */
tk_verdict tk_proof_worst(const tk_proof *p);
/* The exit status of a program that says so: 0, 1 for a counterexample, and 5
 * where something is undecided. */
int tk_verdict_status(tk_verdict v);
/* As text, and as JSON, an object in a line for each form; they live until the
 * next one is asked for. */
const char *tk_proof_text(tk_launch *l, const tk_proof *p);
const char *tk_proof_json(tk_launch *l, const tk_proof *p);
/* Writes a file of JUnit's XML with a test suite for each proof of the session
 * that this was asked for until now; equal ones are one suite. An item is a
 * test case: what is refuted failed, and what depends on data or is undecided
 * was skipped. */
tk_status tk_proof_junit(tk_launch *l, const tk_proof *p, const char *path);
/* Whether this library was built with the solver that proofs need. */
bool tk_prove_available(void);

#ifdef __cplusplus
}
#endif
#endif
