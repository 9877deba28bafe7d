package io.penstock.benchmarks;

import com.sun.management.ThreadMXBean;
import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.fuse.Binding;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.jnr.JnrBinding;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * Serves one file from memory through the whole file system and one binding, in a separate JVM, as a user's mount does
 * once all data is cached. For each line of input it prints the requests so far and the bytes allocated for them. It
 * unmounts at the end of its input.
 */
final class MemoryServer {
    private static final int CALL = 1 << 20;
    private static final long MIB = 1 << 20;

    private MemoryServer() {}

    /** @param args binding, mount point, cache folder, file size in bytes */
    public static void main(String[] args) throws Exception {
        long size = Long.parseLong(args[3]);
        OneObjectStore store = new OneObjectStore(size);
        Duration ttl = Duration.ofMinutes(10);
        try (PageCache cache = PageCache.open(new CacheConfig(Path.of(args[2]), 2 * size, 0, size + 256 * MIB));
                PageFetcher fetcher = new PageFetcher(store, cache, "memory", ReadaheadConfig.DEFAULT);
                Tree tree = new Tree(store, "", new MetadataConfig(ttl, ttl), System::nanoTime);
                FileSystem files = new FileSystem(
                        tree,
                        fetcher,
                        KeptAttributes.none(store, tree),
                        new FileSystemConfig(
                                0, 0, 0644, 0755, AllowedUsers.ALL, Long.MAX_VALUE, Passthrough.OFF, 0, false),
                        Instant.now(),
                        null)) {
            readAll(files);
            MountOptions options =
                    new MountOptions(Path.of(args[1]), "memory", true, false, false, ttl, CALL, 32, null, false);
            try (Mount mount = Binding.valueOf(args[0])
                    .mount(
                            () -> KernelBinding.mount(files, options, CallObserver.NONE),
                            () -> new JnrBinding().mount(files, options, CallObserver.NONE))
                    .mount()) {
                serve(mount);
                mount.unmount(Duration.ofSeconds(10));
            }
        }
    }

    private static void serve(Mount mount) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        do {
            System.out.println(mount.requests() + " " + threads.getTotalThreadAllocatedBytes());
        } while (input.readLine() != null);
    }

    /** Brings the whole file into memory. */
    private static void readAll(FileSystem files) throws Exception {
        long inode = files.lookup(FileSystem.ROOT, OneObjectStore.KEY).inode();
        long handle = files.open(inode, 0).handle();
        ByteBuffer buffer = ByteBuffer.allocateDirect(CALL);
        for (long at = 0; files.read(handle, at, buffer.clear(), null, true) > 0; at += buffer.position()) {}
        files.release(handle);
        files.forget(inode, 1);
    }
}
