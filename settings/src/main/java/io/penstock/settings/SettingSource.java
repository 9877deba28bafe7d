package io.penstock.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings from one place, and the problems found there. Immutable. */
public final class SettingSource {
    /** No settings. */
    public static final SettingSource EMPTY = new SettingSource(List.of(), List.of());

    private final List<Assignment<?>> assignments;
    private final List<String> problems;

    private SettingSource(List<Assignment<?>> assignments, List<String> problems) {
        this.assignments = List.copyOf(assignments);
        this.problems = List.copyOf(problems);
    }

    /** Command-line options: the text of each, and the name under which it was given, such as --cache-size. */
    public static SettingSource ofOptions(Map<Setting<?>, String> texts, Map<Setting<?>, String> names) {
        Builder source = new Builder();
        texts.forEach((setting, text) ->
                source.read(setting, text, new Origin.Option(names.getOrDefault(setting, setting.optionName()))));
        return source.build();
    }

    /** The settings that are assigned here. */
    public List<Setting<?>> settings() {
        return assignments.stream().<Setting<?>>map(Assignment::setting).toList();
    }

    /** At most one per setting. */
    List<Assignment<?>> assignments() {
        return assignments;
    }

    /** Messages for the user. */
    public List<String> problems() {
        return problems;
    }

    /** Collects the settings of one source. Not thread-safe. */
    static final class Builder {
        private final List<Assignment<?>> assignments = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();

        /** Assigns the text's value, or reports the allowed values or a duplicate setting. */
        void read(Setting<?> setting, String text, Origin origin) {
            Assignment<?> earlier = earlier(setting);
            if (earlier != null) {
                problem(origin, setting.key(), "duplicate setting; already set in " + earlier.origin());
                return;
            }
            Assignment<?> assignment = Assignment.read(setting, text, origin);
            if (assignment == null) {
                problem(
                        origin,
                        setting.key(),
                        "invalid value '" + text + "'; expected "
                                + setting.type().allowed());
            } else {
                assignments.add(assignment);
            }
        }

        /** Assigns the value found, or reports why it is unknown. */
        void read(Setting<?> setting, Setting.Found found) {
            switch (found) {
                case Setting.Found.Text(String text, Origin origin) -> read(setting, text, origin);
                case Setting.Found.Problem(String what, Origin origin) -> problem(origin, setting.key(), what);
            }
        }

        /** Removes the setting's value, so that another may follow. */
        void unset(Setting<?> setting) {
            assignments.removeIf(assignment -> assignment.setting().equals(setting));
        }

        void problem(Object where, String key, String what) {
            problems.add(where + ": " + key + ": " + what);
        }

        SettingSource build() {
            return new SettingSource(assignments, problems);
        }

        private @Nullable Assignment<?> earlier(Setting<?> setting) {
            return assignments.stream()
                    .filter(assignment -> assignment.setting().equals(setting))
                    .findFirst()
                    .orElse(null);
        }
    }
}
