// How CI handles the responses of a registry, which is simulated here.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../src/temporary-folder.ts'

const script = fileURLToPath(new URL('../../.ci/check-dependencies', import.meta.url))
const onUnix = { skip: process.platform === 'win32' && 'it is a shell script' }

/** `advisories` by package; undefined if the registry has no such service. */
async function check(t: TestContext, advisories: object | undefined, ...words: string[]) {
  const registry = createServer((request, response) => {
    request.resume()
    const isAsked = request.method === 'POST' && request.url?.endsWith('/advisories/bulk')
    const body = isAsked && advisories
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body || {}))
  }).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  t.after(() => {
    registry.close()
    registry.closeAllConnections()
  })
  const folder = temporaryFolder(t)
  const sbom = join(folder, 'sbom.json')
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_cache: join(folder, 'cache'),
    // npm must not use a proxy of the machine.
    no_proxy: '127.0.0.1',
    npm_config_noproxy: '127.0.0.1',
    JOBCAST_SBOM: sbom,
  }
  type Ended = { code: number; stdout: string; stderr: string }
  const { code, stdout, stderr } = await new Promise<Ended>((resolve) => {
    execFile(script, words, { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
  return { code, stdout, sbom, printed: stdout + stderr }
}

const advisory = (severity: string) => ({
  fastify: [
    {
      id: 1,
      url: 'https://example.com/advisory',
      title: 'a hole',
      severity,
      vulnerable_versions: '>=0',
      cwe: [],
      cvss: { score: 9, vectorString: null },
    },
  ],
})

test(
  'a dependency with a moderate vulnerability passes, and the SBOM has what production needs',
  onUnix,
  async (t) => {
    const { code, stdout, sbom, printed } = await check(t, advisory('moderate'))
    assert.equal(code, 0, printed)
    assert.match(stdout, /^npm audit: no known vulnerabilities of severity high/m)
    const { bomFormat, components } = JSON.parse(readFileSync(sbom, 'utf8'))
    assert.equal(bomFormat, 'CycloneDX')
    const names = components.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('fastify'))
    assert.ok(!names.includes('vite'))
  },
)

test('a high one fails', onUnix, async (t) => {
  const { code, stdout, printed } = await check(t, advisory('high'), 'audit')
  assert.equal(code, 1, printed)
  assert.match(stdout, /a hole/)
})

test('a registry that does not answer is reported, and fails nothing', onUnix, async (t) => {
  const { code, stdout, printed } = await check(t, undefined, 'audit')
  assert.equal(code, 0, printed)
  assert.match(stdout, /^WARNING: the registry did not answer npm audit; dependencies were NOT checked/m)
})
