package io.penstock.cli;

import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Preflight;
import io.penstock.serve.control.Json;
import io.penstock.serve.mount.MountBoundary;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "umount",
        aliases = "unmount",
        description = {
            "Unmounts, and waits until the mount's process has ended.",
            "",
            "Written files that are not uploaded yet are uploaded first, and the amount left is shown; after"
                    + " Ctrl-C, the process continues to upload. A program that still uses the mount is named. The"
                    + " cache stays on disk for the next mount."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:unmounted; all written files are in the bucket, unless the mount's process could not be asked",
            "1:not unmounted; the reason was printed",
            "2:the command line is wrong; nothing was tried",
            "3:unmounted; written files, including those of earlier mounts, wait for penstock recover or the next mount"
        })
final class UmountCommand implements Callable<Integer> {
    /** Long enough for a program that is just closing its files. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** The first pause between two checks of the serving process; each later pause is twice as long. */
    private static final Duration FIRST_LOOK = Duration.ofMillis(5);

    private static final Duration LONGEST_LOOK = Duration.ofMillis(250);

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point.")
    private String mountPoint;

    @Option(
            names = {"-l", "--lazy"},
            description = "Detach the mount now, even if it is in use; its process ends once nothing uses it.")
    private boolean lazy;

    @Option(
            names = "--json",
            description =
                    "Print a JSON object at the end, with the number of written files that are not in the bucket.")
    private boolean json;

    /** @param failed the number of written files that are not in the bucket, including those of earlier mounts */
    private record Unmounted(String mountPoint, int failed) {}

    @Override
    public Integer call() throws IOException, RefusedException, MountException, InterruptedException {
        Path folder = find();
        List<RunningMount> all = RunningMount.list(Host.current());
        Optional<RunningMount> serving = RunningMount.newest(all, folder, false);
        KernelMount mount = KernelMount.at(folder);
        int failed = 0;
        if (!lazy && serving.isPresent() && serving.get().isStopped()) {
            throw new RefusedException(ServingMount.silence(serving.get(), true, ""));
        }
        if (lazy || (serving.isEmpty() && Preflight.isDead(folder))) {
            mount.detachOrFail();
        } else if (serving.isEmpty()) {
            mount.unmount(PATIENCE);
            spec.commandLine()
                    .getErr()
                    .println("penstock: " + folder + " is unmounted, but its process is unknown to this user, so this"
                            + " command did not wait for uploads");
        } else {
            CountDownLatch ended = new CountDownLatch(1);
            Thread.ofVirtual().start(() -> countDownAtTheEnd(serving.get(), ended));
            mount.unmount(PATIENCE, ended);
            failed = tellBacklog(serving.get());
        }
        if (!lazy && serving.isEmpty()) {
            // The process was about to unmount, or served an earlier mount here.
            Optional<RunningMount> uploading = RunningMount.newest(all, folder, true);
            if (uploading.isPresent()) {
                failed = tellBacklog(uploading.get());
            }
        }
        if (json) {
            spec.commandLine().getOut().println(Json.line(new Unmounted(folder.toString(), failed)));
        } else if (lazy) {
            spec.commandLine().getOut().println(folder + " is detached; its process ends once nothing uses it");
        } else if (serving.isPresent()) {
            spec.commandLine()
                    .getOut()
                    .println(folder + " is unmounted"
                            + (failed == 0 ? ", and all written files are in the bucket" : ""));
        }
        return failed == 0 ? ExitCode.DONE : ExitCode.FILES_WAIT;
    }

    /** Waits until the process has ended, which it does after all uploads. */
    private int tellBacklog(RunningMount process) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        String told = "";
        int failed = process.failed();
        for (Duration pause = FIRST_LOOK; process.isAlive(); pause = next(pause)) {
            Optional<RunningMount> now = process.now(Host.current());
            String left = now.map(RunningMount::backlog).orElse("");
            failed = now.map(RunningMount::failed).orElse(failed);
            if (!json && !left.isEmpty() && !left.equals(told)) {
                out.println("Unmounted; still uploading: " + left);
                out.flush();
                told = left;
            }
            Thread.sleep(pause);
        }
        Optional<RunningMount> last = process.now(Host.current());
        failed = last.map(RunningMount::failed).orElse(failed);
        long left = last.map(RunningMount::filesToUpload).orElse(0L);
        process.delete(Host.current());
        if (failed > 0) {
            spec.commandLine()
                    .getErr()
                    .println("penstock: written files that could not be uploaded: " + failed + "; " + process.recovery()
                            + " shows them");
        }
        if (left > 0) { // the process was terminated or killed
            spec.commandLine()
                    .getErr()
                    .println("penstock: the process ended before all written files were uploaded; left for the next"
                            + " mount: " + left);
        }
        return failed + Math.toIntExact(left);
    }

    private static Duration next(Duration pause) {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_LOOK) < 0 ? twice : LONGEST_LOOK;
    }

    /**
     * Counts down once all requests have their replies, because the uploads after that may take long. The JDK's own
     * wait polls processes that are not its children less and less often, and counts zombies as alive.
     */
    private static void countDownAtTheEnd(RunningMount process, CountDownLatch ended) {
        try {
            Duration pause = FIRST_LOOK;
            while (process.isAlive()
                    && !process.now(Host.current()).map(RunningMount::unmounted).orElse(false)) {
                Thread.sleep(pause);
                pause = next(pause);
            }
            ended.countDown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The mount point as in the mount table. The given path is resolved only if it is not in the table, and nothing is
     * looked up in mounts of Penstock.
     */
    private Path find() throws IOException, RefusedException {
        Path given = Host.current().path(mountPoint);
        MountTable table = MountTable.read();
        List<Path> mountPoints = RunningMount.mountPoints(table.entries());
        Path real = table.at(given).isPresent() ? given : MountBoundary.resolve(given, mountPoints);
        MountTable.Entry entry =
                table.at(real).orElseThrow(() -> new RefusedException(ServingMount.notMounted(given, mountPoints)));
        if (!RunningMount.isPenstock(entry)) {
            throw new RefusedException("the mount on " + given + " is not a Penstock mount: " + entry.source()
                    + " (type " + entry.type() + ")");
        }
        return real;
    }
}
