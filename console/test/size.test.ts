// What the first screen loads, gzipped, as the server sends it.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildConsoleIfStale, builtFolder } from '../build.ts'
import { test } from './browser-test.ts'
import { openConsole } from './open-console.ts'

const budget = 90 * 1024

test('the first load is at most 90 KB of JavaScript', async (t) => {
  let bytes = 0
  const { server, page } = await openConsole(t)
  const context = page.context()
  const again = await context.newPage()
  again.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) {
      bytes += Number(response.headers()['content-length'] ?? Number.POSITIVE_INFINITY)
    }
  })
  await again.goto(server.http)
  await again.locator('.figure').first().waitFor()
  t.diagnostic(`${(bytes / 1024).toFixed(1)} KB`)
  assert.ok(bytes > 0 && bytes <= budget, `${bytes} bytes`)
})

test('nothing that was built is loaded from elsewhere', async () => {
  await buildConsoleIfStale()
  const assets = join(builtFolder, 'assets')
  const texts = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name))
  for (const name of texts) {
    const text = readFileSync(join(assets, name), 'utf8')
    assert.doesNotMatch(text, /(?:import|url)\s*\(?\s*["']?https?:/, name)
    assert.ok(gzipSync(text).length <= budget, name)
  }
})
