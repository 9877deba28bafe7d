package io.penstock.cli;

import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.Host;
import io.penstock.cli.mount.Serving;
import io.penstock.cli.mount.Target;
import io.penstock.cli.process.RefusedException;
import io.penstock.fuse.MountException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * The command that mount(8) runs for {@code mount -t penstock} and for lines of fstab, through /sbin/mount.penstock.
 */
@Command(name = "mount-helper", hidden = true, description = "Called by mount(8) as mount.penstock.")
final class MountHelperCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0")
    private String source;

    @Parameters(index = "1")
    private String mountPoint;

    @Option(names = "-f", description = "Do everything but mount.")
    private boolean fake;

    @Option(names = "-s", description = "Tolerate unknown options: not done, a wrong setting is an error.")
    @SuppressWarnings("UnusedVariable")
    private boolean sloppy;

    @Option(names = "-n", description = "Do not write /etc/mtab: Penstock never does.")
    @SuppressWarnings("UnusedVariable")
    private boolean noMtab;

    @Option(names = "-v", description = "Verbose: report success too.")
    private boolean verbose;

    @Option(names = "-t", description = "The type, if it has a subtype.")
    @SuppressWarnings("UnusedVariable")
    private String type = "penstock";

    @Mixin
    private ConfigurationArguments arguments;

    @Override
    public Integer call() throws RefusedException, ConfigurationException, InterruptedException {
        Target target = Target.parse(source);
        Path folder = Host.current().path(mountPoint);
        String where = Fstab.find(source, folder).orElse("mount of " + folder);
        ParseResult parsed = spec.commandLine().getParseResult();
        Serving serving = new Serving(target, folder, () -> arguments.resolve(target.bucket(), parsed, where), verbose);
        if (!fake) {
            try {
                serving.run();
            } catch (RefusedException | MountException e) {
                throw new RefusedException(where + ": " + e.getMessage());
            }
        }
        return ExitCode.DONE;
    }
}
