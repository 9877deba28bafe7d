package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** A file is read for the first time while checkpoints are written, against the same without. */
final class ReadsDuringWrites implements WriteScenario {
    private static final String ALONE = "read 1 file, cold, while nothing is written";
    private static final String DURING = "read 1 file, cold, while files are written";

    @Override
    public List<Row> rows() {
        return List.of(new Row(DURING, new Row.Ceiling(ALONE)));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        long size = rig.sizes().file();
        rig.raw(
                StreamWrites.rawName(1, StreamWrites.PER_FILE),
                raw -> raw.parts(rig.keys("read", 1), size, WriteRig.PART, StreamWrites.PER_FILE));
        MountProcess alone = rig.mount();
        rig.served(ALONE, alone, () -> read(alone, size));
        rig.unmount(alone);
        MountProcess busy = rig.mount();
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService writer = Executors.newSingleThreadExecutor()) {
            Future<?> burst = writer.submit(() -> {
                while (!over.get()) {
                    FileWrites.sequential(WriteRig.files(busy, "burst", 1), size, FileWrites.End.CLOSE);
                }
                return null;
            });
            rig.served(DURING, busy, () -> {
                Measurement read = read(busy, size);
                over.set(true);
                return read;
            });
            burst.get();
        }
        rig.unmount(busy);
    }

    private static Measurement read(MountProcess mount, long size) throws IOException {
        Path file = WriteRig.files(mount, "read", 1).getFirst();
        return FileReads.interleaved(file, size, 1, ReadRig.CALL, ReadRig.CALL);
    }
}
