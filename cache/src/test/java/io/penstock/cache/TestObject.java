package io.penstock.cache;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.List;

/** An object whose bytes are all known: eight-byte words derived from its name and their position. */
record TestObject(String key, long size) {
    static final String NAMESPACE = "http://localhost:9000/bucket";

    ObjectVersion version() {
        return new ObjectVersion(key, "\"etag-of-" + key + "\"", size, Instant.EPOCH);
    }

    CachedObject open(PageCache cache) {
        return cache.open(NAMESPACE, version());
    }

    int pages() {
        return (int) ((size + PageCache.PAGE_SIZE - 1) / PageCache.PAGE_SIZE);
    }

    /** Puts its content from the position on, up to the buffer's limit. */
    void put(long position, ByteBuffer to) {
        to.order(ByteOrder.LITTLE_ENDIAN);
        long at = position;
        while (to.hasRemaining()) {
            if (at % Long.BYTES == 0 && to.remaining() >= Long.BYTES) {
                to.putLong(word(at / Long.BYTES));
                at += Long.BYTES;
            } else {
                to.put((byte) (word(at / Long.BYTES) >>> (at % Long.BYTES * Byte.SIZE)));
                at++;
            }
        }
    }

    private long word(long index) {
        long mixed = (index + 1) * 0x9E3779B97F4A7C15L ^ key.hashCode() * 0xC2B2AE3D27D4EB4FL;
        return mixed ^ mixed >>> 29;
    }

    ByteBuffer content(long position, int length) {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        put(position, bytes);
        return bytes.flip();
    }

    /** Fills the rest of the claim with the correct bytes, this many at a time. */
    void fill(Fill fill, int chunk) {
        long at = fill.range().offset();
        while (at < fill.range().end()) {
            at += fillSome(fill, at, chunk);
        }
    }

    int fillSome(Fill fill, long at, int bytes) {
        ByteBuffer buffer = fill.buffer();
        buffer.limit(Math.min(buffer.limit(), bytes));
        int count = buffer.remaining();
        put(at, buffer);
        fill.filled(count);
        return count;
    }

    /** Fills all of its pages that are not Ready. */
    void fillAll(PageCache cache) throws InterruptedException {
        try (CachedObject open = open(cache)) {
            for (int page = 0; page < pages(); page++) {
                Fill fill = open.claim(page, page + 1, Urgency.DEMAND);
                if (fill != null) {
                    fill(fill, PageCache.PAGE_SIZE);
                }
            }
        }
    }

    /** Makes all pages Ready, each once the last is written, so that none is skipped for lack of time. */
    void store(PageCache cache) throws InterruptedException {
        try (CachedObject open = open(cache)) {
            for (int page = 0; page < pages(); page++) {
                Fill fill = open.claim(page, page + 1, Urgency.DEMAND);
                if (fill != null) {
                    fill(fill, PageCache.PAGE_SIZE);
                    cache.awaitWritten();
                }
            }
        }
    }

    /** Reads at one position and compares. Returns what read returned. */
    int readAndCheck(CachedObject open, long position, int length) throws FillFailedException, InterruptedException {
        return readAndCheck(open, position, length, false);
    }

    int readAndCheck(CachedObject open, long position, int length, boolean sequential)
            throws FillFailedException, InterruptedException {
        ByteBuffer to = ByteBuffer.allocateDirect(length);
        LentBytes loans = new LentBytes(1);
        int count = open.read(position, to, loans, sequential ? FromDisk.SEQUENTIAL : FromDisk.REQUESTED);
        loans.settle(to);
        if (count > 0) {
            assertThat(to.flip()).as("%s from %s", key, position).isEqualTo(content(position, count));
        }
        return count;
    }

    /** The pages that can be read and are correct. */
    List<Integer> readablePages(PageCache cache) {
        try (CachedObject open = open(cache)) {
            return java.util.stream.IntStream.range(0, pages())
                    .filter(page -> isReadable(open, page))
                    .boxed()
                    .toList();
        }
    }

    private boolean isReadable(CachedObject open, int page) {
        try {
            long position = (long) page * PageCache.PAGE_SIZE;
            int expected = (int) Math.min(PageCache.PAGE_SIZE, size - position);
            int count = readAndCheck(open, position, PageCache.PAGE_SIZE);
            assertThat(count).isIn(expected, CachedObject.MISSING);
            return count > 0;
        } catch (FillFailedException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static Fill claimed(CachedObject open, long fromPage, long toPage) throws InterruptedException {
        return requireNonNull(open.claim(fromPage, toPage, Urgency.DEMAND));
    }
}
