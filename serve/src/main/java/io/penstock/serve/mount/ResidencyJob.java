package io.penstock.serve.mount;

import io.penstock.cache.Residency;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Finds out how much of each file is in the cache. */
final class ResidencyJob extends Job {
    private final Contents contents;
    private final FileSelection files;
    private final LongAdder bytes = new LongAdder();

    ResidencyJob(Contents contents, FileSelection files) {
        super("residency", files.paths());
        this.contents = contents;
        this.files = files;
    }

    @Override
    long bytes() {
        return bytes.sum();
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        try (ListedPaths all = files.all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                Sum sum = new Sum();
                files.visit(contents.tree(), contents.links(), path, sum);
                if (sum.number > 0 || !sum.hasProblem) {
                    found(new PathResidency(
                            path, sum.number, sum.size, sum.nvme, sum.memory, sum.pinned, sum.pinnedUntil()));
                }
            }
        }
    }

    private final class Sum implements FileSelection.Visitor {
        private long number;
        private long size;
        private long nvme;
        private long memory;
        private long pinned;
        private long firstEnd = Pins.UNTIL_UNPINNED;
        private boolean hasProblem;

        @Nullable
        String pinnedUntil() {
            return WhyAnswer.end(OptionalLong.of(firstEnd));
        }

        @Override
        public void file(ObjectVersion version) {
            if (!WarmJob.hasBytes(version)) {
                return;
            }
            Residency residency = contents.cache().residency(contents.namespace(), version);
            number++;
            size += version.size();
            nvme += residency.diskBytes();
            memory += residency.memoryBytes();
            OptionalLong until = contents.cache().pins().until(contents.namespace(), version);
            if (until.isPresent()) {
                pinned += version.size();
                firstEnd = Math.min(firstEnd, until.getAsLong());
            }
            bytes.add(version.size());
            done("found");
        }

        @Override
        public void written(String key) {
            problem(FileSelection.shown(contents.tree(), key), "still being written; not in the bucket yet");
        }

        @Override
        public void problem(String path, String why) {
            hasProblem = true;
            ResidencyJob.this.problem(path, why);
        }
    }
}
