package io.penstock.cli;

import io.penstock.demo.Demo;
import io.penstock.demo.DemoFolder;
import io.penstock.demo.DemoMount;
import io.penstock.demo.DemoNames;
import io.penstock.demo.DemoShare;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.mount.StopSignal;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Must not name a type of the demo in a signature, nor use one in a lambda: picocli loads all commands, and those classes
 * are missing when another command runs.
 */
@Command(
        name = "demo",
        description = {
            "Shows Penstock at work on a demo bucket. Needs no account and no configuration.",
            "",
            "Starts an S3 server in this process, fills a bucket, mounts it, reads and writes it with ordinary"
                    + " programs, and compares every byte with the bucket. Uses about 1.8 GiB below"
                    + " $TMPDIR or /tmp, and removes everything at the end.",
            "",
            "With --objects, the server generates very many objects, and the demo shows how they are listed and how"
                    + " fast names are looked up. Uses about 60 bytes of memory per object, and hardly any disk space.",
            "",
            "With --nodes, several mounts of one bucket share their caches."
        })
final class DemoCommand implements Callable<Integer> {
    private static final long MOST_OBJECTS = 100_000_000;
    private static final int MOST_NODES = 8;

    @Option(names = "--keep", description = "Keep the mount, and show how to look around and how to end it.")
    private boolean keep;

    @Option(
            names = "--objects",
            paramLabel = "<n>",
            description = "Show a bucket with this many objects, 1 to 100000000, for instance 1000000.")
    private @Nullable Long objects;

    @Option(
            names = "--nodes",
            paramLabel = "<n>",
            description = "Show this many nodes, 2 to 8, that share their caches and all read the same file.")
    private @Nullable Integer nodes;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call()
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        if (objects != null && (objects < 1 || objects > MOST_OBJECTS)) {
            throw new ParameterException(
                    spec.commandLine(), "--objects " + objects + ": must be a number from 1 to " + MOST_OBJECTS);
        }
        if (nodes != null && (nodes < 2 || nodes > MOST_NODES)) {
            throw new ParameterException(
                    spec.commandLine(), "--nodes " + nodes + ": must be a number from 2 to " + MOST_NODES);
        } else if (nodes != null && (objects != null || keep)) {
            throw new ParameterException(spec.commandLine(), "--nodes cannot be combined with --objects or --keep");
        }
        try (StopSignal stop = new StopSignal()) {
            Path folder = DemoFolder.create("penstock-demo-");
            try {
                return show(folder, stop) ? ExitCode.DONE : ExitCode.FAILED;
            } catch (IOException e) {
                if (stop.isStopping()) {
                    return ExitCode.FAILED; // the program in the mount has ended too, or has lost the mount
                }
                throw DemoFolder.refused(folder, e);
            } finally {
                Folders.delete(folder); // before the signal lets the process end
            }
        }
    }

    private boolean show(Path folder, StopSignal stop)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        if (nodes != null) {
            return DemoShare.show(folder, nodes);
        }
        DemoMount mount = new DemoMount(folder, stop, keep);
        return objects == null ? Demo.show(mount) : DemoNames.show(mount, objects);
    }
}
