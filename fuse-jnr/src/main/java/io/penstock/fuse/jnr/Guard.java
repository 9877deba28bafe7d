package io.penstock.fuse.jnr;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.KernelCall;
import io.penstock.fuse.calls.ObservedCall;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wraps every upcall of libfuse: an exception that reached native code would be lost. */
final class Guard {
    private static final Logger log = LoggerFactory.getLogger(Guard.class);

    private final CallObserver observer;
    private final Handles handles;

    /** The body of an upcall. */
    @FunctionalInterface
    interface Body {
        /** @return libfuse's value for success: 0 or a number of bytes */
        int run() throws ErrnoException;
    }

    /** Finds the inode of a handle. */
    @FunctionalInterface
    interface Handles {
        long inodeOf(long handle) throws ErrnoException;
    }

    private record ByPath(KernelCall kind, @Nullable String name) implements ObservedCall {
        @Override
        public long inode() {
            return 0;
        }

        @Override
        public long offset() {
            return NO_OFFSET;
        }
    }

    private record ByHandle(KernelCall kind, long handle, long offset, Handles handles) implements ObservedCall {
        @Override
        public long inode() {
            try {
                return handles.inodeOf(handle);
            } catch (ErrnoException e) { // released
                return 0;
            }
        }

        @Override
        public @Nullable String name() {
            return null;
        }
    }

    /** @param observer notified of each call */
    Guard(CallObserver observer, Handles handles) {
        this.observer = observer;
        this.handles = handles;
    }

    /** @return the body's result, or an error number negated */
    int call(KernelCall kind, @Nullable String path, Body body) {
        return call(new ByPath(kind, path), body);
    }

    /** A call on an open file, without an offset. */
    int call(KernelCall kind, long handle, Body body) {
        return call(kind, handle, ObservedCall.NO_OFFSET, body);
    }

    /** A call on an open file. */
    int call(KernelCall kind, long handle, long offset, Body body) {
        return call(new ByHandle(kind, handle, offset, handles), body);
    }

    private int call(ObservedCall call, Body body) {
        long begun = System.nanoTime();
        int result = run(call.kind().label(), body);
        int bytes = call.kind() == KernelCall.READ || call.kind() == KernelCall.WRITE ? Math.max(0, result) : 0;
        observer.ended(call, Math.max(0, -result), bytes, System.nanoTime() - begun);
        return result;
    }

    /** An upcall that no program's call causes. */
    @SuppressWarnings("CatchThrowable") // the calling program must get a reply whatever went wrong
    static int run(String operation, Body body) {
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
