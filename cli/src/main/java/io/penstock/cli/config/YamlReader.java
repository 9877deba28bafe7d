package io.penstock.cli.config;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.penstock.cli.process.Reason;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a configuration file token by token, because every message names a line. It continues after an error, so that
 * one run reports all of them. One use, one thread.
 */
final class YamlReader {
    private static final Pattern LINE = Pattern.compile("line (\\d+)");
    private static final List<String> SECTIONS = List.of("defaults", "buckets");

    private final Path file;
    private static final int MOST_SHOWN = 80;

    private final JsonParser parser;
    private final List<String> problems = new ArrayList<>();
    private final Map<String, List<Assignment<?>>> buckets = new HashMap<>();
    private List<Assignment<?>> defaults = List.of();

    private YamlReader(Path file, JsonParser parser) {
        this.file = file;
        this.parser = parser;
    }

    static ConfigurationFile read(Path file) {
        try (JsonParser parser = new YAMLFactory().createParser(Files.readString(file))) {
            YamlReader reader = new YamlReader(file, parser);
            reader.readRoot();
            return new ConfigurationFile(file, reader.defaults, reader.buckets, List.copyOf(reader.problems));
        } catch (NoSuchFileException e) {
            return failed(file, file + ": no such file");
        } catch (JsonProcessingException e) {
            return failed(file, file + notYaml(e));
        } catch (CharacterCodingException e) {
            return failed(file, file + ": is not UTF-8");
        } catch (IOException e) {
            return failed(file, file + ": cannot be read: " + Reason.of(e));
        }
    }

    /**
     * The library's message has several lines: its context and the problem, each followed by an excerpt. The last
     * position is that of the problem; the exception's own position may be earlier, or missing.
     */
    private static String notYaml(JsonProcessingException e) {
        String message = e.getOriginalMessage();
        String line = LINE.matcher(message)
                .results()
                .map(match -> match.group(1))
                .reduce((first, second) -> second)
                .or(() -> Optional.ofNullable(e.getLocation()).map(at -> String.valueOf(at.getLineNr())))
                .map(number -> ":" + number)
                .orElse("");
        return message.lines()
                .filter(text -> !text.isBlank() && !text.startsWith(" "))
                .collect(Collectors.joining(", ", line + ": this is not YAML: ", ""));
    }

    private static ConfigurationFile failed(Path file, String problem) {
        return new ConfigurationFile(file, List.of(), Map.of(), List.of(problem));
    }

    private void readRoot() throws IOException {
        JsonToken first = parser.nextToken();
        if (first == null || first == JsonToken.VALUE_NULL) {
            requireEnd(); // An empty file, or one with comments only.
            return;
        }
        if (first != JsonToken.START_OBJECT) {
            problem("the file", found(first) + ", allowed is a mapping with the keys defaults and buckets");
            return;
        }
        List<String> seen = new ArrayList<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String section = parser.currentName();
            boolean again = seen.contains(section);
            seen.add(section);
            if (again) {
                skip(section, "is there a second time");
            } else if (section.equals("defaults")) {
                defaults = readSettings(section);
            } else if (section.equals("buckets")) {
                readBuckets();
            } else {
                String meant = Settings.byKey(section).isPresent() || isGroup(section)
                        ? "; settings stand below defaults: or buckets: NAME:"
                        : EditDistance.suggestion(section, SECTIONS);
                skip(section, "no such section, allowed are defaults and buckets" + meant);
            }
        }
        requireEnd();
    }

    /** A file may have several documents, and settings in the others would be ignored. */
    private void requireEnd() throws IOException {
        JsonToken next = parser.nextToken();
        if (next != null && next != JsonToken.VALUE_NULL) {
            problem("the file", "found a second document (---), allowed is one");
        }
    }

    private void readBuckets() throws IOException {
        if (!enterMapping("buckets", "a mapping of bucket names")) {
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String bucket = parser.currentName();
            if (buckets.containsKey(bucket)) {
                skip("buckets." + bucket, "is there a second time");
            } else if (bucket.contains("/")) {
                skip("buckets." + bucket, "no bucket has this name; write it without s3:// and without a prefix");
            } else {
                buckets.put(bucket, readSettings("buckets." + bucket));
            }
        }
    }

    private List<Assignment<?>> readSettings(String section) throws IOException {
        SettingSource.Builder source = new SettingSource.Builder();
        if (enterMapping(section, "a mapping of settings")) {
            readGroup(section, "", source);
        }
        SettingSource read = source.build();
        problems.addAll(read.problems());
        return read.assignments();
    }

    /**
     * Reads the mapping at the parser's position: settings whose keys begin with {@code prefix}, which ends in a dot.
     */
    private void readGroup(String section, String prefix, SettingSource.Builder to) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = prefix + parser.currentName();
            Optional<Setting<?>> setting = Settings.byKey(key);
            if (setting.isPresent()) {
                readValue(setting.get(), section, to);
            } else if (!isGroup(key)) {
                skip(key, "no such setting" + UnknownName.hint(key, "", keysAndGroups()));
            } else if (enterMapping(key, "a mapping of " + membersOf(key))) {
                readGroup(section, key + ".", to);
            }
        }
    }

    private void readValue(Setting<?> setting, String section, SettingSource.Builder to) throws IOException {
        Origin.Line origin = new Origin.Line(file, line(), section);
        JsonToken token = parser.nextToken();
        ValueType.Elements elements = setting.type().elements();
        if (token.isScalarValue() && token != JsonToken.VALUE_NULL && !isAlias()) {
            to.read(setting, parser.getText(), origin);
        } else if (token == JsonToken.START_ARRAY && elements != null) {
            readList(setting, elements, origin, to);
        } else {
            problem(
                    setting.key(),
                    found(token) + ", allowed is " + setting.type().allowed());
            parser.skipChildren();
        }
    }

    private void readList(Setting<?> setting, ValueType.Elements allowed, Origin.Line origin, SettingSource.Builder to)
            throws IOException {
        List<String> elements = new ArrayList<>();
        for (JsonToken each = parser.nextToken(); each != JsonToken.END_ARRAY; each = parser.nextToken()) {
            String text = each.isScalarValue() && !isAlias() ? parser.getText() : "";
            if (text.isBlank() || text.contains(allowed.separator())) {
                problem(setting.key(), found(each) + ", allowed is " + allowed.allowed());
                parser.skipChildren();
            } else {
                elements.add(text);
            }
        }
        if (!elements.isEmpty()) {
            to.read(setting, String.join(allowed.separator(), elements), origin);
        }
    }

    /** @return whether the parser is now in a mapping; anything else has been skipped */
    private boolean enterMapping(String key, String allowed) throws IOException {
        JsonToken token = parser.nextToken();
        if (token != JsonToken.START_OBJECT && token != JsonToken.VALUE_NULL) {
            problem(key, found(token) + ", allowed is " + allowed);
            parser.skipChildren();
        }
        return token == JsonToken.START_OBJECT;
    }

    private void skip(String key, String why) throws IOException {
        problem(key, why);
        parser.nextToken();
        parser.skipChildren();
    }

    private void problem(String key, String what) {
        problems.add(file + ":" + line() + ": " + key + ": " + what);
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    private boolean isAlias() {
        return parser instanceof YAMLParser yaml && yaml.isCurrentAlias();
    }

    private String found(JsonToken token) throws IOException {
        if (isAlias()) {
            return "found an alias";
        }
        return switch (token) {
            case START_OBJECT -> "found a mapping";
            case START_ARRAY -> "found a list";
            case VALUE_NULL -> "found nothing";
            default -> "found '" + beginning(parser.getText()) + "'";
        };
    }

    /** Of a value, which may be all of a file that is no configuration. */
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
