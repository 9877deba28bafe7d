package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.OpenFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A kernel that takes files, or refuses to. */
final class FakeBackingFiles implements BackingFiles {
    private final AtomicInteger last = new AtomicInteger();
    private final Map<Integer, Path> open = new ConcurrentHashMap<>();
    private volatile boolean refuses;

    void refuse() {
        refuses = true;
    }

    /** The bytes that the kernel reads from this open file. */
    byte[] content(OpenFile file) throws IOException {
        Path path = open.get(file.backing());
        assertThat(path).as("backing file of %s", file).isNotNull();
        return Files.readAllBytes(path);
    }

    int count() {
        return open.size();
    }

    @Override
    public int open(Path file) throws IOException {
        if (refuses) {
            throw new IOException("refused on purpose");
        }
        int id = last.incrementAndGet();
        open.put(id, file);
        return id;
    }

    @Override
    public void close(int id) {
        assertThat(open.remove(id)).as("backing file %s", id).isNotNull();
    }
}
