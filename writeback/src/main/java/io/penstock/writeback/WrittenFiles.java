package io.penstock.writeback;

import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.Writeback.Listener;
import io.penstock.writeback.bytes.BlockStaging;
import io.penstock.writeback.survivors.FileRecord;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The written files of one mount that have not ended. Safe for use by any number of threads. */
final class WrittenFiles implements WrittenFile.Listener {
    private final Set<WrittenFile> files = ConcurrentHashMap.newKeySet();
    private final AtomicInteger failed = new AtomicInteger();
    private volatile @Nullable Listener listener;

    WrittenFile add(WrittenFile file) {
        files.add(file);
        file.begin(); // then, so that the log's rewriting misses none
        return file;
    }

    Stream<BlockStaging> stagings() {
        return files.stream().map(file -> file.bytes().staging());
    }

    Stream<FileRecord> records() {
        return files.stream().map(WrittenFile::record);
    }

    Set<WrittenFile> all() {
        return files;
    }

    /** Number of files abandoned before they were committed. */
    int failed() {
        return failed.get();
    }

    void listen(Listener receiver) {
        listener = receiver;
    }

    @Override
    public void committed(WrittenFile file, StoredObject object) {
        Listener receiver = listener;
        if (receiver != null) {
            receiver.committed(file, object);
        }
    }

    /** Notifies the listener before {@link #drain} returns. */
    @Override
    public void ended(WrittenFile file, WrittenFile.Ending ending) {
        if (ending == WrittenFile.Ending.FAILED) {
            failed.incrementAndGet();
        }
        Listener receiver = listener;
        if (ending != WrittenFile.Ending.DONE && receiver != null) {
            receiver.abandoned(file);
        }
        synchronized (files) {
            files.remove(file);
            files.notifyAll();
        }
    }

    /** Waits until all matching files without handles have ended. */
    void drain(Predicate<WrittenFile> meant) throws InterruptedException {
        synchronized (files) {
            while (files.stream().filter(meant).anyMatch(WrittenFile::isInBackground)) {
                files.wait();
            }
        }
    }

    /**
     * Makes uncommitted content of all files durable in staging, in parallel. An interrupt ends it and sets the flag
     * again.
     *
     * @return the keys of files for which that was impossible
     */
    List<String> stage() {
        Queue<String> failed = new ConcurrentLinkedQueue<>();
        ThreadFactory named = Thread.ofVirtual().name("leave-", 0).factory();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(named)) {
            for (WrittenFile file : files) {
                threads.execute(() -> {
                    if (!file.leave()) {
                        failed.add(file.key());
                    }
                });
            }
        }
        return failed.stream().sorted().toList();
    }

    void stop() {
        files.forEach(WrittenFile::stop);
    }
}
