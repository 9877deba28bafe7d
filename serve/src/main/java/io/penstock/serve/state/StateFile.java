package io.penstock.serve.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.settings.Host;
import io.penstock.settings.process.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state file of this process, which several threads update. systemd-tmpfiles(8) removes files that are weeks old
 * from /tmp, where the runtime folder may be, so the file is rewritten each day. Thread-safe.
 */
public final class StateFile implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateFile.class);

    private static final Duration BETWEEN_SAVES = Duration.ofDays(1);

    private final Host host;
    private final Thread saver;

    @GuardedBy("this")
    private RunningMount running;

    @GuardedBy("this")
    private boolean closed;

    /** Writes the file; a failure is only logged. */
    public StateFile(RunningMount running, Host host) {
        this(running, host, BETWEEN_SAVES);
    }

    StateFile(RunningMount running, Host host, Duration betweenSaves) {
        this.running = running;
        this.host = host;
        try {
            running.save(host);
        } catch (IOException e) {
            log.warn("Cannot write the state file ({}); penstock mounts will not show this mount", Reason.of(e));
        }
        this.saver = Thread.ofVirtual().name("state file").start(() -> saveEach(betweenSaves));
    }

    private void saveEach(Duration pause) {
        try {
            while (true) {
                Thread.sleep(pause);
                save();
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    /** Replaces the file if the state has changed and the file is not deleted. */
    public synchronized void update(UnaryOperator<RunningMount> change) {
        RunningMount changed = change.apply(running);
        if (closed || changed.equals(running)) {
            return;
        }
        running = changed;
        save();
    }

    private synchronized void save() {
        if (closed) {
            return;
        }
        try {
            running.save(host);
        } catch (IOException e) {
            log.debug("Cannot update the state file; penstock mounts and penstock umount will not see the change", e);
        }
    }

    /** Deletes it, unless uploads failed: penstock umount reads their number after the process has ended. */
    @Override
    public synchronized void close() {
        closed = true;
        saver.interrupt();
        if (running.unmounted() && running.failed() > 0) {
            return;
        }
        try {
            running.delete(host);
        } catch (IOException e) {
            log.debug("Cannot delete the state file", e);
        }
    }
}
