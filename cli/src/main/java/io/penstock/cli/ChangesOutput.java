package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** How changed settings are shown. */
final class ChangesOutput {
    @Option(names = "--json", description = "Show the changes as a JSON array, for other programs.")
    private boolean json;

    /** @param changes the mount's response: an array of objects with key, before, after and holdsNow */
    void print(JsonNode changes, CommandSpec spec) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(changes);
        } else if (changes.isEmpty()) {
            out.println("No changes.");
        } else {
            changes.forEach(change -> out.println(line(change)));
        }
        out.flush();
    }

    private static String line(JsonNode change) {
        return change.path("key").asText() + ": " + change.path("before").asText() + " -> "
                + change.path("after").asText()
                + (change.path("holdsNow").asBoolean() ? "" : ", at the next mount");
    }
}
