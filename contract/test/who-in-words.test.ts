import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whoInWords } from '../src/who-in-words.ts'

test('people are named as they are, keys as keys, and whoever has no name by its id', () => {
  for (const who of ['user:ana-1', 'user ana-1', 'key user:3:ana-1'])
    assert.equal(whoInWords(who, 'Ana Pérez'), 'Ana Pérez')
  for (const who of ['key:k1', 'key k1']) assert.equal(whoInWords(who, 'ci-deploy'), 'key ci-deploy')
  assert.equal(whoInWords('enrollment:e1', 'gates'), 'enrollment gates')
  assert.equal(whoInWords('enrollment:e1', null), 'enrollment:e1')
  assert.equal(whoInWords('operator', null), 'operator')
  assert.equal(whoInWords(null, null), null)
})
