package io.penstock.it;

import java.util.List;

/** The same where the kernel collects what is written. */
final class WritebackCacheStressIT extends WriteStressIT {
    @Override
    List<String> options() {
        return List.of("--fuse-writeback-cache", "--binding", "kernel");
    }
}
