package io.penstock.writeback.survivors;

import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The records of one written file for the mount's next process. The caller holds the file's lock, and calls this before
 * it releases it.
 */
public final class FileRecord {
    private final @Nullable SurvivorLog log;
    private final long number;
    private final File file;

    /** Of the last description; null if there is none yet. */
    private @Nullable Object described;

    private boolean hasEnded;

    /** The file. */
    public interface File {
        /** Equal only if nothing but written bytes, and their places, has changed since. Compared often. */
        Object aspect();

        Survivor.Header header();

        Collection<Block> blocks();

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

    /** Something may have changed other than written bytes and their places. Does nothing before {@link #describe}. */
    public void update() {
        if (log != null && described != null && !hasEnded && !file.aspect().equals(described)) {
            describe();
        }
    }

    /** Describes the whole file, at first and whenever the log is written anew. */
    public void describe() {
        if (log != null && !hasEnded) {
            described = file.aspect();
            List<SurvivorLog.Placed> parts = new ArrayList<>();
            file.blocks().forEach(block -> parts.add(placed(block)));
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
            log.place(number, placed(block));
        }
    }

    private static SurvivorLog.Placed placed(Block block) {
        BlockBuffer buffer = block.buffer();
        int memory = buffer == null ? BlockSource.UNNUMBERED : buffer.number();
        return new SurvivorLog.Placed(
                block.index(),
                new Survivor.Part(
                        memory, block.inMemory().copy(), block.stored().copy()));
    }

    /** Nothing of the file is needed any more. */
    public void end() {
        if (log != null && !hasEnded) {
            log.ended(number);
        }
        hasEnded = true;
    }
}
