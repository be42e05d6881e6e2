// Windows and their users. The zones in which a window is open are stored with it (domain/window/open-zones.ts).

import { isDeepStrictEqual } from 'node:util'
import { withChanger, withoutMakers } from '../../domain/access/changers.ts'
import { isExpected } from '../../domain/common/entity-tag.ts'
import { namedUsers } from '../../domain/common/in-use.ts'
import { zoneOf } from '../../domain/window/device-zone.ts'
import type { WindowRule } from '../../domain/window/ports/windows.ts'
import { inBoth, type Queries, type Spelling, sliced } from '../queries.ts'
import { computed, flag, json, number, rows, select, text } from '../schema/column.ts'
import { device, deviceAttribute, execution, job, offerWindow, run, schedule } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { deleteDeviceWindows, findWindowUsers, purgeDeviceWindows } from './device-windows.ts'
import { DELETE_OFFERS, noteOffers, purgeOffers } from './offer-history.ts'
import { unfinishedOn } from './run-fields.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const shown = offerWindow.pick(
  ...(['windowName', 'cron', 'durationMinutes', 'timeZone', 'cutoffMinutes', 'except'] as const),
  ...(['createdAt', 'updatedAt'] as const),
)
const WINDOW = select({ ...shown, ...offerWindow.pick('changers', 'createdBy', 'updatedBy') })
const NAME = select(offerWindow.pick('windowName'))
// Not EXISTS, for which PostgreSQL would read the whole index.
const isUsedIn = (table: string, more: string) =>
  `(SELECT 1 FROM ${table} WHERE owner_no = offer_window.owner_no
    AND window_name = offer_window.window_name AND ${more} LIMIT 1) IS NOT NULL`
const judged = (by: (index: string) => string) => {
  const ofDevice = isUsedIn(`device_window ${by('device_window_current')}`, 'until_clock IS NULL')
  const ofGroup = isUsedIn(`device_group ${by('device_group_with_window')}`, 'window_name IS NOT NULL')
  return select({
    ...shown,
    ...offerWindow.pick('ownerNo', 'version', 'openZones'),
    isOfDevices: computed(`(${ofDevice} OR ${ofGroup})`, flag()),
  })
}
const JUDGED = judged(() => '')
const SELECT = `SELECT ${WINDOW} FROM offer_window WHERE owner_no = :ownerNo` as const
const FIND = `${SELECT} AND window_name = :windowName` as const
const LIST = `${SELECT} AND window_name > :after ORDER BY window_name LIMIT :limit` as const
const LIST_ALL = inBoth(
  ({ by }) => `SELECT ${judged(by)} FROM offer_window ORDER BY owner_no, window_name` as const,
)
const COUNT = 'SELECT count(*) AS count FROM offer_window WHERE owner_no = :ownerNo'
const PUT = `
  INSERT INTO offer_window (owner_no, window_name, cron, duration_minutes, time_zone, cutoff_minutes, except_dates,
    version, open_zones, changed_by, created_at, updated_at, created_by, updated_by)
  VALUES (:ownerNo, :windowName, :cron, :durationMinutes, :timeZone, :cutoffMinutes, :exceptText,
    1, :openZones, :changers, :at, :at, :principal, :principal)
  ON CONFLICT (owner_no, window_name) DO UPDATE SET cron = excluded.cron,
    duration_minutes = excluded.duration_minutes, time_zone = excluded.time_zone,
    cutoff_minutes = excluded.cutoff_minutes, except_dates = excluded.except_dates,
    version = offer_window.version + 1, open_zones = excluded.open_zones,
    changed_by = excluded.changed_by, updated_at = excluded.updated_at, updated_by = excluded.updated_by`
// A run that is being written may have locked the window.
const LOCK = inBoth(({ lock }) => `${FIND} ${lock}`)
const EXISTS = inBoth(
  ({ lock }) => `SELECT ${NAME} FROM offer_window
  WHERE owner_no = :ownerNo AND window_name = :windowName ${lock}`,
)
const DELETE = 'DELETE FROM offer_window WHERE owner_no = :ownerNo AND window_name = :windowName'
// Of two nodes with the same change, only one writes it.
const SET_OPEN = `
  UPDATE offer_window SET open_zones = :openZones
  WHERE owner_no = :ownerNo AND window_name = :windowName AND version = :version AND open_zones <> :openZones`

/** Far more than the number of time zones. */
const mostZones = 2000
const ZONE = rows({ zone: text() })
const nextZone = (after: string) =>
  `
  SELECT zone FROM device_attribute WHERE owner_no = :ownerNo AND zone > ${after} ORDER BY zone LIMIT 1` as const
// Searches from each zone to the next, because there are few zones, however many devices.
const ZONES = `
  WITH RECURSIVE found (zone) AS (
    SELECT * FROM (${nextZone("''")}) AS first
    UNION ALL
    SELECT (${nextZone('found.zone')}) FROM found WHERE found.zone IS NOT NULL)
  SELECT zone FROM found WHERE zone IS NOT NULL LIMIT ${mostZones}` as const

const zonesAtOnce = 1000
const WITHOUT_ZONE = select({
  ...deviceAttribute.pick('deviceNo', 'isReported', 'isShadowed', 'ownerNo'),
  ...device.pick('deviceId'),
  // May be any JSON value.
  value: computed('device_attribute.value', json<unknown>()),
})
const LIST_WITHOUT_ZONE = inBoth(
  ({ by, join }) => `
  SELECT ${WITHOUT_ZONE} FROM device_attribute ${by('device_attribute_without_zone')}
    ${join} device ON device.device_no = device_attribute.device_no
  WHERE name = 'timeZone' AND zone IS NULL ORDER BY device_attribute.device_no LIMIT ${zonesAtOnce}`,
)
const filled = deviceAttribute.pick('deviceNo', 'isReported', 'zone')
const FILL = inBoth(
  ({ is, field, records }) => `
  UPDATE device_attribute SET zone = ${field('zone')} ${is === 'sqlite' ? '' : `FROM ${records('rows', filled)}`}
  WHERE device_attribute.device_no = ${field('deviceNo')} AND device_attribute.name = 'timeZone'
    AND device_attribute.reported = ${field('isReported')}`,
)

const JOB_USER = select(job.pick('jobName'))
const USED_BY_JOBS = inBoth(
  ({ is }) => `
  SELECT ${JOB_USER} FROM job JOIN job_version ON job_version.version_no = job.version_no
  WHERE owner_no = :ownerNo AND deleted_at IS NULL
    AND ${is === 'sqlite' ? 'content' : 'CAST(content AS json)'} ->> 'window' = :windowName
  ORDER BY job_name LIMIT ${namedUsers + 1}`,
)
const SCHEDULE_USER = select(schedule.pick('scheduleName'))
const USED_BY_SCHEDULES = inBoth(
  ({ is }) => `
  SELECT ${SCHEDULE_USER} FROM schedule
  WHERE owner_no = :ownerNo
    AND ${is === 'sqlite' ? 'content' : 'CAST(content AS json)'} ->> 'window' = :windowName
  ORDER BY schedule_name LIMIT ${namedUsers + 1}`,
)
const RUN = select({
  ...run.pick('runId'),
  first: run.fields.firstExecutionId,
  last: computed('run.first_execution_id + run.total - 1', number()),
})
const UNDER_WINDOW = inBoth(
  ({ is, by, join }) => `
  SELECT ${RUN} FROM run ${by('run_unfinished')} ${join} run_request ON run_request.run_id = run.run_id
  WHERE run.owner_no = :ownerNo AND ${unfinishedOn[is]} AND window_name = :windowName
  ORDER BY run.run_id LIMIT :limit`,
)
const mostRuns = 100_000

const WAITING = select(device.pick('ownerNo', 'deviceId'))
const inZone = (isShadowed: string) => `coalesce((
  SELECT zone FROM device_attribute
  WHERE device_attribute.device_no = execution.device_no AND name = 'timeZone' AND ${isShadowed}), 'UTC')`
const waitingIn = <Zones extends string>(inZones: (spelling: Spelling) => Zones) =>
  inBoth(
    (spelling) =>
      `
  SELECT ${WAITING} FROM execution ${spelling.join} device ON device.device_no = execution.device_no
  WHERE ${execution.fields.jobExecutionId.sql} BETWEEN :first AND :last AND state = 'PENDING'
    ${inZones(spelling)}
  ORDER BY execution_id` as const,
  )
const WAITING_ANYWHERE = waitingIn(() => '')
const WAITING_IN_ZONES = waitingIn(({ is, isIn }) => {
  const zone = inZone(is === 'sqlite' ? 'shadowed = 0' : 'NOT shadowed')
  return `AND ${isIn(zone, 'zones', 'text')}` as const
})

export const windowReads: ReadSteps<
  'getWindow' | 'listWindows' | 'listAllWindows' | 'listZones' | 'listWindowRuns' | 'listWaitingDevices'
> = {
  getWindow: (queries, window) => queries.get(WINDOW, FIND, partOf(FIND, window)),
  async listWindows(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(WINDOW, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ windowName }) => windowName)
  },
  listAllWindows: (queries) => queries.all(JUDGED, LIST_ALL),
  async listZones(queries, { ownerNo }) {
    return (await queries.all(ZONE, ZONES, { ownerNo })).map(({ zone }) => zone)
  },
  listWindowRuns: (queries, window) => listRuns(queries, window, mostRuns),
  listWaitingDevices: (queries, { zones, ...range }) =>
    zones === undefined
      ? queries.all(WAITING, WAITING_ANYWHERE, partOf(WAITING_ANYWHERE, range))
      : queries.all(WAITING, WAITING_IN_ZONES, partOf(WAITING_IN_ZONES, { ...range, zones })),
}

export const windowWrites: WriteSteps<'setOpenZones' | 'fillZones'> = {
  async setOpenZones(queries, changes) {
    await Promise.all(
      changes.map(async ({ at, clock, ...change }) => {
        if ((await queries.run(SET_OPEN, partOf(SET_OPEN, change))) === 0) return
        await noteOffers(queries, { ...change, clock })
        const { before } = await purgeOffers(queries, { ...change, at, clock })
        await purgeDeviceWindows(queries, change.ownerNo, before)
      }),
    )
  },
  async fillZones(queries) {
    const found = await queries.all(WITHOUT_ZONE, LIST_WITHOUT_ZONE)
    const known = found.map((each) => ({ ...each, zone: zoneOf(each.value) }))
    queries.sendRows(
      FILL,
      known.map(({ deviceNo, isReported, zone }) => ({ deviceNo, isReported, zone })),
    )
    const valid = known.filter(({ isShadowed }) => !isShadowed)
    if (valid.length > 0) queries.zonesChanged(valid)
    return found.length === zonesAtOnce
  },
}

function ruleOf({ cron, durationMinutes, timeZone, cutoffMinutes, except }: WindowRule): WindowRule {
  return { cron, durationMinutes, timeZone, cutoffMinutes, except }
}

/** On PostgreSQL serialized per owner, also with the creation of runs. */
export const windowNameWrites: WriteSteps<'putWindow' | 'deleteWindow'> = {
  async putWindow(queries, { except, most, principal, lineage, expected, ...put }) {
    const { ownerNo, windowName, at } = put
    const before = await queries.get(WINDOW, FIND, { ownerNo, windowName })
    if (!isExpected(expected, before?.windowName)) return { kind: 'not-expected' }
    if (before === undefined) {
      const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
      if (count >= most) return { kind: 'too-many' }
    }
    const isSame = before !== undefined && isDeepStrictEqual(ruleOf(before), ruleOf({ ...put, except }))
    const changers = isSame ? before.changers : withChanger(before?.changers ?? null, { lineage, at })
    const texts = { exceptText: JSON.stringify(except), changers: changers && JSON.stringify(changers) }
    await queries.run(PUT, partOf(PUT, { ...put, principal, ...texts }))
    await noteOffers(queries, put)
    const value = await queries.one(WINDOW, FIND, { ownerNo, windowName })
    if (!isSame) {
      const data = { windowName, isNew: before === undefined, principal }
      queries.resourceChanged('window.changed', {
        ownerNo,
        at,
        data,
        before: before && withoutMakers(before),
        after: withoutMakers(value),
      })
    }
    return { kind: 'put', created: before === undefined, value }
  },
  async deleteWindow(queries, { principal, at, ...window }) {
    const before = await queries.get(WINDOW, LOCK, window)
    if (before === undefined) return { kind: 'unknown-window' }
    const jobs = await queries.all(JOB_USER, USED_BY_JOBS, window)
    const schedules = await queries.all(SCHEDULE_USER, USED_BY_SCHEDULES, window)
    const runs = await listRuns(queries, window, namedUsers + 1)
    const users = await findWindowUsers(queries, window, namedUsers + 1)
    const { devices, groupNames } = users
    if (jobs.length + schedules.length + runs.length + devices + groupNames.length > 0) {
      const jobNames = jobs.map(({ jobName }) => jobName)
      const scheduleNames = schedules.map(({ scheduleName }) => scheduleName)
      const runIds = runs.map(({ runId }) => runId)
      return { kind: 'in-use', jobNames, scheduleNames, runIds, ...users }
    }
    await queries.run(DELETE, window)
    await queries.run(DELETE_OFFERS, window)
    await deleteDeviceWindows(queries, window)
    const { ownerNo, windowName } = window
    queries.resourceChanged('window.deleted', {
      ownerNo,
      at,
      data: { windowName, principal },
      before: withoutMakers(before),
    })
    return { kind: 'deleted' }
  },
}

/** Locks the window until the end of the transaction, so that it cannot be deleted while it is being referenced. */
export async function hasWindow(queries: Queries, ownerNo: number, windowName?: string): Promise<boolean> {
  if (windowName === undefined) return true
  return (await queries.get(NAME, EXISTS, { ownerNo, windowName })) !== undefined
}

function listRuns(queries: Queries, window: { ownerNo: number; windowName: string }, limit: number) {
  return queries.all(RUN, UNDER_WINDOW, partOf(UNDER_WINDOW, { ...window, limit }))
}
