package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.JournalRecord.Closed;
import io.penstock.writeback.JournalRecord.Dropped;
import io.penstock.writeback.JournalRecord.Kept;
import io.penstock.writeback.JournalRecord.Opened;
import io.penstock.writeback.JournalRecord.PartUploaded;
import io.penstock.writeback.JournalRecord.UploadAbandoned;
import io.penstock.writeback.JournalRecord.UploadCreated;
import io.penstock.writeback.JournalRecord.Written;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the records of a journal add up to. Used by one thread. */
final class JournalState implements Consumer<JournalRecord> {
    private @Nullable Opened opened;
    private @Nullable Written written;
    private final Ranges data = new Ranges();
    private final Ranges zeros = new Ranges();
    private @Nullable UploadCreated upload;
    private final Map<Integer, JournalledUpload.Part> parts = new HashMap<>();
    private boolean closed;
    private @Nullable String keptFor;

    @Override
    public void accept(JournalRecord record) {
        switch (record) {
            case Opened entry -> opened = entry;
            case Written entry -> replay(entry);
            case Closed() -> closed = true;
            case UploadCreated entry -> {
                upload = entry;
                parts.clear();
            }
            case PartUploaded(var part, int crc32c) ->
                parts.put(part.number(), new JournalledUpload.Part(part, crc32c));
            case UploadAbandoned() -> upload = null;
            case Kept(String reason) -> keptFor = reason;
            case Dropped() -> written = null;
        }
    }

    private void replay(Written entry) {
        data.remove(entry.cut(), Long.MAX_VALUE);
        zeros.remove(entry.cut(), Long.MAX_VALUE);
        for (ByteRange range : entry.zeroed()) {
            data.remove(range.offset(), range.end());
            zeros.add(range.offset(), range.end());
        }
        zeros.remove(entry.baseEnd(), Long.MAX_VALUE);
        for (ByteRange range : entry.data()) {
            data.add(range.offset(), range.end());
        }
        written = entry;
        closed = false; // it was opened again
    }

    /** Null if the journal ends before it says what file it is. */
    @Nullable
    Opened opened() {
        return opened;
    }

    /** The last; null if nothing was made durable, or if it does not count any more. */
    @Nullable
    Written written() {
        return written;
    }

    Ranges data() {
        return data;
    }

    Ranges zeros() {
        return zeros;
    }

    boolean isClosed() {
        return closed;
    }

    /** Why it cannot be committed by itself; null if that has not been found. */
    @Nullable
    String keptFor() {
        return keptFor;
    }

    /** The upload that was under way; null if there was none. */
    @Nullable
    JournalledUpload upload() {
        if (upload == null || opened == null) {
            return null;
        }
        return new JournalledUpload(new MultipartUpload(opened.key(), upload.id()), upload.layout(), parts);
    }

    /** The version that a commit must find. */
    @Nullable
    ObjectVersion expected() {
        if (opened == null) {
            return null;
        }
        return opened.base() != null ? opened.base() : opened.replaced();
    }
}
