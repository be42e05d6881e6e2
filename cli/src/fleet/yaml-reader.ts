// YAML nodes -> JSON values, with anchors and merge keys. The yaml package's own toJS searches the whole document for
// every alias, which is too slow for ten thousand devices that share their tags.

import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'

type Report = (node: Node | null | undefined, problem: string) => void

/** One per document. Read nodes in order: an alias refers to a node read before it. */
export class YamlReader {
  readonly #anchors = new Map<string, unknown>()
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  read(node: unknown): unknown {
    const value = this.#valueOf(node)
    const { anchor } = (node ?? {}) as { anchor?: string }
    if (anchor !== undefined) this.#anchors.set(anchor, value)
    return value
  }

  #valueOf(node: unknown): unknown {
    if (isMap(node)) return this.#object(node)
    if (isSeq(node)) return node.items.map((item) => this.read(item))
    if (isAlias(node)) {
      if (this.#anchors.has(node.source)) return this.#anchors.get(node.source)
      this.#report(node, `anchor &${node.source} is not defined before it`)
      return null
    }
    if (!isScalar(node)) return null
    const { value } = node
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    this.#report(node, `${node.source} is not a JSON number`)
    return null
  }

  #object(map: YAMLMap): Record<string, unknown> {
    const own = new Map<string, unknown>()
    const merged = new Map<string, unknown>()
    for (const pair of map.items) {
      const key = keyText(pair)
      const value = this.read(pair.value)
      if (key === undefined) this.#report(pair.key as Node, 'a name must be a string')
      else if (isMerge(pair)) this.#merge(merged, value, pair.value as Node)
      else own.set(key, value)
    }
    // fromEntries sets __proto__ like any other name.
    return Object.fromEntries([...merged, ...own])
  }

  /** The first map that has a key wins; keys of the map itself win over all. */
  #merge(into: Map<string, unknown>, value: unknown, node: Node): void {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (typeof part !== 'object' || part === null || Array.isArray(part)) {
        this.#report(node, '<< must refer to maps')
        continue
      }
      for (const [key, its] of Object.entries(part)) if (!into.has(key)) into.set(key, its)
    }
  }
}

/** The key as written: 0012 is a name like any other. Undefined if it is not a scalar. */
export function keyText({ key }: Pair): string | undefined {
  if (!isScalar(key) || key.value === null) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<'
}
