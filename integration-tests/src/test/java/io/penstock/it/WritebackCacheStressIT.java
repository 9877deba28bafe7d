package io.penstock.it;

import java.util.List;

/** The same tests where the kernel collects written bytes. */
final class WritebackCacheStressIT extends WriteStressIT {
    @Override
    List<String> options() {
        return List.of("--fuse-writeback-cache", "--binding", "kernel");
    }
}
