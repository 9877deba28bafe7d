package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The kernel's caches of pages, names and inodes, for all file systems. */
final class KernelCaches {
    private static final Path DROP = Path.of("/proc/sys/vm/drop_caches");

    private KernelCaches() {}

    /** Whether {@link #drop} is allowed: only for root. */
    static boolean canBeDropped() {
        return Files.isWritable(DROP);
    }

    /** Writes dirty pages to the disk, so that those of an earlier run do not disturb the next one. */
    static void sync() throws IOException, InterruptedException {
        Programs.run(List.of("sync"));
    }

    /** Empties the caches if allowed. Writes dirty pages first, because only clean ones are dropped. */
    static void drop() throws IOException, InterruptedException {
        sync();
        if (canBeDropped()) {
            Files.writeString(DROP, "3");
        }
    }

    /** Drops the pages of one file. Any user may do this if the file has no unwritten changes. */
    static void drop(Path file) throws IOException, InterruptedException {
        Programs.run(List.of("dd", "if=" + file, "iflag=nocache", "count=0", "status=none"));
    }
}
