// Replaces the groups in a selector by what they stand for.

import { parseSelector, type Selector, termsOf } from '@jobcast/contract/selector'
import type { GroupProblem, StoredGroup } from './ports/groups.ts'

type FindGroups = (groupNames: string[]) => Promise<Pick<StoredGroup, 'groupName' | 'where'>[]>
export type Replaced = { kind: 'replaced'; selector: Selector } | GroupProblem

/** Together with all that its groups refer to. */
export const maxTermsOfGroups = 1000

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

function groupsOf(selector: Selector): string[] {
  return [...new Set(termsOf(selector).flatMap((term) => (term.kind === 'group' ? [term.groupName] : [])))]
}

class Replacing {
  readonly #known: ReadonlyMap<string, Selector>
  #terms = 0

  constructor(known: ReadonlyMap<string, Selector>) {
    this.#known = known
  }

  replace(selector: Selector): Replaced {
    try {
      return { kind: 'replaced', selector: this.#replace(selector, []) }
    } catch (error) {
      if (error instanceof Problem) return error.problem
      throw error
    }
  }

  #replace(selector: Selector, inside: string[]): Selector {
    switch (selector.kind) {
      case 'and':
      case 'or':
        return { kind: selector.kind, of: selector.of.map((each) => this.#replace(each, inside)) }
      case 'not':
        return { kind: 'not', of: this.#replace(selector.of, inside) }
      case 'group': {
        const { groupName } = selector
        if (inside.includes(groupName)) throw new Problem({ kind: 'refers-to-itself', groupName })
        return this.#replace(this.#known.get(groupName) as Selector, [...inside, groupName])
      }
      default:
        if (++this.#terms > maxTermsOfGroups) throw new Problem({ kind: 'too-large' })
        return selector
    }
  }
}

class Problem extends Error {
  readonly problem: GroupProblem

  constructor(problem: GroupProblem) {
    super(problem.kind)
    this.problem = problem
  }
}
