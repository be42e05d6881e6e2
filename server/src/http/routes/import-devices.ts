// POST /job/api/devices/import: many devices in one call, one per line.

import { Readable } from 'node:stream'
import { ApiError, DeviceContent, ImportQuery, ImportResult, NewDeviceId } from '@jobcast/contract'
import Type from 'typebox'
import type { DeviceDeps } from '../../domain/device/device.ts'
import { type ImportLine, importDevices, maxImported } from '../../domain/device/import-devices.ts'
import type { ImportedDevice } from '../../domain/device/import-preview.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { RecordSplitter } from '../wire/csv.ts'
import { csvFields, readDevice, readHeader } from '../wire/device-csv.ts'
import { parseBody } from '../wire/json-body.ts'
import { isUtf8Type } from '../wire/json-type.ts'
import { type Line, readLines } from '../wire/read-lines.ts'
import { buildValidator } from '../wire/validation.ts'
import { toValidationError } from '../wire/validation-error.ts'

const maxBytes = 64 * 1024 * 1024
/** Devices per write. */
const batchSize = 500

const csvExample = 'deviceId,tags,site,model\nkiosk-1,kiosk;berlin,berlin,3\n'

const ImportedLine = Type.Object(
  { deviceId: NewDeviceId, ...DeviceContent.properties },
  {
    title: 'ImportedDevice',
    additionalProperties: false,
    examples: [{ deviceId: 'kiosk-1', tags: ['kiosk'], attributes: { site: 'berlin' } }],
  },
)

export function addImportDevices(app: App, deps: DeviceDeps): void {
  const validate = buildValidator()({
    schema: { ...ImportedLine },
    method: 'POST',
    url: '',
    httpPart: 'body',
  })
  const readLine: ReadLine = ({ line, bytes }, place, parse, kept) => ({
    line,
    read() {
      if (place > maxImported)
        throw new ApiError('J-904', { detail: `One call imports at most ${maxImported} lines.` })
      if (bytes === undefined) throw new ApiError('J-904', { detail: 'A line has at most 128 KiB.' })
      const value = parse(bytes)
      if (validate(value) !== true) throw toValidationError(validate.errors ?? [])
      return { ...(value as ImportedDevice), ...kept }
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/devices/import',
    config: { scopes: ['MANAGE'], takesLines: true, refusals: ['J-904', 'J-905'] },
    bodyLimit: maxBytes,
    // The body is validated line by line.
    validatorCompiler: (part) => (part.httpPart === 'body' ? () => true : buildValidator()(part)),
    schema: {
      operationId: 'importDevices',
      tags: ['devices'],
      summary: 'Create or replace many devices',
      description:
        'NDJSON: one device per line, as in PUT plus `deviceId`; at most 100,000 lines and 64 MiB. Each line is stored or ' +
        'rejected on its own; the response lists rejected lines. The call can be repeated: a line that is already stored is ' +
        '`unchanged`. Or CSV (RFC 4180, UTF-8): a header line with deviceId and any of ' +
        `${csvFields.slice(1).join(', ')} and attributes, then one device per line. Several tags are separated by \`;\`. ` +
        'An empty cell is no value; a number, true or false is one if it is written without quotes, as in JSON. CSV leaves ' +
        'the windows of devices as they are. Fields that a line does not have are reset, unless `merge` is true; `dryRun` ' +
        'returns which values would be overwritten.',
      querystring: ImportQuery,
      body: {
        content: {
          'application/x-ndjson': { schema: ImportedLine },
          'text/csv': { schema: { type: 'string', examples: [csvExample] } },
        },
      },
      response: { 200: ImportResult },
    },
    handler: async (request) => {
      const body = request.body as unknown as Readable | Buffer | undefined
      const stream =
        body instanceof Readable ? body : Readable.from(body ? [body] : [], { objectMode: false })
      const isCsv = isUtf8Type(request.headers['content-type'] ?? '', 'text/csv')
      const splitter = isCsv ? new RecordSplitter() : undefined
      const lines = readLines(stream, maxBytes, batchSize, request.heldBody, splitter)
      return importDevices(
        deps,
        callerOf(request),
        (isCsv ? toRecords : toLines)(lines, readLine),
        request.query,
      )
    },
  })
}

/** `place`: the position of the line, from 1. */
type ReadLine = (
  line: Line,
  place: number,
  parse: (bytes: Buffer) => unknown,
  kept?: { keepsWindow: true },
) => ImportLine

async function* toLines(batches: AsyncIterable<Line[]>, readLine: ReadLine): AsyncGenerator<ImportLine[]> {
  for await (const batch of batches) yield batch.map((line) => readLine(line, line.line, parseBody))
}

/** The first record is the header line. Throws J-500 if it is invalid. */
async function* toRecords(batches: AsyncIterable<Line[]>, readLine: ReadLine): AsyncGenerator<ImportLine[]> {
  let names: string[] | undefined
  let place = 0
  for await (const [first, ...others] of batches) {
    const records = names === undefined ? others : [first as Line, ...others]
    const header = names ?? readHeader(first?.bytes)
    names = header
    // CSV has no windows.
    const kept = { keepsWindow: true } as const
    yield records.map((line) => readLine(line, ++place, (bytes) => readDevice(bytes, header), kept))
  }
  if (names === undefined) readHeader(Buffer.alloc(0))
}
