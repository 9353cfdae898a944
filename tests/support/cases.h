/* cases.h - kernels and what is expected of them, as plain text.
 *
 * A case file (*.case) is
 *
 *   # a comment
 *   key: value                   of the file: checks, least, class
 *
 *   == name
 *   launch: 2,1 x=f32[8]:arange BLOCK=4
 *   key: value                   of the case: explain, triton (the version
 *                                whose meaning it has; without: the newest)
 *   statements of a kernel k, indented by four blanks, or whole functions
 *   --
 *   what it prints, exactly
 *
 * The launch line has the grid, then NAME=VALUE for each argument; statements
 * get a kernel with these parameters, of which those with a capital are
 * constexpr.  The first of these statements stands on line 5 of k.py.  In
 * place of -- stand
 *
 *   ++   lines that are said of it, although nothing is found
 *   !!   lines that its report contains: it is refused, or has a finding
 *   !! KIND LINE PROGRAM    it has that finding on that line, for a program
 *                           such as (1, 0, 0), or - for none in particular
 *
 * A case may have several of these.  A mistake in a file ends the test
 * program, with the file and the line.
 */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include "tkdbg/tkdbg.h"

enum { CASE_WANTS = 8, FILE_KEYS = 64 };

/* What stands behind a mark: --, ++ or !!. */
typedef struct case_want {
  char mark;         /* its first character */
  const char *about; /* what follows on its line, or "" */
  const char *text;  /* the lines below it */
} case_want;

typedef struct test_case {
  const char *file; /* its name, without the folder */
  int line;
  const char *name, *launch, *body;
  const char *explain; /* or NULL */
  const char *triton;  /* a version such as "3.8", or NULL */
  case_want wants[CASE_WANTS];
  int nwants;
} test_case;

typedef struct case_file {
  char *text; /* all strings of the file and its cases point into it */
  char name[64];
  struct {
    const char *key, *value;
  } keys[FILE_KEYS];
  int nkeys;
  test_case *cases; /* owned, in order */
  int ncases;
} case_file;

/* Reads a file that lies beside a source, given as __FILE__. */
case_file *case_file_read(const char *beside, const char *name);
void case_file_free(case_file *f);
/* Reads all case files beside a source, by name but for the one left out (or
 * NULL); returns how many.  Their cases are cases[0..*ncases). */
int case_files_read(const char *beside, const char *but, case_file ***files,
                    const test_case ***cases, int *ncases);
void case_files_free(case_file **files, int n, const test_case **cases);

/* The value of a file's key, or NULL. */
const char *case_file_key(const case_file *f, const char *key);
/* The source of a case: free it. */
char *case_source(const test_case *c);
/* Opens a case's source, and makes the launch of its k without arguments. */
tk_status case_launch(tk_session *s, const test_case *c, tk_launch **l);
/* Gives a launch its grid and the arguments that are text; give() takes those
 * of which it knows the value ("lent:f32[8]"), or is NULL. */
tk_status case_arguments(tk_launch *l, const test_case *c,
                         bool (*give)(void *ud, tk_launch *l, const char *name,
                                      const char *value, tk_status *st),
                         void *ud);
/* How a kernel gets to run: as it is specialised; its typed form as text, read
 * again; what the compiler's passes leave of it, read again. */
typedef enum case_way {
  CASE_SPECIALISED,
  CASE_FROM_TEXT,
  CASE_BY_PASSES,
  CASE_WAYS
} case_way;
/* In place of a launch with its arguments, one of the form that the way leads
 * to, without arguments; left alone where it does not compile. */
tk_status case_launch_by(tk_session *s, case_way way, tk_launch **l);
/* Fails the test unless text has each line of want. */
void case_expects_lines(const test_case *c, const char *text, const char *want);

#endif
