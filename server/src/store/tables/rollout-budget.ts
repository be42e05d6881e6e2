// The number of executions of a run in progress for each value of an attribute, and the values of the next devices.

import { attributeOf } from '@jobcast/contract/selector'
import { isUnfinished } from '../live-executions.ts'
import { inBoth, type Spelling } from '../queries.ts'
import { computed, number, orNull, rows, select, text } from '../schema/column.ts'
import { execution } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

// Grouped by the sort key, which is the same for values that compare as equal.
const VALUE = rows({ value: orNull(text()) })
const COUNT = rows({ value: text(), count: number() })
const FIRST = select({ id: computed('execution.execution_id', execution.fields.jobExecutionId) })

const isMeant = {
  none: { sqlite: 'shadowed = 0', postgres: 'NOT shadowed' },
  own: { sqlite: 'reported = 0', postgres: 'NOT reported' },
  reported: { sqlite: 'reported = 1', postgres: 'reported' },
}
type Side = keyof typeof isMeant

const ofDevice = ({ is }: Spelling, side: Side) =>
  `device_attribute ON device_attribute.device_no = execution.device_no
      AND device_attribute.name = :name AND ${isMeant[side][is]}` as const
const inPart = 'execution_id BETWEEN :first AND :last'

const nextOf = (side: Side) =>
  inBoth(
    (spelling) => `
  SELECT CASE WHEN ${isUnfinished[spelling.is]} THEN sort_key END AS value
  FROM execution LEFT JOIN ${ofDevice(spelling, side)} WHERE ${inPart} ORDER BY execution_id`,
  )
const countsOf = (side: Side) =>
  inBoth(
    (spelling) => `
  SELECT sort_key AS value, count(*) AS count FROM execution ${spelling.join} ${ofDevice(spelling, side)}
  WHERE ${inPart} AND ${isUnfinished[spelling.is]} AND ${spelling.isIn('sort_key', 'values', 'text')}
  GROUP BY sort_key`,
  )
const NEXT = { none: nextOf('none'), own: nextOf('own'), reported: nextOf('reported') }
const COUNTS = { none: countsOf('none'), own: countsOf('own'), reported: countsOf('reported') }
const FIRST_UNFINISHED = inBoth(
  ({ is }) =>
    `SELECT ${FIRST} FROM execution WHERE ${inPart} AND ${isUnfinished[is]} ORDER BY execution_id LIMIT 1` as const,
)

export const budgetReads: ReadSteps<'readBudget'> = {
  async readBudget(queries, { by, first, from, released, to }) {
    const { name, side = 'none' } = attributeOf(by)
    const part = { first: first + from, last: first + released - 1 }
    const firstUnfinished = await queries.get(FIRST, FIRST_UNFINISHED, part)
    const found = await queries.all(VALUE, NEXT[side], {
      name,
      first: first + released,
      last: first + to - 1,
    })
    const next = found.map(({ value }) => value)
    const values = [...new Set(next.flatMap((value) => value ?? []))]
    const lowest = firstUnfinished === undefined ? released : firstUnfinished.id - first
    const unfinished = await queries.all(COUNT, COUNTS[side], {
      ...part,
      first: first + lowest,
      name,
      values,
    })
    return { next, unfinished, from: lowest }
  },
}
