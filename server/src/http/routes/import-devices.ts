// POST /job/api/devices/import: many devices in one call, one a line.

import { Readable } from 'node:stream'
import { ApiError, DeviceContent, ImportResult, NewDeviceId } from '@jobcast/contract'
import Type from 'typebox'
import type { DeviceDeps } from '../../domain/device/device.ts'
import {
  type ImportedDevice,
  type ImportLine,
  importDevices,
  maxImported,
} from '../../domain/device/import-devices.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { parseBody } from '../wire/json-body.ts'
import { type Line, readLines } from '../wire/read-lines.ts'
import { buildValidator } from '../wire/validation.ts'
import { toValidationError } from '../wire/validation-error.ts'

const maxBytes = 64 * 1024 * 1024
/** So many are on their way to the store at once. */
const batchSize = 500

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
  const readLine = ({ line, bytes }: Line): ImportLine => ({
    line,
    read() {
      if (line > maxImported)
        throw new ApiError('J-904', { detail: `One call imports at most ${maxImported} lines.` })
      if (bytes === undefined) throw new ApiError('J-904', { detail: 'A line has at most 128 KiB.' })
      const value = parseBody(bytes)
      if (validate(value) !== true) throw toValidationError(validate.errors ?? [])
      return value as ImportedDevice
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/devices/import',
    config: { scopes: ['MANAGE'], takesLines: true, refusals: ['J-904', 'J-905'] },
    bodyLimit: maxBytes,
    // Line by line.
    validatorCompiler: () => () => true,
    schema: {
      operationId: 'importDevices',
      tags: ['devices'],
      summary: 'Create or replace many devices',
      description:
        'NDJSON: one device per line, as in PUT plus `deviceId`; at most 100,000 lines and 64 MiB. Each line is stored or ' +
        'rejected on its own; the response lists rejected lines. The call can be repeated: a line that is already stored is ' +
        '`unchanged`.',
      body: { content: { 'application/x-ndjson': { schema: ImportedLine } } },
      response: { 200: ImportResult },
    },
    handler: async (request) => {
      const body = request.body as unknown as Readable | Buffer | undefined
      const stream =
        body instanceof Readable ? body : Readable.from(body ? [body] : [], { objectMode: false })
      const lines = readLines(stream, maxBytes, batchSize, request.heldBody)
      return importDevices(deps, callerOf(request), toLines(lines, readLine))
    },
  })
}

async function* toLines(
  batches: AsyncIterable<Line[]>,
  readLine: (line: Line) => ImportLine,
): AsyncGenerator<ImportLine[]> {
  for await (const batch of batches) yield batch.map(readLine)
}
