// The selector language: valid and invalid selectors, and matching.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AttributeValue,
  asReported,
  compileSelector,
  isAttributeName,
  matchesSelector,
  parseSelector,
  type SelectableDevice,
  type Selector,
  SelectorError,
} from '@jobcast/contract/selector'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { devices, selectors, toText } from './random-selector.ts'

const device: SelectableDevice = {
  deviceId: 'kiosk-1',
  deviceName: 'Kiosk 1, Berlin',
  tags: ['berlin', 'kiosk'],
  online: false,
  attributes: {
    site: 'berlin',
    fw: '2.9.1',
    ram: 512,
    load: 0.8,
    beta: true,
    build: '2.4.0-rc.2',
    release: 'v2.10.0',
    empty: '',
  },
  reportedAttributes: { fw: '2.8', kernel: '6.1' },
}

const matching: [string, boolean][] = [
  ['all', true],
  ['online', false],
  ['not online', true],
  ['tag=kiosk and site in (berlin, lima) and fw<2.10.0 and not online', true],
  ['tag = kiosk AND Not Online', true],
  ['tag!=kiosk', false],
  ['tag!=robot', true],
  ['tag~ki*', true],
  ['tag in (robot, berlin)', true],
  ['deviceId=kiosk-1', true],
  ['deviceId~kiosk-*', true],
  ['deviceId~kiosk', false],
  ['deviceName="Kiosk 1, Berlin"', true],
  ['deviceName~"Kiosk 1*"', true],
  ['fw>2.9', true],
  ['fw<2.10', true],
  ['fw=2.9.1', true],
  ['fw=2.9.1.0', true],
  ['fw>=3 or site=berlin', true],
  ['ram>100', true],
  ['ram<1000', true],
  ['ram=512.0', true],
  ['load<0.75', false],
  ['load>0.75', true],
  ['beta=true', true],
  ['beta!=false', true],
  ['build<2.4.0', true],
  ['build>2.4.0-rc.1', true],
  ['build<2.4.0-rc.10', true],
  ['release=2.10.0', true],
  ['release=v2.10', true],
  ['release>v2.9', true],
  ['release>2.9', true],
  ['release<v2.10.1', true],
  ['release<v2.10.0-rc.1', false],
  ['release in (v2.10.0)', true],
  ['release~v2.*', true],
  ['release~2.*', false],
  ['fw<v2.10.0', true],
  ['fw=v2.9.1', true],
  ['build<v2.4.0', true],
  ['ram=v512', true],
  ['ram<v1000', true],
  ['ram<v2.10.0', false],
  ['site<v2', true],
  ['empty=""', true],
  ['reported.fw=2.8', true],
  ['reported.fw=2.9.1', false],
  ['own.fw=2.9.1', true],
  ['fw=2.8', false],
  ['kernel=6.1 and reported.kernel in (6.1) and reported.kernel<6.2', true],
  ['own.kernel=6.1', false],
  ['own.kernel!=6.1', false],
  ['reported.site=berlin', false],
  ['not reported.site=berlin', true],
  ['color=red', false],
  ['color!=red', false],
  ['not color=red', true],
  ['color<5 or color>=5', false],
  ['site=lima or tag=kiosk and fw=1', false],
  ['(site=lima or tag=kiosk) and fw>1', true],
  ['not (site=lima or tag=kiosk)', false],
  ['site<c and site>b', true],
]

test('a selector matches what it says', () => {
  for (const [text, expected] of matching) {
    assert.equal(matchesSelector(parseSelector(text), device), expected, text)
  }
})

const unreadable: [string, number, RegExp][] = [
  ['', 1, /expected a name/],
  ['tag', 4, /expected one of = != < <= > >= ~ or "in"/],
  ['tag=', 5, /expected a value/],
  ['tag=kiosk and', 14, /expected a name/],
  ['tag=kiosk tag=x', 11, /expected "and", "or" or the end/],
  ['(tag=kiosk', 11, /expected "\)"/],
  ['tag=kiosk)', 10, /expected "and", "or" or the end/],
  ['site in berlin', 9, /expected "\("/],
  ['site in ()', 10, /expected a value/],
  ['site in (a b)', 12, /expected "," or "\)"/],
  ['site=a;b', 7, /unexpected character ;/],
  ['site="berlin', 6, /closing double quote/],
  ['site="a\\n"', 8, /backslash/],
  ['site="a\tb"', 6, /control characters/],
  ['not not online', 5, /expected a name/],
  ['deviceId~*-1', 10, /only at the end of the value/],
  ['group~x', 6, /expected "=" after "group"/],
  ['2x=1', 1, /expected a name/],
  ['reported.tag=x', 1, /expected a name/],
  ['own.=x', 1, /expected a name/],
  ['own.and=x', 1, /expected a name/],
  ['reported.own.fw=1', 1, /expected a name/],
  [`own.${'a'.repeat(65)}=1`, 1, /expected a name/],
  ['=1', 1, /expected a name/],
  ['and=1', 1, /expected a name/],
  [`site="${'x'.repeat(5000)}"`, 1, /at most 4096 bytes/],
  [`site="${'é'.repeat(2050)}"`, 1, /at most 4096 bytes/],
  [Array(65).fill('a=1').join(' or '), 64 * 7 + 1, /at most 64 terms/],
  [`${'('.repeat(65)}all${')'.repeat(65)}`, 65, /nested at most 64 levels deep/],
]

test('what cannot be read says where and why', () => {
  for (const [text, position, message] of unreadable) {
    assert.throws(
      () => parseSelector(text),
      (error) => {
        assert.ok(error instanceof SelectorError, text)
        assert.match(error.message, message, text)
        assert.equal(error.position, position, text)
        return true
      },
    )
  }
})

test('names of attributes are words that a selector can name', () => {
  for (const name of [
    'fw',
    '_x',
    'os.version',
    'agent-version',
    'own',
    'reported',
    'owner.x',
    'a'.repeat(64),
  ])
    assert.ok(isAttributeName(name))
  for (const name of [
    '',
    '2x',
    'a b',
    'own.fw',
    'reported.fw',
    'tag',
    'deviceId',
    'Not',
    'online',
    '.',
    'a'.repeat(65),
  ]) {
    assert.ok(!isAttributeName(name), name)
  }
})

test('in a gate a bare name is what devices report', () => {
  const read = (text: string) => asReported(parseSelector(text))
  assert.deepEqual(
    read('not (fw=2 or site in (a)) and own.x=1 and reported.y=2 and tag=t and online'),
    parseSelector(
      'not (reported.fw=2 or reported.site in (a)) and own.x=1 and reported.y=2 and tag=t and online',
    ),
  )
})

test('any text is read or refused with a position inside of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      try {
        parseSelector(text)
      } catch (error) {
        assert.ok(error instanceof SelectorError && error.position >= 1 && error.position <= text.length + 1)
      }
    }),
  )
})

test('random selectors are read as they were written, and match what a naive evaluator says', () => {
  fc.assert(
    fc.property(selectors, devices, (selector, each) => {
      const read = parseSelector(toText(selector))
      assert.deepEqual(read, structuredClone(selector))
      assert.equal(matchesSelector(read, each), naively(selector, each))
      assert.equal(compileSelector(read)(each), naively(selector, each))
    }),
    randomInputs({ test: 2000, chaos: 100_000 }),
  )
})

function naively(selector: Selector, each: SelectableDevice): boolean {
  if (selector.kind === 'all') return true
  if (selector.kind === 'online') return each.online
  if (selector.kind === 'not') return !naively(selector.of, each)
  if ('of' in selector) {
    const matching = selector.of.filter((part) => naively(part, each)).length
    return selector.kind === 'and' ? matching === selector.of.length : matching > 0
  }
  if (selector.kind === 'group') throw new Error('no groups here')
  if (selector.kind === 'in') {
    return selector.values.some((value) =>
      naively({ kind: 'compare', name: selector.name, op: '=', value }, each),
    )
  }
  const { name, op, value } = selector
  if (name === 'tag' && op === '!=') return !naively({ ...selector, op: '=' }, each)
  return valuesOf(each, name).some((own) => {
    if (op === '~')
      return value.endsWith('*') ? String(own).indexOf(value.slice(0, -1)) === 0 : String(own) === value
    const order = isText(name) ? byBytes(String(own), value) : naiveOrder(own, value)
    return {
      '=': order === 0,
      '!=': order !== 0,
      '<': order < 0,
      '<=': order <= 0,
      '>': order > 0,
      '>=': order >= 0,
    }[op]
  })
}

const isText = (name: string) => ['tag', 'deviceId', 'deviceName'].includes(name)

function valuesOf(each: SelectableDevice, name: string): AttributeValue[] {
  if (name === 'tag') return [...each.tags]
  if (name === 'deviceId' || name === 'deviceName') return [each[name]]
  const [side, bare = name] = name.includes('.') ? name.split('.') : []
  const own = side === 'reported' ? undefined : each.attributes[bare]
  const value = own ?? (side === 'own' ? undefined : each.reportedAttributes[bare])
  return value === undefined ? [] : [value]
}

function naiveOrder(own: AttributeValue, literal: string): number {
  const isNumber = typeof own === 'number' || /^-\d/.test(String(own))
  const plain = versionOf(literal) ? literal.replace(/^v/, '') : literal
  if (isNumber && plain !== '' && !Number.isNaN(Number(plain))) return Number(own) - Number(plain)
  const [one, other] = [versionOf(own), versionOf(literal)]
  if (!isNumber && one && other) return naiveVersionOrder(one, other)
  return byBytes(String(own), isNumber ? plain : literal)
}

type Version = { pieces: number[]; pre: string[]; build: string }

function versionOf(value: AttributeValue): Version | undefined {
  const match = /^v?([\d.]+)(-[^+]*)?(\+.*)?$/.exec(String(value))
  const pieces = match?.[1]?.split('.').map((piece) => (piece === '' ? Number.NaN : Number(piece)))
  if (!match || pieces === undefined || pieces.some(Number.isNaN)) return undefined
  return { pieces, pre: match[2]?.slice(1).split('.') ?? [], build: match[3] ?? '' }
}

function naiveVersionOrder(one: Version, other: Version): number {
  for (let at = 0; at < 9; at++) {
    const order = (one.pieces[at] ?? 0) - (other.pieces[at] ?? 0)
    if (order !== 0) return order
  }
  if (one.pre.length === 0 || other.pre.length === 0) {
    return other.pre.length - one.pre.length || byBytes(one.build, other.build)
  }
  for (const [at, piece] of one.pre.entries()) {
    const own = other.pre[at] ?? ''
    const order = /^\d+$/.test(piece) && /^\d+$/.test(own) ? Number(piece) - Number(own) : byBytes(piece, own)
    if (order !== 0) return order
  }
  return one.pre.length - other.pre.length || byBytes(one.build, other.build)
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
