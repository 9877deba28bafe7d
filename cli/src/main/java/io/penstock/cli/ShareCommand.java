package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.ShareStatus;
import io.penstock.serve.control.ShareStatus.Member;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "share",
        description = "Shows the cache that a mount shares with other nodes.",
        subcommands = {ShareCommand.Status.class})
final class ShareCommand {
    private ShareCommand() {}

    @Command(
            name = "status",
            description = {
                "Shows the cache group of a mount: its members, the share of the data that each owns, the bytes"
                        + " received and sent, and the causes of fallbacks to the store.",
                "",
                "docs/SHARING.md explains the causes."
            })
    static final class Status implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = ServingMount.LABEL, arity = "0..1", description = ServingMount.DESCRIPTION)
        private @Nullable String mountPoint;

        @Option(names = "--json", description = "Print JSON for other programs.")
        private boolean json;

        @Override
        public Integer call() throws IOException, RefusedException {
            JsonNode answer = ServingMount.find(mountPoint).ask("stats", Map.of());
            MountStatistics statistics = Json.read(answer, MountStatistics.class);
            ShareStatus share = statistics.share();
            if (share == null) {
                throw new RefusedException(statistics.mountPoint()
                        + " does not share its cache: set share.peers, and mount again (docs/SHARING.md)");
            }
            PrintWriter out = spec.commandLine().getOut();
            out.print(json ? answer.get("share") + "\n" : text(statistics, share));
            out.flush();
            return ExitCode.DONE;
        }
    }

    static String text(MountStatistics mount, ShareStatus share) {
        String place = mount.mountPoint();
        return switch (share.state()) {
            case JOINING -> place + " is looking for its cache group, at " + share.listen() + "\n";
            case FAILED ->
                place + " does not share its cache now, and retries every 30 s: "
                        + Printable.text(String.valueOf(share.error())) + "\n";
            case JOINED ->
                place + " shares its cache at " + share.listen() + "\n" + members(share) + traffic(mount, share);
        };
    }

    private static String members(ShareStatus share) {
        StringBuilder text = new StringBuilder("%-24s %6s  %s%n".formatted("NODE", "OWNS", "STATE"));
        for (Member member : share.members()) {
            text.append("%-24s %5.1f%%  %s%n"
                    .formatted(
                            Printable.text(member.address()),
                            100 * member.share(),
                            switch (member.state()) {
                                case "self" -> "this node";
                                case "asked" ->
                                    share.requestsToPeers() == 0 ? "in the group; no requests yet" : "asked";
                                case "skipped" -> "skipped after failures; retried within a minute";
                                default -> Printable.text(member.state());
                            }));
        }
        if (share.members().size() == 1) {
            text.append("No other node has joined yet; a new mount takes about ten seconds.\n");
        }
        return text.toString();
    }

    private static String traffic(MountStatistics mount, ShareStatus share) {
        long fromStore = mount.readahead().bytesFetched();
        return """
            from others:   %s in %,d requests
            fell back:     %,d times to the store for pages of other nodes%s
            to others:     %s in %,d requests, %,d GETs for them%s
            from store:    %s of the %s received; %s GETs per cold page if all nodes read the same data
            """.formatted(
                        ByteSizes.about(share.bytesFromPeers()),
                        share.requestsToPeers(),
                        share.allFallbacks(),
                        list(": ", share.fallbacks()),
                        ByteSizes.about(share.bytesServed()),
                        share.requestsServed(),
                        share.getsForPeers(),
                        list("; refused: ", share.refusals()),
                        Figures.percent(fromStore, fromStore + share.bytesFromPeers()),
                        ByteSizes.about(fromStore + share.bytesFromPeers()),
                        getsAColdPage(fromStore, share));
    }

    /** If all nodes read the same, each of them fetches its part. */
    private static String getsAColdPage(long fromStore, ShareStatus share) {
        long all = fromStore + share.bytesFromPeers();
        return all == 0
                ? "-"
                : String.format(
                        Locale.ROOT,
                        "%.2f",
                        (double) fromStore / all * share.members().size());
    }

    private static String list(String before, Map<String, Long> counts) {
        String list = counts.entrySet().stream()
                .filter(each -> each.getValue() > 0)
                .sorted(Map.Entry.comparingByKey())
                .map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(", "));
        return list.isEmpty() ? "" : before + list;
    }
}
