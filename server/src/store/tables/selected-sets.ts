// Counts devices by common attributes on PostgreSQL: the devices of each term are a set that is read by its index, and the sets
// are combined by hash joins. Looking up the other terms for each device takes five times as long (npm run bench:selectors).
// SQLite has no hash joins and looks them up.

import { isDeviceField, type Selector, type SelectorTerm } from '@jobcast/contract/selector'
import { inBoth, type Queries } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { IN_STATE_INDEX } from './execution-list.ts'
import { type SelectorCompiler, withSelector } from './selector-sql.ts'

export const COUNT = rows({ total: number(), online: orNull(number()), busy: orNull(number()) })
/** The maximum number of sets; further terms are checked for each device. */
const mostSets = 4

// Applies until the end of the transaction, or until it is reset. Without statistics the planner expects few rows, and would
// read one set again for each device of another.
const setNestedLoops = (to: 'on' | 'off') =>
  inBoth(({ is }) => {
    const set = `count(set_config('enable_nestloop', '${to}', true))`
    return `SELECT ${is === 'sqlite' ? '0' : set} AS "isSet"`
  })
const IS_SET = rows({ isSet: number() })
const [HASH_JOINS, NESTED_LOOPS] = [setNestedLoops('off'), setNestedLoops('on')]

type Selection = { ownerNo: number; where: Selector; isAnyBusy: boolean }
type AttributeTerm = Extract<SelectorTerm, { name: string }>

/** Undefined if the selector is not suitable. */
export async function countBySets(queries: Queries, { ownerNo, where, isAnyBusy }: Selection) {
  const terms = conjunctsOf(where).filter(isAttributeTerm).slice(0, mostSets)
  if (terms.length === 0 || (await queries.one(IS_SET, HASH_JOINS)).isSet === 0) return undefined
  const others = conjunctsOf(where).filter((term) => !terms.some((set) => set === term))
  const { sql, values } = withSelector(
    (compiler) => {
      const sets = terms.map((term) => compiler.attributeSource(term))
      const { join, isOnline, condition } = others.length === 0 ? withoutRows : withRows(compiler, others)
      return `
    SELECT count(*) AS total, count(*) FILTER (WHERE ${isOnline}) AS online,
      ${isAnyBusy ? 'count(active.device_no)' : '0'} AS busy
    FROM ${sets.map(joinSet).join(' ')} ${join} ${isAnyBusy ? ACTIVE : ''} WHERE ${condition}`
    },
    { ownerNo },
  )
  const counted = await queries.one(COUNT, sql, values)
  await queries.one(IS_SET, NESTED_LOOPS)
  return counted
}

function joinSet(source: string, index: number): string {
  return index === 0
    ? `(${source}) AS first_set`
    : `JOIN (${source}) AS set${index} ON set${index}.device_no = first_set.device_no`
}

/** Only registered devices have attributes, so only their presence must be read. */
const withoutRows = {
  join: `LEFT JOIN (SELECT device_no FROM device WHERE owner_no = :ownerNo AND online) AS present
      ON present.device_no = first_set.device_no`,
  isOnline: 'present.device_no IS NOT NULL',
  condition: 'true',
}

function withRows(compiler: SelectorCompiler, others: Selector[]): typeof withoutRows {
  return {
    join: 'JOIN device ON device.device_no = first_set.device_no',
    isOnline: 'device.online',
    condition: `device.owner_no = :ownerNo AND ${compiler.condition({ kind: 'and', of: others })}`,
  }
}

const ACTIVE = `LEFT JOIN (
      SELECT DISTINCT device_no FROM execution
      WHERE owner_no = :ownerNo AND ${IN_STATE_INDEX.postgres} AND state IN ('IN_PROGRESS', 'CANCELING')) AS active
      ON active.device_no = first_set.device_no`

function isAttributeTerm(term: Selector): term is AttributeTerm {
  return 'name' in term && !isDeviceField(term.name)
}

/** The terms of a conjunction, all of which must match. */
export function conjunctsOf(selector: Selector): Selector[] {
  return selector.kind === 'and' ? selector.of.flatMap(conjunctsOf) : [selector]
}
