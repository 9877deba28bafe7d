package io.penstock.serve.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.rolling.RollingFileAppender;
import io.penstock.settings.LogLevel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class LoggingTest {
    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

    @TempDir
    private Path folder;

    @AfterEach
    void putBack() {
        Logging.toTerminal(LogLevel.WARN);
    }

    @Test
    void toFile_newFilesAndRotatedOnes_areForTheirOwnerAlone() throws IOException {
        Path file = folder.resolve("logs/data.log");
        Logging.toFile(file, LogLevel.INFO);
        ROOT.info("one");
        ((RollingFileAppender<?>) ROOT.iteratorForAppenders().next()).rollover();
        ROOT.info("two");
        for (Path each : List.of(file, folder.resolve("logs/data.log.1"))) {
            assertThat(Files.getPosixFilePermissions(each)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
    }

    @Test
    void toFile_messageAndExceptionWithLineBreaks_forgeNoLine() throws IOException {
        Path file = folder.resolve("data.log");
        Logging.toFile(file, LogLevel.INFO);
        String key = "a\n2026-01-01T00:00:00.000Z ERROR [x] Y: forged\u001b[2J";
        ROOT.warn("'{}' failed", key, new IOException("no " + key, new IllegalStateException(key)));
        List<String> lines = Files.readAllLines(file);
        assertThat(lines)
                .filteredOn(line -> line.contains("forged"))
                .hasSize(3)
                .noneMatch(line -> line.startsWith("2026-01-01") || line.contains("\u001b"));
        assertThat(lines).filteredOn(line -> line.startsWith("\tat ")).isNotEmpty();
    }

    @Test
    void removeIfEmpty_removesOnlyAFileWithoutALine() throws IOException {
        Path file = folder.resolve("data.log");
        Logging.toFile(file, LogLevel.INFO);
        Logging.removeIfEmpty();
        assertThat(file).doesNotExist();
        Logging.toFile(file, LogLevel.INFO);
        ROOT.info("one");
        Logging.removeIfEmpty();
        assertThat(file).isNotEmptyFile();
    }

    @Test
    void toFile_messageAndExceptionWithSecrets_hidesThem() throws IOException {
        Path file = folder.resolve("data.log");
        Logging.toFile(file, LogLevel.INFO);
        String url = "https://me:S3cr3tPw@h/k?X-Amz-Signature=S3cr3tPw";
        ROOT.warn("GET {}", url, new IOException(url, new IllegalStateException(url)));
        assertThat(file)
                .content()
                .contains("https://***@h/k?X-Amz-Signature=***")
                .doesNotContain("S3cr3tPw");
    }

    @Test
    void toFile_anyLevel_neitherHeadersNorBodiesNorSignatures() throws IOException {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        for (LogLevel level : LogLevel.values()) {
            Logging.toFile(folder.resolve("data.log"), level);
            for (String secretive : List.of(
                    "org.apache.hc.client5.http.wire",
                    "org.apache.hc.client5.http.headers",
                    "software.amazon.awssdk.http.auth.aws.internal.signer.V4CanonicalRequest",
                    "software.amazon.awssdk.auth.signer.Aws4Signer")) {
                assertThat(context.getLogger(secretive).isEnabledFor(Level.INFO))
                        .as("%s at %s", secretive, level)
                        .isFalse();
            }
        }
        assertThat(context.getLogger("software.amazon.awssdk.request").isDebugEnabled())
                .isTrue();
    }

    @Test
    void toTerminal_anyLevel_nothingOfWhatParquetDoesWithout() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        for (LogLevel level : LogLevel.values()) {
            Logging.toTerminal(level);
            assertThat(context.getLogger("org.apache.hadoop.util.NativeCodeLoader")
                            .isEnabledFor(Level.WARN))
                    .isFalse();
            assertThat(context.getLogger("org.apache.parquet.hadoop").isEnabledFor(Level.INFO))
                    .isFalse();
        }
    }
}
