// When windows were open, and fleets not frozen (domain/window/offer-history.ts): written where one opens or closes.

import type { BothClocks } from '../../domain/common/instants.ts'
import type { OfferChange } from '../../domain/window/offer-history.ts'
import { inBoth, type Writes } from '../queries.ts'
import { select } from '../schema/column.ts'
import { run } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { unfinishedOn } from './run-fields.ts'

// Nodes' clocks may differ by a little: what is written later counts as later.
const NOTE = inBoth(
  ({ greatest }) => `
  INSERT INTO offer_history (owner_no, window_name, clock, open_zones)
  SELECT CAST(:ownerNo AS integer), :windowName, ${greatest}(CAST(:clock AS bigint), coalesce(max(clock) + 1, 0)), :openZones
  FROM offer_history WHERE owner_no = :ownerNo AND window_name = :windowName`,
)

const OLDEST = select(run.pick('launchedAt'))
const OLDEST_UNFINISHED = inBoth(
  ({ is, by }) => `
  SELECT ${OLDEST} FROM run ${by('run_unfinished')} WHERE owner_no = :ownerNo AND ${unfinishedOn[is]}
  ORDER BY run_id LIMIT 1`,
)
// The last change before it says how things were then.
const PURGE = `
  DELETE FROM offer_history WHERE owner_no = :ownerNo AND window_name = :windowName AND clock < (
    SELECT max(clock) FROM offer_history
    WHERE owner_no = :ownerNo AND window_name = :windowName AND clock <= :before)`
/** A run may be written long after its time, and a wall clock be set. */
const marginMs = 24 * 60 * 60_000

export const FORGET_OFFERS =
  'DELETE FROM offer_history WHERE owner_no = :ownerNo AND window_name = :windowName'

export async function noteOffers(queries: Writes, change: OfferChange): Promise<void> {
  await queries.run(NOTE, partOf(NOTE, change))
}

/** What lies before the oldest run that has not ended is of no use any more: `before`. */
export async function purgeOffers(
  queries: Writes,
  { ownerNo, windowName, at, clock }: Pick<OfferChange, 'ownerNo' | 'windowName'> & BothClocks,
): Promise<{ before: number }> {
  const oldest = await queries.get(OLDEST, OLDEST_UNFINISHED, { ownerNo })
  const ageMs = Math.max(0, at - (oldest?.launchedAt ?? at))
  const before = clock - ageMs - marginMs
  await queries.run(PURGE, { ownerNo, windowName, before })
  return { before }
}
