// Devices that a selector matches. If one of its terms matches few devices, only those are checked; otherwise all devices are
// checked in the order of their ids, a limited number per page.

import { attributeNamesOf, attributeOf, type Selector } from '@jobcast/contract/selector'
import type { Sliced } from '../../domain/common/ports/slices.ts'
import type { DeviceCount, SelectedDevice } from '../../domain/device/ports/devices.ts'
import { inBoth, type Queries, type Sql, type Values } from '../queries.ts'
import { number, rows, select, text } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import { deviceFields, toDevice } from './devices.ts'
import { unfinishedOn } from './run-fields.ts'
import { COUNT, conjunctsOf, countBySets } from './selected-sets.ts'
import { type SelectorCompiler, sourcesOf, withSelector } from './selector-sql.ts'
import type { Input, ReadSteps } from './step.ts'

/** A term is selective if it matches no more devices than this. */
const mostOfSelective = 5000
/** Maximum number of devices that are checked for a page. */
const window = 10_000
const sampleSize = 20

const MATCHES = rows({ matches: number() })
const BOUNDARY = rows({ deviceId: text() })
const FIND_BOUNDARY = `
  SELECT device_id AS "deviceId" FROM device WHERE owner_no = :ownerNo AND device_id > :after
  ORDER BY device_id LIMIT 1 OFFSET ${window - 1}` as const
const SELECTED = select(device.pick('deviceNo', 'deviceId', 'deviceName'))
const DEVICE = select(deviceFields)
const isBusy = inBoth(({ is }) => {
  const active =
    is === 'sqlite' ? "state IN ('IN_PROGRESS', 'CANCELING')" : "state > 'PENDING' AND state <= 'CANCELING'"
  return `EXISTS (SELECT 1 FROM execution WHERE execution.device_no = device.device_no AND ${active})`
}) as Record<'sqlite' | 'postgres', string>
/** Rows of tags have the id of the device, which costs another lookup. */
const tagCost = 4
// Usually there are few unfinished runs, and often no execution is in progress: then no device has to be checked.
const ANY_ACTIVE = inBoth(
  ({ is }) => `
  SELECT count(*) AS matches FROM (
    SELECT 1 FROM run WHERE owner_no = :ownerNo AND ${unfinishedOn[is]} AND in_progress + canceling > 0 LIMIT 1) AS found`,
)
const REGISTERED = 'SELECT count(*) AS matches FROM device WHERE owner_no = :ownerNo'
const known = (side: 'own' | 'reported' | undefined) =>
  inBoth(({ is }) => {
    const any = sourcesOf[is](side).map(
      (rows) => `SELECT 1 FROM (
      SELECT 1 FROM device_attribute WHERE owner_no = :ownerNo AND name = :name AND ${rows} LIMIT 1) AS one`,
    )
    return `SELECT count(*) AS matches FROM (${any.join(' UNION ALL ')}) AS found` as string
  })
const KNOWN = { any: known(undefined), own: known('own'), reported: known('reported') }

type Selection = { ownerNo: number; where: Selector }
type Page = Selection & { online?: boolean | undefined; after: string; limit: number }

/** Several statements that see one state of the database. */
export const selectionSnapshots: ReadSteps<'selectDevices' | 'countDevices' | 'findUnknownNames'> = {
  async selectDevices(queries, { ownerNo, where, slice: { after = '', limit } }) {
    const page = { ownerNo, where, after, limit }
    return readPage(queries, page, (sql, values) => queries.all(SELECTED, sql, values), `${SELECTED}`)
  },
  countDevices: countSelected,
  async findUnknownNames(queries, { ownerNo, names }) {
    const unknown: string[] = []
    for (const each of names) {
      const { name, side = 'any' } = attributeOf(each)
      const { matches } = await queries.one(MATCHES, KNOWN[side], { ownerNo, name })
      if (matches === 0) unknown.push(each)
    }
    return unknown
  },
}

type SelectedList = Input<'listDevices'> & { filter: { where: Selector } }

export function hasSelector(list: Input<'listDevices'>): list is SelectedList {
  return list.filter.where !== undefined
}

/** For the list of devices. */
export function listSelected(queries: Queries, list: SelectedList) {
  const { ownerNo, filter, slice } = list
  const tagged: Selector[] =
    filter.tag === undefined ? [] : [{ kind: 'compare', name: 'tag', op: '=', value: filter.tag }]
  const online: Selector = { kind: 'online' }
  const present: Selector[] =
    filter.online === undefined ? [] : [filter.online ? online : { kind: 'not', of: online }]
  const where: Selector = { kind: 'and', of: [...tagged, ...present, filter.where] }
  const page = { ownerNo, where, after: slice.after ?? '', limit: slice.limit }
  return readPage(
    queries,
    page,
    async (sql, values) => (await queries.all(DEVICE, sql, values)).map(toDevice),
    `${DEVICE}`,
  )
}

async function readPage<Item extends { deviceId: string }>(
  queries: Queries,
  page: Page,
  read: (sql: Sql, values: Values) => Promise<Item[]>,
  columns: string,
): Promise<Sliced<Item, string>> {
  const { ownerNo, where, after, limit } = page
  const source = await findSource(queries, page, mostOfSelective)
  const boundary = source ? undefined : await queries.get(BOUNDARY, FIND_BOUNDARY, { ownerNo, after })
  const { sql, values } = withSelector(
    (compiler) => `
    SELECT ${columns} FROM (
      SELECT device.device_no AS chosen_no FROM ${fromOf(compiler, source)}
      WHERE device.owner_no = :ownerNo AND device.device_id > :after AND device.deleted_at IS NULL
        ${boundary ? 'AND device.device_id <= :until' : ''} AND ${compiler.condition(without(where, source))}
      ORDER BY device.device_id LIMIT :limit) AS page
      ${joinOf(compiler)} device ON device.device_no = page.chosen_no ORDER BY device.device_id`,
    { ownerNo, after, until: boundary?.deviceId, limit: limit + 1 },
  )
  const found = await read(sql, values)
  if (found.length > limit) return { items: found.slice(0, limit), next: found[limit - 1]?.deviceId }
  return { items: found, next: boundary?.deviceId }
}

async function countSelected(queries: Queries, { ownerNo, where }: Selection): Promise<DeviceCount> {
  const selection = { ownerNo, where }
  const selective = await findSource(queries, selection, mostOfSelective)
  const { matches } = await queries.one(MATCHES, ANY_ACTIVE, { ownerNo })
  const count = { ...selection, isAnyBusy: matches > 0 }
  const { total, online, busy } =
    (selective ? undefined : await countBySets(queries, count)) ??
    (await countEach(queries, count, selective ?? (await findLarge(queries, selection))))
  const slice = { limit: sampleSize, after: undefined }
  const { items } =
    total > 0 ? await selectionSnapshots.selectDevices(queries, { ownerNo, where, slice }) : { items: [] }
  const names = attributeNamesOf(where)
  const unknownNames = await selectionSnapshots.findUnknownNames(queries, { ownerNo, names })
  const sample = items.map(({ deviceId }: SelectedDevice) => deviceId)
  return { total, online: online ?? 0, busy: busy ?? 0, unknownNames, sample }
}

function countEach(
  queries: Queries,
  { ownerNo, where, isAnyBusy }: Selection & { isAnyBusy: boolean },
  source: Selector | undefined,
) {
  const { sql, values } = withSelector(
    (compiler) => `
    SELECT count(*) AS total, count(*) FILTER (WHERE ${compiler.condition({ kind: 'online' })}) AS online,
      ${isAnyBusy ? `count(*) FILTER (WHERE ${isBusy[compiler.is]})` : '0'} AS busy
    FROM ${fromOf(compiler, source)}
    WHERE device.owner_no = :ownerNo AND device.deleted_at IS NULL
      AND ${compiler.condition(without(where, source))}`,
    { ownerNo },
  )
  return queries.one(COUNT, sql, values)
}

/** The most selective term, if using it is cheaper than checking all devices. */
async function findLarge(queries: Queries, selection: Selection): Promise<Selector | undefined> {
  return findSource(queries, selection, await countRegistered(queries, selection.ownerNo))
}

/** The most selective term, if it matches few devices. Any term of a conjunction can lead, because all must match. */
async function findSource(
  queries: Queries,
  { ownerNo, where }: Selection,
  most: number,
): Promise<Selector | undefined> {
  let best: { term: Selector; cost: number } | undefined
  for (const term of conjunctsOf(where)) {
    const limit = Math.min(most, best?.cost ?? most) + 1
    const { sql, values } = withSelector(
      (compiler) => {
        const source = compiler.sourceSize(term)
        return source
          ? `SELECT count(*) AS matches FROM (SELECT 1 FROM (${source}) AS each LIMIT :limit) AS few`
          : ''
      },
      { ownerNo, limit },
    )
    if (typeof sql === 'string' || sql.sqlite === '') continue
    const { matches } = await queries.one(MATCHES, sql, values)
    const cost = isTag(term) ? tagCost * matches : matches
    const isFew = matches < limit && (cost <= most || matches <= mostOfSelective)
    if (isFew && cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { term, cost }
  }
  return best?.term
}

/** Counting must visit all matching devices, but visiting all devices in order is cheaper per device. */
async function countRegistered(queries: Queries, ownerNo: number): Promise<number> {
  const { matches } = await queries.one(MATCHES, REGISTERED, { ownerNo })
  return Math.ceil(matches * 0.7)
}

/** Removes the leading term, which does not need to be checked again. */
function without(where: Selector, found: Selector | undefined): Selector {
  if (found === undefined) return where
  return { kind: 'and', of: [{ kind: 'all' }, ...conjunctsOf(where).filter((term) => term !== found)] }
}

function isTag(term: Selector): boolean {
  return 'name' in term && term.name === 'tag'
}

function fromOf(compiler: SelectorCompiler, source: Selector | undefined): string {
  const leading = source && compiler.source(source)
  if (!leading) return 'device'
  // A device may have several of the tags; all other sources return it once.
  const distinct = isTag(source) ? 'DISTINCT' : ''
  if (compiler.is === 'postgres' && isOneSide(source)) {
    // The index has the rows of both sides. As part of the join, without statistics, it was read again for each device:
    // 23 s for 5,600 devices.
    return `(WITH each AS MATERIALIZED (${leading}) SELECT device_no AS lead_no FROM each) AS lead
      ${joinOf(compiler)} device ON device.device_no = lead.lead_no`
  }
  return `(SELECT ${distinct} device_no AS lead_no FROM (${leading}) AS each) AS lead
      ${joinOf(compiler)} device ON device.device_no = lead.lead_no`
}

function isOneSide(source: Selector): boolean {
  return (source.kind === 'in' || source.kind === 'compare') && attributeOf(source.name).side !== undefined
}

function joinOf({ is }: SelectorCompiler): string {
  return is === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
}
