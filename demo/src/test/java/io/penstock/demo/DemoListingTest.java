package io.penstock.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.serve.log.Logging;
import io.penstock.settings.LogLevel;
import io.penstock.settings.process.RefusedException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DemoListingTest {
    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private static final org.slf4j.Logger METADATA = LoggerFactory.getLogger("io.penstock.metadata.Any");
    private static final Duration AT_ONCE = Duration.ZERO;

    private final ListAppender<ILoggingEvent> elsewhere = new ListAppender<>();
    private DemoListing listing;

    @BeforeEach
    void listen() {
        Logging.toTerminal(LogLevel.WARN); // another test may have left a lower level
        elsewhere.start();
        ROOT.addAppender(elsewhere);
        listing = new DemoListing();
    }

    @AfterEach
    void close() {
        listing.close();
        ROOT.detachAppender(elsewhere);
    }

    @Test
    void await_aListingUnderWay_returnsNothing() throws Exception {
        METADATA.info("s3://b/ is being listed: {} objects so far.", 1000);
        assertThat(listing.await(AT_ONCE)).isNull();
        assertThat(elsewhere.list).isEmpty();
    }

    @Test
    void await_aListingThatIsThrough_tellsWhatItCameTo() throws Exception {
        METADATA.info("s3://b/ is listed: {} objects in {} s by {} requests; {} MiB of memory.", 1000000, 6, 1179, 26);
        DemoListing.Listed listed = listing.await(AT_ONCE);
        assertThat(listed).isNotNull();
        assertThat(listed.objects()).isEqualTo(1_000_000);
        assertThat(listed.requests()).isEqualTo(1_179);
        assertThat(listed.memoryMib()).isEqualTo(26);
        assertThat(listed.nanoTime()).isLessThanOrEqualTo(System.nanoTime());
    }

    @Test
    void await_aListingThatFails_tellsWhy() {
        METADATA.warn("s3://b/ is not listed as a whole: no access. Each folder is listed when it is first used.");
        assertThatThrownBy(() -> listing.await(AT_ONCE))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("no access");
    }

    @Test
    void await_afterAbandon_isInterrupted() {
        listing.abandon();
        assertThatThrownBy(() -> listing.await(AT_ONCE)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void warning_aboutSomethingElse_isLoggedAsBefore() {
        METADATA.warn("something else");
        assertThat(elsewhere.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("something else");
    }

    @Test
    void close_logging_isAsBefore() {
        listing.close();
        METADATA.info("not shown");
        METADATA.warn("shown");
        assertThat(elsewhere.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("shown");
    }
}
