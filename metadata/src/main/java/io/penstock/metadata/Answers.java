package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.objectstore.ObjectStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers about single names: each is asked of the store once for all who want it at the same time, and believed for a
 * while. One that was under way when the name was changed here ({@link #set}) is told to those who wait for it, who
 * asked before the change was done, and to nobody else. Safe for use by any number of threads.
 */
final class Answers {
    /** Kept at most: some 500 bytes each. */
    private static final int MAX_ANSWERS = 100_000;

    private final Question question;
    private final Executor executor;
    private final long ttlNanos;
    private final long negativeTtlNanos;
    private final LongSupplier nanoClock;
    private final Learned learned;
    private final AsyncCache<Name, Outcome> answers;

    record Name(Directory directory, String name) {}

    /** Asks the store. */
    @FunctionalInterface
    interface Question {
        Answer ask(Name name) throws ObjectStoreException, InterruptedException;
    }

    /** Told of each new answer, unless the name was changed here since it was asked: called under the name's lock. */
    @FunctionalInterface
    interface Learned {
        void learned(Name name, Dated answer);
    }

    sealed interface Outcome {
        /** Told to those who wait for it, and asked again by the next. (Caffeine would log a future that fails.) */
        record Failed(Exception cause) implements Outcome {}
    }

    /** @param asOf when it was asked for */
    record Dated(Answer answer, long asOf) implements Outcome {}

    Answers(Question question, Executor executor, MetadataConfig config, LongSupplier nanoClock, Learned learned) {
        this.question = question;
        this.executor = executor;
        this.ttlNanos = TimeUnit.NANOSECONDS.convert(config.ttl());
        this.negativeTtlNanos = TimeUnit.NANOSECONDS.convert(config.negativeTtl());
        this.nanoClock = nanoClock;
        this.learned = learned;
        this.answers = Caffeine.newBuilder()
                .maximumSize(MAX_ANSWERS)
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(config.longest())
                .buildAsync();
    }

    /** What is known and believed still: null if nothing is. Never waits. */
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

    /** Asks the store, or waits for an answer that others have asked for. */
    Dated ask(Name name) throws ObjectStoreException, InterruptedException {
        return switch (Calls.await(answers.get(name, (key, _) -> start(key)))) {
            case Dated dated -> dated;
            case Outcome.Failed(Exception cause) -> throw Calls.rethrow(cause);
        };
    }

    /** The same, but of what is asked from now on: an answer that is known, or under way already, is not enough. */
    Dated askAnew(Name name) throws ObjectStoreException, InterruptedException {
        answers.asMap().remove(name);
        return ask(name);
    }

    /** The name stands for this as of now, because it was made so. What was asked before does not count any more. */
    void set(Name name, Answer answer) {
        Dated dated = new Dated(answer, nanoClock.getAsLong());
        answers.asMap().compute(name, (_, _) -> {
            learned.learned(name, dated);
            return CompletableFuture.completedFuture(dated);
        });
    }

    /** Nothing is known of the name, unless it is being asked for. */
    void forget(Name name) {
        answers.asMap().computeIfPresent(name, (_, outcome) -> outcome.isDone() ? null : outcome);
    }

    /** For how long from now it may be believed, in nanoseconds; 0 or more. */
    long validNanos(Dated dated) {
        long lifetime = switch (dated.answer()) {
            case Node _ -> ttlNanos;
            case Absent _ -> negativeTtlNanos;
        };
        return Math.max(0, lifetime - (nanoClock.getAsLong() - dated.asOf()));
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still this very call
    private CompletableFuture<Outcome> start(Name name) {
        CompletableFuture<Outcome> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                Outcome outcome = probe(name);
                if (outcome instanceof Dated answer) {
                    answers.asMap().computeIfPresent(name, (_, current) -> {
                        if (current == result) {
                            learned.learned(name, answer);
                        }
                        return current;
                    });
                }
                result.complete(outcome);
            } catch (Throwable e) { // whoever awaits it gets it
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
