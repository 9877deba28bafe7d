package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageCache;
import io.penstock.cache.Urgency;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.serve.control.FileReport;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.settings.process.RefusedException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands about a mount's files, on its parts, without the mount. */
@Timeout(60)
class MountedModulesTest extends MountedModulesFixture {
    private void link(String key, String target) {
        kept.set(
                store.put(key, ""),
                ObjectAttributes.ofNew(FileKind.SYMLINK, null, null, null).withTarget(target));
    }

    @Test
    void warm_linksAndEmptyFiles_countsOnlyWhatItBrings() {
        store.putTestData("d/file", 3 * MIB);
        store.put("d/empty", "");
        link("d/link", "file");
        link("d/out", "/etc");
        JobStatus end = run(new FileSelection(MOUNT, List.of(".", "d/empty"), null), null);
        assertThat(end.state()).isEqualTo(State.DONE);
        assertThat(end.problems()).isEmpty();
        assertThat(end.outcomes()).isEqualTo(Map.of("fetched", 1L));
        JobStatus pinned = run(new FileSelection(MOUNT, List.of("."), null), Long.MAX_VALUE);
        assertThat(pinned.outcomes()).isEqualTo(Map.of("cached", 1L));
        assertThat(pinned.totalFiles()).isOne();
    }

    @Test
    void residency_linksAndEmptyFiles_countsOnlyWhatCanBeCached() {
        store.putTestData("d/file", 3 * MIB);
        store.put("d/empty", "");
        link("d/link", "file");
        ResidencyJob job = new ResidencyJob(modules, new FileSelection(MOUNT, List.of(".", "d/empty"), null));
        job.run(1);
        JobStatus end = job.result(1);
        assertThat(end.problems()).isEmpty();
        assertThat(end.files()).isOne();
        assertThat(end.residencies())
                .containsExactly(
                        new PathResidency(".", 1, 3 * MIB, 0, 0, 0, null),
                        new PathResidency("d/empty", 0, 0, 0, 0, 0, null));
    }

    @Test
    void objection_morePinsThanTheHeapHolds_saysSoAndKeepsNoMore() {
        Pins.Room room = new Pins.Room(0, 64 * MIB, false, 2);
        WarmJob.ToPin toPin = new WarmJob.ToPin(room.versionsLeft());
        toPin.add(version(1));
        toPin.add(version(1)); // overlapping paths
        toPin.add(version(2));
        assertThat(WarmJob.objection(toPin, room)).isNull();

        for (int i = 3; i < 100; i++) {
            toPin.add(version(i));
        }
        assertThat(WarmJob.objection(toPin, room))
                .startsWith("too many files: the heap has room for 2 more pins;")
                .contains("PENSTOCK_JAVA_OPTS");
        assertThat(toPin.number()).isEqualTo(3);
    }

    private static ObjectVersion version(int number) {
        return new ObjectVersion("f" + number, "\"etag\"", 1, Instant.EPOCH);
    }

    private JobStatus run(FileSelection selection, @Nullable Long pinUntil) {
        WarmJob job = new WarmJob(modules, selection, new WarmJob.Options(0, pinUntil));
        job.run(1);
        return job.status(1);
    }

    @Test
    void why_aFileOfWhichThereAreSectors_countsTheGetsOfAReadInOrder() throws Exception {
        ObjectVersion version = store.putTestData("f", 8 * MIB);
        int sector = (int) (3 * MIB / PageCache.SECTOR_SIZE) + 1;
        try (CachedObject pages = cache.open(NAMESPACE, version);
                CachedObject sectors = cache.openSectors(pages)) {
            Fill fill = Objects.requireNonNull(sectors.claim(sector, sector + 1, Urgency.DEMAND));
            fill.filled(fill.buffer().remaining());
        }
        close(); // writes the sector to disk
        open();

        FileReport report = (FileReport) new WhyAnswer(modules, MOUNT)
                .of(JsonNodeFactory.instance.objectNode().put("path", "/mnt/data/f"));

        assertThat(report.ranges())
                .extracting(FileReport.Range::place)
                .containsExactly("missing", "sectors", "missing");
        assertThat(report.coldGets()).as("ranges of 2 MiB").isEqualTo(4);
        assertThat(report.coldBytes()).isEqualTo(8 * MIB);
    }

    @Test
    void why_aLinkWhoseTargetForgesALine_isRefusedInOneLine() {
        link("l", "/x\npenstock: all is well");
        assertThatThrownBy(() -> new WhyAnswer(modules, MOUNT)
                        .of(JsonNodeFactory.instance.objectNode().put("path", "/mnt/data/l")))
                .isInstanceOf(RefusedException.class)
                .hasMessage("l: symbolic link to /x\\u000apenstock: all is well, which is outside the mount");
    }
}
