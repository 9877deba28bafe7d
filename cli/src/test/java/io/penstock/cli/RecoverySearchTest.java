package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.writeback.staging.StrandedFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoverySearchTest {
    private static final String ADVICE =
            "If the mount used --cache, --write-staging, --endpoint or --config, give the same options here";

    @TempDir
    private Path folder;

    private static RecoverySearch search(Map<Setting<?>, String> options) throws Exception {
        return search(Map.of(), options, null);
    }

    private static RecoverySearch search(
            Map<String, String> environment, Map<Setting<?>, String> options, @Nullable Path file) throws Exception {
        Target target = Target.parse("data/a");
        Configuration configuration = Configuration.of(
                new Host(environment, Path.of("/home/ann"), 1000, 1001, 48L << 30, 16),
                target.bucket(),
                SettingSource.ofOptions(options, Map.of()),
                SettingSource.EMPTY,
                file == null ? ConfigurationFile.NONE : ConfigurationFile.find(file, Host.current()));
        return new RecoverySearch(target, configuration, file == null ? null : file.toString());
    }

    @Test
    void nothing_anyFolder_namesItAndTheBucketOfItsServer() throws Exception {
        Path none = folder.resolve("none");
        assertThat(search(Map.of(WriteSettings.STAGING, none.toString())).nothing())
                .containsExactly(
                        "No files are waiting in " + none + ", which does not exist, for s3://data/a at AWS", ADVICE);
        assertThat(search(Map.of(
                                WriteSettings.STAGING,
                                Files.createDirectory(none).toString(),
                                Settings.ENDPOINT,
                                "http://minio:9000"))
                        .nothing())
                .containsExactly("No files are waiting in " + none + " for s3://data/a at http://minio:9000", ADVICE);
    }

    @Test
    void nothing_filesInAnotherBucketsFolder_namesItWithItsCommand() throws Exception {
        Files.createFile(Files.createDirectory(folder.resolve("right")).resolve("0123456789abcdef.journal"));
        Files.createFile(Files.createDirectory(folder.resolve("settled")).resolve("lock"));
        Path wrong = folder.resolve("data");
        assertThat(search(Map.of(WriteSettings.STAGING, wrong.toString())).nothing())
                .containsExactly(
                        "No files are waiting in " + wrong + ", which does not exist, for s3://data/a at AWS",
                        "Written files are waiting in " + folder.resolve("right")
                                + ": penstock recover right --write-staging " + folder.resolve("right"),
                        ADVICE);
    }

    @Test
    void others_filesOfOtherBucketsAndServers_namesEachWithItsCommand() throws Exception {
        List<StrandedFile> files = List.of(
                new StrandedFile("minio:9000/other", "a", 1),
                new StrandedFile("minio:9000/other", "b", 2),
                new StrandedFile("aws/data", "c", 3),
                new StrandedFile("far:9000/data", "d", 4));
        assertThat(search(Map.of(WriteSettings.STAGING, "/nvme/it's", Settings.ENDPOINT, "http://minio:9000"))
                        .others(files))
                .containsExactly(
                        "1 file of aws/data in /nvme/it's: penstock recover data --write-staging '/nvme/it'\\''s'",
                        "1 file of far:9000/data in /nvme/it's: penstock recover data --write-staging"
                                + " '/nvme/it'\\''s', with --endpoint and the address of far:9000",
                        "2 files of minio:9000/other in /nvme/it's: penstock recover other --write-staging"
                                + " '/nvme/it'\\''s' --endpoint http://minio:9000");
    }

    @Test
    void others_filesOfAwsAndAnEndpointFromElsewhere_leavesItOut() throws Exception {
        List<StrandedFile> files = List.of(new StrandedFile("aws/data", "a", 1));
        Map<Setting<?>, String> staging = Map.of(WriteSettings.STAGING, "/staging");
        assertThat(search(Map.of("AWS_ENDPOINT_URL", "http://minio:9000"), staging, null)
                        .others(files))
                .containsExactly("1 file of aws/data in /staging: AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true penstock"
                        + " recover data --write-staging /staging, which ignores the endpoint of environment"
                        + " variable AWS_ENDPOINT_URL");

        Path profiles = Files.writeString(folder.resolve("config"), """
            [profile minio]
            endpoint_url = http://minio:9000
            """);
        assertThat(search(
                                Map.of("AWS_CONFIG_FILE", profiles.toString()),
                                Map.of(WriteSettings.STAGING, "/staging", Settings.PROFILE, "minio"),
                                null)
                        .others(files))
                .containsExactly("1 file of aws/data in /staging: AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true penstock"
                        + " recover data --profile minio --write-staging /staging, which ignores the endpoint of"
                        + " AWS profile minio");
    }

    @Test
    void others_filesOfAwsAndAnEndpointOfAFile_asksForAnotherFile() throws Exception {
        Path file = Files.writeString(folder.resolve("p.yaml"), "defaults: {s3: {endpoint: 'http://minio:9000'}}");
        assertThat(search(Map.of(), Map.of(WriteSettings.STAGING, "/staging"), file)
                        .others(List.of(
                                new StrandedFile("aws/data", "a", 1), new StrandedFile("minio:9000/other", "b", 2))))
                .containsExactly(
                        "1 file of aws/data in /staging: penstock recover data --write-staging /staging, with --config"
                                + " and a file without the endpoint of " + file + ":1 (defaults)",
                        "1 file of minio:9000/other in /staging: penstock recover other --config " + file
                                + " --write-staging /staging --endpoint http://minio:9000");
    }
}
