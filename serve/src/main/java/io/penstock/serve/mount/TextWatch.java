package io.penstock.serve.mount;

import io.penstock.metadata.PreloadState;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Reports changes of a text about the mount until it is closed. */
final class TextWatch implements AutoCloseable {
    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(1);

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

    private final Thread thread;

    /** @param listener notified of each change, within about a second */
    TextWatch(Supplier<String> text, Consumer<String> listener) {
        thread = Thread.ofVirtual().name("text watch").start(() -> {
            String told = "";
            try {
                while (true) {
                    Thread.sleep(BETWEEN_REPORTS);
                    String now = text.get();
                    if (!now.equals(told)) {
                        listener.accept(now);
                        told = now;
                    }
                }
            } catch (InterruptedException e) {
                // closed
            }
        });
    }

    /** The text about names in penstock mounts: empty if there is no listing, or it has expired. */
    static String text(PreloadState state, Instant now) {
        return switch (state) {
            case PreloadState.None _ -> "";
            case PreloadState.Listing(long objects, double share, Duration since) ->
                String.format(
                        Locale.ROOT,
                        "listing: %,d objects, %,d a second, %.0f %%",
                        objects,
                        since.isZero() ? 0 : Math.round(objects / (since.toNanos() / 1e9)),
                        share * 100);
            case PreloadState.Known(long objects, Duration ago) ->
                String.format(
                        Locale.ROOT,
                        "%,d objects, listed %s",
                        objects,
                        TIME.format(now.minus(ago).truncatedTo(ChronoUnit.SECONDS)));
        };
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
