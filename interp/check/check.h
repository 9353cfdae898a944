/* check.h - what detectors share.
 *
 * A detector is a row of check.def: `begin` attaches observers to a run that
 * is about to start, `end` says what can only be known when it is over.  In
 * between its hooks call tkc_report.  The same finding, that is the same kind
 * at the same place with the same source, is shown once, with a count.
 */
#ifndef TK_CHECK_H
#define TK_CHECK_H

#include "interp/interp.h"
#include "interp/keep.h"

typedef enum tkc_id {
#define CHECK(id, name, aliases, all, begin, refused, end, doc) TKC_##id,
#include "check.def"
#undef CHECK
  TKC_COUNT,
} tkc_id;

/* A place in a source text; src is NULL where there is none. */
typedef struct tkc_place {
  const tk_source *src;
  tk_span span;
} tkc_place;

typedef struct tkc_finding {
  struct tkc_finding *next; /* oldest first */
  tk_diag_id id;
  tkc_place at, from;
  const char *function; /* that `at` lies in, or "" */
  tk_diag *diag;        /* while the run that found it lasts, if shown */
  size_t times;         /* that this run came upon it */
  bool suppressed;
} tkc_finding;

/* A line of a suppression file. */
typedef struct tkc_rule {
  struct tkc_rule *next;
  const char *kind, *file, *where;
} tkc_rule;

/* Accesses that must not happen, of one kind and place, after which the run
 * went on. */
typedef struct tkc_kept {
  struct tkc_kept *next;
  tk_diag_id id;
  tkc_place at;
  const char *what; /* "load past the end of x" */
  uint64_t lanes, programs, launches;
  int64_t pid[3]; /* the last program */
  const tki *t;   /* the last launch; NULL: it has ended */
} tkc_kept;

/* The detectors of a session. */
typedef struct tkc {
  tk_session *session;
  tk_watcher watcher;
  tk_arena run;  /* freed when a run ends: detectors allocate here */
  tk_arena kept; /* holds findings; freed when another run begins */
  tk_arena file; /* holds the rules of the suppression file */
  uint32_t on;   /* bit i: detector i is on */
  bool all;      /* so are all that "all" turns on */
  size_t limit;
  int arch; /* compute capability of the device that is meant; 90: 9.0 */
  bool assume_written, stop, collect, keep_going;
  tki_keeper keeper; /* of a run that goes on after bad accesses */
  tkc_kept *bad;     /* those since the last summary; lives in kept */
  tkc_rule *rules;
  tkc_finding *findings;
  size_t shown, hidden; /* findings of this run; when collecting, of all */
  tki *t;               /* the run that is watched; NULL: none */
  tkc_finding *before;  /* the last finding when the run began, or NULL */
  size_t shown_before, hidden_before;
  bool ending;         /* another finding is about to end the program */
  void *ud[TKC_COUNT]; /* what each detector's begin returned */
  tk_buf text;         /* the last text that was returned to the caller */
} tkc;

/* Attaches observers.  What it returns is handed to end, which is not called
 * if that is NULL. */
typedef void *(*tkc_begin_fn)(tkc *c, tki *t);
/* Reports what is known of a launch whose kernel is refused. */
typedef void (*tkc_refused_fn)(tkc *c, tk_launch *l);
/* Reports what is known only now.  All of c->run is freed afterwards. */
typedef void (*tkc_end_fn)(tkc *c, void *ud, tki *t, tk_status st);

#define CHECK(id, name, aliases, all, begin, refused, end, doc)                \
  void *tkc_##id##_begin(tkc *c, tki *t);                                      \
  void tkc_##id##_refused(tkc *c, tk_launch *l);                               \
  void tkc_##id##_end(tkc *c, void *ud, tki *t, tk_status st);
#include "check.def"
#undef CHECK

/* ---- reporting (report.c) ----------------------------------------------- */

/* The instruction being executed, in the user's text: that of the innermost
 * frame which is not tkdbg's own prelude. */
tkc_place tkc_here(const tki *t);
bool tkc_same_place(const tkc_place *a, const tkc_place *b);
/* Any instruction of a function. */
static inline tkc_place tkc_place_of(const tk_func *f, const tk_inst *in) {
  return (tkc_place){f->src, in->span};
}

/* Reports a finding at a place, which is that of the running instruction if
 * `at` is NULL.  `from` is the place that what is wrong came from, or NULL;
 * findings are the same if kind and both places are.  The finding belongs to
 * no program if t is NULL or has no frame.  Notes and help are added to the
 * result, which is NULL if the finding was shown before, is suppressed, or is
 * beyond the limit.  Call tkc_reported with the result at the end. */
tk_diag *tkc_report(tkc *c, tki *t, tk_diag_id id, const tkc_place *at,
                    const tkc_place *from, const char *fmt, ...)
    TK_PRINTF(6, 7);
/* Adds a note, if d is not NULL; it is about no place if `at` is NULL. */
void tkc_note(tkc *c, tk_diag *d, const tkc_place *at, const char *fmt, ...)
    TK_PRINTF(4, 5);
/* Sets the lane that is wrong, "[3, 5]", unless it is "" for a scalar. */
void tkc_at_lane(tkc *c, tk_diag *d, const char *lane);
/* Sets the element that the finding is about; d may be NULL. */
void tkc_at_element(tk_diag *d, tki *t, uint64_t addr);
void tkc_help(tkc *c, tk_diag *d, const char *fmt, ...) TK_PRINTF(3, 4);
/* A part of a message in the words of the kernel's language. */
const char *tkc_words(tkc *c, const char *text);
/* Ends the run there if the user asked for that. */
void tkc_reported(tkc *c, tki *t, tk_diag *d);
/* Takes back what this run has reported, which turned out not to be so. */
void tkc_withdraw(tkc *c, tk_diag *d);
/* Whether this run has a finding that is more than a note. */
bool tkc_found(const tkc *c);

/* These make text in c->run: "[3, 5]" for a lane of a block and "" for a
 * scalar; a lane's value; "x[3, 5]" for memory. */
const char *tkc_lane(tkc *c, const tk_type *type, size_t lane);
const char *tkc_value(tkc *c, const tk_type *type, const void *lane);
const char *tkc_element(tkc *c, const tki *t, uint64_t addr, size_t size);

/* ---- runs that go on after bad accesses (keep.c) ------------------------- */

void tkc_keep_begin(tkc *c, tki *t);
void tkc_keep_end(tkc *c);
/* Reports what was found since the last summary, by place. */
void tkc_keep_tell(tkc *c);

/* ---- for a debugger (check.c) -------------------------------------------- */

/* Whether a detector is on. */
bool tkc_is_on(const tk_session *s, tkc_id id);
/* Chooses the detectors in a list, or none if it is NULL, for a run at its
 * beginning.  Reports and throws TK_USAGE if one is unknown. */
void tkc_choose(tk_session *s, const char *list);
/* The detectors cannot watch the rest of this run; what they found stays. */
void tkc_abandon(tk_session *s);

/* ---- suppressions (suppress.c) ------------------------------------------ */

/* Adds the rules of a file; reports and throws TK_USAGE when it is bad. */
void tkc_read_rules(tkc *c, const char *path);
bool tkc_suppressed(const tkc *c, const tkc_finding *f);
/* The lines of a file that would suppress all findings. */
void tkc_write_rules(const tkc *c, tk_buf *out);

#endif
