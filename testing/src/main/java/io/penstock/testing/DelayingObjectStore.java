package io.penstock.testing;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * Makes calls wait at gates that a test opens, and for a latency that passes on a {@link ManualClock}, never in real
 * time. Thread-safe.
 */
public final class DelayingObjectStore extends ForwardingObjectStore {
    private final ManualClock clock;
    private final Duration latency;
    private final List<Gate> gates = new CopyOnWriteArrayList<>();
    private final List<Gate> answers = new CopyOnWriteArrayList<>();

    /** Without latency, for use with gates. */
    public DelayingObjectStore(ObjectStore store) {
        this(store, new ManualClock(), Duration.ZERO);
    }

    /** Every call begins once {@code latency} has passed on the clock. */
    public DelayingObjectStore(ObjectStore store, ManualClock clock, Duration latency) {
        super(store);
        this.clock = clock;
        this.latency = latency;
    }

    /** Holds matching calls that begin from now on, before they reach the store. */
    public Gate hold(Predicate<Call> which) {
        return holdAfter(0, which);
    }

    /** Holds matching calls that begin from now on, once they have delivered or sent this many bytes. */
    public Gate holdAfter(long bytes, Predicate<Call> which) {
        Gate gate = new Gate(which, bytes);
        gates.add(gate);
        return gate;
    }

    /** Holds matching calls except GETs, after the store has carried out or refused them. */
    public Gate holdAnswer(Predicate<Call> which) {
        Gate gate = new Gate(which, 0);
        answers.add(gate);
        return gate;
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
    protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
            throws ObjectStoreException, InterruptedException, X {
        List<Gate> mine = gatesOf(call);
        begin(mine);
        try {
            return request.send(mine.isEmpty() || body.length() == 0 ? body : new GatedBody(body, mine));
        } finally {
            for (Gate gate : answers) {
                if (gate.holds(call)) {
                    gate.pass(0);
                }
            }
        }
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

    /** @return how many more bytes all gates let through: 1 or more */
    private static long passAll(List<Gate> gates, long moved) throws InterruptedException {
        long allowed = Long.MAX_VALUE;
        for (Gate gate : gates) {
            allowed = Math.min(allowed, gate.pass(moved));
        }
        return allowed;
    }

    /** Limits each buffer to the bytes that the gates let through. */
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
            long allowed = passAll(gates, delivered);
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

    /** Reads no more bytes at a time than the gates let through. */
    private record GatedBody(UploadBody body, List<Gate> gates) implements UploadBody {
        @Override
        public long length() {
            return body.length();
        }

        @Override
        public OptionalInt crc32c() {
            return body.crc32c();
        }

        @Override
        public void read(long offset, ByteBuffer target) throws IOException, InterruptedException {
            int limit = target.limit();
            for (long at = offset; target.position() < limit; ) {
                int allowed = (int) Math.min(passAll(gates, at), limit - target.position());
                body.read(at, target.limit(target.position() + allowed));
                at += allowed;
            }
        }
    }
}
