package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;

/** The memory of the machine or the cgroup, compared with the settings. */
record MemoryCheck(Configuration configuration) implements Check<Machine.Facts> {
    /** What the process needs in addition to memory and write.memory; the setting's help says the same. */
    private static final long OWN_BYTES = 300L << 20;

    /** The windows of this many streams should fit into memory. */
    private static final long FEW_STREAMS = 4;

    @Override
    public void examine(Machine.Facts machine, Findings findings) {
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
