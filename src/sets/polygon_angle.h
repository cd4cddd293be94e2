/* sets/polygon_angle.h - cosine and sine of pi / sides of the polygons, for host and device.
 *
 * Constants, so that no block stores them; the values of talus_cos_sin_turns (base/turn.h), bit for bit. */
#ifndef TALUS_SETS_POLYGON_ANGLE_H
#define TALUS_SETS_POLYGON_ANGLE_H

#include <talus/math.h>
#include <talus/set.h>

/* X(sides, cosine, sine) from TALUS_SIDES_MIN to TALUS_SIDES_MAX sides. */
/* clang-format off */
#define TALUS_POLYGON_ANGLES(X) \
    X(3, 0x1p-1, 0x1.bb67ae8584caap-1)                \
    X(4, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1)  \
    X(5, 0x1.9e3779b97f4a8p-1, 0x1.2cf2304755a5ep-1)  \
    X(6, 0x1.bb67ae8584cabp-1, 0x1.fffffffffffffp-2)  \
    X(7, 0x1.cd4bca9cb5c71p-1, 0x1.bc4c04d71abc1p-2)  \
    X(8, 0x1.d906bcf328d46p-1, 0x1.87de2a6aea963p-2)  \
    X(9, 0x1.e11f642522d1cp-1, 0x1.5e3a8748a0bf5p-2)  \
    X(10, 0x1.e6f0e134454ffp-1, 0x1.3c6ef372fe94fp-2) \
    X(11, 0x1.eb42a9bcd5057p-1, 0x1.207e7fd768dbfp-2) \
    X(12, 0x1.ee8dd4748bf15p-1, 0x1.0907dc193069p-2)  \
    X(13, 0x1.f11f493053dp-1, 0x1.ea1e54bc48dbfp-3)   \
    X(14, 0x1.f329c0558e969p-1, 0x1.c7b90e3024583p-3) \
    X(15, 0x1.f4cfc327a008p-1, 0x1.a9cd9ac4258f5p-3)  \
    X(16, 0x1.f6297cff75cbp-1, 0x1.8f8b83c69a60ap-3)  \
    X(17, 0x1.f7484007faef3p-1, 0x1.7851aacd6c6b4p-3) \
    X(18, 0x1.f838b8c811c17p-1, 0x1.63a1a7e0b738ap-3) \
    X(19, 0x1.f90459484f2b2p-1, 0x1.5116f7f2d58c5p-3) \
    X(20, 0x1.f9b24942fe45cp-1, 0x1.4060b67a85375p-3) \
    X(21, 0x1.fa4808b7d3c19p-1, 0x1.313d12579650cp-3) \
    X(22, 0x1.fac9e043842efp-1, 0x1.2375f640f44dbp-3) \
    X(23, 0x1.fb3b3035aa6cdp-1, 0x1.16de8a4564f0ap-3) \
    X(24, 0x1.fb9ea92ec689bp-1, 0x1.0b5150f6da2dp-3)  \
    X(25, 0x1.fbf675480d903p-1, 0x1.00aeb5da15bep-3)  \
    X(26, 0x1.fc44566966769p-1, 0x1.edb7debaa3ed9p-4) \
    X(27, 0x1.fc89bcef44cf4p-1, 0x1.db843e577175cp-4) \
    X(28, 0x1.fcc7d8c64135fp-1, 0x1.ca9b4332d6f61p-4) \
    X(29, 0x1.fcffa67b6165p-1, 0x1.badb02034d9ffp-4)  \
    X(30, 0x1.fd31f94f867c6p-1, 0x1.ac2609b3c576cp-4) \
    X(31, 0x1.fd5f830f860f9p-1, 0x1.9e62aca53c49ep-4) \
    X(32, 0x1.fd88da3d12526p-1, 0x1.917a6bc29b42cp-4) \
    X(33, 0x1.fdae7eef1345ep-1, 0x1.85597c54753ecp-4) \
    X(34, 0x1.fdd0deb564b22p-1, 0x1.79ee63259b75dp-4) \
    X(35, 0x1.fdf057b8bb83fp-1, 0x1.6f29a0c2d213ep-4) \
    X(36, 0x1.fe0d3b41815a2p-1, 0x1.64fd6b8c28102p-4) \
    X(37, 0x1.fe27cfc6369f9p-1, 0x1.5b5d750211d9bp-4) \
    X(38, 0x1.fe40529a542aap-1, 0x1.523eb8420f5f5p-4) \
    X(39, 0x1.fe56f950f889ep-1, 0x1.49975010f46d1p-4) \
    X(40, 0x1.fe6bf2e2660afp-1, 0x1.415e532398e49p-4) \
    X(41, 0x1.fe7f68a016a1dp-1, 0x1.398bb59774abbp-4) \
    X(42, 0x1.fe917f00ae2cdp-1, 0x1.32182ebfb0fe8p-4) \
    X(43, 0x1.fea2564b28ef2p-1, 0x1.2afd2293ad5f4p-4) \
    X(44, 0x1.feb20b2727776p-1, 0x1.24348e2c39925p-4) \
    X(45, 0x1.fec0b7170fff6p-1, 0x1.1db8f6d6a5128p-4) \
    X(46, 0x1.fece70dfd3efbp-1, 0x1.17855b599f3b9p-4) \
    X(47, 0x1.fedb4ce16fd7fp-1, 0x1.11952718c8b77p-4) \
    X(48, 0x1.fee75d62a9c46p-1, 0x1.0be426d197a8bp-4) \
    X(49, 0x1.fef2b2d21cf6cp-1, 0x1.066e7eb76f5c7p-4) \
    X(50, 0x1.fefd5bfe443fep-1, 0x1.0130a1be0937ap-4) \
    X(51, 0x1.ff076645e89f7p-1, 0x1.f84e93d1d64e1p-5) \
    X(52, 0x1.ff10ddc21c94ep-1, 0x1.ee9ee2f9ee4bep-5) \
    X(53, 0x1.ff19cd6abac17p-1, 0x1.e54c99ecbc7bbp-5) \
    X(54, 0x1.ff223f3635ce3p-1, 0x1.dc528b5343a85p-5) \
    X(55, 0x1.ff2a3c35662f1p-1, 0x1.d3abe9f3f0953p-5) \
    X(56, 0x1.ff31ccabe6e4cp-1, 0x1.cb544024fc94p-5)  \
    X(57, 0x1.ff38f8257bb05p-1, 0x1.c34768246d2d8p-5) \
    X(58, 0x1.ff3fc588e859dp-1, 0x1.bb81853a18977p-5) \
    X(59, 0x1.ff463b2891015p-1, 0x1.b3fefd8bd0165p-5) \
    X(60, 0x1.ff4c5ed12e61dp-1, 0x1.acbc748efc90dp-5) \
    X(61, 0x1.ff5235d6d5f88p-1, 0x1.a5b6c605ad9bap-5) \
    X(62, 0x1.ff57c5208ccf9p-1, 0x1.9eeb01776b57dp-5) \
    X(63, 0x1.ff5d113293ed5p-1, 0x1.9856661817582p-5) \
    X(64, 0x1.ff621e3796d7ep-1, 0x1.91f65f10dd814p-5)
/* clang-format on */

/* [sides]: cosine and sine, on the host; 0 for a number of sides that no polygon has. */
#ifdef __cplusplus
extern "C" {
#endif
extern const double talus_polygon_angles[TALUS_SIDES_MAX + 1][2];
#ifdef __cplusplus
}
#endif

/* Sets *c and *s to cosine and sine of pi / sides, sides at most TALUS_SIDES_MAX. Short on the host, so that loops over
 * blocks of any set still contain it; device code has no table of the host. */
TALUS_INLINE void talus_polygon_angle(int sides, double *c, double *s)
{
#ifdef __CUDA_ARCH__
#define TALUS_ANGLE(n, cosine, sine) \
    case n:                          \
        *c = cosine;                 \
        *s = sine;                   \
        break;
    switch (sides) {
        TALUS_POLYGON_ANGLES(TALUS_ANGLE)
    default: *c = *s = 0.0;
    }
#undef TALUS_ANGLE
#else
    *c = talus_polygon_angles[sides][0];
    *s = talus_polygon_angles[sides][1];
#endif
}

#endif
