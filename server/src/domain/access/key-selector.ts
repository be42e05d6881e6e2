// The selector that a key is restricted to. It may name what only the owner can change: a device that could change what it
// matches would make itself a target. So it has no reported attributes, no presence and no names, which devices give
// themselves when they enroll; and no groups, which whoever has MANAGE can redefine.

import {
  asOwn,
  attributeOf,
  parseSelector,
  type Selector,
  SelectorError,
  type SelectorTerm,
  termsOf,
} from '@jobcast/contract/selector'

/** In words; undefined: it is one. */
export function keySelectorProblem(text: string): string | undefined {
  try {
    return termsOf(parseSelector(text)).map(problemOf).find(Boolean)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    return `where is not a selector, at position ${error.position}: ${error.message}`
  }
}

function problemOf(term: SelectorTerm): string | undefined {
  if (term.kind === 'online') return 'where cannot depend on online, which a device changes itself'
  if (term.kind === 'group') return 'where cannot name a group, which can be redefined; use its selector'
  if (term.kind === 'all') return undefined
  if (term.name === 'deviceName') return 'where cannot depend on deviceName, which a device can choose'
  if (attributeOf(term.name).side !== 'reported') return undefined
  return `where cannot depend on ${term.name}, which a device reports itself`
}

const keptSelectors = 1000
const kept = new Map<string, Selector>()

/** Of what has no problem. Each call of a restricted key needs it. */
export function readKeySelector(text: string): Selector {
  let selector = kept.get(text)
  if (selector === undefined) {
    selector = asOwn(parseSelector(text))
    if (kept.size >= keptSelectors) kept.clear()
    kept.set(text, selector)
  }
  return selector
}

/** What both match. Undefined: together they are no selector any more. */
export function bothOf(one: string, other: string): string | undefined {
  if (one === other) return one
  const text = `(${one}) and (${other})`
  return keySelectorProblem(text) === undefined ? text : undefined
}
