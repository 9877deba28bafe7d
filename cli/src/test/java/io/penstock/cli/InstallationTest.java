package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cli.InstallCommand.Installation;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InstallationTest {
    @TempDir
    private Path folder;

    private Path home;
    private Path prefix;
    private Installation installation;

    @BeforeEach
    void makeClone() throws IOException {
        home = folder.resolve("clone");
        Files.createDirectories(home.resolve("bin/lib"));
        Files.createDirectories(home.resolve("cli/target/penstock/lib"));
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/sh\n");
        Files.writeString(home.resolve("bin/mount.penstock"), "#!/bin/sh\n");
        Files.writeString(home.resolve("cli/target/penstock/lib/penstock-cli-1.jar"), "jar");
        Files.writeString(home.resolve("cli/target/penstock/penstock.aot"), "of the clone");
        Files.writeString(home.resolve("pom.xml"), "<project/>");
        Files.setPosixFilePermissions(home.resolve("bin/penstock"), PosixFilePermissions.fromString("rwxrwxrwx"));
        Path root = Files.createDirectory(folder.resolve("root"));
        prefix = root.resolve("usr/local/lib/penstock");
        installation = new Installation(root);
    }

    @Test
    void install_clone_isCopiedSoThatWhatItsOwnerChangesLaterIsNotRun() throws Exception {
        installation.install(home);
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/sh\nrm -rf /\n");
        assertThat(prefix.resolve("bin/penstock")).hasContent("#!/bin/sh\n");
        assertThat(Files.getPosixFilePermissions(prefix.resolve("bin/penstock")))
                .isEqualTo(PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(prefix.resolve("cli/target/penstock/lib/penstock-cli-1.jar")).hasContent("jar");
        // Without its source nothing is ever built there, and its record for faster starts is its own.
        assertThat(prefix.resolve("pom.xml")).doesNotExist();
        assertThat(prefix.resolve("cli/target/penstock/penstock.aot")).doesNotExist();
        assertThat(Files.readSymbolicLink(folder.resolve("root/sbin/mount.penstock")))
                .isEqualTo(prefix.resolve("bin/mount.penstock"));
        assertThat(Files.readSymbolicLink(folder.resolve("root/sbin/mount.fuse.penstock")))
                .isEqualTo(prefix.resolve("bin/mount.penstock"));
    }

    @Test
    void install_again_replacesTheEarlierOne() throws Exception {
        installation.install(home);
        Files.writeString(prefix.resolve("bin/gone"), "");
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/bash\n");
        installation.install(home);
        assertThat(prefix.resolve("bin/penstock")).hasContent("#!/bin/bash\n");
        assertThat(prefix.resolve("bin/gone")).doesNotExist();
        assertThat(prefix.getParent()).isDirectoryNotContaining("glob:**penstock.*");
    }

    @Test
    void install_fromTheInstallation_leavesItAsItIs() throws Exception {
        installation.install(home);
        installation.install(prefix);
        assertThat(prefix.resolve("bin/penstock")).exists();
    }

    @Test
    void install_somethingElseUnderTheLinksName_isRefusedAndNothingIsCopied() throws Exception {
        Path other = Files.createDirectories(folder.resolve("root/sbin")).resolve("mount.penstock");
        Files.writeString(other, "another program");
        assertThatThrownBy(() -> installation.install(home))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining(other.toString());
        assertThat(prefix).doesNotExist();
        assertThat(other).hasContent("another program");
    }

    @Test
    void remove_installed_nothingIsLeft() throws Exception {
        installation.install(home);
        installation.remove();
        assertThat(prefix).doesNotExist();
        assertThat(folder.resolve("root/sbin")).isEmptyDirectory();
    }
}
