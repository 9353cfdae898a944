/* fuzz_relations.c - any text as relations of a launch that is proved: lines
 * that the program that launches says, and after a line "--" those that the
 * user does. */
#include "fuzz.h"
#include "tkdbg/prove.h"

static tk_launch *relations_launch(tk_session *s) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def f(x, idx, n, step, B: tl.constexpr):\n"
      "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
      "    k = tl.load(idx + i * step, mask=i < n)\n"
      "    tl.store(x + k, 1.0, mask=i < n)\n";
  static const char *const args[] = {"x=f32[6,5]:zeros", "idx=i32[30]:zeros",
                                     "n=30", "step=i32:1", "B=8"};
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  if (tk_module_open(s, "f.py", source, sizeof source - 1, &m) ||
      tk_function_named(m, "f", &f) || tk_launch_new(s, f, &l))
    abort();
  for (size_t i = 0; i < sizeof args / sizeof *args; i++)
    if (tk_launch_arg_text(l, args[i])) abort();
  if (tk_launch_grid(l, 4, 1, 1)) abort();
  return l;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  char *text = fuzz_text(data, size);
  char *rule = strstr(text, "\n--\n");
  tk_launch *l = relations_launch(s);
  tk_prove_options o = {.size = sizeof o, .told = text};
  const tk_proof *p;
  if (rule) *rule = '\0';
  if (rule) o.assume = rule + 4;
  if (tk_launch_prove(l, &o, &p) == TK_OK &&
      (!tk_proof_text(l, p) || !tk_proof_json(l, p)))
    abort();
  free(text);
  fuzz_end(s);
  return 0;
}
