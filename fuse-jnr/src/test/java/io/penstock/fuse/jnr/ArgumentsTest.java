package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.fuse.MountOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ArgumentsTest {
    private static final Path MOUNT_POINT = Path.of("/mnt/x");

    @Test
    void of_sourceWithComma_isOneOption() {
        assertThat(Arguments.of(options("s3://bucket/a,allow_other", false, false), MOUNT_POINT))
                .contains("fsname=s3://bucket/a\\,allow_other");
    }

    @Test
    void of_flags_becomeOptions() {
        assertThat(Arguments.of(options("s3://b", true, true), MOUNT_POINT)).contains("ro", "allow_other");
        assertThat(Arguments.of(options("s3://b", false, false), MOUNT_POINT))
                .contains("rw")
                .doesNotContain("ro", "noexec", "allow_other");
        assertThat(Arguments.of(options("s3://b", false, true, false), MOUNT_POINT))
                .contains("noexec");
    }

    @Test
    void of_timeout_isInSeconds() {
        assertThat(Arguments.of(options("s3://b", true, false), MOUNT_POINT))
                .contains("entry_timeout=0.5", "attr_timeout=0.5", "negative_timeout=0.5");
    }

    private static MountOptions options(String source, boolean readOnly, boolean allowOther) {
        return options(source, readOnly, false, allowOther);
    }

    private static MountOptions options(String source, boolean readOnly, boolean noExec, boolean allowOther) {
        return new MountOptions(
                MOUNT_POINT, source, readOnly, noExec, allowOther, Duration.ofMillis(500), 0, 4, null, false);
    }
}
