/* env_number.h - how often, and from which seed: numbers that who runs a test
 * may set in the environment.
 */
#ifndef TESTS_SUPPORT_ENV_NUMBER_H
#define TESTS_SUPPORT_ENV_NUMBER_H

#include <stdint.h>
#include <stdlib.h>

/* The number that a variable holds; `missing` if it is not set, or empty. */
static inline uint64_t env_number(const char *variable, uint64_t missing) {
  const char *text = getenv(variable);
  return text && *text ? strtoull(text, NULL, 10) : missing;
}

#endif
