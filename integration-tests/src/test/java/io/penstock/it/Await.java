package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for conditions that other threads or processes fulfil. */
final class Await {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Await() {}

    /** Fails if the condition is not fulfilled within a minute. */
    static void until(String what, Callable<Boolean> condition) throws Exception {
        until(what, LIMIT, Duration.ofMillis(20), condition);
    }

    /** Fails if the condition is not fulfilled within this limit. */
    static void until(String what, Duration limit, Duration pause, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.sleep(pause);
        }
    }
}
