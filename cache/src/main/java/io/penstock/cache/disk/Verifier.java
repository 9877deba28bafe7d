package io.penstock.cache.disk;

import io.penstock.core.NativeMemory;
import io.penstock.disk.DirectIo;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the pages that an earlier process stored, on one background thread. Damaged pages are Missing from then on.
 * Its memory, one page, is not part of the cache's budget.
 */
final class Verifier {
    private static final Logger log = LoggerFactory.getLogger(Verifier.class);

    private static final long CLOSE_SECONDS = 10;

    private final PageStore store;
    private final ObjectTable table;

    /** Used only by the thread. */
    private @Nullable ByteBuffer memory;

    /** Objects that wait to be checked, or are being checked now. */
    private final Set<ObjectExtents> queued = ConcurrentHashMap.newKeySet();

    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("penstock-verify").factory());

    Verifier(PageStore store, ObjectTable table) {
        this.store = store;
        this.table = table;
    }

    /** Queues a check of the object's stored pages. */
    void verify(ObjectExtents object) {
        if (!queued.add(object)) {
            return;
        }
        if (!table.retain(object)) {
            queued.remove(object);
            return;
        }
        try {
            thread.execute(() -> {
                try {
                    verifyAll(object);
                } finally {
                    ended(object);
                }
            });
        } catch (RejectedExecutionException e) { // the cache is being closed
            ended(object);
        }
    }

    private void ended(ObjectExtents object) {
        queued.remove(object);
        table.release(object);
    }

    private void verifyAll(ObjectExtents object) {
        for (Extent extent : object.stored().extents()) {
            for (int page = extent.firstPage(); page < extent.firstPage() + extent.pages(); page++) {
                if (thread.isShutdown()) {
                    return;
                }
                if (extent.has(page) && !extent.isVerified(page)) {
                    if (!store.load(new StoredPage.InOwnFile(extent, page), memory(object.pageLength(page)))) {
                        return; // no longer whole
                    }
                }
            }
        }
    }

    private ByteBuffer memory(int bytes) {
        ByteBuffer all = memory;
        if (all == null) {
            all = NativeMemory.allocate(NativeMemory.Share.PAGES, PageGeometry.PAGE_SIZE, DirectIo.ALIGNMENT);
            memory = all;
        }
        return all.slice(0, bytes);
    }

    void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn("The cache's disk is slow: a page could not be read in {} s", CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
