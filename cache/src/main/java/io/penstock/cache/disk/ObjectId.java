package io.penstock.cache.disk;

import io.penstock.core.Digests;
import io.penstock.core.ObjectVersion;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Identifies an object version: 128 bits of SHA-256 over namespace, key, identity and size. With 10 million objects in
 * a cache, two share an id with a probability of 10<sup>-25</sup>. It keeps the keys out of the heap.
 */
public record ObjectId(long high, long low) {
    public static ObjectId of(String namespace, ObjectVersion version) {
        MessageDigest digest = Digests.sha256();
        // No part can contain the separator: S3 keys are XML text, ETags are header fields.
        for (String part : new String[] {namespace, version.key(), version.identity()}) {
            digest.update(part.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
        }
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(version.size()).flip());
        ByteBuffer hash = ByteBuffer.wrap(digest.digest());
        return new ObjectId(hash.getLong(), hash.getLong());
    }

    /** An id for an object that readers do not see. */
    public static ObjectId random() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new ObjectId(random.nextLong(), random.nextLong());
    }

    /** The id for the sectors of the same version, which are kept apart from its pages. */
    public ObjectId ofSectors() {
        return new ObjectId(~high, ~low);
    }
}
