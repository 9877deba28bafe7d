package io.penstock.cli.config;

/** How much is logged, in ascending order. */
public enum LogLevel {
    ERROR,
    WARN,
    INFO,
    DEBUG,
    TRACE
}
