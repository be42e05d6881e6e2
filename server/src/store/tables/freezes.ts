// Owners whose fleets are frozen.

import { toInstantOrNull } from '@jobcast/contract/words'
import { fleetZones, wholeFleet } from '../../domain/window/offer-history.ts'
import { select } from '../schema/column.ts'
import { freeze } from '../schema/tables.ts'
import { noteOffers, purgeOffers } from './offer-history.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const FREEZE = select(freeze.fields)
const GET = `SELECT ${FREEZE} FROM fleet_freeze WHERE owner_no = :ownerNo` as const
const LIST = `SELECT ${FREEZE} FROM fleet_freeze` as const
const PUT = `
  INSERT INTO fleet_freeze (owner_no, reason, principal, at, until)
  VALUES (:ownerNo, :reason, :principal, :at, :until)
  ON CONFLICT (owner_no) DO UPDATE SET reason = excluded.reason, principal = excluded.principal,
    at = excluded.at, until = excluded.until`
const REMOVE = 'DELETE FROM fleet_freeze WHERE owner_no = :ownerNo'
const REMOVE_EXPIRED = `${REMOVE} AND until <= :expiredBy` as const

export const freezeReads: ReadSteps<'getFreeze' | 'listFreezes'> = {
  getFreeze: (queries, { ownerNo }) => queries.get(FREEZE, GET, { ownerNo }),
  listFreezes: (queries) => queries.all(FREEZE, LIST),
}

export const freezeWrites: WriteSteps<'freezeFleet' | 'unfreezeFleet'> = {
  async freezeFleet(queries, { ownerNo, reason, principal, at, clock, until }) {
    const before = await queries.get(FREEZE, GET, { ownerNo })
    await queries.run(PUT, { ownerNo, reason, principal, at, until })
    const data = { reason, until: toInstantOrNull(until), principal }
    await noteOffers(queries, { ownerNo, windowName: wholeFleet, clock, openZones: fleetZones(true) })
    const shown = { before: before && toShown(before), after: toShown({ reason, until }) }
    queries.resourceChanged('fleet.frozen', { ownerNo, at, data, ...shown, note: reason })
    return before === undefined
  },
  async unfreezeFleet(queries, { ownerNo, principal, at, clock, expiredBy }) {
    const before = await queries.get(FREEZE, GET, { ownerNo })
    if (before === undefined) return false
    const removed =
      expiredBy === undefined
        ? await queries.run(REMOVE, { ownerNo })
        : await queries.run(REMOVE_EXPIRED, { ownerNo, expiredBy })
    if (removed === 0) return false
    const data = { reason: before.reason, until: toInstantOrNull(before.until), principal }
    const fleet = { ownerNo, windowName: wholeFleet, clock }
    await noteOffers(queries, { ...fleet, openZones: fleetZones(false) })
    await purgeOffers(queries, { ...fleet, at })
    queries.resourceChanged('fleet.unfrozen', { ownerNo, at, data, before: toShown(before) })
    return true
  },
}

function toShown({ reason, until }: { reason: string; until: number | null }) {
  return { reason, until }
}
