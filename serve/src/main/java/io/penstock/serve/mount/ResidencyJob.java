package io.penstock.serve.mount;

import io.penstock.cache.Residency;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.OptionalLong;

/** Finds out how much of each file is in the cache. */
final class ResidencyJob extends FileJob {
    /** Of the current path. */
    private Sum sum = new Sum();

    ResidencyJob(MountedModules modules, FileSelection files) {
        super("residency", modules, files);
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        try (ListedPaths all = files.all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                sum = new Sum();
                files.visit(modules.tree(), modules.links(), path, this);
                if (sum.number > 0 || !sum.hasProblem) {
                    found(new PathResidency(
                            path,
                            sum.number,
                            sum.size,
                            sum.nvme,
                            sum.memory,
                            sum.pinned,
                            WhyAnswer.end(OptionalLong.of(sum.firstEnd))));
                }
            }
        }
    }

    private static final class Sum {
        private long number;
        private long size;
        private long nvme;
        private long memory;
        private long pinned;
        private long firstEnd = Pins.UNTIL_UNPINNED;
        private boolean hasProblem;
    }

    @Override
    public void file(ObjectVersion version) {
        if (!hasBytes(version)) {
            return;
        }
        Residency residency = modules.cache().residency(modules.namespace(), version);
        sum.number++;
        sum.size += version.size();
        sum.nvme += residency.diskBytes();
        sum.memory += residency.memoryBytes();
        OptionalLong until = modules.cache().pins().until(modules.namespace(), version);
        if (until.isPresent()) {
            sum.pinned += version.size();
            sum.firstEnd = Math.min(sum.firstEnd, until.getAsLong());
        }
        bytes.add(version.size());
        done("found");
    }

    @Override
    public synchronized void problem(String path, String why) {
        sum.hasProblem = true;
        super.problem(path, why);
    }
}
