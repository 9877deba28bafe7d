package io.penstock.share;

import java.util.List;

/**
 * The owner of a slab: the node with the highest random weight (Thaler and Ravishankar, 1998). A node that joins or
 * leaves moves only its own share. Immutable.
 *
 * @param self this node
 * @param nodes all members of the group, this node among them; in the same order on all nodes
 */
record Owners(GroupMember self, List<GroupMember> nodes) {
    /** The number of slabs in the sample from which shares are estimated. */
    private static final int SAMPLE = 4096;

    Owners {
        nodes = List.copyOf(nodes);
    }

    /** This node alone. */
    static Owners alone(GroupMember self) {
        return new Owners(self, List.of(self));
    }

    GroupMember of(long slab) {
        GroupMember owner = self;
        long top = Long.MIN_VALUE;
        for (GroupMember node : nodes) {
            long weight = OwnedSlabs.mix(slab ^ node.hash());
            if (weight > top) {
                top = weight;
                owner = node;
            }
        }
        return owner;
    }

    /** The share of all slabs that each node owns, 0 to 1, in the order of the nodes; from a sample. */
    double[] shares() {
        double[] shares = new double[nodes.size()];
        for (int slab = 0; slab < SAMPLE; slab++) {
            int owner = nodes.indexOf(of(OwnedSlabs.mix(slab)));
            if (owner >= 0) {
                shares[owner] += 1.0 / SAMPLE;
            }
        }
        return shares;
    }
}
