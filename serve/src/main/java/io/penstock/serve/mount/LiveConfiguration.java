package io.penstock.serve.mount;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The settings of a mount, some of which change while it serves. Thread-safe. */
public final class LiveConfiguration {
    private static final Logger log = LoggerFactory.getLogger(LiveConfiguration.class);

    /** Reads the command line, the file and the environment of the mount. */
    @FunctionalInterface
    public interface Source {
        /** @throws ConfigurationException with every problem */
        Configuration read() throws ConfigurationException;
    }

    /** A setting, its value and its origin. */
    record Shown(String key, String value, String origin) {}

    /**
     * A setting that has changed.
     *
     * @param holdsNow false if it takes effect when the bucket is mounted again
     */
    record Change(String key, String before, String after, boolean holdsNow) {}

    private final Source source;
    private final Consumer<Configuration> apply;
    private final Configuration mounted;

    /** Held by the one {@link #reload}: its file system may hang, and an earlier read must not replace a later one. */
    private final ReentrantLock reading = new ReentrantLock();

    /** Written while holding the monitor. */
    private volatile Configuration current;

    /**
     * @param mounted the mount's configuration
     * @param apply applies the live settings of another configuration to the mount; must not fail
     */
    LiveConfiguration(Configuration mounted, Source source, Consumer<Configuration> apply) {
        this.mounted = mounted;
        this.current = mounted;
        this.source = source;
        this.apply = apply;
    }

    /**
     * Changes settings until the next {@link #reload}, all or none.
     *
     * @param assignments each {@code key=value}, the key as in {@code -o}
     * @throws RefusedException with every problem
     */
    synchronized List<Change> set(List<String> assignments) throws RefusedException {
        Configuration next;
        try {
            next = current.with(parse(assignments, "penstock set"));
        } catch (ConfigurationException e) {
            throw new RefusedException(String.join("\n", e.problems()));
        }
        return change(next, current);
    }

    /**
     * The settings that {@link #set} would change.
     *
     * @param where the place to name in messages
     * @throws ConfigurationException with every problem that does not depend on the mount
     */
    public static SettingSource parse(List<String> assignments, String where) throws ConfigurationException {
        SettingSource changes = MountOptionList.parse(assignments, where).settings();
        List<String> problems = new ArrayList<>(changes.problems());
        List<Setting<?>> settings = changes.settings();
        String fixed = settings.stream()
                .filter(setting -> !setting.isLive())
                .map(Setting::key)
                .collect(Collectors.joining(", "));
        if (!fixed.isEmpty()) {
            problems.add(fixed + ": cannot change while mounted; set it in the configuration file and mount again");
        } else if (problems.isEmpty() && (settings.size() != assignments.size() || settings.isEmpty())) {
            problems.add("write key=value for each setting, such as readahead.concurrency=32");
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return changes;
    }

    /**
     * Applies the current settings of the file and the command line; changes by {@link #set} are undone.
     *
     * @throws RefusedException with every problem, or if another thread is reading the file; then nothing changes
     */
    List<Change> reload() throws RefusedException {
        if (!reading.tryLock()) {
            throw new RefusedException("a reload is already in progress; try again later (if it takes long, the file"
                    + " system of the configuration file hangs)");
        }
        try {
            Configuration next = source.read(); // without holding the monitor
            synchronized (this) {
                return change(next, mounted);
            }
        } catch (ConfigurationException e) {
            throw new RefusedException(String.join("\n", e.problems()));
        } finally {
            reading.unlock();
        }
    }

    /** The same, once no other thread is reading the file. */
    List<Change> reloadInTurn() throws RefusedException {
        reading.lock();
        try {
            return reload();
        } finally {
            reading.unlock();
        }
    }

    /**
     * @param told the configuration already reported: settings that need a new mount are reported only if they differ
     *     from it
     */
    @GuardedBy("this")
    private List<Change> change(Configuration next, Configuration told) {
        List<Change> changes = new ArrayList<>();
        for (Setting<?> setting : Settings.ALL) {
            Configuration inForce = inForce(setting, current);
            String after = next.written(setting);
            if (!inForce.written(setting).equals(after)
                    && (setting.isLive() || !told.written(setting).equals(after))) {
                changes.add(new Change(setting.key(), inForce.show(setting), next.show(setting), setting.isLive()));
            }
        }
        apply.accept(next); // first: if it fails anyway, the settings shown are those in effect
        current = next;
        changes.forEach(change -> log.info(
                "{}: changed from {} to {}{}",
                change.key,
                change.before,
                change.after,
                change.holdsNow ? "" : ", after the next mount"));
        return changes;
    }

    /** A live setting's current value. */
    <T> T get(Setting<T> setting) {
        return current.get(setting);
    }

    /** All settings, with the values in effect. */
    List<Shown> show() {
        Configuration now = current;
        List<Shown> shown = new ArrayList<>();
        for (Setting<?> setting : Settings.ALL) {
            Configuration of = inForce(setting, now);
            shown.add(new Shown(
                    setting.key(), of.show(setting), of.origin(setting).toString()));
        }
        return shown;
    }

    private Configuration inForce(Setting<?> setting, Configuration now) {
        return setting.isLive() ? now : mounted;
    }
}
