package io.penstock.tools.doctor;

import io.penstock.settings.process.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers facts and has them judged, each within a deadline. A missed deadline is a finding too. Confined to one
 * thread.
 */
final class Examiner {
    private static final Logger LOG = LoggerFactory.getLogger(Examiner.class);

    private final Consumer<Finding> report;

    /**
     * Judges facts. It reads nothing else, so a test can give it the facts of any machine.
     *
     * @param name one or two words for the report
     */
    record Check<F>(String name, BiConsumer<F, Findings> rule) {}

    /** @param report receives each finding immediately */
    Examiner(Consumer<Finding> report) {
        this.report = report;
    }

    /**
     * Gathers facts and gives them to each check.
     *
     * @param gathering runs on a separate thread, which is abandoned after the deadline, because a file system that
     *     does not respond cannot be interrupted
     * @return the facts; null if there are none
     */
    @SafeVarargs
    final <F> @Nullable F examine(Duration deadline, Callable<F> gathering, Check<? super F>... checks)
            throws InterruptedException {
        String name = checks[0].name();
        FutureTask<F> task = new FutureTask<>(gathering);
        Thread.ofPlatform().daemon().name("doctor-" + name).start(task);
        try {
            F facts = task.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
            for (Check<? super F> check : checks) {
                judge(check, facts);
            }
            return facts;
        } catch (TimeoutException e) {
            task.cancel(true);
            failed(
                    name,
                    "no result within " + deadline.toSeconds() + " s",
                    "It does not respond, so programs that need it hang too");
        } catch (ExecutionException e) {
            LOG.debug("The check {} failed", name, e.getCause());
            failed(name, "could not be examined: " + reason(e.getCause()), "");
        }
        return null;
    }

    private <F> void judge(Check<F> check, F facts) {
        Findings findings = new Findings(check.name());
        try {
            check.rule().accept(facts, findings);
            findings.all().forEach(report);
        } catch (RuntimeException e) {
            LOG.debug("The check {} failed", check.name(), e);
            failed(check.name(), "could not be examined: " + reason(e), "");
        }
    }

    private void failed(String check, String found, String why) {
        report.accept(new Finding(check, Finding.Severity.WARNING, found, why, ""));
    }

    private static String reason(@Nullable Throwable failure) {
        return failure instanceof IOException e ? Reason.of(e) : String.valueOf(failure);
    }
}
