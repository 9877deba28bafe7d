package io.penstock.metadata;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.listing.KeyTable;
import io.penstock.listing.KeyTableBuilder;
import io.penstock.objectstore.StoredObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
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
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(System.nanoTime());
        builder.add(new StoredObject(new ObjectVersion("a", "\"1\"", 1, Instant.EPOCH), "STANDARD"));
        try (KeyTable table = KeyTable.join(List.of(builder))) {
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
    void beginChange_afterAMountThatWasKilledAsItWrote_leavesNothing() throws Exception {
        save();
        Files.writeString(folder.resolve("names.tmp"), "the half of it");

        snapshot().beginChange();

        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void beginChange_interrupted_deletesTheFile() {
        save();
        Thread.currentThread().interrupt();

        snapshot().beginChange();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(file()).doesNotExist();
    }
}
