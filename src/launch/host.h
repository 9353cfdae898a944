/* host.h - what a kernel's free names mean, asked of the host once.
 *
 * The specialiser calls only these.  They ask the function's host, keep the
 * answer (deep-copied into the session's arena) and answer again from what
 * was kept, so that a launch file can hold every answer and a replay, which
 * has no host, gives the same ones.
 */
#ifndef TK_LAUNCH_HOST_H
#define TK_LAUNCH_HOST_H

#include "session.h"

/* Each returns 1 found (out filled), 0 unknown (also when f has no host),
 * -1 the host raised (out->str says what). */
int tk_host_global(tk_env *e, tk_function *f, const char *name, tk_value *out);
int tk_host_attr(tk_env *e, tk_function *f, void *obj, const char *name,
                 tk_value *out);
int tk_host_call(tk_env *e, tk_function *f, void *obj, const tk_value *args,
                 size_t nargs, const char *const *kwnames, size_t nkw,
                 tk_value *out);

typedef enum tk_answer_kind {
  TK_ANSWER_GLOBAL,
  TK_ANSWER_ATTR,
  TK_ANSWER_CALL,
} tk_answer_kind;

/* One question and its answer; strings and items in the session's arena. */
typedef struct tk_answer {
  struct tk_answer *next;
  tk_answer_kind kind;
  int found;        /* 1, 0, -1 as above */
  const char *name; /* GLOBAL, ATTR */
  void *obj;        /* ATTR, CALL */
  tk_value *args;   /* CALL */
  size_t nargs;
  const char **kwnames; /* CALL: of the last nkw args */
  size_t nkw;
  tk_value value;
} tk_answer;

/* The host of a replayed function: it knows nothing that was not recorded. */
extern const tk_host tkn_replay_host;

/* Keeps an answer, newest last. */
void tkn_answer_add(tk_env *e, tk_function *f, const tk_answer *a);

#endif
