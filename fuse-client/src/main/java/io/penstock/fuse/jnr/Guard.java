package io.penstock.fuse.jnr;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stands between libfuse and everything that it calls: an exception that reached native code would be lost there. */
final class Guard {
    private static final Logger log = LoggerFactory.getLogger(Guard.class);

    /** What an upcall does. */
    @FunctionalInterface
    interface Body {
        /** @return what libfuse takes for success: 0 or a number of bytes */
        int run() throws ErrnoException;
    }

    private Guard() {}

    /** @return what the body returned, or an error number negated */
    @SuppressWarnings("CatchThrowable") // whatever went wrong, the program that asked must get an answer
    static int call(String operation, Body body) {
        try {
            return body.run();
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EIO) {
                log.warn("{} failed: {}", operation, e.getMessage());
            } else {
                log.debug("{}: {}", operation, e.getMessage());
            }
            return -e.errno().number();
        } catch (Throwable e) {
            log.error("{} failed, answered EIO", operation, e);
            return -Errno.EIO.number();
        }
    }
}
