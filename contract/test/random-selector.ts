// Random selectors and devices, for the tests of the language and of the statements that stores make of it.

import type { SelectableDevice, Selector } from '@jobcast/contract/selector'
import fc from 'fast-check'

const values = [
  '',
  'a',
  'ab',
  'b',
  'Berlin',
  '0',
  '2',
  '10',
  '-3',
  '2.4',
  '2.10',
  '2.4.0',
  '2.4.0-rc.2',
  '2.4.0-rc.10',
  'v2',
  'v2.4',
  'v2.10',
  'v2.4.0-rc.2',
]
const odd = [
  '2.4.0+b1',
  '1e5',
  'true',
  'a b',
  'é',
  '\u{1F6AA}',
  '\uFFFD',
  '"',
  '\\',
  '007',
  'v',
  'vx',
  'V2.4',
]
const literal = fc.constantFrom(...values, ...odd)
const names = [
  'fw',
  'reported.fw',
  'own.fw',
  'site',
  'ram',
  'reported.ram',
  'tag',
  'deviceId',
  'deviceName',
  'nobody-has-it',
]
const name = fc.constantFrom(...names)
const tags = ['a', 'ab', 'b', 'kiosk']

const term: fc.Arbitrary<Selector> = fc.oneof(
  fc.record({
    kind: fc.constant('compare' as const),
    name,
    op: fc.constantFrom('=', '!=', '<', '<=', '>', '>=', '~'),
    value: fc.oneof(literal, fc.constantFrom('device-1', 'device-12', 'kiosk')),
  }),
  fc.record({
    kind: fc.constant('compare' as const),
    name,
    op: fc.constant('~' as const),
    value: fc.constantFrom('*', 'a*', '2.*', 'device-1*', 'B*', '\u{1F6AA}*', '-*'),
  }),
  fc.record({
    kind: fc.constant('in' as const),
    name,
    values: fc.array(fc.oneof(literal, fc.constantFrom('device-2', 'device-3')), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
  fc.constant({ kind: 'online' as const }),
  fc.constant({ kind: 'all' as const }),
)

const isNot = ({ kind }: Selector) => kind === 'not'

/** As the parser gives them: no `and` directly inside `and`, no `not` of a `not`. */
export const selectors: fc.Arbitrary<Selector> = fc.letrec<{ any: Selector }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    term,
    fc
      .record({
        kind: fc.constantFrom('and', 'or'),
        of: fc.array(tie('any'), { minLength: 2, maxLength: 3 }),
      })
      .filter(({ kind, of }) => of.every((each) => each.kind !== kind)),
    tie('any')
      .filter((of) => !isNot(of))
      .map((of) => ({ kind: 'not' as const, of })),
  ),
})).any

const value = fc.oneof(literal, fc.constantFrom(0, 2, 2.5, 2.1, 10, -3, 1e5, 1e21), fc.boolean())

export const devices: fc.Arbitrary<SelectableDevice> = fc.record({
  deviceId: fc.nat(29).map((n) => `device-${n}`),
  deviceName: fc.constantFrom('a', 'b', '2.10', 'Berlin', '\u{1F6AA}'),
  tags: fc.subarray(tags).map((chosen) => chosen.toSorted()),
  online: fc.boolean(),
  attributes: fc.record({ fw: value, site: value, ram: value }, { requiredKeys: [] }),
  reportedAttributes: fc.record({ fw: value, site: value, ram: value }, { requiredKeys: [] }),
})

export function toText(selector: Selector): string {
  switch (selector.kind) {
    case 'and':
    case 'or':
      return selector.of
        .map((each) => (isJoined(each) ? `(${toText(each)})` : toText(each)))
        .join(` ${selector.kind} `)
    case 'not':
      return `not ${isJoined(selector.of) ? `(${toText(selector.of)})` : toText(selector.of)}`
    case 'compare':
      return `${selector.name}${selector.op}${quoted(selector.value)}`
    case 'in':
      return `${selector.name} in (${selector.values.map(quoted).join(', ')})`
    case 'group':
      return `group=${quoted(selector.groupName)}`
    default:
      return selector.kind
  }
}

function isJoined({ kind }: Selector): boolean {
  return kind === 'and' || kind === 'or'
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
