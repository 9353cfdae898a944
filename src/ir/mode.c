/* mode.c - mode.h as tables. */
#include "ir/mode.h"

#include <string.h>

/* The element types that an operation is defined for. */
#define TAKEN(X)                                                               \
  X(ANYTHING, "anything")                                                      \
  X(NUMBERS, "numbers")                                                        \
  X(INTEGERS, "integers")                                                      \
  X(WIDE, "integers of 32 and 64 bits")                                        \
  X(REALS, "fp32 and fp64")
#define X(ID, name) TAKES_##ID,
typedef enum taken { TAKEN(X) } taken;
#undef X

typedef struct list_word {
  const char *name;
  taken takes;
  int flops;
} list_word;

#define WORD(P, ID, name, takes, flops) {name, TAKES_##takes, flops},
#define LIST(ID, type, P, words, said)                                         \
  static const list_word type##_words[] = {words(WORD)};
TK_MODE_LISTS(LIST)
#undef LIST
#undef WORD

static const struct {
  const char *name;
  const list_word *words;
  int64_t n;
  bool said;
} lists[TK_LIST_COUNT] = {
#define LIST(ID, type, P, words, said)                                         \
  {#type, type##_words, TK_COUNT(type##_words), said},
    TK_MODE_LISTS(LIST)
#undef LIST
};

const char *tk_list_name(tk_list list) {
  return lists[list].name;
}

bool tk_list_is_said(tk_list list) {
  return lists[list].said;
}

const char *tk_list_word(tk_list list, int64_t i) {
  return i >= 0 && i < lists[list].n ? lists[list].words[i].name : NULL;
}

int64_t tk_list_find(tk_list list, const char *word) {
  for (int64_t i = 0; i < lists[list].n; i++)
    if (!strcmp(lists[list].words[i].name, word)) return i;
  return -1;
}

bool tk_list_takes(tk_list list, int64_t i, tk_dtype d) {
  switch (lists[list].words[i].takes) {
  case TAKES_ANYTHING:
  case TAKES_NUMBERS: return true;
  case TAKES_INTEGERS: return tk_is_int(d);
  case TAKES_WIDE: return tk_is_int(d) && tk_dtypes[d].bits >= 32;
  case TAKES_REALS: break;
  }
  return d == TK_FP32 || d == TK_FP64;
}

bool tk_list_takes_pointers(tk_list list, int64_t i) {
  return lists[list].words[i].takes == TAKES_ANYTHING;
}

int tk_list_flops(tk_list list, int64_t i) {
  return lists[list].words[i].flops;
}

const char *tk_list_takes_name(tk_list list, int64_t i) {
#define X(ID, name) name,
  static const char *const names[] = {TAKEN(X)};
#undef X
  return names[lists[list].words[i].takes];
}

tk_binary tk_reduction_op(tk_reduction r) {
  static const tk_binary ops[TK_R_COUNT] = {
      [TK_R_SUM] = TK_B_ADD,         [TK_R_PROD] = TK_B_MUL,
      [TK_R_MAX] = TK_B_MAX,         [TK_R_MIN] = TK_B_MIN,
      [TK_R_MAX_NAN] = TK_B_MAX_NAN, [TK_R_MIN_NAN] = TK_B_MIN_NAN,
      [TK_R_AND] = TK_B_AND,         [TK_R_OR] = TK_B_OR,
      [TK_R_XOR] = TK_B_XOR};
  return ops[r];
}
