/* nvptx.h - from the typed form to code for a GPU: single assignment, and the
 * passes over it.
 *
 * A program in single assignment is a tk_program like any other: it has a
 * text, the verifier's rules hold, and the interpreter runs it.  Beyond that,
 * every slot is given its value by one instruction, or it is a *merge*: a slot
 * that stands for what several ways bring to a place where they meet.  A merge
 * is given its value by the last instructions of each way, copies, or the
 * constants that stand for one: of both sides of an if, before a loop, and at
 * the end of its body.  (So it is a
 * phi in conventional SSA; Sreedhar, Ju, Gillies and Santhanam, "Translating
 * Out of Static Single Assignment Form", SAS 1999.)  The result of a `cond`
 * is a merge of its two bodies, which may give it by any instruction.
 *
 * Such a program belongs to whoever made it (tk_program_free).  It borrows
 * names, sources and inline assembly from the one that it was made from, which
 * must outlive
 * it. */
#ifndef TK_NVPTX_NVPTX_H
#define TK_NVPTX_NVPTX_H

#include "ir/ir.h"
#include "tkdbg/compile.h"

/* The same program in single assignment. */
tk_program *tkv_single_assignment(tk_env *e, const tk_program *p);

/* A pass: a row of pass.def. */
typedef struct tkv_pass {
  const char *name, *doc;
  void (*run)(tk_program *p);
} tkv_pass;

/* The passes in the order in which they run; NULL past the end. */
const tkv_pass *tkv_pass_at(size_t i);

/* Runs all passes but the skipped ones, a bit each; `after` (NULL: nothing) is
 * called after each of them. */
typedef void tkv_after(void *ud, const tk_program *p, const char *pass);
void tkv_run_passes(tk_program *p, uint64_t skipped, tkv_after *after,
                    void *ud);

/* An architecture by name; NULL: the first.  Throws TK_USAGE for others. */
const char *tkv_arch_named(tk_env *e, const char *name);
/* Bytes of shared memory that a program has at most on an architecture. */
size_t tkv_most_shared(const char *arch);
/* The version of PTX that it is compiled to, as LLVM names it. */
const char *tkv_isa_of(const char *arch);
/* The program as code for a thread: the text of an LLVM module (gen.h);
 * *shared: the bytes of shared memory that it needs. */
void tkv_print_llir(tk_buf *out, const tk_program *p, const char *arch,
                    size_t *shared);
/* Prints the program, each block with the layout in which it is made. */
void tkv_print_layouts(tk_buf *out, const tk_program *p, const char *arch);
/* As PTX for an architecture, "sm_80"; *shared: the bytes of shared memory that
 * a program is launched with.  Fails, once that is reported, where LLVM or what
 * it needs is not there. */
void tkv_print_ptx(tk_buf *out, const tk_program *p, const char *arch,
                   size_t *shared);

/* The stages of a program that can be read, one after the other: `text` is
 * NULL where one cannot be made, and `why` the reason.  They are for the oldest
 * architecture.  The program and the report are left as they are. */
typedef void tkv_take_stage(void *ud, const char *name, const tk_buf *text,
                            const char *why);
void tkv_take_stages(tk_env *e, const tk_program *p, tkv_take_stage *take,
                     void *ud);

/* As tk_launch_emit; all options are there. */
tk_status tkv_launch_emit(tk_launch *l, const tk_emit_options *o,
                          const char **out);
/* Writes a text to the file that was asked for, and empties it. */
void tkv_save_text(tk_env *e, tk_buf *text, const char *path);
/* Reports that there is no such thing ("stage"), and which there are. */
void tkv_unknown_name(tk_env *e, const char *what, const char *name, size_t len,
                      const char *(*at)(size_t i)) TK_NORETURN;

/* Whether the plug-in that makes PTX can be opened; else *why says why not. */
bool tkv_plugin_is_there(const char **why);

/* Numbers statements and instructions in the order of the text, and marks last
 * uses, once all that changes the program has changed it. */
void tkv_settle(tk_program *p);

#endif
