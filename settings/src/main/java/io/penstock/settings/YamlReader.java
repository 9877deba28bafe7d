package io.penstock.settings;

import io.penstock.settings.process.Reason;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * Reads a configuration file. Messages about its content name the line. Reading continues after an error, so one run
 * reports all errors. Use once, by one thread.
 */
final class YamlReader {
    private static final List<String> SECTIONS = List.of("defaults", "buckets");
    private static final int MOST_SHOWN = 80;

    private final Path file;
    private final List<String> problems = new ArrayList<>();
    private final Map<String, List<Assignment<?>>> buckets = new HashMap<>();

    /** The values so far: an anchor and its aliases share one node. */
    private final Set<Node> values = Collections.newSetFromMap(new IdentityHashMap<>());

    private List<Assignment<?>> defaults = List.of();

    private YamlReader(Path file) {
        this.file = file;
    }

    static ConfigurationFile read(Path file) {
        try {
            YamlReader reader = new YamlReader(file);
            reader.readAll(Files.readString(file));
            return new ConfigurationFile(file, reader.defaults, reader.buckets, List.copyOf(reader.problems));
        } catch (NoSuchFileException e) {
            return failed(file, file + ": no such file");
        } catch (MarkedYAMLException e) {
            String context = e.getContext() == null ? "" : e.getContext() + ", ";
            int line = e.getProblemMark().getLine() + 1;
            return failed(file, file + ":" + line + ": invalid YAML: " + context + e.getProblem());
        } catch (YAMLException e) {
            return failed(file, file + ": invalid YAML: " + e.getMessage());
        } catch (CharacterCodingException e) {
            return failed(file, file + ": not valid UTF-8");
        } catch (IOException e) {
            return failed(file, "cannot read " + file + ": " + Reason.of(e));
        }
    }

    private static ConfigurationFile failed(Path file, String problem) {
        return new ConfigurationFile(file, List.of(), Map.of(), List.of(problem));
    }

    private void readAll(String text) {
        LoaderOptions options = new LoaderOptions();
        Composer documents = new Composer(new ParserImpl(new StreamReader(text), options), new Resolver(), options);
        if (documents.checkNode()) {
            Node root = documents.getNode();
            readSections(members(root, "the file", root, "a mapping with the keys defaults and buckets"));
        }
        if (documents.checkNode()) {
            Node second = documents.getNode();
            if (!isNothing(second)) { // its settings would be ignored
                problem(second, "the file", "more than one YAML document (---); only one is allowed");
            }
        }
    }

    private void readSections(List<Member> sections) {
        List<String> seen = new ArrayList<>();
        for (Member section : sections) {
            String name = section.name();
            if (seen.contains(name)) {
                problem(section.key, name, "duplicate key");
            } else if (name.equals("defaults")) {
                defaults = readSettings(section, name);
            } else if (name.equals("buckets")) {
                members(section.key, name, section.value, "a mapping of bucket names")
                        .forEach(this::readBucket);
            } else {
                String meant = Settings.byKey(name).isPresent() || isGroup(name)
                        ? "; settings go under defaults: or buckets: NAME:"
                        : UnknownName.suggestion(name, SECTIONS);
                problem(section.key, name, "no such section; the sections are defaults and buckets" + meant);
            }
            seen.add(name);
        }
    }

    private void readBucket(Member bucket) {
        String name = bucket.name();
        String path = "buckets." + name;
        if (buckets.containsKey(name)) {
            problem(bucket.key, path, "duplicate key");
        } else if (name.contains("/")) {
            problem(bucket.key, path, "invalid bucket name; omit s3:// and any prefix");
        } else {
            buckets.put(name, readSettings(bucket, path));
        }
    }

    private List<Assignment<?>> readSettings(Member from, String section) {
        SettingSource.Builder source = new SettingSource.Builder();
        readGroup(members(from.key, section, from.value, "a mapping of settings"), section, "", source);
        SettingSource read = source.build();
        problems.addAll(read.problems());
        return read.assignments();
    }

    /** Reads settings whose keys begin with {@code prefix}, which is empty or ends in a dot. */
    private void readGroup(List<Member> members, String section, String prefix, SettingSource.Builder to) {
        for (Member member : members) {
            String key = prefix + member.name();
            Optional<Setting<?>> setting = Settings.byKey(key);
            if (setting.isPresent()) {
                readValue(setting.get(), member, section, to);
            } else if (!isGroup(key)) {
                problem(member.key, key, "no such setting" + UnknownName.hint(key, "", keysAndGroups()));
            } else {
                String allowed = "a mapping of " + membersOf(key);
                readGroup(members(member.key, key, member.value, allowed), section, key + ".", to);
            }
        }
    }

    private void readValue(Setting<?> setting, Member member, String section, SettingSource.Builder to) {
        Origin.Line origin = new Origin.Line(file, line(member.key), section);
        ValueType.Elements elements = setting.type().elements();
        boolean isAlias = isAlias(member.value);
        if (!isAlias && member.value instanceof ScalarNode scalar && !isNothing(scalar)) {
            to.read(setting, scalar.getValue(), origin);
        } else if (!isAlias && member.value instanceof SequenceNode list && elements != null) {
            readList(setting, list, elements, origin, to);
        } else {
            problem(
                    member.key,
                    setting.key(),
                    found(member.value, isAlias) + "; expected "
                            + setting.type().allowed());
        }
    }

    private void readList(
            Setting<?> setting,
            SequenceNode list,
            ValueType.Elements allowed,
            Origin.Line origin,
            SettingSource.Builder to) {
        List<String> elements = new ArrayList<>();
        for (Node each : list.getValue()) {
            boolean isAlias = isAlias(each);
            String text = !isAlias && each instanceof ScalarNode scalar ? scalar.getValue() : "";
            if (text.isBlank() || text.contains(allowed.separator())) {
                problem(isAlias ? list : each, setting.key(), found(each, isAlias) + "; expected " + allowed.allowed());
            } else {
                elements.add(text);
            }
        }
        if (!elements.isEmpty()) {
            to.read(setting, String.join(allowed.separator(), elements), origin);
        }
    }

    private record Member(ScalarNode key, Node value) {
        String name() {
            return key.getValue();
        }
    }

    /** The members of a mapping, which may be left out; anything else is a problem. */
    private List<Member> members(Node at, String key, Node value, String allowed) {
        boolean isAlias = isAlias(value);
        if (isAlias || !(value instanceof MappingNode mapping)) {
            if (isAlias || !isNothing(value)) {
                problem(at, key, found(value, isAlias) + "; expected " + allowed);
            }
            return List.of();
        }
        List<Member> members = new ArrayList<>();
        for (NodeTuple each : mapping.getValue()) {
            if (each.getKeyNode() instanceof ScalarNode name) {
                members.add(new Member(name, each.getValueNode()));
            } else {
                problem(each.getKeyNode(), key, found(each.getKeyNode(), false) + " as a key; expected a name");
            }
        }
        return members;
    }

    private void problem(Node at, String key, String what) {
        problems.add(file + ":" + line(at) + ": " + key + ": " + what);
    }

    private static int line(Node node) {
        return node.getStartMark().getLine() + 1;
    }

    /** Call once for each value. */
    private boolean isAlias(Node value) {
        return !values.add(value);
    }

    private static boolean isNothing(Node value) {
        return value.getTag().equals(Tag.NULL);
    }

    private static String found(Node node, boolean isAlias) {
        if (isAlias) {
            return "found an alias";
        }
        return switch (node) {
            case MappingNode _ -> "found a mapping";
            case SequenceNode _ -> "found a list";
            case ScalarNode scalar when !isNothing(scalar) -> "invalid value '" + beginning(scalar.getValue()) + "'";
            default -> "no value";
        };
    }

    /** The value may be the whole text of a file that is not a configuration. */
    private static String beginning(String text) {
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
    }

    private static boolean isGroup(String key) {
        return known().stream().anyMatch(each -> each.startsWith(key + "."));
    }

    private static String membersOf(String group) {
        return String.join(
                ", ",
                known().stream()
                        .filter(key -> key.startsWith(group + "."))
                        .map(key -> key.substring(group.length() + 1))
                        .toList());
    }

    private static List<String> keysAndGroups() {
        return Stream.concat(known().stream(), known().stream().map(key -> key.replaceFirst("\\..*", "")))
                .toList();
    }

    private static List<String> known() {
        return Settings.ALL.stream().map(Setting::key).toList();
    }
}
