package io.penstock.serve.mount;

import io.penstock.objectstore.http.TlsEngine;
import io.penstock.settings.Configuration;
import io.penstock.settings.Peers;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a mount shares its cache.
 *
 * @param listen not resolved yet
 * @param certificates null if it shares without any
 * @param bandwidth bytes per second in each direction; 0 for no limit
 */
record SharePlan(
        Peers peers, InetSocketAddress listen, @Nullable Certificates certificates, long bandwidth) {
    /** PEM files of the authority, of this node and of its private key; and the engine that encrypts with them. */
    record Certificates(Path authority, Path own, Path key, TlsEngine engine) {}

    /** Null if the mount shares nothing. */
    static @Nullable SharePlan of(Configuration configuration) {
        Peers peers = configuration.find(ShareSettings.PEERS).orElse(null);
        if (peers == null) {
            return null;
        }
        Certificates certificates = configuration.get(ShareSettings.INSECURE)
                ? null
                : new Certificates(
                        configuration.get(ShareSettings.TLS_CA),
                        configuration.get(ShareSettings.TLS_CERTIFICATE),
                        configuration.get(ShareSettings.TLS_KEY),
                        configuration.get(Settings.TLS, TlsEngine.class));
        return new SharePlan(
                peers,
                configuration.get(ShareSettings.LISTEN),
                certificates,
                configuration.get(ShareSettings.BANDWIDTH));
    }
}
