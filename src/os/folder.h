/* Folders with all that is in them. */
#ifndef PEMS_OS_FOLDER_H
#define PEMS_OS_FOLDER_H

/* Removes a folder with all that is in it, or a file. A symbolic link is
   removed, not followed. What cannot be removed, or has gone already, is passed
   over. */
void folder_remove(const char *path);

#endif
