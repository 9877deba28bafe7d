package io.penstock.cli;

import io.penstock.demo.DemoFolder;
import io.penstock.demo.TrainingRun;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.OwnCertificate;
import io.penstock.fuse.MountException;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

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
        Path folder = DemoFolder.create("penstock-train-");
        OwnCertificate certificate = OwnCertificate.make(folder);
        try (EmbeddedS3 server = new EmbeddedS3(
                Files.createDirectory(folder.resolve("s3")), TrainingRun.KEY, TrainingRun.SECRET, certificate)) {
            TrainingRun run = new TrainingRun(home.resolve("bin/penstock"), folder, server, certificate.caFile());
            // Runs however this process ends, even by Ctrl-C.
            Runtime.getRuntime().addShutdownHook(new Thread(() -> cleanUp(run, folder)));
            run.record(cache);
        }
        return ExitCode.DONE;
    }

    private static void cleanUp(TrainingRun run, Path folder) {
        run.abandon();
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            LoggerFactory.getLogger(TrainCommand.class).warn("could not delete {}: {}", folder, Reason.of(e));
        }
    }
}
