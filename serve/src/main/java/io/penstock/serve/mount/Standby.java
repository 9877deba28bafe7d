package io.penstock.serve.mount;

import io.penstock.fuse.MountException;
import io.penstock.fuse.Supervisor;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import io.penstock.writeback.survivors.SurvivorMemory;
import io.penstock.writeback.survivors.Survivors;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that waits to continue a mount while another one serves it. It locks and writes nothing: the folders, the log
 * and the mount are the other's. Not thread-safe.
 */
final class Standby {
    private static final Logger log = LoggerFactory.getLogger(Standby.class);

    /** The time for the JIT compilers, which would slow down the first requests. */
    private static final Duration SETTLING = Duration.ofSeconds(1);

    private final MountPlan plan;
    private final Supervisor supervisor;
    private @Nullable S3ObjectStore store;

    Standby(MountPlan plan, Supervisor supervisor) {
        this.plan = plan;
        this.supervisor = supervisor;
    }

    /**
     * Connects to the store, and waits for the end of the other process.
     *
     * @return false if this process is not needed
     */
    boolean awaitDeath() throws RefusedException, InterruptedException {
        try {
            KernelBinding.checkTable(plan.mount(), RunningMount.tables(Host.current()));
            OptionalInt written = supervisor.inheritedMemory();
            if (written.isPresent()) {
                Survivors.check(written.getAsInt());
            }
            store = BucketMount.connect(plan);
            rehearse();
            Thread.sleep(SETTLING);
            return supervisor.awaitDeath();
        } catch (MountException | ObjectStoreException | IOException e) {
            throw new RefusedException(String.valueOf(e.getMessage())); // the next process may have more luck
        }
    }

    /** Links to functions of the C library, which takes long. */
    private static void rehearse() throws IOException {
        try (SurvivorMemory memory = SurvivorMemory.create()) {
            memory.free(memory.allocate());
        }
    }

    /** Whether the settings have changed since this process read them; the connection is closed then. */
    boolean isOutdated(Configuration configuration, LiveConfiguration.Source source) {
        try {
            Configuration now = source.read();
            if (Settings.ALL.stream()
                    .allMatch(setting -> now.written(setting).equals(configuration.written(setting)))) {
                return false;
            }
            store().close();
            return true;
        } catch (ConfigurationException e) {
            log.warn("The settings were changed, and are wrong; the former ones stay: {}", e.problems());
            return false;
        }
    }

    /** The connection. */
    S3ObjectStore store() {
        return Objects.requireNonNull(store);
    }
}
