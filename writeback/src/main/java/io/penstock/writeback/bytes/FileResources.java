package io.penstock.writeback.bytes;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.Staging;
import org.jspecify.annotations.Nullable;

/**
 * The resources shared by the bytes of all files of a mount.
 *
 * @param reclaim the memory of blocks, and its eviction
 * @param staging the staging disk
 * @param base the committed versions under the files
 */
public record FileResources(Reclaim reclaim, Staging staging, BaseContent base) {
    public BlockMemory memory() {
        return reclaim.memory();
    }

    /** The layer below a file without staged data. */
    public BaseLayer layer(@Nullable ObjectVersion version) {
        return new BaseLayer(version, base, new StagedFile(staging));
    }
}
