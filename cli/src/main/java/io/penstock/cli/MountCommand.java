package io.penstock.cli;

import io.penstock.fuse.MountException;
import io.penstock.serve.mount.LiveConfiguration;
import io.penstock.serve.mount.Serving;
import io.penstock.serve.mount.Target;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

@Command(
        name = "mount",
        description = {
            "Mounts a bucket: its objects appear as files.",
            "",
            "Returns once the folder can be used, and serves it in the background until penstock umount. Data read"
                    + " stays in the cache folder, and later reads come from the local disk.",
            "",
            "Credentials are found as by the AWS CLI: environment variables, ~/.aws, container and instance roles."
        },
        footer = {
            "",
            "Examples:",
            "  penstock mount my-bucket /mnt/data",
            "  penstock mount my-bucket/datasets/imagenet /mnt/imagenet --cache /nvme/penstock --cache-size 2TiB",
            "  penstock mount my-bucket /mnt/data --endpoint http://minio.local:9000"
        })
final class MountCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "BUCKET[/PREFIX]",
            description = "The bucket, optionally with a folder in it; s3://BUCKET/PREFIX works too.")
    private String source;

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "An existing, empty folder.")
    private String mountPoint;

    @Option(
            names = {"-f", "--foreground"},
            description = "Stay in the foreground until Ctrl-C, and log to the terminal.")
    @SuppressWarnings("UnusedVariable") // The launcher reads it; picocli only has to know it.
    private boolean foreground;

    @Mixin
    private ConfigurationArguments arguments;

    @Override
    public Integer call() throws RefusedException, ConfigurationException, MountException, InterruptedException {
        Target target = Target.parse(source);
        ParseResult parsed = spec.commandLine().getParseResult();
        LiveConfiguration.Source settings = () -> arguments.resolve(target.bucket(), parsed, "-o");
        new Serving(target, Host.current().path(mountPoint), settings, true).run();
        return ExitCode.DONE;
    }
}
