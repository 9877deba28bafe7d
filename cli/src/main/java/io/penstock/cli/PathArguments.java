package io.penstock.cli;

import io.penstock.cli.config.Host;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The mount and the paths that a command is about. */
final class PathArguments {
    /** Longer lists than this, in characters, go through a file: a request is at most 64 KiB. */
    private static final int MOST_SENT = 8_000;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = ServingMount.LABEL,
            description = "The folder that was given to penstock mount.")
    private String mountPoint;

    @Parameters(
            index = "1..*",
            paramLabel = "PATH",
            description =
                    "Files, folders (all that is in them) and patterns (*, ?, [a-z], {a,b}, ** for any depth), below"
                            + " the mount point or relative to it. . stands for all of the mount.")
    private List<String> paths = new ArrayList<>();

    ServingMount mount() throws IOException, RefusedException {
        return ServingMount.find(mountPoint);
    }

    /**
     * For use where no other argument takes the place of paths.
     *
     * @throws ParameterException if there is no path
     */
    void require(String otherwise) {
        if (paths.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "name a file or folder, . for all of the mount" + otherwise);
        }
    }

    /** @throws ParameterException if there is a path */
    void requireNone(String option) {
        if (!paths.isEmpty()) {
            throw new ParameterException(spec.commandLine(), option + " takes no paths: it begins no job");
        }
    }

    /**
     * The arguments of the request to the mount.
     *
     * @param manifest a file with further paths, one a line, - for standard input; null for none
     */
    Map<String, Object> request(@Nullable String manifest) throws IOException, RefusedException {
        Map<String, Object> request = new HashMap<>();
        boolean isLong = paths.stream().mapToInt(String::length).sum() > MOST_SENT;
        if (isLong || "-".equals(manifest)) {
            Path list = Files.createTempFile("penstock-paths-", ".txt"); // for its user only; the mount removes it
            if ("-".equals(manifest)) {
                try (InputStream in = System.in) {
                    Files.copy(in, list, StandardCopyOption.REPLACE_EXISTING);
                }
            } else if (manifest != null) {
                throw new RefusedException("these are many paths: write them into the manifest");
            } else {
                Files.write(list, paths);
            }
            request.put("list", list.toString());
            request.put("isListTemporary", true);
        } else if (manifest != null) {
            Path list = Host.current().path(manifest);
            if (!Files.isReadable(list)) {
                throw new RefusedException("--manifest " + list + ": there is no such file, or it cannot be read");
            }
            request.put("list", list.toString());
        }
        request.put("paths", isLong ? List.of() : paths);
        return request;
    }
}
