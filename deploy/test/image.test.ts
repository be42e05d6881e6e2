// What goes into the image, and what does not.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { dockerfileLines, readText, repository } from './files.ts'

const { workspaces } = JSON.parse(readText('package.json')) as { workspaces: string[] }

test('the image has the package jobcast and nothing of the checkout, for every platform', () => {
  const lines = dockerfileLines()
  const copied = lines.filter((line) => line.startsWith('COPY') && !line.startsWith('COPY . .'))
  assert.deepEqual(copied, [
    'COPY --from=node /usr/local/bin/node /usr/local/bin/node',
    'COPY --from=build /jobcast /app',
    'COPY deploy/healthcheck.mjs /app/deploy/healthcheck.mjs',
  ])
  // What is built runs on the machine that builds; Node comes from the platform of the image.
  const [build, node] = lines.filter((line) => line.startsWith('FROM'))
  assert.match(build ?? '', /--platform=\$BUILDPLATFORM/)
  assert.doesNotMatch(node ?? '', /--platform/)
  assert.ok(lines.some((line) => line.includes('deploy/packages/make-packages.ts')))
})

test('every workspace is let into the image, and no data', () => {
  const lines = readText('.dockerignore').split('\n')
  assert.equal(
    lines.find((line) => line !== '' && !line.startsWith('#')),
    '*',
  )
  const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  // npm ci wants to see the manifest of every workspace, also of one that is not in the image.
  const isAdmitted = (workspace: string) =>
    admitted.includes(workspace) || admitted.includes(`${workspace}/package.json`)
  assert.deepEqual(
    workspaces.filter((workspace) => !isAdmitted(workspace)),
    [],
  )
  for (const never of ['data', '.env', '.git', 'node_modules', 'docs', 'bench']) {
    assert.ok(!admitted.includes(never), never)
  }
})

test('it is not root, and starts what there is', () => {
  const lines = dockerfileLines()
  assert.ok(lines.includes('USER 10001:10001'))
  assert.ok(lines.includes('ENTRYPOINT ["jobcast"]') && lines.includes('CMD ["serve"]'))
  for (const [, path = ''] of lines.join('\n').matchAll(/\/app\/([\w/]+\.m?js)/g)) {
    assert.ok(existsSync(`${repository}/${path}`) || existsSync(`${repository}/cli/${path}`), path)
  }
})

test('the health check sees a server that is ready, and one that is gone', async (t) => {
  const { server } = await openServer(t)
  const check = async () => {
    const program = `${repository}/deploy/healthcheck.mjs`
    const env = { ...process.env, JOBCAST_PORT: new URL(server.http).port }
    const [code] = await once(spawn(process.execPath, [program], { env, stdio: 'inherit' }), 'exit')
    return code
  }
  assert.equal(await check(), 0)
  await server.stop()
  assert.equal(await check(), 1)
})
