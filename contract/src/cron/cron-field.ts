export type CronField = {
  values: number[]
  isAll: boolean
  /** The step of a field that repeats evenly over its whole range. */
  step: number | undefined
  /** Values without a gap. */
  isRange: boolean
}

type Range = { from: number; to: number; names?: readonly string[] }

/** Undefined: the field uses a notation other than numbers, names, lists, ranges and steps. */
export function readField(text = '', range: Range): CronField | undefined {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const read = readPart(part, range)
    if (read === undefined) return undefined
    for (const value of read) values.add(value)
  }
  const sorted = [...values].sort((a, b) => a - b)
  const isRange = sorted.every((value, index) => value === (sorted[0] ?? 0) + index)
  const isAll = text === '*'
  return { values: sorted, isAll, step: isAll ? undefined : stepOf(sorted, range), isRange }
}

function readPart(part: string, range: Range): number[] | undefined {
  const [, written = '', step = '1'] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? []
  const isStepped = part.includes('/')
  const [first, last] = written === '*' ? [range.from, range.to] : endsOf(written, range)
  if (first === undefined || last === undefined || first > last || (isStepped && Number(step) < 2))
    return undefined
  // croner does not support a step after a single value.
  if (isStepped && written !== '*' && !written.includes('-')) return undefined
  const count = Math.floor((last - first) / Number(step)) + 1
  return Array.from({ length: count }, (_, index) => first + index * Number(step))
}

function endsOf(written: string, range: Range): [number | undefined, number | undefined] {
  const [first = '', last = first, more] = written.split('-')
  return more === undefined ? [numberOf(first, range), numberOf(last, range)] : [undefined, undefined]
}

function numberOf(text: string, { from, to, names = [] }: Range): number | undefined {
  const named = /^[a-z]{3}$/i.test(text)
    ? names.findIndex((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase())
    : -1
  if (named >= 0) return named + from
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : undefined
}

function stepOf(values: readonly number[], { from, to }: Range): number | undefined {
  const [first, second] = values
  if (first !== from || second === undefined) return undefined
  const step = second - first
  const size = to - from + 1
  const isEven = values.every((value, index) => value === from + index * step)
  return step > 1 && size % step === 0 && values.length === size / step && isEven ? step : undefined
}

/** "a, b and c" */
export function listOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
