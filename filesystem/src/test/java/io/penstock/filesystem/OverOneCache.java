package io.penstock.filesystem;

import io.penstock.cache.PageCache;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Tests whose mounts have one small cache in each class: opening one takes as long as many a test. */
abstract class OverOneCache {
    static PageCache cache;

    @BeforeAll
    static void openCache(@TempDir Path folder) throws Exception {
        cache = Mounted.cache(folder);
    }

    @AfterAll
    static void closeCache() {
        cache.close();
    }
}
