package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.disk.RecordLog;
import io.penstock.writeback.staging.Staging;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal of one rename of a directory, a file in the staging folder. After a crash, the next mount reads from it
 * which steps are left:
 *
 * <pre>
 *   (no file) ──begin──▶ COPYING ──decide──▶ DELETING ──end──▶ (no file)
 *                           │     the next mount finishes: it deletes the originals
 *                           └──end, once the copies are deleted; the next mount does that
 * </pre>
 *
 * <p>Safe for use by any number of threads.
 */
public final class RenameJournal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RenameJournal.class);

    /** The suffix of the journal's name. */
    private static final String RENAME = ".rename";

    private static final byte BEGUN = 0;
    private static final byte COPIED = 1;
    private static final byte DECIDED = 2;

    /** Never compacted: 200 bytes per object. */
    private static final RecordLog.Format<Entry> FORMAT = new RecordLog.Format<>(
            0x50454e53_524e4d_02L, // "PENSRNM", version 2
            true,
            64L << 20,
            RenameJournal::encode,
            RenameJournal::decode);

    private final DataFolder files;
    private final String name;
    private final RecordLog<Entry> log;
    private final Begun begun;
    private final List<Copied> copied;
    private final boolean isDecided;

    /** A record. */
    sealed interface Entry {}

    /**
     * The beginning of the rename.
     *
     * @param from the old prefix; ends in a slash
     * @param to the new one
     */
    public record Begun(String namespace, String from, String to) implements Entry {}

    /**
     * An object and its copy, of which the response is known. The same version twice means the directory's own object,
     * if it was copied last and replaced the one at the new prefix.
     */
    public record Copied(ObjectVersion original, ObjectVersion copy) implements Entry {}

    private enum Decided implements Entry {
        DECIDED
    }

    private RenameJournal(
            DataFolder files,
            String name,
            RecordLog<Entry> log,
            Begun begun,
            Collection<Copied> copied,
            boolean isDecided) {
        this.files = files;
        this.name = name;
        this.log = log;
        this.begun = begun;
        this.copied = List.copyOf(copied);
        this.isDecided = isDecided;
    }

    /**
     * Begins a rename. Once this returns, the next mount notices a crash.
     *
     * @throws IOException if the staging folder cannot be written
     */
    public static RenameJournal begin(Staging staging, String from, String to) throws IOException {
        DataFolder files = staging.files();
        String name = String.format("%016x%s", ThreadLocalRandom.current().nextLong(), RENAME);
        Begun begun = new Begun(staging.namespace(), from, to);
        RecordLog<Entry> log = RecordLog.create(files, name, FORMAT);
        RenameJournal journal = new RenameJournal(files, name, log, begun, List.of(), false);
        boolean done = false;
        try {
            log.append(begun);
            log.force();
            files.force();
            done = true;
        } finally {
            if (!done) {
                journal.end();
            }
        }
        return journal;
    }

    /** Renames in this bucket that earlier runs did not end. */
    public static List<RenameJournal> left(Staging staging) {
        List<RenameJournal> left = new ArrayList<>();
        try {
            DataFolder files = staging.files();
            for (String name : files.names()) {
                RenameJournal journal = name.endsWith(RENAME) ? read(files, name) : null;
                if (journal != null && staging.namespace().equals(journal.begun.namespace)) {
                    left.add(journal);
                } else if (journal != null) {
                    journal.close();
                }
            }
        } catch (IOException e) {
            LOG.error("Cannot find the directory renames that a crash interrupted: {}", e.toString());
        }
        return left;
    }

    /** Null if it cannot be read or is empty. */
    private static @Nullable RenameJournal read(DataFolder files, String name) throws IOException {
        Begun[] begun = new Begun[1];
        List<Copied> copied = new ArrayList<>();
        boolean[] decided = new boolean[1];
        RecordLog<Entry> log = RecordLog.open(files, name, FORMAT);
        try {
            log.replay(entry -> {
                switch (entry) {
                    case Begun first -> begun[0] = first;
                    case Copied copy -> copied.add(copy);
                    case Decided _ -> decided[0] = true;
                }
            });
        } catch (RecordLog.UnreadableException e) {
            log.close();
            LOG.error(
                    "A directory was renamed when the machine crashed, and the journal {} cannot be read: {}."
                            + " Some objects may have both names.",
                    files.path(name),
                    e.getMessage());
            return null;
        }
        if (begun[0] == null) { // nothing was done before this was durable
            log.close();
            files.remove(name);
            return null;
        }
        return new RenameJournal(files, name, log, begun[0], copied, decided[0]);
    }

    public Begun begun() {
        return begun;
    }

    /** The copies that an earlier run is known to have made. */
    public List<Copied> copied() {
        return copied;
    }

    /** Whether an earlier run had copied everything, so that the rename must be finished. */
    public boolean isDecided() {
        return isDecided;
    }

    /** Records the copy of an object. Not durable before {@link #decide}. */
    public void copied(ObjectVersion original, ObjectVersion copy) throws IOException {
        log.append(new Copied(original, copy));
    }

    /** Everything is copied. Once this returns, the rename will be finished. */
    public void decide() throws IOException {
        log.append(Decided.DECIDED);
        log.force();
    }

    /** Nothing is left to do. */
    public void end() {
        close();
        try {
            files.remove(name);
            files.force();
        } catch (IOException e) {
            LOG.warn("The journal {} cannot be removed, and is out of date: {}", files.path(name), e.toString());
        }
    }

    /** Leaves the rest to the next mount. */
    @Override
    public void close() {
        try {
            log.close();
        } catch (IOException e) {
            LOG.debug("The journal {} cannot be closed", name, e);
        }
    }

    private static void encode(Entry entry, DataOutputStream to) throws IOException {
        // No record begins with RecordLog's mark.
        switch (entry) {
            case Begun(String namespace, String from, String target) -> {
                to.writeByte(BEGUN);
                to.writeUTF(namespace);
                to.writeUTF(from);
                to.writeUTF(target);
            }
            case Copied(ObjectVersion original, ObjectVersion copy) -> {
                to.writeByte(COPIED);
                encode(original, to);
                encode(copy, to);
            }
            case Decided _ -> to.writeByte(DECIDED);
        }
    }

    private static void encode(ObjectVersion version, DataOutputStream to) throws IOException {
        to.writeUTF(version.key());
        to.writeUTF(version.etag());
        to.writeLong(version.size());
        to.writeLong(version.lastModified().toEpochMilli());
    }

    private static Entry decode(DataInputStream from) throws IOException {
        byte kind = from.readByte();
        return switch (kind) {
            case BEGUN -> new Begun(from.readUTF(), from.readUTF(), from.readUTF());
            case COPIED -> new Copied(version(from), version(from));
            case DECIDED -> Decided.DECIDED;
            default -> throw new IOException("unknown record type: " + kind);
        };
    }

    private static ObjectVersion version(DataInputStream from) throws IOException {
        String key = from.readUTF();
        String etag = from.readUTF();
        long size = from.readLong();
        return new ObjectVersion(key, etag, size, Instant.ofEpochMilli(from.readLong()));
    }
}
