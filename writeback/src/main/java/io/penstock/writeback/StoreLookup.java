package io.penstock.writeback;

import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.Snapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Compares the object of a key with the written data, to settle commits in doubt. Safe for use by any number of
 * threads.
 */
final class StoreLookup {
    private final ObjectStore store;
    private final BaseContent base;

    StoreLookup(ObjectStore store, BaseContent base) {
        this.store = store;
        this.base = base;
    }

    /**
     * The object, if it is another version than the content's base version, of the same size, and has all bytes that were
     * written here; null if not. Bytes of the base version are not compared, because that version is gone: no byte
     * that was written here is missing in the object, whichever client made it.
     */
    @Nullable
    ObjectVersion earlierCommit(Snapshot content) throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion found = head(content.key());
        ObjectVersion base = content.layer().version();
        if (found == null || found.size() != content.size() || (base != null && base.hasIdentityOf(found))) {
            return null;
        }
        try (BaseContent.Reader reader = this.base.open(found)) {
            for (ByteRange written : content.written()) {
                if (!isSame(content, reader, written)) {
                    return null;
                }
            }
        }
        return found;
    }

    private static boolean isSame(Snapshot content, BaseContent.Reader object, ByteRange range)
            throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer ours = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        ByteBuffer theirs = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        for (long position = range.offset(); position < range.end(); position += ours.limit()) {
            int length = (int) Math.min(ours.capacity(), range.end() - position);
            content.readAt(position, ours.clear().limit(length));
            object.read(position, theirs.clear().limit(length));
            if (!ours.flip().equals(theirs.flip())) {
                return false;
            }
        }
        return true;
    }

    /** The object, if the condition does not hold for it; null if it holds, or if there is no object. */
    @Nullable
    ObjectVersion other(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        ObjectVersion found = head(key);
        return found == null || holds(condition, found) ? null : found;
    }

    /** Whether the store shows that the condition does not hold. */
    boolean isReplaced(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        ObjectVersion found = head(key);
        if (found == null) {
            store.list(new ListRequest(
                    key, "", null, null, 1)); // a HEAD does not tell a missing object from a missing bucket
        }
        return !holds(condition, found);
    }

    private static boolean holds(WriteCondition condition, @Nullable ObjectVersion found) {
        return switch (condition) {
            case WriteCondition.Always _ -> true;
            case WriteCondition.Absent _ -> found == null;
            case WriteCondition.Unchanged(String etag) -> found != null && etag.equals(found.etag());
        };
    }

    private @Nullable ObjectVersion head(String key) throws ObjectStoreException, InterruptedException {
        StoredObject found = store.find(key);
        return found == null ? null : found.version();
    }

    /** CRC32C of a whole object, which is read for it. */
    int crc32c(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        CRC32C sum = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        try (BaseContent.Reader reader = base.open(version)) {
            for (long position = 0; position < version.size(); position += buffer.limit()) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), version.size() - position));
                reader.read(position, buffer);
                sum.update(buffer.flip());
            }
        }
        return (int) sum.getValue();
    }
}
