// YAML nodes -> what JSON knows, with anchors and merge keys. The yaml package's own toJS looks through the whole document
// for every alias, which ten thousand devices that share their tags cannot afford.

import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'

export type Tell = (node: Node | null | undefined, problem: string) => void

/** One per document. Nodes are to be read in their order: an alias stands for what was read before it. */
export class YamlReader {
  readonly #anchors = new Map<string, unknown>()
  readonly #tell: Tell

  constructor(tell: Tell) {
    this.#tell = tell
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
      this.#tell(node, `there is no &${node.source} before it`)
      return null
    }
    if (!isScalar(node)) return null
    const { value } = node
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    this.#tell(node, `${node.source} is no number that JSON knows`)
    return null
  }

  #object(map: YAMLMap): Record<string, unknown> {
    const own = new Map<string, unknown>()
    const merged = new Map<string, unknown>()
    for (const pair of map.items) {
      const key = keyText(pair)
      const value = this.read(pair.value)
      if (key === undefined) this.#tell(pair.key as Node, 'a name must be text')
      else if (isMerge(pair)) this.#merge(merged, value, pair.value as Node)
      else own.set(key, value)
    }
    // fromEntries sets __proto__ like any other name.
    return Object.fromEntries([...merged, ...own])
  }

  /** Of several the first that has a name wins, and what the map says itself wins over all. */
  #merge(into: Map<string, unknown>, value: unknown, node: Node): void {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (typeof part !== 'object' || part === null || Array.isArray(part)) {
        this.#tell(node, '<< must name maps')
        continue
      }
      for (const [key, its] of Object.entries(part)) if (!into.has(key)) into.set(key, its)
    }
  }
}

/** As it is written: 0012 is a name like any other. Undefined where it is no plain text. */
export function keyText({ key }: Pair): string | undefined {
  if (!isScalar(key) || key.value === null) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<'
}
