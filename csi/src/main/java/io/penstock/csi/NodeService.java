package io.penstock.csi;

import csi.v1.Csi.NodeGetCapabilitiesRequest;
import csi.v1.Csi.NodeGetCapabilitiesResponse;
import csi.v1.Csi.NodeGetInfoRequest;
import csi.v1.Csi.NodeGetInfoResponse;
import csi.v1.Csi.NodeGetVolumeStatsRequest;
import csi.v1.Csi.NodeGetVolumeStatsResponse;
import csi.v1.Csi.NodePublishVolumeRequest;
import csi.v1.Csi.NodePublishVolumeResponse;
import csi.v1.Csi.NodeServiceCapability;
import csi.v1.Csi.NodeServiceCapability.RPC;
import csi.v1.Csi.NodeUnpublishVolumeRequest;
import csi.v1.Csi.NodeUnpublishVolumeResponse;
import csi.v1.NodeGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.penstock.fuse.MountException;
import io.penstock.settings.process.Secrets;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls that kubelet makes for volumes on this node. Each may be repeated. */
final class NodeService extends NodeGrpc.NodeImplBase {
    private static final Logger log = LoggerFactory.getLogger(NodeService.class);

    private final Setup setup;
    private final NodeMounts mounts;

    NodeService(Setup setup, NodeMounts mounts) {
        this.setup = setup;
        this.mounts = mounts;
    }

    /** Makes the response to a call. */
    @FunctionalInterface
    private interface Call<T> {
        T run() throws CallRefusal, IOException, MountException, InterruptedException;
    }

    private static <T> void respond(String name, StreamObserver<T> observer, Call<T> call) {
        Status failure;
        try {
            observer.onNext(call.run());
            observer.onCompleted();
            return;
        } catch (CallRefusal e) {
            log.warn("{} is refused: {}", name, e.getMessage());
            failure = e.status();
        } catch (IOException | MountException e) {
            log.error("{} failed", name, e);
            String why = Secrets.hiddenInInput(String.valueOf(e.getMessage()));
            boolean isFull = why.contains("No space left");
            failure = (isFull ? Status.RESOURCE_EXHAUSTED : Status.INTERNAL)
                    .withDescription(isFull ? "the disk of the driver's folders is full: " + why : why);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = Status.ABORTED.withDescription("the driver ends");
        } catch (RuntimeException e) {
            log.error("{} failed: internal error; please report it", name, e);
            failure = Status.INTERNAL.withDescription("internal error; please report it: " + e);
        }
        observer.onError(failure.asRuntimeException());
    }

    @Override
    public void nodePublishVolume(
            NodePublishVolumeRequest request, StreamObserver<NodePublishVolumeResponse> observer) {
        respond("NodePublishVolume", observer, () -> {
            mounts.publish(Volume.of(request, setup.inlineOfDriver()));
            return NodePublishVolumeResponse.getDefaultInstance();
        });
    }

    @Override
    public void nodeUnpublishVolume(
            NodeUnpublishVolumeRequest request, StreamObserver<NodeUnpublishVolumeResponse> observer) {
        respond("NodeUnpublishVolume", observer, () -> {
            requireId(request.getVolumeId());
            mounts.unpublish(Targets.path(request.getTargetPath(), "target_path"));
            return NodeUnpublishVolumeResponse.getDefaultInstance();
        });
    }

    @Override
    public void nodeGetVolumeStats(
            NodeGetVolumeStatsRequest request, StreamObserver<NodeGetVolumeStatsResponse> observer) {
        respond("NodeGetVolumeStats", observer, () -> {
            requireId(request.getVolumeId());
            String path = request.getVolumePath();
            if (!path.isEmpty() && !path.startsWith("/")) {
                throw new CallRefusal(
                        Status.Code.NOT_FOUND, "no volume is at '" + path + "', which is no absolute path");
            }
            return VolumeStatistics.of(mounts, Targets.path(path, "volume_path"));
        });
    }

    private static void requireId(String id) throws CallRefusal {
        if (id.isEmpty()) {
            throw CallRefusal.invalid("volume_id is missing");
        }
    }

    @Override
    public void nodeGetCapabilities(
            NodeGetCapabilitiesRequest request, StreamObserver<NodeGetCapabilitiesResponse> observer) {
        respond(
                "NodeGetCapabilities",
                observer,
                () -> NodeGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(capability(RPC.Type.GET_VOLUME_STATS))
                        .addCapabilities(capability(RPC.Type.VOLUME_CONDITION))
                        .addCapabilities(capability(RPC.Type.VOLUME_MOUNT_GROUP))
                        .build());
    }

    private static NodeServiceCapability capability(RPC.Type type) {
        return NodeServiceCapability.newBuilder()
                .setRpc(RPC.newBuilder().setType(type))
                .build();
    }

    @Override
    public void nodeGetInfo(NodeGetInfoRequest request, StreamObserver<NodeGetInfoResponse> observer) {
        respond(
                "NodeGetInfo",
                observer,
                () -> NodeGetInfoResponse.newBuilder().setNodeId(setup.node()).build());
    }
}
