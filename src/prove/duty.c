/* duty.c - what the questions of a proof are called. */
#include "tkdbg/prove.h"

#include "base/env.h"

static const struct {
  const char *name, *doc;
} duties[] = {
#define DUTY(id, name, doc) {name, doc},
#include "tkdbg/duty.def"
#undef DUTY
};

const char *tk_duty_name(tk_duty d) {
  return (size_t)d < TK_COUNT(duties) ? duties[d].name : NULL;
}

const char *tk_duty_doc(tk_duty d) {
  return (size_t)d < TK_COUNT(duties) ? duties[d].doc : NULL;
}
