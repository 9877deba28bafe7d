package io.penstock.settings;

import io.penstock.settings.process.Secrets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The effective settings of one bucket, and where each comes from. Immutable. */
public final class Configuration implements Setting.Context {
    private static final long MIB = 1L << 20;

    /** Bytes outside the heap that the HTTP client uses for each connection: headers, part of a body, TLS records. */
    private static final long CONNECTION_BYTES = 296 << 10;

    /**
     * The number of connections for which the launcher reserves room in -XX:MaxDirectMemorySize, in addition to half of
     * the memory.
     */
    private static final long CONNECTIONS_BESIDE = 512;

    private final Host host;
    private final String bucket;
    private final Map<Setting<?>, Assignment<?>> assigned;

    private Configuration(Host host, String bucket, Map<Setting<?>, Assignment<?>> assigned) {
        this.host = host;
        this.bucket = bucket;
        this.assigned = assigned;
    }

    /**
     * Merges the sources, in order of precedence: options, {@code -o}, the bucket's section of the file, its
     * {@code defaults} section, values that other programs use too, the built-in defaults.
     *
     * @throws ConfigurationException with every problem of every source
     */
    public static Configuration of(
            Host host, String bucket, SettingSource options, SettingSource mountOptions, ConfigurationFile file)
            throws ConfigurationException {
        List<String> problems = new ArrayList<>(options.problems());
        problems.addAll(mountOptions.problems());
        problems.addAll(file.problems());
        Map<Setting<?>, Assignment<?>> assigned = new HashMap<>();
        List.of(options.assignments(), mountOptions.assignments(), file.bucket(bucket), file.defaults())
                .forEach(source -> source.forEach(
                        assignment -> assigned.putIfAbsent(assignment.setting(), assignment.forBucket(bucket))));
        SettingSource found = new Configuration(host, bucket, Map.copyOf(assigned)).foundElsewhere();
        problems.addAll(found.problems());
        found.assignments().forEach(assignment -> assigned.put(assignment.setting(), assignment.forBucket(bucket)));
        Configuration configuration = new Configuration(host, bucket, Map.copyOf(assigned));
        configuration.addContradictions(problems);
        throwIfAny(problems);
        return configuration;
    }

    /** Only the built-in defaults, without values that other programs use too. */
    public static Configuration defaults(Host host, String bucket) {
        return new Configuration(host, bucket, Map.of());
    }

    /** Values that other programs use too, for the settings that are not assigned. */
    private SettingSource foundElsewhere() {
        SettingSource.Builder source = new SettingSource.Builder();
        for (Setting<?> setting : Settings.ALL) {
            if (!assigned.containsKey(setting)) {
                setting.foundElsewhere(this).ifPresent(found -> source.read(setting, found));
            }
        }
        return source.build();
    }

    /**
     * Checks a file alone.
     *
     * @throws ConfigurationException with all its problems, including those that only a mount would show
     */
    public static void check(Host host, ConfigurationFile file) throws ConfigurationException {
        Set<String> problems = new LinkedHashSet<>(file.problems());
        List<String> buckets = new ArrayList<>(file.buckets().keySet());
        buckets.addFirst("BUCKET"); // Any bucket without its own section.
        for (String bucket : buckets) {
            try {
                of(host, bucket, SettingSource.EMPTY, SettingSource.EMPTY, file);
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        }
        throwIfAny(List.copyOf(problems));
    }

    /**
     * This configuration with these settings replaced.
     *
     * @throws ConfigurationException with every problem
     */
    public Configuration with(SettingSource changes) throws ConfigurationException {
        List<String> problems = new ArrayList<>(changes.problems());
        Map<Setting<?>, Assignment<?>> changed = new HashMap<>(assigned);
        changes.assignments().forEach(assignment -> changed.put(assignment.setting(), assignment.forBucket(bucket)));
        Configuration configuration = new Configuration(host, bucket, Map.copyOf(changed));
        configuration.addContradictions(problems);
        throwIfAny(problems);
        return configuration;
    }

    /** The same values, but a setting whose value is its default, given the values of the others, is not set. */
    public Configuration withoutDefaults() {
        Map<Setting<?>, Assignment<?>> others = new HashMap<>(assigned);
        others.values().removeIf(assignment -> assignment.isDefaultIn(this));
        return new Configuration(host, bucket, Map.copyOf(others));
    }

    private static void throwIfAny(List<String> problems) throws ConfigurationException {
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    /** A type checks one value alone; this checks combinations of values. */
    private void addContradictions(List<String> problems) {
        if (get(Settings.ANONYMOUS) && find(Settings.PROFILE).isPresent()) {
            problems.add(origin(Settings.ANONYMOUS) + ": s3.anonymous: cannot be combined with s3.profile ("
                    + origin(Settings.PROFILE) + "); set only one of them");
        }
        ShareContradictions.addTo(this, problems);
        long memory = get(Settings.MEMORY);
        if (get(Settings.RANGE_SIZE) > memory) {
            problems.add(origin(Settings.RANGE_SIZE) + ": readahead.range-size: '" + show(Settings.RANGE_SIZE)
                    + "' exceeds memory, which is " + show(Settings.MEMORY) + " ("
                    + origin(Settings.MEMORY) + ")");
        }
        long beside = Math.max(0, get(Settings.CONNECTIONS) - CONNECTIONS_BESIDE) * CONNECTION_BYTES;
        long mostMemory = Math.max(0, host.memoryBytes() / 2 - beside) / MIB * MIB;
        String allowed = "' is too large; the maximum is half of this machine's memory"
                + (beside == 0 ? "" : ", minus the memory for s3.connections");
        if (memory > mostMemory) {
            problems.add(origin(Settings.MEMORY) + ": memory: '" + show(Settings.MEMORY)
                    + allowed + ": "
                    + ByteSizes.print(mostMemory));
        } else if (!get(Settings.READ_ONLY) && get(WriteSettings.MEMORY) > mostMemory - memory) {
            problems.add(origin(WriteSettings.MEMORY) + ": write.memory: '" + show(WriteSettings.MEMORY)
                    + allowed + ", minus the setting memory: "
                    + ByteSizes.print(mostMemory - memory));
        }
    }

    @Override
    public Host host() {
        return host;
    }

    @Override
    public String bucket() {
        return bucket;
    }

    @Override
    public <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow(() -> new IllegalStateException(setting + " has no default"));
    }

    @Override
    public <T> Optional<T> find(Setting<T> setting) {
        return Optional.ofNullable(effective(setting)).map(Assignment::value);
    }

    /** The constant for the setting's value: {@code REQUIRED} for {@code required}. */
    public <E extends Enum<E>> E get(Setting<String> choice, Class<E> type) {
        return Enum.valueOf(type, get(choice).toUpperCase(Locale.ROOT));
    }

    /** Where the setting's value comes from. */
    public Origin origin(Setting<?> setting) {
        Assignment<?> effective = effective(setting);
        return effective == null ? new Origin.Default() : effective.origin();
    }

    /**
     * Lines for the end of an error message: these settings with their values and origins. Options are left out,
     * because the user sees them on the command line; so are defaults.
     */
    public String whereSet(List<Setting<?>> settings) {
        StringBuilder lines = new StringBuilder();
        for (Setting<?> setting : settings) {
            Origin origin = origin(setting);
            switch (origin) {
                case Origin.Option _, Origin.Default _ -> {}
                case Origin.MountOption _, Origin.Line _, Origin.Variable _, Origin.Profile _ ->
                    lines.append("\n  " + setting + " is " + show(setting) + ", set in " + origin);
            }
        }
        return lines.toString();
    }

    /** The value as a user would write it, without secrets, or a description if there is no value. */
    public String show(Setting<?> setting) {
        return Secrets.hiddenInInput(written(setting));
    }

    /** The same with secrets, for a configuration file and for comparisons. */
    public String written(Setting<?> setting) {
        Assignment<?> effective = effective(setting);
        return effective == null ? "(" + setting.defaultText().replaceFirst(".*, else ", "") + ")" : effective.print();
    }

    @SuppressWarnings("unchecked") // An assignment is stored under its own setting, which has the same T.
    private <T> @Nullable Assignment<T> effective(Setting<T> setting) {
        Assignment<?> assignment = assigned.get(setting);
        return assignment == null ? setting.defaultIn(this) : (Assignment<T>) assignment;
    }
}
