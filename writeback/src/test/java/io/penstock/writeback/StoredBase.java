package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.bytes.BaseContent;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** Reads committed versions straight from a store, and counts the readers that are open. */
record StoredBase(ObjectStore store, AtomicInteger readers) implements BaseContent {
    StoredBase(ObjectStore store) {
        this(store, new AtomicInteger());
    }

    @Override
    public Reader open(ObjectVersion version) {
        readers.incrementAndGet();
        return new Reader() {
            @Override
            public int read(long position, ByteBuffer to) throws ObjectStoreException, InterruptedException {
                int length = Math.clamp(version.size() - position, 0, to.remaining());
                if (length > 0) {
                    store.get(version, new ByteRange(position, length), new Sink(to));
                }
                return length;
            }

            @Override
            public void close() {
                readers.decrementAndGet();
            }
        };
    }

    private record Sink(ByteBuffer to) implements BodySink {
        @Override
        public ByteBuffer buffer() {
            return to.duplicate();
        }

        @Override
        public void filled(int bytes) {
            to.position(to.position() + bytes);
        }
    }
}
