// The text of a term that selects the devices with a value.

import { type AttributeValue, textOfValue } from './compare-values.ts'

/** Text that needs no quotes in any position. */
const plain = /^[\w.:/-]+$/

/** `fw=2.4.1`, or `site="São Paulo"`. */
export function termText(name: string, value: AttributeValue): string {
  const text = textOfValue(value)
  return `${name}=${plain.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`}`
}
