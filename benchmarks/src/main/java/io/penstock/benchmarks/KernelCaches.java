package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The kernel's caches of pages, names and inodes, all file systems' alike. */
final class KernelCaches {
    private static final Path DROP = Path.of("/proc/sys/vm/drop_caches");

    private KernelCaches() {}

    /** Whether {@link #drop} is allowed: to root. */
    static boolean canBeDropped() {
        return Files.isWritable(DROP);
    }

    /** Writes dirty pages to the disk, so that an earlier run's do not disturb the next one. */
    static void sync() throws IOException, InterruptedException {
        Programs.run(List.of("sync"));
    }

    /** Empties them, where that is allowed; dirty pages are written first, because only clean ones are dropped. */
    static void drop() throws IOException, InterruptedException {
        sync();
        if (canBeDropped()) {
            Files.writeString(DROP, "3");
        }
    }

    /** Drops the pages of one file. Any user may do that, if the file has no unwritten changes. */
    static void drop(Path file) throws IOException, InterruptedException {
        Programs.run(List.of("dd", "if=" + file, "iflag=nocache", "count=0", "status=none"));
    }
}
