// Settings with a number for each of several names: `--quota devices=100000`, repeated or separated by commas, the same in the
// environment, and a map in the file. A name that is set in two places has the usual precedence.

import { defaultQuotas } from '../domain/access/quotas.ts'
import { defaultRates } from '../limits/rate-limits.ts'
import { nearestTo } from './nearest.ts'

export type NumbersSetting = 'quota' | 'rate'

/** These settings with their names: the default and a description. */
export const namedNumbers = {
  quota: { highest: Number.MAX_SAFE_INTEGER, words: 'a whole number', names: defaultQuotas },
  rate: { highest: 1_000_000, words: 'a whole number from 0 to 1000000', names: defaultRates },
} as const

/** `flag`: one or several strings; missing values are undefined or null. */
export function readNumbers(
  setting: NumbersSetting,
  { flag, variable, filed }: { flag: unknown; variable: string | undefined; filed: unknown },
  problems: string[],
): Record<string, number> {
  const { names, highest, words } = namedNumbers[setting]
  const numbers = new Map<string, number>(names.map(({ name, limit }) => [name, limit]))
  const pairs = [
    ...pairsOfMap(setting, filed, problems),
    ...pairsOfText(setting, [variable ?? ''], problems),
    ...pairsOfText(setting, [flag ?? []].flat().map(String), problems),
  ]
  for (const [name, text] of pairs) {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!numbers.has(name)) problems.push(describeUnknown(setting, name))
    else if (number <= highest) numbers.set(name, number)
    else problems.push(`${setting} ${name} is "${text}", not ${words}`)
  }
  return Object.fromEntries(numbers)
}

function describeUnknown(setting: NumbersSetting, name: string): string {
  const { names } = namedNumbers[setting]
  const all = names.map((each) => each.name)
  return `"${name.slice(0, 100)}" is not a ${setting}; did you mean ${nearestTo(name, all)}? There are ${all.join(', ')}`
}

type Pair = [name: string, text: string]

function pairsOfText(setting: NumbersSetting, lists: string[], problems: string[]): Pair[] {
  const given = lists.flatMap((list) => list.split(',')).map((each) => each.trim())
  return given.flatMap((each): Pair[] => {
    const at = each.indexOf('=')
    if (each !== '' && at < 0)
      problems.push(`${setting} has "${each}", which does not have the form name=number`)
    return at < 0 ? [] : [[each.slice(0, at).trim(), each.slice(at + 1).trim()]]
  })
}

function pairsOfMap(setting: NumbersSetting, map: unknown, problems: string[]): Pair[] {
  if (map === undefined || map === null) return []
  if (typeof map !== 'object' || Array.isArray(map)) {
    problems.push(`${setting} in the file is not a map of names and numbers`)
    return []
  }
  const set = Object.entries(map).filter(([, value]) => value !== null)
  return set.map(([name, value]) => [name, String(value)])
}

/** Names that people may try for a quota or a rate as a separate setting, with the actual name. */
const spelledOut = new Map<string, { setting: NumbersSetting; name: string }>(
  (Object.keys(namedNumbers) as NumbersSetting[]).flatMap((setting) =>
    namedNumbers[setting].names.flatMap(({ name }) => {
      const spellings = setting === 'rate' ? [`${name}-rate`] : [`max-${name}`, `max-owner-${name}`]
      return spellings.map((spelled) => [spelled, { setting, name }] as const)
    }),
  ),
)

/** Finds the quota or rate for an unknown setting such as max-owner-webhooks or key-rate. */
export function numberMeant(name: string): { setting: NumbersSetting; name: string } | undefined {
  return spelledOut.get(name)
}

export const spelledOutNames = [...spelledOut.keys()]
