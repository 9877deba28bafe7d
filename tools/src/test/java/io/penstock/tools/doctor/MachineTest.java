package io.penstock.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.Host;
import io.penstock.tools.doctor.Machine.Device;
import io.penstock.tools.doctor.Machine.Kernel;
import io.penstock.tools.doctor.Machine.Limits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineTest {
    @TempDir
    private Path folder;

    @Test
    void kernel_versionOfADistribution_isItsFirstTwoNumbers() {
        assertThat(Machine.kernel("6.1.0-13-amd64")).isEqualTo(new Kernel(6, 1));
        assertThat(Machine.kernel("5.14")).isEqualTo(new Kernel(5, 14));
        assertThatThrownBy(() -> Machine.kernel("new")).hasMessageContaining("'new'");
    }

    @Test
    void isBefore_versions_comparesNumbersNotDigits() {
        assertThat(new Kernel(6, 9).isBefore(6, 10)).isTrue();
        assertThat(new Kernel(5, 19).isBefore(6, 9)).isTrue();
        assertThat(new Kernel(6, 9).isBefore(6, 9)).isFalse();
        assertThat(new Kernel(7, 0).isBefore(6, 9)).isFalse();
    }

    @Test
    void limits_linesOfProc_hardLimitOfFilesAndSoftOnesOfBytes() {
        List<String> lines = List.of(
                "Limit                     Soft Limit           Hard Limit           Units     ",
                "Max file size             4096                 unlimited            bytes     ",
                "Max open files            1024                 524288               files     ",
                "Max locked memory         8388608              8388608              bytes     ");
        assertThat(Machine.limits(lines)).isEqualTo(new Limits(524_288, 8_388_608, 4096));
    }

    @Test
    void limits_none_areUnlimited() {
        assertThat(Machine.limits(List.of("Max file size             unlimited            unlimited            bytes")))
                .isEqualTo(new Limits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE));
    }

    @Test
    void device_noFileAndAFile_missingAndOpen() throws Exception {
        assertThat(Machine.device(folder.resolve("none"))).isEqualTo(Device.MISSING);
        assertThat(Machine.device(Files.createFile(folder.resolve("file")))).isEqualTo(Device.OPENS);
        assertThat(Machine.device(folder)).isEqualTo(Device.FAILS);
    }

    @Test
    void read_thisMachine_hasItsMemory() throws Exception {
        Machine.Facts facts =
                Machine.read(Host.current(), ProcessHandle.current().pid());
        assertThat(facts.memoryBytes()).isEqualTo(Host.current().memoryBytes());
        assertThat(facts.limits().openFiles()).isPositive();
    }
}
