/* fuzz_command.c - any bytes as lines for the debugger, over two launches of
 * a kernel whose blocks have 16 to 2,048 lanes, as the last byte says.  A byte
 * from 0x80 on stands for a token: the name of a command, a variable, a piece
 * of an expression; 0xff is Ctrl-C at the next output.  Files cannot be made or
 * read: the folder that it works in is gone.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char command_source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def inc(v, by):\n"
    "    r = v + by\n"
    "    return r, by\n"
    "@triton.jit\n"
    "def twice(v):\n"
    "    a, b = inc(v, 1)\n"
    "    if tl.max(a, axis=0) > 9:\n"
    "        c = a - b\n"
    "        a = c * 1\n"
    "    return a + b\n"
    "@triton.jit\n"
    "def k(x, y, n, B: tl.constexpr):\n"
    "    pid = tl.program_id(0)\n"
    "    o = pid * B + tl.arange(0, B)\n"
    "    m = o < n\n"
    "    v = tl.load(x + o, mask=m, other=0)\n"
    "    w = v[:, None] * 0.5 + tl.arange(0, 2)[None, :]\n"
    "    s = tl.sum(w, axis=1)\n"
    "    q = tl.reshape(v, (B // 16, 16))\n"
    "    top, p = tl.max(q, axis=1), x + o\n"
    "    for i in range(3):\n"
    "        v = twice(v)\n"
    "        if i > pid:\n"
    "            tl.atomic_add(y, i)\n"
    "    tl.device_assert(tl.max(v, axis=0) < 1000)\n"
    "    tl.device_print('v', pid)\n"
    "    tl.store(y + 1 + o, v, mask=m)\n"
    "    tl.store(y + tl.arange(0, B // 16), top)\n"
    "    while tl.load(y) + top.shape[0] < 0:\n"
    "        top += 1\n"
    "    tl.store(p, tl.cdiv(v, 2) + s.to(tl.int32), mask=m)\n";

static const char *const command_tokens[] = {
    "x",       "y",      "v",          "w",
    "s",       "m",      "o",          "pid",
    "B",       "n",      "i",          "inc",
    "twice",   "k",      "r",          "by",
    "[",       "]",      "[0]",        "[1:3]",
    "(",       ")",      " if ",       " = ",
    " + ",     " * ",    " < ",        " and ",
    "any(",    "all(",   "tl.sum(",    "isnan(",
    "trip",    "pid_1",  "op tl.load", "0",
    "1",       "2",      "8",          "20",
    "999",     "-1",     "1e9",        ",",
    " ",       "\n",     "end\n",      "var ",
    "/x",      "/4dw",   "$*",         "\"{v}\"",
    "k.py:19", "&",      "None",       "tl.zeros([4])",
    "axis=",   ":",      "elements",   "locals\n",
    "store",   "atomic", "q",          "top",
    "p",       "jump 2", "jump 3",     "check undef"};

typedef struct command_input {
  tk_session *s;
  tk_debugger *d;
  const uint8_t *data;
  size_t size, at;
  size_t lines, written; /* so far */
  bool interrupt;
  char line[300];
} command_input;

enum { COMMAND_LINES = 60, COMMAND_OUTPUT = 200000 };

/* The shell does not run: there is none. */
FILE *popen(const char *command, const char *mode) {
  (void)command, (void)mode;
  return NULL;
}

/* What a byte stands for; half of the tokens are commands. */
static const char *command_token(uint8_t byte, uint8_t next) {
  const char *name = byte & 1 ? tk_debugger_command_name(next) : NULL;
  if (name) return name;
  return command_tokens[next %
                        (sizeof command_tokens / sizeof *command_tokens)];
}

/* Appends the next byte, or what it stands for; false: the line ends. */
static bool command_next(command_input *in) {
  uint8_t byte = in->data[in->at++];
  char one[2] = {(char)byte, '\0'};
  const char *text = one;
  size_t n = strlen(in->line);
  if (byte == 0xff) in->interrupt = true;
  if (byte == 0xff || byte == '\0') return true;
  if (byte >= 0x80 && in->at < in->size)
    text = command_token(byte, in->data[in->at++]);
  size_t k = strcspn(text, "\n");
  if (n + k < sizeof in->line - 1) memcpy(in->line + n, text, k);
  return text[k] != '\n';
}

/* A path that begins with / or holds .. would lead out of the folder. */
static void command_tame(char *line) {
  for (char *s = line; *s; s++) {
    if (*s == '/' && (s == line || strchr(" \t", s[-1]))) *s = '_';
    if (*s == '.' && s[1] == '.') *s = '_';
  }
}

static const char *command_read(void *ud, const char *prompt) {
  command_input *in = ud;
  (void)prompt;
  if (in->at >= in->size || in->lines++ >= COMMAND_LINES ||
      in->written > COMMAND_OUTPUT)
    return NULL;
  memset(in->line, 0, sizeof in->line);
  while (in->at < in->size && command_next(in)) continue;
  command_tame(in->line);
  for (size_t i = 0; i < 3; i++) tk_debugger_complete(in->d, in->line, i);
  return in->line;
}

/* What loops without an end is stopped as a user would. */
static void command_write(void *ud, const char *text, size_t len) {
  command_input *in = ud;
  (void)text;
  in->written += len;
  if (in->interrupt || in->written > COMMAND_OUTPUT) tk_interrupt(in->s);
  in->interrupt = false;
}

/* Not all lanes of the last program are within n. */
static void command_arguments(command_input *in, tk_launch *l) {
  int lanes = 16 << (in->data[in->size - 1] & 7);
  static const char *const forms[] = {"x=i32[%d]:arange", "y=i32[%d]:zeros",
                                      "n=%d", "B=%d"};
  const int sizes[] = {2 * lanes + 44, 2 * lanes + 144, 2 * lanes + 3, lanes};
  char text[40];
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    snprintf(text, sizeof text, forms[i], sizes[i]);
    if (tk_launch_arg_text(l, text)) abort();
  }
}

static void command_launch(command_input *in) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  if (tk_module_open(in->s, "k.py", command_source, sizeof command_source - 1,
                     &m) ||
      tk_function_named(m, "k", &f) || tk_launch_new(in->s, f, &l))
    abort();
  command_arguments(in, l);
  tk_launch_grid(l, 3, 1, 1);
  tk_run_options o = {.size = sizeof o, .dot = "exact"};
  tk_launch_run(l, &o, NULL);
  tk_launch_free(l);
}

/* A folder that is not there any more. */
static int command_nowhere(void) {
  static int fd = -1;
  char path[] = "/tmp/tkdbg-fuzz-XXXXXX";
  if (fd >= 0) return fd;
  if (!mkdtemp(path)) abort();
  fd = open(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0 || rmdir(path)) abort();
  return fd;
}

static void command_nothing(void *ud, const char *text, size_t len) {
  (void)ud, (void)text, (void)len;
}

/* How many lines were carried out. */
static size_t command_session(const uint8_t *data, size_t size) {
  command_input in = {.data = data, .size = size};
  int nowhere = command_nowhere(), here = open(".", O_RDONLY | O_DIRECTORY);
  if (here < 0 || fchdir(nowhere)) abort();
  in.s = fuzz_session();
  tk_debugger_options o = {.size = sizeof o,
                           .ud = &in,
                           .read = command_read,
                           .write = command_write,
                           .stop_at_start = true,
                           .stop_at_end = true,
                           .script = true};
  tk_session_output(in.s, command_nothing, NULL);
  if (tk_debugger_new(in.s, &o, &in.d)) abort();
  for (int i = 0; i < 2 && !tk_debugger_has_quit(in.d); i++) {
    command_launch(&in);
    tk_debugger_go_back(in.d);
  }
  tk_debugger_raised(in.d, "AssertionError");
  fuzz_end(in.s);
  if (fchdir(here)) abort();
  close(here);
  return in.lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size) command_session(data, size);
  return 0;
}
