package io.penstock.writeback.journal;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.journal.JournalRecord.Dropped;
import io.penstock.writeback.journal.JournalRecord.Failed;
import io.penstock.writeback.journal.JournalRecord.InData;
import io.penstock.writeback.journal.JournalRecord.Opened;
import io.penstock.writeback.journal.JournalRecord.PartUploaded;
import io.penstock.writeback.journal.JournalRecord.UploadCreated;
import io.penstock.writeback.journal.JournalRecord.UploadEnded;
import io.penstock.writeback.journal.JournalRecord.Withdrawn;
import io.penstock.writeback.journal.JournalRecord.Written;
import io.penstock.writeback.upload.JournalledUpload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The state that the records of a journal add up to. Used by one thread. */
public final class JournalState implements Consumer<JournalRecord> {
    private @Nullable Opened opened;
    private @Nullable Written written;
    private final Ranges data = new Ranges();
    private final Ranges zeros = new Ranges();

    /** Of the data file that the last {@link Written} speaks of. */
    private int generation;

    private int nextGeneration;

    /** Those that have not ended, the last created first: more than one if an earlier one was still being aborted. */
    private final Deque<UploadCreated> uploads = new ArrayDeque<>();

    /** Of the upload that was created last. */
    private final Map<Integer, JournalledUpload.Part> parts = new HashMap<>();

    /** Requests that may have replaced the opened version, from before the last {@link Written}. */
    private final Set<JournalRecord.Sent> sentBefore = new LinkedHashSet<>();

    /** The same from after it: they have its content, or more that was not made durable. */
    private final Set<JournalRecord.Sent> sentSince = new LinkedHashSet<>();

    /** Null if its name stays, as far as the journal knows. */
    private @Nullable Withdrawn withdrawn;

    private @Nullable Failed failed;

    /** Null unless a later version of the file was waiting when a process looked last. */
    private JournalRecord.@Nullable Older older;

    @Override
    public void accept(JournalRecord record) {
        switch (record) {
            case Opened entry -> {
                if (!entry.equals(opened)) { // else they may still have replaced that version
                    sentBefore.clear();
                    sentSince.clear();
                }
                opened = entry;
                withdrawn = null;
            }
            case InData(int next) -> nextGeneration = next;
            case Written entry -> replay(entry);
            case UploadCreated entry -> {
                uploads.push(entry);
                parts.clear();
            }
            case PartUploaded(var part, int crc32c) ->
                parts.put(part.number(), new JournalledUpload.Part(part, crc32c));
            case UploadEnded(String id) -> end(id);
            case Failed entry -> failed = entry;
            case JournalRecord.Older entry -> older = entry;
            case Withdrawn entry -> withdrawn = entry;
            case JournalRecord.Sent entry -> sentSince.add(entry);
            case Dropped() -> written = null;
        }
    }

    /** The least that adds up to the same. */
    public List<JournalRecord> records() {
        List<JournalRecord> records = new ArrayList<>();
        if (opened != null) {
            records.add(opened);
        }
        records.addAll(sentBefore);
        records.addAll(uploads.reversed());
        parts.values().forEach(part -> records.add(new PartUploaded(part.part(), part.crc32c())));
        if (generation > 0) {
            records.add(new InData(generation));
        }
        if (written != null) {
            records.add(new Written(
                    written.size(),
                    written.baseEnd(),
                    Long.MAX_VALUE,
                    written.modified(),
                    zeros.toList(),
                    data.toList(),
                    written.headers()));
        }
        records.addAll(sentSince);
        if (withdrawn != null) {
            records.add(withdrawn);
        }
        if (failed != null) {
            records.add(failed);
        }
        if (older != null) {
            records.add(older);
        }
        return records;
    }

    private void end(String id) {
        UploadCreated last = uploads.peek();
        if (last != null && last.upload().id().equals(id)) {
            parts.clear();
        }
        uploads.removeIf(upload -> upload.upload().id().equals(id));
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
        sentBefore.addAll(sentSince);
        sentSince.clear();
        written = entry;
        generation = nextGeneration;
    }

    /** Null if the journal ends before it names its file. */
    @Nullable
    public Opened opened() {
        return opened;
    }

    /** The last; null if nothing was made durable, or if it no longer counts. */
    @Nullable
    public Written written() {
        return written;
    }

    public Ranges data() {
        return data;
    }

    /** Of the data file that {@link #data} is in. */
    public int generation() {
        return generation;
    }

    public Ranges zeros() {
        return zeros;
    }

    /** Requests whose outcome is unknown, from before the last {@link Written}. */
    public List<JournalRecord.Sent> sentBefore() {
        return List.copyOf(sentBefore);
    }

    /** The same from after it: their objects have its content, and maybe more. */
    public List<JournalRecord.Sent> sentSince() {
        return List.copyOf(sentSince);
    }

    /** Whether something of it may have been done at the store, unknown here. */
    public boolean isInDoubt() {
        return withdrawn != null || !sentBefore.isEmpty() || !sentSince.isEmpty();
    }

    /** Whether its name was about to be removed, or to be taken by another file. */
    public boolean withdrawn() {
        return withdrawn != null;
    }

    /** Whether a later version of the file was waiting when a process looked last. */
    public boolean isOlder() {
        return older != null;
    }

    /** Why it cannot be committed automatically; null if that has not been found. */
    @Nullable
    public String failure() {
        return failed == null ? null : failed.reason();
    }

    /** The upload that a commit can continue; null if there is none. */
    @Nullable
    public JournalledUpload upload() {
        UploadCreated last = uploads.peek();
        return last == null || opened == null || !last.upload().key().equals(opened.key())
                ? null
                : new JournalledUpload(last.upload(), last.layout(), parts);
    }

    /** Uploads of which something may be at the store; that of {@link #upload} among them. */
    public List<MultipartUpload> uploads() {
        return uploads.stream().map(UploadCreated::upload).toList();
    }
}
