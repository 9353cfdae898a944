/* test_text.c - the text of a typed form: every mistake is reported with its
 * line, column and message, and what is accepted prints as the same text.
 */
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "tkdbg/ir.h"

static const char form[] =
    "tkdbg-ir 1\n"
    "triton 306\n"
    "num_warps 4\n"
    "arg x\n"
    "arg n\n"
    "arg B = \"16\"\n"
    "\n"
    "kernel @k(%x: pointer<fp32> from x divisor 16, %n: int32 from n) source 0 "
    "at 1:5-6 {\n"
    "  var %i: int32\n"
    "  var %v: fp32\n"
    "  var %v#2: fp16\n"
    "  var %w: <[4], fp32>\n"
    "  var %t: <[4, 2], fp32>\n"
    "  var %c: int1\n"
    "  var %m: <[4], int1>\n"
    "  var %q: <[4], pointer<int32>>\n"
    "  stmt at 2:5-10 {\n"
    "    %0 = program_id {axis = 0} : int32\n"
    "    %1 = arange {start = 0} : <[4], int32>\n"
    "    %2 = addptr %x, %1 : <[4], pointer<fp32>> at 2:7-9\n"
    "    %m = compare %1, %n {op = lt} : <[4], int1>\n"
    "    %w = load %2, mask=%m {volatile = true, cache = cg} : <[4], fp32>\n"
    "    %3 = const {bits = 0x3f800000} : fp32\n"
    "    %w = binary %w, %3 {op = mul} : <[4], fp32>\n"
    "    %w = flip %w {axis = 0} : <[4], fp32>\n"
    "    %w = hint %w {kind = multiple_of, values = [8]} : <[4], fp32>\n"
    "    %4 = asm %1 code \"add.s32 $0, $1, 7;\" constraints \"=r,r\" pack 1 : "
    "<[4], int32>\n"
    "    %t = broadcast %3 : <[4, 2], fp32>\n"
    "    %5 = permute %t {axes = [1, 0]} : <[2, 4], fp32>\n"
    "    %v = extern %3 {function = sqrt, overload = 0} : fp32\n"
    "    %v#2 = cast %v {rounding = zero} : fp16\n"
    "    %v = call %v, %v @f : fp32\n"
    "    %c = compare %v, %3 {op = lt} : int1\n"
    "    print hex where \"0,>1\" of -, %0, - [\"v\", %v:\">5\", %w!] : fp32\n"
    "  }\n"
    "  stmt at 3:5-4:3 {\n"
    "    %v = cond %c : fp32 {\n"
    "      %v = binary %v, %3 {op = add} : fp32\n"
    "    } else {\n"
    "      %v = copy %v : fp32\n"
    "    }\n"
    "    store %2, %w, mask=%m : <[4], fp32>\n"
    "  }\n"
    "  if at 4:5-9 {\n"
    "  } then %c {\n"
    "    stmt at 5:5-9 {\n"
    "      %6 = compare %1, %n {op = gt} : <[4], int1>\n"
    "    }\n"
    "  }\n"
    "  for at 5:5-9 {\n"
    "    %7 = const {bits = 0x1} : int32\n"
    "  } over %i = %0, %n, %7 with num_stages 3, flatten {\n"
    "  }\n"
    "  while at 6:5-9 {\n"
    "  } do %c {\n"
    "    stmt at 7:5-9 {\n"
    "      %c = compare %v, %v {op = ne} : int1\n"
    "    }\n"
    "  }\n"
    "  return at 8:5-9 {\n"
    "  }\n"
    "}\n"
    "\n"
    "func @f(%a: fp32, %b: fp32) -> fp32 source 0 at 2:5-6 {\n"
    "  return at 3:5-8 {\n"
    "    %0 = binary %a, %b {op = add} : fp32\n"
    "  } %0\n"
    "}\n"
    "\n"
    "func @max(%a: <[4], fp32>, %b: <[4], fp32>) -> <[4], fp32> source 0 at "
    "2:5-6 {\n"
    "  return at 3:5-8 {\n"
    "    %0 = binary %a, %b {op = max} : <[4], fp32>\n"
    "  } %0\n"
    "}\n"
    "\n"
    "source 0 \"k.py\" from 1\n"
    "|def k(x, n, B):\n"
    "|    pass  # 1\n"
    "|    pass  # 2\n"
    "|    pass  # 3\n"
    "|    pass  # 4\n"
    "|    pass  # 5\n"
    "|    pass  # 6\n"
    "|    pass  # 7\n";

/* The first `from` in the form becomes `to`; NULL: the text is empty. */
typedef struct mistake {
  const char *name, *from, *to;
  int line, column;
  const char *message;
} mistake;

static const mistake mistakes[] = {
    {"no head", "tkdbg-ir 1", "tkdbg 1", 1, 1,
     "the text of a program begins with 'tkdbg-ir 1'"},
    {"empty", NULL, "", 1, 1, "the text of a program begins with 'tkdbg-ir 1'"},
    {"another version", "tkdbg-ir 1", "tkdbg-ir 2", 1, 10,
     "the version of the text must be from 1 to 1"},
    {"version no number", "tkdbg-ir 1", "tkdbg-ir x", 1, 10,
     "expected the version of the text, a number"},
    {"triton's version too large", "triton 306", "triton 99999999", 2, 8,
     "a version of Triton must be from 0 to 1000000"},
    {"num_warps of 0", "num_warps 4", "num_warps 0", 3, 11,
     "num_warps must be from 1 to 64"},
    {"num_warps that no launch has", "num_warps 4", "num_warps 3", 3, 11,
     "num_warps must be a power of two"},
    {"launch option without a number", "num_warps 4", "maxnreg x", 3, 9,
     "expected maxnreg, a number"},
    {"argument without a name", "arg n\n", "arg =\n", 5, 5,
     "expected the name of an argument"},
    {"value not in quotes", "arg B = \"16\"", "arg B = 16", 6, 9,
     "expected '\"' after '='"},
    {"value never closed", "arg B = \"16\"", "arg B = \"16", 27, 23,
     "expected a function: kernel or func"},
    {"no function word", "func @f(", "fun @f(", 64, 1,
     "expected a function: kernel or func"},
    {"no kernel",
     "kernel @k(%x: pointer<fp32> from x divisor 16, %n: int32 from n)",
     "func @k(%x: pointer<fp32>, %n: int32)", 76, 1,
     "the program has no kernel"},
    {"two kernels", "func @f(%a: fp32", "kernel @f(%a: fp32", 64, 8,
     "a program has one kernel"},
    {"two functions of one name", "func @f(", "func @k(", 64, 6,
     "there are two functions @k"},
    {"function without @", "func @f(", "func f(", 64, 6,
     "expected the name of a function: a name with @ before it"},
    {"name is missing", "func @f(", "func @(", 64, 6,
     "expected a name after @"},
    {"no parenthesis", "@f(%a", "@f %a", 64, 9,
     "expected '(' after the name of a function"},
    {"parameter twice", "%b: fp32) -> fp32", "%a: fp32) -> fp32", 64, 19,
     "%a is given twice"},
    {"no comma between parameters", "%a: fp32, %b", "%a: fp32 %b", 64, 18,
     "expected ',' after a parameter"},
    {"parameter without a type", "%a: fp32,", "%a,", 64, 11,
     "expected ':' after the name of a parameter"},
    {"kernel's parameter from nowhere", "%n: int32 from n", "%n: int32", 8, 57,
     "expected 'from' after the type of a kernel's parameter"},
    {"from an argument that is none", "%n: int32 from n", "%n: int32 from m", 8,
     63, "the kernel has no argument 'm'"},
    {"divisor of 0", "divisor 16", "divisor 0", 8, 44,
     "a divisor must be from 1 to 1048576"},
    {"item of 0", "%n: int32 from n", "%n: int32 from n.0", 8, 65,
     "an item must be from 1 to 1048576"},
    {"no source", "-> fp32 source 0", "-> fp32", 64, 37,
     "expected 'source' after the head of a function"},
    {"source that is not there", "-> fp32 source 0", "-> fp32 source 7", 64, 44,
     "there is no source 7"},
    {"two sources of one number", "|    pass  # 7\n",
     "|    pass  # 7\nsource 0 \"l.py\" from 1\n|x\n", 85, 8,
     "there are two sources 0"},
    {"source without its first line", "\"k.py\" from 1", "\"k.py\" from 0", 76,
     22, "the first line of a source must be from 1 to 10000000"},
    {"function without a place", "source 0 at 1:5-6", "source 0", 8, 75,
     "expected 'at' after the source of a function"},
    {"line that is not in the source", "stmt at 2:5-10", "stmt at 99:5-10", 17,
     11, "the source has no line 99"},
    {"column behind the source", "stmt at 2:5-10", "stmt at 2:5-9999", 17, 11,
     "the source ends before this place"},
    {"place that ends first", "stmt at 2:5-10", "stmt at 2:10-5", 17, 11,
     "this place ends before it begins"},
    {"function that never ends", "} %0\n}\n\nsource", "} %0\n\nsource", 70, 6,
     "this function never ends"},
    {"no such type", "var %i: int32", "var %i: int33", 9, 11,
     "'int33' is not a type"},
    {"pointer to nothing", "pointer<fp32> from", "pointer from", 8, 23,
     "expected '<' after a pointer"},
    {"pointer not closed", "pointer<fp32> from", "pointer<fp32 from", 8, 28,
     "expected '>' after what a pointer points to"},
    {"axis of size 0", "var %w: <[4], fp32>", "var %w: <[0], fp32>", 12, 13,
     "the size of an axis must be from 1 to 1048576"},
    {"axis too large", "var %w: <[4], fp32>", "var %w: <[1048577], fp32>", 12,
     13, "the size of an axis must be from 1 to 1048576"},
    {"too many lanes", "var %w: <[4], fp32>", "var %w: <[1024, 2048], fp32>",
     12, 12, "a block has at most 1048576 lanes"},
    {"too many axes", "var %w: <[4], fp32>",
     "var %w: <[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], fp32>", 12, 12,
     "a block has at most 20 axes"},
    {"block of blocks", "var %w: <[4], fp32>", "var %w: <[4], <[4], fp32>>", 12,
     12, "a block of blocks is not a type"},
    {"number beyond 64 bits", "start = 0", "start = 99999999999999999999", 19,
     26, "start has more than 64 bits"},
    {"hexadecimal beyond 64 bits", "bits = 0x3f800000",
     "bits = 0x1ffffffffffffffff", 23, 24, "bits has more than 64 bits"},
    {"variable twice", "var %i: int32", "var %n: int32", 9, 7,
     "%n is given twice"},
    {"variable that is a number", "var %i: int32", "var %9: int32", 9, 7,
     "%9 is the name of a temporary, which needs no declaration"},
    {"variable without %", "var %i: int32", "var i: int32", 9, 7,
     "expected a variable: a name with % before it"},
    {"no such statement", "stmt at 2:5-10", "state at 2:5-10", 17, 3,
     "expected a statement: stmt, if, for, while or return"},
    {"no such instruction", "arange {", "aranje {", 19, 10,
     "'aranje' is not an instruction"},
    {"instruction without a name", "arange {", "{", 19, 10,
     "expected an instruction"},
    {"unknown operand", "addptr %x, %1", "addptr %x, %y", 20, 21,
     "%y is not defined before this"},
    {"almost a name", "binary %w, %3", "binary %ww, %3", 24, 17,
     "%ww is not defined before this"},
    {"missing operand", "addptr %x, %1", "addptr %x", 20, 20,
     "expected ',' after an operand"},
    {"one operand too many", "addptr %x, %1", "addptr %x, %1, %1", 20, 23,
     "expected ':' after an instruction"},
    {"optional operand of another name", "mask=%m", "mark=%m", 22, 17,
     "expected ':' after an instruction"},
    {"no such attribute", "volatile = true", "volatil = true", 22, 28,
     "load has no attribute 'volatil'"},
    {"attribute without =", "volatile = true", "volatile true", 22, 37,
     "expected '=' after the name of an attribute"},
    {"flag that is neither", "volatile = true", "volatile = 1", 22, 39,
     "volatile is true or false"},
    {"no comma between attributes", "volatile = true, cache",
     "volatile = true cache", 22, 44, "expected ',' after an attribute"},
    {"no such word", "cache = cg", "cache = ch", 22, 53,
     "'ch' is not one of the values of this attribute"},
    {"axis that no block has", "flip %w {axis = 0}", "flip %w {axis = 20}", 25,
     26, "axis must be from 0 to 19"},
    {"axis that this block has not", "flip %w {axis = 0}", "flip %w {axis = 1}",
     25, 10, "flip: the block has no axis 1"},
    {"too few numbers", "values = [8]", "values = []", 26, 48,
     "there must be a number for each of 1 axes, not 0"},
    {"too many numbers", "values = [8]", "values = [8, 8]", 26, 48,
     "there must be a number for each of 1 axes, not 2"},
    {"more numbers than axes can be", "values = [8]",
     "values = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 26, 89,
     "there are at most 20 axes"},
    {"no permutation", "axes = [1, 0]", "axes = [1, 1]", 29, 10,
     "permute: its axes are not a permutation"},
    {"no such function of libdevice", "function = sqrt", "function = sqrd", 30,
     32, "libdevice has no function 'sqrd'"},
    {"no type", "%1 = arange {start = 0} : <[4], int32>",
     "%1 = arange {start = 0}", 20, 5, "expected ':' after an instruction"},
    {"variable that was not declared", "%w = binary", "%z = binary", 24, 37,
     "the variable %z is not declared"},
    {"variable of another type", "%w = binary %w, %3 {op = mul} : <[4], fp32>",
     "%w = binary %w, %3 {op = mul} : <[4], fp16>", 24, 37,
     "%w has another type"},
    {"temporary of another type", "%3 = const {bits = 0x3f800000} : fp32",
     "%1 = const {bits = 0x3f800000} : fp32", 23, 38, "%1 has another type"},
    {"results without =", "%0 = program_id", "%0 program_id", 18, 8,
     "expected '=' after the results"},
    {"result missing", "%0 = program_id", "program_id", 34, 34,
     "%0 is not defined before this"},
    {"permuted to another shape", "axes = [1, 0]} : <[2, 4], fp32>",
     "axes = [1, 0]} : <[4, 2], fp32>", 29, 10,
     "permute: the result must match the operand with its axes permuted"},
    {"overload of other types", "overload = 0", "overload = 1", 30, 10,
     "extern: the types must be those of the overload"},
    {"copy of fewer lanes", "%5 = permute %t {axes = [1, 0]}", "%5 = copy %3",
     29, 10, "copy: the result must have as many lanes"},
    {"one result too many", "%3 = const {bits = 0x3f800000} : fp32",
     "%3, %33 = const {bits = 0x3f800000} : fp32, fp32", 23, 15,
     "const: it has 1 results, not 2"},
    {"mask of another type", "mask=%m", "mask=%1", 22, 10,
     "load: the operand 'mask' must be int1 lanes of the result's shape, or "
     "one"},
    {"operand of another type", "binary %w, %3", "binary %1, %3", 24, 10,
     "binary: the operand 'left' must be the type of the result, or one such "
     "lane"},
    {"lanes of another shape", "compare %v, %3", "compare %v, %w", 33, 10,
     "compare: the operand 'right' must be the shape of the result, or one "
     "lane"},
    {"pointers to something else", "%w = load %2", "%w = load %1", 22, 10,
     "load: the operand 'pointer' must be pointers to the result's element, of "
     "its shape"},
    {"offset that is a float", "addptr %x, %1", "addptr %x, %x", 20, 10,
     "addptr: the operand 'offset' must be integers of 32 or 64 bits, of the "
     "result's shape, or one"},
    {"no such callee", "call %v, %v @f", "call %v, %v @g", 32, 22,
     "there is no function @g"},
    {"callee missing", "call %v, %v @f", "call %v, %v", 32, 22,
     "expected a function: a name with @ before it"},
    {"value too few for the callee", "call %v, %v @f", "call %v @f", 32, 10,
     "call: @f takes 2 values, not 1"},
    {"value that the callee does not take", "call %v, %v @f", "call %v, %n @f",
     32, 10, "call: value 1 is not what @f takes"},
    {"result that the callee does not give", "%v = call %v, %v @f : fp32",
     "%i = call %v, %v @f : int32", 32, 10,
     "call: result 0 is not what @f gives"},
    {"results more than the callee gives", "%v = call %v, %v @f : fp32",
     "%v, %9 = call %v, %v @f : fp32, fp32", 32, 14,
     "call: @f gives 1 values, not 2"},
    {"function that calls itself", "%0 = binary %a, %b {op = add} : fp32",
     "%0 = call %a, %b @f : fp32", 66, 10, "call: @f would call itself"},
    {"nothing printed", "[\"v\", %v", "\"v\", %v", 34, 40,
     "expected '[' after what is printed"},
    {"text never closed", "[\"v\", %v", "[\"v, %v", 34, 49,
     "expected ',' after a piece"},
    {"piece that is neither", "[\"v\", %v", "[v, %v", 34, 41,
     "expected a text or a value: a name with % before it"},
    {"condition that is none", "where \"0,>1\"", "where \"0,>\"", 34, 21,
     "this is not a program condition"},
    {"conditions of nothing", "of -, %0, -", "-, %0, -", 34, 28,
     "expected 'of' after a program condition"},
    {"code missing", "asm %1 code \"add", "asm %1 cod \"add", 27, 17,
     "expected 'code' after the operands"},
    {"assembly that is wrong", "add.s32 $0", "ad.s32 $0", 27, 22,
     "inline assembly: ad is not an instruction that tkdbg knows"},
    {"constraints that are wrong", "constraints \"=r,r\"",
     "constraints \"=r,?\"", 27, 22,
     "inline assembly: the constraint \"?\" is not known"},
    {"pack of 0", "pack 1", "pack 0", 27, 67, "pack must be from 1 to 32"},
    {"cond without a body", "cond %c : fp32 {", "cond %c : fp32", 38, 7,
     "expected '{' after the type of cond"},
    {"cond without else", "} else {\n      %v = copy %v : fp32\n    }", "}", 40,
     5, "expected 'else' after the first body of cond"},
    {"condition of a cond that is a block", "cond %c : fp32", "cond %m : fp32",
     37, 10, "cond: the operand 'condition' must be a scalar int1"},
    {"if without then", "then %c", "the %c", 45, 5,
     "expected 'then' after the instructions of an if"},
    {"condition that is a number", "then %c", "then %n", 44, 3,
     "the condition is not a scalar int1"},
    {"loop without over", "over %i", "ove %i", 52, 5,
     "expected 'over' after the instructions of a for"},
    {"bounds of two types", "over %i = %0, %n, %7", "over %i = %0, %n, %v", 50,
     3, "the variable and the bounds of a loop are integers of one type"},
    {"bound missing", "over %i = %0, %n, %7", "over %i = %0, %n", 52, 22,
     "expected ',' after the upper bound"},
    {"no such option of a loop", "num_stages 3", "num_stage 3", 52, 31,
     "a loop has no option 'num_stage'"},
    {"option without its number", "num_stages 3", "num_stages x", 52, 42,
     "expected num_stages, a number"},
    {"while without do", "do %c", "then %c", 55, 5,
     "expected 'do' after the instructions of a while"},
    {"statement without its body", "then %c {", "then %c", 46, 5,
     "expected '{' after the head of a statement"},
    {"function gives one value", "} %0\n}", "}\n}", 65, 3,
     "the function gives 1 values, not 0"},
    {"result of another type", "-> fp32", "-> fp16", 32, 10,
     "call: result 0 is not what @f gives"},
    {"body that is never closed", "  return at 8:5-9 {\n  }\n}\n",
     "  return at 8:5-9 {\n}\n", 63, 1,
     "expected a statement: stmt, if, for, while or return"},
    {"program index on an axis that is none", "program_id {axis = 0}",
     "program_id {axis = 3}", 18, 10, "program_id: the axis must be 0, 1 or 2"},
    {"temporary with no value yet", "binary %w, %3 {op = mul}",
     "binary %w, %7 {op = mul}", 24, 21, "%7 is not defined before this"},
    {"kernel that gives a value", "%n: int32 from n) source",
     "%n: int32 from n) -> fp32 source", 8, 92, "a kernel gives no values"},
    {"parameter of a kernel that is a block", "%n: int32 from n)",
     "%n: <[4], int32> from n)", 8, 91,
     "parameter 1 is a block: launches fill scalars"},
    {"value that points to a block", "var %q: <[4], pointer<int32>>",
     "var %q: pointer<<[4], int32>>", 8, 84,
     "value 9, 'q', has a type that values cannot have"},
    {"value that one branch alone gives", "} then %c {\n    stmt at 5:5-9 {\n",
     "} then %c {\n    stmt at 5:5-9 {\n    %t = copy %t : <[4, 2], fp32>\n"
     "    %q = cast %2 : <[4], pointer<int32>>\n }\n }\n stmt at 5:5-9 {\n"
     "    %q = copy %q : <[4], pointer<int32>>\n }\n"
     "  if at 4:5-9 {\n } then %c {\n stmt at 5:5-9 {\n",
     52, 10, "copy: %q may have no value here"},
    {"value of a loop that may not run", "} do %c {\n    stmt at 7:5-9 {\n",
     "} do %c {\n    stmt at 7:5-9 {\n    %q = cast %2 : <[4], "
     "pointer<int32>>\n }\n }\n stmt at 5:5-9 {\n"
     "    %q = copy %q : <[4], pointer<int32>>\n }\n"
     "  while at 4:5-9 {\n } do %c {\n stmt at 5:5-9 {\n",
     61, 10, "copy: %q may have no value here"},
    {"temporary of a body that has ended",
     "%c = compare %v, %v {op = ne} : int1", "%m = copy %6 : <[4], int1>", 57,
     12, "copy: operand 0 may have no value here"},
};

static char *changed_form(const char *from, const char *to) {
  const char *at = from ? strstr(form, from) : form;
  size_t n = from ? strlen(from) : strlen(form), size;
  char *text;
  ck_assert_msg(at != NULL, "the form has no '%s'", from);
  FILE *out = open_memstream(&text, &size);
  fwrite(form, 1, (size_t)(at - form), out);
  fputs(to, out);
  fputs(at + n, out);
  fclose(out);
  return text;
}

START_TEST(mistake_is_reported_where_it_is) {
  const mistake *m = &mistakes[_i];
  char *text = changed_form(m->from, m->to), want[400];
  tk_session *s = tk_session_new();
  tk_function *f;
  tk_status st = tk_ir_open(s, "k.tk", text, strlen(text), &f);
  snprintf(want, sizeof want, "k.tk:%d:%d: error: %s [", m->line, m->column,
           m->message);
  ck_assert_msg(st == TK_USAGE && strstr(tk_report(s, false), want),
                "%s: not \"%s\" but:\n%.900s", m->name, want,
                tk_report(s, false));
  free(text);
  tk_session_free(s);
}
END_TEST

/* What an accepted text prints as; free it. */
static char *printed_form(const char *text) {
  tk_session *s = tk_session_new();
  tk_function *f;
  tk_launch *l;
  tk_status st = tk_ir_open(s, "k.tk", text, strlen(text), &f);
  ck_assert_msg(st == TK_OK, "%.900s", tk_report(s, false));
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "x=f32[4]:ones"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "n=3"), TK_OK);
  const char *again = tk_launch_ir(l);
  ck_assert_msg(again != NULL, "%.900s", tk_report(s, false));
  char *out = strdup(again);
  tk_session_free(s);
  return out;
}

/* ---- rules of instructions ---------------------------------------------- */

/* Values of every sort, and then one instruction. */
static const char values[] =
    "tkdbg-ir 1\nnum_warps 4\narg p\narg c\narg h\n\n"
    "kernel @k(%p: pointer<fp32> from p, %c: const_pointer<fp32> from c, "
    "%h: pointer<fp16> from h) source 0 at 1:1-4 {\n"
    "  var %v: <[4], fp32>\n"
    "  stmt at 1:1-4 {\n"
    "    %0 = arange {start = 0} : <[4], int32>\n"
    "    %1 = const {bits = 0x1} : int32\n"
    "    %2 = const {bits = 0x1} : int64\n"
    "    %3 = const {bits = 0x1} : int1\n"
    "    %4 = const {bits = 0x0} : fp32\n"
    "    %5 = cast %0 : <[4], fp32>\n"
    "    %6 = cast %5 : <[4], fp16>\n"
    "    %7 = cast %0 : <[4], int8>\n"
    "    %8 = compare %0, %1 {op = lt} : <[4], int1>\n"
    "    %9 = broadcast %4 : <[4, 8], fp32>\n"
    "    %10 = broadcast %4 : <[8, 4], fp32>\n"
    "    %11 = cast %9 : <[4, 8], uint8>\n"
    "    %12 = addptr %p, %0 : <[4], pointer<fp32>>\n"
    "    %13 = addptr %c, %0 : <[4], const_pointer<fp32>>\n"
    "    %14 = cast %5 : <[4], fp64>\n"
    "    %15 = broadcast %4 : <[4, 2], fp32>\n"
    "    %16 = cast %2 : pointer<int1>\n"
    "    %@\n"
    "  }\n"
    "  return at 1:1-4 {\n"
    "  }\n"
    "}\n"
    "\n"
    "func @one(%a: fp32) -> fp32 source 0 at 1:1-4 {\n"
    "  return at 1:1-4 {\n"
    "  } %a\n"
    "}\n"
    "\n"
    "func @two(%a: fp32, %b: fp32) -> fp32 source 0 at 1:1-4 {\n"
    "  return at 1:1-4 {\n"
    "  } %a\n"
    "}\n"
    "\n"
    "func @pair(%a: <[2], fp32>, %b: <[2], fp32>) -> <[2], fp32> source 0 at "
    "1:1-4 {\n"
    "  return at 1:1-4 {\n"
    "  } %a\n"
    "}\n"
    "\n"
    "func @last(%a: <[1], fp32>, %b: <[1], fp32>) -> <[1], fp32> source 0 at "
    "1:1-4 {\n"
    "  return at 1:1-4 {\n"
    "  } %a\n"
    "}\n"
    "\n"
    "source 0 \"k.py\" from 1\n"
    "|def k\n";

/* An instruction, and what is wrong with it; NULL: nothing. */
static const char *const rules[][2] = {
    {"%99 = const {bits = 0x0} : <[4], int32>",
     "const: the result must be a scalar: broadcast fills blocks"},
    {"%99 = const {bits = 0x2} : int1",
     "const: the bits of an int1 must be 0 or 1"},
    {"%99 = arange {start = 0} : <[4], int64>",
     "arange: the result must be a block of int32 with one axis"},
    {"%99 = arange {start = 0} : int32",
     "arange: the result must be a block of int32 with one axis"},
    {"%99 = arange {start = 2147483645} : <[4], int32>",
     "arange: every number must be an int32"},
    {"%99 = arange {start = 2147483644} : <[4], int32>", NULL},
    {"%99 = program_id {axis = 0} : int64",
     "program_id: the result must be a scalar int32"},
    {"%99 = num_programs {axis = 3} : int32",
     "num_programs: the axis must be 0, 1 or 2"},
    {"%99 = clock : int32", "clock: the result must be a scalar int64"},
    {"%99 = copy %5 : <[2, 2], int32>", NULL},
    {"%99 = copy %7 : <[4], int1>",
     "copy: the result's lanes must have as many bits, and be pointers if the "
     "operand's are"},
    {"%99 = copy %12 : <[4], int64>",
     "copy: the result's lanes must have as many bits, and be pointers if the "
     "operand's are"},
    {"%99 = hint %4 {kind = multiple_of, values = [8]} : <[4], fp32>",
     "hint: the operand 'value' must be the type of the result"},
    {"%99 = broadcast %1 : int32", "broadcast: the result must be a block"},
    {"%99 = broadcast %0 : <[4], int64>",
     "broadcast: the result must match the operand, except for axes of size 1"},
    {"%99 = broadcast %0 : <[4, 4], int32>",
     "broadcast: the result must match the operand, except for axes of size 1"},
    {"%99 = permute %9 {axes = [1, 0]} : <[8, 4], int32>",
     "permute: the result must match the operand with its axes permuted"},
    {"%99 = cast %1 : <[4], fp32>",
     "cast: the operand 'value' must be the shape of the result"},
    {"%99 = cast %12 : <[4], int32>",
     "cast: a pointer becomes a pointer, an integer of 64 bits or int1"},
    {"%99 = cast %12 : <[4], int1>", NULL},
    {"%99 = cast %0 : <[4], pointer<fp32>>",
     "cast: only integers of 64 bits become pointers"},
    {"%99 = unary %0 {op = exp} : <[4], int32>",
     "unary: this operation is not defined for the type"},
    {"%99 = unary %6 {op = sqrt} : <[4], fp16>",
     "unary: this operation is not defined for the type"},
    {"%99 = unary %12 {op = neg} : <[4], pointer<fp32>>",
     "unary: this operation is not defined for the type"},
    {"%99 = binary %5, %5 {op = and} : <[4], fp32>",
     "binary: this operation is not defined for the type"},
    {"%99 = binary %7, %7 {op = mulhi} : <[4], int8>",
     "binary: this operation is not defined for the type"},
    {"%99 = binary %4, %4 {op = add} : <[4], fp32>",
     "binary: one operand must have the shape of the result"},
    {"%99 = binary %4, %5 {op = add} : <[4], fp32>", NULL},
    {"%99 = compare %0, %7 {op = lt} : <[4], int1>",
     "compare: both operands must have the same element type"},
    {"%99 = compare %0, %0 {op = lt} : <[4], int8>",
     "compare: the result must be int1"},
    {"%99 = compare %1, %1 {op = lt} : <[4], int1>",
     "compare: one operand must have the shape of the result"},
    {"%99 = select %3, %4, %4 : <[4], fp32>", NULL},
    {"%99 = fma %0, %0, %0 : <[4], int32>", "fma: the operands must be floats"},
    {"%99 = fma %4, %5, %5 : <[4], fp32>",
     "fma: the operand 'left' must be the type of the result"},
    {"%99 = extern %5 {function = sqrt, overload = 9} : <[4], fp32>",
     "extern: the function has no such overload"},
    {"%99 = extern %4 {function = sqrt, overload = 0} : <[4], fp32>",
     "extern: the operand 'args' must be the shape of the result"},
    {"%99 = asm %0 code \"\" constraints \"=r,r\" pack 3 : <[4], int32>",
     "asm: there must be a result, and pack must be a power of two"},
    {"%99 = asm %0 code \"\" constraints \"=r,r\" pack 2 : <[4], int32>",
     "asm: the constraints must name a register for each group of lanes"},
    {"%99 = asm %0 code \"\" constraints \"=h,r\" pack 1 : <[4], int32>",
     "asm: the constraints must name a register for each group of lanes"},
    {"%99 = asm %1 code \"\" constraints \"=r,r\" pack 1 : <[4], int32>",
     "asm: operands and results must have one shape"},
    {"%99 = map_fn %5 {pack = 1} @one : <[4], fp32>", NULL},
    {"%99 = map_fn %5 {pack = 3} @one : <[4], fp32>",
     "map_fn: pack must divide the lanes"},
    {"%99 = map_fn {pack = 1} @one : <[4], fp32>",
     "map_fn: there must be an operand and a result"},
    {"%99 = map_fn %5 {pack = 2} @one : <[4], fp32>",
     "map_fn: operands and results must have one shape, and the function must "
     "take and give `pack` lanes of each"},
    {"%99 = map_fn %4 {pack = 1} @one : <[4], fp32>",
     "map_fn: operands and results must have one shape, and the function must "
     "take and give `pack` lanes of each"},
    {"%99 = map_fn %5 {pack = 1} @k : <[4], fp32>",
     "map_fn: operands and results must have one shape, and the function must "
     "take and give `pack` lanes of each"},
    {"%99 = unscale %11 {axis = 1, group = 0, packed_axis = 1} : <[4, 16], "
     "fp32>",
     NULL},
    {"%99 = unscale %11 {axis = 1, group = 0, packed_axis = 1} : <[4, 8], "
     "fp32>",
     "unscale: the result must have the operand's shape, the packed axis "
     "twice"},
    {"%99 = unscale %11 {axis = 1, group = 0, packed_axis = -1} : <[4, 8], "
     "fp32>",
     "unscale: the operand must be floats of at most 32 bits, or packed bytes"},
    {"%99 = unscale %11 {axis = 1, group = 32, packed_axis = 1} : <[4, 16], "
     "fp32>",
     "unscale: without scales there is no group"},
    {"%99 = unscale %9, scales=%11 {axis = 1, group = 1, packed_axis = -1} : "
     "<[4, 8], fp32>",
     NULL},
    {"%99 = unscale %9, scales=%11 {axis = 1, group = 3, packed_axis = -1} : "
     "<[4, 8], fp32>",
     "unscale: the group must divide the axis"},
    {"%99 = unscale %9, scales=%11 {axis = 1, group = 2, packed_axis = -1} : "
     "<[4, 8], fp32>",
     "unscale: the scales must be one for each group"},
    {"%99 = unscale %9, scales=%15 {axis = 1, group = 4, packed_axis = -1} : "
     "<[4, 8], fp32>",
     "unscale: the scales must be bytes or fp8e4nv"},
    {"%99 = unscale %5 {axis = 0, group = 0, packed_axis = -1} : <[4], fp32>",
     "unscale: the result must be fp32, of the operand's axes, at least two"},
    {"%99 = addptr %p, %1 : <[4], pointer<fp32>>",
     "addptr: one operand must have the shape of the result"},
    {"%99 = addptr %p, %7 : <[4], pointer<fp32>>",
     "addptr: the operand 'offset' must be integers of 32 or 64 bits, of the "
     "result's shape, or one"},
    {"%99 = addptr %0, %0 : <[4], int32>",
     "addptr: the result must be pointers"},
    {"%99 = load %12, other=%0 : <[4], fp32>",
     "load: `other` must be the type of the result, or one such lane"},
    {"%99 = load %p : <[4], fp32>",
     "load: the operand 'pointer' must be pointers to the result's element, of "
     "its shape"},
    {"%99 = load %13, mask=%3 : <[4], fp32>", NULL},
    {"store %13, %5 : <[4], fp32>", "store: the pointer must not be const"},
    {"store %12, %6 : <[4], fp32>",
     "store: the value must be of the stored type, or one such lane"},
    {"store %12, %4 : <[4], fp32>", NULL},
    {"%99 = cast %1 : int8\nstore %16, %99 : int1", NULL},
    {"%99 = atomic %12, %5 {op = atomic_and, sem = relaxed, scope = gpu} : "
     "<[4], fp32>",
     "atomic: this operation is not defined for the type"},
    {"%99 = atomic %13, %5 {op = atomic_add, sem = relaxed, scope = gpu} : "
     "<[4], fp32>",
     "atomic: the pointer must not be const"},
    {"%99 = atomic_cas %13, %5, %5 {sem = relaxed, scope = gpu} : <[4], fp32>",
     "atomic_cas: the pointer must not be const"},
    {"%99 = dot %9, %10 : <[4, 4], fp32>", NULL},
    {"%99 = dot %9, %9 : <[4, 4], fp32>",
     "dot: its shapes must be those of a product of matrices"},
    {"%99 = dot %9, %10 : <[4, 4], bf16>",
     "dot: it makes fp64 of fp64, int32 of integers, fp32 or fp16 of floats of "
     "at most 32 bits"},
    {"%99 = dot %9, %10 : <[4, 4], fp64>",
     "dot: it makes fp64 of fp64, int32 of integers, fp32 or fp16 of floats of "
     "at most 32 bits"},
    {"%99 = dot %9, %10, accumulator=%4 : <[4, 4], fp32>",
     "dot: the operand 'accumulator' must be the type of the result"},
    {"%99 = reduce %9 {op = sum, axis = 1} : <[4], fp32>", NULL},
    {"%99 = reduce %9 {op = sum, axis = 0} : <[4], fp32>",
     "reduce: the result must match the operand without the axis"},
    {"%99 = reduce %9 {op = xor, axis = 1} : <[4], fp32>",
     "reduce: this operation is not defined for the type"},
    {"%99, %98 = reduce %9 {op = max, axis = 1} : <[4], fp32>, <[4], int32>",
     NULL},
    {"%99, %98 = reduce %9 {op = sum, axis = 1} : <[4], fp32>, <[4], int32>",
     "reduce: only max and min have a second result, an int32 index"},
    {"%99, %98 = reduce %9 {op = max, axis = 1} : <[4], fp32>, <[4], int64>",
     "reduce: only max and min have a second result, an int32 index"},
    {"%99 = reduce_fn %5 {axis = 0} by @pair, @last : fp32", NULL},
    {"%99 = reduce_fn %5 {axis = 0} by @pair : fp32",
     "reduce_fn: for each halving of the axis there must be a function that "
     "takes two halves of each operand and gives one"},
    {"%99 = reduce_fn %5 {axis = 0} by @pair, @two : fp32",
     "reduce_fn: for each halving of the axis there must be a function that "
     "takes two halves of each operand and gives one"},
    {"%99 = reduce_fn %5 {axis = 0} by @pair, @last, @last : fp32",
     "reduce_fn: there are more functions than halvings"},
    {"%99 = reduce_fn %5 {axis = 0} by @pair, @last : <[4], fp32>",
     "reduce_fn: the results must match the operands without the axis"},
    {"%99 = reduce_fn %5, %0 {axis = 0} by @pair, @last : fp32",
     "reduce_fn: there must be as many results as operands, at most 16"},
    {"%99, %98 = reduce_fn %5, %9 {axis = 0} by @pair : fp32, fp32",
     "reduce_fn: operands and results must be blocks of numbers of one shape "
     "each"},
    {"%99 = scan_fn %5 {axis = 0}  : <[4], fp32>",
     "scan_fn: one function must take two of each operand and give one"},
    {"%99 = scan_fn %5 {axis = 0} by @pair : <[4], fp32>",
     "scan_fn: one function must take two of each operand and give one"},
    {"%99 = scan_fn %5 {axis = 0} by @pair : <[2], fp32>",
     "scan_fn: the results must have the operands' shape"},
    {"%99 = scan %8 {op = sum, axis = 0} : <[4], int1>", NULL},
    {"%99 = scan %5 {op = or, axis = 0} : <[4], fp32>",
     "scan: this operation is not defined for the type"},
    {"%99 = join %0, %5 : <[4, 2], int32>",
     "join: the operands must be of one type, and the result that with a new "
     "last axis of 2"},
    {"%99 = join %5, %5 : <[4, 2], int32>",
     "join: the operands must be of one type, and the result that with a new "
     "last axis of 2"},
    {"%99, %98 = split %15 : <[4], fp32>, <[4], int32>",
     "split: both results must match the operand without its last axis, which "
     "must be 2"},
    {"%99 = cat %0, %0 {axis = 0} : <[4], int32>",
     "cat: the shapes must agree, except along the axis, where they add up"},
    {"%99 = flip %4 {axis = 0} : <[4], fp32>",
     "flip: the operand 'value' must be the type of the result"},
    {"%99 = slice %0 {axis = 0, start = 2, step = 1} : <[4], int32>",
     "slice: the slice must lie in the operand"},
    {"%99 = gather %5, %7 {axis = 0} : <[4], fp32>", NULL},
    {"%99 = gather %5, %5 {axis = 0} : <[4], fp32>",
     "gather: the index must hold integers and have the result's shape"},
    {"%99 = gather %5, %1 {axis = 0} : <[4], fp32>",
     "gather: the index must hold integers and have the result's shape"},
    {"%99 = sort %0 {axis = 0, keep = 2} : <[4], int32>",
     "sort: `keep` must be the number of lanes of the result, at most those of "
     "the operand"},
    {"%99 = sort %12 {axis = 0, keep = 4} : <[4], pointer<fp32>>",
     "sort: the result must match the operand, which holds numbers, except "
     "along the last axis"},
    {"%99 = histogram %5 : <[4], int32>",
     "histogram: the operand must be integers, the mask int1 of their shape"},
    {"%99 = histogram %0, mask=%3 : <[4], int32>",
     "histogram: the operand must be integers, the mask int1 of their shape"},
    {"%99 = histogram %0 : <[4], int64>",
     "histogram: the result must be counts, int32, with one axis"},
    {"%99 = cond %3 : fp32 {\n%99 = copy %4 : fp32\n } else {\n }",
     "cond: result 0 gets no value in its second body"},
    {"assert %0 [] : <[4], int32>",
     "assert: the condition must be int1, and the type its type"},
    {"assert %8 [] : int1",
     "assert: the condition must be int1, and the type its type"},
    {"print where \"0\" of -, %0, - [] : int32",
     "print: a program index must be a scalar integer"},
    {"%v = binary %v, %4 {op = add} : <[4], fp32>",
     "binary: %v may have no value here"},
};

START_TEST(rule_says_what_must_be) {
  const char *const *rule = rules[_i], *at = strstr(values, "%@");
  char *text, want[300];
  size_t n;
  FILE *out = open_memstream(&text, &n);
  fprintf(out, "%.*s%s%s", (int)(at - values), values, rule[0], at + 2);
  fclose(out);
  tk_session *s = tk_session_new();
  tk_function *f;
  tk_status st = tk_ir_open(s, "k.tk", text, n, &f);
  ck_assert_msg(rule[1] ? st == TK_USAGE : st == TK_OK, "%s:\n%.900s", rule[0],
                tk_report(s, false));
  if (rule[1]) {
    snprintf(want, sizeof want, "error: %s [", rule[1]);
    ck_assert_msg(strstr(tk_report(s, false), want) != NULL,
                  "not \"%s\" but:\n%.900s", want, tk_report(s, false));
  }
  tk_session_free(s);
  free(text);
}
END_TEST

/* Each stands in the form, whose other attributes are there already. */
static const char *const kept[][2] = {
    {"volatile = true, cache = cg",
     "volatile = true, window = descriptor, cache = cv, eviction = "
     "evict_first"},
    {"%w = flip %w {axis = 0}",
     "%w = sort %w {descending = true, axis = 0, keep = 4}"},
    {"%w = flip %w {axis = 0}",
     "%w = scan %w {op = max_nan, axis = 0, reverse = true}"},
    {"%w = flip %w {axis = 0}",
     "%w = slice %w {axis = 0, start = 3, step = -1}"},
    {"%w = flip %w {axis = 0}", "%w = scan_fn %w {axis = 0, reverse = true} by "
                                "@max"},
    {"%w = flip %w {axis = 0}",
     "%w = atomic %2, %w, mask=%m {op = atomic_xchg, sem = relaxed, scope = "
     "cta}"},
    {"kind = multiple_of, values = [8]", "kind = max_constancy, values = [-1]"},
    {"\"v\", %v", "\"\\x01\\\\\\\"\\n\xc3\xbc\", %v"},
    {"hex where", "hex pids where"},
    {"\"0,>1\" of -, %0, -", "\"0:4\" of %0, -, %n"},
    {"num_stages 3, flatten",
     "num_stages 2, unroll 4, disallow_acc_multi_buffer, flatten, "
     "warp_specialize, disable_licm"},
    {"%i = %0, %n, %7 with", "%i = %0, %n, %7 down with"},
    {"num_warps 4\n", "num_warps 16\nnum_ctas 2\nnum_stages 0\nmaxnreg 64\n"
                      "enable_fp_fusion 0\nlaunch_pdl 1\n"},
    {"func @f", "library func @f"},
    {"binary %a, %b {op = add}", "binary %a, %b {op = min_nan}"},
    {"triton 306\n", ""},
    {"bits = 0x3f800000", "bits = 0xffffffffffffffff"},
};

START_TEST(accepted_text_prints_as_the_same) {
  char *text = _i ? changed_form(kept[_i - 1][0], kept[_i - 1][1])
                  : changed_form("", "");
  char *again = printed_form(text);
  ck_assert_msg(!strcmp(again, text), "%.3000s", again);
  free(again);
  free(text);
}
END_TEST

START_TEST(blanks_and_comments_are_free) {
  char *text = changed_form("num_warps 4\n", "// two\n\tnum_warps // four\n 4");
  char *again = printed_form(text);
  ck_assert_str_eq(again, form);
  free(again);
  free(text);
}
END_TEST

static void check_refused(const char *text, size_t n, const char *message) {
  tk_session *s = tk_session_new();
  tk_function *f;
  ck_assert_int_eq(tk_ir_open(s, "k.tk", text, n, &f), TK_USAGE);
  ck_assert_msg(strstr(tk_report(s, false), message) != NULL, "%.900s",
                tk_report(s, false));
  tk_session_free(s);
}

START_TEST(byte_0_is_refused) {
  char *text = changed_form("", "");
  text[100] = 0;
  check_refused(text, strlen(form), "k.tk:8:41: error: the text has a byte 0");
  free(text);
}
END_TEST

/* 100,000 times the same, where something else should stand. */
static void check_deep(const char *from, const char *again,
                       const char *message) {
  size_t n;
  char *many;
  FILE *out = open_memstream(&many, &n);
  for (int i = 0; i < 100000; i++) fputs(again, out);
  fclose(out);
  char *text = changed_form(from, many);
  check_refused(text, strlen(text), message);
  free(text);
  free(many);
}

START_TEST(deep_nesting_is_refused) {
  check_deep("pointer<", "pointer<", "this is nested more than 200 deep");
  check_deep("<[4, 2]", "<[1], ", "this is nested more than 200 deep");
  check_deep("return at 8:5-9 {\n  }", "if at 8:5-9 { } then %c { ",
             "this is nested more than 200 deep");
  check_deep("%v = copy %v : fp32", "%v = cond %c : fp32 { ",
             "this is nested more than 200 deep");
}
END_TEST

/* A kernel that calls f0, which calls f1, and so on. */
static tk_status open_chain(tk_session *s, int calls) {
  char *text;
  size_t n;
  tk_function *f;
  FILE *out = open_memstream(&text, &n);
  fputs("tkdbg-ir 1\n\nkernel @k() source 0 at 1:1-4 {\n"
        "  stmt at 1:1-4 {\n    %0 = const {bits = 0x0} : fp32\n"
        "    %1 = call %0 @f0 : fp32\n  }\n}\n",
        out);
  for (int i = 0; i < calls; i++) {
    fprintf(out, "\nfunc @f%d(%%a: fp32) -> fp32 source 0 at 1:1-4 {\n", i);
    fputs("  return at 1:1-4 {\n", out);
    if (i + 1 < calls) fprintf(out, "    %%0 = call %%a @f%d : fp32\n", i + 1);
    fprintf(out, "  } %%%s\n}\n", i + 1 < calls ? "0" : "a");
  }
  fputs("\nsource 0 \"k.py\" from 1\n|def k\n", out);
  fclose(out);
  tk_status st = tk_ir_open(s, "k.tk", text, n, &f);
  free(text);
  return st;
}

START_TEST(calls_fit_the_stack) {
  tk_session *s = tk_session_new();
  ck_assert_msg(open_chain(s, 80) == TK_OK, "%s", tk_report(s, false));
  ck_assert_int_eq(open_chain(s, 100), TK_USAGE);
  ck_assert_ptr_nonnull(
      strstr(tk_report(s, false), "call: functions call each other too deep"));
  ck_assert_int_eq(open_chain(s, 20000), TK_USAGE);
  tk_session_free(s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("text of the form");
  TCase *c = tcase_create("text");
  tcase_add_loop_test(c, mistake_is_reported_where_it_is, 0,
                      sizeof mistakes / sizeof *mistakes);
  tcase_add_loop_test(c, rule_says_what_must_be, 0,
                      sizeof rules / sizeof *rules);
  tcase_add_loop_test(c, accepted_text_prints_as_the_same, 0,
                      1 + sizeof kept / sizeof *kept);
  tcase_add_test(c, blanks_and_comments_are_free);
  tcase_add_test(c, byte_0_is_refused);
  tcase_add_test(c, deep_nesting_is_refused);
  tcase_add_test(c, calls_fit_the_stack);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
