package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The directories whose small files were read last. Safe for use by any number of threads; never waits. */
final class DirectoryStreams {
    /** Of each, its listing is held. */
    private static final int MOST_DIRECTORIES = 16;

    /** Each time that so many files of a directory were cold, its listing is asked for. */
    private static final int LEAST_COLD = 4;

    private final DirectoryFiles.Source source;
    private final ReadaheadConfig config;
    private final long mostAtRandom;
    private final LongAdder usedBytes;

    /** By what their keys begin with, the one used last at the end. */
    @GuardedBy("this")
    private final Map<String, Directory> directories = new LinkedHashMap<>(MOST_DIRECTORIES, 0.75F, true);

    private static final class Directory {
        private int cold;
        private @Nullable DirectoryStream stream;
    }

    /** @param mostAtRandom as {@link DirectoryStream} has it */
    DirectoryStreams(DirectoryFiles.Source source, ReadaheadConfig config, long mostAtRandom, LongAdder usedBytes) {
        this.source = source;
        this.config = config;
        this.mostAtRandom = mostAtRandom;
        this.usedBytes = usedBytes;
    }

    /**
     * A reader has opened a small file.
     *
     * @param isCold whether it is neither in the cache nor on its way
     * @return the stream that is to be fetched ahead, which the caller holds; null for none
     */
    @Nullable
    DirectoryStream opened(ObjectVersion version, boolean isCold) {
        DirectoryStream stream = stream(version.key(), isCold);
        return stream != null && stream.opened(version, isCold) ? stream : null;
    }

    private synchronized @Nullable DirectoryStream stream(String key, boolean isCold) {
        String prefix = key.substring(0, key.lastIndexOf('/') + 1);
        Directory directory = directories.get(prefix);
        if (directory == null) {
            if (!isCold) {
                return null;
            }
            directory = new Directory();
            directories.put(prefix, directory);
            if (directories.size() > MOST_DIRECTORIES) {
                directories.remove(directories.keySet().iterator().next());
            }
        }
        if (directory.stream == null && isCold && ++directory.cold % LEAST_COLD == 0) {
            DirectoryFiles files = source.of(key);
            directory.stream = files == null ? null : new DirectoryStream(files, config, mostAtRandom, usedBytes);
        }
        return directory.stream;
    }
}
