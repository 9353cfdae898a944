/* form_trial.h - a text tried as the typed form of a kernel.
 *
 * Whatever the text, a trial must end without a crash, a failed assertion, a
 * leak or an unbounded wait.  What is accepted is printed, read again and must
 * print as the same text; then it runs for a moment, in one of the ways that
 * programs run.  Of one in sixteen it is also asked what can be proved.  A
 * trial that breaks a promise calls abort().
 */
#ifndef TESTS_SUPPORT_FORM_TRIAL_H
#define TESTS_SUPPORT_FORM_TRIAL_H

#include "support/cases.h"

/* What became of a text. */
typedef enum form_end {
  FORM_REFUSED, /* with a report */
  FORM_UNFIT,   /* accepted, but no launch of it was possible */
  FORM_RAN,     /* to its end, to a finding, or until its time was up */
} form_end;

/* how: any number; it chooses between plain runs, schedules and detectors.
 * like: whose grid and arguments are tried first; or NULL. */
form_end form_trial(const char *text, size_t n, uint32_t how,
                    const test_case *like);

#endif
