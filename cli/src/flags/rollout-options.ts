// How a run is released, as flags of a trigger or of a schedule.

import type { NewRun } from '@jobcast/client'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../errors/usage-error.ts'
import { durationSeconds } from './duration.ts'
import { wholeNumber } from './whole-number.ts'

type Rollout = NonNullable<NewRun['rollout']>
type Wave = NonNullable<Rollout['waves']>[number]
type Share = { percent: number } | { count: number }

export type RolloutFlags = {
  canary?: number
  waves?: Wave['size'][]
  rate?: number
  soak?: number
  stopAt?: Share
  until?: string
  approval?: boolean
}

export function rolloutOptions(): Option[] {
  return [
    new Option('--canary <number>', 'release it to this many devices first').argParser(wholeNumber(1)),
    new Option('--waves <sizes>', 'then in waves, such as 10%,100% or 50,500,100%').argParser(waveSizes),
    new Option('--rate <number>', 'release it to at most this many devices per minute').argParser(
      wholeNumber(1),
    ),
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
    new Option('--approval', 'release nothing before another key approves it'),
  ]
}

/** Nothing where no flag is given: then the job decides. */
export function rolloutOf(flags: RolloutFlags): Pick<NewRun, 'rollout' | 'approval'> {
  const { canary, waves, rate, soak, stopAt, until, approval } = flags
  const sizes = [
    ...(canary === undefined ? [] : [canary]),
    ...(waves ?? (canary === undefined ? [] : ['100%'])),
  ]
  const next = {
    ...(soak !== undefined && { soakSeconds: soak }),
    ...(until !== undefined && { where: until }),
  }
  if (sizes.length === 0 && Object.keys(next).length > 0) {
    throw new UsageError(
      '--soak and --until define when the next wave starts: use --canary or --waves as well',
    )
  }
  const rollout: Rollout = {
    ...(sizes.length > 0 && { waves: sizes.map((size) => ({ size })) }),
    ...(rate !== undefined && { ratePerMinute: rate }),
    ...(Object.keys(next).length > 0 && { next }),
    ...(stopAt && { stop: [{ on: ['FAILED', 'TIMED_OUT', 'REJECTED'], ...stopAt }] }),
  }
  return { ...(Object.keys(rollout).length > 0 && { rollout }), ...(approval && { approval }) }
}

function waveSizes(text: string): Wave['size'][] {
  return text.split(',').map((part) => {
    const size = part.trim()
    if (/^(?:100|[1-9][0-9]?)%$/.test(size)) return size
    if (/^[1-9][0-9]{0,6}$/.test(size)) return Number(size)
    throw new InvalidArgumentError('It must be numbers of devices or percentages, such as 50,10%,100%.')
  })
}

function share(text: string): Share {
  const [, percent] = /^(100|[1-9][0-9]?)%$/.exec(text) ?? []
  if (percent !== undefined) return { percent: Number(percent) }
  if (/^[1-9][0-9]{0,6}$/.test(text)) return { count: Number(text) }
  throw new InvalidArgumentError('It must be a percentage such as 5%, or a number.')
}
