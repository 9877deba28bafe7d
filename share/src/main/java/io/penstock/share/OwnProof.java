package io.penstock.share;

import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The proof that this node shows to others. Safe for use by any number of threads. */
final class OwnProof {
    /** Others remember a proof for longer than this, and credentials are renewed within it. */
    private static final long NANOS = Duration.ofMinutes(5).toNanos();

    private final BucketProof bucket;
    private volatile @Nullable Made last;

    private record Made(String text, long at) {}

    OwnProof(BucketProof bucket) {
        this.bucket = bucket;
    }

    String get() throws ObjectStoreException, InterruptedException {
        Made made = last;
        if (made == null || System.nanoTime() - made.at() > NANOS) {
            made = new Made(bucket.make(), System.nanoTime());
            last = made;
        }
        return made.text();
    }

    /** Another node has refused this proof: the credentials may have changed since it was made. */
    void drop(String refused) {
        Made made = last;
        if (made != null && made.text().equals(refused)) {
            last = null;
        }
    }
}
