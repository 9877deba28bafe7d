package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The directories whose small files were read most recently. Safe for use by any number of threads; never waits. */
final class DirectoryStreams {
    private static final int MOST_DIRECTORIES = 16;

    /** In all directories except the one used last. Their listings stay on the heap, at most 450 bytes a file. */
    private static final int MOST_FILES = 100_000;

    /** A newer listing is requested each time a listing was outdated for this many cold files of its directory. */
    private static final int LEAST_COLD = 4;

    private final DirectoryFiles.Source source;
    private final Supplier<ReadaheadConfig> limits;
    private final LongSupplier mostAtRandom;
    private final LongAdder usedBytes;

    /** By the prefix of their keys, the most recently used one last. */
    @GuardedBy("this")
    private final Map<String, Directory> directories = new LinkedHashMap<>(MOST_DIRECTORIES, 0.75F, true);

    private static final class Directory {
        private int cold;
        private @Nullable DirectoryStream stream;

        int size() {
            return stream == null ? 0 : stream.size();
        }
    }

    /** @param mostAtRandom see {@link DirectoryStream} */
    DirectoryStreams(
            DirectoryFiles.Source source,
            Supplier<ReadaheadConfig> limits,
            LongSupplier mostAtRandom,
            LongAdder usedBytes) {
        this.source = source;
        this.limits = limits;
        this.mostAtRandom = mostAtRandom;
        this.usedBytes = usedBytes;
    }

    /**
     * A reader has opened a small file.
     *
     * @param isCold whether the file is neither in the cache nor in flight
     * @return the stream to fetch ahead, which the caller then holds; null for none
     */
    @Nullable
    DirectoryStream opened(ObjectVersion version, boolean isCold) {
        DirectoryStream stream = stream(version, isCold);
        return stream != null && stream.opened(version, isCold) ? stream : null;
    }

    private synchronized @Nullable DirectoryStream stream(ObjectVersion version, boolean isCold) {
        String key = version.key();
        String prefix = key.substring(0, key.lastIndexOf('/') + 1);
        Directory directory = directories.get(prefix);
        if (directory == null) {
            if (!isCold) {
                return null;
            }
            forgetEldest();
            directory = new Directory();
            directories.put(prefix, directory);
        }
        DirectoryStream stream = directory.stream;
        if (isCold && (stream == null || stream.isOutdatedFor(version)) && ++directory.cold % LEAST_COLD == 0) {
            DirectoryFiles files = source.of(key);
            if (files != null && (stream == null || !stream.isOf(files))) {
                stream = new DirectoryStream(files, limits, mostAtRandom, usedBytes);
                directory.stream = stream;
            }
        }
        return stream;
    }

    /** Makes room for another directory. */
    @GuardedBy("this")
    private void forgetEldest() {
        int files = directories.values().stream().mapToInt(Directory::size).sum();
        Iterator<Directory> eldest = directories.values().iterator();
        int count = directories.size();
        while (eldest.hasNext() && (count >= MOST_DIRECTORIES || files > MOST_FILES)) {
            files -= eldest.next().size();
            count--;
            eldest.remove();
        }
    }
}
