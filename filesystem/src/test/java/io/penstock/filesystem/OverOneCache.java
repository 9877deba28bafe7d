package io.penstock.filesystem;

import io.penstock.cache.PageCache;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Tests whose mounts share one small cache per class: opening a cache takes as long as many a test. */
public abstract class OverOneCache {
    protected static PageCache cache;

    @BeforeAll
    protected static void openCache(@TempDir Path folder) throws Exception {
        cache = Mounted.cache(folder);
    }

    @AfterAll
    protected static void closeCache() {
        cache.close();
    }
}
