package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reads and fetches in a JFR recording. */
@Timeout(60)
class RecordedEventsTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(0, 8 * MIB, 64, 4 * MIB);

    @TempDir
    private Path directory;

    @Test
    void recording_ofReads_hasTheirGetsAndWhatTheyWaitedFor() throws Exception {
        try (Recording recording = new Recording();
                FetcherFixture fixture = new FetcherFixture(directory, CONFIG, 512 * MIB, 256 * MIB)) {
            recording.enable(FetchEvent.class);
            recording.enable(SlowReadEvent.class).withoutThreshold();
            ObjectVersion version = fixture.put("recorded", 3 * MIB);
            recording.start();
            try (ObjectReader reader = fixture.fetcher.open(version)) {
                readAndVerify(reader, version, 0, (int) version.size());
                readAndVerify(reader, version, MIB, 100);
            }
            FetcherFixture.await("the GET ends", () -> fixture.fetcher.running() == 0);
            recording.stop();
            recording.dump(directory.resolve("a.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("a.jfr"));
        assertThat(of("penstock.Fetch", events)).singleElement().satisfies(fetch -> {
            assertThat(fetch.getString("key")).isEqualTo("recorded");
            assertThat(fetch.getLong("bytes")).isEqualTo(3 * MIB);
            assertThat(fetch.getString("cause")).isEqualTo("demand");
            assertThat(fetch.getBoolean("complete")).isTrue();
        });
        assertThat(of("penstock.SlowRead", events))
                .extracting(read -> read.getString("key") + " " + read.getLong("offset") + " " + read.getLong("bytes")
                        + " " + read.getString("cause"))
                .containsExactly("recorded 0 3145728 store", "recorded 1048576 100 cache");
    }

    private static List<RecordedEvent> of(String name, List<RecordedEvent> events) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }
}
