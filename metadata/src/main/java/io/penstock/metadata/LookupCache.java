package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Caches answers about single names. Concurrent callers for the same name share one request, and its answer is valid
 * for its time to live. When {@link #set} changes a name during a request, the response goes only to the callers that
 * already wait for it: they asked before the change was complete. Safe for use by any number of threads.
 */
final class LookupCache {
    /** The maximum number of cached answers: some 500 bytes each. */
    private static final int MAX_ANSWERS = 100_000;

    private final Question question;
    private final Executor executor;
    private final MetadataLimits limits;
    private final LongSupplier nanoClock;
    private final AnswerListener answerListener;
    private final AsyncCache<Name, Outcome> answers;

    record Name(Directory directory, String name) {}

    /** Asks the store. */
    @FunctionalInterface
    interface Question {
        Answer ask(Name name) throws ObjectStoreException, InterruptedException;
    }

    /**
     * Notified of each new answer, unless the name was changed here since the request. Called under the name's lock.
     */
    @FunctionalInterface
    interface AnswerListener {
        void answerListener(Name name, Dated answer);
    }

    sealed interface Outcome {
        /**
         * The failure of a request: waiting callers get it, and the next caller sends a new request. (Caffeine would
         * log a failed future.)
         */
        record Failed(Exception cause) implements Outcome {}
    }

    /** @param asOf when the store was asked, on the tree's clock: nanoseconds */
    record Dated(Answer answer, long asOf) implements Outcome {}

    LookupCache(
            Question question,
            Executor executor,
            MetadataLimits limits,
            LongSupplier nanoClock,
            AnswerListener answerListener) {
        this.question = question;
        this.executor = executor;
        this.limits = limits;
        this.nanoClock = nanoClock;
        this.answerListener = answerListener;
        this.answers = Caffeine.newBuilder()
                .maximumSize(MAX_ANSWERS)
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(limits.longest())
                .buildAsync();
    }

    /** The cached answer; null if there is no valid one. Never waits. */
    @Nullable
    Dated known(Name name) {
        CompletableFuture<Outcome> outcome = answers.getIfPresent(name);
        if (outcome == null || !outcome.isDone()) {
            return null;
        }
        if (outcome.state() == Future.State.SUCCESS
                && outcome.resultNow() instanceof Dated dated
                && validNanos(dated) > 0) {
            return dated;
        }
        answers.asMap().remove(name, outcome);
        return null;
    }

    /** Asks the store, or joins a running request for the name. */
    Dated ask(Name name) throws ObjectStoreException, InterruptedException {
        return switch (SharedRequests.await(answers.get(name, (key, _) -> start(key)))) {
            case Dated dated -> dated;
            case Outcome.Failed(Exception cause) -> throw SharedRequests.rethrow(cause);
        };
    }

    /** Asks the store with a new request, instead of using a cached answer or a running request. */
    Dated askAgain(Name name) throws ObjectStoreException, InterruptedException {
        answers.asMap().remove(name);
        return ask(name);
    }

    /** Sets the answer as of now, because the name was changed here. Running requests do not change it. */
    void set(Name name, Answer answer) {
        Dated dated = new Dated(answer, nanoClock.getAsLong());
        answers.asMap().compute(name, (_, _) -> {
            answerListener.answerListener(name, dated);
            return CompletableFuture.completedFuture(dated);
        });
    }

    /** Changes the longest time for which an answer is kept. */
    void expireAfter(Duration longest) {
        answers.synchronous().policy().expireAfterWrite().orElseThrow().setExpiresAfter(longest);
    }

    /** Drops the cached answer. A running request stays. */
    void forget(Name name) {
        answers.asMap().computeIfPresent(name, (_, outcome) -> outcome.isDone() ? null : outcome);
    }

    /** Drops all answers about names in these directories. Responses to running requests go only to their callers. */
    void forgetAll(Predicate<Directory> directories) {
        answers.asMap().keySet().removeIf(name -> directories.test(name.directory()));
    }

    /** How much longer the answer is valid, in nanoseconds; 0 or more. */
    long validNanos(Dated dated) {
        long lifetime = switch (dated.answer()) {
            case Node _ -> limits.ttlNanos();
            case Absent _ -> limits.negativeTtlNanos();
        };
        return Math.max(0, lifetime - (nanoClock.getAsLong() - dated.asOf()));
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still this very request
    private CompletableFuture<Outcome> start(Name name) {
        CompletableFuture<Outcome> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                Outcome outcome = probe(name);
                if (outcome instanceof Dated answer) {
                    answers.asMap().computeIfPresent(name, (_, current) -> {
                        if (current == result) {
                            answerListener.answerListener(name, answer);
                        }
                        return current;
                    });
                }
                result.complete(outcome);
            } catch (Throwable e) { // the awaiting threads get it
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private Outcome probe(Name name) {
        long now = nanoClock.getAsLong();
        try {
            return new Dated(question.ask(name), now);
        } catch (ObjectStoreException | InterruptedException e) {
            return new Outcome.Failed(e);
        }
    }
}
