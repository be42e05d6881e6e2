// A method of the Python client for each operation.

import {
  type Argument,
  fieldsBody,
  headerArguments,
  type Operation,
  parametersIn,
  pathArguments,
  queryArguments,
} from './arguments.ts'
import { type Code, docstring, layOut, quoted, snakeCase } from './layout.ts'
import { type PythonTypes, type Schema, sentence } from './types.ts'

/** POST operations that can be repeated safely, in addition to those with an Idempotency-Key. */
const repeatable = [
  ...['cancelExecution', 'cancelRun', 'pauseRun', 'resumeRun', 'approveRun', 'denyRun'],
  ...['countDevices', 'importDevices', 'restoreJobVersion'],
  ...['pauseWebhook', 'resumeWebhook', 'pauseSchedule', 'resumeSchedule'],
]

/** If the second try gets J-303, the first one was successful, and its result is read from the parent path. */
const doneOnce = ['cancelExecution', 'cancelRun', 'pauseRun', 'resumeRun', 'approveRun', 'denyRun']

/** Operations whose generated secret would be lost with the response. */
const shownOnce: Readonly<Record<string, string>> = { putWebhook: 'secret' }

/** How many seconds these may take. */
const holdSeconds: Readonly<Record<string, number>> = {
  createRun: 60,
  retryRun: 60,
  rollBackRun: 60,
  getRunFailures: 60,
  importDevices: 60,
  putFileVersion: 60,
  changeDevices: 600,
}

/** Codes of nearly every operation. */
const everywhere = ['J-500', 'J-802', 'J-803', 'J-804', 'J-904', 'J-905', 'J-908', 'J-909', 'J-911']

type Method = { name: string; tag: string; text: string }

export function checkTables(operations: readonly Operation[]): void {
  const known = new Set(operations.map(({ operationId }) => operationId))
  const named = [...repeatable, ...doneOnce, ...Object.keys(shownOnce), ...Object.keys(holdSeconds)]
  for (const name of named) if (!known.has(name)) throw new Error(`there is no operation ${name}`)
}

export function methodOf(operation: Operation, types: PythonTypes): Method {
  const name = snakeCase(operation.operationId)
  const sent = sentBody(operation, types)
  const path = pathArguments(operation, types)
  const query = queryArguments(operation, types)
  const headers = headerArguments(operation).filter((each) => each.name !== 'last_event_id')
  const given = [...path, ...sent.required, ...sent.optional, ...query, ...headers]
  const twice = given.find((one, index) => given.some((other, at) => at > index && other.name === one.name))
  if (twice) throw new Error(`${operation.operationId} has two arguments ${twice.name}`)
  const { returns, statement } = answer(operation, types, { sent, path, query, headers })
  const keywordOnly = [...sent.optional, ...query, ...headers]
  const text = methodText(name, [...path, ...sent.required], keywordOnly, returns, {
    doc: docOf(operation, given),
    statement,
  })
  return { name, tag: operation.tags?.[0] ?? '', text }
}

/** `trigger` and `plan_run`: createRun with its targets as arguments. */
export function launchMethods(operation: Operation, types: PythonTypes): Method[] {
  const schema = bodySchema(operation, 'application/json')
  const targets = types.resolve(schema).properties?.targets
  if (targets === undefined) throw new Error('runs have no targets')
  const body = fieldsBody(operation, schema, types, ['jobName', 'targets', 'planId'])
  const chosen = fieldsBody(operation, targets, types)
  const job = { name: 'job_name', type: 'str', description: undefined }
  const headers = headerArguments(operation)
  const whole: Code = {
    open: '{',
    parts: ['"jobName": job_name', wrapped('"targets": ', chosen.code), wrapped('**', body.code)],
    close: '}',
  }
  const call = (more: Code[]): Code => ({
    open: '_Call(',
    parts: ['"POST"', '"/job/api/runs"', wrapped('body=', whole), ...more, 'safe=True', 'hold=60'],
    close: ')',
  })
  const chosenBy = [...chosen.optional, ...body.optional]
  const method = (name: string, returns: string, more: Argument[], doc: string[], code: Code) => {
    const value: Code = { open: 'self._value(', parts: [code], close: ')' }
    const outer: Code = returns === 'Run' ? { open: 'self._run(', parts: [value], close: ')' } : value
    const statement = returned(outer)
    const lines = [...doc, ...argumentsDoc([...chosenBy, ...more]), errorsDoc(operation)]
    const text = methodText(name, [job], [...chosenBy, ...more], returns, { doc: lines, statement })
    return { name, tag: 'trigger', text }
  }
  return [
    method(
      'trigger',
      'Run',
      headers,
      [
        'Triggers a job on devices: `trigger("restart", device_ids=["kiosk-1"]).wait()`.',
        'Exactly one of `device_ids`, `where` and `group`. It creates one execution per device, or none at all. A lost answer creates nothing twice: each call has an Idempotency-Key.',
      ],
      call([headersCode(headers)]),
    ),
    method(
      'plan_run',
      'RunPlan',
      [],
      [
        'What `trigger` with the same arguments would do now; it creates nothing. `start_plan` starts exactly this within 10 minutes.',
      ],
      call(['query={"dryRun": True}']),
    ),
  ]
}

type Sent = { required: Argument[]; optional: Argument[]; before: string; code: Code[] }

function sentBody(operation: Operation, types: PythonTypes): Sent {
  const content = operation.requestBody?.content ?? {}
  const argument = (name: string, type: string, description: string): Argument => ({
    name,
    type,
    description,
  })
  if (content['application/octet-stream']) {
    const { properties: _, ...reference } = types.resolve(bodySchema(operation, referenceType))
    types.typeOf(bodySchema(operation, referenceType), reference.description ?? '')
    return {
      required: [
        argument(
          'content',
          'Union[bytes, IO[bytes], FileReference]',
          'Bytes, a file that is open for reading bytes, or a reference to content that is kept elsewhere',
        ),
      ],
      optional: [],
      before: `body, content_type, found_digest = _file_body(content)
        if content_range is None and repr_digest is None and digest is None:
            content_digest = content_digest or found_digest\n`,
      code: ['body=body', 'content_type=content_type'],
    }
  }
  if (content['application/x-ndjson']) {
    const line = types.typeOf(bodySchema(operation, 'application/x-ndjson'), 'ImportedDevice')
    return {
      required: [argument('devices', `Union[str, Iterable[${line}]]`, 'Devices, or CSV as text')],
      optional: [],
      before: 'body, content_type = _lines_body(devices)\n',
      code: ['body=body', 'content_type=content_type'],
    }
  }
  const form = content['application/x-www-form-urlencoded']
  if (form) {
    const { required, optional, code } = fieldsBody(operation, form.schema, types)
    const text = wrapped('body=', {
      open: 'urllib.parse.urlencode(',
      parts: code ? [code] : [],
      close: ').encode()',
    })
    return {
      required,
      optional,
      before: '',
      code: [text, 'content_type="application/x-www-form-urlencoded"'],
    }
  }
  const json = content['application/json']
  if (json === undefined) return { required: [], optional: [], before: '', code: [] }
  const { required, optional, code } = fieldsBody(operation, json.schema, types)
  return { required, optional, before: '', code: code ? [wrapped('body=', code)] : [] }
}

const referenceType = 'application/vnd.jobcast.file-reference+json'

function bodySchema({ operationId, requestBody }: Operation, type: string): Schema {
  const schema = requestBody?.content?.[type]?.schema
  if (schema === undefined) throw new Error(`${operationId} takes no ${type}`)
  return schema
}

type Parts = { sent: Sent; path: Argument[]; query: Argument[]; headers: Argument[] }

/** The type of what it returns, and the statements that return it. */
function answer(
  operation: Operation,
  types: PythonTypes,
  parts: Parts,
): { returns: string; statement: string } {
  const { operationId } = operation
  if (operationId === 'followEvents') {
    const event = types.typeOf({ $ref: '#/components/schemas/Event' }, 'Event')
    return {
      returns: `Iterator[${event}]`,
      statement: returned(wrapped('self._events(', queryDict(operation), ')')),
    }
  }
  const successes = Object.entries(operation.responses).filter(([status]) => status < '300')
  const contents = successes.map(([, { content }]) => content)
  const json = contents.flatMap((content) => content?.['application/json']?.schema ?? [])
  const [first] = json
  const item = first?.properties?.nextCursor && first.properties.items?.items
  if (item) {
    const of = types.typeOf(item, `${operationId}Item`)
    const list: Code[] = [pathCode(operation, parts.path), queryDict(operation)]
    const code: Code = {
      open: 'self._list(',
      parts: of === 'Run' ? [...list, 'self._run'] : list,
      close: ')',
    }
    return { returns: `Listing[${of}]`, statement: returned(code) }
  }
  const call = callOf(operation, parts)
  const before = parts.sent.before && `        ${parts.sent.before}`
  if (json.length === 0 && contents.some((content) => content !== undefined)) {
    return {
      returns: 'Content',
      statement: before + returned({ open: 'self._content(', parts: [call], close: ')' }),
    }
  }
  const value: Code = { open: 'self._value(', parts: [call], close: ')' }
  if (json.length === 0) return { returns: 'None', statement: `${before}        ${layOut(value, 8)}\n` }
  const hint = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Result`
  const results = [...new Set(json.map((schema) => types.typeOf(schema, hint)))]
  const one = results.length === 1 ? (results[0] ?? 'Any') : `Union[${results.join(', ')}]`
  const mayBeNone = contents.includes(undefined)
  const code: Code = results.includes('Run') ? { open: 'self._run(', parts: [value], close: ')' } : value
  return { returns: mayBeNone ? `Optional[${one}]` : one, statement: before + returned(code) }
}

function callOf(operation: Operation, { sent, path, query, headers }: Parts): Code {
  const { operationId, method } = operation
  const names = headers.map(({ name }) => name)
  const isSafe = method !== 'post' || names.includes('idempotency_key') || repeatable.includes(operationId)
  const conditions = [
    ...(names.includes('if_none_match') ? ['if_none_match is None'] : []),
    ...(shownOnce[operationId] ? [`${shownOnce[operationId]} is not None`] : []),
  ]
  const hold = query.some(({ name }) => name === 'wait') ? 'wait' : holdSeconds[operationId]
  const types = Object.values(operation.responses).flatMap(({ content }) => Object.keys(content ?? {}))
  const accepted = types.find((type) => !type.includes('json') || type.includes('ndjson'))
  const then = { ...operation, path: operation.path.replace(/\/\w+$/, '') }
  const codes: (Code | false)[] = [
    quoted(method.toUpperCase()),
    pathCode(operation, path),
    query.length > 0 && wrapped('query=', queryDict(operation)),
    headers.length > 0 && headersCode(headers),
    ...sent.code,
    accepted !== undefined && `accept=${quoted(`${accepted}, `)}`,
    isSafe && `safe=${conditions.length > 0 ? conditions.join(' and ') : 'True'}`,
    hold !== undefined && `hold=${hold}`,
    doneOnce.includes(operationId) && wrapped('then=', pathCode(then, path)),
  ]
  return { open: '_Call(', parts: codes.filter((code) => code !== false), close: ')' }
}

function pathCode({ path }: Operation, given: Argument[]): Code {
  if (given.length === 0) return quoted(path)
  const template = quoted(path.replaceAll(/\{\w+\}/g, '{}'))
  return { open: '_path(', parts: [template, ...given.map(({ name }) => name)], close: ')' }
}

function queryDict(operation: Operation): Code {
  const names = parametersIn(operation, 'query').map(({ name }) => `${quoted(name)}: ${snakeCase(name)}`)
  return { open: '{', parts: names, close: '}' }
}

function headersCode(headers: Argument[]): Code {
  const parts = headers.map(({ name }) => {
    const value = name === 'idempotency_key' ? 'idempotency_key or _new_request_key()' : name
    return `${quoted(headerName(name))}: ${value}`
  })
  return { open: 'headers={', parts, close: '}' }
}

function headerName(name: string): string {
  return name.replaceAll('_', '-').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

function wrapped(before: string, code: Code | undefined, after = ''): Code {
  if (code === undefined || typeof code === 'string') return before + (code ?? '') + after
  return { ...code, open: before + code.open, close: code.close + after }
}

function returned(code: Code): string {
  return `        return ${layOut(code, 8, 'return '.length)}\n`
}

type Inside = { doc: string[]; statement: string }

function methodText(
  name: string,
  positional: Argument[],
  keywordOnly: Argument[],
  returns: string,
  { doc, statement }: Inside,
): string {
  const written = ({ name, type, initial }: Argument) => `${name}: ${type}${initial ? ` = ${initial}` : ''}`
  const parts = [
    'self',
    ...positional.map(written),
    ...(keywordOnly.length > 0 ? ['*', ...keywordOnly.map(written)] : []),
  ]
  const head = layOut({ open: `    def ${name}(`, parts, close: `) -> ${returns}:` }, 4)
  const opening = head.replace(/^ {4}(?= )/, '')
  return `${opening}\n${docstring(doc, 8)}${statement}`
}

function docOf(operation: Operation, given: Argument[]): string[] {
  const summary = sentence(operation.summary ?? operation.operationId)
  const errors = errorsDoc(operation)
  const { description = '' } = operation
  const isMore = description !== '' && sentence(description) !== summary
  return [
    summary,
    ...(isMore ? [sentence(description)] : []),
    ...argumentsDoc(given),
    ...(errors ? [errors] : []),
  ].map((text) => withPythonNames(text, given))
}

function argumentsDoc(given: Argument[]): string[] {
  const described = given.filter(({ description }) => description !== undefined)
  if (described.length === 0) return []
  return [
    'Arguments:',
    ...described.map(({ name, description = '' }) => `    ${name}: ${sentence(description)}`),
  ]
}

/** `jobName` in a text is `job_name` here. */
function withPythonNames(text: string, given: Argument[]): string {
  const names = new Set(given.map(({ name }) => name))
  return text
    .replace(/`[^`]+`/g, (code) =>
      code.replace(/\b[a-z]+[A-Z]\w*/g, (word) => (names.has(snakeCase(word)) ? snakeCase(word) : word)),
    )
    .replaceAll('=true`', '=True`')
    .replace(/: repeat the parameter, or separate \w+ by commas|, separated by commas/, ': one, or several')
}

/** The specific error codes of the operation. */
function errorsDoc({ responses }: Operation): string {
  const codes = Object.values(responses).flatMap(({ description = '' }) => [
    ...description.matchAll(/(J-\d{3}): (.*?)(?=\. J-\d|$)/g),
  ])
  const own = codes.filter(([, code = '']) => !everywhere.includes(code))
  const listed = own.map(([, code, text]) => `${code} ${text}`)
  return listed.length === 0 ? '' : `Errors: ${[...new Set(listed)].join('; ')}.`
}
