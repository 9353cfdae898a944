/* replay.c - reading launch files, which may be damaged or hostile.
 *
 * What the file says is checked before it is believed: the header's length
 * against the file, every tensor's bytes against its shape and against the
 * data there is, all tensors together against the file's size (so that many
 * names for the same bytes cannot make us allocate more than the file
 * justifies), every view against its storage.  A replayed function gets its
 * recorded answers and a host that knows nothing else; objects of the old
 * host become numbers that look like pointers and are only ever
 * compared. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "internal.h"

enum { MAX_DEPTH = 64 };

typedef struct entry {
  const char *name;
  json_int_t lo, hi;      /* among the data */
  char *data;             /* once read */
  unsigned char *written; /* a byte for each of them, or NULL: all were */
} entry;

/* What a file says, but for the data. */
typedef struct header {
  json_t *all, *meta;
  char *text;
  size_t text_size;
  uint64_t data_at; /* in the file */
} header;

typedef struct replayer {
  tk_env *env;
  tk_session *s;
  tkn_reader *file;
  const header *header;
  const json_t *meta; /* the header's */
  const tk_edit *edits;
  size_t nedits;
  tk_arena *arena; /* the session's until there is a launch */
  tk_launch *l;
  TK_VEC(entry) entries;
  tk_module **modules;
  size_t nmodules;
  tk_function **functions;
  size_t nfunctions;
} replayer;

/* ---- JSON that must be as expected ------------------------------------- */

static void TK_NORETURN bad_header(const tkn_reader *file, const char *key,
                                   const char *what) {
  tkn_file_fail(file->env, file->name, "damaged launch file: '%s' %s", key,
                what);
}

static void TK_NORETURN bad_file(const replayer *r, const char *key,
                                 const char *what) {
  bad_header(r->file, key, what);
}

static json_t *get(replayer *r, const json_t *o, const char *key,
                   json_type type) {
  json_t *v = json_object_get(o, key);
  if (!v || json_typeof(v) != type)
    bad_file(r, key, "is missing or has the wrong type");
  return v;
}

static int64_t get_int(replayer *r, const json_t *o, const char *key,
                       int64_t lo, int64_t hi) {
  json_int_t v = json_integer_value(get(r, o, key, JSON_INTEGER));
  if (v < lo || v > hi) bad_file(r, key, "is out of range");
  return v;
}

static int64_t any_int(replayer *r, const json_t *o, const char *key) {
  return get_int(r, o, key, INT64_MIN, INT64_MAX);
}

static const char *from_hex(replayer *r, const json_t *o, size_t *n) {
  json_t *v = get(r, o, "hex", JSON_STRING);
  const char *hex = json_string_value(v);
  *n = json_string_length(v) / 2;
  char *out = tk_arena_alloc(r->arena, *n + 1);
  for (size_t i = 0; i < *n; i++) {
    int hi = tk_hex_digit(hex[2 * i]), lo = tk_hex_digit(hex[2 * i + 1]);
    if (hi < 0 || lo < 0)
      bad_file(r, "hex", "has a character that is not a hexadecimal digit");
    out[i] = (char)(hi << 4 | lo);
  }
  return out;
}

static const char *get_bytes(replayer *r, const json_t *o, const char *key,
                             size_t *n) {
  json_t *v = json_object_get(o, key);
  if (json_is_object(v)) return from_hex(r, v, n);
  v = get(r, o, key, JSON_STRING);
  *n = json_string_length(v);
  return tk_arena_strndup(r->arena, json_string_value(v), *n);
}

/* Text that C can hold; NULL when it is not there and need not be. */
static const char *get_text(replayer *r, const json_t *o, const char *key,
                            bool must) {
  size_t n;
  if (!must && !json_object_get(o, key)) return NULL;
  const char *s = get_bytes(r, o, key, &n);
  if (strlen(s) != n) bad_file(r, key, "holds a NUL");
  return s;
}

static tk_dtype get_dtype(replayer *r, const json_t *o) {
  int d = tk_dtype_from_name(get_text(r, o, "dtype", true));
  if (d < 0) bad_file(r, "dtype", "is unknown");
  return (tk_dtype)d;
}

/* ---- values ------------------------------------------------------------ */

static tk_value get_value(replayer *r, const json_t *o, int depth);

static void *handle(replayer *r, const json_t *o, const char *key) {
  int64_t i = get_int(r, o, key, 0, INT32_MAX);
  return (void *)(uintptr_t)(16 * (i + 1));
}

static void get_tuple(replayer *r, const json_t *o, tk_value *v, int depth) {
  json_t *items = get(r, o, "items", JSON_ARRAY);
  if (depth == MAX_DEPTH) bad_file(r, "items", "are nested too deeply");
  v->n = json_array_size(items);
  tk_value *out = TK_NEWN(r->arena, tk_value, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    out[i] = get_value(r, json_array_get(items, i), depth + 1);
  v->items = out;
  v->str = get_text(r, o, "fields", false);
}

static void value_members(replayer *r, const json_t *o, tk_value *v,
                          int depth) {
  int64_t bits;
  switch (v->kind) {
  case TK_V_NONE: return;
  case TK_V_INT: v->hi = any_int(r, o, "hi"); /* fall through */
  case TK_V_BOOL: v->lo = (uint64_t)any_int(r, o, "lo"); return;
  case TK_V_FLOAT:
    bits = any_int(r, o, "bits");
    memcpy(&v->f, &bits, sizeof bits);
    return;
  case TK_V_STR: v->str = get_bytes(r, o, "text", &v->n); return;
  case TK_V_DTYPE:
    v->lo = get_dtype(r, o);
    v->hi = get_int(r, o, "depth", 0, 0x1FFFF);
    if ((v->hi & 0xFF) > 8) bad_file(r, "depth", "is out of range");
    if (json_object_get(o, "items")) get_tuple(r, o, v, depth);
    return;
  case TK_V_TENSOR:
    v->lo = (uint64_t)get_int(r, o, "extra", 0, INT32_MAX);
    return;
  case TK_V_DESCRIPTOR:
    v->lo = json_object_get(o, "tf32") != NULL; /* fall through */
  case TK_V_TUPLE: get_tuple(r, o, v, depth); return;
  case TK_V_FUNCTION:
    bits = get_int(r, o, "index", 0, (int64_t)r->nfunctions - 1);
    v->ptr = r->functions[bits];
    v->lo = json_object_get(o, "python") != NULL;
    return;
  case TK_V_OBJECT:
    v->ptr = handle(r, o, "index");
    v->lo = json_object_get(o, "raw") != NULL; /* fall through */
  case TK_V_BUILTIN:
    v->str = get_text(r, o, "text", v->kind == TK_V_BUILTIN);
    return;
  }
}

static tk_value get_value(replayer *r, const json_t *o, int depth) {
  const char *kind = get_text(r, o, "kind", true);
  for (size_t k = 0; k < TKN_VALUE_KINDS; k++) {
    if (strcmp(kind, tkn_value_kinds[k]) != 0) continue;
    tk_value v = {.kind = (tk_value_kind)k};
    v.is_constexpr = json_is_true(json_object_get(o, "constexpr"));
    value_members(r, o, &v, depth);
    if (v.kind == TK_V_BOOL) v.lo = v.lo != 0;
    return v;
  }
  bad_file(r, "kind", "is unknown");
}

/* ---- modules and functions --------------------------------------------- */

/* The text of a source with one edit made. */
static const char *edited(replayer *r, const tk_edit *x, const char *text,
                          size_t *n) {
  if (x->at > *n || x->removed > *n - x->at)
    tkn_file_fail(r->env, r->file->name,
                  "an edit lies outside of the source '%s'", x->file);
  size_t added = strlen(x->text), rest = *n - x->at - x->removed;
  char *out = tk_arena_alloc(r->arena, x->at + added + rest + 1);
  memcpy(out, text, x->at);
  memcpy(out + x->at, x->text, added);
  memcpy(out + x->at + added, text + x->at + x->removed, rest);
  *n = x->at + added + rest;
  out[*n] = 0;
  return out;
}

static void read_modules(replayer *r) {
  json_t *list = get(r, r->meta, "modules", JSON_ARRAY);
  r->modules = TK_NEWN(r->arena, tk_module *, json_array_size(list) + 1);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *o = json_array_get(list, i);
    size_t n;
    const char *name = get_text(r, o, "name", true);
    const char *text = get_bytes(r, o, "text", &n);
    for (size_t k = 0; k < r->nedits; k++)
      if (!strcmp(r->edits[k].file, name))
        text = edited(r, &r->edits[k], text, &n);
    r->modules[r->nmodules++] = tkn_module_open(r->s, name, text, n);
  }
}

static tk_function *read_function(replayer *r, const json_t *o) {
  int64_t i = get_int(r, o, "module", 0, (int64_t)r->nmodules - 1);
  int line = (int)get_int(r, o, "line", 1, INT32_MAX);
  const char *name = get_text(r, o, "name", true);
  bool host = json_is_true(json_object_get(o, "host"));
  tk_item *item = tkn_item_at(r->modules[i], line);
  if (!item || strcmp(item->name, name) != 0)
    bad_file(r, "functions", "names a function that its module lacks");
  tk_function *f = tkn_function_of(r->modules[i], item, host);
  if (host) tk_function_host(f, &tkn_replay_host, NULL);
  /* the host is recognised by its address */
  if (host) f->host = &tkn_replay_host;
  return f;
}

static void read_call(replayer *r, const json_t *o, tk_answer *a) {
  json_t *args = get(r, o, "args", JSON_ARRAY);
  json_t *names = get(r, o, "keywords", JSON_ARRAY);
  a->nargs = json_array_size(args);
  a->nkw = json_array_size(names);
  if (a->nkw > a->nargs) bad_file(r, "keywords", "are more than the arguments");
  a->args = TK_NEWN(r->arena, tk_value, a->nargs + 1);
  a->kwnames = TK_NEWN(r->arena, const char *, a->nkw + 1);
  for (size_t i = 0; i < a->nargs; i++)
    a->args[i] = get_value(r, json_array_get(args, i), 0);
  for (size_t i = 0; i < a->nkw; i++)
    a->kwnames[i] = get_text(r, json_array_get(names, i), "name", true);
}

static void read_answer(replayer *r, const json_t *o, tk_function *f) {
  static const char *const names[] = {"global", "attr", "call"};
  const char *question = get_text(r, o, "question", true);
  tk_answer a = {0};
  size_t k = 0;
  while (k < TK_COUNT(names) && strcmp(question, names[k]) != 0) k++;
  if (k == TK_COUNT(names)) bad_file(r, "question", "is unknown");
  a.kind = (tk_answer_kind)k;
  a.found = (int)get_int(r, o, "found", -1, 1);
  a.name = get_text(r, o, "name", a.kind != TK_ANSWER_CALL);
  if (a.kind != TK_ANSWER_GLOBAL) a.obj = handle(r, o, "object");
  if (a.kind == TK_ANSWER_CALL) read_call(r, o, &a);
  if (a.found > 0)
    a.value = get_value(r, get(r, o, "value", JSON_OBJECT), 0);
  else
    a.value.str = get_text(r, o, "why", false);
  tkn_answer_add(r->env, f, &a);
}

/* All functions first: answers refer to any of them. */
static void read_functions(replayer *r) {
  json_t *list = get(r, r->meta, "functions", JSON_ARRAY);
  size_t n = json_array_size(list);
  if (n == 0) bad_file(r, "functions", "is empty");
  r->functions = TK_NEWN(r->arena, tk_function *, n);
  for (size_t i = 0; i < n; i++) {
    r->functions[i] = read_function(r, json_array_get(list, i));
    r->nfunctions++;
  }
  for (size_t i = 0; i < n; i++) {
    const json_t *o = json_array_get(list, i);
    json_t *answers = get(r, o, "answers", JSON_ARRAY);
    if (json_array_size(answers) && !r->functions[i]->host)
      bad_file(r, "answers", "are there without a host");
    for (size_t k = 0; k < json_array_size(answers); k++)
      read_answer(r, json_array_get(answers, k), r->functions[i]);
  }
}

static void read_form(replayer *r) {
  const json_t *o = json_object_get(r->meta, "form");
  size_t n;
  if (!o) return;
  if (!json_is_object(o)) bad_file(r, "form", "is not an object");
  const char *name = get_text(r, o, "name", true);
  const char *text = get_bytes(r, o, "text", &n);
  tk_function *f = r->functions[0];
  if (!f->form) f->form = tk_source_new(&r->s->arena, name, text, n);
}

/* ---- tensor data ------------------------------------------------------- */

static int st_size(const char *name) {
  for (int d = 0; d < TK_DTYPE_COUNT; d++)
    if (!strcmp(tk_dtypes[d].st, name)) return tk_dtypes[d].size;
  return 0;
}

static bool shape_fills(const json_t *shape, int size, json_int_t bytes) {
  json_int_t lanes = 1;
  size_t n = json_array_size(shape);
  for (size_t i = 0; i < n; i++)
    if (json_integer_value(json_array_get(shape, i)) == 0) lanes = 0;
  for (size_t i = 0; i < n; i++) {
    json_int_t k = json_integer_value(json_array_get(shape, i));
    if (k < 0 || __builtin_mul_overflow(lanes, k, &lanes)) return false;
  }
  return !__builtin_mul_overflow(lanes, size, &lanes) && lanes == bytes;
}

static void read_entry(replayer *r, const char *name, const json_t *o,
                       json_int_t size) {
  const char *dtype = get_text(r, o, "dtype", true);
  const json_t *at = get(r, o, "data_offsets", JSON_ARRAY);
  entry e = {.name = name, .lo = -1, .hi = -1};
  if (json_array_size(at) == 2 && json_is_integer(json_array_get(at, 0)) &&
      json_is_integer(json_array_get(at, 1))) {
    e.lo = json_integer_value(json_array_get(at, 0));
    e.hi = json_integer_value(json_array_get(at, 1));
  }
  if (e.lo < 0 || e.hi < e.lo || e.hi > size)
    bad_file(r, name, "lies outside of the file");
  int lane = st_size(dtype);
  if (!*dtype || !lane) bad_file(r, name, "has an unknown dtype");
  if (!shape_fills(get(r, o, "shape", JSON_ARRAY), lane, e.hi - e.lo))
    bad_file(r, name, "has a shape that does not fill its bytes");
  TK_PUSH(r->arena, &r->entries, e);
}

static void read_entries(replayer *r) {
  const char *name;
  json_t *o;
  json_int_t size = (json_int_t)(r->file->size - r->header->data_at), sum = 0;
  json_object_foreach(r->header->all, name, o) {
    if (!strcmp(name, "__metadata__")) continue;
    read_entry(r, name, o, size);
    const entry *e = &r->entries.items[r->entries.n - 1];
    if (__builtin_add_overflow(sum, e->hi - e->lo, &sum)) sum = size + 1;
  }
  if (sum != size)
    bad_file(r, "data_offsets", "do not add up to the file's size");
}

/* Marks the bytes of a tensor's storage that were never written; at: where it
 * begins. */
static void read_unwritten(replayer *r, const json_t *o, entry *e, int64_t at,
                           int64_t size) {
  const json_t *runs = json_object_get(o, "unwritten");
  if (!runs) return;
  size_t n = (size_t)(e->hi - e->lo), count = json_array_size(runs);
  if (count % 2) bad_file(r, "unwritten", "is not made of pairs");
  if (!e->written) {
    e->written = tk_arena_alloc(r->arena, n + 1);
    memset(e->written, 1, n);
  }
  for (size_t i = 0; i < count; i += 2) {
    json_t *from = json_array_get(runs, i), *many = json_array_get(runs, i + 1);
    json_int_t k = json_integer_value(from), m = json_integer_value(many);
    if (!json_is_integer(from) || !json_is_integer(many) || k < 0 || m < 0 ||
        k > size || m > size - k)
      bad_file(r, "unwritten", "lies outside of the storage");
    memset(e->written + at + k, 0, (size_t)m);
  }
}

static entry *storage(replayer *r, const char *name) {
  for (size_t i = 0; i < r->entries.n; i++) {
    entry *e = &r->entries.items[i];
    if (strcmp(e->name, name) != 0) continue;
    if (e->data) return e;
    size_t n = (size_t)(e->hi - e->lo);
    char *data = tk_arena_alloc(r->arena, n + 1);
    tkn_seek(r->file, r->header->data_at + (uint64_t)e->lo);
    tkn_read(r->file, data, n);
    e->data = data;
    return e;
  }
  bad_file(r, name, "is not a tensor of the file");
}

/* ---- arguments --------------------------------------------------------- */

static void read_axes(replayer *r, const json_t *o, const char *key, int rank,
                      int64_t lo, int64_t *out) {
  json_t *list = get(r, o, key, JSON_ARRAY);
  if (json_array_size(list) != (size_t)rank)
    bad_file(r, key, "has another rank");
  for (int i = 0; i < rank; i++) {
    json_t *v = json_array_get(list, (size_t)i);
    if (!json_is_integer(v)) bad_file(r, key, "holds no integer");
    out[i] = json_integer_value(v);
    if (out[i] < lo) bad_file(r, key, "holds a negative length");
  }
}

static void read_tensor(replayer *r, const json_t *o, tk_tensor *t) {
  size_t rank = json_array_size(get(r, o, "shape", JSON_ARRAY));
  if (rank > TK_MAX_RANK) bad_file(r, "shape", "has more than 20 axes");
  *t = (tk_tensor){.dtype = get_dtype(r, o), .rank = (int)rank};
  read_axes(r, o, "shape", t->rank, 0, t->shape);
  read_axes(r, o, "strides", t->rank, INT64_MIN, t->strides);
  entry *e = storage(r, get_text(r, o, "storage", true));
  int64_t size = e->hi - e->lo, before, after;
  int64_t low = get_int(r, o, "low", 0, size);
  int64_t high = get_int(r, o, "high", low, size);
  int64_t at = get_int(r, o, "offset", 0, size);
  if (!tkn_tensor_extent(t, &before, &after))
    bad_file(r, "strides", "reach beyond any address");
  if (after && (at < low || before > at - low || after > high - at))
    bad_file(r, "offset", "puts the tensor outside of its storage");
  t->data = e->data + at;
  t->storage = e->data + low;
  t->storage_bytes = (size_t)(high - low);
  t->flags = (unsigned)get_int(r, o, "flags", 0, 7);
  t->device_address = (uint64_t)any_int(r, o, "address");
  read_unwritten(r, o, e, low, high - low);
  if (json_object_get(o, "unwritten")) t->written = e->written + low;
}

static void read_arg(replayer *r, const json_t *o, tk_arg *arg) {
  const char *kind = get_text(r, o, "kind", true);
  arg->no_specialize = json_is_true(json_object_get(o, "no_specialize"));
  if (!strcmp(kind, "tensor")) {
    read_tensor(r, o, &arg->tensor);
    arg->kind = TK_ARG_TENSOR;
  } else if (!strcmp(kind, "value")) {
    arg->value = get_value(r, get(r, o, "value", JSON_OBJECT), 0);
    arg->kind = TK_ARG_VALUE;
  } else if (!strcmp(kind, "scalar")) {
    arg->dtype = get_dtype(r, o);
    arg->bits = (uint64_t)any_int(r, o, "bits");
    arg->kind = TK_ARG_SCALAR;
  } else if (strcmp(kind, "absent") != 0)
    bad_file(r, "kind", "is unknown");
}

static void read_args(replayer *r) {
  json_t *list = get(r, r->meta, "args", JSON_ARRAY);
  if (json_array_size(list) > r->l->nargs)
    bad_file(r, "args", "are more than the kernel's parameters");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *o = json_array_get(list, i);
    tk_arg *arg = tkn_arg_find(r->l, get_text(r, o, "name", true));
    if (!arg) bad_file(r, "args", "names a parameter that the kernel lacks");
    read_arg(r, o, arg);
  }
  list = get(r, r->meta, "extras", JSON_ARRAY);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *o = json_array_get(list, i);
    tk_arg extra = {.name = get_text(r, o, "name", true)};
    read_arg(r, o, &extra);
    if (extra.kind != TK_ARG_TENSOR) bad_file(r, "extras", "holds no tensor");
    tkn_extra_add(r->l, &extra);
  }
  for (size_t i = 0; i < r->l->nargs; i++) {
    const char *why = tkn_value_fault(r->l, &r->l->args[i].value);
    if (why && r->l->args[i].kind == TK_ARG_VALUE) bad_file(r, "args", why);
  }
}

static void read_grid(replayer *r) {
  int64_t grid[3];
  read_axes(r, r->meta, "grid", 3, 0, grid);
  tkn_grid(r->l, grid);
  for (size_t i = 0; i < TK_LAUNCH_OPTIONS; i++) { /* older files lack some */
    const char *option = tk_launch_option_at(i)->name;
    if (json_object_get(r->meta, option))
      tkn_launch_option(r->l, option, any_int(r, r->meta, option));
  }
  const char *name;
  json_t *value, *all = json_object_get(r->meta, "compile");
  json_object_foreach(all, name, value) {
    if (!json_is_string(value)) bad_file(r, "compile", "holds no texts");
    tkn_compile_option(r->l, name, json_string_value(value));
  }
}

/* ---- the header -------------------------------------------------------- */

static json_t *load_json(const tkn_reader *file, const char *text, size_t n,
                         const char *what) {
  json_error_t error;
  json_t *v =
      json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (!v) bad_header(file, what, error.text);
  return v;
}

typedef struct header_call {
  tkn_reader *file;
  header *out;
} header_call;

static void read_header(tk_env *e, void *ud) {
  tkn_reader *file = ((header_call *)ud)->file;
  header *h = ((header_call *)ud)->out;
  uint8_t length[8];
  uint64_t n = 0;
  tkn_read(file, length, sizeof length);
  for (int i = 7; i >= 0; i--) n = n << 8 | length[i];
  if (n > file->size - 8 || n > (uint64_t)1 << 30)
    bad_header(file, "header", "is longer than the file");
  h->text = tk_calloc(e, 1, (size_t)n + 1);
  h->text_size = (size_t)n + 1;
  tkn_read(file, h->text, (size_t)n);
  h->data_at = file->at;
  h->all = load_json(file, h->text, (size_t)n, "header");
  if (!json_is_object(h->all)) bad_header(file, "header", "is not an object");
  json_t *strings = json_object_get(h->all, "__metadata__");
  json_t *text = json_object_get(strings, "tkdbg");
  if (!json_is_string(text))
    tkn_file_fail(e, file->name,
                  "this safetensors file was not written by --record");
  h->meta = load_json(file, json_string_value(text), json_string_length(text),
                      "tkdbg");
}

static void header_free(tk_env *e, header *h) {
  json_decref(h->all);
  json_decref(h->meta);
  tk_free(e, h->text, h->text_size);
}

/* ---- the whole --------------------------------------------------------- */

static void replay(tk_env *e, void *ud) {
  (void)e;
  replayer *r = ud;
  int64_t version = any_int(r, r->meta, "version");
  if (version != TKN_FILE_VERSION)
    tkn_file_fail(r->env, r->file->name,
                  "this launch file has version %" PRId64
                  ", and %d is expected: record it with this tkdbg, or read it "
                  "with the one that wrote it",
                  version, TKN_FILE_VERSION);
  read_modules(r);
  read_functions(r);
  read_form(r);
  r->l = tkn_launch_new(r->s, r->functions[0]);
  r->arena = &r->l->arena;
  read_entries(r);
  read_grid(r);
  read_args(r);
}

/* The launch that a file describes, with edits made. */
static tk_launch *replayed(tk_session *s, tkn_reader *file, const header *h,
                           const tk_edit *edits, size_t n) {
  replayer r = {.env = &s->env,
                .s = s,
                .file = file,
                .header = h,
                .meta = h->meta,
                .edits = edits,
                .nedits = n,
                .arena = &s->arena};
  tk_status st = tk_protect(&s->env, replay, &r);
  if (st == TK_OK) return r.l;
  tk_launch_free(r.l);
  tk_throw(&s->env, st);
}

typedef struct replay_call {
  tk_session *s;
  const char *path;
  tkn_reader *file;
  header header;
  const tk_recording *recording;
  const tk_edit *edits;
  size_t n;
  tk_launch **out;
} replay_call;

static void replay_file(tk_env *e, void *ud) {
  replay_call *c = ud;
  read_header(e, &(header_call){c->file, &c->header});
  *c->out = replayed(c->s, c->file, &c->header, NULL, 0);
}

tk_launch *tkn_replay(tk_session *s, tkn_reader *file) {
  tk_launch *found = NULL;
  replay_call c = {.s = s, .file = file, .out = &found};
  tk_status st = tk_protect(&s->env, replay_file, &c);
  header_free(&s->env, &c.header);
  if (st != TK_OK) tk_throw(&s->env, st);
  return found;
}

/* A part of a launch is not one that can be run again. */
static void refuse_part(tkn_reader *file) {
  char end[TKN_STORES_MAGIC_SIZE];
  if (file->size < sizeof end) return;
  tkn_seek(file, file->size - sizeof end);
  tkn_read(file, end, sizeof end);
  if (!memcmp(end, TKN_STORES_MAGIC, sizeof end))
    tkn_file_fail(file->env, file->name,
                  "this is what --shard wrote, which 'tkdbg merge' reads");
  tkn_seek(file, 0);
}

static void replay_reader(tkn_reader *file, void *ud) {
  replay_call *c = ud;
  refuse_part(file);
  *c->out = tkn_replay(c->s, file);
}

static void replay_path(tk_env *e, void *ud) {
  replay_call *c = ud;
  tkn_with_reader(e, c->path, replay_reader, c);
}

tk_status tk_launch_replay(tk_session *s, const char *path, tk_launch **out) {
  replay_call c = {.s = s, .path = path, .out = out};
  *out = NULL;
  return tk_session_guard(s, replay_path, &c);
}

/* ---- many times -------------------------------------------------------- */

/* A file in memory, whose header was read once. */
struct tk_recording {
  tk_owned owned;
  const char *name;
  const uint8_t *bytes;
  uint64_t size;
  header header;
};

typedef struct open_call {
  tk_session *s;
  const char *path;
  tk_recording *r;
} open_call;

static void free_recording(tk_env *e, tk_owned *o) {
  header_free(e, &((tk_recording *)o)->header);
}

static void open_reader(tkn_reader *file, void *ud) {
  open_call *c = ud;
  tk_arena *a = &c->s->arena;
  refuse_part(file);
  tk_recording *r = c->r = TK_NEW(a, tk_recording);
  uint8_t *bytes = tk_arena_alloc(a, (size_t)file->size + 1);
  r->owned = (tk_owned){c->s->owned, free_recording};
  c->s->owned = &r->owned;
  r->name = tk_arena_strdup(a, file->name);
  r->bytes = bytes;
  r->size = file->size;
  tkn_read(file, bytes, (size_t)file->size);
  tkn_seek(file, 0);
  read_header(file->env, &(header_call){file, &r->header});
}

static void open_path(tk_env *e, void *ud) {
  open_call *c = ud;
  tkn_with_reader(e, c->path, open_reader, c);
}

tk_status tk_recording_open(tk_session *s, const char *path,
                            tk_recording **out) {
  open_call c = {.s = s, .path = path};
  tk_status st = tk_session_guard(s, open_path, &c);
  *out = st == TK_OK ? c.r : NULL;
  return st;
}

static void replay_recording(tk_env *e, void *ud) {
  replay_call *c = ud;
  const tk_recording *r = c->recording;
  tkn_reader file = {
      .env = e, .name = r->name, .mem = r->bytes, .size = r->size};
  *c->out = replayed(c->s, &file, &r->header, c->edits, c->n);
}

tk_status tk_recording_replay(const tk_recording *r, tk_session *s,
                              const tk_edit *edits, size_t n, tk_launch **out) {
  replay_call c = {.s = s, .recording = r, .edits = edits, .n = n, .out = out};
  *out = NULL;
  return tk_session_guard(s, replay_recording, &c);
}
