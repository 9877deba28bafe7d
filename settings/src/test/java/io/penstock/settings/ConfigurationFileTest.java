package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationFileTest {
    @TempDir
    private Path folder;

    @Test
    void find_nested_flatAndUnquotedValues_understood() throws IOException {
        ConfigurationFile file = read("""
            # a comment
            defaults:
              s3:
                endpoint: http://127.0.0.1:9000
                path-style: true
              cache.size: 1GiB   # the short form of a nested key
              file-mode: 0640
              memory: "1GiB"
            buckets:
              data:
              other: {uid: 7}
            """);
        assertThat(file.problems()).isEmpty();
        assertThat(file.defaults())
                .extracting(assignment -> assignment.setting().key() + "=" + assignment.print())
                .containsExactly(
                        "s3.endpoint=http://127.0.0.1:9000",
                        "s3.path-style=true",
                        "cache.size=1GiB",
                        "file-mode=0640",
                        "memory=1GiB");
        assertThat(file.bucket("data")).isEmpty();
        assertThat(file.bucket("other")).hasSize(1);
        assertThat(file.bucket("unknown")).isEmpty();
    }

    @Test
    void find_pathsToWarm_areAListOrATextWithColons() throws IOException {
        ConfigurationFile file = read("""
            buckets:
              list: {warm: {paths: [train, 'val/*.tar'], pin: true}}
              text: {warm.paths: 'train:val'}
              wrong: {warm: {paths: ['a:b', {c: d}]}}
            """);
        assertThat(file.bucket("list"))
                .extracting(assignment -> assignment.setting().key() + "=" + assignment.print())
                .containsExactly("warm.paths=train:val/*.tar", "warm.pin=true");
        assertThat(file.bucket("text"))
                .extracting(assignment -> (Object) assignment.value())
                .containsExactly(List.of("train", "val"));
        assertThat(file.problems()).hasSize(2).allMatch(problem -> problem.contains("a path without a colon"));
    }

    @Test
    void find_peers_areAListOrATextWithCommas() throws IOException {
        ConfigurationFile file = read("""
            buckets:
              list: {share: {peers: [10.0.0.1, 'node2:7500', '[fd00::3]']}}
              text: {share.peers: '10.0.0.1, node2:7500'}
              wrong: {share: {peers: ['10.0.0.1,node2', [a]]}}
            """);
        assertThat(file.bucket("list"))
                .extracting(Assignment::print)
                .containsExactly("10.0.0.1:7420,node2:7500,[fd00::3]:7420");
        assertThat(file.bucket("text")).extracting(Assignment::print).containsExactly("10.0.0.1:7420,node2:7500");
        assertThat(file.problems()).hasSize(2).allMatch(problem -> problem.contains("a node such as"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "# nothing\n", "---\n", "defaults:\nbuckets:\n", "{}"})
    void find_emptyInAnyWay_noSettingsNoProblems(String text) throws IOException {
        ConfigurationFile file = read(text);
        assertThat(file.problems()).isEmpty();
        assertThat(file.defaults()).isEmpty();
    }

    @Test
    void find_aFileOfAnotherKind_showsItsBeginningOnly() throws IOException {
        assertThat(problems("a line of text, and ".repeat(1000)))
                .singleElement()
                .satisfies(problem -> assertThat(problem.length()).isLessThan(300))
                .asString()
                .contains("invalid value 'a line of text", "expected a mapping");
    }

    @Test
    void find_everyKindOfMistake_eachWithItsLine() throws IOException {
        assertThat(problems("""
            defaults:
              cahce:
                size: 1GiB
              cache:
                sise: 1GiB
                size: 64
                dir: [a, b]
              readahead: 8MiB
              memory:
              memory: 1GiB
              memory: 2GiB
              s3: {path-style: yes}
              uid: {a: 1}
              frobnicate: 1
            bucket:
              data: {}
            cache: {size: 1GiB}
            buckets:
              data: {uid: 1}
              data: {uid: 2}
              other: 7
            defaults: {}
            """))
                .containsExactly(
                        "2: cahce: no such setting; did you mean cache?",
                        "5: cache.sise: no such setting; did you mean cache.size?",
                        "7: cache.dir: found a list; expected a path, in which {bucket} is replaced by the bucket's"
                                + " name",
                        "8: readahead: invalid value '8MiB'; expected a mapping of max-window, range-size, concurrency,"
                                + " small-file",
                        "9: memory: no value; expected a size with a unit, such as 512MiB, 64GiB or 1.5TiB,"
                                + " 64MiB or more",
                        "13: uid: found a mapping; expected a whole number from 0 to 2147483647",
                        "14: frobnicate: no such setting",
                        "6 (defaults): cache.size: invalid value '64'; expected a size with a unit, such as 512MiB,"
                                + " 64GiB or 1.5TiB, 1MiB or more",
                        "11 (defaults): memory: duplicate setting; already set in FILE:10 (defaults)",
                        "12 (defaults): s3.path-style: invalid value 'yes'; expected true or false",
                        "15: bucket: no such section; the sections are defaults and buckets; did you mean buckets?",
                        "17: cache: no such section; the sections are defaults and buckets; settings go under"
                                + " defaults: or buckets: NAME:",
                        "20: buckets.data: duplicate key",
                        "21: buckets.other: invalid value '7'; expected a mapping of settings",
                        "22: defaults: duplicate key");
    }

    @Test
    void find_notAMapping_saysSo() throws IOException {
        assertThat(problems("- a\n- b\n"))
                .containsExactly("1: the file: found a list; expected a mapping with the keys defaults and buckets");
    }

    @Test
    void find_notYaml_namesTheLine() throws IOException {
        assertThat(problems("defaults:\n  cache: {size: 1GiB\n  memory: 1GiB\n"))
                .singleElement()
                .asString()
                .startsWith("3: invalid YAML: ");
        assertThat(problems("defaults:\n\tmemory: 1GiB\n"))
                .singleElement()
                .asString()
                .startsWith("2: invalid YAML: ");
    }

    @Test
    void find_anchorAndAlias_refused() throws IOException {
        assertThat(problems("defaults: {memory: &m 1GiB, cache: {size: *m}}\n"))
                .singleElement()
                .asString()
                .contains("cache.size: found an alias");
        assertThat(problems("defaults: {log: {file: &sets /log}, warm: {paths: [train, *sets]}}\n"))
                .singleElement()
                .asString()
                .contains("warm.paths: found an alias");
        assertThat(problems("defaults: &m {memory: 1GiB}\nbuckets: {data: *m}\n"))
                .containsExactly("2: buckets.data: found an alias; expected a mapping of settings");
    }

    @Test
    void find_moreThanOneDocument_refused() throws IOException {
        assertThat(problems("defaults: {uid: 1}\n---\ndefaults: {uid: 2}\n"))
                .containsExactly("3: the file: more than one YAML document (---); only one is allowed");
        assertThat(problems("---\n# nothing\n---\ndefaults: {uid: 2}\n")).hasSize(1);
        assertThat(problems("---\ndefaults: {uid: 1}\n...\n")).isEmpty();
    }

    @Test
    void find_aSectionThatIsNoBuckets_refused() throws IOException {
        assertThat(problems("buckets:\n  data/a: {uid: 1}\n  s3://data: {uid: 1}\n"))
                .containsExactly(
                        "2: buckets.data/a: invalid bucket name; omit s3:// and any prefix",
                        "3: buckets.s3://data: invalid bucket name; omit s3:// and any prefix");
    }

    @Test
    void find_nestedWithoutEnd_isAProblem() throws IOException {
        assertThat(problems("defaults: " + "[".repeat(5000)))
                .singleElement()
                .asString()
                .contains("invalid YAML: ");
    }

    @Test
    void find_notUtf8_saysSo() throws IOException {
        Path file = Files.write(folder.resolve("latin.yaml"), new byte[] {'a', (byte) 0xfc});
        assertThat(ConfigurationFile.find(file, Hosts.USER).problems()).containsExactly(file + ": not valid UTF-8");
    }

    @Test
    void find_namedButMissing_isAProblem() {
        ConfigurationFile file = ConfigurationFile.find(folder.resolve("none.yaml"), Hosts.USER);
        assertThat(file.problems()).containsExactly(folder.resolve("none.yaml") + ": no such file");
    }

    @Test
    void find_folderInsteadOfFile_isAProblem() {
        assertThat(ConfigurationFile.find(folder, Hosts.USER).problems())
                .singleElement()
                .asString()
                .isEqualTo("cannot read " + folder + ": Is a directory");
    }

    @Test
    void find_linksInACircle_isAProblemWithTheReasonAlone() throws IOException {
        Path circle = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));

        assertThat(ConfigurationFile.find(circle, Hosts.USER).problems())
                .singleElement()
                .asString()
                .startsWith("cannot read " + circle + ": Too many levels of symbolic links");
    }

    @Test
    void find_notNamed_usersBeforeMachines() throws IOException {
        Host host = Hosts.user(Map.of("XDG_CONFIG_HOME", folder.toString()));
        Path users = folder.resolve("penstock/penstock.yaml");
        assertThat(ConfigurationFile.places(host)).containsExactly(users, Path.of("/etc/penstock/penstock.yaml"));
        assertThat(ConfigurationFile.places(Hosts.USER).getFirst())
                .isEqualTo(Path.of("/home/ann/.config/penstock/penstock.yaml"));
        Files.createDirectories(users.getParent());
        Files.writeString(users, "defaults: {uid: 7}\n");
        assertThat(ConfigurationFile.find(null, host).path()).isEqualTo(users);
    }

    private ConfigurationFile read(String text) throws IOException {
        return ConfigurationFile.find(Files.writeString(folder.resolve("penstock.yaml"), text), Hosts.USER);
    }

    private List<String> problems(String text) throws IOException {
        String path = folder.resolve("penstock.yaml").toString();
        return read(text).problems().stream()
                .map(problem -> problem.replaceFirst("^" + path + ":", "").replace(path, "FILE"))
                .toList();
    }
}
