package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cli.InstallCommand.Installation;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstallationTest {
    @TempDir
    private Path folder;

    private Path home;
    private Path prefix;
    private Path current;
    private Path proc;
    private Installation installation;

    @BeforeEach
    void makeClone() throws IOException {
        home = folder.resolve("clone");
        Files.createDirectories(home.resolve("bin/lib"));
        Files.createDirectories(home.resolve("cli/target/penstock/lib"));
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/sh\n");
        Files.writeString(home.resolve("bin/mount.penstock"), "#!/bin/sh\n");
        Files.writeString(home.resolve("cli/target/penstock/lib/penstock-cli-1.jar"), "jar");
        Files.writeString(home.resolve("cli/target/penstock/penstock.aot"), "recorded");
        Files.writeString(home.resolve("cli/target/penstock/penstock.aot.stamp"), "Java 25");
        Files.writeString(home.resolve("cli/target/penstock/penstock.aot.new"), "half of one");
        Files.writeString(home.resolve("pom.xml"), "<project/>");
        Files.setPosixFilePermissions(home.resolve("bin/penstock"), PosixFilePermissions.fromString("rwxrwxrwx"));
        Path root = Files.createDirectory(folder.resolve("root"));
        prefix = root.resolve("usr/local/lib/penstock");
        current = prefix.resolve("current");
        proc = Files.createDirectory(folder.resolve("proc"));
        installation = new Installation(root, proc);
    }

    @Test
    void install_clone_isCopiedSoThatWhatItsOwnerChangesLaterIsNotRun() throws Exception {
        installation.install(home);
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/sh\nrm -rf /\n");
        assertThat(current.resolve("bin/penstock")).hasContent("#!/bin/sh\n");
        assertThat(Files.getPosixFilePermissions(current.resolve("bin/penstock")))
                .isEqualTo(PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(current.resolve("cli/target/penstock/lib/penstock-cli-1.jar"))
                .hasContent("jar");
        // Without its source, nothing is built there.
        assertThat(current.resolve("pom.xml")).doesNotExist();
        assertThat(Files.readSymbolicLink(folder.resolve("root/sbin/mount.penstock")))
                .isEqualTo(current.resolve("bin/mount.penstock"));
        assertThat(Files.readSymbolicLink(folder.resolve("root/sbin/mount.fuse.penstock")))
                .isEqualTo(current.resolve("bin/mount.penstock"));
    }

    @Test
    void install_trainedClone_takesItsCachesAlongWithTheirTimes() throws Exception {
        installation.install(home);
        Path cache = current.resolve("cli/target/penstock/penstock.aot");
        assertThat(cache).hasContent("recorded");
        assertThat(cache.resolveSibling("penstock.aot.new")).doesNotExist();
        for (String file : List.of("penstock.aot.stamp", "lib/penstock-cli-1.jar")) {
            assertThat(Files.getLastModifiedTime(cache.resolveSibling(file)))
                    .isEqualTo(Files.getLastModifiedTime(
                            home.resolve("cli/target/penstock").resolve(file)));
        }
    }

    @Test
    void install_withASupervisor_copiesItAsAPartOfTheVersion() throws Exception {
        installation.install(home);
        Path without = current.toRealPath();
        Path supervisor = home.resolve("cli/target/penstock/penstock-supervisor");
        Files.writeString(supervisor, "compiled");
        Files.setPosixFilePermissions(supervisor, PosixFilePermissions.fromString("rwx------"));
        installation.install(home);
        assertThat(current.toRealPath()).isNotEqualTo(without);
        Path copy = current.resolve("cli/target/penstock/penstock-supervisor");
        assertThat(copy).hasContent("compiled");
        assertThat(Files.getPosixFilePermissions(copy)).isEqualTo(PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void install_unpackedArchive_copiesItsJavaAndItsLists() throws Exception {
        Files.move(home.resolve("cli/target/penstock/lib"), home.resolve("lib"));
        Files.createDirectory(home.resolve("runtime"));
        Files.writeString(home.resolve("runtime/release"), "Java 25");
        Files.writeString(home.resolve("classes"), "java/lang/Object");
        installation.install(home);
        assertThat(current.resolve("runtime/release")).hasContent("Java 25");
        assertThat(current.resolve("classes")).hasContent("java/lang/Object");
        assertThat(current.resolve("lib/penstock-cli-1.jar")).hasContent("jar");
    }

    @Test
    void install_theSameAgain_keepsTheCachesThatAreThere() throws Exception {
        installation.install(home);
        Path first = current.toRealPath();
        Files.writeString(home.resolve("cli/target/penstock/penstock.aot"), "recorded anew");
        installation.install(home);
        assertThat(current.toRealPath()).isEqualTo(first);
        assertThat(current.resolve("cli/target/penstock/penstock.aot")).hasContent("recorded");
    }

    @Test
    void install_another_replacesTheEarlierOne() throws Exception {
        installation.install(home);
        Path first = current.toRealPath();
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/bash\n");
        installation.install(home);
        assertThat(current.resolve("bin/penstock")).hasContent("#!/bin/bash\n");
        assertThat(first).doesNotExist();
        try (Stream<Path> entries = Files.list(prefix)) {
            assertThat(entries).containsExactlyInAnyOrder(current, prefix.resolve(Files.readSymbolicLink(current)));
        }
    }

    @Test
    void install_underARunningMount_keepsItsVersionUntilItEnds() throws Exception {
        installation.install(home);
        Path first = current.toRealPath();
        start(first);
        Files.writeString(home.resolve("bin/penstock"), "#!/bin/bash\n");
        assertThat(installation.install(home)).anyMatch(step -> step.contains("kept " + first + ": process 4711"));
        assertThat(first.resolve("cli/target/penstock/lib/penstock-cli-1.jar")).hasContent("jar");
        assertThat(current.toRealPath()).isNotEqualTo(first);
        end();
        installation.install(home);
        assertThat(first).doesNotExist();
    }

    /** Installations made before versions had folders. */
    @Test
    void install_overFilesInThePrefix_removesThemOnceNoMountUsesThem() throws Exception {
        Path jar = Files.createDirectories(prefix.resolve("cli")).resolve("old.jar");
        Files.writeString(jar, "old");
        start(prefix.toRealPath());
        installation.install(home);
        assertThat(jar).exists();
        end();
        installation.install(home);
        assertThat(jar.getParent()).doesNotExist();
    }

    private void start(Path from) throws Exception {
        Files.writeString(
                Files.createDirectories(proc.resolve("4711")).resolve("cmdline"),
                "java\0-Dpenstock.home=" + from + "\0io.penstock.cli.Main\0mount\0");
    }

    private void end() throws Exception {
        Files.delete(proc.resolve("4711/cmdline"));
    }

    @Test
    void install_fromTheInstallation_leavesItAsItIs() throws Exception {
        installation.install(home);
        Path first = current.toRealPath();
        installation.install(first);
        assertThat(current.toRealPath()).isEqualTo(first);
        assertThat(current.resolve("bin/penstock")).exists();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"bin/lib", "bin/extra", "cli/target/penstock/lib/extra.jar", "cli/target/penstock/penstock.aot"})
    void install_aLinkInTheClone_isRefusedAndNothingIsCopied(String link) throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "of root");
        Files.deleteIfExists(home.resolve(link));
        Files.createSymbolicLink(home.resolve(link), secret);
        assertThatThrownBy(() -> installation.install(home))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining(home.resolve(link).toString());
        assertThat(prefix).doesNotExist();
    }

    @Test
    void install_aFolderOnTheWayIsALink_isRefused() throws Exception {
        Path elsewhere = folder.resolve("elsewhere");
        Files.move(home.resolve("cli/target"), elsewhere);
        Files.createSymbolicLink(home.resolve("cli/target"), elsewhere);
        assertThatThrownBy(() -> installation.install(home))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining(home.resolve("cli/target").toString());
    }

    @Test
    void install_anotherFileUnderTheLinksName_refusedNothingCopied() throws Exception {
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

    @Test
    void remove_underARunningMount_leavesWhatItRunsFrom() throws Exception {
        installation.install(home);
        Path first = current.toRealPath();
        start(first);
        assertThat(installation.remove()).anyMatch(step -> step.contains("kept " + first));
        assertThat(first.resolve("cli/target/penstock/lib/penstock-cli-1.jar")).hasContent("jar");
        assertThat(folder.resolve("root/sbin")).isEmptyDirectory();
        end();
        installation.remove();
        assertThat(prefix).doesNotExist();
    }
}
