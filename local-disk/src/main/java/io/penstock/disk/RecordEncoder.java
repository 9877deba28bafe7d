package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Encodes records of a {@link MappedLog} in memory of the heap: each access to mapped memory is checked. Not thread-safe. */
public final class RecordEncoder {
    private ByteBuffer memory = allocate(4096);

    /** Writes a record. */
    public interface Body {
        void writeTo(ByteBuffer to);
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    /**
     * The encoded record, from its position to its limit. Valid until the next call.
     *
     * @param most maximum bytes of the record
     */
    public ByteBuffer encode(int most, Body record) {
        if (most > memory.capacity()) {
            memory = allocate(Math.max(most, 2 * memory.capacity()));
        }
        record.writeTo(memory.clear());
        return memory.flip();
    }

    /** Adds the record to the log. */
    public void append(MappedLog to, int most, Body record) throws IOException {
        to.append(encode(most, record));
    }
}
