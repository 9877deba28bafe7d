package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.fuse.MountException;
import org.junit.jupiter.api.Test;

final class LibFuseTest {
    /** As here, where no jar of it is beside this module's. */
    @Test
    void binding_notInstalled_saysWhatToDo() {
        assertThatThrownBy(LibFuse::binding)
                .isInstanceOf(MountException.class)
                .hasMessageStartingWith("the binding jnr is not installed in ")
                .hasMessageEndingWith("mount with: --binding kernel");
    }
}
