package io.penstock.writeback.upload;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All uploads of one mount: their threads, limits and counters. Safe for use by any number of threads. */
public final class Uploads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);

    /** How long unmounting waits for uploads to be aborted. The bucket's lifecycle rule removes the rest. */
    private static final int ABORT_SECONDS = 5;

    private final ObjectStore store;
    private final long largestObjectBytes;
    private final WritebackLimits limits;
    private final LongSupplier nanoTime;
    private final UploadGate gate;

    /** Never changes back from equal. */
    private volatile PartSizes partSizes;

    private final LongAdder uploadedBytes = new LongAdder();
    private final LongAdder copiedBytes = new LongAdder();

    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("upload-", 0).factory());

    /** The sizes that the parts of an upload may have. */
    public enum PartSizes {
        /** Small ones first, larger ones as the file grows, so that 10,000 are enough for any file. */
        GROWING,
        /** One size for all but the last, as some stores require, such as Cloudflare R2. */
        EQUAL
    }

    /**
     * @param partSizes initial sizes
     * @param yields whether programs wait for something else now
     */
    public Uploads(
            ObjectStore store,
            PartSizes partSizes,
            long largestObjectBytes,
            WritebackLimits limits,
            BooleanSupplier yields,
            LongSupplier nanoTime) {
        this.store = store;
        this.partSizes = partSizes;
        this.largestObjectBytes = largestObjectBytes;
        this.limits = limits;
        this.nanoTime = nanoTime;
        this.gate = new UploadGate(limits, yields);
    }

    /** @param base the version to which the content's clean ranges belong; null if there is none */
    public FileUpload begin(
            @Nullable ObjectVersion base, FileContent content, TargetProperties properties, UploadJournal journal) {
        long size = base == null ? 0 : base.size();
        long partBytes = limits.get().partBytes();
        PartLayout layout = switch (partSizes) {
            case GROWING -> PartLayout.of(size, partBytes, largestObjectBytes);
            case EQUAL -> PartLayout.equal(2 * size, partBytes); // it may grow
        };
        return new FileUpload(this, properties, content, journal, layout, null);
    }

    /** Resumes an upload that an earlier run began, as far as the store still has it. */
    public FileUpload resume(
            JournalledUpload earlier, FileContent content, TargetProperties properties, UploadJournal journal) {
        return new FileUpload(this, properties, content, journal, earlier.layout(), earlier);
    }

    /** The layout of content of this size without uploaded parts. */
    public PartLayout planned(long size, long partBytes) {
        return switch (partSizes) {
            case GROWING -> PartLayout.planned(size, partBytes);
            case EQUAL -> PartLayout.equal(size, partBytes);
        };
    }

    /** The store has refused parts of different sizes. */
    void demandEqualParts() {
        if (partSizes != PartSizes.EQUAL) {
            partSizes = PartSizes.EQUAL;
            LOG.info(
                    "{} requires parts of equal size, except the last; from now on, uploads have such parts",
                    store.bucket());
        }
    }

    public ObjectStore store() {
        return store;
    }

    public long nanoTime() {
        return nanoTime.getAsLong();
    }

    UploadGate.FileQueue newQueue() {
        return gate.newQueue();
    }

    /** Runs the task on a new thread; not at all once this is closed. */
    public void run(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("The mount ends: no more uploads begin", e);
        }
    }

    /**
     * Aborts uploads that will not be resumed, in the background.
     *
     * @param aborted runs once all are aborted
     */
    public void abort(List<MultipartUpload> orphans, Runnable aborted) {
        run(() -> {
            try {
                for (MultipartUpload upload : orphans) {
                    store.abort(upload);
                }
                aborted.run();
            } catch (ObjectStoreException e) {
                LOG.warn(
                        "An upload that is no longer needed could not be aborted, and stays until the next mount: {}",
                        e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    public void uploaded(long bytes) {
        uploadedBytes.add(bytes);
    }

    public void copied(long bytes) {
        copiedBytes.add(bytes);
    }

    /** Bytes sent to the store so far, in parts that have arrived. */
    public long uploadedBytes() {
        return uploadedBytes.sum();
    }

    /** Bytes copied within the store so far. */
    public long copiedBytes() {
        return copiedBytes.sum();
    }

    /** Number of running uploads. */
    public int running() {
        return gate.running();
    }

    /** Ends the requests in flight. Running aborts have a moment to complete. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            threads.awaitTermination(ABORT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
    }
}
