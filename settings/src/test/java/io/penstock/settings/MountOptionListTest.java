package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MountOptionListTest {
    @ParameterizedTest
    @ValueSource(strings = {"cache_size=1GiB", "cache-size=1GiB", "cache.size=1GiB"})
    void parse_keyInAnySpelling_isTheSetting(String option) {
        assertThat(parse(option)).containsExactly("cache.size=1GiB");
    }

    @Test
    void parse_whatMountAndFstabUse_passedOver() {
        MountOptionList list = MountOptionList.parse(
                List.of(
                        "rw,defaults,noauto,user,nofail,_netdev,noatime,nosuid,nodev,exec,relatime",
                        "x-systemd.automount,x-systemd.requires=network-online.target,comment=hello,,"),
                "-o");
        assertThat(list.settings().problems()).isEmpty();
        assertThat(list.settings().assignments()).isEmpty();
    }

    @Test
    void parse_flags_needNoValue() {
        assertThat(parse("allow_other,path_style=false,ro,noexec"))
                .containsExactly("fuse.allow-other=true", "s3.path-style=false", "read-only=true", "noexec=true");
    }

    /** As in mount(8). */
    @ParameterizedTest
    @CsvSource({
        "'noexec,exec', ''",
        "'exec,noexec', noexec=true",
        "'noexec,exec,noexec', noexec=true",
        "'noexec,noexec', noexec=true",
        "'noexec=true,uid=1,exec', uid=1",
        "'ro,rw', ''",
        "'rw,ro', read-only=true",
        "'ro,ro', read-only=true",
        "'ro,nosuid,suid,nodev,dev,noatime,atime,rw', ''",
    })
    void parse_contradictingFlags_theLastHolds(String options, String settings) {
        assertThat(String.join(",", parse(options))).isEqualTo(settings);
    }

    @Test
    void parse_contradictingFlagsInTwoLists_theLastHolds() {
        SettingSource source =
                MountOptionList.parse(List.of("noexec,ro", "exec,rw"), "-o").settings();
        assertThat(source.problems()).isEmpty();
        assertThat(source.assignments()).isEmpty();
    }

    @Test
    void parse_valueWithEqualsSign_keptWhole() {
        assertThat(parse("profile=a=b")).containsExactly("s3.profile=a=b");
    }

    @Test
    void parse_config_namesTheFile() {
        MountOptionList list = MountOptionList.parse(List.of("config=/etc/p.yaml,uid=1"), "-o");
        assertThat(list.configurationFile()).isEqualTo("/etc/p.yaml");
        assertThat(list.settings().problems()).isEmpty();
    }

    @Test
    void parse_mistakes_nameWhereTheyStandAndWhatIsAllowed() {
        assertThat(MountOptionList.parse(List.of("cash_size=1GiB,uid=ann,memory,uid=1,uid=2,wsize=4"), "/etc/fstab:3")
                        .settings()
                        .problems())
                .containsExactly(
                        "/etc/fstab:3: option 'cash_size=1GiB': cash_size: no such option; did you mean cache_size?",
                        "/etc/fstab:3: option 'uid=ann': uid: invalid value 'ann'; expected a whole number from 0"
                                + " to 2147483647",
                        "/etc/fstab:3: option 'memory': memory: invalid value ''; expected a size with a unit, such"
                                + " as 512MiB, 64GiB or 1.5TiB, 64MiB or more",
                        "/etc/fstab:3: option 'uid=2': uid: duplicate setting; already set in /etc/fstab:3: option"
                                + " 'uid=1'",
                        "/etc/fstab:3: option 'wsize=4': wsize: no such option");
    }

    @Test
    void parse_remount_saysOnlyWhatToDoInstead() {
        String byMount = "rw,nosuid,nodev,user_id=0,remount,group_id=0,default_permissions,allow_other";
        assertThat(MountOptionList.parse(List.of(byMount), "-o").settings().problems())
                .singleElement()
                .asString()
                .startsWith("-o: option 'remount': remount: ")
                .contains("penstock set", "penstock reload");
    }

    private static List<String> parse(String options) {
        SettingSource source = MountOptionList.parse(List.of(options), "-o").settings();
        assertThat(source.problems()).isEmpty();
        return source.assignments().stream()
                .map(assignment -> assignment.setting().key() + "=" + assignment.print())
                .toList();
    }
}
