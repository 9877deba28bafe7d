package io.penstock.serve.mount;

import io.penstock.cache.Residency;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/** Evicts files from NVMe and memory. Written data is not touched: it is in the staging folder until it is uploaded. */
final class EvictJob extends Job {
    private final Contents contents;
    private final FileSelection files;
    private final boolean force;
    private final LongAdder bytes = new LongAdder();

    /** @param force whether to remove pins */
    EvictJob(Contents contents, FileSelection files, boolean force) {
        super("evict", files.paths());
        this.contents = contents;
        this.files = files;
        this.force = force;
    }

    @Override
    long bytes() {
        return bytes.sum();
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        files.visit(contents, new Evicting());
    }

    private final class Evicting implements FileSelection.Visitor {
        @Override
        public void file(ObjectVersion version) throws IOException, InterruptedException {
            if (force) {
                boolean _ = contents.cache().pins().unpin(contents.namespace(), version.key());
            } else if (contents.cache().pins().isPinned(contents.namespace(), version)) {
                problem(FileSelection.shown(contents.tree(), version.key()), "pinned; unpin it, or add --force");
                return;
            }
            Residency residency = contents.cache().residency(contents.namespace(), version);
            bytes.add(residency.diskBytes());
            contents.cache().invalidate(contents.namespace(), version);
            done(residency.diskBytes() + residency.memoryBytes() > 0 ? "evicted" : "not_cached");
        }

        @Override
        public void written(String key) {
            problem(FileSelection.shown(contents.tree(), key), "still being written; not in the bucket yet");
        }

        @Override
        public void problem(String path, String why) {
            EvictJob.this.problem(path, why);
        }
    }
}
