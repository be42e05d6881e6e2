// A hostile server: each response is genuine except for one part that an attacker has changed.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Envelope } from '@jobcast/contract/signature'
import type { Random } from '@jobcast/testkit/seeded-random'

type Route = 'next' | 'wait' | 'output' | 'report' | 'look' | 'attributes' | 'enroll'

/** Changes the responses of a route: another value at a path of the JSON, or another response. */
export type Attack = { route: Route; path?: readonly string[]; value?: unknown; answer?: Answer }
type Answer = { status: number; headers?: Record<string, string>; body: string; isEndless?: boolean }

type Json = { [name: string]: unknown }

type Genuine = { jobName: string; document: object; envelope: Envelope }

/** Texts that would run a command, or write a file in the folder, if they were interpreted. */
export function hostileTexts(canaries: string): string[] {
  let last = 0
  const touch = () => `touch ${canaries}/${++last}`
  const path = () => `${canaries}/${++last}`
  return [
    ...[
      `$(${touch()})`,
      `\`${touch()}\``,
      `PATH[$(${touch()})]`,
      `a[\`${touch()}\`]+1`,
      `1+PATH[$(${touch()})]`,
    ],
    ...[`';${touch()};'`, `";${touch()};"`, `\n${touch()}\n`, `;${touch()}`, `|${touch()}`, `&${touch()}&`],
    ...[`'"$(${touch()})"'`, `\\';${touch()};\\'`, `x=$(${touch()})`, `}\n${touch()}\n{`, `)\n${touch()}\n(`],
    ...[
      `jd_x"\noutput = "${path()}"\n`,
      `jd_${'x'.repeat(48)}\noutput = ${path()}`,
      `\r\nX: y\r\n-o ${path()}`,
    ],
    ...[`../../../../../../../../../..${path()}`, path(), `@${path()}`, `file://${path()}`, `-o${path()}`],
    ...['--help', '-n', '*', '~', '.', '..', '/', '${IFS}', '%s%n%d', '\\', "'", '"', '\u001b[2J', '\t', ''],
    ...[
      '0',
      '-1',
      '08',
      '0x10',
      '1e3',
      '1.5',
      '9'.repeat(10),
      '9'.repeat(25),
      '1 2',
      '1\n2',
      'é',
      '\u{1f600}',
    ],
    ...['x'.repeat(5000), '$'.repeat(300), 'a\u0000b', '\ud800'],
  ]
}

const hostileValues: unknown[] = [null, true, [], {}, [[]], -1, 1.5, 1e300, 2 ** 53, { a: { b: ['$(id)'] } }]

const fieldsOf: Record<Route, string[]> = {
  next: [
    ...[
      'execution',
      'execution.jobId',
      'execution.executionNumber',
      'execution.queuedAt',
      'execution.jobName',
    ],
    ...['execution.versionNumber', 'execution.statusDetails', 'execution.statusDetails.agent'],
    ...['execution.jobDocument', 'execution.traceparent', 'execution.runId', 'execution.parameters'],
    ...['execution.parameters.text', 'execution.parameters.$(id)', 'execution.jobSignature'],
    ...['execution.jobSignature.payloadType', 'execution.jobSignature.payload'],
    ...['execution.jobSignature.signatures', 'execution.jobSignature.signatures.0.sig'],
  ],
  wait: ['inProgressJobs', 'queuedJobs', 'message'],
  output: ['offset', 'cut', 'message'],
  report: ['executionState', 'executionState.versionNumber', 'executionState.status', 'message'],
  look: ['execution', 'execution.versionNumber', 'execution.jobId'],
  attributes: ['message', 'state'],
  enroll: ['deviceToken', 'message'],
}

const answers: Answer[] = [
  { status: 200, body: '' },
  { status: 200, body: '<html>' },
  { status: 200, body: '{"execution":{"jobId":"1' },
  { status: 200, body: '{"offset":1,"offset":2}' },
  { status: 200, body: `{"a":${'['.repeat(2000)}` },
  { status: 200, body: `[${'1,'.repeat(200_000)}1]` },
  { status: 200, body: '\0{"offset":"\0"}' },
  { status: 200, body: 'x'.repeat(65_536), isEndless: true },
  { status: 302, headers: { location: 'file:///etc/passwd' }, body: '' },
  { status: 400, body: '{"message":"\'$(id)`id`\\n\\u001b"}' },
  { status: 404, body: '{}' },
  { status: 409, body: '{"executionState":{"status":"IN_PROGRESS","versionNumber":"$(id)"}}' },
  { status: 500, headers: { 'retry-after': '$(id)' }, body: '$(id)' },
]

/** One of each field of each answer with each value, in random order. */
export function someAttacks(random: Random, canaries: string, count: number): Attack[] {
  const values = [...hostileTexts(canaries), ...hostileValues]
  const routes = (Object.keys(fieldsOf) as Route[]).filter((route) => route !== 'enroll')
  const fields = routes.flatMap((route) =>
    fieldsOf[route].map((field) => ({ route, path: field.split('.') })),
  )
  return Array.from({ length: count }, (): Attack => {
    if (random.chance(0.15)) return { route: random.pick(routes), answer: random.pick(answers) }
    return { ...random.pick(fields), value: random.pick(values) }
  })
}

type HostileServer = {
  http: string
  /** Resolves when all attacks were made, and the agent has then reported that the genuine job has run. */
  done: Promise<void>
  /** Of the requests that came. */
  count: number
  close(): void
}

/** Of an attack in a round: an agent repeats a report that got no answer, ever less often. */
const maxTries = 3

/** Makes one attack in each round; a round is what an agent does between two questions for work. */
export async function openHostileServer(
  genuine: Genuine,
  attacks: readonly Attack[],
): Promise<HostileServer> {
  const done = Promise.withResolvers<void>()
  let [round, received, taken] = [-1, 0, 0]
  let agent = ''
  const attack = () => (round % 2 === 0 ? attacks[round / 2] : undefined)
  const routeOf = (method = '', url = ''): Route => {
    if (url.endsWith('/enroll')) return 'enroll'
    if (url.endsWith('/attributes')) return 'attributes'
    if (url.endsWith('/$next')) return 'next'
    if (url.includes('/output?')) return 'output'
    if (method === 'POST') return 'report'
    return url.includes('wait=') ? 'wait' : 'look'
  }
  const genuineAnswer = (route: Route): Json => {
    if (route === 'output') return { offset: received }
    if (route === 'report') return { executionState: { status: 'SUCCEEDED', versionNumber: 1 } }
    if (route === 'look') return { execution: { jobId: String(round + 1), versionNumber: 1 } }
    if (route === 'wait') return { inProgressJobs: [], queuedJobs: [] }
    if (route === 'enroll') return { deviceId: 'd', deviceToken: `jd_${'x'.repeat(48)}` }
    if (route === 'attributes') return {}
    // Between attacks there is nothing to do, so that an agent that is waiting longer and longer starts over.
    if (round % 2 === 1 && round < attacks.length * 2) return {}
    const execution = {
      ...{ jobId: String(round + 1), executionNumber: 1, queuedAt: 1_700_000_000, versionNumber: 1 },
      ...{
        statusDetails: { agent },
        jobName: genuine.jobName,
        jobDocument: JSON.stringify(genuine.document),
      },
      ...{ parameters: { text: 'plain' }, runId: 7, jobSignature: structuredClone(genuine.envelope) },
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }
    return { execution }
  }
  const server: HostileServer = { http: '', done: done.promise, count: 0, close: () => http.close() }
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const route = routeOf(request.method, request.url)
    server.count++
    if (route === 'next') {
      round++
      received = 0
      agent = JSON.parse(body.toString()).statusDetails.agent
    }
    if (route === 'output') received = Math.max(received, offsetOf(request.url) + body.length)
    const now = route === 'enroll' ? attacks[0] : attack()
    const isAttacked = now !== undefined && now.route === route && taken++ < maxTries
    if (route === 'next') taken = 0
    if (round >= attacks.length * 2 && route === 'report' && /"SUCCEEDED"/.test(body.toString()))
      done.resolve()
    if (isAttacked && now.answer) return send(response, now.answer)
    const json = genuineAnswer(route)
    if (isAttacked && now.path) put(json, now.path, now.value)
    send(response, { status: route === 'enroll' ? 201 : 200, body: JSON.stringify(json) })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  server.http = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return server
}

function offsetOf(url = ''): number {
  return Number(new URL(url, 'http://x').searchParams.get('offset')) || 0
}

function send(response: ServerResponse, { status, headers = {}, body, isEndless }: Answer): void {
  response.on('error', () => undefined)
  response.writeHead(status, headers)
  if (!isEndless) {
    response.end(body)
    return
  }
  const more = () => {
    while (!response.destroyed && response.write(body));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

function put(json: Json, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    json[name] = value
    return
  }
  const inner = json[name]
  if (typeof inner === 'object' && inner !== null) put(inner as Json, rest, value)
}
