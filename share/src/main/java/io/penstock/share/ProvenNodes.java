package io.penstock.share;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Digests;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that have proven that they may read the bucket. The store is asked about each once in some minutes. A node
 * that keeps sending new proofs has only a few of them checked at a time, and does not delay the checks of others. Safe
 * for use by any number of threads.
 */
final class ProvenNodes {
    private static final long PROVEN_NANOS = Duration.ofMinutes(10).toNanos();

    /** How long the store's refusal of a proof is remembered before the store is asked again. */
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();

    /** How long a failure to ask the store, such as throttling, is remembered before the next attempt. */
    private static final long FAILED_NANOS = Duration.ofSeconds(1).toNanos();

    /** Valid proofs per name. Without certificates a name is an address; each node there has up to 3 in 10 minutes. */
    static final int MOST_PROVEN = 96;

    /** Refused or unchecked proofs per name. A node whose credentials have just changed has two. */
    static final int MOST_UNPROVEN = 8;

    /** The number of names. Some hundred nodes make a new proof every few minutes, and old ones expire. */
    static final int MOST_NAMES = 2_000;

    /** Concurrent requests to the store. */
    static final int CHECKS = 4;

    /** The wait for such a request. After that, the other node turns to the store. */
    private static final long TURN_MILLIS = 1_000;

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final BucketProof bucket;
    private final LongSupplier nanoTime;
    private final Semaphore checks = new Semaphore(CHECKS, true);

    /** By name, then by hash of the proof: the store's response. */
    @GuardedBy("this")
    private final Map<String, Map<String, Answer>> names = new HashMap<>();

    @GuardedBy("this")
    private long swept;

    /** Too many proofs are being checked: whether this one holds is unknown. */
    static final class BusyException extends Exception {
        private static final long serialVersionUID = 1;
    }

    /** @param nanoTime such as {@link System#nanoTime} */
    ProvenNodes(BucketProof bucket, LongSupplier nanoTime) {
        this.bucket = bucket;
        this.nanoTime = nanoTime;
        this.swept = nanoTime.getAsLong() - SWEEP_NANOS;
    }

    /**
     * Whether the node may have bytes of this key.
     *
     * @param node its certificate or address
     * @throws ObjectStoreException if the store cannot be asked, or could not a moment ago
     */
    boolean mayHave(String node, @Nullable String proof, String key)
            throws ObjectStoreException, BusyException, InterruptedException {
        return proof != null
                && bucket.covers(proof, key)
                && answer(node, HexFormat.of().formatHex(Digests.sha256().digest(proof.getBytes(UTF_8))))
                        .get(proof);
    }

    private synchronized Answer answer(String node, String hash) throws BusyException {
        Answer known = names.getOrDefault(node, Map.of()).get(hash);
        if (known != null) {
            return known;
        }
        sweep();
        Map<String, Answer> own = names.getOrDefault(node, Map.of());
        long proven = own.values().stream().filter(Answer::holds).count();
        if (proven >= MOST_PROVEN
                || own.size() - proven >= MOST_UNPROVEN
                || (own.isEmpty() && names.size() >= MOST_NAMES)) {
            throw new BusyException();
        }
        Answer asked = new Answer();
        names.computeIfAbsent(node, absent -> new HashMap<>()).put(hash, asked);
        return asked;
    }

    /** Drops expired responses; if that leaves no room for another name, also names without a valid proof. */
    @GuardedBy("this")
    private void sweep() {
        long now = nanoTime.getAsLong();
        if (now - swept < SWEEP_NANOS) {
            return;
        }
        swept = now;
        names.values().forEach(own -> own.values().removeIf(Answer::isOver));
        names.values().removeIf(Map::isEmpty);
        if (names.size() >= MOST_NAMES) {
            names.values().removeIf(own -> own.values().stream().noneMatch(Answer::holds));
        }
    }

    /** The number of remembered proofs. */
    synchronized int count() {
        return names.values().stream().mapToInt(Map::size).sum();
    }

    /** The store's response about one proof of one node. */
    private final class Answer {
        /** Written under this lock, like the two others. */
        private volatile boolean holds;

        /** Why the store could not be asked; null if it was. */
        @GuardedBy("this")
        private @Nullable ObjectStoreException failure;

        /** A nanoTime; null before the store was asked. */
        private volatile @Nullable Long until;

        /** Other requests of the node wait for the response. */
        synchronized boolean get(String proof) throws ObjectStoreException, BusyException, InterruptedException {
            if (until == null || isOver()) {
                askInTurn(proof);
            }
            if (failure != null) {
                throw failure;
            }
            return holds;
        }

        @GuardedBy("this")
        private void askInTurn(String proof) throws BusyException, InterruptedException {
            boolean isTurn = false;
            try {
                isTurn = checks.tryAcquire(TURN_MILLIS, TimeUnit.MILLISECONDS);
                if (!isTurn) {
                    throw new BusyException();
                }
                ask(proof);
            } finally {
                if (isTurn) {
                    checks.release();
                }
                if (until == null) {
                    until = nanoTime.getAsLong(); // it was not asked
                }
            }
        }

        @GuardedBy("this")
        private void ask(String proof) throws InterruptedException {
            long nanos;
            try {
                boolean isRight = bucket.holds(proof);
                holds = isRight;
                failure = null;
                nanos = isRight ? PROVEN_NANOS : REFUSED_NANOS;
            } catch (ObjectStoreException e) {
                holds = false;
                failure = e;
                nanos = FAILED_NANOS;
            }
            until = nanoTime.getAsLong() + nanos;
        }

        boolean holds() {
            return holds;
        }

        /** Does not wait for a request to the store. */
        boolean isOver() {
            Long end = until;
            return end != null && nanoTime.getAsLong() - end >= 0;
        }
    }
}
