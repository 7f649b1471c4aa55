/* Folders with all that is in them. */
#ifndef PEMS_OS_FOLDER_H
#define PEMS_OS_FOLDER_H

#include <stdbool.h>

/* Removes a folder with all that is in it, or a file. A symbolic link is
   removed, not followed. What cannot be removed, or has gone already, is passed
   over. */
void folder_remove(const char *path);

/* Does it belong to a user other than this one and root? That user could put
   links there, and this one would write through them. */
bool folder_is_others(const char *path);

#endif
