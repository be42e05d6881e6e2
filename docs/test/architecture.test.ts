// ARCHITECTURE.md is true file by file.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = new URL('../../', import.meta.url)

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')
  const paths = [...text.matchAll(/`([\w-]+(?:\/[\w.-]+)+\/?)`/g)].map(([, path = '']) => path)
  assert.ok(paths.length > 40, `${paths.length} paths`)
  assert.deepEqual(
    paths.filter((path) => !existsSync(new URL(path, root))),
    [],
  )
})

test('ARCHITECTURE.md names files by their whole path', () => {
  const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')
  const short = [...text.matchAll(/`[^`/\n]+\.ts`/g)].map(([name]) => name)
  assert.deepEqual(short, [])
})
