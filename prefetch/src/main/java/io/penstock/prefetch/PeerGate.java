package io.penstock.prefetch;

import io.penstock.cache.Urgency;
import java.util.concurrent.Semaphore;
import java.util.function.IntSupplier;

/**
 * Limits the GETs for other nodes, and lets demand go before readahead. They are apart from the GETs of this node's readers,
 * which may wait for another node: two nodes would wait for each other. Safe for use by any number of threads.
 */
final class PeerGate {
    private final FetchGate<Semaphore> gate;

    /** @param limit of GETs, which may change */
    PeerGate(IntSupplier limit) {
        gate = new FetchGate<>(limit);
    }

    /** For {@link RangeFetch#run}; {@link #admit} must follow. */
    FetchGate<?> gets() {
        return gate;
    }

    /** Waits until a GET for readahead is free, which must be {@linkplain #giveBack given back} or run. */
    void awaitReadahead() throws InterruptedException {
        Semaphore admitted = new Semaphore(0);
        gate.enqueue(admitted);
        admit();
        boolean isMine = false;
        try {
            admitted.acquire();
            isMine = true;
        } finally {
            if (!isMine && !gate.remove(admitted)) { // it has been admitted
                giveBack();
            }
        }
    }

    void giveBack() {
        gate.release(Urgency.READAHEAD);
        admit();
    }

    void admit() {
        Semaphore next;
        while ((next = gate.admit()) != null) {
            next.release();
        }
    }

    void limitChanged() {
        gate.limitChanged();
        admit();
    }
}
