package io.penstock.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.process.Folders;
import io.penstock.tools.doctor.Disk.Depth;
import io.penstock.tools.measure.DiskTrial.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
    @TempDir
    private Path folder;

    @Test
    void read_folderThatDoesNotExist_isOfTheOneAboveItAndIsNotMade() throws Exception {
        Path none = folder.resolve("a").resolve("b");

        Disk.Facts facts = Disk.read(none, Depth.TRY);

        assertThat(facts.folder()).isEqualTo(none);
        assertThat(facts.existing()).isEqualTo(folder);
        assertThat(facts.exists()).isFalse();
        assertThat(facts.empty()).isTrue();
        assertThat(facts.writable()).isTrue();
        assertThat(facts.totalBytes()).isGreaterThanOrEqualTo(facts.usableBytes());
        assertThat(facts.device()).isEqualTo(Folders.device(folder));
        assertLeft();
    }

    @Test
    void read_everyDepth_leavesNothing() throws Exception {
        for (Depth depth : Depth.values()) {
            Disk.Facts facts = Disk.read(folder, depth);
            assertThat(facts.trial() == null).isEqualTo(depth == Depth.LOOK);
            assertLeft();
        }
    }

    @Test
    void read_measured_hasASpeedWhereThereIsDirectIo() throws Exception {
        Outcome trial = Disk.read(folder, Depth.MEASURE).trial();
        assertThat(trial).isNotNull();
        if (trial.direct()) {
            assertThat(trial.speed()).isNotNull();
            assertThat(trial.speed().readMib()).isPositive();
            assertThat(trial.speed().writeMib()).isPositive();
            assertThat(trial.speed().randomReads()).isPositive();
        } else {
            assertThat(trial.speed()).isNull();
        }
    }

    @Test
    void read_folderWithFiles_isNotEmptyAndKeepsThem() throws Exception {
        Files.writeString(folder.resolve("probe"), "mine");
        Files.writeString(folder.resolve("trial"), "mine");

        assertThat(Disk.read(folder, Depth.TRY).empty()).isFalse();

        assertThat(folder.resolve("probe")).hasContent("mine");
        assertThat(folder.resolve("trial")).hasContent("mine");
    }

    @Test
    void read_fileInsteadOfAFolder_saysSo() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> Disk.read(file, Depth.LOOK)).hasMessage(file + " is not a folder");
    }

    private void assertLeft() throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }
}
