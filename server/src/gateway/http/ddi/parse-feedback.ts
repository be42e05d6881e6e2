// Parses feedback as hawkBit defines it. Unused fields are ignored.

import { hash } from 'node:crypto'
import { invalid } from './errors.ts'

const executions = [
  'closed',
  'proceeding',
  'canceled',
  'scheduled',
  'rejected',
  'resumed',
  'download',
  'downloaded',
] as const
const ends = new Set<Feedback['execution']>(['closed', 'rejected', 'canceled'])
const results = ['success', 'failure', 'none'] as const

export type Feedback = {
  execution: (typeof executions)[number]
  finished: (typeof results)[number]
  progress: string | undefined
  code: string | undefined
  details: string[]
  /** Hash of the content, to recognize repeated feedback. For ends it excludes the time, because an attempt ends only once. */
  mark: string
}

type Fields = Record<string, unknown>

/** Throws 400. */
export function parseFeedback(fields: Fields): Feedback {
  if (!isObject(fields.status)) throw invalid('status must be an object.')
  const { execution, result = {}, details, code } = fields.status
  if (!isObject(result ?? {})) throw invalid('status.result must be an object.')
  const { finished = 'none', progress } = (result ?? {}) as Fields
  const known = oneOf('status.execution', executions, execution)
  const { time, ...timeless } = fields
  return {
    execution: known,
    finished: oneOf('status.result.finished', results, finished),
    progress: progressOf(progress),
    code: Number.isSafeInteger(code) ? String(code) : undefined,
    details: linesOf(details),
    mark: hash('sha256', JSON.stringify(ends.has(known) ? timeless : fields), 'base64url'),
  }
}

const maxText = 1000

/** For the owner, in statusDetails. All lines are kept until secrets are masked, then `shortDetails` applies. */
export function detailsOf({
  execution,
  finished,
  progress,
  code,
  details,
}: Feedback): Record<string, string> {
  const isBad = finished === 'failure' || execution === 'rejected' || execution === 'canceled'
  return {
    execution,
    ...(progress !== undefined && { progress }),
    ...(code !== undefined && { code }),
    [isBad ? 'reason' : 'message']: details.join('\n'),
  }
}

/** All lines of a reason, and the last one of a message. */
export function shortDetails({ reason, message, ...others }: Record<string, string>): Record<string, string> {
  const why = plain(linesIn(reason).join('; '))
  const last = plain(linesIn(message).at(-1) ?? '')
  return { ...others, ...(why !== '' && { reason: why }), ...(last !== '' && { message: last }) }
}

function linesIn(text = ''): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function plain(text: string): string {
  return text
    .slice(0, maxText)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim()
}

function linesOf(details: unknown): string[] {
  if (details === undefined || details === null) return []
  const lines: unknown[] = Array.isArray(details) ? details : [details]
  if (!lines.every((line) => typeof line === 'string'))
    throw invalid('status.details must be a list of texts.')
  return lines
}

/** `cnt` steps of `of`. */
function progressOf(progress: unknown): string | undefined {
  if (!isObject(progress)) return undefined
  const { cnt, of } = progress
  return Number.isSafeInteger(cnt) && Number.isSafeInteger(of) ? `${cnt}/${of}` : undefined
}

function oneOf<Word extends string>(name: string, words: readonly Word[], value: unknown): Word {
  const found = words.find((word) => typeof value === 'string' && word === value.toLowerCase())
  if (found === undefined) throw invalid(`${name} must be one of ${words.join(', ')}.`)
  return found
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
