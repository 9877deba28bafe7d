package io.penstock.writeback.survivors;

import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockSource;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.content.RecordedContent;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The records of one written file for the mount's next process. The caller holds the file's lock, and calls this before
 * it releases it.
 */
public final class FileRecord {
    /** Null if nothing is recorded: the mount ends with its process, or the file has ended. */
    private @Nullable SurvivorLog log;

    private final long number;
    private final File file;

    /** Of the last description; null if there is none yet. */
    private @Nullable Object described;

    /** The file. */
    public interface File {
        /** Equal only if nothing but written bytes, and their places, has changed since. Compared often. */
        Object aspect();

        Survivor.Header header();

        RecordedContent content();

        /** Whether ranges in the staging file count. */
        boolean isStored();

        Instant modified();

        /** Calls {@link FileRecord#describe} with the file's lock. */
        void describeAnew();
    }

    /** @param log null if the mount ends with its process */
    public FileRecord(@Nullable SurvivorLog log, long number, File file) {
        this.log = log;
        this.number = number;
        this.file = file;
    }

    /** Something other than written bytes and their places may have changed. Does nothing before {@link #describe}. */
    public void update() {
        if (described != null && log != null && !file.aspect().equals(described)) {
            describe();
        }
    }

    /** Describes the whole file, at first and whenever the log is written anew. */
    public void describe() {
        if (log != null) {
            described = file.aspect();
            RecordedContent content = file.content();
            List<SurvivorLog.Placed> parts = content.blocks().stream()
                    .map(block -> placed(block, file.isStored()))
                    .toList();
            log.describe(number, file.header(), parts);
        }
    }

    /** For the log, while it is written anew. */
    void describeAnew() {
        file.describeAnew();
    }

    /** Bytes of this block were written. */
    public void wrote(Block block, long from, long to) {
        BlockBuffer buffer = block.buffer();
        if (log != null && buffer != null) {
            log.wrote(number, block.index(), buffer.number(), from, to, file.modified());
        }
    }

    /** The bytes of the block are now elsewhere, or in the staging file too. */
    public void moved(Block block) {
        if (log != null) {
            log.place(number, placed(block, file.isStored()));
        }
    }

    private static SurvivorLog.Placed placed(Block block, boolean isStored) {
        BlockBuffer buffer = block.buffer();
        int memory = buffer == null ? BlockSource.UNNUMBERED : buffer.number();
        return new SurvivorLog.Placed(
                block.index(), new Survivor.Part(memory, block.inMemory(), isStored ? block.stored() : new Ranges()));
    }

    /** The file was extended with zeros. */
    public void extended(long size) {
        if (log != null) {
            log.extended(number, size, file.modified());
        }
    }

    /** Nothing of the file is needed any more. */
    public void end() {
        if (log != null) {
            log.ended(number);
            log = null;
        }
    }
}
