package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;

/** What the process of a mount may take: open files and memory. */
record ProcessLimits(Configuration configuration) {
    /** A mount has up to two descriptors for each object in use, and one for each connection. */
    private static final long FEW_FILES = 16_384;

    /** The files that every mount has open: its log, indexes, jars and devices. */
    private static final long OWN_FILES = 256;

    private static final long SMALL_FILE = 4L << 30;

    /** What the process needs in addition to memory and write.memory; the setting's help says the same. */
    private static final long OWN_BYTES = 300L << 20;

    /** The windows of this many streams should fit into memory. */
    private static final long FEW_STREAMS = 4;

    /** Open files, and the size of files. */
    void files(Machine.Facts machine, Findings findings) {
        Machine.Limits limits = machine.limits();
        long least = configuration.get(Settings.CONNECTIONS) + OWN_FILES;
        String openFiles = "a process may have " + limits.openFiles() + " open files (ulimit -Hn)";
        String remedy = "Raise it: LimitNOFILE=1048576 in the systemd unit, or nofile in /etc/security/limits.conf";
        if (limits.openFiles() < least) {
            findings.error(
                    openFiles + ", fewer than the " + least + " that s3.connections and the mount's own files need",
                    "Requests fail with \"Too many open files\"",
                    remedy);
        } else if (limits.openFiles() < FEW_FILES) {
            findings.warning(
                    openFiles, "A mount needs up to two for each file in use, and one for each connection", remedy);
        }
        if (limits.fileBytes() < SMALL_FILE) {
            findings.warning(
                    "a process may write files of up to " + ByteSizes.about(limits.fileBytes()) + " (ulimit -f)",
                    "Larger files are neither cached whole nor staged",
                    "ulimit -f unlimited, or LimitFSIZE=infinity in the systemd unit");
        }
        if (findings.isEmpty()) {
            findings.ok(limits.openFiles() + " open files; files "
                    + (limits.fileBytes() == Long.MAX_VALUE
                            ? "of any size"
                            : "up to " + ByteSizes.about(limits.fileBytes()))
                    + "; locked memory "
                    + (limits.lockedBytes() == Long.MAX_VALUE ? "unlimited" : ByteSizes.about(limits.lockedBytes()))
                    + " (a mount locks none)");
        }
    }

    /** The memory of the machine or the cgroup, compared with the settings. */
    void memory(Machine.Facts machine, Findings findings) {
        long pages = configuration.get(Settings.MEMORY);
        long blocks = configuration.get(Settings.READ_ONLY) ? 0 : configuration.get(WriteSettings.MEMORY);
        long needed = pages + blocks + OWN_BYTES;
        if (needed > machine.memoryBytes()) {
            findings.error(
                    "memory, write.memory and the process itself take up to " + ByteSizes.about(needed)
                            + ", but the machine or the cgroup has " + ByteSizes.about(machine.memoryBytes()),
                    "The kernel kills the mount when it uses that much",
                    "Lower memory or write.memory, or raise the cgroup's limit (memory.max)");
        } else if (needed + names() > machine.memoryBytes()) {
            findings.warning(
                    "memory, write.memory, the process itself and the names of very many objects take up to "
                            + ByteSizes.about(needed + names()) + ", but the machine or the cgroup has "
                            + ByteSizes.about(machine.memoryBytes()),
                    "The kernel kills the mount if the names of the whole bucket take that much"
                            + " (metadata.preload-memory, twice that with metadata.refresh)",
                    "Lower metadata.preload-memory, memory or write.memory, or raise the cgroup's limit (memory.max)");
        }
        streams(pages, findings);
        if (findings.isEmpty()) {
            findings.ok(
                    "a mount takes up to " + ByteSizes.about(needed) + " of " + ByteSizes.about(machine.memoryBytes())
                            + "; with very many objects, up to " + ByteSizes.about(names())
                            + " more for their names, and a heap of " + ByteSizes.about(machine.heapBytes()));
        }
    }

    /** The bytes of the tables of names, outside the heap. There are two while the bucket is listed again. */
    private long names() {
        if (configuration.get(Settings.PRELOAD).equals("off")) {
            return 0;
        }
        long table = configuration.get(Settings.PRELOAD_MEMORY);
        return configuration.get(Settings.REFRESH).isZero() ? table : 2 * table;
    }

    private void streams(long pages, Findings findings) {
        long window = configuration.get(Settings.MAX_WINDOW);
        long streams = window == 0 ? Long.MAX_VALUE : pages / 2 / window;
        boolean areDefaults = configuration.origin(Settings.MEMORY) instanceof Origin.Default
                && configuration.origin(Settings.MAX_WINDOW) instanceof Origin.Default;
        if (streams >= FEW_STREAMS || (streams > 0 && areDefaults)) {
            return;
        }
        String found = "half of memory (" + ByteSizes.about(pages / 2) + ") holds "
                + (streams == 0 ? "no window" : streams == 1 ? "1 window" : streams + " windows")
                + " of readahead.max-window (" + ByteSizes.print(window) + ")";
        String why = "Streams share that half, so each reads ahead less than readahead.max-window";
        String remedy = "Raise memory to " + ByteSizes.print(2 * FEW_STREAMS * window) + " for " + FEW_STREAMS
                + " streams, or lower readahead.max-window";
        if (streams == 0) {
            findings.warning(found, why, remedy);
        } else {
            findings.note(found, why, remedy);
        }
    }
}
