package io.penstock.testing;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * Makes calls wait, by gates that a test opens and by a latency that passes on a {@link ManualClock}; never by the
 * real time. Thread-safe.
 */
public final class DelayingObjectStore implements ObjectStore {
    private final ObjectStore store;
    private final ManualClock clock;
    private final Duration latency;
    private final List<Gate> gates = new CopyOnWriteArrayList<>();

    /** Without latency, for gates. */
    public DelayingObjectStore(ObjectStore store) {
        this(store, new ManualClock(), Duration.ZERO);
    }

    /** Every call begins once {@code latency} has passed on the clock. */
    public DelayingObjectStore(ObjectStore store, ManualClock clock, Duration latency) {
        this.store = store;
        this.clock = clock;
        this.latency = latency;
    }

    /** Holds matching calls, those that begin from now on, before they reach the store. */
    public Gate hold(Predicate<Call> which) {
        return holdAfter(0, which);
    }

    /** Holds matching GETs, those that begin from now on, once they have delivered this many bytes. */
    public Gate holdAfter(long bytes, Predicate<Call> which) {
        Gate gate = new Gate(which, bytes);
        gates.add(gate);
        return gate;
    }

    @Override
    public String bucket() {
        return store.bucket();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        Call call = new Call.Get(version.key(), range, version.etag());
        List<Gate> mine = gatesOf(call);
        begin(mine);
        store.get(version, range, mine.isEmpty() ? sink : new GatedSink(sink, mine));
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        begin(gatesOf(new Call.Head(key)));
        return store.head(key);
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        begin(gatesOf(new Call.List(request)));
        return store.list(request);
    }

    @Override
    public void close() {
        store.close();
    }

    private List<Gate> gatesOf(Call call) {
        return gates.stream().filter(gate -> gate.holds(call)).toList();
    }

    private void begin(List<Gate> mine) throws InterruptedException {
        if (latency.isPositive()) {
            clock.sleep(latency);
        }
        for (Gate gate : mine) {
            gate.pass(0);
        }
    }

    /** Hands on no more room than the gates let through. */
    private static final class GatedSink implements BodySink {
        private final BodySink sink;
        private final List<Gate> gates;
        private ByteBuffer target = ByteBuffer.allocate(0);
        private long delivered;

        GatedSink(BodySink sink, List<Gate> gates) {
            this.sink = sink;
            this.gates = gates;
        }

        @Override
        public ByteBuffer buffer() throws InterruptedException {
            long allowed = Long.MAX_VALUE;
            for (Gate gate : gates) {
                allowed = Math.min(allowed, gate.pass(delivered));
            }
            target = sink.buffer();
            return target.slice(target.position(), (int) Math.min(allowed, target.remaining()));
        }

        @Override
        public void filled(int bytes) {
            delivered += bytes;
            target.position(target.position() + bytes);
            sink.filled(bytes);
        }
    }
}
