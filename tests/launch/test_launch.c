/* test_launch.c - sessions, functions, launches and their text forms.
 */
#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "support/suite.h"

/* ---- sessions, modules, functions -------------------------------------- */

START_TEST(modules) {
  fixture x = begin();
  tk_module *again;
  tk_module_open(x.s, "k.py", source, sizeof source - 1, &again);
  ck_assert_ptr_eq(again, x.m);
  tk_module_open(x.s, "other.py", source, sizeof source - 1, &again);
  ck_assert_ptr_ne(again, x.m);
  ck_assert_str_eq(tk_module_kernel_name(x.m, 0), "helper");
  ck_assert_str_eq(tk_module_kernel_name(x.m, 1), "add_kernel");
  ck_assert_ptr_null(tk_module_kernel_name(x.m, 2));
  ck_assert_int_eq(tk_module_open_file(x.s, "/nowhere/k.py", &again), TK_USAGE);
  ck_assert_ptr_null(again);
  says(x.s, "/nowhere/k.py: No such file");
  ck_assert_int_eq(tk_module_open_file(x.s, "/", &again), TK_USAGE);
  says(x.s, "directory");
  end(&x);
}
END_TEST

START_TEST(functions) {
  fixture x = begin();
  tk_function *f, *g;
  ck_assert_str_eq(tk_function_name(x.f), "add_kernel");
  ck_assert_uint_eq(tk_function_param_count(x.f), 6);
  ck_assert_str_eq(tk_function_param_name(x.f, 2), "n");
  ck_assert_ptr_null(tk_function_param_name(x.f, 6));
  ck_assert(!tk_function_param_is_constexpr(x.f, 2));
  ck_assert(tk_function_param_is_constexpr(x.f, 4));
  ck_assert(tk_function_param_is_constexpr(x.f, 5));
  ck_assert(!tk_function_param_is_constexpr(x.f, 6));
  ck_assert(tk_function_param_has_default(x.f, 5));
  ck_assert(!tk_function_param_has_default(x.f, 4));
  ck_assert_int_eq(tk_function_named(x.m, "add_kernel", &f), TK_OK);
  ck_assert_ptr_eq(f, x.f);
  ck_assert_int_eq(tk_function_named(x.m, "wrapped", &f), TK_OK);
  ck_assert_str_eq(tk_function_name(f), "later");
  ck_assert_int_eq(tk_function_named(x.m, "later", &g), TK_OK);
  ck_assert_ptr_eq(f, g);
  for (int line = 8; line <= 10; line++) {
    ck_assert_int_eq(tk_function_at(x.m, "add_kernel", line, &f), TK_OK);
    ck_assert_ptr_eq(f, x.f);
  }
  ck_assert_int_eq(tk_function_at(x.m, NULL, 4, &f), TK_OK);
  ck_assert_str_eq(tk_function_name(f), "helper");
  end(&x);
}
END_TEST

START_TEST(functions_not_found) {
  fixture x = begin();
  tk_function *f;
  ck_assert_int_eq(tk_function_named(x.m, "add_kernl", &f), TK_USAGE);
  ck_assert_ptr_null(f);
  says(x.s, "did you mean 'add_kernel'? (jit functions: helper, add_kernel)");
  ck_assert_int_eq(tk_function_named(x.m, "plain", &f), TK_USAGE);
  says(x.s, ":14:5: error: 'plain' is not a jit function");
  ck_assert_int_eq(tk_function_named(x.m, NULL, &f), TK_USAGE);
  says(x.s, "several jit functions");
  ck_assert_int_eq(tk_function_at(x.m, "helper", 10, &f), TK_USAGE);
  says(x.s, "no function 'helper' at line 10");
  tk_module *m;
  tk_module_open(x.s, "none.py", "x = 1\n", 6, &m);
  ck_assert_int_eq(tk_function_named(m, NULL, &f), TK_USAGE);
  says(x.s, "there is no jit function");
  static const char bad[] = "@triton.jit\ndef f(x):\n    x = = 1\n";
  tk_module_open(x.s, "bad.py", bad, sizeof bad - 1, &m);
  ck_assert_int_eq(tk_function_named(m, NULL, &f), TK_FINDING);
  says(x.s, "bad.py:3:");
  ck_assert_int_eq(tk_function_named(m, NULL, &f), TK_FINDING);
  says(x.s, "reported before");
  end(&x);
}
END_TEST

START_TEST(reports) {
  fixture x = begin();
  ck_assert_uint_eq(tk_report_count(x.s), 0);
  ck_assert_str_eq(tk_report(x.s, false), "");
  ck_assert_str_eq(tk_report_json(x.s), "[]\n");
  tk_launch_arg_text(x.l, "nn=1");
  tk_launch_arg_text(x.l, "x_ptr=f32[");
  ck_assert_uint_eq(tk_report_count(x.s), 2);
  ck_assert_ptr_nonnull(strstr(tk_report_json(x.s), "\"kind\": \"argument\""));
  ck_assert_ptr_nonnull(strstr(tk_report(x.s, true), "\033["));
  tk_report_clear(x.s);
  ck_assert_uint_eq(tk_report_count(x.s), 0);
  tk_interrupt(x.s);
  ck_assert_int_eq(x.s->env.interrupted, 1);
  end(&x);
}
END_TEST

/* ---- argument texts ---------------------------------------------------- */

START_TEST(tensor_texts) {
  fixture x = begin();
  accept(&x, "x_ptr=f32[2,3]:arange");
  const tk_tensor *t = tk_launch_get_tensor(x.l, "x_ptr");
  ck_assert_int_eq(t->rank, 2);
  ck_assert_int_eq(t->shape[1], 3);
  ck_assert_int_eq(t->strides[0], 3);
  ck_assert(((float *)t->data)[5] == 5);
  ck_assert_uint_eq(t->storage_bytes, 24);
  ck_assert_uint_eq(t->device_address % 512, 0);
  ck_assert_uint_eq(t->flags, 0);
  accept(&x, " y_ptr = i16 [ 4 ] : full( -7 ) ");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_int_eq(((int16_t *)t->data)[3], -7);
  accept(&x, "y_ptr=bf16[3]:ones");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_int_eq(((uint16_t *)t->data)[2], 0x3f80);
  accept(&x, "y_ptr=f32[3]");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_uint_eq(t->flags, TK_TENSOR_UNWRITTEN);
  ck_assert_uint_eq(((uint32_t *)t->data)[0], 0xcbcbcbcb);
  accept(&x, "y_ptr=f64[]:full(0.1)");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_int_eq(t->rank, 0);
  ck_assert(*(double *)t->data == 0.1);
  accept(&x, "y_ptr=f32[0,9223372036854775807]:zeros");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_uint_eq(t->storage_bytes, 0);
  ck_assert_ptr_nonnull(t->data);
  accept(&x, "y_ptr=u64[2]:full(18446744073709551615)");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert(((uint64_t *)t->data)[1] == UINT64_MAX);
  accept(&x, "y_ptr=bool[2]:full(True)");
  accept(&x, "y_ptr=fp8e4nv[64]:randn(3)");
  accept(&x, "y_ptr=i32[1000]:randint(-5, 5, 3)");
  t = tk_launch_get_tensor(x.l, "y_ptr");
  for (int i = 0; i < 1000; i++) ck_assert(abs(((int32_t *)t->data)[i]) <= 5);
  ck_assert_ptr_null(tk_launch_get_tensor(x.l, "n"));
  ck_assert_ptr_null(tk_launch_get_tensor(x.l, "nowhere"));
  end(&x);
}
END_TEST

/* Without a seed, two parameters get two streams, the same on every run. */
START_TEST(seeds) {
  fixture x = begin();
  float want[3];
  accept(&x, "x_ptr=f32[3]:rand");
  accept(&x, "y_ptr=f32[3]:rand");
  for (uint64_t seed = 0; seed < 2; seed++) {
    tk_random_rand(seed, want, 3);
    const char *name = seed ? "y_ptr" : "x_ptr";
    ck_assert_mem_eq(tk_launch_get_tensor(x.l, name)->data, want, 12);
  }
  end(&x);
}
END_TEST

static const struct {
  const char *text;
  int kind;
  int64_t hi;
  uint64_t lo;
  double f;
  const char *str;
} values[] = {
    {"n=98432", TK_V_INT, 0, 98432, 0, NULL},
    {"n=-1", TK_V_INT, -1, UINT64_MAX, 0, NULL},
    {"n=0x_ff", -1, 0, 0, 0, NULL},
    {"n=0xff", TK_V_INT, 0, 255, 0, NULL},
    {"n=0b101", TK_V_INT, 0, 5, 0, NULL},
    {"n=0o17", TK_V_INT, 0, 15, 0, NULL},
    {"n=1_000", TK_V_INT, 0, 1000, 0, NULL},
    {"n=18446744073709551616", TK_V_INT, 1, 0, 0, NULL},
    {"n=True", TK_V_BOOL, 0, 1, 0, NULL},
    {"n=False", TK_V_BOOL, 0, 0, 0, NULL},
    {"n=none", TK_V_NONE, 0, 0, 0, NULL},
    {"n=None", TK_V_NONE, 0, 0, 0, NULL},
    {"eps=1e-5", TK_V_FLOAT, 0, 0, 1e-5, NULL},
    {"eps=.5", TK_V_FLOAT, 0, 0, 0.5, NULL},
    {"eps=-2.", TK_V_FLOAT, 0, 0, -2, NULL},
    {"eps=inf", TK_V_FLOAT, 0, 0, INFINITY, NULL},
    {"eps=-inf", TK_V_FLOAT, 0, 0, -INFINITY, NULL},
    {"n=(5)", TK_V_INT, 0, 5, 0, NULL},
    {"B=1024", TK_V_INT, 0, 1024, 0, NULL},
    {"B=tl.float16", TK_V_DTYPE, 0, TK_FP16, 0, NULL},
    {"B=*fp32", TK_V_DTYPE, 1, TK_FP32, 0, NULL},
    {"act=gelu", TK_V_STR, 0, 0, 0, "gelu"},
    {"act='a b'", TK_V_STR, 0, 0, 0, "a b"},
    {"act=\"q\\n\\\"\"", TK_V_STR, 0, 0, 0, "q\n\""},
    {"act='bf16'", TK_V_STR, 0, 0, 0, "bf16"},
};

START_TEST(value_texts) {
  fixture x = begin();
  if (values[_i].kind < 0) {
    ck_assert_int_eq(tk_launch_arg_text(x.l, values[_i].text), TK_USAGE);
    end(&x);
    return;
  }
  accept(&x, values[_i].text);
  char name[16] = "";
  memcpy(name, values[_i].text, strcspn(values[_i].text, "="));
  tk_value *v = &arg(&x, name)->value;
  ck_assert_int_eq(arg(&x, name)->kind, TK_ARG_VALUE);
  ck_assert_int_eq((int)v->kind, values[_i].kind);
  ck_assert_int_eq(v->hi, values[_i].hi);
  ck_assert(v->lo == values[_i].lo);
  ck_assert(v->f == values[_i].f);
  if (values[_i].str) ck_assert_str_eq(v->str, values[_i].str);
  end(&x);
}
END_TEST

START_TEST(other_texts) {
  fixture x = begin();
  accept(&x, "n=i64:5");
  ck_assert_int_eq(arg(&x, "n")->kind, TK_ARG_SCALAR);
  ck_assert_int_eq((int)arg(&x, "n")->dtype, TK_INT64);
  ck_assert_uint_eq(arg(&x, "n")->bits, 5);
  accept(&x, "n=f32:0.5");
  ck_assert_uint_eq(arg(&x, "n")->bits, 0x3f000000);
  accept(&x, "n=i8:-1");
  ck_assert(arg(&x, "n")->bits == UINT64_MAX);
  accept(&x, "B=(1, (2.5, None), 'x',)");
  const tk_value *v = &arg(&x, "B")->value;
  ck_assert_int_eq(v->kind, TK_V_TUPLE);
  ck_assert_uint_eq(v->n, 3);
  ck_assert_int_eq(v->items[1].kind, TK_V_TUPLE);
  ck_assert(v->items[1].items[0].f == 2.5);
  ck_assert_str_eq(v->items[2].str, "x");
  accept(&x, "B=()");
  ck_assert_uint_eq(arg(&x, "B")->value.n, 0);
  end(&x);
}
END_TEST

static const struct {
  const char *text, *says;
} refused[] = {
    {"", "expected NAME=SPEC"},
    {"x_ptr", "expected NAME=SPEC"},
    {"x_ptr=", "'x_ptr' has no value"},
    {"x_pr=1", "did you mean 'x_ptr'? (parameters: x_ptr, y_ptr, n"},
    {"x_ptr=f33[4]:ones", "unknown dtype 'f33'"},
    {"x_ptr=flaot32[4]", "unknown dtype"},
    {"x_ptr=f32[4", "expected ','"},
    {"x_ptr=f32[4.5]", "expected an integer"},
    {"x_ptr=f32[-4]", "a length may be 0 to"},
    {"x_ptr=f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "at most 20 axes"},
    {"x_ptr=f32[99999999999]", "more than 64 GiB"},
    {"x_ptr=f32[9999999999,9999999999,9999999999]", "more than 64 GiB"},
    {"x_ptr=f32[4]:", "expected how to fill"},
    {"x_ptr=f32[4]:oens", "did you mean 'ones'?"},
    {"x_ptr=f32[4]:full", "this reads full(VALUE)"},
    {"x_ptr=f32[4]:ones(3)", "this reads ones"},
    {"x_ptr=f32[4]:rand(1.5)", "expected an integer"},
    {"x_ptr=f32[4]:rand(1", "expected ')'"},
    {"x_ptr=i32[4]:rand", "randint(LO, HI)"},
    {"x_ptr=i32[4]:randint(5,5)", "LO < HI"},
    {"x_ptr=i8[4]:full(300)", "does not fit int8"},
    {"x_ptr=i8[4]:full(1.5)", "expected an integer"},
    {"x_ptr=u64[4]:full(-1)", "does not fit uint64"},
    {"x_ptr=f32[4]:ones junk", "unexpected text here"},
    {"x_ptr=f32[4]junk", "unexpected text here"},
    {"x_ptr=@", "expected a path"},
    {"x_ptr=@/nowhere.npy", "/nowhere.npy: No such file"},
    {"n=i8:128", "does not fit int8"},
    {"n=i8:1.5", "expected an integer for int8"},
    {"n=f32:'x'", "expected a number for fp32"},
    {"n=relu", "'relu' is not a value"},
    {"n='relu'", "only a constexpr parameter takes a string"},
    {"n=tl.float32", "only a constexpr parameter takes a dtype"},
    {"n=5 6", "unexpected text here"},
    {"n=1__0x", "expected a number"},
    {"n=12three", "expected a number"},
    {"n=99999999999999999999999999999999999999999", "more than 128 bits"},
    {"n=(1, 2", "is not closed"},
    {"n=(1 2)", "or ',' in a tuple"},
    {"n=((((((((((((((((((1))))))))))))))))))", "too deeply"},
    {"act='abc", "does not end"},
    {"act='\\q'", "unknown escape"},
    {"act=@x.npy", "it takes a value"},
};

START_TEST(refused_texts) {
  fixture x = begin();
  ck_assert_int_eq(tk_launch_arg_text(x.l, refused[_i].text), TK_USAGE);
  says(x.s, refused[_i].says);
  end(&x);
}
END_TEST

START_TEST(carets) {
  fixture x = begin();
  tk_launch_arg_text(x.l, "x_ptr=f32[4]:oens");
  says(x.s, "--arg:1:14: error: unknown fill 'oens' [argument]\n"
            "    1 | x_ptr=f32[4]:oens\n"
            "      |              ^~~~\n");
  end(&x);
}
END_TEST

/* ---- grids ------------------------------------------------------------- */

START_TEST(grids) {
  fixture x = begin();
  ck_assert_int_eq(tk_launch_grid_text(x.l, "97"), TK_OK);
  ck_assert_int_eq(x.l->grid[0], 97);
  ck_assert_int_eq(x.l->grid[2], 1);
  ck_assert_int_eq(tk_launch_grid_text(x.l, " ( 4 , 5 , 6 ) "), TK_OK);
  ck_assert_int_eq(x.l->grid[2], 6);
  ck_assert_int_eq(tk_launch_grid_text(x.l, "(7,)"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(x.l, 2, 3, 0), TK_OK);
  ck_assert_int_eq(x.l->grid[1], 3);
  static const char *const bad[] = {"",     "x",       "1,",        "1,2,3,4",
                                    "-1",   "1.5",     "(1",        "1 2",
                                    "1,,2", "1,65536", "2147483648"};
  for (size_t i = 0; i < TK_COUNT(bad); i++)
    ck_assert_int_eq(tk_launch_grid_text(x.l, bad[i]), TK_USAGE);
  ck_assert_int_eq(tk_launch_grid(x.l, -1, 1, 1), TK_USAGE);
  ck_assert_int_eq(tk_launch_grid(x.l, 1, 65536, 1), TK_USAGE);
  says(x.s, "grid axis y is 65536");
  ck_assert_int_eq(x.l->grid[0], 2);
  end(&x);
}
END_TEST

/* ---- arguments by value ------------------------------------------------ */

START_TEST(tensors) {
  fixture x = begin();
  float data[12] = {0};
  tk_tensor t = {.data = data, .dtype = TK_FP32, .rank = 2};
  t.shape[0] = 3, t.shape[1] = 4, t.strides[0] = 4, t.strides[1] = 1;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_OK);
  ck_assert_ptr_eq(tk_launch_get_tensor(x.l, "x_ptr")->data, data);
  ck_assert_int_eq(tk_launch_tensor(x.l, "z_ptr", &t), TK_USAGE);
  t.storage = data, t.storage_bytes = sizeof data;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_OK);
  t.storage_bytes--;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.strides[0] = -4;
  t.storage_bytes++;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.data = data + 8;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_OK);
  t.strides[0] = INT64_MAX / 2;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.strides[0] = 4, t.rank = TK_MAX_RANK + 1;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.rank = 1, t.shape[0] = -1;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.shape[0] = 1, t.data = NULL;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_USAGE);
  t.storage = NULL, t.shape[0] = 0;
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", &t), TK_OK);
  ck_assert_int_eq(tk_launch_extra(x.l, "hidden", &t), TK_OK);
  ck_assert_uint_eq(x.l->extras.n, 1);
  ck_assert_int_eq(tk_launch_tensor(x.l, "x_ptr", NULL), TK_USAGE);
  end(&x);
}
END_TEST

START_TEST(scalars) {
  fixture x = begin();
  tk_value items[2] = {{.kind = TK_V_INT, .lo = 1},
                       {.kind = TK_V_STR, .str = "b", .n = 1}};
  tk_value v = {.kind = TK_V_TUPLE, .items = items, .n = 2};
  ck_assert_int_eq(tk_launch_value(x.l, "B", &v), TK_OK);
  items[0].lo = 2;
  ck_assert_uint_eq(arg(&x, "B")->value.items[0].lo, 1);
  ck_assert_int_eq(tk_launch_scalar(x.l, "n", TK_INT64, 5), TK_OK);
  ck_assert_int_eq(tk_launch_scalar(x.l, "n", (tk_dtype)77, 5), TK_USAGE);
  ck_assert_int_eq(tk_launch_no_specialize(x.l, "n"), TK_OK);
  ck_assert(arg(&x, "n")->no_specialize);
  ck_assert_int_eq(tk_launch_no_specialize(x.l, "m"), TK_USAGE);
  end(&x);
}
END_TEST

START_TEST(printing) {
  fixture x = begin();
  tk_session_output(x.s, hear, &x);
  accept(&x, "x_ptr=f32[3]:arange");
  ck_assert_int_eq(tk_launch_print(x.l, "x_ptr"), TK_OK);
  ck_assert_str_eq(x.out, "x_ptr = [0. 1. 2.]\n");
  ck_assert_int_eq(tk_launch_print(x.l, "n"), TK_USAGE);
  says(x.s, "argument 'n' is not a tensor");
  end(&x);
}
END_TEST

/* ---- random numbers ---------------------------------------------------- */

static uint64_t fnv(const void *data, size_t n) {
  uint64_t h = 0xcbf29ce484222325;
  const uint8_t *p = data;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3;
  return h;
}

/* PyTorch 2.13: torch.manual_seed(seed); hash of torch.rand(n)'s bytes. */
static const struct {
  uint64_t seed;
  size_t n;
  uint64_t hash;
} rands[] = {
    {0, 1, 0xa9231c5d75015352},      {0, 5, 0x4530ae1f72c05e76},
    {0, 15, 0x416854df90ce0382},     {0, 16, 0x355f338c445c75f8},
    {0, 17, 0xfd08c14cc4f53331},     {0, 100, 0x6fdb1de1771ac15e},
    {0, 98432, 0x1295bdc168341252},  {1, 1, 0x7050ec4fd5e48ea8},
    {1, 5, 0xb87e0a2ac6341eda},      {1, 15, 0xd9184f35df7b0359},
    {1, 16, 0xc524cb58c959b8d2},     {1, 17, 0xa90a2b44a6c43114},
    {1, 100, 0x2357631c7d3094b3},    {1, 98432, 0xca947711c31aeb43},
    {42, 1, 0xdee1e875a6e2dabf},     {42, 5, 0x280af9eaf234580c},
    {42, 15, 0x5a450c719888720c},    {42, 16, 0x5543ac5566e6f7bf},
    {42, 17, 0x5492e2e45af49d73},    {42, 100, 0xbce2f386227c622e},
    {42, 98432, 0x2f36de8ea005afc7},
};

START_TEST(rand_bits) {
  float *out = malloc(rands[_i].n * sizeof *out);
  tk_random_rand(rands[_i].seed, out, rands[_i].n);
  ck_assert(fnv(out, rands[_i].n * sizeof *out) == rands[_i].hash);
  free(out);
}
END_TEST

START_TEST(rand_of_other_types) {
  static const struct {
    int dtype;
    uint64_t hash;
  } want[] = {{TK_FP16, 0xbb9baba0802a01d5},
              {TK_BF16, 0xdbd296780a7b97b9},
              {TK_FP64, 0xfa8307978801ab05}};
  for (size_t i = 0; i < TK_COUNT(want); i++) {
    double out[1000];
    tkn_random r;
    tk_dtype d = (tk_dtype)want[i].dtype;
    tkn_random_start(&r, NULL, 7);
    tkn_rand(&r, d, out, 1000);
    ck_assert(fnv(out, 1000 * tk_dtype_size(d)) == want[i].hash);
  }
}
END_TEST

START_TEST(randint_bits) {
  static const struct {
    int64_t lo, hi;
    uint64_t hash;
  } want[] = {{0, 10, 0xfa387991e231dc61},
              {-5, 100, 0x3b2254f22f7914fd},
              {0, 268435456, 0x4f11420ba3c46241},
              {INT32_MIN, INT32_MAX, 0x8b87af9b58ed76f6}};
  for (size_t i = 0; i < TK_COUNT(want); i++) {
    int32_t out[1000];
    tkn_random r;
    tkn_random_start(&r, NULL, 3);
    tkn_randint(&r, TK_INT32, out, 1000, want[i].lo, want[i].hi);
    ck_assert(fnv(out, sizeof out) == want[i].hash);
  }
}
END_TEST

/* First, middle and last of torch.randn(n). */
static const struct {
  uint64_t seed;
  size_t n;
  float first, middle, last;
} normals[] = {
    {0, 1, 1.54099607f, 1.54099607f, 1.54099607f},
    {0, 5, 1.54099607f, -2.17878938f, -1.08452237f},
    {0, 15, 1.54099607f, 0.838026345f, -1.07118738f},
    {0, 16, -1.12583983f, 0.322274923f, -0.247278154f},
    {0, 17, -1.12583983f, 0.468096405f, 0.931826591f},
    {0, 100, -1.12583983f, 1.05535746f, 0.232918292f},
    {1, 15, 0.661352158f, 0.381683916f, 0.422415316f},
    {1, 17, -1.5255959f, 0.439141572f, -0.798439801f},
    {1, 100, -1.5255959f, 0.0662802607f, -0.874263167f},
    {42, 5, 0.336690366f, 0.234462366f, -1.12285638f},
    {42, 16, 1.92691529f, -0.752135277f, 0.76244539f},
    {42, 100, 1.92691529f, 0.0780238733f, 0.617280722f},
};

START_TEST(randn_values) {
  float out[100];
  size_t n = normals[_i].n;
  tk_random_randn(NULL, normals[_i].seed, out, n);
  ck_assert_float_eq_tol(out[0], normals[_i].first, 1e-6f);
  ck_assert_float_eq_tol(out[n / 2], normals[_i].middle, 1e-6f);
  ck_assert_float_eq_tol(out[n - 1], normals[_i].last, 1e-6f);
}
END_TEST

/* ---- program conditions ------------------------------------------------ */

static const struct {
  const char *conds;
  int64_t pid[3];
  bool match;
} matches[] = {
    {"", {5, 6, 7}, true},         {"0,1", {0, 1, 9}, true},
    {"0,1", {1, 0, 9}, false},     {"=0", {0, 1, 1}, true},
    {"==0", {1, 0, 0}, false},     {",>1", {9, 2, 0}, true},
    {",>1", {9, 1, 0}, false},     {">=2,!=0", {2, 1, 0}, true},
    {">=2,!=0", {2, 0, 0}, false}, {"0:4", {3, 0, 0}, true},
    {"0:4", {4, 0, 0}, false},     {" 1 : 3 , <= 2 ", {2, 2, 0}, true},
    {":3", {2, 0, 0}, true},       {":3", {3, 0, 0}, false},
    {"3:", {3, 0, 0}, true},       {"3:", {2, 0, 0}, false},
    {",,7", {1, 1, 7}, true},      {",,<7", {1, 1, 7}, false},
    {"> 0", {1, 0, 0}, true},      {"<1,,", {0, 4, 4}, true},
    {"0x10", {16, 0, 0}, true},    {">-1", {0, 0, 0}, true},
};

START_TEST(conditions) {
  fixture x = begin();
  tk_pids p;
  const char *c = matches[_i].conds;
  ck_assert(tk_pids_parse(&x.s->env, c, strlen(c), &p));
  ck_assert(tk_pids_match(&p, matches[_i].pid) == matches[_i].match);
  ck_assert_int_eq(tk_pids_check(x.s, c), TK_OK);
  end(&x);
}
END_TEST

START_TEST(bad_conditions) {
  static const char *const bad[] = {
      "a",   ">",     "0,1,2,3", "1 2", "=>1", "4:2",
      "1.5", "0:4:2", "=",       "!1",  "<<1", "9999999999999999999"};
  fixture x = begin();
  tk_pids p;
  for (size_t i = 0; i < TK_COUNT(bad); i++) {
    ck_assert_int_eq(tk_pids_check(x.s, bad[i]), TK_USAGE);
    ck_assert(!tk_pids_parse(&x.s->env, bad[i], strlen(bad[i]), &p));
    ck_assert_uint_eq(tk_report_count(x.s), 2);
    tk_report_clear(x.s);
  }
  tk_pids_check(x.s, "0,>x");
  says(x.s, "--pid:1:4: error: expected a program id [condition]\n"
            "    1 | 0,>x\n"
            "      |    ^\n");
  tk_pids_parse(&x.s->env, "0,>x", 4, &p);
  says(x.s, "expected a program id (at character 4 of '0,>x')");
  char large[300];
  memset(large, ' ', sizeof large);
  ck_assert(tk_pids_parse(&x.s->env, large, sizeof large, &p));
  large[sizeof large - 1] = 'x';
  ck_assert(!tk_pids_parse(&x.s->env, large, sizeof large, &p));
  says(x.s, "expected a program id (at character 300 of '    ");
  ck_assert_int_eq(tk_pids_check(x.s, NULL), TK_OK);
  end(&x);
}
END_TEST

START_TEST(orders) {
  static const uint64_t sizes[] = {1, 2, 3, 4, 5, 97, 256, 1000, 4097};
  fixture x = begin();
  tk_order o;
  for (size_t k = 0; k < TK_COUNT(sizes); k++) {
    uint64_t n = sizes[k], moved = 0;
    bool *seen = calloc(n, sizeof *seen);
    ck_assert(tk_order_parse(&x.s->env, "shuffle:7", n, &o));
    for (uint64_t i = 0; i < n; i++) {
      uint64_t at = tk_order_at(&o, i);
      ck_assert(at < n && !seen[at]);
      seen[at] = true;
      moved += at != i;
    }
    ck_assert(n < 97 || moved > n / 2);
    free(seen);
  }
  ck_assert(tk_order_parse(&x.s->env, "reverse", 5, &o));
  ck_assert_uint_eq(tk_order_at(&o, 0), 4);
  ck_assert(tk_order_parse(&x.s->env, NULL, 5, &o));
  ck_assert_uint_eq(tk_order_at(&o, 3), 3);
  ck_assert(tk_order_parse(&x.s->env, "shuffle:18446744073709551615",
                           UINT64_MAX, &o));
  ck_assert(tk_order_at(&o, 1) != 1);
  static const char *const bad[] = {"", "shufle", "shuffle:", "shuffle:x",
                                    "shuffle:18446744073709551616"};
  for (size_t i = 0; i < TK_COUNT(bad); i++)
    ck_assert(!tk_order_parse(&x.s->env, bad[i], 5, &o));
  says(x.s, "shuffle:SEED");
  end(&x);
}
END_TEST

START_TEST(tensors_in_values) {
  fixture x = begin();
  float data[4] = {0};
  tk_tensor t = {.data = data, .dtype = TK_FP32, .rank = 1};
  t.shape[0] = 4, t.strides[0] = 1;
  tk_value tensor = {.kind = TK_V_TENSOR, .ptr = &t};
  tk_value one = {.kind = TK_V_INT, .lo = 1};
  tk_value four = {.kind = TK_V_INT, .lo = 4};
  tk_value ones = {.kind = TK_V_TUPLE, .items = &one, .n = 1};
  tk_value block = {.kind = TK_V_TUPLE, .items = &four, .n = 1};
  tk_value pad = {.kind = TK_V_STR, .str = "zero", .n = 4};
  tk_value parts[5] = {tensor, block, ones, block, pad};
  tk_value d = {.kind = TK_V_DESCRIPTOR, .items = parts, .n = 5};
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(tk_launch_value(x.l, "x_ptr", &d), TK_OK);
  ck_assert_uint_eq(x.l->extras.n, 1);
  ck_assert_str_eq(x.l->extras.items[0].name, "x_ptr[0]");
  ck_assert_ptr_null(arg(&x, "x_ptr")->value.items[0].ptr);
  d.n = 4;
  ck_assert_int_eq(tk_launch_value(x.l, "x_ptr", &d), TK_USAGE);
  d.n = 5, parts[3] = ones, parts[2] = (tk_value){.kind = TK_V_TUPLE};
  ck_assert_int_eq(tk_launch_value(x.l, "x_ptr", &d), TK_USAGE);
  parts[0] = (tk_value){.kind = (tk_value_kind)99};
  ck_assert_int_eq(tk_launch_value(x.l, "x_ptr", &d), TK_USAGE);
  tensor.ptr = NULL;
  ck_assert_int_eq(tk_launch_value(x.l, "y_ptr", &tensor), TK_USAGE);
  end(&x);
}
END_TEST

/* ---- the suite --------------------------------------------------------- */

static Suite *suite(void) {
  Suite *s = suite_create("launch");
  TCase *c = tcase_create("launch");
  tcase_set_timeout(c, 120);
  tcase_add_test(c, modules);
  tcase_add_test(c, functions);
  tcase_add_test(c, functions_not_found);
  tcase_add_test(c, reports);
  tcase_add_test(c, tensor_texts);
  tcase_add_test(c, seeds);
  tcase_add_loop_test(c, value_texts, 0, TK_COUNT(values));
  tcase_add_test(c, other_texts);
  tcase_add_loop_test(c, refused_texts, 0, TK_COUNT(refused));
  tcase_add_test(c, carets);
  tcase_add_test(c, grids);
  tcase_add_test(c, tensors);
  tcase_add_test(c, scalars);
  tcase_add_test(c, tensors_in_values);
  tcase_add_test(c, printing);
  tcase_add_loop_test(c, rand_bits, 0, TK_COUNT(rands));
  tcase_add_test(c, rand_of_other_types);
  tcase_add_test(c, randint_bits);
  tcase_add_loop_test(c, randn_values, 0, TK_COUNT(normals));
  tcase_add_loop_test(c, conditions, 0, TK_COUNT(matches));
  tcase_add_test(c, bad_conditions);
  tcase_add_test(c, orders);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
