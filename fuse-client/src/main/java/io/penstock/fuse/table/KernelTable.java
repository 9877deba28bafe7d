package io.penstock.fuse.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.MappedLog;
import io.penstock.disk.MappedLogReader;
import io.penstock.disk.RecordEncoder;
import io.penstock.filesystem.kernel.Inherited;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the kernel holds of a mount: inodes with their names and lookup counts, and handles. Each change is recorded
 * before the kernel gets the reply that tells it, so a successor finds all that the kernel may use. When most records are
 * outdated, a thread writes a new file without them.
 *
 * <p>If its file system has no room left, the table ends: the mount goes on without it, and no longer survives its
 * process.
 *
 * <p>Safe for use by any number of threads.
 */
public final class KernelTable implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(KernelTable.class);

    // The kinds of records.
    static final byte TERMS = 1;
    static final byte NODE = 2;
    static final byte FORGOTTEN = 3;
    static final byte FILE = 4;
    static final byte DIRECTORY = 5;
    static final byte RELEASED = 6;
    static final byte LISTED = 7;
    static final byte LAST = 8;
    static final byte TAKEN_BACK = 9;
    static final byte REMOVED = 10;
    static final byte MOVED = 11;
    static final byte CHANGED = 12;
    static final byte TRIED = 13;

    // Bits of a node's record.
    static final byte IS_DIRECTORY = 1;
    static final byte HAS_NAME = 2;

    /** The most bytes of a record without its names. */
    static final int FIXED = 80;

    /** The most bytes of a listed name without the name. */
    private static final int LISTED_NAME = 2 * Long.BYTES + 1 + Integer.BYTES;

    /** A file is written anew once it has grown by this much, and by as much as it had after the last time. */
    private static final long GROWTH = 32L << 20;

    private final Path file;
    private final long growth;
    private final Runnable onLoss;

    /** Null once the table has ended. */
    @GuardedBy("this")
    private @Nullable MappedLog records;

    /** The length from which the file is written anew. */
    @GuardedBy("this")
    private long large;

    @GuardedBy("this")
    private boolean isRewriting;

    @GuardedBy("this")
    private final RecordEncoder encoder = new RecordEncoder();

    private KernelTable(Path file, MappedLog records, long growth, Runnable onLoss) {
        this.file = file;
        this.records = records;
        this.growth = growth;
        this.onLoss = onLoss;
        this.large = growth;
    }

    /**
     * The file of a mount's table.
     *
     * @param device the mount's number, {@code major:minor}
     */
    public static Path file(Path folder, String device) {
        return folder.resolve(device.replace(':', '-') + ".table");
    }

    /**
     * Creates the table of a new mount, in place of another file of this name.
     *
     * @param onLoss run once if the table ends early
     */
    public static KernelTable create(Path file, Terms terms, Runnable onLoss) throws IOException {
        return create(file, terms, GROWTH, onLoss);
    }

    static KernelTable create(Path file, Terms terms, long growth, Runnable onLoss) throws IOException {
        MappedLog records = MappedLog.create(file);
        KernelTable table = new KernelTable(file, records, growth, onLoss);
        new TableState(terms).writeTo(records);
        return table;
    }

    /** Continues a table that an earlier process has left. */
    public static KernelTable resume(Path file, TableState state, Runnable onLoss) throws IOException {
        return new KernelTable(file, MappedLog.reopen(file, state.end()), GROWTH, onLoss);
    }

    /** Removes the file of a table that cannot be used. */
    public static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(next(file));
        } catch (IOException e) {
            log.debug("{} is not removed", file, e);
        }
    }

    /** @param most maximum bytes of the record */
    private synchronized void add(int most, RecordEncoder.Body record) {
        MappedLog to = records;
        if (to == null) {
            return;
        }
        try {
            encoder.append(to, most, record);
            if (to.end() >= large && !isRewriting) {
                isRewriting = true;
                Thread.ofPlatform().daemon().name("fuse table").start(this::rewrite);
            }
        } catch (IOException e) {
            lose(e);
        }
    }

    @GuardedBy("this")
    private void lose(Exception cause) {
        log.warn(
                "This mount no longer survives the end of its process: {} cannot be written ({})",
                file,
                String.valueOf(cause.getMessage()));
        end();
        onLoss.run();
    }

    /** Once only: another mount may have the number by then, and with it the file's name. */
    @GuardedBy("this")
    private void end() {
        MappedLog last = records;
        if (last == null) {
            return;
        }
        records = null;
        remove(file);
        last.close();
    }

    /** An inode was looked up by this name, as often as {@code lookups} says. */
    public void lookedUp(long unique, long node, long parent, byte[] name, boolean isDirectory, long lookups) {
        int bits = HAS_NAME | (isDirectory ? IS_DIRECTORY : 0);
        add(FIXED + name.length, to -> writeNode(to, unique, node, parent, name, bits, lookups));
    }

    static void writeNode(ByteBuffer to, long unique, long node, long parent, byte[] name, int bits, long lookups) {
        to.put(NODE).putLong(unique).putLong(node).putLong(parent).putLong(lookups);
        to.put((byte) bits).put(name);
    }

    /** The kernel has forgotten lookups of an inode. */
    public void forgotten(long node, long lookups) {
        add(FIXED, to -> to.put(FORGOTTEN).putLong(node).putLong(lookups));
    }

    /** The inode of this name, if any, no longer has it. */
    public void removed(long parent, byte[] name) {
        add(FIXED + name.length, to -> to.put(REMOVED).putLong(parent).put(name));
    }

    /** The inode of the first name has the second now. An inode that had that name no longer has one. */
    public void moved(long parent, byte[] name, long newParent, byte[] newName) {
        add(
                FIXED + name.length + newName.length,
                to -> to.put(MOVED)
                        .putLong(parent)
                        .putLong(newParent)
                        .putInt(name.length)
                        .put(name)
                        .put(newName));
    }

    /** A file was opened. */
    public void opened(long unique, Inherited.File open) {
        addFile(FILE, unique, open);
    }

    /** A file reads another version than was recorded. Does nothing if it was closed. */
    public void changed(Inherited.File open) {
        addFile(CHANGED, 0, open);
    }

    private void addFile(byte kind, long unique, Inherited.File open) {
        ObjectVersion version = open.version();
        byte[] key = version == null ? new byte[0] : version.key().getBytes(UTF_8);
        byte[] etag = version == null ? new byte[0] : version.etag().getBytes(UTF_8);
        add(FIXED + key.length + etag.length, to -> {
            to.put(kind).putLong(unique).putLong(open.handle()).putLong(open.node());
            to.putInt(open.flags()).put((byte) (open.isCached() ? 1 : 0)).putInt(open.backing());
            to.putLong(open.content());
            if (version != null) {
                Instant time = version.lastModified();
                to.putLong(version.size()).putLong(time.getEpochSecond()).putInt(time.getNano());
                to.putInt(key.length).put(key).put(etag);
            }
        });
    }

    /** A directory was opened. */
    public void openedDirectory(long unique, long handle, long node) {
        add(FIXED, to -> writeDirectory(to, unique, handle, node));
    }

    static void writeDirectory(ByteBuffer to, long unique, long handle, long node) {
        to.put(DIRECTORY).putLong(unique).putLong(handle).putLong(node);
    }

    /** A handle was closed. */
    public void released(long handle) {
        add(FIXED, to -> to.put(RELEASED).putLong(handle));
    }

    /**
     * What a former process recorded for this request is taken back, as the kernel never got that reply. The effects of
     * serving the request again stay.
     */
    public void takenBack(long unique, Effect effect) {
        long number;
        long lookups;
        switch (effect) {
            case Effect.Lookups(long node, long count) -> {
                number = node;
                lookups = count;
            }
            case Effect.Opened(long handle) -> {
                number = handle;
                lookups = 0;
            }
        }
        add(FIXED, to -> to.put(TAKEN_BACK).putLong(unique).putLong(number).putLong(lookups));
    }

    /** Names of a directory were returned, some of them with a lookup. */
    public void listed(long unique, long handle, long parent, List<ListedName> names) {
        add(lengthOf(names), to -> writeListed(to, unique, handle, parent, names));
    }

    /** The most bytes of the record. */
    static int lengthOf(List<ListedName> names) {
        int most = FIXED;
        for (ListedName name : names) {
            most += LISTED_NAME + name.name.length;
        }
        return most;
    }

    static void writeListed(ByteBuffer to, long unique, long handle, long parent, List<ListedName> names) {
        to.put(LISTED).putLong(unique).putLong(handle).putLong(parent);
        for (ListedName name : names) {
            to.putLong(name.offset).putLong(name.node).put((byte) (name.isDirectory ? 1 : 0));
            to.putInt(name.name.length).put(name.name);
        }
    }

    /** The former process died while it served this request, which is about to be served again. */
    public void tried(long unique) {
        add(FIXED, to -> to.put(TRIED).putLong(unique));
    }

    /** The file that will replace this one. */
    private static Path next(Path file) {
        return file.resolveSibling(file.getFileName() + ".next");
    }

    /** Writes the file anew. Appends go on meanwhile; the last of them are copied while others wait. */
    private void rewrite() {
        Path next = next(file);
        try {
            long until;
            synchronized (this) {
                if (records == null) {
                    return;
                }
                until = records.end();
            }
            TableState state = TableState.own(file, until);
            MappedLog anew = MappedLog.create(next);
            state.writeTo(anew);
            long written = anew.end();
            synchronized (this) {
                MappedLog former = records;
                if (former == null) {
                    anew.close();
                    Files.deleteIfExists(next);
                    return;
                }
                MappedLogReader.read(file, 0, until, Long.MAX_VALUE, false, anew::append);
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
                records = anew;
                large = anew.end() + Math.max(growth, written);
                former.close();
                isRewriting = false;
            }
        } catch (IOException | RuntimeException e) {
            synchronized (this) {
                lose(e);
            }
        }
    }

    /** The mount has ended: nothing is left for a successor. */
    @Override
    public synchronized void close() {
        end();
    }
}
