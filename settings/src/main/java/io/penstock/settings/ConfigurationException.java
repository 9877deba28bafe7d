package io.penstock.settings;

import io.penstock.settings.process.Secrets;
import java.util.List;

/**
 * The configuration cannot be used. The message has one line for each problem, which names place, key and allowed
 * values, and has no secrets.
 */
public final class ConfigurationException extends Exception {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // List.copyOf gives a serializable one.
    private final List<String> problems;

    public ConfigurationException(List<String> problems) {
        super(Secrets.hiddenInInput(String.join("\n", problems)));
        this.problems = problems.stream().map(Secrets::hiddenInInput).toList();
    }

    /** One message for each problem. */
    public List<String> problems() {
        return problems;
    }
}
