// A window defines when work may be offered to devices: it opens at each time of a pattern, for some minutes.

import Type, { type Static } from 'typebox'
import { exceptDates, exceptProblem } from '../except-dates.ts'
import { changeFields, GivenInstant, Instant, mustBe, Name, NewJobName, orNull } from '../text.ts'
import type { Resource } from './resource.ts'

export const maxWindowMinutes = 1440
/** Used as a zone: the time zone of each device. */
export const deviceZone = 'device'

/** Five fields, which are checked when the pattern is parsed. */
export const CronText = Type.String({
  minLength: 1,
  maxLength: 256,
  [mustBe]: 'a pattern of five fields: minute, hour, day of month, month, day of week',
  description: 'Minute, hour, day of month, month, day of week',
  examples: ['0 2 * * *'],
})

export const WindowContent = Type.Object(
  {
    cron: Type.Unsafe<string>({
      ...CronText,
      description: 'When it opens: minute, hour, day of month, month, day of week',
    }),
    durationMinutes: Type.Integer({
      minimum: 1,
      maximum: maxWindowMinutes,
      description: 'How long it stays open, in minutes of elapsed time; at most a day',
    }),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        examples: ['Europe/Berlin'],
        description:
          'IANA time zone of the pattern and the exceptions, or `device` (default) for the time zone of each device',
      }),
    ),
    cutoffMinutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxWindowMinutes - 1,
        description: 'Nothing new is offered in this many minutes before it closes; default 0',
      }),
    ),
    except: Type.Optional(exceptDates('Local dates on which it is closed; a range includes both ends')),
  },
  {
    title: 'WindowContent',
    additionalProperties: false,
    examples: [
      {
        cron: '0 2 * * *',
        durationMinutes: 180,
        timeZone: deviceZone,
        cutoffMinutes: 30,
        except: ['2026-12-24/2027-01-02'],
      },
    ],
  },
)
export type WindowContent = Static<typeof WindowContent>

export const Window = Type.Object(
  {
    windowName: Type.String(),
    cron: Type.String(),
    durationMinutes: Type.Integer(),
    timeZone: Type.String({ description: 'An IANA time zone, or `device`' }),
    cutoffMinutes: Type.Integer(),
    except: Type.Array(Type.String()),
    createdAt: Instant,
    updatedAt: Instant,
    ...changeFields,
  },
  { title: 'Window' },
)
export type Window = Static<typeof Window>

export const WindowParams = Type.Object({ windowName: NewJobName })

/** The name in a job, a run, a schedule, a device or a group. */
export const WindowName = Type.String({
  ...Name,
  description: 'Name of the window in which its executions are offered to devices',
})

const localTime = Type.String({ examples: ['2026-12-01T02:00+01:00'] })

export const WindowOpening = Type.Object(
  {
    at: Type.Unsafe<string>({ ...Instant, description: 'When it opens, or has opened' }),
    local: Type.Unsafe<string>({ ...localTime, description: 'The same instant in the zone' }),
    offersUntil: Type.Unsafe<string>({
      ...Instant,
      description: 'Nothing new is offered after this: `until` minus the cutoff',
    }),
    until: Type.Unsafe<string>({ ...Instant, description: 'When it closes' }),
    localUntil: Type.Unsafe<string>({ ...localTime, description: 'The same instant in the zone' }),
  },
  { title: 'WindowOpening' },
)
export type WindowOpening = Static<typeof WindowOpening>

export const WindowTimes = Type.Object(
  {
    timeZone: Type.String({ description: 'The zone for which these are' }),
    items: Type.Array(WindowOpening, { description: 'The first one may already be open' }),
  },
  { title: 'WindowTimes' },
)
export type WindowTimes = Static<typeof WindowTimes>

export const WindowTimesQuery = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'How many; default 10' }),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'For a window in the time zone of each device: the time zone to show; default UTC',
      }),
    ),
    after: Type.Optional(
      Type.Unsafe<string>({
        ...GivenInstant,
        description: 'Only openings that close after this; default: now',
      }),
    ),
  },
  { additionalProperties: false },
)
export type WindowTimesQuery = Static<typeof WindowTimesQuery>

/** Checks rules that the schema cannot express; undefined if valid. Patterns and zones are checked when they are parsed. */
export function windowProblem(content: WindowContent): { field: string; detail: string } | undefined {
  const { durationMinutes, cutoffMinutes = 0, except = [] } = content
  if (cutoffMinutes >= durationMinutes) {
    return { field: 'cutoffMinutes', detail: 'cutoffMinutes must be less than durationMinutes.' }
  }
  return exceptProblem(except)
}

/** The field of a run. */
export const shownWindow = orNull(Type.String(), {
  description: 'The window in which its executions are offered; null: they are offered at any time',
})

export const windows = {
  name: 'windows',
  noun: 'window',
  about: 'Windows: when work may be offered to devices',
  key: 'windowName',
  params: WindowParams,
  content: WindowContent,
  view: Window,
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 1000,
  notFound: 'J-311',
  inUse: 'J-315',
  refusals: { put: ['J-507'] },
  events: { created: 'window.changed', updated: 'window.changed', deleted: 'window.deleted' },
  texts: {
    put:
      'Outside a window nothing is offered to devices; running executions continue. A change takes effect immediately, ' +
      'executions that wait.',
    delete: 'Rejected (J-315) while a job, a schedule, a device, a group or an unfinished run uses it.',
  },
} as const satisfies Resource
