/* ranges.h - sets of indices as ranges: "0 to 31", "every second one".
 */
#ifndef TK_BASE_RANGES_H
#define TK_BASE_RANGES_H

#include "env.h"

/* Folds the indices below n whose byte is not 0, in an arena; *count gets how
 * many ranges there are. */
const tk_range *tk_fold_ranges(tk_arena *a, const uint8_t *on, int64_t n,
                               size_t *count);

#endif
