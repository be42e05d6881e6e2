// Kills the real program at random times during uploads: each version is complete or absent, acknowledged ones exist, and the same
// call puts missing ones. Acknowledged parts of an upload are kept, and it continues after them.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '@jobcast/testkit/call-api'
import { openServer } from '@jobcast/testkit/open-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'

const kills = testSize('kills', { test: 2, chaos: 10 })
const callers = 4
/** Uploads of this size are in progress for some milliseconds. */
const bytes = 512 * 1024
/** A server is killed after at most so many answers, and a few milliseconds. */
const mostAnswers = 8
const mostMs = 30

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const contentOf = (version: string) => Buffer.alloc(bytes, `content of ${version}, `)

async function put(api: Api, version: string): Promise<number> {
  const headers = { 'content-type': 'application/octet-stream' }
  const reply = await api.call('PUT', `/job/api/files/app/${version}`, {
    rawBody: contentOf(version),
    headers,
  })
  assert.ok(reply.status === 200 || reply.status === 201, reply.text)
  return reply.status
}

/** Of everything in the folder that has a hash as its name. */
function keptIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?:^|\/)[0-9a-f]{64}$/.test(path),
  )
}

test(
  `killed ${kills} times during uploads, each file is complete or absent (seed ${testSeed})`,
  longTest,
  async (t) => {
    const dataFolder = temporaryFolder(t)
    const random = seededRandom(testSeed)
    const [tried, answered] = [new Set<string>(), new Set<string>()]
    for (let kill = 0; kill < kills; kill++) {
      const server = await spawnServer(dataFolder)
      let isOver = false
      const calling = Array.from({ length: callers }, async (_, caller) => {
        for (let number = 0; !isOver; number++) {
          const version = `${kill}.${caller}.${number}`
          tried.add(version)
          // A killed server sends no response.
          const status = await put(server, version).catch((error: Error) => {
            if (error instanceof assert.AssertionError) throw error
          })
          if (status !== undefined) answered.add(version)
        }
      })
      const answers = answered.size + 1 + random.below(mostAnswers)
      await waitUntil('enough is answered', () => answered.size >= answers)
      await sleep(random.below(mostMs))
      isOver = true
      await server.end('SIGKILL')
      await Promise.all(calling)
    }
    const files = join(dataFolder, 'files')
    for (const path of keptIn(files))
      assert.equal(hashOf(readFileSync(join(files, path))), path.slice(-64), path)
    const last = await openServer(t, { dataFolder })
    let missing = 0
    for (const version of tried) {
      const found = await last.call('GET', `/job/api/files/app/${version}`)
      if (found.status === 404) {
        assert.ok(!answered.has(version), `${version} was answered, and is not there`)
        missing++
        assert.equal(await put(last, version), 201)
      }
      const url = `${last.http}/job/api/files/app/${version}/content`
      const reply = await fetch(url, { headers: { 'x-api-key': last.adminKey } })
      assert.equal(hashOf(Buffer.from(await reply.arrayBuffer())), hashOf(contentOf(version)), version)
    }
    t.diagnostic(
      `${tried.size} uploads, ${answered.size} of them answered, ${missing} not there after the kills`,
    )
    assert.ok(answered.size > 0 && missing > 0, 'too little came in, or was cut, to prove anything')
  },
)

test(
  `killed ${kills} times, an upload in parts continues where it was (seed ${testSeed})`,
  longTest,
  async (t) => {
    const dataFolder = temporaryFolder(t)
    const random = seededRandom(testSeed)
    const content = Buffer.alloc(kills * 5 * 20_000, 'content of a large one, ')
    const partBytes = 20_000
    const digest = createHash('sha256').update(content).digest('base64')
    const send = async (api: Api, from?: number) => {
      const end = Math.min((from ?? 0) + partBytes, content.length)
      const range = from === undefined ? '*' : `${from}-${end - 1}`
      const reply = await api.call('PUT', '/job/api/files/large/1', {
        ...(from !== undefined && { rawBody: content.subarray(from, end) }),
        headers: {
          'content-type': 'application/octet-stream',
          'repr-digest': `sha-256=:${digest}:`,
          'content-range': `bytes ${range}/${content.length}`,
        },
      })
      assert.ok(reply.status <= 202, reply.text)
      return reply
    }
    let answered = 0
    for (let kill = 0; kill < kills; kill++) {
      const server = await spawnServer(dataFolder)
      const asked = (await send(server)).json.received
      assert.ok(asked >= answered, `${answered} bytes were answered, and ${asked} are there`)
      let at: number = asked
      const parts = 1 + random.below(3)
      for (let part = 0; part < parts; part++) at = answered = (await send(server, at)).json.received
      // Killed while the next part comes in, or just before, or just after.
      const next = send(server, at).then(
        ({ json }) => json.received as number,
        (error: Error) => {
          if (error instanceof assert.AssertionError) throw error
          return undefined
        },
      )
      await sleep(random.below(10))
      await server.end('SIGKILL')
      answered = (await next) ?? answered
    }
    const last = await openServer(t, { dataFolder })
    let reply = await send(last)
    assert.equal(reply.status, 202)
    assert.ok(reply.json.received >= answered && answered > 0)
    while (reply.status === 202) reply = await send(last, reply.json.received)
    assert.equal(reply.status, 201)
    const url = `${last.http}/job/api/files/large/1/content`
    const got = await fetch(url, { headers: { 'x-api-key': last.adminKey } })
    assert.equal(hashOf(Buffer.from(await got.arrayBuffer())), hashOf(content))
    assert.deepEqual(readdirSync(join(dataFolder, 'files', 'uploads', '1')), [])
  },
)
