// The fleet at a glance: how much waits and runs, how it went over the last day, and what each device did last.

import Type, { type Static } from 'typebox'
import { ExecState } from './execution.ts'
import { Page, PageQuery } from './page.ts'
import { Instant, orNull } from './text.ts'

const count = (description: string) => Type.Integer({ description })
const level = (description: string) => Type.Array(Type.Integer(), { description })

export const FleetHistory = Type.Object(
  {
    from: Type.String({ ...Instant, description: 'When the first step begins' }),
    stepSeconds: Type.Integer({ description: 'How long a step is; the last one is under way' }),
    waiting: level('How many were PENDING at the end of each step'),
    running: level('How many were IN_PROGRESS or CANCELING at the end of each step'),
    succeeded: level('How many ended so in each step'),
    failed: level('How many ended FAILED, TIMED_OUT, REJECTED or EXPIRED in each step'),
  },
  {
    title: 'FleetHistory',
    description: 'A day at most; less where events are kept for less, or where there are very many',
  },
)
export type FleetHistory = Static<typeof FleetHistory>

export const Fleet = Type.Object(
  {
    devices: Type.Object({ total: Type.Integer(), online: Type.Integer() }),
    waiting: count('Executions that are PENDING'),
    running: count('Executions that are IN_PROGRESS or CANCELING'),
    lastHour: Type.Object(
      { succeeded: Type.Integer(), failed: Type.Integer() },
      { description: 'How many executions ended so in the last hour, to five minutes' },
    ),
    oldestWaiting: orNull(
      Type.Object({
        jobExecutionId: Type.Integer(),
        runId: Type.Integer(),
        jobName: Type.String(),
        deviceId: Type.String(),
        launchedAt: Type.String({ description: 'UTC in whole seconds, without offset' }),
      }),
      { description: 'The execution that was launched first of those that are PENDING' },
    ),
    history: FleetHistory,
  },
  { title: 'Fleet' },
)
export type Fleet = Static<typeof Fleet>

/** Small, so that a whole fleet can be drawn from it. */
export const FleetDevice = Type.Object(
  {
    deviceId: Type.String(),
    online: Type.Boolean(),
    lastExecution: orNull(
      Type.Object({ jobExecutionId: Type.Integer(), execState: Type.Unsafe<ExecState>(ExecState) }),
      { description: 'The one that was launched last' },
    ),
  },
  { title: 'FleetDevice' },
)
export type FleetDevice = Static<typeof FleetDevice>

export const FleetDeviceQuery = Type.Object(
  {
    ...PageQuery.properties,
    limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 }),
  },
  { additionalProperties: false },
)
export type FleetDeviceQuery = Static<typeof FleetDeviceQuery>

export const FleetDevicePage = Page(FleetDevice)
