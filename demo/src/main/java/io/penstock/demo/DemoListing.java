package io.penstock.demo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.penstock.settings.process.RefusedException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Reads the mount's log about the listing of the whole bucket, until it is closed. Other log lines go where they went
 * before. Thread-safe.
 */
final class DemoListing extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final Logger METADATA = (Logger) LoggerFactory.getLogger("io.penstock.metadata");
    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

    private static final Pattern LISTED =
            Pattern.compile("is listed: (\\d+) objects in .* by (\\d+) requests; (\\d+) MiB of memory");

    private static final String NOT_LISTED = "is not listed as a whole";

    private final CompletableFuture<Listed> outcome = new CompletableFuture<>();

    /**
     * A complete listing.
     *
     * @param memoryMib the memory of its names
     * @param nanoTime when it ended, by {@link System#nanoTime}
     */
    record Listed(long objects, long requests, long memoryMib, long nanoTime) {}

    DemoListing() {
        setContext(METADATA.getLoggerContext());
        start();
        METADATA.setLevel(Level.INFO);
        METADATA.setAdditive(false);
        METADATA.addAppender(this);
    }

    /**
     * Waits for the end of the listing.
     *
     * @return null if it has not ended by then
     * @throws RefusedException if the bucket cannot be listed
     * @throws InterruptedException also after {@link #abandon}
     */
    @Nullable
    Listed await(Duration time) throws RefusedException, InterruptedException {
        try {
            return outcome.get(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (CancellationException e) {
            throw new InterruptedException();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RefusedException refused) {
                throw refused;
            }
            throw new IllegalStateException(e);
        }
    }

    /** Ends the wait. */
    void abandon() {
        outcome.cancel(false);
    }

    @Override
    protected void append(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        Matcher listed = LISTED.matcher(message);
        if (listed.find()) {
            outcome.complete(new Listed(
                    Long.parseLong(listed.group(1)),
                    Long.parseLong(listed.group(2)),
                    Long.parseLong(listed.group(3)),
                    System.nanoTime()));
        } else if (message.contains(NOT_LISTED)) {
            outcome.completeExceptionally(new RefusedException(message));
        } else if (event.getLevel().isGreaterOrEqual(ROOT.getLevel())) {
            ROOT.callAppenders(event);
        }
    }

    @Override
    public void close() {
        METADATA.detachAppender(this);
        METADATA.setAdditive(true);
        METADATA.setLevel(null);
        stop();
    }
}
