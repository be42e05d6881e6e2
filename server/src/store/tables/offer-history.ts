// When windows were open and fleets not frozen (domain/window/offer-history.ts); a row is written at each opening and closing.

import type { BothClocks } from '../../domain/common/instants.ts'
import type { OfferChange } from '../../domain/window/offer-history.ts'
import { inBoth, type Writes } from '../queries.ts'
import { select } from '../schema/column.ts'
import { run } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { unfinishedOn } from './run-fields.ts'

// Clocks of nodes may differ slightly: a change that is written later gets a later time.
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
// Keeps the last change before this instant, because it has the state at that time.
const PURGE = `
  DELETE FROM offer_history WHERE owner_no = :ownerNo AND window_name = :windowName AND clock < (
    SELECT max(clock) FROM offer_history
    WHERE owner_no = :ownerNo AND window_name = :windowName AND clock <= :before)`
/** A run may be written long after its time, and the wall clock may be set. */
const marginMs = 24 * 60 * 60_000

export const DELETE_OFFERS =
  'DELETE FROM offer_history WHERE owner_no = :ownerNo AND window_name = :windowName'

export async function noteOffers(queries: Writes, change: OfferChange): Promise<void> {
  await queries.run(NOTE, partOf(NOTE, change))
}

/** Purges history before the oldest unfinished run, which is no longer needed. */
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
