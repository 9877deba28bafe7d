package io.penstock.csi;

import com.google.protobuf.BoolValue;
import csi.v1.Csi.GetPluginCapabilitiesRequest;
import csi.v1.Csi.GetPluginCapabilitiesResponse;
import csi.v1.Csi.GetPluginInfoRequest;
import csi.v1.Csi.GetPluginInfoResponse;
import csi.v1.Csi.ProbeRequest;
import csi.v1.Csi.ProbeResponse;
import csi.v1.IdentityGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.penstock.settings.process.Version;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the driver is. It has no controller: buckets are neither made nor attached. */
final class IdentityService extends IdentityGrpc.IdentityImplBase {
    /** Also in the CSIDriver object. */
    static final String NAME = "csi.penstock.io";

    private static final Path DEVICE = Path.of("/dev/fuse");

    @Override
    public void getPluginInfo(GetPluginInfoRequest request, StreamObserver<GetPluginInfoResponse> observer) {
        observer.onNext(GetPluginInfoResponse.newBuilder()
                .setName(NAME)
                .setVendorVersion(Version.NUMBER)
                .build());
        observer.onCompleted();
    }

    @Override
    public void getPluginCapabilities(
            GetPluginCapabilitiesRequest request, StreamObserver<GetPluginCapabilitiesResponse> observer) {
        observer.onNext(GetPluginCapabilitiesResponse.getDefaultInstance());
        observer.onCompleted();
    }

    @Override
    public void probe(ProbeRequest request, StreamObserver<ProbeResponse> observer) {
        if (!Files.exists(DEVICE)) {
            observer.onError(Status.FAILED_PRECONDITION
                    .withDescription(DEVICE + " does not exist; run modprobe fuse on the node")
                    .asRuntimeException());
            return;
        }
        observer.onNext(ProbeResponse.newBuilder().setReady(BoolValue.of(true)).build());
        observer.onCompleted();
    }
}
