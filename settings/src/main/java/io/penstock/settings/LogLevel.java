package io.penstock.settings;

/** How much is logged, in ascending order. */
public enum LogLevel {
    ERROR,
    WARN,
    INFO,
    DEBUG,
    TRACE
}
