package io.penstock.filesystem;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests that each have their own writable mount. */
abstract class OverWritableMount extends OverOneCache {
    @TempDir
    Path staging;

    Mounted m;

    @BeforeEach
    final void mount() {
        m = Mounted.writable(cache, staging);
    }

    @AfterEach
    final void unmount() {
        m.close();
    }
}
