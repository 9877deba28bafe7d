package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStoreException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The program behind bin/bench. */
@Command(
        name = "bench",
        description = "Measures Penstock, and in the same run the ceilings that it cannot exceed.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ReadCommand.class,
            WriteCommand.class,
            BridgeCommand.class,
            TreeCommand.class,
            NamesCommand.class,
            TrainingCommand.class,
            SharingCommand.class
        })
final class Benchmarks {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = CommandLine.ScopeType.INHERIT,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // Picocli uses it.
    private boolean help;

    private Benchmarks() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Benchmarks())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, _) -> {
                    if (failure instanceof BenchException || failure instanceof ObjectStoreException) {
                        System.err.println("bench: " + failure.getMessage());
                    } else {
                        failure.printStackTrace();
                    }
                    return command.getCommandSpec().exitCodeOnExecutionException();
                });
    }
}
