package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.model.ToxicDirection;
import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A misbehaving network between mount and server gives the right bytes or an error in time, never wrong bytes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class WireFaultIT {
    private static final int MIB = 1 << 20;

    @TempDir
    private static Path scratch;

    private final TestData data = TestData.of("data/40MiB.bin", 40L * MIB + 3);
    private TestBucket bucket;
    private ToxicWire wire;
    private Proxy proxy;
    private MountedBucket mount;

    @BeforeAll
    void startToxiproxy() throws Exception {
        Optional<Path> binary = ToxicWire.binary();
        assumeTrue(binary.isPresent(), "no toxiproxy-server: bin/test gets one where there is Go");
        S3Server server = S3Server.shared();
        bucket = new TestBucket(server);
        bucket.put(data);
        wire = ToxicWire.to(server, binary.get(), scratch);
        proxy = wire.proxy();
    }

    @AfterAll
    void stopToxiproxy() {
        if (wire != null) {
            wire.close();
        }
        if (bucket != null) {
            bucket.close();
        }
    }

    @BeforeEach
    void mountThroughTheProxy() throws Exception {
        mount = MountedBucket.mount(
                wire.server(),
                bucket.name(),
                Files.createTempDirectory(scratch, "mount-"),
                "-o",
                "s3.read-timeout=2s,s3.retry-deadline=6s");
    }

    @AfterEach
    void healAndUnmount() throws Exception {
        wire.heal();
        mount.close();
    }

    private void verifyThroughMount() throws Exception {
        try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
            TestBucket.verify(data, in);
        }
    }

    @Test
    void latency_onEveryPacket_readsTheRightBytes() throws Exception {
        proxy.toxics().latency("slow", ToxicDirection.DOWNSTREAM, 100).setJitter(50);
        verifyThroughMount();
    }

    @Test
    void slicedPackets_readTheRightBytes() throws Exception {
        proxy.toxics().slicer("slices", ToxicDirection.DOWNSTREAM, 1_111, 5);
        verifyThroughMount();
    }

    @Test
    void connectionsReset_midwayInBodies_readTheRightBytes() throws Exception {
        proxy.toxics().limitData("cut", ToxicDirection.DOWNSTREAM, 3L * MIB);
        verifyThroughMount();
    }

    @Test
    void stall_longerThanTheDeadline_isAnErrorInTimeAndHealsAfterwards() throws Exception {
        proxy.toxics().timeout("stall", ToxicDirection.DOWNSTREAM, 0);
        Program.Result read = Program.shell(
                mount.path(), "timeout 60 cat \"$1\" > /dev/null", mount.path().resolve(data.name()));
        assertThat(read.exit()).as(read.out()).isNotZero().isNotEqualTo(124);
        proxy.toxics().get("stall").remove();
        assertThatCode(this::verifyThroughMount).doesNotThrowAnyException();
    }

    @Test
    void serverGone_isAnErrorInTimeAndHealsAfterwards() throws Exception {
        proxy.disable();
        Program.Result read = Program.shell(
                mount.path(), "timeout 60 cat \"$1\" > /dev/null", mount.path().resolve(data.name()));
        assertThat(read.exit()).as(read.out()).isNotZero().isNotEqualTo(124);
        proxy.enable();
        assertThatCode(this::verifyThroughMount).doesNotThrowAnyException();
    }
}
