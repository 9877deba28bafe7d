package io.penstock.writeback.survivors;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.OperationId;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.journal.JournalState;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A written file as the mount's former process left it: what its records add up to. Not thread-safe. */
public final class Survivor {
    private final long number;
    private Header header;
    private final NavigableMap<Long, Part> parts = new TreeMap<>();
    private long size;
    private Instant modified;

    /**
     * All but the written bytes.
     *
     * @param inode whose content it is; 0 if that is not known
     * @param firstOver the version that it was first written over; null for a new name
     * @param creation the operation that created it; null if it was opened
     * @param opened its identity, with the version under its bytes
     * @param content its size, holes and headers; without data
     * @param hasName whether it has a name, or may still have it
     * @param isWithdrawn whether its name was about to be removed
     * @param isChanged whether it has uncommitted changes
     * @param staged the prefix of the names of its files in the staging folder; empty if it has none
     * @param generation of the data file
     * @param replacedStaged the same for files that may be left, and do not count; empty if there are none
     * @param sentBefore requests in doubt that have an earlier content
     * @param sentSince requests in doubt that have this content
     */
    public record Header(
            long inode,
            @Nullable ObjectVersion firstOver,
            @Nullable OperationId creation,
            JournalRecord.Opened opened,
            JournalRecord.Written content,
            boolean hasName,
            boolean isWithdrawn,
            boolean isChanged,
            String staged,
            int generation,
            String replacedStaged,
            List<JournalRecord.Sent> sentBefore,
            List<JournalRecord.Sent> sentSince) {

        void encode(DataOutputStream to) throws IOException {
            to.writeLong(inode);
            JournalRecord.encode(firstOver, to);
            to.writeUTF(creation == null ? "" : creation.text());
            opened.encode(to);
            content.encode(to);
            to.writeBoolean(hasName);
            to.writeBoolean(isWithdrawn);
            to.writeBoolean(isChanged);
            to.writeUTF(staged);
            to.writeInt(generation);
            to.writeUTF(replacedStaged);
            encode(sentBefore, to);
            encode(sentSince, to);
        }

        /** The same after a change of the content. */
        Header changed() {
            if (isChanged && sentSince.isEmpty()) {
                return this;
            }
            List<JournalRecord.Sent> sent = Stream.concat(sentBefore.stream(), sentSince.stream())
                    .distinct()
                    .toList();
            return new Header(
                    inode,
                    firstOver,
                    creation,
                    opened,
                    content,
                    hasName,
                    isWithdrawn,
                    true,
                    staged,
                    generation,
                    replacedStaged,
                    sent,
                    List.of());
        }

        private static void encode(List<JournalRecord.Sent> requests, DataOutputStream to) throws IOException {
            to.writeInt(requests.size());
            for (JournalRecord.Sent request : requests) {
                request.encode(to);
            }
        }

        static Header decode(DataInputStream from) throws IOException {
            long inode = from.readLong();
            ObjectVersion firstOver = JournalRecord.decodeVersion(from);
            String creation = from.readUTF();
            return new Header(
                    inode,
                    firstOver,
                    creation.isEmpty() ? null : new OperationId(creation),
                    (JournalRecord.Opened) JournalRecord.decode(from),
                    (JournalRecord.Written) JournalRecord.decode(from),
                    from.readBoolean(),
                    from.readBoolean(),
                    from.readBoolean(),
                    from.readUTF(),
                    from.readInt(),
                    from.readUTF(),
                    decodeSent(from),
                    decodeSent(from));
        }

        private static List<JournalRecord.Sent> decodeSent(DataInputStream from) throws IOException {
            List<JournalRecord.Sent> requests = new ArrayList<>();
            for (int left = from.readInt(); left > 0; left--) {
                requests.add((JournalRecord.Sent) JournalRecord.decode(from));
            }
            return requests;
        }
    }

    /**
     * The bytes of a block.
     *
     * @param memory the number of its memory; -1 if it has none
     * @param inMemory its ranges there
     * @param stored its ranges in the data file; those in memory are newer
     */
    public record Part(int memory, Ranges inMemory, Ranges stored) {}

    Survivor(long number, Header header) {
        this.number = number;
        this.header = header;
        this.size = header.content.size();
        this.modified = header.content.modified();
    }

    // ---- its records

    void place(long block, Part part) {
        parts.put(block, part);
    }

    /** Bytes were written to this memory, which has all that the block had in memory before. */
    void wrote(long block, int memory, long from, long to, Instant time) {
        Part before = parts.getOrDefault(block, new Part(memory, new Ranges(), new Ranges()));
        before.inMemory.add(from, to);
        parts.put(block, new Part(memory, before.inMemory, before.stored));
        extended(to, time);
    }

    void extended(long to, Instant time) {
        size = Math.max(size, to);
        modified = time;
        header = header.changed();
    }

    // ---- the result

    public long number() {
        return number;
    }

    public Header header() {
        return header;
    }

    public NavigableMap<Long, Part> parts() {
        return parts;
    }

    /** All ranges in its data file. */
    public Ranges stored() {
        Ranges stored = new Ranges();
        parts.values().forEach(part -> stored.addAll(part.stored));
        return stored;
    }

    /**
     * The same as the state of a journal.
     *
     * @param uploads the records of its journal that are about uploads
     */
    public JournalState state(Collection<JournalRecord> uploads) {
        JournalState state = new JournalState();
        state.accept(header.opened);
        uploads.forEach(state);
        header.sentBefore.forEach(state);
        if (header.generation > 0) {
            state.accept(new JournalRecord.InData(header.generation));
        }
        JournalRecord.Written content = header.content;
        List<ByteRange> stored = stored().toList();
        state.accept(new JournalRecord.Written(
                size, content.baseEnd(), Long.MAX_VALUE, modified, content.zeroed(), stored, content.headers()));
        header.sentSince.forEach(state);
        if (header.isWithdrawn) {
            state.accept(new JournalRecord.Withdrawn());
        }
        return state;
    }
}
