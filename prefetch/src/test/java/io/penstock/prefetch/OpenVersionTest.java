package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class OpenVersionTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(8 * MIB, 2 * MIB, 8, 0);

    @TempDir
    private Path directory;

    @Test
    void claimReadahead_unexpectedFailure_leavesTheStream() throws Exception {
        try (FetcherFixture fixture = new FetcherFixture(directory, CONFIG, 64 * MIB, 16 * MIB)) {
            Streams streams = new StreamsModel(CONFIG, 64 * MIB).streams; // of a longer file: no such pages here
            OpenVersion object = new OpenVersion(fixture.cache.open("test", fixture.put("object", 1)), null, streams);
            Stream stream = readUntilWanted(streams);

            assertThatIllegalArgumentException().isThrownBy(() -> object.claimReadahead(stream));

            assertThat(stream.queued).isFalse();
            object.close();
        }
    }

    private static Stream readUntilWanted(Streams streams) {
        for (long at = 0; ; at += REQUEST) {
            Stream stream = streams.observe(at, at + REQUEST);
            if (stream != null) {
                return stream;
            }
        }
    }
}
