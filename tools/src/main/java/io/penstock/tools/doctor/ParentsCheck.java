package io.penstock.tools.doctor;

import io.penstock.disk.ExposedFolder;
import io.penstock.serve.mount.MountPlan;
import java.util.List;

/** The folders above the cache and the staging folder. The facts list those in which other users can replace them. */
final class ParentsCheck implements Check<List<ExposedFolder>> {
    @Override
    public void examine(List<ExposedFolder> exposed, Findings findings) {
        exposed.forEach(folder -> findings.warning(
                folder.fault(), "A mount would serve and upload files that they put there", MountPlan.mend(folder)));
        if (findings.isEmpty()) {
            findings.ok("no other user can replace the cache or the staging folder");
        }
    }
}
