// Attributes of devices: a flat map, used in selectors.

import Type, { type Static } from 'typebox'
import { maxAttributes, maxAttributeText } from './selector/attribute-rules.ts'
import { mustBe } from './text.ts'

export * from './selector/attribute-rules.ts'

export const AttributeValue = Type.Union([
  Type.String({ maxLength: maxAttributeText }),
  Type.Number(),
  Type.Boolean(),
])
export type AttributeValue = Static<typeof AttributeValue>

export const Attributes = Type.Record(Type.String(), AttributeValue, {
  maxProperties: maxAttributes,
  description:
    'Names of 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -; values are text of at most 256 ' +
    'characters, numbers, or true and false',
  examples: [{ site: 'berlin', fw: '2.4.0', ram: 512 }],
})
export type Attributes = Static<typeof Attributes>

/** Null removes an attribute. The limit allows all attributes to be replaced by others. */
export const AttributeChanges = Type.Record(
  Type.String(),
  Type.Union([...AttributeValue.anyOf, Type.Null()]),
  { maxProperties: 2 * maxAttributes, examples: [{ site: 'lima', model: null }] },
)
export type AttributeChanges = Static<typeof AttributeChanges>

export const TimeZone = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$',
  [mustBe]: 'the name of an IANA time zone such as Europe/Berlin',
  examples: ['Europe/Berlin'],
})
