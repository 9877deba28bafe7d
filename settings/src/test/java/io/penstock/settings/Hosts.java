package io.penstock.settings;

import java.nio.file.Path;
import java.util.Map;

/** Machines for tests. */
final class Hosts {
    private static final long MEMORY = 48L << 30;
    private static final int PROCESSORS = 16;

    static final Host USER = user(Map.of());
    static final Host ROOT = new Host(Map.of(), Path.of("/root"), 0, 0, MEMORY, PROCESSORS);

    private Hosts() {}

    static Host user(Map<String, String> environment) {
        return new Host(environment, Path.of("/home/ann"), 1000, 1001, MEMORY, PROCESSORS);
    }

    static Host withMemory(long bytes) {
        return of(bytes, PROCESSORS);
    }

    static Host of(long memoryBytes, int processors) {
        return new Host(Map.of(), Path.of("/home/ann"), 1000, 1001, memoryBytes, processors);
    }
}
