package io.penstock.tools.bench;

import io.penstock.settings.process.Reason;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Removes the files of a run, the last one first, even after an interrupt. A file that cannot be removed is reported,
 * and the rest is still removed. Used by one thread.
 */
final class Cleanup implements AutoCloseable {
    private final Consumer<String> tell;
    private final Deque<Remains> all = new ArrayDeque<>();

    /** Removes something. */
    @FunctionalInterface
    interface Removal {
        void run() throws Exception;
    }

    private record Remains(String what, Removal removal) {}

    /** @param tell receives a message for each file that stays, with the reason */
    Cleanup(Consumer<String> tell) {
        this.tell = tell;
    }

    /** @param what a name by which a user can find and remove it */
    void add(String what, Removal removal) {
        all.push(new Remains(what, removal));
    }

    /** Uses a separate thread, because an interrupt of this one would end a removal. */
    @Override
    public void close() {
        Thread thread = Thread.ofPlatform().name("bench-cleanup").start(this::removeAll);
        boolean interrupted = Thread.interrupted();
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void removeAll() {
        while (!all.isEmpty()) {
            Remains remains = all.pop();
            try {
                remains.removal().run();
            } catch (Exception e) {
                String reason = e instanceof IOException failure ? Reason.of(failure) : String.valueOf(e.getMessage());
                tell.accept("could not remove " + remains.what() + " (" + reason + "); remove it by hand");
            }
        }
    }
}
