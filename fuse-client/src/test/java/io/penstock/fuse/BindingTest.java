package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.fuse.Binding.Mounter;
import io.penstock.fuse.Binding.Taken;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BindingTest {
    private static final Mount KERNEL_MOUNT = new NoMount("kernel");
    private static final Mount JNR_MOUNT = new NoMount("jnr");
    private static final Mounter KERNEL = () -> KERNEL_MOUNT;
    private static final Mounter JNR = () -> JNR_MOUNT;
    private static final Mounter OLD_KERNEL = () -> {
        throw new UnsupportedKernelException("too old");
    };
    private static final Mounter BUSY = () -> {
        throw new MountException("busy");
    };

    /** Not mounted anywhere. */
    private record NoMount(String description) implements Mount {
        @Override
        public Path mountPoint() {
            return Path.of("/mnt/x");
        }

        @Override
        public long requests() {
            return 0;
        }

        @Override
        public long unanswered() {
            return 0;
        }

        @Override
        public void limitCaching(Duration longest) {}

        @Override
        public void awaitUnmounted() {}

        @Override
        public void unmount(Duration patience) {}

        @Override
        public void close() {}
    }

    @Test
    void mount_named_takesThatOne() throws Exception {
        assertThat(Binding.KERNEL.mount(KERNEL, JNR))
                .isEqualTo(new Taken(Binding.KERNEL, "as configured", KERNEL_MOUNT));
        assertThat(Binding.JNR.mount(KERNEL, JNR)).isEqualTo(new Taken(Binding.JNR, "as configured", JNR_MOUNT));
        assertThatThrownBy(() -> Binding.KERNEL.mount(OLD_KERNEL, JNR)).hasMessage("too old");
    }

    @Test
    void mount_auto_takesTheKernelsAndSaysWhy() throws Exception {
        Taken taken = Binding.AUTO.mount(KERNEL, JNR);

        assertThat(taken.mount()).isSameAs(KERNEL_MOUNT);
        assertThat(taken.choice()).isEqualTo("kernel (the fastest that works here)");
    }

    @Test
    void mount_autoOnOldKernel_takesTheOtherAndSaysWhy() throws Exception {
        Taken taken = Binding.AUTO.mount(OLD_KERNEL, JNR);

        assertThat(taken.mount()).isSameAs(JNR_MOUNT);
        assertThat(taken.choice()).isEqualTo("jnr (the kernel binding does not work here: too old)");
    }

    @Test
    void mount_autoThatFailsOtherwise_triesNothingElse() {
        assertThatThrownBy(() -> Binding.AUTO.mount(BUSY, JNR)).hasMessage("busy");
    }
}
