package io.penstock.settings.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The phases between the return key and the ready mount. One thread. */
public final class StartTimes {
    private final List<String> phases = new ArrayList<>();
    private Duration last = Duration.ZERO;

    /** Ends the phase that began with the end of the one before. */
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
