package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writes scaled-down checkpoints of llama3 8B, one after another without a pause until it is closed, and keeps the last
 * complete one. As in MLPerf Storage (mlcommons/storage, Submission_guidelines.md 2.2, configs llama3_8b.yaml; DLIO,
 * checkpointing/base_checkpointing.py): eight concurrent processes, each of which writes an eighth of the model, and
 * then of the optimizer's state, to a separate file, and syncs it.
 */
final class TrainCheckpoints implements AutoCloseable {
    static final int PROCESSES = 8;

    /**
     * From llama3_8b.yaml: two embeddings of 128,256 x 4,096, and 32 layers of attention (4,096 x 4,096 twice, and
     * 4,096 x 1,024 twice for 8 of 32 heads), three matrices of 4,096 x 14,336 and two norms, and one more norm.
     */
    static final long PARAMETERS =
            2L * 128_256 * 4096 + 32L * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14_336 + 2 * 4096) + 4096;

    /** The parameters in fp16; and in fp32 the optimizer's two moments and its copy of the parameters. */
    private static final int MODEL_BYTES = 2;

    private static final int OPTIMIZER_BYTES = 3 * 4;

    /** torch.save writes one tensor per call: most often an eighth of a matrix of 4,096 x 14,336 in fp16. */
    private static final int CALL = 4096 * 14_336 / PROCESSES * MODEL_BYTES;

    private final Path folder;
    private final int scale;
    private final long start = System.nanoTime();
    private final LongAdder bytes = new LongAdder();
    private final ExecutorService writer = Executors.newSingleThreadExecutor();
    private final Future<Void> writing;
    private volatile boolean closed;

    /** Checkpoints begun. Only the writer changes it; read after it has ended. */
    private volatile int begun;

    /**
     * Starts to write.
     *
     * @param folder an existing folder
     * @param scale divides the real size
     */
    TrainCheckpoints(Path folder, int scale) {
        this.folder = folder;
        this.scale = scale;
        this.writing = writer.submit(this::write);
    }

    static long size(int scale) {
        return PROCESSES * (fileSize(MODEL_BYTES, scale) + fileSize(OPTIMIZER_BYTES, scale));
    }

    private static long fileSize(int bytesOfParameter, int scale) {
        return PARAMETERS * bytesOfParameter / PROCESSES / scale;
    }

    @SuppressWarnings("NullAway") // A task without a result.
    private Void write() throws Exception {
        try (ExecutorService processes = Executors.newFixedThreadPool(PROCESSES)) {
            for (int number = 0; !closed; number++) {
                Path checkpoint = checkpoint(number);
                remove(number); // left by a run that was killed
                Files.createDirectory(checkpoint);
                begun = number + 1;
                List<Future<Path>> running = new ArrayList<>();
                for (int process = 0; process < PROCESSES; process++) {
                    int rank = process;
                    running.add(processes.submit(() -> writePart(checkpoint, rank)));
                }
                for (Future<Path> each : running) {
                    each.get();
                }
                remove(number - 1);
            }
        }
        return null;
    }

    private Path checkpoint(int number) {
        return folder.resolve("step_" + number);
    }

    private static Path model(Path checkpoint, int rank) {
        return checkpoint.resolve("zero_pp_rank_" + rank + "_mp_rank_0_model_states.pt");
    }

    private static Path optimizer(Path checkpoint, int rank) {
        return checkpoint.resolve("zero_pp_rank_" + rank + "_mp_rank_0_optim_states.pt");
    }

    private Path writePart(Path checkpoint, int rank) throws IOException {
        writeFile(model(checkpoint, rank), fileSize(MODEL_BYTES, scale));
        writeFile(optimizer(checkpoint, rank), fileSize(OPTIMIZER_BYTES, scale));
        return checkpoint;
    }

    private void writeFile(Path file, long size) throws IOException {
        ByteBuffer content = ByteBuffer.allocateDirect(CALL).put(RandomBytes.of("checkpoint", 0, CALL));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (long left = size; left > 0 && !closed; left -= content.limit()) {
                content.clear().limit((int) Math.min(CALL, left));
                FileWrites.writeAll(channel, content);
                bytes.add(content.limit());
            }
            if (!closed) {
                channel.force(true);
            }
        }
    }

    private void remove(int number) throws IOException {
        Path checkpoint = checkpoint(number);
        if (Files.isDirectory(checkpoint)) {
            for (int rank = 0; rank < PROCESSES; rank++) {
                Files.deleteIfExists(model(checkpoint, rank));
                Files.deleteIfExists(optimizer(checkpoint, rank));
            }
            Files.delete(checkpoint);
        }
    }

    /** Whether it no longer writes: before it is closed, only after a failure. */
    boolean hasEnded() {
        return writing.isDone();
    }

    /** The bytes written so far as a rate. */
    String describe() {
        double seconds = (System.nanoTime() - start) / 1e9;
        return ReportTable.significant(bytes.sum() / (double) (1 << 20) / seconds) + " MiB/s of checkpoints";
    }

    /**
     * Stops the checkpoint in progress, and removes all.
     *
     * @throws IOException also if a checkpoint could not be written: then measurements made meanwhile are invalid
     */
    @Override
    public void close() throws IOException {
        closed = true;
        writer.close();
        remove(begun - 2);
        remove(begun - 1);
        Files.deleteIfExists(folder);
        if (writing.state() == Future.State.FAILED) {
            Throwable failure = writing.exceptionNow();
            throw new IOException("a checkpoint was not written: " + failure.getMessage(), failure);
        }
    }
}
