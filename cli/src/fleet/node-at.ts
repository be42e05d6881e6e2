import { isMap, isSeq, type Node } from 'yaml'
import { keyText } from './yaml-reader.ts'

/** The node of the last field on a path that exists; paths are not followed through aliases. */
export function nodeAt(from: unknown, path: readonly string[]): Node | undefined {
  let node = from
  let found: Node | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((each) => keyText(each) === step)
      if (pair === undefined) break
      found = pair.key as Node
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      found = node as Node | undefined
    } else break
  }
  return found
}
