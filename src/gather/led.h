/* led.h - does the repository choose the place that something is written to? */
#ifndef CK_GATHER_LED_H
#define CK_GATHER_LED_H

#include <stdbool.h>

/*
 * Whether a link that lies beneath root, a path without links, is on the way to a directory: the caller names a place, and
 * the repository would decide where that is. Links elsewhere are the caller's own. What is not there leads nowhere.
 */
bool ck_led_by(const char *root, const char *path);

#endif
