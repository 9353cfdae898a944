/* results.h - what a run found, as structs: findings, who wrote an element,
 * where a value came from, which elements accesses touch.
 *
 * The texts and the JSON that the other functions give are written from these
 * structs and hold nothing that is not here.  tkdbg.h includes this file.
 *
 * Ownership: the library owns every struct and everything that it points to.
 * Findings live until the report is cleared or its session is freed; those of
 * a program that a debugger takes back in time go with it.  What a launch was
 * asked lives until the launch runs again or is freed.
 */
#ifndef TKDBG_RESULTS_H
#define TKDBG_RESULTS_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pieces -------------------------------------------------------------- */

/* A stretch of a source text. */
typedef struct tk_place {
  const char *file;         /* NULL: there is no place, and all else is 0 */
  int line, column;         /* of its first byte, from 1; columns count bytes */
  int end_line, end_column; /* behind its last byte */
  uint32_t offset, length;  /* in bytes, from the start of the text */
  const char *text;         /* the first line of it, without its newline; not
                               NUL-terminated */
  size_t text_length;
} tk_place;

/* An element of a tensor, or what an address is when it is none. */
typedef struct tk_element {
  const char *tensor; /* its parameter's name; NULL: in no tensor */
  int rank;           /* axes of index; -1: no element of the view */
  int64_t index[TK_MAX_RANK];
  uint64_t address; /* on the device */
  const char *text; /* "C[32, 0]", "C byte 130", "address 0x1000" */
} tk_element;

/* One lane of a value. */
typedef struct tk_lane {
  tk_dtype dtype;
  bool pointer;     /* to that dtype; bits are the address */
  uint64_t bits;    /* the low bits are the lane's */
  const char *text; /* as reports print it: "11.0"; NULL: there is none */
} tk_lane;

/* ---- findings ------------------------------------------------------------ */

/* Kinds of findings; names in tk_finding_kind_name. */
typedef enum tk_finding_kind {
#define DIAG(id, severity, title) TK_D_##id,
#include "tkdbg/diag.def"
#undef DIAG
  TK_FINDING_KINDS,
} tk_finding_kind;

typedef enum tk_severity {
  TK_SEV_ERROR,
  TK_SEV_WARNING,
  TK_SEV_NOTE
} tk_severity;

const char *tk_finding_kind_name(tk_finding_kind k); /* "out-of-bounds" */
tk_severity tk_finding_severity(tk_finding_kind k);
const char *tk_severity_name(tk_severity s); /* "error" */

/* What else there is to say of a finding, in this order. */
typedef struct tk_finding_note {
  const struct tk_finding_note *next;
  tk_place place;
  const char *text;
} tk_finding_note;

typedef struct tk_finding {
  tk_finding_kind kind;
  tk_severity severity;
  const char *message; /* what was found */
  const char *help;    /* what to do about it; NULL: nothing is known */
  tk_place place;
  tk_place from;        /* a detector's: the other place that it is about */
  const char *function; /* that the place lies in; NULL: unknown */
  bool has_program;
  int64_t program[3]; /* that it was first found in */
  int lane_rank;      /* axes of lane; 0: none, or a scalar */
  int64_t lane[TK_MAX_RANK];
  const char *lane_text; /* "[3, 5]"; NULL: as above */
  bool has_element;
  tk_element element; /* of memory that it is about */
  uint64_t count;     /* how often it was found */
  uint64_t told;      /* how many of these a debugger has shown */
  const tk_finding_note *notes;
  size_t nnotes;
} tk_finding;

/* The i-th finding of the report (tk_report_count says how many there are),
 * oldest first; NULL past the end.  Findings that are suppressed or beyond
 * the limit are not in the report. */
const tk_finding *tk_report_finding(tk_session *s, size_t i);

#ifdef __cplusplus
}
#endif
#endif
