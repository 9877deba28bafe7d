package io.penstock.metadata;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Seeded;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kept listing of a bucket, used by threads that a signal or an unmount interrupts. */
class TableSnapshotTest {
    @TempDir
    private Path folder;

    @AfterEach
    void clear() {
        boolean _ = Thread.interrupted();
    }

    private Path file() {
        return folder.resolve("names");
    }

    private TableSnapshot snapshot() {
        return new TableSnapshot(file(), "here/bucket/", System::nanoTime);
    }

    private void save() {
        RandomGenerator random = Seeded.random(1);
        List<StoredObject> objects = RandomKeys.set(random, 100).stream()
                .map(key -> KeyTables.object(random, key))
                .toList();
        try (KeyTable table = new KeyTables(random, objects).build()) {
            snapshot().save(table);
        }
        assertThat(file()).exists();
    }

    @Test
    void load_interrupted_leavesTheFile() {
        save();
        Thread.currentThread().interrupt();

        assertThat(snapshot().load()).isNull();

        assertThat(Thread.interrupted()).isTrue();
        requireNonNull(snapshot().load()).close();
    }

    @Test
    void changing_afterAMountThatWasKilledAsItWrote_leavesNothing() throws Exception {
        save();
        Files.writeString(folder.resolve("names.tmp"), "the half of it");

        snapshot().changing();

        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void changing_interrupted_deletesTheFile() {
        save();
        Thread.currentThread().interrupt();

        snapshot().changing();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(file()).doesNotExist();
    }
}
