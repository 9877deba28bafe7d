package io.penstock.serve.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.AsyncAppenderBase;
import ch.qos.logback.core.Context;
import ch.qos.logback.core.LayoutBase;
import ch.qos.logback.core.rolling.RollingFileAppender;
import io.penstock.core.Errno;
import io.penstock.core.Printable;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.KernelCall;
import io.penstock.fuse.calls.ObservedCall;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A file with one line for each call from the kernel. It has its own writing thread, and calls never wait for it: if
 * the disk is too slow, lines are dropped, and a line says how many. Thread-safe.
 */
public final class AccessLog implements AutoCloseable {
    private static final String FILE_SIZE = "100MB";

    /** A few MB of heap at most. */
    private static final int MOST_WAITING = 16_384;

    /** The timeout for the remaining lines at the end of the mount. */
    private static final Duration END_PATIENCE = Duration.ofSeconds(5);

    private final Queue queue;

    /** @param path as from {@link #path} */
    private record Entry(
            long millis, KernelCall call, @Nullable String path, long offset, int bytes, int errno, long nanos) {}

    private static final class Queue extends AsyncAppenderBase<Entry> {
        /** Dropped lines that the file does not report yet. */
        private final LongAdder left = new LongAdder();

        /** Called only when there is hardly any room left. */
        @Override
        protected boolean isDiscardable(Entry entry) {
            left.increment();
            return true;
        }
    }

    /** Used only by the writing thread. */
    private static final class Lines extends LayoutBase<Entry> {
        private static final DateTimeFormatter TIME =
                DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").withZone(ZoneId.systemDefault());

        private final LongAdder left;

        Lines(LongAdder left) {
            this.left = left;
        }

        @Override
        public String doLayout(Entry entry) {
            String time = TIME.format(Instant.ofEpochMilli(entry.millis));
            long missing = left.sumThenReset();
            StringBuilder line = new StringBuilder(160);
            if (missing > 0) {
                line.append(time).append(" # ").append(missing).append(" lines dropped: the disk was too slow\n");
            }
            return line.append(time)
                    .append(' ')
                    .append(entry.call.label())
                    .append(' ')
                    .append(entry.offset == ObservedCall.NO_OFFSET ? "-" : entry.offset)
                    .append(' ')
                    .append(entry.bytes)
                    .append(' ')
                    .append(entry.errno == 0 ? "OK" : Errno.nameOf(entry.errno).replace(' ', '-'))
                    .append(' ')
                    .append(TimeUnit.NANOSECONDS.toMicros(entry.nanos))
                    .append(' ')
                    .append(entry.path == null ? "-" : Printable.text(entry.path))
                    .append('\n')
                    .toString();
        }
    }

    private AccessLog(Queue queue) {
        this.queue = queue;
    }

    /**
     * Opens the file, which is rotated at 100 MB; five old files are kept. Only the owner can read them.
     *
     * @throws IOException if it cannot be written
     */
    public static AccessLog open(Path file) throws IOException {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Queue queue = new Queue();
        RollingFileAppender<Entry> appender = Logging.otherFile(context, file, FILE_SIZE, new Lines(queue.left));
        return start(queue, appender, context);
    }

    private static AccessLog start(Queue queue, RollingFileAppender<Entry> appender, Context context) {
        queue.setContext(context);
        queue.setName("access log");
        queue.setQueueSize(MOST_WAITING);
        queue.setDiscardingThreshold(MOST_WAITING / 16);
        queue.setNeverBlock(true);
        queue.setMaxFlushTime((int) END_PATIENCE.toMillis());
        queue.addAppender(appender);
        queue.start();
        return new AccessLog(queue);
    }

    /** @param paths finds the path of an inode; null if it has none */
    public CallObserver observer(LongFunction<@Nullable String> paths) {
        return (call, errno, bytes, nanos) -> queue.doAppend(new Entry(
                System.currentTimeMillis(), call.kind(), path(call, paths), call.offset(), bytes, errno, nanos));
    }

    /** The path from the mount's root; for an inode without a name, its number. */
    private static @Nullable String path(ObservedCall call, LongFunction<@Nullable String> paths) {
        String name = call.name();
        if (call.inode() == 0) {
            return name;
        }
        String path = Objects.requireNonNullElse(paths.apply(call.inode()), "inode " + call.inode());
        return name == null ? path : path + name;
    }

    /** Writes the remaining lines, for a few seconds at most. */
    @Override
    public void close() {
        queue.stop();
        if (missing() > 0) {
            LoggerFactory.getLogger(AccessLog.class)
                    .warn("{} lines dropped at the end of the access log: the disk was too slow", missing());
        }
    }

    /** Dropped lines that the file does not report. */
    long missing() {
        return queue.left.sum();
    }
}
