/* test_view.c - the typed form read by a plug-in: a shared object that has
 * the public headers and libtkdbg.so, and nothing else.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/plugin.h"
#include "support/suite.h"

static void *plugin;
static char library[4200];

/* Both stand in the build folder that this program is in. */
static void load_plugin(void) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  const char *dir = dirname(path);
  snprintf(library, sizeof library, "%s/plugin.so", dir);
  plugin = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) printf("%s\n", dlerror());
  snprintf(library, sizeof library, "%s/../../libtkdbg.so", dir);
}

static void *plugin_symbol(const char *name) {
  void *at = dlsym(plugin, name);
  ck_assert_msg(at != NULL, "%s", dlerror());
  return at;
}

typedef struct view_case {
  const char *name, *source, *args[8];
  const char *triton; /* the version whose meaning it has, or NULL */
} view_case;

#define HEAD                                                                   \
  "import triton\nimport triton.language as tl\n"                              \
  "@triton.jit\n"

static const view_case cases[] = {
    {"masks, pointers, hints",
     HEAD "def k(x, y, n, B: tl.constexpr):\n"
          "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
          "    i = tl.max_contiguous(tl.multiple_of(i, 8), 8)\n"
          "    v = tl.load(x + i, mask=i < n, other=0., cache_modifier='.cg',\n"
          "                eviction_policy='evict_last', volatile=True)\n"
          "    tl.store(y + i, -v.to(tl.float16), i < n)\n",
     {"x=f32[64]:ones", "y=f16[64]:zeros", "n=60", "B=16"},
     NULL},
    {"loops, branches, two types of one name",
     HEAD "def k(x, n):\n"
          "    total = 0\n"
          "    for i in tl.range(0, n, num_stages=3, flatten=True):\n"
          "        total += tl.load(x + i)\n"
          "    while total > 4:\n"
          "        total -= 2\n"
          "    if total > 1:\n"
          "        v = 1.0\n"
          "        tl.store(x, total)\n"
          "    else:\n"
          "        for i in range(n, 0, -1):\n"
          "            tl.store(x + i, i)\n"
          "    v = tl.zeros([4, 2], tl.float32)\n"
          "    w = tl.sum(v) if n > 3 else 1.0\n"
          "    tl.store(x, w.to(tl.int32))\n",
     {"x=i32[64]:ones", "n=60"},
     NULL},
    {"shapes and reductions",
     HEAD "def k(x):\n"
          "    i = tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :]\n"
          "    v = tl.load(x + i)\n"
          "    t = tl.trans(v)\n"
          "    d = tl.dot(tl.broadcast_to(tl.sum(t, 1)[:, None], [4, 16])\n"
          "               .to(tl.float32), tl.zeros([16, 16], tl.float32),\n"
          "               input_precision='tf32x3')\n"
          "    s = tl.sort(v, descending=True)\n"
          "    c = tl.cumsum(s, 0, reverse=True)\n"
          "    j = tl.join(c, tl.flip(c, 1))\n"
          "    a, b = j.split()\n"
          "    m, at = tl.max(a, 1, return_indices=True)\n"
          "    h = tl.histogram(tl.ravel(b).to(tl.int32), 8)\n"
          "    tl.store(x + tl.arange(0, 8), m + at + h + tl.sum(d))\n",
     {"x=f32[64]:ones"},
     NULL},
    {"atomics, prints, assertions, functions",
     "import triton\nimport triton.language as tl\n"
     "@triton.jit\ndef lambda_add(a, b): return a + b\n"
     "@triton.jit\n"
     "def k(x, p):\n"
     "    i = tl.arange(0, 4)\n"
     "    a = tl.atomic_add(x + i, 1.0, sem='release', scope='sys')\n"
     "    b = tl.atomic_cas(p, 0, 1, sem='acquire', scope='cta')\n"
     "    tl.device_print('a\\t\"b\\\\\\x7f', a, b, hex=True)\n"
     "    print('v', f'{b:>5}', b)\n"
     "    tl.device_assert(a < 3, 'small')\n"
     "    tl.debug_barrier()\n"
     "    s = tl.associative_scan(a, 0, lambda_add)\n"
     "    r = tl.reduce(a, 0, lambda_add)\n"
     "    tl.store(x + i, s + r + tl.sigmoid(a) + tl.cdiv(b, 2))\n",
     {"x=f32[4]:ones", "p=i32[1]:zeros"},
     NULL},
    {"inline assembly",
     HEAD "def k(x):\n"
          "    i = tl.arange(0, 4)\n"
          "    v = tl.load(x + i)\n"
          "    w = tl.inline_asm_elementwise('add.s32 $0, $1, 7;', '=r,r',\n"
          "        [v], dtype=tl.int32, is_pure=True, pack=1)\n"
          "    tl.store(x + i, w)\n",
     {"x=i32[4]:ones"},
     NULL},
    {"block pointers",
     HEAD
     "def k(x, n):\n"
     "    b = tl.make_block_ptr(x, (n, 8), (8, 1), (0, 0), (4, 8), (1, 0))\n"
     "    v = tl.load(b, boundary_check=(0,), padding_option='zero')\n"
     "    tl.store(tl.advance(b, (4, 0)), v, boundary_check=(0,))\n",
     {"x=f32[16,8]:ones", "n=16"},
     "3.8"},
    {"descriptors",
     HEAD "def k(x, n):\n"
          "    b = tl.make_tensor_descriptor(x, [n, 8], [8, 1], [4, 8])\n"
          "    b.store([4, 0], b.load([0, 0]))\n",
     {"x=f32[16,8]:ones", "n=16"},
     NULL},
};

START_TEST(plugin_writes_the_form_as_the_library_does) {
  const view_case *c = &cases[_i];
  plugin_form f;
  plugin_read_fn *read;
  *(void **)&read = plugin_symbol("plugin_read");
  read(c->source, c->args, c->triton, &f);
  ck_assert_msg(f.seen != NULL, "%s: %s", c->name, f.report);
  char *sources = strstr(f.said, "\nsource ");
  ck_assert_ptr_nonnull(sources);
  *sources = 0;
  ck_assert_str_eq(f.seen, f.said);
  free(f.seen);
  free(f.said);
  free(f.report);
}
END_TEST

static const char add[] = HEAD "def k(x, out):\n"
                               "    i = tl.arange(0, 4)\n"
                               "    y = tl.load(x + i) + 3.0\n"
                               "    if tl.program_id(0) == 0:\n"
                               "        tl.store(out + i, y)\n";
static const char *const add_args[] = {"x=f32[4]:arange", "out=f32[4]:zeros",
                                       NULL};

START_TEST(plugin_changes_a_form_and_runs_it) {
  plugin_pass_fn *pass;
  plugin_pass_result r;
  *(void **)&pass = plugin_symbol("plugin_pass");
  pass(add, add_args, "{op = add} : <[4], fp32>", "{op = mul} : <[4], fp32>",
       &r);
  ck_assert_msg(r.ran, "%s", r.report);
  for (int i = 0; i < 4; i++) ck_assert_float_eq(r.out[i], 3.0f * (float)i);
  ck_assert(r.same_when_kept);
  ck_assert_uint_eq(r.stmts, 4);
  ck_assert_uint_eq(r.uses[0], 1);
  ck_assert_uint_eq(r.uses[1], 1);
  size_t lines = 0;
  for (const char *p = r.said; (p = strstr(p, " : ")); p++) lines++;
  ck_assert_uint_eq(r.insts, lines);
  free(r.said);
  free(r.report);
}
END_TEST

START_TEST(changed_form_must_obey_the_rules) {
  plugin_pass_fn *pass;
  plugin_pass_result r;
  *(void **)&pass = plugin_symbol("plugin_pass");
  pass(add, add_args, "{op = add} : <[4], fp32>", "{op = and} : <[4], fp32>",
       &r);
  ck_assert(!r.ran);
  ck_assert_ptr_nonnull(strstr(r.report, "this operation is not defined"));
  free(r.said);
  free(r.report);
}
END_TEST

START_TEST(what_does_not_compile_has_no_form) {
  plugin_form f;
  plugin_read_fn *read;
  *(void **)&read = plugin_symbol("plugin_read");
  read(HEAD "def k(x):\n    tl.store(x, nothing)\n",
       (const char *[]){"x=f32[4]:ones", NULL}, NULL, &f);
  ck_assert_ptr_null(f.seen);
  ck_assert_ptr_nonnull(strstr(f.report, "nothing"));
  free(f.report);
}
END_TEST

START_TEST(table_of_instructions_is_there) {
  static const char load[] = "load reads same 1 -\n"
                             "  pointer pointer\n"
                             "  mask mask optional\n"
                             "  other any optional\n"
                             "  {volatile flag}\n"
                             "  {window window pointers block_pointer "
                             "descriptor}\n";
  plugin_opcodes_fn *opcodes;
  *(void **)&opcodes = plugin_symbol("plugin_opcodes");
  char *list = opcodes();
  ck_assert_msg(strstr(list, load) != NULL, "%s", list);
  ck_assert_ptr_nonnull(strstr(list, "print control none 0 format\n"));
  free(list);
}
END_TEST

START_TEST(library_shows_nothing_else) {
  void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(so != NULL, "%s", dlerror());
  ck_assert_ptr_nonnull(dlsym(so, "tk_launch_form"));
  ck_assert_ptr_null(dlsym(so, "tk_program_print"));
  ck_assert_ptr_null(dlsym(so, "tk_program_view"));
  ck_assert_ptr_null(dlsym(so, "tk_inst_info_of"));
  dlclose(so);
}
END_TEST

int main(void) {
  Suite *s = suite_create("view");
  TCase *c = tcase_create("plug-in");
  load_plugin();
  if (!plugin) return 1;
  tcase_add_loop_test(c, plugin_writes_the_form_as_the_library_does, 0,
                      sizeof cases / sizeof *cases);
  tcase_add_test(c, plugin_changes_a_form_and_runs_it);
  tcase_add_test(c, changed_form_must_obey_the_rules);
  tcase_add_test(c, what_does_not_compile_has_no_form);
  tcase_add_test(c, table_of_instructions_is_there);
  tcase_add_test(c, library_shows_nothing_else);
  suite_add_tcase(s, c);
  int failed = run_suite(s);
  dlclose(plugin);
  return failed != 0;
}
