package io.penstock.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A setting: the option {@code --cache-size}, {@code cache_size} in {@code -o}, and {@code cache: {size: …}} in a file.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> {
    private final String key;
    private final ValueType<T> type;
    private final String help;
    private final List<String> names;
    private final String defaultText;
    private final Function<Context, Optional<? extends Found>> elsewhere;
    private final Function<Context, @Nullable T> defaultValue;
    private final boolean isLive;

    /** What was found in a place that other programs read too. */
    sealed interface Found {
        /** A value as written. */
        record Text(String text, Origin origin) implements Found {
            /** The first of these environment variables that is set. */
            static Optional<Text> in(Host host, String... variables) {
                return Stream.of(variables)
                        .filter(variable -> !host.variable(variable, "").isEmpty())
                        .findFirst()
                        .map(variable -> new Text(host.variable(variable, ""), new Origin.Variable(variable)));
            }
        }

        /** Why the value is not known. */
        record Problem(String what, Origin origin) implements Found {}
    }

    /** The values on which a default may depend: the machine, the bucket and other settings. */
    interface Context {
        Host host();

        String bucket();

        /** The value of a setting that always has one. */
        <V> V get(Setting<V> setting);

        /** The value of a setting that may have none. */
        <V> Optional<V> find(Setting<V> setting);
    }

    private Setting(
            String key,
            ValueType<T> type,
            String help,
            List<String> names,
            String defaultText,
            Function<Context, Optional<? extends Found>> elsewhere,
            Function<Context, @Nullable T> defaultValue,
            boolean isLive) {
        this.key = key;
        this.type = type;
        this.help = help;
        this.names = names;
        this.defaultText = defaultText;
        this.elsewhere = elsewhere;
        this.defaultValue = defaultValue;
        this.isLive = isLive;
    }

    /** A setting without a default. */
    static <T> Setting<T> of(String key, ValueType<T> type, String help) {
        return new Setting<>(
                key,
                type,
                help,
                List.of(key.replace('.', '-')),
                "none",
                context -> Optional.empty(),
                context -> null,
                false);
    }

    /** The same setting with a fixed default. */
    Setting<T> withDefault(String text) {
        T value = type.parse(text);
        if (value == null) {
            throw new IllegalArgumentException(key + ": the default " + text + " is not " + type.allowed());
        }
        return withDefault(text, context -> value);
    }

    /** The same setting with a default that depends on the machine, the bucket or other settings; null for none. */
    Setting<T> withDefault(String text, Function<Context, @Nullable T> compute) {
        return new Setting<>(key, type, help, names, text, elsewhere, compute, isLive);
    }

    /** The same setting, read from the environment variable if nothing sets it. */
    Setting<T> fromEnvironment(String variable) {
        return from("$" + variable, context -> Found.Text.in(context.host(), variable));
    }

    /**
     * The same setting, read from a place that other programs read too if nothing sets it.
     *
     * @param places in words
     * @param search finds the value there; must not use a setting that is read from such a place
     */
    Setting<T> from(String places, Function<Context, Optional<? extends Found>> search) {
        return new Setting<>(key, type, help, names, places + ", else " + defaultText, search, defaultValue, isLive);
    }

    /** The same setting, with another, usually shorter option name. */
    Setting<T> alias(String name) {
        List<String> all = new ArrayList<>(names);
        all.addFirst(name);
        return new Setting<>(key, type, help, List.copyOf(all), defaultText, elsewhere, defaultValue, isLive);
    }

    /** The same setting; a changed value takes effect while mounted. */
    Setting<T> live() {
        return new Setting<>(key, type, help, names, defaultText, elsewhere, defaultValue, true);
    }

    /** Its name in files, with dots: {@code cache.size}. */
    public String key() {
        return key;
    }

    public ValueType<T> type() {
        return type;
    }

    /** Its effect, in a sentence or two. */
    public String help() {
        return help;
    }

    /** Its option names, without leading dashes; the preferred one first, the key's own last. */
    public List<String> names() {
        return names;
    }

    /** The option that the help shows first: {@code --cache-size}. */
    public String optionName() {
        return "--" + names.getFirst();
    }

    /** The default in words. */
    public String defaultText() {
        return defaultText;
    }

    /** Whether a changed value takes effect while mounted; otherwise at the next mount. */
    public boolean isLive() {
        return isLive;
    }

    /** The value that other programs use too. */
    Optional<? extends Found> foundElsewhere(Context context) {
        return elsewhere.apply(context);
    }

    @Nullable
    Assignment<T> defaultIn(Context context) {
        T value = defaultValue.apply(context);
        return value == null ? null : new Assignment<>(this, value, new Origin.Default());
    }

    @Override
    public String toString() {
        return key;
    }
}
