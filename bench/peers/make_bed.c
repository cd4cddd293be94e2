/* make_bed N [SEED] > FILE: the start of the settle-box scene, in the format of bed.h.
 *
 * A cubic lattice of about cbrt(N) columns a side, so that the fill is roughly cubic whatever N is
 * (1,000 spheres: 10 layers, 4,000: 16, 16,000: 26). The jitter breaks the columns, and is
 * bounded so that no two spheres and no sphere and wall overlap at the start: neighbours are
 * SPACING - 2 JITTER = 2.01 radii apart or more. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SPACING 2.2  /* radii */
#define JITTER 0.095 /* radii, each way on each axis */

/* A generator of our own: the bed must be the same bits on every platform. */
static double next_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static double lattice_coordinate(int i, double radius, uint64_t *state)
{
    return radius * (SPACING * (i + 0.5) + JITTER * (2 * next_uniform(state) - 1));
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (n < 1 || argc > 3) {
        fprintf(stderr, "usage: make_bed N [SEED] > FILE\n");
        return 2;
    }
    double radius = 0.1;
    int side = (int)lround(cbrt(n));
    double half_width = 0.5 * SPACING * radius * side;
    printf("talus-bed 1 n=%d radius=%.17g mass=6.28 mu=0.3 half_width=%.17g gravity=9.81 "
           "step=0.005 time=3\n",
           n, radius, half_width);
    for (int i = 0; i < n; i++) {
        double x = lattice_coordinate(i % side, radius, &state) - half_width;
        double y = lattice_coordinate(i / side % side, radius, &state) - half_width;
        double z = lattice_coordinate(i / side / side, radius, &state);
        printf("%.17g %.17g %.17g\n", x, y, z);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
