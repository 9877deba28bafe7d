package io.penstock.filesystem.files;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers why files could not be stored if perhaps no program saw the error. The name's next open for writing fails
 * with that error, once. An error applies while the name has the same version, or none, as when it occurred. Only the
 * latest errors are remembered. Thread-safe.
 */
public final class UnheardErrors {
    private static final Logger LOG = LoggerFactory.getLogger(UnheardErrors.class);

    private static final int REMEMBERED = 1000;

    private record Unheard(@Nullable ObjectVersion version, Errno errno, String reason) {}

    private final Cache<String, Unheard> byKey = Caffeine.newBuilder()
            .maximumSize(REMEMBERED)
            .executor(Runnable::run)
            .build();

    /**
     * A file's content is not stored.
     *
     * @param version the name's version; null if it has none
     */
    public void add(String key, @Nullable ObjectVersion version, Errno errno, String reason) {
        byKey.put(key, new Unheard(version, errno, reason));
    }

    /** The name has other content now, or none, or the content that could not be stored before. */
    public void forget(String key) {
        byKey.invalidate(key);
    }

    /**
     * The name is about to be opened for writing.
     *
     * @param version the name's version now; null if it has none
     * @throws ErrnoException the error; never ESTALE, after which the kernel would open the file again
     */
    public void report(String key, @Nullable ObjectVersion version) throws ErrnoException {
        Unheard unheard = byKey.asMap().remove(key);
        if (unheard != null && isSame(unheard.version, version)) {
            LOG.warn(
                    "'{}' cannot be opened for writing this once: earlier writes could not be stored, and the"
                            + " program may not have noticed the error of its close: {}",
                    key,
                    unheard.reason);
            Errno errno = unheard.errno == Errno.ESTALE ? Errno.EIO : unheard.errno;
            throw new ErrnoException(errno, "an earlier close of '" + key + "' has failed: " + unheard.reason);
        }
    }

    private static boolean isSame(@Nullable ObjectVersion one, @Nullable ObjectVersion other) {
        return one == null ? other == null : other != null && one.hasIdentityOf(other);
    }
}
