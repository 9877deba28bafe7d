package io.penstock.cli;

import io.penstock.core.Printable;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.log.Logging;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.UnknownName;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.Secrets;
import io.penstock.settings.process.StandardOutput;
import io.penstock.settings.process.Version;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
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
        description = "Mounts S3 buckets as folders, and caches the data read on a local disk.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.VersionLines.class,
        scope = CommandLine.ScopeType.LOCAL,
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nTry it, without an account or a configuration:  penstock demo%n"
                + "Help with a command:                            penstock COMMAND --help%n",
        exitCodeListHeading = "%nExit codes (doctor, recover and umount have others: see their help):%n",
        exitCodeList = {
            "0:done",
            "1:failed; the reason was printed",
            "2:the command line or the configuration is wrong; nothing was tried",
            "130, 143:ended by Ctrl-C or by SIGTERM, after unmounting"
        })
public final class Main {
    /** In the order of the help. Each is named after its class: {@link #name}. */
    private static final List<Class<?>> COMMANDS = List.of(
            MountCommand.class,
            UmountCommand.class,
            MountsCommand.class,
            StatsCommand.class,
            ShareCommand.class,
            DoctorCommand.class,
            BenchCommand.class,
            SetCommand.class,
            ReloadCommand.class,
            UpgradeCommand.class,
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

    /** A command fails if its output does not reach the reader. */
    static int told(int exitCode, StandardOutput output, PrintWriter err) {
        Optional<String> lost = exitCode == ExitCode.DONE ? output.failure() : Optional.empty();
        if (lost.isEmpty()) {
            return exitCode;
        }
        err.println("penstock: the output cannot be written: " + lost.get());
        return ExitCode.FAILED;
    }

    /**
     * Allows the cache's disk to block half of the threads that carry virtual threads. Each half has as many threads as
     * there are processors, and both together have at least 4. More would cost: the JVM wakes an idle carrier for each
     * task (8 on two processors made three times the context switches of 4). Must run before the first virtual thread,
     * for which the JVM reads the property.
     */
    private static void leaveCarriersToOthers() {
        String carriers = "jdk.virtualThreadScheduler.parallelism";
        if (System.getProperty(carriers) == null) {
            int half = Math.max(2, Runtime.getRuntime().availableProcessors());
            System.setProperty(carriers, Integer.toString(2 * half));
        }
    }

    /** All commands; also for the manual pages. */
    public static CommandLine commandLine() {
        return commandLine(COMMANDS, false);
    }

    /** Only of this command, if there is one: learning the options of all takes longer than most commands. */
    static CommandLine commandLine(String name) {
        List<Class<?>> named =
                COMMANDS.stream().filter(each -> name(each).equals(name)).toList();
        return commandLine(named.isEmpty() && !name.equals("--version") ? COMMANDS : named, false);
    }

    /** {@code mount-helper} for {@link MountHelperCommand}. */
    private static String name(Class<?> command) {
        String name = command.getSimpleName();
        return name.substring(0, name.length() - "Command".length())
                .replaceAll("(?<=[a-z])(?=[A-Z])", "-")
                .toLowerCase(Locale.ROOT);
    }

    /** @param all whether help shows all settings */
    private static CommandLine commandLine(List<Class<?>> commands, boolean all) {
        CommandLine line = new CommandLine(new Main());
        commands.forEach(line::addSubcommand);
        equip(line, all);
        line.setExecutionStrategy(Main::run);
        line.setParameterExceptionHandler(Main::wrongUsage);
        line.setExecutionExceptionHandler(Main::failed);
        line.setUsageHelpAutoWidth(true);
        return line;
    }

    private static int run(ParseResult parsed) {
        if (parsed.asCommandLineList().getLast().getParseResult().hasMatchedOption("--help-all")) {
            CommandLine command = commandLine(COMMANDS, true);
            for (ParseResult each = parsed; each.hasSubcommand(); each = each.subcommand()) {
                command = Objects.requireNonNull(command.getSubcommands()
                        .get(each.subcommand().commandSpec().name()));
            }
            command.usage(parsed.commandSpec().commandLine().getOut());
            return ExitCode.DONE;
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /** Gives every command its help, and an option for each setting to those that mount or show settings. */
    private static void equip(CommandLine parent, boolean all) {
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
                ConfigurationArguments.addSettings(command, all);
            }
            equip(line, all);
        }
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        say(e instanceof UnmatchedArgumentException unmatched ? unmatched(unmatched) : e.getMessage(), err);
        dashed(command)
                .map(Secrets::hiddenInInput)
                .map(Printable::text)
                .ifPresent(word -> err.println(
                        "If " + word + " is a name, put -- before it; a path can also be written as ./" + word));
        err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    /** Only the first word: the word after an unknown option may be its value, and a secret. */
    private static String unmatched(UnmatchedArgumentException e) {
        String word = Printable.text(e.getUnmatched().getFirst());
        CommandSpec command = e.getCommandLine().getCommandSpec();
        if (word.startsWith("-")) {
            String option = word.replaceFirst("=.*", "");
            return "no such option: " + option
                    + UnknownName.hint(
                            option, "--", List.copyOf(command.optionsMap().keySet()));
        } else if (command.subcommands().isEmpty()) {
            return "unexpected argument: '" + word + "'";
        }
        return "no such command: '" + word + "'"
                + UnknownName.command(word, shown(command))
                        .map(guess -> "; did you mean " + command.qualifiedName() + " " + guess + "?")
                        .orElse("");
    }

    private static List<String> shown(CommandSpec command) {
        return command.subcommands().entrySet().stream()
                .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** A word that may be a name, because the command takes names, but begins with a dash and is no option. */
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
                wrong.problems().forEach(problem -> say(problem, err));
                yield ExitCode.USAGE;
            }
            case RefusedException _, MountException _, ObjectStoreException _ -> {
                say(e.getMessage(), err);
                yield failure;
            }
            case InterruptedException interrupted -> failure;
            default -> {
                LoggerFactory.getLogger(Main.class).error("{} failed", command.getCommandName(), e);
                say(
                        "internal error: " + e + "; please report it"
                                + Logging.file()
                                        .map(file -> " with the stack trace in " + file)
                                        .orElse(""),
                        err);
                yield failure;
            }
        };
    }

    private static void say(@Nullable String why, PrintWriter err) {
        err.println("penstock: " + Secrets.hiddenInInput(String.valueOf(why)));
    }

    /** Penstock, Java and the system. */
    static final class VersionLines implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "penstock " + Version.NUMBER,
                "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch")
            };
        }
    }

    /** {@code --help} for every command. */
    @Command
    private static final class Help {
        @CommandLine.Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Show this help.")
        @SuppressWarnings("UnusedVariable") // picocli handles it.
        private boolean help;
    }
}
