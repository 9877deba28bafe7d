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
 * The output of commands, which remembers why it could not be written: {@link PrintStream} tells only that it could not. Safe
 * for use by any number of threads.
 */
public final class StandardOutput {
    /** The message of {@link IOException} for a pipe without a reader, as after {@code head}: EPIPE. */
    private static final String NOBODY_READS = "Broken pipe";

    private final PrintStream stream;
    private volatile @Nullable IOException failure;

    public StandardOutput(OutputStream to) {
        stream = new PrintStream(new BufferedOutputStream(new Told(to)), true, UTF_8);
    }

    public PrintStream stream() {
        return stream;
    }

    /** Why not all was written, in words; empty also if the reader has gone. */
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
