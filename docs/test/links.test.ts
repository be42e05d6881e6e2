import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { anchorsOf, linksOf } from './markdown.ts'
import { pages, readPage, repository } from './pages.ts'

const all = [
  ...new Set([
    ...pages,
    ...globSync('*.md', { cwd: repository }),
    ...globSync('*/README.md', { cwd: repository }),
  ]),
]

test('every link leads to a file that is there, and to a heading of it', () => {
  const broken = all.flatMap((page) =>
    linksOf(readPage(page))
      .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('every page of docs/ can be found from docs/README.md', () => {
  const found = new Set(['docs/README.md'])
  for (const page of found) {
    for (const link of linksOf(readPage(page))) {
      const target = normalize(join(dirname(page), link.replace(/#.*/, '')))
      if (pages.includes(target)) found.add(target)
    }
  }
  const lost = pages.filter((page) => page.startsWith('docs/') && !found.has(page))
  assert.deepEqual(lost, [])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(repository, target))) return false
  return anchor === undefined || (target.endsWith('.md') && anchorsOf(readPage(target)).has(anchor))
}
