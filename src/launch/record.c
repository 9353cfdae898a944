/* record.c - writing launch files.
 *
 * A launch file is a safetensors file: the length of a JSON header (8 bytes,
 * little-endian), the header, raw tensors.  Every allocation that arguments
 * lie in is one entry.  An entry that one contiguous tensor fills is stored
 * as that tensor, under the parameter's name, so that other safetensors tools
 * see it as it is; storage with views in it is stored as bytes, and how the
 * views lie in it is told with the arguments.  All that is not tensor data
 * (sources, functions, what the host answered, grid, arguments) is a second
 * JSON text, held as safetensors demands in a string of __metadata__:
 *
 *   modules    [{name, text}]
 *   functions  [{module, line, name, host, answers: [...]}], the kernel first
 *   grid       [x, y, z]
 *   args       [{name, kind: absent|tensor|scalar|value, ...}]
 *   extras     the same, tensors only
 *   form       {name, text}: of the kernel, if it was given so
 *
 * JSON is jansson's work.  Its nodes are on the C heap, not in ours; each is
 * hung under a root as soon as it exists, and the roots are freed on every
 * way
 * out. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "internal.h"

enum { MAX_DEPTH = 64 };

/* An area as an entry of the file. */
typedef struct region {
  const char *name;
  uint64_t at; /* of its bytes among the data */
} region;

typedef struct recorder {
  tk_env *env;
  tk_launch *l;
  const char *path;
  tkn_writer *file;
  tk_arena arena;
  json_t *header, *meta;
  char *header_text, *meta_text; /* jansson's, freed at the end */
  TK_VEC(tk_function *) functions;
  TK_VEC(tk_module *) modules;
  TK_VEC(void *) objects;
  tk_areas areas;
  region *regions; /* by area */
} recorder;

/* ---- JSON -------------------------------------------------------------- */

static json_t *put_json(recorder *r, json_t *parent, const char *key,
                        json_t *node) {
  if (json_object_set_new(parent, key, node) != 0)
    tk_throw(r->env, TK_INTERNAL);
  return node;
}

static json_t *push_json(recorder *r, json_t *parent, json_t *node) {
  if (json_array_append_new(parent, node) != 0) tk_throw(r->env, TK_INTERNAL);
  return node;
}

static void put_int(recorder *r, json_t *parent, const char *key, int64_t v) {
  put_json(r, parent, key, json_integer(v));
}

/* Text that may be no UTF-8 is kept as {"hex": "..."} then. */
static void put_bytes(recorder *r, json_t *parent, const char *key,
                      const char *s, size_t n) {
  json_t *node = json_stringn(s, n);
  if (node) {
    put_json(r, parent, key, node);
    return;
  }
  char *hex = tk_arena_alloc(&r->arena, 2 * n + 1);
  for (size_t i = 0; i < n; i++) {
    hex[2 * i] = "0123456789abcdef"[(unsigned char)s[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[(unsigned char)s[i] & 15];
  }
  put_json(r, put_json(r, parent, key, json_object()), "hex", json_string(hex));
}

static void put_text(recorder *r, json_t *parent, const char *key,
                     const char *s) {
  if (s) put_bytes(r, parent, key, s, strlen(s));
}

/* ---- values ------------------------------------------------------------ */

static int64_t function_index(recorder *r, tk_function *f) {
  for (size_t i = 0; i < r->functions.n; i++)
    if (r->functions.items[i] == f) return (int64_t)i;
  TK_PUSH(&r->arena, &r->functions, f);
  return (int64_t)r->functions.n - 1;
}

static int64_t module_index(recorder *r, tk_module *m) {
  for (size_t i = 0; i < r->modules.n; i++)
    if (r->modules.items[i] == m) return (int64_t)i;
  TK_PUSH(&r->arena, &r->modules, m);
  return (int64_t)r->modules.n - 1;
}

static int64_t object_index(recorder *r, void *obj) {
  for (size_t i = 0; i < r->objects.n; i++)
    if (r->objects.items[i] == obj) return (int64_t)i;
  TK_PUSH(&r->arena, &r->objects, obj);
  return (int64_t)r->objects.n - 1;
}

static void value_members(recorder *r, json_t *o, const tk_value *v, int depth);

static void put_value(recorder *r, json_t *o, const tk_value *v, int depth) {
  put_json(r, o, "kind", json_string(tkn_value_kinds[v->kind]));
  if (v->is_constexpr) put_json(r, o, "constexpr", json_true());
  if (depth == MAX_DEPTH)
    tkn_file_fail(r->env, r->path, "a value is nested too deeply to record");
  value_members(r, o, v, depth);
}

static void tuple_members(recorder *r, json_t *o, const tk_value *v,
                          int depth) {
  json_t *items = put_json(r, o, "items", json_array());
  for (size_t i = 0; i < v->n; i++)
    put_value(r, push_json(r, items, json_object()), &v->items[i], depth + 1);
  put_text(r, o, "fields", v->str);
}

static void value_members(recorder *r, json_t *o, const tk_value *v,
                          int depth) {
  int64_t bits;
  switch (v->kind) {
  case TK_V_NONE: return;
  case TK_V_INT: put_int(r, o, "hi", v->hi); /* fall through */
  case TK_V_BOOL: put_int(r, o, "lo", (int64_t)v->lo); return;
  case TK_V_FLOAT:
    memcpy(&bits, &v->f, sizeof bits);
    put_int(r, o, "bits", bits);
    return;
  case TK_V_STR: put_bytes(r, o, "text", v->str, v->n); return;
  case TK_V_DTYPE:
    put_text(r, o, "dtype", tk_dtype_name((tk_dtype)v->lo));
    put_int(r, o, "depth", v->hi);
    if (v->n) tuple_members(r, o, v, depth);
    return;
  case TK_V_TENSOR: put_int(r, o, "extra", (int64_t)v->lo); return;
  case TK_V_DESCRIPTOR:
    if (v->lo) put_int(r, o, "tf32", 1); /* fall through */
  case TK_V_TUPLE: tuple_members(r, o, v, depth); return;
  case TK_V_FUNCTION:
    put_int(r, o, "index", function_index(r, v->ptr));
    if (v->lo) put_int(r, o, "python", 1);
    return;
  case TK_V_OBJECT:
    put_int(r, o, "index", object_index(r, v->ptr));
    if (v->lo) put_int(r, o, "raw", 1); /* fall through */
  case TK_V_BUILTIN: put_text(r, o, "text", v->str); return;
  }
}

/* ---- functions --------------------------------------------------------- */

static void put_call(recorder *r, json_t *o, const tk_answer *a) {
  json_t *args = put_json(r, o, "args", json_array());
  json_t *names = put_json(r, o, "keywords", json_array());
  for (size_t i = 0; i < a->nargs; i++)
    put_value(r, push_json(r, args, json_object()), &a->args[i], 0);
  for (size_t i = 0; i < a->nkw; i++)
    put_text(r, push_json(r, names, json_object()), "name", a->kwnames[i]);
}

static void put_answer(recorder *r, json_t *o, const tk_answer *a) {
  static const char *const names[] = {"global", "attr", "call"};
  put_json(r, o, "question", json_string(names[a->kind]));
  put_int(r, o, "found", a->found);
  put_text(r, o, "name", a->name);
  if (a->kind != TK_ANSWER_GLOBAL)
    put_int(r, o, "object", object_index(r, a->obj));
  if (a->kind == TK_ANSWER_CALL) put_call(r, o, a);
  if (a->found > 0)
    put_value(r, put_json(r, o, "value", json_object()), &a->value, 0);
  else
    put_text(r, o, "why", a->value.str);
}

static void put_function(recorder *r, json_t *o, tk_function *f) {
  put_int(r, o, "module", module_index(r, f->module));
  put_int(r, o, "line", f->item->line);
  put_text(r, o, "name", f->item->name);
  put_json(r, o, "host", json_boolean(f->host != NULL));
  json_t *answers = put_json(r, o, "answers", json_array());
  for (const tk_answer *a = f->answers; a; a = a->next)
    put_answer(r, push_json(r, answers, json_object()), a);
}

/* Answers may name further functions, which join the end of the list. */
static void put_functions(recorder *r) {
  json_t *list = put_json(r, r->meta, "functions", json_array());
  for (size_t i = 0; i < r->functions.n; i++)
    put_function(r, push_json(r, list, json_object()), r->functions.items[i]);
  list = put_json(r, r->meta, "modules", json_array());
  for (size_t i = 0; i < r->modules.n; i++) {
    const tk_source *src = r->modules.items[i]->file->src;
    json_t *o = push_json(r, list, json_object());
    put_text(r, o, "name", src->name);
    put_bytes(r, o, "text", src->text, src->len);
  }
}

/* ---- tensors ----------------------------------------------------------- */

static bool contiguous(const tk_tensor *t) {
  int64_t stride = 1;
  for (int i = t->rank - 1; i >= 0; i--) {
    if (t->shape[i] != 1 && t->strides[i] != stride) return false;
    if (t->shape[i] && __builtin_mul_overflow(stride, t->shape[i], &stride))
      return false;
  }
  return true;
}

/* The tensor that an area can be stored as; NULL if it can only be stored as
 * bytes. */
static const tk_tensor *plain_tensor(const tk_area *o) {
  const tk_tensor *t = o->first.tensor;
  if (o->tensors != 1 || !tk_dtypes[t->dtype].st[0]) return NULL;
  if (!contiguous(t) || t->data != (const void *)o->lo) return NULL;
  int64_t lanes = tkn_shape_lanes(t->dtype, t->rank, t->shape);
  size_t bytes = (size_t)(o->hi - o->lo), size = tk_dtypes[t->dtype].size;
  return lanes >= 0 && (size_t)lanes * size == bytes ? t : NULL;
}

static size_t area_align(const tk_area *o) {
  const tk_tensor *t = plain_tensor(o);
  return t ? tk_dtypes[t->dtype].size : 1;
}

/* Wide types first: then every tensor is aligned and there are no holes. */
static void place_regions(recorder *r) {
  uint64_t at = 0;
  for (size_t align = 8; align; align /= 2)
    for (size_t i = 0; i < r->areas.n; i++) {
      const tk_area *o = &r->areas.items[i];
      if (area_align(o) != align) continue;
      TK_ASSERT(at % align == 0);
      r->regions[i].at = at;
      at += (uint64_t)(o->hi - o->lo);
    }
}

static void write_areas(recorder *r, tkn_writer *w) {
  for (size_t align = 8; align; align /= 2)
    for (size_t i = 0; i < r->areas.n; i++) {
      const tk_area *o = &r->areas.items[i];
      if (area_align(o) == align) tkn_write(w, o->lo, (size_t)(o->hi - o->lo));
    }
}

/* safetensors keys are unique and valid UTF-8; parameter names are usually
 * both. */
static const char *region_name(recorder *r, size_t i) {
  const tk_area *o = &r->areas.items[i];
  const char *name = o->first.name;
  json_t *probe = json_string(name);
  bool ok = probe && strcmp(name, "__metadata__") != 0 &&
            !json_object_get(r->header, name);
  json_decref(probe);
  if (ok && plain_tensor(o)) return name;
  return tk_arena_printf(&r->arena, "storage %zu%s%s", i, ok ? " of " : "",
                         ok ? name : "");
}

static void put_region(recorder *r, size_t i) {
  region *o = &r->regions[i];
  const tk_area *area = &r->areas.items[i];
  const tk_tensor *t = plain_tensor(area);
  uint64_t bytes = (uint64_t)(area->hi - area->lo);
  o->name = region_name(r, i);
  json_t *entry = put_json(r, r->header, o->name, json_object());
  put_text(r, entry, "dtype", t ? tk_dtypes[t->dtype].st : "U8");
  json_t *shape = put_json(r, entry, "shape", json_array());
  for (int k = 0; t && k < t->rank; k++)
    push_json(r, shape, json_integer(t->shape[k]));
  if (!t) push_json(r, shape, json_integer((json_int_t)bytes));
  json_t *offsets = put_json(r, entry, "data_offsets", json_array());
  push_json(r, offsets, json_integer((json_int_t)o->at));
  push_json(r, offsets, json_integer((json_int_t)(o->at + bytes)));
}

/* ---- arguments --------------------------------------------------------- */

/* Runs of bytes that were never written: where one begins, how many there
 * are, and so on. */
static void put_unwritten(recorder *r, json_t *o, const unsigned char *written,
                          size_t n) {
  json_t *runs = NULL;
  for (size_t i = 0; i < n;) {
    const unsigned char *from = memchr(written + i, 0, n - i);
    if (!from) break;
    size_t at = (size_t)(from - written);
    const unsigned char *to = memchr(from, 1, n - at);
    i = to ? (size_t)(to - written) : n;
    if (!runs) runs = put_json(r, o, "unwritten", json_array());
    push_json(r, runs, json_integer((json_int_t)at));
    push_json(r, runs, json_integer((json_int_t)(i - at)));
  }
}

static void put_tensor(recorder *r, json_t *o, const tk_arg *arg) {
  const tk_tensor *t = &arg->tensor;
  const tk_memory m = tk_memory_of(arg->name, t);
  size_t area = tk_area_at(&r->areas, m.host, (size_t)(m.hi - m.lo));
  const char *data = t->data, *base = r->areas.items[area].lo;
  int64_t low = m.host - base;
  put_text(r, o, "storage", r->regions[area].name);
  put_text(r, o, "dtype", tk_dtype_name(t->dtype));
  json_t *shape = put_json(r, o, "shape", json_array());
  json_t *strides = put_json(r, o, "strides", json_array());
  for (int i = 0; i < t->rank; i++) {
    push_json(r, shape, json_integer(t->shape[i]));
    push_json(r, strides, json_integer(t->strides[i]));
  }
  int64_t before, after;
  tkn_tensor_extent(t, &before, &after);
  if (after == 0) data = m.host; /* no lanes: it may have been anywhere */
  put_int(r, o, "offset", data - base);
  put_int(r, o, "low", low);
  put_int(r, o, "high", low + (int64_t)(m.hi - m.lo));
  put_int(r, o, "flags", t->flags & 7);
  put_int(r, o, "address", (int64_t)tk_tensor_address(t));
  if (t->written) put_unwritten(r, o, t->written, (size_t)(m.hi - m.lo));
}

static void put_arg(recorder *r, json_t *o, const tk_arg *arg) {
  static const char *const kinds[] = {"absent", "tensor", "scalar", "value"};
  put_text(r, o, "name", arg->name);
  put_json(r, o, "kind", json_string(kinds[arg->kind]));
  if (arg->no_specialize) put_json(r, o, "no_specialize", json_true());
  if (arg->kind == TK_ARG_TENSOR) put_tensor(r, o, arg);
  if (arg->kind == TK_ARG_VALUE)
    put_value(r, put_json(r, o, "value", json_object()), &arg->value, 0);
  if (arg->kind != TK_ARG_SCALAR) return;
  put_text(r, o, "dtype", tk_dtype_name(arg->dtype));
  put_int(r, o, "bits", (int64_t)arg->bits);
}

static void put_args(recorder *r) {
  tk_launch *l = r->l;
  json_t *list = put_json(r, r->meta, "args", json_array());
  for (size_t i = 0; i < l->nargs; i++)
    put_arg(r, push_json(r, list, json_object()), &l->args[i]);
  list = put_json(r, r->meta, "extras", json_array());
  for (size_t i = 0; i < l->extras.n; i++)
    put_arg(r, push_json(r, list, json_object()), &l->extras.items[i]);
}

/* ---- the whole --------------------------------------------------------- */

static void put_regions(recorder *r) {
  r->areas = tk_areas_of(r->l, &r->arena);
  r->regions = TK_NEWN(&r->arena, region, r->areas.n + 1);
  place_regions(r);
  for (size_t i = 0; i < r->areas.n; i++) put_region(r, i);
}

static char *dump(recorder *r, const json_t *node, size_t flags) {
  char *text = json_dumps(node, flags);
  if (!text) tk_throw(r->env, TK_INTERNAL);
  return text;
}

static void write_file(recorder *r, tkn_writer *w) {
  static const char blanks[] = "        ";
  size_t n = strlen(r->header_text), fill = (8 - n % 8) % 8;
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)((n + fill) >> 8 * i);
  tkn_write(w, length, sizeof length);
  tkn_write(w, r->header_text, n);
  tkn_write(w, blanks, fill);
  write_areas(r, w);
}

/* Writes the options that differ from their defaults. */
static void put_compile_options(recorder *r) {
  json_t *all = put_json(r, r->meta, "compile", json_object());
  for (int i = 0; i < TK_COMPILE_COUNT; i++) {
    const char *text = r->l->compile[i];
    if (strcmp(text, tk_compile_usual((tk_compile_option)i)))
      put_json(r, all, tk_compile_name((tk_compile_option)i),
               json_string(text));
  }
}

/* A kernel that was given as the text of its form. */
static void put_form(recorder *r) {
  const tk_source *src = r->l->fn->form;
  if (!src) return;
  json_t *o = put_json(r, r->meta, "form", json_object());
  put_text(r, o, "name", src->name);
  put_bytes(r, o, "text", src->text, src->len);
}

static void record(tk_env *e, void *ud) {
  recorder *r = ud;
  r->header = json_object();
  r->meta = json_object();
  if (!r->header || !r->meta) tk_throw(e, TK_INTERNAL);
  put_int(r, r->meta, "version", TKN_FILE_VERSION);
  function_index(r, r->l->fn);
  json_t *strings = put_json(r, r->header, "__metadata__", json_object());
  put_regions(r);
  json_t *grid = put_json(r, r->meta, "grid", json_array());
  for (int i = 0; i < 3; i++) push_json(r, grid, json_integer(r->l->grid[i]));
  put_compile_options(r);
  for (size_t i = 0; i < TK_LAUNCH_OPTIONS; i++)
    put_int(r, r->meta, tk_launch_option_at(i)->name, r->l->options[i]);
  put_args(r);
  put_functions(r);
  put_form(r);
  r->meta_text = dump(r, r->meta, JSON_COMPACT);
  put_json(r, strings, "tkdbg", json_string(r->meta_text));
  r->header_text = dump(r, r->header, JSON_COMPACT);
  write_file(r, r->file);
}

void tkn_record(tk_launch *l, tkn_writer *w) {
  recorder r = {.env = w->env, .l = l, .path = w->name, .file = w};
  tk_arena_init(&r.arena, r.env);
  tk_status st = tk_protect(w->env, record, &r);
  json_decref(r.header);
  json_decref(r.meta);
  free(r.header_text);
  free(r.meta_text);
  tk_arena_free(&r.arena);
  if (st != TK_OK) tk_throw(w->env, st);
}

typedef struct record_call {
  tk_launch *l;
  const char *path;
} record_call;

static void record_writer(tkn_writer *w, void *ud) {
  tkn_record(((record_call *)ud)->l, w);
}

static void record_path(tk_env *e, void *ud) {
  record_call *c = ud;
  if (c->l->fn->ptx) {
    tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                "a launch of a PTX file cannot be recorded");
    tk_throw(e, TK_USAGE);
  }
  tkn_with_writer(e, c->path, record_writer, c);
}

tk_status tk_launch_record(tk_launch *l, const char *path) {
  record_call c = {l, path};
  return tk_session_guard(l->session, record_path, &c);
}
