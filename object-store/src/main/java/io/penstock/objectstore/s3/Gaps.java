package io.penstock.objectstore.s3;

import io.penstock.objectstore.ObjectStoreException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests and headers that the store turns out not to implement and for which there is an alternative. The first
 * refusal is remembered while the store is connected, and logged once. Safe for use by any number of threads.
 */
final class Gaps {
    /** A request or a header of S3. */
    enum Gap {
        COPIES("CopyObject", "objects are read and uploaded instead of copied"),
        PART_COPIES("UploadPartCopy", "parts are read and uploaded instead of copied"),
        SOURCE_CONDITIONS(
                "x-amz-copy-source-if-match",
                "a HEAD precedes each copy: a write by another client between the two is copied too"),
        BATCHES("DeleteObjects", "objects are deleted one by one"),
        CHECKSUMS("x-amz-checksum-crc32c", "bodies are sent with Content-MD5");

        private final String name;
        private final String instead;

        Gap(String name, String instead) {
            this.name = name;
            this.instead = instead;
        }
    }

    /**
     * One way to reach a result.
     *
     * @param <X> {@link java.io.IOException} if a body is sent
     */
    @FunctionalInterface
    interface Way<T, X extends Exception> {
        T go() throws ObjectStoreException, InterruptedException, X;
    }

    private static final Logger LOG = LoggerFactory.getLogger(Gaps.class);

    private final String bucket;
    private final Set<Gap> known = ConcurrentHashMap.newKeySet();

    /** What the store has carried out or judged: a later refusal of it has another reason. */
    private final Set<Gap> implemented = ConcurrentHashMap.newKeySet();

    Gaps(String bucket) {
        this.bucket = bucket;
    }

    /** Tries the way with the request or header or, if the store does not implement it, the way without it. */
    <T, X extends Exception> T go(Gap gap, Way<T, X> with, Way<T, X> without)
            throws ObjectStoreException, InterruptedException, X {
        if (has(gap)) {
            return without.go();
        }
        try {
            T done = with.go();
            implemented.add(gap);
            return done;
        } catch (ObjectStoreException.Refused | ObjectStoreException.PreconditionFailed e) {
            if (implemented.contains(gap) || !isTold(gap, e)) {
                if (e instanceof ObjectStoreException.PreconditionFailed) {
                    implemented.add(gap);
                }
                throw e;
            }
            T done = without.go(); // if it fails too, there is another reason
            learn(gap, e);
            return done;
        }
    }

    /** Some stores report a condition that they do not know as wrong or unmet. */
    private static boolean isTold(Gap gap, ObjectStoreException refusal) {
        return gap == Gap.SOURCE_CONDITIONS
                || (refusal instanceof ObjectStoreException.Refused refused && ErrorMapper.isNotImplemented(refused));
    }

    boolean has(Gap gap) {
        return known.contains(gap);
    }

    void learn(Gap gap, ObjectStoreException refusal) {
        if (known.add(gap)) {
            LOG.warn("{} does not implement {}: {} ({})", bucket, gap.name, gap.instead, refusal.getMessage());
        }
    }

    /** S3's names of what is missing. */
    Set<String> names() {
        Set<String> names = new TreeSet<>();
        known.forEach(gap -> names.add(gap.name));
        return names;
    }
}
