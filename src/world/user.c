/* world/user.c - pointers of the caller by body: a hash table of the numbers of bodies. */
#include "world/user.h"

#include "base/hash.h"
#include "base/memory.h"

enum { SMALLEST = 64 };

/* Returns the place of a number, or the empty one where it would be; the table has empty ones. */
static TalusUserEntry *find_place(TalusUserEntry *entry, size_t size, uint64_t number)
{
    size_t k = (size_t)talus_hash_mix(number) & (size - 1);
    while (entry[k].number != 0 && entry[k].number != number)
        k = (k + 1) & (size - 1);
    return &entry[k];
}

/* Doubles the table. */
static TalusStatus grow(TalusUsers *users)
{
    const size_t size = users->size ? 2 * users->size : SMALLEST;
    TalusUserEntry *entry;
    TALUS_TRY(TALUS_ALLOC(entry, size, "pointers of bodies"));
    for (size_t k = 0; k < users->size; k++)
        if (users->entry[k].number != 0)
            *find_place(entry, size, users->entry[k].number) = users->entry[k];
    talus_release(users->entry);
    users->entry = entry;
    users->size = size;
    return TALUS_OK;
}

TalusStatus talus_users_set(TalusUsers *users, uint64_t number, void *user)
{
    if (!user && users->size == 0)
        return TALUS_OK;
    if (2 * (users->used + 1) > users->size)
        TALUS_TRY(grow(users));
    TalusUserEntry *place = find_place(users->entry, users->size, number);
    users->used += place->number == 0;
    *place = (TalusUserEntry){number, user};
    return TALUS_OK;
}

void *talus_users_get(const TalusUsers *users, uint64_t number)
{
    return users->size ? find_place(users->entry, users->size, number)->user : NULL;
}

void talus_users_clear(TalusUsers *users)
{
    talus_release(users->entry);
    *users = (TalusUsers){0};
}
