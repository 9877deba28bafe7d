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
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * A bucket in memory that passes the same contract as S3: strongly consistent, conditional on ETags, listed in UTF-8
 * byte order or, as directory buckets are, in none. Tests write through {@link #put} and {@link #delete}, which are no
 * calls of the interface and are therefore not recorded. Thread-safe.
 */
public final class InMemoryObjectStore implements ObjectStore {
    /** The order of listings. */
    public enum Order {
        /** By the bytes of the keys' UTF-8, as ordinary buckets list. */
        UTF8,
        /** Stable, but in no useful order, as directory buckets list. */
        NONE;

        Comparator<String> comparator() {
            return switch (this) {
                case UTF8 -> Utf8Order.COMPARATOR;
                case NONE ->
                    Comparator.comparingInt(InMemoryObjectStore::scramble).thenComparing(Utf8Order.COMPARATOR);
            };
        }
    }

    private final String bucket;
    private final InstantSource clock;
    private final Order order;
    private final ConcurrentNavigableMap<String, Entry> entries;
    private volatile boolean closed;

    /** An ordinary bucket named {@code bucket}, at a time that stands still. */
    public InMemoryObjectStore() {
        this("bucket", new ManualClock(), Order.UTF8);
    }

    /**
     * @param bucket its name
     * @param clock gives objects their time
     * @param order of listings
     */
    public InMemoryObjectStore(String bucket, InstantSource clock, Order order) {
        this.bucket = bucket;
        this.clock = clock;
        this.order = order;
        this.entries = new ConcurrentSkipListMap<>(order.comparator());
    }

    /** Stores the object, in place of what had the key. */
    public ObjectVersion put(String key, byte[] bytes) {
        return put(key, Content.of(bytes));
    }

    /** Stores the text's UTF-8. */
    public ObjectVersion put(String key, String text) {
        return put(key, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Stores made-up bytes of any size, which take no memory: {@link TestData#of} of the key and the size. */
    public ObjectVersion putTestData(String key, long size) {
        return put(key, TestData.of(key, size));
    }

    /** Stores the content in the storage class {@code STANDARD}. */
    public ObjectVersion put(String key, Content content) {
        return put(key, content, "STANDARD");
    }

    /** Stores the content; in an archive class ({@code GLACIER}, {@code DEEP_ARCHIVE}) it can be seen but not read. */
    public ObjectVersion put(String key, Content content, String storageClass) {
        ObjectVersion version = new ObjectVersion(key, content.etag(), content.size(), clock.instant());
        entries.put(key, new Entry(new StoredObject(version, storageClass), content));
        return version;
    }

    /** Removes the object, if there is one. */
    @Override
    public void delete(String key) {
        entries.remove(key);
    }

    @Override
    public String bucket() {
        return bucket;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        Entry entry = entry(version.key());
        if (!entry.object.version().etag().equals(version.etag())) {
            throw new ObjectStoreException.PreconditionFailed(
                    name(version.key()) + " is no longer the version " + version.etag(), null);
        }
        String storageClass = entry.object.storageClass();
        if (storageClass.equals("GLACIER") || storageClass.equals("DEEP_ARCHIVE")) {
            throw new ObjectStoreException.InvalidState(
                    name(version.key()) + " is archived in " + storageClass + ": restore it first", null);
        }
        if (range.end() > entry.content.size()) {
            throw new IllegalArgumentException(range + " lies outside " + version);
        }
        long offset = range.offset();
        while (offset < range.end()) {
            checkUsable();
            ByteBuffer buffer = sink.buffer();
            int length = (int) Math.min(buffer.remaining(), range.end() - offset);
            int limit = buffer.limit();
            entry.content.read(offset, buffer.limit(buffer.position() + length));
            buffer.limit(limit);
            sink.filled(length);
            offset += length;
        }
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return entry(key).object;
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        checkUsable();
        return new Listing(entries, order, request).page();
    }

    /** Later calls fail as {@link ObjectStoreException.Unavailable}. */
    @Override
    public void close() {
        closed = true;
    }

    private Entry entry(String key) throws ObjectStoreException, InterruptedException {
        checkUsable();
        Entry entry = entries.get(key);
        if (entry == null) {
            throw new ObjectStoreException.NotFound("there is no " + name(key), null);
        }
        return entry;
    }

    private void checkUsable() throws ObjectStoreException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (closed) {
            throw new ObjectStoreException.Unavailable("the store of bucket '" + bucket + "' is closed", null);
        }
    }

    private String name(String key) {
        return "object '" + key + "' in bucket '" + bucket + "'";
    }

    private static int scramble(String key) {
        return key.hashCode() * 0x9E3779B9;
    }

    /** An object and its bytes, replaced as a whole. */
    record Entry(StoredObject object, Content content) {}
}
