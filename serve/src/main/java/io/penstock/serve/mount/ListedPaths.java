package io.penstock.serve.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The given paths, and then those in a user's file, one a line. The file is read as needed: it may have millions of
 * lines. Confined to one thread.
 */
final class ListedPaths implements AutoCloseable {
    private final Iterator<String> given;
    private final @Nullable Path list;
    private final BufferedReader lines;
    private long line;

    /**
     * @param list null for none
     * @throws RefusedException if it cannot be read; the message names it
     */
    ListedPaths(List<String> given, @Nullable Path list) throws RefusedException {
        this.given = given.iterator();
        this.list = list;
        try {
            this.lines = new BufferedReader(list == null ? Reader.nullReader() : lines(list));
        } catch (IOException e) {
            throw refused(e);
        }
    }

    /** Bytes that are not UTF-8 become U+FFFD, so a line with such bytes does not affect other lines. */
    private static Reader lines(Path list) throws IOException {
        return new InputStreamReader(Files.newInputStream(list), UTF_8);
    }

    /**
     * The next path; null after the last one.
     *
     * @throws RefusedException if it cannot be read further; the message gives the line
     */
    @Nullable
    String next() throws RefusedException, InterruptedException {
        if (Thread.interrupted()) { // reading and known names do not wait, so only this notices it
            throw new InterruptedException();
        }
        if (given.hasNext()) {
            return given.next();
        }
        try {
            String path = lines.readLine();
            line++;
            while (path != null && path.isBlank()) {
                path = lines.readLine();
                line++;
            }
            return path;
        } catch (IOException e) {
            throw refused(e);
        }
    }

    private RefusedException refused(IOException failure) {
        return new RefusedException(
                "cannot read the list " + list + " at line " + (line + 1) + ": " + Reason.of(failure));
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
