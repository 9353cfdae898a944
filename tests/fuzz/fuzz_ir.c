/* fuzz_ir.c - any text as the typed form of a kernel: what is accepted is
 * printed, read again and run (support/form_trial.h).
 */
#include "fuzz.h"
#include "support/form_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t how = 0;
  for (size_t i = 0; i < size; i++) how = how * 31 + data[i];
  form_trial((const char *)data, size, how, NULL);
  return 0;
}
