/* view.h - a program as the handle that plug-ins get (tkdbg/ir.h). */
#ifndef TK_IR_VIEW_H
#define TK_IR_VIEW_H

#include "ir/ir.h"
#include "tkdbg/ir.h"

/* The handle lives as long as the program. */
const tk_ir *tk_program_view(const tk_program *p);
tk_ir_type tk_type_view(const tk_type *t);
tk_ir_stmt_kind tk_stmt_kind_view(const tk_stmt *st);

#endif
