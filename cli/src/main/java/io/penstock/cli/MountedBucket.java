package io.penstock.cli;

import io.penstock.cache.CacheStatistics;
import io.penstock.cache.PageCache;
import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.Binding;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.jnr.JnrBinding;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.S3ObjectStore;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadStatistics;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/** A bucket being served: the modules put together, and taken apart again in the opposite order. */
final class MountedBucket implements AutoCloseable {
    private final PageCache cache;
    private final PageFetcher fetcher;
    private final Binding.Taken taken;

    /** What closes what was opened, the last on top. Only touched by the thread that opens and closes. */
    private final Deque<Runnable> closers;

    private MountedBucket(PageCache cache, PageFetcher fetcher, Binding.Taken taken, Deque<Runnable> closers) {
        this.cache = cache;
        this.fetcher = fetcher;
        this.taken = taken;
        this.closers = closers;
    }

    /**
     * Mounts. Whatever can be refused is refused before the kernel hears of it, and then nothing is left open.
     *
     * @throws IOException if the cache folder cannot be used
     */
    static MountedBucket open(MountPlan plan, StartTimes times)
            throws MountException, IOException, ObjectStoreException, InterruptedException {
        Preflight.check(plan.mount());
        Deque<Runnable> closers = new ArrayDeque<>();
        try {
            ObjectStore store = S3ObjectStore.connect(plan.s3(), plan.target().prefix());
            closers.push(store::close);
            times.done("bucket");
            PageCache cache = PageCache.open(plan.cache());
            closers.push(cache::close);
            times.done("cache");
            PageFetcher fetcher = new PageFetcher(store, cache, plan.namespace(), plan.readahead());
            closers.push(fetcher::close);
            Tree tree = new Tree(store, plan.target().prefix(), plan.metadata(), System::nanoTime);
            closers.push(tree::close);
            FileSystem files = new FileSystem(tree, fetcher, plan.files(), Instant.now());
            closers.push(files::close);
            Binding.Taken taken = plan.binding()
                    .mount(() -> KernelBinding.mount(files, plan.mount()), () -> JnrBinding.mount(files, plan.mount()));
            closers.push(taken.mount()::close);
            times.done("mount");
            return new MountedBucket(cache, fetcher, taken, closers);
        } catch (Throwable e) {
            close(closers);
            throw e;
        }
    }

    Mount mount() {
        return taken.mount();
    }

    /** Which binding serves it, and why. */
    String binding() {
        return taken.choice();
    }

    CacheStatistics cacheStatistics() {
        return cache.statistics();
    }

    ReadaheadStatistics readaheadStatistics() {
        return fetcher.statistics();
    }

    /** Unmounts if it is still mounted, even if busy. */
    @Override
    public void close() {
        close(closers);
    }

    private static void close(Deque<Runnable> closers) {
        while (!closers.isEmpty()) {
            closers.pop().run();
        }
    }
}
