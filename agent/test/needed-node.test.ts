import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neededNode } from '../bin/needed-node.js'

/** Version, what the command line needs instead, what an embedded database needs instead. */
const versions = [
  ['18.20.8', '20.15.0', '24.15.0'],
  ['20.9.0', '20.15.0', '24.15.0'],
  ['20.15.0', undefined, '24.15.0'],
  ['21.7.3', '22.2.0', '24.15.0'],
  ['22.1.0', '22.2.0', '24.15.0'],
  ['22.2.0', undefined, '24.15.0'],
  ['24.14.1', undefined, '24.15.0'],
  ['24.15.0', undefined, undefined],
  ['25.6.1', undefined, '25.7.0'],
  ['25.7.0', undefined, undefined],
  ['26.0.0', undefined, undefined],
  ['100.0.0', undefined, undefined],
] as const

for (const [version, commands, sqlite] of versions) {
  test(`Node ${version} ${sqlite ? `cannot open a database, ${sqlite} can` : 'can open a database'}`, () => {
    assert.equal(neededNode('commands', version), commands)
    assert.equal(neededNode('sqlite', version), sqlite)
  })
}

test('the Node that runs the tests can do everything', () => {
  assert.equal(neededNode('commands'), undefined)
  assert.equal(neededNode('sqlite'), undefined)
})
