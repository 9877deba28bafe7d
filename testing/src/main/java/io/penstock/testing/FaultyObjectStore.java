package io.penstock.testing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Fails calls: the next matching ones, or a seeded share of all. A failing GET gets the bytes that it delivers from the
 * store by a shorter GET; a failing upload has read the same amount of its body. Thread-safe.
 */
public final class FaultyObjectStore extends ForwardingObjectStore {
    private final CountDownLatch closed = new CountDownLatch(1);

    @GuardedBy("this")
    private final List<Planned> planned = new ArrayList<>();

    @GuardedBy("this")
    private long injected;

    public FaultyObjectStore(ObjectStore store) {
        super(store);
    }

    /** The next matching call fails. Several faults for one call are used in the order they were added. */
    public void next(Predicate<Call> which, Fault fault) {
        next(1, which, fault);
    }

    /** The next {@code times} matching calls fail. */
    public synchronized void next(int times, Predicate<Call> which, Fault fault) {
        for (int i = 0; i < times; i++) {
            planned.add(new Planned(call -> which.test(call) ? fault : null, false));
        }
    }

    /** All matching calls fail, until {@link #heal}. */
    public synchronized void always(Predicate<Call> which, Fault fault) {
        planned.add(new Planned(call -> which.test(call) ? fault : null, true));
    }

    /** Each call fails with this probability, until {@link #heal}; {@code fault} chooses the failure. */
    public synchronized void randomly(RandomGenerator random, double probability, Function<Call, Fault> fault) {
        planned.add(new Planned(call -> random.nextDouble() < probability ? fault.apply(call) : null, true));
    }

    /** From now on no call fails. */
    public synchronized void heal() {
        planned.clear();
    }

    /** The number of failed calls so far. */
    public synchronized long injected() {
        return injected;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        Call call = new Call.Get(version.key(), range, version.etag());
        switch (faultOf(call)) {
            case null -> store.get(version, range, sink);
            case Fault.Fail(long bytes, Fault.Kind kind) -> {
                deliver(version, range, bytes, sink);
                throw failure(kind, call);
            }
            case Fault.FailAfterwards(Fault.Kind kind) -> {
                store.get(version, range, sink);
                throw failure(kind, call);
            }
            case Fault.Stall(long bytes) -> {
                deliver(version, range, bytes, sink);
                throw stall(call);
            }
        }
    }

    @Override
    protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
            throws ObjectStoreException, InterruptedException, X {
        switch (faultOf(call)) {
            case null -> {
                return request.send(body);
            }
            case Fault.Fail(long bytes, Fault.Kind kind) -> {
                take(body, bytes);
                throw failure(kind, call);
            }
            case Fault.FailAfterwards(Fault.Kind kind) -> {
                request.send(body);
                throw failure(kind, call);
            }
            case Fault.Stall(long bytes) -> {
                take(body, bytes);
                throw stall(call);
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
        super.close();
    }

    /** Reads as much of a body as a store would have read before it failed. */
    private static void take(UploadBody body, long bytes) throws InterruptedException {
        try {
            body.read(0, ByteBuffer.allocate(Math.toIntExact(Math.min(bytes, body.length()))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void deliver(ObjectVersion version, ByteRange range, long bytes, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        if (bytes > 0) {
            store.get(version, new ByteRange(range.offset(), Math.min(bytes, range.length())), sink);
        }
    }

    private synchronized @Nullable Fault faultOf(Call call) {
        for (Iterator<Planned> plans = planned.iterator(); plans.hasNext(); ) {
            Planned plan = plans.next();
            Fault fault = plan.fault.apply(call);
            if (fault != null) {
                if (!plan.stays) {
                    plans.remove();
                }
                injected++;
                return fault;
            }
        }
        return null;
    }

    private ObjectStoreException stall(Call call) throws InterruptedException {
        closed.await();
        return new ObjectStoreException.Unavailable("closed while " + call + " was stalled", null);
    }

    private static ObjectStoreException failure(Fault.Kind kind, Call call) {
        return kind.make("injected fault: " + call, null);
    }

    /** A planned fault, which is used up by one call unless it {@code stays}. */
    private record Planned(Function<Call, @Nullable Fault> fault, boolean stays) {}
}
