package io.penstock.filesystem.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.KernelContent.Version;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which versions are one content to the kernel: those that have the same bytes. */
class KernelContentTest {
    private static final String MD5 = "\"5d41402abc4b2a76b9719d911017c592\"";

    @ParameterizedTest
    @CsvSource({
        "'\"5d41402abc4b2a76b9719d911017c592\"', 5, 1, true",
        "'\"7d793037a0760186574b0282f2f435e7\"', 5, 0, false",
        "'\"gateway\"', 5, 0, false"
    })
    void of_contentEtag_identifiesByTheEtagAlone(String etag, long size, long second, boolean same) {
        assertSame(version(MD5, 5, 0), version(etag, size, second), same);
    }

    @ParameterizedTest
    @CsvSource({
        "'\"gateway\"', 5, 0, true",
        "'\"gateway\"', 6, 0, false",
        "'\"gateway\"', 5, 1, false",
        "'\"another\"', 5, 0, false"
    })
    void of_otherEtag_identifiesBySizeAndSecondToo(String etag, long size, long second, boolean same) {
        assertSame(version("\"gateway\"", 5, 0), version(etag, size, second), same);
    }

    private static void assertSame(Version one, Version other, boolean same) {
        assertThat(one.equals(other)).isEqualTo(same);
        assertThat(one.fingerprint() == other.fingerprint()).isEqualTo(same);
    }

    private static Version version(String etag, long size, long second) {
        return KernelContent.of(new ObjectVersion("key", etag, size, Instant.ofEpochSecond(second)));
    }
}
