// The selector that a key is restricted to. It may use only what the owner controls, or a device could make itself a target.
// So it has no reported attributes, no presence, no names, which devices choose when they enroll, and no groups, which any
// caller with MANAGE can redefine.

import {
  asOwn,
  attributeOf,
  parseSelector,
  type Selector,
  SelectorError,
  type SelectorTerm,
  termsOf,
} from '@jobcast/contract/selector'

/** Describes the problem; undefined: the selector is valid. */
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

/** Parses a valid selector. Cached, because each call of a restricted key needs it. */
export function readKeySelector(text: string): Selector {
  let selector = kept.get(text)
  if (selector === undefined) {
    selector = asOwn(parseSelector(text))
    if (kept.size >= keptSelectors) kept.clear()
    kept.set(text, selector)
  }
  return selector
}

/**
 * Whether `one` is `other` with further conditions. Selectors cannot be compared in general: false also if `one` matches fewer
 * devices for another reason.
 */
export function isSelectorWithin(one: string, other: string): boolean {
  const conditions = new Set(conditionsOf(readKeySelector(one)))
  return conditionsOf(readKeySelector(other)).every((condition) => conditions.has(condition))
}

/** What all must hold, as texts. */
function conditionsOf(selector: Selector): string[] {
  return selector.kind === 'and' ? selector.of.flatMap(conditionsOf) : [JSON.stringify(selector)]
}

/** The intersection of both. Undefined: it exceeds the limits of selectors. */
export function bothOf(one: string, other: string): string | undefined {
  if (one === other) return one
  const text = `(${one}) and (${other})`
  return keySelectorProblem(text) === undefined ? text : undefined
}
