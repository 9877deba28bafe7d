package io.penstock.csi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import csi.v1.Csi.NodePublishVolumeRequest;
import csi.v1.Csi.VolumeCapability;
import csi.v1.Csi.VolumeCapability.AccessMode;
import io.penstock.settings.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VolumeTest {
    private static final Map<String, String> INLINE = Map.of("csi.storage.k8s.io/ephemeral", "true", "bucket", "data");
    private static final Map<String, String> SECRET = Map.of("access_key_id", "key", "secret_access_key", "hidden");

    private static NodePublishVolumeRequest.Builder request(
            Map<String, String> attributes, Map<String, String> secrets) {
        return NodePublishVolumeRequest.newBuilder()
                .setVolumeId("handle")
                .setTargetPath("/pods/a/mount")
                .putAllVolumeContext(attributes)
                .putAllSecrets(secrets)
                .setVolumeCapability(VolumeCapability.newBuilder()
                        .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                        .setAccessMode(AccessMode.newBuilder().setMode(AccessMode.Mode.MULTI_NODE_MULTI_WRITER)));
    }

    private static Volume volume(Map<String, String> attributes, Map<String, String> secrets) throws CallRefusal {
        return Volume.of(request(attributes, secrets).build(), false);
    }

    @Test
    void key_ofEqualVolumes_isEqual() throws CallRefusal {
        assertThat(volume(Map.of(), SECRET).key())
                .isEqualTo(volume(Map.of("bucket", "handle"), SECRET).key());
    }

    @Test
    void key_withOtherBucketOptionsOrSecret_differs() throws CallRefusal {
        assertThat(volume(Map.of(), SECRET).key())
                .isNotEqualTo(volume(Map.of("prefix", "a"), SECRET).key())
                .isNotEqualTo(volume(Map.of("mountOptions", "ro"), SECRET).key())
                .isNotEqualTo(volume(Map.of(), Map.of("access_key_id", "key", "secret_access_key", "other"))
                        .key())
                .isNotEqualTo(volume(Map.of(), Map.of()).key());
    }

    @Test
    void readersOnly_mountReadOnly() throws CallRefusal {
        NodePublishVolumeRequest.Builder request = request(Map.of(), SECRET);
        request.getVolumeCapabilityBuilder().getAccessModeBuilder().setMode(AccessMode.Mode.MULTI_NODE_READER_ONLY);
        assertThat(Volume.of(request.build(), false).isMountReadOnly()).isTrue();
        assertThat(Volume.of(request(Map.of(), SECRET).setReadonly(true).build(), false)
                        .isMountReadOnly())
                .isFalse();
    }

    @Test
    void inlineVolume_withDriversCredentials_isRefusedUnlessAllowed() throws CallRefusal {
        assertThatThrownBy(() -> volume(INLINE, Map.of())).hasMessageContaining("driver's credentials");
        assertThat(Volume.of(request(INLINE, Map.of()).build(), true).identity())
                .isEqualTo(new Identity.OfDriver());
    }

    @Test
    void settingsWithPaths_areRefused() {
        assertThat(Settings.ALL.stream()
                        .filter(setting -> setting.type().label().contains("path")
                                || setting.type().label().contains("folder")
                                || setting.type().label().contains("file"))
                        .filter(setting -> !setting.equals(Settings.WARM_PATHS)) // in the bucket
                        .filter(setting ->
                                NodeOptions.isAllowed(setting, false) || NodeOptions.isAllowed(setting, true)))
                .isEmpty();
        assertThatThrownBy(() -> volume(Map.of("mountOptions", "cache=/etc"), SECRET))
                .hasMessageContaining("cache.dir");
        assertThatThrownBy(() -> volume(Map.of("mountOptions", "config=/etc/x"), SECRET))
                .hasMessageContaining("configuration file");
    }

    @Test
    void secret_isNotPrinted() throws CallRefusal {
        assertThat(volume(Map.of(), SECRET).toString()).doesNotContain("hidden");
    }

    @Test
    void token_ofAnAccount_isNoPartOfTheKey() throws CallRefusal {
        assertThat(ofPod("one").key()).isEqualTo(ofPod("two").key());
        assertThat(ofPod("one").identity().files()).isEqualTo(Map.of("token", "one"));
    }

    private static Volume ofPod(String token) throws CallRefusal {
        return volume(
                Map.of(
                        "authentication", "pod",
                        "roleArn", "arn:aws:iam::123456789012:role/reader",
                        "csi.storage.k8s.io/pod.namespace", "space",
                        "csi.storage.k8s.io/serviceAccount.name", "account",
                        "csi.storage.k8s.io/serviceAccount.tokens",
                                "{\"sts.amazonaws.com\": {\"token\": \"" + token + "\"}}"),
                Map.of());
    }

    @Test
    void code_followsTheMessage() {
        assertThat(Failures.code("there is no bucket 'x'")).isEqualTo(io.grpc.Status.Code.NOT_FOUND);
        assertThat(Failures.code("no space left on the disk of /x")).isEqualTo(io.grpc.Status.Code.RESOURCE_EXHAUSTED);
    }
}
