package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStore;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The ceiling of every cold read: the rate of the mount's own S3 client if the bytes are discarded. */
final class RawGets {
    private static final int MEMORY = 1 << 20;

    private final ObjectStore store;

    RawGets(ObjectStore store) {
        this.store = store;
    }

    record Request(ObjectVersion version, ByteRange range) {}

    /** Makes all requests in order, this many at a time; an operation is a request. */
    Measurement run(List<Request> requests, int concurrency) throws Exception {
        long bytes =
                requests.stream().mapToLong(request -> request.range().length()).sum();
        return Workers.REQUESTS
                .run(
                        concurrency,
                        requests.size(),
                        Workers.NO_LIMIT,
                        MEMORY,
                        (i, memory) -> store.get(
                                requests.get(i).version(), requests.get(i).range(), new Nowhere(memory)))
                .withBytes(bytes);
    }

    /** Whole objects in ranges, one range of each object in turn, as readers of all of them would request. */
    static List<Request> wholes(List<ObjectVersion> versions, long rangeSize) {
        List<Request> requests = new ArrayList<>();
        long longest = versions.stream().mapToLong(ObjectVersion::size).max().orElse(0);
        for (long offset = 0; offset < longest; offset += rangeSize) {
            for (ObjectVersion version : versions) {
                if (offset < version.size()) {
                    long length = Math.min(rangeSize, version.size() - offset);
                    requests.add(new Request(version, new ByteRange(offset, length)));
                }
            }
        }
        return requests;
    }

    /** Overwrites the previous bytes: they go to memory like that of a cache's page, and no further. */
    private record Nowhere(ByteBuffer memory) implements BodySink {
        @Override
        public ByteBuffer buffer() {
            return memory.clear();
        }

        @Override
        public void filled(int bytes) {}
    }
}
