/* gen_loop.c - loops that count, the kernel's own and the generator's. */
#include "nvptx/gen.h"

tkv_loop tkv_begin_loop(tkv_code *c, const tk_type *t, tk_compare while_it_is,
                        tkv_reg from, tkv_reg end) {
  tkv_label before = tkv_new_label(c, "before"),
            body = tkv_new_label(c, "body");
  tkv_loop l;
  l.i = tkv_new_counter(c, tkv_lane_type(t));
  l.more = tkv_new_counter(c, tkv_lane_type(t));
  l.next = tkv_new_label(c, "next");
  l.head = tkv_new_label(c, "loop");
  l.end = tkv_new_label(c, "end");
  tkv_go_to(c, before);
  tkv_put_label(c, before);
  tkv_go_to(c, l.head);
  tkv_put_label(c, l.head);
  tkv_phi(c, l.i, (tkv_reg[]){from, l.more}, (tkv_label[]){before, l.next});
  tkv_branch(c, tkv_lane_compare(c, while_it_is, t, l.i, end), body, l.end);
  tkv_put_label(c, body);
  return l;
}

tkv_loop tkv_begin_count(tkv_code *c, tkv_reg from, int64_t n) {
  tk_type i32 = tk_scalar(TK_INT32);
  return tkv_begin_loop(c, &i32, TK_C_LT, from, tkv_i32(n));
}

void tkv_end_loop(tkv_code *c, const tkv_loop *l, tkv_reg step) {
  tkv_go_to(c, l->next);
  tkv_put_label(c, l->next);
  tkv_add_to(c, l->more, l->i, step);
  tkv_go_to(c, l->head);
  tkv_put_label(c, l->end);
}
