/* settings.h - what the user sets: setting.def.
 */
#ifndef TK_COMMAND_SETTINGS_H
#define TK_COMMAND_SETTINGS_H

#include "command/command.h"

const char *tkt_setting_name(size_t i); /* NULL: there are no more */
/* Carries out "NAME VALUE"; false: no setting is called that. */
bool tkt_set_setting(tkt *d, const char *text);
void tkt_info_settings(tkt *d);
/* All of them with their values, in one line; temporary. */
const char *tkt_settings_usage(tkt *d);
void tkt_help_settings(tkt *d);

#endif
