// Fleet overview: pending and running executions, the last day's history, and each device's latest execution.

import Type, { type Static } from 'typebox'
import { execStates } from './exec-state.ts'
import { ExecState } from './execution.ts'
import { Page, PageQuery } from './page.ts'
import { attributeNamePattern } from './selector/selector.ts'
import { Instant, orNull } from './text.ts'

const count = (description: string) => Type.Integer({ description })
const level = (description: string) => Type.Array(Type.Integer(), { description })

export const FleetHistory = Type.Object(
  {
    from: Type.String({ ...Instant, description: 'Start of the first step' }),
    stepSeconds: Type.Integer({ description: 'Length of a step; the last step is still open' }),
    waiting: level('PENDING executions at the end of each step'),
    running: level('IN_PROGRESS or CANCELING executions at the end of each step'),
    succeeded: level('Executions that ended SUCCEEDED in each step'),
    failed: level('Executions that ended FAILED, TIMED_OUT, REJECTED or EXPIRED in each step'),
  },
  {
    title: 'FleetHistory',
    description: 'Up to one day; less if events are retained for less time, or if there are very many',
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
      { description: 'Executions that ended in the last hour, accurate to five minutes' },
    ),
    oldestWaiting: orNull(
      Type.Object({
        jobExecutionId: Type.Integer(),
        runId: Type.Integer(),
        jobName: Type.String(),
        deviceId: Type.String(),
        launchedAt: Type.String({ description: 'UTC in whole seconds, without offset' }),
      }),
      { description: 'The oldest PENDING execution' },
    ),
    history: FleetHistory,
  },
  { title: 'Fleet' },
)
export type Fleet = Static<typeof Fleet>

/** Compact, so that a whole fleet fits into one page. */
export const FleetDevice = Type.Object(
  {
    deviceId: Type.String(),
    online: Type.Boolean(),
    lastExecution: orNull(
      Type.Object({ jobExecutionId: Type.Integer(), execState: Type.Unsafe<ExecState>(ExecState) }),
      { description: 'The most recently launched execution' },
    ),
    lastEnded: orNull(
      Type.Object({ jobExecutionId: Type.Integer(), execState: Type.Unsafe<ExecState>(ExecState) }),
      { description: 'The most recently launched execution of those that have ended' },
    ),
    running: orNull(
      Type.Object({ jobExecutionId: Type.Integer(), execState: Type.Unsafe<ExecState>(ExecState) }),
      { description: 'What the device is working on: an execution that is IN_PROGRESS or CANCELING' },
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

const deviceStates = ['NONE', ...execStates] as const
const groupFields = {
  devices: Type.Integer(),
  online: Type.Integer(),
  states: Type.Unsafe<Partial<Record<(typeof deviceStates)[number], number>>>(
    Type.Object(Object.fromEntries(deviceStates.map((state) => [state, Type.Optional(Type.Integer())])), {
      description:
        'Devices by state: that of the execution a device works on, else of its most recently launched one; while ' +
        'that is PENDING and the one before has failed, that of the failed one; NONE if it never had one',
    }),
  ),
}

export const FleetGroups = Type.Object(
  {
    asOf: Type.String({ ...Instant, description: 'When the devices were counted' }),
    by: Type.String({ description: 'What they are counted by, as in the request' }),
    all: Type.Object(groupFields, { description: 'All devices' }),
    groups: Type.Array(
      Type.Object({
        value: orNull(Type.String(), {
          description:
            'A tag, the name of a group, or the value of the attribute; null: the devices without one, of groups those in ' +
            'none of the groups that are counted',
        }),
        tag: Type.Optional(orNull(Type.String(), { description: 'The value, if they are counted by tag' })),
        ...groupFields,
      }),
      { description: 'The largest first; a device with several tags or groups counts in each' },
    ),
    otherGroups: Type.Integer({ description: 'Smaller groups that were left out' }),
  },
  { title: 'FleetGroups' },
)
export type FleetGroups = Static<typeof FleetGroups>

export const FleetGroupQuery = Type.Object(
  {
    by: Type.String({
      default: 'tag',
      pattern: attributeNamePattern,
      description:
        'tag, group (the first 100 groups by name), or the name of an attribute, such as timeZone: the value of the owner, ' +
        'else the reported one',
      examples: ['site'],
    }),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200, description: 'Groups at most' }),
  },
  { additionalProperties: false },
)
export type FleetGroupQuery = Static<typeof FleetGroupQuery>

export const FleetDevicePage = Page(FleetDevice)
