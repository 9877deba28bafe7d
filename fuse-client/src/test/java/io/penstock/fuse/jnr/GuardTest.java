package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import org.junit.jupiter.api.Test;

class GuardTest {
    @Test
    void call_answer_passes() {
        assertThat(Guard.call("read", () -> 4096)).isEqualTo(4096);
    }

    @Test
    void call_errnoException_isItsNumberNegated() {
        assertThat(Guard.call("read", () -> {
                    throw new ErrnoException(Errno.ESTALE, "changed");
                }))
                .isEqualTo(-116);
    }

    @Test
    void call_anythingElse_isEio() {
        assertThat(Guard.call("read", () -> {
                    throw new IllegalStateException("on purpose");
                }))
                .isEqualTo(-5);
        assertThat(Guard.call("read", () -> {
                    throw new StackOverflowError("on purpose");
                }))
                .isEqualTo(-5);
    }
}
