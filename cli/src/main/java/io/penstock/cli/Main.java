package io.penstock.cli;

import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.log.Logging;
import io.penstock.cli.process.RefusedException;
import io.penstock.cli.process.StandardOutput;
import io.penstock.cli.process.Version;
import io.penstock.core.Printable;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line. */
@Command(
        name = "penstock",
        description = "Shows S3 buckets as folders, and caches the data read on a local disk.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        scope = CommandLine.ScopeType.LOCAL,
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nTry it, without an account or a configuration:  penstock demo%n"
                + "Help with a command:                            penstock COMMAND --help%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:it could not be done; the reason was printed",
            "2:the command line or the configuration is wrong; nothing was tried",
            "130, 143:ended by Ctrl-C or by SIGTERM, after unmounting"
        })
public final class Main {
    /** In the order of the help. Each has the name of its class: {@link #name}. */
    private static final List<Class<?>> COMMANDS = List.of(
            MountCommand.class,
            UmountCommand.class,
            MountsCommand.class,
            StatsCommand.class,
            ShareCommand.class,
            ProfileCommand.class,
            DoctorCommand.class,
            BenchCommand.class,
            SetCommand.class,
            ReloadCommand.class,
            WarmCommand.class,
            UnpinCommand.class,
            EvictCommand.class,
            CacheCommand.class,
            WhyCommand.class,
            SyncCommand.class,
            RecoverCommand.class,
            IndexCommand.class,
            ConfigCommand.class,
            DemoCommand.class,
            InstallCommand.class,
            MountHelperCommand.class,
            TrainCommand.class,
            TrainCommandsCommand.class);

    private Main() {}

    public static void main(String[] args) {
        leaveCarriersToOthers();
        StandardOutput output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        System.setOut(output.stream());
        CommandLine line = args.length == 0 ? commandLine() : commandLine(args[0]);
        if (args.length == 0) {
            line.usage(line.getErr());
            System.exit(ExitCode.USAGE);
        }
        System.exit(told(line.execute(args), output, line.getErr()));
    }

    /** A command has failed if its output did not reach the reader. */
    static int told(int exitCode, StandardOutput output, PrintWriter err) {
        Optional<String> lost = exitCode == ExitCode.DONE ? output.failure() : Optional.empty();
        if (lost.isEmpty()) {
            return exitCode;
        }
        err.println("penstock: the output cannot be written: " + lost.get());
        return ExitCode.FAILED;
    }

    /**
     * Allows the cache's disk to block half of the threads that carry virtual threads: each half has as many as there
     * are processors, and both together at least 4. More cost: the JVM wakes an idle carrier for each task (8 on two
     * processors made three times the context switches of 4). Must run before the first virtual thread, which makes the
     * JVM read the property.
     */
    private static void leaveCarriersToOthers() {
        String carriers = "jdk.virtualThreadScheduler.parallelism";
        if (System.getProperty(carriers) == null) {
            int half = Math.max(2, Runtime.getRuntime().availableProcessors());
            System.setProperty(carriers, Integer.toString(2 * half));
        }
    }

    static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    /** Of one command, if that is its name: to know the options of all takes longer than most commands themselves. */
    static CommandLine commandLine(String name) {
        List<Class<?>> named =
                COMMANDS.stream().filter(each -> name(each).equals(name)).toList();
        return commandLine(named.isEmpty() && !name.equals("--version") ? COMMANDS : named);
    }

    /** {@code mount-helper} of {@link MountHelperCommand}. */
    private static String name(Class<?> command) {
        String name = command.getSimpleName();
        return name.substring(0, name.length() - "Command".length())
                .replaceAll("(?<=[a-z])(?=[A-Z])", "-")
                .toLowerCase(Locale.ROOT);
    }

    private static CommandLine commandLine(List<Class<?>> commands) {
        CommandLine line = new CommandLine(new Main());
        commands.forEach(line::addSubcommand);
        equip(line);
        line.setParameterExceptionHandler(Main::wrongUsage);
        line.setExecutionExceptionHandler(Main::failed);
        line.setUsageHelpAutoWidth(true);
        return line;
    }

    /** Gives every command its help, and an option for each setting to the commands that mount or show the settings. */
    private static void equip(CommandLine parent) {
        // A set, because a command appears under each of its names.
        for (CommandLine line : Set.copyOf(parent.getSubcommands().values())) {
            CommandSpec command = line.getCommandSpec();
            command.usageMessage().abbreviateSynopsis(true);
            if (!command.usageMessage().hidden()) {
                command.addMixin("help", CommandSpec.forAnnotatedObject(new Help()));
            }
            Object user = command.userObject();
            if (user instanceof MountCommand
                    || user instanceof DoctorCommand
                    || user instanceof BenchCommand
                    || user instanceof RecoverCommand
                    || user instanceof IndexCommand.Export
                    || user instanceof ConfigCommand.Show) {
                ConfigurationArguments.addSettings(command);
            }
            equip(line);
        }
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("penstock: " + e.getMessage());
        UnmatchedArgumentException.printSuggestions(e, err);
        dashed(command)
                .map(Printable::text)
                .ifPresent(word -> err.println(
                        "If " + word + " is a name, put -- before it; a path may be written ./" + word + " too"));
        err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    /** What may be a name, where the command takes names, as it begins with a dash and is no option. */
    private static Optional<String> dashed(CommandLine command) {
        return command.getCommandSpec().positionalParameters().isEmpty()
                ? Optional.empty()
                : command.getUnmatchedArguments().stream()
                        .filter(word -> word.startsWith("-") && !word.startsWith("--"))
                        .findFirst();
    }

    private static int failed(Exception e, CommandLine command, ParseResult parsed) {
        boolean helper = command.getCommandSpec().userObject() instanceof MountHelperCommand;
        int failure = helper ? ExitCode.MOUNT_FAILURE : ExitCode.FAILED;
        PrintWriter err = command.getErr();
        return switch (e) {
            case ConfigurationException wrong -> {
                wrong.problems().forEach(problem -> err.println("penstock: " + problem));
                yield ExitCode.USAGE;
            }
            case RefusedException refused -> say(refused, err, failure);
            case MountException refused -> say(refused, err, failure);
            case ObjectStoreException refused -> say(refused, err, failure);
            case InterruptedException interrupted -> failure;
            default -> {
                LoggerFactory.getLogger(Main.class).error("{} failed", command.getCommandName(), e);
                err.println("penstock: " + e + " (this is a mistake in Penstock; please report it"
                        + Logging.file()
                                .map(file -> " with the stack trace in " + file)
                                .orElse("") + ")");
                yield failure;
            }
        };
    }

    private static int say(Exception refused, PrintWriter err, int exitCode) {
        err.println("penstock: " + refused.getMessage());
        return exitCode;
    }

    /** {@code --help} for every command. */
    @Command
    private static final class Help {
        @CommandLine.Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Show this help.")
        @SuppressWarnings("UnusedVariable") // picocli acts on it by itself.
        private boolean help;
    }
}
