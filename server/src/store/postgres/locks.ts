// Locks that are not rows. Whoever needs several takes them in this order, then rows of executions, then rows of runs,
// each in ascending order, and the events' last: so nobody waits in a circle.

/** First keys of advisory locks; the second is the owner's number, or 0. */
export const locks = {
  schema: 740_001,
  partitions: 740_002,
  catalogueOfOwner: 740_003,
  eventsOfOwner: 740_004,
  firstKey: 740_005,
  /** Held by each node as long as it is connected; the second key is its number. */
  node: 740_006,
  /** Held by the node that sends it; the second key is the webhook's number. */
  webhook: 740_007,
  /** Held by the node that carries it; the second key is made of its name. */
  bridge: 740_011,
  retention: 740_008,
  /** Held by whoever revokes keys: one is left with ADMIN. */
  revocation: 740_009,
  /** Held by whoever takes ids, for that instant alone (take_ids). */
  ids: 740_010,
} as const
