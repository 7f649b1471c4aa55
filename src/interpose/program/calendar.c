/* The calendar functions that answer in static memory, this copy's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

static struct tm broken_down; /* localtime and gmtime share one, as in libc */

struct tm *localtime(const time_t *t) {
  tzset(); /* localtime_r need not look at TZ again, localtime must */
  return localtime_r(t, &broken_down);
}

struct tm *gmtime(const time_t *t) {
  return gmtime_r(t, &broken_down);
}

static const char *name(const char (*names)[4], int count, int i) {
  return i < 0 || i >= count ? "???" : names[i];
}

/* Not by asctime_r, which refuses years that asctime prints. */
char *asctime(const struct tm *tm) {
  static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed",
                                  "Thu", "Fri", "Sat"};
  static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  static char text[128];
  if (tm == NULL) {
    errno = EINVAL;
    return NULL;
  }
  if (tm->tm_year > INT_MAX - 1900) {
    errno = EOVERFLOW;
    return NULL;
  }
  snprintf(text, sizeof(text), "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n",
           name(days, 7, tm->tm_wday), name(months, 12, tm->tm_mon),
           tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec,
           1900 + tm->tm_year);
  return text;
}

char *ctime(const time_t *t) {
  return asctime(localtime(t));
}
