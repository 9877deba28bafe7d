package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.Printable;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports objects that no path can reach. Counts them all, and logs the first in each directory and the first that
 * prevents a directory's removal.
 */
final class HiddenKeys {
    private static final Logger LOG = LoggerFactory.getLogger(HiddenKeys.class);

    /** The number of directories remembered as reported; one that is dropped may be reported again. */
    private static final int DIRECTORIES = 10_000;

    static final String SHADOWED = "there are keys below it, so its name is a directory";
    static final String MARKER_WITH_CONTENT = "it represents a directory, so its content cannot be read";

    private final String bucket;
    private final Cache<String, Boolean> told =
            Caffeine.newBuilder().maximumSize(DIRECTORIES).build();
    private final Cache<String, Boolean> toldOfRemoval =
            Caffeine.newBuilder().maximumSize(DIRECTORIES).build();
    private final LongAdder count = new LongAdder();

    HiddenKeys(String bucket) {
        this.bucket = bucket;
    }

    void hide(Directory directory, String key, String why) {
        count.increment();
        if (told.asMap().putIfAbsent(directory.prefix(), true) == null) {
            LOG.warn(
                    "s3://{}/{} is not shown: {}. Other keys in this directory that cannot be shown are not logged.",
                    bucket,
                    Printable.text(key),
                    why);
        }
    }

    /** The directory cannot be removed because it has this key, which was passed to {@link #hide} before. */
    void keeps(Directory directory, String key, String why) {
        count.increment();
        if (toldOfRemoval.asMap().putIfAbsent(directory.prefix(), true) != null) {
            return;
        }
        LOG.warn(
                "s3://{}/{} cannot be removed, although it looks empty: s3://{}/{} is in it, which is not shown: {}."
                        + " Remove that key by other means, such as aws s3 rm.",
                bucket,
                Printable.text(directory.prefix()),
                bucket,
                Printable.text(key),
                why);
    }

    /** The number of hidden keys found; a key that is listed again is counted again. */
    long count() {
        return count.sum();
    }
}
