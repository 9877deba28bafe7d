package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.disk.CacheFolder.Audience;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.objectstore.s3.S3Config.Server;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.SettingSource;
import io.penstock.settings.process.Version;
import io.penstock.writeback.upload.Uploads.PartSizes;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MountPlanTest {
    private static final Host HOST = new Host(Map.of(), Path.of("/home/ann"), 1000, 1001, 48L << 30, 8);

    @Test
    void of_nothingSet_isWhatTheModulesTakeForDefault() throws Exception {
        MountPlan plan = plan("");
        assertThat(plan.s3())
                .isEqualTo(new S3Config(
                        "data",
                        new Server(null, null, false, null, null, TlsEngine.AUTO),
                        new Requester(new Credentials.Chain(), null, false, "penstock/" + Version.NUMBER),
                        HttpClient.DIRECT,
                        Limits.DEFAULT,
                        Integrity.DEFAULT,
                        RetryPolicy.DEFAULT));
        assertThat(plan.readahead()).isEqualTo(ReadaheadConfig.DEFAULT);
        assertThat(plan.cache().memoryBytes()).isEqualTo(1L << 30);
        assertThat(plan.mount().source()).isEqualTo("s3://data/a");
        assertThat(plan.mount().readOnly()).isFalse();
        assertThat(plan.mount().allowOther()).isFalse();
        assertThat(plan.files().uid()).isEqualTo(1000);
        assertThat(plan.namespace()).isEqualTo("aws/data");
    }

    @Test
    void of_theSmallestCache_staysWithinWhatTheModulesTake() throws Exception {
        MountPlan plan = plan("cache.size=1MiB");
        assertThat(plan.cache().sizeBytes()).isEqualTo(1L << 20);
        assertThat(plan.writeback().limits().stagingBytes()).isEqualTo(8L << 20);
    }

    @Test
    void of_credentials_oneKindOfThree() throws Exception {
        assertThat(plan("").s3().requester().credentials()).isEqualTo(new Credentials.Chain());
        assertThat(plan("").s3().requester().profile()).isNull();
        assertThat(plan("profile=p").s3().requester().credentials()).isEqualTo(new Credentials.Chain());
        assertThat(plan("profile=p").s3().requester().profile()).isEqualTo("p");
        assertThat(plan("anonymous").s3().requester().credentials()).isEqualTo(new Credentials.Anonymous());
    }

    @Test
    void namespace_sameBucketOnTwoServers_differs() throws Exception {
        MountPlan plan = plan("endpoint=http://127.0.0.1:9000");
        assertThat(plan.s3().server().endpoint()).isEqualTo(URI.create("http://127.0.0.1:9000"));
        assertThat(plan.s3().server().pathStyle()).isTrue();
        assertThat(plan.namespace()).isEqualTo("127.0.0.1:9000/data");
        assertThat(plan("endpoint=http://LOCALHOST:80/").namespace())
                .isEqualTo(plan("endpoint=https://localhost").namespace())
                .isEqualTo("localhost/data");
    }

    @Test
    void staging_byDefault_isNotWhereAnythingMayBeRemoved() throws Exception {
        MountPlan plan = plan("");
        assertThat(plan.cache().directory()).isEqualTo(Path.of("/home/ann/.cache/penstock/data"));
        assertThat(plan.writeback().staging()).isEqualTo(Path.of("/home/ann/.local/state/penstock/staging/data"));
        assertThat(plan("cache=/var/cache/mine").writeback().staging())
                .isEqualTo(plan.writeback().staging());
    }

    @Test
    void staging_ofACacheFolderThatTheUserChose_liesInIt() throws Exception {
        MountPlan plan = plan("cache=/nvme/penstock");
        assertThat(plan.writeback().staging()).isEqualTo(Path.of("/nvme/penstock/staging"));
    }

    @Test
    void partSizes_byDefault_areEqualWhereTheStoreTakesNoOthers() throws Exception {
        assertThat(plan("").writeback().partSizes()).isEqualTo(PartSizes.GROWING);
        assertThat(plan("endpoint=https://r2.example.com").writeback().partSizes())
                .isEqualTo(PartSizes.GROWING);
        String r2 = "endpoint=https://account.eu.r2.cloudflarestorage.com";
        assertThat(plan(r2).writeback().partSizes()).isEqualTo(PartSizes.EQUAL);
        assertThat(plan(r2 + ",upload.parts=growing").writeback().partSizes()).isEqualTo(PartSizes.GROWING);
    }

    @Test
    void of_writebackCache_excludesPassthroughUnlessNothingIsWritten() throws Exception {
        assertThat(plan("").mount().backingFolder()).isNotNull();
        assertThat(plan("").files().kernelKeepsSizes()).isFalse();

        MountPlan collecting = plan("fuse.writeback-cache");
        assertThat(collecting.mount().writebackCache()).isTrue();
        assertThat(collecting.mount().backingFolder()).isNull();
        assertThat(collecting.files().kernelKeepsSizes()).isTrue();

        MountPlan readOnly = plan("fuse.writeback-cache,ro");
        assertThat(readOnly.mount().writebackCache()).isFalse();
        assertThat(readOnly.mount().backingFolder()).isNotNull();
    }

    @Test
    void cache_private_isForTheAccessKeyAlone() throws Exception {
        assertThat(audience("", new Credentials.Static("ann", "secret"))).isEqualTo(new Audience.Anyone());
        assertThat(audience("cache-private", new Credentials.Static("ann", "secret")))
                .isEqualTo(new Audience.Only("ann"));
        assertThat(audience("cache-private", new Credentials.Anonymous())).isEqualTo(new Audience.Only(""));
    }

    private static Audience audience(String mountOptions, Credentials credentials) throws Exception {
        MountPlan plan =
                MountPlan.of(Target.parse("data/a"), Path.of("/mnt/data"), configuration(mountOptions), credentials);
        return BucketMount.cacheConfig(plan).audience();
    }

    private static MountPlan plan(String mountOptions) throws ConfigurationException {
        return MountPlan.of(Target.parse("data/a"), Path.of("/mnt/data"), configuration(mountOptions));
    }

    private static Configuration configuration(String mountOptions) throws ConfigurationException {
        return Configuration.of(
                HOST,
                "data",
                SettingSource.EMPTY,
                MountOptionList.parse(List.of(mountOptions), "-o").settings(),
                ConfigurationFile.NONE);
    }
}
