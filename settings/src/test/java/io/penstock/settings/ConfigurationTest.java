package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigurationTest {
    private static final long GIB = 1L << 30;
    private static final String IGNORE = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";

    @TempDir
    private Path folder;

    @Test
    void get_nothingSet_builtInDefaults() throws ConfigurationException {
        Configuration configuration = resolve(Map.of(), "", ConfigurationFile.NONE);
        assertThat(configuration.get(Settings.CACHE_SIZE)).isEqualTo(64 * GIB);
        assertThat(configuration.origin(Settings.CACHE_SIZE)).isEqualTo(new Origin.Default());
        assertThat(configuration.find(Settings.ENDPOINT)).isEmpty();
        assertThat(configuration.show(Settings.ENDPOINT)).isEqualTo("(AWS)");
        assertThat(configuration.get(Settings.UID)).isEqualTo(1000);
        assertThat(configuration.get(Settings.GID)).isEqualTo(1001);
        assertThat(configuration.get(Settings.CACHE_DIR)).isEqualTo(Path.of("/home/ann/.cache/penstock/data"));
        assertThat(configuration.get(Settings.LOG_FILE))
                .isEqualTo(Path.of("/home/ann/.local/state/penstock/data@{mount}.log"));
    }

    @Test
    void get_pathWithBucket_isThisBucketsFromEverySource() throws Exception {
        ConfigurationFile file = file("""
            defaults:
              cache: {dir: "/nvme/{bucket}/cache"}
            """);
        assertThat(resolve(Map.of(), "log.file=/logs/{bucket}.log", file)).satisfies(configuration -> {
            assertThat(configuration.get(Settings.CACHE_DIR)).isEqualTo(Path.of("/nvme/data/cache"));
            assertThat(configuration.show(Settings.CACHE_DIR)).isEqualTo("/nvme/data/cache");
            assertThat(configuration.get(Settings.LOG_FILE)).isEqualTo(Path.of("/logs/data.log"));
        });
    }

    @Test
    void get_root_foldersOfTheMachine() throws ConfigurationException {
        Configuration configuration =
                Configuration.of(Hosts.ROOT, "data", SettingSource.EMPTY, SettingSource.EMPTY, ConfigurationFile.NONE);
        assertThat(configuration.get(Settings.CACHE_DIR)).isEqualTo(Path.of("/var/cache/penstock/data"));
        assertThat(configuration.get(Settings.LOG_FILE)).isEqualTo(Path.of("/var/log/penstock/data@{mount}.log"));
        assertThat(configuration.get(Settings.ALLOW_OTHER)).isTrue();
    }

    @Test
    void get_setEverywhere_strongestWinsAndNamesItsPlace() throws Exception {
        ConfigurationFile file = file("""
            defaults:
              cache: {size: 1GiB}
            buckets:
              data:
                cache:
                  size: 2GiB
            """);
        Map<Setting<?>, String> option = Map.of(Settings.CACHE_SIZE, "4GiB");

        Configuration all = resolve(option, "cache_size=3GiB", file);
        assertThat(all.get(Settings.CACHE_SIZE)).isEqualTo(4 * GIB);
        assertThat(all.origin(Settings.CACHE_SIZE)).hasToString("option --cache-size");

        Configuration withoutOption = resolve(Map.of(), "cache_size=3GiB", file);
        assertThat(withoutOption.get(Settings.CACHE_SIZE)).isEqualTo(3 * GIB);
        assertThat(withoutOption.origin(Settings.CACHE_SIZE)).hasToString("-o: option 'cache_size=3GiB'");

        Configuration fileOnly = resolve(Map.of(), "", file);
        assertThat(fileOnly.get(Settings.CACHE_SIZE)).isEqualTo(2 * GIB);
        assertThat(fileOnly.origin(Settings.CACHE_SIZE)).hasToString(file.path() + ":6 (buckets.data)");

        Configuration otherBucket =
                Configuration.of(Hosts.USER, "other", SettingSource.EMPTY, SettingSource.EMPTY, file);
        assertThat(otherBucket.get(Settings.CACHE_SIZE)).isEqualTo(GIB);
        assertThat(otherBucket.origin(Settings.CACHE_SIZE)).hasToString(file.path() + ":2 (defaults)");
    }

    @Test
    void endpoint_inTheEnvironment_followedUnlessSet() throws ConfigurationException {
        Host host = Hosts.user(Map.of("AWS_ENDPOINT_URL", "http://a:1", "AWS_ENDPOINT_URL_S3", "http://b:2"));
        Configuration configuration =
                Configuration.of(host, "data", SettingSource.EMPTY, SettingSource.EMPTY, ConfigurationFile.NONE);
        assertThat(configuration.find(Settings.ENDPOINT)).hasValue(URI.create("http://b:2"));
        assertThat(configuration.origin(Settings.ENDPOINT)).hasToString("environment variable AWS_ENDPOINT_URL_S3");

        SettingSource option = SettingSource.ofOptions(Map.of(Settings.ENDPOINT, "http://c:3"), Map.of());
        Configuration set = Configuration.of(host, "data", option, SettingSource.EMPTY, ConfigurationFile.NONE);
        assertThat(set.find(Settings.ENDPOINT)).hasValue(URI.create("http://c:3"));
    }

    @Test
    void endpoint_ofTheProfile_followedUnlessSetElsewhere() throws Exception {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [default]
            region = eu-central-1
            [profile minio]
            endpoint_url = http://10.0.0.5:9000
            [profile local]
            endpoint_url = http://all:1
            services = here
            [profile ignoring]
            endpoint_url = http://all:1
            ignore_configured_endpoint_urls = true
            [services here]
            s3 =
              endpoint_url = http://s3:2
            """);
        Map<String, String> environment = Map.of("AWS_CONFIG_FILE", profiles.toString());

        assertThat(inEnvironment(environment).find(Settings.ENDPOINT)).isEmpty();
        Configuration minio = inEnvironment(with(environment, "AWS_PROFILE", "minio"));
        assertThat(minio.find(Settings.ENDPOINT)).hasValue(URI.create("http://10.0.0.5:9000"));
        assertThat(minio.origin(Settings.ENDPOINT)).hasToString("AWS profile minio");
        assertThat(minio.whereSet(List.of(Settings.ENDPOINT)))
                .isEqualTo("\n  s3.endpoint is http://10.0.0.5:9000, set in AWS profile minio");
        SettingSource local = SettingSource.ofOptions(Map.of(Settings.PROFILE, "local"), Map.of());
        assertThat(Configuration.of(
                                Hosts.user(with(environment, "AWS_PROFILE", "minio")),
                                "data",
                                local,
                                SettingSource.EMPTY,
                                ConfigurationFile.NONE)
                        .find(Settings.ENDPOINT))
                .hasValue(URI.create("http://s3:2"));
        assertThat(inEnvironment(with(environment, "AWS_PROFILE", "ignoring")).find(Settings.ENDPOINT))
                .isEmpty();
        Map<String, String> both = with(with(environment, "AWS_PROFILE", "minio"), "AWS_ENDPOINT_URL", "http://a:1");
        assertThat(inEnvironment(both).find(Settings.ENDPOINT)).hasValue(URI.create("http://a:1"));
        assertThat(inEnvironment(with(both, IGNORE, "true")).find(Settings.ENDPOINT))
                .isEmpty();
    }

    @Test
    void endpoint_theProfileIgnoresConfiguredOnes_environmentDecides() throws Exception {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [default]
            endpoint_url = http://profile:1
            ignore_configured_endpoint_urls = true
            [profile other]
            region = eu-central-1
            """);
        Map<String, String> alone = Map.of("AWS_CONFIG_FILE", profiles.toString());
        Map<String, String> set = with(alone, "AWS_ENDPOINT_URL_S3", "http://env:1");

        assertThat(inEnvironment(set).find(Settings.ENDPOINT)).isEmpty();
        assertThat(inEnvironment(with(set, "AWS_PROFILE", "other")).find(Settings.ENDPOINT))
                .hasValue(URI.create("http://env:1"));
        assertThat(inEnvironment(with(set, IGNORE, "false")).find(Settings.ENDPOINT))
                .hasValue(URI.create("http://env:1"));
        assertThat(inEnvironment(with(alone, IGNORE, "False ")).find(Settings.ENDPOINT))
                .hasValue(URI.create("http://profile:1"));
    }

    /** Like all other empty variables. */
    @Test
    void endpoint_theIgnoreVariableIsEmpty_isAsWithoutIt() throws Exception {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [profile ignoring]
            ignore_configured_endpoint_urls = true
            """);
        Map<String, String> set =
                Map.of("AWS_ENDPOINT_URL", "http://env:1", IGNORE, "", "AWS_CONFIG_FILE", profiles.toString());

        assertThat(inEnvironment(set).find(Settings.ENDPOINT)).hasValue(URI.create("http://env:1"));
        assertThat(inEnvironment(with(set, "AWS_PROFILE", "ignoring")).find(Settings.ENDPOINT))
                .isEmpty();
    }

    /** Must not fall back to AWS: {@code penstock recover --discard} would remove files of a bucket there. */
    @Test
    void endpoint_unknownWhetherToIgnoreConfigured_isAProblem() throws Exception {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [default]
            ignore_configured_endpoint_urls = yes
            """);
        Map<String, String> set = Map.of("AWS_ENDPOINT_URL", "http://env:1");
        Map<String, String> byProfile = with(set, "AWS_CONFIG_FILE", profiles.toString());

        assertProblem(
                with(set, IGNORE, "1"),
                "environment variable " + IGNORE + ": s3.endpoint: invalid value '1'; expected true or false");
        assertProblem(byProfile, "AWS profile default: s3.endpoint: invalid value 'yes'; expected true or false");
        assertThat(inEnvironment(with(byProfile, IGNORE, "false")).find(Settings.ENDPOINT))
                .hasValue(URI.create("http://env:1"));
    }

    private static void assertProblem(Map<String, String> environment, String problem) throws ConfigurationException {
        assertThatThrownBy(() -> inEnvironment(environment))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(problem);
        SettingSource option = SettingSource.ofOptions(Map.of(Settings.ENDPOINT, "http://c:3"), Map.of());
        Configuration set =
                Configuration.of(Hosts.user(environment), "data", option, SettingSource.EMPTY, ConfigurationFile.NONE);
        assertThat(set.find(Settings.ENDPOINT)).hasValue(URI.create("http://c:3"));
    }

    @Test
    void endpoint_inTheEnvironmentAndNotAllowed_isAProblemUnlessSet() throws Exception {
        assertProblem(
                Map.of("AWS_ENDPOINT_URL", "http://a:1/tenant"),
                "environment variable AWS_ENDPOINT_URL: s3.endpoint: invalid value 'http://a:1/tenant'; expected a"
                        + " server's address");
    }

    @Test
    void endpoint_filesOfProfilesThatAreNone_isAProblemUnlessSet() throws Exception {
        Path profiles = Files.writeString(folder.resolve("config"), "no profile");

        assertProblem(
                Map.of("AWS_CONFIG_FILE", profiles.toString()),
                "AWS profile default: s3.endpoint: " + profiles + " cannot be read: ");
        assertThat(inEnvironment(Map.of("AWS_CONFIG_FILE", folder.toString())).find(Settings.ENDPOINT))
                .as("no file counts as missing, as for the SDK")
                .isEmpty();
    }

    private static Configuration inEnvironment(Map<String, String> environment) throws ConfigurationException {
        return Configuration.of(
                Hosts.user(environment), "data", SettingSource.EMPTY, SettingSource.EMPTY, ConfigurationFile.NONE);
    }

    private static Map<String, String> with(Map<String, String> environment, String name, String value) {
        Map<String, String> all = new HashMap<>(environment);
        all.put(name, value);
        return Map.copyOf(all);
    }

    @Test
    void region_beginsOrEndsWithADash_isAProblem() throws ConfigurationException {
        for (String region : List.of("-eu", "eu-", "-")) {
            assertThatThrownBy(() -> resolve(Map.of(), "region=" + region, ConfigurationFile.NONE))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining("s3.region: invalid value '" + region + "'; expected a region's name");
        }
        for (String region : List.of("x", "eu-central-1")) {
            assertThat(resolve(Map.of(), "region=" + region, ConfigurationFile.NONE)
                            .find(Settings.REGION))
                    .hasValue(region);
        }
    }

    @Test
    void pathStyle_notSet_followsTheEndpoint() throws ConfigurationException {
        assertThat(resolve(Map.of(), "", ConfigurationFile.NONE).get(Settings.PATH_STYLE))
                .isFalse();
        assertThat(resolve(Map.of(), "endpoint=http://a:1", ConfigurationFile.NONE)
                        .get(Settings.PATH_STYLE))
                .isTrue();
        assertThat(resolve(Map.of(), "endpoint=http://a:1,path_style=false", ConfigurationFile.NONE)
                        .get(Settings.PATH_STYLE))
                .isFalse();
    }

    @Test
    void memory_notSet_shareOfTheMachineWithinBounds() throws ConfigurationException {
        assertThat(memoryOf(48 * GIB)).isEqualTo(GIB);
        assertThat(memoryOf(2 * GIB)).isEqualTo(GIB / 4);
        assertThat(memoryOf(2000 * GIB)).isEqualTo(4 * GIB);
    }

    @Test
    void of_mistakesInEverySource_allReportedTogether() throws IOException {
        ConfigurationFile file = file("defaults: {memory: lots}\n");
        assertThatThrownBy(() -> resolve(Map.of(Settings.UID, "ann"), "cash_size=1GiB", file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("""
                    option --uid: uid: invalid value 'ann'; expected a whole number from 0 to 2147483647
                    -o: option 'cash_size=1GiB': cash_size: no such option; did you mean cache_size?
                    %s:1 (defaults): memory: invalid value 'lots'; expected a size with a unit, such as 512MiB, \
                    64GiB or 1.5TiB, 64MiB or more\
                    """.formatted(file.path()));
    }

    @Test
    void of_valuesThatForbidEachOther_bothPlacesNamed() {
        assertThatThrownBy(() -> resolve(Map.of(Settings.ANONYMOUS, "true"), "profile=a", ConfigurationFile.NONE))
                .hasMessage("option --anonymous: s3.anonymous: cannot be combined with s3.profile (-o: option"
                        + " 'profile=a'); set only one of them");
        assertThatThrownBy(() -> resolve(
                        Map.of(WriteSettings.MEMORY, "24GiB", Settings.MEMORY, "1GiB"), "", ConfigurationFile.NONE))
                .hasMessageContaining("option --write-memory: write.memory: '24GiB' is too large; the maximum is half")
                .hasMessageEndingWith("23GiB");
        assertThatThrownBy(() -> resolve(Map.of(Settings.MEMORY, "25GiB"), "", ConfigurationFile.NONE))
                .hasMessageContaining("option --memory: memory: '25GiB' is too large; the maximum is half")
                .hasMessageEndingWith("24GiB");
        assertThatThrownBy(() -> resolve(
                        Map.of(Settings.MEMORY, "24GiB", Settings.CONNECTIONS, "7680"), "", ConfigurationFile.NONE))
                .hasMessageContaining("half of this machine's memory, minus the memory for s3.connections: 22504MiB");
        assertThatThrownBy(() -> resolve(
                        Map.of(Settings.RANGE_SIZE, "512MiB", Settings.MEMORY, "256MiB"), "", ConfigurationFile.NONE))
                .hasMessageContaining("'512MiB' exceeds memory, which is 256MiB (option --memory)");
    }

    @ParameterizedTest
    @CsvSource({"256, 64, 64", "512, 64, 64", "1024, 128, 128", "2048, 256, 256", "24576, 512, 1024"})
    void memory_byDefault_fitsAnyMachine(long machineMib, long memoryMib, long writeMib) throws Exception {
        Configuration configuration = Configuration.of(
                Hosts.withMemory(machineMib << 20),
                "data",
                SettingSource.ofOptions(Map.of(), Map.of()),
                MountOptionList.parse(List.of(), "-o").settings(),
                ConfigurationFile.NONE);
        assertThat(configuration.get(Settings.MEMORY)).isEqualTo(memoryMib << 20);
        assertThat(configuration.get(WriteSettings.MEMORY)).isEqualTo(writeMib << 20);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 24, 128, 96, 160, 32, 16",
        "192, 1, 128, 96, 160, 32, 16",
        "16, 128, 341, 128, 224, 64, 32",
        "192, 2048, 512, 256, 416, 128, 64",
    })
    void concurrencyAndWindow_byDefault_growWithTheMachine(
            int processors, long memoryGib, long windowMib, int reads, int connections, int uploads, int ofOneFile)
            throws Exception {
        Configuration configuration = Configuration.of(
                Hosts.of(memoryGib << 30, processors),
                "data",
                SettingSource.EMPTY,
                SettingSource.EMPTY,
                ConfigurationFile.NONE);
        assertThat(configuration.get(Settings.MAX_WINDOW)).isEqualTo(windowMib << 20);
        assertThat(configuration.get(Settings.READ_CONCURRENCY)).isEqualTo(reads);
        assertThat(configuration.get(Settings.CONNECTIONS)).isEqualTo(connections);
        assertThat(configuration.get(WriteSettings.UPLOAD_CONCURRENCY)).isEqualTo(uploads);
        assertThat(configuration.get(WriteSettings.UPLOAD_CONCURRENCY_PER_FILE)).isEqualTo(ofOneFile);
    }

    @Test
    void check_fileWithContradictionInOneBucket_reportedOnce() throws IOException {
        ConfigurationFile file = file("buckets: {a: {memory: 25GiB}, b: {}}\n");
        assertThatThrownBy(() -> Configuration.check(Hosts.USER, file))
                .hasMessageStartingWith(
                        file.path() + ":1 (buckets.a): memory: '25GiB' is too large; the maximum is half")
                .hasMessageEndingWith("24GiB");
    }

    @Test
    void whereSet_settingsNotOnTheCommandLine_namedWithTheirPlace() throws Exception {
        ConfigurationFile file = file("defaults: {s3: {endpoint: 'http://a:1', region: here}}\n");
        Configuration configuration = resolve(Map.of(Settings.REGION, "there"), "profile=p", file);
        assertThat(configuration.whereSet(
                        List.of(Settings.ENDPOINT, Settings.REGION, Settings.PROFILE, Settings.ANONYMOUS)))
                .isEqualTo("\n  s3.endpoint is http://a:1, set in " + file.path() + ":1 (defaults)"
                        + "\n  s3.profile is p, set in -o: option 'profile=p'");
    }

    private static long memoryOf(long machine) throws ConfigurationException {
        return Configuration.of(
                        Hosts.withMemory(machine),
                        "data",
                        SettingSource.EMPTY,
                        SettingSource.EMPTY,
                        ConfigurationFile.NONE)
                .get(Settings.MEMORY);
    }

    private static Configuration resolve(Map<Setting<?>, String> options, String mountOptions, ConfigurationFile file)
            throws ConfigurationException {
        return Configuration.of(
                Hosts.USER,
                "data",
                SettingSource.ofOptions(options, Map.of()),
                MountOptionList.parse(List.of(mountOptions), "-o").settings(),
                file);
    }

    private ConfigurationFile file(String text) throws IOException {
        Path path = Files.writeString(folder.resolve("penstock.yaml"), text);
        return ConfigurationFile.find(path, Hosts.USER);
    }
}
