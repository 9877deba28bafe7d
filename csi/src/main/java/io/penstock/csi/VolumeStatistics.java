package io.penstock.csi;

import csi.v1.Csi.NodeGetVolumeStatsResponse;
import csi.v1.Csi.VolumeCondition;
import csi.v1.Csi.VolumeUsage;
import io.grpc.Status;
import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Asks a mount for its size. A child process does, because the mount may not answer. */
final class VolumeStatistics {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private VolumeStatistics() {}

    static NodeGetVolumeStatsResponse of(NodeMounts mounts, Path path)
            throws IOException, InterruptedException, CallRefusal {
        if (mounts.at(path).filter(MountTable.Entry::isPenstock).isEmpty()) {
            throw new CallRefusal(Status.Code.NOT_FOUND, "no volume is at " + path);
        }
        // Block size; blocks in total, free, available; files in total, free.
        Command done = Command.run(
                List.of("stat", "-f", "-c", "%S %b %f %a %c %d", "--", path.toString()), System.getenv(), LIMIT);
        if (!done.succeeded()) {
            String why = done.status() == null
                    ? "the mount at " + path + " did not answer within " + LIMIT.toSeconds() + " s"
                    : done.output();
            return NodeGetVolumeStatsResponse.newBuilder()
                    .setVolumeCondition(
                            VolumeCondition.newBuilder().setAbnormal(true).setMessage(why))
                    .build();
        }
        List<Long> numbers = List.of(done.output().split(" ", -1)).stream()
                .map(Long::valueOf)
                .toList();
        long size = numbers.get(0);
        return NodeGetVolumeStatsResponse.newBuilder()
                .addUsage(usage(VolumeUsage.Unit.BYTES, size, numbers.get(1), numbers.get(2), numbers.get(3)))
                .addUsage(usage(VolumeUsage.Unit.INODES, 1, numbers.get(4), numbers.get(5), numbers.get(5)))
                .setVolumeCondition(VolumeCondition.newBuilder().setMessage("the mount answers"))
                .build();
    }

    private static VolumeUsage usage(VolumeUsage.Unit unit, long size, long total, long free, long available) {
        return VolumeUsage.newBuilder()
                .setUnit(unit)
                .setTotal(size * total)
                .setUsed(size * Math.max(0, total - free))
                .setAvailable(size * available)
                .build();
    }
}
