package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * tf.data: as many files as there are readers are read concurrently, each sequentially in calls of 256 KiB, and one
 * record is taken from each in turn. Another thread makes batches of them, up to two ahead of the accelerator. When a
 * file ends, the next one follows; after the last file, the first one, as DLIO repeats the data set.
 */
final class TrainRecordLoader implements TrainLoader {
    private final TrainModel model;
    private final AtomicInteger nextFile = new AtomicInteger();
    private final TrainLanes lanes;
    private final ExecutorService batcher = Executors.newSingleThreadExecutor();
    private final Semaphore free = new Semaphore(TrainModel.PREFETCHED_BATCHES);
    private final Semaphore ready = new Semaphore(0);

    /** Written before {@code ready} is released. */
    private volatile @Nullable IOException failure;

    /** Starts to read. */
    TrainRecordLoader(TrainModel model, List<Path> files) {
        this.model = model;
        this.lanes = new TrainLanes(Math.min(model.loading().readers(), files.size()), TrainModel.PREFETCHED_RECORDS);
        lanes.start((lane, buffer) -> {
            while (readFile(files.get(nextFile.getAndIncrement() % files.size()), lane, buffer)) {
                // The next file follows.
            }
        });
        batcher.execute(this::makeBatches);
    }

    private boolean readFile(Path file, int lane, ByteBuffer buffer) throws IOException, InterruptedException {
        int records = model.samples().perFile();
        try (FileChannel channel = FileChannel.open(file)) {
            long size = channel.size();
            long read = 0;
            for (int record = 1; record <= records; record++) {
                if (!lanes.begin(lane)) {
                    return false;
                }
                for (long end = size * record / records; read < end; ) {
                    int length = TrainAccess.next(channel, buffer, TrainAccess.RECORD_BUFFER);
                    lanes.count(length);
                    read += length;
                }
                lanes.finish(lane);
            }
        }
        return true;
    }

    private void makeBatches() {
        try {
            for (int i = 0; i < model.loading().shuffleBuffer(); i++) {
                lanes.take();
            }
            while (!lanes.isClosed()) {
                for (int i = 0; i < model.loading().batch(); i++) {
                    lanes.take();
                }
                free.acquire();
                ready.release();
            }
        } catch (IOException e) {
            failure = e;
            ready.release(Integer.MAX_VALUE / 2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    @Override
    public void take() throws IOException, InterruptedException {
        ready.acquire();
        IOException failed = failure;
        if (failed != null) {
            throw new IOException(failed.getMessage(), failed);
        }
        free.release();
    }

    @Override
    public long bytes() {
        return lanes.bytes();
    }

    @Override
    public void close() {
        lanes.close();
        batcher.shutdownNow();
        batcher.close();
    }
}
