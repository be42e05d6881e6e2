// How a run is released, as flags of a trigger or of a schedule.

import type { NewRun } from '@jobcast/client'
import { percentPattern, toApproval } from '@jobcast/contract/words'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../errors/usage-error.ts'
import { choiceOption } from './choice.ts'
import { durationSeconds } from './duration.ts'
import { wholeNumber } from './whole-number.ts'

type Rollout = NonNullable<NewRun['rollout']>
type Wave = NonNullable<Rollout['waves']>[number]
type Share = { percent: number } | { count: number }

export type RolloutFlags = {
  canary?: number
  canaryWhere?: string
  waves?: Wave['size'][]
  order?: Rollout['order']
  rate?: number
  maxUnderWay?: number
  budget?: Rollout['budget']
  success?: number
  soak?: number
  stopAt?: Share
  until?: string
  untilWait?: true
  approval?: boolean
  approvals?: number
}

export function rolloutOptions(): Option[] {
  return [
    new Option('--canary <number>', 'release it to this many devices first').argParser(wholeNumber(1)),
    new Option('--canary-where <selector>', 'choose the canaries among these devices, such as tag=canary'),
    new Option('--waves <sizes>', 'then in waves, such as 0.1%,10%,100% or 50,500,100%').argParser(waveSizes),
    choiceOption(
      '--order <order>',
      'the order in which devices are released: RANDOM (default), or GIVEN, as they are listed',
      ['RANDOM', 'GIVEN'] as const,
    ),
    new Option('--rate <number>', 'release it to at most this many devices per minute').argParser(
      wholeNumber(1),
    ),
    new Option(
      '--max-under-way <number>',
      'have at most this many released and unfinished at once',
    ).argParser(wholeNumber(1)),
    new Option(
      '--budget <attribute=number>',
      'have at most this many released and unfinished per value of an attribute, such as site=1',
    ).argParser(budgetOf),
    new Option(
      '--success <share>',
      'start the next wave when this share of the current one SUCCEEDED, such as 95% (default 100%)',
    ).argParser(percentage),
    new Option(
      '--soak <time>',
      'how long to wait after each wave before starting the next (30m, 1h)',
    ).argParser(durationSeconds),
    new Option(
      '--stop-at <share>',
      'pause it when this many ended executions failed, timed out or were rejected: 5%, or 3',
    ).argParser(share),
    new Option(
      '--until <selector>',
      'start the next wave only when the devices of the current one report this, such as fw=2.4.1',
    ),
    new Option(
      '--until-wait',
      'with --until: accept attributes that no device reports yet, and wait until one does',
    ),
    new Option('--approval', 'release nothing before somebody else approves it'),
    new Option('--approvals <number>', 'release nothing before this many others approve it').argParser(
      wholeNumber(1),
    ),
  ]
}

/** Empty if no flag is given: then the rollout of the job applies. */
export function rolloutOf(flags: RolloutFlags): Pick<NewRun, 'rollout' | 'approval'> {
  const { order, rate, maxUnderWay, budget, success, soak, stopAt, until, untilWait } = flags
  const approval = toApproval(flags.approvals ?? Number(flags.approval ?? false))
  const waves = wavesOf(flags)
  if (untilWait && until === undefined)
    throw new UsageError('--until-wait is used with --until, which is missing')
  const next = {
    ...(success !== undefined && { succeededPercent: success }),
    ...(soak !== undefined && { soakSeconds: soak }),
    ...(until !== undefined && { where: until }),
    ...(untilWait && { onMissing: 'WAIT' as const }),
  }
  if (waves.length === 0 && Object.keys(next).length > 0) {
    throw new UsageError(
      '--success, --soak and --until define when the next wave starts: use --canary or --waves as well',
    )
  }
  const rollout: Rollout = {
    ...(order && { order }),
    ...(waves.length > 0 && { waves }),
    ...(rate !== undefined && { ratePerMinute: rate }),
    ...(maxUnderWay !== undefined && { maxUnderWay }),
    ...(budget && { budget }),
    ...(Object.keys(next).length > 0 && { next }),
    ...(stopAt && { stop: [{ on: ['FAILED', 'TIMED_OUT', 'REJECTED'], ...stopAt }] }),
  }
  return { ...(Object.keys(rollout).length > 0 && { rollout }), ...(approval && { approval }) }
}

/** With only canaries, a second wave has all other devices. A selector without a number selects all matching devices. */
function wavesOf({ canary, canaryWhere, waves }: RolloutFlags): Wave[] {
  const isFirst = canary !== undefined || canaryWhere !== undefined
  const first = { size: canary ?? '100%', ...(canaryWhere !== undefined && { where: canaryWhere }) }
  const others = waves ?? (isFirst ? ['100%'] : [])
  return [...(isFirst ? [first] : []), ...others.map((size) => ({ size }))]
}

const percent = new RegExp(percentPattern)

function waveSizes(text: string): Wave['size'][] {
  return text.split(',').map((part) => {
    const size = part.trim()
    if (percent.test(size)) return size
    if (/^[1-9][0-9]{0,6}$/.test(size)) return Number(size)
    throw new InvalidArgumentError('It must be numbers of devices or percentages, such as 50,10%,100%.')
  })
}

function share(text: string): Share {
  if (percent.test(text)) return { percent: Number.parseFloat(text) }
  if (/^[1-9][0-9]{0,6}$/.test(text)) return { count: Number(text) }
  throw new InvalidArgumentError('It must be a percentage such as 5%, or a number.')
}

function budgetOf(text: string): NonNullable<Rollout['budget']> {
  const [, by, max] = /^([^=\s]{1,73})=([1-9][0-9]{0,5})$/.exec(text) ?? []
  if (by !== undefined && max !== undefined) return { by, max: Number(max) }
  throw new InvalidArgumentError('It must be the name of an attribute and a number, such as site=1.')
}

function percentage(text: string): number {
  if (percent.test(text)) return Number.parseFloat(text)
  throw new InvalidArgumentError('It must be a percentage such as 95% or 99.9%.')
}
