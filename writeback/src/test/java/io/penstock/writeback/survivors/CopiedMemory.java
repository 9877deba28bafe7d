package io.penstock.writeback.survivors;

import io.penstock.disk.MappedFile;
import io.penstock.disk.MappedLog;
import io.penstock.writeback.content.Block;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Memory as another process finds it if this one is killed now. */
public final class CopiedMemory {
    /** The most of each that tests use. */
    private static final int BLOCKS = 8;

    private static final int LOG_CHUNKS = 3;

    private CopiedMemory() {}

    public static Outliving of(Outliving of) {
        SurvivorMemory original = of.memory();
        try {
            MappedFile copy = MappedFile.inMemory("copy");
            for (int block = 0; block < BLOCKS; block++) {
                copy(original, copy, (long) block * Block.BLOCK_SIZE, Block.BLOCK_SIZE);
            }
            for (int chunk = 0; chunk < LOG_CHUNKS; chunk++) {
                copy(original, copy, SurvivorMemory.LOGS + (long) chunk * MappedLog.CHUNK, MappedLog.CHUNK);
                copy(
                        original,
                        copy,
                        SurvivorMemory.LOGS + SurvivorMemory.LOG + (long) chunk * MappedLog.CHUNK,
                        MappedLog.CHUNK);
            }
            copy(original, copy, SurvivorMemory.LOGS + 2 * SurvivorMemory.LOG, Integer.BYTES);
            return Outliving.resume(SurvivorMemory.of(copy.descriptor()), () -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copy(SurvivorMemory from, MappedFile to, long offset, int length) throws IOException {
        to.map(offset, length).put(from.file().map(offset, length));
    }
}
