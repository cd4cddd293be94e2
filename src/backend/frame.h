/* backend/frame.h - contact frames (normal, two tangents) from the normal alone, for host and device.
 *
 * With s = sign(n_x), 1 for n_x = 0, w = n + s e_x and c = 1/(1 + |n_x|), the reflection H = I - c w w' maps n to
 * -s e_x. The frame is n = -s H e_x, t1 = H e_y, t2 = s H e_z: orthonormal and right-handed. Converting a vector
 * to or from the frame takes one dot product, one axpy and two sign changes. A frame is stored as (n, c). */
#ifndef TALUS_BACKEND_FRAME_H
#define TALUS_BACKEND_FRAME_H

#include "sets/cone.h"

/* Writes the frame (n, c) of the unit normal n = (nx, ny, nz). */
TALUS_INLINE void talus_frame_from_normal(double frame[4], double nx, double ny, double nz)
{
    frame[0] = nx;
    frame[1] = ny;
    frame[2] = nz;
    frame[3] = 1.0 / (1.0 + fabs(nx));
}

/* local = components of a world vector along (normal, tangent 1, tangent 2). */
TALUS_INLINE void talus_frame_to_local(const double frame[4], const double world[3],
                                       double local[3])
{
    double s = frame[0] < 0.0 ? -1.0 : 1.0;
    double wx = frame[0] + s;
    double d = frame[3] * (wx * world[0] + frame[1] * world[1] + frame[2] * world[2]);
    local[0] = -s * (world[0] - d * wx);
    local[1] = world[1] - d * frame[1];
    local[2] = s * (world[2] - d * frame[2]);
}

/* world = the vector with components `local` along (normal, tangent 1, tangent 2). */
TALUS_INLINE void talus_frame_to_world(const double frame[4], const double local[3],
                                       double world[3])
{
    double s = frame[0] < 0.0 ? -1.0 : 1.0;
    double wx = frame[0] + s;
    double gx = -s * local[0], gy = local[1], gz = s * local[2];
    double d = frame[3] * (wx * gx + frame[1] * gy + frame[2] * gz);
    world[0] = gx - d * wx;
    world[1] = gy - d * frame[1];
    world[2] = gz - d * frame[2];
}

/* axes = talus_frame_to_world of the three unit vectors, up to the signs of zeros. */
TALUS_INLINE void talus_frame_axes(const double frame[4], double axes[3][3])
{
    double s = frame[0] < 0.0 ? -1.0 : 1.0, wx = frame[0] + s;
    for (int k = 0; k < 3; k++) {
        double g = k == 0 ? -s : k == 1 ? 1.0 : s;
        double d = frame[3] * ((k == 0 ? wx : frame[k]) * g);
        axes[k][0] = (k == 0 ? g : 0.0) - d * wx;
        axes[k][1] = (k == 1 ? g : 0.0) - d * frame[1];
        axes[k][2] = (k == 2 ? g : 0.0) - d * frame[2];
    }
}

#endif
