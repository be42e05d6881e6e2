// Replaces the groups in a selector by their own selectors.

import { parseSelector, type Selector, termsOf } from '@jobcast/contract/selector'
import type { GroupProblem, StoredGroup } from './ports/groups.ts'

export type FindGroups = (groupNames: string[]) => Promise<Pick<StoredGroup, 'groupName' | 'where'>[]>
type Replaced = { kind: 'replaced'; selector: Selector } | GroupProblem

/** The number of terms, including those of nested groups. */
export const maxTermsOfGroups = 1000
/** A statement of SQLite takes 32,766 parameters; a value takes up to three. */
export const maxValuesOfGroups = 10_000
/** An SQLite expression has at most 1000 levels; one level here takes up to four of them. */
export const maxDepthOfGroups = 200

export async function replaceGroups(selector: Selector, find: FindGroups): Promise<Replaced> {
  const known = new Map<string, Selector>()
  for (let missing = groupsOf(selector); missing.length > 0; ) {
    const found = await find(missing)
    for (const { groupName, where } of found) known.set(groupName, parseSelector(where))
    const unknown = missing.find((groupName) => !known.has(groupName))
    if (unknown !== undefined) return { kind: 'unknown-group', groupName: unknown }
    if (known.size > maxTermsOfGroups) return { kind: 'too-large' }
    const named = found.flatMap(({ groupName }) => groupsOf(known.get(groupName) as Selector))
    missing = [...new Set(named)].filter((groupName) => !known.has(groupName))
  }
  return new Replacing(known).replace(selector)
}

/** The groups that it refers to directly. */
export function groupsOf(selector: Selector): string[] {
  return [...new Set(termsOf(selector).flatMap((term) => (term.kind === 'group' ? [term.groupName] : [])))]
}

class Replacing {
  readonly #known: ReadonlyMap<string, Selector>
  #terms = 0
  #values = 0

  constructor(known: ReadonlyMap<string, Selector>) {
    this.#known = known
  }

  replace(selector: Selector): Replaced {
    try {
      return { kind: 'replaced', selector: this.#replace(selector, [], 0) }
    } catch (error) {
      if (error instanceof Problem) return error.problem
      throw error
    }
  }

  /** `depth`: of the enclosing selector. Double negations are removed, also across groups. */
  #replace(selector: Selector, inside: string[], depth: number): Selector {
    if (depth > maxDepthOfGroups) throw new Problem({ kind: 'too-deep' })
    switch (selector.kind) {
      case 'and':
      case 'or':
        return { kind: selector.kind, of: selector.of.map((each) => this.#replace(each, inside, depth + 1)) }
      case 'not':
        return this.#negate(selector.of, inside, depth)
      case 'group':
        return this.#replace(...this.#enter(selector.groupName, inside), depth)
      default:
        this.#values += selector.kind === 'in' ? selector.values.length : 1
        if (++this.#terms > maxTermsOfGroups) throw new Problem({ kind: 'too-large' })
        if (this.#values > maxValuesOfGroups) throw new Problem({ kind: 'too-many-values' })
        return selector
    }
  }

  #negate(of: Selector, inside: string[], depth: number): Selector {
    if (of.kind === 'not') return this.#replace(of.of, inside, depth)
    if (of.kind === 'group') return this.#negate(...this.#enter(of.groupName, inside), depth)
    return { kind: 'not', of: this.#replace(of, inside, depth + 1) }
  }

  #enter(groupName: string, inside: string[]): [Selector, string[]] {
    if (inside.includes(groupName)) throw new Problem({ kind: 'refers-to-itself', groupName })
    return [this.#known.get(groupName) as Selector, [...inside, groupName]]
  }
}

class Problem extends Error {
  readonly problem: GroupProblem

  constructor(problem: GroupProblem) {
    super(problem.kind)
    this.problem = problem
  }
}
