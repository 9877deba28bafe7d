package io.penstock.cli;

import io.penstock.core.Namespace;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.ShellWord;
import io.penstock.writeback.staging.StagingFolder;
import io.penstock.writeback.staging.StrandedFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells a user where penstock recover looks for written files, and where missing ones may be: in another folder, or
 * under another bucket or server.
 *
 * @param configuration that of the command
 * @param file the configuration file given to the command; null if none
 */
record RecoverySearch(
        Target target,
        Configuration configuration,
        @Nullable String file) {
    private static final String COMMAND = "penstock recover ";

    private Path staging() {
        return configuration.get(WriteSettings.STAGING);
    }

    /** Reports where nothing was found, and where else to search. The folder may be missing. */
    List<String> nothing() {
        Path staging = staging();
        List<String> lines = new ArrayList<>();
        lines.add("No files are waiting in " + staging + (Files.exists(staging) ? "" : ", which does not exist,")
                + " for " + target.source() + " at "
                + configuration.find(Settings.ENDPOINT).map(URI::toString).orElse("AWS"));
        lines.addAll(beside(staging));
        lines.add("If the mount used --cache, --write-staging, --endpoint or --config, give the same options here");
        return lines;
    }

    /** Staging folders next to this one: by default, each bucket has a folder named after it. */
    private List<String> beside(Path staging) {
        Path parent = staging.getParent();
        if (parent == null || !staging.endsWith(target.bucket())) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(parent)) {
            return folders.filter(folder -> !folder.equals(staging) && holdsFiles(folder))
                    .sorted()
                    .map(folder -> "Written files are waiting in " + folder + ": "
                            + command(folder.getFileName().toString(), folder, ""))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static boolean holdsFiles(Path folder) {
        try {
            return StagingFolder.holdsFiles(folder);
        } catch (IOException e) {
            return false; // another user's
        }
    }

    /** How to settle files of other buckets and servers that are in the folder, one line for each. */
    List<String> others(List<StrandedFile> files) {
        Map<String, Long> counts = files.stream()
                .collect(Collectors.groupingBy(StrandedFile::namespace, TreeMap::new, Collectors.counting()));
        return counts.entrySet().stream()
                .map(each -> Figures.count(each.getValue(), "file") + " of " + each.getKey() + " in " + staging() + ": "
                        + commandFor(each.getKey()))
                .toList();
    }

    /** A namespace does not say whether its server is reached by http or https. */
    private String commandFor(String namespace) {
        int slash = namespace.indexOf('/');
        String bucket = namespace.substring(slash + 1);
        Optional<URI> endpoint = configuration
                .find(Settings.ENDPOINT)
                .filter(own -> Namespace.of(own, bucket).equals(namespace));
        if (endpoint.isPresent()) {
            return command(bucket, staging(), " --endpoint " + endpoint.get());
        } else if (namespace.equals(Namespace.of(null, bucket))) {
            return commandForAws(bucket);
        }
        return command(bucket, staging(), "") + ", with --endpoint and the address of "
                + namespace.substring(0, Math.max(0, slash));
    }

    /** No option selects AWS again once an endpoint is set elsewhere than in options. */
    private String commandForAws(String bucket) {
        String command = command(bucket, staging(), "");
        Origin origin = configuration.origin(Settings.ENDPOINT);
        return switch (origin) {
            case Origin.Default _, Origin.Option _, Origin.MountOption _ -> command;
            case Origin.Variable _, Origin.Profile _ ->
                "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true " + command + ", which ignores the endpoint of " + origin;
            case Origin.Line _ ->
                new RecoverySearch(target, configuration, null).command(bucket, staging(), "")
                        + ", with --config and a file without the endpoint of " + origin;
        };
    }

    /** Includes the file and the profile given to this command, which may have the credentials. */
    private String command(String bucket, Path staging, String options) {
        return COMMAND + ShellWord.of(bucket)
                + (file == null ? "" : " --config " + ShellWord.of(file))
                + switch (configuration.origin(Settings.PROFILE)) {
                    case Origin.Option _, Origin.MountOption _ ->
                        " --profile " + ShellWord.of(configuration.show(Settings.PROFILE));
                    case Origin.Default _, Origin.Line _, Origin.Variable _, Origin.Profile _ -> "";
                }
                + " --write-staging " + ShellWord.of(staging.toString()) + options;
    }
}
