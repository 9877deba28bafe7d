package io.penstock.settings.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The phases between the user's Return key and the ready mount. Not thread-safe. */
public final class StartTimes {
    private final List<String> phases = new ArrayList<>();
    private Duration last = Duration.ZERO;

    /** Ends the phase that began when the previous one ended. */
    public void done(String phase) {
        Duration now = Launcher.sinceStart();
        phases.add(phase + " " + now.minus(last).toMillis() + " ms");
        last = now;
    }

    @Override
    public String toString() {
        return last.toMillis() + " ms: " + String.join(", ", phases);
    }
}
