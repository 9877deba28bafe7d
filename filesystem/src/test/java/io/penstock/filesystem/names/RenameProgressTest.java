package io.penstock.filesystem.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.RunningRename.Step;
import io.penstock.metadata.Directory;
import io.penstock.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The reports about renames of directories while they run. */
class RenameProgressTest {
    private static final Move MOVE = new Move(new Directory("d/"), new Directory("new\nname/"));

    private final ManualClock clock = new ManualClock();
    private final List<String> log = new ArrayList<>();
    private final RenameProgress progress = new RenameProgress(log::add, clock::nanoTime);

    @Test
    void done_everyFewSeconds_isLogged() {
        try (RenameProgress.Running running = progress.begin(MOVE, Step.COPYING, 1000)) {
            running.done(1);
            clock.advance(Duration.ofNanos(RenameProgress.INTERVAL_NANOS - 1));
            running.done(1);
            assertThat(log).isEmpty();

            clock.advance(Duration.ofNanos(1));
            running.done(1);
            running.done(1);
            assertThat(log).containsExactly("Renaming 'd/' to 'new\\u000aname/': 3 of 1000 objects copied");

            clock.advance(Duration.ofNanos(RenameProgress.INTERVAL_NANOS));
            running.done(500);
        }
        assertThat(log).hasSize(2).last().asString().endsWith("504 of 1000 objects copied");
    }

    @Test
    void now_ofTwoRenames_tellsHowFarEachHasCome() {
        Move other = new Move(new Directory("a/"), new Directory("b/"));
        try (RenameProgress.Running first = progress.begin(MOVE, Step.DELETING, 30);
                RenameProgress.Running second = progress.begin(other, Step.COPYING, 20)) {
            first.done(10);
            second.done(5);
            second.done(5);

            assertThat(progress.now())
                    .containsExactly(
                            new RunningRename("a/", "b/", Step.COPYING, 10, 20),
                            new RunningRename("d/", "new\nname/", Step.DELETING, 10, 30));
        }
        assertThat(progress.now()).isEmpty();
    }
}
