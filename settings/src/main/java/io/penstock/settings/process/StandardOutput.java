package io.penstock.settings.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The output of commands. Remembers why a write failed: {@link PrintStream} reports only that it failed. Thread-safe.
 */
public final class StandardOutput {
    /** The message of {@link IOException} for EPIPE: a pipe without a reader, as after {@code head}. */
    private static final String NOBODY_READS = "Broken pipe";

    private final PrintStream stream;
    private volatile @Nullable IOException failure;

    public StandardOutput(OutputStream to) {
        stream = new PrintStream(new BufferedOutputStream(new Told(to)), true, UTF_8);
    }

    public PrintStream stream() {
        return stream;
    }

    /** Why output was lost, in words; empty if none was, or if the reader has gone. */
    public Optional<String> failure() {
        stream.flush();
        return Optional.ofNullable(failure).map(Reason::of).filter(reason -> !reason.equals(NOBODY_READS));
    }

    private final class Told extends FilterOutputStream {
        Told(OutputStream to) {
            super(to);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            try {
                out.write(bytes, offset, length);
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }
    }
}
