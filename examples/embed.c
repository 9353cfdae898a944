/* embed.c - tkdbg inside another program: runs a kernel on the program's own
 * memory, then one with a bug, and shows what tkdbg says of it.
 *
 *   cc embed.c -ltkdbg
 */
#include <stdio.h>
#include <string.h>

#include <tkdbg/tkdbg.h>

enum { N = 1000 };

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def scale(x, y, n, factor, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    v = tl.load(x + i, mask=i < n, other=0.0)\n"
    "    tl.store(y + i, v * factor, mask=i < n)\n";

static tk_tensor vector(float *data) {
  tk_tensor t = {.data = data, .dtype = TK_FP32, .rank = 1};
  t.shape[0] = N;
  t.strides[0] = 1;
  return t;
}

/* Runs scale over y = 2.5 x, with n as the kernel is told it. */
static tk_status scale(tk_session *s, tk_function *f, float *x, float *y,
                       int n) {
  tk_launch *launch;
  tk_tensor tx = vector(x), ty = vector(y);
  tk_value count = {.kind = TK_V_INT, .lo = (uint64_t)n};
  tk_value factor = {.kind = TK_V_FLOAT, .f = 2.5};
  tk_value block = {.kind = TK_V_INT, .lo = 256};
  tk_status st = tk_launch_new(s, f, &launch);
  if (st != TK_OK) return st;
  tx.flags = TK_TENSOR_READONLY;
  if (!st) st = tk_launch_tensor(launch, "x", &tx);
  if (!st) st = tk_launch_tensor(launch, "y", &ty);
  if (!st) st = tk_launch_value(launch, "n", &count);
  if (!st) st = tk_launch_value(launch, "factor", &factor);
  if (!st) st = tk_launch_value(launch, "BLOCK", &block);
  if (!st) st = tk_launch_grid(launch, (N + 255) / 256, 1, 1);
  if (!st) st = tk_launch_run(launch, NULL, NULL);
  tk_launch_free(launch);
  return st;
}

static int wrong_elements(const float *x, const float *y) {
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += y[i] != x[i] * 2.5f;
  return wrong;
}

int main(void) {
  static float x[N], y[N];
  tk_session *s = tk_session_new();
  tk_module *module;
  tk_function *f = NULL;
  for (int i = 0; i < N; i++) x[i] = (float)i;
  if (!s) return TK_INTERNAL;
  tk_status st = tk_module_open(s, "scale.py", source, strlen(source), &module);
  if (!st) st = tk_function_named(module, "scale", &f);
  if (!st) st = scale(s, f, x, y, N);
  if (st) fputs(tk_report(s, false), stderr);
  printf("status %d, wrong elements: %d\n", (int)st, wrong_elements(x, y));

  tk_status bad = st ? st : scale(s, f, x, y, N + 1);
  printf("with n too large: status %d, and the report\n%s", (int)bad,
         tk_report(s, false));
  tk_session_free(s);
  return st == TK_OK && bad == TK_FINDING ? 0 : 1;
}
