package io.penstock.cache.disk;

/**
 * A pinned object version.
 *
 * @param bytes on disk
 * @param until the time at which it ends, in milliseconds since 1970; {@link Pins#UNTIL_UNPINNED} for no end
 */
record Pin(String namespace, String key, ObjectId id, long bytes, long until) {
    record Name(String namespace, String key) {}

    Name name() {
        return new Name(namespace, key);
    }
}
