/* base/crc.h - CRC-32 as in PNG, zlib and Ethernet: detects damage, not tampering. */
#ifndef TALUS_BASE_CRC_H
#define TALUS_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of all bytes so far: `crc` is that of the bytes before, 0 at the start. */
uint32_t talus_crc32(uint32_t crc, const void *bytes, size_t size);

#endif
