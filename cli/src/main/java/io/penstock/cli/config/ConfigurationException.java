package io.penstock.cli.config;

import java.util.List;

/**
 * The configuration cannot be used. The message has one line for each problem, which names place, key and allowed
 * values.
 */
public final class ConfigurationException extends Exception {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // List.copyOf gives a serializable one.
    private final List<String> problems;

    public ConfigurationException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    /** One message for each problem. */
    public List<String> problems() {
        return problems;
    }
}
