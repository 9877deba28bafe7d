package io.penstock.cli.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something that can be set: as the option {@code --cache-size}, as {@code cache_size} in {@code -o}, as {@code
 * cache: {size: …}} in a file.
 *
 * @param <T> its value
 */
public final class Setting<T> {
    private final String key;
    private final ValueType<T> type;
    private final String help;
    private final List<String> names;
    private final String defaultText;
    private final Function<Configuration, @Nullable Assignment<T>> defaultValue;

    private Setting(
            String key,
            ValueType<T> type,
            String help,
            List<String> names,
            String defaultText,
            Function<Configuration, @Nullable Assignment<T>> defaultValue) {
        this.key = key;
        this.type = type;
        this.help = help;
        this.names = names;
        this.defaultText = defaultText;
        this.defaultValue = defaultValue;
    }

    /** Without a default. */
    static <T> Setting<T> of(String key, ValueType<T> type, String help) {
        return new Setting<>(key, type, help, List.of(key.replace('.', '-')), "none", configuration -> null);
    }

    /** The same setting with a fixed default. */
    Setting<T> withDefault(String text) {
        T value = type.parse(text);
        if (value == null) {
            throw new IllegalArgumentException(key + ": the default " + text + " is not " + type.allowed());
        }
        return withDefault(text, configuration -> value);
    }

    /** The same setting with the default of the module that it is for. */
    Setting<T> withDefault(T value) {
        return withDefault(type.print(value));
    }

    /** The same setting with a default that depends on the machine, the bucket or other settings; null for none. */
    Setting<T> withDefault(String text, Function<Configuration, @Nullable T> compute) {
        return withOriginalDefault(text, configuration -> {
            T value = compute.apply(configuration);
            return value == null ? null : new Assignment<>(this, value, new Origin.Default());
        });
    }

    /** The same setting, taken from the first of these environment variables that is set; otherwise as before. */
    Setting<T> fromEnvironment(String... variables) {
        String text = "$" + String.join(", $", variables) + ", else " + defaultText;
        return withOriginalDefault(text, configuration -> {
            for (String variable : variables) {
                String found = configuration.host().environment().getOrDefault(variable, "");
                T value = found.isEmpty() ? null : type.parse(found);
                if (value != null) {
                    return new Assignment<>(this, value, new Origin.Variable(variable));
                }
            }
            return defaultValue.apply(configuration);
        });
    }

    /** The same setting, with a further, usually shorter name for its option. */
    Setting<T> alias(String name) {
        List<String> all = new ArrayList<>(names);
        all.addFirst(name);
        return new Setting<>(key, type, help, List.copyOf(all), defaultText, defaultValue);
    }

    private Setting<T> withOriginalDefault(String text, Function<Configuration, @Nullable Assignment<T>> compute) {
        return new Setting<>(key, type, help, names, text, compute);
    }

    /** Its name in files, with dots: {@code cache.size}. */
    public String key() {
        return key;
    }

    public ValueType<T> type() {
        return type;
    }

    /** What it does, in a sentence or two. */
    public String help() {
        return help;
    }

    /** Its names as an option, without the dashes before them; the preferred first, the key's own last. */
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

    @Nullable
    Assignment<T> defaultIn(Configuration configuration) {
        return defaultValue.apply(configuration);
    }

    @Override
    public String toString() {
        return key;
    }
}
