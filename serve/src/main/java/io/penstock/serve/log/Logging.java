package io.penstock.serve.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.LayoutBase;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.util.FileSize;
import io.penstock.settings.LogLevel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Configures where log lines go: warnings to the terminal, until a mount names its file. It is code, because reading
 * Logback's XML takes a tenth of a second at every start.
 */
public final class Logging extends ContextAwareBase implements Configurator {
    private static final List<String> LIBRARIES =
            List.of("software.amazon.awssdk", "org.apache.hc", "org.apache.parquet", "org.eclipse.jetty", "org.gaul");

    /** Parquet uses Hadoop's codecs, which warn that they are not native. */
    private static final String HADOOP = "org.apache.hadoop";

    /** It warns of members that join, leave or are slow; the state of a cache group shows the same. */
    private static final List<String> JGROUPS =
            List.of("org.jgroups", "io.penstock.share.GroupTransport", "io.penstock.share.Membership");

    /**
     * The SDK's debug messages about its requests: methods, keys, the names of headers, request IDs, retries. Other
     * libraries log warnings only: their debug messages contain signatures, session tokens and content.
     */
    private static final List<String> REQUESTS = List.of(
            "software.amazon.awssdk.request", "software.amazon.awssdk.requestId", "software.amazon.awssdk.retries");

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final int KEPT_FILES = 5;
    private static final String FILE_SIZE = "10MB";

    /** Set once, by the thread that starts the mount. */
    private static volatile @Nullable Path file;

    /** The log file, if there is one. */
    public static Optional<Path> file() {
        return Optional.ofNullable(file);
    }

    /** Called by Logback, which finds this class through META-INF/services, before the first log line. */
    @Override
    public ExecutionStatus configure(LoggerContext context) {
        use(context, terminal(), new LogLayout(true), Level.WARN);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** From now on log lines of this level go to the terminal. */
    public static void toTerminal(LogLevel level) {
        use(reset(), terminal(), new LogLayout(false), Level.toLevel(level.name()));
    }

    /**
     * From now on log lines go to the file, which is rotated at 10 MB; five old files are kept. Names in a bucket may
     * be private, so only the owner can read the files.
     *
     * @throws IOException if the file cannot be written
     */
    public static void toFile(Path file, LogLevel level) throws IOException {
        prepare(file);
        LoggerContext context = reset();
        Logging.file = file;
        use(context, rolling(context, file, FILE_SIZE), new LogLayout(false), Level.toLevel(level.name()));
    }

    /** Removes the log file if it is empty, as after a refused mount. */
    public static void removeIfEmpty() {
        Path empty = file;
        if (empty != null && empty.toFile().length() == 0) {
            reset();
            var _ = empty.toFile().delete();
        }
    }

    /** From now on no warnings are logged about features that the server lacks: the demo knows its server. */
    public static void toleratesServer() {
        ((LoggerContext) LoggerFactory.getILoggerFactory())
                .getLogger("io.penstock.objectstore.s3.ConditionalWrites")
                .setLevel(Level.ERROR);
    }

    /** From now on log lines of this level are written. */
    public static void setLevel(LogLevel level) {
        setLevels((LoggerContext) LoggerFactory.getILoggerFactory(), Level.toLevel(level.name()));
    }

    private static LoggerContext reset() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.getLogger(Logger.ROOT_LOGGER_NAME).detachAndStopAllAppenders();
        return context;
    }

    private static ConsoleAppender<ILoggingEvent> terminal() {
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setTarget("System.err");
        return appender;
    }

    /**
     * Another log file that is rotated at this size, and that only the owner can read.
     *
     * @throws IOException if it cannot be written
     */
    static <E> RollingFileAppender<E> otherFile(LoggerContext context, Path file, String size, LayoutBase<E> layout)
            throws IOException {
        prepare(file);
        RollingFileAppender<E> appender = rolling(context, file, size);
        start(context, appender, layout);
        return appender;
    }

    /** Finds errors now: Logback would only complain on the terminal, which is gone by then. */
    private static void prepare(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        makePrivate(file);
    }

    private static <E> RollingFileAppender<E> rolling(LoggerContext context, Path file, String size) {
        RollingFileAppender<E> appender = new PrivateFileAppender<>();
        appender.setFile(file.toString());
        FixedWindowRollingPolicy window = new FixedWindowRollingPolicy();
        window.setContext(context);
        window.setParent(appender);
        window.setFileNamePattern(file + ".%i");
        window.setMinIndex(1);
        window.setMaxIndex(KEPT_FILES);
        window.start();
        SizeBasedTriggeringPolicy<E> trigger = new SizeBasedTriggeringPolicy<>();
        trigger.setContext(context);
        trigger.setMaxFileSize(FileSize.valueOf(size));
        trigger.start();
        appender.setRollingPolicy(window);
        appender.setTriggeringPolicy(trigger);
        return appender;
    }

    private static void use(
            LoggerContext context, OutputStreamAppender<ILoggingEvent> appender, LogLayout layout, Level level) {
        start(context, appender, layout);
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
        setLevels(context, level);
    }

    private static void setLevels(LoggerContext context, Level level) {
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(level);
        LIBRARIES.forEach(library -> context.getLogger(library).setLevel(Level.WARN));
        context.getLogger(HADOOP).setLevel(Level.ERROR);
        JGROUPS.forEach(library ->
                context.getLogger(library).setLevel(level.isGreaterOrEqual(Level.INFO) ? Level.OFF : Level.WARN));
        Level requests = level == Level.TRACE ? Level.DEBUG : Level.WARN;
        REQUESTS.forEach(logger -> context.getLogger(logger).setLevel(requests));
    }

    private static <E> void start(LoggerContext context, OutputStreamAppender<E> appender, LayoutBase<E> layout) {
        layout.setContext(context);
        layout.start();
        LayoutWrappingEncoder<E> encoder = new LayoutWrappingEncoder<>();
        encoder.setContext(context);
        encoder.setLayout(layout);
        encoder.start();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.start();
    }

    /** Creates the file if it is missing, and checks that it can be written. */
    private static void makePrivate(Path file) throws IOException {
        Files.newByteChannel(
                        file,
                        Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                        PosixFilePermissions.asFileAttribute(OWNER_ONLY))
                .close();
    }

    /** Makes the next file after a rotation readable only by its owner. */
    private static final class PrivateFileAppender<E> extends RollingFileAppender<E> {
        @Override
        public void openFile(String name) throws IOException {
            makePrivate(Path.of(name));
            super.openFile(name);
        }
    }
}
