package io.penstock.cli.config;

/** How much is logged, from little to much. */
public enum LogLevel {
    ERROR,
    WARN,
    INFO,
    DEBUG,
    TRACE
}
