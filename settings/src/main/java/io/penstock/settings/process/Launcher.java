package io.penstock.settings.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * This process's interface to bin/penstock, which starts it. For a background command, the launcher reads its standard
 * output until a line says that it is ready.
 */
public final class Launcher {
    /** ASCII's ACK, alone on a line: no text for users contains it. */
    private static final String READY = "\u0006";

    private Launcher() {}

    /** Whether the launcher waits for {@link #ready} and then detaches from this process. */
    public static boolean waits() {
        return Boolean.getBoolean("penstock.background");
    }

    /** Lets the launcher exit. Later output is not read: the JDK points a closed stdout to /dev/null. */
    public static void ready() {
        System.out.println(READY);
        System.out.close();
        System.err.close();
    }

    /** Penstock's folder, which contains bin; null if the launcher did not start this process. */
    public static @Nullable Path home() {
        String home = System.getProperty("penstock.home");
        return home == null ? null : Path.of(home);
    }

    /**
     * The folder of what bin/penstock runs: jars, start caches and supervisor. A package has these, and its Java, in
     * Penstock's own folder.
     */
    public static Path built(Path home) {
        return Files.exists(home.resolve("runtime")) ? home : home.resolve("cli/target/penstock");
    }

    /** The command that runs Penstock. */
    public static String command() {
        return System.getProperty("penstock.command", "penstock");
    }

    /** The time since the user pressed Return, or since this JVM's start if that is unknown. */
    static Duration sinceStart() {
        String seconds = System.getProperty("penstock.started", "");
        Instant started = seconds.isEmpty()
                ? ProcessHandle.current().info().startInstant().orElseGet(Instant::now)
                : Instant.ofEpochMilli((long) (Double.parseDouble(seconds) * 1000));
        return Duration.between(started, Instant.now());
    }
}
