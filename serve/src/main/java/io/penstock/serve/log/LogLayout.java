package io.penstock.serve.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.core.LayoutBase;
import io.penstock.core.Printable;
import io.penstock.settings.process.Secrets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * One event as text: a line, and the stack trace below it. Keys of a bucket may contain line breaks and terminal escape
 * sequences. They are escaped, so no key can forge a line or control a terminal. Secrets are hidden.
 */
final class LogLayout extends LayoutBase<ILoggingEvent> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").withZone(ZoneId.systemDefault());

    private final boolean brief;

    /** @param brief for a person at a terminal: without time, thread and logger */
    LogLayout(boolean brief) {
        this.brief = brief;
    }

    @Override
    public String doLayout(ILoggingEvent event) {
        StringBuilder text = new StringBuilder(160);
        if (brief) {
            text.append("penstock: ").append(event.getLevel()).append(": ");
        } else {
            text.append(TIME.format(Instant.ofEpochMilli(event.getTimeStamp())))
                    .append(' ')
                    .append("%-5s".formatted(event.getLevel()))
                    .append(" [")
                    .append(event.getThreadName())
                    .append("] ")
                    .append(event.getLoggerName()
                            .substring(event.getLoggerName().lastIndexOf('.') + 1))
                    .append(": ");
        }
        text.append(shown(event.getFormattedMessage())).append('\n');
        append(text, "", event.getThrowableProxy());
        return text.toString();
    }

    private static String shown(String text) {
        return Printable.text(Secrets.hidden(text));
    }

    private static void append(StringBuilder text, String label, @Nullable IThrowableProxy thrown) {
        for (; thrown != null; thrown = thrown.getCause(), label = "Caused by: ") {
            text.append(label).append(thrown.getClassName());
            if (thrown.getMessage() != null) {
                text.append(": ").append(shown(thrown.getMessage()));
            }
            text.append('\n');
            StackTraceElementProxy[] frames = thrown.getStackTraceElementProxyArray();
            for (int i = 0; i < frames.length - thrown.getCommonFrames(); i++) {
                text.append('\t').append(frames[i].getSTEAsString()).append('\n');
            }
            if (thrown.getCommonFrames() > 0) {
                text.append("\t... ").append(thrown.getCommonFrames()).append(" more\n");
            }
            for (IThrowableProxy suppressed : thrown.getSuppressed()) {
                append(text, "Suppressed: ", suppressed);
            }
            if (thrown.isCyclic()) {
                return;
            }
        }
    }
}
