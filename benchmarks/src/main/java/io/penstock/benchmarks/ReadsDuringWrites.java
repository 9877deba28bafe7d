package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** A file is read for the first time while checkpoints are written, against each of the two alone. */
final class ReadsDuringWrites implements Scenario<WriteRig> {
    private static final List<String> FILES = List.of("read0", "read1", "read2");
    private static final String READ = "read 1 file, cold, while files are written";
    private static final String READ_ALONE = "read 1 file, cold, while nothing is written";
    private static final String WRITTEN = "write files, while 1 file is read";
    private static final String WRITTEN_ALONE = "write 1 file, while nothing is read";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(READ, new ReportRow.Ceiling(READ_ALONE)),
                new ReportRow(WRITTEN, new ReportRow.Ceiling(WRITTEN_ALONE)));
    }

    @Override
    public void prepare(WriteRig rig) throws Exception {
        for (String name : FILES) {
            rig.keep(name);
        }
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        long size = rig.sizes().file();
        for (String name : FILES) {
            rig.provide(name);
        }
        MountProcess mount = rig.mount();
        read(mount, 0, size); // compiles this code, too
        rig.served(READ_ALONE, mount, () -> read(mount, 1, size));
        List<Path> burst = WriteRig.files(mount, "burst", 1);
        rig.served(WRITTEN_ALONE, mount, () -> FileWrites.sequential(burst, size, FileWrites.End.CLOSE));
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService writer = Executors.newSingleThreadExecutor()) {
            Future<Measurement> written = writer.submit(() -> FileWrites.until(over::get, burst.getFirst(), size));
            try {
                rig.served(READ, mount, () -> read(mount, 2, size));
            } finally {
                over.set(true);
            }
            rig.add(WRITTEN, written.get());
        }
        rig.unmount(mount);
    }

    private static Measurement read(MountProcess mount, int file, long size) throws IOException {
        return FileReads.interleaved(mount.path().resolve(FILES.get(file)), size, 1, ReadRig.CALL, ReadRig.CALL);
    }
}
