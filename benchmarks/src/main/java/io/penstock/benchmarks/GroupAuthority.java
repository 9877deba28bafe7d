package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Creates a group's authority and its nodes' certificates, as docs/SHARING.md describes. */
final class GroupAuthority {
    private final Path folder;

    /** @param folder for keys and certificates */
    GroupAuthority(Path folder) throws BenchException, InterruptedException {
        this.folder = folder;
        key("ca");
        openssl(
                "req -x509 -new -days 3650",
                "-key",
                file("ca.key"),
                "-subj",
                "/CN=cache group",
                "-out",
                file("ca.crt"));
    }

    /** Options of {@code penstock mount} for the node of this name. */
    List<String> options(String node) throws BenchException, InterruptedException {
        if (!Files.exists(folder.resolve(node + ".crt"))) {
            certify(node);
        }
        return List.of(
                "--share-tls-ca=" + file("ca.crt"),
                "--share-tls-certificate=" + file(node + ".crt"),
                "--share-tls-key=" + file(node + ".key"));
    }

    private void certify(String node) throws BenchException, InterruptedException {
        String request = file(node + ".csr");
        key(node);
        openssl("req -new", "-key", file(node + ".key"), "-subj", "/CN=" + node, "-out", request);
        List<String> authority = List.of("-CA", file("ca.crt"), "-CAkey", file("ca.key"), "-CAcreateserial");
        List<String> arguments = new ArrayList<>(authority);
        arguments.addAll(List.of("-in", request, "-out", file(node + ".crt")));
        openssl("x509 -req -days 365", arguments.toArray(String[]::new));
    }

    private void key(String name) throws BenchException, InterruptedException {
        openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1", "-out", file(name + ".key"));
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    private static void openssl(String command, String... arguments) throws BenchException, InterruptedException {
        List<String> line = new ArrayList<>(List.of("openssl"));
        line.addAll(Arrays.asList(command.split(" ", -1)));
        line.addAll(List.of(arguments));
        try {
            Programs.run(line);
        } catch (IOException e) {
            throw new BenchException("openssl does not make the nodes' certificates: install it, or share in the clear"
                    + " with --insecure: " + e.getMessage());
        }
    }
}
