package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.metadata.PreloadState;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TextWatchTest {
    private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");

    @Test
    void text_eachState_saysHowFarItIs() {
        assertThat(TextWatch.text(PreloadState.None.NONE, NOW)).isEmpty();
        assertThat(TextWatch.text(new PreloadState.Listing(1_200_000, 0.456, Duration.ofSeconds(6)), NOW))
                .isEqualTo("listing: 1,200,000 objects, 200,000 a second, 46 %");
        assertThat(TextWatch.text(new PreloadState.Listing(0, 0, Duration.ZERO), NOW))
                .isEqualTo("listing: 0 objects, 0 a second, 0 %");
        assertThat(TextWatch.text(new PreloadState.Known(14_000_000, Duration.ofMinutes(1)), NOW))
                .startsWith("14,000,000 objects, listed 2026-11-2");
    }

    @Test
    void watch_stateChanges_tellsEachOnce() throws Exception {
        AtomicReference<PreloadState> state =
                new AtomicReference<>(new PreloadState.Listing(1, 0.5, Duration.ofSeconds(1)));
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        try (TextWatch _ = new TextWatch(() -> TextWatch.text(state.get(), NOW), told::add)) {
            assertThat(told.take()).isEqualTo("listing: 1 objects, 1 a second, 50 %");
            state.set(PreloadState.None.NONE);
            assertThat(told.take()).isEmpty();
        }
        assertThat(told).isEmpty();
    }
}
