// Responses of a compromised server: real responses, with each field replaced by each of many values.

import type { Random } from '@jobcast/testkit/seeded-random'

export type Route = 'next' | 'list' | 'describe' | 'update' | 'output' | 'attributes' | 'enroll'
type HostileAnswer = { status: number; headers: Record<string, string>; body: string }

type Json = unknown
type Path = (string | number)[]

/** `folder`: where it tries to write, by commands and by paths. */
export function hostileValues(folder: string): Json[] {
  const run = `touch ${folder}/ran`
  return [
    ...[null, true, false, 0, -1, 1.5, 1e308, -(2 ** 63), [], {}, '', ' ', '0', '\0', 'ü\ud800'],
    ...[`$(${run})`, `\`${run}\``, `; ${run};`, `"; ${run} #`, `a[$(${run})]`, `x\n${run}\n`, `| ${run}`],
    ...[
      `${folder}/written`,
      '../../../outside/written',
      '../written',
      '..',
      '/',
      '~/written',
      '-o',
      '--',
      '%n%s',
    ],
    ...[
      `7/../../../outside`,
      `7\n8`,
      `1e3`,
      '9'.repeat(400),
      'x'.repeat(70_000),
      `jd_x"\noutput = "${folder}/written`,
    ],
    ...[[[[[[]]]]], ['touch', `${folder}/ran`], { command: ['touch', `${folder}/ran`] }],
    ...[
      { handler: 'mark' },
      { handler: '../mark' },
      '{"command":["touch","x"]}',
      { toString: 1, valueOf: 2 },
    ],
    ...[JSON.parse('{"__proto__":{"jobSignature":1,"handler":"mark"}}'), { length: 1e9 }, [1, 'a', null, {}]],
  ]
}

/** Every field at every depth, and the whole. */
export function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, each]) => pathsOf(each, [...path, name]))]
}

/** Undefined for `by`: the field is left out. */
export function replaced(value: Json, [name, ...rest]: Path, by: Json): Json {
  if (name === undefined) return by
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, Json>
  copy[name] = replaced(copy[name], rest, by)
  return copy
}

const exceptions = [
  'TerminalStateReachedException',
  'ResourceNotFoundException',
  'InvalidRequestException',
  '',
  'x',
]
const codes = [
  'TerminalStateReached',
  'InvalidStateTransition',
  'RequestThrottled',
  'VersionMismatch',
  'toString',
]

/** Mostly accepted; else refused, redirected, cut, too long or no JSON. `location` is where it would redirect to. */
export function hostileAnswer(random: Random, json: Json, location: string): HostileAnswer {
  const body = JSON.stringify(json) ?? ''
  if (random.chance(0.75)) return { status: 200, headers: {}, body }
  const code = random.pick(codes)
  const refused = JSON.stringify({
    code,
    message: `$(x)\n\u001b[2J${code}`,
    offset: random.pick([-1, 1e9, '0', 0.5]),
  })
  return random.pick([
    { status: 409, headers: { 'x-amzn-errortype': random.pick(exceptions) }, body: refused },
    { status: 302, headers: { location }, body },
    { status: 401, headers: {}, body },
    { status: 500, headers: {}, body },
    { status: 201, headers: { 'content-type': 'text/html' }, body: body.slice(0, body.length / 2) },
    { status: 200, headers: {}, body: `"${'x'.repeat(2_000_000)}"` },
  ])
}
