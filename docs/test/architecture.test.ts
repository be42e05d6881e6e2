// All files in ARCHITECTURE.md exist.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

const domain = new URL('server/src/domain/', root)
for (const subject of readdirSync(domain).filter((folder) => folder !== 'common')) {
  test(`domain/${subject} opens with a file of its name, which names the files to read next`, () => {
    const folder = new URL(`${subject}/`, domain)
    const [opening = ''] = readFileSync(new URL(`${subject}.ts`, folder), 'utf8').split(/^(?!\/\/)/m)
    const [, next = ''] = opening.replaceAll(/\n\/\/ ?/g, ' ').split('Read next: ')
    const files = next.match(/[\w-]+\.ts/g) ?? []
    assert.ok(files.length > 1, opening)
    assert.deepEqual(
      files.filter((file) => !existsSync(new URL(file, folder))),
      [],
    )
  })
}
