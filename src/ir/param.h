/* param.h - what a launch passes to its kernel, for whoever runs that.
 *
 * Values are copies; tensors belong to the launch.
 */
#ifndef TK_IR_PARAM_H
#define TK_IR_PARAM_H

#include "ir/ir.h"
#include "launch/session.h"

/* The value of a parameter: a number's bits, in its type, or the address of a
 * tensor as the kernel sees it. */
typedef struct tk_param_value {
  uint64_t bits;
  const tk_tensor *tensor; /* NULL: a number */
  size_t index; /* of a tensor: of the argument, or after all of them of what
                   is reached through memory */
} tk_param_value;
tk_param_value tk_param_of(const tk_launch *l, const tk_param *p);

#endif
