package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFile;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Ranges;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data file of a {@link StagedFile}: sparse, with each byte at its offset, created when first needed. Safe for use by
 * any number of threads.
 */
public final class StagedData {
    private static final Logger log = LoggerFactory.getLogger(StagedData.class);

    private sealed interface State {
        /** No file has been created. */
        record Planned() implements State {}

        /** @param file with this name */
        record Made(DataFile file) implements State {}

        /** Its sync has failed: reads may return older bytes, which must not be committed (fsync(2)). */
        record Suspect(DataFile file) implements State {}

        /**
         * It is removed: nothing more is written.
         *
         * @param file that readers may still have open; null if none was created
         */
        record Removed(@Nullable DataFile file) implements State {}
    }

    private final Staging staging;
    private final String name;
    private final int generation;
    private final StagedNames names;

    /** Changed while this is locked; also read while holding the file's lock. */
    private volatile State state = new State.Planned();

    /** Bytes taken on the disk for each written block, whether or not its bytes still count. */
    @GuardedBy("this")
    private final Map<Long, Long> taken = new HashMap<>();

    @GuardedBy("this")
    private long takenBytes;

    /** @param generation of the staged file's data files, beginning with 0 */
    StagedData(Staging staging, String name, int generation, StagedNames names) {
        this.staging = staging;
        this.name = name;
        this.generation = generation;
        this.names = names;
    }

    /**
     * Opens the data file of an earlier run.
     *
     * @param kept the ranges in the journal: bytes after their end are cut off
     */
    public synchronized void found(Ranges kept) throws IOException {
        DataFile found = staging.files().open(name);
        state = new State.Made(found);
        try {
            found.setLength(kept.end());
        } catch (IOException e) {
            log.debug("Bytes after the journalled part of a data file stay", e);
        }
        for (ByteRange range : kept.toList()) {
            for (long block = BlockMap.indexOf(range.offset()); block <= BlockMap.indexOf(range.end() - 1); block++) {
                long from = Math.max(range.offset(), block * Block.BLOCK_SIZE);
                long to = Math.min(range.end(), (block + 1) * Block.BLOCK_SIZE);
                taken.merge(block, to - from, Long::sum);
            }
        }
        takenBytes = kept.length();
        staging.found(takenBytes);
    }

    /** Counts the data files of a staged file. */
    public int generation() {
        return generation;
    }

    /** Name of the file in the staging folder. */
    public String name() {
        return name;
    }

    /** Whether the file has been created. Never waits. */
    public boolean isThere() {
        return file() != null;
    }

    private @Nullable DataFile file() {
        return switch (state) {
            case State.Planned() -> null;
            case State.Made(DataFile file) -> file;
            case State.Suspect(DataFile file) -> file;
            case State.Removed(DataFile file) -> file;
        };
    }

    /** Reserves this many bytes in total for the block. False if there is no space or this was removed. */
    public synchronized boolean take(long block, long bytes) {
        if (state instanceof State.Removed) {
            return false; // the space would never be given back
        }
        long more = Math.max(0, bytes - taken.getOrDefault(block, 0L));
        if (!staging.take(more)) {
            return false;
        }
        taken.merge(block, bytes, Math::max);
        takenBytes += more;
        return true;
    }

    /** False if this was removed, which says nothing about the disk. */
    public boolean write(long position, ByteBuffer from) throws IOException {
        try {
            DataFile to = fileUnlessRemoved();
            if (to == null) {
                return false;
            }
            to.write(position, from);
            staging.succeeded();
            return true;
        } catch (IOException e) {
            staging.failed("write", e);
            throw e;
        }
    }

    public int read(long position, ByteBuffer to) throws IOException {
        DataFile from = file();
        if (from == null) {
            throw new IOException("nothing is staged in " + name);
        }
        return from.read(position, to);
    }

    /** Makes the written data durable. */
    public void force() throws IOException {
        DataFile current = file();
        if (current != null) {
            try {
                current.force();
            } catch (IOException e) {
                suspect();
                throw e;
            }
        }
    }

    private synchronized void suspect() {
        if (state instanceof State.Made(DataFile file)) {
            state = new State.Suspect(file);
        }
    }

    /** Whether reads may return bytes other than those written: they must not be committed. */
    public boolean isSuspect() {
        return state instanceof State.Suspect;
    }

    private DataFile fileForWriting() throws IOException {
        DataFile current = fileUnlessRemoved();
        if (current == null) {
            throw new IOException("used after it was removed: " + name);
        }
        return current;
    }

    private synchronized @Nullable DataFile fileUnlessRemoved() throws IOException {
        return switch (state) {
            case State.Planned() -> {
                DataFile made = staging.files().create(name);
                state = new State.Made(made);
                names.add();
                yield made;
            }
            case State.Made(DataFile file) -> file;
            case State.Suspect(DataFile file) -> file;
            case State.Removed _ -> null;
        };
    }

    /**
     * Gives the file to the cache as the file of the committed version. False if the cache does not take it. No journal
     * may still refer to it.
     */
    public boolean giveTo(PageCache cache, ObjectVersion version, BitSet pages, int[] checksums) {
        try {
            fileForWriting().setLength(version.size());
            return cache.adopt(staging.namespace(), version, staging.files().path(name), pages, checksums);
        } catch (IOException e) {
            log.debug("The written data of {} is not cached", version, e);
            return false;
        }
    }

    /** Frees the space of all other pages. */
    public void freeAllBut(BitSet pages) throws IOException {
        List<Long> blocks;
        synchronized (this) {
            blocks = List.copyOf(taken.keySet());
        }
        int pagesPerBlock = Block.BLOCK_SIZE / PageCache.PAGE_SIZE;
        for (long block : blocks) {
            int end = Math.toIntExact((block + 1) * pagesPerBlock);
            int from = pages.nextClearBit(end - pagesPerBlock);
            while (from < end) {
                int kept = pages.nextSetBit(from);
                int to = kept < 0 ? end : Math.min(kept, end);
                fileForWriting().punch((long) from * PageCache.PAGE_SIZE, (long) (to - from) * PageCache.PAGE_SIZE);
                from = pages.nextClearBit(to);
            }
        }
    }

    /** No longer counts towards the staging limit. */
    public void uncount() {
        long bytes;
        synchronized (this) {
            bytes = takenBytes;
            takenBytes = 0;
        }
        staging.free(bytes);
    }

    /** Removes the file, if there is one. Readers may continue until it is closed. */
    public void remove() {
        synchronized (this) {
            state = new State.Removed(file());
        }
        try {
            if (isThere()) {
                staging.files().remove(name);
            }
        } catch (IOException e) {
            staging.failed("remove a file", e);
        }
        uncount();
    }

    /** Closes the file. If not removed, it stays for the next run. */
    public void close() throws IOException {
        DataFile current = file();
        if (current != null) {
            current.close();
        }
    }
}
