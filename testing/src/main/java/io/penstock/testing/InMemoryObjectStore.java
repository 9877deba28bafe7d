package io.penstock.testing;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * A bucket in memory that passes the same contract as S3: strongly consistent, conditional on ETags, listed in UTF-8
 * byte order or, as directory buckets are, in none. What another client does to the bucket, tests do here, behind the
 * decorators that record or fail calls. Thread-safe.
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
                case UTF8 -> KeyOrder.COMPARATOR;
                case NONE ->
                    Comparator.comparingInt(InMemoryObjectStore::scramble).thenComparing(KeyOrder.COMPARATOR);
            };
        }
    }

    private static final String STORAGE_CLASS = "x-amz-storage-class";

    /** As the S3 store has it. */
    private static final long MOST_COPIED_AT_ONCE = 256L << 20;

    private final String bucket;
    private final InstantSource clock;
    private final Order order;
    private final boolean sizesOnly;
    /** Of all objects; null if each has its content's. */
    private final @Nullable String oneEtag;

    /** Changed under its monitor, so that a condition holds of what is changed; read without. */
    private final ConcurrentNavigableMap<String, Entry> entries;

    private final Uploads uploads = new Uploads();
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
        this(bucket, clock, order, false, null);
    }

    private InMemoryObjectStore(
            String bucket, InstantSource clock, Order order, boolean sizesOnly, @Nullable String oneEtag) {
        this.bucket = bucket;
        this.clock = clock;
        this.order = order;
        this.sizesOnly = sizesOnly;
        this.oneEtag = oneEtag;
        this.entries = new ConcurrentSkipListMap<>(order.comparator());
    }

    /**
     * Keeps of what it is sent only sizes and checksums, so that objects of any size can be written to it; a body that
     * knows its checksum is not even read. See {@link #pieces}.
     */
    public static InMemoryObjectStore keepingSizesOnly() {
        return new InMemoryObjectStore("bucket", new ManualClock(), Order.UTF8, true, null);
    }

    /** Its ETags do not change with the content, as those of some gateways to file systems. */
    public static InMemoryObjectStore withOneEtag(InstantSource clock) {
        return new InMemoryObjectStore("bucket", clock, Order.UTF8, false, "\"gateway\"");
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
        return put(key, content, ObjectProperties.ofNew(key));
    }

    /** Stores the content; in an archive class ({@code GLACIER}, {@code DEEP_ARCHIVE}) it can be seen but not read. */
    public ObjectVersion put(String key, Content content, String storageClass) {
        return put(key, content, new ObjectProperties(new TreeMap<>(Map.of(STORAGE_CLASS, storageClass)), Map.of()));
    }

    /** Stores the content with these properties. */
    public ObjectVersion put(String key, Content content, ObjectProperties properties) {
        String etag = oneEtag == null ? content.etag() : oneEtag;
        ObjectVersion version = new ObjectVersion(key, etag, content.size(), clock.instant());
        synchronized (entries) {
            entries.put(key, new Entry(new StoredObject(version, properties.storageClass()), content, properties));
        }
        return version;
    }

    /** The uploads that are neither completed nor aborted, in the order in which they were created. */
    public List<MultipartUpload> openUploads() {
        return uploads.open();
    }

    /**
     * What an object is composed of: the parts that it was completed with; itself if it was stored as a whole.
     *
     * @throws AssertionError if there is none
     */
    public List<Content> pieces(String key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            throw new AssertionError("there is no " + name(key));
        }
        return entry.content instanceof Content.Composed composed ? composed.pieces() : List.of(entry.content);
    }

    @Override
    public String bucket() {
        return bucket;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        Entry entry = entry(version);
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
    public ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        return entry(key).properties;
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        checkUsable();
        return new Listing(entries, order, request).page();
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        checkUsable();
        return replace(key, contentOf(key, body), properties, condition);
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        checkUsable();
        return uploads.create(key, properties);
    }

    @Override
    public UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException {
        checkUsable();
        return uploads.put(upload, number, contentOf(upload.key(), body), body.crc32c());
    }

    @Override
    public UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException {
        Content whole = toBeCopied(source);
        return uploads.put(upload, number, Content.slice(whole, range.offset(), range.length()), OptionalInt.empty());
    }

    @Override
    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        checkUsable();
        synchronized (entries) {
            Entry there = entries.get(upload.key());
            if (there != null && !uploads.isOpen(upload) && there.isMadeOf(parts)) {
                return there.object.version();
            }
            ObjectVersion version =
                    replace(upload.key(), uploads.compose(upload, parts), uploads.properties(upload), condition);
            uploads.remove(upload);
            return version;
        }
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        checkUsable();
        uploads.remove(upload);
    }

    @Override
    public List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        checkUsable();
        return uploads.parts(upload);
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        Content content = toBeCopied(source);
        if (content.size() <= MOST_COPIED_AT_ONCE) {
            return replace(key, content, properties, condition);
        }
        MultipartUpload upload = uploads.create(key, properties);
        listener.began(upload);
        try {
            return replace(key, content, properties, condition);
        } finally {
            uploads.remove(upload);
            listener.ended(upload);
        }
    }

    @Override
    public void delete(String key) throws ObjectStoreException, InterruptedException {
        checkUsable();
        synchronized (entries) {
            entries.remove(key);
        }
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        checkUsable();
        synchronized (entries) {
            Entry there = entries.get(version.key());
            if (there != null && !there.object.version().identity().equals(version.identity())) {
                throw new ObjectStoreException.PreconditionFailed(
                        name(version.key()) + " is no longer the version " + version.etag(), null);
            }
            entries.remove(version.key());
        }
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

    private Entry entry(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        Entry entry = entry(version.key());
        if (!entry.object.version().identity().equals(version.identity())) {
            throw new ObjectStoreException.PreconditionFailed(
                    name(version.key()) + " is no longer the version " + version.identity(), null);
        }
        return entry;
    }

    private Content toBeCopied(ObjectVersion source) throws ObjectStoreException, InterruptedException {
        try {
            return entry(source).content;
        } catch (ObjectStoreException.NotFound e) {
            throw new ObjectStoreException.PreconditionFailed(name(source.key()) + " is gone", e);
        }
    }

    /** What the body gives, compared with the checksum that it brings. */
    private Content contentOf(String key, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException {
        OptionalInt expected = body.crc32c();
        if (sizesOnly) {
            int crc32c = expected.isPresent() ? expected.getAsInt() : Bodies.crc32c(body);
            return new Content.Measured(body.length(), crc32c);
        }
        byte[] bytes = Bodies.read(body);
        if (expected.isPresent() && expected.getAsInt() != Bodies.crc32c(bytes)) {
            throw new ObjectStoreException.Corrupt(name(key) + " arrived damaged", null);
        }
        return Content.of(bytes);
    }

    private ObjectVersion replace(String key, Content content, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException {
        synchronized (entries) {
            Entry there = entries.get(key);
            boolean holds = switch (condition) {
                case WriteCondition.Always() -> true;
                case WriteCondition.Absent() -> there == null;
                case WriteCondition.Unchanged(String etag) ->
                    there != null && there.object.version().etag().equals(etag);
            };
            if (!holds) {
                throw new ObjectStoreException.PreconditionFailed(
                        name(key) + " is not as " + condition + " demands: there is " + there, null);
            }
            return put(key, content, properties);
        }
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
    record Entry(StoredObject object, Content content, ObjectProperties properties) {
        private boolean isMadeOf(List<UploadedPart> parts) {
            return object.version()
                    .etag()
                    .equals(Content.Composed.etagOf(
                            parts.stream().map(UploadedPart::etag).toList()));
        }
    }
}
