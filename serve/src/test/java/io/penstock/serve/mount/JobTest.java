package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class JobTest {
    private static final Logger LOG = (Logger) LoggerFactory.getLogger(Job.class);

    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        said.start();
        LOG.addAppender(said);
    }

    @AfterEach
    void close() {
        LOG.detachAppender(said);
    }

    @Test
    void problem_ofAJobThatNobodyWaitsFor_isInTheLog() {
        Job job = new Job("warm", List.of("nope")) {
            @Override
            void work() {
                problem("nope", "no such file or folder");
            }

            @Override
            long bytes() {
                return 0;
            }
        };

        job.run(7);

        assertThat(said.list)
                .filteredOn(event -> event.getLevel() == Level.WARN)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("Job 7: nope: no such file or folder");
    }
}
