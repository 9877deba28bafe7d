package io.penstock.cli.doctor;

import io.penstock.cli.config.ByteSizes;
import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.Settings;
import io.penstock.cli.config.WriteSettings;

/** The memory of the machine, or of the cgroup, against the settings. */
final class MemoryCheck implements Check<MachineFacts> {
    /** The process needs that beside memory and write.memory; the setting's help says so. */
    private static final long OWN_BYTES = 300L << 20;

    /** Streams that the windows are to be large enough for. */
    private static final long FEW_STREAMS = 4;

    private final Configuration configuration;

    MemoryCheck(Configuration configuration) {
        this.configuration = configuration;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public void examine(MachineFacts machine, Findings findings) {
        long pages = configuration.get(Settings.MEMORY);
        long blocks = configuration.get(Settings.READ_ONLY) ? 0 : configuration.get(WriteSettings.MEMORY);
        long needed = pages + blocks + OWN_BYTES;
        if (needed > machine.memoryBytes()) {
            findings.error(
                    "memory, write.memory and the process itself take up to " + ByteSizes.about(needed)
                            + ", and the machine or the cgroup has " + ByteSizes.about(machine.memoryBytes()),
                    "The kernel ends the mount when they are used",
                    "Lower memory or write.memory, or raise the cgroup's limit (memory.max)");
        }
        streams(pages, findings);
        if (findings.isEmpty()) {
            findings.ok(
                    "a mount takes up to " + ByteSizes.about(needed) + " of " + ByteSizes.about(machine.memoryBytes())
                            + ", and its heap " + ByteSizes.about(machine.heapBytes())
                            + " where the names of very many objects need it");
        }
    }

    private void streams(long pages, Findings findings) {
        long window = configuration.get(Settings.MAX_WINDOW);
        long streams = window == 0 ? Long.MAX_VALUE : pages / 2 / window;
        if (streams >= FEW_STREAMS) {
            return;
        }
        String found = "half of memory, " + ByteSizes.about(pages / 2) + ", holds "
                + (streams == 0 ? "no" : Long.toString(streams)) + " window of readahead.max-window, "
                + ByteSizes.print(window);
        String why = "Streams share that half: each is read ahead less than readahead.max-window says";
        String remedy = "Raise memory to " + ByteSizes.print(2 * FEW_STREAMS * window) + " for " + FEW_STREAMS
                + " streams, or lower readahead.max-window";
        if (streams == 0) {
            findings.warning(found, why, remedy);
        } else {
            findings.note(found, why, remedy);
        }
    }
}
