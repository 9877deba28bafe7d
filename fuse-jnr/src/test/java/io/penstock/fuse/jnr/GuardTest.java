package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.fuse.calls.KernelCall;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardTest {
    private final List<String> observed = new ArrayList<>();

    private final Guard guard = new Guard(
            (call, errno, bytes, nanos) -> observed.add(call.kind().label() + " " + call.name() + " " + call.inode()
                    + " " + call.offset() + ": " + errno + ", " + bytes),
            handle -> {
                if (handle == 0) {
                    throw new ErrnoException(Errno.EBADF, "released");
                }
                return 100 + handle;
            });

    @Test
    void call_any_isObservedWithItsResult() {
        guard.call(KernelCall.READ, 7, 4096, () -> 100);
        guard.call(KernelCall.WRITE, 7, 0, () -> {
            throw new ErrnoException(Errno.EFBIG, "too far");
        });
        guard.call(KernelCall.RELEASE, 0, () -> 0);
        guard.call(KernelCall.GETXATTR, "/a/b", () -> 5);

        assertThat(observed)
                .containsExactly(
                        "read null 107 4096: 0, 100",
                        "write null 107 0: 27, 0",
                        "release null 0 -1: 0, 0",
                        "getxattr /a/b 0 -1: 0, 0");
    }

    @Test
    void call_answer_passes() {
        assertThat(guard.call(KernelCall.READ, "/a", () -> 4096)).isEqualTo(4096);
    }

    @Test
    void call_errnoException_isItsNumberNegated() {
        assertThat(guard.call(KernelCall.READ, "/a", () -> {
                    throw new ErrnoException(Errno.ESTALE, "changed");
                }))
                .isEqualTo(-116);
    }

    @Test
    void call_anythingElse_isEio() {
        assertThat(guard.call(KernelCall.READ, "/a", () -> {
                    throw new IllegalStateException("on purpose");
                }))
                .isEqualTo(-5);
        assertThat(guard.call(KernelCall.READ, "/a", () -> {
                    throw new StackOverflowError("on purpose");
                }))
                .isEqualTo(-5);
    }
}
