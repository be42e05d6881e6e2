// The draft of a rollout, as texts in form fields.

import { isJobcastError, type NewRun } from '@jobcast/client'
import { attributeOf, isAttributeName, parseSelector, SelectorError } from '@jobcast/contract/selector'
import { percentPattern } from '@jobcast/contract/words'
import { parseDuration, writeDuration } from '../parts/duration.ts'

export type Rollout = NonNullable<NewRun['rollout']>
type WaveSize = NonNullable<Rollout['waves']>[number]['size']
type Release = Pick<NewRun, 'rollout' | 'approval'>

export type RolloutDraft = {
  isOn: boolean
  canary: string
  waves: string
  rate: string
  budget: string
  succeeded: string
  reported: string
  soak: string
  stopPercent: string
  stopAfter: string
  approval: NonNullable<NewRun['approval']>
}
export type RolloutField = Exclude<keyof RolloutDraft, 'isOn' | 'approval'>

export const emptyRollout: RolloutDraft = {
  isOn: false,
  canary: '',
  waves: '',
  rate: '',
  budget: '',
  succeeded: '',
  reported: '',
  soak: '',
  stopPercent: '',
  stopAfter: '',
  approval: false,
}

const devicesAtMost = 1_000_000
const yearSeconds = 31_536_000

/** Only for valid drafts. Empty fields are omitted, so that the job's values apply. */
export function releaseOf(draft: RolloutDraft): Release {
  if (!draft.isOn) return {}
  const number = (text: string) => Number(text.trim())
  const isGiven = (field: RolloutField) => draft[field].trim() !== ''
  const waves = sizesOf(draft).map((size) => ({ size }))
  const next = {
    ...(isGiven('succeeded') && { succeededPercent: number(draft.succeeded) }),
    ...(isGiven('reported') && { where: draft.reported.trim() }),
    ...(isGiven('soak') && { soakSeconds: parseDuration(draft.soak) as number }),
  }
  const rollout: Rollout = {
    ...(waves.length > 0 && { waves }),
    ...(isGiven('rate') && { ratePerMinute: number(draft.rate) }),
    ...(isGiven('budget') && { budget: budgetOf(draft.budget) }),
    ...(Object.keys(next).length > 0 && { next }),
    ...(isGiven('stopPercent') && {
      stop: [
        {
          on: ['FAILED', 'TIMED_OUT', 'REJECTED'],
          percent: number(draft.stopPercent),
          ...(isGiven('stopAfter') && { minEnded: number(draft.stopAfter) }),
        },
      ],
    }),
  }
  return {
    ...(Object.keys(rollout).length > 0 && { rollout }),
    ...(draft.approval && { approval: draft.approval }),
  }
}

/** Undefined if the fields cannot express it. */
export function draftOf(rollout: Rollout): RolloutDraft | undefined {
  const { waves, ratePerMinute, budget, next, stop } = rollout
  const text = (value: string | number | undefined) => String(value ?? '')
  const draft = {
    ...emptyRollout,
    isOn: true,
    waves: (waves ?? []).map(({ size }) => size).join(', '),
    rate: text(ratePerMinute),
    budget: budget ? `${budget.by}=${budget.max}` : '',
    succeeded: text(next?.succeededPercent),
    reported: text(next?.where),
    soak: next?.soakSeconds === undefined ? '' : writeDuration(next.soakSeconds),
    stopPercent: text(stop?.[0]?.percent),
    stopAfter: text(stop?.[0]?.minEnded),
  }
  return inOrder(releaseOf(draft).rollout ?? {}) === inOrder(rollout) ? draft : undefined
}

/** Returns the same text for equal content. */
function inOrder(content: unknown): string {
  return JSON.stringify(content, (_, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

/** With only canaries, the second wave has all other devices. */
function sizesOf({ canary, waves }: RolloutDraft): WaveSize[] {
  const first = canary.trim() === '' ? [] : [Number(canary.trim())]
  const others = waves.trim() === '' ? (first.length > 0 ? ['100%'] : []) : waves.split(',')
  return [...first, ...others.map((size) => (size.includes('%') ? size.trim() : Number(size.trim())))]
}

/** The draft with waves of these sizes; the last one has all remaining devices. */
export function withSizes(draft: RolloutDraft, sizes: readonly number[]): RolloutDraft {
  const hasCanary = draft.canary.trim() !== '' && sizes.length > 1
  const others = [...sizes.slice(hasCanary ? 1 : 0, -1), '100%']
  return {
    ...draft,
    canary: hasCanary ? String(sizes[0]) : '',
    // Empty if there is only one wave, or canaries followed by all others.
    waves: others.length > 1 ? others.join(', ') : '',
  }
}

export function problemsOf(draft: RolloutDraft): Partial<Record<RolloutField, string>> {
  if (!draft.isOn) return {}
  const found = {
    canary: numberProblem(draft.canary, devicesAtMost),
    waves: wavesProblem(draft.waves),
    rate: numberProblem(draft.rate, devicesAtMost),
    budget: budgetProblem(draft.budget),
    succeeded: percentProblem(draft.succeeded),
    reported: selectorProblem(draft.reported),
    soak: soakProblem(draft.soak),
    stopPercent: percentProblem(draft.stopPercent),
    stopAfter:
      draft.stopAfter.trim() !== '' && draft.stopPercent.trim() === ''
        ? 'Needs a percentage.'
        : numberProblem(draft.stopAfter, devicesAtMost),
    ...(isEmpty(draft) && {
      canary: 'Set canaries, waves, a rate or another field: without any, all devices start at once.',
    }),
  }
  return Object.fromEntries(Object.entries(found).filter(([, problem]) => problem !== undefined))
}

function isEmpty({ isOn, approval, ...fields }: RolloutDraft): boolean {
  return isOn && !approval && Object.values(fields).every((text) => text.trim() === '')
}

function numberProblem(text: string, most: number): string | undefined {
  const number = Number(text.trim())
  const isRight = text.trim() === '' || (Number.isInteger(number) && number >= 1 && number <= most)
  return isRight ? undefined : `Must be 1 to ${new Intl.NumberFormat('en').format(most)}.`
}

const budgetRule = /^([^=\s]{1,73})=([1-9][0-9]{0,5})$/

function budgetProblem(text: string): string | undefined {
  const [, by = ''] = budgetRule.exec(text.trim()) ?? []
  const isRight = text.trim() === '' || isAttributeName(attributeOf(by).name)
  return isRight ? undefined : 'Use a format such as site=1.'
}

function budgetOf(text: string): NonNullable<Rollout['budget']> {
  const [, by = '', max] = budgetRule.exec(text.trim()) ?? []
  return { by, max: Number(max) }
}

/** Percentages have up to three decimals. */
function percentProblem(text: string): string | undefined {
  const isRight = text.trim() === '' || isPercent(`${text.trim()}%`)
  return isRight ? undefined : 'Must be more than 0 and at most 100.'
}

const percent = new RegExp(percentPattern)
const isPercent = (text: string) => percent.test(text)

function wavesProblem(text: string): string | undefined {
  const isSize = (size: string) => /^(?:[1-9]\d{0,5}|1000000)$/.test(size.trim()) || isPercent(size.trim())
  return text.trim() === '' || text.split(',').every(isSize)
    ? undefined
    : 'Use a format such as 10%, 50%, 100%.'
}

function soakProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  const seconds = parseDuration(text) ?? 0
  return seconds >= 1 && seconds <= yearSeconds ? undefined : 'Use a format such as 90 s, 5 min, 2 h or 3 d.'
}

function selectorProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    parseSelector(text.trim())
    return undefined
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    return `Character ${error.position}: ${error.message}.`
  }
}

const fieldPaths: [string, RolloutField][] = [
  ['rollout.waves', 'waves'],
  ['rollout.ratePerMinute', 'rate'],
  ['rollout.budget', 'budget'],
  ['rollout.next.succeededPercent', 'succeeded'],
  ['rollout.next.soakSeconds', 'soak'],
  ['rollout.next', 'reported'],
  ['rollout.stop', 'stopPercent'],
]

/** The field that the server refuses, with the reason. */
export function refusedField(error: unknown): { field: RolloutField; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const [, field] = fieldPaths.find(([path]) => error.field?.startsWith(path)) ?? []
  return field && { field, text: `${error.detail ?? error.message} (${error.code})` }
}
