import { select } from '../schema/column.ts'
import { bridgeCursor } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const CURSOR = select(bridgeCursor.pick('eventId'))
// Checks the owner, because event ids are per owner.
const GET = `
  SELECT ${CURSOR} FROM bridge_cursor WHERE bridge_name = :bridgeName AND owner_no = :ownerNo` as const
const SET = `
  INSERT INTO bridge_cursor (bridge_name, owner_no, event_id) VALUES (:bridgeName, :ownerNo, :eventId)
  ON CONFLICT (bridge_name) DO UPDATE SET owner_no = excluded.owner_no, event_id = excluded.event_id`

export const bridgeCursorReads: ReadSteps<'getBridgeCursor'> = {
  async getBridgeCursor(queries, bridge) {
    const row = await queries.get(CURSOR, GET, partOf(GET, bridge))
    return row?.eventId
  },
}

export const bridgeCursorWrites: WriteSteps<'setBridgeCursor'> = {
  async setBridgeCursor(queries, cursor) {
    await queries.run(SET, partOf(SET, cursor))
  },
}
