package io.penstock.cli.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A setting: the option {@code --cache-size}, {@code cache_size} in {@code -o}, and {@code cache: {size: …}} in a file.
 *
 * @param <T> its value
 */
public final class Setting<T> {
    private final String key;
    private final ValueType<T> type;
    private final String help;
    private final List<String> names;
    private final String defaultText;
    private final Function<Context, @Nullable Assignment<T>> defaultValue;
    private final boolean isLive;

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
            Function<Context, @Nullable Assignment<T>> defaultValue,
            boolean isLive) {
        this.key = key;
        this.type = type;
        this.help = help;
        this.names = names;
        this.defaultText = defaultText;
        this.defaultValue = defaultValue;
        this.isLive = isLive;
    }

    /** A setting without a default. */
    static <T> Setting<T> of(String key, ValueType<T> type, String help) {
        return new Setting<>(key, type, help, List.of(key.replace('.', '-')), "none", context -> null, false);
    }

    /** The same setting with a fixed default. */
    Setting<T> withDefault(String text) {
        T value = type.parse(text);
        if (value == null) {
            throw new IllegalArgumentException(key + ": the default " + text + " is not " + type.allowed());
        }
        return withDefault(text, context -> value);
    }

    /** The same setting with the default of its module. */
    Setting<T> withDefault(T value) {
        return withDefault(type.print(value));
    }

    /** The same setting with a default that depends on the machine, the bucket or other settings; null for none. */
    Setting<T> withDefault(String text, Function<Context, @Nullable T> compute) {
        return withOriginalDefault(text, context -> {
            T value = compute.apply(context);
            return value == null ? null : new Assignment<>(this, value, new Origin.Default());
        });
    }

    /**
     * The same setting, taken from the first of these environment variables that is set, or else its former default.
     */
    Setting<T> fromEnvironment(String... variables) {
        String text = "$" + String.join(", $", variables) + ", else " + defaultText;
        return withOriginalDefault(text, context -> {
            for (String variable : variables) {
                String found = context.host().environment().getOrDefault(variable, "");
                T value = found.isEmpty() ? null : type.parse(found);
                if (value != null) {
                    return new Assignment<>(this, value, new Origin.Variable(variable));
                }
            }
            return defaultValue.apply(context);
        });
    }

    /** The same setting, with a further, usually shorter name for its option. */
    Setting<T> alias(String name) {
        List<String> all = new ArrayList<>(names);
        all.addFirst(name);
        return new Setting<>(key, type, help, List.copyOf(all), defaultText, defaultValue, isLive);
    }

    /** The same setting, which takes effect while mounted if it is changed. */
    Setting<T> live() {
        return new Setting<>(key, type, help, names, defaultText, defaultValue, true);
    }

    private Setting<T> withOriginalDefault(String text, Function<Context, @Nullable Assignment<T>> compute) {
        return new Setting<>(key, type, help, names, text, compute, isLive);
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

    /** Whether a mount takes a changed value at once; else the next mount does. */
    public boolean isLive() {
        return isLive;
    }

    @Nullable
    Assignment<T> defaultIn(Context context) {
        return defaultValue.apply(context);
    }

    @Override
    public String toString() {
        return key;
    }
}
