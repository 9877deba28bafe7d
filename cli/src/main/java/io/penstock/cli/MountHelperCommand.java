package io.penstock.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.serve.mount.Serving;
import io.penstock.serve.mount.Target;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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

    @Option(names = "-s", description = "Ignored: unknown options are always errors.")
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

    /** Finds the line of /etc/fstab with a wrong option, for messages: fstab(5). */
    static final class Fstab {
        private static final Path FILE = Path.of("/etc/fstab");

        private Fstab() {}

        /** The line that mounts this source there, such as {@code /etc/fstab:12}; empty if there is none. */
        static Optional<String> find(String source, Path mountPoint) {
            try {
                return lineOf(source, mountPoint, Files.readAllLines(FILE, ISO_8859_1))
                        .map(line -> FILE + ":" + line);
            } catch (IOException | NumberFormatException e) {
                return Optional.empty(); // mount(8) was called with -o and without fstab, or fstab is malformed.
            }
        }

        /**
         * The number of the line, counted from 1.
         *
         * @param lines their bytes, each as one character (ISO 8859-1)
         */
        static Optional<Integer> lineOf(String source, Path mountPoint, List<String> lines) {
            for (int i = 0; i < lines.size(); i++) {
                String[] fields = lines.get(i).strip().split("\\s+", -1);
                boolean ours = fields.length > 2 && !fields[0].startsWith("#") && fields[2].contains("penstock");
                if (ours
                        && MountTable.unescape(fields[0]).equals(source)
                        && Path.of(MountTable.unescape(fields[1])).normalize().equals(mountPoint)) {
                    return Optional.of(i + 1);
                }
            }
            return Optional.empty();
        }
    }
}
