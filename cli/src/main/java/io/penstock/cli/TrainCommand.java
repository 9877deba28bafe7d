package io.penstock.cli;

import io.penstock.demo.TrainingRun;
import io.penstock.fuse.MountException;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Must not name a type of the demo in a signature, like {@link DemoCommand}. */
@Command(
        name = "train",
        description = {
            "Records a start, which makes later starts faster; install and demo do this after a build.",
            "",
            "Mounts and reads a temporary bucket, while the mount's JVM records the classes and methods in use. This"
                    + " takes half a minute, once per build and Java version."
        })
final class TrainCommand implements Callable<Integer> {
    /** Where bin/penstock expects the recording, which exists if all went well. */
    @Parameters(paramLabel = "FILE", hidden = true)
    private Path cache;

    @Override
    public Integer call() throws IOException, RefusedException, MountException, InterruptedException {
        Path home = Launcher.home();
        if (home == null) {
            throw new RefusedException("run this through bin/penstock, which knows how mounts start");
        }
        TrainingRun.record(home.resolve("bin/penstock"), cache);
        return ExitCode.DONE;
    }
}
