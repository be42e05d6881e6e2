// The steady clock on disk. On PostgreSQL nodes write it with their heartbeats (postgres/nodes.ts).

import { select } from '../schema/column.ts'
import { steadyClock } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const CLOCK = select(steadyClock.fields)
const GET = `SELECT ${CLOCK} FROM steady_clock` as const
const SET = 'UPDATE steady_clock SET clock = :clock, at = :at'

export const steadyClockReads: ReadSteps<'getSteadyClock'> = {
  getSteadyClock: (queries) => queries.one(CLOCK, GET),
}

export const steadyClockWrites: WriteSteps<'recordSteadyClock'> = {
  async recordSteadyClock(queries, { clock, at }) {
    await queries.run(SET, { clock, at })
  },
}
