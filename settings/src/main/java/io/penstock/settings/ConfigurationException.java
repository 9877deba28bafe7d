package io.penstock.settings;

import io.penstock.settings.process.Secrets;
import java.util.List;

/**
 * The configuration is invalid. The message has one line for each problem, with the place, the key and the allowed
 * values. It contains no secrets.
 */
public final class ConfigurationException extends Exception {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Stream.toList returns a serializable list.
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
