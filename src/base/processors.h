/* base/processors.h - processors that this process may use. */
#ifndef TALUS_BASE_PROCESSORS_H
#define TALUS_BASE_PROCESSORS_H

/* Returns the number of processors that this process may use, at least 1: those of the system, less those that its
 * affinity forbids (taskset, a batch system), and no more than the quota of its control groups (a container) allows,
 * rounded up. */
int talus_count_processors(void);
/* The same for a system with `online` processors whose /proc and /sys are in the folder `root`. */
int talus_count_processors_of(long online, const char *root);

#endif
