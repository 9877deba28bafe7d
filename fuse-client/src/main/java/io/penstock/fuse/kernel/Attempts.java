package io.penstock.fuse.kernel;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * Attempts to serve requests that the kernel has sent again. A request on which one process after the other dies must not
 * end the mount. Safe for use by any number of threads.
 */
final class Attempts {
    /** So many processes may die while they serve a request. The supervisor gives up after eight that never were ready. */
    private static final int MOST_DEATHS = 5;

    private final Map<Long, Integer> deaths;
    private final boolean afterDeath;
    private final LongConsumer table;

    /** Those that this process has begun to serve. */
    private final Set<Long> begun = ConcurrentHashMap.newKeySet();

    /**
     * @param deaths of former processes while they served a request, by its number, without that of the last one
     * @param afterDeath whether the last process has died: not if it was replaced by an upgrade
     * @param table records another death
     */
    Attempts(Map<Long, Integer> deaths, boolean afterDeath, LongConsumer table) {
        this.deaths = Map.copyOf(deaths);
        this.afterDeath = afterDeath;
        this.table = table;
    }

    /**
     * A request that was sent again is about to be served.
     *
     * @throws ErrnoException EIO if too many processes have died while they served it
     */
    void begin(long number) throws ErrnoException {
        if (!begun.add(number)) {
            return; // its second part, which may wait
        }
        int died = deaths.getOrDefault(number, 0) + (afterDeath ? 1 : 0);
        if (died > MOST_DEATHS) {
            throw new ErrnoException(
                    Errno.EIO, "the mount's process has died " + died + " times while it served this request");
        }
        if (afterDeath) {
            table.accept(number);
        }
    }
}
