package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that have shown that they may read the bucket. The store is asked once in some minutes about each. Safe for use by
 * any number of threads.
 */
final class ProvenNodes {
    private static final long PROVEN_NANOS = Duration.ofMinutes(10).toNanos();

    /** A node whose proof the store refuses has it asked again after that only. */
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();

    /** A store that could not be asked, as one that throttles, is asked again after that only. */
    private static final long FAILED_NANOS = Duration.ofSeconds(1).toNanos();

    /** Some hundred nodes make a new proof every few minutes, and old ones go. Beyond it no new one is taken for a while. */
    static final int MOST = 10_000;

    private final BucketProof bucket;
    private final LongSupplier nanoTime;
    private final Map<Shown, Answer> answers = new ConcurrentHashMap<>();

    /** @param node its certificate or address */
    private record Shown(String node, String proof) {}

    /** @param nanoTime as {@link System#nanoTime} */
    ProvenNodes(BucketProof bucket, LongSupplier nanoTime) {
        this.bucket = bucket;
        this.nanoTime = nanoTime;
    }

    /**
     * Whether the node may have bytes of this key.
     *
     * @param node its certificate or address
     * @throws ObjectStoreException if the store cannot be asked, or could not a moment before
     */
    boolean mayHave(String node, @Nullable String proof, String key) throws ObjectStoreException, InterruptedException {
        if (proof == null || !bucket.covers(proof, key)) {
            return false;
        }
        Shown shown = new Shown(node, proof);
        if (!answers.containsKey(shown)) {
            answers.values().removeIf(Answer::isOver);
            if (answers.size() >= MOST) {
                return false;
            }
        }
        return answers.computeIfAbsent(shown, absent -> new Answer()).get(proof);
    }

    /** Proofs that are remembered. */
    int count() {
        return answers.size();
    }

    /** What the store says of one proof of one node. */
    private final class Answer {
        @GuardedBy("this")
        private boolean holds;

        /** Why the store could not be asked; null if it was. */
        @GuardedBy("this")
        private @Nullable ObjectStoreException failure;

        /** By nanoTime; null before the store was asked. Written under this lock. */
        private volatile @Nullable Long until;

        /** Other requests of the node wait for the answer. */
        synchronized boolean get(String proof) throws ObjectStoreException, InterruptedException {
            if (until == null || isOver()) {
                ask(proof);
            }
            if (failure != null) {
                throw failure;
            }
            return holds;
        }

        @GuardedBy("this")
        private void ask(String proof) throws InterruptedException {
            long nanos;
            try {
                holds = bucket.holds(proof);
                failure = null;
                nanos = holds ? PROVEN_NANOS : REFUSED_NANOS;
            } catch (ObjectStoreException e) {
                failure = e;
                nanos = FAILED_NANOS;
            }
            until = nanoTime.getAsLong() + nanos;
        }

        /** It does not wait for a store that is being asked. */
        boolean isOver() {
            Long end = until;
            return end != null && nanoTime.getAsLong() - end >= 0;
        }
    }
}
