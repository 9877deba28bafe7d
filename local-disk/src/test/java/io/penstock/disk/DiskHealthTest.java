package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a disk is used, and when not. */
final class DiskHealthTest {
    private final AtomicLong now = new AtomicLong();
    private final AtomicBoolean full = new AtomicBoolean();
    private final DiskHealth health =
            new DiskHealth(new DiskHealth.Disk("The disk", 2, "Going on without it", _ -> full.get()), now::get);

    private void fail() {
        health.failed("write", new IOException("made up"));
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void failed_asOftenAsThatInARow_isSickUntilAWriteSucceeds() {
        fail();
        health.succeeded();
        fail();
        assertThat(health.isWell()).isTrue();
        assertThat(health.allowsWrite()).isTrue();

        fail();
        assertThat(health.isWell()).isFalse();
        assertThat(health.allowsWrite()).isFalse();

        pass(Duration.ofSeconds(30));
        assertThat(health.allowsWrite()).isTrue();
        assertThat(health.isWell()).as("before that is known").isFalse();
        fail();
        assertThat(health.allowsWrite()).isFalse();

        pass(Duration.ofSeconds(30));
        health.succeeded();
        assertThat(health.isWell()).isTrue();
        assertThat(health.allowsWrite()).isTrue();
        assertThat(health.errors()).isEqualTo(4);
    }

    @Test
    void failed_forWantOfSpace_isFullForASecondOrUntilSomeIsFreed() {
        full.set(true);
        fail();
        fail();
        assertThat(health.isWell()).isTrue();
        assertThat(health.allowsWrite()).isFalse();
        pass(Duration.ofSeconds(1));
        assertThat(health.allowsWrite()).isTrue();

        fail();
        health.spaceFreed();
        assertThat(health.allowsWrite()).isTrue();
    }

    @Test
    void spaceFreed_onASickDisk_changesNothing() {
        fail();
        fail();
        health.spaceFreed();
        assertThat(health.allowsWrite()).isFalse();
    }
}
