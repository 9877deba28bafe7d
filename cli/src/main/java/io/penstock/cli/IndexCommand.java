package io.penstock.cli;

import io.penstock.inventory.IndexWriter;
import io.penstock.listing.BucketListing;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.Target;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "index",
        description = "Writes a bucket's listing to a file that many mounts can use.",
        subcommands = {IndexCommand.Export.class})
final class IndexCommand {

    @Command(
            name = "export",
            description = {
                "Lists a bucket, and writes the list to a file.",
                "",
                "The file is Parquet, with the columns of Amazon S3 Inventory. An existing file is replaced"
                        + " once the listing is complete. This takes one request per 1,000 objects. Accepts the same"
                        + " options as penstock mount."
            },
            footer = {
                "",
                "Examples:",
                "  penstock index export my-bucket /shared/my-bucket.parquet",
                "  penstock index export my-bucket/datasets /shared/datasets.parquet --metadata-list-concurrency 64"
            })
    static final class Export implements Callable<Integer> {
        /** The number of objects between two progress reports of the writing. */
        private static final int TELL_EACH = 4096;

        @Spec
        private CommandSpec spec;

        @Parameters(
                index = "0",
                paramLabel = "BUCKET[/PREFIX]",
                description = "The bucket, optionally with a folder in it, as for penstock mount.")
        private String source;

        @Parameters(index = "1", paramLabel = "FILE", description = "The file to write.")
        private String file;

        @Mixin
        private ConfigurationArguments arguments;

        @Override
        public Integer call()
                throws RefusedException, ConfigurationException, ObjectStoreException, InterruptedException {
            Target target = Target.parse(source);
            MountPlan plan = MountPlan.of(
                    target,
                    Host.current().path("."), // Nothing is mounted.
                    arguments.resolve(target.bucket(), spec.commandLine().getParseResult(), "-o"));
            Path path = Host.current().path(file);
            try (IndexWriter writer = IndexWriter.create(path, target.bucket(), target.prefix(), Instant.now())) {
                long objects = write(plan, writer);
                spec.commandLine()
                        .getOut()
                        .println("wrote " + count(objects) + " of " + target.source() + " to " + path + " ("
                                + String.format(Locale.ROOT, "%,d", Files.size(path)) + " bytes)");
                spec.commandLine().getOut().flush();
            } catch (IOException e) {
                throw new RefusedException("the index cannot be written to " + path + ": " + Reason.of(e));
            }
            return ExitCode.DONE;
        }

        private long write(MountPlan plan, IndexWriter writer)
                throws ObjectStoreException, IOException, InterruptedException {
            Target target = plan.target();
            try (Progress progress = Progress.toUser(spec.commandLine().getErr());
                    ObjectStore store = S3ObjectStore.connect(plan.s3(), target.prefix());
                    BucketListing listing = BucketListing.list(
                            store,
                            target.prefix(),
                            plan.metadata().listConcurrency(),
                            listed -> progress.tell(
                                    target.source() + " is being listed: " + count(listed) + " so far"))) {
                long written = 0;
                for (StoredObject object : listing) {
                    writer.add(object);
                    if (++written % TELL_EACH == 0) {
                        progress.tell(String.format(
                                Locale.ROOT,
                                "The index is being written: %,d of %,d objects so far",
                                written,
                                listing.size()));
                    }
                }
                writer.finish();
                return written;
            }
        }

        private static String count(long objects) {
            return String.format(Locale.ROOT, "%,d objects", objects);
        }
    }
}
