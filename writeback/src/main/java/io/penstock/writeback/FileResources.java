package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;

/**
 * What the bytes of all files of a mount share.
 *
 * @param reclaim the memory of blocks, and its eviction
 * @param staging the staging disk
 * @param base the committed versions under the files
 */
record FileResources(Reclaim reclaim, Staging staging, BaseContent base) {
    BlockMemory memory() {
        return reclaim.memory();
    }

    /** The layer below a file that has nothing staged. */
    BaseLayer layer(@Nullable ObjectVersion version) {
        return new BaseLayer(version, base, staging.newFile());
    }
}
