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
 * The nodes that have shown that they may read the bucket. The store is asked once in some minutes about each. Who sends ever
 * new proofs has a few of them checked at a time, and keeps no others from having theirs checked. Safe for use by any number
 * of threads.
 */
final class ProvenNodes {
    private static final long PROVEN_NANOS = Duration.ofMinutes(10).toNanos();

    /** A node whose proof the store refuses has it asked again after that only. */
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();

    /** A store that could not be asked, as one that throttles, is asked again after that only. */
    private static final long FAILED_NANOS = Duration.ofSeconds(1).toNanos();

    /** Of one name. Without certificates it is of all nodes behind one address, each of which has up to three in ten minutes. */
    static final int MOST_PROVEN = 96;

    /** Of one name: refused, or asked for now. A node whose credentials have just changed has two. */
    static final int MOST_UNPROVEN = 8;

    /** Names. Some hundred nodes make a new proof every few minutes, and old ones go. */
    static final int MOST_NAMES = 2_000;

    /** Questions to the store at a time. */
    static final int CHECKS = 4;

    /** For its turn. The other node goes to the store after that. */
    private static final long TURN_MILLIS = 1_000;

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final BucketProof bucket;
    private final LongSupplier nanoTime;
    private final Semaphore checks = new Semaphore(CHECKS, true);

    /** Names, and by the hashes of their proofs what the store says. */
    @GuardedBy("this")
    private final Map<String, Map<String, Answer>> names = new HashMap<>();

    @GuardedBy("this")
    private long swept;

    /** More proofs than are checked now: it is not known whether this one holds. */
    static final class BusyException extends Exception {
        private static final long serialVersionUID = 1;
    }

    /** @param nanoTime as {@link System#nanoTime} */
    ProvenNodes(BucketProof bucket, LongSupplier nanoTime) {
        this.bucket = bucket;
        this.nanoTime = nanoTime;
        this.swept = nanoTime.getAsLong() - SWEEP_NANOS;
    }

    /**
     * Whether the node may have bytes of this key.
     *
     * @param node its certificate or address
     * @throws ObjectStoreException if the store cannot be asked, or could not a moment before
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

    /** Drops what is over; if that leaves no room for another name, those that have proven nothing too. */
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

    /** Proofs that are remembered. */
    synchronized int count() {
        return names.values().stream().mapToInt(Map::size).sum();
    }

    /** What the store says of one proof of one node. */
    private final class Answer {
        /** Written under this lock, as the two others. */
        private volatile boolean holds;

        /** Why the store could not be asked; null if it was. */
        @GuardedBy("this")
        private @Nullable ObjectStoreException failure;

        /** By nanoTime; null before the store was asked. */
        private volatile @Nullable Long until;

        /** Other requests of the node wait for the answer. */
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

        /** It does not wait for a store that is being asked. */
        boolean isOver() {
            Long end = until;
            return end != null && nanoTime.getAsLong() - end >= 0;
        }
    }
}
