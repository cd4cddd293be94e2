/* world/user.h - pointers of the caller by body. */
#ifndef TALUS_WORLD_USER_H
#define TALUS_WORLD_USER_H

#include "base/status.h"

/* A body with a pointer; number 0: an empty place. */
typedef struct TalusUserEntry {
    uint64_t number;
    void *user;
} TalusUserEntry;

/* A hash table with linear probing, at most half full. Numbers of bodies are never reused, so that entries of removed
 * bodies do no harm; they stay. */
typedef struct TalusUsers {
    TalusUserEntry *entry;
    size_t size, used; /* size: 0 or a power of two */
} TalusUsers;

TalusStatus talus_users_set(TalusUsers *users, uint64_t number, void *user);
/* Returns NULL if none was set. */
void *talus_users_get(const TalusUsers *users, uint64_t number);
void talus_users_clear(TalusUsers *users);

#endif
