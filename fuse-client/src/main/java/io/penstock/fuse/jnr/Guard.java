package io.penstock.fuse.jnr;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wraps every upcall of libfuse: an exception that reached native code would be lost there. */
final class Guard {
    private static final Logger log = LoggerFactory.getLogger(Guard.class);

    /** The body of an upcall. */
    @FunctionalInterface
    interface Body {
        /** @return libfuse's value for success: 0 or a number of bytes */
        int run() throws ErrnoException;
    }

    private Guard() {}

    /** @return what the body returned, or an error number negated */
    @SuppressWarnings("CatchThrowable") // the calling program must get a reply whatever went wrong
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
            log.error("{} failed; its result is EIO", operation, e);
            return -Errno.EIO.number();
        }
    }
}
