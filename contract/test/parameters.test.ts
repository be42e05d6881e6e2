// Placeholders, schemas of parameters and their values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkParameterSchema,
  fillTemplate,
  judgeParameters,
  maskSecrets,
  ParameterError,
  type ParameterSchema,
  type ParameterValue,
  PlaceholderError,
  parameterVariable,
  parseDocument,
  resolveDocument,
  templateJson,
} from '@jobcast/contract/parameters'
import { randomInputs, testSeed } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'

const params = { url: 'https://x/?a="1"', count: 3, on: true, ports: [80, 443], empty: '' }
const attributes = { site: 'berlin', ram: 512, beta: false }
const device = { deviceId: 'kiosk-1', deviceName: 'Kiosk "1"', attributes }
const objects = {
  'aws:iot:s3-presigned-url-v2:https://s3.amazonaws.com/b/k': 'https://signed',
  'aws:iot:s3-presigned-url:b/k': 'https://signed/v1',
}
const values = { params, secrets: { TOKEN: 'a "b"' }, objects, device, run: { runId: 17 } }

const resolving: [unknown, unknown][] = [
  ['${params.count}', 3],
  ['${params.on}', true],
  ['${params.ports}', [80, 443]],
  ['${params.empty}', ''],
  ['n=${params.count}', 'n=3'],
  ['${params.count}${params.count}', '33'],
  ['ports ${params.ports}', 'ports [80,443]'],
  ['get ${params.url}', 'get https://x/?a="1"'],
  ['${device.deviceId} ${device.deviceName}', 'kiosk-1 Kiosk "1"'],
  ['${device.attributes.ram}', 512],
  ['${device.attributes.site:-none}', 'berlin'],
  ['${device.attributes.floor:-none}', 'none'],
  ['${device.attributes.floor:-}', ''],
  ['${device.attributes.floor:-a:-b}', 'a:-b'],
  ['${run.runId}', 17],
  ['${secrets.TOKEN}', 'a "b"'],
  ['Bearer ${secrets.TOKEN}', 'Bearer a "b"'],
  ['${aws:iot:s3-presigned-url-v2:https://s3.amazonaws.com/b/k}', 'https://signed'],
  ['at ${aws:iot:s3-presigned-url:b/k}', 'at https://signed/v1'],
  ['$${secrets.TOKEN}', '${secrets.TOKEN}'],
  ['$${params.count}', '${params.count}'],
  ['$$${params.count}', '$${params.count}'],
  ['a $5 $ {x} }', 'a $5 $ {x} }'],
  [
    { a: [1, null, '${run.runId}', { b: 'x' }], '${k}': 2 },
    { a: [1, null, 17, { b: 'x' }], '${k}': 2 },
  ],
]

for (const [document, expected] of resolving) {
  test(`${JSON.stringify(document)} becomes ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(resolveDocument(document, values), { document: expected, missing: [] })
  })
}

test('what has no value is named, and there is no document', () => {
  const { document, missing } = resolveDocument(
    ['${params.x} ${device.attributes.floor}', '${run.runId}'],
    values,
  )
  assert.equal(document, undefined)
  assert.deepEqual(
    missing.map(({ name }) => name),
    ['x', 'floor'],
  )
  // Nothing is taken from the prototype of an object.
  assert.equal(resolveDocument('${params.constructor}', values).missing.length, 1)
})

test('what is no placeholder is refused', () => {
  for (const text of [
    '${}',
    '${x}',
    '${params}',
    '${params.}',
    '${params.1}',
    '${params.a b}',
    '${env.HOME}',
    '${aws:iot:s3-presigned-url-v2:}',
    '${aws:iot:s3-presigned-url-v3:https://s3.amazonaws.com/b/k}',
    '${aws:iot:s3-presigned-url:https://s3.amazonaws.com/b/a key}',
    '${aws:iot:parameter:x}',
  ]) {
    assert.throws(() => parseDocument({ text }), PlaceholderError, text)
  }
  for (const text of ['${', 'a ${params.x', '${device.deviceId:-x}', '${device.attributes}', '${PARAMS.x}']) {
    assert.throws(() => parseDocument([text]), PlaceholderError, text)
  }
  assert.throws(() => parseDocument('${run.runId}'.repeat(257)), /at most 256/)
  const object = '${aws:iot:s3-presigned-url:b/k}'
  assert.equal(parseDocument(object.repeat(16)).holes.length, 16)
  assert.throws(() => parseDocument(object.repeat(17)), /at most 16 placeholders of AWS/)
})

test('parameters are filled in once, devices one by one', () => {
  const template = parseDocument({
    n: '${params.count}',
    who: 'I am ${device.deviceId}',
    run: '${run.runId}',
  })
  const filled = fillTemplate(template, { params, run: values.run })
  assert.equal(filled.template.holes.length, 1)
  assert.throws(() => templateJson(filled.template), /1 placeholders/)
  const done = fillTemplate(filled.template, { device })
  assert.equal(templateJson(done.template), '{"n":3,"who":"I am kiosk-1","run":17}')
})

// Placeholders, texts that look like them, and what escapes them.
const piece = fc.constantFrom(
  '${params.count}',
  '${params.url}',
  '${params.on}',
  '${device.attributes.site}',
  '$${',
  '$',
  '{',
  '}',
  '${device.attributes.floor:-no}',
  '${run.runId}',
  'a',
  '"',
  '\\',
  ' ',
  '$$',
  '${device.deviceName}',
)
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
const anyDocument = fc.letrec((tie) => ({
  value: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom('a', 'b', '${params.x}', '__proto__'), tie('value'), { maxKeys: 3 }),
})).value

test(`random documents are resolved as a naive reader would (seed ${testSeed})`, () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      let resolved: unknown
      try {
        resolved = resolveDocument(document, values).document
      } catch (error) {
        assert(error instanceof PlaceholderError)
        resolved = 'refused'
      }
      let expected: unknown
      try {
        expected = naive(document)
      } catch {
        expected = 'refused'
      }
      assert.equal(JSON.stringify(resolved), JSON.stringify(expected))
    }),
    randomInputs({ test: 500, chaos: 20_000 }),
  )
})

/** One character after the other, with the values spelled out by hand. */
function naive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(naive)
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([name, of]) => `${JSON.stringify(name)}:${JSON.stringify(naive(of))}`,
    )
    return JSON.parse(`{${entries.join(',')}}`)
  }
  return typeof value === 'string' ? naiveText(value) : value
}

function naiveText(text: string): unknown {
  const known: Record<string, ParameterValue> = {
    ...{ 'params.count': 3, 'params.url': params.url, 'params.on': true, 'device.attributes.site': 'berlin' },
    ...{ 'device.attributes.floor:-no': 'no', 'run.runId': 17, 'device.deviceName': 'Kiosk "1"' },
  }
  let result = ''
  for (let rest = text; rest !== ''; ) {
    if (rest.startsWith('$${')) {
      result += '${'
      rest = rest.slice(3)
    } else if (rest.startsWith('${')) {
      const body = rest.slice(2).split('}', 1)[0] as string
      if (!rest.includes('}') || !(body in known)) throw new Error('refused')
      const value = known[body] as ParameterValue
      if (text === `\${${body}}`) return value
      result += typeof value === 'string' ? value : JSON.stringify(value)
      rest = rest.slice(body.length + 3)
    } else {
      result += rest[0]
      rest = rest.slice(1)
    }
  }
  return result
}

test('a document of 64 KiB full of what begins placeholders is read in linear time', () => {
  for (const part of ['$${', '${', '$', '{', '${params.x', '$$$${']) {
    const before = process.threadCpuUsage()
    try {
      parseDocument(part.repeat(65_536 / part.length))
    } catch (error) {
      assert(error instanceof PlaceholderError)
    }
    // CPU time: on a busy machine the clock counts the work of others.
    const { user } = process.threadCpuUsage(before)
    assert(user < 1_000_000, `${part}: ${user} µs`)
  }
})

const schema: ParameterSchema = checkParameterSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    version: { type: 'string', pattern: '^[0-9]+\\.[0-9]+$', title: 'Version' },
    retries: { type: 'integer', minimum: 0, maximum: 5, default: 2 },
    ratio: { type: 'number', multipleOf: 0.1 },
    mode: { enum: ['fast', 'safe'], type: 'string', default: 'safe' },
    force: { type: 'boolean' },
    ports: { type: 'array', items: { type: 'integer', minimum: 1 }, maxItems: 3, uniqueItems: true },
    token: { type: 'string', writeOnly: true, minLength: 3, maxLength: 20 },
  },
  required: ['version'],
  additionalProperties: false,
})

test('defaults are filled in', () => {
  const { values, problems } = judgeParameters(schema, { version: '2.4', ratio: 0.3, ports: [80] })
  assert.deepEqual(problems, [])
  assert.deepEqual(values, { version: '2.4', ratio: 0.3, ports: [80], retries: 2, mode: 'safe' })
})

const refusedValues: [unknown, string][] = [
  [[], 'parameters must be an object'],
  [{}, 'parameters.version is required'],
  [{ version: 2.4 }, 'parameters.version must be text'],
  [{ version: '2' }, 'parameters.version must match the pattern ^[0-9]+\\.[0-9]+$'],
  [{ version: '2.4', retries: 1.5 }, 'parameters.retries must be an integer'],
  [{ version: '2.4', retries: '1' }, 'parameters.retries must be an integer'],
  [{ version: '2.4', retries: 6 }, 'parameters.retries must be at most 5'],
  [{ version: '2.4', ratio: 0.25 }, 'parameters.ratio must be a multiple of 0.1'],
  [{ version: '2.4', mode: 'slow' }, 'parameters.mode must be one of "fast", "safe"'],
  [{ version: '2.4', force: 1 }, 'parameters.force must be true or false'],
  [{ version: '2.4', force: null }, 'parameters.force must be true or false'],
  [{ version: '2.4', ports: 80 }, 'parameters.ports must be a list'],
  [{ version: '2.4', ports: [80, 0] }, 'parameters.ports.1 must be at least 1'],
  [{ version: '2.4', ports: [80, 80] }, 'parameters.ports must not have the same item twice'],
  [{ version: '2.4', ports: [1, 2, 3, 4] }, 'parameters.ports must have at most 3 items'],
  [{ version: '2.4', token: 'ab' }, 'parameters.token must have at least 3 characters'],
  [{ version: '2.4', other: 1 }, 'parameters.other is not a parameter of the job'],
  [JSON.parse('{"version":"2.4","__proto__":1}'), 'parameters.__proto__ is not a parameter of the job'],
  [{ version: 'x'.repeat(16 * 1024 - 13) }, 'parameters must be at most 16 KiB of JSON'],
]

for (const [given, expected] of refusedValues) {
  test(`values are refused: ${expected}`, () => {
    const { problems } = judgeParameters(schema, given)
    assert.deepEqual(
      problems.map(({ field, message }) => `${field} ${message}`),
      [expected],
    )
  })
}

test('16 KiB of values are accepted, and one byte more is not', () => {
  const open = checkParameterSchema({ type: 'object', properties: { t: { type: 'string' } } })
  const fitting = { t: 'x'.repeat(16 * 1024 - '{"t":""}'.length) }
  assert.deepEqual(judgeParameters(open, fitting).problems, [])
  assert.equal(judgeParameters(open, { t: `${fitting.t}x` }).problems.length, 1)
})

test('a parameter that the document uses needs a value', () => {
  const { problems } = judgeParameters(schema, { version: '2.4' }, ['force'])
  assert.deepEqual(problems, [{ name: 'force', field: 'parameters.force', message: 'is required' }])
})

test('secrets are masked', () => {
  const masked = maskSecrets(schema, { version: '2.4', token: 'hunter2' })
  assert.deepEqual(masked, { version: '2.4', token: '********' })
})

const inProperty = (property: unknown) => ({ type: 'object', properties: { x: property } })
const refusedSchemas: [unknown, string][] = [
  [null, 'parameters'],
  [[], 'parameters'],
  [true, 'parameters'],
  [{}, 'parameters.type'],
  [{ type: 'array' }, 'parameters.type'],
  [{ type: 'object', $ref: '#' }, 'parameters.$ref'],
  [{ type: 'object', $defs: {} }, 'parameters.$defs'],
  [{ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' }, 'parameters.$schema'],
  [{ type: 'object', additionalProperties: true }, 'parameters.additionalProperties'],
  [{ type: 'object', required: ['x'] }, 'parameters.required.0'],
  [{ type: 'object', properties: { '1x': { type: 'string' } } }, 'parameters.properties.1x'],
  [{ type: 'object', properties: { 'a.b': { type: 'string' } } }, 'parameters.properties.a.b'],
  [
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    'parameters.properties.__proto__',
  ],
  [
    { type: 'object', properties: { 'a-b': { type: 'string' }, A_B: { type: 'string' } } },
    'parameters.properties.A_B',
  ],
  [inProperty(1), 'parameters.properties.x'],
  [inProperty({}), 'parameters.properties.x.type'],
  [inProperty({ type: 'object' }), 'parameters.properties.x.type'],
  [inProperty({ type: ['string', 'number'] }), 'parameters.properties.x.type'],
  [inProperty({ $ref: '#' }), 'parameters.properties.x.type'],
  [inProperty({ type: 'string', $ref: '#/properties/x' }), 'parameters.properties.x.$ref'],
  [inProperty({ type: 'string', oneOf: [] }), 'parameters.properties.x.oneOf'],
  [inProperty({ type: 'string', minimum: 1 }), 'parameters.properties.x.minimum'],
  [inProperty({ type: 'string', minLength: -1 }), 'parameters.properties.x.minLength'],
  [inProperty({ type: 'string', title: 1 }), 'parameters.properties.x.title'],
  [inProperty({ type: 'string', writeOnly: 'yes' }), 'parameters.properties.x.writeOnly'],
  [inProperty({ type: 'string', pattern: '(' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', pattern: '(a)\\1' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', pattern: '(?=a)' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', pattern: `${'a'.repeat(513)}` }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', pattern: '((a{100}){100}){100}' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', pattern: '(((){1000}){1000}){1000}' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', enum: [] }), 'parameters.properties.x.enum'],
  [inProperty({ type: 'string', enum: ['a', 1] }), 'parameters.properties.x.enum.1'],
  [inProperty({ type: 'string', enum: ['a'], default: 'b' }), 'parameters.properties.x.default'],
  [inProperty({ type: 'string', default: null }), 'parameters.properties.x.default'],
  [inProperty({ type: 'string', writeOnly: true, default: 'b' }), 'parameters.properties.x.default'],
  [inProperty({ type: 'number', multipleOf: 0 }), 'parameters.properties.x.multipleOf'],
  [inProperty({ type: 'number', minimum: 5, maximum: 1 }), 'parameters.properties.x.maximum'],
  [
    inProperty({ type: 'integer', minimum: 5, exclusiveMaximum: 5 }),
    'parameters.properties.x.exclusiveMaximum',
  ],
  [inProperty({ type: 'string', minLength: 3, maxLength: 2 }), 'parameters.properties.x.maxLength'],
  [
    inProperty({ type: 'array', items: { type: 'string', minLength: 3, maxLength: 2 } }),
    'parameters.properties.x.items.maxLength',
  ],
  [inProperty({ type: 'array' }), 'parameters.properties.x.items'],
  [
    inProperty({ type: 'array', items: { type: 'array', items: { type: 'string' } } }),
    'parameters.properties.x.items.type',
  ],
  [
    inProperty({ type: 'array', items: { type: 'string', default: 'a' } }),
    'parameters.properties.x.items.default',
  ],
  [{ type: 'object', description: 'x'.repeat(16 * 1024) }, 'parameters'],
]

for (const [given, field] of refusedSchemas) {
  test(`a schema is refused at ${field}: ${JSON.stringify(given).slice(0, 90)}`, () => {
    assert.throws(
      () => checkParameterSchema(given),
      (error) => {
        assert(error instanceof ParameterError)
        assert.equal(error.field, field)
        return true
      },
    )
  })
}

test('the environment variable of a parameter', () => {
  assert.equal(parameterVariable('target-version'), 'JOBCAST_PARAM_TARGET_VERSION')
  assert.equal(parameterVariable('maxAge'), 'JOBCAST_PARAM_MAXAGE')
})
