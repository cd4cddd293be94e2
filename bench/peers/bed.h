/* The common scene: N equal spheres at rest above the floor of an open box with five walls.
 *
 * Every engine reads its start from the same file, so that they differ in method only. The file is
 * text: one header line of key=value pairs in a fixed order, then one line "x y z" per centre.
 * z points up, the floor is z = 0, the side walls stand at |x| = |y| = half_width. */
#ifndef TALUS_BENCH_BED_H
#define TALUS_BENCH_BED_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Bed {
    int n;
    double radius, mass, mu, half_width;
    double gravity; /* along -z */
    double step;    /* h of the time-stepping engines; DEM chooses its own */
    double time;    /* simulated seconds */
    double *x;      /* 3 n, owned */
} Bed;

/* Both readers say on stderr what is wrong with the file and return 0. */
int bed_read(const char *path, Bed *bed);
void bed_free(Bed *bed);

/* Centres only, one per line: the result files, which carry no header. */
int positions_read(const char *path, int n, double *x);
int positions_write(const char *path, int n, const double *x);

#ifdef __cplusplus
}
#endif

#endif
