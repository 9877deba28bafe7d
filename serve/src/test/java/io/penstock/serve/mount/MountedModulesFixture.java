package io.penstock.serve.mount;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The parts of a mount that commands about its files use, without the mount. */
abstract class MountedModulesFixture {
    static final Path MOUNT = Path.of("/mnt/data");
    static final String NAMESPACE = "memory/bucket";
    static final long MIB = 1 << 20;

    @TempDir
    Path folder;

    final InMemoryObjectStore store = new InMemoryObjectStore();
    PageCache cache;
    PageFetcher fetcher;
    Tree tree;
    KeptAttributes kept;
    MountedModules modules;

    @BeforeEach
    void open() throws IOException {
        cache = PageCache.open(new CacheConfig(folder.resolve("cache"), 64 * MIB, 0, 16 * MIB));
        fetcher = new PageFetcher(store, cache, NAMESPACE, new ReadaheadConfig(8 * MIB, 2 * MIB, 8, MIB));
        tree = new Tree(store, "", new MetadataConfig(Duration.ofMinutes(1), Duration.ofMinutes(1)), System::nanoTime);
        kept = new KeptAttributes(
                store, new DirectoryMarkers(store, tree, System::nanoTime), KeptAttributes.Keeping.ALL, null);
        FileSystem files = new FileSystem(
                tree,
                fetcher,
                kept,
                new FileSystemConfig(0, 0, 0644, 0755, AllowedUsers.ALL, Long.MAX_VALUE, Passthrough.OFF, 0, false),
                Instant.EPOCH,
                null);
        SymbolicLinks links = new SymbolicLinks(kept, tree.root(), MOUNT);
        modules = new MountedModules(tree, cache, fetcher, files, links, NAMESPACE, null, null);
    }

    @AfterEach
    void close() {
        kept.close();
        fetcher.close();
        tree.close();
        cache.close();
    }
}
