package io.penstock.settings;

import java.util.stream.Collectors;

/** Makes docs/CONFIGURATION.md from the settings. */
final class SettingsPage {
    private static final String HEAD = """
        # Configuration

        <!-- Made from the settings: SettingsTest writes settings/target/CONFIGURATION.md, and fails if this page differs. -->

        Penstock needs no configuration. A setting can be given in four places, in order of precedence:

        1. an option: `penstock mount my-bucket /mnt/data --cache-size 2TiB`
        2. `-o`, also in fstab: `-o cache_size=2TiB` (keys with dots, dashes or underscores)
        3. the bucket's section of the configuration file
        4. the file's `defaults` section

        The file is the one that `--config` (or `-o config=`) names; otherwise `~/.config/penstock/penstock.yaml`
        (`$XDG_CONFIG_HOME`, if set, in place of `~/.config`); otherwise `/etc/penstock/penstock.yaml`:

        ```yaml
        defaults:
          cache:
            dir: /nvme/penstock/{bucket}
            size: 64GiB
          memory: 1GiB
        buckets:
          my-bucket:
            s3:
              endpoint: http://minio.local:9000
            cache:
              dir: /nvme2/penstock
              size: 2TiB
        ```

        `penstock config check FILE` reports every error in a file with its line. `penstock config show BUCKET` shows
        each setting's value for a bucket and where it was set.

        Sizes are written `512MiB`, `64GiB`, `1.5TiB` (`K`, `M`, `G` and `T` mean the same; `KB`, `MB`, `GB` and
        `TB` are powers of 1000), times `250ms`, `60s`, `5m`, `1h`, `2d`. Credentials are never set here: Penstock
        finds them as the AWS command line does (environment variables, `~/.aws`, container and instance roles).

        ## fstab

        ```
        s3://my-bucket/datasets  /mnt/data  penstock  _netdev,nofail,cache_size=2TiB  0  0
        ```

        This line needs `/sbin/mount.penstock`, which `penstock install` puts there. Options of mount(8) and systemd
        (`_netdev`, `nofail`, `noauto`, `user`, `x-systemd.*`, `defaults`, `noatime`, …) are accepted. Of `ro` and `rw`, and of
        `noexec` and `exec`, the last one wins; `rw` and `exec` set nothing, so the file's value applies.
        Write `s3://` in front, as mount tables do, so that `mount -a` recognizes a bucket that is already mounted.

        ## Settings
        """;

    private SettingsPage() {}

    static String text() {
        StringBuilder page = new StringBuilder(HEAD);
        for (Settings.Group group : Settings.GROUPS) {
            page.append("\n### ").append(group.title()).append('\n');
            group.settings().forEach(setting -> page.append(entry(setting)));
        }
        return page.toString();
    }

    private static String entry(Setting<?> setting) {
        String options = setting.names().stream()
                .map(name -> "`--" + name
                        + (setting.type().isFlag() ? "" : " " + setting.type().label()) + "`")
                .collect(Collectors.joining(", "));
        String change = setting.isLive() ? "while mounted, with `penstock set` or `reload`" : "at the next mount";
        return "\n#### `" + setting.key() + "`\n\n" + setting.help() + "\n\n- Option: " + options + "\n- Allowed: "
                + setting.type().allowed() + "\n- Default: " + setting.defaultText()
                + "\n- Changes: " + change + "\n";
    }
}
