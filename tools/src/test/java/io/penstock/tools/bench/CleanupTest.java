package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CleanupTest {
    private final List<String> told = new ArrayList<>();
    private final List<String> removed = new ArrayList<>();
    private final Cleanup cleanup = new Cleanup(told::add);

    @Test
    void close_removesTheLastFirst() {
        cleanup.add("one", () -> removed.add("one"));
        cleanup.add("two", () -> removed.add("two"));
        cleanup.close();
        assertThat(removed).containsExactly("two", "one");
        assertThat(told).isEmpty();
    }

    @Test
    void close_oneFails_isToldAndTheOthersAreRemoved() {
        cleanup.add("one", () -> removed.add("one"));
        cleanup.add("the folder /x", () -> {
            throw new NoSuchFileException("/x");
        });
        cleanup.add("three", () -> {
            throw new IOException("busy");
        });
        cleanup.close();
        assertThat(removed).containsExactly("one");
        assertThat(told)
                .containsExactly(
                        "could not remove three (busy); remove it by hand",
                        "could not remove the folder /x (no such file: /x); remove it by hand");
    }

    @Test
    void close_interrupted_removesAllAndLeavesTheInterrupt() {
        Thread caller = Thread.currentThread();
        cleanup.add("one", () -> {
            caller.interrupt();
            Thread.sleep(1);
            removed.add("one");
        });
        caller.interrupt();
        cleanup.close();
        assertThat(removed).containsExactly("one");
        assertThat(told).isEmpty();
        assertThat(Thread.interrupted()).isTrue();
    }
}
