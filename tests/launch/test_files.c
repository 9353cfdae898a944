/* test_files.c - .npy files, the host's answers, launch files, and every
 * allocation failing once.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "support/suite.h"

/* ---- .npy files -------------------------------------------------------- */

static char dir[64];

static const char *path(const char *name) {
  static char text[128];
  snprintf(text, sizeof text, "%s/%s", dir, name);
  return text;
}

static void write_bytes(const char *name, const void *data, size_t n) {
  FILE *f = fopen(path(name), "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(data, 1, n, f), n);
  fclose(f);
}

/* A .npy file of the given version, header and data. */
static void write_npy(int version, const char *header, const void *data,
                      size_t n) {
  char buf[1024] = "\x93NUMPY";
  size_t len = strlen(header), at = version == 1 ? 10 : 12;
  buf[6] = (char)version;
  buf[8] = (char)(len & 255);
  buf[9] = (char)(len >> 8);
  memcpy(buf + at, header, len);
  if (n) memcpy(buf + at + len, data, n);
  write_bytes("in.npy", buf, at + len + n);
}

static tk_status load_npy(fixture *x, const char *prefix) {
  char text[256];
  snprintf(text, sizeof text, "x_ptr=%s@%s", prefix, path("in.npy"));
  return tk_launch_arg_text(x->l, text);
}

static const struct {
  const char *type, *np;
} saved[] = {
    {"bool", "|b1"}, {"i8", "|i1"},    {"u8", "|u1"},  {"i16", "<i2"},
    {"u16", "<u2"},  {"i32", "<i4"},   {"u32", "<u4"}, {"i64", "<i8"},
    {"u64", "<u8"},  {"f16", "<f2"},   {"f32", "<f4"}, {"f64", "<f8"},
    {"bf16", "<f4"}, {"fp8e5", "<f4"},
};

/* Saved, found in the file as NumPy names it, loaded, the same lanes. */
START_TEST(npy_round_trip) {
  fixture x = begin();
  char text[256], file[1024] = "";
  snprintf(text, sizeof text, "x_ptr=%s[3,5]:arange", saved[_i].type);
  accept(&x, text);
  ck_assert_int_eq(tk_launch_save(x.l, "x_ptr", path("in.npy")), TK_OK);
  FILE *f = fopen(path("in.npy"), "rb");
  size_t n = fread(file, 1, sizeof file, f);
  fclose(f);
  ck_assert_uint_eq((10 + (size_t)file[8]) % 64, 0);
  ck_assert(n > 80 && !memcmp(file, "\x93NUMPY\x01", 8));
  ck_assert_ptr_nonnull(strstr(file + 10, saved[_i].np));
  ck_assert_ptr_nonnull(strstr(file + 10, "'shape': (3, 5), }"));
  snprintf(text, sizeof text, "y_ptr=%s[3,5]:@%s", saved[_i].type,
           path("in.npy"));
  accept(&x, text);
  const tk_tensor *a = tk_launch_get_tensor(x.l, "x_ptr");
  const tk_tensor *b = tk_launch_get_tensor(x.l, "y_ptr");
  ck_assert_int_eq((int)a->dtype, (int)b->dtype);
  ck_assert_uint_eq(a->storage_bytes, b->storage_bytes);
  ck_assert_mem_eq(a->data, b->data, a->storage_bytes);
  end(&x);
}
END_TEST

START_TEST(npy_orders_and_versions) {
  fixture x = begin();
  static const int16_t lanes[6] = {1, 2, 3, 4, 5, 6};
  write_npy(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n",
            lanes, sizeof lanes);
  ck_assert_int_eq(load_npy(&x, ""), TK_OK);
  const tk_tensor *t = tk_launch_get_tensor(x.l, "x_ptr");
  static const int16_t rows[6] = {1, 3, 5, 2, 4, 6};
  ck_assert_mem_eq(t->data, rows, sizeof rows);
  ck_assert_int_eq(t->strides[0], 3);
  write_npy(2, "{\"shape\":(6,),'descr':'>i2','fortran_order':False}", lanes,
            sizeof lanes);
  ck_assert_int_eq(load_npy(&x, "i16[6]:"), TK_OK);
  t = tk_launch_get_tensor(x.l, "x_ptr");
  ck_assert_int_eq(((int16_t *)t->data)[1], 0x200);
  write_npy(3, "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\x07",
            1);
  ck_assert_int_eq(load_npy(&x, ""), TK_OK);
  t = tk_launch_get_tensor(x.l, "x_ptr");
  ck_assert_int_eq(*(uint8_t *)t->data, 1);
  write_npy(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}",
            "\x80\x3f", 2);
  ck_assert_int_eq(load_npy(&x, "bf16[1]:"), TK_OK);
  t = tk_launch_get_tensor(x.l, "x_ptr");
  ck_assert(tk_lane_double(TK_BF16, t->data) == 1);
  ck_assert_int_eq(load_npy(&x, ""), TK_USAGE);
  says(x.s, "void items need a dtype");
  ck_assert_int_eq(load_npy(&x, "f32[1]:"), TK_USAGE);
  says(x.s, "holds void[1], not fp32[1]");
  end(&x);
}
END_TEST

static const struct {
  int version;
  const char *header;
  size_t n;
  const char *says;
} damaged[] = {
    {4, "{}", 0, "version 4.0"},
    {1, "", 0, "expected '{'"},
    {1, "{}", 0, "a key is missing"},
    {1, "{'descr': '<f4', 'fortran_order': False}", 0, "a key is missing"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7,
     "claims 8 bytes of data, the file has 7"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9,
     "the file has 9"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", 8,
     "(5) is not a tuple"},
    {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8,
     "expected True or False"},
    {1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8,
     "dtype '<c8'"},
    {1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8,
     "dtype '|O'"},
    {1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", 8,
     "expected a dtype"},
    {1,
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (900000000000000000, 900000000000000000)}",
     8, "more than 64 GiB"},
    {1,
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (99999999999999999999999,)}",
     8, "a length beyond any array"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 8,
     "expected a length"},
    {1,
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
     4, "more than 20 axes"},
    {1, "{'descr': '<f4', 'descr': '<f4'}", 0, "a key appears twice"},
    {1, "{'extra': 1}", 0, "unknown key"},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4,
     "text after the header"},
    {1, "__import__('os').abort()", 0, "expected '{'"},
};

START_TEST(npy_damaged) {
  fixture x = begin();
  char zeros[16] = "";
  write_npy(damaged[_i].version, damaged[_i].header, zeros, damaged[_i].n);
  ck_assert_int_eq(load_npy(&x, ""), TK_USAGE);
  ck_assert_int_eq(arg(&x, "x_ptr")->kind, TK_ARG_ABSENT);
  says(x.s, damaged[_i].says);
  end(&x);
}
END_TEST

START_TEST(npy_not_at_all) {
  fixture x = begin();
  write_bytes("in.npy", "", 0);
  ck_assert_int_eq(load_npy(&x, ""), TK_USAGE);
  says(x.s, "not a .npy file");
  write_bytes("in.npy", "PK\3\4 and more of it", 20);
  ck_assert_int_eq(load_npy(&x, ""), TK_USAGE);
  says(x.s, "not a .npy file");
  write_bytes("in.npy", "\x93NUMPY\x01\x00\xff\xff{}", 12);
  ck_assert_int_eq(load_npy(&x, ""), TK_USAGE);
  says(x.s, "its length is 65535");
  ck_assert_int_eq(tk_launch_save(x.l, "x_ptr", path("out.npy")), TK_USAGE);
  accept(&x, "x_ptr=f32[2]:ones");
  ck_assert_int_eq(tk_launch_save(x.l, "x_ptr", "/nowhere/o.npy"), TK_USAGE);
  says(x.s, "/nowhere/o.npy");
  end(&x);
}
END_TEST

/* ---- the host's answers ------------------------------------------------ */

typedef struct host_log {
  int asked;
  tk_function *helper;
} host_log;

static int answer_global(void *ud, void *scope, const char *name,
                         tk_value *out) {
  host_log *log = ud;
  log->asked++;
  ck_assert_ptr_eq(scope, log);
  if (!strcmp(name, "SCALE")) {
    *out = (tk_value){.kind = TK_V_FLOAT, .f = 0.1, .is_constexpr = true};
    return 1;
  }
  if (!strcmp(name, "helper")) {
    *out = (tk_value){.kind = TK_V_FUNCTION, .ptr = log->helper};
    return 1;
  }
  if (!strcmp(name, "config")) {
    *out = (tk_value){.kind = TK_V_OBJECT, .ptr = log, .str = "Config"};
    return 1;
  }
  if (!strcmp(name, "broken")) {
    *out = (tk_value){.str = "KeyError: 'x'"};
    return -1;
  }
  return 0;
}

static int answer_attr(void *ud, void *obj, const char *name, tk_value *out) {
  host_log *log = ud;
  log->asked++;
  ck_assert_ptr_eq(obj, log);
  *out = (tk_value){.kind = TK_V_STR, .str = "a\0b", .n = 3};
  return !strcmp(name, "mode");
}

static int answer_call(void *ud, void *obj, const tk_value *args, size_t nargs,
                       const char *const *kwnames, size_t nkw, tk_value *out) {
  host_log *log = ud;
  (void)obj, (void)kwnames, (void)nkw;
  log->asked++;
  *out = args[nargs - 1];
  out->lo += 100;
  return 1;
}

typedef struct questions {
  tk_function *f;
  tk_value scale, config, mode, call, broken;
  int found[6];
} questions;

static void ask_all(tk_env *e, void *ud) {
  questions *q = ud;
  static const char *const names[] = {"k"};
  tk_value args[2] = {{.kind = TK_V_STR, .str = "x", .n = 1},
                      {.kind = TK_V_INT, .lo = 7}},
           none;
  q->found[0] = tk_host_global(e, q->f, "SCALE", &q->scale);
  q->found[1] = tk_host_global(e, q->f, "config", &q->config);
  q->found[2] = tk_host_attr(e, q->f, q->config.ptr, "mode", &q->mode);
  q->found[3] =
      tk_host_call(e, q->f, q->config.ptr, args, 2, names, 1, &q->call);
  q->found[4] = tk_host_global(e, q->f, "broken", &q->broken);
  q->found[5] = tk_host_global(e, q->f, "nowhere", &none);
}

static void check_answers(fixture *x, tk_function *f) {
  questions q = {.f = f};
  ck_assert_int_eq(tk_protect(&x->s->env, ask_all, &q), TK_OK);
  static const int want[6] = {1, 1, 1, 1, -1, 0};
  ck_assert_mem_eq(q.found, want, sizeof want);
  ck_assert(q.scale.f == 0.1 && q.scale.is_constexpr);
  ck_assert_str_eq(q.config.str, "Config");
  ck_assert(q.mode.n == 3 && !memcmp(q.mode.str, "a\0b", 3));
  ck_assert_uint_eq(q.call.lo, 107);
  ck_assert_str_eq(q.broken.str, "KeyError: 'x'");
}

static tk_host make_host(host_log *log) {
  return (tk_host){log, answer_global, answer_attr, answer_call};
}

START_TEST(host_is_asked_once) {
  fixture x = begin();
  host_log log = {0};
  tk_host host = make_host(&log);
  tk_value v;
  ck_assert_int_eq(tk_host_global(&x.s->env, x.f, "SCALE", &v), 0);
  tk_function_host(x.f, &host, &log);
  check_answers(&x, x.f);
  ck_assert_int_eq(log.asked, 6);
  check_answers(&x, x.f);
  ck_assert_int_eq(log.asked, 7); /* what raised is tried again */
  tk_function *closure;
  ck_assert_int_eq(tk_function_at(x.m, "add_kernel", 10, &closure), TK_OK);
  ck_assert_ptr_ne(closure, x.f);
  tk_function_host(x.f, NULL, NULL);
  ck_assert_int_eq(tk_host_global(&x.s->env, x.f, "SCALE", &v), 0);
  end(&x);
}
END_TEST

/* ---- launch files ------------------------------------------------------ */

static void ask_helper(tk_env *e, void *ud) {
  questions *q = ud;
  tk_value v;
  q->found[0] = tk_host_global(e, q->f, "helper", &v);
  q->f = v.ptr;
}

/* Which bytes of the storage of two tensors were. */
static unsigned char written[32];

/* Two views of one storage, an empty tensor, values of every kind. */
static void fill_launch(fixture *x, float *data, float *extra) {
  tk_tensor a = {.data = data + 2,
                 .dtype = TK_FP32,
                 .rank = 1,
                 .storage = data,
                 .storage_bytes = 32,
                 .written = written};
  memset(written, 1, sizeof written);
  memset(written + 4, 0, 4);
  memset(written + 28, 0, 4);
  a.shape[0] = 3, a.strides[0] = 2;
  a.flags = TK_TENSOR_READONLY;
  tk_tensor b = a;
  b.data = data + 7, b.shape[0] = 8, b.strides[0] = -1, b.flags = 0;
  ck_assert_int_eq(tk_launch_tensor(x->l, "x_ptr", &a), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(x->l, "y_ptr", &b), TK_OK);
  tk_tensor c = {.data = extra, .dtype = TK_FP32, .rank = 2};
  c.shape[0] = c.shape[1] = 2, c.strides[0] = 2, c.strides[1] = 1;
  c.device_address = 0xdead0000;
  ck_assert_int_eq(tk_launch_extra(x->l, "table", &c), TK_OK);
  tk_tensor none = {.dtype = TK_INT8, .rank = 1, .strides = {1}};
  ck_assert_int_eq(tk_launch_extra(x->l, "nothing", &none), TK_OK);
  tk_value v = {.kind = TK_V_OBJECT, .ptr = x, .str = "Thing"};
  ck_assert_int_eq(tk_launch_value(x->l, "act", &v), TK_OK);
  accept(x, "B=(1, -2, 0.5, None, True, 'x\\0y', tl.bfloat16, *fp32)");
  ck_assert_int_eq(tk_launch_scalar(x->l, "n", TK_UINT64, UINT64_MAX), TK_OK);
  ck_assert_int_eq(tk_launch_no_specialize(x->l, "n"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(x->l, 4, 5, 6), TK_OK);
}

static void check_launch(tk_launch *l) {
  const tk_tensor *a = tk_launch_get_tensor(l, "x_ptr");
  const tk_tensor *b = tk_launch_get_tensor(l, "y_ptr");
  ck_assert(((float *)a->data)[2] == 4 && a->strides[0] == 2);
  ck_assert(((float *)b->data)[-1] == 6 && b->strides[0] == -1);
  ck_assert_ptr_eq(a->storage, b->storage);
  ck_assert_uint_eq(a->storage_bytes, 32);
  ck_assert_uint_eq(a->flags, TK_TENSOR_READONLY);
  ck_assert_mem_eq(a->written, written, sizeof written);
  ck_assert_ptr_eq(a->written, b->written);
  ck_assert(b->device_address - a->device_address == 20);
  ck_assert_uint_eq(l->extras.n, 2);
  const tk_tensor *c = &l->extras.items[0].tensor;
  ck_assert_str_eq(l->extras.items[0].name, "table");
  ck_assert_uint_eq(c->device_address, 0xdead0000);
  ck_assert(((float *)c->data)[3] == 13);
  ck_assert_int_eq(l->extras.items[1].tensor.shape[0], 0);
  tk_arg *n = tkn_arg_find(l, "n");
  ck_assert(n->kind == TK_ARG_SCALAR && n->no_specialize);
  ck_assert(n->dtype == TK_UINT64 && n->bits == UINT64_MAX);
  ck_assert_int_eq(tkn_arg_find(l, "eps")->kind, TK_ARG_ABSENT);
  const tk_value *v = &tkn_arg_find(l, "B")->value;
  ck_assert_uint_eq(v->n, 8);
  ck_assert(v->items[1].hi == -1 && v->items[2].f == 0.5);
  ck_assert_mem_eq(v->items[5].str, "x\0y", 3);
  ck_assert(v->items[7].kind == TK_V_DTYPE && v->items[7].hi == 1);
  ck_assert_str_eq(tkn_arg_find(l, "act")->value.str, "Thing");
  ck_assert(l->grid[0] == 4 && l->grid[1] == 5 && l->grid[2] == 6);
}

START_TEST(launch_round_trip) {
  fixture x = begin();
  host_log log = {0};
  tk_host host = make_host(&log);
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, extra[4] = {10, 11, 12, 13};
  fill_launch(&x, data, extra);
  ck_assert_int_eq(tk_function_named(x.m, "helper", &log.helper), TK_OK);
  tk_function_host(x.f, &host, &log);
  tk_function_host(log.helper, &host, &log);
  check_answers(&x, x.f);
  check_answers(&x, log.helper);
  questions q = {.f = x.f};
  tk_protect(&x.s->env, ask_helper, &q);
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  end(&x);
  for (int pass = 0; pass < 2; pass++) { /* a replay can be recorded too */
    fixture y = {.s = tk_session_new()};
    const char *file = path(pass ? "b.launch" : "a.launch");
    if (tk_launch_replay(y.s, file, &y.l) != TK_OK)
      ck_abort_msg("%s", tk_report(y.s, false));
    check_launch(y.l);
    y.f = y.l->fn;
    ck_assert_str_eq(tk_function_name(y.f), "add_kernel");
    check_answers(&y, y.f);
    q.f = y.f;
    ck_assert_int_eq(tk_protect(&y.s->env, ask_helper, &q), TK_OK);
    ck_assert_int_eq(q.found[0], 1);
    ck_assert_str_eq(tk_function_name(q.f), "helper");
    check_answers(&y, q.f);
    ck_assert_int_eq(tk_launch_record(y.l, path("b.launch")), TK_OK);
    end(&y);
  }
}
END_TEST

static size_t read_file(const char *name, char *out, size_t room) {
  FILE *f = fopen(path(name), "rb");
  size_t n = fread(out, 1, room, f);
  fclose(f);
  return n;
}

/* An ordinary tensor is an ordinary safetensors entry. */
START_TEST(launch_is_safetensors) {
  fixture x = begin();
  static char file[8192];
  accept(&x, "x_ptr=u8[3]:arange");
  accept(&x, "y_ptr=bf16[2,2]:ones");
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  size_t n = read_file("a.launch", file, sizeof file - 1);
  size_t header = (uint8_t)file[0] | (size_t)(uint8_t)file[1] << 8;
  ck_assert_uint_eq(header % 8, 0);
  ck_assert_uint_eq(n, 8 + header + 11);
  ck_assert_ptr_nonnull(strstr(file + 8,
                               "\"y_ptr\":{\"dtype\":\"BF16\",\"shape\":[2,2],"
                               "\"data_offsets\":[0,8]}"));
  ck_assert_ptr_nonnull(strstr(file + 8,
                               "\"x_ptr\":{\"dtype\":\"U8\",\"shape\":[3],"
                               "\"data_offsets\":[8,11]}"));
  ck_assert_mem_eq(file + n - 3, "\0\1\2", 3);
  ck_assert_int_eq(tk_launch_record(x.l, "/nowhere/x"), TK_USAGE);
  end(&x);
}
END_TEST

/* The replayed kernel's source. */
static const char *text_of(const tk_launch *l) {
  return l->fn->module->file->src->text;
}

/* A recording is opened once and replayed in any session, with edits or
 * without, and what one replay does to its tensors no other one sees. */
START_TEST(recording_is_replayed_often) {
  fixture x = begin();
  accept(&x, "x_ptr=f32[3]:arange");
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  end(&x);
  tk_session *keeper = tk_session_new();
  tk_recording *r;
  ck_assert_int_eq(tk_recording_open(keeper, path("a.launch"), &r), TK_OK);
  remove(path("a.launch"));
  size_t at = (size_t)(strstr(source, "SCALE") - source);
  for (int pass = 0; pass < 4; pass++) {
    tk_edit edit = {"k.py", at, 5, pass & 1 ? "ZETA" : "ETA"};
    tk_session *s = pass < 3 ? tk_session_new() : keeper;
    tk_launch *l;
    ck_assert_int_eq(tk_recording_replay(r, s, &edit, pass != 2, &l), TK_OK);
    ck_assert((strstr(text_of(l), "ZETA") != NULL) == (pass & 1));
    ck_assert((strstr(text_of(l), "SCALE") != NULL) == (pass == 2));
    float *lanes = tk_launch_get_tensor(l, "x_ptr")->data;
    ck_assert(lanes[2] == 2);
    lanes[2] = 5;
    if (s != keeper) tk_session_free(s);
  }
  tk_session_free(keeper);
}
END_TEST

START_TEST(recording_refuses) {
  fixture x = begin();
  tk_recording *r;
  tk_launch *l;
  accept(&x, "x_ptr=f32[3]:arange");
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  ck_assert_int_eq(tk_recording_open(x.s, path("a.launch"), &r), TK_OK);
  const tk_edit outside[] = {{"k.py", sizeof source, 0, "x"},
                             {"k.py", sizeof source - 3, 3, "x"}};
  for (size_t i = 0; i < TK_COUNT(outside); i++) {
    ck_assert_int_eq(tk_recording_replay(r, x.s, &outside[i], 1, &l), TK_USAGE);
    ck_assert_ptr_null(l);
    says(x.s, "an edit lies outside of the source 'k.py'");
    tk_report_clear(x.s);
  }
  ck_assert_int_eq(tk_recording_open(x.s, path("none"), &r), TK_USAGE);
  ck_assert_ptr_null(r);
  tk_report_clear(x.s);
  write_bytes("c.launch", "\2\0\0\0\0\0\0\0{}", 10);
  ck_assert_int_eq(tk_recording_open(x.s, path("c.launch"), &r), TK_USAGE);
  ck_assert_ptr_null(r);
  says(x.s, "was not written by --record");
  end(&x);
}
END_TEST

/* Any prefix of a launch file, and any one byte changed: never a crash, and
 * a prefix is never accepted. */
START_TEST(launch_damaged) {
  fixture x = begin();
  static char file[16384];
  float data[8] = {0}, extra[4] = {0};
  fill_launch(&x, data, extra);
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  size_t n = read_file("a.launch", file, sizeof file);
  ck_assert_uint_lt(n, sizeof file);
  tk_launch *l;
  for (size_t k = 0; k < n; k += k < 64 ? 1 : 13) {
    write_bytes("c.launch", file, k);
    ck_assert_int_eq(tk_launch_replay(x.s, path("c.launch"), &l), TK_USAGE);
    ck_assert_ptr_null(l);
    ck_assert_uint_gt(tk_report_count(x.s), 0);
    tk_report_clear(x.s);
  }
  for (size_t k = 0; k < n; k += 3) {
    char old = file[k];
    file[k] = (char)(old ^ (1 << k % 7));
    write_bytes("c.launch", file, n);
    tk_status st = tk_launch_replay(x.s, path("c.launch"), &l);
    ck_assert((st == TK_OK) == (l != NULL));
    ck_assert_int_ne(st, TK_INTERNAL);
    tk_launch_free(l);
    tk_report_clear(x.s);
    file[k] = old;
  }
  write_bytes("c.launch", "\2\0\0\0\0\0\0\0{}", 10);
  ck_assert_int_eq(tk_launch_replay(x.s, path("c.launch"), &l), TK_USAGE);
  says(x.s, "was not written by --record");
  end(&x);
}
END_TEST

/* ---- memory that runs out ---------------------------------------------- */

typedef struct meter {
  size_t live, calls, fail_at;
} meter;

static void *metered(void *ud, void *p, size_t old, size_t size) {
  meter *m = ud;
  if (size && ++m->calls == m->fail_at) return NULL;
  m->live += size - old;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

static void fine(tk_session *s, tk_status st) {
  ck_assert(st == TK_OK || st == TK_INTERNAL);
  if (st != TK_OK && tk_report_count(s)) {
    ck_assert_ptr_nonnull(strstr(tk_report(s, false), "out of memory"));
    ck_assert_ptr_nonnull(strstr(tk_report_json(s), "out of memory"));
  }
  tk_report_clear(s);
}

static void use_launch(tk_session *s, tk_launch *l) {
  static const char *const args[] = {"x_ptr=f32[40]:rand",
                                     "y_ptr=bf16[2,2]:full(3)",
                                     "n=98432",
                                     "eps=f32:1",
                                     "B=(1, 'two')",
                                     "act=relu"};
  for (size_t i = 0; i < TK_COUNT(args); i++)
    fine(s, tk_launch_arg_text(l, args[i]));
  fine(s, tk_launch_grid_text(l, "3,2"));
  fine(s, tk_pids_check(s, "0,>1"));
  bool full = tk_launch_get_tensor(l, "x_ptr");
  if (full) fine(s, tk_launch_print(l, "x_ptr"));
  if (full) fine(s, tk_launch_save(l, "x_ptr", path("m.npy")));
  if (full) fine(s, tk_launch_record(l, path("m.launch")));
}

/* Every public call once; a refused text too, for its report. */
static void scenario(meter *m) {
  tk_session *s = tk_session_new_with(metered, m);
  if (!s) return;
  tk_module *mod;
  tk_function *f;
  tk_launch *l = NULL, *again = NULL;
  fine(s, tk_module_open(s, "k.py", source, sizeof source - 1, &mod));
  if (mod) fine(s, tk_function_named(mod, "add_kernel", &f));
  if (mod && f) fine(s, tk_launch_new(s, f, &l));
  if (l) use_launch(s, l);
  if (l) tk_launch_arg_text(l, "nn=5");
  tk_report(s, true);
  tk_report_json(s);
  tk_report_clear(s);
  fine(s, tk_launch_replay(s, path("a.launch"), &again));
  tk_launch_free(again);
  tk_recording *r;
  tk_edit edit = {"k.py", 0, 6, "import"};
  fine(s, tk_recording_open(s, path("a.launch"), &r));
  if (r) tk_recording_replay(r, s, &edit, 1, &again);
  tk_session_free(s);
}

START_TEST(every_allocation_may_fail) {
  fixture x = begin();
  accept(&x, "x_ptr=f32[40]:rand");
  ck_assert_int_eq(tk_launch_record(x.l, path("a.launch")), TK_OK);
  end(&x);
  for (size_t n = 1;; n++) {
    meter m = {.fail_at = n};
    scenario(&m);
    if (m.live) ck_abort_msg("%zu bytes left after failure %zu", m.live, n);
    if (m.calls < n) break;
  }
}
END_TEST

/* ---- the suite --------------------------------------------------------- */

static void remove_files(void) {
  static const char *const names[] = {"in.npy",   "out.npy",  "a.launch",
                                      "b.launch", "c.launch", "m.npy",
                                      "m.launch"};
  for (size_t i = 0; i < TK_COUNT(names); i++) remove(path(names[i]));
  rmdir(dir);
}

static Suite *suite(void) {
  Suite *s = suite_create("launch files");
  TCase *c = tcase_create("launch files");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, npy_round_trip, 0, TK_COUNT(saved));
  tcase_add_test(c, npy_orders_and_versions);
  tcase_add_loop_test(c, npy_damaged, 0, TK_COUNT(damaged));
  tcase_add_test(c, npy_not_at_all);
  tcase_add_test(c, host_is_asked_once);
  tcase_add_test(c, launch_round_trip);
  tcase_add_test(c, launch_is_safetensors);
  tcase_add_test(c, recording_is_replayed_often);
  tcase_add_test(c, recording_refuses);
  tcase_add_test(c, launch_damaged);
  tcase_add_test(c, every_allocation_may_fail);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  const char *tmp = getenv("TMPDIR");
  snprintf(dir, sizeof dir, "%.40s/tkdbg-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(dir)) return EXIT_FAILURE;
  int failed = run_suite(suite());
  remove_files();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
