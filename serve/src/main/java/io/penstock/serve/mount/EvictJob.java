package io.penstock.serve.mount;

import io.penstock.cache.Residency;
import io.penstock.core.ObjectVersion;
import java.io.IOException;

/** Evicts files from NVMe and memory. Written data is not touched: it is in the staging folder until it is uploaded. */
final class EvictJob extends FileJob {
    private final boolean force;

    /** @param force whether to remove pins */
    EvictJob(MountedModules modules, FileSelection files, boolean force) {
        super("evict", modules, files);
        this.force = force;
    }

    @Override
    public void file(ObjectVersion version) throws IOException, InterruptedException {
        if (force) {
            boolean _ = modules.cache().pins().unpin(modules.namespace(), version.key());
        } else if (modules.cache().pins().isPinned(modules.namespace(), version)) {
            problem(shown(version.key()), "pinned; unpin it, or add --force");
            return;
        }
        Residency residency = modules.cache().residency(modules.namespace(), version);
        bytes.add(residency.diskBytes());
        modules.cache().invalidate(modules.namespace(), version);
        done(residency.diskBytes() + residency.memoryBytes() > 0 ? "evicted" : "not_cached");
    }
}
