package io.penstock.share;

import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A bucket below one prefix, and who may read it. */
final class FakeProof implements BucketProof {
    volatile String text = "right";
    volatile boolean accepts = true;
    volatile boolean isUnreachable;

    /** The store does not answer before this has reached 0. */
    volatile CountDownLatch hangs = new CountDownLatch(0);

    /** Requests to the store. */
    final AtomicInteger asked = new AtomicInteger();

    @Override
    public String make() {
        return text;
    }

    @Override
    public boolean covers(String proof, String key) {
        return !key.startsWith("elsewhere/");
    }

    @Override
    public boolean holds(String proof) throws ObjectStoreException, InterruptedException {
        asked.incrementAndGet();
        hangs.await();
        if (isUnreachable) {
            throw new ObjectStoreException.Unavailable("the store is away", null);
        }
        return accepts && proof.equals("right");
    }
}
