import { isMap, isSeq, type Node } from 'yaml'
import { keyText } from './yaml-reader.ts'

/** Where a path leads to: the name of the last field on it. As far as it can be followed; an alias ends it. */
export function placeOf(from: unknown, path: readonly string[]): Node | undefined {
  let node = from
  let place: Node | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((each) => keyText(each) === step)
      if (pair === undefined) break
      place = pair.key as Node
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      place = node as Node | undefined
    } else break
  }
  return place
}
