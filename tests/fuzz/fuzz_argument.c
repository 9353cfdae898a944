/* fuzz_argument.c - any text as NAME=SPEC, unless it names a file. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size && memchr(data, '@', size)) return 0;
  tk_session *s = fuzz_session();
  char *text = fuzz_text(data, size);
  tk_launch *l = fuzz_launch(s);
  tk_launch_arg_text(l, text);
  tk_launch_free(l);
  free(text);
  fuzz_end(s);
  return 0;
}
