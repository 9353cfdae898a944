/* fuzz_condition.c - any text as a program condition and as a grid. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  char *text = fuzz_text(data, size);
  tk_status st = tk_pids_check(s, text);
  if (st != TK_OK && !tk_report_count(s)) abort();
  tk_launch_grid_text(fuzz_launch(s), text);
  free(text);
  fuzz_end(s);
  return 0;
}
