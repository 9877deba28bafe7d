package io.penstock.writeback.bytes;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.RecordedContent;
import io.penstock.writeback.survivors.FileRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the {@linkplain FileRecord record} of a file has of its bytes, and the memory that must not be another's before the
 * record no longer refers to it. It is given the file's content, what is being committed of it, and the layer below. Guarded
 * by the file's lock.
 */
public final class RecordedBytes {
    private final FileRecord record;

    /** Memory that no block has any more. */
    private List<BlockBuffer> unused = new ArrayList<>();

    /** The version that the running commit has made; null until then. */
    private @Nullable ObjectVersion made;

    /** The name of the staged file that the last commit has replaced; empty if there is none. */
    private String replacedStaged = "";

    RecordedBytes(FileRecord record) {
        this.record = record;
    }

    public FileRecord record() {
        return record;
    }

    /** The lock is about to be released. @return memory that others may have then */
    List<BlockBuffer> update() {
        record.update();
        if (unused.isEmpty()) {
            return List.of();
        }
        List<BlockBuffer> free = unused;
        unused = new ArrayList<>();
        return free;
    }

    void unused(BlockBuffer buffer) {
        unused.add(buffer);
    }

    /** The bytes of this block lie elsewhere now. Of no interest if it left the file, or is the version that was made. */
    void moved(Block block, BlockMap content, @Nullable BlockMap committing) {
        boolean isMade = made != null && committing != null && block.equals(committing.block(block.index()));
        if (block.equals(content.block(block.index())) && !isMade) {
            record.moved(block);
        }
    }

    void made(ObjectVersion version) {
        made = version;
    }

    /** The commit has ended with success. */
    void replaced(BaseLayer former) {
        made = null;
        replacedStaged = former.staged().name();
    }

    /** The commit has ended. */
    void released() {
        made = null;
    }

    /** Whether the version below, and nothing in the data file, counts: that of the running commit. */
    public boolean isMade() {
        return made != null;
    }

    /** The version under the bytes. */
    public @Nullable ObjectVersion base(BaseLayer layer) {
        return made == null ? layer.version() : made;
    }

    /** The content above {@link #base}. Its blocks are the file's. */
    public RecordedContent content(BlockMap content, @Nullable BlockMap committing) {
        return made == null || committing == null ? content.recorded() : content.recordedOver(made.size(), committing);
    }

    /** The name of the staged file; empty if there will be another one. */
    public String staged(BaseLayer layer) {
        return made == null ? layer.staged().name() : "";
    }

    /** The name of a staged file that may still be on disk, and does not count; empty if there is none. */
    public String replacedStaged(BaseLayer layer) {
        return made == null ? replacedStaged : layer.staged().name();
    }
}
