/* fuzz_parser.c - any text as a Python file: each function in it is opened.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  tk_module *m;
  const char *name;
  if (tk_module_open(s, "fuzz.py", (const char *)data, size, &m) == TK_OK) {
    for (size_t i = 0; (name = tk_module_kernel_name(m, i)); i++) {
      tk_function *f;
      if (tk_function_named(m, name, &f) != TK_OK) continue;
      for (size_t p = 0; p < tk_function_param_count(f); p++)
        if (!tk_function_param_name(f, p)) abort();
    }
  }
  fuzz_end(s);
  return 0;
}
