package io.penstock.serve.mount;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LiveConfigurationTest {
    private static final Host HOST = new Host(Map.of(), Path.of("/home/ann"), 1000, 1001, 48L << 30, 16);
    private static final Path MOUNT_POINT = Path.of("/mnt/a");

    /** A value other than the default for each live setting. */
    private static final Map<String, String> OTHER = Map.ofEntries(
            Map.entry("cache.size", "5GiB"),
            Map.entry("cache.min-free", "7GiB"),
            Map.entry("memory", "512MiB"),
            Map.entry("metadata.ttl", "7s"),
            Map.entry("metadata.negative-ttl", "1s"),
            Map.entry("metadata.list-concurrency", "3"),
            Map.entry("readahead.max-window", "32MiB"),
            Map.entry("readahead.range-size", "2MiB"),
            Map.entry("readahead.concurrency", "12"),
            Map.entry("readahead.small-file", "1MiB"),
            Map.entry("write.memory", "64MiB"),
            Map.entry("write.staging-size", "3GiB"),
            Map.entry("upload.concurrency", "5"),
            Map.entry("upload.concurrency-per-file", "2"),
            Map.entry("upload.concurrency-while-staging", "3"),
            Map.entry("upload.part-size", "16MiB"),
            Map.entry("share.bandwidth", "100MiB"),
            Map.entry("log.level", "debug"),
            Map.entry("cost.gets", "1"),
            Map.entry("cost.puts", "2.5"),
            Map.entry("cost.transfer", "0.09"));

    /** For settings that are not live and have no value by default. */
    private static final Map<String, String> WITHOUT_DEFAULT = Map.ofEntries(
            Map.entry("s3.endpoint", "http://h:1"),
            Map.entry("s3.region", "r"),
            Map.entry("s3.profile", "p"),
            Map.entry("s3.proxy", "http://p:1"),
            Map.entry("s3.ca-file", "/ca.pem"),
            Map.entry("metadata.index", "/index"),
            Map.entry("share.peers", "bucket"),
            Map.entry("share.listen", "127.0.0.1:7420"),
            Map.entry("metrics.prometheus", "127.0.0.1:9090"),
            Map.entry("metrics.otlp", "http://h:4318"),
            Map.entry("log.access", "/access.log"));

    private final List<Configuration> applied = new ArrayList<>();
    private String options = "";
    private final LiveConfiguration live;

    LiveConfigurationTest() throws ConfigurationException {
        live = new LiveConfiguration(read(), this::read, applied::add);
    }

    private Configuration read() throws ConfigurationException {
        SettingSource source = MountOptionList.parse(List.of(options), "-o").settings();
        return Configuration.of(HOST, "data", SettingSource.EMPTY, source, ConfigurationFile.NONE);
    }

    private String shown(String key) {
        return live.show().stream()
                .filter(each -> each.key().equals(key))
                .findFirst()
                .orElseThrow()
                .value();
    }

    private static MountPlan plan(Configuration configuration) throws ConfigurationException {
        return MountPlan.of(Target.parse("data"), MOUNT_POINT, configuration);
    }

    private static Stream<Setting<?>> live() {
        return Settings.ALL.stream().filter(Setting::isLive);
    }

    private static Stream<Setting<?>> fixed() {
        return Settings.ALL.stream().filter(setting -> !setting.isLive());
    }

    @ParameterizedTest
    @MethodSource("live")
    void set_aLiveSetting_holdsAndIsApplied(Setting<?> setting) throws Exception {
        String before = shown(setting.key());
        String value = requireNonNull(OTHER.get(setting.key()), setting.key() + " needs a value in this test");

        List<LiveConfiguration.Change> changes = live.set(List.of(setting.key() + "=" + value));

        assertThat(changes).contains(new LiveConfiguration.Change(setting.key(), before, value, true));
        assertThat(shown(setting.key())).isEqualTo(value);
        assertThat(applied).hasSize(1);
        boolean isOfThePlan = Stream.of("log.", "cost.", "share.").noneMatch(setting.key()::startsWith);
        if (!isOfThePlan) {
            assertThat(applied.getFirst().get(setting)).isNotEqualTo(read().get(setting));
        } else {
            assertThat(plan(applied.getFirst())).isNotEqualTo(plan(read()));
        }
    }

    @ParameterizedTest
    @MethodSource("fixed")
    void set_anotherSetting_isRefusedByName(Setting<?> setting) {
        String value = WITHOUT_DEFAULT.getOrDefault(setting.key(), shown(setting.key()));

        assertThatThrownBy(() -> live.set(List.of(setting.key() + "=" + value)))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith(setting.key() + ": cannot change while mounted");
        assertThat(applied).isEmpty();
    }

    @Test
    void set_oneOfTwoIsWrong_changesNothing() {
        assertThatThrownBy(() -> live.set(List.of("memory=512MiB", "readahead.concurrency=0")))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("readahead.concurrency: invalid value '0'; expected");
        assertThatThrownBy(() -> live.set(List.of("memory=512MiB", "cache.dir=/b")))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("cache.dir");
        assertThat(applied).isEmpty();
        assertThat(shown("memory")).isEqualTo("1GiB");
    }

    @Test
    void set_theMountFailsToTakeIt_showsWhatHeldBefore() throws Exception {
        LiveConfiguration failing = new LiveConfiguration(read(), this::read, _ -> {
            throw new IllegalArgumentException("not taken");
        });

        assertThatThrownBy(() -> failing.set(List.of("memory=512MiB"))).hasMessage("not taken");

        assertThat(failing.get(Settings.MEMORY)).isEqualTo(1L << 30);
    }

    @Test
    void set_valuesThatExcludeEachOther_isRefused() {
        assertThatThrownBy(() -> live.set(List.of("memory=40GiB")))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("half of this machine's memory");
        assertThatThrownBy(() -> live.set(List.of("memory=64MiB", "readahead.range-size=128MiB")))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("readahead.range-size");
    }

    @Test
    void set_nothingOrWhatIsNoSetting_isRefused() {
        for (List<String> wrong : List.of(List.<String>of(), List.of("noatime"), List.of("memry=1GiB"))) {
            assertThatThrownBy(() -> live.set(wrong)).isInstanceOf(RefusedException.class);
        }
        assertThatThrownBy(() -> live.set(List.of("memry=1GiB"))).hasMessageContaining("did you mean memory");
    }

    @Test
    void set_aFixedDefaultDependsOnIt_saysThatItNeedsANewMount() throws Exception {
        List<LiveConfiguration.Change> changes = live.set(List.of("readahead.concurrency=1000"));

        assertThat(changes)
                .filteredOn(change -> !change.holdsNow())
                .extracting(LiveConfiguration.Change::key)
                .containsExactly("s3.connections");
        assertThat(shown("s3.connections")).isEqualTo(read().show(Settings.CONNECTIONS));
        assertThat(live.set(List.of("memory=512MiB")))
                .as("that is said once")
                .extracting(LiveConfiguration.Change::key)
                .doesNotContain("s3.connections");
    }

    @Test
    void reload_theSourceHasChanged_appliesItAndUndoesWhatWasSet() throws Exception {
        List<LiveConfiguration.Change> set = live.set(List.of("memory=512MiB", "metadata.ttl=1s"));
        options = "metadata.ttl=2s,cache.dir=/other";

        List<LiveConfiguration.Change> changes = live.reload();

        assertThat(set).hasSize(2);
        assertThat(changes)
                .contains(
                        new LiveConfiguration.Change("memory", "512MiB", "1GiB", true),
                        new LiveConfiguration.Change("metadata.ttl", "1s", "2s", true))
                .anySatisfy(change -> {
                    assertThat(change.key()).isEqualTo("cache.dir");
                    assertThat(change.after()).isEqualTo("/other");
                    assertThat(change.holdsNow()).isFalse();
                });
        assertThat(shown("memory")).isEqualTo("1GiB");
        assertThat(shown("cache.dir")).isNotEqualTo("/other");
        assertThat(live.reload())
                .as("what still needs a new mount is said again")
                .extracting(LiveConfiguration.Change::key)
                .contains("cache.dir")
                .doesNotContain("memory", "metadata.ttl");
    }

    @Test
    void reload_theSourceIsWrong_changesNothing() throws Exception {
        options = "memory=much";

        assertThatThrownBy(live::reload)
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("memory: invalid value 'much'");
        assertThat(applied).isEmpty();
    }

    @Timeout(60)
    @Test
    void getAndReload_whileTheFileIsReadAgain_doNotWait() throws Exception {
        CountDownLatch isRead = new CountDownLatch(1);
        CompletableFuture<Configuration> file = new CompletableFuture<>();
        LiveConfiguration hung = new LiveConfiguration(
                read(),
                () -> {
                    isRead.countDown();
                    return file.join();
                },
                applied::add);
        FutureTask<List<LiveConfiguration.Change>> reloaded = new FutureTask<>(hung::reload);
        Thread.ofVirtual().start(reloaded);
        isRead.await();
        FutureTask<List<LiveConfiguration.Change>> inTurn = new FutureTask<>(hung::reloadInTurn);
        Thread.ofVirtual().start(inTurn);

        assertThat(hung.set(List.of("log.level=debug"))).hasSize(1);
        assertThat(hung.get(Settings.LOG_LEVEL)).isEqualTo("debug");
        assertThat(hung.show()).isNotEmpty();
        assertThatThrownBy(hung::reload)
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("a reload is already in progress");
        file.complete(read());
        assertThat(reloaded.get()).extracting(LiveConfiguration.Change::before).containsExactly("debug");
        assertThat(inTurn.get()).isEmpty();
        assertThat(hung.reload()).isEmpty();
    }
}
