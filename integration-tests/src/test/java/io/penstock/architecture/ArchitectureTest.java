package io.penstock.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.penstock.core.NativeMemory;
import io.penstock.writeback.bytes.BaseContent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules of docs/ARCHITECTURE.md that Maven's module graph cannot express. */
class ArchitectureTest {
    /** The modules' packages: a rule about a package that is not on the class path would check nothing. */
    private static final Set<String> MODULES = Set.of(
            "core",
            "objectstore",
            "listing",
            "metadata",
            "inventory",
            "disk",
            "cache",
            "prefetch",
            "share",
            "writeback",
            "filesystem",
            "fuse",
            "testing",
            "embeddeds3",
            "settings",
            "serve",
            "tools",
            "demo",
            "cli",
            "benchmarks");

    /** If more classes of one package all reach each other, they can only be understood together. */
    private static final int LARGEST_CYCLE = 5;

    private static final int MOST_LINES = 400;

    /** The classes that may have more lines, each with the reason that a review accepted. */
    private static final Map<String, String> LONG_CLASSES = Map.ofEntries(
            entry("Block", "a change of one of the block's ranges must also change the others"),
            entry("Commit", "its current step decides whether it may be cancelled"),
            entry("DirectRequests", "four requests share the connection, the signature and the pause after failures"),
            entry("DirectoryMarkers", "requests and changes share the cached state of a marker"),
            entry("DiskSpace", "taking and freeing space change the same few numbers under one monitor"),
            entry("ErrorMapper", "all errors of the SDK and of servers in one place, which no other class knows"),
            entry("FileCommits", "each transition of a file's commits, with the callers that wait for it"),
            entry("FileSystem", "one method, with its contract, for each call of the kernel"),
            entry("InMemoryObjectStore", "one method for each request of the store's contract"),
            entry("ObjectStoreWriteContract", "one test for each rule of the contract"),
            entry("PageFetcher", "everything that begins a GET shares the gates and the threads"),
            entry("PartSender", "one lock guards the parts both while the file is written and while it is committed"),
            entry("RangeLister", "one monitor guards the ranges, the probes and their count"),
            entry("S3ObjectStore", "one method for each request of the store's contract"),
            entry("Settings", "the list of all settings"),
            entry("SharedFile", "one monitor guards handles, content and name together"),
            entry("Tree", "one method, with its contract, for each question about names and each change of them"),
            entry("ValueType", "one method for each type of a setting's value"),
            entry("Writeback", "one method, with its contract, for each thing that a mount asks of its written files"),
            entry("WrittenFile", "one method, with its contract, for each thing that is asked of a written file"));

    private static final DescribedPredicate<JavaClass> AWS = resideInAPackage("software.amazon..");
    private static final DescribedPredicate<JavaClass> NATIVE =
            resideInAnyPackage("jnr..", "com.kenai..", "ru.serce..");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.penstock");

    @Test
    void classes_ofEveryModule_areSeen() {
        assertThat(CLASSES.stream().map(ArchitectureTest::module).collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(MODULES);
    }

    @Test
    void awsTypes_outsideObjectStore_areNotUsed() {
        noClasses()
                .that(not(resideInAnyPackage(
                        "io.penstock.objectstore.s3..", "io.penstock.embeddeds3..", "io.penstock.benchmarks..")))
                .should()
                .dependOnClassesThat(AWS)
                .because("the object-store module hides which client speaks to S3")
                .check(CLASSES);
    }

    @Test
    void jgroupsTypes_outsideShare_areNotUsed() {
        noClasses()
                .that(not(resideInAPackage("io.penstock.share..")))
                .should()
                .dependOnClassesThat(resideInAPackage("org.jgroups.."))
                .because("without a group nothing of it is loaded")
                .check(CLASSES);
    }

    @Test
    void nativeTypes_outsideFuse_areUsedByOneClassOfTheLocalDisk() {
        noClasses()
                .that(not(resideInAnyPackage("io.penstock.fuse..", "io.penstock.disk..")))
                .should()
                .dependOnClassesThat(NATIVE)
                .because("everything between the mount and the disk is tested without native code")
                .check(CLASSES);
        assertThat(CLASSES.stream()
                        .filter(resideInAPackage("io.penstock.disk.."))
                        .filter(ArchitectureTest::usesNativeTypes)
                        .map(ArchitectureTest::topLevelName)
                        .collect(Collectors.toSet()))
                .as("classes of the local disk that use native types")
                .hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void directBuffers_areMadeInOnePlace() {
        noClasses()
                .that(not(resideInAnyPackage("io.penstock.benchmarks..", "io.penstock.testing..")))
                .and()
                .areNotAssignableTo(NativeMemory.class)
                .should()
                .callMethod(ByteBuffer.class, "allocateDirect", int.class)
                .because("the JVM has one budget of direct buffers")
                .check(CLASSES);
    }

    @Test
    void fuseLibraryTypes_outsideTheJnrBinding_areNotUsed() {
        noClasses()
                .that(not(resideInAPackage("io.penstock.fuse.jnr..")))
                .should()
                .dependOnClassesThat(resideInAPackage("ru.serce.."))
                .because("libfuse is one of two bindings")
                .check(CLASSES);
    }

    /** Exactly: a class that has become short leaves the list. */
    @Test
    void longClasses_ofMainCode_areThoseReviewed() throws IOException {
        Set<String> found = new HashSet<>();
        for (Path file : mainSources()) {
            if (Files.readAllLines(file).size() > MOST_LINES) {
                found.add(file.getFileName().toString().replace(".java", ""));
            }
        }
        assertThat(found)
                .as("classes of more than %d lines", MOST_LINES)
                .containsExactlyInAnyOrderElementsOf(LONG_CLASSES.keySet());
    }

    /** Regardless of packages: a name in a log line or a stack trace identifies one class. */
    @Test
    void topLevelClasses_ofMainCode_haveUniqueSimpleNames() throws IOException {
        Map<String, List<Path>> byName = mainSources().stream()
                .filter(file -> !file.endsWith("package-info.java"))
                .collect(Collectors.groupingBy(file -> file.getFileName().toString()));
        assertThat(byName).hasSizeGreaterThan(500);
        assertThat(byName.values())
                .as("files of one name")
                .allSatisfy(files -> assertThat(files).hasSize(1));
    }

    /** The files of all modules. */
    private static List<Path> mainSources() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve(Path.of("src", "main", "java")))
                    .filter(Files::isDirectory)
                    .flatMap(ArchitectureTest::sources)
                    .toList();
        }
    }

    private static Stream<Path> sources(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(each -> each.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void modules_haveNoCycles() {
        slices().matching("io.penstock.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void packages_haveNoCycles() {
        slices().matching("io.penstock.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void packages_haveNoLargeCyclesOfClasses() {
        Map<String, Map<String, Set<String>>> packages = CLASSES.stream()
                .collect(Collectors.groupingBy(
                        JavaClass::getPackageName,
                        Collectors.groupingBy(
                                ArchitectureTest::topLevelName,
                                Collectors.flatMapping(
                                        ArchitectureTest::usedOfItsPackage, Collectors.toUnmodifiableSet()))));
        packages.forEach((name, classes) -> assertThat(largestCycle(classes))
                .as("classes of %s that reach each other", name)
                .hasSizeLessThanOrEqualTo(LARGEST_CYCLE));
    }

    /** content ← upload ← journal ← survivors ← staging ← bytes ← the file; no other direction. */
    @Test
    void writeback_goesThroughItsRoomsOneWay() {
        String rooms = "io.penstock.writeback";
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("file")
                .definedBy(rooms)
                .layer("bytes")
                .definedBy(rooms + ".bytes")
                .layer("staging")
                .definedBy(rooms + ".staging")
                .layer("survivors")
                .definedBy(rooms + ".survivors")
                .layer("journal")
                .definedBy(rooms + ".journal")
                .layer("upload")
                .definedBy(rooms + ".upload")
                .layer("content")
                .definedBy(rooms + ".content")
                .whereLayer("bytes")
                .mayOnlyBeAccessedByLayers("file")
                .whereLayer("staging")
                .mayOnlyBeAccessedByLayers("file", "bytes")
                .whereLayer("survivors")
                .mayOnlyBeAccessedByLayers("file", "bytes", "staging")
                .whereLayer("journal")
                .mayOnlyBeAccessedByLayers("file", "bytes", "staging", "survivors")
                .whereLayer("upload")
                .mayOnlyBeAccessedByLayers("file", "bytes", "staging", "survivors", "journal")
                .whereLayer("file")
                .mayNotBeAccessedByAnyLayer()
                .check(CLASSES);
    }

    /** The parts of the write path that other modules may use: its face, and the limits that they set. */
    @Test
    void writebacksRooms_areUsedByNobodyElse() {
        noClasses()
                .that(not(resideInAnyPackage(
                        "io.penstock.writeback..",
                        "io.penstock.serve..",
                        "io.penstock.cli..",
                        "io.penstock.benchmarks..")))
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                                "io.penstock.writeback.content..",
                                "io.penstock.writeback.upload..",
                                "io.penstock.writeback.journal..",
                                "io.penstock.writeback.staging..",
                                "io.penstock.writeback.bytes..")
                        .and(not(nameMatching(BaseContent.class.getName() + "(\\$.*)?"))))
                .because("they are public for each other only; others bring the bytes of the base version")
                .check(CLASSES);
    }

    /** A file's state is in FileState and the sealed types of its parts (ADR 23). */
    @Test
    void writeback_hasNoFlagsButThese() {
        assertThat(CLASSES.stream()
                        .filter(type -> type.getPackageName().startsWith("io.penstock.writeback"))
                        .filter(type -> !type.isAssignableTo(Record.class))
                        .flatMap(type -> type.getFields().stream())
                        .filter(field -> field.getRawType().isEquivalentTo(boolean.class))
                        .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                        .map(field -> field.getOwner().getSimpleName() + "." + field.getName()))
                .containsExactlyInAnyOrder(
                        "BaseLayer.retired",
                        "Block.journalled",
                        "BlockMemory.saidShort",
                        "CommitPlan.isObjectsEnd",
                        "RecoverableFile.older",
                        "PartSender.early",
                        "Parts.large",
                        "Reclaim.closed",
                        "Reclaim.fruitless",
                        "Reclaim.wanted",
                        "RenameJournal.isDecided",
                        "StagedFile.suspect",
                        "UploadGate.looksAgain",
                        "Waiter.refused");
    }

    /** Each hop of the walks in docs/ARCHITECTURE.md is a class, and has the method named with it. */
    @Test
    void walks_nameClassesAndMethodsThatThereAre() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "ARCHITECTURE.md"));
        String walks = page.substring(page.indexOf("### READ, hop by hop"), page.indexOf("## Where names come from"));
        List<String> hops = Pattern.compile("`(?:[a-z0-9.]+\\.)?([A-Z]\\w+)(?:\\.([a-zA-Z]\\w*))?`")
                .matcher(walks)
                .results()
                .map(match -> match.group(1) + (match.group(2) == null ? "" : "." + match.group(2)))
                .filter(hop -> !hop.equals(ArchitectureTest.class.getSimpleName())) // named there, but not main code
                .toList();
        Set<String> there = CLASSES.stream()
                .flatMap(type -> Stream.concat(
                        Stream.of(
                                type.getSimpleName(),
                                type.getName().replaceAll(".*\\.", "").replace('$', '.')),
                        type.getMethods().stream().map(method -> type.getSimpleName() + "." + method.getName())))
                .collect(Collectors.toSet());
        assertThat(hops).hasSizeGreaterThan(30);
        assertThat(there).containsAll(hops);
    }

    /** As docs/ARCHITECTURE.md lists them. */
    @Test
    void packagesAboveTheFileSystem_useOnlyThoseBeforeThem() {
        assertOneWay("settings", "process", "");
        assertOneWay("serve", "log", "state", "control", "metrics", "mount");
        assertOneWay("tools", "measure", "doctor", "bench");
    }

    /** the interface ← HTTP connections, also between nodes ← S3. */
    @Test
    void objectStore_goesThroughItsPackagesOneWay() {
        assertOneWay("objectstore", "", "http", "s3");
    }

    /** kernel ← files ← names ← the calls; no other direction. */
    @Test
    void filesystem_goesThroughItsRoomsOneWay() {
        assertOneWay("filesystem", "kernel", "files", "names", "");
    }

    @Test
    void filesystemsRooms_areUsedByNobodyElse() {
        assertOnlyFaceIsUsed(
                "filesystem",
                "kernel.BackingFiles",
                "kernel.Inherited",
                "kernel.KernelCache",
                "kernel.OpenFile",
                "files.FetchedContent",
                "names.Exclusive",
                "names.Links",
                "names.NoEntryException",
                "names.RunningRename",
                "names.Writing");
    }

    /** Pages on disk do not depend on pages in memory. */
    @Test
    void cache_goesThroughItsRoomsOneWay() {
        assertOneWay("cache", "disk", "");
    }

    @Test
    void cachesRoom_isUsedByNobodyElse() {
        assertOnlyFaceIsUsed("cache", "disk.CacheFolder", "disk.Pins", "disk.ReadShape", "disk.WholeFile");
    }

    /** @param names all rooms of the module, each of which may use only those before it; "" is the top package */
    private static void assertOneWay(String module, String... names) {
        String top = "io.penstock." + module;
        List<String> rooms = Stream.of(names)
                .map(room -> room.isEmpty() ? top : top + "." + room)
                .toList();
        assertThat(CLASSES.stream()
                        .map(JavaClass::getPackageName)
                        .filter(name -> name.equals(top) || name.startsWith(top + "."))
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(rooms);
        for (int i = 0; i < rooms.size() - 1; i++) {
            noClasses()
                    .that(resideInAPackage(rooms.get(i)))
                    .should()
                    .dependOnClassesThat(resideInAnyPackage(
                            rooms.subList(i + 1, rooms.size()).toArray(String[]::new)))
                    .check(CLASSES);
        }
    }

    /** @param face the classes in the module's rooms that other modules may use, in addition to its top package */
    private static void assertOnlyFaceIsUsed(String module, String... face) {
        String top = "io.penstock." + module;
        String allowed = Stream.of(face)
                .map(name -> Pattern.quote(top + "." + name))
                .collect(Collectors.joining("|", "(", ")(\\$.*)?"));
        noClasses()
                .that(not(resideInAPackage(top + "..")))
                .should()
                .dependOnClassesThat(resideInAPackage(top + "..")
                        .and(not(resideInAPackage(top)))
                        .and(not(nameMatching(allowed))))
                .because("what is public in a room is so for the module's other rooms")
                .check(CLASSES);
    }

    /** The top-level classes of the same package that the class uses. */
    private static Stream<String> usedOfItsPackage(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream()
                .map(Dependency::getTargetClass)
                .map(JavaClass::getBaseComponentType)
                .filter(used -> used.getPackageName().equals(type.getPackageName()))
                .map(ArchitectureTest::topLevelName);
    }

    /** The largest set of classes that all reach each other. */
    private static Set<String> largestCycle(Map<String, Set<String>> used) {
        Map<String, Set<String>> reached = new HashMap<>();
        used.keySet().forEach(type -> reached.put(type, reachedFrom(type, used)));
        return reached.entrySet().stream()
                .map(type -> type.getValue().stream()
                        .filter(other -> reached.getOrDefault(other, Set.of()).contains(type.getKey()))
                        .collect(Collectors.toSet()))
                .max(Comparator.comparingInt(Set::size))
                .orElseThrow();
    }

    private static Set<String> reachedFrom(String type, Map<String, Set<String>> used) {
        Set<String> reached = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(used.getOrDefault(type, Set.of()));
        while (!open.isEmpty()) {
            String next = open.pop();
            if (reached.add(next)) {
                open.addAll(used.getOrDefault(next, Set.of()));
            }
        }
        return reached;
    }

    private static boolean usesNativeTypes(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream()
                .anyMatch(dependency -> NATIVE.test(dependency.getTargetClass()));
    }

    private static String topLevelName(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::topLevelName).orElse(type.getName());
    }

    /** {@code core} of {@code io.penstock.core.Errno}. */
    private static String module(JavaClass type) {
        return type.getPackageName().split("\\.", 4)[2];
    }
}
