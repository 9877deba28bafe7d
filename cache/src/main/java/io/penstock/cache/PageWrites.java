package io.penstock.cache;

import io.penstock.cache.IndexRecord.PagesStored;
import io.penstock.disk.DiskHealth;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings pages to the {@link PageStore}. Writing happens behind the readers' backs, on a few threads of its own, and
 * whatever goes wrong in it leaves the page in memory as long as there is room and Missing after that. Safe for use by any
 * number of threads.
 */
final class PageWrites {
    private static final Logger log = LoggerFactory.getLogger(PageWrites.class);

    private final PageStore store;
    private final RecordLog<IndexRecord> index;
    private final DiskSpace space;
    private final DiskHealth health;
    private final DiskTasks tasks;
    private final ObjectTable table;
    private final PageMemory memory;
    private final Counters counters;
    private final AtomicLong unwrittenBytes = new AtomicLong();

    PageWrites(
            PageStore store,
            RecordLog<IndexRecord> index,
            DiskSpace space,
            DiskHealth health,
            DiskTasks tasks,
            ObjectTable table,
            PageMemory memory,
            Counters counters) {
        this.store = store;
        this.index = index;
        this.space = space;
        this.health = health;
        this.tasks = tasks;
        this.table = table;
        this.memory = memory;
        this.counters = counters;
    }

    /** Has a complete page written, and from then on keeps it in memory only while there is room. */
    void write(ObjectPages object, PageFrame frame) {
        int bytes = frame.piece().size();
        if (unwrittenBytes.addAndGet(bytes) > memory.unwrittenLimit() // more stay in memory only
                || !health.allowsWrite()
                || !table.retain(object)) {
            unwrittenBytes.addAndGet(-bytes);
            leaveUnstored(frame);
            return;
        }
        boolean accepted = tasks.execute("write a page", () -> {
            try {
                writeBehind(object, frame);
            } finally {
                unwrittenBytes.addAndGet(-bytes);
                store.releaseObject(object);
            }
        });
        if (!accepted) {
            unwrittenBytes.addAndGet(-bytes);
            leaveUnstored(frame);
            store.releaseObject(object);
        }
    }

    private void leaveUnstored(PageFrame frame) {
        counters.unstoredPages.increment();
        memory.keep(frame);
        frame.release();
    }

    private void writeBehind(ObjectPages object, PageFrame frame) throws IOException {
        boolean stored = false;
        try {
            stored = writeAndNote(object, frame);
        } finally {
            if (!stored) {
                counters.unstoredPages.increment();
            }
            memory.keep(frame);
            frame.release();
        }
    }

    private boolean writeAndNote(ObjectPages object, PageFrame frame) throws IOException {
        Extent extent = object.stored().extentForWriting(frame.page());
        if (!extent.pin()) {
            return false; // being evicted just now
        }
        try {
            if (!space.take(extent, frame.page())) {
                return false;
            }
            int checksum = PageStore.checksumOf(frame.bytes());
            writeData(object, frame);
            extent.setStored(frame.page(), checksum);
            index.append(new PagesStored(object.fileName(), frame.page(), 1, IntBuffer.wrap(new int[] {checksum})));
            store.shortenIndex();
            health.succeeded();
            return true;
        } finally {
            store.unpin(extent);
        }
    }

    /** Takes over a file with the object's pages. False if it is not the object's then. */
    boolean adopt(ObjectPages object, Path source, BitSet pages, int[] checksums) {
        try {
            if (!health.allowsWrite() || !object.adoptFile(source)) {
                return false;
            }
        } catch (IOException e) { // on another file system, or one without links: no fault of this disk
            log.debug("The file {} is not taken over", source, e);
            return false;
        }
        try {
            for (int page = pages.nextSetBit(0); page >= 0; ) {
                Extent extent = object.stored().extentForWriting(page);
                adopt(extent, pages, checksums);
                page = pages.nextSetBit(extent.firstPage() + extent.pages());
            }
            store.shortenIndex();
            health.succeeded();
            return true;
        } catch (IOException e) {
            health.failed("take over a written file", e);
            return true; // it is the object's, and the pages that are not stored are Missing
        }
    }

    private void adopt(Extent extent, BitSet pages, int[] checksums) throws IOException {
        int end = extent.firstPage() + extent.pages();
        if (!extent.pin()) { // being evicted just now
            for (int page = pages.nextSetBit(extent.firstPage()); page >= 0 && page < end; ) {
                leaveOut(extent.object(), page);
                page = pages.nextSetBit(page + 1);
            }
            return;
        }
        try {
            int stored = 0;
            IntBuffer ofStored = IntBuffer.allocate(extent.pages());
            for (int page = pages.nextSetBit(extent.firstPage()); page >= 0 && page < end; ) {
                if (space.take(extent, page)) {
                    extent.setStored(page, checksums[page]);
                    stored |= 1 << (page - extent.firstPage());
                    ofStored.put(checksums[page]);
                } else {
                    leaveOut(extent.object(), page);
                }
                page = pages.nextSetBit(page + 1);
            }
            if (stored != 0) {
                index.append(new PagesStored(extent.object().fileName(), extent.firstPage(), stored, ofStored.flip()));
            }
        } finally {
            store.unpin(extent);
        }
    }

    /** The page is in the file that was taken over, but there is no space for it. */
    private void leaveOut(ObjectPages object, int page) throws IOException {
        counters.unstoredPages.increment();
        space.freeUncounted(object, page);
    }

    private void writeData(ObjectPages object, PageFrame frame) throws IOException {
        long position = PageGeometry.start(frame.page());
        try {
            object.fileForWriting().write(position, frame.bytes());
        } catch (IOException e) {
            if (!space.makeRoom(frame.length())) {
                throw e;
            }
            object.fileForWriting().write(position, frame.bytes());
        }
    }
}
