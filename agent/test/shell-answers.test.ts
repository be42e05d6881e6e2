// jobcast-agent.sh with a server that reproduces rare orders of responses.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { within } from '@jobcast/testkit/within'
import { type AgentProgram, findShellPrograms, startProgram } from './support/programs.ts'

const content = Buffer.alloc(100_000, 'x')
const sha256 = createHash('sha256').update(content).digest('hex')
const limitMs = 60_000

type Sent = { status: string; statusDetails: Record<string, string> }
type Scene = {
  document: object
  /** Answers the GET of the file. */
  sendFile?: (response: ServerResponse, range: string | undefined) => void
  /** Of the execution after a report that is not its end. */
  afterReport: (version: number) => number
  /** Replaces the response of the service; `count`: the number of such requests so far. */
  interfere?: (what: 'output' | 'look' | 'end', count: number) => Interference | undefined
}
type Interference = { status: number; body: string } | 'cut'
type Outcome = Sent & { output: string; looks: number }

/** One execution; resolves with the report that ends it. */
async function runAgent(
  t: TestContext,
  program: AgentProgram,
  { document, sendFile, afterReport, interfere }: Scene,
) {
  const folder = temporaryFolder(t)
  const handlers = join(folder, 'handlers')
  mkdirSync(handlers)
  writeFileSync(join(handlers, 'lasting'), '#!/bin/sh\necho "::progress 5 text"\nexec sleep 600\n', {
    mode: 0o755,
  })
  writeFileSync(join(handlers, 'short'), '#!/bin/sh\necho one\nsleep 3\necho two\n', { mode: 0o755 })
  const ended = Promise.withResolvers<Outcome>()
  let version = 1
  let agent = ''
  let output = ''
  const counts = { output: 0, look: 0, end: 0 }
  const http = createServer(async (request, response) => {
    const { method, url = '', headers } = request
    if (url === '/file') return sendFile?.(response, headers.range)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const answer = (body: object) => response.end(JSON.stringify(body))
    const isDisturbed = (what: keyof typeof counts) => {
      const other = interfere?.(what, counts[what]++)
      if (other === 'cut') response.destroy()
      else if (other) response.writeHead(other.status, { 'content-type': 'text/html' }).end(other.body)
      return other !== undefined
    }
    if (url.endsWith('/$next')) {
      if (agent !== '') return answer({})
      agent = JSON.parse(text).statusDetails.agent
      const files = { data: { url: `${address()}/file`, size: content.length, sha256 } }
      const execution = {
        ...{ jobId: '1', executionNumber: 1, queuedAt: 1_700_000_000, versionNumber: ++version },
        ...{ statusDetails: { agent }, jobName: 'a', jobDocument: JSON.stringify(document), files },
      }
      return answer({ execution })
    }
    if (url.includes('/output?')) {
      if (isDisturbed('output')) return
      const offset = Number(new URL(url, address()).searchParams.get('offset'))
      output = output.slice(0, offset) + text
      return answer({ offset: output.length })
    }
    if (url.endsWith('/attributes')) return answer({})
    if (method === 'POST') {
      const sent = JSON.parse(text) as Sent
      if (sent.status === 'IN_PROGRESS') version = afterReport(version)
      else if (isDisturbed('end')) return
      else ended.resolve({ ...sent, output, looks: counts.look })
      return answer({ executionState: { status: sent.status, versionNumber: version } })
    }
    if (url.includes('wait=')) return setTimeout(() => answer({ inProgressJobs: [], queuedJobs: [] }), 1000)
    if (isDisturbed('look')) return
    return answer({ execution: { jobId: '1', versionNumber: version } })
  })
  const address = () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  const device = { deviceId: 'd', token: `jd_${'A'.repeat(48)}`, folder, handlers, fail: () => undefined }
  const started = startProgram(t, program, device, address(), { HOME: folder, TMPDIR: folder })
  const outcome = await within(limitMs, () => `not ended:\n${started.printed()}`, ended.promise)
  await started.end('SIGKILL')
  return outcome
}

/** With fewer retries and no delays between them, which would take minutes. */
function impatient(t: TestContext, program: AgentProgram): AgentProgram {
  const [script = '', ...shell] = program.words.toReversed()
  const copy = join(temporaryFolder(t), 'jobcast-agent.sh')
  const text = readFileSync(script, 'utf8')
    .replace('max_fetch_tries=30', 'max_fetch_tries=4')
    .replace('then pause "$delay" &&', 'then')
  writeFileSync(copy, text)
  chmodSync(copy, 0o755)
  return { ...program, words: [...shell.toReversed(), copy] }
}

function cutFile(response: ServerResponse, status: number, from: number): void {
  response.on('error', () => undefined)
  response.writeHead(status, {
    'content-length': content.length - from,
    ...(status === 206 && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
  })
  response.write(content.subarray(from, from + 1000), () => setTimeout(() => response.destroy(), 50))
}

for (const program of findShellPrograms()) {
  if (program.isOther) continue
  const skip = program.missing ?? false
  const file = { handler: 'lasting', files: ['data'] }
  /** The owner cancels it before the first report. */
  const canceledBefore = () => {
    let reports = 0
    return (version: number) => (reports++ === 0 ? version + 2 : version + 1)
  }

  test(`${program.name} notices a cancel just before its progress report`, { skip }, async (t) => {
    const outcome = await runAgent(t, program, {
      document: { handler: 'lasting' },
      afterReport: canceledBefore(),
    })
    assert.equal(outcome.status, 'CANCELED')
  })

  test(`${program.name} notices a cancel while it reports the progress of a download`, {
    skip,
  }, async (t) => {
    const afterReport = canceledBefore()
    const sendFile = (response: ServerResponse, range = 'bytes=0-') => {
      cutFile(response, range === 'bytes=0-' ? 200 : 206, Number(/\d+/.exec(range)?.[0]))
    }
    const { status, statusDetails } = await runAgent(t, program, { document: file, sendFile, afterReport })
    assert.deepEqual([status, statusDetails.reason], ['CANCELED', 'canceled before it was started'])
  })

  test(`${program.name} sends output and end when the service responds again`, { skip }, async (t) => {
    const page = { status: 404, body: 'default backend' }
    const disturbances = {
      output: ['cut', page],
      end: [
        { status: 408, body: '{"code":"J-903"}' },
        { status: 200, body: '<html>Sign in' },
      ],
    } as const
    const { status, output, looks } = await runAgent(t, program, {
      document: { handler: 'short' },
      afterReport: (version) => version + 1,
      interfere: (what, count) => (what === 'look' ? page : disturbances[what][count]),
    })
    assert.deepEqual([status, output], ['SUCCEEDED', 'one\ntwo\n'])
    assert.ok(looks > 0, 'it did not look for a cancel')
  })

  test(`${program.name} gives up a file that is cut by a server without ranges`, { skip }, async (t) => {
    const { status, statusDetails } = await runAgent(t, impatient(t, program), {
      document: file,
      sendFile: (response) => cutFile(response, 200, 0),
      afterReport: (version) => version + 1,
    })
    assert.equal(status, 'FAILED')
    assert.match(statusDetails.reason ?? '', /the file data cannot be fetched/)
  })
}
