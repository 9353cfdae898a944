/* reference.h - what functions are, to as many digits as wanted: MPFR. */
#ifndef TESTS_ACCURACY_REFERENCE_H
#define TESTS_ACCURACY_REFERENCE_H

#include <mpfr.h>

enum { PRECISION = 200 };

/* y = f(x[0], ...).  got is a result to start from where only the inverse of
 * f is known. */
typedef void (*reference_fn)(mpfr_ptr y, mpfr_t *x, double got);

/* What libdevice's function of that name is, NULL where it is exact; limit:
 * the largest size of an argument for which it is worked out. */
reference_fn reference(const char *name, double *limit);

#endif
