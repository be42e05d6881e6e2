// Advisory locks. To prevent deadlocks, several locks must be taken in this order, then rows of executions, then rows of runs,
// each in ascending order, and the lock of events last.

/** First keys of advisory locks; the second is the owner's number, or 0. */
export const locks = {
  schema: 740_001,
  partitions: 740_002,
  catalogueOfOwner: 740_003,
  eventsOfOwner: 740_004,
  firstKey: 740_005,
  /** Held by each node as long as it is connected; the second key is its number. */
  node: 740_006,
  /** Held by the node that delivers the webhook; the second key is the webhook's number. */
  webhook: 740_007,
  /** Held by the node that runs the bridge; the second key is derived from its name. */
  bridge: 740_011,
  retention: 740_008,
  /** Held while keys are revoked, so that one ADMIN key remains. */
  revocation: 740_009,
  /** Held briefly while ids are assigned (take_ids). */
  ids: 740_010,
} as const
