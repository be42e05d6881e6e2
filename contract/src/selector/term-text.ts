// The text of a term that picks the devices with a value.

import { type AttributeValue, textOfValue } from './compare-values.ts'

/** What needs no quotes, wherever it stands. */
const plain = /^[\w.:/-]+$/

/** `fw=2.4.1`, or `site="São Paulo"`. */
export function termText(name: string, value: AttributeValue): string {
  const text = textOfValue(value)
  return `${name}=${plain.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`}`
}
