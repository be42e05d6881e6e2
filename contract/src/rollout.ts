// How a run is released to its devices: in waves, at a rate, with gates between waves and rules that stop it.

import Type, { type Static, type TSchema } from 'typebox'
import { AwaitedApproval } from './approval.ts'
import { Counts } from './counts.ts'
import { execStates } from './exec-state.ts'
import { Failing } from './failing.ts'
import { percentPattern } from './percent.ts'
import { rolloutStates } from './rollout-state.ts'
import { attributeOf, isAttributeName } from './selector/selector.ts'
import { Instant, keyNameOf, mustBe, Name, orNull, Prose } from './text.ts'

const seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 31_536_000, description })
const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description && { description }) })

export const rolloutOrders = ['RANDOM', 'GIVEN'] as const
export const gateActions = ['CONTINUE', 'PAUSE', 'APPROVAL'] as const
export const gateMissing = ['REFUSE', 'WAIT'] as const
export const stopActions = ['PAUSE', 'ABORT'] as const
export const stopScopes = ['RUN', 'WAVE'] as const
/** End states that a stop rule may count. */
export const stopStates = ['FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED'] as const
export type StopState = (typeof stopStates)[number]

/** See `Where` in resources/groups.ts. */
const Selector = Type.String({ minLength: 1 })

const Percent = { minimum: 0.001, maximum: 100 }

const WaveSize = Type.Unsafe<number | string>({
  anyOf: [
    { type: 'integer', minimum: 1, maximum: 1_000_000 },
    { type: 'string', pattern: percentPattern },
  ],
  [mustBe]: 'a number of devices, or a percentage of all of them such as "0.1%", "10%" or "100%"',
})

const Wave = Type.Object(
  {
    size: WaveSize,
    where: Type.Optional(Type.Unsafe<string>({ ...Selector, description: 'Only devices that match' })),
  },
  { additionalProperties: false },
)

const Gate = Type.Object(
  {
    succeededPercent: Type.Optional(
      Type.Number({
        ...Percent,
        description:
          'How many of the devices of the wave must have SUCCEEDED, up to three decimals; default 100. A gate that can ' +
          'no longer open pauses the run',
      }),
    ),
    where: Type.Optional(
      Type.Unsafe<string>({
        ...Selector,
        description:
          'A device counts as succeeded only if what it reports matches this: a bare name means `reported.NAME`',
      }),
    ),
    onMissing: Type.Optional(
      oneOf(
        gateMissing,
        'What follows if no device reports an attribute that `where` names: REFUSE (default) the call, or WAIT until one does',
      ),
    ),
    soakSeconds: Type.Optional(seconds('How long the other conditions must hold')),
    action: Type.Optional(oneOf(gateActions, 'What happens when the gate opens; default CONTINUE')),
    giveUpAfterSeconds: Type.Optional(
      seconds('How long after the start of a wave its gate may stay closed before the run is paused'),
    ),
  },
  { additionalProperties: false },
)

const StopRule = Type.Object(
  {
    on: Type.Array(oneOf(stopStates), { minItems: 1, uniqueItems: true }),
    percent: Type.Optional(
      Type.Number({ ...Percent, description: 'Of the executions that have ended, up to three decimals' }),
    ),
    minEnded: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'With percent: how many must have ended; default 1',
      }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    action: Type.Optional(oneOf(stopActions, 'Default PAUSE')),
    of: Type.Optional(oneOf(stopScopes, 'What is counted: the whole run (default) or the current wave')),
  },
  { additionalProperties: false },
)

export const Budget = Type.Object(
  {
    by: Type.String({
      minLength: 1,
      maxLength: 73,
      description:
        'The name of an attribute; own.site is that of the owner, reported.site that of the device',
      examples: ['site'],
    }),
    max: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  },
  {
    title: 'Budget',
    additionalProperties: false,
    description:
      'How many executions may be released and not ended at once on devices with the same value of an attribute. Each ' +
      'device without it is a value of its own',
  },
)

export const Rollout = Type.Object(
  {
    order: Type.Optional(
      oneOf(
        rolloutOrders,
        'The order in which devices are released: RANDOM (default), or GIVEN, that of the call or of deviceIds',
      ),
    ),
    waves: Type.Optional(Type.Array(Wave, { minItems: 1, maxItems: 50, description: 'Default: one wave' })),
    ratePerMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    growth: Type.Optional(
      Type.Object(
        {
          factor: Type.Number({ minimum: 1.1, maximum: 10 }),
          afterSucceeded: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
        },
        {
          additionalProperties: false,
          description:
            'The rate is multiplied by the factor each time this many more executions have succeeded',
        },
      ),
    ),
    maxUnderWay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'How many executions may be released and not ended at once',
      }),
    ),
    budget: Type.Optional(Budget),
    next: Type.Optional(Gate),
    stop: Type.Optional(Type.Array(StopRule, { maxItems: 20 })),
  },
  {
    title: 'Rollout',
    additionalProperties: false,
    examples: [
      {
        waves: [{ size: 5, where: 'tag=canary' }, { size: '10%' }, { size: '100%' }],
        ratePerMinute: 200,
        next: { succeededPercent: 95, soakSeconds: 3600 },
        stop: [{ on: ['FAILED', 'TIMED_OUT', 'REJECTED'], percent: 5, minEnded: 20 }],
      },
    ],
  },
)
export type Rollout = Static<typeof Rollout>

const pauseScopes = [...stopScopes, 'SCHEDULE'] as const
export const pauseRules = ['STOP_RULE', 'GATE_CLOSED', 'GATE_ACTION', 'GATE_TIMEOUT', 'PRINCIPAL'] as const
export type PauseRule = (typeof pauseRules)[number]

/** The cause that `pausedBecause` describes in words. */
const PauseCause = Type.Object(
  {
    rule: oneOf(
      pauseRules,
      'STOP_RULE; GATE_CLOSED: too many devices of the wave did not succeed; GATE_ACTION: the gate opened, and its action is PAUSE; GATE_TIMEOUT: giveUpAfterSeconds has passed; PRINCIPAL: paused by pausedBy',
    ),
    wave: Type.Integer({ description: 'The current wave then, from 1' }),
    stopRule: orNull(Type.Integer(), {
      description: 'For a stop rule: its position in rollout.stop, from 1',
    }),
    of: orNull(oneOf(pauseScopes), {
      description:
        'What the stop rule or the gate counts; SCHEDULE: the runs of its schedule of the last 24 hours',
    }),
    on: Type.Array(oneOf(execStates), { description: 'The states that the stop rule or the gate counts' }),
    count: orNull(Type.Integer(), { description: 'How many have ended in one of these states' }),
    ended: orNull(Type.Integer(), { description: 'How many have ended in total' }),
    percent: orNull(Type.Number(), { description: 'count of ended' }),
    needed: orNull(Type.Integer(), {
      description: 'Of a closed gate: how many devices of the wave must succeed for it to open',
    }),
    possible: orNull(Type.Integer(), { description: 'Of a closed gate: how many of them still can at most' }),
    executions: Type.Array(
      Type.Object({
        jobExecutionId: Type.Integer(),
        deviceId: Type.String(),
        execState: oneOf(execStates),
      }),
      { maxItems: 20, description: 'Some of the executions that the stop rule or the gate counted' },
    ),
  },
  { title: 'PauseCause' },
)

/** The unmet conditions of the gate after the current wave. */
const GateProgress = Type.Object(
  {
    size: Type.Integer({
      description:
        'How many devices of the wave it judges: all but those whose failures a resume has accepted, and those canceled before the wave started',
    }),
    needed: Type.Integer({
      description: 'How many of them must succeed, and report `next.where` if it is given',
    }),
    succeeded: Type.Integer({ description: 'How many have done so' }),
    possible: Type.Integer({ description: 'How many still can at most' }),
    offline: Type.Integer({
      description: 'How many released devices of the wave have not finished and are not connected',
    }),
    opensAt: orNull(Instant, {
      description: 'When its soak time ends; null while another condition of the gate is not met',
    }),
  },
  { title: 'GateProgress' },
)
export type GateProgress = Static<typeof GateProgress>

/** The counters of a stop rule. */
const StopRuleProgress = Type.Object(
  {
    count: Type.Integer({ description: 'How many have ended in one of its states' }),
    ended: Type.Integer({ description: 'How many have ended in total' }),
  },
  { title: 'StopRuleProgress' },
)

/** The rollout in the response of a run. */
export const RolloutProgress = Type.Object(
  {
    state: oneOf(rolloutStates),
    wave: Type.Integer({ description: 'The current wave, from 1' }),
    waves: Type.Array(
      Type.Object({
        size: Type.Integer(),
        released: Type.Integer(),
        counts: Counts,
        startedAt: orNull(Instant),
        passedAt: orNull(Instant, { description: 'When its gate opened' }),
      }),
    ),
    released: Type.Integer({ description: 'How many executions may be offered to their devices' }),
    pausedBecause: orNull(Type.String()),
    pausedBy: orNull(Type.String()),
    pausedByName: keyNameOf('pausedBy'),
    pausedCause: orNull(PauseCause, { description: 'pausedBecause for programs' }),
    gate: orNull(GateProgress, {
      description:
        'What the gate after the current wave waits for. Null in lists, unless the rollout is ROLLING_OUT or PAUSED, ' +
        'once the gate has opened, and in the last wave, which has none',
    }),
    stopRules: Type.Array(StopRuleProgress, {
      description:
        'What each rule of `definition.stop` has counted since the run was last resumed, in the same order',
    }),
    nextAt: orNull(Instant, { description: 'When it continues automatically, if that is known' }),
    failing: orNull(Failing, {
      description: 'It cannot continue and is retried: its writes have failed twice or more in a row',
    }),
    /** The rollout as requested or last changed. */
    definition: Rollout,
    approval: orNull(AwaitedApproval, { description: 'What it waits for while it is AWAITING_APPROVAL' }),
  },
  { title: 'RolloutProgress' },
)
export type RolloutProgress = Static<typeof RolloutProgress>

const maxExcluded = 1000

export const ResumeRequest = Type.Object(
  {
    except: Type.Optional(
      Type.Array(Name, {
        minItems: 1,
        maxItems: maxExcluded,
        description:
          'Resume without these devices of the run: their executions that have not started are canceled, and no gate counts them',
      }),
    ),
  },
  { title: 'ResumeRequest', additionalProperties: false, examples: [{ except: ['kiosk-7'] }] },
)
export type ResumeRequest = Static<typeof ResumeRequest>

export const ApprovalRequest = Type.Object(
  {
    comment: Type.Optional(Type.String({ ...Prose, maxLength: 500 })),
    digest: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'The `rollout.approval.digest` you have seen: refused if the run has changed since',
      }),
    ),
  },
  { title: 'ApprovalRequest', additionalProperties: false, examples: [{ comment: 'Tested on the bench' }] },
)
export type ApprovalRequest = Static<typeof ApprovalRequest>

/** RFC 7396: omitted fields keep their value, null removes a field, lists are replaced as a whole. */
type MergePatch<T> = { [Field in keyof T]?: MergeValue<Exclude<T[Field], undefined>> | null }
type MergeValue<T> = T extends readonly unknown[] ? T : T extends object ? MergePatch<T> : T
export type RolloutChanges = MergePatch<Rollout>

const orNothing = (properties: Record<string, TSchema>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(orNull(schema))]),
  )
const changesOf = (properties: Record<string, TSchema>) =>
  Type.Object(orNothing(properties), { additionalProperties: false })

export const RolloutPatch = Type.Object(
  {
    rollout: Type.Unsafe<RolloutChanges>({
      ...changesOf({
        ...Rollout.properties,
        growth: changesOf(Rollout.properties.growth.properties),
        budget: changesOf(Budget.properties),
        next: changesOf(Gate.properties),
      }),
      description:
        'A merge patch (RFC 7396): omitted fields keep their value, null removes a field, lists are replaced',
    }),
  },
  { title: 'RolloutPatch', additionalProperties: false, examples: [{ rollout: { ratePerMinute: 500 } }] },
)
export type RolloutPatch = Static<typeof RolloutPatch>

/** Fields that a patch may have left incomplete. */
const wholeFields = { growth: ['factor', 'afterSucceeded'], budget: ['by', 'max'] }

/** Checks rules that the schema cannot express; undefined if valid. */
export function rolloutProblem(rollout: Rollout): { field: string; detail: string } | undefined {
  for (const [index, { percent, count, minEnded }] of (rollout.stop ?? []).entries()) {
    const field = `rollout.stop[${index}]`
    if ((percent === undefined) === (count === undefined)) {
      return { field, detail: `${field} must have either percent or count.` }
    }
    if (minEnded !== undefined && percent === undefined) {
      return {
        field: `${field}.minEnded`,
        detail: `${field}.minEnded is used with percent, which is missing.`,
      }
    }
  }
  for (const [name, fields] of Object.entries(wholeFields)) {
    const given: Record<string, unknown> = rollout[name as keyof typeof wholeFields] ?? {}
    const missing = Object.keys(given).length > 0 && fields.find((field) => given[field] === undefined)
    if (missing)
      return { field: `rollout.${name}.${missing}`, detail: `rollout.${name}.${missing} is missing.` }
  }
  if (rollout.budget && !isAttributeName(attributeOf(rollout.budget.by).name)) {
    const field = 'rollout.budget.by'
    return { field, detail: `${field} must be the name of an attribute, such as site or reported.region.` }
  }
  if (rollout.growth && rollout.ratePerMinute === undefined) {
    return {
      field: 'rollout.growth',
      detail: 'rollout.growth requires rollout.ratePerMinute.',
    }
  }
  return undefined
}
