// The runner itself: a failure in a file fails its process, and files do not see what others have opened.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const runner = fileURLToPath(new URL('../runner/run-files.ts', import.meta.url))

function run(t: TestContext, ...contents: string[]): { code: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'jobcast-run-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = contents.map((content, index) => {
    const file = join(folder, `${index}.test.ts`)
    writeFileSync(file, `import { after, test } from 'node:test'\n${content}`)
    return file
  })
  const { status, stdout } = spawnSync(process.execPath, ['--test-reporter=spec', runner, ...files], {
    encoding: 'utf8',
    // No colors, which FORCE_COLOR would enable even in a pipe.
    env: { ...process.env, NODE_TEST_CONTEXT: '', FORCE_COLOR: '0' },
  })
  return { code: status, output: stdout }
}

test('a file ends before the next one is loaded', (t) => {
  const first = `
    globalThis.open = true
    await null
    after(() => { globalThis.open = false })
    test('a', () => new Promise((resolve) => setTimeout(resolve, 20)))`
  const second = `
    const wasOpen = globalThis.open
    test('b', () => { if (wasOpen !== false) throw new Error('still open') })`
  const { code, output } = run(t, first, second)
  assert.equal(code, 0, output)
  assert.match(output, /^ℹ pass 2$/m)
})

test('a file that throws while it loads fails, also after its first test, and the others run', (t) => {
  const { code, output } = run(t, `test('a', () => {})\nthrow new Error('broken')`, `test('b', () => {})`)
  assert.equal(code, 1)
  assert.match(output, /broken/)
  assert.match(output, /✔ b /)
})

test('a test that fails, or throws after it has ended, fails the process', (t) => {
  assert.equal(run(t, `test('a', () => { throw new Error('wrong') })`).code, 1)
  const late = `test('a', () => { setTimeout(() => { throw new Error('late') }, 5) })
    test('b', () => new Promise((resolve) => setTimeout(resolve, 50)))`
  assert.equal(run(t, late).code, 1)
})
